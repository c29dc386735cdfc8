# shellcheck shell=bash
# Chromium for the tests of the dashboard: `load helpers/browser` after helpers/all and
# helpers/session.

export NODE_MODULES=$root/build/npm/node_modules

# Starts one Chromium for the tests of the file, and exports BROWSER, its address.
start_browser() {
    node "$root/tests/dashboard/browser.js" "$STACK/browser.address" \
        >"$STACK/browser.log" 2>&1 3>&- </dev/null &
    printf '%s\n' $! >"$STACK/browser.pid"
    eventually test -s "$STACK/browser.address"
    BROWSER=$(cat "$STACK/browser.address")
    mkdir -m 700 "$STACK/sessions"
    export BROWSER SESSIONS=$STACK/sessions
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

# Runs a test in the browser: browse MODULE NAME [ARGUMENT...]; see tests/dashboard/drive.js. The
# tests of a file share one session of each user.
browse() {
    ARTIFACTS=$root/build/dashboard node "$root/tests/dashboard/drive.js" "$1.js" "${@:2}"
}
