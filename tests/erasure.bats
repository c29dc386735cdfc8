#!/usr/bin/env bats
# Erasure of a person: POST /v2/contacts/:contactId/erase, `switchboard contact erase`, and what the
# courier deletes (doc/operation.md)
# transports: direct
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/sweep
load helpers/webhook
load helpers/courier
load helpers/inbox
load helpers/person

# What of the person is in the files of the gateway, or in the rows of a server's tables, whose bytes
# are hexadecimal: in text, and in base64 of the number, as ids of messages have it.
traces() {
    local trace query='' pattern='' list
    list=("$A" "$USER_ID" Quetzalcoatl Xochitl "$(printf '%s\025' "$A" | base64 -w0)")
    for trace in "${list[@]}"; do
        pattern+="|$trace|$(printf %s "$trace" | od -An -v -tx1 | tr -d ' \n')"
        grep -rlaF "$trace" "$STACK/data" "$STACK/log" "$STACK/run" "$STACK/pending" "$STACK/spool" \
            "$STACK/requests" "$STACK/metrics" 2>/dev/null | sed "s/^/$trace in /" || true
    done
    [[ -n ${SERVER-} ]] || return 0
    for table in $(db "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"); do
        query+=" UNION ALL SELECT '$table' || ' ' || concat(t) FROM \"$table\" t WHERE concat(t) ~ '${pattern#|}'"
    done
    db "${query# UNION ALL}"
}

assert_no_traces() {
    assert_equal "$(traces)" ''
}

# The courier ends all that was begun.
erase_all() {
    courier --once
    assert_equal "$(db 'SELECT count(*) FROM erasure WHERE ended_at IS NULL')" 0
    assert_equal "$(db 'SELECT count(*) FROM erasure WHERE names IS NOT NULL')" 0
}

# What is left of the other person, and of the workspace.
others() {
    db "SELECT (SELECT count(*) FROM contact WHERE account_id = '$ACCOUNT' AND phone = '$OTHER'),
        (SELECT count(*) FROM message WHERE user_id = '$(user_id)'), (SELECT count(*) FROM contact WHERE account_id = '$ACCOUNT'),
        (SELECT count(*) FROM platform_post), (SELECT count(*) FROM webhook_refusal)"
}

# bats test_tags=long
@test "an erasure needs the contact's id again, its workspace, and a contact that is not held" {
    local own
    make_user OTHER_
    make_user
    writes wamid.1 $A "$NOW"
    own=$(contact_of $A)
    api POST "/v2/contacts/$own/erase" -d '{}'
    assert_issue confirm 'is required'
    api POST "/v2/contacts/$own/erase" -d '{"confirm":"con_other"}'
    assert_issue confirm "must be the contact's id"
    api POST "/v2/contacts/$own/erase" -d "{\"confirm\":\"$own\\u0000\"}"
    assert_status 400
    api POST /v2/contacts/con_none/erase -d '{"confirm":"con_other"}'
    assert_error 404 NOT_FOUND
    request POST "/v2/contacts/$own/erase" --as "$OTHER_TOKEN" -d "{\"confirm\":\"$own\"}"
    assert_error 404 NOT_FOUND
    switchboard contact hold "$own" >/dev/null
    api POST "/v2/contacts/$own/erase" -d "{\"confirm\":\"$own\"}"
    assert_error 409 VALIDATION_ERROR
    run switchboard contact erase "$own"
    assert_equal "$status" 1
    [[ $output == *'is on hold: `switchboard contact release` ends it'* ]]
    run switchboard contact erase con_none
    assert_equal "$status" 1
    assert_equal "$(db "SELECT phone FROM contact WHERE id = '$own'")" $A
    switchboard contact release "$own" >/dev/null
    run switchboard contact erase "$own"
    assert_equal "$output" "$own is being erased: the courier deletes what is left"
    api POST "/v2/contacts/$own/erase" -d "{\"confirm\":\"$own\"}"
    assert_success
    assert_that '.data.endedAt == null'
    erase_all
    api POST "/v2/contacts/$own/erase" -d "{\"confirm\":\"$own\"}"
    assert_success
    assert_conventions
    assert_that ".data.contactId == \"$own\" and .data.endedAt >= .data.erasedAt"
    assert_equal "$(switchboard contact erase "$own")" "$own is erased"
    assert_equal "$(db "SELECT action FROM trail WHERE object_id = '$own' ORDER BY id" | xargs)" \
        'contact.hold contact.release contact.erase'
}

@test "no byte of an erased person is left, repeated webhooks and late statuses bring none back, and another person loses nothing" {
    local change threads
    make_person
    api GET /v2/changes
    change=$(value .data.change)
    threads=$(thread_of $A)
    db "INSERT INTO thread_claim (thread_id, user_id, claimed_until, answered_by, answered_name, answered)
        VALUES ('$threads', '$(user_id)', 0, 'mbr_1', 'Ann', 1)"
    (($(traces | wc -l) >= 5)) || fail "the person is not there: $(traces)"
    api POST "/v2/contacts/$contact/erase" -d "{\"confirm\":\"$contact\"}"
    assert_success
    erase_all
    assert_no_traces
    assert_equal "$(others)" '1|1|1|1|1'
    assert_equal "$(db "SELECT text FROM note WHERE user_id = '$(user_id)'")" "A friend of $OTHER"
    assert_equal "$(db "SELECT count(*) FROM thread_claim WHERE thread_id = '$threads'")" 0
    api GET "/v2/contacts/$contact"
    assert_error 404 NOT_FOUND
    api GET "/v2/changes?after=$change"
    assert_that ".data.removed | map(select(.threadId == \"$threads\" and .before == null)) | length == 1"
    # the event has the id alone
    assert_equal "$(events 'select(.type == "contact.erased") | .data.contact | [.id, .phone, .userId, .name]')" \
        "[\"$contact\",null,null,null]"
    # what the platform repeats, and what comes late
    take "$first"
    take "$system"
    take "$late"
    take "$(payload "$(status_of "$sent" read "\"recipient_id\":\"$A\"")")"
    take "$(payload "$(change history "\"history\":[{\"metadata\":{\"phase\":0,\"chunk_order\":1,\"progress\":50},
        \"threads\":[{\"id\":\"$A\",\"messages\":[{\"from\":\"$A\",\"id\":\"$(wamid_of $A 1)\",\"timestamp\":\"$NOW\",
        \"type\":\"text\",\"text\":{\"body\":\"$WORDS\"},\"history_context\":{\"status\":\"READ\"}}]}]}]")")"
    assert_no_traces
    assert_equal "$(others)" '1|1|1|1|1'
    api POST /v2/messages/send/text -H 'Idempotency-Key: key-of-a-send' \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$A\",\"text\":\"$WORDS too\"}"
    assert_error 404 NOT_FOUND 'its recipient was erased later'
    # a person who writes again is a new contact
    writes "$(wamid_of $A 2)" $A "$NOW"
    [[ -n $(contact_of $A) && $(contact_of $A) != "$contact" ]]
    # a restored backup brings the person back: the erasure is repeated
    contact=$(contact_of $A)
    db "INSERT INTO erasure (contact_id, user_id, account_id, erased_at, ended_at, due_at, step, place)
        VALUES ('$contact', '$(user_id)', '$ACCOUNT', 1, 2, 1, 8, '')"
    switchboard contact erase "$contact" >/dev/null
    erase_all
    assert_no_traces
}

# bats test_tags=long
@test "what a person writes and is sent while the erasure runs is of a new contact, and a forward that others wait for is delivered first" {
    local new both
    make_person
    both=$(payload "$(inbound "$(wamid_of $A 3)" $A $USER_ID)" "$(inbound "$(wamid_of $OTHER 3)" $OTHER '')")
    take "$both"
    refuse_rows message
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$A\",\"text\":\"$WORDS kept\"}"
    accept_rows message
    : >"$LOG" # it names a send that was not recorded (doc/operation.md)
    assert_equal "$(ls "$(dirname "$DB")"/pending "$STACK/pending" 2>/dev/null | grep -c '^[0-9a-z_]*$')" 1
    api POST "/v2/contacts/$contact/erase" -d "{\"confirm\":\"$contact\"}"
    writes "$(wamid_of $A 4)" $A "$NOW" 'A new start'
    new=$(contact_of $A)
    courier --once
    assert_equal "$(db "SELECT count(*) FROM erasure WHERE contact_id = '$contact' AND ended_at IS NULL")" 1
    assert_equal "$(db "SELECT count(*) FROM event e JOIN platform_post p ON p.id = e.post_id
        WHERE instr(CAST(p.body AS TEXT), '$(wamid_of $OTHER 3)') > 0")" 1
    db "UPDATE delivery SET state = 'done', finished_at = 1 WHERE event_id IN (SELECT id FROM event WHERE post_id IS NOT NULL);
        UPDATE event SET state = 'done', finished_at = 1 WHERE post_id IS NOT NULL; UPDATE erasure SET due_at = 0"
    erase_all
    assert_equal "$(db "SELECT count(*) FROM contact WHERE id = '$contact'")" 0
    assert_equal "$(db "SELECT m.wamid FROM message m JOIN thread t ON t.id = m.thread_id WHERE t.contact_id = '$new'")" \
        "$(wamid_of $A 4)"
    switchboard contact erase "$new" >/dev/null
    erase_all
    assert_no_traces
}

# --- killed, or given an error ---

begin_erasure() {
    restore
}

run_erasure() { # [COMMAND...]
    stderr=$STACK/stderr code=0
    { # suppresses the shell's message about a killed process
        "$@" "$OUT/tools/courier" --once >"$stderr" 2>&1 || code=$?
    } 2>/dev/null
}

choose_erasure() {
    grep -Ev '^(brk|futex|rt_sigaction|fcntl) '
}

check_erasure() { # WHAT
    count "ended with $code"
    db 'UPDATE erasure SET due_at = 0'
    courier --once
    [[ -z $(traces) ]] || fail "$1: $(traces)"
    assert_equal "$(others)" '1|1|1|1|1' || fail "$1: another person"
    assert_equal "$(events 'select(.type == "contact.erased")' | wc -l)" 1 || fail "$1: the event"
}

# bats test_tags=long
@test "a courier that is killed or gets an error at any point of an erasure leaves it to the next one" {
    only_on_sqlite 'each point starts from a copy of the database file'
    unset SWITCHBOARD_CONFINE_KILLS
    make_person
    switchboard contact erase "$contact" >/dev/null
    keep_database erasure
    sweep erasure erasure KILL 60 signalfd4
    sweep erasure erasure errors 40 signalfd4
}
