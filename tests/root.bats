#!/usr/bin/env bats
# GET / and every unknown path (spec 4.1, 7, 9)
# transports: direct cgi fcgi
load helpers/all
load helpers/conventions

json='{"success":true,"data":{"name":"switchboard","versions":["v2"],"docs":{"health":"/v2/health","version":"/v2/version","me":"/v2/me","reference":"/v2/docs/","openapi":"/v2/openapi.json"}}}'

assert_page() {
    assert_status 200
    assert_header Content-Type 'text/html; charset=utf-8'
    assert_header Vary Accept
    assert_conventions
    grep -qF '<!DOCTYPE html>' "$body" || fail_answer 'expected a page'
}

assert_index() {
    assert_success
    assert_body_is "$json"
    assert_header Vary Accept
    assert_conventions
}

@test "GET / is a page with first steps and links to the GET routes (spec 4.1)" {
    local link
    request GET /
    assert_page
    for link in /v2/health /v2/ready /v2/version /v2/me /v2/docs/ /v2/openapi.json '/?format=json'; do
        grep -qF "href=\"$link\"" "$body" || fail_answer "expected a link to $link"
    done
    grep -qF 'POST /v2/messages/send/text' "$body"
    grep -qF 'Authorization: Bearer' "$body"
    (($(stat -c %s "$body") < 2000)) || fail_answer 'expected a short page'
}

@test "the paths of dashboard and reference lead to those with a slash, whatever the Host" {
    local path
    for path in /dashboard /v2/docs; do
        request GET "$path" -H 'Host: evil.example'
        assert_status 301
        assert_header Location "${path##*/}/"
        assert_body_is ''
        assert_conventions
        refute grep -q evil "$headers"
        request POST "$path" -d '{}'
        assert_error 404 NOT_FOUND
        assert_header Allow 'GET, HEAD, OPTIONS'
    done
}

@test "GET /?format=json is 200 with name, versions and docs (spec 4.1)" {
    request GET '/?format=json'
    assert_index
    request GET '/?x=1&format=json&format=html'
    assert_index
    request GET '/?form%61t=%6ason' -H 'Accept: text/html'
    assert_index
}

@test "GET / with Accept: application/json returns the same JSON (spec 4.1)" {
    local accept
    for accept in application/json 'text/html;q=0.9, application/json' 'APPLICATION/JSON' \
        'application/json;q=0.1' 'text/html , application/json ; q=0.5' \
        'application/json; charset=utf-8' 'application/json;q=1.000,text/html'; do
        request GET / -H "Accept: $accept"
        assert_index
    done
}

# bats test_tags=long
@test "any other query or Accept returns the page" {
    local accept query
    for accept in '*/*' text/html 'application/*' application/jsonx application/xml '' \
        'application/json;q=0' 'application/json; q=0.000, text/html' 'text/html;v="application/json"' \
        'application/json;q=0.0' 'application/problem+json'; do
        request GET / -H "Accept: $accept"
        assert_page
    done
    for query in format format= format=JSON format=xml 'format=html&format=json' forma=json \
        'format=json%20' '&&' '--help' '-x+y'; do
        request GET "/?$query"
        assert_page
    done
}

@test "a query that cannot be decoded is 400" {
    local query
    for query in format=%zz format=%0 % 'format=json&x=%ff' 'x=a%00b'; do
        request GET "/?$query"
        assert_error 400 VALIDATION_ERROR 'query string'
        assert_conventions
    done
}

@test "no token is needed, and an invalid one is ignored (spec 5)" {
    request GET '/?format=json' --as wrong
    assert_index
}

# bats test_tags=long
@test "an unknown path is 404 NOT_FOUND with any method, with a token or without (spec 7)" {
    local path method
    for path in /x /v2 /v2/ /v2/unknown /v3/me /V2/me /index.html /favicon.ico /.well-known/x \
        /cgi-bin/root /v2/messag /a/b/c/d/e/f '/v2/%E2%82%AC' '/x?format=json'; do
        for method in GET POST DELETE OPTIONS; do
            request "$method" "$path"
            assert_error 404 NOT_FOUND 'no such route'
            assert_error 404 NOT_FOUND 'GET /'
            assert_conventions
            refute_header Allow
            refute_header WWW-Authenticate
        done
        api GET "$path"
        assert_error 404 NOT_FOUND 'no such route'
    done
}

# bats test_tags=long
@test "X-Request-Id is taken from the request when it is harmless, else generated" {
    assert_request_ids GET /
}

# apache.bats sends TRACE over HTTP, which the web server refuses.
@test "the answer to a method that the web server refused is 405 with one Allow" {
    [[ $TRANSPORT == direct ]] || skip 'only the web server sets REDIRECT_STATUS'
    REDIRECT_STATUS=405 redirected GET /
    assert_error 405 NOT_FOUND Allow
    assert_header Allow 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
    assert_conventions
    REDIRECT_STATUS=404 redirected GET /
    assert_status 200
}

# Like request, but through the internal redirection of an error document.
redirected() {
    env -i GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD="$1" SCRIPT_NAME="$2" UNIQUE_ID=redirected \
        REDIRECT_STATUS="$REDIRECT_STATUS" SWITCHBOARD_CONFIG="$SWITCHBOARD_CONFIG" \
        "$OUT/cgi-bin/root" </dev/null >"$BATS_TEST_TMPDIR/answer"
    answer_dir=$BATS_TEST_TMPDIR headers=$BATS_TEST_TMPDIR/headers body=$BATS_TEST_TMPDIR/body
    split_answer
}

@test "the log contains an unknown path without its query" {
    request GET "/nothing/here$(printf 'x%.0s' {1..300})?secret=in-query"
    log_of_request | jq -e '.status == 404 and (.path | startswith("/nothing/here") and length == 200)
        and (has("route") | not) and (.at | test("^lib/web/route[.]c:[0-9]+$"))'
    assert_not_logged in-query
}

@test "it works without a database" {
    take_database_away
    request GET '/?format=json'
    bring_database_back
    assert_index
}

# bats test_tags=long
@test "the executable is not linked with SQLite, libcurl or libsodium" {
    assert_without root sqlite3_open sqlite3_open_v2 curl_easy_init sodium_init
}
