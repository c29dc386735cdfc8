#!/bin/sh
# Installs Switchboard into an account of a web host with Apache, without root:
#
#     tar xzf switchboard-*.tar.gz
#     cd switchboard-*-* && sh install.sh --url https://api.example.org
#
# Needs a POSIX shell with the usual small programs, and nothing else. It finds out by requests to
# --url what the web server allows, and asks no question. `sh install.sh --help` lists the options.
# shellcheck disable=SC2015  # `A && B || die`: die is for both
set -u
umask 077
here=$(cd "$(dirname "$0")" && pwd) || exit 1
started=$(date +%s)

usage() {
    cat <<'END'
usage: sh install.sh --url URL [OPTION...]

  --url URL               where clients will reach the gateway; a host of its own, without a path
  --document-root DIR     the directory that the web server serves as URL; found out without it
  --set 'KEY = VALUE'     a line of switchboard.conf, when it is created; may be repeated
  --email EMAIL           also makes the first user, its account and its line, with the next four.
  --waba-id ID            The platform access token is read from standard input, one line; the API
  --phone-number-id ID    token is printed once
  --number +E164
  --name NAME             default: the email address

A second run with a newer archive is an upgrade: configuration, keys and database are kept.
END
}

die() {
    printf 'install: %s\n' "$*" >&2
    exit 1
}

say() {
    printf '%s\n' "$*"
}

newline='
'

read_options() {
    url='' root='' lines='' email='' waba='' line='' number='' name='' status=none body=''
    while [ $# -gt 0 ]; do
        case $1 in
        --help) usage; exit 0 ;;
        --url | --document-root | --set | --email | --waba-id | --phone-number-id | --number | \
            --name)
            [ $# -ge 2 ] || die "$1 needs a value; see --help" ;;
        *) die "there is no option $1; see --help" ;;
        esac
        case $1 in
        --url) url=${2%/} ;;
        --document-root) root=$2 ;;
        --set) lines=$lines$2$newline ;;
        --email) email=$2 ;;
        --waba-id) waba=$2 ;;
        --phone-number-id) line=$2 ;;
        --number) number=$2 ;;
        --name) name=$2 ;;
        esac
        shift 2
    done
    case $url in
    '') usage >&2; exit 2 ;;
    http://*/* | https://*/*) die "--url must be a host without a path, not $url: the routes" \
        "begin with /v2, so the gateway needs a host (or a subdomain) of its own" ;;
    http://?* | https://?*) ;;
    *) die "--url must begin with http:// or https://, not $url" ;;
    esac
    case ${email:+e}${waba:+w}${line:+l}${number:+n} in
    '' | ewln) ;;
    *) die "--email, --waba-id, --phone-number-id and --number belong together" ;;
    esac
    [ "$(id -u)" != 0 ] || die "run this as the user of the account, not as root"
}

# Prints a value of the archive's manifest: manifest NAME
manifest() {
    sed -n "s/^$1 //p" "$here/MANIFEST"
}

# --- the archive ---

check_archive() {
    for file in MANIFEST SHA256SUMS; do
        [ -f "$here/$file" ] ||
            die "the archive is incomplete, $file is missing: upload and unpack it again"
    done
    machine=$(uname -m)
    [ "$(manifest architecture)" = "$machine" ] ||
        die "this archive is for $(manifest architecture), and this machine is $machine:" \
            "upload the archive for $machine"
    while read -r hash file; do
        [ -f "$here/$file" ] ||
            die "the archive is incomplete, $file is missing: upload and unpack it again"
        check_hash "$hash" "$here/$file" ||
            die "$file was damaged on its way: upload the archive again, in binary mode"
    done <"$here/SHA256SUMS"
    "$here/programs/fetch" >/dev/null 2>&1
    [ $? = 2 ] || die "this machine does not run programs from $here: unpack the archive in a" \
        "directory that allows it"
}

check_hash() { # HASH FILE
    if command -v sha256sum >/dev/null 2>&1; then
        found=$(sha256sum <"$2")
    elif command -v shasum >/dev/null 2>&1; then
        found=$(shasum -a 256 <"$2")
    elif command -v openssl >/dev/null 2>&1; then
        found=$(openssl dgst -sha256 -r <"$2")
    else
        die "this machine has none of sha256sum, shasum and openssl to check the archive"
    fi
    [ "${found%% *}" = "$1" ]
}

# --- what the web server does ---

# Sets `status` and `body` to the answer: fetch PATH [HEADER...]
fetch() {
    path=$1
    shift
    answer=$("$here/programs/fetch" "$url$path" "$@" 2>&1)
    status=${answer%%"$newline"*}
    body=${answer#*"$newline"}
}

clean_up() {
    [ -z "${probe-}" ] || rm -rf "$probe"
}

# Whether the web server serves the directory as the URL: is_served DIR
is_served() {
    [ -d "$1" ] && [ -w "$1" ] || return 1
    probe=$1/switchboard-probe-$$
    (umask 022 && mkdir "$probe" && printf '%s' "$nonce" >"$probe/served.txt") || return 1
    fetch "/switchboard-probe-$$/served.txt"
    [ "$status $body" = "200 $nonce" ] && return 0
    rm -rf "$probe"
    probe=''
    return 1
}

find_document_root() {
    nonce=$(od -An -N 8 -tx1 /dev/urandom | tr -d ' \n')
    if [ -n "$root" ]; then
        [ -d "$root" ] || die "there is no directory $root"
        [ -w "$root" ] || die "you may not write the directory $root"
        root=$(cd "$root" && pwd)
        is_served "$root" ||
            die "$url does not serve $root: a file that was put there was answered with $status." \
                "Give the directory that this host serves, and a URL that works from here"
        return
    fi
    host=${url#*://}
    host=${host%%:*}
    for root in "$HOME"/domains/"$host"/public_html "$HOME/$host" "$HOME"/public_html \
        "$HOME"/httpdocs "$HOME"/htdocs "$HOME"/www "$HOME"/html "$HOME"/web \
        "$(dirname "$here")" "$(dirname "$(dirname "$here")")"; do
        ! is_served "$root" || return 0
    done
    die "the directory that $url serves was not found: give it with --document-root DIR" \
        "(the last answer was $status $body)"
}

# Whether .htaccess may hold the directive: allows DIRECTIVE
allows() {
    (umask 022 && printf '%s\n' "$1" >"$probe/.htaccess")
    fetch "/switchboard-probe-$$/served.txt"
    rm -f "$probe/.htaccess"
    [ "$status" = 200 ]
}

# Fetches the probe CGI with these lines in .htaccess: try_cgi LINES
try_cgi() {
    (umask 022 && printf '%s\n' "$1" >"$probe/.htaccess")
    fetch "/switchboard-probe-$$/probe" 'Authorization: Bearer switchboard-probe' \
        'X-API-Token: switchboard-probe'
    rm -f "$probe/.htaccess"
    case $body in
    'user '*) [ "$status" = 200 ] ;;
    *) return 1 ;;
    esac
}

look_at_server() {
    links='' options='' pass=''
    if ! allows 'RewriteEngine On'; then
        links='Options +SymLinksIfOwnerMatch' # mod_rewrite needs this or FollowSymLinks
        allows "$links${newline}RewriteEngine On" ||
            die "the web server takes no RewriteRule in .htaccess ($status): the host must load" \
                "mod_rewrite and set AllowOverride FileInfo (better: All) and Options" \
                "FollowSymLinks for $root"
    fi
    ! allows 'Options +ExecCGI' || options='Options +ExecCGI'
    ! allows 'CGIPassAuth On' || pass='CGIPassAuth On'
    (umask 022 && cp "$here/programs/probe" "$probe/probe" && chmod 755 "$probe/probe") ||
        die "cannot write below $root"
    handler="SetHandler cgi-script$newline$options"
    try_cgi "$handler$newline$pass" || die "the web server does not run programs in $root:" \
        "it answered $status. The host must allow CGI there: Options ExecCGI, or AllowOverride" \
        "with Options; its error log names the reason"
    user=$(say "$body" | sed -n 's/^user //p')
    [ "$user" = "$(id -u)" ] ||
        die "the web server runs programs as user $user, not as you (user $(id -u)): programs of" \
            "other customers run as $user too and could read the keys. Ask the host for suEXEC"
    case $body in
    *'authorization yes'*) return ;;
    esac
    rewrite=RewriteEngine\ On$newline'RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]'
    if try_cgi "$handler$newline$rewrite"; then
        case $body in
        *'authorization yes'*) return ;; # htaccess.root has the rule
        esac
    fi
    say 'warning: the header Authorization does not reach programs here, neither by CGIPassAuth nor'
    say '         by a rewrite: clients must send the API token as X-API-Token'
}

# --- files ---

# Chooses the directory for configuration, keys, database and log: beside the document root, or in
# it where nothing else can be written. Programs may replace all files below its directories data,
# log, run and spool, and those that use keys may read all below conf. So each of these has a
# directory of its own.
choose_home() {
    home=$(dirname "$root")/switchboard
    ! [ -f "$root/.switchboard/conf/switchboard.conf" ] || home=$root/.switchboard
    [ -d "$home" ] || mkdir "$home" 2>/dev/null || home=$root/.switchboard
    mkdir -p "$home" && chmod 700 "$home" || die "cannot create the directory $home"
    case $home in "$root"/*) deny_home ;; esac
    check_private
}

deny_home() {
    (umask 022 && printf 'Require all denied\n' >"$home/.htaccess")
    say "note: only the served directory can be written; $home is denied by .htaccess"
}

# Proves over HTTP that no file of the directory is served.
check_private() {
    proof=proof-$$.txt
    (umask 022 && printf '%s' "$nonce" >"$home/$proof")
    for place in "/$proof" "/switchboard/$proof" "/.switchboard/$proof"; do
        fetch "$place"
        case $body in *"$nonce"*)
            rm -f "$home/$proof"
            die "$url$place serves files of $home, where the keys would be: the host must allow" \
                "'Require all denied' in .htaccess (AllowOverride AuthConfig), or a directory" \
                "outside of $root must be writable"
            ;;
        esac
    done
    rm -f "$home/$proof"
}

# Succeeds if version $1 is older than version $2, each three numbers with dots.
is_older() {
    for field in 1 2 3; do
        left=$(say "$1" | cut -d . -f $field) right=$(say "$2" | cut -d . -f $field)
        [ "$left" -eq "$right" ] || { [ "$left" -lt "$right" ]; return; }
    done
    return 1
}

refuse_earlier_layout() {
    for place in "$(dirname "$root")/switchboard" "$root/.switchboard"; do
        [ ! -f "$place/switchboard.conf" ] ||
            die "$place was made by an earlier version, which had the database beside keys and" \
                "configuration. Remove the line of the courier from your crontab and remove" \
                "$place, then run this again. Nothing was changed"
    done
}

refuse_other() {
    [ -f "$home/version" ] || return 0
    served=$(sed -n 's/^document_root *= *//p' "$home/conf/switchboard.conf" | tail -n 1)
    [ -z "$served" ] || [ "$served" = "$root" ] ||
        die "$home belongs to the gateway in $served; two gateways need document roots in" \
            "different directories. Nothing was changed"
    read -r old old_schema <"$home/version"
    if is_older "$(manifest version)" "$old"; then
        die "version $old is installed in $home, and this archive is the older" \
            "$(manifest version): an older version does not read the database of a newer one." \
            "Nothing was changed"
    fi
    [ "$(manifest schema)" -ge "$old_schema" ] ||
        die "the database of $home has schema version $old_schema, and this archive reads up to" \
            "$(manifest schema). Nothing was changed"
}

find_certificates() {
    for file in /etc/ssl/certs/*.0; do
        [ ! -e "$file" ] || return 0
    done
    for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
        /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
        [ ! -r "$file" ] || { printf 'ca_file = %s\n' "$file"; return 0; }
    done
    say 'warning: this machine has no trusted certificates: set ca_file in switchboard.conf' >&2
}

write_configuration() {
    [ ! -f "$home/conf/switchboard.conf" ] || return 0
    mkdir -p "$home/conf" || die "cannot create $home/conf"
    token=$(od -An -N 24 -tx1 /dev/urandom | tr -d ' \n')
    cat >"$home/conf.new" <<END && mv "$home/conf.new" "$home/conf/switchboard.conf"
# Every key and its meaning: $home/bin/switchboard manual switchboard.conf
database = $home/data/switchboard.db
secret_key_file = $home/conf/secret.key
log_file = $home/log/switchboard.log
spool_dir = $home/spool
pending_dir = $home/pending
magic_file = $home/magic.mgc
public_url = $url
document_root = $root
verify_token = $token
$certificates
$lines
END
}

# Replaces a file by renaming, so that a running program keeps its own: put MODE FROM TO
put() {
    cp "$2" "$3.new$$" && chmod "$1" "$3.new$$" && mv -f "$3.new$$" "$3" ||
        die "cannot write $3"
}

init() {
    mkdir -p "$home/bin" "$home/data" "$home/log" "$home/run" "$home/spool" \
        "$home/pending" ||
        die "cannot create the directories below $home"
    put 600 "$here/magic.mgc" "$home/magic.mgc"
    "$here/programs/switchboard" init --config "$home/conf/switchboard.conf" \
        >"$home/init.log" 2>&1 ||
        die "the database was not created: $(tail -n 1 "$home/init.log")"
    : >>"$home/log/switchboard.log"
    chmod 600 "$home/conf/switchboard.conf" "$home/data/switchboard.db" "$home/conf/secret.key" \
        "$home/log/switchboard.log"
    for program in switchboard courier; do
        put 700 "$here/programs/$program" "$home/bin/$program"
    done
    printf '%s %s\n' "$(manifest version)" "$(manifest schema)" >"$home/version"
}

# Real files, because suEXEC starts no symbolic links, in directories that only the owner may write.
put_programs() {
    umask 022
    routes=$(manifest route)
    directories=$(say "$routes" | sed 's|/[^/]*$||' | sort -u)
    for directory in $directories; do
        mkdir -p "$root/$directory" && chmod 755 "$root/$directory" ||
            die "cannot create $root/$directory"
    done
    while read -r path program; do
        put 755 "$here/programs/$program" "$root/$path"
    done <<END
$routes
END
    for directory in $directories; do
        { say "$options"; say "$pass"; cat "$here/htaccess.programs"; } \
            >"$root/$directory/.htaccess.new" &&
            mv "$root/$directory/.htaccess.new" "$root/$directory/.htaccess" ||
            die "cannot write $root/$directory/.htaccess"
    done
    { [ ! -f "$root/.htaccess" ] || sed '/^# BEGIN switchboard/,/^# END switchboard/d' \
        "$root/.htaccess"; sed "s|@url@|$url|; s/^RewriteEngine/$links\\
RewriteEngine/" "$here/htaccess.root"; } >"$root/.htaccess.new" &&
        mv "$root/.htaccess.new" "$root/.htaccess" || die "cannot write $root/.htaccess"
    umask 077
}

# Removes the programs of an earlier version. Requests that Apache has looked up by the former
# .htaccess have started theirs after a moment.
remove_former() {
    former=''
    for directory in $directories; do
        for file in "$root/$directory"/*; do
            [ -f "$file" ] && [ -x "$file" ] || continue
            case $newline$routes$newline in
            *"$newline${file#"$root/"} "*) ;;
            *) former="$former $directory/${file##*/}" ;;
            esac
        done
    done
    [ -n "$former" ] || return 0
    sleep 2
    for file in $former; do
        rm -f "${root:?}/$file"
    done
    say "removed, because this version has them no more:$former"
}

# Static files, and none of an earlier version: put_static DIRECTORY
put_static() {
    umask 022
    mkdir -p "$root/$1" || die "cannot create $root/$1"
    (cd "$here/$1" && find . -type f) | while read -r file; do
        mkdir -p "$(dirname "$root/$1/$file")" || die "cannot write $root/$1"
        put 644 "$here/$1/$file" "$root/$1/$file"
    done || exit 1
    (cd "$root/$1" && find . -type f) | while read -r file; do
        [ -f "$here/$1/$file" ] || rm -f "$root/$1/$file"
    done
    umask 077
}

# --- cron, the first user, the end ---

put_cron() {
    cron="* * * * * $home/bin/courier --config $home/conf/switchboard.conf --for 60s"
    cron="$cron 2>>$home/courier.log"
    if command -v crontab >/dev/null 2>&1 &&
        { crontab -l 2>/dev/null | grep -vF "$home/bin/courier"; say "$cron"; } | crontab - \
            2>/dev/null; then
        say "cron: the line of the courier is in your crontab"
    else
        say "cron: add this line in the host's panel; without it no event is delivered:"
        say "  $cron"
    fi
}

# The programs find the configuration beside them by /proc, which is not everywhere.
switchboard() {
    "$home/bin/switchboard" --config "$home/conf/switchboard.conf" "$@"
}

make_user() {
    [ -n "$email" ] || return 0
    api_token=$(switchboard user add "$email") || die "the user was not made"
    switchboard plan set "$email" Premium >/dev/null || die "the plan was not set"
    account=$(switchboard account add "$email" --waba-id "$waba" --name "${name:-$email}") ||
        die "the account was not made"
    switchboard line add "$account" --phone-number-id "$line" --number "$number" >/dev/null ||
        die "the line was not made"
    say "API token of $email, shown once: $api_token"
}

finish() {
    say "installed version $(manifest version) in $home after $(($(date +%s) - started)) s"
    switchboard doctor >"$home/doctor.log" 2>&1
    result=$?
    grep -E '^(warn|FAIL)' "$home/doctor.log"
    [ $result = 0 ] || die "something is wrong; correct the lines that begin with FAIL, then run" \
        "$home/bin/switchboard doctor"
    say "The platform's webhook: URL $url/platform/webhook, verify token and app_secret in"
    say "$home/conf/switchboard.conf. Test: curl -H 'X-API-Token: TOKEN' $url/v2/me"
}

trap clean_up EXIT
trap 'exit 130' INT TERM HUP
read_options "$@"
check_archive
certificates=$(find_certificates)
CA_FILE=${CA_FILE-${certificates#ca_file = }} # for programs/fetch
export CA_FILE
find_document_root
refuse_earlier_layout
look_at_server
clean_up
choose_home
refuse_other
write_configuration
init
put_programs
put_static dashboard
put_static reference
put_cron
make_user
remove_former
finish
