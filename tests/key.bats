#!/usr/bin/env bats
# The keys that seal data at rest: listing, and rotation while requests run.
# SQLite only: key rotate is for one host; hosts.bats has the steps for several.
load helpers/all

setup_file() {
    start_stack
    make_user
    make_account '' # another account
    make_user OTHER_
    local code
    for code in first second; do
        api POST /v2/webhooks/config \
            -d "{\"webhookUrl\":\"https://example.org/hook\",\"webhookCode\":\"$code\"}"
    done
}

key_file() {
    cat "$STACK/secret.key"
}

# Expects that every sealed value opens, and has its content.
assert_all_open() {
    switchboard key list >/dev/null || fail 'no key opens one of the values'
    api GET /v2/webhooks/config
    assert_json .data.webhookCode second
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"x\"}"
    assert_success
}

# bats test_tags=long
@test "a rotation seals every value with a new key, and removes the old one" {
    local before
    before=$(key_file)
    run switchboard key list --json
    assert_equal "$(jq -c 'map(.values) | add' <<<"$output")" 5
    local id
    id=$(jq '.[-1].id' <<<"$output")
    run switchboard key rotate --json
    assert_equal "$(jq -c '[.id, .resealed, .removed]' <<<"$output")" "[$((id + 1)),5,[$id]]"
    run switchboard key list
    assert_equal "${#lines[@]}" 2
    [[ $(key_file) == "$((id + 1)) "* && $(key_file) != *"${before#* }"* ]]
    assert_equal "$(stat -c %a "$STACK/secret.key")" 640
    assert_all_open
}

# bats test_tags=direct
@test "a rotation replaces several keys of a key file by one" {
    local id key
    for id in 201 202 203; do
        key=$(head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n')
        sed -i "1i $id $key" "$STACK/secret.key"
    done
    switchboard key rotate >/dev/null
    assert_equal "$(key_file | wc -l)" 1
    assert_all_open
}

# bats test_tags=direct
@test "a full key file can be rotated" {
    local id key
    for id in {101..115}; do
        key=$(head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n')
        printf '%s %s\n' "$id" "$key" >>"$STACK/secret.key"
    done
    switchboard key rotate >/dev/null
    assert_equal "$(key_file | cut -d ' ' -f 1)" 116
    assert_all_open
}

# bats test_tags=direct
@test "the key after 255 is key 1" {
    local key
    key=$(head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n')
    printf '255 %s\n' "$key" >>"$STACK/secret.key"
    switchboard key rotate >/dev/null
    assert_equal "$(key_file | cut -d ' ' -f 1)" 1
    assert_all_open
}

# bats test_tags=direct
@test "a value that no key opens stops a rotation before it changes anything" {
    local before sealed
    before=$(key_file)
    sealed=$(db "SELECT hex(access_token) FROM account WHERE id = '$OTHER_ACCOUNT'")
    db "UPDATE account SET access_token = x'00' WHERE id = '$OTHER_ACCOUNT'"
    run switchboard key rotate
    assert_equal "$status" 1
    [[ $output == *"platform access token of account $OTHER_ACCOUNT cannot be opened with any key"* ]]
    assert_equal "$(key_file)" "$before"
    run switchboard key list
    assert_equal "$status" 1
    [[ $output == *'values that no key of '*' opens: 1' ]]
    db "UPDATE account SET access_token = x'$sealed' WHERE id = '$OTHER_ACCOUNT'"
    assert_all_open
}

# bats test_tags=direct
@test "a key file that cannot be replaced stops a rotation before it changes anything" {
    mkdir "$STACK/secret.key.next"
    local before
    before=$(key_file)
    run switchboard key rotate
    rmdir "$STACK/secret.key.next"
    assert_equal "$status" 1
    [[ $output == *'cannot replace the key file'* ]]
    assert_equal "$(key_file)" "$before"
    assert_all_open
}

# bats test_tags=direct
@test "a rotation keeps owner, group and mode of the key file" {
    ((EUID == 0)) || return 0 # only root can change the owner
    chown 65534:12 "$STACK/secret.key"
    chmod 444 "$STACK/secret.key"
    switchboard key rotate >/dev/null
    assert_equal "$(stat -c '%u %g %a' "$STACK/secret.key")" '65534 12 444'
    chown 0:0 "$STACK/secret.key"
    assert_all_open
}

# bats test_tags=direct
@test "a rotation replaces the target of a key file that is a symbolic link" {
    mv "$STACK/secret.key" "$STACK/elsewhere.key"
    ln -s elsewhere.key "$STACK/secret.key"
    switchboard key rotate >/dev/null
    [[ -L $STACK/secret.key ]]
    assert_all_open
    mv -f "$STACK/elsewhere.key" "$STACK/secret.key"
}

teardown() {
    touch "$BATS_TEST_TMPDIR/stop" # ends what a failed test left
}

# Sends requests that read and write sealed values until the file `stop` exists; records failed answers
# in the file `wrong`: worker NUMBER
worker() {
    answer_dir=$BATS_TEST_TMPDIR/worker$1
    mkdir "$answer_dir"
    while [[ ! -e $BATS_TEST_TMPDIR/stop ]]; do
        case $((RANDOM % 4)) in
        0) api GET /v2/me ;;
        1) api GET /v2/webhooks/config ;;
        2) api POST /v2/messages/send/text \
            -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"1555123000$1\",\"text\":\"x\"}" ;;
        3) request POST /v2/webhooks/generate-code -d '{}' --as "$OTHER_TOKEN" ;;
        esac
        printf '%s\n' "$status" >>"$BATS_TEST_TMPDIR/statuses"
        [[ $status == 200 ]] || cat "$body" >>"$BATS_TEST_TMPDIR/wrong"
    done
}

# bats test_tags=long
@test "repeated rotations disturb no request" {
    local number
    : >"$BATS_TEST_TMPDIR/statuses"
    for number in 1 2 3 4; do
        worker "$number" 3>&- &
    done
    local rotations=0
    while ((rotations < 20 || $(wc -l <"$BATS_TEST_TMPDIR/statuses") < 40)); do
        switchboard key rotate >/dev/null || fail "rotation $rotations failed"
        rotations=$((rotations + 1))
        sleep 0.1
    done
    touch "$BATS_TEST_TMPDIR/stop"
    wait
    [[ ! -e $BATS_TEST_TMPDIR/wrong ]] || fail "$(cat "$BATS_TEST_TMPDIR/wrong")"
    assert_equal "$(sort -u "$BATS_TEST_TMPDIR/statuses")" 200
    assert_all_open
    request GET /v2/webhooks/config --as "$OTHER_TOKEN"
    assert_that '.data.webhookCode | length == 64'
}

# The key file is a FIFO at first, so that the request waits between the value and the keys.
# bats test_tags=direct
@test "a rotation between the readings of a value and of the keys does not disturb a request" {
    local keys path
    for path in /v2/webhooks/config /v2/forms; do
        cp -p "$STACK/secret.key" "$STACK/rotated.key"
        sed "s|$STACK/secret.key|$STACK/rotated.key|" "$SWITCHBOARD_CONFIG" >"$STACK/rotated.conf"
        rm "$STACK/secret.key"
        mkfifo "$STACK/secret.key"
        request_many 1 GET "$path" -H "X-API-Token: $TOKEN" &
        exec {keys}>"$STACK/secret.key" # waits until the request opens it
        SWITCHBOARD_CONFIG=$STACK/rotated.conf switchboard key rotate >/dev/null
        mv "$STACK/rotated.key" "$STACK/secret.key"
        key_file >&"$keys"
        exec {keys}>&-
        wait $!
        many=$BATS_TEST_TMPDIR/many
        assert_equal "$path $(statuses)" "$path 1 200"
    done
    assert_all_open
}

# bats test_tags=direct
@test "simultaneous rotations wait for each other" {
    local number
    for number in 1 2 3 4; do
        switchboard key rotate >"$BATS_TEST_TMPDIR/out$number" 2>&1 3>&- &
    done
    wait
    ! grep -q 'switchboard:' "$BATS_TEST_TMPDIR"/out* || fail "$(cat "$BATS_TEST_TMPDIR"/out*)"
    assert_equal "$(key_file | wc -l)" 1
    assert_all_open
}
