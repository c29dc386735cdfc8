/* Generates webhooks of the platform, each with one new text message, and their signatures.
 *
 *     webhooks COUNT NAME SECRET WABA_ID PHONE_NUMBER_ID [PEOPLE | status]
 *
 * Prints a line for each: the value of X-Hub-Signature-256, a tab, the body. The same NAME gives
 * the same message ids. The messages are from PEOPLE people in turn (default 1,000). With `status`
 * each webhook has a status instead, read or played, of the messages of tests/helpers/fill.bash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/crypto.h"

enum { PEOPLE = 1000, FIRST_FILLED = 3 };

#define ENTRY                                                                                      \
    "{\"object\":\"whatsapp_business_account\",\"entry\":[{\"id\":\"%s\",\"changes\":[{"           \
    "\"field\":\"messages\",\"value\":{\"messaging_product\":\"whatsapp\",\"metadata\":{"          \
    "\"display_phone_number\":\"15550100001\",\"phone_number_id\":\"%s\"},"

static const char *make_status(struct arena *arena, long i, char **argv, long long now) {
    long message = FIRST_FILLED + i / 2;
    return arena_printf(arena,
                        ENTRY "\"statuses\":[{\"id\":\"wamid.fill%09ld\",\"status\":\"%s\","
                              "\"timestamp\":\"%lld\",\"recipient_id\":\"1777%09ld\"}]}}]}]}",
                        argv[4], argv[5], message, i % 2 ? "played" : "read", now, message / 3);
}

static const char *make_message(struct arena *arena, long i, char **argv, long people,
                                long long now) {
    long long person = 15552000000 + i % people;
    return arena_printf(
        arena,
        ENTRY "\"contacts\":[{\"profile\":{\"name\":\"Person %ld\"},\"wa_id\":\"%lld\"}],"
              "\"messages\":[{\"from\":\"%lld\",\"id\":\"wamid.%s%ld\",\"timestamp\":\"%lld\","
              "\"type\":\"text\",\"text\":{\"body\":\"Is the blue one still there?\"}}]}}]}]}",
        argv[4], argv[5], i % people, person, person, argv[2], i, now);
}

int main(int argc, char **argv) {
    struct arena arena;
    long count = argc == 6 || argc == 7 ? strtol(argv[1], NULL, 10) : 0;
    bool has_status = argc == 7 && strcmp(argv[6], "status") == 0;
    long people = argc == 7 && !has_status ? strtol(argv[6], NULL, 10) : PEOPLE;
    if (count < 1 || people < 1) {
        fputs("usage: webhooks COUNT NAME SECRET WABA_ID PHONE_NUMBER_ID [PEOPLE | status]\n",
              stderr);
        return 2;
    }
    arena_init(&arena, 1024 * 1024, NULL);
    for (long i = 0; i < count; i++) {
        unsigned char mac[CRYPTO_HASH_SIZE];
        long long now = (long long)time(NULL);
        struct slice body = slice_of(has_status ? make_status(&arena, i, argv, now)
                                                : make_message(&arena, i, argv, people, now));
        crypto_hmac_sha256(slice_of(argv[3]), body, mac);
        printf("sha256=%s\t%s\n", crypto_hex(&arena, mac, sizeof mac), body.p);
        arena_reset(&arena);
    }
    arena_free(&arena);
    return 0;
}
