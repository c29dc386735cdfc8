# shellcheck shell=bash
# Sends under torture: `load helpers/sending` after helpers/sweep.
#
# Every round has a recipient of its own, a database as at the beginning, and what it left is noted;
# in the end the notes are compared with what the platform was sent:
#
#     begin_sweep; for ...; do next_round SEND; send_noted SEND ...; check_round WHAT; done
#     end_sweep TEXT FAULTS KILLS
#
# SEND is `plain`, or `keyed`: the same with an Idempotency-Key.

# Keeps both sends. PADDING makes the requests longer, and not the messages: note_sends [PADDING]
note_sends() {
    padding=${1-}
    to=15550000000
    note_request plain POST /v2/messages/send/text -d "$(our_body)" --as "$TOKEN"
    note_request keyed POST /v2/messages/send/text -d "$(our_body)" --as "$TOKEN" -H 'Idempotency-Key: once'
}

our_body() {
    printf '{"phoneNumberId":"%s","to":"%s","text":"Is it open?","ignored":"%s"}' "$LINE" "$to" "${padding-}"
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

# What the database holds of the round, as `nothing`, or `message WAMID`, and then the state of the
# key, if any: `started`, or the status that its answer has. Anything else is damage.
look_at_database() {
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

# Sets `stored` (a wamid, or nothing), `key` (none, started, a status).
read_database() { # WHAT
    local found
    mapfile -t found < <(look_at_database)
    [[ ${found[*]:2} == 'ok 0' && ${found[0]} =~ ^(nothing|message\ wamid.*)$ ]] ||
        fail "$1: the database holds: ${found[*]}"
    stored=${found[0]#nothing} key=${found[1]}
    stored=${stored#message }
}

# The id that the platform gave, in an answer that says so: `told`.
read_answer() {
    local text
    told=''
    answered 200 || return 0
    text=$(<"$answer")
    text=${text#*\"messages\":[\{\"id\":\"}
    told=${text%%\"*}
}

# After a round: the answer is one, or its lack is explained; what is told is stored; and with a key
# the same request again is answered the same or refused, and sent only if it never was.
# check_round WHAT [NAME-OF-THE-CALL]
check_round() {
    local said=''
    ((code != 137)) || killed=$((killed + 1))
    assert_outcome "$@"
    read_answer
    read_database "$1"
    if [[ -n $told && $told != "$stored" ]]; then
        [[ -z $stored ]] || fail "$1: told $told, stored $stored"
        grep -qF "$told was accepted but not recorded" "$LOG" || fail "$1: told $told, and the log says nothing"
    fi
    [[ ! -s $answer || -n $told ]] || grep -q 'not known' "$answer" || said=otherwise
    printf '%s|%s|%s|%s|%s|%s\n' "$to" "$stored" "$told" "$key" "$said" "$1" >>"$notes"
    [[ $send != keyed ]] || check_twin "$1" "$key" "$stored" "$told"
}

# Whether the answer is 409 with that outcome.
refused_as() {
    answered 409 && grep -q "\"outcome\":\"$1\"" "$answer"
}

is_replay() { # STATUS
    answered "$1" && grep -q '^Idempotent-Replayed: true' "$answer"
}

check_twin() { # WHAT KEY STORED TOLD
    send_noted keyed
    case $2 in
    none) answered 200 || fail "$1: not sent when it could be: $(cat "$answer")" ;;
    started)
        refused_as running || fail "$1: 409 expected: $(cat "$answer")"
        db 'UPDATE idempotency SET created_at = created_at - 61000'
        send_noted keyed
        refused_as unknown || fail "$1: 409 expected: $(cat "$answer")"
        ;;
    *)
        is_replay "$2" || fail "$1: no replay: $(cat "$answer")"
        read_answer
        [[ -z $4 || $told == "$4" ]] || fail "$1: the twin was told $told, the first $4"
        ;;
    esac
    read_database "$1"
    [[ -z $3 || $stored == "$3" ]] || fail "$1: the twin changed the record"
}

# What the platform was sent by all rounds: lines `TO COUNT`, and each request as it should be.
sent_to() {
    sandbox GET 'requests?path=/messages' >"$STACK/requests"
    jq -e --arg line "$LINE" --arg token "Bearer $PLATFORM_TOKEN" 'all(.[]; (.body | fromjson) as $body
        | .complete and .method == "POST" and (.path | endswith("/" + $line + "/messages"))
        and .headers.authorization == $token and .headers["content-type"] == "application/json"
        and (.headers["user-agent"] | startswith("switchboard/"))
        and ($body | del(.biz_opaque_callback_data)) == {messaging_product: "whatsapp",
            recipient_type: "individual", to: $body.to, type: "text", text: {body: "Is it open?"}})' \
        "$STACK/requests" >/dev/null || fail 'the platform was sent something else than the message'
    jq -r '.[].body | fromjson.to' "$STACK/requests" | sort | uniq -c | awk '{ print $2, $1 }'
}

# The platform's record agrees with ours: nothing went out twice, and all that is stored or was told
# did go out. Counts `recorded`, `unsent`, and `unrecorded`, which the platform alone knows.
end_sweep() { # TEXT FAULTS KILLS
    local to stored told key said what number
    declare -A sent=()
    while read -r to number; do
        [[ $number == 1 ]] || fail "sent $number times: $(grep "^$to" "$notes")"
        sent[$to]=1
    done < <(sent_to)
    while IFS='|' read -r to stored told key said what; do
        if [[ -z ${sent[$to]-} || ($send == keyed && $key == none) ]]; then # what was sent is the twin
            [[ -z $stored$told ]] || fail "$what: never sent, yet there is $stored$told"
            unsent=$((unsent + 1))
            continue
        fi
        [[ -z $said ]] || fail "$what: sent, and not said that it may have been"
        if [[ -n $stored ]]; then
            recorded=$((recorded + 1))
        else
            unrecorded=$((unrecorded + 1))
        fi
    done <"$notes"
    say_sweep "$1: $recorded sent and recorded, $unrecorded sent alone, $unsent not sent; none twice, none half" \
        "$points" "$2" "$3"
}
