#!/usr/bin/env bats
# The campaigns of the dashboard in Chromium, as the owner of a shop uses them.
# transports: cgi
# needs: node
# may run twice: Chromium decides when it draws and when it asks
# bats file_tags=long
load helpers/all
load helpers/courier
load helpers/sender
load helpers/session
load helpers/browser

setup_file() {
    start_stack
    make_user
    make_password
    jq -nc --arg waba "$WABA" '{wabaId: $waba, replace: true, items: [
        {id: "1", name: "offer", language: "de", status: "APPROVED", category: "MARKETING",
         components: [{type: "BODY", text: "Hallo {{1}}, Ihr Code ist {{2}}, viel Spaß."}]},
        {id: "2", name: "late", language: "de", status: "PAUSED", category: "UTILITY",
         components: [{type: "BODY", text: "Spät."}]},
        {id: "3", name: "plain", language: "de", status: "APPROVED", category: "UTILITY",
         components: [{type: "BODY", text: "Hallo."}]}]}' >"$STACK/templates.json"
    sandbox POST templates "@$STACK/templates.json" >/dev/null
    db "UPDATE line SET name = 'Front desk' WHERE phone_number_id = '$LINE'"
    start_browser
}

teardown_file() {
    stop_senders
    stop_browser
    stop_stack
}

# Makes a draft of the template `offer`. Sets `id`.
offer() { # NAME
    api POST /v2/campaigns -d "{\"phoneNumberId\":\"$LINE\",\"name\":\"$1\",
        \"templateName\":\"offer\",\"language\":\"de\",\"components\":[{\"type\":\"body\",
        \"parameters\":[{\"type\":\"text\",\"text\":\"{{Vorname}}\"},
        {\"type\":\"text\",\"text\":\"{{Gutschein}}\"}]}]}"
    assert_success
    id=$(gojq -r .data.id "$body")
}

# Makes the campaigns that wait begin now.
begin() {
    db "UPDATE campaign SET start_at = 1 + $db_now - 2000"
}

is_paused() {
    [[ $(db "SELECT count(*) FROM campaign WHERE state = 'paused' AND reason = 'template'") == 1 ]]
}

@test "a shop owner corrects a table, schedules a campaign, and resumes it after its template was paused" {
    start_sender
    browse campaigns walk
    sandbox POST settings "{\"webhookUrl\":\"$BASE/platform/webhook\",\"templateMessages\":3,
        \"automaticStatuses\":true,\"statusDelayMs\":1}" >/dev/null
    begin
    eventually is_paused
    browse campaigns paused
    sandbox POST settings '{"webhookUrl":null,"automaticStatuses":false}' >/dev/null
    stop_senders
}

@test "cancelling a campaign asks first, and is for good" {
    api POST /v2/campaigns -d "{\"phoneNumberId\":\"$LINE\",\"name\":\"Winter\",
        \"templateName\":\"plain\",\"language\":\"de\"}"
    local path
    path=/v2/campaigns/$(gojq -r .data.id "$body")
    api PUT "$path/recipients" -H 'Content-Type: text/csv' -d $'to\n4915112345678\n'
    have_pulse
    api POST "$path/start" -d '{}'
    assert_success
    browse campaigns cancelled
}

@test "a test of a campaign shows its refusal or that it was accepted, and the outcomes are a file" {
    local id
    offer 'Probe/x'
    forget_sent
    browse campaigns tested "$id"
    assert_equal "$(sent_count path=/messages)" 2
    assert_sent_json .to '"4915112345678"'
    assert_sent_json '[.template.components[].parameters[].text]' '["Ann","7"]'
}

is_paused_for() { # ID REASON
    [[ $(db "SELECT count(*) FROM campaign WHERE id = '$1' AND state = 'paused'
        AND reason = '$2'") == 1 ]]
}

@test "each reason for which a campaign pauses says what to do" {
    local id reason people
    offer Pauses
    people=$(echo to,Vorname,Gutschein; seq -f '%.0f,Ann,7' 4915112340000 4915112340060)
    api PUT "/v2/campaigns/$id/recipients" -H 'Content-Type: text/csv' \
        -d "$people"
    assert_success
    start_sender
    fault '{"match":{"path":"/messages"},"code":132012,"times":50}'
    api POST "/v2/campaigns/$id/start" -d '{}'
    eventually is_paused_for "$id" 132012
    stop_senders
    forget_sent
    browse campaigns reason "$id" 132012
    for reason in unclear 100 132000 132018; do
        db "UPDATE campaign SET reason = '$reason' WHERE id = '$id'"
        browse campaigns reason "$id" "$reason"
    done
}

@test "wrong hours of a campaign are said at their fields, and right ones are shown after a reload" {
    browse campaigns window
    assert_equal "$(db "SELECT count(*) FROM campaign WHERE name = 'Night'")" 1
}

@test "start and resume show the warnings of the platform, and the page why messages failed" {
    local id
    api POST /v2/campaigns -d "{\"phoneNumberId\":\"$LINE\",\"name\":\"Limits\",
        \"templateName\":\"plain\",\"language\":\"de\"}"
    id=$(gojq -r .data.id "$body")
    api PUT "/v2/campaigns/$id/recipients" -H 'Content-Type: text/csv' \
        -d "$(echo to; seq 4915112347001 4915112347003)"
    assert_success
    have_pulse
    for _ in start resume; do
        platform_answers 200 '{"id":"1","quality_rating":"RED",
            "whatsapp_business_manager_messaging_limit":"TIER_2"}'
    done
    browse campaigns warned "$id"
    db "INSERT INTO campaign_count VALUES ('$id', 'failed', 3), ('$id', 'error:131026', 2),
        ('$id', 'error:99', 1)"
    browse campaigns failures "$id"
}
