#include "base/keyring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"

enum { HEX_SIZE = 2 * CRYPTO_KEY_SIZE + 1, FILE_SIZE = KEYRING_MAX * (HEX_SIZE + 5) };

static bool has_id(const struct keyring *ring, unsigned id) {
    return keyring_find(ring, id) != NULL;
}

/* Reads a line `ID HEX` into the ring. Returns NULL, or the problem, which follows "line N" in the
 * error. */
static const char *read_key(struct slice line, struct keyring *ring) {
    line = slice_trim(line);
    if (!line.n || line.p[0] == '#')
        return NULL;
    if (ring->count == KEYRING_MAX)
        return "is the 17th key; at most 16 are kept";
    struct slice id_text = slice_cut(&line, ' ');
    unsigned id = 0;
    for (size_t i = 0; i < id_text.n && id < 256; i++)
        id = id_text.p[i] >= '0' && id_text.p[i] <= '9' ? id * 10 + (unsigned)(id_text.p[i] - '0')
                                                        : 256;
    if (id < 1 || id > 255 ||
        !crypto_unhex(slice_trim(line), ring->keys[ring->count].key, CRYPTO_KEY_SIZE))
        return "is not `ID HEX` with ID from 1 to 255 and 64 hexadecimal digits";
    if (has_id(ring, id))
        return "has the ID of another key";
    ring->keys[ring->count++].id = (uint8_t)id;
    return NULL;
}

int keyring_read(const char *path, struct arena *arena, struct keyring *ring, const char **error) {
    ring->count = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        *error = arena_printf(arena, "cannot read the key file %s: %s", path, strerror(errno));
        return -1;
    }
    char line[256];
    const char *wrong = NULL;
    int number = 0;
    while (!wrong && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        wrong = read_key(slice_of(line), ring);
    }
    sodium_memzero(line, sizeof line);
    fclose(file);
    if (!wrong && ring->count)
        return 0;
    *error = wrong ? arena_printf(arena, "%s: line %d %s", path, number, wrong)
                   : arena_printf(arena, "%s holds no key", path);
    return -1;
}

/* --- writing --- */

/* Writes the text of the key file and returns its length. The caller must wipe `text`. */
static size_t write_text(const struct keyring *ring, char text[FILE_SIZE]) {
    char hex[HEX_SIZE];
    size_t n = 0;
    for (size_t i = 0; i < ring->count; i++) {
        sodium_bin2hex(hex, sizeof hex, ring->keys[i].key, CRYPTO_KEY_SIZE);
        n += (size_t)snprintf(text + n, FILE_SIZE - n, "%u %s\n", ring->keys[i].id, hex);
    }
    crypto_wipe(hex, sizeof hex);
    return n;
}

/* Sets owner, group and mode to those of `like`. Fails when this process has no permission for
 * that: a file with other owners could lock programs out of the keys. */
static bool copy_owner(int fd, const struct stat *like) {
    return fchown(fd, like->st_uid, like->st_gid) == 0 && fchmod(fd, like->st_mode & 07777) == 0;
}

/* Creates the file `path` with the keys of the ring and flushes it. Owner, group and mode are those
 * of `like`; NULL: mode 0640. */
static int write_file(const char *path, const struct keyring *ring, const struct stat *like) {
    char text[FILE_SIZE];
    size_t n = write_text(ring, text);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, like ? 0600 : 0640);
    bool is_done = fd >= 0 && (!like || copy_owner(fd, like)) && write(fd, text, n) == (ssize_t)n &&
                   fsync(fd) == 0;
    int reason = errno;
    crypto_wipe(text, sizeof text);
    if (fd >= 0)
        close(fd);
    errno = reason;
    return is_done ? 0 : -1;
}

static int name_beside(char name[PATH_MAX], const char *path, const char *suffix) {
    if (snprintf(name, PATH_MAX, "%s%s", path, suffix) < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* Written under a temporary name, then linked: so the key file is complete as soon as it exists,
 * and link(2) never replaces a file. */
int keyring_create(const char *path) {
    struct keyring ring = {.count = 0};
    char suffix[32], temporary[PATH_MAX];
    snprintf(suffix, sizeof suffix, ".new-%ld", (long)getpid());
    if (name_beside(temporary, path, suffix))
        return -1;
    if (access(path, F_OK) == 0) { /* EEXIST even if the directory is not writable */
        errno = EEXIST;
        return -1;
    }
    keyring_add(&ring);
    unlink(temporary); /* left by an interrupted process with the same process id */
    int failed = write_file(temporary, &ring, NULL) != 0 || link(temporary, path) != 0;
    int reason = errno;
    unlink(temporary);
    crypto_wipe(&ring, sizeof ring);
    errno = reason;
    return failed ? -1 : 0;
}

/* Flushes the directory of `path`, so that its entries are on disk. */
static int sync_directory(const char *path) {
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (!slash)
        return 0; /* not reached: key files have absolute paths */
    slash[slash == directory] = '\0';
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return failed ? -1 : 0;
}

int keyring_replace(const char *path, const struct keyring *ring) {
    char target[PATH_MAX], temporary[PATH_MAX]; /* the target of a symbolic link is replaced */
    struct stat now;
    if (!realpath(path, target) || stat(target, &now) != 0 ||
        name_beside(temporary, target, ".next"))
        return -1;
    unlink(temporary); /* left by an interrupted rotation */
    if (write_file(temporary, ring, &now) == 0 && rename(temporary, target) == 0)
        return sync_directory(target);
    int reason = errno;
    unlink(temporary);
    errno = reason;
    return -1;
}

/* --- rings --- */

const struct keyring_key *keyring_newest(const struct keyring *ring) {
    return &ring->keys[ring->count - 1];
}

void keyring_name(const struct keyring_key *key, char name[KEYRING_NAME_SIZE]) {
    static const char purpose[] = "switchboard, name of a key";
    unsigned char text[sizeof purpose + CRYPTO_KEY_SIZE], hash[CRYPTO_HASH_SIZE];
    memcpy(text, purpose, sizeof purpose);
    memcpy(text + sizeof purpose, key->key, CRYPTO_KEY_SIZE);
    crypto_sha256((struct slice){(const char *)text, sizeof text}, hash);
    crypto_wipe(text, sizeof text);
    snprintf(name, KEYRING_NAME_SIZE, "%u-%02x%02x%02x%02x", key->id, hash[0], hash[1], hash[2],
             hash[3]);
}

void keyring_names(const struct keyring *ring, char names[KEYRING_NAMES_SIZE]) {
    size_t n = 0;
    *names = '\0';
    for (size_t i = 0; i < ring->count; i++) {
        char name[KEYRING_NAME_SIZE];
        keyring_name(&ring->keys[i], name);
        n += (size_t)snprintf(names + n, KEYRING_NAMES_SIZE - n, "%s%s", i ? " " : "", name);
    }
}

bool keyring_add(struct keyring *ring) {
    if (ring->count == KEYRING_MAX)
        return false;
    unsigned id = ring->count ? keyring_newest(ring)->id : 0;
    do
        id = id % 255 + 1;
    while (has_id(ring, id));
    struct keyring_key *key = &ring->keys[ring->count++];
    key->id = (uint8_t)id;
    crypto_random(key->key, sizeof key->key);
    return true;
}

/* Makes the key the first of the ring, which is not full. */
static void insert_first(struct keyring *ring, const struct keyring_key *key) {
    memmove(&ring->keys[1], &ring->keys[0], ring->count++ * sizeof *ring->keys);
    ring->keys[0] = *key;
}

const struct keyring_key *keyring_add_first(struct keyring *ring) {
    if (!keyring_add(ring))
        return NULL;
    struct keyring_key added = ring->keys[--ring->count];
    insert_first(ring, &added);
    crypto_wipe(&added, sizeof added);
    return &ring->keys[0];
}

const struct keyring_key *keyring_find(const struct keyring *ring, unsigned id) {
    for (size_t i = 0; i < ring->count; i++)
        if (ring->keys[i].id == id)
            return &ring->keys[i];
    return NULL;
}

bool keyring_drop(struct keyring *ring, unsigned id) {
    const struct keyring_key *found = keyring_find(ring, id);
    if (!found)
        return false;
    const size_t at = (size_t)(found - ring->keys);
    memmove(&ring->keys[at], &ring->keys[at + 1], (--ring->count - at) * sizeof *ring->keys);
    crypto_wipe(&ring->keys[ring->count], sizeof *ring->keys);
    return true;
}

bool keyring_use(struct keyring *ring, unsigned id) {
    const struct keyring_key *found = keyring_find(ring, id);
    if (!found)
        return false;
    struct keyring_key used = *found;
    keyring_drop(ring, id);
    ring->keys[ring->count++] = used;
    crypto_wipe(&used, sizeof used);
    return true;
}

void keyring_keep_newest(struct keyring *ring) {
    ring->keys[0] = *keyring_newest(ring);
    crypto_wipe(&ring->keys[1], sizeof ring->keys - sizeof *ring->keys);
    ring->count = 1;
}

void keyring_retain(struct keyring *ring, const struct keyring *older) {
    for (size_t i = older->count; i-- > 0 && ring->count < KEYRING_MAX;)
        if (!has_id(ring, older->keys[i].id))
            insert_first(ring, &older->keys[i]);
}
