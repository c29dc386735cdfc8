#!/usr/bin/env bats
# POST /PHONE/messages in the platform's own form: the platform gets the bytes of the client, and the
# gateway records what /v2 records. GET /WABA/message_templates: pages.
load helpers/all
load helpers/batch
load helpers/conventions
load helpers/graph
load helpers/graph_bytes
load helpers/webhook

setup_file() {
    start_stack
    make_user
    sandbox POST media "{\"wabaId\":\"$WABA\",\"id\":\"7001\",\"mimeType\":\"image/png\",\"size\":10}" >/dev/null
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"items\":[{\"id\":\"7002\",\"name\":\"f\",
        \"status\":\"PUBLISHED\"}]}" >/dev/null
    sandbox POST settings '{"pagingToken":true}' >/dev/null
    write_config 'public_url = https://gw.example.org'
}

setup() {
    forget_sent
    to=1555$((1000000 + $(next_number)))
}

# --- requests and records ---

# Sends a body: send TEXT [option of request...]
send() {
    graph POST "/v23.0/$LINE/messages" -d "$1" "${@:2}"
}

# Prints the body of a text to $to.
plain() {
    printf '{"messaging_product":"whatsapp","to":"%s","type":"text","text":{"body":"x"}}' "$to"
}

FORM='Content-Type: application/x-www-form-urlencoded'

# Expects that the platform accepted the message, and that it received exactly BODY, with the content
# type of the request; sets `wamid`: assert_accepted BODY [TYPE]
assert_accepted() {
    assert_status 200
    assert_conventions
    assert_header Content-Type 'application/json; charset=UTF-8'
    assert_no_platform_token
    wamid=$(gojq -r '.messages[0].id' "$body")
    [[ $wamid == wamid.* ]] || fail_answer 'expected the id of a message'
    assert_equal "$(last_sent .bodySha256)" "$(printf '%s' "$1" | sha256sum | cut -d ' ' -f 1)"
    assert_sent "$1"
    assert_sent_to "$LINE/messages"
    assert_equal "$(last_sent '.headers["content-type"]')" "${2-application/json}"
    assert_equal "$(token_sent)" "Bearer $PLATFORM_TOKEN"
}

# Prints what is stored of a message, without its body: record_of WAMID
record_of() {
    db "SELECT m.direction, m.source, m.type, m.status, coalesce(m.context_wamid, '-'),
            coalesce(c.phone, '-'), coalesce(c.bsuid, '-'), c.account_id, l.phone_number_id,
            t.user_id = m.user_id
        FROM message m JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id
        JOIN line l ON l.id = m.line_id WHERE m.wamid = '$1'"
}

body_of() {
    db "SELECT CAST(body AS TEXT) FROM message WHERE wamid = '$1'"
}

recorded() {
    db 'SELECT (SELECT count(*) FROM contact), (SELECT count(*) FROM thread), (SELECT count(*) FROM message)'
}

# --- the bytes ---

@test "a message is passed on byte for byte, answered with the platform's bytes, and recorded" {
    local text
    text=$(plain)
    send "$text"
    assert_accepted "$text"
    assert_body_is "{\"messaging_product\":\"whatsapp\",\"contacts\":[{\"input\":\"$to\",\"wa_id\":\"$to\"}],\"messages\":[{\"id\":\"$wamid\"}]}"
    assert_equal "$(record_of "$wamid")" "out|api|text|accepted|-|$to|-|$ACCOUNT|$LINE|1"
    assert_equal "$(body_of "$wamid")" "$text"
}

# bats test_tags=direct,long
@test "spaces, escapes, null, unknown members, any order and a spelling of the phone stay as they are" {
    local text spelled="+${to:0:1} (${to:1:3}) ${to:4:3}-${to:7}"
    while IFS= read -r text; do
        printf 'case: %s\n' "$text"
        send "$text"
        assert_accepted "$text"
        assert_equal "$(record_of "$wamid" | cut -d '|' -f 3,5,6)" "text|-|$to"
        assert_equal "$(body_of "$wamid")" "$text"
    done <<END
{ "text" : { "body" : "a\\/b \\u00fc ü" } , "to" : "$spelled" ,	"messaging_product":"whatsapp","type":"text"}
{"messaging_product":"whatsapp","context":null,"to":"$to","type":"text","text":{"body":"x","preview_url":null}}
{"type":"text","text":{"body":"x"},"to":"\\u0031${to:1}","messaging_product":"whatsapp","recipient":null}
{"messaging_product":"whatsapp","recipient_type":"individual","to":"$to","type":"text","text":{"body":"x"}}
{"messaging_product":"whatsapp","to":"$to","text":{"body":"no type"}}
END
}

# bats test_tags=direct
@test "the content type is passed on with its charset, which must be UTF-8" {
    local text
    text=$(plain)
    send "$text" -H 'Content-Type: Application/JSON;charset="UTF-8"; profile=x'
    assert_accepted "$text" 'application/json; charset="UTF-8"'
    forget_sent
    send "$text" -H 'Content-Type: application/json; charset=utf-16'
    assert_graph_error 400 100 OAuthException UTF-8
    assert_nothing_sent
}

# bats test_tags=direct
@test "an object may be a JSON text: the platform gets the text, the record has the object" {
    local text contact='[{"name":{"formatted_name":"A","first_name":"A"}}]'
    text="{\"messaging_product\":\"whatsapp\",\"to\":\"$to\",\"type\":\"contacts\",\"contacts\":$(jq -n --arg c "$contact" '$c')}"
    send "$text"
    assert_accepted "$text"
    assert_equal "$(body_of "$wamid")" "{\"messaging_product\":\"whatsapp\",\"to\":\"$to\",\"type\":\"contacts\",\"contacts\":$contact}"
    api GET "/v2/messages/$wamid"
    assert_success
    assert_text '.data.body.contacts[0].name.formatted_name // .data.contacts[0].name.formatted_name' A
}

# bats test_tags=direct
@test "a form is passed on byte for byte, and recorded as the object that it stands for" {
    local text
    while IFS= read -r text; do
        printf 'case: %s\n' "$text"
        send "$text" -H "$FORM"
        assert_accepted "$text" application/x-www-form-urlencoded
        assert_equal "$(record_of "$wamid")" "out|api|text|accepted|-|$to|-|$ACCOUNT|$LINE|1"
        assert_equal "$(body_of "$wamid" | gojq -c '[.to | gsub("[^0-9]"; "")] + [.text.body]')" \
            "[\"$to\",\"a b\"]"
    done <<END
messaging_product=whatsapp&to=%2B$to&type=text&text=%7B%22body%22%3A%22a+b%22%7D
messaging_product=whatsapp&to=$to&type=text&text[body]=a%20b
type=text&text%5Bbody%5D=a+b&to=%2B${to:0:1}+${to:1}&messaging_product=whatsapp
END
}

# bats test_tags=direct
@test "the token of a form is removed, and nothing else" {
    request POST "/v23.0/$LINE/messages" -H "$FORM" \
        -d "messaging_product=whatsapp&to=$to&access_token=$TOKEN&type=text&text[body]=x"
    assert_accepted "messaging_product=whatsapp&to=$to&type=text&text[body]=x" \
        application/x-www-form-urlencoded
    if body_of "$wamid" | grep -qF "$TOKEN"; then
        fail 'the record holds the token'
    fi
}

# bats test_tags=direct
@test "a message to a BSUID is recorded for it" {
    local bsuid=US.13491208655$RANDOM text
    text="{\"messaging_product\":\"whatsapp\",\"recipient\":\"$bsuid\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
    send "$text"
    assert_accepted "$text"
    assert_equal "$(record_of "$wamid" | cut -d '|' -f 6,7)" "-|$bsuid"
}

# bats test_tags=direct
@test "a BSUID in to is 400/100, because its digits are the phone of another person" {
    send "{\"messaging_product\":\"whatsapp\",\"to\":\"us.13491208655302741918\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
    assert_graph_error 400 100 OAuthException 'send it as recipient'
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "the same message sent through /v2 and in the platform's own form has the same record" {
    local kind path ours theirs first fields
    fields="SELECT coalesce((SELECT group_concat(flow_id || token = m.wamid) FROM flow_token f
        WHERE f.token = m.wamid), '-') FROM message m WHERE wamid"
    while IFS='|' read -r path ours theirs; do
        printf 'case: %s\n' "$path"
        api POST "/v2/$path" -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",$ours}"
        assert_success
        first=$(gojq -r '.data.messages[0].id' "$body")
        theirs="{\"messaging_product\":\"whatsapp\",\"recipient_type\":\"individual\",\"to\":\"$to\",$theirs}"
        assert_sent "$theirs"
        send "$theirs"
        assert_accepted "$theirs"
        assert_equal "$(record_of "$wamid")" "$(record_of "$first")"
        assert_equal "$(body_of "$wamid")" "$(body_of "$first")"
        assert_equal "$(db "$fields = '$wamid'")" "$(db "$fields = '$first'")"
    done <<'END'
messages/send/text|"text":"x","contextMessageWamid":"wamid.a="|"context":{"message_id":"wamid.a="},"type":"text","text":{"body":"x"}
messages/send/media|"media":{"type":"image","mediaId":"7001","caption":"c"}|"type":"image","image":{"id":"7001","caption":"c"}
messages/send/reaction|"messageId":"wamid.a=","emoji":"👍"|"type":"reaction","reaction":{"message_id":"wamid.a=","emoji":"👍"}
messages/send/location|"location":{"latitude":1.5,"longitude":"2"}|"type":"location","location":{"latitude":1.5,"longitude":"2"}
messages/send/interactive/flow|"bodyText":"b","buttonText":"o","flowId":"7002","flowToken":"T1"|"type":"interactive","interactive":{"type":"flow","body":{"text":"b"},"action":{"name":"flow","parameters":{"flow_message_version":"3","flow_id":"7002","flow_cta":"o","flow_token":"T1"}}}
END
    assert_equal "$(db "SELECT flow_id FROM flow_token WHERE token = '$wamid'")" 7002
    assert_equal "$(db "SELECT flow_id FROM flow_token WHERE token = 'T1'")" 7002
}

# bats test_tags=direct
@test "replies to a template with a flow are counted, when its list was read in the platform's own form" {
    local text
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[{\"id\":\"7100\",
        \"name\":\"with_flow\",\"language\":\"de\",\"status\":\"APPROVED\",\"category\":\"UTILITY\",
        \"components\":[{\"type\":\"BODY\",\"text\":\"Hi\"},{\"type\":\"BUTTONS\",\"buttons\":[
        {\"type\":\"FLOW\",\"text\":\"Open\",\"flow_id\":\"7002\"}]}]}]}" >/dev/null
    graph GET "/v23.0/$WABA/message_templates"
    assert_status 200
    text="{\"messaging_product\":\"whatsapp\",\"to\":\"$to\",\"type\":\"template\",\"template\":{\"name\":\"with_flow\",\"language\":{\"code\":\"de\"},\"components\":[{\"type\":\"button\",\"sub_type\":\"flow\",\"index\":\"0\",\"parameters\":[{\"type\":\"action\",\"action\":{\"flow_token\":\"T2\"}}]}]}}"
    send "$text"
    assert_accepted "$text"
    assert_equal "$(db "SELECT count(*) FROM flow_token WHERE token IN ('$wamid', 'T2') AND flow_id = '7002'")" 2
}

# bats test_tags=direct
@test "a status updates the message" {
    local text
    text=$(plain)
    send "$text"
    assert_accepted "$text"
    take "$(payload "$(status_of "$wamid" delivered "\"recipient_id\":\"$to\"")")"
    assert_equal "$(record_of "$wamid")" "out|api|text|delivered|-|$to|-|$ACCOUNT|$LINE|1"
    assert_equal "$(db "SELECT count(*) FROM message WHERE wamid = '$wamid'")" 1
}

# bats test_tags=direct
@test "a message whose members stand in the query is passed on and recorded" {
    local query="messaging_product=whatsapp&to=$to&type=text&text=%7B%22body%22%3A%22x%22%7D"
    graph POST "/v23.0/$LINE/messages?$query"
    assert_status 200
    assert_sent ''
    assert_equal "$(query_sent)" "$query"
    assert_equal "$(record_of "$(gojq -r '.messages[0].id' "$body")" | cut -d '|' -f 3,6)" "text|$to"
    forget_sent
    graph POST "/v23.0/$LINE/messages?to=$to" -d '{"messaging_product":"whatsapp","type":"text","text":{"body":"x"}}'
    assert_graph_error 400 100 OAuthException 'must stand in the body'
    assert_nothing_sent
}

# --- what is refused or not recorded ---

# bats test_tags=direct
@test "a body that cannot be read is 400/100, and the platform is not called" {
    local text before
    before=$(recorded)
    for text in '{' '[]' '"x"' '{"to":"1"} x' $'\xff'; do
        send "$text"
        assert_graph_error 400 100 OAuthException '(#100)'
    done
    send 'to=%zz' -H "$FORM"
    assert_graph_error 400 100 OAuthException form
    send "<to>$to</to>" -H 'Content-Type: text/xml'
    assert_graph_error 400 100 OAuthException '(#100)'
    assert_nothing_sent
    assert_equal "$(recorded)" "$before"
}

# bats test_tags=direct
@test "an error of the platform is answered with its status and bytes, and nothing is recorded" {
    local before error
    error='{ "error":{"message":"(#131030) no","type":"OAuthException","code":131030,"fbtrace_id":"A\/1"}}'
    before=$(recorded)
    for number in 400 401 403 404 429 500; do
        platform_answers "$number" "$error"
        send "$(plain)"
        assert_status "$number"
        assert_body_is "$error"
        [[ $number != 401 ]] || assert_header WWW-Authenticate 'Bearer realm="switchboard"'
    done
    assert_equal "$(recorded)" "$before"
}

@test "a blocked contact is 403/10 in every spelling, and the platform is not called" {
    local text
    switchboard contact block "$LINE" "+$to"
    for text in "{\"to\":\"$to\",\"text\":{}}" "{\"to\":$to}" "{\"to\":\"+${to:0:1}-${to:1}\",\"type\":\"x\"}" \
        "{\"t\\u006f\":\"$to\"}" "{\"to\":\"$to\",\"recipient_type\":\"Individual\"}"; do
        send "$text"
        assert_graph_error 403 10 OAuthException blocked
    done
    for text in "{\"to\":\"1555\",\"to\":\"$to\"}" "{\"to\":\"$to\",\"to\":\"1555\"}"; do
        send "$text"
        assert_graph_error 400 100 OAuthException 'the member to twice'
    done
    send "to=%2B$to&type=text" -H "$FORM"
    assert_graph_error 403 10 OAuthException blocked
    graph POST "/v23.0/$LINE/messages?to=$to"
    assert_graph_error 403 10 OAuthException blocked
    assert_nothing_sent
    switchboard contact unblock "$LINE" "$to"
}

# bats test_tags=direct
@test "a user whose plan has ended is 403/10, and the platform is not called" {
    switchboard plan set "$EMAIL" Premium --ends 2020-01-01 >/dev/null
    send "$(plain)"
    switchboard plan set "$EMAIL" Premium >/dev/null
    assert_graph_error 403 10 OAuthException plan
    assert_nothing_sent
}

# bats test_tags=direct
@test "an archived line, and a line of another user, are 400/100/33" {
    local line
    make_user OTHER_
    switchboard line add "$ACCOUNT" --phone-number-id 777 --number +15557770777 >/dev/null
    switchboard line archive 777
    for line in 777 "$OTHER_LINE" "$OTHER_WABA" 1; do
        graph POST "/v23.0/$line/messages" -d "{\"to\":\"$to\"}"
        assert_graph_error 400 100 GraphMethodException 'does not exist'
        assert_json .error.error_subcode 33
    done
    assert_nothing_sent
}

# bats test_tags=direct
@test "read receipts and typing indicators are passed on and not recorded; a key has no effect on them" {
    local text before
    before=$(recorded)
    for text in '{"messaging_product":"whatsapp","status":"read","message_id":"wamid.x="}' \
        '{"messaging_product":"whatsapp","status":"read","message_id":"wamid.x=","typing_indicator":{"type":"text"}}'; do
        for _ in 1 2; do
            send "$text" -H "Idempotency-Key: read-$to"
            assert_status 200
            assert_body_is '{"success":true}'
            assert_sent "$text"
        done
    done
    assert_equal "$(sent_count)" 4
    assert_equal "$(recorded)" "$before"
    assert_equal "$(db "SELECT count(*) FROM idempotency WHERE key = 'read-$to'")" 0
}

# bats test_tags=direct
@test "a read receipt for a message of a blocked contact is 403/10, and the platform is not called" {
    send "$(plain)"
    wamid=$(gojq -r '.messages[0].id' "$body")
    switchboard contact block "$LINE" "+$to"
    forget_sent
    send "{\"messaging_product\":\"whatsapp\",\"status\":\"read\",\"message_id\":\"$wamid\"}"
    assert_graph_error 403 10 OAuthException blocked
    assert_nothing_sent
    switchboard contact unblock "$LINE" "$to"
}

# bats test_tags=long
@test "a message that looks like a read receipt is recorded when the platform accepts it, and blocked" {
    local more text number=0
    for more in '"status":"x"' '"status":"read"' '"typing_indicator":{"type":"text"}' \
        '"status":"read","typing_indicator":{}'; do
        text="$(plain)"
        text="${text%\}},$more}"
        number=$((number + 1))
        fault "$(gojq -nc --arg to "$to" --arg id "wamid.like$to$number" '{status: 200, body: {
            messaging_product: "whatsapp", contacts: [{input: $to, wa_id: $to}],
            messages: [{id: $id}]} | tojson}')"
        send "$text"
        assert_status 200
        assert_equal "$(body_of "wamid.like$to$number")" "$text"
        switchboard contact block "$LINE" "+$to"
        forget_sent
        send "$text"
        assert_graph_error 403 10 OAuthException blocked
        assert_nothing_sent
        switchboard contact unblock "$LINE" "$to"
    done
}

# --- Idempotency-Key ---

@test "twins with one Idempotency-Key are sent once, and answered with the same bytes" {
    local key="key-$to" tracking sent
    send "$(plain)" -H "Idempotency-Key: $key"
    assert_status 200
    refute_header Idempotent-Replayed
    cp "$body" "$BATS_TEST_TMPDIR/first"
    sent=$(sent)
    tracking=$(gojq -r .biz_opaque_callback_data <<<"$sent")
    [[ $tracking == req_* ]] || fail "$sent"
    # only the callback data was added
    assert_equal "${sent/,\"biz_opaque_callback_data\":\"$tracking\"/}" "$(plain)"
    for version in v23.0 v13.0; do
        request POST "/$version/$LINE/messages/" -d "$(plain)" --as "$TOKEN" -H "Idempotency-Key: $key"
        assert_status 200
        assert_header Idempotent-Replayed true
        assert_header Content-Type 'application/json; charset=UTF-8'
        assert_body_is "@$BATS_TEST_TMPDIR/first"
    done
    assert_equal "$(sent_count)" 1
    send "$(plain) " -H "Idempotency-Key: $key"
    assert_graph_error 422 100 OAuthException 'another body'
    api POST /v2/messages/send/text -H "Idempotency-Key: $key" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_error 422 VALIDATION_ERROR 'another route'
    assert_equal "$(sent_count)" 1
}

# Sends a body as a marketing message: send_marketing TEXT [option of request...]
send_marketing() {
    graph POST "/v23.0/$LINE/marketing_messages" -d "$1" "${@:2}"
}

# Prints the body of a marketing template to $to, with further members: sale [MEMBERS]
sale() {
    printf '{"messaging_product":"whatsapp","recipient_type":"individual","to":"%s","type":"template",
        "template":{"name":"sale","language":{"code":"en_US"}}%s}' "$to" "${1-}"
}

make_sale() {
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"items\":[{\"id\":\"7010\",\"name\":\"sale\",
        \"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"MARKETING\",
        \"components\":[{\"type\":\"BODY\",\"text\":\"Less.\"}]}]}" >/dev/null
}

@test "a marketing message is passed on byte for byte, and recorded like another template" {
    local text
    make_sale
    text=$(sale ',"product_policy":"STRICT","message_activity_sharing":true')
    send_marketing "$text"
    assert_status 200
    assert_text '.messages[0].message_status' accepted
    wamid=$(gojq -r '.messages[0].id' "$body")
    assert_sent "$text"
    assert_sent_to "$LINE/marketing_messages"
    assert_equal "$(record_of "$wamid")" "out|api|template|accepted|-|$to|-|$ACCOUNT|$LINE|1"
    assert_equal "$(body_of "$wamid")" "$text"
    take "$(payload "$(status_of "$wamid" delivered "\"recipient_id\":\"$to\"")")"
    assert_equal "$(record_of "$wamid" | cut -d '|' -f 4)" delivered
    # the platform refuses what is no marketing template, and nothing is recorded
    text=$(recorded)
    send_marketing "$(plain)"
    assert_status 400
    assert_text .error.error_data.details 'Message must be a template message.'
    send_marketing "{\"messaging_product\":\"whatsapp\",\"status\":\"read\",\"message_id\":\"$wamid\"}"
    assert_status 400
    assert_equal "$(recorded)" "$text"
}

@test "a marketing message to a blocked contact is 403/10, and one with an Idempotency-Key is sent once" {
    local key="sale-$to"
    make_sale
    send_marketing "$(sale)" -H "Idempotency-Key: $key"
    assert_status 200
    cp "$body" "$BATS_TEST_TMPDIR/first"
    send_marketing "$(sale)" -H "Idempotency-Key: $key"
    assert_header Idempotent-Replayed true
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    assert_equal "$(sent_count)" 1
    send "$(sale)" -H "Idempotency-Key: $key"
    assert_graph_error 422 100 OAuthException 'another route'
    switchboard contact block "$LINE" "+$to"
    forget_sent
    send_marketing "$(sale)"
    assert_graph_error 403 10 OAuthException blocked
    assert_nothing_sent
}

# bats test_tags=direct
@test "callback data of the client stays, and a form gets that of the gateway as its last field" {
    local text="{\"biz_opaque_callback_data\":\"mine\",${up-}\"messaging_product\":\"whatsapp\",\"to\":\"$to\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}" tracking
    send "$text" -H "Idempotency-Key: mine-$to"
    assert_accepted "$text"
    send "messaging_product=whatsapp&to=$to&type=text&text[body]=x" -H "$FORM" -H "Idempotency-Key: form-$to"
    assert_status 200
    tracking=$(db "SELECT request_id FROM idempotency WHERE key = 'form-$to'")
    assert_sent "messaging_product=whatsapp&to=$to&type=text&text[body]=x&biz_opaque_callback_data=$tracking"
    send "$(plain)"
    assert_accepted "$(plain)"
}

# bats test_tags=direct
@test "a multipart message is the same with another boundary, and not with another value" {
    local boundary
    for boundary in one two; do
        send_parts "$boundary" "$to" x -H "Idempotency-Key: parts-$to"
        assert_status 200
    done
    assert_header Idempotent-Replayed true
    assert_equal "$(sent_count)" 1
    send_parts one "$to" y -H "Idempotency-Key: parts-$to"
    assert_graph_error 422 100 OAuthException 'another body'
    assert_equal "$(sent_count)" 1
}

# Sends a text as a multipart form: send_parts BOUNDARY TO TEXT [option of request...]
send_parts() {
    local form=$BATS_TEST_TMPDIR/form field
    for field in messaging_product=whatsapp "to=$2" type=text "text[body]=$3"; do
        printf -- '--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' "$1" \
            "${field%%=*}" "${field#*=}"
    done >"$form"
    printf -- '--%s--\r\n' "$1" >>"$form"
    send "@$form" -H "Content-Type: multipart/form-data; boundary=$1" "${@:4}"
}

# bats test_tags=direct
@test "an error of the platform is replayed, and a refusal of the gateway does not use the key up" {
    local key="error-$to"
    switchboard contact block "$LINE" "+$to"
    send "$(plain)" -H "Idempotency-Key: $key"
    assert_graph_error 403 10 OAuthException blocked
    switchboard contact unblock "$LINE" "$to"
    platform_answers 400 '{"error":{"code":131030}}'
    for _ in 1 2; do
        send "$(plain)" -H "Idempotency-Key: $key"
        assert_status 400
        assert_body_is '{"error":{"code":131030}}'
    done
    assert_header Idempotent-Replayed true
    assert_equal "$(sent_count)" 1
}

@test "16 simultaneous messages with one Idempotency-Key reach the platform once" {
    request_many 16 POST "/v23.0/$LINE/messages" -d "$(plain)" --as "$TOKEN" -H "Idempotency-Key: many-$to"
    [[ $(statuses) =~ ^([0-9]+)\ 200($|$'\n'[0-9]+\ 409$) ]] || fail "$(statuses)"
    assert_equal "$(sent_count)" 1
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '$to'")" 1
}

# bats test_tags=direct
@test "a message of unknown outcome is 409, and a success once a status of it arrives" {
    local key="lost-$to" tracking record spelled="+${to:0:1} ${to:1}" text
    text=$(plain)
    text=${text/$to/$spelled}
    send "$text" -H "Idempotency-Key: $key"
    assert_status 200
    cp "$body" "$BATS_TEST_TMPDIR/first"
    wamid=$(gojq -r '.messages[0].id' "$body")
    tracking=$(sent | gojq -r .biz_opaque_callback_data)
    record=$(record_of "$wamid" | sed 's/accepted/sent/')
    db "UPDATE idempotency SET status = NULL, answer = NULL, created_at = created_at - 3600000
        WHERE key = '$key'; PRAGMA foreign_keys = ON; DELETE FROM message WHERE wamid = '$wamid'"
    send "$text" -H "Idempotency-Key: $key"
    assert_graph_error 409 100 OAuthException 'may or may not have been carried out'
    take "$(payload "$(status_of "$wamid" sent "\"recipient_id\":\"$to\",\"biz_opaque_callback_data\":\"$tracking\"")")"
    for _ in 1 2; do
        send "$text" -H "Idempotency-Key: $key"
        assert_status 200
        assert_header Idempotent-Replayed true
        assert_body_is "@$BATS_TEST_TMPDIR/first"
    done
    assert_equal "$(record_of "$wamid")" "$record"
    assert_equal "$(body_of "$wamid")" "$text"
    assert_equal "$(sent_count path=/messages)" 1
}

# --- pages of templates ---

# Follows the links from PATH to the end; sets `pages`, and `names` to a file of all names:
# walk PATH [option of request...]
walk() {
    local next=$1
    names=$BATS_TEST_TMPDIR/names pages=0
    : >"$names"
    while [[ -n $next ]]; do
        request GET "$next" "${@:2}"
        assert_status 200
        assert_no_platform_token
        gojq -r '.data[].name' "$body" >>"$names"
        next=$(gojq -r '.paging.next // ""' "$body")
        [[ -z $next || $next == https://gw.example.org/* ]] || fail "not a link to the gateway: $next"
        next=${next#https://gw.example.org}
        ((++pages < 100)) || fail 'the pages do not end'
    done
}

# shellcheck disable=SC2030,SC2031  # each test has its own names
# bats test_tags=long
@test "the pages of 250 templates can be followed to the end, with the token in a header or in the query" {
    local prefix
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[],
        \"generate\":{\"count\":250,\"prefix\":\"t\"}}" >/dev/null
    for prefix in /v23.0 '' /graph/v14.0 /graph; do
        walk "$prefix/$WABA/message_templates?limit=100&fields=name" --as "$TOKEN"
        assert_equal "$pages $(sort -u "$names" | wc -l) $(wc -l <"$names")" '3 250 250'
        # the client has put no token into the query, so the links have none
        request GET "$prefix/$WABA/message_templates?limit=100" --as "$TOKEN"
        assert_that ".paging.next | startswith(\"https://gw.example.org$prefix/$WABA/message_templates?\")
            and (contains(\"access_token\") | not)"
        walk "$prefix/$WABA/message_templates?access_token=$TOKEN&limit=100"
        assert_equal "$pages $(sort -u "$names" | wc -l) $(wc -l <"$names")" '3 250 250'
    done
    request GET "/v23.0/$WABA/message_templates?limit=100&access_token=$TOKEN"
    assert_that ".paging.next | endswith(\"&access_token=$TOKEN\")"
    request GET "$(gojq -r .paging.next "$body" | sed 's|https://gw.example.org||')"
    assert_that ".paging.previous | startswith(\"https://gw.example.org/v23.0/\") and endswith(\"&access_token=$TOKEN\")"
}

# bats test_tags=direct
@test "a link is replaced byte by byte, also one within a node, and all other bytes stay" {
    local before after
    before='{ "data":[ {"name":"a\/b","paging":{"next":"https://x/y"}}],"url":"https:\/\/x","paging":{"cursors":{"after":"Q\/="},"next":"https:\/\/graph.facebook.com\/v26.0\/1\/message_templates?access_token=EAA&limit=1\u0026after=Q","previous" : "https://graph.facebook.com/v26.0/1?access_token=EAA"}, "n":1e400,"flows":{"paging":{"next":"https://graph.facebook.com/v26.0/1/flows?access_token=EAA&a=1"}}}'
    after='{ "data":[ {"name":"a\/b","paging":{"next":"https://x/y"}}],"url":"https:\/\/x","paging":{"cursors":{"after":"Q\/="},"next":"https://gw.example.org/v23.0\/1\/message_templates?limit=1\u0026after=Q","previous" : "https://gw.example.org/v23.0/1"}, "n":1e400,"flows":{"paging":{"next":"https://gw.example.org/v23.0/1/flows?a=1"}}}'
    platform_answers 200 "$before"
    graph GET "/v23.0/$WABA/message_templates"
    assert_status 200
    assert_body_is "$after"
}

# bats test_tags=direct
@test "without public_url an answer with a link is an error that names the key, any other is not" {
    write_config
    graph GET "/v23.0/$WABA/message_templates?limit=250"
    assert_status 200
    platform_answers 200 '{"data":[],"paging":{"next":"https://graph.facebook.com/v26.0/1?access_token=E"}}'
    graph GET "/v23.0/$WABA/message_templates"
    write_config 'public_url = https://gw.example.org'
    assert_graph_error 500 1 OAuthException public_url
}
