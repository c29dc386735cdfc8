# shellcheck shell=bash
# A copy of the cluster's database as a SQLite database, for the rules of tests/soak/checks.sql. It
# is made by SQL alone, without Switchboard's own programs, which are under test.

# Prints a SELECT for each table, which gives its rows as INSERT statements of SQLite.
list_selects() {
    cat <<'END'
SELECT format($$SELECT 'INSERT INTO %I (%s) VALUES (' || concat_ws(',', %s) || ');' FROM %I$$,
    table_name,
    string_agg(quote_ident(column_name), ',' ORDER BY ordinal_position),
    string_agg(format(CASE data_type
        WHEN 'bytea' THEN $$coalesce('X''' || encode(%1$I, 'hex') || '''', 'NULL')$$
        WHEN 'text' THEN $$coalesce('''' || replace(%1$I, '''', '''''') || '''', 'NULL')$$
        ELSE $$coalesce(%1$I::text, 'NULL')$$ END, column_name), ',' ORDER BY ordinal_position),
    table_name)
FROM information_schema.columns
WHERE table_schema = 'public' AND table_name NOT IN ('schema_version', 'settings_version')
    AND table_name IN (SELECT tablename FROM pg_tables)
GROUP BY table_name \gexec
END
}

# snapshot FILE
snapshot() {
    rm -f "$1"
    {
        cat "$root/schema.sql"
        printf 'PRAGMA foreign_keys = OFF;\nBEGIN;\n'
        {
            printf 'BEGIN ISOLATION LEVEL REPEATABLE READ;\n'
            list_selects
            printf 'COMMIT;\n'
        } | sql switchboard -f -
        printf 'COMMIT;\n'
    } | sqlite3 -bail "$1"
}
