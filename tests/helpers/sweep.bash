# shellcheck shell=bash
# Kills a program, or makes a system call or an allocation fail, at every point of its execution:
# `load helpers/sweep` after helpers/all. For files that run over `direct` alone.
#
#     sweep KIND SUBJECT FAULT MOST [FIRST [DENSE]]
#                     tries a fault at points of a program; below
#     capture_request NAME METHOD PATH [option of request...]
#                     captures the environment and standard input of a CGI for that request, and
#                     sends nothing
#     send_captured NAME [COMMAND...]
#                     runs the program on a captured request, under COMMAND if given; sets $answer
#                     (the file with its output) and $code (its exit status)
#
# A sweep tries all points, or every k-th, in order. SWEEP_POINTS is the maximum number of points
# and replaces each sweep's default; without it `make test-whole` tries a tenth of the default and
# `make test-full` all of it. `make torture` tries each point. A sweep prints a summary with
# `say_sweep`;
# tests/run shows these lines and adds up the numbers in their brackets.

# Executables in which an allocation can be made to fail (tests/helpers/starve.c).
: "${HELPERS:=$root/build/plain/helpers}"
starved=${HELPERS%/helpers}/starved

# --- one request, any number of times ---

capture_request() {
    local name=$1 stand_in=$STACK/stand-in program
    # strace injects an error by an invalid call, which the filter kills
    unset SWITCHBOARD_CONFINE_KILLS
    mkdir -p "$stand_in/cgi-bin"
    # shellcheck disable=SC2016  # the stand-in expands $0
    printf '#!/bin/bash\nenv -0 >%q\nbasename "$0" >%q\nexec cat >%q\n' "$STACK/$name.variables" \
        "$STACK/$name.program" "$STACK/$name.body" >"$stand_in/program"
    chmod +x "$stand_in/program"
    for program in "$OUT"/cgi-bin/*; do
        ln -sf ../program "$stand_in/cgi-bin/$(basename "$program" .c)"
    done
    RECORD='' OUT=$stand_in request "${@:2}"
}

send_captured() {
    local name=$1 variables program
    shift
    mapfile -d '' variables <"$STACK/$name.variables"
    read -r program <"$STACK/$name.program"
    answer=$STACK/answer stderr=$STACK/stderr code=0
    { # suppresses the shell's message about a killed process
        env -i "${variables[@]}" "$@" "$OUT/cgi-bin/$program" <"$STACK/$name.body" >"$answer" \
            2>"$stderr" || code=$?
    } 2>/dev/null
}

answered() { # STATUS
    local line=''
    read -r line <"$answer" || true
    # shellcheck disable=SC2053  # a pattern such as 5??
    [[ $line == 'Status: '$1' '* ]]
}

# Succeeds if the answer is complete: a head, and a body of the announced length that is an
# envelope or has the platform's form.
is_envelope() {
    local line length='' body
    {
        read -r line
        [[ $line == 'Status: '[2-5][0-9][0-9]' '* ]] || return 1
        while IFS= read -r line && [[ $line != $'\r' ]]; do
            [[ $line != Content-Length:* ]] || length=${line//[!0-9]/}
        done
        IFS= read -r -d '' body || true
    } <"$answer"
    LC_ALL=C eval '[[ ${#body} == "$length" ]]' || return 1
    [[ $body == '{"success":true,"data":'*'}' ]] && answered 200 && return 0
    # in the platform's form
    [[ $body =~ ^'{"'(messaging_product|id)'":'.*'}'$ ]] && answered 200 && return 0
    gojq -e '(.success == false and (.error | length > 0) and (.message | length > 0))
        or (.error | .code > 0 and (.message | length > 0))' >/dev/null 2>&1 <<<"$body"
}

# Expects a complete answer; or no answer and a failure exit status, so that Apache answers instead;
# or no answer because the write itself failed: assert_outcome WHAT [NAME-OF-THE-CALL]
assert_outcome() {
    if [[ -s $answer ]]; then
        is_envelope || fail "$1: status $code, an incomplete answer: $(cat "$answer" "$stderr")"
    elif [[ $code == 0 && ${2-} != write* ]]; then
        fail "$1: no answer and exit status 0: $(cat "$stderr")"
    fi
}

# --- the database, restored for every point ---

# Keeps a copy of the database, with which every point starts from now on in this test; without NAME
# those of all tests: keep_database [NAME]
keep_database() {
    if [[ -n ${SERVER-} ]]; then
        fresh=$(create_database TEMPLATE "$(database_name)")
        export fresh
        return
    fi
    sqlite3 "$DB" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    kept=${1-fresh}
    cp "$DB" "$STACK/$kept.db"
}

restore() {
    if [[ -n ${SERVER-} ]]; then
        administer "DROP DATABASE $(database_name) WITH (FORCE)" \
            "CREATE DATABASE $(database_name) TEMPLATE $(DB=$fresh database_name) OWNER switchboard"
        return
    fi
    rm -f "$DB" "$DB-wal" "$DB-shm"
    cp "$STACK/${kept-fresh}.db" "$DB"
}

# Prints the name of the first system call that changes the database; on a server, of the first
# that sends something to it.
first_change() {
    [[ -n ${SERVER-} ]] && printf 'sendto' || printf 'pwrite64'
}

# --- points ---

# Sets the `step` between points so that at most MOST of COUNT points are tried, and `which` to a
# description of it: choose_step COUNT MOST. Without TEST_FULL the maximum is a tenth of MOST, but
# not less than 8.
choose_step() {
    local most=${SWEEP_POINTS:-$2}
    if [[ -z ${SWEEP_POINTS-}${TEST_FULL-} ]] && ((most > 8)); then
        most=$((most / 10 > 8 ? most / 10 : 8))
    fi
    step=$((($1 + most - 1) / most))
    ((step > 1)) || step=1
    which="each"
    ((step == 1)) || which="1 in $step"
}

# Succeeds if every point is tried.
is_thorough() {
    ((${SWEEP_POINTS:-0} >= 100000))
}

# Prints the summary of a sweep: say_sweep TEXT POINTS FAULTS KILLS
say_sweep() {
    printf '# sweep: %s [points %d, faults %d, kills %d]\n' "$@" >&3
}

# --- system calls ---

# strace, as a COMMAND of send_captured. LeakSanitizer does not work under it, so it is switched
# off.
tracing=(env ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"} strace -qq)

# Prints the calls of a trace, from the first call named FIRST on: lines `NAME N`, the N-th call of
# that name.
calls_of() { # TRACE FIRST
    awk -v first="$2" '{ sub(/\(.*/, ""); count[$0]++ } $0 == first { begun = 1 }
        begun && $0 != "exit_group" { print $0, count[$0] }' "$1"
}

# Sets `inject` to the options of strace that make a call fail: injection NAME N error=EIO
injection() {
    inject=(-o /dev/null -e "trace=$1" -e "inject=$1:$3:when=$2")
}

# Prints the errors to inject at a call: errors_of NAME. If every point is tried, improbable errors
# too.
errors_of() {
    [[ $1 != brk ]] || return 0 # it reports failure by its result, not by an error
    if is_thorough; then
        echo ENOSPC EIO EMFILE EINTR ENOMEM
        return
    fi
    case $1 in
    openat) echo EMFILE ENOMEM EIO ENOSPC EINTR ;;
    pread64 | read) echo EIO EINTR ;;
    pwrite64 | write | writev | ftruncate | fallocate) echo ENOSPC EIO EINTR ;;
    fdatasync | fsync) echo EIO ENOSPC ;;
    fcntl) echo EIO ENOLCK EINTR ;;
    mmap | mremap) [[ $OUT != "$root" ]] || echo ENOMEM ;; # a sanitizer aborts without memory
    newfstatat | fstat | stat | unlink | unlinkat) echo EIO ENOMEM ;;
    socket | socketpair | eventfd2 | pipe2) echo EMFILE ENOMEM ;;
    connect) echo ECONNREFUSED EINTR ENOMEM ;;
    sendto | recvfrom | poll) echo EIO EINTR ENOMEM ;;
    getrandom) echo EINTR ;;
    esac
}

# Sets `tries` to lines `NAME N ERROR`, each error to inject at each of the `calls`.
list_errors() {
    local call name count error
    tries=()
    for call in "${calls[@]}"; do
        read -r name count <<<"$call"
        for error in $(errors_of "$name"); do
            tries+=("$name $count $error")
        done
    done
}

# --- memory ---

# Sets `starve`, a COMMAND of send_captured that makes the N-th allocation fail, or HOW-MANY from
# the N-th on; only allocations of more than OVER bytes count: starving N [HOW-MANY [OVER]]
starving() {
    starve=(env ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"} \
        "STARVE_FILE=$STACK/starve"
        "STARVE_AT=$1" "STARVE_FOR=${2-1}" "STARVE_OVER=${3-0}")
}

# Sets `made` and `failed`, the numbers of allocations of the last run.
read_tally() {
    read -r made failed <"$STACK/starve"
    made=$((10#$made)) failed=$((10#$failed))
}

# --- a sweep: one fault at points of one program ---
#
#     sweep KIND SUBJECT FAULT MOST [FIRST [DENSE]]
#
# SUBJECT is a captured request, unless the KIND runs another program. FAULT is KILL, TERM or HUP
# (the signal, at a system call), errors (of system calls), memory (one allocation fails), or famine
# (all fail from one on). The system calls are those from the first one named FIRST on, by default
# `getpeername`, before which the C library starts; the allocations are all, or those from number
# FIRST on. At most MOST of the points are tried, and each one from the first call DENSE on.
#
# KIND has the functions that say what must hold, whatever happens; $subject and $fault are set:
#
#     begin_KIND              makes what each point starts with
#     check_KIND WHAT CALL    judges the answer, the database, the platform and the disk after the
#                             fault WHAT, at a call of that name, or `memory`; calls `count`
#     end_KIND                judges all points together, if there is such a function
#     run_KIND [COMMAND...]   runs the program under COMMAND, and sets $code; without it the
#                             captured request is sent
#     choose_KIND             prints those lines `CALL NUMBER [ERROR]` of standard input that are
#                             tried; without it all are
#
# Sets `outcome`, how often `count NAME` was called with each NAME, and prints a summary with it.

count() { # NAME
    outcome[$1]=$((${outcome[$1]-0} + 1))
}

# Makes sure that each of these outcomes was seen, where all or many points were tried:
# expect NAME...
expect() {
    local name
    ((points < 30)) && return
    for name; do
        ((${outcome[$name]-0} > 0)) || fail "no point of $subject with $fault: $name"
    done
}

# Runs the program under COMMAND: run_subject [COMMAND...]
run_subject() {
    if declare -F "run_$kind" >/dev/null; then
        "run_$kind" "$@"
    else
        send_captured "$subject" "$@"
    fi
}

# Runs the program once, undisturbed. Sets `tries`: lines `CALL NUMBER [ERROR]`, or numbers of
# allocations.
list_tries() { # FIRST
    local calls
    "begin_$kind"
    if [[ $fault == memory || $fault == famine ]]; then
        starving 0
        OUT=$starved run_subject "${starve[@]}"
        read_tally
        [[ $1 =~ ^[0-9]+$ ]] || set -- 1
        mapfile -t tries < <(seq "$1" "$made")
    else
        run_subject "${tracing[@]}" -o "$STACK/trace"
        mapfile -t calls < <(calls_of "$STACK/trace" "$1")
        tries=("${calls[@]}")
        [[ $fault != errors ]] || list_errors
        ! declare -F "choose_$kind" >/dev/null ||
            mapfile -t tries < <(printf '%s\n' "${tries[@]}" | "choose_$kind")
    fi
    [[ $code == 0 ]] || fail "$subject, undisturbed, ends with $code: $(cat "$stderr")"
    declare -F "run_$kind" >/dev/null || answered 200 ||
        fail "$subject, undisturbed: $(cat "$answer" "$stderr")"
    ((${#tries[@]} > 30)) || fail "$subject has only ${#tries[@]} points"
}

# Sets `chosen` to the numbers of the points to try: choose_points MOST [DENSE]
choose_points() {
    local dense=${#tries[@]} step
    if [[ -n ${2-} ]]; then
        dense=0
        while ((dense < ${#tries[@]})) && [[ ${tries[dense]} != "$2 "* ]]; do
            dense=$((dense + 1))
        done
    fi
    choose_step $((${#tries[@]} - dense)) ${#tries[@]}
    mapfile -t chosen < <(seq "$dense" "$step" $((${#tries[@]} - 1)))
    choose_step "$dense" "$1"
    mapfile -t -O "${#chosen[@]}" chosen < <(seq 0 "$step" $((dense - 1)))
}

# Runs the program with the fault at one point.
try_point() { # CALL NUMBER [ERROR] or NUMBER
    local what call=$1
    "begin_$kind"
    case $fault in
    memory | famine)
        starving "$1" "$([[ $fault == famine ]] && echo 0 || echo 1)"
        call=memory what="allocation $1"
        OUT=$starved run_subject "${starve[@]}"
        read_tally
        faults=$((faults + (failed > 0)))
        ;;
    *)
        what="${3-SIG$fault} at $1 $2"
        injection "$1" "$2" "$([[ -z ${3-} ]] && echo "signal=$fault" || echo "error=$3")"
        run_subject "${tracing[@]}" "${inject[@]}"
        [[ $fault == KILL ]] || faults=$((faults + 1))
        ;;
    esac
    points=$((points + 1)) kills=$((kills + (code == 137)))
    "check_$kind" "$what" "$call"
}

sweep() {
    local kind=$1 subject=$2 fault=$3 tries chosen which number point kills=0
    declare -gA outcome=()
    points=0 faults=0
    list_tries "${5-getpeername}"
    choose_points "$4" "${6-}"
    for number in "${chosen[@]}"; do
        # shellcheck disable=SC2086  # words
        try_point ${tries[number]}
    done
    ! declare -F "end_$kind" >/dev/null || "end_$kind"
    say_sweep "$subject, $fault at $which of ${#tries[@]} points:$(for name in "${!outcome[@]}"; do
        printf ' %d %s,' "${outcome[$name]}" "$name"
    done | sed 's/,$//')" "$points" "$faults" "$kills"
    case $fault in
    KILL) ((kills * 2 > points)) || fail "only $kills of $points were killed" ;;
    memory | famine) ((faults * 2 > points)) || fail "only $faults of $points failed" ;;
    esac
}

# Skips a test on a server.
of_file() {
    [[ -z ${SERVER-} ]] ||
        skip 'it reads the file of a database, or lacks memory as the default programs do'
}

# Sweeps over each row of a table `SUBJECT FAULT MOST [FIRST [DENSE]]`: sweep_rows KIND, with the
# table as standard input
sweep_rows() {
    local row
    while read -ra row <&5; do
        sweep "$1" "${row[@]}"
    done 5<&0
}
