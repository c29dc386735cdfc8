#!/usr/bin/env bats
# The platform's webhooks: verification, signature, and the updates that are stored and delivered (spec 6).
# shellcheck disable=SC2086  # the names of people ($P1, $B1, ...) are single words
# starts first
load helpers/all
load helpers/webhook

# Creates a user with a configured webhook; each test has an account of its own.
setup_file() {
    start_stack
    make_user
    make_webhook
}

setup() {
    forget_sent
    write_config
    make_account_line
}

verify() { # QUERY
    request GET "/platform/webhook?$1"
}

# --- verification ---

@test "the platform's verification is answered with its challenge and nothing else" {
    verify 'hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=test-verify-token'
    assert_status 200
    assert_header Content-Type 'text/plain; charset=utf-8'
    assert_body_is 1158201444
}

@test "parameter names and values of a verification may be percent-encoded" {
    verify 'hub%2Emode=subscrib%65&hub%2Echallenge=11%35%38&hub%2everify_token=test%2Dverify%2dtoken'
    assert_status 200
    assert_body_is 1158
}

@test "a verification with another token than the configured one is 403 without the challenge" {
    local token
    for token in wrong test-verify-toke test-verify-tokenX TEST-VERIFY-TOKEN ''; do
        verify "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=$token"
        assert_error 403 FORBIDDEN hub.verify_token
        ! grep -q 1158201444 "$body"
    done
    verify 'hub.mode=subscribe&hub.challenge=1158201444'
    assert_error 403 FORBIDDEN
}

# bats test_tags=direct
@test "a verification in another mode is 403" {
    verify 'hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=test-verify-token'
    assert_error 403 FORBIDDEN hub.mode
    verify 'hub.challenge=1&hub.verify_token=test-verify-token'
    assert_error 403 FORBIDDEN
    request GET /platform/webhook
    assert_error 403 FORBIDDEN
}

# bats test_tags=direct
@test "without a configured verify token every verification is 403" {
    write_config 'verify_token ='
    verify 'hub.mode=subscribe&hub.challenge=1&hub.verify_token='
    assert_error 403 FORBIDDEN
    verify 'hub.mode=subscribe&hub.challenge=1'
    assert_error 403 FORBIDDEN
    write_config
    verify 'hub.mode=subscribe&hub.challenge=1&hub.verify_token=test-verify-token'
    assert_status 200
}

# --- the signature ---

# Both signatures were made with: printf %s "$body" | openssl dgst -sha256 -hmac test-app-secret
@test "the signature is over the raw bytes, with escapes and slashes unchanged" {
    request POST /platform/webhook -d '{"object":"whatsapp_business_account","entry":[],"say":"caf\u00e9 \ud83d\ude00 https:\/\/tea.example\/x"}' \
        -H 'X-Hub-Signature-256: sha256=df24c14289e9b9819d02267cbf4f7f1140517e4e70924cce9d570ed16451a0cb'
    assert_success
    request POST /platform/webhook -d '{"object":"whatsapp_business_account","entry":[],"say":"café 😀 https://tea.example/x"}' \
        -H 'X-Hub-Signature-256: sha256=df24c14289e9b9819d02267cbf4f7f1140517e4e70924cce9d570ed16451a0cb'
    assert_error 401 UNAUTHORIZED
}

assert_refused() {
    assert_error 401 UNAUTHORIZED X-Hub-Signature-256
    refute_header WWW-Authenticate
    assert_equal "$(stored)" "$before"
}

@test "a body with one bit changed is 401 without WWW-Authenticate, and nothing is stored" {
    local text signature at byte bit before
    text=$(payload "$(inbound wamid.1 $P1 $B1)")
    printf '%s' "$text" >"$BATS_TEST_TMPDIR/webhook"
    signature=$(sign "$BATS_TEST_TMPDIR/webhook")
    before=$(stored)
    for at in 0 $((${#text} / 2)) $((${#text} - 1)); do
        for bit in 1 32; do
            byte=$(printf '%d' "'${text:at:1}")
            request POST /platform/webhook -H "X-Hub-Signature-256: $signature" \
                -d "${text:0:at}$(printf %b "\\x$(printf %x $((byte ^ bit)))")${text:at+1}"
            assert_refused
        done
    done
    request POST /platform/webhook -H "X-Hub-Signature-256: $signature" -d "$text "
    assert_refused
    request POST /platform/webhook -H "X-Hub-Signature-256: $signature" -d "$text"
    assert_success
}

# bats test_tags=direct
@test "a signature with one digit changed is 401, and nothing is stored" {
    local text signature at digit before
    text=$(payload "$(inbound wamid.1 $P1 $B1)")
    printf '%s' "$text" >"$BATS_TEST_TMPDIR/webhook"
    signature=$(sign "$BATS_TEST_TMPDIR/webhook")
    before=$(stored)
    for at in 7 38 70; do
        digit=$(printf %x $((0x${signature:at:1} ^ 1)))
        request POST /platform/webhook -d "$text" \
            -H "X-Hub-Signature-256: ${signature:0:at}$digit${signature:at+1}"
        assert_refused
    done
}

# bats test_tags=direct
@test "a missing or malformed signature is 401, and nothing is stored" {
    local text signature hash wrong before
    text=$(payload "$(inbound wamid.1 $P1 $B1)")
    printf '%s' "$text" >"$BATS_TEST_TMPDIR/webhook"
    signature=$(sign "$BATS_TEST_TMPDIR/webhook")
    hash=${signature#sha256=}
    before=$(stored)
    request POST /platform/webhook -d "$text"
    assert_refused
    request POST /platform/webhook -d "$text" -H "X-Hub-Signature: sha1=${hash:0:40}"
    assert_refused
    for wrong in sha256= "$hash" "sha256=${hash:1}" "sha256=${hash}0" "sha256=${hash:0:63}g" \
        "sha256:$hash" "sha1=$hash" "sha256=0x${hash:2}" "sha256= $hash" "$signature, $signature"; do
        request POST /platform/webhook -d "$text" -H "X-Hub-Signature-256: $wrong"
        assert_refused
    done
    request POST /platform/webhook -d "$text" -H "X-Hub-Signature-256: $signature" \
        -H "X-Hub-Signature-256: $signature"
    assert_refused
}

# bats test_tags=direct
@test "a signature in upper-case digits is accepted" {
    local text signature
    text=$(payload "$(inbound wamid.1 $P1 $B1)")
    printf '%s' "$text" >"$BATS_TEST_TMPDIR/webhook"
    signature=$(sign "$BATS_TEST_TMPDIR/webhook")
    signature=${signature#sha256=}
    request POST /platform/webhook -d "$text" -H "X-Hub-Signature-256: sha256=${signature^^}"
    assert_success
}

# bats test_tags=direct
@test "a signature with another secret or an empty one is 401" {
    local before secret
    before=$(stored)
    payload "$(inbound wamid.1 $P1 $B1)" >"$BATS_TEST_TMPDIR/webhook"
    for secret in test-app-secre test-verify-token ''; do
        request POST /platform/webhook -d "@$BATS_TEST_TMPDIR/webhook" \
            -H "X-Hub-Signature-256: sha256=$(openssl dgst -sha256 -mac HMAC \
                -macopt "hexkey:$(printf '%s' "${secret:-0}" | od -An -tx1 | tr -d ' \n')" -r \
                "$BATS_TEST_TMPDIR/webhook" | cut -d ' ' -f 1)"
        assert_refused
    done
}

# bats test_tags=direct
@test "without an app secret every webhook is 503 until one is configured" {
    local before
    before=$(stored)
    write_config 'app_secret ='
    deliver "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_error 503 INTERNAL_ERROR 'app secret'
    assert_header Retry-After
    printf x >"$BATS_TEST_TMPDIR/webhook"
    assert_equal "$(stored)" "$before"
    write_config
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_only_contact $P1/$B1
}

# --- bodies ---

@test "4,194,304 bytes are accepted, one more is 413 and not stored" {
    local text before
    payload "$(inbound wamid.1 $P1 $B1)" >"$BATS_TEST_TMPDIR/large"
    truncate -s 4194304 "$BATS_TEST_TMPDIR/large"
    tr '\0' ' ' <"$BATS_TEST_TMPDIR/large" >"$BATS_TEST_TMPDIR/padded"
    take "@$BATS_TEST_TMPDIR/padded"
    assert_only_contact $P1/$B1
    payload "$(inbound wamid.2 $P2 $B2)" >"$BATS_TEST_TMPDIR/large"
    truncate -s 4194305 "$BATS_TEST_TMPDIR/large"
    tr '\0' ' ' <"$BATS_TEST_TMPDIR/large" >"$BATS_TEST_TMPDIR/padded"
    before=$(stored)
    deliver "@$BATS_TEST_TMPDIR/padded"
    assert_error 413 VALIDATION_ERROR 4194304
    deliver "@$BATS_TEST_TMPDIR/padded" -H 'Transfer-Encoding: chunked'
    assert_error 413 VALIDATION_ERROR
    assert_equal "$(stored)" "$before"
}

# bats test_tags=long
@test "a message of 3 MB is stored and put into its event byte for byte" {
    payload "$(inbound wamid.1 $P1 $B1 '"type":"text","text":{"body":"@"}')" >"$BATS_TEST_TMPDIR/short"
    head -c 3000000 /dev/zero | tr '\0' a >"$BATS_TEST_TMPDIR/long"
    { sed 's/@.*//' "$BATS_TEST_TMPDIR/short" | tr -d '\n'; cat "$BATS_TEST_TMPDIR/long"
        sed 's/.*@//' "$BATS_TEST_TMPDIR/short"; } >"$BATS_TEST_TMPDIR/whole"
    take "@$BATS_TEST_TMPDIR/whole"
    assert_equal "$(events 'select(.type == "message.received").data.message.text.body | length')" 3000000
}

@test "a chunked body is accepted" {
    take "$(payload "$(inbound wamid.1 $P1 $B1)")" -H 'Transfer-Encoding: chunked'
    assert_only_contact $P1/$B1
}

@test "invalid JSON with a valid signature is 400 with line and column" {
    local text before
    before=$(stored)
    for text in '' '{' '{"entry":[}' "$(payload "$(inbound wamid.1 $P1 $B1)")x" $'\xef\xbb\xbf{}' \
        '{"a":01}' '{"a":"'$'\xff''"}' "{'a':1}"; do
        deliver "$text"
        assert_error 400 VALIDATION_ERROR 'at line 1, column'
    done
    assert_equal "$(stored)" "$before"
}

# bats test_tags=direct,long
@test "valid JSON of another shape is 200 and stores nothing" {
    local text before
    before=$(stored)
    for text in '{}' '[]' 'null' '17' '"entry"' '{"entry":{}}' '{"entry":null}' '{"entry":[]}' \
        '{"entry":[null,17,"x",[],{}]}' '{"object":"page","entry":[{"id":"1","changes":[{}]}]}' \
        '{"entry":[{"id":17,"changes":[{"field":"messages","value":{"messages":[{}]}}]}]}' \
        "{\"entry\":[{\"id\":\"$WABA\"},{\"id\":\"$WABA\",\"changes\":null},{\"id\":\"$WABA\",\"changes\":[]}]}"; do
        take "$text"
    done
    assert_equal "$(stored)" "$before"
}

# bats test_tags=direct
@test "invalid updates of our account are kept, and the rest of the payload is processed" {
    local senseless
    senseless='17,null,"x",[],{},{"field":17},{"field":"messages"},{"field":"messages","value":17}'
    senseless+=',{"field":"messages","value":{}},{"value":{"messages":[]}}'
    senseless+=",$(change messages '"messages":[17,null,{},{"id":17},{"id":""}]')"
    senseless+=",$(change messages '"messages":{"id":"wamid.0"}')"
    senseless+=",$(change messages '"statuses":[17,{"id":"wamid.0"},{"status":"sent"}]')"
    senseless+=",$(change messages '"contacts":17,"messages":[{"id":"wamid.0","type":17}]')"
    senseless+=",$(change history '"history":[17,{"threads":17},{"threads":[17,{"messages":[17]}]}]')"
    senseless+=",$(change user_id_update '"user_id_update":[17,{},{"user_id":17}]')"
    senseless+=",$(change messages '"messages":[{"id":"wamid.s","type":"system","system":17}]')"
    senseless+=",$(change automatic_events '"automatic_events":[17,{"event_name":"LeadSubmitted","id":17}]')"
    senseless+=",$(account_change message_template_status_update '{"event":17}')"
    senseless+=",$(account_change message_template_status_update null)"
    senseless+=",$(account_change flows '[]')"
    take "$(payload "$senseless" "$(inbound wamid.1 $P1 $B1)")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received'
}

# bats test_tags=direct
@test "an update of an unknown field is kept unchanged" {
    take "$(payload "$(account_change tea_ceremony '{"leaves":[9007199254740993,1e400,"\/\u0000"]}')" \
        "$(inbound wamid.1 $P1 $B1)")"
    assert_equal "$(db "SELECT field, CAST(body AS TEXT) FROM platform_update WHERE account_id = '$ACCOUNT'")" \
        'tea_ceremony|{"leaves":[9007199254740993,1e400,"\/\u0000"]}'
    assert_only_contact $P1/$B1
    assert_no_update_twice
}

# Sends the last payload again and checks that nothing changes.
assert_no_update_twice() {
    local before
    before=$(stored)
    take "@$BATS_TEST_TMPDIR/webhook"
    assert_equal "$(stored)" "$before"
}

# bats test_tags=direct
@test "unknown types and members of messages and statuses are accepted" {
    take "$(payload "$(inbound wamid.1 $P1 $B1 '"type":"hologram","hologram":{"x":[1]},"aura":"blue"')" \
        "$(status_of wamid.2 teleported "$(to_both $P1 $B1),\"aura\":1")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in hologram received' 'wamid.2 out unknown accepted'
    assert_events message.received lead.created/new_contact
}

# --- messages ---

# One line for each type of message: the type, and the members beside it.
messages_of_every_type() {
    cat <<'END'
text "text":{"body":"Is it open?"}
image "image":{"caption":"caf\u00e9","mime_type":"image\/jpeg","sha256":"aGFzaA==","id":"411","url":"https:\/\/x.example\/?a=1&b=2"}
video "video":{"mime_type":"video\/mp4","sha256":"aGFzaA==","id":"412"}
document "document":{"filename":"menu.pdf","mime_type":"application\/pdf","sha256":"aGFzaA==","id":"413"}
sticker "sticker":{"mime_type":"image\/webp","sha256":"aGFzaA==","id":"414","animated":false}
audio "audio":{"mime_type":"audio\/ogg; codecs=opus","sha256":"aGFzaA==","id":"415","voice":true}
location "location":{"latitude":52.50,"longitude":-13.40}
location "context":{"from":"15550100001","id":"wamid.x"},"location":{"latitude":40.782910059774,"longitude":-73.959075808525,"name":"Museum"}
contacts "contacts":[{"name":{"formatted_name":"Zo\u00eb"},"phones":[{"wa_id":"16505550177"}],"origin":"other"}]
interactive "context":{"from":"15550100001","id":"wamid.x"},"interactive":{"type":"button_reply","button_reply":{"id":"yes","title":"Yes"}}
interactive "context":{"from":"15550100001","id":"wamid.x"},"interactive":{"type":"list_reply","list_reply":{"id":"a","title":"A","description":"B"}}
interactive "context":{"id":"wamid.x"},"interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":"{\"flow_token\":\"t\"}"}}
interactive "context":{"from":"15550100001","id":"wamid.x"},"interactive":{"type":"nfm_reply","nfm_reply":{"response_json":"{\"saved_address_id\":\"a\",\"values\":{\"city\":\"Mumbai\"}}","body":"Mumbai","name":"address_message"}}
interactive "errors":[{"code":131051,"title":"Unsupported"}]
button "context":{"from":"15550100001","id":"wamid.x"},"button":{"payload":"yes","text":"Yes"}
order "order":{"catalog_id":"510","text":"","product_items":[{"product_retailer_id":"tea-7","quantity":2,"item_price":12.50,"currency":"EUR"}]}
reaction "reaction":{"message_id":"wamid.x","emoji":"\ud83c\udf75"}
text "group_id":"120363000000000001@g.us","text":{"body":"to all"}
text "context":{"forwarded":true},"text":{"body":"\ud83d lone \u0000 nul"}
text "referral":null,"text":{"body":"9007199254740993"},"n":9007199254740993
END
}

@test "a message of every type is stored and put into its event byte for byte" {
    local type members number=0 changes=() ids=() expected=()
    while read -r type members; do
        ids+=("wamid.$((++number))")
        expected+=("$(message "wamid.$number" $P1 $B1 "\"type\":\"$type\",$members")")
        changes+=("$(inbound "wamid.$number" $P1 $B1 "\"type\":\"$type\",$members")")
    done < <(messages_of_every_type)
    take "$(payload "${changes[@]}")"
    assert_only_contact $P1/$B1
    assert_equal "$(messages | gojq -r '.[].wamid')" "$(printf '%s\n' "${ids[@]}")"
    assert_equal "$(db "SELECT CAST(m.body AS TEXT) FROM message m JOIN thread t ON t.id = m.thread_id
        WHERE t.contact_id = '$contact' ORDER BY m.id")" "$(printf '%s\n' "${expected[@]}")"
    assert_equal "$(db "SELECT substr(CAST(body AS TEXT), instr(CAST(body AS TEXT), '\"message\":') + 10)
        FROM outbox WHERE contact_id = '$contact' AND type = 'message.received' ORDER BY sequence")" \
        "$(printf '%s}}\n' "${expected[@]}")"
    assert_no_update_twice
}

@test "a payload of every kind is accepted, and a second time changes nothing" {
    local built bodies signatures number before after
    make_account '' && make_line ''
    built=$(sandbox POST webhooks "$(sandbox GET webhooks/kinds | jq -c --arg line "$LINE" \
        --arg waba "$WABA" '{build: true, updates: map({kind, phoneNumberId: $line, wabaId: $waba})}')")
    mapfile -t bodies < <(gojq -r '.posts[].body' <<<"$built")
    mapfile -t signatures < <(gojq -r '.posts[].signature' <<<"$built")
    ((${#bodies[@]} > 40))
    before=$(stored)
    for number in "${!bodies[@]}"; do
        request POST /platform/webhook -d "${bodies[number]}" \
            -H "X-Hub-Signature-256: ${signatures[number]}"
        assert_status 200
        after=$(stored)
        [[ $after != "$before" ]] || fail "nothing was stored of: ${bodies[number]}"
        before=$after
    done
    for number in "${!bodies[@]}"; do
        request POST /platform/webhook -d "${bodies[number]}" \
            -H "X-Hub-Signature-256: ${signatures[number]}"
        assert_status 200
    done
    assert_equal "$(stored)" "$before"
}

# Prints the members of a person in an event: person PHONE BSUID USERNAME NAME; null: not known.
person() {
    local each values=()
    for each; do
        [[ $each == null ]] || each="\"$each\""
        values+=("$each")
    done
    printf '"phone":%s,"userId":%s,"username":%s,"name":%s' "${values[@]}"
}

# bats test_tags=direct
@test "the event of a message has line, account, contact and thread" {
    local body
    take "$(payload "$(inbound wamid.1 $P1 $B1 '"type":"text","text":{"body":"caf\u00e9"}' \
        "$(card $P1 $B1 '"profile":{"name":"Ann","username":"@ann"}')")")"
    assert_only_contact $P1/$B1
    body=$(db "SELECT CAST(body AS TEXT) FROM outbox WHERE contact_id = '$contact' AND type = 'message.received'")
    assert_equal "$(jq -c 'del(.timestamp, .data.sequence, .data.message)' <<<"$body")" \
        "{\"type\":\"message.received\",\"data\":{\"accountId\":\"$ACCOUNT\",\"wabaid\":\"$WABA\",\"phoneNumberId\":\"$LINE\",\"contact\":{\"id\":\"$contact\",$(person $P1 $B1 ann Ann)},\"threadId\":$(contacts | jq -c '.[0].threads[0].id')}}"
    [[ $body == *'"message":'"$(message wamid.1 $P1 $B1 '"type":"text","text":{"body":"caf\u00e9"}')"'}}' ]]
    [[ $(gojq -r .timestamp <<<"$body") =~ ^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z$ ]]
}

# bats test_tags=direct
@test "unknown members of a contact are null in its events" {
    take "$(payload "$(inbound wamid.1 '' $B1 '"type":"text","text":{"body":"x"}' "$(card '' $B1 '"profile":{}')")")"
    assert_equal "$(events 'select(.type == "message.received").data.contact | del(.id)')" \
        "{$(person null $B1 null null)}"
}

# bats test_tags=direct
@test "events are numbered over all accounts of the user, in the order of the payload" {
    local first=$ACCOUNT one two entries sequences
    one=$(payload "$(inbound wamid.1 $P1 $B1)" "$(inbound wamid.2 $P1 $B1)")
    make_account_line
    two=$(payload "$(inbound wamid.3 $P1 $B1)")
    entries=$(jq -c '.entry' <<<"$one")
    take "$(jq -c --argjson more "$entries" '.entry = $more + .entry' <<<"$two")"
    sequences=$(db "SELECT sequence FROM outbox WHERE instr(CAST(body AS TEXT), '\"$first\"') > 0 OR instr(CAST(body AS TEXT), '\"$ACCOUNT\"') > 0 ORDER BY sequence")
    assert_equal "$(wc -l <<<"$sequences")" 5
    assert_equal "$(tail -n 1 <<<"$sequences")" $(($(head -n 1 <<<"$sequences") + 4))
    assert_equal "$(db "SELECT event_sequence FROM user WHERE email = '$EMAIL'")" "$(tail -n 1 <<<"$sequences")"
    assert_equal "$(events .data.sequence)" "$(tail -n 2 <<<"$sequences")"
}

# bats test_tags=direct
@test "a message is stored once, whether its payload is repeated or it is in another one or twice in one" {
    take "$(payload "$(inbound wamid.1 $P1 $B1)" "$(inbound wamid.1 $P1 $B1)")"
    assert_no_update_twice
    take "$(payload "$(inbound wamid.1 $P1 $B1)" "$(inbound wamid.2 $P1 $B1)")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received' 'wamid.2 in text received'
    assert_events message.received lead.created/new_contact message.received
}

# bats test_tags=direct
@test "the same wamid on two lines is two messages" {
    local one line=$LINE
    one=$(inbound wamid.1 $P1 $B1)
    LINE=${LINE}0
    switchboard line add "$ACCOUNT" --phone-number-id "$LINE" --number +15550100002 >/dev/null
    take "$(payload "$one" "$(inbound wamid.1 $P1 $B1)")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received' 'wamid.1 in text received'
    assert_equal "$(contacts | gojq -c '[.[0].threads[].phoneNumberId] | sort')" "[\"$line\",\"$LINE\"]"
    assert_events message.received lead.created/new_contact message.received
}

# bats test_tags=long
@test "the same payload 64 times concurrently is stored once" {
    payload "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 '' $B1)" "$(inbound wamid.3 $P1 $B1)" \
        "$(status_of wamid.4 sent "$(to_both $P1 $B1)")" >"$BATS_TEST_TMPDIR/webhook"
    request_many 64 POST /platform/webhook -d "@$BATS_TEST_TMPDIR/webhook" \
        -H "X-Hub-Signature-256: $(sign "$BATS_TEST_TMPDIR/webhook")"
    assert_equal "$(statuses)" '64 200'
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received' 'wamid.2 in text received' \
        'wamid.3 in text received' 'wamid.4 out unknown sent'
    assert_equal "$(events .type | sort | uniq -c | tr -s ' ')" \
        "$(printf ' 2 "lead.created"\n 3 "message.received"')"
    assert_no_update_twice
}

# bats test_tags=long
@test "1,000 updates in one payload are stored once each, in order" {
    local number messages=() statuses=()
    for ((number = 1; number <= 900; number++)); do
        messages+=("{\"from\":\"1650555$((1000 + number % 10))\",\"id\":\"wamid.$number\",\"timestamp\":\"1780000000\",\"type\":\"text\",\"text\":{\"body\":\"$number\"}}")
    done
    for ((number = 1; number <= 100; number++)); do
        statuses+=("{\"id\":\"wamid.s$number\",\"status\":\"sent\",\"timestamp\":\"1780000000\",\"recipient_id\":\"16505551000\"}")
    done
    take "$(payload "$(change messages "\"messages\":[$(comma_list "${messages[@]}")]")" \
        "$(change messages "\"statuses\":[$(comma_list "${statuses[@]}")]")")"
    assert_equal "$(contacts | gojq length)" 10
    assert_equal "$(events 'select(.type == "message.received").data.message.id')" \
        "$(seq -f '"wamid.%.0f"' 900)"
    assert_equal "$(events 'select(.type == "lead.created").data.contact.phone' | sort -u | wc -l)" 10
    assert_equal "$(db "SELECT count(*) FROM message m JOIN line l ON l.id = m.line_id WHERE l.phone_number_id = '$LINE'")" 1000
    assert_equal "$(db "SELECT count(*) FROM message_status s JOIN message m ON m.id = s.message_id JOIN line l ON l.id = m.line_id WHERE l.phone_number_id = '$LINE'")" 100
    assert_no_update_twice
}

# --- identities and contacts (spec 2.3, 6) ---

# bats test_tags=direct
@test "an inbound message with a BSUID alone creates a contact and a thread" {
    take "$(payload "$(inbound wamid.1 '' $B1 '"type":"text","text":{"body":"x"}' \
        "$(card '' $B1 '"profile":{"name":"Ann","username":"ann"}')")")"
    assert_only_contact none/$B1
    assert_equal "$(contacts | jq -c '.[0] | .username, .name, (.threads | length), .threads[0].phoneNumberId')" \
        "$(printf '"ann"\n"Ann"\n1\n"%s"' "$LINE")"
    assert_messages 'wamid.1 in text received'
    assert_equal "$(contacts | jq -c '.[0] | keys')" '["accountId","id","name","phone","threads","userId","username"]'
    assert_equal "$(messages | jq -c '.[0] | keys, .timestamp, .error')" \
        "$(printf '%s\n' '["direction","error","id","status","threadId","timestamp","type","wamid"]' '"2026-05-28T20:26:40.000Z"' null)"
    assert_events message.received lead.created/new_contact
}

# bats test_tags=direct,long
@test "the contacts of a phone and a BSUID merge when one payload carries both" {
    local older thread
    take "$(payload "$(inbound wamid.1 $P1 '')")"
    assert_only_contact $P1/none
    older=$contact
    thread=$(contacts | gojq -r '.[0].threads[0].id')
    take "$(payload "$(inbound wamid.2 '' $B1)")"
    assert_contacts $P1/none none/$B1
    take "$(payload "$(inbound wamid.3 $P1 $B1)")"
    assert_only_contact $P1/$B1
    assert_equal "$contact" "$older"
    assert_equal "$(contacts | gojq -r '.[0].threads[].id')" "$thread"
    assert_messages 'wamid.1 in text received' 'wamid.2 in text received' 'wamid.3 in text received'
    assert_equal "$(messages | gojq -r '.[].threadId' | sort -u)" "$thread"
    assert_equal "$(db "SELECT contact_id, reason, phone, bsuid, merged_id IS NOT NULL FROM contact_merge WHERE account_id = '$ACCOUNT'")" \
        "$older|same_payload||$B1|1"
    assert_events message.received lead.created/new_contact message.received \
        lead.created/new_contact message.received
}

# bats test_tags=direct
@test "when contacts merge, threads of the same line merge and those of different lines do not" {
    local one=$LINE two=${LINE}0
    switchboard line add "$ACCOUNT" --phone-number-id "$two" --number +15550100002 >/dev/null
    take "$(payload "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 '' $B1)" \
        "$(LINE=$two inbound wamid.3 '' $B1)" "$(inbound wamid.4 $P1 $B1)")"
    assert_only_contact $P1/$B1
    assert_equal "$(contacts | gojq -c '[.[0].threads[].phoneNumberId] | sort')" "[\"$one\",\"$two\"]"
    assert_equal "$(messages | gojq -r '.[].wamid')" "$(printf 'wamid.%s\n' 1 2 3 4)"
}

@test "a merge moves pending events to the remaining contact and leaves finished ones unchanged" {
    local older newer events
    take "$(payload "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 '' $B1)")"
    older=$(db "SELECT id FROM contact WHERE account_id = '$ACCOUNT' AND phone = '$P1'")
    newer=$(db "SELECT id FROM contact WHERE account_id = '$ACCOUNT' AND bsuid = '$B1'")
    events="outbox WHERE contact_id IN ('$older', '$newer')"
    assert_equal "$(db "SELECT count(*) FROM $events")" 4
    db "UPDATE outbox SET state = 'done', finished_at = 1 WHERE contact_id = '$newer' AND type = 'lead.created'"
    take "$(payload "$(inbound wamid.3 $P1 $B1)")"
    assert_only_contact $P1/$B1
    assert_equal "$(db "SELECT contact_id = '$older', state, count(*) FROM $events GROUP BY 1, 2 ORDER BY 1")" \
        $'0|done|1\n1|pending|4'
}

# bats test_tags=direct
@test "a block of either contact applies to the merged contact" {
    make_account '' && make_line ''
    switchboard contact block "$LINE" $P1 >/dev/null
    take "$(payload "$(inbound wamid.1 '' $B1)" "$(inbound wamid.2 $P1 $B1)")"
    assert_only_contact $P1/$B1
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"$B1\",\"text\":\"x\"}"
    assert_error 403 FORBIDDEN 'blocked on this line'
    assert_nothing_sent
}

# bats test_tags=direct
@test "merged contacts cause no further lead events" {
    take "$(payload "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 '' $B1)" \
        "$(inbound wamid.3 $P1 $B1)" "$(inbound wamid.4 '' $B1)" "$(inbound wamid.5 $P1 '')")"
    assert_equal "$(events 'select(.type == "lead.created").data.messageId')" \
        "$(printf '"wamid.1"\n"wamid.2"')"
}

# Sends the change between messages under the old and the new identities; they must have one contact.
check_change() { # EXPECTED-CONTACT CHANGE BEFORE AFTER
    local older
    take "$(payload "$3")"
    older=$(contacts | gojq -r '.[0].id')
    take "$(payload "$2")"
    assert_no_update_twice
    take "$(payload "$4")"
    assert_only_contact "$1"
    assert_equal "$contact" "$older"
    assert_messages 'wamid.1 in text received' 'wamid.2 in text received'
    assert_equal "$(contacts | gojq '.[0].threads | length')" 1
    assert_events message.received lead.created/new_contact message.received
    assert_equal "$(db "SELECT contact_id, reason, phone, bsuid FROM contact_merge WHERE account_id = '$ACCOUNT'")" \
        "$older|${5}"
}

# bats test_tags=direct,long
@test "a number change with the old and the new user id" {
    check_change $P2/$B2 "$(system wamid.s $P1 "\"body\":\"User Ann changed from $P1 to $P2\",\"wa_id\":\"$P2\",\"user_id\":\"$B2\",\"previous_user_id\":\"$B1\",\"type\":\"user_changed_number\"")" \
        "$(inbound wamid.1 $P1 $B1)" "$(inbound wamid.2 $P2 $B2)" "number_change|$P1|$B1"
}

# bats test_tags=direct,long
@test "an id change with the old and the new user id, and no phone" {
    check_change $P1/$B2 "$(system wamid.s '' "\"body\":\"User Ann changed their user id\",\"user_id\":\"$B2\",\"previous_user_id\":\"$B1\",\"parent_user_id\":\"$PARENT2\",\"previous_parent_user_id\":\"$PARENT\",\"type\":\"user_changed_user_id\"")" \
        "$(inbound wamid.1 $P1 $B1)" "$(inbound wamid.2 '' $B2)" "user_id_update|$P1|$B1"
}

# bats test_tags=direct
@test "an id change with the old id in its text alone" {
    check_change $P1/$B2 "$(system wamid.s '' "\"body\":\"User Ann changed from $B1 to $B2\",\"user_id\":\"$B2\",\"type\":\"user_changed_user_id\"")" \
        "$(inbound wamid.1 $P1 $B1)" "$(inbound wamid.2 '' $B2)" "user_id_update|$P1|$B1"
}

# bats test_tags=direct
@test "an id change in the field user_id_update" {
    check_change $P1/$B2 "$(change user_id_update "\"contacts\":[{\"profile\":{\"name\":\"Ann\"},\"wa_id\":\"$P1\"}],\"user_id_update\":[{\"wa_id\":\"$P1\",\"detail\":\"x\",\"user_id\":{\"previous\":\"$B1\",\"current\":\"$B2\"},\"parent_user_id\":{\"previous\":\"$PARENT\",\"current\":\"$PARENT2\"},\"timestamp\":\"1780000001\"}]")" \
        "$(inbound wamid.1 '' $B1)" "$(inbound wamid.2 $P1 $B2)" "user_id_update|$P1|$B1"
}

# bats test_tags=direct,long
@test "a number change from before user ids" {
    check_change $P2/none "$(system wamid.s $P1 "\"body\":\"User Ann changed from $P1 to $P2\",\"wa_id\":\"$P2\",\"type\":\"user_changed_number\"")" \
        "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 $P2 '')" "number_change|$P1|"
}

# bats test_tags=direct,long
@test "a number change of the oldest format" {
    check_change $P2/none "$(system wamid.s $P1 "\"body\":\"Ann changed from $P1 to $P2\",\"new_wa_id\":\"$P2\",\"type\":\"customer_changed_number\"")" \
        "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 $P2 '')" "number_change|$P1|"
}

# bats test_tags=direct
@test "a change that arrives after the messages that follow it" {
    take "$(payload "$(inbound wamid.1 $P1 $B1)" "$(inbound wamid.2 $P2 $B2)")"
    assert_contacts $P1/$B1 $P2/$B2
    take "$(payload "$(system wamid.s $P1 "\"wa_id\":\"$P2\",\"user_id\":\"$B2\",\"previous_user_id\":\"$B1\",\"type\":\"user_changed_number\"")")"
    assert_only_contact $P2/$B2
    assert_messages 'wamid.1 in text received' 'wamid.2 in text received'
    take "$(payload "$(inbound wamid.3 $P1 $B1)")"
    assert_only_contact $P2/$B2
}

# bats test_tags=direct
@test "a recycled phone with a new BSUID does not merge the contacts of two people" {
    local first
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_only_contact $P1/$B1
    first=$contact
    take "$(payload "$(inbound wamid.2 $P1 $B2)")"
    assert_contacts none/$B1 $P1/$B2
    contact=$first
    assert_messages 'wamid.1 in text received'
    assert_equal "$(db "SELECT contact_id, reason, phone, bsuid FROM contact_merge WHERE account_id = '$ACCOUNT'")" \
        "$first|recycled_phone|$P1|$B1"
    take "$(payload "$(inbound wamid.3 '' $B1)")"
    assert_messages 'wamid.1 in text received' 'wamid.3 in text received'
}

# Takes a message of P1 that came so many seconds after the first one: take_after SECONDS ID BSUID
take_after() {
    local text
    text=$(payload "$(inbound "$2" $P1 "$3")")
    take "${text/1780000000/$((1780000000 + $1))}"
}

# The user id of the contact that has the message: owner_of ID
owner_of() {
    db "SELECT c.bsuid FROM message m JOIN thread t ON t.id = m.thread_id
        JOIN contact c ON c.id = t.contact_id WHERE c.account_id = '$ACCOUNT' AND m.wamid = '$1'"
}

# bats test_tags=direct,long
@test "a phone alone is of the person who was last shown with it, whenever the payload arrives" {
    take_after 0 wamid.1 $B1
    take_after 10 wamid.2 ''
    assert_equal "$(owner_of wamid.2)" $B1
    take_after 20 wamid.3 $B2
    take "$(payload "$(status_of wamid.4 sent "\"recipient_id\":\"$P1\"")")"
    assert_equal "$(owner_of wamid.4)" $B2
    take_after 30 wamid.5 ''
    assert_equal "$(owner_of wamid.5)" $B2
    take_after 15 wamid.6 ''
    assert_equal "$(owner_of wamid.6)" $B1
    assert_equal "$(for id in 1 2 3 4 5; do owner_of wamid.$id; done)" \
        "$(printf '%s\n' $B1 $B1 $B2 $B2 $B2)"
    assert_contacts none/$B1 $P1/$B2
}

# bats test_tags=direct
@test "a contact that gets messages of one on hold, by a later report, is on hold too" {
    local report
    take_after 0 wamid.1 $B1
    take_after 100 wamid.2 ''
    assert_equal "$(owner_of wamid.2)" $B1
    assert_only_contact $P1/$B1
    switchboard contact hold "$contact" >/dev/null
    # at 50 s the person had left the number, so the second message is of another person
    report=$(payload "$(system wamid.s $P1 "\"wa_id\":\"$P2\",\"user_id\":\"$B1\",\"type\":\"user_changed_number\"")")
    take "${report/1780000000/1780000050}"
    assert_contacts $P1/none $P2/$B1
    assert_equal "$(owner_of wamid.2)" ''
    assert_equal "$(db "SELECT count(*) FROM contact WHERE account_id = '$ACCOUNT' AND held_at IS NOT NULL")" 2
}

# bats test_tags=direct
@test "a send to a former identity of a contact goes to that contact" {
    make_account '' && make_line ''
    take "$(payload "$(inbound wamid.1 $P1 $B1)" \
        "$(system wamid.s $P1 "\"wa_id\":\"$P2\",\"user_id\":\"$B2\",\"previous_user_id\":\"$B1\",\"type\":\"user_changed_number\"")")"
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"$B1\",\"text\":\"x\"}"
    assert_success
    assert_only_contact $P2/$B2
    assert_equal "$(messages | gojq -c '[.[].direction]')" '["in","out"]'
}

@test "concurrent messages and changes of identity of one person end in one contact" {
    local number=0 text
    mkdir "$BATS_TEST_TMPDIR/texts"
    for text in "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 '' $B1)" "$(inbound wamid.3 $P1 $B1)" \
        "$(system wamid.s $P1 "\"wa_id\":\"$P2\",\"user_id\":\"$B2\",\"previous_user_id\":\"$B1\",\"type\":\"user_changed_number\"")" \
        "$(inbound wamid.4 $P2 '')" "$(inbound wamid.5 '' $B2)" "$(inbound wamid.6 $P2 $B2)" \
        "$(status_of wamid.7 sent "$(to_both $P2 $B2)")"; do
        number=$((number + 1))
        payload "$text" >"$BATS_TEST_TMPDIR/texts/$number"
    done
    for number in 1 2 3 4 5 6 7 8 8 7 6 5 4 3 2 1; do
        (
            answer_dir=$(mktemp -d "$BATS_TEST_TMPDIR/answer-XXXXXX")
            request POST /platform/webhook -d "@$BATS_TEST_TMPDIR/texts/$number" \
                -H "X-Hub-Signature-256: $(sign "$BATS_TEST_TMPDIR/texts/$number")"
            printf '%s\n' "$status" >"$answer_dir/status"
        ) 3>&- &
    done
    wait
    assert_equal "$(cat "$BATS_TEST_TMPDIR"/answer-*/status | sort | uniq -c | tr -s ' ')" ' 16 200'
    assert_only_contact $P2/$B2
    assert_equal "$(messages | gojq -r '.[].wamid' | sort)" "$(printf 'wamid.%d\n' 1 2 3 4 5 6 7)"
    assert_equal "$(events .data.message.id | grep -c wamid)" 6
}

# bats test_tags=direct
@test "contacts of two accounts are separate" {
    local first=$ACCOUNT one
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_only_contact $P1/$B1
    one=$contact
    make_account_line
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_only_contact $P1/$B1
    [[ $contact != "$one" ]]
    assert_events message.received lead.created/new_contact
    ACCOUNT=$first assert_events message.received lead.created/new_contact
}

# bats test_tags=direct
@test "a BSUID in the member of a phone is a BSUID" {
    take "$(payload "$(inbound wamid.1 $B1 '')" "$(status_of wamid.2 sent "\"recipient_id\":\"$B1\"")")"
    assert_only_contact none/$B1
    assert_messages 'wamid.1 in text received' 'wamid.2 out unknown sent'
}

# bats test_tags=direct
@test "name and username are stored, and kept when a later payload lacks them" {
    take "$(payload "$(inbound wamid.1 $P1 $B1 '"type":"text"' "$(card $P1 $B1 '"profile":{"name":"Ann","username":"@ann.b"}')")")"
    take "$(payload "$(inbound wamid.2 $P1 $B1 '"type":"text"' "$(card $P1 $B1 '"profile":{}')")")"
    assert_equal "$(contacts | jq -c '.[0] | [.username, .name]')" '["ann.b","Ann"]'
    take "$(payload "$(inbound wamid.3 $P1 $B1 '"type":"text"' "$(card $P1 $B1 '"profile":{"name":"Zo\u00eb","username":"zoe"}')")")"
    assert_equal "$(contacts | jq -c '.[0] | [.username, .name]')" '["zoe","Zoë"]'
}

# bats test_tags=direct
@test "each message of a payload is matched with its own element of contacts" {
    take "$(payload "$(change messages "\"contacts\":[$(card $P1 $B1 '"profile":{"name":"Ann"}'),$(card '' $B2 '"profile":{"name":"Ben"}'),$(card $P3 $B3 '"profile":{"name":"Cat"}')],\"messages\":[$(message wamid.3 $P3 ''),$(message wamid.2 '' $B2),$(message wamid.1 '' $B1),$(message wamid.0 $P2 '')]")")"
    assert_contacts $P1/$B1 none/$B2 $P3/$B3 $P2/none
    assert_equal "$(contacts | gojq -r '.[] | "\(.phone) \(.name)"' | sort)" \
        "$(printf '%s\n' "$P1 Ann" "$P2 null" "$P3 Cat" 'null Ben' | sort)"
}

# bats test_tags=direct
@test "a single element of contacts belongs to a single message, even with another spelling of the phone" {
    take "$(payload "$(inbound wamid.1 5511987654321 '' '"type":"text"' "$(card 551187654321 $B1)")")"
    assert_only_contact 5511987654321/$B1
    assert_equal "$(contacts | gojq -r '.[0].name')" 'Ann Example'
    take "$(payload "$(inbound wamid.2 $P2 $B2 '"type":"text"' "$(card $P3 $B3 '"profile":{"name":"Cat"}')")")"
    assert_contacts 5511987654321/$B1 $P2/$B2
    assert_equal "$(contacts | gojq -r '.[1].name')" null
}

# bats test_tags=direct
@test "a message without an identity has those of the single element of contacts" {
    take "$(payload "$(inbound wamid.1 '' '' '"type":"text"' "$(card $P1 $B1)")")"
    assert_only_contact $P1/$B1
}

# bats test_tags=direct
@test "an empty phone is no identity and matches nothing" {
    take "$(payload "$(change messages "\"contacts\":[{\"profile\":{\"name\":\"Ann\"},\"wa_id\":\"\",\"user_id\":\"$B1\"},{\"profile\":{\"name\":\"Ben\"},\"wa_id\":\"\",\"user_id\":\"$B2\"}],\"messages\":[{\"from\":\"\",\"from_user_id\":\"$B2\",\"id\":\"wamid.1\",\"timestamp\":\"1780000000\",\"type\":\"text\"}]")")"
    assert_only_contact none/$B2
    assert_equal "$(contacts | gojq -r '.[0].name')" Ben
}

# bats test_tags=direct
@test "with several statuses, one without an identity is not matched with the single element of contacts" {
    take "$(payload "$(change messages "\"contacts\":[$(card $P1 $B1)],\"statuses\":[{\"id\":\"wamid.1\",\"status\":\"sent\",\"recipient_id\":\"120363@g.us\"},{\"id\":\"wamid.2\",\"status\":\"sent\",\"recipient_id\":\"$P1\"}]")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.2 out unknown sent'
}

# bats test_tags=direct
@test "a message without any identity is kept" {
    take "$(payload "$(inbound wamid.1 '' '' '"type":"text"' '')")"
    assert_equal "$(contacts)" '[]'
    assert_equal "$(db "SELECT CAST(body AS TEXT) FROM platform_update WHERE account_id = '$ACCOUNT'")" \
        "$(message wamid.1 '' '' '"type":"text"')"
}

# bats test_tags=direct
@test "preferences and address book updates add identities to contacts and create no contact" {
    take "$(payload "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 '' $B1)" "$(inbound wamid.3 $P2 '')")"
    take "$(payload "$(change user_preferences "\"contacts\":[$(card $P1 $B1)],\"user_preferences\":[{\"wa_id\":\"$P1\",\"user_id\":\"$B1\",\"detail\":\"x\",\"category\":\"marketing_messages\",\"value\":\"stop\",\"timestamp\":1780000000}]")" \
        "$(change smb_app_state_sync "\"state_sync\":[{\"type\":\"contact\",\"contact\":{\"full_name\":\"Ben\",\"phone_number\":\"$P2\",\"user_id\":\"$B2\",\"username\":\"@ben\"},\"action\":\"add\",\"metadata\":{\"timestamp\":\"1780000000\"}},{\"type\":\"contact\",\"contact\":{\"phone_number\":\"$P3\",\"user_id\":\"$B3\"},\"action\":\"add\"}]")")"
    assert_contacts $P1/$B1 $P2/$B2
    assert_equal "$(contacts | gojq -r '.[1].username')" ben
    assert_equal "$(db "SELECT field, count(*) FROM platform_update WHERE account_id = '$ACCOUNT' GROUP BY field ORDER BY field")" \
        "$(printf 'smb_app_state_sync|2\nuser_preferences|1')"
    assert_no_update_twice
}

# --- statuses ---

# Sends a text through the API on a line of the sandbox; sets `wamid`. TO: members of the body
send_text() {
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",$1,\"text\":\"x\"}"
    assert_success
    wamid=$(gojq -r '.data.messages[0].id' "$body")
}

# bats test_tags=direct
@test "a status resolves its recipient: the phone's contact learns the BSUID" {
    make_account '' && make_line ''
    send_text "\"to\":\"$P1\""
    assert_only_contact $P1/none
    take "$(payload "$(status_of "$wamid" delivered "$(to_both $P1 $B1)" "$(card $P1 $B1)")")"
    assert_only_contact $P1/$B1
    assert_messages "$wamid out text delivered"
}

# bats test_tags=direct
@test "a status with recipient_user_id alone belongs to the contact of the send" {
    make_account '' && make_line ''
    send_text "\"to\":\"$P1\""
    take "$(payload "$(status_of "$wamid" sent "\"recipient_user_id\":\"$B1\"")")"
    assert_only_contact $P1/$B1
    assert_messages "$wamid out text sent"
}

# bats test_tags=direct
@test "a status with a phone belongs to the contact of a send to a BSUID" {
    make_account '' && make_line ''
    send_text "\"recipient\":\"$B1\""
    assert_only_contact none/$B1
    take "$(payload "$(status_of "$wamid" sent "\"recipient_id\":\"$P1\"")")"
    assert_only_contact $P1/$B1
}

# bats test_tags=direct
@test "a status of a known message creates no second contact" {
    make_account '' && make_line ''
    send_text "\"to\":\"$P1\""
    take "$(payload "$(status_of "$wamid" sent "\"recipient_id\":\"$P2\"")")"
    assert_only_contact $P1/none
    assert_messages "$wamid out text sent"
}

# bats test_tags=direct
@test "a message's status never goes backwards, and every status is kept" {
    take "$(payload "$(inbound wamid.0 $P1 $B1)" "$(status_of wamid.1 read "$(to_both $P1 $B1)")" \
        "$(status_of wamid.1 delivered "$(to_both $P1 $B1)")" "$(status_of wamid.1 sent "$(to_both $P1 $B1)")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.0 in text received' 'wamid.1 out unknown read'
    take "$(payload "$(status_of wamid.1 played "$(to_both $P1 $B1)")")"
    assert_messages 'wamid.0 in text received' 'wamid.1 out unknown played'
    assert_equal "$(states wamid.1)" "$(printf '%s\n' delivered played read sent)"
    assert_no_update_twice
}

# The stored statuses of a message, in alphabetical order.
states() {
    db "SELECT s.status FROM message_status s JOIN message m ON m.id = s.message_id
        JOIN line l ON l.id = m.line_id WHERE l.phone_number_id = '$LINE' AND m.wamid = '$1' ORDER BY 1"
}

failure='"errors":[{"code":131047,"title":"Re-engagement message","message":"Re-engagement message","error_data":{"details":"More than 24 hours have passed."},"href":"https:\/\/x.example\/codes"}]'

# bats test_tags=direct
@test "a failure keeps the platform's whole error" {
    take "$(payload "$(status_of wamid.1 failed "\"recipient_id\":\"$P1\",$failure")")"
    assert_only_contact $P1/none
    assert_messages 'wamid.1 out unknown failed'
    assert_equal "$(messages | jq -c '.[0].error')" "$(jq -c .errors <<<"{$failure}")"
    assert_equal "$(db "SELECT CAST(error AS TEXT) FROM message WHERE error IS NOT NULL AND wamid = 'wamid.1' ORDER BY id DESC LIMIT 1")" \
        "${failure#*:}"
}

# bats test_tags=direct
@test "a proof of delivery replaces a failure, and a failure after it is ignored" {
    take "$(payload "$(status_of wamid.1 failed "\"recipient_id\":\"$P1\",$failure")" \
        "$(status_of wamid.1 sent "\"recipient_id\":\"$P1\"")" \
        "$(status_of wamid.2 delivered "\"recipient_id\":\"$P1\"")" \
        "$(status_of wamid.2 failed "\"recipient_id\":\"$P1\",$failure")")"
    assert_only_contact $P1/none
    assert_messages 'wamid.1 out unknown failed' 'wamid.2 out unknown delivered'
    take "$(payload "$(status_of wamid.1 delivered "\"recipient_id\":\"$P1\"")")"
    assert_messages 'wamid.1 out unknown delivered' 'wamid.2 out unknown delivered'
    assert_equal "$(messages | gojq -c '[.[].error]')" '[null,null]'
    assert_equal "$(states wamid.1)" "$(printf '%s\n' delivered failed sent)"
    assert_equal "$(states wamid.2)" "$(printf '%s\n' delivered failed)"
}

# bats test_tags=direct
@test "every member name for a parent BSUID in statuses is read" {
    local key number=0
    for key in recipient_parent_user_id parent_recipient_user_id parent_user_id; do
        number=$((number + 1))
        take "$(payload "$(status_of "wamid.$number" sent "\"recipient_user_id\":\"US.$number\",\"$key\":\"US.ENT.$number\"")")"
        assert_equal "$(db "SELECT parent_bsuid FROM contact WHERE account_id = '$ACCOUNT' AND bsuid = 'US.$number'")" "US.ENT.$number"
    done
}

# bats test_tags=direct
@test "in a group each member's status is kept" {
    take "$(payload "$(status_of wamid.1 delivered '"recipient_id":"120363@g.us","recipient_type":"group","recipient_participant_id":"'$P1'","recipient_participant_user_id":"'$B1'"')" \
        "$(status_of wamid.1 delivered '"recipient_id":"120363@g.us","recipient_type":"group","recipient_participant_user_id":"'$B2'"')")"
    assert_contacts $P1/$B1 none/$B2
    assert_equal "$(states wamid.1)" "$(printf 'delivered\ndelivered')"
    assert_no_update_twice
}

# bats test_tags=direct
@test "a status of an incoming message does not change it" {
    take "$(payload "$(inbound wamid.1 $P1 $B1)" "$(status_of wamid.1 read "$(to_both $P1 $B1)")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received'
}

# bats test_tags=direct,long
@test "a status of an unknown message creates its record, and the content is added later" {
    take "$(payload "$(status_of wamid.1 delivered "$(to_both $P1 $B1)" "$(card $P1 $B1)")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 out unknown delivered'
    take "$(payload "$(change smb_message_echoes "\"message_echoes\":[{\"from\":\"15550100001\",\"to\":\"$P1\",\"id\":\"wamid.1\",\"timestamp\":\"1780000000\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}]")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 out text delivered'
    assert_no_update_twice
    assert_no_events
}

# bats test_tags=direct,long
@test "message.status events are sent only when enabled, with the platform's bytes" {
    local sent="\"recipient_id\":\"$P1\",\"recipient_user_id\":\"$B1\",\"biz_opaque_callback_data\":\"\\u00e4\\/\""
    take "$(payload "$(status_of wamid.1 sent "$sent")")"
    assert_no_events
    switchboard event enable message.status "$EMAIL" >/dev/null
    take "$(payload "$(status_of wamid.1 delivered "$sent")")"
    take "@$BATS_TEST_TMPDIR/webhook"
    switchboard event disable message.status "$EMAIL" >/dev/null
    take "$(payload "$(status_of wamid.1 read "$sent")")"
    assert_events message.status
    assert_only_contact $P1/$B1
    assert_equal "$(events 'del(.timestamp, .data.sequence, .data.status)')" \
        "{\"type\":\"message.status\",\"data\":{\"accountId\":\"$ACCOUNT\",\"wabaid\":\"$WABA\",\"phoneNumberId\":\"$LINE\",\"contact\":{\"id\":\"$contact\",$(person $P1 $B1 null null)},\"threadId\":$(contacts | jq '.[0].threads[0].id')}}"
    [[ $(db "SELECT CAST(body AS TEXT) FROM outbox WHERE contact_id = '$contact'") == *'"status":{"id":"wamid.1","status":"delivered","timestamp":"1780000100",'"$sent"'}}}' ]]
}

# --- stored without an event ---

# bats test_tags=direct
@test "echoes are stored as sent messages, without an event; a reply still causes lead.created" {
    take "$(payload "$(change smb_message_echoes "\"contacts\":[$(card $P1 $B1)],\"message_echoes\":[{\"from\":\"15550100001\",\"to\":\"$P1\",\"to_user_id\":\"$B1\",\"id\":\"wamid.1\",\"timestamp\":\"1780000000\",\"type\":\"image\",\"image\":{\"id\":\"4\"}}]")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 out image sent'
    assert_no_events
    take "$(payload "$(inbound wamid.2 $P1 $B1)")"
    assert_events message.received lead.created/new_contact
}

# A history payload: a thread of the person with MESSAGES: history PHASE MESSAGES
history() {
    change history "\"history\":[{\"metadata\":{\"phase\":$1,\"chunk_order\":1,\"progress\":50},\"threads\":[{\"id\":\"$P1\",\"context\":{\"wa_id\":\"$P1\",\"user_id\":\"$B1\",\"parent_user_id\":\"$PARENT\",\"username\":\"@ann\"},\"messages\":[$2]}]}]"
}

old_in() { # ID TIME
    printf '{"from":"%s","id":"%s","timestamp":"%s","type":"text","text":{"body":"x"},"history_context":{"status":"READ"}}' $P1 "$1" "$2"
}

old_out() { # ID TIME TYPE-AND-MORE STATUS
    printf '{"from":"15550100001","to":"%s","id":"%s","timestamp":"%s",%s,"history_context":{"status":"%s"}}' $P1 "$1" "$2" "$3" "$4"
}

# bats test_tags=direct
@test "history is stored in both directions, in any order of its chunks, without events" {
    take "$(payload "$(history 1 "$(old_in wamid.3 1760000300),$(old_out wamid.4 1760000400 '"type":"text","text":{"body":"y"}' READ)")")"
    take "$(payload "$(history 0 "$(old_in wamid.1 1760000100),$(old_out wamid.2 1760000200 '"type":"text","text":{"body":"y"}' DELIVERED),$(old_out wamid.5 1760000500 '"type":"text","text":{"body":"y"}' ERROR)")")"
    assert_only_contact $P1/$B1
    assert_equal "$(contacts | gojq -r '.[0].username')" ann
    assert_messages 'wamid.1 in text received' 'wamid.2 out text delivered' \
        'wamid.3 in text received' 'wamid.4 out text read' 'wamid.5 out text sent'
    assert_no_events
    assert_no_update_twice
    take "$(payload "$(inbound wamid.6 $P1 $B1)")"
    assert_events message.received
}

# bats test_tags=direct,long
@test "the media of history placeholders are added to them, in either order" {
    local media
    media=$(change history "\"contacts\":[$(card $P1 $B1)],\"messages\":[$(message wamid.1 $P1 '' '"type":"image","image":{"id":"41"}'),{\"from\":\"15550100001\",\"to\":\"$P1\",\"id\":\"wamid.2\",\"timestamp\":\"1760000200\",\"type\":\"video\",\"video\":{\"id\":\"42\"}}]")
    take "$(payload "$(history 0 "{\"from\":\"$P1\",\"id\":\"wamid.1\",\"timestamp\":\"1760000100\",\"type\":\"media_placeholder\"}")")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in media_placeholder received'
    take "$(payload "$media")"
    take "$(payload "$(history 0 "{\"from\":\"$P1\",\"id\":\"wamid.1\",\"timestamp\":\"1760000100\",\"type\":\"media_placeholder\"},$(old_out wamid.2 1760000200 '"type":"media_placeholder"' READ)")")"
    assert_only_contact $P1/$B1
    assert_equal "$(messages | gojq -r '.[] | "\(.wamid) \(.direction) \(.type)"' | sort)" \
        "$(printf 'wamid.1 in image\nwamid.2 out video')"
    assert_equal "$(db "SELECT CAST(body AS TEXT) FROM message WHERE wamid = 'wamid.1' ORDER BY id DESC LIMIT 1")" \
        "$(message wamid.1 $P1 '' '"type":"image","image":{"id":"41"}')"
    assert_no_events
}

# bats test_tags=direct
@test "the update of a history that the business does not share is kept unchanged" {
    take "$(payload "$(change history '"history":[{"errors":[{"code":2593109,"title":"off","message":"off"}]}]')")"
    assert_equal "$(db "SELECT CAST(body AS TEXT) FROM platform_update WHERE account_id = '$ACCOUNT'")" \
        '{"errors":[{"code":2593109,"title":"off","message":"off"}]}'
}

# bats test_tags=direct
@test "a message that history contained first still causes its event when it arrives" {
    take "$(payload "$(history 0 "$(old_in wamid.1 1780000000)")")"
    assert_no_events
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    take "@$BATS_TEST_TMPDIR/webhook"
    assert_events message.received
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received'
    take "$(payload "$(history 0 "$(old_in wamid.1 1780000000)")")"
    assert_events message.received
}

# bats test_tags=direct
@test "removed reactions, system, unsupported and unknown messages, edits and revocations are stored without an event" {
    take "$(payload "$(inbound wamid.1 $P1 $B1 '"type":"reaction","reaction":{"message_id":"wamid.x"}')" \
        "$(inbound wamid.2 $P1 $B1 '"type":"reaction","reaction":{"message_id":"wamid.x","emoji":""}')" \
        "$(inbound wamid.3 $P1 $B1 '"type":"unsupported","errors":[{"code":131051}],"unsupported":{"type":"poll"}')" \
        "$(inbound wamid.4 $P1 $B1 '"type":"unknown","errors":[{"code":131051}]')" \
        "$(inbound wamid.5 $P1 $B1 '"type":"edit","edit":{"original_message_id":"wamid.x","message":{"type":"text"}}')" \
        "$(inbound wamid.6 $P1 $B1 '"type":"revoke","revoke":{"original_message_id":"wamid.x"}')" \
        "$(inbound wamid.7 $P1 $B1 '"type":"system","system":{"type":"customer_identity_changed","identity":"x"}')")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in reaction received' 'wamid.2 in reaction received' \
        'wamid.3 in unsupported received' 'wamid.4 in unknown received' \
        'wamid.5 in edit received' 'wamid.6 in revoke received'
    assert_equal "$(db "SELECT key FROM platform_update WHERE account_id = '$ACCOUNT'")" "message:$LINE:wamid.7"
    assert_no_events
    take "$(payload "$(inbound wamid.8 $P1 $B1)")"
    assert_events message.received lead.created/new_contact
}

# bats test_tags=direct
@test "a message for an archived line is stored without an event" {
    switchboard line archive "$LINE" >/dev/null
    take "$(payload "$(inbound wamid.1 $P1 $B1)" "$(status_of wamid.2 sent "$(to_both $P1 $B1)")" \
        "$(change automatic_events '"automatic_events":[{"id":"wamid.1","event_name":"LeadSubmitted","timestamp":1780000000}]')")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received' 'wamid.2 out unknown sent'
    assert_no_events
}

# bats test_tags=direct
@test "updates for unknown lines and accounts are logged and skipped, the rest is processed" {
    local mine stranger
    mine=$(inbound wamid.1 $P1 $B1)
    stranger=$(LINE=777 inbound wamid.2 $P2 $B2)
    take "$(jq -nc --argjson mine "$mine" --argjson stranger "$stranger" --arg waba "$WABA" '{entry: [
        {id: $waba, changes: [$stranger, $mine]}, {changes: [$stranger]},
        {id: "666", changes: [{field: "account_update", value: {event: "x"}}]},
        {changes: [{field: "account_update", value: {event: "x"}}]}]}')"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received'
    assert_events message.received lead.created/new_contact
    grep -F "skipped \`account_update\` for WABA 666, line none: not ours" "$LOG"
    grep -F "skipped \`messages\` for WABA $WABA, line 777: not ours" "$LOG"
    assert_equal "$(grep '/platform/webhook' "$LOG" | tail -n 1 | jq -c '[.stored, .not_ours, .events]')" '[1,4,2]'
}

# bats test_tags=direct,long
@test "updates for our line under another account's id are logged and skipped, and doctor reports it" {
    local own before
    make_user OTHER_
    own="$ACCOUNT $WABA $LINE"
    EMAIL=$OTHER_EMAIL make_account_line
    local other=$WABA
    read -r ACCOUNT WABA LINE <<<"$own"
    before=$(stored)
    take "$(WABA=$other payload "$(inbound wamid.1 $P1 $B1)" "$(status_of wamid.2 sent "$(to_both $P1 $B1)")")"
    take "$(WABA=666 payload "$(inbound wamid.3 $P1 $B1)")"
    assert_equal "$(stored)" "$before"
    grep -F "skipped \`messages\` for WABA $other, line $LINE: not ours" "$LOG"
    grep -F "skipped \`messages\` for WABA 666, line $LINE: not ours" "$LOG"
    assert_equal "$(grep '/platform/webhook' "$LOG" | tail -n 2 | jq -c '[.stored, .not_ours, .events]')" \
        $'[null,2,0]\n[null,1,0]'
    switchboard doctor >"$BATS_TEST_TMPDIR/doctor" || true
    grep -E "^warn +foreign WABA id +line $LINE of account $WABA: 2 updates named account $other and were skipped, the last at 20" "$BATS_TEST_TMPDIR/doctor"
    grep -E "^warn +foreign WABA id +line $LINE of account $WABA: 1 update named account 666 and was skipped, the last at 20" "$BATS_TEST_TMPDIR/doctor"
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received'
}

@test "of the wrong account ids in updates for a line the last ten are kept" {
    local number changes entries=()
    changes=$(inbound wamid.1 $P1 $B1)
    for ((number = 1; number <= 30; number++)); do
        entries+=("{\"id\":\"66$number\",\"changes\":[$changes]}")
    done
    take "{\"entry\":[$(comma_list "${entries[@]}")]}"
    take "$(WABA=$(printf '7%.0s' {1..3000}) payload "$changes")"
    assert_equal "$(db "SELECT count(*), max(length(waba_id)) FROM foreign_waba JOIN line l ON l.id = line_id WHERE phone_number_id = '$LINE'")" '10|128'
}

@test "an entry without an account id belongs to the account of the line" {
    take "{\"entry\":[{\"changes\":[$(inbound wamid.1 $P1 $B1)]}]}"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received'
    assert_equal "$(events .data.wabaid | sort -u)" "\"$WABA\""
}

# bats test_tags=direct,long
@test "without a configured webhook there are no events, and later no lead for contacts known before" {
    local number
    make_user OTHER_
    EMAIL=$OTHER_EMAIL make_account_line
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_only_contact $P1/$B1
    request POST /v2/webhooks/generate-code -d '{}' --as "$OTHER_TOKEN"
    take "$(payload "$(inbound wamid.2 $P1 $B1)")"
    assert_no_events
    request POST /v2/webhooks/config --as "$OTHER_TOKEN" \
        -d '{"webhookUrl":"http://127.0.0.1:9/hook","webhookCode":"other-code"}'
    take "@$BATS_TEST_TMPDIR/webhook"
    assert_no_events
    take "$(payload "$(inbound wamid.3 $P1 $B1)")"
    assert_events message.received
    request DELETE /v2/webhooks/config --as "$OTHER_TOKEN"
    take "$(payload "$(inbound wamid.4 $P1 $B1)")"
    assert_events message.received
}

# bats test_tags=direct
@test "a deleted user gets no events" {
    make_user OTHER_
    EMAIL=$OTHER_EMAIL make_account_line
    request POST /v2/webhooks/config --as "$OTHER_TOKEN" \
        -d '{"webhookUrl":"http://127.0.0.1:9/hook","webhookCode":"other-code"}'
    switchboard user delete "$OTHER_EMAIL" >/dev/null
    take "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_equal "$(contacts)" '[]' # the account is no longer linked
    assert_no_events
}

# --- leads ---

# bats test_tags=direct,long
@test "lead.created is sent once per contact and source" {
    local referral='"source_url":"https:\/\/fb.me\/x","source_type":"ad","ctwa_clid":"A"' lead
    lead='{"id":"wamid.2","event_name":"LeadSubmitted","timestamp":1780000000,"ctwa_clid":"A\/"}'
    take "$(payload "$(inbound wamid.1 $P1 $B1)" \
        "$(inbound wamid.2 $P1 $B1 "\"type\":\"text\",\"referral\":{$referral}")" \
        "$(inbound wamid.3 $P1 $B1 "\"type\":\"text\",\"referral\":{$referral}")" \
        "$(change automatic_events "\"automatic_events\":[$lead]")" \
        "$(change automatic_events "\"automatic_events\":[${lead/timestamp\":1780000000/timestamp\":1780000001}]")")"
    assert_events message.received lead.created/new_contact message.received lead.created/ad \
        message.received lead.created/lead_event
    assert_only_contact $P1/$B1
    assert_equal "$(events 'select(.type == "lead.created") | del(.timestamp, .data.sequence, .data.referral, .data.leadEvent).data' | jq -sc 'map(del(.source, .messageId)) | unique')" \
        "[{\"accountId\":\"$ACCOUNT\",\"wabaid\":\"$WABA\",\"phoneNumberId\":\"$LINE\",\"contact\":{\"id\":\"$contact\",$(person $P1 $B1 null 'Ann Example')},\"threadId\":$(contacts | jq '.[0].threads[0].id')}]"
    assert_equal "$(events 'select(.type == "lead.created").data | [.source, .messageId, has("referral"), has("leadEvent")]')" \
        "$(printf '%s\n' '["new_contact","wamid.1",false,false]' '["ad","wamid.2",true,false]' '["lead_event","wamid.2",false,true]')"
    [[ $(db "SELECT CAST(body AS TEXT) FROM outbox WHERE contact_id = '$contact' AND instr(CAST(body AS TEXT), '\"ad\",') > 0") == *"\"referral\":{$referral}"* ]]
    [[ $(db "SELECT CAST(body AS TEXT) FROM outbox WHERE contact_id = '$contact' AND instr(CAST(body AS TEXT), 'lead_event') > 0") == *"\"leadEvent\":$lead"* ]]
    assert_no_update_twice
}

# bats test_tags=direct
@test "a first message from an ad causes message.received and both leads" {
    take "$(payload "$(inbound wamid.1 $P1 $B1 '"type":"text","referral":{"source_type":"ad"}')")"
    assert_events message.received lead.created/new_contact lead.created/ad
}

# bats test_tags=direct
@test "the lead event of an unknown message has no contact" {
    take "$(payload "$(change automatic_events '"automatic_events":[{"id":"wamid.9","event_name":"LeadSubmitted","timestamp":1780000000},{"id":"wamid.9","event_name":"Purchase","timestamp":1780000000,"custom_data":{"currency":"EUR","value":1}},{"event_name":"LeadSubmitted","timestamp":1780000002}]')")"
    assert_events lead.created/lead_event lead.created/lead_event
    assert_equal "$(events '.data | [.messageId, .contact, .threadId]')" \
        "$(printf '["wamid.9",null,null]\n[null,null,null]')"
    assert_equal "$(db "SELECT count(*) FROM platform_update WHERE account_id = '$ACCOUNT'")" 3
    assert_no_update_twice
}

# --- flows and templates ---

flow_reply() { # ID CONTEXT RESPONSE
    inbound "$1" $P1 $B1 "${2:+\"context\":{\"id\":\"$2\"\},}\"type\":\"interactive\",\"interactive\":{\"type\":\"nfm_reply\",\"nfm_reply\":{\"name\":\"flow\",\"body\":\"Sent\",\"response_json\":$(jq -n --arg text "$3" '$text')}}"
}

flow_counts() {
    db "SELECT flow_id, count(*) FROM flow_response WHERE account_id = '$ACCOUNT' GROUP BY 1 ORDER BY coalesce(flow_id, '')"
}

# bats test_tags=direct
@test "a reply to a flow is counted for the flow of the message it answers, or of its token" {
    take "$(payload "$(change smb_message_echoes "\"message_echoes\":[{\"from\":\"15550100001\",\"to\":\"$P1\",\"id\":\"wamid.f\",\"timestamp\":\"1780000000\",\"type\":\"interactive\",\"interactive\":{\"type\":\"flow\",\"action\":{\"name\":\"flow\",\"parameters\":{\"flow_id\":\"4101\",\"flow_token\":\"token-1\"}}}}]")")"
    take "$(payload "$(flow_reply wamid.1 wamid.f '{"name":"Ann"}')" \
        "$(flow_reply wamid.2 wamid.x '{"flow_token":"token-1","name":"\u00e4"}')" \
        "$(flow_reply wamid.3 '' '{"flow_token":"token-2"}')" "$(flow_reply wamid.4 '' 'no JSON')")"
    assert_equal "$(flow_counts)" "$(printf '|2\n4101|2')"
    assert_no_update_twice
    db "INSERT INTO flow (account_id, flow_id, name, name_folded, status, validation, created_at, updated_at) VALUES ('$ACCOUNT', '4101', 'F', 'f', 'PUBLISHED', x'5b5d', 1, 1)"
    api GET "/v2/forms/search?accountId=$ACCOUNT"
    assert_json '.data.items[0]._count' '{"responses":2}'
    assert_equal "$(events .type | sort | uniq -c | tr -s ' ')" \
        "$(printf ' 1 "lead.created"\n 4 "message.received"')"
}

# bats test_tags=direct
@test "the reply to a request for an address is an event, and is not counted for a flow" {
    take "$(payload "$(inbound wamid.1 $P1 $B1 '"context":{"id":"wamid.a"},"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":"{\"values\":{\"city\":\"Mumbai\"}}","body":"Mumbai","name":"address_message"}}')")"
    assert_equal "$(events .type | sort)" "$(printf '"lead.created"\n"message.received"')"
    assert_equal "$(flow_counts)" ''
    assert_no_update_twice
}

# bats test_tags=direct
@test "updates of a template's status and category are stored, in any spelling of its language" {
    take "$(payload "$(account_change message_template_status_update '{"event":"APPROVED","message_template_id":1689556908129835,"message_template_name":"t","message_template_language":"en-US","reason":"NONE","message_template_category":"UTILITY"}')")"
    assert_equal "$(templates)" 't|en_US|1689556908129835|APPROVED|UTILITY|'
    take "$(payload "$(account_change message_template_status_update '{"event":"FLAGGED","message_template_id":1689556908129835,"message_template_name":"t","message_template_language":"en_US","reason":null,"disable_info":{"disable_date":"May 2, 2026"}}')" \
        "$(account_change template_category_update '{"message_template_id":1689556908129835,"message_template_name":"t","message_template_language":"en_US","previous_category":"UTILITY","new_category":"MARKETING"}')")"
    assert_equal "$(templates)" 't|en_US|1689556908129835|FLAGGED|MARKETING|'
    take "$(payload "$(account_change message_template_status_update '{"event":"REJECTED","message_template_id":2,"message_template_name":"t","message_template_language":"de","reason":"INVALID_FORMAT","rejection_info":{"reason":"x"}}')")"
    assert_equal "$(templates)" "$(printf 't|de|2|REJECTED||INVALID_FORMAT\nt|en_US|1689556908129835|FLAGGED|MARKETING|')"
    assert_no_update_twice
    assert_no_events
}

templates() {
    db "SELECT name, language, template_id, status, category, reason FROM template WHERE account_id = '$ACCOUNT' ORDER BY 1, 2"
}

# bats test_tags=direct
@test "an update with the same content at another time is a new update" {
    local state at=0
    for state in APPROVED PAUSED APPROVED; do
        at=$((at + 1))
        take "$(payload "$(account_change message_template_status_update "{\"event\":\"$state\",\"message_template_id\":1,\"message_template_name\":\"t\",\"message_template_language\":\"en\"}")" |
            jq -c --argjson time "$at" '.entry[0].time = $time')"
    done
    assert_equal "$(templates)" 't|en|1|APPROVED||'
}

# A change of the template `menu` in en_US, at a second: template_change SECOND FIELD MEMBERS [ID]
template_change() {
    local value="{$3,\"message_template_id\":${4-5},\"message_template_name\":\"menu\",\"message_template_language\":\"en_US\"}"
    printf '{"object":"whatsapp_business_account","entry":[{"id":"%s","time":%s,"changes":[%s]}]}' \
        "$WABA" "$1" "$(account_change "$2" "$value")"
}

template_states() {
    db "SELECT status, category, reason, quality, status_at, quality_at FROM template WHERE account_id = '$ACCOUNT'"
}

# bats test_tags=direct
@test "the last status, reason, quality and category of a template are stored, also if webhooks come late" {
    local state_field=message_template_status_update quality_field=message_template_quality_update
    take "$(template_change 1780000100 $quality_field '"previous_quality_score":"GREEN","new_quality_score":"YELLOW"')"
    assert_equal "$(template_states)" '|||YELLOW||1780000100000'
    take "$(template_change 1780000200 $state_field '"event":"PAUSED","reason":"NONE","message_template_category":"UTILITY"')"
    assert_equal "$(template_states)" 'PAUSED|UTILITY||YELLOW|1780000200000|1780000100000'
    take "$(template_change 1780000150 $state_field '"event":"REJECTED","reason":"SCAM"')"
    take "$(template_change 1780000050 $quality_field '"previous_quality_score":"UNKNOWN","new_quality_score":"GREEN"')"
    assert_equal "$(template_states)" 'PAUSED|UTILITY||YELLOW|1780000200000|1780000100000'
    take "$(template_change 1780000300 $state_field '"event":"REJECTED","reason":"INVALID_FORMAT"')"
    take "$(template_change 1780000300 template_category_update '"previous_category":"UTILITY","new_category":"MARKETING"')"
    take "$(template_change 1780000300 message_template_components_update '"message_template_element":"Hi {{1}}"')"
    assert_equal "$(template_states)" 'REJECTED|MARKETING|INVALID_FORMAT|YELLOW|1780000300000|1780000100000'
    assert_no_update_twice
    assert_no_events
}

# bats test_tags=direct
@test "a template with another id takes the place of the one of the same name and language" {
    take "$(template_change 1780000100 message_template_quality_update '"new_quality_score":"RED"')"
    take "$(template_change 1780000050 message_template_status_update '"event":"APPROVED"' 6)"
    assert_equal "$(template_states)" 'APPROVED||||1780000050000|'
}

# bats test_tags=direct,long
@test "template.status events are sent only when selected, with what changed and the platform's bytes" {
    local state_field=message_template_status_update
    take "$(template_change 1780000100 $state_field '"event":"APPROVED","reason":"NONE"')"
    assert_no_events
    db "UPDATE webhook SET event_types = 'template.status' WHERE user_id = (SELECT user_id FROM account WHERE id = '$ACCOUNT')"
    take "$(template_change 1780000200 $state_field '"event":"PAUSED","reason":null,"other_info":{"title":"FIRST_PAUSE","description":"\u00e4\/"}')"
    take "$(template_change 1780000300 message_template_quality_update '"previous_quality_score":"GREEN","new_quality_score":"RED"')"
    take "$(template_change 1780000400 template_category_update '"previous_category":"UTILITY","new_category":"MARKETING"')"
    take "$(template_change 1780000500 message_template_components_update '"message_template_element":"Hi"')"
    take "$(template_change 1780000600 $state_field '"event":"REJECTED","reason":"SCAM"')"
    take "@$BATS_TEST_TMPDIR/webhook"
    db "UPDATE webhook SET event_types = NULL WHERE user_id = (SELECT user_id FROM account WHERE id = '$ACCOUNT')"
    assert_equal "$(events '.data | [.change, .status, .quality, .previous, .reason, .template.category]')" "$(
        printf '["%s",%s]\n' status '"PAUSED",null,"APPROVED",null,null' quality '"PAUSED","RED","GREEN",null,null' \
            category '"PAUSED","RED","UTILITY",null,"MARKETING"' components '"PAUSED","RED",null,null,"MARKETING"' \
            status '"REJECTED","RED","PAUSED","SCAM","MARKETING"'
    )"
    assert_equal "$(events '.data | del(.sequence, .raw)' | head -n 1)" \
        "{\"accountId\":\"$ACCOUNT\",\"wabaid\":\"$WABA\",\"phoneNumberId\":null,\"contact\":null,\"threadId\":null,\"template\":{\"id\":\"5\",\"name\":\"menu\",\"language\":\"en_US\",\"category\":null},\"change\":\"status\",\"status\":\"PAUSED\",\"quality\":null,\"previous\":\"APPROVED\",\"reason\":null}"
    assert_equal "$(db "SELECT CAST(body AS TEXT) FROM outbox WHERE type = 'template.status' ORDER BY sequence LIMIT 1" | grep -o '"raw":.*}')" \
        '"raw":{"event":"PAUSED","reason":null,"other_info":{"title":"FIRST_PAUSE","description":"\u00e4\/"},"message_template_id":5,"message_template_name":"menu","message_template_language":"en_US"}}}'
    assert_equal "$(db "SELECT DISTINCT coalesce(order_key, 'none') FROM delivery d JOIN event e ON e.id = d.event_id WHERE e.type = 'template.status'")" none
}

# bats test_tags=direct
@test "updates of a flow's status are stored" {
    db "INSERT INTO flow (account_id, flow_id, name, name_folded, status, validation, created_at, updated_at) VALUES ('$ACCOUNT', '4101', 'F', 'f', 'DRAFT', x'5b5d', 1, 1)"
    take "$(payload "$(account_change flows '{"event":"FLOW_STATUS_CHANGE","message":"x","flow_id":"4101","old_status":"DRAFT","new_status":"PUBLISHED"}')" \
        "$(account_change flows '{"event":"FLOW_STATUS_CHANGE","message":"x","flow_id":"4102","old_status":"DRAFT","new_status":"PUBLISHED"}')")"
    assert_equal "$(db "SELECT flow_id, status FROM flow WHERE account_id = '$ACCOUNT'")" '4101|PUBLISHED'
}

# bats test_tags=direct
@test "errors of the account are kept, and the messages in the same payload are stored" {
    take "$(payload "$(change messages "\"errors\":[{\"code\":130429,\"title\":\"x\"}],\"contacts\":[$(card $P1 $B1)],\"messages\":[$(message wamid.1 $P1 $B1 '"type":"interactive"')]")" \
        "$(change messages '"errors":[{"code":131000}]')")"
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in interactive received'
    assert_equal "$(db "SELECT count(*) FROM platform_update WHERE account_id = '$ACCOUNT' AND instr(CAST(body AS TEXT), 'errors') > 0")" 2
    assert_events message.received lead.created/new_contact
}

# --- failures of the database ---

assert_later() {
    assert_error 503 INTERNAL_ERROR
    [[ $(header Retry-After) =~ ^[1-9][0-9]*$ ]] || fail_answer "expected a Retry-After"
}

# bats test_tags=long
@test "a database locked for 10 s is 503, and the platform's retry is then accepted" {
    local before
    before=$(stored)
    hold_database
    deliver "$(payload "$(inbound wamid.1 $P1 $B1)")"
    assert_later
    assert_equal "$(stored)" "$before"
    deliver "@$BATS_TEST_TMPDIR/webhook"
    assert_later
    release_database
    deliver "@$BATS_TEST_TMPDIR/webhook"
    assert_status 200
    assert_only_contact $P1/$B1
    assert_messages 'wamid.1 in text received'
    assert_events message.received lead.created/new_contact
}

is_taken() {
    deliver "@$BATS_TEST_TMPDIR/webhook"
    [[ $status == 200 ]]
}

@test "a missing database is 503 until it is back" {
    local before
    before=$(stored)
    take_database_away
    deliver "$(payload "$(inbound wamid.1 $P1 $B1)")"
    bring_database_back
    assert_later
    assert_equal "$(stored)" "$before"
    # a process that may not connect again answers one request with this failure and ends
    [[ -z ${SERVER-} ]] || eventually is_taken
    take "@$BATS_TEST_TMPDIR/webhook"
    assert_only_contact $P1/$B1
    assert_events message.received lead.created/new_contact
}

@test "a file that is not a database is 503 until it is replaced" {
    only_on_sqlite 'a server has no such file'
    # SQLite takes the log of the former database for that of the other file, and may empty it
    db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    mv "$DB" "$DB.away"
    head -c 8192 /dev/zero | tr '\0' x >"$DB"
    deliver "$(payload "$(inbound wamid.1 $P1 $B1)")"
    mv "$DB.away" "$DB"
    assert_later
    take "@$BATS_TEST_TMPDIR/webhook"
    assert_only_contact $P1/$B1
}
