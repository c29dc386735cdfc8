#!/usr/bin/env bats
# Blocks and read marks (doc/api/inbox_write.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/inbox

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
