#include "store/inbox/contact_term.h"

#include <ctype.h>
#include <stdio.h>
#include <utf8proc.h>

#include "base/fold.h"
#include "base/utf8.h"

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

void terms_add(struct terms *terms, const char *text) {
    struct word word = {.length = 0};
    int32_t codes[FOLD_MOST];
    size_t count;
    size_t n = text ? strlen(text) : 0;
    for (size_t i = 0; i < n && terms->count < MOST_TERMS;) {
        i += fold_character(text + i, n - i, codes, &count);
        for (size_t k = 0; k < count; k++)
            add_code(terms, &word, codes[k]);
    }
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
