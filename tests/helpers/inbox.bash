# shellcheck shell=bash
# Contacts that write to the line of make_user: `load helpers/inbox` after helpers/webhook.

# Prints a text message: text ID PHONE SECONDS [TEXT]
text() {
    printf '{"from":"%s","id":"%s","timestamp":"%s","type":"text","text":{"body":%s}}' \
        "$2" "$1" "$3" "$(gojq -cn --arg text "${4-Hello}" '$text')"
}

# A contact writes to the line: writes ID PHONE SECONDS [TEXT [NAME]]
writes() {
    local name
    name=$(gojq -cn --arg name "${5-Ann}" '$name')
    take "$(payload "$(change messages "\"contacts\":[{\"profile\":{\"name\":$name},
        \"wa_id\":\"$2\"}],\"messages\":[$(text "${@:1:4}")]")")"
}

# The thread of the phone on the line: thread_of PHONE
thread_of() {
    db "SELECT t.id FROM thread t JOIN contact c ON c.id = t.contact_id
        JOIN line l ON l.id = t.line_id WHERE c.phone = '$1' AND l.phone_number_id = '$LINE'"
}

contact_of() { # PHONE
    db "SELECT id FROM contact WHERE phone = '$1' AND account_id = '$ACCOUNT'"
}

# One value of the last answer: value EXPRESSION
value() {
    filter -r "$1" "$body"
}
