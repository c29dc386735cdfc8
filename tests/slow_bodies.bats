#!/usr/bin/env bats
# Clients that send their request bodies slowly, with a token or without, delay no other request: the web
# server receives the whole body before a process of a pool gets the request.
# transports: cgi fcgi
# bats file_tags=long
load helpers/all
load helpers/webhook

setup_file() {
    start_stack --threads 600 # each slow client holds a thread of Apache; these must not run out
    make_user
    printf 'Authorization: Bearer %s\n' "$TOKEN" >"$STACK/token.known" # not an argument: other users can read those
}

setup() {
    crowd_pids=() crowd=75 asked=50
    [[ -z ${TEST_FULL-} ]] || crowd=130 asked=200
}

teardown() {
    local pid
    for pid in "${crowd_pids[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
}

# Starts clients that send 1,500 bytes a second until the test ends: start_crowd NAME PATH [header...]
start_crowd() {
    local name=$BATS_TEST_TMPDIR/$1 path=$2
    shift 2
    {
        printf 'POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n' "$path"
        (($# == 0)) || printf '%s\r\n' "$@"
        printf '\r\n'
    } >"$name.head"
    : >"$name.crowd"
    "$HELPERS/crowd" "${BASE##*:}" "$crowd" 1500 "$name.head" >"$name.crowd" 2>&1 3>&- &
    crowd_pids+=("$!")
    eventually grep -q ready "$name.crowd"
    rm "$name.head" # it may hold a token
}

start_crowds() {
    local wrong
    wrong=sha256=$(printf '%064d' 7)
    start_crowd tokenless /v2/messages/send/text
    start_crowd unknown /v2/messages/send/text 'Authorization: Bearer sb_unknown'
    start_crowd known /v2/messages/send/text "Authorization: Bearer $TOKEN"
    start_crowd platform /platform/webhook "X-Hub-Signature-256: $wrong"
}

# Writes the times of many requests to FILE, in ms, in ascending order: measure FILE CURL-OPTION...
measure() {
    local file=$1 number
    shift
    for ((number = 0; number < asked; number++)); do
        curl -s -o /dev/null --max-time 60 -w '%{http_code} %{time_total}\n' "$@"
    done >"$file.raw"
    assert_equal "$(cut -d' ' -f1 "$file.raw" | sort | uniq -c | sed 's/^ *//')" "$asked 200"
    awk '{ printf "%d\n", $2 * 1000 }' "$file.raw" | sort -n >"$file"
}

send_text() {
    measure "$1" -H @"$STACK/token.known" -H 'Content-Type: application/json' \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}" "$BASE/v2/messages/send/text"
}

send_webhook() {
    printf '{"object":"whatsapp_business_account","entry":[]}' >"$BATS_TEST_TMPDIR/hook"
    measure "$1" -H 'Content-Type: application/json' -H "X-Hub-Signature-256: $(sign "$BATS_TEST_TMPDIR/hook")" \
        --data-binary "@$BATS_TEST_TMPDIR/hook" "$BASE/platform/webhook"
}

# The 99th percentile of a file of measure().
p99() {
    sed -n "$(((asked * 99 + 99) / 100))p" "$1"
}

# The number of CGI processes of `messages`.
count_cgis() {
    local file
    grep -lzxF "SWITCHBOARD_CONFIG=$SWITCHBOARD_CONFIG" /proc/[0-9]*/environ 2>/dev/null |
        while IFS= read -r file; do
            ! grep -qzxF SCRIPT_NAME=/v2/messages "$file" 2>/dev/null || printf '%s\n' "$file"
        done | wc -l
}

# Clients without a valid token hold no process once their tokens have been checked.
is_settled() {
    (($(count_cgis) <= crowd))
}

# The number of connections of a program's pool in this stack, accepted or waiting.
connections_of() {
    local sockets
    sockets=$(cat "$STACK/apache/sockets" 2>/dev/null || printf '%s' "$STACK/apache")
    [[ $TRANSPORT == cgi ]] || grep -qF " $sockets/$1.sock" /proc/net/unix || fail 'the pool has no socket'
    awk -v path="$sockets/$1.sock" '$6 != "01" && $8 == path { n++ } END { print n + 0 }' /proc/net/unix
}

# The pools have fewer connections than there are slow clients of one kind: Apache keeps those of
# the other requests. A slow client that reached its pool would have one for as long as it sends.
holds_no_process() {
    (($(connections_of messages) + $(connections_of platform) < crowd))
}

@test "clients that send their bodies slowly hold no process of a pool and delay no other request" {
    local kind alone beside pid
    for kind in send_text send_webhook; do
        "$kind" "$BATS_TEST_TMPDIR/$kind.alone"
    done
    start_crowds
    for kind in send_text send_webhook; do # the processes of the slow clients, if any, have started
        asked=1 "$kind" "$BATS_TEST_TMPDIR/$kind.first"
    done
    [[ $TRANSPORT == fcgi ]] || eventually is_settled
    for kind in send_text send_webhook; do
        "$kind" "$BATS_TEST_TMPDIR/$kind.beside"
        alone=$(p99 "$BATS_TEST_TMPDIR/$kind.alone") beside=$(p99 "$BATS_TEST_TMPDIR/$kind.beside")
        printf '# sweep: slow bodies: %s: 99th percentile %d ms beside %d slow clients, %d ms without them\n' \
            "$kind" "$beside" "$((4 * crowd))" "$alone" >&3
        # under CGI each slow request starts a process too, which takes processor time
        [[ $TRANSPORT == cgi ]] || ((beside <= 1000 + 5 * alone))
        [[ -z ${TEST_FULL-} ]] || ((beside < 1000))
    done
    eventually holds_no_process
    for pid in "${crowd_pids[@]}"; do
        kill -0 "$pid" || fail 'the slow clients have ended'
    done
}

@test "a slow client that sends its whole body gets the same answer as any other" {
    local before
    before=$(db "SELECT count(*) FROM message WHERE direction = 'out'")
    printf '{"phoneNumberId":"%s",%40000s"to":"15551230000","text":"slow"}' "$LINE" '' >"$BATS_TEST_TMPDIR/long"
    status=$(curl -s -o "$BATS_TEST_TMPDIR/answer" -w '%{http_code}' --limit-rate 15000 --max-time 100 \
        -H @"$STACK/token.known" -H 'Content-Type: application/json' -H Expect: \
        --data-binary "@$BATS_TEST_TMPDIR/long" "$BASE/v2/messages/send/text")
    assert_equal "$status" 200
    assert_equal "$(db "SELECT count(*) FROM message WHERE direction = 'out'")" "$((before + 1))"
}

@test "a token that is revoked while the body arrives is refused" {
    local socket
    make_user OTHER_
    printf '{"phoneNumberId":"%s","to":"15551230000","text":"x"%40000s}' "$OTHER_LINE" '' >"$BATS_TEST_TMPDIR/long"
    forget_sent
    exec {socket}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
    printf 'POST /v2/messages/send/text HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n' \
        "$OTHER_TOKEN" "$(stat -c %s "$BATS_TEST_TMPDIR/long")" >&"$socket"
    head -c 20000 "$BATS_TEST_TMPDIR/long" >&"$socket"
    sleep 1.5 # longer than a body may take without another look at the token
    OTHER_TOKEN=$(switchboard token regenerate "$OTHER_EMAIL")
    tail -c +20001 "$BATS_TEST_TMPDIR/long" >&"$socket"
    status=$(timeout 100 cat <&"$socket" | tee "$BATS_TEST_TMPDIR/answer" | head -n 1 | cut -d ' ' -f 2)
    exec {socket}>&-
    assert_equal "$status" 401
    assert_equal "$(sent_count)" 0
}
