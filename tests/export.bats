#!/usr/bin/env bats
# Export of a person: POST /v2/contacts/:contactId/export and `switchboard contact export`, and of a
# user: POST /v2/export and `switchboard user export` (doc/operation.md)
# transports: direct
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user and make_person set variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/courier
load helpers/inbox
load helpers/person
load helpers/session
load helpers/members
load helpers/memory

# Exports the contact by the API: the document is in $document.
export_contact() { # [ID]
    document=$BATS_TEST_TMPDIR/document
    api POST "/v2/contacts/${1-$contact}/export" -H 'X-Request-Id: export-1'
    assert_success
    jq .data "$body" >"$document"
}

# Asserts on the document: in_document EXPRESSION
in_document() {
    gojq -e "$1" "$document" >/dev/null 2>&1 || jq -e "$1" "$document" >/dev/null ||
        fail "$1: $(jq -c . "$document")"
}

@test "an export needs the scope manage, a contact of the workspace, and one that is not erased" {
    local own token
    make_user OTHER_
    make_user
    writes wamid.1 $A "$NOW"
    own=$(contact_of $A)
    api POST /v2/contacts/con_none/export
    assert_error 404 NOT_FOUND 'There is no contact with this id'
    request POST "/v2/contacts/$own/export" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    token=$(switchboard scoped-token add "$EMAIL" --name n --scope 'basic read send inbox events' --json | jq -r .token)
    request POST "/v2/contacts/$own/export" --as "$token"
    assert_error 403 FORBIDDEN
    assert_that '.details.required == "manage"'
    run switchboard contact export con_none
    assert_equal "$status" 1
    [[ $output == *'there is no contact con_none'* ]] || fail "$output"
    assert_equal "$(db "SELECT count(*) FROM trail WHERE action = 'contact.export'")" 0
    api POST "/v2/contacts/$own/erase" -d "{\"confirm\":\"$own\"}"
    api POST "/v2/contacts/$own/export"
    assert_error 404 NOT_FOUND
    run switchboard contact export "$own"
    assert_equal "$status" 1
    assert_equal "$(db "SELECT count(*) FROM trail WHERE action = 'contact.export'")" 0
}

@test "an export has all that is held of the person byte for byte, nothing of another person, and no secret" {
    local document
    make_person
    courier --once # the deliveries fail: nothing listens
    take "$(payload "$(account_change unknown_field "{\"from\":\"$OTHER\",\"to\":\"$A\"}")")"
    take "$(payload "$(account_change unknown_field "{\"from\":\"$OTHER\"}")")"
    take "$(payload "$(change messages "\"messages\":[{\"from\":\"$A\",\"from_user_id\":\"$USER_ID\",\"id\":\"wamid.picture\",
        \"timestamp\":\"$((NOW + 1000))\",\"type\":\"image\",\"image\":{\"id\":\"7001\",\"n\":1.50e1,\"s\":\"\\u0041\\/\"}}]")")"
    db "UPDATE delivery SET state = 'done' WHERE event_id IN (SELECT id FROM event WHERE type = 'message.received')"
    export_contact
    assert_conventions streamed
    assert_header Content-Disposition "attachment; filename=\"$contact.json\""
    in_document ".format == 1 and .isComplete and .account.id == \"$ACCOUNT\" and .account.wabaId == \"$WABA\""
    in_document ".contact | .id == \"$contact\" and .phone == \"$A\" and .userId == \"$USER_ID\" and .name == \"Xochitl Erased\"
        and .heldAt == null and (.threads | length == 1 and .[0].id == \"$(thread_of $A)\" and .[0].phoneNumberId == \"$LINE\")
        and (.identities | any(.phone == \"$A\" and .userId == \"$USER_ID\")) and (.leads | map(.source) == [\"new_contact\"])"
    assert_equal "$(filter -c '[.messages[] | [.wamid, .direction, .type, .media]]' "$document")" \
        "[[\"$(wamid_of $A 1)\",\"in\",\"text\",null],[\"$sent\",\"out\",\"text\",null],[\"wamid.picture\",\"in\",\"image\",{\"id\":\"7001\",\"path\":\"/v2/media/7001/download\"}]]"
    in_document ".messages[0].body.text.body == \"$WORDS\""
    grep -qF '"image":{"id":"7001","n":1.50e1,"s":"\u0041\/"}' "$body"
    in_document '.messages[1].statuses | length == 1 and .[0].status == "delivered" and .[0].body.recipient_id == "'$A'"'
    in_document '.messages[0].statuses == []'
    in_document '[.messages[].copies] == [[], [], []]'
    in_document '.contact.notes | length == 1 and .[0].text == "'"$WORDS"', says a note" and .[0].threadId == "'"$(thread_of $A)"'"'
    in_document '.contact.threads[0].assigneeId == null and ([.messages[].byName] | all(. == null))'
    # events, as they were sent, with their deliveries, and who received them
    assert_equal "$(filter -c '[.events[].type] | group_by(.) | map([.[0], length])' "$document")" \
        '[["lead.created",1],["message.received",2],["message.status",1]]'
    in_document '.events | all(.body.data.contact.id == "'"$contact"'" and (.deliveries | length == 1)
        and .contactId == "'"$contact"'" and .lineId != null and .isForward == false)'
    in_document '.recipients | map([.kind, .host]) | sort == [["event","127.0.0.1:9"],["forward","127.0.0.1:9"]]'
    # raw updates: without the body where they name another person
    assert_equal "$(filter -c '[.updates[] | [.field, .body != null]] | sort' "$document")" \
        '[["unknown_field",false],["unknown_field",true],["user_preferences",true]]'
    if grep -F -e $OTHER -e 'Hello from another' -e test-code -e "$TOKEN" -e '/hook' "$document"; then
        fail 'the export has what is not of the person'
    fi
    # the command prints the same document
    switchboard contact export "$contact" >"$BATS_TEST_TMPDIR/printed"
    assert_equal "$(jq -c 'del(.exportedAt)' "$BATS_TEST_TMPDIR/printed")" "$(jq -c 'del(.exportedAt)' "$document")"
    assert_equal "$(db "SELECT actor || ' ' || request_id FROM trail WHERE action = 'contact.export'
        AND object_id = '$contact' ORDER BY id" | sed 's/^cli:[^ ]*/cli:NAME/')" $'token export-1\ncli:NAME '
}

@test "a contact that was merged into another is exported with it, with its events and former identities" {
    local document former
    make_user
    make_webhook
    writes wamid.1 $A "$NOW" 'By phone'
    former=$(contact_of $A)
    take "$(payload "$(change messages "\"messages\":[{\"from_user_id\":\"$USER_ID\",\"id\":\"wamid.2\",
        \"timestamp\":\"$NOW\",\"type\":\"text\",\"text\":{\"body\":\"By id\"}}]")")"
    take "$(payload "$(inbound wamid.3 $A $USER_ID)")"
    assert_equal "$(db "SELECT count(*) FROM contact WHERE account_id = '$ACCOUNT'")" 1
    contact=$(contact_of $A)
    [[ $contact != "$former" ]] || former=$(db 'SELECT merged_id FROM contact_merge WHERE merged_id IS NOT NULL')
    export_contact "$former"
    in_document ".contact.id == \"$contact\" and (.contact.merges | any(.contactId == \"$former\"))"
    in_document '[.messages[].wamid] | sort == ["wamid.1", "wamid.2", "wamid.3"]'
    in_document '[.events[].body.data.contact.id] | unique | sort == (["'"$contact"'", "'"$former"'"] | sort)'
    in_document '.contact.formerThreads | length == 1'
}

@test "a change of number is exported, and the change of another person who had the number before is not" {
    local document
    make_user
    writes wamid.1 $OTHER 1779999000
    take "$(payload "$(system wamid.s1 $OTHER '"type":"user_changed_number","wa_id":"15550009999"')")"
    writes wamid.2 $A 1780000100
    take "$(payload "$(system wamid.s2 $A "\"type\":\"user_changed_number\",\"wa_id\":\"$OTHER\"" | sed s/1780000000/1780000200/)")"
    writes wamid.3 $OTHER 1780000300
    contact=$(contact_of $OTHER)
    export_contact
    assert_equal "$(filter -c '[.contact.identityChanges[] | [.oldPhone, .newPhone]]' "$document")" "[[\"$A\",\"$OTHER\"]]"
    if grep -F 15550009999 "$document"; then
        fail 'the number of another person'
    fi
}

# bats test_tags=long
@test "an export that cannot be ended is no valid JSON, and the log says why" {
    make_person
    db 'ALTER TABLE platform_update RENAME TO away'
    api POST "/v2/contacts/$contact/export"
    assert_status 200
    db 'ALTER TABLE away RENAME TO platform_update'
    if jq . "$body" >/dev/null 2>&1; then
        fail 'the document seems to be complete'
    fi
    log_of_request | jq -e '.status == 200 and (.error | length > 0)' >/dev/null
    : >"$LOG"
}

# Adds messages to the thread of the contact: add_messages COUNT
add_messages() {
    db "INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status, status_at, timestamp, body, created_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
        SELECT 'msg_more' || (100000 + i), t.user_id, t.id, t.line_id, 'wamid.more' || i, 'in', 'webhook', 'text', 'received', i, i / 3,
        CAST('{\"text\":{\"body\":\"' || i || '$(printf 'x%.0s' {1..700})\"}}' AS BLOB), i FROM n, thread t
        WHERE t.id = '$(thread_of $A)'"
}

# bats test_tags=long
@test "an export of many messages has each of them once, in their order, in pages of constant memory" {
    local few many
    make_user
    writes wamid.1 $A "$NOW"
    contact=$(contact_of $A)
    add_messages 500
    few=$("$HELPERS/peak" "$OUT/tools/switchboard" contact export "$contact")
    db "DELETE FROM message WHERE id LIKE 'msg_more%'"
    add_messages 20000
    many=$("$HELPERS/peak" "$OUT/tools/switchboard" contact export "$contact")
    # the sanitizer keeps what is freed
    [[ -n ${ASAN_OPTIONS-} ]] || ((many < few + 2048)) || fail "$few KB with 500 messages, $many KB with 20000"
    switchboard contact export "$contact" >"$BATS_TEST_TMPDIR/printed"
    assert_equal "$(filter -c '[.messages[].timestamp] | [length, . == sort]' "$BATS_TEST_TMPDIR/printed")" '[20001,true]'
    assert_equal "$(filter '[.messages[].id] | unique | length' "$BATS_TEST_TMPDIR/printed")" 20001
    : >"$BATS_TEST_TMPDIR/printed"
    db "DELETE FROM message WHERE id LIKE 'msg_more%'"
}

@test "an export of a person who is erased meanwhile fails, and is no valid JSON" {
    local fifo=$BATS_TEST_TMPDIR/fifo code=0 pid
    make_user
    writes wamid.1 $A "$NOW"
    contact=$(contact_of $A)
    add_messages 3000
    mkfifo "$fifo"
    "$OUT/tools/switchboard" contact export "$contact" >"$fifo" 2>"$BATS_TEST_TMPDIR/problem" &
    pid=$!
    exec 7<"$fifo"
    head -c 1000 <&7 >"$BATS_TEST_TMPDIR/printed" # more than 2 MB follow: the command waits
    switchboard contact erase "$contact" >/dev/null
    cat <&7 >>"$BATS_TEST_TMPDIR/printed"
    exec 7<&-
    wait "$pid" || code=$?
    assert_equal "$code $(cat "$BATS_TEST_TMPDIR/problem")" "1 switchboard: there is no contact $contact; \`switchboard contact list\` shows all"
    if grep -q isComplete "$BATS_TEST_TMPDIR/printed" || jq . "$BATS_TEST_TMPDIR/printed" >/dev/null 2>&1; then
        fail 'the document seems to be complete'
    fi
    db "DELETE FROM message WHERE id LIKE 'msg_more%'"
}

# --- a user ---

# bats test_tags=long
@test "an export of a user has all rows of the user in files, none of another user, and no secret" {
    local dir=$BATS_TEST_TMPDIR/export
    make_user OTHER_
    make_person
    courier --once
    switchboard contact export "$contact" >"$BATS_TEST_TMPDIR/person"
    run switchboard user export "$EMAIL" "$dir"
    assert_equal "$status" 0
    [[ $output =~ ^"$dir: "[0-9]+' rows in 12 files'$ ]] || fail "$output"
    assert_equal "$(stat -c %a "$dir" "$dir/contacts.jsonl" | xargs)" '700 600'
    jq -e --arg user "$(user_id)" '.isComplete and .user == $user' "$dir/progress.json" >/dev/null
    # the rows of the person are those of its own export
    assert_equal "$(jq -cS --arg id "$contact" 'select(.id == $id)' "$dir/contacts.jsonl")" \
        "$(jq -cS .contact "$BATS_TEST_TMPDIR/person")"
    assert_equal "$(jq -cS --arg id "$(thread_of $A)" 'select(.threadId == $id)' "$dir/messages.jsonl")" \
        "$(jq -cS '.messages[]' "$BATS_TEST_TMPDIR/person")"
    assert_equal "$(wc -l <"$dir/contacts.jsonl") $(wc -l <"$dir/messages.jsonl")" '2 3'
    assert_equal "$(jq -r .wabaId "$dir/accounts.jsonl") $(jq -r .phoneNumberId "$dir/lines.jsonl")" "$WABA $LINE"
    assert_equal "$(jq -r .email "$dir/members.jsonl")" "$EMAIL"
    assert_equal "$(jq -c '[.kind, .host]' "$dir/webhooks.jsonl" | sort | xargs)" '[event,127.0.0.1:9] [forward,127.0.0.1:9]'
    assert_equal "$(jq -s 'map(select(.isForward | not)) | length' "$dir/events.jsonl")" \
        "$(db "SELECT count(*) FROM event WHERE user_id = '$(user_id)' AND is_forward = 0")"
    assert_equal "$(wc -l <"$dir/updates.jsonl")" "$(db "SELECT count(*) FROM platform_update WHERE account_id = '$ACCOUNT'")"
    assert_equal "$(jq -r .action "$dir/trail.jsonl" | tail -1)" user.export
    if grep -rF -e test-code -e "$TOKEN" -e "$OTHER_ACCOUNT" -e "$OTHER_EMAIL" "$dir"; then
        fail 'the export has what is not of the user'
    fi
    # what is there is not overwritten
    run switchboard user export "$EMAIL" "$dir"
    assert_equal "$status $output" "1 switchboard: $dir has a complete export: name a new directory"
    mkdir "$BATS_TEST_TMPDIR/used" && : >"$BATS_TEST_TMPDIR/used/file"
    run switchboard user export "$EMAIL" "$BATS_TEST_TMPDIR/used"
    assert_equal "$status" 1
    [[ $output == *'has other files'* ]] || fail "$output"
    # one that broke off goes on for its user alone, and not if a file is gone
    sed -i 's/"file":12,"size":0/"file":7,"size":9000000/' "$dir/progress.json"
    run switchboard user export "$OTHER_EMAIL" "$dir"
    [[ $output == *'is not of an export of this user' ]] || fail "$output"
    run switchboard user export "$EMAIL" "$dir"
    [[ $output == *'/messages.jsonl is shorter than it was' ]] || fail "$output"
    # an erased person is in no later export
    switchboard contact erase "$contact" >/dev/null
    assert_equal "$(jq -c .lineIds "$dir/members.jsonl")" null
    db "UPDATE membership SET role = 'agent', line_ids = 'lin_1 lin_2' WHERE user_id = '$(user_id)'"
    switchboard user export "$EMAIL" "$BATS_TEST_TMPDIR/later" >/dev/null
    assert_equal "$(jq -c .lineIds "$BATS_TEST_TMPDIR/later/members.jsonl")" '["lin_1","lin_2"]'
    assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/later/contacts.jsonl") $(wc -l <"$BATS_TEST_TMPDIR/later/messages.jsonl")" '1 1'
}

# Exports the workspace in a session of the owner: the document is in $document.
export_workspace() {
    document=$BATS_TEST_TMPDIR/document
    make_session ''
    request POST /v2/export -d '{}' --session "$SESSION"
    assert_success
    jq .data "$body" >"$document"
}

# bats test_tags=long
@test "POST /v2/export answers the rows that the command writes, leaves a row in the trail, and has no secret" {
    local dir=$BATS_TEST_TMPDIR/files name
    make_user OTHER_
    make_person
    courier --once
    switchboard user export "$EMAIL" "$dir" >/dev/null
    export_workspace
    assert_conventions streamed
    assert_header Content-Disposition "attachment; filename=\"$(user_id).json\""
    in_document ".format == 1 and .isComplete and .user == {id: \"$(user_id)\", email: \"$EMAIL\"}"
    for name in accounts lines members webhooks templates forms contacts messages events updates trail optOuts; do
        jq -cS ".${name}[]" "$document" >"$BATS_TEST_TMPDIR/rows"
        [[ $name != trail ]] || sed -i '/workspace.export/d' "$BATS_TEST_TMPDIR/rows"
        assert_equal "$name $(cat "$BATS_TEST_TMPDIR/rows")" "$name $(jq -cS . "$dir/$name.jsonl")"
    done
    in_document '(.contacts | length) == 2 and (.messages | length) == 3'
    in_document '[.trail[] | select(.action == "workspace.export")] | length == 1'
    if grep -F -e test-code -e "$TOKEN" -e "$OTHER_ACCOUNT" -e "$OTHER_EMAIL" "$document"; then
        fail 'the export has what is not of the user'
    fi
    # a person who is being erased is not in it
    switchboard contact erase "$contact" >/dev/null
    export_workspace
    in_document '(.contacts | length) == 1 and (.messages | length) == 1'
}

@test "POST /v2/export is for an owner with a new or confirmed login alone" {
    local role
    make_user
    api POST /v2/export -d '{}'
    assert_status 401
    for role in viewer agent admin; do
        has_member "M$role" "$role"
        request POST /v2/export -d '{}' --session "$SESSION"
        assert_error 403 FORBIDDEN 'the scope owner'
    done
    make_session '' 700
    request POST /v2/export -d '{}' --session "$SESSION"
    assert_error 403 FORBIDDEN
    assert_json .details '{"required":"confirmation"}'
    assert_equal "$(db "SELECT count(*) FROM trail WHERE action = 'workspace.export' AND user_id = '$(user_id)'")" 0
}

# Whether the watcher saw the program while it exported.
export_is_seen() {
    export_workspace
    (($(cat "$memory") > 4000))
}

# bats test_tags=route,long
@test "POST /v2/export of many messages has each of them once, in constant memory" {
    local messages=20000
    make_user
    make_line ''
    writes wamid.1 $A "$NOW"
    add_messages "$messages"
    watch_memory inbox_write
    eventually export_is_seen
    assert_memory
    in_document "(.messages | length) == $((messages + 1)) and ([.messages[].id] | unique | length) == $((messages + 1))"
    # one that cannot be ended is no valid JSON
    db 'ALTER TABLE platform_update RENAME TO away'
    make_session ''
    request POST /v2/export -d '{}' --session "$SESSION"
    db 'ALTER TABLE away RENAME TO platform_update'
    assert_status 200
    if jq . "$body" >/dev/null 2>&1; then
        fail 'the document seems to be complete'
    fi
    db "DELETE FROM message WHERE id LIKE 'msg_more%'"
    : >"$LOG"
}

# bats test_tags=long
@test "an export of a user that is killed at any point goes on where it was, and has the same bytes" {
    local dir=$BATS_TEST_TMPDIR point=1 code killed=0
    make_user
    make_line ''
    writes wamid.1 $A "$NOW"
    writes wamid.2 $OTHER "$NOW"
    add_messages 20000
    switchboard user export "$EMAIL" "$dir/whole" >/dev/null
    rm "$dir/whole"/{trail,events}.jsonl "$dir/whole/progress.json"
    while :; do
        code=0
        env ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"} \
            strace -qq -f -o /dev/null -e trace=fsync -e inject="fsync:signal=KILL:when=$point" \
            "$OUT/tools/switchboard" user export "$EMAIL" "$dir/part" >/dev/null 2>&1 || code=$?
        ((code == 137)) || break
        ((++killed))
        switchboard user export "$EMAIL" "$dir/part" >/dev/null || fail "point $point: it does not go on"
        jq -e .isComplete "$dir/part/progress.json" >/dev/null
        rm "$dir/part"/{trail,events}.jsonl "$dir/part/progress.json"
        diff -rq "$dir/whole" "$dir/part" || fail "point $point"
        rm -r "$dir/part"
        point=$((point + 5))
    done
    ((code == 0 && killed > 8)) || fail "$killed points, then $code"
    rm -r "$dir/part" "$dir/whole"
}
