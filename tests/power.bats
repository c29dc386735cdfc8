#!/usr/bin/env bats
# A power failure of the host: what was answered is in the database that the disk has then. The
# writes and syncs of real processes under load are recorded (tests/power/recorder.c); from the
# record the files are made that the disk has at random moments, without part of what was not
# synced. 40 moments over each transport, in `make test-full` 500.
# SQLite only: it is about the files of SQLite
# transports: cgi fcgi
# needs: power
# starts first
# bats file_tags=long
load helpers/all
load helpers/courier
load helpers/webhook

workers=4 requests=25 moments=40
[[ -z ${TEST_FULL-} ]] || requests=100 moments=500

setup_file() {
    export POWER=${HELPERS%/helpers}/power
    [[ $OUT != *sanitize* ]] || return 0
    start_stack
    make_user
    start_receiver A
    request POST /v2/webhooks/config --as "$TOKEN" \
        -d "{\"webhookUrl\":\"$A_URL\",\"webhookCode\":\"secret of A\"}"
    assert_success
    record_traffic
}

teardown_file() {
    [[ -z ${STACK-} ]] || { stop_couriers && stop_receivers && stop_stack; }
}

setup() {
    [[ $OUT != *sanitize* ]] || skip 'a sanitizer replaces the functions that the recorder replaces'
}

# Starts Apache, the pools and a courier with the recorder, and has clients make requests. Sets
# RECORDED, a record, and BEGINNING, the database when it began.
record_traffic() {
    local worker
    export RECORDED=$STACK/recorded BEGINNING=$STACK/beginning
    "$root/tools/private-apache" stop --dir "$STACK/apache"
    cp "$DB" "$BEGINNING"
    [[ ! -e $DB-wal ]] || cp "$DB-wal" "$BEGINNING-wal"
    mark begin
    make_recorded_home
    start_apache --extra "$STACK/recorder.conf" --home "$STACK/home"
    OUT=$POWER recorded start_courier
    for ((worker = 1; worker <= workers; worker++)); do
        (work "$worker") >"$STACK/work.$worker.log" 2>&1 3>&- &
        printf '%s\n' $! >>"$STACK/workers"
    done
    while read -r worker; do
        wait "$worker"
    done <"$STACK/workers"
    eventually none_is_pending
    stop_couriers
    "$root/tools/private-apache" stop --dir "$STACK/apache"
}

# The programs of the tree, with pools that start theirs with the recorder, and the directives for
# plain CGI programs: Apache and the pools get none of the variables of this shell.
make_recorded_home() {
    mkdir -p "$STACK/home/tools"
    cp -Rs "$OUT/cgi-bin" "$STACK/home/"
    ln -sf "$POWER"/cgi-bin/{messages,platform} "$STACK/home/cgi-bin/"
    ln -s "$OUT/htdocs" "$OUT/apache.conf" "$STACK/home/"
    cat >"$STACK/home/tools/pool" <<END
#!/bin/sh
LD_PRELOAD=$POWER/recorder.so POWER_RECORD=$RECORDED POWER_DATABASE=$DB exec $OUT/tools/pool "\$@"
END
    chmod 755 "$STACK/home/tools/pool"
    printf 'SetEnv %s\n' "LD_PRELOAD $POWER/recorder.so" "POWER_RECORD $RECORDED" \
        "POWER_DATABASE $DB" >"$STACK/recorder.conf"
}

recorded() { # COMMAND...
    LD_PRELOAD=$POWER/recorder.so POWER_RECORD=$RECORDED POWER_DATABASE=$DB "$@"
}

# Appends to the record what a client saw: mark KIND [ID [TEXT]]
mark() {
    "$POWER/power" mark "$RECORDED" "$1"$'\t'"${2-}"$'\t'"${3-}"
}

# The requests of a client, one after the other: work NUMBER
work() {
    local i name wamid=''
    answer_dir=$STACK/worker.$1
    mkdir "$answer_dir"
    BATS_TEST_TMPDIR=$answer_dir
    for ((i = 1; i <= requests; i++)); do
        name=power-$1-$i
        case $((i % 4)) in
        0) take "$(payload "$(inbound "wamid.$name" "1655$1$((550000 + i % 7))" '')")"
            mark received "wamid.$name" ;;
        1) send_text "$name" ;;
        2) send_text "power-key-$1-$i" -H "Idempotency-Key: power-key-$1-$i" ;;
        3) take "$(payload "$(status_of "$wamid" delivered '"recipient_id":"15550000001"')")"
            mark delivered "$wamid" ;;
        esac
    done
}

send_text() { # TEXT [option of request...]
    api POST /v2/messages/send/text "${@:2}" \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"1555$((1000000 + RANDOM % 20))\",\"text\":\"$1\"}"
    assert_success
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    mark sent "$wamid" "$1"
}

# What a database lacks of the marks, a line each.
lacks() { # NUMBER
    sqlite3 -bail "$failed/$1.db" <<END
CREATE TEMP TABLE mark (kind, id, text);
.mode tabs
.import --schema temp $failed/$1.marks mark
SELECT 'damaged: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok';
SELECT 'a broken reference of ' || "table" FROM pragma_foreign_key_check;
SELECT kind || ' ' || id || ' has no message' FROM temp.mark
    WHERE kind IN ('sent', 'received', 'delivered')
    AND NOT EXISTS (SELECT 1 FROM message WHERE wamid = mark.id);
SELECT 'another text of ' || mark.id FROM temp.mark JOIN message ON wamid = mark.id
    WHERE kind = 'sent' AND instr(CAST(body AS TEXT), '"' || text || '"') = 0;
SELECT 'no status of ' || mark.id FROM temp.mark JOIN message ON wamid = mark.id
    WHERE kind = 'delivered' AND status <> 'delivered';
SELECT 'no event of ' || id FROM temp.mark WHERE kind = 'received'
    AND NOT EXISTS (SELECT 1 FROM event WHERE instr(CAST(body AS TEXT), mark.id));
SELECT 'an event that was delivered is gone: ' || id FROM temp.mark WHERE kind = 'delivering'
    AND NOT EXISTS (SELECT 1 FROM event WHERE event.id = mark.id);
SELECT 'a message could be sent again: ' || id FROM temp.mark
    WHERE kind = 'posting' AND id LIKE 'power-key-%'
    AND NOT EXISTS (SELECT 1 FROM idempotency WHERE key = mark.id);
END
}

# Has the power fail at COUNT moments, and sets `summary`, and `broken` to the number of moments at
# which something is missing, which it prints: fail_power fail|lie COUNT
fail_power() {
    local i found
    failed=$BATS_TEST_TMPDIR/failed seed=$((SRANDOM % 32768)) broken=0
    mkdir "$failed"
    summary=$("$POWER/power" "$1" "$RECORDED" "$BEGINNING" "$failed" "$2" "$seed")
    for ((i = 1; i <= $2; i++)); do
        found=$(lacks "$i" 2>&1) || found+=' sqlite3 failed'
        [[ -n $found ]] || continue
        broken=$((broken + 1))
        printf 'seed %s, moment %s: %s\n' "$seed" "$i" "$found"
    done
}

@test "a power failure loses nothing that was answered, and no event or key that another side has seen" {
    fail_power fail "$moments"
    printf '# sweep: power over %s, seed %s: %s; %s of %s moments broken\n' "$TRANSPORT" "$seed" \
        "$summary" "$broken" "$moments"
    cmp "$failed/end.db" "$DB" || fail 'the record is not complete'
    ((broken == 0))
    [[ $summary =~ ' '([0-9]+)' writes lost' ]]
    ((BASH_REMATCH[1] > moments))
}

@test "on a disk that ignores syncs the same failures lose messages, so the check can fail" {
    fail_power lie 10 >"$BATS_TEST_TMPDIR/found"
    ((broken > 0))
    grep -q 'has no message$' "$BATS_TEST_TMPDIR/found"
}
