#include "delivery/kept_record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* --- the form of a file: the title, then for each value a line `NAME LENGTH`, its bytes and a
 * newline; `end` at the end --- */

#define TITLE "switchboard pending record 1\n"
#define END   "end\n"

enum kind { TEXT, ID, NUMBER, BYTES, HASH };
enum { HASH_SIZE = sizeof((struct kept_record *)NULL)->fingerprint, NUMBER_SIZE = 24 };

/* clang-format off */
#define MEMBER(kind, member) {#member, kind, offsetof(struct kept_record, member)}
static const struct member {
    const char *name;
    enum kind kind;
    size_t offset;
} members[] = {
    MEMBER(TEXT, send.wamid),
    MEMBER(TEXT, send.user_id),
    MEMBER(TEXT, send.account_id),
    MEMBER(TEXT, send.line_id),
    MEMBER(TEXT, send.phone),
    MEMBER(TEXT, send.wa_id),
    MEMBER(TEXT, send.bsuid),
    MEMBER(TEXT, send.type),
    MEMBER(TEXT, send.context_wamid),
    MEMBER(BYTES, send.body),
    MEMBER(TEXT, send.template_name),
    MEMBER(TEXT, send.template_language),
    MEMBER(TEXT, send.flow_id),
    MEMBER(TEXT, send.flow_token),
    MEMBER(TEXT, send.by_id),
    MEMBER(TEXT, send.by_name),
    MEMBER(TEXT, send.media_id),
    MEMBER(TEXT, send.archived_id),
    MEMBER(TEXT, send.outgoing_id),
    MEMBER(TEXT, send.message_status),
    MEMBER(NUMBER, send.now),
    MEMBER(ID, send.new_contact_id),
    MEMBER(ID, send.new_thread_id),
    MEMBER(ID, send.message_id),
    MEMBER(TEXT, key.user_id),
    MEMBER(TEXT, key.key),
    MEMBER(ID, request_id),
    MEMBER(HASH, fingerprint),
    MEMBER(NUMBER, status),
    MEMBER(BYTES, answer),
};
/* clang-format on */

enum { MEMBERS = sizeof members / sizeof *members, HEAD_SIZE = 48 };

/* The value of a member as bytes; p NULL: it has none. `digits` has room for a number. */
static struct slice value_of(const struct kept_record *record, const struct member *member,
                             char digits[NUMBER_SIZE]) {
    const char *at = (const char *)record + member->offset;
    switch (member->kind) {
    case TEXT: return slice_of(*(const char *const *)(const void *)at);
    case ID: return slice_of(at);
    case BYTES: return *(const struct slice *)(const void *)at;
    case HASH: return (struct slice){at, HASH_SIZE};
    case NUMBER:
        snprintf(digits, NUMBER_SIZE, "%lld", (long long)*(const int64_t *)(const void *)at);
        return slice_of(digits);
    }
    return (struct slice){0};
}

static struct iovec piece(struct slice bytes) {
    return (struct iovec){(void *)(uintptr_t)bytes.p, bytes.n};
}

/* Writes the whole file with one call, and synchronizes it. */
static bool write_content(int file, const struct kept_record *record) {
    struct iovec pieces[3 * MEMBERS + 2];
    char heads[MEMBERS][HEAD_SIZE], digits[MEMBERS][NUMBER_SIZE];
    int count = 0;
    pieces[count++] = piece(SLICE(TITLE));
    for (size_t i = 0; i < MEMBERS; i++) {
        struct slice value = value_of(record, &members[i], digits[i]);
        if (!value.p)
            continue;
        snprintf(heads[i], HEAD_SIZE, "%s %zu\n", members[i].name, value.n);
        pieces[count++] = piece(slice_of(heads[i]));
        pieces[count++] = piece(value);
        pieces[count++] = piece(SLICE("\n"));
    }
    pieces[count++] = piece(SLICE(END));
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += pieces[i].iov_len;
    ssize_t written = writev(file, pieces, count);
    if (written >= 0 && (size_t)written < size)
        errno = ENOSPC; /* a part of a file is written only when the disk becomes full */
    return written >= 0 && (size_t)written == size && ftruncate(file, written) == 0 &&
           fsync(file) == 0;
}

static bool set_number(struct slice value, int64_t *number) {
    char digits[NUMBER_SIZE], *end;
    if (!value.n || value.n >= sizeof digits)
        return false;
    snprintf(digits, sizeof digits, "%.*s", (int)value.n, value.p);
    *number = strtoll(digits, &end, 10);
    return !*end;
}

static bool set_member(struct kept_record *record, const struct member *member, struct slice value,
                       struct arena *arena) {
    char *at = (char *)record + member->offset;
    bool is_text = !memchr(value.p, '\0', value.n);
    switch (member->kind) {
    case TEXT: return is_text && (*(const char **)(void *)at = arena_copy(arena, value));
    case ID: return is_text && value.n < ID_SIZE && memcpy(at, value.p, value.n);
    case BYTES: return *(struct slice *)(void *)at = value, true;
    case HASH: return value.n == HASH_SIZE && memcpy(at, value.p, value.n);
    case NUMBER: return set_number(value, (int64_t *)(void *)at);
    }
    return false;
}

static const struct member *find_member(struct slice name) {
    for (size_t i = 0; i < MEMBERS; i++)
        if (slice_equal(slice_of(members[i].name), name))
            return &members[i];
    return NULL;
}

/* A send names what it belongs to, and an answer its key. */
static bool is_whole(const struct kept_record *record) {
    const struct store_send *send = &record->send;
    bool has_send = send->wamid && send->user_id && send->account_id && send->line_id &&
                    (send->phone || send->bsuid) && send->type && send->body.p &&
                    send->new_contact_id[0] && send->new_thread_id[0] && send->message_id[0];
    bool has_answer = record->key.key && record->key.user_id && record->request_id[0] &&
                      record->answer.p && record->status > 0;
    return (has_send || !send->wamid) && (has_answer || !record->key.key) &&
           (has_send || has_answer);
}

bool kept_parse(struct slice bytes, struct arena *arena, struct kept_record *record) {
    *record = (struct kept_record){0};
    if (!slice_starts(bytes, SLICE(TITLE)))
        return false;
    bytes = slice_skip(bytes, strlen(TITLE));
    while (!slice_equal(bytes, SLICE(END))) {
        struct slice head = slice_cut(&bytes, '\n'), name = slice_cut(&head, ' ');
        const struct member *member = find_member(name);
        int64_t size;
        if (!member || !set_number(head, &size) || size < 0 || (uint64_t)size >= bytes.n ||
            bytes.p[size] != '\n' ||
            !set_member(record, member, (struct slice){bytes.p, (size_t)size}, arena))
            return false;
        bytes = slice_skip(bytes, (size_t)size + 1);
    }
    return is_whole(record);
}

/* --- the file --- */

static struct {
    int file; /* without a name */
    size_t size;
} reserve = {.file = -1};

static void drop_reserve(void) {
    int error = errno;
    close(reserve.file);
    reserve.file = -1;
    errno = error;
}

int kept_reserve(const char *directory, size_t size) {
    if (reserve.file >= 0 && reserve.size >= size)
        return 0;
    if (reserve.file >= 0)
        drop_reserve();
    reserve.file = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0640);
    if (reserve.file < 0)
        return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL ? 0 : -1;
    int error = posix_fallocate(reserve.file, 0, (off_t)size);
    if (error && error != EOPNOTSUPP && error != EINVAL) {
        drop_reserve();
        errno = error;
        return -1;
    }
    reserve.size = size;
    return 0;
}

/* Writes the record to the reserved file and gives it its name. False: without a reserve, too. */
static bool write_reserved(int directory, const char *name, const struct kept_record *record) {
    char path[64];
    if (reserve.file < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", reserve.file);
    bool is_done = write_content(reserve.file, record) &&
                   linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) == 0;
    drop_reserve();
    return is_done;
}

static bool write_new(int directory, const char *name, const struct kept_record *record) {
    char temporary[ID_SIZE + sizeof KEPT_NEW];
    snprintf(temporary, sizeof temporary, "%.*s" KEPT_NEW, ID_SIZE - 1, name);
    int file = openat(directory, temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0640);
    if (file < 0)
        return false;
    bool is_done =
        write_content(file, record) && renameat(directory, temporary, directory, name) == 0;
    int error = errno;
    close(file);
    if (!is_done)
        unlinkat(directory, temporary, 0);
    errno = error;
    return is_done;
}

int kept_write(const char *path, const struct kept_record *record, int64_t now) {
    char name[ID_SIZE];
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -1;
    id_make(name, KEPT_PREFIX, now);
    bool is_kept =
        (write_reserved(directory, name, record) || write_new(directory, name, record)) &&
        fsync(directory) == 0;
    int error = errno;
    close(directory);
    errno = error;
    return is_kept ? 0 : -1;
}

/* --- all files --- */

bool kept_is_waiting(const char *name) {
    return kept_is_name(name, "") && !strchr(name, '.') && strlen(name) < ID_SIZE;
}

bool kept_is_name(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return strncmp(name, KEPT_PREFIX, strlen(KEPT_PREFIX)) == 0 && n >= m &&
           strcmp(name + n - m, end) == 0;
}

int kept_count(const char *path, struct kept_tally *tally) {
    struct stat file;
    char oldest[ID_SIZE] = "~";
    DIR *directory = opendir(path);
    *tally = (struct kept_tally){0};
    if (!directory)
        return -1;
    for (struct dirent *entry; (entry = readdir(directory));) {
        tally->waiting += kept_is_waiting(entry->d_name);
        tally->refused += kept_is_name(entry->d_name, KEPT_REFUSED);
        if (kept_is_waiting(entry->d_name) && strcmp(entry->d_name, oldest) < 0)
            snprintf(oldest, sizeof oldest, "%.*s", ID_SIZE - 1, entry->d_name);
    }
    if (tally->waiting && fstatat(dirfd(directory), oldest, &file, 0) == 0)
        tally->since = file.st_mtim.tv_sec * INT64_C(1000);
    closedir(directory);
    return 0;
}
