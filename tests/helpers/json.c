/* json: the most common checks of an answer. It takes less time than jq needs to start.
 *
 *     json FILE success               {"success": true, "data": anything}, and nothing else
 *     json FILE error CODE PART       the error envelope with this code; its message contains PART
 *     json FILE issue PATH PART       `details` has an issue at PATH whose message contains PART
 *     json FILE is PATH VALUE         the value at PATH is VALUE: JSON, or else a string
 *     json FILE text PATH VALUE       the value at PATH is the string VALUE
 *
 * PATH is a jq path of names and numbers only: .data.items[0].id; of members with equal names the
 * last counts, as with jq. Exit status: 0 when the condition holds. 1 means nothing, since this
 * program may not support the check or the text: the tests then run jq.
 */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Returns the content of a file as a string, to be freed by the caller; NULL when the file cannot
 * be read or contains a NUL. */
static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, size = 0;
    if (!file)
        return NULL;
    do {
        size += 65536;
        char *larger = realloc(text, size + 1);
        if (!larger)
            break;
        text = larger;
        n += fread(text + n, 1, size - n, file);
    } while (n == size);
    fclose(file);
    if (text)
        text[n] = '\0';
    if (text && strlen(text) == n)
        return text;
    free(text);
    return NULL;
}

/* Returns whether the text has no control characters but line breaks at its end. cJSON accepts
 * control characters in strings, which jq refuses. */
static int is_plain(const char *text) {
    while ((unsigned char)*text >= ' ')
        text++;
    return strspn(text, "\r\n") == strlen(text);
}

/* Parses a text that is one JSON value; the caller deletes the result. Returns NULL for any other
 * text, and for an escaped NUL, at which cJSON would end the string. */
static cJSON *parse(const char *text) {
    const char *end = NULL;
    cJSON *value = NULL;
    if (is_plain(text) && !strstr(text, "\\u0000"))
        value = cJSON_ParseWithOpts(text, &end, 0);
    while (value && isspace((unsigned char)*end))
        end++;
    if (!value || *end == '\0')
        return value;
    cJSON_Delete(value);
    return NULL;
}

/* Returns the last member with the `n` bytes of `name` as its name, or NULL. */
static const cJSON *member(const cJSON *object, const char *name, size_t n) {
    const cJSON *found = NULL, *each;
    cJSON_ArrayForEach(each, object) {
        if (strlen(each->string) == n && memcmp(each->string, name, n) == 0)
            found = each;
    }
    return found;
}

static const cJSON *get(const cJSON *object, const char *name) {
    return cJSON_IsObject(object) ? member(object, name, strlen(name)) : NULL;
}

/* Returns the value at a path; NULL when there is none or the path is not supported. */
static const cJSON *at(const cJSON *value, const char *path) {
    if (strcmp(path, ".") == 0)
        return value;
    if (*path != '.')
        return NULL;
    while (*path && value) {
        if (*path == '.' && path[1] == '[')
            path++;
        if (*path == '.') {
            size_t n =
                strspn(path + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
            if (n == 0 || isdigit((unsigned char)path[1]) || !cJSON_IsObject(value))
                return NULL;
            value = member(value, path + 1, n);
            path += 1 + n;
        } else {
            size_t n = *path == '[' ? strspn(path + 1, "0123456789") : 0;
            if (n == 0 || n > 6 || path[1 + n] != ']' || !cJSON_IsArray(value))
                return NULL;
            value = cJSON_GetArrayItem(value, (int)strtol(path + 1, NULL, 10));
            path += n + 2;
        }
    }
    return value;
}

/* Returns whether the values are equal, with members in the same order. */
static int same(const cJSON *a, const cJSON *b) {
    if ((a->type & 0xff) != (b->type & 0xff))
        return 0;
    if (cJSON_IsString(a))
        return strcmp(a->valuestring, b->valuestring) == 0;
    if (cJSON_IsNumber(a))
        return !(a->valuedouble < b->valuedouble || a->valuedouble > b->valuedouble);
    for (a = a->child, b = b->child; a && b; a = a->next, b = b->next)
        if ((a->string && strcmp(a->string, b->string) != 0) || !same(a, b))
            return 0;
    return !a && !b;
}

static int holds(const cJSON *value, const char *part) {
    return cJSON_IsString(value) && *value->valuestring && strstr(value->valuestring, part);
}

static int is_text(const cJSON *value, const char *text) {
    return cJSON_IsString(value) && strcmp(value->valuestring, text) == 0;
}

static int is_success(const cJSON *body) {
    return cJSON_IsTrue(get(body, "success")) && get(body, "data") && cJSON_GetArraySize(body) == 2;
}

static int is_error(const cJSON *body, const char *code, const char *part) {
    int known = 3 + (get(body, "details") != NULL);
    return cJSON_IsFalse(get(body, "success")) && is_text(get(body, "error"), code) &&
           holds(get(body, "message"), part) && cJSON_GetArraySize(body) == known;
}

static int has_issue(const cJSON *body, const char *path, const char *part) {
    const cJSON *details = get(body, "details"), *each;
    if (!cJSON_IsArray(details))
        return 0;
    cJSON_ArrayForEach(each, details) {
        if (is_text(get(each, "path"), path) && holds(get(each, "message"), part) &&
            holds(get(each, "code"), ""))
            return 1;
    }
    return 0;
}

static int is_value(const cJSON *body, const char *path, const char *expected) {
    const cJSON *found = at(body, path);
    cJSON *value = parse(expected);
    int is = found && value && same(found, value);
    /* jq parses nan as a number */
    if (found && !value && isalpha((unsigned char)*expected) &&
        strncasecmp(expected, "nan", 3) != 0)
        is = is_text(found, expected);
    cJSON_Delete(value);
    return is;
}

static int answer(const cJSON *body, int n, char **question) {
    if (n == 1 && strcmp(question[0], "success") == 0)
        return is_success(body);
    if (n != 3)
        return 0;
    if (strcmp(question[0], "error") == 0)
        return is_error(body, question[1], question[2]);
    if (strcmp(question[0], "issue") == 0)
        return has_issue(body, question[1], question[2]);
    if (strcmp(question[0], "is") == 0)
        return is_value(body, question[1], question[2]);
    return strcmp(question[0], "text") == 0 && is_text(at(body, question[1]), question[2]);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: json FILE QUESTION...\n", stderr);
        return 2;
    }
    char *text = read_text(argv[1]);
    cJSON *body = text ? parse(text) : NULL;
    int is = body && answer(body, argc - 2, argv + 2);
    cJSON_Delete(body);
    free(text);
    return is ? 0 : 1;
}
