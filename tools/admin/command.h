/* The admin CLI: the parts that all commands share.
 *
 * A row of the command table (tools/switchboard.c) defines a command: its words, operands, options,
 * needs, function and help text. The command line is checked against that row before the command
 * runs, so a command sees only values of the right form.
 */
#ifndef SWITCHBOARD_ADMIN_COMMAND_H
#define SWITCHBOARD_ADMIN_COMMAND_H

#include <stdint.h>

#include "base/config.h"
#include "base/process/manual.h"
#include "store/deed.h"
#include "store/store.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum { MAX_OPERANDS = 2 };

/* The kinds of values on a command line; tools/admin/check.c checks the form of each. */
enum value_kind {
    VALUE_NONE, /* a flag takes no value */
    VALUE_ACCOUNT_ID,
    VALUE_CONFIG,
    VALUE_CONTACT_ID,
    VALUE_DAYS,
    VALUE_DIRECTORY,
    VALUE_EMAIL,
    VALUE_EVENT_ID,
    VALUE_EVENT_TYPE,
    VALUE_EVENT_TYPES,
    VALUE_FIELDS,
    VALUE_FILE,
    VALUE_HOOK_URL,
    VALUE_IDENTITY,
    VALUE_KEY_ID,
    VALUE_KIND,
    VALUE_LABEL,
    VALUE_LIMIT,
    VALUE_LINES,
    VALUE_NUMBER,
    VALUE_PAGE,
    VALUE_PHONE_NUMBER_ID,
    VALUE_PLAN,
    VALUE_PLATFORM_TYPE,
    VALUE_RATE,
    VALUE_RETENTION,
    VALUE_ROLE,
    VALUE_ROW_ID,
    VALUE_SCOPES,
    VALUE_SHELL,
    VALUE_TARGET,
    VALUE_THREADS,
    VALUE_TIME,
    VALUE_UPDATES,
    VALUE_URL,
    VALUE_WABA_ID,
    VALUE_WEBHOOK_ID,
    VALUE_COUNT,
};

enum option {
    OPTION_CONFIG,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_ACCOUNT,
    OPTION_ADDON,
    OPTION_AFTER,
    OPTION_COEXISTING,
    OPTION_CONTACT,
    OPTION_CSV,
    OPTION_DAYS,
    OPTION_DEFAULT,
    OPTION_ENDS,
    OPTION_FAILED,
    OPTION_FIELDS,
    OPTION_FORCE,
    OPTION_FULL,
    OPTION_KIND,
    OPTION_LIMIT,
    OPTION_LINES,
    OPTION_MEDIA,
    OPTION_MESSAGES,
    OPTION_NAME,
    OPTION_NEW_CODE,
    OPTION_NO_SPLIT,
    OPTION_NUMBER,
    OPTION_ONLINE,
    OPTION_PHONE_NUMBER_ID,
    OPTION_PLATFORM_TYPE,
    OPTION_PRIMARY,
    OPTION_RAW,
    OPTION_ROLE,
    OPTION_SCOPE,
    OPTION_SINCE,
    OPTION_SPLIT,
    OPTION_THREADS,
    OPTION_TYPES,
    OPTION_UNREGISTERED,
    OPTION_UNTIL,
    OPTION_UPDATES,
    OPTION_URL,
    OPTION_VERIFY_TOKEN_FILE,
    OPTION_WABA_ID,
    OPTION_COUNT,
};

/* A set of options is a uint64_t: the set of one, by its number and by its name. */
#define OPTION_BIT(option) (UINT64_C(1) << (option))
#define OPTION(name)       OPTION_BIT(OPTION_##name)

struct option_rule {
    const char *name; /* with its dashes */
    enum value_kind value;
    const char *meaning;
};

extern const struct option_rule option_rules[OPTION_COUNT];

/* What a command needs before it can run. */
enum command_need { NEEDS_NO_FILE, NEEDS_CONFIG, NEEDS_STORE };

struct invocation;

struct command {
    const char *noun, *verb; /* verb NULL: the noun is the whole command */
    size_t min_operands, max_operands;
    enum value_kind operands[MAX_OPERANDS];
    uint64_t options, required; /* without --config, --json and --help, which all commands take */
    enum command_need needs;
    int (*run)(struct invocation *call); /* returns an exit code, after printing a failure */
    const char *summary;                 /* one line, no full stop */
    const char *details;                 /* paragraphs for --help; NULL: only the summary */
};

extern const struct command commands[]; /* ends with a NULL noun */

/* One run of the program. */
struct invocation {
    struct arena arena;
    const struct command *command;
    const char *operands[MAX_OPERANDS + 2]; /* without the words of the command */
    size_t operand_count;
    const char *options[OPTION_COUNT]; /* the value, "" for a flag; NULL: not given */
    const char *config_path;
    struct config config; /* set if the command needs it */
    struct store *store;  /* open if the command needs it */
    int64_t now;
    struct store_deed deed; /* what its changes leave in the trail */
};

/* --- operator.c --- */

/* Gives the next change of the command a row of its own in the trail; called before the command
 * runs, and by a command between two changes. */
void deed_begin(struct invocation *call);

/* --- parse.c --- */

/* Reads the words of the command line into `call`. Returns EXIT_DONE, or EXIT_USAGE after printing
 * the error and the usage line on stderr. `call->command` is NULL if --help or --version is given
 * without a command. */
int parse_words(struct invocation *call, int argc, char **argv);

/* --- check.c --- */

/* The name of a kind of value in usage lines, such as "EMAIL". */
const char *value_name(enum value_kind kind);

/* The values of a kind that has only these, separated by spaces; NULL: others are valid too. */
const char *value_choices(enum value_kind kind);

/* Returns NULL if `text` has the form of its kind, else the rest of an error ("must be ..."). */
const char *value_check(enum value_kind kind, const char *text);

/* Returns a word of the command line as it may be printed: of the URL of a server, which may hold a
 * password, only the parts that cannot. */
const char *value_shown(struct arena *arena, const char *word);

/* --- help.c --- */

/* The texts of --help and of switchboard(8) that are not in the tables above. */
extern const struct manual tool_manual;

/* The options that every command takes, and those of the tool without a command. */
#define COMMON_OPTIONS (OPTION(CONFIG) | OPTION(JSON) | OPTION(HELP))
#define TOOL_OPTIONS   (COMMON_OPTIONS | OPTION(VERSION))

/* Returns an option and the name of its value. */
const char *option_term(struct arena *arena, int option);

/* The one usage line of a command. */
const char *command_usage(struct arena *arena, const struct command *command);

/* Prints the help of the command, of all commands of a noun (noun given alone), or of the tool. */
void help_print(struct invocation *call);

/* --- fail.c: each function prints one line on stderr; those that fail return the exit code --- */

int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_usage(struct invocation *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints the meaning of a store result. A command that can name the missing row calls fail_row; one
 * that can name the conflicting row handles STORE_CONFLICT itself. */
int fail_store(const struct invocation *call, enum store_result result);

/* The kinds of rows that a command line names. */
enum row_kind {
    ROW_USER,
    ROW_MEMBER,
    ROW_ACCOUNT,
    ROW_LINE,
    ROW_CONTACT,
    ROW_EVENT,
    ROW_REFUSAL,
    ROW_WEBHOOK
};

/* Prints that there is no row of the kind with that name (an email address, an id). */
int fail_missing(enum row_kind kind, const char *name);

/* The same when the result is STORE_NOT_FOUND, else fail_store. */
int fail_row(const struct invocation *call, enum store_result result, enum row_kind kind,
             const char *name);

/* Prints a line that begins with "switchboard: warning: ". */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
