/* A multipart form that is written anew while it is read, so that every reader of the copy finds
 * the parts that the gateway found. Readers differ in what they make of a Content-Type with several
 * boundaries, of a line end without CR, of names in other quotes, and of a boundary within a file.
 *
 * The copy has a random boundary of its own. Each part has the two headers Content-Disposition,
 * with a plain name (plain_name.h) in double quotes and a file name without special characters, and
 * Content-Type, if the part had one. The content of a part is copied byte for byte. What is before
 * the first boundary and after the last is left out.
 *
 * A copy holds only a window of the form in memory, and its size is known before it is read.
 */
#ifndef SWITCHBOARD_FORM_COPY_H
#define SWITCHBOARD_FORM_COPY_H

#include "web/multipart.h"

enum { FORM_COPY_BOUNDARY = 16 };

/* What is copied. */
struct form_source {
    const char *content_type; /* with the boundary */
    int64_t size;             /* bytes; -1: not known */

    /* Reads up to `n` bytes of the form, returns their number, 0 at its end, or -1. */
    ssize_t (*read)(void *context, void *bytes, size_t n);
    void *context;

    /* Called for each part before it is copied. Returns 0, or -1: the part is refused. */
    int (*check)(void *checker, const struct part *part);
    void *checker;
};

struct form_copy {
    const char *content_type; /* of the copy */
    int64_t size;             /* of the copy: blanks after its end fill it up; -1: not known */
    const char *error;        /* a sentence for the client, after a call has returned -1; NULL when
                                 a function of the source has failed */

    /* private */
    struct form_source source;
    struct multipart form;
    char boundary[FORM_COPY_BOUNDARY + 1];
    struct slice ready; /* the bytes to return next */
    int64_t written;    /* the bytes returned so far */
    size_t parts;
    bool in_part, is_ended;
};

/* Begins to copy the form. Returns 0, or -1 with `error`. */
int form_copy_start(struct form_copy *copy, struct arena *arena, const struct form_source *source);

/* Reads up to `n` bytes of the copy. Returns their number, 0 at its end, or -1 with `error`. The
 * last bytes are returned only after all of the form was read. */
ssize_t form_copy_read(struct form_copy *copy, void *bytes, size_t n);

#endif
