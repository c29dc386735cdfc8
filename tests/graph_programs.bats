#!/usr/bin/env bats
# Programs that speak to the platform's Graph API, replayed request by request against the Graph
# routes: each test sends what one program sends, in its order, and checks what the program reads of
# each answer. The requests are those of the programs' sources (versions of 2025 and 2026).
# transports: cgi fcgi
load helpers/all
load helpers/webhook
load helpers/courier

PUBLIC=https://switchboard.example.org
PARTS=----WebKitFormBoundary7MA4YWxkTrZu0gW

setup_file() {
    start_stack
    make_user
    put FLOW 410000000000077
    start_receiver PROGRAM
    configure
}

teardown_file() {
    stop_receivers
    stop_stack
}

setup() {
    forget_sent
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"generate\":{\"count\":60,
        \"prefix\":\"page_\"},\"items\":[{\"name\":\"order_ready\",\"components\":[
            {\"type\":\"BODY\",\"text\":\"Order {{1}} is ready\"}],\"language\":\"en_US\",
            \"status\":\"APPROVED\",\"category\":\"UTILITY\",\"id\":\"7004\"}]}" >/dev/null
    photo=$BATS_TEST_TMPDIR/photo
    { printf '\xff\xd8\xff\xe0' && head -c 30000 /dev/urandom; } >"$photo"
}

configure() { # [LINE-OF-CONFIGURATION...]
    write_config "public_url = $PUBLIC" "$@"
}

# Sends a request with the token as most programs do: call METHOD PATH [option of request...]
call() {
    request "$@" -H "Authorization: Bearer $TOKEN"
}

# The same with a body of JSON: post PATH BODY [option of request...]
post() {
    call POST "$1" -d "$2" -H 'Content-Type: application/json' "${@:3}"
}

# Requests an absolute URL of an answer, which must be of this gateway: follow URL [option...]
follow() {
    [[ $1 == "$PUBLIC"/* ]] || fail "another origin: $1"
    request GET "${1#"$PUBLIC"}" "${@:2}"
}

# Prints the value at a jq path of the last answer: value PATH
value() {
    gojq -r "$1" "$body"
}

# The last answer is that of a send: reads the id of the message, and expects that the message is
# stored and that the platform received the bytes of the request. assert_message BODY
assert_message() {
    local id
    assert_status 200
    assert_that '.messages[0].id | startswith("wamid.")'
    id=$(value '.messages[0].id')
    assert_sent "$1" path=/messages
    assert_equal "$(db "SELECT direction, CAST(body AS TEXT) FROM message WHERE wamid = '$id'")" \
        "out|$1"
}

send() { # VERSION BODY [option of request...]
    post "/$1/$LINE/messages" "$2" "${@:3}"
    assert_message "$2"
}

# The platform's error: code, subcode or null, type, and a readable text.
assert_graph_error() { # STATUS CODE SUBCODE TYPE
    assert_status "$1"
    assert_header Content-Type 'application/json; charset=UTF-8'
    assert_json '[.error.code, .error.error_subcode, .error.type]' "[$2,$3,\"$4\"]"
    assert_that '.error | (.message | length > 0) and (.fbtrace_id | length > 0)'
}

# Writes a multipart body to the file $upload: form PART..., with a part `@NAME;TYPE` for the photo
# as the field `file`, and others as NAME=VALUE.
form() {
    local part
    upload=$BATS_TEST_TMPDIR/upload
    for part; do
        printf -- '--%s\r\n' "$PARTS"
        case $part in
        @*)
            part=${part#@}
            printf 'Content-Disposition: form-data; name="file"; filename="%s"\r\n' "${part%;*}"
            printf 'Content-Type: %s\r\n\r\n' "${part#*;}"
            cat "$photo"
            ;;
        *)
            printf 'Content-Disposition: form-data; name="%s"\r\n\r\n%s' "${part%%=*}" "${part#*=}"
            ;;
        esac
        printf '\r\n'
    done >"$upload"
    printf -- '--%s--\r\n' "$PARTS" >>"$upload"
}

# Uploads the parts and sets `media`: upload_form VERSION PART...
upload_form() {
    form "${@:2}"
    call POST "/$1/$LINE/media" -d "@$upload" -H "Content-Type: multipart/form-data; boundary=$PARTS"
    assert_status 200
    assert_that '.id | type == "string"'
    media=$(value .id)
    sandbox GET "media/$media/content" | cmp - "$photo"
}

# Downloads the media object as programs do: its URL, then the bytes. fetch_media PATH [option of
# the second request...]
fetch_media() {
    call GET "$1" -H 'Content-Type: application/json'
    assert_status 200
    assert_text .mime_type image/jpeg
    follow "$(value .url)" "${@:2}"
    assert_status 200
    assert_header Content-Type image/jpeg
    assert_body_is "@$photo"
}

# Prints the URLs of the webhooks that forward the platform's POSTs.
forwards() {
    db "SELECT url FROM webhook WHERE kind = 'forward' AND deleted_at IS NULL ORDER BY id"
}

# bats test_tags=long
@test "Chatwoot: the set-up of an inbox validates the token, registers and sets the webhook" {
    local hook=$PROGRAM_URL/hook other
    answers PROGRAM hook 'verify chatwoot-token'
    # the form is accepted if this succeeds
    request GET "/v14.0/$WABA/message_templates?access_token=$TOKEN"
    assert_status 200
    request GET "/v14.0/$WABA/message_templates?access_token=wrong"
    assert_graph_error 401 190 null OAuthException
    request GET "/v22.0/$WABA/phone_numbers?access_token=$TOKEN"
    assert_status 200
    assert_text '.data[0].id' "$LINE"
    assert_that '.data[0] | has("display_phone_number") and has("verified_name")'
    call GET "/v22.0/$LINE" -H 'Content-Type: application/json'
    assert_status 200
    assert_that 'has("code_verification_status")'
    post "/v22.0/$LINE/register" '{"messaging_product":"whatsapp","pin":"212834"}'
    assert_status 200
    assert_json .success true
    post "/v22.0/$WABA/subscribed_apps" \
        "{\"override_callback_uri\":\"$hook\",\"verify_token\":\"chatwoot-token\"}"
    assert_status 200
    assert_json .success true
    assert_equal "$(forwards)" "$hook"
    # removing the inbox
    call DELETE "/v22.0/$WABA/subscribed_apps" -H 'Content-Type: application/json'
    assert_status 200
    assert_json .success true
    assert_equal "$(forwards)" ''
    # newer releases set it at the number, and remove it there
    other=$PROGRAM_URL/hook?inbox=2
    post "/v24.0/$LINE" "{\"webhook_configuration\":{\"override_callback_uri\":\"$other\",
        \"verify_token\":\"chatwoot-token\"}}"
    assert_status 200
    assert_json .success true
    assert_equal "$(forwards)" "$other"
    # a URL whose receiver does not accept the token is refused
    post "/v24.0/$LINE" "{\"webhook_configuration\":{\"override_callback_uri\":\"$hook\",
        \"verify_token\":\"another\"}}"
    assert_graph_error 400 2200 null OAuthException
    assert_equal "$(forwards)" "$other"
    # 4.x: the fields first, then the callback of the number, which the page of the inbox compares
    post "/v22.0/$WABA/subscribed_apps" '{"subscribed_fields":["messages","smb_message_echoes"]}'
    assert_json .success true
    post "/v24.0/$LINE" "{\"webhook_configuration\":{\"override_callback_uri\":\"$hook\",
        \"verify_token\":\"chatwoot-token\"}}"
    assert_json .success true
    request GET "/v24.0/$LINE?fields=webhook_configuration&access_token=$TOKEN"
    assert_text '.webhook_configuration | .phone_number // .whatsapp_business_account // .application' "$hook"
    assert_equal "$(db "SELECT fields FROM webhook WHERE kind = 'forward' AND deleted_at IS NULL")" \
        'messages smb_message_echoes'
    post "/v24.0/$LINE" '{"webhook_configuration":{"override_callback_uri":""}}'
    assert_status 200
    assert_equal "$(forwards)" ''
    # nothing of this changed the platform's own webhook
    assert_equal "$(sandbox GET requests | gojq -c '[.[].path | select(test("subscribed_apps"))]')" '[]'
}

@test "Chatwoot: the health of an inbox is read with 14 fields" {
    local fields
    fields=id,quality_rating,whatsapp_business_manager_messaging_limit,status
    fields+=,code_verification_status,account_mode,display_phone_number,name_status,verified_name
    fields+=,webhook_configuration,throughput,last_onboarded_time,is_on_biz_app,platform_type
    request GET "/v24.0/$LINE?fields=${fields//,/%2C}&access_token=$TOKEN"
    assert_status 200
    assert_text .id "$LINE"
    assert_that '.throughput.level and .quality_rating and .platform_type'
    request GET "/v24.0/$WABA?fields=id%2Cname%2Cowner_business_info&access_token=$TOKEN"
    assert_status 200
    assert_text .id "$WABA"
    assert_that 'has("name")'
    [[ $(query_sent) != *"$TOKEN"* ]]
}

# bats test_tags=long
@test "Chatwoot: texts, attachments, lists and templates are sent, and errors are read" {
    local text="\"messaging_product\":\"whatsapp\",\"context\":null,\"to\":\"15551230001\""
    send v13.0 "{$text,\"text\":{\"body\":\"Grüße\"},\"type\":\"text\"}"
    send v13.0 "{\"messaging_product\":\"whatsapp\",\"context\":{\"message_id\":\"$(value '.messages[0].id')\"},\"to\":\"15551230001\",\"text\":{\"body\":\"x\"},\"type\":\"text\"}"
    send v13.0 "{$text,\"type\":\"image\",\"image\":{\"link\":\"https://chat.example.org/a.jpg\",\"caption\":null}}"
    send v13.0 "{$text,\"type\":\"audio\",\"audio\":{\"link\":\"https://chat.example.org/a.ogg\"}}"
    send v13.0 "{$text,\"type\":\"document\",\"document\":{\"link\":\"https://chat.example.org/a.pdf\",\"caption\":null,\"filename\":\"a.pdf\"}}"
    send v13.0 '{"messaging_product":"whatsapp","to":"15551230001","interactive":{"type":"button","body":{"text":"Choose"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"One"}}]}},"type":"interactive"}'
    send v13.0 '{"messaging_product":"whatsapp","recipient_type":"individual","to":"15551230001","type":"template","template":{"name":"order_ready","language":{"policy":"deterministic","code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"4711"}]}]}}'
    # shown at the message: "#{code}: #{message}"
    post "/v13.0/$LINE/messages" '{"messaging_product":"whatsapp","to":"15551230001","type":"template","template":{"name":"no_such","language":{"policy":"deterministic","code":"en_US"},"components":[]}}'
    assert_graph_error 404 132001 null OAuthException
}

@test "Chatwoot: templates are read page by page, each URL without a header" {
    local url names=0 pages=0
    url=$PUBLIC/v14.0/$WABA/message_templates?access_token=$TOKEN
    while [[ $url ]]; do
        follow "$url"
        assert_status 200
        names=$((names + $(value '.data | length')))
        pages=$((pages + 1))
        url=$(value '.paging.next // ""')
        [[ -z $url || $url == *"access_token=$TOKEN"* ]] || fail "$url"
    done
    assert_equal "$names in $((pages > 1))" '61 in 1'
}

@test "Chatwoot: a received file is downloaded, and the survey's template is made and removed" {
    upload_form v20.0 '@a.jpg;image/jpeg' messaging_product=whatsapp
    fetch_media "/v13.0/$media?phone_number_id=$LINE" -H "Authorization: Bearer $TOKEN"
    fetch_media "/v13.0/$media"
    # 401 marks the inbox as one that needs a new token
    request GET "/v13.0/$media" -H 'Authorization: Bearer wrong'
    assert_graph_error 401 190 null OAuthException
    configure 'graph_destructive = yes'
    post "/v14.0/$WABA/message_templates" '{"name":"customer_satisfaction_survey_1","language":"en","category":"MARKETING","components":[{"type":"BODY","text":"Please rate"},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Rate","url":"https://chat.example.org/survey/{{1}}","example":["12345"]}]}]}'
    assert_status 200
    assert_that '.id and .status'
    call GET "/v14.0/$WABA/message_templates?name=customer_satisfaction_survey_1"
    assert_status 200
    assert_that '.data[0] | .id and .status and .name == "customer_satisfaction_survey_1"'
    call DELETE "/v14.0/$WABA/message_templates?name=customer_satisfaction_survey_1"
    assert_status 200
    configure
}

@test "Typebot: the dialog of a number reads the token, the numbers and the subscribed apps" {
    local app
    request GET "/v17.0/debug_token?input_token=$TOKEN" -H "Authorization: Bearer $TOKEN"
    assert_status 200
    assert_that '.data | (.app_id | type == "string") and has("expires_at")
        and (.scopes | contains(["whatsapp_business_management", "whatsapp_business_messaging"]))'
    app=$(value .data.app_id)
    call GET "/v17.0/$LINE"
    assert_status 200
    assert_that '.display_phone_number | length > 0'
    call GET "/v17.0/$WABA/phone_numbers?fields=id%2Cdisplay_phone_number&limit=100"
    assert_status 200
    assert_equal "$(value '.data[] | keys | join(" ")')" 'display_phone_number id'
    assert_that '.paging.next == null'
    call GET "/v17.0/$WABA/subscribed_apps"
    assert_status 200
    assert_text '.data[0].whatsapp_business_api_data.id' "$app"
    # what it sends when its app is not in the list
    call POST "/v17.0/$WABA/subscribed_apps"
    assert_status 200
    assert_json .success true
}

# bats test_tags=long
@test "Typebot: messages, the typing indicator and files" {
    local id
    send v21.0 '{"messaging_product":"whatsapp","to":"15551230001","type":"text","text":{"body":"Hi","preview_url":false}}'
    id=$(value '.messages[0].id')
    send v21.0 '{"messaging_product":"whatsapp","recipient":"US.13491208655302741918","type":"text","text":{"body":"Hi"}}'
    send v17.0 '{"messaging_product":"whatsapp","to":"15551230001","type":"interactive","interactive":{"type":"cta_url","body":{"text":"Pay"},"action":{"name":"cta_url","parameters":{"display_text":"Pay","url":"https://example.org/pay"}}}}'
    post "/v21.0/$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"status\":\"read\",\"message_id\":\"$id\",\"typing_indicator\":{\"type\":\"text\"}}"
    assert_status 200
    assert_json .success true
    upload_form v21.0 '@photo.jpg;image/jpeg' type=image/jpeg messaging_product=whatsapp
    call GET "/v17.0/$media"
    follow "$(value .url)" -H "Authorization: Bearer $TOKEN" -H 'User-Agent: Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
    assert_status 200
    assert_body_is "@$photo"
    # a proof of the app's secret is computed over our token; the platform does not receive it
    send v21.0 '{"messaging_product":"whatsapp","to":"15551230001","type":"text","text":{"body":"proof"}}'
    post "/v21.0/$LINE/messages?appsecret_proof=0123abcd" \
        '{"messaging_product":"whatsapp","to":"15551230001","type":"text","text":{"body":"proof"}}'
    assert_status 200
    assert_equal "$(query_sent)" ''
}

# bats test_tags=long
@test "n8n: the test of a token, the lists of the node, messages with the type last, files" {
    # a good token is one whose answer is not an OAuthException
    call GET /v13.0/
    assert_status 400
    assert_text .error.type GraphMethodException
    request GET /v13.0/ -H 'Authorization: Bearer wrong'
    assert_graph_error 401 190 null OAuthException
    call GET "/v13.0/$WABA/phone_numbers"
    assert_status 200
    assert_that '.data[0] | .id and .display_phone_number and has("verified_name")'
    call GET "/v13.0/$WABA/message_templates"
    assert_status 200
    assert_that '.data[0] | .name and .language'
    send v13.0 '{"messaging_product":"whatsapp","to":"15551230001","text":{"body":"Hello"},"type":"text"}'
    upload_form v13.0 '@photo.jpg;image/jpeg' messaging_product=whatsapp
    send v13.0 "{\"messaging_product\":\"whatsapp\",\"to\":\"15551230001\",\"image\":{\"id\":\"$media\"},\"type\":\"image\"}"
    fetch_media "/v13.0/$media" -H "Authorization: Bearer $TOKEN"
    call DELETE "/v13.0/$media"
    assert_status 200
    assert_json .success true
    # the text after `(#code) ` is shown
    post "/v13.0/$LINE/messages" '{"messaging_product":"whatsapp","to":"15551230001","text":{"body":""},"type":"text"}'
    assert_status 400
    assert_that '.error.message | test("^\\(#[0-9]+\\) .")'
}

# bats test_tags=long
@test "Evolution API: messages, a file with the field typeFile, templates and the profile" {
    local text='"messaging_product":"whatsapp","recipient_type":"individual","to":"15551230001"'
    send v20.0 "{$text,\"type\":\"text\",\"text\":{\"preview_url\":true,\"body\":\"Hello\"}}"
    upload_form v20.0 '@photo.jpg;image/jpeg' typeFile=image/jpeg messaging_product=whatsapp
    send v20.0 "{$text,\"type\":\"image\",\"image\":{\"id\":\"$media\",\"caption\":\"Look\"}}"
    send v20.0 "{$text,\"type\":\"reaction\",\"reaction\":{\"message_id\":\"$(value '.messages[0].id')\",\"emoji\":\"👍\"}}"
    fetch_media "/v20.0/$media" -H "Authorization: Bearer $TOKEN"
    call GET "/v20.0/$WABA/message_templates" -H 'Content-Type: application/json'
    assert_status 200
    assert_that '.data | length > 0'
    post "/v20.0/$WABA/message_templates" '{"name":"evolution_made","category":"UTILITY","language":"en_US","components":[{"type":"BODY","text":"Hello"}]}'
    assert_status 200
    assert_that '.id and .status and .category'
    post "/v20.0/$LINE/whatsapp_business_profile" '{"messaging_product":"whatsapp","about":"Shop","websites":["https://example.org/"]}'
    assert_status 200
    assert_json .success true
    # an error's object is returned as the result
    post "/v20.0/$LINE/messages" "{$text,\"type\":\"image\",\"image\":{\"id\":\"1\"}}"
    assert_that '.error | .message and .code'
}

# bats test_tags=long
@test "Frappe: messages, a download with a trailing slash, templates and flows" {
    local flow
    send v17.0 '{"messaging_product": "whatsapp", "to": "15551230001", "type": "text", "text": {"preview_url": true, "body": "Hello"}}'
    send v17.0 '{"messaging_product": "whatsapp", "to": "15551230001", "type": "image", "image": {"link": "https://erp.example.org/a.jpg", "caption": null}}'
    send v17.0 '{"messaging_product": "whatsapp", "to": "15551230001", "type": "template", "template": {"name": "order_ready", "language": {"code": "en_US"}, "components": [{"type": "body", "parameters": [{"type": "text", "text": "4711"}]}]}}'
    upload_form v17.0 '@photo.jpg;image/jpeg' messaging_product=whatsapp
    request GET "/v17.0/$media/" -H "authorization: bearer $TOKEN"
    assert_status 200
    follow "$(value .url)" -H "authorization: bearer $TOKEN"
    assert_body_is "@$photo"
    call GET "/v17.0/$WABA/message_templates" -H 'Content-Type: application/json'
    assert_status 200
    assert_that '.data[0] | .name and .status and .language and .category and .id and .components'
    # the sample of a header: a form that is named JSON, then the bytes without a type
    call POST /v17.0/1000000000000001/uploads -H 'content-type: application/json' \
        -d 'file_length=30004&file_type=image%2Fjpeg&messaging_product=whatsapp'
    assert_status 200
    request POST "/v17.0/$(value .id)" -H "authorization: OAuth $TOKEN" -H 'Content-Type:' -d "@$photo"
    assert_status 200
    assert_that '.h | startswith("4::aW1hZ2UvanBlZw==:")'
    sandbox GET requests/last/body | cmp - "$photo"
    post "/v17.0/$WABA/message_templates" "{\"name\": \"frappe_photo\", \"language\": \"en_US\", \"category\": \"UTILITY\", \"components\": [{\"type\": \"BODY\", \"text\": \"Hello\"}, {\"type\": \"header\", \"format\": \"IMAGE\", \"example\": {\"header_handle\": [\"$(value .h)\"]}}]}"
    assert_status 200
    configure 'graph_destructive = yes'
    post "/v17.0/$WABA/message_templates" '{"name": "frappe_made", "language": "en_US", "category": "UTILITY", "components": [{"type": "BODY", "text": "Hello"}]}'
    assert_status 200
    assert_that '.id and .status'
    # an approved template is changed
    post /v17.0/7004 '{"components": [{"type": "BODY", "text": "Hello again"}]}'
    assert_status 200
    call DELETE "/v17.0/$WABA/message_templates?name=frappe_made"
    assert_status 200
    post "/v17.0/$WABA/flows" '{"name": "Survey", "categories": ["SURVEY"]}'
    assert_status 200
    flow=$(value .id)
    printf '{"version":"7.2","screens":[{"id":"A","title":"A","terminal":true,"layout":{"type":"SingleColumnLayout","children":[{"type":"Footer","label":"Send","on-click-action":{"name":"complete","payload":{}}}]}}]}' >"$photo"
    form '@flow.json;application/json' name=flow.json asset_type=FLOW_JSON
    call POST "/v17.0/$flow/assets" -d "@$upload" -H "Content-Type: multipart/form-data; boundary=$PARTS"
    assert_status 200
    assert_json .success true
    call GET "/v17.0/$flow/assets"
    assert_status 200
    assert_that '.data[0].download_url | length > 0'
    call GET "/v17.0/$flow?fields=preview.invalidate(false)"
    assert_status 200
    assert_that '.preview.preview_url | length > 0'
    call POST "/v17.0/$flow/publish"
    assert_status 200
    assert_json .success true
    call POST "/v17.0/$flow/deprecate"
    assert_status 200
    call POST "/v17.0/$WABA/subscribed_apps"
    assert_status 200
    configure
}

@test "Botpress: the app, the token, several nodes at once, registration in the query" {
    request GET /app -H "Authorization: Bearer $TOKEN"
    assert_status 200
    assert_that '.id | type == "string"'
    request GET "/debug_token?input_token=$TOKEN&access_token=$TOKEN"
    assert_status 200
    assert_that '.data | has("app_id") and has("granular_scopes")'
    call GET "/v22.0/?ids=$WABA,$LINE&fields=id"
    assert_status 200
    assert_text ".[\"$WABA\"].id" "$WABA"
    request GET "/v22.0/$WABA/phone_numbers?access_token=$TOKEN"
    assert_status 200
    request POST "/v22.0/$LINE/register?access_token=$TOKEN&messaging_product=whatsapp&pin=212834"
    assert_status 200
    assert_json .success true
    post "/v22.0/$WABA/subscribed_apps" '{}'
    assert_status 200
    assert_json .success true
    call GET "/v22.0/$WABA/message_templates?fields=id,name,status&limit=20&status=APPROVED"
    assert_status 200
    assert_that '.data | length == 20'
    call GET "/v22.0/$WABA/message_templates?fields=id,name,status&limit=20&status=APPROVED&after=$(value .paging.cursors.after)"
    assert_status 200
    assert_that '.data | length == 20'
}

# bats test_tags=long
@test "pywa: a webhook of the number, trailing slashes, a DELETE with a body, codes and settings" {
    local id code
    answers PROGRAM hook 'verify pywa-token'
    post "/v23.0/$LINE/" "{\"webhook_configuration\":{\"override_callback_uri\":\"$PROGRAM_URL/hook?pywa\",\"verify_token\":\"pywa-token\"}}"
    assert_status 200
    assert_json .success true
    assert_equal "$(forwards)" "$PROGRAM_URL/hook?pywa"
    send v23.0 '{"messaging_product":"whatsapp","recipient_type":"individual","to":"15551230001","type":"text","text":{"body":"Hi","preview_url":false},"biz_opaque_callback_data":"tracker"}'
    id=$(value '.messages[0].id')
    post "/v23.0/$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"status\":\"read\",\"message_id\":\"$id\"}"
    assert_json .success true
    upload_form v23.0 messaging_product=whatsapp '@photo.jpg;image/jpeg' type=image/jpeg
    fetch_media "/v23.0/$media" -H "Authorization: Bearer $TOKEN"
    call GET "/v23.0/$LINE/whatsapp_business_profile?fields=about,websites"
    assert_status 200
    assert_that '.data[0] | type == "object"'
    call GET "/v23.0/$LINE/whatsapp_commerce_settings"
    assert_status 200
    assert_that '.data | type == "array"'
    sandbox POST settings '{"serviceWindow":false}' >/dev/null
    post "/v23.0/$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"15551230007"}]}'
    assert_status 200
    assert_that '.block_users.added_users | length == 1'
    call DELETE "/v23.0/$LINE/block_users" -H 'Content-Type: application/json' \
        -d '{"messaging_product":"whatsapp","block_users":[{"user":"15551230007"}]}'
    assert_status 200
    post "/v23.0/$LINE/message_qrdls" '{"prefilled_message":"Hi","generate_qr_image":"PNG"}'
    assert_status 200
    code=$(value .code)
    call GET "/v23.0/$LINE/message_qrdls/$code"
    assert_text '.data[0].prefilled_message' Hi
    call DELETE "/v23.0/$LINE/message_qrdls/$code"
    assert_json .success true
    # commands and openings of a chat, the key of flows, the numbers of a template
    post "/v23.0/$LINE/conversational_automation" '{"enable_welcome_message":true,"prompts":["Book"],
        "commands":[{"command_name":"menu","command_description":"Shows all"}]}'
    assert_json .success true
    call GET "/v23.0/$LINE?fields=conversational_automation"
    assert_json '.conversational_automation.prompts' '["Book"]'
    openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2>/dev/null |
        openssl pkey -pubout -out "$BATS_TEST_TMPDIR/key.pem"
    call POST "/v23.0/$LINE/whatsapp_business_encryption" \
        -H 'Content-Type: application/x-www-form-urlencoded' \
        -d "business_public_key=$(jq -rRs @uri "$BATS_TEST_TMPDIR/key.pem")"
    assert_json .success true
    call GET "/v23.0/$LINE/whatsapp_business_encryption"
    assert_text '.data[0].business_public_key_signature_status' VALID
    call GET "/v23.0/$WABA/message_templates?limit=1"
    code=$(value '.data[0].id')
    call GET "/v23.0/$WABA/template_analytics?granularity=DAILY&start=$(date +%s)&end=$(($(
        date +%s) + 1))&metric_types=SENT%2CREAD&template_ids=%5B$code%5D&limit=1"
    assert_status 200
    assert_text '.data[0].data_points[0].template_id' "$code"
    call GET "/v23.0/$LINE?fields=id,display_phone_number,throughput"
    assert_equal "$(value 'keys | join(" ")')" 'display_phone_number id throughput'
    # the sample of a header, in two parts
    local session half=$BATS_TEST_TMPDIR/half
    call POST '/v23.0/1000000000000001/uploads?file_name=photo.jpg&file_length=30004&file_type=image%2Fjpeg'
    assert_status 200
    session=$(value .id)
    head -c 10000 "$photo" >"$half"
    call POST "/v23.0/$session" -H 'file_offset: 0' -H 'Content-Type: image/jpeg' -d "@$half"
    assert_json . "{\"id\":\"$session\",\"file_offset\":10000}"
    call GET "/v23.0/$session"
    assert_json .file_offset 10000
    tail -c +10001 "$photo" >"$half"
    call POST "/v23.0/$session" -H 'file_offset: 10000' -H 'Content-Type: image/jpeg' -d "@$half"
    assert_status 200
    assert_that '.h | startswith("4::")'
    assert_equal "$(sandbox GET requests/last | jq -r '.headers | .file_offset, .authorization')" \
        "$(printf '10000\nOAuth %s' "$PLATFORM_TOKEN")"
    sandbox GET requests/last/body | cmp - "$half"
    call POST "/v23.0/$session" -H 'file_offset: -1' -d x
    assert_graph_error 400 100 null OAuthException
    call POST /v23.0/upload:nothing?sig=x -H 'file_offset: 0' -d x
    assert_graph_error 400 100 33 GraphMethodException
    call POST '/v23.0/1234/uploads?file_length=1&file_type=image%2Fjpeg'
    assert_graph_error 400 100 null OAuthException
    # every error has a code, also for edges that are not served
    call POST "/v23.0/$LINE/calls" -d '{}' -H 'Content-Type: application/json'
    assert_graph_error 400 100 33 GraphMethodException
}

@test "no request of these programs leaves a token in a log" {
    refute grep -F "$TOKEN" "$LOG" "$STACK"/apache/*log "$STACK"/apache/*.log
    refute grep -F "$PLATFORM_TOKEN" "$LOG" "$STACK"/apache/*log "$STACK"/apache/*.log
}
