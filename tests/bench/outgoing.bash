# shellcheck shell=bash
# Queued sends and campaigns, with the sender. Each measurement ends with a check that the platform
# has accepted one message for each row that was sent. The functions are about SQLite, unless
# `base`, `token`, `config` and `programs` are those of another installation.

campaign_rows=${CAMPAIGN_ROWS:-20000}
campaign_seconds=${CAMPAIGN_SECONDS:-60} # the longest time that a campaign is measured
campaigns=() sender_pid='' accepted=0 posts=0 first_id=0 first_ms=0 last_ms=0
import_seconds=0

# Starts a sender in place of the one that runs: run_sender RATE, messages of the line in a second
run_sender() {
    local pid_file=$world/sender.pid
    stop_sender
    switchboard line rate "$line" "$1" >/dev/null
    in_group "${service[@]}" "${programs:-$bench/home}/tools/sender" --pid-file "$pid_file" \
        --config "${config:-$world/switchboard.conf}" >>"$world/sender.log" 2>&1 &
    sender_pid=$!
    started+=("$sender_pid")
    wait_until 10 test -s "$pid_file" || die "the sender did not start: see $world/sender.log"
    sleep 1 # it takes the lease after it has written the file
}

stop_sender() {
    [[ -n $sender_pid ]] || return 0
    kill "$sender_pid"
    wait "$sender_pid" || die 'the sender did not end with status 0'
    sender_pid=''
}

# Runs a command twice in a second until it succeeds, since it takes CPU time from what is measured.
# Fails after SECONDS: await SECONDS COMMAND...
await() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        pause 500
    done
}

# --- what the platform receives ---

forget_posts() {
    control requests -X DELETE >/dev/null
}

has_posted() {
    [[ $(control 'requests/count?path=/messages' | jq .count) != 0 ]]
}

# Waits for the first message since forget_posts.
await_post() {
    wait_until 30 has_posted || die 'the sender has sent nothing'
    read -r first_id first_ms < <(control 'requests?path=/messages' |
        jq -r '.[0] | "\(.id) \(.time)"')
}

# Sets `posts`, the requests from the first message on, and `last_ms`, the time of the last one. The
# sandbox numbers all requests, and keeps the last ones.
count_posts() {
    local last_id
    read -r last_id last_ms < <(control requests/last | jq -r '"\(.id) \(.time)"')
    posts=$((last_id - first_id + 1))
}

# Messages per second between the first and the last one.
posts_per_second() {
    printf '%s' $((posts * 1000 / (last_ms > first_ms ? last_ms - first_ms : 1)))
}

# How many messages with a template the sandbox has accepted, of the last 4,096 with any: uses_of
# NAME [MS, the time until which they count]
uses_of() {
    control state | jq --arg id "$waba-$1" --argjson until "${2:-null}" '[.templateUses[] |
        select(.templateId == $id and ($until == null or .sentAt <= $until))] | length'
}

# There must be as many messages as rows that were accepted: check_once WHAT MESSAGES
check_once() {
    (($2 == accepted)) || die "$1: the platform got $2 messages for $accepted rows"
}

# --- campaigns ---

call() { # PATH [ARGUMENT of curl...]; `type` is that of the body
    answer_of --fail --max-time 300 -H "Content-Type: ${type:-application/json}" \
        "${base:-$fcgi}/v2/$1" "${@:2}"
}

# Templates of the sandbox: add_templates WABA NAME...
add_templates() {
    jq -nc --arg waba "$1" '{wabaId: $waba, items: ($ARGS.positional[1:] | map({
        id: "\($waba)-\(.)", name: ., language: "en_US", status: "APPROVED", category: "MARKETING",
        components: [{type: "BODY", text: "Hello {{1}}, your order is on its way."}]}))}' \
        --args "$@" | control templates -d @- >/dev/null
}

# Makes a draft, the last one of `campaigns`: draft TEMPLATE [LINE]
draft() {
    campaigns+=("$(jq -nc --arg name "$1" --arg line "${2-$line}" '{phoneNumberId: $line,
        name: $name, templateName: $name, language: "en_US", components: [{type: "body",
        parameters: [{type: "text", text: "{{name}}"}]}]}' | call campaigns -d @- |
        jq -er .data.id)")
}

# Adds recipients to the last draft. Sets `import_seconds`: add_people COUNT
add_people() {
    local answer=$world/answer table=$world/people.csv
    { printf 'to,name\n' && seq -f '%.0f,Ada' 15553000000 $((15552999999 + $1)); } >"$table"
    import_seconds=$(type=text/csv call "campaigns/${campaigns[-1]}/recipients" -X PUT \
        -H 'Expect:' --data-binary "@$table" -o "$answer" -w '%{time_total}')
    (($(jq .data.accepted "$answer") == $1)) || die "recipients were refused: $(cat "$answer")"
}

act() { # CAMPAIGN DEED [BODY]
    call "campaigns/$1/$2" -d "${3-{\}}" >/dev/null
}

state_of() { # CAMPAIGN
    call "campaigns/$1" | jq -r '.data | "\(.state) \(.counts.accepted)"'
}

has_settled() { # CAMPAIGN
    call "campaigns/$1" | jq -e '.data.counts | .queued + .sending == 0' >/dev/null
}

# Ends the campaigns. Sets `accepted`, their rows that the platform accepted; none may have failed.
settle() {
    local id count
    for id in "${campaigns[@]}"; do
        [[ $(state_of "$id") == finished* ]] || act "$id" cancel
    done
    accepted=0
    for id in "${campaigns[@]}"; do
        wait_until 30 has_settled "$id" || die "rows of campaign $id are still queued"
        count=$(call "campaigns/$id" | jq -e '.data.counts |
            select(.failed + .unknown + .expired + .suppressed == 0).accepted') ||
            die "rows of campaign $id failed"
        accepted=$((accepted + count))
    done
    campaigns=()
}

# --- the measurements ---

# 202 answers beside texts that are sent at once, with a sender that hardly sends; then it sends a
# part of what was queued, as fast as it can.
measure_queued() {
    local connections
    contender 'FastCGI queued send' fcgi:messages "$fcgi/v2/messages/send/text" queue "$token" \
        "$line"
    run_sender 1
    for connections in "${all_connections[@]}"; do
        row='queued send'
        in_turn "$connections" "$send_rounds" 2 'FastCGI send' 'FastCGI queued send'
    done
    stop_sender
    db "DELETE FROM outgoing WHERE id IN (SELECT id FROM outgoing WHERE state = 'queued'
        ORDER BY id LIMIT -1 OFFSET $((campaign_rows / 5)))"
    accepted=$(db "SELECT count(*) FROM outgoing WHERE state = 'queued'")
    forget_posts
    run_sender 1000
    await_post
    await "$campaign_seconds" all_sent || die 'the queued sends were not sent in time'
    count_posts
    check_once 'queued sends' "$posts"
    fact 'queued sends sent in a second, one line' "$(posts_per_second)" /s
}

all_sent() {
    (($(db "SELECT count(*) FROM outgoing WHERE state <> 'accepted'") == 0))
}

# How long after it is due a queued send is posted: single ones, at any time of the sender's turns.
measure_due() {
    local i began sends=100
    run_sender default
    forget_posts
    began=$(now_ms)
    for ((i = 0; i < sends; i++)); do
        call messages/send/text -H 'Prefer: respond-async' -o /dev/null \
            -d "{\"phoneNumberId\":\"$line\",\"to\":\"+1555400$((1000 + i))\",\"text\":\"x\"}"
        pause $((60 + RANDOM % 60))
    done
    await 10 all_sent || die 'the queued sends were not sent'
    db "SELECT id || ' ' || send_at FROM outgoing WHERE created_at >= $began ORDER BY id" \
        >"$world/due"
    control 'requests?path=/messages' |
        jq -r '.[] | "\(.body | fromjson.biz_opaque_callback_data) \(.time)"' |
        sort | join "$world/due" - | awk '{ print $3 - $2 }' | sort -n >"$world/delays"
    (($(wc -l <"$world/delays") == sends)) || die 'a queued send was not posted once'
    fact 'from due to the platform, median' "$(sed -n $((sends / 2))p "$world/delays")" ms 20
    fact 'from due to the platform, 99th percentile' \
        "$(sed -n $((sends * 99 / 100))p "$world/delays")" ms 20
}

# One campaign without a limit: measure_campaign DATABASE BASE GROUP; recipients are imported by
# BASE, whose programs are GROUP.
measure_campaign() {
    local name="campaign, $1" began took
    add_templates "$waba" large
    draft large
    watch_memory "$3"
    base=$2 add_people "$campaign_rows"
    end_watch
    fact "$name: import of $campaign_rows recipients" "$import_seconds" s \
        $((campaign_rows / 10000 + 1))
    fact "$name: memory of the import" "$(in_mib "$(tail -n 1 "$bench/peak")")" MB
    took=$(for _ in {1..21}; do
        call "campaigns/${campaigns[-1]}" -o /dev/null -w '%{time_total}\n'
    done | awk '{ print $1 * 1000 }' | median)
    fact "$name: GET with $campaign_rows recipients, median" "$took" ms 10
    run_sender 1000
    forget_posts
    began=$(now_ms)
    act "${campaigns[-1]}" start
    await_post
    fact "$name: from start to the first message" $((first_ms - began)) ms 1000
    : >"$world/memory"
    await "$campaign_seconds" sample_sender || true # the rest is cancelled
    settle
    count_posts
    check_once "$name" "$posts"
    fact "$name: messages sent of $campaign_rows" "$posts" ''
    fact "$name: messages in a second" "$(posts_per_second)" /s
    compare_memory "$name"
}

# Notes how many messages of the campaign were sent, and the sender's memory. Succeeds when it has
# finished.
sample_sender() {
    local state count
    read -r state count < <(state_of "${campaigns[-1]}")
    printf '%s %s\n' "$count" "$(memory_of <<<"$sender_pid")" >>"$world/memory"
    [[ $state == finished ]]
}

# The memory when a twentieth, the half and all of the messages that were sent had been.
compare_memory() {
    local at kib=()
    for at in $((posts / 20)) $((posts / 2)) 0; do
        kib+=("$(awk -v least="$at" '{ kib = $2 } least && $1 >= least { exit }
            END { print kib }' "$world/memory")")
    done
    fact "$1: memory of the sender at the start" "$(in_mib "${kib[0]}")" MB
    fact "$1: memory of the sender in the middle" "$(in_mib "${kib[1]}")" MB
    fact "$1: memory of the sender at the end" "$(in_mib "${kib[2]}")" MB
    fact "$1: memory of the sender, end over start" \
        "$(awk -v a="${kib[2]}" -v b="${kib[0]}" 'BEGIN { printf "%.3f", a / b }')" '' 1.05
}

# A campaign on each of 16 lines of another account, at the default rate of a line.
measure_lines() {
    local i at account id=302290129340398 count=16 rows=$((campaign_rows / 64 + 1))
    jq -nc --arg waba $id --argjson count $count '{wabaId: $waba, token: "token-of-lines",
        phones: [range($count) | {id: "\($waba)\(.)", displayNumber: "1555020000\(.)"}]}' |
        control accounts -d @- >/dev/null
    add_templates $id many
    account=$(printf token-of-lines | switchboard account add $email --waba-id $id --name Lines)
    for ((i = 0; i < count; i++)); do
        switchboard line add "$account" --phone-number-id $id$i --number "+1555020000$i" \
            --name "Line $i" >/dev/null
        draft many $id$i
        add_people $rows
    done
    run_sender default
    forget_posts
    at=$(date -u -d '+5 seconds' +%FT%TZ)
    for i in "${campaigns[@]}"; do
        act "$i" start "{\"sendAt\":\"$at\"}"
    done
    await_post
    await "$campaign_seconds" all_finished || true # the rest is cancelled
    settle
    count_posts
    check_once 'campaigns of 16 lines' "$posts"
    fact "campaigns of 16 lines: messages sent of $((rows * count))" "$posts" ''
    fact 'campaigns of 16 lines: messages in a second' "$(posts_per_second)" /s
}

# Whether the last 16 campaigns have finished.
all_finished() {
    call 'campaigns?limit=16' | jq -e 'all(.data.items[]; .state == "finished")' >/dev/null
}

# A line whose rate is set to 200 where the platform accepts 80 in a second: four campaigns, since
# one alone does not reach that rate.
measure_too_fast() {
    local i lasts=$((campaign_seconds < 40 ? campaign_seconds : 40)) before
    control settings -d '{"messagesPerSecond":80}' >/dev/null
    add_templates "$waba" fast
    for i in 1 2 3 4; do
        draft fast
        add_people $((lasts * 25))
    done
    run_sender 200
    forget_posts
    for i in "${campaigns[@]}"; do
        act "$i" start
    done
    await_post
    sleep $((lasts / 2))
    count_posts
    before=("$posts" "$last_ms")
    sleep $((lasts / 2))
    settle
    count_posts
    check_once 'a line that is too fast' "$(uses_of fast)"
    compare_rate $((posts - before[0])) $((accepted - $(uses_of fast "${before[1]}"))) \
        $((last_ms - before[1]))
    control settings -d '{"messagesPerSecond":0}' >/dev/null
}

compare_rate() { # POSTS ACCEPTED MS
    fact 'rate 200 where the platform accepts 80: accepted in a second' $(($2 * 1000 / $3)) /s \
        '' 55
    fact 'rate 200 where the platform accepts 80: share that it refused' \
        "$(awk -v all="$1" -v good="$2" 'BEGIN { printf "%.2f", 100 - 100 * good / all }')" % 5
}

# Sends and inbound messages on two connections, without a campaign and beside one of 40 messages in
# a second.
measure_beside() {
    local round what
    contender 'FastCGI send, campaign' fcgi:messages "$fcgi/v2/messages/send/text" send "$token" \
        "$line"
    contender 'FastCGI webhook, campaign' fcgi:platform "$fcgi/platform/webhook" webhook \
        "$world/webhooks"
    add_templates "$waba" beside
    draft beside
    add_people $((send_rounds * 700))
    run_sender default
    warm_up 'FastCGI send' 2
    act "${campaigns[-1]}" start
    for ((round = 0; round < send_rounds; round++)); do
        for what in send webhook; do
            act "${campaigns[-1]}" pause
            measure_what $what "FastCGI $what" "$round-"
            act "${campaigns[-1]}" resume
            measure_what $what "FastCGI $what, campaign" "$round+"
            [[ $(state_of "${campaigns[-1]}") == running* ]] || die 'the campaign was too short'
        done
    done
    check_webhooks
    settle
    check_once 'a campaign beside other requests' "$(uses_of beside)"
}

measure_what() { # WHAT CONTENDER NAME
    row='send beside a campaign'
    if [[ $1 == webhook ]]; then
        row='inbound webhook beside a campaign'
        "$BENCH_BIN/webhooks" 20000 "beside$3" "$app_secret" "$waba" "$line" >"$world/webhooks"
    fi
    sleep 1 # the sender looks twice in a second
    measure "$2" 2 4
}

row_outgoing() {
    measure_queued
    measure_due
    measure_campaign SQLite "$cgi" cgi:campaigns
    measure_lines
    measure_too_fast
    measure_beside
    stop_sender
    switchboard line rate "$line" default >/dev/null
}

# The same campaign on the PostgreSQL server, by the first host.
campaign_on_server() {
    local token=$server_token base config=$world/host1/switchboard.conf programs=$bench/postgresql
    base=http://127.0.0.1:$(cat "$world/host1/apache/port")
    measure_campaign PostgreSQL "$base" pg:1:campaigns
    stop_sender
}
