# shellcheck shell=bash
# Webhooks that get the POSTs of the platform: `load helpers/forward` after helpers/webhook and
# helpers/courier.

# Makes a user with an account and a line: make_tenant NAME. Sets and exports NAME_EMAIL,
# NAME_TOKEN, NAME_ACCOUNT, NAME_WABA and NAME_LINE. The code of its webhooks is `secret of NAME`.
make_tenant() {
    local email=$1_EMAIL
    make_consumer "$1"
    EMAIL=${!email}
    make_account_line
    put "$1_ACCOUNT" "$ACCOUNT"
    put "$1_WABA" "$WABA"
    put "$1_LINE" "$LINE"
}

# Makes WABA and LINE those of a tenant, for the payloads of helpers/webhook: as_tenant NAME
as_tenant() {
    local account=$1_ACCOUNT waba=$1_WABA line=$1_LINE
    ACCOUNT=${!account} WABA=${!waba} LINE=${!line}
}

# Adds a webhook of the kind forward to a tenant, whose receiver confirms the URL: forward NAME PATH
# [MEMBERS of the request]. Sets $webhook to its id, and removes the records of the receiver.
forward() {
    local path=${2%%\?*} token=$1_TOKEN
    path=${path#/}
    answers "$1" "$path" "verify token-of-$1"
    request POST /v2/webhooks --as "${!token}" -d "$(printf '{"kind":"forward","url":"%s",
        "code":"%s","verifyToken":"%s"%s}' "$(url_of "$1")$2" "secret of $1" "token-of-$1" \
        "${3:+,$3}")"
    assert_success
    webhook=$(gojq -r .data.id "$body")
    rm "$STACK/receivers/$1/$path.answer"
    rm -f "$STACK/receivers/$1"/*.{head,body,meta}
}

# Expects that request NUMBER of a receiver has these bytes: assert_forwarded NAME NUMBER TEXT|@FILE
assert_forwarded() {
    local file=${3#@}
    if [[ $3 != @* ]]; then
        file=$BATS_TEST_TMPDIR/expected
        printf '%s' "$3" >"$file"
    fi
    cmp "$file" "$STACK/receivers/$1/$2.body" ||
        fail "$1 got: $(cat "$STACK/receivers/$1/$2.body")"
}

# Prints an entry of the present tenant: entry CHANGE...
entry() {
    printf '{"id":"%s","time":1780000000,"changes":[%s]}' "$WABA" "$(comma_list "$@")"
}

# Prints a POST with these entries: post ENTRY...
post() {
    printf '{"object":"whatsapp_business_account","entry":[%s]}' "$(comma_list "$@")"
}

# Removes the events, webhooks, POSTs and records of the previous test.
forget_forwards() {
    db "DELETE FROM event_attempt; DELETE FROM delivery; DELETE FROM event;
        DELETE FROM platform_post; DELETE FROM event_turn;
        DELETE FROM webhook; DELETE FROM webhook_refusal"
    rm -f "$STACK"/receivers/*/*.{head,body,meta,answer} "$LOG"
}
