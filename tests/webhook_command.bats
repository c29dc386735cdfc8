#!/usr/bin/env bats
# The commands of the noun webhook of the admin CLI, tools/switchboard.
# transports: direct
load helpers/all
load helpers/command
load helpers/courier

setup_file() {
    start_stack
    make_user
    make_user OTHER_
    start_receiver HOOK
}

teardown_file() {
    stop_receivers
    stop_stack
}

setup() {
    body=$BATS_TEST_TMPDIR/stdout headers=$BATS_TEST_TMPDIR/stderr
    forget_webhooks
}

# Adds a webhook and sets $webhook to its id and $code to its code: add_webhook WORD...
add_webhook() {
    done_quietly webhook add "$@"
    assert_equal "$(wc -l <"$body")" 2
    webhook=$(sed -n 1p "$body") code=$(sed -n 2p "$body")
    [[ $webhook =~ ^whk_[0-9a-z]{26}$ && $code =~ ^[0-9a-f]{64}$ ]] || fail_answer 'expected an id and a code'
    keep_secret 'webhook code' "$code"
}

# Prints a jq expression of the webhook, as `show --json` prints it: shown EXPRESSION
shown() {
    switchboard webhook show "$webhook" --json | jq -c "$1"
}

# Adds one of the kind forward at /good of the receiver: add_forward [WORD...]
add_forward() {
    answers HOOK good 'verify v3rify-token'
    printf 'v3rify-token\n' >"$BATS_TEST_TMPDIR/token"
    add_webhook "$EMAIL" "$HOOK_URL/good" --kind forward --verify-token-file "$BATS_TEST_TMPDIR/token" "$@"
}

# --- add ---

@test "webhook add prints id and code, once" {
    add_webhook "$EMAIL" https://a.example/hook
    assert_equal "$(shown 'del(.id, .createdAt, .updatedAt)')" "$(jq -nc --arg email "$EMAIL" '{email: $email,
        name: "", kind: "event", url: "https://a.example/hook", eventTypes: null, accountId: null, phoneNumberIds: null, fields: null,
        updates: null, splitMessages: false, state: "active", isFirst: true, pausedAt: null, failingSince: null, suspendedAt: null,
        nextProbeAt: null, pendingEvents: 0, deadEvents: 0}')"
    done_quietly webhook show "$webhook"
    ! grep -qF "$code" "$body" || fail 'the code is printed again'
    request GET "/v2/webhooks/$webhook" --as "$TOKEN"
    assert_text .data.code "$code"
    body=$BATS_TEST_TMPDIR/stdout
    done_quietly webhook add "$EMAIL" https://b.example/ --json
    assert_that '(keys == ["code", "id"]) and (.code | length == 64)'
}

@test "webhook add refuses more than 1,000 webhooks of a user" {
    db "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO webhook (id, user_id, kind, created_at, updated_at)
        SELECT 'whk_' || i, (SELECT id FROM user WHERE email = '$EMAIL'), 'event', i, i FROM n"
    fails_with "$EMAIL has 1000 webhooks already; delete one" webhook add "$EMAIL" https://a.example/hook
    add_webhook "$OTHER_EMAIL" https://a.example/hook
}

@test "webhook add takes a name, event types and lines" {
    add_webhook "$EMAIL" https://a.example/ --name 'Größe ☃' --types message.status,lead.created --lines "$LINE"
    assert_equal "$(shown '[.name, .eventTypes, .phoneNumberIds]')" \
        "[\"Größe ☃\",[\"message.status\",\"lead.created\"],[\"$LINE\"]]"
    add_webhook "$EMAIL" https://b.example/ --types default --lines all
    assert_equal "$(shown '[.eventTypes, .phoneNumberIds]')" '[null,null]'
}

@test "webhook add --kind forward verifies the URL, and stores no token" {
    add_forward --fields messages,account_update --updates messages,echoes --split
    assert_equal "$(shown '[.kind, .fields, .updates, .splitMessages, .isFirst]')" '["forward",["messages","account_update"],["messages","echoes"],true,false]'
    grep -q '^GET /good?hub\.mode=subscribe&hub\.verify_token=v3rify-token&' "$HOOK_DIR/1.head"
    assert_equal "$(count_in_database v3rify-token)" 0
    add_forward --fields all
    assert_equal "$(shown .fields)" '["*"]'
    add_forward --fields default
    assert_equal "$(shown .fields)" null
}

@test "the verify token may come from standard input" {
    answers HOOK good 'verify v3rify-token'
    status=0
    printf 'v3rify-token' | switchboard webhook add "$EMAIL" "$HOOK_URL/good" --kind forward >"$body" || status=$?
    assert_equal "$status" 0
}

# bats test_tags=long
@test "webhook add refuses what is wrong, with what to do" {
    local long
    usage_error 'URL `ftp://a.example/` must be an absolute http: or https: URL' webhook add "$EMAIL" ftp://a.example/
    usage_error '--kind `both` must be event or forward' webhook add "$EMAIL" https://a.example/ --kind both
    usage_error '--types `message.sent` must be default, or some of' webhook add "$EMAIL" https://a.example/ --types message.sent
    usage_error '--types `lead.created,lead.created` must be' webhook add "$EMAIL" https://a.example/ --types lead.created,lead.created
    usage_error '--types `lead.created,` must be' webhook add "$EMAIL" https://a.example/ --types lead.created,
    usage_error '--lines `x` must be all, or' webhook add "$EMAIL" https://a.example/ --lines x
    usage_error '--fields `Messages` must be default, all, or fields' webhook add "$EMAIL" https://a.example/ --fields Messages
    usage_error '--fields is for webhooks of the kind forward' webhook add "$EMAIL" https://a.example/ --fields messages
    usage_error '--updates `messages,seen` must be all, or some of messages,statuses,echoes, each once' webhook add "$EMAIL" https://a.example/ --updates messages,seen
    usage_error '--updates is for webhooks of the kind forward' webhook add "$EMAIL" https://a.example/ --updates messages
    usage_error '--split is for webhooks of the kind forward' webhook add "$EMAIL" https://a.example/ --split
    usage_error '--types is for webhooks of the kind event' webhook add "$EMAIL" https://a.example/ --kind forward --types lead.created
    fails_with "the user has no line $OTHER_LINE; \`switchboard line list\` shows all" \
        webhook add "$EMAIL" https://a.example/ --lines "$LINE,$OTHER_LINE"
    fails_with 'there is no user nobody@example.org' webhook add nobody@example.org https://a.example/
    fails_with 'cannot open /nowhere/token: No such file' \
        webhook add "$EMAIL" https://a.example/ --kind forward --verify-token-file /nowhere/token
    long=$BATS_TEST_TMPDIR/token
    printf 'two\nlines\n' >"$long"
    fails_with 'must be one line of 1 to 1024 bytes' webhook add "$EMAIL" https://a.example/ --kind forward --verify-token-file "$long"
    head -c 2000 /dev/zero | tr '\0' x >"$long"
    fails_with 'must be one line of 1 to 1024 bytes' webhook add "$EMAIL" https://a.example/ --kind forward --verify-token-file "$long"
    answers HOOK good 'verify other'
    printf wrong >"$long"
    fails_with "$HOOK_URL/good could not be verified: HTTP 403 was answered instead of 200" \
        webhook add "$EMAIL" "$HOOK_URL/good" --kind forward --verify-token-file "$long"
    assert_equal "$(db 'SELECT count(*) FROM webhook')" 0
}

@test "without the key file no webhook is added" {
    mv "$STACK/secret.key" "$STACK/secret.away"
    cli webhook add "$EMAIL" https://a.example/
    mv "$STACK/secret.away" "$STACK/secret.key"
    assert_equal "$status" 1
    grep -q 'secret.key' "$headers"
    assert_equal "$(db 'SELECT count(*) FROM webhook')" 0
}

@test "without the key file a webhook keeps its code, and one line says why" {
    add_webhook "$EMAIL" https://a.example/
    mv "$STACK/secret.key" "$STACK/secret.away"
    fails_with "cannot read the key file $STACK/secret.key" webhook change "$webhook" --new-code
    mv "$STACK/secret.away" "$STACK/secret.key"
    request GET "/v2/webhooks/$webhook" --as "$TOKEN"
    assert_text .data.code "$code"
}

# --- list and show ---

@test "webhook list shows the webhooks of all users or of one, without their codes" {
    local first
    add_webhook "$EMAIL" https://a.example/ --name One
    first=$webhook
    add_webhook "$OTHER_EMAIL" https://b.example/
    done_quietly webhook list
    assert_equal "$(head -n 1 "$body" | tr -s ' ')" 'ID USER NAME KIND URL STATE WAITING GIVEN UP'
    assert_equal "$(tail -n +2 "$body" | tr -s ' ' | sed 's/ $//')" "$first $EMAIL One event https://a.example/ active 0 0
$webhook $OTHER_EMAIL - event https://b.example/ active 0 0"
    list_as_json webhook list "$OTHER_EMAIL"
    assert_that "length == 1 and .[0].id == \"$webhook\" and (.[0] | has(\"code\") | not)"
    fails_with 'there is no user nobody@example.org' webhook list nobody@example.org
}

@test "webhook list shows 250 webhooks of a user" {
    db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
        INSERT INTO webhook (id, user_id, kind, url, created_at, updated_at)
        SELECT printf('whk_0000000000000000000000%04d', i), u.id, 'event', 'https://a.example/' || i, i, 1
        FROM n JOIN user u ON u.email = '$EMAIL'"
    list_as_json webhook list "$EMAIL"
    assert_equal "$(jq -r '.[].url' "$body")" "$(seq -f 'https://a.example/%g' 250)"
}

@test "webhook show prints what a webhook gets" {
    add_webhook "$EMAIL" https://a.example/ --name One
    done_quietly webhook show "$webhook"
    assert_equal "$(sed -n 's/^types *//p' "$body")" "all but $(jq -r '.types - .preset | join(" ")' "$OUT/htdocs/docs/event_types.json") (default)"
    assert_equal "$(sed -n 's/^lines *//p' "$body")" all
    assert_equal "$(sed -n 's/^user *//p' "$body")" "$EMAIL"
    refute grep -q "^split" "$body"
    add_forward --split --lines "$LINE"
    done_quietly webhook show "$webhook"
    assert_equal "$(sed -n 's/^updates *//p' "$body")" 'all (default)'
    assert_equal "$(sed -n 's/^fields *//p' "$body")" 'messages (default)'
    assert_equal "$(sed -n 's/^lines *//p' "$body")" "$LINE"
    assert_equal "$(sed -n 's/^split *//p' "$body")" yes
    fails_with 'there is no webhook whk_none; `switchboard webhook list` shows all' webhook show whk_none
}

# --- change ---

@test "webhook change sets what is given, and --new-code prints a code, once" {
    local old
    add_webhook "$EMAIL" https://a.example/ --name One --types lead.created
    old=$code
    done_quietly webhook change "$webhook" https://b.example/ --name Two --types default --lines "$LINE"
    prints "$webhook"
    assert_equal "$(shown '[.url, .name, .eventTypes, .phoneNumberIds]')" "[\"https://b.example/\",\"Two\",null,[\"$LINE\"]]"
    done_quietly webhook change "$webhook" --new-code
    code=$(sed -n 2p "$body")
    [[ $code =~ ^[0-9a-f]{64}$ && $code != "$old" ]] || fail "no new code: $code"
    keep_secret 'webhook code' "$code"
    assert_equal "$(db "SELECT previous_until > 0 FROM webhook WHERE id = '$webhook'")" 1
    assert_equal "$(shown '[.url, .name]')" '["https://b.example/","Two"]'
    usage_error 'webhooks of the kind forward' webhook change "$webhook" --split
    fails_with 'there is no webhook whk_none' webhook change whk_none --name x
}

@test "webhook change of the kind forward verifies a new URL" {
    add_forward --split
    done_quietly webhook change "$webhook" --no-split --fields all --updates statuses
    assert_equal "$(shown '[.splitMessages, .fields, .updates]')" '[false,["*"],["statuses"]]'
    done_quietly webhook change "$webhook" --updates all
    assert_equal "$(shown .updates)" null
    done_quietly webhook change "$webhook" "$HOOK_URL/good"
    usage_error 'give either --split or --no-split' webhook change "$webhook" --split --no-split
    answers HOOK other 'verify x'
    fails_with 'could not be verified' webhook change "$webhook" "$HOOK_URL/other" --verify-token-file "$BATS_TEST_TMPDIR/token"
    assert_equal "$(shown .url)" "\"$HOOK_URL/good\""
    printf 'x\r\n' >"$BATS_TEST_TMPDIR/token"
    done_quietly webhook change "$webhook" "$HOOK_URL/other" --verify-token-file "$BATS_TEST_TMPDIR/token"
    assert_equal "$(shown .url)" "\"$HOOK_URL/other\""
}

# --- pause, resume, test, delete ---

# bats test_tags=long
@test "webhook pause and resume are repeatable, and resume ends a suspension" {
    add_webhook "$EMAIL" https://a.example/
    done_quietly webhook pause "$webhook"
    prints "paused $webhook"
    done_quietly webhook pause "$webhook"
    assert_equal "$(shown .state)" '"paused"'
    fails_with "webhook $webhook is paused; \`switchboard webhook resume $webhook\` resumes it" webhook test "$webhook"
    done_quietly webhook resume "$webhook"
    prints "resumed $webhook"
    assert_equal "$(shown .state)" '"active"'
    db "UPDATE webhook SET suspended_at = 1, next_probe_at = 9999999999999"
    assert_equal "$(shown .state)" '"suspended"'
    list_as_json webhook resume "$webhook"
    assert_that "{id, paused} == {id: \"$webhook\", paused: false}"
    assert_equal "$(shown .state)" '"active"'
    fails_with 'there is no webhook whk_none' webhook pause whk_none
}

@test "event resume ends the suspensions of all users, and no pause" {
    local first
    add_webhook "$EMAIL" https://a.example/
    first=$webhook
    add_webhook "$EMAIL" https://b.example/
    db "UPDATE webhook SET suspended_at = 1, failing_since = 1, next_probe_at = 9999999999999"
    db "UPDATE webhook SET paused_at = 1 WHERE id = '$first'"
    list_as_json event resume
    assert_that ".resumed == [\"$EMAIL\"]"
    assert_equal "$(db "SELECT count(suspended_at), count(failing_since), count(next_probe_at) FROM webhook")" '0|0|0'
    assert_equal "$(db "SELECT id FROM webhook WHERE paused_at = 1")" "$first"
}

@test "webhook test sends a ping to this webhook alone" {
    local id
    answers HOOK one
    answers HOOK two
    add_webhook "$EMAIL" "$HOOK_URL/one"
    add_webhook "$EMAIL" "$HOOK_URL/two"
    done_quietly webhook test "$webhook"
    id=$(cat "$body")
    courier_once
    assert_equal "$(received_count HOOK one) $(received_count HOOK two)" '0 1'
    assert_equal "$(received_header HOOK 1 webhook-id)" "$id"
}

@test "webhook delete removes a webhook" {
    add_webhook "$EMAIL" https://a.example/
    done_quietly webhook delete "$webhook"
    prints "deleted webhook $webhook"
    fails_with "there is no webhook $webhook" webhook delete "$webhook"
    done_quietly webhook list "$EMAIL" --json
    prints '[]'
}
