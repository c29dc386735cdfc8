#include "setup/setup.h"

const char *const setup_level_words[] = {
    [SETUP_OK] = "ok", [SETUP_WARNING] = "warn", [SETUP_FAULT] = "fail"};

const char setup_after_silence[] = "an earlier call had no answer";
const char setup_after_end[] = "the time was over";

void setup_add(struct setup *setup, struct setup_place place, enum setup_level level,
               enum setup_text detail, enum setup_text todo, struct setup_values values) {
    struct setup_row row = {level, place.check, detail, todo, values};
    struct setup_value *value = row.values.list;
    for (; value->name; value++)
        value->text = arena_copy(setup->arena, slice_of(value->text));
    if (place.id)
        *value = (struct setup_value){"id", arena_copy(setup->arena, slice_of(place.id))};
    buffer_add(&setup->rows, &row, sizeof row);
}

void setup_add_here(struct setup *setup, enum setup_text check, enum setup_level level,
                    enum setup_text detail, enum setup_text todo, struct setup_values values) {
    setup_add(setup, (struct setup_place){check, NULL}, level, detail, todo, values);
}

void setup_add_word(struct setup *setup, struct setup_place place, const char *member,
                    const char *word, const struct setup_word *table) {
    static const struct setup_word unknown = {NULL, SETUP_WARNING, SETUP_DO_MANAGER};
    if (!word)
        return;
    while (table->word && strcmp(table->word, word) != 0)
        table++;
    if (!table->word)
        table = &unknown;
    setup_add(setup, place, table->level, SETUP_MEMBER, table->todo,
              SETUP_WITH({"member", member}, {"word", word}));
}

/* What the entity of a health_status says: its errors, or its further words. NULL: nothing. */
static const char *health_reason(struct setup *setup, struct json entity) {
    struct json error = json_first(json_get(entity, "errors"));
    struct json words = json_is(error) ? json_get(error, "error_description")
                                       : json_first(json_get(entity, "additional_info"));
    return json_text(json_alone(words), setup->arena);
}

void setup_add_health(struct setup *setup, struct setup_place place, struct json health) {
    struct json list = json_get(health, "entities");
    for (struct json one = json_first(list); json_is(one); one = json_next(one)) {
        const char *state = json_text(json_get(one, "can_send_message"), setup->arena);
        const char *type = json_text(json_get(one, "entity_type"), setup->arena);
        const char *reason = health_reason(setup, one);
        const char *todo = json_text(
            json_get(json_first(json_get(one, "errors")), "possible_solution"), setup->arena);
        if (!state || strcmp(state, "AVAILABLE") == 0)
            continue;
        setup_add(setup, place, strcmp(state, "BLOCKED") == 0 ? SETUP_FAULT : SETUP_WARNING,
                  reason ? SETUP_SENDING_REASON : SETUP_SENDING,
                  todo ? SETUP_DO_AS_SAID : SETUP_DO_MANAGER,
                  SETUP_WITH({"word", state}, {"entity", type ? type : "?"},
                             {"reason", reason ? reason : ""}, {"solution", todo ? todo : ""}));
    }
}

void setup_add_override(struct setup *setup, struct setup_place place, const char *url) {
    const char *own = setup->subject->callback_url;
    if (url && own && strcmp(url, own) != 0)
        setup_add(setup, place, SETUP_FAULT, SETUP_OVERRIDDEN, SETUP_DO_DELETE_OVERRIDE,
                  SETUP_WITH({"url", url}));
}

bool setup_holds(const char *text, const char *secret) {
    return *secret && strstr(text, secret);
}

static enum setup_text silence(const char *failure) {
    return failure == setup_after_silence ? SETUP_UNANSWERED_BEFORE
           : failure == setup_after_end   ? SETUP_TIME_OVER
                                          : SETUP_UNANSWERED;
}

void setup_add_refusal(struct setup *setup, enum setup_text check, enum setup_level level,
                       enum setup_text todo, const struct graph_answer *answer) {
    const struct setup_subject *subject = setup->subject;
    const char *status = answer->status ? arena_printf(setup->arena, "%d", answer->status) : "";
    enum setup_text detail = SETUP_ANSWERED_OTHER;
    const char *said = NULL;
    struct json body;
    struct json_error error;
    if (!answer->status)
        detail = silence(said = answer->failure);
    else if (json_read(setup->arena, answer->body, &body, &error) == 0)
        said = json_text(json_find(body, "error.message"), setup->arena);
    if (answer->status && said)
        detail = setup_holds(said, subject->token) || setup_holds(said, subject->app_secret)
                     ? SETUP_ANSWERED_TOKEN
                     : SETUP_ANSWERED;
    setup_add_here(setup, check, level, detail, todo,
                   SETUP_WITH({"status", status},
                              {"reason", detail == SETUP_ANSWERED_TOKEN || !said ? "" : said},
                              {"waba", subject->waba_id}));
}
