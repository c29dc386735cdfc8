#!/usr/bin/env bats
# tools/courier: the addresses that it connects to, and the servers that it trusts.
# transports: direct
load helpers/all
load helpers/courier
load helpers/tls

setup_file() {
    start_courier_stack A
    put PORT "${A_URL##*:}"
}

teardown_file() {
    stop_courier_stack
}

setup() {
    forget_events
    write_config 'webhook_egress = public'
    set_webhook A "$A_URL"
}

# Attempts to deliver an event to a URL and sets $id to its id: deliver_to URL. Writes the URL to the
# database, because the API could refuse it.
deliver_to() {
    db "UPDATE webhook SET url = '$1'"
    id=$(add_events A)
    courier_once
}

# Expects that the attempt was refused for its address, and that `event list` shows the reason.
assert_blocked() { # URL
    local shown
    shown=$(switchboard event list --failed --json | jq -c --arg id "$id" '.[] | select(.id == $id)
        | [.state, .attempts, .lastStatus, .lastError]')
    [[ $shown == '["pending",1,null,"blocked_address: '*" is not allowed with webhook_egress = "* ]] ||
        fail "$1 was not refused: $shown"
    switchboard event list --failed | grep -F "$id" | grep -qF blocked_address
    switchboard event show "$id" --json | gojq -e '.attemptLog | length == 1 and .[0].address != null and .[0].status == null' >/dev/null
}

loopback=(
    127.0.0.1 127.1 127.0.1 2130706433 0x7f.1 0x7f000001 0177.0.0.1 017700000001
    0x7F.0.0.0x1 localhost LOCALHOST any.localhost '[::ffff:127.0.0.1]'
    '[::ffff:7f00:1]' '[0:0:0:0:0:ffff:127.0.0.1]'
)

nowhere=(
    0 0.0.0.0 0x0 169.254.169.254 169.254.43518 0xa9fea9fe 2852039166 0251.0376.0251.0376
    '[::ffff:169.254.169.254]' '[::ffff:a9fe:a9fe]' '[fd00:ec2::254]' '[fe80::1%25lo]' '[fe80::1]'
    '[::]' '[::127.0.0.1]' '[64:ff9b::7f00:1]' '[2002:7f00:1::]' 100.100.100.200 168.63.129.16
    192.0.0.192 224.0.0.1 255.255.255.255
)

# bats test_tags=long
@test "public: the courier connects to no spelling of a loopback address" {
    local host
    for host in "${loopback[@]}" 127.255.255.254 '[::1]' '[0:0:0:0:0:0:0:1]'; do
        deliver_to "http://$host:$PORT/$RANDOM"
        assert_blocked "$host"
    done
    assert_equal "$(received_count A)" 0
}

# bats test_tags=long
@test "public: it connects to no private, metadata or reserved address" {
    local host
    for host in "${nowhere[@]}" 10.1.2.3 172.16.0.1 192.168.1.1 100.64.0.1 '[fd12::1]'; do
        deliver_to "http://$host:$PORT/"
        assert_blocked "$host"
    done
    assert_equal "$(received_count A)" 0
}

# bats test_tags=long
@test "private: it delivers to loopback in every spelling, but not to metadata and link-local addresses" {
    local host count=0
    write_config 'webhook_egress = private'
    for host in "${loopback[@]}"; do
        deliver_to "http://$host:$PORT/there"
        assert_event "$id" state 'done'
        assert_equal "$(received_count A there)" $((++count))
    done
    for host in "${nowhere[@]}"; do
        deliver_to "http://$host:$PORT/"
        assert_blocked "$host"
    done
    assert_equal "$(received_count A)" $count
}

# bats test_tags=long
@test "an open connection is not reused after the configuration forbids its address" {
    write_config 'webhook_egress = private'
    start_courier
    add_events A >/dev/null
    eventually has_received A 1
    write_config 'webhook_egress = public'
    kill -HUP "$(cat "$STACK/courier.pid")"
    eventually grep -q 'configuration was read again' "$LOG"
    add_events A >/dev/null
    eventually test_failed
    stop_courier
    assert_equal "$(received_count A)" 1
}

test_failed() {
    [[ $(db "SELECT last_error FROM outbox ORDER BY sequence DESC LIMIT 1") == blocked_address:* ]]
}

@test "proxies, netrc and user names in URLs are not used" {
    local name
    write_config 'webhook_egress = private'
    for name in http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY; do
        export $name="http://127.0.0.1:1"
    done
    export HOME=$BATS_TEST_TMPDIR
    printf 'machine 127.0.0.1 login me password secret\n' >"$HOME/.netrc"
    deliver_to "$A_URL/direct"
    assert_event "$id" state 'done'
    assert_equal "$(received_header A 1 Authorization)" ''
    local url
    for url in "http://me@127.0.0.1:$PORT/" "http://me:secret@127.0.0.1:$PORT/" \
        "http://127.0.0.1:$PORT\\@example.com/" "ftp://127.0.0.1:$PORT/" "file:///etc/passwd" \
        "gopher://127.0.0.1:$PORT/x" 'http://' 'nonsense'; do
        deliver_to "$url"
        assert_event "$id" 'state || attempts' pending1
        [[ -n $(event "$id" last_error) ]]
    done
    assert_equal "$(received_count A)" 1
    ! grep -q 'me:secret' "$LOG" || fail 'the log contains a password'
}

# --- TLS ---

# bats test_tags=long
@test "https: certificates are verified, with ca_file if it is set" {
    write_config 'webhook_egress = private' "ca_file = $STACK/tls.pem"
    start_tls "$PORT"
    deliver_to "https://localhost:$TLS_PORT/tls"
    assert_event "$id" state 'done'
    assert_equal "$(received_count A tls)" 1
    deliver_to "https://127.0.0.1:$TLS_PORT/tls" # the certificate is for localhost
    assert_event "$id" state pending
    event "$id" last_error | grep -qi ssl
    write_config 'webhook_egress = private'
    deliver_to "https://localhost:$TLS_PORT/tls" # the certificate is not trusted
    assert_event "$id" state pending
    event "$id" last_error | grep -qi certificate
    assert_equal "$(received_count A)" 1
    stop_tls
}

# bats test_tags=long
@test "https: TLS before 1.2 is refused" {
    write_config 'webhook_egress = private' "ca_file = $STACK/tls.pem"
    start_old_tls "$PORT"
    curl -s -o /dev/null --cacert "$STACK/tls.pem" "https://localhost:$TLS_PORT/curl"
    assert_equal "$(grep -c 'GET /curl' "$A_DIR/1.head")" 1
    deliver_to "https://localhost:$TLS_PORT/tls"
    assert_event "$id" state pending
    assert_equal "$(received_count A tls)" 0
    stop_tls
}

# bats test_tags=long
@test "https: an expired certificate is refused" {
    write_config 'webhook_egress = private' "ca_file = $STACK/tls.pem"
    start_tls "$PORT" '{}' DNS:localhost faketime -f -30d
    deliver_to "https://localhost:$TLS_PORT/tls"
    assert_event "$id" state pending
    event "$id" last_error | grep -qi expired
    assert_equal "$(received_count A tls)" 0
    stop_tls
}

# --- IPv6 and host names ---

# Starts a proxy on [::1] alone that forwards to receiver A; SIX_PORT is its port.
start_six() {
    rm -f "$STACK/six.port"
    node -e '
        const [, directory, target] = process.argv;
        const fs = require("fs"), net = require("net");
        const server = net.createServer((front) => {
            const back = net.connect(Number(target), "127.0.0.1");
            front.pipe(back).pipe(front);
            for (const end of [front, back]) end.on("error", () => { front.destroy(); back.destroy(); });
        });
        server.listen({ port: 0, host: "::1", ipv6Only: true }, () => {
            fs.writeFileSync(directory + "/six.part", String(server.address().port));
            fs.renameSync(directory + "/six.part", directory + "/six.port");
        });
    ' "$STACK" "$PORT" 3>&- &
    mkdir -p "$STACK/receivers/six"
    printf '%s\n' $! >"$STACK/receivers/six/pid"
    eventually test -s "$STACK/six.port"
    SIX_PORT=$(cat "$STACK/six.port")
}

# bats test_tags=long
@test "a receiver with only IPv6 gets events, by address and by name, if private addresses are allowed" {
    grep -q '^0\{31\}1 ' /proc/net/if_inet6 2>/dev/null || return 0 # skips a machine without IPv6
    start_six
    write_config 'webhook_egress = private'
    deliver_to "http://[::1]:$SIX_PORT/six"
    assert_event "$id" state 'done'
    assert_equal "$(db "SELECT address FROM event_attempt WHERE event_id = '$id'")" '::1'
    deliver_to "http://[0:0:0:0:0:0:0:1]:$SIX_PORT/six"
    assert_event "$id" state 'done'
    if getent ahostsv6 ip6-localhost | grep -q '^::1 '; then
        deliver_to "http://ip6-localhost:$SIX_PORT/six"
        assert_event "$id" state 'done'
    fi
    write_config 'webhook_egress = public'
    deliver_to "http://[::1]:$SIX_PORT/six"
    assert_blocked '[::1]'
    stop_receiver six
}

# bats test_tags=long
@test "a host name that cannot be resolved is a failure like any other" {
    local name
    write_config 'webhook_egress = private'
    for name in nowhere.invalid "$(printf 'a%.0s' {1..63}).invalid" "$(printf 'a.%.0s' {1..120})invalid" xn--.invalid; do
        deliver_to "http://$name:$PORT/"
        assert_event "$id" 'state || attempts' pending1
        [[ -n $(event "$id" last_error) ]]
    done
    assert_equal "$(received_count A)" 0
}
