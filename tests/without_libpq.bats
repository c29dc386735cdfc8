#!/usr/bin/env bats
# The default programs hold nothing of libpq and need nothing for PostgreSQL; `make install` installs them,
# and the other ones with POSTGRESQL=1.
# SQLite only: the programs of a run on a server are the other ones
# transports: direct
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    [[ -r /usr/include/postgresql/libpq-fe.h ]] || skip 'libpq-dev is not installed: make test installs it'
}

# The functions that libpq exports, and names that any program with it or with our driver has.
names_of_libpq() {
    nm -D --defined-only "$(gcc -print-file-name=libpq.so)" | awk '{ sub(/@.*/, "", $3); print $3 }' |
        grep '^\(PQ\|pg_\|lo_\)'
    printf '%s\n' libpq PGSERVICEFILE PGHOST postgresql_driver pg_advisory_xact_lock schema_postgresql_sql
}

# Prints the programs that hold a name of libpq: holders PROGRAM...
holders() {
    grep -laF -f "$BATS_TEST_TMPDIR/names" "$@"
}

programs() {
    find "$OUT/cgi-bin" "$OUT/tools" -maxdepth 1 -type f -perm -u+x ! -name '*.*' \
        -exec grep -la $'^\x7fELF' {} +
}

@test "no default program holds a name of libpq, or loads it" {
    local all
    names_of_libpq >"$BATS_TEST_TMPDIR/names"
    (($(wc -l <"$BATS_TEST_TMPDIR/names") > 150))
    mapfile -t all < <(programs)
    ((${#all[@]} > 25))
    assert_equal "$(holders "${all[@]}")" ''
    assert_equal "$(for program in "${all[@]}"; do readelf -d "$program"; done | grep -c 'libpq')" 0
}

@test "a program with libpq is found by the names" {
    names_of_libpq >"$BATS_TEST_TMPDIR/names"
    printf 'extern int PQlibVersion(void); int main(void) { return PQlibVersion() == 0; }' |
        gcc -xc - -o "$BATS_TEST_TMPDIR/control" -lpq
    assert_equal "$(holders "$BATS_TEST_TMPDIR/control")" "$BATS_TEST_TMPDIR/control"
    readelf -d "$BATS_TEST_TMPDIR/control" | grep -q libpq
}

# Prints a variable of the Makefile: variable NAME [SETTING...]
variable() {
    make -s --no-print-directory -C "$root" "${@:2}" --eval "print: ; @echo \$($1)" print
}

# bats test_tags=long
@test "the packages of the default programs do not have libpq, those of POSTGRESQL=1 do" {
    assert_equal "$(variable PACKAGES | tr ' ' '\n' | grep -c -e libpq -e postgresql)" 0
    assert_equal "$(variable PACKAGES POSTGRESQL=1 | tr ' ' '\n' | grep -e libpq -e postgresql)" libpq-dev
    refute grep -q -e libpq -e postgresql "$root/debian/control"
}

@test "a URL of a server is refused by a default program, and the message says what it supports" {
    export SWITCHBOARD_CONFIG=$BATS_TEST_TMPDIR/switchboard.conf
    printf '%s\n' 'database = postgresql://switchboard:Zwiebel-Quark-17@db.example.org/x' \
        "secret_key_file = $BATS_TEST_TMPDIR/key" "spool_dir = $BATS_TEST_TMPDIR" \
        "pending_dir = $BATS_TEST_TMPDIR/pending" >"$SWITCHBOARD_CONFIG"
    run switchboard init
    assert_equal "$status" 1
    assert_equal "${lines[-1]}" "switchboard: database postgresql://db.example.org/x: it cannot be used: this program \
supports no database at postgresql://; it supports the absolute path of a SQLite database. For a server install \
the programs that \`make POSTGRESQL=1\` builds"
}
