#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>

#include "base/process/program.h"
#include "control/control.h"
#include "control/control_calls.h"
#include "control/fixtures.h"
#include "server.h"
#include "state/media_spool.h"
#include "state/sandbox.h"
#include "state/settings.h"
#include "text/memory.h"
#include "webhooks/statuses.h"
#include "webhooks/webhook_job.h"
#include "webhooks/webhook_post.h"
#include "wire/recorder.h"
#include "wire/timer.h"

struct options {
    long port, latency_ms, record_bytes, review_seconds;
    const char *listen, *public_url;
    const char *port_file, *state_dir, *fixtures; /* NULL: none */
    const char *app_secret, *webhook_url, *verify_token;
    bool prints_calls, no_service_window;
};

/* clang-format off */
#define MEMBER(name) offsetof(struct options, name)

static const struct program_option rules[] = {
    {"port",         "N",     MEMBER(port),         0, 65535, 0,
     "listen there; 0: any free port"},
    {"listen",       "ADDRESS", MEMBER(listen),     0, 0, 0,
     "listen on this IPv4 or IPv6 address, 0.0.0.0 or :: for\nall; default: 127.0.0.1"},
    {"public-url",   "URL",  MEMBER(public_url),    0, 0, 0,
     "begin the links of media, flows and next pages with it,\ninstead of the host of the request"},
    {"port-file",    "FILE",  MEMBER(port_file),    0, 0, 0,
     "write the port there once the sandbox listens"},
    {"state-dir",    "DIR",   MEMBER(state_dir),    0, 0, 0,
     "directory for uploads; else a temporary one"},
    {"fixtures",     "FILE",  MEMBER(fixtures),     0, 0, 0,
     "load this JSON at the start, and at a reset: an object\n{accounts, tokens, numbers, media, "
     "templates, flows, settings},\neach a list of bodies for the control call of that name"},
    {"app-secret",   "S",     MEMBER(app_secret),   0, 0, 0,
     "the key that signs webhooks; default: sandbox-app-secret"},
    {"webhook-url",  "URL",   MEMBER(webhook_url),  0, 0, 0,
     "send webhooks there"},
    {"verify-token", "T",     MEMBER(verify_token), 0, 0, 0,
     "the token of the verification of that URL; default:\nsandbox-verify-token"},
    {"latency",      "MS",    MEMBER(latency_ms),   0, 3600000, 0,
     "delay each answer of the platform"},
    {"record-bytes", "BYTES", MEMBER(record_bytes), 1, UINT32_MAX, 64 << 20,
     "memory for recorded requests"},
    {"review-seconds", "S",  MEMBER(review_seconds), 0, 86400, 0,
     "approve each new or edited template after that time; 0: only\nthe control call does"},
    {"no-service-window", NULL, MEMBER(no_service_window), 0, 0, 0,
     "take each user as one who wrote in the last 24 hours: any\nmessage is delivered to a user, and any user can be blocked"},
    {"calls",        NULL,    MEMBER(prints_calls), 0, 0, 0,
     "print the control calls in Markdown, as doc/sandbox.md has them"},
    {0},
};

static const struct manual_item state[] = {
    {"sandbox-token-1", "The access token of the account 102290129340398 with the number\n"
                        "+15550100001, whose id is 106540352242922. It has media of each type,\n"
                        "1100000000000001 (image) to 1100000000000005 (sticker), the templates\n"
                        "hello_world (en_US, de), order_shipped, table_reserved, login_code,\n"
                        "spring_sale and survey_paused, and the flows 410000000000001 and\n"
                        "410000000000002 (a draft)."},
    {"sandbox-token-2", "That of the account 202290129340398 with the number +15550100002,\n"
                        "whose id is 206540352242922. It has the image 2200000000000001, the\n"
                        "template bike_ready and the flow 420000000000001."},
    {"730000000000001", "The app of both. The code of request_code is 123456."},
};

static const struct manual_item statuses[] = {
    {"0", "ended by SIGTERM or SIGINT"},
    {"1", "the port, a file or the fixtures cannot be used"},
    {"2", "wrong usage"},
    {0},
};
/* clang-format on */

static const struct program sandbox_program = {
    .name = "switchboard-sandbox",
    .options = rules,
    .manual = {
        .page = "switchboard-sandbox",
        .section = "8",
        .summary = "simulates the WhatsApp Cloud API for tests",
        .synopsis = "switchboard-sandbox [OPTIONS]",
        .description =
            "Answers over HTTP as the platform does, below /v26.0/ (or v21.0 to v25.0; "
            "an\n"
            "older version is served as v21.0, and so is a path without version). It takes the\n"
            "token from the header Authorization (Bearer or OAuth), from access_token in the "
            "query,\n"
            "or from that field of a form; and the members of a request from JSON, from a form\n"
            "(text[body]=...), or from the query. The control calls below /_sandbox/ set it up, "
            "make\n"
            "it fail, send webhooks and show what it received.",
        .statuses = statuses,
        .see_also = "switchboard(8)",
    }};

/* Returns -1 to go on, else the exit status. */
static int read_options(struct options *options, int argc, char **argv) {
    struct arena *arena = memory_open();
    struct program program = sandbox_program;
    int operand;
    program.manual.behaviour = control_items(arena, state, sizeof state / sizeof *state);
    int status = program_read_options(&program, argc, argv, options, &operand);
    if (status < 0 && argv[operand])
        status = program_fail_usage(&program, "there is an argument that is not an option");
    memory_close(arena);
    if (status < 0 && options->prints_calls) {
        control_print_page();
        return 0;
    }
    return status;
}

/* Whether it is NULL, or an origin: links append paths to it. */
static bool public_url_valid(const char *url) {
    const char *host = url ? strstr(url, "://") : NULL;
    return !url || (host && (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0) &&
                    host[3] != '\0' && !strpbrk(host + 3, "/?# "));
}

/* Returns false after a message on stderr. */
static bool apply(const struct options *options) {
    if (!public_url_valid(options->public_url)) {
        fputs("switchboard-sandbox: --public-url needs an origin such as https://sandbox.example, "
              "without a path\n",
              stderr);
        return false;
    }
    sandbox_set_public_url(options->public_url);
    settings = (struct settings){.media_url_seconds = 300,
                                 .template_quotas = true,
                                 .template_review_reason = "",
                                 .template_review_ms = options->review_seconds * 1000,
                                 .paging_token = true,
                                 .webhook_version = 26,
                                 .webhook_retries = 3,
                                 .webhook_retry_ms = 200,
                                 .webhook_timeout_ms = 20000,
                                 .status_delay_ms = 50,
                                 .service_window = !options->no_service_window,
                                 .latency_ms = options->latency_ms,
                                 .app_secret = options->app_secret,
                                 .webhook_url = options->webhook_url,
                                 .verify_token = options->verify_token};
    settings_remember();
    spool_directory(options->state_dir);
    fixtures_file(options->fixtures);
    recorder_limit(options->record_bytes);
    return true;
}

/* Writes the port to a temporary file and renames it, so that a reader never sees an empty file. */
static bool write_port_file(const char *path, uint16_t port) {
    struct arena *arena = memory_open();
    const char *draft = arena_printf(arena, "%s.new", path);
    FILE *file = fopen(draft, "w");
    bool good =
        file && fprintf(file, "%u\n", port) > 0 && fclose(file) == 0 && rename(draft, path) == 0;
    if (!good)
        fprintf(stderr, "switchboard-sandbox: cannot write %s\n", path);
    memory_close(arena);
    return good;
}

/* Ends the threads: those that send webhooks, then those of the server, whose connections may wait
 * for the timer. */
static void stop(void) {
    posts_stop();
    statuses_stop();
    jobs_stop();
    timer_stop();
    server_stop();
}

static void print_start(void) {
    struct arena *arena = memory_open();
    printf("switchboard-sandbox: %s\n", sandbox_origin(arena, NULL));
    fflush(stdout);
    memory_close(arena);
}

static int run(const struct options *options, const sigset_t *ends) {
    int signal_taken;
    if (!timer_start() || !statuses_start()) {
        fputs("switchboard-sandbox: cannot start a thread\n", stderr);
        return 1;
    }
    uint16_t port = server_start(options->listen, (uint16_t)options->port);
    if (port == 0 || (options->port_file && !write_port_file(options->port_file, port)))
        return 1;
    print_start();
    sigwait(ends, &signal_taken);
    stop();
    return 0;
}

int main(int argc, char **argv) {
    struct options options = {.listen = "127.0.0.1",
                              .app_secret = "sandbox-app-secret",
                              .verify_token = "sandbox-verify-token"};
    sigset_t ends;
    int result = read_options(&options, argc, argv);
    if (result >= 0)
        return result;
    if (sodium_init() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        fputs("switchboard-sandbox: cannot initialise its libraries\n", stderr);
        return 1;
    }
    if (!apply(&options))
        return 2;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    result = fixtures_start() ? run(&options, &ends) : 1;
    control_clear();
    settings_free();
    curl_global_cleanup();
    return result;
}
