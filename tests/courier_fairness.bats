#!/usr/bin/env bats
# tools/courier: who does not wait for whom. What is compared is the order of attempts and deliveries,
# so that the machine's speed does not matter; their distances are asserted by TEST_FULL.
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
    db "DELETE FROM event_attempt; DELETE FROM event; UPDATE webhook SET url = '', code = NULL
        WHERE user_id NOT GLOB 'usr_many*';
        UPDATE webhook SET failing_since = NULL, suspended_at = NULL, next_probe_at = NULL"
    rm -f "$STACK"/receivers/*/*.{head,body,meta,answer} "$LOG"
}

teardown() {
    stop_couriers
}

# Users usr_many1000... in the order of their ids, before all others, each with a webhook on a host of
# its own (names below localhost are 127.0.0.1); every second one's answers are dripped:
# make_many COUNT
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

# Ten events of every one of the many and one of A, in one transaction.
add_events_of_all() {
    local a
    a=$(db "SELECT id FROM user WHERE email = 'a@example.org'")
    db "BEGIN IMMEDIATE; $(insert "user WHERE id GLOB 'usr_many*'" 10 "'con_' || n.i");
        $(insert "user WHERE id = '$a'" 1 "'con_a'"); COMMIT"
}

# SQL that adds COUNT events, due now, to each of the users, about the contact that an expression gives:
# insert USERS COUNT CONTACT [COLUMNS VALUES]
insert() {
    printf '%s' "INSERT INTO event (id, user_id, sequence, type, contact_id, body, state, next_attempt_at, created_at${4-})
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
        SELECT 'evt_' || lower(hex(randomblob(13))), u.id, (SELECT coalesce(max(sequence), 0) FROM event e
            WHERE e.user_id = u.id) + n.i, 'message.received', $3, CAST('{\"n\":1}' AS BLOB), 'pending', $db_now, $db_now${5-}
        FROM n, (SELECT id FROM $1) u"
}

is_delivered() { # CONTACT
    [[ $(db "SELECT count(*) FROM event WHERE contact_id = '$1' AND state = 'done'") != 0 ]]
}

# How many events were handed in before those of a contact, those of its own included.
place_of() { # CONTACT
    db "SELECT count(*) FROM event_attempt WHERE rowid <= (SELECT max(a.rowid) FROM event_attempt a
        JOIN event e ON e.id = a.event_id WHERE e.contact_id = '$1')"
}

# A's event began before an attempt of another host that began since then had ended:
# assert_undelayed SINCE
assert_undelayed() {
    local due began
    eventually is_delivered con_a
    due=$(db "SELECT created_at FROM event WHERE contact_id = 'con_a'")
    began=$(db "SELECT started_at FROM event_attempt a JOIN event e ON e.id = a.event_id WHERE e.contact_id = 'con_a'")
    assert_equal "$(db "SELECT count(*) FROM event_attempt a JOIN event e ON e.id = a.event_id
        WHERE e.user_id GLOB 'usr_many*' AND a.started_at >= $1 AND a.started_at + a.duration_ms <= $began")" 0
    printf '# behind %d hosts that hang, an event began %d ms after it was due\n' "$HANGING" $((began - due)) >&3
    [[ -z ${TEST_FULL-} ]] || assert_between $((began - due)) 0 999
}

have_failed() { # COUNT: so many of the many have an attempt behind them
    (($(db "SELECT count(DISTINCT e.user_id) FROM event_attempt a JOIN event e ON e.id = a.event_id
        WHERE a.error LIKE 'timed out%'") >= $1))
}

nothing_flies() {
    [[ $(db "SELECT count(*) FROM event WHERE lease_until > 0 AND state = 'pending'") == 0 ]]
}

@test "fifty hosts that hang or drip delay no event of another host, and their own are tried on the schedule" {
    local since
    answers B hang 'wait 40000'
    answers B drip 'bytes 1000' 'drip 1000'
    set_webhook A "$A_URL"
    add_events_of_all
    start_courier
    assert_undelayed 0
    eventually have_failed "$HANGING"
    assert_equal "$(db "SELECT count(*) FROM event e WHERE attempts = 1 AND lease_until = 0 AND user_id GLOB 'usr_many*'
        AND (last_error NOT LIKE 'timed out%' OR next_attempt_at - (SELECT max(started_at + duration_ms)
            FROM event_attempt WHERE event_id = e.id) NOT BETWEEN 59900 AND 70000)")" 0
    # now they are known to hang; all that waits is due at once again
    db "UPDATE event SET next_attempt_at = next_attempt_at + 3600000 WHERE user_id GLOB 'usr_many*' AND lease_until = 0;
        DELETE FROM event_attempt WHERE event_id IN (SELECT id FROM event WHERE contact_id = 'con_a');
        DELETE FROM event WHERE contact_id = 'con_a'"
    eventually nothing_flies
    since=$(db "SELECT $db_now")
    make_due "user_id GLOB 'usr_many*'"
    add_events_of_all
    assert_undelayed "$since"
    assert_equal "$(db "SELECT count(*) FROM event WHERE user_id GLOB 'usr_many*' AND state = 'pending'")" $((HANGING * 20))
}

# --- within one host, and one customer ---

user_of() { # NAME
    local email=$1_EMAIL
    db "SELECT id FROM user WHERE email = '${!email}'"
}

# Adds events of A, due one after the other: flood COUNT CONTACT [COLUMNS VALUES]
flood() {
    db "BEGIN IMMEDIATE; $(insert "user WHERE id = '$(user_of A)'" "$@"); COMMIT"
}

flooded=1500
[[ -z ${TEST_FULL-} ]] || flooded=10000

# The event of a contact is among the first that are handed in: assert_early CONTACT
assert_early() {
    start_courier
    eventually is_delivered "$1"
    printf '# behind %d events, it was number %d\n' "$flooded" "$(place_of "$1")" >&3
    assert_between "$(place_of "$1")" 1 50
    [[ -z ${TEST_FULL-} ]] || assert_between "$(db "SELECT a.started_at - e.created_at FROM event_attempt a
        JOIN event e ON e.id = a.event_id WHERE e.contact_id = '$1'")" 0 999
}

@test "a contact with a great many events delays no other contact's" {
    set_webhook A "$A_URL"
    flood "$flooded" "'con_flood'"
    flood 1 "'con_other'"
    assert_early con_other
}

@test "a great many retries delay no first attempt" {
    set_webhook A "$A_URL"
    flood "$flooded" "'con_flood'" ', attempts' ', 1'
    flood 1 "'con_other'"
    assert_early con_other
}

@test "a great many first attempts delay no retry" {
    set_webhook A "$A_URL"
    flood "$flooded" "'con_' || n.i"
    flood 1 "'con_other'" ', attempts' ', 1'
    assert_early con_other
}

@test "a customer with a great many events delays no other customer's on the same host" {
    set_webhook A "$A_URL/one"
    set_webhook B "$A_URL/two"
    flood "$flooded" "'con_' || n.i"
    db "BEGIN IMMEDIATE; $(insert "user WHERE id = '$(user_of B)'" 1 "'con_other'"); COMMIT"
    assert_early con_other
}

@test "more customers than one look takes in have their turns" {
    # whose codes cannot be opened: their attempts end at once
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO user (id, email, created_at) SELECT 'usr_crowd' || i, 'crowd' || i, 1 FROM n;
        INSERT INTO webhook (user_id, url, code, updated_at) SELECT id, '$A_URL', X'00', 1 FROM user WHERE id GLOB 'usr_crowd*';
        BEGIN IMMEDIATE; $(insert "user WHERE id GLOB 'usr_crowd*'" 5 "'con_' || n.i || u.id"); COMMIT"
    courier_once
    assert_equal "$(db "SELECT count(*), min(attempts) > 0 FROM event")" '1500|1'
    assert_between "$(db "SELECT count(DISTINCT e.user_id) FROM (SELECT event_id FROM event_attempt ORDER BY rowid LIMIT 300) a
        JOIN event e ON e.id = a.event_id")" 250 300
    db "DELETE FROM event_attempt; DELETE FROM event; DELETE FROM webhook WHERE user_id GLOB 'usr_crowd*'"
}

@test "contacts have their turns, whatever they have waiting, and new ones do not put old ones off" {
    set_webhook A "$A_URL"
    flood 300 "'con_b' || (n.i % 100 + 1000)"
    courier_once
    # the first of each before the second of any but those that were under way at that time
    assert_between "$(db "SELECT count(DISTINCT e.contact_id) FROM (SELECT event_id FROM event_attempt ORDER BY rowid LIMIT 100) a
        JOIN event e ON e.id = a.event_id")" 85 100
    # a round ends where it did when it began: contacts that are made meanwhile come after the next one
    db "DELETE FROM event_attempt; INSERT INTO event_turn (user_id, turn, contact_id, round_end) VALUES ('$(user_of A)', 0, 'con_d', 'con_d')
        ON CONFLICT (user_id) DO UPDATE SET turn = 0, contact_id = 'con_d', round_end = 'con_d'"
    flood "$flooded" "'con_e' || n.i"
    flood 1 "'con_c'"
    assert_early con_c
}
