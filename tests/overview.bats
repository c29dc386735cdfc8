#!/usr/bin/env bats
# /v2/overview, /v2/usage and /v2/requests: what a user asks about the own installation.
# shellcheck disable=SC2153  # make_user sets LINE and ACCOUNT
load helpers/all
load helpers/conventions
load helpers/pages
load helpers/webhook

setup_file() {
    start_stack
    make_user OTHER_
    make_user
    write_config "requests_file = $STACK/requests"
}

setup() {
    forget_sent
    db 'DELETE FROM event_attempt; DELETE FROM outbox; DELETE FROM usage;
        DELETE FROM webhook; DELETE FROM heartbeat'
    user=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    line_id=$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")
}

# --- GET /v2/overview ---

@test "the overview has user, plan, token, accounts, lines, webhook and courier" {
    api GET /v2/overview
    assert_success
    assert_conventions
    assert_json .data.user "{\"id\":\"$user\",\"email\":\"$EMAIL\"}"
    assert_json .data.plan '{"name":"Premium","endsAt":null,"isActive":true}'
    assert_that '.data.token | (.createdAt | test("^20")) and .last4 == env.TOKEN[-4:]'
    assert_json '.data.accounts | map([.id, .wabaid])' "[[\"$ACCOUNT\",\"$WABA\"]]"
    assert_json '.data.lines | map([.id, .phoneNumberId, .accountId, .isPrimary, .archivedAt])' \
        "[[\"$line_id\",\"$LINE\",\"$ACCOUNT\",true,null]]"
    assert_json .data.webhook '{"isConfigured":false,"url":"","failingSince":null,
        "suspendedAt":null,
        "nextProbeAt":null,"pending":0,"oldestPendingAt":null,"dead":0}'
    assert_json .data.courier '{"beatAt":null,"isRunning":false}'
    assert_json '[.data.warnings[].code]' '["WEBHOOK_UNSET","COURIER_STOPPED"]'
}

# Expects these warnings, in any order: assert_warnings CODE...
assert_warnings() {
    api GET /v2/overview
    assert_success
    assert_equal "$(jq -r '.data.warnings[].code' "$body" | sort | xargs)" \
        "$(printf '%s\n' "$@" | sort | xargs)"
    assert_that '.data.warnings | all(.message | length > 20)'
}

# Counts what passed through the line so many hours ago: counted LINE_ID MEASURE HOURS
counted() {
    db "INSERT INTO usage (user_id, hour, line_id, measure, count)
        VALUES ('$user', $(($(date +%s) / 3600 - $3)), '$1', '$2', 1)"
}

# Whether the overview warns that no webhook of the platform arrives.
warns_of_silence() {
    api GET /v2/overview
    assert_success
    [[ $(jq -c '[.data.warnings[].code] | index("PLATFORM_SILENT") != null' "$body") == true ]]
}

@test "a line that sends while no webhook of the platform arrives for a day is a warning" {
    refute warns_of_silence
    counted "$line_id" out 0
    refute warns_of_silence # its first status may be on the way
    counted "$line_id" out 3
    warns_of_silence
    assert_that '.data.warnings | map(select(.code == "PLATFORM_SILENT"))[0].message
        | test("GET /v2/setup")'
    local other
    other=$(db "SELECT l.id FROM line l JOIN account a ON a.id = l.account_id
        WHERE a.user_id <> '$user'")
    counted "$other" in 0
    warns_of_silence
    counted "$line_id" in 28
    warns_of_silence
    counted "$line_id" sent 26
    refute warns_of_silence
}

@test "webhooks within a day before the send, or after it, are no silence; nor is an old send" {
    counted "$line_id" out 40
    counted "$line_id" failed 1
    refute warns_of_silence
    db "DELETE FROM usage"
    counted "$line_id" out 180
    refute warns_of_silence
    counted "$line_id" out 160
    warns_of_silence
    db "UPDATE line SET is_coexisting = 1 WHERE id = '$line_id'" # its app sends too
    refute warns_of_silence
    db "UPDATE line SET is_coexisting = 0 WHERE id = '$line_id'"
}

# bats test_tags=long
@test "the warnings follow plan, lines, accounts, webhook, events and courier" {
    local now
    now=$(date +%s)000
    db "INSERT INTO heartbeat (name, pid, beat_at) VALUES ('courier', 1, $now)"
    api POST /v2/webhooks/config -d '{"webhookUrl":"http://127.0.0.1:1/","webhookCode":"c"}'
    assert_warnings
    switchboard plan set "$EMAIL" Premium --ends "$(date -ud '+3 days' +%FT%TZ)"
    assert_warnings PLAN_ENDS_SOON
    switchboard plan set "$EMAIL" Premium
    db "UPDATE webhook SET failing_since = 1000"
    assert_warnings WEBHOOK_FAILING
    db "UPDATE webhook SET suspended_at = 2000, next_probe_at = 3000"
    assert_warnings WEBHOOK_SUSPENDED
    assert_json '.data.webhook | [.failingSince, .suspendedAt, .nextProbeAt]' \
        '["1970-01-01T00:00:01.000Z","1970-01-01T00:00:02.000Z","1970-01-01T00:00:03.000Z"]'
    db "UPDATE webhook SET failing_since = NULL, suspended_at = NULL;
        INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at,
        created_at, finished_at)
        VALUES ('evt_1', '$user', 901, 't', x'7b7d', 'dead', 1, 5000, 1),
        ('evt_2', '$user', 902, 't', x'7b7d',
        'pending', 9000000000000, 6000, NULL),
        ('evt_3', '$user', 903, 't', x'7b7d', 'pending', 9000000000000, 7000, NULL)"
    assert_warnings EVENTS_DEAD
    assert_json '.data.webhook | [.pending, .oldestPendingAt, .dead]' \
        '[2,"1970-01-01T00:00:06.000Z",1]'
    db "DELETE FROM outbox; UPDATE line SET is_registered = 0 WHERE id = '$line_id'"
    assert_warnings LINE_NOT_REGISTERED
    db "UPDATE line SET is_registered = 1, archived_at = 1 WHERE id = '$line_id'"
    assert_warnings NO_LINE
    db "UPDATE line SET archived_at = NULL WHERE id = '$line_id';
        INSERT INTO account (id, user_id, waba_id, name, created_at)
        VALUES ('acc_0', '$user', 'w0', 'No token', 1)"
    assert_warnings ACCOUNT_WITHOUT_TOKEN
    db "DELETE FROM account WHERE id = 'acc_0'; UPDATE heartbeat SET beat_at = beat_at - 130000"
    assert_warnings COURIER_STOPPED
}

@test "nothing of another user is in the overview" {
    db "INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at,
        created_at) SELECT 'evt_1', id,
        900, 't', x'7b7d', 'pending', 1, 1 FROM user WHERE email = '$OTHER_EMAIL';
        INSERT INTO usage SELECT u.id, $(date +%s) / 3600, l.id, 'in', 7 FROM user u, line l
        WHERE u.email = '$OTHER_EMAIL'
        AND l.phone_number_id = '$OTHER_LINE'"
    api GET /v2/overview
    assert_that '.data.webhook.pending == 0 and .data.lastHour.in == 0
        and (.data.lines | length) == 1'
    refute grep -q "$OTHER_EMAIL\|$OTHER_LINE" "$body"
}

# --- GET /v2/usage ---

# Expects the sums of all hours: assert_counts 'MEASURE N'...
assert_counts() {
    assert_equal "$(db "SELECT measure || ' ' || sum(count) FROM usage
        WHERE user_id = '$user' GROUP BY measure
        ORDER BY measure")" \
        "$(printf '%s\n' "$@" | sort)"
}

@test "a message is counted once for each state that it reaches, whatever is repeated" {
    local number
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550009001\",\"text\":\"Hello\"}"
    assert_success
    wamid=$(jq -r '.data.messages[0].id' "$body")
    assert_counts 'out 1'
    for number in 1 2; do
        take "$(payload "$(inbound "wamid.in1" 15550009001 '')" \
            "$(inbound "wamid.in2" 15550009001 '')")"
        take "$(payload "$(status_of "$wamid" sent '"recipient_id":"15550009001"')")"
    done
    assert_counts 'in 2' 'out 1' 'sent 1'
    for number in 1 2; do
        take "$(payload \
            "$(status_of "$wamid" read \
            '"recipient_id":"15550009001","pricing":{"category":"marketing"}')")"
        take "$(payload \
            "$(status_of "$wamid" delivered \
            '"recipient_id":"15550009001","pricing":{"category":"marketing"}')")"
    done
    assert_counts 'in 2' 'out 1' 'sent 1' 'delivered 1' 'read 1' 'marketing 1'
}

@test "a status that comes before its send is answered, and a failure, are counted once" {
    local wamid=wamid.early
    take "$(payload \
        "$(status_of "$wamid" delivered \
        '"recipient_id":"15550009002","pricing":{"category":"service"}')")"
    assert_counts 'out 1' 'sent 1' 'delivered 1' 'service 1'
    platform_answers 200 '{"messaging_product":"whatsapp",
        "contacts":[{"input":"15550009002","wa_id":"15550009002"}],
        "messages":[{"id":"wamid.early"}]}'
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550009002\",\"text\":\"Hello\"}"
    assert_success
    assert_equal "$(db "SELECT source FROM message WHERE wamid = 'wamid.early'")" api
    assert_counts 'out 1' 'sent 1' 'delivered 1' 'service 1'
    take "$(payload "$(status_of wamid.bad failed \
        '"recipient_id":"15550009002","errors":[{"code":131026}]')")"
    assert_counts 'out 2' 'sent 1' 'delivered 1' 'service 1' 'failed 1'
    take "$(payload "$(status_of wamid.bad failed \
        '"recipient_id":"15550009002","errors":[{"code":131026}]')")"
    assert_counts 'out 2' 'sent 1' 'delivered 1' 'service 1' 'failed 1'
}

@test "old messages of a history are not counted" {
    take "$(payload "$(change history '"history":[{"metadata":{"phase":0},
        "threads":[{"id":"15550009003","messages":[
        {"from":"15550009003","id":"wamid.old1","timestamp":"1700000000",
        "type":"text","text":{"body":"x"},
        "history_context":{"status":"READ"}}]}]}]')")"
    assert_equal "$(db "SELECT source FROM message WHERE wamid = 'wamid.old1'")" history
    assert_counts
}

# Inserts counts: used DAY HOUR LINE_ID MEASURE COUNT
used() {
    db "INSERT INTO usage VALUES ('$user', $(($(date -ud "$1 $2:00" +%s) / 3600)), '$3', '$4', $5)"
}

# bats test_tags=long
@test "the answer has every day of the period, their sums, and the numbers of the CLI" {
    used 2026-03-01 00 "$line_id" in 1
    used 2026-03-01 23 "$line_id" in 2
    used 2026-03-02 00 "$line_id" in 4
    used 2026-03-03 12 "$line_id" out 5
    used 2026-03-03 12 "$line_id" utility 3
    used 2026-03-04 00 "$line_id" in 100
    api GET '/v2/usage?from=2026-03-01&to=2026-03-03'
    assert_success
    assert_conventions
    assert_json '.data | [.from, .to, .offset]' '["2026-03-01","2026-03-03",0]'
    assert_json '.data.days | map([.day, .in, .out, .templates.utility])' \
        '[["2026-03-01",3,0,0],["2026-03-02",4,0,0],["2026-03-03",0,5,3]]'
    assert_json .data.total '{"in":7,"out":5,"sent":0,"delivered":0,"read":0,"failed":0,
        "templates":{"marketing":0,"utility":3,"authentication":0,"service":0}}'
    assert_equal "$(switchboard usage "$EMAIL" --since 2026-03-01 --until 2026-03-04 \
        --json | jq -c .)" \
        "$(jq -c .data.days "$body")"
    assert_equal "$(switchboard usage "$EMAIL" --since 2026-03-01 \
        --until 2026-03-04 | tail -n 1 | xargs)" \
        'total 7 5 0 0 0 0 0 3 0 0'
}

@test "days are those of the clock that offset describes" {
    used 2026-03-01 02 "$line_id" in 1
    used 2026-03-01 03 "$line_id" in 2
    used 2026-03-01 18 "$line_id" in 4
    used 2026-03-01 19 "$line_id" in 8
    api GET '/v2/usage?from=2026-02-28&to=2026-03-01&offset=-180'
    assert_json '.data.days | map(.in)' '[1,14]'
    api GET '/v2/usage?from=2026-03-01&to=2026-03-02&offset=330'
    assert_json '.data.days | map(.in)' '[7,8]'
    api GET "/v2/usage?offset=840"
    assert_success
    assert_that '.data.days | length == 30'
    assert_text .data.to "$(date -ud '+14 hours' +%F)"
}

@test "lineId selects a line of the user, an archived one too; another user's is 404" {
    local second
    db "INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered,
        is_coexisting, archived_at,
        created_at) VALUES ('lin_second', '$ACCOUNT', 'second', '+1', 1, 0, 1, 1)"
    used 2026-03-01 02 "$line_id" in 1
    used 2026-03-01 02 lin_second in 2
    api GET '/v2/usage?from=2026-03-01&to=2026-03-01'
    assert_json .data.total.in 3
    api GET '/v2/usage?from=2026-03-01&to=2026-03-01&lineId=lin_second'
    assert_json .data.total.in 2
    for second in "$(db "SELECT id FROM line WHERE phone_number_id = '$OTHER_LINE'")" lin_none; do
        api GET "/v2/usage?lineId=$second"
        assert_error 404 NOT_FOUND
    done
    db "DELETE FROM usage; DELETE FROM line WHERE id = 'lin_second'"
}

# bats test_tags=direct
@test "at most 92 days, in their order, and days and offsets that exist" {
    local field query
    api GET '/v2/usage?from=2026-01-01&to=2026-04-02'
    assert_success
    assert_that '.data.days | length == 92'
    while read -r field query; do
        printf 'case: %s\n' "$query"
        api GET "/v2/usage?$query"
        assert_error 400 VALIDATION_ERROR "$field"
        assert_issue "$field"
    done <<'END'
from from=2026-01-01&to=2026-04-03
from from=0001-01-01
to from=2026-01-02&to=2026-01-01
from from=2026-1-1
from from=2026-02-30
to to=2026-01-01T00:00:00Z
offset offset=841
offset offset=-721
offset offset=1.5
END
}

# --- GET /v2/requests ---

ring_of() {
    printf '%s/requests' "$STACK"
}

@test "the requests of the user are listed, the newest first, with route, status and id, and nothing else" {
    api GET '/v2/me?token=hidden' -H 'X-Request-Id: first'
    api GET /v2/events/evt_none -H 'X-Request-Id: second'
    api POST /v2/messages/send/text -d '{"text":"secret words"}' -H 'X-Request-Id: third'
    request GET /v2/me --as "$OTHER_TOKEN" -H 'X-Request-Id: foreign'
    request GET /v2/me --as wrong -H 'X-Request-Id: refused'
    request GET /v2/health -H 'X-Request-Id: public'
    api GET '/v2/requests?limit=3'
    assert_success
    assert_conventions
    assert_json '.data.items | map([.method, .route, .status, .requestId, .by])' '[
        ["POST","/v2/messages/send/text",400,"third","token"],
        ["GET","/v2/events/:eventId",404,"second","token"],
        ["GET","/v2/me",200,"first","token"]]'
    assert_that '.data.isRecorded
        and (.data.items | all((keys | length) == 7 and .ms >= 0
        and (.time | test("^20"))))'
    refute grep -aq "hidden\|secret words\|evt_none\|$TOKEN\|refused\|public" "$(ring_of)"
    grep -aq foreign "$(ring_of)"
    api GET /v2/overview
    assert_that '.data.token.lastUsedAt | test("^20")'
}

@test "a request with a scoped token is in the list as one with a token, but is no use of the main token" {
    local scoped used
    scoped=$(switchboard scoped-token add "$EMAIL" --name Robot --scope 'basic events' --json |
        jq -r .token)
    keep_secret 'scoped token' "$scoped"
    api GET /v2/me -H 'X-Request-Id: main'
    request GET /v2/me --as "$scoped" -H 'X-Request-Id: robot'
    assert_success
    request GET '/v2/requests?requestId=robot' --as "$scoped"
    assert_json '[.data.items[].by]' '["token"]'
    request GET '/v2/requests?requestId=main' --as "$scoped"
    used=$(jq -r '.data.items[0].time' "$body")
    request GET /v2/overview --as "$scoped"
    assert_json .data.token.lastUsedAt "\"$used\""
}

@test "by and failed limit the list of requests, over its pages too; what was answered 304 is not in it" {
    local change
    api GET /v2/changes
    change=$(jq .data.change "$body")
    api GET "/v2/changes?after=$change" -H 'X-Request-Id: unchanged'
    assert_status 304
    api GET /v2/events/evt_none -H 'X-Request-Id: missing'
    api GET '/v2/requests?requestId=unchanged'
    assert_json .data.items '[]'
    api GET '/v2/requests?failed=true&by=token&limit=100'
    assert_that '.data.items | length > 0 and all(.status >= 400 and .by == "token")
        and any(.requestId == "missing")'
    api GET '/v2/requests?by=session'
    assert_json .data.items '[]'
    all_rows '/v2/requests?failed=true&limit=1' .status >"$BATS_TEST_TMPDIR/statuses"
    ((pages > 1))
    refute grep -v '^[45]' "$BATS_TEST_TMPDIR/statuses"
}

# bats test_tags=long
@test "requestId finds one request, and limit and after lead through all of them, once each" {
    local number
    for number in 1 2 3 4 5 6 7; do
        api GET /v2/me -H "X-Request-Id: page-$number"
    done
    api GET '/v2/requests?requestId=page-3'
    assert_json '[.data.items[].requestId]' '["page-3"]'
    api GET '/v2/requests?requestId=page-99'
    assert_json .data.items '[]'
    all_rows '/v2/requests?limit=3' .requestId >"$BATS_TEST_TMPDIR/ids"
    ((pages >= 3 && pages < 30))
    assert_equal "$(grep page- "$BATS_TEST_TMPDIR/ids" | xargs)" \
        'page-7 page-6 page-5 page-4 page-3 page-2 page-1'
    assert_equal "$(sort "$BATS_TEST_TMPDIR/ids" | uniq -d)" ''
}

# bats test_tags=direct
@test "a cursor that is none of the list is 400" {
    local cursor
    for cursor in x "$(printf evt_1 | base64)" \
        "$(printf nx | base64)" "$(printf n | base64)" 'bjE='; do
        api GET "/v2/requests?after=$cursor"
        assert_error 400 VALIDATION_ERROR after
    done
}

# bats test_tags=long
@test "256 requests at once are all recorded, each whole" {
    local number
    request_many 256 GET /v2/me --as "$TOKEN"
    assert_equal "$(statuses)" '256 200'
    cat "$many"/*/headers | sed -n 's/^X-Request-Id: //p' | sort >"$BATS_TEST_TMPDIR/wanted"
    assert_equal "$(sort -u "$BATS_TEST_TMPDIR/wanted" | wc -l)" 256
    : >"$BATS_TEST_TMPDIR/found"
    after=''
    for number in 1 2 3; do
        api GET "/v2/requests?limit=100$after"
        jq -r '.data.items[] | select(.route == "/v2/me" and .status == 200).requestId' \
            "$body" >>"$BATS_TEST_TMPDIR/found"
        after="&after=$(jq -r '.data.paging.cursors.after' "$body")"
    done
    assert_equal "$(comm -23 "$BATS_TEST_TMPDIR/wanted" \
        <(sort "$BATS_TEST_TMPDIR/found") | wc -l)" 0
}

# Sets the number of the newest record, 8 bytes from the least significant one on: set_last NUMBER
set_last() {
    local i bytes=''
    for ((i = 0; i < 64; i += 8)); do
        printf -v bytes '%s\\x%02x' "$bytes" $((($1 >> i) & 255))
    done
    printf '%b' "$bytes" | dd of="$(ring_of)" bs=1 seek=16 conv=notrunc status=none
}

# bats test_tags=direct
@test "the list is bounded: the newest 65,536 requests are kept, also after a restart" {
    local file size last
    file=$(ring_of)
    size=$(stat -c %s "$file")
    assert_equal "$size" $((4096 + 65536 * 192 + 4096 * 64))
    api GET /v2/me -H 'X-Request-Id: oldest'
    last=$(od -An -tu8 -j 16 -N 8 "$file" | tr -d ' ')
    # the number of the newest record is raised, as 65,535 further requests do:
    # one more, and its place is used again
    set_last $((last + 65535))
    api GET '/v2/requests?requestId=oldest'
    assert_json '[.data.items[].requestId]' '["oldest"]'
    api GET '/v2/requests?requestId=oldest'
    assert_json .data.items '[]'
    assert_equal "$(stat -c %s "$file")" "$size"
}

# bats test_tags=direct
@test "a record that is not whole is left out" {
    local file offset last
    file=$(ring_of)
    api GET /v2/me -H 'X-Request-Id: whole'
    api GET /v2/me -H 'X-Request-Id: damaged'
    last=$(od -An -tu8 -j 16 -N 8 "$file" | tr -d ' ')
    offset=$((4096 + last % 65536 * 192 + 100))
    printf 'X' | dd of="$file" bs=1 seek="$offset" conv=notrunc status=none
    api GET '/v2/requests?limit=1'
    assert_json '[.data.items[].requestId]' '["whole"]'
}

# bats test_tags=direct
@test "an empty requests_file switches the list off; a damaged file is set aside; none costs a request" {
    local file
    file=$(ring_of)
    write_config 'requests_file ='
    api GET /v2/requests
    assert_success
    assert_json .data '{"isRecorded":false,"items":[],"paging":{"cursors":{"after":null}}}'
    write_config "requests_file = $STACK/nowhere/requests"
    api GET /v2/requests
    assert_success
    assert_that '.data.isRecorded == false'
    grep -q 'no request is recorded for /v2/requests: cannot use requests_file .*: No such file' \
        "$LOG"
    write_config "requests_file = $file"
    printf 'not a table' >"$file"
    api GET /v2/requests
    assert_success
    assert_that '.data.isRecorded'
    [[ $(cat "$file.replaced") == 'not a table' ]]
    truncate -s 4096 "$file"
    api GET /v2/me
    assert_success
}
