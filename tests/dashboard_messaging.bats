#!/usr/bin/env bats
# Overview, lines, templates, forms and usage of the dashboard in Chromium.
# transports: cgi
# needs: node
# starts first
# may run twice: Chromium decides when it draws and when it asks
# bats file_tags=long
load helpers/all
load helpers/webhook
load helpers/session
load helpers/browser

setup_file() {
    start_stack
    make_user
    make_user ENDED_
    make_password
    make_password ENDED_
    add_templates
    start_browser
}

teardown_file() {
    stop_browser
    stop_stack
}

# Templates of the account: approved ones and a rejected one.
add_templates() {
    jq -nc --arg waba "$WABA" '
        def template($id; $name; $status; $category; $components): {id: $id, name: $name,
            language: "en_US", status: $status, category: $category, components: $components};
        {wabaId: $waba, items: [
        template("1"; "order_ready"; "APPROVED"; "UTILITY"; [{type: "BODY", text: "Ready."}]),
        template("2"; "flash_offer"; "REJECTED"; "MARKETING"; [{type: "BODY", text: "Now!"}])
            + {rejected_reason: "INVALID_FORMAT"},
        template("3"; "login_code"; "APPROVED"; "AUTHENTICATION"; [
            {type: "BODY", text: "{{1}} is your code."},
            {type: "BUTTONS", buttons: [{type: "URL", text: "Copy code",
             url: "https://www.whatsapp.com/otp/code/?code={{1}}"}]}]),
        template("4"; "table_reserved"; "APPROVED"; "UTILITY"; [
            {type: "HEADER", format: "IMAGE"},
            {type: "BODY", text: "Room for {{guests}} on {{day}}", example:
             {body_text_named_params: [{param_name: "guests", example: "4"},
                                       {param_name: "day", example: "Friday"}]}}])
            + {parameter_format: "NAMED"}]}' >"$STACK/templates.json"
    sandbox POST templates "@$STACK/templates.json" >/dev/null
}

@test "the overview shows plan, lines, the last hour and the webhook" {
    browse messaging overview +15551
}

@test "a plan that has ended is said on the overview, with what to do" {
    switchboard plan set "$ENDED_EMAIL" Premium --ends 2020-01-01T00:00:00Z
    EMAIL=$ENDED_EMAIL PASSWORD=$ENDED_PASSWORD browse messaging planEnded
}

@test "templates are filtered, and their preview has the examples" {
    browse messaging templates
}

@test "a template of a strange shape is one strange template: the list, the rest and its preview stay" {
    browse messaging strangeTemplates
}

@test "a test send has a field for each variable, and uploads the picture of the header" {
    browse messaging testSend "$root/tools/demo/media/parcel.jpg" '+1 650 555 0144'
}

# Stores a flow, and answers to it: the second has a text that a spreadsheet would calculate.
add_answers() { # TEXT
    local answer
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"items\":[{\"id\":\"4100\",\"name\":\"Tasting\",
        \"status\":\"PUBLISHED\",\"categories\":[\"OTHER\"],\"validation_errors\":[]}]}" >/dev/null
    switchboard forms sync "$ACCOUNT"
    for answer in '{"day":"Monday","guests":4}' "$(jq -nc --arg text "$1" '{wish: $text}')"; do
        api POST /v2/messages/send/interactive/flow -d "{\"phoneNumberId\":\"$LINE\",
            \"to\":\"16505550150\",\"bodyText\":\"Book\",\"buttonText\":\"Open\",
            \"flowId\":\"4100\",\"flowToken\":\"token-$(next_number)\"}"
        assert_success
        take "$(payload "$(inbound "wamid.form$(next_number)" 16505550150 '' \
            "$(jq -nc --arg answer "$answer" --arg id "$(jq -r '.data.messages[0].id' "$body")" \
                '{context: {id: $id}, type: "interactive", interactive: {type: "nfm_reply",
                  nfm_reply: {name: "flow", body: "Sent", response_json: $answer}}}' |
                sed 's/^{//; s/}$//')")")"
    done
}

@test "the answers to a form are counted and listed, and their CSV holds no formula" {
    local formula='=HYPERLINK("https://evil.example","x")'
    add_answers "$formula"
    browse messaging forms "$formula"
}

@test "the sums of the usage page are those of its days and of the command line" {
    local total
    total=$(switchboard usage "$EMAIL" --json | jq -c 'reduce .[] as $day ({};
        reduce ("in", "out", "sent", "delivered", "read", "failed") as $name (.;
            .[$name] += $day[$name]))')
    (($(jq .in <<<"$total") > 0 && $(jq .out <<<"$total") > 0))
    browse messaging usage "$total"
}

@test "the set-up page shows the findings of each account, and the overview leads to it" {
    local id
    id=$(switchboard account add "$EMAIL" --waba-id 77003 --name Bare </dev/null 2>/dev/null)
    sandbox POST settings '{"webhookUrl":"https://gateway.example/platform/webhook"}' silent
    sandbox POST "nodes/$LINE" '{"status":"BANNED"}' silent
    db "DELETE FROM usage; INSERT INTO usage (user_id, hour, line_id, measure, count)
        SELECT a.user_id, $(($(date +%s) / 3600 - 5)), l.id, 'out', 1 FROM line l
        JOIN account a ON a.id = l.account_id WHERE l.phone_number_id = '$LINE'"
    browse messaging setup "$LINE" "$id"
    db "DELETE FROM account WHERE id = '$id'"
}

@test "lines are renamed, made primary, archived and brought back" {
    make_line ''
    browse messaging lines
}
