# shellcheck shell=bash
# The nemesis: fault injection. The seed alone determines the plan, which is made in advance: lines
# `AT_MS DEED MS NUMBER`. Deeds with a duration (MS) may overlap.

declare -A active=() # deed -> its end, ms since the beginning
locker_pids=()

now_ms() {
    local now=$EPOCHREALTIME
    printf '%s' $((10#${now/[.,]/} / 1000))
}

# deed, weight, minimum and maximum duration (ms; 0: none)
deeds() {
    cat <<'END'
kill_courier 3 0 1500
pause_courier 2 500 4000
kill_programs 6 0 0
pause_programs 3 200 3000
graceful 2 0 0
stop_apache 1 200 2000
fill_disk 2 500 3500
lock_database 2 300 7000
hold_reader 2 1000 6000
break_platform 5 0 0
hide_platform 1 500 2500
pause_platform 2 300 3000
break_receiver 4 1000 5000
rotate_keys 1 0 0
back_up 1 0 0
END
    [[ $transport != fcgi ]] || printf 'kill_pool 3 0 0\n'
}

# Prints the plan for SECONDS, without deeds in the first and the last second: make_plan SECONDS
make_plan() {
    local at=1000 name weight least most bag=() length=()
    RANDOM=$seed
    while read -r name weight least most; do
        while ((weight-- > 0)); do
            bag+=("$name") length+=("$least $most")
        done
    done < <(deeds)
    while ((at < $1 * 1000 - 1000)); do
        local which=$((RANDOM % ${#bag[@]})) stretch=$RANDOM number=$RANDOM
        read -r least most <<<"${length[which]}"
        printf '%s %s %s %s\n' "$at" "${bag[which]}" $((least + stretch % (most - least + 1))) \
            "$number"
        at=$((at + 200 + RANDOM % 1800))
    done
}

# Carries out the plan and returns when all deeds are undone.
follow_plan() {
    local begin at name ms number now
    begin=$(now_ms)
    wal_peak=0 programs_killed=0 programs_paused=0
    while read -r -u 8 at name ms number; do
        now=$(($(now_ms) - begin))
        while ((now < at)); do
            end_deeds "$now"
            watch_wal
            sleep 0.1
            now=$(($(now_ms) - begin))
        done
        end_deeds "$now"
        may_begin "$name" || continue
        printf '%s\t%s\n' "$now" "$name" >>"$dir/deed.tsv"
        "begin_$name" "$ms" "$number"
        active[$name]=$((now + ms))
    done 8<"$dir/plan"
    while ((${#active[@]})); do
        end_deeds $(($(now_ms) - begin))
        watch_wal
        sleep 0.1
    done
    sandbox DELETE faults >/dev/null
}

# A deed does not overlap itself, and Apache and pools are not started while Apache is being
# stopped.
may_begin() {
    [[ -z ${active[$1]-} ]] || return 1
    [[ $1 != graceful && $1 != kill_pool ]] || [[ -z ${active[stop_apache]-} ]]
}

# The stop of Apache may take longer than planned; other deeds must end meanwhile.
may_end() {
    [[ $1 != stop_apache ]] || ! kill -0 "$stop_job" 2>/dev/null
}

end_deeds() { # NOW
    local name
    for name in "${!active[@]}"; do
        if ((active[$name] <= $1)) && may_end "$name"; then
            unset "active[$name]"
            ! declare -F "end_$name" >/dev/null || "end_$name"
        fi
    done
}

watch_wal() {
    local size
    size=$(stat -c %s "$dir/state/switchboard.db-wal" 2>/dev/null) || return 0
    ((size <= wal_peak)) || wal_peak=$size
}

# --- the courier ---

begin_kill_courier() {
    kill -KILL "$courier_pid"
    wait "$courier_pid" 2>/dev/null || true
}
end_kill_courier() {
    start_courier
}

begin_pause_courier() {
    kill -STOP "$courier_pid" 2>/dev/null || true
}
end_pause_courier() {
    kill -CONT "$courier_pid" 2>/dev/null || true
}

# --- programs behind Apache ---

# The parent process of programs: the pool of one executable, or mod_cgid's daemon, which is the
# only child of Apache with a single thread: parent_of_programs NUMBER
parent_of_programs() {
    local child names=(me messages messages platform platform platform templates webhook_config)
    if [[ $transport == fcgi ]]; then
        cat "$dir/apache/${names[$1 % ${#names[@]}]}.pid"
        return
    fi
    local httpd children
    httpd=$(cat "$dir/apache/httpd.pid") || return
    read -ra children <"/proc/$httpd/task/$httpd/children"
    for child in "${children[@]}"; do
        if [[ $(find "/proc/$child/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l) == 1 ]]; then
            printf '%s\n' "$child"
            return
        fi
    done
    return 1
}

begin_kill_programs() {
    local parent met
    parent=$(parent_of_programs "$2" 2>/dev/null) || return 0
    met=$("$SOAK_BIN/hunter" "$parent" $((1 + $2 % 4)) 9 0 400 "$2")
    programs_killed=$((programs_killed + met))
}

begin_pause_programs() {
    local parent
    parent=$(parent_of_programs "$2" 2>/dev/null) || return 0
    "$SOAK_BIN/hunter" "$parent" 1 19,18 "$1" 400 "$2" >/dev/null &
    locker_pids+=($!)
    programs_paused=$((programs_paused + 1))
}

begin_kill_pool() {
    local pools=("$dir"/apache/[a-gi-z]*.pid) pid # not httpd's
    pid=$(cat "${pools[$2 % ${#pools[@]}]}" 2>/dev/null) || return 0
    kill -KILL "$pid" 2>/dev/null || return 0
    programs_killed=$((programs_killed + 1))
    sleep 0.2
    "$root/tools/private-apache" start "${apache_options[@]}" || die 'a pool does not start again'
}

# --- Apache ---

begin_graceful() {
    kill -USR1 "$(cat "$dir/apache/httpd.pid")" 2>/dev/null || true
}

begin_stop_apache() {
    outage_began=$(now_ms)
    "$root/tools/private-apache" stop --dir "$dir/apache" &
    stop_job=$!
}
end_stop_apache() {
    local try
    wait "$stop_job" || die 'Apache does not stop'
    for ((try = 0; try < 20; try++)); do
        ! "$root/tools/private-apache" start "${apache_options[@]}" || break
        sleep 0.5
    done
    printf '%s\t%s\n' "$outage_began" "$(now_ms)" >>"$dir/outage.tsv"
}

# --- disk and database ---

begin_fill_disk() {
    cat /dev/zero >"$dir/state/ballast" 2>/dev/null || true
}
end_fill_disk() {
    rm -f "$dir/state/ballast"
}

# Locks the database by a process that does not use the gateway's queue: hold SQL MS
hold() {
    printf '.timeout 5000\n%s\n.system sleep %s\nROLLBACK;\n' "$1" \
        "$(printf '%d.%03d' $(($2 / 1000)) $(($2 % 1000)))" |
        sqlite3 "$dir/state/switchboard.db" >/dev/null 2>>"$dir/hold.log" &
    locker_pids+=($!)
}

begin_lock_database() {
    hold 'BEGIN IMMEDIATE;' "$1"
}

begin_hold_reader() {
    hold 'BEGIN; SELECT count(*) FROM event;' "$1"
}

# --- the operator ---

# Runs the CLI as the owner of the files. It may fail while the database is locked or the disk is
# full.
administer() {
    "${service[@]}" "$OUT/tools/switchboard" "$@" >>"$dir/administer.log" 2>&1 &
    locker_pids+=($!)
}

begin_rotate_keys() {
    administer key rotate
}

begin_back_up() {
    administer backup "$dir/backups/$2.db"
}

# --- the platform ---

begin_break_platform() {
    local faults=(
        '{"match":{"path":"/messages"},"kind":"hang","ms":2500,"times":3}'
        '{"match":{"path":"/messages"},"kind":"reset","times":3}'
        '{"match":{"path":"/messages"},"kind":"reset_before","bytes":10,"times":3}'
        '{"match":{"path":"/messages"},"status":500,"code":2,"times":4}'
        '{"match":{"path":"/messages"},"status":400,"code":130429,"times":4}'
        '{"match":{"path":"/messages"},"kind":"html","times":3}'
        '{"match":{"path":"/messages"},"kind":"garbage","times":3}'
        '{"match":{"path":"/messages"},"kind":"truncate","bytes":20,"times":3}'
        '{"match":{"path":"/messages"},"kind":"delay","ms":1500,"times":5}'
        '{"match":{"path":"/messages"},"kind":"drip","ms":5,"times":3}'
        '{"match":{"path":"/message_templates"},"status":500,"code":1,"times":3}'
    )
    sandbox POST faults "${faults[$2 % ${#faults[@]}]}" >/dev/null 2>&1 & # it may be paused
    locker_pids+=($!)
}

# Configures a platform URL without a server.
begin_hide_platform() {
    write_config 'graph_base_url = http://127.0.0.1:1'
}
end_hide_platform() {
    write_config
}

begin_pause_platform() {
    kill -STOP "$sandbox_pid"
}
end_pause_platform() {
    kill -CONT "$sandbox_pid"
}

# --- the receiver ---

begin_break_receiver() {
    local modes=('status 500' 'status 503' 'hang 1500' 'reset' 'status 302' 'hang 300')
    printf '%s\n' "${modes[$2 % ${#modes[@]}]}" >"$dir/receiver.mode"
}
end_break_receiver() {
    rm -f "$dir/receiver.mode"
}
