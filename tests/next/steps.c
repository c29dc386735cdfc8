/* The migration to the next version of the schema (schema.sed). The CLI that is linked with it is
 * that of the next version. RELEASED_EDITION is the edition of schema.sql. */
#include <string.h>

#include "engine/schema.h"
#include "engine/sql.h"

const int schema_version = 2;

static const char *const to_2[] = {
    "ALTER TABLE api_token ADD COLUMN label TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE token_note (user_id TEXT PRIMARY KEY REFERENCES \"user\" (id), "
    "size INTEGER NOT NULL CHECK (size >= 0), body BLOB) STRICT",
    "INSERT INTO token_note (user_id, size, body) SELECT user_id, length(hash), hash "
    "FROM api_token",
    "CREATE INDEX token_note_size ON token_note (size) WHERE size > 0",
    "CREATE TRIGGER token_note_settings_insert AFTER INSERT ON token_note BEGIN "
    "UPDATE settings_version SET version = random(); END",
    NULL,
};

/* Labels each token. */
static bool fill(struct store *store) {
    static struct statement s = {.sql = "UPDATE api_token SET label = ?1"};
    return sql_run(store, &s, TEXT("migrated"));
}

const struct schema_step schema_steps[] = {{2, RELEASED_EDITION, to_2, fill}, {0}};
