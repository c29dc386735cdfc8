# shellcheck shell=bash
# The database of a cluster: one etcd, and two PostgreSQL servers that Patroni runs. All are
# processes of this script's user, or of `postgres` when that is root, and have their files below
# $dir and ports of their own on 127.0.0.1. The services of the packages are not used.

nodes=(1 2)
postgresql_bin=$(pg_config --bindir)

# Sets as_server to the words that start a command as the user of the servers, since PostgreSQL does
# not run as root.
choose_server_user() {
    as_server=()
    ((EUID != 0)) || as_server=(setpriv --reuid=postgres --regid=postgres --init-groups)
    local barred service=("${as_server[@]}")
    barred=$(barred_directory "$dir")
    [[ -z $barred ]] || die "the database servers run as postgres here, which may not enter" \
        "$barred: move the checkout, or run chmod o+x $barred"
}

# Sets the variable NAME to a port that is free, and keeps it for the next start: claim_port NAME
claim_port() {
    local try number
    if [[ -s $dir/ports ]]; then
        number=$(sed -n "s/^$1=//p" "$dir/ports")
        [[ -z $number ]] || { printf -v "$1" %s "$number"; return; }
    fi
    for ((try = 0; try < 100; try++)); do
        # below the range of automatic ports
        number=$((20000 + SRANDOM % 12000))
        ! grep -qs "=$number$" "$dir/ports" || continue
        ! (: <"/dev/tcp/127.0.0.1/$number") 2>/dev/null || continue
        printf '%s=%s\n' "$1" "$number" >>"$dir/ports"
        printf -v "$1" %s "$number"
        return
    done
    die 'no free port was found on 127.0.0.1'
}

claim_server_ports() {
    local node
    claim_port etcd_port
    claim_port etcd_peer_port
    for node in "${nodes[@]}"; do
        claim_port "postgresql_port_$node"
        claim_port "patroni_port_$node"
    done
}

# The port of a node: port_of postgresql|patroni NODE
port_of() {
    local name=${1}_port_$2
    printf '%s' "${!name}"
}

# Starts a command without the terminal, in a session of its own: background NAME COMMAND...
# Its process id is in $dir/NAME.pid, its output in $dir/NAME.log. Descriptor 9 is a demo's lock.
background() {
    local name=$1
    shift
    setsid "$@" </dev/null >>"$dir/$name.log" 2>&1 3>&- 9>&- &
    printf '%s\n' $! >"$dir/$name.pid"
    disown
}

start_etcd() {
    running "$dir/etcd.pid" "$dir/etcd/data" && return
    # without the variables of the package, which name its own ports
    background etcd "${as_server[@]}" env -i PATH="$PATH" etcd --name one --data-dir \
        "$dir/etcd/data" --log-level warn \
        --listen-client-urls "http://127.0.0.1:$etcd_port" \
        --advertise-client-urls "http://127.0.0.1:$etcd_port" \
        --listen-peer-urls "http://127.0.0.1:$etcd_peer_port" \
        --initial-advertise-peer-urls "http://127.0.0.1:$etcd_peer_port" \
        --initial-cluster "one=http://127.0.0.1:$etcd_peer_port"
    wait_until 20 curl -sf -o /dev/null --max-time 2 "http://127.0.0.1:$etcd_port/health" ||
        die "etcd did not start: see $dir/etcd.log"
}

# Within ttl (10 s) without a sign of life the primary loses its place; the defaults of Patroni
# (30, 10, 10) make a failover three times as long.
write_patroni() { # NODE
    local node=$1
    cat >"$dir/patroni$node.yml" <<END
scope: switchboard
name: node$node
restapi:
  listen: 127.0.0.1:$(port_of patroni "$node")
  connect_address: 127.0.0.1:$(port_of patroni "$node")
etcd3:
  host: 127.0.0.1:$etcd_port
bootstrap:
  dcs:
    ttl: 10
    loop_wait: 2
    retry_timeout: 4
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        max_connections: 600
        shared_buffers: 64MB
        wal_keep_size: 256MB
        max_wal_senders: 8
  initdb:
    - encoding: UTF8
    - locale: C
    - data-checksums
  pg_hba:
    - local all all scram-sha-256
    - host all all 127.0.0.1/32 scram-sha-256
    - host replication all 127.0.0.1/32 scram-sha-256
postgresql:
  listen: 127.0.0.1:$(port_of postgresql "$node")
  connect_address: 127.0.0.1:$(port_of postgresql "$node")
  bin_dir: $postgresql_bin
  data_dir: $dir/node$node/data
  pgpass: $dir/node$node/pgpass
  authentication:
    superuser: {username: postgres, password: $server_password}
    replication: {username: replicator, password: $server_password}
    rewind: {username: rewinder, password: $server_password}
  parameters:
    unix_socket_directories: ''
    logging_collector: 'off'
watchdog:
  mode: 'off'
END
    chmod 600 "$dir/patroni$node.yml"
    [[ -z ${as_server[*]} ]] || chown postgres: "$dir/patroni$node.yml" "$dir/node$node"
}

start_patroni() { # NODE
    running "$dir/patroni$1.pid" "$dir/patroni$1.yml" && return
    background "patroni$1" "${as_server[@]}" patroni "$dir/patroni$1.yml"
}

# Prints what Patroni's port of a node answers to a path; fails unless it is 200:
# ask_patroni NODE PATH
ask_patroni() {
    curl -sf --max-time 2 "http://127.0.0.1:$(port_of patroni "$1")/$2"
}

# Prints the node that is the primary.
find_primary() {
    local node
    for node in "${nodes[@]}"; do
        ! ask_patroni "$node" primary >/dev/null || { printf '%s\n' "$node"; return; }
    done
    return 1
}

other_node() {
    printf '%s\n' $((3 - $1))
}

is_primary() {
    ask_patroni "$1" primary >/dev/null
}

is_synchronous() {
    ask_patroni "$1" synchronous >/dev/null
}

# Both nodes run, and the standby is synchronous.
is_whole() {
    local primary
    primary=$(find_primary) && is_synchronous "$(other_node "$primary")"
}

# Runs SQL as the superuser on the primary: sql DATABASE ARGUMENT...
sql() {
    local name=$1 hosts ports
    shift
    hosts=127.0.0.1,127.0.0.1 ports=$(port_of postgresql 1),$(port_of postgresql 2)
    PGPASSWORD=$server_password PGCONNECT_TIMEOUT=5 psql -qAtX -v ON_ERROR_STOP=1 \
        -d "postgresql://postgres@/$name?host=$hosts&port=$ports&target_session_attrs=read-write" \
        "$@"
}

random_hex() { # BYTES
    od -An -v -N "$1" -tx1 /dev/urandom | tr -d ' \n'
}

# The passwords of the superuser and of Switchboard's role are made once.
read_server_passwords() {
    if [[ ! -s $dir/passwords ]]; then
        (umask 077; printf 'server_password=%s\nrole_password=%s\n' "$(random_hex 16)" \
            "$(random_hex 16)" >"$dir/passwords")
    fi
    # shellcheck source=/dev/null
    . "$dir/passwords"
}

make_role() {
    [[ $(sql postgres -c "SELECT 1 FROM pg_roles WHERE rolname = 'switchboard'") ]] ||
        sql postgres <<<"CREATE ROLE switchboard LOGIN PASSWORD '$role_password'"
    [[ $(sql postgres -c "SELECT 1 FROM pg_database WHERE datname = 'switchboard'") ]] ||
        sql postgres -c 'CREATE DATABASE switchboard OWNER switchboard' \
            -c 'GRANT pg_read_all_stats TO switchboard' # doctor shows the state of the standby
}

# Starts what does not run yet, and sets database_url.
start_server() {
    local node
    mkdir -p "$dir"/etcd "$dir"/node{1,2}
    choose_server_user
    read_server_passwords
    claim_server_ports
    # etcd refuses a directory that others may read
    [[ -z ${as_server[*]} ]] || chown postgres: "$dir/etcd"
    chmod 700 "$dir/etcd"
    start_etcd
    for node in "${nodes[@]}"; do
        write_patroni "$node"
        start_patroni "$node"
        # The first node initializes the cluster; the second one copies it.
        ((node > 1)) || wait_until 90 find_primary >/dev/null ||
            die "no PostgreSQL server became the primary: see $dir/patroni1.log"
    done
    wait_until 90 is_whole || die "the second server did not follow: see $dir/patroni2.log"
    make_role
    database_url=postgresql://switchboard:$role_password@127.0.0.1:$(port_of postgresql 1)
    database_url+=",127.0.0.1:$(port_of postgresql 2)/switchboard"
    database_url+='?target_session_attrs=read-write&connect_timeout=2&tcp_user_timeout=3000'
}

# Prints the process id of a node's PostgreSQL; fails when it does not run: postmaster_of NODE
postmaster_of() {
    local pid data=$dir/node$1/data
    pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) || return 1
    { tr '\0' '\n' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -qFx -e "$data" || return 1
    printf '%s\n' "$pid"
}

stop_node() { # NODE
    local pid
    end_process "$dir/patroni$1.pid" "$dir/patroni$1.yml" || return 1
    # Patroni stops its PostgreSQL; one whose Patroni was killed still runs.
    if pid=$(postmaster_of "$1"); then
        kill -INT "$pid" 2>/dev/null || true
        wait_until 15 is_over "$1" || kill -QUIT "$pid" 2>/dev/null || true
    fi
}

is_over() {
    ! postmaster_of "$1" >/dev/null
}

# The standby first, so that the primary does not change meanwhile.
stop_server() {
    local primary
    primary=$(find_primary) || primary=1
    stop_node "$(other_node "$primary")" || true
    stop_node "$primary" || true
    end_process "$dir/etcd.pid" "$dir/etcd/data" || true
}
