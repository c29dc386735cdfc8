# shellcheck shell=bash
# The same installation with its database on a PostgreSQL server: one private server that commits to
# the disk, as SQLite does, and web hosts that are one Apache with its pools each, on this machine.

hosts_most=4

# Starts the server, a user on it, and the hosts: start_postgresql
start_postgresql() {
    # shellcheck source=tests/helpers/server.bash
    . "$root/tests/helpers/server.bash"
    write_server_config() {
        printf "listen_addresses = ''\nunix_socket_directories = '%s'\n" "$1"
        printf 'max_connections = 1000\nshared_buffers = 256MB\nmax_wal_size = 1GB\n'
    }
    prepare_database() {
        :
    }
    local number kept=$courier_pid
    rm -rf "$bench/postgresql"
    mkdir -p "$bench/postgresql"
    cp -r "$root"/build/postgresql/{cgi-bin,tools} "$bench/postgresql/" ||
        die 'the programs for PostgreSQL are not built: make POSTGRESQL=1'
    # a socket's path is short
    start_server "$sockets/pg" || die 'the PostgreSQL server did not start'
    started+=("$server")
    count_server
    for ((number = 1; number <= hosts_most; number++)); do
        write_host_config "$number"
    done
    make_user_on_server
    for ((number = 1; number <= hosts_most; number++)); do
        start_host "$number"
    done
    programs=$bench/postgresql courier_config=$world/host1/switchboard.conf start_courier
    courier_pid=$kept
}

# The CPU time of the server counts.
count_server() {
    local pid
    [[ -n $group_dir ]] || return 0
    for pid in "$server" $(pgrep -P "$server"); do
        printf '%s\n' "$pid" >"$group_dir/cgroup.procs"
    done
}

write_host_config() { # NUMBER
    local dir=$world/host$1
    mkdir -p "$dir"/{spool,pending,run,log}
    sed -e "s|^database = .*|database = postgresql:///prepared?host=$SERVER\&user=switchboard|" \
        -e "s|^log_file = .*|log_file = $dir/log/switchboard.log|" \
        -e "s|^spool_dir = .*|spool_dir = $dir/spool\npending_dir = $dir/pending|" \
        "$world/switchboard.conf" >"$dir/switchboard.conf"
    [[ ${service[0]-} != setpriv ]] || chown -R 33:33 "$dir"
}

# The same user with the same lines; its token is $server_token.
make_user_on_server() {
    local kept=$token config=$world/host1/switchboard.conf programs=$bench/postgresql
    make_user
    server_token=$token token=$kept
}

start_host() { # NUMBER
    local dir=$world/host$1
    (in_group "$root/tools/private-apache" start --dir "$dir/apache" --threads 256 \
        --config "$dir/switchboard.conf" --home "$bench/postgresql" --fcgi "$pool" \
        --fcgi-max "$server_pool_max" --fcgi-idle 60) || die "host $1 did not start"
}

stop_hosts() {
    local number
    for ((number = 1; number <= hosts_most; number++)); do
        [[ ! -d $world/host$number/apache ]] ||
            "$root/tools/private-apache" stop --dir "$world/host$number/apache" || true
    done
}

processes_of_hosts() { # COUNT:PROGRAM
    local number
    for ((number = 1; number <= ${1%%:*}; number++)); do
        below "$(cat "$world/host$number/apache/${1#*:}.pid")"
    done
}

# Defines the contenders of as many hosts.
name_hosts() { # COUNT
    local base count=$1 number bases=()
    for ((number = 1; number <= count; number++)); do
        bases+=("http://127.0.0.1:$(cat "$world/host$number/apache/port")")
    done
    base=$(printf '%s;' "${bases[@]}")
    contender "PostgreSQL $count me" "pg:$count:me" "$base/v2/me" get "$server_token"
    contender "PostgreSQL $count send" "pg:$count:messages" "$base/v2/messages/send/text" send \
        "$server_token" "$line"
    contender "PostgreSQL $count webhook" "pg:$count:platform" "$base/platform/webhook" webhook \
        "$world/webhooks"
}

# Requests to several hosts at a time, each with its share of the connections, as one result; TARGET
# is `BASE;BASE;/PATH`: load_hosts TARGET CONNECTIONS SECONDS KIND...
load_hosts() {
    local bases path=${1##*;} base count=0 connections=$2 seconds=$3 dir pids=()
    IFS=';' read -ra bases <<<"${1%;*}"
    shift 3
    dir=$(mktemp -d "$bench/load-XXXXXX")
    for base in "${bases[@]}"; do
        count=$((count + 1))
        wrk -t 1 -c $((connections / ${#bases[@]})) -d "${seconds}s" --timeout 30s \
            -s "$here/load.lua" "$base$path" -- "$@" >"$dir/$count" 2>&1 &
        pids+=($!)
    done
    wait "${pids[@]}" || die "wrk failed: $(cat "$dir"/*)"
    sed -n 's/^RESULT //p' "$dir"/* | jq -cs '{requests: (map(.requests) | add),
        requests_per_second: (map(.requests_per_second) | add), failed: (map(.failed) | add),
        p50_ms: (map(.p50_ms) | add / length), p99_ms: (map(.p99_ms) | max)}'
    rm -rf "$dir"
}

# me, send and inbound over FastCGI: SQLite beside PostgreSQL with the pools of one, two and four
# web hosts.
row_postgresql() {
    local connections count kind_of
    start_postgresql
    for count in 1 2 4; do
        name_hosts "$count"
    done
    for connections in "${all_connections[@]}"; do
        for kind_of in me send; do
            row="$kind_of, two databases"
            in_turn "$connections" "$rounds" 2 "FastCGI $kind_of" "PostgreSQL 1 $kind_of" \
                "PostgreSQL 2 $kind_of" "PostgreSQL 4 $kind_of"
        done
        row_webhook_on_server "$connections"
    done
    campaign_on_server
}

row_webhook_on_server() { # CONNECTIONS
    local round name count=0
    row='inbound webhook, two databases'
    for ((round = 0; round < rounds; round++)); do
        for name in 'FastCGI webhook' 'PostgreSQL 1 webhook'; do
            "$BENCH_BIN/webhooks" 20000 "$1.$((count++))y" "$app_secret" "$waba" "$line" \
                >"$world/webhooks"
            measure "$name" "$1" 2
        done
    done
}
