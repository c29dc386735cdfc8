#!/usr/bin/env bats
# GET /metrics: the counters of all processes and the state of the installation, for Prometheus
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/webhook

setup_file() {
    start_stack
    make_user
    export METRICS=$STACK/metrics
}

# Reads /metrics into $scraped and checks its form.
scrape() {
    request GET /metrics "$@"
    assert_status 200
    assert_header Content-Type 'text/plain; version=0.0.4; charset=utf-8'
    scraped=$BATS_TEST_TMPDIR/scraped
    cp "$body" "$scraped"
    awk -f "$root/tests/helpers/exposition.awk" "$scraped" || fail "$(cat "$scraped")"
}

# Prints the value of a sample, 0 without one: value_of 'NAME{LABELS}'
value_of() {
    awk -v wanted="$1" '{ at = match($0, / [0-9.]+$/) }
        substr($0, 1, at - 1) == wanted { print substr($0, at + 1); found = 1; exit }
        END { if (!found) print 0 }' "$scraped"
}

requests() { # METHOD ROUTE STATUS
    value_of "switchboard_requests_total{method=\"$1\",route=\"$2\",status=\"$3\"}"
}

# Remembers the value of a sample, for assert_added: remember NAME 'SAMPLE'
remember() {
    printf -v "before_$1" '%s' "$(value_of "$2")"
}

# Checks how much a sample has grown since remember: assert_added NAME 'SAMPLE' COUNT
assert_added() {
    local before=before_$1
    assert_equal "$2 $(value_of "$2")" "$2 $((${!before} + $3))"
}

route_sample() { # METHOD ROUTE STATUS
    printf 'switchboard_requests_total{method="%s",route="%s",status="%s"}' "$@"
}

# --- what is counted ---

# bats test_tags=route,long
@test "each request is counted once, by method, template of the route, and status" {
    local health me refused unknown other
    health=$(route_sample GET /v2/health 200) me=$(route_sample GET /v2/me 200)
    refused=$(route_sample GET /v2/me 401) unknown=$(route_sample GET none 404)
    other=$(route_sample other none 404)
    scrape
    for name in health me refused unknown other; do
        remember $name "${!name}"
    done
    for turn in 1 2 3; do
        request GET /v2/health
        assert_success
    done
    request HEAD /v2/health
    api GET /v2/me
    api GET /v2/me
    request GET /v2/me
    request GET /nowhere
    request GET /nowhere/else
    request FOO /v2/me
    scrape
    assert_added health "$health" 4
    assert_added me "$me" 2
    assert_added refused "$refused" 1
    assert_added unknown "$unknown" 2
    assert_added other "$other" 1
}

# bats test_tags=route,long
@test "64 requests at once of two programs are all counted, and so are their durations" {
    local health me timed='switchboard_request_duration_seconds'
    local count="${timed}_count{method=\"GET\",route=\"/v2/health\"}"
    local infinite="${timed}_bucket{method=\"GET\",route=\"/v2/health\",le=\"+Inf\"}"
    health=$(route_sample GET /v2/health 200) me=$(route_sample GET /v2/me 200)
    scrape
    remember health "$health"
    remember me "$me"
    remember count "$count"
    request_many 64 GET /v2/health
    assert_equal "$(statuses)" '64 200'
    request_many 64 GET /v2/me --as "$TOKEN"
    assert_equal "$(statuses)" '64 200'
    scrape
    assert_added health "$health" 64
    assert_added me "$me" 64
    assert_added count "$count" 64
    assert_equal "$(value_of "$infinite")" "$(value_of "$count")"
}

# bats test_tags=route
@test "calls of the platform are counted by their outcome, with their duration" {
    local text="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    local calls='switchboard_upstream_calls_total{outcome='
    local timed=switchboard_upstream_call_duration_seconds_count
    scrape
    remember success "$calls\"success\"}"
    remember refused "$calls\"refused\"}"
    remember timed "$timed"
    api POST /v2/messages/send/text -d "$text"
    assert_success
    api POST /v2/messages/send/text -d "$text"
    assert_success
    fault '{"status":400,"code":100}'
    api POST /v2/messages/send/text -d "$text"
    assert_status 400
    scrape
    assert_added success "$calls\"success\"}" 2
    assert_added refused "$calls\"refused\"}" 1
    assert_added timed "$timed" 3
}

@test "a platform that is not reached is counted as such" {
    local sample='switchboard_upstream_calls_total{outcome="unreached"}'
    scrape
    remember unreached "$sample"
    write_config 'graph_base_url = http://127.0.0.1:1'
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    assert_status 502
    write_config
    scrape
    assert_added unreached "$sample" 1
}

# bats test_tags=route
@test "updates of the platform are counted by their outcome" {
    local updates='switchboard_inbound_updates_total{outcome=' sent
    scrape
    remember stored "$updates\"stored\"}"
    remember duplicate "$updates\"duplicate\"}"
    sent=$(payload "$(inbound wamid.metrics "$P1" "$B1")")
    take "$sent"
    take "$sent"
    scrape
    assert_added stored "$updates\"stored\"}" 1
    assert_added duplicate "$updates\"duplicate\"}" 1
}

@test "a payload that is too large to be processed is counted" {
    scrape
    remember refusals switchboard_inbound_refusals_total
    { printf '['; yes '0,' | head -n 1100000 | tr -d '\n'; printf '0]'; } >"$BATS_TEST_TMPDIR/large"
    take "@$BATS_TEST_TMPDIR/large"
    scrape
    assert_added refusals switchboard_inbound_refusals_total 1
}

@test "attempts of the courier are counted by their outcome, and its starts" {
    local attempts='switchboard_delivery_attempts_total{outcome=' timed
    timed=switchboard_delivery_attempt_duration_seconds_count
    start_receiver ONE
    make_consumer ALICE
    set_webhook ALICE "$ONE_URL/hook"
    scrape
    remember delivered "$attempts\"delivered\"}"
    remember retry "$attempts\"retry\"}"
    remember timed "$timed"
    remember starts 'switchboard_process_starts_total{program="courier"}'
    add_events ALICE 3 >/dev/null
    "$OUT/tools/courier" --config "$SWITCHBOARD_CONFIG" --once
    answers ONE hook 'status 500'
    add_events ALICE 1 >/dev/null
    "$OUT/tools/courier" --config "$SWITCHBOARD_CONFIG" --once
    scrape
    assert_added delivered "$attempts\"delivered\"}" 3
    assert_added retry "$attempts\"retry\"}" 1
    assert_added timed "$timed" 4
    assert_added starts 'switchboard_process_starts_total{program="courier"}' 2
    stop_receivers
}

@test "the state of the queue, of the courier and of the files is measured" {
    local age version
    version=$(switchboard --version | head -n 1 | cut -d ' ' -f 2)
    db "DELETE FROM event_attempt; DELETE FROM outbox; DELETE FROM heartbeat"
    scrape
    assert_equal "$(value_of switchboard_events_pending)" 0
    refute grep -q '^switchboard_events_oldest_pending_age_seconds ' "$scraped"
    refute grep -q '^switchboard_courier_heartbeat_age_seconds ' "$scraped"
    make_consumer BOB
    set_webhook BOB http://127.0.0.1:1/hook
    add_events BOB 7 >/dev/null
    db "UPDATE outbox SET created_at = created_at - 3600000
        WHERE id = (SELECT min(id) FROM outbox WHERE state = 'pending');
        INSERT INTO heartbeat (name, pid, beat_at) VALUES ('courier', 1, $db_now - 90000)"
    scrape
    assert_equal "$(value_of switchboard_events_pending)" 7
    age=$(value_of switchboard_events_oldest_pending_age_seconds)
    ((${age%.*} >= 3600 && ${age%.*} < 3700)) || fail "$age"
    age=$(value_of switchboard_courier_heartbeat_age_seconds)
    ((${age%.*} >= 90 && ${age%.*} < 190)) || fail "$age"
    assert_equal "$(value_of switchboard_database_up)" 1
    assert_equal "$(value_of switchboard_metrics_up)" 1
    assert_equal "$(value_of switchboard_metrics_dropped_total)" 0
    (($(value_of switchboard_log_size_bytes) > 1000))
    (($(value_of 'switchboard_disk_free_bytes{of="spool"}') > 1000000))
    assert_equal "$(value_of "switchboard_build_info{version=\"$version\"}")" 1
    if [[ -n ${SERVER-} ]]; then # its files are on another machine
        refute grep -e '^switchboard_database_size' -e 'of="database"' "$scraped"
    else
        assert_equal "$(value_of switchboard_database_size_bytes)" "$(stat -c %s "$DB")"
        (($(value_of 'switchboard_disk_free_bytes{of="database"}') > 1000000))
    fi
}

# Adds a queued send: have_send ID STATE NEXT_AT
have_send() {
    db "INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, send_at,
            next_at, expires_at, created_at)
        SELECT 'out_$1', a.user_id, a.id, l.id, '15550007000', CAST('{}' AS BLOB), '$2', 1, $3,
            $db_now + 86400000, 1
        FROM line l JOIN account a ON a.id = l.account_id WHERE l.phone_number_id = '$LINE'"
}

@test "queued sends that wait are measured by their state, and the sender by its heartbeat" {
    local age
    db "DELETE FROM outgoing; DELETE FROM heartbeat WHERE name = 'sender'"
    scrape
    assert_equal "$(sed -n 's/^switchboard_outgoing_waiting//p' "$scraped")" '{state="due"} 0
{state="scheduled"} 0
{state="sending"} 0'
    refute grep -q -e '^switchboard_outgoing_oldest_due_age_seconds ' \
        -e '^switchboard_sender_heartbeat_age_seconds ' "$scraped"
    have_send 1 queued "$db_now - 3600000"
    have_send 2 queued "$db_now - 1000"
    have_send 3 queued "$db_now + 3600000"
    have_send 4 sending "$db_now - 7200000"
    have_send 5 queued "$db_now - 7200000"
    db "UPDATE outgoing SET state = 'cancelled', finished_at = 1 WHERE id = 'out_5';
        INSERT INTO heartbeat (name, pid, beat_at) VALUES ('sender', 1, $db_now - 90000)"
    scrape
    db 'DELETE FROM outgoing'
    assert_equal "$(value_of 'switchboard_outgoing_waiting{state="due"}')" 2
    assert_equal "$(value_of 'switchboard_outgoing_waiting{state="scheduled"}')" 1
    assert_equal "$(value_of 'switchboard_outgoing_waiting{state="sending"}')" 1
    age=$(value_of switchboard_outgoing_oldest_due_age_seconds)
    ((${age%.*} >= 3600 && ${age%.*} < 3700)) || fail "$age"
    age=$(value_of switchboard_sender_heartbeat_age_seconds)
    ((${age%.*} >= 90 && ${age%.*} < 190)) || fail "$age"
}

# bats test_tags=long
@test "at most 10,000 pending events are counted" {
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100)
        INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at, created_at)
        SELECT 'evt_many' || printf('%08d', i), (SELECT min(id) FROM user), 1000000 + i, 'ping',
            x'', 'pending', $db_now, $db_now FROM n"
    scrape
    db "DELETE FROM outbox WHERE id LIKE 'evt_many%'"
    assert_equal "$(value_of switchboard_events_pending)" 10000
}

@test "without a database the counters are readable, and the metrics that need it are left out" {
    request GET /v2/health
    take_database_away
    scrape
    bring_database_back
    assert_equal "$(value_of switchboard_database_up)" 0
    assert_equal "$(grep -c '^switchboard_events_pending' "$scraped")" 0
    (($(requests GET /v2/health 200) > 0))
    grep -F "$(header X-Request-Id)" "$LOG" | grep -qF "database $(shown_database): "
}

# --- labels ---

# bats test_tags=route
@test "no label holds a path, a token or a text of a client" {
    local probe
    request GET /v2/media/SECRETMEDIA/download --as SECRETTOKEN
    request GET '/SECRETPATH?x=SECRETQUERY' -H 'X-Api-Token: SECRETTOKEN'
    request SECRETMETHOD /v2/health -H 'X-Request-Id: SECRETID'
    request GET '/metrics/SECRETPATH"}'
    scrape
    for probe in SECRET "$TOKEN" "$STACK" "$LINE"; do
        refute grep -qF "$probe" "$scraped"
        refute grep -qaF "$probe" "$METRICS"
    done
    (($(requests GET /v2/media/:mediaId/download 401) > 0))
}

# --- who may read ---

@test "with metrics_token every client must send it" {
    local given
    write_config 'metrics_token = the-token-of-this-test'
    for given in '' 'Bearer' 'Bearer wrong' 'Bearer the-token-of-this-tesT' \
        'Basic the-token-of-this-test' 'Bearer the-token-of-this-test2' "Bearer $TOKEN"; do
        request GET /metrics ${given:+-H "Authorization: $given"}
        assert_error 401 UNAUTHORIZED metrics_token
        assert_header WWW-Authenticate 'Bearer realm="switchboard metrics"'
        assert_conventions
    done
    scrape -H 'Authorization: Bearer the-token-of-this-test'
    scrape -H 'Authorization: bearer the-token-of-this-test' -H 'X-Forwarded-For: 192.0.2.1'
    refute grep -qF the-token-of-this-test "$scraped"
    assert_not_logged the-token-of-this-test
    switchboard doctor >"$BATS_TEST_TMPDIR/doctor" || true
    grep -qE '^ok +config.metrics_token +set$' "$BATS_TEST_TMPDIR/doctor"
    write_config
}

@test "without metrics_token a request that a proxy passed on is refused" {
    local name
    for name in Via Forwarded X-Forwarded-For X-Real-IP; do
        request GET /metrics -H "$name: 127.0.0.1"
        assert_error 403 FORBIDDEN 'set metrics_token'
        assert_conventions
    done
    scrape
}

# bats test_tags=direct
@test "without metrics_token only clients on this machine may read" {
    local address
    [[ $TRANSPORT == direct ]] || skip 'Apache sets REMOTE_ADDR'
    ask() {
        printf '' | env -i GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD=GET SCRIPT_NAME=/metrics \
            SWITCHBOARD_CONFIG="$SWITCHBOARD_CONFIG" ${1:+REMOTE_ADDR="$1"} \
            "$OUT/cgi-bin/metrics" | head -n 1
    }
    for address in 127.0.0.1 127.9.9.9 ::1 ::ffff:127.0.0.1; do
        assert_equal "$address $(ask "$address")" "$address Status: 200 OK"$'\r'
    done
    for address in '' 10.0.0.1 192.0.2.127 128.0.0.1 ::2 fe80::1 ::ffff:10.0.0.1 1270.0.0.1 \
        localhost; do
        assert_equal "$address $(ask "$address")" "$address Status: 403 Forbidden"$'\r'
    done
}

@test "similar paths are 404" {
    local path
    for path in /metrics/ /metrics/x /metricsx '/metrics;x' /Metrics /v2/metrics; do
        request GET "$path"
        assert_error 404 NOT_FOUND
        refute_header Allow
    done
}

# --- the file of the counters ---

# Checks that a request succeeds and that its log line has a member `metrics` with TEXT; without
# TEXT, that it has none.
assert_reported() { # [TEXT]
    request GET /v2/health
    assert_success
    log_of_request >"$BATS_TEST_TMPDIR/line"
    if [[ -n ${1-} ]]; then
        jq -e --arg text "$1" '.metrics | contains($text)' "$BATS_TEST_TMPDIR/line" >/dev/null ||
            fail "expected $1: $(cat "$BATS_TEST_TMPDIR/line")"
    else
        jq -e 'has("metrics") | not' "$BATS_TEST_TMPDIR/line" >/dev/null ||
            fail "$(cat "$BATS_TEST_TMPDIR/line")"
    fi
}

# bats test_tags=route,long
@test "a file that is damaged, cut, of another version or foreign is renamed once, and counting goes on" {
    local damage
    [[ $TRANSPORT != fcgi ]] || skip 'a process of a pool has mapped the file already'
    assert_reported
    for damage in 'truncate -s 0' 'truncate -s 100' 'truncate -s 300000' \
        'dd of={} if=/dev/zero bs=8 count=1' 'dd of={} if=/dev/urandom bs=64k count=4' \
        'dd of={} if=/dev/zero bs=1 seek=8 count=4' 'cp README.md'; do
        (cd "$root" && if [[ $damage == *'{}'* ]]; then
            ${damage/'{}'/"$METRICS"} conv=notrunc status=none
        else
            $damage "$METRICS"
        fi)
        cp "$METRICS" "$BATS_TEST_TMPDIR/damaged"
        assert_reported 'renamed to NAME.replaced'
        assert_reported
        cmp "$METRICS.replaced" "$BATS_TEST_TMPDIR/damaged"
        assert_equal "$(stat -c '%s %a' "$METRICS")" '262144 660'
        scrape
        assert_equal "$damage $(requests GET /v2/health 200)" "$damage 2"
    done
    rm "$METRICS.replaced"
}

# bats test_tags=route,long
@test "64 requests at once that find a damaged file replace it once and lose no count" {
    [[ $TRANSPORT != fcgi ]] || skip 'a process of a pool has mapped the file already'
    truncate -s 1000 "$METRICS"
    request_many 64 GET /v2/health
    assert_equal "$(statuses)" '64 200'
    scrape
    assert_equal "$(requests GET /v2/health 200)" 64
    rm "$METRICS" "$METRICS.replaced"
    request_many 64 GET /v2/health
    assert_equal "$(statuses)" '64 200'
    scrape
    assert_equal "$(requests GET /v2/health 200)" 64
    assert_equal "$(find "$STACK" -maxdepth 1 -name 'metrics*')" "$METRICS"
}

# bats test_tags=route
@test "random content in a valid file crashes no program and leaves the form intact" {
    local turn
    [[ $TRANSPORT != fcgi ]] || skip 'a process of a pool has mapped the file already'
    for turn in 1 2 3 4 5; do
        dd if=/dev/urandom of="$METRICS" bs=1k seek=1 count=255 conv=notrunc status=none
        assert_reported
        scrape
    done
    rm "$METRICS"
    assert_reported
}

# bats test_tags=route,long
@test "a file that cannot be used is reported, and requests work without counters" {
    [[ $TRANSPORT != fcgi ]] || skip 'a process of a pool has mapped the file already'
    rm "$METRICS"
    mkdir "$METRICS"
    assert_reported 'Is a directory'
    scrape
    assert_equal "$(value_of switchboard_metrics_up)" 0
    rmdir "$METRICS"
    mkfifo "$METRICS"
    assert_reported 'not a file'
    rm "$METRICS"
    : >"$STACK/target"
    ln -s "$STACK/target" "$METRICS"
    assert_reported 'symbolic links'
    [[ ! -s $STACK/target ]] || fail 'the target was written'
    rm "$METRICS"
    write_config "metrics_file = $STACK/nowhere/metrics"
    assert_reported 'No such file or directory'
    write_config
    assert_reported
    assert_equal "$(value_of switchboard_metrics_up)" 0
    scrape
    assert_equal "$(value_of switchboard_metrics_up)" 1
}

# bats test_tags=route
@test "a file without permission is reported and kept" {
    [[ $TRANSPORT != fcgi ]] || skip 'a process of a pool has mapped the file already'
    ((EUID != 0)) || [[ $TRANSPORT != direct ]] || skip 'root may write every file'
    chmod 0 "$METRICS"
    assert_reported 'Permission denied'
    chmod 660 "$METRICS"
    assert_reported
}

# bats test_tags=route
@test "an empty metrics_file switches counting off" {
    [[ $TRANSPORT != fcgi ]] || skip 'a process of a pool has mapped the file already'
    local modified
    scrape
    cp "$METRICS" "$BATS_TEST_TMPDIR/before"
    write_config 'metrics_file ='
    assert_reported
    scrape
    assert_equal "$(value_of switchboard_metrics_up)" 0
    assert_equal "$(requests GET /v2/health 200)" 0
    cmp "$METRICS" "$BATS_TEST_TMPDIR/before"
    write_config
}

# bats test_tags=route,long
@test "a file that is cut while processes have mapped it costs no request" {
    truncate -s 0 "$METRICS"
    request_many 32 GET /v2/health
    assert_equal "$(statuses)" '32 200'
    request_many 16 GET /v2/me --as "$TOKEN"
    assert_equal "$(statuses)" '16 200'
    refute grep -q 'SIGBUS' "$LOG"
    scrape # makes a new file
    assert_equal "$(value_of switchboard_metrics_up)" 1
}

# bats test_tags=long
@test "64 requests get 64 answers" {
    request_many 64 GET /metrics
    assert_equal "$(statuses)" '64 200'
}

# --- the documentation ---

# Prints the names of the metrics, as TYPE lines have them.
names() {
    sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$scraped" | sort
}

# Prints the metrics of the documentation whose lines match: documented PATTERN
documented() {
    sed -n "/$1/s/^| \`\\(switchboard_[a-z_]*\\)\` .*/\\1/p" "$root/doc/operation.md" | sort
}

# Prints the documented metrics that the stack has: a database on a server has no files.
expected_names() {
    if [[ -n ${SERVER-} ]]; then
        comm -23 <(documented '^') <(documented 'missing for a database on a server')
    else
        documented '^'
    fi
}

# Makes what the metrics are about that are missing otherwise.
have_all_metrics() {
    db "INSERT INTO heartbeat (name, pid, beat_at) VALUES ('courier', 1, 1), ('sender', 1, 1)
        ON CONFLICT DO NOTHING; DELETE FROM outgoing;
        INSERT INTO media_copy (message_id, user_id, account_id, media_id, month, state,
            next_attempt_at, created_at)
            SELECT 'msg_metric', user_id, id, '7', '2026/01', 'queued', 1, 1 FROM account LIMIT 1
            ON CONFLICT DO NOTHING"
    have_send due queued 1
}

# bats test_tags=direct,long
@test "the dashboard is valid JSON, and every metric that it or an alert uses exists" {
    local used name
    have_all_metrics
    make_consumer EVE
    add_events EVE 1 >/dev/null
    : >"$STACK/pending/rec_waits"
    scrape
    rm "$STACK/pending/rec_waits"
    jq -e '(.schemaVersion >= 36) and (.panels | length >= 12) and
        ([.panels[].id] | unique | length) == (.panels | length) and
        all(.panels[] | select(.type != "row"); .targets | length > 0)' \
        "$root/doc/grafana-dashboard.json" >/dev/null
    used=$({ jq -r '.panels[].targets[]?.expr' "$root/doc/grafana-dashboard.json" &&
        sed -n '/^    groups:/,/^$/p' "$root/doc/operation.md"; } |
        grep -oE 'switchboard_[a-z_]+' | sort -u)
    (($(wc -l <<<"$used") > 15)) || fail "only $used"
    for name in $used; do
        if [[ -n ${SERVER-} ]]; then
            ! documented 'missing for a database on a server' | grep -qxF "$name" || continue
        fi
        names | grep -qxE "${name}|$(sed -E 's/_(bucket|sum|count)$//' <<<"$name")" ||
            fail "there is no $name"
    done
    # each group of metrics has a panel
    for name in $(names); do
        grep -qE "^${name}(_bucket|_sum|_count)?\$" <<<"$used" || fail "the dashboard has no $name"
    done
    db "DELETE FROM outbox"
}

# bats test_tags=direct
@test "the table of the documentation lists exactly the metrics that there are" {
    have_all_metrics
    make_consumer FAY
    add_events FAY 1 >/dev/null
    : >"$STACK/pending/rec_waits"
    scrape
    rm "$STACK/pending/rec_waits"
    assert_equal "$(names)" "$(expected_names)"
    db "DELETE FROM outbox"
}

# Checks the line of doctor about the counters: doctor_says STATUS TEXT
doctor_says() {
    output=$(switchboard doctor --json 2>/dev/null || true)
    assert_equal "$(jq -r '.[] | select(.check == "counters").status' <<<"$output")" "$1"
    jq -e --arg text "$2" '.[] | select(.check == "counters").detail | contains($text)' \
        <<<"$output" >/dev/null || fail "$output"
}

# bats test_tags=direct,long
@test "doctor says whether metrics_file can be used, and what to do if not, and changes nothing" {
    scrape
    doctor_says ok "$METRICS can be used"
    rm "$METRICS"
    doctor_says ok "$METRICS can be used"
    [[ ! -e $METRICS ]]
    mkdir "$METRICS"
    doctor_says warn "metrics_file $METRICS: it is not a file; remove it, or give"
    rmdir "$METRICS"
    ln -s /dev/null "$METRICS"
    doctor_says warn 'it is not a file'
    rm "$METRICS"
    write_config "metrics_file = $STACK/nowhere/metrics"
    doctor_says warn 'the service cannot create it: No such file or directory'
    write_config 'metrics_file ='
    doctor_says ok 'metrics_file is empty: nothing is counted'
    write_config
    ((EUID == 0)) || return 0
    # root looks with the rights of the service's group
    : >"$METRICS"
    chmod 600 "$METRICS"
    chgrp nogroup "$STACK/data"
    chmod g+w "$STACK/data"
    doctor_says warn 'the service cannot write it: Permission denied; remove it, or give it and its'
    chgrp root "$STACK/data"
    chmod g-w "$STACK/data"
    rm "$METRICS"
}
