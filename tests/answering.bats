#!/usr/bin/env bats
# Members who answer the same customers: who has sent a message, and which of two answers at once is
# sent (doc/api/README.md, `X-Switchboard-Seen`)
# shellcheck disable=SC2016,SC2034,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/inbox
load helpers/members
load helpers/session
load helpers/webhook

A=15550100001

setup() {
    forget_sent
    make_user
}

# Sends a text to A in the session of a member, who has seen the change, or without the header:
# answers NAME TEXT [THREAD CHANGE [OPTION...]]
answers() {
    local session=${1^^}_SESSION seen=()
    [[ -z ${3-} ]] || seen=(-H "X-Switchboard-Seen: $3 $4")
    request POST /v2/messages/send/text --session "${!session}" "${seen[@]}" "${@:5}" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"$2\"}"
}

# The change of the thread that a client sees now.
change_of() { # THREAD
    api GET "/v2/threads/$1"
    value .data.change
}

@test "a message has the member or the token that sent it, also after the member has left" {
    local thread key
    has_member Ana agent
    answers Ana One
    assert_success
    thread=$(thread_of "$A")
    api GET "/v2/threads/$thread/messages"
    assert_conventions
    assert_json '[.data.items[].by]' "[{\"id\":\"$ANA_ID\",\"name\":\"Ana\"}]"
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Two\"}"
    key=$(switchboard scoped-token add "$EMAIL" --name Robot --scope send --json | gojq -r '.token')
    keep_secret 'scoped token' "$key"
    request POST /v2/messages/send/text --as "$key" -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Three\"}"
    assert_success
    writes wamid.in "$A" 1780000000
    switchboard member remove "$EMAIL" "$ANA_EMAIL" >/dev/null
    api GET "/v2/threads/$thread/messages"
    assert_json '[.data.items[] | "\(.body.text.body) \(.by.name)"]' '["Three Robot","Two null","One Ana","Hello null"]'
    api GET "/v2/messages/$(db "SELECT id FROM message WHERE by_id = '$ANA_ID'")"
    assert_json .data.by.name '"Ana"'
}

@test "an answer of a member who has not seen the answer of another one is 409, says whose, and sends nothing" {
    local thread seen
    has_member Ana agent
    has_member Ben agent
    writes wamid.in "$A" 1780000000
    thread=$(thread_of "$A") seen=$(change_of "$thread")
    answers Ana First "$thread" "$seen"
    assert_success
    forget_sent
    answers Ben Second "$thread" "$seen"
    assert_error 409 VALIDATION_ERROR 'Ana has answered'
    assert_conventions
    assert_json .details "{\"reason\":\"answered\",\"by\":{\"id\":\"$ANA_ID\",\"name\":\"Ana\"}}"
    assert_nothing_sent
    assert_equal "$(db "SELECT count(*) FROM message WHERE thread_id = '$thread' AND direction = 'out'")" 1
    # the own answers are no hindrance, and one that was seen is none
    answers Ana Third "$thread" "$seen"
    assert_success
    answers Ben Fourth "$thread" "$(change_of "$thread")"
    assert_success
    answers Ana Fifth "$thread" "$(change_of "$thread")"
    assert_success
    # a status of an answer that was seen is no new answer
    seen=$(change_of "$thread")
    take "$(payload "$(change messages "\"statuses\":[{\"id\":\"$(db "SELECT wamid FROM message WHERE by_id = '$ANA_ID'
        ORDER BY id DESC LIMIT 1")\",\"status\":\"read\",\"timestamp\":\"1780000009\",\"recipient_id\":\"$A\"}]")")"
    answers Ben Sixth "$thread" "$seen"
    assert_success
}

@test "without the header a member sends in any case, and tokens are not bound by it" {
    local thread seen
    has_member Ana agent
    has_member Ben agent
    writes wamid.in "$A" 1780000000
    thread=$(thread_of "$A") seen=$(change_of "$thread")
    answers Ana First "$thread" "$seen"
    answers Ben Second
    assert_success
    api POST /v2/messages/send/text -H "X-Switchboard-Seen: $thread $seen" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Third\"}"
    assert_success
    # a reaction is no answer, and a thread that is gone has none
    request POST /v2/messages/send/reaction --session "$ANA_SESSION" -H "X-Switchboard-Seen: $thread $seen" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"messageId\":\"wamid.in\",\"emoji\":\"x\"}"
    assert_success
    answers Ana Fourth thr_none 1
    assert_success
}

@test "a header that names another thread than the recipient's is ignored, and holds no thread" {
    local thread seen other
    has_member Ana agent
    has_member Ben agent
    writes wamid.in "$A" 1780000000
    thread=$(thread_of "$A") seen=$(change_of "$thread")
    request POST /v2/messages/send/text --session "$ANA_SESSION" \
        -H "X-Switchboard-Seen: $thread $seen" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+15550100077\",\"text\":\"x\"}"
    assert_success
    answers Ben Now "$thread" "$seen" # no claim of Ana is in the way
    assert_success
    other=$(thread_of 15550100077)
    request POST /v2/messages/send/text --session "$BEN_SESSION" \
        -H "X-Switchboard-Seen: $thread $seen" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+15550100077\",\"text\":\"y\"}"
    assert_success
    answers Ana Late "$thread" "$seen"
    assert_error 409 VALIDATION_ERROR 'Ben has answered'
    request POST /v2/messages/send/text --session "$ANA_SESSION" \
        -H "X-Switchboard-Seen: $other $seen" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+15550100077\",\"text\":\"z\"}"
    assert_error 409 VALIDATION_ERROR 'Ben has answered'
}

@test "a header that is no thread and no change is 400, and sends nothing" {
    local seen
    has_member Ana agent
    for seen in x 'thr_x' 'thr_x x' 'thr_x -1' 'thr_x 1 2' 'thr_x 9999999999999999999' ' 1'; do
        request POST /v2/messages/send/text --session "$ANA_SESSION" -H "X-Switchboard-Seen: $seen" \
            -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"x\"}"
        assert_error 400 VALIDATION_ERROR X-Switchboard-Seen
    done
    assert_nothing_sent
}

@test "a repetition with the key of an answer gets that answer; a refused one leaves its key unused" {
    local thread seen wamid
    has_member Ana agent
    has_member Ben agent
    writes wamid.in "$A" 1780000000
    thread=$(thread_of "$A") seen=$(change_of "$thread")
    answers Ana First "$thread" "$seen" -H 'Idempotency-Key: answer-1'
    assert_success
    wamid=$(value '.data.messages[0].id')
    answers Ben Second "$thread" "$seen" -H 'Idempotency-Key: answer-2'
    assert_error 409 VALIDATION_ERROR
    answers Ana First "$thread" "$seen" -H 'Idempotency-Key: answer-1'
    assert_json '.data.messages[0].id' "\"$wamid\""
    answers Ben Second "$thread" "$(change_of "$thread")" -H 'Idempotency-Key: answer-2'
    assert_success
    assert_equal "$(db "SELECT count(*) FROM message WHERE thread_id = '$thread' AND direction = 'out'")" 2
}

@test "while an answer is on its way another member is 409, and one that the platform refuses frees the thread" {
    local thread seen
    has_member Ana agent
    has_member Ben agent
    writes wamid.in "$A" 1780000000
    thread=$(thread_of "$A") seen=$(change_of "$thread")
    begin_held answers Ana First "$thread" "$seen"
    answers Ben Second "$thread" "$seen"
    assert_error 409 VALIDATION_ERROR 'Ana is answering'
    assert_json .details "{\"reason\":\"answering\",\"by\":{\"id\":\"$ANA_ID\",\"name\":\"Ana\"}}"
    end_held 200
    fault '{"status":400,"code":100}'
    writes wamid.in2 "$A" 1780000001
    seen=$(change_of "$thread")
    answers Ben Third "$thread" "$seen"
    assert_status 400
    answers Ana Fourth "$thread" "$seen"
    assert_success
}

@test "an answer that is on its way is still known after its thread was merged into another one" {
    local other seen
    has_member Ana agent
    has_member Ben agent
    take "$(payload "$(change messages "\"messages\":[$(message wamid.in1 '' "$B1")]")")"
    other=$(db "SELECT thread_id FROM message WHERE wamid = 'wamid.in1'")
    request POST /v2/messages/send/text --session "$BEN_SESSION" -H "X-Switchboard-Seen: $other $(change_of "$other")" \
        -d "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"$B1\",\"text\":\"First\"}"
    assert_success
    writes wamid.in2 "$A" 1780000050
    begin_held answers Ana Second "$(thread_of "$A")" "$(change_of "$(thread_of "$A")")"
    take "$(payload "$(inbound wamid.in3 "$A" "$B1" '"type":"reaction","reaction":{"message_id":"wamid.in2","emoji":"x"}')")"
    seen=$(change_of "$other")
    answers Ben Third "$other" "$seen"
    assert_error 409 VALIDATION_ERROR 'Ana is answering'
    end_held 200
}

# Two members answer at the same time, each in a process of its own.
both_answer() { # THREAD SEEN
    local name
    for name in Ana Ben; do
        (
            answer_dir=$BATS_TEST_TMPDIR/$name
            answers "$name" "from $name" "$@" -H "Idempotency-Key: $1-$name"
            printf '%s\n' "$status" >"$BATS_TEST_TMPDIR/$name/status"
            gojq -r '.details.by.name // "-"' "$answer_dir/body" >"$BATS_TEST_TMPDIR/$name/by"
        ) 3>&- &
    done
    wait
}

# bats test_tags=long
@test "of two members who answer at the same time exactly one answer is sent, and the other gets 409" {
    local rounds=20 round thread winner loser
    [[ -z ${TEST_FULL-} ]] || rounds=200
    has_member Ana agent
    has_member Ben agent
    mkdir "$BATS_TEST_TMPDIR/Ana" "$BATS_TEST_TMPDIR/Ben"
    for ((round = 1; round <= rounds; round++)); do
        A=$((15551300000 + round))
        writes "wamid.both$round" "$A" $((1780000000 + round))
        thread=$(thread_of "$A")
        both_answer "$thread" "$(change_of "$thread")"
        assert_equal "$(sort "$BATS_TEST_TMPDIR"/{Ana,Ben}/status | tr '\n' ' ')" '200 409 '
        winner=Ana loser=Ben
        [[ $(cat "$BATS_TEST_TMPDIR/Ana/status") == 200 ]] || winner=Ben loser=Ana
        assert_equal "$(cat "$BATS_TEST_TMPDIR/$loser/by")" "$winner"
        assert_equal "$(db "SELECT count(*), max(by_name) FROM message WHERE thread_id = '$thread' AND direction = 'out'")" \
            "1|$winner"
    done
    assert_equal "$(sandbox GET 'requests?path=/messages&method=POST' | gojq length)" "$rounds"
    printf '%s rounds\n' "$rounds"
}
