#!/usr/bin/env bats
# A platform that answers invalid HTTP, nothing, too much or too slowly, or that is another host: every route
# answers in time and in the envelope, and calls the platform once where a second call would act twice
# (spec 7).
# transports: cgi
# starts first: some of it takes half a minute
load helpers/all
load helpers/conventions

# Starts a platform that answers given bytes, and sets $url: start_upstream NAME [KEY CERTIFICATE]
start_upstream() {
    local dir=$STACK/upstream/$1
    mkdir -p "$dir"
    rm -f "$dir/port"
    node "$root/tests/helpers/upstream.js" "$dir" "${@:2}" >"$dir/log" 2>&1 3>&- &
    printf '%s\n' $! >>"$STACK/upstream/pids"
    eventually test -s "$dir/port"
    url=http${2:+s}://127.0.0.1:$(cat "$dir/port")
}

# Sets its answer, with printf's escapes: plan NAME THEN [BYTES]
plan() {
    printf '%s\n' "$2" >"$STACK/upstream/$1/then"
    printf '%b' "${3-}" >"$STACK/upstream/$1/answer"
    : >"$STACK/upstream/$1/requests"
}

asked() { # NAME
    wc -l <"$STACK/upstream/$1/requests"
}

setup_file() {
    start_stack
    make_user
    mkdir "$STACK/upstream"
    start_upstream main
    export UPSTREAM=$url
    printf 'RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0' >"$STACK/photo"
    # requests that take half a minute start here, and the last test checks them
    export SLOW=$BATS_FILE_TMPDIR/slow
    mkdir "$SLOW"
    slowly silent hang
    slowly headers hang 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
    slowly body hang 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"messages"'
    slowly dripped 'drip 1000' 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"messages":[{"id":"wamid.dripped"}]}'
    slowly interim hang 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'
}

teardown_file() {
    local pid
    while read -r pid; do
        kill "$pid" 2>/dev/null || true
        kill -CONT "$pid" 2>/dev/null || true # one of them was stopped
    done <"$STACK/upstream/pids"
    stop_stack
}

# Starts a send and a list in the background, to a slow platform of their own: slowly NAME THEN BYTES
slowly() {
    local name=$1 url kind
    start_upstream "$name"
    plan "$@"
    sed "s|^graph_base_url = .*|graph_base_url = $url|" "$SWITCHBOARD_CONFIG" >"$SLOW/$name.conf"
    for kind in send list; do
        (
            trap - ERR EXIT
            TRANSPORT=direct SWITCHBOARD_CONFIG=$SLOW/$name.conf answer_dir=$SLOW/$name.$kind
            mkdir "$answer_dir"
            "$kind"
            printf '%s\n' "$status" >"$answer_dir/part"
            mv "$answer_dir/part" "$answer_dir/done"
        ) >/dev/null 2>&1 3>&- &
    done
}

send() {
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
}

list() {
    api GET /v2/templates
}

upload() {
    api POST /v2/media/upload -H 'Content-Type: image/webp' -H "X-Phone-Number-Id: $LINE" -d "@$STACK/photo"
}

download() {
    api GET /v2/media/1234/download
}

# All four kinds of route fail, and those that change something call the platform once. An upload is 500
# without an answer of the platform and 502 with one.
# assert_all_fail WHAT NAME STATUS-OF-THE-UPLOAD
assert_all_fail() {
    local kind wanted before ms=0
    local -A statuses=([send]=502 [list]=500 [upload]=$3 [download]=502)
    for kind in send list upload download; do
        before=$(asked "$2")
        "$kind"
        wanted=${statuses[$kind]}
        [[ $status == "$wanted" ]] || fail_answer "$1: $kind"
        assert_error "$wanted" INTERNAL_ERROR
        ms=$((ms + $(log_of_request | jq .upstream_ms)))
        [[ $kind == list || $kind == download ]] || (($(asked "$2") - before <= 1)) || fail "$1: $kind was repeated"
    done
    ((ms < 28000)) || fail "$1: the platform took $ms ms"
}

# The bytes of a complete answer with BODY: http BODY [HEADER-LINES]
http() {
    printf 'HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\n%sConnection: close\\r\\n\\r\\n%s' "${2-}" "$1"
}

repeated() { # TEXT COUNT
    printf "%$2s" '' | sed "s/ /$1/g"
}

# bats test_tags=long
@test "invalid or truncated HTTP answers are failures on every route" {
    local uploaded after answer count=0
    write_config "graph_base_url = $UPSTREAM"
    while read -r uploaded after answer; do
        plan main "$after" "$answer"
        assert_all_fail "$after $answer" main "$uploaded"
        count=$((count + 1))
    done <<'END'
500 close
500 reset
500 close \r\n\r\n
500 close {"messages":[{"id":"wamid.x"}]}
500 close HTTP/1.1
500 close HTTP/1.1 OK
500 close HTTP/1.1 20 OK\r\n\r\n{}
500 close HTTP/7.3 200 OK\r\n\r\n{}
500 close ICY 200 OK\r\n\r\n{}
502 close HTTP/1.1 200 OK\r\n
500 reset HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{
500 close HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"messages":[{"id":"wamid.x"}],"data":[]}
502 close HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"messages":[{"id":"wamid.x"}],"data":[]}
500 close HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{"
502 close HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{"a":1
500 close HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"id":"x"
500 close HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{"a":1}\r\n0\r\n\r\n
500 close HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{"a":1}\r\n0\r\n\r\n
500 close HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{"a":1}
502 close HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\n\x1f\x8b\x08\0\0\0\0
502 close HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n
502 close HTTP/1.1 204 No Content\r\n\r\n
502 close HTTP/1.1 304 Not Modified\r\n\r\n
500 close HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n
500 close HTTP/1.1 100 Continue\r\n\r\n
502 close HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n
502 close HTTP/1.1 503 Busy\r\nRetry-After: soon\r\nContent-Length: 4\r\n\r\nbusy
502 close HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n
500 close \x16\x03\x01\0\x02\x01\0
END
    ((count >= 29)) || fail "only $count"
    jq -e . "$LOG" >/dev/null
}

# bats test_tags=long
@test "bodies of invalid or too deep JSON are failures on every route" {
    local body_text
    write_config "graph_base_url = $UPSTREAM"
    while IFS= read -r body_text; do
        plan main close "$(http "$body_text")"
        assert_all_fail "$body_text" main 502
    done <<'END'
<!DOCTYPE html><html><body>Sorry</body></html>
{"messages":[{"id":"wamid.x"}],"data":[]
{"messages":[{"id":"wamid.x"}],"data":[],"id":"1"}}
\xef\xbb\xbf{"messages":[{"id":"wamid.x"}],"data":[],"id":"1"}
{"messages":[{"id":"wamid.x"}],"data":[],"id":"1","url":"\xff"}
{"messages":[{"id":"wamid.x"}],"data":[],"id":"1"}\0
NaN
{'messages':[]}
{\0"\0m\0e\0
END
    plan main close "$(http "$(repeated '[' 100000)")"
    assert_all_fail '100,000 brackets' main 502
    plan main close "$(http "{\"a\":$(repeated '[' 5000)$(repeated ']' 5000)}")"
    assert_all_fail '5,000 brackets and their ends' main 502
}

# Keeps the answer and changes what follows it: plan_then THEN
plan_then() {
    printf '%s\n' "$1" >"$STACK/upstream/main/then"
}

# bats test_tags=long
@test "endless headers, endless bodies and 100 MB are aborted early" {
    local answer=$STACK/upstream/main/answer
    write_config "graph_base_url = $UPSTREAM"
    { printf 'HTTP/1.1 200 OK\r\n'; yes 'X-Padding: 0123456789012345678901234567890123456789' | head -n 20000 | sed 's/$/\r/'; } >"$answer"
    plan_then flood
    assert_all_fail 'a flood of headers' main 500
    { printf 'HTTP/1.1 200 OK\r\nX-Long: '; head -c 1000000 /dev/zero | tr '\0' x; printf '\r\nContent-Length: 2\r\n\r\n{}'; } >"$answer"
    plan_then close
    assert_all_fail 'a header of a million bytes' main 500
    { printf 'HTTP/1.1 200 OK\r\n\r\n{"messages":[{"id":"wamid.x"}],"data":"'; head -c 1000000 /dev/zero | tr '\0' x; } >"$answer"
    plan_then flood
    assert_all_fail 'a body without end' main 500
    { printf 'HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n'; head -c 104857600 /dev/zero | tr '\0' ' '; } >"$answer"
    plan_then close
    assert_all_fail '100 MB' main 500
}

@test "headers of the platform's answer other than Retry-After are not copied into ours" {
    write_config "graph_base_url = $UPSTREAM"
    plan main close "$(http '{"messages":[{"id":"wamid.x"}]}' 'Set-Cookie: a=b\r\nX-Injected: yes\r\nRetry-After: 1\r\n folded\r\n')"
    send
    assert_success
    refute_header Set-Cookie
    refute_header X-Injected
    plan main close 'HTTP/1.1 429 Slow\r\nRetry-After: 5\x01\x7f\tx\r\nContent-Length: 2\r\n\r\n{}'
    send
    assert_error 400 VALIDATION_ERROR
    [[ $(header Retry-After) != *[$'\x01\x7f']* ]] || fail_answer 'the header contains a control character'
}

# bats test_tags=long
@test "a refusal before the platform has read the body reaches the client, and is kept under a key" {
    local socket try key=early-$RANDOM$RANDOM file=$BATS_TEST_TMPDIR/large
    local refusal='HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 51\r\n\r\n{"error":{"message":"Invalid token","code":190}}   '
    write_config "graph_base_url = $UPSTREAM"
    plan main early "$refusal"
    head -c 20000000 /dev/urandom >"$file"
    upload_file() {
        api POST /v2/media/upload -H 'Content-Type: image/webp' -H "X-Phone-Number-Id: $LINE" -d "@$file" "$@"
    }
    for try in 1 2 3; do
        upload_file
        assert_error 401 UNAUTHORIZED 'Invalid token'
    done
    upload_file -H "Idempotency-Key: $key"
    assert_error 401 UNAUTHORIZED 'Invalid token'
    upload_file -H "Idempotency-Key: $key"
    assert_error 401 UNAUTHORIZED 'Invalid token'
    assert_header Idempotent-Replayed true
    assert_header WWW-Authenticate 'Bearer realm="switchboard"'
    assert_equal "$(asked main)" 4
    printf x >>"$file"
    upload_file -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another body'
    # the client is slower than the platform, which closes the connection before the end
    plan main early-reset "$refusal"
    exec {socket}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
    printf 'POST /v2/media/upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Token: %s\r\nX-Phone-Number-Id: %s\r\nContent-Type: image/webp\r\nContent-Length: 2000000\r\n\r\n' \
        "$TOKEN" "$LINE" >&"$socket"
    head -c 400000 "$file" >&"$socket"
    sleep 1
    head -c 1600000 "$file" >&"$socket"
    status=$(timeout 30 cat <&"$socket" | tee "$BATS_TEST_TMPDIR/answer" | head -n 1 | cut -d ' ' -f 2)
    exec {socket}>&-
    [[ $status == 401 ]] || fail "$(cat "$BATS_TEST_TMPDIR/answer")"
}

# --- TLS ---

# Creates an authority and its certificate for NAMES: make_certificate DIR NAMES [COMMAND...]
make_certificate() {
    local dir=$1 names=$2
    shift 2
    mkdir -p "$dir"
    "$@" openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj '/CN=test authority' \
        -keyout "$dir/ca.key" -out "$dir/ca.pem" 2>/dev/null
    "$@" openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=platform' -keyout "$dir/key.pem" \
        -out "$dir/request.pem" 2>/dev/null
    printf 'subjectAltName=%s\n' "$names" >"$dir/names"
    "$@" openssl x509 -req -in "$dir/request.pem" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -CAcreateserial -days 1 \
        -extfile "$dir/names" -out "$dir/certificate.pem" 2>/dev/null
}

# bats test_tags=long
@test "TLS: only the platform's own certificate is accepted, and nothing is sent to another server" {
    local name url good='{"messages":[{"id":"wamid.tls"}],"data":[],"id":"7"}'
    local url_good url_other url_expired
    make_certificate "$STACK/good" IP:127.0.0.1
    make_certificate "$STACK/other" DNS:other.example
    make_certificate "$STACK/expired" IP:127.0.0.1 faketime -f -30d
    for name in good other expired; do
        start_upstream "tls_$name" "$STACK/$name/key.pem" "$STACK/$name/certificate.pem"
        plan "tls_$name" close "$(http "$good")"
        printf -v "url_$name" '%s' "$url"
    done
    write_config "graph_base_url = $url_good" "ca_file = $STACK/good/ca.pem"
    send
    assert_success
    assert_equal "$(asked tls_good)" 1
    plan tls_good close "$(http "$good")"
    write_config "graph_base_url = $url_good" # no authority verifies it
    assert_all_fail 'an unknown authority' tls_good 500
    assert_equal "$(asked tls_good)" 0
    send
    assert_error 502 INTERNAL_ERROR certificate
    write_config "graph_base_url = $url_other" "ca_file = $STACK/other/ca.pem"
    assert_all_fail 'a certificate of another host' tls_other 500
    assert_equal "$(asked tls_other)" 0
    write_config "graph_base_url = $url_expired" "ca_file = $STACK/expired/ca.pem"
    assert_all_fail 'an expired certificate' tls_expired 500
    assert_equal "$(asked tls_expired)" 0
    send
    assert_error 502 INTERNAL_ERROR expired
}

# bats test_tags=long
@test "a connection that is not accepted is aborted after 5 seconds" {
    local socket
    BACKLOG=1 start_upstream full
    kill -STOP "$(tail -n 1 "$STACK/upstream/pids")"
    for _ in 1 2; do # fills its queue; the kernel answers no third connection
        exec {socket}<>"/dev/tcp/127.0.0.1/${url##*:}"
    done
    write_config "graph_base_url = $url"
    send
    assert_upstream_ms 5000
    assert_error 502 INTERNAL_ERROR 'could not be reached'
    assert_header Retry-After 5
}

# bats test_tags=long
@test "TLS: a handshake without an answer is aborted after 5 seconds" {
    plan main hang
    write_config "graph_base_url = ${UPSTREAM/http:/https:}" # a server without TLS
    send
    assert_upstream_ms 5000
    assert_error 502 INTERNAL_ERROR 'could not be reached'
    assert_header Retry-After 5
    assert_equal "$(asked main)" 0
}

# --- time ---

@test "a platform that answers nothing, half an answer, or a byte a second is aborted after 30 seconds" {
    local name kind
    for name in silent headers body dripped interim; do
        for kind in send list; do
            eventually test -e "$SLOW/$name.$kind/done"
            read -r status <"$SLOW/$name.$kind/done"
            headers=$SLOW/$name.$kind/headers body=$SLOW/$name.$kind/body
            if [[ $kind == send ]]; then
                assert_error 502 INTERNAL_ERROR 'whether it did what was asked is not known'
            else
                assert_error 500 INTERNAL_ERROR 'could not be reached'
            fi
            assert_upstream_ms 30000
        done
        assert_equal "$(grep -c ^POST "$STACK/upstream/$name/requests")" 1
    done
}
