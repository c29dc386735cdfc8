/* What the platform has accepted and the database did not take: a file of `pending_dir`, which the
 * courier of this host stores later (kept_records.h). It holds a send, an answer of
 * an idempotency key, or both.
 *
 * The file is complete from the moment that it has its name, and on the disk when kept_write
 * returns: it is answered only after that. Its mode is 0640: it holds what a row of the database
 * holds, the text of the message included.
 */
#ifndef SWITCHBOARD_DELIVERY_KEPT_RECORD_H
#define SWITCHBOARD_DELIVERY_KEPT_RECORD_H

#include "store/idempotency_key.h"

struct kept_record {
    struct store_send send;           /* wamid NULL: no send */
    struct store_idempotency_key key; /* key NULL: no answer */
    char request_id[ID_SIZE];         /* that started the key */
    unsigned char fingerprint[32];
    int64_t status;      /* of the answer */
    struct slice answer; /* its body */
};

/* Reserves `size` bytes on the disk of the directory for the next kept_write of this process, and
 * keeps them until then: a full disk cannot make it fail. A file system without files that have no
 * name (O_TMPFILE), such as NFS, reserves nothing. Returns 0, or -1 with errno. */
int kept_reserve(const char *directory, size_t size);

/* Writes the record to a new file, and waits until it is on the disk. It allocates no memory.
 * Returns 0, or -1 with errno. */
int kept_write(const char *directory, const struct kept_record *record, int64_t now);

/* Reads the content of such a file into the record, whose members are in the arena and in `bytes`.
 * Returns false when it is not complete or of another form. */
bool kept_parse(struct slice bytes, struct arena *arena, struct kept_record *record);

/* --- the names of the files, and their number --- */

#define KEPT_PREFIX  "rec_"     /* an id follows, so that the names sort by time */
#define KEPT_NEW     ".new"     /* at the end: it is being written */
#define KEPT_REFUSED ".refused" /* at the end: it cannot be stored */

struct kept_tally {
    uint64_t waiting, refused; /* files */
    int64_t since;             /* ms since 1970, of the oldest that waits; 0: none waits */
};

/* Whether it is the name of a record that waits. */
bool kept_is_waiting(const char *name);

/* Whether it is such a name with this end. */
bool kept_is_name(const char *name, const char *end);

/* Counts the files. Returns 0, or -1 with errno when the directory cannot be read. */
int kept_count(const char *directory, struct kept_tally *tally);

#endif
