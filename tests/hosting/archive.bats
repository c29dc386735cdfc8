#!/usr/bin/env bats
# The archive of `make hosting`, installed by its script at a web host. Run by `make hosting-test`,
# which sets ARCHIVE.
# transports: direct
BATS_TEST_DIRNAME=$(cd "$BATS_TEST_DIRNAME/.." && pwd) # where the helpers are
load helpers/all
load helpers/courier
load helpers/webhook
load helpers/hoster

setup_file() {
    export STACK=$BATS_FILE_TMPDIR/stack
    mkdir -p "$STACK"
    chmod 755 "$STACK"
    start_sandbox
    : "${ARCHIVE:?make hosting-test sets it}"
}

setup() {
    forget_sent
    rm -rf "$STACK/home" "$STACK/hoster"
    # a crontab of this test, not of the machine
    mkdir -p "$STACK/bin"
    printf '#!/bin/sh\n[ "$1" != - ] && { cat "%s"; exit; }\ncat >"%s"\n' "$STACK/crontab" \
        "$STACK/crontab.new" >"$STACK/bin/crontab"
    chmod 755 "$STACK/bin/crontab"
    printf '0 3 * * * other\n' >"$STACK/crontab"
    export CUSTOMER_PATH=$STACK/bin:/usr/bin:/bin HOSTER_SHELL=dash
}

teardown() {
    stop_receivers
    stop_hoster
}

# The options that make the sandbox the platform, and its first user.
sandbox_options=(--set 'graph_base_url = SANDBOX' --set 'app_secret = test-app-secret'
    --set 'webhook_egress = private' --email demo@example.org --waba-id 102290129340398
    --phone-number-id 106540352242922 --number +15550100001)

# Installs with a user, and sets TOKEN, LINE and `home`: install_all [option...]
install_all() {
    home=$STACK/home/switchboard
    upload_archive
    run install_archive "${sandbox_options[@]/SANDBOX/$SANDBOX}" "$@" <<<sandbox-token-1
    [[ $status == 0 ]] || fail "$output"
    TOKEN=$(sed -n 's/^API token of .*: //p' <<<"$output")
    LINE=106540352242922 ACCOUNT=''
    export DB=$home/switchboard.db
}

# The whole path of a message, each step through the hoster's Apache.
assert_works() {
    printf '\xff\xd8\xff\xe0\0\x10JFIF\0%500d' 0 >"$BATS_TEST_TMPDIR/photo"
    request GET /v2/me -H "X-API-Token: $TOKEN"
    assert_success
    api GET /v2/me
    assert_success
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    assert_success
    assert_sent_to "$LINE/messages"
    api POST /v2/media/upload -H 'Content-Type:' -H "X-Phone-Number-Id: $LINE" \
        -d "@$BATS_TEST_TMPDIR/photo"
    assert_success
    media=$(jq -r .data.mediaId "$body")
    api GET "/v2/media/$media/download?phoneNumberId=$LINE"
    assert_status 200
    cmp "$body" "$BATS_TEST_TMPDIR/photo"
    assert_header Content-Type image/jpeg
    assert_event_goes_out "$@"
    for path in / /nothing /v2/nothing /v2/; do
        request GET "$path?format=json"
        if [[ $path == / ]]; then
            assert_success
        else
            assert_error 404 NOT_FOUND
        fi
    done
}

# A message comes in, and its event goes out by cron's line.
assert_event_goes_out() {
    local WABA=102290129340398 cron
    start_receiver A
    api POST /v2/webhooks/config -d "{\"webhookUrl\":\"$A_URL\",\"webhookCode\":\"a code of a receiver\"}"
    assert_success
    take "$(payload "$(inbound "wamid.in$RANDOM" "$P1" "$B1")")"
    cron=$(sed -n 's/^ *\* \* \* \* \* //p' "${1-$STACK/crontab.new}")
    [[ $cron == *'courier --for 60s'* ]] || fail "no line for cron: $install_output"
    as_customer sh -c "${cron/60s/3s}" 3>&-
    has_received A 1
}

assert_private_files() {
    local file
    for file in switchboard.conf secret.key switchboard.db; do
        assert_equal "$(stat -c %a "$home/$file")" 600
    done
    assert_equal "$(stat -c %a "$home")" 700
}

@test "one command installs on event MPM and mod_cgid: me, send, upload, download, inbound, event out" {
    start_hoster event cgid
    install_all
    install_output=$output
    printf '# %s\n' "$(grep '^installed' <<<"$output")" >&3
    assert_equal "$(head -n 1 "$STACK/crontab.new")" '0 3 * * * other'
    assert_private_files
    assert_works
    [[ $install_output != *FAIL* ]] || fail "$install_output"
}

@test "prefork with mod_cgi, and busybox as the only tools: the same" {
    start_hoster prefork cgi
    mkdir "$BATS_TEST_TMPDIR/busybox"
    busybox --install -s "$BATS_TEST_TMPDIR/busybox"
    rm "$BATS_TEST_TMPDIR/busybox/crontab"
    export CUSTOMER_PATH=$BATS_TEST_TMPDIR/busybox HOSTER_SHELL='busybox sh'
    install_all
    install_output=$output
    CUSTOMER_PATH=/usr/bin:/bin
    assert_private_files
    printf '%s\n' "$install_output" >"$BATS_TEST_TMPDIR/output"
    assert_works "$BATS_TEST_TMPDIR/output"
}
