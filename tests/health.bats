#!/usr/bin/env bats
# GET /v2/health (spec 4.1)
# transports: direct cgi fcgi
load helpers/all
load helpers/conventions

@test "GET /v2/health is 200 with data {ok: true} (spec 4.1)" {
    request GET /v2/health
    assert_success
    assert_body_is '{"success":true,"data":{"ok":true}}'
    assert_conventions
}

@test "no token is needed, and a wrong one does not matter (spec 5)" {
    request GET /v2/health --as wrong -H 'X-API-Token: another'
    assert_body_is '{"success":true,"data":{"ok":true}}'
}

@test "query and body are ignored" {
    request GET '/v2/health?format=html&%zz'
    assert_success
    request GET '/v2/health?--help+-x'
    assert_success
    head -c 300000 /dev/zero >"$BATS_TEST_TMPDIR/zeros"
    request GET /v2/health -d "@$BATS_TEST_TMPDIR/zeros" -H 'Content-Type: text/plain'
    assert_body_is '{"success":true,"data":{"ok":true}}'
}

# bats test_tags=long
@test "similar paths are 404 (spec 7)" {
    assert_no_other_paths /v2/health
}

# bats test_tags=long
@test "a valid X-Request-Id is returned, any other is replaced" {
    assert_request_ids GET /v2/health
}

# bats test_tags=long
@test "every request is one log line" {
    local before
    request GET /v2/health
    log_of_request >/dev/null
    before=$(wc -l <"$LOG")
    request GET '/v2/health?secret=in-query' --as secret-in-header
    log_of_request | jq -e '.level == "info" and .method == "GET" and .route == "/v2/health" and .status == 200
        and .bytes_in == 0 and .bytes_out == 35 and (.ms | type) == "number"
        and (.ts | test("^2[0-9]{3}-[0-9-]{5}T[0-9:]{8}[.][0-9]{3}Z$"))'
    assert_equal "$(wc -l <"$LOG")" $((before + 1))
    assert_not_logged in-query in-header
}

@test "the route works without a database" {
    take_database_away
    request GET /v2/health
    bring_database_back
    assert_success
}

@test "an invalid configuration is 500 in the envelope, with the reason on standard error" {
    write_config 'nonsense = 1'
    request GET /v2/health
    write_config
    assert_error 500 INTERNAL_ERROR
    assert_conventions
    ! grep -F nonsense "$body" || fail_answer 'the answer shows the configuration'
    grep -rqF "has the unknown key \`nonsense\`" "$STACK"/stderr.log "$STACK"/apache/ ||
        fail 'expected the reason on standard error'
    request GET /v2/health
    assert_success
    grep -qF "$(header X-Request-Id)" "$LOG" || fail "the request was not logged"
}

# bats test_tags=long
@test "64 simultaneous requests get 64 answers" {
    request_many 64 GET /v2/health
    assert_equal "$(statuses)" '64 200'
}

# bats test_tags=long
@test "the executable has neither SQLite nor libcurl nor libsodium" {
    assert_without health sqlite3_open sqlite3_open_v2 curl_easy_init sodium_init crypto_secretbox
}
