# shellcheck shell=bash
# A campaign that goes on while hosts and servers fail: each of its messages has the text
# `campaign-` and the number of its recipient, so that the platform's requests can be compared with
# the rows.

# Starts a campaign of ROWS recipients, at RATE messages in a second: start_campaign ROWS RATE
start_campaign() {
    local base id
    base=$(base_of "${hosts[0]}")
    call() { # PATH ARGUMENT...
        curl -sS --fail --max-time 30 -H "X-API-Token: $token_a" \
            -H "Content-Type: ${type:-application/json}" "$base/v2/campaigns$1" "${@:2}"
    }
    observe campaign_rows "$1"
    switchboard line rate "${line[1]}" "$2" >/dev/null
    sandbox POST templates "{\"wabaId\":\"${waba[1]}\",\"items\":[{\"id\":\"77\",
        \"name\":\"note\",\"language\":\"en_US\",\"status\":\"APPROVED\",
        \"category\":\"UTILITY\",
        \"components\":[{\"type\":\"BODY\",\"text\":\"{{1}}\"}]}]}" >/dev/null
    id=$(call '' -d "{\"phoneNumberId\":\"${line[1]}\",\"name\":\"all\",\"templateName\":\"note\",
        \"language\":\"en_US\",\"components\":[{\"type\":\"body\",
        \"parameters\":[{\"type\":\"text\",\"text\":\"campaign-{{to}}\"}]}]}" | jq -er .data.id)
    { printf 'to\n' && seq 15553000000 $((15552999999 + $1)); } >"$dir/people.csv"
    type=text/csv call "/$id/recipients" -X PUT --data-binary "@$dir/people.csv" \
        >"$dir/import.json"
    call "/$id/start" -d '{}' >"$dir/campaign.json"
}

campaign_has_ended() {
    [[ $(sql switchboard -c 'SELECT count(*) FROM campaign WHERE finished_at IS NULL') == 0 ]]
}

# Its last message must be sent while the traffic goes on, which forwards the platform's statuses.
await_campaign() {
    wait_until 120 campaign_has_ended || report 'the campaign has not ended'
}
