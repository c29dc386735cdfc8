#!/usr/bin/env bats
# /v2/webhooks: the URL and the code for our own events (spec 2.8, 4.7)
load helpers/all
load helpers/conventions

unset_config='{"success":true,"data":{"webhookUrl":"","webhookCode":"","isVerified":false,"lastVerified":null}}'

setup() {
    forget_sent
    [[ -z ${TOKEN-} ]] || api DELETE /v2/webhooks/config
}

config_is() { # URL CODE
    api GET /v2/webhooks/config
    assert_body_is "{\"success\":true,\"data\":{\"webhookUrl\":\"$1\",\"webhookCode\":\"$2\",\"isVerified\":false,\"lastVerified\":null}}"
}

set_config() { # URL CODE
    api POST /v2/webhooks/config -d "{\"webhookUrl\":\"$1\",\"webhookCode\":\"$2\"}"
}

column_of_webhook() {
    db "SELECT $1 FROM webhook w JOIN user u ON u.id = w.user_id WHERE u.email = '$EMAIL'"
}

# --- 4.7, in the order of the spec ---

@test "GET /v2/webhooks/config returns empty strings when unset (spec 2.8, 4.7)" {
    api GET /v2/webhooks/config
    assert_success
    assert_conventions
    assert_body_is "$unset_config"
}

@test "POST /v2/webhooks/config stores URL and code and returns the updated config (spec 3, 4.7)" {
    set_config https://example.org/hook s3cret
    assert_success
    assert_body_is '{"success":true,"data":{"webhookUrl":"https://example.org/hook","webhookCode":"s3cret","isVerified":false,"lastVerified":null}}'
    config_is https://example.org/hook s3cret
    set_config http://127.0.0.1:8080/x?y=1 'another \"code\" \\ é'
    assert_success
    api GET /v2/webhooks/config
    assert_text .data.webhookCode 'another "code" \ é'
    assert_nothing_sent
}

@test "a missing field, a wrong type and an empty value are 400 VALIDATION_ERROR (spec 4.7)" {
    local body_given path
    while read -r path body_given; do
        api POST /v2/webhooks/config -d "$body_given"
        assert_error 400 VALIDATION_ERROR "$path"
        assert_issue "$path"
    done <<'END'
webhookUrl {"webhookCode":"c"}
webhookCode {"webhookUrl":"https://example.org/"}
webhookUrl {"webhookUrl":5,"webhookCode":"c"}
webhookUrl {"webhookUrl":null,"webhookCode":"c"}
webhookUrl {"webhookUrl":"","webhookCode":"c"}
webhookCode {"webhookUrl":"https://example.org/","webhookCode":""}
webhookCode {"webhookUrl":"https://example.org/","webhookCode":["x"]}
END
    api POST /v2/webhooks/config -d '{}'
    assert_that '[.details[].path] == ["webhookUrl", "webhookCode"]'
    config_is '' ''
}

# bats test_tags=direct,long
@test "an invalid URL is 400 VALIDATION_ERROR with the reason, and nothing is stored (spec 4.7)" {
    local url
    for url in ftp://example.org/ example.org /hook http:// https:///x 'https://exa mple.org/' https://user:pw@example.org/ \
        https://example.org:0/ https://example.org:65536/ https://example.org:x/ 'https://[::1/' 'https://example.org/%zz' \
        javascript:alert.1 'https://example.org/\u000a' 'https://ex\u00e4mple.org/'; do
        set_config "$url" c
        assert_error 400 VALIDATION_ERROR webhookUrl
        assert_issue webhookUrl
    done
    config_is '' ''
}

# bats test_tags=direct,long
@test "http and https URLs of every form are valid (spec 2.8)" {
    local url
    for url in http://a.example/ https://a.example 'https://[2001:db8::1]:8443/x' http://127.0.0.1:1/ HTTPS://EXAMPLE.ORG/ \
        'https://example.org/a%20b?c=d&e=%C3%A9#f'; do
        set_config "$url" c
        assert_success
        config_is "$url" c
    done
}

@test "DELETE /v2/webhooks/config clears URL and code (spec 3, 4.7)" {
    set_config https://example.org/ c
    api DELETE /v2/webhooks/config
    assert_success
    assert_body_is '{"success":true,"data":{"cleared":true}}'
    config_is '' ''
    api DELETE /v2/webhooks/config
    assert_body_is '{"success":true,"data":{"cleared":true}}'
}

# bats test_tags=direct
@test "DELETE cancels the pending events" {
    set_config http://127.0.0.1:1/ c
    switchboard event test "$EMAIL"
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'pending'")" 1
    api DELETE /v2/webhooks/config
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'pending'")" 0
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'cancelled'")" 1
}

@test "POST /v2/webhooks/generate-code saves a new code of 64 hexadecimal characters; the URL stays (spec 3, 4.7, 8)" {
    local code
    set_config https://example.org/ c
    api POST /v2/webhooks/generate-code -d '{}'
    assert_success
    code=$(gojq -r .data.webhookCode "$body")
    [[ $code =~ ^[0-9a-f]{64}$ ]]
    assert_body_is "{\"success\":true,\"data\":{\"webhookCode\":\"$code\"}}"
    config_is https://example.org/ "$code"
    api POST /v2/webhooks/generate-code
    assert_success
    [[ $(gojq -r .data.webhookCode "$body") != "$code" ]]
}

@test "generate-code works without a URL, and accepts JSON alone" {
    api POST /v2/webhooks/generate-code -d '{}'
    assert_success
    config_is '' "$(gojq -r .data.webhookCode "$body")"
    api POST /v2/webhooks/generate-code -d '{'
    assert_error 400 VALIDATION_ERROR 'line 1'
    api POST /v2/webhooks/generate-code -H 'Content-Type: text/plain' -d '{}'
    assert_error 415 VALIDATION_ERROR
}

@test "of 32 codes generated concurrently the stored one is one of the answers" {
    local stored
    request_many 32 POST /v2/webhooks/generate-code -H 'Content-Type: application/json' -d '{}' --as "$TOKEN"
    assert_equal "$(statuses)" '32 200'
    api GET /v2/webhooks/config
    stored=$(gojq -r .data.webhookCode "$body")
    assert_equal "$(cat "${many:?}"/*/body | gojq -r --arg code "$stored" 'select(.data.webhookCode == $code).success')" true
}

@test "the code is stored encrypted" {
    local code=a-code-that-nobody-else-has
    set_config https://example.org/ $code
    assert_equal "$(count_in_database "$code")" 0
    assert_not_logged $code
}

# bats test_tags=direct
@test "a replaced code is kept for 24 h, the same code again changes nothing, DELETE removes both" {
    local until now
    set_config https://example.org/ first
    assert_equal "$(column_of_webhook 'previous_code IS NULL')" 1
    set_config https://example.org/ second
    until=$(column_of_webhook previous_until) now=$(date +%s)
    ((until / 1000 - now > 86000 && until / 1000 - now <= 86400))
    set_config https://example.org/other second
    assert_equal "$(column_of_webhook previous_until)" "$until"
    api DELETE /v2/webhooks/config
    assert_equal "$(column_of_webhook 'previous_code IS NULL AND code IS NULL')" 1
}

# bats test_tags=direct
@test "setting the configuration ends a suspension, and pending events are due at once" {
    set_config http://127.0.0.1:1/ c
    switchboard event test "$EMAIL"
    db "UPDATE webhook SET suspended_at = 1, next_probe_at = 1; UPDATE outbox SET next_attempt_at = 9999999999999"
    set_config http://127.0.0.1:1/ c
    assert_equal "$(column_of_webhook 'suspended_at IS NULL AND next_probe_at IS NULL')" 1
    assert_equal "$(db "SELECT count(*) FROM outbox WHERE state = 'pending' AND next_attempt_at > 9000000000000")" 0
}

# bats test_tags=direct
@test "users have configurations of their own" {
    make_user OTHER_
    set_config https://mine.example/ mine
    request GET /v2/webhooks/config --as "${OTHER_TOKEN:?}"
    assert_body_is "$unset_config"
}

# --- 5: authorization ---

@test "the executable is not linked with libcurl" {
    assert_without webhook_config curl_easy_init
}

# Creates a configuration whose code no key can decrypt, as after the restore of a backup without its key file.
spoil_code() {
    set_config https://example.org/hook s3cret
    assert_success
    db "UPDATE webhook SET code = zeroblob(60) WHERE user_id = (SELECT id FROM user WHERE email = '$EMAIL')"
}

@test "a code that cannot be decrypted is reported, and any new code replaces it" {
    spoil_code
    api GET /v2/webhooks/config
    assert_error 500 INTERNAL_ERROR 'set a new one'
    [[ $(log_of_request | gojq -r .error) == *'cannot decrypt the webhook code'* ]]
    set_config https://example.org/other n3w
    assert_success
    config_is https://example.org/other n3w
    spoil_code
    api POST /v2/webhooks/generate-code -d '{}'
    assert_success
    config_is https://example.org/hook "$(gojq -r .data.webhookCode "$body")"
    spoil_code
    api DELETE /v2/webhooks/config
    assert_success
    config_is '' ''
}

@test "without the key file the configuration can neither be read nor set, and it is unchanged afterwards" {
    set_config https://example.org/hook s3cret
    mv "$STACK/secret.key" "$STACK/secret.away"
    api GET /v2/webhooks/config
    assert_error 500 INTERNAL_ERROR 'cannot read its keys'
    set_config https://example.org/hook other
    assert_error 500 INTERNAL_ERROR
    api POST /v2/webhooks/generate-code -d '{}'
    assert_error 500 INTERNAL_ERROR
    mv "$STACK/secret.away" "$STACK/secret.key"
    config_is https://example.org/hook s3cret
}

@test "handling=strict makes unknown members of either body 400, and nothing is stored (RFC 7240)" {
    local before
    set_config() { api POST /v2/webhooks/config -d "$1" -H 'Prefer: handling=strict'; }
    set_config '{"webhookUrl":"https://a.example/strict","webhookCode":"c"}'
    assert_success
    assert_header Preference-Applied handling=strict
    before=$(db 'SELECT group_concat(url) FROM webhook')
    set_config '{"webhookUrl":"https://b.example/","webhookCode":"c","url":"x"}'
    assert_error 400 VALIDATION_ERROR 'url is not a field of this request.'
    api POST /v2/webhooks/generate-code -d '{"length":64}' -H 'Prefer: handling=strict'
    assert_error 400 VALIDATION_ERROR 'length is not a field of this request.'
    assert_header Preference-Applied handling=strict
    assert_equal "$(db 'SELECT group_concat(url) FROM webhook')" "$before"
    api GET '/v2/webhooks/config?x=1' -H 'Prefer: handling=strict' # the route reads neither body nor query
    assert_success
    refute_header Preference-Applied
    api POST /v2/webhooks/generate-code -d '{"length":64}'
    assert_success
}

# bats test_tags=long
@test "a database that is locked for too long is 500 with Retry-After, and nothing is changed" {
    set_config https://example.org/hook s3cret
    hold_database
    set_config https://example.org/hook other
    assert_busy
    assert_header Retry-After 1
    release_database
    config_is https://example.org/hook s3cret
}
