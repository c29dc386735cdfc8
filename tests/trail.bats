#!/usr/bin/env bats
# The trail: what each route, each command and each login leaves, and GET /v2/trail (doc/api/trail.md)
# shellcheck disable=SC2016,SC2034,SC2153,SC2154  # $ is of jq; each_route sets the variables
load helpers/all
load helpers/batch
load helpers/conventions
load helpers/courier
load helpers/graph
load helpers/routes
load helpers/session
load helpers/factor
load helpers/webhook

setup_file() {
    start_stack
    make_user PERSON_
    set_password PERSON_
    make_user
    have_routes
}

setup() {
    forget_sent
    write_config 'graph_destructive = yes'
    have_webhook # a route of each test removes it
}

# The rows of a request, each as ACTOR|ACTION|OBJECT|ADDRESS: rows_of REQUEST-ID
rows_of() {
    db "SELECT actor, action, object_id, address FROM trail WHERE request_id = '$1'"
}

# The rows of the whole database.
row_count() {
    db 'SELECT count(*) FROM trail'
}

# --- what a request leaves ---

leaves_its_row() {
    local wanted rows before actor object
    before=$(row_count)
    wanted=$(gojq -r --arg method "$method" --arg route "$route" \
        'select(.method == $method and .path == $route).trail' "$ROUTES")
    number=$((number + 1))
    send_sample "${who[@]}" -H "X-Request-Id: trail-$BATS_TEST_NUMBER-$number"
    [[ $status == 2?? || $method == GET ]] || fail_answer 'expected a success'
    rows=$(rows_of "trail-$BATS_TEST_NUMBER-$number")
    if [[ $wanted != *.* ]]; then
        assert_equal "$rows" ''
        assert_equal "$(row_count)" "$before"
        return
    fi
    assert_equal "$(row_count)" "$((before + 1))"
    actor=token
    [[ ${who[0]} != --session ]] || actor=$(db "SELECT id FROM member WHERE email = '$PERSON_EMAIL'")
    [[ $route != /v2/factor/login ]] || actor=$(db "SELECT id FROM member WHERE email = '$PERSON_EMAIL'")
    [[ $route != /v2/session/join ]] || actor=$(db "SELECT id FROM member WHERE email = 'join@example.org'")
    # the object is that of the path, if the path has one
    object=$(gojq -nr --arg url "$url" '$url | [scan("(?:whk|con|thr|lin|evt|ses|tok|mbr|inv|rpl|cmp)_[A-Za-z0-9]+")][0] // "[^|]*"')
    [[ $rows =~ ^$actor\|${wanted/./\\.}\|$object\|127\.0\.0\.1$ ]] ||
        fail "expected $actor, $wanted, $object: $rows"
}

# bats test_tags=route,long
@test "each route that changes something leaves exactly one row, and each other route none" {
    local number=0
    each_route leaves_its_row
}

leaves_nothing() {
    local before
    before=$(row_count)
    request "$method" "$url" "${who[@]}" -d '{"phoneNumberId":17,"url":17,"name":17,"change":"x","role":17,
        "webhookUrl":17,"since":17,"password":17,"messageDays":1,"shortcut":17,"code":17,"requiresFactor":17,"screens":17,"sendAt":17}' -H 'Content-Type: application/json'
    [[ $status == 2?? ]] && fail_answer 'expected a refusal'
    assert_equal "$(row_count)" "$before"
}

# bats test_tags=long
@test "a request that is refused leaves no row" {
    local has_fields='.body == "json" and .members != [] and .trail != null and (.trail | contains("."))'
    each_route leaves_nothing "$has_fields and .path != \"/v2/session\" and .path != \"/v2/contacts/:contactId/block\""
    local before
    before=$(row_count)
    api DELETE /v2/webhooks/whk_none
    assert_error 404 NOT_FOUND
    api PUT /v2/contacts/con_none/block -d '{}'
    assert_error 404 NOT_FOUND
    api POST /v2/threads/thr_none/done -d '{"change":1}'
    assert_error 404 NOT_FOUND
    api PATCH /v2/lines/lin_sample -d '{"isPrimary":true}'
    assert_error 400 VALIDATION_ERROR
    request DELETE /v2/webhooks/whk_sample --as wrong
    assert_error 401 UNAUTHORIZED
    assert_equal "$(row_count)" "$before"
}

@test "a change that the database rolls back leaves no row, and no change" {
    only_on_sqlite 'the trigger is one of SQLite'
    local before name
    before=$(row_count)
    name=$(db "SELECT name FROM line WHERE phone_number_id = '$LINE'")
    db "CREATE TRIGGER no_row BEFORE INSERT ON trail BEGIN SELECT RAISE(ABORT, 'no'); END"
    api PATCH "/v2/lines/$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")" -d '{"name":"Other"}'
    db 'DROP TRIGGER no_row'
    [[ $status != 2?? ]] || fail_answer 'expected a failure'
    assert_equal "$(db "SELECT name FROM line WHERE phone_number_id = '$LINE'")" "$name"
    assert_equal "$(row_count)" "$before"
}

@test "a request that is repeated with its Idempotency-Key leaves one row" {
    local i
    for i in 1 2 3; do
        api POST /v2/webhooks -d '{"url":"https://example.org/once"}' -H 'Idempotency-Key: trail-once' \
            -H "X-Request-Id: once-$i"
        assert_success
    done
    assert_equal "$(db "SELECT count(*) FROM trail WHERE request_id LIKE 'once-%'")" 1
    assert_log_without 'left no row'
}

assert_log_without() {
    ! grep -F "$1" "$LOG" || fail "the log has: $1"
}

@test "the row has the names of the members that the body gives, and never their values" {
    api PATCH /v2/webhooks/whk_sample -H 'X-Request-Id: trail-names' \
        -d '{"name":"Secret name","code":"s3cret-code-of-trail","paused":true,"unknown":1}'
    assert_success
    assert_equal "$(db "SELECT details FROM trail WHERE request_id = 'trail-names'")" \
        '{"fields":["name","code","paused"]}'
    assert_equal "$(db "SELECT count(*) FROM trail WHERE details LIKE '%ecret%'")" 0
}

# The details of the newest row of an action about an object, as the API, the CSV of the API and the
# command show them: assert_details ACTION OBJECT DETAILS
assert_details() {
    request GET "/v2/trail?object=$2&limit=1" --session "$SESSION"
    assert_conventions
    assert_json '.data.items[0] | [.action, .details.object]' "[\"$1\",$3]"
    request GET "/v2/trail?object=$2&format=csv" --session "$SESSION"
    grep -F ",$1,$2," "$body" | head -n 1 | grep -F "${3//\"/\"\"}" || fail_answer "no $3"
    switchboard trail "$EMAIL" | grep -E "  $1 +$2 " | head -n 1 | grep -F "$3" || fail "no $3"
}

# bats test_tags=long
@test "a row has the name of a member, a token or an invitation, also after it is removed" {
    local ana invitation robot ana_is='{"name":"Ana Silva","email":"ana@example.org"}'
    make_session ''
    ana=$(switchboard member add "$EMAIL" ana@example.org --name 'Ana Silva' --role agent)
    assert_details member.add "$ana" "$ana_is"
    request PATCH "/v2/members/$ana" --session "$SESSION" -d '{"role":"viewer"}'
    assert_details member.update "$ana" "$ana_is"
    request DELETE "/v2/members/$ana" --session "$SESSION"
    assert_success
    assert_equal "$(db "SELECT count(*) FROM member WHERE id = '$ana'")" 0
    assert_details member.remove "$ana" "$ana_is"
    switchboard member add "$EMAIL" ana@example.org --name 'Ana Silva' --role agent >/dev/null
    ana=$(db "SELECT id FROM member WHERE email = 'ana@example.org'")
    switchboard member remove "$EMAIL" ana@example.org
    assert_details member.remove "$ana" "$ana_is"
    request POST /v2/invitations --session "$SESSION" -d '{"email":"eva@example.org","role":"agent"}'
    invitation=$(gojq -r .data.id "$body")
    keep_secret invitation "$(gojq -r '.data.path | split("/") | last' "$body")"
    request DELETE "/v2/invitations/$invitation" --session "$SESSION"
    assert_details invitation.delete "$invitation" '{"email":"eva@example.org"}'
    request POST /v2/tokens --session "$SESSION" -d '{"name":"Order robot","scopes":["basic"]}'
    robot=$(gojq -r .data.id "$body")
    keep_secret 'scoped token' "$(gojq -r .data.token "$body")"
    assert_details token.create "$robot" '{"name":"Order robot"}'
    request DELETE "/v2/tokens/$robot" --session "$SESSION"
    assert_details token.delete "$robot" '{"name":"Order robot"}'
    request DELETE "/v2/tokens/$robot" --session "$SESSION"
    assert_error 404 NOT_FOUND
    assert_equal "$(db "SELECT count(*) FROM trail WHERE object_id = '$robot'")" 2
}

# --- logins and the command line ---

@test "a login leaves a row, a login with a wrong password too, and one for an unknown address none" {
    local id before
    id=$(db "SELECT id FROM member WHERE email = '$PERSON_EMAIL'")
    request POST /v2/session -H 'X-Request-Id: login-right' \
        -d "{\"email\":\"$PERSON_EMAIL\",\"password\":\"$PASSWORD\"}"
    assert_success
    assert_equal "$(rows_of login-right)" \
        "$id|session.begin|$(jq -r .data.session.id "$body")|127.0.0.1"
    request POST /v2/session -H 'X-Request-Id: login-wrong' \
        -d "{\"email\":\"$PERSON_EMAIL\",\"password\":\"a wrong password\"}"
    assert_error 401 UNAUTHORIZED
    assert_equal "$(rows_of login-wrong)" "unknown|session.refused|$id|127.0.0.1"
    before=$(row_count)
    request POST /v2/session -d '{"email":"unknown@example.org","password":"a wrong password"}'
    assert_error 401 UNAUTHORIZED
    assert_equal "$(row_count)" "$before"
    assert_equal "$(db "SELECT count(*) FROM trail WHERE details LIKE '%password%'
        AND details LIKE '%$PASSWORD%'")" 0
}

@test "a login by a link leaves a row" {
    local id link
    link=$(switchboard user login-link "$PERSON_EMAIL" --url http://127.0.0.1)
    id=$(db "SELECT id FROM member WHERE email = '$PERSON_EMAIL'")
    request POST /v2/session -H "X-Request-Id: login-link" -d "{\"link\":\"${link##*/}\"}"
    assert_success
    assert_equal "$(rows_of login-link)" \
        "$id|session.begin|$(jq -r .data.session.id "$body")|127.0.0.1"
}

@test "a command that changes something leaves one row of cli:NAME" {
    local before id
    id=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    before=$(row_count)
    SUDO_USER=olga switchboard plan set "$EMAIL" Premium
    assert_equal "$(db "SELECT actor, actor_name, action, user_id, object_id IS NULL, address, request_id
        FROM trail ORDER BY id DESC LIMIT 1")" "cli:olga|olga|plan.set|$id|1||"
    SUDO_USER=olga switchboard token regenerate "$PERSON_EMAIL" >/dev/null
    SUDO_USER=olga switchboard line archive "$LINE"
    assert_equal "$(row_count)" "$((before + 3))"
    assert_equal "$(db "SELECT action FROM trail WHERE actor = 'cli:olga' ORDER BY id" | xargs)" \
        'plan.set token.regenerate line.archive'
    run switchboard plan set unknown@example.org Premium
    assert_equal "$status" 1
    switchboard user list >/dev/null
    assert_equal "$(row_count)" "$((before + 3))"
    make_line '' # the next tests send
}

# --- the platform's routes ---

@test "a deed at the platform leaves one row; one that destroys something leaves it before the call" {
    local before
    graph POST "/v26.0/$WABA/message_templates" -H 'X-Request-Id: edge-1' \
        -d '{"name":"t1","language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"x"}]}'
    assert_status 200
    assert_equal "$(rows_of edge-1)" "token|template.create|$WABA|127.0.0.1"
    before=$(row_count)
    graph GET "/v26.0/$WABA/message_templates"
    graph POST "/v26.0/$LINE/messages" \
        -d '{"messaging_product":"whatsapp","to":"15550007000","type":"text","text":{"body":"Hi"}}'
    graph POST "/v26.0/$WABA/message_templates" -d '{"name":"refused"}'
    assert_equal "$(row_count)" "$before"
}

@test "every edge that is no GET says what it leaves in the trail" {
    local program
    for program in graph graph_media; do
        assert_equal "$("$OUT/cgi-bin/$program" --describe </dev/null |
            jq -c '.edges[] | select((.method == "GET") != (.trail == null))')" ''
    done
}

# --- the list ---

@test "GET /v2/trail lists the rows of the workspace, newest first, by pages and with filters" {
    local id own
    make_session ''
    id=$(db "SELECT id FROM member WHERE email = '$EMAIL'")
    own=$(db "SELECT count(*) FROM trail WHERE user_id = (SELECT id FROM user WHERE email = '$EMAIL')")
    api PATCH /v2/webhooks/whk_sample -d '{"name":"A"}' -H 'X-Request-Id: list-1'
    request PATCH /v2/webhooks/whk_sample --session "$SESSION" -d '{"name":"B"}' -H 'X-Request-Id: list-2'
    assert_success
    request GET '/v2/trail?limit=1' --session "$SESSION"
    assert_success
    assert_conventions
    assert_json '.data.items[] | [.requestId, .action, .objectId, .actor, .address, .details]' \
        "[\"list-2\",\"webhook.update\",\"whk_sample\",{\"id\":\"$id\",\"name\":\"$EMAIL\"},\"127.0.0.1\",{\"fields\":[\"name\"]}]"
    request GET "/v2/trail?limit=1&after=$(jq -r .data.paging.cursors.after "$body")" --session "$SESSION"
    assert_json '[.data.items[].requestId]' '["list-1"]'
    request GET '/v2/trail?actor=token&action=webhook.update&object=whk_sample&limit=1' --session "$SESSION"
    assert_json '[.data.items[].requestId]' '["list-1"]'
    request GET "/v2/trail?actor=$id&limit=1" --session "$SESSION"
    assert_json '[.data.items[].requestId]' '["list-2"]'
    request GET '/v2/trail?action=webhook.none' --session "$SESSION"
    assert_json .data '{"items":[],"paging":{"cursors":{"after":null}}}'
    request GET '/v2/trail?after=x' --session "$SESSION"
    assert_error 400 VALIDATION_ERROR
    make_session PERSON_
    request GET '/v2/trail?object=whk_sample' --session "$SESSION"
    assert_json .data.items '[]'
    request GET /v2/trail --as "$TOKEN"
    assert_error 401 UNAUTHORIZED
}

@test "the CSV has all rows, and no cell is a formula" {
    local id lines
    make_session ''
    id=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    db "INSERT INTO trail WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
        SELECT 'trl_0000000000000000000000' || (1000 + i), '$id', i, '=cmd()', '+1', 'a.b', '-2+3', '{}', '@x', '=1' FROM n"
    request GET '/v2/trail?format=csv&action=a.b' --session "$SESSION"
    assert_status 200
    assert_header Content-Type 'text/csv; charset=utf-8; header=present'
    assert_equal "$(wc -l <"$body")" 1201
    assert_equal "$(sed -n 1p "$body")" $'at,actor,actorName,action,objectId,details,address,requestId\r'
    assert_equal "$(sed -n 2p "$body")" $'1970-01-01T00:00:01.200Z,\'=cmd(),\'+1,a.b,\'-2+3,{},\'@x,\'=1\r'
    assert_equal "$(grep -cE '(^|,)[=+@-]' "$body")" 0
    db "DELETE FROM trail WHERE action = 'a.b'"
}

@test "switchboard trail prints the rows of a user, as a table, as JSON and as CSV" {
    local id
    id=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    db "INSERT INTO trail WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
        SELECT 'trl_0000000000000000000000' || (1000 + i), '$id', i, '=cmd()', 'n', 'a.b', 'o', '{}', '', '' FROM n"
    switchboard trail "$EMAIL" --json --limit 1 --after trl_00000000000000000000001003 >"$BATS_TEST_TMPDIR/out"
    assert_equal "$(gojq -c '.[0] // .items[0] | [.id, .at, .actor.id, .action, .objectId]' "$BATS_TEST_TMPDIR/out")" \
        '["trl_00000000000000000000001002","1970-01-01T00:00:00.002Z","=cmd()","a.b","o"]'
    switchboard trail "$EMAIL" --limit 1 --after trl_00000000000000000000001003 >"$BATS_TEST_TMPDIR/out"
    grep -q '^1970-01-01T00:00:00.002Z  =cmd()  n ' "$BATS_TEST_TMPDIR/out" || fail "$(<"$BATS_TEST_TMPDIR/out")"
    switchboard trail "$EMAIL" --csv >"$BATS_TEST_TMPDIR/out"
    assert_equal "$(grep -c ",a.b,o,{},,"$'\r' "$BATS_TEST_TMPDIR/out")" 700
    assert_equal "$(tail -n 1 "$BATS_TEST_TMPDIR/out")" $'1970-01-01T00:00:00.001Z,\'=cmd(),n,a.b,o,{},,\r'
    run switchboard trail unknown@example.org
    assert_equal "$status" 1
    db "DELETE FROM trail WHERE action = 'a.b'"
}

# --- nothing but the courier deletes ---

@test "the courier deletes rows that are older than trail_days" {
    local id now
    id=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    now=$(date +%s)000
    db "INSERT INTO trail SELECT 'trl_old', '$id', $((now - 366 * 86400000)), 'a', 'a', 'a.b', NULL, '{}', '', '';
        INSERT INTO trail SELECT 'trl_new', '$id', $((now - 364 * 86400000)), 'a', 'a', 'a.b', NULL, '{}', '', ''"
    courier --once
    assert_equal "$(db "SELECT id FROM trail WHERE action = 'a.b'")" trl_new
    db "DELETE FROM trail WHERE action = 'a.b'"
}

@test "only the courier deletes rows, and no statement changes one" {
    local found
    found=$(grep -rlE '(DELETE FROM|UPDATE) trail\b' "$root"/lib "$root"/cgi-bin "$root"/tools --include=*.c)
    assert_equal "${found#"$root"/}" lib/store/deed.c
    assert_equal "$(grep -cE 'UPDATE trail\b' "$root/lib/store/deed.c")" 0
    assert_equal "$(grep -rl 'store_delete_old_trail' "$root"/{lib,cgi-bin,tools} --include=*.c |
        xargs -n 1 basename | sort | xargs)" 'courier.c deed.c'
}

@test "no secret of the run is in any row" {
    local kind secret
    db 'SELECT * FROM trail' >"$BATS_TEST_TMPDIR/rows"
    (($(wc -l <"$BATS_TEST_TMPDIR/rows") > 20))
    cut -f 2 "$BATS_RUN_TMPDIR/secrets" | awk 'length > 6' | sort -u >"$BATS_TEST_TMPDIR/secrets"
    (($(wc -l <"$BATS_TEST_TMPDIR/secrets") > 3))
    ! grep -F -f "$BATS_TEST_TMPDIR/secrets" "$BATS_TEST_TMPDIR/rows" || fail 'a secret is in the trail'
}
