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
        [[ -e $file ]] && (($(wc -l <"$file") > $1)) || return 1
    done
}

# Ends the commands and waits for their last runs. Expects that every run printed LINE:
# end_background LINE
end_background() {
    touch "$BATS_TEST_TMPDIR/enough"
    wait "${background[@]}"
    assert_equal "$(sort -u "$BATS_TEST_TMPDIR"/background.* | tr -d '\r')" "$1"
}

# As end_background 200, after graceful restarts of Apache: mod_cgid ends its daemon at each, and
# answers a request that waits for it 503, with a line in LOG. Any other 503 is a failure:
# end_background_of_restarts LOG
end_background_of_restarts() {
    local answers lost logged
    touch "$BATS_TEST_TMPDIR/enough"
    wait "${background[@]}"
    answers=$(cat "$BATS_TEST_TMPDIR"/background.* | tr -d '\r')
    logged=$(grep -cF '[cgid:error]' "$1" || true)
    lost=$(grep -cx 503 <<<"$answers" || true)
    ((lost <= logged)) || fail "$lost requests were answered 503, of which mod_cgid refused $logged"
    assert_equal "$(grep -vx 503 <<<"$answers" | sort -u)" 200
}

# Requests a path, with -d by POST, and prints the status of the answer:
# print_status PATH [-H HEADER]... [-d TEXT]
print_status() {
    local dir=$BATS_TEST_TMPDIR/status.$BASHPID path=$1 method=GET sent='' headers=() status
    shift
    [[ -d $dir ]] || mkdir "$dir"
    while (($#)); do
        case $1 in
        -H) headers+=("$2") ;;
        -d) method=POST sent=$dir/sent && printf %s "$2" >"$sent" ;;
        *) fail "print_status: unknown option $1" ;;
        esac
        shift 2
    done
    ! "$HELPERS/http_request" "$dir" "$method" "${BASE##*:}" "$path" "$sent" "${headers[@]}" ||
        read -r status <"$dir/code" || true # no newline
    printf '%s\n' "${status-}"
}
