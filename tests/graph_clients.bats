#!/usr/bin/env bats
# Unmodified libraries of the WhatsApp Cloud API against the Graph routes: tests/graph_clients has
# one program for each, which calls every function of its library, and what each call must return.
# They reach the gateway over TLS, through a server that records what they send and receive.
# transports: cgi fcgi
# needs: node
# bats file_tags=long
load helpers/all
load helpers/webhook
load helpers/courier
load helpers/front

# The libraries run once for all tests.
setup_file() {
    start_stack
    make_user
    make_user OTHER_
    put FLOW 410000000000077
    start_front "${BASE##*:}"
    configure
    fill_platform
    make_contacts
    sandbox DELETE requests
    run_library kapso "BASE_URL=$FRONT_URL"
    run_library cloudapi "BASE_URL=$FRONT_URL"
    run_library apijs "BASE_URL=$FRONT_URL"
    run_library meta WA_BASE_URL=api.example.org
    sandbox GET requests >"$FRONT/platform.requests"
    cp "$FRONT/exchanges.front" "$FRONT/exchanges.all"
}

teardown_file() {
    stop_front
    stop_receiver_of_libraries
    stop_stack
}

configure() { # [LINE-OF-CONFIGURATION...]
    write_config "public_url = $FRONT_URL" "$@"
}

# Five templates, a flow, users who may be blocked, and a number whose sends the platform refuses
# for a while.
fill_platform() {
    sandbox POST settings '{"serviceWindow":false}' >/dev/null
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,
        \"generate\":{\"count\":4,\"prefix\":\"page_\"},
        \"items\":[{\"name\":\"order_ready\",\"components\":[
            {\"type\":\"BODY\",\"text\":\"Order {{1}} is ready\"}],\"language\":\"en_US\",
            \"status\":\"APPROVED\",\"category\":\"UTILITY\",\"id\":\"7004\"}]}" >/dev/null
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"replace\":true,
        \"items\":[{\"id\":\"$FLOW\",\"name\":\"Feedback\",\"status\":\"PUBLISHED\",
            \"categories\":[\"OTHER\"],\"validation_errors\":[]}]}" >/dev/null
    fault '{"match":{"recipient":"15551239999"},"status":429,"code":130429,
        "message":"(#130429) Rate limit hit","headers":{"Retry-After":"7"},"times":0}'
}

# A message of one contact, which the libraries answer, and a contact that the user blocked.
make_contacts() {
    local BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR # where the payloads are written
    put RECEIVED wamid.HBgLMTU1NTEyMzAwMDEVAgASGBQzQTFGMUE1QjE2OTcyMDgxNDIxNwA=
    put BLOCKED 15551230099
    take "$(payload "$(inbound "$RECEIVED" 15551230001 '')")"
    take "$(payload "$(inbound wamid.99 "$BLOCKED" '')")"
    api PUT "/v2/contacts/$(contact_of "$BLOCKED")/block" -d '{}'
    assert_success
}

contact_of() { # PHONE
    contacts | gojq -r --arg phone "$1" '.[] | select(.phone == $phone).id'
}

run_library() { # NAME [VARIABLE=VALUE...]
    [[ -e $FRONT/photo ]] ||
        { printf '\xff\xd8\xff\xe0' && head -c 69996 /dev/urandom; } >"$FRONT/photo"
    run_client "$1" "GRAPH_TOKEN=$TOKEN" "PHONE_NUMBER_ID=$LINE" "WABA_ID=$WABA" "FLOW_ID=$FLOW" \
        "RECEIVED_WAMID=$RECEIVED" "BLOCKED_PHONE=$BLOCKED" "PHOTO=$FRONT/photo" \
        "FOREIGN_LINE=$OTHER_LINE" "CLOUD_API_ACCESS_TOKEN=$TOKEN" "WA_PHONE_NUMBER_ID=$LINE" \
        "WA_BUSINESS_ACCOUNT_ID=$WABA" CLOUD_API_VERSION=v23.0 M4D_APP_ID=1 M4D_APP_SECRET=1 \
        WEBHOOK_ENDPOINT=x WEBHOOK_VERIFICATION_TOKEN=x "${@:2}" || true
}

# Prints the steps of a library without the ids of this run: steps_of NAME
steps_of() {
    gojq -r '"\(.step): \(.error // (.read | tojson))"' "$FRONT/$1.out" |
        sed -E 's/"wamid\.[^"]*"/WAMID/g; s/: "[0-9]{9,}"$/: ID/; s/: "[A-Z0-9]{14}"$/: CODE/'
    cat "$FRONT/$1.log"
}

# Each call returned what the platform, or the gateway, answers.
assert_steps() { # NAME
    assert_equal "$(steps_of "$1")" "$(<"$root/tests/graph_clients/$1.steps")"
}

# Compares the record of the front with the platform's requests and with the stored messages, and
# prints a member of the result: compared MEMBER
compared() {
    local secrets=("$PLATFORM_TOKEN" "$OTHER_PLATFORM_TOKEN" test-app-secret "$TOKEN")
    if [[ ! -e $FRONT/compared ]]; then
        db "SELECT wamid, hex(body) FROM message WHERE direction = 'out'" >"$FRONT/stored"
        SECRETS=$(printf '%s\n' "${secrets[@]}") \
            node "$FRONT/compare.js" "$FRONT/exchanges.all" "$FRONT/platform.requests" \
            "$FRONT/stored" >"$FRONT/compared"
    fi
    gojq -r ".$1" "$FRONT/compared"
}

@test "every call of @kapso/whatsapp-cloud-api succeeds" {
    assert_steps kapso
}

@test "every call of @whatsapp-cloudapi/client succeeds" {
    assert_steps cloudapi
}

@test "every call of whatsapp-api-js succeeds, with another fetch" {
    assert_steps apijs
}

@test "every call of whatsapp 0.0.5-Alpha succeeds, with the host name in its environment" {
    assert_steps meta
}

@test "the platform receives the bytes that the libraries send, and nothing else" {
    assert_equal "$(compared 'other | tojson')" '[]'
    (($(compared passed) > 130)) || fail "passed: $(compared passed)"
    # what the gateway refuses, and its own addresses of files
    assert_equal "$(compared 'kept[]' | sed -E "s|/$LINE|/LINE|; s|/$OTHER_LINE|/OTHER|
        s|/$WABA|/WABA|; s|/[0-9]{9,}|/ID|" | sort | uniq -c | sed 's/^ *//')" \
        '1 DELETE /WABA/message_templates 403
3 GET /graph/media/ID 200
1 POST /ID/deprecate 403
1 POST /LINE 403
2 POST /LINE/calls 400
1 POST /LINE/deregister 403
4 POST /LINE/messages 401
4 POST /LINE/messages 403
4 POST /OTHER/messages 400'
}

@test "each message that a library sends is stored with the bytes of its request" {
    local sent
    sent=$(compared sent)
    ((sent > 70)) || fail "sent: $sent"
    assert_equal "$(compared 'unstored[]')" ''
    # whatsapp-api-js sends contacts as a text of JSON; the list is stored
    assert_equal "$(compared 'settled[]')" contacts
    assert_equal "$(compared stored)" $((sent - 1))
    assert_equal "$(db "SELECT count(*) FROM message WHERE direction = 'out'")" "$sent"
}

@test "no answer to a library contains a token or a secret" {
    assert_equal "$(compared 'leaks[]')" ''
    # the search finds what it looks for: the platform's token is in each of its requests
    grep -qF "$PLATFORM_TOKEN" "$FRONT/platform.requests"
}

@test "no log contains the token of the API, and the platform does not receive it" {
    local logs=("$LOG" "$STACK"/apache/*log "$STACK"/apache/*.log "$STACK/sandbox.log")
    eventually grep -q "/v23.0/$LINE/messages" "$STACK/apache/switchboard_access.log"
    refute grep -F "$TOKEN" "${logs[@]}" "$FRONT/platform.requests"
}

@test "a library whose host is fixed works with a line of the hosts file and an own authority" {
    cp "$FRONT/apijs.out" "$FRONT/apijs.first"
    fill_platform
    run_library apijs BASE_URL=
    assert_steps apijs
    # without that line no connection leaves this machine
    env HOSTS='' NODE_OPTIONS="--import $FRONT/hosts.js" GRAPH_TOKEN=x PHOTO="$FRONT/photo" \
        node "$FRONT/apijs.js" >"$FRONT/none.out" 2>&1 || true
    grep -q 'graph.facebook.com:443, which is not in HOSTS' "$FRONT/none.out"
}

# --- Webhooks ------------------------------------------------------------------------------------
start_receiver_of_libraries() {
    rm -f "$FRONT"/webhooks.{port,received}
    APP_SECRET=$1 VERIFY_TOKEN=$2 NODE_ENV=production node "$FRONT/webhooks.js" "$FRONT" \
        >"$FRONT/webhooks.log" 2>&1 3>&- &
    printf '%s\n' $! >"$FRONT/webhooks.pid"
    eventually test -s "$FRONT/webhooks.port"
    WEBHOOKS=http://127.0.0.1:$(cat "$FRONT/webhooks.port")
}

stop_receiver_of_libraries() {
    [[ ! -e $FRONT/webhooks.pid ]] || end_helper "$FRONT/webhooks.pid"
}

@test "the libraries verify the webhooks that the gateway forwards, whose bytes are the platform's" {
    local code=0123456789abcdef0123456789abcdef library file=$BATS_TEST_TMPDIR/webhook
    start_receiver_of_libraries "$code" a-verify-token
    for library in kapso apijs meta; do
        api POST /v2/webhooks -d "{\"kind\":\"forward\",\"name\":\"$library\",\"code\":\"$code\",
            \"url\":\"$WEBHOOKS/$library\",\"verifyToken\":\"a-verify-token\"}"
        assert_success
    done
    # another verify token is not accepted
    api POST /v2/webhooks -d "{\"kind\":\"forward\",\"url\":\"$WEBHOOKS/apijs\",
        \"verifyToken\":\"another\"}"
    assert_status 400
    payload "$(inbound wamid.forwarded 15551230001 '' \
        '"type":"text","text":{"body":"Gr\u00fc\u00dfe \ud83d\ude00 \/ \"x\""}')" >"$file"
    take "@$file"
    courier_once
    assert_equal \
        "$(gojq -c '[.library, .isVerified, .read.text]' "$FRONT/webhooks.received" | sort)" \
        '["apijs",true,"Grüße 😀 / \"x\""]
["kapso",true,"Grüße 😀 / \"x\""]
["meta",true,"Grüße 😀 / \"x\""]'
    while read -r library; do
        base64 -d <<<"$library" | cmp - "$file"
    done < <(gojq -r .body "$FRONT/webhooks.received")
    # the same body with another signature is refused by each
    for library in kapso apijs meta; do
        assert_equal "$(curl -s -o /dev/null -w '%{http_code}' "$WEBHOOKS/$library" \
            --data-binary "@$file" -H 'Content-Type: application/json' \
            -H "X-Hub-Signature-256: $(sign "$file" wrong)")" 401
    done
    stop_receiver_of_libraries
}

@test "with graph_destructive the libraries also delete templates, retire flows, deregister and set PINs" {
    configure 'graph_destructive = yes'
    fill_platform
    run_library kapso "BASE_URL=$FRONT_URL" DESTRUCTIVE=1
    assert_equal "$(steps_of kapso | grep -E '^(template delete|deregister|flow deprecate):')" \
        'template delete: {"success":true}
deregister: {"success":true}
flow deprecate: {"success":true}'
    run_library meta WA_BASE_URL=api.example.org DESTRUCTIVE=1
    assert_equal "$(steps_of meta | grep '^pin:')" 'pin: {"success":true}'
    configure
}
