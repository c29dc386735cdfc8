/* lib/payload/forward_body.h: the bodies that selections make of POSTs, compared byte by byte. */
#include "payload/forward_body.h"

#include <stdlib.h>

#include "check.h"
#include "store/forward_parts.h"

#define START                 "{\"object\":\"whatsapp_business_account\",\"entry\":["
#define END                   "]}"
#define META(line)            "\"metadata\":{\"phone_number_id\":\"" line "\"}"
#define CHANGE(line, members) "{\"value\":{" META(line) "," members "},\"field\":\"messages\"}"
#define ENTRY(waba, changes)  "{\"id\":\"" waba "\",\"changes\":[" changes "]}"
#define MESSAGE(id, from)     "{\"from\":\"" from "\",\"id\":\"" id "\"}"
#define STATUS(id, to)        "{\"id\":\"" id "\",\"recipient_id\":\"" to "\"}"
#define TEMPLATE              "message_template_status_update"
#define ACCOUNT               "{\"value\":{\"event\":\"APPROVED\"},\"field\":\"" TEMPLATE "\"}"

#define A1 CHANGE("10", "\"messages\":[" MESSAGE("a1", "491") "]")
#define A2 CHANGE("11", "\"messages\":[" MESSAGE("a2", "492") "]")
#define B1 CHANGE("20", "\"messages\":[" MESSAGE("b1", "493") "]")

enum { MOST_BODIES = 4 };

static const char whole[] = "the whole POST";

struct trial {
    const char *name, *post;
    const char *accounts, *lines; /* separated by spaces; `lines` NULL: all */
    const char *excluded;         /* a line of account 1 */
    const char *fields;
    bool splits;
    const char *updates;
    const char *bodies[MOST_BODIES + 1]; /* up to the first NULL */
    const char *keys[MOST_BODIES];
};

/* clang-format off */
static const struct trial trials[] = {
    /* --- whole --- */
    {.name = "one account", .post = START ENTRY("1", A1) END,
     .bodies = {whole}, .keys = {"10:491"}},
    {.name = "white space, escapes and other members are kept",
     .post = " {\n\"object\" : \"whatsapp_business_account\",\"x\":1e400, \"entry\" : [ {\"time\":1,"
             "\"changes\":[" CHANGE("1\\u0030", "\"messages\":[{\"from\":\"4\\u0039\",\"body\":"
             "\"caf\\u00e9 \\/ \\ud83d\\ude00\"}]") " ] ,\"id\":\"\\u0031\"} ] }\n",
     .bodies = {whole}, .keys = {"10:49"}},
    {.name = "two accounts of one user", .accounts = "2 1",
     .post = START ENTRY("1", A1) "," ENTRY("2", B1) END,
     .bodies = {whole}, .keys = {"10:491"}},
    {.name = "all fields", .fields = "*", .post = START ENTRY("1", ACCOUNT "," A1) END,
     .bodies = {whole}, .keys = {"10:491"}},
    {.name = "a line that the gateway has not", .post = START ENTRY("1", CHANGE("99", "\"a\":1")) END,
     .bodies = {whole}, .keys = {NULL}},

    /* --- accounts --- */
    {.name = "another account", .post = START ENTRY("2", B1) END, .bodies = {NULL}},
    {.name = "the first of three accounts",
     .post = START ENTRY("1", A1) "," ENTRY("2", B1) "," ENTRY("3", B1) END,
     .bodies = {START ENTRY("1", A1) END}, .keys = {"10:491"}},
    {.name = "the middle of three accounts", .accounts = "2",
     .post = START ENTRY("1", A1) " ,\n" ENTRY("2", B1) "," ENTRY("3", B1) END,
     .bodies = {START ENTRY("2", B1) END}, .keys = {"20:493"}},
    {.name = "the first and the last of three accounts", .accounts = "1 3",
     .post = START ENTRY("1", A1) "," ENTRY("2", B1) "," ENTRY("3", B1) END,
     .bodies = {START ENTRY("1", A1) "," ENTRY("3", B1) END}, .keys = {"10:491"}},
    {.name = "neighbours keep what is between them", .accounts = "2 3",
     .post = START ENTRY("1", A1) "," ENTRY("2", B1) " ,\t" ENTRY("3", A1) END,
     .bodies = {START ENTRY("2", B1) " ,\t" ENTRY("3", A1) END}, .keys = {"20:493"}},
    {.name = "the value of object is kept, other members are not",
     .post = "{\"a\":1,\"entry\":[" ENTRY("2", B1) "," ENTRY("1", A1) "],\"object\":\"w\\u0061\","
             "\"b\":2}",
     .bodies = {"{\"object\":\"w\\u0061\",\"entry\":[" ENTRY("1", A1) "]}"}, .keys = {"10:491"}},
    {.name = "no object", .post = "{\"entry\":[" ENTRY("1", A1) "," ENTRY("2", B1) "]}",
     .bodies = {"{\"entry\":[" ENTRY("1", A1) "]}"}, .keys = {"10:491"}},

    /* --- lines --- */
    {.name = "one of two lines", .lines = "11", .post = START ENTRY("1", A1 "," A2) END,
     .bodies = {START ENTRY("1", A2) END}, .keys = {"11:492"}},
    {.name = "no line", .lines = "", .post = START ENTRY("1", A1) END, .bodies = {NULL}},
    {.name = "a change of the account concerns each line", .lines = "", .fields = "*",
     .post = START ENTRY("1", A1 "," ACCOUNT) END,
     .bodies = {START ENTRY("1", ACCOUNT) END}, .keys = {NULL}},
    {.name = "an archived line", .excluded = "10", .post = START ENTRY("1", A1 "," A2) END,
     .bodies = {START ENTRY("1", A2) END}, .keys = {"11:492"}},
    {.name = "an archived line that is listed", .excluded = "10", .lines = "10", .fields = "*",
     .post = START ENTRY("1", A1) END, .bodies = {NULL}},
    {.name = "a line of another account", .excluded = "20",
     .post = START ENTRY("1", B1) "," ENTRY("1", A1) END,
     .bodies = {START ENTRY("1", A1) END}, .keys = {"10:491"}},

    /* --- fields --- */
    {.name = "only messages by default", .post = START ENTRY("1", ACCOUNT "," A1 "," ACCOUNT) END,
     .bodies = {START ENTRY("1", A1) END}, .keys = {"10:491"}},
    {.name = "another field", .fields = "flows message_template_status_update",
     .post = START ENTRY("1", ACCOUNT "," A1) END,
     .bodies = {START ENTRY("1", ACCOUNT) END}, .keys = {NULL}},
    {.name = "a part of a field's name", .fields = "message mess messages2",
     .post = START ENTRY("1", A1) END, .bodies = {NULL}},
    {.name = "a field with escapes", .fields = "flows",
     .post = START ENTRY("1", "{\"field\":\"fl\\u006fws\"}") END, .bodies = {whole}},

    /* --- an entry that loses a change --- */
    {.name = "an entry keeps its members, their order and white space",
     .post = START "{ \"a\" : [1, 2] ,\n\"changes\" : [ " ACCOUNT " , " A1 " ,  " A2 " , " ACCOUNT
             " ] , \"id\":\"1\", \"z\":{} }" END,
     .bodies = {START "{ \"a\" : [1, 2] ,\n\"changes\" : [" A1 " ,  " A2 "] , \"id\":\"1\","
                " \"z\":{} }" END},
     .keys = {"10:491"}},
    {.name = "the other changes are joined", .lines = "10",
     .post = START ENTRY("1", A1 "," A2 "," A1) END,
     .bodies = {START ENTRY("1", A1 "," A1) END}, .keys = {"10:491"}},

    /* --- odd shapes --- */
    {.name = "not an object", .post = "[" ENTRY("1", A1) "]", .fields = "*", .bodies = {NULL}},
    {.name = "a number", .post = "5", .fields = "*", .bodies = {NULL}},
    {.name = "no entry", .post = "{\"object\":\"whatsapp_business_account\"}", .fields = "*",
     .bodies = {NULL}},
    {.name = "an empty entry", .post = START END, .fields = "*", .bodies = {NULL}},
    {.name = "entry is an object", .post = "{\"entry\":{\"a\":" ENTRY("1", A1) "}}", .fields = "*",
     .bodies = {NULL}},
    {.name = "entries without an id", .fields = "*",
     .post = START "5,null,\"1\",[],{},{\"id\":1},{\"id\":\"1\\u0000\"}" END, .bodies = {NULL}},
    {.name = "entries without changes are of all fields", .fields = "*",
     .post = START "{\"id\":\"1\"},{\"id\":\"1\",\"changes\":[]},{\"id\":\"1\",\"changes\":5},"
             "{\"id\":\"1\",\"changes\":{\"a\":" A1 "}}" END, .bodies = {whole}},
    {.name = "entries without changes are of no field", .fields = "messages",
     .post = START "{\"id\":\"1\"},{\"id\":\"1\",\"changes\":[]},{\"id\":\"1\",\"changes\":{\"a\":"
             A1 "}}" END, .bodies = {NULL}},
    {.name = "an entry without changes beside another", .fields = "messages",
     .post = START "{\"id\":\"1\"}," ENTRY("1", A1) END,
     .bodies = {START ENTRY("1", A1) END}, .keys = {"10:491"}},
    {.name = "changes of unknown shape are of all fields", .fields = "*",
     .post = START ENTRY("1", "5,null,[],{},{\"field\":5},{\"value\":7}") END, .bodies = {whole}},
    {.name = "changes of unknown shape are of no field", .fields = "messages",
     .post = START ENTRY("1", "5,null,[],{},{\"field\":5},{\"value\":7}") END, .bodies = {NULL}},
    {.name = "a value of unknown shape", .lines = "",
     .post = START ENTRY("1", "{\"field\":\"messages\",\"value\":[1]},{\"field\":\"messages\"}") END,
     .bodies = {whole}},

    /* --- members that are repeated --- */
    {.name = "the last entry counts",
     .post = "{\"entry\":[" ENTRY("2", B1) "],\"entry\":[" ENTRY("1", A1) "],\"object\":1}",
     .bodies = {"{\"object\":1,\"entry\":[" ENTRY("1", A1) "]}"}, .keys = {"10:491"}},
    {.name = "the last changes count",
     .post = START "{\"changes\":[" B1 "],\"id\":\"1\",\"cha\\u006eges\":[" B1 "],\"changes\":[" A1
             "],\"b\":1}" END,
     .bodies = {START "{\"id\":\"1\",\"changes\":[" A1 "],\"b\":1}" END}, .keys = {"10:491"}},
    {.name = "the last id and field count", .fields = "flows",
     .post = START "{\"id\":\"2\",\"id\":\"1\",\"changes\":[{\"field\":\"a\",\"field\":\"flows\"}]}"
             END,
     .bodies = {whole}},

    /* --- split --- */
    {.name = "split: one message", .splits = true, .post = START ENTRY("1", A1) END,
     .bodies = {whole}, .keys = {"10:491"}},
    {.name = "split: no message", .splits = true, .fields = "*", .post = START ENTRY("1", ACCOUNT) END,
     .bodies = {whole}},
    {.name = "split: two changes", .splits = true, .fields = "*",
     .post = START ENTRY("1", A1 "," ACCOUNT) END,
     .bodies = {START ENTRY("1", A1) END, START ENTRY("1", ACCOUNT) END}, .keys = {"10:491"}},
    {.name = "split: two entries, one without changes", .splits = true, .fields = "*",
     .post = START ENTRY("1", A1) ",{\"id\":\"1\"}" END,
     .bodies = {START ENTRY("1", A1) END, START "{\"id\":\"1\"}" END}, .keys = {"10:491"}},
    {.name = "split: one message beside another account's", .splits = true,
     .post = START ENTRY("2", B1) "," ENTRY("1", A1) END,
     .bodies = {START ENTRY("1", A1) END}, .keys = {"10:491"}},
    {.name = "split: messages and statuses", .splits = true,
     .post = START "{\"id\":\"1\", \"changes\":[ {\"field\":\"messages\", \"value\": { " META("10")
             ", \"statuses\":[" STATUS("s1", "494") "] , \"messages\" : [ " MESSAGE("m1", "491")
             " , " MESSAGE("m2", "492") " ], \"errors\":[1] } } ], \"time\":7}" END,
     .bodies = {START "{\"id\":\"1\", \"changes\":[{\"field\":\"messages\", \"value\": { " META("10")
                ",\"messages\" : [" MESSAGE("m1", "491") "], \"errors\":[1] } }], \"time\":7}" END,
                START "{\"id\":\"1\", \"changes\":[{\"field\":\"messages\", \"value\": { " META("10")
                ",\"messages\" : [" MESSAGE("m2", "492") "], \"errors\":[1] } }], \"time\":7}" END,
                START "{\"id\":\"1\", \"changes\":[{\"field\":\"messages\", \"value\": { " META("10")
                ", \"statuses\":[" STATUS("s1", "494") "],\"errors\":[1] } }], \"time\":7}" END},
     .keys = {"10:491", "10:492", "10:494"}},
    {.name = "split: an array that is left out at the start and at the end", .splits = true,
     .post = START ENTRY("1", "{\"value\":{\"messages\":[{\"a\":1}],\"x\":1 , \"statuses\":[{}]},"
             "\"field\":\"messages\"}") END,
     .bodies = {START ENTRY("1", "{\"value\":{\"messages\":[{\"a\":1}],\"x\":1},"
                "\"field\":\"messages\"}") END,
                START ENTRY("1", "{\"value\":{\"x\":1 , \"statuses\":[{}]},"
                "\"field\":\"messages\"}") END}},
    {.name = "split: nothing but the arrays", .splits = true,
     .post = START ENTRY("1", "{\"value\":{\"messages\":[5],\"statuses\":[6]},\"field\":\"messages\"}")
             END,
     .bodies = {START ENTRY("1", "{\"value\":{\"messages\":[5]},\"field\":\"messages\"}") END,
                START ENTRY("1", "{\"value\":{\"statuses\":[6]},\"field\":\"messages\"}") END}},
    {.name = "split: members that are repeated", .splits = true,
     .post = START ENTRY("1", "{\"value\":1,\"value\":{\"messages\":[0],\"messages\":[5,6]},"
             "\"field\":\"messages\"}") END,
     .bodies = {START ENTRY("1", "{\"value\":{\"messages\":[5]},\"field\":\"messages\"}") END,
                START ENTRY("1", "{\"value\":{\"messages\":[6]},\"field\":\"messages\"}") END}},
    {.name = "split: the cards of the person", .splits = true,
     .post = START ENTRY("1", CHANGE("10", "\"contacts\":[{\"wa_id\":\"491\"}, {\"wa_id\":\"492\"},"
             "{\"user_id\":\"US.2\"}],\"messages\":[{\"from\":\"492\",\"from_user_id\":\"US.2\"},"
             "{\"from_user_id\":\"US.2\"}]")) END,
     .bodies = {START ENTRY("1", CHANGE("10", "\"contacts\":[{\"wa_id\":\"492\"},"
                "{\"user_id\":\"US.2\"}],\"messages\":[{\"from\":\"492\",\"from_user_id\":\"US.2\"}]"
                )) END,
                START ENTRY("1", CHANGE("10", "\"contacts\":[{\"user_id\":\"US.2\"}],"
                "\"messages\":[{\"from_user_id\":\"US.2\"}]")) END},
     .keys = {"10:492", "10:US.2"}},
    {.name = "split: all cards when none is of the person", .splits = true,
     .post = START ENTRY("1", CHANGE("10", "\"contacts\":[{\"wa_id\":\"491\"},{\"wa_id\":\"492\"}],"
             "\"messages\":[{\"from\":\"493\"},{\"from\":\"491\"}]")) END,
     .bodies = {START ENTRY("1", CHANGE("10", "\"contacts\":[{\"wa_id\":\"491\"},"
                "{\"wa_id\":\"492\"}],\"messages\":[{\"from\":\"493\"}]")) END,
                START ENTRY("1", CHANGE("10", "\"contacts\":[{\"wa_id\":\"491\"}],"
                "\"messages\":[{\"from\":\"491\"}]")) END},
     .keys = {"10:493", "10:491"}},
    {.name = "split: echoes", .splits = true, .fields = "smb_message_echoes",
     .post = START ENTRY("1", "{\"field\":\"smb_message_echoes\",\"value\":{" META("10")
             ",\"message_echoes\":[{\"to\":\"491\"},{\"to_user_id\":\"US.1\"}]}}") END,
     .bodies = {START ENTRY("1", "{\"field\":\"smb_message_echoes\",\"value\":{" META("10")
                ",\"message_echoes\":[{\"to\":\"491\"}]}}") END,
                START ENTRY("1", "{\"field\":\"smb_message_echoes\",\"value\":{" META("10")
                ",\"message_echoes\":[{\"to_user_id\":\"US.1\"}]}}") END},
     .keys = {"10:491", "10:US.1"}},

    /* --- some of messages, statuses and echoes --- */
    {.name = "updates: messages of messages", .updates = "messages", .post = START ENTRY("1", A1) END,
     .bodies = {whole}, .keys = {"10:491"}},
    {.name = "updates: nothing of statuses", .updates = "messages echoes",
     .post = START ENTRY("1", CHANGE("10", "\"statuses\":[" STATUS("s1", "491") "]")) END,
     .bodies = {NULL}},
    {.name = "updates: nothing of messages", .updates = "statuses", .post = START ENTRY("1", A1) END,
     .bodies = {NULL}},
    {.name = "updates: a value that loses its statuses", .updates = "messages",
     .post = " " START ENTRY("1", "{ \"value\" : { " META("10") ", \"statuses\" : [ " STATUS("s1", "494")
             " ] ,\n\"messages\":[" MESSAGE("m\\/1", "491") "] , \"errors\":[1e400]},\"field\":"
             "\"messages\" } ") "]} ",
     .bodies = {START ENTRY("1", "{ \"value\" : { " META("10") ",\"messages\":["
                MESSAGE("m\\/1", "491") "] , \"errors\":[1e400]},\"field\":\"messages\" }") END},
     .keys = {"10:491"}},
    {.name = "updates: a value that loses its messages, which are named twice", .updates = "statuses",
     .post = START ENTRY("1", CHANGE("10", "\"messages\":5,\"statuses\":[" STATUS("s1", "494")
             "],\"mess\\u0061ges\":[" MESSAGE("m1", "491") "]")) END,
     .bodies = {START ENTRY("1", CHANGE("10", "\"statuses\":[" STATUS("s1", "494") "]")) END},
     .keys = {"10:494"}},
    {.name = "updates: one change of two stays, and one entry of two", .updates = "messages",
     .post = START ENTRY("1", CHANGE("10", "\"statuses\":[" STATUS("s1", "494") "]") "," A2) ","
             ENTRY("1", CHANGE("10", "\"statuses\":[" STATUS("s2", "494") "]")) END,
     .bodies = {START ENTRY("1", A2) END}, .keys = {"11:492"}},
    {.name = "updates: what is none of the three stays", .updates = "messages", .fields = "*",
     .post = START ENTRY("1", ACCOUNT "," CHANGE("10", "\"errors\":[1]") ",{\"value\":5}")
             ",{\"id\":\"1\"}" END,
     .bodies = {whole}},
    {.name = "updates: echoes", .updates = "echoes", .fields = "messages smb_message_echoes",
     .post = START ENTRY("1", A1 ",{\"field\":\"smb_message_echoes\",\"value\":{" META("10")
             ",\"message_echoes\":[{\"to\":\"495\"}]}}") END,
     .bodies = {START ENTRY("1", "{\"field\":\"smb_message_echoes\",\"value\":{" META("10")
                ",\"message_echoes\":[{\"to\":\"495\"}]}}") END},
     .keys = {"10:495"}},
    {.name = "updates: messages alone, split", .updates = "messages", .splits = true,
     .post = START ENTRY("1", CHANGE("10", "\"statuses\":[" STATUS("s1", "494") "],\"messages\":["
             MESSAGE("m1", "491") "," MESSAGE("m2", "492") "]") ","
             CHANGE("10", "\"messages\":[" MESSAGE("m3", "493") "],\"statuses\":["
             STATUS("s2", "494") "," STATUS("s3", "494") "]")) END,
     .bodies = {START ENTRY("1", CHANGE("10", "\"messages\":[" MESSAGE("m1", "491") "]")) END,
                START ENTRY("1", CHANGE("10", "\"messages\":[" MESSAGE("m2", "492") "]")) END,
                START ENTRY("1", CHANGE("10", "\"messages\":[" MESSAGE("m3", "493") "]")) END},
     .keys = {"10:491", "10:492", "10:493"}},

    /* --- order keys --- */
    {.name = "a status of a participant",
     .post = START ENTRY("1", CHANGE("10", "\"statuses\":[{\"recipient_id\":\"491\","
             "\"recipient_participant_id\":\"492\"}]")) END,
     .bodies = {whole}, .keys = {"10:492"}},
    {.name = "the first change with a person",
     .post = START ENTRY("1", CHANGE("10", "\"errors\":[]") "," A2) END,
     .bodies = {whole}, .keys = {"11:492"}},
    {.name = "an id that is too long",
     .post = START ENTRY("1", CHANGE("10", "\"messages\":[{\"from\":\"0123456789012345678901234567890"
             "12345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
             "7890123456789\"}]")) END,
     .bodies = {whole}, .keys = {NULL}},
};
/* clang-format on */

static struct arena arena;

/* Reads words separated by spaces. */
static const char *const *read_words(const char *text, size_t *count) {
    const char **words = arena_alloc(&arena, 16 * sizeof *words);
    struct slice rest = slice_of(text);
    for (*count = 0; rest.n;)
        words[(*count)++] = arena_copy(&arena, slice_cut(&rest, ' '));
    return words;
}

static void check_body(const struct trial *trial, const struct forward_recipe *recipe,
                       struct slice post, const char *expected) {
    struct slice body = forward_assemble(&arena, post, recipe->parts);
    struct json value;
    struct json_error error;
    check(!recipe->parts == (expected == whole), "%s: %s", trial->name, recipe->parts);
    check(body.p && json_read(&arena, body, &value, &error) == 0, "%s: %.*s", trial->name,
          (int)body.n, body.p);
    if (expected != whole)
        check(slice_equal(body, slice_of(expected)), "%s: %.*s", trial->name, (int)body.n, body.p);
}

static void check_key(const struct trial *trial, const char *key, const char *expected) {
    if (expected)
        check(key && strcmp(key, expected) == 0, "%s: %s", trial->name, key ? key : "none");
    else
        check(!key, "%s: %s", trial->name, key);
}

static void check_trial(const struct trial *trial) {
    struct forward_post post = {.body = slice_of(trial->post)};
    struct forward_selection selection = {.all_lines = !trial->lines,
                                          .fields = trial->fields,
                                          .splits_messages = trial->splits,
                                          .updates = trial->updates};
    struct forward_recipe *recipes;
    struct json_error error;
    size_t count, expected = 0;
    selection.waba_ids =
        read_words(trial->accounts ? trial->accounts : "1", &selection.waba_id_count);
    selection.phone_number_ids = read_words(trial->lines, &selection.phone_number_count);
    const struct forward_place excluded[] = {{"1", NULL}, {"2", "10"}, {"1", trial->excluded}};
    selection.excluded = excluded;
    selection.excluded_count = trial->excluded ? 3 : 2;
    check(json_read(&arena, post.body, &post.value, &error) == 0, "%s: %s", trial->name,
          error.reason);
    forward_body_make(&post, &arena, &selection, &recipes, &count);
    while (trial->bodies[expected])
        expected++;
    check(count == expected, "%s: %zu bodies", trial->name, count);
    for (size_t i = 0; i < count && i < expected; i++) {
        check_body(trial, &recipes[i], post.body, trial->bodies[i]);
        check_key(trial, recipes[i].order_key, trial->keys[i]);
    }
}

/* The places of a POST, as text. */
static void check_places(const char *text, const char *expected) {
    struct forward_post raw = {.body = slice_of(text)};
    struct json_error error;
    struct buffer found = buffer_in(&arena);
    check(json_read(&arena, raw.body, &raw.value, &error) == 0, "%s", text);
    const struct store_post post = forward_body_post(&raw, &arena);
    for (size_t i = 0; i < post.place_count; i++)
        buffer_printf(&found, "%s/%s ", post.places[i].waba_id,
                      post.places[i].phone_number_id ? post.places[i].phone_number_id : "");
    check(slice_equal(post.body, slice_of(text)), "%s", text);
    check(slice_equal(buffer_slice(&found), slice_of(expected)), "%s: %s", text, found.p);
}

static void check_all_places(void) {
    check_places("5", "");
    check_places(START END, "");
    check_places(START "{\"id\":\"1\"},{\"id\":2},{\"id\":\"3\",\"changes\":[]},7" END, "1/ 3/ ");
    check_places(START ENTRY("1", A1 "," A1 "," A2) "," ENTRY("2", B1 "," ACCOUNT) END,
                 "1/10 1/11 2/20 2/ ");
    check_places(START ENTRY("1", A1 "," A2) "," ENTRY("1", A1) "," ENTRY("2", A1) END,
                 "1/10 1/11 1/10 2/10 ");
}

/* A text that is no recipe for this POST makes no body. */
static void check_recipes(void) {
    static const char *const wrong[] = {"x",
                                        "1",
                                        "1+",
                                        "1+1",
                                        "+1,",
                                        "0+6,",
                                        "6+0,",
                                        "5+1,",
                                        "1:",
                                        "2:a",
                                        "99999999999999999999+1,",
                                        "0+1,x",
                                        "0+1,3:ab"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check(!forward_assemble(&arena, SLICE("12345"), wrong[i]).p, "%s", wrong[i]);
    check(slice_equal(forward_assemble(&arena, SLICE("12345"), "1+2,3:a,b5+0,0:0+5,"),
                      SLICE("23a,b12345")),
          "a recipe");
}

int main(void) {
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        check_trial(&trials[i]);
    check_all_places();
    check_recipes();
    arena_free(&arena);
    return check_failures();
}
