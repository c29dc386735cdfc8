#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/builtin.h"
#include "control/control.h"
#include "state/media_spool.h"
#include "state/settings.h"
#include "wire/recorder.h"

static const struct {
    struct option option;
    const char *argument;
    const char *help;
} options_known[] = {
    {{"port", required_argument, NULL, 'p'}, "N", "port on 127.0.0.1, 0 = any (default 0)"},
    {{"port-file", required_argument, NULL, 'f'},
     "FILE",
     "receives the port once the sandbox listens"},
    {{"state-dir", required_argument, NULL, 'd'}, "DIR", "directory for uploads"},
    {{"fixtures", required_argument, NULL, 'x'}, "FILE", "JSON loaded at the start, see below"},
    {{"app-secret", required_argument, NULL, 's'}, "S", "key that signs webhooks"},
    {{"webhook-url", required_argument, NULL, 'w'}, "URL", "URL that webhooks are sent to"},
    {{"verify-token", required_argument, NULL, 'v'}, "T", "token for the verification of that URL"},
    {{"latency", required_argument, NULL, 'l'}, "MS", "delay of each answer of the platform"},
    {{"record-bytes", required_argument, NULL, 'r'}, "N", "memory for recorded requests (64 MiB)"},
    {{"help", no_argument, NULL, 'h'}, "", "this text"},
};

enum { KNOWN = sizeof options_known / sizeof *options_known };

static void print_help(void) {
    printf(
        "usage: graph-sandbox [options]\n\n"
        "A simulator of the WhatsApp Cloud API on loopback, for demonstrations and tests.\n"
        "The platform answers below /v26.0/ (or v21.0 to v25.0; an older version is served as "
        "v21.0,\n"
        "and so is a path without version). It takes the token from the header Authorization "
        "(Bearer\n"
        "or OAuth), from access_token in the query, or from that field of a form; and the members "
        "of\n"
        "a request from JSON, from a form (text[body]=...), or from the query.\n\nOptions:\n");
    for (size_t i = 0; i < KNOWN; i++) {
        printf("  --%-13s %-5s %s\n", options_known[i].option.name, options_known[i].argument,
               options_known[i].help);
    }
    builtin_help();
    control_help();
}

static int64_t read_number(const char *name, const char *text, int64_t limit) {
    char *end;
    errno = 0;
    int64_t number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || number > limit) {
        fprintf(stderr, "graph-sandbox: --%s takes a number up to %" PRId64 ", not '%s'\n", name,
                limit, text);
        exit(2);
    }
    return number;
}

static void option_apply(struct options *options, int which) {
    switch (which) {
    case 'p': options->port = (uint16_t)read_number("port", optarg, 65535); break;
    case 'f': options->port_file = optarg; break;
    case 'd': spool_directory(optarg); break;
    case 'x': builtin_fixtures(optarg); break;
    case 's': settings.app_secret = optarg; break;
    case 'w': settings.webhook_url = optarg; break;
    case 'v': settings.verify_token = optarg; break;
    case 'l': settings.latency_ms = read_number("latency", optarg, 3600000); break;
    case 'r': recorder_limit(read_number("record-bytes", optarg, UINT32_MAX)); break;
    case 'h': print_help(); exit(0);
    default: fputs("graph-sandbox: see --help\n", stderr); exit(2);
    }
}

static void set_defaults(void) {
    settings.media_url_seconds = 300;
    settings.paging_token = true;
    settings.webhook_version = 26;
    settings.webhook_retries = 3;
    settings.webhook_retry_ms = 200;
    settings.webhook_timeout_ms = 20000;
    settings.status_delay_ms = 50;
    settings.app_secret = "sandbox-app-secret";
    settings.verify_token = "sandbox-verify-token";
}

void options_read(struct options *options, int argc, char **argv) {
    struct option table[KNOWN + 1] = {0};
    int which;
    *options = (struct options){0};
    set_defaults();
    for (size_t i = 0; i < KNOWN; i++)
        table[i] = options_known[i].option;
    while ((which = getopt_long(argc, argv, "", table, NULL)) != -1)
        option_apply(options, which);
    if (optind < argc) {
        fprintf(stderr, "graph-sandbox: '%s' is not an option; see --help\n", argv[optind]);
        exit(2);
    }
    settings_remember();
}
