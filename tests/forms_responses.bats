#!/usr/bin/env bats
# GET /v2/forms/:flowId/responses: the answers to a form, as JSON and as CSV (spec 4.5).
# shellcheck disable=SC2153  # make_user sets LINE and ACCOUNT
load helpers/all
load helpers/conventions
load helpers/pages
load helpers/webhook

setup_file() {
    start_stack
    make_user OTHER_
    make_user
}

setup() {
    forget_sent
    db 'DELETE FROM flow_response; DELETE FROM flow_reply_count;
        DELETE FROM flow_token; DELETE FROM flow'
    db "INSERT INTO flow_token VALUES ('$ACCOUNT', 'token 1', '7002')"
    number=$(next_number)
}

# Receives an answer to the form: answer_form ID JSON [PHONE [CARD]]
answer_form() {
    local text
    text=$(jq -n --arg text "$2" '$text')
    take "$(payload "$(change messages "\"contacts\":[${4-$(card "${3-15550001111}" '')}],
        \"messages\":[{\"from\":\"${3-15550001111}\",\"id\":\"wamid.$number.$1\",
        \"timestamp\":\"1780000000\",
        \"type\":\"interactive\",\"interactive\":{\"type\":\"nfm_reply\",
        \"nfm_reply\":{\"name\":\"flow\",
        \"body\":\"Sent\",\"response_json\":$text}}}]")")"
}

# Expects the lines of a CSV answer: assert_csv HEADER CELLS..., without the eight fixed columns
assert_csv() {
    assert_status 200
    assert_header Content-Type 'text/csv; charset=utf-8; header=present'
    assert_header Content-Disposition 'attachment; filename="responses.csv"'
    assert_header X-Content-Type-Options nosniff
    python3 - "$body" "$@" <<'END' || fail_answer 'another CSV was expected'
import csv, sys
text = open(sys.argv[1], newline='', encoding='utf-8').read()
assert text.endswith('\r\n') and not text.startswith('\ufeff'), 'ends of lines'
rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
assert rows[0][:8] == ['messageId', 'wamid', 'threadId', 'receivedAt', 'contactId', 'contactName',
                       'contactPhone', 'contactUserId'], rows[0]
found = ['|'.join(row[8:]) for row in rows]
assert found == sys.argv[2:], found
END
}

# bats test_tags=long
@test "the answers to a form are listed, the newest first, with contact, thread and what was entered" {
    answer_form a '{"flow_token":"token 1","name":"Ann","guests":3}'
    answer_form b '{"flow_token":"token 1","name":"Bob é \\u0000","big":9007199254740993}' \
        15550002222 \
        "$(card 15550002222 "$B2")"
    api GET /v2/forms/7002/responses
    assert_success
    assert_conventions
    assert_json '.data.items | map(.wamid)' "[\"wamid.$number.b\",\"wamid.$number.a\"]"
    assert_json '.data.items[1].response' '{"flow_token":"token 1","name":"Ann","guests":3}'
    grep -qF '"big":9007199254740993' "$body"
    assert_json '.data.items[0].contact | [.name, .phone, .userId]' \
        "[\"Ann Example\",\"15550002222\",\"$B2\"]"
    assert_that '.data.items | all((.messageId | startswith("msg_")) and
        (.threadId | startswith("thr_"))
        and (.contact.id | startswith("con_")) and (.receivedAt | test("^20")))'
    assert_that '.data.paging == {cursors: {after: null}}'
    assert_equal "$(db "SELECT responses FROM flow_reply_count WHERE flow_id = '7002'")" 2
}

# bats test_tags=long
@test "limit and after lead through all answers, once each" {
    local name
    for name in a b c d e; do
        answer_form "$name" '{"flow_token":"token 1"}'
    done
    all_rows '/v2/forms/7002/responses?limit=2' .wamid >"$BATS_TEST_TMPDIR/names"
    assert_equal "$pages" 3
    assert_equal "$(xargs <"$BATS_TEST_TMPDIR/names")" \
        "$(printf "wamid.$number.%s " e d c b a | xargs)"
}

@test "a form without answers has none" {
    db "INSERT INTO flow VALUES ('$ACCOUNT', '7008', 'f', 'f', 'DRAFT', CAST('[]' AS BLOB), 1, 1)"
    api GET /v2/forms/7008/responses
    assert_json .data.items '[]'
    api GET '/v2/forms/7008/responses?format=csv'
    assert_csv other
}

# bats test_tags=direct
@test "a bad cursor, format and limit are 400 on their field" {
    local query long
    long=$(printf 'msg_%028d' 0 | base64 -w 0 | tr -d =) # a byte longer than the longest id
    answer_form a '{"flow_token":"token 1"}'
    for query in after=x "after=$(printf evt_1 | base64)" format=xml limit=0 limit=101 \
        "after=$long" "after=$long&format=csv"; do
        api GET "/v2/forms/7002/responses?$query"
        assert_error 400 VALIDATION_ERROR
        assert_issue "${query%%=*}"
    done
}

@test "as CSV there is a column for each key, in the order of the newest answers" {
    answer_form a '{"flow_token":"token 1","name":"Ann","guests":3,
        "list":["x","y"],"no":null,"yes":true}'
    answer_form b '{"flow_token":"token 1","name":"B, \"Bob\"\nLee","colour":"red"}'
    api GET '/v2/forms/7002/responses?format=csv'
    assert_csv 'flow_token|name|colour|guests|list|no|yes|other' \
        $'token 1|B, "Bob"\nLee|red|||||' 'token 1|Ann||3|["x","y"]||true|'
    grep -qF $'"B, ""Bob""\nLee"' "$body" || fail_answer 'no quotes'
    assert_equal "$(grep -c $'\r$' "$body")" 3
}

@test "a cell that a spreadsheet would calculate gets an apostrophe, keys and names too" {
    answer_form a '{"flow_token":"token 1","=key":"=1+1","b":"+1","c":"-1","d":"@SUM(A1)",
        "e":"\t=1","f":"\r=1",
        "g":"a;=1","h":-5,"i":"\n=1","j":"＝1","k":"＋1","l":"－1","m":"＠A1","n":"％"}' \
        15550003333 '{"profile":{"name":"=HYPERLINK(\"http://x\")"},
        "wa_id":"15550003333"}'
    api GET '/v2/forms/7002/responses?format=csv'
    assert_csv "flow_token|'=key|b|c|d|e|f|g|h|i|j|k|l|m|n|other" \
        "token 1|'=1+1|'+1|'-1|'@SUM(A1)|'"$'\t'"=1|'"$'\r'"=1|a;=1|'-5|'"$'\n'"=1|'＝1|'＋1|\
'－1|'＠A1|％|"
    grep -qF "\"'=HYPERLINK(\"\"http://x\"\")\"" "$body" || fail_answer 'the name'
    grep -qF ',"a;=1",' "$body" || fail_answer 'a cell that a spreadsheet would divide'
}

@test "texts of strangers stay texts: markup, right-to-left marks, NUL and lone surrogates" {
    answer_form a '{"flow_token":"token 1","t":"<script>\u202e\u0000\ud800 é😀"}'
    api GET '/v2/forms/7002/responses?format=csv'
    assert_csv 'flow_token|t|other' "token 1|<script>"$'\u202e\ufffd\ufffd'" é😀|"
}

# bats test_tags=direct
@test "an answer that is no JSON object has null, and an empty line of cells in CSV" {
    answer_form a '{"flow_token":"token 1","t":"x"}'
    db "UPDATE message SET body = CAST(replace(CAST(body AS TEXT),
        '{\\\"flow_token', '{\\\"flow_token\\\"') AS BLOB)
        WHERE wamid = 'wamid.$number.a'"
    api GET /v2/forms/7002/responses
    assert_json '.data.items[0].response' null
    api GET '/v2/forms/7002/responses?format=csv'
    assert_csv other ''
}

# bats test_tags=direct
@test "2,500 answers are one CSV; keys that only older answers have are in the last column" {
    answer_form a '{"flow_token":"token 1"}'
    db "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2499)
        INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction,
        source, type, status, status_at, timestamp,
        body, created_at) SELECT printf('msg_%026d', n), user_id, thread_id,
            line_id, 'wamid.$number.n' || n, direction,
        source, type, status, status_at, timestamp, CAST(replace(CAST(body AS TEXT), 'token 1',
        'x\\\",\\\"' || CASE WHEN n > 1400 THEN 'new' ELSE 'old'
        END || '\\\":\\\"' || n) AS BLOB), created_at
        FROM message, n WHERE wamid = 'wamid.$number.a';
        INSERT INTO flow_response SELECT id, '$ACCOUNT', '7002'
        FROM message WHERE wamid LIKE 'wamid.$number.n%'"
    api GET '/v2/forms/7002/responses?format=csv'
    assert_status 200
    assert_equal "$(wc -l <"$body")" 2501
    assert_equal "$(head -n 1 "$body" | tr -d '\r' | cut -d , -f 9-)" flow_token,new,other
    assert_equal "$(sed -n 3p "$body" | tr -d '\r' | cut -d , -f 9-)" x,2499,
    assert_equal "$(tail -n 1 "$body" | tr -d '\r' | cut -d , -f 9-)" 'x,,"{""old"":""1""}"'
    assert_equal "$(cut -d , -f 1 "$body" | sort -u | wc -l)" 2501
}
