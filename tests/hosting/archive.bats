#!/usr/bin/env bats
# The archive of `make hosting`, installed by its script at a web host. Run by `make hosting-test`,
# which sets ARCHIVE, DEBIAN11 (a root directory, complete if it has the file `complete`) and TIMES
# (a file for the times that it prints).
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
    rm -rf "${STACK:?}/home" "$STACK/hoster"
    mkdir -p "$STACK/bin"
    # a crontab of this test, not of the machine
    # shellcheck disable=SC2016  # the variable is the script's
    printf '#!/bin/sh\n[ "$1" != - ] && { cat "%s"; exit; }\ncat >"%s"\n' "$STACK/crontab" \
        "$STACK/crontab.new" >"$STACK/bin/crontab"
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

# The same; adds the time from the packed archive to the first answer to $TIMES, and sets
# `install_output`: install_timed HOST
install_timed() {
    local started=$EPOCHREALTIME answered
    install_all
    install_output=$output
    request GET /v2/me -H "X-API-Token: $TOKEN"
    answered=$EPOCHREALTIME
    assert_success
    printf '%s: %s s from the archive to the first answer\n' "$1" \
        "$(awk -v a="$started" -v b="$answered" 'BEGIN { printf "%.1f", b - a }')" >>"$TIMES"
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

# The reference has the headers that apache.conf gives it: assert_reference_file PATH TYPE FILE
assert_reference_file() {
    request GET "$1"
    assert_status 200
    assert_header Content-Type "$2"
    assert_header Cache-Control no-cache
    assert_header X-Content-Type-Options nosniff
    assert_header Content-Security-Policy \
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    assert_header ETag
    assert_header X-Request-Id
    cmp "$body" "$OUT/htdocs/$3"
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
    [[ $(header Location) == "$HOSTER/v2/docs/" ]] || fail_answer 'expected a slash at the end'
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

@test "one command installs on event MPM and mod_cgid: me, send, upload, download, inbound, event out" {
    start_hoster event cgid
    install_timed 'this machine'
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

# Prints what doctor found, from the account's own program: doctor_of_home [option...]
doctor_of_home() {
    as_customer "$home/bin/switchboard" doctor "$@" 2>&1 || true
}

@test "where .htaccess may hold no Options, the host's own ExecCGI is used, or the reason is given" {
    start_hoster event cgid 'AuthConfig FileInfo'
    upload_archive
    run install_archive
    assert_equal "$status" 1
    output_has 'The host must allow CGI there: Options ExecCGI, or AllowOverride with Options'
    assert_equal "$(ls -A "$STACK/home/public_html")" ''
    stop_hoster
    start_hoster event cgid 'AuthConfig FileInfo' 'Options +ExecCGI'
    install_all
    install_output=$output
    assert_works
}

@test "where the host does not follow links, .htaccess allows those of the owner, for mod_rewrite" {
    start_hoster event cgid All 'Options None'
    install_all
    install_output=$output
    grep -qx 'Options +SymLinksIfOwnerMatch' "$STACK/home/public_html/.htaccess"
    assert_works
}

@test "where .htaccess may hold no CGIPassAuth, a rewrite passes the header Authorization" {
    start_hoster event cgid 'FileInfo Options'
    install_all
    install_output=$output
    ! grep -rqs CGIPassAuth "$STACK/home/public_html" || fail 'CGIPassAuth is not allowed here'
    [[ $output != *'token headers'* ]] || fail "$output"
    assert_works
}

@test "without mod_rewrite, or with another host's directory, the script says what is missing" {
    start_hoster event cgid 'AuthConfig Options'
    upload_archive
    run install_archive
    assert_equal "$status" 1
    [[ $output == *'the host must load mod_rewrite and set AllowOverride FileInfo'* ]] ||
        fail "$output"
    mkdir "$STACK/home/elsewhere"
    run install_archive --document-root "$STACK/home/elsewhere"
    assert_equal "$status" 1
    [[ $output == *"does not serve $STACK/home/elsewhere"* ]] || fail "$output"
    run install_archive --url "$HOSTER/below"
    [[ $output == *'the gateway needs a host (or a subdomain) of its own'* ]] || fail "$output"
    [[ ! -e $STACK/home/switchboard ]]
}

@test "where only the served directory can be written, it holds keys and database, and denies them" {
    start_hoster event cgid
    : >"$STACK/home/switchboard" # beside the document root nothing can be made
    install_all --set 'environment = inside'
    install_output=$output
    home=$STACK/home/public_html/.switchboard
    export DB=$home/data/switchboard.db
    assert_private_files
    assert_works
    run doctor_of_home
    [[ $output == *'ok  private files'* ]] || fail "$output"
    # the trap: the file that denies it is lost
    rm "$home/.htaccess"
    run doctor_of_home
    output_has 'FAIL  private files' \
        "$HOSTER/.switchboard/data/switchboard.db serves $DB to the world"
}

@test "a directory that the group may write, wrong modes and no cron: doctor names each" {
    start_hoster event cgid
    install_all
    # shellcheck disable=SC2016  # doctor's text
    output_has 'warn  courier' 'let cron start `courier --for 60s` each minute'
    chmod 775 "$STACK/home/public_html/v2"
    chmod 644 "$home/conf/secret.key"
    chmod 644 "$STACK/home/public_html/v2/health"
    run doctor_of_home --url "$HOSTER"
    output_has 'warn  suEXEC' "$STACK/home/public_html/v2 has mode 0775" 'chmod go-w'
    [[ $output == *"FAIL  key file mode"*'open to all users'* ]] || fail "$output"
    [[ $output == *"FAIL  site"*"/v2/health answers "*[45]0[03]* ]] || fail "$output"
    run doctor_of_home --url http://127.0.0.1:1
    [[ $output == *"FAIL  site"*'http://127.0.0.1:1/v2/health: '* ]] || fail "$output"
}

@test "a second installation keeps data and configuration; a downgrade is refused with the reason" {
    local before
    start_hoster event cgid
    install_all
    install_output=$output
    printf 'environment = kept\n' >>"$home/conf/switchboard.conf"
    printf '# of the customer\n' >>"$STACK/home/public_html/.htaccess"
    before=$(sha256sum "$home/conf/secret.key" "$home/conf/switchboard.conf")
    printf '0.0.9 1\n' >"$home/version"
    run install_archive
    assert_equal "$status" 0
    assert_equal "$(sha256sum "$home/conf/secret.key" "$home/conf/switchboard.conf")" "$before"
    assert_equal "$(grep -c 'BEGIN switchboard' "$STACK/home/public_html/.htaccess")" 1
    grep -qx '# of the customer' "$STACK/home/public_html/.htaccess"
    assert_equal "$(grep -c courier "$STACK/crontab.new")" 1
    assert_works
    printf '9.0.0 99\n' >"$home/version"
    before=$(find "$STACK/home/public_html" -type f -exec ls -i {} + | sort)
    run install_archive
    assert_equal "$status" 1
    [[ $output == *'version 9.0.0 is installed'*'Nothing was changed'* ]] || fail "$output"
    printf '%s 99\n' "$(sed -n 's/^version //p' "$unpacked/MANIFEST")" >"$home/version"
    run install_archive
    [[ $output == *'has schema version 99, and this archive reads up to'* ]] || fail "$output"
    assert_equal "$(find "$STACK/home/public_html" -type f -exec ls -i {} + | sort)" "$before"
}

@test "a directory of an earlier version, with the database beside the keys, is refused and not changed" {
    local before place
    start_hoster event cgid
    upload_archive
    for place in switchboard public_html/.switchboard; do
        mkdir "$STACK/home/$place"
        printf 'x\n' >"$STACK/home/$place/switchboard.conf"
        before=$(find "$STACK/home/$place" -exec stat -c '%n %a %y' {} +)
        run install_archive
        assert_equal "$status" 1
        output_has "$STACK/home/$place was made by an earlier version"
        assert_equal "$(find "$STACK/home/$place" -exec stat -c '%n %a %y' {} +)" "$before"
        rm -r "${STACK:?}/home/$place"
        assert_equal "$(ls -A "$STACK/home/public_html")" ''
    done
}

@test "the archive has the bill of materials and the licences of its programs" {
    local program bill
    start_hoster event cgid
    upload_archive
    bill=$unpacked/switchboard.spdx.json
    for program in "$unpacked"/programs/*; do
        grep -q "\"$(sha256sum <"$program" | cut -d ' ' -f 1)\"" "$bill" ||
            fail "${program##*/} is not in the bill"
    done
    assert_equal "$(jq '.files | length' "$bill")" "$(ls "$unpacked/programs" | wc -l)"
    assert_equal "$(jq -r '[.relationships[].relationshipType] | unique | join(" ")' "$bill")" \
        'CONTAINS DESCRIBES STATIC_LINK'
    for program in curl libssl-dev libc-ares-dev libsqlite3-dev libc6-dev; do
        grep -qx "===== $program =====" "$unpacked/LICENSES" || fail "no licence of $program"
    done
}

@test "a wrong archive is refused: another architecture, incomplete, damaged" {
    start_hoster event cgid
    upload_archive
    sed -i 's/^architecture .*/architecture m68k/' "$unpacked/MANIFEST"
    run install_archive
    assert_equal "$status" 1
    output_has 'this archive is for m68k, and this machine is '
    upload_archive
    rm "$unpacked/programs/media"
    run install_archive
    assert_equal "$status" 1
    output_has 'the archive is incomplete, programs/media is missing'
    upload_archive
    printf x >>"$unpacked/programs/media"
    run install_archive
    [[ $status == 1 && $output == *'programs/media was damaged on its way'* ]] || fail "$output"
    assert_equal "$(ls -A "$STACK/home/public_html")" ''
}

# --- suEXEC: a real Apache of root, whose programs run as the user of the document root ---

# Sets the stack for a customer with the user id 65534 of an Apache that runs as www-data: below
# /var/www, the only directory that Debian's suexec serves.
begin_customer() {
    ((EUID == 0)) || skip 'only root starts an Apache with several users'
    export STACK=/var/www/switchboard-test-$$
    mkdir -p "$STACK/home/public_html" "$STACK/bin"
    chown -R 65534:65534 "$STACK/home"
    chmod 755 "$STACK"
    export HOSTER_SETUP=as_other CUSTOMER_PATH=/usr/bin:/bin
    HOSTER_LINES=$'User www-data\nGroup www-data'
}

as_other() {
    runner=(env)
    service=(setpriv --reuid=65534 --regid=65534 --clear-groups)
}

# Unpacks the archive where the user of the account may read it.
install_as_other() {
    upload_archive
    chown -R 65534:65534 "$STACK/home"
    run install_archive "${sandbox_options[@]/SANDBOX/$SANDBOX}" "$@" <<<sandbox-token-1
}

@test "where programs run as the server's common user the script refuses, because of the keys" {
    begin_customer
    start_hoster event cgid
    install_as_other
    assert_equal "$status" 1
    [[ $output == *'runs programs as user 33, not as you (user 65534)'*'could read the keys'* ]] ||
        fail "$output"
    assert_equal "$(ls -A "$STACK/home/public_html")" ''
    [[ ! -e $STACK/home/switchboard ]]
}

@test "under suEXEC: everything works; a directory that the group may write is named" {
    begin_customer
    mkdir -p /var/log/apache2 # suexec logs there, or starts nothing
    [[ -u /usr/lib/apache2/suexec-pristine ]] || skip 'suexec is not setuid here'
    HOSTER_LINES+=$'\nSuexecUserGroup #65534 #65534' HOSTER_MODULES=suexec
    start_hoster prefork cgi
    install_as_other
    [[ $status == 0 ]] || fail "$output; $(tail -n 3 "$STACK/hoster/error.log")"
    printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/output"
    install_output=$output home=$STACK/home/switchboard
    TOKEN=$(sed -n 's/^API token of .*: //p' <<<"$output") LINE=106540352242922
    export DB=$home/data/switchboard.db
    assert_private_files
    assert_works "$BATS_TEST_TMPDIR/output"
    chmod 775 "$STACK/home/public_html/v2"
    run doctor_of_home
    output_has 'FAIL  site' '/v2/health answers 500' 'suEXEC refuses programs and directories'
    [[ $output == *"warn  suEXEC"*'chmod go-w'* ]] || fail "$output"
}

# --- an empty root directory ---

# Makes the root directory $cage, with busybox and two devices. The account's directory has the same
# path inside and outside, so that Apache outside serves it.
make_cage() {
    cage=$STACK/cage
    rm -rf "$cage"
    mkdir -p "$cage"/{bin,dev,tmp} "$cage$STACK/home"
    cp "$(command -v busybox)" "$cage/bin/"
    chroot "$cage" /bin/busybox --install -s /bin
    rm "$cage/bin/crontab"
    cp -a /dev/null /dev/urandom "$cage/dev/"
    ln -sfn "$cage$STACK/home" "$STACK/home"
}

in_cage() {
    if [[ ${service[0]} == unshare ]]; then
        service+=("--root=$cage" --wd=/)
    else
        service=(chroot --userspec=33:33 "$cage")
    fi
}

# Runs a program of the account in the empty root directory, as a CGI: cage_cgi PROGRAM METHOD
# PATH-INFO [TEXT]. Its answer goes to $BATS_TEST_TMPDIR/answer.
cage_cgi() {
    local text=${4-}
    printf '%s' "$text" | "${service[@]}" env -i GATEWAY_INTERFACE=CGI/1.1 "REQUEST_METHOD=$2" \
        "SCRIPT_NAME=/v2/$1" "PATH_INFO=$3" CONTENT_TYPE=application/json \
        "CONTENT_LENGTH=${#text}" "HTTP_X_API_TOKEN=$TOKEN" \
        "SWITCHBOARD_CONFIG=$home/conf/switchboard.conf" "$STACK/home/public_html/v2/$1" \
        >"$BATS_TEST_TMPDIR/answer"
}

@test "in an empty root directory, with a shell alone: the script and the programs need nothing else" {
    ((EUID == 0)) || skip 'only root changes the root directory'
    make_cage
    export HOSTER_SETUP=in_cage CUSTOMER_PATH=/bin HOSTER_SHELL=sh
    start_hoster event cgid
    install_all
    install_output=$output
    printf '%s\n' "$install_output" >"$BATS_TEST_TMPDIR/output"
    cage_cgi me GET ''
    grep -q '^Status: 200' "$BATS_TEST_TMPDIR/answer" || fail "$(cat "$BATS_TEST_TMPDIR/answer")"
    cage_cgi messages POST /send/text \
        "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"from the cage\"}"
    grep -q '^Status: 200' "$BATS_TEST_TMPDIR/answer" || fail "$(cat "$BATS_TEST_TMPDIR/answer")"
    assert_sent_json .text.body '"from the cage"'
    assert_works "$BATS_TEST_TMPDIR/output" # programs outside of it, the courier in it
}

# --- another Debian ---

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

# Apache, the script, the programs and cron's line run there, as the user www-data. The mount of
# /proc ends with their processes.
# shellcheck disable=SC2016  # expanded by the inner shell
in_debian11() {
    service=(unshare --mount sh -c 'root=$1
        shift
        mount --rbind /proc "$root/proc" && mount --rbind /dev "$root/dev" &&
            exec chroot --userspec=33:33 "$root" "$@"' sh "$cage")
    runner=("${service[@]}")
}

@test "on Debian 11, with its Apache and C library: me, send, upload, download, inbound, event out" {
    [[ -e $DEBIAN11/complete ]] || skip 'there is no root directory of Debian 11'
    make_debian11
    rm -f "$cage/usr/bin/crontab"
    export HOSTER_SETUP=in_debian11 CUSTOMER_PATH=/usr/bin:/bin HOSTER_SHELL=sh
    start_hoster event cgid
    assert_equal "$("${service[@]}" cut -d . -f 1 /etc/debian_version)" 11
    # the usual build does not start there
    cp "$OUT/cgi-bin/messages" "$cage/tmp/messages"
    run "${service[@]}" /tmp/messages --describe
    [[ $status != 0 && $output == *'error while loading shared libraries'* ||
        $output == *GLIBC_2.3* ]] || fail "$output"
    install_timed 'Debian 11'
    printf '%s\n' "$install_output" >"$BATS_TEST_TMPDIR/output"
    assert_private_files
    assert_works "$BATS_TEST_TMPDIR/output"
    [[ $install_output != *FAIL* ]] || fail "$install_output"
}
