# shellcheck shell=bash
# Requests in the platform's form, and their errors. `load helpers/graph` after helpers/all.

# Sends a request with the API token: graph METHOD PATH [option of request...]
graph() {
    request "$@" --as "$TOKEN"
}

# Expects an error of the gateway in the platform's shape, with the id of the request:
# assert_graph_error STATUS CODE TYPE [MESSAGE-PART]
assert_graph_error() {
    local - && set +T # see helpers/all
    assert_status "$1"
    assert_header Content-Type 'application/json; charset=UTF-8'
    gojq -e --argjson code "$2" --arg type "$3" --arg part "${4-}" --arg id \
        "$(header X-Request-Id)" '.error.code == $code and .error.type == $type
        and (.error.message | contains($part)) and .error.fbtrace_id == $id and keys == ["error"]' \
        "$body" >/dev/null || fail_answer "expected the error $2 of type $3: ${4-}"
}
