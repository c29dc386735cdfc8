#include "graph/setup_row.h"

#include <stdarg.h>
#include <stdio.h>

const char *const setup_level_words[] = {
    [SETUP_OK] = "ok", [SETUP_WARNING] = "warn", [SETUP_FAULT] = "fail"};

void setup_add(struct setup *setup, enum setup_level level, const char *check, const char *todo,
               const char *format, ...) {
    char detail[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    struct setup_row row = {level, arena_copy(setup->arena, slice_of(check)),
                            arena_copy(setup->arena, slice_of(detail)),
                            todo ? arena_copy(setup->arena, slice_of(todo)) : NULL};
    buffer_add(&setup->rows, &row, sizeof row);
}

void setup_add_word(struct setup *setup, const char *check, const char *member, const char *word,
                    const struct setup_word *table) {
    if (!word)
        return;
    while (table->word && strcmp(table->word, word) != 0)
        table++;
    if (table->word)
        setup_add(setup, table->level, check, table->todo, "%s is %s", member, word);
    else
        setup_add(setup, SETUP_WARNING, check, "look at it in WhatsApp Manager", "%s is %s", member,
                  word);
}

/* What the entity of a health_status says: its errors, or its further words. */
static const char *health_reason(struct setup *setup, struct json entity) {
    struct json error = json_first(json_get(entity, "errors"));
    struct json words = json_is(error) ? json_get(error, "error_description")
                                       : json_first(json_get(entity, "additional_info"));
    const char *reason = json_text(json_alone(words), setup->arena);
    return reason ? reason : "without a reason";
}

void setup_add_health(struct setup *setup, const char *check, struct json health) {
    struct json list = json_get(health, "entities");
    for (struct json one = json_first(list); json_is(one); one = json_next(one)) {
        struct json state = json_get(one, "can_send_message");
        const char *type = json_text(json_get(one, "entity_type"), setup->arena);
        const char *todo = json_text(
            json_get(json_first(json_get(one, "errors")), "possible_solution"), setup->arena);
        if (json_equals(state, "AVAILABLE") || !json_text(state, setup->arena))
            continue;
        setup_add(setup, json_equals(state, "BLOCKED") ? SETUP_FAULT : SETUP_WARNING, check,
                  todo ? todo : "look at it in WhatsApp Manager", "sending is %s by %s: %s",
                  json_text(state, setup->arena), type ? type : "the platform",
                  health_reason(setup, one));
    }
}

void setup_add_override(struct setup *setup, const char *check, const char *url) {
    const char *own = setup->subject->callback_url;
    if (url && own && strcmp(url, own) != 0)
        setup_add(setup, SETUP_FAULT, check,
                  "delete that callback URL where it was set, or let that program forward",
                  "webhooks go to %s instead of the gateway", url);
}

bool setup_holds(const char *text, const char *secret) {
    return *secret && strstr(text, secret);
}

const char *setup_refusal(struct setup *setup, const struct graph_answer *answer) {
    struct json body;
    struct json_error error;
    const char *said = NULL;
    if (!answer->status)
        return arena_printf(setup->arena, "the platform did not answer: %s", answer->failure);
    if (json_read(setup->arena, answer->body, &body, &error) == 0)
        said = json_text(json_find(body, "error.message"), setup->arena);
    if (said &&
        (setup_holds(said, setup->subject->token) || setup_holds(said, setup->subject->app_secret)))
        said = "a text with the token";
    return arena_printf(setup->arena, "the platform answered %d: %s", answer->status,
                        said ? said : "no JSON that was expected");
}
