/* The strict JSON reader: checks and indexes the text in one pass. */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/utf8.h"

/* One value or member name. Nodes are in the order of the text; an object's members are name,
 * value, name, value. */
struct node {
    uint32_t start, length; /* its bytes */
    uint32_t skip;          /* the index of the first node after it and its content */
    uint8_t type;           /* enum json_type */
    bool is_name;
    bool is_member; /* a value; the node before it is its name */
    bool escaped;   /* a string with a backslash in it */
};

struct json_text {
    struct slice bytes;
    struct node *nodes;
    uint32_t count;
};

struct reader {
    struct arena *arena;
    const char *start, *p, *end;
    struct json_text *text;
    uint32_t room; /* nodes allocated */
    uint32_t open[JSON_MAX_DEPTH];
    int depth;
    const char *reason; /* of the failure; NULL: none */
    bool is_limit;
};

static int refuse(struct reader *r, const char *reason) {
    if (!r->reason)
        r->reason = reason;
    return -1;
}

static int refuse_amount(struct reader *r, const char *reason) {
    r->is_limit = true;
    return refuse(r, reason);
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct reader *r) {
    while (r->p < r->end && is_space(*r->p))
        r->p++;
}

static bool at_char(const struct reader *r, char c) {
    return r->p < r->end && *r->p == c;
}

/* Adds a node that starts at r->p. Returns NULL when there are too many. */
static struct node *add_node(struct reader *r, enum json_type type) {
    struct json_text *text = r->text;
    if (text->count >= JSON_MAX_VALUES) {
        refuse_amount(r, "there are more than 1000000 values");
        return NULL;
    }
    if (text->count == r->room) {
        uint32_t room = r->room ? r->room * 2 : 64;
        text->nodes = arena_grow(r->arena, text->nodes, r->room * sizeof(struct node),
                                 room * sizeof(struct node));
        r->room = room;
    }
    struct node *node = &text->nodes[text->count++];
    *node = (struct node){.start = (uint32_t)(r->p - r->start), .type = (uint8_t)type};
    return node;
}

static void end_node(struct reader *r, struct node *node) {
    node->length = (uint32_t)(r->p - r->start) - node->start;
    node->skip = r->text->count;
}

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int read_escape(struct reader *r) {
    r->p++;
    if (r->p == r->end)
        return refuse(r, "the text ends inside a string");
    char c = *r->p++;
    if (c == 'u') {
        for (int i = 0; i < 4; i++, r->p++)
            if (r->p == r->end || !is_hex(*r->p))
                return refuse(r, "\\u must be followed by four hexadecimal digits");
        return 0;
    }
    if (!c || !strchr("\"\\/bfnrt", c)) {
        r->p--;
        return refuse(r, "this escape does not exist in JSON");
    }
    return 0;
}

static int read_string(struct reader *r, struct node *node) {
    r->p++;
    while (r->p < r->end && *r->p != '"') {
        unsigned char c = (unsigned char)*r->p;
        if (c == '\\') {
            node->escaped = true;
            if (read_escape(r))
                return -1;
        } else if (c < 0x20) {
            return refuse(r, "control characters in a string must be escaped");
        } else if (c < 0x80) {
            r->p++;
        } else {
            size_t length = utf8_length(r->p, (size_t)(r->end - r->p));
            if (!length)
                return refuse(r, "this is not valid UTF-8");
            r->p += length;
        }
    }
    if (r->p == r->end)
        return refuse(r, "the text ends inside a string");
    r->p++;
    return 0;
}

static bool skip_digits(struct reader *r) {
    const char *from = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return r->p > from;
}

static int read_number(struct reader *r) {
    if (at_char(r, '-'))
        r->p++;
    if (at_char(r, '0'))
        r->p++;
    else if (!skip_digits(r))
        return refuse(r, "a digit was expected");
    if (at_char(r, '.')) {
        r->p++;
        if (!skip_digits(r))
            return refuse(r, "a digit was expected after the decimal point");
    }
    if (at_char(r, 'e') || at_char(r, 'E')) {
        r->p++;
        if (at_char(r, '+') || at_char(r, '-'))
            r->p++;
        if (!skip_digits(r))
            return refuse(r, "a digit was expected in the exponent");
    }
    return 0;
}

static int read_word(struct reader *r, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
        return refuse(r, "a value was expected");
    r->p += n;
    return 0;
}

static int open_container(struct reader *r) {
    if (r->depth == JSON_MAX_DEPTH)
        return refuse_amount(r, "it is nested deeper than 128 levels");
    r->open[r->depth++] = r->text->count - 1;
    r->p++;
    return 0;
}

/* Reads the value at r->p; of a container only the opening bracket. */
static int read_value(struct reader *r, bool is_member) {
    static const char *const words[] = {
        [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"};
    if (r->p == r->end)
        return refuse(r, "the text ends where a value was expected");
    enum json_type type;
    switch (*r->p) {
    case '{': type = JSON_OBJECT; break;
    case '[': type = JSON_ARRAY; break;
    case '"': type = JSON_STRING; break;
    case 'n': type = JSON_NULL; break;
    case 'f': type = JSON_FALSE; break;
    case 't': type = JSON_TRUE; break;
    /* clang-format off */
    case '-': case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9': type = JSON_NUMBER; break;
    /* clang-format on */
    default: return refuse(r, "a value was expected");
    }
    struct node *node = add_node(r, type);
    if (!node)
        return -1;
    node->is_member = is_member;
    if (type == JSON_OBJECT || type == JSON_ARRAY)
        return open_container(r);
    if (type == JSON_STRING   ? read_string(r, node)
        : type == JSON_NUMBER ? read_number(r)
                              : read_word(r, words[type]))
        return -1;
    end_node(r, node);
    return 0;
}

static int read_name(struct reader *r) {
    if (!at_char(r, '"'))
        return refuse(r, r->p == r->end ? "the text ends inside an object"
                                        : "a member name in double quotes was expected");
    struct node *name = add_node(r, JSON_STRING);
    if (!name || read_string(r, name))
        return -1;
    name->is_name = true;
    end_node(r, name);
    skip_space(r);
    if (!at_char(r, ':'))
        return refuse(r, "a colon was expected after the member name");
    r->p++;
    skip_space(r);
    return 0;
}

static struct node *innermost(struct reader *r) {
    return &r->text->nodes[r->open[r->depth - 1]];
}

/* Called after a value: closes each container that ends here. Returns 1 when another item or member
 * follows, 0 when the outermost value is complete, -1 on failure. */
static int close_containers(struct reader *r) {
    while (r->depth) {
        struct node *container = innermost(r);
        bool is_object = container->type == JSON_OBJECT;
        skip_space(r);
        if (at_char(r, ',')) {
            r->p++;
            skip_space(r);
            return 1;
        }
        if (!at_char(r, is_object ? '}' : ']'))
            return refuse(r, r->p == r->end ? (is_object ? "the text ends inside an object"
                                                         : "the text ends inside an array")
                             : is_object    ? "a comma or } was expected"
                                            : "a comma or ] was expected");
        r->p++;
        end_node(r, container);
        r->depth--;
    }
    return 0;
}

/* Called after an opening bracket: whether the container is empty. Does not close it. */
static bool is_empty(struct reader *r, uint32_t opened_at) {
    if (!r->depth || r->open[r->depth - 1] != opened_at)
        return false;
    skip_space(r);
    return at_char(r, innermost(r)->type == JSON_OBJECT ? '}' : ']');
}

static int read_all(struct reader *r) {
    skip_space(r);
    for (int more = 1; more;) {
        bool in_object = r->depth && innermost(r)->type == JSON_OBJECT;
        if (in_object && read_name(r))
            return -1;
        uint32_t at = r->text->count;
        if (read_value(r, in_object))
            return -1;
        bool opened = r->depth && r->open[r->depth - 1] == at;
        if (opened && !is_empty(r, at)) {
            skip_space(r);
            continue;
        }
        if ((more = close_containers(r)) < 0)
            return -1;
    }
    skip_space(r);
    return r->p == r->end ? 0 : refuse(r, "nothing may follow the JSON value");
}

static void locate(const struct reader *r, struct json_error *error) {
    *error = (struct json_error){r->reason, (size_t)(r->p - r->start), 1, 1, r->is_limit};
    for (const char *p = r->start; p < r->p; p++) {
        error->column++;
        if (*p == '\n')
            error->line++, error->column = 1;
    }
}

int json_read(struct arena *arena, struct slice bytes, struct json *value,
              struct json_error *error) {
    if (!bytes.p)
        bytes = slice_of(""); /* C11 6.5.6: nothing may be added to a null pointer, not even 0 */
    struct reader r = {.arena = arena,
                       .start = bytes.p,
                       .p = bytes.p,
                       .end = bytes.p + bytes.n,
                       .text = arena_alloc(arena, sizeof(struct json_text))};
    r.text->bytes = bytes;
    *value = (struct json){0};
    if (bytes.n > UINT32_MAX / 2 ? refuse_amount(&r, "the text is too long") : read_all(&r)) {
        locate(&r, error);
        return -1;
    }
    *value = (struct json){r.text, 0, r.text->count};
    return 0;
}

static const struct node *node_of(struct json value) {
    return value.text && value.at < value.end ? &value.text->nodes[value.at] : NULL;
}

enum json_type json_type(struct json value) {
    const struct node *node = node_of(value);
    return node ? (enum json_type)node->type : JSON_ABSENT;
}

bool json_is(struct json value) {
    return node_of(value) != NULL;
}

const char *json_type_name(enum json_type type) {
    static const char *const names[] = {"nothing", "null",   "boolean", "boolean",
                                        "number",  "string", "array",   "object"};
    return names[type];
}

struct slice json_raw(struct json value) {
    const struct node *node = node_of(value);
    return node ? (struct slice){value.text->bytes.p + node->start, node->length}
                : (struct slice){NULL, 0};
}

struct slice json_cut_token(struct slice *rest) {
    const char *p = rest->p, *end = p + rest->n;
    while (p < end && is_space(*p))
        p++;
    const char *start = p;
    for (bool in_string = false; p < end && (in_string || !is_space(*p)); p++) {
        if (*p == '"')
            in_string = !in_string;
        else if (*p == '\\' && in_string && p + 1 < end)
            p++;
    }
    *rest = (struct slice){p, (size_t)(end - p)};
    return (struct slice){start, (size_t)(p - start)};
}

struct json json_first(struct json container) {
    const struct node *node = node_of(container);
    if (!node || (node->type != JSON_ARRAY && node->type != JSON_OBJECT))
        return (struct json){0};
    uint32_t first = container.at + (node->type == JSON_OBJECT ? 2 : 1);
    return (struct json){container.text, first, node->skip};
}

struct json json_next(struct json item) {
    const struct node *node = node_of(item);
    if (!node)
        return item;
    return (struct json){item.text, node->skip + (node->is_member ? 1 : 0), item.end};
}

size_t json_count(struct json container) {
    size_t n = 0;
    for (struct json i = json_first(container); json_is(i); i = json_next(i))
        n++;
    return n;
}

/* Returns the value of the four hexadecimal digits at `p`. */
static uint32_t hex4(const char *p) {
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        code = code << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return code;
}

/* Decodes the \u escape whose digits are at `*p`, with its low surrogate if there is one, and
 * advances `*p` past it. */
static uint32_t decode_unicode(const char **p, const char *end) {
    uint32_t code = hex4(*p);
    *p += 4;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        uint32_t low = hex4(*p + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *p += 6;
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return 0xfffd;
}

static char decode_short(char c) {
    switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
    }
}

/* Decodes the character or escape at `*p` into `piece`, and advances `*p` past it. Returns the
 * number of bytes. */
static size_t decode_piece(const char **p, const char *end, char piece[4]) {
    const char *at = *p;
    *p += *at == '\\' ? 2 : 1;
    if (*at == '\\' && at[1] == 'u')
        return utf8_put(decode_unicode(p, end), piece);
    piece[0] = *at == '\\' ? decode_short(at[1]) : *at;
    return 1;
}

/* Returns the decoded bytes of a string node, which are never longer than the node. */
static struct slice decode(const struct node *node, const struct json_text *text,
                           struct arena *arena) {
    const char *p = text->bytes.p + node->start + 1, *end = p + node->length - 2;
    char *out = arena_copy(arena, (struct slice){p, (size_t)(end - p)});
    if (!node->escaped)
        return (struct slice){out, (size_t)(end - p)};
    size_t n = 0;
    while (p < end)
        n += decode_piece(&p, end, out + n);
    out[n] = '\0';
    return (struct slice){out, n};
}

struct slice json_string(struct json value, struct arena *arena) {
    const struct node *node = node_of(value);
    return node && node->type == JSON_STRING ? decode(node, value.text, arena)
                                             : (struct slice){NULL, 0};
}

const char *json_text(struct json value, struct arena *arena) {
    struct slice s = json_string(value, arena);
    return s.p && !memchr(s.p, '\0', s.n) ? s.p : NULL;
}

/* Whether a string node decodes to `name`. Compares without memory for the decoded string. */
static bool decodes_to(const struct node *node, const struct json_text *text, struct slice name) {
    const char *p = text->bytes.p + node->start + 1, *end = p + node->length - 2;
    if (!node->escaped)
        return slice_equal((struct slice){p, (size_t)(end - p)}, name);
    size_t n = 0;
    while (p < end) {
        char piece[4];
        const size_t length = decode_piece(&p, end, piece);
        if (length > name.n - n || memcmp(name.p + n, piece, length) != 0)
            return false;
        n += length;
    }
    return n == name.n;
}

struct json json_alone(struct json value) {
    const struct node *node = node_of(value);
    return node ? (struct json){value.text, value.at, node->skip} : value;
}

struct json json_get(struct json object, const char *name) {
    struct json found = {0};
    if (json_type(object) != JSON_OBJECT)
        return found;
    struct slice wanted = slice_of(name);
    for (struct json i = json_first(object); json_is(i); i = json_next(i))
        if (decodes_to(&i.text->nodes[i.at - 1], i.text, wanted))
            found = json_alone(i);
    return found;
}

struct json json_find(struct json value, const char *path) {
    char name[64];
    while (*path) {
        size_t n = strcspn(path, ".");
        if (n >= sizeof name)
            return (struct json){0};
        memcpy(name, path, n);
        name[n] = '\0';
        value = json_get(value, name);
        path += n + (path[n] == '.');
    }
    return value;
}

struct slice json_name(struct json member, struct arena *arena) {
    const struct node *node = node_of(member);
    return node && node->is_member ? decode(node - 1, member.text, arena) : (struct slice){NULL, 0};
}

static struct slice between_quotes(const struct node *node, const struct json_text *text) {
    return (struct slice){text->bytes.p + node->start + 1, node->length - 2};
}

struct slice json_raw_name(struct json member) {
    const struct node *node = node_of(member);
    return node && node->is_member ? between_quotes(node - 1, member.text)
                                   : (struct slice){NULL, 0};
}

bool json_is_named(struct json member, const char *name) {
    const struct node *node = node_of(member);
    return node && node->is_member && decodes_to(node - 1, member.text, slice_of(name));
}

struct slice json_inside(struct json value) {
    const struct node *node = node_of(value);
    return node && node->type == JSON_STRING ? between_quotes(node, value.text)
                                             : (struct slice){NULL, 0};
}

bool json_equals(struct json value, const char *text) {
    const struct node *node = node_of(value);
    return node && node->type == JSON_STRING && decodes_to(node, value.text, slice_of(text));
}

bool json_integer(struct json value, int64_t *number) {
    enum json_type type = json_type(value);
    struct slice raw = json_raw(value);
    if (type == JSON_STRING)
        raw = (struct slice){raw.p + 1, raw.n - 2};
    else if (type != JSON_NUMBER)
        return false;
    char digits[24];
    if (raw.n == 0 || raw.n >= sizeof digits)
        return false;
    memcpy(digits, raw.p, raw.n);
    digits[raw.n] = '\0';
    if (digits[strspn(digits, "-0123456789")] != '\0' || digits[raw.n - 1] == '-')
        return false;
    char *end;
    errno = 0;
    long long parsed = strtoll(digits, &end, 10);
    if (errno || *end)
        return false;
    *number = parsed;
    return true;
}
