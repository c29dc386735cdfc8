#!/usr/bin/env bats
# Deliberately slow clients do not stop others.
# transports: cgi
# bats file_tags=long
load helpers/all

# Opens 50 slow connections for 12 seconds, with options of slowhttptest: attack NAME OPTION...
attack() {
    local name=$1
    shift
    timeout 60 slowhttptest -c 50 -r 50 -l 12 -p 5 "$@" >"$BATS_TEST_TMPDIR/$name.log" 2>&1 </dev/null 3>&- &
    attackers+=("$!")
}

# The highest number of open connections of an attacker: opened NAME
opened() {
    sed 's/\x1b\[[0-9;]*m//g' "$BATS_TEST_TMPDIR/$1.log" | awk '/^connected:/ && $2 > most { most = $2 } END { print most + 0 }'
}

# Requests of other clients, all of which must succeed.
serve_others() {
    request GET /v2/health
    assert_success
    api GET /v2/me
    assert_success
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    assert_success
}

@test "beside 200 slow clients, with headers, bodies, reads and ranges, all other clients are served" {
    local attackers=() served=0 attacker deadline name
    attack headers -H -i 3 -u "$BASE/v2/health"
    attack bodies -B -i 3 -s 100000 -t POST -f application/json -u "$BASE/v2/messages/send/text"
    attack reads -X -w 1 -y 10 -n 5 -z 1 -k 3 -u "$BASE/"
    attack ranges -R -a 1 -b 3000 -t HEAD -u "$BASE/"
    deadline=$((SECONDS + 10))
    while ((SECONDS < deadline)); do
        serve_others
        served=$((served + 3))
        sleep 0.2
    done
    for attacker in "${attackers[@]}"; do
        wait "$attacker" || true
    done
    for name in headers bodies reads ranges; do
        printf '%s: %s connections\n' "$name" "$(opened "$name")"
    done
    printf '# sweep: slow clients: %d requests served beside %d slow headers, %d slow bodies, %d slow reads, and ranges\n' \
        "$served" "$(opened headers)" "$(opened bodies)" "$(opened reads)" >&3
    (($(opened headers) >= 40 && $(opened bodies) >= 40)) || fail "$(cat "$BATS_TEST_TMPDIR"/*.log | tail -n 60)"
    serve_others
    # their threads and connections are released
    request_many 100 GET /v2/version
    assert_equal "$(statuses)" '100 200'
    jq -e . "$LOG" >/dev/null
}

@test "an endless body of single bytes delays no other client" {
    local sockets=() socket number
    for ((number = 0; number < 20; number++)); do
        exec {socket}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
        sockets+=("$socket")
        printf 'POST /v2/media/upload HTTP/1.1\r\nHost: x\r\nX-API-Token: %s\r\nX-Phone-Number-Id: %s\r\nContent-Type: image/jpeg\r\nContent-Length: 100000\r\n\r\n' \
            "$TOKEN" "$LINE" >&"$socket"
    done
    for ((number = 0; number < 4; number++)); do
        for socket in "${sockets[@]}"; do
            printf x >&"$socket"
        done
        serve_others
        sleep 1
    done
    for socket in "${sockets[@]}"; do
        exec {socket}>&-
    done
    serve_others
    assert_equal "$(sandbox GET requests | jq '[.[] | select(.complete and (.path | contains("/media")))] | length')" 0
}
