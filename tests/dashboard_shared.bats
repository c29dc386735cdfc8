#!/usr/bin/env bats
# The inbox of several members in Chromium, with the sandbox as the platform.
# transports: cgi fcgi
# needs: node
# may run twice: Chromium decides when it draws and when it asks
# bats file_tags=long
load helpers/all
load helpers/session
load helpers/browser
load helpers/courier
load helpers/sender

setup_file() {
    start_stack
    make_user
    make_password
    export KIM_EMAIL=kim@example.org KIM_PASSWORD='a first good password'
    make_member '' "$KIM_EMAIL" agent
    set_password KIM_ "$KIM_PASSWORD"
    db "UPDATE member SET name = 'Kim' WHERE email = '$KIM_EMAIL'"
    export VIEWER_EMAIL=vic@example.org VIEWER_PASSWORD='another good password'
    make_member '' "$VIEWER_EMAIL" viewer
    set_password VIEWER_ "$VIEWER_PASSWORD"
    export NIA_EMAIL=nia@example.org NIA_PASSWORD='one more good password'
    make_member '' "$NIA_EMAIL" agent
    set_password NIA_ "$NIA_PASSWORD"
    db "UPDATE member SET name = 'Nia' WHERE email = '$NIA_EMAIL'"
    start_browser
}

teardown_file() {
    stop_browser
    stop_stack
}

# bats test_tags=route
@test "members take conversations, see whose they are, and who was quicker" {
    browse shared assignment "$KIM_EMAIL" "$KIM_PASSWORD"
}

# bats test_tags=route
@test "a member who writes an answer is shown to the others until it is sent, and never to oneself" {
    browse shared typing "$KIM_EMAIL" "$KIM_PASSWORD"
}

# bats test_tags=route
@test "two members answer at once: one is sent, the other keeps the text and sees whose was first" {
    browse shared bothAnswer "$KIM_EMAIL" "$KIM_PASSWORD"
}

@test "a viewer reads conversations without an error, and sees nothing that a viewer may not do" {
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"16505552005\""
    have_pulse
    schedule 'Read tomorrow' "$(moment '+1 hour')"
    assert_status 202
    schedule 'Too late' "$(moment '+1 hour')"
    db "UPDATE outgoing SET state = 'expired', finished_at = $db_now WHERE id = '$out'"
    browse shared viewer "$VIEWER_EMAIL" "$VIEWER_PASSWORD"
}

@test "a slash in an answer offers the canned replies, and a chosen one has the names in their places" {
    browse shared canned "$KIM_EMAIL" "$KIM_PASSWORD"
}

@test "members write notes for each other, which are between the messages and are never sent" {
    browse shared notes "$KIM_EMAIL" "$KIM_PASSWORD"
}

# bats test_tags=route
@test "an agent with own conversations only loses the one that a colleague gets, also from the open page" {
    browse shared ownThreads "$NIA_EMAIL" "$NIA_PASSWORD"
}

# bats test_tags=route
@test "a shop of three: two agents join and answer at once, one is removed while writing, the trail has it" {
    browse shop day
}
