# shellcheck shell=bash
# In place of patroni.bash: one PostgreSQL server without a standby. It is killed and started again,
# which takes seconds.

start_server() {
    mkdir -p "$dir/server"
    choose_server_user
    read_server_passwords
    claim_port postgresql_port
    [[ -z ${as_server[*]} ]] || chown postgres: "$dir/server"
    if [[ ! -d $dir/server/data ]]; then
        (
            umask 077
            printf '%s\n' "$server_password" >"$dir/superuser"
        )
        [[ -z ${as_server[*]} ]] || chown postgres: "$dir/superuser"
        "${as_server[@]}" "$postgresql_bin/initdb" -D "$dir/server/data" -U postgres \
            --pwfile "$dir/superuser" -A scram-sha-256 -E UTF8 --locale C --no-sync \
            >"$dir/initdb.log" 2>&1 || die "initdb failed: see $dir/initdb.log"
    fi
    start_postgresql
    make_role
    database_url=postgresql://switchboard:$role_password@127.0.0.1:$postgresql_port/switchboard
}

start_postgresql() {
    background postgresql "${as_server[@]}" "$postgresql_bin/postgres" -D "$dir/server/data" \
        -c listen_addresses=127.0.0.1 -c "port=$postgresql_port" -c max_connections=200 \
        -c unix_socket_directories=
    wait_until 60 is_whole || die "PostgreSQL did not start: see $dir/postgresql.log"
}

sql() { # DATABASE ARGUMENT...
    local name=$1
    shift
    PGPASSWORD=$server_password PGCONNECT_TIMEOUT=5 psql -qAtX -v ON_ERROR_STOP=1 \
        -d "postgresql://postgres@127.0.0.1:$postgresql_port/$name" "$@"
}

is_whole() {
    sql postgres -c 'SELECT 1' >/dev/null 2>&1
}

kill_server() {
    kill_server_of "$dir/server/data" "$(cat "$dir/postgresql.pid")"
    sleep 1
    start_postgresql
}

stop_server() {
    end_process "$dir/postgresql.pid" "$dir/server/data" || true
}
