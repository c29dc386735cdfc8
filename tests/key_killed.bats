#!/usr/bin/env bats
# A key rotation that is killed at any step loses nothing.
# SQLite only: key rotate is for one host; hosts.bats has the steps for several.
# transports: direct
# bats file_tags=long
load helpers/all
load helpers/sweep

# The system calls that change files.
calls=(openat write pwrite64 fsync fdatasync ftruncate fchmod fchown rename unlink)

setup_file() {
    unset SWITCHBOARD_CONFINE_KILLS # strace injects an error by an invalid call, which the filter kills
    start_stack
    make_user
    api POST /v2/webhooks/config -d '{"webhookUrl":"https://example.org/hook","webhookCode":"first"}'
    api POST /v2/webhooks/config -d '{"webhookUrl":"https://example.org/hook","webhookCode":"code"}'
}

# Rotates, and kills the program at the start of the NUMBERth CALL. Sets `status`, 137 if it was killed.
rotate_killed() { # CALL NUMBER
    status=0
    injection "$1" "$2" signal=KILL
    "${tracing[@]}" "${inject[@]}" "$OUT/tools/switchboard" key rotate >/dev/null 2>"$BATS_TEST_TMPDIR/error" || status=$?
}

@test "killed at every call that changes a file, nothing is lost" {
    local call number killed=0 keys
    for call in "${calls[@]}"; do
        for ((number = 1; number <= 60; number++)); do
            rotate_killed "$call" "$number"
            ((status != 0)) || break
            ((status == 137)) || fail "$call $number: status $status: $(cat "$BATS_TEST_TMPDIR/error")"
            killed=$((killed + 1))
            switchboard key list >/dev/null || fail "$call $number: a value is lost"
            keys=$(wc -l <"$STACK/secret.key")
            ((keys <= 16)) || fail "$call $number: $keys keys"
        done
        ((number <= 60)) || fail "$call: every run was killed"
    done
    say_sweep "rotation of keys killed at each call that changes something: nothing lost" "$killed" 0 "$killed"
    ((killed >= 40)) || fail "only $killed runs were killed"
    assert_sound
    assert_equal "$(wc -l <"$STACK/secret.key")" 1
    assert_equal "$(find "$STACK" -name 'secret.key?*')" ''
    api GET /v2/webhooks/config
    assert_json .data.webhookCode code
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"x\"}"
    assert_success
}
