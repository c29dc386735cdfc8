#!/usr/bin/env bats
# Requests in the platform's form by which a client would get more from the platform than the table
# of edges allows. The platform reads names of parameters as PHP does: white space before a name has
# no effect, and NAME[...] is a part of NAME.
load helpers/all
load helpers/graph

setup_file() {
    start_stack
    make_user
}

form='Content-Type: application/x-www-form-urlencoded'

# bats test_tags=route,long
@test "parameters that are refused are refused in every spelling that the platform reads" {
    local name
    for name in '%20method' 'method[]' 'method%5B0%5D' '+%09batch[0][method]' 'batch[]' 'ids[0]'; do
        printf 'case: %s\n' "$name"
        graph POST "/$LINE/settings?${name//[/%5B}=delete"
        assert_graph_error 400 100 OAuthException 'The parameter'
        graph POST "/$LINE/settings" -d "a=1&$name=delete" -H "$form"
        assert_graph_error 400 100 OAuthException 'The parameter'
    done
    for name in ' method' 'method[]' '\tbatch[0][method]' 'ids[0]'; do
        graph POST "/$LINE/settings" -d "{\"$name\":\"delete\"}"
        assert_graph_error 400 100 OAuthException 'The parameter'
    done
    assert_nothing_sent
}

# bats test_tags=route,long
@test "fields may stand in a request once, as one text" {
    local query
    make_objects
    for query in 'fields=id&fields=owner{name}' 'fields[]=owner%7Bname%7D' 'fields%5B0%5D=id' \
        '%20fields=owner%7Bname%7D' 'fields=id&a=1&fields=id'; do
        printf 'case: %s\n' "$query"
        graph GET "/$FLOW?${query//[\{\[]/%5B}"
        assert_graph_error 400 100 OAuthException fields
        graph GET "/v21.0/?ids=$WABA&${query//[\{\[]/%5B}"
        assert_graph_error 400 100 OAuthException fields
    done
    graph POST "/$LINE/settings?fields=id" -d 'fields=owner%7Bname%7D' -H "$form"
    assert_graph_error 400 100 OAuthException fields
    graph POST "/$LINE/settings?fields=id" -d '{"fields":"owner{name}"}'
    assert_graph_error 400 100 OAuthException fields
    graph POST "/$LINE/settings" -d '{"fields":"id","fields":"owner{name}"}'
    assert_graph_error 400 100 OAuthException fields
    graph POST "/$LINE/settings" -d '{"fields":["owner{name}"]}'
    assert_graph_error 400 100 OAuthException fields
    graph POST "/$LINE/settings" -H 'Content-Type: multipart/form-data; boundary=x' \
        -d $'--x\r\nContent-Disposition: form-data; name="fields"\r\n\r\na{b}\r\n--x--\r\n'
    assert_graph_error 400 100 OAuthException fields
    assert_nothing_sent
}

# bats test_tags=route,long
@test "fields of connected nodes are refused in the older notation, too" {
    local fields
    for fields in 'owner.fields(id,name)' 'id,owner.limit(3).fields(a)' 'owner.FIELDS(a)' \
        'owner.%20fields%20(a)' 'owner.fields%20%28a%29'; do
        printf 'case: %s\n' "$fields"
        graph GET "/$WABA?fields=$fields"
        assert_graph_error 400 100 OAuthException 'connected nodes'
        graph GET "/$LINE?fields=$fields"
        assert_graph_error 400 100 OAuthException 'connected nodes'
    done
    assert_nothing_sent
    graph GET "/$WABA?fields=id,message_templates.limit(3)"
    assert_equal "$(query_sent)" 'fields=id,message_templates.limit(3)'
}

# bats test_tags=route
@test "with the PIN of a number no other property of it is passed on" {
    write_config 'graph_destructive = yes'
    local other='search_visibility'
    graph POST "/$LINE" -d "{\"pin\":\"123456\",\"$other\":{\"override_callback_uri\":\"x\"}}"
    assert_graph_error 400 100 OAuthException "$other"
    graph POST "/$LINE?pin=123456&webhook_configuration%5Boverride_callback_uri%5D=x"
    assert_graph_error 400 100 OAuthException webhook_configuration
    # the object itself is read here, and the PIN beside it is not passed on
    graph POST "/$LINE" -d '{"pin":"123456","webhook_configuration":{"verify_token":"x"}}'
    assert_graph_error 400 100 OAuthException override_callback_uri
    graph POST "/$LINE?pin=123456" -d "$other=x" -H "$form"
    assert_graph_error 400 100 OAuthException "$other"
    graph POST "/$LINE?pin=123456" -H 'Content-Type: multipart/form-data; boundary=x' \
        -d $'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
    assert_graph_error 400 100 OAuthException
    write_config
    assert_nothing_sent
}

# bats test_tags=route
@test "an upload must be multipart/form-data" {
    local type
    for type in application/json "${form#*: }" text/plain; do
        graph POST "/$LINE/media" -d 'batch=x' -H "Content-Type: $type"
        assert_graph_error 400 100 OAuthException multipart/form-data
    done
    assert_nothing_sent
}

# Apache carries such steps out before it chooses the program.
# bats test_tags=direct
@test "a code of a QR code that is a step within the path is refused" {
    local code
    for code in . ..; do
        forget_sent
        graph DELETE "/v21.0/$LINE/message_qrdls/$code"
        assert_equal "$(sent_count "path=/v26.0/$LINE/")" 0
        ((status >= 400)) || fail_answer 'expected a refusal'
        assert_nothing_sent
    done
}

# --- answers of the platform that are not passed on as they are ---

# bats test_tags=route
@test "a header of the platform that is too long for Apache, or has the token, is left out" {
    local value
    for value in "$(printf '%9000s' '' | tr ' ' 1)" "a $PLATFORM_TOKEN"; do
        fault "$(gojq -nc --arg value "$value" \
            '{status: 200, body: "{\"id\":\"1\"}", headers: {"Retry-After": $value}}')"
        graph GET "/$LINE"
        assert_status 200
        refute_header Retry-After
        assert_body_is '{"id":"1"}'
    done
}

# bats test_tags=route
@test "an answer that only begins as JSON is an error, one beyond our limits is passed on" {
    local text
    for text in 'trueX' '{"id":"1"' '{"id":"1"}}' '{"id":"1"} x' '{"id":1,}'; do
        printf 'case: %s\n' "$text"
        fault "$(gojq -nc --arg text "$text" '{status: 200, body: $text}')"
        graph GET "/$LINE"
        assert_graph_error 500 1 OAuthException 'without JSON'
    done
    text="{\"a\":$(printf '%150s' '' | tr ' ' '[')$(printf '%150s' '' | tr ' ' ']')}"
    fault "$(gojq -nc --arg text "$text" '{status: 200, body: $text}')"
    graph GET "/$LINE"
    assert_status 200
    assert_body_is "$text"
}

# bats test_tags=route
@test "an answer with the platform access token is an error, also in a link or an escape" {
    local text escaped
    escaped="\\u00$(printf '%02x' "'$PLATFORM_TOKEN")${PLATFORM_TOKEN:1}"
    for text in "{\"a\":\"x$PLATFORM_TOKEN\"}" "{\"a\":\"x$escaped\"}" \
        "{\"paging\":{\"next\":{\"url\":\"https:\\/\\/h\\/?access_token=$escaped\"}}}"; do
        printf 'case: %s\n' "$text"
        fault "$(gojq -nc --arg text "$text" '{status: 400, body: $text}')"
        graph GET "/$LINE"
        assert_graph_error 500 1 OAuthException 'holds a secret'
    done
}

# Expects the platform's error for an edge that a node does not have, and that it names the edge:
# refuses_edge METHOD PATH-WITHOUT-VERSION
refuses_edge() {
    graph "$1" "/v22.0$2" -d '{}'
    assert_graph_error 400 100 GraphMethodException 'does not support this operation'
    assert_json .error.error_subcode 33
    assert_text .error.error_data.details \
        "The gateway does not serve $1 $2; doc/api/graph.md lists what it serves."
}

# bats test_tags=route,long
@test "an edge of a node of the caller that is not served is named in the details, and of others not" {
    local edge path
    make_objects
    for edge in calls groups username; do
        refuses_edge POST "/$LINE/$edge"
    done
    refuses_edge POST "/$LINE"
    refuses_edge GET "/$LINE/messages"
    refuses_edge GET "/$WABA/conversation_analytics"
    refuses_edge DELETE "/$WABA/phone_numbers"
    assert_nothing_sent
    refuses_edge POST "/$TEMPLATE/publish"
    # an id of another user is answered like one that does not exist
    make_user OTHER_
    for path in "/$OTHER_LINE/calls" "/$OTHER_WABA/conversation_analytics" /999999/calls /me/calls \
        "/$FLOW/calls"; do
        graph POST "/v22.0$path" -d '{}'
        assert_graph_error 400 100 GraphMethodException
        assert_that '.error | has("error_data") | not'
    done
}

# bats test_tags=route
@test "the edges of another app are refused with a sentence, whatever the token is" {
    local text='The only application here is 1000000000000001; see doc/clients/n8n.md'
    request GET /v19.0/1234/subscriptions -H 'Authorization: Bearer 1234|secret'
    assert_graph_error 400 100 OAuthException "(#100) $text"
    assert_text .error.error_data.details "$text"
    graph POST "/v19.0/$LINE/subscriptions" -d '{"object":"whatsapp_business_account"}'
    assert_graph_error 400 100 OAuthException "$text"
    graph DELETE '/graph/v19.0/1234/subscriptions/'
    assert_graph_error 400 100 OAuthException "$text"
    assert_nothing_sent
}
