# Makes the next version of schema.sql, to which the tests migrate: a column of a table with rows,
# and a table with a reference, an index, a check and a trigger (tests/next/steps.c).
/^CREATE TABLE api_token (/a\
    label      TEXT NOT NULL DEFAULT '',
$a\
CREATE TABLE token_note (\
    user_id TEXT PRIMARY KEY REFERENCES "user" (id),\
    size    INTEGER NOT NULL CHECK (size >= 0),\
    body    BLOB\
) STRICT;\
CREATE INDEX token_note_size ON token_note (size) WHERE size > 0;\
CREATE TRIGGER token_note_settings_insert AFTER INSERT ON token_note BEGIN\
    UPDATE settings_version SET version = random(); END;
