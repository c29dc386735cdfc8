# shellcheck shell=bash
# The delivery of events by the courier, with one webhook or 1,000. `database` selects another
# database than that of the world, `courier_config` its configuration.

due_added=0

# A query on the database of the events: db SQL
db() {
    sqlite3 -cmd '.timeout 20000' "${database:-$world/data/switchboard.db}" "$1"
}

# Adds 999 users with an account and a line each, as fill_sql does.
add_users() {
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
        INSERT INTO user (id, email, created_at)
        SELECT printf('usr_fill%04d', i), printf('fill%04d@example.org', i), 1 FROM n;
        INSERT INTO account (id, user_id, waba_id, name, created_at)
        SELECT 'acc_' || substr(id, 5), id, '700' || substr(id, 9), 'Fill', 1 FROM user
        WHERE id LIKE 'usr_fill%';
        INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered,
            is_coexisting, created_at)
        SELECT 'lin_' || substr(id, 5), id, waba_id, '+7', 1, 0, 1 FROM account
        WHERE id LIKE 'acc_fill%'"
}

# Configures a webhook for each user of fill_sql, with a token of that user.
configure_webhooks() {
    local id number user_token webhook
    webhook=$(write_webhook)
    while read -r id; do
        number=$((10#${id#usr_fill}))
        user_token=$(printf 'sb_%064d' "$number")
        printf "INSERT INTO api_token (user_id, hash, created_at) VALUES ('%s', x'%s', 1);\n" \
            "$id" "$(printf %s "$user_token" | sha256sum | cut -c1-64)"
        printf "INSERT INTO plan VALUES ('%s', 'Premium', 0, NULL, 1);\n" "$id"
        printf "UPDATE account SET access_token = x'00' WHERE user_id = '%s';\n" "$id"
        printf 'next\nurl = "%s/v2/webhooks/config"\nheader = "X-API-Token: %s"\n' "$fcgi" \
            "$user_token" >&3
        printf 'header = "Content-Type: application/json"\n' >&3
        printf 'data = "%s"\n' "${webhook//\"/\\\"}" >&3
        printf 'output = /dev/null\nsilent\nfail\nshow-error\n' >&3
    done < <(db "SELECT id FROM user WHERE id LIKE 'usr_fill%'") 3>"$world/configure.curl" \
        >"$world/tokens.sql"
    { printf 'BEGIN;\n'; cat "$world/tokens.sql"; printf 'COMMIT;\n'; } |
        sqlite3 -bail -cmd '.timeout 20000' "$world/data/switchboard.db"
    sed -i 1d "$world/configure.curl"
    curl --parallel --parallel-max 8 --no-progress-meter --config "$world/configure.curl" ||
        die 'a webhook could not be configured'
    configure_webhook
}

write_webhook() {
    jq -nc --arg url "$fcgi/bench/hello_fcgi" \
        '{webhookUrl: $url, webhookCode: "bench-webhook-code-of-32-characters"}'
}

# Configures the webhook of the user of the measurements.
configure_webhook() {
    answer_of -H 'Content-Type: application/json' -d "$(write_webhook)" \
        "$cgi/v2/webhooks/config" | jq -e .success >/dev/null ||
        die 'the webhook could not be configured'
}

# Adds due events without a contact: nine of ten for the webhook of the measurements, the others for
# those of the 999 users, if there are any: add_due COUNT
add_due() {
    db "INSERT INTO event (id, user_id, sequence, type, body, state, created_at)
        WITH RECURSIVE n (i) AS (SELECT $due_added + 1
            UNION ALL SELECT i + 1 FROM n WHERE i < $due_added + $1)
        SELECT printf('evt_9%025d', i),
        coalesce((SELECT id FROM user WHERE i % 10 = 0
            AND id = printf('usr_fill%04d', 1 + (i / 10) % 999)), a.user_id), 100000000 + i,
        'message.received', CAST('{\"type\":\"message.received\",\"data\":{}}' AS BLOB),
        'pending', 1
        FROM n, account a WHERE a.waba_id = '$waba';
        INSERT INTO delivery (event_id, webhook_id, user_id, sequence, state, next_attempt_at,
            created_at)
        SELECT e.id, w.id, e.user_id, e.sequence, 'pending', 1, 1 FROM event e
        JOIN webhook w ON w.user_id = e.user_id WHERE e.id > printf('evt_9%025d', $due_added)"
    due_added=$((due_added + $1))
}

due() {
    db "SELECT count(*) FROM event WHERE id > 'evt_9' AND state = 'pending'"
}

is_idle() {
    (($(due) == 0))
}

stop_courier() {
    kill "$courier_pid"
    wait "$courier_pid" 2>/dev/null || true
}

# Adds due events, and starts the courier until it has delivered them. Sets `delivered`, events per
# second: deliver_due COUNT
deliver_due() {
    local before left
    add_due "$1"
    before=$(now_ms)
    start_courier
    until left=$(due) && ((left < $1 / 20)); do
        (($(now_ms) - before < 120000)) || die 'the events were not delivered in two minutes'
        sleep 0.05
    done
    delivered=$((($1 - left) * 1000 / ($(now_ms) - before)))
    wait_until 180 is_idle || die 'the last events were not delivered'
    stop_courier
}

# Events per second with one webhook and with 1,000, in turn. The database with one is a copy from
# before the others were configured.
compare_webhooks() {
    local events=$1 round name
    row='events delivered'
    stop_courier
    db "VACUUM INTO '$world/data/one.db'"
    sqlite3 "$world/data/one.db" 'PRAGMA journal_mode = WAL' >/dev/null
    chown --reference="$world/data/switchboard.db" "$world/data/one.db"
    chmod --reference="$world/data/switchboard.db" "$world/data/one.db"
    sed "s|^database = .*|database = $world/data/one.db|" "$world/switchboard.conf" \
        >"$world/one.conf"
    add_users
    configure_webhooks
    for ((round = 0; round < rounds; round++)); do
        for name in one switchboard; do
            database=$world/data/$name.db courier_config=$world/$name.conf
            deliver_due "$events"
            record_events "$([[ $name == one ]] && echo 'one webhook' || echo '1,000 webhooks')"
        done
    done
    database='' courier_config=''
    start_courier
    sleep 1 # a signal to end before it has begun would be lost
}

# Writes `delivered` as a run: record_events CONTENDER
record_events() {
    jq -nc --arg row "$row" --arg contender "$1" --argjson rate "$delivered" \
        '{row: $row, contender: $contender, connections: 1, requests_per_second: $rate,
            p50_ms: 0, p99_ms: 0, failed: 0, cpu_ms_per_1000: 0, own_cpu_ms_per_1000: 0,
            peak_kib: 0}' >>"$runs"
    printf '%-22s %-16s %s events/s\n' "$row" "$1" "$delivered" >&2
}
