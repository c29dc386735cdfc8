#!/usr/bin/env bats
# The same source gives the same bytes in every directory.
# transports: direct
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    :
}

# Builds a program and an object of the library in a copy of the source: build DIRECTORY
build() {
    mkdir -p "$1/tests" "$1/tools"
    cp -r "$root/Makefile" "$root/lib" "$1/"
    cp "$root/tests/rules.mk" "$1/tests/"
    cp "$root/tools/pool.c" "$1/tools/"
    make -s -C "$1" tools/pool OUT=. SANITIZE= PROBE= COVERAGE= V= BUILD=build/plain \
        build/plain/lib/base/config.o
}

@test "builds in two directories are identical, and do not contain the name of their directory" {
    local one=$BATS_TEST_TMPDIR/one two=$BATS_TEST_TMPDIR/a/longer/name
    build "$one"
    build "$two"
    cmp "$one/tools/pool" "$two/tools/pool"
    cmp "$one/build/plain/lib/base/config.o" "$two/build/plain/lib/base/config.o"
    readelf --debug-dump=info "$one/tools/pool" | grep -q 'DW_AT_comp_dir'
    grep -aqF 'tools/pool.c' "$one/tools/pool"
    ! grep -aqF "$BATS_TEST_TMPDIR" "$one/tools/pool" || fail "the executable has its directory"
}
