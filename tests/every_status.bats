#!/usr/bin/env bats
# Failures that every route can have, shown for each route that the programs describe
# (helpers/routes.bash): a new route is tested here without being named. Together with the other
# files this shows every status that the reference lists for a route (tests/contract).
# shellcheck disable=SC2016,SC2034,SC2153,SC2154  # $ is of jq; each_route sets the variables
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/routes
load helpers/session
load helpers/factor
load helpers/webhook

setup_file() {
    start_stack
    NONE_TOKEN=$(switchboard user add none@example.org)
    export NONE_TOKEN
    switchboard plan set none@example.org Premium >/dev/null
    make_user PERSON_
    set_password PERSON_
    make_user
    have_routes
}

teardown() {
    write_config
}

# The answer is an error in the envelope with the headers of every answer:
assert_failed() { # STATUS CODE [MESSAGE-PART]
    assert_error "$@"
    assert_conventions
}

# bats test_tags=direct,long
@test "every route is 500 while the configuration cannot be read" {
    local missing=$BATS_TEST_TMPDIR/missing.conf
    fails() {
        SWITCHBOARD_CONFIG=$missing send_sample "${who[@]}"
        assert_failed 500 INTERNAL_ERROR
    }
    each_route fails
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "every route with a token is 404 for a user without an account (spec 5)" {
    refuses() {
        send_sample --as "$NONE_TOKEN"
        assert_failed 404 NOT_FOUND
    }
    each_route refuses "$needs_caller"
    assert_nothing_sent
}

# bats test_tags=direct
@test "every route that sends is 502 with Retry-After while the platform cannot be reached (spec 7)" {
    write_config 'graph_base_url = http://127.0.0.1:1'
    fails() {
        send_sample "${who[@]}"
        assert_failed 502 INTERNAL_ERROR
        assert_header Retry-After
    }
    # a new campaign reads the list of templates alone, which is 500
    each_route fails "(($needs_line) or ($sends_message)) and .path != \"/v2/campaigns\""
}

# bats test_tags=direct,long
@test "every send is 409 while the first request with its Idempotency-Key runs" {
    local number=0
    conflicts() {
        number=$((number + 1))
        send_sample --as "$TOKEN" -H "Idempotency-Key: running-$number"
        assert_success
        db "UPDATE idempotency SET status = NULL, answer = NULL, created_at = $db_now"
        send_sample --as "$TOKEN" -H "Idempotency-Key: running-$number"
        assert_failed 409 VALIDATION_ERROR 'still running'
        assert_json .details.outcome running
        assert_header Retry-After 1
    }
    each_route conflicts "$sends_message"
}

# bats test_tags=direct,long
@test "every route with a body is 408 when its body does not arrive (spec 7)" {
    local slow=$BATS_TEST_TMPDIR/slow directories=() pids=() holder directory
    mkfifo "$slow"
    sleep 600 >"$slow" 3>&- &
    holder=$!
    waits() {
        local given=(-H 'Content-Length: 100' -d "@$slow" "${who[@]}")
        case $kind in
        raw) given+=(-H "X-Hub-Signature-256: $SIGNATURE") ;;
        file) given+=(-H 'Content-Type: image/png' -H "X-Phone-Number-Id: $LINE") ;;
        esac
        answer_dir=$BATS_TEST_TMPDIR/${#directories[@]}
        directories+=("$answer_dir")
        mkdir "$answer_dir"
        {
            request "$method" "$url" "${given[@]}"
            assert_failed 408 VALIDATION_ERROR && touch "$answer_dir/passed"
        } >"$answer_dir/log" 2>&1 3>&- &
        pids+=("$!")
    }
    have_answered() {
        for directory in "${directories[@]}"; do
            [[ -s $directory/answer ]] || return 1
        done
    }
    each_route waits '.body != "none"'
    eventually have_answered
    kill "$holder"
    wait "${pids[@]}"
    for directory in "${directories[@]}"; do
        [[ -e $directory/passed ]] || fail "$(cat "$directory/log")"
    done
}

# bats test_tags=long
@test "every route is 400 in a malformed request (spec 4)" {
    [[ $TRANSPORT != direct ]] || skip 'the web server refuses it'
    refuses() {
        send_sample -H 'Content-Length: five' "${who[@]}"
        assert_failed 400 VALIDATION_ERROR 'Malformed HTTP request'
    }
    each_route refuses
    assert_nothing_sent
}

# bats test_tags=long
@test "every route of a pool is 503 with Retry-After while no program can be reached (spec 7)" {
    [[ $TRANSPORT == fcgi ]] || skip 'there are no pools'
    local file pid
    for file in "$STACK"/apache/*.pid; do
        [[ $file != */httpd.pid ]] || continue
        pid=$(<"$file")
        kill "$pid"
        eventually is_gone "$pid"
    done
    refuses() {
        send_sample "${who[@]}"
        assert_failed 503 INTERNAL_ERROR
        assert_header Retry-After 1
    }
    each_route refuses '.executable | IN("media", "metrics", "ready") | not'
    assert_nothing_sent
}
