#include "archive/media_walk.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"

enum level { USERS, YEARS, MONTHS, FILES };

static const char part[] = ".part";
enum { PART = sizeof part - 1, HASH = 2 * CRYPTO_HASH_SIZE };

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
    else if (n > PART && strcmp(name + n - PART, part) == 0)
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
