#!/usr/bin/env bats
# Several hosts on one database: couriers and key files of their own, and clocks that differ.
# transports: direct
# starts first
load helpers/all
load helpers/courier

hosts=(web1 web2 web3)

setup_file() {
    start_courier_stack A
    chmod 755 "$STACK/spool" # else doctor, as root, would look with the rights of its group alone
    local host
    for host in "${hosts[@]}"; do
        mkdir -m 700 "$STACK/$host"
    done
}

teardown_file() {
    stop_courier_stack
}

# Each host begins with the key file of the stack.
setup() {
    local host
    for host in "${hosts[@]}"; do
        cp -p "$STACK/secret.key" "$STACK/$host/secret.key"
        sed -e "s|^secret_key_file = .*|secret_key_file = $STACK/$host/secret.key|" \
            -e '/^run_dir = /d' "$SWITCHBOARD_CONFIG" >"$STACK/$host/switchboard.conf"
        printf 'host = %s\nrun_dir = %s\n' "$host" "$STACK/$host" >>"$STACK/$host/switchboard.conf"
    done
    db 'DELETE FROM heartbeat'
}

# The key file of the first host opens everything now.
teardown() {
    touch "$BATS_TEST_TMPDIR"/{stop,release} # ends what a failed test left
    stop_couriers
    cp -p "$STACK/web1/secret.key" "$STACK/secret.key"
}

# Runs the CLI on a host, with its output in $output: on HOST WORD...
on() {
    local config=$STACK/$1/switchboard.conf
    SWITCHBOARD_CONFIG=$config run "$OUT/tools/switchboard" "${@:2}"
}

start_host() { # HOST...
    local host
    for host; do
        start_courier "$host" --config "$STACK/$host/switchboard.conf"
        eventually has_beaten "$host"
    done
}

has_beaten() { # HOST
    (($(db "SELECT count(*) FROM heartbeat WHERE host = '$1' AND keys <> ''") == 1))
}

copy_keys() { # FROM TO
    cp -p "$STACK/$1/secret.key" "$STACK/$2/secret.key.new"
    mv "$STACK/$2/secret.key.new" "$STACK/$2/secret.key"
}

ids_of() { # HOST
    cut -d ' ' -f 1 "$STACK/$1/secret.key" | paste -sd ' '
}

# Succeeds once the couriers have reported the key files: eventually works HOST WORD...
works() {
    on "$@"
    ((status == 0))
}

newest_of() { # HOST
    tail -n 1 "$STACK/$1/secret.key" | cut -d ' ' -f 1
}

# bats test_tags=long
@test "a key is added, used and dropped in steps that wait for the key files of other hosts" {
    local old new
    start_host web1 web2
    old=$(newest_of web1)
    on web1 key add --json
    new=$(jq .id <<<"$output")
    assert_equal "$(ids_of web1)" "$new $old"
    on web1 key use "$new"
    assert_equal "$status" 1
    [[ $output == *"host web2 does not have key $new, by its courier "*' nothing was changed'* ]]
    assert_equal "$(ids_of web1)" "$new $old"
    copy_keys web1 web2
    eventually works web1 key use "$new"
    assert_equal "$(ids_of web1)" "$old $new"
    on web1 key drop "$old"
    assert_equal "$status" 1
    [[ $output == *"host web2 still seals with key $old, by its courier "* ]]
    copy_keys web1 web2
    eventually works web1 key drop "$old"
    assert_equal "$(ids_of web1)" "$new"
    on web2 key list --json
    assert_equal "$status" 0
    assert_equal "$(jq -c '[.[] | [.id, .seals]]' <<<"$output")" "[[$old,false],[$new,true]]"
    assert_equal "$(jq '.[0].values' <<<"$output")" 0
    assert_equal "$(jq -c '.[1].hosts' <<<"$output")" '["web1","web2"]'
}

@test "a step that was carried out can be run again" {
    local old new
    old=$(newest_of web1)
    on web1 key add --json
    new=$(jq .id <<<"$output")
    works web1 key use "$new"
    works web1 key use "$new"
    assert_equal "$(ids_of web1)" "$old $new"
    works web1 key drop "$old"
    on web1 key drop "$old"
    assert_equal "$status" 1
    [[ $output == *"has no key $old; "* ]]
    on web1 key use "$old"
    assert_equal "$status" 1
    on web1 key drop "$new"
    assert_equal "$status" 1
    [[ $output == *"key $new seals: "* ]]
    works web1 key list
}

@test "two keys with one id, made on two hosts, are not taken for the same" {
    local new
    start_host web2
    on web2 key add
    on web1 key add --json
    new=$(jq .id <<<"$output")
    eventually eval "db 'SELECT keys FROM heartbeat' | grep -q '^$new-.* '"
    on web1 key use "$new"
    assert_equal "$status" 1
    [[ $output == *"host web2 has another key with the id $new, "* ]]
}

@test "a host that cannot read its key file stops a step, a silent host is a warning" {
    local new
    start_host web2
    on web1 key add --json
    new=$(jq .id <<<"$output")
    rm "$STACK/web2/secret.key"
    eventually eval "[[ \$(db 'SELECT keys FROM heartbeat') == '' ]]"
    on web1 key use "$new"
    assert_equal "$status" 1
    [[ $output == *'host web2 cannot read its key file, '* ]]
    stop_courier web2
    db "UPDATE heartbeat SET beat_at = beat_at - 121000"
    on web1 key use "$new"
    assert_equal "$status" 0
    [[ $output == *'warning: host web2 cannot read its key file; its courier is silent for 12'* ]]
}

# Stores platform tokens on a host until the file `stop` exists: store_tokens HOST
store_tokens() {
    while [[ ! -e $BATS_TEST_TMPDIR/stop ]]; do
        printf 'token-%s' "$1" | SWITCHBOARD_CONFIG=$STACK/$1/switchboard.conf \
            "$OUT/tools/switchboard" account token "$account" \
            >/dev/null 2>>"$BATS_TEST_TMPDIR/wrong" ||
            printf '%s failed\n' "$1" >>"$BATS_TEST_TMPDIR/wrong"
    done
}

# bats test_tags=long
@test "values that other hosts seal while the steps run can be opened afterwards by all" {
    local account old new round host jobs=()
    account=$(db 'SELECT id FROM account')
    start_host web1 web2
    for host in web1 web2; do
        store_tokens "$host" 3>&- &
        jobs+=($!)
    done
    for round in 1 2 3; do
        old=$(newest_of web1)
        on web1 key add --json
        new=$(jq .id <<<"$output")
        copy_keys web1 web2
        eventually works web1 key use "$new"
        copy_keys web1 web2
        eventually works web1 key drop "$old"
        copy_keys web1 web2
    done
    touch "$BATS_TEST_TMPDIR/stop"
    wait "${jobs[@]}"
    [[ ! -s $BATS_TEST_TMPDIR/wrong ]] || fail "$(cat "$BATS_TEST_TMPDIR/wrong")"
    for host in web1 web2; do
        works "$host" key list || fail "$host, round $round: $output"
    done
}

@test "each key step prints the hosts that it has seen; a host without a courier is not seen" {
    local old new step
    start_host web2
    old=$(newest_of web1)
    on web1 key add --json
    assert_equal "$(jq -c .hosts <<<"$output")" '["web2"]'
    new=$(jq .id <<<"$output")
    copy_keys web1 web2
    eventually works web1 key use "$new"
    local seen='Hosts seen by their couriers: web2; a host without a courier is not seen, '
    [[ $output == *$'\n'"$seen"* ]]
    copy_keys web1 web2
    stop_courier web2
    db 'UPDATE heartbeat SET beat_at = beat_at - 121000'
    on web1 key drop "$old"
    assert_equal "$status" 0
    [[ $output == *$'\nHosts seen by their couriers: none; '* ]]
}

@test "key rotate is refused on a server, and names the steps" {
    [[ -n ${SERVER-} ]] || skip 'on SQLite it is not refused: key.bats'
    on web1 key rotate
    assert_equal "$status" 1
    [[ $output == *'switchboard key add'*'switchboard key use ID'*'switchboard key drop ID'* ]]
}

# bats test_tags=long
@test "three couriers on three hosts deliver every event once" {
    local host
    set_webhook A "$A_URL/there"
    start_host "${hosts[@]}"
    add_events A 60 >/dev/null
    eventually eval "((\$(db \"SELECT count(*) FROM outbox WHERE state = 'done'\") == 60))"
    assert_equal "$(received_count A)" 60
    assert_equal "$(db 'SELECT count(*) FROM event_attempt')" 60
    for host in "${hosts[@]}"; do
        [[ -S $(find "$STACK/$host" -name '*.wake') ]] || fail "no wake socket of $host"
    done
}

@test "a courier whose host's clock is 5 s ahead uses the clock of the server" {
    [[ -n ${SERVER-} ]] || skip 'a file has no clock of its own'
    local age
    faketime -f +5s "$OUT/tools/courier" --config "$STACK/web1/switchboard.conf" --once
    assert_equal "$(db 'SELECT clock_ahead_ms BETWEEN 4500 AND 5500 FROM heartbeat')" 1
    age=$(db "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 - beat_at AS bigint)
        FROM heartbeat")
    ((age >= -100 && age < 4000)) || fail "the heartbeat is $age ms old"
    on web2 doctor
    [[ $output == *'host'*'web1: its courier was alive '*' ms ahead of the server'* ]]
}

# The line of doctor about the wake socket of a host: assert_wake HOST STATUS TEXT
assert_wake() {
    on "$1" doctor --json
    local line
    line=$(jq -r '.[] | select(.check == "run_dir") | "\(.status) \(.detail)"' \
        <<<"$(grep '^\[' <<<"$output")")
    [[ $line == "$2 "*"$3"* ]] || fail "$line"
}

# bats test_tags=long
@test "doctor reports whether the service can use run_dir, and whether a courier listens there" {
    local directory=$STACK/web1 socket
    assert_wake web1 ok "$directory can be used; no courier listens there"
    start_host web1
    eventually assert_wake web1 ok "a courier listens at $directory/"
    rm "$directory"/*.wake
    mkdir "$STACK/elsewhere"
    sed -i "s|^run_dir = .*|run_dir = $STACK/elsewhere|" "$directory/switchboard.conf"
    assert_wake web1 warn \
        "a courier of this host is alive, but it does not listen at $STACK/elsewhere/"
    sed -i "s|^run_dir = .*|run_dir = $directory|" "$directory/switchboard.conf"
    eventually assert_wake web1 ok "a courier listens at $directory/"
    socket=$(find "$directory" -name '*.wake')
    kill -KILL "$(cat "$STACK/web1.job")"
    wait "$(cat "$STACK/web1.job")" || true
    rm "$STACK/web1.job"
    assert_wake web1 warn \
        "the courier that listened at $socket has ended: start switchboard-courier"
    rm "$socket"
    chmod 707 "$directory"
    assert_wake web1 warn "it has mode 0707, all users may write it: chmod o-w $directory;"
    chmod 700 "$directory"
    sed -i "s|^run_dir = .*|run_dir = $STACK/nowhere|" "$directory/switchboard.conf"
    assert_wake web1 warn "$STACK/nowhere: No such file or directory; create it with the owner, "
    sed -i "s|^run_dir = .*|run_dir = $directory/secret.key|" "$directory/switchboard.conf"
    assert_wake web1 warn 'it is not a directory'
}

@test "doctor tries run_dir with the rights of the service's user, even for root" {
    ((EUID == 0)) || skip 'only root can take the rights of another user'
    local said service=$STACK/data
    [[ -z ${SERVER-} ]] || service=$STACK/spool
    said="the service's user $(id -u nobody) and group $(id -g nobody) cannot write it:"
    said+=' Permission denied'
    chown nobody:"$(id -g nobody)" "$service"
    assert_wake web1 warn "$said" || { chown 0:0 "$service" && false; }
    chown 0:0 "$service"
}

# Runs the statements in a transaction, which ends when the file `release` is made: hold STATEMENTS
hold() {
    rm -f "$BATS_TEST_TMPDIR"/{release,held}
    {
        printf '%s\n' 'BEGIN;' "$1" '\! touch '"$BATS_TEST_TMPDIR/held"
        while [[ ! -e $BATS_TEST_TMPDIR/release ]]; do
            sleep 0.05
        done
        printf 'COMMIT;\n'
    } 3>&- | psql -qXAt -v ON_ERROR_STOP=1 -d "$DB" >"$BATS_TEST_TMPDIR/holder" 2>&1 3>&- &
    holder=$!
    eventually test -e "$BATS_TEST_TMPDIR/held"
}

release() {
    touch "$BATS_TEST_TMPDIR/release"
    wait "$holder"
}

# Sets `lock` to the number of the advisory lock of a process that waits for another lock. The view
# has the locks of all databases of the server, other test files' too.
finds_lock() {
    lock=$(db "SELECT (a.classid::bigint << 32) | a.objid::bigint FROM pg_locks a JOIN pg_locks w
        ON w.pid = a.pid JOIN pg_database d ON d.oid = a.database
        WHERE d.datname = current_database() AND a.locktype = 'advisory' AND a.granted
            AND NOT w.granted LIMIT 1")
    [[ $lock ]]
}

@test "a courier that finds the regular work in progress looks again within seconds" {
    [[ -n ${SERVER-} ]] || skip 'a file has one writer at a time'
    local lock holder
    db "INSERT INTO idempotency (user_id, key, route, fingerprint, request_id, created_at)
        SELECT id, 'old', 'POST /v2/messages', sha256(''), 'req_old', 1 FROM \"user\" LIMIT 1"
    # a courier that waits for the row has the lock of the regular work
    hold 'SELECT FROM idempotency FOR UPDATE;'
    start_host web1
    eventually finds_lock
    stop_courier web1
    release
    db "INSERT INTO idempotency (user_id, key, route, fingerprint, request_id, created_at)
        SELECT id, 'older', 'POST /v2/messages', sha256(''), 'req_old', 1 FROM \"user\" LIMIT 1"
    hold "SELECT pg_advisory_xact_lock($lock);"
    start_host web2
    sleep 1 # it looks for work right after its first heartbeat
    assert_equal "$(db "SELECT count(*) FROM idempotency WHERE key = 'older'")" 1
    release
    eventually eval "((\$(db \"SELECT count(*) FROM idempotency WHERE created_at = 1\") == 0))"
}
