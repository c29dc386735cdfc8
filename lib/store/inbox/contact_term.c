#include "store/inbox/contact_term.h"

#include <ctype.h>
#include <stdio.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "store/inbox/plain_letter.h"

enum { MOST_PARTS = 32 }; /* of one character: the longest decomposition has 18 */

/* Whether words consist of the character: a letter or a number. */
static bool is_of_word(int32_t code) {
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return true;
    default: return false;
    }
}

/* Ends the word: it becomes a term unless it is empty or a term already. */
static void end_word(struct terms *terms, char word[TERM_SIZE], size_t *length) {
    word[*length] = '\0';
    bool is_new = *length > 0 && terms->count < MOST_TERMS;
    for (size_t i = 0; is_new && i < terms->count; i++)
        is_new = strcmp(terms->text[i], word) != 0;
    if (is_new)
        memcpy(terms->text[terms->count++], word, TERM_SIZE);
    *length = 0;
}

/* A word in progress. */
struct word {
    char text[TERM_SIZE];
    size_t length;
    bool is_full; /* the rest of the word is dropped */
};

static void add_code(struct terms *terms, struct word *word, int32_t code) {
    char bytes[4];
    if (code < 0x80 ? !isalnum(code) : !is_of_word(code)) {
        end_word(terms, word->text, &word->length);
        word->is_full = false;
        return;
    }
    size_t n = utf8_put((uint32_t)code, bytes);
    word->is_full = word->is_full || word->length + n >= TERM_SIZE;
    if (word->is_full)
        return;
    memcpy(word->text + word->length, bytes, n);
    word->length += n;
}

/* Adds a part of a decomposed character. */
static void add_part(struct terms *terms, struct word *word, int32_t code) {
    const char *plain = plain_letter(code);
    if (!plain)
        add_code(terms, word, plain_kana(code));
    for (; plain && *plain; plain++)
        add_code(terms, word, *plain);
}

/* Adds the folded form of the first character of the text, and returns its length. An invalid byte
 * counts as a separator. */
static size_t add_character(struct terms *terms, struct word *word, const char *text, size_t n) {
    int32_t code, parts[MOST_PARTS];
    int boundary = 0;
    if ((unsigned char)*text < 0x80) {
        add_code(terms, word, tolower((unsigned char)*text));
        return 1;
    }
    utf8proc_ssize_t length =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)n, &code);
    if (length < 1) {
        add_code(terms, word, ' ');
        return 1;
    }
    utf8proc_ssize_t count =
        utf8proc_decompose_char(code, parts, MOST_PARTS,
                                UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                    UTF8PROC_STRIPMARK | UTF8PROC_IGNORE,
                                &boundary);
    for (utf8proc_ssize_t i = 0; i < count && i < MOST_PARTS; i++)
        add_part(terms, word, parts[i]);
    return (size_t)length;
}

void terms_add(struct terms *terms, const char *text) {
    struct word word = {.length = 0};
    size_t n = text ? strlen(text) : 0;
    for (size_t i = 0; i < n && terms->count < MOST_TERMS;)
        i += add_character(terms, &word, text + i, n - i);
    end_word(terms, word.text, &word.length);
}

bool contact_term_insert(struct store *store, const char *account_id, const char *contact_id,
                         const char *const *texts, size_t count) {
    static struct statement s = {
        .sql = "INSERT INTO contact_term (account_id, term, contact_id) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (account_id, term, contact_id) DO NOTHING"};
    struct terms terms;
    terms.count = 0;
    for (size_t i = 0; i < count; i++)
        terms_add(&terms, texts[i]);
    for (size_t i = 0; i < terms.count; i++)
        if (!sql_run_later(store, &s, TEXT(account_id), TEXT(terms.text[i]), TEXT(contact_id)))
            return false;
    return true;
}

bool contact_term_replace(struct store *store, const char *account_id, const char *contact_id,
                          const char *const *texts, size_t count) {
    static struct statement s = {.sql = "DELETE FROM contact_term WHERE contact_id = ?1"};
    return sql_run_later(store, &s, TEXT(contact_id)) &&
           contact_term_insert(store, account_id, contact_id, texts, count);
}
