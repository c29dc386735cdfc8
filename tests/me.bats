#!/usr/bin/env bats
# GET /v2/me (spec 2.2, 4.2), and the checks of token and plan on every protected route (spec 5)
load helpers/all
load helpers/conventions

# One column of the row of TABLE whose column WHERE equals VALUE: column TABLE COLUMN WHERE VALUE
column() {
    db "SELECT $2 FROM $1 WHERE $3 = '$4'"
}

iso() {
    date -u -d "@$(($1 / 1000))" "+%Y-%m-%dT%H:%M:%S.$(printf %03d $(($1 % 1000)))Z"
}

# The phone-number object of a line: line_json PHONE_NUMBER_ID NAME REGISTERED COEXISTING PLATFORM
line_json() {
    printf '{"id":"%s","phoneNumberId":"%s","phoneNumber":"%s","name":%s,"isRegistered":%s,"isCoexisting":%s,"platformType":%s,"accountId":"%s","createdAt":"%s"}' \
        "$(column line id phone_number_id "$1")" "$1" "$(column line phone_number phone_number_id "$1")" \
        "$2" "$3" "$4" "$5" "$(column line account_id phone_number_id "$1")" \
        "$(iso "$(column line created_at phone_number_id "$1")")"
}

# The answer is 401 with the challenge that RFC 9110 15.5.2 requires: assert_unauthorized [MESSAGE-PART]
assert_unauthorized() {
    assert_error 401 UNAUTHORIZED "${1-}"
    [[ $(header WWW-Authenticate) == Bearer* ]] || fail_answer 'expected WWW-Authenticate: Bearer'
    assert_conventions
}

# --- 2.2, 4.2 ---

@test "GET /v2/me is 200 with user, account, accounts, phoneNumbers and defaultPhoneNumberId (spec 2.2)" {
    local user
    user=$(column user id email "${EMAIL:?}")
    api GET /v2/me
    assert_success
    assert_conventions
    assert_body_is "{\"success\":true,\"data\":{\"user\":{\"id\":\"$user\",\"email\":\"$EMAIL\"},\"account\":{\"id\":\"$ACCOUNT\",\"wabaid\":\"$WABA\"},\"accounts\":[{\"id\":\"$ACCOUNT\",\"wabaid\":\"$WABA\",\"displayName\":\"Account ${WABA#9000}\"}],\"phoneNumbers\":[$(line_json "$LINE" null true false null)],\"defaultPhoneNumberId\":\"$LINE\"}}"
    assert_nothing_sent
}

# bats test_tags=direct
@test "every linked account and every line of each is listed, with its flags and labels (spec 2.2)" {
    local first second third one two three
    make_user
    first=$ACCOUNT one=$LINE
    make_account '' && second=$ACCOUNT
    make_line '' --name 'Küche "2"' --coexisting --platform-type CLOUD_API && two=$LINE
    make_account '' && third=$ACCOUNT
    ACCOUNT=$second
    make_line '' --unregistered && three=$LINE
    api GET /v2/me
    assert_success
    assert_json .data.account.id "$first"
    assert_json '[.data.accounts[].id]' "[\"$first\",\"$second\",\"$third\"]"
    assert_that '[.data.accounts[] | keys] | unique == [["displayName","id","wabaid"]]'
    assert_json .data.phoneNumbers "[$(line_json "$one" null true false null),$(line_json "$two" '"Küche \"2\""' true true '"CLOUD_API"'),$(line_json "$three" null false false null)]"
}

# bats test_tags=direct
@test "account is the default business account, at any position in the list (spec 2.2)" {
    make_user
    make_account '' --default
    api GET /v2/me
    assert_json .data.account "{\"id\":\"$ACCOUNT\",\"wabaid\":\"$WABA\"}"
    assert_that ".data.accounts | length == 2 and .[1].id == \"$ACCOUNT\""
}

# bats test_tags=direct
@test "defaultPhoneNumberId: the only line, whether primary or not (spec 2.2)" {
    make_user
    switchboard line archive "$LINE"
    api GET /v2/me
    assert_json .data.phoneNumbers '[]'
    assert_json .data.defaultPhoneNumberId null
    make_line ''
    api GET /v2/me
    assert_text .data.defaultPhoneNumberId "$LINE"
}

# bats test_tags=direct
@test "defaultPhoneNumberId: of several lines the primary one, if it is still listed, else null (spec 2.2)" {
    local primary others=()
    make_user
    primary=$LINE
    make_line '' && others+=("$LINE")
    make_account ''
    make_line '' && others+=("$LINE")
    api GET /v2/me
    assert_text .data.defaultPhoneNumberId "$primary"
    switchboard line archive "$primary"
    api GET /v2/me
    assert_json '[.data.phoneNumbers[].phoneNumberId]' "[\"${others[0]}\",\"${others[1]}\"]"
    assert_json .data.defaultPhoneNumberId null
    switchboard line archive "${others[0]}"
    api GET /v2/me
    assert_text .data.defaultPhoneNumberId "${others[1]}"
    make_line '' --primary
    api GET /v2/me
    assert_text .data.defaultPhoneNumberId "$LINE"
}

# bats test_tags=direct
@test "archived numbers are omitted (spec 2.2)" {
    local archived
    make_user
    archived=$LINE
    make_line ''
    switchboard line archive "$archived"
    api GET /v2/me
    assert_json '[.data.phoneNumbers[].phoneNumberId]' "[\"$LINE\"]"
    ! grep -F "$archived" "$body" || fail_answer 'the answer contains the archived line'
}

@test "404 NOT_FOUND when no account with a valid platform access token is linked (spec 4.2)" {
    local email=lonely@example.org token
    token=$(switchboard user add "$email")
    switchboard plan set "$email" Premium
    request GET /v2/me --as "$token"
    assert_error 404 NOT_FOUND 'platform access token'
    refute_header Allow
    make_user
    switchboard account token "$ACCOUNT" </dev/null
    api GET /v2/me
    assert_error 404 NOT_FOUND 'platform access token'
    make_account ''
    api GET /v2/me
    assert_success
    assert_that '.data.accounts | length == 2'
}

# --- 5 ---

@test "Authorization: Bearer or X-API-Token, either alone is enough (spec 5.2)" {
    request GET /v2/me -H "Authorization: Bearer $TOKEN"
    assert_success
    request GET /v2/me -H "X-API-Token: $TOKEN"
    assert_success
    request GET /v2/me -H "x-api-token:   $TOKEN  "
    assert_success
}

@test "the scheme is accepted in any case and with any number of spaces (RFC 9110 11.1)" {
    local value
    for value in "bearer $TOKEN" "BEARER $TOKEN" "Bearer    $TOKEN" $'Bearer\t'"$TOKEN" "Bearer $TOKEN   "; do
        request GET /v2/me -H "Authorization: $value"
        assert_success
    done
}

@test "both headers are accepted when they are equal, and are 401 when they differ (spec 5.2)" {
    request GET /v2/me -H "Authorization: Bearer $TOKEN" -H "X-API-Token: $TOKEN"
    assert_success
    request GET /v2/me -H "Authorization: Bearer $TOKEN" -H "X-API-Token: ${TOKEN}x"
    assert_unauthorized 'different tokens'
    request GET /v2/me -H "Authorization: Bearer wrong" -H "X-API-Token: $TOKEN"
    assert_unauthorized 'different tokens'
    request GET /v2/me -H "X-API-Token: $TOKEN" -H "X-API-Token: $TOKEN"
    assert_unauthorized
}

@test "a missing token is 401 UNAUTHORIZED with the message Missing API token (spec 5.3)" {
    local value
    request GET /v2/me
    assert_unauthorized
    assert_body_is '{"success":false,"error":"UNAUTHORIZED","message":"Missing API token","details":{"hint":"Send the token as the header Authorization: Bearer API_TOKEN, or as the header X-API-Token: API_TOKEN; the cookie of a session counts only together with the headers X-Switchboard: 1 and Sec-Fetch-Site: same-origin."}}'
    for value in Bearer 'Bearer ' "Basic $TOKEN" "$TOKEN" "Bearer$TOKEN" "Token $TOKEN"; do
        request GET /v2/me -H "Authorization: $value"
        assert_unauthorized
        assert_text .message 'Missing API token'
    done
    request GET /v2/me -H 'X-API-Token;'
    assert_unauthorized 'Missing API token'
    request GET "/v2/me?token=$TOKEN&api_token=$TOKEN&access_token=$TOKEN"
    assert_unauthorized 'Missing API token'
}

# bats test_tags=long
@test "an invalid token is 401 UNAUTHORIZED (spec 5.3)" {
    local value hash
    hash=$(printf '%s' "$TOKEN" | sha256sum | cut -d ' ' -f 1)
    for value in wrong "${TOKEN%?}" "${TOKEN}x" "${TOKEN^^}" "$hash" "$PLATFORM_TOKEN" "$EMAIL" \
        "$TOKEN, Bearer $TOKEN" "' OR '1'='1" "$(printf 'x%.0s' {1..8000})" \
        $'a\tb' "${TOKEN:0:10} ${TOKEN:10}" "\"$TOKEN\"" "<$TOKEN>" "$TOKEN=" "$TOKEN;" $'caf\xc3\xa9' $'\xff'; do
        request GET /v2/me -H "Authorization: Bearer $value"
        assert_unauthorized 'Invalid API token'
        request GET /v2/me -H "X-API-Token: $value"
        assert_unauthorized 'Invalid API token'
    done
}

@test "a regenerated token is valid at once, and the old one invalid (spec 3, 5.1)" {
    local old
    make_user
    old=$TOKEN
    TOKEN=$(switchboard token regenerate "$EMAIL")
    request GET /v2/me --as "$old"
    assert_unauthorized 'Invalid API token'
    api GET /v2/me
    assert_success
    assert_text .data.user.email "$EMAIL"
}

# bats test_tags=long
@test "requests during a regeneration of their token are 200 or 401, and afterwards the old token is invalid" {
    local old try
    make_user
    for ((try = 0; try < 8; try++)); do
        old=$TOKEN
        request_many 6 GET /v2/me --as "$old" &
        TOKEN=$(switchboard token regenerate "$EMAIL")
        request GET /v2/me --as "$old"
        assert_unauthorized 'Invalid API token'
        request GET /v2/me --as "$TOKEN"
        assert_success
        wait $!
        many=$BATS_TEST_TMPDIR/many
        [[ $(cat "$many"/*/status | sort -u | tr '\n' ' ') =~ ^(200\ )?(401\ )?$ ]] || fail "$(statuses)"
    done
}

@test "a deleted user is 401 UNAUTHORIZED, also when the row of the token still exists (spec 5.3)" {
    make_user
    db "UPDATE user SET deleted_at = 1 WHERE email = '$EMAIL'"
    api GET /v2/me
    assert_unauthorized 'Invalid API token'
}

# bats test_tags=direct
@test "403 PLAN_EXPIRED from the plan's end on (spec 5.5)" {
    make_user
    switchboard plan set "$EMAIL" Enterprise --ends "$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)"
    api GET /v2/me
    assert_success
    switchboard plan set "$EMAIL" Enterprise --ends "$(date -u -d '-1 second' +%Y-%m-%dT%H:%M:%SZ)"
    api GET /v2/me
    assert_error 403 PLAN_EXPIRED
}

# bats test_tags=direct
@test "403 DEVELOPER_PLAN_REQUIRED unless the primary plan is Premium or Enterprise (spec 5.5)" {
    local plan
    make_user
    for plan in Basic premium PREMIUM 'Premium ' 'Premium Plus' Enterprise2; do
        switchboard plan set "$EMAIL" "$plan"
        api GET /v2/me
        assert_error 403 DEVELOPER_PLAN_REQUIRED
        assert_conventions
    done
    for plan in Enterprise Premium; do
        switchboard plan set "$EMAIL" "$plan"
        api GET /v2/me
        assert_success
    done
}

# bats test_tags=direct
@test "no plan, or add-on plans alone: 403 DEVELOPER_PLAN_REQUIRED; the end of an add-on has no effect (spec 5.5)" {
    make_user
    db "DELETE FROM plan WHERE user_id = (SELECT id FROM user WHERE email = '$EMAIL')"
    api GET /v2/me
    assert_error 403 DEVELOPER_PLAN_REQUIRED
    switchboard plan set "$EMAIL" Premium --addon
    api GET /v2/me
    assert_error 403 DEVELOPER_PLAN_REQUIRED
    switchboard plan set "$EMAIL" Premium --addon --ends 2020-01-01
    switchboard plan set "$EMAIL" Premium
    api GET /v2/me
    assert_success
    switchboard plan set "$EMAIL" Basic
    api GET /v2/me
    assert_error 403 DEVELOPER_PLAN_REQUIRED
}

@test "the checks come in the order of spec 5.5: token, linked account, plan's end, plan's name" {
    make_user
    switchboard plan set "$EMAIL" Basic --ends 2020-01-01
    switchboard account token "$ACCOUNT" </dev/null
    request GET /v2/me --as wrong
    assert_error 401 UNAUTHORIZED
    api GET /v2/me
    assert_error 404 NOT_FOUND
    printf '%s' "$PLATFORM_TOKEN" | switchboard account token "$ACCOUNT"
    api GET /v2/me
    assert_error 403 PLAN_EXPIRED
    switchboard plan set "$EMAIL" Basic
    api GET /v2/me
    assert_error 403 DEVELOPER_PLAN_REQUIRED
    switchboard plan set "$EMAIL" Premium
    api GET /v2/me
    assert_success
}

@test "HEAD needs the token too (spec 5.3)" {
    request HEAD /v2/me
    assert_status 401
    assert_header WWW-Authenticate
}

# --- transport ---

@test "a query without = and a body are ignored" {
    api GET '/v2/me?--help+-x%20y'
    assert_success
    api GET /v2/me -d 'not JSON' -H 'Content-Type: text/plain'
    assert_success
    api GET '/v2/me?%zz'
    assert_success
}

@test "X-Request-Id is taken from the request when it is harmless, else generated" {
    make_user
    assert_request_ids GET /v2/me --as "$TOKEN"
    request GET /v2/me -H 'X-Request-Id: of-a-failure'
    assert_header X-Request-Id of-a-failure
}

@test "the log contains the user and no token" {
    make_user
    api GET /v2/me
    log_of_request | gojq -e ".user == \"$(column user id email "$EMAIL")\" and .status == 200
        and .route == \"/v2/me\" and (has(\"error\") | not)"
    request GET /v2/me -H 'X-API-Token: a-wrong-secret'
    log_of_request | gojq -e '.status == 401 and .error == "Invalid API token"
        and (.at | test("^lib/api/auth[.]c:[0-9]+$")) and (has("user") | not)'
    assert_not_logged "$TOKEN" a-wrong-secret "$PLATFORM_TOKEN"
}

@test "API tokens are stored as hashes, platform tokens encrypted" {
    make_user
    api GET /v2/me
    assert_success
    assert_equal "$(count_in_database "$TOKEN" "$PLATFORM_TOKEN")" 0
    assert_equal "$(db "SELECT count(*) FROM api_token WHERE lower(hex(hash)) = '$(printf '%s' "$TOKEN" | sha256sum | cut -d ' ' -f 1)'")" 1
}

# bats test_tags=long
@test "64 concurrent requests get 64 equal answers" {
    make_user
    request_many 64 GET /v2/me --as "$TOKEN"
    assert_equal "$(statuses)" '64 200'
    assert_equal "$(cat "$many"/*/body | grep -o '"success":true,' | wc -l)" 64
    assert_equal "$(md5sum "$many"/*/body | cut -d ' ' -f 1 | sort -u | wc -l)" 1
}

# --- the database fails ---

# Whether every process of the pool serves.
is_served() {
    for _ in {1..6}; do
        api GET /v2/me
        [[ $status == 200 ]] || return 1
    done
}

@test "a missing database is 500, on a server 503, with the reason in the log; requests succeed when it is back" {
    local missing=500
    [[ -z ${SERVER-} ]] || missing=503
    make_user
    take_database_away
    api GET /v2/me
    [[ -n ${SERVER-} || ! -e $DB ]] || fail 'a request created a database'
    bring_database_back
    assert_error "$missing" INTERNAL_ERROR 'database'
    assert_conventions
    ! grep -F "$(shown_database)" "$body" || fail_answer 'the answer contains the path'
    grep -F "request $(header X-Request-Id): database $(shown_database): " "$LOG" |
        grep -q 'unable to open\|not currently accepting\|terminating connection\|ended the connection'
    # a confined process may not connect again: it ends, at the latest with a request that fails
    [[ -z ${SERVER-} ]] || eventually is_served
    api GET /v2/me
    assert_success
}

# bats test_tags=long
@test "a database of another schema version is 500 INTERNAL_ERROR, and the log names switchboard init" {
    make_user
    local DB=$DB
    use_another_database
    write_config
    schema_version 0
    api GET /v2/me
    assert_error 500 INTERNAL_ERROR 'database'
    grep -F "request $(header X-Request-Id): " "$LOG" | grep -qF 'switchboard init'
    schema_version 99
    api GET /v2/me
    assert_error 500 INTERNAL_ERROR 'database'
    grep -F "request $(header X-Request-Id): " "$LOG" | grep -qF 'newer program'
    DB=$original
    write_config
    api GET /v2/me
    assert_success
}

# bats test_tags=long
@test "a damaged database is 500 INTERNAL_ERROR" {
    only_on_sqlite 'the database is a file'
    head -c 50000 /dev/urandom >"$STACK/damaged.db"
    write_config "database = $STACK/damaged.db"
    api GET /v2/me
    write_config
    assert_error 500 INTERNAL_ERROR 'database'
    assert_conventions
}

# bats test_tags=long
@test "a database that is a URL is 500 INTERNAL_ERROR, and the log has no password" {
    only_on_sqlite 'programs for PostgreSQL take this URL'
    write_config 'database = postgresql://gateway:SECRET@a.example:5432/gateway?password=SECRET'
    api GET /v2/me
    write_config
    assert_error 500 INTERNAL_ERROR 'database'
    assert_conventions
    grep -F "request $(header X-Request-Id): database postgresql://a.example:5432/gateway: " \
        "$LOG" | grep -qF 'no database at postgresql://'
    ! grep -F SECRET "$LOG" "$body"
}

@test "the executable is linked with SQLite and not with libcurl" {
    assert_without me curl_easy_init curl_global_init
    nm "$OUT/cgi-bin/me" | grep -q ' sqlite3_open_v2$' || fail 'expected SQLite in the executable, or the check is wrong'
}
