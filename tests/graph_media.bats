#!/usr/bin/env bats
# Media in the platform's own form: POST /PHONE/media is passed on as a form that is written anew,
# GET /MEDIA has the URL of a file that needs no token, DELETE /MEDIA.
load helpers/all
load helpers/conventions
load helpers/graph
load helpers/graph_bytes
load helpers/memory

GATEWAY=https://gw.example.org

setup_file() {
    start_stack
    make_user
    make_second_account
    make_user OTHER_
    write_config "public_url = $GATEWAY"
}

setup() {
    forget_sent
    sandbox POST settings '{"mediaUrlSeconds":300}' >/dev/null
}

teardown() {
    [[ -z ${watcher-} ]] || kill "$watcher" 2>/dev/null || true
}

# --- uploads ---

BOUNDARY=----geckoformboundary7c

# Makes a file of COUNT random bytes and prints its path: random_file COUNT
random_file() {
    head -c "$1" /dev/urandom >"$BATS_TEST_TMPDIR/file"
    printf '%s' "$BATS_TEST_TMPDIR/file"
}

# Makes a form in $FORM: the file first, then the fields: make_form FILE [NAME=VALUE...]
make_form() {
    local field
    FORM=$BATS_TEST_TMPDIR/form
    {
        printf -- '--%s\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n' "$BOUNDARY"
        cat "$1"
        for field in "${@:2}"; do
            printf -- '\r\n--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s' "$BOUNDARY" \
                "${field%%=*}" "${field#*=}"
        done
        printf -- '\r\n--%s--\r\n' "$BOUNDARY"
    } >"$FORM"
}

# Uploads $FORM: upload [QUERY [option of request...]]
upload() {
    graph POST "/v23.0/$LINE/media${1:+?$1}" -d "@$FORM" "${@:2}" \
        -H "Content-Type: multipart/form-data; charset=utf-8; boundary=\"$BOUNDARY\""
}

# Expects that the platform received $FORM (or FORM) with a boundary of the gateway, and nothing after
# it but blanks, and that it has its file: assert_passed_on FILE [FORM]
assert_passed_on() {
    local type length wanted=$BATS_TEST_TMPDIR/wanted
    assert_status 200
    assert_conventions
    assert_that 'keys == ["id"]'
    assert_no_platform_token
    type=$(last_sent '.headers["content-type"]')
    [[ $type =~ ^multipart/form-data\;\ boundary=([A-Za-z0-9_-]{16})$ ]] || fail "$type"
    LC_ALL=C sed "s/^--$BOUNDARY/--${BASH_REMATCH[1]}/" "${2:-$FORM}" >"$wanted"
    length=$(last_sent .bodyLength)
    printf '%*s' "$((length - $(stat -c %s "$wanted")))" '' >>"$wanted"
    assert_equal "$(last_sent '.bodySha256, .complete')" "$(sha256_of "$wanted")
true"
    assert_sent_to "$LINE/media"
    assert_equal "$(token_sent)" "Bearer $PLATFORM_TOKEN"
    assert_equal "$(sandbox GET "media/$(gojq -r .id "$body")" | gojq -r .sha256)" \
        "$(sha256_of "$1")"
}

# bats test_tags=route,long
@test "a form of 1 byte and one of 20 MB reach the platform with their parts and a length, the file first" {
    local size file
    for size in 1 20971520; do
        file=$(random_file "$size")
        make_form "$file" type=image/png messaging_product=whatsapp
        upload
        assert_passed_on "$file"
        assert_equal "$(last_sent '.headers["content-length"]')" "$(last_sent .bodyLength)"
    done
}

# bats test_tags=route
@test "a form of unknown length is passed on in chunks" {
    local file
    file=$(random_file 3000000)
    make_form "$file" type=image/png messaging_product=whatsapp
    upload '' -H 'Transfer-Encoding: chunked'
    assert_passed_on "$file"
    assert_equal "$(last_sent '.headers["transfer-encoding"]')" chunked
}

# bats test_tags=direct
@test "a form of unknown length that has no end is 400, and the platform gets no complete request" {
    local file size
    file=$(random_file 500000)
    make_form "$file" messaging_product=whatsapp
    cp "$FORM" "$FORM.whole"
    size=$(stat -c %s "$FORM")
    for size in $((size - 3)) $((size / 2)) 1 0; do
        head -c "$size" "$FORM.whole" >"$FORM"
        upload '' -H 'Transfer-Encoding: chunked'
        assert_graph_error 400 100 OAuthException boundary
    done
    assert_equal "$(sandbox GET requests | gojq '[.[] | select(.complete)] | length')" 0
    { cat "$FORM.whole"; printf 'an epilogue\r\n'; } >"$FORM"
    upload '' -H 'Transfer-Encoding: chunked'
    assert_passed_on "$file" "$FORM.whole"
    graph POST "/v23.0/$LINE/media" -d "@$FORM" -H 'Content-Type: multipart/form-data' \
        -H 'Transfer-Encoding: chunked'
    assert_graph_error 400 100 OAuthException boundary
}

# bats test_tags=long
@test "the platform gets no complete request when the client leaves in the middle of a chunk" {
    local socket
    [[ $TRANSPORT != direct ]] || skip 'a chunk is of a web server'
    exec {socket}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
    {
        printf 'POST /v23.0/%s/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n40000\r\n--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n' \
            "$LINE" "$TOKEN"
        head -c 200000 /dev/zero
    } >&"$socket"
    eventually something_sent
    exec {socket}>&-
    eventually grep -q 'ended before its closing boundary' "$LOG"
    assert_equal "$(sandbox GET requests | gojq '[.[] | select(.complete)] | length')" 0
}

# bats test_tags=direct,long
@test "a file of 100 MB is passed on with at most 16 MB of memory" {
    local file
    file=$(random_file 104857600)
    make_form "$file" messaging_product=whatsapp
    watch_memory graph_media
    upload
    assert_memory
    assert_passed_on "$file"
}

# bats test_tags=direct
@test "the platform gets no complete request when a part after the file is refused" {
    local file
    file=$(random_file 3000000)
    make_form "$file" messaging_product=whatsapp method=delete
    upload
    assert_graph_error 400 100 OAuthException 'The parameter method'
    upload '' -H 'Transfer-Encoding: chunked'
    assert_graph_error 400 100 OAuthException 'The parameter method'
    assert_equal "$(sandbox GET requests | gojq '[.[] | select(.complete)] | length')" 0
}

# bats test_tags=direct
@test "the platform is not called when a part of the first 64 KB is refused" {
    local field
    for field in method=delete access_token=x fields=a "messaging_product=x" "a.b=1"; do
        make_form "$(random_file 20000)" messaging_product=whatsapp "$field"
        upload
        assert_graph_error 400 100 OAuthException
    done
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "foreign fields, and messaging_product in the query, are left to the platform" {
    local file path
    file=$(random_file 100)
    make_form "$file" typeFile=image/png messaging_product=whatsapp
    upload
    assert_passed_on "$file"
    make_form "$file"
    upload messaging_product=whatsapp
    assert_passed_on "$file"
    assert_equal "$(query_sent)" messaging_product=whatsapp
    upload "access_token=$TOKEN&messaging_product=whatsapp&appsecret_proof=1&a=%2F+b"
    assert_passed_on "$file"
    assert_equal "$(query_sent)" 'messaging_product=whatsapp&a=%2F+b'
    for path in "/$LINE/media" "/graph/$LINE/media/" "/graph/v14.0/$LINE/media" \
        "/v26.0/$LINE/media/"; do
        graph POST "$path?messaging_product=whatsapp" -d "@$FORM" -H \
            "Content-Type: multipart/form-data; charset=utf-8; boundary=\"$BOUNDARY\""
        assert_passed_on "$file"
    done
}

# bats test_tags=direct
@test "an error of the platform has its status and bytes" {
    local error='{ "error":{"code":100,"message":"a\/b"}}'
    make_form "$(random_file 10)"
    upload
    assert_status 400
    assert_json .error.code 100
    platform_answers 503 "$error"
    upload messaging_product=whatsapp
    assert_status 503
    assert_body_is "$error"
}

# bats test_tags=direct
@test "an upload needs a token and a line of the caller" {
    local node
    make_form "$(random_file 10)" messaging_product=whatsapp
    request POST "/v23.0/$LINE/media" -d "@$FORM" -H 'Content-Type: multipart/form-data; boundary=x'
    assert_graph_error 401 190 OAuthException
    for node in "$OTHER_LINE" "$WABA" 1 777777; do
        graph POST "/v23.0/$node/media" -d "@$FORM" -H 'Content-Type: multipart/form-data; boundary=x'
        assert_graph_error 400 100 GraphMethodException 'does not exist'
    done
    graph GET "/v23.0/$LINE/media"
    assert_graph_error 400 100 GraphMethodException
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "a body that ends before its Content-Length is 400, and one over 100 MB is 413" {
    make_form "$(random_file 100000)" messaging_product=whatsapp
    upload '' -H "Content-Length: $(($(stat -c %s "$FORM") + 1))"
    assert_graph_error 400 100 OAuthException 'Content-Length'
    upload '' -H "Content-Length: $(($(stat -c %s "$FORM") - 1))"
    assert_graph_error 400 100 OAuthException 'Content-Length'
    assert_equal "$(sandbox GET requests | gojq '[.[] | select(.complete)] | length')" 0
    forget_sent
    upload '' -H 'Content-Length: 106954753'
    assert_graph_error 413 100 OAuthException '100 MB'
    assert_nothing_sent
    make_form "$(random_file 106954753)" messaging_product=whatsapp
    upload '' -H 'Transfer-Encoding: chunked'
    assert_graph_error 413 100 OAuthException '100 MB'
    assert_equal "$(sandbox GET requests | gojq '[.[] | select(.complete)] | length')" 0
}

# bats test_tags=direct
@test "a Content-Encoding is 415, and an unreachable platform is 503" {
    make_form "$(random_file 10)" messaging_product=whatsapp
    upload '' -H 'Content-Encoding: gzip'
    assert_graph_error 415 100 OAuthException
    write_config "public_url = $GATEWAY" 'graph_base_url = http://127.0.0.1:1'
    upload
    write_config "public_url = $GATEWAY"
    assert_graph_error 503 2 OAuthException 'could not be reached'
    assert_header Retry-After 5
}

# --- media objects ---

# Makes media of ACCOUNT and prints its id: have_media [WABA [MEMBERS]]
have_media() {
    sandbox POST media "{\"wabaId\":\"${1-$WABA}\",\"mimeType\":\"image/png\",${2-\"size\":70000}}" |
        gojq -r .id
}

# Reads a media object; sets `url` to the path and query of its URL: find_url ID [QUERY]
find_url() {
    graph GET "/v23.0/$1${2:+?$2}"
    assert_status 200
    url=$(gojq -r .url "$body")
    [[ $url == "$GATEWAY"/graph/media/* ]] || fail_answer "expected a URL of the gateway"
    url=${url#"$GATEWAY"}
}

assert_content() { # ID
    sandbox GET "media/$1/content" >"$BATS_TEST_TMPDIR/content"
    assert_body_is "@$BATS_TEST_TMPDIR/content"
    assert_header Content-Length "$(stat -c %s "$BATS_TEST_TMPDIR/content")"
}

# bats test_tags=route
@test "a media object has a URL of the gateway, and is the platform's in all else" {
    local id theirs ours
    id=$(have_media)
    find_url "$id"
    assert_no_platform_token
    assert_conventions
    ours=$(gojq -c 'del(.url)' "$body")
    theirs=$(curl -s -H "Authorization: Bearer $PLATFORM_TOKEN" "$SANDBOX/v26.0/$id")
    assert_equal "$ours" "$(gojq -c 'del(.url)' <<<"$theirs")"
    find_url "$id" "phone_number_id=$LINE"
    assert_equal "$(query_sent)" "phone_number_id=$LINE"
    platform_answers 200 '{ "url":"https:\/\/x\/y?a=1","mime_type":"image\/png", "n":1e400 ,"a":{"url":"x"}}'
    find_url 123
    assert_body_is "{ \"url\":\"$GATEWAY$url\",\"mime_type\":\"image\\/png\", \"n\":1e400 ,\"a\":{\"url\":\"x\"}}"
}

# bats test_tags=route
@test "the file behind the URL is the platform's, and needs no token" {
    local id
    id=$(have_media)
    find_url "$id"
    request GET "$url"
    assert_status 200
    assert_content "$id"
    assert_header Content-Type image/png
    assert_conventions
    assert_no_platform_token
    request GET "$url" -H 'Authorization: Bearer wrong' -H 'User-Agent: Googlebot'
    assert_status 200
    assert_content "$id"
    graph GET "$url"
    assert_content "$id"
    request GET "$url" -H 'Range: bytes=10-19'
    assert_status 206
    assert_header Content-Range 'bytes 10-19/70000'
    cmp "$body" <(tail -c +11 "$BATS_TEST_TMPDIR/content" | head -c 10)
    request HEAD "$url"
    assert_status 200
    assert_header Content-Length 70000
    assert_equal "$(stat -c %s "$body")" 0
}

@test "20 MB come back byte for byte through upload, media object and file" {
    local file id
    file=$(random_file 20971520)
    make_form "$file" type=image/png messaging_product=whatsapp
    upload
    assert_passed_on "$file"
    id=$(gojq -r .id "$body")
    find_url "$id"
    request GET "$url"
    assert_status 200
    assert_equal "$(sha256_of "$body")" "$(sha256_of "$file")"
}

# bats test_tags=direct
@test "media of any of the caller's accounts is found, that of another user is not" {
    local id
    id=$(have_media "$SECOND_WABA")
    find_url "$id"
    [[ $url == *"account=$SECOND_ACCOUNT"* ]] || fail "$url"
    request GET "$url"
    assert_status 200
    assert_content "$id"
    id=$(have_media "$OTHER_WABA")
    graph GET "/v23.0/$id"
    assert_graph_missing
    graph DELETE "/v23.0/$id"
    assert_graph_missing
    sandbox GET "media/$id" | gojq -e .id >/dev/null
}

# The platform's or the gateway's answer for an object that the caller does not have.
assert_graph_missing() {
    assert_status 400
    assert_json .error.code 100
    assert_json .error.error_subcode 33
    assert_no_platform_token
}

# bats test_tags=direct
@test "media is deleted with the token of its account" {
    local id
    id=$(have_media "$SECOND_WABA")
    graph DELETE "/v23.0/$id?phone_number_id=$SECOND_LINE"
    assert_status 200
    assert_json .success true
    assert_equal "$(query_sent)" "phone_number_id=$SECOND_LINE"
    assert_equal "$(token_sent)" "Bearer $SECOND_PLATFORM_TOKEN"
    graph GET "/v23.0/$id"
    assert_graph_missing
}

# --- signed URLs ---

# Prints the path of a URL, signed as the gateway signs: signed MEDIA USER ACCOUNT EXPIRES [TOKEN]
signed() {
    local key signature
    key=$(printf 'switchboard: URLs of media' |
        openssl dgst -sha256 -mac HMAC -macopt "key:${5-$PLATFORM_TOKEN}" -r)
    signature=$(printf '%s\0%s\0%s\0%s' "$2" "$3" "$1" "$4" |
        openssl dgst -sha256 -mac HMAC -macopt "hexkey:${key%% *}" -r)
    printf '/graph/media/%s?user=%s&account=%s&expires=%s&signature=%s' "$1" "$2" "$3" "$4" \
        "${signature%% *}"
}

# bats test_tags=direct
@test "a URL is valid for 5 minutes" {
    local id user now expires
    id=$(have_media)
    user=$(db "SELECT user_id FROM account WHERE id = '$ACCOUNT'")
    find_url "$id"
    now=$(date +%s)
    [[ $url =~ expires=([0-9]+) ]]
    expires=${BASH_REMATCH[1]}
    ((expires > now + 290 && expires <= now + 300)) || fail "$expires, now $now"
    assert_equal "$url" "$(signed "$id" "$user" "$ACCOUNT" "$expires")"
    request GET "$(signed "$id" "$user" "$ACCOUNT" $((now + 100)))"
    assert_content "$id"
    forget_sent
    request GET "$(signed "$id" "$user" "$ACCOUNT" $((now - 1)))"
    assert_graph_error 403 10 OAuthException expired
    assert_nothing_sent
}

# bats test_tags=route,long
@test "a forged URL is 403, and the platform is not called" {
    local id user now forged other_user
    id=$(have_media)
    user=$(db "SELECT user_id FROM account WHERE id = '$ACCOUNT'")
    other_user=$(db "SELECT user_id FROM account WHERE id = '$OTHER_ACCOUNT'")
    find_url "$id"
    forget_sent
    now=$(date +%s)
    while read -r forged; do
        printf 'case: %s\n' "$forged"
        request GET "$forged"
        assert_graph_error 403 10 OAuthException signature
    done <<END
${url/$id/${id}0}
${url/account=$ACCOUNT/account=$SECOND_ACCOUNT}
${url/account=$ACCOUNT/account=$OTHER_ACCOUNT}
${url/user=$user/user=$other_user}
${url/expires=/expires=1}
${url/expires=/expires=+}
${url/expires=/expires=0}x
${url%?}
${url%??}
${url}0
${url%%&signature*}
${url%%\?*}
$(signed "$id" "$user" "$ACCOUNT" $((now + 100)) "$SECOND_PLATFORM_TOKEN")
$(signed "$id" "$user" "$OTHER_ACCOUNT" $((now + 100)))
$(signed "$id" '' '' $((now + 100)))
/graph/media/a%22b?${url#*\?}
END
    assert_nothing_sent
}

# bats test_tags=direct
@test "a rotation of the keys leaves a URL valid, a new platform token ends it" {
    local id
    id=$(have_media)
    find_url "$id"
    rotate_keys
    request GET "$url"
    assert_status 200
    assert_content "$id"
    printf 'another-platform-token' | switchboard account token "$ACCOUNT" >/dev/null
    request GET "$url"
    printf '%s' "$PLATFORM_TOKEN" | switchboard account token "$ACCOUNT" >/dev/null
    assert_graph_error 403 10 OAuthException signature
    request GET "$url"
    assert_status 200
}

# bats test_tags=direct
@test "when the platform's URL has expired, the file is fetched with a new one" {
    local id
    id=$(have_media)
    find_url "$id"
    sandbox POST media/expire '' >/dev/null
    forget_sent
    fault '{"status":404,"match":{"path":"whatsapp_business"}}'
    request GET "$url"
    assert_status 200
    assert_content "$id"
    assert_equal "$(sent_count)" 4
    fault '{"status":404,"times":2,"match":{"path":"whatsapp_business"}}'
    request GET "$url"
    assert_graph_error 500 1 OAuthException
}

# bats test_tags=direct
@test "a file that was deleted is 400/100/33" {
    local id
    id=$(have_media)
    find_url "$id"
    sandbox DELETE "media/$id" >/dev/null
    request GET "$url"
    assert_graph_error 400 100 GraphMethodException
}

# bats test_tags=direct
@test "without public_url a media object is an error that names the key" {
    write_config
    graph GET "/v23.0/$(have_media)"
    write_config "public_url = $GATEWAY"
    assert_graph_error 500 1 OAuthException public_url
}
