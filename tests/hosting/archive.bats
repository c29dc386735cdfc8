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
load helpers/hosted
load helpers/document

# Installs with a user; adds the time from the packed archive to the first answer to $TIMES, and
# sets `install_output`: install_timed HOST
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

# Runs a block of the page in the account, with what stands here in place of the page's values:
# follow_page PAGE START [DIRECTORY]
follow_page() {
    local script settings="--set 'graph_base_url = $SANDBOX' --set 'webhook_egress = private' \
--set 'app_secret = test-app-secret'"
    script=$(block "$1" "$2" | sed -e "s|https://api.example.org|$HOSTER|" \
        -e "s|--set 'app_secret = YOUR_APP_SECRET'|$settings|" \
        -e "s|PHONE_NUMBER_ID|106540352242922|; s|WABA_ID|102290129340398|; s|: TOKEN|: $TOKEN|")
    as_customer bash -ec "cd '${3-$STACK/home}'; $script"
}

@test "the commands of the page install, send a message, print a link and uninstall" {
    start_hoster event cgid
    cp "$ARCHIVE" "$STACK/home/"
    printf 'sandbox-token-1\n' >"$STACK/home/platform-token.txt"
    run follow_page doc/hosting.md 'tar xzf switchboard-*.tar.gz'
    rm "$STACK/home/platform-token.txt"
    [[ $status == 0 && $output != *FAIL* ]] || fail "$output"
    TOKEN=$(sed -n 's/^API token of .*: //p' <<<"$output")
    run follow_page doc/hosting.md 'curl https://api.example.org'
    [[ $status == 0 && $output == *'"success":true'* ]] || fail "$output"
    assert_sent_json '[.to, .text.body]' '["15551234567","hello"]' path=/messages
    run follow_page doc/hosting.md '~/switchboard/bin/switchboard user login-link'
    [[ $output == "$HOSTER/dashboard/#/login/"* ]] || fail "$output"
    run follow_page doc/hosting.md 'sh install.sh --uninstall' \
        "$(echo "$STACK"/home/switchboard-*/)"
    assert_equal "$status" 0
    assert_equal "$(ls -A "$STACK/home/public_html")" ''
    [[ -s $STACK/home/switchboard/data/switchboard.db ]]
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

@test "a directory that the group may write, wrong modes and no cron: each is named" {
    start_hoster event cgid
    printf '#!/bin/sh\nexit 1\n' >"$STACK/bin/crontab"
    install_all
    output_has "cron: add this line in the host's panel"
    [[ $output != *courier*'never run'* ]] || fail "$output"
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

# Succeeds if the number is about that of the page: is_about PAGE BYTES
is_about() {
    awk -v page="$1" -v bytes="$2" 'BEGIN { exit !(page > bytes / 1.1e6 && page < bytes / 0.9e6) }'
}

@test "the page in the archive says the size of the archive and of its programs" {
    local row packed programs
    upload_archive
    row=$(sed -n 's/^| size of the archive; of the programs, unpacked | //p' "$unpacked/hosting.md")
    [[ $row =~ ^([0-9]+)' MB; '([0-9]+)' MB |'$ ]] || fail "$row"
    packed=$(stat -c %s "$ARCHIVE")
    programs=$(cat "$unpacked"/programs/* | wc -c)
    is_about "${BASH_REMATCH[1]}" "$packed" || fail "$packed bytes"
    is_about "${BASH_REMATCH[2]}" "$programs" || fail "$programs bytes"
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

@test "on Debian 11, with its Apache and C library: me, send, upload, download, inbound, event out" {
    [[ -e $DEBIAN11/complete ]] || skip 'there is no root directory of Debian 11'
    make_debian11
    rm -f "$cage/usr/bin/crontab"
    export HOSTER_SETUP=in_debian11 CUSTOMER_PATH=/usr/bin:/bin HOSTER_SHELL=sh
    start_hoster event cgid
    assert_equal "$("${service[@]}" cut -d . -f 1 /etc/debian_version)" 11
    # the usual build does not start there
    cp "$OUT/cgi-bin/messages" "$cage/messages"
    run "${service[@]}" /messages --describe
    [[ $status != 0 && $output == *'error while loading shared libraries'* ||
        $output == *GLIBC_2.3* ]] || fail "$output"
    install_timed 'Debian 11'
    printf '%s\n' "$install_output" >"$BATS_TEST_TMPDIR/output"
    assert_private_files
    assert_works "$BATS_TEST_TMPDIR/output"
    [[ $install_output != *FAIL* ]] || fail "$install_output"
}
