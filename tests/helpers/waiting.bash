# shellcheck shell=bash
# Waiting for a condition, and the processes of a pool. helpers/all loads it.

# Runs a command until it succeeds, for ten minutes at most (enough for an overloaded machine); then
# the test fails. The scripts of tools/ call wait_until with limits of their own.
# eventually COMMAND...
eventually() {
    wait_until 600 "$@" || fail "not within ten minutes: $*"
}

# A condition: the process has ended. eventually is_gone PID
is_gone() {
    [[ ! -e /proc/$1/exe ]]
}

# Prints the process id of the stack's pool of a program: pool_of PROGRAM
pool_of() {
    cat "$STACK/apache/$1.pid"
}

# Prints the process ids of the children of a process, such as a pool, in one line, without the
# parent that forks the processes of a pool: children PID
children() {
    local child name all=()
    for child in $(cat "/proc/$1/task/$1/children"); do
        read -r name 2>/dev/null <"/proc/$child/comm" || continue
        [[ $name == parent ]] || all+=("$child")
    done
    printf '%s ' "${all[@]}"
}

# A condition: the process has so many children. eventually has_children PID COUNT
has_children() {
    (($(children "$1" | wc -w) == $2))
}

# A condition: the process has COUNT children, none of which is among those that `children` printed
# before. eventually has_other_children PID COUNT BEFORE
has_other_children() {
    local now child
    now=$(children "$1")
    for child in $3; do
        [[ " $now" != *" $child "* ]] || return 1
    done
    (($(wc -w <<<"$now") == $2))
}
