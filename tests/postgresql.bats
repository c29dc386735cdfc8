#!/usr/bin/env bats
# A database on a PostgreSQL server: init, migrations, the role that reads, doctor, and bad input.
# The file has servers of its own. It runs with programs that support PostgreSQL: those of OUT
# (`make POSTGRESQL=1`), or of SERVER_OUT, which `make test` builds beside the default ones.
# transports: direct
# needs: next
load helpers/all
load helpers/postgresql
load helpers/statements
load helpers/webhook
load helpers/document
load helpers/fill
load helpers/courier

use_server_programs

setup_file() {
    supports_postgresql || return 0
    export MAIN=$BATS_FILE_TMPDIR/main STACK=$BATS_FILE_TMPDIR/stack
    export PASSWORD=Zwiebel-Quark-17
    keep_secret 'database password' "$PASSWORD"
    mkdir -p "$STACK/log"
    export LOG=$STACK/log/switchboard.log SWITCHBOARD_CONFIG=$STACK/switchboard.conf DB='' BASE=''
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
    supports_postgresql || return 0
    end_processes
    drop_databases "$BATS_FILE_TMPDIR/main"
    no_password_shown
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

# bats test_tags=long
@test "init creates the schema with a role that owns the database, and a second init changes nothing" {
    run switchboard init
    assert_equal "$status" 0
    assert_equal "${lines[3]}" "database postgresql:///$NAME: created, schema version $(newest_schema)"
    assert_equal "$(db 'SELECT application, version FROM schema_version')" \
        "switchboard|$(newest_schema)"
    assert_equal "$(db 'SELECT count(*) FROM "user"')" 0
    run switchboard init
    assert_equal "$status" 0
    assert_equal "${lines[3]}" "database postgresql:///$NAME: up to date, schema version $(newest_schema)"
    run switchboard init --json
    assert_equal "$(gojq -c '[.database, .fromVersion, .version, .reader]' <<<"$output")" \
        "[\"postgresql:///$NAME\",$(newest_schema),$(newest_schema),null]"
}

@test "init of a second host does not make keys of its own" {
    switchboard init
    mv "$STACK/secret.key" "$STACK/first.key"
    db "INSERT INTO heartbeat (name, host, pid, beat_at) VALUES ('courier', 'web1', 1, 1)"
    run switchboard init
    assert_equal "$status" 1
    [[ $output == *"the key file $STACK/secret.key is missing: copy that of another host to it" ]] ||
        fail "$output"
    [[ ! -e $STACK/secret.key ]]
    mv "$STACK/first.key" "$STACK/secret.key"
    chmod 600 "$STACK/secret.key"
    switchboard init
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

# bats test_tags=long
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

# bats test_tags=long
@test "init needs a schema in the search path" {
    db 'DROP SCHEMA public'
    refused "search_path names no schema that exists: CREATE SCHEMA public" switchboard init
}

# bats test_tags=long
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

# bats test_tags=long
@test "init refuses columns that another program has given another collation" {
    switchboard init
    db 'ALTER TABLE flow_token ALTER COLUMN token TYPE TEXT COLLATE "en-x-icu"' ||
        db 'ALTER TABLE "user" ALTER COLUMN email TYPE TEXT COLLATE "en-x-icu"'
    refused 'columns have another collation than "C": ' switchboard init
}

# bats test_tags=long
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
    db "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"
    db "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1"
}

next_switchboard() {
    "$HELPERS/next_switchboard" "$@"
}

# bats test_tags=long
@test "a database of this version becomes what the next schema.sql creates, and keeps its rows" {
    local version next
    version=$(newest_schema)
    next=$((version + 1))
    next_switchboard init
    describe >"$BATS_TEST_TMPDIR/fresh"
    grep -q token_note "$BATS_TEST_TMPDIR/fresh"
    NAME=migrated
    make_database "$NAME"
    use "$(url_of "$NAME")"
    switchboard init
    switchboard user add a@example.org
    run next_switchboard user list
    [[ $status == 1 && $output == *"it has schema version $version, this program needs $next: run "* ]] ||
        fail "$status: $output"
    run next_switchboard init
    assert_equal "$status" 0
    assert_equal "${lines[3]}" \
        "database postgresql:///$NAME: migrated from schema version $version to $next"
    describe >"$BATS_TEST_TMPDIR/migrated"
    diff "$BATS_TEST_TMPDIR/fresh" "$BATS_TEST_TMPDIR/migrated" ||
        fail 'the steps of tests/next make something else'
    assert_equal "$(db 'SELECT size, label, body = hash FROM token_note JOIN api_token USING (user_id)')" \
        '32|migrated|t'
    refused "it has schema version $next, made by a newer program; this one supports $version" switchboard init
    refused "it has schema version $next, made by a newer program" switchboard user list
}

# bats test_tags=long
@test "a migration that fails leaves the database as it was" {
    switchboard init
    switchboard user add a@example.org
    db 'CREATE TABLE token_note (x int)' # the step cannot create it
    describe >"$BATS_TEST_TMPDIR/before"
    refused 'relation "token_note" already exists' next_switchboard init
    describe | diff "$BATS_TEST_TMPDIR/before" -
    switchboard user list
}

# Before the first release the tables of version 1 change; databases had the versions 1 to 7 before.
# bats test_tags=long
@test "a database of a development version is refused with what to do, and not changed" {
    local change
    switchboard init
    for change in 'UPDATE schema_version SET edition = 1' \
        'ALTER TABLE schema_version DROP COLUMN edition' 'UPDATE schema_version SET version = 7'; do
        db "$change"
        describe >"$BATS_TEST_TMPDIR/before"
        for command in init 'user list' doctor; do
            # shellcheck disable=SC2086
            refused 'made by a development version' switchboard $command
        done
        refused 'for this program name another database' next_switchboard init
        describe | diff "$BATS_TEST_TMPDIR/before" -
    done
}

# --- the role that reads ---

# bats test_tags=long
@test "GET /v2/me works with a role that may only read, which cannot write" {
    use "$(url_of "$NAME")" "database_reader = $(tcp_url_of "$NAME" reader)"
    run switchboard init
    assert_equal "$status" 0
    assert_equal "${lines[4]}" 'role that may read all tables: reader'
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

# bats test_tags=long
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

# bats test_tags=long
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

# bats test_tags=long
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

# bats test_tags=long
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
    rm "$file" # no secret may stay in the files of the suite
}

# bats test_tags=long
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

# bats test_tags=long
@test "a standby alone takes no writes, and with the primary's host beside it the programs work" {
    local standby=$BATS_TEST_TMPDIR/standby both
    switchboard init
    make_user
    start_standby "$standby" "$MAIN"
    both="postgresql://switchboard@/$NAME?host=$standby,$MAIN&port=$(port_of "$standby"),$PORT"
    fails_with "; the URL names only $standby:$(port_of "$standby"), which is a standby: name the host of the primary too" \
        "postgresql://switchboard@/$NAME?host=$standby&port=$(port_of "$standby")"
    use "$both"
    switchboard account list
    api GET /v2/me
    assert_success
    use "postgresql://switchboard@/$NAME?host=$standby&port=$(port_of "$standby")&target_session_attrs=any"
    run switchboard doctor
    [[ $output == *'FAIL  database '*'a standby, which takes no writes: name the primary too'* ]] || fail "$output"
}

# bats test_tags=long
@test "while no host of the URL is a primary, the log names the hosts and says what ends it" {
    local standby=$BATS_TEST_TMPDIR/standby primary=$BATS_TEST_TMPDIR/primary named
    switchboard init
    start_standby "$standby" "$MAIN"
    mkdir "$primary" # no server listens there
    named="$primary:$PORT, $standby:$(port_of "$standby")"
    fails_with "; the URL names the hosts $named, and none of them is a primary now: a standby becomes one in a failover" \
        "postgresql://switchboard@/$NAME?host=$primary,$standby&port=$PORT,$(port_of "$standby")"
    sql "$standby" postgres 'SELECT pg_promote()'
    switchboard account list
}

# bats test_tags=long
@test "a server that is older than version 15 is refused" {
    local port=$BATS_TEST_TMPDIR/port
    node "$root/tests/helpers/older_server.js" "$MAIN/.s.PGSQL.$PORT" "$port" >/dev/null 2>&1 3>&- &
    end_with_test $!
    eventually test -s "$port"
    fails_with 'the server has version 14' "postgresql://switchboard@127.0.0.1:$(cat "$port")/$NAME"
    refused 'this program needs PostgreSQL 15 or newer' switchboard init
    assert_equal "$(db "SELECT to_regclass('schema_version') IS NULL")" t
}

# --- texts that the server does not store ---

# Bytes that are not UTF-8, in every text of a request that is stored or compared.
# bats test_tags=long
@test "invalid UTF-8 and NUL in paths, queries, headers and bodies never fail in the database" {
    local bad=$'\xff\xfe' value
    switchboard init
    make_user
    for value in %00 %ff %c0%80 %ed%a0%80 'a%00b'; do
        api GET "/v2/contacts?q=$value"
        assert_status 400
        api GET "/v2/events?type=$value"
        assert_status 400
        api GET "/v2/lines/$value"
        [[ $status == 40[04] ]] || fail_answer "path $value"
    done
    request GET /v2/me --as "sb_$bad"
    assert_status 401
    api GET /v2/me -H "User-Agent: $bad" -H "X-Request-Id: $bad"
    assert_success
    api POST /v2/messages/send/text -H "Idempotency-Key: $bad" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"x\"}"
    assert_error 400 VALIDATION_ERROR 'Idempotency-Key must be 1 to 255 visible ASCII characters.'
    for value in '\u0000' 'a\u0000b' "$bad" '\ud800'; do
        api POST /v2/messages/send/text \
            -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"$value\"}"
        [[ $status == 200 || $status == 400 ]] || fail_answer "text $value"
        api POST /v2/messages/send/text \
            -d "{\"phoneNumberId\":\"$value\",\"to\":\"$value\",\"text\":\"x\"}"
        [[ $status == 40[034] ]] || fail_answer "ids $value"
        # not recorded: a schema cannot say that a text of control characters is empty
        RECORD='' api POST /v2/webhooks -d "{\"url\":\"http://127.0.0.1:1/\",\"name\":\"$value\"}"
        [[ $status == 20[01] || $status == 400 ]] || fail_answer "name $value"
    done
    refute grep -E 'PostgreSQL (22021|22P05|XX)' "$LOG"
}

# bats test_tags=long
@test "an inbound payload with NUL in its texts is stored unchanged" {
    local name='A\u0000B' text='one\u0000two'
    switchboard init
    make_user
    take "$(payload "$(change messages "\"contacts\":[{\"profile\":{\"name\":\"$name\"},\"wa_id\":\"$P1\"}],
        \"messages\":[{\"from\":\"$P1\",\"id\":\"wamid.nul\",\"timestamp\":\"1\",\"type\":\"text\",
        \"text\":{\"body\":\"$text\"}}]")")"
    assert_equal "$(db "SELECT count(*) FROM message WHERE wamid = 'wamid.nul'
        AND position(convert_to('$text', 'UTF8') IN body) > 0")" 1
    assert_equal "$(db 'SELECT name IS NULL FROM contact')" t
    refute grep -q 'PostgreSQL 22' "$LOG"
}

# bats test_tags=long
@test "invalid UTF-8 in an inbound payload is refused, and in ids of messages nothing is lost" {
    switchboard init
    make_user
    deliver "$(payload "$(change messages "\"messages\":[{\"from\":\"$P1\",\"id\":\"wamid.\u0000\",
        \"timestamp\":\"1\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}]")")"
    assert_status 200
    assert_equal "$(db 'SELECT count(*) FROM platform_update')" 1
    deliver "$(payload "$(change messages $'"messages":[{"from":"\xff"}]')")"
    assert_status 400
    refute grep -q 'PostgreSQL 22' "$LOG"
}

# bats test_tags=long
@test "a login stores a User-Agent with invalid UTF-8, each invalid byte as U+FFFD" {
    switchboard init
    make_user
    printf 'correct horse battery\n' | switchboard user password "$EMAIL" >/dev/null
    request POST /v2/session -H 'X-Switchboard: 1' -H 'Sec-Fetch-Site: same-origin' \
        -H $'User-Agent: a\xff\xc3b' -d "{\"email\":\"$EMAIL\",\"password\":\"correct horse battery\"}"
    assert_status 200
    assert_equal "$(db 'SELECT agent FROM session')" $'a\uFFFD\uFFFDb'
}

# bats test_tags=long
@test "a command refuses invalid UTF-8 in its values, or finds nothing" {
    local bad=$'\xff' command
    switchboard init
    make_user
    while IFS= read -r command; do
        # shellcheck disable=SC2086  # words of a command
        run switchboard $command
        [[ $status == [12] ]] || fail "switchboard $command: $output"
        [[ $output != *'PostgreSQL 22'* ]] || fail "switchboard $command: $output"
    done <<END
user add ${bad}@example.org
plan set $EMAIL $bad
plan set ${bad}@example.org Premium
account add $EMAIL --waba-id 1 --name $bad
account list ${bad}@example.org
line add $ACCOUNT --phone-number-id 1 --number +15550100001 --name $bad
line list --account $bad
contact list --account acc_$bad
message list --contact con_$bad
contact list --after $bad
event show evt_$bad
event list --after $bad
webhook add $EMAIL http://$bad.example/
webhook add $EMAIL http://127.0.0.1:1/ --name $bad
refusal show $bad
usage ${bad}@example.org
END
}

# bats test_tags=long
@test "with the SQL of doc/moving-to-postgresql.md the reader can use up nothing of the others" {
    local server=$BATS_TEST_TMPDIR/server statement
    make_server "$server"
    start_private_server "$server"
    end_with_test "$(head -n 1 "$server/data/postmaster.pid")"
    block doc/moving-to-postgresql.md 'CREATE ROLE switchboard LOGIN' >"$BATS_TEST_TMPDIR/page.sql"
    psql -qX -v ON_ERROR_STOP=1 -h "$server" -p "$(port_of "$server")" -U postgres -d postgres \
        -f "$BATS_TEST_TMPDIR/page.sql"
    url="postgresql://switchboard@/switchboard?host=$server&port=$(port_of "$server")"
    use "$url" "database_reader = ${url/switchboard@/switchboard_reader@}"
    switchboard init
    run switchboard doctor
    [[ $output == *'ok    database reader '*'switchboard_reader may read all tables and write none'* ]] ||
        fail "$output"
    for statement in 'SELECT pg_advisory_lock(1)' 'SELECT pg_try_advisory_xact_lock_shared(1, 2)' \
        'SELECT lo_create(0)' "SELECT lo_from_bytea(0, 'x')" 'CREATE TEMPORARY TABLE t (a int)'; do
        run psql -qAtX -d "${url/switchboard@/switchboard_reader@}" -c "$statement"
        [[ $status == 1 && $output == *'permission denied'* ]] || fail "$statement: $output"
    done
    make_user # the owner takes locks
    api GET /v2/me
    assert_success
    psql -qX -d "${url/switchboard@/postgres@}" -c 'GRANT TEMPORARY ON DATABASE switchboard TO PUBLIC' \
        -c 'GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC'
    run switchboard doctor
    [[ $output == *'warn  database reader '*'but take or create advisory locks, temporary tables, and so stop the others'* ]] ||
        fail "$output"
}

# --- TLS ---

# Makes the server use a certificate for a name: certify NAME
certify() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=any -addext "subjectAltName=DNS:$1" \
        -keyout "$BATS_TEST_TMPDIR/key" -out "$STACK/authority.pem" 2>/dev/null
    as_postgres tee "$MAIN/data/server.key" <"$BATS_TEST_TMPDIR/key" >/dev/null
    as_postgres tee "$MAIN/data/server.crt" <"$STACK/authority.pem" >/dev/null
    as_postgres chmod 600 "$MAIN/data/server.key"
    sql "$MAIN" postgres 'ALTER SYSTEM SET ssl = on' 'SELECT pg_reload_conf()' >/dev/null
    eventually uses_tls
}

uses_tls() {
    PGPASSWORD=$PASSWORD psql -qAtX -c 'SELECT 1' \
        "host=127.0.0.1 port=$PORT user=switchboard dbname=$NAME sslmode=verify-ca sslrootcert=$STACK/authority.pem"
}

# bats test_tags=long
@test "beyond this machine a server must prove its name, unless the URL says otherwise" {
    local url
    switchboard init
    # a name that is not this machine's, led to it
    url=$(tcp_url_of "$NAME")
    url="${url/127.0.0.1/db.example.org}?hostaddr=127.0.0.1&sslrootcert=$STACK/authority.pem"
    certify other.example.org
    sql "$MAIN" postgres 'ALTER SYSTEM SET ssl = off' 'SELECT pg_reload_conf()' >/dev/null
    refuses_url 'server does not support SSL, but SSL was required' "$url"
    certify other.example.org
    refuses_url 'does not match host name "db.example.org"' "$url"
    finds 'fail the URL'"'"'s sslmode allows a connection without TLS' "$url&sslmode=prefer"
    finds 'warn the server'"'"'s name is not checked' "$url&sslmode=verify-ca"
    certify db.example.org
    finds 'ok the server'"'"'s certificate and name are checked' "$url"
    finds 'ok not needed: the URL names this machine alone' "$(tcp_url_of "$NAME")"
    sql "$MAIN" postgres 'ALTER SYSTEM RESET ssl' 'SELECT pg_reload_conf()' >/dev/null
}

refuses_url() { # MESSAGE URL
    use "$2"
    eventually says "$1" # the server reads its configuration again
}

says() { # MESSAGE
    run switchboard account list
    [[ $status == 1 && $output == *"$1"* ]]
}

finds() { # TEXT URL
    use "$2"
    run switchboard doctor --json
    [[ $(found 'database TLS') == "$1"* ]] || fail "$output"
}

# --- a server without room ---

# bats test_tags=long
@test "too many connections are 503 with Retry-After, and the log says why" {
    local number
    switchboard init
    make_user
    for number in 1 2; do
        psql -qAtX -d "$(url_of "$NAME")" -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 3>&- &
        end_with_test $!
    done
    have_sleepers() {
        (($(sql "$MAIN" postgres "SELECT count(*) FROM pg_stat_activity
            WHERE usename = 'switchboard' AND query LIKE '%pg_sleep%'") == 2))
    }
    eventually have_sleepers
    sql "$MAIN" postgres 'ALTER ROLE switchboard CONNECTION LIMIT 2'
    refused 'too many connections for role "switchboard"' switchboard account list
    api GET /v2/me
    local answered=$status retry
    retry=$(header Retry-After)
    deliver "$(payload)"
    local received=$status
    end_processes
    sql "$MAIN" postgres 'ALTER ROLE switchboard CONNECTION LIMIT -1' \
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%'
            AND pid <> pg_backend_pid()" >/dev/null
    assert_equal "$answered $received" '503 503'
    [[ -n $retry ]]

    grep -q 'too many connections for role' "$LOG"
    api GET /v2/me
    assert_success
}

# bats test_tags=long
@test "a full disk of the server fails requests without loss, and they succeed when there is room" {
    local small=$BATS_TEST_TMPDIR/small number acknowledged=0 refusals=0 ballast
    start_server_on_small_disk "$small" 48m
    MAIN=$small PORT=$(cat "$small/port")
    psql -qX -h "$MAIN" -p "$PORT" -U postgres -c 'CREATE ROLE switchboard LOGIN' \
        -c "CREATE DATABASE $NAME OWNER switchboard"
    use "$(url_of "$NAME")"
    switchboard init
    make_user
    ballast=/proc/$small_server/root$small/disk/ballast
    as_postgres dd if=/dev/zero of="$ballast" bs=64k count=1000 2>/dev/null || true
    for ((number = 1; number <= 300 && refusals < 3; number++)); do
        deliver "$(payload "$(change messages "\"messages\":[{\"from\":\"$P1\",\"id\":\"wamid.$number\",
            \"timestamp\":\"1\",\"type\":\"text\",\"text\":{\"body\":\"$(printf 'x%.0s' {1..3000})\"}}]")")"
        if [[ $status == 200 ]]; then
            ((++acknowledged))
            printf 'wamid.%s\n' "$number" >>"$BATS_TEST_TMPDIR/acknowledged"
        else
            assert_status 503
            assert_header Retry-After
            ((++refusals))
        fi
    done
    ((refusals == 3)) || fail "the disk was never full: $acknowledged payloads"
    for ((number = 1; number <= 200; number++)); do # a small row may still fit
        api POST /v2/messages/send/text -H "Idempotency-Key: full-$number" \
            -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"1555123$number\",\"text\":\"x\"}"
        [[ $status == 200 ]] || break
    done
    assert_error 503 INTERNAL_ERROR "The gateway's disk is full; its operator must make room."
    assert_header Retry-After 10
    grep -q 'PostgreSQL 53100' "$LOG" || fail "$(tail -n 3 "$LOG")"
    refused 'the disk is full; nothing was changed' switchboard user add "$(printf 'x%.0s' {1..300})@example.org" ||
        true # a small row may still fit
    as_postgres rm "$ballast"
    deliver "$(payload "$(change messages "\"messages\":[{\"from\":\"$P1\",\"id\":\"wamid.last\",
        \"timestamp\":\"1\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}]")")"
    assert_status 200
    db 'SELECT wamid FROM message' >"$BATS_TEST_TMPDIR/stored"
    assert_equal "$(sort "$BATS_TEST_TMPDIR/acknowledged" | comm -23 - <(sort "$BATS_TEST_TMPDIR/stored"))" ''
}

# --- a pooler ---

# bats test_tags=long
@test "plain CGI works through pgbouncer by transaction" {
    local pool=$BATS_TEST_TMPDIR/pool url number
    start_pooler "$pool" "$MAIN"
    url="postgresql://switchboard@/$NAME?host=$pool&port=$(cat "$pool/port")"
    use "$url"
    switchboard init # one connection, without named statements
    run switchboard doctor
    [[ $output == *'FAIL  pooler '*'add pooler=transaction'* ]] || fail "$output"
    use "$url&pooler=transaction" "database_reader = ${url/switchboard@/reader@}&pooler=transaction"
    switchboard init
    make_user
    run switchboard doctor
    [[ $output == *'ok    pooler '*'between this host and the server, by transaction'* ]] || fail "$output"
    request_many 8 GET /v2/me --as "$TOKEN"
    assert_equal "$(statuses)" '8 200'
    for number in {1..8}; do
        api POST /v2/messages/send/text -H "Idempotency-Key: key-$number" \
            -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"1555123000$number\",\"text\":\"x\"}"
        assert_success
        take "$(payload "$(change messages "\"messages\":[{\"from\":\"1555123000$number\",\"id\":\"wamid.$number\",
            \"timestamp\":\"1\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}]")")"
    done
    assert_equal "$(db 'SELECT direction, count(*) FROM message GROUP BY 1 ORDER BY 1')" $'in|8\nout|8'
    assert_equal "$(db 'SELECT count(*) FROM contact')" 8
    use "$(url_of "$NAME")&pooler=transaction"
    run switchboard doctor
    [[ $output == *'warn  pooler '*'and none is between: each statement is parsed anew'* ]] || fail "$output"
}

# Runs a request and lists what the server was sent for it, a line each: `statement` or `execute`,
# and the SQL, without what pgbouncer sends on a connection of its own: sent_by API-ARGUMENT...
sent_by() {
    local from
    from=$(stat -c %s "$MAIN/log")
    api "$@"
    assert_success
    tail -c +"$((from + 1))" "$MAIN/log" |
        sed -nE '/SET application_name/d; s/.* LOG:  (statement|execute) ?[^:]*: (.*)/\1 \2/p'
}

# bats test_tags=long
@test "a new connection costs one statement before those of the request, also through a pooler" {
    local pool=$BATS_TEST_TMPDIR/pool session='statement SELECT CAST(extract(epoch' url pooled
    local text="{\"phoneNumberId\":\"%s\",\"to\":\"15551230001\",\"text\":\"x\"}"
    switchboard init
    make_user
    sql "$MAIN" postgres "ALTER DATABASE $NAME SET log_statement = 'all'"
    start_pooler "$pool" "$MAIN"
    pooled="postgresql://switchboard@/$NAME?host=$pool&port=$(cat "$pool/port")"
    for url in "$DB" "$pooled&pooler=transaction"; do
        use "$url"
        sent_by GET /v2/me >"$BATS_TEST_TMPDIR/sent"
        assert_equal "$(grep -c '^statement' "$BATS_TEST_TMPDIR/sent")" 1
        [[ $(sed -n 1p "$BATS_TEST_TMPDIR/sent") == "$session"*schema_version* ]]
        [[ $(sed -n 2p "$BATS_TEST_TMPDIR/sent") == 'execute SELECT u.id, '* ]]
        # shellcheck disable=SC2059  # the body has one field that is set here
        sent_by POST /v2/messages/send/text -d "$(printf "$text" "$LINE")" >"$BATS_TEST_TMPDIR/sent"
        # the COMMIT goes with the statements before it
        grep -E '^statement|COMMIT' "$BATS_TEST_TMPDIR/sent" >"$BATS_TEST_TMPDIR/alone"
        assert_equal "$(cut -c 1-29 "$BATS_TEST_TMPDIR/alone" | xargs -n 2)" \
            "$(printf '%s\n' "${session:0:29}" 'execute COMMIT' | xargs -n 2)"
    done
}

# Prints the number of rows that a statement of the store reads with these parameters: rows_read STATEMENT
# PARAMETER...
rows_read() {
    local sql number=0 value
    sql=$(statement "$1")
    for value in "${@:2}"; do
        sql=${sql//"?$((++number))"/"$value"}
    done
    read_by "EXPLAIN (ANALYZE, COSTS off, TIMING off) $sql"
}

# SQL for the settings that a program makes on a new connection.
settings_of_plans() {
    sed -n '/#define PLANS/,/^$/p' "$root/lib/engine/postgresql_session.c" | grep -o 'SET("[a-z_]*", "[a-z_]*")' |
        sed 's/SET("\(.*\)", "\(.*\)")/SET \1 = \2;/'
}

# The same with the plan that a connection keeps for all values of the parameters.
rows_read_by_kept_plan() {
    local sql IFS=,
    sql=$(statement "$1" | sed 's/?\([1-9]\)/$\1/g')
    read_by "$(settings_of_plans) PREPARE kept AS $sql;
        EXPLAIN (ANALYZE, COSTS off, TIMING off) EXECUTE kept (${*:2})"
}

# Prints the number of rows that a plan has read: read_by SQL
read_by() {
    db "$1" | awk '
        match($0, /Scan.* on .*actual rows=/) { split(substr($0, RSTART + RLENGTH), n, /[^0-9.]+/); rows += n[1] * n[2] }
        /Rows Removed by/ { rows += $NF }
        END { print rows }'
}

# bats test_tags=long
@test "the state of an event and the last hours of a line are found in few rows" {
    switchboard init
    texts_of "$root"/lib/store/{event/event_entry,count/usage}.c >"$BATS_TEST_TMPDIR/all"
    sql "$MAIN" "$NAME" 'SET session_replication_role = replica' "
        INSERT INTO event (id, user_id, sequence, type, body, state, created_at)
            SELECT 'evt_' || i, 'usr_1', i, 'message.received', '', 'pending', 1 FROM generate_series(0, 999) i;
        INSERT INTO delivery (event_id, webhook_id, user_id, sequence, state, next_attempt_at, last_error, created_at)
            SELECT 'evt_' || CASE WHEN i < 1000 THEN 0 ELSE i - 1000 END, 'whk_' || 1000 + i, 'usr_1', 1,
            CASE WHEN i < 999 THEN 'done' ELSE 'pending' END, 1, CASE WHEN i < 999 THEN NULL ELSE 'refused' END, 1
            FROM generate_series(1, 1999) i;
        INSERT INTO account (id, user_id, waba_id, name, created_at) VALUES ('acc_1', 'usr_1', '1', '', 1);
        INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered, is_coexisting, created_at)
            SELECT 'lin_' || 100 + i, 'acc_1', i, '', 1, 0, 1 FROM generate_series(1, 20) i;
        INSERT INTO usage (user_id, hour, line_id, measure, count)
            SELECT 'usr_1', 9000000 + i, l.id, m, 1 FROM generate_series(1, 192) i, line l, unnest(ARRAY['in', 'out']) m" \
        ANALYZE
    # of 1,000 deliveries, of which one is pending, and of 7,680 hours of 20 lines
    (($(rows_read 'UPDATE event SET state...WHERE id = ?3' "''" 9 "'evt_0'") <= 5))
    (($(rows_read "UPDATE event SET state...c.state = 'pending')" "'whk_2999'" 9) <= 10))
    (($(rows_read 'SELECT l.id, (SELECT max' "'usr_1'" 9000000 9000190) <= 100))
}

# bats test_tags=long
@test "a contact among the recipients of a campaign is found in few rows, and so is a send that is due" {
    switchboard init
    texts_of "$root"/lib/store/outgoing/{campaign,outgoing_row,outgoing_take}.c >"$BATS_TEST_TMPDIR/all"
    sql "$MAIN" "$NAME" 'SET session_replication_role = replica' "
        INSERT INTO contact (id, account_id, phone, bsuid, created_at, updated_at)
            SELECT 'con_' || i, 'acc_1', i, 'PT.' || i, 1, 1 FROM generate_series(1, 1000) i;
        INSERT INTO campaign (id, user_id, account_id, line_id, name, template, language, components, state, valid_ms,
            created_at) SELECT 'cmp_' || i, 'usr_1', 'acc_1', 'lin_1', '', '', '', '', 'draft', 1, 1
            FROM generate_series(1, 400) i;
        INSERT INTO campaign_recipient (id, account_id, campaign_id, recipient, body, created_at)
            SELECT 'rcp_' || i, 'acc_1', 'cmp_' || CASE WHEN i < 3000 THEN 1 ELSE i % 400 END, i, '', 1
            FROM generate_series(1, 5000) i;
        INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, send_at, next_at, expires_at,
            created_at) SELECT 'out_' || i, 'usr_1', 'acc_1', 'lin_' || i % 300, i, '', 'queued', 1, 1, 9, 1
            FROM generate_series(1, 9000) i;
        INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, send_at, next_at, expires_at,
            created_at, finished_at, wamid) SELECT 'sent_' || i, 'usr_' || n, 'acc_1', 'lin_' || n, i, '', 'accepted', 1,
            1, 9, 1, 1, i FROM generate_series(1, 8000) i, LATERAL (SELECT CASE WHEN i < 4000 THEN 7 ELSE i END n) AS l;
        INSERT INTO message (id, thread_id, user_id, line_id, wamid, direction, source, type, status, status_at,
            created_at, timestamp, body, is_campaign, phone) SELECT 'msg_' || i, 'thr_' || i, 'usr_7', 'lin_7', i, 'out',
            'api', 'text', 'sent', 1, 1, 1, '', 1, 'x' || i FROM generate_series(1, 3000) i;
        INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
            SELECT 'thr_' || i, 'usr_7', 'lin_7', 'con_' || i, 1, 1 FROM generate_series(1, 3000) i;
        INSERT INTO contact_alias (account_id, identity, contact_id, created_at)
            SELECT 'acc_1', i, 'con_' || i, 1 FROM generate_series(1, 3000) i" \
        ANALYZE
    # of 3,000 recipients, and of 9,000 sends, 30 of them of the line
    (($(rows_read_by_kept_plan 'WITH person (id)' "'rcp_new'" "'acc_1'" "'cmp_1'" "'7'" "''" 1 "'PT.8'") <= 30))
    (($(rows_read_by_kept_plan "UPDATE outgoing SET state = 'sending'" "'lin_7'" 2 20 "'snd_1'" "'tak_1'" 7200000) <= 130))
    (($(rows_read_by_kept_plan 'SELECT o.id, o.campaign_id, o.reason...LIMIT 1' "'msg_9'") <= 10))
}

# Prints the plan that a connection keeps of each statement of the store, after a line with its text.
kept_plans() {
    texts_of "$root"/lib/store/*.c "$root"/lib/store/*/*.c >"$BATS_TEST_TMPDIR/all"
    awk -F '\t' '$2 == "statement" {
        count = 0
        for (text = $3; match(text, /\?[0-9]+/); text = substr(text, RSTART + RLENGTH))
            if (substr(text, RSTART + 1, RLENGTH - 1) > count + 0)
                count = substr(text, RSTART + 1, RLENGTH - 1) + 0
        values = count ? "(NULL" : ""
        for (i = 1; i < count; i++)
            values = values ", NULL"
        text = $3
        gsub(/\?/, "$", text)
        printf "PREPARE kept AS %s;\n", text
        printf "\\if :ERROR\n\\else\nSELECT $text$of %s %s$text$;\n", $1, text
        printf "EXPLAIN EXECUTE kept%s;\nDEALLOCATE kept;\n\\endif\n", values ? values ")" : ""
    }' "$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/plans.sql"
    { settings_of_plans && cat "$BATS_TEST_TMPDIR/plans.sql"; } |
        psql -qAtX -d "$(url_of "$NAME")" 2>/dev/null
}

# bats test_tags=long
@test "no plan of a statement reads a whole table" {
    local old=$BATS_TEST_TMPDIR/old.db
    use "$old"
    switchboard init
    {
        fill_sql 3000
        printf '%s\n' "INSERT INTO webhook (id, user_id, kind, url, code, created_at, updated_at)
            SELECT 'whk_fill', user_id, 'event', '', x'', 1, 1 FROM owner WHERE k = 0;"
    } | sqlite3 -bail "$old" >/dev/null
    switchboard copy-to "$(url_of "$NAME")" >/dev/null
    db ANALYZE 2>/dev/null
    kept_plans >"$BATS_TEST_TMPDIR/plans"
    (($(grep -c '^of ' "$BATS_TEST_TMPDIR/plans") > 700))
    db "SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > 1500" >"$BATS_TEST_TMPDIR/large"
    run awk 'NR == FNR { large[$1]; next }
        /^of / { text = $0 }
        match($0, /Seq Scan on /) {
            split(substr($0, RSTART + RLENGTH), name, " ")
            if (name[1] in large)
                print text
        }' "$BATS_TEST_TMPDIR/large" "$BATS_TEST_TMPDIR/plans"
    assert_equal "$output" ''
}

# Whether the statistics of the contacts are those of so many rows: has_statistics ROWS
has_statistics() {
    [[ $(db "SELECT reltuples FROM pg_class WHERE relname = 'contact'") == "$1" ]]
}

# bats test_tags=long
@test "the courier has the server make statistics of a table whose size has doubled" {
    local from
    switchboard init
    switchboard user add a@example.org >/dev/null
    db "ALTER TABLE contact SET (autovacuum_enabled = false);
        INSERT INTO account (id, user_id, waba_id, name, created_at)
            SELECT 'acc_1', id, '1', '', 1 FROM \"user\""
    start_courier
    for from in 1 4001; do
        db "INSERT INTO contact (id, account_id, phone, created_at, updated_at)
            SELECT 'con_' || i, 'acc_1', i, 1, 1 FROM generate_series($from, $from * 2 + 3998) i"
        eventually has_statistics $((from * 2 + 3998))
    done
    assert_equal "$(db "SELECT reltuples FROM pg_class WHERE relname = 'account'")" -1
    stop_courier
    assert_equal "$courier_status" 0
}

# --- doctor ---

# Prints the status and the detail of a check in the report: found CHECK
found() {
    gojq -r --arg check "$1" '.[] | select(.check == $check) | "\(.status) \(.detail)"' \
        <<<"$output"
}

@test "doctor reports role, standbys, durability, checksums, clock and connections" {
    switchboard init
    run switchboard doctor --json
    [[ $(found database) == 'ok opens, with the schema version of this program; PostgreSQL '1[5-9]*', the primary' ]] || fail "$output"
    assert_equal "$(found role)" 'ok switchboard, without superuser'
    assert_equal "$(found pooler)" 'ok none'
    assert_equal "$(found standbys)" "warn none: what was committed is lost with the server's disk"
    assert_equal "$(found durability)" 'warn off: fsync; a crash of the server may lose what was committed'
    assert_equal "$(found integrity)" 'ok the server checks the checksum of every page that it reads'
    [[ $(found clock) =~ ^"ok this host's clock is "[0-9]+' ms '(ahead of|behind)" the server's, which the programs use"$ ]] ||
        fail "$(found clock)"
    [[ $(found connections) =~ ^'ok '[0-9]+' of 37 in use; this host needs 2 to 2, for 0 pools, the courier and a command'$ ]] ||
        fail "$(found connections)"
    use "postgresql://postgres@/$NAME?host=$MAIN&port=$PORT"
    run switchboard doctor --json
    assert_equal "$(found role)" 'warn postgres is a superuser of the server: use a role that only owns the database'
}

@test "doctor reports a large table of which the server has no statistics" {
    switchboard init
    db "ALTER TABLE event SET (autovacuum_enabled = false);
        INSERT INTO \"user\" (id, email, created_at) VALUES ('usr_1', 'a@example.org', 1);
        INSERT INTO event (id, user_id, sequence, type, body, state, created_at)
            SELECT 'evt_' || i, 'usr_1', i, 'message.received', text, 'done', 1 FROM generate_series(1, 4800) i,
            (SELECT convert_to(string_agg(md5(n::text), ''), 'UTF8') AS text FROM generate_series(1, 58) n) AS body"
    run switchboard doctor --json
    [[ $(found statistics) == 'warn the server has none of event, after pg_upgrade'* ]] || fail "$output"
    db ANALYZE 2>/dev/null
    run switchboard doctor --json
    assert_equal "$(found statistics)" 'ok the server has those of the large tables'
}

@test "doctor reports a clock that is more than two seconds from that of the server" {
    switchboard init
    run faketime -f +5s "$OUT/tools/switchboard" doctor --json
    [[ $(found clock) =~ ^"warn this host's clock is "[45][0-9]{3}" ms ahead of the server's, which the programs use: set both by NTP"$ ]] || fail "$output"
}

# bats test_tags=long
@test "doctor reports the state and the lag of standbys" {
    local standby=$BATS_TEST_TMPDIR/standby
    switchboard init
    start_standby "$standby" "$MAIN"
    run switchboard doctor --json
    [[ $(found standbys) == 'warn walreceiver of unknown state: GRANT pg_read_all_stats to the role shows the state' ]] ||
        fail "$(found standbys)"
    sql "$MAIN" postgres 'GRANT pg_read_all_stats TO switchboard'
    run switchboard doctor --json
    [[ $(found standbys) =~ ^'warn walreceiver async, behind by '[0-9]+' bytes: none is synchronous' ]] ||
        fail "$(found standbys)"
    sql "$MAIN" postgres "ALTER SYSTEM SET synchronous_standby_names = '*'" 'SELECT pg_reload_conf()' >/dev/null
    reports_sync() {
        run switchboard doctor --json
        [[ $(found standbys) =~ ^'ok walreceiver sync, behind by '[0-9]+' bytes'$ ]]
    }
    eventually reports_sync
    sql "$MAIN" postgres 'ALTER SYSTEM RESET synchronous_standby_names' 'SELECT pg_reload_conf()' \
        'REVOKE pg_read_all_stats FROM switchboard' >/dev/null
}

@test "doctor compares the connections that the pools of this configuration may need with the limit" {
    switchboard init
    "$OUT/tools/pool" --socket "$STACK/pool.sock" --processes 1 --max-processes 64 \
        --watch "$SWITCHBOARD_CONFIG" -- "$OUT/cgi-bin/health" >/dev/null 2>&1 3>&- &
    end_with_test $!
    eventually test -S "$STACK/pool.sock"
    run switchboard doctor --json
    [[ $(found connections) =~ ^'warn '[0-9]+' of 37 in use; this host needs 3 to 66, for 1 pool, the courier and a command: lower MAX_PROCESSES' ]] ||
        fail "$(found connections)"
    sql "$MAIN" postgres 'ALTER ROLE switchboard CONNECTION LIMIT 2'
    run switchboard doctor --json
    sql "$MAIN" postgres 'ALTER ROLE switchboard CONNECTION LIMIT -1'
    [[ $(found connections) =~ ^'fail '[0-9]+' of 2 in use' ]] || fail "$(found connections)"
}

# --- installation ---

# bats test_tags=long
@test "make install POSTGRESQL=1 installs these programs in place of the default ones" {
    local tree=$BATS_TEST_TMPDIR/tree program
    # what its recipe runs, after a build
    make -s --no-print-directory -n -C "$root" POSTGRESQL=1 OUT="$OUT" DESTDIR="$tree" install 2>/dev/null |
        grep -F "OUT='$OUT' DESTDIR='$tree' PREFIX='/usr' tools/install"
    (cd "$root" && OUT=$OUT DESTDIR=$tree tools/install)
    for program in "$tree"/usr/lib/switchboard/cgi-bin/* "$tree/usr/bin/switchboard"; do
        cmp "$program" "$(find "$OUT/cgi-bin" "$OUT/tools" -maxdepth 1 -name "${program##*/}")"
    done
    grep -q PQconnectdbParams "$tree/usr/lib/switchboard/cgi-bin/me"
    "$tree/usr/bin/switchboard" init
    [[ $("$tree/usr/bin/switchboard" manual switchboard.conf) == *database_reader* ]]
    (cd "$root" && DESTDIR=$tree tools/uninstall)
    refute test -e "$tree/usr/bin/switchboard"
}
