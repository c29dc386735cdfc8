#!/usr/bin/env bats
# Blocks and read marks (doc/api/inbox_write.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/inbox
load helpers/pages

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

# bats test_tags=direct
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
