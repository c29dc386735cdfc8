#include "web/crash.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"
#include "web/cpu_limit.h"
#include "web/reply.h"
#include "web/transport.h"

/* A text of limited length. Its functions are async-signal-safe. */
struct text {
    char bytes[1024];
    size_t n;
};

static const char *program_name = "";
static char request_id[65]; /* empty: no request */
static bool request_is_head;
static bool answers_as_platform;

static void add(struct text *text, const char *s) {
    while (*s && text->n < sizeof text->bytes)
        text->bytes[text->n++] = *s++;
}

static void add_number(struct text *text, size_t number) {
    char digits[24], *p = digits + sizeof digits;
    *--p = '\0';
    do
        *--p = (char)('0' + number % 10);
    while (number /= 10);
    add(text, p);
}

static struct slice written(const struct text *text) {
    return (struct slice){text->bytes, text->n};
}

static void write_log(const char *reason, const char *signal_name) {
    struct text line = {.n = 0};
    char now[CLOCK_ISO8601_SIZE];
    clock_format(clock_now(), now);
    const struct {
        const char *before, *value; /* NULL: without this member */
    } members[] = {
        {"{\"ts\":\"", now},
        {"\",\"level\":\"", "error"},
        {"\",\"message\":\"", reason},
        {"\",\"program\":\"", program_name},
        {"\",\"request_id\":\"", request_id[0] ? request_id : NULL},
        {"\",\"signal\":\"", signal_name},
        {"\"}\n", ""},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].value) {
            add(&line, members[i].before);
            add(&line, members[i].value);
        }
    if (write(log_descriptor(), line.bytes, line.n) < 0)
        return; /* an error of the log cannot be reported */
}

static void add_body(struct text *body) {
    add(body, answers_as_platform ? "{\"error\":{\"message\":" : REPLY_ERROR("INTERNAL_ERROR"));
    add(body, "\"The gateway failed on this request: whether it took effect is not known. Its log "
              "names the reason under the request id ");
    add(body, request_id);
    add(body, ".\"");
    if (answers_as_platform) {
        add(body, ",\"type\":\"OAuthException\",\"code\":1,\"fbtrace_id\":\"");
        add(body, request_id);
        add(body, "\"}");
    }
    add(body, "}");
}

/* Writes a 500 with an error as its body, and with the headers that every answer has. */
static void write_reply(void) {
    struct text body = {.n = 0}, head = {.n = 0};
    add_body(&body);
    add(&head, REPLY_STATUS("500", "Internal Server Error") REPLY_TYPE(REPLY_JSON) REPLY_LENGTH);
    add_number(&head, body.n);
    add(&head, "\r\n" REPLY_COMMON);
    add(&head, request_id);
    add(&head, "\r\n\r\n");
    transport_write_last(written(&head), request_is_head ? SLICE("") : written(&body));
}

static void report(const char *reason, const char *signal_name) {
    write_log(reason, signal_name);
    counters_add(COUNTERS_CRASHES, program_name, 1);
    if (request_id[0])
        write_reply();
}

_Noreturn void crash_exit(const char *reason) {
    report(reason, NULL);
    _exit(1);
}

void crash_set_request(const char *id, bool is_head) {
    size_t n = id ? strlen(id) : 0;
    if (n && !request_id[0])
        cpu_limit_start();
    n = n < sizeof request_id ? n : sizeof request_id - 1;
    memcpy(request_id, id ? id : "", n);
    request_id[n] = '\0';
    request_is_head = is_head;
}

#ifndef __SANITIZE_ADDRESS__

static const struct {
    int number;
    const char *name;
} faults[] = {
    {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"},
    {SIGPROF, "SIGPROF"}, {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},
};

static void on_fault(int number) {
    const char *name = "";
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].number == number)
            name = faults[i].name;
    report(number == SIGPROF ? "the program exceeded its CPU time limit" : "the program crashed",
           name);
    raise(number); /* SA_RESETHAND has restored the default action, which ends the process */
}

void crash_watch(const char *program, bool has_platform_errors) {
    static char stack[64 * 1024]; /* a stack overflow leaves no space on the normal stack */
    stack_t apart = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK};
    sigaltstack(&apart, NULL);
    program_name = program;
    answers_as_platform = has_platform_errors;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i].number, &action, NULL);
}

#else

void crash_watch(const char *program, bool has_platform_errors) {
    program_name = program;
    answers_as_platform = has_platform_errors;
}

#endif
