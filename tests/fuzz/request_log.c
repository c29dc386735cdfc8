/* The ring of requests: any bytes in its file give records whose texts end, or none. */
#include <fcntl.h>
#include <unistd.h>

#include "base/request_log.h"
#include "fuzz.h"

static const char user[] = "usr_00000000000000000000000000";
static int file = -1;

static void open_log(void) {
    char path[] = "/tmp/switchboard-fuzz-XXXXXX", problem[MAPPED_FILE_PROBLEM_SIZE];
    const int fd = mkstemp(path);
    MUST(fd >= 0 && close(fd) == 0 && unlink(path) == 0);
    request_log_open(path, problem);
    MUST(!*problem && request_log_is_kept());
    file = open(path, O_RDWR | O_CLOEXEC);
    MUST(file >= 0 && unlink(path) == 0);
}

static void add_own(void) {
    struct request_record record = {.time = 1, .status = 200, .method = "GET", .route = "/v2/me"};
    memcpy(record.user_id, user, sizeof user);
    request_log_add(&record);
}

/* Reads from `before` on, a few records. */
static void read_all(uint64_t before) {
    struct request_record record;
    for (int i = 0; i < 8 && request_log_next(user, &before, &record); i++) {
        MUST(record.number == before && strcmp(record.user_id, user) == 0);
        MUST(strnlen(record.id, sizeof record.id) < sizeof record.id);
        MUST(strnlen(record.method, sizeof record.method) < sizeof record.method);
        MUST(strnlen(record.route, sizeof record.route) < sizeof record.route);
        MUST(record.status >= 0 && record.status <= 0xffff && record.ms >= 0);
    }
}

/* The input replaces bytes after the header of the file: the number of the newest record at 24,
 * records from 4096 on. Its first two bytes choose the place. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (file < 0)
        open_log();
    if (size < 2)
        return 0;
    const off_t at = data[0] & 1 ? 16 : 4096 + data[1] * 8;
    if (size - 2 < 4096)
        MUST(pwrite(file, data + 2, size - 2, at) == (ssize_t)(size - 2));
    read_all(UINT64_MAX);
    add_own();
    read_all(UINT64_MAX);
    read_all(data[1]);
    return 0;
}
