/* What wakes the resident programs: lib/delivery/wake.h, lib/sending/looks.h; and
 * the pace of the sender: lib/sending/pace.h */
#include "delivery/wake.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "engine/sqlite.h"
#include "sending/looks.h"
#include "sending/pace.h"

static char directory[256];

/* Notifies, listens, closes and listens again. */
static void check_notify(const char *path) {
    struct config config = {.wake_socket = path};
    struct wake_listener first = wake_closed(), second = wake_closed();
    wake_notify(&config); /* no listener */
    wake_listen(&first, &config);
    check(first.fd >= 0, "%s", path);
    check(!wake_drain(&first), "not notified yet");
    wake_notify(&config);
    wake_notify(&config);
    check(wake_drain(&first), "notified");
    check(!wake_drain(&first), "one drain reads all notifications");
    wake_listen(&second, &config);
    check(second.fd == -1, "a second listener does not get the socket");
    for (int i = 0; i < 10000; i++)
        wake_notify(&config); /* never blocks, even when the queue is full */
    wake_listen(&first, &config);
    check(wake_drain(&first), "the first listener still has the socket");
    wake_close(&first);
    wake_listen(&second, &config);
    wake_notify(&config);
    check(wake_drain(&second), "the second listener has the socket");
    wake_close(&second);
    check(access(path, F_OK) != 0, "the listener removes its socket");
}

/* A socket that a killed courier left, and one that was removed. */
static void check_stale(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct config config = {.wake_socket = path};
    struct wake_listener listener = wake_closed();
    snprintf(address.sun_path, sizeof address.sun_path, "%.107s", path);
    int left = socket(AF_UNIX, SOCK_DGRAM, 0);
    check(bind(left, (struct sockaddr *)&address, sizeof address) == 0, "%s", path);
    close(left);
    wake_listen(&listener, &config);
    wake_notify(&config);
    check(wake_drain(&listener), "an abandoned socket is replaced");
    unlink(path);
    wake_listen(&listener, &config);
    wake_notify(&config);
    check(wake_drain(&listener), "a removed socket is created again");
    wake_close(&listener);
    check(access(path, F_OK) != 0, "the listener removes its socket");
}

static void run(sqlite3 *database, const char *sql) {
    check(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql,
          sqlite3_errmsg(database));
}

static sqlite3 *open_database(const char *path) {
    sqlite3 *database;
    check(sqlite3_open(path, &database) == SQLITE_OK, "%s", path);
    run(database, "PRAGMA journal_mode = WAL");
    return database;
}

/* A log that appears, is written, removed and made anew, and that of another database. */
static void check_log(void) {
    char path[sizeof directory + 8], other[sizeof path], log[sizeof path + 8];
    struct wake_listener watch = wake_closed();
    snprintf(path, sizeof path, "%s/a.db", directory);
    snprintf(other, sizeof other, "%s/b.db", directory);
    snprintf(log, sizeof log, "%s-wal", path);
    check(log_watch_open(&watch, NULL) && watch.fd < 0, "a server has no log to watch");
    check(log_watch_open(&watch, path) && watch.fd < 0, "no database yet");
    check(!log_watch_drain(&watch), "nothing is watched");

    sqlite3 *writer = open_database(path);
    run(writer, "CREATE TABLE t (a)");
    check(log_watch_open(&watch, path) && watch.fd >= 0, "the log exists");
    check(!log_watch_drain(&watch), "not written yet");
    run(writer, "INSERT INTO t VALUES (1)");
    check(log_watch_drain(&watch), "written");
    check(!log_watch_drain(&watch), "one drain reads all notifications");
    run(writer, "SELECT * FROM t");
    check(!log_watch_drain(&watch), "a read is no write");

    sqlite3_close(writer); /* the last connection removes the log */
    check(access(log, F_OK) != 0, "the log is removed");
    check(log_watch_open(&watch, path) && watch.fd < 0, "it is watched no more");
    writer = open_database(path);
    run(writer, "INSERT INTO t VALUES (2)");
    check(log_watch_open(&watch, path) && watch.fd >= 0, "a new log");
    run(writer, "INSERT INTO t VALUES (3)");
    check(log_watch_drain(&watch), "the new log was written");

    sqlite3 *second = open_database(other);
    run(second, "CREATE TABLE t (a)");
    check(log_watch_open(&watch, other), "another database");
    run(second, "INSERT INTO t VALUES (1)");
    check(log_watch_drain(&watch), "the log of the other database");
    log_watch_close(&watch);
    check(watch.fd < 0, "closed");
    sqlite3_close(writer);
    sqlite3_close(second);
    unlink(path);
    unlink(other);
}

/* --- the looks of a sender, in virtual time --- */

enum { COST_US = 500, DELAY_MS = 3 };

/* The same numbers in each run. */
static int next_number(void) {
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (int)(state >> 16);
}

/* The main loop of a sender beside another process that writes `count` times, with pauses of less
 * than `pause` ms, and whose commits are seen DELAY_MS after the write. The sender writes after
 * every third look. */
static void check_looks(int count, int pause, int64_t longest) {
    struct looks looks = {0};
    int64_t now = 1000, write = now + 1, seen = INT64_MAX, late = 0, taken = 0;
    bool is_notified = false;
    for (int left = count; left || seen != INT64_MAX;) {
        if (is_notified)
            looks_after_write(&looks, now);
        is_notified = false;
        if (looks_take(&looks, now)) {
            looks_rest(&looks, now, COST_US, true);
            if (seen <= now) {
                late = now - seen > late ? now - seen : late;
                seen = INT64_MAX;
            }
            if (++taken % 3 == 0)
                looks_after_own_write(&looks, now);
        }
        const int64_t wait = looks_wait(&looks, now);
        const int64_t end = wait == INT64_MAX ? INT64_MAX : now + wait;
        check(wait > 0, "the loop does not spin: %lld", (long long)wait);
        check(end != INT64_MAX || (left && looks_watch(&looks, now)), "the wait ends");
        if (!left || (write > end && end != INT64_MAX)) {
            now = end;
            continue;
        }
        now = looks_watch(&looks, now) || end == INT64_MAX ? write : end;
        seen = seen < write + DELAY_MS ? seen : write + DELAY_MS;
        is_notified = true;
        left--;
        write = (now > write ? now : write) + 1 + next_number() % pause;
    }
    check(late <= longest, "a commit is found after %lld ms", (long long)late);
    check(taken * COST_US / 1000 <= (now - 1000) / 20 + 1, "%lld looks in %lld ms",
          (long long)taken, (long long)(now - 1000));
}

/* --- the pace of a line, in virtual time --- */

/* A sender with enough rows of a line works `work` ms, in which it takes rows once, and waits
 * `wait` ms, in turn. In each second it takes `least` to `most` rows. */
static void check_pace(int work, int wait, double rate, int least, int most) {
    static struct pace pace;
    int taken[1000] = {0};
    memset(&pace, 0, sizeof pace);
    pace_init(&pace);
    for (int64_t now = 0; now < 20000; now += work + wait) {
        struct pace_line *line = pace_find(&pace, "lin_1", rate, now);
        const size_t rows = pace_room(&pace, line, rate, now);
        pace_use(line, rows);
        taken[now / 1000] += (int)rows;
        pace_wait(&pace, wait);
    }
    for (int second = 1; second < 19; second++)
        check(taken[second] >= least && taken[second] <= most,
              "%d + %d ms: %d rows in second %d at %g per second", work, wait, taken[second],
              second, rate);
}

/* A line that had no rows for `idle` ms, in which the sender waited for `waited` ms: what the
 * sender worked counts, for at most a second, unless it was longer than 10 s. */
static void check_pace_after_idle(int64_t idle, int64_t waited, size_t most) {
    static struct pace pace;
    memset(&pace, 0, sizeof pace);
    pace_init(&pace);
    struct pace_line *line = pace_find(&pace, "lin_1", 40, 0);
    pace_wait(&pace, waited);
    const size_t rows = pace_room(&pace, line, 40, idle);
    check(rows > 0 && rows <= most, "%zu rows after %lld ms", rows, (long long)idle);
}

/* A line whose due rows wait for others of their recipients, until one of those ends. */
static void check_rests(void) {
    static struct pace pace;
    static const int rests[] = {25, 50, 100, 200, 250, 250};
    int64_t now = 5000;
    memset(&pace, 0, sizeof pace);
    pace_init(&pace);
    struct pace_line *line = pace_find(&pace, "lin_1", 40, now);
    pace_use(line, 1);
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        now += 100;
        check(pace_room(&pace, line, 40, now) > 0, "rest %zu has ended", i);
        pace_rest(line, now);
        check(pace_room_at(line, now) == now + rests[i], "rest %zu", i);
        check(pace_room(&pace, line, 40, now + rests[i] - 1) == 0, "rest %zu", i);
        now += rests[i];
    }
    pace_rest(line, now);
    pace_end(line);
    check(pace_room(&pace, line, 40, now) > 0, "the row that was waited for has ended");
    pace_use(line, 4);
    check(pace_room(&pace, line, 40, now) == 0 && pace_room_at(line, now) > now,
          "no token is left");
    now = pace_room_at(line, now);
    check(pace_room(&pace, line, 40, now) == 1, "one token");
    pace_pause(line, now, 700);
    check(pace_room_at(line, now) == now + 700, "a pause of the platform");
}

int main(void) {
    char path[1024], deep[600];
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%.200s/wake-XXXXXX", temporary ? temporary : "/tmp");
    check(mkdtemp(directory) != NULL, "%s", directory);
    snprintf(path, sizeof path, "%s/gateway.db.wake", directory);
    check_notify(path);
    check_stale(path);

    /* a path longer than sun_path */
    snprintf(deep, sizeof deep, "%s/%0120d", directory, 0);
    check(mkdir(deep, 0700) == 0, "%s", deep);
    snprintf(path, sizeof path, "%s/gateway.db.wake", deep);
    check_notify(path);

    /* without a directory to bind in, the calls do nothing */
    struct wake_listener listener = wake_closed();
    const struct config missing = {.wake_socket = "/nonexistent/courier.wake"};
    wake_listen(&listener, &missing);
    check(listener.fd == -1, "no directory");
    wake_notify(&missing);
    rmdir(deep);
    check_log();
    check_looks(2000, 400, 24); /* two rests and the pauses between them */
    check_looks(2000, 20, 24);
    check_looks(2000, 3, 24);
    check_pace(2, 25, 40, 39, 41);
    check_pace(300, 25, 40, 35, 48); /* exchanges with a slow database */
    check_pace(430, 0, 10, 7, 13);
    check_pace(1500, 25, 10, 0, 10); /* a longer time counts as a second */
    check_pace(2, 500, 40, 4, 8);    /* it does not wait so long for tokens */
    check_rests();
    check_pace_after_idle(900, 880, 4);
    check_pace_after_idle(900, 400, 20);
    check_pace_after_idle(5000, 1000, 40);
    check_pace_after_idle(3600 * 1000, 0, 4);
    check(rmdir(directory) == 0, "nothing is left");
    return check_failures();
}
