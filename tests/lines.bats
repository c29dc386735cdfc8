#!/usr/bin/env bats
# /v2/lines (doc/api/lines.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions

line_id() { # PHONE-NUMBER-ID
    db "SELECT id FROM line WHERE phone_number_id = '$1'"
}

@test "GET /v2/lines lists the lines of all accounts, with their states" {
    local first second
    make_user
    first=$LINE
    make_account '' && make_line '' --name 'Küche "2"' --coexisting --platform-type CLOUD_API && second=$LINE
    api GET /v2/lines
    assert_success
    assert_conventions
    assert_json .data.paging '{"cursors":{"after":null}}'
    assert_json '[.data.items[] | .phoneNumberId, .isPrimary]' "[\"$first\",true,\"$second\",false]"
    assert_that ".data.items[1] | .id == \"$(line_id "$second")\" and .name == \"Küche \\\"2\\\"\" and .isRegistered
        and .isCoexisting and .platformType == \"CLOUD_API\" and .accountId == \"$ACCOUNT\" and .archivedAt == null
        and (.createdAt | test(\"Z\$\")) and .phoneNumber != null"
    api GET "/v2/lines/$(line_id "$second")"
    assert_json .data.phoneNumberId "\"$second\""
    assert_nothing_sent
}

@test "archived lines are listed with archived=true and archived=all" {
    local first second
    make_user
    first=$LINE
    make_line '' && second=$LINE
    switchboard line archive "$second"
    api GET /v2/lines
    assert_json '[.data.items[].phoneNumberId]' "[\"$first\"]"
    api GET '/v2/lines?archived=false'
    assert_json '[.data.items[].phoneNumberId]' "[\"$first\"]"
    api GET '/v2/lines?archived=true'
    assert_json '[.data.items[].phoneNumberId]' "[\"$second\"]"
    assert_that '.data.items[0].archivedAt | test("^20..-")'
    api GET '/v2/lines?archived=all'
    assert_json '[.data.items[].phoneNumberId]' "[\"$first\",\"$second\"]"
}

@test "PATCH renames a line, and an empty name removes the name" {
    local id
    make_user
    id=$(line_id "$LINE")
    api PATCH "/v2/lines/$id" -d '{"name":"<b>Küche</b>"}'
    assert_success
    assert_conventions
    assert_json .data.name '"<b>Küche</b>"'
    api GET /v2/me
    assert_json .data.phoneNumbers[0].name '"<b>Küche</b>"'
    api PATCH "/v2/lines/$id" -d '{}'
    assert_json .data.name '"<b>Küche</b>"'
    api PATCH "/v2/lines/$id" -d '{"name":""}'
    assert_json .data.name null
    api PATCH "/v2/lines/$id" -d '{"name":"a\u0000b"}'
    assert_error 400 VALIDATION_ERROR name
    api PATCH "/v2/lines/$id" -d "{\"name\":\"$(printf '%.0sx' {1..257})\"}"
    assert_error 400 VALIDATION_ERROR name
}

@test "PATCH makes a line the primary one" {
    local second
    make_user
    make_line '' && second=$LINE
    api PATCH "/v2/lines/$(line_id "$second")" -d '{"isPrimary":true}'
    assert_json .data.isPrimary true
    api GET /v2/me
    assert_text .data.defaultPhoneNumberId "$second"
    api GET /v2/lines
    assert_json '[.data.items[].isPrimary]' '[false,true]'
    api PATCH "/v2/lines/$(line_id "$second")" -d '{"isPrimary":false}'
    assert_error 400 VALIDATION_ERROR isPrimary
}

@test "an archived line cannot be made the primary one before it is brought back" {
    local id
    make_user
    make_line ''
    id=$(line_id "$LINE")
    api PATCH "/v2/lines/$id" -d '{"isPrimary":true,"isArchived":true}'
    assert_error 400 VALIDATION_ERROR 'isPrimary must be left out: an archived line cannot be the primary one'
    assert_json '[.details[] | .path, .code]' '["isPrimary","invalid_value"]'
    api PATCH "/v2/lines/$id" -d '{"isArchived":true}'
    assert_success
    api PATCH "/v2/lines/$id" -d '{"name":"New","isPrimary":true}'
    assert_error 400 VALIDATION_ERROR isPrimary
    api GET "/v2/lines/$id"
    assert_that '.data | .name == null and .isPrimary == false and .archivedAt != null'
    api GET /v2/lines
    assert_json '[.data.items[].isPrimary]' '[true]'
    api PATCH "/v2/lines/$id" -d '{"isPrimary":true,"isArchived":false}'
    assert_success
    assert_that '.data | .isPrimary and .archivedAt == null'
}

@test "PATCH archives a line, also the last one, and brings it back" {
    local id at
    make_user
    id=$(line_id "$LINE")
    api PATCH "/v2/lines/$id" -d '{"isArchived":true}'
    at=$(jq -r .data.archivedAt "$body")
    [[ $at == 20* ]]
    api PATCH "/v2/lines/$id" -d '{"isArchived":true}'
    assert_json .data.archivedAt "\"$at\""
    api GET /v2/me
    assert_json .data.phoneNumbers '[]'
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+15550100001\",\"text\":\"Hi\"}"
    assert_status 403
    api PATCH "/v2/lines/$id" -d '{"isArchived":false}'
    assert_json .data.archivedAt null
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+15550100001\",\"text\":\"Hi\"}"
    assert_success
}
