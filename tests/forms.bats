#!/usr/bin/env bats
# /v2/forms (spec 4.5): the platform's flows, and the rows of them in the database.
# shellcheck disable=SC2153  # make_user sets ACCOUNT
load helpers/all

PHONE=15550001111

setup() {
    forget_sent
    sandbox POST settings '{"flowPageCap":0,"flowPageCapSilent":false}' >/dev/null
    db "DELETE FROM flow; DELETE FROM flow_response; DELETE FROM flow_reply_count; DELETE FROM flow_token"
}

# Replaces the account's flows in the sandbox: have_flows ITEM...
have_flows() {
    sandbox POST flows \
        "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[$(comma_list "$@")]}" >/dev/null
}

# Replaces the account's flows by COUNT generated ones, named bulk_1, bulk_2, ...: have_many_flows COUNT
have_many_flows() {
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"replace\":true,
        \"generate\":{\"count\":$1,\"prefix\":\"bulk_\"}}" >/dev/null
}

# Prints a flow: flow ID NAME [STATUS]
flow() {
    printf '{"id":"%s","name":"%s","status":"%s","categories":["OTHER"],"validation_errors":[]}' \
        "$1" "$2" "${3-PUBLISHED}"
}

# Replaces the account's flows and lists them, so that they are stored as rows: listed ITEM...
listed() {
    have_flows "$@"
    api GET '/v2/forms?limit=100'
    assert_success
}

ids() {
    gojq -r '[.data.items[].id] | join(" ")' "$body"
}

# --- GET /v2/forms ---

@test "the list has the platform's flows of the default business account, 25 by default" {
    have_many_flows 30
    api GET /v2/forms
    assert_success
    assert_that '.data | keys == ["items", "paging"]'
    assert_that '.data.items | length == 25 and .[0].name == "bulk_1" and .[0].categories == ["OTHER"]'
    assert_that '.data.paging.cursors.after | type == "string"'
    assert_sent_to "$WABA/flows"
    assert_equal "$(query_sent)" limit=25
    assert_equal "$(token_sent)" "Bearer $PLATFORM_TOKEN"
}

# bats test_tags=direct
@test "an account without flows has an empty list, and a paging object" {
    have_flows
    api GET /v2/forms
    assert_success
    assert_body_is '{"success":true,"data":{"items":[],"paging":{"cursors":{}}}}'
}

# --- selectors ---

# bats test_tags=direct
@test "phoneNumberId and accountId select one of the caller's business accounts" {
    make_second_account
    sandbox POST flows "{\"wabaId\":\"$SECOND_WABA\",\"items\":[$(flow 52 Second)]}" >/dev/null
    have_flows "$(flow 51 First)"
    local query
    for query in "phoneNumberId=$SECOND_LINE" "accountId=$SECOND_ACCOUNT"; do
        printf 'case: %s\n' "$query"
        api GET "/v2/forms?$query"
        assert_success
        assert_equal "$(ids)" 52
        assert_equal "$(token_sent)" "Bearer $SECOND_PLATFORM_TOKEN"
        api GET "/v2/forms/52?$query"
        assert_success
        assert_text .data.name Second
        api GET "/v2/forms/search?$query"
        assert_success
        assert_equal "$(ids)" 52
    done
    api GET /v2/forms
    assert_equal "$(ids)" 51
    api GET /v2/forms/52
    assert_error 400 VALIDATION_ERROR
}

# bats test_tags=direct
@test "selectors that are not the caller's are 403 and the platform is not called" {
    make_user OTHER_
    local path query
    for path in /v2/forms /v2/forms/51 /v2/forms/search; do
        for query in "accountId=$OTHER_ACCOUNT" "phoneNumberId=$OTHER_LINE" accountId=x phoneNumberId=1; do
            printf 'case: %s?%s\n' "$path" "$query"
            api GET "$path?$query"
            assert_error 403 FORBIDDEN
        done
    done
    assert_nothing_sent
}

# bats test_tags=direct
@test "an account without a platform access token is 404; its rows can still be searched" {
    local account
    account=$(switchboard account add "$EMAIL" --waba-id 4242 --name Bare </dev/null 2>/dev/null)
    api GET "/v2/forms?accountId=$account"
    assert_error 404 NOT_FOUND 'platform access token'
    api GET "/v2/forms/51?accountId=$account"
    assert_error 404 NOT_FOUND 'platform access token'
    api GET "/v2/forms/search?accountId=$account"
    assert_success
    assert_json .data.items '[]'
    assert_nothing_sent
}

# --- the platform's failures (spec 7) ---

@test "errors of the platform are returned in details" {
    local payload='{"error": {"message":"(#7) No\/way","type":"OAuthException","code":7,"big":9007199254740993}}'
    local upstream expected code path
    while read -r upstream expected code; do
        for path in /v2/forms /v2/forms/51; do
            printf 'case: %s %s\n' "$path" "$upstream"
            platform_answers "$upstream" "$payload"
            api GET "$path"
            assert_error "$expected" "$code" '(#7) No/way'
            grep -qF -- "\"details\":$payload}" "$body" || fail_answer "expected the payload in details"
        done
    done <<<'400 400 VALIDATION_ERROR
401 401 UNAUTHORIZED
403 403 FORBIDDEN
404 404 NOT_FOUND
429 400 VALIDATION_ERROR
500 500 INTERNAL_ERROR
503 500 INTERNAL_ERROR'
}

@test "malformed answers and transport failures are 500" {
    local failure path
    have_flows "$(flow 51 First)"
    for failure in '"kind":"garbage"' '"status":502,"kind":"html"' '"times":2,"kind":"reset_before"' \
        '"times":2,"kind":"truncate","bytes":20'; do
        for path in /v2/forms /v2/forms/51; do
            printf 'case: %s %s\n' "$path" "$failure"
            fault "{$failure}"
            api GET "$path"
            assert_error 500 INTERNAL_ERROR
            sandbox DELETE faults >/dev/null
        done
    done
    assert_equal "$(db 'SELECT count(*) FROM flow')" 0
}

@test "an answer that is not a list, or not a flow, is 500 with the answer in details, unless it is empty" {
    local answer
    for answer in '{}' '[]' '{"data":{}}' 5; do
        platform_answers 200 "$answer"
        api GET /v2/forms
        assert_error 500 INTERNAL_ERROR 'no list'
        assert_details "$answer"
    done
    for answer in '[]' 5 '"x"' null; do
        platform_answers 200 "$answer"
        api GET /v2/forms/51
        assert_error 500 INTERNAL_ERROR 'no flow'
        assert_details "$answer"
    done
}

# --- GET /v2/forms/:flowId ---

@test "detail is the platform's raw flow object" {
    have_flows "$(flow 51 First)"
    api GET /v2/forms/51
    assert_success
    assert_body_is "{\"success\":true,\"data\":$(flow 51 First)}"
    assert_sent_to 51
    assert_equal "$(query_sent)" ''
    local object='{ "id":"51", "name":"\u0046\/", "big":9007199254740993,"nul":"a\u0000b","k":1,"k":2,"huge":1e400}'
    platform_answers 200 "$object"
    api GET /v2/forms/51
    assert_body_is "{\"success\":true,\"data\":$object}"
}

@test "an unknown flow id is the platform's 400, with its payload" {
    api GET /v2/forms/404404
    assert_error 400 VALIDATION_ERROR
    assert_json .details.error.code 100
    assert_json .details.error.error_subcode 33
}

@test "an empty flow id is 400" {
    api GET /v2/forms/
    assert_error 400 VALIDATION_ERROR 'flow id is empty'
    assert_nothing_sent
}

# bats test_tags=long
@test "an id with other characters than digits, letters, - and _ is 404 before any upstream call" {
    local id
    for id in 5.1 5%201 51%3Ffields=id 51%26a '51%23' %2e%2e..51 51,52 51%25 caf%C3%A9 51%FF me: \
        "$(printf '1%.0s' {1..129})"; do
        printf 'case: %s\n' "$id"
        api GET "/v2/forms/$id"
        assert_error 404 NOT_FOUND
    done
    api GET /v2/forms/51/52
    assert_error 404 NOT_FOUND
    assert_nothing_sent
    for id in aB-9_z "$(printf '1%.0s' {1..128})"; do
        api GET "/v2/forms/$id"
        assert_error 400 VALIDATION_ERROR
        assert_sent_to "$id"
    done
}

@test "search is never taken for a flow id" {
    platform_answers 200 "$(flow search Trap)"
    api GET /v2/forms/search
    assert_success
    assert_json .data '{"items":[]}'
    assert_nothing_sent
}

# --- fields ---

# bats test_tags=direct
@test "fields is passed on, and names of other nodes and braces are refused" {
    have_flows "$(flow 51 First DRAFT)"
    api GET '/v2/forms?fields=id,status'
    assert_success
    assert_that '.data.items == [{"id":"51","status":"DRAFT"}]'
    assert_equal "$(query_sent)" 'fields=id%2Cstatus&limit=25'
    api GET '/v2/forms/51?fields=name,preview.invalidate(false),health_status'
    assert_success
    assert_equal "$(query_sent)" 'fields=name%2Cpreview.invalidate%28false%29%2Chealth_status'
    assert_that '.data.preview.preview_url | startswith("https://")'
    assert_that '.data.health_status.can_send_message == "AVAILABLE"'
    forget_sent
    local path
    for path in /v2/forms /v2/forms/51; do
        api GET "$path?fields=name,owner_business"
        assert_error 400 VALIDATION_ERROR owner_business
        api GET "$path?fields=whatsapp_business_account%7Bid%7D"
        assert_error 400 VALIDATION_ERROR braces
    done
    assert_nothing_sent
}

# bats test_tags=direct
@test "an answer to fields is stored only if it has all that a row takes" {
    local errors='[{"error":"X"}]'
    have_flows "{\"id\":\"51\",\"name\":\"First\",\"status\":\"DRAFT\",\"categories\":[],\"validation_errors\":$errors}"
    api GET '/v2/forms?fields=name,status'
    api GET '/v2/forms/51?fields=name,status'
    assert_success
    assert_equal "$(db 'SELECT count(*) FROM flow')" 0
    api GET '/v2/forms/51?fields=name,status,validation_errors,preview'
    assert_equal "$(db 'SELECT name, status, CAST(validation AS TEXT) FROM flow')" "First|DRAFT|$errors"
}

# --- create, Flow JSON, publish, deprecate, delete ---

# A body of a new flow whose bytes change when it is parsed and printed.
odd_new() {
    printf '%s' '{ "name" : "T\u0065a", "categories":["OTHER"],"other":1.50, ' \
        '"flow_json":"{\"version\":\"7.0\",\"screens\":[]}" }'
}

last_trail() {
    db "SELECT action, object_id, details FROM trail ORDER BY id DESC LIMIT 1"
}

# The row of a flow: NAME|STATUS|VALIDATION
row_of() { # ID
    db "SELECT name, status, CAST(validation AS TEXT) FROM flow WHERE flow_id = '$1'"
}

@test "a new flow is passed on byte for byte, and so is the answer; its row is a draft" {
    have_flows
    api POST /v2/forms -d "$(odd_new)"
    assert_success
    assert_sent_to "$WABA/flows"
    assert_sent "$(odd_new)"
    assert_equal "$(token_sent)" "Bearer $PLATFORM_TOKEN"
    local id
    id=$(gojq -r .data.id "$body")
    assert_equal "$(row_of "$id")" 'Tea|DRAFT|[]'
    assert_equal "$(last_trail)" \
        "flow.create|$id|{\"fields\":[\"name\",\"categories\",\"flow_json\"]}"
    platform_answers 200 '{ "id":"4\u0030", "success":true,"validation_errors":[ {"error":"X"} ],"more":1e400 }'
    api POST /v2/forms -d '{"name":"Cake","categories":["OTHER"],"publish":false}'
    assert_body_is '{"success":true,"data":{ "id":"4\u0030", "success":true,"validation_errors":[ {"error":"X"} ],"more":1e400 }}'
    assert_equal "$(row_of 40)" 'Cake|DRAFT|[ {"error":"X"} ]'
    platform_answers 200 '{"id":"41","success":true}'
    api POST /v2/forms -d '{"name":"Pie","categories":["OTHER"],"publish":true}'
    assert_equal "$(row_of 41)" 'Pie|PUBLISHED|[]'
}

# bats test_tags=direct
@test "phoneNumberId and accountId select the account of a new flow" {
    make_second_account
    api POST "/v2/forms?accountId=$SECOND_ACCOUNT" -d "$(odd_new)"
    assert_success
    assert_sent_to "$SECOND_WABA/flows"
    assert_equal "$(token_sent)" "Bearer $SECOND_PLATFORM_TOKEN"
    assert_equal "$(db 'SELECT account_id FROM flow')" "$SECOND_ACCOUNT"
}

# bats test_tags=direct
@test "only the types of a flow's members are checked, and nothing is sent then" {
    api POST /v2/forms -d '{"name":5,"flow_json":{}}'
    assert_error 400 VALIDATION_ERROR
    assert_json '[.details[].path] | sort' '["categories","flow_json","name"]'
    api PUT /v2/forms/51/json -d '{"screens":{}}'
    assert_error 400 VALIDATION_ERROR screens
    api PUT /v2/forms/51/json -d '{"version":'
    assert_error 400 VALIDATION_ERROR
    api PUT /v2/forms/51/json -d ''
    assert_error 400 VALIDATION_ERROR
    assert_nothing_sent
    api POST /v2/forms -d '{"name":"x","categories":["TEA"]}'
    assert_error 400 VALIDATION_ERROR categories
    assert_equal "$(sent_count path=/flows)" 1
}

# Prints the file of the form that was sent last.
file_sent() {
    sandbox GET 'requests?method=POST' | jq -j '.[-1].body' >"$BATS_TEST_TMPDIR/form"
    awk 'BEGIN { RS = "\r\n" } inside && /^--/ { exit } inside { printf "%s", $0 }
        /^Content-Type: application\/json$/ { getline; inside = 1 }' "$BATS_TEST_TMPDIR/form"
}

@test "a Flow JSON reaches the platform as a file with the same bytes, and its errors are passed on" {
    local json=$'{ "version":"7.0",\n  "screens" : [ "\\u00e9\\/" ] , "more":1.50}'
    have_flows "$(flow 51 First DRAFT)"
    api PUT /v2/forms/51/json -d "$json"
    assert_success
    assert_sent_to 51/assets
    assert_equal "$(file_sent)" "$json"
    assert_equal "$(grep -aoE 'name="[a-z_.]+"|^(flow.json|FLOW_JSON)' "$BATS_TEST_TMPDIR/form")" \
        $'name="name"\nflow.json\nname="asset_type"\nFLOW_JSON\nname="file"\nname="flow.json"'
    assert_equal "$(last_trail)" 'flow.assets|51|{"fields":["version","screens"]}'
    local errors='[ {"error":"INVALID","line_start":2,"message":"a\/b"} ]'
    have_flows "$(flow 51 First DRAFT)"
    fault "$(gojq -nc --arg body "{ \"success\":true,\"validation_errors\":$errors}" \
        '{match: {method: "POST"}, status: 200, body: $body}')"
    api PUT /v2/forms/51/json -d '{}'
    assert_body_is "{\"success\":true,\"data\":{ \"success\":true,\"validation_errors\":$errors}}"
    assert_equal "$(row_of 51)" "First|DRAFT|$errors"
}

@test "a draft is published, a published flow deprecated, if the operator lets destructive calls pass" {
    have_flows "$(flow 51 First DRAFT)"
    api POST /v2/forms/51/publish
    assert_body_is '{"success":true,"data":{"success":true}}'
    assert_sent_to 51/publish
    assert_sent ''
    assert_equal "$(row_of 51)" 'First|PUBLISHED|[]'
    assert_equal "$(last_trail)" 'flow.publish|51|{}'
    forget_sent
    api POST /v2/forms/51/deprecate
    assert_error 403 FORBIDDEN graph_destructive
    assert_nothing_sent
    write_config 'graph_destructive = yes'
    api POST /v2/forms/51/deprecate
    assert_success
    assert_sent_to 51/deprecate
    assert_equal "$(row_of 51)" 'First|DEPRECATED|[]'
    assert_equal "$(last_trail)" 'flow.deprecate|51|{}'
    write_config
}

@test "a draft is deleted with its row, if the operator lets destructive calls pass" {
    listed "$(flow 51 First DRAFT)" "$(flow 52 Second DRAFT)"
    api DELETE /v2/forms/51
    assert_error 403 FORBIDDEN graph_destructive
    write_config 'graph_destructive = yes'
    api DELETE /v2/forms/51
    assert_body_is '{"success":true,"data":{"success":true}}'
    assert_sent_to 51
    assert_equal "$(db 'SELECT flow_id FROM flow')" 52
    assert_equal "$(last_trail)" 'flow.delete|51|{}'
    api DELETE /v2/forms/51
    assert_error 400 VALIDATION_ERROR
    assert_json .details.error.error_subcode 33
    write_config
}

# bats test_tags=direct
@test "what the states of a flow do not allow is the platform's 400, with a hint, and leaves the row" {
    write_config 'graph_destructive = yes'
    listed "$(flow 71 First)" "$(flow 72 Second DRAFT)"
    local method route code hint before
    before=$(db 'SELECT flow_id, status, updated_at FROM flow ORDER BY 1')
    while read -r method route code hint; do
        printf 'case: %s %s\n' "$method" "$route"
        api "$method" "/v2/forms/$route"
        assert_error 400 VALIDATION_ERROR "$hint"
        assert_json .details.error.code "$code"
    done <<'END'
POST 71/publish 139002 Only a draft without
POST 72/deprecate 139003 Only a published flow
DELETE 71 139004 Only a draft can be deleted
END
    api PUT /v2/forms/71/json -d '{}'
    assert_error 400 VALIDATION_ERROR 'Only a draft can be changed'
    assert_json .details.error.code 139001
    api POST /v2/forms -d '{"name":"First","categories":["OTHER"]}'
    assert_error 400 VALIDATION_ERROR 'has this name'
    assert_json .details.error.error_subcode 4016019
    assert_equal "$(db 'SELECT flow_id, status, updated_at FROM flow ORDER BY 1')" "$before"
    write_config
}

# bats test_tags=direct
@test "an id of another object is 404, and nothing is changed" {
    write_config 'graph_destructive = yes'
    local method route
    while read -r method route; do
        printf 'case: %s %s\n' "$method" "$route"
        api "$method" "/v2/forms/${route/ID/$LINE}" -d '{}'
        assert_error 404 NOT_FOUND 'no such flow'
        api "$method" "/v2/forms/${route/ID/5.1}" -d '{}'
        assert_error 404 NOT_FOUND 'no such flow'
    done <<'END'
PUT ID/json
POST ID/publish
POST ID/deprecate
DELETE ID
END
    assert_equal "$(sent_count method=POST)" 0
    assert_equal "$(sent_count method=DELETE)" 0
    write_config
}

# bats test_tags=direct
@test "a change whose answer is lost is 502, and says that its outcome is not known" {
    local method route data
    write_config 'graph_destructive = yes'
    while read -r method route data; do
        printf 'case: %s %s\n' "$method" "$route"
        have_flows "$(flow 51 First DRAFT)"
        forget_sent
        fault "{\"kind\":\"reset\",\"match\":{\"method\":\"${method/PUT/POST}\"}}"
        api "$method" "/v2/forms${route#-}" ${data:+-d "$data"}
        assert_error 502 INTERNAL_ERROR 'whether it did what was asked is not known'
        assert_equal "$(sent_count "method=${method/PUT/POST}")" 1
        assert_equal "$(db 'SELECT count(*) FROM flow')" 0
    done <<'END'
POST - {"name":"Second","categories":["OTHER"]}
PUT /51/json {"version":"7.0","screens":[]}
POST /51/publish
POST /51/deprecate
DELETE /51
END
    write_config
}

# --- rows ---

# bats test_tags=direct
@test "list and detail store the flows of their answers, for the selected account" {
    listed "$(flow 51 First)" "$(flow 52 Second DRAFT)"
    assert_equal "$(db 'SELECT account_id, flow_id, name, status FROM flow ORDER BY flow_id')" \
        "$ACCOUNT|51|First|PUBLISHED
$ACCOUNT|52|Second|DRAFT"
    have_flows "$(flow 53 Third)"
    api GET /v2/forms/53
    assert_success
    assert_equal "$(db "SELECT account_id, name FROM flow WHERE flow_id = '53'")" "$ACCOUNT|Third"
}

# bats test_tags=direct
@test "a row changes with its flow; createdAt stays" {
    listed "$(flow 51 First DRAFT)" "$(flow 52 Second)"
    local before after
    before=$(db 'SELECT flow_id, created_at, updated_at FROM flow ORDER BY 1')
    api GET /v2/forms
    assert_equal "$(db 'SELECT flow_id, created_at, updated_at FROM flow ORDER BY 1')" "$before"
    have_flows "$(flow 51 'First, renamed')" "$(flow 52 Second)"
    api GET /v2/forms/51
    after=$(db 'SELECT flow_id, created_at, updated_at FROM flow ORDER BY 1')
    assert_equal "$(cut -d '|' -f 1,2 <<<"$after")" "$(cut -d '|' -f 1,2 <<<"$before")"
    assert_equal "$(tail -n 1 <<<"$after")" "$(tail -n 1 <<<"$before")"
    api GET /v2/forms/search
    assert_equal "$(ids)" '51 52'
    assert_text '.data.items[0].name' 'First, renamed'
    assert_that '.data.items[0] | .status == "PUBLISHED" and .updatedAt > .createdAt'
}

# bats test_tags=direct
@test "an object that is not a flow is passed on and not stored" {
    platform_answers 200 '{"data":[7,{},{"id":"1"},{"name":"x"},{"id":5,"name":"x"},{"id":"","name":"x"},
        {"id":"2\u0000","name":"x"},{"id":"3","name":"no status"}]}'
    api GET /v2/forms
    assert_success
    assert_that '.data.items | length == 8'
    assert_equal "$(db 'SELECT flow_id, name, status FROM flow')" '3|no status|'
    # a node of another type, read by its id
    platform_answers 200 '{"id":"4","name":"Some business","currency":"EUR"}'
    api GET /v2/forms/4
    assert_success
    assert_equal "$(db "SELECT count(*) FROM flow WHERE flow_id = '4'")" 0
}

# bats test_tags=direct
@test "a failure to store rows does not change the answer" {
    have_flows "$(flow 51 First)"
    refuse_rows flow
    api GET /v2/forms
    local list=$status
    api GET /v2/forms/51
    accept_rows flow
    assert_success
    assert_equal "$list" 200
    assert_equal "$(grep -c 'flows were not stored: .*made to fail' "$LOG")" 2
}

# --- GET /v2/forms/search ---

# bats test_tags=direct
@test "a search item is the row, with validation as the platform sent it" {
    local errors='[ {"error":"INVALID_PROPERTY","message":"a\/b","line_start":9007199254740993} ]'
    platform_answers 200 "{\"data\":[{\"id\":\"51\",\"name\":\"First \\u00e9\",\"status\":\"DRAFT\",\"validation_errors\":$errors}]}"
    api GET /v2/forms
    assert_success
    api GET /v2/forms/search
    assert_success
    assert_that '.data | keys == ["items"]'
    assert_that '.data.items[0] | keys_unsorted == ["id", "name", "status", "validation", "accountId",
        "createdAt", "updatedAt", "_count"]'
    assert_text '.data.items[0].id' 51
    assert_text '.data.items[0].name' 'First é'
    assert_text '.data.items[0].status' DRAFT
    assert_text '.data.items[0].accountId' "$ACCOUNT"
    assert_json '.data.items[0]._count' '{"responses":0}'
    assert_that '.data.items[0] | [.createdAt, .updatedAt] | all(test("^20[0-9-]{8}T[0-9:]{8}\\.[0-9]{3}Z$"))'
    grep -qF -- "\"validation\":$errors," "$body" || fail_answer "expected validation to be $errors"
    listed "$(flow 51 First)"
    api GET /v2/forms/search
    assert_json '.data.items[0].validation' '[]'
}

# Expects these ids in this order: search_finds Q IDS
search_finds() {
    printf 'case: %s\n' "$1"
    api GET "/v2/forms/search?q=$1"
    assert_success
    assert_equal "$(ids)" "$2"
}

# bats test_tags=direct
@test "q is part of the name, regardless of case" {
    listed "$(flow 51 'Tea order')" "$(flow 52 ORDERS)" "$(flow 53 Other)" "$(flow 54 'Büro')"
    sandbox DELETE requests >/dev/null
    search_finds order '51 52'
    search_finds ORDER '51 52'
    search_finds 'a%20oR' 51
    search_finds r+ ''
    search_finds other 53
    search_finds nothing ''
    search_finds '' '51 52 53 54'
    search_finds b%C3%BCRO 54
    search_finds B%C3%9CRO ''
    assert_nothing_sent
}

# bats test_tags=direct
@test "q is a whole status, regardless of case" {
    listed "$(flow 51 First DRAFT)" "$(flow 52 Second PUBLISHED)" "$(flow 53 'My draft' DEPRECATED)"
    search_finds draft '51 53'
    search_finds DRAFT '51 53'
    search_finds Published 52
    search_finds publish ''
    search_finds deprecated 53
}

# bats test_tags=direct
@test "wildcards in q are literal characters" {
    listed "$(flow 51 '100% sure')" "$(flow 52 a_b)" "$(flow 53 axb)" "$(flow 54 'c\\d')" \
        "$(flow 55 "it's")"
    search_finds %25 51
    search_finds 0%25%20s 51
    search_finds _ 52
    search_finds a_b 52
    search_finds %5C 54
    search_finds c%5Cd 54
    search_finds "t's" 55
    search_finds '"' ''
    search_finds %25%25 ''
    search_finds '*' ''
}

# bats test_tags=direct,long
@test "limit is 1 to 50, 20 by default" {
    have_many_flows 60
    api GET '/v2/forms?limit=60'
    assert_success
    local limit count
    while read -r limit count; do
        printf 'case: %s\n' "$limit"
        api GET "/v2/forms/search$limit"
        assert_success
        assert_json '.data.items | length' "$count"
    done <<<'? 20
?limit=1 1
?limit=50 50
?q=bulk_1&limit=5 5
?q=bulk_1&limit=50 11'
    for limit in 0 51 -1 abc 1.5 '' 99999999999999999999 20x; do
        printf 'case: %s\n' "$limit"
        api GET "/v2/forms/search?limit=$limit"
        assert_error 400 VALIDATION_ERROR limit
        assert_issue limit
    done
}

# bats test_tags=direct
@test "the row that changed last comes first" {
    listed "$(flow 51 First)" "$(flow 52 Second)" "$(flow 53 Third)"
    search_finds '' '51 52 53'
    listed "$(flow 51 First)" "$(flow 52 Second DRAFT)" "$(flow 53 Third)"
    search_finds '' '52 51 53'
}

# bats test_tags=direct
@test "rows of all linked accounts are searched, or of the selected one; never another user's" {
    make_second_account
    make_user OTHER_
    listed "$(flow 51 'Same one')"
    sandbox POST flows "{\"wabaId\":\"$SECOND_WABA\",\"items\":[$(flow 52 'Same two')]}" >/dev/null
    sandbox POST flows "{\"wabaId\":\"$OTHER_WABA\",\"items\":[$(flow 53 'Same three')]}" >/dev/null
    api GET "/v2/forms?accountId=$SECOND_ACCOUNT"
    request GET /v2/forms --as "$OTHER_TOKEN"
    assert_equal "$(ids)" 53
    local query expected
    while read -r query expected; do
        printf 'case: %s\n' "$query"
        api GET "/v2/forms/search?$query"
        assert_success
        assert_equal "$(gojq -r '[.data.items[].id] | sort | join(" ")' "$body")" "$expected"
    done <<<"q=same 51 52
q=published 51 52
accountId=$ACCOUNT 51
phoneNumberId=$LINE&q=SAME 51
accountId=$SECOND_ACCOUNT&q=one 
phoneNumberId=$SECOND_LINE 52"
    request GET /v2/forms/search --as "$OTHER_TOKEN"
    assert_equal "$(ids)" 53
    assert_text '.data.items[0].accountId' "$OTHER_ACCOUNT"
}

# bats test_tags=direct
@test "a flow of two accounts is a row of each" {
    make_second_account
    listed "$(flow 51 Mine)"
    platform_answers 200 "$(flow 51 Theirs)"
    api GET "/v2/forms/51?accountId=$SECOND_ACCOUNT"
    assert_success
    api GET /v2/forms/search
    assert_that '.data.items | length == 2 and (map(.name) | sort) == ["Mine", "Theirs"]'
    assert_that "all(.data.items[]; (.name == \"Mine\") == (.accountId == \"$ACCOUNT\"))"
}

# bats test_tags=direct
@test "rows with long lists of validation errors are searched too" {
    db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
        INSERT INTO flow SELECT '$ACCOUNT', 'f' || i, 'n', 'n', 'DRAFT',
            CAST('[\"' || hex(zeroblob(20000)) || '\"]' AS BLOB), i, i FROM n"
    api GET '/v2/forms/search?limit=50'
    assert_success
    assert_that '.data.items | length == 50 and .[0].id == "f60" and (.[49].validation[0] | length == 40000)'
}

# bats test_tags=direct
@test "the search is one indexed query" {
    only_on_sqlite 'it reads the plan of a query as SQLite prints it'
    local query plan
    query=$(grep -aoE 'SELECT p\.\*, coalesce\(c\.responses, 0\) [ -~]*p\.flow_id' "$OUT/cgi-bin/forms")
    assert_equal "$(wc -l <<<"$query")" 1
    plan=$(db "EXPLAIN QUERY PLAN $query")
    printf '%s\n' "$plan"
    grep -q 'SEARCH f USING INDEX flow_listing (account_id=?)' <<<"$plan"
    grep -q 'SEARCH c USING INDEX sqlite_autoindex_flow_reply_count_1 (account_id=? AND flow_id=?)' <<<"$plan"
    if grep SCAN <<<"$plan" | grep -v 'SCAN p$'; then # the scan of the rows of the page
        fail 'expected no scan'
    fi
    if grep -F flow_response <<<"$query"; then
        fail 'expected no replies to be read'
    fi
}

# --- _count.responses (spec 2.6) ---

# Delivers a webhook payload of the sandbox with a reply to a flow: receive_reply CONTEXT RESPONSE [LINE].
# CONTEXT is the wamid of the answered message, RESPONSE a JSON text.
receive_reply() {
    local built=$BATS_TEST_TMPDIR/built
    sandbox POST webhooks "$(jq -nc --arg line "${3-$LINE}" --arg context "$1" --arg response "$2" \
        --arg phone $PHONE '{kind: "nfm_reply", phoneNumberId: $line, phone: $phone,
        context: $context, flowResponse: $response, build: true}')" >"$built"
    jq -j '.posts[0].body' "$built" >"$built.body"
    redeliver
}

# Delivers the same payload again.
redeliver() {
    local built=$BATS_TEST_TMPDIR/built
    request POST /platform/webhook -d "@$built.body" \
        -H "X-Hub-Signature-256: $(gojq -r '.posts[0].signature' "$built")"
    assert_status 200
}

# Expects the number of replies that search shows for a flow: assert_responses ID COUNT
assert_responses() {
    api GET /v2/forms/search
    assert_success
    assert_json "[.data.items[] | select(.id == \"$1\")][0]._count" "{\"responses\":$2}"
}

# Makes two templates that open the flows 61 and 62, and has the gateway list the flows and templates.
learn_flows() {
    listed "$(flow 61 Booking)" "$(flow 62 Survey)"
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[
        $(flow_template book '"61"'),$(flow_template ask 62)]}" >/dev/null
    api GET /v2/templates
    assert_success
}

flow_template() { # NAME FLOW
    printf '{"name":"%s","components":[{"type":"BODY","text":"x"},{"type":"BUTTONS","buttons":[' "$1"
    printf '{"type":"FLOW","text":"Go","flow_id":%s}]}],"language":"en_US","status":"APPROVED",' "$2"
    printf '"category":"UTILITY","id":"8%s"}' "$1"
}

# Sends such a template and sets $wamid: send_flow NAME [FLOW_TOKEN]
send_flow() {
    local button=''
    [[ -z ${2-} ]] || button=",\"components\":[{\"type\":\"button\",\"sub_type\":\"flow\",\"index\":\"0\",
        \"parameters\":[{\"type\":\"action\",\"action\":{\"flow_token\":\"$2\"}}]}]"
    api POST /v2/templates/send \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$PHONE\",\"templateName\":\"$1\"$button}"
    assert_success
    wamid=$(gojq -r '.data.messages[0].id' "$body")
}

# bats test_tags=direct,long
@test "a reply counts for the flow of the message that it answers" {
    learn_flows
    send_flow book
    assert_responses 61 0
    receive_reply "$wamid" '{"guests":"4"}'
    assert_responses 61 1
    assert_responses 62 0
    redeliver
    assert_responses 61 1
    receive_reply "$wamid" '{"guests":"5"}'
    assert_responses 61 2
}

# bats test_tags=direct
@test "a reply counts for the flow of its flow_token in a template send" {
    learn_flows
    send_flow ask token-of-62
    receive_reply wamid.unknown '{"flow_token":"token-of-62","stars":"5"}'
    assert_responses 62 1
    assert_responses 61 0
}

# bats test_tags=direct,long
@test "a reply counts for the flow of a flow message, by the message or by its flow_token" {
    local flow='"bodyText":"B","buttonText":"Go","flowId":"62"'
    learn_flows
    api POST /v2/messages/send/interactive/flow \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$PHONE\",$flow}"
    assert_success
    receive_reply "$(gojq -r '.data.messages[0].id' "$body")" '{"stars":"5"}'
    assert_responses 62 1
    api POST /v2/messages/send -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$PHONE\",
        \"flowToken\":\"token-of-message\",$flow}"
    assert_success
    receive_reply wamid.unknown '{"flow_token":"token-of-message"}'
    assert_responses 62 2
    assert_responses 61 0
}

# bats test_tags=direct
@test "the answered message has priority over the flow_token" {
    learn_flows
    send_flow ask token-both
    send_flow book
    receive_reply "$wamid" '{"flow_token":"token-both"}'
    assert_equal "$(db 'SELECT flow_id FROM flow_response ORDER BY message_id DESC LIMIT 1')" 61
}

# bats test_tags=direct
@test "the flow of a template is also learned from the detail of one template" {
    listed "$(flow 63 Looked)"
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[
        $(flow_template look '"63"')]}" >/dev/null
    api GET /v2/templates/look
    assert_success
    send_flow look
    receive_reply "$wamid" '{}'
    assert_responses 63 1
}

# bats test_tags=direct
@test "a reply to an unknown flow counts for no flow" {
    learn_flows
    local before
    before=$(api GET /v2/forms/search; jq -c '[.data.items[]._count]' "$body")
    receive_reply wamid.unknown '{"flow_token":"unknown"}'
    receive_reply wamid.unknown 'no JSON'
    api GET /v2/forms/search
    assert_equal "$(jq -c '[.data.items[]._count]' "$body")" "$before"
    assert_equal "$(db 'SELECT count(*) FROM flow_response WHERE flow_id IS NULL')" 2
}

# bats test_tags=direct,long
@test "a reply to another account does not count for this account" {
    make_second_account
    learn_flows
    send_flow ask token-mine
    receive_reply "$wamid" '{"flow_token":"token-mine"}' "$SECOND_LINE"
    assert_responses 62 0
    assert_equal "$(db "SELECT account_id = '$SECOND_ACCOUNT', flow_id IS NULL FROM flow_response")" '1|1'
}
