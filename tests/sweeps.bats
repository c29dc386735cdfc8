#!/usr/bin/env bats
# A send or an upload whose program is killed, terminated or failed at any point, or lacks memory:
# the answer, the database, the platform and the disk agree, and nothing goes out twice (spec 2.4,
# 2.7, 4.3, 4.6, 7). A kind of request is what must hold of it (check_KIND); a request is a row of a
# table. The other requests are in sweeps_stored.bats, so that both halves run at once.
# transports: direct
# needs: starved
# starts first
# shellcheck disable=SC2086,SC2153  # names of people are single words; helpers/media sets SPOOL and LINE
# bats file_tags=long
load helpers/all
load helpers/sweep_stack
load helpers/sending

capture_requests() {
    capture_sends
    capture_uploads
}

# --- sends: each message goes out once, and what the platform accepted is stored or answered ---

@test "a send that is killed: a complete record or none, and with a key nothing goes out twice" {
    local dense=socket
    [[ -z ${SERVER-} ]] || dense='' # the first socket is that of the database
    sweep send keyed KILL 80 "$( ! is_thorough && echo getpeername || echo brk)" $dense
    expect recorded unsent settled
    [[ -z ${SERVER-} ]] || return 0
    sweep_rows send <<'END'
plain KILL 80 getpeername
graph KILL 80 getpeername
END
}

@test "a send that gets SIGTERM or SIGHUP: what the platform accepted is stored and answered, and no key is in doubt" {
    sweep send keyed HUP 80 "$(first_change)" # libfcgi itself handles SIGTERM
    ((outcome[recorded] + ${outcome[unsent]-0} == points))
    [[ -z ${SERVER-} ]] || return 0
    sweep send plain TERM 80 socket
    ((outcome[recorded] == points))
    sweep send graph TERM 80 socket
    ((outcome[recorded] == points))
}

@test "SIGTERM while a slow platform answers: its answer is stored and passed on" {
    local arrived=$STACK/arrived subject=plain fault=TERM
    of_file
    begin_send
    fault '{"kind":"delay","ms":2000}'
    # shellcheck disable=SC2016  # expanded by the inner shell
    send_captured plain bash -c '"$@" <&0 & while [[ ! -e $0 ]]; do sleep 0.01; done; kill -TERM $!; wait $!' \
        "$arrived" 3>&- &
    eventually something_sent
    touch "$arrived"
    wait $!
    answer=$STACK/answer stderr=$STACK/stderr code=0
    declare -A outcome=()
    check_send 'terminated'
    [[ -n $answered_wamid ]] || fail "no answer: $(cat "$answer")"
}

@test "a send with an error at any system call: an answer that agrees with the state" {
    of_file
    sweep send keyed errors 200
    expect recorded unsent
    sweep send graph errors 80
}

@test "a keyed send that is killed and repeated 64 times at once went out once, and all are answered" {
    local subject=keyed fault=KILL
    of_file
    begin_send
    injection recvfrom 1 signal=KILL
    send_captured keyed "${tracing[@]}" "${inject[@]}"
    assert_equal "$code" 137
    assert_equal "$(sent_count)" 1
    request_many 64 POST /v2/messages/send/text -d "$(our_body keyed)" --as "$TOKEN" -H 'Idempotency-Key: once'
    assert_equal "$(statuses)" '64 409'
    db 'UPDATE idempotency SET created_at = created_at - 61000'
    request_many 64 POST /v2/messages/send/text -d "$(our_body keyed)" --as "$TOKEN" -H 'Idempotency-Key: once'
    assert_equal "$(cat "$many"/*/body | gojq -r .details.outcome | sort | uniq -c | tr -s ' ')" ' 64 unknown'
    assert_equal "$(sent_count)" 1
}

# Whether a send goes out when every allocation from the N-th on fails.
goes_out_before() { # N
    local before
    before=$(sent_count)
    begin_send
    starving "$1" 0
    OUT=$starved send_captured "$subject" "${starve[@]}"
    (($(sent_count) > before))
}

# Sets `departure` to the number of the first allocation after a send went out.
find_departure() {
    local least=0 fault=departure
    begin_send
    starving 0
    OUT=$starved send_captured "$subject" "${starve[@]}"
    read_tally
    departure=$made
    while ((departure - least > 1)); do
        number=$(((least + departure) / 2))
        if goes_out_before "$number"; then departure=$number; else least=$number; fi
    done
    ((made - departure > 300)) || fail "only from $departure of $made"
}

@test "a send for which an allocation fails after it went out is answered and stored, or its outcome is unknown" {
    local subject departure number made failed
    of_file
    for subject in keyed plain graph; do
        find_departure
        sweep send "$subject" memory 180 "$departure"
        assert_equal "${outcome[unsent]-0}" 0
        ((${outcome[unrecorded]-0} * 10 < points + 20)) || fail "${outcome[unrecorded]} of $points are not recorded"
    done
}

@test "a send for which memory is short before it goes out is refused, or sent and answered completely" {
    of_file
    sweep_rows send <<'END'
keyed memory 60
keyed famine 60
graph famine 60
END
}

@test "a send of any length for which memory runs out after it went out is answered" {
    local length number made failed kind=send subject=plain fault=memory points=0
    of_file
    declare -A outcome=()
    for length in {0..16000..2000}; do
        capture_sends "$(printf "%${length}s")"
        begin_send
        starving 0 1 8000
        OUT=$starved send_captured plain "${starve[@]}"
        read_tally
        for ((number = 1; number <= made; number++)); do
            begin_send
            starving "$number" 1 8000
            OUT=$starved send_captured plain "${starve[@]}"
            points=$((points + 1))
            check_send "large allocation $number, $length bytes of padding" memory
        done
    done
    end_send
    capture_sends
    say_sweep 'plain sends of many lengths starved at each large allocation' "$points" "$points" 0
    # libcurl 8 allocates the buffer for the answer when the request is out: one point of each length
    [[ $(curl --version) == *libcurl/7.* ]] || outcome[unrecorded]=$((outcome[unrecorded] - 9))
    ((${outcome[unrecorded]-0} <= 0)) || fail "${outcome[unrecorded]} are not recorded"
}

# --- uploads: one that is answered 200 is on the platform, and no file is left ---

BOUNDARY=torture

# Captures a form, raw bodies without a type, which must be detected, with and without a key, and a
# form in the platform's form.
capture_uploads() {
    local form=$STACK/form
    export PHOTO SHA CONTENT
    PHOTO=$(photo 60000)
    SHA=$(sha256sum <"$PHOTO" | cut -d ' ' -f 1)
    upload_form phoneNumberId "$LINE" '' >"$form"
    capture_request form POST /v2/media/upload --as "$TOKEN" -d "@$form" \
        -H "Content-Type: multipart/form-data; boundary=$BOUNDARY"
    upload_form messaging_product whatsapp 'Content-Type: image/jpeg\r\n' >"$form"
    capture_request graph_form POST "/v23.0/$LINE/media" --as "$TOKEN" -d "@$form" \
        -H "Content-Type: multipart/form-data; boundary=$BOUNDARY"
    capture_request raw POST /v2/media/upload --as "$TOKEN" -d "@$PHOTO" -H 'Content-Type:' -H "X-Phone-Number-Id: $LINE"
    capture_request once POST /v2/media/upload --as "$TOKEN" -d "@$PHOTO" -H 'Content-Type: image/jpeg' \
        -H "X-Phone-Number-Id: $LINE" -H 'Idempotency-Key: once'
    CONTENT=$(database_dump | sha256sum)
}

# Prints a form with a field and the photo: upload_form NAME VALUE HEADERS-OF-THE-FILE
upload_form() {
    printf -- '--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' "$BOUNDARY" "$1" "$2"
    printf -- "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"photo\"\r\n$3\r\n" "$BOUNDARY"
    cat "$PHOTO"
    printf '\r\n--%s--\r\n' "$BOUNDARY"
}

begin_upload() {
    [[ $subject != once ]] || { restore && forget_sent; }
}

# Expects that the platform has the file of an answer 200.
check_uploaded() { # WHAT
    local id
    assert_equal "$(ls -A "$SPOOL")" '' || fail "$1: a file is left in the spool"
    answered 200 || return 0
    count uploaded
    id=$(sed -n 's/.*"\(mediaId\|id\)":"\([^"]*\)".*/\2/p' "$answer")
    assert_equal "$(sandbox GET "media/$id" | gojq -r .sha256)" "$SHA" || fail "$1: answered $id"
}

check_upload() { # WHAT CALL
    assert_outcome "$@"
    check_uploaded "$1"
    [[ $subject != once ]] || check_once "$1"
}

# Repeats an upload that has a key.
check_once() { # WHAT
    local arrived
    send_captured once
    arrived=$(sandbox GET requests | gojq '[.[] | select(.complete and (.method == "POST"))] | length')
    ((arrived <= 1)) || fail "$1: the platform received $arrived requests"
    if refused_as running; then
        db 'UPDATE idempotency SET created_at = created_at - 3600000'
        send_captured once
        refused_as unknown || fail "$1: $(cat "$answer")"
        [[ $fault != TERM ]] || fail "$1: the key is in doubt"
        count unknown
    else
        answered 200 || fail "$1: the repeated request: $(cat "$answer")"
        ((arrived == 1)) || fail "$1: 200, but the platform received nothing"
        check_uploaded "$1"
        count repeated
    fi
}

end_upload() {
    assert_sound
    [[ $subject == once ]] || assert_equal "$(database_dump | sha256sum)" "$CONTENT"
    ((points < 50 || ${outcome[uploaded]-0} < points)) || [[ $subject == once ]]
}

@test "an upload answered 200 is on the platform whatever happens, and no file is left" {
    sweep_rows upload <<'END'
form KILL 80
form errors 80
form memory 80
raw KILL 80
raw errors 80
raw memory 80
graph_form KILL 40
graph_form errors 40
graph_form memory 40
END
}

@test "an upload with a key that is killed is uploaded at most once, and SIGTERM leaves no key in doubt" {
    sweep upload once KILL 80 "$(first_change)"
    ((${outcome[unknown]-0} > 0 && ${outcome[repeated]-0} > 0))
    sweep upload once TERM 80 "$(first_change)"
}
