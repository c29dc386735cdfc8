/* lib/base/file_identity.h */
#include "base/file_identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static char directory[] = "/tmp/switchboard-unit-XXXXXX";
static char path[64], other[64];

/* Writes the file and sets its modification time. */
static struct stat make(const char *name, const char *text, long nanoseconds) {
    const struct timespec times[2] = {{1000, nanoseconds}, {1000, nanoseconds}};
    struct stat made = {0};
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s", name);
    check(futimens(fd, times) == 0 && fstat(fd, &made) == 0, "%s", name);
    close(fd);
    return made;
}

int main(void) {
    check(mkdtemp(directory), "%s", directory);
    snprintf(path, sizeof path, "%s/file", directory);
    snprintf(other, sizeof other, "%s/other", directory);

    struct stat before = make(path, "text", 1), now = make(path, "text", 1);
    check(file_is_same(&before, &now) && file_is_unchanged(&before, &now), "written again");
    check(file_is_at(&before, path), "its path");
    check(file_number(&before) == file_number(&now), "its number");

    now = make(path, "text", 2);
    check(file_is_same(&before, &now) && !file_is_unchanged(&before, &now), "another time");
    now = make(path, "texts", 1);
    check(file_is_same(&before, &now) && !file_is_unchanged(&before, &now), "another size");
    check(file_is_at(&before, path), "its path, with other content");

    now = make(other, "text", 1);
    check(!file_is_same(&before, &now) && !file_is_unchanged(&before, &now), "another file");
    check(file_number(&before) != file_number(&now), "the number of another file");
    check(rename(other, path) == 0 && !file_is_at(&before, path), "replaced");
    check(file_is_at(&now, path), "by the other one");
    now.st_dev++;
    check(!file_is_at(&now, path), "a file of another device");

    check(unlink(path) == 0 && !file_is_at(&before, path), "removed");
    check(rmdir(directory) == 0, "%s", directory);
    return check_failures();
}
