#!/usr/bin/env bats
# The inbox of the dashboard in Chromium, with the sandbox as the platform.
# transports: cgi fcgi
# needs: node
# starts first
# may run twice: Chromium decides when it draws and when it asks
load helpers/all
load helpers/session
load helpers/browser
load helpers/courier
load helpers/sender

setup_file() {
    start_stack
    make_user
    make_password
    add_templates
    start_browser
}

teardown_file() {
    stop_browser
    stop_stack
}

# Templates of the account: one with variables, one for codes.
add_templates() {
    jq -nc --arg waba "$WABA" '{wabaId: $waba, items: [
        {id: "1", name: "order_shipped", language: "en_US", status: "APPROVED",
         category: "UTILITY", parameter_format: "POSITIONAL", components: [
            {type: "BODY", text: "Hi {{1}}, order {{2}} is on its way.",
             example: {body_text: [["Ada", "A-17"]]}},
            {type: "BUTTONS", buttons: [{type: "URL", text: "Track",
             url: "https://tea.example/track/{{1}}",
             example: ["https://tea.example/track/A-17"]}]}]},
        {id: "2", name: "login_code", language: "en_US", status: "APPROVED",
         category: "AUTHENTICATION", components: [{type: "BODY", text: "{{1}} is your code."}]}]}' \
        >"$STACK/templates.json"
    sandbox POST templates "@$STACK/templates.json" >/dev/null
}

# bats test_tags=route,long
@test "a sent message and its statuses, a failure, an answer and a reaction appear without a reload, and by setting the customer sees what was read" {
    browse inbox statuses
}

# bats test_tags=route,long
@test "a message whose answer is lost is sent once, a refused one shows its reason" {
    browse inbox lostAnswer
}

# bats test_tags=long
@test "what was typed, chosen, quoted and sent survives a reload, a closed tab and a refusal" {
    browse inbox nothingLost "$root/tools/demo/media/parcel.jpg"
}

# bats test_tags=long
@test "loading, failed, empty and out of date are different, and the page is back with the network" {
    browse inbox states
}

# bats test_tags=long
@test "after midnight the days and times are those of the new day" {
    browse inbox midnight
}

# bats test_tags=long
@test "what one tab has read is read in the other tab" {
    browse inbox unread
}

# bats test_tags=long
@test "conversations wait for an answer until they are answered or done, are marked as unread, and are counted" {
    browse inbox queue
}

# bats test_tags=long
@test "by setting a hidden tab asks every 30 seconds, and shows a notification" {
    browse inbox notices
}

# bats test_tags=long
@test "a merge of two contacts keeps the thread that is open" {
    browse inbox merge
}

# bats test_tags=long
@test "names, texts, file names and answers made of markup are shown as text" {
    browse inbox strangers
}

# bats test_tags=long
@test "a message of a strange shape is one strange message: the thread, the list and the rest stay" {
    browse inbox strangeShapes
}

# bats test_tags=long
@test "an edit replaces the text and is marked, a deletion hides it" {
    browse inbox edited
}

# bats test_tags=long
@test "calls and the permission to call are lines of the conversation, and nothing answers them" {
    browse inbox calls
}

# bats test_tags=long
@test "outside the 24-hour window a template is sent, with its variables" {
    browse inbox windowClosed
}

# bats test_tags=long
@test "a contact without a number is answered by its user id, and gets no authentication template" {
    browse inbox userIdOnly
}

# bats test_tags=long
@test "the head of a thread keeps the focus, the way back the search, and an archived line has no composer" {
    browse inbox head
}

# bats test_tags=long
@test "the data of a person are saved as a file, protected from deletion, and erased after a question; the person is a new contact then" {
    browse inbox person
}

# bats test_tags=long
@test "a blocked contact has no composer until it is unblocked" {
    browse inbox block
}

# bats test_tags=long
@test "a file is sent, a received one is loaded on a click or by setting in view, enlarged, and only pictures are shown" {
    browse inbox media "$root/tools/demo/media/parcel.jpg"
}

# bats test_tags=long
@test "files are dropped and chosen, shown, uploaded in their order, cancelled, and survive a reload" {
    browse inbox files "$root/tools/demo/media/parcel.jpg"
}

# bats test_tags=long
@test "an upload that fails sent nothing: it is repeated by itself or by a button, and sent once" {
    browse inbox uploadFails
}

# bats test_tags=long
@test "a draft that is open in two tabs is sent once" {
    browse inbox twoTabs "$root/tools/demo/media/parcel.jpg"
}

# bats test_tags=long
@test "a pasted picture is a file, a pasted text is a text and whole" {
    browse inbox pasted "$root/htdocs/dashboard/icon-192.png"
}

# bats test_tags=long
@test "the 24 hours end by the server's clock, on a device whose clock is wrong" {
    browse inbox wrongClock
}

# bats test_tags=long
@test "long names and texts, and those from right to left, stay within the screen" {
    browse inbox longNames
}

# bats test_tags=long
@test "a voice message is recorded in a form that the platform takes" {
    browse inbox voice
}

# bats test_tags=long
@test "messages are reached, answered and opened by the keyboard" {
    browse inbox keyboard
}

# Prints SQL for a contact with a thread of SIZE messages: long_thread SIZE
long_thread() {
    cat <<END
BEGIN;
INSERT INTO contact (id, account_id, phone, name, created_at, updated_at)
    SELECT 'con_long', account_id, '16505559999', 'Long Talk', 1, 1 FROM line
    WHERE phone_number_id = '$LINE';
INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
    SELECT 'thr_long', a.user_id, l.id, 'con_long', 1, 1700000000000 + $1 * 60000
    FROM line l JOIN account a ON a.id = l.account_id WHERE l.phone_number_id = '$LINE';
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status,
        status_at, timestamp, body, created_at)
    SELECT printf('msg_long%06d', i), t.user_id, t.id, t.line_id, printf('wamid.long%06d', i),
        CASE WHEN i % 3 > 0 THEN 'in' ELSE 'out' END, 'webhook', 'text',
        CASE WHEN i % 3 > 0 THEN 'received' ELSE 'read' END, 1,
        1700000000000 + i * 60000,
        CAST('{"type":"text","text":{"body":"Message ' || i || '"}}' AS BLOB), 1
    FROM n JOIN thread t ON t.id = 'thr_long';
COMMIT;
END
}

# Prints SQL for contacts with a thread and a message each: many_contacts COUNT
many_contacts() {
    cat <<END
BEGIN;
CREATE TEMP TABLE row AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
    WHERE i < $1) SELECT i, printf('%06d', i) AS suffix, a.id AS account_id, a.user_id,
    l.id AS line_id FROM n CROSS JOIN line l JOIN account a ON a.id = l.account_id
    WHERE l.phone_number_id = '$LINE';
INSERT INTO contact (id, account_id, phone, name, created_at, updated_at)
    SELECT 'con_many' || suffix, account_id, '1777' || suffix, 'Person ' || i, 1, 1 FROM row;
INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at, unread)
    SELECT 'thr_many' || suffix, user_id, line_id, 'con_many' || suffix, 1, 1700000000000 + i, i % 3
    FROM row;
INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status,
        status_at, timestamp, body, created_at)
    SELECT 'msg_many' || suffix, user_id, 'thr_many' || suffix, line_id, 'wamid.many' || suffix,
        'in', 'webhook', 'text', 'received', 1, 1700000000000 + i,
        CAST('{"type":"text","text":{"body":"Hello ' || i || '"}}' AS BLOB), 1 FROM row;
COMMIT;
END
}

# bats test_tags=long
@test "a thread that only campaigns have written to is the last of the list, without a time" {
    db "$(many_contacts 3)
        UPDATE thread SET last_message_at = 0, unread = 0 WHERE id = 'thr_many000003'"
    browse inbox campaign
    db "DELETE FROM message WHERE id LIKE 'msg_many%'; DELETE FROM thread WHERE id LIKE 'thr_many%';
        DELETE FROM contact WHERE id LIKE 'con_many%'"
}

# bats test_tags=long
@test "of 10,000 threads the newest are listed, and more on request" {
    db "$(many_contacts 10000)"
    browse inbox tenThousand
}

# bats test_tags=long
@test "a thread of 20,000 messages opens, and its pages come back without a jump" {
    db "$(long_thread 20000)"
    browse inbox twentyThousand thr_long
}

# What the pages do, beside those of the directories of FORMER (with colons): counts of Chromium.
@test "figures: work of the inbox and of a long thread, beside another version (printed)" {
    [[ -n ${FORMER-} ]] || skip 'FORMER=DIRECTORY compares with another htdocs/dashboard'
    browse figures work thr_long "$FORMER:$root/htdocs/dashboard" >&3
}

@test "figures: first paint, a long thread, ten open tabs, memory (printed)" {
    [[ -n ${TEST_FULL-} ]] || skip 'TEST_FULL=1 measures'
    browse figures firstPaint >&3
    browse figures threadOpens thr_long >&3
    browse figures tabs thr_long >&3
    browse figures memory thr_long >&3
}

# bats test_tags=long
@test "a word is found in the messages of all conversations and of one, and the way leads there and back" {
    browse inbox words
}

# bats test_tags=long
@test "a message is queued for later in the browser's time zone, shown, edited and cancelled, and a lost answer queues it once" {
    have_pulse
    browse later later "$root/tools/demo/media/parcel.jpg"
}

# bats test_tags=long
@test "a template is queued for later from its dialog, once after a lost answer, and what was typed stays" {
    have_pulse
    browse later template
}

# bats test_tags=long
@test "what was not sent at its time is shown with its reason, and sent again where it cannot arrive twice" {
    local phone=16505551802
    have_pulse
    browse later queueTexts "$phone" 'the refused' 'the late' 'the doubtful'
    ends() { # PART STATE REASON ERROR
        db "UPDATE outgoing SET state = '$2', reason = $3, error = $4, finished_at = $db_now
            WHERE recipient = '$phone' AND CAST(body AS TEXT) LIKE '%$1%'"
    }
    ends refused failed "'refused'" "CAST('$(
        printf '{"error":{"code":131026,"message":"Message undeliverable"}}')' AS BLOB)"
    ends late expired NULL NULL
    ends doubtful unknown "'no_answer'" NULL
    browse later ended "$phone"
}
