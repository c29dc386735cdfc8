/* lib/event_signature.h, against values computed with openssl(1):
 *     printf %s "$text" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$key -binary | base64 */
#include "delivery/signature.h"

#include "check.h"

#define HEX_LIST                                                                                   \
    "v1,xBI6FQBT/Q5AwhuF1Mc7JI3qhlG8CLqT/jTOuEmwZd0= "                                             \
    "v1,FdJWL9esk4Ilzk27bQhrOt7Z+hd4Vms8h6q3/BshOMM="
#define WORD_LIST "v1,IXbL5V3FZikVQfYBbKDFshMVpINaB5yeSClyPWtu5as="
#define STANDARD_LIST                                                                              \
    "v1,CrqpDQwMue/goRpDyddhKK+L+RHtmf7zO4XzhvYfl1U= "                                             \
    "v1,Z/jkivYuQapEc+CETDjLa/ymTZQRCdBx0WzhKRfU5wI="
#define UNPADDED_LIST                                                                              \
    "v1,HE3jYqfpY0to0+WHgshqtyQs88+rqBAIuAlcM+tJQ6g= "                                             \
    "v1,IQeikbiC9I/JFUaAfD8RBUv2KfHCRahnE6zO61YrkwQ="
#define HUB "sha256=97f7ed552fdaf78dfb8fbac26e17691e93595099016967e528185ae2da24e365"

static struct arena arena;

static void check_list(const char *what, const struct slice *codes, size_t count,
                       const char *expected) {
    char *list =
        event_signature_list(&arena, "evt_1", 1700000000, SLICE("{\"a\":1}"), codes, count);
    check(strcmp(list, expected) == 0, "%s: %s", what, list);
}

int main(void) {
    arena_init(&arena, 1024 * 1024, NULL);
    struct slice hex = SLICE("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    struct slice word = SLICE("correct horse");
    struct slice standard = SLICE("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3");
    struct slice unpadded = SLICE("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3OA");
    struct slice both[] = {hex, word};
    check_list("64 hex digits give two", &hex, 1, HEX_LIST);
    check_list("any other text gives one", &word, 1, WORD_LIST);
    check_list("a secret with its prefix", &standard, 1, STANDARD_LIST);
    check_list("base64 without padding", &unpadded, 1, UNPADDED_LIST);
    check_list("the code and the one before", both, 2, HEX_LIST " " WORD_LIST);
    char *hub = event_signature_hub(&arena, SLICE("{\"a\":1}"), hex);
    check(strcmp(hub, HUB) == 0, "%s", hub);
    arena_free(&arena);
    return check_failures();
}
