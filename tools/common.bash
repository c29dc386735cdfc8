# shellcheck shell=bash
# What the scripts in tools/ share. Sourced, never run.

# The script's last word: one line on stderr, exit 1.
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Waits until a command succeeds: wait_until SECONDS COMMAND...
wait_until() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}

# A directory that can hold unix sockets, printed: DIR itself, or a private one below /tmp when
# DIR is so deep that its sockets' names would pass the 107 bytes of sun_path. DIR/sockets names
# the one in use; release_sockets removes it.
claim_sockets() {
    local dir=$1
    if [[ ! -d $(cat "$dir/sockets" 2>/dev/null) ]]; then
        if ((${#dir} <= 80)); then
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

# Is the process of a pid file alive, and is it still the one we started? WORD must be among its
# arguments, so that a recycled pid is left alone: running PID_FILE WORD
running() {
    local pid
    pid=$(cat "$1" 2>/dev/null) || return 1
    [[ $pid =~ ^[0-9]+$ ]] || return 1
    { tr '\0' '\n' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -qFx -e "$2"
}

gone() {
    ! running "$@"
}

# Ends the process of a pid file: SIGTERM, and SIGKILL after 15 s. end_process PID_FILE WORD
end_process() {
    local pid
    if running "$1" "$2"; then
        pid=$(cat "$1")
        kill -TERM "$pid" 2>/dev/null || true
        if ! wait_until 15 gone "$1" "$2"; then
            kill -KILL "$pid" 2>/dev/null || true
            wait_until 5 gone "$1" "$2" || return 1
        fi
    fi
    rm -f "$1"
}

# Ends what has WORD among its arguments though its parent, whose pid file we had, was killed.
end_orphans() {
    local word=$1 file pids=()
    while IFS= read -r file; do
        { tr '\0' '\n' <"$file"; } 2>/dev/null | grep -qFx -e "$word" && pids+=("$(basename "$(dirname "$file")")")
    done < <(grep -lsF -e "$word" /proc/[0-9]*/cmdline)
    ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null || true
}

# Apache serves no request as root. For root this sets service=() to the words that start a
# command as somebody else: in a user namespace, where the process believes it is www-data and its
# files stay root's; or, where namespaces are not permitted, as www-data for real, which then
# owns the directory. For everyone else the array is empty. choose_service_user DIR
choose_service_user() {
    find_service_user
    [[ ${service[0]-} != setpriv ]] || chown -R 33:33 "$1"
}

# The same, but for the directory.
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
        die "this root may neither make a user namespace nor become www-data; run it as an ordinary user"
    service=(setpriv "--reuid=$id" "--regid=$id" --clear-groups)
}

# The first directory on the way to DIR, itself included, that the service's user may not enter,
# printed; nothing where it may enter all. After find_service_user.
barred_directory() {
    local path='' part parts
    IFS=/ read -ra parts <<<"${1#/}"
    for part in "${parts[@]}"; do
        path+=/$part
        "${service[@]}" test -x "$path" || { printf '%s\n' "$path"; return; }
    done
}
