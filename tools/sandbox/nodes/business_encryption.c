#include "nodes/edges.h"

#include "state/node_state.h"
#include "text/json_print.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

enum { KEY_BITS = 2048, DER_INTEGER = 2, DER_BITS = 3, DER_SEQUENCE = 0x30 };

/* The kind keeps {business_public_key, ended}: how many registrations had ended then. */
static const char kind[] = "encryption";

/* The algorithm rsaEncryption with no parameters, in DER. */
static const unsigned char rsa[] = {0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7,
                                    0x0D, 0x01, 0x01, 0x01, 0x05, 0x00};

/* Takes a DER value with that tag off the front of `rest`. Returns its content, or p NULL. */
static struct slice der_take(struct slice *rest, unsigned char tag) {
    static const struct slice none = {NULL, 0};
    const unsigned char *at = slice_octets(*rest);
    size_t head = 2;
    if (rest->n < head || at[0] != tag)
        return none;
    size_t length = at[1];
    if (length >= 0x80) {
        head += length & 0x7F;
        length = 0;
        if (head > 4 || rest->n < head)
            return none;
        for (size_t i = 2; i < head; i++)
            length = length << 8 | at[i];
    }
    if (length > rest->n - head)
        return none;
    const struct slice content = {rest->p + head, length};
    *rest = slice_skip(*rest, head + length);
    return content;
}

/* Whether the bytes are a SubjectPublicKeyInfo with an RSA key of KEY_BITS (RFC 8017 A.1.1). */
static bool is_rsa_key(struct slice der) {
    struct slice outer = der_take(&der, DER_SEQUENCE);
    const struct slice algorithm = der_take(&outer, DER_SEQUENCE);
    struct slice bits = der_take(&outer, DER_BITS);
    if (der.n > 0 || outer.n > 0 || bits.n == 0 || *bits.p != 0 ||
        !slice_equal(algorithm, (struct slice){(const char *)rsa, sizeof rsa}))
        return false;
    bits = slice_skip(bits, 1); /* the number of unused bits */
    struct slice key = der_take(&bits, DER_SEQUENCE);
    const struct slice modulus = der_take(&key, DER_INTEGER);
    const struct slice exponent = der_take(&key, DER_INTEGER);
    return bits.n == 0 && key.n == 0 && exponent.n > 0 && modulus.n == KEY_BITS / 8 + 1 &&
           slice_octets(modulus)[0] == 0 && slice_octets(modulus)[1] >= 0x80;
}

/* Whether the text is such a key in PEM (RFC 7468). */
static bool is_pem_key(struct arena *arena, const char *text) {
    static const struct slice begin = SLICE("-----BEGIN PUBLIC KEY-----");
    static const struct slice end = SLICE("-----END PUBLIC KEY-----");
    static const char blanks[] = " \r\n\t";
    struct slice rest = slice_of(text);
    struct buffer base64 = buffer_in(arena);
    while (rest.n > 0 && strchr(blanks, rest.p[rest.n - 1]))
        rest.n--;
    if (!slice_starts(rest, begin) || rest.n < begin.n + end.n ||
        !slice_equal(slice_skip(rest, rest.n - end.n), end))
        return false;
    rest = (struct slice){rest.p + begin.n, rest.n - begin.n - end.n};
    for (size_t i = 0; i < rest.n; i++)
        if (!strchr(blanks, rest.p[i]))
            buffer_add_char(&base64, rest.p[i]);
    struct slice der = crypto_unbase64(arena, buffer_slice(&base64));
    return der.p && is_rsa_key(der);
}

void encryption_show(struct exchange *exchange, const struct target *target) {
    static const struct node_shape shape = {
        .type = "WhatsAppBusinessEncryptionInfo",
        .known = "business_public_key,business_public_key_signature_status",
        .without_id = true,
    };
    struct buffer whole = buffer_in(exchange->arena);
    cJSON *kept = node_state_read(kind, target->id, "{}");
    const char *key = json_text(kept, "business_public_key");
    bool has_key = key != NULL;
    if (has_key) {
        bool is_signed = json_get(kept, "ended")->valueint == registration_ended(target->id);
        buffer_add_text(&whole, "{\"business_public_key\":");
        json_quote_text(&whole, key);
        buffer_printf(&whole, ",\"business_public_key_signature_status\":\"%s\"}",
                      is_signed ? "VALID" : "MISMATCH");
    }
    cJSON_Delete(kept);
    buffer_add_text(&exchange->reply.body, "{\"data\":[");
    if (!has_key || fields_print(exchange, buffer_slice(&whole), &shape, fields_chosen(exchange)))
        buffer_add_text(&exchange->reply.body, "]}");
}

void encryption_change(struct exchange *exchange, const struct target *target) {
    const char *key = parameter_needed(exchange, "business_public_key");
    if (!key || !registration_check(exchange, target->id))
        return;
    if (!cJSON_IsString(parameter(exchange, "business_public_key")) ||
        !is_pem_key(exchange->arena, key)) {
        reply_error_as(exchange, 100, 0, NULL,
                       "business_public_key must be a 2048-bit RSA public key in PEM format.");
        return;
    }
    cJSON *kept = cJSON_CreateObject();
    cJSON_AddStringToObject(kept, "business_public_key", key);
    cJSON_AddNumberToObject(kept, "ended", registration_ended(target->id));
    if (node_state_write(kind, target->id, kept))
        reply_success(exchange);
    cJSON_Delete(kept);
}
