#!/usr/bin/env bats
# The sender, killed or given an error at every system call while it copies an attachment into the
# archive of media, or removes a copy: the file is whole or absent, its row says which, and the next
# sender finishes the work and leaves no temporary file. Of an erased person, or an old message, no
# file stays wherever the sender or the courier was killed.
# transports: direct
# starts first
# bats file_tags=long
load helpers/all
load helpers/sender
load helpers/media
load helpers/webhook
load helpers/sweep

setup_file() {
    # strace injects an error by an invalid call, which the filter kills
    unset SWITCHBOARD_CONFINE_KILLS
    start_media_stack
    export ARCHIVE=$STACK/archive wamid=wamid.swept
    mkdir "$ARCHIVE"
    write_config "spool_dir = $SPOOL" "media_archive = $ARCHIVE"
    sandbox POST media >/dev/null \
        "{\"wabaId\":\"$WABA\",\"id\":\"7001\",\"mimeType\":\"image/png\",\"size\":150000}"
    take "$(payload "$(inbound "$wamid" 16660000001 '' \
        '"type":"image","image":{"id":"7001","mime_type":"image/png"}')")"
    content=$(sandbox GET media/7001/content | sha256sum)
    month=$(db 'SELECT month FROM media_copy')
    place=./$(db 'SELECT user_id FROM media_copy')/$month
    contact=$(db 'SELECT id FROM contact')
    export hash=${content%% *} month place contact
    keep_database
}

setup() {
    :
}

teardown() {
    stop_senders
}

files() {
    (cd "$ARCHIVE" && find . -type f | sort)
}

row() {
    db "SELECT $1 FROM media_copy"
}

begin() { # SQL of columns
    rm -rf "${ARCHIVE:?}"/*
    db "DELETE FROM sender_lease;
        UPDATE media_copy SET attempts = 0, month = '$month', $1"
}

begin_copy() {
    begin "state = 'queued', sha256 = NULL, size = NULL, next_attempt_at = 0"
}

begin_removal() {
    db "INSERT INTO media_copy (message_id, user_id, account_id, media_id, month, state, created_at)
        SELECT m.id, a.user_id, a.id, '7001', '$month', 'removed', 1
        FROM message m JOIN line l ON l.id = m.line_id JOIN account a ON a.id = l.account_id
        WHERE m.wamid = '$wamid' ON CONFLICT (message_id) DO NOTHING"
    begin "state = 'removed', sha256 = '$hash', next_attempt_at = 0"
    mkdir -p "$ARCHIVE/$place"
    sandbox GET media/7001/content >"$ARCHIVE/$place/$hash"
    : >"$ARCHIVE/$place/$(row message_id).part"
}

# The sender is done with the row in this state, or will try it again.
has_passed() {
    [[ $(db "SELECT count(*) FROM media_copy WHERE state = '$1' AND next_attempt_at = 0") == 0 ]]
}

# Runs a sender until it is done with the row: run_until STATE [COMMAND...]
run_until() {
    local pid=$STACK/swept.pid job
    stderr=$STACK/stderr code=0
    rm -f "$pid"
    { # suppresses the shell's message about a killed process
        "${@:2}" "$OUT/tools/sender" --pid-file "$pid" >"$stderr" 2>&1 3>&- &
        job=$!
        until { [[ -s $pid ]] && has_passed "$1"; } || is_gone "$job"; do sleep 0.02; done
        is_gone "$job" || kill "$(cat "$pid")" || true
        wait "$job" || code=$?
    } 2>/dev/null
}

run_copy() {
    run_until queued "$@"
}

run_removal() {
    run_until removed "$@"
}

# The courier deletes the message of an erased person, or an old one, whose file was copied.
begin_courier() {
    restore
    begin "state = 'done', sha256 = '$hash', size = 150000, next_attempt_at = NULL"
    mkdir -p "$ARCHIVE/$place"
    sandbox GET media/7001/content >"$ARCHIVE/$place/$hash"
    if [[ $subject == erasure ]]; then
        switchboard contact erase "$contact" >/dev/null
    else
        db 'UPDATE message SET timestamp = 1'
        switchboard retention set "$EMAIL" --messages 30 >/dev/null
    fi
}

run_courier() { # [COMMAND...]
    stderr=$STACK/stderr code=0
    { # suppresses the shell's message about a killed process
        "$@" "$OUT/tools/courier" --once >"$stderr" 2>&1 || code=$?
    } 2>/dev/null
}

# A person is erased after the sender was killed.
begin_erased() {
    restore
    begin_copy
}

run_erased() {
    run_until queued "$@"
}

# Calls that have no effect outside the process are left out, and the waiting for the end.
choose() {
    grep -Ev '^(brk|futex|rt_sigaction|fcntl|poll|lseek|mmap|munmap|getrandom|unlinkat) '
}

choose_copy() {
    choose
}

choose_removal() {
    choose
}

choose_courier() {
    choose
}

choose_erased() {
    choose
}

assert_ended() { # WHAT
    case $fault in
    KILL) [[ $code == 137 || $code == 0 ]] ;; # 0: this run had fewer such calls
    *) [[ $code == [01] || $code == 134 ]] ;;
    esac || fail "$1: status $code: $(cat "$stderr")"
}

# Each file with a name has all of its bytes; a row that is done has its file.
assert_whole() { # WHAT
    local found
    found=$(files | grep -v '\.part$' || true)
    case $found in
    '') [[ $(row state) != 'done' ]] || fail "$1: the row is done without a file" ;;
    "$place/$hash") assert_equal "$1: $(sha256sum <"$ARCHIVE/$place/$hash")" "$1: $hash  -" ;;
    *) fail "$1: $found" ;;
    esac
}

check_copy() { # WHAT
    assert_ended "$1"
    assert_whole "$1"
    count "$(row state)"
    db 'DELETE FROM sender_lease;
        UPDATE media_copy SET next_attempt_at = 0 WHERE next_attempt_at IS NOT NULL'
    run_until queued
    assert_equal "$1: $(row "state || ' ' || sha256 || ' ' || size")" "$1: done $hash 150000"
    assert_equal "$1: $(files)" "$1: $place/$hash"
}

check_removal() { # WHAT
    assert_ended "$1"
    assert_whole "$1"
    count "$(row "CASE count(*) WHEN 0 THEN 'gone' ELSE 'left' END")"
    db 'DELETE FROM sender_lease; UPDATE media_copy SET next_attempt_at = 0'
    run_until removed
    assert_equal "$1: $(row 'count(*)') rows $(files)" "$1: 0 rows "
}

# The next courier and the next sender leave nothing of the message.
assert_nothing_stays() { # WHAT
    run_courier
    db 'DELETE FROM sender_lease'
    run_until removed
    assert_equal "$1: $(row 'count(*)') rows $(db 'SELECT count(*) FROM message') $(files)" \
        "$1: 0 rows 0 "
}

check_courier() { # WHAT
    assert_ended "$1"
    assert_whole "$1"
    count "$(row state)"
    assert_nothing_stays "$1"
}

check_erased() { # WHAT
    assert_ended "$1"
    assert_whole "$1"
    count "$(row state)"
    switchboard contact erase "$contact" >/dev/null
    assert_nothing_stays "$1"
}

@test "a sender that is killed or given an error at any point of a copy: the file is whole or absent, and copied next" {
    sweep_rows copy <<'END'
copy KILL 250 connect
copy errors 250 mkdirat
END
}

@test "a sender that is killed or given an error at any point of a removal: the file is there or gone, and gone next" {
    sweep_rows removal <<'END'
removal KILL 150 signalfd4
removal errors 150 signalfd4
END
}

@test "no file of an erased person or an old message stays, wherever the courier was killed" {
    sweep_rows courier <<'END'
erasure KILL 100 signalfd4
retention KILL 100 signalfd4
END
}

@test "no file of a person stays who is erased after the sender was killed at any point of a copy" {
    sweep erased erased KILL 150 connect
}
