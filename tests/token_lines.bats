#!/usr/bin/env bats
# Scoped tokens, and sessions of members, with a choice of lines (doc/api/README.md, Scopes), and
# sessions of members who do not see the threads of colleagues. The programs describe which routes
# keep to lines and threads (helpers/routes.bash): a new route is tested here without being named.
# shellcheck disable=SC2016,SC2034,SC2153,SC2154  # $ is of jq; each_route sets the variables
load helpers/all
load helpers/command
load helpers/conventions
load helpers/graph
load helpers/inbox
load helpers/routes
load helpers/session
load helpers/webhook

OURS=15550100001 THEIRS=15550100002 BOTH=15550100003

setup_file() {
    start_stack
    make_user PERSON_
    make_user
    have_routes
    export OWN=$LINE
    writes wamid.own1 "$OURS" 1780000000 'ours alpha' Ann
    writes wamid.own2 "$BOTH" 1780000001 'ours beta' Cleo
    make_line ''
    export FOREIGN=$LINE
    writes wamid.foreign1 "$THEIRS" 1780000002 'zanzibar alpha' Zoe
    writes wamid.foreign2 "$BOTH" 1780000003 'zanzibar beta' Cleo
    queue out_foreign "$FOREIGN" "$THEIRS"
    export OWN_LINE
    OWN_LINE=$(db "SELECT id FROM line WHERE phone_number_id = '$OWN'")
    KEY=$(switchboard scoped-token add "$EMAIL" --name x --scope basic,read,send,inbox \
        --lines "$OWN")
    keep_secret 'scoped token' "$KEY"
    export KEY
    # all that only the other line has
    LEAKS=$(db "SELECT id FROM line WHERE phone_number_id = '$FOREIGN'
        UNION SELECT '$FOREIGN' UNION SELECT '$THEIRS' UNION SELECT 'zanzibar'
        UNION SELECT t.id FROM thread t JOIN line l ON l.id = t.line_id
            WHERE l.phone_number_id = '$FOREIGN'
        UNION SELECT m.id FROM message m JOIN line l ON l.id = m.line_id
            WHERE l.phone_number_id = '$FOREIGN'
        UNION SELECT m.wamid FROM message m JOIN line l ON l.id = m.line_id
            WHERE l.phone_number_id = '$FOREIGN'
        UNION SELECT id FROM contact WHERE phone = '$THEIRS' UNION SELECT id FROM outgoing")
    export LEAKS
    export BEN_EMAIL=ben@example.org
    switchboard member add "$EMAIL" "$BEN_EMAIL" --role agent --lines "$OWN" >/dev/null
    export KIM_EMAIL=kim@example.org
    switchboard member add "$EMAIL" "$KIM_EMAIL" --role agent --threads own >/dev/null
}

# Queues a send for tomorrow: queue ID PHONE-NUMBER-ID RECIPIENT
queue() {
    local at=$((EPOCHSECONDS + 86400))000
    db "INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, send_at,
            next_at, expires_at, created_at)
        SELECT '$1', a.user_id, a.id, l.id, '$3', CAST('{}' AS BLOB), 'queued', $at, $at, $at + 1, 1
        FROM line l JOIN account a ON a.id = l.account_id WHERE l.phone_number_id = '$2'"
}

setup() {
    forget_sent
    CALLER=(--as "$KEY") PART=lines
}

# From now on the requests are those of a member who has the line.
be_member() {
    make_session BEN_
    CALLER=(--session "$SESSION")
}

# From now on the requests are those of a member with all lines who does not see the threads of
# colleagues, and all threads of the other line are Ben's.
be_own() {
    local line
    line=$(db "SELECT id FROM line WHERE phone_number_id = '$FOREIGN'")
    db "UPDATE thread SET assignee_id = CASE WHEN line_id = '$line'
        THEN (SELECT id FROM member WHERE email = '$BEN_EMAIL') END"
    make_session KIM_
    CALLER=(--session "$SESSION") PART=threads
    LEAKS=$(grep -vxF -e "$line" -e "$FOREIGN" <<<"$LEAKS")
}

as_key() {
    request "$@" "${CALLER[@]}"
}

# Nothing of the other line, or of the colleague's threads, is in the answer, unless the request has
# named it: assert_no_leak [WORD]
assert_no_leak() {
    local word
    while IFS= read -r word; do
        [[ $word == "${1-}" ]] || ! grep -qF -- "$word" "$body" || fail_answer "it has $word"
    done <<<"$LEAKS"
}

refuses_others() {
    local of_caller='(.requires | index("either"))'
    [[ ${CALLER[0]} == --as ]] || of_caller='(.requires | index("either") or index("session"))'
    is_refused() {
        send_sample "${CALLER[@]}"
        assert_error 403 FORBIDDEN "about all $PART"
        assert_json .details "{\"required\":\"all $PART\"}"
        assert_conventions
        assert_nothing_sent
    }
    each_route is_refused "$of_caller"' and .lines == null
        and (.scope | IN("basic", "read", "send", "inbox"))'
}

# bats test_tags=direct,long
@test "every route that says nothing about lines is 403 for a token with lines" {
    refuses_others
}

# bats test_tags=direct,long
@test "the same routes, and those of sessions, are 403 for a member with lines" {
    be_member
    refuses_others
}

# bats test_tags=direct,long
@test "the same routes are 403 for a member who does not see the threads of colleagues" {
    be_own
    refuses_others
}

hides_ids() {
    local path word count=0
    while read -r path; do
        while IFS= read -r word; do
            as_key GET "${path/:x/$word}"
            [[ $status == 404 ]] || fail_answer "$path with $word"
            assert_no_leak "$word"
            count=$((count + 1))
        done <<<"$LEAKS"
    done < <(jq -r 'select(.lines and (.requires | index("either")) and .method == "GET" and
            .segments != []).path' "$ROUTES" |
        sed 's/:[A-Za-z]*/:x/')
    ((count > 40)) || fail "only $count cases"
}

# bats test_tags=direct,long
@test "every route with lines gives 404 for each id of another line, and shows nothing of it" {
    hides_ids
}

# bats test_tags=direct,long
@test "every route with lines gives a member 404 for each id of another line, and shows nothing of it" {
    be_member
    hides_ids
}

# bats test_tags=direct,long
@test "every such route gives 404 for each id of a colleague's thread, and shows nothing of it" {
    be_own
    hides_ids
}

hides_in_lists() {
    local path query count=0 after
    while read -r path; do
        for query in '' 'limit=1' 'q=zanzibar' 'q=alpha' 'q=Zoe' 'q=Cleo' "q=$THEIRS" 'after=0' \
            'unread=true' 'waiting=true' 'failed=true' 'assignee=none' 'waiting=true&q=Cleo' \
            'archived=all' 'limit=1&unread=true' 'state=queued' "to=$THEIRS"; do
            as_key GET "$path?$query"
            [[ $status == 200 || $status == 400 ]] || fail_answer "$path?$query"
            [[ $query != @(q|to)=* ]] || assert_no_leak "${query#*=}"
            [[ $query == @(q|to)=* ]] || assert_no_leak
            count=$((count + 1))
            after=$(gojq -r '.data.paging.cursors.after // "" | tostring' "$body")
            for ((; ${#after}; count++)); do
                as_key GET "$path?$query&after=$after"
                assert_no_leak
                after=$(gojq -r '.data.paging.cursors.after // "" | tostring' "$body")
            done
        done
    done < <(jq -r 'select(.lines and (.requires | index("either")) and .method == "GET" and
            .segments == []).path' "$ROUTES")
    ((count >= 70)) || fail "only $count cases"
}

# bats test_tags=direct,long
@test "no list, page, count or search of a route with lines shows anything of another line" {
    hides_in_lists
}

# bats test_tags=direct,long
@test "no list, page, count or search shows a member anything of another line" {
    be_member
    hides_in_lists
}

# bats test_tags=direct,long
@test "no list, page, count or search shows a member anything of a colleague's thread" {
    be_own
    hides_in_lists
}

@test "a token with lines lists the threads, contacts, messages and lines that it has" {
    as_key GET /v2/threads
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.own2","wamid.own1"]'
    as_key GET '/v2/threads?limit=1'
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.own2"]'
    as_key GET "/v2/threads?limit=1&after=$(gojq -r .data.paging.cursors.after "$body")"
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.own1"]'
    as_key GET '/v2/threads?waiting=true'
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.own1","wamid.own2"]'
    as_key GET '/v2/threads?q=Cleo'
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.own2"]'
    as_key GET '/v2/contacts'
    assert_json '[.data.items[].name] | sort' '["Ann","Cleo"]'
    as_key GET '/v2/contacts?q=Zoe'
    assert_json '.data.items' '[]'
    as_key GET "/v2/contacts/$(contact_of "$BOTH")"
    assert_json '[.data.threads[].lineId]' "[\"$OWN_LINE\"]"
    as_key GET '/v2/messages?q=alpha'
    assert_json '[.data.items[].wamid]' '["wamid.own1"]'
    as_key GET /v2/messages/wamid.own1
    assert_success
    as_key GET '/v2/changes?after=0'
    assert_json '[.data.threads[].lastMessage.wamid]' '["wamid.own1","wamid.own2"]'
    assert_json '[.data.inbox.unread, .data.inbox.waiting]' '[2,2]'
    as_key GET /v2/lines
    assert_json '[.data.items[].phoneNumberId]' "[\"$OWN\"]"
    as_key GET /v2/me
    assert_json '[.data.phoneNumbers[].phoneNumberId]' "[\"$OWN\"]"
    assert_json .data.defaultPhoneNumberId "\"$OWN\""
}

@test "a search that goes on in a thread of another line compares nothing there" {
    local cursor
    request GET '/v2/messages?q=zanzibar&limit=1' --as "$TOKEN"
    cursor=$(gojq -r .data.paging.cursors.after "$body")
    as_key GET "/v2/messages?q=zanzibar&after=$cursor"
    assert_success
    assert_no_leak zanzibar
    assert_json .data.items '[]'
}

@test "the same wamid on two lines is the message of the line that the token has" {
    LINE=$OWN writes wamid.twice "$OURS" 1780000010 mine Ann
    LINE=$FOREIGN writes wamid.twice "$THEIRS" 1780000011 other Zoe
    as_key GET /v2/messages/wamid.twice
    assert_success
    assert_json .data.lineId "\"$OWN_LINE\""
}

@test "a line that is added later is not a line of the token" {
    make_line ''
    as_key GET /v2/lines
    assert_json '[.data.items[].phoneNumberId]' "[\"$OWN\"]"
}

# What a request could change of a thread or its contact.
state_of() { # THREAD-ID
    db "SELECT t.*, (SELECT count(*) FROM note n WHERE n.thread_id = t.id) FROM thread t
        WHERE t.id = '$1'; SELECT count(*) FROM outgoing
        WHERE state = 'cancelled' OR retry_of IS NOT NULL; SELECT count(*) FROM contact_block"
}

# Each route that changes a thread, a note in it or its contact, by each id of the other line.
changes_no_other() {
    local thread before
    thread=$(db "SELECT thread_id FROM message WHERE wamid = 'wamid.foreign1'")
    db "INSERT INTO note (id, user_id, thread_id, text, by_id, created_at)
        SELECT 'not_foreign', user_id, id, 'x', 'mbr_x', 1 FROM thread WHERE id = '$thread'
        ON CONFLICT (id) DO NOTHING"
    before=$(state_of "$thread")
    is_hidden() {
        local word rest=${route#*:}
        [[ $url != *out_sample* ]] || db "UPDATE outgoing SET recipient = '$THEIRS', line_id =
            (SELECT id FROM line WHERE phone_number_id = '$FOREIGN')"
        while IFS= read -r word; do
            url=${route%%:*}$word${rest#"${rest%%/*}"}
            send_sample "${CALLER[@]}"
            assert_error 404 NOT_FOUND
            assert_conventions
            assert_no_leak "$word"
        done <<<"$LEAKS"$'\nnot_foreign\nout_sample'
        assert_equal "$(state_of "$thread")" "$before"
    }
    each_route is_hidden '(.lines | IN("by thread", "by contact")) and .method != "GET"'
    as_key GET "/v2/threads/$thread/notes"
    assert_error 404 NOT_FOUND
}

# bats test_tags=direct,long
@test "no token with lines changes a thread of another line, or a note in it" {
    changes_no_other
}

# bats test_tags=direct,long
@test "no member with lines changes a thread of another line, or a note in it" {
    be_member
    changes_no_other
}

# bats test_tags=direct,long
@test "no member changes a colleague's thread, or a note in it" {
    be_own
    changes_no_other
}

@test "a member with lines works in an own thread: takes it, writes a note, marks it as done" {
    local thread note member change
    be_member
    thread=$(db "SELECT thread_id FROM message WHERE wamid = 'wamid.own1'")
    member=$(db "SELECT id FROM member WHERE email = '$BEN_EMAIL'")
    as_key PUT "/v2/threads/$thread/assignee" -d "{\"memberId\":\"$member\",\"from\":null}"
    assert_json .data.assignee.id "\"$member\""
    as_key POST "/v2/threads/$thread/notes" -d '{"text":"Wants an invoice."}'
    assert_success
    note=$(gojq -r .data.id "$body")
    as_key GET "/v2/threads/$thread/notes"
    assert_json '[.data.items[].id]' "[\"$note\"]"
    as_key DELETE "/v2/notes/$note"
    assert_success
    as_key POST "/v2/threads/$thread/read" -d '{}'
    assert_json .data.unread 0
    as_key POST "/v2/threads/$thread/unread" -d '{}'
    assert_json .data.unread 1
    as_key PUT "/v2/threads/$thread/typing" -d '{}'
    assert_success
    as_key GET "/v2/threads/$thread"
    change=$(gojq .data.change "$body")
    as_key POST "/v2/threads/$thread/done" -d "{\"change\":$change}"
    assert_json .data.waitingSince null
    as_key DELETE "/v2/threads/$thread/done"
    assert_success
    as_key GET /v2/replies
    assert_success
}

# The lines that have a block of the contact of both lines, by their platform's ids.
blocked_lines() {
    db "SELECT l.phone_number_id FROM contact_block b JOIN line l ON l.id = b.line_id
        WHERE b.contact_id = '$contact' ORDER BY l.phone_number_id = '$FOREIGN'" | xargs
}

blocks_on_own() {
    local contact path
    contact=$(contact_of "$BOTH") path=/v2/contacts/$(contact_of "$BOTH")/block
    as_key PUT "$path" -d "{\"phoneNumberId\":\"$FOREIGN\"}"
    assert_error 404 NOT_FOUND 'no line with this phoneNumberId'
    as_key PUT "$path" -d '{}'
    assert_success
    assert_conventions
    assert_json '[.data.blocks[].lineId]' "[\"$OWN_LINE\"]"
    assert_equal "$(blocked_lines)" "$OWN"
    api PUT "$path" -d "{\"phoneNumberId\":\"$FOREIGN\"}"
    assert_equal "$(blocked_lines)" "$OWN $FOREIGN"
    as_key GET "${path%/block}"
    assert_json '[.data.blocks[].lineId]' "[\"$OWN_LINE\"]"
    as_key DELETE "$path?phoneNumberId=$FOREIGN"
    assert_error 404 NOT_FOUND 'no line with this phoneNumberId'
    as_key DELETE "$path"
    assert_json .data.blocks '[]'
    assert_equal "$(blocked_lines)" "$FOREIGN"
    as_key PUT "$path" -d "{\"phoneNumberId\":\"$OWN\"}"
    assert_equal "$(blocked_lines)" "$OWN $FOREIGN"
    as_key DELETE "$path?phoneNumberId=$OWN"
    assert_equal "$(blocked_lines)" "$FOREIGN"
    api DELETE "$path"
    assert_equal "$(blocked_lines)" ''
}

@test "a token with lines blocks a contact on these, and leaves and shows no block of another line" {
    blocks_on_own
}

@test "a member with lines blocks a contact on these, and leaves and shows no block of another line" {
    be_member
    blocks_on_own
}

@test "a caller with lines lists, shows and cancels the queued sends of these" {
    queue out_own "$OWN" "$OURS"
    local who
    for who in token member; do
        [[ $who == token ]] || be_member
        as_key GET /v2/outgoing
        assert_json '[.data.items[].id]' '["out_own"]'
        as_key GET "/v2/outgoing?to=$OURS"
        assert_json '[.data.items[].id]' '["out_own"]'
        as_key GET "/v2/outgoing?phoneNumberId=$FOREIGN"
        assert_error 403 FORBIDDEN
    done
    as_key DELETE /v2/outgoing/out_own
    assert_json .data.state '"cancelled"'
}

@test "a caller with lines lists the templates of the accounts of these, and of no other account" {
    local other
    switchboard account add "$EMAIL" --waba-id 990001 --name Other <<<"$PLATFORM_TOKEN" >/dev/null
    other=$(db "SELECT id FROM account WHERE waba_id = '990001'")
    as_key GET /v2/templates
    assert_success
    as_key GET "/v2/templates?accountId=$ACCOUNT"
    assert_success
    as_key GET "/v2/templates?accountId=$other"
    assert_error 403 FORBIDDEN accountId
    as_key GET "/v2/templates?phoneNumberId=$FOREIGN"
    assert_error 403 FORBIDDEN
    as_key GET /v2/me
    ! grep -qF "$other" "$body" || fail_answer 'it has the other account'
}

# --- the choice ---

@test "POST and PATCH /v2/tokens choose lines of the user, which count from the answer on" {
    local id key
    make_session ''
    request POST /v2/tokens --session "$SESSION" -d "{\"name\":\"x\",\"scopes\":[\"basic\"],
        \"lineIds\":[\"$OWN_LINE\"]}"
    assert_success
    assert_conventions
    assert_json .data.lineIds "[\"$OWN_LINE\"]"
    id=$(gojq -r .data.id "$body") key=$(gojq -r .data.token "$body")
    keep_secret 'scoped token' "$key"
    request GET /v2/lines --as "$key"
    assert_json '.data.items | length' 1
    request PATCH "/v2/tokens/$id" --session "$SESSION" -d '{"name":"y"}'
    assert_json '[.data.name, .data.lineIds[0]]' "[\"y\",\"$OWN_LINE\"]"
    request PATCH "/v2/tokens/$id" --session "$SESSION" -d '{"lineIds":null}'
    assert_json .data.lineIds null
    request GET /v2/lines --as "$key"
    assert_that '.data.items | length > 1'
}

@test "a token with lines has neither the scope events nor manage, and no line of another user" {
    local change
    make_session ''
    for change in '"scopes":["events"],"lineIds":["'"$OWN_LINE"'"]' \
        '"scopes":["basic","manage"],"lineIds":["'"$OWN_LINE"'"]' \
        '"scopes":["basic"],"lineIds":["'"$OWN_LINE"'","'"$OWN_LINE"'"]' \
        '"scopes":["basic"],"lineIds":["lin_none"]' '"scopes":["basic"],"lineIds":[]'; do
        request POST /v2/tokens --session "$SESSION" -d "{\"name\":\"x\",$change}"
        assert_error 400 VALIDATION_ERROR
    done
    request POST /v2/tokens --session "$SESSION" -d '{"name":"x","scopes":["events"]}'
    assert_success
    request PATCH "/v2/tokens/$(gojq -r .data.id "$body")" --session "$SESSION" \
        -d "{\"lineIds\":[\"$OWN_LINE\"]}"
    assert_error 400 VALIDATION_ERROR
    fails_with 'neither the scope events nor manage' \
        scoped-token add "$EMAIL" --name x --scope events --lines "$OWN"
    fails_with 'has no line 999' scoped-token add "$EMAIL" --name x --scope basic --lines 999
}

@test "two changes at once that leave lines and the scope manage give no right over all lines" {
    db "UPDATE scoped_token SET scopes = 'basic read send inbox events manage'
        WHERE hash = $(hash_of "$KEY")"
    as_key GET /v2/webhooks
    assert_error 403 FORBIDDEN 'the scope events'
    as_key PATCH "/v2/lines/$OWN_LINE" -d '{"name":"x"}'
    assert_error 403 FORBIDDEN 'the scope manage'
    db "UPDATE scoped_token SET scopes = 'basic read send inbox' WHERE hash = $(hash_of "$KEY")"
}

@test "the Graph API is 403 with code 10 for a token with lines" {
    as_key GET "/v21.0/$OWN?fields=id"
    assert_graph_error 403 10 OAuthException 'about all lines'
}

# Uploads a file from the own line, and lets a message have it: gives_file WAMID. Sets `media`.
gives_file() {
    printf '\xff\xd8\xff\xe0\x00\x10JFIF %s' "$1" >"$BATS_TEST_TMPDIR/$1"
    as_key POST /v2/media/upload -H 'Content-Type: image/jpeg' -H "phoneNumberId: $OWN" \
        -d "@$BATS_TEST_TMPDIR/$1"
    assert_success
    media=$(gojq -r .data.mediaId "$body")
    db "UPDATE message SET type = 'image',
        body = CAST('{\"type\":\"image\",\"image\":{\"id\":\"$media\"}}' AS BLOB)
        WHERE wamid = '$1'"
}

shows_own_files() {
    local media own ids=()
    gives_file wamid.own1
    own=$media
    gives_file wamid.foreign1
    mapfile -t ids < <(db "SELECT id FROM message WHERE wamid IN ('wamid.own1', 'wamid.own2',
        'wamid.foreign1') ORDER BY wamid = 'wamid.own1' DESC, wamid")
    as_key GET "/v2/media/$own/download?messageId=${ids[0]}"
    assert_status 200
    cmp "$body" "$BATS_TEST_TMPDIR/wamid.own1"
    for path in "$own/download" "$own/download?messageId=msg_none" \
        "$own/download?messageId=${ids[1]}" "$own/download?messageId=${ids[2]}" \
        "$media/download?messageId=${ids[0]}" "$media/download?messageId=${ids[1]}" \
        "$media/download?messageId=${ids[1]}&phoneNumberId=$FOREIGN" "$media/download"; do
        as_key GET "/v2/media/$path"
        assert_error 404 NOT_FOUND 'Media URL not found'
    done
    api GET "/v2/media/$media/download?messageId=${ids[1]}"
    assert_status 200
    api GET "/v2/media/$media/download?messageId=${ids[0]}"
    assert_error 404 NOT_FOUND 'the message has not this file'
    api GET "/v2/media/$media/download"
    assert_status 200
}

@test "a file is 404 for a token with lines but by a message of them that has it" {
    shows_own_files
}

@test "a file is 404 for a member with lines but by a message of them that has it" {
    be_member
    shows_own_files
}

@test "a file is 404 for a member but by a message of an own or unassigned thread that has it" {
    be_own
    shows_own_files
}

# --- sends, which come last: they make threads ---

# The bodies that send the file: a free-form message, one of cards, and templates with a header.
bodies_with() { # MEDIA-ID
    local base="\"phoneNumberId\":\"$OWN\",\"to\":\"$OURS\"" card header template
    local media="\"media\":{\"type\":\"image\",\"mediaId\":\"$1\"}"
    card="{$media,\"url\":\"https://example.org\",\"buttonText\":\"x\"}"
    template="$base,\"templateName\":\"greeting\",\"language\":\"en_US\""
    printf '/v2/messages/send/media\t%s\n' "{$base,$media}"
    printf '/v2/messages/send\t%s\n' "{$base,\"sticker\":{\"mediaId\":\"$1\"}}" \
        "{$base,\"bodyText\":\"x\",\"mediaCards\":[${card//"$1"/7001},$card]}"
    for header in "{\"id\":\"$1\"}" "{\"id\":$1}" "{\"id\":\"$1\",\"id\":\"7001\"}"; do
        header="{\"type\":\"header\",\"parameters\":[{\"type\":\"image\",\"image\":$header}]}"
        printf '/v2/templates/send\t%s\n' "{$template,\"components\":[$header]}"
    done
}

# Lets a line receive a file, by an update of the platform.
receives_file() { # MEDIA-ID LINE WAMID
    local LINE=$2
    take "$(payload "$(change messages "\"messages\":[{\"from\":\"$BOTH\",
        \"id\":\"$3\",\"timestamp\":\"1780000020\",\"type\":\"image\",
        \"image\":{\"id\":\"$1\",\"mime_type\":\"image/png\"}}]")")"
}

# Lets the platform have the file.
have_file() { # MEDIA-ID
    sandbox POST media "{\"wabaId\":\"$WABA\",\"id\":\"$1\",\"mimeType\":\"image/png\",
        \"size\":10}" >/dev/null
}

sends_no_foreign_file() {
    local path body_ count=0 queued
    queued=$(db 'SELECT count(*) FROM outgoing')
    receives_file 7201 "$FOREIGN" wamid.file1
    db "INSERT INTO heartbeat (name, pid, beat_at)
        VALUES ('sender', 1, $((EPOCHSECONDS + 86400))000) ON CONFLICT DO NOTHING"
    while IFS=$'\t' read -r path body_; do
        as_key POST "$path" -d "$body_"
        assert_error 403 FORBIDDEN 'of messages that the caller does not see'
        assert_conventions
        as_key POST "$path" -d "$body_" -H 'Prefer: respond-async'
        assert_error 403 FORBIDDEN 'of messages that the caller does not see'
        count=$((count + 1))
    done < <(bodies_with 7201)
    assert_equal "$count" 6
    assert_nothing_sent
    assert_equal "$(db 'SELECT count(*) FROM outgoing')" "$queued"
}

@test "a token with lines sends no file that only messages on other lines have" {
    sends_no_foreign_file
}

@test "a member with lines sends no file that only messages on other lines have" {
    be_member
    sends_no_foreign_file
}

@test "a caller with lines sends its own files, those of no message, and those of both lines" {
    local send id body_ media="\"media\":{\"type\":\"image\",\"mediaId\":\"%s\"}"
    send="{\"phoneNumberId\":\"$OWN\",\"to\":\"$OURS\",$media}"
    receives_file 7202 "$OWN" wamid.file2
    for id in 7202 7203; do
        have_file "$id"
        # shellcheck disable=SC2059  # the format is ours
        as_key POST /v2/messages/send/media -d "$(printf "$send" "$id")"
        assert_success
    done
    have_file 7204
    # shellcheck disable=SC2059
    body_=$(printf "$send" 7204)
    api POST /v2/messages/send/media -d "${body_//"$OWN"/"$FOREIGN"}"
    assert_success
    as_key POST /v2/messages/send/media -d "$body_"
    assert_error 403 FORBIDDEN 'of messages that the caller does not see'
    api POST /v2/messages/send/media -d "$body_"
    assert_success
    as_key POST /v2/messages/send/media -d "$body_"
    assert_success
}

sends_from_own() {
    LINE=$FOREIGN
    is_refused() {
        send_sample "${CALLER[@]}"
        assert_error 403 FORBIDDEN 'phoneNumberId'
        assert_nothing_sent
        sample=${sample//"$FOREIGN"/"$OWN"}
        LINE=$OWN send_sample "${CALLER[@]}"
        [[ $status != 403 ]] || fail_answer 'expected that the own line passes'
        forget_sent
    }
    each_route is_refused '.lines == "by body"'
}

# bats test_tags=direct,long
@test "every route by body is 403 for a line that the token has not, and sends nothing" {
    sends_from_own
}

# bats test_tags=direct,long
@test "every route by body is 403 for a line that the member has not, and sends nothing" {
    be_member
    sends_from_own
}

# bats test_tags=direct,long
@test "every route by body is 403 for a person whose thread is a colleague's, and sends nothing" {
    be_own
    LINE=$OWN
    writes wamid.x= 15550007000 1780000020 hello Ann
    db "UPDATE thread SET assignee_id = (SELECT id FROM member WHERE email = '$BEN_EMAIL')
        WHERE id = '$(thread_of 15550007000)';
        INSERT INTO heartbeat (name, pid, beat_at)
        VALUES ('sender', 1, $((EPOCHSECONDS + 86400))000) ON CONFLICT DO NOTHING;
        DELETE FROM outgoing;
        UPDATE message SET media_id = NULL" # else the file of a sample is one of other messages
    is_refused() {
        [[ $kind != file ]] || return 0 # an upload is for no person
        send_sample "${CALLER[@]}"
        assert_error 403 FORBIDDEN 'The thread with this person is assigned to a colleague.'
        send_sample "${CALLER[@]}" -H 'Prefer: respond-async'
        assert_error 403 FORBIDDEN 'is assigned to a colleague'
        assert_nothing_sent
        assert_equal "$(db 'SELECT count(*) FROM outgoing')" 0
        sample=${sample//15550007000/15550007001} sample=${sample//wamid.x=/wamid.y=}
        send_sample "${CALLER[@]}"
        [[ $status != 403 ]] || fail_answer 'expected that a new person passes'
        forget_sent
    }
    each_route is_refused '.lines == "by body"'
}
