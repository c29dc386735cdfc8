#!/usr/bin/env bats
# /v2/opt-outs: people who want no marketing, and the campaigns that leave them out.
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/inbox
load helpers/routes
load helpers/sender
load helpers/webhook

setup_file() {
    start_stack
    make_user OTHER_
    make_user
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[
        {\"id\":\"71\",\"name\":\"offer\",\"language\":\"de\",\"status\":\"APPROVED\",
         \"category\":\"MARKETING\",\"components\":[{\"type\":\"BODY\",\"text\":\"x\"}]},
        {\"id\":\"72\",\"name\":\"plain\",\"language\":\"de\",\"status\":\"APPROVED\",
         \"category\":\"UTILITY\",\"components\":[{\"type\":\"BODY\",\"text\":\"x\"}]}]}" >/dev/null
}

setup() {
    forget_sent
    sandbox DELETE faults >/dev/null
    db 'DELETE FROM outgoing; DELETE FROM campaign_recipient; DELETE FROM campaign_count;
        DELETE FROM campaign; DELETE FROM sender_lease; DELETE FROM opt_out; DELETE FROM template'
    have_pulse
}

teardown() {
    stop_senders
}

teardown_file() {
    stop_stack
}

opt_out() { # PERSON: members of the body
    api POST "/v2/opt-outs?phoneNumberId=$LINE" -d "{$1}"
}

opt_in() { # PHONE or BSUID
    api DELETE "/v2/opt-outs?phoneNumberId=$LINE&to=$1"
}

# Prints identity and source of each row.
opted_out() {
    db "SELECT identity, source FROM opt_out WHERE account_id = '$ACCOUNT'
        ORDER BY identity" | xargs
}

# The same of the answer.
listed() {
    gojq -c '.data.items | map([.identity, .source])' "$body"
}

# Makes a campaign: campaign_to TEMPLATE PERSON...
campaign_to() {
    api POST /v2/campaigns -d "{\"phoneNumberId\":\"$LINE\",\"name\":\"x\",
        \"templateName\":\"$1\",\"language\":\"de\"}"
    assert_success
    campaign=$(value .data.id)
    { echo to && printf '%s\n' "${@:2}"; } >"$BATS_TEST_TMPDIR/table"
    api PUT "/v2/campaigns/$campaign/recipients" -H 'Content-Type: text/csv' \
        -d "@$BATS_TEST_TMPDIR/table"
    assert_success
    api POST "/v2/campaigns/$campaign/start" -d '{}'
    assert_success
}

state_is() {
    [[ $(db "SELECT state FROM campaign WHERE id = '$campaign'") == "$1" ]]
}

# Prints the outcome of each recipient.
outcomes() {
    db "SELECT recipient || ' ' || state || ' ' || coalesce(reason, '-') FROM outgoing
        WHERE campaign_id = '$campaign' ORDER BY recipient"
}

# The recipients of the messages that the sandbox got.
posted() {
    sandbox GET requests | gojq -r '.[] | select(.path | endswith("/messages")) | .body
        | if type == "string" then fromjson else . end
        | .to // .recipient' | sort | xargs
}

# A webhook with the choice of a person: prefers VALUE SECOND PERSON
prefers() {
    take "$(payload "$(change user_preferences "\"user_preferences\":[{$3,\"detail\":\"x\",
        \"category\":\"${4-marketing_messages}\",\"value\":\"$1\",\"timestamp\":$2}]")")"
}

@test "POST opts a person out once, GET lists it, DELETE ends it; each may be repeated" {
    local since
    opt_out '"to":"+1 555 200-0001"'
    assert_conventions
    assert_equal "$(listed)" '[["15552000001","api"]]'
    since=$(value '.data.items[0].since')
    opt_out '"to":"15552000001","recipient":"US.abc1"'
    assert_equal "$(gojq -c '.data.items | map(.identity)' "$body")" '["15552000001","US.abc1"]'
    assert_text '.data.items[0].since' "$since"
    api GET "/v2/opt-outs?phoneNumberId=$LINE&limit=1"
    assert_conventions
    assert_equal "$(listed)" '[["15552000001","api"]]'
    api GET "/v2/opt-outs?phoneNumberId=$LINE&limit=1&after=$(value .data.paging.cursors.after)"
    assert_equal "$(listed)" '[["US.abc1","api"]]'
    assert_json .data.paging.cursors.after null
    opt_in %2B15552000001
    assert_equal "$(gojq -c .data "$body")" '{"deleted":true}'
    assert_equal "$(opted_out)" 'US.abc1|api'
    opt_in 15552000001
    assert_success
    opt_in US.abc1
    assert_equal "$(opted_out)" ''
    assert_equal "$(db "SELECT action || ' ' || object_id FROM trail WHERE action LIKE 'opt_out.%'
        ORDER BY id" | uniq | xargs)" "opt_out.create $ACCOUNT opt_out.delete $ACCOUNT"
}

@test "GET with \`to\` finds the opt-outs of a person by any identity, and of no other" {
    local phone=15552005001 user=US.p5001
    take "$(payload "$(inbound wamid.listed $phone $user)")"
    db "INSERT INTO contact_alias (account_id, identity, contact_id, created_at)
        SELECT account_id, '15552005009', id, 1 FROM contact WHERE phone = '$phone'"
    opt_out '"to":"15552005002"'
    opt_out '"to":"15552005009"'
    opt_out "\"recipient\":\"$user\""
    local by
    for by in $phone %2B1-555-200-5001 15552005009 $user; do
        api GET "/v2/opt-outs?phoneNumberId=$LINE&to=$by"
        assert_conventions
        assert_equal "$(listed)" "[[\"15552005009\",\"api\"],[\"$user\",\"api\"]]"
    done
    api GET "/v2/opt-outs?phoneNumberId=$LINE&to=$phone&limit=1"
    assert_equal "$(listed)" '[["15552005009","api"]]'
    api GET "/v2/opt-outs?phoneNumberId=$LINE&to=$phone&limit=1&after=$(
        value .data.paging.cursors.after)"
    assert_equal "$(listed)" "[[\"$user\",\"api\"]]"
    assert_json .data.paging.cursors.after null
    api GET "/v2/opt-outs?phoneNumberId=$LINE&to=15552005002"
    assert_equal "$(listed)" '[["15552005002","api"]]'
    api GET "/v2/opt-outs?phoneNumberId=$LINE&to=15552005003"
    assert_equal "$(listed)" '[]'
    api GET "/v2/opt-outs?phoneNumberId=$LINE&to=abc"
    assert_error 400 VALIDATION_ERROR to
}

@test "a line of another user, a person who is none, and a cursor that is none are refused" {
    request POST "/v2/opt-outs?phoneNumberId=$LINE" --as "$OTHER_TOKEN" -d '{"to":"15552000001"}'
    assert_error 403 FORBIDDEN
    opt_out '"recipient":"15552000001"'
    assert_error 400 VALIDATION_ERROR recipient
    opt_out '"x":1'
    assert_error 400 VALIDATION_ERROR
    opt_in abc
    assert_error 400 VALIDATION_ERROR to
    request DELETE "/v2/opt-outs?phoneNumberId=$LINE&to=15552000001" --as "$OTHER_TOKEN"
    assert_error 403 FORBIDDEN
    request GET "/v2/opt-outs?phoneNumberId=$LINE" --as "$OTHER_TOKEN"
    assert_error 403 FORBIDDEN
    api GET "/v2/opt-outs?phoneNumberId=$LINE&after=x"
    assert_error 400 VALIDATION_ERROR after
    assert_equal "$(db 'SELECT count(*) FROM opt_out')" 0
}

# bats test_tags=long
@test "a campaign with marketing leaves out who has opted out, and one without does not" {
    start_sender
    opt_out '"to":"15552000002"'
    campaign_to offer 15552000001 15552000002
    eventually state_is finished
    assert_equal "$(outcomes)" $'15552000001 accepted -\n15552000002 suppressed opted_out'
    assert_equal "$(posted)" 15552000001
    api GET "/v2/campaigns/$campaign"
    assert_json .data.counts.suppressed 1
    forget_sent
    campaign_to plain 15552000002
    eventually state_is finished
    assert_equal "$(posted)" 15552000002
    # the platform has made marketing of the template since
    db "INSERT INTO template (account_id, name, language, category, updated_at)
        VALUES ('$ACCOUNT', 'plain', 'de', 'MARKETING', 1)"
    campaign_to plain 15552000002
    eventually state_is finished
    assert_equal "$(outcomes)" '15552000002 suppressed opted_out'
}

# bats test_tags=long
@test "an opt-out counts for all identities of the person, and ends by each of them" {
    local phone=15552010001 user=US.p10001
    take "$(payload "$(inbound wamid.both $phone $user)")"
    db "INSERT INTO contact_alias (account_id, identity, contact_id, created_at)
        SELECT account_id, '15552010009', id, 1 FROM contact WHERE phone = '$phone'"
    start_sender
    local out=("\"recipient\":\"$user\"" "\"to\":\"15552010009\"") i
    for i in 0 1; do
        opt_out "${out[i]}"
        campaign_to offer $phone
        eventually state_is finished
        assert_equal "$(outcomes)" "$phone suppressed opted_out"
        opt_in $phone
        assert_equal "$(opted_out)" ''
    done
    campaign_to offer $phone
    eventually state_is finished
    assert_equal "$(outcomes)" "$phone accepted -"
}

# bats test_tags=long
@test "no send to a person is posted after the opt-out in the middle of a campaign was answered" {
    local people last=15552020059 i
    for ((i = 0; i < 60; i++)); do people+=(155520200"$(printf %02d $i)"); done
    start_sender
    campaign_to offer "${people[@]}"
    opt_out "\"to\":\"$last\""
    local before
    before=$(db "SELECT state FROM outgoing WHERE recipient = '$last'")
    eventually state_is finished
    [[ $before == sending || $before == accepted ]] ||
        assert_equal "$(outcomes | grep $last)" "$last suppressed opted_out"
    assert_equal "$(outcomes | wc -l)" 60
}

# bats test_tags=long
@test "131050 in the answer to a queued send opts the person out" {
    sandbox POST faults '{"match":{"path":"/messages"},"code":131050,"times":1}' >/dev/null
    start_sender
    campaign_to offer 15552030001
    eventually state_is finished
    assert_equal "$(outcomes)" '15552030001 failed refused'
    assert_equal "$(opted_out)" '15552030001|error'
    campaign_to offer 15552030001
    eventually state_is finished
    assert_equal "$(outcomes)" '15552030001 suppressed opted_out'
    opt_in 15552030001
    sandbox POST faults '{"match":{"path":"/messages"},"code":131049,"times":1}' >/dev/null
    campaign_to offer 15552030001
    eventually state_is finished
    assert_equal "$(opted_out)" ''
}

@test "131050 in a failed status opts the person out, once: a repetition does not after a DELETE" {
    local failed to=15552040001 error='"errors":[{"code":131050,"title":"x"}]'
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_success
    sent=$(value '.data.messages[0].id')
    local of_other='"recipient_id":"15552040002"'
    take "$(payload "$(status_of wamid.else failed "$of_other,\"errors\":[{\"code\":131049},{}]")")"
    take "$(payload "$(status_of wamid.read read "$of_other,$error")")"
    assert_equal "$(opted_out)" ''
    failed=$(payload "$(status_of "$sent" failed "\"recipient_id\":\"$to\",$error")")
    take "$failed"
    assert_equal "$(opted_out)" "$to|error"
    assert_equal "$(db "SELECT since FROM opt_out")" 1780000100000
    opt_in $to
    take "$failed"
    assert_equal "$(opted_out)" ''
    # of a message that the gateway does not know
    take "$(payload "$(status_of wamid.new failed "$(to_both 15552040003 US.p40003),$error")")"
    assert_equal "$(opted_out)" '15552040003|error US.p40003|error'
}

@test "user_preferences: stop opts out, resume ends it; a late or repeated one does not" {
    local phone=15552050001 who='"wa_id":"15552050001"' both
    both="$who,\"user_id\":\"US.p50001\""
    prefers stop 1780000000 "$who" other_messages
    prefers wait 1780000000 "$who"
    assert_equal "$(opted_out)" ''
    prefers stop 1780000010 "$both"
    assert_equal "$(opted_out)" "$phone|platform US.p50001|platform"
    assert_equal "$(db 'SELECT min(since), max(since) FROM opt_out')" '1780000010000|1780000010000'
    prefers resume 1780000009 "$who" # late: it is older
    assert_equal "$(opted_out)" "$phone|platform US.p50001|platform"
    prefers resume 1780000020 "$both"
    assert_equal "$(opted_out)" ''
    prefers stop 1780000010 "$both" # the same payload again
    assert_equal "$(opted_out)" ''
    prefers stop 1780000021 "$both"
    prefers stop 1780000040 "$both"
    prefers resume 1780000030 "$both" # late: the person has chosen again since
    assert_equal "$(opted_out)" "$phone|platform US.p50001|platform"
    prefers resume 1780000050 "$both"
    assert_equal "$(opted_out)" ''
    opt_out "\"to\":\"$phone\""
    prefers resume 1780000060 "$who" # the client's is newer
    assert_equal "$(opted_out)" "$phone|api"
    prefers resume 9780000030 "$who"
    assert_equal "$(opted_out)" ''
}

@test "an opt-out of another account is none" {
    request POST /v2/opt-outs --as "$OTHER_TOKEN" -d '{"to":"15552060001"}'
    assert_success
    start_sender
    campaign_to offer 15552060001
    eventually state_is finished
    assert_equal "$(outcomes)" '15552060001 accepted -'
}

@test "an erasure deletes the opt-outs of the person, and no others; until then the export has them" {
    local phone=15552070001 contact
    take "$(payload "$(inbound wamid.erased $phone US.p70001)")"
    contact=$(db "SELECT id FROM contact WHERE phone = '$phone'")
    opt_out "\"to\":\"$phone\",\"recipient\":\"US.p70001\""
    opt_out '"to":"15552070002"'
    switchboard contact export "$contact" >"$BATS_TEST_TMPDIR/document"
    assert_equal "$(jq -c '[.contact.optOuts[] | [.identity, .source]] | sort' \
        "$BATS_TEST_TMPDIR/document")" \
        "[[\"$phone\",\"api\"],[\"US.p70001\",\"api\"]]"
    switchboard contact erase "$contact" >/dev/null
    courier --once
    assert_equal "$(opted_out)" '15552070002|api'
}
