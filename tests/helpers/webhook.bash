# shellcheck shell=bash
# The platform as it calls /platform/webhook: `load helpers/webhook`. Bodies are made here, apart
# from those of the sandbox, and signed by openssl.

P1=16505550001 P2=16505550002 P3=16505550003
B1=US.10000000000000000001 B2=US.10000000000000000002 B3=US.10000000000000000003
PARENT=US.ENT.20000000000000000001 PARENT2=US.ENT.20000000000000000002

# An account with a line of its own for the test, of the user that make_user made: ACCOUNT, WABA,
# LINE. The sandbox does not know it: make_account and make_line do that.
make_place() {
    local number
    number=$(next_number)
    WABA=9000$number LINE=8000$number
    ACCOUNT=$(printf 'platform-token-%s' "$number" | switchboard account add "$EMAIL" \
        --waba-id "$WABA" --name "Account $number")
    switchboard line add "$ACCOUNT" --phone-number-id "$LINE" --number +15550100001 >/dev/null
}

# The signature of the bytes of a file: sign FILE [SECRET]
sign() {
    local hash
    hash=$(openssl dgst -sha256 -mac HMAC -macopt "key:${2-test-app-secret}" -r "$1")
    printf 'sha256=%s' "${hash%% *}"
}

# Posts a body with its right signature: deliver TEXT|@FILE [option of request...]
deliver() {
    local file=${1#@}
    if [[ $1 != @* ]]; then
        file=$BATS_TEST_TMPDIR/webhook
        printf '%s' "$1" >"$file"
    fi
    request POST /platform/webhook -d "@$file" -H "X-Hub-Signature-256: $(sign "$file")" "${@:2}"
}

# The same, and it must be taken.
take() {
    deliver "$@"
    assert_status 200
    assert_body_is '{"success":true,"data":{"received":true}}'
}

# With commas between.
listed() {
    local IFS=,
    printf '%s' "$*"
}

# A payload of changes of the account: payload CHANGE...
payload() {
    printf '{"object":"whatsapp_business_account","entry":[{"id":"%s","changes":[%s]}]}' "$WABA" "$(listed "$@")"
}

# News of the line: change FIELD MEMBERS-OF-VALUE
change() {
    printf '{"value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550100001","phone_number_id":"%s"},%s},"field":"%s"}' \
        "$LINE" "$2" "$1"
}

# News of the account: account_change FIELD VALUE
account_change() {
    printf '{"value":%s,"field":"%s"}' "$2" "$1"
}

# An entry of `contacts`: card PHONE BSUID [MEMBERS]; an empty one is withheld.
card() {
    local more=${3-'"profile":{"name":"Ann Example"}'}
    printf '{%s%s%s}' "$more" "${1:+,\"wa_id\":\"$1\"}" "${2:+,\"user_id\":\"$2\"}"
}

# A message as the platform sends it: message ID PHONE BSUID [MEMBERS]
message() {
    local content=${4-'"type":"text","text":{"body":"Is it open?"}'}
    printf '{%s%s"id":"%s","timestamp":"1780000000",%s}' "${2:+\"from\":\"$2\",}" \
        "${3:+\"from_user_id\":\"$3\",}" "$1" "$content"
}

# A change with one message in it: inbound ID PHONE BSUID [MEMBERS [CARD]]
inbound() {
    change messages "\"contacts\":[${5-$(card "$2" "$3")}],\"messages\":[$(message "${@:1:4}")]"
}

# A system message: system ID FROM MEMBERS
system() {
    change messages "\"messages\":[{${2:+\"from\":\"$2\",}\"id\":\"$1\",\"timestamp\":\"1780000000\",\"type\":\"system\",\"system\":{$3}}]"
}

# A status of a message: status_of ID STATUS MEMBERS [CARD]
status_of() {
    change messages "${4:+\"contacts\":[$4],}\"statuses\":[{\"id\":\"$1\",\"status\":\"$2\",\"timestamp\":\"1780000100\"${3:+,$3}}]"
}

to_both() {
    printf '"recipient_id":"%s","recipient_user_id":"%s"' "$1" "$2"
}

# The contacts of the account, as the CLI shows them.
contacts() {
    switchboard contact list --account "$ACCOUNT" --json
}

# The only contact is PHONE/BSUID; "none" where it has no such name. Sets `contact`, its id.
assert_only_contact() {
    local found
    found=$(contacts | jq -r '"id " + (.[0].id // ""), (.[] | "\(.phone // "none")/\(.userId // "none")")')
    contact=${found%%$'\n'*}
    found=${found#"$contact"}
    contact=${contact#id }
    assert_equal "${found#$'\n'}" "$1"
}

# All contacts in any order: assert_contacts PHONE/BSUID...
assert_contacts() {
    assert_equal "$(contacts | jq -r '.[] | "\(.phone // "none")/\(.userId // "none")"' | sort)" \
        "$(printf '%s\n' "$@" | sort)"
}

# The messages of `contact`, or of the one named, as the CLI shows them.
messages() {
    switchboard message list --contact "${1-$contact}" --json
}

# Of the messages of `contact`, in order, a line each: assert_messages 'wamid in text received' ...
assert_messages() {
    assert_equal "$(messages | jq -r '.[] | "\(.wamid) \(.direction) \(.type) \(.status)"')" \
        "$(printf '%s\n' "$@")"
}

# The account's events in their order: events [jq filter over each body]
events() {
    local rows
    rows=$(db "SELECT CAST(body AS TEXT) FROM event WHERE instr(CAST(body AS TEXT), '\"$ACCOUNT\"') ORDER BY sequence")
    [[ -z $rows ]] || jq -c "${1-.}" <<<"$rows"
}

# Their types, a lead's with its source: assert_events message.received lead.created/new_contact ...
assert_events() {
    assert_equal "$(events '.type + (if .data.source then "/" + .data.source else "" end)' | tr -d '"')" \
        "$(printf '%s\n' "$@")"
}

assert_no_events() {
    assert_equal "$(events)" ''
}

# What the database holds, in numbers; equal before and after when nothing was stored.
stored() {
    db "SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM message_status),
        (SELECT count(*) FROM contact), (SELECT count(*) FROM thread), (SELECT count(*) FROM event),
        (SELECT count(*) FROM lead), (SELECT count(*) FROM platform_update),
        (SELECT count(*) FROM contact_alias), (SELECT count(*) FROM contact_merge)"
}
