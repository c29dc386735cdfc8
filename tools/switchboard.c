/* The admin CLI: creates the database, links users, accounts and lines, lists what is stored, looks
 * after the installation. `switchboard --help` tells the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/command.h"
#include "admin/nouns.h"
#include "base/clock.h"
#include "version.h"

const struct option_rule option_rules[OPTION_COUNT] = {
    [OPTION_CONFIG] = {"--config", VALUE_CONFIG, "the configuration file"},
    [OPTION_JSON] = {"--json", VALUE_NONE, "print JSON for programs"},
    [OPTION_HELP] = {"--help", VALUE_NONE, "print this text"},
    [OPTION_VERSION] = {"--version", VALUE_NONE, "print name and version"},
    [OPTION_ACCOUNT] = {"--account", VALUE_ACCOUNT_ID, "only those of this business account"},
    [OPTION_ADDON] = {"--addon", VALUE_NONE, "an add-on beside the primary plan"},
    [OPTION_COEXISTING] = {"--coexisting", VALUE_NONE, "the line runs in the business app too"},
    [OPTION_CONTACT] = {"--contact", VALUE_CONTACT_ID, "the contact, by its id"},
    [OPTION_DEFAULT] = {"--default", VALUE_NONE, "make it the user's default account"},
    [OPTION_ENDS] = {"--ends", VALUE_TIME, "when the plan ends; without it, never"},
    [OPTION_NAME] = {"--name", VALUE_LABEL, "the name that GET /v2/me shows"},
    [OPTION_NUMBER] = {"--number", VALUE_NUMBER, "the phone number, as displayed"},
    [OPTION_PHONE_NUMBER_ID] = {"--phone-number-id", VALUE_PHONE_NUMBER_ID,
                                "the platform's id of the line"},
    [OPTION_PLATFORM_TYPE] = {"--platform-type", VALUE_PLATFORM_TYPE,
                              "the platform type, such as CLOUD_API"},
    [OPTION_PRIMARY] = {"--primary", VALUE_NONE, "make it the user's primary line"},
    [OPTION_UNREGISTERED] = {"--unregistered", VALUE_NONE,
                             "the line is not registered with the platform yet"},
    [OPTION_WABA_ID] = {"--waba-id", VALUE_WABA_ID, "the platform's id of the business account"},
};

const struct command commands[] = {
    {"init", NULL, 0, 0, {0}, 0, 0, NEEDS_CONFIG, init_run,
     "create key file, spool directory and database where missing, or migrate the database",
     "An older database is copied to DATABASE.before-vN first. Running it again is harmless."},

    {"user", "add", 1, 1, {VALUE_EMAIL}, 0, 0, NEEDS_STORE, user_add,
     "add a user and print the API token, once",
     "Only a hash of the token is stored. Whoever loses it gets a new one from\n"
     "`switchboard token regenerate`."},
    {"user", "delete", 1, 1, {VALUE_EMAIL}, 0, 0, NEEDS_STORE, user_delete,
     "delete a user; the API token stops working at once",
     "What the user's business accounts hold stays stored. The email may be used again."},
    {"user", "list", 0, 0, {0}, 0, 0, NEEDS_STORE, user_list, "list users and their plans", NULL},

    {"token", "regenerate", 1, 1, {VALUE_EMAIL}, 0, 0, NEEDS_STORE, token_regenerate,
     "replace a user's API token and print the new one, once", "The old token stops at once."},

    {"plan", "set", 2, 2, {VALUE_EMAIL, VALUE_PLAN}, OPTION(ENDS) | OPTION(ADDON), 0, NEEDS_STORE,
     plan_set, "set a user's primary plan, or add an add-on",
     "The API is open to users whose primary plan is named exactly Premium or Enterprise\n"
     "and has not ended."},

    {"account", "add", 1, 1, {VALUE_EMAIL}, OPTION(DEFAULT), OPTION(WABA_ID) | OPTION(NAME),
     NEEDS_STORE, account_add, "link a business account to a user and print its id",
     "The platform access token is read from standard input, one line; it is stored encrypted.\n"
     "Without one the account is linked but cannot be used until `switchboard account token`.\n"
     "A user's first account is the default one."},
    {"account", "token", 1, 1, {VALUE_ACCOUNT_ID}, 0, 0, NEEDS_STORE, account_token,
     "replace an account's platform access token by the line on standard input",
     "Empty input leaves the account without a valid token."},
    {"account", "list", 0, 1, {VALUE_EMAIL}, 0, 0, NEEDS_STORE, account_list,
     "list business accounts", NULL},

    {"line", "add", 1, 1, {VALUE_ACCOUNT_ID},
     OPTION(NAME) | OPTION(PRIMARY) | OPTION(COEXISTING) | OPTION(UNREGISTERED) |
         OPTION(PLATFORM_TYPE),
     OPTION(PHONE_NUMBER_ID) | OPTION(NUMBER), NEEDS_STORE, line_add,
     "add a phone line to a business account and print its id",
     "A user's first line is the primary one. Adding an archived line of the same account again\n"
     "brings it back."},
    {"line", "archive", 1, 1, {VALUE_PHONE_NUMBER_ID}, 0, 0, NEEDS_STORE, line_archive,
     "archive a line: it is not listed any more and cannot send", NULL},
    {"line", "list", 0, 0, {0}, OPTION(ACCOUNT), 0, NEEDS_STORE, line_list,
     "list phone lines, archived ones too", NULL},

    {"contact", "block", 2, 2, {VALUE_PHONE_NUMBER_ID, VALUE_IDENTITY}, 0, 0, NEEDS_STORE,
     contact_block, "block a contact on a line: nothing is sent to them from it",
     "Somebody unknown becomes a contact."},
    {"contact", "unblock", 2, 2, {VALUE_PHONE_NUMBER_ID, VALUE_IDENTITY}, 0, 0, NEEDS_STORE,
     contact_unblock, "end a block", NULL},
    {"contact", "list", 0, 0, {0}, OPTION(ACCOUNT), 0, NEEDS_STORE, contact_list,
     "list contacts and their threads", NULL},

    {"message", "list", 0, 0, {0}, 0, OPTION(CONTACT), NEEDS_STORE, message_list,
     "list the messages from and to a contact, oldest first", NULL},

    {"doctor", NULL, 0, 0, {0}, 0, 0, NEEDS_NOTHING, doctor_run,
     "show the configuration and check the installation",
     "Each line begins with ok, warn or FAIL; one FAIL makes the exit status 1."},
    {"backup", NULL, 1, 1, {VALUE_FILE}, 0, 0, NEEDS_STORE, backup_run,
     "write a checked copy of the database to a new file",
     "The gateway goes on working meanwhile. To restore: stop it, remove DATABASE-wal and\n"
     "DATABASE-shm, put the copy in the place of DATABASE. The key file is not part of it."},
    {0},
};

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
    umask(007);                                     /* what is created here is nobody else's */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* a core would hold tokens */
    arena_init(&call.arena, (size_t)2 << 30, NULL);
    int status = run(&call, argc, argv);
    store_close(call.store);
    arena_free(&call.arena);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail("cannot write to standard output; what the command did stays done");
    return status;
}
