# shellcheck shell=bash
# A cluster under the traffic of the soak, whose results are checked: for tests/cluster/failover and
# tests/cluster/upgrade.

# shellcheck source=tools/common.bash
. "$root/tools/common.bash"
# shellcheck source=tests/soak/world.bash
. "$root/tests/soak/world.bash"
# shellcheck source=tests/soak/nemesis.bash
. "$root/tests/soak/nemesis.bash"
for part in patroni host balancer snapshot faults campaign; do
    # shellcheck source=/dev/null
    . "$root/tests/cluster/$part.bash"
done

OUT=$(cd "${OUT:-$root/build/postgresql}" && pwd)
SOAK_BIN=$(cd "${SOAK_BIN:-$root/build/plain/soak}" && pwd)
CLUSTER_BIN=$(cd "${CLUSTER_BIN:-$root/build/plain/cluster}" && pwd)
seed=${SEED:-$((SRANDOM % 32768))}
export OUT SOAK_BIN

finish() {
    local status=$?
    trap - EXIT
    stop_all >"$dir/stop.log" 2>&1
    exit "$status"
}

# Empties the directory of the results and has all processes end with this one: open_trial DIR
open_trial() {
    rm -rf "$1"
    mkdir -p "$1"
    chmod 755 "$1"
    dir=$(cd "$1" && pwd)
    began=$SECONDS
    trap finish EXIT
    trap 'exit 130' INT TERM
    printf '%s: everything is kept in %s\n' "${0##*/}" "$dir"
}

# Prints what has happened, and when.
report() {
    printf '%s: %s, after %s s\n' "${0##*/}" "$*" $((SECONDS - began))
}

stop_all() {
    local pid
    [[ -z ${traffic_pid-} ]] || end_job "$traffic_pid"
    on_all_hosts stop_host
    [[ ! -e $dir/haproxy.pid ]] || stop_balancer
    stop_server
    for pid in ${sandbox_pid-} ${receiver_pid-}; do
        end_job "$pid"
    done
}

start_all() {
    local host
    bases=''
    touch "$dir"/{outage,deed,fault,observed,unacked,strange,upload}.tsv
    start_server
    start_sandbox
    start_receiver
    [[ -z ${leads_through_balancer-} ]] || lead_through_balancer "$leads_through_balancer"
    for host in "${hosts[@]}"; do
        make_host "$host" "$OUT"
        bases+=${bases:+ }$(base_of "$host")
    done
    export SWITCHBOARD_CONFIG
    SWITCHBOARD_CONFIG=$(host_dir 1)/switchboard.conf
    make_users
    for host in "${hosts[@]:1}"; do
        copy_key "$host"
    done
    on_all_hosts start_host
    for host in "${hosts[@]}"; do
        wait_until 30 is_ready "$host" ||
            die "host $host is not ready: $(curl -sS "$(base_of "$host")/v2/ready")"
    done
    set_first_webhook
    forward_webhook | sql switchboard -f -
}

# Has a host reach the primary through HAProxy alone.
lead_through_balancer() { # HOST
    local host
    claim_balancer_ports
    for host in "${hosts[@]}"; do
        claim_port "apache_port_$host"
    done
    start_balancer
    url_of[$1]=postgresql://switchboard:$role_password@127.0.0.1:$primary_port/switchboard
}

count_pending() {
    sql switchboard -c "SELECT count(*) FROM event WHERE state = 'pending'"
}

# Makes failed events due at once instead of in minutes or hours, until all are delivered.
deliver_rest() {
    local deadline=$((SECONDS + 45))
    while (($(count_pending) > 0 && SECONDS < deadline)); do
        sql switchboard -c "UPDATE delivery SET next_attempt_at = 0
            WHERE state = 'pending' AND lease_until = 0"
        sleep 0.5
    done
}

keep_all() {
    local host
    sandbox GET 'requests?path=/messages&method=POST' >"$dir/upstream.json"
    sandbox GET media >"$dir/media.json"
    find "$dir"/host?/{spool,pending} -type f ! -name search >"$dir/spooled.tsv" # a lock file
    cp "$(host_dir 1)/secret.key" "$dir/secret.key"
    list_secrets "$server_password" "$role_password" >"$dir/secrets"
    cat "$dir"/host?/log/switchboard.log >"$dir/switchboard.log"
    ls "$dir"/switchboard.log "$dir"/host?/{courier,sender}.log "$dir"/host?/apache/*.log \
        >"$dir/logs"
}

none_is_pending() {
    [[ -z $(find "$dir"/host?/pending -type f) ]]
}

# Ends the cluster and checks what it did: judge LEAST_SENDS LEAST_MESSAGES LONGEST_GAP_MS
judge() {
    local host
    deliver_rest
    wait_until 30 none_is_pending || true
    observe seed "$seed"
    observe least_sends "$1"
    observe least_messages "$2"
    observe longest_gap_ms "$3"
    keep_all
    for host in "${hosts[@]}"; do
        stop_courier_of "$host"
        stop_resident sender "$host"
    done
    snapshot "$dir/final.db"
    stop_all >"$dir/stop.log" 2>&1
    SOAK_MORE=$root/tests/cluster "$root/tests/soak/check" "$dir"
}
