# shellcheck shell=bash
# The courier and its receivers: `load helpers/courier` after helpers/all.

: "${HELPERS:=$root/build/plain/helpers}" # where the test programs are
export NODE_MODULES=$root/build/npm/node_modules

# An SQL expression: the current time in milliseconds since 1970.
db_now="CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
[[ -z ${SERVER-} ]] || db_now='CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)'

# Starts a receiver called NAME: start_receiver NAME [PORT]. Sets and exports NAME_URL (without a
# path) and NAME_DIR, the directory of its records.
start_receiver() {
    local dir=$STACK/receivers/$1
    mkdir -p "$dir"
    rm -f "$dir/port"
    "$HELPERS/receiver" "$dir" "${2-0}" >>"$dir/log" 2>&1 3>&- &
    printf '%s\n' $! >"$dir/pid"
    eventually test -s "$dir/port"
    put "$1_DIR" "$dir"
    put "$1_URL" "http://127.0.0.1:$(cat "$dir/port")"
}

# Prints the URL of a receiver: url_of NAME
url_of() {
    local url=$1_URL
    printf '%s' "${!url}"
}

stop_receiver() { # NAME
    end_helper "$STACK/receivers/$1/pid"
}

stop_receivers() {
    local pid_file
    for pid_file in "$STACK"/receivers/*/pid; do
        [[ ! -e $pid_file ]] || end_helper "$pid_file"
    done
}

end_helper() { # PID_FILE
    local pid
    pid=$(cat "$1")
    rm -f "$1"
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# Removes all webhooks with their events, and what the receivers got and were to answer.
forget_webhooks() {
    db "DELETE FROM event_attempt; DELETE FROM delivery; DELETE FROM event; DELETE FROM event_turn;
        DELETE FROM webhook"
    rm -f "$STACK"/receivers/*/*.{answer,head,body,meta}
}

# Sets what the receiver answers to /PATH from now on: answers NAME PATH [DIRECTIVE...]; without a
# directive, 200
answers() {
    local dir=$STACK/receivers/$1 path=$2
    shift 2
    printf '%s\n' "$@" >"$dir/$path.answer.new"
    mv "$dir/$path.answer.new" "$dir/$path.answer"
}

# Prints the numbers of the requests that NAME received for /PATH, in order: received NAME [PATH]
received() {
    local dir=$STACK/receivers/$1 number
    for number in $(cd "$dir" && find . -name '*.head' | sed 's/[^0-9]//g' | sort -n); do
        if [[ $(head -n 1 "$dir/$number.head") == "POST /${2-}"*' HTTP/1.1' ]]; then
            printf '%s\n' "$number"
        fi
    done
}

received_count() { # NAME [PATH]
    received "$@" | wc -l
}

# Prints a header of a received request: received_header NAME NUMBER HEADER
received_header() {
    awk -v name="${3,,}" '{ at = index($0, ":") }
        tolower(substr($0, 1, at - 1)) == name { value = substr($0, at + 1); sub(/^ +/, "", value); print value }' \
        "$STACK/receivers/$1/$2.head"
}

has_received() { # NAME COUNT [PATH]
    (($(received_count "$1" "${3-}") >= $2))
}

# Makes a user who may configure a webhook: make_consumer NAME. Sets and exports NAME_EMAIL and
# NAME_TOKEN.
make_consumer() {
    local email=${1,,}@example.org
    put "$1_EMAIL" "$email"
    put "$1_TOKEN" "$(switchboard user add "$email")"
    switchboard plan set "$email" Premium >/dev/null
    printf 'platform-token-%s' "$1" | switchboard account add "$email" --waba-id "$(next_number)" \
        --name "$1" >/dev/null
}

# Configures the webhook of a consumer: set_webhook NAME URL [CODE]
set_webhook() {
    local token=$1_TOKEN
    request POST /v2/webhooks/config --as "${!token}" \
        -d "$(gojq -nc --arg url "$2" --arg code "${3-secret of $1}" \
        '{webhookUrl: $url, webhookCode: $code}')"
    assert_success
}

# Prints an SQL expression for the id of an event that was created at the time MS, the SEQUENCE-th
# at that time. Like the ids that the programs make, these ids sort by creation time. event_id_sql
# MS SEQUENCE
event_id_sql() {
    local shift digits="'0123456789abcdefghjkmnpqrstvwxyz'"
    printf "'evt_'"
    for shift in 45 40 35 30 25 20 15 10 5 0; do
        printf ' || substr(%s, CAST(((%s >> %d) & 31) + 1 AS INTEGER), 1)' "$digits" "$1" "$shift"
    done
    printf " || printf('%%08d', %s) || lower(hex(randomblob(4)))" "$2"
}

# Inserts events of a consumer that are due now: add_events NAME [COUNT [CONTACT]]. Each gets the
# user's next sequence number. Prints their ids, in order.
add_events() {
    local email=$1_EMAIL
    db "BEGIN IMMEDIATE;
        UPDATE user SET event_sequence = event_sequence + ${2-1} WHERE email = '${!email}';
        CREATE TEMP TABLE new AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${2-1})
            SELECT i, t.user_id, t.sequence + i AS sequence, t.now, $(event_id_sql t.now i) AS id
            FROM n, (SELECT id AS user_id, event_sequence - ${2-1} AS sequence, $db_now AS now FROM user
                WHERE email = '${!email}') t;
        INSERT INTO outbox (id, user_id, sequence, type, contact_id, body, state, next_attempt_at, created_at)
            SELECT id, user_id, sequence, 'message.received', nullif('${3-}', ''),
            CAST('{\"type\":\"message.received\",\"timestamp\":\"2026-11-20T23:54:27.935Z\",\"data\":{' ||
                '\"sequence\":' || sequence || ',\"accountId\":\"acc_1\",\"wabaid\":\"1\",\"phoneNumberId\":null,' ||
                '\"contact\":null,\"threadId\":null,\"message\":{\"note\":\"größer ☃\"}}}' AS BLOB),
            'pending', now, now FROM new;
        SELECT id FROM new ORDER BY i; COMMIT"
}

# Prints the path of the courier's wake socket.
wake_socket() {
    if [[ -z ${SERVER-} ]]; then
        printf '%s/run/switchboard.db.wake' "$STACK"
    else
        printf '%s/run/courier.wake' "$STACK"
    fi
}

courier() {
    "$OUT/tools/courier" "$@"
}

courier_once() {
    courier --once
}

# Starts a resident courier: start_courier [NAME [option...]]. Its pid is in $STACK/NAME.pid. With
# $descriptors it may open so many files: (n - 64) / 4 attempts at a time.
start_courier() {
    local name=${1-courier}
    shift || true
    {
        [[ -z ${descriptors-} ]] || ulimit -n "$descriptors"
        exec "$OUT/tools/courier" --pid-file "$STACK/$name.pid" "$@"
    } >>"$STACK/$name.log" 2>&1 3>&- &
    printf '%s\n' $! >"$STACK/$name.job"
    eventually test -s "$STACK/$name.pid"
}

# Has the resident courier deliver events to the hosts of the webhooks, so that it makes 8 attempts
# at a time there afterwards. The receivers must answer at once. Removes these events: warm_up
# NAME...
warm_up() {
    local name
    for name; do
        add_events "$name" 20 >/dev/null
    done
    eventually none_is_pending
    db "DELETE FROM event_attempt; DELETE FROM outbox"
    for name; do
        rm -f "$STACK/receivers/$name"/*.{head,body,meta}
    done
}

none_is_pending() {
    [[ $(db "SELECT count(*) FROM outbox WHERE state = 'pending'") == 0 ]]
}

# Stops a courier as a service manager does, and sets $courier_status to its exit status:
# stop_courier [NAME]
stop_courier() {
    local pid
    pid=$(cat "$STACK/${1-courier}.job")
    rm -f "$STACK/${1-courier}.job"
    kill -TERM "$pid" 2>/dev/null || true
    courier_status=0
    wait "$pid" || courier_status=$?
}

stop_couriers() {
    local job
    for job in "$STACK"/*.job; do
        [[ ! -e $job ]] || stop_courier "$(basename "$job" .job)"
    done
}

# Prints a column of an event: event ID COLUMN
event() {
    db "SELECT $2 FROM outbox WHERE id = '$1'"
}

assert_event() { # ID COLUMN VALUE
    assert_equal "$(event "$1" "$2")" "$3"
}

event_is() { # ID STATE
    [[ $(event "$1" state) == "$2" ]]
}

# Makes pending events due now: make_due [WHERE]
make_due() {
    db "UPDATE outbox SET next_attempt_at = 0 WHERE state = 'pending' AND (${1-1 = 1})"
}

# Prints the milliseconds from the end of the event's last attempt until the next one:
# delay_of ID
delay_of() {
    db "SELECT o.next_attempt_at - a.started_at - a.duration_ms FROM outbox o
        JOIN event_attempt a ON a.event_id = o.id WHERE o.id = '$1' ORDER BY a.attempt DESC LIMIT 1"
}

# Prints the milliseconds from the start of the last attempt until the next probe.
delay_of_probe() {
    db "SELECT next_probe_at - (SELECT max(started_at) FROM event_attempt) FROM webhook"
}

assert_between() { # NUMBER LEAST MOST
    (($1 >= $2 && $1 <= $3)) || fail "expected $1 to be from $2 to $3"
}

# Starts a stack for a test file, with a receiver and a consumer for each NAME. The consumers'
# webhooks are not configured. start_courier_stack NAME...
start_courier_stack() {
    local name
    start_stack
    for name; do
        make_consumer "$name"
        start_receiver "$name"
    done
}

stop_courier_stack() {
    stop_couriers
    stop_receivers
    stop_stack
}

# Removes the events, webhooks, records and log of the previous test.
forget_events() {
    db "DELETE FROM event_attempt; DELETE FROM outbox; DELETE FROM event_turn; DELETE FROM webhook"
    rm -f "$STACK"/receivers/*/*.{head,body,meta,answer} "$LOG"
}

# Checks that every event was received at least once, each time with its own id and body:
# assert_all_arrived NAME
assert_all_arrived() {
    local number id
    for number in $(received "$1"); do
        id=$(received_header "$1" "$number" webhook-id)
        printf '%s %s\n' "$id" "$(od -An -v -tx1 "$STACK/receivers/$1/$number.body" | tr -d ' \n')"
    done | sort -u >"$BATS_TEST_TMPDIR/arrived"
    db "SELECT id || ' ' || lower(hex(body)) FROM outbox ORDER BY id" >"$BATS_TEST_TMPDIR/sent"
    diff "$BATS_TEST_TMPDIR/sent" "$BATS_TEST_TMPDIR/arrived"
}
