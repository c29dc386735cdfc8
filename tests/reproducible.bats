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

# bats test_tags=long
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

# Makes a release of a small checkout: release DIRECTORY
release() {
    mkdir -p "$1"/{hosting,deb,sbom}
    printf 'a' >"$1/hosting/switchboard-$version-x86_64.tar.gz"
    printf 'b' >"$1/deb/switchboard_${version}_amd64.deb"
    printf 'c' >"$1/deb/switchboard-sandbox_${version}_amd64.deb"
    printf 'd' | tee "$1/sbom/switchboard.spdx.json" >"$1/sbom/LICENSES"
    "$1/source/tools/dist" "$1"/{hosting,deb,sbom,out}
}

@test "two releases of one commit are identical, in other directories, at other times, of other users" {
    local one=$BATS_TEST_TMPDIR/one two=$BATS_TEST_TMPDIR/a/longer/name version made
    version=$(sed -n 's/^#define SWITCHBOARD_VERSION *"\(.*\)"$/\1/p' "$root/lib/base/product.h")
    grep -q "^## $version\($\|,\)" "$root/doc/changelog.md"
    mkdir -p "$one/source"/{lib/base,tools,doc} "$two"
    cp "$root/lib/base/product.h" "$one/source/lib/base/"
    cp "$root"/tools/{dist,common.bash} "$one/source/tools/"
    cp "$root/doc/changelog.md" "$one/source/doc/"
    printf 'ä' >"$one/source/a file"
    ln -s 'a file' "$one/source/link"
    export GIT_AUTHOR_DATE='2026-11-22T10:00:00Z' GIT_COMMITTER_DATE='2026-11-22T10:00:00Z'
    (cd "$one/source" && git init -q && git add -A &&
        git -c user.name=n -c user.email=e -c commit.gpgsign=false commit -q -m x)
    (umask 077 && git clone -q "$one/source" "$two/source")
    find "$two/source" -exec touch -h -d '2020-02-03' {} +
    made=$(release "$one")
    assert_equal "$made" "$one/out/switchboard-$version"
    (umask 077 && TZ=Asia/Kathmandu LC_ALL=C release "$two")
    diff -r "$made" "$two/out/switchboard-$version"
    (cd "$made" && sha256sum -c --quiet SHA256SUMS)
    assert_equal "$(ls "$made")" "$(sort <<<"CHANGES.md
LICENSES
SHA256SUMS
switchboard-$version-x86_64.tar.gz
switchboard-$version.spdx.json
switchboard-$version.tar.gz
switchboard-sandbox_${version}_amd64.deb
switchboard_${version}_amd64.deb")"
    tar -tvf "$made/switchboard-$version.tar.gz" >"$BATS_TEST_TMPDIR/packed"
    assert_equal "$(awk '{ print $1, $2 }' "$BATS_TEST_TMPDIR/packed" | sort -u)" \
        "$(printf '%s\n' '-rw-r--r-- 0/0' '-rwxr-xr-x 0/0' 'lrwxr-xr-x 0/0')"
    head -n 1 "$made/CHANGES.md" | grep -q "^## $version"
    # what is not committed would be missing in the archive, or be in the programs alone
    printf 'x' >"$one/source/new"
    run release "$one"
    assert_equal "$status" 1
    [[ $output == *'commit first'*'?? new' ]] || fail "$output"
    rm "$one/source/new" "$one/deb/switchboard_${version}_amd64.deb"
    run "$one/source/tools/dist" "$one"/{hosting,deb,sbom,out}
    [[ $status == 1 && $output == *'make deb makes it' ]] || fail "$output"
}

# Links all programs in a copy of the source that has the objects already: link_all DIRECTORY
link_all() {
    mkdir -p "$1/build/plain" "$1/tests"
    cp -a "$root"/{Makefile,lib,cgi-bin,tools,htdocs,schema.sql} "$1/"
    cp "$root/tests/rules.mk" "$1/tests/"
    cp -a "$root"/build/plain/{lib,cgi-bin,tools,htdocs} "$1/build/plain/"
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
# bats test_tags=long
@test "all programs that are linked in another directory are identical" {
    [[ $OUT -ef $root ]] || skip "only the default build has all objects"
    local one=$BATS_TEST_TMPDIR/a/longer/name program
    link_all "$one"
    (($(wc -w <<<"$programs") >= 15)) || fail "only: $programs"
    for program in $programs; do
        cmp "$one/$program" "$root/$program"
    done
    cd "$root/build/plain"
    assert_equal "$(grep -rlaF "$root" --include=*.o lib cgi-bin tools)" ''
}
