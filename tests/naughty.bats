#!/usr/bin/env bats
# Texts that are known to break programs, in every field, path segment, query value and header: valid text is
# passed on unchanged, invalid text is refused, and none is interpreted as anything else.
# transports: cgi
load helpers/all
load helpers/routes

setup_file() {
    start_stack
    make_user
    export ROUTES=$BATS_FILE_TMPDIR/routes
    describe_routes >"$ROUTES"
    export STRINGS=$BATS_FILE_TMPDIR/strings CANARY=$BATS_FILE_TMPDIR/canary
    strings >"$STRINGS"
}

# The texts as a JSON array; a quarter of them for programs with a sanitizer, which are slow.
strings() {
    cat <<'END' | jq -c --arg canary "$CANARY" --argjson step "$([[ $OUT == "$root" ]] && echo 1 || echo 4)" 'map(gsub("CANARY"; $canary)) + ["A" * 9000, "é" * 3000, "a\u0301" * 500,
        "\u202e" * 100, "[" * 3000, "%" * 1000, "../" * 500]
        | [.[range(0; length; $step)]]'
["", " ", "   ", "\t", "\n", "\r\n", "\r\nX-Injected: yes\r\n\r\n", "a\nX-Injected: yes", "\u0000", "a\u0000b", "\u0001\u001f", "\u007f",
"\u0080\u0085\u009f", "\u00a0", "\u200b", "\u2028\u2029", "\ufeffx", "\ufffd", "\uffff", "\ud83d\ude00", "\u202eevil", "\u0130\u0131\u00df\ufb03",
"\u0661\u0662\u0663\u0664\u0665\u0666", "\uff11\uff12\uff13\uff14\uff15\uff16", "\"", "'", "\\", "\\\\\"", "\"}", "\",\"to\":\"1", "{\"a\":1}", "[]", "null", "true",
"undefined", "NaN", "0", "-1", "1e309", "0x7f", "9007199254740993", "+", "%", "%s%n%x%p", "%00", "%2e%2e%2f", "%0d%0aX-Injected:%20yes", "%ff", "&", "&amp;", "?", "#", ";", "=", "a&b=c",
"../../../../etc/passwd", "..\\..\\windows", "/etc/passwd", "file:///etc/passwd", "//other.example/x", "http://127.0.0.1:1/", "javascript:alert(1)",
"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "<!--#exec cmd=\"touch CANARY\"-->", "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
"'; DROP TABLE message; --", "' OR '1'='1", "1) UNION SELECT hash FROM api_token --", "%' ESCAPE '\\", "_%_", "$(touch CANARY)", "`touch CANARY`", "; touch CANARY", "| touch CANARY", "&& touch CANARY", "() { :;}; touch CANARY",
"{{7*7}}", "${7*7}", "${jndi:ldap://127.0.0.1:1/a}", "*)(uid=*))(|(uid=*", "--help", "-rf", "__proto__", "constructor", "CON", "send", "search", "Bearer", "biz_opaque_callback_data"]
END
}

# Runs one curl for all requests of $batch/curl.conf. Each request writes its body to NUMBER.out, its headers to
# NUMBER.head, and `NUMBER STATUS` to $batch/answered.
new_requests() {
    batch=$BATS_TEST_TMPDIR/batch
    mkdir -p "$batch"
    : >"$batch/curl.conf"
    : >"$STACK/apache/error.log"
}

perform() {
    timeout 1800 curl -s -g --path-as-is --no-progress-meter --parallel --parallel-max 6 -K "$batch/curl.conf" >"$batch/answered" || true
}

# Makes requests from lines of JSON {path, method, headers: [], body} on standard input. Each body is in a
# file, because curl refuses lines of 100 KB in its configuration.
add_requests() {
    tee >(jq -r '.body // "" | gsub("[\r\n\u0000]"; " ")' |
        split -l 1 -a 5 --numeric-suffixes=1 - "$batch/body.") | jq -r --arg base "$BASE" --arg batch "$batch" --arg token "$TOKEN" '
        def text: "\"" + (gsub("(?<c>[\\\\\"])"; "\\\(.c)") | gsub("[\r\n\u0000]"; " ")) + "\"";
        input_line_number as $n
        | (if $n > 1 then "next" else empty end),
        "url = \(($base + .path) | text)", "request = \(.method // "GET")", "output = \"\($batch)/\($n).out\"",
        "dump-header = \"\($batch)/\($n).head\"", "max-time = 600", "write-out = \"\($n) %{http_code}\\n\"", "header = \"Expect:\"",
        (if .anonymous then empty else "header = \"X-API-Token: \($token)\"" end),
        (.headers[]? | "header = \(text)"),
        (if .body then "header = \"Content-Type: application/json\"", "data-binary = \"@\($batch)/body.\("0000\($n)"[-5:])\"" else empty end)' >"$batch/curl.conf"
}

# Every answer has an expected status and an envelope; no text became a header or a line of the log, no program
# crashed, and no text was executed: check_answers STATUS-PATTERN COUNT
check_answers() {
    local number code
    assert_equal "$(wc -l <"$batch/answered")" "$2"
    if grep -Ev "^[0-9]+ ($1)\$" "$batch/answered" >"$batch/odd"; then
        while read -r number code; do
            printf '%s: ' "$code"
            grep -F "/$number.out\"" -B 3 "$batch/curl.conf" | head -c 600
            head -c 600 "$batch/$number.out"
        done < <(head -n 5 "$batch/odd") >&2
        fail "$(wc -l <"$batch/odd") answers have another status than $1"
    fi
    find "$batch" -name '*.out' -size +0 -print0 | xargs -0 cat | jq -es 'map(has("success") and (.success or
        (.error and .message and (keys - ["success", "error", "message", "details"] == [])))) | all' >/dev/null ||
        fail 'an answer is not an envelope'
    ! grep -Fil 'X-Injected' "$batch"/*.head || fail 'a text became a header'
    assert_equal "$(grep -Lis '^content-type: application/json; charset=utf-8' "$batch"/*.head)" '' # the Content-Type is JSON
    jq -e . "$LOG" >/dev/null || fail 'the log contains a line that is not JSON'
    ! grep -F '"the program crashed"' "$LOG" || fail 'a program crashed'
    ! grep -E 'Premature end|malformed header|End of script output' "$STACK/apache/error.log" || fail 'the log of Apache has a failed program'
    [[ ! -e $CANARY ]] || fail 'a text was executed'
    assert_sound
}

# Bodies for every route with fields: T in every string that may hold any text, then also in each string
# that must hold one of some values or is checked by code. The test itself adds the fields that all sends
# share. Two bodies have texts which the description does not lead to: those of a document, and those in
# the components of a template.
# shellcheck disable=SC2016  # $ is part of the jq program
bodies() {
    samples 'select(.members != [] and .kinds == []) | . as $described
        | ["phoneNumberId", "to", "recipient", "contextMessageWamid"] as $shared
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
        | {path: $route.path, method: "POST", body: ($body | tojson)}' >"$batch/requests"
    # and fields that hold the name or id of something
    jq -nc --slurpfile strings "$STRINGS" --arg line "$LINE" '$strings[0][] as $string
        | {phoneNumberId: $line, to: "15551230000", text: "x"}
        | (.phoneNumberId = $string), (.to = $string), (.recipient = $string), (.contextMessageWamid = $string), (.[$string] = "x")
        | {path: "/v2/messages/send/text", method: "POST", body: tojson}' >>"$batch/requests"
    count=$(wc -l <"$batch/requests")
    add_requests <"$batch/requests"
    perform
    check_answers '200|400|401|403|404|409|429' "$count"
    printf '# sweep: naughty texts: %d bodies, %d sent upstream\n' "$count" "$(sent_count path=/messages)" >&3
    # every text sent upstream equals its input
    assert_equal "$(sandbox GET 'requests?path=/messages' | jq -c '[.[].body | select(.) | fromjson | select(.type == "text").text.body
        | select(. != "x")] | unique')" "$(jq -c 'map(select(. != "")) | unique' "$STRINGS")"
}

@test "in every segment of a path" {
    local count number page
    new_requests
    # in place of each `:name` segment, and of the last segment of each path
    samples '. as $routes | $strings[0][] | @uri as $text | $routes[]
        | (select(.path | contains("/:")) | .path |= sub(":[A-Za-z]+"; $text)
            | {path} + if .body == "json" then {method, body: (least_body | tojson)} else {} end),
        (select(.path | test("/:[^/]*$") | not) | {path: (sample_path | sub("[^/]*$"; $text))})' -cs \
        --slurpfile strings "$STRINGS" <"$ROUTES" |
        jq -cs 'map(., (select(.method == null) | .path |= gsub("%2F"; "/")
            | select(.path | contains("//") | not))) | unique[]' >"$batch/requests"
    count=$(wc -l <"$batch/requests")
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
        | ($routes[] | sample_path + "?" + .query[].path), "/v2/health?\($text)",
            "/platform/webhook?hub.mode=subscribe&hub.challenge=5&hub.verify_token"
        | {path: "\(.)=\($text)"}' -cs --slurpfile strings "$STRINGS" <"$ROUTES" >"$batch/requests"
    count=$(wc -l <"$batch/requests")
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
        "$STRINGS" | jq -c 'if .path == "/v2/media/upload" then .headers |= (reverse | unique_by(split(":")[0] | ascii_downcase)) else . end' >"$batch/requests"
    count=$(wc -l <"$batch/requests")
    add_requests <"$batch/requests"
    perform
    check_answers '200|400|401|403|413|415' "$count"
    ! grep -h '"request_id"' "$LOG" | jq -r .request_id | grep -vE '^[A-Za-z0-9._@-]{1,64}$' || fail 'an invalid request id was accepted'
}
