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

# A program that needs no library of the project, so that it is built quickly.
program=build/plain/helpers/account
objects=(build/plain/lib/base/config.o build/plain/tools/pool.o)

# Builds the program and the objects in a copy of the source: build DIRECTORY
build() {
    mkdir -p "$1/tests/helpers" "$1/tools"
    cp -r "$root/Makefile" "$root/lib" "$1/"
    cp "$root/tests/rules.mk" "$1/tests/"
    cp "$root/tests/helpers/account.c" "$1/tests/helpers/"
    cp -r "$root/tools/pool.c" "$root/tools/supervisor" "$1/tools/"
    make -s -C "$1" "$program" "${objects[@]}" OUT=. SANITIZE= PROBE= COVERAGE= V= BUILD=build/plain
}

@test "builds in two directories are identical, and do not contain the name of their directory" {
    local one=$BATS_TEST_TMPDIR/one two=$BATS_TEST_TMPDIR/a/longer/name file
    build "$one"
    build "$two"
    for file in "$program" "${objects[@]}"; do
        cmp "$one/$file" "$two/$file"
    done
    readelf --debug-dump=info "$one/$program" | grep -q 'DW_AT_comp_dir'
    grep -aqF 'tests/helpers/account.c' "$one/$program"
    ! grep -aqF "$BATS_TEST_TMPDIR" "$one/$program" || fail "the executable has its directory"
}
