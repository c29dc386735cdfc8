#!/usr/bin/env bats
# Members who see own and unassigned threads only (doc/api/team.md). tests/token_lines.bats has what
# every route hides from such a member.
# shellcheck disable=SC2153,SC2154  # make_user sets EMAIL and so on
load helpers/all
load helpers/command
load helpers/conventions
load helpers/courier
load helpers/inbox
load helpers/sender
load helpers/session
load helpers/webhook

setup_file() {
    start_stack
    make_user
    export BEN_EMAIL=ben@example.org KIM_EMAIL=kim@example.org
    writes wamid.a 15550100001 1780000000 'alpha one' Ann
    writes wamid.b 15550100002 1780000001 'alpha two' Bob
    writes wamid.c 15550100003 1780000002 'alpha three' Cleo
    writes wamid.d 15550100004 1780000003 'alpha four' Dan
}

# Ben sees own and unassigned threads: wamid.a is unassigned, wamid.b Ben's, the others are Kim's.
setup() {
    forget_sent
    db "DELETE FROM session; DELETE FROM invitation; DELETE FROM trail; DELETE FROM outgoing;
        DELETE FROM login_failure; DELETE FROM login_link; DELETE FROM login_device;
        DELETE FROM note; DELETE FROM thread_removal; DELETE FROM thread_claim;
        UPDATE thread SET assignee_id = NULL, assigned_changed = NULL;
        DELETE FROM membership WHERE role <> 'owner';
        DELETE FROM member WHERE id NOT IN (SELECT member_id FROM membership)"
    switchboard member add "$EMAIL" "$BEN_EMAIL" --role agent --threads own >/dev/null
    switchboard member add "$EMAIL" "$KIM_EMAIL" --role agent >/dev/null
    make_session ''
    OWNER=$SESSION
    make_session BEN_
    BEN=$SESSION BEN_ID=$(member_id "$BEN_EMAIL")
    make_session KIM_
    KIM=$SESSION KIM_ID=$(member_id "$KIM_EMAIL")
    A=$(thread_id wamid.a) B=$(thread_id wamid.b) C=$(thread_id wamid.c) D=$(thread_id wamid.d)
    db "UPDATE thread SET assignee_id = '$BEN_ID' WHERE id = '$B';
        UPDATE thread SET assignee_id = '$KIM_ID' WHERE id IN ('$C', '$D')"
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

as_kim() {
    request "$@" --session "$KIM"
}

# Assigns a thread as a member: gives NAME THREAD MEMBER-ID
gives() {
    local member=null
    [[ -z $3 ]] || member="\"$3\""
    "as_$1" PUT "/v2/threads/$2/assignee" -d "{\"memberId\":$member}"
}

# Reads the number of the last change into `change`.
read_change() {
    as_ben GET /v2/changes
    change=$(value .data.change)
}

own_only() { # MEMBER-ID
    db "SELECT own_threads FROM membership WHERE member_id = '$1'"
}

# --- who has the limit ---

@test "who accepts an invitation for own threads sees no others, and the session says so" {
    local link
    as_owner POST /v2/invitations \
        -d '{"email":"new@example.org","role":"agent","ownThreadsOnly":true}'
    assert_success
    assert_conventions
    assert_json .data.ownThreadsOnly true
    link=$(gojq -r .data.path "$body")
    keep_secret invitation "${link##*/}"
    as_owner GET /v2/invitations
    assert_json '.data.items[0].ownThreadsOnly' true
    request POST /v2/session/join \
        -d "{\"invitation\":\"${link##*/}\",\"name\":\"New\",\"password\":\"$PASSWORD\"}"
    assert_success
    assert_json .data.member.ownThreadsOnly true
    export NEW_EMAIL=new@example.org
    make_session NEW_
    request GET /v2/threads --session "$SESSION"
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.a"]'
}

@test "the limit counts from the commit of its change on, and unassigns nothing" {
    as_ben GET "/v2/threads/$C"
    assert_error 404 NOT_FOUND
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"ownThreadsOnly":false}'
    assert_success
    assert_conventions
    assert_json '[.data.role, .data.lineIds, .data.ownThreadsOnly]' '["agent",null,false]'
    as_ben GET "/v2/threads/$C"
    assert_success
    gives ben "$A" "$BEN_ID"
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"ownThreadsOnly":true}'
    as_ben GET "/v2/threads/$C"
    assert_error 404 NOT_FOUND
    as_ben GET "/v2/threads/$A"
    assert_json .data.assignee.id "\"$BEN_ID\""
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"viewer"}'
    as_owner GET /v2/members
    assert_json ".data.items[] | select(.id == \"$BEN_ID\").ownThreadsOnly" true
    as_kim GET /v2/members
    assert_json "[.data.items[] | select(.id == \"$BEN_ID\") | has(\"ownThreadsOnly\")]" '[false]'
}

@test "an admin and an owner see all threads" {
    local role
    for role in admin owner; do
        as_owner POST /v2/invitations \
            -d "{\"email\":\"x@example.org\",\"role\":\"$role\",\"ownThreadsOnly\":true}"
        assert_error 400 VALIDATION_ERROR
        assert_json '.details[0] | [.path, .message]' \
            '["ownThreadsOnly","must be false: an admin and an owner see all threads"]'
        as_owner PATCH "/v2/members/$BEN_ID" -d "{\"role\":\"$role\",\"ownThreadsOnly\":true}"
        assert_error 400 VALIDATION_ERROR
        as_owner PATCH "/v2/members/$BEN_ID" -d "{\"role\":\"$role\"}"
        assert_error 409 VALIDATION_ERROR 'An admin and an owner see all threads'
    done
    as_owner PATCH "/v2/members/$(member_id "$EMAIL")" -d '{"ownThreadsOnly":true}'
    assert_error 409 VALIDATION_ERROR 'An admin and an owner see all threads'
    for bad in null '"yes"' 1; do
        as_owner PATCH "/v2/members/$BEN_ID" -d "{\"ownThreadsOnly\":$bad}"
        assert_error 400 VALIDATION_ERROR
    done
    as_owner PATCH /v2/members/mbr_none -d '{"ownThreadsOnly":true}'
    assert_error 404 NOT_FOUND
    assert_equal "$(own_only "$BEN_ID")" 1
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"admin","ownThreadsOnly":false}'
    assert_success
    as_ben GET "/v2/threads/$C"
    assert_success
}

@test "the trail has the old and the new limit" {
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"ownThreadsOnly":false}'
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"ownThreadsOnly":true,"lineIds":null}'
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"viewer"}'
    as_owner GET '/v2/trail?action=member.update'
    assert_json '[.data.items[].details | [.ownThreadsOnly, .lineIds]]' \
        '[[null,null],[{"from":false,"to":true},{"from":null,"to":null}],
            [{"from":true,"to":false},null]]'
    cli member threads "$EMAIL" "$BEN_EMAIL" --threads all
    as_owner GET '/v2/trail?action=member.threads'
    assert_json '.data.items[0].details | [.object.name, .ownThreadsOnly]' \
        "[\"$BEN_EMAIL\",{\"from\":true,\"to\":false}]"
}

@test "switchboard member and invitation give own threads alone, or all" {
    as_ben GET /v2/lines # the files of an answer
    cli member threads "$EMAIL" "$BEN_EMAIL" --threads all
    assert_equal "$(own_only "$BEN_ID")" 0
    cli member threads "$EMAIL" "$BEN_EMAIL" --threads own --json
    assert_json .ownThreadsOnly true
    cli member list "$EMAIL" --json
    assert_json '[.[].ownThreadsOnly]' '[false,true,false]'
    cli invitation add "$EMAIL" x@example.org --role viewer --threads own --url https://x --json
    assert_json .ownThreadsOnly true
    fails_with 'an admin and an owner see all threads' member add "$EMAIL" y@example.org \
        --role admin --threads own
    fails_with 'an admin and an owner see all threads' member threads "$EMAIL" "$EMAIL" \
        --threads own
    fails_with 'an admin and an owner see all threads' member role "$EMAIL" "$BEN_EMAIL" \
        --role admin
    cli member threads "$EMAIL" "$BEN_EMAIL" --threads some
    assert_equal "$status" 2
}

# --- what the member sees ---

@test "lists have the own threads and those of none in their order, page by page" {
    local query wamids after
    while read -r query wamids; do
        as_ben GET "/v2/threads?$query"
        assert_json '[.data.items[].lastMessage.wamid]' "$wamids"
    done <<<'x=1 ["wamid.b","wamid.a"]
unread=true ["wamid.b","wamid.a"]
waiting=true ["wamid.a","wamid.b"]
failed=true []
assignee=me ["wamid.b"]
assignee=none ["wamid.a"]
unread=true&assignee=me ["wamid.b"]
waiting=true&assignee=none ["wamid.a"]
q=Bob ["wamid.b"]
q=Cleo []
limit=1 ["wamid.b"]
waiting=true&limit=1 ["wamid.a"]'
    as_ben GET "/v2/threads?assignee=$KIM_ID"
    assert_json .data.items '[]'
    for query in 'limit=1' 'limit=1&waiting=true'; do
        as_ben GET "/v2/threads?$query"
        after=$(value .data.paging.cursors.after)
        wamids=$(value '.data.items[].lastMessage.wamid')
        as_ben GET "/v2/threads?$query&after=$after"
        wamids+=" $(value '.data.items[].lastMessage.wamid')"
        assert_equal "$(xargs -n1 <<<"$wamids" | sort | xargs)" 'wamid.a wamid.b'
        assert_json .data.paging.cursors.after null
    done
    as_ben GET /v2/contacts
    assert_json '[.data.items[].name] | sort' '["Ann","Bob"]'
    as_ben GET '/v2/messages?q=alpha'
    assert_json '[.data.items[].wamid] | sort' '["wamid.a","wamid.b"]'
    as_ben GET '/v2/changes?after=0'
    assert_json '[.data.threads[].lastMessage.wamid] | sort' '["wamid.a","wamid.b"]'
    assert_json '[.data.inbox.unread, .data.inbox.waiting, .data.hidden]' '[2,2,[]]'
    as_owner GET '/v2/changes?after=0'
    assert_json '[.data.inbox.unread, .data.hidden]' '[4,[]]'
}

# bats test_tags=long
@test "a member with lines and own threads sees what both limits leave" {
    local line
    make_line ''
    line=$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")
    writes wamid.e 15550100001 1780000010 'alpha five' Ann
    as_owner PATCH "/v2/members/$BEN_ID" -d "{\"lineIds\":[\"$line\"]}"
    as_ben GET /v2/threads
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.e"]'
    as_ben GET '/v2/changes?after=0'
    assert_json '[[.data.threads[].lastMessage.wamid], .data.inbox.unread]' '[["wamid.e"],1]'
    as_ben GET /v2/usage
    assert_error 403 FORBIDDEN 'about all lines'
    read_change
    gives kim "$B" ''
    gives kim "$A" "$KIM_ID" # of the other line: it was not visible before
    gives kim "$(thread_id wamid.e)" "$KIM_ID"
    as_ben GET "/v2/changes?after=$change"
    assert_json '[.data.threads, .data.hidden]' "[[],[{\"threadId\":\"$(thread_id wamid.e)\"}]]"
    as_ben GET /v2/threads
    assert_json .data.items '[]'
    db "DELETE FROM message WHERE wamid = 'wamid.e'; DELETE FROM thread
        WHERE line_id = '$line'"
}

# --- assignments ---

@test "a member takes a thread of none, gives it back, and hands it on; that of a colleague is 404" {
    gives ben "$A" "$BEN_ID"
    assert_json .data.assignee.id "\"$BEN_ID\""
    gives ben "$A" ''
    assert_json .data.assignee null
    gives ben "$C" "$BEN_ID"
    assert_error 404 NOT_FOUND
    gives ben "$B" "$KIM_ID"
    assert_json .data.assignee.id "\"$KIM_ID\""
    as_ben GET "/v2/threads/$B"
    assert_error 404 NOT_FOUND
    gives ben "$B" "$BEN_ID"
    assert_error 404 NOT_FOUND
    as_kim GET "/v2/threads/$B"
    assert_success
}

@test "GET /v2/changes names a thread that another member got, and has it when it comes back" {
    read_change
    gives kim "$A" "$KIM_ID"
    as_ben GET "/v2/changes?after=$change"
    assert_conventions
    assert_json '[.data.threads, .data.hidden, .data.inbox.unread]' \
        "[[],[{\"threadId\":\"$A\"}],1]"
    ! grep -q 'Ann\|alpha' "$body" || fail_answer 'it shows more than the id'
    as_owner GET "/v2/changes?after=$change"
    assert_json '[[.data.threads[].id], .data.hidden]' "[[\"$A\"],[]]"
    read_change
    writes wamid.c2 15550100003 1780000005 'alpha again' Cleo # never visible since
    as_ben GET "/v2/changes?after=$change"
    assert_json '[.data.threads, .data.hidden]' '[[],[]]'
    gives kim "$A" ''
    as_ben GET "/v2/changes?after=$change"
    assert_json '[[.data.threads[].id], .data.hidden]' "[[\"$A\"],[]]"
    db "DELETE FROM message WHERE wamid = 'wamid.c2'"
}

@test "pages of changes hold threads that left the view too, each once" {
    local after more=true ids='' all
    all=$(db "SELECT count(*) FROM thread WHERE id LIKE 'thr_many%'")
    ((all)) || db "INSERT INTO contact (id, account_id, phone, created_at, updated_at)
            SELECT 'con_many' || value, '$ACCOUNT', 15551000000 + value, 1, 1
            FROM generate_series(1, 250);
        INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at, changed,
                assignee_id, assigned_changed)
            SELECT 'thr_many' || value, a.user_id, l.id, 'con_many' || value, 1, 1, 5000 + value,
                CASE WHEN value % 2 = 0 THEN '$KIM_ID' END,
                CASE WHEN value % 2 = 0 THEN 5000 + value END
            FROM generate_series(1, 250), line l JOIN account a ON a.id = l.account_id
            WHERE l.phone_number_id = '$LINE';
        UPDATE user SET change_sequence = 5250 WHERE email = '$EMAIL'"
    after=5000
    while [[ $more == true ]]; do
        as_ben GET "/v2/changes?after=$after"
        assert_success
        ids+=$(value '.data.threads[].id, .data.hidden[].threadId')$'\n'
        after=$(value .data.change) more=$(value .data.more)
    done
    assert_equal "$(sort -u <<<"$ids" | grep -c thr_many)" 250
    assert_equal "$(grep -c thr_many <<<"$ids")" 250
    db "DELETE FROM thread WHERE id LIKE 'thr_many%';
        DELETE FROM contact WHERE id LIKE 'con_many%'"
}

@test "a thread that is merged into one of a colleague is named by the id that the member has" {
    local former
    writes wamid.m1 15550100008 1780000030 first Max
    take "$(payload "$(change messages "\"messages\":[$(message wamid.m2 '' "$B1")]")")"
    former=$(thread_id wamid.m2)
    gives kim "$(thread_id wamid.m1)" "$KIM_ID"
    read_change
    take "$(payload "$(inbound wamid.m3 15550100008 "$B1")")"
    as_ben GET "/v2/changes?after=$change"
    assert_json "[.data.hidden[].threadId] | index(\"$former\") != null" true
    as_ben GET "/v2/threads/$former"
    assert_error 404 NOT_FOUND
}

@test "what is deleted of a colleague's thread is not reported" {
    read_change
    db "UPDATE user SET change_sequence = $change + 2 WHERE email = '$EMAIL';
        INSERT INTO thread_removal (thread_id, user_id, before_at, changed, removed_at)
        SELECT id, user_id, 5, CASE WHEN id = '$C' THEN $change + 1 ELSE $change + 2 END, 1
        FROM thread WHERE id IN ('$A', '$C')"
    as_ben GET "/v2/changes?after=$change"
    assert_json '[.data.removed[].threadId]' "[\"$A\"]"
}

# --- sends ---

# Sends a text as Ben: ben_sends MEMBERS [option of request...]
ben_sends() {
    as_ben POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",$1,\"text\":\"x\"}" "${@:2}"
}

@test "a send to a person whose thread is a colleague's is 403, by phone and by user id" {
    db "UPDATE contact SET bsuid = 'US.1234567890' WHERE phone = '15550100003'"
    ben_sends '"to":"15550100003"'
    assert_error 403 FORBIDDEN 'The thread with this person is assigned to a colleague.'
    assert_conventions
    ben_sends '"recipient":"US.1234567890"'
    assert_error 403 FORBIDDEN 'is assigned to a colleague'
    ben_sends '"to":"15550100099","recipient":"US.1234567890"'
    assert_error 403 FORBIDDEN 'is assigned to a colleague'
    ben_sends '"to":"15550100003"' -H 'Idempotency-Key: k1'
    assert_error 403 FORBIDDEN 'is assigned to a colleague'
    ben_sends '"to":"15550100003"' -H "X-Switchboard-Seen: $A 1"
    assert_error 403 FORBIDDEN 'is assigned to a colleague'
    assert_equal "$(db 'SELECT count(*) FROM thread_claim')" 0
    assert_nothing_sent
    gives kim "$C" ''
    ben_sends '"to":"15550100003"' -H 'Idempotency-Key: k1'
    assert_success
    ben_sends '"to":"15550100001"'
    assert_success
    ben_sends '"to":"15550100002"' -H "X-Switchboard-Seen: $B 999999"
    assert_success
    ben_sends '"to":"15550100077"'
    assert_success
}

@test "a read mark of a colleague's message is 403, and of an own one passes" {
    as_ben POST /v2/messages/read -d "{\"phoneNumberId\":\"$LINE\",\"messageId\":\"wamid.c\"}"
    assert_error 403 FORBIDDEN 'is assigned to a colleague'
    assert_nothing_sent
    as_ben POST /v2/messages/read -d "{\"phoneNumberId\":\"$LINE\",\"messageId\":\"wamid.b\"}"
    assert_success
}

@test "queued sends are those of the member, and those to people whose threads it sees" {
    local own kims of_new
    have_pulse
    ben_sends '"to":"15550100003"' -H 'Prefer: respond-async'
    assert_error 403 FORBIDDEN 'is assigned to a colleague'
    assert_equal "$(db 'SELECT count(*) FROM outgoing')" 0
    ben_sends '"to":"15550100001"' -H 'Prefer: respond-async'
    assert_status 202
    own=$(value .data.id)
    as_kim POST /v2/messages/send/text -H 'Prefer: respond-async' \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550100003\",\"text\":\"x\"}"
    kims=$(value .data.id)
    as_kim POST /v2/messages/send/text -H 'Prefer: respond-async' \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550100055\",\"text\":\"x\"}"
    of_new=$(value .data.id)
    gives kim "$A" "$KIM_ID" # the own row stays visible
    for query in '' "?phoneNumberId=$LINE" '?state=queued' "?phoneNumberId=$LINE&state=queued"; do
        as_ben GET "/v2/outgoing$query"
        assert_json '[.data.items[].id]' "[\"$of_new\",\"$own\"]"
    done
    as_ben GET '/v2/outgoing?to=15550100003'
    assert_json .data.items '[]'
    as_ben GET '/v2/outgoing?to=15550100001'
    assert_json '[.data.items[].id]' "[\"$own\"]"
    as_kim GET /v2/outgoing
    assert_json '.data.items | length' 3
    as_ben GET "/v2/outgoing/$kims"
    assert_error 404 NOT_FOUND
    as_ben DELETE "/v2/outgoing/$kims"
    assert_error 404 NOT_FOUND
    assert_equal "$(row "$kims" state)" queued
    db "UPDATE outgoing SET state = 'failed', finished_at = 1 WHERE id IN ('$own', '$of_new')"
    as_ben POST "/v2/outgoing/$own/retry" -d '{}'
    assert_error 403 FORBIDDEN 'is assigned to a colleague'
    as_ben POST "/v2/outgoing/$of_new/retry" -d '{}'
    assert_success
    db "UPDATE outgoing SET state = 'queued', finished_at = NULL WHERE id = '$own'"
    as_ben DELETE "/v2/outgoing/$own"
    assert_json .data.state '"cancelled"'
}

@test "a viewer reads own and unassigned threads, and sends nothing" {
    as_owner PATCH "/v2/members/$BEN_ID" -d '{"role":"viewer"}'
    as_ben GET "/v2/threads/$A"
    assert_success
    as_ben GET "/v2/threads/$C"
    assert_error 404 NOT_FOUND
    ben_sends '"to":"15550100001"'
    assert_error 403 FORBIDDEN 'the scope send'
}

@test "a block counts where no colleague has the thread with the person" {
    local first=$LINE contact path
    make_line ''
    writes wamid.e 15550100001 1780000005 'alpha five' Ann
    db "UPDATE thread SET assignee_id = '$KIM_ID' WHERE id = '$(thread_id wamid.e)'"
    contact=$(db "SELECT contact_id FROM thread WHERE id = '$A'") path=/v2/contacts/$contact/block
    blocked() {
        db "SELECT l.phone_number_id FROM contact_block b JOIN line l ON l.id = b.line_id
            WHERE l.phone_number_id IN ('$first', '$LINE')"
    }
    as_ben PUT "$path" -d "{\"phoneNumberId\":\"$LINE\"}"
    assert_error 404 NOT_FOUND
    assert_equal "$(blocked)" ''
    as_ben PUT "$path" -d '{}'
    assert_success
    assert_equal "$(blocked)" "$first"
    as_kim PUT "$path" -d '{}'
    as_ben DELETE "$path"
    assert_success
    assert_equal "$(blocked)" "$LINE"
    as_ben PUT "/v2/contacts/$(db "SELECT contact_id FROM thread WHERE id = '$C'")/block" -d '{}'
    assert_error 404 NOT_FOUND
}

@test "no file that only messages in colleagues' threads have is sent" {
    local id
    receives() { # MEDIA-ID WAMID PHONE
        take "$(payload "$(change messages "\"messages\":[{\"from\":\"$3\",\"id\":\"$2\",
            \"timestamp\":\"1780000020\",\"type\":\"image\",
            \"image\":{\"id\":\"$1\",\"mime_type\":\"image/png\"}}]")")"
    }
    receives 7301 wamid.file1 15550100003
    receives 7302 wamid.file2 15550100002
    for id in 7301 7302; do
        sandbox POST media "{\"wabaId\":\"$WABA\",\"id\":\"$id\",\"mimeType\":\"image/png\",
            \"size\":10}" >/dev/null
    done
    sends() { # MEDIA-ID
        as_ben POST /v2/messages/send/media -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550100002\",
            \"media\":{\"type\":\"image\",\"mediaId\":\"$1\"}}"
    }
    sends 7301
    assert_error 403 FORBIDDEN 'of messages that the caller does not see'
    assert_nothing_sent
    sends 7302
    assert_success
}
