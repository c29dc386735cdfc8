#!/usr/bin/env bats
# Texts that are known to break programs, in every path segment, query value and header: valid text is
# passed on unchanged, invalid text is refused, and none is interpreted as anything else. Over cgi, where each
# of these thousands of requests starts a program, one of eight is sent; with TEST_FULL, all.
# transports: cgi fcgi
# starts first
# bats file_tags=long
load helpers/all
load helpers/routes
load helpers/session
load helpers/factor
load helpers/naughty

@test "in every segment of a path" {
    local count number page
    new_requests
    # in place of each `:name` segment, and of the last segment of each path
    samples '. as $routes | $strings[0][] | @uri as $text | $routes[]
        | (select(.path | contains("/:")) | .path |= sub(":[A-Za-z]+"; $text)
            | {path, requires} + if .body == "json" then {method, body: (least_body | tojson)} else {} end),
        (select(.path | test("/:[^/]*$") | not) | {requires, path: (sample_path | sub("[^/]*$"; $text))})' -cs \
        --slurpfile strings "$STRINGS" <"$ROUTES" |
        jq -cs 'map(., (select(.method == null) | .path |= gsub("%2F"; "/")
            | select(.path | contains("//") | not))) | unique[]' |
        some_requests '"/9007199254740993"' >"$batch/requests"
    count=$(wc -l <"$batch/requests")
    printf '# sweep: naughty texts in paths: %d requests\n' "$count" >&3
    add_requests <"$batch/requests"
    perform
    # the landing page is HTML, and paths outside of the gateway are Apache's
    grep -l '<html' "$batch"/*.out >"$batch/pages" 2>/dev/null || true
    while read -r page; do
        rm "$page" "${page%.out}.head"
    done <"$batch/pages"
    # a path of digits is one of the platform's API, whose errors have the platform's shape
    grep -l '^{"error":{' "$batch"/*.out >"$batch/graph" || fail 'no path is one of the Graph API'
    while read -r page; do
        number=$(basename "$page" .out) count=$((count - 1))
        grep -qxE "$number (400|401)" "$batch/answered" || fail "$number: $(cat "$page")"
        sed -i "/^$number /d" "$batch/answered"
        rm "$page" "${page%.out}.head"
    done <"$batch/graph"
    check_answers '200|204|400|403|404|414' "$count"
    # only valid names and ids go upstream, and none changes the path
    assert_equal "$(sandbox GET requests | jq -r '.[].path' | grep -Ev '^/v26\.0/(9000[0-9]+/(message_templates|flows)|8000[0-9]+/messages|[A-Za-z0-9_-]{1,128})$')" ''
}

@test "in every value of a query" {
    local count
    new_requests
    samples '. as $routes | $strings[0][] | @uri as $text
        | ($routes[] | {requires, path: (sample_path + "?" + .query[].path)}),
            ("/v2/health?\($text)",
            "/platform/webhook?hub.mode=subscribe&hub.challenge=5&hub.verify_token" | {path: .})
        | .path += "=\($text)"' -cs --slurpfile strings "$STRINGS" <"$ROUTES" |
        some_requests >"$batch/requests"
    count=$(wc -l <"$batch/requests")
    printf '# sweep: naughty texts in queries: %d requests\n' "$count" >&3
    add_requests <"$batch/requests"
    perform
    grep -l '<html' "$batch"/*.out >"$batch/pages" 2>/dev/null || true
    while read -r page; do
        ! grep -q 'alert(1)' "$page" || fail 'the landing page contains text of the request'
        rm "$page" "${page%.out}.head"
    done <"$batch/pages"
    check_answers '200|400|403|404|414' "$count"
    assert_equal "$(sandbox GET requests | jq -r '.[].path' | grep -Ev '^/v26\.0/(9000[0-9]+/(message_templates|flows)|700[12])$')" ''
}

@test "in every header" {
    local count
    new_requests
    jq -c --arg line "$LINE" --arg token "$TOKEN" '.[] as $s | ("Authorization: Bearer \($s)", "Authorization: \($s)", "X-API-Token: \($s)"
            | {path: "/v2/me", anonymous: true, headers: [.]}),
        ("X-Request-Id: \($s)", "Accept: \($s)", "User-Agent: \($s)", "Referer: \($s)", "Cookie: \($s)", "Range: \($s)", "If-None-Match: \($s)",
            "X-Forwarded-For: \($s)", "X-HTTP-Method-Override: \($s)", "Origin: \($s)" | {path: "/v2/me", headers: [.]}),
        ("Idempotency-Key: \($s)" | {path: "/v2/messages/send/text", method: "POST", headers: [.],
            body: ({phoneNumberId: $line, to: "15551230000", text: "x"} | tojson)}),
        ("X-Hub-Signature-256: \($s)", "X-Hub-Signature-256: sha256=\($s)" | {path: "/platform/webhook", method: "POST", headers: [.], body: "{}"}),
        ("X-Phone-Number-Id: \($s)", "X-Filename: \($s)", "X-Upload-Type: \($s)", "Content-Type: \($s)", "Content-Encoding: \($s)"
            | {path: "/v2/media/upload", method: "POST", headers: ["X-Phone-Number-Id: \($line)", "Content-Type: text/plain", .], body: "hello"})' \
        "$STRINGS" | jq -c 'if .path == "/v2/media/upload" then .headers |= (reverse | unique_by(split(":")[0] | ascii_downcase)) else . end' |
        some_requests >"$batch/requests"
    count=$(wc -l <"$batch/requests")
    printf '# sweep: naughty texts in headers: %d requests\n' "$count" >&3
    add_requests <"$batch/requests"
    perform
    check_answers '200|400|401|403|413|415' "$count"
    ! grep -h '"request_id"' "$LOG" | jq -r .request_id | grep -vE '^[A-Za-z0-9._@-]{1,64}$' || fail 'an invalid request id was accepted'
}
