#!/usr/bin/env bats
# `make install`: what is installed serves, from where it stands.
# transports: cgi fcgi
load helpers/all

setup_file() {
    start_stack
    make_user
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    export STAGE=$BATS_FILE_TMPDIR/stage
    DESTDIR=$STAGE PREFIX=/opt/sb "$root/tools/install"
    start_installed
}

start_installed() {
    local OUT=$STAGE/opt/sb/lib/switchboard
    start_apache
}

@test "the installed executables answer through Apache" {
    request GET /v2/health
    assert_success
    api GET /v2/me
    assert_success
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    assert_success
}

@test "every executable of apache.conf that was built is installed, and nothing else" {
    assert_equal "$(ls "$STAGE/opt/sb/lib/switchboard/cgi-bin")" \
        "$(find "$OUT/cgi-bin" -type f -perm -u+x -printf '%f\n' | sort)"
    cmp "$root/apache.conf" "$STAGE/etc/switchboard/apache.conf"
    cmp "$root/schema.sql" "$STAGE/opt/sb/share/switchboard/schema.sql"
    "$STAGE/opt/sb/bin/switchboard" --version | grep -q switchboard
}

@test "the units name programs where they were installed" {
    local unit program
    for unit in "$STAGE"/opt/sb/lib/systemd/system/*.service; do
        program=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$unit")
        [[ $program == /opt/sb/lib/switchboard/tools/* ]] || fail "$unit starts $program"
        [[ $program == */courier || -x $STAGE$program ]] || fail "$program is not installed"
    done
    if grep -r @PREFIX@ "$STAGE"; then
        fail "a place was not written in"
    fi
}

@test "the units let programs confine themselves: a call that is filtered kills (systemd.exec(5))" {
    local unit call
    for unit in "$STAGE"/opt/sb/lib/systemd/system/*.service; do
        for call in seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self; do
            grep -qE "^SystemCallFilter=(.* )?$call( |\$)" "$unit" || fail "$unit does not allow $call"
        done
    done
}
