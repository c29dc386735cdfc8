# transports: direct
# starts first
# Two seconds of hostile input for every parser, five in `make test-full`; `make fuzz` gives each thirty.
load helpers/all

setup_file() {
    mkdir -p "$BATS_FILE_TMPDIR/fuzz"
    cp "$root"/build/fuzz/* "$BATS_FILE_TMPDIR/fuzz/" 2>/dev/null || true # the programs alone
}

teardown_file() {
    :
}

setup() {
    :
}

@test "no input of some seconds breaks a parser of foreign bytes" {
    local seconds=${TEST_FULL:+5}
    run "$root/tests/fuzz/run" "$BATS_FILE_TMPDIR/fuzz" "${seconds:-2}"
    printf '%s\n' "$output"
    [[ $status == 0 ]]
    assert_equal "$(grep -c '^ok ' <<<"$output")" "$(find "$root/tests/fuzz" -name '*.c' | wc -l)"
}
