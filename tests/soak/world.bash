# shellcheck shell=bash
# The installation under test: an Apache with the repository's apache.conf, the sandbox as the
# platform, the courier, the receiver; database and spool on a small file system of their own, where
# mounting is allowed.

app_secret=soak-app-secret-0123456789abcdef verify_token=soak-verify-token-0123456789
waba=(102290129340398 202290129340398 302290129340398)
line=(106540352242922 206540352242922 306540352242922)
platform_token=(sandbox-token-1 sandbox-token-2 sandbox-token-3)

switchboard() {
    "$OUT/tools/switchboard" "$@"
}

sandbox() { # METHOD PATH [BODY]
    curl -sS -g --max-time 60 -X "$1" ${3+-H 'Content-Type: application/json' --data-binary "$3"} \
        "$sandbox_url/_sandbox/$2"
}

# Mounts a small disk, which can be filled. It is visible only to this process and its children.
mount_disk() {
    mkdir -p "$dir/state"
    disk=''
    if [[ -n ${SOAK_NAMESPACE-} ]] &&
        mount -t tmpfs -o "size=${disk_mib}m,mode=755" soak "$dir/state" 2>"$dir/mount.log"; then
        disk=$disk_mib
    fi
    mkdir -p "$dir/state/spool" "$dir/backups"
}

# write_config [LINE...]: the given lines come last and so override earlier ones with the same key.
write_config() {
    {
        cat <<END
database = $dir/state/switchboard.db
secret_key_file = $dir/secret.key
graph_base_url = $sandbox_url
app_secret = $app_secret
verify_token = $verify_token
environment = soak
webhook_egress = private
log_file = $dir/switchboard.log
spool_dir = $dir/state/spool
pending_dir = $dir/state/pending
END
        (($# == 0)) || printf '%s\n' "$@"
    } >"$SWITCHBOARD_CONFIG.new"
    mv "$SWITCHBOARD_CONFIG.new" "$SWITCHBOARD_CONFIG"
}

start_sandbox() {
    printf '{"settings":[{"appSecret":"%s"}]}' "$app_secret" >"$dir/sandbox.json"
    "$OUT/tools/switchboard-sandbox" --port 0 --port-file "$dir/sandbox.port" --state-dir "$dir" \
        --fixtures "$dir/sandbox.json" --record-bytes 1000000000 >"$dir/sandbox.log" 2>&1 &
    sandbox_pid=$!
    wait_until 20 test -s "$dir/sandbox.port" || die 'the sandbox did not start'
    sandbox_url=http://127.0.0.1:$(cat "$dir/sandbox.port")
    sandbox POST accounts \
        "{\"wabaId\":\"${waba[2]}\",\"token\":\"${platform_token[2]}\",\"name\":\"Third\",
        \"phones\":[{\"id\":\"${line[2]}\",\"displayNumber\":\"15550100003\"}]}" >/dev/null
}

start_receiver() {
    "$SOAK_BIN/receiver" "$dir" >"$dir/receiver.log" 2>&1 &
    receiver_pid=$!
    wait_until 20 test -s "$dir/receiver.port" || die 'the receiver did not start'
    receiver_url=http://127.0.0.1:$(cat "$dir/receiver.port")
}

# Creates an account of a user with a line: make_account EMAIL NUMBER
make_account() {
    local account
    account=$(printf %s "${platform_token[$2]}" |
        switchboard account add "$1" --waba-id "${waba[$2]}" --name "Shop $2")
    switchboard line add "$account" --phone-number-id "${line[$2]}" --number "+1555010000$2" \
        >/dev/null
}

make_users() {
    switchboard init >"$dir/init.log"
    token_a=$(switchboard user add a@example.org)
    token_b=$(switchboard user add b@example.org)
    switchboard plan set a@example.org Premium >/dev/null
    switchboard plan set b@example.org Enterprise >/dev/null
    make_account a@example.org 0
    make_account a@example.org 1
    make_account b@example.org 2
}

# Called whenever the courier has ended, as a service manager would start it.
start_courier() {
    "${service[@]}" "$OUT/tools/courier" --config "$SWITCHBOARD_CONFIG" >>"$dir/courier.log" 2>&1 &
    courier_pid=$!
}

# The port is below the range of automatic ports, so that it is still free after a stop.
start_apache() {
    local try options=(--dir "$dir/apache" --home "$OUT" --config "$SWITCHBOARD_CONFIG")
    [[ $transport != fcgi ]] || options+=(--fcgi 2 --fcgi-max 8)
    for ((try = 0; try < 20; try++)); do
        port=$((30000 + SRANDOM % 2700))
        if "$root/tools/private-apache" start "${options[@]}" --port "$port" \
            2>"$dir/start.log"; then
            apache_options=("${options[@]}" --port "$port")
            bases=http://127.0.0.1:$port
            return
        fi
    done
    die "Apache did not start: $(cat "$dir/start.log")"
}

# User A has a webhook from the beginning, so that every new message causes an event.
set_first_webhook() {
    printf 'A\tfirst-code-of-A-made-up-here\n' >"$dir/code.tsv"
    curl -sS --max-time 30 -H "X-API-Token: $token_a" -H 'Content-Type: application/json' \
        -d "{\"webhookUrl\":\"$receiver_url/A/0\",\"webhookCode\":\"first-code-of-A-made-up-here\"}" \
        "${bases%% *}/v2/webhooks/config" | jq -e .success >/dev/null ||
        die 'the webhook cannot be set'
}

# User A has the platform's POSTs forwarded too, with the code of the first webhook, which is stored
# in the same form for all webhooks of a user.
set_forward() {
    forward_webhook | sqlite3 -cmd '.timeout 10000' "$dir/state/switchboard.db"
}

forward_webhook() {
    printf %s "INSERT INTO webhook (id, user_id, kind, url, code, fields, created_at, updated_at)
        SELECT 'whk_forward', user_id, 'forward', '$receiver_url/A/forward', code, '*', created_at,
            updated_at FROM webhook"
}

start_traffic() { # SECONDS
    SOAK_DIR=$dir SOAK_BASE=$bases SOAK_APP_SECRET=$app_secret \
        SOAK_RECEIVER=$receiver_url \
        SOAK_TOKEN_A=$token_a SOAK_TOKEN_B=$token_b SOAK_WABA_1=${waba[0]} SOAK_LINE_1=${line[0]} \
        SOAK_WABA_2=${waba[1]} SOAK_LINE_2=${line[1]} SOAK_WABA_3=${waba[2]} \
        SOAK_LINE_3=${line[2]} \
        "$SOAK_BIN/traffic" "$1" "$seed" >"$dir/traffic.log" 2>&1 &
    traffic_pid=$!
    wait_until 20 test -s "$dir/platform.port" ||
        die "the traffic did not start: $(cat "$dir/traffic.log")"
    sandbox POST settings \
        "{\"automaticStatuses\":true,\"statusDelayMs\":60,\"serviceWindow\":false,
        \"webhookRetries\":8,\"webhookRetryMs\":200,
        \"webhookUrl\":\"http://127.0.0.1:$(cat "$dir/platform.port")/\"}" >/dev/null
    touch "$dir/begin"
}

start_world() {
    touch "$dir"/{outage,deed,observed,unacked,strange,upload}.tsv
    export SWITCHBOARD_CONFIG=$dir/switchboard.conf
    mount_disk
    choose_service_user "$dir"
    start_sandbox
    start_receiver
    write_config
    make_users
    [[ ${service[0]-} != setpriv ]] || chown -R 33:33 "$dir"
    start_courier
    start_apache
    set_first_webhook
    set_forward
}

# Prints what no log may contain: secrets, webhook codes, texts of messages, markers and keys, and
# the arguments.
list_secrets() {
    printf '%s\n' "$token_a" "$token_b" "${platform_token[@]}" "$app_secret" "$verify_token" "$@" \
        'Grüße' 'Gr\u00fc' \
        soak-{{0..9},{a..v}}- key-{0..31}- file-{0..31}-
    switchboard key list --json >"$dir/keys.json"
    grep -oE '[0-9a-f]{64}' "$dir/secret.key"
    cut -f 2 "$dir/code.tsv" | sort -u
}

list_logs() {
    ls "$dir"/switchboard.log "$dir"/courier.log "$dir"/apache/*.log
}

observe() { # NAME VALUE
    printf '%s\t%s\n' "$1" "$2" >>"$dir/observed.tsv"
}

events_pending() {
    sqlite3 -cmd '.timeout 10000' "$dir/state/switchboard.db" \
        "SELECT count(*) FROM event WHERE state = 'pending'"
}

# Makes failed events due at once instead of in minutes or hours, until all are delivered.
drain_events() {
    local deadline=$((SECONDS + 60))
    while (($(events_pending) > 0 && SECONDS < deadline)); do
        sqlite3 -cmd '.timeout 10000' "$dir/state/switchboard.db" \
            "UPDATE delivery SET next_attempt_at = 0 WHERE state = 'pending' AND lease_until = 0;
            UPDATE delivery SET lease_until = 0 WHERE state = 'pending' AND lease_owner NOT IN
                (SELECT lease_owner FROM delivery WHERE lease_until > 0 ORDER BY lease_until DESC LIMIT 1)"
        sleep 0.5
    done
}

# Waits until the courier has stored the records of sends that the database did not take.
store_pending() {
    wait_until 30 none_is_pending || true
}

none_is_pending() {
    [[ -z $(find "$dir/state/pending" -type f) ]]
}

zombies_of() { # PID
    { cat /proc/[0-9]*/stat || true; } 2>/dev/null |
        awk -v parent="$1" '{ sub(/^[0-9]+ \(.*\) /, "") } $1 == "Z" && $2 == parent { n++ } END { print n + 0 }'
}

is_log_empty() {
    [[ ! -s $dir/state/switchboard.db-wal ]]
}

# Measures the idle courier. After a checkpoint that a reader blocked it waits 10 s before the next
# one.
observe_rest() {
    sleep 2.5 # two rounds of housekeeping
    watch_wal
    wait_until 30 is_log_empty || true
    observe wal_end "$(stat -c %s "$dir/state/switchboard.db-wal" 2>/dev/null || printf 0)"
    observe courier_descriptors "$(find "/proc/$courier_pid/fd" -mindepth 1 | wc -l)"
    observe courier_kib "$(awk '/^VmRSS:/ { print $2 }' "/proc/$courier_pid/status")"
    observe courier_kib_most "${ASAN_OPTIONS+10}65536" # a sanitizer keeps freed memory
    observe courier_zombies "$(zombies_of "$courier_pid")"
    observe apache_zombies "$(zombies_of "$(cat "$dir/apache/httpd.pid")")"
}

keep_results() {
    sandbox GET 'requests?path=/messages&method=POST' >"$dir/upstream.json"
    sandbox GET media >"$dir/media.json"
    find "$dir"/state/{spool,pending} -type f ! -name search >"$dir/spooled.tsv" # a lock file
    list_secrets >"$dir/secrets"
    list_logs >"$dir/logs"
}

end_job() { # PID
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# Ends all processes that this script started.
stop_world() {
    local pid
    for pid in ${courier_pid-} ${sandbox_pid-}; do
        kill -CONT "$pid" 2>/dev/null || true
    done
    for pid in ${traffic_pid-} ${courier_pid-} ${locker_pids[@]+"${locker_pids[@]}"}; do
        end_job "$pid"
    done
    [[ ! -d $dir/apache ]] || "$root/tools/private-apache" stop --dir "$dir/apache" || true
    for pid in ${sandbox_pid-} ${receiver_pid-}; do
        end_job "$pid"
    done
}
