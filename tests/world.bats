#!/usr/bin/env bats
# Simulated worlds: days of clients, people, receivers, crashes and power failures in seconds.
# `make world` plays them for longer.
# transports: direct
# SQLite only: the simulator has a disk of its own
# needs: world
# starts first
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    [[ -z ${ASAN_OPTIONS-} ]] || skip 'the sanitizer replaces the same functions of the C library'
    export TMPDIR=$BATS_TEST_TMPDIR
}

world() {
    run "${HELPERS%/helpers}/world/world" "$@"
}

@test "worlds from a new seed break no rule" {
    world --seconds "${WORLD_SECONDS:-30}"
    [[ $status == 0 ]] || fail "$output"
    [[ $output == *'rules broken 0' ]]
    printf '# %s\n' "$output" >&3
}

# bats test_tags=long
@test "worlds that once broke a rule, or came close, break none" {
    local seed
    for seed in 2 5 22 32 104 217 238 2012 100082 383527 500026 700071 866955; do
        world --seed "$seed" --worlds 1
        [[ $status == 0 ]] || fail "$output"
    done
}

# bats test_tags=long
@test "a seed decides everything that happens in a world" {
    local first
    world --seed 300 --worlds 1 --verbose
    assert_equal "$status" 0
    first=$output
    world --seed 300 --worlds 1 --verbose
    assert_equal "$output" "$first"
}

# bats test_tags=long
@test "a disk that loses what was synced breaks a rule, and the history that breaks it is printed" {
    # a program may wait for ever on a damaged database, so a part of the history can take long
    world --seed 103 --worlds 20 --shorten "$((${TEST_FULL:-0} ? 3 : 0))" --lying-disk
    assert_equal "$status" 1
    [[ ${lines[0]} == 'world: seed '*' breaks a rule: '* ]]
    [[ $output == *'the shortest history that was found: '*'    act '* ]]
}
