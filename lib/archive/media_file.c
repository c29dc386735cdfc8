#include "archive/media_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/crypto.h"

enum { FILE_MODE = 0660, DIRECTORY_MODE = 0770, FREE_PARTS = 10 };

static bool is_short(int n) {
    if (n >= 0 && n < PATH_MAX)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static bool part_path(char path[PATH_MAX], const char *archive,
                      const struct store_media_copy *row) {
    return is_short(snprintf(path, PATH_MAX, "%s/%s/%s/%s.part", archive, row->user_id, row->month,
                             row->message_id));
}

static bool file_path(char path[PATH_MAX], const char *archive,
                      const struct store_media_copy *row) {
    return is_short(
        snprintf(path, PATH_MAX, "%s/%s/%s/%s", archive, row->user_id, row->month, row->sha256));
}

bool media_file_has_room(const char *archive, int *error) {
    struct statfs disk;
    const int directory = open(archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *error = directory < 0 || fstatfs(directory, &disk) != 0 ? errno : 0;
    if (directory >= 0)
        close(directory);
    return !*error && disk.f_bavail > disk.f_blocks / FREE_PARTS;
}

/* --- writing --- */

static bool sync_directory(const char *path) {
    const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool done = directory >= 0 && fsync(directory) == 0;
    if (directory >= 0)
        close(directory);
    return done;
}

/* Makes the directories of `path` below the archive, which exists. */
static bool make_directories(char *path, size_t archive) {
    for (char *end = strchr(path + archive + 1, '/'), *before = path + archive; end;
         before = end, end = strchr(end + 1, '/')) {
        *end = '\0';
        const bool is_new = mkdirat(AT_FDCWD, path, DIRECTORY_MODE) == 0;
        bool done = is_new || errno == EEXIST;
        *end = '/';
        if (is_new) {
            *before = '\0';
            done = sync_directory(path);
            *before = '/';
        }
        if (!done)
            return false;
    }
    return true;
}

int media_file_begin(const char *archive, const struct store_media_copy *row) {
    char path[PATH_MAX];
    if (!part_path(path, archive, row) || !make_directories(path, strlen(archive)) ||
        (unlink(path) != 0 && errno != ENOENT))
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
}

/* Whether the path is that of the open file: another sender may have replaced it. */
static bool is_own(const char *path, int file) {
    struct stat named, own;
    return stat(path, &named) == 0 && fstat(file, &own) == 0 && named.st_dev == own.st_dev &&
           named.st_ino == own.st_ino;
}

bool media_file_place(const char *archive, const struct store_media_copy *row, int file) {
    char part[PATH_MAX], path[PATH_MAX];
    if (!part_path(part, archive, row) || !file_path(path, archive, row))
        return false;
    if (!is_own(path, file) &&
        (!is_own(part, file) || renameat(AT_FDCWD, part, AT_FDCWD, path) != 0))
        return false;
    *strrchr(part, '/') = '\0';
    return sync_directory(part);
}

void media_file_end(const char *archive, const struct store_media_copy *row, int file) {
    char part[PATH_MAX];
    if (part_path(part, archive, row) && is_own(part, file))
        unlink(part);
    close(file);
}

void media_file_drop(const char *archive, const struct store_media_copy *row) {
    char part[PATH_MAX];
    if (part_path(part, archive, row))
        unlink(part);
}

bool media_file_remove(const char *archive, const struct store_media_copy *row, bool is_shared) {
    char part[PATH_MAX], path[PATH_MAX];
    if (!part_path(part, archive, row) || (unlink(part) != 0 && errno != ENOENT))
        return false;
    if (is_shared || !row->sha256)
        return true;
    return file_path(path, archive, row) && (unlink(path) == 0 || errno == ENOENT);
}

/* --- reading --- */

int media_file_open(const char *archive, const struct store_media_copy *row, int64_t *size) {
    char path[PATH_MAX];
    struct stat found;
    if (!*archive || !row->sha256 || !file_path(path, archive, row))
        return -1;
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
        *size = found.st_size;
        return file;
    }
    if (file >= 0)
        close(file);
    return -1;
}

bool media_file_is_there(const char *archive, const struct store_media_copy *row) {
    int64_t size = -1;
    const int file = media_file_open(archive, row, &size);
    if (file >= 0)
        close(file);
    return file >= 0 && size == row->size;
}

/* --- a walk through all files --- */

enum level { USERS, YEARS, MONTHS, FILES };

static const char unfinished[] = ".part";
enum { PART = sizeof unfinished - 1, HASH = 2 * CRYPTO_HASH_SIZE };

struct walk {
    const char *archive;
    media_visit *visit;
    void *context;
    char user[NAME_MAX + 1], year[NAME_MAX + 1], month[NAME_MAX + 1];
    bool goes_on;
    int error;
};

static bool is_of(const char *name, const char *characters, size_t length) {
    return strlen(name) == length && strspn(name, characters) == length;
}

/* Visits a file, unless its name is not one of the archive. */
static void visit_file(struct walk *walk, const char *name) {
    char month[MEDIA_MONTH_SIZE], id[NAME_MAX + 1], path[PATH_MAX];
    struct store_media_copy file = {.user_id = walk->user, .month = month};
    const size_t n = strlen(name);
    snprintf(month, sizeof month, "%.4s/%.2s", walk->year, walk->month);
    snprintf(id, sizeof id, "%.*s", (int)(n > PART ? n - PART : 0), name);
    if (is_of(name, "0123456789abcdef", HASH))
        file.sha256 = name;
    else if (n > PART && strcmp(name + n - PART, unfinished) == 0)
        file.message_id = id;
    else
        return;
    if (snprintf(path, sizeof path, "%s/%s/%s/%s", walk->archive, walk->user, month, name) <
        (int)sizeof path)
        walk->goes_on = walk->visit(walk->context, &file, path);
}

static void walk_directory(struct walk *walk, const char *path, enum level level);

/* Enters a directory if its name is one of the level, and keeps that in `kept`. */
static void enter(struct walk *walk, const char *path, const char *name, enum level level) {
    char *const kept[] = {walk->user, walk->year, walk->month};
    static const size_t digits[] = {0, 4, 2};
    char inner[PATH_MAX];
    if (digits[level] && !is_of(name, "0123456789", digits[level]))
        return;
    snprintf(kept[level], NAME_MAX + 1, "%s", name);
    if (snprintf(inner, sizeof inner, "%s/%s", path, name) < (int)sizeof inner)
        walk_directory(walk, inner, level + 1);
}

/* Something else than a directory has no files of the archive. */
static void walk_directory(struct walk *walk, const char *path, enum level level) {
    DIR *directory = opendir(path);
    const struct dirent *entry;
    if (!directory) {
        walk->error = level != USERS && errno == ENOTDIR ? walk->error : errno;
        return;
    }
    while (walk->goes_on && !walk->error && (errno = 0, entry = readdir(directory))) {
        if (*entry->d_name == '.')
            continue;
        if (level == FILES)
            visit_file(walk, entry->d_name);
        else
            enter(walk, path, entry->d_name, level);
        errno = 0;
    }
    walk->error = walk->error || !walk->goes_on ? walk->error : errno;
    closedir(directory);
}

bool media_walk(const char *archive, media_visit *visit, void *context) {
    struct walk walk = {.archive = archive, .visit = visit, .context = context, .goes_on = true};
    walk_directory(&walk, archive, USERS);
    errno = walk.error;
    return !walk.error;
}

/* --- a look at some copies --- */

enum {
    MOST = 1000, /* copies of a look */
    MOMENTS = 20,
    MEMORY = 4 * 1024 * 1024,
};

static void look(struct media_sample *sample, const char *archive,
                 const struct store_media_copy *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sample->seen++;
        if (media_file_is_there(archive, &rows[i]))
            continue;
        if (!sample->missing++)
            snprintf(sample->message_id, sizeof sample->message_id, "%s", rows[i].message_id);
    }
}

/* The id of a message at a random time between the two. */
static void random_place(char id[ID_SIZE], int64_t from, int64_t to) {
    uint32_t part;
    crypto_random(&part, sizeof part);
    id_least(id, "msg_", from + (int64_t)((double)(to - from) * part / UINT32_MAX));
}

static int64_t oldest_of(const struct store_media_copy *rows, size_t count, int64_t now) {
    int64_t oldest = now;
    for (size_t i = 0; i < count; i++)
        oldest = rows[i].created_at < oldest ? rows[i].created_at : oldest;
    return oldest;
}

enum store_result media_sample_take(struct store *store, const char *archive, int64_t now,
                                    struct media_sample *sample) {
    struct arena arena;
    struct store_media_copy *rows;
    size_t count;
    *sample = (struct media_sample){0};
    arena_init(&arena, MEMORY, NULL);
    enum store_result result = store_list_kept_media(store, &arena, "", MOST, &rows, &count);
    const int64_t oldest = result == STORE_OK ? oldest_of(rows, count, now) : now;
    sample->is_whole = result == STORE_OK && count < MOST;
    if (result == STORE_OK)
        look(sample, archive, rows, sample->is_whole ? count : MOST / MOMENTS);
    for (int i = 1; i < MOMENTS && result == STORE_OK && !sample->is_whole; i++) {
        char after[ID_SIZE];
        random_place(after, oldest, now);
        arena_reset(&arena);
        result = store_list_kept_media(store, &arena, after, MOST / MOMENTS, &rows, &count);
        if (result == STORE_OK)
            look(sample, archive, rows, count);
    }
    arena_free(&arena);
    return result;
}
