/* The type of an uploaded file, detected from its content if need be: only programs that call
 * upload_type link what detects types. */
#include <errno.h>
#include <fcntl.h>
#include <magic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/media/upload.h"
#include "base/process/confine.h"
#include "payload/mime.h"

enum {
    HEAD_SIZE = 64 * 1024, /* the bytes at the beginning of a file that decide its type */
    CPU_SECONDS = 5,
    ANSWER_SIZE = 256,
};

/* Types to which libmagic gives another name. */
static const struct {
    const char *found, *type;
} aliases[] = {
    {"application/cdfv2", "application/x-ole-storage"},
    {"application/ogg", "audio/ogg"},
    {"audio/x-hx-aac-adts", "audio/aac"},
    {"audio/x-m4a", "audio/mp4"},
    {"video/x-m4v", "video/mp4"},
};

/* Container types, and the types that a file with this container may have by its extension. */
static const struct {
    const char *found, *by_name;
} containers[] = {
    {"application/x-ole-storage", "application/msword"},
    {"application/x-ole-storage", "application/vnd.ms-excel"},
    {"application/x-ole-storage", "application/vnd.ms-powerpoint"},
    {"application/zip",
     "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"application/zip", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"application/zip", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"audio/ogg", "audio/opus"},
    {"video/mp4", "audio/mp4"},
};

/* Runs in the child process: writes the type that libmagic detects to `out`, and exits. */
static _Noreturn void detect(struct slice head, const char *database, int out) {
    struct rlimit limit = {CPU_SECONDS, CPU_SECONDS};
    setrlimit(RLIMIT_CPU, &limit);
    confine_detector(out, database);
    clearenv(); /* libmagic reads files that MAGIC and HOME name */
    magic_t magic = magic_open(MAGIC_MIME_TYPE);
    const char *found = magic && magic_load(magic, *database ? database : NULL) == 0
                            ? magic_buffer(magic, head.p, head.n)
                            : NULL;
    bool done = found && write(out, found, strlen(found)) > 0;
    _exit(done ? 0 : 1);
}

static const char *detect_in_child(struct arena *arena, struct slice head, const char *database) {
    char answer[ANSWER_SIZE];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t child = fork();
    if (child == 0)
        detect(head, database, ends[1]);
    close(ends[1]);
    ssize_t n = 0;
    if (child > 0)
        while ((n = read(ends[0], answer, sizeof answer - 1)) < 0 && errno == EINTR)
            ;
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    answer[n > 0 ? n : 0] = '\0';
    return mime_read(arena, answer);
}

static const char *by_alias(const char *found) {
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].found, found) == 0)
            return aliases[i].type;
    return found;
}

static bool may_be(const char *found, const char *by_name) {
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++)
        if (strcmp(containers[i].found, found) == 0 && strcmp(containers[i].by_name, by_name) == 0)
            return true;
    return mime_is_generic(found);
}

/* The type of a file that begins with `head`, in `arena`. If the content is ambiguous (a .docx is a
 * zip archive), the extension of `name` decides. application/octet-stream when no type is detected.
 * Takes about 15 ms, in a child process, because the content may be hostile and libmagic's tables
 * are large. */
static const char *detect_type(struct arena *arena, struct slice head, const char *name,
                               const char *database) {
    const char *found = detect_in_child(arena, head, database), *by_name = mime_of_name(name);
    found = found ? by_alias(found) : "application/octet-stream";
    return by_name && may_be(found, by_name) ? by_name : found;
}

/* Reads the beginning of the file. upload_read returns these bytes too. */
static struct slice look_ahead(struct upload *upload) {
    size_t n = 0, room = upload->size < HEAD_SIZE ? (size_t)upload->size : HEAD_SIZE;
    char *bytes = arena_alloc(upload->rq->arena, room);
    ssize_t got = 1;
    for (; n < room && got > 0; n += got > 0 ? (size_t)got : 0)
        got = upload->spool >= 0 ? pread(upload->spool, bytes + n, room - n, (off_t)n)
                                 : request_read_body(upload->rq, bytes + n, room - n);
    if (upload->spool < 0)
        upload->seen = (struct slice){bytes, n};
    return (struct slice){bytes, n};
}

const char *upload_type(struct upload *upload) {
    struct arena *arena = upload->rq->arena;
    const char *type;
    if (upload_stated_type(upload, &type))
        return NULL;
    return type ? type
                : detect_type(arena, look_ahead(upload), upload->name,
                              upload->rq->config->magic_file);
}
