#include "store/ingest/grouping.h"

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* --- boundaries of a phone --- */

/* The boundary that the change makes for the phone; 0: none. */
static int64_t boundary_of(const struct change_sign *change, const char *phone) {
    if (is(change->old_phone, change->new_phone))
        return 0;
    return is(change->new_phone, phone)   ? position_of(change->at)
           : is(change->old_phone, phone) ? position_of(change->at) + 1
                                          : 0;
}

int64_t grouping_boundary(const struct grouping *g, const char *phone, int64_t position) {
    int64_t last = 0;
    for (size_t i = 0; i < g->change_count; i++) {
        const int64_t boundary = boundary_of(&g->changes[i], phone);
        if (boundary <= position && boundary > last)
            last = boundary;
    }
    return last;
}

int64_t grouping_boundary_after(const struct grouping *g, const char *phone, int64_t position) {
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < g->change_count; i++) {
        const int64_t boundary = boundary_of(&g->changes[i], phone);
        if (boundary > position && boundary < next)
            next = boundary;
    }
    return next;
}

/* --- the owner of a phone --- */

/* A time between two boundaries of a phone. */
struct segment {
    const char *phone;
    int64_t begin, end;
};

static struct segment segment_at(const struct grouping *g, const char *phone, int64_t position) {
    return (struct segment){phone, grouping_boundary(g, phone, position),
                            grouping_boundary_after(g, phone, position)};
}

static bool is_of_segment(const struct sign *s, const struct segment *segment) {
    if (s->is_gone || s->is_blank || !is(s->phone, segment->phone))
        return false;
    if (!*s->bsuid)
        return s->since == segment->begin;
    return position_of(s->last_at) >= segment->begin && position_of(s->first_at) < segment->end;
}

/* The last time at or before the position at which the sign was shown; -1: none. */
static int64_t shown_by(const struct sign *s, int64_t position) {
    if (position_of(s->first_at) > position)
        return -1;
    return position_of(s->last_at) < position ? position_of(s->last_at) : position;
}

/* Whether a is the better answer than b to who had the phone at the position. */
static bool is_better(const struct sign *a, const struct sign *b, int64_t position) {
    const int64_t by_a = shown_by(a, position), by_b = shown_by(b, position);
    if (by_a < 0 && by_b < 0)
        return a->first_at < b->first_at;
    if (by_a != by_b)
        return by_a > by_b;
    if (a->first_at != b->first_at)
        return a->first_at > b->first_at;
    return 2 * a->is_new + a->is_kept > 2 * b->is_new + b->is_kept;
}

/* At INT64_MAX: the sign that was shown last in the segment. */
static size_t holder_in(const struct grouping *g, const struct segment *segment, int64_t position) {
    size_t best = NO_SIGN, alone = NO_SIGN;
    for (size_t i = 0; i < g->sign_count; i++) {
        const struct sign *s = &g->signs[i];
        if (!is_of_segment(s, segment))
            continue;
        if (!*s->bsuid)
            alone = i;
        else if (best == NO_SIGN || is_better(s, &g->signs[best], position))
            best = i;
    }
    return best == NO_SIGN ? alone : best;
}

size_t grouping_holder(const struct grouping *g, const char *phone, int64_t position) {
    const struct segment segment = segment_at(g, phone, position);
    return holder_in(g, &segment, position);
}

size_t grouping_present(const struct grouping *g, const char *phone) {
    const struct segment segment = segment_at(g, phone, INT64_MAX);
    return holder_in(g, &segment, INT64_MAX);
}

size_t grouping_last(const struct grouping *g, const char *phone) {
    size_t found = NO_SIGN;
    for (int64_t position = INT64_MAX; found == NO_SIGN && position >= 0;) {
        const struct segment segment = segment_at(g, phone, position);
        found = holder_in(g, &segment, INT64_MAX);
        position = segment.begin - 1;
    }
    return found;
}

/* --- the union --- */

static size_t root_of(const struct grouping *g, size_t i) {
    while (g->signs[i].up != i)
        i = g->signs[i].up;
    return i;
}

static void join(struct grouping *g, size_t a, size_t b) {
    if (a == NO_SIGN || b == NO_SIGN)
        return;
    const size_t root_a = root_of(g, a), root_b = root_of(g, b);
    g->signs[root_a > root_b ? root_a : root_b].up = root_a > root_b ? root_b : root_a;
}

static bool has_name(const struct sign *s, const char *name) {
    return name && *name && !s->is_gone &&
           (is(s->bsuid, name) || is_set_and_equal(s->parent, name));
}

static size_t sign_of_bsuid(const struct grouping *g, const char *bsuid) {
    for (size_t i = 0; i < g->sign_count; i++)
        if (has_name(&g->signs[i], bsuid))
            return i;
    return NO_SIGN;
}

/* A blank contact, with a phone alone, is of the person that the payload shows with the phone. */
static bool is_of_blank(const struct sign *blank, const struct sign *s) {
    return blank->is_blank && !*blank->bsuid && s->is_new && is(blank->phone, s->phone);
}

static void join_names(struct grouping *g) {
    for (size_t i = 0; i < g->sign_count; i++)
        for (size_t j = 0; j < g->sign_count; j++)
            if (i != j && !g->signs[i].is_gone &&
                (has_name(&g->signs[j], g->signs[i].bsuid) ||
                 has_name(&g->signs[j], g->signs[i].parent) ||
                 is_of_blank(&g->signs[i], &g->signs[j])))
                join(g, i, j);
}

static void join_phones(struct grouping *g) {
    for (size_t i = 0; i < g->sign_count; i++) {
        const struct sign *s = &g->signs[i];
        if (!*s->bsuid && !s->is_gone && !s->is_blank)
            join(g, i, grouping_holder(g, s->phone, position_of(s->first_at)));
    }
}

/* Whether the phone's owner at the position came there by a change while another person had the
 * phone, who was not reported to leave it. Then a change from the phone may be of either. */
static bool is_disputed(const struct grouping *g, const char *phone, int64_t position) {
    const int64_t begin = grouping_boundary(g, phone, position);
    bool is_arrival = false;
    for (size_t i = 0; i < g->change_count; i++) {
        const struct change_sign *change = &g->changes[i];
        is_arrival |= is(change->new_phone, phone) && boundary_of(change, phone) == begin;
    }
    return is_arrival && grouping_holder(g, phone, begin - 1) != NO_SIGN;
}

/* The person who had the phone before the change, or has it after. */
static size_t side_of(const struct grouping *g, const char *bsuid, const char *phone, int64_t at) {
    const size_t found = sign_of_bsuid(g, bsuid);
    return found != NO_SIGN || !*phone ? found : grouping_holder(g, phone, at);
}

void grouping_sides(const struct grouping *g, const struct change_sign *change, size_t *from,
                    size_t *to) {
    const int64_t at = position_of(change->at);
    *from = *to = NO_SIGN;
    if (!*change->old_bsuid && is_disputed(g, change->old_phone, at))
        return;
    *from = side_of(g, change->old_bsuid, change->old_phone, at);
    *to = side_of(g, change->new_bsuid, change->new_phone, at);
}

static void join_changes(struct grouping *g) {
    for (size_t i = 0; i < g->change_count; i++) {
        size_t from, to;
        grouping_sides(g, &g->changes[i], &from, &to);
        if (!g->changes[i].refused_at)
            join(g, from, to);
    }
}

void grouping_make(struct grouping *g) {
    for (size_t i = 0; i < g->sign_count; i++)
        g->signs[i].up = i;
    join_names(g);
    join_phones(g);
    join_changes(g);
    for (size_t i = 0; i < g->sign_count; i++)
        g->signs[i].group = root_of(g, i);
}

/* --- the present identities of a person --- */

/* The last time at which the BSUID was shown. */
static int64_t last_of(const struct grouping *g, const char *bsuid) {
    int64_t last = 0;
    for (size_t i = 0; i < g->sign_count; i++)
        if (is(g->signs[i].bsuid, bsuid) && !g->signs[i].is_gone && g->signs[i].last_at > last)
            last = g->signs[i].last_at;
    return last;
}

/* Whether the person changed from this BSUID to another one when it was last shown, or after. */
static bool is_former(const struct grouping *g, const char *bsuid, int64_t last_at) {
    for (size_t i = 0; i < g->change_count; i++) {
        const struct change_sign *change = &g->changes[i];
        if (!change->refused_at && is(change->old_bsuid, bsuid) && *change->new_bsuid &&
            !is(change->new_bsuid, bsuid) && change->at >= last_at)
            return true;
    }
    return false;
}

/* A phone or a BSUID of a person. The greater one is the present one: first by is_present, then by
 * the time, then by the rank. */
struct candidate {
    const char *identity;
    bool is_present;
    int64_t last_at;
    int rank;
};

static void choose(struct candidate *best, const struct candidate *found) {
    const bool is_later =
        found->last_at != best->last_at ? found->last_at > best->last_at : found->rank > best->rank;
    if (!best->identity || (found->is_present != best->is_present ? found->is_present : is_later))
        *best = *found;
}

static bool is_shown_in(const struct sign *s, size_t group) {
    return s->group == group && !s->is_gone && !s->is_blank;
}

const char *grouping_phone(const struct grouping *g, size_t group, const char *known) {
    struct candidate best = {.identity = NULL};
    for (size_t i = 0; i < g->sign_count; i++) {
        const struct sign *s = &g->signs[i];
        const size_t holder =
            is_shown_in(s, group) && *s->phone ? grouping_present(g, s->phone) : NO_SIGN;
        if (holder == NO_SIGN || g->signs[holder].group != group)
            continue;
        const bool is_old = *s->bsuid && is_former(g, s->bsuid, last_of(g, s->bsuid));
        const struct candidate found = {s->phone, true, s->last_at,
                                        4 * !is_old + 2 * s->is_new +
                                            is_set_and_equal(s->phone, known)};
        choose(&best, &found);
    }
    return best.identity;
}

const char *grouping_bsuid(const struct grouping *g, size_t group, const char *phone,
                           const char *known) {
    struct candidate best = {.identity = NULL};
    for (size_t i = 0; i < g->sign_count; i++) {
        const struct sign *s = &g->signs[i];
        if (!is_shown_in(s, group) || !*s->bsuid)
            continue;
        const int64_t last_at = last_of(g, s->bsuid);
        const struct candidate found = {s->bsuid, !is_former(g, s->bsuid, last_at), last_at,
                                        4 * s->is_new + 2 * is_set_and_equal(s->phone, phone) +
                                            is_set_and_equal(s->bsuid, known)};
        choose(&best, &found);
    }
    return best.identity;
}
