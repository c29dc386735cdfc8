#!/usr/bin/env bats
# The edges by which programs for the platform say where its POSTs are to go: they set a webhook of
# the user that forwards, and never the platform's own settings.
load helpers/all
load helpers/courier
load helpers/graph

setup_file() {
    start_stack
    start_receiver shop
    make_user
    make_line '' # a second line of the account
    put FIRST_LINE "$(db "SELECT phone_number_id FROM line WHERE phone_number_id <> '$LINE'")"
    make_user OTHER_
}

teardown_file() {
    stop_receivers
    stop_stack
}

setup() {
    forget_sent
    db "DELETE FROM webhook WHERE kind = 'forward'"
    answers shop /hook 'verify s3cret'
    hook=$(url_of shop)/hook
}

# Prints the webhooks of the user of make_user, one a line: NAME URL FIELDS PHONE-NUMBER-ID...
webhooks() {
    db "SELECT w.name || ' ' || w.url || ' ' || coalesce(w.fields, '-') || ' ' || coalesce(
            (SELECT group_concat(l.phone_number_id, ' ') FROM line l
             WHERE instr(' ' || w.line_ids || ' ', ' ' || l.id || ' ') > 0), 'all')
        FROM webhook w JOIN \"user\" u ON u.id = w.user_id
        WHERE u.email = '$EMAIL' AND w.kind = 'forward' AND w.deleted_at IS NULL
        ORDER BY w.created_at, w.id"
}

subscribe() { # URL [TOKEN]
    graph POST "/v21.0/$WABA/subscribed_apps" \
        -d "{\"override_callback_uri\":\"$1\",\"verify_token\":\"${2-s3cret}\"}"
}

configure() { # LINE URL [TOKEN]
    graph POST "/v24.0/$1/" -d "{\"webhook_configuration\":{\"override_callback_uri\":\"$2\",
        \"verify_token\":\"${3-s3cret}\"}}"
}

assert_done() {
    assert_status 200
    assert_body_is '{"success":true}'
}

# bats test_tags=route
@test "subscribed_apps with a URL verifies it and makes a forward webhook of the account's lines" {
    subscribe "$hook"
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook - $FIRST_LINE $LINE"
    assert_equal "$(cat "$STACK"/receivers/shop/*.head | grep -c '^GET /hook?hub.mode=subscribe')" 1
    graph GET "/v21.0/$WABA/subscribed_apps"
    assert_status 200
    assert_json '.data[0].override_callback_uri' "$hook"
    assert_text '.data[0].whatsapp_business_api_data.id' 1000000000000001
    assert_that '.data | length == 1'
    # once more changes the same one
    subscribe "$hook?again=1"
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook?again=1 - $FIRST_LINE $LINE"
    graph DELETE "/v21.0/$WABA/subscribed_apps"
    assert_done
    assert_equal "$(webhooks)" ''
    graph DELETE "/v21.0/$WABA/subscribed_apps"
    assert_done
    assert_nothing_sent
}

@test "subscribed_apps without a URL succeeds and changes nothing" {
    graph POST "/v21.0/$WABA/subscribed_apps"
    assert_done
    subscribe "$hook"
    local before
    before=$(webhooks)
    graph POST "/v21.0/$WABA/subscribed_apps" -d '{}'
    assert_done
    assert_equal "$(webhooks)" "$before"
    graph GET "/v21.0/$WABA/subscribed_apps"
    assert_text '.data[0].whatsapp_business_api_data.name' switchboard
    assert_nothing_sent
}

@test "the parameters of subscribed_apps may stand in a form or in the query" {
    graph POST "/$WABA/subscribed_apps" -H 'Content-Type: application/x-www-form-urlencoded' \
        -d "override_callback_uri=${hook//:/%3A}&verify_token=s3cret"
    assert_done
    graph DELETE "/$WABA/subscribed_apps"
    graph POST "/$WABA/subscribed_apps?override_callback_uri=$hook&verify_token=s3cret"
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook - $FIRST_LINE $LINE"
}

@test "a URL that is not verified is 400 with the platform's code, and changes nothing" {
    subscribe "$hook" xyzzy
    assert_graph_error 400 2200 OAuthException '(#2200) Callback verification failed'
    refute grep -q xyzzy "$body"
    subscribe "http://127.0.0.1:1/"
    assert_graph_error 400 2200 OAuthException '(#2200) Callback verification failed'
    subscribe "ftp://example.org/"
    assert_graph_error 400 100 OAuthException override_callback_uri
    subscribe "$hook" ''
    assert_graph_error 400 100 OAuthException verify_token
    subscribe "$(url_of shop)/$(printf '%02048d' 0)"
    assert_graph_error 400 100 OAuthException 2048
    configure "$LINE" "$hook" xyzzy
    assert_graph_error 400 2200 OAuthException
    graph POST "/$LINE" -d '{"webhook_configuration":[]}'
    assert_graph_error 400 100 OAuthException object
    graph POST "/$LINE" -d '{"webhook_configuration":{}}'
    assert_graph_error 400 100 OAuthException override_callback_uri
    assert_equal "$(webhooks)" ''
    write_config 'webhook_egress = public'
    subscribe "$hook"
    write_config
    assert_graph_error 400 2200 OAuthException 'not allowed with webhook_egress'
    assert_nothing_sent
}

# bats test_tags=route
@test "webhook_configuration of a line makes a webhook of this line, which leaves that of the account" {
    subscribe "$hook"
    configure "$LINE" "$hook/line"
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook - $FIRST_LINE
Graph API $LINE $hook/line - $LINE"
    # the account's webhook stays with the other line
    subscribe "$hook?new"
    assert_equal "$(webhooks)" "Graph API $WABA $hook?new - $FIRST_LINE
Graph API $LINE $hook/line - $LINE"
    configure "$LINE" ''
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook?new - $FIRST_LINE $LINE"
    configure "$LINE" ''
    assert_done
    # as a JSON text, as some programs send objects
    graph POST "/$LINE" -d "$(gojq -nc --arg url "$hook" '{pin: "123456", webhook_configuration:
        {override_callback_uri: $url, verify_token: "s3cret"} | tojson}')"
    assert_done
    assert_nothing_sent
}

# A program has one application secret for all its numbers.
@test "all these webhooks have one code, which no answer of these routes holds" {
    local codes
    subscribe "$hook"
    refute grep -qE '[0-9a-f]{64}' "$body"
    configure "$LINE" "$hook"
    refute grep -qE '[0-9a-f]{64}' "$body"
    graph GET "/$WABA/subscribed_apps"
    refute grep -qE '[0-9a-f]{64}' "$body"
    api GET /v2/webhooks
    assert_success
    codes=$(gojq -r '.data.items[] | select(.kind == "forward").code' "$body")
    assert_equal "$(sort -u <<<"$codes" | grep -cE '^[0-9a-f]{64}$')" 1
    assert_equal "$(wc -l <<<"$codes")" 2
}

@test "another user's webhooks and accounts are not reached" {
    subscribe "$hook"
    request DELETE "/$WABA/subscribed_apps" --as "$OTHER_TOKEN"
    assert_graph_error 400 100 GraphMethodException
    request POST "/$OTHER_WABA/subscribed_apps" --as "$OTHER_TOKEN" \
        -d "{\"override_callback_uri\":\"$hook\",\"verify_token\":\"s3cret\"}"
    assert_done
    request DELETE "/$OTHER_WABA/subscribed_apps" --as "$OTHER_TOKEN"
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook - $FIRST_LINE $LINE"
}
