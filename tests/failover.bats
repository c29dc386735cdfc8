#!/usr/bin/env bats
# Two web hosts on a PostgreSQL server that is killed under traffic, and the rules by which
# `make failover`, which takes three minutes, judges a cluster. The file has a server of its own. It
# runs with programs that support PostgreSQL (`make POSTGRESQL=1`).
# transports: fcgi
# needs: soak
# starts first
# bats file_tags=long
load helpers/all
load helpers/postgresql

setup_file() {
    export RESTARTED=$BATS_FILE_TMPDIR/restarted SOAK_BIN=${HELPERS%/helpers}/soak
    # the server's user must be able to enter its directory
    chmod a+x "$BATS_RUN_TMPDIR" "${BATS_FILE_TMPDIR%/*}" "$BATS_FILE_TMPDIR"
}

teardown_file() {
    :
}

setup() {
    supports_postgresql || skip 'the programs are built without PostgreSQL'
}

# Copies the results, so that a test can change them.
copy_results() {
    copied=$BATS_TEST_TMPDIR/copy
    mkdir "$copied"
    cp "$RESTARTED"/* "$copied/" 2>/dev/null || true # files, no directories
}

# The checker reports this rule, with WHAT: assert_finds RULE-PART WHAT
assert_finds() {
    SOAK_MORE=$root/tests/cluster run "$root/tests/soak/check" "$copied"
    assert_equal "$status" 1
    grep -q "^BROKEN  .*$1" <<<"$output" || fail "the rule is not reported: $output"
    grep -qF -- "$2" <<<"$output" || fail "the finding is not reported: $output"
}

# Prints why the trial failed, most important lines first, since a summary of the suite has only the
# first ones: broken rules with what broke them, or the last lines; the time of each part; the load;
# and the ends of the logs.
explain() {
    local log
    printf 'status %s\n' "$status"
    sed -n '/^BROKEN /,/^\(ok \|[0-9]* rules\)/{ /^\(BROKEN\|        \)/p }' <<<"$output"
    grep -q '^BROKEN ' <<<"$output" || tail -n 4 <<<"$output"
    grep '^restart: ' <<<"$output"
    printf 'load %s\n' "$(cat /proc/loadavg)"
    for log in "$RESTARTED"/{postgresql,traffic,stop}.log \
        "$RESTARTED"/host?/{courier,switchboard}.log; do
        [[ ! -s $log ]] || { printf -- '--- %s\n' "${log#"$RESTARTED/"}" && tail -n 5 "$log"; }
    done
    printf -- '--- all output\n%s\n' "$output"
}

@test "a PostgreSQL server that is killed and started again loses nothing that was acknowledged" {
    RESTART_DIR=$RESTARTED CLUSTER_BIN=$SOAK_BIN run "$root/tests/cluster/restart"
    [[ $status == 0 ]] && grep -q ' rules, 0 broken$' <<<"$output" || { explain && false; }
    printf '%s\n' "$output"
}

@test "the checker detects a send with a key that was sent twice, and one without an answer" {
    local key marker
    copy_results
    read -r marker key < <(awk -F '\t' '$7 == 200 { print $3, $4; exit }' "$copied/send.tsv")
    jq -c --arg marker "$marker" '. + [.[] | select(.body | contains($marker))]' \
        "$RESTARTED/upstream.json" >"$copied/upstream.json"
    assert_finds 'a send with a key that was answered 200 was sent to the platform once' \
        "$key: 2 times"
    cp "$RESTARTED/upstream.json" "$copied/upstream.json"
    awk -F '\t' -v OFS='\t' -v key="$key" '$4 == key { $7 = 503 } { print }' "$RESTARTED/send.tsv" \
        >"$copied/send.tsv"
    assert_finds 'every key has an answer in the end' "$key"
}

@test "the checker detects a gap of service, a fault that was left out, and too little traffic" {
    copy_results
    printf 'longest_gap_ms\t1\nleast_sends\t1000000\n' >>"$copied/observed.tsv"
    printf '1\tkill_everything\n' >>"$copied/deed.tsv"
    assert_finds 'no gap of service is longer than allowed' ' ms'
    grep -q 'of 1000000$' <<<"$output"
    grep -q 'kill_everything' <<<"$output"
}

@test "the checker detects a message of a campaign that was sent twice, and a recipient that was lost" {
    copy_results
    jq -c '. + [[.[] | select(.body | contains("campaign-"))][0]]' "$RESTARTED/upstream.json" \
        >"$copied/upstream.json"
    assert_finds 'no recipient of the campaign got two messages' 1555300
    sqlite3 "$copied/final.db" "DELETE FROM outgoing WHERE id = (SELECT id FROM outgoing
        WHERE campaign_id IS NOT NULL LIMIT 1);
        UPDATE outgoing SET state = 'failed', reason = 'error' WHERE id = (SELECT id FROM outgoing
        WHERE campaign_id IS NOT NULL LIMIT 1)"
    assert_finds 'no recipient of the campaign is lost' '199 of 200 recipients'
    grep -q ' failed error$' <<<"$output"
}

@test "the checker detects a lost message and a gap in the sequences of a cluster" {
    local wamid
    copy_results
    wamid=$(sqlite3 "$copied/final.db" "SELECT wamid FROM message WHERE direction = 'in'
        AND id NOT IN (SELECT message_id FROM flow_response) LIMIT 1")
    sqlite3 "$copied/final.db" "DELETE FROM message WHERE wamid = '$wamid';
        UPDATE event SET sequence = sequence + 100000 WHERE id = (SELECT id FROM event LIMIT 1)"
    assert_finds 'an inbound message answered 200 is stored, once' "$wamid"
    grep -q '^BROKEN  sequences have no gap' <<<"$output"
}
