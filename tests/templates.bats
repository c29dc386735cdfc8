#!/usr/bin/env bats
# /v2/templates (spec 4.4): list, one by name, send, test-send.
# shellcheck disable=SC2016,SC2153  # $ is part of JSON texts; make_user sets ACCOUNT
load helpers/all

PHONE=15550001111
BSUID=US.13491208655302741918

setup() {
    forget_sent
    sandbox POST settings '{"templatePageCap":0,"templatePageCapSilent":false}' >/dev/null
}

# Replaces the account's templates upstream: have_templates ITEM...
have_templates() {
    sandbox POST templates \
        "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[$(comma_list "$@")]}" >/dev/null
}

# The same with COUNT templates named bulk_1, bulk_2, ...
have_many_templates() {
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,
        \"generate\":{\"count\":$1,\"prefix\":\"bulk_\"}}" >/dev/null
}

# A template with a text: template NAME [LANGUAGE [TEXT]]
template() {
    printf '{"name":"%s","components":[{"type":"BODY","text":"%s"}],"language":"%s",' \
        "$1" "${3-Good day.}" "${2-en_US}"
    printf '"status":"APPROVED","category":"UTILITY","id":"7%s%s"}' "$1" "${2-}"
}

# A template whose bytes change when they are parsed and printed.
odd_template() {
    printf '%s' '{ "name" : "odd_one", "components":[{"type":"BODY","text":"a\u0000b \/ \ud83d\ude00 😀"}],' \
        '"language":"en_US","status":"APPROVED","category":"UTILITY","id":"71","big":9007199254740993,' \
        '"again":1,"again":2,"huge":1e400,"zero":-0.0 }'
}

# The body of a send, with members as JSON texts: sending [MEMBER...]
sending() {
    printf '{"phoneNumberId":"%s"%s}' "$LINE" "${1+,$(comma_list "$@")}"
}

# The request upstream for a send to $PHONE: upstream_send NAME LANGUAGE [MEMBERS]
upstream_send() {
    printf '{"messaging_product":"whatsapp","recipient_type":"individual","to":"%s",' $PHONE
    printf '"type":"template","template":{"name":"%s","language":{"code":"%s"}%s}}' "$1" "$2" "${3-}"
}

names() {
    gojq -r '.data.items[].name' "$body"
}

# --- GET /v2/templates ---

@test "the list returns the platform's templates of the default business account as items" {
    have_templates "$(template hello)" "$(template bye)"
    api GET /v2/templates
    assert_success
    assert_that '.data | keys == ["items", "paging"]'
    assert_equal "$(names)" $'hello\nbye'
    assert_that '.data.paging.cursors | (.before | type == "string") and (.after | type == "string")'
    assert_sent_to "$WABA/message_templates"
    assert_equal "$(query_sent)" ''
    assert_equal "$(token_sent)" "Bearer $PLATFORM_TOKEN"
}

# bats test_tags=direct
@test "an account without templates has an empty list and no paging" {
    have_templates
    api GET /v2/templates
    assert_success
    assert_body_is '{"success":true,"data":{"items":[]}}'
}

# bats test_tags=direct
@test "search returns the templates whose name contains it, without regard to case" {
    have_templates "$(template order_sent)" "$(template Reorder)" "$(template hello)"
    local search
    for search in order ORDER OrDer; do
        api GET "/v2/templates?search=$search"
        assert_success
        assert_equal "$(names)" $'order_sent\nReorder'
    done
    api GET '/v2/templates?search=sent'
    assert_equal "$(names)" order_sent
    api GET '/v2/templates?search=o%25r'
    assert_that '.data.items == []'
    api GET '/v2/templates?search=order_sent_'
    assert_that '.data.items == []'
    assert_that '.data.paging.cursors.after | length > 0'
    api GET '/v2/templates?search='
    assert_equal "$(names)" $'order_sent\nReorder\nhello'
    assert_equal "$(query_sent)" ''
}

# bats test_tags=direct
@test "search filters whole items and does not change them" {
    have_templates "$(template first)" "$(odd_template)" "$(template odd_two)"
    api GET '/v2/templates?search=ODD'
    assert_success
    local expected
    expected="{\"success\":true,\"data\":{\"items\":[$(odd_template),$(template odd_two)],\"paging\":"
    [[ $(head -c ${#expected} "$body") == "$(head -c ${#expected} <<<"$expected")" ]] ||
        fail_answer "expected it to begin with $expected"
    platform_answers 200 "{\"data\":[5,{},{\"name\":7},{\"name\":null},$(odd_template),{\"name\":\"\\u006fdd\"}]}"
    api GET '/v2/templates?search=odd'
    assert_body_is "{\"success\":true,\"data\":{\"items\":[$(odd_template),{\"name\":\"\\u006fdd\"}]}}"
}

# bats test_tags=direct
@test "search compares characters beyond ASCII exactly" {
    platform_answers 200 '{"data":[{"name":"caf\u00e9 x"},{"name":"CAFÉ"},{"name":"cafe"}]}'
    api GET '/v2/templates?search=CAF%C3%A9'
    assert_body_is '{"success":true,"data":{"items":[{"name":"caf\u00e9 x"}]}}'
    api GET '/v2/templates?search=caf%C3'
    assert_error 400 VALIDATION_ERROR UTF-8
}

# --- selectors ---

# bats test_tags=direct
@test "phoneNumberId and accountId select one of the caller's business accounts" {
    make_second_account
    sandbox POST templates "{\"wabaId\":\"$SECOND_WABA\",\"items\":[$(template second_one)]}" >/dev/null
    have_templates "$(template first_one)"
    local query
    for query in "phoneNumberId=$SECOND_LINE" "accountId=$SECOND_ACCOUNT" \
        "phoneNumberId=$SECOND_LINE&accountId=$SECOND_ACCOUNT"; do
        printf 'case: %s\n' "$query"
        api GET "/v2/templates?$query"
        assert_success
        assert_equal "$(names)" second_one
        assert_equal "$(token_sent)" "Bearer $SECOND_PLATFORM_TOKEN"
        api GET "/v2/templates/second_one?$query"
        assert_success
        assert_text .data.name second_one
    done
    api GET "/v2/templates?accountId=$ACCOUNT"
    assert_equal "$(names)" first_one
    api GET /v2/templates
    assert_equal "$(names)" first_one
    api GET /v2/templates/second_one
    assert_error 404 NOT_FOUND
}

# bats test_tags=direct,long
@test "selectors of another user are 403 and the platform is not called" {
    make_user OTHER_
    make_second_account
    switchboard line archive "$SECOND_LINE" >/dev/null
    local path query
    for path in /v2/templates /v2/templates/hello; do
        for query in "accountId=$OTHER_ACCOUNT" "phoneNumberId=$OTHER_LINE" accountId=acc_nobody \
            phoneNumberId=1 "phoneNumberId=$SECOND_LINE" "accountId=$ACCOUNT&phoneNumberId=$OTHER_LINE" \
            "accountId=$OTHER_ACCOUNT&phoneNumberId=$LINE"; do
            printf 'case: %s?%s\n' "$path" "$query"
            api GET "$path?$query"
            assert_error 403 FORBIDDEN
        done
        api GET "$path?accountId=$SECOND_ACCOUNT&phoneNumberId=$LINE"
        assert_error 400 VALIDATION_ERROR 'different business accounts'
        api GET "$path?accountId="
        assert_error 400 VALIDATION_ERROR accountId
    done
    assert_nothing_sent
}

# bats test_tags=direct
@test "an account without a platform access token is 404" {
    local account
    account=$(switchboard account add "$EMAIL" --waba-id 4242 --name Bare </dev/null 2>/dev/null)
    local path
    for path in /v2/templates /v2/templates/hello; do
        api GET "$path?accountId=$account"
        assert_error 404 NOT_FOUND 'platform access token'
    done
    assert_nothing_sent
}

# --- the platform's failures (spec 7) ---

# The answer to each status of the platform, for the routes that read: STATUS EXPECTED CODE
failures() {
    printf '%s\n' '400 400 VALIDATION_ERROR' '401 401 UNAUTHORIZED' '403 403 FORBIDDEN' \
        '404 404 NOT_FOUND' '422 400 VALIDATION_ERROR' '429 400 VALIDATION_ERROR' \
        '500 500 INTERNAL_ERROR' '502 500 INTERNAL_ERROR' '503 500 INTERNAL_ERROR'
}

@test "failures of the platform keep their payload in details" {
    local payload='{"error": {"message":"(#7) No\/way","type":"OAuthException","code":7,"big":9007199254740993}}'
    local upstream expected code path
    while read -r upstream expected code; do
        for path in /v2/templates /v2/templates/x; do
            printf 'case: %s %s\n' "$path" "$upstream"
            platform_answers "$upstream" "$payload"
            api GET "$path"
            assert_error "$expected" "$code" '(#7) No/way'
            grep -qF -- "\"details\":$payload}" "$body" || fail_answer "expected the payload in details"
        done
    done < <(failures)
}

@test "an upstream 401 is our 401, with WWW-Authenticate" {
    fault '{"code":190}'
    api GET /v2/templates
    assert_error 401 UNAUTHORIZED
    assert_header WWW-Authenticate
    assert_json .details.error.code 190
}

@test "a Retry-After of the platform is copied" {
    fault '{"status":400,"code":80007,"headers":{"Retry-After":"17"}}'
    api GET /v2/templates
    assert_error 400 VALIDATION_ERROR
    assert_header Retry-After 17
    assert_json .details.error.code 80007
}

# bats test_tags=direct
@test "an answer that is not JSON is 500, with its beginning as a string in details" {
    platform_answers 200 '<html>oops</html>'
    api GET /v2/templates
    assert_error 500 INTERNAL_ERROR 'not JSON'
    assert_json .details '<html>oops</html>'
    platform_answers 502 "<html>$(printf 'x%.0s' {1..5000})"
    api GET /v2/templates
    assert_error 500 INTERNAL_ERROR 502
    assert_that '.details | startswith("<html>x") and length == 1024'
    fault '{"kind":"garbage"}'
    api GET /v2/templates
    assert_error 500 INTERNAL_ERROR
    fault '{"status":500,"body":""}'
    api GET /v2/templates
    assert_error 500 INTERNAL_ERROR
    assert_that 'has("details") | not'
}

# bats test_tags=direct
@test "an answer without a list is 500" {
    local answer path
    for answer in '{}' '[]' '{"data":{}}' '{"data":null}' '5'; do
        for path in /v2/templates /v2/templates/x; do
            printf 'case: %s %s\n' "$path" "$answer"
            platform_answers 200 "$answer"
            api GET "$path"
            assert_error 500 INTERNAL_ERROR 'no list'
            assert_details "$answer"
        done
    done
}

@test "a transport failure is 500" {
    local kind path
    for kind in '"reset_before"' '"truncate","bytes":30' '"close_mid_body","bytes":20'; do
        for path in /v2/templates /v2/templates/x; do
            printf 'case: %s %s\n' "$path" "$kind"
            have_templates "$(template hello)"
            fault "{\"times\":2,\"kind\":$kind}"
            api GET "$path"
            assert_error 500 INTERNAL_ERROR
            sandbox DELETE faults >/dev/null
        done
    done
}

# --- GET /v2/templates/:name ---

@test "a template by name is the platform's object, byte for byte" {
    have_templates "$(template odd)" "$(odd_template)" "$(template odd_one_more)"
    api GET /v2/templates/odd_one
    assert_success
    assert_body_is "{\"success\":true,\"data\":$(odd_template)}"
    assert_equal "$(query_sent)" limit=200
}

# bats test_tags=direct
@test "a name matches exactly: not a part of it, not in another case" {
    have_templates "$(template hello)"
    local name
    for name in hell hello_ Hello HELLO '%20hello' 'hello%20' nobody; do
        printf 'case: %s\n' "$name"
        api GET "/v2/templates/$name"
        assert_error 404 NOT_FOUND
        assert_text .message 'Template not found'
    done
}

# bats test_tags=direct
@test "of several languages the first in the platform's order is returned, or the requested one" {
    have_templates "$(template hello de)" "$(template hello en_US)" "$(template other fr)"
    api GET /v2/templates/hello
    assert_text .data.language de
    api GET '/v2/templates/hello?language=en_US'
    assert_text .data.language en_US
    local language
    for language in fr en en_us; do
        api GET "/v2/templates/hello?language=$language"
        assert_error 404 NOT_FOUND
        assert_text .message 'Template not found'
    done
    api GET '/v2/templates/hello?language='
    assert_error 400 VALIDATION_ERROR language
}

@test "GET /v2/templates/send and /v2/templates/x/test-send" {
    have_templates "$(template hello)"
    api GET /v2/templates/send
    assert_error 404 NOT_FOUND 'Template not found'
    assert_equal "$(sent_count)" 1
    have_templates "$(template send)"
    api GET /v2/templates/send
    assert_text .data.name send
    api GET /v2/templates/x/test-send
    assert_error 404 NOT_FOUND
    assert_header Allow 'POST, OPTIONS'
    api POST /v2/templates/x -d '{}'
    assert_error 404 NOT_FOUND
    assert_header Allow 'GET, HEAD, PATCH, DELETE, OPTIONS'
    api GET /v2/templates/a/b
    assert_error 404 NOT_FOUND route
}

@test "a name is any text of 1 to 512 bytes, percent-encoded" {
    local long
    long=$(printf 'n%.0s' {1..512})
    have_templates "$(template "$long")" "$(template "${long}n")" "$(template 'café au lait')" \
        "$(template 'a+b&c')" "$(template '..')"
    api GET "/v2/templates/$long"
    assert_success
    assert_text .data.name "$long"
    api GET /v2/templates/caf%C3%A9%20au%20lait
    assert_success
    assert_text .data.name 'café au lait'
    api GET '/v2/templates/a+b%26c'
    assert_success
    platform_answers 200 '{"data":[{"name":"caf\u00e9 \ud83d\ude00"}]}'
    api GET /v2/templates/caf%C3%A9%20%F0%9F%98%80
    assert_body_is '{"success":true,"data":{"name":"caf\u00e9 \ud83d\ude00"}}'
}

@test "a name that is empty, longer than 512 bytes or not UTF-8 is 404, and the platform is not called" {
    local name
    for name in '' "$(printf 'n%.0s' {1..513})" caf%E9 %C0%AF %FF; do
        printf 'case: %s\n' "$name"
        api GET "/v2/templates/$name"
        assert_error 404 NOT_FOUND
        assert_text .message 'Template not found'
    done
    assert_nothing_sent
}

# --- the window of 200 (spec 8) ---

# Requests the templates around the end of the window: assert_window QUERIES. QUERIES are the limits of the
# requests upstream that find the last template.
assert_window() {
    api GET /v2/templates/bulk_200
    assert_success
    assert_text .data.name bulk_200
    assert_equal "$(sandbox GET requests | gojq -r '[.[].query | capture("limit=(?<n>[0-9]+)").n] | join(" ")')" "$1"
    sandbox DELETE requests >/dev/null
    api GET /v2/templates/bulk_201
    assert_error 404 NOT_FOUND
    assert_text .message 'Template not found'
    assert_equal "$(sandbox GET requests | gojq -r '[.[].query | capture("limit=(?<n>[0-9]+)").n] | join(" ")')" "$1"
    sandbox DELETE requests >/dev/null
}

# bats test_tags=direct
@test "of 500 templates the 200th is found and the 201st is not" {
    have_many_templates 500
    assert_window 200
}

# bats test_tags=direct
@test "the window is the same when the platform silently caps its pages" {
    have_many_templates 500
    sandbox POST settings '{"templatePageCap":50,"templatePageCapSilent":true}' >/dev/null
    assert_window '200 150 100 50'
    sandbox POST settings '{"templatePageCap":60}' >/dev/null
    assert_window '200 140 80 20'
}

# bats test_tags=direct
@test "if the platform asks for less data, the page size is halved" {
    have_many_templates 500
    sandbox POST settings '{"templatePageCap":50}' >/dev/null
    assert_window '200 100 50 50 50 50'
    api GET /v2/templates/bulk_1
    assert_success
    assert_equal "$(sent_count)" 3
}

# bats test_tags=direct
@test "halving ends at 1, and the platform's error is then the answer" {
    fault '{"times":0,"status":500,"code":1}'
    api GET /v2/templates/x
    assert_error 500 INTERNAL_ERROR
    assert_json .details.error.code 1
    assert_equal "$(sandbox GET requests | gojq -r '[.[].query] | join(" ")')" \
        'limit=200 limit=100 limit=50 limit=25 limit=12 limit=6 limit=3 limit=1'
}

# bats test_tags=direct
@test "the page size of a list is not halved: it is the client's limit" {
    have_many_templates 60
    sandbox POST settings '{"templatePageCap":50}' >/dev/null
    api GET '/v2/templates?limit=60'
    assert_error 500 INTERNAL_ERROR 'reduce the amount of data'
    assert_equal "$(sent_count)" 1
}

# bats test_tags=direct
@test "the search stops at pages that never end" {
    local page='{"data":[],"paging":{"cursors":{"after":"Q"},"next":"https://x/?after=Q"}}'
    platform_answers 200 "$page"
    api GET /v2/templates/x
    assert_error 404 NOT_FOUND 'Template not found'
    assert_equal "$(sent_count)" 1
}

# bats test_tags=direct
@test "a page with more templates than requested does not extend the window" {
    local items
    items=$(printf '{"name":"n%d"},' {1..201})
    platform_answers 200 "{\"data\":[${items%,}]}"
    api GET /v2/templates/n200
    assert_success
    platform_answers 200 "{\"data\":[${items%,}]}"
    api GET /v2/templates/n201
    assert_error 404 NOT_FOUND
}

# bats test_tags=direct
@test "the search ends at the page that contains the name" {
    have_many_templates 120
    sandbox POST settings '{"templatePageCap":50,"templatePageCapSilent":true}' >/dev/null
    api GET /v2/templates/bulk_60
    assert_success
    assert_equal "$(sent_count)" 2
    sandbox DELETE requests >/dev/null
    api GET /v2/templates/bulk_121
    assert_error 404 NOT_FOUND
    assert_equal "$(sent_count)" 3
}

# --- POST /v2/templates/send ---

# The templates of the examples in clause 2.9 of the reference.
example_templates() {
    local of='"language":"en_US","status":"APPROVED","category":"UTILITY"'
    have_templates \
        '{"id":"81","name":"table_reserved",'"$of"',"components":[{"type":"HEADER","format":"IMAGE"},{"type":"BODY","text":"A table for {{guests}} on {{day}}."}]}' \
        '{"id":"82","name":"order_shipped",'"$of"',"components":[{"type":"BODY","text":"Order {{1}} is on its way."},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Track","url":"https://shop.example/track/{{1}}"},{"type":"QUICK_REPLY","text":"Thanks"}]}]}' \
        '{"id":"83","name":"spring_sale",'"$of"',"components":[{"type":"BODY","text":"{{1}} off."},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Stop"},{"type":"COPY_CODE","example":"SPRING20"}]}]}' \
        '{"id":"84","name":"login_code",'"${of/UTILITY/AUTHENTICATION}"',"components":[{"type":"BODY","text":"{{1}} is your code."},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Copy","url":"https://www.whatsapp.com/otp/code/?code={{1}}"}]}]}' \
        '{"id":"85","name":"book_table",'"$of"',"components":[{"type":"BODY","text":"Choose a day."},{"type":"BUTTONS","buttons":[{"type":"FLOW","text":"Book","flow_id":"7002"}]}]}'
}

@test "the platform accepts each whole example of the reference for its template, and none for another" {
    local examples example media count=0
    example_templates
    media=$(sandbox POST media "{\"wabaId\":\"$WABA\",\"mimeType\":\"image/png\",\"size\":100}" | gojq -r .id)
    mapfile -d '' -t examples < <(awk '/^## / { inside = /^## 2\.9 / }
        inside && $0 == "```json" { is_code = 1; next }
        is_code && $0 == "```" { printf "%c", 0; is_code = 0 }
        is_code' "$root/doc/api/templates.md")
    for example in "${examples[@]}"; do
        printf 'case: %s\n' "$example"
        example=${example//15550001000/$LINE}
        example=${example//\"7001\"/\"$media\"}
        api POST /v2/templates/send -d "$example"
        assert_success
        count=$((count + 1))
        api POST /v2/templates/send -d "$(gojq -c 'del(.components[-1])' <<<"$example")"
        [[ $example == *'"flow"'* ]] || assert_error 400 VALIDATION_ERROR
    done
    assert_equal "$count" 5
}

@test "send names the template in the request upstream, in en_US unless a language is given" {
    have_templates "$(template hello)" "$(template hello de)"
    api POST /v2/templates/send -d "$(sending "\"to\":\"+1 (555) 000-1111\"" '"templateName":"hello"')"
    assert_success
    assert_sent_to "$LINE/messages"
    assert_equal "$(token_sent)" "Bearer $PLATFORM_TOKEN"
    assert_sent "$(upstream_send hello en_US)"
    assert_that '.data | .messaging_product == "whatsapp" and (.contacts[0].wa_id == "15550001111")
        and (.messages[0].id | startswith("wamid."))'
    api POST /v2/templates/send \
        -d "$(sending "\"to\":\"$PHONE\"" '"language":"de"' '"templateName":"hello"' '"extra":{"a":1}')"
    assert_success
    assert_sent "$(upstream_send hello de)"
}

@test "components are sent byte for byte" {
    have_templates "$(template order en_US '{{1}} owes {{2}} on {{3}}')"
    local components='[ {"type":"body", "parameters":[{"type":"text","text":"\u0041da \/ 😀 \ud83d\ude00"},
        {"type":"currency","currency":{"fallback_value":"9 \u20ac","code":"EUR","amount_1000": 9007199254740993, "x":1e400}},
        {"type":"date_time","date_time":{"fallback_value":"1\/2","twice":1,"twice":2.50}}]} ]'
    api POST /v2/templates/send \
        -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"order"' "\"components\":$components")"
    assert_success
    assert_sent "$(upstream_send order en_US ",\"components\":$components")"
}

# bats test_tags=direct
@test "every kind of component is sent unchanged" {
    local components='[{"type":"header","parameters":[{"type":"image","image":{"id":"11"}}]},
        {"type":"body","parameters":[{"type":"text","parameter_name":"day","text":"Friday"}]},
        {"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"a\/b"}]},
        {"type":"button","sub_type":"copy_code","index":"1","parameters":[{"type":"coupon_code","coupon_code":"TEN"}]},
        {"type":"button","sub_type":"mpm","index":"2","parameters":[{"type":"action","action":{
            "thumbnail_product_retailer_id":"p","sections":[{"title":"T","product_items":[{"product_retailer_id":"p"}]}]}}]},
        {"type":"carousel","cards":[{"card_index":0,"components":[{"type":"body","parameters":[]}]}]},
        {"type":"limited_time_offer","parameters":[{"type":"limited_time_offer",
            "limited_time_offer":{"expiration_time_ms":1790000000000}}]}, 5, null, "made up"]'
    platform_answers 200 '{"messaging_product":"whatsapp","contacts":[],"messages":[{"id":"wamid.all.kinds"}]}'
    api POST /v2/templates/send \
        -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"all"' "\"components\":$components")"
    assert_success
    assert_sent "$(upstream_send all en_US ",\"components\":$components")"
    assert_body_is '{"success":true,"data":{"messaging_product":"whatsapp","contacts":[],"messages":[{"id":"wamid.all.kinds"}]}}'
}

# bats test_tags=direct
@test "empty components are sent as empty components" {
    have_templates "$(template hello)"
    api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"hello"' '"components":[]')"
    assert_success
    assert_sent "$(upstream_send hello en_US ',"components":[]')"
}

# bats test_tags=direct
@test "a send does not read the template: it makes no other call" {
    have_templates "$(template hello)"
    api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"hello"')"
    assert_success
    assert_equal "$(sent_count)" 1
}

# bats test_tags=direct
@test "recipient, context and the exact bytes of the name are sent" {
    have_templates "$(template hello)"
    api POST /v2/templates/send \
        -d "$(sending "\"recipient\":\"$BSUID\"" '"templateName":"h\u0065llo"' '"contextMessageWamid":"wamid.before"')"
    assert_success
    assert_sent "{\"messaging_product\":\"whatsapp\",\"recipient_type\":\"individual\",\"recipient\":\"$BSUID\",\
\"context\":{\"message_id\":\"wamid.before\"},\"type\":\"template\",\
\"template\":{\"name\":\"h\\u0065llo\",\"language\":{\"code\":\"en_US\"}}}"
    api POST /v2/templates/send \
        -d "$(sending "\"to\":\"$PHONE\"" "\"recipient\":\"$BSUID\"" '"templateName":"hello"')"
    assert_success
    assert_sent_json .to "\"$PHONE\""
    assert_sent_json .recipient "$BSUID"
}

# bats test_tags=direct
@test "send accepts a line of any of the caller's accounts and uses that account's token" {
    make_second_account
    sandbox POST templates "{\"wabaId\":\"$SECOND_WABA\",\"items\":[$(template second_one)]}" >/dev/null
    api POST /v2/templates/send \
        -d "{\"phoneNumberId\":\"$SECOND_LINE\",\"to\":\"$PHONE\",\"templateName\":\"second_one\"}"
    assert_success
    assert_sent_to "$SECOND_LINE/messages"
    assert_equal "$(token_sent)" "Bearer $SECOND_PLATFORM_TOKEN"
}

# bats test_tags=direct
@test "a send upserts contact and thread and records the message" {
    have_templates "$(template hello)"
    local phone=15550002222 wamid kept
    api POST /v2/templates/send -d "$(sending "\"to\":\"$phone\"" '"templateName":"hello"')"
    assert_success
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    kept="SELECT c.phone, l.phone_number_id, m.direction, m.type, m.status FROM message m
        JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id
        JOIN line l ON l.id = t.line_id WHERE m.wamid = '$wamid'"
    assert_equal "$(db "$kept")" "$phone|$LINE|out|template|accepted"
    assert_equal "$(db "SELECT CAST(body AS TEXT) FROM message WHERE wamid = '$wamid'")" "$(sent)"
    api POST /v2/templates/hello/test-send -d "$(sending "\"to\":\"$phone\"")"
    assert_success
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '$phone'")" 1
    assert_equal "$(db "SELECT count(*) FROM thread t JOIN contact c ON c.id = t.contact_id
        WHERE c.phone = '$phone'")" 1
    assert_equal "$(db "SELECT count(*) FROM message m JOIN thread t ON t.id = m.thread_id
        JOIN contact c ON c.id = t.contact_id WHERE c.phone = '$phone'")" 2
}

# bats test_tags=direct
@test "a send that the platform refuses stores nothing" {
    have_templates "$(template hello)"
    api POST /v2/templates/send -d "$(sending '"to":"15550003333"' '"templateName":"absent"')"
    assert_error 404 NOT_FOUND
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '15550003333'")" 0
}

# bats test_tags=direct
@test "a template that does not exist in the language is 404, with the platform's 132001 in details" {
    have_templates "$(template hello)"
    local path message
    for message in '"templateName":"absent"' '"templateName":"hello","language":"de"'; do
        api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" "$message")"
        assert_error 404 NOT_FOUND '(#132001)'
        assert_json .details.error.code 132001
    done
    api POST /v2/templates/absent/test-send -d "$(sending "\"to\":\"$PHONE\"")"
    assert_error 404 NOT_FOUND '(#132001)'
}

# bats test_tags=direct
@test "components that do not match the template are 400 with the platform's payload" {
    have_templates "$(template hello)"
    api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"hello"' \
        '"components":[{"type":"body","parameters":[{"type":"text","text":"one too many"}]}]')"
    assert_error 400 VALIDATION_ERROR '(#132000)'
    assert_json .details.error.code 132000
}

# bats test_tags=direct
@test "an authentication template to a BSUID alone fails with the platform's 131062" {
    have_templates '{"name":"code","components":[{"type":"BODY","text":"*{{1}}*"}],"language":"en_US",
        "status":"APPROVED","category":"AUTHENTICATION","id":"79"}'
    local code='"components":[{"type":"body","parameters":[{"type":"text","text":"123456"}]}]'
    api POST /v2/templates/send -d "$(sending "\"recipient\":\"$BSUID\"" '"templateName":"code"' "$code")"
    assert_error 400 VALIDATION_ERROR '(#131062)'
    assert_json .details.error.code 131062
    api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"code"' "$code")"
    assert_success
}

# bats test_tags=direct
@test "a contact blocked on the line is 403 and the platform is not called" {
    local phone=15550004444 bsuid=DE.ENT.Blocked1
    switchboard contact block "$LINE" $phone >/dev/null
    switchboard contact block "$LINE" $bsuid >/dev/null
    local whom
    for whom in "\"to\":\"+1 555 000 4444\"" "\"recipient\":\"$bsuid\""; do
        printf 'case: %s\n' "$whom"
        api POST /v2/templates/send -d "$(sending "$whom" '"templateName":"hello"')"
        assert_error 403 FORBIDDEN 'blocked on this line'
        api POST /v2/templates/hello/test-send -d "$(sending "$whom")"
        assert_error 403 FORBIDDEN 'blocked on this line'
    done
    assert_nothing_sent
}

@test "5xx and transport failures of a send are 502, and it is never sent twice" {
    local failure
    for failure in '"status":500,"code":131000' '"status":503,"code":2' '"status":502,"kind":"html"' \
        '"kind":"garbage"' '"kind":"reset"' '"kind":"reset_before"' '"kind":"truncate","bytes":30'; do
        printf 'case: %s\n' "$failure"
        have_templates "$(template hello)"
        forget_sent
        fault "{$failure}"
        api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"hello"')"
        assert_error 502 INTERNAL_ERROR
        (($(sent_count) <= 1)) || fail 'it was sent again'
    done
}

# --- the fields (spec 4.4) ---

# A send with MEMBERS is refused with issues for the paths EXPECTED, which are sorted and separated by
# commas: refused PATH MEMBERS EXPECTED
refused() {
    printf 'case: %s %s\n' "$1" "$2"
    api POST "$1" -d "$(sending "$2")"
    assert_error 400 VALIDATION_ERROR
    assert_equal "$(gojq -r '[.details[].path] | sort | join(",")' "$body")" "$3"
}

# bats test_tags=direct,long
@test "every field of the wrong type is an issue, and all issues are reported together" {
    local value fields=contextMessageWamid,language,recipient
    for value in 5 null true '[]' '{}'; do
        local all="\"to\":$value,\"recipient\":$value,\"language\":$value,\"contextMessageWamid\":$value"
        refused /v2/templates/send "$all,\"templateName\":$value,\"components\":7" \
            "components,$fields,templateName,to"
        refused /v2/templates/hello/test-send "$all,\"templateName\":$value,\"components\":7" \
            "components,$fields,to"
    done
    assert_issue to 'must be a string, not object'
    assert_issue components 'must be an array, not number'
    for value in null '"[]"' '{}'; do
        refused /v2/templates/send "\"to\":\"$PHONE\",\"templateName\":\"hello\",\"components\":$value" \
            components
    done
    assert_nothing_sent
}

# bats test_tags=direct
@test "required fields must be present, and no string may be empty" {
    refused /v2/templates/send '"components":[]' templateName,to
    assert_issue templateName 'is required'
    assert_issue to 'must be sent, or recipient instead'
    refused /v2/templates/hello/test-send '"components":[]' to
    local empty='"to":"","recipient":"","language":"","contextMessageWamid":""'
    refused /v2/templates/send "$empty,\"templateName\":\"\"" \
        contextMessageWamid,language,recipient,templateName,to
    assert_issue templateName 'must not be empty'
    refused /v2/templates/hello/test-send "$empty" contextMessageWamid,language,recipient,to
    assert_nothing_sent
}

# bats test_tags=direct
@test "to is a phone of 5 to 20 digits and recipient a BSUID" {
    local path
    for path in /v2/templates/send /v2/templates/hello/test-send; do
        refused $path '"templateName":"hello","to":"12 34","recipient":"us.1"' recipient,to
        refused $path "\"templateName\":\"hello\",\"to\":\"$BSUID\",\"recipient\":\"US.a_b\"" recipient,to
        assert_issue to 'send it as recipient'
    done
    assert_nothing_sent
}

@test "phoneNumberId is checked first: missing is 400, of another user 403" {
    make_user STRANGER_
    local path
    for path in /v2/templates/send /v2/templates/hello/test-send; do
        api POST $path -d '{"to":5}'
        assert_error 400 VALIDATION_ERROR phoneNumberId
        assert_that '[.details[].path] == ["phoneNumberId"]'
        api POST $path -d '{"phoneNumberId":7}'
        assert_error 400 VALIDATION_ERROR phoneNumberId
        api POST $path -d "{\"phoneNumberId\":\"$STRANGER_LINE\",\"to\":5}"
        assert_error 403 FORBIDDEN
    done
    assert_nothing_sent
}

# bats test_tags=direct
@test "a body that is not a JSON object is 400" {
    local text
    for text in '' '{' '[]' '"x"' '{"a":1}x'; do
        api POST /v2/templates/send -d "$text"
        assert_error 400 VALIDATION_ERROR
    done
    api POST /v2/templates/send -H 'Content-Type: text/plain' -d '{}'
    assert_error 415 VALIDATION_ERROR application/json
    assert_nothing_sent
}

# --- POST /v2/templates/:name/test-send ---

@test "test-send reads the name from the path and otherwise behaves like send" {
    have_templates "$(template hello)" "$(template 'café "1"' de)"
    api POST /v2/templates/hello/test-send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":7')"
    assert_success
    assert_sent_to "$LINE/messages"
    assert_sent "$(upstream_send hello en_US)"
    platform_answers 200 '{"messages":[{"id":"wamid.test.send"}]}'
    api POST '/v2/templates/caf%C3%A9%20%221%22/test-send' \
        -d "$(sending "\"to\":\"$PHONE\"" '"language":"de"' '"components":[ ]')"
    assert_success
    assert_sent "$(upstream_send 'café \"1\"' de ',"components":[ ]')"
}

@test "an Idempotency-Key of test-send is 422 for another template, and for send" {
    local key="key-$RANDOM$RANDOM"
    have_templates "$(template hello)" "$(template bye)"
    api POST /v2/templates/hello/test-send -d "$(sending "\"to\":\"$PHONE\"")" -H "Idempotency-Key: $key"
    assert_success
    api POST /v2/templates/bye/test-send -d "$(sending "\"to\":\"$PHONE\"")" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another route, POST /v2/templates/hello/test-send'
    api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"hello"')" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another route, POST /v2/templates/hello/test-send'
    assert_equal "$(sent_count path=/messages)" 1
}

@test "handling=strict checks query and body, but not inside of components (RFC 7240)" {
    have_templates "$(template hello)"
    api GET '/v2/templates?limit=5&serach=x&limit=7' -H 'Prefer: handling=strict'
    assert_error 400 VALIDATION_ERROR 'serach is not a query parameter of this request.'
    assert_header Preference-Applied handling=strict
    assert_json .details '[{"path":"serach","code":"unknown_field","message":"is not a query parameter of this request"}]'
    api GET '/v2/templates?limit=5&serach=x&limit=7'
    assert_success
    refute_header Preference-Applied
    api GET '/v2/templates?limit=5' -H 'Prefer: handling=strict'
    assert_success
    assert_header Preference-Applied handling=strict
    api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"hello"' '"components":[{"type":"body","parameters":[],"any":{"thing":1}}]')" \
        -H 'Prefer: handling=strict'
    assert_sent_to "$LINE/messages"
    assert_header Preference-Applied handling=strict
    api POST /v2/templates/send -d "$(sending "\"to\":\"$PHONE\"" '"templateName":"hello"' '"params":[]' '"component":[]')" \
        -H 'Prefer: handling=strict'
    assert_error 400 VALIDATION_ERROR
    assert_json '[.details[] | "\(.path):\(.code)"]' '["params:unknown_field","component:unknown_field"]'
    assert_equal "$(sent_count path=/messages)" 1
}

# bats test_tags=direct
@test "a template named send can be test-sent" {
    have_templates "$(template send)"
    api POST /v2/templates/send/test-send -d "$(sending "\"to\":\"$PHONE\"")"
    assert_success
    assert_sent "$(upstream_send send en_US)"
}

@test "test-send with a name that is empty, too long or not UTF-8 is 404, and nothing is sent" {
    local name
    for name in "$(printf 'n%.0s' {1..513})" %FF; do
        api POST "/v2/templates/$name/test-send" -d "$(sending "\"to\":\"$PHONE\"")"
        assert_error 404 NOT_FOUND 'Template not found'
    done
    api POST /v2/templates//test-send -d "$(sending "\"to\":\"$PHONE\"")"
    assert_error 404 NOT_FOUND
    assert_nothing_sent
}

@test "a list is answered even if its templates cannot be stored" {
    have_templates '{"name":"form","components":[{"type":"BODY","text":"x"},{"type":"BUTTONS","buttons":[
        {"type":"FLOW","text":"Go","flow_id":"4100"}]}],"language":"en_US","status":"APPROVED","id":"78"}'
    refuse_rows template
    api GET /v2/templates
    accept_rows template
    assert_success
    assert_equal "$(names)" form
    grep -q 'made to fail' "$LOG" || fail 'expected the reason in the log'
}

# bats test_tags=direct
@test "the default account may be another than the one created first (spec 2.2)" {
    make_user LATER_
    make_account LATER_ --default
    request GET /v2/templates --as "$LATER_TOKEN"
    assert_success
    assert_sent_to "$LATER_WABA/message_templates"
}

# --- fields and reported ---

# bats test_tags=direct
@test "fields is passed on, and names of other nodes and braces are refused" {
    have_templates "$(template hello)"
    api GET '/v2/templates?fields=name,status,quality_score'
    assert_success
    assert_that '.data.items == [{"name":"hello","status":"APPROVED","id":"7hello"}]'
    assert_equal "$(query_sent)" fields=name%2Cstatus%2Cquality_score
    api GET '/v2/templates?fields=name&search=hel&limit=7'
    assert_success
    assert_equal "$(names)" hello
    forget_sent
    api GET '/v2/templates?fields=status&search=hel'
    assert_error 400 VALIDATION_ERROR 'must have name'
    api GET '/v2/templates?fields=name,owner_business'
    assert_error 400 VALIDATION_ERROR owner_business
    api GET '/v2/templates?fields=name,components%7Bid%7D'
    assert_error 400 VALIDATION_ERROR braces
    assert_nothing_sent
}

# bats test_tags=direct
@test "reported adds what webhooks have reported about the templates of the page, and nothing of another id" {
    have_templates "$(template hello)" "$(template menu de)" "$(template silent)" "$(template other)"
    db "INSERT INTO template (account_id, name, language, template_id, status, category, reason, quality, status_at, quality_at, updated_at)
        VALUES ('$ACCOUNT', 'hello', 'en_US', '7hello', 'REJECTED', 'UTILITY', 'SCAM', NULL, 1780000200000, NULL, 1),
            ('$ACCOUNT', 'menu', 'de', NULL, NULL, NULL, NULL, 'RED', NULL, 1780000100000, 1),
            ('$ACCOUNT', 'menu', 'fr', '8', 'PAUSED', NULL, NULL, NULL, 1, NULL, 1),
            ('$ACCOUNT', 'silent', 'en_US', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1),
            ('$ACCOUNT', 'other', 'en_US', '6', 'PAUSED', NULL, NULL, NULL, 1, NULL, 1)"
    api GET '/v2/templates?reported=true'
    assert_success
    assert_json .data.reported '[
        {"name":"hello","language":"en_US","category":"UTILITY","status":"REJECTED","reason":"SCAM",
            "statusAt":"2026-05-28T20:30:00.000Z","quality":null,"qualityAt":null},
        {"name":"menu","language":"de","category":null,"status":null,"reason":null,"statusAt":null,
            "quality":"RED","qualityAt":"2026-05-28T20:28:20.000Z"}]'
    api GET '/v2/templates?reported=true&fields=name,status'
    assert_error 400 VALIDATION_ERROR 'fields must have name and language'
    api GET '/v2/templates?reported=false'
    assert_that '.data | has("reported") | not'
    db "DELETE FROM template WHERE account_id = '$ACCOUNT'"
}

# --- create, edit, delete, unpause ---

# A body of a new template whose bytes change when it is parsed and printed.
odd_new() {
    printf '%s' '{ "name" : "tea_time", "language":"en_US","category":"UTILITY","other":1.50,' \
        '"components":[{"type":"BODY","text":"\u0054ea \/ \ud83c\udf75 at {{1}} today",' \
        '"example":{"body_text":[["five"]]}}] }'
}

last_trail() {
    db "SELECT action, object_id, details FROM trail ORDER BY id DESC LIMIT 1"
}

@test "a new template is passed on byte for byte, and so is the answer" {
    have_templates
    api POST /v2/templates -d "$(odd_new)"
    assert_success
    assert_sent_to "$WABA/message_templates"
    assert_sent "$(odd_new)"
    assert_equal "$(token_sent)" "Bearer $PLATFORM_TOKEN"
    assert_that '.data | .status == "PENDING" and .category == "UTILITY" and (.id | type == "string")'
    assert_equal "$(last_trail)" \
        "template.create|$(gojq -r .data.id "$body")|{\"fields\":[\"name\",\"language\",\"category\",\"components\"]}"
    platform_answers 200 '{ "id":"7\u0030", "status":"APPROVED","more":1e400 }'
    api POST /v2/templates -d "$(odd_new)"
    assert_body_is '{"success":true,"data":{ "id":"7\u0030", "status":"APPROVED","more":1e400 }}'
}

# bats test_tags=direct
@test "phoneNumberId and accountId select the account of a new template" {
    make_second_account
    api POST "/v2/templates?accountId=$SECOND_ACCOUNT" -d "$(odd_new)"
    assert_success
    assert_sent_to "$SECOND_WABA/message_templates"
    assert_equal "$(token_sent)" "Bearer $SECOND_PLATFORM_TOKEN"
}

# bats test_tags=direct
@test "only the types of a template's members are checked, and nothing is sent then" {
    api POST /v2/templates -d '{"name":5,"components":{}}'
    assert_error 400 VALIDATION_ERROR
    assert_json '[.details[].path] | sort' '["category","components","language","name"]'
    api PATCH /v2/templates/hello -d '{"category":1}'
    assert_error 400 VALIDATION_ERROR category
    assert_nothing_sent
    api POST /v2/templates -d '{"name":"NOT A NAME","language":"xx","category":"TEA","components":[5]}'
    assert_error 400 VALIDATION_ERROR
    assert_equal "$(sent_count path=/message_templates)" 1
}

# bats test_tags=direct,long
@test "an error of the platform keeps its subcode and texts, and has a hint" {
    local subcode hint before
    before=$(db 'SELECT count(*) FROM trail')
    while read -r subcode hint; do
        printf 'case: %s\n' "$subcode"
        local error="{\"error\":{\"message\":\"Invalid parameter\",\"type\":\"OAuthException\",\"code\":100,\"error_subcode\":$subcode,\"is_transient\":false,\"error_user_title\":\"T\\u00e4\",\"error_user_msg\":\"M\\/\",\"fbtrace_id\":\"A\"}}"
        platform_answers 400 "$error"
        api POST /v2/templates -d "$(odd_new)"
        assert_error 400 VALIDATION_ERROR "Invalid parameter. $hint"
        [[ $(<"$body") == *"\"details\":$error}" ]] || fail_answer 'expected the bytes of the platform'
    done <<'END'
2388003 Only a template that is approved
2388019 The business account has the largest number
2388023 The name was deleted a short time ago
2388024 The name has this language already
2388040 A text is too long
2388042 The name may have lower-case
2388043 A component lacks a member
2388047 The header
2388072 The body
2388073 The footer
2388293 The body has too many variables
2388299 A text may not begin or end
2593002 No template has this name
END
    platform_answers 400 '{"error":{"message":"(#80008) Too many calls","code":80008}}'
    api POST /v2/templates -d "$(odd_new)"
    assert_error 400 VALIDATION_ERROR 'wait an hour'
    platform_answers 400 '{"error":{"message":"Odd","code":100,"error_subcode":1}}'
    api POST /v2/templates -d "$(odd_new)"
    assert_that '.message == "Odd"'
    assert_equal "$(db 'SELECT count(*) FROM trail')" "$before"
}

@test "a change whose answer is lost is 502, and says that its outcome is not known" {
    local method path
    write_config 'graph_destructive = yes'
    while read -r method path; do
        printf 'case: %s %s\n' "$method" "$path"
        have_templates "$(template menu)"
        forget_sent
        fault "{\"match\":{\"method\":\"${method/PATCH/POST}\"},\"kind\":\"reset\"}"
        api "$method" "$path" -d "$(odd_new)"
        assert_error 502 INTERNAL_ERROR 'whether it did what was asked is not known'
        assert_equal "$(sent_count "method=${method/PATCH/POST}")" 1
    done <<'END'
POST /v2/templates
PATCH /v2/templates/menu
DELETE /v2/templates/menu
POST /v2/templates/menu/unpause
END
    write_config
}

@test "an edit finds the template by name and language, and is passed on byte for byte" {
    have_templates "$(template menu)" "$(template menu de)" "$(template menu_card)"
    local edit='{ "components" : [{"type":"BODY","text":"T\u0065a \/"}] }'
    api PATCH '/v2/templates/menu?language=de' -d "$edit"
    assert_success
    assert_body_is '{"success":true,"data":{"success":true}}'
    assert_sent_to 7menude
    assert_sent "$edit"
    assert_equal "$(last_trail)" 'template.update|7menude|{"fields":["components"]}'
    api PATCH /v2/templates/menu_card -d "$edit"
    assert_success
    assert_sent_to 7menu_card
    forget_sent
    api PATCH /v2/templates/menu -d "$edit"
    assert_error 409 VALIDATION_ERROR 'name one in the parameter language'
    assert_json .details '{"languages":["en_US","de"]}'
    api PATCH '/v2/templates/menu?language=fr' -d "$edit"
    assert_error 404 NOT_FOUND 'Template not found'
    api PATCH /v2/templates/men -d "$edit"
    assert_error 404 NOT_FOUND 'Template not found'
    assert_equal "$(sent_count method=POST)" 0
}

# bats test_tags=direct
@test "an edit finds a template on a later page" {
    local page='{"data":[{"name":"far_1","language":"de","id":"1"}],"paging":{"cursors":{"after":"X"},"next":"https://x/?after=X"}}'
    have_templates "$(template far)"
    platform_answers 200 "$page"
    platform_answers 200 "{\"data\":[$(template far)]}"
    api PATCH /v2/templates/far -d '{"category":"MARKETING"}'
    assert_success
    assert_sent_to 7far
    assert_equal "$(sandbox GET 'requests?method=GET' | gojq -r '.[].query')" \
        $'fields=id,name,language&name=far&limit=100\nfields=id,name,language&name=far&limit=100&after=X'
}

@test "a template that is not approved, rejected or paused is refused by the platform, with a hint" {
    have_templates "$(template menu | sed s/APPROVED/PENDING/)"
    api PATCH /v2/templates/menu -d '{"category":"MARKETING"}'
    assert_error 400 VALIDATION_ERROR 'can be edited'
    assert_that '.details.error.error_subcode == 2388003'
}

@test "a template is deleted in one language or in all, if the operator lets destructive calls pass" {
    have_templates "$(template menu)" "$(template menu de)" "$(template tea)" "$(template tea de)"
    api DELETE /v2/templates/menu
    assert_error 403 FORBIDDEN graph_destructive
    assert_nothing_sent
    write_config 'graph_destructive = yes'
    api DELETE '/v2/templates/menu?language=de'
    assert_success
    assert_sent_to "$WABA/message_templates"
    assert_equal "$(query_sent)" 'hsm_id=7menude&name=menu'
    assert_equal "$(last_trail)" 'template.delete|7menude|{}'
    api DELETE /v2/templates/tea
    assert_body_is '{"success":true,"data":{"success":true}}'
    assert_equal "$(query_sent)" name=tea
    assert_equal "$(last_trail)" 'template.delete|tea|{}'
    api GET /v2/templates
    assert_equal "$(names)" menu
    api DELETE /v2/templates/tea
    assert_error 404 NOT_FOUND 'Template not found'
    api DELETE '/v2/templates/menu?language=de'
    assert_error 404 NOT_FOUND 'Template not found'
    api DELETE "/v2/templates/$(printf 'n%.0s' {1..513})"
    assert_error 404 NOT_FOUND 'Template not found'
    write_config
}

@test "a paused template is unpaused" {
    have_templates "$(template menu | sed s/APPROVED/PAUSED/)"
    api POST '/v2/templates/menu/unpause?language=en_US'
    assert_success
    assert_sent_to 7menu/unpause
    assert_sent ''
    assert_equal "$(last_trail)" 'template.unpause|7menu|{}'
    api GET /v2/templates/menu
    assert_that '.data.status == "APPROVED"'
    api POST /v2/templates/menu/unpause
    assert_error 400 VALIDATION_ERROR PAUSED
    api POST '/v2/templates/menu/unpause?language=de'
    assert_error 404 NOT_FOUND 'Template not found'
    have_templates "$(template menu)" "$(template menu de)"
    api POST /v2/templates/menu/unpause
    assert_error 409 VALIDATION_ERROR 'name one in the parameter language'
}

# --- POST /v2/templates/sample ---

# Prints the requests of the platform since forget_sent: method, path and Authorization scheme.
calls_sent() {
    sandbox GET requests | jq -r '.[] | [.method, (.path | sub("upload:.*"; "upload:")),
        (.headers.authorization | split(" ")[0])] | join(" ")'
}

# bats test_tags=long
@test "a sample is uploaded by a session of the account's application, and its handle is taken" {
    local file=$BATS_TEST_TMPDIR/room.png handle BOUNDARY=----x1 form=$BATS_TEST_TMPDIR/form
    head -c 70000 /dev/urandom >"$file"
    api POST /v2/templates/sample -H 'Content-Type: image/png' -H 'X-Filename: room & more.png' \
        -d "@$file"
    assert_success
    assert_that '.data | keys == ["handle"] and (.handle | startswith("4::aW1hZ2UvcG5n:"))'
    handle=$(gojq -r .data.handle "$body")
    assert_equal "$(calls_sent)" "$(printf '%s\n' 'GET /v26.0/app Bearer' \
        'POST /v26.0/730000000000001/uploads Bearer' 'POST /v26.0/upload: OAuth')"
    assert_equal "$(sandbox GET requests | jq -r '.[1].query')" \
        'file_name=room%20%26%20more.png&file_length=70000&file_type=image%2Fpng'
    assert_equal "$(sandbox GET requests/last | jq -r '.headers | .["file_offset"], .["content-type"]')" \
        "$(printf '0\napplication/octet-stream')"
    sandbox GET requests/last/body | cmp - "$file"
    # as a form, with the type of the file's name; larger than any JSON body may be
    head -c 3000000 /dev/urandom >"$file"
    { printf -- '--%s\r\nContent-Disposition: form-data; name="file"; filename="a.JPG"\r\n' "$BOUNDARY"
        printf 'Content-Type: application/octet-stream\r\n\r\n'
        cat "$file"
        printf -- '\r\n--%s--\r\n' "$BOUNDARY"; } >"$form"
    api POST /v2/templates/sample -H "Content-Type: multipart/form-data; boundary=$BOUNDARY" -d "@$form"
    assert_success
    assert_that '.data.handle | startswith("4::aW1hZ2UvanBlZw==:")'
    sandbox GET requests/last/body | cmp - "$file"
    # the template has it
    have_templates
    api POST /v2/templates -d "{\"name\":\"room\",\"language\":\"en_US\",\"category\":\"MARKETING\",\"components\":[{\"type\":\"HEADER\",\"format\":\"IMAGE\",\"example\":{\"header_handle\":[\"$handle\"]}},{\"type\":\"BODY\",\"text\":\"A room\"}]}"
    assert_success
}

@test "a sample is refused without a file, without a known type, and as the platform refuses it" {
    api POST /v2/templates/sample -H 'Content-Type: image/png' -d ''
    assert_error 400 VALIDATION_ERROR
    assert_json '[.details[] | [.path, .code]]' '[["file","empty"]]'
    api POST /v2/templates/sample -H 'Content-Type: application/octet-stream' -d x
    assert_error 400 VALIDATION_ERROR 'send a Content-Type such as image/jpeg'
    api POST /v2/templates/sample -H 'Content-Type: image/png' -H 'X-Upload-Type: nonsense' -d x
    assert_error 400 VALIDATION_ERROR 'must be a MIME type'
    assert_nothing_sent
    api POST /v2/templates/sample -H 'Content-Type: text/html' -d x
    assert_error 400 VALIDATION_ERROR 'not an allowed type: text/html'
    assert_that '.details.error.code == 100'
    api POST "/v2/templates/sample?accountId=acc_other" -H 'Content-Type: image/png' -d x
    assert_error 403 FORBIDDEN
}

@test "a sample fails as the platform does: without a session, without a handle, without an answer" {
    fault '{"match":{"path":"/v26.0/app"},"status":200,"body":"{}"}'
    api POST /v2/templates/sample -H 'Content-Type: image/png' -d x
    assert_error 502 INTERNAL_ERROR 'has no id'
    fault '{"match":{"path":"/v26.0/730000000000001/uploads"},"status":200,"body":"{\"id\":\"7001\"}"}'
    api POST /v2/templates/sample -H 'Content-Type: image/png' -d x
    assert_error 502 INTERNAL_ERROR 'names no upload session'
    fault '{"match":{"path":"/v26.0/730000000000001/uploads"},"status":500,"body":"{\"error\":{\"message\":\"down\",\"code\":2}}"}'
    api POST /v2/templates/sample -H 'Content-Type: image/png' -d x
    assert_error 502 INTERNAL_ERROR down
}

# bats test_tags=direct
@test "a sample that breaks off is refused, and the platform gets no whole file" {
    api POST /v2/templates/sample -H 'Content-Type: image/png' -H 'Content-Length: 20' -d 'cut off'
    assert_error 400 VALIDATION_ERROR 'has not the 20 bytes that Content-Length announced'
    # the gateway may have seen the end before it began to send the file
    assert_equal "$(sandbox GET requests | jq '[.[] | select(.complete and .headers.file_offset)]')" '[]'
}

# bats test_tags=direct
@test "a sample without a length, beyond the limit or with a coding is refused, and nothing is sent" {
    local sample=(POST /v2/templates/sample -H 'Content-Type: image/png' -d x)
    api "${sample[@]}" -H 'Transfer-Encoding: chunked'
    assert_error 411 VALIDATION_ERROR Content-Length
    api "${sample[@]}" -H 'Content-Length: 104857601'
    assert_error 413 VALIDATION_ERROR '104857600 bytes'
    api "${sample[@]}" -H 'Content-Encoding: gzip'
    assert_error 415 VALIDATION_ERROR Content-Encoding
    assert_nothing_sent
}

# bats test_tags=direct
@test "a template named send or sample is edited and deleted as any other" {
    have_templates "$(template send)" "$(template sample)"
    api PATCH /v2/templates/send -d '{"category":"MARKETING"}'
    assert_sent_to 7send
    api PATCH /v2/templates/sample -d '{"category":"MARKETING"}'
    assert_sent_to 7sample
}

# --- secrets ---

# bats test_tags=direct
@test "a platform token that cannot be decrypted is 500 and logged, until it is replaced" {
    local kept
    kept=$(db "SELECT hex(access_token) FROM account WHERE id = '$ACCOUNT'")
    db "UPDATE account SET access_token = zeroblob(60) WHERE id = '$ACCOUNT'"
    api GET /v2/templates
    assert_error 500 INTERNAL_ERROR 'cannot decrypt a platform access token'
    assert_nothing_sent
    [[ $(gojq -r '.message // ""' "$LOG" | grep -F "$(header X-Request-Id)") == *"account $ACCOUNT cannot be decrypted"* ]]
    api POST /v2/templates/send -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"templateName\":\"t\"}"
    assert_error 500 INTERNAL_ERROR 'cannot decrypt a platform access token'
    assert_nothing_sent
    db "UPDATE account SET access_token = x'$kept' WHERE id = '$ACCOUNT'"
    api GET /v2/templates
    assert_success
}
