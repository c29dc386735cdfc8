/* The gateway of a world: runs its programs as a web server and cron do. */

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delivery/kept_record.h"
#include "disk.h"
#include "world.h"

int campaigns_main(int argc, char **argv);
int messages_main(int argc, char **argv);
int outgoing_main(int argc, char **argv);
int platform_main(int argc, char **argv);
int threads_main(int argc, char **argv);
int courier_main(int argc, char **argv);
int sender_main(int argc, char **argv);
int switchboard_main(int argc, char **argv);

enum { WORDS = 32 }; /* of a command line */

/* A sender is killed more often, since only a few of its steps are between a POST and its record.
 */
enum { KILLED_OF_100 = 6 };

const char *gateway_token, *gateway_line = "800000000001";

/* A command has ended. output: its first line; NULL: it did not succeed. */
typedef void command_end(const char *output, uint64_t random);

static struct {
    struct request request;
    bool is_request; /* else a courier or a command */
    command_end *end;
} running[PROCESSES];

static const char *first_token; /* the one that the worlds begin with */

static char prepared[4096], database[4200], config[4200], pending[4200];
static char *environment[] = {NULL, NULL};

static const struct {
    const char *script;
    int (*main)(int argc, char **argv);
} programs[] = {
    {"/v2/campaigns", campaigns_main},
    {"/v2/messages", messages_main},
    {"/v2/opt-outs", outgoing_main},
    {"/platform/webhook", platform_main},
    {NULL, NULL},
};

/* --- the installation --- */

static const char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "re");
    struct stat found;
    if (!file || fstat(fileno(file), &found) != 0)
        return NULL;
    char *text = arena_alloc(&world.arena, (size_t)found.st_size + 1);
    *size = fread(text, 1, (size_t)found.st_size, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

/* Divides the line, which it changes, at its spaces. Returns the number of words, with `name`. */
static int split(char *line, char *name, char *words[WORDS]) {
    int count = 0;
    words[count++] = name;
    while (*line && count < WORDS - 1) {
        words[count++] = line;
        line += strcspn(line, " ");
        if (*line)
            *line++ = '\0';
    }
    words[count] = NULL;
    return count;
}

/* Runs a command of the CLI to its end, with `input`; returns what it printed. */
static const char *run(const char *line, const char *input) {
    char *copy = strdup(line), *arguments[WORDS];
    const int count = split(copy, "switchboard", arguments);
    static uint64_t commands;
    int status = 0;
    size_t size;
    char in[4300], out[4300];
    snprintf(in, sizeof in, "%s/in", prepared);
    snprintf(out, sizeof out, "%s/out", prepared);
    write_file(in, input);
    const int process = process_start(&(struct program_start){.main = switchboard_main,
                                                              .argc = count,
                                                              .argv = arguments,
                                                              .environment = environment,
                                                              .input = in,
                                                              .output = out,
                                                              .errors = "/dev/stderr",
                                                              .random = ++commands});
    while (process_run(process, &status)) {
        const int64_t until = world_shared->processes[process].until;
        world_shared->now = until > world_shared->now ? until : world_shared->now;
    }
    free(copy);
    if (status) {
        fprintf(stderr, "world: switchboard %s: status %d\n", line, status);
        exit(2);
    }
    char *text = (char *)(size_t)read_file(out, &size);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static void write_config(const char *directory, const char *path) {
    char text[20000];
    snprintf(text, sizeof text,
             "database = %s/data/switchboard.db\nsecret_key_file = %s/secret.key\n"
             "graph_base_url = http://platform.test\napp_secret = world-secret\n"
             "verify_token = world-verify\nwebhook_egress = private\nenvironment = test\n"
             "log_file = %s/switchboard.log\nspool_dir = %s/spool\n",
             directory, directory, directory, directory);
    write_file(path, text);
}

static void set_paths(const char *directory) {
    static char variable[4300];
    snprintf(database, sizeof database, "%s/data/switchboard.db", directory);
    snprintf(config, sizeof config, "%s/switchboard.conf", directory);
    snprintf(pending, sizeof pending, "%s/pending", directory);
    snprintf(variable, sizeof variable, "SWITCHBOARD_CONFIG=%s", config);
    environment[0] = variable;
}

void gateway_prepare(const char *directory) {
    disk_prepare(database);
    snprintf(prepared, sizeof prepared, "%s", directory);
    directory = prepared;
    char data[4200];
    snprintf(data, sizeof data, "%s/data", directory);
    mkdir(directory, 0700);
    mkdir(data, 0700);
    set_paths(directory);
    write_config(directory, config);
    run("init", "");
    first_token = strdup(run("user add owner@example.org", ""));
    run("plan set owner@example.org Premium", "");
    const char *account =
        run("account add owner@example.org --waba-id 900000000001 --name Shop", "platform-token");
    run(world_print("line add %s --phone-number-id %s --number +15550000001", account,
                    gateway_line),
        "");
    for (int i = 0; i < RECEIVERS; i++)
        run(world_print("webhook add owner@example.org http://receiver%d.test/hook --name r%d", i,
                        i),
            "");
}

/* A user whose webhooks are at hosts that hang, in an installation for calm worlds. */
static void prepare_crowd(void) {
    run("user add crowd@example.org", "");
    run("plan set crowd@example.org Premium", "");
    const char *account =
        run("account add crowd@example.org --waba-id 900000000002 --name Crowd", "platform-token");
    run(world_print("line add %s --phone-number-id 800000000002 --number +15550000002", account),
        "");
    for (int i = 0; i < CROWD; i++)
        run(world_print("webhook add crowd@example.org http://crowd%d.test/hook --name c%d", i, i),
            "");
}

static void copy_all(const char *from, const char *to) {
    world_command((const char *const[]){"rm", "-rf", to, NULL});
    world_command((const char *const[]){"cp", "-a", from, to, NULL});
}

void gateway_begin(void) {
    static bool has_crowd;
    const int64_t now = world_shared->now;
    const char *crowd = world_print("%s-crowd", prepared);
    if (world.is_calm && !has_crowd) {
        copy_all(prepared, crowd);
        set_paths(crowd);
        write_config(crowd, config);
        world_shared->now = 0;
        prepare_crowd();
        world_shared->now = now;
        has_crowd = true;
    }
    copy_all(world.is_calm ? crowd : prepared, world.directory);
    set_paths(world.directory);
    write_config(world.directory, config);
    memset(running, 0, sizeof running);
    if (world.retains)
        run("retention set owner@example.org --messages 8", "");
    gateway_token = first_token;
    disk_watch();
}

/* --- requests --- */

static const char *file_of(int process, const char *kind) {
    return world_print("%s/%s.%d", world.directory, kind, process);
}

static int free_place(void) {
    for (int i = 0; i < PROCESSES; i++)
        if (world_shared->processes[i].state == PROCESS_FREE)
            return i;
    return -1;
}

static long death_of(uint64_t *random) {
    return world_now() < world.quiet_at && !world.is_calm && random_chance(random, KILLED_OF_100)
               ? 1 + (long)random_below(random, 120)
               : 0;
}

/* A web server without a free process answers 503. */
static void refuse(const struct request *request) {
    const struct answer answer = {.status = 503, .body = slice_of(""), .text = ""};
    request->end(request->subject, &answer);
}

void gateway_request(const struct request *request) {
    char *variables[24];
    size_t n = 0, program = 0;
    uint64_t random = request->random;
    const int place = free_place();
    if (place < 0) {
        refuse(request);
        return;
    }
    while (programs[program].script && strcmp(programs[program].script, request->script) != 0)
        program++;
    int (*main)(int, char **) =
        strncmp(request->info, "/wamid.", 7) == 0 ? threads_main : programs[program].main;
    variables[n++] = environment[0];
    variables[n++] = "GATEWAY_INTERFACE=CGI/1.1";
    variables[n++] = "REMOTE_ADDR=127.0.0.1";
    variables[n++] = (char *)(size_t)world_print("REQUEST_METHOD=%s", request->method);
    variables[n++] = (char *)(size_t)world_print("SCRIPT_NAME=%s", request->script);
    variables[n++] = (char *)(size_t)world_print("PATH_INFO=%s", request->info);
    variables[n++] =
        (char *)(size_t)world_print("QUERY_STRING=%s", request->query ? request->query : "");
    if (request->body) {
        variables[n++] = (char *)(size_t)world_print(
            "CONTENT_TYPE=%s", request->type ? request->type : "application/json");
        variables[n++] = (char *)(size_t)world_print("CONTENT_LENGTH=%zu", strlen(request->body));
    }
    for (size_t i = 0; request->headers[i]; i++)
        variables[n++] = (char *)(size_t)request->headers[i];
    variables[n] = NULL;
    write_file(file_of(place, "in"), request->body ? request->body : "");
    running[place].request = *request;
    running[place].is_request = true;
    world.requests++;
    process_start(&(struct program_start){.main = main,
                                          .argc = 1,
                                          .argv = (char *[]){"program", NULL},
                                          .environment = variables,
                                          .input = file_of(place, "in"),
                                          .output = file_of(place, "out"),
                                          .errors = world_print("%s/errors", world.directory),
                                          .random = random_next(&random),
                                          .dies_at = death_of(&random),
                                          .yields = random_below(&random, 3) * 24});
}

static struct answer read_answer(int process, int status) {
    struct answer answer = {.status = 0, .body = slice_of(""), .text = ""};
    size_t size = 0;
    const char *text = read_file(file_of(process, "out"), &size);
    const char *end = text ? strstr(text, "\r\n\r\n") : NULL;
    if (WIFSIGNALED(status) || !end)
        return answer;
    answer.text = text;
    answer.status = strncmp(text, "Status: ", 8) == 0 ? (int)strtol(text + 8, NULL, 10) : 200;
    answer.body = (struct slice){end + 4, size - (size_t)(end + 4 - text)};
    return answer;
}

static bool was_killed(int status) {
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* The wake socket has a datagram: couriers that poll look. */
static void notify_couriers(void) {
    for (int i = 0; i < PROCESSES; i++)
        if (world_shared->processes[i].state == PROCESS_WAITS &&
            world_shared->processes[i].awaits_signal)
            world_shared->processes[i].until = world_now();
}

static void end_command(int process, bool is_done) {
    command_end *end = running[process].end;
    size_t size = 0;
    running[process].end = NULL;
    if (!end)
        return;
    const char *text = is_done ? read_file(file_of(process, "out"), &size) : NULL;
    end(text ? world_print("%.*s", (int)strcspn(text, "\n"), text) : NULL,
        random_of(world.seed, world_shared->programs_started + (UINT64_C(1) << 42)));
}

void gateway_ended(int process, int status) {
    const struct request request = running[process].request;
    world.kills += was_killed(status);
    if (WIFSIGNALED(status) && !was_killed(status))
        world_violate("a program ended with signal %d", WTERMSIG(status));
    if (!running[process].is_request) {
        end_command(process, status == 0);
        return;
    }
    running[process].is_request = false;
    const struct answer answer = read_answer(process, status);
    if (!answer.status && !was_killed(status))
        world_violate("%s %s%s was answered with nothing, status of the process %d", request.method,
                      request.script, request.info, status);
    request.end(request.subject, &answer);
    notify_couriers();
}

static void start_tool(int (*main)(int, char **), int argc, char **argv, uint64_t random,
                       command_end *end) {
    const int place = free_place();
    if (place < 0) {
        if (end)
            end(NULL, random);
        return;
    }
    running[place].is_request = false;
    running[place].end = end;
    process_start(&(struct program_start){.main = main,
                                          .argc = argc,
                                          .argv = argv,
                                          .environment = environment,
                                          .output = file_of(place, "out"),
                                          .errors = world_print("%s/errors", world.directory),
                                          .random = random_next(&random),
                                          .dies_at = death_of(&random) * 10,
                                          .yields = random_below(&random, 3) * 16});
}

void gateway_run_courier(int64_t duration, uint64_t random) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%llds", (long long)(duration / SECOND));
    if (duration)
        start_tool(courier_main, 3, (char *[]){"courier", "--for", seconds, NULL}, random, NULL);
    else
        start_tool(courier_main, 2, (char *[]){"courier", "--once", NULL}, random, NULL);
}

void gateway_run_sender(int64_t duration, uint64_t random) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%llds", (long long)(duration / SECOND));
    start_tool(sender_main, 3, (char *[]){"sender", "--for", seconds, NULL}, random, NULL);
}

static void run_command(const char *line, uint64_t random, command_end *end) {
    char copy[200], *arguments[WORDS];
    snprintf(copy, sizeof copy, "%s", line);
    const int count = split(copy, "switchboard", arguments);
    start_tool(switchboard_main, count, arguments, random, end);
}

void gateway_rotate_key(uint64_t random) {
    run_command("key rotate", random, NULL);
}

void gateway_erase(const char *contact_id, uint64_t random, command_end *end) {
    run_command(world_print("contact erase %s", contact_id), random, end);
}

/* --- the token --- */

static const char *former_token;

static void after_use(void *subject, const struct answer *answer) {
    (void)subject;
    if (answer->status && answer->status != 401 && answer->status != 503)
        world_violate("a token that was replaced is answered with %d", answer->status);
}

static void use_former_token(struct event *event) {
    gateway_request(&(struct request){
        .method = "GET",
        .script = "/v2/messages",
        .info = "/wamid.none",
        .headers = {world_print("HTTP_AUTHORIZATION=Bearer %s", (const char *)event->subject)},
        .end = after_use,
        .random = (uint64_t)event->value});
}

static void replace_token(struct event *event);

static void after_replacement(const char *output, uint64_t random) {
    if (!output) {
        world_at(world_now() + 10 * SECOND, replace_token, NULL, (int64_t)random);
        return;
    }
    gateway_token = output;
    world_at(world_now(), use_former_token, (void *)(size_t)former_token, (int64_t)random);
}

static void replace_token(struct event *event) {
    run_command("token regenerate owner@example.org", (uint64_t)event->value, after_replacement);
}

void gateway_replace_token(uint64_t random) {
    if (!gateway_token)
        return;
    former_token = gateway_token;
    gateway_token = NULL;
    world_at(world_now(), replace_token, NULL, (int64_t)random);
}

void gateway_end(void) {
    for (int i = 0; i < PROCESSES; i++)
        if (world_shared->processes[i].state != PROCESS_FREE)
            process_kill(i);
}

void gateway_kill(int process) {
    const struct answer none = {.status = 0, .body = slice_of(""), .text = ""};
    const bool is_request = running[process].is_request;
    process_kill(process);
    running[process].is_request = false;
    if (is_request)
        running[process].request.end(running[process].request.subject, &none);
    else
        end_command(process, false);
}

void gateway_fail_power(uint64_t random) {
    for (int i = 0; i < PROCESSES; i++)
        if (world_shared->processes[i].state != PROCESS_FREE)
            gateway_kill(i);
    world.power_failures++;
    world.lost_writes += disk_fail_power(&random);
}

bool gateway_is_idle(void) {
    for (int i = 0; i < PROCESSES; i++)
        if (world_shared->processes[i].state != PROCESS_FREE)
            return false;
    return true;
}

/* SQLite's list of open files must be empty when a process starts, so the database is open only
 * here; and a process configures the library before its first use. */
void gateway_rows(const char *sql, void (*take)(sqlite3_stmt *row)) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    const int failed = sqlite3_open_v2(database, &db, SQLITE_OPEN_READWRITE, NULL) ||
                       sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (failed && gateway_is_idle()) /* else a process that waits may hold a lock */
        world_violate("the simulator cannot read the database: %s", sqlite3_errmsg(db));
    while (!failed && sqlite3_step(statement) == SQLITE_ROW)
        take(statement);
    sqlite3_finalize(statement);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(db);
    sqlite3_shutdown();
}

static int64_t taken_number;

static void take_number(sqlite3_stmt *row) {
    if (sqlite3_column_type(row, 0) != SQLITE_NULL)
        taken_number = sqlite3_column_int64(row, 0);
}

int64_t gateway_number(const char *sql) {
    taken_number = -1;
    gateway_rows(sql, take_number);
    return taken_number;
}

static const char *taken_text;

static void take_text(sqlite3_stmt *row) {
    taken_text = world_print("%s", (const char *)sqlite3_column_text(row, 0));
}

const char *gateway_text(const char *sql) {
    taken_text = NULL;
    gateway_rows(sql, take_text);
    return taken_text;
}

/* Records of a full disk wait, which a courier stores at once. */
static bool has_records(void) {
    struct kept_tally tally;
    if (kept_count(pending, &tally) != 0)
        world_violate("the simulator cannot read %s", pending);
    if (tally.refused)
        world_violate("%d records of pending_dir cannot be stored", (int)tally.refused);
    return tally.waiting > 0;
}

static const char *const next_work[] = {
    [COURIER] = "SELECT min(at) FROM (SELECT min(next_attempt_at) AS at FROM delivery "
                "WHERE state = 'pending' UNION ALL "
                "SELECT min(due_at) FROM erasure WHERE ended_at IS NULL)",
    [SENDER] = "SELECT min(at) FROM (SELECT min(CASE state WHEN 'queued' THEN "
               "min(max(send_at, next_at), expires_at) ELSE 0 END) AS at FROM outgoing "
               "WHERE finished_at IS NULL UNION ALL "
               "SELECT min(start_at) FROM campaign WHERE state = 'running' UNION ALL "
               "SELECT 0 FROM outgoing WHERE state = 'accepted' AND is_recorded = 0)",
};

/* Read again only after a process has run: a parse of the schema takes longer than most requests.
 */
int64_t gateway_next_work(enum worker worker) {
    static int64_t next[2];
    static uint64_t known; /* the state of the world in which it was read */
    const uint64_t state =
        random_of(world.seed, world_shared->programs_started) + world.power_failures;
    if (known != state || !gateway_is_idle()) {
        next[COURIER] = has_records() ? 0 : gateway_number(next_work[COURIER]);
        next[SENDER] = gateway_number(next_work[SENDER]);
    }
    known = gateway_is_idle() ? state : 0;
    return next[worker];
}
