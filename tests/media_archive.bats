#!/usr/bin/env bats
# media_archive: attachments are copied once, and downloaded after the platform forgot them.
# transports: direct
load helpers/all
load helpers/sender
load helpers/media
load helpers/webhook

setup() {
    forget_sent
    sandbox POST settings '{"mediaUrlSeconds":300,"mediaSizeText":false}' >/dev/null
    sandbox DELETE faults >/dev/null
    db 'DELETE FROM media_copy; DELETE FROM sender_lease'
    ARCHIVE=$BATS_TEST_TMPDIR/archive
    mkdir "$ARCHIVE"
    archive_config
    from=1666$((1000000 + $(next_number)))
}

teardown() {
    stop_senders
}

teardown_file() {
    stop_stack
}

archive_config() { # LINES...
    write_config "spool_dir = $SPOOL" "media_archive = $ARCHIVE" "$@"
}

# Creates media upstream: have_media [SIZE [SEED]]. Sets `media` and `hash`.
have_media() {
    local members
    members="\"mimeType\":\"image/png\",\"size\":${1-70000},\"seed\":${2-$(next_number)}"
    media=$(sandbox POST media "{\"wabaId\":\"$WABA\",$members}" | gojq -r .id)
    sandbox GET "media/$media/content" >"$BATS_TEST_TMPDIR/content"
    hash=$(sha256sum <"$BATS_TEST_TMPDIR/content")
    hash=${hash%% *}
}

# A person sends it: receive [NAMED-HASH [MEDIA]]. Sets `wamid`.
receive() {
    wamid=wamid.media.$(next_number)
    receive_again "$@"
}

receive_again() {
    local members="\"id\":\"${2-$media}\",\"mime_type\":\"image/png\"${1:+,\"sha256\":\"$1\"}"
    take "$(payload "$(inbound "$wamid" "$from" '' "\"type\":\"image\",\"image\":{$members}")")"
}

# Prints columns of the row of the message: copy COLUMNS
copy() {
    db "SELECT $1 FROM media_copy
        WHERE message_id = (SELECT id FROM message WHERE wamid = '$wamid')"
}

copy_is() { # STATE
    [[ $(copy state) == "$1" ]]
}

# Prints the paths of all files of the archive.
files() {
    (cd "$ARCHIVE" && find . -type f | sort)
}

user_id() {
    db "SELECT user_id FROM account WHERE id = '$ACCOUNT'"
}

file_of() { # HASH
    printf './%s/%s/%s' "$(user_id)" "$(date -u +%Y/%m)" "$1"
}

forget_media() {
    sandbox DELETE "media/$media" >/dev/null
}

# The whole file is downloaded, with the headers of a download from the platform.
assert_downloaded() {
    api GET "/v2/media/$media/download"
    assert_status 200
    assert_body_is "@$BATS_TEST_TMPDIR/content"
    assert_header Content-Type image/png
    assert_header Content-Length "$(stat -c %s "$BATS_TEST_TMPDIR/content")"
    assert_header Content-Disposition "inline; filename=\"$media.png\"; filename*=UTF-8''$media.png"
    assert_header Content-Security-Policy "sandbox; default-src 'none'"
    assert_header Accept-Ranges bytes
}

@test "an attachment is copied once, and downloaded after the platform forgot it" {
    have_media
    receive "$(printf '%s' "${hash^^}" | basenc -d --base16 | base64)"
    assert_equal "$(copy 'state, sha256, type, attempts')" "queued|$hash|image/png|0"
    assert_downloaded
    start_sender
    eventually copy_is done
    assert_equal "$(files)" "$(file_of "$hash")"
    assert_equal "$(sha256sum <"$ARCHIVE/$(file_of "$hash")")" "$hash  -"
    assert_equal "$(copy 'size, attempts, next_attempt_at IS NULL')" '70000|1|1'
    forget_media
    forget_sent
    assert_downloaded
    assert_equal "$(sandbox GET requests | gojq length)" 0
}

@test "without the key nothing is queued and nothing is copied" {
    have_media
    write_config "spool_dir = $SPOOL"
    receive
    assert_equal "$(db 'SELECT count(*) FROM media_copy')" 0
}

# bats test_tags=long
@test "a repeated webhook queues nothing again, and the same content of a user is one file" {
    have_media 5000 77
    start_sender
    receive "$hash"
    eventually copy_is done
    receive_again "$hash"
    assert_equal "$(copy 'count(*), max(state)')" '1|done'
    have_media 5000 77
    forget_sent
    receive "$hash"
    eventually copy_is done
    assert_equal "$(sandbox GET requests | gojq length)" 0
    have_media 5000 77
    receive
    eventually copy_is done
    assert_equal "$(files)" "$(file_of "$hash")"
    assert_equal "$(copy sha256)" "$hash"
    forget_media
    assert_downloaded
}

@test "what the platform has forgotten ends after three attempts, and the download says so" {
    have_media
    receive
    forget_media
    start_sender
    for _ in 1 2 3; do
        eventually_attempted $((++attempts))
        db 'UPDATE media_copy SET next_attempt_at = 0 WHERE next_attempt_at IS NOT NULL'
    done
    eventually copy_is gone
    assert_equal "$(copy 'attempts, next_attempt_at IS NULL')" '3|1'
    assert_equal "$(files)" ''
    api GET "/v2/media/$media/download"
    assert_status 404
    request GET /metrics
    grep -q '^switchboard_media_copies_total{outcome="gone"} [1-9]' "$body"
}

# The attempt with this number has ended.
eventually_attempted() {
    eventually has_attempted "$1"
}

has_attempted() {
    [[ $(copy "attempts >= $1 AND coalesce(next_attempt_at, 1) > 0") == 1 ]]
}

@test "a file that is larger than media_archive_max_mb is not copied, whatever its announced size" {
    have_media 1048577
    archive_config 'media_archive_max_mb = 1'
    receive
    start_sender
    eventually copy_is failed
    have_media 1048576
    receive
    eventually copy_is done
    assert_equal "$(files)" "$(file_of "$hash")"
}

@test "ranges of a copy are answered as the platform answers them" {
    local range
    local -A answers=()
    local ranges=(0-9 990- -10 5-5000 1000- 7-3)
    have_media 1000
    for range in "${ranges[@]}"; do
        api GET "/v2/media/$media/download" -H "Range: bytes=$range"
        answers[$range]=$(range_answer)
    done
    receive
    start_sender
    eventually copy_is done
    forget_media
    for range in "${ranges[@]}"; do
        api GET "/v2/media/$media/download" -H "Range: bytes=$range"
        assert_equal "$range: $(range_answer)" "$range: ${answers[$range]}"
    done
    api GET "/v2/media/$media/download" -H 'Range: bytes=0-1,5-6'
    assert_status 200
}

# What an answer to a Range says; of an error the status and Content-Range.
range_answer() {
    printf '%s %s' "$status" "$(header Content-Range)"
    [[ $status == 416 ]] || sha256sum <"$body"
}

erase() {
    local id
    id=$(db "SELECT id FROM contact WHERE phone = '$from'")
    switchboard contact erase "$id" >/dev/null
    "$OUT/tools/courier" --once >/dev/null 2>&1
}

# The row and its file are gone.
no_file() {
    [[ -z $(files) && $(db 'SELECT count(*) FROM media_copy') == 0 ]]
}

# bats test_tags=long
@test "an erasure removes the copy, and a file stays while another message names it" {
    local first=$from
    have_media 5000 78
    start_sender
    receive "$hash"
    eventually copy_is done
    from=1667$((1000000 + $(next_number)))
    receive "$hash"
    eventually copy_is done
    erase
    eventually is_alone
    assert_equal "$(files)" "$(file_of "$hash")"
    from=$first
    erase
    eventually no_file
    api GET "/v2/media/$media/download"
    assert_status 200
}

is_alone() {
    [[ $(db 'SELECT count(*) FROM media_copy') == 1 ]]
}

@test "an erasure while the copy runs leaves no file" {
    have_media
    receive
    fault '{"match":{"path":"whatsapp_business"},"kind":"delay","ms":600000}'
    start_sender
    eventually is_copying
    erase
    assert_equal "$(db 'SELECT state FROM media_copy')" removed
    sandbox DELETE faults >/dev/null
    eventually no_file
}

is_copying() {
    [[ $(files) == *.part ]]
}

@test "a sender that is killed while it copies leaves the copy to the next one" {
    have_media
    receive
    fault '{"match":{"path":"whatsapp_business"},"kind":"delay","ms":600000}'
    start_sender
    eventually is_copying
    stop_sender sender KILL
    assert_equal "$(copy state)" queued
    sandbox DELETE faults >/dev/null
    db 'UPDATE sender_lease SET lease_until = 1'
    start_sender next
    eventually copy_is done
    assert_equal "$(files)" "$(file_of "$hash")"
}

# A sender is killed while it writes the file of the message.
kill_while_copying() {
    fault '{"match":{"path":"whatsapp_business"},"kind":"delay","ms":600000}'
    start_sender
    eventually is_copying
    stop_sender sender KILL
    sandbox DELETE faults >/dev/null
    db 'UPDATE sender_lease SET lease_until = 1; UPDATE media_copy SET next_attempt_at = 0'
}

@test "a killed sender's unfinished file goes, also when the platform then does not know the media" {
    have_media
    receive
    kill_while_copying
    forget_media
    db 'UPDATE media_copy SET attempts = 2'
    start_sender
    eventually copy_is gone
    assert_equal "$(files)" ''
}

# bats test_tags=long
@test "a killed sender's unfinished file goes, also when another message then brings the same content" {
    have_media 5000 79
    receive "$hash"
    kill_while_copying
    db "UPDATE media_copy SET next_attempt_at = 9000000000000"
    receive "$hash"
    start_sender
    eventually copy_is done
    db 'UPDATE media_copy SET next_attempt_at = 0 WHERE next_attempt_at IS NOT NULL'
    eventually all_are_done
    assert_equal "$(files)" "$(file_of "$hash")"
}

all_are_done() {
    [[ $(db "SELECT count(*) FROM media_copy WHERE state <> 'done'") == 0 ]]
}

# A failed attempt left nothing but a row that will be tried again.
assert_tried_again() {
    eventually has_failed
    assert_equal "$(copy 'state, attempts')" 'queued|1'
    assert_equal "$(files)" ''
}

# bats test_tags=long
@test "a file that is not the one which the platform announced is not kept, and tried again" {
    local kind
    for kind in '"kind":"html"' '"body":"other bytes"' '"kind":"truncate","bytes":2000'; do
        have_media
        receive
        fault "{\"match\":{\"path\":\"whatsapp_business\"},$kind}"
        start_sender
        assert_tried_again
        db 'UPDATE media_copy SET next_attempt_at = 0'
        eventually copy_is done
        assert_equal "$(files)" "$(file_of "$hash")"
        stop_sender
        db 'DELETE FROM media_copy'
        rm -rf "${ARCHIVE:?}"/*
    done
    grep -qF 'its SHA-256 is not that which the platform names' "$LOG"
}

# Runs a sender for which so many of 1,000 blocks of the disk are free: start_sender_with BLOCKS
start_sender_with() {
    local blocks
    printf -v blocks '%016x' 4096 1000 "$1" "$1"
    blocks=$(fold -w 16 <<<"$blocks" | while read -r number; do
        fold -w 2 <<<"$number" | tac | tr -d '\n'
    done)
    env -u SWITCHBOARD_CONFINE_KILLS strace -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=fstatfs \
        -e "inject=fstatfs:poke_exit=@arg2=0000000000000000$blocks" \
        "$OUT/tools/sender" --pid-file "$STACK/full.pid" >/dev/null 2>&1 3>&- &
}

stop_full_sender() {
    kill "$(cat "$STACK/full.pid")"
    wait $! || true
    db 'DELETE FROM sender_lease'
}

# bats test_tags=long
@test "while no more than 10 % of the disk is free no copy begins, and attachments wait" {
    have_media
    receive
    start_sender_with 100
    eventually grep -q 'less than 10 % of the disk is free; attachments wait' "$LOG"
    assert_equal "$(copy 'state, attempts')" 'queued|0'
    db "UPDATE media_copy SET state = 'removed'" # removals go on
    eventually no_file
    stop_full_sender
    start_sender_with 101
    have_media
    receive
    eventually copy_is done
    stop_full_sender
    assert_equal "$(files)" "$(file_of "$hash")"
}

@test "of two senders one copies, and the other takes over" {
    have_media
    start_sender
    start_sender second
    receive
    eventually copy_is done
    stop_sender
    have_media
    receive
    eventually copy_is done
    assert_equal "$(copy attempts)" 1
    assert_equal "$(files | wc -l)" 2
}

# What doctor says: doctor_says STATUS TEXT
doctor_says() {
    local found
    found=$(switchboard doctor --json | gojq -r '.[] | select(.check == "media_archive")
        | "\(.status) \(.detail)"') || true
    [[ $found == "$1 "*"$2"* ]] || fail "doctor says: $found"
}

@test "doctor and metrics say what waits, and since when" {
    have_media
    receive
    doctor_says ok '1 attachments wait for their copy, 0 files'
    request GET /metrics
    grep -qx 'switchboard_media_copies_waiting{state="queued"} 1' "$body"
    grep -q '^switchboard_media_copies_oldest_age_seconds ' "$body"
    db 'UPDATE media_copy SET created_at = created_at - 4000000'
    doctor_says warn '1 attachments wait'
    erase
    doctor_says ok '0 attachments wait for their copy, 1 files'
    write_config "spool_dir = $SPOOL"
    doctor_says warn 'it is not set, and 0 attachments wait for their copy, 1 files'
    archive_config
    rmdir "$ARCHIVE"
    doctor_says fail 'No such file or directory'
}

@test "a copy that cannot get its name or reach the disk is tried again, and leaves nothing" {
    local call
    for call in renameat mkdirat; do
        have_media
        receive
        rm -rf "${ARCHIVE:?}"/*
        env -u SWITCHBOARD_CONFINE_KILLS strace -f -qq -o "$BATS_TEST_TMPDIR/trace" \
            -e trace="$call" -e inject="$call:error=ENOSPC:when=1" \
            "$OUT/tools/sender" --pid-file "$STACK/failing.pid" >/dev/null 2>&1 3>&- &
        eventually has_failed
        kill "$(cat "$STACK/failing.pid")"
        wait $! || true
        grep -q 'ENOSPC.*INJECTED' "$BATS_TEST_TMPDIR/trace"
        assert_equal "$call $(copy 'state, attempts')" "$call queued|1"
        assert_equal "$(files)" ''
        db 'UPDATE media_copy SET next_attempt_at = 0; DELETE FROM sender_lease'
        start_sender
        eventually copy_is done
        stop_sender
        assert_equal "$(files)" "$(file_of "$hash")"
        db 'DELETE FROM media_copy'
    done
}

has_failed() {
    [[ $(copy 'next_attempt_at > created_at') == 1 ]]
}

@test "a file that cannot be removed is tried again after a minute, not at each look" {
    have_media
    receive
    start_sender
    eventually copy_is done
    stop_sender
    db "UPDATE media_copy SET state = 'removed', next_attempt_at = 0; DELETE FROM sender_lease"
    env -u SWITCHBOARD_CONFINE_KILLS strace -f -qq -o "$BATS_TEST_TMPDIR/trace" \
        -e trace=unlink -e inject=unlink:error=EIO:when=1+ \
        "$OUT/tools/sender" --pid-file "$STACK/failing.pid" >/dev/null 2>&1 3>&- &
    eventually is_delayed
    kill "$(cat "$STACK/failing.pid")"
    wait $! || true
    grep -q 'EIO.*INJECTED' "$BATS_TEST_TMPDIR/trace"
    assert_equal "$(copy state)" removed
    db 'UPDATE media_copy SET next_attempt_at = 0; DELETE FROM sender_lease'
    start_sender
    eventually no_file
    assert_equal "$(db 'SELECT count(*) FROM media_copy')" 0
}

is_delayed() {
    [[ $(copy 'next_attempt_at > 1000000000000') == 1 ]]
}

@test "retention removes the copy with its message" {
    have_media
    receive
    start_sender
    eventually copy_is done
    db 'UPDATE message SET timestamp = 1'
    api PATCH /v2/retention -d '{"messageDays":30}'
    "$OUT/tools/courier" --once >/dev/null 2>&1
    eventually no_file
    api PATCH /v2/retention -d '{"messageDays":null}'
}

# Runs `switchboard archive VERB`, which ends with a status and says: archive VERB STATUS TEXT
archive() {
    run switchboard archive "$1"
    assert_equal "$status: $output" "$2: $3"
}

# bats test_tags=long
@test "archive check finds what a restored backup does not know and what it lacks, and repair mends both" {
    local user kept lost
    have_media
    start_sender
    receive
    eventually copy_is done
    kept=$hash user=$(user_id)
    rm -f "$STACK/backup"
    [[ -n ${SERVER-} ]] || switchboard backup "$STACK/backup" >/dev/null
    have_media
    receive
    eventually copy_is done
    stop_sender
    archive check 0 '2 files: 0 of no message, 0 missing'
    lost=$(file_of "$hash")
    if [[ -n ${SERVER-} ]]; then
        db "DELETE FROM media_copy WHERE sha256 = '$hash'"
    else
        run switchboard restore "$STACK/backup"
        [[ $output == *'`switchboard archive check`'* ]] || fail "$output"
        rm "$DB.before-restore"
    fi
    rm "$ARCHIVE/$(file_of "$kept")"
    mkdir -p "$ARCHIVE/other"
    touch "$ARCHIVE/README" "$ARCHIVE/other/file" "${ARCHIVE}/${lost%/*}/notes" \
        "$ARCHIVE/${lost%/*}/msg_killed.part"
    archive check 1 '2 files: 2 of no message, 1 missing'
    archive repair 0 '2 files: 2 of no message were removed, 1 missing, which are copied again'
    assert_equal "$(files)" "$(printf '%s\n' ./README ./other/file "${lost%/*}/notes" | sort)"
    db 'DELETE FROM sender_lease'
    start_sender
    eventually all_are_done
    archive check 0 '1 files: 0 of no message, 0 missing'
    assert_equal "$(sha256sum <"$ARCHIVE/$(file_of "$kept")")" "$kept  -"
    assert_equal "$(switchboard archive check --json)" \
        '{"files":1,"unknownFiles":0,"missingFiles":0,"isRepaired":false}'
}

@test "archive check sees a file of another size, and repair leaves an archive alone that has no file" {
    local file
    have_media
    start_sender
    receive
    eventually copy_is done
    stop_sender
    file=$ARCHIVE/$(file_of "$hash")
    truncate -s 10 "$file"
    archive check 1 '1 files: 0 of no message, 1 missing'
    mv "$file" "$BATS_TEST_TMPDIR/moved"
    run switchboard archive repair
    assert_equal "$status" 1
    [[ $output == *"$ARCHIVE has no file: is it mounted?"* ]] || fail "$output"
    assert_equal "$(copy state)" 'done'
    rm -r "$ARCHIVE"
    run switchboard archive check
    [[ $status == 1 && $output == *"$ARCHIVE: No such file or directory"* ]] || fail "$output"
    write_config
    run switchboard archive check
    [[ $status == 1 && $output == *'media_archive is not set'* ]] || fail "$output"
}

# What doctor says of the files of copies: doctor_finds STATUS PATTERN
doctor_finds() {
    local found
    found=$(switchboard doctor --json | gojq -r '.[] | select(.check == "archived_media")
        | "\(.status) \(.detail)"') || true
    # shellcheck disable=SC2053 # a pattern
    [[ $found == "$1 "$2 ]] || fail "doctor says: $found"
}

# bats test_tags=long
@test "doctor names a missing file of the archive, and looks at a sample of a large one" {
    local id rows
    have_media
    start_sender
    receive
    eventually copy_is done
    have_media
    receive
    eventually copy_is done
    stop_sender
    doctor_finds ok 'the files of 2 copies are there'
    id=$(copy message_id)
    truncate -s 10 "$ARCHIVE/$(file_of "$hash")"
    doctor_finds fail "the files of 1 of 2 copies in $ARCHIVE are missing *of $id:*archive repair*"
    rm "$ARCHIVE/$(file_of "$hash")"
    doctor_finds fail 'the files of 1 of 2 copies*'
    rows="SELECT 1 AS n UNION ALL SELECT n + 1 FROM rows WHERE n < 3000"
    db "WITH RECURSIVE rows AS ($rows)
        INSERT INTO media_copy (message_id, user_id, account_id, media_id, month, sha256, size,
            state, created_at)
        SELECT 'msg_0' || (100000 + n), user_id, account_id, media_id, month, sha256, size, state,
            1000 FROM media_copy, rows WHERE message_id = '$id'"
    doctor_finds fail 'the files of * of a sample of * copies*'
    mv "$ARCHIVE" "$ARCHIVE.away" # it is not mounted
    mkdir "$ARCHIVE"
    doctor_finds fail 'the files of * of a sample of * copies*is it mounted?*'
    strace -qq -f -o "$BATS_TEST_TMPDIR/opened" -e trace=openat \
        "$OUT/tools/switchboard" doctor >/dev/null || true
    (($(grep -c "$ARCHIVE/" "$BATS_TEST_TMPDIR/opened") <= 1000))
    write_config "spool_dir = $SPOOL"
    [[ -z $(switchboard doctor --json | gojq ".[] | select(.check == \"archived_media\")") ]]
}

@test "archive repair keeps the unfinished file of a copy that still runs" {
    have_media
    receive
    fault '{"match":{"path":"whatsapp_business"},"kind":"delay","ms":600000}'
    start_sender
    eventually is_copying
    archive repair 0 '1 files: 0 of no message were removed, 0 missing, which are copied again'
    sandbox DELETE faults >/dev/null
    eventually copy_is done
    assert_equal "$(files)" "$(file_of "$hash")"
}

# bats test_tags=long
@test "a deleted user's copies stay with its messages, and go with its persons; those of others stay" {
    local mine
    have_media 5000 90
    start_sender
    receive
    eventually copy_is done
    mine=$(file_of "$hash")
    make_user LATE_
    local ACCOUNT=$LATE_ACCOUNT WABA=$LATE_WABA LINE=$LATE_LINE
    from=1668$((1000000 + $(next_number)))
    have_media 5000 90
    receive
    eventually copy_is done
    assert_equal "$(files)" "$(printf '%s\n' "$mine" "$(file_of "$hash")" | sort)"
    switchboard user delete "$LATE_EMAIL" >/dev/null
    switchboard archive check
    erase
    eventually is_alone
    assert_equal "$(files)" "$mine"
}

# A user sends the media, in one way: send_media PATH MEMBERS [option of request...]. Sets `wamid`.
send_media() {
    forget_sent
    api POST "$1" -d "{$2}" "${@:3}"
    [[ $status == 20[02] ]] || fail "$status: $(cat "$body")"
    eventually is_sent
    wamid=$(db "SELECT wamid FROM message m WHERE direction = 'out' AND created_at =
        (SELECT max(created_at) FROM message WHERE direction = 'out')")
}

# The message was sent and stored.
is_sent() {
    [[ $(db 'SELECT count(*) FROM message') != "$before" ]]
}

assert_archived() {
    eventually copy_is done
    [[ -f $ARCHIVE/$(file_of "$hash") ]] || fail "$(files)"
    forget_media
    assert_downloaded
}

# bats test_tags=long
@test "what a user sends is copied too: by the API, later, from the phone's app, and once for many" {
    local before who="\"phoneNumberId\":\"$LINE\",\"to\":\"$from\""
    local path=/v2/messages/send/media
    start_sender
    have_media
    before=$(db 'SELECT count(*) FROM message')
    send_media $path "$who,\"media\":{\"type\":\"image\",\"mediaId\":\"$media\"}"
    eventually copy_is done
    before=$(db 'SELECT count(*) FROM message')
    send_media $path "$who,\"media\":{\"type\":\"image\",\"mediaId\":\"$media\"}"
    assert_archived
    assert_equal "$(copy attempts)" 0 # the file was there
    have_media
    before=$(db 'SELECT count(*) FROM message')
    send_media $path "$who,\"media\":{\"type\":\"image\",\"mediaId\":\"$media\"}" \
        -H 'Prefer: respond-async'
    assert_archived
    have_media
    before=$(db 'SELECT count(*) FROM message')
    send_media "/v26.0/$LINE/messages" "\"messaging_product\":\"whatsapp\",\"to\":\"$from\",
        \"type\":\"image\",\"image\":{\"id\":\"$media\"}"
    assert_archived
    before=$(db 'SELECT count(*) FROM media_copy')
    api POST $path -d "{$who,\"media\":{\"type\":\"image\",\"link\":\"https://files.example/a\"}}"
    assert_success
    assert_equal "$(db 'SELECT count(*) FROM media_copy')" "$before"
    have_media
    wamid=wamid.echo.$(next_number)
    take "$(payload "$(change smb_message_echoes "\"message_echoes\":[{\"from\":\"15550100001\",
        \"to\":\"$from\",\"id\":\"$wamid\",\"timestamp\":\"1780000000\",\"type\":\"image\",
        \"image\":{\"id\":\"$media\",\"mime_type\":\"image/png\"}}]")")"
    assert_archived
}

# A user sends a template whose header has the image: send_header MEMBER [option of request...]
send_header() {
    before=$(db 'SELECT count(*) FROM message')
    send_media "/v26.0/$LINE/messages" "\"messaging_product\":\"whatsapp\",\"to\":\"$from\",
        \"type\":\"template\",\"template\":{\"name\":\"room\",\"language\":{\"code\":\"de\"},
        \"components\":[{\"type\":\"header\",\"parameters\":[
        {\"type\":\"image\",\"image\":{$1}}]}]}" "${@:2}"
}

# bats test_tags=long
@test "the file in the header of a template or interactive message is copied, sent now or later" {
    local before id
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[{\"id\":\"71\",
        \"name\":\"room\",\"language\":\"de\",\"status\":\"APPROVED\",\"category\":\"UTILITY\",
        \"components\":[{\"type\":\"HEADER\",\"format\":\"IMAGE\"},
        {\"type\":\"BODY\",\"text\":\"x\"}]}]}" >/dev/null
    start_sender
    have_media
    send_header "\"id\":\"$media\""
    assert_archived
    id=$(db "SELECT id FROM message WHERE wamid = '$wamid'")
    run switchboard contact export "$(db "SELECT id FROM contact WHERE phone = '$from'")"
    id=$(gojq -r --arg id "$id" '.messages[] | select(.id == $id) | .media.id' <<<"$output")
    assert_equal "$id" "$media"
    have_media
    send_header "\"id\":\"$media\"" -H 'Prefer: respond-async'
    assert_archived
    have_media
    before=$(db 'SELECT count(*) FROM message')
    send_media "/v26.0/$LINE/messages" "\"messaging_product\":\"whatsapp\",\"to\":\"$from\",
        \"type\":\"interactive\",\"interactive\":{\"type\":\"button\",
        \"header\":{\"type\":\"image\",\"image\":{\"id\":\"$media\"}},
        \"body\":{\"text\":\"B\"},\"action\":{\"buttons\":[
        {\"type\":\"reply\",\"reply\":{\"id\":\"i\",\"title\":\"T\"}}]}}"
    assert_archived
    # what is sent by a link is not: the sender calls no URL of a user
    id=$(db 'SELECT count(*) FROM media_copy')
    send_header '"link":"https://files.example/a.png"'
    assert_equal "$(db 'SELECT count(*) FROM media_copy')" "$id"
}

@test "an export of the person names the copies of the files" {
    local id
    have_media
    start_sender
    receive
    eventually copy_is done
    stop_sender
    have_media 10
    receive
    id=$(db "SELECT id FROM contact WHERE phone = '$from'")
    switchboard contact export "$id" |
        gojq -c '.messages[].copies[] | [.state, .size, .file]' >"$BATS_TEST_TMPDIR/copies"
    assert_equal "$(cat "$BATS_TEST_TMPDIR/copies")" "[\"done\",70000,\"$(files | cut -c 3-)\"]
[\"queued\",null,null]"
}

@test "a user's sent file goes with the erasure of the person who got it" {
    local before who="\"phoneNumberId\":\"$LINE\",\"to\":\"$from\""
    start_sender
    have_media
    before=$(db 'SELECT count(*) FROM message')
    send_media /v2/messages/send/media "$who,\"media\":{\"type\":\"image\",\"mediaId\":\"$media\"}"
    eventually copy_is done
    erase
    eventually no_file
}

@test "the media object of a copied file is answered in the platform's form after the platform forgot it" {
    local url object first
    archive_config 'public_url = https://gw.example.org'
    have_media
    receive
    start_sender
    eventually copy_is done
    api GET "/v26.0/$media"
    object=$(gojq -c 'del(.url)' "$body")
    forget_media
    api GET "/v26.0/$media"
    assert_status 200
    assert_equal "$(gojq -c 'del(.url)' "$body")" "$object"
    url=$(gojq -r .url "$body")
    [[ $url == "https://gw.example.org/graph/media/$media?"* ]] || fail "$url"
    request GET "${url#https://gw.example.org}"
    assert_status 200
    assert_body_is "@$BATS_TEST_TMPDIR/content"
    api GET "/v26.0/$media?fields=mime_type,file_size"
    assert_equal "$(gojq -c . "$body")" \
        "{\"file_size\":70000,\"id\":\"$media\",\"mime_type\":\"image/png\"}"
    first=$media
    api GET "/v26.0/?ids=$first&fields=sha256"
    assert_equal "$(gojq -c . "$body")" "{\"$first\":{\"id\":\"$first\",\"sha256\":\"$hash\"}}"
    request GET "/v26.0/$media" --as "$OTHER_TOKEN"
    assert_status 400
    archive_config
    api GET "/v26.0/$media"
    assert_status 500
}

@test "without a copy the platform's refusal of a media object is passed on" {
    have_media
    receive
    forget_media
    api GET "/v26.0/$media"
    assert_status 400
    assert_equal "$(gojq -c '[.error.code, .error.error_subcode]' "$body")" '[100,33]'
}

# The person sends the media, and it is copied.
receive_copied() {
    receive
    eventually copy_is done
}

# Prints media.file and media.missing of each message of an export: media_of FILE...
media_of() {
    gojq -r '(.messages[]? // .) | .media // empty
        | [.id, (.file // "-"), (.missing // "-")] | join(" ")' "$@"
}

# Makes messages of one person, all with a file: copied, the same again, another, lost, damaged,
# queued, gone, and one from before the archive. Sets `person`, `expected` (what an export says of
# each) and `names` (of the files that it writes).
make_files() {
    local damaged before
    ORIGINALS=$BATS_TEST_TMPDIR/originals
    mkdir "$ORIGINALS"
    start_sender
    have_media 300000
    receive_copied
    names=$hash.png expected="$media $hash.png -"
    cp "$BATS_TEST_TMPDIR/content" "$ORIGINALS/$hash.png"
    receive_copied
    expected+=$'\n'"$media $hash.png -"
    have_media 1000
    receive_copied
    names=$(printf '%s\n' "$names" "$hash.png" | sort)
    expected+=$'\n'"$media $hash.png -"
    cp "$BATS_TEST_TMPDIR/content" "$ORIGINALS/$hash.png"
    have_media 2000
    receive_copied
    lost=$hash
    mv "$ARCHIVE/$(file_of "$hash")" "$BATS_TEST_TMPDIR/lost"
    expected+=$'\n'"$media - the archive has lost it: \`switchboard archive repair\`"
    have_media 3000
    receive_copied
    damaged=$ARCHIVE/$(file_of "$hash")
    printf x | dd of="$damaged" bs=1 seek=1500 conv=notrunc status=none
    expected+=$'\n'"$media - the file of the archive has other bytes than were copied"
    stop_sender
    have_media 10
    receive
    expected+=$'\n'"$media - it is not copied yet"
    have_media 10
    receive
    db "UPDATE media_copy SET state = 'gone', next_attempt_at = NULL WHERE media_id = '$media'"
    expected+=$'\n'"$media - the platform did not have it any more when it was to be copied"
    have_media 10
    receive
    db "DELETE FROM media_copy WHERE media_id = '$media'"
    expected+=$'\n'"$media - it was not to be copied: media_archive was not set"
    db "UPDATE message SET timestamp = created_at WHERE thread_id IN (SELECT t.id FROM thread t
        JOIN contact c ON c.id = t.contact_id WHERE c.phone = '$from')"
    person=$(db "SELECT id FROM contact WHERE phone = '$from'")
}

# The directory has these files with their bytes, and nothing else: assert_files DIRECTORY
assert_files() {
    assert_equal "$(ls -A "$1")" "$names"
    diff -r "$ORIGINALS" "$1"
    assert_equal "$(stat -c %a "$1" "$1"/* | sort -u | xargs)" '600 700'
}

# bats test_tags=long
@test "an export of the person with --media has the files, and names the missing ones with their cause" {
    local person names expected lost dir=$BATS_TEST_TMPDIR/media out=$BATS_TEST_TMPDIR/export.json
    make_files
    switchboard contact export "$person" --media "$dir" >"$out" 2>"$BATS_TEST_TMPDIR/err"
    assert_equal "$(gojq .isComplete "$out")" true
    assert_equal "$(media_of "$out")" "$expected"
    assert_files "$dir"
    assert_equal "$(grep -c '^switchboard: warning: msg_' "$BATS_TEST_TMPDIR/err")" 5
    grep -q "^switchboard: warning: msg_[^ ]*: the file $media is missing: it was not to be" \
        "$BATS_TEST_TMPDIR/err"
    # without it files are only named
    switchboard contact export "$person" >"$out"
    assert_equal "$(gojq -c '[.messages[].media | keys] | unique' "$out")" '[["id","path"]]'
    # a repetition copies what was lost or damaged, and nothing that is there
    mv "$BATS_TEST_TMPDIR/lost" "$ARCHIVE/$(file_of "$lost")"
    cp "$ARCHIVE/$(file_of "$lost")" "$ORIGINALS/$lost.png"
    names=$(ls "$ORIGINALS")
    ls -i "$dir" >"$BATS_TEST_TMPDIR/before"
    switchboard contact export "$person" --media "$dir" >"$out" 2>/dev/null
    assert_files "$dir"
    ls -i "$dir" | grep -v "$lost" | diff - "$BATS_TEST_TMPDIR/before"
    printf x | dd of="$dir/$lost.png" bs=1 seek=100 conv=notrunc status=none
    switchboard contact export "$person" --media "$dir" >"$out" 2>/dev/null
    assert_files "$dir"
}

# bats test_tags=long
@test "an export with --media needs an archive and a directory that can be written" {
    local person names expected lost
    make_files
    touch "$BATS_TEST_TMPDIR/file"
    run switchboard contact export "$person" --media "$BATS_TEST_TMPDIR/file"
    assert_equal "$status $output" "1 switchboard: $BATS_TEST_TMPDIR/file: Not a directory"
    run switchboard contact export "$person" --media "$BATS_TEST_TMPDIR/none/there"
    assert_equal "$status ${output##*/}" '1 there: No such file or directory'
    run env -u SWITCHBOARD_CONFINE_KILLS strace -qq -f -o /dev/null -e trace=fsync \
        -e inject=fsync:error=ENOSPC \
        "$OUT/tools/switchboard" contact export "$person" --media "$BATS_TEST_TMPDIR/full"
    assert_equal "$status ${output##*/}" '1 full: No space left on device'
    assert_equal "$(ls -A "$BATS_TEST_TMPDIR/full")" ''
    write_config "spool_dir = $SPOOL"
    run switchboard contact export "$person" --media "$BATS_TEST_TMPDIR/media"
    assert_equal "$status $output" '1 switchboard: media_archive is not set: no file was copied'
    [[ ! -e $BATS_TEST_TMPDIR/media ]] || fail 'the directory was made'
}

# bats test_tags=long
@test "an export with --media that is killed at any point is completed by the next one" {
    local person names expected lost dir=$BATS_TEST_TMPDIR/media out=$BATS_TEST_TMPDIR/out
    local point=1 code
    make_files
    while :; do
        code=0
        env ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"} \
            strace -qq -f -o /dev/null -e trace=write,fsync,renameat \
            -e inject="write,fsync,renameat:signal=KILL:when=$point" \
            "$OUT/tools/switchboard" contact export "$person" --media "$dir" >"$out" 2>&1 ||
            code=$?
        ((code == 137)) || break
        switchboard contact export "$person" --media "$dir" >"$out" 2>/dev/null
        assert_equal "$point $(media_of "$out")" "$point $expected"
        assert_files "$dir"
        rm -r "$dir"
        ((point++))
    done
    ((code == 0 && point > 10)) || fail "$point points, then $code"
}

# bats test_tags=long
@test "an export of a user with --media has the files of all persons, and a second run completes it" {
    local person names expected lost dir=$BATS_TEST_TMPDIR/all point=1 code whole end
    db 'DELETE FROM message'
    make_files
    end='rows in 12 files; the files of 3 messages, those of 5 more are missing'
    run switchboard user export "$EMAIL" "$dir" --media "$dir/media"
    assert_equal "$status" 0
    [[ ${lines[-1]} == "$dir: "*" $end" ]] || fail "$output"
    assert_equal "$(media_of "$dir/messages.jsonl")" "$expected"
    assert_files "$dir/media"
    whole=$(cat "$dir/messages.jsonl")
    rm -r "$dir"
    while :; do
        code=0
        env ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"} \
            strace -qq -f -o /dev/null -e trace=fsync -e inject="fsync:signal=KILL:when=$point" \
            "$OUT/tools/switchboard" user export "$EMAIL" "$dir" --media "$dir/media" \
            >/dev/null 2>&1 || code=$?
        ((code == 137)) || break
        run switchboard user export "$EMAIL" "$dir" --media "$dir/media"
        assert_equal "$point: $status" "$point: 0"
        [[ ${lines[-1]} == *" $end" ]] || fail "$point: $output"
        assert_equal "$(cat "$dir/messages.jsonl")" "$whole"
        assert_files "$dir/media"
        rm -r "$dir"
        point=$((point + 3))
    done
    ((code == 0 && point > 10)) || fail "$point points, then $code"
    # one that was begun without, or with another directory, does not go on
    sed -i 's/"isComplete":true,"file":12/"isComplete":false,"file":7/' "$dir/progress.json"
    run switchboard user export "$EMAIL" "$dir" --media "$dir/other"
    assert_equal "$status $output" "1 switchboard: $dir is of an export with --media $dir/media"
    run switchboard user export "$EMAIL" "$dir"
    assert_equal "$status $output" "1 switchboard: $dir is of an export with --media $dir/media"
}

# bats test_tags=long
@test "an export with --media takes as much memory for a large file as for a small one" {
    local small large
    start_sender
    have_media 1000
    receive_copied
    small=$(peak_of_export)
    have_media 60000000
    receive_copied
    large=$(peak_of_export)
    ((large < small + 2000)) || fail "$small KB, then $large KB"
    assert_equal "$(sha256sum <"$BATS_TEST_TMPDIR/media/$hash.png")" "$hash  -"
}

peak_of_export() {
    "$HELPERS/peak" "$OUT/tools/switchboard" contact export \
        "$(db "SELECT id FROM contact WHERE phone = '$from'")" --media "$BATS_TEST_TMPDIR/media"
}
