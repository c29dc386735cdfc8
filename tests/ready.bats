#!/usr/bin/env bats
# GET /v2/ready: whether the installation is ready for requests
load helpers/all
load helpers/conventions

ok='{"database":"ok","keys":"ok","disk":"ok","courier":"ok"}'
[[ $TRANSPORT != fcgi ]] || ok=${ok/%\}/,\"pools\":\"ok\"\}}

setup_file() {
    start_stack
    make_user
    beat 0
}

# Sets the courier's heartbeat to SECONDS ago.
beat() {
    db "INSERT INTO heartbeat (name, pid, beat_at) VALUES ('courier', 1, $(($(date +%s) - $1))000)
        ON CONFLICT (name, host) DO UPDATE SET beat_at = excluded.beat_at"
}

assert_ready() {
    request GET /v2/ready
    assert_status 200
    assert_body_is "{\"success\":true,\"data\":{\"ready\":true,\"checks\":$ok}}"
    refute_header Retry-After
    assert_conventions
}

# The answer is 503, only the given checks fail, and each has its TEXT: refused CHECK TEXT [CHECK TEXT]...
refused() {
    local names=() name reason
    request GET /v2/ready
    assert_error 503 INTERNAL_ERROR "(X-Request-Id: $(header X-Request-Id))"
    assert_header Retry-After 10
    assert_conventions
    assert_that ".details.ready == false and (.details.checks | keys_unsorted == ($ok | keys_unsorted))"
    while (($#)); do
        names+=("$1")
        reason=$(gojq -r --arg name "$1" '.details.checks[$name]' "$body")
        [[ $reason == *"$2"* ]] || fail_answer "expected $1 to contain: $2"
        [[ $reason != *"$STACK"* && $reason != */switchboard.* ]] || fail_answer 'the answer contains a path'
        shift 2
    done
    assert_equal "$(gojq -r '.details.checks | to_entries[] | select(.value != "ok").key' "$body" | sort | xargs)" \
        "$(printf '%s\n' "${names[@]}" | sort | xargs)"
    for name in "${names[@]}"; do
        assert_that ".message | contains(\"$name\")"
    done
    ! grep -qF "$STACK" "$body" || fail_answer 'the answer contains a path'
}

# bats test_tags=route
@test "GET /v2/ready is 200 when database, keys, disk and courier are in order" {
    assert_ready
}

@test "no token is needed, and an invalid one is ignored" {
    request GET /v2/ready --as wrong -H 'X-API-Token: another'
    assert_success
}

@test "similar paths are 404" {
    assert_no_other_paths /v2/ready
}

@test "X-Request-Id is taken from the request when it is harmless, else generated" {
    assert_request_ids GET /v2/ready
}

# bats test_tags=route
@test "a missing database is 503, and 200 as soon as it is back" {
    take_database_away
    refused database 'switchboard doctor' courier 'Not known'
    bring_database_back
    assert_ready
}

@test "the log contains the database's path and the reason, and the answer does not" {
    take_database_away
    refused database missing courier 'Not known'
    bring_database_back
    log_of_request | gojq -e '.status == 503 and (.error | startswith("Not ready"))'
    grep -F "$(header X-Request-Id)" "$LOG" | grep -qF "database $(shown_database): "
}

@test "a database that may not be read is 503" {
    only_on_sqlite 'the database is a file'
    local user=()
    # root may open every file
    ((EUID != 0)) || [[ $TRANSPORT != direct ]] || skip 'root may read every file'
    chmod 0 "$DB"
    refused database 'not readable' courier 'Not known'
    chmod 660 "$DB"
    assert_ready
}

@test "a file that is not a database is 503" {
    only_on_sqlite 'the database is a file'
    mv "$DB" "$DB.away"
    head -c 8192 /dev/urandom >"$DB"
    refused database 'damaged' courier 'Not known'
    mv "$DB.away" "$DB"
    assert_ready
}

@test "a database of an older or a newer schema is 503" {
    local version
    version=$(schema_version)
    for other in $((version - 1)) $((version + 1)); do
        schema_version "$other"
        refused database 'schema version' courier 'Not known'
    done
    schema_version "$version"
    assert_ready
}

@test "it is 200 while a writer is busy or holds the write lock" {
    hold_database
    assert_ready
    release_database
    start_writer
    run_in_writer "BEGIN IMMEDIATE; UPDATE heartbeat SET pid = 2;"
    assert_ready
    run_in_writer 'COMMIT;'
    end_writer
    assert_ready
}

# bats test_tags=long
@test "a courier that never ran, or without a heartbeat for two minutes, is 503" {
    db 'DELETE FROM heartbeat'
    refused courier 'never run'
    beat 3600
    refused courier 'silent for 36'
    beat 150
    refused courier 'silent for 1'
    beat 60
    assert_ready
    # the clock was set back
    beat -3600
    assert_ready
    db "UPDATE heartbeat SET name = 'another'"
    refused courier 'never run'
    db 'DELETE FROM heartbeat'
    beat 0
}

@test "the heartbeat of a running courier is recognized" {
    db 'DELETE FROM heartbeat'
    refused courier 'never run'
    "$OUT/tools/courier" --config "$SWITCHBOARD_CONFIG" --once
    assert_ready
    beat 0
}

start_a_courier() {
    "$OUT/tools/courier" --config "$SWITCHBOARD_CONFIG" "$@" 2>/dev/null 3>&- &
    courier=$!
    eventually has_beaten "$courier"
}

has_beaten() { # PID
    [[ $(db "SELECT count(*) FROM heartbeat WHERE pid = $1 AND ended_at IS NULL") == 1 ]]
}

end_courier() { # SIGNAL
    kill "-$1" "$courier"
    wait "$courier" || true
}

# bats test_tags=route,long
@test "a courier that is ended in order is 503 at once, one that is killed or replaced is not" {
    db 'DELETE FROM heartbeat'
    start_a_courier
    assert_ready
    end_courier TERM
    refused courier 'It was ended'
    switchboard doctor --json | gojq -e '.[] | select(.check == "courier") | .detail | startswith("ended in order")'
    start_a_courier
    assert_ready
    end_courier KILL
    assert_ready
    # cron starts the next one
    start_a_courier --for 1s
    wait "$courier"
    assert_ready
    # another courier of this host made the last heartbeat
    start_a_courier
    db "UPDATE heartbeat SET pid = 1"
    end_courier TERM
    assert_ready
    # one of another host runs
    start_a_courier
    db "INSERT INTO heartbeat (name, host, pid, beat_at) VALUES ('courier', 'second', 1, $(date +%s)000)"
    end_courier TERM
    assert_ready
    db 'DELETE FROM heartbeat'
    beat 0
}

# bats test_tags=route
@test "a pool that does not run is 503, and makes no work for the others" {
    [[ $TRANSPORT == fcgi ]] || skip 'the web server passes no request to a pool'
    local pid processes process
    assert_equal "$(sed -n 's/^ *SetEnv SWITCHBOARD_POOLS "\(.*\)"$/\1/p' "$root/apache.conf")" \
        "$(. "$root/tools/common.bash"; pooled_in "$root/apache.conf" | xargs)"
    assert_ready
    : >"$LOG"
    assert_ready
    assert_equal "$(wc -l <"$LOG")" 1
    pid=$(pool_of platform)
    read -ra processes < <(children "$pid") || true # no newline
    kill -KILL "$pid"
    eventually is_gone "$pid"
    for process in "${processes[@]}"; do
        eventually is_gone "$process"
    done
    refused pools 'Without a running pool: platform.'
    start_apache
    assert_ready
}

@test "a key file that is missing, empty or not a file is 503" {
    local key=$STACK/secret.key
    mv "$key" "$key.away"
    refused keys 'key file'
    : >"$key"
    refused keys 'key file'
    rm "$key"
    mkdir "$key"
    refused keys 'key file'
    rmdir "$key"
    mv "$key.away" "$key"
    assert_ready
}

@test "a missing spool directory is 503" {
    write_config
    assert_ready
    mv "$STACK/spool" "$STACK/away"
    refused disk 'spool'
    mv "$STACK/away" "$STACK/spool"
    assert_ready
}

# In a mount namespace: a small disk, a full one, one without free inodes, a read-only one, one with space.
disk_rounds() {
    local disk=$STACK/disk options wanted
    mkdir -p "$disk"
    while read -r wanted options; do
        mount -t tmpfs -o "$options" none "$disk"
        printf 'case: %s\n' "$options"
        if [[ $wanted == ok ]]; then assert_ready; else refused disk "$wanted"; fi
        umount "$disk"
    done <<'END'
full size=1m
full size=63m
read-only size=100m,ro
full size=100m,nr_inodes=1
ok size=100m
END
}

# bats test_tags=direct,long
@test "a disk that is full, has no free inodes or is read-only is 503" {
    [[ $TRANSPORT == direct ]] || skip 'the disk of a mount namespace is not visible to the web server'
    unshare -rm true 2>/dev/null || skip 'no mount namespace can be created here'
    mkdir -p "$STACK/disk"
    write_config "spool_dir = $STACK/disk"
    export -f disk_rounds refused assert_ready
    run unshare -rm bash -c "BATS_TEST_DIRNAME='$BATS_TEST_DIRNAME'; ok='$ok'; load() { . \"$root/tests/\$1.bash\"; }
        load helpers/all; load helpers/conventions; set -e; disk_rounds; printf done"
    write_config
    [[ $status == 0 && $output == *done ]] || fail "$output"
}

# bats test_tags=long
@test "all failed checks are reported together" {
    local key=$STACK/secret.key
    mv "$key" "$key.away"
    take_database_away
    write_config "spool_dir = $STACK/nowhere"
    refused database missing keys 'key file' disk spool courier 'Not known'
    mv "$key.away" "$key"
    bring_database_back
    write_config
    assert_ready
}

# bats test_tags=route,long
@test "64 concurrent requests get 64 answers" {
    request_many 64 GET /v2/ready
    assert_equal "$(statuses)" '64 200'
}

@test "it does not change the database" {
    local before
    before=$(database_digest)
    assert_ready
    assert_equal "$(database_digest)" "$before"
}

@test "the executable is not linked with libcurl" {
    assert_without ready curl_easy_init
}
