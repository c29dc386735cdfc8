# shellcheck shell=bash
# The stack of a test file: sandbox, database, Apache.

# Starts the stack and exports STACK (its directory), SANDBOX (URL), DB, SWITCHBOARD_CONFIG, LOG,
# and BASE (URL; empty over `direct`). Passes options to private-apache: start_stack --extra FILE
start_stack() {
    export STACK=$BATS_FILE_TMPDIR/stack
    mkdir -p "$STACK"
    chmod 755 "$BATS_RUN_TMPDIR" "$STACK" # bats makes its own 0700
    export DB=$STACK/data/switchboard.db LOG=$STACK/log/switchboard.log
    mkdir -p "$STACK/log"
    [[ -z ${SERVER-} ]] || DB=$(create_database TEMPLATE prepared)
    export SWITCHBOARD_CONFIG=$STACK/switchboard.conf
    start_sandbox
    write_config
    switchboard init >"$STACK/init.log"
    start_apache "$@"
}

start_sandbox() {
    # in a file, because every user can read the arguments of a process
    printf '{"settings":[{"appSecret":"test-app-secret","verifyToken":"test-verify-token"}]}' \
        >"$STACK/sandbox.json"
    "$OUT/tools/switchboard-sandbox" --port 0 --port-file "$STACK/sandbox.port" \
        --state-dir "$STACK" --fixtures "$STACK/sandbox.json" >"$STACK/sandbox.log" 2>&1 3>&- &
    printf '%s\n' $! >"$STACK/sandbox.pid"
    eventually test -s "$STACK/sandbox.port"
    SANDBOX=http://127.0.0.1:$(cat "$STACK/sandbox.port")
    export SANDBOX
}

# Writes the configuration. Lines given as arguments come last, and so replace those of the same
# key: write_config 'key = v'
write_config() {
    cat >"$SWITCHBOARD_CONFIG" <<END
database = $DB
secret_key_file = $STACK/secret.key
graph_base_url = $SANDBOX
app_secret = test-app-secret
verify_token = test-verify-token
environment = test
webhook_egress = private
log_file = $LOG
spool_dir = $STACK/spool
END
    # beside the directory of the database, if that is a file
    [[ $DB != postgresql:* ]] || printf '%s\n' "metrics_file = $STACK/metrics" \
        "requests_file = $STACK/requests" "run_dir = $STACK/run" "pending_dir = $STACK/pending" \
        >>"$SWITCHBOARD_CONFIG"
    (($# == 0)) || printf '%s\n' "$@" >>"$SWITCHBOARD_CONFIG"
    settle_pools
}

# Replaces the FastCGI processes if the configuration names other files now, because a process is
# confined to the files that its configuration named at its start.
settle_pools() {
    local paths
    # the values that are paths, and a database on a server
    paths=$(grep -E '^[a-z_]+ = (/|postgresql:)' "$SWITCHBOARD_CONFIG")
    [[ $paths != "$(cat "$STACK.paths" 2>/dev/null)" ]] || return 0
    printf '%s\n' "$paths" >"$STACK.paths"
    replace_processes
}

# Replaces the FastCGI processes. Sends SIGHUP to the pools, so that the tests need not wait until
# the pools detect a change.
replace_processes() {
    local pid_file pool some process processes=()
    [[ $TRANSPORT == fcgi ]] || return 0
    for pid_file in "$STACK"/apache/*.pid; do
        [[ -s $pid_file && $pid_file != */httpd.pid ]] || continue
        pool=$(cat "$pid_file")
        read -ra some < <(children "$pool") || true # no newline
        processes+=("${some[@]}")
        kill -HUP "$pool"
    done
    for process in "${processes[@]}"; do
        eventually is_gone "$process"
    done
}

start_apache() {
    export BASE=''
    [[ $TRANSPORT != direct ]] || return 0
    local options=(--dir "$STACK/apache" --home "$OUT"
        --config "$SWITCHBOARD_CONFIG")
    [[ $TRANSPORT != fcgi ]] || options+=(--fcgi 2)
    if [[ -n ${EMULATED-} ]]; then # a program takes ten times as long, and 64 start at once
        printf '<Directory "%s/cgi-bin">\nCGIDScriptTimeout 600\n</Directory>\n' "$OUT" \
            >"$STACK/emulated.conf"
        options+=(--extra "$STACK/emulated.conf")
    fi
    options+=("$@")
    "$root/tools/private-apache" start "${options[@]}" 3>&-
    BASE=http://127.0.0.1:$(cat "$STACK/apache/port")
}

stop_stack() {
    [[ -z ${BASE-} ]] || "$root/tools/private-apache" stop --dir "$STACK/apache"
    [[ ! -s $STACK/sandbox.pid ]] || kill "$(cat "$STACK/sandbox.pid")" 2>/dev/null || true
}

# Runs the CLI on this stack's database.
switchboard() {
    "$OUT/tools/switchboard" "$@"
}
