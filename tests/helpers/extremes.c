/* extremes: makes webhook payloads that are valid JSON and as costly to process as their length
 * allows.
 *
 *     extremes                            prints the names of the shapes, one a line
 *     extremes SHAPE BYTES WABA LINE [UNITS]
 *                                        prints a payload of at most BYTES bytes for that line
 *
 * A shape has up to three parts. A part is a text, followed by a unit that is repeated, separated
 * by commas, until the part's share of the bytes is used. In texts and units, % stands for the WABA
 * id,
 * @ for the line, # for the number of the unit, ^ for the same number counted down, ! and ? for 1
 * and 2 alternately. UNITS is the maximum number of units in all parts together. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY  "{\"entry\":[{\"id\":\"%\",\"changes\":["
#define CHANGE "{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},"
#define VALUE  ENTRY CHANGE
#define OF(field, array)                                                                           \
    ENTRY "{\"field\":\"" field "\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},\"" array  \
          "\":["
#define END "]}}]}]}"

struct shape {
    const char *name;
    struct part {
        const char *before, *unit;
        int share;    /* of the bytes, in percent */
        bool is_text; /* the units are not separated by commas */
    } parts[3];
    const char *after;
};

/* clang-format off */
static const struct shape shapes[] = {
    {"one_text", {{VALUE "\"messages\":[{\"from\":\"16505550001\",\"id\":\"m\",\"type\":\"text\",\"text\":{\"body\":\"", "a", 100, true}}, "\"}}" END},
    {"empty_messages", {{VALUE "\"messages\":[", "{   }", 100, false}}, END},
    {"messages_of_one_contact", {{VALUE "\"messages\":[", "{\"from\":\"16505550001\",\"id\":\"#\"}", 100, false}}, END},
    {"typed_messages_of_one_contact", {{VALUE "\"messages\":[", "{\"from\":\"16505550001\",\"id\":\"#\",\"type\":\"text\"}", 100, false}}, END},
    {"messages_of_one_card", {{VALUE "\"contacts\":[{\"wa_id\":\"16505550001\"}],\"messages\":[", "{\"id\":\"#\"}", 100, false}}, END},
    {"a_card_for_each_message", {{VALUE "\"contacts\":[", "{\"wa_id\":\"1650#\"}", 40, false}, {"],\"messages\":[", "{\"from\":\"1650#\",\"id\":\"#\",\"type\":\"text\"}", 60, false}}, END},
    {"cards_by_user_id", {{VALUE "\"contacts\":[", "{\"user_id\":\"US.#\"}", 40, false}, {"],\"messages\":[", "{\"from_user_id\":\"US.#\",\"id\":\"#\",\"type\":\"text\"}", 60, false}}, END},
    {"10000_people", {{VALUE "\"contacts\":[", "{\"wa_id\":\"1650#\",\"user_id\":\"US.#\",\"profile\":{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}", 40, false}, {"],\"messages\":[", "{\"from\":\"1650#\",\"from_user_id\":\"US.#\",\"id\":\"#\",\"type\":\"text\",\"referral\":{},\"text\":{\"body\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}", 60, false}}, END},
    {"cards_that_match_none", {{VALUE "\"contacts\":[", "{\"wa_id\":\"1#\"}", 50, false}, {"],\"messages\":[", "{\"from\":\"2#\",\"id\":\"#\"}", 50, false}}, END},
    {"cards_that_are_alike", {{VALUE "\"contacts\":[", "{\"wa_id\":\"16505550001\"}", 50, false}, {"],\"messages\":[", "{\"from\":\"16505550001\",\"id\":\"#\"}", 50, false}}, END},
    {"statuses", {{VALUE "\"statuses\":[", "{\"id\":\"#\",\"status\":\"sent\",\"recipient_id\":\"16505550001\"}", 100, false}}, END},
    {"statuses_of_one_message", {{VALUE "\"statuses\":[", "{\"id\":\"m\",\"status\":\"#\",\"recipient_id\":\"1650#\"}", 100, false}}, END},
    {"statuses_of_a_group", {{VALUE "\"statuses\":[", "{\"id\":\"m\",\"status\":\"read\",\"recipient_participant_id\":\"1650#\",\"recipient_id\":\"g\"}", 100, false}}, END},
    {"statuses_of_a_large_message", {{VALUE "\"messages\":[{\"from\":\"16505550001\",\"id\":\"m\",\"text\":\"", "a", 50, true}, {"\"}],\"statuses\":[", "{\"id\":\"m\",\"status\":\"#\",\"recipient_id\":\"16505550001\"}", 50, false}}, END},
    {"a_status_of_many_errors", {{VALUE "\"statuses\":[{\"id\":\"m\",\"status\":\"failed\",\"recipient_id\":\"16505550001\",\"errors\":[", "{\"code\":#}", 100, false}}, "]}" END},
    {"a_status_of_a_long_error", {{VALUE "\"statuses\":[{\"id\":\"m\",\"status\":\"failed\",\"recipient_id\":\"16505550001\",\"errors\":[{\"title\":\"", "\\u00e9", 100, true}}, "\"}]}" END},
    {"a_long_name", {{VALUE "\"contacts\":[{\"wa_id\":\"16505550001\",\"profile\":{\"name\":\"", "\\n", 100, true}}, "\"}}],\"messages\":[{\"from\":\"16505550001\",\"id\":\"m\",\"type\":\"text\"}" END},
    {"a_long_name_of_many_messages", {{VALUE "\"contacts\":[{\"wa_id\":\"16505550001\",\"profile\":{\"name\":\"", "a", 50, true}, {"\"}}],\"messages\":[", "{\"from\":\"16505550001\",\"id\":\"#\",\"type\":\"text\",\"text\":{\"body\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}", 50, false}}, END},
    {"a_long_id_of_a_card", {{VALUE "\"contacts\":[{\"user_id\":\"US.1\",\"wa_id\":\"", "a", 50, true}, {"\"}],\"messages\":[", "{\"from_user_id\":\"US.1\",\"id\":\"#\",\"type\":\"text\",\"text\":{\"body\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}", 50, false}}, END},
    {"members_beside_the_messages", {{VALUE "\"messages\":[", "{\"id\":\"#\"}", 50, false}, {"],", "\"aaaaaaaa\":0", 50, false}}, "}}]}]}"},
    {"members_beside_the_statuses", {{VALUE "\"contacts\":[{\"wa_id\":\"16505550001\"}],\"statuses\":[", "{\"id\":\"#\",\"status\":\"sent\"}", 50, false}, {"],", "\"aaaaaaaa\":0", 50, false}}, "}}]}]}"},
    {"members_of_a_message", {{VALUE "\"messages\":[{\"from\":\"16505550001\",\"id\":\"m\",", "\"id\":\"#\"", 100, false}}, "}" END},
    {"members_of_a_profile", {{VALUE "\"contacts\":[{\"wa_id\":\"16505550001\",\"profile\":{", "\"name\":\"#\"", 50, false}, {"}}],\"messages\":[", "{\"from\":\"16505550001\",\"id\":\"#\"}", 50, false}}, END},
    {"members_of_an_entry", {{"{\"entry\":[{\"id\":\"%\",", "\"time\":#", 50, false}, {",\"changes\":[", "{\"field\":\"f\",\"value\":#}", 50, false}}, "]}]}"},
    {"escaped_names", {{VALUE "\"messages\":[", "{\"\\u0066rom\":\"1650555000\\u0031\",\"\\u0069d\":\"\\u0069#\"}", 100, false}}, END},
    {"a_long_time_of_an_entry", {{"{\"entry\":[{\"id\":\"%\",\"time\":\"", "a", 50, true}, {"\",\"changes\":[", "{\"field\":\"f\",\"value\":#}", 50, false}}, "]}]}"},
    {"a_long_id_of_an_entry", {{"{\"entry\":[{\"id\":\"", "1", 50, true}, {"\",\"changes\":[", "{\"field\":\"f\",\"value\":#},{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},\"messages\":[{}]}}", 50, false}}, "]}]}"},
    {"a_long_id_of_a_line", {{ENTRY "{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"", "1", 50, true}, {"\"},\"messages\":[", "{\"id\":\"#\",\"type\":\"system\"}", 50, false}}, END},
    {"a_long_display_number", {{ENTRY "{\"field\":\"history\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\",\"display_phone_number\":\"", "1", 50, true}, {"\"},\"messages\":[", "{\"from\":\"16505550001\",\"id\":\"#\"}", 50, false}}, END},
    {"values", {{VALUE "\"messages\":[{\"from\":\"16505550001\",\"id\":\"m\",\"a\":[", "0", 100, false}}, "]}" END},
    {"a_million_members", {{VALUE "\"messages\":[{\"from\":\"16505550001\",\"id\":\"m\",\"a\":{", "\"\":0", 100, false}}, "}}" END},
    {"deep", {{VALUE "\"messages\":[", "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],\"id\":\"#\"}", 100, false}}, END},
    {"too_deep", {{"{\"entry\":", "[", 50, true}, {"", "]", 50, true}}, "}"},
    {"entries", {{"{\"entry\":[", "{\"id\":\"%\",\"changes\":[{\"field\":\"f\",\"value\":#}]}", 100, false}}, "]}"},
    {"entries_of_nothing", {{"{\"entry\":[", "{}", 100, false}}, "]}"},
    {"entries_of_others", {{"{\"entry\":[", "{\"id\":\"7#\",\"changes\":[{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"@\"},\"messages\":[{}]}}]}", 100, false}}, "]}"},
    {"lines_of_others", {{ENTRY, "{\"field\":\"messages\",\"value\":{\"metadata\":{\"phone_number_id\":\"7#\"},\"messages\":[{}]}}", 100, false}}, "]}]}"},
    {"changes_of_nothing", {{ENTRY, "{}", 100, false}}, "]}]}"},
    {"echoes", {{OF("smb_message_echoes", "message_echoes"), "{\"to\":\"1650#\",\"id\":\"#\"}", 100, false}}, END},
    {"flows_opened", {{OF("smb_message_echoes", "message_echoes"), "{\"to\":\"16505550001\",\"id\":\"#\",\"interactive\":{\"action\":{\"parameters\":{\"flow_id\":\"1\",\"flow_token\":\"#\"}}}}", 100, false}}, END},
    {"flow_replies", {{VALUE "\"messages\":[", "{\"from\":\"16505550001\",\"id\":\"#\",\"interactive\":{\"type\":\"nfm_reply\",\"nfm_reply\":{\"response_json\":\"{}\"}}}", 100, false}}, END},
    {"a_flow_reply_of_many_values", {{VALUE "\"messages\":[{\"from\":\"16505550001\",\"id\":\"m\",\"interactive\":{\"type\":\"nfm_reply\",\"nfm_reply\":{\"response_json\":\"[", "0", 100, false}}, "]\"}}}" END},
    {"history_threads", {{OF("history", "history") "{\"threads\":[", "{\"id\":\"1650#\",\"messages\":[{\"id\":\"#\"}]}", 100, false}}, "]}" END},
    {"a_history_thread", {{OF("history", "history") "{\"threads\":[{\"id\":\"16505550001\",\"context\":{\"username\":\"", "a", 50, true}, {"\"},\"messages\":[", "{\"id\":\"#\"}", 50, false}}, "]}]}" END},
    {"history_chunks", {{OF("history", "history"), "{}", 100, false}}, END},
    {"old_media", {{OF("history", "messages"), "{\"from\":\"16505550001\",\"id\":\"m\",\"type\":\"media_placeholder\",\"a\":#}", 100, false}}, END},
    {"user_id_updates", {{OF("user_id_update", "user_id_update"), "{\"wa_id\":\"16505550001\",\"user_id\":{\"previous\":\"US.#\",\"current\":\"DE.#\"}}", 100, false}}, END},
    {"number_changes", {{VALUE "\"messages\":[", "{\"id\":\"#\",\"type\":\"system\",\"from\":\"1650#\",\"from_user_id\":\"US.1\",\"system\":{\"type\":\"user_changed_number\",\"wa_id\":\"1750#\"}}", 100, false}}, END},
    {"numbers_that_come_back", {{VALUE "\"messages\":[", "{\"id\":\"#\",\"type\":\"system\",\"from\":\"1650555000!\",\"system\":{\"new_wa_id\":\"1650555000?\"}}", 100, false}}, END},
    {"lead_events", {{OF("automatic_events", "automatic_events"), "{\"id\":\"#\",\"event_name\":\"LeadSubmitted\"}", 100, false}}, END},
    {"preferences", {{OF("user_preferences", "user_preferences"), "{\"wa_id\":\"1650#\",\"user_id\":\"US.#\"}", 100, false}}, END},
    {"address_book", {{OF("smb_app_state_sync", "state_sync"), "{\"contact\":{\"phone_number\":\"1650#\",\"user_id\":\"US.#\"}}", 100, false}}, END},
    {"templates", {{ENTRY, "{\"field\":\"message_template_status_update\",\"value\":{\"event\":\"APPROVED\",\"message_template_id\":#,\"message_template_name\":\"#\",\"message_template_language\":\"en\"}}", 100, false}}, "]}]}"},
    {"flow_states", {{ENTRY, "{\"field\":\"flows\",\"value\":{\"flow_id\":\"1\",\"new_status\":\"#\"}}", 100, false}}, "]}]}"},
    {"merges_into_a_younger", {{VALUE "\"messages\":[", "{\"from_user_id\":\"US.1\",\"id\":\"b#\",\"type\":\"text\"}", 33, false}, {",", "{\"from\":\"1650#\",\"id\":\"a#\"}", 33, false}, {",", "{\"from\":\"1650#\",\"from_user_id\":\"US.1\",\"id\":\"c#\"}", 34, false}}, END},
    {"merges_into_an_older", {{VALUE "\"messages\":[", "{\"from\":\"1650#\",\"id\":\"a#\"}", 24, false}, {",", "{\"from_user_id\":\"US.1\",\"id\":\"b#\",\"type\":\"text\"}", 24, false}, {",", "{\"from\":\"1650^\",\"from_user_id\":\"US.1\",\"id\":\"c#\"}", 52, false}}, END},
    {"merges_of_a_large_message", {{VALUE "\"messages\":[", "{\"from\":\"1650#\",\"id\":\"a#\"}", 9, false}, {",{\"from_user_id\":\"US.1\",\"id\":\"m\",\"text\":\"", "a", 75, true}, {"\"},", "{\"from\":\"1650^\",\"from_user_id\":\"US.1\",\"id\":\"c#\"}", 16, false}}, END},
};
/* clang-format on */

static size_t count_of[3]; /* the number of units of each part */

/* Expands the text, writes it to `out` unless that is NULL, and returns its length in bytes. */
static size_t put(FILE *out, const char *text, const char *waba, const char *line, size_t number,
                  size_t down) {
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        char digits[24], one[2] = {*p, '\0'};
        const char *piece = one;
        if (*p == '#' || *p == '^') {
            snprintf(digits, sizeof digits, "%zu", 1000000 + (*p == '#' ? number : down));
            piece = digits;
        } else if (*p == '!' || *p == '?') {
            one[0] = (number + (*p == '?')) % 2 ? '2' : '1';
        } else if (*p == '%') {
            piece = waba;
        } else if (*p == '@') {
            piece = line;
        }
        n += strlen(piece);
        if (out)
            fputs(piece, out);
    }
    return n;
}

static void write_shape(const struct shape *shape, size_t bytes, size_t most, const char *waba,
                        const char *line) {
    size_t frame = put(NULL, shape->after, waba, line, 0, 0);
    for (int i = 0; i < 3 && shape->parts[i].before; i++)
        frame += put(NULL, shape->parts[i].before, waba, line, 0, 0);
    for (int i = 0; i < 3 && shape->parts[i].before; i++) {
        const struct part *part = &shape->parts[i];
        size_t unit = put(NULL, part->unit, waba, line, 0, 0) + !part->is_text;
        count_of[i] = (bytes - frame) * (size_t)part->share / 100 / unit;
        size_t share = part->is_text ? count_of[i] : most * (size_t)part->share / 100;
        count_of[i] = count_of[i] < share ? count_of[i] : share;
    }
    for (int i = 0; i < 3 && shape->parts[i].before; i++) {
        const struct part *part = &shape->parts[i];
        put(stdout, part->before, waba, line, 0, 0);
        for (size_t n = 0; n < count_of[i]; n++) {
            if (n && !part->is_text)
                putchar(',');
            /* counted down from the last number of the first part */
            put(stdout, part->unit, waba, line, n, count_of[0] - 1 - n % count_of[0]);
        }
    }
    put(stdout, shape->after, waba, line, 0, 0);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (argc == 1)
            puts(shapes[i].name);
        else if (argc >= 5 && strcmp(argv[1], shapes[i].name) == 0) {
            write_shape(&shapes[i], strtoul(argv[2], NULL, 10),
                        argc > 5 ? strtoul(argv[5], NULL, 10) : SIZE_MAX / 100, argv[3], argv[4]);
            return fflush(stdout) == 0 ? 0 : 1;
        }
    }
    if (argc == 1)
        return 0;
    fputs("usage: extremes [SHAPE BYTES WABA LINE [UNITS]]\n", stderr);
    return 2;
}
