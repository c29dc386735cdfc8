#!/usr/bin/env bats
# What Apache does before and after a program runs, with the apache.conf of the repository.
# transports: cgi fcgi
# starts first: some tests take a minute
load helpers/all
load helpers/conventions

# A second Apache runs stand-ins that fail in each way in which a program can fail. Requests that take
# minutes start here; the last tests check their answers.
setup_file() {
    start_stack
    make_user
    start_stand_ins
    export SLOW=$BATS_FILE_TMPDIR/slow
    mkdir "$SLOW"
    slowly body 'POST /v2/me HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{'
    slowly chunk 'POST /v2/me HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\na\r\n{'
    slowly refused 'POST /v2/a%2Fb HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n'
    slowly header 'GET /v2/me HTTP/1.1\r\nHost: x\r\n'
    slowly hang 'GET /v2/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' "$STAND_INS_BASE"
}

teardown_file() {
    "$root/tools/private-apache" stop --dir "$BATS_FILE_TMPDIR/stand-ins/apache"
    stop_stack
}

# Sends an incomplete request and reads the answer in the background: slowly NAME TEXT [BASE]
slowly() {
    (
        trap - ERR EXIT
        exec {socket}<>"/dev/tcp/127.0.0.1/$(base_port "${3-$BASE}")"
        printf '%b' "$2" >&"$socket"
        cat <&"$socket" >"$SLOW/$1.part"
        mv "$SLOW/$1.part" "$SLOW/$1"
    ) >/dev/null 2>&1 3>&- &
}

base_port() {
    printf '%s' "${1##*:}"
}

# Loads the answer to a request of slowly() into $status, $headers and $body: slow_answer NAME
slow_answer() {
    eventually test -e "$SLOW/$1"
    headers=$SLOW/$1.headers body=$SLOW/$1.body
    status=$(head -n 1 "$SLOW/$1" | cut -d ' ' -f 2)
    tr -d '\r' <"$SLOW/$1" | sed '1d;/^$/,$d' >"$headers"
    tr -d '\r' <"$SLOW/$1" | sed '1,/^$/d' >"$body"
}

# Expects at least one such request in the access log, and that Apache measured from LEAST to MOST ms
# for each: assert_took LEAST MOST 'METHOD PATH' STATUS [DIRECTORY-OF-APACHE]
assert_took() {
    eventually grep -qF "\"$3 HTTP/1.1\" $4 " "${5-$STACK/apache}/switchboard_access.log"
    awk -v least="$1" -v most="$2" -v request="\"$3 HTTP/1.1\" $4" 'at = index($0, request) {
            split(substr($0, at + length(request)), field, " ")
            found++
            wrong += field[2] < least * 1000 || field[2] > most * 1000
        }
        END { exit wrong || !found }' "${5-$STACK/apache}/switchboard_access.log" ||
        fail "expected $3 to take from $1 to $2 ms: $(grep -F "\"$3 " "${5-$STACK/apache}/switchboard_access.log")"
}

start_stand_ins() {
    local dir=$BATS_FILE_TMPDIR/stand-ins
    mkdir -p "$dir/cgi-bin"
    printf '#!/bin/sh\nkill -SEGV $$\n' >"$dir/cgi-bin/health"
    printf '#!/bin/sh\nexec sleep 100\n' >"$dir/cgi-bin/version"
    printf '#!/bin/sh\nexit 0\n' >"$dir/cgi-bin/me"
    printf '#!/bin/sh\necho no header at all\n' >"$dir/cgi-bin/messages"
    printf '#!/bin/sh\nkill -9 $$\n' >"$dir/cgi-bin/templates"
    printf '#!/nowhere/interpreter\n' >"$dir/cgi-bin/forms"
    printf '#!/bin/sh\nprintf "Content-Type: text/plain\\r\\n\\r\\n"\nprintf "%%s;" "$@"\n' >"$dir/cgi-bin/root"
    chmod +x "$dir"/cgi-bin/*
    "$root/tools/private-apache" start --dir "$dir/apache" --home "$dir" --config "$SWITCHBOARD_CONFIG" 3>&-
    export STAND_INS_BASE
    STAND_INS_BASE=http://127.0.0.1:$(cat "$dir/apache/port")
}

# Expects the error envelope and the headers of every answer; arguments as for assert_error.
assert_apache_error() {
    assert_error "$@"
    assert_header Cache-Control no-store
    assert_header X-Content-Type-Options nosniff
    refute_header ETag
    refute_header Last-Modified
    refute_header Accept-Ranges
    [[ $(header X-Request-Id) =~ ^[A-Za-z0-9._@-]{1,64}$ ]] || fail_answer 'expected an X-Request-Id'
}

# Expects that the access log has the X-Request-Id of the last answer. Apache writes the line after
# it has sent the answer.
assert_named_in_access_log() { # LOG
    eventually grep -qF " $(header X-Request-Id) " "$1"
}

# Sends a request with this request line, these headers, and Host: raw LINE [HEADER-TEXT] [BODY-TEXT]
raw() {
    raw_request "$1\r\nHost: x\r\nConnection: close\r\n${2-}\r\n${3-}"
}

stand_in() {
    local BASE=$STAND_INS_BASE RECORD=''
    request GET "$@"
}

repeat() {
    printf "%$2s" '' | tr ' ' "$1"
}

# --- the reference ---

# bats test_tags=long
@test "the reference is public, static files with an ETag and a content security policy" {
    local etag link
    assert_reference_file /v2/openapi.json 'application/json; charset=utf-8' openapi.json
    gojq -e '.openapi == "3.1.0" and .servers == [{url: "/", description: "The host of this document."}]' \
        "$body" >/dev/null
    etag=$(header ETag)
    request GET /v2/openapi.json -H "If-None-Match: $etag"
    assert_status 304
    request HEAD /v2/openapi.json
    assert_status 200
    assert_header ETag "$etag"
    assert_reference_file /v2/docs/ 'text/html; charset=utf-8' docs/index.html
    for link in $(grep -oE '(href)="[^#"h][^"]*"' "$body" | cut -d'"' -f2 | sort -u); do
        request GET "/v2/docs/$link"
        assert_status 200
    done
    assert_reference_file /v2/docs/style.css 'text/css; charset=utf-8' docs/style.css
    assert_reference_file /v2/docs/postman.json 'application/json; charset=utf-8' docs/postman.json
    assert_reference_file /v2/docs/event_types.json 'application/json; charset=utf-8' docs/event_types.json
    assert_reference_file /v2/docs/llms.txt 'text/plain; charset=utf-8' docs/llms.txt
    request GET /v2/docs
    assert_status 301
    assert_header Location docs/
    raw_request 'GET /v2/docs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'
    assert_status 301
    assert_header Location docs/
    refute grep -q evil "$headers" "$body"
}

@test "an unknown file of the reference is 404 in the envelope, another method 405" {
    request GET /v2/docs/none
    assert_error 404 NOT_FOUND
    assert_conventions
    raw 'GET /v2/docs/../../cgi-bin/root HTTP/1.1'
    assert_error 404 NOT_FOUND
    request POST /v2/openapi.json -d '{}'
    assert_error 405 NOT_FOUND
    assert_conventions
    # a list of the directory is no answer
    request GET /v2/openapi.json/x
    assert_error 404 NOT_FOUND
}

@test "media, graph_media, ready and metrics, which are no pools, get a body while it arrives" {
    local name path socket dir=$BATS_TEST_TMPDIR/receiving options=()
    [[ $TRANSPORT != fcgi ]] || options=(--fcgi 1)
    mkdir -p "$dir/cgi-bin"
    : >"$dir/cgi-bin/health" # private-apache needs it
    for name in media graph_media ready metrics; do
        printf '#!/bin/sh\nhead -c 5 >%s\ncat >&2\n' "$dir/$name" >"$dir/cgi-bin/$name"
        printf 'printf "Content-Type: text/plain\\r\\n\\r\\n%s"\n' "$name" >>"$dir/cgi-bin/$name"
        chmod +x "$dir/cgi-bin/$name"
    done
    "$root/tools/private-apache" start --dir "$dir/apache" --home "$dir" \
        --config "$SWITCHBOARD_CONFIG" "${options[@]}" 3>&-
    for path in v2/media/upload 1/media v2/ready metrics; do
        name=${path#v2/}
        name=${name%/*}
        [[ $name != 1 ]] || name=graph_media
        exec {socket}<>"/dev/tcp/127.0.0.1/$(cat "$dir/apache/port")"
        printf 'POST /%s HTTP/1.0\r\nContent-Length: 10\r\n\r\nfirst' "$path" >&"$socket"
        eventually grep -q first "$dir/$name"
        printf 'later' >&"$socket"
        [[ $(cat <&"$socket") == *"$name" ]] || fail "$name did not answer"
        exec {socket}>&-
    done
    "$root/tools/private-apache" stop --dir "$dir/apache"
}

@test "every error document is an envelope with a code of spec 7" {
    local number=0 document
    headers=/dev/null body=$BATS_TEST_TMPDIR/body
    while read -r status document; do
        printf '%s' "$document" >"$body"
        assert_that '.success == false and (.message | length > 20) and (keys == ["error", "message", "success"])'
        assert_that '.error | IN("VALIDATION_ERROR", "FORBIDDEN", "NOT_FOUND", "INTERNAL_ERROR")'
        number=$((number + 1))
    done < <(sed -n "s/^ErrorDocument \\([0-9]*\\) '\\(.*\\)'$/\\1 \\2/p" "$root/apache.conf")
    # the document for 405 is not in the file: root writes it, see the test of TRACE
    assert_equal "$((number + 1))" "$(grep -c '^ErrorDocument' "$root/apache.conf")"
    grep -qx 'ErrorDocument 405 /' "$root/apache.conf"
}

@test "a request without Host is 400" {
    raw_request 'GET /v2/health HTTP/1.1\r\nConnection: close\r\n\r\n'
    assert_apache_error 400 VALIDATION_ERROR 'Host header'
}

@test "HTTP/0.9 is 400 and does not run a program" {
    raw_request 'GET /v2/health\r\n'
    assert_apache_error 400 VALIDATION_ERROR HTTP/1.1
}

@test "bytes that are not HTTP are 400" {
    raw_request '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'
    assert_apache_error 400 VALIDATION_ERROR
}

@test "a malformed escape in the path is 400" {
    raw 'GET /v2/%zz HTTP/1.1'
    assert_apache_error 400 VALIDATION_ERROR
}

@test "a path above the root is 400" {
    raw 'GET /../../etc/passwd HTTP/1.1'
    assert_apache_error 400 VALIDATION_ERROR
}

@test "a space in the request line is 400" {
    raw 'GET /v2/he alth HTTP/1.1'
    assert_apache_error 400 VALIDATION_ERROR
}

@test "a NUL in a header is 400" {
    raw 'GET /v2/health HTTP/1.1' 'X-A: a\0b\r\n'
    assert_apache_error 400 VALIDATION_ERROR
}

@test "a header longer than 8190 bytes is 400" {
    raw 'GET /v2/health HTTP/1.1' "X-A: $(repeat a 9000)\r\n"
    assert_apache_error 400 VALIDATION_ERROR '8190 bytes'
}

@test "more than 64 header lines are 400, 60 are accepted" {
    raw 'GET /v2/health HTTP/1.1' "$(printf 'X-%s: a\\r\\n' {1..70})"
    assert_apache_error 400 VALIDATION_ERROR '64 header lines'
    raw 'GET /v2/health HTTP/1.1' "$(printf 'X-%s: a\\r\\n' {1..60})"
    assert_success
}

@test "two Content-Lengths, a signed one, and one of more than 64 bits are 400" {
    raw 'POST /v2/me HTTP/1.1' 'Content-Length: 1\r\nContent-Length: 2\r\n' x
    assert_apache_error 400 VALIDATION_ERROR
    raw 'POST /v2/me HTTP/1.1' 'Content-Length: +1\r\n' x
    assert_apache_error 400 VALIDATION_ERROR
    raw 'POST /v2/me HTTP/1.1' 'Content-Length: 99999999999999999999\r\n' x
    assert_apache_error 400 VALIDATION_ERROR
}

@test "an unknown transfer coding and a malformed chunk are 400" {
    raw 'POST /v2/me HTTP/1.1' 'Transfer-Encoding: rot13\r\n' x
    assert_apache_error 400 VALIDATION_ERROR
    raw 'POST /v2/me HTTP/1.1' 'Transfer-Encoding: chunked\r\n' 'zz\r\n'
    assert_apache_error 400 VALIDATION_ERROR
}

@test "an encoded slash in the path is 404" {
    request GET /v2/templates/a%2Fb
    assert_apache_error 404 NOT_FOUND %2F
    assert_header X-Request-Id
}

@test "a NUL in the path is 404" {
    request GET /v2/templates/a%00b
    assert_apache_error 404 NOT_FOUND %00
}

@test "an unknown path is 404, with a token and without (spec 7)" {
    local path
    for path in /v2 /v2/ /v2/unknown /v2/healthy /V2/health /nothing /platform /v2/health/x \
        /cgi-bin/health '/%0d%0aX-A:%20b' /v2/%ff%fe '/v2/me;x' '/...' /index.html; do
        request GET "$path"
        assert_error 404 NOT_FOUND
        api GET "$path"
        assert_error 404 NOT_FOUND
    done
}

# bats test_tags=long
@test "TRACE is 405 with one Allow header, whatever the request contains" {
    local path more
    for path in /v2/health /v2/media/upload /nothing /; do
        for more in '' 'X-Request-Id: traced\r\n' 'Accept: text/html\r\nMax-Forwards: 0\r\n' 'Content-Length: 0\r\n'; do
            raw "TRACE $path HTTP/1.1" "$more"
            assert_apache_error 405 NOT_FOUND Allow
            assert_header Allow "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
            assert_equal "$(grep -ci '^Allow:' "$headers")" 1
            [[ $more != X-Request-Id* ]] || assert_header X-Request-Id traced
        done
    done
    assert_named_in_access_log "$STACK/apache/switchboard_access.log"
}

@test "request headers cannot make GET / answer as the error document of TRACE" {
    request GET / -H 'Redirect-Status: 405' -H 'REDIRECT_STATUS: 405'
    assert_status 200
}

@test "CONNECT is 400 and opens no connection, for every form of its target" {
    local target
    for target in other.example:443 127.0.0.1:22 '[::1]:22' http://other.example/ /v2/me '*' other.example; do
        raw "CONNECT $target HTTP/1.1" "X-API-Token: $TOKEN\r\nX-Request-Id: connected\r\n"
        assert_apache_error 400 VALIDATION_ERROR
        refute_header Allow
        # for any other form of target Apache does not read the headers
        [[ $target != *:[0-9]* ]] || assert_header X-Request-Id connected
    done
    raw 'CONNECT other.example:443 HTTP/1.1'
    assert_apache_error 400 VALIDATION_ERROR
}

# Answers that Apache makes itself, one for each cause: the status, a name, and the request line,
# headers (with %s where X-Request-Id goes) and body.
apache_answers() {
    cat <<'END'
400 no-host GET /v2/health HTTP/1.1\r\n%s\r\n
400 bad-escape GET /v2/%%zz HTTP/1.1\r\nHost: x\r\n%s\r\n
400 two-lengths POST /v2/me HTTP/1.1\r\nHost: x\r\n%sContent-Length: 1\r\nContent-Length: 2\r\n\r\nx
400 bad-chunk POST /v2/messages/send/text HTTP/1.1\r\nHost: x\r\n%sTransfer-Encoding: chunked\r\n\r\nzz\r\n
404 encoded-slash GET /v2/a%%2Fb HTTP/1.1\r\nHost: x\r\n%s\r\n
405 trace TRACE /v2/health HTTP/1.1\r\nHost: x\r\n%s\r\n
413 too-large POST /v2/messages/send/text HTTP/1.1\r\nHost: x\r\n%sContent-Length: 3000000\r\n\r\n
413 too-large-media POST /v2/media/upload HTTP/1.1\r\nHost: x\r\n%sContent-Length: 110000000\r\n\r\n
417 expectation POST /v2/me HTTP/1.1\r\nHost: x\r\n%sExpect: miracles\r\nContent-Length: 1\r\n\r\nx
END
}

# Sends each of these requests, or the named ones, with a header; calls the function after each.
each_apache_answer() { # HEADER FUNCTION [NAME...]
    local wanted name text
    while read -r wanted name text; do
        [[ -z ${3-} || " ${*:3} " == *" $name "* ]] || continue
        # shellcheck disable=SC2059  # the text is a format
        raw_request "$(printf "${text//\\/\\\\}" "Connection: close\\r\\n$1")"
        printf 'case: %s %s\n' "$name" "$1"
        assert_status "$wanted"
        "$2"
    done < <(apache_answers)
}

named_as_asked() {
    assert_header X-Request-Id asked-1.A_z
    assert_named_in_access_log "$STACK/apache/switchboard_access.log"
}

@test "an answer that Apache makes itself has the caller's X-Request-Id if it is valid" {
    each_apache_answer 'X-Request-Id: asked-1.A_z\r\n' named_as_asked
}

named_otherwise() {
    [[ $(header X-Request-Id) =~ ^[A-Za-z0-9._@-]{1,64}$ ]] || fail_answer 'expected an X-Request-Id'
    [[ $(header X-Request-Id) != *evil* ]] || fail_answer 'the answer has an invalid id'
    ! grep -q evil "$headers" "$body" || fail_answer 'the answer has an invalid id'
    assert_named_in_access_log "$STACK/apache/switchboard_access.log"
}

# bats test_tags=long
@test "an invalid X-Request-Id appears in no answer of Apache and in no log" {
    local id
    for id in 'evil 1' 'evil"1' 'evil,1' 'evil/1' 'evil] [x' 'evil%%0d%%0aX-Injected: 1' 'evil$1' "evil$(repeat a 61)" \
        'evil\xc3\xa9' 'evil\r\nX-Request-Id: 2' 'evil\r\n X-Injected: 1'; do
        each_apache_answer "X-Request-Id: $id\\r\\n" named_otherwise too-large trace
    done
    each_apache_answer 'X-Request-Id: evil 1\r\n' named_otherwise
    stand_in /v2/me -H 'X-Request-Id: evil"] [1'
    assert_error 500 INTERNAL_ERROR "(X-Request-Id: $(header X-Request-Id))"
    ! grep -q evil "$headers" "$body" || fail_answer 'the answer has an invalid id'
    ! grep -rF evil "$STACK/apache/error.log" "$STACK/apache/switchboard_access.log" "$LOG" "$BATS_FILE_TMPDIR/stand-ins/apache" ||
        fail 'an invalid id is in a log'
}

@test "a program's failure is reported with the caller's X-Request-Id in header, message, access log and error log" {
    local path
    for path in /v2/health /v2/me /v2/messages/x /v2/forms; do
        stand_in "$path" -H "X-Request-Id: client${path//\//-}"
        assert_error 500 INTERNAL_ERROR "(X-Request-Id: client${path//\//-})"
        assert_header X-Request-Id "client${path//\//-}"
        assert_named_in_access_log "$BATS_FILE_TMPDIR/stand-ins/apache/switchboard_access.log"
        eventually grep -qF "[client${path//\//-}]" "$BATS_FILE_TMPDIR/stand-ins/apache/error.log"
    done
}

@test "an unknown method reaches the program and is 404 with Allow" {
    raw 'FOO /v2/health HTTP/1.1'
    assert_error 404 NOT_FOUND
    assert_header Allow
}

@test "HEAD has the headers of GET and no body" {
    raw 'HEAD /v2/health HTTP/1.1'
    assert_status 200
    assert_header Content-Length 35
    assert_body_is ''
    raw 'HEAD /v2/a%2Fb HTTP/1.1'
    assert_status 404
    assert_body_is ''
}

@test "a path longer than 2048 bytes is 414, also in the platform's shape, and a file name longer than 255 is 404" {
    local path
    api GET "/v2/threads/$(repeat a $((2048 - 12)))"
    assert_error 404 NOT_FOUND
    for path in /v2/threads/$(repeat a $((2049 - 12))) "/$(repeat a 4090)" "/v2/me/$(repeat a 8000)" \
        "/dashboard/$(repeat a 2100)" "/%0a$(repeat a 2100)"; do
        request GET "$path"
        assert_apache_error 414 VALIDATION_ERROR '2048 bytes'
    done
    request GET "/v21.0/$(repeat a 5000)"
    assert_status 414
    assert_that '.error | .code == 100 and .type == "OAuthException" and (.message | contains("2048 bytes"))'
    for path in /dashboard /v2/docs /dashboard/js /v2/docs/%0a; do
        request GET "$path/$(repeat a 300)"
        assert_apache_error 404 NOT_FOUND
    done
}

@test "a URL longer than 8190 bytes is 414" {
    raw "GET /v2/$(repeat a 9000) HTTP/1.1"
    assert_apache_error 414 VALIDATION_ERROR '8190 bytes'
}

@test "an expectation other than 100-continue is 417" {
    raw 'POST /v2/me HTTP/1.1' 'Expect: miracles\r\nContent-Length: 1\r\n' x
    assert_apache_error 417 VALIDATION_ERROR Expect
}

@test "3 MB for a JSON route are 413, with Content-Length or chunked" {
    head -c 3000000 /dev/zero >"$BATS_TEST_TMPDIR/big"
    request POST /v2/messages/send/text -d "@$BATS_TEST_TMPDIR/big"
    assert_apache_error 413 VALIDATION_ERROR '2 MB'
    request POST /v2/messages/send/text -d "@$BATS_TEST_TMPDIR/big" -H 'Transfer-Encoding: chunked'
    assert_apache_error 413 VALIDATION_ERROR '2 MB'
}

@test "a Content-Length over the limit is 413 before the body is sent" {
    raw 'POST /v2/messages/send/text HTTP/1.1' 'Content-Length: 3000000\r\n'
    assert_apache_error 413 VALIDATION_ERROR
    raw 'POST /v2/media/upload HTTP/1.1' 'Content-Length: 110000000\r\n'
    assert_apache_error 413 VALIDATION_ERROR '100 MB'
    raw 'POST /platform/webhook HTTP/1.1' 'Content-Length: 4300000\r\n'
    assert_apache_error 413 VALIDATION_ERROR
    # 2^32 + 1, which is 1 in 32 bits
    raw 'POST /v2/messages/send/text HTTP/1.1' 'Content-Length: 4294967297\r\n'
    assert_apache_error 413 VALIDATION_ERROR
}

@test "Authorization and X-API-Token reach the program (spec 5)" {
    request GET /v2/me --as "$TOKEN"
    assert_success
    request GET /v2/me -H "X-API-Token: $TOKEN"
    assert_success
    request GET /v2/me
    assert_error 401 UNAUTHORIZED 'Missing API token'
}

@test "a header named X_API_Token is not taken for X-API-Token" {
    request GET /v2/me -H "X_API_Token: $TOKEN"
    assert_error 401 UNAUTHORIZED 'Missing API token'
}

@test "a query without = becomes arguments of a CGI, which the programs ignore" {
    local query
    stand_in '/?--help+-x%20y'
    assert_body_is '--help;-x y;'
    for query in --help --version -h --config+/etc/passwd --selftest init; do
        request GET "/v2/health?$query"
        assert_body_is '{"success":true,"data":{"ok":true}}'
        request GET "/v2/version?$query"
        assert_success
        request GET "/v2/me?$query"
        assert_error 401 UNAUTHORIZED
        request GET "/?format=json&$query"
        assert_success
    done
}

@test "dots and double slashes are resolved before the program sees the path" {
    request GET /v2/./health
    assert_success
    request GET //v2//health
    assert_success
    request GET /nothing/../v2/health
    assert_success
}

@test "the access log contains no query string and no token" {
    local log=$STACK/apache/switchboard_access.log
    request GET "/v2/health?hub.verify_token=seekritquery"
    request GET "/v2/a%2Fb?seekritquery=1"
    api GET "/v2/me?x=seekritquery" -H 'Referer: http://x/?seekritquery'
    eventually grep -q '"GET /v2/health HTTP/1.1" 200 ' "$log"
    eventually grep -q '"GET /v2/me HTTP/1.1" 200 ' "$log"
    if grep -h -e seekritquery -e "$TOKEN" "$log" "$STACK/apache/error.log"; then
        fail "a secret is in a log"
    fi
}

# The end of each run searches all logs for the token too (tests/leaks).
# bats test_tags=long
@test "no log contains the query of a request that Apache refuses, whatever its target" {
    local query="access_token=$TOKEN" target log number=0 long
    long=$(repeat x 5000)
    for target in "GET /v21.0/%zz?$query" "GET /v2/%?$query" "GET /../x?$query" "GET /%2e%2e/x?$query" \
        "GET /v2/%00?$query" "GET /a%2fb?$query" "GET /$long?$query" "GET /v2/me?$query&x=$long$long" \
        "CONNECT /v21.0/me?$query" "CONNECT http://x/v21.0/me?$query" "CONNECT x:80?$query" \
        "GET http://x:bad/v21.0/me?$query" "POST http://[::1/v2/me?$query" "GET ://x?$query" \
        "GET http://x/v21.0/%zz?$query" "OPTIONS *?$query" "TRACE /v2/me?$query" "FOO /v2/docs/?$query" \
        "PUT /dashboard/?$query" "GET /v2/me%3F$query" "GET /v21.0/me%3F$query" "GET /v2/x%3F$query"; do
        raw "$target HTTP/1.1" 'X-Request-Id: refused\r\n'
        ((status >= 400)) || [[ $target == OPTIONS* ]] || fail_answer "accepted: $target"
        number=$((number + 1))
    done
    raw_request "GET /v2/me?$query\r\n\r\n"
    request GET /v2/health -H 'X-Request-Id: after-the-refused'
    log=$STACK/apache/switchboard_access.log
    eventually grep -q after-the-refused "$log"
    grep -q '"CONNECT - HTTP/1.1" 400 ' "$log"
    grep -q '"GET - HTTP/1.1" 400 ' "$log"
    if grep -h "$TOKEN" "$log" "$STACK/apache/error.log" "$STACK/switchboard.log"; then
        fail "a token is in a log"
    fi
    assert_equal "$number" 22
}

@test "programs that Apache cannot reach are 403 with what to do, and the error log names them" {
    local dir=$BATS_FILE_TMPDIR/stand-ins
    mv "$dir/cgi-bin" "$dir/away"
    mkdir -m 000 "$dir/cgi-bin"
    stand_in "/v2/health?$TOKEN"
    rmdir "$dir/cgi-bin"
    mv "$dir/away" "$dir/cgi-bin"
    assert_apache_error 403 FORBIDDEN 'Its error log names the reason: a rule of the firewall'
    grep -qF "core:error" "$dir/apache/error.log"
}

@test "answers reveal only the name of the server" {
    request GET /v2/health
    assert_header Server Apache
    request GET /v2/a%2Fb
    assert_header Server Apache
}

@test "a truncated body never reaches a handler" {
    local socket
    exec {socket}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
    printf 'POST /v2/messages/send/text HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n' "$TOKEN" >&"$socket"
    printf 'Content-Type: application/json\r\nContent-Length: 500\r\n\r\n' >&"$socket"
    printf '{"phoneNumberId":"%s","to":"+15551230000","text":"hi"}' "$LINE" >&"$socket"
    exec {socket}>&-
    request GET /v2/health
    sleep 0.5
    assert_nothing_sent
}

# --- ambiguous and malformed HTTP (RFC 9110, 9112) ---

# Prints the number of answers on the connection of the last raw_request.
answer_count() {
    grep -ac '^HTTP/1\.[01] [0-9]' "$BATS_TEST_TMPDIR/answer"
}

# Each line is the text after the request line and Host. The request must be 400, or the server must
# close the connection.
# bats test_tags=long
@test "framing that two servers could interpret differently is 400, and a hidden request is not answered" {
    local head hidden='GET /v2/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    while IFS= read -r head; do
        printf 'case: %s\n' "$head"
        raw_request "POST /v2/me HTTP/1.1\r\nHost: x\r\n$head\r\n\r\n0\r\n\r\n$hidden"
        assert_apache_error 400 VALIDATION_ERROR
        assert_equal "$(answer_count)" 1
    done <<'END'
Content-Length: 5\r\nContent-Length: 5
Content-Length: 5\r\nContent-Length: 6
Content-Length: 5, 5
Content-Length: -5
Content-Length: +5
Content-Length: 0x5
Content-Length: 5 5
Content-Length: 5a
Content-Length:
Content-Length: 1e1
Content-Length: 18446744073709551621
Transfer-Encoding: identity
Transfer-Encoding: chunked, identity
Transfer-Encoding: xchunked
Transfer-Encoding: "chunked"
Transfer-Encoding: \x0bchunked
Transfer-Encoding : chunked
Transfer-Encoding\t: chunked
 Transfer-Encoding: chunked
Transfer-Encoding: chunked\r\nTransfer-Encoding: identity
Content-Length : 5
X-A: b\rTransfer-Encoding: chunked
X-A: b\0Transfer-Encoding: chunked
X-A: b\nTransfer-Encoding: chunked
X A: b
X-A\x01: b
: b
no colon
END
}

# Apache decodes the last coding, chunked, and passes the body on in the others (RFC 9112 6.1).
@test "a transfer coding beside chunked is 415, because no program decodes it" {
    local coding head chunk
    chunk="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    chunk="$(printf '%x' ${#chunk})\r\n$chunk"
    for coding in 'gzip, chunked' 'chunked, chunked' 'identity, chunked' 'x-new;a=b, chunked'; do
        for head in 'messages/send/text HTTP/1.1\r\nContent-Type: application/json' \
            "media/upload HTTP/1.1\r\nContent-Type: image/png\r\nX-Phone-Number-Id: $LINE"; do
            printf 'case: %s %s\n' "$coding" "$head"
            raw_request "POST /v2/$head\r\nHost: x\r\nConnection: close\r\nX-API-Token: $TOKEN\r\nTransfer-Encoding: $coding\r\n\r\n$chunk\r\n0\r\n\r\n"
            [[ $status == 415 ]] || fail_answer 'expected 415'
            grep -aq 'Transfer-Encoding' "$BATS_TEST_TMPDIR/answer" || fail_answer 'expected the reason in the message'
        done
    done
    assert_equal "$(sent_count)" 0
}

@test "Content-Length has no effect beside Transfer-Encoding: chunked" {
    raw_request 'POST /v2/me HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v2/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    [[ $status == 404 || $status == 400 ]] || fail_answer 'expected that the first request is refused'
    # the answer to the next request follows, or the connection ends; there is no other output
    (($(answer_count) <= 2))
    ! grep -a -A 20 '^HTTP/1.1 ' "$BATS_TEST_TMPDIR/answer" | grep -aq 'HTTP/1.1 501' || fail_answer 'the remaining bytes were taken for a request'
}

# bats test_tags=long
@test "chunks with extensions and trailers make one body, malformed chunks are refused" {
    local text="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}" size chunked
    local head="POST /v2/messages/send/text HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Token: $TOKEN\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    size=$(printf '%x' ${#text})
    for chunked in "$size\r\n$text\r\n0\r\n\r\n" "$size;a=b;c=\"d;e\"\r\n$text\r\n0;x\r\n\r\n" "000$size\r\n$text\r\n000\r\n\r\n" \
        "${size^^}\r\n$text\r\n0\r\nX-API-Token: other\r\nContent-Length: 3\r\n\r\n"; do
        raw_request "$head\r\n$chunked"
        assert_success
    done
    assert_equal "$(sent_count)" 4
    # malformed before the text is complete
    for chunked in "${size}0\r\n${text%?}" "1\r\n$text\r\n0\r\n\r\n" "-1\r\n$text\r\n0\r\n\r\n" "0x$size\r\n$text\r\n0\r\n\r\n" \
        "$size $text" "\r\n$size\r\n$text\r\n0\r\n\r\n" "ffffffffffffffff\r\n$text\r\n0\r\n\r\n" \
        "10000000000000000$size\r\n$text\r\n0\r\n\r\n" "+$size\r\n$text\r\n0\r\n\r\n" "0\r\n\r\n$text"; do
        half_closed_request "$head\r\n$chunked"
        [[ $status == 4* ]] || fail_answer "expected that this is refused: $chunked"
    done
    assert_equal "$(sent_count)" 4
    # malformed after it: the program may have processed the complete text, but the answer is an error
    for chunked in "$size\r\n$text" "${size}0\r\n$text" "$size\r\n$text\r\n0\r\n" "$size\r\n${text}x\r\n0\r\n\r\n"; do
        half_closed_request "$head\r\n$chunked"
        [[ $status == 400 ]] || fail_answer "expected that this is refused: $chunked"
    done
    (($(sent_count) <= 7))
}

# Like raw_request, but the client shuts down its sending side after the request.
half_closed_request() {
    answer_dir=$BATS_TEST_TMPDIR
    headers=$answer_dir/headers body=$answer_dir/body
    printf '%b' "$1" >"$answer_dir/half"
    timeout 600 node -e '
        const [, port, file] = process.argv;
        const socket = require("net").connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
        socket.on("data", (bytes) => process.stdout.write(bytes)).on("error", () => {});
        socket.end(require("fs").readFileSync(file));
    ' "$(base_port "$BASE")" "$answer_dir/half" >"$answer_dir/answer" || true
    status=$(head -n 1 "$answer_dir/answer" | cut -d ' ' -f 2 | tr -d '\r')
    tr -d '\r' <"$answer_dir/answer" | sed '1d;/^$/,$d' >"$headers"
    tr -d '\r' <"$answer_dir/answer" | sed '1,/^$/d' >"$body"
}

# bats test_tags=long
@test "a client that shuts down its sending side after the request gets its answer" {
    half_closed_request "GET /v2/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Token: $TOKEN\r\n\r\n"
    assert_status 200
    half_closed_request "POST /v2/messages/send/text HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Token: $TOKEN\r\nContent-Length: 500\r\nContent-Type: application/json\r\n\r\n{"
    assert_status 400
    assert_nothing_sent
}

@test "a folded header is one line, and no part of it is in an answer" {
    raw 'GET /v2/health HTTP/1.1' 'X-Request-Id: abc\r\n def\r\nX-Other: 1\r\n'
    [[ $status == 200 || $status == 400 ]]
    [[ $(header X-Request-Id) != *def* && $(header X-Request-Id) != *' '* ]] || fail_answer 'the answer has a folded id'
    raw 'GET /v2/health HTTP/1.1' 'X-Request-Id:\r\n\tabc\r\n'
    [[ $status == 200 || $status == 400 ]]
}

@test "a line break in a path or a query adds no header and no log line" {
    local path lines log=$LOG
    for path in '/v2/%0d%0aX-Injected:%20yes' '/v2/templates/a%0d%0aX-Injected:%20yes' '/v2/media/1%0aX-Injected:yes/download' \
        '/v2/templates?search=%0d%0aX-Injected:%20yes' '/v2/media/5/download?disposition=%0d%0aX-Injected:%20yes' \
        '/platform/webhook?hub.mode=subscribe&hub.verify_token=test-verify-token&hub.challenge=%0d%0aX-Injected:%20yes'; do
        lines=$(wc -l <"$log")
        api GET "$path"
        refute_header X-Injected
        log_of_request | gojq -e .request_id >/dev/null
        assert_equal "$(tail -n +$((lines + 1)) "$log" | grep -vc '^{.*}$')" 0
    done
    jq -e . "$log" >/dev/null
    ! grep -q '^X-Injected' "$STACK/apache/error.log" "$STACK/apache/switchboard_access.log" || fail 'a log line was split'
}

@test "the target's host does not choose the route, and no HTTP version but 1.0 and 1.1 runs a program" {
    raw 'GET http://other.example/v2/health HTTP/1.1'
    assert_body_is '{"success":true,"data":{"ok":true}}'
    raw 'GET http://other.example/v2/me HTTP/1.1' "X-API-Token: $TOKEN\r\n"
    assert_status 200
    raw_request 'GET /v2/health HTTP/1.0\r\n\r\n'
    assert_status 200
    for version in HTTP/1.10 HTTP/11 HTTP/1 HTTP/ http/1.1 'HTTP/1.1 x' HTTPS/1.1 HTTP/0.9 ICY/1.1; do
        raw "GET /v2/health $version"
        printf 'case: %s: %s\n' "$version" "$status"
        [[ $status == 400 || $status == 505 || -z $status ]] || fail_answer "expected $version to be refused"
    done
    raw_request 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
    [[ $status == 4* || $status == 5* || -z $status ]] || fail_answer 'expected HTTP/2 to be refused'
    raw 'OPTIONS * HTTP/1.1'
    [[ $status == 200 || $status == 204 || $status == 4* ]]
}

@test "Expect: 100-continue gets 100, or the final answer if the body is too large" {
    local text="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    printf '%s' "$text" >"$BATS_TEST_TMPDIR/text"
    status=$(curl -s -o "$BATS_TEST_TMPDIR/out" -D "$BATS_TEST_TMPDIR/heads" -w '%{http_code}' -H 'Expect: 100-continue' \
        -H "X-API-Token: $TOKEN" -H 'Content-Type: application/json' --data-binary "@$BATS_TEST_TMPDIR/text" "$BASE/v2/messages/send/text")
    assert_equal "$status" 200
    grep -q '^HTTP/1.1 100 ' "$BATS_TEST_TMPDIR/heads"
    raw_request "POST /v2/messages/send/text HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\nConnection: close\r\n\r\n"
    assert_apache_error 413 VALIDATION_ERROR
}

# bats test_tags=long
@test "200 uploads of 10 MB with a wrong token get 200 complete answers of 401" {
    local count config=$BATS_TEST_TMPDIR/curl.conf answers=$BATS_TEST_TMPDIR/answers
    mkdir "$answers"
    truncate -s 10M "$BATS_TEST_TMPDIR/body"
    for ((count = 0; count < 200; count++)); do
        ((count == 0)) || printf 'next\n'
        printf 'url = "%s/v2/media/upload"\nupload-file = "%s"\noutput = "%s"\n' "$BASE" "$BATS_TEST_TMPDIR/body" "$answers/$count"
        printf 'request = POST\nheader = "Authorization: Bearer wrong"\nheader = "Expect:"\n'
        printf 'header = "Content-Type: image/jpeg"\nmax-time = 600\nwrite-out = "%%{http_code}\\n"\n'
    done >"$config"
    timeout 1800 curl -s --no-progress-meter --parallel --parallel-max 8 -K "$config" >"$BATS_TEST_TMPDIR/codes"
    assert_equal "$(sort "$BATS_TEST_TMPDIR/codes" | uniq -c | sed 's/^ *//')" '200 401'
    assert_equal "$(cat "$answers"/* | jq -c '[.success, .error]' | sort | uniq -c | sed 's/^ *//')" '200 [false,"UNAUTHORIZED"]'
}

# bats test_tags=long
@test "each of hundreds of bodies of 5 bytes to 1 MB with a wrong token gets a complete answer of 401" {
    local all=${TEST_FULL:+2000}
    all=${all:-600}
    local size count=0 config=$BATS_TEST_TMPDIR/curl.conf answers=$BATS_TEST_TMPDIR/answers
    local sizes=(5 70 1000 5000 20000 70000 200000 1000000)
    mkdir "$answers"
    for size in "${sizes[@]}"; do
        head -c "$size" /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/$size"
    done
    for ((count = 0; count < all; count++)); do
        size=${sizes[count % ${#sizes[@]}]}
        ((count == 0)) || printf 'next\n'
        printf 'url = "%s/v2/messages/send/text"\nupload-file = "%s"\noutput = "%s"\n' "$BASE" \
            "$BATS_TEST_TMPDIR/$size" "$answers/$count"
        printf 'request = POST\nheader = "Authorization: Bearer wrong"\nheader = "Expect:"\n'
        printf 'header = "Content-Type: application/json"\nmax-time = 600\nwrite-out = "%%{http_code}\\n"\n'
    done >"$config"
    timeout 1800 curl -s --no-progress-meter --parallel --parallel-max 16 -K "$config" >"$BATS_TEST_TMPDIR/codes"
    assert_equal "$(sort "$BATS_TEST_TMPDIR/codes" | uniq -c | sed 's/^ *//')" "$all 401"
    assert_equal "$(find "$answers" -type f | wc -l)" "$all"
    assert_equal "$(cat "$answers"/* | jq -c '[.success, .error]' | sort | uniq -c | sed 's/^ *//')" \
        "$all [false,\"UNAUTHORIZED\"]"
}

@test "a program that crashes is 500" {
    stand_in /v2/health
    assert_apache_error 500 INTERNAL_ERROR 'X-Request-Id'
    stand_in /v2/templates
    assert_apache_error 500 INTERNAL_ERROR
}

@test "a program that ends without an answer is 500" {
    stand_in /v2/me
    assert_apache_error 500 INTERNAL_ERROR
}

@test "a program whose answer has no header is 500" {
    stand_in /v2/messages/x
    assert_apache_error 500 INTERNAL_ERROR
}

@test "a program that cannot be started is 500, a missing one is 404" {
    stand_in /v2/forms
    assert_apache_error 500 INTERNAL_ERROR
    stand_in /v2/webhooks
    assert_apache_error 404 NOT_FOUND
}

@test "the error log has the X-Request-Id of the answer to a failed request" {
    stand_in /v2/health
    grep -qF "[$(header X-Request-Id)]" "$BATS_FILE_TMPDIR/stand-ins/apache/error.log"
}

@test "the answer, the message of a 5xx and the access log have the same X-Request-Id" {
    local log=$BATS_FILE_TMPDIR/stand-ins/apache/switchboard_access.log
    stand_in /v2/me
    assert_error 500 INTERNAL_ERROR "(X-Request-Id: $(header X-Request-Id))"
    assert_named_in_access_log "$log"
    request GET /v2/health -H 'X-Request-Id: of-the-client'
    assert_header X-Request-Id of-the-client
    eventually grep -qF ' of-the-client "' "$STACK/apache/switchboard_access.log"
    request GET /v2/a%2Fb
    assert_status 404
    assert_named_in_access_log "$STACK/apache/switchboard_access.log"
}

@test "apache.conf can be included in several virtual hosts, and a Define is for one of them" {
    local dir=$BATS_TEST_TMPDIR module pools
    {
        printf 'ServerRoot "%s"\nPidFile "%s/pid"\nListen 127.0.0.1:1\nErrorLog "%s/log"\n' "$dir" "$dir" "$dir"
        for module in mpm_event authz_core alias buffer cgid env headers info proxy proxy_fcgi \
            reqtimeout setenvif unique_id; do
            printf 'LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n' "$module" "$module"
        done
        printf 'ServerName x\nDefine SWITCHBOARD_LOG %s\nDefine SWITCHBOARD_FCGI\n' "$dir"
        printf '<VirtualHost *>\nServerName a\nDefine SWITCHBOARD_HOME %s\nInclude %s/apache.conf\n</VirtualHost>\n' "$root" "$root"
        printf 'Define SWITCHBOARD_LOG %s\n' "$dir"
        printf '<VirtualHost *>\nServerName b\nDefine SWITCHBOARD_HOME %s/other\nInclude %s/apache.conf\n</VirtualHost>\n' "$dir" "$root"
    } >"$dir/httpd.conf"
    run /usr/sbin/apache2 -f "$dir/httpd.conf" -t -D DUMP_CONFIG
    assert_equal "$status" 0
    grep -qF "<Directory \"$root/cgi-bin\">" <<<"$output"
    grep -qF "<Directory \"$dir/other/cgi-bin\">" <<<"$output"
    grep -qF 'SWITCHBOARD_CONFIG "/etc/switchboard/switchboard.conf"' <<<"$output"
    # FastCGI is for the first of them
    pools=$(pooled_in "$root/apache.conf" | wc -l)
    ((pools > 8))
    assert_equal "$(grep -c 'SetHandler "proxy:unix:' <<<"$output")" "$pools"
    grep -qF 'SetHandler "proxy:unix:/run/switchboard/me.sock|fcgi://me/"' \
        <<<"${output%%"$dir/other/cgi-bin"*}"
}

@test "a body that stops arriving is 408 after 20 seconds" {
    slow_answer body
    assert_apache_error 408 VALIDATION_ERROR slowly
    slow_answer chunk
    assert_apache_error 408 VALIDATION_ERROR slowly
    slow_answer refused
    assert_apache_error 408 VALIDATION_ERROR slowly
    assert_took 20000 40000 'POST /v2/me' 408
}

@test "headers that stop arriving are 408" {
    slow_answer header
    assert_apache_error 408 VALIDATION_ERROR slowly
}

# bats test_tags=long
@test "a program that does not answer is 504 after 60 seconds, and is ended" {
    slow_answer hang
    assert_apache_error 504 INTERNAL_ERROR 'not known'
    assert_took 60000 90000 'GET /v2/version' 504 "$BATS_FILE_TMPDIR/stand-ins/apache"
}

# bats test_tags=long
@test "doctor --url: requests of each kind arrive, with a body of 14 MB" {
    run switchboard doctor --json --url "$BASE"
    assert_equal "$(jq -r '.[] | select(.check == "front") | "\(.status): \(.detail)"' \
        <<<"$output")" \
        'ok: requests of each kind arrive: webhooks, texts, PATCH, DELETE, files, 14 MB'
}
