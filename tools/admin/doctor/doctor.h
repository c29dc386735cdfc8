/* The report of `switchboard doctor`. */
#ifndef SWITCHBOARD_ADMIN_DOCTOR_H
#define SWITCHBOARD_ADMIN_DOCTOR_H

#include <sys/stat.h>

#include "../command.h"
#include "../output.h"
#include "base/keyring.h"
#include "store/upkeep.h"

enum level { OK, WARN, FAIL };

struct report {
    struct invocation *call;
    struct json_writer json;
    struct table table;
    bool has_keys;
    struct keyring keys;
    enum level worst;
};

/* A line of the report. */
struct report_row {
    enum level level;
    const char *what;       /* the fixed name of the check */
    const char *account_id; /* that it is about; NULL: the installation */
    const char *detail;
    const char *todo; /* NULL: nothing */
};

void report_add_row(struct report *report, const struct report_row *row);

/* Adds a line to the report. `what` is the fixed name of the check; the detail is free text. */
void report_add(struct report *report, enum level level, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The first file that cannot be used. */
struct verdict {
    int file;  /* its index; -1: all can be used */
    int error; /* errno */
};

/* Finds the directory whose owner and group are the service's. False if it is missing. */
bool doctor_find_service(struct invocation *call, struct stat *owner);

/* Tries whether the service's user and group may use the files, as user for root and otherwise with
 * the rights of the caller. Returns false if that is impossible. */
bool doctor_try(const struct stat *owner, const struct store_file *files, size_t count,
                struct verdict *verdict);

/* Reads the first bytes of a file, at most `size`. Returns their number; 0 if there are none. */
size_t doctor_read_start(const char *path, void *bytes, size_t size);

/* Checks that the file of the counters can be used or created, and changes nothing. */
void doctor_check_counters(struct report *report);

/* Checks that keys, configuration, log, counters and programs do not lie below a directory in which
 * programs change files. */
void doctor_check_layout(struct report *report);

/* Checks the rights of the role of database_reader, and how many connections the pools of this host
 * may need; adds nothing for a database without roles and limits. */
void doctor_check_reader(struct report *report);
void doctor_check_connections(struct report *report);

/* Adds what the store found. */
void report_add_findings(struct report *report, const struct store_finding *findings, size_t count);

/* Reports the records that wait in pending_dir, and those that cannot be stored. */
void doctor_check_pending(struct report *report);
void doctor_check_growth(struct report *report);

/* Reports queued sends that are due while no sender runs, or for long. */
void doctor_check_sender(struct report *report);

/* Reports what the archive of media has to do, and whether its disk has room. */
void doctor_check_archive(struct report *report);

/* Looks at the gateway from outside, by HTTP requests to --url or public_url, within a minute;
 * adds nothing when neither is given. */
void doctor_check_site(struct report *report);

/* Adds the lines about the hosts on the database. */
void doctor_check_hosts(struct report *report);

/* Checks the accounts at the platform, with --online only. */
void doctor_check_online(struct report *report);

/* Adds the lines about one account at the platform. */
void report_add_account(struct report *report, const struct store_account *account);

/* Checks run_dir, and whether the courier of this host listens there. */
void doctor_check_wake(struct report *report);

#endif
