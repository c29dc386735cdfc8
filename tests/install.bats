#!/usr/bin/env bats
# `make install`: the installed programs work from their installation directory.
# transports: cgi fcgi
# starts first
load helpers/all
load helpers/background

setup_file() {
    start_stack
    make_user
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    export STAGE=$BATS_FILE_TMPDIR/stage SBOM=$BATS_FILE_TMPDIR/sbom
    DESTDIR=$STAGE PREFIX=/opt/sb "$root/tools/install"
    start_installed
}

start_installed() {
    local OUT=$STAGE/opt/sb/lib/switchboard
    start_apache
}

# bats test_tags=route
@test "the installed executables answer through Apache" {
    request GET /v2/health
    assert_success
    api GET /v2/me
    assert_success
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    assert_success
}

@test "the installed reference is served" {
    request GET /v2/openapi.json
    assert_status 200
    cmp "$body" "$OUT/htdocs/openapi.json"
    request GET /v2/docs/
    assert_status 200
}

@test "every executable of apache.conf that was built is installed, and nothing else" {
    assert_equal "$(ls "$STAGE/opt/sb/lib/switchboard/cgi-bin")" \
        "$(basename -s .c "$root"/cgi-bin/*.c | sort)"
    cmp "$root/apache.conf" "$STAGE/etc/switchboard/apache.conf"
    cmp "$root/schema.sql" "$STAGE/opt/sb/share/switchboard/schema.sql"
    diff -r "$OUT/htdocs/" "$STAGE/opt/sb/lib/switchboard/htdocs"
    grep -q '^.TH SWITCHBOARD' "$STAGE/opt/sb/share/man/man7/switchboard-api.7"
    "$STAGE/opt/sb/bin/switchboard" --version | grep -q switchboard
    "$STAGE/opt/sb/bin/switchboard-sandbox" --help | grep -q '^usage: switchboard-sandbox'
}

@test "the manual pages and the completions are installed" {
    local share=$STAGE/opt/sb/share
    assert_equal "$(cd "$share/man" && echo */*)" \
        'man5/switchboard.conf.5 man7/switchboard-api.7'` \
        `' man8/switchboard-courier.8 man8/switchboard-pool.8 man8/switchboard-sandbox.8 man8/switchboard-sender.8 man8/switchboard.8'
    "$OUT/tools/switchboard" manual switchboard | cmp - "$share/man/man8/switchboard.8"
    "$OUT/tools/switchboard" completion bash | cmp - "$share/bash-completion/completions/switchboard"
    "$OUT/tools/switchboard" completion zsh | cmp - "$share/zsh/vendor-completions/_switchboard"
}

# bats test_tags=long
@test "the bill of materials is installed, if it is of the installed programs" {
    local stage=$BATS_TEST_TMPDIR/stage file
    mkdir -p "$SBOM"
    for file in "$OUT"/cgi-bin/*[a-z] "$OUT"/tools/{switchboard{,-sandbox},pool}; do
        [[ ! -x $file ]] || printf '"%s"\n' "$(sha256sum <"$file" | cut -d ' ' -f 1)"
    done >"$SBOM/switchboard.spdx.json"
    printf 'licences\n' >"$SBOM/LICENSES"
    DESTDIR=$stage "$root/tools/install"
    assert_equal "$(cat "$stage/usr/share/doc/switchboard/LICENSES")" licences
    cmp "$SBOM/switchboard.spdx.json" "$stage/usr/share/doc/switchboard/switchboard.spdx.json"
    sed -i 1d "$SBOM/switchboard.spdx.json"
    run env DESTDIR="$stage-2" "$root/tools/install"
    rm -r "$SBOM"
    assert_equal "$status $output" \
        "0 $SBOM/switchboard.spdx.json is not of these programs and is not installed; run make sbom"
    [[ ! -e $stage-2/usr/share/doc ]]
}

@test "the units start programs at their installed paths" {
    local unit program
    for unit in "$STAGE"/opt/sb/lib/systemd/system/*.service; do
        program=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$unit")
        [[ $program == /opt/sb/lib/switchboard/tools/* ]] || fail "$unit starts $program"
        [[ $program == */courier || $program == */sender || -x $STAGE$program ]] || fail "$program is not installed"
    done
    if grep -rE '@(PREFIX|WEB_GROUP)@' "$STAGE"; then
        fail "a placeholder was not replaced"
    fi
}

@test "the units allow programs to confine themselves: a filtered call would kill (systemd.exec(5))" {
    local unit call
    for unit in "$STAGE"/opt/sb/lib/systemd/system/*.service; do
        for call in seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self; do
            grep -qE "^SystemCallFilter=(.* )?$call( |\$)" "$unit" || fail "$unit does not allow $call"
        done
    done
}

# bats test_tags=route,long
@test "three upgrades under load cause no failed request" {
    local turn token="X-API-Token: $TOKEN"
    local text="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    [[ -n ${TEST_FULL-} ]] || local BACKGROUND_PAUSE=30 # the rest of the time is the installation's
    for turn in 1 ${TEST_FULL:+2 3}; do
        in_background "me$turn" print_status /v2/me -H "$token"
    done
    for turn in 1 ${TEST_FULL:+2}; do
        in_background "send$turn" print_status /v2/messages/send/text -H "$token" \
            -H 'Content-Type: application/json' -d "$text"
    done
    for turn in 1 2 3; do
        eventually each_ran_more_than $((turn * 5))
        DESTDIR=$STAGE PREFIX=/opt/sb "$root/tools/install"
    done
    eventually each_ran_more_than 25
    end_background 200
    assert_equal "$(find "$STAGE" -name '.new-*')" ''
}

# Has Apache read its configuration again, and waits until it serves by it.
restart_gracefully() {
    local log=$STACK/apache/error.log before
    before=$(grep -c 'resuming normal operations' "$log" || true)
    kill -USR1 "$(cat "$STACK/apache/httpd.pid")"
    eventually has_resumed "$log" $((before + 1))
}

has_resumed() { # LOG TIMES
    (($(grep -c 'resuming normal operations' "$1" || true) >= $2))
}

# Makes the installation one of an earlier version, whose program `account` served /v2/me:
# become_earlier DIRECTORY
become_earlier() {
    local program=opt/sb/lib/switchboard/cgi-bin/account
    cp -p "$1/${program%account}me" "$1/$program"
    printf '%s  /%s\n' "$(sha256sum <"$1/$program" | cut -d ' ' -f 1)" "$program" \
        >>"$1/opt/sb/share/switchboard/installed.sha256"
    sed -e 's|/cgi-bin/me"|/cgi-bin/account"|' -e 's|<Files "me">|<Files "account">|' \
        -e '/<Files/,/<.Files/s|/me\.sock|/account.sock|' "$root/apache.conf" |
        tee "$1/etc/switchboard/apache.conf" >"$1/opt/sb/share/switchboard/apache.conf"
}

# bats test_tags=route,long
@test "a program that the new version lacks is removed when Apache has the new configuration, under load" {
    local programs=$STAGE/opt/sb/lib/switchboard/cgi-bin BACKGROUND_PAUSE=30
    become_earlier "$STAGE"
    sed -i "s|Include \"$root/apache.conf\"|Include \"$STAGE/etc/switchboard/apache.conf\"|" \
        "$STACK/apache/httpd.conf"
    if [[ $TRANSPORT == fcgi ]]; then
        "$OUT/tools/pool" --socket "$(cat "$STACK/apache/sockets")/account.sock" --processes 2 \
            --pid-file "$STACK/apache/account.pid" -- "$programs/account" 3>&- &
        eventually test -S "$(cat "$STACK/apache/sockets")/account.sock"
    fi
    restart_gracefully
    in_background me print_status /v2/me -H "X-API-Token: $TOKEN"
    eventually each_ran_more_than 5
    DESTDIR=$STAGE PREFIX=/opt/sb run "$root/tools/install"
    assert_equal "$status" 0
    [[ $output == "Kept for Apache's former configuration: account."* ]] || fail "$output"
    cmp "$root/apache.conf" "$STAGE/etc/switchboard/apache.conf"
    eventually each_ran_more_than 15
    restart_gracefully
    DESTDIR=$STAGE PREFIX=/opt/sb run "$root/tools/install"
    assert_equal "$output" '/opt/sb/lib/switchboard/cgi-bin/account is not of this version and was removed'
    eventually each_ran_more_than 25
    end_background_of_restarts "$STACK/apache/error.log"
    assert_equal "$(ls "$programs")" "$(basename -s .c "$root"/cgi-bin/*.c | sort)"
    ! grep '/account$' "$STAGE/opt/sb/share/switchboard/installed.sha256" || fail 'it is still listed'
}

# bats test_tags=long
@test "a program that an edited apache.conf names stays, and is removed by the uninstallation" {
    local stage program=opt/sb/lib/switchboard/cgi-bin/account turn
    stage=$(install_in retired)
    become_earlier "$stage"
    printf '# edited\n' >>"$stage/etc/switchboard/apache.conf"
    for turn in 1 2; do
        install_in retired
        [[ -x $stage/$program ]] || fail "removed by installation $turn"
    done
    DESTDIR=$stage PREFIX=/opt/sb "$root/tools/uninstall"
    [[ ! -e $stage/$program ]]
}

# bats test_tags=long
@test "an upgrade keeps an edited apache.conf, and replaces an unchanged one" {
    local conf=$STAGE/etc/switchboard/apache.conf kept=$STAGE/opt/sb/share/switchboard/apache.conf
    printf '# of an earlier version\n' | tee "$conf" >"$kept"
    DESTDIR=$STAGE PREFIX=/opt/sb "$root/tools/install"
    cmp "$root/apache.conf" "$conf"
    printf '# edited\n' >>"$conf"
    run env DESTDIR="$STAGE" PREFIX=/opt/sb "$root/tools/install"
    assert_equal "$status" 0
    assert_equal "$(tail -n 1 "$conf")" '# edited'
    assert_equal "$output" ''
    printf '# of an earlier version\n' >"$kept"
    run env DESTDIR="$STAGE" PREFIX=/opt/sb "$root/tools/install"
    assert_equal "$(tail -n 1 "$conf")" '# edited'
    cmp "$root/apache.conf" "$conf.new"
    assert_equal "$output" '/etc/switchboard/apache.conf was edited and is kept; the new one is apache.conf.new'
}

# Prints MemoryMax= of a unit in megabytes: memory_of UNIT
memory_of() {
    sed -n 's/^MemoryMax=\([0-9]*\)M$/\1/p; s/^MemoryMax=1G$/1024/p' "$STAGE/opt/sb/lib/systemd/system/$1"
}

@test "the units limit memory to what their programs may use, and a pool at its limit loses one process" {
    local pool=$STAGE/opt/sb/lib/systemd/system/switchboard-fcgi@.service most planning
    most=$(sed -n 's/^Environment=.*MAX_PROCESSES=\([0-9]*\).*/\1/p' "$pool")
    (($(memory_of switchboard-fcgi@.service) >= 4 * most + 2 * 192)) # serve.c: REQUEST_MEMORY_CAP
    grep -qx 'OOMPolicy=continue' "$pool"
    planning=$(sed -n 's/.*PLANNING_LIMIT = \([0-9]*\) \* 1024 \* 1024.*/\1/p' "$root/lib/delivery/dispatch.c")
    (($(memory_of switchboard-courier.service) > planning))
}

@test "the unit of a pool sets the configuration file, which requests cannot change, and watches it" {
    local pool=$STAGE/opt/sb/lib/systemd/system/switchboard-fcgi@.service
    grep -qx 'Environment=SWITCHBOARD_CONFIG=/etc/switchboard/switchboard.conf' "$pool"
    grep -q '^ExecStart=.* --watch ${SWITCHBOARD_CONFIG} ' "$pool"
}

# Installs into a directory of its own and prints its name: install_in NAME
install_in() {
    DESTDIR=$BATS_TEST_TMPDIR/$1 PREFIX=/opt/sb "$root/tools/install" >&2
    printf '%s\n' "$BATS_TEST_TMPDIR/$1"
}

# bats test_tags=long
@test "the list of the installed files has each of them once, with its checksum" {
    local stage list=opt/sb/share/switchboard/installed.sha256
    stage=$(install_in list)
    assert_equal "$(cut -c 67- "$stage/$list" | sort)" \
        "$(cd "$stage" && find . -type f ! -path "./$list" | cut -c 2- | sort)"
    sed "s|  /|  $stage/|" "$stage/$list" | sha256sum --check --quiet
}

# bats test_tags=long
@test "an uninstallation removes every installed file and empty directory" {
    local stage
    stage=$(install_in all)
    run env DESTDIR="$stage" PREFIX=/opt/sb "$root/tools/uninstall"
    assert_equal "$status" 0
    assert_equal "$output" 'Removed the installed files.'
    assert_equal "$(find "$stage" ! -type d)" ''
    [[ ! -e $stage/opt/sb && ! -e $stage/etc/switchboard ]]
}

# bats test_tags=long
@test "an uninstallation keeps edited files, keys and data, and names them" {
    local stage
    stage=$(install_in edited)
    printf '# edited\n' >>"$stage/etc/switchboard/apache.conf"
    printf 'app_secret = x\n' >>"$stage/etc/switchboard/switchboard.conf"
    printf 'key\n' >"$stage/etc/switchboard/secret.key"
    mkdir -p "$stage/var/lib/switchboard/data"
    printf 'data\n' >"$stage/var/lib/switchboard/data/switchboard.db"
    run env DESTDIR="$stage" PREFIX=/opt/sb "$root/tools/uninstall"
    assert_equal "$status" 0
    assert_equal "$(sort <<<"$output")" "$(printf '%s\n' \
        "Kept: $stage/etc/switchboard" \
        "Kept: $stage/etc/switchboard/apache.conf (edited)" \
        "Kept: $stage/etc/switchboard/switchboard.conf (edited)" \
        "Kept: $stage/var/lib/switchboard" \
        'Removed the installed files.')"
    assert_equal "$(cd "$stage" && find . -type f | sort)" "$(printf '%s\n' \
        ./etc/switchboard/apache.conf ./etc/switchboard/secret.key \
        ./etc/switchboard/switchboard.conf ./var/lib/switchboard/data/switchboard.db)"
}

@test "an installation over an earlier version, with the database beside other files, is refused and not changed" {
    local stage=$BATS_TEST_TMPDIR/earlier before
    mkdir -p "$stage/var/lib/switchboard"
    touch "$stage/var/lib/switchboard/switchboard.db"
    before=$(find "$stage" -exec stat -c '%n %a %y' {} +)
    run env DESTDIR="$stage" PREFIX=/opt/sb OUT="$OUT" "$root/tools/install"
    assert_equal "$status" 1
    [[ $output == "install: $stage/var/lib/switchboard was made by an earlier version, "*"$stage/var/lib/switchboard/data, "*'Nothing was changed' ]] ||
        fail "$output"
    assert_equal "$(find "$stage" -exec stat -c '%n %a %y' {} +)" "$before"
}

# bats test_tags=long
@test "an installation over an edited one keeps the edited files, and so does its uninstallation" {
    local stage conf
    stage=$(install_in again)
    conf=$stage/etc/switchboard/switchboard.conf
    printf 'app_secret = x\n' >"$conf"
    printf 'rotate by hand\n' >"$stage/etc/logrotate.d/switchboard"
    install_in again
    assert_equal "$(<"$conf")" 'app_secret = x'
    assert_equal "$(<"$stage/etc/logrotate.d/switchboard")" 'rotate by hand'
    DESTDIR=$stage PREFIX=/opt/sb "$root/tools/uninstall"
    assert_equal "$(<"$conf")" 'app_secret = x'
    assert_equal "$(<"$stage/etc/logrotate.d/switchboard")" 'rotate by hand'
}

@test "an uninstallation without an installation says what is missing" {
    run env DESTDIR="$BATS_TEST_TMPDIR/none" PREFIX=/opt/sb "$root/tools/uninstall"
    assert_equal "$status" 1
    [[ $output == "uninstall: $BATS_TEST_TMPDIR/none/opt/sb/share/switchboard/installed.sha256 is missing: "* ]]
}
