#!/usr/bin/env bats
# Hosting: what a program does where there is no root. The parts that need no archive;
# tests/hosting/archive.bats has those of `make hosting`.
# transports: direct
load helpers/all
load helpers/courier
load helpers/hoster

teardown() {
    [[ ! -e $STACK/hoster/httpd.pid ]] || stop_hoster
}

setup_file() {
    start_stack
    make_user
}

# Makes a file with the first bytes of a JPEG and prints its path.
photo() {
    { printf '\xff\xd8\xff\xe0\0\x10JFIF\0'; head -c 500 /dev/urandom; } >"$BATS_TEST_TMPDIR/photo"
    printf '%s' "$BATS_TEST_TMPDIR/photo"
}

# Prints the configuration file that a program finds beside itself: found_by PROGRAM
found_by() {
    (unset SWITCHBOARD_CONFIG; "$1" doctor --json) 2>/dev/null | jq -r '.[0].detail'
}

@test "without SWITCHBOARD_CONFIG a program takes the configuration beside it" {
    local home=$BATS_TEST_TMPDIR/home place
    mkdir -p "$home"/{public_html/v2,public_html/.switchboard/conf,switchboard/{bin,conf}}
    cp "$OUT/tools/switchboard" "$home/public_html/v2/"
    cp "$OUT/tools/switchboard" "$home/switchboard/bin/"
    [[ $(found_by "$home/switchboard/bin/switchboard") == */etc/switchboard/switchboard.conf* ]]
    printf 'environment = test\n' >"$home/public_html/.switchboard/conf/switchboard.conf"
    assert_equal "$(found_by "$home/public_html/v2/switchboard")" \
        "$home/public_html/.switchboard/conf/switchboard.conf"
    printf 'environment = test\n' >"$home/switchboard/conf/switchboard.conf"
    for place in public_html/v2 switchboard/bin; do
        assert_equal "$(found_by "$home/$place/switchboard")" \
            "$home/switchboard/conf/switchboard.conf"
    done
    assert_equal "$(switchboard doctor --json | jq -r '.[0].detail')" "$SWITCHBOARD_CONFIG"
}

@test "a configuration beside the program that another user may have written is not used" {
    local home=$BATS_TEST_TMPDIR/home
    mkdir -p "$home"/{bin,conf}
    cp "$OUT/tools/switchboard" "$home/bin/"
    printf 'environment = test\n' >"$home/conf/switchboard.conf"
    assert_equal "$(found_by "$home/bin/switchboard")" "$home/conf/switchboard.conf"
    chmod g+w "$home/conf/switchboard.conf"
    [[ $(found_by "$home/bin/switchboard") == */etc/switchboard/switchboard.conf* ]]
    chmod g-w "$home/conf/switchboard.conf"
    ((EUID == 0)) || return 0
    chown nobody "$home/conf/switchboard.conf"
    [[ $(found_by "$home/bin/switchboard") == */etc/switchboard/switchboard.conf* ]]
}

@test "a setgid program ignores the configuration beside it" {
    ((EUID == 0)) || skip 'only root makes a program setgid of another group'
    local home=$BATS_TEST_TMPDIR/home
    mkdir -p "$home"/{bin,conf}
    cp "$OUT/tools/switchboard" "$home/bin/"
    printf 'environment = test\n' >"$home/conf/switchboard.conf"
    chgrp nogroup "$home/bin/switchboard"
    chmod 2755 "$home/bin/switchboard"
    [[ $(found_by "$home/bin/switchboard") == */etc/switchboard/switchboard.conf* ]]
}

@test "magic_file names the database of file types, and doctor says when it cannot be used" {
    local magic=$BATS_TEST_TMPDIR/magic.mgc
    write_config "magic_file = $magic"
    run switchboard doctor
    [[ $output == *"warn  file types"*"$magic is missing or not a database of libmagic"* ]]
    api POST /v2/media/upload -H 'Content-Type:' -H "X-Phone-Number-Id: $LINE" -d "@$(photo)"
    assert_error 400 VALIDATION_ERROR "Received file of type 'application/octet-stream'"
    cp -L /usr/share/misc/magic.mgc "$magic"
    run switchboard doctor
    [[ $output == *"ok    file types"*"libmagic's database is $magic"* ]]
    api POST /v2/media/upload -H 'Content-Type:' -H "X-Phone-Number-Id: $LINE" -d "@$(photo)"
    assert_success
}

@test "an upgrade removes programs that the new version lacks, after the new .htaccess" {
    local archive=$BATS_TEST_TMPDIR/archive home=$BATS_TEST_TMPDIR/public_html
    mkdir -p "$archive/programs" "$home/v2" "$BATS_TEST_TMPDIR/switchboard"
    cp "$root/tools/hosting"/htaccess.* "$root/tools/hosting/files.sh" "$archive"
    ln -s "$OUT"/cgi-bin/{health,root} "$archive/programs"
    printf 'version 1.0.0\nschema 1\nroute v2/health health\nroute v2/root root\n' \
        >"$archive/MANIFEST"
    cp "$OUT/cgi-bin/me" "$home/v2/account"
    cp "$OUT/cgi-bin/me" "$home/v2/of_the_customer"
    printf 'of the customer\n' | tee "$home/v2/text" >"$home/account"
    chmod +x "$home/account"
    printf '%s v2/account\n' "$(sha256sum <"$home/v2/account" | cut -d ' ' -f 1)" \
        >"$BATS_TEST_TMPDIR/switchboard/files"
    sed '/^trap clean_up EXIT$/,$d' "$root/tools/hosting/install.sh" >"$BATS_TEST_TMPDIR/install.sh"
    run sh -c '. "$1"; . "$2/files.sh"
        sleep() {
            [ -x "$root/v2/account" ] && grep -q "BEGIN switchboard" "$root/.htaccess" &&
                say "slept $1"
        }
        here=$2 root=$3 home=$4 url=http://127.0.0.1:1 links="" options="" pass="" shared=""
        put_files && remove_former && put_files && remove_former' \
        sh "$BATS_TEST_TMPDIR/install.sh" "$archive" "$home" "$BATS_TEST_TMPDIR/switchboard"
    assert_equal "$status" 0
    assert_equal "$output" $'slept 2\nremoved, because this version has them no more: v2/account'
    assert_equal "$(cd "$home" && find . -type f | sort)" \
        "$(printf '%s\n' ./.htaccess ./account ./v2/.htaccess ./v2/health \
            ./v2/of_the_customer ./v2/root ./v2/text)"
}

@test "doctor --url of a host that does not answer says nothing of its files" {
    run switchboard doctor --json --url http://127.0.0.1:1
    assert_equal "$(jq -r '.[] | select(.check == "site").status' <<<"$output")" fail
    assert_equal "$(jq -r '.[] | select(.check == "private files").status' <<<"$output")" ''
}

# bats test_tags=long
@test "doctor --url of a host that stops answering asks no further, and does not say that all is well" {
    local started=$SECONDS
    start_receiver A
    answers A v2 'body {"success":true}'
    answers A "$(cut -d / -f 2 <<<"$STACK")" 'wait 60000'
    output=$(switchboard doctor --json --url "$A_URL" 2>/dev/null || true)
    stop_receivers
    ((SECONDS - started < 50)) || fail "$((SECONDS - started)) s"
    assert_equal "$(jq -r '.[] | select(.check == "site").status' <<<"$output")" ok
    assert_equal "$(jq -r '.[] | select(.check == "private files")
        | "\(.status) \(.detail[:37])"' <<<"$output")" 'warn the web server stopped answering: run'
    assert_equal "$(jq -r '.[] | select(.check == "front")
        | "\(.status) \(.detail[:37])"' <<<"$output")" 'warn the web server stopped answering: run'
}

# bats test_tags=long
@test "doctor --url of a host whose answers take longer than the limit asks once" {
    start_receiver slow
    answers slow v2 'drip 2000' 'body {"success":true}'
    output=$(switchboard doctor --json --url "$slow_URL" 2>/dev/null || true)
    assert_equal "$(find "$slow_DIR" -name '*.head' | wc -l)" 1
    stop_receivers
    [[ $(jq -r '.[] | select(.check == "site") | "\(.status) \(.detail)"' <<<"$output") == \
        "fail $slow_URL/v2/health: "*time* ]] || fail "$output"
    assert_equal "$(jq -r '.[] | select(.check == "front" or .check == "private files").status' \
        <<<"$output")" ''
}

# Writes what a document root has of the gateway: .htaccess, and a program for each path that prints
# its name and the header file_offset as it gets it: make_site [SHARED]
make_site() {
    local site=$STACK/home/public_html program
    mkdir -p "$site/v2"
    (
        here=$BATS_TEST_TMPDIR home=$root url=$HOSTER links='' shared=${1-}
        # shellcheck source=/dev/null
        . "$root/tools/common.bash"
        eval "$(sed -n '/^rewrites() {/,/^}/p' "$root/tools/hosting/pack")"
        rewrites | sed -e '/^@rewrites@$/{r /dev/stdin' -e 'd}' \
            "$root/tools/hosting/htaccess.root" >"$here/htaccess.root"
        eval "$(sed -n '/^make_block() {/,/^}/p' "$root/tools/hosting/files.sh")"
        say() { printf '%s\n' "$*"; }
        make_block >"$site/.htaccess"
    )
    { echo 'Options +ExecCGI' && cat "$root/tools/hosting/htaccess.programs"; } \
        >"$site/v2/.htaccess"
    for program in graph_media root; do
        printf '#!/bin/sh\ncat >/dev/null\nprintf "Content-Type: text/plain\\n\\n%s [%%s]" "$%s"' \
            "$program" SWITCHBOARD_FILE_OFFSET >"$site/v2/$program"
        chmod 755 "$site/v2/$program"
    done
}

# Prints what the program of a path prints: answer_of PATH [option of curl...]
answer_of() {
    curl -sS -X POST "$HOSTER$1" -d x "${@:2}"
}

@test "where .htaccess is all there is, the header file_offset reaches the program of uploads" {
    local shared path
    start_hoster event cgid
    for shared in '' yes; do
        make_site "$shared"
        for path in /v26.0/upload:abc?sig=x /graph/v21.0/upload:abc; do
            printf 'case: %s %s\n' "$shared" "$path"
            assert_equal "$(answer_of "$path" -H 'file_offset: 10000')" 'graph_media [10000]'
            assert_equal "$(answer_of "$path" -H 'File_Offset: 0')" 'graph_media [0]'
            assert_equal "$(answer_of "$path")" 'graph_media []'
            assert_equal "$(answer_of "$path" -H 'file-offset: 7' -H 'Range: bytes=1-')" \
                'graph_media []'
            assert_equal "$(answer_of "$path" -H 'file_offset: 1 2"$x%{ENV:PATH}')" \
                'graph_media [1 2"$x%{ENV:PATH}]'
        done
        assert_equal "$(answer_of /v2/nothing -H 'file_offset: 5')" 'root []'
    done
}
