#!/usr/bin/env bats
# Memberships and invitations with a choice of lines (doc/api/team.md). tests/token_lines.bats has
# what such a member may read and write.
# shellcheck disable=SC2153,SC2154  # make_user sets EMAIL and so on
load helpers/all
load helpers/command
load helpers/conventions
load helpers/inbox
load helpers/session
load helpers/webhook

setup_file() {
    start_stack
    make_user PERSON_
    make_user
    export OWN=$LINE
    make_line ''
    export FOREIGN=$LINE OWN_LINE FOREIGN_LINE PERSON_LINE_ID
    OWN_LINE=$(line_id "$OWN")
    FOREIGN_LINE=$(line_id "$FOREIGN")
    PERSON_LINE_ID=$(line_id "$PERSON_LINE")
    LINE=$OWN writes wamid.own 15550100001 1780000000 hello Ann
    LINE=$FOREIGN writes wamid.foreign 15550100002 1780000001 hello Zoe
}

setup() {
    forget_sent
    db "DELETE FROM session; DELETE FROM invitation; DELETE FROM scoped_token; DELETE FROM trail;
        DELETE FROM login_failure; DELETE FROM login_link; DELETE FROM login_device;
        UPDATE thread SET assignee_id = NULL;
        DELETE FROM membership WHERE created_by <> 'switchboard user';
        DELETE FROM member WHERE id NOT IN (SELECT member_id FROM membership);
        UPDATE membership SET role = 'owner'"
    make_session ''
    OWNER=$SESSION
    export BEN_EMAIL=ben@example.org KIM_EMAIL=kim@example.org
}

line_id() { # PHONE-NUMBER-ID
    db "SELECT id FROM line WHERE phone_number_id = '$1'"
}

thread_id() { # WAMID
    db "SELECT thread_id FROM message WHERE wamid = '$1'"
}

member_id() { # EMAIL
    db "SELECT id FROM member WHERE email = '$1'"
}

as_owner() {
    request "$@" --session "$OWNER"
}

as_ben() {
    request "$@" --session "$BEN"
}

# Makes Ben a member with the role and the own line, and BEN, a session: have_ben ROLE
have_ben() {
    switchboard member add "$EMAIL" "$BEN_EMAIL" --role "$1" --lines "$OWN" >/dev/null
    make_session BEN_
    BEN=$SESSION BEN_ID=$(member_id "$BEN_EMAIL")
}

# Makes Kim an agent of these lines: have_kim LINES
have_kim() {
    switchboard member add "$EMAIL" "$KIM_EMAIL" --role agent --lines "$1" >/dev/null
    KIM_ID=$(member_id "$KIM_EMAIL")
}

lines_of() { # MEMBER-ID
    db "SELECT coalesce(line_ids, 'all') FROM membership WHERE member_id = '$1'"
}

@test "who accepts an invitation with lines sees these lines only, and the session says so" {
    local link
    as_owner POST /v2/invitations \
        -d "{\"email\":\"$BEN_EMAIL\",\"role\":\"agent\",\"lineIds\":[\"$OWN_LINE\"]}"
    assert_success
    assert_conventions
    assert_json .data.lineIds "[\"$OWN_LINE\"]"
    link=$(gojq -r .data.path "$body")
    keep_secret invitation "${link##*/}"
    as_owner GET /v2/invitations
    assert_json '.data.items[0].lineIds' "[\"$OWN_LINE\"]"
    request POST /v2/session/join \
        -d "{\"invitation\":\"${link##*/}\",\"name\":\"Ben\",\"password\":\"$PASSWORD\"}"
    assert_success
    assert_json .data.member.lineIds "[\"$OWN_LINE\"]"
    make_session BEN_
    BEN=$SESSION
    as_ben GET /v2/lines
    assert_json '[.data.items[].phoneNumberId]' "[\"$OWN\"]"
    as_ben GET /v2/threads
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.own"]'
    as_owner GET /v2/members
    assert_json '.data.items[] | select(.name == "Ben").lineIds' "[\"$OWN_LINE\"]"
}

@test "a member who logs in already gets the lines of the invitation too" {
    local link
    make_session PERSON_
    as_owner POST /v2/invitations \
        -d "{\"email\":\"$PERSON_EMAIL\",\"role\":\"viewer\",\"lineIds\":[\"$OWN_LINE\"]}"
    link=$(gojq -r .data.path "$body")
    keep_secret invitation "${link##*/}"
    request POST /v2/invitations/accept --session "$SESSION" -d "{\"invitation\":\"${link##*/}\"}"
    assert_success
    request GET /v2/threads --session "$SESSION"
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.own"]'
}

@test "a change of lines counts from its commit on, and the role stays" {
    have_ben agent
    as_ben GET "/v2/threads/$(thread_id wamid.foreign)"
    assert_error 404 NOT_FOUND
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"lineIds":null}'
    assert_success
    assert_conventions
    assert_json '[.data.role, .data.lineIds]' '["agent",null]'
    as_ben GET "/v2/threads/$(thread_id wamid.foreign)"
    assert_success
    as_owner PATCH "/v2/members/$BEN_ID" -d "{\"lineIds\":[\"$FOREIGN_LINE\"]}"
    as_ben GET "/v2/threads/$(thread_id wamid.own)"
    assert_error 404 NOT_FOUND
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"viewer"}'
    assert_json '[.data.role, .data.lineIds[]]' "[\"viewer\",\"$FOREIGN_LINE\"]"
}

@test "an owner has all lines" {
    have_ben admin
    as_owner POST /v2/invitations \
        -d "{\"email\":\"x@example.org\",\"role\":\"owner\",\"lineIds\":[\"$OWN_LINE\"]}"
    assert_error 400 VALIDATION_ERROR
    as_owner PATCH "/v2/members/$BEN_ID" -d "{\"role\":\"owner\",\"lineIds\":[\"$OWN_LINE\"]}"
    assert_error 400 VALIDATION_ERROR
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"owner"}'
    assert_error 409 VALIDATION_ERROR 'An owner has all lines'
    as_owner PATCH "/v2/members/$(member_id "$EMAIL")" -d "{\"lineIds\":[\"$OWN_LINE\"]}"
    assert_error 409 VALIDATION_ERROR 'An owner has all lines'
    assert_equal "$(db "SELECT count(*) FROM membership WHERE role = 'owner' AND
        line_ids IS NOT NULL")" 0
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"owner","lineIds":null}'
    assert_success
}

@test "lines are lines of the workspace, each once and at least one" {
    local ids
    have_ben agent
    for ids in '[]' "[\"$PERSON_LINE_ID\"]" '["lin_none"]' "[\"$OWN_LINE\",\"$OWN_LINE\"]" '"x"'; do
        as_owner PATCH "/v2/members/$BEN_ID" -d "{\"lineIds\":$ids}"
        assert_error 400 VALIDATION_ERROR
        as_owner POST /v2/invitations \
            -d "{\"email\":\"x@example.org\",\"role\":\"agent\",\"lineIds\":$ids}"
        assert_error 400 VALIDATION_ERROR
    done
    assert_equal "$(lines_of "$BEN_ID")" "$OWN_LINE"
}

@test "an admin with lines has neither events nor manage, and the trail is about all lines" {
    have_ben admin
    as_ben GET /v2/webhooks
    assert_error 403 FORBIDDEN 'the scope events'
    as_ben PATCH "/v2/lines/$OWN_LINE" -d '{"name":"x"}'
    assert_error 403 FORBIDDEN 'the scope manage'
    as_ben GET /v2/trail
    assert_error 403 FORBIDDEN 'about all lines'
    as_ben GET /v2/session
    assert_json '.data.member.scopes | sort' '["basic","inbox","read","self","send","team"]'
}

# bats test_tags=long
@test "an admin with lines gives no other ones, neither to members nor in invitations nor to tokens" {
    local ids
    have_ben admin
    have_kim "$OWN"
    for ids in '' ',"lineIds":null' ",\"lineIds\":[\"$FOREIGN_LINE\"]" \
        ",\"lineIds\":[\"$OWN_LINE\",\"$FOREIGN_LINE\"]"; do
        as_ben POST /v2/invitations -d "{\"email\":\"x@example.org\",\"role\":\"agent\"$ids}"
        assert_error 400 VALIDATION_ERROR
        as_ben POST /v2/tokens -d "{\"name\":\"x\",\"scopes\":[\"basic\"]$ids}"
        assert_error 400 VALIDATION_ERROR
        [[ $ids ]] || continue
        as_ben PATCH "/v2/members/$KIM_ID" -d "{\"role\":\"agent\"$ids}"
        assert_error 400 VALIDATION_ERROR
        as_ben PATCH "/v2/members/$BEN_ID" -d "{\"role\":\"admin\"$ids}"
        assert_error 400 VALIDATION_ERROR
    done
    as_ben POST /v2/invitations \
        -d "{\"email\":\"x@example.org\",\"role\":\"agent\",\"lineIds\":[\"$OWN_LINE\"]}"
    assert_success
    as_ben POST /v2/tokens \
        -d "{\"name\":\"x\",\"scopes\":[\"basic\"],\"lineIds\":[\"$OWN_LINE\"]}"
    assert_success
    keep_secret 'scoped token' "$(gojq -r .data.token "$body")"
    as_ben PATCH "/v2/members/$KIM_ID" -d "{\"role\":\"viewer\",\"lineIds\":[\"$OWN_LINE\"]}"
    assert_success
}

# bats test_tags=long
@test "an admin with lines changes no member and nothing else that has another one" {
    local lines token
    have_ben admin
    for lines in all "$FOREIGN" "$OWN,$FOREIGN"; do
        db "DELETE FROM membership WHERE member_id = '${KIM_ID-}'"
        have_kim "$lines"
        as_ben PATCH "/v2/members/$KIM_ID" -d '{"role":"viewer"}'
        assert_error 403 FORBIDDEN 'lines'
        as_ben PATCH "/v2/members/$KIM_ID" -d "{\"lineIds\":[\"$OWN_LINE\"]}"
        assert_error 403 FORBIDDEN 'lines'
        as_ben POST "/v2/members/$KIM_ID/link"
        assert_error 403 FORBIDDEN 'lines'
        as_ben DELETE "/v2/members/$KIM_ID"
        assert_error 403 FORBIDDEN 'lines'
        as_ben GET /v2/members
        assert_json '[.data.items[].name] | length' 3
        ! grep -qF "$FOREIGN_LINE" "$body" || fail_answer 'it has the other line'
    done
    as_owner POST /v2/invitations -d '{"email":"x@example.org","role":"viewer"}'
    as_owner POST /v2/tokens -d '{"name":"x","scopes":["basic"]}'
    token=$(gojq -r .data.id "$body")
    keep_secret 'scoped token' "$(gojq -r .data.token "$body")"
    as_ben GET /v2/invitations
    assert_json .data.items '[]'
    as_ben GET /v2/tokens
    assert_json .data.items '[]'
    as_ben DELETE "/v2/invitations/$(db 'SELECT id FROM invitation')"
    assert_error 404 NOT_FOUND
    as_ben PATCH "/v2/tokens/$token" -d "{\"lineIds\":[\"$OWN_LINE\"]}"
    assert_error 404 NOT_FOUND
    as_ben DELETE "/v2/tokens/$token"
    assert_error 404 NOT_FOUND
    assert_equal "$(db 'SELECT count(*) FROM scoped_token')" 1
}

@test "a change of lines ends the invitations that the member may not make any more" {
    have_ben admin
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"lineIds":null}'
    as_ben POST /v2/invitations -d '{"email":"a@example.org","role":"agent"}'
    as_ben POST /v2/invitations \
        -d "{\"email\":\"b@example.org\",\"role\":\"agent\",\"lineIds\":[\"$FOREIGN_LINE\"]}"
    as_ben POST /v2/invitations \
        -d "{\"email\":\"c@example.org\",\"role\":\"agent\",\"lineIds\":[\"$OWN_LINE\"]}"
    as_owner POST /v2/invitations -d '{"email":"d@example.org","role":"agent"}'
    as_owner PATCH "/v2/members/$BEN_ID" -d "{\"lineIds\":[\"$OWN_LINE\"]}"
    assert_equal "$(db 'SELECT email FROM invitation ORDER BY email' | xargs)" \
        'c@example.org d@example.org'
}

@test "a thread is assigned only to a member who sees it, also after a change of lines" {
    local own foreign
    have_ben agent
    own=$(thread_id wamid.own) foreign=$(thread_id wamid.foreign)
    as_owner PUT "/v2/threads/$foreign/assignee" -d "{\"memberId\":\"$BEN_ID\"}"
    assert_error 404 NOT_FOUND 'on this line'
    as_owner PUT "/v2/threads/$own/assignee" -d "{\"memberId\":\"$BEN_ID\"}"
    assert_success
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"lineIds":null}'
    as_owner PUT "/v2/threads/$foreign/assignee" -d "{\"memberId\":\"$BEN_ID\"}"
    assert_success
    as_owner PATCH "/v2/members/$BEN_ID" -d "{\"lineIds\":[\"$OWN_LINE\"]}"
    assert_equal "$(db "SELECT id FROM thread WHERE assignee_id = '$BEN_ID'")" "$own"
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"viewer"}'
    assert_equal "$(db "SELECT id FROM thread WHERE assignee_id = '$BEN_ID'")" ''
}

@test "the trail has the old and the new lines of a member and of a token" {
    local token
    have_ben agent
    db 'DELETE FROM trail'
    as_owner PATCH "/v2/members/$BEN_ID" -d "{\"lineIds\":[\"$OWN_LINE\",\"$FOREIGN_LINE\"]}"
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"viewer"}'
    as_owner GET '/v2/trail?action=member.update'
    assert_json '[.data.items[].details.lineIds]' \
        "[null,{\"from\":[\"$OWN_LINE\"],\"to\":[\"$OWN_LINE\",\"$FOREIGN_LINE\"]}]"
    as_owner POST /v2/tokens -d '{"name":"x","scopes":["basic"]}'
    token=$(gojq -r .data.id "$body")
    keep_secret 'scoped token' "$(gojq -r .data.token "$body")"
    as_owner PATCH "/v2/tokens/$token" -d "{\"lineIds\":[\"$OWN_LINE\"]}"
    as_owner GET '/v2/trail?action=token.update'
    assert_conventions
    assert_json '.data.items[0].details' \
        "{\"fields\":[\"lineIds\"],\"object\":{\"name\":\"x\"},
            \"lineIds\":{\"from\":null,\"to\":[\"$OWN_LINE\"]}}"
    switchboard member lines "$EMAIL" "$BEN_EMAIL" --lines all
    as_owner GET '/v2/trail?action=member.lines'
    assert_json '.data.items[0].details.lineIds.to' null
}

@test "switchboard member and invitation give lines by the platform's ids" {
    have_ben agent
    as_ben GET /v2/lines # the files of an answer
    assert_equal "$(lines_of "$BEN_ID")" "$OWN_LINE"
    cli member lines "$EMAIL" "$BEN_EMAIL" --lines "$OWN,$FOREIGN"
    assert_equal "$(lines_of "$BEN_ID")" "$OWN_LINE $FOREIGN_LINE"
    cli member list "$EMAIL" --json
    assert_json '.[1].lineIds' "[\"$OWN_LINE\",\"$FOREIGN_LINE\"]"
    cli invitation add "$EMAIL" x@example.org --role agent --lines "$OWN" --url https://x --json
    assert_json .lineIds "[\"$OWN_LINE\"]"
    fails_with 'an owner has all lines' member add "$EMAIL" y@example.org --role owner \
        --lines "$OWN"
    fails_with 'an owner has all lines' member lines "$EMAIL" "$EMAIL" --lines "$OWN"
    fails_with 'an owner has all lines' member role "$EMAIL" "$BEN_EMAIL" --role owner
    fails_with 'has no line 999' member lines "$EMAIL" "$BEN_EMAIL" --lines 999
}
