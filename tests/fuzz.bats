# transports: direct
# needs: fuzz
# starts first
# Fuzzes every parser for two seconds, in `make test-full` for five; `make fuzz` takes thirty for each.
# SQLite only: it uses no database
# bats file_tags=long
load helpers/all

setup_file() {
    mkdir -p "$BATS_FILE_TMPDIR/fuzz"
    cp "$root"/build/fuzz/* "$BATS_FILE_TMPDIR/fuzz/" 2>/dev/null || true # without the corpora
}

teardown_file() {
    :
}

setup() {
    :
}

@test "no fuzzed input makes a parser of foreign bytes fail" {
    local seconds=${TEST_FULL:+5}
    run "$root/tests/fuzz/run" "$BATS_FILE_TMPDIR/fuzz" "${seconds:-2}"
    printf '%s\n' "$output"
    [[ $status == 0 ]]
    assert_equal "$(grep -c '^ok ' <<<"$output")" "$(find "$root/tests/fuzz" -name '*.c' | wc -l)"
}
