#!/usr/bin/env bats
# A client that openapi-typescript and openapi-fetch make from the OpenAPI document that an instance
# serves: tests/client/job.ts does the main job, tests/client/wrong.ts must not compile.
# transports: cgi
# needs: node
# bats file_tags=long
load helpers/all
load helpers/courier
load helpers/sender

# One run of the generator and one of the compiler for all tests.
setup_file() {
    local modules=$root/build/npm/node_modules
    export CLIENT=$BATS_FILE_TMPDIR/client
    start_stack
    make_user
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"items\":[{\"name\":\"order_ready\",
        \"components\":[{\"type\":\"BODY\",\"text\":\"Order {{1}} is ready\"}],
        \"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"UTILITY\",
        \"id\":\"7004\"}]}" >/dev/null
    request GET /v2/openapi.json
    assert_status 200
    mkdir "$CLIENT"
    cp "$root"/tests/client/* "$CLIENT"
    ln -s "$(realpath "$modules")" "$CLIENT/node_modules"
    printf '{"type": "module"}\n' >"$CLIENT/package.json"
    "$modules/.bin/openapi-typescript" "$body" -o "$CLIENT/switchboard.d.ts" >"$CLIENT/log" 2>&1
    "$modules/.bin/tsc" -p "$CLIENT" >"$CLIENT/errors" 2>&1 || true
}

@test "the generated client compiles, and every wrong call is an error of the compiler" {
    assert_equal "$(<"$CLIENT/errors")" ''
    (($(grep -c '^ *// @ts-expect-error ' "$CLIENT/wrong.ts") > 35)) || fail 'too few wrong calls'
    # without its mark such a call ends the compilation: nothing was written
    [[ -s $CLIENT/out/job.js && -s $CLIENT/out/wrong.js ]]
}

@test "the generated client does the main job against a running instance" {
    local text media
    have_pulse
    # about the line, at the start and when the campaign goes on
    for _ in start resume; do
        sandbox POST faults "$(jq -nc --arg body '{"id":"1","quality_rating":"RED",
            "whatsapp_business_manager_messaging_limit":"TIER_1"}' '{status: 200, body: $body,
            match: {path: "quality_rating"}, headers: {"Content-Type": "application/json"}}'
        )" >/dev/null
    done
    run env BASE_URL="$BASE" TOKEN="$TOKEN" node "$CLIENT/out/job.js"
    printf '%s\n' "$output" | sed 's/^/# /' >&3
    assert_equal "$status" 0
    assert_equal "$(sed -E 's/ wamid\.[^ ]+/ WAMID/; s/upload [0-9]+/upload MEDIA/' <<<"$output")" \
        "me $EMAIL $LINE true
text to a phone WAMID
text to a user id WAMID
reply WAMID
template APPROVED WAMID
upload MEDIA WAMID
webhook http://127.0.0.1:1/hook s3cret false
webhooks 2 Statuses paused null
queued queued 15550007000 0
campaign draft 09:00-20:00 Europe/Berlin
recipients 2 1 4 to must be a phone number of 5 to 20 digits with its country code
started running 2 RECIPIENT_LIMIT:1,QUALITY_RED:null
resumed paused running RECIPIENT_LIMIT:1,QUALITY_RED:null
event from US.1
event of a campaign paused template 0 0 0
event of a send unknown no_answer null
refused 400 VALIDATION_ERROR [{\"path\":\"to\",\"code\":\"invalid_value\",\"message\":$(
        )\"must be a phone number of 5 to 20 digits with its country code\"}]"
    # what the platform received
    text=$(sed -n 's/^text to a phone //p' <<<"$output")
    media=$(sed -n 's/^upload \([^ ]*\) .*/\1/p' <<<"$output")
    assert_equal "$(sandbox GET requests | gojq -r '.[] | select(.path | endswith("/messages"))
        | .body | fromjson | [.to // .recipient, .type, (.[.type] | tojson),
            (.context.message_id // "-")] | join(" ")')" \
        "15550007000 text {\"body\":\"Hello\"} -
US.13491208655302741918 text {\"body\":\"Hello user\"} -
15550007000 text {\"body\":\"Yes\"} $text
15550007000 template $(jq -nc '{components: [{parameters: [{text: "4711", type: "text"}],
        type: "body"}], language: {code: "en_US"}, name: "order_ready"}') -
15550007000 image {\"caption\":\"Our shop\",\"id\":\"$media\"} -"
    assert_equal "$(sandbox GET 'requests/count?path=/media' | gojq .count)" 1
}
