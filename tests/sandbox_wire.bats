#!/usr/bin/env bats
# transports: direct
# The Graph sandbox takes requests in all the forms that the platform takes: where the token is, what
# the path looks like, how a body is coded. Each form is one that a known program sends.
# bats file_tags=long
load helpers/all
load helpers/sandbox_calls

# One request without a token in its headers: bare METHOD PATH [curl option...]
bare() {
    fetch "$SANDBOX/$2" -X "$1" "${@:3}"
}

# One request with this value of the header Authorization: authorized VALUE METHOD PATH [option...]
authorized() {
    bare "$2" "$3" -H "Authorization: $1" "${@:4}"
}

# Sends a form: form NAME=VALUE...
form() {
    local fields=() field
    for field in "$@"; do
        fields+=(--data-urlencode "$field")
    done
    graph POST "$LINE/messages" "${fields[@]}"
}

# An upload with these parts, as options of curl: upload QUERY [curl option...]
upload() {
    graph POST "$LINE/media$1" "${@:2}"
}

# --- Tokens -------------------------------------------------------------------------------------

@test "the token: schemes Bearer and OAuth in any case, in the query, in each kind of form" {
    local scheme
    for scheme in Bearer bearer BEARER OAuth oauth; do
        authorized "$scheme $token" GET v26.0/me
        assert_status 200
    done
    authorized "Basic $token" GET v26.0/me
    assert_refused 401 190
    authorized "$token" GET v26.0/me
    assert_refused 401 190
    bare GET "v26.0/me?access_token=$token"
    assert_status 200
    assert_header x-business-use-case-usage
    bare GET 'v26.0/me?access_token=strange'
    assert_refused 401 190
    bare GET 'v26.0/me?access_token='
    assert_refused 400 2500
    bare POST "v26.0/$LINE/messages" -d "access_token=$token&messaging_product=whatsapp&to=1" \
        -d 'text[body]=x'
    assert_accepted
    bare POST "v26.0/$LINE/messages" -F "access_token=$token" -F messaging_product=whatsapp -F to=1 \
        -F 'text[body]=x'
    assert_accepted
    bare POST "v26.0/$LINE/media" -F 'file=x;filename=a.txt;type=text/plain' \
        -F messaging_product=whatsapp -F "access_token=$token"
    assert_status 200
}

@test "two tokens: the same one twice is accepted, two different ones are refused" {
    graph GET "me?access_token=$token"
    assert_status 200
    graph GET 'me?access_token=sandbox-token-2'
    assert_refused 401 190 'two different access tokens'
    graph POST "$LINE/messages" -d 'access_token=sandbox-token-2'
    assert_refused 401 190 'two different access tokens'
    bare POST "v26.0/$LINE/messages?access_token=$token" -d 'access_token=sandbox-token-2'
    assert_refused 401 190 'two different access tokens'
    upload '' -F 'file=x;type=text/plain' -F messaging_product=whatsapp -F access_token=strange
    assert_refused 401 190 'two different access tokens'
}

@test "media are downloaded with a token in the query too" {
    bare GET "v26.0/1100000000000005?access_token=$token"
    local url
    url=$(gojq -r .url "$body")
    fetch "$url&access_token=$token"
    assert_status 200
    assert_equal "$(stat -c %s "$body")" 20000
    fetch "$url"
    assert_status 404
}

@test "records hold a request as it was received, wherever its token is" {
    bare POST "v26.0/$LINE/messages/?access_token=$token&a=%41" -H 'X-Own: 1' \
        -d 'messaging_product=whatsapp&to=%2B1&text%5Bbody%5D=x'
    assert_accepted
    sandbox GET requests/last >"$body"
    assert_text .path "/v26.0/$LINE/messages/"
    assert_text .query "access_token=$token&a=%41"
    assert_text .body 'messaging_product=whatsapp&to=%2B1&text%5Bbody%5D=x'
    assert_json '.headers["x-own"]' '"1"'
    assert_that '.headers | has("authorization") | not'
}

@test "faults are matched by a token in any place, and by the recipient of a form" {
    fault "{\"match\":{\"token\":\"$token\"},\"status\":500,\"code\":2}"
    bare GET "v26.0/me?access_token=$token"
    assert_refused 500 2
    fault '{"match":{"recipient":"4915"},"code":131026}'
    form messaging_product=whatsapp to=4916 'text[body]=x'
    assert_accepted
    form messaging_product=whatsapp to=+4915 'text[body]=x'
    assert_refused 400 131026
}

# --- Paths --------------------------------------------------------------------------------------

@test "a path without version is served, with the same answers" {
    fetch_as "$SANDBOX/$LINE/messages" -H 'Content-Type: application/json' \
        -d "{\"messaging_product\":\"whatsapp\",\"to\":\"1\",$text}"
    assert_accepted
    assert_header facebook-api-version v21.0
    fetch_as "$SANDBOX/me"
    assert_status 200
    fetch_as "$SANDBOX/$LINE/media?messaging_product=whatsapp" -F 'file=x;type=text/plain'
    assert_status 200
    fetch_as "$SANDBOX/$(gojq -r .id "$body")" -X DELETE
    assert_json . '{"success":true}'
    fetch_as "$SANDBOX/$OTHER_LINE"
    assert_refused 400 100 "Object with ID '$OTHER_LINE' does not exist"
    fetch "$SANDBOX/$LINE"
    assert_refused 400 2500
}

@test "slashes at the end of a path are ignored" {
    local path
    for path in "v13.0/$LINE" "v13.0/$LINE/" "$LINE/" "v26.0/1100000000000001/" \
        "v26.0/1100000000000001//" "v26.0/$WABA/message_templates/"; do
        fetch_as "$SANDBOX/$path"
        assert_status 200
        assert_that 'has("id") or has("data")'
    done
    fetch_as "$SANDBOX/v13.0/$LINE/messages/" -H 'Content-Type: application/json' \
        -d "{\"messaging_product\":\"whatsapp\",\"to\":\"1\",$text}"
    assert_accepted
    fetch_as "$SANDBOX/v13.0/$LINE/media/" -F 'file=x;type=text/plain' -F messaging_product=whatsapp
    assert_status 200
    fetch_as "$SANDBOX/v26.0/$LINE//messages"
    assert_refused 400 100
}

@test "the root of a version refuses a good token and a bad one with errors of different types" {
    local path
    for path in v13.0/ v13.0 v26.0/ ''; do
        fetch_as "$SANDBOX/$path"
        assert_refused 400 100 'Unsupported get request. Please read'
        assert_text .error.type GraphMethodException
        assert_that '.error | has("error_subcode") | not'
        token=strange fetch_as "$SANDBOX/$path"
        assert_text .error.type OAuthException
    done
}

# --- Bodies -------------------------------------------------------------------------------------

@test "null is the same as no member, at each depth" {
    local send='{"messaging_product":"whatsapp","to":"1","type":"text","text":{"body":"b"}}' change
    for change in '.context = null' '.recipient = null' '.recipient_type = null' '.type = null' \
        '.biz_opaque_callback_data = null' '.status = null' '.text.preview_url = null' \
        '.image = null' '.to = null | .recipient = "US.1"' \
        '.type = "image" | .image = {link: "https://x/", id: null, caption: null}' \
        '.type = "document" | .document = {link: "https://x/", filename: null, caption: null}' \
        '.type = "location" | .location = {latitude: 1, longitude: 2, name: null, address: null}' \
        '.type = "contacts" | .contacts = [{name: {formatted_name: "n", suffix: null}, org: null,
            phones: [{phone: "1", type: null}]}]' \
        '.type = "interactive" | .interactive = {type: "button", header: null, footer: null,
            body: {text: "b"}, action: {buttons: [{type: "reply", reply: {id: "i", title: "t"}}]}}' \
        '.type = "interactive" | .interactive = {type: "catalog_message", body: {text: "b"},
            action: {name: "catalog_message", parameters: null}}' \
        '.type = "interactive" | .interactive = {type: "flow", body: {text: "b"}, action: {
            name: "flow", parameters: {flow_message_version: "3", flow_id: null, flow_name: "f",
            flow_cta: "c", flow_action_payload: null, mode: null}}}' \
        '.type = "template" | .template = {name: "hello_world", components: null,
            language: {code: "en_US", policy: null}}' \
        '.type = "template" | .template = {name: "hello_world", language: {code: "en_US"},
            components: [{type: "body", parameters: null}]}'; do
        post "$LINE/messages" "$(gojq -c "$change" <<<"$send")"
        assert_accepted
    done
    for change in '.to = null' '.text = null' '.text.body = null' '.messaging_product = null' \
        '.context = {message_id: null}'; do
        post "$LINE/messages" "$(gojq -c "$change" <<<"$send")"
        assert_refused 400 100 required
    done
    post "$LINE/messages" "$(gojq -c '.type = "contacts" | .contacts = [null]' <<<"$send")"
    assert_refused 400 100 'contacts[0] must be a JSON object'
    post "$LINE/messages" \
        '{"messaging_product":"whatsapp","status":"read","message_id":"wamid.x","typing_indicator":null}'
    assert_json . '{"success":true}'
}

@test "members in any order, and a media type with a charset" {
    local message='{"type":"text","text":{"preview_url":true,"body":"b"},"to":"1","recipient_type":"individual","messaging_product":"whatsapp"}'
    local type
    for type in application/json 'application/json; charset=utf-8' 'Application/JSON;charset=UTF-8'; do
        graph POST "$LINE/messages" -H "Content-Type: $type" -d "$message"
        assert_accepted
    done
    for type in text/plain application/jsonl ''; do
        graph POST "$LINE/messages" -H "Content-Type: $type" -d "$message"
        assert_refused 400 100 'messaging_product is required'
    done
}

@test "a GET may have a media type, a POST no body, and a DELETE a body" {
    graph GET me -H 'Content-Type: application/json'
    assert_status 200
    graph POST "$LINE/messages"
    assert_refused 400 100 'messaging_product is required'
    graph POST "$LINE/messages?messaging_product=whatsapp&to=1&text[body]=from+the+query"
    assert_accepted
    graph POST "$LINE/messages" -H 'Content-Type: application/json'
    assert_refused 400 100 'messaging_product is required'
    upload '?messaging_product=whatsapp' -F 'file=x;type=text/plain'
    graph DELETE "$(gojq -r .id "$body")" -H 'Content-Type: application/json' \
        -d '{"messaging_product":"whatsapp"}'
    assert_json . '{"success":true}'
}

@test "a member of the body goes before one of the query" {
    graph POST "$LINE/messages?to=2&recipient=US.1" -H 'Content-Type: application/json' \
        -d "{\"messaging_product\":\"whatsapp\",\"to\":\"1\",$text}"
    assert_json .contacts '[{"input":"1","wa_id":"1"}]'
}

@test "a form: members in brackets, texts instead of numbers and flags" {
    form messaging_product=whatsapp 'to=+1 (650) 555-1234' recipient_type=individual type=text \
        'text[preview_url]=false' 'text[body]=a & b = 100% + é' 'context[message_id]=wamid.x'
    assert_accepted
    assert_json .contacts '[{"input":"+1 (650) 555-1234","wa_id":"16505551234"}]'
    form messaging_product=whatsapp to=1 'text[preview_url]=maybe' 'text[body]=x'
    assert_refused 400 100 "text['preview_url'] must be a boolean"
    form messaging_product=whatsapp to=1 'text[preview_url]=1' 'text[body]='
    assert_refused 400 100 'at least 1'
    form messaging_product=whatsapp to=1 text=plain
    assert_refused 400 100 'Param text must be a JSON object'
    form messaging_product=whatsapp to=1 type=location 'location[latitude]=52.5' \
        'location[longitude]=-13'
    assert_accepted
    form messaging_product=whatsapp to=1 type=contacts 'contacts[0][name][formatted_name]=A' \
        'contacts[0][phones][][phone]=1' 'contacts[0][phones][][phone]=2'
    assert_accepted
    form messaging_product=whatsapp to=1 type=template 'template[name]=order_shipped' \
        'template[language][code]=en_US' 'template[components][0][type]=body' \
        'template[components][0][parameters][0][type]=text' \
        'template[components][0][parameters][0][text]=Ada' \
        'template[components][0][parameters][1][type]=text' \
        'template[components][0][parameters][1][text]=A-17' \
        'template[components][1]={"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":"x"}]}'
    assert_accepted
    form messaging_product=whatsapp status=read message_id=wamid.x 'typing_indicator[type]=text'
    assert_json . '{"success":true}'
    form messaging_product=whatsapp 'to[' 'text]]=x' '[x]=1' 'to=1' 'to[a]=1' 'text[body]=x' 'a[9]=1'
    assert_accepted
}

@test "the first 1000 fields of a form count, so that none takes long" {
    local many=$BATS_TEST_TMPDIR/many
    { printf 'x%d=1&' {1..997}; printf 'messaging_product=whatsapp&to=1&text[body]=b'; } >"$many"
    graph POST "$LINE/messages" --data-binary "@$many"
    assert_accepted
    { printf 'y=1&'; cat "$many"; } >"$many.more"
    graph POST "$LINE/messages" --data-binary "@$many.more"
    assert_refused 400 100 'The parameter text is required'
    seq -f 'x%.0f=1&' 1000000 | tr -d '\n' >"$many"
    graph POST "$LINE/messages" --data-binary "@$many" -m 5
    assert_refused 400 100 messaging_product
}

@test "a multipart form is read as the other one" {
    graph POST "$LINE/messages" -F messaging_product=whatsapp -F to=1 -F 'text={"body":"x"}'
    assert_accepted
    graph POST "$LINE/messages" -F messaging_product=whatsapp -F to=1 -F type=interactive \
        -F 'interactive[type]=button' -F 'interactive[body][text]=b' \
        -F 'interactive[action]={"buttons":[{"type":"reply","reply":{"id":"i","title":"t"}}]}'
    assert_accepted
}

@test "JSON text takes the place of an object or a list, in JSON and in forms" {
    local message='{"messaging_product":"whatsapp","to":"1"}' change
    for change in '.text = ({body: "b"} | tojson)' \
        '.text = {body: "b"} | .context = ({message_id: "wamid.x"} | tojson)' \
        '.type = "contacts" | .contacts = ([{name: {formatted_name: "A"}, phones: [{phone: "1"}]}]
            | tojson)' \
        '.type = "contacts" | .contacts = [({name: ({formatted_name: "A"} | tojson),
            phones: ([{phone: "1"}] | tojson)} | tojson)]' \
        '.type = "interactive" | .interactive = ({type: "cta_url", body: {text: "b"}, action: ({
            name: "cta_url", parameters: ({display_text: "d", url: "https://x/"} | tojson)}
            | tojson)} | tojson)' \
        '.type = "interactive" | .interactive = {type: "carousel", body: {text: "b"}, action: {
            cards: ([range(2) | {card_index: ., type: "cta_url", header: {type: "image",
            image: {link: "https://x/"}}, action: {name: "cta_url", parameters: {
            display_text: "d", url: "https://y/"}}}] | tojson)}}' \
        '.type = "template" | .template = ({name: "hello_world", language: ({code: "en_US"}
            | tojson), components: "[]"} | tojson)'; do
        post "$LINE/messages" "$(gojq -c "$change" <<<"$message")"
        assert_accepted
    done
    for change in '.text = "{\"body\":"' '.text = "[]"' '.text = "b"' \
        '.type = "contacts" | .contacts = "{}"'; do
        post "$LINE/messages" "$(gojq -c "$change" <<<"$message")"
        assert_refused 400 100 'must be a'
    done
    form messaging_product=whatsapp to=1 type=contacts 'contacts=[{"name":{"formatted_name":"A"}}]'
    assert_accepted
    form messaging_product=whatsapp to=1 type=interactive \
        'interactive={"type":"location_request_message","body":{"text":"b"},"action":{"name":"send_location"}}'
    assert_accepted
    form messaging_product=whatsapp to=1 type=template \
        'template={"name":"hello_world","language":{"code":"en_US"}}'
    assert_accepted
    post "$LINE/messages" "$(gojq -c '.text = ({body: 7} | tojson)' <<<"$message")"
    assert_refused 400 100 "text['body'] must be a string"
    post "$LINE/messages" "$(gojq -c '.text = {body: "b", preview_url: "true"}' <<<"$message")"
    assert_refused 400 100 "text['preview_url'] must be a boolean"
}

# --- Interactive kinds and carousels ------------------------------------------------------------

@test "a request for permission to call: its own action, with or without a body" {
    local request='{"type":"call_permission_request","body":{"text":"b"},"action":{"name":"call_permission_request"}}'
    local change
    for change in . 'del(.body)' '.action.parameters = {phone_number: "1", call_purpose: "p"}'; do
        send_interactive "$(gojq -c "$change" <<<"$request")"
        assert_accepted
    done
    for change in 'del(.action)' '.action.name = "send_location"' '.action.x = 1' \
        '.footer.text = "f"' '.header = {type: "text", text: "h"}' '.body.text = "x" * 1025'; do
        send_interactive "$(gojq -c "$change" <<<"$request")"
        assert_refused 400 100 interactive
    done
}

@test "a request for contact information: a body, and to a BSUID too" {
    local request='{"type":"request_contact_info","body":{"text":"b"},"action":{"name":"request_contact_info"}}'
    local change
    send_interactive "$request"
    assert_accepted
    post "$LINE/messages" \
        "{\"messaging_product\":\"whatsapp\",\"recipient\":\"US.1\",\"type\":\"interactive\",\"interactive\":$request}"
    assert_json .contacts '[{"input":"US.1","user_id":"US.1"}]'
    for change in 'del(.body)' 'del(.action)' '.action.name = "contact_request"' '.action.x = 1' \
        '.type = "contact_request"' '.footer.text = "f"' '.body.text = "x" * 1025'; do
        send_interactive "$(gojq -c "$change" <<<"$request")"
        assert_refused 400 100 interactive
    done
}

@test "a call button: a label of 20 characters, 1 to 43200 minutes, a payload of 512" {
    local button='{"type":"voice_call","body":{"text":"b"},"action":{"name":"voice_call","parameters":{"display_text":"Call","ttl_minutes":100,"payload":"p"}}}'
    local change
    for change in . 'del(.action.parameters)' '.action.parameters = {}' \
        '.action.parameters.ttl_minutes = 43200' '.action.parameters.payload = "x" * 512'; do
        send_interactive "$(gojq -c "$change" <<<"$button")"
        assert_accepted
    done
    for change in 'del(.body)' '.action.name = "x"' '.action.parameters.ttl_minutes = "100"' \
        '.action.parameters.display_text = "123456789012345678901"' \
        '.action.parameters.payload = "x" * 513' '.action.parameters.x = 1'; do
        send_interactive "$(gojq -c "$change" <<<"$button")"
        assert_refused 400 100 interactive
    done
    for change in 0 43201 1.5; do
        send_interactive "$(gojq -c ".action.parameters.ttl_minutes = $change" <<<"$button")"
        assert_refused 400 131009 ttl_minutes
    done
}

@test "an unknown interactive kind is refused with the names of the known ones" {
    send_interactive '{"type":"poll","body":{"text":"b"},"action":{}}'
    assert_refused 400 100 'cta_url|flow|location_request_message|address_message'
    assert_refused 400 100 'got "poll"'
}

@test "a template with a media carousel: as many cards as it has, each with its header and values" {
    local card='{"components":[{"type":"HEADER","format":"IMAGE"},{"type":"BODY","text":"{{1}} off"},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Go","url":"https://x/{{1}}"}]}]}'
    local sent='{"components":[{"type":"header","parameters":[{"type":"image","image":{"link":"https://x/"}}]},{"type":"body","parameters":[{"type":"text","text":"5%"}]},{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"a"}]}]}'
    local template change
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"items\":[{\"id\":\"91\",\"name\":\"cards\",\"language\":\"en\",\"status\":\"APPROVED\",\"category\":\"MARKETING\",\"components\":[{\"type\":\"BODY\",\"text\":\"b\"},{\"type\":\"CAROUSEL\",\"cards\":[$card,$card]}]}]}" >/dev/null
    template=$(gojq -nc --argjson card "$sent" '{name: "cards", language: {code: "en"},
        components: [{type: "carousel", cards: [range(2) | $card + {card_index: .}]}]}')
    send_template "$template"
    assert_accepted
    send_template "$(gojq -c '.components[0].cards |= tojson' <<<"$template")"
    assert_accepted
    send_template "$(gojq -c '.components[0].cards += [.components[0].cards[0]]' <<<"$template")"
    assert_refused 400 132000 carousel
    send_template "$(gojq -c 'del(.components[0].cards[1])' <<<"$template")"
    assert_refused 400 131009
    for change in '.components[0].parameters[0] = {type: "video", video: {link: "https://x/"}}:132012' \
        'del(.components[1]):132000' 'del(.components[2]):131008'; do
        send_template "$(gojq -c ".components[0].cards[1] |= (${change%:*})" <<<"$template")"
        assert_refused 400 "${change##*:}"
    done
}

# --- Uploads ------------------------------------------------------------------------------------

@test "upload: messaging_product in the query or after the file, without type, with foreign parts" {
    upload '?messaging_product=whatsapp' -F 'file=one;filename=a.txt;type=text/plain'
    assert_that '.id | test("^[0-9]+$")'
    upload '' -F 'file=two;filename=b.txt;type=text/plain' -F type=text/plain \
        -F messaging_product=whatsapp
    assert_status 200
    upload '' -F 'file=three;filename=c.txt;type=text/plain' -F typeFile=text/plain \
        -F messaging_product=whatsapp -F 'x=y;type=application/json'
    assert_status 200
    local id
    id=$(gojq -r .id "$body")
    assert_equal "$(sandbox GET "media/$id/content")" three
    sandbox GET "media/$id" >"$body"
    assert_json .typeField null
    upload '?messaging_product=sms' -F 'file=x;type=text/plain'
    assert_refused 400 100 messaging_product
    upload '?messaging_product=whatsapp' -F messaging_product=sms -F 'file=x;type=text/plain'
    assert_refused 400 100 messaging_product
    upload '' -F 'file=x;type=text/plain'
    assert_refused 400 100 messaging_product
    upload '?messaging_product=whatsapp' -F 'typeFile=x;type=text/plain'
    assert_refused 400 100 'The parameter file is required'
}

# --- Read marks and callback data ---------------------------------------------------------------

@test "a typing indicator goes with the status read, and with nothing else" {
    local read='{"messaging_product":"whatsapp","status":"read","message_id":"wamid.x","typing_indicator":{"type":"text"}}'
    local change
    for change in . '.recipient_type = "individual"' '.typing_indicator |= tojson'; do
        post "$LINE/messages" "$(gojq -c "$change" <<<"$read")"
        assert_json . '{"success":true}'
    done
    post "$LINE/messages" "$(gojq -c '.recipient_type = "x"' <<<"$read")"
    assert_refused 400 100 recipient_type
    post "$LINE/messages" "$(gojq -c 'del(.status)' <<<"$read")"
    assert_refused 400 100 'The parameter to is required.'
}

@test "biz_opaque_callback_data: up to 512 characters, in the statuses of that message" {
    send "\"biz_opaque_callback_data\":\"$(printf '\xc3\xa9%.0s' {1..512})\",$text"
    assert_accepted
    send "\"biz_opaque_callback_data\":\"$(printf '\xc3\xa9%.0s' {1..513})\",$text"
    assert_refused 400 100 biz_opaque_callback_data
    send "\"biz_opaque_callback_data\":{},$text"
    assert_refused 400 100 biz_opaque_callback_data
    open_inbox
    sandbox POST settings '{"automaticStatuses":true,"statusDelayMs":1}' >/dev/null
    wrote 1
    form messaging_product=whatsapp to=1 'text[body]=x' biz_opaque_callback_data=mine
    assert_accepted
    eventually inbox_holds 3
    sandbox GET 'requests?path=/inbox' | gojq -e 'all(.body | contains("\"biz_opaque_callback_data\":\"mine\""))'
}

# --- Pages --------------------------------------------------------------------------------------

@test "pages: the links carry the token, unless a setting takes it out" {
    local path
    for path in message_templates flows; do
        sandbox POST "${path#message_}" "{\"wabaId\":\"$WABA\",\"generate\":{\"count\":4}}" >/dev/null
        bare GET "v26.0/$WABA/$path?limit=1&fields=name&access_token=$token"
        assert_that ".paging.next | contains(\"/v26.0/$WABA/$path?access_token=$token&limit=1&after=\")"
        fetch "$(gojq -r .paging.next "$body")"
        assert_that "[.paging.next, .paging.previous] | all(contains(\"?access_token=$token&limit=1&\"))"
        fetch "$(gojq -r .paging.previous "$body")"
        assert_that 'has("data") and (.paging | has("previous") | not)'
        sandbox POST settings '{"pagingToken":false}' >/dev/null
        bare GET "v26.0/$WABA/$path?limit=1&access_token=$token"
        assert_that '.paging.next | contains("access_token") | not'
        sandbox POST settings '{"pagingToken":true}' >/dev/null
    done
}

@test "a token in a link is percent-encoded" {
    sandbox POST accounts '{"wabaId":"5","token":"a|b&c=d","phones":[{"id":"51","displayNumber":"1"}]}' \
        >/dev/null
    sandbox POST templates '{"wabaId":"5","generate":{"count":2}}' >/dev/null
    token='a|b&c=d' graph GET '5/message_templates?limit=1'
    assert_that '.paging.next | contains("?access_token=a%7Cb%26c%3Dd&")'
    fetch "$(gojq -r .paging.next "$body")"
    assert_that '.data | length == 1'
}

# --- What known programs send -------------------------------------------------------------------

# Replays the requests on standard input, one a line: `METHOD PATH <= BODY => FILTER`. The body is
# JSON or a form, `-` is none. The answer must have status 200 and satisfy the jq filter: `sent` and
# `done` stand for the answers to a message and to a change. A request with a token in its query has
# none in its headers.
replay() {
    local line call content filter options
    local to=16505551234 media=1100000000000001
    while read -r line; do
        printf 'request: %s\n' "$line"
        line=${line//'{phone}'/$LINE} line=${line//'{waba}'/$WABA} line=${line//'{token}'/$token}
        line=${line//'{to}'/$to} line=${line//'{media}'/$media}
        call=${line%% <= *} filter=${line##* => } content=${line#* <= }
        content=${content% => *} options=()
        [[ $call == *access_token=* ]] || options+=(-H "authorization: Bearer $token")
        [[ $content != '{'* ]] || options+=(-H 'content-type: application/json')
        [[ $content == - ]] || options+=(--data-binary "$content")
        bare "${call% *}" "${call#* }" "${options[@]}"
        assert_status 200
        case $filter in
        sent) assert_accepted ;;
        done) assert_json . '{"success":true}' ;;
        *) assert_that "$filter" ;;
        esac
    done
}

# The media that the last answer describes, as a program reads them: its size is that of `file_size`.
assert_downloads() { # [curl option...]
    local size
    size=$(gojq -r .file_size "$body")
    fetch "$(gojq -r .url "$body")" -H "Authorization: Bearer $token" "$@"
    assert_status 200
    assert_equal "$(stat -c %s "$body")" "$size"
}

@test "the requests of Chatwoot" {
    replay <<'END'
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","context":null,"to":"{to}","text":{"body":"Hello"},"type":"text"} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","context":{"message_id":"wamid.x"},"to":"{to}","text":{"body":"Hello"},"type":"text"} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","context":null,"to":"{to}","type":"image","image":{"link":"https://x/a.png","caption":null}} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","context":null,"to":"{to}","type":"audio","audio":{"link":"https://x/a.ogg"}} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","context":null,"to":"{to}","type":"document","document":{"link":"https://x/a.pdf","caption":"c","filename":"a.pdf"}} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","interactive":{"type":"button","body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"A"}}]}},"type":"interactive"} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","to":"{to}","type":"template","template":{"name":"hello_world","language":{"policy":"deterministic","code":"en_US"},"components":[]}} => sent
POST v22.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","recipient":"US.1","type":"interactive","interactive":{"type":"request_contact_info","body":{"text":"b"},"action":{"name":"request_contact_info"}}} => sent
GET v14.0/{waba}/message_templates?access_token={token} <= - => .data | length == 7
GET v13.0/{media}?phone_number_id={phone} <= - => .url | startswith("http")
END
    graph GET 1100000000000001 -H 'Content-Type: application/json'
    assert_downloads
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"generate\":{\"count\":30}}" >/dev/null
    bare GET "v14.0/$WABA/message_templates?access_token=$token"
    assert_that '.data | length == 25'
    fetch "$(gojq -r .paging.next "$body")"
    assert_status 200
    assert_that '(.data | length == 12) and (.paging | has("next") | not)'
}

@test "the requests of Typebot" {
    replay <<'END'
POST v21.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","type":"text","text":{"body":"Hello","preview_url":false}} => sent
POST v21.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient":"US.1","type":"image","image":{"link":"https://x/a.png"}} => sent
POST v21.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","type":"interactive","interactive":{"type":"button","header":{"type":"image","image":{"link":"https://x/a.png"}},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"A"}}]}}} => sent
POST v21.0/{phone}/messages <= {"messaging_product":"whatsapp","status":"read","message_id":"wamid.x","typing_indicator":{"type":"text"}} => done
GET v17.0/{phone} <= - => .display_phone_number | length > 0
GET v17.0/{media} <= - => .mime_type == "image/jpeg"
END
    assert_downloads -A 'Mozilla/5.0 (compatible; robot/1.0)'
    fetch_as "$SANDBOX/v21.0/$LINE/media" -F 'file=x;filename=blob;type=text/plain' \
        -F type=text/plain -F messaging_product=whatsapp
    assert_that '.id | length > 0'
}

@test "the requests of Evolution API" {
    replay <<'END'
POST v20.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","type":"text","to":"{to}","text":{"body":"Hello","preview_url":false},"context":{"message_id":"wamid.x"}} => sent
POST v20.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","type":"reaction","to":"{to}","reaction":{"message_id":"wamid.x","emoji":"\ud83d\ude00"}} => sent
POST v20.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","type":"location","to":"{to}","location":{"longitude":13.4,"latitude":52.5,"name":"n","address":"a"}} => sent
POST v20.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","type":"contacts","to":"{to}","contacts":[{"name":{"formatted_name":"A","first_name":"A"},"phones":[{"phone":"1"}],"urls":[{}],"emails":[{}],"org":{}}]} => sent
POST v20.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","type":"document","to":"{to}","document":{"link":"https://x/a.pdf","filename":"a.pdf","caption":"c"}} => sent
POST v20.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","to":"{to}","type":"interactive","interactive":{"type":"list","header":{"type":"text","text":"h"},"body":{"text":"b"},"footer":{"text":"f"},"action":{"button":"Open","sections":[{"title":"S","rows":[{"title":"R","description":"d","id":"1"}]}]}}} => sent
POST v20.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","to":"{to}","type":"template","template":{"name":"hello_world","language":{"code":"en_US"}}} => sent
GET v20.0/{waba}/message_templates <= - => .data | length == 7
GET v20.0/{media} <= - => .url | length > 0
END
    assert_downloads
    fetch_as "$SANDBOX/v20.0/$LINE/media" -F 'file=x;filename=a.txt;type=text/plain' \
        -F typeFile=text/plain -F messaging_product=whatsapp
    assert_that '.id | length > 0'
    post "$LINE/messages" '{"messaging_product":"whatsapp","to":"1","type":"text","text":{}}'
    assert_that '.error | has("message") and has("code")'
}

@test "the requests of n8n" {
    replay <<'END'
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","recipient_type":"individual","to":"{to}","text":{"body":"Hello","preview_url":true},"type":"text"} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","image":{"id":"{media}","caption":"c"},"type":"image"} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","location":{"latitude":52.5,"longitude":13.4},"type":"location"} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","contacts":[{"name":{"formatted_name":"A"}}],"type":"contacts"} => sent
POST v13.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","template":{"name":"order_shipped","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"A"},{"type":"date_time","date_time":{"fallback_value":"today"}}]},{"type":"button","index":"0","sub_type":"url","parameters":[{"type":"text","text":"x"}]}]},"type":"template"} => sent
GET v13.0/{waba}/message_templates <= - => .data | length == 7
GET v13.0/{media} <= - => .url | length > 0
END
    assert_downloads
    fetch_as "$SANDBOX/v13.0/$LINE/media" -F 'file=x;filename=a.txt;type=text/plain' \
        -F messaging_product=whatsapp
    assert_that '.id | length > 0'
    fetch_as "$SANDBOX/v13.0/"
    assert_that '.error.type != "OAuthException"'
    token=strange fetch_as "$SANDBOX/v13.0/"
    assert_that '.error.type == "OAuthException"'
    send '"image":{"id":"9"},"type":"image"'
    assert_that '.error.message | endswith("is not a valid whatsapp business account media attachment ID")'
    send '"image":{"link":"9"},"type":"image"'
    assert_that '.error.message | endswith("is not a valid URI.")'
}

@test "the requests of Botpress" {
    replay <<'END'
POST v22.0/{phone}/messages <= {"messaging_product":"whatsapp","type":"text","to":"{to}","text":{"body":"Hello"},"biz_opaque_callback_data":"d"} => sent
POST v22.0/{phone}/messages <= {"messaging_product":"whatsapp","type":"contacts","to":"{to}","contacts":"[{\"name\":{\"formatted_name\":\"A\",\"first_name\":\"A\"},\"phones\":[{\"phone\":\"1\",\"type\":\"CELL\"}]}]"} => sent
POST v22.0/{phone}/messages <= {"messaging_product":"whatsapp","type":"interactive","to":"{to}","interactive":{"type":"cta_url","action":{"name":"cta_url","parameters":{"display_text":"Go","url":"https://x/"}},"body":{"text":"b"},"header":{"type":"text","text":"h"}}} => sent
POST v22.0/{phone}/messages <= {"messaging_product":"whatsapp","type":"interactive","to":"{to}","interactive":{"type":"location_request_message","action":{"name":"send_location"},"body":{"text":"b"}}} => sent
POST v22.0/{phone}/messages <= {"messaging_product":"whatsapp","status":"read","message_id":"wamid.x","typing_indicator":{"type":"text"}} => done
GET v22.0/{waba}/message_templates?fields=&limit=2&status=&name=&after= <= - => (.data | length == 2) and (.paging.cursors.after | length > 0)
GET v22.0/{waba}/message_templates?fields=id,name,status&limit=10&status=APPROVED <= - => .data | length == 6 and all(length == 3)
GET v22.0/{media}? <= - => .url | length > 0
END
    assert_downloads
    fetch_as "$SANDBOX/v22.0/$LINE/media?messaging_product=whatsapp" \
        -F 'file=x;filename=a.txt;type=text/plain'
    assert_that '.id | length > 0'
    fetch_as "$SANDBOX/v22.0/$(gojq -r .id "$body")?phone_number_id=$LINE" -X DELETE
    assert_json . '{"success":true}'
}

@test "the requests of Frappe WhatsApp" {
    replay <<'END'
POST v17.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","type":"text","text":{"preview_url":true,"body":"Hello"}} => sent
POST v17.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","type":"image","image":{"link":"https://x/a.png","caption":null},"context":{"message_id":"wamid.x"}} => sent
POST v17.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","type":"template","template":{"name":"table_reserved","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","parameter_name":"guests","text":"4"},{"type":"text","parameter_name":"day","text":"Friday"}]},{"type":"header","parameters":[{"type":"image","image":{"link":"https://x/a.png"}}]}]}} => sent
POST v17.0/{phone}/messages <= {"messaging_product":"whatsapp","to":"{to}","type":"template","template":{"name":"order_shipped","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"A"},{"type":"text","text":"B"}]},{"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":"x"}]}]}} => sent
POST v17.0/{phone}/messages <= {"messaging_product":"whatsapp","status":"read","message_id":"wamid.x"} => done
GET v17.0/{media}/ <= - => .url | length > 0
END
    assert_downloads
    authorized "OAuth $token" GET v17.0/1100000000000001/
    assert_downloads
}

@test "the requests of clients with form bodies" {
    replay <<'END'
POST v14.0/{phone}/messages <= messaging_product=whatsapp&to=%2B{to}&recipient_type=individual&type=text&text[preview_url]=false&text[body]=Hello+there => sent
POST v14.0/{phone}/messages <= messaging_product=whatsapp&to={to}&recipient_type=individual&type=image&image[link]=https%3A%2F%2Fx%2Fa.png&image[caption]=c => sent
POST v14.0/{phone}/messages <= messaging_product=whatsapp&to={to}&recipient_type=individual&type=location&location[longitude]=13.4&location[latitude]=52.5&location[name]=n&location[address]=a => sent
POST v14.0/{phone}/messages <= messaging_product=whatsapp&to={to}&type=interactive&interactive=%7B%22type%22%3A%22location_request_message%22%2C%22body%22%3A%7B%22text%22%3A%22b%22%7D%2C%22action%22%3A%7B%22name%22%3A%22send_location%22%7D%7D => sent
POST v14.0/{phone}/messages <= messaging_product=whatsapp&status=read&message_id=wamid.x => done
POST {phone}/messages?access_token={token} <= messaging_product=whatsapp&to={to}&text[body]=Hello => sent
END
}
