#!/usr/bin/env bats
# A database on a PostgreSQL server: init, migrations, the role that reads, doctor, and bad input. The file
# has servers of its own. It runs with programs that support PostgreSQL (`make POSTGRESQL=1`).
# transports: direct
load helpers/all
load helpers/postgresql

supports_postgresql() {
    grep -q PQconnectdbParams "$OUT/tools/switchboard"
}

setup_file() {
    supports_postgresql || return 0
    export MAIN=$BATS_FILE_TMPDIR/main STACK=$BATS_FILE_TMPDIR/stack
    export PASSWORD=Zwiebel-Quark-17
    keep_secret 'database password' "$PASSWORD"
    mkdir -p "$STACK"
    export LOG=$STACK/switchboard.log SWITCHBOARD_CONFIG=$STACK/switchboard.conf DB='' BASE=''
    start_sandbox
    make_server "$MAIN"
    start_private_server "$MAIN"
    sql "$MAIN" postgres "CREATE ROLE switchboard LOGIN PASSWORD '$PASSWORD'" \
        "CREATE ROLE reader LOGIN PASSWORD '$PASSWORD'" "CREATE ROLE stranger LOGIN"
    PORT=$(port_of "$MAIN")
    export PORT
}

teardown_file() {
    supports_postgresql || return 0
    stop_private_server "$MAIN"
    stop_stack
}

# Each test has an empty database.
setup() {
    supports_postgresql || skip 'the programs are built without PostgreSQL'
    NAME=test_$BATS_TEST_NUMBER
    make_database "$NAME"
    use "$(url_of "$NAME")"
}

teardown() {
    ! supports_postgresql || no_password_shown
}

# make_database NAME [OPTION]
make_database() {
    sql "$MAIN" postgres "CREATE DATABASE $1 OWNER switchboard ${2-}"
}

# Prints the URL of a database, over the socket: url_of NAME [ROLE]
url_of() {
    printf 'postgresql://%s@/%s?host=%s&port=%s' "${2-switchboard}" "$1" "$MAIN" "$PORT"
}

# The same over TCP, with a password: tcp_url_of NAME [ROLE] [PASSWORD]
tcp_url_of() {
    printf 'postgresql://%s:%s@127.0.0.1:%s/%s' "${2-switchboard}" "${3-$PASSWORD}" "$PORT" "$1"
}

# Writes the configuration for a database: use URL [LINE...]
use() {
    DB=$1
    write_config "${@:2}"
}

# Runs SQL on the test's database, as its owner.
db() {
    psql -qAtX -v ON_ERROR_STOP=1 -d "$(url_of "$NAME")" -c "$1"
}

# Runs a command that must fail with the message: refused MESSAGE COMMAND...
refused() {
    local - && set +T
    run "${@:2}"
    [[ $status == 1 ]] || fail "expected status 1, not $status: $output"
    [[ $output == *"$1"* ]] || fail "expected: $1"$'\n'"actual: $output"
    [[ $output != *"$PASSWORD"* ]] || fail "the password was printed: $output"
}

no_password_shown() {
    local file
    for file in "$STACK"/*.log "$BATS_TEST_TMPDIR"/{stdout,body,headers} "$MAIN/log"; do
        [[ ! -f $file ]] || refute grep -qF "$PASSWORD" "$file"
    done
}

# --- init ---

@test "init creates the schema with a role that owns the database, and a second init changes nothing" {
    run switchboard init
    assert_equal "$status" 0
    assert_equal "${lines[2]}" "database postgresql:///$NAME: created, schema version $(newest_schema)"
    assert_equal "$(db 'SELECT application, version FROM schema_version')" \
        "switchboard|$(newest_schema)"
    assert_equal "$(db 'SELECT count(*) FROM "user"')" 0
    run switchboard init
    assert_equal "$status" 0
    assert_equal "${lines[2]}" "database postgresql:///$NAME: up to date, schema version $(newest_schema)"
    run switchboard init --json
    assert_equal "$(gojq -c '[.database, .fromVersion, .version, .reader]' <<<"$output")" \
        "[\"postgresql:///$NAME\",$(newest_schema),$(newest_schema),null]"
}

@test "of several inits at the same time one creates the schema, and the others find it" {
    local number
    for number in {1..8}; do
        switchboard init >"$BATS_TEST_TMPDIR/init.$number" 2>&1 3>&- &
    done
    wait
    assert_equal "$(cat "$BATS_TEST_TMPDIR"/init.* | sed -n 's/^database .*: \([a-z ]*\),.*/\1/p' |
        sort | uniq -c | sed 's/^ *//')" $'1 created\n7 up to date'
}

@test "init refuses the database of another program and does not change it" {
    db 'CREATE TABLE schema_version (version INTEGER); INSERT INTO schema_version VALUES (1)'
    refused 'it belongs to another program and was not changed' switchboard init
    db 'DROP TABLE schema_version; CREATE VIEW report AS SELECT 1'
    refused 'it belongs to another program and was not changed' switchboard init
    assert_equal "$(db "SELECT string_agg(relname, ' ') FROM pg_class
        WHERE relnamespace = 'public'::regnamespace")" report
}

@test "init refuses another encoding than UTF8" {
    make_database latin "ENCODING LATIN1 TEMPLATE template0 LOCALE 'C'"
    use "$(url_of latin)"
    refused "another encoding than UTF8: create it with ENCODING 'UTF8'" switchboard init
}

@test "init needs the right to create tables and names the remedy" {
    use "$(url_of "$NAME" stranger)"
    refused 'permission denied for schema public' switchboard init
    refused 'make the role the owner: ALTER DATABASE' switchboard init
    assert_equal "$(db "SELECT to_regclass('schema_version') IS NULL")" t
}

@test "init needs a schema in the search path" {
    db 'DROP SCHEMA public'
    refused "search_path names no schema that exists: CREATE SCHEMA public" switchboard init
}

@test "texts are ordered by bytes, whatever the collation of the database" {
    make_database icu "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'"
    NAME=icu
    use "$(url_of icu)"
    switchboard init
    assert_equal "$(db "SELECT 'a' < 'B'")" t
    assert_equal "$(db "SELECT count(*) FROM information_schema.columns WHERE data_type = 'text'
        AND table_schema = 'public' AND table_name <> 'schema_version' AND collation_name <> 'C'")" 0
    db "INSERT INTO \"user\" (id, email, created_at) VALUES ('usr_a', 'a', 1), ('usr_B', 'B', 1)"
    assert_equal "$(db "SELECT string_agg(id, ' ' ORDER BY id) FROM \"user\"")" 'usr_B usr_a'
}

@test "init refuses columns that another program has given another collation" {
    switchboard init
    db 'ALTER TABLE flow_token ALTER COLUMN token TYPE TEXT COLLATE "en-x-icu"' ||
        db 'ALTER TABLE "user" ALTER COLUMN email TYPE TEXT COLLATE "en-x-icu"'
    refused 'columns have another collation than "C": ' switchboard init
}

@test "a schema of the future is refused by init, the commands, the programs and doctor" {
    switchboard init
    db 'UPDATE schema_version SET version = 99'
    refused 'it has schema version 99, made by a newer program; this one supports' switchboard init
    refused 'it has schema version 99, made by a newer program' switchboard account list
    refused 'it has schema version 99, made by a newer program' switchboard doctor
    request GET /v2/me --as "sb_$(printf '0%.0s' {1..64})"
    assert_status 500
    assert_error 500 INTERNAL_ERROR "The gateway's database cannot be used; its log says why."
    grep -q 'it has schema version 99, made by a newer program' "$LOG"
}

@test "a database without the schema is refused with the command that creates it" {
    refused 'it has no schema of this program: run `switchboard init`' switchboard account list
    refused 'it has no schema of this program: run `switchboard init`' switchboard doctor
}

# --- migrations ---

# Creates the schema of version N from its frozen text: old_schema N
old_schema() {
    awk -f "$root/tools/schema/postgresql.awk" "$root/tests/schemas/v$1.sql" |
        psql -qX -v ON_ERROR_STOP=1 -1 -d "$(url_of "$NAME")"
    db "CREATE TABLE schema_version (application TEXT PRIMARY KEY, version BIGINT NOT NULL);
        INSERT INTO schema_version VALUES ('switchboard', $1)"
}

# Prints columns, constraints and indexes in a canonical order, without that of the columns.
describe() {
    db "SELECT 'column', table_name, column_name, data_type, is_nullable, column_default, collation_name
            FROM information_schema.columns WHERE table_schema = 'public'
            AND table_name <> 'schema_version' ORDER BY 2, 3"
    db "SELECT 'constraint', conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint
            WHERE connamespace = 'public'::regnamespace AND conrelid <> 'schema_version'::regclass
            ORDER BY conrelid::regclass::text, 3"
    db "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
            AND tablename <> 'schema_version' ORDER BY 1"
}

@test "every schema version from 5 on becomes what a new database has" {
    local version newest
    newest=$(newest_schema)
    switchboard init
    describe >"$BATS_TEST_TMPDIR/fresh"
    [[ -s $BATS_TEST_TMPDIR/fresh ]]
    for ((version = 5; version <= newest; version++)); do
        NAME=from_$version
        make_database "$NAME"
        use "$(url_of "$NAME")"
        old_schema "$version"
        db "INSERT INTO \"user\" (id, email, created_at) VALUES ('usr_1', 'old@example.org', 17)"
        run switchboard init
        assert_equal "$status" 0
        ((version == newest)) || assert_equal "${lines[2]}" \
            "database postgresql:///$NAME: migrated from schema version $version to $newest"
        assert_equal "$(db 'SELECT version FROM schema_version')" "$newest"
        assert_equal "$(db 'SELECT id, email, created_at FROM "user"')" 'usr_1|old@example.org|17'
        describe >"$BATS_TEST_TMPDIR/migrated"
        diff "$BATS_TEST_TMPDIR/fresh" "$BATS_TEST_TMPDIR/migrated" ||
            fail "version $version became something else than schema.sql"
    done
}

@test "an older schema is refused by programs until init has run" {
    old_schema 5
    db 'UPDATE schema_version SET version = 4'
    refused 'it has schema version 4, this program needs' switchboard account list
}

# --- the role that reads ---

@test "GET /v2/me works with a role that may only read, which cannot write" {
    use "$(url_of "$NAME")" "database_reader = $(tcp_url_of "$NAME" reader)"
    run switchboard init
    assert_equal "$status" 0
    assert_equal "${lines[3]}" 'role that may read all tables: reader'
    make_user
    sql "$MAIN" postgres 'ALTER ROLE switchboard CONNECTION LIMIT 0'
    api GET /v2/me
    sql "$MAIN" postgres 'ALTER ROLE switchboard CONNECTION LIMIT -1'
    assert_success
    assert_json .data.user.email "\"$EMAIL\""
    run psql -qAtX -d "$(url_of "$NAME" reader)" -c 'DELETE FROM api_token'
    [[ $status == 1 && $output == *'permission denied for table api_token'* ]] || fail "$output"
    run psql -qAtX -d "$(url_of "$NAME" reader)" -c 'CREATE TABLE mine (id INTEGER)'
    [[ $status == 1 && $output == *'permission denied for schema public'* ]] || fail "$output"
}

@test "a program that only reads has read-only transactions, with the owner's role too" {
    switchboard init
    make_user
    db "CREATE FUNCTION readers() RETURNS bigint LANGUAGE sql
        RETURN (SELECT count(*) FROM \"user\" WHERE current_setting('transaction_read_only') = 'on')"
    db 'ALTER TABLE plan RENAME TO plan_table'
    db 'CREATE VIEW plan AS SELECT * FROM plan_table WHERE readers() > 0'
    assert_equal "$(db 'SELECT count(*) FROM plan')" 0
    api GET /v2/me
    assert_success
}

@test "a reader without the right to read is named by the log and by doctor" {
    use "$(url_of "$NAME")" "database_reader = $(url_of "$NAME" stranger)"
    sql "$MAIN" postgres 'ALTER ROLE stranger NOLOGIN'
    switchboard init # grants
    sql "$MAIN" postgres 'ALTER ROLE stranger LOGIN'
    db 'REVOKE SELECT ON plan FROM stranger'
    make_user
    api GET /v2/me
    assert_status 500
    grep -q 'permission denied for table plan' "$LOG"
    run switchboard doctor
    [[ $output == *'FAIL  database reader'*'stranger may not read plan: `switchboard init` grants it'* ]] ||
        fail "$output"
    switchboard init
    api GET /v2/me
    assert_success
    db 'GRANT INSERT ON plan TO stranger'
    run switchboard doctor
    [[ $output == *'warn  database reader'*'stranger may write too: plan; use a role with SELECT alone'* ]] ||
        fail "$output"
}

@test "init names a reader that does not exist" {
    use "$(url_of "$NAME")" "database_reader = $(tcp_url_of "$NAME" absent)"
    refused 'the role absent of database_reader does not exist: CREATE ROLE with LOGIN makes it' \
        switchboard init
}

# --- connections that fail ---

# Writes a URL into the configuration; init, a command, doctor and GET /v2/me report the reason and
# never the password: fails_with REASON URL
fails_with() {
    use "$2"
    : >"$LOG"
    refused "$1" switchboard init
    refused "$1" switchboard account list
    refused "$1" switchboard doctor
    request GET /v2/me --as "sb_$(printf '0%.0s' {1..64})"
    [[ $status == 50[03] ]] || fail_answer "$2"
    grep -qF "$(jq -Rr tojson <<<"$1" | sed 's/^"//; s/"$//')" "$LOG" || fail "$2: $(cat "$LOG")"
    refute grep -qF "$PASSWORD" "$LOG" "$body" "$headers"
}

@test "a connection that fails is reported with its reason and without the password" {
    local unread='the URL is not one that libpq reads: postgresql://USER@HOST:PORT/NAME'
    local login=switchboard:$PASSWORD tcp=127.0.0.1:$PORT
    while IFS='|' read -r reason url; do
        printf '# case: %s\n' "$url"
        fails_with "$reason" "$url"
    done <<END
$unread|postgresql://$login@127.0.0.1:port/x
$unread|postgresql://switchboard:$PASSWORD/tail@127.0.0.1:$PORT/x
$unread|postgresql://switchboard:$PASSWORD@tail@127.0.0.1:$PORT/x
$unread|postgresql://switchboard:$PASSWORD?tail@more@127.0.0.1:$PORT/x
$unread|postgresql://$login%zz@$tcp/x
$unread|postgresql://$login@$tcp/x?nonsense=1
invalid sslmode value|postgresql://$login@$tcp/x?sslmode=never
could not translate host name "nohost.invalid"|postgresql://$login@nohost.invalid/x
Connection refused|postgresql://$login@127.0.0.1:1/x
No such file or directory|postgresql://$login@/x?host=/nonexistent
database "absent" does not exist|postgresql://$login@$tcp/absent
password authentication failed for user "switchboard"|postgresql://switchboard:x$PASSWORD@$tcp/$NAME
password authentication failed for user "absent"|postgresql://absent:$PASSWORD@$tcp/$NAME
no password supplied|postgresql://switchboard@$tcp/$NAME
role "absent" does not exist|$(url_of "$NAME" absent)
port 1 failed: Connection refused;  Is the server running on that host|postgresql://$login@127.0.0.1:1,127.0.0.1:2/x
END
}

@test "the password of SCRAM is taken from the URL, from a file that it names, or from PGPASSFILE" {
    local file=$BATS_TEST_TMPDIR/passfile
    printf '127.0.0.1:*:%s:switchboard:%s\n' "$NAME" "$PASSWORD" >"$file"
    chmod 600 "$file"
    use "$(tcp_url_of "$NAME")"
    switchboard init
    use "postgresql://switchboard@127.0.0.1:$PORT/$NAME"
    refused 'no password supplied' switchboard account list
    PGPASSFILE=$file switchboard account list
    use "postgresql://switchboard@127.0.0.1:$PORT/$NAME?passfile=$file"
    switchboard account list
    make_user
    api GET /v2/me
    assert_success
}

@test "no command shows the password of the URL" {
    local command
    use "$(tcp_url_of "$NAME")" "database_reader = $(tcp_url_of "$NAME" reader)"
    for command in init 'init --json' doctor 'doctor --json' 'doctor --full' 'backup /nonexistent/x' \
        'restore /nonexistent/x' 'key list' 'manual switchboard.conf' 'account list --json'; do
        # shellcheck disable=SC2086  # words of a command
        run switchboard $command
        [[ -n $output ]] || [[ $command == account* ]]
        [[ $output != *"$PASSWORD"* ]] || fail "switchboard $command: $output"
    done
}

@test "a standby alone takes no writes, and with the primary's host beside it the programs work" {
    local standby=$BATS_TEST_TMPDIR/standby both
    switchboard init
    make_user
    start_standby "$standby" "$MAIN"
    both="postgresql://switchboard@/$NAME?host=$standby,$MAIN&port=$(port_of "$standby"),$PORT"
    fails_with 'it is a standby: name the host of the primary too' \
        "postgresql://switchboard@/$NAME?host=$standby&port=$(port_of "$standby")"
    use "$both"
    switchboard account list
    api GET /v2/me
    assert_success
    use "postgresql://switchboard@/$NAME?host=$standby&port=$(port_of "$standby")&target_session_attrs=any"
    run switchboard doctor
    [[ $output == *'FAIL  database '*'a standby, which takes no writes: name the primary too'* ]] || fail "$output"
    stop_private_server "$standby"
}

@test "a server that is older than version 15 is refused" {
    local port=$BATS_TEST_TMPDIR/port
    node "$root/tests/helpers/older_server.js" "$MAIN/.s.PGSQL.$PORT" "$port" 3>&- &
    local proxy=$!
    eventually test -s "$port"
    fails_with 'the server has version 14' "postgresql://switchboard@127.0.0.1:$(cat "$port")/$NAME"
    refused 'this program needs PostgreSQL 15 or newer' switchboard init
    assert_equal "$(db "SELECT to_regclass('schema_version') IS NULL")" t
    kill "$proxy"
}
