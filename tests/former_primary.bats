#!/usr/bin/env bats
# A primary whose cluster manager has died: another server was promoted, and this one goes on taking
# connections. Programs, courier and commands leave it. The file has servers of its own. It runs
# with programs that support PostgreSQL: those of OUT (`make POSTGRESQL=1`), or of SERVER_OUT, which
# `make test` builds beside the default ones.
# transports: fcgi cgi
unset SERVER # the servers of the run stay as they are
# bats file_tags=long
load helpers/all
load helpers/postgresql
load helpers/webhook

use_server_programs

setup_file() {
    :
}

teardown_file() {
    :
}

# A primary with a synchronous standby, both in the URL, and a web host with a courier.
setup() {
    supports_postgresql || skip 'the programs are built without PostgreSQL'
    local servers
    MAIN=$BATS_TEST_TMPDIR/main STANDBY=$BATS_TEST_TMPDIR/standby STACK=$BATS_TEST_TMPDIR/stack
    make_server "$MAIN"
    start_private_server "$MAIN"
    end_with_test "$(head -n 1 "$MAIN/data/postmaster.pid")"
    start_standby "$STANDBY" "$MAIN"
    sql "$MAIN" postgres "ALTER SYSTEM SET synchronous_standby_names = '*'" \
        'SELECT pg_reload_conf()' >/dev/null
    servers="host=$MAIN,$STANDBY&port=$(port_of "$MAIN"),$(port_of "$STANDBY")"
    start_stack_on "$MAIN" "$servers&target_session_attrs=read-write" 'host = web1'
}

teardown() {
    supports_postgresql || return 0
    stop_stack
    end_processes
}

succeeds() {
    "$@"
    [[ $status == 200 ]]
}

send_text() {
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"$1\"}"
}

deliver_text() {
    deliver "$(payload "$(inbound "wamid.$1" 15551230002 '')")"
}

# Prints a value of the new primary: promoted SQL
promoted() {
    sql "$STANDBY" gateway "$1"
}

@test "a primary that another one has replaced is left by programs, courier and commands, and a replaced token stops" {
    local old number
    for number in 1 2; do # the processes of the pools have connections to the primary
        succeeds api GET /v2/me
        succeeds api GET /v2/threads
        succeeds send_text "before $number"
        succeeds deliver_text "before$number"
    done
    sql "$STANDBY" postgres 'SELECT pg_promote()' >/dev/null
    old=$TOKEN
    TOKEN=$(switchboard token regenerate "$EMAIL")
    for number in 1 2 3; do # never 200, by any process
        request GET /v2/me --as "$old"
        [[ $status == 401 || $status == 503 ]] || fail "the replaced token: $status"
    done
    eventually succeeds api GET /v2/me
    eventually succeeds send_text after
    eventually succeeds deliver_text after
    for number in 1 2 3 4; do # a process that has not looked yet may answer 503 once
        request GET /v2/me --as "$old"
        [[ $status == 401 || $status == 503 ]] || fail "the replaced token: $status"
    done
    assert_equal "$(promoted "SELECT count(*) FROM message WHERE wamid LIKE 'wamid.after'")" 1
    grep -q "is a former primary, which $STANDBY:$(port_of "$STANDBY") has replaced" "$LOG"
    request GET /v2/ready
    assert_json '.data.checks.database // .details.checks.database' ok
}

@test "while commits wait for a standby that is not there, reads are answered, writes end with 503, and ready and doctor name the database" {
    succeeds api GET /v2/me
    as_postgres "$postgresql_bin/pg_ctl" -D "$STANDBY/data" -m immediate -w stop >/dev/null
    eventually succeeds api GET /v2/me
    api POST /v2/webhooks/generate-code -d '{}'
    assert_error 503 INTERNAL_ERROR "The gateway's database cannot be reached"
    assert_header Retry-After 1
    grep -q 'the server did not answer a commit' "$LOG"
    request GET /v2/ready
    assert_status 503
    grep -qF '"database":"Its server answers no write: the synchronous standby is not there.' \
        "$body"
    run switchboard doctor
    grep -q '^FAIL  database .*which answers no write: its synchronous standby is not there' \
        <<<"$output" || fail "$output"
    sql "$MAIN" postgres 'ALTER SYSTEM RESET synchronous_standby_names' \
        'SELECT pg_reload_conf()' >/dev/null
    eventually succeeds api POST /v2/webhooks/generate-code -d '{}'
    eventually succeeds api GET /v2/me
}
