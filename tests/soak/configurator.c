#include "configurator.h"

#include <pthread.h>

#include "exchange.h"
#include "world.h"

static struct configurator {
    pthread_t thread;
    struct dice dice;
    struct arena arena;
    int codes, strange, readings, counter;
} configurator;

static void configure(struct configurator *c, const struct line *line, const char *method,
                      const char *path, const char *body, struct exchange *exchange) {
    *exchange = (struct exchange){.who = "config",
                                  .what = method[0] == 'G' ? "read" : "config",
                                  .method = method,
                                  .path = path,
                                  .token = line->token,
                                  .body = slice_of(body)};
    exchange_make(&c->arena, exchange);
}

static void record_code(struct configurator *c, const struct line *line, const char *code) {
    if (code && *code)
        history_line(c->codes, "%s\t%s", line->user, code);
}

/* The current configuration as `URL CODE`, requested until it is answered; NULL after too many
 * attempts. */
static const char *read_config(struct configurator *c, const struct line *line) {
    struct exchange exchange;
    for (int i = 0; i < 100; i++) {
        configure(c, line, "GET", "/v2/webhooks/config", NULL, &exchange);
        if (exchange.status == 200) {
            struct json data = json_get(exchange.answer, "data");
            const char *code = json_text(json_get(data, "webhookCode"), &c->arena);
            record_code(c, line, code);
            return arena_printf(&c->arena, "%s %s",
                                json_text(json_get(data, "webhookUrl"), &c->arena), code);
        }
        sleep_ms(300);
    }
    return NULL;
}

/* Checks that a change answered 200 is in force, and that any other change is in force completely
 * or not at all. */
static void check_config(struct configurator *c, const struct line *line, const char *before,
                         const char *wanted, const struct exchange *exchange) {
    const char *found = read_config(c, line);
    if (!found || (wanted && strcmp(found, wanted) == 0))
        return;
    if (exchange_is_unknown(exchange) && before && strcmp(found, before) == 0)
        return;
    history_line(c->strange, "user %s: configuration is `%s`, was `%s`, set to `%s` (%ld)",
                 line->user, found, before ? before : "?", wanted ? wanted : "?", exchange->status);
}

static void set_config(struct configurator *c, const struct line *line) {
    struct exchange exchange;
    int n = ++c->counter;
    const char *before = read_config(c, line);
    const char *code = arena_printf(&c->arena, "code-of-%s-%06d-made-up-here", line->user, n);
    const char *url = arena_printf(&c->arena, "%s/%s/%d", world.receiver_url, line->user, n);
    record_code(c, line, code);
    const char *body =
        arena_printf(&c->arena, "{\"webhookUrl\":\"%s\",\"webhookCode\":\"%s\"}", url, code);
    const int64_t began = history_now();
    configure(c, line, "POST", "/v2/webhooks/config", body, &exchange);
    if (exchange.status == 200 && line->user[0] == 'A')
        history_line(c->readings, "%lld\t%lld\tconfig\tconfig\twrite\t%d", (long long)began,
                     (long long)history_now(), n);
    check_config(c, line, before, arena_printf(&c->arena, "%s %s", url, code), &exchange);
}

static void generate_code(struct configurator *c, const struct line *line) {
    struct exchange exchange;
    configure(c, line, "POST", "/v2/webhooks/generate-code", "{}", &exchange);
    record_code(c, line, json_text(json_find(exchange.answer, "data.webhookCode"), &c->arena));
    read_config(c, line); /* records whichever code is in force */
}

static void clear_config(struct configurator *c, const struct line *line) {
    struct exchange exchange;
    const char *before = read_config(c, line);
    configure(c, line, "DELETE", "/v2/webhooks/config", NULL, &exchange);
    check_config(c, line, before, " ", &exchange);
}

static void *run_configurator(void *context) {
    struct configurator *c = context;
    arena_init(&c->arena, 64 * 1024 * 1024, NULL);
    while (history_now() < world.end) {
        const struct line *line = &world.lines[throw_dice(&c->dice, 2) ? LINES - 1 : 0];
        unsigned what = throw_dice(&c->dice, 10);
        arena_reset(&c->arena);
        if (what < 3)
            generate_code(c, line);
        else if (what < 5 && line->user[0] == 'B')
            clear_config(c, line);
        else
            set_config(c, line);
        sleep_ms(500 + throw_dice(&c->dice, 2000));
    }
    arena_reset(&c->arena);
    read_config(c, &world.lines[0]);
    read_config(c, &world.lines[LINES - 1]);
    arena_free(&c->arena);
    return NULL;
}

void configurator_start(void) {
    configurator.codes = history_open(world.dir, "code");
    configurator.strange = history_open(world.dir, "strange");
    configurator.readings = history_open(world.dir, "reading");
    configurator.dice = dice_of(world.seed, 100);
    if (pthread_create(&configurator.thread, NULL, run_configurator, &configurator) != 0)
        give_up("thread");
}

void configurator_join(void) {
    pthread_join(configurator.thread, NULL);
}
