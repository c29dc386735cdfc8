# shellcheck shell=bash
# PostgreSQL servers of a test file, each with its data and its socket in a directory of its own:
# `load helpers/postgresql`.
#
# Every role of the socket is trusted. On TCP a role needs its password (SCRAM).

postgresql_bin=$(pg_config --bindir)

# Whether the programs of OUT support PostgreSQL.
supports_postgresql() {
    grep -q PQconnectdbParams "$OUT/tools/switchboard"
}

# Makes the tests of the file use the programs of SERVER_OUT, which `make test` builds beside the
# default ones, if it is set.
use_server_programs() {
    [[ -z ${SERVER_OUT-} ]] || export OUT=$SERVER_OUT HELPERS=$SERVER_HELPERS
}

# Runs a command as the user of the servers: postgres instead of root, whom the server refuses.
as_postgres() {
    if ((EUID == 0)); then
        setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"
    else
        "$@"
    fi
}

# Makes a directory that the user of the servers owns: make_server_directory DIRECTORY
make_server_directory() {
    local parent=$1
    mkdir -p "$1"
    ((EUID == 0)) || return 0
    chown postgres:postgres "$1"
    while [[ $parent != "${BATS_RUN_TMPDIR%/*}" && $parent != / ]]; do
        parent=${parent%/*}
        [[ $parent == / || $parent == /tmp ]] || chmod a+x "$parent"
    done
}

# Makes the data of a server, with the role switchboard that owns databases and is no superuser:
# make_server DIRECTORY [SETTING...]
make_server() {
    make_server_directory "$1"
    as_postgres "$postgresql_bin/initdb" -D "$1/data" -U postgres -A trust --locale=C -E UTF8 \
        --no-sync --data-checksums >"$1.initdb.log" 2>&1
    as_postgres tee "$1/data/pg_hba.conf" >/dev/null <<'END'
local all         all              trust
local replication all              trust
host  all         all 127.0.0.1/32 scram-sha-256
END
    configure_server "$1" "unix_socket_directories = '$1'" 'max_connections = 40' 'fsync = off' \
        "listen_addresses = '127.0.0.1'" "port = $(free_port)" 'shared_buffers = 16MB' "${@:2}"
}

configure_server() { # DIRECTORY SETTING...
    printf '%s\n' "${@:2}" | as_postgres tee -a "$1/data/postgresql.conf" >/dev/null
}

# Starts a server that was made: start_private_server DIRECTORY
start_private_server() {
    as_postgres "$postgresql_bin/pg_ctl" -D "$1/data" -l "$1/log" -w -t 60 start \
        >"$1.start.log" 2>&1 3>&- || { cat "$1.start.log" "$1/log" >&2; return 1; }
}

# Starts a stack in $STACK whose database is on a server that runs, with the arguments of its URL:
# start_stack_on DIRECTORY ARGUMENTS [SETTING...]
start_stack_on() {
    sql "$1" postgres 'CREATE ROLE switchboard LOGIN' \
        'CREATE DATABASE gateway OWNER switchboard' >/dev/null
    mkdir -p "$STACK/log"
    export STACK LOG=$STACK/log/switchboard.log SWITCHBOARD_CONFIG=$STACK/switchboard.conf
    export DB="postgresql://switchboard@/gateway?$2"
    start_sandbox
    write_config "metrics_file = $STACK/metrics" "requests_file = $STACK/requests" \
        "run_dir = $STACK/run" "${@:3}"
    switchboard init >"$STACK/init.log"
    start_apache
    make_user
}

stop_private_server() { # DIRECTORY
    [[ ! -e $1/data/postmaster.pid ]] || as_postgres "$postgresql_bin/pg_ctl" -D "$1/data" \
        -m immediate -w stop >/dev/null 2>&1 || true
}

# Prints the TCP port of a server: port_of DIRECTORY
port_of() {
    sed -n 's/^port = //p' "$1/data/postgresql.conf" | tail -n 1
}

# Runs SQL as the superuser: sql DIRECTORY DATABASE SQL...
sql() {
    local statement options=()
    for statement in "${@:3}"; do
        options+=(-c "$statement")
    done
    psql -qAtX -v ON_ERROR_STOP=1 -h "$1" -p "$(port_of "$1")" -U postgres -d "$2" "${options[@]}"
}

# Removes the databases of the role switchboard: drop_databases DIRECTORY
drop_databases() {
    psql -qAtX -h "$1" -p "$(port_of "$1")" -U postgres -d postgres >/dev/null <<'END'
SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database
    WHERE datdba = 'switchboard'::regrole \gexec
END
}

# Ends processes with the test, however it ends: its teardown calls end_processes.
end_with_test() { # PID...
    printf '%s\n' "$@" >>"$BATS_TEST_TMPDIR/processes"
}

end_processes() {
    local process
    [[ -e $BATS_TEST_TMPDIR/processes ]] || return 0
    while read -r process; do
        kill -INT "$process" 2>/dev/null || true
    done <"$BATS_TEST_TMPDIR/processes"
}

# Starts a standby of a server, with the same roles: start_standby DIRECTORY PRIMARY
start_standby() {
    make_server_directory "$1"
    as_postgres "$postgresql_bin/pg_basebackup" -D "$1/data" -R -X stream -c fast --no-sync \
        -h "$2" \
        -p "$(port_of "$2")" -U postgres
    configure_server "$1" "unix_socket_directories = '$1'" "port = $(free_port)"
    start_private_server "$1"
    end_with_test "$(head -n 1 "$1/data/postmaster.pid")"
}

# Starts a server whose data, except its write-ahead log, is on a file system of SIZE in a mount
# namespace of its own: start_server_on_small_disk DIRECTORY SIZE
start_server_on_small_disk() {
    local namespace=(unshare --mount)
    ((EUID == 0)) || namespace+=(--map-root-user)
    make_server_directory "$1"
    free_port >"$1/port"
    # shellcheck disable=SC2016  # expanded in the namespace
    "${namespace[@]}" bash -euc '
        as=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
        [[ $4 == root ]] || as=(unshare --user --map-user=1000)
        mkdir -p "$1/disk"
        mount -t tmpfs -o "size=$2,mode=777" tmpfs "$1/disk"
        cd "$1"
        "${as[@]}" "$3/initdb" -D "$1/disk/data" -X "$1/wal" -U postgres -A trust --locale=C \
            -E UTF8 --no-sync --wal-segsize=1 >initdb.log
        exec "${as[@]}" "$3/postgres" -D "$1/disk/data" -k "$1" -h "" -p "$(cat port)" \
            -c max_connections=8 -c superuser_reserved_connections=1 -c shared_buffers=1MB \
            -c fsync=off -c autovacuum=off -c max_wal_size=8MB -c min_wal_size=2MB' \
        bash "$1" "$2" "$postgresql_bin" "$( ((EUID == 0)) && printf root)" \
        >"$1/log" 2>&1 3>&- &
    small_server=$!
    end_with_test "$small_server"
    eventually psql -qX -h "$1" -p "$(cat "$1/port")" -U postgres -c 'SELECT 1' >/dev/null 2>&1 ||
        { cat "$1/log" >&2; return 1; }
}

# Starts pgbouncer by transaction before a server, with its socket in DIRECTORY:
# start_pooler DIRECTORY SERVER
start_pooler() {
    make_server_directory "$1"
    free_port >"$1/port"
    as_postgres tee "$1/pgbouncer.ini" >/dev/null <<END
[databases]
* = host=$2 port=$(port_of "$2")
[pgbouncer]
unix_socket_dir = $1
listen_port = $(cat "$1/port")
auth_type = trust
auth_file = $1/users
pool_mode = transaction
default_pool_size = 2
logfile = $1/log
pidfile = $1/pid
END
    as_postgres tee "$1/users" >/dev/null <<<$'"switchboard" ""\n"reader" ""'
    as_postgres /usr/sbin/pgbouncer -q -d "$1/pgbouncer.ini" >"$1/out" 2>&1 3>&-
    eventually test -s "$1/pid"
    end_with_test "$(cat "$1/pid")"
    eventually test -S "$1/.s.PGSQL.$(cat "$1/port")"
}
