/* The report of `switchboard doctor`. */
#ifndef SWITCHBOARD_ADMIN_DOCTOR_H
#define SWITCHBOARD_ADMIN_DOCTOR_H

#include "base/keyring.h"
#include "command.h"
#include "output.h"

enum level { OK, WARN, FAIL };

struct report {
    struct invocation *call;
    struct json_writer json;
    struct table table;
    bool has_keys;
    struct keyring keys;
    enum level worst;
};

/* Adds a line to the report. `what` is the fixed name of the check; the detail is free text. */
void report_add(struct report *report, enum level level, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Looks at the gateway from outside, by HTTP requests to --url or public_url; adds nothing when
 * neither is given. */
void doctor_check_site(struct report *report);

#endif
