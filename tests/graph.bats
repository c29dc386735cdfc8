#!/usr/bin/env bats
# The routes in the platform's form (cgi-bin/graph): what the platform gets of a request, and what a
# client gets of its answer.
load helpers/all
load helpers/graph

setup_file() {
    start_stack
    make_user
    make_second_account
    make_user OTHER_
}

# --- the documentation ---

@test "the page of these routes lists each edge, with the action and scope of the programs" {
    graph_edges | sort >"$BATS_TEST_TMPDIR/programs"
    local scope='`?([a-z-]+)`?' action='([^:|]*[^:| ])(:.*)?'
    sed -nE 's/^\| `((GET|POST|DELETE) [^`]*)` \| '"$scope"' \| '"$action"' \|$/\1 \4 \3/p' \
        "$root/doc/api/graph.md" | sort >"$BATS_TEST_TMPDIR/page"
    (($(wc -l <"$BATS_TEST_TMPDIR/page") > 40))
    diff "$BATS_TEST_TMPDIR/programs" "$BATS_TEST_TMPDIR/page"
}

# --- paths ---

# bats test_tags=route,long
@test "a path may have a version from 13.0 on, or none, /graph before it and slashes at its end" {
    local path
    for path in "/v13.0/$LINE" "/v21.0/$LINE/" "/v26.0/$LINE//" "/v99.9/$LINE" "/$LINE" "/$LINE/" \
        "/graph/v21.0/$LINE" "/graph/$LINE/"; do
        printf 'case: %s\n' "$path"
        graph GET "$path"
        assert_status 200
        assert_text .id "$LINE"
        assert_equal "$(last_sent .path)" "/v26.0/$LINE"
    done
    for path in "/v12.0/$LINE" "/v3/$LINE" "/v21/$LINE" "/graph/v12.9/$LINE"; do
        printf 'case: %s\n' "$path"
        forget_sent
        graph GET "$path"
        [[ $status == 4* ]] || fail_answer 'expected a refusal'
        assert_nothing_sent
    done
}

# As on a web host, where a rewrite calls the program by its own name below /v2.
# bats test_tags=direct,long
@test "a rewrite may call the program by its name, with the whole path behind it" {
    local path
    for path in "/v21.0/$LINE" "/$LINE/" "/graph/v21.0/$LINE" "/graph/$LINE"; do
        forget_sent
        env -i GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD=GET SCRIPT_NAME=/v2/graph \
            PATH_INFO="$path" HTTP_AUTHORIZATION="Bearer $TOKEN" \
            SWITCHBOARD_CONFIG="$SWITCHBOARD_CONFIG" "$OUT/cgi-bin/graph" </dev/null \
            >"$BATS_TEST_TMPDIR/answer"
        grep -q '^Status: 200 ' "$BATS_TEST_TMPDIR/answer" || fail "$(<"$BATS_TEST_TMPDIR/answer")"
        assert_equal "$(last_sent .path)" "/v26.0/$LINE"
    done
}

# bats test_tags=route,long
@test "a node that is not the caller's, and an edge that is not listed, are 400 100 and not called" {
    local path
    for path in "/v21.0/$OTHER_LINE" "/v21.0/$OTHER_WABA/message_templates" "/v21.0/$LINE/feed" \
        "/v21.0/$WABA/assigned_users" "/v21.0/$LINE/phone_numbers" "/v21.0/me/accounts" \
        "/v21.0/abc" "/v21.0/$LINE/message_qrdls/A/B"; do
        for method in GET POST DELETE; do
            printf 'case: %s %s\n' "$method" "$path"
            graph "$method" "$path"
            assert_graph_error 400 100 GraphMethodException
            assert_json .error.error_subcode 33
        done
    done
    assert_nothing_sent
}

# --- tokens ---

# bats test_tags=route
@test "the token may be a header of two schemes, a parameter of the query, or a field of a form" {
    local scheme
    for scheme in Bearer bearer BEARER OAuth oauth; do
        request GET "/v21.0/$LINE" -H "Authorization: $scheme $TOKEN"
        assert_status 200
    done
    request GET "/v21.0/$LINE?access_token=$TOKEN"
    assert_status 200
    request POST "/v21.0/$LINE/settings" -d "a=1&access_token=$TOKEN&b=%32" \
        -H 'Content-Type: application/x-www-form-urlencoded'
    assert_sent 'a=1&b=%32'
    request GET "/v21.0/$LINE?access_token=$TOKEN" --as "$TOKEN"
    assert_status 200
}

# bats test_tags=route
@test "no token, a wrong one, and two that differ are 401 190" {
    forget_sent
    request GET "/v21.0/$LINE"
    assert_graph_error 401 190 OAuthException
    assert_header WWW-Authenticate
    request GET "/v21.0/$LINE" --as wrong
    assert_graph_error 401 190 OAuthException
    request GET "/v21.0/$LINE?access_token=$OTHER_TOKEN" --as "$TOKEN"
    assert_graph_error 401 190 OAuthException
    request POST "/v21.0/$LINE/settings" -d "access_token=$OTHER_TOKEN" --as "$TOKEN" \
        -H 'Content-Type: application/x-www-form-urlencoded'
    assert_graph_error 401 190 OAuthException
    request GET "/v21.0/$LINE?access_token=$TOKEN&access_token=x"
    assert_graph_error 401 190 OAuthException
    assert_nothing_sent
}

# --- what is passed on ---

# A text that a JSON library would not print as it stands.
odd='{"a" : 1e400,"b":9007199254740993,"c":"\u00fc\/\u0000","e":null, "d":[] }'

# Each edge that only passes requests on; those of messages and files have tests of their own.
passed_edges() {
    graph_edges graph |
        awk '$3 == "forwarded" && !/ graph_destructive / && $2 !~ /\/(messages|media|uploads)?$/'
    [[ ${1-} != all ]] || graph_edges graph | awk '/ graph_destructive / { print $1, $2 }'
}

# Sends a request to the edge and compares what the platform got, and what the client got:
# passes METHOD PATH
passes() {
    local path sent=() answer more query=(x y z)
    path=$(path_of "$2")
    answer="{\"success\":true,\"n\":\"$method $path\",\"odd\":$odd}"
    platform_answers_to "$1" "/v26.0$path?" 200 "$answer"
    [[ $1 == GET ]] || sent=(-d "$odd")
    [[ $2 != '/:phone?pin' ]] || sent=(-d '{"pin":"123456"}')
    [[ $1 != POST || $2 != '/:phone?pin' ]] || query=(messaging_product '' pin)
    more="&access_token=$TOKEN&&${query[1]}&appsecret_proof=0a&${query[2]}=a=b"
    graph "$1" "/v21.0$path?${query[0]}=%c3%BC+%2F$more" "${sent[@]}"
    assert_status 200
    [[ $method == HEAD ]] || assert_body_is "$answer"
    assert_equal "$(last_sent '"\(.method) \(.path)?\(.query)"')" \
        "$1 /v26.0$path?${query[0]}=%c3%BC+%2F${query[1]:+&${query[1]}}&${query[2]}=a=b"
    assert_equal "$(last_sent .headers.authorization)" "Bearer $PLATFORM_TOKEN"
    [[ $1 == GET ]] || assert_sent "${sent[1]}"
}

# bats test_tags=long
@test "every edge passes on query and body byte for byte, and the platform's answer likewise" {
    local method path more count=0
    make_objects
    write_config 'graph_destructive = yes'
    while read -r method path more <&4; do
        printf 'case: %s %s\n' "$method" "$path"
        forget_sent
        passes "$method" "$path"
        count=$((count + 1))
    done 4< <(passed_edges all)
    write_config
    ((count >= 35)) || fail "only $count edges"
}

# bats test_tags=long
@test "every edge passes on the platform's errors with their status, and never a redirection" {
    local method path more count=0 status_wanted error
    make_objects
    while read -r method path more <&4; do
        printf 'case: %s %s\n' "$method" "$path"
        for status_wanted in 400 403 404 429 500 503; do
            error="{\"error\":{\"message\":\"(#$status_wanted) no\",\"code\":$status_wanted,"
            error+='"error_subcode":7,"error_data":{"details":"d"},"fbtrace_id":"A"}}'
            forget_sent
            platform_answers_to "$method" "/v26.0$(path_of "$path")" "$status_wanted" "$error"
            graph "$method" "$(path_of "$path")" -d '{}'
            assert_status "$status_wanted"
            assert_body_is "$error"
            assert_header Content-Type 'application/json; charset=UTF-8'
        done
        count=$((count + 1))
    done 4< <(passed_edges | awk '!/^GET .:(media|template|flow)/')
    ((count >= 25)) || fail "only $count edges"
    fault '{"status":302,"body":"{}","headers":{"Location":"http://127.0.0.1:1/"}}'
    graph GET "/$LINE"
    assert_graph_error 500 1 OAuthException 302
    refute_header Location
    fault '{"status":200,"body":"<html></html>"}'
    graph GET "/$LINE"
    assert_graph_error 500 1 OAuthException 'without JSON'
    fault '{"kind":"html","status":503}'
    graph GET "/$LINE"
    assert_graph_error 503 2 OAuthException
    assert_json .error.is_transient true
}

@test "the headers of the platform that clients read are in the answer, ETag and others are not" {
    fault "$(gojq -nc '{status: 400, body: "{\"error\":{}}", headers: {
        "Content-Type": "application/json", "Retry-After": "17", "ETag": "\"x\"",
        "Set-Cookie": "a=b", "x-fb-rev": "1"}}')"
    graph GET "/$LINE"
    assert_status 400
    assert_header facebook-api-version v26.0
    assert_header x-app-usage '{"call_count":1,"total_cputime":1,"total_time":1}'
    [[ $(header x-business-use-case-usage) == "{\"$WABA\":[{"* ]] || fail_answer 'expected usage'
    assert_header x-fb-trace-id
    assert_header Retry-After 17
    refute_header ETag
    refute_header Set-Cookie
    refute_header x-fb-rev
}

# bats test_tags=route
@test "bodies are passed on in all forms: none, JSON, a form, multipart, and with DELETE" {
    local form=$BATS_TEST_TMPDIR/form boundary='a  b:c' type
    make_objects
    # none and no length
    graph POST "/$LINE/whatsapp_business_profile?about=x"
    assert_equal "$(last_sent '"\(.bodyLength) \(.headers["content-length"])
        \(.headers["content-type"])"' | xargs)" '0 0 null'
    # GET with a type
    graph GET "/$LINE" -H 'Content-Type: application/json'
    assert_status 200
    assert_equal "$(last_sent '.headers["content-type"]')" null
    # JSON with parameters of the type
    graph POST "/$LINE/settings" -d "$odd" -H 'Content-Type: application/json; charset=utf-8'
    assert_sent "$odd"
    assert_equal "$(last_sent '.headers["content-type"]')" 'application/json; charset=utf-8'
    # a form
    graph POST "/$LINE/settings" -d 'text[body]=%68i+&x&y%5b%5D=a=b,c/d&z={"a";ü' \
        -H 'Content-Type: application/x-www-form-urlencoded'
    assert_sent 'text[body]=%68i+&x&y%5b%5D=a=b,c/d&z=%7B%22a%22%3B%C3%BC'
    assert_equal "$(last_sent '.headers["content-type"]')" application/x-www-form-urlencoded
    # multipart, the file first
    printf '%b' "--$boundary\\r\\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"" \
        '\r\nContent-Type: application/json\r\n\r\n{"\xc3\xbc":"\x00"}' \
        "\\r\\n--$boundary\\r\\nContent-Disposition: form-data; name=\"asset_type\"" \
        "\\r\\n\\r\\nFLOW_JSON\\r\\n--$boundary--\\r\\n" >"$form"
    graph POST "/$FLOW/assets" -d "@$form" \
        -H "Content-Type: multipart/form-data; boundary=\"$boundary\""
    type=$(last_sent '.headers["content-type"]')
    [[ $type =~ ^multipart/form-data\;\ boundary=([A-Za-z0-9_-]{16})$ ]] || fail "$type"
    sandbox GET "requests/last/body" | sed "s/^--${BASH_REMATCH[1]}/--$boundary/" |
        cmp - "$form"
    # JSON that is named a form, and JSON without a type
    for type in 'Content-Type: application/x-www-form-urlencoded' 'Content-Type:'; do
        graph POST "/$LINE/settings" -d '{"a":"&method=delete&"}' -H "$type"
        assert_sent '{"a":"&method=delete&"}'
        assert_equal "$(last_sent '.headers["content-type"]')" application/json
    done
    # DELETE with a body
    graph DELETE "/$LINE/block_users" -d '{"block_users":[{"user":"+1 555 000"}]}'
    assert_sent '{"block_users":[{"user":"+1 555 000"}]}'
    assert_equal "$(last_sent .method)" DELETE
}

# bats test_tags=route
@test "a POST without body and without Content-Length is passed on, HEAD is answered as GET" {
    graph HEAD "/v21.0/$LINE"
    assert_status 200
    assert_equal "$(wc -c <"$body")" 0
    assert_header Content-Type 'application/json; charset=UTF-8'
    [[ $TRANSPORT != direct ]] || return 0
    raw_request "POST /v21.0/$LINE/whatsapp_business_profile?about=x HTTP/1.1\r\nHost: x\r\n"` \
        `"Connection: close\r\nAuthorization: Bearer $TOKEN\r\n\r\n"
    [[ $status != 411 ]] || fail_answer 'expected no demand for a length'
    assert_equal "$(last_sent '"\(.method) \(.bodyLength)"')" 'POST 0'
}

@test "parameters that change the method or call several nodes, and bodies in other forms, are 400" {
    local name type
    for name in method batch ids; do
        graph POST "/$LINE/settings?$name=delete"
        assert_graph_error 400 100 OAuthException "The parameter $name"
        graph POST "/$LINE/settings?%6d%65thod=delete&$name=x"
        assert_graph_error 400 100 OAuthException 'The parameter'
        graph POST "/$LINE/settings" -d "{\"a\":1,\"\\u00${name:0:0}6d\":2,\"$name\":\"delete\"}"
        assert_graph_error 400 100 OAuthException "The parameter $name"
        graph POST "/$LINE/settings" -d "a=1&$name=delete" \
            -H 'Content-Type: application/x-www-form-urlencoded'
        assert_graph_error 400 100 OAuthException "The parameter $name"
        graph POST "/$LINE/settings" -H 'Content-Type: multipart/form-data; boundary=x' \
            -d $'--x\r\nContent-Disposition: form-data; name="'"$name"$'"\r\n\r\n1\r\n--x--\r\n'
        assert_graph_error 400 100 OAuthException "The parameter $name"
    done
    for name in access_token appsecret_proof; do
        graph POST "/$LINE/settings" -d "{\"$name\":\"$TOKEN\"}"
        assert_graph_error 400 100 OAuthException "$name may not"
        graph POST "/$LINE/settings" -H 'Content-Type: multipart/form-data; boundary=x' \
            -d $'--x\r\nContent-Disposition: form-data; name="'"$name"$'"\r\n\r\n1\r\n--x--\r\n'
        assert_graph_error 400 100 OAuthException "$name may not"
    done
    for type in text/plain application/xml 'multipart/form-data'; do
        graph POST "/$LINE/settings" -d '{}' -H "Content-Type: $type"
        assert_graph_error 400 100 OAuthException
    done
    graph POST "/$LINE/settings" -d '{"a":'
    assert_graph_error 400 100 OAuthException 'not valid JSON'
    graph POST "/$LINE/settings" -d '[]'
    assert_graph_error 400 100 OAuthException 'must be a JSON object'
    graph GET "/$LINE?a=%zz"
    assert_graph_error 400 100 OAuthException
    assert_nothing_sent
}

# A body that is larger than Apache's limit is refused by Apache.
# bats test_tags=route
@test "a body of more than 2 MB is 413 in the platform's shape" {
    head -c 2097153 /dev/zero | tr '\0' ' ' >"$BATS_TEST_TMPDIR/large"
    graph POST "/$LINE/settings" -d "@$BATS_TEST_TMPDIR/large"
    assert_graph_error 413 100 OAuthException 2097152
    [[ $TRANSPORT != direct ]] || return 0
    head -c 3000000 /dev/zero >"$BATS_TEST_TMPDIR/large"
    graph POST "/v21.0/$LINE/settings" -d "@$BATS_TEST_TMPDIR/large"
    assert_status 413
    assert_that '.error.code == 100 and (.error.message | contains("too large"))'
    assert_json .error.fbtrace_id "$(header X-Request-Id)"
    assert_nothing_sent
}

# --- nodes ---

@test "media, templates and flows are read with the token of each account in turn" {
    make_objects
    sandbox POST templates "{\"wabaId\":\"$SECOND_WABA\",\"replace\":true,\"items\":[{
        \"name\":\"second\",\"components\":[],\"language\":\"en_US\",\"status\":\"APPROVED\",
        \"category\":\"UTILITY\",\"id\":\"7013\"}]}" >/dev/null
    sandbox POST templates "{\"wabaId\":\"$OTHER_WABA\",\"replace\":true,\"items\":[{
        \"name\":\"other\",\"components\":[],\"language\":\"en_US\",\"status\":\"APPROVED\",
        \"category\":\"UTILITY\",\"id\":\"7023\"}]}" >/dev/null
    graph GET "/v21.0/7013?fields=name"
    assert_status 200
    assert_json .name second
    assert_equal "$(sent_count)" 2
    assert_equal "$(token_sent)" "Bearer $SECOND_PLATFORM_TOKEN"
    forget_sent
    graph POST /v21.0/7013 -d '{"category":"MARKETING"}'
    assert_status 200
    assert_equal "$(last_sent '"\(.method) \(.headers.authorization)"')" \
        "POST Bearer $SECOND_PLATFORM_TOKEN"
    assert_equal "$(sent_count method=POST)" 1
    forget_sent
    graph GET /v21.0/7023
    assert_status 400
    assert_json '[.error.code, .error.error_subcode]' '[100,33]'
    graph POST /v21.0/7023 -d '{"category":"MARKETING"}'
    assert_graph_error 400 100 GraphMethodException
    assert_equal "$(sent_count method=POST)" 0
}

@test "an object is changed only by the edges of its kind" {
    local method path more
    make_objects
    write_config 'graph_destructive = yes'
    for path in "/$MEDIA/assets" "/$TEMPLATE/publish" "/$TEMPLATE/deprecate" "/$MEDIA"; do
        graph POST "$path" -d '{}'
        assert_graph_error 400 100 GraphMethodException
    done
    graph DELETE "/$TEMPLATE"
    assert_graph_error 400 100 GraphMethodException
    # a node of another kind, which the token may see
    fault '{"match":{"path":"/7099"},"times":0,"status":200,"body":"{\"id\":\"7099\"}"}'
    for method in POST DELETE; do
        graph "$method" /7099 -d '{}'
        assert_graph_error 400 100 GraphMethodException
    done
    write_config
    assert_equal "$(sent_count method=POST)" 0
    assert_equal "$(sent_count method=DELETE)" 0
}

@test "fields of objects are those of media, templates and flows, and braces are refused" {
    local fields
    make_objects
    for fields in 'id,name' 'preview.invalidate(false),status' 'url,mime_type' \
        'metric.name(A).since(1),id' 'components%2Clanguage'; do
        forget_sent
        graph GET "/$FLOW?fields=$fields"
        assert_equal "$(query_sent)" "fields=$fields"
    done
    forget_sent
    for fields in owned_whatsapp_business_accounts id,products 'id,(name),x' 'a.b(c,id)'; do
        graph GET "/$FLOW?fields=$fields"
        assert_graph_error 400 100 OAuthException 'Tried accessing nonexisting field'
    done
    for fields in 'owner_business{name}' 'id,x%7Bname%7D'; do
        graph GET "/$WABA?fields=$fields"
        assert_graph_error 400 100 OAuthException braces
        graph GET "/v21.0/?ids=$WABA&fields=$fields"
        assert_graph_error 400 100 OAuthException braces
    done
    assert_nothing_sent
    graph GET "/$WABA?fields=id,name,owner_business_info"
    assert_equal "$(query_sent)" 'fields=id,name,owner_business_info'
}

@test "?ids= answers an object by id, of nodes of several accounts, with the other parameters" {
    graph GET "/v22.0/?ids=$LINE,$SECOND_WABA&fields=id"
    assert_status 200
    assert_body_is "{\"$LINE\":{\"id\":\"$LINE\"},\"$SECOND_WABA\":{\"id\":\"$SECOND_WABA\"}}"
    assert_equal "$(query_sent)" fields=id
    graph GET "/v22.0/?ids=$LINE,$OTHER_LINE"
    assert_graph_error 400 100 GraphMethodException "'$OTHER_LINE'"
    graph GET "/v22.0/?ids=$(seq -s , 1 21)"
    assert_status 400
    graph GET '/v22.0/?ids=,'
    assert_graph_error 400 100 GraphMethodException
}

# --- what is answered here ---

# bats test_tags=route
@test "a version alone is 400 GraphMethodException with a good token, 401 with a wrong one" {
    graph GET /v13.0/
    assert_graph_error 400 100 GraphMethodException 'Unsupported get request.'
    request GET /v13.0/ --as wrong
    assert_graph_error 401 190 OAuthException
    assert_nothing_sent
}

# bats test_tags=route
@test "app, me and debug_token describe the API token, and are not called" {
    graph GET /app
    assert_text .id 1000000000000001
    assert_text .name switchboard
    graph GET /v17.0/me/
    assert_json .name "$EMAIL"
    assert_that '.id | test("^[0-9]{15}$")'
    graph GET "/v17.0/debug_token?input_token=$TOKEN"
    assert_status 200
    assert_that ".data | .app_id == \"1000000000000001\" and .type == \"SYSTEM_USER\" and .is_valid
        and .expires_at == 0
        and .scopes == [\"whatsapp_business_management\", \"whatsapp_business_messaging\"]
        and .granular_scopes[0].target_ids == [\"$WABA\", \"$SECOND_WABA\"]"
    request GET "/debug_token?input_token=$TOKEN&access_token=$TOKEN"
    assert_json .data.is_valid true
    local token
    for token in wrong "$OTHER_TOKEN" "$PLATFORM_TOKEN"; do
        graph GET "/debug_token?input_token=$token"
        assert_status 200
        assert_json .data.is_valid false
        assert_json .data.error.code 190
        assert_json .data.scopes '[]'
    done
    graph GET /debug_token
    assert_graph_error 400 100 OAuthException
    graph POST /app -d '{}'
    assert_graph_error 400 100 GraphMethodException
    assert_nothing_sent
}

# --- what is refused ---

@test "destructive edges are 403 10 and not called, unless graph_destructive is yes" {
    local method path more count=0 sent
    make_objects
    while read -r method path more <&4; do
        printf 'case: %s %s\n' "$method" "$path"
        sent='{"pin":"123456"}'
        graph "$method" "$(path_of "$path")?name=greeting" -d "$sent"
        assert_graph_error 403 10 OAuthException graph_destructive
        count=$((count + 1))
    done 4< <(graph_edges graph | grep ' graph_destructive ')
    ((count >= 5)) || fail "only $count edges"
    assert_equal "$(sent_count method=POST)" 0
    assert_equal "$(sent_count method=DELETE)" 0
    # a file is not destructive
    graph DELETE "/$MEDIA"
    assert_status 200
    assert_body_is '{"success":true}'
}

@test "the destructive edges are those that take a number, a template or a flow out of service" {
    assert_equal "$(graph_edges graph | awk '/ graph_destructive / { print $1, $2 }' | sort)" \
        'DELETE /:flow
DELETE /:waba/message_templates
POST /:flow/deprecate
POST /:phone/deregister
POST /:phone?pin'
}

@test "a plan that has ended is 403 10, a user without an account 400 100" {
    make_user LATE_
    switchboard plan set "$LATE_EMAIL" Premium --ends 2020-01-01
    request GET "/$LATE_LINE" --as "$LATE_TOKEN"
    assert_graph_error 403 10 OAuthException 'plan has ended'
    put BARE_TOKEN "$(switchboard user add bare@example.org)"
    request GET /me --as "$BARE_TOKEN"
    assert_graph_error 400 100 GraphMethodException
    switchboard user delete "$LATE_EMAIL"
    request GET "/$LATE_LINE" --as "$LATE_TOKEN"
    assert_graph_error 401 190 OAuthException
    assert_nothing_sent
}

# --- outages ---

# bats test_tags=route
@test "a platform that cannot be reached is 503 2; a change without an answer is 500 1" {
    write_config 'graph_base_url = http://127.0.0.1:1'
    graph GET "/$LINE"
    assert_graph_error 503 2 OAuthException 'could not be reached'
    assert_header Retry-After 5
    graph POST "/$LINE/settings" -d '{}'
    assert_graph_error 503 2 OAuthException 'could not be reached'
    write_config
    fault '{"kind":"reset"}'
    graph POST "/$LINE/settings" -d '{}'
    assert_graph_error 500 1 OAuthException 'is not known'
    refute_header Retry-After
    assert_equal "$(sent_count)" 1
}

# bats test_tags=long
@test "a database that cannot be used is 500 1 in the platform's shape" {
    write_config "database = $STACK/none.db"
    graph GET "/$LINE"
    write_config
    assert_graph_error 500 1 OAuthException 'database cannot be used'
    assert_nothing_sent
}

# --- blocks ---

@test "blocks at the platform are followed by the contact's blocks, and ended with them" {
    local contact
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550004321\",
        \"text\":\"hi\"}"
    assert_success
    contact=$(db "SELECT id FROM contact WHERE phone = '15550004321'")
    # the platform blocks only users who wrote in the last 24 hours, and says which it did not block
    sandbox POST windows "{\"phoneNumberId\":\"$LINE\",\"user\":\"15550004321\"}" >/dev/null
    graph POST "/v21.0/$LINE/block_users" \
        -d '{"messaging_product":"whatsapp","block_users":[{"user":"+1 555 000 4321"},
            {"user":"15550009876"}]}'
    assert_status 400
    assert_json '.block_users.added_users | map(.wa_id)' '["15550004321"]'
    assert_json '.block_users.failed_users | map([.wa_id, .errors[0].code])' \
        '[["15550009876",131047]]'
    assert_equal "$(db "SELECT l.phone_number_id FROM contact_block b JOIN line l
        ON l.id = b.line_id WHERE b.contact_id = '$contact'")" "$LINE"
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550004321\",
        \"text\":\"hi\"}"
    assert_error 403 FORBIDDEN blocked
    graph GET "/v21.0/$LINE/block_users"
    assert_status 200
    assert_that '.data | length > 0'
    graph DELETE "/v21.0/$LINE/block_users" \
        -d '{"messaging_product":"whatsapp","block_users":[{"user":"15550004321"}]}'
    assert_status 200
    assert_equal "$(db "SELECT count(*) FROM contact_block WHERE contact_id = '$contact'")" 0
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '15550009876'")" 0
}

@test "the platform refuses messages to a user whom it blocked and who is no contact here" {
    sandbox POST windows "{\"phoneNumberId\":\"$LINE\",\"user\":\"15550008765\"}" >/dev/null
    graph POST "/v21.0/$LINE/block_users" \
        -d '{"messaging_product":"whatsapp","block_users":[{"user":"15550008765"}]}'
    assert_status 200
    assert_json '.block_users.added_users | map(.wa_id)' '["15550008765"]'
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550008765\",
        \"text\":\"hi\"}"
    assert_error 400 VALIDATION_ERROR undeliverable
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '15550008765'")" 0
}

# --- secrets; the last test, because it reads what all others wrote ---

# bats test_tags=route,long
@test "no log holds an API token or a platform access token" {
    local token file
    request GET "/v21.0/$LINE?access_token=$TOKEN"
    request POST "/v21.0/$LINE/settings?access_token=$TOKEN" -d '{'
    request GET "/debug_token?input_token=$TOKEN&access_token=$TOKEN"
    for token in "$TOKEN" "$OTHER_TOKEN" "$PLATFORM_TOKEN" "$SECOND_PLATFORM_TOKEN"; do
        while IFS= read -r -d '' file; do
            ! grep -qaF -e "$token" "$file" || fail "$file holds a token"
        done < <(find "$STACK" -type f ! -name 'sandbox*' -print0)
    done
}
