#!/usr/bin/env bats
# Scoped tokens: /v2/tokens (doc/api/team.md) and `switchboard scoped-token` (spec 5.9)
# shellcheck disable=SC2153,SC2154  # make_user sets EMAIL, OTHER_EMAIL and so on
load helpers/all
load helpers/conventions
load helpers/session
load helpers/courier

setup_file() {
    start_stack
    write_config "requests_file = $STACK/requests"
    make_user OTHER_
    make_user
}

setup() {
    forget_sent
    db 'DELETE FROM scoped_token; DELETE FROM session'
    make_session ''
}

# Sends a request of the session: as_session METHOD PATH [option of request...]
as_session() {
    request "$@" --session "$SESSION"
}

# Makes a token and sets KEY and KEY_ID: make_key SCOPES [DAYS]; SCOPES is a JSON array.
make_key() {
    as_session POST /v2/tokens -d "{\"name\":\"Robot\",\"scopes\":$1,\"days\":${2-365}}"
    assert_success
    assert_conventions
    KEY=$(gojq -r .data.token "$body") KEY_ID=$(gojq -r .data.id "$body")
    keep_secret 'scoped token' "$KEY"
}

@test "a scoped token begins with sbk_, is shown once, and only its hash is stored" {
    make_key '["send","basic"]'
    [[ $KEY =~ ^sbk_[0-9a-f]{64}$ ]] || fail "$KEY"
    assert_json '.data | [.name, .last4, .scopes, .createdBy]' \
        "[\"Robot\",\"${KEY: -4}\",[\"basic\",\"send\"],\"$EMAIL\"]"
    assert_equal "$(db "SELECT lower(hex(hash)) FROM scoped_token WHERE id = '$KEY_ID'")" \
        "$(printf '%s' "$KEY" | sha256sum | cut -d ' ' -f 1)"
    jq -c '.data | del(.token)' "$body" >"$BATS_TEST_TMPDIR/made"
    as_session GET /v2/tokens
    assert_success
    assert_conventions
    assert_json '.data.items' "[$(cat "$BATS_TEST_TMPDIR/made")]"
    ! grep -qF "$KEY" "$body" || fail 'the list shows the token'
    ! grep -qF "$KEY" "$LOG" || fail 'the log has the token'
}

@test "a scoped token is sent like the main one, and the log line has its id" {
    make_key '["basic"]'
    request GET /v2/me -H "X-API-Token: $KEY"
    assert_success
    request GET /v2/me --as "$KEY"
    assert_success
    assert_json .data.user.email "\"$EMAIL\""
    grep -F "$(header X-Request-Id)" "$LOG" | grep -qF "\"token\":\"$KEY_ID\"" ||
        fail "$(tail -n 3 "$LOG")"
    request GET /v2/me --as "$KEY" -H "X-API-Token: $TOKEN"
    assert_error 401 UNAUTHORIZED 'different tokens'
    request GET /v2/me --as "sbk_${KEY:5}0"
    assert_error 401 UNAUTHORIZED 'Invalid API token'
    # the prefix chooses the table: neither token is found in the other one
    request GET /v2/me --as "sb_${KEY#sbk_}"
    assert_error 401 UNAUTHORIZED 'Invalid API token'
    request GET /v2/me --as "sbk_${TOKEN#sb_}"
    assert_error 401 UNAUTHORIZED 'Invalid API token'
}

@test "without the scope of the route the answer is 403, before the body is read" {
    make_key '["basic"]'
    request POST /v2/messages/send/text -d 'no JSON' --as "$KEY"
    assert_error 403 FORBIDDEN 'the scope send'
    assert_json .details '{"required":"send"}'
    assert_nothing_sent
    # after account and plan (spec 5.5)
    db "UPDATE plan SET ends_at = 1 WHERE user_id = (SELECT id FROM user WHERE email = '$EMAIL')"
    request POST /v2/messages/send/text -d 'no JSON' --as "$KEY"
    assert_error 403 PLAN_EXPIRED
    db "UPDATE plan SET ends_at = NULL WHERE user_id = (SELECT id FROM user WHERE email = '$EMAIL')"
}

@test "PATCH changes name and scopes, and what is taken away does not count from the answer on" {
    local number
    make_key '["basic","send"]'
    request POST /v2/messages/send/text --as "$KEY" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001111\",\"text\":\"x\"}"
    assert_success
    as_session PATCH "/v2/tokens/$KEY_ID" -d '{"scopes":["basic"]}'
    assert_success
    assert_json '[.data.name, .data.scopes]' '["Robot",["basic"]]'
    for number in 1 2 3 4; do # of two FastCGI processes each serves some
        request POST /v2/messages/send/text --as "$KEY" -d '{}'
        assert_error 403 FORBIDDEN 'the scope send'
    done
    as_session PATCH "/v2/tokens/$KEY_ID" -d '{"name":"Reader"}'
    assert_json '[.data.name, .data.scopes]' '["Reader",["basic"]]'
    as_session PATCH "/v2/tokens/$KEY_ID" -d '{}'
    assert_json '[.data.name, .data.scopes]' '["Reader",["basic"]]'
    as_session PATCH /v2/tokens/tok_none -d '{}'
    assert_error 404 NOT_FOUND
}

@test "DELETE revokes a token at once in every process, and a second one is 404" {
    local number
    make_key '["basic"]'
    for number in 1 2 3 4; do
        request GET /v2/me --as "$KEY"
        assert_success
    done
    as_session DELETE "/v2/tokens/$KEY_ID"
    assert_success
    assert_json .data '{"revoked":true}'
    for number in 1 2 3 4; do
        request GET /v2/me --as "$KEY"
        assert_error 401 UNAUTHORIZED 'Invalid API token'
    done
    as_session DELETE "/v2/tokens/$KEY_ID"
    assert_error 404 NOT_FOUND
}

# bats test_tags=long
@test "a token is refused from its end on, also by a process that has kept it" {
    local number
    make_key '["basic"]'
    for number in 1 2 3 4; do
        request GET /v2/me --as "$KEY"
        assert_success
    done
    # 2 s from now; the row is kept after the first of these requests
    db "UPDATE scoped_token SET expires_at = $(($(date +%s) + 2))000 WHERE id = '$KEY_ID'"
    request GET /v2/me --as "$KEY"
    eventually is_refused
    assert_error 401 UNAUTHORIZED 'has expired'
    # it is still listed, and the main token is not touched
    as_session GET /v2/tokens
    assert_json '.data.items | length' 1
    api GET /v2/me
    assert_success
}

is_refused() {
    request GET /v2/me --as "$KEY"
    [[ $status == 401 ]]
}

@test "days is a number from 1 to 3650, 365 without one, and null for no end" {
    local day=86400
    make_key '["basic"]' 30
    assert_equal "$(gojq '.data | (.expiresAt | fromdate) - (.createdAt | fromdate)' \
        <(sed -E 's/\.[0-9]{3}Z/Z/g' "$body"))" $((30 * day))
    as_session POST /v2/tokens -d '{"name":"x","scopes":["basic"]}'
    assert_equal "$(gojq '.data | (.expiresAt | fromdate) - (.createdAt | fromdate)' \
        <(sed -E 's/\.[0-9]{3}Z/Z/g' "$body"))" $((365 * day))
    make_key '["basic"]' null
    assert_json .data.expiresAt null
    request GET /v2/me --as "$KEY"
    assert_success
    for number in 0 3651 '"1"'; do
        as_session POST /v2/tokens -d "{\"name\":\"x\",\"scopes\":[\"basic\"],\"days\":$number}"
        assert_error 400 VALIDATION_ERROR days
    done
    for scopes in '[]' '["team"]' '["owner"]' '["self"]' '["basic","none"]' '"basic"'; do
        as_session POST /v2/tokens -d "{\"name\":\"x\",\"scopes\":$scopes}"
        assert_error 400 VALIDATION_ERROR scopes
    done
    as_session POST /v2/tokens -d '{"name":"a\u0000b","scopes":["basic"]}'
    assert_error 400 VALIDATION_ERROR name
}

@test "no token makes or sees tokens, neither the main one nor one with every scope" {
    make_key '["basic","read","send","inbox","events","manage"]'
    for token in "$TOKEN" "$KEY"; do
        request GET /v2/tokens --as "$token"
        assert_error 401 UNAUTHORIZED 'Missing session'
        request POST /v2/tokens --as "$token" -d '{"name":"x","scopes":["basic"]}'
        assert_error 401 UNAUTHORIZED 'Missing session'
        request POST /v2/token --as "$token" -d '{}'
        assert_error 401 UNAUTHORIZED 'Missing session'
    done
    assert_equal "$(db 'SELECT count(*) FROM scoped_token')" 1
}

@test "the tokens of another user are neither shown, changed nor revoked" {
    local id
    make_key '["basic"]'
    id=$KEY_ID
    make_session OTHER_
    as_session GET /v2/tokens
    assert_json .data.items '[]'
    as_session PATCH "/v2/tokens/$id" -d '{"scopes":["manage"]}'
    assert_error 404 NOT_FOUND
    as_session DELETE "/v2/tokens/$id"
    assert_error 404 NOT_FOUND
    assert_equal "$(db "SELECT scopes FROM scoped_token WHERE id = '$id'")" basic
    # its own token uses no line of the other user
    make_key '["send"]'
    request POST /v2/messages/send/text --as "$KEY" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550001111\",\"text\":\"x\"}"
    assert_error 403 FORBIDDEN phoneNumberId
    assert_nothing_sent
}

@test "a user has at most 50 scoped tokens, those that have ended too" {
    local i rows=() user
    user=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    for ((i = 1; i < 50; i++)); do
        rows+=("('tok_$i', '$user', $(hash_of "$i"), 'x', 'x', 'basic', 'x', 1, 2)")
    done
    db "INSERT INTO scoped_token (id, user_id, hash, name, last4, scopes, created_by, created_at,
            expires_at) VALUES $(IFS=,; echo "${rows[*]}")"
    make_key '["basic"]'
    as_session POST /v2/tokens -d '{"name":"x","scopes":["basic"]}'
    assert_error 409 VALIDATION_ERROR revoke
    assert_equal "$(db 'SELECT count(*) FROM scoped_token')" 50
    as_session DELETE /v2/tokens/tok_7
    make_key '["basic"]'
}

@test "webhooks show their code with the scope manage alone" {
    api POST /v2/webhooks -d '{"url":"https://example.org/hook","paused":true}'
    local id code
    id=$(gojq -r .data.id "$body") code=$(gojq -r .data.code "$body")
    make_key '["events"]'
    for path in /v2/webhooks "/v2/webhooks/$id"; do
        request GET "$path" --as "$KEY"
        assert_success
        assert_json '[.data, .data.items[]?] | map(.code?) | unique' '[null]'
        ! grep -qF "$code" "$body" || fail 'the code is shown'
    done
    make_key '["events","manage"]'
    request GET "/v2/webhooks/$id" --as "$KEY"
    assert_json .data.code "\"$code\""
}

@test "debug_token lists what a scoped token may do, and its end" {
    make_key '["basic","send"]' null
    request GET "/debug_token?input_token=$KEY" --as "$TOKEN"
    assert_json '.data | [.is_valid, .scopes, .expires_at]' \
        '[true,["whatsapp_business_messaging"],0]'
    assert_json '[.data.granular_scopes[].scope]' '["whatsapp_business_messaging"]'
    request GET "/debug_token?input_token=$KEY" --as "$KEY"
    assert_json .data.scopes '["whatsapp_business_messaging"]'
    request GET "/debug_token?input_token=$TOKEN" --as "$KEY"
    assert_json .data.scopes '["whatsapp_business_management","whatsapp_business_messaging"]'
    db "UPDATE scoped_token SET expires_at = 1 WHERE id = '$KEY_ID'"
    request GET "/debug_token?input_token=$KEY" --as "$TOKEN"
    assert_json .data.is_valid false
    make_session OTHER_
    make_key '["basic"]'
    request GET "/debug_token?input_token=$KEY" --as "$TOKEN"
    assert_json .data.is_valid false
}

@test "the scoped tokens of a deleted user are refused and gone" {
    make_user GONE_
    make_session GONE_
    make_key '["basic"]'
    request GET /v2/me --as "$KEY"
    assert_success
    # shellcheck disable=SC2154  # make_user sets GONE_EMAIL
    switchboard user delete "$GONE_EMAIL" >/dev/null
    request GET /v2/me --as "$KEY"
    assert_error 401 UNAUTHORIZED
    assert_equal "$(db 'SELECT count(*) FROM scoped_token')" 0
}

# Prints the last use of the token as the database has it.
last_use() {
    db "SELECT last_used_at FROM scoped_token WHERE id = '$KEY_ID'"
}

@test "the list says when a token was last used, also by programs that only read" {
    local before after used
    make_key '["basic"]'
    assert_json .data.lastUsedAt null
    courier_once
    assert_equal "$(last_use)" ''
    before=$(date +%s%3N)
    request GET /v2/me --as "$KEY"
    assert_success
    after=$(date +%s%3N)
    assert_equal "$(last_use)" '' # a program that only reads has written nothing
    courier_once
    used=$(last_use)
    ((before <= used && used <= after)) || fail "$before <= $used <= $after"
    as_session GET /v2/tokens
    assert_conventions
    assert_equal "$((used / 1000))" \
        "$(gojq -r '.data.items[0].lastUsedAt | sub("\\.[0-9]+"; "") | fromdate' "$body")"
    as_session PATCH "/v2/tokens/$KEY_ID" -d '{"name":"Other"}'
    assert_that '.data.lastUsedAt != null'
    run switchboard scoped-token list "$EMAIL" --json
    assert_equal "$(gojq -r '.[0].lastUsedAt | sub("\\.[0-9]+"; "") | fromdate' <<<"$output")" \
        $((used / 1000))
    run switchboard scoped-token list "$EMAIL"
    [[ $output == *'LAST USED'* ]] || fail "$output"
}

@test "a request that lacks the scope is a use; a refused token and the main one leave none" {
    make_key '["basic"]'
    db "UPDATE scoped_token SET expires_at = 1 WHERE id = '$KEY_ID'"
    request GET /v2/me --as "$KEY"
    assert_error 401 UNAUTHORIZED
    request GET /v2/me --as "$TOKEN"
    assert_success
    courier_once
    assert_equal "$(last_use)" ''
    make_key '["basic"]'
    request GET /v2/threads --as "$KEY"
    assert_error 403 FORBIDDEN
    courier_once
    [[ $(last_use) ]] || fail 'no use'
}

# bats test_tags=direct
@test "the last use is written once an hour at most, and never set back" {
    local used
    make_key '["basic"]'
    request GET /v2/me --as "$KEY"
    courier_once
    used=$(last_use)
    db "UPDATE scoped_token SET last_used_at = $((used - 3599999)) WHERE id = '$KEY_ID'"
    courier_once
    assert_equal "$(last_use)" $((used - 3599999))
    db "UPDATE scoped_token SET last_used_at = $((used - 3600000)) WHERE id = '$KEY_ID'"
    courier_once
    assert_equal "$(last_use)" "$used"
    db "UPDATE scoped_token SET last_used_at = $((used + 60000)) WHERE id = '$KEY_ID'"
    courier_once
    assert_equal "$(last_use)" $((used + 60000)) # of another host, which has a later one
}

# bats test_tags=direct
@test "a resident courier writes the last use, and of a revoked token none" {
    make_key '["basic"]'
    request GET /v2/me --as "$KEY"
    as_session DELETE "/v2/tokens/$KEY_ID"
    assert_success
    make_key '["basic"]'
    request GET /v2/me --as "$KEY"
    start_courier
    eventually test_last_use
    stop_courier
    assert_equal "$(db 'SELECT count(*) FROM scoped_token')" 1
}

test_last_use() {
    [[ $(last_use) ]]
}

# bats test_tags=direct,long
@test "the file of the requests has the id of the token, never the token or its hash" {
    local file=$STACK/requests hash
    make_key '["basic"]'
    request GET /v2/me --as "$KEY"
    assert_success
    grep -qaF "$KEY_ID" "$file" || fail 'no id'
    ! grep -qaF "${KEY#sbk_}" "$file" || fail 'the token is there'
    hash=$(printf '%s' "$KEY" | sha256sum | cut -d ' ' -f 1)
    ! grep -qaF "$hash" "$file" || fail 'its hash is there'
    ! basenc --base16 -w 0 "$file" | grep -qF "${hash^^}" || fail 'the bytes of its hash are there'
}

# bats test_tags=direct
@test "without the file of the requests a token works, and its last use is not known" {
    make_key '["basic"]'
    write_config 'requests_file ='
    request GET /v2/me --as "$KEY"
    assert_success
    courier_once
    assert_equal "$(last_use)" ''
    write_config "requests_file = $STACK/nowhere/requests"
    request GET /v2/me --as "$KEY"
    assert_success
    courier_once
    assert_equal "$(last_use)" ''
    write_config "requests_file = $STACK/requests"
    printf 'not a table' >"$STACK/requests"
    request GET /v2/me --as "$KEY"
    assert_success
    courier_once
    [[ $(last_use) ]] || fail 'no use'
}

# bats test_tags=direct
@test "the command makes, lists and revokes scoped tokens" {
    local token id
    token=$(switchboard scoped-token add "$EMAIL" --name Robot --scope send,basic --days never)
    keep_secret 'scoped token' "$token"
    request GET /v2/me --as "$token"
    assert_success
    run switchboard scoped-token list "$EMAIL" --json
    assert_equal "$(gojq -c '.[] | [.name, .scopes, .expiresAt, .last4]' <<<"$output")" \
        "[\"Robot\",[\"basic\",\"send\"],null,\"${token: -4}\"]"
    id=$(gojq -r '.[].id' <<<"$output")
    run switchboard scoped-token revoke "$OTHER_EMAIL" "$id"
    assert_equal "$status" 1
    run switchboard scoped-token revoke "$EMAIL" "$id"
    assert_equal "$status $output" "0 revoked scoped token $id"
    request GET /v2/me --as "$token"
    assert_error 401 UNAUTHORIZED
    run switchboard scoped-token add "$EMAIL" --name Robot --scope team
    assert_equal "$status" 2
    run switchboard scoped-token add "$EMAIL" --name Robot --scope basic --days 0
    assert_equal "$status" 2
    run switchboard scoped-token add "$EMAIL" --name Robot
    assert_equal "$status" 2
    run switchboard scoped-token list none@example.org.none
    assert_equal "$status" 1
}
