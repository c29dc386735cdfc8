/* The admin CLI: creates the database, links users, accounts and lines, lists what is stored, looks
 * after the installation. `switchboard --help` tells the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/command.h"
#include "admin/nouns.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/product.h"

const struct option_rule option_rules[OPTION_COUNT] = {
    [OPTION_CONFIG] = {"--config", VALUE_CONFIG, "the configuration file"},
    [OPTION_JSON] = {"--json", VALUE_NONE, "print JSON for programs"},
    [OPTION_HELP] = {"--help", VALUE_NONE, "print this text"},
    [OPTION_VERSION] = {"--version", VALUE_NONE, "print name and version"},
    [OPTION_ACCOUNT] = {"--account", VALUE_ACCOUNT_ID, "only those of this business account"},
    [OPTION_ADDON] = {"--addon", VALUE_NONE, "an add-on beside the primary plan"},
    [OPTION_AFTER] = {"--after", VALUE_ROW_ID, "only those that follow the one with this id"},
    [OPTION_COEXISTING] = {"--coexisting", VALUE_NONE, "the line runs in the business app too"},
    [OPTION_CONTACT] = {"--contact", VALUE_CONTACT_ID, "the contact, by its id"},
    [OPTION_DEFAULT] = {"--default", VALUE_NONE, "make it the user's default account"},
    [OPTION_ENDS] = {"--ends", VALUE_TIME, "when the plan ends; without it, never"},
    [OPTION_FAILED] = {"--failed", VALUE_NONE, "only those whose last attempt failed"},
    [OPTION_FULL] = {"--full", VALUE_NONE,
                     "read the whole database for damage: minutes for a large one"},
    [OPTION_LIMIT] = {"--limit", VALUE_LIMIT, "at most so many"},
    [OPTION_NAME] = {"--name", VALUE_LABEL, "the name that GET /v2/me shows"},
    [OPTION_NUMBER] = {"--number", VALUE_NUMBER, "the phone number, as displayed"},
    [OPTION_PHONE_NUMBER_ID] = {"--phone-number-id", VALUE_PHONE_NUMBER_ID,
                                "the platform's id of the line"},
    [OPTION_PLATFORM_TYPE] = {"--platform-type", VALUE_PLATFORM_TYPE,
                              "the platform type, such as CLOUD_API"},
    [OPTION_PRIMARY] = {"--primary", VALUE_NONE, "make it the user's primary line"},
    [OPTION_SINCE] = {"--since", VALUE_TIME, "events made at that time or later"},
    [OPTION_UNREGISTERED] = {"--unregistered", VALUE_NONE,
                             "the line is not registered with the platform yet"},
    [OPTION_UNTIL] = {"--until", VALUE_TIME, "events made before that time"},
    [OPTION_WABA_ID] = {"--waba-id", VALUE_WABA_ID, "the platform's id of the business account"},
};

/* clang-format off */
/* Of listings that may be long. */
#define PAGES                                                                                   \
    "Rows are printed while they are read. With --limit N at most N are printed; with\n"        \
    "--after ID the first one is that behind the row with this id, such as the last one of\n"   \
    "the page before."

const struct command commands[] = {
    {.noun = "init", .needs = NEEDS_CONFIG, .run = init_run,
     .summary = "create key file, spool directory and database, or migrate the database",
     .details = "What is there already stays. An older database is copied to DATABASE.before-vN\n"
                "before it is migrated. Running this again is harmless."},

    {.noun = "user", .verb = "add", .needs = NEEDS_STORE, .run = user_add,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "add a user and print the API token, once",
     .details = "Only a hash of the token is stored. Whoever loses it gets a new one from\n"
                "`switchboard token regenerate`."},
    {.noun = "user", .verb = "delete", .needs = NEEDS_STORE, .run = user_delete,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "delete a user; the API token stops working at once",
     .details = "What the user's business accounts hold stays stored. The email may be used\n"
                "again."},
    {.noun = "user", .verb = "list", .needs = NEEDS_STORE, .run = user_list,
     .summary = "list users and their plans"},

    {.noun = "token", .verb = "regenerate", .needs = NEEDS_STORE, .run = token_regenerate,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "replace a user's API token and print the new one, once",
     .details = "The old token stops at once."},

    {.noun = "plan", .verb = "set", .needs = NEEDS_STORE, .run = plan_set,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_PLAN},
     .options = OPTION(ENDS) | OPTION(ADDON),
     .summary = "set a user's primary plan, or add an add-on",
     .details = "The API is open to users whose primary plan is named exactly Premium or\n"
                "Enterprise and has not ended."},

    {.noun = "account", .verb = "add", .needs = NEEDS_STORE, .run = account_add,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .required = OPTION(WABA_ID) | OPTION(NAME), .options = OPTION(DEFAULT),
     .summary = "link a business account to a user and print its id",
     .details = "The platform access token is read from standard input, one line; it is stored\n"
                "encrypted. Without one the account is linked but cannot be used until\n"
                "`switchboard account token`. A user's first account is the default one."},
    {.noun = "account", .verb = "token", .needs = NEEDS_STORE, .run = account_token,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ACCOUNT_ID},
     .summary = "replace an account's platform access token by the line on standard input",
     .details = "Empty input leaves the account without a valid token."},
    {.noun = "account", .verb = "list", .needs = NEEDS_STORE, .run = account_list,
     .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "list business accounts"},

    {.noun = "line", .verb = "add", .needs = NEEDS_STORE, .run = line_add,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ACCOUNT_ID},
     .required = OPTION(PHONE_NUMBER_ID) | OPTION(NUMBER),
     .options = OPTION(NAME) | OPTION(PRIMARY) | OPTION(COEXISTING) | OPTION(UNREGISTERED) |
                OPTION(PLATFORM_TYPE),
     .summary = "add a phone line to a business account and print its id",
     .details = "A user's first line is the primary one. Adding an archived line of the same\n"
                "account again brings it back."},
    {.noun = "line", .verb = "archive", .needs = NEEDS_STORE, .run = line_archive,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_PHONE_NUMBER_ID},
     .summary = "archive a line: it is not listed any more and cannot send"},
    {.noun = "line", .verb = "list", .needs = NEEDS_STORE, .run = line_list,
     .options = OPTION(ACCOUNT),
     .summary = "list phone lines, archived ones too"},

    {.noun = "contact", .verb = "block", .needs = NEEDS_STORE, .run = contact_block,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_PHONE_NUMBER_ID, VALUE_IDENTITY},
     .summary = "block a contact on a line: nothing is sent to them from it",
     .details = "Somebody unknown becomes a contact."},
    {.noun = "contact", .verb = "unblock", .needs = NEEDS_STORE, .run = contact_unblock,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_PHONE_NUMBER_ID, VALUE_IDENTITY},
     .summary = "end a block"},
    {.noun = "contact", .verb = "list", .needs = NEEDS_STORE, .run = contact_list,
     .options = OPTION(ACCOUNT) | OPTION(LIMIT) | OPTION(AFTER),
     .summary = "list contacts and their threads, oldest first",
     .details = PAGES},

    {.noun = "message", .verb = "list", .needs = NEEDS_STORE, .run = message_list,
     .required = OPTION(CONTACT), .options = OPTION(LIMIT) | OPTION(AFTER),
     .summary = "list the messages from and to a contact, oldest first",
     .details = PAGES},

    {.noun = "forms", .verb = "sync", .needs = NEEDS_STORE, .run = forms_sync,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ACCOUNT_ID},
     .summary = "store the platform's flows of an account for GET /v2/forms/search",
     .details = "All pages are read before anything is stored. Flows that the platform does not list\n"
                "any more stay."},

    {.noun = "event", .verb = "list", .needs = NEEDS_STORE, .run = event_list,
     .options = OPTION(FAILED) | OPTION(LIMIT) | OPTION(AFTER),
     .summary = "list outbound events and what became of them, oldest first",
     .details = PAGES "\n\n"
                "An event is pending, done, dead (given up), cancelled (its webhook was unset), or\n"
                "suspended: it waits because its webhook failed for five days or answered 410."},
    {.noun = "event", .verb = "show", .needs = NEEDS_STORE, .run = event_show,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EVENT_ID},
     .summary = "show an event, its body and every attempt to deliver it"},
    {.noun = "event", .verb = "replay", .needs = NEEDS_STORE, .run = event_replay,
     .max_operands = 1, .operands = {VALUE_EVENT_ID}, .options = OPTION(SINCE) | OPTION(UNTIL),
     .summary = "deliver an event again, or all that were made in a span of time",
     .details = "Give either the ID, or --since and, with it, --until (without it: up to now).\n"
                "Id and body stay what they were. A span of time is replayed in steps of 500\n"
                "events; cut short, the steps that were done stay."},
    {.noun = "event", .verb = "resume", .needs = NEEDS_STORE, .run = event_resume,
     .summary = "end every suspension: what waits is delivered now"},
    {.noun = "event", .verb = "test", .needs = NEEDS_STORE, .run = event_test,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "send an event of type ping to the user's webhook and print its id",
     .details = "The courier delivers it like any other; `switchboard event show` tells how that\n"
                "went."},
    {.noun = "event", .verb = "enable", .needs = NEEDS_STORE, .run = event_enable,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EVENT_TYPE, VALUE_EMAIL},
     .summary = "turn a type of event on for a user; message.status is off at first"},
    {.noun = "event", .verb = "disable", .needs = NEEDS_STORE, .run = event_disable,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EVENT_TYPE, VALUE_EMAIL},
     .summary = "turn a type of event off again"},

    {.noun = "refusal", .verb = "list", .needs = NEEDS_STORE, .run = refusal_list,
     .summary = "list payloads of the platform that were too large to be taken in",
     .details = "More than 10,000 updates, more than a million values, or changes to more of the\n"
                "database than one request may make. They were answered 200 and kept as they came,\n"
                "for 30 days, 64 MiB of them; without room for another, it is answered 503 and the\n"
                "platform sends it again for days."},
    {.noun = "refusal", .verb = "show", .needs = NEEDS_STORE, .run = refusal_show,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ROW_ID},
     .summary = "print such a payload, its own bytes"},
    {.noun = "refusal", .verb = "retry", .needs = NEEDS_STORE, .run = refusal_retry,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ROW_ID},
     .summary = "take such a payload in, without the limits, and remove it from the list",
     .details = "In steps of 1,000 updates, between which the gateway goes on working. Cut short, it\n"
                "can be run again: nothing is taken in twice."},
    {.noun = "refusal", .verb = "drop", .needs = NEEDS_STORE, .run = refusal_drop,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ROW_ID},
     .summary = "remove such a payload from the list without taking it in"},

    {.noun = "key", .verb = "list", .needs = NEEDS_STORE, .run = key_list,
     .summary = "list the keys that encrypt at rest, and how many values each has sealed",
     .details = "Platform access tokens and webhook codes are sealed. The keys themselves are not\n"
                "shown."},
    {.noun = "key", .verb = "rotate", .needs = NEEDS_STORE, .run = key_rotate,
     .summary = "seal everything with a new key and remove the old ones",
     .details = "The gateway and the courier go on working meanwhile. Cut short, it leaves a key\n"
                "file that opens everything; run it again. Backups made before open with the key\n"
                "file of their time only: keep that one, apart from them, as long as you keep\n"
                "them."},

    {.noun = "doctor", .needs = NEEDS_NO_FILE, .run = doctor_run, .options = OPTION(FULL),
     .summary = "show the configuration and check the installation",
     .details = "Each line begins with ok, warn or FAIL; one FAIL makes the exit status 1. Of the\n"
                "database only the tables of users, accounts and lines are read for damage, which\n"
                "takes no longer as traffic accumulates. With --full all of it is, and every\n"
                "reference from one row to another."},
    {.noun = "backup", .needs = NEEDS_STORE, .run = backup_run,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_FILE},
     .summary = "write a checked copy of the database to a new file",
     .details = "The gateway goes on working meanwhile. `switchboard restore` puts it in place. The\n"
                "key file is not part of it."},
    {.noun = "restore", .needs = NEEDS_CONFIG, .run = restore_run,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_FILE},
     .summary = "make the database hold what a backup does",
     .details = "The backup is checked first. The gateway may go on working: what the database\n"
                "held is copied to DATABASE.before-restore and replaced in one transaction; owner\n"
                "and mode stay. It opens with the key file of the backup's time. Where there is no\n"
                "database, it is made with the owner and group of its directory."},
    {0},
};
/* clang-format on */

static int find_config(struct invocation *call) {
    const char *error, *from_environment = getenv("SWITCHBOARD_CONFIG");
    const char *path = call->options[OPTION_CONFIG];
    if (!path)
        path = from_environment && *from_environment ? from_environment : CONFIG_DEFAULT_PATH;
    call->config_path = path;
    if (call->command->needs < NEEDS_CONFIG)
        return EXIT_DONE;
    if (config_read(path, &call->arena, &call->config, &error) == 0)
        return EXIT_DONE;
    return fail("%s", error);
}

static int open_store(struct invocation *call) {
    if (call->command->needs < NEEDS_STORE)
        return EXIT_DONE;
    if (access(call->config.database, F_OK) != 0)
        return fail("there is no database %s: `switchboard init` creates it",
                    call->config.database);
    enum store_result result = store_open(call->config.database, &call->store);
    return result == STORE_OK ? EXIT_DONE : fail_store(call, result);
}

static int run(struct invocation *call, int argc, char **argv) {
    int status = parse_words(call, argc, argv);
    if (status != EXIT_DONE)
        return status;
    if (call->options[OPTION_HELP])
        return help_print(call), EXIT_DONE;
    if (!call->command)
        return puts(SWITCHBOARD_NAME " " SWITCHBOARD_VERSION), EXIT_DONE;
    if ((status = find_config(call)) != EXIT_DONE || (status = open_store(call)) != EXIT_DONE)
        return status;
    return call->command->run(call);
}

int main(int argc, char **argv) {
    struct invocation call = {.now = clock_now()};
    umask(007); /* what is created here is nobody else's */
    confine_memory();
    arena_init(&call.arena, (size_t)2 << 30, NULL);
    int status = run(&call, argc, argv);
    store_close(call.store);
    arena_free(&call.arena);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail("cannot write to standard output; what the command did stays done");
    return status;
}
