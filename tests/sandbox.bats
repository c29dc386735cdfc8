#!/usr/bin/env bats
# transports: direct
# The Graph sandbox, on which all other tests rely: it answers, refuses, fails and sends webhooks as the
# platform does.
load helpers/all
load helpers/sandbox_calls

webhook() { # JSON: asks for webhooks, prints the report
    sandbox POST webhooks "$1"
}

# The body of a webhook call.
built() {
    webhook "$(gojq -c '. + {build: true}' <<<"$1")" | gojq -r '.posts[0].body'
}

hmac() { # KEY, body on standard input
    openssl dgst -sha256 -hmac "$1" -r | cut -d' ' -f1
}

# --- Versions, tokens, ownership ----------------------------------------------------------------

@test "versions: v21.0 to v26.0 are served, an expired one is served as the oldest, others are unknown" {
    local version
    for version in 21 22 23 24 25 26; do
        fetch_as "$SANDBOX/v$version.0/me"
        assert_status 200
        assert_header facebook-api-version "v$version.0"
    done
    fetch_as "$SANDBOX/v16.0/me"
    assert_header facebook-api-version v21.0
    for version in v27.0 v26.1 26.0 v26.0x latest; do
        fetch_as "$SANDBOX/$version/me"
        assert_refused 400 2500 'Unknown path components: /me'
    done
}

@test "tokens: a missing, unknown, expired and revoked one have different errors" {
    fetch "$SANDBOX/v26.0/me"
    assert_refused 400 2500
    sandbox POST tokens '{"token":"strange","state":"valid"}' >/dev/null
    token=strange graph GET me
    assert_refused 401 190 'Cannot parse'
    assert_header WWW-Authenticate
    sandbox POST tokens '{"token":"sandbox-token-1","state":"expired"}' >/dev/null
    graph GET me
    assert_refused 401 190 expired
    assert_json .error.error_subcode 463
    sandbox POST tokens '{"token":"sandbox-token-1","state":"revoked"}' >/dev/null
    graph GET me
    assert_json .error.error_subcode 460
    sandbox POST tokens '{"token":"sandbox-token-1","state":"valid"}' >/dev/null
    graph GET me
    assert_status 200
}

@test "ownership: an object of another token is 400 like one that does not exist, never 404" {
    local path
    for path in "$OTHER_WABA/message_templates" "$OTHER_WABA/flows" "$OTHER_LINE" 2200000000000001 \
        420000000000001 320000000000001 999; do
        graph GET "$path"
        assert_refused 400 100 'Unsupported get request'
        assert_json .error.error_subcode 33
        assert_text .error.type GraphMethodException
    done
    post "$OTHER_LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"1\",$text}"
    assert_refused 400 100 'Unsupported post request'
}

@test "an unknown edge has its own error" {
    graph GET "$WABA/nonsense"
    assert_refused 400 100 'nonexisting field (nonsense)'
}

@test "answers have the platform's headers" {
    send "$text"
    local name
    for name in facebook-api-version x-fb-trace-id x-fb-request-id x-fb-debug x-app-usage \
        x-business-use-case-usage; do
        assert_header "$name"
    done
    assert_header Content-Type 'application/json; charset=UTF-8'
    header x-business-use-case-usage | gojq -e ".\"$WABA\"[0].estimated_time_to_regain_access == 0"
}

# --- Sends --------------------------------------------------------------------------------------

@test "send to a phone: input unchanged, wa_id its digits, all ids different" {
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"+1 (650) 555-1234\",$text}"
    assert_accepted
    assert_json .contacts '[{"input":"+1 (650) 555-1234","wa_id":"16505551234"}]'
    assert_that 'keys == ["contacts", "messages", "messaging_product"]'
    local ids=''
    for _ in 1 2 3 4 5; do
        send "$text"
        ids+=$(gojq .messages[0].id "$body")$'\n'
    done
    assert_equal "$(sort -u <<<"$ids" | grep -c wamid)" 5
}

@test "send to a BSUID: user_id and no wa_id; with both the phone is used" {
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"recipient\":\"US.7Ab\",$text}"
    assert_accepted
    assert_json .contacts '[{"input":"US.7Ab","user_id":"US.7Ab"}]'
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"recipient\":\"US.ENT.7Ab\",$text}"
    assert_accepted
    send "\"recipient\":\"US.7Ab\",$text"
    assert_json .contacts '[{"input":"+16505551234","wa_id":"16505551234"}]'
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"recipient\":\"7Ab\",$text}"
    assert_refused 400 131009 recipient
}

@test "a BSUID in to: 200, its digits are used as a phone, and no status is sent" {
    open_inbox
    sandbox POST settings '{"automaticStatuses":true,"statusDelayMs":1}' >/dev/null
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"US.134\",$text}"
    assert_accepted
    assert_json .contacts '[{"input":"US.134","wa_id":"134"}]'
    wrote 16505551234
    send "$text"
    eventually inbox_holds 3
    sandbox GET 'requests?path=/inbox' | gojq -e 'all(.body | contains("16505551234"))'
}

@test "envelope: missing and wrong members are refused" {
    post "$LINE/messages" "{\"to\":\"1\",$text}"
    assert_refused 400 100 messaging_product
    post "$LINE/messages" "{\"messaging_product\":\"sms\",\"to\":\"1\",$text}"
    assert_refused 400 100 messaging_product
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",$text}"
    assert_refused 400 100 'The parameter to is required.'
    send "\"recipient_type\":\"business_scoped_user_id\",$text"
    assert_refused 400 100 recipient_type
    send "\"recipient_type\":\"individual\",$text"
    assert_accepted
    send '"type":"poll","poll":{}'
    assert_refused 400 100 'Param type'
    send '"type":"image"'
    assert_refused 400 100 'The parameter image is required'
    send "\"context\":{},$text"
    assert_refused 400 100 message_id
    send "\"context\":{\"message_id\":\"wamid.x\"},$text"
    assert_accepted
    post "$LINE/messages" '{"messaging_product":"whatsapp",'
    assert_refused 400 100 'not valid JSON'
    graph POST "$LINE/messages" --data-binary "{\"messaging_product\":\"whatsapp\",\"to\":\"1\",$text}"
    assert_refused 400 100 messaging_product
}

@test "text: 4096 characters, not bytes, and not one more" {
    local long
    long=$(printf '\xc3\xa9%.0s' {1..4096})
    send "\"text\":{\"body\":\"$long\"}"
    assert_accepted
    send "\"text\":{\"body\":\"${long}x\"}"
    assert_refused 400 100 4096
    send '"text":{"body":""}'
    assert_refused 400 100
    send '"text":{"body":7}'
    assert_refused 400 100 'must be a string'
}

@test "media: an id of this account, and a caption where it is allowed" {
    local type
    for type in image:1100000000000001 video:1100000000000002 audio:1100000000000003 \
        document:1100000000000004 sticker:1100000000000005; do
        send "\"type\":\"${type%:*}\",\"${type%:*}\":{\"id\":\"${type#*:}\"}"
        assert_accepted
    done
    send '"type":"document","document":{"id":"1100000000000004","caption":"c","filename":"f.pdf"}'
    assert_accepted
    send '"type":"audio","audio":{"id":"1100000000000003","caption":"c"}'
    assert_refused 400 100 caption
    send '"type":"image","image":{"id":"1100000000000001","filename":"f"}'
    assert_refused 400 100 filename
    send '"type":"image","image":{"id":"2200000000000001"}'
    assert_refused 400 100 'Param image.id is not a valid whatsapp business account media attachment ID'
    send '"type":"image","image":{}'
    assert_refused 400 131009
}

# bats test_tags=long
@test "media: a link instead of the id, which must be an http or https URL" {
    local type
    for type in image video audio document sticker; do
        send "\"type\":\"$type\",\"$type\":{\"link\":\"https://example.com/a\"}"
        assert_accepted
        send "\"type\":\"$type\",\"$type\":{\"link\":\"example.com/a\"}"
        assert_refused 400 100 "Param $type.link is not a valid URI."
        send "\"type\":\"$type\",\"$type\":{\"link\":\"http://x/\",\"id\":\"1100000000000001\"}"
        assert_refused 400 131009 'exactly one of id and link'
    done
}

@test "location and reaction" {
    send '"type":"location","location":{"latitude":"52.5","longitude":13.25,"name":"n"}'
    assert_accepted
    send '"type":"location","location":{"latitude":52.5}'
    assert_refused 400 100 longitude
    send '"type":"location","location":{"latitude":95,"longitude":0}'
    assert_refused 400 131009
    send '"type":"reaction","reaction":{"message_id":"wamid.x","emoji":""}'
    assert_accepted
    send '"type":"reaction","reaction":{"message_id":"wamid.x","emoji":""},"context":{"message_id":"wamid.x"}'
    assert_refused 400 100 context
}

# bats test_tags=long
@test "contacts: 1 to 257, each with a formatted name and known members" {
    local one='{"name":{"formatted_name":"A","first_name":"A"},"phones":[{"phone":"+1","type":"Home","wa_id":"1"}],"emails":[{"email":"a@b"}],"urls":[{"url":"b"}],"addresses":[{"city":"c","country_code":"us"}],"org":{"company":"c"},"birthday":"1999-01-23"}'
    local change
    send "\"type\":\"contacts\",\"contacts\":[$one,$one]"
    assert_accepted
    send "\"type\":\"contacts\",\"contacts\":$(gojq -c '[range(257) as $i | .]' <<<"$one")"
    assert_accepted
    send "\"type\":\"contacts\",\"contacts\":$(gojq -c '[range(258) as $i | .]' <<<"$one")"
    assert_refused 400 131009 257
    for change in 'del(.name)' 'del(.name.formatted_name)' '.name.formattedName = "A"' \
        '.phones = {}' '.phones[0].waId = "1"' '.addresses[0].city = 5' '.org = []' '.x = 1'; do
        send "\"type\":\"contacts\",\"contacts\":[$(gojq -c "$change" <<<"$one")]"
        assert_refused 400 100 'contacts[0]'
    done
    for change in 23.1.1999 1999-1-23 19990123 1999-01-2x; do
        send "\"type\":\"contacts\",\"contacts\":[$(gojq -c ".birthday = \"$change\"" <<<"$one")]"
        assert_refused 400 131009 birthday
    done
    send '"type":"contacts","contacts":[]'
    assert_refused 400 100 non-empty
    send '"type":"contacts","contacts":["x"]'
    assert_refused 400 100 'must be a JSON object'
}

# Reply buttons with the given titles.
buttons() {
    gojq -nc '{type: "button", body: {text: "b"}, action: {buttons: [$ARGS.positional | to_entries[] |
        {type: "reply", reply: {id: "\(.key)", title: .value}}]}}' --args "$@"
}

# bats test_tags=long
@test "reply buttons: 1 to 3, with short and different titles" {
    send_interactive "$(buttons Yes)"
    assert_accepted
    send_interactive "$(buttons Yes No Maybe)"
    assert_accepted
    send_interactive "$(buttons)"
    assert_refused 400 131009
    send_interactive "$(buttons a b c d)"
    assert_refused 400 131009
    send_interactive "$(buttons Yes Yes)"
    assert_refused 400 131009 'Duplicated title'
    send_interactive "$(buttons Yes No | gojq -c '.action.buttons[].reply.id = "same"')"
    assert_refused 400 131009 'Duplicated id'
    send_interactive "$(buttons Yes | gojq -c 'del(.action.buttons[0].reply.title)')"
    assert_refused 400 100 "['title'] is required"
    send_interactive "$(buttons 123456789012345678901)"
    assert_refused 400 100 20
    send_interactive "$(buttons Yes | gojq -c 'del(.body)')"
    assert_refused 400 100 body
    send_interactive "$(buttons Yes | gojq -c '.header = {type: "image", image: {id: "9"}}')"
    assert_refused 400 100 'media attachment ID'
}

# A list whose sections have the given numbers of rows.
list() {
    gojq -nc '{type: "list", body: {text: "b"}, action: {button: "Open", sections: [$ARGS.positional |
        to_entries[] | .key as $s | {title: "S\($s)", rows: [range(.value | tonumber) |
        {id: "\($s)-\(.)", title: "R\(.)"}]}]}}' --args "$@"
}

@test "lists: at most ten rows in all sections together" {
    send_interactive "$(list 4 6)"
    assert_accepted
    send_interactive "$(list 5 6)"
    assert_refused 400 131009 row
    send_interactive "$(list 3 0)"
    assert_refused 400 131009
    send_interactive "$(list)"
    assert_refused 400 131009
    send_interactive "$(list 2 2 | gojq -c '.action.sections[1].rows[0].id = "0-0"')"
    assert_refused 400 131009 Duplicated
    send_interactive "$(list 2 2 | gojq -c 'del(.action.sections[1].title)')"
    assert_refused 400 131009 title
    send_interactive "$(list 1 | gojq -c '.action.button = "123456789012345678901"')"
    assert_refused 400 100 20
}

@test "products: single, list, catalog" {
    send_interactive '{"type":"product","action":{"catalog_id":"1","product_retailer_id":"a"}}'
    assert_accepted
    send_interactive '{"type":"product","header":{"type":"text","text":"h"},"action":{"catalog_id":"1","product_retailer_id":"a"}}'
    assert_refused 400 100 header
    local products='{"type":"product_list","header":{"type":"text","text":"h"},"body":{"text":"b"},"action":{"catalog_id":"1","sections":[{"title":"t","product_items":[{"product_retailer_id":"a"}]}]}}'
    send_interactive "$products"
    assert_accepted
    send_interactive "$(gojq -c 'del(.header)' <<<"$products")"
    assert_refused 400 100 header
    send_interactive "$(gojq -c '.action.sections[0].product_items = []' <<<"$products")"
    assert_refused 400 131009
    send_interactive "$(gojq -c '.action.sections[0].product_items = [range(31) | {product_retailer_id: "\(.)"}]' <<<"$products")"
    assert_refused 400 131009
    local catalog='{"type":"catalog_message","body":{"text":"b"},"action":{"name":"catalog_message"}}'
    send_interactive "$catalog"
    assert_accepted
    send_interactive "$(gojq -c '.action.parameters = {}' <<<"$catalog")"
    assert_refused 400 100 thumbnail_product_retailer_id
}

# A carousel with the given catalogs.
carousel() {
    gojq -nc '{type: "carousel", body: {text: "b"}, action: {cards: [$ARGS.positional | to_entries[] |
        {card_index: .key, type: "product", action: {product_retailer_id: "p", catalog_id: .value}}]}}' \
        --args "$@"
}

@test "carousels: 2 to 10 cards of one catalog, no header or footer" {
    send_interactive "$(carousel 1 1)"
    assert_accepted
    send_interactive "$(carousel 1)"
    assert_refused 400 131009
    send_interactive "$(carousel 1 1 1 1 1 1 1 1 1 1 1)"
    assert_refused 400 131009
    send_interactive "$(carousel 1 2)"
    assert_refused 400 131009 catalog_id
    send_interactive "$(carousel 1 1 | gojq -c '.action.cards[1].card_index = 0')"
    assert_refused 400 131009 card_index
    send_interactive "$(carousel 1 1 | gojq -c '.footer = {text: "f"}')"
    assert_refused 400 100 footer
}

@test "a button that opens a URL: short label, http or https URL, any header" {
    local button='{"type":"cta_url","body":{"text":"b"},"action":{"name":"cta_url","parameters":{"display_text":"Go","url":"https://example.com"}}}'
    local change
    send_interactive "$button"
    assert_accepted
    send_interactive "$(gojq -c '.footer.text = "f" | .header = {type: "image", image: {id: "1100000000000001"}}' <<<"$button")"
    assert_accepted
    for change in 'del(.body)' '.action.name = "url"' 'del(.action.parameters)' \
        'del(.action.parameters.url)' '.action.parameters.display_text = "123456789012345678901"' \
        '.action.parameters.x = 1' '.x = 1' '.body.text = "x" * 1025' '.footer.text = "x" * 61'; do
        send_interactive "$(gojq -c "$change" <<<"$button")"
        assert_refused 400 100 interactive
    done
    send_interactive "$(gojq -c '.action.parameters.url = "example.com"' <<<"$button")"
    assert_refused 400 131009 'not a valid URL'
    send_interactive "$(gojq -c '.header = {type: "video", video: {}}' <<<"$button")"
    assert_refused 400 131009 'exactly one of id and link'
}

# bats test_tags=long
@test "a flow: published and of this account, or a draft in draft mode; version 3" {
    local flow='{"type":"flow","body":{"text":"b"},"action":{"name":"flow","parameters":{"flow_message_version":"3","flow_id":"81","flow_cta":"Go"}}}'
    local change
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"items\":[{\"id\":\"81\",\"status\":\"PUBLISHED\"},
        {\"id\":\"82\",\"status\":\"DRAFT\"},{\"id\":\"83\",\"status\":\"BLOCKED\"},
        {\"id\":\"84\",\"status\":\"THROTTLED\"}]}" >/dev/null
    sandbox POST flows "{\"wabaId\":\"$OTHER_WABA\",\"items\":[{\"id\":\"85\",
        \"status\":\"PUBLISHED\"}]}" >/dev/null
    for change in . '.header = {type: "text", text: "h"} | .footer.text = "f"' \
        '.action.parameters += {flow_token: "t", mode: "published", flow_action: "data_exchange"}' \
        '.action.parameters += {flow_action_payload: {screen: "S", data: {a: 1}}}' \
        '.action.parameters += {flow_id: "82", mode: "draft"}' \
        '.action.parameters |= (del(.flow_id) | .flow_name = "f")'; do
        send_interactive "$(gojq -c "$change" <<<"$flow")"
        assert_accepted
    done
    for change in 'del(.body)' '.action.parameters.flow_message_version = "2"' \
        'del(.action.parameters.flow_cta)' '.action.parameters.mode = "x"' \
        '.action.parameters.flow_action = "x"' '.action.parameters.flow_action_payload = "S"' \
        '.action.name = "x"' '.action.parameters.x = 1'; do
        send_interactive "$(gojq -c "$change" <<<"$flow")"
        assert_refused 400 100 interactive
    done
    for change in 'del(.flow_id)' '.flow_name = "f"' '.flow_id = "85"' '.flow_id = "99"' \
        '.flow_id = "82"' '.mode = "draft"' '.flow_action_payload.data = {}' \
        '.flow_action = "data_exchange" | .flow_action_payload.screen = "S"'; do
        send_interactive "$(gojq -c ".action.parameters |= ($change)" <<<"$flow")"
        assert_refused 400 131009
    done
    send_interactive "$(gojq -c '.action.parameters.flow_id = "83"' <<<"$flow")"
    assert_refused 400 132068 blocked
    send_interactive "$(gojq -c '.action.parameters.flow_id = "84"' <<<"$flow")"
    assert_refused 400 132069 throttled
}

@test "a request for a location: a body and no header or footer" {
    local request='{"type":"location_request_message","body":{"text":"b"},"action":{"name":"send_location"}}'
    local change
    send_interactive "$request"
    assert_accepted
    for change in 'del(.body)' 'del(.action)' '.action.name = "x"' '.action.x = 1' \
        '.footer.text = "f"' '.header = {type: "text", text: "h"}' '.body.text = "x" * 1025'; do
        send_interactive "$(gojq -c "$change" <<<"$request")"
        assert_refused 400 100 interactive
    done
}

# bats test_tags=long
@test "a request for an address: the country and the fields of an address" {
    local request='{"type":"address_message","body":{"text":"b"},"action":{"name":"address_message","parameters":{"country":"IN"}}}'
    local change
    for change in . '.header = {type: "text", text: "h"} | .footer.text = "f"' \
        '.action.parameters += {values: {city: "c"}, validation_errors: {in_pin_code: "e"}}' \
        '.action.parameters.saved_addresses = [{id: "a", value: {city: "c", state: "s"}}]'; do
        send_interactive "$(gojq -c "$change" <<<"$request")"
        assert_accepted
    done
    for change in 'del(.body)' 'del(.action.parameters.country)' '.action.name = "x"' \
        '.action.parameters.country = "IND"' '.action.parameters.values.town = "x"' \
        '.action.parameters.validation_errors.city = 5' '.action.parameters.saved_addresses = {}' \
        '.action.parameters.saved_addresses = [{value: {}}]' '.action.parameters.x = 1' \
        '.action.parameters.saved_addresses = [{id: "a", value: "x"}]'; do
        send_interactive "$(gojq -c "$change" <<<"$request")"
        assert_refused 400 100 interactive
    done
}

# bats test_tags=long
@test "media carousels: 2 to 10 cards with an image or a video, and the same buttons on each" {
    local url='{"card_index":0,"type":"cta_url","header":{"type":"image","image":{"link":"https://x/"}},"body":{"text":"c"},"action":{"name":"cta_url","parameters":{"display_text":"Go","url":"https://y/"}}}'
    local replies='{"card_index":0,"type":"cta_url","header":{"type":"video","video":{"id":"1100000000000002"}},"action":{"buttons":[{"type":"quick_reply","quick_reply":{"id":"i","title":"T"}}]}}'
    local change
    panels() { # CHANGE CARD...
        send_interactive "$(gojq -nc --argjson cards "$(gojq -sc . <<<"${*:2}")" "{type: \"carousel\",
            body: {text: \"b\"}, action: {cards: [\$cards | to_entries[] | .value.card_index = .key
            | .value]}} | $1")"
    }
    panels . "$url" "$url"
    assert_accepted
    panels . "$replies" "$replies"
    assert_accepted
    panels '.action.cards[1].body.text = "a\nb\nc"' "$url" "$url"
    assert_accepted
    for change in 'del(.body)' '.footer.text = "f"' '.action.cards[1].header.type = "document"' \
        'del(.action.cards[1].header)' '.action.cards[1].type = "product"' \
        '.action.cards[1].body.text = "x" * 161' '.action.cards[1].x = 1' \
        '.action.cards[1].action.parameters.display_text = "123456789012345678901"' \
        '.action.cards[1].action.buttons = [{type: "reply", reply: {}}]'; do
        panels "$change" "$url" "$url"
        assert_refused 400 100 interactive
    done
    for change in 'del(.action.cards[1])' '.action.cards[1].card_index = 0' \
        '.action.cards[1].header.type = "video"' '.action.cards[1].header.image = {}' \
        '.action.cards[1].body.text = "a\nb\nc\nd"' 'del(.action.cards[1].action.name)' \
        'del(.action.cards[1].action.parameters)' '.action.cards[1].action = {}' \
        '.action.cards[1].action.parameters.url = "y"' \
        '.action.cards[1].action.buttons = [{type: "quick_reply", quick_reply: {id: "i", title: "t"}}]'; do
        panels "$change" "$url" "$url"
        assert_refused 400 131009
    done
    panels . "$url" "$replies"
    assert_refused 400 131009 'same type and number'
    panels '.action.cards[1].action.buttons += .action.cards[1].action.buttons' "$replies" "$replies"
    assert_refused 400 131009 'same type and number'
    panels '.action.cards = [range(11) as $i | .action.cards[0]]' "$url" "$url"
    assert_refused 400 131009
}

@test "templates: name, language and parameters must match" {
    send_template '{"name":"hello_world","language":{"code":"en_US"}}'
    assert_accepted
    assert_json '.messages[0].message_status' accepted
    send_template '{"name":"hello_world","language":{"code":"fr"}}'
    assert_refused 404 132001 'template name (hello_world) does not exist in fr'
    send_template '{"name":"bike_ready","language":{"code":"en_US"}}'
    assert_refused 404 132001
    send_template '{"name":"order_shipped","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ada"}]}]}'
    assert_refused 400 132000 '(1) does not match the expected number of params (2)'
    local full='{"name":"order_shipped","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ada"},{"type":"currency","currency":{"fallback_value":"1","code":"EUR","amount_1000":9007199254740993}}]},{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"x"}]}]}'
    send_template "$full"
    assert_accepted
    send_template "$(gojq -c '.components[1].index = 0' <<<"$full")"
    assert_accepted
    send_template "$(gojq -c 'del(.components[1])' <<<"$full")"
    assert_refused 400 131008 button
    send_template '{"name":"hello_world","language":{"code":"de"},"components":[{"type":"header","parameters":[{"type":"text","text":"x"}]}]}'
    assert_refused 400 132000
    send_template '{"name":"survey_paused","language":{"code":"en_US"}}'
    assert_refused 400 132015
}

@test "templates: named parameters and a media header" {
    local full='{"name":"table_reserved","language":{"code":"en_US"},"components":[{"type":"header","parameters":[{"type":"image","image":{"id":"1100000000000001"}}]},{"type":"body","parameters":[{"type":"text","parameter_name":"guests","text":"4"},{"type":"text","parameter_name":"day","text":"Friday"}]}]}'
    send_template "$full"
    assert_accepted
    send_template "$(gojq -c '.components[1].parameters[0].parameter_name = "people"' <<<"$full")"
    assert_refused 400 132018 people
    send_template "$(gojq -c '.components[0].parameters[0] = {type: "text", text: "x"}' <<<"$full")"
    assert_refused 400 132012
    send_template "$(gojq -c '.components[0].parameters[0].image.id = "9"' <<<"$full")"
    assert_refused 400 100 'media attachment ID'
}

@test "an authentication template to a BSUID alone is 131062, and to a phone it is accepted" {
    local login='"type":"template","template":{"name":"login_code","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"123"}]},{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"123"}]}]}'
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"recipient\":\"US.7\",$login}"
    assert_refused 400 131062 'not supported for this message'
    send "$login"
    assert_accepted
    send "\"recipient\":\"US.7\",$login"
    assert_accepted
}

@test "wa_id may differ from the number dialled" {
    sandbox POST numbers '{"number":"16505551234","waId":"16505559999"}' >/dev/null
    send "$text"
    assert_json .contacts '[{"input":"+16505551234","wa_id":"16505559999"}]'
}

@test "marking as read answers success, also with a typing indicator of text" {
    local read='{"messaging_product":"whatsapp","status":"read","message_id":"wamid.x"}' change
    post "$LINE/messages" "$read"
    assert_json . '{"success":true}'
    post "$LINE/messages" "${read%?},\"typing_indicator\":{\"type\":\"text\"}}"
    assert_json . '{"success":true}'
    for change in '.status = "delivered"' 'del(.message_id)' '.message_id = "x"' '.message_id = 5' \
        '.typing_indicator = true' '.typing_indicator = {}' '.typing_indicator.type = "audio"' \
        '.to = "1"'; do
        post "$LINE/messages" "$(gojq -c "$change" <<<"$read")"
        assert_refused 400 100
    done
}

# --- Recorded requests --------------------------------------------------------------------------

@test "records: exact bytes, headers, order; filters; removal" {
    local sent='{"messaging_product":"whatsapp","to":"1","text":{"body":"a\u0000\/é 😀"},"n":9007199254740993,"n":1e400}'
    post "$LINE/messages" "$sent"
    assert_accepted
    assert_sent "$sent"
    assert_sent_to "$LINE/messages"
    sandbox GET requests/last >"$body"
    assert_text .body "$sent"
    assert_text .headers.authorization 'Bearer sandbox-token-1'
    assert_text .bodySha256 "$(printf %s "$sent" | sha256sum | cut -d' ' -f1)"
    assert_json .complete true
    assert_that ".bodyLength == $(printf %s "$sent" | wc -c)"
    graph GET "$WABA/flows?limit=3&x=%20"
    sandbox GET requests/last >"$body"
    assert_text .query 'limit=3&x=%20'
    assert_equal "$(sent_count)" 2
    assert_equal "$(sent_count path=/flows)" 1
    assert_equal "$(sent_count method=POST)" 1
    assert_equal "$(sandbox GET 'requests?last=1' | gojq -c 'map(.method)')" '["GET"]'
    post "$LINE/messages" $'\xff\xfe'
    assert_equal "$(sandbox GET requests/last | gojq .body)" null
    assert_equal "$(sent | od -An -tx1)" ' ff fe'
    sandbox DELETE requests >/dev/null
    assert_nothing_sent
}

# bats test_tags=long
@test "records: memory is bounded, the oldest are removed first" {
    local SANDBOX try count
    start_own --record-bytes 20000
    for ((try = 0; try < 60; try++)); do
        graph GET me
    done
    count=$(sent_count)
    sandbox GET requests/last >"$body"
    ((count > 5 && count < 60)) || fail "expected fewer records than requests, not $count"
    assert_json .id 60
}

# --- Faults -------------------------------------------------------------------------------------

@test "faults: the platform's errors by code, with the HTTP status it documents" {
    local pair
    for pair in 190:401 10:403 131005:403 130429:400 131056:400 80007:429 4:400 131000:500 2:503 \
        1:500 132001:404 368:403 131026:400 133004:503; do
        fault "{\"code\":${pair%:*}}"
        send "$text"
        assert_refused "${pair#*:}" "${pair%:*}"
    done
    fault '{"code":130429,"status":429,"headers":{"Retry-After":"7"},"message":"slow","details":"d"}'
    send "$text"
    assert_refused 429 130429 slow
    assert_header Retry-After 7
    send "$text"
    assert_accepted
}

@test "faults: matched by recipient, token, path, method, body; skip and times" {
    fault '{"match":{"recipient":"+1 650 555-1234"},"code":131026}'
    fault '{"match":{"recipient":"US.7"},"code":131030}'
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"16505550000\",$text}"
    assert_accepted
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"recipient\":\"US.7\",$text}"
    assert_refused 400 131030
    send "$text"
    assert_refused 400 131026
    send "$text"
    assert_accepted
    fault '{"match":{"token":"sandbox-token-2"},"code":2}'
    fault '{"match":{"method":"GET","path":"/flows"},"code":2,"skip":1,"times":2}'
    fault '{"match":{"body":"needle"},"code":3}'
    local statuses=''
    for _ in 1 2 3 4; do
        graph GET "$WABA/flows"
        statuses+="$status "
    done
    assert_equal "$statuses" '200 503 503 200 '
    send '"text":{"body":"a needle"}'
    assert_refused 500 3
    sandbox DELETE faults >/dev/null
    token=sandbox-token-2 graph GET me
    assert_status 200
    assert_equal "$(sandbox GET faults)" '[]'
}

@test "faults: answers that are not the platform's: any status and body, HTML, garbage, huge" {
    fault '{"status":418,"body":"not json","headers":{"X-Tea":"yes"}}'
    send "$text"
    assert_status 418
    assert_body_is 'not json'
    assert_header X-Tea yes
    fault '{"bodyBase64":"/wD+"}'
    send "$text"
    assert_equal "$(od -An -tx1 "$body")" ' ff 00 fe'
    fault '{"kind":"html"}'
    send "$text"
    assert_status 502
    assert_header Content-Type 'text/html; charset=utf-8'
    fault '{"kind":"garbage"}'
    send "$text"
    assert_status 200
    ! gojq -e . "$body" 2>/dev/null || fail_answer 'expected no JSON'
    fault '{"kind":"huge","bytes":3000000}'
    send "$text"
    assert_equal "$(wc -c <"$body")" 3000000
    assert_json .data '[]'
}

@test "faults: connections that break before, during and after the answer" {
    fault '{"kind":"reset"}'
    send "$text"
    assert_equal "$code" 56
    assert_equal "$(sandbox GET requests/last | gojq .complete)" true
    fault '{"kind":"reset_before"}'
    send "$text"
    assert_equal "$(sandbox GET requests/last | gojq .complete)" false
    fault '{"kind":"truncate","bytes":10}'
    send "$text"
    assert_equal "$code" 18
    assert_body_is '{"messagin'
    fault '{"kind":"close_mid_body","bytes":10}'
    send "$text"
    assert_equal "$code" 56
    assert_header Transfer-Encoding chunked
    send "$text"
    assert_accepted
}

@test "faults: late, slow and hanging answers do not delay others" {
    local answer
    fault '{"kind":"hang","match":{"recipient":"1"},"times":0}'
    for _ in 1 2 3 4 5 6 7 8; do
        post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"1\",$text}" &
    done
    fault '{"kind":"delay","ms":300}'
    answer=${EPOCHREALTIME/./}
    graph GET me
    ((${EPOCHREALTIME/./} - answer > 290000)) || fail "expected a delay"
    send "$text"
    assert_accepted
    fault '{"kind":"drip","ms":2,"match":{"recipient":"16505551234"}}'
    send "$text"
    assert_accepted
    sandbox DELETE faults >/dev/null
    sandbox POST faults '{"kind":"hang","ms":50}' >/dev/null
    send "$text"
    assert_equal "$code" 52
    # shellcheck disable=SC2046  # several pids
    kill $(jobs -p)
}

@test "deleting the faults sends the delayed answers" {
    fault '{"kind":"delay","ms":600000}'
    graph GET me &
    eventually something_sent
    sandbox DELETE faults >/dev/null
    wait $! # the test ends long before that delay
}

@test "SIGTERM ends it at once, even with open connections" {
    local SANDBOX start
    start_own
    fault '{"kind":"hang","times":0}'
    for _ in 1 2 3; do
        graph GET me &
    done
    sleep 0.3
    start=$SECONDS
    kill "$own"
    wait "$own"
    ((SECONDS - start < 20)) || fail 'the end took too long'
    wait
}

# --- Templates and flows ------------------------------------------------------------------------

@test "templates: pages with opaque cursors, next absent on the last" {
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"generate\":{\"count\":7},\"replace\":true}" >/dev/null
    graph GET "$WABA/message_templates?limit=3&fields=name"
    assert_json '.data | map(.name)' '["bulk_1","bulk_2","bulk_3"]'
    assert_that '.data | all(keys == ["id", "name"])'
    assert_that '.paging | has("next") and (has("previous") | not)'
    assert_that '.paging.next | contains("limit=3") and contains("fields=name") and contains("access_token=")'
    local after
    after=$(gojq -r .paging.cursors.after "$body")
    graph GET "$WABA/message_templates?limit=3&after=$after"
    assert_json '.data | map(.name)' '["bulk_4","bulk_5","bulk_6"]'
    local before
    before=$(gojq -r .paging.cursors.before "$body")
    fetch_as "$(gojq -r .paging.next "$body")"
    assert_json '.data | map(.name)' '["bulk_7"]'
    assert_that '.paging | has("cursors") and (has("next") | not)'
    graph GET "$WABA/message_templates?limit=3&before=$before"
    assert_json '.data | map(.name)' '["bulk_1","bulk_2","bulk_3"]'
    graph GET "$WABA/message_templates?after=$(gojq -r .paging.cursors.after "$body")x"
    assert_refused 400 100 cursors
    graph GET "$WABA/message_templates?limit=ten"
    assert_refused 400 100 limit
    sandbox DELETE "templates?wabaId=$WABA" >/dev/null
    graph GET "$WABA/message_templates"
    assert_body_is '{"data":[]}'
}

@test "templates: 25 without a limit; filters" {
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"generate\":{\"count\":30}}" >/dev/null
    graph GET "$WABA/message_templates"
    assert_that '.data | length == 25'
    graph GET "$WABA/message_templates?name=world"
    assert_json '.data | map(.language)' '["en_US","de"]'
    graph GET "$WABA/message_templates?name=hello&language=de"
    assert_that '.data | length == 1'
    graph GET "$WABA/message_templates?status=paused"
    assert_json '.data | map(.name)' '["survey_paused"]'
    graph GET "$WABA/message_templates?category=AUTHENTICATION"
    assert_json '.data | map(.name)' '["login_code"]'
}

@test "templates: a limit above the cap is error 1, or is silently reduced" {
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"generate\":{\"count\":60}}" >/dev/null
    sandbox POST settings '{"templatePageCap":50}' >/dev/null
    graph GET "$WABA/message_templates?limit=51"
    assert_refused 500 1 'Please reduce the amount of data'
    graph GET "$WABA/message_templates?limit=50"
    assert_that '.data | length == 50'
    sandbox POST settings '{"templatePageCapSilent":true}' >/dev/null
    graph GET "$WABA/message_templates?limit=51"
    assert_that '.data | length == 50'
}

@test "templates and flows: items are returned byte for byte" {
    local item='{ "id":"5","name":"x\u0000\/é","n":9007199254740993,"d":1,"d":2,"e":1e400 ,"language":"en"}'
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[$item]}" >/dev/null
    graph GET "$WABA/message_templates"
    [[ $(cat "$body") == '{"data":['"$item"'],"paging":'* ]] || fail_answer 'the item was changed'
    graph GET 5
    assert_body_is "$item"
    graph GET '5?fields=n,e'
    assert_body_is '{"n":9007199254740993,"e":1e400,"id":"5"}'
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"items\":[{\"id\":\"6\",\"name\":\"f\",\"status\":\"DRAFT\",\"categories\":[],\"validation_errors\":[ 1e400 ],\"json_version\":\"6.0\"}]}" >/dev/null
    graph GET 6
    assert_body_is '{"id":"6","name":"f","status":"DRAFT","categories":[],"validation_errors":[ 1e400 ]}'
}

@test "flows: list, cap, one with fields, unknown" {
    graph GET "$WABA/flows"
    assert_json '.data | map(.id)' '["410000000000001","410000000000002"]'
    assert_that '.data | all(keys == ["categories", "id", "name", "status", "validation_errors"])'
    graph GET "$WABA/flows?limit=1"
    assert_that '.paging.next | contains("/flows?")'
    sandbox POST settings '{"flowPageCap":1}' >/dev/null
    graph GET "$WABA/flows?limit=2"
    assert_refused 500 1
    graph GET '410000000000001?fields=name,json_version'
    assert_json . '{"name":"Tasting booking","json_version":"6.0","id":"410000000000001"}'
    graph GET 410000000000009
    assert_refused 400 100
}

# --- Media --------------------------------------------------------------------------------------

upload() { # FILE TYPE-OF-THE-PART [further curl options]
    graph POST "$LINE/media" -F messaging_product=whatsapp -F "file=@$1;type=$2" "${@:3}"
}

@test "upload: stored byte for byte, with the headers of its part" {
    head -c 300000 /dev/urandom >"$BATS_TEST_TMPDIR/photo"
    upload "$BATS_TEST_TMPDIR/photo;filename=my photo.jpg" image/jpeg -F type=image/jpeg
    assert_status 200
    local id
    id=$(gojq -r .id "$body")
    sandbox GET "media/$id" >"$body"
    assert_text .filename 'my photo.jpg'
    assert_text .mimeType image/jpeg
    assert_text .typeField image/jpeg
    assert_text .phoneNumberId $LINE
    assert_text .sha256 "$(sha256sum <"$BATS_TEST_TMPDIR/photo" | cut -d' ' -f1)"
    assert_that '.partHeaders | contains("Content-Type: image/jpeg")'
    sandbox GET "media/$id/content" | cmp - "$BATS_TEST_TMPDIR/photo"
    send "\"type\":\"image\",\"image\":{\"id\":\"$id\"}"
    assert_accepted
    sandbox GET requests?last=2 | gojq -e '.[0] | .complete and .bodyLength > 300000 and .body == null'
}

@test "upload: the type is that of the part, without parameters; product and file are required" {
    printf x >"$BATS_TEST_TMPDIR/file"
    upload "$BATS_TEST_TMPDIR/file" application/octet-stream -F type=image/jpeg
    assert_refused 400 100 "Received file of type 'application/octet-stream'"
    upload "$BATS_TEST_TMPDIR/file" 'audio/ogg; codecs=opus'
    assert_refused 400 100 "Received file of type 'audio/ogg; codecs=opus'"
    upload "$BATS_TEST_TMPDIR/file" audio/ogg
    assert_status 200
    graph POST "$LINE/media" -F "file=@$BATS_TEST_TMPDIR/file;type=audio/ogg"
    assert_refused 400 100 messaging_product
    graph POST "$LINE/media" -F messaging_product=whatsapp
    assert_refused 400 100 'parameter file'
    upload "$BATS_TEST_TMPDIR/file" audio/ogg -F "file=@$BATS_TEST_TMPDIR/file;type=audio/ogg"
    assert_refused 400 100 '2 times'
    : >"$BATS_TEST_TMPDIR/file"
    upload "$BATS_TEST_TMPDIR/file" audio/ogg
    assert_refused 400 100 empty
}

@test "upload: an invalid multipart body is refused" {
    local part=$'--b\r\nContent-Disposition: form-data; name="messaging_product"\r\n\r\nwhatsapp\r\n'
    local type='Content-Type: multipart/form-data; boundary=b'
    graph POST "$LINE/media" -H "$type" --data-binary "$part"
    assert_refused 400 100 'has no end'
    graph POST "$LINE/media" -H "${type%;*}" --data-binary "$part--b--"
    assert_refused 400 100 "no boundary"
    graph POST "$LINE/media" -H "$type" --data-binary "${part}--bx"$'\r\n\r\n--b--'
    assert_refused 400 100 'followed by something else'
    graph POST "$LINE/media" -H "$type" --data-binary "$part--b--"
    assert_refused 400 100 'parameter file'
    graph POST "$LINE/media" -H 'Content-Type: application/json' --data-binary '{}'
    assert_refused 400 100 'not multipart'
    assert_equal "$(find "$STACK" -name 'upload.*' | wc -l)" 0
}

# bats test_tags=long
@test "upload and download of 100 MB are streamed; one byte more is refused" {
    local pid url
    pid=$(cat "$STACK/sandbox.pid")
    head -c 104857600 /dev/zero | tr '\0' a >"$BATS_TEST_TMPDIR/file"
    upload "$BATS_TEST_TMPDIR/file" video/mp4
    assert_status 200
    graph GET "$(gojq -r .id "$body")"
    assert_json .file_size 104857600
    url=$(gojq -r .url "$body")
    curl -sS -H "Authorization: Bearer $token" "$url" | cmp - "$BATS_TEST_TMPDIR/file"
    printf x >>"$BATS_TEST_TMPDIR/file"
    upload "$BATS_TEST_TMPDIR/file" video/mp4
    assert_refused 400 100 '100 MB'
    rm "$BATS_TEST_TMPDIR/file"
    [[ $OUT != "$root" ]] || (($(awk '/VmHWM/ { print $2 }' "/proc/$pid/status") < 65536)) ||
        fail "the file was held in memory: $(grep VmHWM "/proc/$pid/status")"
}

@test "media: a control call gives its bytes as Base64, which a reset deletes" {
    head -c 5000 /dev/urandom >"$BATS_TEST_TMPDIR/photo"
    sandbox POST media "{\"phoneNumberId\":\"$LINE\",\"id\":\"77\",\"mimeType\":\"image/png\",
        \"base64\":\"$(base64 -w 0 "$BATS_TEST_TMPDIR/photo")\"}" >"$body"
    assert_json .size 5000
    assert_text .sha256 "$(sha256sum <"$BATS_TEST_TMPDIR/photo" | cut -d' ' -f1)"
    sandbox GET media/77/content | cmp - "$BATS_TEST_TMPDIR/photo"
    local wrong
    for wrong in '' 'A' '!!!!'; do
        sandbox POST media "{\"phoneNumberId\":\"$LINE\",\"base64\":\"$wrong\"}" >"$body" || true
        assert_that '.error | contains("Base64")'
    done
    sandbox POST reset >/dev/null
    assert_equal "$(find "$STACK" -name 'upload.*' | wc -l)" 0
}

@test "media: an interrupted upload leaves nothing" {
    head -c 2000000 /dev/zero >"$BATS_TEST_TMPDIR/file"
    fault '{"kind":"reset_before","bytes":500000}'
    upload "$BATS_TEST_TMPDIR/file" video/mp4
    ((code != 0)) || fail 'expected a broken connection'
    eventually something_sent
    assert_equal "$(sandbox GET requests/last | gojq .complete)" false
    assert_equal "$(find "$STACK" -name 'upload.*' | wc -l)" 0
}

@test "media: the answer, the phone number id, the URL that requires token and User-Agent" {
    graph GET "1100000000000001?phone_number_id=$LINE"
    assert_status 200
    assert_that 'keys == ["file_size", "id", "messaging_product", "mime_type", "sha256", "url"]'
    assert_json .file_size 49664
    assert_json .mime_type image/jpeg
    local url digest
    url=$(gojq -r .url "$body")
    digest=$(gojq -r .sha256 "$body")
    grep -qF '\/' "$body"
    [[ $url != *"/v26.0/"* ]] || fail "the URL is not on another path: $url"
    graph GET "1100000000000001?phone_number_id=$OTHER_LINE"
    assert_refused 400 100
    sandbox POST settings '{"mediaSizeText":true}' >/dev/null
    graph GET 1100000000000001
    assert_text .file_size 49664
    fetch_as "$url"
    assert_status 200
    assert_header Content-Type image/jpeg
    assert_header Content-Length 49664
    assert_equal "$(sha256sum <"$body" | cut -d' ' -f1)" "$digest"
    fetch "$url"
    assert_status 404
    token=sandbox-token-2 fetch_as "$url"
    assert_status 404
    fetch_as "$url" -A ""
    assert_status 400
    fetch_as "${url/hash=/hash=x}"
    assert_status 404
}

# bats test_tags=long
@test "media: URLs expire after a time and on request" {
    graph GET 1100000000000001
    local url
    url=$(gojq -r .url "$body")
    sandbox POST media/expire '{}' >/dev/null
    fetch_as "$url"
    assert_status 404
    sandbox POST settings '{"mediaUrlSeconds":0}' >/dev/null
    graph GET 1100000000000001
    url=$(gojq -r .url "$body")
    sleep 1.1
    fetch_as "$url"
    assert_status 404
    sandbox POST settings '{"mediaUrlSeconds":300}' >/dev/null
    graph GET 1100000000000001
    url=$(gojq -r .url "$body")
    fetch_as "$url"
    assert_status 200
}

@test "media: ranges, no length, deletion, a connection that breaks during the body" {
    local made url
    made=$(sandbox POST media "{\"wabaId\":\"$WABA\",\"size\":100000,\"seed\":5,\"withoutLength\":true}")
    graph GET "$(gojq -r .id <<<"$made")"
    url=$(gojq -r .url "$body")
    fetch_as "$url"
    cp "$body" "$BATS_TEST_TMPDIR/all"
    assert_header Transfer-Encoding chunked
    refute_header Content-Length
    assert_equal "$(sha256sum <"$BATS_TEST_TMPDIR/all" | cut -d' ' -f1)" "$(gojq -r .sha256 <<<"$made")"
    fetch_as "$url" -r 777-1776
    assert_status 206
    assert_header Content-Range 'bytes 777-1776/100000'
    tail -c +778 "$BATS_TEST_TMPDIR/all" | head -c 1000 | cmp - "$body"
    fetch_as "$url" -r -10
    tail -c 10 "$BATS_TEST_TMPDIR/all" | cmp - "$body"
    fetch_as "$url" -r 100000-
    assert_status 416
    graph GET 1100000000000002
    fault '{"match":{"path":"attachments"},"kind":"truncate"}'
    fetch_as "$(gojq -r .url "$body")"
    assert_equal "$code" 18
    graph DELETE 1100000000000002
    assert_json . '{"success":true}'
    graph GET 1100000000000002
    assert_refused 400 100
}

# --- Webhooks -----------------------------------------------------------------------------------

@test "webhooks: compact, lower-case escapes, escaped slashes, signed over the raw bytes" {
    open_inbox
    webhook '{"kind":"text","text":"caf\u00e9 \ud83d\ude00 https://tea.example/x"}' >"$body"
    assert_json .posts[0].delivered true
    sent path=/inbox >"$BATS_TEST_TMPDIR/inbox"
    grep -qF '"body":"caf\u00e9 \ud83d\ude00 https:\/\/tea.example\/x"' "$BATS_TEST_TMPDIR/inbox"
    [[ $(cat "$BATS_TEST_TMPDIR/inbox") == '{"object":"whatsapp_business_account","entry":[{"id":"'$WABA'","changes":[{"value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550100001","phone_number_id":"'$LINE'"},"contacts":['* ]] ||
        fail 'not the order in which they were sent'
    assert_equal "$(sandbox GET requests/last | gojq -r '.headers["x-hub-signature-256"]')" \
        "sha256=$(hmac test-app-secret <"$BATS_TEST_TMPDIR/inbox")"
}

# bats test_tags=long
@test "webhooks: every kind is valid JSON with the right field" {
    local kind field count=0
    while read -r kind field; do
        built "{\"kind\":\"$kind\"}" >"$body"
        assert_text '.entry[0].changes[0].field' "$field"
        assert_that '[.. | strings | select(test("\\$\\{|#\\{|@error"))] == []'
        count=$((count + 1))
    done < <(sandbox GET webhooks/kinds | gojq -r '.[] | .kind + " " + .field')
    ((count > 50)) || fail "only $count kinds"
}

@test "webhooks: identities are present, withheld, or from before BSUIDs, but never empty" {
    built '{"kind":"text","phone":"4915112345678","username":"ada","parentBsuid":"DE.ENT.1"}' >"$body"
    assert_that '.entry[0].changes[0].value | .contacts[0].wa_id == "4915112345678"
        and .messages[0].from == "4915112345678" and .contacts[0].profile.username == "ada"
        and .contacts[0].user_id == .messages[0].from_user_id
        and .messages[0].from_parent_user_id == "DE.ENT.1"'
    built '{"kind":"text","bsuid":"DE.77"}' >"$body"
    assert_that '.entry[0].changes[0].value | (.contacts[0] | has("wa_id") | not)
        and (.messages[0] | has("from") | not) and .messages[0].from_user_id == "DE.77"'
    built '{"kind":"text","bsuid":null}' >"$body"
    assert_that '.entry[0].changes[0].value | (.contacts[0] | has("user_id") | not)'
    built '{"kind":"status_failed"}' >"$body"
    assert_that '.entry[0].changes[0].value | (has("contacts") | not)
        and (.statuses[0] | has("recipient_user_id") | not) and .statuses[0].errors[0].code == 131047'
    built '{"kind":"status_failed","bsuid":"DE.77","code":131026}' >"$body"
    assert_that '.entry[0].changes[0].value.statuses[0] | .recipient_user_id == "DE.77"
        and (has("recipient_id") | not) and .errors[0].code == 131026'
    built '{"kind":"status_sent","username":"ada"}' >"$body"
    assert_that '.entry[0].changes[0].value.contacts[0].profile | has("username") | not'
}

@test "webhooks: the three formats of an id change" {
    local value='.entry[0].changes[0].value'
    local change='"phone":"1650","bsuid":"US.1","newPhone":"1219","newBsuid":"US.2"'
    built "{\"kind\":\"user_id_update\",$change}" >"$body"
    assert_json "$value.user_id_update[0].user_id" '{"previous":"US.1","current":"US.2"}'
    built "{\"kind\":\"user_changed_user_id_2\",$change}" >"$body"
    assert_that "$value.messages[0].system | .user_id == \"US.2\" and (has(\"previous_user_id\") | not)
        and (.body | endswith(\"changed from US.1 to US.2\"))"
    built "{\"kind\":\"user_changed_user_id\",$change}" >"$body"
    assert_that "$value | (has(\"contacts\") | not) and (.messages[0] | has(\"from\") | not)
        and .messages[0].system.previous_user_id == \"US.1\""
    built "{\"kind\":\"user_changed_number\",$change}" >"$body"
    assert_that "$value.messages[0] | .from == \"1650\" and .system.wa_id == \"1219\"
        and .system.user_id == \"US.2\" and .system.previous_user_id == \"US.1\""
}

@test "webhooks: merged members, raw bodies, and wrong signatures" {
    built '{"kind":"text","message":{"text":{"extra":1},"from":null},"contact":{"profile":{"name":"Bo"}},"value":{"more":[]}}' >"$body"
    assert_that '.entry[0].changes[0].value | .messages[0].text.extra == 1
        and (.messages[0] | has("from") | not) and .contacts[0].profile.name == "Bo" and .more == []'
    open_inbox
    webhook '{"body":"{\"a\": 9007199254740993 }","signature":"wrong"}' >/dev/null
    assert_sent '{"a": 9007199254740993 }' path=/inbox
    [[ $(sandbox GET requests/last | gojq -r '.headers["x-hub-signature-256"]') != \
        "sha256=$(sent | hmac test-app-secret)" ]] || fail 'the signature is right'
    webhook '{"kind":"text","signature":"missing"}' >/dev/null
    sandbox GET requests/last | gojq -e '.headers | has("x-hub-signature-256") | not'
    webhook '{"kind":"text","signature":"sha1=00"}' >/dev/null
    sandbox GET requests/last | gojq -e '.headers["x-hub-signature-256"] == "sha1=00"'
}

@test "webhooks: batches of entries, changes and messages" {
    local updates="\"updates\":[{\"kind\":\"text\"},{\"kind\":\"text\"},{\"kind\":\"status_read\"},{\"kind\":\"text\",\"phoneNumberId\":\"$OTHER_LINE\"}]"
    built "{\"batch\":\"entries\",$updates}" >"$body"
    assert_json '.entry | map(.changes | length)' '[1,1,1,1]'
    built "{\"batch\":\"changes\",$updates}" >"$body"
    assert_json '.entry | map(.changes | length)' '[3,1]'
    built "{\"batch\":\"messages\",$updates}" >"$body"
    assert_json '.entry | map(.changes | map(.value | (.messages // .statuses) | length))' '[[2,1],[1]]'
    assert_equal "$(webhook "{\"build\":true,$updates}" | gojq '.posts | length')" 4
    webhook '{"kind":"text","count":1000,"batch":"messages","build":true}' >"$body"
    assert_that '.posts | length == 1 and (.[0].ids | unique | length == 1000)'
}

@test "webhooks: duplicates, reordering, several concurrently" {
    open_inbox
    webhook '{"kind":"text","count":5,"duplicates":2,"parallel":4}' >"$body"
    assert_that '.posts | length == 15 and all(.delivered) and ([.[].ids[0]] | unique | length == 5)'
    assert_equal "$(sandbox GET 'requests?path=/inbox' | gojq 'map(.body) | unique | length')" 5
    webhook '{"updates":[{"kind":"status_sent","id":"wamid.1"},{"kind":"status_read","id":"wamid.2"}],"reorder":"reverse"}' >"$body"
    assert_json '.posts | map(.ids[0])' '["wamid.2","wamid.1"]'
}

@test "webhooks: repeated until 200, abandoned after the last attempt" {
    open_inbox
    sandbox DELETE faults >/dev/null
    fault '{"match":{"path":"/inbox"},"times":2,"status":503}'
    fault '{"match":{"path":"/inbox"},"times":0,"status":200}'
    webhook '{"kind":"text","retries":5,"retryMs":10}' >"$body"
    assert_json '.posts[0].attempts | map(.status)' '[503,503,200]'
    assert_equal "$(sandbox GET 'requests?path=/inbox' | gojq 'map(.body) | unique | length')" 1
    webhook '{"kind":"text","retries":1,"retryMs":10,"url":"http://127.0.0.1:1/"}' >"$body"
    assert_json '.posts[0].delivered' false
    assert_json '.posts[0].attempts | map(.status)' '[0,0]'
    assert_equal "$(sandbox GET webhooks | gojq 'length')" 2
}

@test "webhooks: statuses of an accepted send are sent when enabled" {
    open_inbox
    sandbox POST settings '{"automaticStatuses":true,"statusDelayMs":20}' >/dev/null
    wrote 16505551234
    send "\"biz_opaque_callback_data\":\"ref-1\",$text"
    local id
    id=$(gojq -r .messages[0].id "$body")
    eventually inbox_holds 3
    sandbox GET 'requests?path=/inbox' |
        gojq -c 'map(.body | fromjson | .entry[0].changes[0].value.statuses[0])' >"$body"
    assert_json 'map(.status)' '["sent","delivered","read"]'
    assert_that "all(.id == \"$id\" and .biz_opaque_callback_data == \"ref-1\" and .recipient_id == \"16505551234\")"
    assert_that 'all(has("conversation") | not)'
    sandbox POST numbers '{"number":"16505551234","failCode":131026}' >/dev/null
    sandbox POST settings '{"webhookVersion":23}' >/dev/null
    send "$text"
    eventually inbox_holds 4
    sent path=/inbox >"$body"
    assert_that '.entry[0].changes[0].value.statuses[0] | .status == "failed" and .errors[0].code == 131026'
    built '{"kind":"status_sent"}' >"$body"
    assert_that '.entry[0].changes[0].value.statuses[0] | has("conversation")'
}

@test "webhooks: the verification request is that of the platform" {
    fault '{"match":{"path":"/inbox"},"status":200,"body":"1158201444"}'
    sandbox POST webhooks/verify "{\"url\":\"$SANDBOX/inbox\",\"challenge\":\"1158201444\",\"verifyToken\":\"a b&c\"}" >"$body"
    assert_json '.posts[0].attempts[0].answer' '"1158201444"'
    sandbox GET requests/last >"$body"
    assert_text .query 'hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=a%20b%26c'
}

# --- Fixtures and control calls -----------------------------------------------------------------

@test "fixtures add accounts, numbers, media, templates; a broken file is refused" {
    cat >"$BATS_TEST_TMPDIR/fixtures.json" <<END
{"accounts":[{"token":"t3","wabaId":"300","name":"Third","phones":[{"id":"301","displayNumber":"4930"}]}],
 "media":[{"phoneNumberId":"301","id":"302","size":10,"mimeType":"image/png"}],
 "templates":[{"wabaId":"300","items":[{"id":"303","name":"n","n":1e400}]}],
 "settings":[{"latencyMs":1}]}
END
    local SANDBOX
    start_own --fixtures "$BATS_TEST_TMPDIR/fixtures.json"
    token=t3
    post 301/messages "{\"messaging_product\":\"whatsapp\",\"to\":\"1\",\"type\":\"image\",\"image\":{\"id\":\"302\"}}"
    sandbox POST reset >/dev/null
    assert_accepted
    graph GET 303
    assert_body_is '{"id":"303","name":"n","n":1e400}'
    printf '{"accounts":[{}]}' >"$BATS_TEST_TMPDIR/fixtures.json"
    run "$OUT/tools/switchboard-sandbox" --fixtures "$BATS_TEST_TMPDIR/fixtures.json"
    assert_equal "$status" 1
    [[ $output == *wabaId* ]] || fail "$output"
}

# Changes something of every kind of state.
change_everything() {
    sandbox POST settings '{"latencyMs":1,"webhookUrl":"http://127.0.0.1:9/x"}' >/dev/null
    sandbox POST accounts '{"wabaId":"99","token":"t-\u00e9","phones":[{"id":"991","displayNumber":"49"}]}' >/dev/null
    sandbox POST tokens '{"token":"sandbox-token-2","state":"revoked"}' >/dev/null
    sandbox POST numbers '{"number":"1555","waId":"1556"}' >/dev/null
    sandbox POST numbers '{"number":"1555","failCode":131026}' >/dev/null
    sandbox POST media "{\"wabaId\":\"99\",\"id\":\"9901\",\"base64\":\"$(printf 'a\0\377z' | base64)\"}" >/dev/null
    sandbox POST templates '{"wabaId":"99","items":[{"id":"9902","name":"big","n":12345678901234567890}]}' >/dev/null
    sandbox POST flows '{"wabaId":"99","items":[{"id":"9903","status":"DRAFT"}]}' >/dev/null
    post "$LINE/whatsapp_business_profile" '{"messaging_product":"whatsapp","about":"Tea \u2615"}'
    sandbox POST windows '{"phoneNumberId":"'$LINE'","user":"16505551234","wroteAt":1}' >/dev/null
    wrote 16505551235
    post "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"+16505551235"}]}'
    post "$LINE/message_qrdls" '{"prefilled_message":"Hi"}'
    send_template '{"name":"hello_world","language":{"code":"en_US"}}'
    post "$LINE/conversational_automation" '{"prompts":["Caf\u00e9"]}'
}

@test "control calls: the state is saved, and loaded whole into another sandbox" {
    local saved=$BATS_TEST_TMPDIR/saved.out name
    sandbox POST flows '{"wabaId":"'$WABA'","items":[{"id":"9904","status":"DRAFT"}]}' >/dev/null
    printf '{"version":"7.0","screens":[]}' >"$BATS_TEST_TMPDIR/flow.json"
    graph POST 9904/assets -F name=flow.json -F asset_type=FLOW_JSON \
        -F "file=@$BATS_TEST_TMPDIR/flow.json"
    assert_status 200
    change_everything
    sandbox GET state >"$saved"
    for name in settings accounts tokens numbers windows media templates templateUses flows flowJson nodes blockedUsers \
        qrCodes; do
        gojq -e --arg name "$name" '.[$name] | length > 0' "$saved" >/dev/null || fail "no $name"
    done
    start_own
    sandbox GET state >"$BATS_TEST_TMPDIR/other.out"
    ! cmp -s "$saved" "$BATS_TEST_TMPDIR/other.out"
    sandbox POST state "@$saved" | gojq -e .done
    sandbox GET state | cmp - "$saved"
    assert_equal "$(curl -sS "$SANDBOX/_sandbox/media/9901/content" | base64)" \
        "$(printf 'a\0\377z' | base64)"
    post "$LINE/messages" '{"messaging_product":"whatsapp","to":"1555","text":{"body":"x"}}'
    assert_accepted
}

@test "control calls: a conversation belongs to one sandbox, and a wrong user is refused" {
    local case first
    for case in '|phoneNumberId and phone or bsuid are needed' \
        'phoneNumberId=1&phone=abc|phoneNumberId and phone or bsuid are needed' \
        'phoneNumberId=1&bsuid=x|bsuid is not a business-scoped user id, such as US.1234'; do
        assert_equal "$(sandbox GET "chat?${case%%|*}" | gojq -r .error)" "${case#*|}"
    done
    assert_equal "$(sandbox POST chat '{"phoneNumberId":"1","phone":"1"}' | gojq -r .error)" \
        'blocked is missing: true or false'
    first=$(sandbox GET 'chat?phoneNumberId=1&phone=1' | gojq .generation)
    start_own # as after a restart: the page has to read all again
    (($(sandbox GET 'chat?phoneNumberId=1&phone=1' | gojq .generation) > first))
}

@test "control calls: a state that is refused changes nothing" {
    local before case
    change_everything
    before=$(sandbox GET state)
    for case in '[]|not a JSON object' '{"wings":[]}|'"'wings' is not known here" \
        '{"media":{}}|'"'media' must be a list of bodies" \
        '{"accounts":[{"wabaId":"1"}]}|accounts: a new account needs a token' \
        '{"accounts":[],"templates":[{"wabaId":"1"}]}|templates: wabaId of a known account is needed' \
        '{"nodes":[{"owner":"1"}]}|nodes: owner, id, and item or base64 are needed'; do
        assert_equal "$(sandbox POST state "${case%%|*}" | gojq -r .error)" "${case#*|}"
        assert_equal "$(sandbox GET state)" "$before"
    done
}

@test "control calls: a page of another site changes nothing" {
    local origin before
    before=$(sandbox GET settings)
    for origin in https://example.com null "${SANDBOX}0" "$SANDBOX.example.com"; do
        fetch "$SANDBOX/_sandbox/settings" -X POST -H "Origin: $origin" -d '{"latencyMs":1}'
        assert_status 403
        assert_equal "$(gojq -r .error "$body")" 'a page of another site may not change the sandbox'
    done
    assert_equal "$(sandbox GET settings)" "$before"
    fetch "$SANDBOX/_sandbox/settings" -X POST -H "Origin: $SANDBOX" -d '{"latencyMs":1}'
    assert_status 200
    fetch "$SANDBOX/_sandbox/settings" -X POST -H "Origin: $SANDBOX" -d '{"latencyMs":0}'
    assert_status 200
}

@test "control calls: errors are reported, and --help lists every call" {
    assert_equal "$(sandbox POST faults '{"kind":"quake"}' | gojq -r .error)" "kind 'quake' is not known"
    assert_equal "$(sandbox POST settings '{"latencyMs":"x"}' | gojq -r .error)" "'latencyMs' must be a whole number"
    assert_equal "$(sandbox POST webhooks '{"kind":"text","wings":2,"build":true}' | gojq -r .error)" "'wings' is not known here"
    assert_equal "$(curl -sS -o /dev/null -w '%{http_code}' "$SANDBOX/_sandbox/nothing")" 404
    assert_equal "$(curl -sS -o /dev/null -w '%{http_code}' -X PUT "$SANDBOX/_sandbox/faults")" 405
    run "$OUT/tools/switchboard-sandbox" --help
    assert_equal "$status" 0
    [[ $output == *webhooks/verify* && $output == *media/expire* ]] || fail "$output"
    run "$OUT/tools/switchboard-sandbox" --port 99999
    assert_equal "$status" 2
}

@test "--listen takes another address, warns when other hosts reach it, and refuses what is none" {
    local address
    for address in 127.0.0.2 0.0.0.0 ::1 ::; do
        rm -f "$BATS_TEST_TMPDIR"/{port,out,err}
        "$OUT/tools/switchboard-sandbox" --listen "$address" --port-file "$BATS_TEST_TMPDIR/port" \
            --state-dir "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
        own=$!
        eventually grep -q http "$BATS_TEST_TMPDIR/out"
        SANDBOX=$(sed 's/.*: //' "$BATS_TEST_TMPDIR/out")
        case $address in
        127.0.0.2) [[ $SANDBOX == http://127.0.0.2:* && ! -s $BATS_TEST_TMPDIR/err ]] ;;
        ::1) [[ $SANDBOX == http://\[::1\]:* && ! -s $BATS_TEST_TMPDIR/err ]] ;;
        *) [[ $SANDBOX == http://127.0.0.1:* &&
            $(cat "$BATS_TEST_TMPDIR/err") == *"other hosts reach $address. "* ]] ;;
        esac
        assert_equal "$(curl -sSg "$SANDBOX/_sandbox/health")" '{"done":true}'
        kill "$own"
        wait "$own"
    done
    run "$OUT/tools/switchboard-sandbox" --listen localhost
    assert_equal "$status $output" \
        "1 switchboard-sandbox: --listen needs an IPv4 or IPv6 address, not 'localhost'"
}

@test "--public-url begins the links of media, flows and pages, in answers and in webhooks" {
    local url=https://sandbox.example:8443 wrong
    start_own --public-url "$url"
    graph GET 1100000000000001
    [[ $(gojq -r .url "$body") == "$url/whatsapp_business/attachments/?mid=1100000000000001&"* ]]
    graph GET "$WABA/message_templates?limit=1"
    [[ $(gojq -r .paging.next "$body") == "$url/v26.0/$WABA/message_templates?"* ]]
    graph GET 410000000000001/assets
    [[ $(gojq -r '.data[0].download_url' "$body") == "$url/flow_assets/410000000000001?oh="* ]]
    [[ $(built '{"kind":"image"}' | gojq -r '.. | .image?.url // empty') == "$url/"* ]]
    for wrong in sandbox.example http:// https://sandbox.example/ ftp://x 'http://a b'; do
        run "$OUT/tools/switchboard-sandbox" --public-url "$wrong"
        assert_equal "$status" 2
        [[ $output == *'--public-url needs an origin such as '* ]] || fail "$output"
    done
}

@test "control calls: a refused call changes neither settings nor accounts" {
    before=$(sandbox GET settings)$(sandbox GET accounts)
    sandbox POST settings '{"latencyMs":5000,"quake":1}' | gojq -e .error
    sandbox POST accounts '{"wabaId":"102290129340398","name":"Wings","phones":[{"id":"1"}]}' |
        gojq -e .error
    sandbox POST accounts '{"wabaId":"99","token":"t","wings":2}' | gojq -e .error
    sandbox POST accounts '{"wabaId":"102290129340398","token":null}' |
        gojq -e '.error == "an account needs a token"'
    assert_equal "$(sandbox GET settings)$(sandbox GET accounts)" "$before"
}
