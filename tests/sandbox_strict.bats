#!/usr/bin/env bats
# transports: direct
# The Graph sandbox refuses what the platform refuses when a template is made, when a message is sent
# and when a user is blocked: each with the code, and where it is known the subcode, of the platform.
load helpers/all
load helpers/sandbox_calls

# --- Templates ----------------------------------------------------------------------------------

# Makes a template of these components, and with other members: make_template COMPONENTS [MEMBERS]
make_template() {
    post "$WABA/message_templates" "{\"name\":\"tea\",\"language\":\"en_US\",\"category\":\"UTILITY\",
        \"components\":[$1]${2:+,$2}}"
}

letters() { # COUNT
    printf '%*s' "$1" '' | tr ' ' x
}

# Each line: the subcode, or -; a part of the message for people; the components.
refused_components() {
    local b='{"type":"BODY","text":"We are open."}' missing='is missing expected field(s)' x
    cat <<END
2388043|BODY $missing (example)|{"type":"BODY","text":"Your order {{1}} is on its way."}
2388043|BODY $missing (example)|{"type":"BODY","text":"Your order {{id}} is on its way.","example":{"body_text_named_params":[]}}
2388043|BODY $missing (text)|{"type":"BODY"}
2388299|start or end of the template|{"type":"BODY","text":"{{1}} is ready for you now.","example":{"body_text":[["It"]]}}
2388299|start or end of the template|{"type":"BODY","text":"Ready for you is now {{1}}\\n","example":{"body_text":[["it"]]}}
2388293|too many variables for its length|{"type":"BODY","text":"Hi {{1}}, your {{2}} is here.","example":{"body_text":[["Ada","tea"]]}}
2388040|body has 1100 characters|{"type":"BODY","text":"$(letters 1100)"}
2388073|footer has no variables|$b,{"type":"FOOTER","text":"Until {{1}} only"}
2388040|footer has 61 characters|$b,{"type":"FOOTER","text":"$(letters 61)"}
2388043|HEADER $missing (example)|$b,{"type":"HEADER","format":"IMAGE"}
2388043|HEADER $missing (example)|$b,{"type":"header","format":"document","example":{"header_handle":[]}}
2388043|HEADER $missing (example)|$b,{"type":"HEADER","format":"TEXT","text":"Order {{1}}"}
2388043|HEADER $missing (format)|$b,{"type":"HEADER","text":"Order"}
2388047|at most one variable|$b,{"type":"HEADER","format":"TEXT","text":"{{1}} and {{2}}","example":{"header_text":["a"]}}
2388040|header has 61 characters|$b,{"type":"HEADER","format":"TEXT","text":"$(letters 61)"}
-|one of {TEXT, IMAGE|$b,{"type":"HEADER","format":"AUDIO"}
2388040|button has 30 characters|$b,{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"$(letters 30)"}]}
2388040|button has 2001 characters|$b,{"type":"BUTTONS","buttons":[{"type":"URL","text":"x","url":"https://$(letters 1993)"}]}
2388043|BUTTONS $missing (example)|$b,{"type":"BUTTONS","buttons":[{"type":"URL","text":"x","url":"https://tea.example/{{1}}"}]}
2388043|BUTTONS $missing (buttons)|$b,{"type":"BUTTONS"}
-|at most 10 buttons|$b,{"type":"BUTTONS","buttons":[$(
        for x in {1..11}; do printf '%s{"type":"QUICK_REPLY","text":"%d"}' "${comma-}" "$x" && comma=,; done
    )]}
-|at most 2 buttons of type URL|$b,{"type":"BUTTONS","buttons":[$(
        for x in 1 2 3; do printf '%s{"type":"URL","text":"%d","url":"https://x"}' "${comma-}" "$x" && comma=,; done
    )]}
-|at most 1 buttons of type COPY_CODE|$b,{"type":"BUTTONS","buttons":[{"type":"COPY_CODE","example":"A"},{"type":"COPY_CODE","example":"B"}]}
-|invalid combination|$b,{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"1"},{"type":"URL","text":"2","url":"https://x"},{"type":"QUICK_REPLY","text":"3"}]}
2388043|BUTTONS $missing (text)|$b,{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY"}]}
2388043|BUTTONS $missing (text)|$b,{"type":"BUTTONS","buttons":[{"type":"url","url":"https://x"}]}
2388043|BUTTONS $missing (url)|$b,{"type":"BUTTONS","buttons":[{"type":"URL","text":"x"}]}
2388043|BUTTONS $missing (phone_number)|$b,{"type":"BUTTONS","buttons":[{"type":"PHONE_NUMBER","text":"x","phone_number":""}]}
2388043|BUTTONS $missing (example)|$b,{"type":"BUTTONS","buttons":[{"type":"COPY_CODE","example":null}]}
2388072|Variables are|{"type":"BODY","text":"Your order {{1}} or {{3}} is on its way to you.","example":{"body_text":[["A","B"]]}}
2388072|Variables are|{"type":"BODY","text":"Your order {{1}} or {{name}} is on its way to you.","example":{"body_text":[["A","B"]]}}
2388072|Variables are|{"type":"BODY","text":"Your order {{Order No}} is on its way.","example":{"body_text":[["A"]]}}
2388072|Variables are|{"type":"BODY","text":"Your order {{1 is on its way."}
2388072|Variables are|{"type":"BODY","text":"Your order {{}} is on its way.","example":{"body_text":[["A"]]}}
2388047|Variables are|$b,{"type":"HEADER","format":"TEXT","text":"Order {{2}} of tea","example":{"header_text":["a"]}}
-|components['type'] must be one of|$b,{"type":"NONSENSE"}
-|one component of type BODY|$b,$b
-|component of type BODY|{"type":"FOOTER","text":"x"}
-|components['type'] is required|$b,{"text":"x"}
END
}

# bats test_tags=long
@test "templates: components that the platform refuses are error 100, with its subcode" {
    local subcode part components count=0
    while IFS='|' read -r subcode part components; do
        make_template "$components"
        [[ $status == 400 ]] || fail_answer "expected a refusal of $components"
        assert_refused 400 100
        assert_json '.error.error_subcode // "-" | tostring' "\"$subcode\""
        [[ $(gojq -r '.error | .error_user_msg // .message' "$body") == *"$part"* ]] ||
            fail_answer "expected a message that contains: $part"
        count=$((count + 1))
    done < <(refused_components)
    assert_equal "$count" 39
    graph GET "$WABA/message_templates?name=tea"
    assert_body_is '{"data":[]}'
}

# A card of a carousel: card [MEMBERS-OF-HEADER [BUTTON [BODY]]]
card() {
    local sample=',"example":{"header_handle":["4::a"]}' reply='{"type":"QUICK_REPLY","text":"More"}'
    printf '{"components":[{"type":"HEADER","format":"IMAGE"%s},{"type":"BODY","text":"%s"},{"type":"BUTTONS","buttons":[%s]}]}' \
        "${1-$sample}" "${3-Tea}" "${2-$reply}"
}

# Each line: the subcode, or -; a part of the message; the cards.
refused_cards() {
    local missing='is missing expected field(s)' url='{"type":"URL","text":"x","url":"https://x"}' x
    cat <<END
2388043|CAROUSEL $missing (cards)|
-|2 to 10 cards|$(card)
-|2 to 10 cards|$(card)$(for x in {1..10}; do printf ',%s' "$(card)"; done)
2388043|HEADER $missing (example)|$(card),$(card '')
2388043|CAROUSEL $missing (components)|$(card),{}
2388040|body of a card has 161 characters|$(card),$(card ',"example":{"header_handle":["4::a"]}' "$url" "$(letters 161)")
2388040|button has 26 characters|$(card),$(card ',"example":{"header_handle":["4::a"]}' "{\"type\":\"QUICK_REPLY\",\"text\":\"$(letters 26)\"}")
-|the same components|$(card),$(card ',"example":{"header_handle":["4::a"]}' "$url")
-|the same components|$(card),{"components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::a"]}},{"type":"BUTTONS","buttons":[$url]}]}
-|IMAGE, VIDEO or PRODUCT|$(card | sed s/IMAGE/DOCUMENT/),$(card)
-|1 or 2 buttons|$(card '' "$url,$url,$url"),$(card)
END
}

@test "templates: the cards of a carousel that the platform refuses are error 100, with its subcode" {
    local subcode part cards count=0 b='{"type":"BODY","text":"We are open."}'
    while IFS='|' read -r subcode part cards; do
        make_template "$b,{\"type\":\"CAROUSEL\",\"cards\":[$cards]}"
        assert_refused 400 100
        assert_json '.error.error_subcode // "-" | tostring' "\"$subcode\""
        [[ $(gojq -r '.error | .error_user_msg // .message' "$body") == *"$part"* ]] ||
            fail_answer "expected a message that contains: $part"
        count=$((count + 1))
    done < <(refused_cards)
    assert_equal "$count" 11
    make_template "$b,{\"type\":\"CAROUSEL\",\"cards\":[$(card),$(card)]}"
    assert_status 200
}

@test "templates: an authentication template has one button for its code, and 1 to 90 minutes" {
    local part components count=0 b='{"type":"BODY"}' otp='"type":"OTP","otp_type"'
    while IFS='|' read -r part components; do
        make_template "$components" '"category":"AUTHENTICATION"'
        assert_refused 400 100
        [[ $(gojq -r '.error | .error_user_msg // .message' "$body") == *"$part"* ]] ||
            fail_answer "expected a message that contains: $part"
        count=$((count + 1))
    done <<END
one button of type OTP|$b
one button of type OTP|$b,{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"x"}]}
one button of type OTP|$b,{"type":"BUTTONS","buttons":[{$otp:"COPY_CODE"},{$otp:"COPY_CODE"}]}
BUTTONS is missing expected field(s) (otp_type)|$b,{"type":"BUTTONS","buttons":[{"type":"OTP"}]}
one of {COPY_CODE, ONE_TAP, ZERO_TAP}|$b,{"type":"BUTTONS","buttons":[{$otp:"TEA"}]}
BUTTONS is missing expected field(s) (supported_apps)|$b,{"type":"BUTTONS","buttons":[{$otp:"ONE_TAP"}]}
BUTTONS is missing expected field(s) (zero_tap_terms_accepted)|$b,{"type":"BUTTONS","buttons":[{$otp:"ZERO_TAP","supported_apps":[{}]}]}
from 1 to 90|$b,{"type":"FOOTER","code_expiration_minutes":0},{"type":"BUTTONS","buttons":[{$otp:"COPY_CODE"}]}
from 1 to 90|$b,{"type":"FOOTER","code_expiration_minutes":91},{"type":"BUTTONS","buttons":[{$otp:"COPY_CODE"}]}
has no header|$b,{"type":"HEADER","format":"TEXT","text":"Tea"},{"type":"BUTTONS","buttons":[{$otp:"COPY_CODE"}]}
END
    assert_equal "$count" 10
    make_template "$b,{\"type\":\"BUTTONS\",\"buttons\":[{$otp:\"ZERO_TAP\",\"zero_tap_terms_accepted\":true,\"supported_apps\":[{\"package_name\":\"org.example\",\"signature_hash\":\"K8a/AINcGX7\"}]}]}" '"category":"AUTHENTICATION"'
    assert_status 200
}

@test "templates: an edit of the components is judged as a new template is" {
    post 310000000000001 '{"components":[{"type":"BODY","text":"{{1}}"}]}'
    assert_refused 400 100
    assert_json .error.error_subcode 2388043
    graph GET 310000000000001
    assert_text .status APPROVED
}

@test "templates: the samples of the platform's documentation are taken" {
    make_template '{"type":"HEADER","format":"TEXT","text":"Our new sale starts {{start}}!","example":{"header_text_named_params":[{"param_name":"start","example":"December 1st"}]}},
        {"type":"BODY","text":"Thank you, {{first_name}}! Your order number is {{order}}.","example":{"body_text_named_params":[{"param_name":"first_name","example":"Pablo"},{"param_name":"order","example":"86"}]}},
        {"type":"FOOTER","text":"Use the buttons below to manage your marketing subscriptions"},
        {"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Unsubscribe from Promos"},{"type":"QUICK_REPLY","text":"Help"},{"type":"URL","text":"Shop Now","url":"https://tea.example/shop?promo={{1}}","example":["summer"]},{"type":"PHONE_NUMBER","text":"Call","phone_number":"15550051310"}]}' \
        '"parameter_format":"NAMED"'
    assert_status 200
    make_template '{"type":"header","format":"location"},{"type":"body","text":"x"}' '"name":"place"'
    assert_status 200
    make_template '{"type":"BODY","text":"您的订单{{1}}已发货","example":{"body_text":[["A-17"]]}}' '"name":"words","language":"zh_CN"'
    assert_status 200
    make_template '{"type":"BODY","add_security_recommendation":true},{"type":"FOOTER","code_expiration_minutes":10},{"type":"BUTTONS","buttons":[{"type":"OTP","otp_type":"COPY_CODE"}]}' \
        '"name":"code","category":"AUTHENTICATION"'
    assert_status 200
}

@test "templates: an unknown language, a wrong name, and a name that is there in the language" {
    local value b='{"type":"BODY","text":"We are open."}'
    for value in xx_YY en-US EN_us ''; do
        make_template "$b" "\"language\":\"$value\""
        assert_refused 400 100 language
        assert_that '.error | has("error_subcode") | not'
    done
    for value in 'Tea Time' tee-zeit Tea '' "$(letters 513)"; do
        make_template "$b" "\"name\":\"$value\""
        assert_refused 400 100 name
    done
    make_template "$b" "\"name\":\"$(letters 512)\""
    assert_status 200
    make_template "$b"
    assert_status 200
    make_template "$b" '"language":"de"'
    assert_status 200
    make_template "$b"
    assert_refused 400 100
    assert_json .error.error_subcode 2388024
}

# --- Messages -----------------------------------------------------------------------------------

# Lets the statuses of all messages be sent to the inbox.
open_statuses() {
    open_inbox
    sandbox POST settings '{"automaticStatuses":true,"statusDelayMs":1}' >/dev/null
}

# Prints the statuses in the inbox, in their order: `STATUS ERROR USER` each.
statuses() {
    sandbox GET 'requests?path=/inbox' | gojq -r '.[].body | fromjson | .entry[0].changes[0].value
        | .statuses // [] | .[] | "\(.status) \(.errors[0].code // "-") \(.recipient_id // .recipient_user_id)"'
}

@test "a message to a user who did not write for 24 hours is accepted and fails, a template is delivered" {
    local template='"type":"template","template":{"name":"hello_world","language":{"code":"de"}}' now
    now=$(date +%s)
    open_statuses
    send "$text"
    assert_accepted
    eventually inbox_holds 1
    assert_equal "$(statuses)" 'failed 131047 16505551234'
    sandbox GET 'requests?path=/inbox' |
        gojq -e '.[].body | fromjson | .entry[0].changes[0].value.statuses[0].errors[0] |
            .title == "Re-engagement message" and (.error_data.details | contains("24 hours"))'
    send "$template"
    eventually inbox_holds 4
    assert_equal "$(statuses | tail -1)" 'read - 16505551234'
    sandbox POST webhooks "{\"kind\":\"text\",\"phone\":\"16505551234\",\"timestamp\":\"$((now - 86410))\"}" >/dev/null
    send "$text"
    eventually inbox_holds 6
    assert_equal "$(statuses | tail -1)" 'failed 131047 16505551234'
    sandbox POST webhooks "{\"kind\":\"text\",\"phone\":\"16505551234\",\"timestamp\":\"$((now - 86000))\"}" >/dev/null
    send "$text"
    eventually inbox_holds 10
    assert_equal "$(statuses | tail -1)" 'read - 16505551234'
}

@test "the window of a user is that of one number, has all names of the user, and ends by a setting or option" {
    open_statuses
    sandbox POST webhooks '{"kind":"text","phone":"16505551234","bsuid":"US.77"}' >/dev/null
    sandbox DELETE requests >/dev/null
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"recipient\":\"US.77\",$text}"
    eventually inbox_holds 3
    assert_equal "$(statuses | tail -1)" 'read - US.77'
    token=sandbox-token-2 post "$OTHER_LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"16505551234\",$text}"
    eventually inbox_holds 4
    assert_equal "$(statuses | tail -1)" 'failed 131047 16505551234'
    sandbox POST settings '{"serviceWindow":false}' >/dev/null
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"4930999\",$text}"
    eventually inbox_holds 7
    assert_equal "$(statuses | tail -1)" 'read - 4930999'
    start_own --no-service-window
    assert_equal "$(sandbox GET settings | gojq .serviceWindow)" false
}

unblock() { # USER
    graph DELETE "$LINE/block_users" -H 'Content-Type: application/json' \
        --data-binary "{\"messaging_product\":\"whatsapp\",\"block_users\":[{\"user\":\"$1\"}]}"
}

@test "a message to the own number is 131021, one to a user whom the number has blocked 131026" {
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"+1 555 010 0001\",$text}"
    assert_refused 400 131021 'Recipient cannot be sender'
    wrote 16505551234
    wrote US.77
    post "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"16505551234"},{"user":"US.77"}]}'
    assert_status 200
    send "$text"
    assert_refused 400 131026 blocked
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"recipient\":\"US.77\",$text}"
    assert_refused 400 131026 blocked
    token=sandbox-token-2 post "$OTHER_LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"16505551234\",$text}"
    assert_accepted
    unblock 16505551234
    send "$text"
    assert_accepted
}

@test "block_users: only who wrote in the last 24 hours is blocked, any user is unblocked" {
    wrote 16505551234
    post "$LINE/block_users" '{"messaging_product":"whatsapp","block_users":[{"user":"16505551234"},{"user":"16505550000"}]}'
    assert_refused 400 139100
    assert_json .block_users.added_users '[{"input":"16505551234","wa_id":"16505551234"}]'
    assert_json '.block_users.failed_users | map([.wa_id, .errors[0].code])' '[["16505550000",131047]]'
    graph GET "$LINE/block_users"
    assert_json '.data | map(.wa_id)' '["16505551234"]'
    sandbox POST windows "{\"phoneNumberId\":\"$LINE\",\"user\":\"16505551234\",\"wroteAt\":0}" >/dev/null
    unblock 16505551234
    assert_status 200
    assert_json '.block_users.removed_users | length' 1
}

@test "a phone number and the id of media may be JSON numbers" {
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":16505551234,$text}"
    assert_accepted
    assert_json .contacts '[{"input":"16505551234","wa_id":"16505551234"}]'
    send '"type":"image","image":{"id":1100000000000001}'
    assert_accepted
    send '"type":"image","image":{"id":1}'
    assert_refused 400 100 'not a valid whatsapp business account media'
    send '"type":"image","image":{"id":1.5}'
    assert_refused 400 131009 'exactly one of id and link'
    post "$LINE/messages" "{\"messaging_product\":\"whatsapp\",\"to\":1e30,$text}"
    assert_refused 400 131009 "'to'"
}

@test "of members with the same name the last counts, at each depth" {
    post "$LINE/messages" '{"messaging_product":"whatsapp","to":"4930111","type":"image","to":"4930222",
        "type":"text","text":{"body":"first","body":"second","preview_url":7,"preview_url":true},"text":null,
        "text":{"body":"third"}}'
    assert_accepted
    assert_json '.contacts[0].wa_id' '"4930222"'
    sandbox GET "chat?phoneNumberId=$LINE&phone=4930222" | gojq -e '.entries == []'
    wrote 4930222
    post "$LINE/messages" '{"messaging_product":"whatsapp","to":"4930222","text":{"body":"first","body":"second"}}'
    sandbox GET "chat?phoneNumberId=$LINE&phone=4930222" |
        gojq -e '.entries | length == 1 and .[0].message.text.body == "second"'
    sandbox GET "chat?phoneNumberId=$LINE&phone=4930111" | gojq -e '.entries == []'
}
