#!/usr/bin/env bats
# /v2/campaigns: a template that is sent to a list of people, once to each.
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/inbox
load helpers/routes
load helpers/sender
load helpers/webhook

setup_file() {
    start_stack
    make_user OTHER_
    make_user
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[
        {\"id\":\"71\",\"name\":\"offer\",\"language\":\"de\",\"status\":\"APPROVED\",
         \"category\":\"MARKETING\",\"components\":[{\"type\":\"BODY\",\"text\":\"{{1}}: {{2}}\"}]},
        {\"id\":\"72\",\"name\":\"plain\",\"language\":\"de\",\"status\":\"APPROVED\",
         \"category\":\"UTILITY\",\"components\":[{\"type\":\"BODY\",\"text\":\"x\"}]},
        {\"id\":\"73\",\"name\":\"bad\",\"language\":\"de\",\"status\":\"REJECTED\",
         \"category\":\"UTILITY\",\"components\":[{\"type\":\"BODY\",\"text\":\"x\"}]}]}" >/dev/null
}

setup() {
    forget_sent
    sandbox DELETE faults >/dev/null
    db 'DELETE FROM outgoing; DELETE FROM campaign_recipient; DELETE FROM campaign_count;
        DELETE FROM campaign; DELETE FROM sender_lease; DELETE FROM sender_streak'
    have_pulse
    components='[{"type":"body","parameters":[{"type":"text","text":"{{name}}"},
        {"type":"text","text":"Nr. {{ code }}!"}]}]'
}

# Whatever a test has done, the counts are those of the recipients.
teardown() {
    stop_senders
    counts_are_a_recount
}

teardown_file() {
    stop_stack
}

# Makes a draft: draft [MEMBERS [option of request...]]. Sets `campaign`.
draft() {
    api POST /v2/campaigns "${@:2}" -d "{\"phoneNumberId\":\"$LINE\",\"name\":\"Herbst\",
        ${1-\"templateName\":\"offer\",\"language\":\"de\",\"components\":$components}}"
    campaign=$(gojq -r '.data.id // ""' "$body")
}

# Uploads lines: upload LINES [QUERY]
upload() {
    printf '%b' "$1" >"$BATS_TEST_TMPDIR/table"
    api PUT "/v2/campaigns/$campaign/recipients${2-}" -H 'Content-Type: text/csv' \
        -d "@$BATS_TEST_TMPDIR/table"
}

act() { # DEED [BODY]
    api POST "/v2/campaigns/$campaign/$1" -d "${2-{\}}"
}

counts_are() { # STATE NUMBER
    api GET "/v2/campaigns/$campaign"
    [[ $(gojq ".data.counts.$1" "$body") == "$2" ]]
}

# The counts of a campaign that are not 0, and those of the lines of its CSV: a line for each.
counts_of() {
    api GET "/v2/campaigns/$1"
    gojq -r '.data | (.counts | to_entries[] | [.key, .value]),
        (.delivery | to_entries[] | ["delivery " + .key, .value]),
        (.errors[] | ["error \(.code)", .count]) | select(.[1] != 0) | join(" ")' "$body" | sort
}

recount_of() {
    api GET "/v2/campaigns/$1/recipients.csv"
    tr -d '\r' <"$body" | awk -F , 'NR > 1 {
            n[$2]++
            if ($6) n["delivery " $6]++
            if ($3 == "held" && !$6) n["delivery held"]++
            if ($4 && ($2 == "failed" || $6 == "failed")) n["error " $4]++
        }
        END { for (key in n) print key, n[key] }' | sort
}

counts_are_a_recount() {
    local id
    for id in $(db "SELECT id FROM campaign WHERE account_id = '$ACCOUNT'"); do
        assert_equal "$(counts_of "$id")" "$(recount_of "$id")"
    done
}

state_is() {
    [[ $(db "SELECT state FROM campaign WHERE id = '$campaign'") == "$1" ]]
}

# A draft of so many recipients that need no variables: people COUNT
people() {
    local i
    draft '"templateName":"plain","language":"de"'
    for ((i = 0; i < $1; i++)); do printf '1555200%04d\n' "$i"; done >"$BATS_TEST_TMPDIR/people"
    upload "to\n$(cat "$BATS_TEST_TMPDIR/people")\n"
    assert_success
}

# How many people the platform accepted a message for, and how many messages.
reached() {
    sandbox GET requests | gojq -r '[.[] | select(.path | endswith("/messages")) | .body
        | fromjson? // . | .to] | "\(unique | length) \(length)"'
}

@test "POST makes a draft of an approved template, with its category, and sends nothing" {
    draft
    assert_success
    assert_conventions
    assert_json '.data | del(.id, .createdAt, .components)' "{\"name\":\"Herbst\",
        \"state\":\"draft\",\"reason\":null,\"phoneNumberId\":\"$LINE\",\"templateName\":\"offer\",
        \"language\":\"de\",\"category\":\"MARKETING\",\"rate\":null,\"window\":null,
        \"validFor\":259200,
        \"sendAt\":null,\"finishedAt\":null,\"counts\":{\"waiting\":0,\"queued\":0,\"sending\":0,
        \"accepted\":0,\"failed\":0,\"unknown\":0,\"expired\":0,\"cancelled\":0,\"suppressed\":0},
        \"delivery\":{\"held\":0,\"sent\":0,\"delivered\":0,\"read\":0,\"failed\":0},\"errors\":[]}"
    assert_json .data.components "$components"
    assert_equal "$(reached)" '0 0'
}

@test "a template that is missing, not approved, or has another number of parameters makes no draft" {
    draft '"templateName":"none","language":"de"'
    assert_error 404 NOT_FOUND
    draft '"templateName":"bad","language":"de"'
    assert_error 409 VALIDATION_ERROR
    draft '"templateName":"offer","language":"de"'
    assert_error 400 VALIDATION_ERROR
    assert_equal "$(db 'SELECT count(*) FROM campaign')" 0
}

@test "a repeated Idempotency-Key makes one draft" {
    draft '"templateName":"plain","language":"de"' -H 'Idempotency-Key: key-of-campaign-1'
    local first=$campaign
    draft '"templateName":"plain","language":"de"' -H 'Idempotency-Key: key-of-campaign-1'
    assert_equal "$campaign" "$first"
    assert_equal "$(db 'SELECT count(*) FROM campaign')" 1
    draft '"templateName":"plain","language":"en"' -H 'Idempotency-Key: key-of-campaign-1'
    assert_error 422 VALIDATION_ERROR
}

@test "a table becomes bodies: quotes, line ends, a byte order mark, duplicates, errors by line" {
    draft
    upload '\xef\xbb\xbfname,to,code\r\n"A ""b"", c\nd",+49 151 1234567,1\r\n\r\n'"$(
        printf '%s\\n' 'Zoë,491511234567,2' X,US.13491208655302741918,3 Y,12,4 Z,4915112345678,)"
    assert_success
    assert_json '.data | del(.errors)' '{"accepted":2,"duplicates":1,"invalid":2}'
    assert_json '[.data.errors[] | .line, .column]' '[7,"to",8,"code"]'
    assert_equal "$(db "SELECT CAST(body AS TEXT) FROM campaign_recipient
        WHERE recipient = '491511234567'" | gojq -c '[.to, .template.name, .template.language.code,
        .template.components[0].parameters[].text]')" \
        '["491511234567","offer","de","A \"b\", c\nd","Nr. 1!"]'
    assert_equal "$(db "SELECT CAST(body AS TEXT) FROM campaign_recipient
        WHERE recipient LIKE 'US.%'" | gojq -c '[.to, .recipient]')" \
        '[null,"US.13491208655302741918"]'
    upload 'name,phone,code\nB,491511234567,9\nC,4915112345679,9' '?to=phone'
    assert_json '.data | del(.errors)' '{"accepted":1,"duplicates":1,"invalid":0}'
}

@test "a table without its columns, or that is no table, is refused" {
    draft
    upload 'name,to\nA,491511234567\n'
    assert_error 400 VALIDATION_ERROR
    upload 'name,code\nA,1\n'
    assert_error 400 VALIDATION_ERROR
    upload ''
    assert_error 400 VALIDATION_ERROR
    upload 'name,to,code\n"A,491511234567,1\n'
    assert_error 400 VALIDATION_ERROR
    api PUT "/v2/campaigns/$campaign/recipients" -H 'Content-Type: text/plain' -d 'to'
    assert_error 415 VALIDATION_ERROR
    assert_equal "$(db 'SELECT count(*) FROM campaign_recipient')" 0
}

put_json() { # BODY [QUERY]
    api PUT "/v2/campaigns/$campaign/recipients${2-}" -d "$1"
}

@test "recipients in JSON become the same bodies as those of a table, with the same answer" {
    local table
    draft
    upload 'name,to,code\nZoë,+49 151 1234567,7\nX,US.13491208655302741918,3\n'
    table=$(bodies)
    db 'DELETE FROM campaign_recipient; DELETE FROM campaign_count'
    put_json '{"recipients":[{"name":"Zo\u00eb","to":"+49 151 1234567","code":7},
        {"code":"3","to":"US.13491208655302741918","name":"X","note":""}]}'
    assert_success
    assert_conventions
    assert_json .data '{"accepted":2,"duplicates":0,"invalid":0,"errors":[]}'
    assert_equal "$(bodies)" "$table"
    put_json '{"recipients":[{"name":"Y","phone":"491511234567","code":1},
        {"name":"Y","phone":4915112345679,"code":1.50}]}' '?to=phone'
    assert_json .data '{"accepted":1,"duplicates":1,"invalid":0,"errors":[]}'
    [[ $(bodies) == *'"Nr. 1.50!"'* ]] || fail "$(bodies)"
}

bodies() {
    db 'SELECT CAST(body AS TEXT) FROM campaign_recipient ORDER BY recipient'
}

@test "a recipient is named as in a send, by to, recipient or both, in a table and in JSON" {
    local table wanted='["491511234567",null] [null,"US.1"] ["4915112345678","US.2"] [null,"US.3"]'
    draft
    upload 'name,to,recipient,code\nA,+49 151 1234567,,1\nB,,US.1,2\nC,4915112345678,US.2,3
D,US.3,US.3,4\nE,,,5\nF,4915112345679,Ann,6\nG,US.4,US.5,7\nH,12,US.6,8\n'
    assert_json '.data | [.accepted, .duplicates, .invalid]' '[4,0,4]'
    table=$(gojq -c '[.data.errors[] | [.line, .column, .message]]' "$body")
    assert_json '[.data.errors[] | [.line, .column]]' \
        '[[6,"to"],[7,"recipient"],[8,"recipient"],[9,"to"]]'
    assert_equal "$(named_as)" "$wanted"
    db 'DELETE FROM campaign_recipient; DELETE FROM campaign_count'
    put_json '{"recipients":[{},{"name":"A","to":"+49 151 1234567","code":1},
        {"name":"B","recipient":"US.1","code":2},
        {"name":"C","to":"4915112345678","recipient":"US.2","code":3},
        {"name":"D","to":"US.3","recipient":"US.3","code":4},{"name":"E","code":5},
        {"name":"F","to":"4915112345679","recipient":"Ann","code":6},
        {"name":"G","to":"US.4","recipient":"US.5","code":7},
        {"name":"H","to":"12","recipient":"US.6","code":8}]}'
    assert_equal "$(gojq -c '[.data.errors[1:][] | [.line, .column, .message]]' "$body")" "$table"
    assert_equal "$(named_as)" "$wanted"
    # other names of the columns
    upload 'name,userId,code\nA,US.7,1\n' '?recipient=userId'
    assert_json .data.accepted 1
    upload 'name,recipient,code\nA,491511234599,1\nB,US.8,1\n' '?to=recipient'
    assert_json .data.accepted 2
    upload 'name,to,recipient,code\nB,491511234598,Ben,1\n' '?recipient=to'
    assert_json .data.accepted 1
    upload 'name,code\nA,1\n'
    assert_error 400 VALIDATION_ERROR
}

# How the bodies name their recipients, in the order in which they were given.
named_as() {
    db 'SELECT CAST(body AS TEXT) FROM campaign_recipient ORDER BY id' |
        gojq -c '[.to, .recipient]' | xargs -d '\n'
}

@test "a person is one recipient: by phone, user id, a former number, or as a line has said" {
    local wanted='{"accepted":1,"duplicates":3,"invalid":0}'
    take "$(payload "$(inbound wamid.known 15552020001 US.p20001)")"
    db "INSERT INTO contact_alias (account_id, identity, contact_id, created_at)
        SELECT account_id, '15552020099', id, 1 FROM contact
        WHERE phone = '15552020001' AND account_id = '$ACCOUNT'"
    draft '"templateName":"plain","language":"de"'
    upload 'to,recipient\n15552020099,\n15552020001,\n,US.p20001\nUS.p20001,\n'
    assert_json '.data | del(.errors)' "$wanted"
    # of this one there is no contact
    upload 'to,recipient\n15552020002,US.p20002\n,US.p20002\n15552020002,\n15552020003,US.p20002\n'
    assert_json '.data | del(.errors)' "$wanted"
    put_json '{"recipients":[{"to":"15552020001","recipient":"US.new"},{"recipient":"US.p20002"}]}'
    assert_json '.data | [.accepted, .duplicates]' '[0,2]'
    counts_are waiting 2
    start_sender
    act start
    eventually state_is finished
    assert_equal "$(sandbox GET requests | gojq -c '[.[] | select(.path | endswith("/messages"))
        | .body | fromjson | [.to, .recipient]] | sort')" \
        '[["15552020002","US.p20002"],["15552020099",null]]'
}

@test "an opt-out counts by whatever name the campaign has of the person" {
    take "$(payload "$(inbound wamid.wants 15552030001 US.p30001)")"
    db "INSERT INTO opt_out VALUES ('$ACCOUNT', '15552030001', 'api', 1),
        ('$ACCOUNT', 'US.p30002', 'api', 1)"
    draft
    upload 'name,to,recipient,code\nA,,US.p30001,1\nB,15552030002,US.p30002,1\nC,,US.p30003,1\n'
    assert_json .data.accepted 3
    start_sender
    act start
    eventually state_is finished
    db "DELETE FROM opt_out WHERE account_id = '$ACCOUNT'"
    counts_are suppressed 2 && counts_are accepted 1 || fail "$(cat "$body")"
    assert_sent_json '[.to, .recipient]' '[null,"US.p30003"]' path=/messages
}

@test "recipients in JSON that are wrong are left out, with their number, member and reason" {
    draft
    put_json '{"recipients":[{"to":"4915112345678","name":"A","code":"1"},7,{"name":"A","code":"1"},
        {"to":"12","name":"A","code":"1"},{"to":"4915112345679","name":" ","code":"1"},
        {"to":"4915112345679","name":"A"},{"to":"4915112345679","name":null,"code":"1"},
        {"to":"4915112345679","name":"\u0000","code":"1"}]}'
    assert_success
    assert_json '.data | [.accepted, .duplicates, .invalid]' '[1,0,7]'
    assert_json '[.data.errors[] | [.line, .column]]' '[[2,"to"],[3,"to"],[4,"to"],[5,"name"],
        [6,"code"],[7,"name"],[8,"to"]]'
}

@test "a body in JSON that is none, has no array, or is longer than 2 MB adds nothing" {
    local one='{"to":"4915112345678"}'
    draft '"templateName":"plain","language":"de"'
    put_json "{\"recipients\":[$one"
    assert_error 400 VALIDATION_ERROR
    put_json "[$one]"
    assert_error 400 VALIDATION_ERROR
    put_json '{}'
    assert_error 400 VALIDATION_ERROR recipients
    put_json "{\"recipients\":$one}"
    assert_error 400 VALIDATION_ERROR recipients
    api PUT "/v2/campaigns/$campaign/recipients" -H 'Prefer: handling=strict' \
        -d "{\"recipients\":[$one],\"x\":1}"
    assert_error 400 VALIDATION_ERROR x
    { printf '{"recipients":[%s' "$one" && head -c 2200000 /dev/zero | tr '\0' ' ' && printf ']}'
    } >"$BATS_TEST_TMPDIR/large"
    put_json "@$BATS_TEST_TMPDIR/large"
    assert_error 413 VALIDATION_ERROR
    assert_equal "$(db 'SELECT count(*) FROM campaign_recipient')" 0
    put_json '{"recipients":[]}'
    assert_json .data.accepted 0
    act cancel
    put_json "{\"recipients\":[$one]}"
    assert_error 409 VALIDATION_ERROR
}

@test "2500 recipients in JSON are stored in parts, and twice the same add none" {
    draft '"templateName":"plain","language":"de"'
    seq 15552000001 15552002500 | jq -cs '{recipients: map({to: .})}' >"$BATS_TEST_TMPDIR/list"
    put_json "@$BATS_TEST_TMPDIR/list"
    assert_json .data.accepted 2500
    put_json "@$BATS_TEST_TMPDIR/list"
    assert_json .data.duplicates 2500
    assert_equal "$(db 'SELECT count(*) FROM campaign_recipient')" 2500
}

@test "a campaign that has the most recipients takes no other one, and the same table adds none" {
    people 3
    db 'UPDATE campaign SET recipients = 999998'
    upload 'to\n15552000000\n15553000001\n15552000001\n15553000002\n'
    assert_success
    assert_json '[.data.accepted, .data.duplicates] | join(" ")' '2 2'
    upload 'to\n15552000000\n15553000002\n'
    assert_json .data.duplicates 2
    upload 'to\n15552000000\n15553000003\n15553000004\n'
    assert_error 409 VALIDATION_ERROR '1000000 recipients'
    assert_equal "$(db 'SELECT count(*) FROM campaign_recipient')" 5
    assert_equal "$(db 'SELECT recipients FROM campaign')" 1000000
}

@test "a campaign of 2500 lines is stored in parts, and twice the same table adds none" {
    people 2500
    assert_json .data.accepted 2500
    upload "to\n$(cat "$BATS_TEST_TMPDIR/people")\n"
    assert_json .data.duplicates 2500
    assert_equal "$(db 'SELECT count(*) FROM campaign_recipient')" 2500
}

@test "a campaign that is started reaches each recipient once and finishes" {
    people 60
    start_sender
    act start
    assert_success
    assert_text .data.state running
    eventually state_is finished
    assert_equal "$(reached)" '60 60'
    counts_are accepted 60 || fail "$(cat "$body")"
    api GET '/v2/outgoing?limit=60'
    assert_json '[.data.items[].campaignId] | unique' "[\"$campaign\"]"
    act start
    assert_error 409 VALIDATION_ERROR
    upload 'to\n15552009999\n'
    assert_error 409 VALIDATION_ERROR
}

@test "a campaign waits for its sendAt" {
    people 3
    start_sender
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    assert_text .data.state scheduled
    assert_equal "$(reached)" '0 0'
    db "UPDATE campaign SET start_at = 1 + $db_now - 2000"
    eventually state_is finished
    assert_equal "$(reached)" '3 3'
}

some_reached() { [[ $(reached) != '0 0' ]]; }

# --- what became of the recipients ---

report() {
    api GET "/v2/campaigns/$campaign/recipients.csv"
}

@test "the CSV has the outcome of each recipient, with code, message, delivery and times" {
    local sent
    people 3
    start_sender
    act start
    eventually state_is finished
    sent=$(db "SELECT wamid FROM outgoing WHERE recipient = '15552000000'")
    take "$(payload "$(status_of "$sent" delivered)")"
    db "UPDATE outgoing SET state = 'failed', reason = '=cmd()', wamid = NULL, finished_at = 1200,
        error = CAST('{\"error\":{\"code\":131026}}' AS BLOB) WHERE recipient = '15552000001';
        UPDATE campaign_count SET count = count - 1 WHERE measure = 'accepted';
        INSERT INTO campaign_count VALUES ('$campaign', 'failed', 1),
            ('$campaign', 'error:131026', 1)"
    report
    assert_status 200
    assert_header Content-Type 'text/csv; charset=utf-8; header=present'
    assert_header Content-Disposition 'attachment; filename="recipients.csv"'
    assert_equal "$(sed -n 1p "$body")" \
        $'to,state,reason,errorCode,messageId,delivery,finishedAt,deliveryAt\r'
    assert_equal "$(wc -l <"$body")" 4
    grep -qE "^15552000000,accepted,,,$sent,delivered,[^,]+Z,[^,]+Z"$'\r$' "$body"
    grep -qxF $'15552000001,failed,\'=cmd(),131026,,,1970-01-01T00:00:01.200Z,\r' "$body"
    grep -qE $'^15552000002,accepted,,,wamid[^,]*,,[^,]+Z,\r$' "$body"
}

@test "the CSV has those who wait, all pages of them, and none of another user" {
    draft '"templateName":"plain","language":"de"'
    upload "to\n$(seq 15552000001 15552001200 | sed 's/$/\\n/' | tr -d '\n')"
    report
    assert_equal "$(wc -l <"$body")" 1201
    assert_equal "$(cut -d , -f 1 "$body" | sort -u | wc -l)" 1201
    assert_equal "$(sed -n 2p "$body")" $'15552000001,waiting,,,,,,\r'
    act cancel
    report
    assert_equal "$(grep -c '^1555[0-9]*,cancelled,,,,,2' "$body")" 1200
    request GET "/v2/campaigns/$campaign/recipients.csv" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
}

# --- the test send ---


@test "a test sends the template with the given variables, is stored, and is not counted" {
    draft
    act test '{"to":"+1 555 2009999","variables":{"name":"A \"b\"","code":7}}'
    assert_success
    assert_conventions
    assert_json '.data.contacts[0].wa_id' '"15552009999"'
    assert_sent_json .to '"15552009999"'
    assert_sent_json .template.name '"offer"'
    assert_sent_json .template.language.code '"de"'
    assert_sent_json '[.template.components[].parameters[].text]' '["A \"b\"","Nr. 7!"]'
    assert_equal "$(db "SELECT direction, type, status FROM message
        WHERE wamid = '$(gojq -r '.data.messages[0].id' "$body")'")" 'out|template|accepted'
    api GET "/v2/campaigns/$campaign"
    assert_json '[.data.counts[], .data.delivery[]] | add' 0
    state_is draft
}

@test "a test without variables has those of the first recipient, also when all were reached" {
    draft
    upload 'to,name,code\n15552000001,Ann,1\n15552000002,Bob,2\n'
    act test '{"to":"15552009999"}'
    assert_success
    assert_sent_json '[.template.components[].parameters[].text]' '["Ann","Nr. 1!"]'
    counts_are waiting 2
    start_sender
    act start
    eventually state_is finished
    act test '{"to":"15552009999"}'
    assert_success
    assert_sent_json .to '"15552009999"'
    counts_are accepted 2
}

@test "a test whose variables are missing, empty or no text is refused by their names" {
    local variables
    draft
    forget_sent
    act test '{"to":"15552009999"}'
    assert_error 400 VALIDATION_ERROR variables.name
    for variables in '{"name":"x"}' '{"name":"x","code":" "}' '{"name":"x","code":{}}'; do
        act test "{\"to\":\"15552009999\",\"variables\":$variables}"
        assert_error 400 VALIDATION_ERROR variables.code
    done
    act test '{"variables":{"name":"x","code":"y"}}'
    assert_error 400 VALIDATION_ERROR
    request POST "/v2/campaigns/$campaign/test" --as "$OTHER_TOKEN" -d '{"to":"15552009999"}'
    assert_error 404 NOT_FOUND
    assert_equal "$(sent_count)" 0
}

@test "a test is sent at once whatever is preferred, and once for an Idempotency-Key" {
    people 1
    forget_sent
    act_once() {
        api POST "/v2/campaigns/$campaign/test" -H 'Idempotency-Key: test-1' \
            -H 'Prefer: respond-async' -d '{"to":"15552009999","sendAt":"2030-01-01T00:00:00Z"}'
    }
    act_once
    assert_status 200
    act_once
    assert_status 200
    assert_header Idempotent-Replayed true
    assert_equal "$(sent_count)" 1
    assert_equal "$(db 'SELECT count(*) FROM outgoing')" 0
}

@test "the platform's refusal of a test is answered as that of other sends" {
    people 1
    sandbox POST faults '{"code":132015}' >/dev/null
    act test '{"to":"15552009999"}'
    assert_error 400 VALIDATION_ERROR
    assert_json .details.error.code 132015
    state_is draft
}

# bats test_tags=long
@test "pause stops a campaign in the middle, and resume sends the rest once" {
    people 200
    start_sender
    act start
    eventually some_reached
    act pause
    assert_success
    act pause
    assert_text .data.state paused
    eventually counts_are sending 0
    local before
    before=$(db "SELECT count(*) FROM outgoing WHERE state = 'accepted'")
    stop_sender
    start_sender
    assert_equal "$(db "SELECT count(*) FROM outgoing WHERE state = 'accepted'")" "$before"
    ((before < 200)) || fail "all were sent"
    act resume
    eventually state_is finished
    assert_equal "$(reached)" '200 200'
    act pause
    assert_error 409 VALIDATION_ERROR
    act cancel
    assert_error 409 VALIDATION_ERROR
}

@test "cancel ends a campaign: what waits is cancelled" {
    people 200
    start_sender
    act start
    eventually some_reached
    act cancel
    assert_text .data.state cancelled
    act cancel
    assert_success
    eventually counts_are sending 0
    assert_json '.data.counts | .accepted + .cancelled' 200
    assert_json '.data.counts | .waiting + .queued' 0
    act resume
    assert_error 409 VALIDATION_ERROR
}

@test "a template that the platform has paused pauses the campaign, and its rows wait" {
    people 5
    sandbox POST faults '{"match":{"path":"/messages"},"code":132015,"times":50}' >/dev/null ||
        fault '{"match":{"path":"/messages"},"code":132015}'
    start_sender
    act start
    eventually state_is paused
    api GET "/v2/campaigns/$campaign"
    assert_text .data.reason template
    eventually counts_are sending 0
    counts_are failed 0
    sandbox DELETE faults >/dev/null
    act resume
    eventually state_is finished
    counts_are accepted 5
}

@test "a token that is not valid pauses all campaigns of the line, with the code" {
    people 2
    local first=$campaign
    people 2
    fault '{"match":{"path":"/messages"},"code":190}'
    act start
    campaign=$first
    act start
    start_sender # after both: one that starts later does not know of the refusal
    eventually state_is paused
    eventually eval '[[ $(db "SELECT count(*) FROM campaign WHERE reason = '"'190'"'") != 0 ]]'
}

@test "ten refusals in a row with the same code of a wrong message pause the campaign, and the rest waits" {
    people 40
    sandbox POST faults '{"match":{"path":"/messages"},"code":132012,"times":0}' >/dev/null
    start_sender
    act start
    eventually state_is paused
    eventually counts_are sending 0
    assert_text .data.reason 132012
    local failed
    failed=$(gojq .data.counts.failed "$body")
    ((failed >= 10 && failed < 40)) || fail "$failed failed"
    sandbox DELETE faults >/dev/null
    act resume
    eventually state_is finished
    counts_are failed "$failed" && counts_are accepted $((40 - failed)) || fail "$(cat "$body")"
}

@test "nine refusals with one code and then nine with another, or ten for other reasons, do not pause" {
    people 40
    local code
    for code in 100:9 132000:9 131026:12; do
        sandbox POST faults "{\"match\":{\"path\":\"/messages\"},\"code\":${code%:*},
            \"times\":${code#*:}}" >/dev/null
    done
    start_sender
    act start
    eventually state_is finished
    counts_are failed 30 && counts_are accepted 10 || fail "$(cat "$body")"
}

@test "ten unclear answers in a row pause all campaigns of the line, and the line waits" {
    people 40
    local first=$campaign to=15553000001
    draft '"templateName":"plain","language":"de"'
    upload 'to\n15553000002\n'
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    sandbox POST faults '{"match":{"path":"/messages"},"kind":"reset","times":0}' >/dev/null
    start_sender
    campaign=$first
    act start
    eventually state_is paused
    eventually counts_are sending 0
    assert_text .data.reason unclear
    assert_equal "$(db "SELECT count(*) FROM campaign WHERE state = 'paused'
        AND reason = 'unclear'")" 2
    sandbox DELETE faults >/dev/null
    local who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\"" waiting
    queue waits
    waiting=$out
    request POST /v2/messages/send/text --as "$OTHER_TOKEN" -H 'Prefer: respond-async' \
        -d "{\"phoneNumberId\":\"$OTHER_LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    out=$(gojq -r .data.id "$body")
    eventually row_is "$out" accepted
    assert_equal "$(row "$waiting" 'state, attempts')" 'queued|0'
    stop_sender # another one does not know of the pause
    start_sender
    eventually row_is "$waiting" accepted
    act resume
    eventually state_is finished
    counts_are queued 0 && counts_are failed 0 || fail "$(cat "$body")"
    assert_json '.data.counts | .accepted + .unknown' 40
}

# Whether so many rows of the campaign have a state, and were not interrupted:
# are_at_least STATE NUMBER
are_at_least() {
    (($(ended_as "$1") >= $2))
}

ended_as() { # STATE
    db "SELECT count(*) FROM outgoing WHERE campaign_id = '$campaign' AND state = '$1'
        AND coalesce(reason, '') <> 'interrupted'"
}

# Lets the platform answer a slow campaign so, and replaces the sender after some answers:
# answers_go_on STATE FAULT SIGNAL. Sets `before` and `after`, the numbers of answers until then and
# until the campaign pauses.
answers_go_on() {
    people 30
    db "UPDATE campaign SET rate = 5 WHERE id = '$campaign'"
    sandbox POST faults "{\"match\":{\"path\":\"/messages\"},$2,\"times\":0}" >/dev/null
    start_sender
    act start
    eventually are_at_least "$1" 3
    stop_sender sender "$3"
    before=$(ended_as "$1")
    db 'UPDATE sender_lease SET lease_until = 1'
    start_sender
    eventually state_is paused
    eventually counts_are sending 0
    stop_sender
    after=$(ended_as "$1")
    ((before < 10 && after >= 10)) || fail "$before, then $after"
    ((after < before + 10)) || fail "the next sender began with 0: $before, then $after"
}

# bats test_tags=long
@test "refusals in a row are counted on by the sender after one that was killed, and end with an accepted message" {
    local before after
    answers_go_on failed '"code":132012' KILL
    sandbox DELETE faults >/dev/null
    sandbox POST faults '{"match":{"path":"/messages"},"code":132012,"times":4}' >/dev/null
    start_sender
    act resume
    eventually state_is finished
    assert_equal "$(ended_as failed)" $((after + 4))
    assert_equal "$(db "SELECT count(*) FROM sender_streak WHERE name = '$campaign'")" 0
}

@test "unclear answers in a row are counted on by the sender after one that ended" {
    local before after
    answers_go_on unknown '"kind":"reset"' TERM
}

# bats test_tags=long
@test "sends whose answer a sender that ends does not wait for are no such answers" {
    people 15
    sandbox POST faults '{"match":{"path":"/messages"},"kind":"hang","times":0}' >/dev/null
    start_sender
    act start
    eventually counts_are sending 15
    stop_sender
    counts_are unknown 15 || fail "$(cat "$body")"
    state_is running
}

# Reports a status of a template: template_status SECOND EVENT [NAME LANGUAGE]
template_status() {
    local change
    change=$(account_change message_template_status_update "{\"event\":\"$2\",\"reason\":\"NONE\",
        \"message_template_id\":72,\"message_template_name\":\"${3-plain}\",
        \"message_template_language\":\"${4-de}\"}")
    take "{\"object\":\"whatsapp_business_account\",\"entry\":[{\"id\":\"$WABA\",
        \"time\":$1,\"changes\":[$change]}]}"
}

@test "a webhook that a template is paused or disabled pauses its campaigns, and no others" {
    local at=1780000100 state other
    draft
    upload 'name,to,code\nA,15553000002,1\n'
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    other=$campaign
    people 3
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    for state in PAUSED DISABLED; do
        template_status "$((at += 100))" "$state"
        api GET "/v2/campaigns/$campaign"
        assert_json '.data | [.state, .reason]' '["paused","template"]'
        act resume
        assert_text .data.state scheduled
        template_status "$at" "$state" # the same again
        template_status "$((at += 100))" APPROVED
        template_status "$((at - 50))" "$state" # late: it is approved again
        template_status "$at" "$state" plain en
        state_is running
    done
    assert_equal "$(db "SELECT state FROM campaign WHERE id = '$other'")" running
    assert_equal "$(reached)" '0 0'
}

# bats test_tags=long
@test "a campaign keeps below the limits of its line and of each person" {
    people 100
    sandbox POST settings '{"messagesPerSecond":80,"pairMessages":1}' >/dev/null
    start_sender
    act start
    eventually state_is finished
    sandbox POST settings '{"messagesPerSecond":0,"pairMessages":0}' >/dev/null
    counts_are accepted 100 || fail "$(cat "$body")"
    assert_equal "$(reached)" '100 100' # no POST was refused
}

# Sets `at`, a time in ms, `posts` made until then and `accepted` ones.
measure() {
    posts=$(sent_count 'path=/messages&method=POST')
    accepted=$(db "SELECT count(*) FROM outgoing WHERE state = 'accepted'")
    at=$(date +%s%3N)
}

# The sender sends 40 a second to a platform that takes 16: as one of 200 a second where 80 go.
@test "a sender that is too fast by 2.5 finds the limit, with less than 5 % of its POSTs refused" {
    [[ -n ${TEST_FULL-} ]] || skip 'TEST_FULL=1 measures'
    local at posts accepted began
    people 1500
    sandbox POST settings '{"messagesPerSecond":16}' >/dev/null
    start_sender
    act start
    sleep 20
    measure
    began=("$at" "$posts" "$accepted")
    sleep 60
    measure
    sandbox POST settings '{"messagesPerSecond":0}' >/dev/null
    ((at -= began[0], posts -= began[1], accepted -= began[2]))
    printf '# %d POSTs, %d accepted in %d ms\n' "$posts" "$accepted" "$at" >&3
    (((posts - accepted) * 100 < 5 * posts)) || fail "$((posts - accepted)) of $posts refused"
    ((accepted * 1000 >= 11 * at)) || fail "$accepted in $at ms"
    eventually state_is finished
    counts_are accepted 1500 || fail "$(cat "$body")"
}

@test "a template that the platform pauses in the middle keeps its other recipients for a resume" {
    people 12
    sandbox POST settings '{"templateMessages":5}' >/dev/null
    start_sender
    act start
    eventually state_is paused
    eventually counts_are sending 0
    assert_text .data.reason template
    local accepted
    accepted=$(gojq .data.counts.accepted "$body")
    ((accepted >= 5 && accepted < 12)) || fail "$(cat "$body")"
    counts_are failed 0
    sandbox POST settings '{"templateMessages":0}' >/dev/null
    sandbox POST templates/72 '{"status":"APPROVED"}' >/dev/null
    act resume
    eventually state_is finished
    counts_are accepted 12 || fail "$(cat "$body")"
}

@test "what the platform refuses for one recipient fails alone" {
    people 3
    fault '{"match":{"path":"/messages"},"code":131026}'
    start_sender
    act start
    eventually state_is finished
    counts_are failed 1
    counts_are accepted 2
}

# bats test_tags=long
@test "a killed sender leaves at most those in flight unknown, and each gets one message" {
    people 120
    start_sender
    act start
    eventually some_reached
    stop_sender sender KILL
    db 'UPDATE sender_lease SET lease_until = 0'
    start_sender
    eventually state_is finished
    reached
    [[ $(reached) == "$(reached | cut -d ' ' -f 1) $(reached | cut -d ' ' -f 1)" ]] ||
        fail "$(reached)"
    counts_are waiting 0
}

@test "a campaign that runs out of its time expires" {
    draft '"templateName":"plain","language":"de","validFor":1'
    upload 'to\n15552000001\n15552000002\n'
    act start
    db 'UPDATE campaign SET start_at = start_at - 5000'
    start_sender
    eventually state_is finished
    counts_are expired 2
    assert_equal "$(reached)" '0 0'
}

# A status of the message to a person, as the platform sends it: reports PHONE STATUS [MEMBERS]
reports() {
    local row
    row=$(db "SELECT id, wamid FROM outgoing WHERE recipient = '$1'")
    take "$(payload "$(status_of "${row#*|}" "$2" \
        "\"recipient_id\":\"$1\",\"biz_opaque_callback_data\":\"${row%|*}\"${3-}")")"
}

# bats test_tags=long
@test "statuses of the messages count as deliveries, each message once" {
    people 2
    start_sender
    act start
    eventually state_is finished
    reports 15552000000 sent
    reports 15552000001 sent
    reports 15552000000 delivered
    reports 15552000000 delivered
    reports 15552000000 sent
    api GET "/v2/campaigns/$campaign"
    assert_json .data.delivery '{"held":0,"sent":1,"delivered":1,"read":0,"failed":0}'
    reports 15552000001 played
    reports 15552000001 read
    api GET "/v2/campaigns/$campaign"
    assert_json .data.delivery '{"held":0,"sent":0,"delivered":1,"read":1,"failed":0}'
    # one that does not name the send
    take "$(payload "$(status_of "$(db "SELECT wamid FROM outgoing
        WHERE recipient = '15552000000'")" read)")"
    api GET "/v2/campaigns/$campaign"
    assert_json .data.delivery '{"held":0,"sent":0,"delivered":0,"read":2,"failed":0}'
}

# The retention deletes the messages of campaigns, and not their sends, which ended later.
forget_messages() {
    api PATCH /v2/retention -d '{"messageDays":8}'
    db 'UPDATE message SET timestamp = 1000 WHERE is_campaign = 1; UPDATE retention SET walk_at = 0'
    courier --once
    assert_equal "$(db 'SELECT count(*) FROM message WHERE is_campaign = 1')" 0
    api PATCH /v2/retention -d '{"messageDays":null}'
}

# bats test_tags=long
@test "a status that comes late or again counts once, also when the retention has deleted the message" {
    people 4
    start_sender
    act start
    eventually state_is finished
    stop_sender
    reports 15552000000 delivered
    reports 15552000001 failed ',"errors":[{"code":131049}]'
    reports 15552000002 sent
    forget_messages
    counts_are_a_recount
    reports 15552000000 sent
    reports 15552000000 delivered
    reports 15552000001 failed ',"errors":[{"code":131049}]'
    reports 15552000002 delivered
    reports 15552000003 sent
    api GET "/v2/campaigns/$campaign"
    assert_json .data.delivery '{"held":0,"sent":1,"delivered":2,"read":0,"failed":1}'
    assert_json .data.errors '[{"code":131049,"count":1}]'
    forget_messages
    reports 15552000000 played
    reports 15552000001 delivered
    reports 15552000003 sent
    # one that does not name the send
    take "$(payload "$(status_of "$(db "SELECT wamid FROM outgoing
        WHERE recipient = '15552000001'")" read '"recipient_id":"15552000001"')")"
    api GET "/v2/campaigns/$campaign"
    assert_json .data.delivery '{"held":0,"sent":1,"delivered":1,"read":2,"failed":0}'
    assert_json .data.errors '[]'
}

@test "the row of a message is found by another spelling of its phone" {
    draft '"templateName":"plain","language":"de"'
    upload 'to\n15552007777\n'
    start_sender
    act start
    eventually state_is finished
    stop_sender
    db "UPDATE message SET phone = '15552008881' WHERE is_campaign = 1 AND phone = '15552007777';
        INSERT INTO contact_alias (account_id, identity, contact_id, created_at)
        SELECT '$ACCOUNT', '15552007777', contact_id, 1 FROM thread t JOIN message m
        ON m.thread_id = t.id WHERE m.phone = '15552008881' AND m.is_campaign = 1;
        UPDATE contact SET phone = '15552008881' WHERE phone = '15552007777'"
    reports 15552007777 delivered
    forget_messages
    reports 15552007777 sent
    reports 15552007777 read
    api GET "/v2/campaigns/$campaign"
    assert_json .data.delivery '{"held":0,"sent":0,"delivered":0,"read":1,"failed":0}'
}

# bats test_tags=long
@test "errors has how many failed by the code of the platform, at the send or by a status, most first" {
    people 5
    fault '{"match":{"path":"/messages"},"code":131026}'
    start_sender
    act start
    eventually state_is finished
    for phone in $(db "SELECT recipient FROM outgoing WHERE state = 'accepted' ORDER BY recipient
        LIMIT 3"); do
        reports "$phone" sent
        reports "$phone" failed ',"errors":[{"code":131049,"title":"x"},{"code":1}]'
    done
    api GET "/v2/campaigns/$campaign"
    assert_json .data.errors '[{"code":131049,"count":3},{"code":131026,"count":1}]'
    assert_json .data.delivery.failed 3
    # a delivery proves that it did not fail
    reports "$phone" delivered
    api GET "/v2/campaigns/$campaign"
    assert_json .data.errors '[{"code":131049,"count":2},{"code":131026,"count":1}]'
    assert_json '.data.delivery | [.failed, .delivered]' '[2,1]'
}

@test "a status accepts a send that was refused, and its error is not counted any more" {
    local id
    people 1
    fault '{"match":{"path":"/messages"},"code":131026}'
    start_sender
    act start
    eventually state_is finished
    counts_are 'failed' 1
    id=$(db 'SELECT id FROM outgoing')
    take "$(payload "$(status_of wamid.late sent \
        "\"recipient_id\":\"15552000000\",\"biz_opaque_callback_data\":\"$id\"")")"
    api GET "/v2/campaigns/$campaign"
    assert_json '.data | [.counts.failed, .counts.accepted, .delivery.sent, .errors]' '[0,1,1,[]]'
}

# The platform answers about the line: number_is MEMBERS
number_is() {
    platform_answers 200 "{\"id\":\"$LINE\",$1}"
}

warnings() {
    gojq -c '[.data.warnings[] | [.code, .limit]]' "$body"
}

@test "start warns of a limit below the number of recipients and of a red quality, and starts" {
    people 251
    number_is '"quality_rating":"RED",
        "whatsapp_business_manager_messaging_limit":"TIER_250"'
    act start
    assert_success
    assert_conventions
    assert_equal "$(warnings)" '[["RECIPIENT_LIMIT",250],["QUALITY_RED",null]]'
    assert_json '.data.warnings[0].message | test("250 different people.* 251 recipients")' true
    assert_text .data.state running
    counts_are waiting 251
    assert_json '.data | has("warnings")' false
}

@test "start warns of nothing when the limit suffices, has no number, or is none" {
    local limit
    people 11
    for limit in TIER_250 TIER_10K TIER_UNLIMITED TIER_NOT_SET TIER_ TIER_5X TIER_-1 ''; do
        number_is "\"quality_rating\":\"GREEN\",
            \"whatsapp_business_manager_messaging_limit\":\"$limit\""
        act start # of the second one on it runs already
        assert_success
        assert_equal "$(warnings)" '[]'
    done
    number_is '"whatsapp_business_manager_messaging_limit":"TIER_10"'
    act start
    assert_equal "$(warnings)" '[["RECIPIENT_LIMIT",10]]'
}

@test "start without an answer of the platform about the line warns of that, and starts" {
    people 1
    fault '{"kind":"reset_before","times":0}' # curl repeats it on a connection that was kept
    act start
    assert_success
    assert_equal "$(warnings)" '[["UNKNOWN",null]]'
    sandbox DELETE faults >/dev/null
    platform_answers 200 '[]'
    act start
    assert_equal "$(warnings)" '[["UNKNOWN",null]]'
    fault '{"code":190}'
    act start
    assert_equal "$(warnings)" '[["UNKNOWN",null]]'
    assert_text .data.state running
}

@test "resume warns as start does, of those who have no message yet, and goes on" {
    people 20
    number_is '"quality_rating":"GREEN","whatsapp_business_manager_messaging_limit":"TIER_10"'
    act start
    assert_equal "$(warnings)" '[["RECIPIENT_LIMIT",10]]'
    act pause
    assert_json '.data | has("warnings")' false
    # half of them have their message
    db "UPDATE campaign_count SET count = 10 WHERE measure = 'waiting';
        INSERT INTO campaign_count VALUES ('$campaign', 'accepted', 10)"
    number_is '"quality_rating":"GREEN","whatsapp_business_manager_messaging_limit":"TIER_10"'
    act resume
    assert_success
    assert_conventions
    assert_equal "$(warnings)" '[]'
    assert_text .data.state running
    db "UPDATE campaign_count SET count = 8 WHERE measure = 'waiting';
        UPDATE campaign_count SET count = 0 WHERE measure = 'accepted';
        INSERT INTO campaign_count VALUES ('$campaign', 'queued', 12)"
    number_is '"quality_rating":"RED","whatsapp_business_manager_messaging_limit":"TIER_10"'
    act pause
    act resume
    assert_equal "$(warnings)" '[["RECIPIENT_LIMIT",10],["QUALITY_RED",null]]'
    assert_json '.data.warnings[0].message | test("10 different people.* 20 recipients")' true
    number_is '"quality_rating":"RED","whatsapp_business_manager_messaging_limit":"TIER_10"'
    act resume # again, while it runs
    assert_equal "$(warnings)" '[["RECIPIENT_LIMIT",10],["QUALITY_RED",null]]'
    fault '{"code":190}'
    act pause
    act resume
    assert_equal "$(warnings)" '[["UNKNOWN",null]]'
    assert_text .data.state running
    db "DELETE FROM campaign_count WHERE measure = 'queued' OR measure = 'accepted';
        UPDATE campaign_count SET count = 20 WHERE measure = 'waiting'"
}

# bats test_tags=long
@test "a message that the platform holds back counts as held until its status comes" {
    sandbox POST settings '{"heldTemplates":true}' >/dev/null
    people 2
    start_sender
    act start
    eventually state_is finished
    sandbox POST settings '{"heldTemplates":false}' >/dev/null
    api GET "/v2/campaigns/$campaign"
    assert_json .data.delivery '{"held":2,"sent":0,"delivered":0,"read":0,"failed":0}'
    assert_equal "$(db 'SELECT DISTINCT reason FROM outgoing')" held
    reports 15552000000 sent
    reports 15552000001 failed ',"errors":[{"code":132015}]'
    api GET "/v2/campaigns/$campaign"
    assert_json .data.delivery '{"held":0,"sent":1,"delivered":0,"read":0,"failed":1}'
}

@test "a send of a campaign that is cancelled by itself counts as cancelled" {
    people 1
    fault '{"match":{"path":"/messages"},"code":132015}' # the row waits
    start_sender
    act start
    eventually state_is paused
    api DELETE "/v2/outgoing/$(db 'SELECT id FROM outgoing')"
    assert_success
    counts_are cancelled 1
    counts_are queued 0
}

# The last digits of the phones in the order of the inbox, with a dash where the time is null.
order() {
    api GET '/v2/threads?limit=100'
    gojq -r '[.data.items[] | select(.contact.phone | test("^\\+?155540")) | (.contact.phone
        | ltrimstr("+") | .[-1:]) + (if .lastMessageAt then "" else "-" end)] | join(" ")' "$body"
}

# bats test_tags=long
@test "a campaign does not bury the inbox: threads keep their places, and new ones come last" {
    writes wamid.bury.1 15554000001 1780000000 x
    writes wamid.bury.2 15554000002 1780000100 x
    draft '"templateName":"plain","language":"de"'
    upload 'to\n15554000001\n15554000003\n15554000004\n'
    fault '{"kind":"reset","match":{"recipient":"15554000004"}}'
    start_sender
    act start
    eventually state_is finished
    assert_equal "$(order)" '2 1 3-'
    local failing
    failing=$(db "SELECT id FROM outgoing WHERE recipient = '15554000004'")
    row_is "$failing" unknown
    take "$(payload "$(status_of wamid.bury.4 sent \
        "\"recipient_id\":\"15554000004\",\"biz_opaque_callback_data\":\"$failing\"")")"
    assert_equal "$(order)" '2 1 4- 3-'
    eventually is_recorded "$failing"
    take "$(payload "$(status_of "$(db "SELECT wamid FROM outgoing
        WHERE recipient = '15554000003'")" failed '"recipient_id":"15554000003"')")"
    assert_equal "$(order)" '2 1 4- 3-'
    # what waits for an answer still does, and the failure is the campaign's
    assert_json '[.data.items[] | select(.contact.phone | endswith("15554000001")) | .waitingSince
        != null, .lastMessage.type]' '[true,"template"]'
    assert_json '[.data.items[] | select(.contact.phone | test("1555400000[34]")) | .failedAt]' \
        '[null,null]'
    writes wamid.bury.3 15554000003 1780000050 x
    assert_equal "$(order)" '2 3 1 4-'
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15554000004\",\"text\":\"x\"}"
    assert_equal "$(order)" '4 2 3 1'
}

is_recorded() { # ID
    [[ $(row "$1" is_recorded) == 1 ]]
}

# bats test_tags=long
@test "persons of a campaign who are merged or divided keep the place of their own messages" {
    local contact
    draft '"templateName":"plain","language":"de"'
    upload 'to\n15554100001\n'
    start_sender
    act start
    eventually state_is finished
    take "$(payload "$(inbound wamid.merge.1 '' US.155541)")"
    take "$(payload "$(inbound wamid.merge.2 15554100001 US.155541)")" # both are one person
    contact=$(db "SELECT t.id FROM thread t JOIN contact c ON c.id = t.contact_id
        WHERE c.phone = '15554100001'")
    assert_equal "$(db "SELECT count(*), count(CASE WHEN t.last_message_at =
        (SELECT max(m.timestamp) FROM message m WHERE m.thread_id = t.id AND m.is_campaign = 0)
        THEN 1 END)
        FROM thread t WHERE t.id = '$contact'")" '1|1'
}

@test "the list has the campaigns of the user, newest first; those of others are not found" {
    people 1
    local first=$campaign
    people 1
    api GET '/v2/campaigns?limit=1'
    assert_json '[.data.items[].id]' "[\"$campaign\"]"
    api GET "/v2/campaigns?limit=1&after=$(gojq -r .data.paging.cursors.after "$body")"
    assert_json '[.data.items[].id]' "[\"$first\"]"
    request GET "/v2/campaigns/$campaign" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request POST "/v2/campaigns/$campaign/start" --as "$OTHER_TOKEN" -d '{}'
    assert_error 404 NOT_FOUND
}


@test "start without a sender is refused, and the draft stays" {
    people 1
    db "DELETE FROM heartbeat WHERE name = 'sender'"
    act start
    assert_error 503 INTERNAL_ERROR 'No sender runs'
    api POST /v2/campaigns/cmp_none/start -d '{}'
    assert_error 404 NOT_FOUND
    state_is draft
    act start '{"sendAt":"2020-01-01T00:00:00Z"}'
    assert_error 400 VALIDATION_ERROR
}

# bats test_tags=each,long
@test "a table of more than 2 MB is taken whole" {
    draft '"templateName":"plain","language":"de"'
    awk 'BEGIN { print "to,note"; for (i = 0; i < 2500; i++) printf "1555%07d,%1000d\n", i, i }' \
        >"$BATS_TEST_TMPDIR/large"
    api PUT "/v2/campaigns/$campaign/recipients" -H 'Content-Type: text/csv' \
        -d "@$BATS_TEST_TMPDIR/large"
    assert_status 200
    assert_json .data.accepted 2500
    assert_equal "$(db 'SELECT count(*) FROM campaign_recipient')" 2500
}

# bats test_tags=long
@test "a table of more than 100 MB is refused" {
    draft '"templateName":"plain","language":"de"'
    yes '' | head -c $((101 * 1024 * 1024)) >"$BATS_TEST_TMPDIR/large" || true
    api PUT "/v2/campaigns/$campaign/recipients" -H 'Content-Type: text/csv' \
        -d "@$BATS_TEST_TMPDIR/large"
    assert_error 413 VALIDATION_ERROR
}

@test "an erased person is no recipient of a draft any more" {
    people 2
    have_erased 15552000000
    assert_equal "$(db 'SELECT recipient FROM campaign_recipient')" 15552000001
    counts_are waiting 1
}

# Erases a person whom the user has written to: have_erased PHONE
have_erased() {
    local contact
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$1\",\"text\":\"x\"}"
    contact=$(db "SELECT id FROM contact WHERE phone = '$1' AND account_id = '$ACCOUNT'")
    switchboard contact erase "$contact" >/dev/null
    courier --once
}

@test "a campaign in a backup that is restored is cancelled, since it may have been sent" {
    only_on_sqlite 'restore is for a file'
    people 2
    switchboard backup "$BATS_TEST_TMPDIR/backup" >/dev/null
    switchboard restore "$BATS_TEST_TMPDIR/backup" >/dev/null
    assert_equal "$(db 'SELECT state, reason FROM campaign')" 'cancelled|restored'
    counts_are cancelled 2
}

# bats test_tags=long
@test "a campaign and its recipients are deleted 90 days after its end, and its sends not before" {
    people 50
    start_sender
    act start
    eventually some_reached
    act cancel
    eventually counts_are sending 0
    db "UPDATE campaign SET finished_at = finished_at - 7689600000;
        UPDATE outgoing SET finished_at = finished_at - 7689600000"
    courier --once
    counts_are waiting 0
    assert_json '.data.counts | .accepted + .cancelled' 50
    db "INSERT INTO sender_streak VALUES ('$campaign', 100, 2);
        UPDATE campaign SET finished_at = finished_at - 172800000"
    eventually chores_leave_none
    assert_equal "$(db 'SELECT count(*) FROM sender_streak')" 0
    assert_equal "$(db 'SELECT count(*) FROM campaign_recipient')" 0
    assert_equal "$(db 'SELECT count(*) FROM outgoing')" 0
}

chores_leave_none() {
    courier --once
    [[ $(db 'SELECT count(*) FROM campaign') == 0 ]]
}

# --- the window ---

window() { # FROM TO ZONE
    draft "\"templateName\":\"plain\",\"language\":\"de\",
        \"window\":{\"from\":\"$1\",\"to\":\"$2\",\"timeZone\":\"$3\"}"
}

# A draft with one recipient that sends from an hour of now on, in UTC: window_at FIRST LAST
window_at() {
    window "$(date -u -d "$1" +%H:%M)" "$(date -u -d "$2" +%H:%M)" UTC
    upload 'to\n15552000001\n15552000002\n'
    assert_success
}

column() {
    db "SELECT $1 FROM campaign WHERE id = '$campaign'"
}

# bats test_tags=long
@test "a window is shown, and must name two times and a time zone" {
    local wrong
    window 09:00 20:00 Europe/Berlin
    assert_success
    assert_json .data.window '{"from":"09:00","to":"20:00","timeZone":"Europe/Berlin"}'
    api GET /v2/campaigns
    assert_json '.data.items[0].window.to' '"20:00"'
    for wrong in '24:00 20:00 UTC' '9:00 20:00 UTC' '09:60 20:00 UTC' '09:00 09:00 UTC' \
        '09:00 20:00 Europe/Atlantis' '09:00 20:00 ../../etc/passwd' '09:00 20:00 Europe'; do
        # shellcheck disable=SC2086 # three words
        window $wrong
        assert_error 400 VALIDATION_ERROR
    done
    draft '"templateName":"plain","language":"de","window":{"from":"09:00","to":"20:00"}'
    assert_error 400 VALIDATION_ERROR window.timeZone
    assert_equal "$(db 'SELECT count(*) FROM campaign')" 1
}

@test "start and resume compute the hours of 31 days, a pause keeps them" {
    local before
    window 09:00 20:00 Europe/Berlin
    upload 'to\n15552000001\n'
    act start "{\"sendAt\":\"$(moment '+1 hour')\"}"
    assert_success
    before=$(column open_times)
    [[ $(wc -w <<<"$before") =~ ^3[12]$ ]] || fail "$before"
    act pause
    assert_equal "$(column open_times)" "$before"
    db "UPDATE campaign SET open_times = '1-2'"
    act resume
    assert_equal "$(column open_times)" "$before"
}

@test "in its window a campaign sends, and over midnight too" {
    window_at '-2 hours' '-3 hours' # 23 hours, which include midnight
    start_sender
    act start
    eventually state_is finished
    assert_equal "$(reached)" '2 2'
}

@test "outside its window a campaign takes no row; when it opens it sends, and what waits stays when it closes" {
    window_at '+2 hours' '+3 hours'
    start_sender
    act start
    eventually eval '[[ $(column closes_at) != 0 ]]'
    counts_are waiting 2 || fail "$(cat "$body")"
    db "UPDATE campaign SET opens_at = 1 + $db_now - 2000"
    eventually state_is finished
    stop_sender
    assert_equal "$(reached)" '2 2'
    window_at '-2 hours' '+2 hours'
    act start
    db "INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, send_at,
        next_at, expires_at, campaign_id, created_at) SELECT 'out_w', user_id, account_id, line_id,
        '15552000009', CAST('{}' AS BLOB), 'queued', 1, 1, 9000000000000, id, 1 FROM campaign
        WHERE id = '$campaign'; INSERT INTO campaign_count VALUES ('$campaign', 'queued', 1);
        UPDATE campaign SET closes_at = 5, open_times = ''"
    start_sender
    eventually counts_are queued 1
    assert_equal "$(row out_w 'state, attempts')" 'queued|0'
    counts_are waiting 2 || fail "$(cat "$body")"
}

@test "a campaign that runs out of its time before its window opens expires" {
    window_at '+2 hours' '+3 hours'
    db "UPDATE campaign SET valid_ms = 1"
    start_sender
    act start
    eventually state_is finished
    counts_are expired 2 || fail "$(cat "$body")"
}
