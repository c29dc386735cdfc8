#!/usr/bin/env bats
# The edges by which programs for the platform say where its POSTs are to go: they set a webhook of
# the user that forwards, and never the platform's own settings.
load helpers/all
load helpers/courier
load helpers/graph
load helpers/webhook

setup_file() {
    start_stack
    start_receiver shop
    make_user
    make_line '' # a second line of the account
    put FIRST_LINE "$(db "SELECT phone_number_id FROM line WHERE phone_number_id <> '$LINE'")"
    make_second_account
    make_user OTHER_
}

teardown_file() {
    stop_receivers
    stop_stack
}

setup() {
    forget_sent
    forget_webhooks
    db "DELETE FROM platform_post; UPDATE account SET subscribed_fields = NULL"
    answers shop hook 'verify s3cret'
    answers shop own 'verify s3cret'
    hook=$(url_of shop)/hook own=$(url_of shop)/own
}

# Prints the webhooks of the user of make_user, one a line: NAME URL FIELDS WABA PHONE-NUMBER-ID...
webhooks() {
    db "SELECT w.name || ' ' || w.url || ' ' || replace(coalesce(w.fields, '-'), ' ', ',') || ' ' ||
            coalesce((SELECT a.waba_id FROM account a WHERE a.id = w.account_id), '-') || ' ' ||
            coalesce((SELECT group_concat(l.phone_number_id, ' ') FROM line l
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
@test "subscribed_apps with a URL verifies it and makes a forward webhook of the account" {
    subscribe "$hook"
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook - $WABA all"
    assert_equal "$(cat "$STACK"/receivers/shop/*.head | grep -c '^GET /hook?hub.mode=subscribe')" 1
    graph GET "/v21.0/$WABA/subscribed_apps"
    assert_status 200
    assert_json '.data[0].override_callback_uri' "$hook"
    assert_text '.data[0].whatsapp_business_api_data.id' 1000000000000001
    assert_that '.data | length == 1'
    # once more changes the same one
    subscribe "$hook?again=1"
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook?again=1 - $WABA all"
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
    assert_equal "$(webhooks)" "Graph API $WABA $hook - $WABA all"
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
@test "webhook_configuration of a line makes a webhook of this line, beside that of the account" {
    subscribe "$hook"
    configure "$LINE" "$own"
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook - $WABA all
Graph API $LINE $own - $WABA $LINE"
    # each changes by itself
    subscribe "$hook?new"
    configure "$LINE" "$own?new"
    assert_equal "$(webhooks)" "Graph API $WABA $hook?new - $WABA all
Graph API $LINE $own?new - $WABA $LINE"
    configure "$LINE" ''
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook?new - $WABA all"
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
    assert_equal "$(webhooks)" "Graph API $WABA $hook - $WABA all"
    request GET "/$OTHER_LINE?fields=webhook_configuration" --as "$OTHER_TOKEN"
    assert_json .webhook_configuration '{}'
}

# --- which POST goes where ---

# Delivers a message to a line and prints which paths of the receiver get it: path_of_message LINE
path_of_message() {
    local LINE=$1
    take "$(payload "$(inbound "wamid.$RANDOM$RANDOM" $P1 $B1)")"
    path_of_posts
}

# Delivers what waits, and prints the paths that got a POST.
path_of_posts() {
    rm -f "$shop_DIR"/*.{head,body,meta}
    courier_once
    sed -sn '1s,^POST /\([a-z]*\).*,\1,p' "$shop_DIR"/*.head 2>/dev/null | sort | tr '\n' ' '
}

# bats test_tags=route,long
@test "the callback of a number goes before that of the account, in whichever order they are set" {
    local line
    for line in "$LINE" "$FIRST_LINE"; do
        configure "$line" "$own"
        assert_done
    done
    # each line has one of its own: that of the account is accepted, and gets no message
    subscribe "$hook"
    assert_done
    assert_equal "$(path_of_message "$LINE")" 'own '
    # it gets the messages of a line whose own webhook goes
    configure "$LINE" ''
    assert_done
    assert_equal "$(path_of_message "$LINE")" 'hook '
    assert_equal "$(path_of_message "$FIRST_LINE")" 'own '
    configure "$LINE" "$own"
    assert_equal "$(path_of_message "$LINE")" 'own '
    graph DELETE "/$WABA/subscribed_apps"
    configure "$LINE" ''
    assert_equal "$(path_of_message "$LINE")" ''
}

@test "the account's callback gets later lines too, and nothing of another account" {
    subscribe "$hook"
    local line
    line=7$RANDOM$RANDOM
    switchboard line add "$ACCOUNT" --phone-number-id "$line" --number +15550109999 >/dev/null
    assert_equal "$(path_of_message "$line")" 'hook '
    assert_equal "$(WABA=$SECOND_WABA path_of_message "$SECOND_LINE")" ''
    # of one POST with entries of both accounts it gets its own
    take "{\"object\":\"whatsapp_business_account\",\"entry\":[$(
        printf '{"id":"%s","changes":[%s]},' "$SECOND_WABA" \
            "$(LINE=$SECOND_LINE inbound wamid.b $P2 $B2)"
        printf '{"id":"%s","changes":[%s]}' "$WABA" "$(inbound wamid.a $P1 $B1)")]}"
    assert_equal "$(path_of_posts)" 'hook '
    assert_equal "$(gojq -c '[.entry[].id]' "$shop_DIR"/*.body)" "[\"$WABA\"]"
    switchboard line archive "$line"
    assert_equal "$(path_of_message "$line")" ''
}

# --- the application: what n8n's trigger asks for ---

APP=1000000000000001
json='Content-Type: application/json'
form='Content-Type: application/x-www-form-urlencoded'

# Makes a scoped token, and asks for the token of the application by it: log_in SCOPES [CLIENT-ID]
log_in() {
    secret=$(switchboard scoped-token add "$EMAIL" --name trigger --scope "$1")
    request POST /v19.0/oauth/access_token -H "$form" \
        -d "client_id=${2-$APP}&client_secret=$secret&grant_type=client_credentials"
}

# Prints a subscription as JSON: asking URL [VERIFY-TOKEN [OBJECT]]
asking() {
    jq -nc --arg url "$1" --arg token "${2-s3cret}" --arg object "${3-whatsapp_business_account}" \
        '{object: $object, callback_url: $url, verify_token: $token,
            fields: "[\"messages\",\"account_update\"]", include_values: true}'
}

of_app() { # METHOD [option of request...]
    request "$1" "/v19.0/$APP/subscriptions" -H "Authorization: Bearer $secret" "${@:2}"
}

# bats test_tags=route,long
@test "a trigger gets a token by id and secret, subscribes, and unsubscribes" {
    local secret
    log_in manage
    assert_status 200
    assert_body_is "{\"access_token\":\"$secret\",\"token_type\":\"bearer\"}"
    of_app GET
    assert_body_is '{"data":[]}'
    of_app POST -H "$json" -d "$(asking "$hook")"
    assert_done
    assert_equal "$(webhooks)" "Graph API $APP $hook messages,account_update - all"
    of_app GET
    assert_json .data "[{\"object\":\"whatsapp_business_account\",\"callback_url\":\"$hook\",
        \"active\":true,\"fields\":[{\"name\":\"account_update\",\"version\":\"v26.0\"},
            {\"name\":\"messages\",\"version\":\"v26.0\"}]}]"
    # another URL and other fields change the same one
    of_app POST -H "$json" -d "$(asking "$own" | jq -c '.fields = "messages"')"
    assert_done
    assert_equal "$(webhooks)" "Graph API $APP $own messages - all"
    of_app DELETE -H "$json" -d '{"object":"whatsapp_business_account"}'
    assert_done
    assert_equal "$(webhooks)" ''
    of_app DELETE
    assert_done
    assert_nothing_sent
}

@test "a trigger gets the POSTs of all lines, signed with its secret" {
    local secret post signature
    log_in manage
    of_app POST -H "$form" \
        -d "object=whatsapp_business_account&callback_url=$hook&verify_token=s3cret"
    assert_done
    assert_equal "$(path_of_message "$LINE")" 'hook '
    assert_equal "$(WABA=$SECOND_WABA path_of_message "$SECOND_LINE")" 'hook '
    post=$(ls "$shop_DIR"/*.body | tail -n 1)
    signature=$(sed -n 's/^x-hub-signature-256: sha256=\([0-9a-f]*\).*/\1/Ip' "${post%.body}.head")
    assert_equal "$signature" "$(openssl dgst -sha256 -hmac "$secret" -r "$post" | cut -d ' ' -f 1)"
}

@test "a trigger's secret is a token that may manage, and neither read nor send" {
    local secret scopes
    for scopes in manage,read manage,send manage,inbox; do
        log_in "$scopes"
        assert_graph_error 403 10 OAuthException 'a scoped token with the scope manage'
        of_app POST -H "$json" -d "$(asking "$hook")"
        assert_graph_error 403 10 OAuthException 'a scoped token with the scope manage'
    done
    log_in basic,events
    assert_graph_error 403 10 OAuthException
    of_app GET
    assert_graph_error 403 10 OAuthException
    log_in basic,events,manage
    assert_status 200
    log_in manage 1234
    assert_graph_error 400 100 OAuthException "client_id must be $APP"
    request POST /v19.0/oauth/access_token -H "$form" -d "client_id=$APP"
    assert_graph_error 400 100 OAuthException 'Missing client_secret'
    request GET "/v19.0/oauth/access_token?client_id=$APP&client_secret=wrong"
    assert_graph_error 401 190 OAuthException
    request GET "/v19.0/oauth/access_token?client_id=$APP&client_secret=$secret"
    assert_json . "{\"access_token\":\"$secret\",\"token_type\":\"bearer\"}"
    assert_equal "$(webhooks)" ''
}

@test "a trigger's subscription is refused without its object, or with a URL that is not verified" {
    local secret
    log_in manage
    of_app POST -H "$json" -d "$(asking "$hook" s3cret page)"
    assert_graph_error 400 100 OAuthException 'object must be whatsapp_business_account'
    of_app POST -H "$json" -d "$(asking "$hook" other)"
    assert_graph_error 400 2200 OAuthException 'Callback verification failed'
    of_app POST -H "$json" -d "$(asking x)"
    assert_graph_error 400 100 OAuthException callback_url
    assert_equal "$(webhooks)" ''
}

# --- the life of n8n's trigger ---

# Does what the trigger does when its workflow is activated or listens for a test event. Prints
# `made`, `there` when its subscription is there, or `taken` when another URL has it, where n8n
# shows an error: activate URL NODE-ID FIELDS
activate() {
    local found
    request POST /v19.0/oauth/access_token -H "$form" \
        -d "client_id=$APP&client_secret=$secret&grant_type=client_credentials"
    assert_text .access_token "$secret"
    of_app GET -H 'Accept: application/json'
    assert_status 200
    found=$(gojq -r --argjson fields "$3" '.data[] | select(.object == "whatsapp_business_account"
        and .active and ([.fields[].name] | sort) == ($fields | sort)) | .callback_url' "$body")
    if [[ -n $found ]]; then
        [[ $found == "$1" ]] && echo there || echo taken
        return
    fi
    of_app POST -H "$json" -d "$(asking "$1" "$2" | gojq -c --arg fields "$3" '.fields = $fields')"
    assert_done
    echo made
}

deactivate() {
    of_app DELETE -H "$json" -d '{"object":"whatsapp_business_account"}'
    assert_done
}

# Prints what the trigger gives to its workflow, of the last POST: nothing if the signature is not
# that of its secret over the bytes, or the object is another.
given_to_workflow() {
    local post
    post=$(ls "$shop_DIR"/*.body | tail -n 1)
    grep -qi "^x-hub-signature-256: sha256=$(openssl dgst -sha256 -hmac "$secret" -r "$post" |
        cut -d ' ' -f 1)" "${post%.body}.head" || return 0
    jq -c 'select(.object == "whatsapp_business_account") | .entry[].changes[]
        | .value + {field} | [.field, .messages[0].from // .statuses[0].status]' "$post"
}

# bats test_tags=long
@test "n8n's trigger is activated, receives, answers, is tested, and deactivated" {
    local secret node=0c1d9a5e-3f0e-4a52-9d0b-6b8f1c1a7e11 answer wamid
    secret=$(switchboard scoped-token add "$EMAIL" --name n8n --scope manage)
    answers shop hook "verify $node"
    answers shop own "verify $node"
    assert_equal "$(activate "$hook" "$node" '["messages"]')" made
    assert_equal "$(webhooks)" "Graph API $APP $hook messages - all"
    grep -qs "^GET /hook?hub.mode=subscribe&.*hub.verify_token=$node" "$shop_DIR"/*.head
    # a message, the answer by the other node, and its status
    assert_equal "$(path_of_message "$LINE")" 'hook '
    assert_equal "$(given_to_workflow)" "[\"messages\",\"$P1\"]"
    answer="{\"messaging_product\":\"whatsapp\",\"to\":\"$P1\",\"text\":{\"body\":\"Yes\"},"
    answer+='"type":"text"}'
    graph POST "/v13.0/$LINE/messages" -d "$answer"
    assert_status 200
    assert_sent "$answer"
    wamid=$(gojq -r '.messages[0].id' "$body")
    take "$(payload "$(status_of "$wamid" read "\"recipient_id\":\"$P1\"")")"
    assert_equal "$(path_of_posts)" 'hook '
    assert_equal "$(given_to_workflow)" '["messages","read"]'
    # n8n starts again, listens for a test event meanwhile, and its user chooses other events
    assert_equal "$(activate "$hook" "$node" '["messages"]')" there
    assert_equal "$(activate "$own" "$node" '["messages"]')" taken
    assert_equal "$(activate "$hook" "$node" '["messages","account_update"]')" made
    assert_equal "$(webhooks)" "Graph API $APP $hook messages,account_update - all"
    deactivate
    assert_equal "$(webhooks)" ''
    assert_equal "$(path_of_message "$LINE")" ''
    # a test event, after which n8n ends the subscription, and once more when its user stops it
    assert_equal "$(activate "$own" "$node" '["messages"]')" made
    assert_equal "$(path_of_message "$LINE")" 'own '
    assert_equal "$(given_to_workflow)" "[\"messages\",\"$P1\"]"
    deactivate
    deactivate
    assert_equal "$(path_of_message "$LINE")" ''
}

@test "n8n's trigger keeps its subscription when another node's id is at the URL, or its secret ends" {
    local secret node=0c1d9a5e-3f0e-4a52-9d0b-6b8f1c1a7e11
    secret=$(switchboard scoped-token add "$EMAIL" --name n8n --scope manage)
    answers shop hook "verify $node"
    # so n8n answers a challenge whose token is not the node's id
    answers shop own 'body {"message":"Workflow was started"}'
    assert_equal "$(activate "$hook" "$node" '["messages"]')" made
    of_app POST -H "$json" -d "$(asking "$own" "$node")"
    assert_graph_error 400 2200 OAuthException 'Callback verification failed'
    assert_equal "$(webhooks)" "Graph API $APP $hook messages - all"
    switchboard scoped-token revoke "$EMAIL" \
        "$(db 'SELECT id FROM scoped_token ORDER BY created_at DESC, id DESC LIMIT 1')"
    request POST /v19.0/oauth/access_token -H "$form" \
        -d "client_id=$APP&client_secret=$secret&grant_type=client_credentials"
    assert_graph_error 401 190 OAuthException
    of_app DELETE -H "$json" -d '{"object":"whatsapp_business_account"}'
    assert_graph_error 401 190 OAuthException
    assert_equal "$(path_of_message "$LINE")" 'hook '
    assert_equal "$(given_to_workflow)" "[\"messages\",\"$P1\"]"
}

# --- subscribed_fields ---

subscribe_fields() { # JSON
    graph POST "/v22.0/$WABA/subscribed_apps" -d "{\"subscribed_fields\":$1}"
}

@test "subscribed_fields are the fields of the account's webhook and of those of its lines" {
    local name body_of
    subscribe "$hook"
    configure "$LINE" "$own"
    subscribe_fields '["messages","smb_message_echoes"]'
    assert_done
    assert_equal "$(webhooks)" "Graph API $WABA $hook messages,smb_message_echoes $WABA all
Graph API $LINE $own messages,smb_message_echoes $WABA $LINE"
    # without them they stay, and what is no name of a field is ignored
    graph POST "/v22.0/$WABA/subscribed_apps"
    subscribe_fields '["*","Calls","",5,null]'
    assert_done
    subscribe_fields null
    assert_done
    subscribe_fields '{"a":1}'
    assert_graph_error 400 100 OAuthException 'subscribed_fields must be a list'
    subscribe_fields '"[1"'
    assert_graph_error 400 100 OAuthException 'subscribed_fields must be a list'
    assert_equal "$(webhooks | cut -d ' ' -f 5 | sort -u)" messages,smb_message_echoes
    # in each form that programs send lists in
    while read -r name body_of; do
        subscribe_fields "$body_of"
        assert_done
        assert_equal "$(webhooks | cut -d ' ' -f 5 | sort -u)" "$name"
    done <<'END'
calls,messages "calls, messages,calls"
flows,calls "[\"flows\",\"calls\"]"
END
    while read -r name body_of; do
        graph POST "/v22.0/$WABA/subscribed_apps" -d "$body_of" \
            -H 'Content-Type: application/x-www-form-urlencoded'
        assert_done
        assert_equal "$(webhooks | cut -d ' ' -f 5 | sort -u)" "$name"
    done <<'END'
messages,flows subscribed_fields=messages%2Cflows
flows,messages subscribed_fields=%5B%22flows%22%2C%22messages%22%5D
messages,calls subscribed_fields%5B0%5D=messages&subscribed_fields%5B1%5D=calls
END
    # no parameter is read of a multipart form
    graph POST "/v22.0/$WABA/subscribed_apps" -H 'Content-Type: multipart/form-data; boundary=x' \
        -d $'--x\r\nContent-Disposition: form-data; name="subscribed_fields"\r\n\r\na\r\n--x--\r\n'
    assert_graph_error 400 100 OAuthException 'must be JSON or application/x-www-form-urlencoded'
    graph POST "/v22.0/$WABA/subscribed_apps?subscribed_fields=messages,account_update"
    assert_done
    assert_equal "$(webhooks | cut -d ' ' -f 5 | sort -u)" messages,account_update
    assert_nothing_sent
}

# bats test_tags=route
@test "subscribed_fields before any callback are those of the webhooks that are made next" {
    subscribe_fields '["messages","smb_message_echoes"]'
    assert_done
    assert_equal "$(webhooks)" ''
    graph GET "/v22.0/$WABA/subscribed_apps"
    assert_that '.data[0] | keys == ["whatsapp_business_api_data"]'
    configure "$LINE" "$own"
    assert_done
    assert_equal "$(webhooks)" "Graph API $LINE $own messages,smb_message_echoes $WABA $LINE"
    take "$(payload "$(change smb_message_echoes '"message_echoes":[{"id":"wamid.echo",
        "to":"16505550001","timestamp":"1780000000","type":"text","text":{"body":"Hi"}}]')")"
    assert_equal "$(path_of_posts)" 'own '
    # another account has its own, and a DELETE forgets them
    configure "$SECOND_LINE" "$own"
    graph DELETE "/v22.0/$WABA/subscribed_apps"
    configure "$FIRST_LINE" "$own"
    assert_equal "$(webhooks)" "Graph API $LINE $own messages,smb_message_echoes $WABA $LINE
Graph API $SECOND_LINE $own - $SECOND_WABA $SECOND_LINE
Graph API $FIRST_LINE $own - $WABA $FIRST_LINE"
}

# --- reading it back ---

# Expects the callbacks of a line in each answer that holds them: assert_configuration JSON [LINE]
assert_configuration() {
    local line=${2-$LINE}
    graph GET "/v24.0/$line?fields=webhook_configuration"
    assert_body_is "{\"webhook_configuration\":$1,\"id\":\"$line\"}"
    graph GET "/$line"
    assert_json .webhook_configuration "$1"
    graph GET "/v22.0/$WABA/phone_numbers?fields=id,webhook_configuration"
    assert_json ".data[] | select(.id == \"$line\").webhook_configuration" "$1"
    graph GET "/v22.0/$WABA/phone_numbers"
    assert_json ".data[] | select(.id == \"$line\").webhook_configuration" "$1"
    graph GET "/v22.0/?ids=$line,$WABA&fields=id"
    assert_body_is "{\"$line\":{\"id\":\"$line\"},\"$WABA\":{\"id\":\"$WABA\"}}"
    graph GET "/v22.0/?ids=$line"
    assert_json ".[\"$line\"].webhook_configuration" "$1"
}

# bats test_tags=route,long
@test "webhook_configuration reads back what was set, and never the gateway's own callback" {
    sandbox POST settings '{"webhookUrl":"http://127.0.0.1:9/platform/webhook"}' >/dev/null
    assert_configuration '{}'
    configure "$LINE" "$own"
    assert_configuration "{\"phone_number\":\"$own\"}"
    assert_configuration '{}' "$FIRST_LINE"
    subscribe "$hook"
    assert_configuration "{\"whatsapp_business_account\":\"$hook\",\"phone_number\":\"$own\"}"
    assert_configuration "{\"whatsapp_business_account\":\"$hook\"}" "$FIRST_LINE"
    configure "$LINE" ''
    assert_configuration "{\"whatsapp_business_account\":\"$hook\"}"
    graph DELETE "/$WABA/subscribed_apps"
    assert_configuration '{}'
    sandbox POST settings '{"webhookUrl":null}' >/dev/null
}

# bats test_tags=long
@test "a person's webhook counts: for one line as that of the number, for more as the application's" {
    local base="\"url\":\"$hook\",\"kind\":\"forward\",\"verifyToken\":\"s3cret\""
    api POST /v2/webhooks -d "{$base,\"fields\":[\"flows\"]}" # gets no messages
    assert_configuration '{}'
    api POST /v2/webhooks -d "{$base,\"fields\":[\"*\"]}"
    assert_success
    assert_configuration "{\"application\":\"$hook\"}"
    api POST /v2/webhooks -d "{${base/hook/own},\"phoneNumberIds\":[\"$LINE\"]}"
    assert_success
    assert_configuration "{\"application\":\"$hook\",\"phone_number\":\"$own\"}"
    configure "$LINE" "$own?2"
    assert_configuration "{\"application\":\"$hook\",\"phone_number\":\"$own?2\"}"
    configure "$LINE" ''
    # it is not the program's to delete
    assert_configuration "{\"application\":\"$hook\",\"phone_number\":\"$own\"}"
}

@test "all other bytes of the answer stay, and a number without the member gets it if it is asked for" {
    local text="{\"id\":\"$LINE\",\"a\":\"\\u00fc\\/\", \"n\" : 1e400" own_text other
    text+=',"health":{"entities":[{"id":"1"}]}'
    own_text="$text ,\"webhook_configuration\":{\"phone_number\":\"$own\"}}"
    other='{"webhook_configuration" : 5 , "id":"1"}'
    configure "$LINE" "$own"
    forget_sent
    platform_answers_to GET "/$LINE" 200 "$text }"
    graph GET "/$LINE?fields=id,webhook_configuration"
    assert_body_is "$own_text"
    assert_equal "$(query_sent)" 'fields=id,webhook_configuration'
    platform_answers_to GET "/$LINE" 200 "$text }"
    graph GET "/$LINE"
    assert_body_is "$text }"
    platform_answers_to GET "/$WABA/phone_numbers" 200 "{\"data\":[$text },$other]}"
    graph GET "/$WABA/phone_numbers?fields=webhook_configuration"
    assert_body_is "{\"data\":[$own_text,${other/5/\{\}}]}"
    other='{"error":{"message":"x","code":100,"webhook_configuration":1}}'
    platform_answers_to GET "/$LINE" 400 "$other"
    graph GET "/$LINE?fields=webhook_configuration"
    assert_body_is "$other"
}

@test "numbers and subscribed apps within an account show the caller's callbacks too" {
    configure "$LINE" "$own"
    subscribe "$hook"
    sandbox POST settings '{"webhookUrl":"http://127.0.0.1:9/platform/webhook"}' >/dev/null
    graph GET "/$WABA?fields=phone_numbers,subscribed_apps"
    assert_json ".phone_numbers.data[] | select(.id == \"$LINE\").webhook_configuration" \
        "{\"whatsapp_business_account\":\"$hook\",\"phone_number\":\"$own\"}"
    assert_text .subscribed_apps.data[0].override_callback_uri "$hook"
    assert_text .subscribed_apps.data[0].whatsapp_business_api_data.name switchboard
    sandbox POST settings '{"webhookUrl":null}' >/dev/null
}
