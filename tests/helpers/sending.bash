# shellcheck shell=bash
# Sweeps over a send: `load helpers/sending` after helpers/sweep.
#
# Every round has its own recipient and starts with the initial database. Its result goes to the
# file $notes; at the end these results are compared with the requests that the platform received:
#
#     begin_sweep; for ...; do next_round SEND; send_captured SEND ...; check_round WHAT; done
#     end_sweep TEXT FAULTS KILLS
#
# SEND is `plain`, or `keyed`: the same with an Idempotency-Key.

# Captures both sends: capture_sends [PADDING]. PADDING makes the requests longer, but not the
# messages.
capture_sends() {
    padding=${1-}
    to=15550000000
    capture_request plain POST /v2/messages/send/text -d "$(our_body)" --as "$TOKEN"
    capture_request keyed POST /v2/messages/send/text -d "$(our_body)" --as "$TOKEN" -H \
        'Idempotency-Key: once'
}

our_body() {
    printf '{"phoneNumberId":"%s","to":"%s","text":"Is it open?","ignored":"%s"}' "$LINE" "$to" \
        "${padding-}"
}

begin_sweep() {
    forget_sent
    notes=$STACK/notes
    : >"$notes"
    points=0 faults=0 killed=0 recorded=0 unsent=0 unrecorded=0
}

next_round() {
    round=$((${round-0} + 1))
    to=$((15550000000 + round))
    our_body >"$STACK/$1.body"
    send=$1
    restore
}

# Prints what the round stored: `nothing` or `message WAMID`; then the state of the idempotency key:
# `none`, `started`, or the status of its answer; then the results of the integrity checks. Any
# other output means a damaged database.
describe_database() {
    db "SELECT CASE (SELECT count(*) FROM contact) || (SELECT count(*) FROM thread) || (SELECT count(*) FROM message)
            WHEN '000' THEN 'nothing' WHEN '111' THEN 'message ' ||
                (SELECT wamid FROM message m JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id
                WHERE c.phone = '$to' AND m.direction = 'out' AND m.type = 'text' AND m.status = 'accepted'
                    AND json_extract(CAST(m.body AS TEXT), '\$.to') = '$to')
            ELSE 'half' END;
        SELECT coalesce((SELECT coalesce(status, 'started') FROM idempotency), 'none');
        SELECT group_concat(integrity_check) FROM pragma_integrity_check;
        SELECT count(*) FROM pragma_foreign_key_check"
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

# Checks a round: the answer is complete, or there is a reason that it is missing; the message id of
# the answer is stored. With a key, repeats the request: it must be replayed or refused, and may be
# sent only if it has never been sent. check_round WHAT [NAME-OF-THE-CALL]
check_round() {
    local claims_unsent=''
    ((code != 137)) || killed=$((killed + 1))
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
    [[ $send != keyed ]] || check_repeated "$1" "$key" "$stored" "$answered_wamid"
}

# Succeeds if the answer is 409 with that outcome: refused_as OUTCOME
refused_as() {
    answered 409 && grep -q "\"outcome\":\"$1\"" "$answer"
}

is_replay() { # STATUS
    answered "$1" && grep -q '^Idempotent-Replayed: true' "$answer"
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

# Compares the requests that the platform received with the results of the rounds: no message was
# sent twice, and every message that was stored or answered was sent. Counts `recorded`, `unsent`,
# and `unrecorded`: sent, but not stored.
end_sweep() { # TEXT FAULTS KILLS
    local to stored answered_wamid key claims_unsent what number
    declare -A sent=()
    while read -r to number; do
        [[ $number == 1 ]] || fail "sent $number times: $(grep "^$to" "$notes")"
        sent[$to]=1
    done < <(sent_to)
    while IFS='|' read -r to stored answered_wamid key claims_unsent what; do
        # only the repeated request was sent
        if [[ -z ${sent[$to]-} || ($send == keyed && $key == none) ]]; then
            [[ -z $stored$answered_wamid ]] ||
                fail "$what: never sent, but stored or answered: $stored$answered_wamid"
            unsent=$((unsent + 1))
            continue
        fi
        [[ -z $claims_unsent ]] ||
            fail "$what: sent, but the answer does not say that it may have been sent"
        if [[ -n $stored ]]; then
            recorded=$((recorded + 1))
        else
            unrecorded=$((unrecorded + 1))
        fi
    done <"$notes"
    say_sweep "$1: $recorded sent and recorded, $unrecorded sent alone, $unsent not sent; none twice, none half" \
        "$points" "$2" "$3"
}
