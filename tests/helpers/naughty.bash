# shellcheck shell=bash
# Texts that are known to break programs, requests with them, and the checks of the answers:
# `load helpers/naughty` after helpers/all, helpers/routes and helpers/session. Not over `direct`.

setup_file() {
    start_stack
    make_user
    make_session ''
    export SESSION
    have_webhook
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"x\"}" # a change
    assert_success
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

# Passes the requests on; over cgi, where each starts a program, one of eight and those that have
# WORD: some_requests [WORD]
some_requests() {
    if [[ $TRANSPORT == fcgi || -n ${TEST_FULL-} ]]; then
        cat
    else
        awk -v word="${1-}" 'NR % 8 == 0 || (word != "" && index($0, word))'
    fi
}

# Makes requests from lines of JSON {path, method, headers: [], body, requires: []} on standard input. Each body
# is in a file, because curl refuses lines of 100 KB in its configuration.
add_requests() {
    tee >(jq -r '.body // "" | gsub("[\r\n\u0000]"; " ")' |
        split -l 1 -a 5 --numeric-suffixes=1 - "$batch/body.") | jq -r --arg base "$BASE" --arg batch "$batch" --arg token "$TOKEN" --arg session "$SESSION" '
        def text: "\"" + (gsub("(?<c>[\\\\\"])"; "\\\(.c)") | gsub("[\r\n\u0000]"; " ")) + "\"";
        input_line_number as $n
        | (if $n > 1 then "next" else empty end),
        "url = \(($base + .path) | text)", "request = \(.method // "GET")", "output = \"\($batch)/\($n).out\"",
        "dump-header = \"\($batch)/\($n).head\"", "max-time = 600", "write-out = \"\($n) %{http_code}\\n\"", "header = \"Expect:\"",
        (if .anonymous then empty elif .requires == ["session"] then "header = \"Cookie: __Host-switchboard=\($session)\"",
            "header = \"X-Switchboard: 1\"", "header = \"Sec-Fetch-Site: same-origin\""
            else "header = \"X-API-Token: \($token)\"" end),
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
    # of mod_cgid, and of mod_proxy_fcgi
    ! grep -E 'Premature end|malformed header|End of script output|AH0106[7-9]|AH0107[0-9]' \
        "$STACK/apache/error.log" || fail 'the log of Apache has a failed program'
    [[ ! -e $CANARY ]] || fail 'a text was executed'
    assert_sound
}
