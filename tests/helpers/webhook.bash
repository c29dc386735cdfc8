# shellcheck shell=bash
# Webhook payloads of the platform, and their delivery to /platform/webhook: `load helpers/webhook`.
# The payloads are made here, independently of the sandbox, and signed by openssl.

P1=16505550001 P2=16505550002 P3=16505550003
B1=US.10000000000000000001 B2=US.10000000000000000002 B3=US.10000000000000000003
PARENT=US.ENT.20000000000000000001 PARENT2=US.ENT.20000000000000000002

# Makes an account with a line for the user of make_user, and sets ACCOUNT, WABA and LINE. Does not
# add them to the sandbox, as make_account and make_line do.
make_account_line() {
    local number
    number=$(next_number)
    WABA=9000$number LINE=8000$number
    ACCOUNT=$(printf 'platform-token-%s' "$number" | switchboard account add "$EMAIL" \
        --waba-id "$WABA" --name "Account $number")
    switchboard line add "$ACCOUNT" --phone-number-id "$LINE" --number +15550100001 >/dev/null
}

# Gives the user of make_user a webhook, at a port that refuses connections: its events stay pending.
make_webhook() {
    api POST /v2/webhooks/config \
        -d '{"webhookUrl":"http://127.0.0.1:9/hook","webhookCode":"test-code"}'
    assert_success
}

# Prints the signature of a file: sign FILE [SECRET]
sign() {
    local hash
    hash=$(openssl dgst -sha256 -mac HMAC -macopt "key:${2-test-app-secret}" -r "$1")
    printf 'sha256=%s' "${hash%% *}"
}

# Posts a body with its correct signature: deliver TEXT|@FILE [option of request...]
deliver() {
    local file=${1#@}
    if [[ $1 != @* ]]; then
        file=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}/webhook # of setup_file: no other file's
        printf '%s' "$1" >"$file"
    fi
    request POST /platform/webhook -d "@$file" -H "X-Hub-Signature-256: $(sign "$file")" "${@:2}"
}

# Posts a body and expects that it is accepted; arguments as for deliver.
take() {
    deliver "$@"
    assert_status 200
    assert_body_is '{"success":true,"data":{"received":true}}'
}

# Prints a webhook payload with changes of the account: payload CHANGE...
payload() {
    printf '{"object":"whatsapp_business_account","entry":[{"id":"%s","changes":[%s]}]}' \
        "$WABA" "$(comma_list "$@")"
}

# Prints a change of the line: change FIELD MEMBERS-OF-VALUE
change() {
    printf '{"value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550100001","phone_number_id":"%s"},%s},"field":"%s"}' \
        "$LINE" "$2" "$1"
}

# Prints a change of the account: account_change FIELD VALUE
account_change() {
    printf '{"value":%s,"field":"%s"}' "$2" "$1"
}

# Prints an element of `contacts`: card PHONE BSUID [MEMBERS]; an empty argument is left out.
card() {
    local more=${3-'"profile":{"name":"Ann Example"}'}
    printf '{%s%s%s}' "$more" "${1:+,\"wa_id\":\"$1\"}" "${2:+,\"user_id\":\"$2\"}"
}

# Prints a message as the platform sends it: message ID PHONE BSUID [MEMBERS]
message() {
    local content=${4-'"type":"text","text":{"body":"Is it open?"}'}
    printf '{%s%s"id":"%s","timestamp":"1780000000",%s}' "${2:+\"from\":\"$2\",}" \
        "${3:+\"from_user_id\":\"$3\",}" "$1" "$content"
}

# Prints a change with one message: inbound ID PHONE BSUID [MEMBERS [CARD]]
inbound() {
    change messages "\"contacts\":[${5-$(card "$2" "$3")}],\"messages\":[$(message "${@:1:4}")]"
}

# Prints a change with a system message: system ID FROM MEMBERS
system() {
    change messages "\"messages\":[{${2:+\"from\":\"$2\",}\"id\":\"$1\",\"timestamp\":\"1780000000\",\"type\":\"system\",\"system\":{$3}}]"
}

# Prints a change with a status of a message: status_of ID STATUS MEMBERS [CARD]
status_of() {
    change messages "${4:+\"contacts\":[$4],}\"statuses\":[{\"id\":\"$1\",\"status\":\"$2\",\"timestamp\":\"1780000100\"${3:+,$3}}]"
}

to_both() {
    printf '"recipient_id":"%s","recipient_user_id":"%s"' "$1" "$2"
}

# Prints the contacts of the account, as the CLI shows them.
contacts() {
    switchboard contact list --account "$ACCOUNT" --json
}

# Expects one contact, with the identities PHONE/BSUID; "none" stands for a missing one. Sets
# `contact` to its id.
assert_only_contact() {
    local found
    found=$(contacts | gojq -r \
        '"id " + (.[0].id // ""), (.[] | "\(.phone // "none")/\(.userId // "none")")')
    contact=${found%%$'\n'*}
    found=${found#"$contact"}
    contact=${contact#id }
    assert_equal "${found#$'\n'}" "$1"
}

# Expects these contacts, in any order: assert_contacts PHONE/BSUID...
assert_contacts() {
    assert_equal "$(contacts | gojq -r '.[] | "\(.phone // "none")/\(.userId // "none")"' | sort)" \
        "$(printf '%s\n' "$@" | sort)"
}

# Prints the messages of `contact`, or of another contact, as the CLI shows them: messages [CONTACT]
messages() {
    switchboard message list --contact "${1-$contact}" --json
}

# Expects these messages of `contact`, in order: assert_messages 'wamid in text received' ...
assert_messages() {
    assert_equal "$(messages | gojq -r '.[] | "\(.wamid) \(.direction) \(.type) \(.status)"')" \
        "$(printf '%s\n' "$@")"
}

# Prints the account's events in order: events [jq filter over each body]
events() {
    local rows
    rows=$(db "SELECT CAST(body AS TEXT) FROM outbox WHERE instr(CAST(body AS TEXT), '\"$ACCOUNT\"') > 0 ORDER BY sequence")
    [[ -n $rows ]] || return 0
    printf '%s\n' "$rows" >"$BATS_TEST_TMPDIR/events.out"
    filter -c "${1-.}" "$BATS_TEST_TMPDIR/events.out"
}

# Expects events of these types, in order; a lead's type is followed by its source:
# assert_events message.received lead.created/new_contact ...
assert_events() {
    assert_equal "$(events '.type + (if .data.source then "/" + .data.source else "" end)' |
        tr -d '"')" \
        "$(printf '%s\n' "$@")"
}

assert_no_events() {
    assert_equal "$(events)" ''
}

# Prints the number of rows of each table that a webhook payload can change; the output is the same
# before and after if nothing was stored.
stored() {
    db "SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM message_status),
        (SELECT count(*) FROM contact), (SELECT count(*) FROM thread), (SELECT count(*) FROM outbox),
        (SELECT count(*) FROM lead), (SELECT count(*) FROM platform_update),
        (SELECT count(*) FROM contact_alias), (SELECT count(*) FROM contact_merge)"
}
