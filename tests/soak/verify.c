/* verify: checks the signatures of deliveries.
 *
 *     verify DIR
 *
 * Reads the codes of each user from DIR/code.tsv (user, code) and the deliveries from
 * DIR/delivery.tsv. Prints a line for each delivery with a header that is not a signature by one of
 * its user's codes, and at the end `verified N` on standard error. The user is the first segment of
 * the path of a delivery.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "history.h"

enum { FIELDS = 8, CODES_MAX = 65536 };

static struct code { char user[8], text[256]; } * codes;
static size_t code_count;

static FILE *open_table(const char *dir, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.tsv", dir, name);
    FILE *file = fopen(path, "r");
    if (!file)
        give_up(path);
    return file;
}

static void read_codes(const char *dir) {
    FILE *file = open_table(dir, "code");
    codes = calloc(CODES_MAX, sizeof *codes);
    while (codes && code_count < CODES_MAX &&
           fscanf(file, "%7s %255s", codes[code_count].user, codes[code_count].text) == 2)
        code_count++;
    fclose(file);
}

struct delivery {
    const char *path, *id, *time, *list, *hub;
    struct slice body;
};

static struct slice unhex(struct arena *arena, const char *hex) {
    size_t n = strlen(hex) / 2;
    char *bytes = arena_alloc(arena, n + 1);
    for (size_t i = 0; i < n; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        bytes[i] = (char)byte;
    }
    return (struct slice){bytes, n};
}

/* Whether the list of signatures (Standard Webhooks) has one by the key. */
static bool is_in_list(struct arena *arena, const struct delivery *d, struct slice key) {
    unsigned char mac[CRYPTO_HASH_SIZE];
    const char *head = arena_printf(arena, "%s.%s.", d->id, d->time);
    const struct slice pieces[] = {slice_of(head), d->body};
    crypto_hmac_sha256_pieces(key, pieces, 2, mac);
    return strstr(d->list, arena_printf(arena, "v1,%s", crypto_base64(arena, mac, sizeof mac)));
}

static bool is_hub(struct arena *arena, const struct delivery *d, struct slice key) {
    unsigned char mac[CRYPTO_HASH_SIZE];
    crypto_hmac_sha256(key, d->body, mac);
    return strcmp(d->hub, arena_printf(arena, "sha256=%s", crypto_hex(arena, mac, sizeof mac))) ==
           0;
}

/* A forwarded POST has the platform's signature alone. */
static bool is_forward(const struct delivery *d) {
    return strcmp(d->path, "/A/forward") == 0 && !*d->list;
}

/* Tries the latest codes first, since most deliveries are signed by one of them. */
static bool is_signed(struct arena *arena, const struct delivery *d) {
    for (size_t i = code_count; i--;) {
        struct slice key = slice_of(codes[i].text);
        size_t n = strlen(codes[i].user);
        if (strncmp(d->path + 1, codes[i].user, n) == 0 && d->path[1 + n] == '/' &&
            is_hub(arena, d, key) && (is_forward(d) || is_in_list(arena, d, key)))
            return true;
    }
    return false;
}

static bool split(char *line, char *fields[FIELDS]) {
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
        else if (i < FIELDS - 1)
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    struct arena arena;
    char *line = NULL, *fields[FIELDS];
    size_t room = 0, count = 0;
    if (argc != 2) {
        fputs("usage: verify DIR\n", stderr);
        return 2;
    }
    read_codes(argv[1]);
    arena_init(&arena, 256 * 1024 * 1024, NULL);
    FILE *file = open_table(argv[1], "delivery");
    while (getline(&line, &room, file) > 0) {
        arena_reset(&arena);
        if (!split(line, fields)) {
            printf("a delivery that cannot be read\n");
            continue;
        }
        struct delivery d = {fields[1], fields[2], fields[3],
                             fields[4], fields[5], unhex(&arena, fields[7])};
        count++;
        if (!is_signed(&arena, &d))
            printf("%s to %s\n", d.id, d.path);
    }
    fclose(file);
    free(line);
    free(codes);
    arena_free(&arena);
    fprintf(stderr, "verified %zu\n", count);
    return 0;
}
