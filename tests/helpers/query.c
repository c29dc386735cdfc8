/* query: runs SQL on a PostgreSQL server and prints the rows as the sqlite3 shell does.
 *
 *     query URL SQL
 *
 * Columns are separated by `|`. A boolean is 1 or 0, NULL is empty, a blob is its bytes. All
 * statements are one transaction unless they say otherwise. Names are searched in the schema
 * `public`, which is the programs', then in `test`, which has the functions of server.sql, and then
 * among those of PostgreSQL. Exit status: 1 when a statement fails.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_BOOLEAN = 16, TYPE_BYTEA = 17 };

static void print_value(const PGresult *rows, int row, int column) {
    const char *text = PQgetvalue(rows, row, column);
    if (PQftype(rows, column) == TYPE_BOOLEAN && *text) {
        putchar(*text == 't' ? '1' : '0');
    } else if (PQftype(rows, column) == TYPE_BYTEA) {
        size_t n;
        unsigned char *bytes = PQunescapeBytea((const unsigned char *)text, &n);
        if (!bytes)
            exit(1);
        fwrite(bytes, 1, n, stdout);
        PQfreemem(bytes);
    } else {
        fwrite(text, 1, (size_t)PQgetlength(rows, row, column), stdout);
    }
}

static void print_rows(const PGresult *rows) {
    for (int row = 0; row < PQntuples(rows); row++)
        for (int i = 0; i < PQnfields(rows); i++) {
            print_value(rows, row, i);
            putchar(i + 1 < PQnfields(rows) ? '|' : '\n');
        }
}

static void ignore_notice(void *context, const char *message) {
    (void)context, (void)message;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"dbname", "options", NULL};
    const char *const options = "-c lock_timeout=5000 -c search_path=public,test,pg_catalog";
    const char *const values[] = {argc == 3 ? argv[1] : "", options, NULL};
    PGconn *connection = PQconnectdbParams(names, values, 1);
    PGresult *result;
    int status = 0;
    PQsetNoticeProcessor(connection, ignore_notice, NULL);
    if (argc != 3 || PQsendQuery(connection, argv[2]) == 0) {
        fprintf(stderr, "query: %s", PQerrorMessage(connection));
        return 1;
    }
    while ((result = PQgetResult(connection)) != NULL) {
        if (PQresultStatus(result) == PGRES_TUPLES_OK)
            print_rows(result);
        else if (PQresultStatus(result) != PGRES_COMMAND_OK) {
            fprintf(stderr, "query: %s", PQresultErrorMessage(result));
            status = 1;
        }
        PQclear(result);
    }
    PQfinish(connection);
    return status;
}
