#!/usr/bin/env bats
# GET /v2/changes (doc/api/threads.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/inbox

A=15550100001 B=15550100002

# Sets $change to the number of the last change.
read_change() {
    api GET /v2/changes
    assert_success
    change=$(value .data.change)
}

# Exactly these threads changed after $change, which becomes the new number: changed THREAD...
changed() {
    api GET "/v2/changes?after=$change"
    assert_success
    assert_json '[.data.threads[].id]' "$(jq -cn '$ARGS.positional' --args "$@")"
    assert_json .data.more false
    [[ $(value .data.change) -gt $change ]]
    change=$(value .data.change)
}

@test "without after it answers the present number; with it, what changed since, or 304 without a body" {
    make_user
    api GET /v2/changes
    assert_json .data '{"change":0,"inbox":{"unread":0,"waiting":0,"failed":0,"waitingSince":null},"threads":[],"hidden":[],"removed":[],"more":false}'
    api GET '/v2/changes?after=0'
    assert_status 304
    [[ ! -s $body ]] || fail_answer 'expected no body'
    refute_header Content-Type
    writes wamid.1 "$A" 1780000000
    writes wamid.2 "$B" 1780000001
    change=0
    changed "$(thread_of "$A")" "$(thread_of "$B")"
    api GET "/v2/changes?after=$change"
    assert_status 304
    writes wamid.3 "$A" 1780000002
    changed "$(thread_of "$A")"
    assert_that '.data.threads[0].lastMessage.wamid == "wamid.3"'
    api GET "/v2/changes?after=$((change + 5))"
    assert_json .data "{\"change\":$change,\"inbox\":{\"unread\":2,\"waiting\":2,\"failed\":0,
        \"waitingSince\":\"2026-05-28T20:26:40.000Z\"},\"threads\":[],\"hidden\":[],\"removed\":[],\"more\":false}"
}

@test "a repeated update changes nothing" {
    local change
    make_user
    writes wamid.r1 "$A" 1780000000
    read_change
    writes wamid.r1 "$A" 1780000000
    api GET "/v2/changes?after=$change"
    assert_status 304
}

# bats test_tags=long
@test "a send, a status, a block, a read mark, a new name and a merge change the thread" {
    local change thread sent
    make_user
    writes wamid.w1 "$A" 1780000000
    thread=$(thread_of "$A")
    read_change
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    sent=$(value '.data.messages[0].id')
    changed "$thread"
    take "$(payload "$(status_of "$sent" delivered "\"recipient_id\":\"$A\"")")"
    changed "$thread"
    assert_that '.data.threads[0].lastMessage.status == "delivered"'
    api PUT "/v2/contacts/$(contact_of "$A")/block" -d '{}'
    changed "$thread"
    assert_json .data.threads[0].isBlocked true
    switchboard contact unblock "$LINE" "+$A"
    changed "$thread"
    assert_json .data.threads[0].isBlocked false
    api POST "/v2/threads/$thread/read" -d '{}'
    changed "$thread"
    assert_json .data.threads[0].unread 0
    api POST "/v2/threads/$thread/read" -d '{}'
    api GET "/v2/changes?after=$change"
    assert_status 304
    take "$(payload "$(change messages "\"messages\":[$(message wamid.w2 '' "$B1")]")")"
    read_change
    take "$(payload "$(inbound wamid.w3 "$A" "$B1")" | sed 's/"1780000000"/"1780000200"/')"
    changed "$thread"
    assert_that '.data.threads[0] | (.formerIds | length) == 1 and .contact.name == "Ann Example" and .unread == 2'
}

@test "more than 100 threads come in pages, each thread once" {
    local many
    make_user
    db "INSERT INTO contact (id, account_id, phone, created_at, updated_at)
            SELECT 'con_many' || value, '$ACCOUNT', 15551000000 + value, 1, 1 FROM generate_series(1, 250);
        INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at, changed)
            SELECT 'thr_many' || value, a.user_id, l.id, 'con_many' || value, 1, 1, value
            FROM generate_series(1, 250), line l JOIN account a ON a.id = l.account_id
            WHERE l.phone_number_id = '$LINE';
        UPDATE user SET change_sequence = 250 WHERE id = (SELECT user_id FROM account WHERE id = '$ACCOUNT')"
    local after=0 more=true
    many=''
    while [[ $more == true ]]; do
        api GET "/v2/changes?after=$after"
        assert_success
        assert_that '.data.threads | length <= 100'
        many+=$(value '.data.threads[].change')$'\n'
        after=$(value .data.change) more=$(value .data.more)
    done
    assert_equal "$many" "$(seq 250)"$'\n'
    assert_equal "$after" 250
}

@test "the changes of another user are not shown" {
    make_user OTHER_
    make_user
    writes wamid.o1 "$A" 1780000000
    request GET '/v2/changes?after=0' --as "$OTHER_TOKEN"
    assert_status 304
}
