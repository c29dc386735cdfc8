# shellcheck shell=bash
# The measurements. Each function row_NAME produces a group of rows of the table.

all_connections=(8 32 128)

name_contenders() {
    local name
    contender 'bare CGI' cgi:hello_cgi "$cgi/bench/hello_cgi" get "$token"
    contender 'bare FastCGI' fcgi:hello_fcgi "$fcgi/bench/hello_fcgi" get "$token"
    contender 'bare reader' cgi:read_cgi "$cgi/bench/read_cgi" webhook "$world/webhooks"
    for name in health me; do
        contender "CGI $name" "cgi:$name" "$cgi/v2/$name" get "$token"
        contender "FastCGI $name" "fcgi:$name" "$fcgi/v2/$name" get "$token"
    done
    contender 'CGI send' cgi:messages "$cgi/v2/messages/send/text" send "$token" "$line"
    contender 'FastCGI send' fcgi:messages "$fcgi/v2/messages/send/text" send "$token" "$line"
    contender 'CGI graph send' cgi:graph "$cgi/v26.0/$line/messages" upstream "$token"
    contender 'FastCGI graph send' fcgi:graph "$fcgi/v26.0/$line/messages" upstream "$token"
    contender 'CGI webhook' cgi:platform "$cgi/platform/webhook" webhook "$world/webhooks"
    contender 'FastCGI webhook' fcgi:platform "$fcgi/platform/webhook" webhook "$world/webhooks"
    contender platform none "$sandbox/v26.0/$line/messages" upstream "$platform_token"
    for name in "${controls[@]}"; do
        contender "$name me" "node:$name" "$fcgi/bench/$name/v2/me" get "$token"
        contender "$name send" "node:$name" "$fcgi/bench/$name/v2/messages/send/text" send \
            "$token" "$line"
    done
}

# The memory of the idle programs before the first load, as `make run` starts them.
row_memory() {
    local name total=0 kib pools=0
    sleep 1
    kib=$(processes_of courier | memory_of)
    fact 'idle memory, CGI: the courier' "$(in_mib "$kib")" MB 8
    total=$kib
    for name in $(pooled_in "$root/apache.conf"); do
        pools=$((pools + 1))
        kib=$(processes_of "fcgi:$name" | memory_of)
        total=$((total + kib))
    done
    fact "idle memory, FastCGI: $pools pools of $pool processes and the courier" \
        "$(in_mib "$total")" MB 30
}

in_mib() {
    awk -v kib="$1" 'BEGIN { printf "%.1f", kib / 1024 }'
}

# GET /v2/health and /v2/me.
row_public() {
    local connections
    for connections in "${all_connections[@]}"; do
        row='get'
        in_turn "$connections" "$rounds" 2 'bare CGI' 'CGI health' 'CGI me'
        in_turn "$connections" "$rounds" 2 'bare FastCGI' 'FastCGI health' 'FastCGI me' \
            "${controls[@]/%/ me}"
    done
}

set_latency() {
    control settings -d "{\"latencyMs\":$1}" >/dev/null
}

# POST /v2/messages/send/text, with a platform that answers at once, after 20 and after 200 ms.
row_send() {
    local connections latency
    for latency in 0 20 200; do
        set_latency $latency
        for connections in "${all_connections[@]}"; do
            row="send, platform $latency ms"
            in_turn "$connections" "$send_rounds" "$send_seconds" platform 'FastCGI send' \
                "${controls[@]/%/ send}" 'CGI send'
        done
    done
    set_latency 0
}

# The same sends by a CGI that was built with STATIC_CURL=1, in turn with the usual one.
row_static() {
    local connections
    # shellcheck disable=SC2154  # set by start_static
    contender 'static CGI send' static:messages "$static/v2/messages/send/text" send "$token" "$line"
    contender 'CGI templates' cgi:templates "$cgi/v2/templates" get "$token"
    contender 'static CGI templates' static:templates "$static/v2/templates" get "$token"
    for connections in "${all_connections[@]}"; do
        row='send by a static CGI'
        in_turn "$connections" "$send_rounds" "$send_seconds" 'CGI send' 'static CGI send'
        row='templates by a static CGI'
        in_turn "$connections" "$send_rounds" "$send_seconds" 'CGI templates' 'static CGI templates'
    done
}

# One client: the additional time of a send, compared with the same call to the platform directly.
row_added() {
    row='one send at a time'
    in_turn 1 "$rounds" 2 platform 'FastCGI send' "${controls[@]/%/ send}" 'CGI send'
}

# `me` by the main token, by a scoped token and by a session, one at a time and many.
row_callers() {
    local connections transport scoped password=bench-password-of-a-member session
    scoped=$(switchboard scoped-token add $email --name bench --scope basic)
    printf '%s\n' "$password" | switchboard user password $email >/dev/null
    session=$(curl -sS --fail --max-time 30 -o /dev/null -D - -H 'X-Switchboard: 1' \
        -H 'Content-Type: application/json' "$cgi/v2/session" \
        -d "{\"email\":\"$email\",\"password\":\"$password\"}" |
        sed -n 's/^Set-Cookie: __Host-switchboard=\([^;]*\);.*/\1/Ip')
    [[ -n $session ]] || die 'the login gave no session'
    contender 'CGI me, scoped token' cgi:me "$cgi/v2/me" get "$scoped"
    contender 'CGI me, session' cgi:me "$cgi/v2/me" session "$session"
    contender 'FastCGI me, scoped token' fcgi:me "$fcgi/v2/me" get "$scoped"
    contender 'FastCGI me, session' fcgi:me "$fcgi/v2/me" session "$session"
    for connections in 1 "${all_connections[@]}"; do
        row=callers
        ((connections > 1)) || row='one caller at a time'
        for transport in CGI FastCGI; do
            in_turn "$connections" "$rounds" 2 "$transport me" "$transport me, scoped token" \
                "$transport me, session"
        done
    done
}

# The same message sent by /v2 and in the platform's own form (/vNN.N), one at a time and many.
row_graph() {
    local connections
    row='one send, two forms'
    in_turn 1 "$rounds" 4 'FastCGI send' 'FastCGI graph send' 'CGI send' 'CGI graph send'
    row='send, two forms'
    for connections in "${all_connections[@]}"; do
        in_turn "$connections" "$send_rounds" "$send_seconds" 'FastCGI send' 'FastCGI graph send' \
            'CGI send' 'CGI graph send'
    done
}

# The reading routes: lines, threads, the messages of a thread, and what the dashboard polls with
# each tab, the changes after the last one. There are 1,000 threads of three messages or more.
row_read() {
    local connections name path thread last transport
    answer_times messages 3000
    thread=$(answer_of "$cgi/v2/threads" | jq -er '.data.items[0].id')
    last=$(answer_of "$cgi/v2/changes" | jq -r .data.change)
    while read -r name path; do
        contender "CGI $name" "cgi:${path%%[/?]*}" "$cgi/v2/$path" get "$token"
        contender "FastCGI $name" "fcgi:${path%%[/?]*}" "$fcgi/v2/$path" get "$token"
    done <<END
lines lines
threads threads
thread threads/$thread/messages
changes changes?after=$last
END
    row=reading
    for connections in "${all_connections[@]}"; do
        for transport in FastCGI CGI; do
            in_turn "$connections" "$send_rounds" 2 "$transport me" "$transport lines" \
                "$transport threads" "$transport thread" "$transport changes"
        done
    done
}

# Webhooks of the platform, each with a new message; generated for each run.
row_webhook() {
    local connections round name count=0
    row='inbound webhook'
    for connections in "${all_connections[@]}"; do
        for ((round = 0; round < rounds; round++)); do
            for name in 'bare reader' 'CGI webhook' 'FastCGI webhook'; do
                "$BENCH_BIN/webhooks" 20000 "$((count++))x" "$app_secret" "$waba" "$line" \
                    >"$world/webhooks"
                measure "$name" "$connections" 2
            done
        done
    done
    check_webhooks
}

# A run must not reach the end of its list, since it would then repeat webhooks, which are cheaper.
check_webhooks() {
    jq -e -s 'map(select((.row | startswith("inbound webhook")) and .requests >= 20000)) == []' \
        "$runs" >/dev/null ||
        die 'a run took in all its webhooks: the lists are too short for this machine'
}

# Delivery of events to a minimal FastCGI program that answers 200, to one webhook and to 1,000.
row_events() {
    local events=3000 began ended left
    configure_webhook
    stop_courier
    "$BENCH_BIN/webhooks" $events events "$app_secret" "$waba" "$line" >"$world/webhooks"
    post_webhooks "$world/webhooks"
    left=$(pending_events)
    began=$(now_ms)
    start_courier
    until (($(pending_events) == 0)); do
        (($(now_ms) - began < 120000)) || die 'the events were not delivered in two minutes'
        sleep 0.05
    done
    ended=$(now_ms)
    fact "events delivered in a second ($left waiting)" $((left * 1000 / (ended - began))) /s
    compare_webhooks $events
}

post_webhooks() {
    local signature body
    while IFS=$'\t' read -r signature body; do
        printf 'next\nurl = "%s/platform/webhook"\nheader = "X-Hub-Signature-256: %s"\n' "$fcgi" \
            "$signature"
        printf 'header = "Content-Type: application/json"\ndata = "%s"\n' "${body//\"/\\\"}"
        printf 'output = /dev/null\nsilent\nfail\nshow-error\n'
    done <"$1" >"$world/webhooks.curl"
    sed -i 1d "$world/webhooks.curl"
    curl --parallel --parallel-max 8 --config "$world/webhooks.curl" || die 'a webhook was refused'
}

pending_events() {
    sqlite3 "$world/data/switchboard.db" "SELECT count(*) FROM event WHERE state = 'pending'"
}

now_ms() {
    local now=${EPOCHREALTIME/[.,]/}
    printf '%s' "${now%???}"
}

# 100 MB to and from the platform, compared with curl without the gateway.
row_media() {
    local file=$world/100mb round name media
    [[ -x $bench/home/cgi-bin/media ]] || return 0
    head -c 104857600 /dev/urandom >"$file"
    for ((round = 0; round < rounds; round++)); do
        transfer 'upload to the platform' -F messaging_product=whatsapp -F type=video/mp4 \
            -F "file=@$file;type=video/mp4" -H "Authorization: Bearer $platform_token" \
            "$sandbox/v26.0/$line/media"
        transfer 'raw upload' -T "$file" -X POST -H 'Content-Type: video/mp4' -H \
            "X-Phone-Number-Id: $line" \
            -H "X-API-Token: $token" "$cgi/v2/media/upload"
        transfer 'multipart upload' -F "file=@$file;type=video/mp4" -F "phoneNumberId=$line" \
            -H "X-API-Token: $token" "$cgi/v2/media/upload"
        media=$(jq -r .data.mediaId "$world/answer")
        transfer 'download from the platform' -H "Authorization: Bearer $platform_token" \
            "$(curl -sS -H "Authorization: Bearer $platform_token" "$sandbox/v26.0/$media" |
            jq -r .url)"
        transfer 'download' -H "X-API-Token: $token" \
            "$cgi/v2/media/$media/download?phoneNumberId=$line"
        cmp -s "$file" "$world/answer" || die 'the download is not what was uploaded'
        for name in $(jq -r '.. | .id? // empty' <<<"$(curl -sS "$sandbox/_sandbox/media")"); do
            curl -sS -o /dev/null -X DELETE "$sandbox/_sandbox/media/$name"
        done
    done
    rm -f "$file" "$world/answer"
}

# Times one transfer by curl: transfer NAME CURL-ARGUMENT...
transfer() {
    local name=$1 before after seconds
    shift
    watch_memory cgi:media
    before=$(server_cpu)
    seconds=$(curl -sS --fail --max-time 120 -H 'Expect:' -o "$world/answer" -w '%{time_total}' \
        "$@") ||
        die "the transfer failed: $name"
    after=$(server_cpu)
    end_watch
    jq -nc --arg name "$name" --argjson seconds "$seconds" --argjson cpu $((after - before)) \
        --argjson peak "$(tail -n 1 "$bench/peak")" \
        '{row: "100 MB", contender: $name, connections: 1, requests_per_second: (1 / $seconds), p50_ms: ($seconds * 1000),
            p99_ms: ($seconds * 1000), failed: 0, cpu_ms_per_1000: ($cpu | round), peak_kib: $peak}' >>"$runs"
    printf '%-16s %-28s %s s\n' '100 MB' "$name" "$seconds" >&2
}

# The memory of a pool over 100,000 requests: `me`, and `messages` with a platform that answers at
# once.
row_flat() {
    local name early late
    for name in me messages; do
        answer_times "$name" 10000
        early=$(processes_of "fcgi:$name" | memory_of)
        answer_times "$name" 90000
        late=$(processes_of "fcgi:$name" | memory_of)
        fact "memory of the pool of $name after 100,000 requests over that after 10,000" \
            "$(awk -v a="$late" -v b="$early" 'BEGIN { printf "%.4f", a / b }')" '' 1.01
    done
}

# Sends at least the given number of requests to the pool of a program, with 8 connections.
answer_times() {
    local name=$1 left=$2 contender='FastCGI me' result
    [[ $name == me ]] || contender='FastCGI send'
    while ((left > 0)); do
        result=$(load "$contender" 8 "$((left > 20000 ? 5 : 2))")
        left=$((left - $(jq .requests <<<"$result")))
        (($(jq .failed <<<"$result") == 0)) || die "requests to the pool of $name failed"
    done
}

# The cost to start each program, answer and end, without Apache, and the part of confinement in it.
row_start() {
    local program wall p99 cpu
    declare -A median=()
    while read -r program wall p99 cpu; do
        program=$(basename "$program") median[$program]=$wall
        [[ $program != unconfined_* ]] || continue
        fact "start, answer and end of $program: median" "$wall" us
        fact "start, answer and end of $program: CPU" "$cpu" us
    done < <(
        export GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1 REQUEST_METHOD=GET \
            SCRIPT_NAME=/v2/me \
            QUERY_STRING='' REMOTE_ADDR=127.0.0.1 UNIQUE_ID=bench "HTTP_X_API_TOKEN=$token" \
            "SWITCHBOARD_CONFIG=$world/switchboard.conf"
        "$BENCH_BIN/spawn" "$starts" \
            "$bench"/home/cgi-bin/{hello_cgi,health,me,platform,messages,unconfined_{health,me,messages}}
    )
    for program in health me messages; do
        fact "confinement of $program, of the median" "$(awk -v with="${median[$program]}" \
            -v without="${median[unconfined_$program]}" \
            'BEGIN { printf "%.0f", with - without }')" us 600
    done
}
