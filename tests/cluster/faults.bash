# shellcheck shell=bash
# The faults of `make failover`. Each waits until the cluster is whole again, so that the next one
# is a single fault too.

# Carries out a fault and writes to fault.tsv when it began and when all was whole again (ms since
# 1970): suffer NAME [ARGUMENT...]
suffer() {
    local began
    began=$(now_ms)
    printf '%s\t%s\n' $((began - traffic_began)) "$*" >>"$dir/deed.tsv"
    "$@"
    wait_until 60 is_whole || die "the cluster is not whole 60 s after $*: see $dir/patroni*.log"
    printf '%s\t%s\t%s\n' "$*" "$began" "$(now_ms)" >>"$dir/fault.tsv"
}

has_new_primary() { # OLD
    local primary
    primary=$(find_primary) && [[ $primary != "$1" ]]
}

# The machine of the primary fails: Patroni and all processes of PostgreSQL. It is started again
# when the other node is the primary.
kill_primary() {
    local primary
    primary=$(find_primary)
    kill_server_of "$dir/node$primary/data" "$(cat "$dir/patroni$primary.pid")" \
        "$(postmaster_of "$primary")"
    wait_until 60 has_new_primary "$primary" || die 'the standby did not become the primary'
    start_patroni "$primary"
}

# PostgreSQL alone ends; its Patroni starts it again, or gives the place to the standby.
kill_postmaster() {
    local pid primary
    primary=$(find_primary)
    pid=$(postmaster_of "$primary")
    kill_server_of "$dir/node$primary/data" "$pid"
    wait_until 60 has_new_postmaster "$pid" ||
        die 'no PostgreSQL server became the primary again'
}

has_new_postmaster() { # OLD
    local primary pid
    primary=$(find_primary) && pid=$(postmaster_of "$primary") && [[ $pid != "$1" ]]
}

# Patroni of the primary ends, and nothing stops its PostgreSQL: it goes on taking connections when
# the other node is the primary. Each host refuses a token within 15 s after it was replaced then,
# and is ready again.
kill_patroni() {
    local primary host until old
    primary=$(find_primary)
    old=$(switchboard user add "c$primary@example.org")
    kill -KILL "$(cat "$dir/patroni$primary.pid")"
    wait_until 60 has_new_primary "$primary" || die 'the standby did not become the primary'
    # A commit that began on the former primary at the moment of the promotion fails after 10 s.
    wait_until 15 replace_token "c$primary@example.org" || die 'the token cannot be replaced'
    until=$(($(now_ms) + 15000))
    for host in "${hosts[@]}"; do
        wait_until "$(seconds_to "$until")" refuses_token "$host" "$old" ||
            die "host $host takes a token 15 s after it was replaced"
    done
    for host in "${hosts[@]}"; do
        wait_until "$(seconds_to "$until")" is_ready "$host" ||
            die "host $host is not ready 15 s after the failover:" \
                "$(curl -sS "$(base_of "$host")/v2/ready")"
    done
    postmaster_of "$primary" >/dev/null || die 'the former primary does not run any more'
    start_patroni "$primary"
}

replace_token() { # EMAIL
    switchboard token regenerate "$1" >/dev/null 2>>"$dir/administer.log"
}

# Prints the seconds until a time in ms since 1970, at least one.
seconds_to() {
    local left=$((($1 - $(now_ms)) / 1000))
    printf '%s' $((left > 0 ? left : 1))
}

# A valid token of a user without an account is answered 404.
refuses_token() { # HOST TOKEN
    [[ $(curl -s -o /dev/null -w '%{http_code}' --max-time 10 -H "X-API-Token: $2" \
        "$(base_of "$1")/v2/me") == 401 ]]
}

switch_over() {
    local primary
    primary=$(find_primary)
    curl -sS -o "$dir/switchover.txt" --max-time 60 -H 'Content-Type: application/json' \
        -d "{\"leader\":\"node$primary\",\"candidate\":\"node$(other_node "$primary")\"}" \
        "http://127.0.0.1:$(port_of patroni "$primary")/switchover"
    wait_until 60 has_new_primary "$primary" ||
        die "the switchover did not happen: $(cat "$dir/switchover.txt")"
}

kill_courier() {
    local here
    here=$(host_dir 1)
    kill_trees "$(cat "$here/courier.pid")"
    sleep 3
    start_courier_of 1
}

# The sender that has the lease ends, and so do the others: what was being sent is `unknown`.
kill_senders() {
    local host
    for host in "${hosts[@]}"; do
        kill_trees "$(cat "$(host_dir "$host")/sender.pid")"
    done
    sleep 1
    for host in "${hosts[@]}"; do
        start_resident sender "$host"
    done
}

# A web host fails and is started again.
kill_web_host() {
    local began
    began=$(now_ms)
    kill_host 3
    sleep 3
    start_host 3
    printf '%s\t%s\n' "$began" "$(now_ms)" >>"$dir/outage.tsv"
}
