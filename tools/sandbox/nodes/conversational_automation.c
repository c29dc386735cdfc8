#include "nodes/edges.h"

#include "judge/judge.h"
#include "state/node_state.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "text/text.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

enum { PROMPTS_MAX = 4, PROMPT_MAX = 80, COMMANDS_MAX = 30 };

static const char kind[] = "automation";
static const char initial[] = "{\"enable_welcome_message\":false,\"prompts\":[],\"commands\":[]}";

static const struct rule command_rules[] = {
    {.name = "command_name", .kind = RULE_STRING, .required = true, .min = 1, .max = 32},
    {.name = "command_description", .kind = RULE_STRING, .required = true, .min = 1, .max = 256},
    {.name = NULL},
};

/* Whether the text has an emoji: U+2600 to U+27BF, U+1F000 to U+1FFFF. */
static bool has_emoji(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if ((at[0] == 0xE2 && at[1] >= 0x98 && at[1] <= 0x9E) || (at[0] == 0xF0 && at[1] == 0x9F))
            return true;
    return false;
}

static bool check_plain(struct exchange *exchange, const char *path, const char *text) {
    if (!has_emoji(text))
        return true;
    reply_error(exchange, 100, "(#100) Param %s must not contain emojis.", path);
    return false;
}

static bool check_prompt(struct exchange *exchange, const char *path, const cJSON *prompt) {
    const char *text = cJSON_GetStringValue(prompt);
    if (!text || *text == '\0')
        reply_error(exchange, 100, "(#100) Param %s must be a non-empty string.", path);
    else if (text_characters(text) > PROMPT_MAX)
        reply_error(exchange, 100, "(#100) Param %s must be at most %d characters long.", path,
                    PROMPT_MAX);
    else
        return check_plain(exchange, path, text);
    return false;
}

/* Whether a command before this one has its name. */
static bool is_repeated(const cJSON *command) {
    const char *name = json_text(command, "command_name");
    const cJSON *first = command;
    while (first->prev->next)
        first = first->prev;
    for (; first != command; first = first->next)
        if (strcmp(json_text(first, "command_name"), name) == 0)
            return true;
    return false;
}

static bool check_command(struct exchange *exchange, const char *path, const cJSON *command) {
    if (!cJSON_IsObject(command))
        reply_error(exchange, 100, "(#100) Param %s must be a JSON object.", path);
    else if (!rules_check(exchange, path, command, command_rules))
        return false;
    else if (is_repeated(command))
        reply_error(exchange, 100, "(#100) Param %s has the command_name of another command.",
                    path);
    else
        return check_plain(exchange, path, json_text(command, "command_name")) &&
               check_plain(exchange, path, json_text(command, "command_description"));
    return false;
}

/* The lists of the settings. */
static const struct {
    const char *name;
    int max;
    bool (*check)(struct exchange *exchange, const char *path, const cJSON *item);
} lists[] = {{"prompts", PROMPTS_MAX, check_prompt}, {"commands", COMMANDS_MAX, check_command}};

/* Checks the i-th list; NULL: the request has none. */
static bool check_list(struct exchange *exchange, size_t i, const cJSON *list) {
    const cJSON *item;
    int index = 0;
    if (list && (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > lists[i].max)) {
        reply_error(exchange, 100, "(#100) Param %s must be a list of at most %d items.",
                    lists[i].name, lists[i].max);
        return false;
    }
    cJSON_ArrayForEach(item, list) {
        const char *path = arena_printf(exchange->arena, "%s[%d]", lists[i].name, index++);
        if (!lists[i].check(exchange, path, item))
            return false;
    }
    return true;
}

/* Changes the settings that the request has; the others stay. Returns their number, or -1 after an
 * error. */
static int change_settings(struct exchange *exchange, cJSON *kept) {
    bool welcome = cJSON_IsTrue(json_get(kept, "enable_welcome_message"));
    int count = parameter(exchange, "enable_welcome_message") != NULL;
    if (!parameter_flag(exchange, "enable_welcome_message", &welcome))
        return -1;
    json_set(kept, "enable_welcome_message", cJSON_CreateBool(welcome));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const cJSON *list = parameter(exchange, lists[i].name);
        if (!check_list(exchange, i, list))
            return -1;
        const cJSON *now = list ? list : json_get(kept, lists[i].name);
        json_set(kept, lists[i].name, cJSON_Duplicate(now, true));
        count += list != NULL;
    }
    return count;
}

void automation_change(struct exchange *exchange, const struct target *target) {
    cJSON *kept = node_state_read(kind, target->id, initial);
    int count = change_settings(exchange, kept);
    if (count == 0)
        reply_error(exchange, 100,
                    "(#100) One of enable_welcome_message, prompts and commands is required.");
    if (count > 0 && node_state_write(kind, target->id, kept))
        reply_success(exchange);
    cJSON_Delete(kept);
}

void automation_print(struct buffer *out, const char *phone_id) {
    cJSON *kept = node_state_read(kind, phone_id, "{}");
    if (kept->child) {
        buffer_add_text(out, ",\"conversational_automation\":");
        json_print(out, kept);
    }
    cJSON_Delete(kept);
}
