#!/usr/bin/env bats
# tools/sender: for each row at most one accepted POST, also when it is killed at any point.
# transports: direct
load helpers/all
load helpers/courier
load helpers/sender
load helpers/webhook

setup_file() {
    start_stack
    make_user
}

setup() {
    forget_sent
    sandbox DELETE faults >/dev/null
    db 'DELETE FROM outgoing; DELETE FROM sender_lease; DELETE FROM sender_streak'
    have_pulse
    to=1555$((1000000 + $(next_number)))
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
}

teardown() {
    stop_senders
}

teardown_file() {
    stop_stack
}

# Prints the texts that the platform got, in order.
texts_sent() {
    sandbox GET requests | gojq -r '[.[] | select(.path | endswith("/messages")) | .body
        | fromjson? // . | .text.body] | join(" ")'
}

# The status that the platform reports of a row's message: report ID WAMID
report() {
    take "$(payload "$(status_of "$2" sent \
        "\"recipient_id\":\"$to\",\"biz_opaque_callback_data\":\"$1\"")")"
}

# Prints what is stored of the message of a row.
record_of() { # ID
    db "SELECT m.source, m.type, m.status, CAST(m.body AS TEXT), c.phone FROM outgoing o
        JOIN message m ON m.line_id = o.line_id AND m.wamid = o.wamid
        JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id
        WHERE o.id = '$1'"
}

body_of() { # ID TEXT
    printf '{"messaging_product":"whatsapp","recipient_type":"individual","to":"%s",' "$to"
    printf '"type":"text","text":{"body":"%s"},"biz_opaque_callback_data":"%s"}' "$2" "$1"
}

@test "a queued send goes out once, and its message is in the inbox with its text" {
    start_sender
    queue 'größer ☃'
    eventually row_is "$out" accepted
    assert_sent "$(body_of "$out" 'größer ☃')"
    assert_sent_to "$LINE/messages"
    assert_equal "$(sent_count)" 1
    assert_equal "$(record_of "$out")" "api|text|accepted|$(body_of "$out" 'größer ☃')|$to"
    assert_equal "$(row "$out" 'attempts, length(body), is_recorded, error IS NULL')" '1|0|1|1'
    api GET "/v2/outgoing/$out"
    assert_text .data.messageId "$(row "$out" wamid)"
}

@test "a refusal is final, and the row has the platform's error verbatim" {
    fault '{"code":131026}'
    start_sender
    queue x
    eventually row_is "$out" failed
    assert_equal "$(row "$out" reason)" refused
    api GET "/v2/outgoing/$out"
    assert_json .data.error.error.code 131026
    assert_equal "$(sent_count)" 1
    assert_equal "$(db 'SELECT count(*) FROM message')" "$(db "SELECT count(*) FROM message
        WHERE CAST(body AS TEXT) NOT LIKE '%$out%'")"
}

# bats test_tags=long
@test "an error that passes is repeated until the platform accepts, and 130429 counts as no attempt" {
    fault '{"code":131016}'
    start_sender
    queue x
    eventually row_is "$out" accepted
    assert_equal "$(sent_count)" 2
    assert_equal "$(row "$out" attempts)" 2
    forget_sent
    fault '{"code":130429}'
    queue y
    eventually row_is "$out" accepted
    assert_equal "$(sent_count)" 2
    assert_equal "$(row "$out" attempts)" 1
}

@test "a platform that cannot be reached delays, and nothing is counted or lost" {
    local kept=$SWITCHBOARD_CONFIG
    sed 's|^graph_base_url.*|graph_base_url = http://127.0.0.1:9|' "$kept" >"$kept.away"
    start_sender sender --config "$kept.away"
    queue x
    eventually row_has_reason "$out" not_sent
    assert_equal "$(row "$out" 'state, attempts')" 'queued|0'
    stop_sender
    rm "$kept.away"
    db "UPDATE outgoing SET next_at = 0"
    start_sender
    eventually row_is "$out" accepted
    assert_equal "$(sent_count)" 1
}

row_has_reason() { # ID REASON
    [[ $(row "$1" reason) == "$2" ]]
}

@test "an answer that is lost makes the row unknown; it is not sent again, and its status settles it" {
    fault '{"kind":"reset"}'
    start_sender
    queue x
    eventually row_is "$out" unknown
    assert_equal "$(row "$out" reason)" no_answer
    report "$out" "wamid.$out"
    assert_equal "$(row "$out" 'state, wamid')" "accepted|wamid.$out"
    eventually is_recorded "$out"
    assert_equal "$(record_of "$out")" "api|text|sent|$(body_of "$out" x)|$to"
    assert_equal "$(sent_count)" 1
}

is_recorded() { # ID
    [[ $(row "$1" is_recorded) == 1 ]]
}

@test "a sender that is killed during a POST leaves the row unknown, and the next one sends the others" {
    local first
    fault "{\"match\":{\"recipient\":\"$to\"},\"kind\":\"hang\"}"
    start_sender
    queue one
    first=$out
    eventually something_sent
    queue two
    stop_sender sender KILL
    assert_equal "$(row "$first" state)" sending
    assert_equal "$(row "$out" state)" queued
    db 'UPDATE sender_lease SET lease_until = 1'
    start_sender next
    eventually row_is "$out" accepted
    assert_equal "$(row "$first" 'state, reason')" 'unknown|interrupted'
    assert_equal "$(texts_sent)" 'one two'
}

@test "messages to one recipient begin in their order, and a delayed one delays no other recipient" {
    local -a rows=()
    local i first_to=$to
    fault "{\"match\":{\"recipient\":\"$to\"},\"code\":131056}"
    for i in 1 2 3 4; do
        queue "$i"
        rows+=("$out")
    done
    to=1555$((1000000 + $(next_number)))
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
    queue other
    start_sender
    eventually row_is "${rows[3]}" accepted
    eventually row_is "$out" accepted
    assert_equal "$(sandbox GET requests | gojq -r --arg to "$first_to" '[.[] | .body
        | fromjson? // . | select(.to == $to) | .text.body] | join(" ")')" '1 1 2 3 4'
}

# bats test_tags=long
@test "a line sends no faster than the rate that is set for it, also when it is set while a sender runs" {
    local first last
    start_sender
    queue before
    eventually row_is "$out" accepted
    switchboard line rate "$LINE" 1
    forget_sent
    for _ in 1 2 3 4; do
        who="\"phoneNumberId\":\"$LINE\",\"to\":\"1555$((1000000 + $(next_number)))\""
        queue slow
    done
    eventually row_is "$out" accepted
    switchboard line rate "$LINE" default
    read -r first last < <(sandbox GET requests | gojq -r '[.[]
        | select(.path | endswith("/messages")) | .time] | "\(min) \(max)"')
    ((last - first >= 2000)) || fail "from $first to $last"
}

# bats test_tags=long
@test "lines with many rows delay no other line, whatever the order of their ids" {
    local others later
    queue first
    db "WITH RECURSIVE numbers (n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM numbers WHERE n < 19)
        INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered,
            is_coexisting, send_rate, created_at)
        SELECT 'lin_00' || n, '$ACCOUNT', '9900' || n, '+9900' || n, 1, 0, 1000, 1 FROM numbers"
    db "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200)
        INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, state, attempts,
            send_at, next_at, expires_at, is_recorded, created_at, body)
        SELECT 'out_' || l.id || '_' || n, user_id, o.account_id, l.id, 1555200000 + n, 'queued',
            0, 1, 1, expires_at, 0, 1, body
        FROM outgoing o, line l, numbers WHERE o.id = '$out' AND l.id LIKE 'lin_00__'"
    start_sender
    eventually row_is "$out" accepted
    queue last
    eventually none_waits
    others=$(db "SELECT count(*) FROM outgoing o, (SELECT created_at, finished_at FROM outgoing
        WHERE id = '$out') AS last
        WHERE o.finished_at BETWEEN last.created_at AND last.finished_at")
    later=$(db "SELECT count(*) FROM outgoing o WHERE o.finished_at > (SELECT finished_at
        FROM outgoing WHERE id = '$out')")
    ((others < 400)) || fail "$others rows went out while one of another line waited"
    ((later > 0)) || fail 'no row waited when the last one was queued'
    db "DELETE FROM outgoing WHERE line_id LIKE 'lin_00__';
        DELETE FROM line WHERE id LIKE 'lin_00__'"
}

@test "of two senders one has the lease; the other takes over when it ends, and nothing is sent twice" {
    local i
    start_sender
    start_sender second
    for i in 1 2 3 4 5 6; do
        to=1555$((1000000 + $(next_number)))
        who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
        queue "$i"
    done
    stop_sender
    queue 7
    eventually row_is "$out" accepted
    eventually none_waits
    assert_equal "$(texts_sent | tr ' ' '\n' | sort | tr '\n' ' ')" '1 2 3 4 5 6 7 '
}

none_waits() {
    [[ $(db 'SELECT count(*) FROM outgoing WHERE finished_at IS NULL') == 0 ]]
}

@test "a contact that was blocked, a line that was archived and a plan that ended after the queuing are not sent to" {
    local blocked
    take "$(payload "$(inbound "wamid.in.$to" "$to" '')")"
    queue x
    blocked=$out
    switchboard contact block "$LINE" "$to" >/dev/null
    start_sender
    eventually row_is "$blocked" suppressed
    assert_equal "$(row "$blocked" reason)" blocked
    stop_sender
    to=1555$((1000000 + $(next_number)))
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
    queue x
    db "UPDATE plan SET ends_at = 1"
    start_sender
    eventually row_is "$out" suppressed
    assert_equal "$(row "$out" reason)" plan_ended
    stop_sender
    db "UPDATE plan SET ends_at = NULL"
    queue x
    db "UPDATE line SET archived_at = 1"
    start_sender
    eventually row_is "$out" suppressed
    assert_equal "$(row "$out" reason)" line_archived
    db "UPDATE line SET archived_at = NULL"
    assert_nothing_sent
}

@test "a row that has waited for longer than validFor expires and is not sent" {
    local at
    at=$(moment '+1 hour')
    schedule x "$at" '"validFor":60'
    # two hours pass
    db "UPDATE outgoing SET send_at = send_at - 7200000, next_at = next_at - 7200000,
        expires_at = expires_at - 7200000"
    start_sender
    eventually row_is "$out" expired
    assert_nothing_sent
    assert_equal "$(row "$out" 'attempts, finished_at >= expires_at')" '0|1'
}

@test "a scheduled row waits for its time, and then goes out" {
    local later
    schedule later "$(moment '+1 hour')"
    later=$out
    start_sender
    queue now # to the same recipient
    eventually row_is "$out" accepted
    assert_equal "$(row "$later" 'state, attempts')" 'queued|0'
    db "UPDATE outgoing SET send_at = send_at - 3600000, next_at = next_at - 3600000
        WHERE id = '$later'"
    eventually row_is "$later" accepted
    assert_equal "$(texts_sent)" 'now later'
}

@test "what was queued while the clock was ten years ahead goes out when it is right, in its order" {
    local ten_years=315360000000 scheduled
    schedule later "$(moment '+1 hour')"
    scheduled=$out
    queue one
    queue two
    # ids have the time of their creation: these get one after the year 2060
    db "UPDATE outgoing SET id = 'out_02' || substr(id, 7), created_at = created_at + $ten_years,
        send_at = send_at + $ten_years, next_at = next_at + $ten_years,
        expires_at = expires_at + $ten_years"
    start_sender
    eventually row_is "out_02${out:6}" accepted
    assert_equal "$(texts_sent)" 'one two'
    assert_equal "$(row "out_02${out:6}" "created_at <= $db_now, send_at = created_at,
        expires_at - send_at")" '1|1|86400000'
    assert_equal "$(row "out_02${scheduled:6}" "state, send_at > $db_now + $ten_years")" 'queued|1'
}

@test "a wait, a lease and an outcome of a clock that was a day ahead delay nothing when it is right" {
    local day=86400000 waiting
    queue x
    waiting=$out
    db "UPDATE outgoing SET next_at = next_at + $day, attempts = 1, expires_at = expires_at + $day;
        INSERT INTO sender_lease (id, owner, lease_until) VALUES (1, 'snd_other', $db_now + $day)"
    queue y
    db "UPDATE outgoing SET state = 'expired', finished_at = $db_now + $day,
        report_at = $db_now + $day WHERE id = '$out'"
    start_sender
    eventually row_is "$waiting" accepted
    assert_equal "$(row "$out" "report_at <= $db_now")" 1
}

@test "messages to one recipient go out in the order of sendAt, not in that of their ids" {
    schedule second "$(moment '+2 hours')"
    schedule first "$(moment '+1 hour')"
    db "UPDATE outgoing SET send_at = send_at - 7200000, next_at = next_at - 7200000"
    schedule never "$(moment '+3 hours')"
    start_sender
    eventually only_one_waits
    assert_equal "$(texts_sent)" 'first second'
    assert_equal "$(row "$out" state)" queued
}

only_one_waits() {
    [[ $(db 'SELECT count(*) FROM outgoing WHERE finished_at IS NULL') == 1 ]]
}

# Prints how many sends of an outcome /metrics has: outcomes NAME
outcomes() {
    request GET /metrics
    sed -n "s/^switchboard_outgoing_sends_total{outcome=\"$1\"} //p" "$body"
}

# bats test_tags=long
@test "the outcomes of the sender are counted in /metrics, each once" {
    local -A before=()
    local name
    for name in accepted retry failed unknown expired suppressed; do
        before[$name]=$(outcomes "$name")
    done
    fault '{"code":131016}'
    start_sender
    queue again
    eventually row_is "$out" accepted
    fault '{"code":131026}'
    queue refused
    eventually row_is "$out" failed
    fault '{"kind":"reset"}'
    queue lost
    eventually row_is "$out" unknown
    schedule late "$(moment '+1 hour')" '"validFor":60'
    db "UPDATE outgoing SET send_at = send_at - 7200000, next_at = next_at - 7200000,
        expires_at = expires_at - 7200000 WHERE id = '$out'"
    eventually row_is "$out" expired
    db 'UPDATE line SET archived_at = NULL'
    schedule never "$(moment '+1 hour')"
    db "UPDATE line SET archived_at = 1;
        UPDATE outgoing SET send_at = 1, next_at = 1 WHERE id = '$out'"
    eventually row_is "$out" suppressed
    db 'UPDATE line SET archived_at = NULL'
    stop_sender
    for name in accepted retry failed unknown expired suppressed; do
        assert_equal "$name $(($(outcomes "$name") - before[$name]))" "$name 1"
    done
}

# bats test_tags=long
@test "doctor finds sends that are due without a sender or for long, and says what to do" {
    local late
    finds() { # LEVEL TEXT
        late=$(switchboard doctor --json 2>/dev/null || true)
        late=$(jq -r '.[] | select(.check == "sender") | "\(.status) \(.detail)"' <<<"$late")
        [[ $late == "$1 "*"$2"* ]] || fail "expected $1 $2: $late"
    }
    finds ok 'alive; 0 sends are due, 0 scheduled for later'
    queue x
    db "UPDATE outgoing SET send_at = $db_now - 700000, next_at = $db_now - 700000"
    finds warn '1 queued send is due, the oldest for 7'
    db "UPDATE heartbeat SET beat_at = beat_at - 125000 WHERE name = 'sender'"
    finds fail 'none runs, and 1 queued send is due, the oldest for 7'
    [[ $late == *'start switchboard-sender, or let cron start `sender --for 60s`'* ]] ||
        fail "$late"
    db "UPDATE outgoing SET send_at = $db_now + 700000, next_at = $db_now + 700000"
    finds warn 'none runs, and 1 send is scheduled for later: start'
    db "DELETE FROM outgoing; DELETE FROM heartbeat WHERE name = 'sender'"
    finds ok 'none runs, and no send waits'
}

@test "a cancelled row is not sent" {
    queue x
    api DELETE "/v2/outgoing/$out"
    start_sender
    queue y
    eventually row_is "$out" accepted
    assert_equal "$(texts_sent)" y
}

@test "an accepted send that the database does not take waits in pending_dir, and the courier stores it" {
    refuse_rows message
    start_sender
    queue x
    eventually is_kept
    assert_equal "$(row "$out" state)" sending
    accept_rows message
    courier_once
    assert_equal "$(row "$out" state)" accepted
    assert_equal "$(record_of "$out")" "api|text|accepted|$(body_of "$out" x)|$to"
    assert_equal "$(sent_count)" 1
}

is_kept() {
    [[ -n $(find "$STACK/pending" -type f) ]]
}

# Has the platform hold back its next answer, until answer_now: hold_reply STATUS TEXT
hold_reply() {
    fault "$(gojq -nc --argjson status "$1" --arg body "$2" '{kind: "delay", ms: 25000,
        status: $status, body: $body, headers: {"Content-Type": "application/json"}}')"
}

@test "a status that comes before the answer settles the row, and both make one message" {
    hold_reply 200 '{"messaging_product":"whatsapp","messages":[{"id":"wamid.early"}]}'
    start_sender
    queue x
    eventually something_sent
    assert_equal "$(row "$out" state)" sending
    report "$out" wamid.early
    assert_equal "$(row "$out" 'state, wamid')" 'accepted|wamid.early'
    eventually is_recorded "$out" # while the POST waits for its answer
    assert_equal "$(record_of "$out")" "api|text|sent|$(body_of "$out" x)|$to"
    answer_now
    stop_sender # ends after the answer
    assert_equal "$(row "$out" 'state, reason, wamid, attempts, length(body), is_recorded')" \
        'accepted||wamid.early|1|0|1'
    assert_equal "$(record_of "$out")" "api|text|sent|$(body_of "$out" x)|$to"
    assert_equal "$(db "SELECT count(*) FROM message WHERE wamid = 'wamid.early'")" 1
    assert_equal "$(sent_count)" 1
}

# bats test_tags=long
@test "a refusal or an unclear answer that comes after the status changes nothing" {
    local answer
    for answer in '400 {"error":{"code":131026,"message":"x"}}' '500 x' \
        '400 {"error":{"code":131016,"message":"x"}}'; do
        forget_sent
        hold_reply "${answer%% *}" "${answer#* }"
        start_sender
        queue x
        eventually something_sent
        report "$out" "wamid.$out"
        answer_now
        stop_sender # ends after the answer
        start_sender # records what the status has shown, if that was not done
        eventually is_recorded "$out"
        stop_sender
        assert_equal "$(sent_count)" 1
    done
    assert_equal "$(db "SELECT count(*), count(DISTINCT wamid), sum(attempts), sum(is_recorded)
        FROM outgoing WHERE state = 'accepted' AND error IS NULL AND reason IS NULL")" '3|3|3|3'
}

@test "a late status accepts a row that was refused and waits: it is not sent again" {
    local refused
    fault '{"code":131016}'
    start_sender
    queue x
    eventually has_attempts "$out" 1
    refused=$out
    stop_sender # with the row queued for its next attempt
    assert_equal "$(row "$refused" 'state, error IS NULL')" 'queued|0'
    report "$refused" "wamid.$refused"
    assert_equal "$(row "$refused" 'state, wamid, reason, error IS NULL')" \
        "accepted|wamid.$refused||1"
    db 'UPDATE outgoing SET next_at = 0'
    start_sender
    eventually is_recorded "$refused"
    queue y
    eventually row_is "$out" accepted
    assert_equal "$(texts_sent)" 'x y'
    assert_equal "$(record_of "$refused")" "api|text|sent|$(body_of "$refused" x)|$to"
}

@test "a late status that accepts a failed send cancels its retry, also the retry of a retry" {
    local -a rows
    fault '{"code":131026}'
    start_sender
    queue x
    eventually row_is "$out" failed
    stop_sender
    rows=("$out")
    api POST "/v2/outgoing/$out/retry" -d '{}'
    rows+=("$(gojq -r .data.id "$body")")
    db "UPDATE outgoing SET state = 'failed', finished_at = 1 WHERE id = '${rows[1]}'"
    api POST "/v2/outgoing/${rows[1]}/retry" -d '{}'
    rows+=("$(gojq -r .data.id "$body")")
    assert_equal "$(row "${rows[2]}" state)" queued
    report "$out" "wamid.$out"
    report "$out" "wamid.$out"
    assert_equal "$(row "${rows[0]}" 'state, wamid')" "accepted|wamid.$out"
    assert_equal "$(row "${rows[1]}" state)" failed
    assert_equal "$(row "${rows[2]}" 'state, reason, finished_at > 1')" \
        'cancelled|accepted_before|1'
    start_sender
    eventually is_recorded "${rows[0]}"
    queue y
    eventually row_is "$out" accepted
    assert_equal "$(texts_sent)" 'x y'
}

# Whether the row was posted so often, and waits for the next time.
has_attempts() { # ID COUNT
    [[ $(row "$1" 'state, attempts') == "queued|$2" ]]
}

@test "a status that comes after the answer and the record changes that message, and makes no other" {
    hold_answer
    start_sender
    queue x
    eventually something_sent
    answer_now
    eventually row_is "$out" accepted
    report "$out" "$(row "$out" wamid)"
    assert_equal "$(record_of "$out")" "api|text|sent|$(body_of "$out" x)|$to"
    assert_equal "$(db "SELECT count(*) FROM message WHERE CAST(body AS TEXT) LIKE '%$out%'")" 1
}

# bats test_tags=long
@test "what waits in a backup that is restored is held: a sender that runs does not send it" {
    only_on_sqlite 'restore is for a file'
    local waiting
    queue old
    waiting=$out
    switchboard backup "$BATS_TEST_TMPDIR/backup" >/dev/null
    start_sender
    eventually row_is "$waiting" accepted
    switchboard restore "$BATS_TEST_TMPDIR/backup" >/dev/null
    have_pulse
    assert_equal "$(row "$waiting" 'state, reason')" 'unknown|restored'
    queue new
    eventually row_is "$out" accepted
    assert_equal "$(texts_sent)" 'old new'
    [[ ! -e $STACK/data/switchboard.db.restoring ]] || fail 'the copy is still there'
}

@test "erasing a person deletes what waits, and nothing of it is sent" {
    local contact
    take "$(payload "$(inbound "wamid.in.$to" "$to" '')")"
    contact=$(db "SELECT id FROM contact WHERE phone = '$to'")
    queue secret
    api POST "/v2/contacts/$contact/erase" -d "{\"confirm\":\"$contact\"}"
    assert_success
    courier_once
    assert_equal "$(row "$out" 'count(*)')" 0
    start_sender
    queue other
    eventually row_is "$out" accepted
    assert_equal "$(texts_sent)" other
}

@test "SIGTERM ends the lease and lets the POST in flight end" {
    hold_answer "{\"match\":{\"recipient\":\"$to\"}}"
    start_sender
    queue x
    eventually something_sent
    kill -TERM "$(cat "$STACK/sender.pid")"
    answer_now
    eventually row_is "$out" accepted
    stop_sender
    assert_equal "$(sent_count)" 1
}
