/* Statements, and the rows of their results. */
#include "engine/postgresql_connection.h"

#include <stdlib.h>
#include <string.h>

#include "engine/postgresql_driver.h"

/* The statement's text with the server's markers. The statements have no `?` with a digit in a
 * literal. */
static char *server_text(const struct statement *statement) {
    char *text =
        statement->takes_lock ? postgresql_with_lock(statement->sql) : strdup(statement->sql);
    for (char *p = text; p && *p; p++)
        if (*p == '?' && p[1] >= '1' && p[1] <= '9')
            *p = '$';
    return text;
}

bool postgresql_prepare(struct store *store, struct statement *statement) {
    struct prepared *p = calloc(1, sizeof *p);
    if (p)
        p->text = server_text(statement);
    if (!p || !p->text) {
        free(p);
        postgresql_latch_memory(connection_of(store));
        return false;
    }
    statement->prepared = p;
    return true;
}

void postgresql_drop(struct statement *statement) {
    struct prepared *p = statement->prepared;
    PQclear(p->rows);
    free(p->text);
    free(p);
}

void postgresql_stop(struct statement *statement) {
    struct prepared *p = statement->prepared;
    if (p->is_awaited)
        postgresql_receive(connection_of(statement->store));
    PQclear(p->rows);
    p->rows = NULL;
}

/* The statement is the last one that was sent. */
void postgresql_ignore(struct statement *statement) {
    struct connection *c = connection_of(statement->store);
    struct prepared *p = statement->prepared;
    if (p->is_awaited)
        c->awaited[c->awaited_count - 1].p = NULL;
    p->is_awaited = false;
}

void postgresql_start(struct store *store, struct statement *statement,
                      const struct parameter *parameters, size_t count) {
    struct connection *c = connection_of(store);
    struct prepared *p = statement->prepared;
    struct arguments arguments;
    postgresql_stop(statement);
    const char *problem = postgresql_read_arguments(&arguments, parameters, count);
    if (problem) {
        postgresql_free_arguments(&arguments);
        postgresql_latch_reason(c, problem);
        return;
    }
    postgresql_send(c, p, &arguments);
    if (!c->is_open) {
        postgresql_receive(c);
        if (postgresql_is_read_again(c)) {
            postgresql_stop(statement);
            postgresql_send(c, p, &arguments);
            postgresql_receive(c);
        }
    }
    postgresql_free_arguments(&arguments);
    postgresql_count_statement(c);
}

bool postgresql_row(struct store *store, struct statement *statement) {
    struct prepared *p = statement->prepared;
    if (p->is_awaited)
        postgresql_receive(connection_of(store));
    return !store->failure && p->rows && ++p->row < PQntuples(p->rows);
}

void postgresql_wait(struct store *store) {
    postgresql_receive(connection_of(store));
}

int postgresql_changes(const struct store *store) {
    return connection_of(store)->changes;
}

int64_t postgresql_total_changes(const struct store *store) {
    return connection_of(store)->total_changes;
}

bool postgresql_is_null(const struct statement *statement, int column) {
    const struct prepared *p = statement->prepared;
    return PQgetisnull(p->rows, p->row, column);
}

struct slice postgresql_column(const struct statement *statement, int column) {
    const struct prepared *p = statement->prepared;
    if (postgresql_is_null(statement, column))
        return (struct slice){NULL, 0};
    return (struct slice){PQgetvalue(p->rows, p->row, column),
                          (size_t)PQgetlength(p->rows, p->row, column)};
}

/* An integer of 2, 4 or 8 bytes, or a boolean of one; NULL reads as 0. */
int64_t postgresql_column_integer(const struct statement *statement, int at) {
    struct slice bytes = postgresql_column(statement, at);
    uint64_t value = bytes.n > 1 && bytes.p[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < bytes.n; i++)
        value = value << 8 | (unsigned char)bytes.p[i];
    return (int64_t)value;
}
