# shellcheck shell=bash
# A private PostgreSQL server for a run of the tests. tests/run loads it.

# Starts a server whose only address is a socket in DIR, which it makes, and exports SERVER=DIR.
# The server ends with this process, whatever ends it. Two roles may connect: `postgres`, the
# superuser, and `switchboard`, which the programs use. The database `prepared` has the schema, and
# what server*.sql create; tests copy it: start_server DIR
start_server() {
    local bin as=()
    bin=$(pg_config --bindir)
    mkdir -m 755 "$1"
    if ((EUID == 0)); then # the server refuses to run as root
        as=(--reuid postgres --regid postgres --init-groups)
        chown postgres: "$1"
    fi
    (cd "$1" && setpriv "${as[@]}" "$bin/initdb" -D "$1/data" -U postgres -A trust -E UTF8 \
        --locale=C --no-sync --no-instructions >initdb.log 2>&1) ||
        { cat "$1/initdb.log" >&2 && return 1; }
    write_server_config "$1" >>"$1/data/postgresql.conf"
    # one process: setpriv and then the server, a child of this shell
    (cd "$1" && exec setpriv "${as[@]}" --pdeathsig INT "$bin/postgres" -D "$1/data") \
        >"$1/server.log" 2>&1 &
    server=$!
    wait_until 60 psql -qX -h "$1" -U postgres -c '' >/dev/null 2>&1 ||
        { cat "$1/server.log" >&2 && return 1; }
    export SERVER=$1
    psql -qX -h "$SERVER" -U postgres -c 'CREATE ROLE switchboard LOGIN CREATEDB' \
        -c 'CREATE DATABASE prepared OWNER switchboard'
    prepare_database "$1"
}

# Nothing on this server outlives the run, so it does not write to the disk in time.
write_server_config() { # DIR
    cat <<END
listen_addresses = ''
unix_socket_directories = '$1'
max_connections = 500
shared_buffers = 64MB
dynamic_shared_memory_type = mmap
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 256MB
checkpoint_timeout = 1h
autovacuum = off
jit = off
log_line_prefix = '%m [%p] %d '
END
}

# Makes the schema as an operator does, with the programs under test.
prepare_database() { # DIR
    local config=$1/prepared.conf file
    printf '%s\n' "database = postgresql:///prepared?host=$1&user=switchboard" \
        "secret_key_file = $1/prepared.key" "log_file = $1/prepared.log" "spool_dir = $1" \
        "pending_dir = $1/pending" >"$config"
    SWITCHBOARD_CONFIG=$config "$OUT/tools/switchboard" init >"$1/init.log"
    for file in "$here"/helpers/server*.sql; do
        psql -qX -h "$1" -U postgres -d prepared -v ON_ERROR_STOP=1 -f "$file"
    done
}

stop_server() {
    [[ -n ${server-} ]] || return 0
    kill -INT "$server" 2>/dev/null || true
    wait "$server" || true
    server=
}

# Makes an empty database on the server, with `TEMPLATE prepared` a copy of that, and prints its
# URL:
# create_database [OPTION...]
create_database() {
    local name
    name=test_$(od -An -N8 -tx1 /dev/urandom | tr -d ' ')
    psql -qX -h "$SERVER" -U switchboard -d postgres -c "CREATE DATABASE $name $*" || return 1
    printf 'postgresql:///%s?host=%s&user=switchboard' "$name" "$SERVER"
}
