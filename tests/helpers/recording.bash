# shellcheck shell=bash
# Records each exchange with the gateway, for the check at the end of the run
# (tests/contract/check.js). RECORD is the directory of the records; nothing is recorded without it.
# A process appends to a file of its own, because it may write a record in several parts.
#
# A record is a line of numbers and the six texts of these lengths, in bytes:
#     exchange TRANSPORT STATUS METHOD LENGTH...
#         path with query, name of the test, header lines of the request, its body, header lines of
#         the answer, its body
# A body that contains a NUL, has more than 256 KB, or comes from a pipe is recorded as `-` and
# nothing.

record_longest=262144

# Sets `read` to the content of a file, and `read_length` to its length; `-` for a body that is not
# recorded: read_record FILE
read_record() {
    read='' read_length=0
    [[ ! -p $1 ]] || read_length=-
    [[ -s $1 ]] || return 0
    if IFS= read -r -d '' -n "$record_longest" read <"$1"; then
        read='' read_length=-
    else
        read_length=${#read}
    fi
}

# Records the exchange of `request`, in whose variables it is: record_exchange PATH
record_exchange() {
    [[ -n ${RECORD-} ]] || return 0
    local LC_ALL=C # lengths are bytes
    local IFS=$'\n' read read_length sent='' sent_length=0 answer answer_length lines name
    local asked="${header_list[*]}"
    name=${BATS_TEST_FILENAME##*/}:\ ${BATS_TEST_DESCRIPTION-}
    if [[ -n ${has_data-} ]]; then
        read_record "$data"
        sent=$read sent_length=$read_length
    fi
    read_record "$headers"
    lines=$read
    read_record "$body"
    answer=$read answer_length=$read_length
    printf 'exchange %s %s %s %s %s %s %s %s %s\n%s%s%s%s%s%s\n' "$TRANSPORT" "${status:-000}" \
        "$method" ${#1} ${#name} ${#asked} "$sent_length" ${#lines} "$answer_length" "$1" "$name" \
        "$asked" "$sent" "$lines" "$answer" >>"$RECORD/exchanges.$BASHPID"
}

# Records the answers of send_bodies, in whose variables they are. Links the files of the batch,
# which does not copy them: record_batch PATH
record_batch() {
    [[ -n ${RECORD-} ]] || return 0
    local kept=$RECORD/batch.$BASHPID.$SRANDOM
    cp -rl "$batch" "$kept"
    printf '%s\n' "$TRANSPORT" "$method" "$1" \
        "${BATS_TEST_FILENAME##*/}: ${BATS_TEST_DESCRIPTION-}" "${header_list[@]}" >"$kept/batch"
}
