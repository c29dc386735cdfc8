#include "archive/media_export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/media_file.h"
#include "base/crypto.h"
#include "base/write_all.h"

enum { PIECE = 256 * 1024, MEMORY = 2 * 1024 * 1024, FILE_MODE = 0600, DIRECTORY_MODE = 0700 };

static const char is_lost[] = "the archive has lost it: `switchboard archive repair`";
static const char is_damaged[] = "the file of the archive has other bytes than were copied";

bool media_export_open(struct media_export *export, const char *archive, const char *directory) {
    *export = (struct media_export){.archive = archive, .directory = -1};
    arena_init(&export->arena, MEMORY, NULL);
    export->seen = calloc(MEDIA_EXPORT_SEEN, sizeof *export->seen);
    if (!export->seen || (mkdir(directory, DIRECTORY_MODE) != 0 && errno != EEXIST) ||
        (export->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        export->error = errno;
    return !export->error;
}

void media_export_close(struct media_export *export) {
    if (export->directory >= 0)
        close(export->directory);
    free(export->seen);
    arena_free(&export->arena);
}

/* Whether the bytes of `from` have the SHA-256; writes them to `to`, unless that is -1, and sets
 * `error` when this fails. Sets `*read_error` to the errno of `from`. */
static bool has_hash(struct media_export *export, int from, int to, const char *sha256,
                     int *read_error) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    arena_reset(&export->arena);
    struct crypto_sha256 *state = crypto_sha256_start(&export->arena);
    char *piece = arena_alloc(&export->arena, PIECE);
    ssize_t n;
    while ((n = read(from, piece, PIECE)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        *read_error = n < 0 ? errno : 0;
        if (n < 0)
            return false;
        crypto_sha256_add(state, (struct slice){piece, (size_t)n});
        if (to >= 0 && !write_all(to, (struct slice){piece, (size_t)n})) {
            export->error = errno;
            return false;
        }
    }
    crypto_sha256_end(state, hash);
    return strcmp(crypto_hex(&export->arena, hash, sizeof hash), sha256) == 0;
}

/* Whether the directory has the whole file. */
static bool is_there(struct media_export *export, const struct store_media_copy *row,
                     const char *name) {
    struct stat found;
    int error = 0;
    const int file = openat(export->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool is_whole = file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                          found.st_size == row->size &&
                          has_hash(export, file, -1, row->sha256, &error);
    if (file >= 0)
        close(file);
    return is_whole;
}

/* Synchronizes the file and gives it its name. */
static bool place(const struct media_export *export, int file, const char *part, const char *name) {
    return fsync(file) == 0 && renameat(export->directory, part, export->directory, name) == 0 &&
           fsync(export->directory) == 0;
}

/* Copies the open file of the archive; returns as media_export_write. */
static const char *copy(struct media_export *export, int from, const char *sha256,
                        const char *name) {
    char part[MEDIA_EXPORT_NAME_SIZE + sizeof ".part"];
    int read_error = 0;
    snprintf(part, sizeof part, "%s.part", name);
    unlinkat(export->directory, part, 0);
    const int to = openat(export->directory, part,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (to < 0) {
        export->error = errno;
        return NULL;
    }
    const bool is_whole = has_hash(export, from, to, sha256, &read_error);
    if (is_whole && !place(export, to, part, name))
        export->error = errno;
    if (!is_whole || export->error)
        unlinkat(export->directory, part, 0);
    close(to);
    if (is_whole || export->error)
        return NULL;
    return read_error ? strerror(read_error) : is_damaged;
}

/* The place in `seen` of a file with this name: another one may take it. */
static char *seen_place(const struct media_export *export, const char *name) {
    size_t n = 0;
    for (const char *p = name; *p; p++)
        n = n * 31 + (unsigned char)*p;
    return export->seen[n % MEDIA_EXPORT_SEEN];
}

const char *media_export_write(struct media_export *export, const struct store_media_copy *row,
                               const char *name) {
    char *seen = seen_place(export, name);
    const char *cause = NULL;
    if (strcmp(seen, name) == 0)
        return NULL;
    if (!is_there(export, row, name)) {
        int64_t size;
        errno = 0;
        const int from = media_file_open(export->archive, row, &size);
        if (from < 0)
            return errno && errno != ENOENT ? strerror(errno) : is_lost;
        cause = size == row->size ? copy(export, from, row->sha256, name) : is_damaged;
        close(from);
    }
    if (!cause && !export->error)
        snprintf(seen, MEDIA_EXPORT_NAME_SIZE, "%s", name);
    return cause;
}
