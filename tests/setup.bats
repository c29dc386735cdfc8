#!/usr/bin/env bats
# The set-up that make does before it compiles: which packages it asks apt for.
# transports: direct
# shellcheck disable=SC2016  # the stand-ins are scripts, expanded when they run
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

# Stand-ins for the system's programs, which note how they were called.
setup() {
    bin=$BATS_TEST_TMPDIR/bin calls=$BATS_TEST_TMPDIR/calls
    mkdir "$bin"
    : >"$calls"
    put_program dpkg-query 'printf "installed gcc\ninstalled curl\nconfig-files jq\n"; exit 1'
    put_program apt-get 'echo "apt-get $*" >>"'"$calls"'"'
    cd "$BATS_TEST_TMPDIR" || return
}

put_program() {
    printf '#!/bin/bash\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

set_up() {
    PATH=$bin:$PATH run "$root/tools/setup" "$@"
}

# Somebody else than root, in a user namespace where we are not.
set_up_as_user() {
    local as_user=()
    ((EUID != 0)) || as_user=(unshare --user)
    PATH=$bin:$PATH run "${as_user[@]}" "$root/tools/setup" "$@"
}

@test "nothing is asked of apt when nothing is missing" {
    set_up gcc curl
    assert_equal "$status" 0
    assert_equal "$output" ''
    assert_equal "$(<"$calls")" ''
}

@test "what is missing is installed, also what is only half removed" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    set_up gcc jq libfcgi-dev curl
    assert_equal "$status" 0
    [[ $output == *'installing jq libfcgi-dev'* ]]
    [[ $(<"$calls") == *'install --no-install-recommends jq libfcgi-dev' ]]
    assert_equal "$(wc -l <"$calls")" 1
}

@test "lists of packages that are too old are fetched anew" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    put_program apt-get 'echo "$*" >>"'"$calls"'"
        [[ $* != *install* || $(grep -c update "'"$calls"'") == 1 ]] || { echo "E: Unable to locate"; exit 100; }'
    set_up jq
    assert_equal "$status" 0
    assert_equal "$(wc -l <"$calls")" 3
}

@test "a failure of apt is told in one line, with its reason" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    put_program apt-get 'echo "E: Unable to locate package jq"; exit 100'
    set_up jq
    assert_equal "$status" 1
    assert_equal "${lines[1]}" 'setup: apt-get failed: E: Unable to locate package jq'
    assert_equal "${#lines[@]}" 2
}

@test "neither root nor sudo: one line that says what to run" {
    put_program sudo 'exit 1'
    set_up_as_user jq curl </dev/null
    assert_equal "$status" 1
    assert_equal "$output" 'setup: packages are missing and I am not root; run: apt-get install jq'
    assert_equal "$(<"$calls")" ''
}

@test "through sudo where one is not root" {
    put_program sudo 'echo "sudo $1" >>"'"$calls"'"; shift; [[ $1 != true ]] || exit 0; exec "$@"'
    set_up_as_user jq </dev/null
    assert_equal "$status" 0
    [[ $(<"$calls") == *'install --no-install-recommends jq'* ]]
    grep -q '^sudo -n$' "$calls"
}
