#!/usr/bin/env bats
# Each lock of the store protects something: without it a case of tests/unit/twins.c fails.
# transports: direct
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

@test "without any one of the locks a case of twins fails" {
    [[ -n ${SERVER-} ]] || skip 'a file has one writer at a time and no such locks'
    [[ -n ${TEST_FULL-} ]] || skip 'only in make test-full: it takes minutes'
    run "$root/tests/unlock"
    printf '%s\n' "$output"
    assert_equal "$status" 0
    (($(grep -c ': run [0-9]' <<<"$output") > 30))
}
