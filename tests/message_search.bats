#!/usr/bin/env bats
# The search of words in messages: GET /v2/messages and GET /v2/threads/:threadId/messages with q
# (doc/api/threads.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/inbox
load helpers/pages

A=15550300001 B=15550300002 C=15550300003

# The contact writes a message of a type: sends_kind NUMBER TYPE VALUE
sends_kind() {
    take "$(payload "$(change messages "\"contacts\":[{\"profile\":{\"name\":\"Ann\"},
        \"wa_id\":\"$A\"}],\"messages\":[{\"from\":\"$A\",\"id\":\"wamid.k$1\",
        \"timestamp\":\"178000000$1\",\"type\":\"$2\",\"$2\":$3}]")")"
}

sends_text() { # TEXT
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"$1\"}"
    assert_success
}

found() { # Q [MORE]: the wamids, in the order of the answer
    api GET "/v2/messages?q=$(gojq -rn --arg q "$1" '$q | @uri')${2-}"
    assert_success
    value '.data.items | map(.wamid) | join(" ")'
}

# bats test_tags=each,long
@test "GET /v2/messages finds messages that have all words, with their threads" {
    make_user
    writes wamid.f1 "$A" 1780000000 'I want a refund for the lamp' Ann
    writes wamid.f2 "$B" 1780000100 'The refund came, thank you' Bob
    writes wamid.f3 "$A" 1780000200 'Is the lamp in stock?' Ann
    api GET '/v2/messages?q=refund'
    assert_success
    assert_conventions
    assert_json '[.data.items[].wamid]' '["wamid.f1","wamid.f2"]'
    assert_json '[.data.threads[].contact.name]' '["Ann","Bob"]'
    assert_json '[.data.searchedUntil, .data.paging]' '[null,{"cursors":{"after":null}}]'
    assert_json .data.items[0].body \
        "$(text wamid.f1 "$A" 1780000000 'I want a refund for the lamp')"
    assert_equal "$(found 'lamp refund')" wamid.f1
    assert_equal "$(found 'refund sofa')" ''
    assert_equal "$(found efun)" 'wamid.f1 wamid.f2'
}

@test "quotation marks find a sequence, and case, accents and marks do not count" {
    make_user
    writes wamid.q1 "$A" 1780000000 'Où est la Café   CRÈME?'
    writes wamid.q2 "$A" 1780000001 'crème du café'
    writes wamid.q3 "$B" 1780000002 "I don’t know Łukasz"
    writes wamid.q4 "$B" 1780000003 '我想要退款，谢谢 🌸'
    writes wamid.q5 "$C" 1780000004 'مكتبـــة على'
    assert_equal "$(found 'cafe creme')" 'wamid.q2 wamid.q1'
    assert_equal "$(found '"cafe creme"')" wamid.q1
    assert_equal "$(found '"cafe creme')" wamid.q1
    assert_equal "$(found 'la "CAFÉ crème"')" wamid.q1
    assert_equal "$(found "don't lukasz")" wamid.q3
    assert_equal "$(found 退款)" wamid.q4
    assert_equal "$(found 🌸)" wamid.q4
    assert_equal "$(found 'مکتبه علی')" wamid.q5
}

# bats test_tags=long
@test "captions, files, titles, locations, contacts, templates and answers to flows are compared" {
    local answers
    make_user
    sends_kind 1 image '{"id":"99","caption":"caption-word"}'
    sends_kind 2 document '{"id":"99","filename":"invoice-word.pdf"}'
    sends_kind 3 interactive '{"type":"button_reply","button_reply":{"id":"id-word",
        "title":"button-word"}}'
    sends_kind 4 interactive '{"type":"list_reply","list_reply":{"id":"1","title":"row-word",
        "description":"detail-word"}}'
    sends_kind 5 location '{"latitude":1,"longitude":2,"name":"place-word",
        "address":"street-word"}'
    sends_kind 6 contacts '[{"name":{"formatted_name":"card-word"},
        "phones":[{"phone":"+49 30 1234"}]}]'
    answers=$(gojq -cn '{flow_token: "token-word", answer: "flow-word", list: ["item-word"],
        number: 4711} | tojson')
    sends_kind 7 interactive "{\"type\":\"nfm_reply\",\"nfm_reply\":{\"name\":\"flow\",
        \"body\":\"Sent\",\"response_json\":$answers}}"
    sends_kind 8 button '{"payload":"payload-word","text":"quick-word"}'
    sends_text own-word
    local word n
    for word in caption:1 invoice:2 button:3 row:4 detail:4 place:5 street:5 card:6 flow:7 \
        item:7 quick:8; do
        n=${word#*:}
        assert_equal "$word $(found "${word%:*}-word")" "$word wamid.k$n"
    done
    assert_equal "$(found 4711)" wamid.k7
    assert_equal "$(found '1234')" wamid.k6
    for word in id-word token-word payload-word "$A" latitude formatted_name; do
        assert_equal "$word $(found "$word")" "$word "
    done
    api GET '/v2/messages?q=own-word'
    assert_json '[.data.items[] | [.direction, .body.text.body]]' '[["out","own-word"]]'
    db "UPDATE message SET body = CAST('{\"template\":{\"name\":\"order_word\",\"components\":[
        {\"type\":\"body\",\"parameters\":[{\"type\":\"text\",\"text\":\"parameter-word\"}]}]}}'
        AS BLOB) WHERE wamid = 'wamid.k1'"
    assert_equal "$(found 'parameter-word order_word')" wamid.k1
}

# bats test_tags=long
@test "the pages of a search have every message once" {
    local i wanted
    make_user
    for i in 1 2 3 4 5 6 7; do
        writes "wamid.p$i" "1555031000$((i % 3))" $((1780000000 + i / 2)) "same word $i"
    done
    wanted=$(found 'same word' '&limit=100' | tr ' ' '\n')
    assert_equal "$(wc -w <<<"$wanted")" 7
    assert_equal "$(all_rows '/v2/messages?q=same+word&limit=2' .wamid)" "$wanted"
    assert_equal "$(all_rows '/v2/messages?q=same+word&limit=1' .wamid)" "$wanted"
}

@test "GET /v2/threads/:threadId/messages with q searches in this thread alone" {
    local i thread
    make_user
    for i in 1 2 3 4 5; do
        writes "wamid.t$i" "$A" $((1780000000 + i)) "needle $i"
    done
    writes wamid.other "$B" 1780000009 needle
    thread=$(thread_of "$A")
    api GET "/v2/threads/$thread/messages?q=needle&limit=3"
    assert_success
    assert_json '[.data.items[].wamid]' '["wamid.t5","wamid.t4","wamid.t3"]'
    assert_json .data.searchedUntil '"2026-05-28T20:26:43.000Z"'
    assert_that '.data | has("threads") | not'
    assert_equal "$(all_rows "/v2/threads/$thread/messages?q=needle&limit=2" .wamid | xargs)" \
        'wamid.t5 wamid.t4 wamid.t3 wamid.t2 wamid.t1'
    api GET "/v2/threads/$thread/messages?q=needle&changedAfter=0"
    assert_error 400 VALIDATION_ERROR
    api GET "/v2/threads/$thread/messages?q=needle&before=eA"
    assert_error 400 VALIDATION_ERROR
}

@test "a query without a word, with too many, or with a foreign cursor is 400" {
    local thread cursor
    make_user
    writes wamid.e1 "$A" 1780000000 word
    writes wamid.e2 "$A" 1780000001 word
    for q in '%20' '%22%20%22' '%CC%81' a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q; do
        api GET "/v2/messages?q=$q"
        assert_error 400 VALIDATION_ERROR
    done
    api GET /v2/messages
    assert_json '[.data.items[].wamid]' '["wamid.e2","wamid.e1"]'
    api GET '/v2/messages?q=word&limit=1'
    cursor=$(value .data.paging.cursors.after)
    thread=$(thread_of "$A")
    api GET "/v2/threads/$thread/messages?q=word&after=$cursor"
    assert_error 400 VALIDATION_ERROR
    api GET "/v2/threads/$thread/messages?after=$cursor"
    assert_error 400 VALIDATION_ERROR
    for cursor in eA "$(printf 'found\n1\nthr_x\nz\nmsg_x' | base64 -w0)"; do
        api GET "/v2/messages?q=word&after=$cursor"
        assert_error 400 VALIDATION_ERROR
    done
}

# bats test_tags=long
@test "no message of another user is found, not even by a cursor in its thread" {
    local thread cursor
    make_user
    writes wamid.o1 "$A" 1780000000 secretword
    thread=$(thread_of "$A")
    make_user
    assert_equal "$(found secretword)" ''
    cursor=$(printf 'found\n9780000000000\n%s\n9780000000000\nmsg_z' "$thread" |
        base64 -w0 | tr '+/' '-_' | tr -d =)
    api GET "/v2/messages?q=secretword&limit=1&after=$cursor"
    assert_json .data '{"items":[],"threads":[],"searchedUntil":null,
        "paging":{"cursors":{"after":null}}}'
    api GET "/v2/threads/$thread/messages?q=secretword"
    assert_error 404 NOT_FOUND
}

# bats test_tags=direct,long
@test "one answer compares 20,000 messages, and says how far it came" {
    local thread i
    make_user
    writes wamid.first "$A" 1780000000 'the very first words'
    thread=$(thread_of "$A")
    db "INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type,
            status, status_at, timestamp, body, created_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20050)
        SELECT 'msg_many' || i, m.user_id, m.thread_id, m.line_id, 'wamid.many' || i, m.direction,
            m.source, m.type, m.status, m.status_at, m.timestamp + i * 1000, m.body, m.created_at
        FROM n, message m WHERE m.wamid = 'wamid.first'"
    db "UPDATE message SET body = CAST('{\"text\":{\"body\":\"nothing\"}}' AS BLOB)
        WHERE thread_id = '$thread' AND wamid <> 'wamid.first'"
    api GET '/v2/messages?q=very+first'
    assert_json '[.data.items, .data.searchedUntil]' "[[],\"2026-05-28T20:26:40.000Z\"]"
    api GET "/v2/messages?q=very+first&after=$(value .data.paging.cursors.after)"
    assert_json '[[.data.items[].wamid], .data.searchedUntil]' '[["wamid.first"],null]'
    api GET "/v2/threads/$thread/messages?q=very+first"
    assert_json '[.data.items, .data.searchedUntil]' "[[],\"2026-05-28T20:27:31.000Z\"]"
    assert_equal "$(all_rows "/v2/threads/$thread/messages?q=very+first" .wamid)" wamid.first
}

# bats test_tags=direct
@test "a second search of the user meanwhile is 429, one of another user is answered" {
    local file=$DB-search user
    make_user
    writes wamid.l1 "$A" 1780000000 word
    assert_equal "$(found word)" wamid.l1 # creates the file
    [[ -z ${SERVER-} ]] || file=$STACK/spool/search
    user=$(db "SELECT user_id FROM account WHERE id = '$ACCOUNT'")
    mkfifo "$BATS_TEST_TMPDIR/hold"
    "${HELPERS:?}/hold" "$file@$((16#$(printf %s "$user" | sha256sum | cut -c 1-12)))" \
        <"$BATS_TEST_TMPDIR/hold" >"$BATS_TEST_TMPDIR/held" 3>&- &
    exec {holding}>"$BATS_TEST_TMPDIR/hold"
    eventually grep -q held "$BATS_TEST_TMPDIR/held"
    api GET '/v2/messages?q=word'
    assert_error 429 RATE_LIMITED 'Another search'
    assert_header Retry-After 1
    api GET "/v2/threads/$(thread_of "$A")/messages?q=word"
    assert_error 429 RATE_LIMITED
    make_user
    assert_equal "$(found word)" ''
}
