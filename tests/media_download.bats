#!/usr/bin/env bats
# GET /v2/media/:mediaId/download (spec 4.6): the choice of account, the stream, the hosts that get the token.
# shellcheck disable=SC2153  # helpers/media sets ACCOUNT and others
load helpers/all
load helpers/conventions
load helpers/media
load helpers/memory

# --- GET /v2/media/:mediaId/download ---

# Creates media of the first account upstream and prints the id: have_media [MEMBERS]
have_media() {
    sandbox POST media "{\"wabaId\":\"$WABA\"${1:+,$1}}" | gojq -r .id
}

# Downloads into $body: download ID [QUERY [option of request...]]
download() {
    api GET "/v2/media/$1/download${2:+?$2}" "${@:3}"
}

# The answer is 200 with the platform's bytes.
assert_content() { # ID
    assert_status 200
    sandbox GET "media/$1/content" >"$BATS_TEST_TMPDIR/content"
    assert_body_is "@$BATS_TEST_TMPDIR/content"
    assert_header Content-Length "$(stat -c %s "$BATS_TEST_TMPDIR/content")"
}

# The tokens of the calls for the media below the version, in order.
asked() {
    sandbox GET requests | gojq -r '.[] | select(.path | startswith("/v")) | .headers.authorization' |
        sed 's/^Bearer //'
}

DOWNLOAD='"match":{"path":"whatsapp_business"}' # matches the request to the media URL, for faults

# bats test_tags=route
@test "a download returns the platform's bytes with type, length and disposition (spec 4.6)" {
    local id
    id=$(have_media '"mimeType":"image/png","size":70000,"seed":7')
    download "$id"
    assert_content "$id"
    assert_conventions
    assert_header Content-Type image/png
    assert_header Content-Disposition "inline; filename=\"$id.png\"; filename*=UTF-8''$id.png"
    assert_header Content-Security-Policy "sandbox; default-src 'none'"
    refute_header Content-Range
}

@test "disposition is inline or attachment, and nothing else (spec 4.6)" {
    local id
    id=$(have_media '"mimeType":"application/x-unknown","size":5')
    download "$id" disposition=inline
    assert_header Content-Disposition "inline; filename=\"$id\"; filename*=UTF-8''$id"
    download "$id" disposition=attachment
    assert_content "$id"
    assert_header Content-Disposition "attachment; filename=\"$id\"; filename*=UTF-8''$id"
    forget_sent
    download "$id" disposition=download
    assert_error 400 VALIDATION_ERROR 'inline or attachment'
    assert_issue disposition
    assert_nothing_sent
}

@test "the request upstream has token and User-Agent, and the id unchanged" {
    local id
    id=$(have_media '"size":5')
    download "$id"
    assert_content "$id"
    assert_equal "$(sandbox GET requests | gojq -r '.[].path' | head -n 1)" "/v26.0/$id"
    assert_equal "$(sent_count)" 2
    assert_equal "$(token_sent)" "Bearer $FIRST_TOKEN"
    [[ $(sandbox GET requests/last | gojq -r '.headers["user-agent"]') == switchboard/* ]]
}

# bats test_tags=direct
@test "without a selector the default account is tried first, then the others" {
    local id
    id=$(WABA=$SECOND_WABA have_media '"size":5')
    download "$id"
    assert_content "$id"
    assert_equal "$(asked)" "$FIRST_TOKEN"$'\n'"$SECOND_TOKEN"
    assert_equal "$(token_sent)" "Bearer $SECOND_TOKEN"
}

# bats test_tags=direct
@test "an account without a token is skipped" {
    local id
    make_account ''
    switchboard account token "$ACCOUNT" </dev/null >/dev/null
    id=$(WABA=$SECOND_WABA have_media '"size":5')
    download "$id"
    assert_content "$id"
    assert_equal "$(asked)" "$FIRST_TOKEN"$'\n'"$SECOND_TOKEN"
    download "$id" "accountId=$ACCOUNT"
    assert_error 404 NOT_FOUND 'access token'
}

# bats test_tags=direct
@test "phoneNumberId and accountId select the one account that is tried" {
    local id
    id=$(WABA=$SECOND_WABA have_media '"size":5')
    download "$id" "phoneNumberId=$SECOND_LINE"
    assert_content "$id"
    assert_equal "$(asked)" "$SECOND_TOKEN"
    forget_sent
    download "$id" "accountId=$SECOND_ACCOUNT"
    assert_content "$id"
    assert_equal "$(asked)" "$SECOND_TOKEN"
    forget_sent
    download "$id" "accountId=$FIRST_ACCOUNT"
    assert_error 404 NOT_FOUND 'Media URL not found'
    assert_equal "$(asked)" "$FIRST_TOKEN"
}

# bats test_tags=direct
@test "a selector of another user is 403, two that contradict each other are 400; nothing is sent" {
    local query
    for query in "phoneNumberId=$OTHER_LINE" "accountId=$OTHER_ACCOUNT" phoneNumberId=1 accountId=1; do
        download 1100000000000001 "$query"
        assert_error 403 FORBIDDEN "${query%%=*}"
    done
    download 1100000000000001 "accountId=$FIRST_ACCOUNT&phoneNumberId=$OTHER_LINE"
    assert_error 403 FORBIDDEN phoneNumberId
    download 1100000000000001 "accountId=$FIRST_ACCOUNT&phoneNumberId=$SECOND_LINE"
    assert_error 400 VALIDATION_ERROR accountId
    download 1100000000000001 accountId=
    assert_error 400 VALIDATION_ERROR accountId
    assert_nothing_sent
}

# bats test_tags=direct
@test "media that no account has is 404 Media URL not found" {
    download 999
    assert_error 404 NOT_FOUND 'Media URL not found'
    assert_equal "$(asked)" "$FIRST_TOKEN"$'\n'"$SECOND_TOKEN"
    fault '{"status":404,"times":2}'
    download 998
    assert_error 404 NOT_FOUND 'Media URL not found'
    fault '{"status":200,"body":"{\"id\":\"997\"}","times":2}'
    download 997
    assert_error 404 NOT_FOUND 'Media URL not found'
}

# bats test_tags=direct
@test "after any 4xx the next account is tried" {
    local id status_sent
    id=$(WABA=$SECOND_WABA have_media '"size":5')
    for status_sent in 400 401 403 404 429; do
        fault "{\"status\":$status_sent,\"code\":190,\"match\":{\"token\":\"$FIRST_TOKEN\"}}"
        download "$id"
        assert_content "$id"
    done
}

# bats test_tags=direct
@test "if no account has the media, the first error other than not found is the answer" {
    fault "{\"status\":403,\"code\":10,\"message\":\"No permission\",\"match\":{\"token\":\"$SECOND_TOKEN\"}}"
    download 999
    assert_error 403 FORBIDDEN 'No permission'
    assert_json .details.error.code 10
    fault "{\"status\":401,\"code\":190,\"message\":\"Expired\",\"match\":{\"token\":\"$FIRST_TOKEN\"}}"
    fault "{\"status\":403,\"code\":10,\"message\":\"No permission\",\"match\":{\"token\":\"$SECOND_TOKEN\"}}"
    download 999
    assert_error 401 UNAUTHORIZED Expired
    fault '{"status":400,"code":100,"message":"Another problem"}'
    download 999
    assert_error 400 VALIDATION_ERROR 'Another problem'
    assert_json .details.error.code 100
}

# bats test_tags=direct
@test "a 5xx or transport failure of the platform is 502, and no other account is tried" {
    fault '{"status":500,"code":2,"message":"Try later"}'
    download 999
    assert_error 502 INTERNAL_ERROR 'Try later'
    assert_json .details.error.code 2
    fault '{"kind":"reset"}'
    download 999
    assert_error 502 INTERNAL_ERROR
    fault '{"kind":"garbage"}'
    download 999
    assert_error 502 INTERNAL_ERROR
    assert_equal "$(asked)" "$(printf '%s\n' "$FIRST_TOKEN" "$FIRST_TOKEN" "$FIRST_TOKEN")"
}

@test "an id of other characters than letters, digits, - and _ is 404 before any call" {
    local id
    for id in 1%2e2 1%0d%0a 1%20 %c3%bc 1%3fx=y ..%5c.. "$(printf '1%.0s' {1..129})" 'a@b' 'a:b' "1'"; do
        printf 'case: %s\n' "$id"
        download "$id"
        assert_error 404 NOT_FOUND
    done
    api GET /v2/media//download
    assert_error 404 NOT_FOUND
    api GET /v2/media/1
    assert_error 404 NOT_FOUND
    assert_nothing_sent
}

# bats test_tags=route
@test "HEAD has the headers of GET and no body" {
    local id
    id=$(have_media '"size":3000000,"mimeType":"video/mp4"')
    api HEAD "/v2/media/$id/download"
    assert_status 200
    assert_header Content-Length 3000000
    assert_header Content-Type video/mp4
    assert_header Content-Disposition
    [[ ! -s $body ]]
}

# --- ranges ---

# bats test_tags=route
@test "a Range is passed through: 206 with Content-Range" {
    local id range wanted
    id=$(have_media '"size":100000,"seed":3')
    sandbox GET "media/$id/content" >"$BATS_TEST_TMPDIR/whole"
    while read -r range wanted; do
        download "$id" '' -H "Range: $range"
        assert_status 206
        assert_header Content-Range "bytes $wanted/100000"
        assert_header Content-Length $((${wanted#*-} - ${wanted%-*} + 1))
        head -c $((${wanted#*-} + 1)) "$BATS_TEST_TMPDIR/whole" | tail -c +$((${wanted%-*} + 1)) |
            cmp - "$body"
    done <<'END'
bytes=0-0 0-0
bytes=5-9 5-9
bytes=99990- 99990-99999
bytes=-10 99990-99999
bytes=10-90000 10-90000
bytes=0-99999999 0-99999
END
}

@test "a Range beyond the end is 416 with the length" {
    local id
    id=$(have_media '"size":10')
    download "$id" '' -H 'Range: bytes=10-'
    assert_error 416 VALIDATION_ERROR Range
    assert_header Content-Range 'bytes */10'
}

@test "an invalid Range, and one with If-Range, return the whole file" {
    local id range
    id=$(have_media '"size":10')
    for range in 'bytes=a-b' 'lines=1-2' 'bytes' "bytes=0-1$(printf ',0-1%.0s' {1..100})"; do
        download "$id" '' -H "Range: $range"
        assert_content "$id"
        assert_equal "$(sandbox GET requests/last | gojq '.headers.range')" null
    done
    download "$id" '' -H 'Range: bytes=0-1' -H 'If-Range: "x"'
    assert_content "$id"
}

# --- the media URL ---

@test "an expired URL is requested once more" {
    local id status_sent
    id=$(have_media '"size":5')
    for status_sent in 404 401; do
        forget_sent
        fault "{\"status\":$status_sent,$DOWNLOAD}"
        download "$id"
        assert_content "$id"
        assert_equal "$(sent_count)" 4
    done
    forget_sent
    fault "{\"status\":404,\"times\":2,$DOWNLOAD}"
    download "$id"
    assert_error 502 INTERNAL_ERROR 'Failed to download media'
    assert_equal "$(sent_count)" 4
}

@test "a download that the platform refuses or breaks off before its first bytes is 502" {
    local id fault
    id=$(have_media '"size":60000')
    for fault in '"status":403' '"status":500' '"kind":"reset"' '"kind":"truncate","bytes":0' \
        '"kind":"truncate","bytes":59999' '"kind":"html"' '"status":204' \
        '"status":302,"headers":{"Location":"/v26.0/1"}'; do
        printf 'case: %s\n' "$fault"
        fault "{$fault,$DOWNLOAD}"
        download "$id"
        assert_error 502 INTERNAL_ERROR 'Failed to download media'
        refute_header Content-Disposition
    done
    assert_equal "$(sent_count path=/v26.0/1\&method=GET)" "$(sent_count "path=/v26.0/$id")"
}

# bats test_tags=route
@test "a download that breaks off later is shorter than its Content-Length, and the connection is closed" {
    local id n got
    id=$(have_media '"size":3000000')
    for n in 65537 70000 300000 2999999; do
        fault "{\"kind\":\"truncate\",\"bytes\":$n,$DOWNLOAD}"
        download "$id"
        assert_status 200
        assert_header Content-Length 3000000
        got=$(stat -c %s "$body")
        ((got <= n)) || fail "expected at most $n bytes, not $got"
        assert_upstream_ms 0 20000
        log_of_request | gojq -e '.error | startswith("The download broke off")'
    done
}

@test "a download longer or shorter than announced is incomplete too" {
    local id
    id=$(have_media '"size":300000,"withoutLength":true')
    for size in 299999 300001 100000; do
        fault "$(gojq -nc --arg id "$id" --argjson size $size --arg url "$(url_of "$id")" \
            '{body: ({url: $url, file_size: $size} | tostring)}')"
        download "$id"
        assert_status 200
        assert_header Content-Length $size
        (($(stat -c %s "$body") < size || size > 300000))
        log_of_request | gojq -e '.error | startswith("The download broke off")'
    done
}

url_of() {
    curl -s -H "Authorization: Bearer $PLATFORM_TOKEN" "$SANDBOX/v26.0/$1" | gojq -r .url
}

# bats test_tags=direct
@test "without Content-Length of the platform, file_size, a number or text, becomes Content-Length" {
    local id
    id=$(have_media '"size":300000,"withoutLength":true')
    download "$id"
    assert_content "$id"
    sandbox POST settings '{"mediaSizeText":true}' >/dev/null
    download "$id"
    assert_content "$id"
    id=$(have_media '"size":60000,"withoutLength":true')
    fault "$(gojq -nc --arg url "$(url_of "$id")" '{body: ({url: $url} | tostring)}')"
    download "$id"
    assert_content "$id"
}

@test "a large file of unknown length is 502: an answer always has Content-Length" {
    local id
    id=$(have_media '"size":300000,"withoutLength":true')
    fault "$(gojq -nc --arg url "$(url_of "$id")" '{body: ({url: $url} | tostring)}')"
    download "$id"
    assert_error 502 INTERNAL_ERROR 'Failed to download media'
}

@test "an empty file is an empty answer" {
    local id
    id=$(have_media '"size":5')
    fault "{\"status\":200,\"body\":\"\",\"headers\":{\"Content-Type\":\"text/plain\"},$DOWNLOAD}"
    download "$id"
    assert_status 200
    assert_header Content-Length 0
    [[ ! -s $body ]]
}

# bats test_tags=direct
@test "Content-Type is that of the download, else the platform's mime_type, else application/octet-stream" {
    local id sent stated wanted
    while IFS='|' read -r sent stated wanted; do
        id=$(have_media "\"size\":5,\"mimeType\":\"$sent\"")
        fault "$(gojq -nc --arg url "$(url_of "$id")" --arg type "$stated" \
            '{body: ({url: $url, mime_type: $type} | tostring), match: {path: "/v26.0/"}}')"
        download "$id"
        assert_status 200
        assert_header Content-Type "$wanted"
    done <<'END'
text/plain; charset=utf-8|image/png|text/plain; charset=utf-8
nonsense|image/png|image/png
nonsense|nonsense|application/octet-stream
END
}

# bats test_tags=direct,long
@test "the token is sent to the platform's own host and to media_hosts alone" {
    local port=${SANDBOX##*:} host hosts
    while read -r hosts host; do
        printf 'case: %s %s\n' "$hosts" "$host"
        write_config "spool_dir = $SPOOL" "media_hosts = ${hosts//,/ }"
        forget_sent
        fault "$(gojq -nc --arg url "http://$host/elsewhere" '{body: ({url: $url, file_size: 5} | tostring)}')"
        download 1
        assert_error 502 INTERNAL_ERROR 'Failed to download media'
        assert_equal "$(sent_count path=elsewhere)" 0
    done <<END
*.fbsbx.com localhost:$port
*.fbsbx.com 127.0.0.1:1
*.fbsbx.com 127.0.0.1
*.fbsbx.com fbsbx.com
*.fbsbx.com x@127.0.0.1:$port
*.fbsbx.com 127.0.0.1:$port@localhost:$port
*.ocalhost localhost:$port
localhost:1 localhost:$port
localhos,ocalhost localhost:$port
END
    write_config "spool_dir = $SPOOL" "media_hosts = *.fbsbx.com LOCALHOST"
    fault "$(gojq -nc --arg url "http://localhost:$port/elsewhere" '{body: ({url: $url, file_size: 5} | tostring)}')"
    fault '{"status":200,"body":"12345","match":{"path":"elsewhere"}}'
    download 1
    assert_status 200
    assert_body_is 12345
    assert_equal "$(sent_count path=elsewhere)" 1
    for host in ftp://127.0.0.1:$port file:///etc/passwd 127.0.0.1:$port ''; do
        fault "$(gojq -nc --arg url "$host" '{body: ({url: $url, file_size: 5} | tostring), times: 2}')"
        download 1
        [[ $status == 502 || $status == 404 ]] || fail_answer "expected a failure for $host"
        sandbox DELETE faults >/dev/null
    done
}

# --- sizes, times ---

# bats test_tags=long
@test "a download of 100 MB is streamed, with at most 16 MB of memory" {
    local id
    id=$(have_media "\"size\":$LIMIT,\"mimeType\":\"video/mp4\"")
    watch_memory media
    download "$id"
    assert_content "$id"
    assert_memory
    assert_equal "$(log_of_request | jq .bytes_out)" "$LIMIT"
}

# bats test_tags=long
@test "a transfer is aborted after 30 s without a byte, and not before, whatever its total time" {
    local id
    id=$(have_media '"size":40')
    fault "{\"kind\":\"hang\",\"match\":{\"path\":\"whatsapp_business\",\"token\":\"$FIRST_TOKEN\"}}"
    fault '{"kind":"hang","match":{"path":"/media","method":"POST"}}'
    fault "{\"kind\":\"drip\",\"ms\":900,\"match\":{\"path\":\"whatsapp_business\",\"token\":\"$SECOND_TOKEN\"}}"
    timed down api GET "/v2/media/$id/download" &
    timed up upload_raw "$(photo)" image/jpeg &
    id=$(WABA=$SECOND_WABA have_media '"size":40')
    timed drip api GET "/v2/media/$id/download" &
    wait
    assert_stalled down 502
    assert_stalled up 500
    read -r status <"$BATS_TEST_TMPDIR/drip/result"
    assert_status 200
    headers=$BATS_TEST_TMPDIR/drip/headers
    assert_upstream_ms 30100 600000
    assert_equal "$(stat -c %s "$BATS_TEST_TMPDIR/drip/body")" 40
}

# Runs COMMAND and saves its answer and status under NAME: timed NAME COMMAND...
timed() {
    answer_dir=$BATS_TEST_TMPDIR/$1
    mkdir "$answer_dir"
    "${@:2}"
    printf '%s\n' "$status" >"$answer_dir/result"
}

# The answer saved under NAME has STATUS, and the transfer was aborted after 30 s without a byte. libcurl
# checks this once a second, and an earlier call may be part of the time: assert_stalled NAME STATUS
assert_stalled() {
    headers=$BATS_TEST_TMPDIR/$1/headers body=$BATS_TEST_TMPDIR/$1/body
    read -r status <"$BATS_TEST_TMPDIR/$1/result"
    assert_error "$2" INTERNAL_ERROR
    assert_upstream_ms 30000 32000
}

# bats test_tags=route,each,long
@test "a client that closes the connection ends the download" {
    local path
    path=/v2/media/$(have_media "\"size\":$LIMIT")/download
    if [[ $TRANSPORT == direct ]]; then
        env -i GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD=GET SCRIPT_NAME="$path" HTTP_X_REQUEST_ID=leaver \
            HTTP_X_API_TOKEN="$TOKEN" SWITCHBOARD_CONFIG="$SWITCHBOARD_CONFIG" "$OUT/cgi-bin/media" </dev/null
    else
        curl -s -H 'X-Request-Id: leaver' -H "X-API-Token: $TOKEN" "$BASE$path"
    fi | head -c 100000 >/dev/null
    eventually grep '"request_id":"leaver"' "$LOG"
    grep '"request_id":"leaver"' "$LOG" | gojq -e '.error == "The client left."'
}

# --- log ---

@test "the log contains bytes and calls, and no secret" {
    local id
    upload_raw "$(photo)" image/jpeg
    log_of_request | gojq -e '.route == "/v2/media/upload" and .bytes_in == 5011 and .upstream_status == 200'
    id=$(have_media '"size":5')
    download "$id"
    log_of_request | gojq -e '.route == "/v2/media/:mediaId/download" and .bytes_out == 5 and .upstream_calls == 2'
    assert_not_logged "$TOKEN" "$FIRST_TOKEN" "$SECOND_TOKEN" "$id" whatsapp_business/attachments
}
