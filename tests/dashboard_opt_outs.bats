#!/usr/bin/env bats
# The opt-outs of the dashboard in Chromium: their page, and the mark of a contact.
# transports: cgi
# needs: node
# may run twice: Chromium decides when it draws and when it asks
# bats file_tags=long
load helpers/all
load helpers/session
load helpers/browser

setup_file() {
    start_stack
    make_user
    make_password
    start_browser
}

teardown_file() {
    stop_browser
    stop_stack
}

@test "opt-outs are listed with their source, added by number or user name, found, and removed after a question" {
    local refused=15552000009
    db "INSERT INTO opt_out (account_id, identity, source, since)
        VALUES ('$ACCOUNT', '$refused', 'error', 1780000000000),
               ('$ACCOUNT', 'US.stopped1', 'platform', 1780000000000)"
    browse optouts list "$refused"
}

@test "a member with some lines sees no opt-outs in the window of a contact, and blocks on these" {
    export LIA_EMAIL=lia@example.org LIA_PASSWORD='a first good password'
    switchboard member add "$EMAIL" "$LIA_EMAIL" --role agent --lines "$LINE" >/dev/null
    set_password LIA_ "$LIA_PASSWORD"
    EMAIL=$LIA_EMAIL PASSWORD=$LIA_PASSWORD browse optouts limited
}

@test "the window of a contact says who wants no marketing, and changes it" {
    browse optouts contact
}
