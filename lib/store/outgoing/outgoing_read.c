#include "store/outgoing/outgoing_row.h"

#include "store/contact.h"

#define OF(member) ROW_MEMBER(struct store_outgoing, member)
const struct row_layout outgoing_layout = ROW_LAYOUT(
    struct store_outgoing, OF(id), OF(user_id), OF(account_id), OF(line_id), OF(phone_number_id),
    OF(recipient), OF(state), OF(reason), OF(error), OF(attempts), OF(send_at), OF(next_at),
    OF(expires_at), OF(created_at), ROW_TIME_MEMBER(struct store_outgoing, finished_at), OF(wamid),
    OF(by.id), OF(by.name), OF(retry_of), OF(retried_as), OF(campaign_id), OF(body));

bool outgoing_is_in_state(struct store *store, struct statement *s, const char *user_id,
                          const char *id, const char *state, bool *exists) {
    sql_start(store, s, TEXT(id), TEXT(user_id), TEXT(state));
    const int64_t is_so = row_integer(store, s, -1);
    *exists = is_so >= 0;
    return is_so > 0;
}

/* SQL: whether a view with this own_id has the row `o`. */
#define IS_SHOWN_TO(own)                                                                           \
    "(o.by_id = " own " OR NOT EXISTS (SELECT 1 FROM thread t WHERE t.line_id = o.line_id "        \
    "AND t.contact_id = (" CONTACT_ID_OF("o.account_id",                                           \
                                         "o.recipient") ") "                                       \
                                                        "AND t.assignee_id <> " own "))"

bool outgoing_is_shown(struct store *store, const struct store_view *view, const char *id) {
    static struct statement s = {.sql = "SELECT o.id FROM outgoing o WHERE o.id = ?1 "
                                        "AND " IS_SHOWN_TO("?2")};
    if (!view->own_id)
        return true;
    sql_start(store, &s, TEXT(id), TEXT(view->own_id));
    return row_exists(store, &s);
}

enum store_result store_find_outgoing(struct store *store, struct arena *arena,
                                      const struct store_view *view, const char *id,
                                      struct store_outgoing *row) {
    static struct statement s = {.sql = "SELECT " OUTGOING_COLUMNS " FROM outgoing o "
                                        "JOIN line l ON l.id = o.line_id WHERE o.id = ?1 "
                                        "AND o.user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(view->user_id));
    const bool found = row_find(store, &s, arena, &outgoing_layout, row);
    return sql_found(store, found && view_has_line(view, row->line_id) &&
                                outgoing_is_shown(store, view, row->id));
}

#define LIST(body, condition)                                                                      \
    "SELECT " OUTGOING_COLUMNS_WITH(body) " FROM outgoing o JOIN line l ON l.id = o.line_id "      \
                                          "WHERE o.user_id = ?1 AND o.id < ?2 " condition          \
                                          " ORDER BY o.id DESC LIMIT ?3"

static const char *last_id(const struct store_page *page) {
    return page->after ? page->after : "~";
}

/* SQL: the body, unless it is so large that a page of such rows would be. The length is read
 * without the body. */
#define SMALL_BODY "CASE WHEN length(o.body) <= 65536 THEN o.body END"

#define OF_LINES(parameter) IS_ONE_OF("o.line_id", parameter)

#define OF_RECIPIENT                                                                               \
    "AND o.recipient = ?4 AND o.line_id = coalesce(?5, o.line_id) "                                \
    "AND o.state = coalesce(?6, o.state) AND (" OF_LINES("?7") " OR ?7 IS NULL)"

/* Those to one recipient are few: line and state need no index there. */
static struct statement *start_of_recipient(struct store *store,
                                            const struct store_outgoing_filter *filter,
                                            const struct store_page *page) {
    static struct statement s = {.sql = LIST(SMALL_BODY, OF_RECIPIENT)};
    static struct statement own = {.sql = LIST(SMALL_BODY, OF_RECIPIENT " AND " IS_SHOWN_TO("?8"))};
    const struct store_view *view = filter->view;
    const struct parameter parameters[] = {TEXT(view->user_id),           TEXT(last_id(page)),
                                           INTEGER((int64_t)page->limit), TEXT(filter->recipient),
                                           TEXT(filter->line_id),         TEXT(filter->state),
                                           TEXT(view->line_ids),          TEXT(view->own_id)};
    struct statement *wanted = view->own_id ? &own : &s;
    sql_start_with(store, wanted, parameters, view->own_id ? 8 : 7);
    return wanted;
}

/* Those that a member with own threads sees, which are looked for among all. */
static struct statement *start_shown(struct store *store,
                                     const struct store_outgoing_filter *filter,
                                     const struct store_page *page) {
    static struct statement s = {
        .sql = LIST("NULL", "AND (" OF_LINES(
                                "?4") " OR ?4 IS NULL) AND (o.state = ?5 OR ?5 IS NULL) "
                                      "AND (o.line_id = ?6 OR ?6 IS NULL) AND " IS_SHOWN_TO("?7"))};
    sql_start(store, &s, TEXT(filter->view->user_id), TEXT(last_id(page)),
              INTEGER((int64_t)page->limit), TEXT(filter->view->line_ids), TEXT(filter->state),
              TEXT(filter->line_id), TEXT(filter->view->own_id));
    return &s;
}

/* Those of some lines, which are looked for among all; a line of the filter is one of them. */
static struct statement *start_of_lines(struct store *store,
                                        const struct store_outgoing_filter *filter,
                                        const struct store_page *page) {
    static struct statement s = {
        .sql = LIST("NULL", "AND " OF_LINES("?4") " AND (o.state = ?5 OR ?5 IS NULL)")};
    sql_start(store, &s, TEXT(filter->view->user_id), TEXT(last_id(page)),
              INTEGER((int64_t)page->limit), TEXT(filter->view->line_ids), TEXT(filter->state));
    return &s;
}

static struct statement *start_list(struct store *store, const struct store_outgoing_filter *filter,
                                    const struct store_page *page) {
    static struct statement all = {.sql = LIST("NULL", "")},
                            of_state = {.sql = LIST("NULL", "AND o.state = ?4")};
    static struct statement of_line = {.sql = LIST("NULL", "AND o.line_id = ?4")};
    static struct statement of_both = {.sql = LIST("NULL", "AND o.line_id = ?4 AND o.state = ?5")};
    struct parameter parameters[5] = {TEXT(filter->view->user_id), TEXT(last_id(page)),
                                      INTEGER((int64_t)page->limit)};
    size_t n = 3;
    if (filter->recipient)
        return start_of_recipient(store, filter, page);
    if (filter->view->own_id)
        return start_shown(store, filter, page);
    if (filter->view->line_ids && !filter->line_id)
        return start_of_lines(store, filter, page);
    if (filter->line_id)
        parameters[n++] = TEXT(filter->line_id);
    if (filter->state)
        parameters[n++] = TEXT(filter->state);
    struct statement *s = filter->line_id ? filter->state ? &of_both : &of_line
                          : filter->state ? &of_state
                                          : &all;
    sql_start_with(store, s, parameters, n);
    return s;
}

enum store_result store_list_outgoing(struct store *store, struct arena *arena,
                                      const struct store_outgoing_filter *filter,
                                      const struct store_page *page, struct store_outgoing **rows,
                                      size_t *count) {
    *rows = row_list(store, start_list(store, filter, page), arena, &outgoing_layout, count);
    return sql_result(store);
}
