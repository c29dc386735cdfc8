# shellcheck shell=bash
# Commands that run again and again in the background while a test changes something:
# `load helpers/background` after helpers/all.

# Runs a command repeatedly until end_background, with pauses of BACKGROUND_PAUSE milliseconds if
# that is set, and until the shell of the test has ended, such as by a failure. Each run prints one
# line: in_background NAME COMMAND...
in_background() {
    (
        until [[ -e $BATS_TEST_TMPDIR/enough || ! -e /proc/$$ ]]; do
            "${@:2}" || true
            [[ -z ${BACKGROUND_PAUSE-} ]] || pause "$BACKGROUND_PAUSE"
        done >"$BATS_TEST_TMPDIR/background.$1"
    ) 3>&- &
    background+=($!)
}

# A condition: each command has run more than COUNT times. eventually each_ran_more_than COUNT
each_ran_more_than() {
    local file
    for file in "$BATS_TEST_TMPDIR"/background.*; do
        (($(wc -l <"$file") > $1)) || return 1
    done
}

# Ends the commands and waits for their last runs. Expects that every run printed LINE:
# end_background LINE
end_background() {
    touch "$BATS_TEST_TMPDIR/enough"
    wait "${background[@]}"
    assert_equal "$(sort -u "$BATS_TEST_TMPDIR"/background.* | tr -d '\r')" "$1"
}

# Requests a path and prints the status of the answer: print_status PATH [option of curl...]
print_status() {
    curl -s -o /dev/null -w '%{http_code}\n' --max-time 600 "${@:2}" "$BASE$1"
}
