#!/usr/bin/env bats
# The conversations that `make run` stores in a new directory.
# transports: cgi
# bats file_tags=long
load helpers/all

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree
    mkdir -p "$TREE/tools"
    cp -r "$OUT/cgi-bin" "$root/apache.conf" "$TREE/"
    cp -r "$root"/tools/{run,stop,common.bash,private-apache,demo} \
        "$OUT"/tools/{switchboard{,-sandbox},pool,courier} "$TREE/tools/"
    unset GRAPH_BASE_URL SWITCHBOARD_CONFIG DEMO
}

setup() {
    export RUN_DIR=$BATS_TEST_TMPDIR/r PORT
}

teardown() {
    [[ ! -e $RUN_DIR/lock ]] || "$TREE/tools/stop"
}

# Runs tools/run, on another port if another program took this one. The descriptors of bats are
# closed, so that bats does not wait for the programs that stay running.
demo() {
    local try
    for try in 1 2 3; do
        PORT=$(free_port)
        "$TREE/tools/run" >"$BATS_TEST_TMPDIR/output" 2>&1 3>&- && break
        grep -q 'is in use' "$BATS_TEST_TMPDIR/output" || break
    done
    [[ -s $RUN_DIR/demo.env ]] || fail "$(<"$BATS_TEST_TMPDIR/output")"
    # shellcheck source=/dev/null
    . "$RUN_DIR/demo.env"
    BASE=$BASE_URL TOKEN=$API_TOKEN
    export SWITCHBOARD_CONFIG
}

sql() {
    sqlite3 -readonly "$RUN_DIR/data/switchboard.db" "$1"
}

# The number of rows that a second run must not change. Its own message goes to one more contact.
rows() {
    sql "SELECT (SELECT count(*) FROM contact), (SELECT count(*) FROM thread), (SELECT count(*)
         FROM message WHERE source <> 'api'), (SELECT count(*) FROM message WHERE source = 'api'
         AND CAST(body AS TEXT) NOT LIKE '%Hello from Switchboard%'),
         (SELECT count(*) FROM flow_response)"
}

@test "a new directory gets conversations with messages of every kind and status" {
    demo
    assert_equal "$(sql 'SELECT count(*) FROM "user"')" 2
    assert_equal "$(sql "SELECT group_concat(status) FROM (SELECT DISTINCT status FROM message
        ORDER BY 1)")" accepted,delivered,failed,played,read,received,sent
    assert_equal "$(sql "SELECT group_concat(type) FROM (SELECT DISTINCT type FROM message
        ORDER BY 1)")" "audio,contacts,document,edit,image,interactive,\
location,order,reaction,revoke,sticker,template,text,unsupported"
    assert_equal "$(sql 'SELECT json_extract(error, "$[0].code") FROM message
        WHERE error IS NOT NULL')" 131047
    (($(sql 'SELECT count(*) FROM thread') >= 15))
    assert_equal "$(sql "SELECT reason FROM contact_merge")" same_payload
    assert_equal "$(sql 'SELECT count(*) FROM contact WHERE phone IS NULL')" 1
    assert_equal "$(sql 'SELECT count(*) FROM contact_block')" 1
    assert_equal "$(sql 'SELECT responses FROM flow_reply_count')" 2
    request GET /v2/media/1200000000000001/download -H "Authorization: Bearer $TOKEN"
    cmp "$body" "$root/tools/demo/media/parcel.jpg"
}

is_suspended() {
    [[ $(sql "SELECT count(*) FROM webhook WHERE suspended_at > 0") == 1 ]]
}

@test "the webhook of the second user is suspended, that of the first receives events" {
    demo
    eventually is_suspended
    assert_equal "$(sql "SELECT u.email FROM webhook w JOIN \"user\" u ON u.id = w.user_id
        WHERE suspended_at > 0")" "$SECOND_USER_EMAIL"
    assert_equal "$(sql "SELECT state FROM delivery WHERE user_id = (SELECT id FROM \"user\"
        WHERE email = '$SECOND_USER_EMAIL') AND last_status = 410")" dead
    (($(sql "SELECT count(*) FROM delivery WHERE last_status = 200") > 10))
    TOKEN=$SECOND_API_TOKEN
    api GET /v2/me
    assert_json '[.data.phoneNumbers[].phoneNumberId]' "[\"$THIRD_PHONE_NUMBER_ID\"]"
}

@test "a second run, and one after an interruption, store nothing twice" {
    demo
    local before
    before=$(rows)
    demo
    assert_equal "$(rows)" "$before"
    # as after an interruption before the end, with a sandbox that has to start again
    "$TREE/tools/stop"
    mv "$RUN_DIR/life.done" "$RUN_DIR/life.pending"
    demo
    assert_equal "$(rows)" "$before"
    [[ -e $RUN_DIR/life.done && ! -e $RUN_DIR/life.pending ]]
    request GET /v2/media/1200000000000003/download -H "Authorization: Bearer $TOKEN"
    cmp "$body" "$root/tools/demo/media/voice.ogg"
}

@test "DEMO=0 stores one message and sets no webhook" {
    export DEMO=0
    demo
    assert_equal "$(sql 'SELECT count(*) FROM message')" 1
    assert_equal "$(sql 'SELECT count(*) FROM webhook')" 0
    assert_equal "$(sql 'SELECT count(*) FROM "user"')" 1
}

@test "the files of the demo contain no secret, and those with tokens are private" {
    demo
    local file
    for file in demo.env demo.state secrets sandbox.json; do
        assert_equal "$(stat -c %a "$RUN_DIR/$file")" 600
    done
    ! grep -rlF -e "$API_TOKEN" -e "$SECOND_API_TOKEN" -e "$META_APP_SECRET" "$RUN_DIR" \
        --exclude=demo.env --exclude=demo.state --exclude=secrets --exclude=sandbox.json \
        --exclude=switchboard.conf --exclude=output || fail 'a secret is in another file'
}
