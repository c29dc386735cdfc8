#include "control/builtin.h"

#include <errno.h>
#include <stdio.h>

#include "base/buffer.h"
#include "control/fixtures.h"
#include "text/memory.h"

enum { READ_SIZE = 65536 };

static const char *fixtures_path;

/* The built-in state in the form of a fixtures file: each member is a list of bodies for the
 * control call of that name. */
static const char builtin_state[] =
    "{\"accounts\":["
    "{\"token\":\"sandbox-token-1\",\"wabaId\":\"102290129340398\",\"name\":\"Blue Kettle Tea\","
    "\"phones\":[{\"id\":\"106540352242922\",\"displayNumber\":\"15550100001\"}]},"
    "{\"token\":\"sandbox-token-2\",\"wabaId\":\"202290129340398\",\"name\":\"Harbour Cycles\","
    "\"phones\":[{\"id\":\"206540352242922\",\"displayNumber\":\"15550100002\"}]}],"

    "\"media\":["
    "{\"wabaId\":\"102290129340398\",\"id\":\"1100000000000001\",\"mimeType\":\"image/jpeg\","
    "\"size\":49664,\"seed\":11},"
    "{\"wabaId\":\"102290129340398\",\"id\":\"1100000000000002\",\"mimeType\":\"video/mp4\","
    "\"size\":262144,\"seed\":12},"
    "{\"wabaId\":\"102290129340398\",\"id\":\"1100000000000003\",\"mimeType\":\"audio/ogg\","
    "\"size\":20480,\"seed\":13},"
    "{\"wabaId\":\"102290129340398\",\"id\":\"1100000000000004\",\"mimeType\":\"application/pdf\","
    "\"size\":81920,\"seed\":14},"
    "{\"wabaId\":\"102290129340398\",\"id\":\"1100000000000005\",\"mimeType\":\"image/webp\","
    "\"size\":20000,\"seed\":15},"
    "{\"wabaId\":\"202290129340398\",\"id\":\"2200000000000001\",\"mimeType\":\"image/jpeg\","
    "\"size\":30000,\"seed\":21}],"

    "\"templates\":["
    "{\"wabaId\":\"102290129340398\",\"items\":["
    "{\"name\":\"hello_world\",\"parameter_format\":\"POSITIONAL\",\"components\":["
    "{\"type\":\"HEADER\",\"format\":\"TEXT\",\"text\":\"Hello\"},"
    "{\"type\":\"BODY\",\"text\":\"Welcome to Blue Kettle Tea.\"}],"
    "\"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"UTILITY\","
    "\"id\":\"310000000000001\"},"
    "{\"name\":\"hello_world\",\"parameter_format\":\"POSITIONAL\",\"components\":["
    "{\"type\":\"BODY\",\"text\":\"Willkommen bei Blue Kettle Tea \\u2615.\"}],"
    "\"language\":\"de\",\"status\":\"APPROVED\",\"category\":\"UTILITY\","
    "\"id\":\"310000000000002\"},"
    "{\"name\":\"order_shipped\",\"parameter_format\":\"POSITIONAL\",\"components\":["
    "{\"type\":\"BODY\",\"text\":\"Hi {{1}}, order {{2}} is on its way.\","
    "\"example\":{\"body_text\":[[\"Ada\",\"A-17\"]]}},"
    "{\"type\":\"BUTTONS\",\"buttons\":[{\"type\":\"URL\",\"text\":\"Track\","
    "\"url\":\"https:\\/\\/tea.example\\/track\\/{{1}}\","
    "\"example\":[\"https:\\/\\/tea.example\\/track\\/A-17\"]},"
    "{\"type\":\"QUICK_REPLY\",\"text\":\"Thanks\"}]}],"
    "\"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"UTILITY\","
    "\"id\":\"310000000000003\"},"
    "{\"name\":\"table_reserved\",\"parameter_format\":\"NAMED\",\"components\":["
    "{\"type\":\"HEADER\",\"format\":\"IMAGE\","
    "\"example\":{\"header_handle\":[\"https:\\/\\/tea.example\\/room.jpg\"]}},"
    "{\"type\":\"BODY\",\"text\":\"A table for {{guests}} on {{day}} is yours.\","
    "\"example\":{\"body_text_named_params\":[{\"param_name\":\"guests\",\"example\":\"4\"},"
    "{\"param_name\":\"day\",\"example\":\"Friday\"}]}}],"
    "\"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"UTILITY\","
    "\"id\":\"310000000000004\"},"
    "{\"name\":\"login_code\",\"components\":["
    "{\"type\":\"BODY\",\"text\":\"*{{1}}* is your verification code.\","
    "\"add_security_recommendation\":true},"
    "{\"type\":\"BUTTONS\",\"buttons\":[{\"type\":\"URL\",\"text\":\"Copy code\","
    "\"url\":\"https:\\/\\/www.whatsapp.com\\/otp\\/code\\/?code={{1}}\"}]}],"
    "\"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"AUTHENTICATION\","
    "\"message_send_ttl_seconds\":600,\"id\":\"310000000000005\"},"
    "{\"name\":\"spring_sale\",\"parameter_format\":\"POSITIONAL\",\"components\":["
    "{\"type\":\"BODY\",\"text\":\"{{1}} off all green teas with code {{2}}.\","
    "\"example\":{\"body_text\":[[\"20%\",\"SPRING20\"]]}},"
    "{\"type\":\"BUTTONS\",\"buttons\":[{\"type\":\"COPY_CODE\",\"example\":\"SPRING20\"}]}],"
    "\"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"MARKETING\","
    "\"id\":\"310000000000006\"},"
    "{\"name\":\"survey_paused\",\"parameter_format\":\"POSITIONAL\",\"components\":["
    "{\"type\":\"BODY\",\"text\":\"How was your tea?\"}],"
    "\"language\":\"en_US\",\"status\":\"PAUSED\",\"category\":\"MARKETING\","
    "\"id\":\"310000000000007\"}]},"
    "{\"wabaId\":\"202290129340398\",\"items\":["
    "{\"name\":\"bike_ready\",\"parameter_format\":\"POSITIONAL\",\"components\":["
    "{\"type\":\"BODY\",\"text\":\"Your bicycle {{1}} is ready.\","
    "\"example\":{\"body_text\":[[\"No. 12\"]]}}],"
    "\"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"UTILITY\","
    "\"id\":\"320000000000001\"}]}],"

    "\"flows\":["
    "{\"wabaId\":\"102290129340398\",\"items\":["
    "{\"id\":\"410000000000001\",\"name\":\"Tasting booking\",\"status\":\"PUBLISHED\","
    "\"categories\":[\"APPOINTMENT_BOOKING\"],\"validation_errors\":[],\"json_version\":\"6.0\"},"
    "{\"id\":\"410000000000002\",\"name\":\"Newsletter\",\"status\":\"DRAFT\","
    "\"categories\":[\"SIGN_UP\",\"OTHER\"],\"validation_errors\":["
    "{\"error\":\"INVALID_PROPERTY\",\"error_type\":\"JSON_SCHEMA_ERROR\","
    "\"message\":\"A property is not allowed here.\",\"line_start\":4,\"line_end\":4,"
    "\"column_start\":9,\"column_end\":20}]}]},"
    "{\"wabaId\":\"202290129340398\",\"items\":["
    "{\"id\":\"420000000000001\",\"name\":\"Repair request\",\"status\":\"PUBLISHED\","
    "\"categories\":[\"CUSTOMER_SUPPORT\"],\"validation_errors\":[]}]}]}";

void builtin_fixtures(const char *path) {
    fixtures_path = path;
}

static bool load(struct arena *arena, const char *name, struct slice text) {
    const char *problem = fixtures_load(arena, text);
    if (problem)
        fprintf(stderr, "graph-sandbox: %s: %s\n", name, problem);
    return !problem;
}

/* Appends the content of the file. Returns false after a message on stderr. */
static bool read_file(const char *path, struct buffer *text) {
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "graph-sandbox: %s: %s\n", path, strerror(errno));
        return false;
    }
    size_t got;
    while ((got = fread(buffer_reserve(text, READ_SIZE), 1, READ_SIZE, file)) > 0)
        text->n += got;
    bool good = ferror(file) == 0;
    if (!good)
        fprintf(stderr, "graph-sandbox: %s: cannot be read\n", path);
    fclose(file);
    return good;
}

static bool load_file(struct arena *arena, const char *path) {
    struct buffer text = buffer_in(arena);
    return read_file(path, &text) && load(arena, path, buffer_slice(&text));
}

bool builtin_load(void) {
    struct arena *arena = memory_open();
    bool good = load(arena, "built-in state", SLICE(builtin_state)) &&
                (!fixtures_path || load_file(arena, fixtures_path));
    memory_close(arena);
    return good;
}

void builtin_help(void) {
    printf("\nBuilt-in state:\n"
           "  token            account          phone number id  number\n"
           "  sandbox-token-1  102290129340398  106540352242922  +15550100001\n"
           "  sandbox-token-2  202290129340398  206540352242922  +15550100002\n"
           "  media of the first: 1100000000000001 (image) ..2 (video) ..3 (audio) ..4 (pdf) ..5 "
           "(webp);\n"
           "  of the second: 2200000000000001 (image)\n"
           "  templates: hello_world (en_US, de), order_shipped (2 + URL button), table_reserved\n"
           "  (named, image header), login_code (authentication), spring_sale (copy code),\n"
           "  survey_paused; of the second: bike_ready\n"
           "  flows: 410000000000001, 410000000000002; of the second: 420000000000001\n"
           "  app: 730000000000001; the code of request_code: 123456\n"
           "\nA fixtures file is an object {accounts, tokens, numbers, media, templates, flows, "
           "settings},\n"
           "each a list of bodies for the control call of that name.\n");
}
