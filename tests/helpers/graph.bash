# shellcheck shell=bash
# Requests in the platform's form, and their errors. `load helpers/graph` after helpers/all.

# Sends a request with the API token, and expects that the answer holds no platform access token:
# graph METHOD PATH [option of request...]
graph() {
    request "$@" --as "$TOKEN"
    if grep -qaF -e "$PLATFORM_TOKEN" "$body" "$headers"; then
        fail_answer 'expected no platform access token'
    fi
}

# Expects an error of the gateway in the platform's shape, with the id of the request:
# assert_graph_error STATUS CODE TYPE [MESSAGE-PART]
assert_graph_error() {
    assert_status "$1"
    assert_header Content-Type 'application/json; charset=UTF-8'
    gojq -e --argjson code "$2" --arg type "$3" --arg part "${4-}" --arg id \
        "$(header X-Request-Id)" '.error.code == $code and .error.type == $type
        and (.error.message | contains($part)) and .error.fbtrace_id == $id and keys == ["error"]' \
        "$body" >/dev/null || fail_answer "expected the error $2 of type $3: ${4-}"
}

# Prints a line `METHOD PATH ACTION` for each edge of the programs with the platform's contract:
# graph_edges [PROGRAM]
graph_edges() {
    local program
    for program in ${1:-"$OUT"/cgi-bin/graph*}; do
        [[ $program != *.c ]] || continue
        "$OUT/cgi-bin/${program##*/}" --describe </dev/null |
            gojq -r '.edges[] | "\(.method) \(.path) \(.action) \(.scope // "-")"'
    done
}

# Lets the platform have a media object, a template and a flow: MEDIA, TEMPLATE, FLOW.
make_objects() {
    put MEDIA 7001
    put FLOW 7002
    put TEMPLATE 7003
    sandbox POST media "{\"wabaId\":\"$WABA\",\"id\":\"$MEDIA\",\"mimeType\":\"image/png\",
        \"size\":10}" >/dev/null
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[{\"id\":\"$FLOW\",
        \"name\":\"f\",\"status\":\"PUBLISHED\",\"categories\":[],
        \"validation_errors\":[]}]}" >/dev/null
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[{
        \"name\":\"greeting\",\"components\":[{\"type\":\"BODY\",\"text\":\"Hi\"}],
        \"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"UTILITY\",
        \"id\":\"$TEMPLATE\"}]}" >/dev/null
}

# Prints the path of an edge with the ids of this file in place of the kinds of nodes.
path_of() { # PATH
    local path=${1%\?*}
    path=${path/:phone/$LINE}
    path=${path/:app/1000000000000001}
    path=${path/:upload/upload:sample}
    path=${path/:waba/$WABA}
    path=${path/:media/$MEDIA}
    path=${path/:template/$TEMPLATE}
    path=${path/:flow/$FLOW}
    printf '%s' "${path/:code/4O4YGZEG3RIVE1}"
}

# Sets the platform's next answer to one request, byte for byte: platform_answers_to METHOD PATH
# STATUS TEXT
platform_answers_to() {
    fault "$(gojq -nc --arg method "$1" --arg path "$2" --argjson status "$3" --arg body "$4" \
        '{match: {method: $method, path: $path}, status: $status, body: $body,
            headers: {"Content-Type": "application/json"}}')"
}

# Prints a member of the last request of the platform: last_sent JQ-PATH
last_sent() {
    sandbox GET requests/last | gojq -r "$1"
}
