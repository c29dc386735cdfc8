#!/usr/bin/env bats
# The templates and forms of the dashboard in Chromium: the editors, and what is done with one.
# transports: cgi
# needs: node
# may run twice: Chromium decides when it draws and when it asks
# bats file_tags=long
load helpers/all
load helpers/webhook
load helpers/session
load helpers/browser

setup_file() {
    start_stack
    make_user
    make_password
    write_config 'graph_destructive = yes'
    sandbox POST settings '{"templateQuotas":false}' >/dev/null
    add_templates
    start_browser
}

teardown_file() {
    stop_browser
    stop_stack
}

# A template of the account with some members more, such as a reason.
add_templates() {
    jq -nc --arg waba "$WABA" '
        def template($id; $name; $language; $status; $text): {id: $id, name: $name,
            language: $language, status: $status, category: "UTILITY",
            components: [{type: "BODY", text: $text}]};
        {wabaId: $waba, items: [
        template("1"; "order_ready"; "en_US"; "APPROVED"; "Your order is ready."),
        template("2"; "order_ready"; "de"; "REJECTED"; "Ihre Ware ist da.")
            + {rejected_reason: "INVALID_FORMAT"},
        template("3"; "late"; "en_US"; "PAUSED"; "We are late.")
            + {quality_score: {score: "RED"}},
        template("4"; "cards"; "en_US"; "APPROVED"; "Look.") + {components: [
            {type: "BODY", text: "Look."}, {type: "CAROUSEL", cards: []}]}]}' \
        >"$STACK/templates.json"
    sandbox POST templates "@$STACK/templates.json" >/dev/null
}

@test "the editor sends exactly the JSON of each documented kind of template" {
    browse templates kinds "$root/tools/demo/media/parcel.jpg"
}

@test "hints follow the text, the platform's refusal has its words and its place, and no draft is lost" {
    browse templates drafts
}

@test "a template is edited, copied, translated, unpaused and deleted; its languages stand side by side" {
    browse templates actions
}

@test "axe finds nothing in the editor and in a template, light and dark, at 320 and 1280 pixels" {
    browse templates accessible
}

@test "a form is made, its errors have lines, and it is published, copied, deleted and withdrawn" {
    browse forms life
}

@test "a form whose name is taken is refused in the platform's words, and what was typed stays" {
    browse forms refused
}

@test "axe finds nothing in the pages of a form, light and dark, at 320 and 1280 pixels" {
    browse forms accessible
}
