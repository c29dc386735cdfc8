# shellcheck shell=bash
# Second factors: `load helpers/factor` after helpers/session.

# Prints the code of a secret in base32 at a time step, by OpenSSL: totp_of SECRET STEP
totp_of() {
    local key mac offset
    key=$(printf '%s' "$1" | base32 -d | od -An -v -tx1 | tr -d ' \n')
    mac=$(printf '%b' "$(printf '%016x' "$2" | sed 's/../\\x&/g')" |
        openssl dgst -sha1 -mac HMAC -macopt "hexkey:$key" -binary | od -An -v -tx1 | tr -d ' \n')
    offset=$((16#${mac: -1} * 2))
    printf '%06d' $((16#${mac:offset:8} & 0x7fffffff)) | tail -c 6
}

present_step() {
    printf '%d' $((EPOCHSECONDS / 30))
}

# Runs a command with CODE, that of the present time by SECRET, and STEP, its time step. Runs it
# again with a later one if it fails and the machine was so slow that the code came too late:
# in_time COMMAND...
in_time() {
    local tries
    for ((tries = 0; tries < 20; tries++)); do
        STEP=$(present_step)
        CODE=$(totp_of "$SECRET" "$STEP")
        ! "$@" || return 0
        (($(present_step) > STEP + 1)) || return 1
        db 'DELETE FROM login_failure; UPDATE pending_login SET failures = 0, attempt_id = NULL'
    done
    return 1
}

# Begins the set-up in a session, and sets SECRET: begin_factor SESSION
begin_factor() {
    request POST /v2/factor -d '{}' --session "$1"
    SECRET=$(filter -r .data.secret "$body")
    keep_secret 'second factor' "$SECRET"
}

confirm_factor() {
    request POST /v2/factor/confirm -d "{\"code\":\"$CODE\"}" --session "$1"
    ((status == 200))
}

# Sets a factor up, and sets SECRET, CODES (an array) and USED (the step): have_factor SESSION
have_factor() {
    begin_factor "$1"
    in_time confirm_factor "$1" || fail "the set-up failed: $(<"$body")"
    USED=$STEP
    mapfile -t CODES < <(filter -r '.data.recoveryCodes[]?' "$body")
    for code in "${CODES[@]}"; do
        keep_secret 'recovery code' "$code"
    done
}

# The first step of a login; sets PENDING: begin_login [EMAIL]
begin_login() {
    request POST /v2/session -d "{\"email\":\"${1-$EMAIL}\",\"password\":\"$PASSWORD\"}"
    PENDING=$(header Set-Cookie)
    PENDING=${PENDING#__Host-switchboard-login=}
    PENDING=${PENDING%%;*}
    keep_secret 'pending login' "$PENDING"
}

# The options of a request with a pending login: as_pending VALUE; sets `pending`.
as_pending() {
    pending=(-H "Cookie: __Host-switchboard-login=$1" -H 'X-Switchboard: 1'
        -H 'Sec-Fetch-Site: same-origin')
}

# The second step: end_login JSON
end_login() {
    as_pending "$PENDING"
    request POST /v2/factor/login -d "$1" "${pending[@]}"
}

# The second step with CODE; for in_time.
give_code() {
    end_login "{\"code\":\"$CODE\"}"
    ((status == 200))
}

# Lets codes of all steps count again.
forget_steps() {
    db 'UPDATE factor SET last_step = 0; DELETE FROM login_failure'
}
