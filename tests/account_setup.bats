#!/usr/bin/env bats
# GET /v2/setup: what the platform says about the set-up of an account. The findings themselves are
# tested with `switchboard account check` (account_check.bats).
load helpers/all
load helpers/conventions

setup_file() {
    start_stack
    make_user OTHER_
    make_user
    write_config 'public_url = https://gateway.example'
}

setup() {
    forget_sent
    sandbox DELETE nodes '' silent
    sandbox POST settings '{"webhookUrl":"https://gateway.example/platform/webhook"}' silent
}

@test "the rows are those of account check, with what to do" {
    sandbox POST "nodes/$LINE" '{"status":"BANNED"}' silent
    api GET /v2/setup
    assert_success
    assert_conventions
    assert_json '[.data.accountId, .data.wabaid]' "[\"$ACCOUNT\",\"$WABA\"]"
    local rows
    rows=$(jq -c '.data.rows | map({status, check, detail, todo})' "$body")
    assert_that '.data.checkedAt | test("^20")'
    assert_json '.data.rows | map(select(.status == "fail") | [.check, .detail])' \
        "[[\"number $LINE\",\"status is BANNED\"]]"
    assert_json '.data.rows[] | select(.status == "fail")
        | [.checkCode, .detailCode, .todoCode, .values]' "[\"number\",\"member\",\"doAppeal\",
        {\"member\":\"status\",\"word\":\"BANNED\",\"id\":\"$LINE\"}]"
    assert_equal "$(switchboard account check "$ACCOUNT" --json 2>/dev/null |
        jq -c 'map({status, check, detail, todo})')" "$rows"
    refute grep -qF -e "$PLATFORM_TOKEN" -e test-app-secret "$body"
}

@test "accountId selects an account; that of another user, and an unknown one, is 404" {
    api GET "/v2/setup?accountId=$ACCOUNT"
    assert_success
    for id in "$OTHER_ACCOUNT" acc_none; do
        api GET "/v2/setup?accountId=$id"
        assert_error 404 NOT_FOUND 'There is no such account'
    done
}

@test "an account without a platform token is one row, without a call of the platform" {
    local id
    id=$(switchboard account add "$EMAIL" --waba-id 77002 --name Bare </dev/null 2>/dev/null)
    api GET "/v2/setup?accountId=$id"
    assert_success
    assert_json '.data.rows | map([.status, .check, .detail])' \
        '[["fail","platform token","there is none"]]'
    assert_json '.data.rows[0] | [.checkCode, .detailCode, .todoCode, .values.account]' \
        "[\"token\",\"none\",\"doSetToken\",\"$id\"]"
    assert_equal "$(sent_count)" 0
    db "DELETE FROM account WHERE id = '$id'"
}

@test "a platform that hangs is given up within the limit, and is asked once" {
    fault '{"kind":"hang","times":0}'
    local begun=$SECONDS
    api GET /v2/setup
    assert_success
    assert_json '.data.rows | map(select(.status == "fail") | .check)' '["platform"]'
    assert_equal "$(sent_count)" 1
    ((SECONDS - begun >= 4))
}

# bats test_tags=long
@test "answers that come late end the check at 10 s in all, with what was found until then" {
    fault '{"kind":"delay","ms":3000,"times":0}'
    api GET /v2/setup
    assert_success
    assert_that '.data.rows | map(select(.check == "token expiry").status) == ["ok"]'
    assert_that '.data.rows | any(.status == "warn" and (.detail
        | test("did not answer: (the time was over|an earlier call had no answer|.*time)")))'
    (($(sent_count) <= 4))
}
