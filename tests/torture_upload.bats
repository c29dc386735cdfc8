#!/usr/bin/env bats
# An upload that is killed, failed or starved at every point (spec 2.7, 4.6, 7): the answer agrees with the
# platform, and nothing of the file is left on the disk.
# transports: direct
# needs: starved
# starts first
# shellcheck disable=SC2153  # helpers/media sets SPOOL and LINE
load helpers/all
load helpers/media
load helpers/sweep

BOUNDARY=torture

# Creates a form and a raw body without a type, which must be detected, and a database that stays unchanged.
setup_file() {
    start_media_stack
    export BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
    local form=$STACK/form
    export PHOTO
    PHOTO=$(photo 60000)
    {
        printf -- '--%s\r\nContent-Disposition: form-data; name="phoneNumberId"\r\n\r\n%s\r\n' "$BOUNDARY" "$LINE"
        printf -- '--%s\r\nContent-Disposition: form-data; name="file"; filename="photo"\r\n\r\n' "$BOUNDARY"
        cat "$PHOTO"
        printf '\r\n--%s--\r\n' "$BOUNDARY"
    } >"$form"
    capture_request form POST /v2/media/upload --as "$TOKEN" -d "@$form" \
        -H "Content-Type: multipart/form-data; boundary=$BOUNDARY"
    capture_request raw POST /v2/media/upload --as "$TOKEN" -d "@$PHOTO" -H 'Content-Type:' -H "X-Phone-Number-Id: $LINE"
    keep_database
    export SHA CONTENT
    SHA=$(sha256sum <"$PHOTO" | cut -d ' ' -f 1)
    CONTENT=$(database_dump | sha256sum)
}

setup() {
    forget_sent
    restore
    points=0 faults=0 killed=0 succeeded=0
}

# An upload answered 200 is on the platform, byte for byte; nothing is left on the disk:
# check_round WHAT [NAME-OF-THE-CALL]
check_round() {
    local id
    points=$((points + 1)) killed=$((killed + (code == 137)))
    assert_outcome "$@"
    assert_equal "$(ls -A "$SPOOL")" '' || fail "$1: a file is left in the spool"
    answered 200 || return 0
    succeeded=$((succeeded + 1))
    id=$(sed -n 's/.*"mediaId":"\([^"]*\)".*/\1/p' "$answer")
    assert_equal "$(sandbox GET "media/$id" | jq -r .sha256)" "$SHA" || fail "$1: answered $id"
}

# The database is unchanged.
finish() { # TEXT
    assert_sound
    assert_equal "$(database_dump | sha256sum)" "$CONTENT"
    say_sweep "$1: $succeeded times the answer has the media id, never a wrong one, no file left" "$points" "$faults" "$killed"
    ((points < 50 || succeeded < points))
}

# Sets `calls` to the system calls of an undisturbed run: trace_upload UPLOAD
trace_upload() {
    send_captured "$1" "${tracing[@]}" -o "$STACK/trace"
    answered 200 || fail "$1: $(cat "$answer" "$stderr")"
    mapfile -t calls < <(calls_of "$STACK/trace" getpeername)
    ((${#calls[@]} > 100)) || fail "only ${#calls[@]} calls"
}

@test "killed at any system call: an upload answered 200 is on the platform, and no file is left" {
    local upload calls number name count step which
    for upload in form raw; do
        points=0 killed=0 succeeded=0
        trace_upload "$upload"
        choose_step ${#calls[@]} 50
        for ((number = 0; number < ${#calls[@]}; number += step)); do
            read -r name count <<<"${calls[number]}"
            injection "$name" "$count" signal=KILL
            send_captured "$upload" "${tracing[@]}" "${inject[@]}"
            check_round "killed at $name $count" "$name"
        done
        finish "upload of a $upload killed at $which of ${#calls[@]} calls"
        ((killed > points / 2)) || fail "only $killed kills"
    done
}

@test "an error at any system call: an envelope, and an upload answered 200 is on the platform" {
    local upload calls tries number name count error step which
    for upload in form raw; do
        points=0 faults=0 succeeded=0
        trace_upload "$upload"
        list_errors
        choose_step ${#tries[@]} 80
        for ((number = 0; number < ${#tries[@]}; number += step)); do
            read -r name count error <<<"${tries[number]}"
            injection "$name" "$count" "error=$error"
            send_captured "$upload" "${tracing[@]}" "${inject[@]}"
            faults=$((faults + 1))
            check_round "$error at $name $count" "$name"
        done
        finish "upload of a $upload with $which of ${#tries[@]} errors"
    done
}

@test "after a failed allocation: an envelope, and an upload answered 200 is on the platform" {
    local upload number total step which made failed
    for upload in form raw; do
        points=0 faults=0 succeeded=0
        starving 0
        OUT=$starved send_captured "$upload" "${starve[@]}"
        answered 200 || fail "not starved at all: $(cat "$answer" "$stderr")"
        read_tally
        total=$made
        ((total > 1000)) || fail "only $total allocations"
        choose_step "$total" 50
        for ((number = 1; number <= total; number += step)); do
            starving "$number"
            OUT=$starved send_captured "$upload" "${starve[@]}"
            read_tally
            faults=$((faults + failed))
            check_round "allocation $number"
        done
        finish "upload of a $upload starved at $which of $total allocations"
    done
}
