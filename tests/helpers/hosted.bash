# shellcheck shell=bash
# The archive of `make hosting`, installed at a web host: `load helpers/hosted` after
# helpers/hoster. ARCHIVE names it.

setup_file() {
    export STACK=$BATS_FILE_TMPDIR/stack
    mkdir -p "$STACK"
    chmod 755 "$STACK"
    start_sandbox
    : "${ARCHIVE:?make hosting-test sets it}"
}

setup() {
    forget_sent
    rm -rf "${STACK:?}/home" "$STACK/hoster"
    mkdir -p "$STACK/bin"
    # a crontab of this test, not of the machine
    # shellcheck disable=SC2016  # the variable is the script's
    printf '#!/bin/sh\n[ "$1" = - ] && exec cat >"%s"\ncat "%s" 2>/dev/null || exec cat "%s"\n' \
        "$STACK/crontab.new" "$STACK/crontab.new" "$STACK/crontab" >"$STACK/bin/crontab"
    rm -f "$STACK/crontab.new"
    chmod 755 "$STACK/bin/crontab"
    printf '0 3 * * * other\n' >"$STACK/crontab"
    export CUSTOMER_PATH=$STACK/bin:/usr/bin:/bin HOSTER_SHELL=dash
}

teardown() {
    stop_receivers
    stop_hoster
    [[ $STACK != /var/www/* ]] || rm -rf "$STACK"
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
    export DB=$home/data/switchboard.db
}

# The dashboard's files are served, with types and a policy.
assert_dashboard() {
    request GET /dashboard/
    assert_status 200
    cmp "$body" "$root/htdocs/dashboard/index.html"
    assert_header Content-Type 'text/html; charset=utf-8'
    [[ $(header Content-Security-Policy) == *"trusted-types 'none'" ]]
    assert_header X-Content-Type-Options nosniff
    request GET /dashboard/js/main.js
    assert_header Content-Type 'text/javascript; charset=utf-8'
    assert_header Cache-Control no-cache
    request GET /dashboard/none
    assert_error 404 NOT_FOUND
}

# Every link of `GET /` and of the dashboard leads to a file of the reference.
assert_reference() {
    local path
    assert_reference_file /v2/openapi.json 'application/json; charset=utf-8' openapi.json
    assert_reference_file /v2/docs/ 'text/html; charset=utf-8' docs/index.html
    assert_reference_file /v2/docs/style.css 'text/css; charset=utf-8' docs/style.css
    assert_reference_file /v2/docs/postman.json 'application/json; charset=utf-8' docs/postman.json
    assert_reference_file /v2/docs/event_types.json 'application/json; charset=utf-8' \
        docs/event_types.json
    assert_reference_file /v2/docs/llms.txt 'text/plain; charset=utf-8' docs/llms.txt
    request GET /v2/docs
    assert_status 301
    assert_header Location docs/
    for path in /v2/docs/none /v2/openapi.json/x /reference/; do
        request GET "$path"
        assert_error 404 NOT_FOUND
    done
    for path in /v2/openapi.json /v2/docs/ /dashboard/; do
        request POST "$path" -d '{}'
        assert_error 405 NOT_FOUND
    done
}

# The account's own program: administer COMMAND...
administer() {
    as_customer "$home/bin/switchboard" --config "$home/conf/switchboard.conf" "$@"
}

# Paths below those of another program reach their own: of the user, of another user, of no user.
assert_rewritten() {
    local other thread contact wamid event method path noun options
    other=$(administer user add other@example.org)
    administer plan set other@example.org Premium >/dev/null
    administer account add other@example.org --waba-id 102290129340400 --name other \
        <<<sandbox-token-2 >/dev/null
    api GET /v2/threads
    thread=$(jq -r '.data.items[0].id' "$body")
    contact=$(jq -r '.data.items[0].contact.id' "$body")
    wamid=$(jq -r '.data.items[0].lastMessage.wamid' "$body")
    api GET /v2/events
    event=$(jq -r '.data.items[0].id' "$body")
    while read -r method path noun; do
        options=()
        [[ $method == GET ]] || options=(-d '{}')
        request "$method" "$path" "${options[@]}"
        assert_error 401 UNAUTHORIZED
        request "$method" "$path" "${options[@]}" -H "X-API-Token: $other"
        assert_error 404 NOT_FOUND
        [[ $(jq -r .message "$body") =~ ^'There is no '(such )?"$noun" ]] ||
            fail_answer "expected the answer of the program of $path"
    done <<END
GET /v2/messages/$wamid message
PUT /v2/contacts/$contact/block contact
POST /v2/threads/$thread/read thread
POST /v2/events/$event/replay event
GET /v2/forms/7002/responses form
END
    request POST /v2/events/replay -d '{}'
    assert_error 401 UNAUTHORIZED
    api POST /v2/events/replay -d "{\"since\":\"$(date -u +%FT%TZ)\"}"
    assert_success
    api GET "/v2/messages/$wamid"
    assert_success
    api PUT "/v2/contacts/$contact/block" -d '{}'
    assert_success
    api POST "/v2/threads/$thread/read" -d '{}'
    assert_success
}

# Logs in and uses the session: assert_login BODY
assert_login() {
    local session
    request POST /v2/session -d "$1"
    assert_success
    session=$(header Set-Cookie)
    session=${session#__Host-switchboard=}
    session=${session%%;*}
    request GET /v2/session --session "$session"
    assert_success
    assert_equal "$(jq -r .data.user.email "$body")" demo@example.org
    request GET /v2/threads --session "$session"
    assert_success
    request DELETE /v2/session --session "$session"
    assert_success
    request GET /v2/sessions --session "$session"
    assert_error 401 UNAUTHORIZED
}

# A link and a password open the dashboard's session.
assert_sessions() {
    local link
    link=$(administer user login-link demo@example.org)
    [[ $link == "$HOSTER/dashboard/#/login/"* ]] || fail "$link"
    assert_login "{\"link\":\"${link##*/}\"}"
    administer user password demo@example.org <<<'correct horse battery' >/dev/null
    assert_login '{"email":"demo@example.org","password":"correct horse battery"}'
}

# The whole path of a message, each step through the hoster's Apache.
assert_works() {
    printf '\xff\xd8\xff\xe0\0\x10JFIF\0%500d' 0 >"$BATS_TEST_TMPDIR/photo"
    request GET /v2/me -H "X-API-Token: $TOKEN"
    assert_success
    api GET /v2/me
    assert_success
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
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
    assert_dashboard
    assert_reference
    assert_rewritten
    assert_sessions
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
    api POST /v2/webhooks/config \
        -d "{\"webhookUrl\":\"$A_URL\",\"webhookCode\":\"a code of a receiver\"}"
    assert_success
    take "$(payload "$(inbound "wamid.in$RANDOM" "$P1" "$B1")")"
    cron=$(sed -n 's/^ *\* \* \* \* \* //p' "${1-$STACK/crontab.new}")
    [[ $cron == *'/bin/courier --config '*' --for 60s'* ]] ||
        fail "no line for cron: $install_output"
    as_customer sh -c "${cron/60s/3s}" 3>&-
    has_received A 1
}

assert_private_files() {
    local file
    for file in conf/{switchboard.conf,secret.key} data/switchboard.db; do
        assert_equal "$(stat -c %a "$home/$file")" 600
    done
    assert_equal "$(stat -c %a "$home")" 700
}

# Makes the root directory $cage, a copy of Debian 11 without its caches. The account's directory
# and Apache's have the same paths inside and outside.
make_debian11() {
    cage=$STACK/debian11
    rm -rf "$cage"
    cp -a --reflink=auto "$DEBIAN11" "$cage"
    mkdir -p "$cage$STACK"/{home/public_html,hoster}
    chown -R 33:33 "$cage$STACK"
    ln -sfn "$cage$STACK/home" "$STACK/home"
    ln -sfn "$cage$STACK/hoster" "$STACK/hoster"
}

# Apache, the script, the programs and cron's line run there, as the user www-data. The mounts of
# /proc and of /tmp, where Apache's socket is, end with their processes.
# shellcheck disable=SC2016  # expanded by the inner shell
in_debian11() {
    service=(unshare --mount sh -c 'root=$1
        shift
        mount --rbind /proc "$root/proc" && mount --bind /tmp "$root/tmp" &&
            exec chroot --userspec=33:33 "$root" "$@"' sh "$cage")
    runner=("${service[@]}")
    chown 33:33 "$(claim_sockets "$STACK/hoster")"
}
