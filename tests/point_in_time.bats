#!/usr/bin/env bats
# The backups of the page on several hosts: its commands make an archive and a base backup, and
# bring a server back to a point in time. The programs are those that support PostgreSQL.
# transports: direct
# SQLite only: it has a server of its own
load helpers/all
load helpers/postgresql
load helpers/document

use_server_programs

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    [[ -n ${TEST_FULL-} ]] || skip 'long form'
    supports_postgresql || skip 'the programs are built without PostgreSQL'
    place=$BATS_TEST_TMPDIR/machine primary=$BATS_TEST_TMPDIR/primary moment=''
    export SWITCHBOARD_CONFIG=$BATS_TEST_TMPDIR/switchboard.conf BASE='' DB=''
    make_server_directory "$place"
    make_server "$primary"
    start_private_server "$primary"
    sql "$primary" postgres 'CREATE ROLE switchboard LOGIN' \
        'CREATE ROLE replicator LOGIN REPLICATION' 'CREATE DATABASE gateway OWNER switchboard'
    use_database "$primary" "$(port_of "$primary")"
    switchboard init >"$BATS_TEST_TMPDIR/init.log"
}

teardown() {
    end_processes
    [[ -z ${primary-} ]] || stop_private_server "$primary"
}

# Makes the programs use the database of a server: use_database DIRECTORY PORT
use_database() {
    printf '%s\n' "database = postgresql:///gateway?host=$1&port=$2&user=switchboard" \
        "secret_key_file = $BATS_TEST_TMPDIR/secret.key" "log_file = $BATS_TEST_TMPDIR/log" \
        "spool_dir = $BATS_TEST_TMPDIR" "pending_dir = $BATS_TEST_TMPDIR/pending" \
        >"$SWITCHBOARD_CONFIG"
}

# Replaces the directories, server, day and time in a block by those of this test.
here() {
    local owner=' -o postgres -g postgres' given=''
    ((EUID != 0)) || given=$owner
    sed -E -e "s,(^|[ '>])/(archive|backup|restore)\b,\1$place/\2,g" \
        -e "s|/usr/lib/postgresql/15/bin|$postgresql_bin|; s|$owner|$given|" \
        -e "s|-p 5433|-p $restored_port|" \
        -e "s|@10\.0\.0\.1,10\.0\.0\.2/\?|@/?host=$primary\&port=$(port_of "$primary")\&|" \
        -e "s|2026-11-22 14:05:00\+00|$moment|; s|2026-11-22|$(date +%F)|" \
        -e "s|unix_socket_directories=/tmp|unix_socket_directories=$place|"
}

# What that command of Patroni does here, with the parameters of the page.
patronictl() {
    assert_equal "$*" 'restart --force switchboard'
    mapfile -t parameters < <(block doc/several-hosts.md 'postgresql:' | here |
        gojq --yaml-input -r '.postgresql.parameters | to_entries[] | "\(.key) = '"'\\(.value)'"'"')
    configure_server "$primary" "${parameters[@]}"
    as_postgres "$postgresql_bin/pg_ctl" -D "$primary/data" -l "$primary/log" -w restart \
        >"$BATS_TEST_TMPDIR/restart.log" 3>&-
}

is_archived() { # FILE
    [[ -e $place/archive/$1 ]]
}

is_writable() { # PORT
    [[ $(psql -qAtX -h "$place" -p "$1" -U postgres -d gateway \
        -c 'SELECT pg_is_in_recovery()' 2>/dev/null) == f ]]
}

@test "the commands for backups bring a server back to a point in time" {
    local restored_port last
    restored_port=$(free_port)
    eval "$(block doc/several-hosts.md 'install -d -o postgres -g postgres -m 700 /a' | here)"
    eval "$(block doc/several-hosts.md 'patronictl restart' | here)"
    switchboard user add early@example.org >/dev/null
    as_postgres bash -ec \
        "$(block doc/several-hosts.md '/usr/lib/postgresql/15/bin/pg_basebackup' | here)"
    switchboard user add kept@example.org >/dev/null
    moment=$(sql "$primary" postgres 'SELECT clock_timestamp()')
    sleep 0.1 # the time of a commit is compared with the moment
    switchboard user delete kept@example.org
    last=$(sql "$primary" postgres 'SELECT pg_walfile_name(pg_current_wal_lsn())')
    sql "$primary" postgres 'SELECT pg_switch_wal()' >/dev/null
    eventually is_archived "$last"
    stop_private_server "$primary"
    eval "$(block doc/several-hosts.md 'install -d -o postgres -g postgres -m 700 /r' | here)"
    as_postgres bash -ec "$(block doc/several-hosts.md 'cp -a /backup' | here)" \
        >"$BATS_TEST_TMPDIR/restored.log" 2>&1 3>&- &
    wait_until 60 is_writable "$restored_port" || fail "$(<"$BATS_TEST_TMPDIR/restored.log")"
    end_with_test "$(head -n 1 "$place/restore/postmaster.pid")"
    use_database "$place" "$restored_port"
    switchboard user add later@example.org >/dev/null
    assert_equal "$(switchboard user list --json | jq -c 'map(.email)')" \
        '["early@example.org","kept@example.org","later@example.org"]'
    refute test -e "$place/archive/00000002.history"
}
