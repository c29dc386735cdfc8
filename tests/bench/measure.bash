# shellcheck shell=bash
# One measurement: load by wrk, and the CPU time and the memory of the server side under it. Each
# measurement is a line of JSON in $runs.
#
# CPU time is that of the whole server side except the platform: Apache, CGI processes, pools,
# controls, courier. It is read from a control group of the benchmark (version 2, or the version 2
# part beside version 1), since only a control group counts children that no process waits for, such
# as mod_cgid's. Where no control group can be created, it is the busy time of the whole machine
# minus that of the load generator and the sandbox, which is correct only when nothing else runs.
#
# Memory is the sum of the proportional set sizes (PSS) of the processes that run the measured
# program: CGI processes that are alive at the time of the sample, a pool with its supervisor, a
# control with its workers. Apache's own memory is the same for all and left out. Where the kernel
# does not show an ordinary user the PSS of processes that are not dumpable, it is their resident
# set size, which counts shared pages several times.

group_dir='' watcher=''

make_group() {
    local mount parent
    while read -r _ mount _; do
        for parent in "$mount" "$mount$(sed -n 's/^0:://p' /proc/self/cgroup)"; do
            group_dir=$parent/switchboard-bench-$$
            if mkdir "$group_dir" 2>/dev/null; then
                if (printf '%s\n' "$BASHPID" >"$group_dir/cgroup.procs") 2>/dev/null; then
                    return
                fi
                rmdir "$group_dir"
            fi
        done
    done < <(grep ' cgroup2 ' /proc/mounts)
    group_dir=''
}

# Executes a command in the control group, with its children. To be called in a subshell.
in_group() {
    [[ -z $group_dir ]] || printf '%s\n' "$BASHPID" >"$group_dir/cgroup.procs"
    exec "$@"
}

leave_group() {
    [[ -z $group_dir ]] || wait_until 5 rmdir "$group_dir" 2>/dev/null || true
}

# The CPU time of the server side so far in microseconds.
server_cpu() {
    local key value
    if [[ -n $group_dir ]]; then
        while read -r key value; do
            [[ $key != usage_usec ]] || printf '%s' "$value"
        done <"$group_dir/cpu.stat"
    else
        awk -v hz="$(getconf CLK_TCK)" '
            FILENAME == "/proc/stat" && $1 == "cpu" { busy = $2 + $3 + $4 + $7 + $8 }
            FILENAME != "/proc/stat" { sub(/.*\)/, ""); other += $12 + $13 + (FNR == 1 && ++n == 1 ? $14 + $15 : 0) }
            END { printf "%.0f", (busy - other) * 1e6 / hz }' "/proc/$$/stat" "/proc/$sandbox_pid/stat" /proc/stat
    fi
}

# The CPU time of the processes of GROUP alone, and of those that they have waited for, in
# microseconds: own_cpu GROUP. It is that of a pool or a control; a CGI's is part of Apache's.
own_cpu() {
    local pid files=()
    case $1 in
    fcgi:* | node:* | pg:* | form:*) ;;
    *) printf 0; return ;;
    esac
    while read -r pid; do
        files+=("/proc/$pid/stat")
    done < <(processes_of "$1")
    { cat "${files[@]}" || true; } 2>/dev/null | awk -v hz="$(getconf CLK_TCK)" '
        { sub(/.*\)/, ""); ticks += $12 + $13 + $14 + $15 }
        END { printf "%.0f", ticks * 1e6 / hz }'
}

# PID and its descendants; with NAME only those whose program has that name: below PID [NAME]
below() {
    { cat /proc/[0-9]*/stat || true; } 2>/dev/null | awk -v root="$1" -v name="${2-}" '
        {
            pid = $1
            text = $0
            sub(/^[0-9]+ \(/, "", text)
            comm[pid] = substr(text, 1, match(text, /\) [A-Z] /) - 1)
            sub(/.*\) [A-Z] /, "", text)
            parent[pid] = text + 0
        }
        END {
            for (pid in parent) {
                for (at = pid; at != root && at > 1; at = parent[at]) {}
                if (at == root && (name == "" || comm[pid] == name))
                    print pid
            }
        }'
}

# The process ids of cgi:PROGRAM, fcgi:PROGRAM, node:CONTROL, pg:HOSTS:PROGRAM, form:NAME:PROGRAM, courier, sender or nothing.
processes_of() {
    case $1 in
    cgi:* | static:*) below "$(cat "$world/${1%%:*}/httpd.pid")" "${1#*:}" ;;
    fcgi:*) below "$(cat "$world/fcgi/${1#*:}.pid")" ;;
    node:*) below "$(cat "$world/${1#*:}/pid")" ;;
    pg:*) processes_of_hosts "${1#*:}" ;;
    form:*) processes_of_form "${1#*:}" ;;
    courier) printf '%s\n' "$courier_pid" ;;
    sender) printf '%s\n' "$sender_pid" ;;
    esac
}

# The memory in KiB of the processes on standard input, one id per line.
memory_of() {
    local pid files=()
    while read -r pid; do
        files+=("/proc/$pid/smaps_rollup")
    done
    ((${#files[@]})) || { printf 0; return; }
    if [[ $memory_kind == pss ]]; then
        { cat "${files[@]}" || true; } 2>/dev/null |
            awk '/^Pss:/ { sum += $2 } END { printf "%d", sum }'
    else
        { cat "${files[@]/%smaps_rollup/statm}" || true; } 2>/dev/null |
            awk -v page="$(getconf PAGESIZE)" '{ sum += $2 } END { printf "%d", sum * page / 1024 }'
    fi
}

# shellcheck disable=SC2034  # used by tests/bench/run
choose_memory_kind() {
    memory_kind=pss
    (($(processes_of fcgi:me | memory_of) > 0)) || memory_kind=rss
}

# Appends each new peak of the memory of GROUP as a line to $bench/peak, so that the last line is
# complete at any time: watch_memory GROUP, end_watch.
watch_memory() {
    printf '0\n' >"$bench/peak"
    (
        peak=0
        while :; do
            now=$(processes_of "$1" | memory_of)
            if ((now > peak)); then
                peak=$now
                printf '%s\n' "$peak" >>"$bench/peak"
            fi
            sleep 0.4
        done
    ) &
    watcher=$!
}

end_watch() {
    kill "$watcher"
    wait "$watcher" 2>/dev/null || true
}

median() {
    sort -n | awk '{ value[NR] = $1 } END { printf "%.1f", value[int((NR + 1) / 2)] }'
}

# --- load ---

# contender NAME GROUP URL KIND [ARGUMENT...]: defines a contender; GROUP as in processes_of, KIND
# and its arguments as in load.lua.
declare -A group=() target=() kind=()
contender() {
    group[$1]=$2
    target[$1]=$3
    kind[$1]=${*:4}
}

# measure NAME CONNECTIONS SECONDS: prints the result.
load() {
    local found
    if [[ ${target[$1]} == *';'* ]]; then
        # shellcheck disable=SC2086
        load_hosts "${target[$1]}" "$2" "$3" ${kind[$1]}
        return
    fi
    # shellcheck disable=SC2086  # kind has several arguments
    found=$(wrk -t 1 -c "$2" -d "${3}s" --timeout 30s -s "$here/load.lua" "${target[$1]}" -- \
        ${kind[$1]} \
        2>&1) || die "wrk failed on ${target[$1]}: $found"
    sed -n 's/^RESULT //p' <<<"$found"
}

measure() {
    local name=$1 connections=$2 seconds=$3 before after own_before own_after result
    watch_memory "${group[$name]}"
    before=$(server_cpu) own_before=$(own_cpu "${group[$name]}")
    result=$(load "$name" "$connections" "$seconds")
    after=$(server_cpu) own_after=$(own_cpu "${group[$name]}")
    end_watch
    jq -c --arg row "$row" --arg contender "$name" --argjson connections "$connections" \
        --argjson cpu $((after - before)) --argjson own $((own_after - own_before)) --argjson peak "$(tail -n 1 "$bench/peak")" \
        '{row: $row, contender: $contender, connections: $connections} + .
            + {cpu_ms_per_1000: ($cpu / .requests | . * 1000 | round / 1000),
               own_cpu_ms_per_1000: ($own / .requests | . * 1000 | round / 1000), peak_kib: $peak}' \
        <<<"$result" >>"$runs"
    jq -r '"\(.requests_per_second) \(.p50_ms) \(.p99_ms) \(.failed)"' <<<"$result" |
        xargs printf '%-22s %-16s %4d connections %9.0f/s  p50 %8.2f ms  p99 %8.2f ms  failed %d\n' "$row" \
            "$name" "$connections" >&2
}

# The warm-up of a contender. The first one is longer; that of a control ends after 20,000 requests,
# when Node has compiled what it executes often: its processor time for a send falls until then, to
# less than half: warm_up NAME CONNECTIONS
declare -A is_warm=()
warm_up() {
    local seconds=$first_warm_up least=0
    [[ ${group[$1]} != node:* ]] || least=20000
    [[ -z ${is_warm[$1]-} ]] || seconds=$next_warm_up least=0
    is_warm[$1]=1
    until
        least=$((least - $(load "$1" "$2" "$seconds" | jq .requests)))
        ((least <= 0))
    do :; done
}

# Measures the contenders in turn, ROUNDS times, after a warm-up of each:
# in_turn CONNECTIONS ROUNDS SECONDS NAME...
in_turn() {
    local connections=$1 rounds=$2 seconds=$3 round name
    shift 3
    for name; do
        warm_up "$name" "$connections"
    done
    for ((round = 0; round < rounds; round++)); do
        for name; do
            measure "$name" "$connections" "$seconds"
        done
    done
}

# Records a figure that is not a result of load; MOST is its upper limit, LEAST its lower one:
# fact NAME VALUE UNIT [MOST [LEAST]]
fact() {
    jq -nc --arg name "$1" --argjson value "$2" --arg unit "$3" --argjson most "${4:-null}" \
        --argjson least "${5:-null}" \
        '{name: $name, value: $value, unit: $unit, most: $most, least: $least}' >>"$facts"
    printf '%-60s %s %s\n' "$1" "$2" "$3" >&2
}
