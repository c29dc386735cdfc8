#!/usr/bin/env bats
# Retention: GET and PATCH /v2/retention, `switchboard retention`, what the courier deletes, and what
# GET /v2/changes reports of it (doc/api/inbox_write.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/courier
load helpers/inbox

A=15550100001 B=15550100002
NOW=$(date +%s)

days_ago() { # DAYS: seconds since 1970
    printf '%s' $((NOW - $1 * 86400))
}

user_id() {
    db "SELECT user_id FROM account WHERE id = '$ACCOUNT'"
}

# The courier passes all threads of the user again.
prune() {
    db "UPDATE retention SET walk_at = 0 WHERE user_id = '$(user_id)'"
    courier --once
    [[ $(db "SELECT walk_at > $(date +%s)000 FROM retention WHERE user_id = '$(user_id)'") == [1t] ]] ||
        fail 'the walk is not at its end'
}

wamids() {
    db "SELECT wamid FROM message WHERE user_id = '$(user_id)' ORDER BY wamid" | xargs
}

@test "nothing is deleted until a retention is set, and what is set is answered" {
    make_user
    writes wamid.old "$A" "$(days_ago 4000)"
    api GET /v2/retention
    assert_success
    assert_conventions
    assert_json .data '{"messageDays":null,"rawDays":null}'
    courier --once
    assert_equal "$(wamids)" wamid.old
    api PATCH /v2/retention -d '{"messageDays":30}'
    assert_json .data '{"messageDays":30,"rawDays":null}'
    api PATCH /v2/retention -d '{"rawDays":8}'
    assert_json .data '{"messageDays":30,"rawDays":8}'
    api PATCH /v2/retention -d '{"messageDays":null}'
    assert_json .data '{"messageDays":null,"rawDays":8}'
    prune
    assert_equal "$(wamids)" wamid.old
    for days in 7 0 -1 36501 '"30"' 8.5; do
        api PATCH /v2/retention -d "{\"messageDays\":$days}"
        assert_status 400
    done
    api GET /v2/retention
    assert_json .data '{"messageDays":null,"rawDays":8}'
}

# bats test_tags=long
@test "messages older than the limit go, with their statuses; newer ones, their thread and its counts stay" {
    local thread change id
    make_user
    for id in 1 2; do
        writes "wamid.old$id" "$A" "$(days_ago 31)"
    done
    writes wamid.new1 "$A" "$(days_ago 29)"
    thread=$(thread_of "$A")
    db "INSERT INTO message_status (user_id, message_id, status, recipient, timestamp, body, received_at)
        SELECT user_id, id, 'read', '', 1, body, 1 FROM message WHERE wamid LIKE 'wamid.old%'"
    api GET /v2/changes
    change=$(value .data.change)
    api PATCH /v2/retention -d '{"messageDays":30}'
    prune
    assert_equal "$(wamids)" wamid.new1
    assert_equal "$(db "SELECT count(*) FROM message_status WHERE message_id NOT IN (SELECT id FROM message)")" 0
    api GET "/v2/threads/$thread"
    assert_json .data.unread 1
    assert_that ".data.waitingSince[0:10] == \"$(date -u -d "@$(days_ago 29)" +%F)\""
    api GET "/v2/changes?after=$change"
    assert_conventions
    assert_json '[.data.threads[].id]' "[\"$thread\"]"
    assert_json '[.data.removed[] | [.threadId, .before[0:10]]]' \
        "[[\"$thread\",\"$(date -u -d '30 days ago' +%F)\"]]"
    change=$(value .data.change)
    prune
    api GET "/v2/changes?after=$change"
    assert_status 304
}

@test "notes older than the limit go, newer ones stay with their thread, and a thread takes its notes along" {
    local kept gone change
    make_user
    writes wamid.n1 "$A" "$(days_ago 1)"
    writes wamid.n2 "$B" "$(days_ago 100)"
    kept=$(thread_of "$A") gone=$(thread_of "$B")
    for text in old new; do
        api POST "/v2/threads/$kept/notes" -d "{\"text\":\"$text\"}"
        api POST "/v2/threads/$gone/notes" -d "{\"text\":\"$text of gone\"}"
    done
    db "UPDATE note SET created_at = $(days_ago 31)000 WHERE text LIKE 'old%' AND user_id = '$(user_id)'"
    api GET /v2/changes
    change=$(value .data.change)
    api PATCH /v2/retention -d '{"messageDays":30}'
    prune
    assert_equal "$(db "SELECT text FROM note WHERE user_id = '$(user_id)'")" new
    api GET "/v2/changes?after=$change"
    assert_json '[.data.threads[] | [.id, .notesChange == .change]]' "[[\"$kept\",true]]"
    api GET /v2/changes
    change=$(value .data.change)
    prune
    api GET "/v2/changes?after=$change"
    assert_status 304
}

# bats test_tags=long
@test "a thread without messages goes, with a contact that has no other thread and no block, and is reported" {
    local gone kept contact change table
    make_user
    writes wamid.g1 "$A" "$(days_ago 100)" Hello 'Quentin Unusual'
    writes wamid.g2 "$B" "$(days_ago 100)"
    gone=$(thread_of "$A") kept=$(contact_of "$B") contact=$(contact_of "$A")
    api PUT "/v2/contacts/$kept/block" -d '{}'
    api GET /v2/changes
    change=$(value .data.change)
    api PATCH /v2/retention -d '{"messageDays":8}'
    prune
    assert_equal "$(wamids)" ''
    assert_equal "$(contact_of "$A")|$(contact_of "$B")" "|$kept"
    for table in contact_term contact_alias contact_sign contact_merge lead; do
        assert_equal "$table $(db "SELECT count(*) FROM $table WHERE contact_id = '$contact'")" "$table 0"
    done
    api GET "/v2/changes?after=$change"
    assert_json '.data.threads' '[]'
    assert_that ".data.removed | map(select(.threadId == \"$gone\" and .before == null)) | length == 1"
    api GET "/v2/threads/$gone"
    assert_error 404 NOT_FOUND
    # a person who writes again is a new contact
    writes wamid.g3 "$A" "$(days_ago 0)"
    [[ -n $(contact_of "$A") && $(contact_of "$A") != "$contact" ]]
}

# bats test_tags=long
@test "a contact without threads goes, too, unless it is blocked, on hold or was changed since" {
    local contact
    make_user
    writes wamid.o1 "$A" "$(days_ago 100)"
    writes wamid.o2 "$B" "$(days_ago 1)"
    contact=$(contact_of "$A")
    api PUT "/v2/contacts/$contact/block" -d '{}'
    api PATCH /v2/retention -d '{"messageDays":8}'
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 460)
        INSERT INTO contact (id, account_id, bsuid, created_at, updated_at)
        SELECT 'con_' || (1000 + i) || '$LINE', '$ACCOUNT', 'US.' || i, 1,
            CASE i WHEN 230 THEN $(days_ago 1)000 ELSE 1 END FROM n"
    db "UPDATE contact SET held_at = 1 WHERE id = 'con_1460$LINE'"
    prune
    assert_equal "$(contact_of "$A")" "$contact"
    assert_equal "$(db "SELECT id FROM contact WHERE id LIKE 'con_1%$LINE' ORDER BY id" | xargs)" \
        "con_1230$LINE con_1460$LINE"
    api DELETE "/v2/contacts/$contact/block"
    prune
    assert_equal "$(contact_of "$A")" "$contact" # it was stored today
    db "UPDATE contact SET updated_at = $(days_ago 9)000, held_at = NULL WHERE account_id = '$ACCOUNT'"
    # as after a process that was killed within the contacts
    db "UPDATE retention SET place_at = 0, place_id = 'con_1300$LINE', place_account = '$ACCOUNT'"
    prune
    assert_equal "$(contact_of "$A")" "$contact"
    assert_equal "$(db "SELECT id FROM contact WHERE id LIKE 'con_1%$LINE'")" "con_1230$LINE"
    prune
    assert_equal "$(contact_of "$A")" ''
    assert_equal "$(db "SELECT id FROM contact WHERE id LIKE 'con_1%$LINE'")" ''
    assert_equal "$(wamids)" wamid.o2
    [[ -n $(contact_of "$B") ]]
}

changes_left() {
    db "SELECT at FROM identity_change WHERE account_id = '$ACCOUNT' ORDER BY at" | xargs
}

@test "a change of identity goes with its contact, or with the last of those that have its numbers" {
    make_user
    writes wamid.old "$A" "$(days_ago 31)"
    writes wamid.new "$B" "$(days_ago 29)"
    # the first and the third are of people with one of whom this contact has exchanged the number
    db "INSERT INTO identity_change (account_id, at, old_phone, old_bsuid, new_phone, new_bsuid)
        VALUES ('$ACCOUNT', 1, '$A', '', '$B', ''), ('$ACCOUNT', 2, '$A', '', '$A', 'US.1'),
            ('$ACCOUNT', 3, '$B', '', '$A', ''), ('$ACCOUNT', 4, '15550100003', '', '$A', '')"
    db "UPDATE contact SET bsuid = 'US.1' WHERE phone = '$A' AND account_id = '$ACCOUNT'"
    api PATCH /v2/retention -d '{"messageDays":30}'
    prune
    assert_equal "$(db "SELECT phone FROM contact WHERE account_id = '$ACCOUNT'")" "$B"
    assert_equal "$(changes_left)" '1 3'
    api PATCH /v2/retention -d '{"messageDays":28}'
    prune
    assert_equal "$(db "SELECT count(*) FROM contact WHERE account_id = '$ACCOUNT'")" 0
    assert_equal "$(changes_left)" ''
}

# Adds a queued send of the user that ended: have_send ID STATE RECIPIENT DAYS
have_send() {
    db "INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, send_at,
            next_at, expires_at, is_recorded, created_at, finished_at)
        SELECT 'out_00$1', a.user_id, a.id, l.id, '$3', CAST('{\"text\":\"secret\"}' AS BLOB), '$2',
            1, 1, 1, 1, 1, CASE WHEN '$2' NOT IN ('queued', 'sending') THEN $(days_ago "$4")000 END
        FROM line l JOIN account a ON a.id = l.account_id WHERE a.id = '$ACCOUNT'"
}

sends() {
    db "SELECT id FROM outgoing WHERE user_id = '$(user_id)' ORDER BY id" | xargs
}

# bats test_tags=long
@test "queued sends that ended go with the messages, by their end, and not those that wait" {
    local state counts
    make_user
    for state in failed unknown expired suppressed queued sending; do
        have_send "$state" "$state" "$A" 9
        have_send "new_$state" "$state" "$A" 7
    done
    courier --once
    assert_equal "$(sends | wc -w)" 12
    api PATCH /v2/retention -d '{"messageDays":10}'
    prune
    assert_equal "$(sends | wc -w)" 12
    api PATCH /v2/retention -d '{"messageDays":null,"rawDays":8}'
    prune
    assert_equal "$(sends | wc -w)" 12
    api PATCH /v2/retention -d '{"messageDays":8}'
    prune
    assert_equal "$(sends)" "$(printf 'out_00%s ' new_expired new_failed new_queued new_sending \
        new_suppressed new_unknown queued sending | xargs)"
    # those of a campaign are kept for longer otherwise, whatever became of them
    for state in accepted cancelled failed; do
        have_send "of_$state" "$state" "$A" 9
    done
    have_send of_new accepted "$A" 7
    db "INSERT INTO campaign (id, user_id, account_id, line_id, name, template, language, components, state,
            valid_ms, created_at)
        SELECT 'cmp_$LINE', a.user_id, a.id, l.id, 'C', 'offer', 'en', CAST('[]' AS BLOB), 'running', 1, 1
        FROM line l JOIN account a ON a.id = l.account_id WHERE a.id = '$ACCOUNT';
        UPDATE outgoing SET campaign_id = 'cmp_$LINE' WHERE id LIKE 'out_00of_%' AND account_id = '$ACCOUNT';
        INSERT INTO campaign_count SELECT campaign_id, state, count(*) FROM outgoing
        WHERE campaign_id IS NOT NULL AND account_id = '$ACCOUNT' GROUP BY campaign_id, state"
    api GET "/v2/campaigns/cmp_$LINE"
    counts=$(jq -c .data.counts "$body")
    assert_equal "$(jq -c '[.accepted, .cancelled, .failed]' <<<"$counts")" '[2,1,1]'
    prune
    assert_equal "$(sends | xargs -n 1 | grep of_)" out_00of_new
    api GET "/v2/campaigns/cmp_$LINE"
    assert_json .data.counts "$counts"
    # the limit of all users stays where the retention is longer
    have_send month failed "$A" 31
    api PATCH /v2/retention -d '{"messageDays":365}'
    prune
    refute grep -q out_00month <<<"$(sends)"
}

@test "a queued send to a contact on hold is kept, by its phone, its user id and a former one" {
    local kept
    make_user
    writes wamid.o1 "$A" "$(days_ago 1)"
    kept=$(contact_of "$A")
    db "UPDATE contact SET bsuid = 'US.1234' WHERE id = '$kept';
        INSERT INTO contact_alias VALUES ('$ACCOUNT', '15550100099', '$kept', 1)"
    api PUT "/v2/contacts/$kept/hold" -d '{}'
    have_send 1 failed "$A" 20
    have_send 2 failed US.1234 20
    have_send 3 failed 15550100099 20
    have_send 4 failed "$B" 20
    api PATCH /v2/retention -d '{"messageDays":8}'
    prune
    assert_equal "$(sends)" 'out_001 out_002 out_003'
    api DELETE "/v2/contacts/$kept/hold"
    prune
    assert_equal "$(sends)" ''
}

@test "a contact on hold keeps everything until it is released" {
    make_user
    writes wamid.h1 "$A" "$(days_ago 100)"
    writes wamid.h2 "$B" "$(days_ago 100)"
    run switchboard contact hold "$(contact_of "$A")"
    assert_equal "$status" 0
    api PATCH /v2/retention -d '{"messageDays":8}'
    prune
    assert_equal "$(wamids)" wamid.h1
    switchboard contact release "$(contact_of "$A")"
    prune
    assert_equal "$(wamids)" ''
    run switchboard contact hold con_none
    assert_equal "$status" 1
}

# bats test_tags=long
@test "PUT hold keeps a contact from retention and erasure until DELETE, needs manage, and leaves rows in the trail" {
    local own held token
    make_user OTHER_
    make_user
    writes wamid.p1 "$A" "$(days_ago 100)"
    own=$(contact_of "$A")
    api GET "/v2/contacts/$own"
    assert_json .data.heldAt null
    api PUT "/v2/contacts/$own/hold" -d '{}'
    assert_success
    assert_conventions
    held=$(value .data.heldAt)
    api PUT "/v2/contacts/$own/hold" -d '{}' # a repetition changes nothing
    assert_json .data.heldAt "\"$held\""
    api GET "/v2/contacts/$own"
    assert_json .data.heldAt "\"$held\""
    api PATCH /v2/retention -d '{"messageDays":8}'
    prune
    assert_equal "$(wamids)" wamid.p1
    api POST "/v2/contacts/$own/erase" -d "{\"confirm\":\"$own\"}"
    assert_error 409 VALIDATION_ERROR 'on hold'
    # of the workspace alone, and with the scope alone
    request DELETE "/v2/contacts/$own/hold" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    api PUT /v2/contacts/con_none/hold -d '{}'
    assert_error 404 NOT_FOUND
    token=$(switchboard scoped-token add "$EMAIL" --name n --scope 'basic read inbox' --json | jq -r .token)
    request DELETE "/v2/contacts/$own/hold" --as "$token"
    assert_error 403 FORBIDDEN 'the scope manage'
    api DELETE "/v2/contacts/$own/hold"
    assert_json .data '{"heldAt":null}'
    assert_equal "$(db "SELECT action FROM trail WHERE object_id = '$own' ORDER BY id" | xargs)" \
        'contact.hold contact.hold contact.release'
    api POST "/v2/contacts/$own/erase" -d "{\"confirm\":\"$own\"}"
    assert_success
    api PUT "/v2/contacts/$own/hold" -d '{}' # too late
    assert_error 404 NOT_FOUND
}

@test "a contact that remains of a merger is on hold if one of both was" {
    local former
    make_user
    writes wamid.m1 "$A" "$(days_ago 100)"
    take "$(payload "$(change messages "\"messages\":[{\"from_user_id\":\"US.77\",\"id\":\"wamid.m2\",
        \"timestamp\":\"$(days_ago 100)\",\"type\":\"text\",\"text\":{\"body\":\"By id\"}}]")")"
    former=$(db "SELECT id FROM contact WHERE bsuid = 'US.77' AND account_id = '$ACCOUNT'")
    api PUT "/v2/contacts/$former/hold" -d '{}'
    assert_success
    take "$(payload "$(inbound wamid.m3 "$A" US.77)")"
    assert_equal "$(db "SELECT count(*) FROM contact WHERE account_id = '$ACCOUNT'")" 1
    [[ $(contact_of "$A") != "$former" ]] || fail 'the contact on hold is to be the one that goes'
    api GET "/v2/contacts/$former"
    assert_that '.data.heldAt != null'
    api PATCH /v2/retention -d '{"messageDays":8}'
    prune
    [[ $(wamids) == *'wamid.m1 wamid.m2'* ]]
}

@test "raw updates older than rawDays go, those of other users and younger ones stay" {
    local mine
    make_user OTHER_
    make_user
    mine=$ACCOUNT
    db "INSERT INTO platform_update VALUES ('$mine', 'old', 'x', x'7b7d', $(days_ago 9)000),
        ('$mine', 'new', 'x', x'7b7d', $(days_ago 7)000), ('$OTHER_ACCOUNT', 'other', 'x', x'7b7d', 1)"
    api PATCH /v2/retention -d '{"rawDays":8}'
    prune
    assert_equal "$(db "SELECT key FROM platform_update WHERE key IN ('old', 'new', 'other') ORDER BY key" | xargs)" 'new other'
    db "DELETE FROM platform_update WHERE key IN ('new', 'other')"
}

@test "several parts delete all of a long thread, and a walk goes on where it was" {
    make_user
    writes wamid.0 "$A" "$(days_ago 20)"
    writes wamid.b "$B" "$(days_ago 1)"
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1700)
        INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status, status_at,
            timestamp, body, created_at)
        SELECT m.id || n.i, m.user_id, m.thread_id, m.line_id, m.wamid || '.' || n.i, m.direction, m.source, m.type,
            m.status, 1, m.timestamp + n.i, m.body, 1 FROM n, message m WHERE m.wamid = 'wamid.0'"
    api PATCH /v2/retention -d '{"messageDays":10}'
    have_send old failed "$A" 20
    # as after a process that was killed behind the first thread
    db "UPDATE retention SET place_at = $(days_ago 20)000, place_id = 'zzz'"
    prune
    assert_equal "$(db "SELECT count(*) FROM message WHERE user_id = '$(user_id)'")" 1702
    assert_equal "$(sends)" out_00old # queued sends are before the first thread
    prune
    assert_equal "$(wamids)" wamid.b
    assert_equal "$(sends)" ''
}

# Adds 120 contacts, each with a thread without messages; the 20th is on hold: have_threads DAYS
have_threads() {
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
        INSERT INTO contact (id, account_id, bsuid, created_at, updated_at)
        SELECT 'con_' || (1000 + i) || '$LINE', '$ACCOUNT', 'US.' || i, 1, 1 FROM n"
    db "INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
        SELECT 'thr_' || substr(c.id, 5), a.user_id, l.id, c.id, 1, $(days_ago "$1")000 FROM contact c
        JOIN account a ON a.id = c.account_id JOIN line l ON l.account_id = a.id WHERE c.id LIKE 'con_%$LINE'"
    db "UPDATE contact SET held_at = 1 WHERE id = 'con_1020$LINE'"
}

@test "threads without messages go in parts of 50 with their contacts, and what broke off goes on" {
    local change
    make_user
    writes wamid.kept "$B" "$(days_ago 1)"
    have_threads 40
    api GET /v2/changes
    change=$(value .data.change)
    api PATCH /v2/retention -d '{"messageDays":30}'
    # the contact of the 70th is not to be deleted: its part, the second one, is taken back as a whole
    refuse_update contact "con_1070$LINE"
    db "UPDATE retention SET walk_at = 0 WHERE user_id = '$(user_id)'"
    courier --once || true
    accept_updates contact
    assert_equal "$(db "SELECT count(*) FROM thread WHERE id LIKE 'thr_%$LINE'")" 70
    prune
    assert_equal "$(db "SELECT id FROM thread WHERE id LIKE 'thr_%$LINE'")" "thr_1020$LINE"
    assert_equal "$(db "SELECT id FROM contact WHERE id LIKE 'con_%$LINE'")" "con_1020$LINE"
    assert_equal "$(wamids)" wamid.kept
    assert_equal "$(db "SELECT count(*) FROM thread_removal WHERE user_id = '$(user_id)' AND before_at IS NULL
        AND changed > $change")" 119
}

# bats test_tags=long
@test "old notes of many threads go in parts of 50 threads, beside old messages, and not those of a contact on hold" {
    local change
    make_user
    writes wamid.kept "$B" "$(days_ago 1)"
    writes wamid.old "$A" "$(days_ago 40)"
    writes wamid.new "$A" "$(days_ago 2)"
    have_threads 3
    db "INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status, status_at,
            timestamp, body, created_at)
        SELECT 'msg_' || t.id, m.user_id, t.id, m.line_id, 'wamid.' || t.id, m.direction, m.source, m.type, m.status,
            1, t.last_message_at, m.body, 1 FROM thread t, message m WHERE m.wamid = 'wamid.new' AND t.id LIKE 'thr_%$LINE'"
    db "INSERT INTO note (id, user_id, thread_id, text, created_at)
        SELECT 'not_' || t.id, t.user_id, t.id, 'old', $(days_ago 40)000 FROM thread t WHERE t.user_id = '$(user_id)'"
    api GET /v2/changes
    change=$(value .data.change)
    api PATCH /v2/retention -d '{"messageDays":30}'
    # the thread of the 70th is not to be changed: its part is taken back as a whole
    refuse_update thread "thr_1070$LINE"
    db "UPDATE retention SET walk_at = 0 WHERE user_id = '$(user_id)'"
    courier --once || true
    accept_updates thread
    assert_equal "$(db "SELECT count(*) FROM note WHERE user_id = '$(user_id)'")" 72
    prune
    assert_equal "$(db "SELECT thread_id FROM note WHERE user_id = '$(user_id)'")" "thr_1020$LINE"
    assert_equal "$(db "SELECT count(*) FROM message WHERE user_id = '$(user_id)'")" 122
    assert_equal "$(db "SELECT count(*) FROM message WHERE wamid = 'wamid.old' AND user_id = '$(user_id)'")" 0
    assert_equal "$(db "SELECT count(*) FROM thread WHERE user_id = '$(user_id)' AND notes_changed > $change")" 121
}

@test "switchboard retention sets and lists the limits, and refuses fewer than 8 days" {
    make_user
    run switchboard retention set "$EMAIL" --messages 365 --raw 90 --json
    assert_equal "$(gojq -c . <<<"$output")" "{\"email\":\"$EMAIL\",\"messageDays\":365,\"rawDays\":90}"
    switchboard retention set "$EMAIL" --raw never
    run switchboard retention list --json
    assert_equal "$(gojq -c "map(select(.email == \"$EMAIL\"))" <<<"$output")" \
        "[{\"email\":\"$EMAIL\",\"messageDays\":365,\"rawDays\":null}]"
    switchboard retention list | grep -qE "^$EMAIL +365 +never\$"
    run switchboard retention set "$EMAIL" --messages 7
    assert_equal "$status" 2
    run switchboard retention set none@example.org.none --messages 8
    assert_equal "$status" 1
    switchboard trail "$EMAIL" | grep -q 'retention.set'
}
