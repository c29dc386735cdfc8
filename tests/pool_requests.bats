#!/usr/bin/env bats
# Requests to the socket of a pool without the web server: every program of the web server's user can send
# them. No security decision depends on a request's parameters, and no request stops the pool.
# transports: fcgi
load helpers/all
load helpers/webhook

# Configurations of an attacker: one with another database, one with the real database and its keys.
setup_file() {
    start_stack
    make_user
    export AUTHORIZATION="Bearer $TOKEN"
    export EVIL=$STACK/evil
    mkdir -m 755 "$EVIL"
    "$OUT/tools/switchboard-sandbox" --port 0 --port-file "$EVIL/port" --state-dir "$EVIL" >"$EVIL/log" 2>&1 3>&- &
    printf '%s\n' $! >"$EVIL/pid"
    eventually test -s "$EVIL/port"
    write_evil apart "database = $EVIL/evil.db" "secret_key_file = $EVIL/secret.key"
    write_evil real "database = $DB" "secret_key_file = $STACK/secret.key"
    SWITCHBOARD_CONFIG=$EVIL/apart.conf switchboard init >"$EVIL/init.log"
    chmod -R a+rwX "$EVIL"
}

teardown_file() {
    kill "$(cat "$EVIL/pid")" 2>/dev/null || true
    stop_stack
}

# Writes a configuration that differs in everything visible from outside: write_evil NAME LINE...
write_evil() {
    local name=$1
    shift
    printf '%s\n' "$@" "graph_base_url = http://127.0.0.1:$(cat "$EVIL/port")" 'app_secret = evil-secret' \
        'verify_token = evil-token' 'environment = evil' "log_file = $EVIL/evil.log" \
        "spool_dir = $EVIL" 'webhook_egress = private' >"$EVIL/$name.conf"
}

# The names of the pools in apache.conf.
pools() {
    pooled_in "$root/apache.conf"
}

# Sends one request to a pool's socket and sets $answer: ask POOL [option or NAME=VALUE...]
ask() {
    local pool=$1
    shift
    answer=$BATS_TEST_TMPDIR/answer whole=0
    timeout 100 "$HELPERS/fcgi" "$(cat "$STACK/apache/sockets")/$pool.sock" "$@" >"$answer" || whole=$?
    ((whole < 2)) || fail "fcgi: $whole"
    # the times of this request
    sed -E -i 's/"(lastUsedAt|checkedAt)":"[^"]*"/"\1":""/' "$answer"
}

# Sets route to the parameters of a request to the program's first route.
route_of() {
    local method path
    read -r method path < <("$OUT/cgi-bin/$1" | sed -n '2{s/:[a-zA-Z]*/x/;p}')
    route=(REQUEST_METHOD="$method" SCRIPT_NAME="$path" QUERY_STRING= CONTENT_TYPE=application/json
        CONTENT_LENGTH=2 --env HTTP_AUTHORIZATION AUTHORIZATION HTTP_X_REQUEST_ID=fixed --body "$STACK/empty")
    printf '{}' >"$STACK/empty"
}

# Prints parameters with the attacker's CONFIGURATION, none of which may take effect: hostile CONFIGURATION
hostile() {
    printf '%s\n' SWITCHBOARD_CONFIG="$EVIL/$1.conf" GATEWAY_INTERFACE= REMOTE_ADDR=127.0.0.1 REMOTE_USER=root \
        AUTH_TYPE=Basic HTTPS=on SERVER_ADDR=127.0.0.1 SERVER_NAME=localhost SERVER_SOFTWARE=evil \
        SCRIPT_FILENAME=/etc/passwd DOCUMENT_ROOT=/ PATH_TRANSLATED=/etc/passwd FCGI_ROLE=FILTER \
        LD_PRELOAD=/dev/null SWITCHBOARD_MAX_REQUESTS=1 SWITCHBOARD_CONFINE_KILLS=1 HTTP_PROXY=evil http_proxy=evil \
        TMPDIR=/ HOME=/ SSLKEYLOGFILE="$EVIL/keys" SSL_CERT_FILE=/dev/null
}

# No process of any pool has ended, and each pool serves the next request.
assert_pools_serve() {
    local pool
    for pool in $(pools); do
        route_of "$pool"
        ask "$pool" "${route[@]}"
        grep -qx $'Status: [2-4][0-9][0-9] .*\r' "$answer" || fail "$pool: $(cat "$answer")"
    done
    ! grep 'process ended' "$STACK/apache/pool.log"
}

evil_requests() {
    SANDBOX=http://127.0.0.1:$(cat "$EVIL/port") sandbox GET requests | jq length
}

# bats test_tags=long
@test "the parameters of a request do not select the configuration of any pool" {
    local pool count=0 more
    for pool in $(pools); do
        route_of "$pool"
        ask "$pool" "${route[@]}"
        cp "$answer" "$answer.plain"
        grep -q '^Status: ' "$answer.plain"
        for more in apart real; do
            mapfile -t evil < <(hostile "$more")
            ask "$pool" "${evil[@]}" "${route[@]}"
            cmp "$answer" "$answer.plain"
            ask "$pool" "${route[@]}" "${evil[@]}" "${evil[@]}"
            cmp "$answer" "$answer.plain"
        done
        count=$((count + 1))
    done
    ((count >= 9))
    ask version REQUEST_METHOD=GET SCRIPT_NAME=/v2/version "${evil[@]}"
    grep -q '"nodeEnv":"test"' "$answer"
    ask platform REQUEST_METHOD=GET SCRIPT_NAME=/platform/webhook "${evil[@]}" \
        'QUERY_STRING=hub.mode=subscribe&hub.verify_token=evil-token&hub.challenge=7'
    grep -q '^Status: 403' "$answer"
    [[ ! -e $EVIL/evil.log ]]
}

@test "a webhook signed with the secret of a configuration in the request's parameters is 401 and not stored" {
    local name evil signed
    make_account_line
    payload "$(change messages "\"contacts\":[{\"profile\":{\"name\":\"Eve\"},\"wa_id\":\"$P1\"}],\"messages\":[{\"from\":\"$P1\",\"id\":\"wamid.evil\",\"timestamp\":\"1700000000\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}]")" \
        >"$BATS_TEST_TMPDIR/hook"
    signed=(REQUEST_METHOD=POST SCRIPT_NAME=/platform/webhook CONTENT_TYPE=application/json
        CONTENT_LENGTH="$(stat -c %s "$BATS_TEST_TMPDIR/hook")" --body "$BATS_TEST_TMPDIR/hook")
    for name in apart real; do
        mapfile -t evil < <(hostile "$name")
        ask platform "${evil[@]}" "${signed[@]}" \
            HTTP_X_HUB_SIGNATURE_256="$(sign "$BATS_TEST_TMPDIR/hook" evil-secret)"
        grep -q '^Status: 401' "$answer"
    done
    assert_equal "$(db 'SELECT count(*) FROM message')" 0
    assert_equal "$(SERVER='' DB=$EVIL/evil.db db 'SELECT count(*) FROM message')" 0
    ask platform "${evil[@]}" "${signed[@]}" HTTP_X_HUB_SIGNATURE_256="$(sign "$BATS_TEST_TMPDIR/hook")"
    grep -q '^Status: 200' "$answer"
    assert_equal "$(db 'SELECT count(*) FROM message')" 1
    assert_equal "$(SERVER='' DB=$EVIL/evil.db db 'SELECT count(*) FROM message')" 0
}

@test "the platform token is sent to the platform alone, whatever the request's parameters are" {
    local name evil
    printf '{"phoneNumberId":"%s","to":"15551230000","text":"hi"}' "$LINE" >"$BATS_TEST_TMPDIR/send"
    for name in apart real; do
        mapfile -t evil < <(hostile "$name")
        forget_sent
        ask messages "${evil[@]}" REQUEST_METHOD=POST SCRIPT_NAME=/v2/messages/send/text CONTENT_TYPE=application/json \
            CONTENT_LENGTH="$(stat -c %s "$BATS_TEST_TMPDIR/send")" --env HTTP_AUTHORIZATION AUTHORIZATION \
            --body "$BATS_TEST_TMPDIR/send"
        grep -q '^Status: 200' "$answer"
        assert_equal "$(sent_count)" 1
    done
    assert_equal "$(evil_requests)" 0
}

# bats test_tags=long
@test "duplicate, huge and thousands of parameters end no process" {
    local pool name
    for pool in $(pools); do
        route_of "$pool"
        for name in HTTP_X_REQUEST_ID SCRIPT_NAME PATH_INFO HTTP_AUTHORIZATION QUERY_STRING CONTENT_LENGTH \
            CONTENT_TYPE REQUEST_METHOD HTTP_IDEMPOTENCY_KEY HTTP_X_HUB_SIGNATURE_256 SWITCHBOARD_CONFIG; do
            ask "$pool" --huge "$name" 60000 "${route[@]}"
            grep -q '^Status: [2-5]' "$answer" || fail "$pool: $name"
        done
        ask "$pool" --many 5000 "${route[@]}" "${route[@]}"
        grep -q '^Status: [2-5]' "$answer"
    done
    assert_pools_serve
}

# bats test_tags=long
@test "malformed, truncated and aborted requests and other roles end no process" {
    local pool bytes role
    printf '\1\1\0\1\0\10\0\0\0\1\0\0\0\0\0\0\1\4\0\1\0\10\0\0\377\377\377\377\377\377\377\377' >"$STACK/lengths"
    printf 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' >"$STACK/http"
    head -c 3000 /dev/urandom >"$STACK/random"
    : >"$STACK/nothing"
    for pool in $(pools); do
        route_of "$pool"
        for bytes in 1 8 20 60 200; do
            ask "$pool" "${route[@]}" --cut "$bytes"
        done
        for role in 0 2 3 65535; do
            ask "$pool" "${route[@]}" --role "$role"
        done
        for bytes in 1 60 65535; do
            ask "$pool" "${route[@]}" --claim "$bytes" --cut 100000
        done
        ask "$pool" "${route[@]}" --abort
        for bytes in lengths http random nothing; do
            ask "$pool" --raw "$STACK/$bytes" --cut 100000
        done
    done
    assert_pools_serve
}

# bats test_tags=long
@test "connections that stall during a request release their processes" {
    local bytes stalled=()
    for bytes in 4 20 20 100; do
        route_of version
        "$HELPERS/fcgi" "$(cat "$STACK/apache/sockets")/version.sock" "${route[@]}" --stall "$bytes" >/dev/null 3>&- &
        stalled+=($!)
    done
    sleep 0.5
    route_of version
    ask version "${route[@]}"
    grep -q '^Status: 200' "$answer"
    kill "${stalled[@]}" 2>/dev/null || true
    assert_pools_serve
}
