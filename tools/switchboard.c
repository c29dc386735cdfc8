/* The admin CLI: creates the database, links users, accounts and lines, lists what is stored, and
 * maintains the installation. `switchboard --help` lists the commands. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/command.h"
#include "admin/linked.h"
#include "admin/nouns.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/process/confine.h"
#include "base/target.h"
#include "store/event_type.h"

const struct option_rule option_rules[OPTION_COUNT] = {
    [OPTION_CONFIG] = {"--config", VALUE_CONFIG, "the configuration file"},
    [OPTION_JSON] = {"--json", VALUE_NONE, "print JSON for programs"},
    [OPTION_HELP] = {"--help", VALUE_NONE, "print this text"},
    [OPTION_VERSION] = {"--version", VALUE_NONE,
                        "print name and version, and those of the libraries inside"},
    [OPTION_ACCOUNT] = {"--account", VALUE_ACCOUNT_ID, "only rows of this business account"},
    [OPTION_ADDON] = {"--addon", VALUE_NONE, "an add-on beside the primary plan"},
    [OPTION_AFTER] = {"--after", VALUE_ROW_ID, "only rows after the row with this id"},
    [OPTION_COEXISTING] = {"--coexisting", VALUE_NONE, "the line runs in the business app too"},
    [OPTION_CONTACT] = {"--contact", VALUE_CONTACT_ID, "the contact, by its id"},
    [OPTION_CSV] = {"--csv", VALUE_NONE, "print comma-separated values, all rows"},
    [OPTION_DAYS] = {"--days", VALUE_DAYS, "how long the token counts, or never; default: 365"},
    [OPTION_DEFAULT] = {"--default", VALUE_NONE, "make it the user's default account"},
    [OPTION_ENDS] = {"--ends", VALUE_TIME, "when the plan ends; without it, never"},
    [OPTION_FAILED] = {"--failed", VALUE_NONE, "only events whose last attempt failed"},
    [OPTION_FIELDS] = {"--fields", VALUE_FIELDS,
                       "fields of the platform's changes; default: messages"},
    [OPTION_FORCE] = {"--force", VALUE_NONE,
                      "restore a backup although the key file does not open its secrets"},
    [OPTION_FULL] = {"--full", VALUE_NONE,
                     "check the whole database for damage: minutes for a large one"},
    [OPTION_KIND] = {"--kind", VALUE_KIND, "what the webhook gets; default: event"},
    [OPTION_LIMIT] = {"--limit", VALUE_LIMIT, "print at most N rows"},
    [OPTION_LINES] = {"--lines", VALUE_LINES, "only what concerns these lines; default: all"},
    [OPTION_MEDIA] = {"--media", VALUE_DIRECTORY,
                      "copy the files of the messages from media_archive into this directory"},
    [OPTION_MESSAGES] = {"--messages", VALUE_RETENTION,
                         "how many days messages are kept, or never to delete none"},
    [OPTION_NAME] = {"--name", VALUE_LABEL, "the name that the API shows"},
    [OPTION_NEW_CODE] = {"--new-code", VALUE_NONE, "set a new random code and print it, once"},
    [OPTION_NO_SPLIT] = {"--no-split", VALUE_NONE, "each POST has the messages of the platform's"},
    [OPTION_NUMBER] = {"--number", VALUE_NUMBER, "the phone number, as displayed"},
    [OPTION_ONLINE] = {"--online", VALUE_NONE, "ask the platform about each business account too"},
    [OPTION_PHONE_NUMBER_ID] = {"--phone-number-id", VALUE_PHONE_NUMBER_ID,
                                "the platform's id of the line"},
    [OPTION_PLATFORM_TYPE] = {"--platform-type", VALUE_PLATFORM_TYPE,
                              "the platform type, such as CLOUD_API"},
    [OPTION_PRIMARY] = {"--primary", VALUE_NONE, "make it the user's primary line"},
    [OPTION_RAW] = {"--raw", VALUE_RETENTION,
                    "how many days other updates are kept as the platform sent them, or never"},
    [OPTION_ROLE] = {"--role", VALUE_ROLE, "viewer, agent, admin or owner"},
    [OPTION_SCOPE] = {"--scope", VALUE_SCOPES,
                      "some of basic, read, send, inbox, events and manage"},
    [OPTION_SINCE] = {"--since", VALUE_TIME, "only what was created at that time or later"},
    [OPTION_SPLIT] = {"--split", VALUE_NONE, "each POST has one message or one status"},
    [OPTION_THREADS] = {"--threads", VALUE_THREADS,
                        "all, or own: only threads that are assigned to the member or to none; "
                        "default: all"},
    [OPTION_TYPES] = {"--types", VALUE_EVENT_TYPES,
                      "types of events; default: all but" EVENT_TYPES_OFF},
    [OPTION_UNREGISTERED] = {"--unregistered", VALUE_NONE,
                             "the line is not registered with the platform yet"},
    [OPTION_UNTIL] = {"--until", VALUE_TIME, "only what was created before that time"},
    [OPTION_UPDATES] = {"--updates", VALUE_UPDATES,
                        "some of messages, statuses and echoes; default: all"},
    [OPTION_URL] = {"--url", VALUE_URL, "the URL of the gateway; default: public_url"},
    [OPTION_VERIFY_TOKEN_FILE] = {"--verify-token-file", VALUE_FILE,
                                  "a file with the verify token; default: standard input"},
    [OPTION_WABA_ID] = {"--waba-id", VALUE_WABA_ID, "the platform's id of the business account"},
};

/* clang-format off */
/* The details of every command whose list may be long. */
#define PAGES                                                                                   \
    "Rows are printed while they are read. --limit N prints at most N rows. --after ID\n"       \
    "starts with the row after the one with this id: give the id of the last row of the\n"      \
    "previous page."

const struct command commands[] = {
    {.noun = "init", .needs = NEEDS_CONFIG, .run = init_run,
     .summary = "create key file, spool directory and database, or migrate the database",
     .details = "Existing files stay unchanged. An older database is copied to\n"
                "DATABASE.before-vN before it is migrated. Running this again is harmless."},

    {.noun = "user", .verb = "add", .needs = NEEDS_STORE, .run = user_add,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "add a user and print the API token, once",
     .details = "Only a hash of the token is stored. If the token is lost, create a new one with\n"
                "`switchboard token regenerate`."},
    {.noun = "user", .verb = "delete", .needs = NEEDS_STORE, .run = user_delete,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "delete a user; the API token stops working at once, and all sessions end",
     .details = "The data of the user's business accounts stays in the database, without the platform\n"
                "access tokens. The email may be used again, and another user can link the accounts\n"
                "and numbers of the platform."},
    {.noun = "user", .verb = "export", .needs = NEEDS_STORE, .run = user_export,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_DIRECTORY},
     .options = OPTION(MEDIA),
     .summary = "write all that is held for a user to files of JSON lines",
     .details = "One file for each kind: accounts, lines, members, webhooks, templates, forms,\n"
                "contacts, messages, events, updates and trail. The directory must be new. An\n"
                "export that broke off goes on where it was when the command is repeated;\n"
                "progress.json says whether it is complete. No secret is written. With --media each\n"
                "message with a file has its name in the member media.file, or in media.missing why\n"
                "there is none, which is printed as a warning too."},
    {.noun = "user", .verb = "list", .needs = NEEDS_STORE, .run = user_list,
     .summary = "list users and their plans"},
    {.noun = "user", .verb = "login-link", .needs = NEEDS_STORE, .run = user_login_link,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL}, .options = OPTION(URL),
     .summary = "print a link that logs a member in to the dashboard",
     .details = "It can be used once, and within 15 minutes. A former link of the member cannot be\n"
                "used any more. Its base is --url or public_url."},
    {.noun = "user", .verb = "password", .needs = NEEDS_STORE, .run = user_password,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "set a member's password for the dashboard, from standard input",
     .details = "One line of at least 12 characters and at most 128 bytes. All sessions of the\n"
                "member end; the API token stays. A user is its own first member."},

    {.noun = "token", .verb = "regenerate", .needs = NEEDS_STORE, .run = token_regenerate,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "replace a user's API token and print the new one, once",
     .details = "The old token stops working at once. Scoped tokens stay."},

    {.noun = "member", .verb = "list", .needs = NEEDS_STORE, .run = member_list,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "list the members of a user: who logs in, and their roles"},
    {.noun = "member", .verb = "add", .needs = NEEDS_STORE, .run = member_add,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_EMAIL},
     .required = OPTION(ROLE), .options = OPTION(NAME) | OPTION(LINES) | OPTION(THREADS),
     .summary = "make the person with the second email a member of the user and print the id",
     .details = "A new person has no password: `switchboard user password` sets one, and\n"
                "`switchboard user login-link` prints a link by which the person can set it."},
    {.noun = "member", .verb = "role", .needs = NEEDS_STORE, .run = member_role_set,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_EMAIL},
     .required = OPTION(ROLE),
     .summary = "set the role of a user's member; it counts at once",
     .details = "doc/api/team.md says what each role may do. A user has at least one owner."},
    {.noun = "member", .verb = "lines", .needs = NEEDS_STORE, .run = member_lines,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_EMAIL},
     .required = OPTION(LINES),
     .summary = "set the lines that a user's member sees; it counts at once",
     .details = "all: every line, later ones too. An owner has all lines. Threads of other lines are\n"
                "not assigned to the member any more."},
    {.noun = "member", .verb = "threads", .needs = NEEDS_STORE, .run = member_threads,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_EMAIL},
     .required = OPTION(THREADS),
     .summary = "set which threads a user's member sees; it counts at once",
     .details = "own: threads that are assigned to the member or to none, for a viewer or an agent.\n"
                "all: those of colleagues too."},
    {.noun = "member", .verb = "remove", .needs = NEEDS_STORE, .run = member_remove,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_EMAIL},
     .summary = "remove a member of a user; the sessions end at once",
     .details = "A person who is no member of another user is deleted, with the password."},
    {.noun = "member", .verb = "factor-reset", .needs = NEEDS_STORE, .run = member_factor_reset,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_EMAIL},
     .summary = "remove the second factor of a user's member, who has lost it",
     .details = "Make sure that the person who asks is the member. The sessions end, and the next\n"
                "login asks for the password alone."},
    {.noun = "member", .verb = "factor-require", .needs = NEEDS_STORE,
     .run = member_factor_require,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "require a second factor of each member of a user",
     .details = "It counts at once: a member without one can then only set it up. API tokens have no\n"
                "second factor."},
    {.noun = "member", .verb = "factor-optional", .needs = NEEDS_STORE,
     .run = member_factor_optional,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "require no second factor of the members of a user any more",
     .details = "Members who have one keep it."},

    {.noun = "invitation", .verb = "list", .needs = NEEDS_STORE, .run = invitation_list,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "list a user's invitations that were not accepted"},
    {.noun = "invitation", .verb = "add", .needs = NEEDS_STORE, .run = invitation_add,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_EMAIL},
     .required = OPTION(ROLE), .options = OPTION(LINES) | OPTION(THREADS) | OPTION(URL),
     .summary = "print a link by which the person with the second email becomes a member",
     .details = "It can be used once, and within 7 days. A former link for the email cannot be\n"
                "used any more. Its base is --url or public_url."},
    {.noun = "invitation", .verb = "revoke", .needs = NEEDS_STORE, .run = invitation_revoke,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_ROW_ID},
     .summary = "revoke an invitation; its link stops working at once"},

    {.noun = "scoped-token", .verb = "list", .needs = NEEDS_STORE, .run = scoped_token_list,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "list a user's scoped tokens, those that have ended too"},
    {.noun = "scoped-token", .verb = "add", .needs = NEEDS_STORE, .run = scoped_token_add,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .required = OPTION(NAME) | OPTION(SCOPE), .options = OPTION(LINES) | OPTION(DAYS),
     .summary = "make an API token with some scopes of a user and print it, once",
     .details = "Only a hash of the token is stored. doc/api/README.md says what each scope allows."},
    {.noun = "scoped-token", .verb = "revoke", .needs = NEEDS_STORE, .run = scoped_token_revoke,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_ROW_ID},
     .summary = "revoke a scoped token; it stops working at once"},

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
     .details = "The platform access token is read from standard input, one line, and stored\n"
                "encrypted. Without a token the account is linked, but cannot be used until\n"
                "`switchboard account token` sets one. A user's first account is the default one."},
    {.noun = "account", .verb = "token", .needs = NEEDS_STORE, .run = account_token,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ACCOUNT_ID},
     .summary = "replace an account's platform access token by the line on standard input",
     .details = "Empty input removes the token."},
    {.noun = "account", .verb = "list", .needs = NEEDS_STORE, .run = account_list,
     .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "list business accounts"},
    {.noun = "account", .verb = "check", .needs = NEEDS_STORE, .run = account_check,
     .max_operands = 1, .operands = {VALUE_ACCOUNT_ID},
     .summary = "ask the platform whether an account, or each, is set up completely",
     .details = "Looks at the token (kind, end, scopes), the app's secret, webhook URL and fields, the\n"
                "business account, the app that is subscribed to it, its numbers, and when the last\n"
                "webhook was stored. It changes nothing, and takes at most 10 seconds for an account.\n"
                "Each line begins with ok, warn or FAIL and says what to do; one FAIL makes the exit\n"
                "status 1. The page platform-setup describes the steps."},

    {.noun = "line", .verb = "add", .needs = NEEDS_STORE, .run = line_add,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ACCOUNT_ID},
     .required = OPTION(PHONE_NUMBER_ID) | OPTION(NUMBER),
     .options = OPTION(NAME) | OPTION(PRIMARY) | OPTION(COEXISTING) | OPTION(UNREGISTERED) |
                OPTION(PLATFORM_TYPE),
     .summary = "add a phone line to a business account and print its id",
     .details = "A user's first line is the primary one. If the same account has the line\n"
                "archived, this restores it."},
    {.noun = "line", .verb = "import", .needs = NEEDS_STORE, .run = line_import,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ACCOUNT_ID},
     .summary = "add the numbers that the platform lists for a business account as lines",
     .details = "Prints for each number whether it was added, kept or refused. A line that exists is\n"
                "kept as it is, archived or not, so running this again is harmless. A number that is\n"
                "a line of another account is refused; then the exit status is 1."},
    {.noun = "line", .verb = "register", .needs = NEEDS_STORE, .run = line_register,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_PHONE_NUMBER_ID},
     .summary = "register a line's number at the platform, with the PIN on standard input",
     .details = "The PIN is that of the two-step verification, six digits; if the number has none,\n"
                "this sets it. The number must be verified before. Registering again with the same\n"
                "PIN is harmless, but the platform takes 10 attempts in 72 hours."},
    {.noun = "line", .verb = "rate", .needs = NEEDS_STORE, .run = line_rate,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_PHONE_NUMBER_ID, VALUE_RATE},
     .summary = "set how many queued messages a line sends in a second",
     .details = "It concerns sends that wait in the queue, and campaigns; others are made at once.\n"
                "The default is 40, half of the platform's limit of 80, and 10 when the WhatsApp\n"
                "Business App uses the number too. A number that the platform has upgraded takes\n"
                "1000. A running sender obeys a lower number at once, and rises to a higher one by\n"
                "2 % of it each second."},
    {.noun = "line", .verb = "archive", .needs = NEEDS_STORE, .run = line_archive,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_PHONE_NUMBER_ID},
     .summary = "archive a line: GET /v2/me does not list it any more, and it cannot send"},
    {.noun = "line", .verb = "list", .needs = NEEDS_STORE, .run = line_list,
     .options = OPTION(ACCOUNT),
     .summary = "list phone lines, including archived ones"},

    {.noun = "contact", .verb = "block", .needs = NEEDS_STORE, .run = contact_block,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_PHONE_NUMBER_ID, VALUE_IDENTITY},
     .summary = "block a contact on a line: nothing is sent to them from it",
     .details = "An unknown phone number or BSUID becomes a contact."},
    {.noun = "contact", .verb = "unblock", .needs = NEEDS_STORE, .run = contact_unblock,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_PHONE_NUMBER_ID, VALUE_IDENTITY},
     .summary = "unblock a contact on a line"},
    {.noun = "contact", .verb = "list", .needs = NEEDS_STORE, .run = contact_list,
     .options = OPTION(ACCOUNT) | OPTION(LIMIT) | OPTION(AFTER),
     .summary = "list contacts and their threads, oldest first",
     .details = PAGES},
    {.noun = "contact", .verb = "split", .needs = NEEDS_STORE, .run = contact_split,
     .min_operands = 1, .max_operands = 2, .operands = {VALUE_CONTACT_ID, VALUE_IDENTITY},
     .summary = "undo a wrong merge: an identity of a contact is another person's",
     .details = "Without the phone number or BSUID, lists the contact's identities and the\n"
                "reported changes that joined them. With it, refuses the changes that led to the\n"
                "identity, or, where none did, those that led away from it. What was reported to\n"
                "follow from the identity goes with it, with its messages and blocks, to a contact\n"
                "of its own. The platform's repetitions of a refused change join nothing."},
    {.noun = "contact", .verb = "hold", .needs = NEEDS_STORE, .run = contact_hold,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_CONTACT_ID},
     .summary = "keep all of a contact, whatever the retention of its user is",
     .details = "A legal hold: nothing of the contact is deleted until `contact release`."},
    {.noun = "contact", .verb = "release", .needs = NEEDS_STORE, .run = contact_release,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_CONTACT_ID},
     .summary = "end the hold on a contact"},
    {.noun = "contact", .verb = "erase", .needs = NEEDS_STORE, .run = contact_erase,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_CONTACT_ID},
     .summary = "erase a person: the contact and all that names it",
     .details = "It cannot be undone. At once nothing leads to the contact any more; the courier\n"
                "deletes the rest in parts. A repetition prints how far it has come. After a\n"
                "restoration of a backup, repeat it for each contact that was erased since the\n"
                "backup was made."},
    {.noun = "contact", .verb = "export", .needs = NEEDS_STORE, .run = contact_export,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_CONTACT_ID},
     .options = OPTION(MEDIA),
     .summary = "print all that is held of a person",
     .details = "One JSON document: the contact with its identities, threads, messages and events,\n"
                "raw updates of the platform, and who received what. It is printed while it is\n"
                "read. One that broke off is no valid JSON. Files that the platform has are named\n"
                "by their id and the path by which they can be downloaded. With --media each\n"
                "message with a file has its name in the member media.file, or in media.missing why\n"
                "there is none, which is printed as a warning too. A repetition copies only what the\n"
                "directory lacks."},

    {.noun = "opt-out", .verb = "list", .needs = NEEDS_STORE, .run = opt_out_list,
     .min_operands = 1, .max_operands = 2, .operands = {VALUE_ACCOUNT_ID, VALUE_IDENTITY},
     .options = OPTION(LIMIT) | OPTION(AFTER),
     .summary = "list who gets no marketing from a business account, or whether one does not",
     .details = "SOURCE: `platform`, the person has stopped it in WhatsApp; `error`, the platform\n"
                "refused it for that (131050); `api`, a program, a member or this command. With a\n"
                "phone number or BSUID, lists the identities by which that person has opted out.\n"
                "\n" PAGES},
    {.noun = "opt-out", .verb = "add", .needs = NEEDS_STORE, .run = opt_out_add,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_ACCOUNT_ID, VALUE_IDENTITY},
     .summary = "opt a person out: campaigns with marketing leave them out",
     .details = "Running this again is harmless: the first source and time stay."},
    {.noun = "opt-out", .verb = "remove", .needs = NEEDS_STORE, .run = opt_out_remove,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_ACCOUNT_ID, VALUE_IDENTITY},
     .summary = "end the opt-out of a person, by each identity",
     .details = "It does not change what the person has chosen in WhatsApp, which goes on refusing\n"
                "marketing for that long."},

    {.noun = "message", .verb = "list", .needs = NEEDS_STORE, .run = message_list,
     .required = OPTION(CONTACT), .options = OPTION(LIMIT) | OPTION(AFTER),
     .summary = "list the messages from and to a contact, oldest first",
     .details = PAGES},

    {.noun = "trail", .needs = NEEDS_STORE, .run = trail_run,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .options = OPTION(CSV) | OPTION(LIMIT) | OPTION(AFTER),
     .summary = "list what was changed in a user's workspace, and by whom, newest first",
     .details = PAGES "\n"
                "With --csv all rows are printed. A text that a spreadsheet would take for a formula\n"
                "gets an apostrophe in front."},

    {.noun = "forms", .verb = "sync", .needs = NEEDS_STORE, .run = forms_sync,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ACCOUNT_ID},
     .summary = "store the platform's flows of an account for GET /v2/forms/search",
     .details = "All pages are read before anything is stored. Stored flows that the platform\n"
                "does not list any more are kept."},

    {.noun = "event", .verb = "list", .needs = NEEDS_STORE, .run = event_list,
     .options = OPTION(FAILED) | OPTION(LIMIT) | OPTION(AFTER),
     .summary = "list outbound events and their state of delivery, oldest first",
     .details = PAGES "\n\n"
                "An event is pending, done, dead (given up), cancelled (its webhook was unset),\n"
                "or suspended: it waits because its webhook failed for five days or answered 410."},
    {.noun = "event", .verb = "show", .needs = NEEDS_STORE, .run = event_show,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EVENT_ID},
     .summary = "show an event, its body and every attempt to deliver it"},
    {.noun = "event", .verb = "replay", .needs = NEEDS_STORE, .run = event_replay,
     .max_operands = 1, .operands = {VALUE_EVENT_ID}, .options = OPTION(SINCE) | OPTION(UNTIL),
     .summary = "deliver an event again, or all that were created in a period",
     .details = "Give either the ID, or --since and optionally --until (default: now). Id and\n"
                "body of an event stay the same. A period is replayed in steps of 500 events; if\n"
                "the command is interrupted, the completed steps stay."},
    {.noun = "event", .verb = "resume", .needs = NEEDS_STORE, .run = event_resume,
     .summary = "alias of `webhook resume` for every suspended webhook; a pause stays"},
    {.noun = "event", .verb = "test", .needs = NEEDS_STORE, .run = event_test,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "alias of `webhook test` for the user's first webhook"},
    {.noun = "event", .verb = "enable", .needs = NEEDS_STORE, .run = event_enable,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EVENT_TYPE, VALUE_EMAIL},
     .summary = "alias of `webhook change --types` that adds a type to the user's first webhook",
     .details = "If the user has no webhook, one without a URL is added."},
    {.noun = "event", .verb = "disable", .needs = NEEDS_STORE, .run = event_disable,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EVENT_TYPE, VALUE_EMAIL},
     .summary = "alias of `webhook change --types` that removes the type again"},

    {.noun = "webhook", .verb = "list", .needs = NEEDS_STORE, .run = webhook_list,
     .max_operands = 1, .operands = {VALUE_EMAIL},
     .summary = "list webhooks, oldest first",
     .details = "A webhook is active, paused, suspended (it failed for five days or answered 410;\n"
                "one event is tried per hour) or unset (it has no URL)."},
    {.noun = "webhook", .verb = "show", .needs = NEEDS_STORE, .run = webhook_show,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_WEBHOOK_ID},
     .summary = "show what a webhook gets and how its deliveries are"},
    {.noun = "webhook", .verb = "add", .needs = NEEDS_STORE, .run = webhook_add,
     .min_operands = 2, .max_operands = 2, .operands = {VALUE_EMAIL, VALUE_HOOK_URL},
     .options = OPTION(KIND) | OPTION(VERIFY_TOKEN_FILE) | OPTION(NAME) | OPTION(TYPES) |
                OPTION(LINES) | OPTION(FIELDS) | OPTION(UPDATES) | OPTION(SPLIT),
     .summary = "add a webhook to a user and print its id and its code, once",
     .details = "The kind event gets the gateway's events; --types selects some. The kind forward\n"
                "gets the platform's POSTs; --fields, --updates and --split are for it. Its URL is\n"
                "verified as the platform does, with the verify token, one line of\n"
                "--verify-token-file or of standard input. The token is not stored. The code signs\n"
                "what is posted."},
    {.noun = "webhook", .verb = "change", .needs = NEEDS_STORE, .run = webhook_change,
     .min_operands = 1, .max_operands = 2, .operands = {VALUE_WEBHOOK_ID, VALUE_HOOK_URL},
     .options = OPTION(VERIFY_TOKEN_FILE) | OPTION(NAME) | OPTION(TYPES) | OPTION(LINES) |
                OPTION(FIELDS) | OPTION(UPDATES) | OPTION(SPLIT) | OPTION(NO_SPLIT) |
                OPTION(NEW_CODE),
     .summary = "change the URL of a webhook, what it gets, or its code",
     .details = "A URL, the present one too, ends a suspension. A new URL of the kind forward is\n"
                "verified, as by `switchboard webhook add`. The replaced code of --new-code signs\n"
                "events for 24 hours more. A webhook without a code gets one with its URL."},
    {.noun = "webhook", .verb = "pause", .needs = NEEDS_STORE, .run = webhook_pause,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_WEBHOOK_ID},
     .summary = "post nothing to a webhook: its events wait"},
    {.noun = "webhook", .verb = "resume", .needs = NEEDS_STORE, .run = webhook_resume,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_WEBHOOK_ID},
     .summary = "end a pause or a suspension: the waiting events are delivered now"},
    {.noun = "webhook", .verb = "test", .needs = NEEDS_STORE, .run = webhook_test,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_WEBHOOK_ID},
     .summary = "send an event of type ping to a webhook and print its id",
     .details = "The courier delivers it like any other event; `switchboard event show` prints\n"
                "the attempts."},
    {.noun = "webhook", .verb = "delete", .needs = NEEDS_STORE, .run = webhook_delete,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_WEBHOOK_ID},
     .summary = "delete a webhook; the events that wait for it are cancelled"},

    {.noun = "archive", .verb = "check", .needs = NEEDS_STORE, .run = archive_check,
     .summary = "compare the files of media_archive with the database",
     .details = "Counts the files that no message has, as after the restoration of a backup, and\n"
                "the messages whose file is missing. The status is 1 if there are some. It reads\n"
                "all names, and no content."},
    {.noun = "archive", .verb = "repair", .needs = NEEDS_STORE, .run = archive_repair,
     .summary = "remove the files of media_archive that no message has, and copy missing ones again",
     .details = "The sender copies a missing file if the platform still has it. Files that are\n"
                "removed cannot be copied again once the platform has forgotten them: run it when\n"
                "the database is the right one."},

    {.noun = "retention", .verb = "list", .needs = NEEDS_STORE, .run = retention_list,
     .summary = "list the users for whom a retention is set"},
    {.noun = "retention", .verb = "set", .needs = NEEDS_STORE, .run = retention_set,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .options = OPTION(MESSAGES) | OPTION(RAW),
     .summary = "set how many days a user's messages and raw updates are kept",
     .details = "Without an option the limit of that kind stays. The courier deletes what is older\n"
                "once a day, in small parts. At least 8 days: the platform repeats a webhook for 7."},

    {.noun = "usage", .needs = NEEDS_STORE, .run = usage_run,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_EMAIL},
     .options = OPTION(SINCE) | OPTION(UNTIL),
     .summary = "print how many messages passed through a user's lines on each day",
     .details = "Days are of UTC: those of the last 30 days, or from --since on and before --until.\n"
                "GET /v2/usage has the same numbers, for other clocks too, and says what counts."},

    {.noun = "refusal", .verb = "list", .needs = NEEDS_STORE, .run = refusal_list,
     .summary = "list webhook payloads of the platform that exceed a limit and are not processed",
     .details = "A payload is refused if it holds more than 10,000 updates or more than a million\n"
                "values, is nested deeper than 128 levels, or would change more of the database\n"
                "than one request may. It is answered 200 and kept unchanged for 30 days. At most\n"
                "64 MiB are kept: beyond that, a payload is answered 503, and the platform sends it\n"
                "again for days."},
    {.noun = "refusal", .verb = "show", .needs = NEEDS_STORE, .run = refusal_show,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ROW_ID},
     .summary = "print the bytes of a refused payload"},
    {.noun = "refusal", .verb = "retry", .needs = NEEDS_STORE, .run = refusal_retry,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ROW_ID},
     .summary = "process a refused payload in several steps, and remove it from the list",
     .details = "It is processed in steps of 1,000 updates, between which the gateway continues\n"
                "to work. If the command is interrupted, run it again: no update is stored twice.\n"
                "A payload that is nested deeper than 128 levels or has more than a million values\n"
                "cannot be read, and stays in the list: `refusal show` prints it."},
    {.noun = "refusal", .verb = "drop", .needs = NEEDS_STORE, .run = refusal_drop,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_ROW_ID},
     .summary = "remove a refused payload from the list without processing it"},

    {.noun = "key", .verb = "list", .needs = NEEDS_STORE, .run = key_list,
     .summary = "list the keys that encrypt at rest, and count the values each has sealed",
     .details = "Platform access tokens and webhook codes are sealed. The keys themselves are not\n"
                "shown."},
    {.noun = "key", .verb = "rotate", .needs = NEEDS_STORE, .run = key_rotate,
     .summary = "seal everything with a new key and remove the old ones",
     .details = "For one host: with a database on a server use `switchboard key add`. The\n"
                "gateway and the courier continue to work meanwhile. If the command is\n"
                "interrupted, the key file still opens everything; run it again. Older backups\n"
                "open only with the key file of their time: keep that file as long as the\n"
                "backups, and apart from them."},

    {.noun = "key", .verb = "add", .needs = NEEDS_STORE, .run = key_add,
     .summary = "add a new key to the key file of this host, which does not seal yet",
     .details = "This begins a rotation for several hosts on one database: add a key; copy the key\n"
                "file to all hosts; `switchboard key use ID`; copy it again; `switchboard key drop\n"
                "ID` for the old key; copy it again. The gateway and the couriers continue to\n"
                "work. Each step may be run again after it was interrupted."},
    {.noun = "key", .verb = "use", .needs = NEEDS_STORE, .run = key_use,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_KEY_ID},
     .summary = "seal everything with this key, and new values on this host too",
     .details = "Every host must have the key: the command fails if the courier of another host has\n"
                "reported a key file without it in the last 120 seconds, and warns of hosts whose\n"
                "couriers are silent. The old keys stay in the file."},
    {.noun = "key", .verb = "drop", .needs = NEEDS_STORE, .run = key_drop,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_KEY_ID},
     .summary = "remove an old key from the key file of this host",
     .details = "What it has sealed is sealed with the newest key first. The command fails if the\n"
                "courier of another host has reported in the last 120 seconds that it seals with\n"
                "another key than this host. Older backups need the key file of their time."},

    {.noun = "doctor", .needs = NEEDS_NO_FILE, .run = doctor_run,
     .options = OPTION(FULL) | OPTION(ONLINE) | OPTION(URL),
     .summary = "show the configuration and check the installation",
     .details = "Each line begins with ok, warn or FAIL; one FAIL makes the exit status 1. Only\n"
                "the tables of users, accounts and lines are checked for damage, so the time does\n"
                "not grow with the traffic. --full checks the whole database, and every reference\n"
                "from one row to another. With --url or public_url the web server is asked too: whether\n"
                "the programs answer, the token reaches them, no private file is served, and no\n"
                "firewall, front end or rule of another site keeps requests from the gateway. A web\n"
                "server that does not answer within 10 seconds is asked no further; all requests take\n"
                "a minute at most.\n"
                "--online adds what `switchboard account check` prints for each account."},
    {.noun = "backup", .needs = NEEDS_STORE, .run = backup_run,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_FILE},
     .summary = "write a checked copy of the database to a new file",
     .details = "The gateway continues to work meanwhile. `switchboard restore` restores the\n"
                "copy. The key file is not part of it."},
    {.noun = "restore", .needs = NEEDS_CONFIG, .run = restore_run,
     .options = OPTION(FORCE),
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_FILE},
     .summary = "replace the content of the database by that of a backup",
     .details = "The backup is checked first. The gateway may continue to work: the content of\n"
                "the database is copied to DATABASE.before-restore and replaced in one\n"
                "transaction. Owner and mode stay. The secrets of a backup open only with the key\n"
                "file of its time: if one does not open with the present key file, the command\n"
                "changes nothing, except with --force. If there is no database, it is created with\n"
                "the owner and group of its directory."},

    {.noun = "copy-to", .needs = NEEDS_CONFIG, .run = copy_to_run,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_TARGET},
     .summary = "move the database to a PostgreSQL server, or from there to a new file",
     .details = "Needs a program that supports PostgreSQL. The gateway works during the copy. Then\n"
                "writers wait while the changes made meanwhile are copied, and number and hash of\n"
                "the rows of every table are compared. From then on programs refuse the former\n"
                "database, which keeps its content. Set `database` to the new one and restart the\n"
                "courier and the pools. The target must have no rows. A command that failed or\n"
                "was interrupted is repeated with the same target. A TARGET - is read from\n"
                "standard input: a URL with a password is refused as an argument, which every\n"
                "user of the machine can see."},

    {.noun = "manual", .needs = NEEDS_NO_FILE, .run = manual_run,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_PAGE},
     .summary = "print the manual page switchboard(8) or switchboard.conf(5)",
     .details = "`switchboard manual switchboard.conf | man -l -` shows it."},
    {.noun = "completion", .needs = NEEDS_NO_FILE, .run = completion_run,
     .min_operands = 1, .max_operands = 1, .operands = {VALUE_SHELL},
     .summary = "print the completion of this command for bash or zsh",
     .details = "bash reads it by `source <(switchboard completion bash)`; zsh as the file\n"
                "_switchboard in a directory of fpath."},
    {0},
};
/* clang-format on */

static int find_config(struct invocation *call) {
    const char *error, *path = config_path_of(call->options[OPTION_CONFIG]);
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
    const char *file = target_file(call->config.database);
    if (file && access(file, F_OK) != 0)
        return fail("there is no database %s: `switchboard init` creates it", file);
    enum store_result result = store_open(call->config.database, &call->store);
    call->now = clock_now(); /* a server of the database has set the clock */
    return result == STORE_OK ? EXIT_DONE : fail_store(call, result);
}

static int run(struct invocation *call, int argc, char **argv) {
    int status = parse_words(call, argc, argv);
    if (status != EXIT_DONE)
        return status;
    if (call->options[OPTION_HELP])
        return help_print(call), EXIT_DONE;
    if (!call->command)
        return linked_print(), EXIT_DONE;
    if ((status = find_config(call)) != EXIT_DONE || (status = open_store(call)) != EXIT_DONE)
        return status;
    deed_begin(call);
    return call->command->run(call);
}

int main(int argc, char **argv) {
    struct invocation call = {.now = clock_now()};
    umask(007); /* other users get no access to the files created here */
    confine_memory();
    arena_init(&call.arena, (size_t)2 << 30, NULL);
    int status = run(&call, argc, argv);
    store_close(call.store);
    arena_free(&call.arena);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail("cannot write to standard output; the command itself was carried out");
    return status;
}
