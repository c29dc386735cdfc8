# shellcheck shell=bash
# The measured installation: an Apache for plain CGI and one for FastCGI, both with the repository's
# apache.conf and the locations of the minimal programs; the sandbox as the platform; the courier;
# the Node controls. Everything is below $world, on the disk of the checkout, since commits wait for
# the disk.

email=bench@example.org app_secret=bench-app-secret
waba=102290129340398 line=106540352242922 platform_token=sandbox-token-1
second_waba=202290129340398 second_line=206540352242922 second_platform_token=sandbox-token-2

# Copies the programs as an installation does: the page cache holds a file that the linker wrote in
# smaller pieces than a copied one, so that it starts up to 8 % slower.
install_programs() {
    local program
    rm -rf "${bench:?}/home"
    mkdir -p "$bench/home/cgi-bin" "$bench/home/tools"
    for program in "$root"/cgi-bin/* "$BENCH_BIN"/*_cgi "$BENCH_BIN"/*_fcgi \
        "$BENCH_BIN"/unconfined_*; do
        [[ ! -x $program ]] || cp "$program" "$bench/home/cgi-bin/"
    done
    cp "$root"/tools/{pool,courier,sender} "$bench/home/tools/"
    rm -rf "$bench/static"
    [[ " ${rows[*]-} " == *' static '* ]] || return 0
    mkdir -p "$bench/static/cgi-bin"
    cp "$root"/build/static/cgi-bin/* "$bench/static/cgi-bin/" ||
        die 'the static programs are not built: make STATIC_CURL=1'
}

write_config() {
    cat >"$world/switchboard.conf" <<END
database = $world/data/switchboard.db
secret_key_file = $world/secret.key
graph_base_url = $sandbox
app_secret = $app_secret
verify_token = bench
environment = production
webhook_egress = private
log_file = $world/log/switchboard.log
spool_dir = $world/spool
END
}

start_sandbox() {
    mkdir -p "$world/sandbox"
    "$root/tools/switchboard-sandbox" --port 0 --port-file "$world/sandbox.port" --record-bytes 1000000 \
        --state-dir "$world/sandbox" --app-secret "$app_secret" >"$world/sandbox.log" 2>&1 &
    sandbox_pid=$!
    started+=("$sandbox_pid")
    wait_until 10 test -s "$world/sandbox.port" || die 'the sandbox did not start'
    sandbox=http://127.0.0.1:$(cat "$world/sandbox.port")
}

# A control call of the sandbox: control PATH [ARGUMENT of curl...]
control() {
    curl -sS --fail --max-time 30 -H 'Content-Type: application/json' "$sandbox/_sandbox/$1" \
        "${@:2}"
}

# `config` and `programs` select another installation.
switchboard() {
    SWITCHBOARD_CONFIG=${config:-$world/switchboard.conf} "${programs:-$root}/tools/switchboard" "$@"
}

make_account() {
    local account
    account=$(printf %s "$4" | switchboard account add $email --waba-id "$1" --name "$3")
    switchboard line add "$account" --phone-number-id "$2" --number "+1555010$5" --name "$3" \
        >/dev/null
}

make_user() {
    switchboard init >/dev/null
    token=$(switchboard user add $email)
    switchboard plan set $email Premium >/dev/null
    make_account $waba $line 'First shop' $platform_token 0001
    make_account $second_waba $second_line 'Second shop' $second_platform_token 0002
}

start_courier() {
    in_group "${service[@]}" "${programs:-$bench/home}/tools/courier" \
        --config "${courier_config:-$world/switchboard.conf}" >>"$world/courier.log" 2>&1 &
    courier_pid=$!
    started+=("$courier_pid")
}

# Writes the locations of the minimal programs, and of the controls if there are any.
write_extra() {
    local program name
    for program in "$BENCH_BIN"/*_cgi; do
        name=$(basename "$program")
        printf '<Location "/bench/%s">\nScriptAlias "%s"\n</Location>\n' "$name" \
            "$bench/home/cgi-bin/$name"
    done >"$world/cgi.conf"
    {
        printf '<Location "/bench/hello_fcgi">\nScriptAlias "%s"\n' "$bench/home/cgi-bin/hello_fcgi"
        printf 'SetHandler "proxy:unix:%s/hello_fcgi.sock|fcgi://hello/"\n</Location>\n' "$sockets"
        printf '<Proxy "unix:%s/hello_fcgi.sock|fcgi://hello/">\n' "$sockets"
        printf 'ProxySet enablereuse=on ttl=60\n</Proxy>\n'
        # shellcheck disable=SC2154  # set by tests/bench/run
        for name in "${controls[@]}"; do
            printf 'ProxyPass /bench/%s unix:%s/%s.sock|http://%s ttl=60\n' "$name" "$sockets" \
                "$name" "$name"
        done
    } >"$world/fcgi.conf"
}

# One Apache process has threads for all connections. A process without a free thread closes idle
# connections, and a client that is just sending its next request on one has a failure that the
# gateway did not cause.
start_apaches() {
    local options=(--config "$world/switchboard.conf" --home "$bench/home" --threads 256)
    (in_group "$root/tools/private-apache" start --dir "$world/cgi" "${options[@]}" --extra \
        "$world/cgi.conf")
    (in_group "$root/tools/private-apache" start --dir "$world/fcgi" "${options[@]}" \
        --extra "$world/fcgi.conf" --module proxy_http --fcgi "$pool" --fcgi-max "$pool_max" \
        --fcgi-idle 60)
    in_group "${service[@]}" "$bench/home/tools/pool" --socket "$sockets/hello_fcgi.sock" \
        --processes "$pool" \
        --pid-file "$world/fcgi/hello_fcgi.pid" -- "$bench/home/cgi-bin/hello_fcgi" </dev/null \
        >"$world/pool.log" 2>&1 &
    started+=($!)
    wait_until 30 test -S "$sockets/hello_fcgi.sock" ||
        die 'the pool of the bare program did not start'
    cgi=http://127.0.0.1:$(cat "$world/cgi/port")
    [[ ! -d $bench/static ]] || start_static
    fcgi=http://127.0.0.1:$(cat "$world/fcgi/port")
}

# The Apache of the programs that were built with STATIC_CURL=1.
start_static() {
    (in_group "$root/tools/private-apache" start --dir "$world/static" --threads 256 \
        --config "$world/switchboard.conf" --home "$bench/static")
    static=http://127.0.0.1:$(cat "$world/static/port")
}

# --- the controls ---

# Compiles better-sqlite3, unless that was done for the same package-lock.json.
install_controls() {
    local node=$bench/node
    mkdir -p "$node"
    cp "$here"/node/{*.js,*.json,.npmrc} "$node/"
    cmp -s "$node/package-lock.json" "$node/node_modules/.installed" && return
    printf 'installing the controls (better-sqlite3 is compiled: a minute or two)\n' >&2
    (
        cd "$node"
        export npm_config_build_from_source=true JOBS=max
        [[ ! -e /usr/include/node/node.h ]] || export npm_config_nodedir=/usr
        npm ci >"$bench/npm.log" 2>&1 &&
            node -e 'require("better-sqlite3")(":memory:")' >>"$bench/npm.log" 2>&1
    ) || die "npm could not install the controls: see $bench/npm.log"
    cp "$node/package-lock.json" "$node/node_modules/.installed"
}

# Starts a control with its own copy of the database as it was before the first request.
start_control() {
    local name=$1 dir=$world/$1
    mkdir -p "$dir"
    sqlite3 "$world/data/switchboard.db" "VACUUM INTO '$dir/switchboard.db'"
    sqlite3 "$dir/switchboard.db" 'PRAGMA journal_mode = WAL' >/dev/null
    in_group env NODE_ENV=production "DATABASE=$dir/switchboard.db" "LOG_FILE=$dir/log" \
        "GRAPH_URL=$sandbox/v26.0" "PLATFORM_TOKEN=$platform_token" "SOCKET=$sockets/$name.sock" \
        "WORKERS=$workers" node "$bench/node/$name.js" >"$dir/out" 2>&1 &
    printf '%s\n' $! >"$dir/pid"
    started+=($!)
    wait_until 20 test -S "$sockets/$name.sock" ||
        die "the control $name did not start: see $dir/out"
    chmod 666 "$sockets/$name.sock"
}

answer_of() {
    curl -sS --max-time 30 -H "X-API-Token: $token" "$@"
}

# What a send stores, without ids, times and the platform's message id.
rows_of() {
    sqlite3 "$1" "SELECT c.account_id, c.phone, c.bsuid, c.updated_at = m.created_at, t.line_id,
        t.last_message_at = m.timestamp, m.line_id, m.direction, m.source, m.type, m.status, m.body,
        substr(m.id, 1, 4) || length(m.id), substr(t.id, 1, 4) || length(t.id),
        substr(c.id, 1, 4) || length(c.id), t.changed, m.changed,
        (SELECT count(*) FROM contact), (SELECT count(*) FROM thread), (SELECT count(*) FROM message),
        (SELECT group_concat(term) FROM contact_term), (SELECT change_sequence FROM user),
        (SELECT group_concat(measure || count) FROM usage)
        FROM message m JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id ORDER BY m.id"
}

# Checks that a control answers the same bytes and writes the same rows as the gateway.
check_control() {
    local name=$1 try body="{\"phoneNumberId\":\"$line\",\"to\":\"+1 555 100 0001\",\"text\":\"Hello\"}"
    cmp -s <(answer_of "$fcgi/v2/me") <(answer_of "$fcgi/bench/$name/v2/me") ||
        die "the control $name answers GET /v2/me with other bytes"
    for try in first second; do
        answer_of -H 'Content-Type: application/json' -d "$body" \
            "$fcgi/bench/$name/v2/messages/send/text" |
            jq -e '.success and (.data.messages[0].id | startswith("wamid."))' >/dev/null ||
            die "the control $name refuses the $try send"
    done
    cmp -s <(rows_of "$world/data/switchboard.db") <(rows_of "$world/$name/switchboard.db") ||
        die "the control $name writes other rows"
    [[ $(curl -s -o /dev/null -w '%{http_code}' "$fcgi/bench/$name/v2/me") == 401 ]] ||
        die "the control $name accepts a request without a token"
}

check_ours() {
    local body="{\"phoneNumberId\":\"$line\",\"to\":\"+1 555 100 0001\",\"text\":\"Hello\"}" base
    for base in "$cgi" "$fcgi"; do
        answer_of -H 'Content-Type: application/json' -d "$body" "$base/v2/messages/send/text" |
            jq -e .success >/dev/null || die 'a send is refused'
    done
}

# Fills the database before the measurements; tests/bench/growth replaces it.
fill_world() {
    :
}

start_world() {
    world=$bench/world
    rm -rf "$world"
    mkdir -p "$world"/{spool,fcgi,log}
    chmod 755 "$bench" "$world"
    choose_service_user "$world"
    sockets=$(claim_sockets "$world/fcgi")
    chmod 755 "$sockets"
    install_programs
    start_sandbox
    write_config
    make_user
    fill_world
    start_courier
    write_extra
    start_apaches
}

start_controls() {
    local name
    for name in "${controls[@]}"; do
        start_control "$name"
    done
    check_ours
    for name in "${controls[@]}"; do
        check_control "$name"
    done
}

# Whether all processes that this script started have ended.
all_ended() {
    local pid
    for pid in "${started[@]}"; do
        ! kill -0 "$pid" 2>/dev/null || return 1
    done
}

stop_world() {
    [[ -n ${world-} ]] || return 0
    "$root/tools/private-apache" stop --dir "$world/cgi" || true
    "$root/tools/private-apache" stop --dir "$world/fcgi" || true
    [[ ! -d $world/static ]] || "$root/tools/private-apache" stop --dir "$world/static" || true
    stop_hosts
    stop_forms
    kill "${started[@]}" 2>/dev/null || true
    wait_until 20 all_ended || kill -KILL "${started[@]}" 2>/dev/null || true
    leave_group
}
