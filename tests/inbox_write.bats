#!/usr/bin/env bats
# Blocks and read marks (doc/api/inbox_write.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/inbox
load helpers/members
load helpers/pages
load helpers/session

A=15550100001

@test "PUT blocks a contact on all lines of its account or on one, DELETE ends it, and both can be repeated" {
    local contact first second
    make_user
    first=$LINE
    writes wamid.b1 "$A" 1780000000
    make_line '' && second=$LINE
    contact=$(contact_of "$A")
    api PUT "/v2/contacts/$contact/block" -d '{}'
    assert_success
    assert_conventions
    assert_json '[.data.blocks[].lineId] | sort' \
        "$(db "SELECT id FROM line WHERE account_id = '$ACCOUNT' ORDER BY id" | gojq -Rnc '[inputs]')"
    cp "$body" "$BATS_TEST_TMPDIR/first"
    api PUT "/v2/contacts/$contact/block" -d '{}'
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$second\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    assert_status 403
    api DELETE "/v2/contacts/$contact/block?phoneNumberId=$second"
    assert_json '[.data.blocks[].lineId]' "[\"$(db "SELECT id FROM line WHERE phone_number_id = '$first'")\"]"
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$second\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    assert_success
    api DELETE "/v2/contacts/$contact/block"
    assert_json .data.blocks '[]'
    api DELETE "/v2/contacts/$contact/block"
    assert_json .data.blocks '[]'
    api PUT "/v2/contacts/$contact/block" -d "{\"phoneNumberId\":\"$second\"}"
    assert_json '[.data.blocks[].lineId]' "[\"$(db "SELECT id FROM line WHERE phone_number_id = '$second'")\"]"
}

@test "a line that is not of the contact's account is 404 for a block" {
    local contact
    make_user
    writes wamid.l1 "$A" 1780000000
    contact=$(contact_of "$A")
    make_account '' && make_line ''
    api PUT "/v2/contacts/$contact/block" -d "{\"phoneNumberId\":\"$LINE\"}"
    assert_error 404 NOT_FOUND phoneNumberId
    api DELETE "/v2/contacts/$contact/block?phoneNumberId=$LINE"
    assert_error 404 NOT_FOUND phoneNumberId
    api PUT "/v2/contacts/$contact/block" -d '{"phoneNumberId":"\u0000"}'
    assert_error 404 NOT_FOUND phoneNumberId
    assert_equal "$(db "SELECT count(*) FROM contact_block WHERE contact_id = '$contact'")" 0
}

@test "POST read marks all messages as read, or those up to one, and never makes one unread" {
    local thread id
    make_user
    for id in 1 2 3 4; do
        writes "wamid.r$id" "$A" $((1780000000 + id))
    done
    thread=$(thread_of "$A")
    message_id() { db "SELECT id FROM message WHERE wamid = 'wamid.r$1'"; }
    api POST "/v2/threads/$thread/read" -d "{\"upTo\":\"$(message_id 2)\"}"
    assert_success
    assert_conventions
    assert_json .data '{"unread":2}'
    api POST "/v2/threads/$thread/read" -d "{\"upTo\":\"$(message_id 1)\"}"
    assert_json .data '{"unread":2}'
    writes wamid.r5 "$A" 1780000009
    api POST "/v2/threads/$thread/read" -d "{\"upTo\":\"$(message_id 4)\"}"
    assert_json .data '{"unread":1}'
    api GET "/v2/threads/$thread"
    assert_json .data.unread 1
    api POST "/v2/threads/$thread/read" -d '{}'
    assert_json .data '{"unread":0}'
    api POST "/v2/threads/$thread/read" -d '{}'
    assert_json .data '{"unread":0}'
}

@test "upTo must be a message of the thread" {
    local up_to thread
    make_user
    writes wamid.u1 "$A" 1780000000
    writes wamid.u2 15550100002 1780000000
    thread=$(thread_of "$A")
    for up_to in msg_none "$(db "SELECT id FROM message WHERE wamid = 'wamid.u2'")" 'a\u0000'; do
        api POST "/v2/threads/$thread/read" -d "{\"upTo\":\"$up_to\"}"
        assert_error 400 VALIDATION_ERROR upTo
    done
    api GET "/v2/threads/$thread"
    assert_json .data.unread 1
}

@test "contacts and threads of another user are 404 on each route, and stay as they are" {
    local contact thread
    make_user OTHER_
    make_user
    writes wamid.f1 "$A" 1780000000
    contact=$(contact_of "$A") thread=$(thread_of "$A")
    request PUT "/v2/contacts/$contact/block" -d '{}' --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    api PUT "/v2/contacts/$contact/block" -d '{}'
    request DELETE "/v2/contacts/$contact/block" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request POST "/v2/threads/$thread/read" -d '{}' --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    api GET "/v2/threads/$thread"
    assert_that '.data | .isBlocked and .unread == 1'
    api PUT /v2/contacts/con_none/block -d '{}'
    assert_error 404 NOT_FOUND
    api POST /v2/threads/thr_none/read -d '{}'
    assert_error 404 NOT_FOUND
}

@test "messages that arrive while others are marked as read are counted" {
    local thread i
    make_user
    writes wamid.c0 "$A" 1780000000
    thread=$(thread_of "$A")
    for i in 1 2 3 4 5 6; do
        mkdir "$BATS_TEST_TMPDIR/$i" "$BATS_TEST_TMPDIR/read$i"
        (
            BATS_TEST_TMPDIR+=/$i
            answer_dir=$BATS_TEST_TMPDIR
            writes "wamid.c$i" "$A" $((1780000000 + i))
        ) 3>&- &
        (
            answer_dir=$BATS_TEST_TMPDIR/read$i
            api POST "/v2/threads/$thread/read" -d '{}'
            assert_success
        ) 3>&- &
    done
    wait
    assert_equal "$(db "SELECT count(*), count(DISTINCT changed) FROM message WHERE wamid LIKE 'wamid.c%'")" '7|7'
    api GET "/v2/threads/$thread"
    assert_that '.data.unread <= 6'
    api POST "/v2/threads/$thread/read" -d '{}'
    writes wamid.c9 "$A" 1780000009
    api GET "/v2/threads/$thread"
    assert_json .data.unread 1
}

# The state of a thread of the line, as GET /v2/threads/:id shows it: times as seconds, - for null.
work_of() { # PHONE
    api GET "/v2/threads/$(thread_of "$1")"
    assert_success
    value '.data | [.waitingSince, .failedAt, .doneAt] | map(if . then sub("\\..*"; "Z") | fromdate else "-" end) |
        .[2] |= (if . == "-" then "-" else "done" end) | join(" ")'
}

@test "a thread waits from the first message on, until it is answered or done; done can be taken back" {
    local thread change
    make_user
    writes wamid.d1 "$A" 1780000000
    writes wamid.d2 "$A" 1780000005
    thread=$(thread_of "$A")
    assert_equal "$(work_of "$A")" '1780000000 - -'
    change=$(value .data.change)
    api POST "/v2/threads/$thread/done" -d "{\"change\":$change}"
    assert_success
    assert_conventions
    assert_that '.data | .waitingSince == null and .failedAt == null and .doneAt != null'
    cp "$body" "$BATS_TEST_TMPDIR/first"
    api POST "/v2/threads/$thread/done" -d "{\"change\":$change}"
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    api GET "/v2/changes?after=$change"
    assert_that ".data.threads[0].doneAt != null and .data.inbox == {unread: 1, waiting: 0, failed: 0, waitingSince: null}"
    writes wamid.d3 "$A" 1780000009
    assert_equal "$(work_of "$A")" '1780000009 - done'
    api DELETE "/v2/threads/$thread/done"
    assert_success
    assert_json .data.doneAt null
    assert_equal "$(work_of "$A")" '1780000000 - -'
    api DELETE "/v2/threads/$thread/done"
    assert_equal "$(work_of "$A")" '1780000000 - -'
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    assert_success
    assert_equal "$(work_of "$A")" '- - -'
}

@test "done does not hide a message that came meanwhile, also an older one" {
    local thread change
    make_user
    writes wamid.e1 "$A" 1780000010
    thread=$(thread_of "$A")
    work_of "$A" >/dev/null
    change=$(value .data.change)
    writes wamid.e2 "$A" 1780000007
    api POST "/v2/threads/$thread/done" -d "{\"change\":$change}"
    assert_json .data.waitingSince '"2026-05-28T20:26:47.000Z"'
    api GET '/v2/threads?waiting=true'
    assert_json '[.data.items[].id]' "[\"$thread\"]"
    assert_equal "$(work_of "$A")" '1780000007 - done'
    api POST "/v2/threads/$thread/done" -d "{\"change\":$(value .data.change)}"
    assert_equal "$(work_of "$A")" '- - done'
}

@test "a message that fails answers nothing: the thread waits again, and is listed as failed until it is done" {
    local sent thread
    make_user
    writes wamid.g1 "$A" 1780000000
    thread=$(thread_of "$A")
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    sent=$(value '.data.messages[0].id')
    take "$(payload "$(status_of "$sent" failed "\"recipient_id\":\"$A\",\"errors\":[{\"code\":131026}]")")"
    api GET '/v2/threads?failed=true'
    assert_that ".data.items | length == 1 and .[0].id == \"$thread\" and .[0].failedAt == .[0].lastMessage.timestamp"
    assert_that '.data.items[0].waitingSince == "2026-05-28T20:26:40.000Z"'
    api GET '/v2/threads?failed=true&waiting=true&q=ann'
    assert_json '.data.items | length' 1
    api GET '/v2/overview'
    assert_json .data.inbox '{"unread":1,"waiting":1,"failed":1,"waitingSince":"2026-05-28T20:26:40.000Z"}'
    api GET "/v2/threads/$thread"
    api POST "/v2/threads/$thread/done" -d "{\"change\":$(value .data.change)}"
    assert_that '.data | .failedAt == null and .waitingSince == null'
    api GET '/v2/threads?failed=true'
    assert_json .data.items '[]'
    api DELETE "/v2/threads/$thread/done"
    assert_that '.data | .failedAt != null and .waitingSince != null'
    take "$(payload "$(status_of "$sent" delivered "\"recipient_id\":\"$A\"")")"
    assert_equal "$(work_of "$A")" '- - -'
}

@test "a thread does not wait while its contact is blocked or its line is archived" {
    local contact line
    make_user
    writes wamid.k1 "$A" 1780000000
    contact=$(contact_of "$A") line=$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")
    api PUT "/v2/contacts/$contact/block" -d '{}'
    assert_equal "$(work_of "$A")" '- - -'
    writes wamid.k2 "$A" 1780000005
    assert_equal "$(work_of "$A")" '- - -'
    api DELETE "/v2/contacts/$contact/block"
    assert_equal "$(work_of "$A")" '1780000000 - -'
    switchboard contact block "$LINE" "+$A"
    assert_equal "$(work_of "$A")" '- - -'
    switchboard contact unblock "$LINE" "+$A"
    make_line '' # the primary line cannot be archived
    api PATCH "/v2/lines/$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")" -d '{"isPrimary":true}'
    assert_success
    api PATCH "/v2/lines/$line" -d '{"isArchived":true}'
    assert_success
    api GET '/v2/threads?waiting=true'
    assert_json .data.items '[]'
    api GET '/v2/overview'
    assert_json .data.inbox.waiting 0
    api PATCH "/v2/lines/$line" -d '{"isArchived":false}'
    api GET '/v2/threads?waiting=true'
    assert_json '[.data.items[].waitingSince]' '["2026-05-28T20:26:40.000Z"]'
}

@test "POST unread makes a thread one with unread messages until it is read" {
    local thread
    make_user
    writes wamid.n1 "$A" 1780000000
    thread=$(thread_of "$A")
    api POST "/v2/threads/$thread/read" -d '{}'
    api POST "/v2/threads/$thread/unread" -d '{}'
    assert_success
    assert_conventions
    assert_json .data '{"unread":1}'
    api GET '/v2/threads?unread=true'
    assert_json '[.data.items[].id]' "[\"$thread\"]"
    api POST "/v2/threads/$thread/unread" -d '{}'
    assert_json .data '{"unread":1}'
    writes wamid.n2 "$A" 1780000001
    api POST "/v2/threads/$thread/unread" -d '{}'
    assert_json .data '{"unread":2}'
    api POST "/v2/threads/$thread/read" -d "{\"upTo\":\"$(db "SELECT id FROM message WHERE wamid = 'wamid.n2'")\"}"
    assert_json .data '{"unread":0}'
}

# The threads of the line whose state is not what their messages say, counted without the store.
wrong_threads() {
    db "SELECT t.id, t.waiting_since, w.since, t.failed_at, w.failed FROM thread t JOIN (
        SELECT t.id AS thread, (SELECT min(m.timestamp) FROM message m WHERE m.thread_id = t.id AND m.direction = 'in'
                AND m.source = 'webhook' AND m.type <> 'reaction' AND m.done_at IS NULL
                AND NOT EXISTS (SELECT 1 FROM message a WHERE a.thread_id = t.id AND a.direction = 'out'
                    AND a.status <> 'failed' AND a.timestamp >= CASE WHEN m.created_at - m.timestamp < 999
                        THEN m.created_at ELSE m.timestamp + 999 END)) AS since,
            (SELECT m.timestamp FROM message m WHERE m.thread_id = t.id AND m.direction = 'out' AND m.done_at IS NULL
                AND m.status = 'failed' AND m.source <> 'history' AND NOT EXISTS (SELECT 1 FROM message l
                    WHERE l.thread_id = t.id AND l.direction = 'out' AND (l.timestamp, l.id) > (m.timestamp, m.id))) AS failed
        FROM thread t JOIN line l ON l.id = t.line_id WHERE l.phone_number_id = '$LINE') w ON w.thread = t.id
        WHERE coalesce(t.waiting_since, 0) <> coalesce(w.since, 0) OR coalesce(t.failed_at, 0) <> coalesce(w.failed, 0)"
}

# What some people do between the payloads: act SEED FIRST CONTACTS
act() {
    local i phone thread
    RANDOM=$1
    for ((i = 0; i < 4; i++)); do
        phone=$(($2 + RANDOM % $3)) thread=$(thread_of "$phone")
        [[ -n $thread ]] || continue
        case $((RANDOM % 4)) in
        0) api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$phone\",\"text\":\"Hi\"}" ;;
        1 | 2) api POST "/v2/threads/$thread/done" -d '{"change":1000000}' ;;
        3) api DELETE "/v2/threads/$thread/done" ;;
        esac
        assert_success
    done
}

# bats test_tags=direct,long
@test "in every order of messages, statuses and marks a thread waits for what its messages say" {
    local seed=${SEED-$RANDOM} contacts=40 round=0 payload wrong waits wanted
    printf 'SEED=%s\n' "$seed"
    make_user
    while IFS= read -r payload; do
        take "$payload"
        wrong=$(wrong_threads)
        [[ -z $wrong ]] || fail "after payload $round: $wrong"
        act $((seed + round++)) 15551230000 "$contacts"
        wrong=$(wrong_threads)
        [[ -z $wrong ]] || fail "after the marks $round: $wrong"
    done < <(awk -v seed="$seed" -v contacts="$contacts" -v rounds=5 -v line="$LINE" -v waba="$WABA" -v first=1555123 \
        -f "$root/tests/helpers/orders.awk")
    waits=$(db "SELECT count(waiting_since), count(failed_at), count(*) FROM thread t JOIN line l ON l.id = t.line_id
        WHERE l.phone_number_id = '$LINE'")
    printf '%s wait, failed, all\n' "$waits"
    [[ $waits == *"|$contacts" && $waits != 0* && $waits != "$contacts|"* ]]
    api GET '/v2/threads?waiting=true&limit=100'
    assert_that "[.data.items[].waitingSince] | . == sort and length == ${waits%%|*}"
    wanted=$(value '.data.items[].id')
    assert_equal "$(all_rows '/v2/threads?waiting=true&limit=3' .id)" "$wanted"
}

# Two contacts turn out to be one, and are two again: what waits is of the messages of each.
@test "threads that are merged and divided wait for what their messages say" {
    local wrong
    make_user
    take "$(payload "$(change messages "\"messages\":[$(message wamid.x1 '' "$B1")]")")"
    writes wamid.x2 "$A" 1780000050
    api POST "/v2/threads/$(thread_of "$A")/done" -d '{"change":1000}'
    take "$(payload "$(inbound wamid.x3 "$A" "$B1" '"type":"reaction","reaction":{"message_id":"wamid.x2","emoji":"x"}')")"
    assert_equal "$(db "SELECT count(*) FROM thread t JOIN line l ON l.id = t.line_id WHERE l.phone_number_id = '$LINE'")" 1
    assert_equal "$(work_of "$A")" '1780000000 - done'
    assert_equal "$(wrong_threads)" ''
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    assert_equal "$(work_of "$A")" '- - done'
}

# --- who takes care of a thread ---

# Assigns the thread in the session of a member: assigns NAME THREAD BODY
assigns() {
    local session=${1^^}_SESSION
    request PUT "/v2/threads/$2/assignee" -d "$3" --session "${!session}"
}

@test "PUT assignee assigns a thread to a member or to none, and the thread and its changes show it" {
    local thread change
    make_user
    has_member Ana agent
    writes wamid.a1 "$A" 1780000000
    thread=$(thread_of "$A")
    api GET /v2/changes
    change=$(value .data.change)
    assigns Ana "$thread" "{\"memberId\":\"$ANA_ID\"}"
    assert_success
    assert_conventions
    assert_json .data "{\"assignee\":{\"id\":\"$ANA_ID\",\"name\":\"Ana\"}}"
    api GET "/v2/threads/$thread"
    assert_json .data.assignee "{\"id\":\"$ANA_ID\",\"name\":\"Ana\"}"
    api GET "/v2/changes?after=$change"
    assert_json '[.data.threads[].assignee.name]' '["Ana"]'
    api PUT "/v2/threads/$thread/assignee" -d '{"memberId":null}'
    assert_json .data '{"assignee":null}'
    api GET "/v2/threads/$thread"
    assert_json .data.assignee null
    assert_equal "$(db "SELECT action, actor, details FROM trail WHERE object_id = '$thread' ORDER BY id")" \
        "thread.assign|$ANA_ID|{\"fields\":[\"memberId\"],\"to\":{\"id\":\"$ANA_ID\",\"name\":\"Ana\"}}
thread.assign|token|{\"fields\":[\"memberId\"],\"to\":null}"
}

@test "with from a thread is assigned only while it is as the caller has seen it, and 409 says who has it" {
    local thread
    make_user
    has_member Ana agent
    has_member Ben admin
    writes wamid.a1 "$A" 1780000000
    thread=$(thread_of "$A")
    assigns Ana "$thread" "{\"memberId\":\"$ANA_ID\",\"from\":null}"
    assert_success
    assigns Ben "$thread" "{\"memberId\":\"$BEN_ID\",\"from\":null}"
    assert_error 409 VALIDATION_ERROR 'assigned to Ana'
    assert_json .details "{\"assignee\":{\"id\":\"$ANA_ID\",\"name\":\"Ana\"}}"
    # a repetition, as after a lost answer, is no conflict
    assigns Ana "$thread" "{\"memberId\":\"$ANA_ID\",\"from\":null}"
    assert_success
    assigns Ben "$thread" "{\"memberId\":\"$BEN_ID\",\"from\":\"$ANA_ID\"}"
    assert_success
    assigns Ana "$thread" "{\"memberId\":null,\"from\":\"$ANA_ID\"}"
    assert_error 409 VALIDATION_ERROR 'assigned to Ben'
    assigns Ana "$thread" '{"memberId":null}'
    assert_success
    assigns Ana "$thread" "{\"memberId\":\"$ANA_ID\",\"from\":\"$BEN_ID\"}"
    assert_error 409 VALIDATION_ERROR
    assert_json .details '{"assignee":null}'
}

# bats test_tags=long
@test "of members who take a thread at the same time exactly one gets it" {
    local thread round name
    make_user
    has_member Ana agent
    has_member Ben agent
    for round in 1 2 3 4 5 6; do
        writes "wamid.t$round" "1555010020$round" 1780000000
        thread=$(thread_of "1555010020$round")
        for name in Ana Ben; do
            mkdir -p "$BATS_TEST_TMPDIR/$name"
            (
                local id=${name^^}_ID
                answer_dir=$BATS_TEST_TMPDIR/$name
                assigns "$name" "$thread" "{\"memberId\":\"${!id}\",\"from\":null}"
                printf '%s\n' "$status" >"$BATS_TEST_TMPDIR/$name/status"
            ) 3>&- &
        done
        wait
        assert_equal "$(sort "$BATS_TEST_TMPDIR"/{Ana,Ben}/status | tr '\n' ' ')" '200 409 '
        name=Ana
        [[ $(cat "$BATS_TEST_TMPDIR/Ana/status") == 200 ]] || name=Ben
        local id=${name^^}_ID
        assert_equal "$(db "SELECT assignee_id FROM thread WHERE id = '$thread'")" "${!id}"
    done
}

# bats test_tags=long
@test "a thread is assigned to members of the workspace alone who may answer" {
    local thread member other
    make_user OTHER_
    make_user
    has_member Vic viewer
    writes wamid.a1 "$A" 1780000000
    thread=$(thread_of "$A")
    other=$(db "SELECT ms.member_id FROM membership ms JOIN user u ON u.id = ms.user_id WHERE u.email = '$OTHER_EMAIL'")
    for member in "$VIC_ID" "$other" mbr_none a '\u0000'; do
        api PUT "/v2/threads/$thread/assignee" -d "{\"memberId\":\"$member\"}"
        assert_error 404 NOT_FOUND memberId
    done
    api PUT "/v2/threads/$thread/assignee" -d '{}'
    assert_error 400 VALIDATION_ERROR memberId
    api PUT /v2/threads/thr_none/assignee -d '{"memberId":null}'
    assert_error 404 NOT_FOUND
    request PUT "/v2/threads/$thread/assignee" -d '{"memberId":null}' --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request PUT "/v2/threads/$thread/assignee" -d '{"memberId":null}' --session "$VIC_SESSION"
    assert_error 403 FORBIDDEN
    assert_equal "$(db "SELECT count(*) FROM thread WHERE id = '$thread' AND assignee_id IS NOT NULL")" 0
}

@test "a member who is removed, or may not answer any more, loses all assignments at once" {
    local thread phone change
    make_user
    has_member Ana agent
    has_member Ben agent
    for phone in 15550100301 15550100302 15550100303; do
        writes "wamid.$phone" "$phone" 1780000000
        thread=$(thread_of "$phone")
        assigns Ana "$thread" "{\"memberId\":\"$ANA_ID\"}"
        assert_success
    done
    assigns Ben "$thread" "{\"memberId\":\"$BEN_ID\"}"
    api GET /v2/changes
    change=$(value .data.change)
    switchboard member remove "$EMAIL" "$ANA_EMAIL" >/dev/null
    api GET "/v2/changes?after=$change"
    assert_that '.data.threads | length == 2 and all(.assignee == null) and ([.[].change] | unique | length == 2)'
    api GET "/v2/threads/$thread"
    assert_json .data.assignee.name '"Ben"'
    switchboard member role "$EMAIL" "$BEN_EMAIL" --role viewer >/dev/null
    api GET "/v2/threads/$thread"
    assert_json .data.assignee null
}

# --- who writes in a thread ---

# Notes that the member types in the thread: types NAME THREAD
types() {
    local session=${1^^}_SESSION
    request PUT "/v2/threads/$2/typing" -d '{}' --session "${!session}"
}

# The member who types in the thread, as another one sees it: typist NAME THREAD
typist() {
    local session=${1^^}_SESSION
    request GET "/v2/threads/$2" --session "${!session}"
    gojq -r '.data.typing.by.name // "-"' "$body"
}

@test "PUT typing shows the others who writes in a thread, for some seconds and never to oneself" {
    local thread change until
    make_user
    has_member Ana agent
    has_member Ben agent
    writes wamid.t1 "$A" 1780000000
    thread=$(thread_of "$A")
    api GET "/v2/threads/$thread"
    assert_json .data.typing null
    api GET /v2/changes
    change=$(value .data.change)
    types Ana "$thread"
    assert_success
    assert_conventions
    assert_json .data '{"noted":true}'
    until=$(db "SELECT typing_until FROM thread WHERE id = '$thread'")
    api GET "/v2/threads/$thread"
    assert_json .data.typing.by "{\"id\":\"$ANA_ID\",\"name\":\"Ana\"}"
    assert_that '.data.typing.until | test("^20")'
    assert_equal "$(typist Ana "$thread") $(typist Ben "$thread")" '- Ana'
    request GET "/v2/changes?after=$change" --session "$BEN_SESSION"
    assert_json '[.data.threads[].typing.by.name]' '["Ana"]'
    request GET /v2/threads --session "$BEN_SESSION"
    assert_json '[.data.items[].typing.by.name]' '["Ana"]'
    # a notice that is over, and one of a clock that was ahead
    db "UPDATE thread SET typing_until = $until - 15001 WHERE id = '$thread'"
    assert_equal "$(typist Ben "$thread")" -
    db "UPDATE thread SET typing_until = $until + 3600000 WHERE id = '$thread'"
    assert_equal "$(typist Ben "$thread")" -
    types Ben "$thread"
    assert_equal "$(typist Ana "$thread") $(typist Ben "$thread")" 'Ben -'
    assert_equal "$(db "SELECT count(*) FROM trail WHERE object_id = '$thread'")" 0
    assert_equal "$(db 'SELECT count(*) FROM outbox')" 0
}

@test "a thread takes one notice of typing within 3 seconds, so that keys write no rows" {
    local thread change end=0 start=0
    make_user
    has_member Ana agent
    has_member Ben agent
    writes wamid.t2 "$A" 1780000000
    thread=$(thread_of "$A")
    until ((end && end - start < 2900)); do # once the requests are so quick
        db "UPDATE thread SET typing_until = NULL WHERE id = '$thread'"
        start=$(date +%s%3N)
        types Ana "$thread"
        change=$(db "SELECT changed FROM thread WHERE id = '$thread'")
        types Ana "$thread"
        assert_success
        types Ben "$thread"
        assert_success
        end=$(date +%s%3N)
    done
    api GET "/v2/changes?after=$change"
    assert_status 304
    db "UPDATE thread SET typing_until = typing_until - 3001 WHERE id = '$thread'"
    types Ana "$thread"
    api GET "/v2/changes?after=$change"
    assert_json '[.data.threads[].typing.by.name]' '["Ana"]'
}

@test "an answer of the member ends the notice of typing, one of another member does not" {
    local thread
    make_user
    has_member Ana agent
    has_member Ben agent
    writes wamid.t3 "$A" 1780000000
    thread=$(thread_of "$A")
    types Ana "$thread"
    request POST /v2/messages/send/text --session "$BEN_SESSION" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Ben\"}"
    assert_success
    assert_equal "$(db "SELECT typing_by FROM thread WHERE id = '$thread'")" "$ANA_ID"
    request POST /v2/messages/send/text --session "$ANA_SESSION" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Ana\"}"
    assert_success
    assert_equal "$(db "SELECT coalesce(typing_by, '-') FROM thread WHERE id = '$thread'")" -
    assert_equal "$(typist Ben "$thread")" -
}

# bats test_tags=long
@test "typing is for members who may answer; a member who is removed meanwhile leaves no name" {
    local thread
    make_user
    make_user OTHER_
    has_member Ana agent
    has_member Ben agent
    has_member Vic viewer
    writes wamid.t4 "$A" 1780000000
    thread=$(thread_of "$A")
    api PUT "/v2/threads/$thread/typing" -d '{}'
    assert_success
    assert_json .data '{"noted":false}'
    types Vic "$thread"
    assert_error 403 FORBIDDEN
    types Ana thr_none
    assert_error 404 NOT_FOUND
    request PUT "/v2/threads/$thread/typing" -d '{}' --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    assert_equal "$(db "SELECT count(*) FROM thread WHERE typing_by IS NOT NULL AND id = '$thread'")" 0
    types Ana "$thread"
    assert_equal "$(typist Ben "$thread")" Ana
    switchboard member remove "$EMAIL" "$(db "SELECT email FROM member WHERE id = '$ANA_ID'")" >/dev/null
    assert_equal "$(typist Ben "$thread")" -
    ! grep -qF "$ANA_ID" "$body" || fail 'the answer names the member'
}

# The number of threads that are assigned to Ana.
assigned_to_ana() {
    db "SELECT count(*) FROM thread WHERE assignee_id = '$ANA_ID'"
}

@test "the assignments of a member end in parts of 500, and a change that broke off is repeated" {
    local kind change options=()
    make_user
    has_member Ana agent
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
        INSERT INTO contact (id, account_id, bsuid, created_at, updated_at)
        SELECT 'con_' || (10000 + i) || '$LINE', '$ACCOUNT', 'US.' || i, 1, 1 FROM n"
    db "INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
        SELECT 'thr_' || substr(c.id, 5), a.user_id, l.id, c.id, 1, 1 FROM contact c
        JOIN account a ON a.id = c.account_id JOIN line l ON l.account_id = a.id WHERE a.id = '$ACCOUNT'"
    for kind in role remove; do
        db "UPDATE thread SET assignee_id = '$ANA_ID' WHERE id LIKE 'thr_%$LINE'"
        api GET /v2/changes
        change=$(value .data.change)
        refuse_update thread "thr_10600$LINE"
        [[ $kind == remove ]] || options=(--role viewer)
        run -1 switchboard member "$kind" "$EMAIL" "$ANA_EMAIL" "${options[@]}"
        accept_updates thread
        assert_equal "$kind $(assigned_to_ana)" "$kind 700"
        assert_equal "$(db "SELECT role FROM membership WHERE member_id = '$ANA_ID'")" \
            "$([[ $kind == remove ]] && echo viewer || echo agent)"
        switchboard member "$kind" "$EMAIL" "$ANA_EMAIL" "${options[@]}" >/dev/null
        options=()
        assert_equal "$kind $(assigned_to_ana)" "$kind 0"
        assert_equal "$(db "SELECT count(DISTINCT changed) FROM thread WHERE id LIKE 'thr_%$LINE' AND changed > $change")" 1200
    done
    assert_equal "$(db "SELECT count(*) FROM membership WHERE member_id = '$ANA_ID'")" 0
    assert_equal "$(db "SELECT action FROM trail WHERE object_id = '$ANA_ID' AND action LIKE 'member.%' ORDER BY id" | xargs)" \
        'member.add member.role member.remove'
}

@test "a thread that remains of a merger keeps its member, or gets that of the other one" {
    local other
    make_user
    has_member Ben agent
    take "$(payload "$(change messages "\"messages\":[$(message wamid.y1 '' "$B1")]")")"
    writes wamid.y2 "$A" 1780000050
    other=$(db "SELECT thread_id FROM message WHERE wamid = 'wamid.y1'")
    assigns Ben "$other" "{\"memberId\":\"$BEN_ID\"}"
    assert_success
    take "$(payload "$(inbound wamid.y3 "$A" "$B1" '"type":"reaction","reaction":{"message_id":"wamid.y2","emoji":"x"}')")"
    api GET "/v2/threads/$(thread_of "$A")"
    assert_json .data.assignee.name '"Ben"'
    api GET "/v2/threads/$other"
    assert_json .data.assignee.name '"Ben"'
}

# --- notes ---

# The texts of the notes of a thread, newest first.
notes_of() { # THREAD
    api GET "/v2/threads/$1/notes"
    assert_success
    value '[.data.items[].text] | join(",")'
}

@test "notes of a thread are listed newest first with their authors, change the thread, and are never sent" {
    local thread id change
    make_user
    has_member Ana agent
    writes wamid.n1 "$A" 1780000000
    thread=$(thread_of "$A")
    forget_sent
    api GET /v2/changes
    change=$(value .data.change)
    request POST "/v2/threads/$thread/notes" -d '{"text":"Wants <b>an</b> invoice.\nSoon"}' --session "$ANA_SESSION"
    assert_success
    assert_conventions
    assert_that ".data | .threadId == \"$thread\" and .by == {id: \"$ANA_ID\", name: \"Ana\"}"
    id=$(value .data.id)
    api POST "/v2/threads/$thread/notes" -d '{"text":"Second"}'
    assert_json .data.by null
    assert_equal "$(notes_of "$thread")" $'Second,Wants <b>an</b> invoice.\nSoon'
    assert_conventions
    assert_equal "$(all_rows "/v2/threads/$thread/notes?limit=1" .by.name | xargs)" 'null Ana'
    api GET "/v2/changes?after=$change"
    assert_that '.data.threads[0] | .notesChange == .change and .unread == 1'
    assert_equal "$(db "SELECT action, details FROM trail WHERE object_id = '$thread' ORDER BY id LIMIT 1")" \
        'note.create|{"fields":["text"]}'
    request DELETE "/v2/notes/$id" --session "$ANA_SESSION"
    assert_json .data '{"deleted":true}'
    assert_conventions
    assert_equal "$(notes_of "$thread")" Second
    request DELETE "/v2/notes/$id" --session "$ANA_SESSION"
    assert_error 404 NOT_FOUND
    assert_equal "$(db "SELECT count(*) FROM event WHERE user_id = (SELECT user_id FROM thread WHERE id = '$thread')
        AND created_at > 1780000000000 AND type NOT LIKE '%received%' AND type NOT LIKE 'lead%'")" 0
    assert_nothing_sent
}

# Adds a note with a key: keyed_note THREAD KEY TEXT
keyed_note() {
    api POST "/v2/threads/$1/notes" -H "Idempotency-Key: $2" -d "{\"text\":\"$3\"}"
}

@test "notes with one Idempotency-Key are one, with the same answer; another body is 422, and a deleted one stays deleted" {
    local thread first id change
    make_user
    writes wamid.n1 "$A" 1780000000
    thread=$(thread_of "$A")
    keyed_note "$thread" note-1 'Wants an invoice'
    assert_success
    assert_conventions
    refute_header Idempotent-Replayed
    first=$(sha256sum <"$body") id=$(value .data.id)
    change=$(db "SELECT changed FROM thread WHERE id = '$thread'")
    keyed_note "$thread" note-1 'Wants an invoice'
    assert_success
    assert_header Idempotent-Replayed true
    assert_equal "$(sha256sum <"$body")" "$first"
    request_many 8 POST "/v2/threads/$thread/notes" -H 'Idempotency-Key: note-1' \
        -d '{"text":"Wants an invoice"}' --as "$TOKEN"
    assert_equal "$(notes_of "$thread")" 'Wants an invoice'
    assert_equal "$(db "SELECT changed FROM thread WHERE id = '$thread'")" "$change"
    assert_equal "$(db "SELECT count(*) FROM trail WHERE object_id = '$thread'")" 1
    keyed_note "$thread" note-1 'Other'
    assert_error 422 VALIDATION_ERROR 'another body'
    keyed_note thr_none note-2 x
    assert_error 404 NOT_FOUND
    keyed_note "$thread" note-2 x
    assert_success
    api DELETE "/v2/notes/$id"
    keyed_note "$thread" note-1 'Wants an invoice'
    assert_error 404 NOT_FOUND
    assert_equal "$(notes_of "$thread")" x
    assert_equal "$(db "SELECT count(*) FROM idempotency WHERE key IN ('note-1', 'note-2') AND answer = CAST('{}' AS BLOB)")" 2
}

@test "a note whose request ended without an answer is found by the next request with its key" {
    local thread first
    make_user
    writes wamid.n1 "$A" 1780000000
    thread=$(thread_of "$A")
    keyed_note "$thread" lost One
    first=$(sha256sum <"$body")
    db "UPDATE idempotency SET status = NULL, answer = NULL, created_at = created_at - 61000 WHERE key = 'lost'"
    keyed_note "$thread" lost One
    assert_success
    assert_equal "$(sha256sum <"$body")" "$first"
    assert_equal "$(notes_of "$thread")" One
    assert_equal "$(db "SELECT count(*) FROM trail WHERE object_id = '$thread'")" 1
}

# bats test_tags=long
@test "a note is deleted by its author or an admin, and seen and written in its own workspace alone" {
    local thread id
    make_user OTHER_
    make_user
    has_member Ana agent
    has_member Ben agent
    has_member Cat admin
    has_member Vic viewer
    writes wamid.n1 "$A" 1780000000
    thread=$(thread_of "$A")
    request POST "/v2/threads/$thread/notes" -d '{"text":"One"}' --session "$ANA_SESSION"
    id=$(value .data.id)
    request DELETE "/v2/notes/$id" --session "$BEN_SESSION"
    assert_error 403 FORBIDDEN 'of another member'
    request DELETE "/v2/notes/$id" --session "$VIC_SESSION"
    assert_error 403 FORBIDDEN 'the scope inbox'
    request DELETE "/v2/notes/$id" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request GET "/v2/threads/$thread/notes" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request POST "/v2/threads/$thread/notes" -d '{"text":"x"}' --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request POST "/v2/threads/$thread/notes" -d '{"text":"x"}' --session "$VIC_SESSION"
    assert_error 403 FORBIDDEN
    request GET "/v2/threads/$thread/notes" --session "$VIC_SESSION"
    assert_json '[.data.items[].text]' '["One"]'
    request DELETE "/v2/notes/$id" --session "$CAT_SESSION"
    assert_success
    assert_equal "$(notes_of "$thread")" ''
}

@test "a note has a text without NUL of at most 16 KB, and a thread at most 1000 notes" {
    local thread
    make_user
    writes wamid.n1 "$A" 1780000000
    thread=$(thread_of "$A")
    for text in '""' '17' '"a\u0000"' "\"$(printf '%016385d' 1)\""; do
        api POST "/v2/threads/$thread/notes" -d "{\"text\":$text}"
        assert_error 400 VALIDATION_ERROR text
    done
    api POST "/v2/threads/$thread/notes" -d "{\"text\":\"$(printf '%016384d' 1)\"}"
    assert_success
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
        INSERT INTO note (id, user_id, thread_id, text, created_at)
        SELECT 'not_$LINE' || i, t.user_id, t.id, 'x', 1 FROM n, thread t WHERE t.id = '$thread'"
    api POST "/v2/threads/$thread/notes" -d '{"text":"x"}'
    assert_error 409 VALIDATION_ERROR 1000
    assert_equal "$(db "SELECT count(*) FROM note WHERE thread_id = '$thread'")" 1000
}

# --- canned replies ---

# bats test_tags=long
@test "canned replies are listed by shortcut, changed by the author or an admin, and seen in their workspace alone" {
    local id
    make_user OTHER_
    make_user
    has_member Ana agent
    has_member Ben agent
    has_member Cat admin
    has_member Vic viewer
    request POST /v2/replies -d '{"shortcut":"hours","text":"Open <b>9</b> to 18, {name}"}' --session "$ANA_SESSION"
    assert_success
    assert_conventions
    assert_that ".data | .shortcut == \"hours\" and .by == {id: \"$ANA_ID\", name: \"Ana\"}"
    id=$(value .data.id)
    request POST /v2/replies -d '{"shortcut":"hours","text":"x"}' --session "$BEN_SESSION"
    assert_error 409 VALIDATION_ERROR shortcut
    api POST /v2/replies -d '{"shortcut":"grüße","text":"Hi"}' -H 'Idempotency-Key: greeting'
    assert_success
    api POST /v2/replies -d '{"shortcut":"grüße","text":"Ho"}' -H 'Idempotency-Key: greeting'
    assert_error 422 VALIDATION_ERROR 'another body'
    api POST /v2/replies -d '{"shortcut":"grüße","text":"Hi"}' -H 'Idempotency-Key: greeting'
    assert_json .data.by null
    assert_equal "$(all_rows '/v2/replies?limit=1' .shortcut | xargs)" 'grüße hours'
    assert_conventions
    request PATCH "/v2/replies/$id" -d '{"text":"y"}' --session "$BEN_SESSION"
    assert_error 403 FORBIDDEN 'of another member'
    request DELETE "/v2/replies/$id" --session "$BEN_SESSION"
    assert_error 403 FORBIDDEN 'of another member'
    request PATCH "/v2/replies/$id" -d '{"text":"y"}' --session "$VIC_SESSION"
    assert_error 403 FORBIDDEN 'the scope inbox'
    request GET /v2/replies --session "$VIC_SESSION"
    assert_json '[.data.items[].shortcut]' '["grüße","hours"]'
    request PATCH "/v2/replies/$id" -d '{"text":"y"}' --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request GET /v2/replies --as "$OTHER_TOKEN"
    assert_json .data.items '[]'
    request PATCH "/v2/replies/$id" -d '{"shortcut":"grüße"}' --session "$ANA_SESSION"
    assert_error 409 VALIDATION_ERROR shortcut
    request PATCH "/v2/replies/$id" -d '{"text":"Later","shortcut":"later"}' --session "$ANA_SESSION"
    assert_success
    assert_conventions
    assert_json '.data | [.shortcut, .text, .by.name]' '["later","Later","Ana"]'
    request DELETE "/v2/replies/$id" --session "$CAT_SESSION"
    assert_json .data '{"deleted":true}'
    assert_conventions
    request DELETE "/v2/replies/$id" --session "$CAT_SESSION"
    assert_error 404 NOT_FOUND
    assert_equal "$(db "SELECT action, actor_name FROM trail WHERE object_id = '$id' ORDER BY id")" \
        $'reply.create|Ana\nreply.update|Ana\nreply.delete|Cat'
}

@test "a canned reply has a shortcut without spaces, and a workspace at most 500, also of requests at the same time" {
    make_user
    for shortcut in '' 'a b' '/a' 'a\u0000' "$(printf '%061d' 1)"; do
        api POST /v2/replies -d "{\"shortcut\":\"$shortcut\",\"text\":\"x\"}"
        assert_error 400 VALIDATION_ERROR shortcut
    done
    api POST /v2/replies -d '{"shortcut":"a","text":""}'
    assert_error 400 VALIDATION_ERROR text
    request_many 8 POST /v2/replies -H 'Idempotency-Key: reply' -d '{"shortcut":"a","text":"x"}' --as "$TOKEN"
    assert_equal "$(db "SELECT count(*), min(shortcut) FROM reply r JOIN user u ON u.id = r.user_id
        WHERE u.email = '$EMAIL'")" '1|a'
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
        INSERT INTO reply (id, user_id, shortcut, text, created_at, updated_at)
        SELECT 'rpl_$LINE' || i, u.id, 'n' || i, 'x', 1, 1 FROM n JOIN user u ON u.email = '$EMAIL'"
    api POST /v2/replies -d '{"shortcut":"b","text":"x"}'
    assert_error 409 VALIDATION_ERROR 500
}

# --- threads that are merged ---

@test "the notes of threads that are merged are those of the thread that remains" {
    local other
    make_user
    take "$(payload "$(change messages "\"messages\":[$(message wamid.z1 '' "$B1")]")")"
    writes wamid.z2 "$A" 1780000050
    other=$(db "SELECT thread_id FROM message WHERE wamid = 'wamid.z1'")
    api POST "/v2/threads/$other/notes" -d '{"text":"Of the one that goes"}'
    api POST "/v2/threads/$(thread_of "$A")/notes" -d '{"text":"Of the one that stays"}'
    take "$(payload "$(inbound wamid.z3 "$A" "$B1" '"type":"reaction","reaction":{"message_id":"wamid.z2","emoji":"x"}')")"
    assert_equal "$(notes_of "$other" | tr ',' '\n' | sort | xargs -d '\n')" 'Of the one that goes Of the one that stays'
    assert_equal "$(notes_of "$(thread_of "$A")")" "$(notes_of "$other")"
    api POST "/v2/threads/$other/notes" -d '{"text":"By the former id"}'
    assert_json .data.threadId "\"$(thread_of "$A")\""
}
