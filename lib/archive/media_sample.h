/* A look at some copies of the archive of media, of any size of the database: at all of a small
 * archive, else at the oldest and at those of random moments. */
#ifndef SWITCHBOARD_MEDIA_SAMPLE_H
#define SWITCHBOARD_MEDIA_SAMPLE_H

#include "base/id.h"
#include "store/media_copy.h"

struct media_sample {
    int64_t seen, missing;    /* copies; those whose file is not there or has another size */
    bool is_whole;            /* all copies were looked at */
    char message_id[ID_SIZE]; /* of the first missing file, if there is one */
};

enum store_result media_sample_take(struct store *store, const char *archive, int64_t now,
                                    struct media_sample *sample);

#endif
