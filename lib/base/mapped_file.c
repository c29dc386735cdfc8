#include "base/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_identity.h"
#include "base/write_all.h"

enum { TRIES = 64 };

sigjmp_buf mapped_file_escape;
volatile sig_atomic_t mapped_file_is_inside; /* this process is using a table */
static struct sigaction other_action;        /* for any other SIGBUS */

static void on_bus_error(int number) {
    if (!mapped_file_is_inside) {
        sigaction(number, &other_action, NULL); /* the access is repeated, and raises it again */
        return;
    }
    mapped_file_is_inside = 0;
    siglongjmp(mapped_file_escape, 1);
}

static void watch_bus_errors(void) {
    static bool is_watched;
    struct sigaction action = {.sa_handler = on_bus_error, .sa_flags = SA_ONSTACK | SA_NODEFER};
    if (!is_watched)
        sigaction(SIGBUS, &action, &other_action);
    is_watched = true;
}

/* Checks that the open file is such a table. Reads the header instead of mapping it: a page less to
 * fault in, for a CGI that uses one. Returns 0, EBADMSG when it is not, or errno. */
static int check_table(int fd, const struct mapped_kind *kind) {
    struct mapped_header header;
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0)
        return errno == ESPIPE ? EINVAL : errno;
    ssize_t got = (size_t)size == kind->size ? pread(fd, &header, sizeof header, 0) : 0;
    if (got < 0)
        return errno;
    bool is_table =
        got == (ssize_t)sizeof header && memcmp(&header, &kind->header, sizeof header) == 0;
    return is_table ? 0 : EBADMSG;
}

/* Maps the open file; as check_table. */
static int map(int fd, const struct mapped_kind *kind, void **pages) {
    int failed = check_table(fd, kind);
    if (failed)
        return failed;
    *pages = mmap(NULL, kind->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*pages != MAP_FAILED)
        return 0;
    *pages = NULL;
    return errno;
}

/* Reserves the disk space of the table, because the first access to a page for which the disk has
 * no space would raise SIGBUS. */
static bool reserve(int fd, size_t size) {
    errno = posix_fallocate(fd, 0, (off_t)size);
    return errno == 0;
}

/* Writes an empty table, whose bytes after the header are zero, to the new file `path`. */
static bool write_empty(const char *path, const struct mapped_kind *kind) {
    enum { MODE = 0660 }; /* programs of several users write, by their common group */
    const struct slice header = {(const char *)&kind->header, sizeof kind->header};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, MODE);
    if (fd < 0)
        return false;
    fchmod(fd, MODE); /* the umask may have cleared bits */
    bool is_written = reserve(fd, kind->size) && write_all(fd, header);
    int failed = errno;
    close(fd);
    errno = failed;
    return is_written;
}

/* Creates the file under another name and links it, so that it is complete when it appears, and
 * that of several processes one creates it. Returns 0 or errno. */
static int create(const char *path, const struct mapped_kind *kind) {
    char name[4200];
    snprintf(name, sizeof name, "%s.new-%ld", path, (long)getpid());
    unlink(name); /* of a killed process with the same number */
    int failed = write_empty(name, kind) ? 0 : errno;
    if (!failed && link(name, path) != 0 && errno != EEXIST)
        failed = errno;
    unlink(name);
    return failed;
}

/* Renames the file `fd` that is not a table. Under the lock, so that no process renames the table
 * that another one has created meanwhile. Returns 0, EAGAIN when another process does it, or errno.
 */
static int move_away(int fd, const char *path) {
    char name[4200];
    struct stat file;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &file) != 0)
        return errno == EWOULDBLOCK ? EAGAIN : errno;
    if (!S_ISREG(file.st_mode))
        return EINVAL;
    if (!file_is_at(&file, path))
        return EAGAIN;
    snprintf(name, sizeof name, "%s.replaced", path);
    return rename(path, name) == 0 ? 0 : errno;
}

static int open_or_create(const char *path, const struct mapped_kind *kind, void **pages,
                          bool *is_replaced) {
    int failed = EAGAIN;
    for (int i = 0; i < TRIES && (failed == 0 || failed == EAGAIN); i++) {
        if (failed == EAGAIN && i)
            usleep(1000);
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) {
            failed = errno == ENOENT ? create(path, kind) : errno;
            continue;
        }
        failed = map(fd, kind, pages);
        const bool is_mapped = !failed, is_damaged = failed == EBADMSG;
        if (is_damaged)
            failed = move_away(fd, path);
        close(fd);
        if (is_mapped)
            return 0;
        *is_replaced = *is_replaced || (is_damaged && !failed);
    }
    return failed ? failed : EAGAIN;
}

void *mapped_file_open(const char *path, const struct mapped_kind *kind,
                       char problem[MAPPED_FILE_PROBLEM_SIZE]) {
    void *pages = NULL;
    bool is_replaced = false;
    problem[0] = '\0';
    if (!*path)
        return NULL;
    watch_bus_errors();
    int failed = open_or_create(path, kind, &pages, &is_replaced);
    if (!pages)
        snprintf(problem, MAPPED_FILE_PROBLEM_SIZE, "%s: cannot use %s %.300s: %s", kind->lost,
                 kind->key, path, failed == EINVAL ? "it is not a file" : strerror(failed));
    else if (is_replaced)
        snprintf(problem, MAPPED_FILE_PROBLEM_SIZE,
                 "%s %.300s was damaged or of another version: it was renamed to NAME.replaced, "
                 "and %s",
                 kind->key, path, kind->anew);
    return pages;
}

uint64_t mapped_file_hash(const uint64_t *words, size_t count) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < count; i++) {
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h ? h : 1;
}
