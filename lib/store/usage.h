/* What passed through a user's lines, counted for each hour (table usage). */
#ifndef SWITCHBOARD_STORE_USAGE_H
#define SWITCHBOARD_STORE_USAGE_H

#include "store/line.h"

enum { USAGE_HOUR_MS = 60 * 60 * 1000 };

/* A message counts once for each measure, in the hour in which the gateway recorded it. Old
 * messages of a history are not counted. */
enum usage_measure {
    USAGE_IN,        /* incoming messages */
    USAGE_OUT,       /* outgoing ones, by this API, from the phone app or by another program */
    USAGE_SENT,      /* outgoing ones with this status or a later one */
    USAGE_DELIVERED, /* the same */
    USAGE_READ,      /* the same */
    USAGE_FAILED,    /* that failed, even when they were delivered later */
    USAGE_MARKETING, /* delivered ones of this category in the platform's `pricing` */
    USAGE_UTILITY,
    USAGE_AUTHENTICATION,
    USAGE_SERVICE,
    USAGE_MEASURES
};

/* The names in the table. */
extern const char *const usage_names[USAGE_MEASURES];

/* Returns the measure of this name; USAGE_MEASURES for any other text and for NULL. */
enum usage_measure usage_find(const char *name);

/* The sums of consecutive periods, for example of days. */
struct usage_period {
    int64_t counts[USAGE_MEASURES];
};

/* Adds the counts of the hours from `first` on to the `count` periods of `length` hours each, for
 * one line, or all lines of the user with `line_id` NULL. An hour is milliseconds since 1970
 * divided by USAGE_HOUR_MS. */
enum store_result store_sum_usage(struct store *store, const char *user_id, const char *line_id,
                                  int64_t first, int64_t length, struct usage_period *periods,
                                  size_t count);

/* The last hours of a line; INT64_MIN: there was none. */
struct usage_last {
    int64_t sent;    /* with an outgoing message */
    int64_t webhook; /* with a message or status that a webhook of the platform brought */
};

/* Finds the last hours of each of the user's `count` lines, which are in the order of their ids,
 * from the hour `first` on; of the outgoing messages those up to the hour `latest`. */
enum store_result store_find_last_usage(struct store *store, const char *user_id, int64_t first,
                                        int64_t latest, const struct line *lines, size_t count,
                                        struct usage_last *last);

/* Lists the lines of the user's account in the order of their creation, with the last hours of each
 * in the `days` before the time `now`, ms. */
enum store_result store_list_line_usage(struct store *store, struct arena *arena,
                                        const char *user_id, const char *account_id, int days,
                                        int64_t now, struct line **lines, struct usage_last **last,
                                        size_t *count);

/* About how many bytes of the database's file an average message takes, with its statuses and
 * indexes (doc/operation.md). */
enum { USAGE_MESSAGE_BYTES = 1140 };

/* Counts the messages in and out of all lines in the 24 hours before `now`, ms. */
enum store_result store_count_messages(struct store *store, int64_t now, int64_t *count);

/* Internal to the store: counts a message of the line at this time, in ms, within the open
 * transaction, which writes the counts last; for USAGE_MEASURES nothing. False on failure. */
bool usage_count(struct store *store, const char *user_id, const char *line_id, int64_t now,
                 enum usage_measure measure);

#endif
