#!/usr/bin/env bats
# The programs of `make STATIC_CURL=1`: what they link, and `make run` and `make install` with them.
# Run by `make static-test`.
# transports: direct
BATS_TEST_DIRNAME=$(cd "$BATS_TEST_DIRNAME/.." && pwd) # where the helpers are
load helpers/all

built=$root/build/static

setup_file() {
    : # no stack
}

teardown_file() {
    : # of no stack
}

setup() {
    export RUN_DIR=$BATS_TEST_TMPDIR/run DEMO=0 PORT
    while PORT=$((30000 + RANDOM % 2000)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null || break
    done
}

teardown() {
    [[ ! -e $RUN_DIR/lock ]] || make -s -C "$root" stop
}

# Prints the installed programs of the static build.
programs() {
    find "$built/cgi-bin" "$built"/tools/{switchboard,pool,courier,sender} -type f
}

# The process of a pid file executes this program: executes PID_FILE PROGRAM
executes() {
    assert_equal "$(readlink "/proc/$(cat "$1")/exe")" "$2"
}

@test "no program of the static build has a shared library or an interpreter" {
    local program seen=0
    for program in $(programs); do
        refute grep -q 'NEEDED\|INTERP' <(readelf -dlW "$program")
        grep -q 'FLAGS_1.*PIE' <(readelf -dW "$program")
        seen=$((seen + 1))
    done
    ((seen == $(find "$root"/cgi-bin/*.c | wc -l) + 3))
}

@test "--version lists all that is linked into a static program, and doctor compares it" {
    local name
    "$built/tools/switchboard" --version >"$BATS_TEST_TMPDIR/version"
    for name in 'C library' SQLite libsodium libfcgi utf8proc libcurl OpenSSL c-ares libmagic \
        zlib; do
        grep -q "^  with $name [0-9]" "$BATS_TEST_TMPDIR/version" || fail "$name is missing"
    done
    printf '#!/bin/sh\nprintf "installed\\tcurl\\t99.1\\n"\n' >"$BATS_TEST_TMPDIR/dpkg-query"
    chmod +x "$BATS_TEST_TMPDIR/dpkg-query"
    printf 'database = %s/db\ngraph_base_url = http://127.0.0.1:1\n' "$BATS_TEST_TMPDIR" \
        >"$BATS_TEST_TMPDIR/conf"
    PATH=$BATS_TEST_TMPDIR:$PATH SWITCHBOARD_CONFIG=$BATS_TEST_TMPDIR/conf \
        "$built/tools/switchboard" doctor >"$BATS_TEST_TMPDIR/report" || true
    grep -q '^warn  libraries .*libcurl [0-9].*(installed: 99.1)' "$BATS_TEST_TMPDIR/report"
}

@test "make install STATIC_CURL=1 installs the static programs" {
    local program installed=$BATS_TEST_TMPDIR/root
    make -s -C "$root" STATIC_CURL=1 DESTDIR="$installed" install
    for program in $(programs); do
        case $program in
        */cgi-bin/*) cmp "$program" "$installed/usr/lib/switchboard/cgi-bin/${program##*/}" ;;
        */switchboard) cmp "$program" "$installed/usr/bin/switchboard" ;;
        *) cmp "$program" "$installed/usr/lib/switchboard/tools/${program##*/}" ;;
        esac
    done
    assert_equal "$(find "$installed/usr/lib/switchboard/cgi-bin" -type f | wc -l)" \
        "$(find "$root"/cgi-bin/*.c | wc -l)"
}

@test "make run STATIC_CURL=1 sends a message by static programs, over CGI and over FastCGI" {
    local output
    output=$(make -s -C "$root" STATIC_CURL=1 TRANSPORT=cgi run)
    [[ $output == *'"success": true'*'"messaging_product": "whatsapp"'* ]]
    grep -qF "SWITCHBOARD_HOME \"$built\"" "$RUN_DIR/apache/httpd.conf"
    grep -qxF "SWITCHBOARD='$built/tools/switchboard'" "$RUN_DIR/demo.env"
    executes "$RUN_DIR/courier.pid" "$built/tools/courier"
    output=$(make -s -C "$root" STATIC_CURL=1 TRANSPORT=fcgi run)
    [[ $output == *'"success": true'*'"messaging_product": "whatsapp"'* ]]
    executes "$RUN_DIR/apache/messages.pid" "$built/tools/pool"
    # the next run has the default programs again
    make -s -C "$root" TRANSPORT=cgi run >"$BATS_TEST_TMPDIR/output"
    grep -qF "SWITCHBOARD_HOME \"$root\"" "$RUN_DIR/apache/httpd.conf"
    executes "$RUN_DIR/courier.pid" "$root/tools/courier"
}
