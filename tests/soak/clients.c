#include "clients.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "exchange.h"
#include "world.h"

enum {
    PACE_MS = 200,         /* between two requests of a client, at most */
    CALM = 8,              /* by this factor slower when there were enough */
    KEYED_PATIENCE = 25,   /* attempts of a send with a key */
    UPLOAD_PATIENCE = 5,   /* attempts of an upload with a key */
    UNRESOLVED_MAX = 64,   /* sends with a key that a client repeats at the end */
    SETTLE_MS = 20 * 1000, /* the time limit for that */
    /* the same where each key must have an outcome: a key whose request was interrupted counts as
     * running for 60 s */
    KEYED_SETTLE_MS = 80 * 1000,
};

/* A send, with everything needed to repeat it. */
struct send {
    char marker[NAME_SIZE], key[NAME_SIZE], to[NAME_SIZE];
    const struct line *line;
    const char *path;
    char body[1024];
    int attempts;
};

struct client {
    pthread_t thread;
    int number, sends, files;
    char name[24];
    struct dice dice;
    struct arena arena;
    struct send unresolved[UNRESOLVED_MAX];
    int unresolved_count;
    char media_id[NAME_SIZE]; /* of the last upload; empty: none yet */
    const struct line *media_owner;
};

static struct client clients[CLIENTS_MAX];
static int sends, uploads, downloads, readings;

/* --- sends --- */

static unsigned roll(struct client *client, unsigned sides) {
    return throw_dice(&client->dice, sides);
}

/* Writes the recipient as a member of the body: a person of the line by phone or BSUID, or an
 * unknown phone. */
static void choose_recipient(struct client *client, int line, struct send *send, char *member,
                             size_t size) {
    int person = (int)roll(client, PEOPLE / LINES) * LINES + line;
    unsigned kind = roll(client, 10);
    if (kind == 0) {
        person_bsuid(person, send->to);
        snprintf(member, size, "\"recipient\":\"%s\"", send->to);
        return;
    }
    if (kind < 6)
        person_phone(person, send->to);
    else
        snprintf(send->to, NAME_SIZE, "1777%d%06d", client->number, (int)roll(client, 1000000));
    snprintf(member, size, "\"to\":\"+%s\"", send->to);
}

/* Writes the members of a random kind of message to `members` and returns its path. */
static const char *choose_kind(struct client *client, const struct send *send, char *members,
                               size_t size) {
    static const struct {
        const char *path, *before, *after;
    } kinds[] = {
        {"/v2/messages/send/text", "\"text\":\"", " \\u2615 \\/\""},
        {"/v2/messages/send", "\"text\":\"", "\""},
        {"/v2/messages/send", "\"bodyText\":\"",
         "\",\"buttons\":[{\"id\":\"1\",\"title\":\"Yes\"}]"},
        {"/v2/messages/send/location",
         "\"location\":{\"latitude\":\"1.5\",\"longitude\":2.25,\"name\":\"", "\"}"},
        {"/v2/messages/send/interactive/button", "\"bodyText\":\"",
         "\",\"buttons\":[{\"id\":\"1\",\"title\":\"Yes\"}]"},
    };
    const struct line *line = send->line;
    unsigned which = roll(client, 10);
    if (which == 9 && line->template_before) {
        snprintf(members, size, "%s%s%s", line->template_before, send->marker,
                 line->template_after);
        return "/v2/templates/send";
    }
    which = which < sizeof kinds / sizeof *kinds ? which : 0;
    snprintf(members, size, "%s%s%s", kinds[which].before, send->marker, kinds[which].after);
    return kinds[which].path;
}

static void make_send(struct client *client, bool is_keyed, struct send *send) {
    char recipient[2 * NAME_SIZE], members[512];
    int line = (int)roll(client, LINES);
    *send = (struct send){.line = &world.lines[line]};
    /* checks.sql finds it by its length */
    snprintf(send->marker, NAME_SIZE, "soak-%c-%06d",
             "0123456789abcdefghijklmnopqrstuv"[client->number], ++client->sends);
    if (is_keyed)
        snprintf(send->key, NAME_SIZE, "key-%d-%d", client->number, client->sends);
    choose_recipient(client, line, send, recipient, sizeof recipient);
    send->path = choose_kind(client, send, members, sizeof members);
    snprintf(send->body, sizeof send->body, "{\"phoneNumberId\":\"%s\",%s,%s}",
             send->line->phone_number_id, recipient, members);
}

/* One attempt. Returns false when the outcome is not known, so that the send must be repeated. */
static bool try_send(struct client *client, struct send *send) {
    struct exchange exchange = {
        .who = client->name,
        .what = "send",
        .method = "POST",
        .path = send->path,
        .token = send->line->token,
        .key = *send->key ? send->key : NULL,
        .body = slice_of(send->body),
    };
    arena_reset(&client->arena);
    exchange_make(&client->arena, &exchange);
    struct json first = json_first(json_find(exchange.answer, "data.messages"));
    const char *wamid = json_text(json_get(first, "id"), &client->arena);
    const char *outcome = json_text(json_find(exchange.answer, "details.outcome"), &client->arena);
    outcome = outcome ? outcome : "";
    history_line(sends, "%lld\t%s\t%s\t%s\t%d\t%d\t%ld\t%d\t%s\t%s\t%s\t%s",
                 (long long)history_now(), client->name, send->marker, send->key, ++send->attempts,
                 exchange.failure, exchange.status, exchange.is_replayed, wamid ? wamid : "",
                 outcome, send->line->phone_number_id, send->to);
    bool may_run = exchange.status == 409 && strcmp(outcome, "running") == 0;
    return !may_run && (!exchange_is_unknown(&exchange) || exchange.is_replayed);
}

static void send_keyed(struct client *client) {
    struct send send;
    make_send(client, true, &send);
    world.keyed_sends++;
    bool is_known = try_send(client, &send);
    for (int i = 0; !is_known && i < KEYED_PATIENCE && history_now() < world.end; i++) {
        sleep_ms(100 + roll(client, 400));
        is_known = try_send(client, &send);
    }
    if (is_known && roll(client, 10) == 0)
        try_send(client, &send); /* a repetition must have the same answer */
    if (!is_known && client->unresolved_count < UNRESOLVED_MAX)
        client->unresolved[client->unresolved_count++] = send;
}

static void send_once(struct client *client) {
    struct send send;
    make_send(client, false, &send);
    try_send(client, &send);
}

/* --- uploads --- */

static const char file_line[] = "The quick brown fox jumps over the lazy dog, 0123456789 times.\n";

/* Makes a file with unique content. */
struct file {
    char marker[NAME_SIZE];
    const struct line *owner;
    bool is_keyed;
    int lines, attempts;
};

static struct slice file_content(struct arena *arena, const struct file *file) {
    struct buffer content = buffer_in(arena);
    buffer_printf(&content, "%s\n", file->marker);
    for (int i = 0; i < file->lines; i++)
        buffer_add(&content, file_line, sizeof file_line - 1);
    return buffer_slice(&content);
}

/* Puts the file into a multipart form, which passes through the spool. */
static struct slice form_of(struct arena *arena, const struct file *file, struct slice content) {
    struct buffer form = buffer_in(arena);
    buffer_printf(
        &form,
        "--soak-boundary\r\nContent-Disposition: form-data; name=\"phoneNumberId\"\r\n\r\n"
        "%s\r\n--soak-boundary\r\nContent-Disposition: form-data; name=\"file\"; "
        "filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n",
        file->owner->phone_number_id);
    buffer_add_slice(&form, content);
    buffer_add_text(&form, "\r\n--soak-boundary--\r\n");
    return buffer_slice(&form);
}

/* One attempt. Returns false when the upload must be repeated. */
static bool try_upload(struct client *client, struct file *file) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    struct arena *arena = &client->arena;
    arena_reset(arena);
    struct slice content = file_content(arena, file);
    struct exchange exchange = {.who = client->name,
                                .what = "upload",
                                .method = "POST",
                                .path = "/v2/media/upload",
                                .token = file->owner->token,
                                .key = file->is_keyed ? file->marker : NULL,
                                .type = "multipart/form-data; boundary=soak-boundary",
                                .body = form_of(arena, file, content)};
    exchange_make(arena, &exchange);
    const char *id = json_text(json_find(exchange.answer, "data.mediaId"), arena);
    crypto_sha256(content, hash);
    history_line(uploads, "%s\t%d\t%d\t%ld\t%s\t%zu\t%s", file->marker, file->is_keyed,
                 ++file->attempts, exchange.status, id ? id : "", content.n,
                 crypto_hex(arena, hash, sizeof hash));
    if (exchange.status == 200 && id) {
        snprintf(client->media_id, NAME_SIZE, "%s", id);
        client->media_owner = file->owner;
    }
    return exchange.status == 200 || exchange.is_replayed || !file->is_keyed;
}

static void upload_something(struct client *client) {
    struct file file = {.owner = &world.lines[roll(client, LINES)],
                        .is_keyed = roll(client, 2),
                        .lines = (int)roll(client, 4000)};
    snprintf(file.marker, NAME_SIZE, "file-%d-%06d", client->number, ++client->files);
    bool is_known = try_upload(client, &file);
    for (int i = 0; !is_known && i < UPLOAD_PATIENCE && history_now() < world.end; i++) {
        sleep_ms(100 + roll(client, 400));
        is_known = try_upload(client, &file);
    }
    if (is_known && file.is_keyed && roll(client, 4) == 0)
        try_upload(client, &file); /* a repetition must have the same answer */
}

/* --- downloads --- */

static void download_something(struct client *client) {
    unsigned char hash[CRYPTO_HASH_SIZE];
    struct arena *arena = &client->arena;
    if (!*client->media_id)
        return;
    arena_reset(arena);
    struct exchange exchange = {
        .who = client->name,
        .what = "download",
        .method = "GET",
        .path = arena_printf(arena, "/v2/media/%s/download", client->media_id),
        .token = client->media_owner->token,
        .takes_file = true,
    };
    exchange_make(arena, &exchange);
    crypto_sha256(exchange.file, hash);
    history_line(downloads, "%s\t%d\t%ld\t%zu\t%s", client->media_id, exchange.failure,
                 exchange.status, exchange.file.n, crypto_hex(arena, hash, sizeof hash));
}

/* --- reads --- */

static void read_something(struct client *client) {
    static const char *const paths[] = {"/v2/me",
                                        "/v2/me",
                                        "/v2/me",
                                        "/v2/templates",
                                        "/v2/templates/order_shipped",
                                        "/v2/forms",
                                        "/v2/forms/search?q=a",
                                        "/v2/version"};
    struct exchange exchange = {.who = client->name,
                                .what = "read",
                                .method = "GET",
                                .path = paths[roll(client, sizeof paths / sizeof *paths)],
                                .token = world.lines[0].token};
    arena_reset(&client->arena);
    exchange_make(&client->arena, &exchange);
}

/* Reads a number that only rises: that in the URL of user A's webhook, which the configurator sets,
 * or that of its last change. */
static void read_number(struct client *client) {
    const bool is_config = roll(client, 2);
    struct exchange exchange = {.who = client->name,
                                .what = "read",
                                .method = "GET",
                                .path = is_config ? "/v2/webhooks/config" : "/v2/changes",
                                .token = world.lines[0].token};
    const int64_t began = history_now();
    int64_t number = -1;
    arena_reset(&client->arena);
    exchange_make(&client->arena, &exchange);
    if (exchange.status != 200)
        return;
    if (is_config)
        number = world_number_of(
            json_text(json_find(exchange.answer, "data.webhookUrl"), &client->arena));
    else
        json_integer(json_find(exchange.answer, "data.change"), &number);
    history_line(readings, "%lld\t%lld\t%s\t%s\tread\t%lld", (long long)began,
                 (long long)history_now(), client->name, is_config ? "config" : "change",
                 (long long)number);
}

/* --- client threads --- */

static void settle(struct client *client) {
    int64_t until = history_now() + (world.is_keyed ? KEYED_SETTLE_MS : SETTLE_MS);
    for (int i = 0; i < client->unresolved_count; i++)
        while (!try_send(client, &client->unresolved[i]) && history_now() < until)
            sleep_ms(500);
}

static void *run_client(void *context) {
    struct client *client = context;
    arena_init(&client->arena, 64 * 1024 * 1024, NULL);
    upload_something(client); /* at least one, even on a slow machine */
    download_something(client);
    while (history_now() < world.end) {
        unsigned what = roll(client, 20);
        if (what < 10 && !world.is_keyed)
            send_once(client);
        else if (what < 15)
            send_keyed(client);
        else if (what < 16)
            upload_something(client);
        else if (what < 17)
            download_something(client);
        else if (what < 18)
            read_something(client);
        else
            read_number(client);
        sleep_ms(roll(client, PACE_MS) *
                 (world_is_calm(world.keyed_sends, world.least_sends) ? CALM : 1));
    }
    settle(client);
    arena_free(&client->arena);
    return NULL;
}

void clients_start(void) {
    sends = history_open(world.dir, "send");
    uploads = history_open(world.dir, "upload");
    downloads = history_open(world.dir, "download");
    readings = history_open(world.dir, "reading");
    for (int i = 0; i < world.clients; i++) {
        clients[i].number = i;
        clients[i].dice = dice_of(world.seed, (uint64_t)i);
        snprintf(clients[i].name, sizeof clients[i].name, "client%d", i);
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) != 0)
            give_up("thread");
    }
}

void clients_join(void) {
    for (int i = 0; i < world.clients; i++)
        pthread_join(clients[i].thread, NULL);
}
