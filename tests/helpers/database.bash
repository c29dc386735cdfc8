# shellcheck shell=bash
# The stack's database: SQL, faults, and what differs between SQLite and a PostgreSQL server.
# helpers/all loads it.

# Prints the schema version of the programs.
newest_schema() {
    schema_version_in "$root"
}

# Runs SQL on the stack's database and prints the rows, columns separated by `|`: db 'SELECT ...'
db() {
    if [[ -n ${SERVER-} ]]; then
        "$HELPERS/query" "$DB" "$(postgresql_words "$1")"
        return
    fi
    local views=()
    [[ $1 != *outbox* ]] || views=(-cmd ".read $root/tests/helpers/outbox.sql")
    sqlite3 -batch -noheader -cmd '.timeout 5000' "${views[@]}" "$DB" "$1"
}

# Runs many statements that change rows in one transaction, as a server does in any case; a commit
# for each of them takes most of their time: db_at_once 'SQL; SQL;'
db_at_once() {
    if [[ -n ${SERVER-} ]]; then
        db "$1"
    else
        db "BEGIN IMMEDIATE; ${1%;}; COMMIT"
    fi
}

# Prints the tests' SQL in PostgreSQL's words: postgresql_words SQL
postgresql_words() {
    sed -z -E -f "$root/tests/helpers/words.sed" < <(printf %s "$1")
}

# Runs SQL as the server's superuser, outside of the stack's database: administer SQL...
administer() {
    local sql options=()
    for sql; do
        options+=(-c "$sql")
    done
    psql -qAtX -h "$SERVER" -U postgres -d postgres -v ON_ERROR_STOP=1 "${options[@]}"
}

# Makes the database one that no program can open until bring_database_back: its file is elsewhere,
# or the server refuses and ends the connections to it.
take_database_away() {
    if [[ -z ${SERVER-} ]]; then
        mv "$DB" "$DB.away"
        return
    fi
    administer "ALTER DATABASE $(database_name) ALLOW_CONNECTIONS false" \
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
            WHERE datname = '$(database_name)'" >/dev/null
}

bring_database_back() {
    if [[ -z ${SERVER-} ]]; then
        mv "$DB.away" "$DB"
    else
        administer "ALTER DATABASE $(database_name) ALLOW_CONNECTIONS true"
    fi
}

# Sets DB to another database with this schema, and `original` to the one before. The configuration
# is written after it.
use_another_database() {
    original=$DB
    if [[ -n ${SERVER-} ]]; then
        DB=$(create_database TEMPLATE prepared)
    else
        DB=$STACK/copy.db
        cp "$original" "$DB"
    fi
}

# Prints the database as the programs show it: its path, or the URL without parameters.
shown_database() {
    printf '%s' "${DB%%\?*}"
}

# Prints the name of the database on the server.
database_name() {
    local name=${DB#postgresql:///}
    printf '%s' "${name%%\?*}"
}

# Prints the database's schema version, or with an argument sets it: schema_version [NUMBER]
schema_version() {
    if [[ -z ${SERVER-} ]]; then
        db "PRAGMA user_version${1+ = $1}"
    elif (($#)); then
        db "UPDATE schema_version SET version = $1"
    else
        db 'SELECT version FROM schema_version'
    fi
}

# Makes each insertion into a table fail until accept_rows: refuse_rows TABLE
refuse_rows() {
    if [[ -z ${SERVER-} ]]; then
        db "CREATE TRIGGER no_rows BEFORE INSERT ON $1
            BEGIN SELECT RAISE(ABORT, 'made to fail'); END"
    else
        db "CREATE TRIGGER no_rows BEFORE INSERT ON $1 FOR EACH ROW EXECUTE FUNCTION test.fail()"
    fi
}

# Makes each update of a row fail until accept_updates: refuse_update TABLE ID
refuse_update() {
    if [[ -z ${SERVER-} ]]; then
        db "CREATE TRIGGER no_update BEFORE UPDATE ON $1 WHEN new.id = '$2'
            BEGIN SELECT RAISE(ABORT, 'made to fail'); END"
    else
        db "CREATE TRIGGER no_update BEFORE UPDATE ON $1 FOR EACH ROW WHEN (new.id = '$2')
            EXECUTE FUNCTION test.fail()"
    fi
}

accept_updates() { # TABLE
    if [[ -z ${SERVER-} ]]; then
        db 'DROP TRIGGER no_update'
    else
        db "DROP TRIGGER no_update ON $1"
    fi
}

# Makes each insertion into a table take 10 minutes until accept_rows, on a server: delay_rows TABLE
delay_rows() {
    db "CREATE TRIGGER no_rows BEFORE INSERT ON $1 FOR EACH ROW EXECUTE FUNCTION test.sleep()"
}

accept_rows() { # TABLE
    if [[ -z ${SERVER-} ]]; then
        db 'DROP TRIGGER no_rows'
    else
        db "DROP TRIGGER no_rows ON $1"
    fi
}

# Prints the size of the database's data.
database_bytes() {
    if [[ -z ${SERVER-} ]]; then
        db 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size'
    else
        db 'SELECT pg_database_size(current_database())'
    fi
}

# Prints the whole database as SQL.
database_dump() {
    if [[ -z ${SERVER-} ]]; then
        db .dump
    else
        pg_dump -d "$DB" | grep -vE '^\\(un)?restrict ' # with a word that is another one each time
    fi
}

# Prints how many lines of the database have one of the texts: count_in_database TEXT...
count_in_database() {
    local text words=()
    for text; do
        words+=(-e "$text")
        # a server prints blobs as hexadecimal digits
        [[ -z ${SERVER-} ]] || words+=(-e "$(printf %s "$text" | od -An -v -tx1 | tr -d ' \n')")
    done
    if [[ -z ${SERVER-} ]]; then
        cat "$DB" "$DB"-wal 2>/dev/null
    else
        database_dump
    fi | grep -c -a -F "${words[@]}" || true
}

# Prints a text that is another one after any change of the database.
database_digest() {
    if [[ -z ${SERVER-} ]]; then
        db 'PRAGMA data_version'
        sha256sum <"$DB"
    else
        database_dump | sha256sum
    fi
}

# Expects that the database is in order, which SQLite checks on request; a server has its own tools.
assert_sound() {
    [[ -n ${SERVER-} ]] || assert_equal "$(db 'PRAGMA integrity_check')" ok
}

# Replaces the key of the stack by a new one: on a server in the steps of several hosts, of which
# the stack is one.
rotate_keys() {
    local old new
    if [[ -z ${SERVER-} ]]; then
        switchboard key rotate >/dev/null
        return
    fi
    old=$(tail -n 1 "$STACK/secret.key" | cut -d ' ' -f 1)
    new=$(switchboard key add --json | jq .id)
    switchboard key use "$new" >/dev/null
    switchboard key drop "$old" >/dev/null
}

# Skips a test that is about a SQLite file or about SQLite itself, if the tests use a server:
# only_on_sqlite REASON
only_on_sqlite() {
    [[ -z ${SERVER-} ]] || skip "SQLite only: $1"
}

# Another process that uses the database: start_writer, run_in_writer 'SQL', end_writer.
start_writer() {
    writer=$BATS_TEST_TMPDIR/writer
    mkfifo "$writer"
    if [[ -n ${SERVER-} ]]; then
        psql -qX -v ON_ERROR_STOP=1 -d "$DB" <"$writer" >/dev/null 3>&- &
    else
        sqlite3 -batch -bail -cmd '.timeout 5000' "$DB" <"$writer" >/dev/null 3>&- &
    fi
    writer_pid=$!
    exec {writer_input}>"$writer"
}

# Runs SQL in the writer's connection and returns when it is done: run_in_writer 'SQL'
run_in_writer() {
    local shell=.shell sql=$1
    if [[ -n ${SERVER-} ]]; then
        shell='\!' sql=$(postgresql_words "$1")
    fi
    printf '%s\n%s touch %s.done\n' "$sql" "$shell" "$writer" >&"$writer_input"
    eventually test -e "$writer.done"
    rm "$writer.done"
}

end_writer() {
    exec {writer_input}>&-
    wait "$writer_pid"
    rm "$writer"
}

# Holds the write lock until release_database, in a process that does not queue for the lock as the
# programs do. On a server these are the locks of all tables against writers.
hold_database() {
    start_writer
    run_in_writer 'BEGIN IMMEDIATE;'
    [[ -z ${SERVER-} ]] || run_in_writer "SELECT 'LOCK TABLE ' ||
        string_agg(quote_ident(tablename), ', ') || ' IN EXCLUSIVE MODE'
        FROM pg_tables WHERE schemaname = 'public' \gexec"
}

# Expects the answer of a route that waited too long for the database: 500, on a server 503.
assert_busy() {
    local expected=500
    [[ -z ${SERVER-} ]] || expected=503
    assert_error "$expected" INTERNAL_ERROR 'busy; try again in a second'
}

release_database() {
    run_in_writer 'ROLLBACK;'
    end_writer
}
