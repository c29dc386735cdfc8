# shellcheck shell=bash
# The memory of a program while it works: `load helpers/memory` after helpers/all.

# Starts a watcher that writes the largest resident memory of any process of the program from now
# on, in KB, to the file $memory; its process id is $watcher: watch_memory PROGRAM
watch_memory() {
    memory=$BATS_TEST_TMPDIR/memory
    (
        peak=0 round=0
        printf "0\n" >"$memory"
        exec {never}<> <(:)
        while :; do
            ((round++ % 5)) || mapfile -t pids < <(pgrep -f "^$OUT/cgi-bin/$1( |\$)")
            for pid in "${pids[@]}"; do
                now=0
                while read -r name value _; do
                    [[ $name != VmHWM: ]] || now=$value
                done <"/proc/$pid/status" || continue
                ((now <= peak)) || printf '%s\n' "$((peak = now))" >"$memory"
            done
            read -r -t 0.01 -u "$never" || true # a pause without a process
        done
    ) 2>/dev/null 3>&- &
    watcher=$!
}

# Ends the watcher; expects that the peak was below 16 MB.
assert_memory() {
    local peak
    kill "$watcher"
    peak=$(cat "$memory")
    ((peak > 4000)) || fail "the watcher saw no process: the peak is $peak KB"
    # a sanitizer build needs more memory, so its peak is not checked
    [[ $OUT != "$root" ]] || ((peak < 16384)) ||
        fail "expected less than 16384 KB of memory, not $peak"
}
