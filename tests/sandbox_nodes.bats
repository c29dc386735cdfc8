#!/usr/bin/env bats
# transports: direct
# The Graph sandbox has the nodes and edges that setup dialogs and management programs use: it
# answers them with the platform's shapes and keeps what they change until it is reset.
# bats file_tags=long
load helpers/all
load helpers/courier
load helpers/sandbox_calls

APP=730000000000001
TEMPLATE=310000000000001
FLOW=410000000000001
DRAFT=410000000000002
PHOTO=1100000000000001

del() { # PATH [JSON]
    graph DELETE "$1" ${2:+-H 'Content-Type: application/json' --data-binary "$2"}
}

assert_done() {
    assert_status 200
    assert_body_is '{"success":true}'
}

# The answer is an unknown object or an unknown edge of a change: assert_unknown METHOD ID
assert_unknown() {
    assert_refused 400 100 "Unsupported ${1,,} request. Object with ID '$2'"
    assert_json .error.error_subcode 33
    assert_text .error.type GraphMethodException
}

assert_nonexisting() { # FIELD TYPE
    assert_refused 400 100 "nonexisting field ($1) on node type ($2)"
    assert_text .error.type OAuthException
    assert_that '.error | has("error_subcode") | not'
}

# A callback that confirms a verification with the token `good`, and one that refuses it. The other
# helpers of the courier's tests are not used.
open_callback() {
    start_receiver callback
    answers callback good 'verify good'
    answers callback bad 'status 403'
    answers callback other 'body 1'
}

teardown() {
    stop_receivers
    rm -rf "$STACK/receivers"
}

# --- Fields -------------------------------------------------------------------------------------

@test "fields: a number has standard fields, those that are chosen in their order, and its id last" {
    graph GET "$LINE"
    assert_body_is '{"verified_name":"Blue Kettle Tea","code_verification_status":"VERIFIED","display_phone_number":"+1 555-010-0001","quality_rating":"GREEN","platform_type":"CLOUD_API","throughput":{"level":"STANDARD"},"webhook_configuration":{},"id":"'$LINE'"}'
    graph GET "$LINE?fields=status,name_status,is_pin_enabled"
    assert_body_is '{"status":"CONNECTED","name_status":"APPROVED","is_pin_enabled":false,"id":"'$LINE'"}'
    graph GET "$LINE?fields=id,quality_score"
    assert_body_is '{"id":"'$LINE'","quality_score":{"score":"GREEN"}}'
    # the fields of Chatwoot's health check
    graph GET "$LINE?fields=quality_rating,messaging_limit_tier,code_verification_status,account_mode,id,display_phone_number,name_status,verified_name,webhook_configuration,throughput,last_onboarded_time,platform_type,certificate,whatsapp_business_manager_messaging_limit"
    assert_status 200
    assert_that '.account_mode == "LIVE" and .messaging_limit_tier == "TIER_1K"'
}

@test "fields: an account, media, a flow, a template, the app and the user have fields too" {
    graph GET "$WABA"
    assert_body_is '{"id":"'$WABA'","name":"Blue Kettle Tea","timezone_id":"1","message_template_namespace":"ns_'$WABA'"}'
    graph GET "$WABA?fields=id,name,owner_business_info"
    assert_body_is '{"id":"'$WABA'","name":"Blue Kettle Tea","owner_business_info":{"name":"Blue Kettle Tea","id":"5'$WABA'"}}'
    graph GET "$PHOTO?fields=mime_type,file_size"
    assert_body_is '{"mime_type":"image\/jpeg","file_size":49664,"id":"'$PHOTO'"}'
    graph GET "$FLOW?fields=status"
    assert_body_is '{"status":"PUBLISHED","id":"'$FLOW'"}'
    graph GET "$TEMPLATE?fields=language,quality_score,name"
    assert_body_is '{"language":"en_US","name":"hello_world","id":"'$TEMPLATE'"}'
    graph GET 'app?fields=name'
    assert_body_is '{"name":"Sandbox App","id":"'$APP'"}'
    graph GET 'me?fields=id'
    assert_body_is '{"id":"'$WABA'"}'
}

@test "fields: choices in braces select members of objects, of lists and of edges" {
    graph GET "$LINE?fields=health_status{can_send_message,entities{entity_type}}"
    assert_json . '{"health_status":{"can_send_message":"AVAILABLE","entities":[{"entity_type":"PHONE_NUMBER"},{"entity_type":"WABA"},{"entity_type":"APP"}]},"id":"'$LINE'"}'
    graph GET "$LINE?fields=whatsapp_business_profile{about}"
    assert_json .whatsapp_business_profile '{"data":[{"about":"Hey there! I am using WhatsApp."}]}'
    graph GET "$WABA?fields=phone_numbers{id,status},name"
    assert_body_is '{"phone_numbers":{"data":[{"id":"'$LINE'","status":"CONNECTED"}]},"name":"Blue Kettle Tea","id":"'$WABA'"}'
    graph GET "$WABA?fields=phone_numbers.limit(0)"
    assert_json .phone_numbers '{"data":[]}'
    graph GET "$WABA?fields=phone_numbers"
    assert_that '.phone_numbers.data[0] | has("verified_name") and (has("health_status") | not)'
    graph GET "$WABA/flows?fields=id,application%20%7Bname%7D&limit=1"
    assert_json .data '[{"id":"'$FLOW'","application":{"name":"Sandbox App"}}]'
}

@test "fields: an unknown name is an error of the type of the node, at each depth" {
    graph GET "$LINE?fields=id,wings"
    assert_nonexisting wings WhatsAppBusinessPhoneNumber
    graph GET "$WABA?fields=wings"
    assert_nonexisting wings WhatsAppBusinessAccount
    graph GET "$WABA?fields=phone_numbers{wings}"
    assert_nonexisting wings WhatsAppBusinessPhoneNumber
    graph GET "$PHOTO?fields=wings"
    assert_nonexisting wings WhatsAppMedia
    graph GET "$FLOW?fields=wings"
    assert_nonexisting wings WhatsAppFlow
    graph GET "$TEMPLATE?fields=wings"
    assert_nonexisting wings WhatsAppMessageTemplate
    graph GET "$WABA/message_templates?fields=name,wings"
    assert_nonexisting wings WhatsAppMessageTemplate
    graph GET "$WABA/phone_numbers?fields=wings"
    assert_nonexisting wings WhatsAppBusinessPhoneNumber
}

@test "fields: a choice that is not well formed is a syntax error" {
    local choice
    for choice in 'id{' 'id}' 'a.b' 'preview.invalidate(' ',id' '(id)' 'id,,name'; do
        graph GET "$FLOW?fields=$choice"
        assert_refused 400 2500 'Syntax error'
    done
    graph GET "$FLOW?fields=id,name,id"
    assert_refused 400 2500 'Field id specified more than once'
    graph GET "$WABA?fields=phone_numbers{id,status,status},id"
    assert_refused 400 2500 'Field status specified more than once'
}

# --- Root, app, tokens --------------------------------------------------------------------------

@test "the root of a version is GraphMethodException with a good token, and 190 with a bad one" {
    local path
    for path in v13.0/ v26.0 ''; do
        fetch_as "$SANDBOX/$path"
        assert_refused 400 100 'Unsupported get request. Please read'
        assert_text .error.type GraphMethodException
        token=bad fetch_as "$SANDBOX/$path"
        assert_refused 401 190
        assert_text .error.type OAuthException
    done
}

@test "?ids= is an object of the nodes, each once, with the fields; an unknown id is the answer" {
    fetch_as "$SANDBOX/v22.0/?ids=$WABA,$LINE,$WABA&fields=id"
    assert_body_is '{"'$WABA'":{"id":"'$WABA'"},"'$LINE'":{"id":"'$LINE'"}}'
    fetch_as "$SANDBOX/?ids=$FLOW,$TEMPLATE,$PHOTO,app"
    assert_that "(.\"$FLOW\".name == \"Tasting booking\") and (.app.id == \"$APP\")
        and (.\"$TEMPLATE\".components | length == 2) and (.\"$PHOTO\".mime_type == \"image/jpeg\")"
    fetch_as "$SANDBOX/v22.0/?ids=$WABA,$OTHER_WABA"
    assert_unknown get "$OTHER_WABA"
    fetch_as "$SANDBOX/v22.0/?ids=$WABA,$LINE&fields=owner_business_info"
    assert_nonexisting owner_business_info WhatsAppBusinessPhoneNumber
    fetch_as "$SANDBOX/v22.0/?ids="
    assert_refused 400 2500 'empty identifier'
    fetch_as "$SANDBOX/v22.0/?ids=$(seq -s , 1000 1050)"
    assert_unknown get 1000
}

@test "the app, by name and by id, with and without a version" {
    local path
    for path in v22.0/app app "$APP" "v26.0/$APP"; do
        fetch_as "$SANDBOX/$path"
        assert_body_is '{"category":"Business and pages","link":"https:\/\/www.facebook.com\/games\/?app_id='$APP'","name":"Sandbox App","id":"'$APP'"}'
    done
}

@test "debug_token: what a token may do, and why it may not" {
    graph GET 'debug_token?input_token=sandbox-token-2'
    assert_text .data.app_id "$APP"
    assert_json .data.is_valid true
    assert_json .data.expires_at 0
    assert_json .data.scopes '["whatsapp_business_management","whatsapp_business_messaging","public_profile"]'
    assert_json '.data.granular_scopes | map(.target_ids)' "[[\"$OTHER_WABA\"],[\"$OTHER_WABA\"]]"
    graph GET 'debug_token?input_token=strange'
    assert_json . '{"data":{"error":{"code":190,"message":"Invalid OAuth access token data."},"is_valid":false,"scopes":[]}}'
    sandbox POST tokens '{"token":"sandbox-token-2","state":"expired"}' >/dev/null
    graph GET 'debug_token?input_token=sandbox-token-2'
    assert_json .data.error.subcode 463
    assert_json .data.is_valid false
    graph GET debug_token
    assert_refused 400 100 'The parameter input_token is required'
}

@test "an unknown edge is a field that does not exist for a read, an unsupported change else" {
    local id
    for id in "$LINE" "$WABA" "$FLOW" "$TEMPLATE" "$PHOTO" "$APP"; do
        graph GET "$id/nonsense"
        assert_refused 400 100 'nonexisting field (nonsense)'
        post "$id/nonsense" '{}'
        assert_unknown post "$id"
        del "$id/nonsense"
        assert_unknown delete "$id"
    done
    post "$WABA/flows/more" '{}'
    assert_unknown post "$WABA"
    post "$LINE/settings" '{"calling"'
    assert_refused 400 100 'not valid JSON'
}

@test "changes of objects of another token are refused like those of unknown ones" {
    local path
    for path in "$OTHER_LINE" "$OTHER_LINE/register" "$OTHER_LINE/whatsapp_business_profile" \
        "$OTHER_LINE/settings" "$OTHER_LINE/block_users" "$OTHER_LINE/message_qrdls" \
        "$OTHER_LINE/conversational_automation" "$OTHER_LINE/whatsapp_business_encryption" \
        "$OTHER_WABA/subscribed_apps" "$OTHER_WABA/message_templates" "$OTHER_WABA/flows" \
        320000000000001 420000000000001/publish 999/register; do
        post "$path" '{"messaging_product":"whatsapp","pin":"123456"}'
        assert_unknown post "${path%%/*}"
    done
    assert_equal "$(sandbox GET "nodes/$OTHER_LINE")" '{}'
}

# --- Accounts: numbers and subscriptions --------------------------------------------------------

@test "phone_numbers: a page of the account's numbers, with limit, cursors and fields" {
    sandbox POST accounts "{\"wabaId\":\"$WABA\",\"phones\":[{\"id\":\"11\",\"displayNumber\":\"15550100011\"},{\"id\":\"12\",\"displayNumber\":\"493055500\"},{\"id\":\"13\",\"displayNumber\":\"15550100013\"}]}" >/dev/null
    graph GET "$WABA/phone_numbers?fields=id,display_phone_number&limit=2"
    assert_json .data '[{"id":"11","display_phone_number":"+1 555-010-0011"},{"id":"12","display_phone_number":"+493055500"}]'
    assert_that ".paging.next | contains(\"/v26.0/$WABA/phone_numbers?\")"
    fetch_as "$(gojq -r .paging.next "$body")"
    assert_json '.data | map(.id)' '["13"]'
    assert_that '.paging | has("next") | not'
    graph GET "$WABA/phone_numbers"
    assert_json '.data | map(.verified_name)' '["Blue Kettle Tea","Blue Kettle Tea","Blue Kettle Tea"]'
    graph GET "$WABA/phone_numbers?limit=0x"
    assert_refused 400 100 limit
}

@test "subscribed_apps: the app is subscribed, and a DELETE ends that" {
    local link='https:\/\/www.facebook.com\/games\/?app_id='$APP
    local all='{"data":[{"whatsapp_business_api_data":{"link":"'$link'","name":"Sandbox App","id":"'$APP'"}}]}'
    graph GET "$WABA/subscribed_apps"
    assert_body_is "$all"
    del "$WABA/subscribed_apps"
    assert_done
    graph GET "$WABA/subscribed_apps"
    assert_body_is '{"data":[]}'
    graph POST "$WABA/subscribed_apps"
    assert_done
    graph GET "$WABA/subscribed_apps"
    assert_body_is "$all"
}

@test "subscribed_apps: a callback is verified, kept with its token, and removed by a POST without" {
    open_callback
    local url=$callback_URL/good
    post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"$url\",\"verify_token\":\"good\"}"
    assert_done
    assert_header facebook-api-version v26.0
    assert_equal "$(cat "$callback_DIR/1.head" | head -n 1 | sed -E 's/challenge=[0-9]+/challenge=N/')" \
        'GET /good?hub.mode=subscribe&hub.challenge=N&hub.verify_token=good HTTP/1.1'
    graph GET "$WABA/subscribed_apps"
    assert_text '.data[0].override_callback_uri' "$url"
    graph GET "$LINE?fields=webhook_configuration"
    assert_json .webhook_configuration "{\"whatsapp_business_account\":\"$url\"}"
    assert_equal "$(sandbox GET "nodes/$WABA" | gojq -r .subscription.verify_token)" good
    assert_equal "$(sandbox GET webhooks | gojq '.[0].delivered')" true
    post "$WABA/subscribed_apps" '{}'
    assert_done
    graph GET "$WABA/subscribed_apps"
    assert_that '.data[0] | has("override_callback_uri") | not'
    assert_equal "$(sandbox GET "nodes/$WABA")" '{}'
}

@test "a callback that does not confirm the verification is error 2200 and is not kept" {
    open_callback
    local url reason
    while read -r url reason; do
        post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"$url\",\"verify_token\":\"good\"}"
        assert_refused 400 2200 "$reason"
        assert_header facebook-api-version v26.0
    done <<END
$callback_URL/bad HTTP Status Code = 403
$callback_URL/other The answer is not the challenge
http://127.0.0.1:1/ connect to server
END
    post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"$callback_URL/good\",\"verify_token\":\"wrong\"}"
    assert_refused 400 2200 403
    post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"$callback_URL/good\"}"
    assert_refused 400 100 verify_token
    post "$WABA/subscribed_apps" '{"override_callback_uri":"file:///etc/passwd","verify_token":"t"}'
    assert_refused 400 100 'valid URI'
    local long
    long=$(printf '%1001s' '' | tr ' ' x)
    post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"http://127.0.0.1/${long:0:184}\",\"verify_token\":\"t\"}"
    assert_refused 400 100 'override_callback_uri must be at most 200'
    post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"$callback_URL/good\",\"verify_token\":\"$long\"}"
    assert_refused 400 100 'verify_token must be at most 1000'
    assert_equal "$(sandbox GET "nodes/$WABA")" '{}'
}

@test "a number has a callback of its own by webhook_configuration, also with a slash at the end" {
    open_callback
    sandbox POST settings '{"webhookUrl":"http://127.0.0.1:9/app"}' >/dev/null
    post "$LINE/" "{\"webhook_configuration\":{\"override_callback_uri\":\"$callback_URL/good\",\"verify_token\":\"good\"}}"
    assert_done
    graph GET "$LINE?fields=webhook_configuration"
    assert_json .webhook_configuration "{\"application\":\"http://127.0.0.1:9/app\",\"phone_number\":\"$callback_URL/good\"}"
    assert_equal "$(sandbox GET "nodes/$LINE" | gojq -r .webhook.verify_token)" good
    post "$LINE" '{"webhook_configuration":{"override_callback_uri":""}}'
    assert_done
    assert_equal "$(sandbox GET "nodes/$LINE")" '{}'
    post "$LINE" '{"webhook_configuration":{}}'
    assert_refused 400 100 override_callback_uri
    post "$LINE" '{}'
    assert_refused 400 100 'webhook_configuration or pin'
}

@test "webhooks go to the callback of the number for messages, else to that of the account" {
    open_callback
    fault '{"match":{"path":"/inbox"},"times":0,"status":200}'
    sandbox POST settings "{\"webhookUrl\":\"$SANDBOX/inbox\",\"automaticStatuses\":true,\"statusDelayMs\":1}" >/dev/null
    answers callback waba 'verify good'
    local url=$callback_URL
    post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"$url/waba\",\"verify_token\":\"good\"}"
    assert_done
    post "$LINE" "{\"webhook_configuration\":{\"override_callback_uri\":\"$url/good\",\"verify_token\":\"good\"}}"
    assert_done
    sandbox POST webhooks "{\"kind\":\"text\",\"phoneNumberId\":\"$LINE\"}" | gojq -e '.posts[0].delivered'
    assert_equal "$(received_count callback good)" 1
    sandbox POST webhooks "{\"kind\":\"template_status\",\"wabaId\":\"$WABA\"}" | gojq -e '.posts[0].delivered'
    assert_equal "$(received_count callback waba)" 1
    wrote 16505551234
    send "$text"
    statuses_arrived() {
        (($(received_count callback good) == 4))
    }
    eventually statuses_arrived
    assert_equal "$(sent_count path=/inbox)" 0
    sandbox POST webhooks "{\"kind\":\"text\",\"phoneNumberId\":\"$OTHER_LINE\"}" >/dev/null
    sandbox POST webhooks "{\"kind\":\"text\",\"phoneNumberId\":\"$LINE\",\"url\":\"$SANDBOX/inbox\"}" >/dev/null
    assert_equal "$(sent_count path=/inbox)" 2
}

@test "a fault applies to a request with a callback, and none is verified" {
    open_callback
    fault '{"status":503,"code":2}'
    post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"$callback_URL/good\",\"verify_token\":\"good\"}"
    assert_refused 503 2
    fault '{"kind":"reset"}'
    post "$WABA/subscribed_apps" "{\"override_callback_uri\":\"$callback_URL/good\",\"verify_token\":\"good\"}"
    ((code != 0)) || fail 'expected a broken connection'
    [[ ! -e $callback_DIR/1.head ]] || fail 'the callback was called'
    assert_equal "$(sandbox GET "nodes/$WABA")" '{}'
}

# --- Numbers ------------------------------------------------------------------------------------

@test "register: the PIN is set once and then compared; a number without registration cannot send" {
    graph POST "$LINE/register?messaging_product=whatsapp&pin=123456"
    assert_done
    post "$LINE/register" '{"messaging_product":"whatsapp","pin":"654321"}'
    assert_refused 400 133005 'PIN Mismatch'
    graph POST "$LINE" --data pin=654321
    assert_done
    post "$LINE/deregister" ''
    assert_done
    graph GET "$LINE?fields=status,is_pin_enabled"
    assert_body_is '{"status":"DISCONNECTED","is_pin_enabled":true,"id":"'$LINE'"}'
    send "$text"
    assert_refused 400 133010
    post "$LINE/register" '{"messaging_product":"whatsapp","pin":"654321"}'
    assert_done
    send "$text"
    assert_accepted
    post "$LINE/register" '{"messaging_product":"whatsapp","pin":"12345"}'
    assert_refused 400 100 '6 digits'
    post "$LINE/register" '{"pin":"123456"}'
    assert_refused 400 100 messaging_product
    post "$LINE/register" '{"messaging_product":"whatsapp"}'
    assert_refused 400 100 'The parameter pin is required'
}

@test "request_code and verify_code: the code is in the state of the node" {
    post "$LINE/request_code" '{"code_method":"SMS","language":"en_US"}'
    assert_done
    graph GET "$LINE"
    assert_text .code_verification_status NOT_VERIFIED
    post "$LINE/register" '{"messaging_product":"whatsapp","pin":"654321"}'
    assert_refused 400 133006 'Re-verification'
    local secret
    secret=$(sandbox GET "nodes/$LINE" | gojq -r .registration.code)
    assert_equal "$secret" 123456 # always, because no text message brings it
    post "$LINE/verify_code" '{"code":"x"}'
    assert_refused 400 136025
    graph POST "$LINE/verify_code" --data "code=$secret"
    assert_done
    graph GET "$LINE"
    assert_text .code_verification_status VERIFIED
    post "$LINE/verify_code" "{\"code\":\"$secret\"}"
    assert_refused 400 136025
    post "$LINE/request_code" '{"code_method":"PIGEON","language":"en"}'
    assert_refused 400 100 'one of {SMS, VOICE}'
    post "$LINE/request_code" '{"code_method":"SMS"}'
    assert_refused 400 100 language
}

@test "whatsapp_business_profile: members are changed one by one, an empty text deletes" {
    graph GET "$LINE/whatsapp_business_profile"
    assert_body_is '{"data":[{"about":"Hey there! I am using WhatsApp.","messaging_product":"whatsapp"}]}'
    post "$LINE/whatsapp_business_profile" '{"messaging_product":"whatsapp","about":"Tea","address":"1 Kettle Lane","description":"caf\u00e9","email":"tea@tea.example","vertical":"RETAIL","websites":["https://tea.example/"],"profile_picture_handle":"4::aW1hZ2UvcG5n:e:0123456789abcdef"}'
    assert_done
    graph GET "$LINE/whatsapp_business_profile?fields=about,address,description,email,profile_picture_url,websites,vertical"
    assert_body_is '{"data":[{"about":"Tea","address":"1 Kettle Lane","description":"caf\u00e9","email":"tea@tea.example","profile_picture_url":"https:\/\/pps.whatsapp.net\/v\/0123456789abcdef.jpg","websites":["https:\/\/tea.example\/"],"vertical":"RETAIL"}]}'
    post "$LINE/whatsapp_business_profile" '{"messaging_product":"whatsapp","email":""}'
    assert_done
    graph GET "$LINE/whatsapp_business_profile?fields=about,email"
    assert_body_is '{"data":[{"about":"Tea"}]}'
    token=sandbox-token-2 graph GET "$OTHER_LINE/whatsapp_business_profile?fields=about"
    assert_body_is '{"data":[{"about":"Hey there! I am using WhatsApp."}]}'
    graph GET "$LINE/whatsapp_business_profile?fields=wings"
    assert_nonexisting wings WhatsAppBusinessProfile
}

@test "whatsapp_business_profile: what is too long or unknown is refused and changes nothing" {
    local members long
    long=$(printf '%257s' '' | tr ' ' x)
    while read -r members; do
        post "$LINE/whatsapp_business_profile" "{\"messaging_product\":\"whatsapp\",\"address\":\"new\",$members}"
        assert_refused 400 100 "$(gojq -r 'keys[0]' <<<"{$members}")"
    done <<END
"about":"${long:0:140}"
"about":""
"description":"$long$long"
"email":"${long:0:129}"
"vertical":"TEAHOUSE"
"vertical":"RETAIL|TRAVEL"
"websites":["a","b","c"]
"websites":["$long"]
"websites":"https://tea.example/"
END
    post "$LINE/whatsapp_business_profile" '{"about":"Tea"}'
    assert_refused 400 100 messaging_product
    assert_equal "$(sandbox GET "nodes/$LINE")" '{}'
}

# --- Conversational automation and the key of flows -----------------------------------------------

automation() { # JSON
    post "$LINE/conversational_automation" "$1"
}

# Prints a JSON list of COUNT prompts of LENGTH characters: prompts COUNT LENGTH
prompts() {
    gojq -nc "[range($1) | \"é\" * $2]"
}

# Prints a JSON list of COUNT commands, with a name and a description of that many characters:
# commands COUNT NAME DESCRIPTION
commands() {
    gojq -nc "[range($1) | {command_name: (\"\(.)\" + \"n\" * $2)[:$2],
        command_description: (\"é\" * $3)}]"
}

@test "conversational_automation: what is set is a field of the number, and what is left out stays" {
    graph GET "$LINE?fields=conversational_automation"
    assert_body_is '{"id":"'$LINE'"}'
    automation '{"enable_welcome_message":true,"prompts":["Book a table","Plan a trip"],"commands":[{"command_name":"menu","command_description":"Shows the teas"}]}'
    assert_done
    graph GET "$LINE?fields=conversational_automation"
    assert_body_is '{"conversational_automation":{"enable_welcome_message":true,"prompts":["Book a table","Plan a trip"],"commands":[{"command_name":"menu","command_description":"Shows the teas"}]},"id":"'$LINE'"}'
    # in the query, as the platform's documentation shows it, and in a form
    graph POST "$LINE/conversational_automation?prompts=[\"One\"]"
    assert_done
    graph POST "$LINE/conversational_automation" -d enable_welcome_message=false \
        -d 'commands=[{"command_name":"tea","command_description":"More"}]'
    assert_done
    graph GET "$WABA/phone_numbers?fields=conversational_automation"
    assert_json '.data[0].conversational_automation' '{"enable_welcome_message":false,
        "prompts":["One"],"commands":[{"command_name":"tea","command_description":"More"}]}'
    automation '{"prompts":[],"commands":[]}'
    assert_done
    graph GET "$LINE?fields=conversational_automation"
    assert_body_is '{"conversational_automation":{"enable_welcome_message":false,"prompts":[],"commands":[]},"id":"'$LINE'"}'
    assert_equal "$(sandbox GET "nodes/$LINE" | gojq -c keys)" '["automation"]'
}

@test "conversational_automation: at most 4 prompts of 80 characters and 30 commands of 32 and 256" {
    local wrong
    automation "{\"prompts\":$(prompts 4 80),\"commands\":$(commands 30 32 256)}"
    assert_done
    graph GET "$LINE?fields=conversational_automation"
    cp "$body" "$BATS_TEST_TMPDIR/before"
    while IFS='|' read -r wrong message; do
        automation "$wrong"
        assert_refused 400 100 "$message"
    done <<END
{}|One of enable_welcome_message, prompts and commands is required
{"enable_welcome_message":"yes"}|enable_welcome_message must be a boolean
{"enable_welcome_message":1}|enable_welcome_message must be a boolean
{"prompts":$(prompts 5 1)}|prompts must be a list of at most 4 items
{"prompts":"Book"}|prompts must be a list of at most 4 items
{"prompts":{"0":"Book"}}|prompts must be a list of at most 4 items
{"prompts":["a",7]}|prompts[1] must be a non-empty string
{"prompts":[""]}|prompts[0] must be a non-empty string
{"prompts":$(prompts 1 81)}|prompts[0] must be at most 80 characters long
{"prompts":["Tea 🍵"]}|prompts[0] must not contain emojis
{"prompts":["Tea ☕"]}|prompts[0] must not contain emojis
{"commands":$(commands 31 2 1)}|commands must be a list of at most 30 items
{"commands":["menu"]}|commands[0] must be a JSON object
{"commands":[{"command_name":"menu"}]}|The parameter commands[0]['command_description'] is required
{"commands":[{"command_description":"x"}]}|The parameter commands[0]['command_name'] is required
{"commands":[{"command_name":7,"command_description":"x"}]}|commands[0]['command_name'] must be a string
{"commands":$(commands 1 33 1)}|commands[0]['command_name'] must be at most 32 characters long
{"commands":$(commands 1 1 257)}|commands[0]['command_description'] must be at most 256 characters long
{"commands":[{"command_name":"a","command_description":"x"},{"command_name":"a","command_description":"y"}]}|commands[1] has the command_name of another command
{"commands":[{"command_name":"a","command_description":"☎"}]}|commands[0] must not contain emojis
{"enable_welcome_message":true,"prompts":["a"],"commands":[{}]}|is required
END
    graph GET "$LINE?fields=conversational_automation"
    cmp "$body" "$BATS_TEST_TMPDIR/before"
    graph GET "$LINE/conversational_automation"
    assert_unknown GET "$LINE"
    token=sandbox-token-2 automation '{"prompts":["a"]}'
    assert_unknown POST "$LINE"
}

# Prints the public key of a new private one as PEM: public_key ALGORITHM [OPTION of openssl]
public_key() {
    openssl genpkey -algorithm "$1" ${2:+-pkeyopt "$2"} 2>/dev/null | openssl pkey -pubout
}

@test "whatsapp_business_encryption: a key is kept, shown with its status, and unsigned by a deregistration" {
    local key other
    graph GET "$LINE/whatsapp_business_encryption"
    assert_body_is '{"data":[]}'
    key=$(public_key RSA rsa_keygen_bits:2048)
    graph POST "$LINE/whatsapp_business_encryption" --data-urlencode "business_public_key=$key"
    assert_done
    graph GET "$LINE/whatsapp_business_encryption"
    assert_json . "$(gojq -nc --arg key "$key" '{data: [{business_public_key: $key,
        business_public_key_signature_status: "VALID"}]}')"
    graph GET "$LINE/whatsapp_business_encryption?fields=business_public_key_signature_status"
    assert_body_is '{"data":[{"business_public_key_signature_status":"VALID"}]}'
    graph GET "$LINE/whatsapp_business_encryption?fields=private_key"
    assert_nonexisting private_key WhatsAppBusinessEncryptionInfo
    # another replaces it, in JSON with the line ends of another system
    other=$(public_key RSA rsa_keygen_bits:2048)
    post "$LINE/whatsapp_business_encryption" \
        "$(gojq -nc --arg key "${other//$'\n'/$'\r\n'}"$'\r\n' '{business_public_key: $key}')"
    assert_done
    graph GET "$LINE/whatsapp_business_encryption"
    assert_that '.data[0].business_public_key | test("\r\n")'
    post "$LINE/deregister" ''
    assert_done
    graph GET "$LINE/whatsapp_business_encryption?fields=business_public_key_signature_status"
    assert_body_is '{"data":[{"business_public_key_signature_status":"MISMATCH"}]}'
    graph POST "$LINE/whatsapp_business_encryption" --data-urlencode "business_public_key=$key"
    assert_refused 400 133010
    post "$LINE/register" '{"messaging_product":"whatsapp","pin":"123456"}'
    assert_done
    graph POST "$LINE/whatsapp_business_encryption" --data-urlencode "business_public_key=$key"
    assert_done
    graph GET "$LINE/whatsapp_business_encryption?fields=business_public_key_signature_status"
    assert_body_is '{"data":[{"business_public_key_signature_status":"VALID"}]}'
}

@test "whatsapp_business_encryption: what is no RSA key of 2048 bits in PEM is refused" {
    local key good body64 wrong
    good=$(public_key RSA rsa_keygen_bits:2048)
    body64=$(sed '1d; $d' <<<"$good" | tr -d '\n')
    post "$LINE/whatsapp_business_encryption" '{}'
    assert_refused 400 100 'The parameter business_public_key is required'
    for key in x "$body64" "$(public_key RSA rsa_keygen_bits:1024)" \
        "$(public_key RSA rsa_keygen_bits:3072)" "$(public_key ED25519)" \
        "$(public_key EC ec_paramgen_curve:P-256)" \
        "$(openssl rsa -pubin -RSAPublicKey_out <<<"$good" 2>/dev/null)" \
        "$(openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2>/dev/null)" \
        "${good%-----END*}" "${good/END/END }" "${good/M/!}" \
        '-----BEGIN PUBLIC KEY-----' '-----BEGIN PUBLIC KEY----------END PUBLIC KEY-----' \
        "-----BEGIN PUBLIC KEY-----${body64:0:40}-----END PUBLIC KEY-----" \
        '-----BEGIN PUBLIC KEY-----MIQ=-----END PUBLIC KEY-----' \
        '-----BEGIN PUBLIC KEY-----MIT/////-----END PUBLIC KEY-----'; do
        graph POST "$LINE/whatsapp_business_encryption" --data-urlencode "business_public_key=$key"
        assert_refused 400 100 'Invalid parameter'
        assert_text .error.error_data.details \
            'business_public_key must be a 2048-bit RSA public key in PEM format.'
    done
    for wrong in 7 true '["x"]' '{"a":1}'; do
        post "$LINE/whatsapp_business_encryption" "{\"business_public_key\":$wrong}"
        assert_refused 400 100
    done
    graph GET "$LINE/whatsapp_business_encryption"
    assert_body_is '{"data":[]}'
}

@test "settings: objects are merged, and others are refused" {
    graph GET "$LINE/settings"
    assert_body_is '{"calling":{"status":"DISABLED","call_icon_visibility":"DEFAULT","callback_permission_status":"DISABLED"},"storage_configuration":{"status":"DEFAULT"}}'
    post "$LINE/settings" '{"calling":{"status":"ENABLED","call_icon_visibility":null},"user_identity_change":{"enable_identity_key_check":true}}'
    assert_done
    graph GET "$LINE/settings?fields=calling,user_identity_change"
    assert_body_is '{"calling":{"status":"ENABLED","callback_permission_status":"DISABLED"},"user_identity_change":{"enable_identity_key_check":true}}'
    post "$LINE/settings" '{"calling":"ENABLED"}'
    assert_refused 400 100 'calling must be a JSON object'
    post "$LINE/settings" '{"wings":{}}'
    assert_refused 400 100 'no settings'
    post "$LINE/settings" "{\"calling\":{\"status\":\"$(head -c 70000 /dev/zero | tr '\0' x)\"}}"
    assert_refused 400 100 'too long'
    graph GET "$LINE/settings"
    assert_text .calling.status ENABLED
}

@test "whatsapp_commerce_settings: flags of the query or of JSON" {
    graph GET "$LINE/whatsapp_commerce_settings"
    assert_body_is '{"data":[{"is_cart_enabled":true,"is_catalog_visible":false,"id":"6'$LINE'"}]}'
    graph POST "$LINE/whatsapp_commerce_settings?is_cart_enabled=false"
    assert_done
    post "$LINE/whatsapp_commerce_settings" '{"is_catalog_visible":true}'
    assert_done
    graph GET "$LINE/whatsapp_commerce_settings"
    assert_body_is '{"data":[{"is_cart_enabled":false,"is_catalog_visible":true,"id":"6'$LINE'"}]}'
    graph POST "$LINE/whatsapp_commerce_settings?is_cart_enabled=perhaps"
    assert_refused 400 100 'is_cart_enabled must be a boolean'
}

@test "block_users: users are added, listed in pages, and removed by a DELETE with a body" {
    sandbox POST settings '{"serviceWindow":false}' >/dev/null
    post "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"+1 650-555-1234"},{"user":"US.7Ab"},{"user":"4930123"}]}'
    assert_body_is '{"messaging_product":"whatsapp","block_users":{"added_users":[{"input":"+1 650-555-1234","wa_id":"16505551234"},{"input":"US.7Ab","user_id":"US.7Ab"},{"input":"4930123","wa_id":"4930123"}]}}'
    post "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"4930123"}]}'
    assert_status 200
    graph GET "$LINE/block_users?limit=2"
    assert_json .data '[{"messaging_product":"whatsapp","wa_id":"16505551234"},{"messaging_product":"whatsapp","user_id":"US.7Ab"}]'
    fetch_as "$(gojq -r .paging.next "$body")"
    assert_json '.data | map(.wa_id)' '["4930123"]'
    del "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"16505551234"},{"user":"US.7Ab"}]}'
    assert_body_is '{"messaging_product":"whatsapp","block_users":{"removed_users":[{"input":"16505551234","wa_id":"16505551234"},{"input":"US.7Ab","user_id":"US.7Ab"}]}}'
    graph GET "$LINE/block_users"
    assert_json '.data | map(.wa_id)' '["4930123"]'
    token=sandbox-token-2 graph GET "$OTHER_LINE/block_users"
    assert_body_is '{"data":[]}'
}

@test "block_users: users that fail are listed beside error 139100, the others are blocked" {
    wrote 4930123
    sandbox POST numbers '{"number":"4930124","failCode":131026}' >/dev/null
    post "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"4930123"},{"user":"somewhere"},{"user":"4930124"},{"user":"15550100001"},{"user":"123456789012345678901"}]}'
    assert_refused 400 139100
    assert_json .block_users.added_users '[{"input":"4930123","wa_id":"4930123"}]'
    assert_json '.block_users.failed_users | map(.errors[0].code)' '[131047,131026,131021,131047]'
    assert_json '.block_users.failed_users | map(has("wa_id"))' '[false,true,true,false]'
    graph GET "$LINE/block_users"
    assert_json '.data | map(.wa_id)' '["4930123"]'
    post "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[]}'
    assert_refused 400 100 block_users
    post "$LINE/block_users" '{"block_users":[{"user":"1"}]}'
    assert_refused 400 100 messaging_product
}

@test "block_users: a request and a list have a limit" {
    many() { # FIRST COUNT
        gojq -nc "{messaging_product: \"whatsapp\", block_users: [range($1; $1 + $2) | {user: tostring}]}" \
            >"$BATS_TEST_TMPDIR/many"
    }
    local first
    sandbox POST settings '{"serviceWindow":false}' >/dev/null
    many 1000001 1001
    post "$LINE/block_users" "@$BATS_TEST_TMPDIR/many"
    assert_refused 400 130429
    for first in 1000001 1001001 1002001 1003001; do
        many "$first" 1000
        post "$LINE/block_users" "@$BATS_TEST_TMPDIR/many"
        assert_status 200
    done
    many 1004001 100
    post "$LINE/block_users" "@$BATS_TEST_TMPDIR/many"
    assert_refused 400 139100
    assert_that '.block_users | (.added_users | length == 96) and (.failed_users | length == 4)
        and .failed_users[0].errors[0].code == 139101'
}

@test "message_qrdls: codes are made, listed with the newest first, changed and deleted" {
    graph POST "$LINE/message_qrdls?prefilled_message=one&generate_qr_image=SVG"
    assert_status 200
    local one two
    one=$(gojq -r .code "$body")
    [[ $one =~ ^[A-Z2-7]{14}$ ]] || fail "not a code: $one"
    assert_body_is '{"code":"'"$one"'","prefilled_message":"one","deep_link_url":"https:\/\/wa.me\/message\/'"$one"'","qr_image_url":"https:\/\/scontent.whatsapp.net\/qr\/'"$one"'.svg"}'
    post "$LINE/message_qrdls" '{"prefilled_message":"two"}'
    two=$(gojq -r .code "$body")
    assert_body_is '{"code":"'"$two"'","prefilled_message":"two","deep_link_url":"https:\/\/wa.me\/message\/'"$two"'"}'
    graph GET "$LINE/message_qrdls?limit=1"
    assert_json '.data | map(.prefilled_message)' '["two"]'
    fetch_as "$(gojq -r .paging.next "$body")"
    assert_json '.data | map(.prefilled_message)' '["one"]'
    post "$LINE/message_qrdls" "{\"code\":\"$one\",\"prefilled_message\":\"eins\"}"
    assert_body_is '{"code":"'"$one"'","prefilled_message":"eins","deep_link_url":"https:\/\/wa.me\/message\/'"$one"'"}'
    graph POST "$LINE/message_qrdls/$one?prefilled_message=eins&generate_qr_image=png"
    assert_json '[.code, .prefilled_message]' "[\"$one\",\"eins\"]"
    graph GET "$LINE/message_qrdls/$one?fields=prefilled_message,qr_image_url.format(PNG),creation_time"
    assert_that '.data[0] | keys == ["creation_time", "prefilled_message", "qr_image_url"]
        and .prefilled_message == "eins" and (.creation_time > 1700000000)
        and (.qr_image_url | endswith(".png"))'
    graph GET "$LINE/message_qrdls?code=$two"
    assert_json '.data | map(.code)' "[\"$two\"]"
    del "$LINE/message_qrdls/$one"
    assert_done
    graph GET "$LINE/message_qrdls/$one"
    assert_unknown get "$one"
    del "$LINE/message_qrdls/$one"
    assert_unknown delete "$one"
    post "$LINE/message_qrdls" "{\"code\":\"$one\",\"prefilled_message\":\"x\"}"
    assert_unknown post "$one"
    post "$LINE/message_qrdls" '{}'
    assert_refused 400 100 prefilled_message
    post "$LINE/message_qrdls" "{\"prefilled_message\":\"$(printf '%141s' '' | tr ' ' x)\"}"
    assert_refused 400 100 '140 characters'
    post "$LINE/message_qrdls" '{"prefilled_message":"x","generate_qr_image":"GIF"}'
    assert_refused 400 100 'one of {PNG, SVG}'
}

# --- Uploads ------------------------------------------------------------------------------------

@test "uploads: a session takes the file in one or more parts and returns its handle" {
    graph POST "$APP/uploads?file_name=room.png&file_length=10&file_type=image%2Fpng"
    assert_status 200
    local session
    session=$(gojq -r .id "$body")
    [[ $session =~ ^upload:[A-Za-z0-9_-]{64}\?sig=[A-Za-z0-9_-]{32}$ ]] || fail "not a session: $session"
    fetch "$SANDBOX/v26.0/$session" -H "Authorization: OAuth $token" -H 'file_offset: 0' \
        -H 'Content-Type: image/png' --data-binary 1234
    assert_json . "{\"id\":\"$session\",\"file_offset\":4}"
    graph GET "$session"
    assert_json . "{\"id\":\"$session\",\"file_offset\":4}"
    fetch "$SANDBOX/$session" -H "Authorization: OAuth $token" -H 'file_offset: 3' --data-binary 567890
    assert_refused 400 100 'file_offset of this session is 4'
    fetch "$SANDBOX/$session" -H "Authorization: OAuth $token" -H 'file_offset: 4' --data-binary 567890
    assert_status 200
    assert_that 'keys == ["h"] and (.h | test("^4::aW1hZ2UvcG5n:[A-Za-z0-9_-]+:e:"))'
    assert_equal "$(sent)" 567890
    fetch "$SANDBOX/$session" -H "Authorization: OAuth $token" -H 'file_offset: 10' --data-binary 1
    assert_refused 400 100 'longer than its file_length'
}

@test "uploads: sessions of other tokens, without signature, or with wrong parameters are refused" {
    graph POST 'app/uploads?file_length=10&file_type=image/png'
    local session
    session=$(gojq -r .id "$body")
    token=sandbox-token-2 graph POST "$session" --data-binary 1234567890
    assert_unknown post "${session%%\?*}"
    graph POST "${session%%\?*}" --data-binary 1234567890
    assert_unknown post "${session%%\?*}"
    graph POST upload:x?sig=y --data-binary 1
    assert_unknown post upload:x
    graph POST 'app/uploads?file_type=image/png'
    assert_refused 400 100 file_length
    graph POST 'app/uploads?file_type=image/png&file_length=0'
    assert_refused 400 100 'positive integer'
    graph POST 'app/uploads?file_type=text/html&file_length=1'
    assert_refused 400 100 'not an allowed type: text/html'
}

@test "uploads: an account has at most 256 sessions, and a new one replaces the oldest" {
    graph POST 'app/uploads?file_length=10&file_type=image/png'
    local first second
    first=$(gojq -r .id "$body")
    graph POST 'app/uploads?file_length=10&file_type=image/png'
    second=$(gojq -r .id "$body")
    curl -sS -o /dev/null -X POST -H "Authorization: Bearer $token" \
        "$SANDBOX/app/uploads?file_type=image/png&file_length=[1-255]"
    graph GET "$first"
    assert_status 400
    graph GET "$second"
    assert_status 200
}

# --- Templates ----------------------------------------------------------------------------------

@test "templates: a new one is PENDING and can be sent when the control call approves it" {
    post "$WABA/message_templates" '{"name":"tea_time","language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"There is tea for {{1}}.","example":{"body_text":[["two"]]}}]}'
    assert_status 200
    assert_that 'keys == ["category", "id", "status"] and .status == "PENDING" and .category == "UTILITY"'
    local id send='{"name":"tea_time","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"two"}]}]}'
    id=$(gojq -r .id "$body")
    graph GET "$id"
    assert_that ".name == \"tea_time\" and .status == \"PENDING\" and .parameter_format == \"POSITIONAL\"
        and .components[0].text == \"There is tea for {{1}}.\" and .id == \"$id\""
    graph GET "$WABA/message_templates?name=tea_time&status=PENDING"
    assert_json '.data | map(.id)' "[\"$id\"]"
    send_template "$send"
    assert_refused 404 132001
    sandbox POST "templates/$id" '{"status":"APPROVED"}' | gojq -e .done
    send_template "$send"
    assert_accepted
    sandbox POST "templates/$id" '{"status":"REJECTED","rejected_reason":"INVALID_FORMAT"}' >/dev/null
    graph GET "$id?fields=status,rejected_reason"
    assert_body_is '{"status":"REJECTED","rejected_reason":"INVALID_FORMAT","id":"'"$id"'"}'
    assert_equal "$(sandbox POST templates/1 '{"status":"APPROVED"}' | gojq -r .error)" \
        'there is no template with this id'
}

@test "templates: a change of the status sends the webhook of the platform, any other change none" {
    local value
    open_inbox
    sandbox POST templates/310000000000002 '{"status":"APPROVED","message_send_ttl_seconds":60}' >/dev/null
    sandbox POST templates/310000000000002 '{"status":"REJECTED","rejected_reason":"INVALID_FORMAT"}' |
        gojq -e .done
    eventually inbox_holds 1
    sandbox POST templates/310000000000002 '{"status":"APPROVED","rejected_reason":"NONE"}' >/dev/null
    eventually inbox_holds 2
    value=$(sandbox GET 'requests?path=/inbox' |
        gojq -c '.[].body | fromjson | .entry[0] | [.id, .changes[0].field, .changes[0].value]')
    assert_equal "$value" "$(
        for event in REJECTED/INVALID_FORMAT APPROVED/NONE; do
            printf '["%s","message_template_status_update",{"event":"%s","message_template_category":"UTILITY",' \
                "$WABA" "${event%/*}"
            printf '"message_template_id":310000000000002,"message_template_language":"de",'
            printf '"message_template_name":"hello_world","reason":"%s"}]\n' "${event#*/}"
        done)"
}

# Prints the fields and values of the webhooks about templates that arrived.
arrived() {
    sandbox GET 'requests?path=/inbox' | gojq -c '.[].body | fromjson | .entry[0].changes[0] | [.field,
        (.value | del(.message_template_id, .message_template_language, .message_template_name))]'
}

@test "templates: quality and category have webhooks, and RED pauses twice and then disables" {
    open_inbox
    local round score
    for round in 1 2 3; do
        for score in GREEN RED; do
            sandbox POST templates/310000000000002 "{\"status\":\"APPROVED\",\"quality_score\":{\"score\":\"$score\"}}" >/dev/null
        done
    done
    graph GET '310000000000002?fields=status,quality_score'
    assert_body_is '{"status":"DISABLED","quality_score":{"score":"RED"},"id":"310000000000002"}'
    eventually inbox_holds 11
    assert_equal "$(arrived | grep -c quality)" 6
    assert_equal "$(arrived | gojq -c 'select(.[0] == "message_template_status_update")[1] | [.event, .other_info.title]' | grep -v APPROVED)" \
        $'["PAUSED","FIRST_PAUSE"]\n["PAUSED","SECOND_PAUSE"]\n["DISABLED","DISABLED"]'
    assert_equal "$(arrived | gojq -c 'select(.[0] == "message_template_quality_update")[1]' | head -n 2)" \
        $'{"new_quality_score":"GREEN","previous_quality_score":"UNKNOWN"}\n{"new_quality_score":"RED","previous_quality_score":"GREEN"}'
    del "$WABA/message_templates?name=hello_world"
    assert_refused 400 100 DISABLED
    sandbox DELETE requests >/dev/null
    sandbox POST templates/310000000000002 '{"status":"REJECTED","rejected_reason":"SCAM","category":"MARKETING","rejection_info":{"reason":"R","recommendation":"S"}}' >/dev/null
    eventually inbox_holds 2
    assert_equal "$(arrived)" \
        $'["template_category_update",{"new_category":"MARKETING","previous_category":"UTILITY"}]
["message_template_status_update",{"event":"REJECTED","message_template_category":"MARKETING","reason":"SCAM","rejection_info":{"reason":"R","recommendation":"S"}}]'
}

@test "templates: a review ends by itself after its time, with a webhook" {
    local id new='"language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"We are open."}]'
    open_inbox
    sandbox POST settings '{"templateReviewMs":1}' >/dev/null
    post "$WABA/message_templates" "{\"name\":\"opening\",$new}"
    assert_that '.status == "PENDING"'
    id=$(gojq -r .id "$body")
    eventually inbox_holds 1
    graph GET "$id?fields=status,rejected_reason"
    assert_body_is "{\"status\":\"APPROVED\",\"rejected_reason\":\"NONE\",\"id\":\"$id\"}"
    sandbox POST settings '{"templateReviewReason":"PROMOTIONAL"}' >/dev/null
    post "$id" "{\"components\":[{\"type\":\"BODY\",\"text\":\"Buy now.\"}]}"
    assert_done
    eventually inbox_holds 2
    graph GET "$id?fields=status,rejected_reason"
    assert_body_is "{\"status\":\"REJECTED\",\"rejected_reason\":\"PROMOTIONAL\",\"id\":\"$id\"}"
    assert_equal "$(arrived | gojq -c '.[1] | [.event, .reason]')" $'["APPROVED","NONE"]\n["REJECTED","PROMOTIONAL"]'
    # one that a control call has judged before is not judged again
    sandbox POST settings '{"templateReviewMs":300}' >/dev/null
    post "$WABA/message_templates" "{\"name\":\"early\",$new}"
    id=$(gojq -r .id "$body")
    sandbox POST "templates/$id" '{"status":"PAUSED"}' >/dev/null
    post "$WABA/message_templates" "{\"name\":\"late\",$new}"
    eventually inbox_holds 4
    graph GET "$id?fields=status"
    assert_text .status PAUSED
}

@test "templates: a paused one is unpaused, any other is not" {
    post 310000000000007/unpause '{}'
    assert_done
    graph GET '310000000000007?fields=status'
    assert_text .status APPROVED
    post 310000000000007/unpause '{}'
    assert_refused 400 100 'status PAUSED'
}

@test "templates: creations, edits of an approved one and deleted names have quotas" {
    local edit='{"components":[{"type":"BODY","text":"New."}]}' id
    local new='"language":"de","category":"UTILITY","components":[{"type":"BODY","text":"x"}]'
    post "$TEMPLATE" "$edit"
    assert_done
    sandbox POST "templates/$TEMPLATE" '{"status":"APPROVED"}' >/dev/null
    post "$TEMPLATE" "$edit"
    assert_refused 400 100
    assert_json .error.error_subcode 2388003
    assert_text .error.error_user_msg 'An approved template can be edited once in 24 hours, and 10 times in 30 days.'
    sandbox POST "templates/$TEMPLATE" '{"status":"REJECTED"}' >/dev/null
    post "$TEMPLATE" "$edit"
    assert_done
    del "$WABA/message_templates?name=order_shipped"
    assert_done
    post "$WABA/message_templates" "{\"name\":\"order_shipped\",$new}"
    assert_refused 400 100
    assert_json .error.error_subcode 2388023
    for ((id = 0; id < 100; id++)); do
        post "$WABA/message_templates" "{\"name\":\"many_$id\",$new}"
        assert_status 200
    done
    post "$WABA/message_templates" "{\"name\":\"many_100\",$new}"
    assert_refused 429 80008 'too many calls'
    sandbox POST settings '{"templateQuotas":false}' >/dev/null
    post "$WABA/message_templates" "{\"name\":\"order_shipped\",$new}"
    assert_status 200
}

@test "templates: one that exists in the language, or has a wrong name, category or no body is refused" {
    local body_text='"components":[{"type":"BODY","text":"x"}]'
    post "$WABA/message_templates" "{\"name\":\"hello_world\",\"language\":\"de\",\"category\":\"UTILITY\",$body_text}"
    assert_refused 400 100 'Invalid parameter'
    assert_json .error.error_subcode 2388024
    assert_text .error.error_user_title 'Content in This Language Already Exists'
    post "$WABA/message_templates" "{\"name\":\"Tea Time\",\"language\":\"de\",\"category\":\"UTILITY\",$body_text}"
    assert_refused 400 100 'lower-case letters'
    post "$WABA/message_templates" "{\"name\":\"tea\",\"language\":\"de\",\"category\":\"TEA\",$body_text}"
    assert_refused 400 100 'one of {UTILITY, MARKETING, AUTHENTICATION} - got "TEA"'
    post "$WABA/message_templates" '{"name":"tea","language":"de","category":"UTILITY","components":[{"type":"FOOTER","text":"x"}]}'
    assert_refused 400 100 'must have a component of type BODY'
    post "$WABA/message_templates" '{"name":"tea","language":"de","category":"UTILITY"}'
    assert_refused 400 100 'The parameter components is required'
    post "$WABA/message_templates" "{\"name\":\"tea\",\"category\":\"UTILITY\",$body_text}"
    assert_refused 400 100 'The parameter language is required'
    graph POST "$WABA/message_templates" --data 'name=tea&language=de&category=UTILITY' \
        --data-urlencode 'components=[{"type":"BODY","text":"x"}]'
    assert_status 200
    graph GET "$(gojq -r .id "$body")"
    assert_json .components '[{"type":"BODY","text":"x"}]'
}

@test "templates and flows: what is kept of a request has a limit" {
    local long
    long=$(printf '%70000s' '' | tr ' ' x)
    printf '{"name":"tea","language":"de","category":"UTILITY","components":[{"type":"BODY","text":"%s"}]}' \
        "$long" >"$BATS_TEST_TMPDIR/long"
    post "$WABA/message_templates" "@$BATS_TEST_TMPDIR/long"
    assert_refused 400 100 'too long'
    post "$TEMPLATE" "@$BATS_TEST_TMPDIR/long"
    assert_refused 400 100 'too long'
    post "$WABA/flows" "{\"name\":\"${long:0:1001}\",\"categories\":[\"OTHER\"]}"
    assert_refused 400 100 'name must be at most 1000'
    post "$DRAFT" "{\"endpoint_uri\":\"${long:0:1001}\"}"
    assert_refused 400 100 'endpoint_uri must be at most 1000'
    head -c 10485761 /dev/zero >"$BATS_TEST_TMPDIR/large"
    graph POST "$DRAFT/assets" -F name=flow.json -F asset_type=FLOW_JSON \
        -F "file=@$BATS_TEST_TMPDIR/large"
    assert_refused 400 100 'too large'
}

@test "templates: an edit keeps name and language, and makes the template PENDING again" {
    post 310000000000006 '{"components":[{"type":"BODY","text":"Sale"}],"category":"UTILITY","name":"x","language":"x"}'
    assert_done
    graph GET 310000000000006
    assert_json '[.name, .language, .category, .status, .components[0].text]' \
        '["spring_sale","en_US","UTILITY","PENDING","Sale"]'
    post 310000000000006 '{"components":[{"type":"BODY","text":"Sale"}]}'
    assert_refused 400 100 'Invalid parameter'
    post "$TEMPLATE" '{}'
    assert_refused 400 100 components
    post "$TEMPLATE" '{"category":"TEA"}'
    assert_refused 400 100 category
}

@test "templates: a DELETE removes all languages of a name, or with hsm_id one" {
    del "$WABA/message_templates?name=hello_world&hsm_id=$TEMPLATE"
    assert_done
    graph GET "$WABA/message_templates?name=hello_world"
    assert_json '.data | map(.language)' '["de"]'
    post "$WABA/message_templates" '{"name":"hello_world","language":"fr","category":"UTILITY","components":[{"type":"BODY","text":"x"}]}'
    del "$WABA/message_templates?name=hello_world"
    assert_done
    graph GET "$WABA/message_templates?name=hello_world"
    assert_body_is '{"data":[]}'
    del "$WABA/message_templates?name=hello_world"
    assert_refused 400 100 'Invalid parameter'
    assert_json .error.error_subcode 2593002
    del "$WABA/message_templates?name=order_shipped&hsm_id=310000000000007"
    assert_json .error.error_subcode 2593002
    del "$WABA/message_templates"
    assert_refused 400 100 'The parameter name is required'
    del "$WABA/message_templates" '{"name":"order_shipped"}'
    assert_done
}

# --- Flows --------------------------------------------------------------------------------------

new_flow() { # NAME [MEMBERS]: sets `id`
    post "$WABA/flows" "{\"name\":\"$1\",\"categories\":[\"OTHER\"]${2:+,$2}}"
    assert_status 200
    id=$(gojq -r .id "$body")
}

@test "flows: made as a draft, given a Flow JSON, published, deprecated" {
    local id url
    new_flow 'Tea order'
    assert_body_is '{"id":"'"$id"'","success":true,"validation_errors":[]}'
    graph GET "$id"
    assert_body_is '{"id":"'"$id"'","name":"Tea order","status":"DRAFT","categories":["OTHER"],"validation_errors":[]}'
    printf '{ "version":"7.1","screens":[ ] }' >"$BATS_TEST_TMPDIR/flow.json"
    graph POST "$id/assets" -F name=flow.json -F asset_type=FLOW_JSON \
        -F "file=@$BATS_TEST_TMPDIR/flow.json;type=application/json"
    assert_body_is '{"success":true,"validation_errors":[]}'
    graph GET "$id/assets"
    assert_that '.data | length == 1 and .[0].name == "flow.json" and .[0].asset_type == "FLOW_JSON"'
    url=$(gojq -r '.data[0].download_url' "$body")
    fetch "$url"
    assert_status 200
    assert_body_is "@$BATS_TEST_TMPDIR/flow.json"
    fetch "${url%?}x"
    assert_status 403
    graph GET "$id?fields=json_version,assets{name}"
    assert_body_is '{"json_version":"7.1","assets":{"data":[{"name":"flow.json"}]},"id":"'"$id"'"}'
    post "$id/publish" ''
    assert_done
    graph GET "$id?fields=status"
    assert_text .status PUBLISHED
    graph POST "$id/assets" -F name=flow.json -F asset_type=FLOW_JSON \
        -F "file=@$BATS_TEST_TMPDIR/flow.json;type=application/json"
    assert_refused 400 139001
    post "$id/publish" '{}'
    assert_refused 400 139002
    del "$id"
    assert_refused 400 139004
    graph POST "$id/deprecate"
    assert_done
    graph GET "$id?fields=status"
    assert_text .status DEPRECATED
    graph POST "$id/deprecate"
    assert_refused 400 139003
}

@test "flows: a draft is changed and deleted, and its assets with it" {
    local id url
    new_flow 'Tea order' '"endpoint_uri":"https://tea.example/flow"'
    post "$id" '{"name":"Tea orders","categories":["SURVEY","OTHER"]}'
    assert_done
    graph GET "$id?fields=name,categories,endpoint_uri"
    assert_body_is '{"name":"Tea orders","categories":["SURVEY","OTHER"],"endpoint_uri":"https:\/\/tea.example\/flow","id":"'"$id"'"}'
    graph GET "$id/assets"
    url=$(gojq -r '.data[0].download_url' "$body")
    fetch "$url"
    assert_that '.version == "7.0"'
    post "$id" '{"name":"Newsletter"}'
    assert_json .error.error_subcode 4016019
    post "$id" '{"categories":["TEA"]}'
    assert_refused 400 100 categories
    del "$id"
    assert_done
    graph GET "$id"
    assert_unknown get "$id"
    post "$WABA/flows" '{"name":"Newsletter","categories":["OTHER"]}'
    assert_json .error.error_subcode 4016019
    post "$WABA/flows" '{"name":"x"}'
    assert_refused 400 100 categories
    post "$WABA/flows" '{"name":"x","categories":["OTHER"],"clone_flow_id":"420000000000001"}'
    assert_unknown post 420000000000001
}

@test "flows: an error in a Flow JSON has the lines and columns of its bytes" {
    local json errors
    while IFS=$'\t' read -r json errors; do
        printf 'case: %s\n' "$json"
        printf '%b' "$json" >"$BATS_TEST_TMPDIR/flow.json"
        graph POST "$DRAFT/assets" -F name=flow.json -F asset_type=FLOW_JSON \
            -F "file=@$BATS_TEST_TMPDIR/flow.json"
        assert_json '[.validation_errors[] | [.error, .line_start, .column_start, .line_end, .column_end]]' "$errors"
    done <<'END'
{\n  "version": "7.0",\n  oops\n}	[["INVALID_JSON",3,4,3,4]]
{\n  "version": "7.0"\n}	[["MISSING_REQUIRED_PROPERTY",1,1,3,2]]
{"version": 7,\n "screens": {}}	[["INVALID_PROPERTY_TYPE",1,13,1,14],["INVALID_PROPERTY_TYPE",2,13,2,15]]
{"version": "7.0", "screens": [\n  {"id": "A", "layout": {}},\n  {"layout": {}}]}	[["MISSING_REQUIRED_PROPERTY",3,3,3,17]]
END
}

@test "flows: errors in a Flow JSON are listed, and keep the flow from publication" {
    local id
    printf '{"version":"7.0"' >"$BATS_TEST_TMPDIR/flow.json"
    graph POST "$DRAFT/assets" -F name=flow.json -F asset_type=FLOW_JSON \
        -F "file=@$BATS_TEST_TMPDIR/flow.json"
    assert_that '.success and .validation_errors[0].error == "INVALID_JSON"'
    graph GET "$DRAFT"
    assert_that '.validation_errors | length == 1'
    post "$DRAFT/publish" ''
    assert_refused 400 139002
    graph POST "$DRAFT/assets" -F name=flow.json -F asset_type=FLOW_JSON
    assert_refused 400 100 'The parameter file is required'
    graph POST "$DRAFT/assets" -F name=flow.json -F "file=@$BATS_TEST_TMPDIR/flow.json"
    assert_refused 400 100 'The parameter asset_type is required'
    post "$DRAFT/assets" '{"name":"flow.json","asset_type":"FLOW_JSON"}'
    assert_refused 400 100 'multipart/form-data'
    post "$WABA/flows" '{"name":"x","categories":["OTHER"],"flow_json":"{\"version\":\"7.0\"}","publish":true}'
    assert_refused 400 139002
    new_flow y '"flow_json":"{\"version\":\"7.2\",\"screens\":[],\"data_api_version\":\"3.0\"}","publish":true'
    graph GET "$id?fields=status,json_version,data_api_version"
    assert_body_is '{"status":"PUBLISHED","json_version":"7.2","data_api_version":"3.0","id":"'"$id"'"}'
    new_flow z "\"clone_flow_id\":\"$id\""
    graph GET "$id?fields=status,json_version,assets"
    assert_that '.status == "DRAFT" and .json_version == "7.2"'
    fetch "$(gojq -r '.assets.data[0].download_url' "$body")"
    assert_body_is '{"version":"7.2","screens":[],"data_api_version":"3.0"}'
}

@test "flows: the preview stays the same until it is invalidated" {
    graph GET "$FLOW?fields=preview.invalidate(false)"
    assert_that ".id == \"$FLOW\" and (keys == [\"id\", \"preview\"])
        and (.preview.preview_url | startswith(\"https://business.facebook.com/wa/manage/flows/$FLOW/preview/?token=\"))
        and (.preview.expires_at | test(\"^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\\\+0000$\"))"
    local url
    url=$(gojq -r .preview.preview_url "$body")
    graph GET "$FLOW?fields=preview{preview_url}"
    assert_text .preview.preview_url "$url"
    assert_that '.preview | keys == ["preview_url"]'
    graph GET "$FLOW?fields=preview.invalidate(true)&date_format=U"
    assert_that ".preview.preview_url != \"$url\" and (.preview.expires_at | type == \"number\")"
    url=$(gojq -r .preview.preview_url "$body")
    graph GET "$FLOW?fields=preview"
    assert_text .preview.preview_url "$url"
    graph GET "$FLOW?fields=id,name,categories,preview,status,validation_errors,json_version,data_api_version,data_channel_uri,health_status,whatsapp_business_account,application"
    assert_that ".whatsapp_business_account.id == \"$WABA\" and .application.id == \"$APP\"
        and .health_status.can_send_message == \"AVAILABLE\" and .json_version == \"6.0\""
}

# --- Records and reset --------------------------------------------------------------------------

@test "every request to a node or edge is recorded, with its method, path and body" {
    post "$LINE/whatsapp_business_profile" '{"messaging_product":"whatsapp","about":"Tea"}'
    assert_sent '{"messaging_product":"whatsapp","about":"Tea"}'
    assert_sent_to "$LINE/whatsapp_business_profile"
    del "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"1"}]}'
    assert_sent '{"messaging_product":"whatsapp","block_users":[{"user":"1"}]}'
    assert_equal "$(sandbox GET requests/last | gojq -r .method)" DELETE
    graph GET "$WABA?fields=phone_numbers{id}"
    assert_equal "$(query_sent)" 'fields=phone_numbers{id}'
}

@test "a reset of the nodes, or of everything, deletes what clients changed" {
    local call
    for call in 'DELETE nodes' 'POST reset'; do
        post "$LINE/whatsapp_business_profile" '{"messaging_product":"whatsapp","about":"Tea"}'
        post "$LINE/settings" '{"calling":{"status":"ENABLED"}}'
        post "$LINE/deregister" ''
        del "$WABA/subscribed_apps"
        post "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"1"}]}'
        post "$LINE/message_qrdls" '{"prefilled_message":"x"}'
        assert_equal "$(sandbox GET "nodes/$LINE" | gojq -c keys)" '["profile","registration","settings"]'
        # shellcheck disable=SC2086
        sandbox $call >/dev/null
        assert_equal "$(sandbox GET "nodes/$LINE")$(sandbox GET "nodes/$WABA")" '{}{}'
        graph GET "$LINE/block_users"
        assert_body_is '{"data":[]}'
        graph GET "$LINE/message_qrdls"
        assert_body_is '{"data":[]}'
        graph GET "$LINE?fields=status"
        assert_text .status CONNECTED
    done
    post "$TEMPLATE" '{"components":[{"type":"BODY","text":"x"}]}'
    del "$DRAFT"
    sandbox POST reset >/dev/null
    graph GET "$TEMPLATE?fields=status"
    assert_text .status APPROVED
    graph GET "$DRAFT"
    assert_status 200
}
