#!/usr/bin/env bats
# tools/courier: which events do not delay which others. The tests compare the order of attempts and
# deliveries, which is independent of the machine's speed; TEST_FULL also checks the delays.
# transports: direct
# starts first
load helpers/all
load helpers/courier

setup_file() {
    start_courier_stack A B
    hanging=50
    [[ -z ${TEST_FULL-} ]] || hanging=200
    put HANGING "$hanging"
    make_many "$HANGING"
}

teardown_file() {
    stop_courier_stack
}

setup() {
    db "DELETE FROM event_attempt; DELETE FROM outbox; UPDATE webhook SET url = '', code = NULL
        WHERE user_id NOT LIKE 'usr_many%';
        UPDATE webhook SET failing_since = NULL, suspended_at = NULL, next_probe_at = NULL"
    rm -f "$STACK"/receivers/*/*.{head,body,meta,answer} "$LOG"
}

teardown() {
    stop_couriers
}

# Makes users usr_many1000..., whose ids sort before all others: make_many COUNT. Each has a webhook on
# its own host (names below localhost resolve to 127.0.0.1); every second host drips its answers.
make_many() {
    local number hash path
    for ((number = 1000; number < 1000 + $1; number++)); do
        hash=$(printf 'token-%d' "$number" | sha256sum)
        printf "INSERT INTO user (id, email, created_at) VALUES ('usr_many%d', 'many%d@example.org', 1);
            INSERT INTO api_token (user_id, hash, created_at) VALUES ('usr_many%d', X'%s', 1);
            INSERT INTO plan (user_id, name, is_addon, created_at) VALUES ('usr_many%d', 'Premium', 0, 1);
            INSERT INTO account (id, user_id, waba_id, name, access_token, created_at)
                VALUES ('acc_many%d', 'usr_many%d', 'many%d', '', X'00', 1);\n" \
            "$number" "$number" "$number" "${hash%% *}" "$number" "$number" "$number" "$number"
    done >"$STACK/many.sql"
    db "BEGIN; $(<"$STACK/many.sql") COMMIT"
    for ((number = 1000; number < 1000 + $1; number++)); do
        path=hang
        ((number % 2)) || path=drip
        request POST /v2/webhooks/config --as "token-$number" \
            -d "{\"webhookUrl\":\"${B_URL/127.0.0.1/host$number.localhost}/$path\",\"webhookCode\":\"many\"}"
        assert_success
    done
}

# Adds ten events of every such user and one event of A, in one transaction.
add_events_of_all() {
    local a
    a=$(db "SELECT id FROM user WHERE email = 'a@example.org'")
    db "BEGIN IMMEDIATE; $(insert "user WHERE id LIKE 'usr_many%'" 10 "'con_' || n.i");
        $(insert "user WHERE id = '$a'" 1 "'con_a'"); COMMIT"
}

# Prints SQL that adds COUNT events, due now, to each of the users. CONTACT is an expression:
# insert USERS COUNT CONTACT [COLUMNS VALUES]
insert() {
    printf '%s' "INSERT INTO outbox (id, user_id, sequence, type, contact_id, body, state, next_attempt_at, created_at${4-})
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
        SELECT 'evt_' || lower(hex(randomblob(13))), u.id, (SELECT coalesce(max(sequence), 0) FROM outbox e
            WHERE e.user_id = u.id) + n.i, 'message.received', $3, CAST('{\"n\":1}' AS BLOB), 'pending', $db_now, $db_now${5-}
        FROM n, (SELECT id FROM $1) u"
}

is_delivered() { # CONTACT
    [[ $(db "SELECT count(*) FROM outbox WHERE contact_id = '$1' AND state = 'done'") != 0 ]]
}

# Prints the position in the order of attempts of a contact's last attempt.
position_of() { # CONTACT
    db "SELECT count(*) FROM event_attempt WHERE rowid <= (SELECT max(a.rowid) FROM event_attempt a
        JOIN outbox e ON e.id = a.event_id WHERE e.contact_id = '$1')"
}

# Expects that A's event began before any attempt of the other hosts that started after SINCE ended:
# assert_undelayed SINCE
assert_undelayed() {
    local due began
    eventually is_delivered con_a
    due=$(db "SELECT created_at FROM outbox WHERE contact_id = 'con_a'")
    began=$(db "SELECT started_at FROM event_attempt a JOIN outbox e ON e.id = a.event_id WHERE e.contact_id = 'con_a'")
    assert_equal "$(db "SELECT count(*) FROM event_attempt a JOIN outbox e ON e.id = a.event_id
        WHERE e.user_id LIKE 'usr_many%' AND a.started_at >= $1 AND a.started_at + a.duration_ms <= $began")" 0
    printf '# behind %d hosts that hang, an event began %d ms after it was due\n' "$HANGING" $((began - due)) >&3
    [[ -z ${TEST_FULL-} ]] || assert_between $((began - due)) 0 999
}

have_failed() { # COUNT: an attempt of so many of the users timed out
    (($(db "SELECT count(DISTINCT e.user_id) FROM event_attempt a JOIN outbox e ON e.id = a.event_id
        WHERE a.error LIKE 'timed out%'") >= $1))
}

none_in_progress() {
    [[ $(db "SELECT count(*) FROM outbox WHERE lease_until > 0 AND state = 'pending'") == 0 ]]
}

# bats test_tags=long
@test "fifty hosts that hang or drip delay no event of another host, and are themselves tried on the schedule" {
    local since
    answers B hang 'wait 40000'
    answers B drip 'bytes 1000' 'drip 1000'
    set_webhook A "$A_URL"
    add_events_of_all
    start_courier
    assert_undelayed 0
    eventually have_failed "$HANGING"
    assert_equal "$(db "SELECT count(*) FROM outbox e WHERE attempts = 1 AND lease_until = 0 AND user_id LIKE 'usr_many%'
        AND (last_error NOT LIKE 'timed out%' OR next_attempt_at - (SELECT max(started_at + duration_ms)
            FROM event_attempt WHERE event_id = e.id) NOT BETWEEN 59900 AND 70000)")" 0
    # the courier has recorded now that they hang; make all their events due again
    db "UPDATE outbox SET next_attempt_at = next_attempt_at + 3600000 WHERE user_id LIKE 'usr_many%' AND lease_until = 0;
        DELETE FROM event_attempt WHERE event_id IN (SELECT id FROM outbox WHERE contact_id = 'con_a');
        DELETE FROM outbox WHERE contact_id = 'con_a'"
    eventually none_in_progress
    since=$(db "SELECT $db_now")
    make_due "user_id LIKE 'usr_many%'"
    add_events_of_all
    assert_undelayed "$since"
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE user_id LIKE 'usr_many%' AND state = 'pending'")" $((HANGING * 20))
}

# --- one user with many hosts ---

# Gives a user COUNT webhooks with ids whk_PREFIX1000..., each on a host of its own, which answers as
# the receiver B answers to /PATH: make_hosts USER PREFIX PATH COUNT [FIRST]
make_hosts() {
    local host=${B_URL/127.0.0.1/$2"' || n.i || '".localhost}
    db "WITH RECURSIVE n (i) AS (SELECT ${5-1000} UNION ALL SELECT i + 1 FROM n WHERE i < ${5-1000} + $4 - 1)
        INSERT INTO webhook (id, user_id, kind, url, code, created_at, updated_at)
        SELECT 'whk_$2' || n.i, '$1', 'event', '${host//\"/}/$3', w.code, 1, 1
        FROM n, webhook w WHERE w.user_id = '$1' AND w.name = 'code'"
}

# Makes a user whose further webhooks have the code of this one, which gets no event: code_for NAME
code_for() {
    db "DELETE FROM event_turn; DELETE FROM webhook WHERE user_id = '$(user_of "$1")'"
    set_webhook "$1" "$A_URL/code"
    db "UPDATE webhook SET name = 'code' WHERE user_id = '$(user_of "$1")'"
}

# Adds COUNT events, due now, for each webhook with such an id: add_to PATTERN [COUNT]
add_to() {
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${2-1})
        INSERT INTO outbox (id, user_id, sequence, type, contact_id, body, state, next_attempt_at, created_at, webhook_id)
        SELECT 'evt_' || lower(hex(randomblob(13))), w.user_id, (SELECT coalesce(max(e.sequence), 0) FROM event e
            WHERE e.user_id = w.user_id) + row_number() OVER (), 'message.received', w.id || n.i,
            CAST('{\"n\":1}' AS BLOB), 'pending', $db_now, $db_now, w.id
        FROM n, webhook w WHERE w.id LIKE '$1'"
}

are_delivered() { # PATTERN
    [[ $(db "SELECT count(*) FROM outbox WHERE webhook_id LIKE '$1' AND state = 'pending'") == 0 ]]
}

# Prints the delays of one more event to each receiver of B, the last of them a new one, in ms:
# delays_of NUMBER
delays_of() {
    make_hosts "$(user_of B)" new quick 1 "$1"
    db "DELETE FROM event_attempt WHERE webhook_id LIKE 'whk_old%'; DELETE FROM outbox WHERE webhook_id LIKE 'whk_old%'"
    add_to 'whk_old%'
    add_to "whk_new$1"
    switchboard event resume >/dev/null # notifies the courier
    eventually are_delivered 'whk_old%'
    eventually are_delivered "whk_new$1"
    db "SELECT a.started_at - e.created_at FROM event_attempt a JOIN event e ON e.id = a.event_id
        WHERE a.webhook_id LIKE 'whk_old%' OR a.webhook_id = 'whk_new$1' ORDER BY a.webhook_id DESC"
}

# Expects that no attempt to a host that hangs ended between the creation of an event of B and the
# start of its delivery, and prints the delays: assert_not_behind NUMBER
assert_not_behind() {
    local delays
    mapfile -t delays < <(delays_of "$1")
    assert_equal "${#delays[@]}" 4
    printf '# beside %d hosts of one user that hang: %d ms (quick), %d ms (takes 1.3 s), %d ms (takes 5 s), %d ms (new)\n' \
        "$hosts" "${delays[@]}" >&3
    assert_equal "$(db "SELECT count(*) FROM event_attempt h, event_attempt a JOIN event e ON e.id = a.event_id
        WHERE h.webhook_id LIKE 'whk_hang%' AND (a.webhook_id LIKE 'whk_old%' OR a.webhook_id = 'whk_new$1')
        AND h.started_at + h.duration_ms BETWEEN e.created_at AND a.started_at")" 0
}

# Starts a courier beside which B's receivers have answered, and one user's hosts that hang, each
# with five events: hang HOSTS
hang() {
    hosts=$1
    answers B hang 'wait 60000'
    answers B quick
    answers B slow 'wait 1300'
    answers B slower 'wait 5000'
    code_for A
    code_for B
    make_hosts "$(user_of B)" oldc quick 1
    make_hosts "$(user_of B)" oldb slow 1
    make_hosts "$(user_of B)" olda slower 1
    make_hosts "$(user_of A)" hang hang "$hosts"
    start_courier
    delays_of 1 >"$BATS_TEST_TMPDIR/alone"
    printf '# beside none: %s ms\n' "$(tr '\n' ' ' <"$BATS_TEST_TMPDIR/alone")" >&3
    add_to 'whk_hang%' 5
}

forget_hosts() {
    stop_couriers
    db "DELETE FROM event_attempt; DELETE FROM outbox; DELETE FROM event_turn;
        DELETE FROM webhook WHERE user_id NOT LIKE 'usr_many%'"
}

have_begun() { # COUNT: attempts to hosts that hang
    [[ $(db "SELECT count(*) FROM delivery WHERE webhook_id LIKE 'whk_hang%' AND attempts > 0") -ge $1 ]]
}

# The courier has 16 slots, so that 30 hosts need more than all of them.
# bats test_tags=long
@test "more hosts of one user that hang than there are slots delay no other user's receiver, be it quick, slow or new" {
    local descriptors=128 hosts
    hang 30
    eventually have_begun 2
    sleep 1.2 # they do not answer for as long as a slow host
    assert_not_behind 2
    forget_hosts
}

@test "257, 600 and 1,000 hosts of one user that hang delay other receivers by less than a second" {
    local hosts number count
    [[ -n ${TEST_FULL-} ]] || skip 'long form'
    for count in 257 600 1000; do
        hang "$count"
        eventually have_begun 2
        for ((number = 2; number < 10; number++)); do
            mapfile -t delays < <(delays_of "$number")
            printf '# beside %d hosts of one user that hang: %d ms (quick), %d ms (takes 1.3 s), %d ms (takes 5 s), %d ms (new)\n' \
                "$hosts" "${delays[@]}" >&3
            assert_equal "${#delays[@]}" 4
            for delay in "${delays[@]}"; do
                assert_between "$delay" 0 999
            done
        done
        assert_between "$(db "SELECT count(DISTINCT webhook_id) FROM event_attempt WHERE error LIKE 'timed out%'")" 80 "$count"
        forget_hosts
    done
}

# --- within one host and one user ---

user_of() { # NAME
    local email=$1_EMAIL
    db "SELECT id FROM user WHERE email = '${!email}'"
}

# Adds events of A that are due now: flood COUNT CONTACT [COLUMNS VALUES]
flood() {
    db "BEGIN IMMEDIATE; $(insert "user WHERE id = '$(user_of A)'" "$@"); COMMIT"
}

flooded=1500
[[ -z ${TEST_FULL-} ]] || flooded=10000

# Expects that the event of a contact is among the first 50 attempts: assert_early CONTACT
assert_early() {
    start_courier
    eventually is_delivered "$1"
    printf '# behind %d events, it was number %d\n' "$flooded" "$(position_of "$1")" >&3
    assert_between "$(position_of "$1")" 1 50
    [[ -z ${TEST_FULL-} ]] || assert_between "$(db "SELECT a.started_at - e.created_at FROM event_attempt a
        JOIN outbox e ON e.id = a.event_id WHERE e.contact_id = '$1'")" 0 999
}

@test "a contact with very many events delays no other contact's events" {
    set_webhook A "$A_URL"
    flood "$flooded" "'con_flood'"
    flood 1 "'con_other'"
    assert_early con_other
}

@test "very many retries delay no first attempt" {
    set_webhook A "$A_URL"
    flood "$flooded" "'con_flood'" ', attempts' ', 1'
    flood 1 "'con_other'"
    assert_early con_other
}

@test "very many first attempts delay no retry" {
    set_webhook A "$A_URL"
    flood "$flooded" "'con_' || n.i"
    flood 1 "'con_other'" ', attempts' ', 1'
    assert_early con_other
}

@test "a user with very many events delays no other user's events on the same host" {
    set_webhook A "$A_URL/one"
    set_webhook B "$A_URL/two"
    flood "$flooded" "'con_' || n.i"
    db "BEGIN IMMEDIATE; $(insert "user WHERE id = '$(user_of B)'" 1 "'con_other'"); COMMIT"
    assert_early con_other
}

@test "more users than the courier selects at a time get their turns" {
    # their codes cannot be decrypted, so their attempts end at once
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO user (id, email, created_at) SELECT 'usr_crowd' || i, 'crowd' || i, 1 FROM n;
        INSERT INTO webhook (id, user_id, kind, url, code, created_at, updated_at)
            SELECT 'whk_' || id, id, 'event', '$A_URL', X'00', 1, 1 FROM user WHERE id LIKE 'usr_crowd%';
        BEGIN IMMEDIATE; $(insert "user WHERE id LIKE 'usr_crowd%'" 5 "'con_' || n.i || u.id"); COMMIT"
    courier_once
    assert_equal "$(db "SELECT count(*), min(attempts) > 0 FROM outbox")" '1500|1'
    assert_between "$(db "SELECT count(DISTINCT e.user_id) FROM (SELECT event_id FROM event_attempt ORDER BY rowid LIMIT 300) a
        JOIN outbox e ON e.id = a.event_id")" 250 300
    db "DELETE FROM event_attempt; DELETE FROM outbox; DELETE FROM event_turn;
        DELETE FROM webhook WHERE user_id LIKE 'usr_crowd%'"
}

@test "contacts take turns, however many events they have, and new contacts do not delay old ones" {
    set_webhook A "$A_URL"
    flood 300 "'con_b' || (n.i % 100 + 1000)"
    courier_once
    # each contact's first event comes before any second one, except for events already in progress
    assert_between "$(db "SELECT count(DISTINCT e.contact_id) FROM (SELECT event_id FROM event_attempt ORDER BY rowid LIMIT 100) a
        JOIN outbox e ON e.id = a.event_id")" 85 100
    # the end of a round is fixed at its start: contacts created meanwhile come in the next round
    db "DELETE FROM event_attempt; INSERT INTO event_turn (webhook_id, turn, order_key, round_end)
        SELECT id, 0, 'con_d', 'con_d' FROM webhook WHERE user_id = '$(user_of A)'
        ON CONFLICT (webhook_id) DO UPDATE SET turn = 0, order_key = 'con_d', round_end = 'con_d'"
    flood "$flooded" "'con_e' || n.i"
    flood 1 "'con_c'"
    assert_early con_c
}
