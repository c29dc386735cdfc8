#!/usr/bin/env bats
# The setup that make runs before it compiles: the packages it installs with apt.
# transports: direct
# SQLite only: it uses no database
# shellcheck disable=SC2016  # the stand-ins are scripts, expanded when they run
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

# Creates replacements of the system's programs that record their arguments.
setup() {
    bin=$BATS_TEST_TMPDIR/bin calls=$BATS_TEST_TMPDIR/calls
    mkdir "$bin"
    : >"$calls"
    put_program dpkg-query 'printf "%s " installed=gcc:amd64 installed=curl:amd64 installed=ca-certificates:all \
        installed=libpq-dev:i386 config-files=jq:amd64; exit 1'
    put_program dpkg 'echo amd64'
    put_program apt-get 'echo "apt-get $*" >>"'"$calls"'"'
    export SETUP_POLICY=$BATS_TEST_TMPDIR/policy-rc.d
    cd "$BATS_TEST_TMPDIR" || return
}

put_program() {
    printf '#!/bin/bash\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

set_up() {
    PATH=$bin:$PATH run "$root/tools/setup" "$@"
}

# Runs a command as a user other than root; root uses a user namespace for it.
set_up_as_user() {
    local as_user=()
    ((EUID != 0)) || as_user=(unshare --user)
    PATH=$bin:$PATH run "${as_user[@]}" "$root/tools/setup" "$@"
}

@test "apt is not called when no package is missing" {
    set_up gcc curl
    assert_equal "$status" 0
    assert_equal "$output" ''
    assert_equal "$(<"$calls")" ''
}

@test "missing packages are installed, also those removed without their configuration" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    set_up gcc jq libfcgi-dev curl
    assert_equal "$status" 0
    [[ $output == *'installing jq libfcgi-dev'* ]]
    [[ $(<"$calls") == *'install --no-install-recommends jq libfcgi-dev' ]]
    assert_equal "$(wc -l <"$calls")" 1
}

@test "a package of another architecture is not this machine's, and one of none is" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    set_up libpq-dev libpq-dev:i386 ca-certificates gcc:arm64
    assert_equal "$status" 0
    [[ $(<"$calls") == *'install --no-install-recommends libpq-dev gcc:arm64' ]]
}

@test "of alternatives one is enough, and the first that the release has is installed" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    put_program apt-cache '[[ $2 == newer ]]'
    set_up 'other|curl' 'unknown|newer|newest' 'one|two'
    assert_equal "$status" 0
    [[ $(<"$calls") == *'install --no-install-recommends newer one' ]]
}

@test "a package of a second architecture is not in the list of what is linked" {
    put_program dpkg-query 'for name; do :; done
        printf "1.2-3\", \"source"; [[ $name == *:amd64 ]] || printf "1.2-3\", \"source"'
    PATH=$bin:$PATH run "$root/tools/linked"
    assert_equal "$status" 0
    assert_equal "$(grep -cE '^    \{"[A-Za-z0-9 ]+", "1.2-3", "source"\},$' <<<"$output")" 5
    assert_equal "$(grep -c 1.2-3 <<<"$output")" 5
}

# bats test_tags=long
@test "a flag that the compiler has not for its target is left out" {
    put_program other-gcc '[[ " $* " != *" -fcf-protection=full "* ]]'
    PATH=$bin:$PATH run make -s -pn -C "$root" SANITIZE= CC=other-gcc help
    output=$(grep '^FLAGS := ' <<<"$output")
    [[ $output == *' -mbranch-protection=standard '* ]] || fail "$output"
    [[ $output != *' -fcf-protection'* ]] || fail "$output"
}

@test "make says that it cannot build below a path with a space" {
    mkdir -p 'a b/tests'
    ln -s "$root/Makefile" 'a b'
    run make -s -C 'a b' all
    assert_equal "$status" 2
    [[ $output == *': *** make cannot build below a path with a space; move the checkout: '*'/a b.  Stop.' ]] ||
        fail "$output"
}

@test "services of the packages are not started during the installation, and may be afterwards" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    put_program apt-get '"$SETUP_POLICY"; echo "policy $?" >>"'"$calls"'"'
    set_up jq
    assert_equal "$status" 0
    assert_equal "$(<"$calls")" 'policy 101'
    [[ ! -e $SETUP_POLICY ]]
}

@test "a policy about services that the machine has is kept" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    echo mine >"$SETUP_POLICY"
    set_up jq
    assert_equal "$status" 0
    assert_equal "$(<"$SETUP_POLICY")" mine
}

@test "outdated package lists are updated" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    put_program apt-get 'echo "$*" >>"'"$calls"'"
        [[ $* != *install* || $(grep -c update "'"$calls"'") == 1 ]] || { echo "E: Unable to locate"; exit 100; }'
    set_up jq
    assert_equal "$status" 0
    assert_equal "$(wc -l <"$calls")" 3
}

@test "a failure of apt is reported in one line with its reason" {
    ((EUID == 0)) || put_program sudo 'shift; [[ $1 != true ]] || exit 0; exec "$@"'
    put_program apt-get 'echo "E: Unable to locate package jq"; exit 100'
    set_up jq
    assert_equal "$status" 1
    assert_equal "${lines[1]}" 'setup: apt-get failed: E: Unable to locate package jq'
    assert_equal "${#lines[@]}" 2
}

@test "without root and sudo: one line with the command to run" {
    put_program sudo 'exit 1'
    set_up_as_user jq curl </dev/null
    assert_equal "$status" 1
    assert_equal "$output" 'setup: packages are missing and this user is not root; run: apt-get install jq'
    assert_equal "$(<"$calls")" ''
}

@test "sudo is used by users other than root" {
    put_program sudo 'echo "sudo $1" >>"'"$calls"'"; shift; [[ $1 != true ]] || exit 0; exec "$@"'
    set_up_as_user jq </dev/null
    assert_equal "$status" 0
    [[ $(<"$calls") == *'install --no-install-recommends jq'* ]]
    grep -q '^sudo -n$' "$calls"
}

@test "make names a program that no group lists, or that has no source, and stops" {
    mkdir tree tree/cgi-bin
    ln -s "$root/Makefile" "$root/tests" tree
    ln -s "$root"/cgi-bin/*.c tree/cgi-bin
    make -s -C tree help >/dev/null
    touch tree/cgi-bin/merges.c
    run make -s -C tree help
    assert_equal "$status" 2
    [[ $output == *': *** cgi-bin/merges.c is in none of CGI_PLAIN, CGI_STORE, CGI_GRAPH, CGI_MEDIA.  Stop.' ]] ||
        fail "$output"
    rm tree/cgi-bin/{merges,health}.c
    run make -s -C tree help
    assert_equal "$status" 2
    [[ $output == *' lists a program without its source cgi-bin/health.c.  Stop.' ]] || fail "$output"
}
