# shellcheck shell=bash
# PostgreSQL servers of a test file, each with its data and its socket in a directory of its own:
# `load helpers/postgresql`.
#
# Every role of the socket is trusted. On TCP a role needs its password (SCRAM).

postgresql_bin=$(pg_config --bindir 2>/dev/null || printf /usr/lib/postgresql/15/bin)

# Runs a command as the user of the servers: postgres instead of root, whom the server refuses.
as_postgres() {
    if ((EUID == 0)); then
        setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"
    else
        "$@"
    fi
}

# Prints a TCP port that is free.
free_port() {
    node -e 'const s = require("net").createServer().listen(0, "127.0.0.1",
        () => { console.log(s.address().port); s.close(); })'
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

# Starts a server that was made: start_server DIRECTORY
start_server() {
    as_postgres "$postgresql_bin/pg_ctl" -D "$1/data" -l "$1/log" -w -t 60 start \
        >"$1.start.log" 2>&1 3>&- || { cat "$1.start.log" "$1/log" >&2; return 1; }
}

stop_server() { # DIRECTORY
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
