#!/usr/bin/env bats
# A step of a key rotation that is killed at any system call leaves a key file and a database with
# which every host works, and can be repeated. It runs on a server too.
# transports: direct
# starts first
load helpers/all
load helpers/sweep

setup_file() {
    unset SWITCHBOARD_CONFINE_KILLS # a confined program could not be traced
    start_stack
    make_user
    local code
    for code in first code; do
        api POST /v2/webhooks/config \
            -d "{\"webhookUrl\":\"https://example.org/hook\",\"webhookCode\":\"$code\"}"
    done
    mkdir -m 700 "$STACK/other"
    sed -e "s|^secret_key_file = .*|secret_key_file = $STACK/other/secret.key|" \
        "$SWITCHBOARD_CONFIG" >"$STACK/other/switchboard.conf"
    printf 'host = other\n' >>"$STACK/other/switchboard.conf"
    cp -p "$STACK/secret.key" "$STACK/other/secret.key"
}

# The other host gets a copy of the key file. It has the one of before a step while it runs.
copy_keys() {
    cp -p "$STACK/secret.key" "$STACK/other/secret.key.new"
    mv "$STACK/other/secret.key.new" "$STACK/other/secret.key"
}

# Prints the ids of the keys, oldest first; the last one seals.
ids() {
    cut -d ' ' -f 1 "$STACK/secret.key" | paste -sd ' '
}

# Each stored value can be opened on both hosts: works WHAT
works() {
    switchboard key list >"$BATS_TEST_TMPDIR/list" 2>&1 ||
        fail "$1: this host: $(cat "$BATS_TEST_TMPDIR/list" "$STACK/secret.key")"
    SWITCHBOARD_CONFIG=$STACK/other/switchboard.conf switchboard key list \
        >"$BATS_TEST_TMPDIR/list" 2>&1 || fail "$1: the other host: $(cat "$BATS_TEST_TMPDIR/list")"
}

step() {
    switchboard key "$@" >"$BATS_TEST_TMPDIR/step" 2>&1 ||
        fail "key $*: $(cat "$BATS_TEST_TMPDIR/step")"
}

# Sets `calls` to lines NAME NUMBER: the system calls of a step from the one that opens the
# configuration, each with its number among those of its name.
trace() { # STEP [ID]
    "${tracing[@]}" -o "$BATS_TEST_TMPDIR/trace" "$OUT/tools/switchboard" key "$@" \
        >/dev/null 2>"$BATS_TEST_TMPDIR/error" || fail "key $*: $(cat "$BATS_TEST_TMPDIR/error")"
    mapfile -t calls < <(awk '
        !/^[a-z0-9_]+\(/ { next }
        /switchboard\.conf/ { begun = 1 }
        { sub(/\(.*/, "") }
        { count[$0]++ }
        begun && $0 != "exit_group" { print $0, count[$0] }' "$BATS_TEST_TMPDIR/trace")
    ((${#calls[@]} > 30)) || fail "only ${#calls[@]} calls of key $*"
}

# Runs a step that is killed at the start of the NUMBERth CALL: step_killed CALL NUMBER STEP [ID]
step_killed() {
    injection "$1" "$2" signal=KILL
    status=0
    { # suppresses the shell's message
        "${tracing[@]}" "${inject[@]}" "$OUT/tools/switchboard" key "${@:3}" >/dev/null \
            2>"$BATS_TEST_TMPDIR/error" || status=$?
    } 2>/dev/null
}

# Kills a step at its calls, each time from the same beginning, and repeats it:
# sweep STEP PREPARE END
# PREPARE sets `id`, the operand of the step if it has one; END checks the ring and makes it one
# key. Calls that write what others read are tried in any case.
sweep() {
    local name number i step which tried=0 killed=0 calls=() id=()
    "$2"
    trace "$1" "${id[@]}"
    "$3"
    choose_step "${#calls[@]}" 160
    for i in "${!calls[@]}"; do
        read -r name number <<<"${calls[i]}"
        ((i % step == 0)) || [[ $name =~ ^(rename|fsync|fdatasync|sendto)$ ]] || continue
        "$2"
        step_killed "$name" "$number" "$1" "${id[@]}"
        tried=$((tried + 1))
        # a poll or a read may be made once less
        ((status == 137)) && killed=$((killed + 1))
        ((status == 137 || status == 0)) ||
            fail "$1 killed at $name $number: status $status: $(cat "$BATS_TEST_TMPDIR/error")"
        works "$1 killed at $name $number"
        repeat "$1"
        works "$1 repeated after $name $number"
        "$3"
        assert_equal "$(find "$STACK" -name 'secret.key?*')" ''
    done
    say_sweep "key $1 killed at $which system call: both hosts work, and it can be repeated" \
        "$tried" 0 "$killed"
    ((killed * 10 >= tried * 9)) || fail "only $killed of $tried runs were killed"
}

# A step succeeds when it is repeated; `drop` that had ended finds no key any more.
repeat() { # STEP
    if [[ $1 == drop && " $(ids) " != *" ${id[0]} "* ]]; then
        run switchboard key drop "${id[0]}"
        [[ $output == *" has no key ${id[0]}; "* ]] || fail "$output"
    else
        step "$1" "${id[@]}"
    fi
}

# --- key add ---

begin_with_one() {
    begun=$(ids)
    [[ $begun != *' '* ]]
}

# A killed step has added a key or not; the repeated one has added one.
end_add() {
    local added others
    others=$(ids)
    [[ ${others##* } == "$begun" ]] || fail "another key seals: $others, not $begun"
    for added in ${others% *}; do
        step drop "$added"
    done
    assert_equal "$(ids)" "$begun"
}

# bats test_tags=long
@test "key add, killed at any system call" {
    sweep add begin_with_one end_add
}

# --- key use ---

begin_with_two() {
    begun=$(ids)
    step add
    id=("$(ids | cut -d ' ' -f 1)")
    copy_keys
}

end_use() {
    assert_equal "$(ids)" "$begun ${id[0]}"
    copy_keys
    step drop "$begun"
    copy_keys
}

# bats test_tags=long
@test "key use, killed at any system call" {
    sweep use begin_with_two end_use
}

# --- key drop ---

begin_with_used() {
    local new
    begun=$(ids)
    step add
    new=$(ids)
    new=${new%% *}
    copy_keys
    step use "$new"
    copy_keys
    id=("$begun")
}

end_drop() {
    [[ $(ids) != *' '* && $(ids) != "${id[0]}" ]] || fail "the keys are $(ids)"
    copy_keys
}

# bats test_tags=long
@test "key drop, killed at any system call" {
    sweep drop begin_with_used end_drop
}

@test "after all sweeps the stored secrets are those of the beginning" {
    api GET /v2/webhooks/config
    assert_json .data.webhookCode code
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"x\"}"
    assert_success
    [[ -n ${SERVER-} ]] || assert_sound
}
