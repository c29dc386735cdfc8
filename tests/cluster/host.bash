# shellcheck shell=bash
# A web host of a cluster: a directory $dir/hostN with what a machine of its own would have: the
# programs, configuration, key file, spool, log, Apache with its pools, a courier and a sender.

hosts=(1 2 3)
declare -A clock_of=() # how far the clock of a host is ahead, in milliseconds
declare -A url_of=()   # the database of a host that does not use $database_url
declare -A is_cgi=()   # a host without pools

host_dir() {
    printf '%s/host%s' "$dir" "$1"
}

base_of() {
    printf 'http://127.0.0.1:%s' "$(host_port "$1")"
}

host_port() {
    local name=apache_port_$1
    printf '%s' "${!name}"
}

write_host_config() { # HOST
    local here
    here=$(host_dir "$1")
    (
        umask 077
        cat >"$here/switchboard.conf.new" <<END
database = ${url_of[$1]-$database_url}
secret_key_file = $here/secret.key
graph_base_url = $sandbox_url
app_secret = $app_secret
verify_token = $verify_token
environment = cluster
webhook_egress = private
log_file = $here/log/switchboard.log
spool_dir = $here/spool
pending_dir = $here/pending
public_url = ${public_url-$(base_of "$1")}
metrics_file = $here/metrics
requests_file = $here/requests
host = host$1
run_dir = $here/run
END
    )
    mv "$here/switchboard.conf.new" "$here/switchboard.conf"
}

# Makes a build the programs of a host: install_programs HOST BUILD
# They are in a new directory, to which the link `home` is set at once.
install_programs() {
    local here new
    here=$(host_dir "$1")
    new=$(mktemp -d "$here/programs.XXXXXX")
    chmod 755 "$new"
    mkdir "$new/tools"
    cp -R "$2/cgi-bin" "$new/"
    cp -RL "$2/htdocs" "$new/"
    cp "$2"/tools/{pool,courier,sender,switchboard} "$new/tools/"
    [[ -z ${clock_of[$1]-} ]] || change_clock "$new/tools" "${clock_of[$1]}"
    ln -sfn "$(basename "$new")" "$here/home.new"
    mv -T "$here/home.new" "$here/home"
    # Programs that run keep their files, and pools start the new ones.
    find "$here" -maxdepth 1 -name 'programs.*' ! -path "$new" -exec rm -rf {} +
}

# Has the pools, the courier and the sender of TOOLS, and so all processes that they start, run with
# another clock; the plain CGI programs get it from Apache (extra.conf): change_clock TOOLS MS
change_clock() {
    local name library=$CLUSTER_BIN/ahead.so
    for name in pool courier sender; do
        mv "$1/$name" "$1/$name.program"
        cat >"$1/$name" <<END
#!/bin/sh
LD_PRELOAD=$library AHEAD_MS=$2 exec "\${0%/*}/$name.program" "\$@"
END
        chmod 755 "$1/$name"
    done
    printf 'SetEnv LD_PRELOAD %s\nSetEnv AHEAD_MS %s\n' "$library" "$2" >"$1/../../extra.conf"
}

# Makes the directory of a host: make_host HOST BUILD
make_host() {
    local here
    here=$(host_dir "$1")
    mkdir -p "$here"/{log,spool,pending,run,apache}
    claim_port "apache_port_$1"
    write_host_config "$1"
    install_programs "$1" "$2"
}

# Copies the key file of the first host, where `switchboard init` made it, as an operator would.
copy_key() { # HOST
    (umask 077; cp "$(host_dir "${hosts[0]}")/secret.key" "$(host_dir "$1")/secret.key")
}

start_web() { # HOST
    local here options=()
    here=$(host_dir "$1")
    [[ -n ${is_cgi[$1]-} ]] || options+=(--fcgi "${pool_size:-1}" --fcgi-max 8)
    [[ ! -e $here/extra.conf ]] || options+=(--extra "$here/extra.conf")
    setsid -w "$root/tools/private-apache" start --dir "$here/apache" --home "$here/home" \
        --config "$here/switchboard.conf" --port "$(host_port "$1")" "${options[@]}" 3>&- 9>&-
}

# Starts the courier or the sender of a host: start_resident NAME HOST
start_resident() {
    local here
    here=$(host_dir "$2")
    ! running "$here/$1.pid" "$here/switchboard.conf" || return 0
    choose_service_user "$here"
    background "host$2/$1" "${service[@]}" "$here/home/tools/$1" --config "$here/switchboard.conf"
}

start_courier_of() { # HOST
    start_resident courier "$1"
}

start_host() { # HOST
    start_web "$1"
    start_courier_of "$1"
    start_resident sender "$1"
}

# Runs a function for all hosts at the same time: on_all_hosts FUNCTION
on_all_hosts() {
    local host pid pids=()
    for host in "${hosts[@]}"; do
        "$1" "$host" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || die "$1 failed for a host"
    done
}

stop_web() { # HOST
    "$root/tools/private-apache" stop --dir "$(host_dir "$1")/apache"
}

stop_resident() { # NAME HOST
    end_process "$(host_dir "$2")/$1.pid" "$(host_dir "$2")/switchboard.conf"
}

stop_courier_of() { # HOST
    stop_resident courier "$1"
}

stop_host() { # HOST
    stop_courier_of "$1" || true
    stop_resident sender "$1" || true
    stop_web "$1" || true
}

# Kills the processes and all of their descendants: kill_trees PID...
# Each is stopped before its children are listed, so that it starts no other meanwhile.
kill_trees() {
    local children all=("$@") new
    for ((new = 0; new < ${#all[@]}; new++)); do
        kill -STOP "${all[new]}" 2>/dev/null || continue
        read -rd '' -a children < <(cat "/proc/${all[new]}/task"/*/children 2>/dev/null) || true
        all+=("${children[@]}")
    done
    kill -KILL "${all[@]}" 2>/dev/null || true
}

# Prints the processes whose directory is DIRECTORY, as that of each PostgreSQL process is its data.
processes_in() { # DIRECTORY
    find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$1" -printf '%h\n' 2>/dev/null |
        sed 's|^/proc/||'
}

# Kills a PostgreSQL server, until it has no process: one that is left keeps its shared memory, and
# the server would not start again: kill_server_of DIRECTORY PID...
kill_server_of() {
    kill_trees "${@:2}"
    wait_until 30 kill_rest "$1" || die "processes of $1 cannot be killed: $(processes_in "$1")"
}

kill_rest() { # DIRECTORY
    local left
    read -rd '' -a left < <(processes_in "$1") || true
    ((${#left[@]} == 0)) || { kill -KILL "${left[@]}" 2>/dev/null || true; return 1; }
}

# Ends all processes of a host at once, as a failure of its power supply would.
kill_host() { # HOST
    local here
    here=$(host_dir "$1")
    # shellcheck disable=SC2046  # one process id per file
    kill_trees $(cat "$here"/{courier,sender}.pid "$here"/apache/*.pid)
}

is_ready() { # HOST
    curl -sf -o /dev/null --max-time 5 "$(base_of "$1")/v2/ready"
}
