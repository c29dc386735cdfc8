#!/usr/bin/env bats
# A short soak over both transports, and tests that its checker detects errors. `make soak` takes five
# minutes.
# transports: cgi fcgi
# needs: soak
# starts first
# bats file_tags=long
load helpers/all

setup_file() {
    export SOAKED=$BATS_FILE_TMPDIR/soaked SOAK_BIN=${HELPERS%/helpers}/soak
}

teardown_file() {
    :
}

setup() {
    :
}

# Copies the results of the soak, so that a test can change them.
copy_soaked() {
    copied=$BATS_TEST_TMPDIR/copy
    mkdir "$copied"
    cp "$SOAKED"/* "$copied/" 2>/dev/null || true # files, no directories
}

# The checker reports this rule alone, with WHAT: assert_finds RULE-PART WHAT
assert_finds() {
    run "$root/tests/soak/check" "$copied"
    assert_equal "$status" 1
    grep -q "^BROKEN  .*$1" <<<"$output" || fail "the rule is not reported: $output"
    grep -qF -- "$2" <<<"$output" || fail "the finding is not reported: $output"
}

final() {
    sqlite3 "$copied/final.db" "$1"
}

figure() { # NAME
    sed -n "s/^ *$1  *//p" <<<"$output" | head -n 1
}

@test "under random load and failures, everything accepted is there at the end" {
    # seeds whose plans have most kinds of deeds; those of 20 seconds have nearly all
    local -A seeds=([cgi]=77 [fcgi]=47)
    local seconds=12
    [[ -z ${TEST_FULL-} ]] || seeds=([cgi]=380 [fcgi]=410) seconds=20
    # shellcheck disable=SC2153  # tests/run sets TRANSPORT
    export SOAK_DIR=$SOAKED SOAK_SECONDS=$seconds SOAK_TRANSPORT=$TRANSPORT SEED=${seeds[$TRANSPORT]}
    run "$root/tests/soak/run"
    grep -A 1 '^BROKEN' <<<"$output" || true
    printf '%s\n' "$output"
    [[ $status == 0 ]]
    (($(figure 'sends requested') > 20 && $(figure 'inbound messages answered 200') > 20))
    (($(figure 'deeds of the nemesis') > 5))
    grep -q ' rules, 0 broken$' <<<"$output"
    printf '# sweep: soak over %s, SEED=%s: %s requests, %s deeds, %s programs killed; %s sends, %s messages, %s events, none lost [points %s, faults %s, kills %s]\n' \
        "$TRANSPORT" "$(figure seed)" "$(figure 'requests of clients and platform')" \
        "$(figure 'deeds of the nemesis')" "$(figure 'programs and pools killed')" \
        "$(figure 'on record')" "$(figure 'stored')" "$(figure events)" \
        "$(figure 'deeds of the nemesis')" "$(figure 'deeds of the nemesis')" \
        "$(figure 'programs and pools killed')" >&3
}

@test "the same seed gives the same plan, another seed another plan" {
    local transport=$TRANSPORT seed
    # shellcheck source=tests/soak/nemesis.bash
    . "$root/tests/soak/nemesis.bash"
    seed=5
    make_plan 60 >"$BATS_TEST_TMPDIR/plan"
    (($(wc -l <"$BATS_TEST_TMPDIR/plan") > 20))
    make_plan 60 | cmp - "$BATS_TEST_TMPDIR/plan"
    seed=6
    ! make_plan 60 | cmp -s - "$BATS_TEST_TMPDIR/plan" || fail 'another seed gives the same plan'
}

@test "the checker detects a message that is not stored" {
    local wamid
    copy_soaked
    wamid=$(final "SELECT wamid FROM message WHERE direction = 'in' AND id NOT IN (SELECT message_id FROM flow_response) LIMIT 1")
    final "DELETE FROM message WHERE wamid = '$wamid'"
    assert_finds 'an inbound message answered 200 is stored, once' "$wamid"
}

@test "the checker detects a message that was changed" {
    local wamid
    copy_soaked
    wamid=$(final "SELECT wamid FROM message WHERE direction = 'in' LIMIT 1")
    final "UPDATE message SET body = replace(CAST(body AS TEXT), '\\/', '/') || ' ' WHERE wamid = '$wamid'" || true
    final "UPDATE message SET body = CAST(CAST(body AS TEXT) || ' ' AS BLOB) WHERE wamid = '$wamid'"
    assert_finds 'an inbound message is stored unchanged' "$wamid"
}

@test "the checker detects a send without its record" {
    local wamid
    copy_soaked
    wamid=$(awk -F '\t' '$7 == 200 { print $9; exit }' "$copied/send.tsv")
    final "DELETE FROM message_status; DELETE FROM message WHERE wamid = '$wamid'"
    assert_finds 'a send answered 200 is in the inbox with its text, contact and thread' "$wamid"
    assert_finds 'every send that the platform accepted is stored once' "$wamid"
}

@test "the checker detects a send that went out twice" {
    local marker
    copy_soaked
    marker=$(awk -F '\t' '$7 == 200 { print $3; exit }' "$copied/send.tsv")
    jq -c --arg marker "$marker" '. + [.[] | select(.body | contains($marker))]' "$copied/upstream.json" >"$copied/twice"
    mv "$copied/twice" "$copied/upstream.json"
    assert_finds 'no send reached the platform twice' "$marker"
}

@test "the checker detects an event that was not delivered, or that has a changed body or two bodies" {
    local id other
    copy_soaked
    id=$(final "SELECT id FROM event WHERE state = 'done' LIMIT 1")
    awk -F '\t' -v id="$id" '$3 != id' "$SOAKED/delivery.tsv" >"$copied/delivery.tsv"
    assert_finds 'an event that is done was delivered' "$id"
    other=$(awk -F '\t' '$7 == 200 && $2 != "/A/forward" { print $3; exit }' "$SOAKED/delivery.tsv")
    awk -F '\t' -v OFS='\t' -v id="$other" '$3 == id { $8 = $8 "20" } { print }' "$SOAKED/delivery.tsv" >"$copied/delivery.tsv"
    assert_finds 'every delivery of an event has its id and its body' "$other"
    assert_finds 'every delivery is signed' "$other"
    cp "$SOAKED/delivery.tsv" "$copied/delivery.tsv"
    final "UPDATE event SET state = 'dead' WHERE id = '$id'"
    assert_finds 'no event is dead' "$id dead"
    final "UPDATE event SET state = 'done', sequence = sequence + 100000 WHERE id = '$id'"
    assert_finds 'sequences have no gap' '@example.org'
}

@test "the checker detects a payload that was not forwarded, and a forward that was not posted" {
    local id
    copy_soaked
    printf '7B7D\n' >>"$copied/posted.tsv"
    assert_finds 'every payload is forwarded with its bytes' 7B7D
    id=$(awk -F '\t' '$2 == "/A/forward" { print $3; exit }' "$SOAKED/delivery.tsv")
    awk -F '\t' -v OFS='\t' -v id="$id" '$3 == id { $8 = $8 "20" } { print }' "$SOAKED/delivery.tsv" >"$copied/delivery.tsv"
    assert_finds 'nothing is forwarded but what was posted, once' "$id"
    assert_finds 'every delivery is signed' "$id"
}

@test "the checker detects an event that was never created" {
    local id wamid
    copy_soaked
    read -r id wamid < <(sqlite3 -separator ' ' "$copied/final.db" "SELECT e.id, json_extract(e.body, '\$.data.message.id')
        FROM event e JOIN user u ON u.id = e.user_id
        WHERE e.type = 'message.received' AND u.email = 'a@example.org' LIMIT 1")
    final "DELETE FROM event_attempt WHERE event_id = '$id'; DELETE FROM event WHERE id = '$id'"
    assert_finds 'a new message of a user with a permanent webhook has one event' "$wamid"
}

@test "the checker detects a row of another customer" {
    local id
    copy_soaked
    id=$(sqlite3 "$copied/final.db" "SELECT m.id FROM message m JOIN user u ON u.id = m.user_id
        WHERE u.email = 'a@example.org' LIMIT 1")
    final "UPDATE message SET user_id = (SELECT id FROM user WHERE email = 'b@example.org')
        WHERE id = '$id'"
    assert_finds 'every row names the customer that it belongs to' "message $id"
}

@test "the checker detects two contacts of one person, and a lost answer" {
    copy_soaked
    final "UPDATE contact SET bsuid = NULL WHERE phone = '16505550000'"
    awk -F '\t' -v OFS='\t' 'NR == 5 { $5 = 52 } NR == 6 { $8 = "no message" } { print }' "$SOAKED/exchange.tsv" >"$copied/exchange.tsv"
    : >"$copied/outage.tsv"
    assert_finds 'a person is one contact' 'person 0: 16505550000/none'
    grep -q '^BROKEN  every request is answered while Apache runs' <<<"$output"
    grep -q '^BROKEN  every answer is a well-formed envelope' <<<"$output"
}

@test "the checker detects a secret in a log, and a damaged database" {
    copy_soaked
    cp "$SOAKED/switchboard.log" "$copied/leaky.log"
    head -n 1 "$copied/secrets" >>"$copied/leaky.log"
    printf '%s\n' "$copied/leaky.log" >>"$copied/logs"
    final "PRAGMA foreign_keys = OFF; DELETE FROM user WHERE email = 'b@example.org'"
    assert_finds 'no secret and no text is in a log' '1 lines of leaky.log'
    grep -q '^BROKEN  the database is undamaged' <<<"$output"
}

@test "the checker detects an incomplete upload or download, and an upload that arrived twice" {
    local id
    copy_soaked
    id=$(awk -F '\t' '$4 == 200 { print $5; exit }' "$copied/upload.tsv")
    jq -c --arg id "$id" 'map(select(.id == $id).size -= 1)' "$SOAKED/media.json" >"$copied/media.json"
    assert_finds 'an upload answered 200 is complete on the platform' "$id"
    jq -c --arg id "$id" '. + [.[] | select(.id == $id) | .id = "again"]' "$SOAKED/media.json" >"$copied/media.json"
    assert_finds 'no upload reached the platform twice' "$(awk -F '\t' -v id="$id" '$5 == id { print $1; exit }' "$copied/upload.tsv")"
    id=$(awk -F '\t' '$2 == 0 && $3 == 200 { print $1; exit }' "$copied/download.tsv")
    awk -F '\t' -v OFS='\t' -v id="$id" '$1 == id { $4 -= 1 } { print }' "$SOAKED/download.tsv" >"$copied/download.tsv"
    assert_finds 'a download answered 200 is the file' "$id"
}
