/* Sends that a client has handed over (`Prefer: respond-async`, sendAt), and the calls of the
 * program that makes them, the sender. For each row at most one POST is made, unless it is certain
 * that the platform has not accepted the one before:
 *
 *     queued -> sending -> accepted | failed | unknown
 *     queued -> expired | cancelled | suppressed
 *     sending -> queued     it was not sent, or the platform refused it for a passing reason
 *     any    -> accepted    a status of the platform shows it (store_ingest)
 *
 * A row that ended is not sent again: store_retry_outgoing makes another one of its message, once.
 */
#ifndef SWITCHBOARD_STORE_OUTGOING_H
#define SWITCHBOARD_STORE_OUTGOING_H

#include "store/assignment.h"
#include "store/event.h"
#include "store/listing.h"

struct store_outgoing {
    const char *id, *user_id, *account_id, *line_id;
    const char *phone_number_id; /* of the line */
    const char *recipient;       /* digits or BSUID */
    struct slice body;           /* for the platform; empty once the message is stored;
                                    p NULL: it was not read */
    const char *state, *reason;  /* reason NULL: nothing is to be said */
    struct slice error;          /* the platform's last refusal; n == 0: none */
    int64_t attempts, send_at, next_at, expires_at, created_at;
    int64_t finished_at;               /* INT64_MAX: it waits, or is being sent */
    const char *wamid;                 /* NULL: not accepted */
    struct actor by;                   /* who handed it over */
    const char *retry_of, *retried_as; /* the rows before and after it; NULL: none */
    const char *campaign_id;           /* NULL: a single send (campaign.h) */
    /* store_take_outgoing only */
    struct slice sealed_token; /* of the account */
    const char *hindrance;     /* why it must not be sent: user_deleted, account_without_token,
                                  line_archived, plan_ended; NULL: nothing */
    bool is_marketing;         /* of a campaign whose template is marketing */
};

/* Inserts a row with id, owner, line, recipient, body, times and `by`. STORE_CONFLICT: the thread
 * of `to` is a colleague's (assignment.h), and the row was not there already. */
enum store_result store_insert_outgoing(struct store *store, const struct store_addressee *to,
                                        const struct store_outgoing *row);

/* Finds the row of the view, or STORE_NOT_FOUND. A view of a member's threads has the member's own
 * rows, and those to people whose thread on the line it has, or who have none. */
enum store_result store_find_outgoing(struct store *store, struct arena *arena,
                                      const struct store_view *view, const char *id,
                                      struct store_outgoing *row);

/* Which rows of the view a list has; NULL: any. */
struct store_outgoing_filter {
    const struct store_view *view;
    const char *state, *line_id;
    const char *recipient; /* as in struct store_outgoing */
};

/* Lists them, newest first, without their bodies; with a recipient, the bodies that are not large.
 */
enum store_result store_list_outgoing(struct store *store, struct arena *arena,
                                      const struct store_outgoing_filter *filter,
                                      const struct store_page *page, struct store_outgoing **rows,
                                      size_t *count);

/* Cancels the row of the view. STORE_NOT_FOUND: there is none. STORE_CONFLICT: it is neither queued
 * nor cancelled. */
enum store_result store_cancel_outgoing(struct store *store, const struct store_view *view,
                                        const char *id, int64_t now);

/* Inserts the row, as store_insert_outgoing does, to send the message of the user's row
 * `row->retry_of` again. STORE_CONFLICT: that one has neither failed nor expired, has no body any
 * more, or is sent again by another row (retried_as); or as before, then `*is_of_colleague`. */
enum store_result store_retry_outgoing(struct store *store, const struct store_addressee *to,
                                       const struct store_outgoing *row, bool *is_of_colleague);

enum { OUTGOING_CODE_SIZE = 24 };

/* Reads the platform's code of a failure: of the answer that refused the send, or of the status of
 * its message, which has an array of errors. False, and "": there is none. */
bool outgoing_read_code(struct slice error, char code[OUTGOING_CODE_SIZE]);

/* --- the sender --- */

enum { SENDER_LEASE_MS = 15 * 1000 };

/* Takes or extends the lease of the only sender that takes rows. *is_held: `owner` has it. Rows
 * that another owner was sending are unknown then. */
enum store_result store_hold_sender_lease(struct store *store, const char *owner, int64_t now,
                                          bool *is_held);

/* Ends the owner's lease, so that the next sender need not wait for its end. */
enum store_result store_end_sender_lease(struct store *store, const char *owner, int64_t now);

/* Corrects the times of rows that were written while the clock was ahead by more than an hour, so
 * that none waits for such a time: a row without a sendAt becomes due, and an outcome becomes an
 * event. Reads what was created after `now`: for the start, and when the clock was set back. */
enum store_result store_correct_outgoing(struct store *store, int64_t now);

/* A line with rows that wait. */
struct outgoing_line {
    char id[ID_SIZE];
    bool is_coexisting;
    int64_t send_rate; /* 0: the default */
    int64_t due_at;    /* of its first row that is not being sent; INT64_MAX: none */
};

/* Finds the next line with waiting rows, in the order of the ids, after `after`; or
 * STORE_NOT_FOUND. */
enum store_result store_next_outgoing_line(struct store *store, const char *after,
                                           struct outgoing_line *line);

/* Ends rows that have waited too long, some hundreds at once. */
enum store_result store_expire_outgoing(struct store *store, int64_t now, size_t *expired);

struct store_take {
    const char *owner;   /* the sender, which has the lease */
    const char *take_id; /* of this call */
    const char *line_id;
    size_t limit;
    int64_t now;
};

/* Takes rows of the line that are due, in the order of (send_at, id), each only when no earlier row
 * of its recipient waits or is being sent. Takes nothing without the lease. */
enum store_result store_take_outgoing(struct store *store, struct arena *arena,
                                      const struct store_take *take, struct store_outgoing **rows,
                                      size_t *count);

/* Which campaigns the platform's answer pauses. */
enum outgoing_pause { PAUSE_NONE, PAUSE_CAMPAIGN, PAUSE_LINE };

/* So many answers of one kind in a row (sending/streak.h). */
struct outgoing_streak {
    const char *name; /* the id of the line or of the campaign; NULL: the answer changes none */
    int64_t kind, count;
};

enum { OUTGOING_STREAKS = 2 }; /* that one answer may change: of its line, of its campaign */

/* Lists the streaks of lines, and of campaigns that have not ended. */
enum store_result store_list_streaks(struct store *store, struct arena *arena, size_t limit,
                                     struct outgoing_streak **streaks, size_t *count);

/* What became of a row that was taken and not accepted. */
struct outgoing_outcome {
    const char *id, *owner, *take_id;
    const char *campaign_id; /* NULL: a single send */
    const char *state;       /* queued, failed, unknown or suppressed */
    const char *reason;
    struct slice error; /* n == 0: none */
    bool is_free;       /* queued: the attempt does not count */
    int64_t next_at, now;
    enum outgoing_pause pause; /* with `pause_reason` */
    const char *pause_reason;
    const struct outgoing_streak *streaks; /* OUTGOING_STREAKS that it changes; NULL: none */
    bool opts_out;       /* the platform says that the recipient wants no marketing (opt_out.h) */
    event_writer *write; /* of the events of the campaigns that pause */
};

/* Stores it, unless a status has shown meanwhile that the message was accepted, or another sender
 * has taken the row. */
enum store_result store_end_outgoing(struct store *store, const struct outgoing_outcome *outcome);

/* Lists rows that a status showed to be accepted, and whose message is not stored: the caller
 * stores it by store_insert_send with `outgoing_id`. */
enum store_result store_list_unrecorded(struct store *store, struct arena *arena, size_t limit,
                                        struct store_outgoing **rows, size_t *count);

/* Whether rows wait or are being sent, or campaigns have not ended. */
enum store_result store_has_waiting_outgoing(struct store *store, bool *waits);

/* Makes the rows that wait or are being sent unknown, with the reason `restored`: they are of a
 * backup, and may have been sent since; for the same reason campaigns that have not ended are
 * cancelled. Some hundreds at once. */
enum store_result store_hold_outgoing(struct store *store, int64_t now, event_writer *write,
                                      size_t *held);

/* Adds the events outgoing.finished of single sends that have ended, some dozens at once. The
 * transaction in which a send ends marks it, so none is lost; one whose outcome is unknown is
 * marked for some minutes later, since a status may show meanwhile that it was accepted. */
enum store_result store_report_outgoing(struct store *store, int64_t now, event_writer *write,
                                        size_t *reported);

/* Deletes rows that ended long ago, some hundreds at once: regular work (chore.h). */
enum store_result store_delete_old_outgoing(struct store *store, int64_t now, size_t *removed);

#endif
