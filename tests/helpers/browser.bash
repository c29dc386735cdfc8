# shellcheck shell=bash
# Chromium for the tests of the dashboard: `load helpers/browser` after helpers/all and
# helpers/session.

export NODE_MODULES=$root/build/npm/node_modules

# Starts one Chromium for the tests of the file, and exports BROWSER, the socket of its tests.
start_browser() {
    mkdir -m 700 "$STACK/sessions"
    export BROWSER=$STACK/browser SESSIONS=$STACK/sessions
    ARTIFACTS=$root/build/dashboard node "$root/tests/dashboard/browser.js" "$BROWSER" \
        >"$STACK/browser.log" 2>&1 3>&- </dev/null &
    printf '%s\n' $! >"$STACK/browser.pid"
    eventually test -S "$BROWSER"
}

stop_browser() {
    local pid
    pid=$(cat "$STACK/browser.pid")
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# Gives a user of make_user a password: make_password [PREFIX]. Sets and exports PREFIX's PASSWORD.
make_password() {
    local password=${1-}PASSWORD
    put "$password" "correct horse battery $(next_number)"
    set_password "${1-}" "${!password}"
}

# Runs a test in the browser: browse MODULE NAME [ARGUMENT...]; see tests/dashboard/browser.js. The
# tests of a file share one session of each user.
browse() {
    local answer
    # shellcheck disable=SC2153  # make_password sets it
    if answer=$(printf '%s\0' "$EMAIL" "$PASSWORD" "$1.js" "${@:2}" | curl -sS --fail-with-body \
        --unix-socket "$BROWSER" --data-binary @- http://browser 2>&1); then
        [[ -z $answer ]] || printf '%s\n' "$answer"
    else
        printf '%s\n' "$answer" >&2
        cat "$STACK/browser.log" >&2
        return 1
    fi
}
