#!/usr/bin/env bats
# Texts that are known to break programs, in every field: valid text is passed on unchanged, invalid text is
# refused, and none is interpreted as anything else. Over cgi, where each of these thousands of bodies starts a
# program, one of eight is sent; with TEST_FULL, all.
# transports: cgi fcgi
# starts first
# bats file_tags=long
load helpers/all
load helpers/routes
load helpers/session
load helpers/factor
load helpers/naughty

# Bodies for every route with fields: T in every string that may hold any text, then also in each string
# that must hold one of some values or is checked by code. The test itself adds the fields that all sends
# share. Two bodies have texts which the description does not lead to: those of a document, and those in
# the components of a template.
# shellcheck disable=SC2016  # $ is part of the jq program
bodies() {
    samples 'select(.members != [] and .kinds == []) | . as $described
        | ["phoneNumberId", "to", "recipient", "contextMessageWamid", "sendAt", "validFor"] as $shared
        | [.members[] | select(.type | startswith("string")) | select(.path | IN($shared[]) | not)]
        | map(.path |= keys_of) | . as $strings | ($described | whole_body) as $whole
        | reduce ($strings[] | select(.values or .meaning | not).path) as $path
            ($whole | del(.[$shared[]]); setpath($path; "T"))
        | ., setpath($strings[] | select(.values or .meaning).path; "T")
        | {path: ($described | sample_path), body: .}' -c <"$ROUTES"
    cat <<'END'
{"path":"/v2/messages/send/media","body":{"media":{"type":"document","mediaId":"T","caption":"T","filename":"T"}}}
{"path":"/v2/templates/send","body":{"templateName":"T","components":[{"type":"body","parameters":[{"type":"text","text":"T"}]}]}}
END
}

@test "in every string of every body" {
    local count
    new_requests
    bodies | jq -c --slurpfile strings "$STRINGS" --arg line "$LINE" '
        . as $route | $strings[0][] as $string
        | ({phoneNumberId: $line, to: "15551230000"} + $route.body | walk(if . == "T" then $string else . end)) as $body
        | {path: $route.path, method: "POST", body: ($body | tojson)}' | some_requests send/text >"$batch/requests"
    # and fields that hold the name or id of something
    jq -nc --slurpfile strings "$STRINGS" --arg line "$LINE" '$strings[0][] as $string
        | {phoneNumberId: $line, to: "15551230000", text: "x"}
        | (.phoneNumberId = $string), (.to = $string), (.recipient = $string), (.contextMessageWamid = $string), (.[$string] = "x")
        | {path: "/v2/messages/send/text", method: "POST", body: tojson}' | some_requests >>"$batch/requests"
    count=$(wc -l <"$batch/requests")
    add_requests <"$batch/requests"
    perform
    check_answers '200|400|401|403|404|409|429' "$count"
    printf '# sweep: naughty texts: %d bodies, %d sent upstream\n' "$count" "$(sent_count path=/messages)" >&3
    # every text sent upstream equals its input
    assert_equal "$(sandbox GET 'requests?path=/messages' | jq -c '[.[].body | select(.) | fromjson | select(.type == "text").text.body
        | select(. != "x")] | unique')" "$(jq -c 'map(select(. != "")) | unique' "$STRINGS")"
}
