#!/bin/sh
# Installs Switchboard into an account of a web host with Apache, without root:
#
#     tar xzf switchboard-*.tar.gz
#     cd switchboard-*-* && sh install.sh --url https://api.example.org
#
# Needs a POSIX shell with the usual small programs, and nothing else. It finds out by requests to
# --url what the web server allows, and asks no question. `sh install.sh --help` lists the options.
# server.sh has what it asks the web server, files.sh what it writes below the document root.
# shellcheck disable=SC2015,SC2034,SC2154  # `A && B || die`: die is for both; the files beside it
# shellcheck disable=SC1091  # have the other uses of variables
set -u
umask 077
here=$(cd "$(dirname "$0")" && pwd) || exit 1
started=$(date +%s)

usage() {
    cat <<'END'
usage: sh install.sh --url URL [OPTION...]
       sh install.sh --uninstall --url URL | --document-root DIR

  --url URL               where clients will reach the gateway; a host of its own, without a path
  --document-root DIR     the directory that the web server serves as URL; found out without it
  --shared                that directory has another site, which stays as it is: the gateway takes
                          only /v2, /platform, /dashboard, /reference, /graph and /v26.0 (each
                          version of the platform), if the site has none of these
  --uninstall             removes what was installed, and the line of cron; keeps configuration,
                          keys, database and log, and each file that was changed since
  --set 'KEY = VALUE'     a line of switchboard.conf, when it is created; may be repeated
  --email EMAIL           also makes the first user, its account and its line, with the next four.
  --waba-id ID            The platform access token is read from standard input, one line; the API
  --phone-number-id ID    token is printed once
  --number +E164
  --name NAME             default: the email address

A second run with a newer archive is an upgrade: configuration, keys and database are kept. No file
is changed or removed that this script did not write; .htaccess keeps its lines.
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
mark='# Written by install.sh of Switchboard.'

read_options() {
    url='' root='' lines='' email='' waba='' line='' number='' name='' shared='' uninstall=''
    status=none body=''
    while [ $# -gt 0 ]; do
        case $1 in
        --help) usage; exit 0 ;;
        --shared) shared=yes; shift; continue ;;
        --uninstall) uninstall=yes; shift; continue ;;
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
    '') [ -n "$uninstall" ] && [ -n "$root" ] || { usage >&2; exit 2; } ;;
    http://*/* | https://*/*) die "--url must be a host without a path, not $url: the routes" \
        "begin with /v2, so the gateway needs a host (or a subdomain) of its own" ;;
    http://?* | https://?*) ;;
    *) die "--url must begin with http:// or https://, not $url" ;;
    esac
    case ${email:+e}${waba:+w}${line:+l}${number:+n} in
    '') ;;
    ewln) read_token ;;
    *) die "--email, --waba-id, --phone-number-id and --number belong together" ;;
    esac
    [ "$(id -u)" != 0 ] || die "run this as the user of the account, not as root"
}

# Reads the platform access token before anything is changed.
read_token() {
    [ ! -t 0 ] || die "the platform access token is read from standard input: add <FILE"
    read -r platform_token || true
    [ -n "$platform_token" ] ||
        die "standard input has no platform access token, which the account needs to send: give" \
            "one line. Nothing was changed"
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
        wanted=$hash
        hash_of "$here/$file"
        [ "$hash" = "$wanted" ] ||
            die "$file was damaged on its way: upload the archive again, in binary mode"
    done <"$here/SHA256SUMS"
    "$here/programs/fetch" >/dev/null 2>&1
    [ $? = 2 ] || die "this machine does not run programs from $here: unpack the archive in a" \
        "directory that allows it"
}

# --- files ---

# Chooses the directory for configuration, keys, database and log: beside the document root, or in
# it where nothing else can be written, where that is the directory of another site, or where
# another program has that name. Programs may replace all files below its directories data, log, run
# and spool, and those that use keys may read all below conf. So each of these has a directory of
# its own.
choose_home() {
    find_home
    if [ -z "$home" ]; then
        home=$(dirname "$root")/switchboard
        ! serves_parent && is_free "$home" && mkdir -p "$home" 2>/dev/null && [ -w "$home" ] ||
            home=$root/.switchboard
        is_free "$home" || die "$home is there already and has other files: move it away"
    fi
    mkdir -p "$home" && chmod 700 "$home" || die "cannot create the directory $home"
    deny_home
    check_private
}

# Whether the directory that holds the document root looks like that of another site.
serves_parent() {
    parent=$(dirname "$root")
    case ${parent##*/} in
    public_html | httpdocs | htdocs) return 0 ;;
    esac
    [ -f "$parent/.htaccess" ] || [ -n "$(find "$parent/." ! -name . -prune -name 'index.*')" ]
}

# Whether the directory may be that of the gateway: it is not there, empty, or of a run that broke
# off.
is_free() {
    ! exists "$1" || { [ -d "$1" ] && { [ -z "$(ls -A "$1")" ] || grep -qsxF "$mark" \
        "$1/.htaccess"; }; }
}

# Also beside the document root, which may be a directory of another one.
deny_home() {
    (umask 022 && printf '%s\nRequire all denied\n' "$mark" >"$home/.htaccess") ||
        die "cannot write $home/.htaccess"
    case $home in
    "$root"/*) say "note: $home is in the served directory, and denied by .htaccess" ;;
    esac
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
    [ -n "$home" ] && [ -f "$home/version" ] || return 0
    served=$(sed -n 's/^document_root *= *//p' "$home/conf/switchboard.conf" | tail -n 1)
    [ -z "$served" ] || [ "$served" = "$root" ] ||
        die "$home belongs to the gateway in $served; two gateways need document roots in" \
            "different directories. Nothing was changed"
}

refuse_older() {
    [ -n "$home" ] && [ -f "$home/version" ] || return 0
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

# --- cron, the first user, the end ---

# Whether the crontab can be read; copies it to $home/crontab.before. A failure must not look like
# an empty crontab, which would then be written.
read_cron() {
    command -v crontab >/dev/null 2>&1 || return 1
    LC_ALL=C crontab -l >"$home/crontab.before" 2>"$home/crontab.reason" && return 0
    grep -qiE 'no crontab|no such file' "$home/crontab.reason" && : >"$home/crontab.before"
}

# A line of the courier, also if its times were edited.
courier_line="^[^#].*/bin/courier --config"

put_cron() {
    cron="* * * * * $home/bin/courier --config $home/conf/switchboard.conf --for 60s"
    cron="$cron 2>>$home/courier.log"
    if read_cron && { grep -e "$courier_line" "$home/crontab.before" |
        grep -qF "$home/bin/courier" ||
        { cat "$home/crontab.before"; say "$cron"; } | crontab - 2>/dev/null; }; then
        say "cron: the line of the courier is in your crontab"
    else
        say "cron: add this line in the host's panel; without it no event is delivered:"
        say "  $cron"
    fi
}

remove_cron() {
    if ! read_cron; then
        say "cron: remove the line of $home/bin/courier in the host's panel, if there is one"
    elif grep -qF "$home/bin/courier --config" "$home/crontab.before"; then
        grep -vF "$home/bin/courier --config" "$home/crontab.before" | crontab - ||
            die "the crontab cannot be written: remove the line of $home/bin/courier"
        say "cron: the line of the courier was removed"
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
    account=$(printf '%s\n' "$platform_token" |
        switchboard account add "$email" --waba-id "$waba" --name "${name:-$email}") ||
        die "the account was not made"
    switchboard line add "$account" --phone-number-id "$line" --number "$number" >/dev/null ||
        die "the line was not made"
    say "API token of $email, shown once: $api_token"
}

finish() {
    say "installed version $(manifest version) in $home after $(($(date +%s) - started)) s"
    "$home/bin/courier" --config "$home/conf/switchboard.conf" --once 2>>"$home/courier.log" ||
        say "warning: the courier failed: $(tail -n 1 "$home/courier.log")"
    kept=$(sed -n 's/^public_url *= *//p' "$home/conf/switchboard.conf" | tail -n 1)
    [ "$kept" = "$url" ] || say "warning: public_url in $home/conf/switchboard.conf is kept:" \
        "${kept:-none}. Set it to $url if clients are to use that"
    switchboard doctor --url "$url" >"$home/doctor.log" 2>&1
    result=$?
    grep -E '^(warn|FAIL)' "$home/doctor.log"
    [ $result = 0 ] || die "something is wrong; correct the lines that begin with FAIL, then run" \
        "$home/bin/switchboard doctor"
    say "The platform's webhook: URL $url/platform/webhook, verify token and app_secret in"
    say "$home/conf/switchboard.conf. Test: curl -H 'X-API-Token: TOKEN' $url/v2/me"
    say "Dashboard: the link that $home/bin/switchboard user login-link ${email:-EMAIL} prints"
}

# --- uninstall ---

# Finds the installation by its configuration, without a request: the host may be gone.
find_installed() {
    if [ -n "$root" ]; then
        root=$(cd "$root" && pwd) || die "there is no directory $root"
        find_home
    else
        while read -r root; do
            find_home
            [ -z "$home" ] || ! grep -qxF "public_url = $url" "$home/conf/switchboard.conf" ||
                ! grep -qxF "document_root = $root" "$home/conf/switchboard.conf" || break
        done <<END
$(list_roots)
END
        [ -n "$root" ] ||
            die "no installation for $url was found: give its directory with --document-root DIR"
    fi
    [ -n "$home" ] || die "the gateway is not installed in $root"
    refuse_other
    read_routes
    adopt
    is_installed || die "the gateway is not installed in $root; $home has its data"
}

uninstall() {
    find_installed
    remove_cron
    remove_all
    say "uninstalled from $root. Configuration, keys, database and log are kept: to remove them,"
    say "rm -r $home"
}

trap clean_up EXIT
trap 'exit 130' INT TERM HUP
for file in server.sh files.sh; do
    [ -f "$here/$file" ] ||
        die "the archive is incomplete, $file is missing: upload and unpack it again"
done
. "$here/server.sh"
. "$here/files.sh"
read_options "$@"
if [ -n "$uninstall" ]; then
    uninstall
    exit 0
fi
check_archive
certificates=$(find_certificates)
CA_FILE=${CA_FILE-${certificates#ca_file = }} # for programs/fetch
export CA_FILE
find_document_root
refuse_answered
look_at_server
clean_up
choose_home
write_configuration
init
[ -z "$shared" ] || : >"$home/shared"
put_files
put_cron
make_user
remove_former
finish
