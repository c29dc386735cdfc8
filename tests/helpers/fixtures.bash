# shellcheck shell=bash
# Makes users, accounts and lines with the CLI, and the same accounts and lines in the sandbox.

# Prints a number that is unique in the test file.
next_number() {
    local number
    number=$(($(cat "$STACK/number" 2>/dev/null || echo 0) + 1))
    printf '%s\n' "$number" >"$STACK/number"
    printf '%s' "$number"
}

# Makes a user with the plan Premium, an account and its primary line. Sets and exports EMAIL, TOKEN
# (API), ACCOUNT, WABA, PLATFORM_TOKEN and LINE (the phone number id), each name preceded by PREFIX:
# make_user [PREFIX]
make_user() {
    local number email
    number=$(next_number)
    email=user$number@example.org
    put "${1-}EMAIL" "$email"
    put "${1-}TOKEN" "$(switchboard user add "$email")"
    switchboard plan set "$email" Premium >/dev/null
    make_account "${1-}" --default
    make_line "${1-}" --primary
}

# Makes another account for the user of PREFIX; sets PREFIX's ACCOUNT, WABA, PLATFORM_TOKEN.
# make_account PREFIX [option of `switchboard account add`...]
make_account() {
    local prefix=$1 number email=$1EMAIL
    shift
    number=$(next_number)
    put "${prefix}WABA" "9000$number"
    put "${prefix}PLATFORM_TOKEN" "platform-token-$number"
    sandbox POST accounts "{\"wabaId\":\"9000$number\",\"token\":\"platform-token-$number\",
        \"name\":\"Account $number\",\"phones\":[]}" >/dev/null
    put "${prefix}ACCOUNT" "$(printf '%s' "platform-token-$number" | switchboard account add \
        "${!email}" --waba-id "9000$number" --name "Account $number" "$@")"
}

# Makes another line for the account of PREFIX; sets PREFIX's LINE.
# make_line PREFIX [option of `switchboard line add`...]
make_line() {
    local prefix=$1 number account=$1ACCOUNT waba=$1WABA token=$1PLATFORM_TOKEN
    shift
    number=$(next_number)
    put "${prefix}LINE" "8000$number"
    # the sandbox replaces all phones of an account at once: send the existing ones and this one
    sandbox POST accounts "$(sandbox GET accounts |
        gojq -c --arg waba "${!waba}" --arg token "${!token}" \
        --arg id "8000$number" --arg display "+1555$((1000000 + number))" \
        '{wabaId: $waba, token: $token,
            phones: ([.[] | select(.account.wabaId == $waba).phones[]] + [{id: $id, displayNumber: $display}])}')" >/dev/null
    switchboard line add "${!account}" --phone-number-id "8000$number" \
        --number "+1555$((1000000 + number))" "$@" >/dev/null
}

put() {
    printf -v "$1" '%s' "$2"
    export "${1?}"
}

# Makes a second account with a line for the user of make_user: SECOND_ACCOUNT, SECOND_LINE, ...
make_second_account() {
    put SECOND_EMAIL "$EMAIL"
    make_account SECOND_
    make_line SECOND_
}

# Expects that GET /v2/me shows NAME as the name of the user's first account.
assert_named() { # NAME
    api GET /v2/me
    assert_success
    assert_text '.data.accounts[0].displayName' "$1"
}

# Prints its arguments, separated by commas.
comma_list() {
    local IFS=,
    printf '%s' "$*"
}
