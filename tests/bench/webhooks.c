/* Makes webhooks of the platform, each with one new text message, and their signatures.
 *
 *     webhooks COUNT NAME SECRET WABA_ID PHONE_NUMBER_ID
 *
 * Prints a line for each: the value of X-Hub-Signature-256, a tab, the body. Messages of the same
 * NAME have the same ids; they come from 1,000 people in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/crypto.h"

enum { PEOPLE = 1000 };

static struct slice make_body(struct arena *arena, long i, char **argv, long long now) {
    long long person = 15552000000 + i % PEOPLE;
    const char *body = arena_printf(
        arena,
        "{\"object\":\"whatsapp_business_account\",\"entry\":[{\"id\":\"%s\",\"changes\":[{"
        "\"field\":\"messages\",\"value\":{\"messaging_product\":\"whatsapp\",\"metadata\":{"
        "\"display_phone_number\":\"15550100001\",\"phone_number_id\":\"%s\"},"
        "\"contacts\":[{\"profile\":{\"name\":\"Person %ld\"},\"wa_id\":\"%lld\"}],"
        "\"messages\":[{\"from\":\"%lld\",\"id\":\"wamid.%s%ld\",\"timestamp\":\"%lld\","
        "\"type\":\"text\",\"text\":{\"body\":\"Is the blue one still there?\"}}]}}]}]}",
        argv[4], argv[5], i % PEOPLE, person, person, argv[2], i, now);
    return slice_of(body);
}

int main(int argc, char **argv) {
    struct arena arena;
    long count = argc == 6 ? strtol(argv[1], NULL, 10) : 0;
    if (count < 1) {
        fputs("usage: webhooks COUNT NAME SECRET WABA_ID PHONE_NUMBER_ID\n", stderr);
        return 2;
    }
    arena_init(&arena, 1024 * 1024, NULL);
    for (long i = 0; i < count; i++) {
        unsigned char mac[CRYPTO_HASH_SIZE];
        struct slice body = make_body(&arena, i, argv, (long long)time(NULL));
        crypto_hmac_sha256(slice_of(argv[3]), body, mac);
        printf("sha256=%s\t%s\n", crypto_hex(&arena, mac, sizeof mac), body.p);
        arena_reset(&arena);
    }
    arena_free(&arena);
    return 0;
}
