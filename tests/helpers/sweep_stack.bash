# shellcheck shell=bash
# The stack of sweeps.bats and sweeps_stored.bats: `load helpers/sweep_stack`
# after helpers/all. It loads what they need.
load helpers/media
load helpers/session
load helpers/sweep
load helpers/webhook
load helpers/inbox

# A stack with media and a user with a password; its database is kept after `capture_requests`, a
# function of the file.
setup_file() {
    start_media_stack
    export BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
    set_password ''
    sandbox POST media >/dev/null \
        "{\"wabaId\":\"$WABA\",\"id\":\"7001\",\"mimeType\":\"image/png\",\"size\":200000}"
    capture_requests
    keep_database
}

setup() {
    forget_sent
    restore
}

teardown() {
    assert_equal "$(ls -A "$SPOOL")" ''
}
