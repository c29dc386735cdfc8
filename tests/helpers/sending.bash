# shellcheck shell=bash
# The kind of sweep for a request that sends: `load helpers/sending` after helpers/sweep.
#
# Every point has its own recipient and starts with the initial database. Its result goes to the
# file $notes; at the end these results are compared with the requests that the platform received.
# The subjects are `plain`, `keyed`, the same with an Idempotency-Key, and `graph`, in the platform's
# own form.

# Captures the sends: capture_sends [PADDING]. PADDING makes the requests longer, but not the
# messages.
capture_sends() {
    padding=${1-}
    to=15550000000
    capture_request plain POST /v2/messages/send/text -d "$(our_body plain)" --as "$TOKEN"
    capture_request keyed POST /v2/messages/send/text -d "$(our_body keyed)" --as "$TOKEN" -H \
        'Idempotency-Key: once'
    capture_request graph POST "/v23.0/$LINE/messages" -d "$(our_body graph)" --as "$TOKEN"
}

our_body() { # SUBJECT
    if [[ $1 == graph ]]; then
        printf '{"messaging_product":"whatsapp","recipient_type":"individual","to":"%s",' "$to"
        printf '"type":"text","text":{"body":"Is it open?"}}'
    else
        printf '{"phoneNumberId":"%s","to":"%s","text":"Is it open?","ignored":"%s"}' "$LINE" \
            "$to" "${padding-}"
    fi
}

begin_send() {
    if [[ ${notes_of-} != "$subject $fault" ]]; then
        forget_sent
        notes=$STACK/notes notes_of="$subject $fault"
        : >"$notes"
    fi
    round=$((${round-0} + 1))
    to=$((15550000000 + round))
    our_body "$subject" >"$STACK/$subject.body"
    restore
}

# Prints the value of an expression on the server, or else of one on a file: of_database SERVER FILE
of_database() {
    if [[ -n ${SERVER-} ]]; then
        printf '%s' "$1"
    else
        printf '%s' "$2"
    fi
}

# Prints what the point stored: `nothing` or `message WAMID`; then the state of the idempotency key:
# `none`, `started`, or the status of its answer; then the results of the integrity checks. Any
# other output means a damaged database.
describe_database() {
    db "SELECT CASE (SELECT count(*) FROM contact) || (SELECT count(*) FROM thread) || (SELECT count(*) FROM message)
            WHEN '000' THEN 'nothing' WHEN '111' THEN 'message ' ||
                (SELECT wamid FROM message m JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id
                WHERE c.phone = '$to' AND m.direction = 'out' AND m.type = 'text' AND m.status = 'accepted'
                    AND $(of_database "convert_from(m.body, 'UTF8')::json->>'to'" \
        "json_extract(CAST(m.body AS TEXT), '\$.to')") = '$to')
            ELSE 'half' END;
        SELECT coalesce((SELECT coalesce(CAST(status AS TEXT), 'started') FROM idempotency), 'none');
        $(of_database "SELECT 'ok'; SELECT 0" "SELECT group_concat(integrity_check)
            FROM pragma_integrity_check; SELECT count(*) FROM pragma_foreign_key_check")"
}

# Sets `stored` (a wamid or an empty string) and `key` (none, started or a status).
read_database() { # WHAT
    local found
    mapfile -t found < <(describe_database)
    [[ ${found[*]:2} == 'ok 0' && ${found[0]} =~ ^(nothing|message\ wamid.*)$ ]] ||
        fail "$1: unexpected database content: ${found[*]}"
    stored=${found[0]#nothing} key=${found[1]}
    stored=${stored#message }
}

# Sets `answered_wamid` to the platform's message id in a successful answer, else to an empty
# string.
read_answer() {
    local text
    answered_wamid=''
    answered 200 || return 0
    text=$(<"$answer")
    text=${text#*\"messages\":[\{\"id\":\"}
    answered_wamid=${text%%\"*}
}

# The answer is complete, or there is a reason that it is missing; the message id of the answer is
# stored. With a key, repeats the request: it must be replayed or refused, and may be sent only if it
# has never been sent. After SIGTERM no key is in doubt.
check_send() { # WHAT CALL
    local claims_unsent=''
    assert_outcome "$@"
    read_answer
    read_database "$1"
    if [[ -n $answered_wamid && $answered_wamid != "$stored" ]]; then
        [[ -z $stored ]] || fail "$1: answered $answered_wamid, stored $stored"
        grep -qF "$answered_wamid was accepted but not recorded" "$LOG" ||
            fail "$1: answered $answered_wamid, which is neither stored nor logged"
    fi
    [[ ! -s $answer || -n $answered_wamid ]] || grep -q 'not known' "$answer" || claims_unsent=yes
    printf '%s|%s|%s|%s|%s|%s\n' "$to" "$stored" "$answered_wamid" "$key" "$claims_unsent" "$1" \
        >>"$notes"
    [[ $fault != TERM || $key != started ]] || fail "$1: the key is in doubt"
    [[ $subject != keyed ]] || check_repeated "$1" "$key" "$stored" "$answered_wamid"
}

# Succeeds if the answer is 409 with that outcome: refused_as OUTCOME
refused_as() {
    answered 409 && grep -q "\"outcome\":\"$1\"" "$answer"
}

is_replay() { # STATUS
    answered "$1" && grep -q '^Idempotent-Replayed: true' "$answer"
}

# If the platform has the message, a status of it settles the key: the repeated request gets the
# message id, and the record is completed.
settle_by_status() { # WHAT
    local tracking
    tracking=$(sandbox GET 'requests?path=/messages' | gojq -r --arg to "$to" \
        '.[] | select(.complete) | .body | fromjson
        | select(.to == $to).biz_opaque_callback_data')
    [[ -n $tracking ]] || return 0
    take "$(payload "$(status_of "wamid.settled$to" sent \
        "\"recipient_id\":\"$to\",\"biz_opaque_callback_data\":\"$tracking\"")")"
    send_captured keyed
    is_replay 200 || fail "$1: a status did not settle the key: $(cat "$answer")"
    read_answer
    assert_equal "$answered_wamid" "wamid.settled$to"
    assert_equal "$(db "SELECT count(*), min(source), min(type) FROM message
        WHERE wamid = '$answered_wamid'")" '1|api|text' || fail "$1"
    count settled
}

check_repeated() { # WHAT KEY STORED ANSWERED-WAMID
    send_captured keyed
    case $2 in
    none) answered 200 || fail "$1: the repeated request was not sent: $(cat "$answer")" ;;
    started)
        refused_as running || fail "$1: expected 409: $(cat "$answer")"
        db 'UPDATE idempotency SET created_at = created_at - 61000'
        send_captured keyed
        refused_as unknown || fail "$1: expected 409: $(cat "$answer")"
        settle_by_status "$1"
        return
        ;;
    *)
        is_replay "$2" || fail "$1: no replay: $(cat "$answer")"
        read_answer
        [[ -z $4 || $answered_wamid == "$4" ]] ||
            fail "$1: the first answer has $4, the repeated one $answered_wamid"
        ;;
    esac
    read_database "$1"
    [[ -z $3 || $stored == "$3" ]] || fail "$1: the repeated request changed the stored message"
}

# Prints how many requests the platform received for each recipient, lines `TO COUNT`; fails unless
# each request has the expected content.
sent_to() {
    sandbox GET 'requests?path=/messages' >"$STACK/platform.requests"
    gojq -e --arg line "$LINE" --arg token "Bearer $PLATFORM_TOKEN" \
        'all(.[]; (.body | fromjson) as $body
        | .complete and .method == "POST" and (.path | endswith("/" + $line + "/messages"))
        and .headers.authorization == $token and .headers["content-type"] == "application/json"
        and (.headers["user-agent"] | startswith("switchboard/"))
        and ($body | del(.biz_opaque_callback_data)) == {messaging_product: "whatsapp",
            recipient_type: "individual", to: $body.to, type: "text", text: {body: "Is it open?"}})' \
        "$STACK/platform.requests" >/dev/null ||
        fail 'the platform received a request that is not the message'
    gojq -r '.[].body | fromjson.to' "$STACK/platform.requests" | sort | uniq -c | awk '{ print $2, $1 }'
}

# Compares the requests that the platform received with the results of the points: no message was
# sent twice, and every message that was stored or answered was sent. Counts `recorded`, `unsent`,
# and `unrecorded`: sent, but not stored.
end_send() {
    local to stored answered_wamid key claims_unsent what number
    declare -A sent=()
    notes_of=''
    while read -r to number; do
        [[ $number == 1 ]] || fail "sent $number times: $(grep "^$to" "$notes")"
        sent[$to]=1
    done < <(sent_to)
    while IFS='|' read -r to stored answered_wamid key claims_unsent what; do
        # only the repeated request was sent
        if [[ -z ${sent[$to]-} || ($subject == keyed && $key == none) ]]; then
            [[ -z $stored$answered_wamid ]] ||
                fail "$what: never sent, but stored or answered: $stored$answered_wamid"
            count unsent
            continue
        fi
        [[ -z $claims_unsent ]] ||
            fail "$what: sent, but the answer does not say that it may have been sent"
        if [[ -n $stored ]]; then
            count recorded
        else
            count unrecorded
        fi
    done <"$notes"
}
