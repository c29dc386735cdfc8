#include "sending/pace.h"

enum { /* ms */
       SECOND = 1000,
       INTERVAL = 100, /* the bucket holds the tokens of one, or of the work since the last fill */
       LONGEST_WORK = SECOND,
       SHORTEST_REST = 25,
       LONGEST_REST = 250,
       LONGEST_EXCHANGE = 10 * SECOND /* after a longer time the line had no rows */
};
static const double slower = 0.75, rise = 0.02 /* of the set rate, each second */;

void pace_init(struct pace *pace) {
    pace->table = TABLE_OF(pace->lines, pace->hashes);
}

double pace_rate(int64_t own, bool is_coexisting) {
    return own ? (double)own : is_coexisting ? PACE_RATE_COEXISTING : PACE_RATE;
}

struct pace_line *pace_find(struct pace *pace, const char *line_id, double rate, int64_t now) {
    bool is_new;
    struct pace_line *line = table_find(&pace->table, line_id, &is_new);
    if (is_new) {
        line->rate = rate;
        line->tokens = 1;
        line->filled_at = now;
        line->waited = pace->waited;
    }
    return line;
}

void pace_wait(struct pace *pace, int64_t ms) {
    pace->waited += ms;
}

/* How long the line collects tokens, if it was filled `elapsed` ms ago. */
static int64_t depth_of(const struct pace *pace, const struct pace_line *line, int64_t elapsed) {
    const int64_t worked = elapsed > LONGEST_EXCHANGE ? 0 : elapsed - (pace->waited - line->waited);
    return worked < INTERVAL ? INTERVAL : worked > LONGEST_WORK ? LONGEST_WORK : worked;
}

static void fill(const struct pace *pace, struct pace_line *line, double most, int64_t now) {
    const int64_t elapsed = now - line->filled_at;
    if (elapsed <= 0)
        return;
    line->rate += (double)elapsed / SECOND * rise * most;
    if (line->rate > most)
        line->rate = most;
    const double share = line->rate * (double)depth_of(pace, line, elapsed) / SECOND;
    const double depth = share > 1 ? share : 1;
    line->tokens += (double)elapsed / SECOND * line->rate;
    if (line->tokens > depth)
        line->tokens = depth;
    line->filled_at = now;
    line->waited = pace->waited;
}

size_t pace_room(const struct pace *pace, struct pace_line *line, double rate, int64_t now) {
    fill(pace, line, rate, now);
    return now < line->blocked_until || now < line->rests_until || line->tokens < 1
               ? 0
               : (size_t)line->tokens;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

int64_t pace_room_at(const struct pace_line *line, int64_t now) {
    const double missing = line->tokens < 1 ? 1 - line->tokens : 0;
    const int64_t token_at = now + (int64_t)(missing / line->rate * SECOND) + 1;
    return later(later(now + SHORTEST_REST, token_at),
                 later(line->blocked_until, line->rests_until));
}

void pace_use(struct pace_line *line, size_t rows) {
    line->tokens -= (double)rows;
    line->entry.load += rows;
    line->rest = 0;
}

void pace_rest(struct pace_line *line, int64_t now) {
    line->rest = !line->rest                     ? SHORTEST_REST
                 : line->rest * 2 < LONGEST_REST ? line->rest * 2
                                                 : LONGEST_REST;
    line->rests_until = now + line->rest;
}

void pace_end(struct pace_line *line) {
    line->entry.load--;
    line->rest = line->rests_until = 0;
}

void pace_slow(struct pace_line *line, int64_t now) {
    if (line->slowed_at && now - line->slowed_at < SECOND)
        return;
    line->slowed_at = now;
    line->rate *= slower;
    if (line->rate < 1)
        line->rate = 1;
}

void pace_pause(struct pace_line *line, int64_t now, int64_t ms) {
    if (now + ms > line->blocked_until)
        line->blocked_until = now + ms;
}
