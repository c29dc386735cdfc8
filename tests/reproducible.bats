#!/usr/bin/env bats
# The same source gives the same bytes in every directory.
# transports: direct
# SQLite only: it builds the default programs
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
    mkdir -p "$1/cgi-bin" "$1/tests/helpers" "$1/tools"
    cp -r "$root/Makefile" "$root/lib" "$1/"
    cp "$root"/cgi-bin/*.c "$1/cgi-bin/"
    cp "$root/tests/rules.mk" "$1/tests/"
    cp "$root/tests/helpers/account.c" "$1/tests/helpers/"
    cp -r "$root"/tools/{pool.c,linked,supervisor} "$1/tools/"
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

# Links all programs in a copy of the source that has the objects already: link_all DIRECTORY
link_all() {
    mkdir -p "$1/build/plain" "$1/tests"
    cp -a "$root"/{Makefile,lib,cgi-bin,tools,schema.sql} "$1/"
    cp "$root/tests/rules.mk" "$1/tests/"
    cp -a "$root"/build/plain/{lib,cgi-bin,tools} "$1/build/plain/"
    programs=$(cd "$1" && find cgi-bin tools -maxdepth 1 -type f -perm -u+x ! -name '*.*' \
        -exec sh -c 'head -c 4 "$1" | grep -q ELF' sh {} \; -print | sort)
    # shellcheck disable=SC2086  # names without spaces
    (cd "$1" && rm -f $programs)
    # shellcheck disable=SC2046
    make -s -C "$1" $(printf './%s ' $programs) OUT=. SANITIZE= PROBE= COVERAGE= V= \
        BUILD=build/plain
}

# The test above shows that the compiler does not put its directory into an object. All objects are
# built with the same flags, so it is enough to link all programs and to search the objects.
@test "all programs that are linked in two directories are identical" {
    [[ $OUT -ef $root ]] || skip "only the default build has all objects"
    local one=$BATS_TEST_TMPDIR/one two=$BATS_TEST_TMPDIR/a/longer/name program
    link_all "$one"
    link_all "$two"
    (($(wc -w <<<"$programs") >= 15)) || fail "only: $programs"
    for program in $programs; do
        cmp "$one/$program" "$two/$program"
        cmp "$one/$program" "$root/$program"
    done
    cd "$root/build/plain"
    assert_equal "$(grep -rlaF "$root" --include=*.o lib cgi-bin tools)" ''
}
