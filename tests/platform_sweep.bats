#!/usr/bin/env bats
# What /platform/webhook acknowledges is stored, whatever dies or fails meanwhile; what it does not
# acknowledge is stored whole or not at all, and sent again it is there once (spec 6).
# transports: direct
# starts first
# shellcheck disable=SC2086  # the names of people ($P1, $B1, ...) are single words
load helpers/all
load helpers/webhook

# One payload with something of everything, and the environment and the database that each round
# begins with.
setup_file() {
    start_stack
    make_user
    api POST /v2/webhooks/config \
        -d '{"webhookUrl":"http://127.0.0.1:9/hook","webhookCode":"test-code"}'
    export BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
    make_place
    export PAYLOAD=$STACK/payload VARIABLES=$STACK/variables FRESH=$STACK/fresh.db
    mixed_payload >"$PAYLOAD"
    note_variables
    sqlite3 "$DB" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    cp "$DB" "$FRESH"
    send
    answered 200
    export EMPTY COMPLETE
    COMPLETE=$(content "$DB")
    EMPTY=$(content "$FRESH")
    [[ $EMPTY != "$COMPLETE" ]]
}

mixed_payload() {
    payload "$(inbound wamid.1 $P1 '')" "$(inbound wamid.2 '' $B1)" \
        "$(inbound wamid.3 $P1 $B1 '"type":"text","referral":{"source_type":"ad"}')" \
        "$(status_of wamid.4 delivered "$(to_both $P1 $B1)")" \
        "$(system wamid.5 $P1 "\"wa_id\":\"$P2\",\"user_id\":\"$B2\",\"previous_user_id\":\"$B1\",\"type\":\"user_changed_number\"")" \
        "$(inbound wamid.6 $P2 $B2 '"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":"{}"}}')" \
        "$(account_change message_template_status_update '{"event":"APPROVED","message_template_id":1,"message_template_name":"t","message_template_language":"en"}')"
}

# The environment of a CGI that is sent the payload, as `request` makes it.
note_variables() {
    local stand_in=$STACK/stand-in
    unset SWITCHBOARD_CONFINE_KILLS # a call that strace fails is none that the filter knows
    mkdir -p "$stand_in/cgi-bin"
    printf '#!/bin/bash\nenv -0 >%q\nexec cat >/dev/null\n' "$VARIABLES" >"$stand_in/cgi-bin/platform"
    chmod +x "$stand_in/cgi-bin/platform"
    OUT=$stand_in deliver "@$PAYLOAD"
}

# Sends the payload to the program under the command given, if any; $answer and $code are what came.
send() {
    local variables
    mapfile -d '' variables <"$VARIABLES"
    answer=$STACK/answer code=0
    env -i "${variables[@]}" "$@" "$OUT/cgi-bin/platform" <"$PAYLOAD" >"$answer" 2>"$STACK/error" ||
        code=$?
}

# strace, under which leaks cannot be looked for.
traced() {
    send env ${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"} strace -qq "$@"
}

answered() {
    [[ $(head -n 1 "$answer") == "Status: $1 "* ]]
}

# Begins anew, as if nothing had been sent.
restore() {
    rm -f "$DB" "$DB-wal" "$DB-shm"
    cp "$FRESH" "$DB"
}

# All that a database holds of the payload, in words that are the same for every round.
content() {
    sqlite3 -batch -noheader -cmd '.timeout 5000' "$1" "
        SELECT wamid, direction, m.type, m.status, phone, bsuid FROM message m
            JOIN thread t ON t.id = thread_id JOIN contact c ON c.id = contact_id ORDER BY 1;
        SELECT 'status', wamid, s.status FROM message_status s JOIN message m ON m.id = message_id;
        SELECT 'contact', phone, bsuid FROM contact ORDER BY 2;
        SELECT 'event', sequence, type, state, json_extract(CAST(body AS TEXT), '\$.data.source'),
            json_extract(CAST(body AS TEXT), '\$.data.message.id') FROM event ORDER BY 2;
        SELECT 'user', event_sequence FROM user;
        SELECT 'lead', source FROM lead ORDER BY 2;
        SELECT 'merge', reason, merged_id IS NULL FROM contact_merge ORDER BY 2, 3;
        SELECT 'alias', identity FROM contact_alias ORDER BY 2;
        SELECT 'thread', count(*) FROM thread;
        SELECT 'flow', count(*) FROM flow_response;
        SELECT 'template', name, status FROM template;
        SELECT 'update', field FROM platform_update ORDER BY 2;
        SELECT 'integrity', * FROM pragma_integrity_check;
        SELECT 'keys', count(*) FROM pragma_foreign_key_check"
}

# After a round: the promise was kept, and the platform's next try makes it whole. WHAT was done.
check_round() {
    local found
    found=$(content "$DB")
    if answered 200; then
        assert_equal "$found" "$COMPLETE" || fail "$1: acknowledged, but not stored"
        acknowledged=$((acknowledged + 1))
    else
        [[ $found == "$EMPTY" || $found == "$COMPLETE" ]] || fail "$1: half stored: $found"
        [[ $found == "$EMPTY" ]] || stored_unsaid=$((stored_unsaid + 1))
    fi
    send
    answered 200 || fail "$1: refused when sent again: $(cat "$answer")"
    assert_equal "$(content "$DB")" "$COMPLETE" || fail "$1: not once after being sent again"
}

# The calls that an undisturbed run makes, from the first one named FIRST on: lines `NAME N`, the N-th
# call of that name. list_calls FIRST
list_calls() {
    restore
    traced -o "$STACK/trace"
    answered 200
    awk -v first="$1" '{ sub(/\(.*/, ""); count[$0]++ } $0 == first { begun = 1 } begun { print $0, count[$0] }' \
        "$STACK/trace"
}

@test "killed at any system call: what was acknowledged is stored, what was not is so once when sent again" {
    local calls name count number points=0 killed=0 acknowledged=0 stored_unsaid=0 most=${SWEEP_POINTS:-600}
    mapfile -t calls < <(list_calls brk)
    ((${#calls[@]} > 80)) || fail "only ${#calls[@]} calls were seen"
    for ((number = 0; number < ${#calls[@]}; number += 1 + ${#calls[@]} / most)); do
        read -r name count <<<"${calls[number]}"
        restore
        traced -o /dev/null -e "trace=$name" -e "inject=$name:signal=KILL:when=$count"
        [[ $code == 137 || $code == 0 ]] || fail "$name $count: status $code: $(cat "$STACK/error")"
        points=$((points + 1)) killed=$((killed + (code == 137)))
        check_round "killed at $name $count"
    done
    printf '# sweep: platform killed at %d of %d system calls: %d had acknowledged, %d had stored without saying so, none lost or doubled\n' \
        "$killed" "${#calls[@]}" "$acknowledged" "$stored_unsaid" >&3
    ((killed > points * 2 / 3)) || fail "only $killed kills"
    ((acknowledged > 0 && acknowledged < killed))
}

# What can go wrong at a call.
errors_of() {
    case $1 in
    openat) echo EMFILE ENOMEM EIO ENOSPC EINTR ;;
    pread64 | read) echo EIO EINTR ;;
    pwrite64 | write | writev | ftruncate | fallocate) echo ENOSPC EIO EINTR ;;
    fdatasync | fsync) echo EIO ENOSPC ;;
    fcntl) echo EIO ENOLCK EINTR ;;
    mmap | mremap) [[ $OUT != "$root" ]] || echo ENOMEM ;; # a sanitizer ends with its memory
    newfstatat | fstat | stat | unlink | unlinkat) echo EIO ENOMEM ;;
    socket) echo EMFILE ENOMEM ;;
    sendto) echo EIO EINTR ;;
    getrandom) echo EINTR ;;
    esac
}

# An answer that makes the platform come again, or none because the process gave up.
assert_refusal() { # WHAT NAME
    local said
    said=$(head -n 1 "$answer" | tr -d '\r')
    case "$code $said" in
    '0 Status: 500 '* | '0 Status: 503 '* | '1 Status: 500 '* | '134 Status: 500 '*) ;;
    '0 Status: 400 '*) [[ $2 == read ]] || fail "$1: $said" ;; # a body that could not be read
    '0 ') [[ $2 == writev ]] || fail "$1: no answer" ;;
    '134 ') [[ $(<"$STACK/error") == 'switchboard: '* ]] || fail "$1: $(cat "$STACK/error")" ;;
    *) fail "$1: status $code, $said: $(cat "$STACK/error")" ;;
    esac
    [[ ! -s $answer ]] ||
        sed '1,/^\r*$/d' "$answer" | jq -e '.success == false' >/dev/null || fail "$1: $(cat "$answer")"
}

@test "an error at any system call: 200 and stored, or refused and stored once when sent again" {
    local calls points=() name count error number failed=0 acknowledged=0 stored_unsaid=0
    local most=${SWEEP_POINTS:-400}
    # before this one the C library starts, which has no way to give up
    mapfile -t calls < <(list_calls getpeername)
    for number in "${!calls[@]}"; do
        read -r name count <<<"${calls[number]}"
        for error in $(errors_of "$name"); do
            points+=("$name $count $error")
        done
    done
    ((${#points[@]} > 100)) || fail "only ${#points[@]} points"
    for ((number = 0; number < ${#points[@]}; number += 1 + ${#points[@]} / most)); do
        read -r name count error <<<"${points[number]}"
        restore
        traced -o /dev/null -e "trace=$name" -e "inject=$name:error=$error:when=$count"
        answered 200 || assert_refusal "$error at $name $count" "$name"
        answered 200 || failed=$((failed + 1))
        check_round "$error at $name $count"
    done
    printf '# sweep: platform met %d errors: %d times it acknowledged, %d times it refused (%d of them stored), none lost or doubled\n' \
        "$((acknowledged + failed))" "$acknowledged" "$failed" "$stored_unsaid" >&3
    ((failed > 10 && acknowledged > 10))
}

# With so many KB left, whatever the limit is made of, the payload is taken or refused.
round_with_room() { # WHAT
    if ! answered 200; then
        [[ $(head -n 1 "$answer") == 'Status: 503 '* ]] || fail "$1: $(cat "$answer" "$STACK/error")"
        grep -q '^Retry-After: ' "$answer"
        refused=$((refused + 1))
    fi
    [[ -s $answer ]]
}

@test "with any amount of memory: 200 and stored, or refused and stored once when sent again" {
    local kilobytes refused=0 acknowledged=0 stored_unsaid=0 is_begun=''
    for kilobytes in {1000..6000..100} 8000 16000; do
        restore
        send env -u ASAN_OPTIONS -u UBSAN_OPTIONS bash -c "ulimit -v $kilobytes; exec \"\$@\"" limited
        # before it can say so much it ends in the C library's start
        [[ ! -s $answer ]] && ! grep -q ^switchboard: "$STACK/error" || is_begun=1
        answered 200 || refused=$((refused + 1))
        answered 200 || [[ -z $is_begun ]] || assert_refusal "$kilobytes KB of memory" memory
        check_round "$kilobytes KB of memory"
    done
    printf '# sweep: platform short of memory: %d times refused, %d times acknowledged\n' \
        "$refused" "$acknowledged" >&3
    ((refused > 2))
}

@test "a disk with any room left: 200 and stored, or 503 and nothing, and taken when there is room again" {
    local kilobytes refused=0 acknowledged=0 stored_unsaid=0 found
    declare -fx send answered content restore fail assert_equal check_round round_with_room \
        disk_rounds
    export OUT STACK
    # a disk of its own where one can be had, else files that may not grow
    if unshare -Urm mount -t tmpfs none "$STACK" 2>/dev/null; then
        found=$(unshare -Urm bash -euo pipefail -c disk_rounds)
    elif unshare -m mount -t tmpfs none "$STACK" 2>/dev/null; then
        found=$(unshare -m bash -euo pipefail -c disk_rounds)
    else
        found='0 0'
    fi
    read -r refused acknowledged <<<"$found"
    for kilobytes in 0 32 64 128 256 300 320 340 360 400 500; do
        restore
        send bash -c "trap '' XFSZ; ulimit -f $kilobytes; exec \"\$@\"" limited
        if [[ -s $answer ]]; then
            round_with_room "files of at most $kilobytes KB"
        fi
        check_round "files of at most $kilobytes KB"
    done
    printf '# sweep: platform on a full disk: %d times refused, %d times acknowledged\n' \
        "$refused" "$acknowledged" >&3
    ((refused > 1 && acknowledged > 1))
}

# In a mount namespace: fills a small disk but for some KB, sends, makes room, sends again.
disk_rounds() {
    local disk=$STACK/disk kilobytes refused=0 acknowledged=0 stored_unsaid=0
    mkdir -p "$disk"
    mount -t tmpfs -o size=2m none "$disk"
    DB=$disk/switchboard.db
    sed "s|^database = .*|database = $DB|" "$STACK/switchboard.conf" >"$STACK/disk.conf"
    sed -z "s|^SWITCHBOARD_CONFIG=.*|SWITCHBOARD_CONFIG=$STACK/disk.conf|" "$VARIABLES" >"$STACK/disk.variables"
    VARIABLES=$STACK/disk.variables
    for kilobytes in 0 4 8 32 36 40 64 96 128 160 192 256 320 400; do
        restore
        head -c $(($(stat -f -c '%a * %S' "$disk") - kilobytes * 1024)) /dev/zero >"$disk/ballast"
        send
        rm "$disk/ballast"
        round_with_room "$kilobytes KB left"
        check_round "$kilobytes KB left"
    done
    printf '%d %d\n' "$refused" "$acknowledged"
}
