#!/usr/bin/env bats
# The layout of `make install`: the programs have access to configuration, keys and database by their group,
# and the user whose web server starts them has not. A directory takes the place of the root directory.
# transports: direct
# needs with SANITIZE: probes
# SQLite only: the access to the database is that to a file
load helpers/all
load helpers/background
load helpers/courier
load helpers/tls

# A sanitizer needs /proc, which that directory lacks: the probe build is that of the plain programs.
[[ $OUT == "$root" ]] || OUT=$root/build/probe
export OUT

# The service's user and group, the web server's user and group, and another user; no account has these
# numbers.
service_user=64990 service_group=64991 web_user=64992 other_user=64993

# Only root may set owners and change the root directory.
as_root() {
    if ((EUID == 0)); then
        "$@"
    else
        sudo -n "$@"
    fi
}

as_web_user() {
    as_root setpriv --reuid=$web_user --regid=$web_user --clear-groups "$@"
}

setup_file() {
    export STACK=$BATS_FILE_TMPDIR/stack JAIL
    mkdir -p "$STACK"
    JAIL=$(mktemp -d "$TMPDIR/jail-XXXXXX")
    chmod 755 "$JAIL"
    start_sandbox
    install_all
    copy_libraries
    as_root tee -a "$JAIL/etc/switchboard/switchboard.conf" >/dev/null <<END
app_secret = test-app-secret
verify_token = test-verify-token
graph_base_url = $SANDBOX
END
    switchboard init >/dev/null
    make_user
}

teardown_file() {
    kill "$(cat "$STACK/sandbox.pid")" 2>/dev/null || true
    as_root cp -r "$JAIL/var" "$STACK/var" # tests/leaks searches it for secrets
    as_root chown -R "$EUID" "$STACK/var"
    as_root rm -rf "$JAIL"
}

install_all() {
    as_root env DESTDIR="$JAIL" OUT="$OUT" OWNER=$service_user:$service_group WEB_GROUP=$web_user \
        "$root/tools/install" >/dev/null
}

# Copies the files that the programs load, to the same paths.
copy_libraries() {
    local file
    ldd "$JAIL"/usr/lib/switchboard/cgi-bin/{me,messages,media} "$JAIL/usr/bin/switchboard" 2>/dev/null |
        grep -o '/[^ :]*lib[^ :]*\.so[^ :]*' | grep -v "^$JAIL" | sort -u >"$STACK/libraries"
    while IFS= read -r file; do
        as_root cp -L --parents "$file" "$JAIL"
    done <"$STACK/libraries"
    as_root cp -L --parents /usr/share/misc/magic.mgc "$JAIL"
}

# Runs the CLI as root.
switchboard() {
    as_root chroot "$JAIL" /usr/bin/switchboard "$@"
}

# Starts a program as a web server does, and sets $status and $body:
# cgi PROGRAM METHOD PATH_INFO [VARIABLE...] <BODY
cgi() {
    local program=$1 method=$2 path_info=$3
    shift 3
    headers=$BATS_TEST_TMPDIR/headers body=$BATS_TEST_TMPDIR/body answer_dir=$BATS_TEST_TMPDIR
    start_program "$program" "$method" "$path_info" "$@" >"$answer_dir/answer" 2>"$BATS_TEST_TMPDIR/stderr" || true
    split_answer
}

start_program() { # PROGRAM METHOD PATH_INFO [VARIABLE...] <BODY
    as_root env -i GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1 REQUEST_METHOD="$2" \
        SCRIPT_NAME="/v2/${1%.*}" PATH_INFO="$3" HTTP_AUTHORIZATION="Bearer $TOKEN" "${@:4}" \
        /usr/sbin/chroot --userspec=$web_user:$web_user --groups= "$JAIL" "/usr/lib/switchboard/cgi-bin/$1"
}

send_text() { # [VARIABLE...]
    local text="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"x\"}"
    cgi messages POST /send/text CONTENT_TYPE=application/json CONTENT_LENGTH=${#text} "$@" < <(printf %s "$text")
}

mode() {
    as_root stat -c '%a %u:%g' "$JAIL$1"
}

@test "programs are setgid, and only the group has access to their files" {
    local program
    for program in "$root"/cgi-bin/*.c; do
        assert_equal "$(mode "/usr/lib/switchboard/cgi-bin/$(basename "$program" .c)")" "2755 0:$service_group"
    done
    assert_equal "$(mode /etc/switchboard)" "2750 0:$service_group"
    assert_equal "$(mode /etc/switchboard/switchboard.conf)" "640 0:$service_group"
    assert_equal "$(mode /etc/switchboard/secret.key)" "640 0:$service_group"
    assert_equal "$(mode /var/lib/switchboard)" "2770 $service_user:$service_group"
    assert_equal "$(mode /var/lib/switchboard/data/switchboard.db)" "660 0:$service_group"
}

# Another user could stop a program while it holds a lock of the database.
@test "only the web server's group may start the programs" {
    assert_equal "$(mode /usr/lib/switchboard/cgi-bin)" "750 0:$web_user"
    run as_root /usr/sbin/chroot --userspec=$web_user:$web_user --groups= "$JAIL" \
        /usr/lib/switchboard/cgi-bin/me
    assert_equal "$status" 0
    run as_root /usr/sbin/chroot --userspec=$other_user:$other_user --groups= "$JAIL" \
        /usr/lib/switchboard/cgi-bin/me
    [[ $status == 126 && $output == *'Permission denied'* ]] || fail "another user started it: $output"
}

# Starts a program and prints the first line of its answer:
# first_line PROGRAM METHOD PATH_INFO BODY [VARIABLE...]
first_line() {
    { start_program "$1" "$2" "$3" "${@:5}" < <(printf %s "$4") || true; } 2>&1 | head -n 1
}

# bats test_tags=long
@test "an upgrade fails no request: at every moment each program is complete and setgid" {
    local text="{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"x\"}" turn
    in_background me1 first_line me GET '' ''
    [[ -z ${TEST_FULL-} ]] || in_background me2 first_line me GET '' ''
    in_background send first_line messages POST /send/text "$text" \
        CONTENT_TYPE=application/json CONTENT_LENGTH=${#text}
    for turn in 1 2 3; do
        eventually each_ran_more_than $((turn * 5))
        install_all
    done
    eventually each_ran_more_than 20
    end_background 'Status: 200 OK'
    assert_equal "$(find "$JAIL" -name '.new-*')" ''
}

@test "programs use configuration, keys and database, whichever user starts them" {
    cgi me GET '' </dev/null
    assert_success
    assert_text .data.user.email "$EMAIL"
    send_text
    assert_success
    assert_equal "$(sent_count path=/messages)" 1
    assert_equal "$(switchboard contact list --json | gojq -r '.[].phone')" 15551230001
}

@test "the user who starts a program can neither read nor write these files directly" {
    local file
    for file in etc/switchboard/{switchboard.conf,secret.key} var/lib/switchboard/data/switchboard.db; do
        as_root test -s "$JAIL/$file"
        run as_web_user cat "$JAIL/$file"
        [[ $status != 0 && $output == *'Permission denied' ]] || fail "$file can be read"
        run as_web_user touch "$JAIL/$file"
        [[ $status != 0 ]] || fail "$file can be written"
    done
    for file in etc/switchboard var/lib/switchboard{,/data,/run,/spool} var/log/switchboard; do
        run as_web_user ls "$JAIL/$file"
        [[ $status != 0 && $output == *'Permission denied' ]] || fail "$file can be listed"
    done
}

@test "no environment variable of the caller selects the files of a program" {
    local own=$JAIL/own variables name id
    mkdir "$own"
    printf 'database = /own/switchboard.db\nenvironment = stolen\nlog_file = /own/log\n' >"$own/switchboard.conf"
    chmod -R a+rwX "$own"
    variables=(SWITCHBOARD_CONFIG=/own/switchboard.conf SQLITE_TMPDIR=/own TMPDIR=/own HOME=/own
        MAGIC=/own/magic SSL_CERT_FILE=/own/pem SSL_CERT_DIR=/own LD_LIBRARY_PATH=/own LD_PRELOAD=/own/x.so
        OPENSSL_CONF=/own/conf SWITCHBOARD_CONFINE_KILLS=1)
    for name in http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY; do
        variables+=("$name=http://127.0.0.1:1")
    done
    cgi me GET '' "${variables[@]}" </dev/null
    assert_success
    cgi version GET '' "${variables[@]}" </dev/null
    assert_json .data.nodeEnv production
    send_text "${variables[@]}"
    assert_success
    cgi media POST /upload "${variables[@]}" HTTP_X_PHONE_NUMBER_ID="$LINE" CONTENT_LENGTH=15 \
        < <(printf '%%PDF-1.4\n%%\n1 0 ')
    assert_success
    id=$(gojq -r .data.mediaId "$body")
    assert_equal "$(sandbox GET media | gojq -r --arg id "$id" '.[] | select(.id == $id).mimeType')" application/pdf
    assert_equal "$(find "$own" -type f -printf '%f ')" 'switchboard.conf '
    # a copy of the program uses the caller's configuration, and is not setgid
    as_root cp --no-preserve=mode "$JAIL/usr/lib/switchboard/cgi-bin/version" "$JAIL/usr/lib/switchboard/cgi-bin/version.copy"
    as_root chmod 755 "$JAIL/usr/lib/switchboard/cgi-bin/version.copy"
    cgi version.copy GET '' "${variables[@]}" </dev/null
    assert_json .data.nodeEnv stolen
    as_root rm -r "$own" "$JAIL/usr/lib/switchboard/cgi-bin/version.copy"
}

# Environment variables by which a caller could make a library write with the group's rights.
# bats test_tags=long
@test "no environment variable of the caller makes a library write: not a new file, not the database" {
    local conf=$JAIL/etc/switchboard/switchboard.conf target
    local library_variables=(SQLITE_TMPDIR=/var/lib/switchboard/spool TMPDIR=/var/lib/switchboard/spool
        RES_OPTIONS=debug LOCALDOMAIN=example.org HOSTALIASES=/own CURL_HOME=/own CURL_SSL_BACKEND=none)
    start_tls "${SANDBOX##*:}" '{}' IP:127.0.0.1
    as_root cp "$conf" "$conf.before"
    as_root cp "$STACK/tls.pem" "$JAIL/etc/switchboard/tls.pem"
    as_root chmod 644 "$JAIL/etc/switchboard/tls.pem"
    as_root tee -a "$conf" >/dev/null <<END
graph_base_url = https://127.0.0.1:$TLS_PORT
ca_file = /etc/switchboard/tls.pem
END
    for target in /var/lib/switchboard/keys.log /var/lib/switchboard/spool/keys.log /var/lib/switchboard/data/switchboard.db; do
        forget_sent
        send_text SSLKEYLOGFILE="$target" "${library_variables[@]}"
        assert_success
        assert_equal "$(sent_count path=/messages)" 1
    done
    as_root mv "$conf.before" "$conf"
    stop_tls
    assert_equal "$(as_root find "$JAIL/var" "$JAIL/etc" -name 'keys.log')" ''
    run as_root grep -ac 'CLIENT_\(RANDOM\|HANDSHAKE_TRAFFIC_SECRET\|TRAFFIC_SECRET\)' "$JAIL/var/lib/switchboard/data/switchboard.db"
    assert_equal "$output" 0
    assert_equal "$(as_root sqlite3 "$JAIL/var/lib/switchboard/data/switchboard.db" 'PRAGMA integrity_check')" ok
}

@test "doctor checks access as the service's user: a database that only root can use is a failure" {
    local db=$JAIL/var/lib/switchboard/data/switchboard.db
    run switchboard doctor --json
    gojq -e 'map(select(.check == "access")) == [{"status":"ok","check":"access","detail":"the service'"'"'s user '$service_user' and group '$service_group' may use their files"}]' <<<"$output"
    gojq -e 'map(select(.check == "file types" and .status == "ok")) | length == 1' <<<"$output"
    as_root chown 0:0 "$db"
    as_root chmod 600 "$db"
    as_root mv "$JAIL/usr/share/misc/magic.mgc" "$JAIL/usr/share/misc/magic.away"
    run switchboard doctor
    assert_equal "$status" 1
    as_root mv "$JAIL/usr/share/misc/magic.away" "$JAIL/usr/share/misc/magic.mgc"
    as_root chown 0:$service_group "$db"
    as_root chmod 660 "$db"
    grep -q '^FAIL  *access .*cannot use /var/lib/switchboard/data/switchboard.db: Permission denied' <<<"$output"
    grep -q '^warn  *file types .*install libmagic-mgc' <<<"$output"
}

@test "log and write-ahead log are accessible to the service's user, whichever user created them" {
    as_root rm -f "$JAIL/var/log/switchboard/switchboard.log"
    send_text
    assert_success
    assert_equal "$(mode /var/log/switchboard/switchboard.log)" "660 $web_user:$service_group"
    as_root test -s "$JAIL/var/log/switchboard/switchboard.log"
    assert_equal "$(as_root setpriv --reuid=$service_user --regid=$service_group --clear-groups \
        sqlite3 "$JAIL/var/lib/switchboard/data/switchboard.db" 'SELECT count(*) > 0 FROM message')" 1
}
