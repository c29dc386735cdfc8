#!/usr/bin/env bats
# `switchboard account check`, `doctor --online`, `line import`, `line register`: what the platform
# says about an account, at the sandbox. Each wrong set-up is found under its name, with what to do.
# transports: direct
load helpers/all
load helpers/command

APP=730000000000001

setup_file() {
    start_stack
    make_user
    write_config 'public_url = https://gateway.example'
}

# The account is set up completely, and a webhook has arrived.
setup() {
    body=$BATS_TEST_TMPDIR/stdout headers=$BATS_TEST_TMPDIR/stderr
    forget_sent
    sandbox POST settings '{"webhookUrl":"https://gateway.example/platform/webhook",
        "appSecret":"test-app-secret"}' silent
    sandbox DELETE nodes '' silent
    db "DELETE FROM usage; INSERT INTO usage (user_id, hour, line_id, measure, count)
        SELECT a.user_id, $(($(date +%s) / 3600)), l.id, 'in', 1 FROM line l
        JOIN account a ON a.id = l.account_id"
}

# Makes an account, a number, the app or a token answer with these members: answers_with ID JSON
answers_with() {
    [[ $(sandbox POST "nodes/$1" "$2") == '{"done":true}' ]]
}

# account check has a line LEVEL CHECK that contains PART, and exits accordingly, and so has
# doctor --online: finds LEVEL CHECK PART
finds() {
    local line command=("account check $ACCOUNT" 'doctor --online')
    for command in "${command[@]}"; do
        # shellcheck disable=SC2086  # a command and its arguments
        cli $command
        line=$(grep -E "^$1 +$2  " "$body" | grep -F "$ACCOUNT: ") ||
            fail_answer "expected $1 for $2"
        [[ $line == *"$3"* ]] || fail_answer "expected $2 to contain: $3"
        refute grep -qF -e "$PLATFORM_TOKEN" -e test-app-secret "$body" "$headers"
        if [[ $1 == FAIL ]]; then
            assert_equal "$status" 1
            assert_equal "$(cat "$headers")" \
                'switchboard: something is wrong; see the lines that begin with FAIL'
        fi
    done
    [[ $1 == FAIL ]] || [[ $(switchboard account check "$ACCOUNT" | grep -c ^FAIL) == 0 ]]
}

@test "an account that is set up completely has only lines that are ok, and the status is 0" {
    done_quietly account check "$ACCOUNT"
    assert_equal "$(grep -v '^ok' "$body")" ''
    local check
    for check in 'platform token' 'token expiry' 'token scopes' 'app secret' 'webhook URL' \
        'webhook fields' 'business account' 'subscribed app' "number $LINE" "line $LINE"; do
        grep -qE "^ok +$check +$ACCOUNT: " "$body" || fail_answer "expected a line of $check"
    done
    grep -q "number $LINE .*throughput is STANDARD" "$body"
    grep -q "number $LINE .*messaging limit is TIER_1K" "$body"
}

@test "--json is an array of {status, check, detail, accountId, todo}" {
    answers_with "$LINE" '{"status":"BANNED"}'
    cli account check "$ACCOUNT" --json
    assert_equal "$status" 1
    assert_that 'type == "array"
        and all(keys == ["accountId","check","detail","status","todo"])
        and all(.accountId == env.ACCOUNT)
        and (map(select(.status == "fail")) | length == 1
            and .[0].check == "number \(env.LINE)" and (.[0].todo | length > 10))
        and (map(select(.status == "ok") | .todo) | all(. == null))'
}

@test "without an id all accounts are checked, and an unknown id fails" {
    make_user OTHER_
    cli account check
    assert_equal "$(grep -c "$ACCOUNT: " "$body")" "$(switchboard account check "$ACCOUNT" | wc -l)"
    grep -q "$OTHER_ACCOUNT: " "$body"
    fails_with 'no account acc_none' account check acc_none
}

@test "a revoked token, one that ends, and one of a person are found" {
    sandbox POST tokens "{\"token\":\"$PLATFORM_TOKEN\",\"state\":\"revoked\"}" silent
    finds FAIL 'platform token' 'the platform answered 401'
    sandbox POST tokens "{\"token\":\"$PLATFORM_TOKEN\",\"state\":\"valid\"}" silent
    answers_with "$PLATFORM_TOKEN" "{\"expires_at\":$(($(date +%s) + 90000))}"
    finds warn 'token expiry' 'in 1 days: make a token of a system user'
    answers_with "$PLATFORM_TOKEN" '{"type":"USER"}'
    finds warn 'platform token' 'type is USER'
    answers_with "$PLATFORM_TOKEN" '{"is_valid":false,"error":{"message":"It was closed."}}'
    finds FAIL 'platform token' 'it is not valid: It was closed.'
}

@test "missing scopes, and scopes for another account, are found" {
    answers_with "$PLATFORM_TOKEN" '{"scopes":["whatsapp_business_messaging"]}'
    finds FAIL 'token scopes' 'whatsapp_business_management is missing'
    answers_with "$PLATFORM_TOKEN" '{"granular_scopes":[
        {"scope":"whatsapp_business_messaging","target_ids":["1"]}]}'
    finds FAIL 'token scopes' "whatsapp_business_messaging is not granted for the account $WABA"
    answers_with "$PLATFORM_TOKEN" '{"granular_scopes":[{"scope":"whatsapp_business_messaging"}]}'
    cli account check "$ACCOUNT"
    assert_equal "$status" 0
}

@test "an app_secret of another app, and none, are found" {
    sandbox POST settings '{"appSecret":"another"}' silent
    finds FAIL 'app secret' "app_secret is not that of the token's app $APP"
    write_config 'public_url = https://gateway.example' 'app_secret ='
    finds FAIL 'app secret' 'app_secret is unset: every webhook is refused'
    write_config 'public_url = https://gateway.example'
}

@test "a webhook of the app that is missing, inactive, or leads elsewhere is found" {
    answers_with $APP '{"subscriptions":{"data":[]}}'
    finds FAIL 'webhook URL' 'the app has no webhook for WhatsApp'
    answers_with $APP '{"subscriptions":{"data":[{"object":"whatsapp_business_account",
        "callback_url":"https://gateway.example/platform/webhook","active":false,"fields":[]}]}}'
    finds FAIL 'webhook URL' 'is not active'
    sandbox POST settings '{"webhookUrl":"https://other.example/hook"}' silent
    answers_with $APP '{}'
    finds FAIL 'webhook URL' \
        'to https://other.example/hook instead of https://gateway.example/platform/webhook'
}

@test "without public_url the webhook's URL is shown and not compared" {
    write_config
    finds warn 'webhook URL' 'webhooks go to https://gateway.example/platform/webhook'
    write_config 'public_url = https://gateway.example'
}

@test "fields that the app's webhook lacks are found" {
    local webhook='"object":"whatsapp_business_account","active":true,
        "callback_url":"https://gateway.example/platform/webhook"'
    answers_with $APP "{\"subscriptions\":{\"data\":[{$webhook,\"fields\":[
        {\"name\":\"account_update\",\"version\":\"v26.0\"}]}]}}"
    finds FAIL 'webhook fields' 'messages is missing'
    answers_with $APP "{\"subscriptions\":{\"data\":[{$webhook,\"fields\":[\"messages\",
        \"account_update\"]}]}}"
    finds warn 'webhook fields' 'not subscribed: message_template_status_update'
}

@test "an account that the token cannot read is found" {
    db "UPDATE account SET waba_id = '4711' WHERE id = '$ACCOUNT'"
    answers_with "$PLATFORM_TOKEN" '{"granular_scopes":[]}'
    finds FAIL 'business account' "Object with ID '4711' does not exist"
    db "UPDATE account SET waba_id = '$WABA' WHERE id = '$ACCOUNT'"
}

# bats test_tags=long
@test "an account that is rejected, blocked or not verified is found" {
    answers_with "$WABA" '{"account_review_status":"REJECTED"}'
    finds FAIL 'business account' 'account_review_status is REJECTED'
    answers_with "$WABA" '{"business_verification_status":"not_verified"}'
    finds warn 'business account' 'business_verification_status is not_verified: verify'
    answers_with "$WABA" '{"business_verification_status":"new_word"}'
    finds warn 'business account' 'business_verification_status is new_word'
    local state todo
    while read -r state todo; do
        answers_with "$WABA" "{\"business_verification_status\":\"$state\"}"
        finds warn 'business account' "business_verification_status is $state: $todo"
    done <<'END'
pending wait for the verification of the business
pending_need_more_info send what Business settings > Security centre asks for
pending_submission send what Business settings > Security centre asks for
rejected look at the reason in Business settings > Security centre, and verify the business again
failed look at the reason in Business settings > Security centre, and verify the business again
expired look at the reason in Business settings > Security centre, and verify the business again
revoked look at the reason in Business settings > Security centre, and verify the business again
END
    answers_with "$WABA" '{"health_status":{"can_send_message":"BLOCKED","entities":[
        {"entity_type":"WABA","id":"1","can_send_message":"BLOCKED","errors":[{"error_code":141006,
        "error_description":"There is no payment method.","possible_solution":"Add one."}]}]}}'
    finds FAIL 'business account' \
        'sending is BLOCKED by WABA: There is no payment method.: Add one.'
}

@test "an app that is not subscribed to the account, and another one that is, are found" {
    api_delete "$WABA/subscribed_apps"
    finds FAIL 'subscribed app' "POST /$WABA/subscribed_apps"
    answers_with "$WABA" '{"subscribed_apps":{"data":[{"whatsapp_business_api_data":{"id":"1"}}]}}'
    finds FAIL 'subscribed app' 'only other apps are subscribed'
    answers_with "$WABA" "{\"subscribed_apps\":{\"data\":[{\"whatsapp_business_api_data\":{\"id\":
        \"$APP\"},\"override_callback_uri\":\"https://old.example/hook\"}]}}"
    finds FAIL 'subscribed app' 'webhooks go to https://old.example/hook instead of the gateway'
}

# Makes a DELETE of the platform: api_delete PATH
api_delete() {
    curl -sS -X DELETE "$SANDBOX/v26.0/$1" -H "Authorization: Bearer $PLATFORM_TOKEN" \
        -H 'Content-Type: application/json' -d '{}' >/dev/null
}

# bats test_tags=long
@test "each wrong state of a number is found" {
    local member level todo
    while IFS='|' read -r level member todo; do
        answers_with "$LINE" "{$member}"
        finds "$level" "number $LINE" "$todo"
    done <<'END'
FAIL|"status":"DISCONNECTED"|status is DISCONNECTED: verify the number by a code, and register it
FAIL|"status":"BANNED"|status is BANNED
FAIL|"status":"PENDING","code_verification_status":"NOT_VERIFIED"|status is PENDING
warn|"status":"FLAGGED"|status is FLAGGED
FAIL|"name_status":"DECLINED"|name_status is DECLINED: choose another display name
FAIL|"platform_type":"ON_PREMISE"|platform_type is ON_PREMISE
FAIL|"quality_rating":"RED"|quality_rating is RED
warn|"quality_rating":"PURPLE"|quality_rating is PURPLE
FAIL|"webhook_configuration":{"phone_number":"https://x.example/"}|webhooks go to https://x.example/
END
    answers_with "$LINE" '{"health_status":{"entities":[{"entity_type":"PHONE_NUMBER",
        "can_send_message":"LIMITED","additional_info":["Wait."]}]}}'
    finds warn "number $LINE" 'sending is LIMITED by PHONE_NUMBER: Wait.'
    answers_with "$LINE" '{"status":"PENDING","code_verification_status":"NOT_VERIFIED"}'
    cli account check "$ACCOUNT"
    grep -q 'code_verification_status is NOT_VERIFIED: POST /PHONE_NUMBER_ID/request_code' "$body"
}

@test "a number without line, a line without number, and a line without webhooks are found" {
    db "UPDATE line SET phone_number_id = '4712' WHERE phone_number_id = '$LINE'"
    cli account check "$ACCOUNT"
    grep -qE "^warn +number $LINE +$ACCOUNT: .* is no line of the gateway" "$body"
    grep -qE "^FAIL +line 4712 +$ACCOUNT: the platform's account $WABA has no such number" "$body"
    db "UPDATE line SET phone_number_id = '$LINE' WHERE phone_number_id = '4712'; DELETE FROM usage"
    finds warn "line $LINE" 'no webhook was stored in the last 7 days: write a WhatsApp message'
}

@test "a platform that does not answer, or answers otherwise, is said once" {
    fault '{"kind":"reset_before","times":0}'
    cli account check "$ACCOUNT"
    assert_equal "$status" 1
    assert_equal "$(grep -c '^FAIL' "$body")" 1
    grep -qE "^FAIL +platform +$ACCOUNT: the platform did not answer: " "$body"
    forget_sent
    platform_answers 200 '[]'
    finds_once FAIL 'platform token' 'it is not valid'
    platform_answers 500 'oh'
    finds_once FAIL platform 'the platform answered 500: no JSON'
}

# As finds, for the next answer of the platform: finds_once LEVEL CHECK PART
finds_once() {
    cli account check "$ACCOUNT"
    grep -E "^$1 +$2 " "$body" | grep -qF -e "$3" || fail_answer "expected $1 $2: $3"
}

@test "no row has the token, even if the platform repeats it" {
    platform_answers 400 \
        "{\"error\":{\"code\":190,\"message\":\"Malformed access token $PLATFORM_TOKEN\"}}"
    finds_once FAIL 'platform token' 'a text with the token'
    refute grep -qF "$PLATFORM_TOKEN" "$body"
}

@test "an account without token, and a token that does not open, are found" {
    local id
    id=$(switchboard account add "$EMAIL" --waba-id 77001 --name Bare </dev/null 2>/dev/null)
    cli account check "$id"
    assert_equal "$status" 1
    grep -qE "^FAIL +platform token +$id: there is none: .switchboard account token $id. sets one" \
        "$body"
    db "UPDATE account SET access_token = x'01020304' WHERE id = '$id'"
    cli account check "$id"
    grep -qE "^FAIL +platform token +$id: it does not open with the key file" "$body"
    db "DELETE FROM account WHERE id = '$id'"
}

# --- line import ---

# Sets the numbers of the account at the platform: numbers ID DIGITS [ID DIGITS]...
numbers() {
    local list=''
    while (($#)); do
        list+="{\"id\":\"$1\",\"displayNumber\":\"$2\"},"
        shift 2
    done
    sandbox POST accounts "{\"wabaId\":\"$WABA\",\"phones\":[${list%,}]}" silent
}

@test "line import adds the numbers of the platform, and a repetition keeps them" {
    local before
    numbers "$LINE" 15550007000 88001 15550007001 88002 4930123456
    answers_with 88002 '{"status":"PENDING","is_on_biz_app":true}'
    before=$(switchboard line list | grep "^$LINE " | xargs)
    done_quietly line import "$ACCOUNT"
    assert_equal "$(awk '{ print $1, $2 }' "$body" | xargs)" \
        "OUTCOME PHONE kept $LINE added 88001 added 88002"
    list_as_json line list --account "$ACCOUNT"
    assert_json 'map(select(.phoneNumberId[:3] == "880")
        | [.phoneNumberId, .phoneNumber, .isRegistered, .isCoexisting, .platformType,
            .isPrimary])' \
        '[["88001","+15550007001",true,false,"CLOUD_API",false],
        ["88002","+4930123456",false,true,"CLOUD_API",false]]'
    assert_equal "$(switchboard line list | grep "^$LINE " | xargs)" "$before"
    list_as_json line import "$ACCOUNT"
    assert_json 'map([.outcome, .phoneNumberId, .phoneNumber, .reason])' \
        "[[\"kept\",\"$LINE\",\"+15550007000\",null],[\"kept\",\"88001\",\"+15550007001\",null],
        [\"kept\",\"88002\",\"+4930123456\",null]]"
}

@test "line import keeps an archived line archived, and refuses a line of another account" {
    make_user THIRD_
    switchboard line archive 88001 >/dev/null
    numbers "$LINE" 15550007000 88001 15550007001 "$THIRD_LINE" 15550007009
    cli line import "$ACCOUNT" --json
    assert_equal "$status" 1
    assert_json 'map([.outcome, .phoneNumberId])' \
        "[[\"kept\",\"$LINE\"],[\"kept\",\"88001\"],[\"refused\",\"$THIRD_LINE\"]]"
    assert_that '(.[1].reason | test("archived")) and (.[2].reason | test("another account"))'
    list_as_json line list --account "$ACCOUNT"
    assert_json 'map(select(.phoneNumberId == "88001").isArchived)' '[true]'
}

@test "a line that another command adds during the import is kept" {
    numbers 88021 15550007021
    hold_answer
    switchboard line import "$ACCOUNT" >"$BATS_TEST_TMPDIR/import" 3>&- &
    eventually something_sent
    switchboard line add "$ACCOUNT" --phone-number-id 88021 --number +15550007021 >/dev/null
    answer_now
    wait $!
    assert_equal "$(sed 1d "$BATS_TEST_TMPDIR/import" | awk '{ print $1, $2 }')" 'kept 88021'
}

@test "without any account there is nothing to check, which is said" {
    local empty=$BATS_TEST_TMPDIR/empty DB
    mkdir -m 700 "$empty"
    DB=$empty/switchboard.db
    only_on_sqlite 'the database of the test is another file'
    sed "s|^database = .*|database = $DB|" "$SWITCHBOARD_CONFIG" >"$empty/conf"
    switchboard init --config "$empty/conf" >/dev/null
    fails_with 'there is no business account' account check --config "$empty/conf"
    cli doctor --online --config "$empty/conf"
    grep -qE '^warn +accounts +there is none' "$body"
}

@test "line import fails where the platform lists nothing" {
    fails_with 'no account acc_none' line import acc_none
    sandbox POST accounts "{\"wabaId\":\"$WABA\",\"phones\":[]}" silent
    fails_with "the platform's account has no number" line import "$ACCOUNT"
    fault '{"code":190}'
    fails_with 'the platform answered 401' line import "$ACCOUNT"
    fault '{"kind":"reset_before"}'
    fault '{"kind":"reset_before"}'
    fails_with 'the platform could not be reached' line import "$ACCOUNT"
}

# --- line register ---

@test "line register sends the PIN of standard input to the platform and marks the line" {
    numbers "$LINE" 15550007000
    db "UPDATE line SET archived_at = 1 WHERE phone_number_id LIKE '880%'"
    db "UPDATE line SET is_registered = 0, platform_type = 'NOT_APPLICABLE'
        WHERE phone_number_id = '$LINE'"
    graph_post "$LINE/deregister"
    forget_sent
    done_quietly line register "$LINE" <<<' 123456'
    assert_equal "$(cat "$body")" "registered line $LINE"
    assert_sent_json . '{"messaging_product":"whatsapp","pin":"123456"}' path=/register
    list_as_json line list --account "$ACCOUNT"
    assert_json "map(select(.phoneNumberId == \"$LINE\") | [.isRegistered, .platformType])" \
        '[[true,"CLOUD_API"]]'
    done_quietly account check "$ACCOUNT"
    # once more is harmless
    cli line register "$LINE" --json <<<123456
    assert_json . "{\"phoneNumberId\":\"$LINE\",\"isRegistered\":true}"
}

# Posts to the platform with the account's token: graph_post PATH
graph_post() {
    curl -sSf -X POST -d '' -H "Authorization: Bearer $PLATFORM_TOKEN" "$SANDBOX/v26.0/$1" \
        >/dev/null
}

@test "line register names each refusal of the platform with what to do, and keeps the line as it is" {
    local code todo
    numbers "$LINE" 15550007000
    switchboard line register "$LINE" <<<123456 >/dev/null
    db "UPDATE line SET is_registered = 0 WHERE phone_number_id = '$LINE'"
    fails_with 'PIN Mismatch; give the PIN that the number has' line register "$LINE" <<<654321
    graph_post "$LINE/request_code?code_method=SMS&language=en_US"
    fails_with 'verify the number by a code first' line register "$LINE" <<<123456
    while read -r code todo; do
        fault "{\"code\":$code}"
        fails_with "; $todo" line register "$LINE" <<<123456
        refute grep -q 123456 "$headers"
    done <<'END'
133000 deregister the number at the platform
133008 too many wrong PINs
133009 PINs came too fast
133015 the number was deleted a short time ago
133016 ten attempts in 72 hours
END
    fault '{"code":190}'
    fails_with 'the platform answered 401' line register "$LINE" <<<123456
    fault '{"kind":"reset_before"}'
    fault '{"kind":"reset_before"}'
    fails_with 'the platform could not be reached' line register "$LINE" <<<123456
    assert_equal "$(db "SELECT is_registered FROM line WHERE phone_number_id = '$LINE'")" 0
}

@test "line register takes no PIN of another form, and no line that is not there" {
    local pin
    for pin in '' 12345 1234567 12345x '１２３４５６' $'123456\n123456'; do
        fails_with 'the PIN on standard input must be six digits' line register "$LINE" <<<"$pin"
    done
    fails_with 'no line 990000000' line register 990000000 <<<123456
    switchboard line archive "$LINE" >/dev/null
    fails_with "no line $LINE is in use" line register "$LINE" <<<123456
    usage_error 'one word too many' line register "$LINE" 123456
    assert_nothing_sent
}
