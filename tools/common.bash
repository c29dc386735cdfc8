# shellcheck shell=bash
# Functions that the scripts in tools/ share. This file is sourced, not run.

# Prints one line on stderr and ends the script with status 1.
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Prints the URL of the archive from which apt gets the packages of Debian on this machine, or
# MIRROR if that is set, for debootstrap.
debian_mirror() {
    local url=${MIRROR-}
    # shellcheck disable=SC2016  # the form of apt, not a variable
    [[ -n $url ]] || url=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        'Label: Debian' | awk '!found && /^(https?|file):/ { print; found = 1 }')
    [[ -n $url ]] && printf '%s\n' "${url%/}"
}

# Prints the version of the product: product_version ROOT
product_version() {
    sed -n 's/^#define SWITCHBOARD_VERSION *"\(.*\)"$/\1/p' "$1/lib/base/product.h"
}

# Prints the version and the edition of the schema, by which programs accept a database
# (lib/engine/schema.h): schema_id_in ROOT
schema_id_in() {
    printf '%s-%s\n' "$(schema_version_in "$1")" \
        "$("$1/tools/schema/source" sqlite "$1/schema.sql" |
            sed -n 's/^const int schema_edition = 0x\(.*\);/\1/p')"
}

# Prints the date of that version: product_date ROOT
product_date() {
    sed -n 's/^#define SWITCHBOARD_DATE *"\(.*\)"$/\1/p' "$1/lib/base/product.h"
}

# Prints the schema version of the programs: schema_version_in ROOT
schema_version_in() {
    sed -n 's/^const int schema_version = \(.*\);/\1/p' "$1/lib/store/move/schema_steps.c"
}

# Prints `PATH PROGRAM` for each route of an apache.conf, without that of `/`: routed_in FILE
routed_in() {
    # shellcheck disable=SC2016  # the text of apache.conf, not of a variable
    sed -n 's|^ScriptAlias \(/[^ ]*[^ /]\) *"${SWITCHBOARD_HOME}/cgi-bin/\([a-z_]*\)".*|\1 \2|p' \
        "$1"
}

# Prints `PATTERN PROGRAM` for each ScriptAliasMatch of an apache.conf, the pattern without its `^/`
# and `$`: rewritten_in FILE
rewritten_in() {
    # shellcheck disable=SC2016  # the text of apache.conf, not of a variable
    local home='\$\{SWITCHBOARD_HOME}'
    sed -nE 's|^ScriptAliasMatch "\^/([^ ]*)\$" *"'"$home"'/cgi-bin/([a-z_]*).*|\1 \2|p' "$1"
}

# Prints the programs that an apache.conf runs as pools: pooled_in FILE
pooled_in() {
    # shellcheck disable=SC2016  # the text of apache.conf, not of a variable
    sed -n 's|^ *SetHandler "proxy:unix:${SWITCHBOARD_RUN}/\([a-z_]*\)\.sock.*|\1|p' "$1"
}

# Runs a command until it succeeds: every 20 ms, after half a second every 50 ms, after 3 s every
# 200 ms, because it takes CPU time. Fails after SECONDS: wait_until SECONDS COMMAND...
wait_until() {
    local deadline=$((SECONDS + $1)) turn
    shift
    for ((turn = 0; ; turn++)); do
        ! "$@" || return 0
        ((SECONDS < deadline)) || return 1
        pause "$((turn < 25 ? 20 : turn < 75 ? 50 : 200))"
    done
}

# Waits: pause MILLISECONDS (less than 1000). SILENT_PIPE may name a pipe that has no writer; to
# read it with a time limit starts no process, in contrast to sleep.
pause() {
    local seconds
    printf -v seconds '0.%03d' "$1"
    if [[ -p ${SILENT_PIPE-} && -w $SILENT_PIPE ]]; then
        read -r -t "$seconds" <>"$SILENT_PIPE" || true
    else
        sleep "$seconds"
    fi
}

# Prints a directory for unix sockets: DIR itself, or a private one below /tmp if the path of DIR is
# so long that those of sockets would exceed the 95 bytes that ProxySet of Apache takes. DIR/sockets
# holds the directory in use; release_sockets removes it. claim_sockets DIR
claim_sockets() {
    local dir=$1
    if [[ ! -d $(cat "$dir/sockets" 2>/dev/null) ]]; then
        if ((${#dir} <= 72)); then
            printf '%s\n' "$dir" >"$dir/sockets"
        else
            mktemp -d /tmp/switchboard-XXXXXXXX >"$dir/sockets"
        fi
    fi
    cat "$dir/sockets"
}

release_sockets() {
    local dir=$1 sockets
    sockets=$(cat "$dir/sockets" 2>/dev/null) || return 0
    [[ $sockets == "$dir" ]] || rm -rf "$sockets"
    rm -f "$dir/sockets"
}

# Succeeds if the process runs and has WORD among its arguments. Starts no process, because scripts
# call it for many processes: has_argument PID WORD
has_argument() {
    local argument arguments=()
    { mapfile -d '' -t arguments <"/proc/$1/cmdline"; } 2>/dev/null || return 1
    for argument in "${arguments[@]}"; do
        [[ $argument != "$2" ]] || return 0
    done
    return 1
}

# Succeeds if the process of a pid file runs and has WORD among its arguments; another process may
# have got the same pid. running PID_FILE WORD
running() {
    local pid=''
    { read -r pid <"$1" || true; } 2>/dev/null
    [[ $pid =~ ^[0-9]+$ ]] && has_argument "$pid" "$2"
}

gone() {
    ! running "$@"
}

# Ends the process of a pid file: SIGTERM, and SIGKILL after 15 s. end_process PID_FILE WORD
end_process() {
    local pid
    if running "$1" "$2"; then
        read -r pid <"$1" || true # no newline
        kill -TERM "$pid" 2>/dev/null || true
        if ! wait_until 15 gone "$1" "$2"; then
            kill -KILL "$pid" 2>/dev/null || true
            wait_until 5 gone "$1" "$2" || return 1
        fi
    fi
    rm -f "$1"
}

# Kills the processes with WORD among their arguments, which are left over if their parent, the
# process of the pid file, was killed. end_orphans WORD
end_orphans() {
    local word=$1 file pids=()
    while IFS= read -r file; do
        file=${file#/proc/}
        ! has_argument "${file%/*}" "$word" || pids+=("${file%/*}")
    done < <(grep -lsF -e "$word" /proc/[0-9]*/cmdline)
    ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null || true
}

# Apache does not serve requests as root. For root this sets service=() to the words that start a
# command as www-data: in a user namespace, in which the files stay root's; or, if namespaces are
# not permitted, as the real user www-data, who then gets the ownership of DIR. For other users the
# array is empty. choose_service_user DIR
choose_service_user() {
    find_service_user
    [[ ${service[0]-} != setpriv ]] || chown -R 33:33 "$1"
}

# The same, without changing the owner of a directory.
# shellcheck disable=SC2034  # read by the scripts that source this
find_service_user() {
    local id=33 # www-data
    service=()
    ((EUID == 0)) || return 0
    if unshare --user --map-user=$id --map-group=$id true 2>/dev/null; then
        service=(unshare --user "--map-user=$id" "--map-group=$id")
        return 0
    fi
    setpriv --reuid=$id --regid=$id --clear-groups true 2>/dev/null ||
        die "root may neither create a user namespace nor become www-data here;" \
            "run this as an ordinary user"
    service=(setpriv "--reuid=$id" "--regid=$id" --clear-groups)
}

# Prints the first directory on the path to DIR, including DIR, that the service's user may not
# enter; prints nothing if it may enter all. Call find_service_user first. barred_directory DIR
barred_directory() {
    local path='' part parts
    IFS=/ read -ra parts <<<"${1#/}"
    for part in "${parts[@]}"; do
        path+=/$part
        "${service[@]}" test -x "$path" || { printf '%s\n' "$path"; return; }
    done
}
