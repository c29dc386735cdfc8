/* lib/base/http_client.h: the options that each transfer of the programs sets. This program defines
 * the functions of libcurl that set options and start transfers, and so records them. */
#define CURL_DISABLE_TYPECHECK
#include "delivery/attempt.h"
#include "delivery/handshake.h"
#include "graph/call.h"
#include "graph/media_api.h"
#include "graph/relay.h"

#include <stdarg.h>

#include "base/seal.h"
#include "check.h"
#include "store/seal_context.h"

enum { OPTIONS_MAX = 64 };

/* The options set since forget(), each with its last value. */
static struct set_option {
    CURLoption option;
    long number;      /* of options with a number */
    const void *text; /* of options with an object */
} options[OPTIONS_MAX];
static size_t option_count;
static int transfer_count;     /* transfers started since forget() */
static CURLoption unsupported; /* setting it fails; 0: none */

static void forget(void) {
    option_count = 0;
    transfer_count = 0;
}

static struct set_option *find(CURLoption option) {
    for (size_t i = 0; i < option_count; i++)
        if (options[i].option == option)
            return &options[i];
    return NULL;
}

CURLcode curl_easy_setopt(CURL *curl, CURLoption option, ...) {
    struct set_option *found = find(option);
    va_list values;
    (void)curl;
    if (option == unsupported)
        return CURLE_UNKNOWN_OPTION;
    if (!found && option_count < OPTIONS_MAX)
        found = &options[option_count++];
    if (!found)
        return CURLE_OUT_OF_MEMORY;
    *found = (struct set_option){.option = option};
    va_start(values, option);
    if (option < CURLOPTTYPE_OBJECTPOINT)
        found->number = va_arg(values, long);
    else if (option < CURLOPTTYPE_FUNCTIONPOINT)
        found->text = va_arg(values, void *);
    va_end(values);
    return CURLE_OK;
}

CURLcode curl_easy_perform(CURL *curl) {
    (void)curl;
    transfer_count++;
    return CURLE_COULDNT_CONNECT;
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *curl) {
    (void)multi, (void)curl;
    transfer_count++;
    return CURLM_OK;
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *curl) {
    (void)multi, (void)curl;
    return CURLM_OK;
}

/* --- the clients --- */

static const struct config config = {.graph_base_url = "https://graph.example",
                                     .graph_version = "v1.0",
                                     .ca_path = "/certificates",
                                     .ca_file = "/authority.pem",
                                     .media_hosts = "",
                                     .webhook_egress = "public"};
static struct arena arena;
static struct keyring keys;

static void call_platform(void) {
    const struct graph_call call = {
        .method = "POST", .path = "1/messages", .token = "t", .body = SLICE("{}")};
    struct graph_answer answer;
    graph_call(&config, &arena, &call, &answer);
}

static void relay(void) {
    const struct graph_relay request = {
        .method = "DELETE", .path = "1/messages", .token = "t", .body = SLICE("{}")};
    struct graph_relayed relayed;
    graph_relay(&config, &arena, &request, &relayed);
}

static void relay_stream(void) {
    const struct graph_relay request = {.method = "POST", .path = "1/media", .token = "t"};
    const struct graph_source source = {.size = -1};
    struct graph_relayed relayed;
    graph_relay_stream(&config, &arena, &request, &source, &relayed);
}

static void upload(void) {
    const struct graph_upload file = {
        .token = "t", .phone_number_id = "1", .name = "n", .type = "text/plain"};
    struct graph_answer answer;
    graph_upload(&config, &arena, &file, &answer);
}

static void download(void) {
    struct graph_head head;
    const struct graph_download file = {
        .token = "t", .url = "https://graph.example/file", .head = &head};
    struct graph_answer answer;
    graph_download(&config, &arena, &file, &answer);
}

static void deliver(void) {
    const char *context = webhook_code_context(&arena, "usr_1");
    const struct store_delivery delivery = {
        .event_id = "evt_1",
        .user_id = "usr_1",
        .type = "message.received",
        .url = "https://receiver.example/",
        .body = SLICE("{}"),
        .sealed_code = seal_secret(&keys, &arena, SLICE("a webhook code"), context),
    };
    struct attempt attempt;
    check(attempt_init(&attempt), "memory");
    attempt_start(&attempt, NULL, &config, &keys, &delivery);
    attempt_drop(&attempt, NULL);
    attempt_free(&attempt);
}

static void verify(void) {
    handshake_verify(&arena, &config, "https://receiver.example/", SLICE("token"));
}

static const struct client {
    const char *name;
    void (*transfer)(void);
} clients[] = {{"a call of the platform", call_platform},
               {"a request that is passed on", relay},
               {"an upload that is passed on", relay_stream},
               {"an upload", upload},
               {"a download", download},
               {"a delivery", deliver},
               {"a verification", verify}};

enum { CLIENTS = sizeof clients / sizeof *clients };

/* --- the options that each of them sets --- */

static const struct set_option safe[] = {
    {CURLOPT_NOSIGNAL, 1, NULL},
    {CURLOPT_QUICK_EXIT, 1, NULL},
    {CURLOPT_CONNECTTIMEOUT_MS, 5000, NULL},
    {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1, NULL},
    {CURLOPT_FOLLOWLOCATION, 0, NULL},
    {CURLOPT_NETRC, CURL_NETRC_IGNORED, NULL},
    {CURLOPT_DISALLOW_USERNAME_IN_URL, 1, NULL},
    {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2, NULL},
    {CURLOPT_SSL_VERIFYPEER, 1, NULL},
    {CURLOPT_SSL_VERIFYHOST, 2, NULL},
    {CURLOPT_PROTOCOLS_STR, 0, "http,https"},
    {CURLOPT_PROXY, 0, ""},
    {CURLOPT_CAPATH, 0, "/certificates"},
    {CURLOPT_CAINFO, 0, "/authority.pem"},
    {CURLOPT_USERAGENT, 0, "switchboard/0.1.0"},
};

static void check_option(const char *name, const struct set_option *wanted) {
    const struct set_option *found = find(wanted->option);
    check(found, "%s: option %d is not set", name, (int)wanted->option);
    if (!found)
        return;
    check(found->number == wanted->number, "%s: option %d is %ld", name, (int)wanted->option,
          found->number);
    check(!wanted->text == !found->text, "%s: option %d", name, (int)wanted->option);
    if (wanted->text && found->text)
        check(strcmp(wanted->text, found->text) == 0, "%s: option %d is %s", name,
              (int)wanted->option, (const char *)found->text);
}

static void check_client(const struct client *client) {
    forget();
    client->transfer();
    check(transfer_count == 1, "%s", client->name);
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        check_option(client->name, &safe[i]);
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++) {
        forget();
        unsupported = safe[i].option;
        client->transfer();
        check(transfer_count == 0, "%s: made without option %d", client->name, (int)unsupported);
        unsupported = 0;
    }
}

int main(void) {
    arena_init(&arena, 16 * 1024 * 1024, NULL);
    keyring_add(&keys);
    for (size_t i = 0; i < CLIENTS; i++)
        check_client(&clients[i]);
    arena_free(&arena);
    return check_failures();
}
