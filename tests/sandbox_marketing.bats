#!/usr/bin/env bats
# transports: direct
# The Graph sandbox takes marketing messages, and counts what becomes of templates, as
# template_analytics of the platform do.
load helpers/all
load helpers/sandbox_calls

SALE=310000000000006    # a marketing template
SHIPPED=310000000000003 # a utility template with the quick reply Thanks
DAY=86400

sale='"name":"spring_sale","language":{"code":"en_US"},"components":[
    {"type":"body","parameters":[{"type":"text","text":"20%"},{"type":"text","text":"A"}]},
    {"type":"button","sub_type":"copy_code","index":0,"parameters":[
        {"type":"coupon_code","coupon_code":"A"}]}]'
shipped='"name":"order_shipped","language":{"code":"en_US"},"components":[
    {"type":"body","parameters":[{"type":"text","text":"Ada"},{"type":"text","text":"A"}]},
    {"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":"x"}]}]'

# Sends a marketing message: market TEMPLATE [MEMBERS]
market() {
    post "$LINE/marketing_messages" "{\"messaging_product\":\"whatsapp\",\"to\":\"+16505551234\",
        \"type\":\"template\",\"template\":{$1}${2:+,$2}}"
}

# Reads the analytics of today: analytics TEMPLATE-IDS [further parameters]
analytics() {
    local now
    now=$(date +%s)
    graph GET "$WABA/template_analytics?granularity=DAILY&start=$now&end=$((now + 1))$(
    )&template_ids=$1${2-}"
}

# Sends webhooks to a URL without a server, by their members: hook MEMBERS
hook() {
    sandbox POST webhooks "{\"url\":\"http://127.0.0.1:9/\",\"retries\":0,\"wait\":false,$1}" \
        >/dev/null
}

@test "marketing_messages: a marketing template is accepted, with the members of this edge" {
    market "$sale"
    assert_accepted
    assert_text '.messages[0].message_status' accepted
    market "$sale" '"product_policy":"CLOUD_API_FALLBACK","message_activity_sharing":false,
        "recipient_type":"individual"'
    assert_accepted
    market "$sale" '"product_policy":"STRICT","biz_opaque_callback_data":"x"'
    assert_accepted
    graph POST "$LINE/marketing_messages" -d messaging_product=whatsapp -d to=16505551234 \
        -d type=template -d message_activity_sharing=true --data-urlencode "template={$sale}"
    assert_accepted
}

@test "marketing_messages: what is no marketing template, or has a wrong member, is refused" {
    local given message
    post "$LINE/marketing_messages" \
        "{\"messaging_product\":\"whatsapp\",\"to\":\"1555\",\"type\":\"text\",$text}"
    assert_refused 400 100 'Invalid parameter'
    assert_text .error.error_data.details 'Message must be a template message.'
    for given in "\"to\":\"1555\",$text" '"status":"read","message_id":"wamid.x"'; do
        post "$LINE/marketing_messages" "{\"messaging_product\":\"whatsapp\",$given}"
        assert_refused 400 100 'Invalid parameter'
    done
    market "$shipped"
    assert_refused 400 134100 'Only marketing messages supported'
    assert_text .error.error_data.details \
        "You're only able to send marketing messages on this API."
    market '"name":"survey_paused","language":{"code":"en_US"}'
    assert_refused 400 132015
    market '"name":"nothing","language":{"code":"en_US"}'
    assert_refused 404 132001
    market "${sale%,*}]"
    assert_status 400
    while IFS='|' read -r given message; do
        market "$sale" "$given"
        assert_refused 400 100 "$message"
    done <<'END'
"product_policy":"LOOSE"|product_policy must be one of {CLOUD_API_FALLBACK, STRICT}
"product_policy":1|product_policy must be one of
"message_activity_sharing":"maybe"|message_activity_sharing must be a boolean
"message_activity_sharing":0|message_activity_sharing must be a boolean
"recipient_type":"group"|recipient_type must be one of {individual}
END
    post "$LINE/marketing_messages" "{\"to\":\"1555\",\"type\":\"template\",\"template\":{$sale}}"
    assert_refused 400 100 messaging_product
    graph GET "$LINE/marketing_messages"
    assert_refused 400 100
    post "$LINE/deregister" ''
    market "$sale"
    assert_refused 400 133010
}

@test "marketing_messages: an account that is not admitted gets error 134102" {
    graph GET "$WABA?fields=marketing_messages_lite_api_status"
    assert_body_is "{\"marketing_messages_lite_api_status\":\"ONBOARDED\",\"id\":\"$WABA\"}"
    sandbox POST "nodes/$WABA" '{"marketing_messages_lite_api_status":"ELIGIBLE"}' >/dev/null
    market "$sale"
    assert_refused 500 134102 'Template unavailable for use'
    send_template "{$sale}"
    assert_accepted
}

@test "template_analytics: each template has a point for each day, with what was sent and read" {
    local first today
    today=$(($(date +%s) / DAY * DAY))
    analytics "$SHIPPED"
    assert_json .data "[{\"granularity\":\"DAILY\",\"product_type\":\"cloud_api\",
        \"data_points\":[{\"template_id\":\"$SHIPPED\",\"start\":$today,\"end\":$((today + DAY)),
        \"sent\":0,\"delivered\":0,\"read\":0,\"clicked\":[{\"type\":\"quick_reply_button\",
        \"button_content\":\"Thanks\",\"count\":0}]}]}]"
    assert_that '.paging.cursors | .before and .after'
    send_template "{$shipped}"
    first=$(gojq -r '.messages[0].id' "$body")
    send_template "{$shipped}"
    hook "\"kind\":\"status_delivered\",\"id\":\"$first\""
    hook "\"kind\":\"status_delivered\",\"id\":\"$first\""
    hook "\"kind\":\"status_read\",\"id\":\"$(gojq -r '.messages[0].id' "$body")\""
    hook '"kind":"status_read","id":"wamid.other"'
    hook "\"kind\":\"button\",\"context\":\"$first\",\"title\":\"Thanks\""
    hook "\"kind\":\"button\",\"context\":\"$first\",\"title\":\"Thanks\""
    analytics "[$SHIPPED,\"310000000000001\"]"
    assert_json '.data[0].data_points | map([.template_id, .sent, .delivered, .read])' \
        "[[\"$SHIPPED\",2,2,1],[\"310000000000001\",0,0,0]]"
    assert_json '.data[0].data_points | map(.clicked[0].count)' '[1,null]'
    # a choice of metrics, in small letters too
    analytics "$SHIPPED" '&metric_types=sent%2Cread'
    assert_json '.data[0].data_points[0] | keys' '["end","read","sent","start","template_id"]'
    analytics "$SHIPPED" '&metric_types=["CLICKED","COST","APP_PURCHASES"]'
    assert_json '.data[0].data_points[0] | keys' '["clicked","end","start","template_id"]'
    analytics "$SHIPPED" '&metric_types=[]'
    assert_json '.data[0].data_points[0].sent' 2
}

@test "template_analytics: marketing messages are counted apart, and failed ones not at all" {
    market "$sale"
    send_template "{$sale}"
    sandbox POST numbers '{"number":"16505551234","failCode":131026}' >/dev/null
    send_template "{$sale}"
    analytics "$SALE"
    assert_json '.data[0] | [.product_type, .data_points[0].sent]' '["cloud_api",1]'
    assert_that '.data[0].data_points[0] | has("clicked") | not'
    analytics "$SALE" '&product_type=MARKETING_MESSAGES_API_FOR_WHATSAPP'
    assert_json '.data[0] | [.product_type, .data_points[0].sent]' \
        '["marketing_messages_api_for_whatsapp",1]'
}

@test "template_analytics: automatic statuses are counted, and a template may opt out of clicks" {
    sandbox POST settings '{"webhookUrl":"http://127.0.0.1:9/","webhookRetries":0,
        "automaticStatuses":true,"statusDelayMs":1}' >/dev/null
    send_template "{$shipped}"
    all_read() {
        analytics "$SHIPPED"
        gojq -e '.data[0].data_points[0] | .sent == 1 and .read == 1' "$body" >/dev/null
    }
    eventually all_read
    sandbox POST "templates/$SHIPPED" '{"cta_url_link_tracking_opted_out":true}' >/dev/null
    analytics "$SHIPPED"
    assert_that '.data[0].data_points[0] | has("clicked") | not'
}

@test "template_analytics: days are those of UTC, up to today, in pages" {
    local today=$(($(date +%s) / DAY * DAY)) query
    query="$WABA/template_analytics?granularity=daily&template_ids=$SHIPPED,$SALE"
    graph GET "$query&start=$((today - 2 * DAY + 5))&end=$((today - DAY + 1))"
    assert_json '.data[0].data_points | map(.start)' \
        "[$((today - 2 * DAY)),$((today - DAY)),$((today - 2 * DAY)),$((today - DAY))]"
    graph GET "$query&start=$((today - DAY))&end=$today"
    assert_json '.data[0].data_points | map(.end)' "[$today,$today]"
    graph GET "$query&start=$(date -u -d "@$((today - DAY))" +%F)&end=$(date -u +%F)"
    assert_json '.data[0].data_points | length' 4
    graph GET "$query&start=$((today - 90 * DAY))&end=$((today + 30 * DAY))"
    assert_json '.data[0].data_points | length' 25
    graph GET "$query&start=$((today - 90 * DAY))&end=$((today + 30 * DAY))&limit=200"
    assert_json '.data[0].data_points | [length, .[90].start, .[91].template_id]' \
        "[182,$today,\"$SALE\"]"
    graph GET "$query&start=$today&end=$((today + 1))&limit=1"
    assert_json '.data[0].data_points | map(.template_id)' "[\"$SHIPPED\"]"
    fetch "$(gojq -r .paging.next "$body")"
    assert_json '.data[0].data_points | map(.template_id)' "[\"$SALE\"]"
    graph GET "$query&start=$((today + DAY))&end=$((today + 2 * DAY))"
    assert_json . '{"data":[{"granularity":"DAILY","product_type":"cloud_api","data_points":[]}]}'
}

# bats test_tags=long
@test "template_analytics: a missing or wrong parameter is refused" {
    local now query message many day
    now=$(date +%s)
    day="granularity=DAILY&start=$now&end=$now"
    many=$(printf "$SALE,%.0s" {1..11})
    while IFS='|' read -r query message; do
        graph GET "$WABA/template_analytics?$query"
        assert_refused 400 100 "$message"
    done <<END
|granularity must be one of {DAILY}
granularity=HOURLY|granularity must be one of {DAILY}
granularity=DAILY|The parameter start is required
granularity=DAILY&start=$now|The parameter end is required
granularity=DAILY&start=yesterday&end=$now|start must be a UNIX timestamp or a date
granularity=DAILY&start=-1&end=$now|start must be a UNIX timestamp or a date
granularity=DAILY&start=2026-13-01&end=$now|start must be a UNIX timestamp or a date
granularity=DAILY&start=$now&end=2026-01-01x|end must be a UNIX timestamp or a date
granularity=DAILY&start=$now&end=$((now - DAY))|end must be after start
granularity=DAILY&start=$((now - 92 * DAY))&end=$now|start must be within the last 90 days
$day|The parameter template_ids is required
$day&template_ids=[]|The parameter template_ids is required
$day&template_ids=$SALE,32000|template_ids[1] is no template: 32000
$day&template_ids=$many|at most 10 items
$day&template_ids=$SALE&metric_types=OPENED|unknown metric: OPENED
$day&template_ids=$SALE&product_type=X|product_type must be one of
$day&template_ids=$SALE&use_waba_timezone=true|the days are those of UTC
END
    graph POST "$WABA/template_analytics"
    assert_refused 400 100
    token=sandbox-token-2 graph GET "$WABA/template_analytics?granularity=DAILY"
    assert_refused 400 100
}

@test "template_analytics: the last 4096 messages are counted, saved with the state, and reset" {
    local today saved=$BATS_TEST_TMPDIR/saved.out i
    today=$(($(date +%s) / DAY * DAY))
    sandbox GET state | gojq -c --arg id $SALE --argjson at "${today}000" \
        '.templateUses = [range(4098) | {id: "wamid.\(.)", templateId: $id, sentAt: $at,
            read: (. == 0), clicked: (if . == 1 then "Yes" else null end)}]' >"$saved"
    sandbox POST state "@$saved" | gojq -e .done
    analytics "$SALE"
    assert_json '.data[0].data_points[0] | [.sent, .delivered, .read]' '[4096,0,0]'
    hook '"kind":"status_read","id":"wamid.1"'
    hook '"kind":"status_read","id":"wamid.2"'
    analytics "$SALE"
    assert_json '.data[0].data_points[0] | [.sent, .delivered, .read]' '[4096,1,1]'
    sandbox GET state >"$saved"
    assert_equal "$(gojq -c '.templateUses[0]' "$saved")" "$(gojq -nc --arg id "$SALE" "{
        clicked: null, delivered: true, id: \"wamid.2\", isMarketing: false, read: true,
        sentAt: ${today}000, templateId: \$id}")"
    for i in '[{"id":"x"}]' '[{"templateId":"x"}]' '[{"id":"x","templateId":"y","read":1}]' \
        '[7]'; do
        gojq -c ".templateUses = $i" "$saved" >"$BATS_TEST_TMPDIR/wrong.out"
        sandbox POST state "@$BATS_TEST_TMPDIR/wrong.out" |
            gojq -e '.error | startswith("templateUses")'
    done
    sandbox GET state | cmp - "$saved"
    sandbox POST reset >/dev/null
    analytics "$SALE"
    assert_json '.data[0].data_points[0].sent' 0
}
