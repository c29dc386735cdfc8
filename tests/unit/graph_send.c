/* What is read of a send in the platform's own form: JSON and forms. */
#include "payload/graph_send.h"

#include "compare.h"
#include "payload/graph_form.h"

static struct arena arena;

#define JSON_TYPE  "application/json"
#define FORM_TYPE  "Application/X-WWW-Form-Urlencoded; charset=UTF-8"
#define PARTS_TYPE "multipart/form-data; boundary=b"
#define PART(name, value)                                                                          \
    "--b\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" value "\r\n"

/* --- forms as JSON --- */

static const struct {
    const char *type, *body, *object; /* object NULL: refused */
} forms[] = {
    {FORM_TYPE, "", "{}"},
    {FORM_TYPE, "a=1&b=x+y%20z&c", "{\"a\":\"1\",\"b\":\"x y z\",\"c\":\"\"}"},
    {FORM_TYPE, "text[body]=Hi&text[preview_url]=true&to=1",
     "{\"text\":{\"body\":\"Hi\",\"preview_url\":\"true\"},\"to\":\"1\"}"},
    {FORM_TYPE, "text%5Bbody%5D=%7B%22a%22:1%7D", "{\"text\":{\"body\":{\"a\":1}}}"},
    {FORM_TYPE, "a={\"b\": [1e400]}&c={x", "{\"a\":{\"b\": [1e400]},\"c\":\"{x\"}"},
    {FORM_TYPE, "a[0][b]=1&a[1][b]=2&a[1][c]=3",
     "{\"a\":[{\"b\":\"1\"},{\"b\":\"2\",\"c\":\"3\"}]}"},
    {FORM_TYPE, "a[]=1&a[]=2", "{\"a\":[\"1\",\"2\"]}"},
    {FORM_TYPE, "a[1]=1&a[0]=2", "{\"a\":{\"1\":\"1\",\"0\":\"2\"}}"},
    {FORM_TYPE, "a=1&a=2", "{\"a\":\"2\"}"},
    {FORM_TYPE, "a[b=1", "{\"a\":{\"b\":\"1\"}}"},
    {FORM_TYPE, "a[b]x=1", "{\"a\":{\"b\":\"1\"}}"},
    {FORM_TYPE, "a\"\\[%0A]=1", "{\"a\\\"\\\\\":{\"\\n\":\"1\"}}"},
    {FORM_TYPE, "0=1&[]=2", "{\"0\":\"1\",\"\":[\"2\"]}"},
    {FORM_TYPE, "a=%zz", NULL},
    {FORM_TYPE, "a=%00", NULL},
    {FORM_TYPE, "a=%ff", NULL},
    {FORM_TYPE, "a[1][2][3][4][5][6][7][8][9][10][11][12][13][14][15]=1",
     "{\"a\":{\"1\":{\"2\":{\"3\":{\"4\":{\"5\":{\"6\":{\"7\":{\"8\":{\"9\":{\"10\":{\"11\":{"
     "\"12\":{\"13\":{\"14\":{\"15\":\"1\"}}}}}}}}}}}}}}}}"},
    {FORM_TYPE, "a[1][2][3][4][5][6][7][8][9][10][11][12][13][14][15][16]=1", NULL},
    {PARTS_TYPE, PART("to", "+1 5") PART("text[body]", "a\r\nb") "--b--",
     "{\"to\":\"+1 5\",\"text\":{\"body\":\"a\\u000d\\nb\"}}"},
    {PARTS_TYPE, PART("to", "1"), NULL},
    {PARTS_TYPE, PART("to", "\xff") "--b--", NULL},
    {"multipart/form-data", PART("to", "1") "--b--", NULL},
};

static void check_forms(void) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *error = NULL;
        struct json object = {0};
        int failed =
            graph_form_read(&arena, forms[i].type, slice_of(forms[i].body), &object, &error);
        CHECK_INTEGER_AS(forms[i].body, failed, forms[i].object ? 0 : -1);
        CHECK_INTEGER_AS(forms[i].body, error != NULL, forms[i].object == NULL);
        CHECK_SLICE_AS(forms[i].body, json_raw(object), slice_of(forms[i].object));
    }
    CHECK(graph_form_is(FORM_TYPE) && graph_form_is("multipart/form-data; boundary=x"));
    CHECK(!graph_form_is(NULL) && !graph_form_is("text/plain") && !graph_form_is(JSON_TYPE));
}

/* --- sends --- */

static struct graph_send read(const char *type, const char *body) {
    struct graph_send send;
    const char *error = NULL;
    check(graph_send_read(&arena, type, slice_of(body), &send, &error) == 0, "%s: %s", body,
          or_nothing(error));
    return send;
}

#define JSON(body) read(JSON_TYPE, body)

static void check_recipients(void) {
    static const char *const bodies[] = {"{\"to\":\"+1 (555) 000-7\"}", "{\"to\":15550007}",
                                         "{\"to\":\"1555\\u0030007\",\"recipient\":null}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct graph_send send = JSON(bodies[i]);
        CHECK_TEXT_AS(bodies[i], send.phone, "15550007");
        CHECK_TEXT_AS(bodies[i], send.bsuid, NULL);
        CHECK_INTEGER_AS(bodies[i], send.is_to_person, true);
    }
    CHECK_TEXT(JSON("{\"to\":\"+1 5\"}").to, "+1 5");
    CHECK_TEXT(read(FORM_TYPE, "to=%2B1+555&type=text").phone, "1555");
    struct graph_send send = JSON("{\"recipient\":\"US.1349\",\"to\":\"\"}");
    CHECK_TEXT(send.bsuid, "US.1349");
    CHECK_TEXT(send.phone, NULL);
    send = JSON("{\"recipient_type\":\"group\",\"to\":\"Y2FwaV8xNTU1\"}");
    CHECK(!send.is_to_person);
    CHECK_TEXT(send.phone, NULL);
    CHECK_TEXT(JSON("{\"recipient_type\":\"Group\",\"to\":\"1555\"}").phone, "1555");
    CHECK_TEXT(JSON("{\"to\":\" + \"}").phone, NULL);
}

static void check_content(void) {
    struct graph_send send = JSON("{\"context\":{\"message_id\":\"wamid.A\"},\"text\":{}}");
    CHECK_TEXT(send.type, "text");
    CHECK_TEXT(send.context_wamid, "wamid.A");
    CHECK(send.is_message && !send.is_form && !send.has_callback_data);
    CHECK_TEXT(JSON("{\"context\":null}").context_wamid, NULL);
    CHECK_TEXT(JSON("{\"context\":\"{\\\"message_id\\\":\\\"wamid.A\\\"}\"}").context_wamid,
               "wamid.A");
    send = read(FORM_TYPE, "context[message_id]=wamid.A&type=image&to=1");
    CHECK_TEXT(send.context_wamid, "wamid.A");
    CHECK_TEXT(send.type, "image");
    CHECK(send.is_form);
    CHECK(JSON("{\"biz_opaque_callback_data\":null}").has_callback_data);
}

#define TEMPLATE                                                                                   \
    "{\"name\":\"hi\",\"language\":{\"policy\":\"deterministic\",\"code\":\"de\"},"                \
    "\"components\":[{\"type\":\"body\"},{\"type\":\"button\",\"parameters\":[{\"type\":"          \
    "\"action\",\"action\":{\"flow_token\":\"T\"}}]}]}"

#define FLOW                                                                                       \
    "{\"type\":\"flow\",\"action\":{\"name\":\"flow\",\"parameters\":{\"flow_id\":7002,"           \
    "\"flow_token\":\"T\"}}}"

/* The JSON text as a JSON string. */
static const char *as_text(const char *json) {
    struct json_writer out;
    json_write_start(&out, &arena);
    json_write_text(&out, NULL, json);
    struct slice text = json_written(&out);
    return arena_copy(&arena, text);
}

static void check_tokens(void) {
    const char *const templates[] = {TEMPLATE, as_text(TEMPLATE)}, *const flows[] = {FLOW,
                                                                                     as_text(FLOW)};
    for (size_t i = 0; i < 2; i++) {
        struct graph_send send =
            JSON(arena_printf(&arena, "{\"type\":\"template\",\"template\":%s}", templates[i]));
        CHECK_TEXT(send.template_name, "hi");
        CHECK_TEXT(send.template_language, "de");
        CHECK_TEXT(send.flow_token, "T");
        CHECK_TEXT(send.flow_id, NULL);
        send =
            JSON(arena_printf(&arena, "{\"type\":\"interactive\",\"interactive\":%s}", flows[i]));
        CHECK_TEXT(send.flow_id, "7002");
        CHECK_TEXT(send.flow_token, "T");
        CHECK_TEXT(send.template_name, NULL);
    }
    struct graph_send send = read(FORM_TYPE, "type=template&template[name]=hi&template[language]"
                                             "[code]=de&template[components][0][parameters][0]"
                                             "[action][flow_token]=T");
    CHECK_TEXT(send.template_name, "hi");
    CHECK_TEXT(send.template_language, "de");
    CHECK_TEXT(send.flow_token, "T");
    send = JSON("{\"type\":\"interactive\",\"interactive\":{\"type\":\"button\",\"action\":"
                "{\"parameters\":{\"flow_id\":\"1\"}}}}");
    CHECK_TEXT(send.flow_id, NULL);
}

static void check_receipts(void) {
    struct graph_send send = JSON("{\"status\":\"read\",\"message_id\":\"wamid.A\","
                                  "\"typing_indicator\":{\"type\":\"text\"}}");
    CHECK(!send.is_message);
    CHECK_TEXT(send.read_wamid, "wamid.A");
    CHECK(JSON("{\"typing_indicator\":{\"type\":\"text\"}}").is_message);
    CHECK(JSON("{\"status\":null,\"typing_indicator\":null}").is_message);
    CHECK(!read(FORM_TYPE, "status=READ&message_id=wamid.A").is_message);
}

static void check_refused(void) {
    static const struct {
        const char *type, *body, *part;
    } refused[] = {
        {JSON_TYPE, "", "JSON object"},
        {JSON_TYPE, "[]", "JSON object"},
        {JSON_TYPE, "{\"to\":1", "line 1"},
        {JSON_TYPE, "{\"to\":{\"a\":1}}", "to must be a string"},
        {JSON_TYPE, "{\"recipient\":[]}", "recipient must be a string"},
        {JSON_TYPE, "{\"status\":true}", "status must be a string"},
        {JSON_TYPE, "{\"to\":1.5e10}", "to must be a string"},
        {JSON_TYPE, "{\"to\":-1555}", "to must be a string"},
        {JSON_TYPE, "{\"to\":1234567890123456789}", "to must be a string"},
        {JSON_TYPE, "{\"to\":\"1\\u0000\"}", "to must be a string"},
        {JSON_TYPE, "{\"to\":\"1\",\"To\":\"2\"}", "to must be a string"},
        {JSON_TYPE, "{\"to[]\":\"2\"}", "to must be a string"},
        {JSON_TYPE, "{\"recipient-type\":\"group\"}", "recipient_type must be a string"},
        {FORM_TYPE, "to[]=1", "to must be a string"},
        {PARTS_TYPE, "--b\r\nContent-Disposition: form-data; name=to; filename=a\r\n\r\n1\r\n--b--",
         "file"},
        {NULL, "to=1", "JSON object"},
        {"text/plain", "to=1", "JSON object"},
        {FORM_TYPE, "to=%", "form"},
        {JSON_TYPE, "{\"to\":\"US.13491208655302741918\"}", "recipient"},
        {JSON_TYPE, "{\"to\":\" us.ent.13491208655302741918\"}", "recipient"},
        {FORM_TYPE, "to=US.13491208655302741918", "recipient"},
        {JSON_TYPE, "{\"to\":\"abc\"}", "digits 0 to 9"},
        {FORM_TYPE, "to=1555,1556", "digits 0 to 9"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct graph_send send;
        const char *error = NULL;
        CHECK_INTEGER_AS(
            refused[i].body,
            graph_send_read(&arena, refused[i].type, slice_of(refused[i].body), &send, &error), -1);
        CHECK_HOLDS_AS(refused[i].body, error, refused[i].part);
    }
}

/* --- records and callbacks --- */

static const struct {
    const char *type, *body, *record, *sent;
} written[] = {
    {JSON_TYPE, " {\"to\" : \"1\"} ", "{\"to\" : \"1\"}",
     " {\"to\" : \"1\",\"biz_opaque_callback_data\":\"req_1\"} "},
    {JSON_TYPE, "{}", "{}", "{\"biz_opaque_callback_data\":\"req_1\"}"},
    {NULL, "{\"a\":\"\\/\",\"access_token\":\"sb_1\"}", "{\"a\":\"\\/\"}",
     "{\"a\":\"\\/\",\"access_token\":\"sb_1\",\"biz_opaque_callback_data\":\"req_1\"}"},
    {JSON_TYPE, "{\"access_token\":1}", "{}",
     "{\"access_token\":1,\"biz_opaque_callback_data\":\"req_1\"}"},
    {JSON_TYPE, "{\"type\":\"contacts\",\"contacts\":\"[{\\\"a\\\": 1}]\"}",
     "{\"type\":\"contacts\",\"contacts\":[{\"a\": 1}]}",
     "{\"type\":\"contacts\",\"contacts\":\"[{\\\"a\\\": 1}]\","
     "\"biz_opaque_callback_data\":\"req_1\"}"},
    {FORM_TYPE, "to=1&access_token=x", "{\"to\":\"1\"}",
     "to=1&access_token=x&biz_opaque_callback_data=req_1"},
    {PARTS_TYPE, PART("to", "1") "--b--", "{\"to\":\"1\"}", NULL},
};

static void check_written(void) {
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        struct graph_send send = read(written[i].type, written[i].body);
        CHECK_SLICE_AS(written[i].body, graph_send_record(&arena, &send),
                       slice_of(written[i].record));
        CHECK_SLICE_AS(written[i].body,
                       graph_send_add_callback(&arena, written[i].type, &send,
                                               slice_of(written[i].body), "req_1"),
                       slice_of(written[i].sent));
    }
}

int main(void) {
    arena_init(&arena, 8 * 1024 * 1024, NULL);
    check_forms();
    check_recipients();
    check_content();
    check_tokens();
    check_receipts();
    check_refused();
    check_written();
    arena_free(&arena);
    return check_failures();
}
