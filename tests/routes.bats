#!/usr/bin/env bats
# The rules that hold for every route, tested for each route that the programs describe
# (helpers/routes.bash): a new route is tested here without being named. The effect of a route is
# tested in the file of its program.
# shellcheck disable=SC2016,SC2034,SC2153,SC2154  # $ is of jq; each_route sets the variables
# starts first
load helpers/all
load helpers/batch
load helpers/conventions
load helpers/routes
load helpers/session
load helpers/factor
load helpers/webhook

setup_file() {
    start_stack
    make_user GONE_
    switchboard user delete "$GONE_EMAIL"
    make_user LATE_
    switchboard plan set "$LATE_EMAIL" Premium --ends 2020-01-01
    make_user OTHER_
    make_user PERSON_
    set_password PERSON_
    make_user
    have_routes
}

setup() {
    forget_sent
    write_config 'graph_destructive = yes'
    have_webhook # a route of each test removes it
}

# Checks that the log line of the last request has its method, the route and the status.
assert_logged() {
    local logged
    read_log_line
    [[ $logged == *"\"method\":\"$method\""* &&
        $logged == *"\"route\":\"$route\",\"status\":$status,"* ]] ||
        fail "expected $method, $route and $status: $logged"
}

# The answer is an error in the envelope with the headers of every answer; the log has its route:
assert_refused() { # STATUS CODE [MESSAGE-PART]
    assert_error "$@"
    assert_conventions
    assert_logged
}

stored() {
    db 'SELECT (SELECT count(*) FROM contact), (SELECT count(*) FROM message),
        (SELECT count(*) FROM idempotency)'
}

# --- the description ---

is_served() {
    local program script_name path_info
    find_program "${url%%\?*}"
    assert_equal "$program" "$(gojq -r --arg method "$method" --arg route "$route" \
        'select(.method == $method and .path == $route).executable' "$ROUTES")"
}

# bats test_tags=long
@test "every executable describes its routes, and apache.conf sends their paths to it" {
    each_route is_served
    # those with the platform's contract describe edges
    assert_equal "$(gojq -r .executable "$ROUTES" | sort -u)" \
        "$(executables | sort | grep -v '^graph')"
    # under FastCGI all but four are pools; `ready` has a section for the names of the pools
    assert_equal \
        "$(sed -n 's/^ *<Files "\([a-z_]*\)">$/\1/p' "$root/apache.conf" | grep -vx ready | sort)" \
        "$(executables | sort | grep -vxE 'media|graph_media|ready|metrics')"
    assert_equal "$(gojq -r '"\(.method) \(.path)"' "$ROUTES" | sort | uniq -d)" ''
}

# lint: long lines
# bats test_tags=long
@test "the description has requirement, kind and limit of the body, and the rules of every field" {
    jq -cS 'select(.path == "/v2/messages/send/media") | del(.executable)' "$ROUTES" \
        >"$BATS_TEST_TMPDIR/found"
    jq -cS . >"$BATS_TEST_TMPDIR/wanted" <<'END'
{"method": "POST", "path": "/v2/messages/send/media", "segments": [],
 "requires": ["either", "line"], "scope": "send", "lines": "by body",
 "body": "json", "limit": 2097152, "trail": "message", "query": [], "kinds": [],
 "one_of": [["to", "recipient"], ["media.mediaId", "media.link"]],
 "exclusive": [["media.mediaId", "media.link"]],
 "members": [{"path": "phoneNumberId", "type": "string", "required": true},
  {"path": "to", "type": "string", "pattern": "^(?!\\s*[A-Za-z]{2}\\.([Ee][Nn][Tt]\\.)?[A-Za-z0-9]{1,128}\\s*$)([^0-9]*[0-9]){5,20}[^0-9]*$",
   "meaning": "a phone number of 5 to 20 digits with its country code"},
  {"path": "recipient", "type": "string", "meaning": "a business-scoped user id",
   "pattern": "^[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128}$"},
  {"path": "sendAt", "type": "string", "longest": 40, "example": "2026-11-20T23:54:27.935Z",
   "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})$",
   "meaning": "a date and a time in ISO 8601 with Z or an offset"},
  {"path": "validFor", "type": "integer", "from": 1, "to": 2592000},
  {"path": "contextMessageWamid", "type": "string"},
  {"path": "media", "type": "object", "required": true},
  {"path": "media.type", "type": "string", "required": true,
   "values": ["image", "video", "audio", "document"]},
  {"path": "media.mediaId", "type": "string"},
  {"path": "media.link", "type": "string", "longest": 2048, "example": "https://example.com/a",
   "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]{1,253})(:(0{0,4}([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?)?([/?#]([!#$&-;=?-Z_a-z~\\[\\]]|%[0-9A-Fa-f]{2})*)?$",
   "meaning": "an absolute http: or https: URL without user name and password"},
  {"path": "media.caption", "type": "string"},
  {"path": "media.filename", "type": "string"}]}
END
    diff "$BATS_TEST_TMPDIR/wanted" "$BATS_TEST_TMPDIR/found"
    assert_equal "$(routes platform)" 'GET /platform/webhook - none platform
POST /platform/webhook signature raw platform'
    assert_equal "$(routes media | head -n 1)" 'POST /v2/media/upload either file media'
    assert_equal "$(jq -c 'select(.path == "/v2/forms/search").query[1]' "$ROUTES")" \
        '{"path":"limit","type":"integer","from":1,"to":50}'
    # only these paths are public (spec 5.4)
    assert_equal "$(routes | awk '$3 == "-" { print $2 }' | sort | xargs)" \
        '/ /dashboard /metrics /platform/webhook /v2/docs /v2/factor/login /v2/health /v2/ready /v2/session /v2/session/join /v2/version'
    # only this route leaves its fields to the handler, so the tests of fields leave out no other
    assert_equal "$(gojq -r 'select(.kinds != []).path' "$ROUTES")" /v2/messages/send
    # every route that sends needs a line (spec 5.6)
    assert_equal "$(routes messages | awk '$3 != "either,line"')" ''
    assert_equal "$(routes | awk '$2 ~ /send/ && $3 != "either,line"')" ''
}

@test "each route that requires a caller has one scope, those of a session have their own ones" {
    local scopes='["basic","read","send","inbox","events","manage"]'
    # colleagues are listed for each member, and for no token
    assert_equal "$(jq -r "select((.scope | IN($scopes[])) and .path != \"/v2/members\") | .requires[0]" \
        "$ROUTES" | sort -u)" either
    assert_equal "$(jq -r 'select(.scope | IN("team", "owner", "self")) | .requires[0]' "$ROUTES" |
        sort -u)" session
    assert_equal "$(jq -r 'select(.scope == null) | .requires[]' "$ROUTES" | sort -u)" signature
    # the reference names the same ones
    assert_equal "$(jq -cS '[.paths | to_entries[] | .key as $path | .value | to_entries[]
            | select(.value["x-scope"]) | [$path, .key, .value["x-scope"]]] | sort | .[]' \
            "$OUT/htdocs/openapi.json")" \
        "$(jq -cS '[., inputs] | [.[] | select(.scope) | [(.path
            | gsub(":(?<name>[A-Za-z]+)"; "{\(.name)}")), (.method | ascii_downcase), .scope]]
            | sort | .[]' "$ROUTES")"
}

@test "the reference says how a route keeps to the lines of the caller, where it does" {
    assert_equal "$(jq -cS '[.paths | to_entries[] | .key as $path | .value | to_entries[]
            | select(.value["x-lines"]) | [$path, .key, .value["x-lines"]]] | sort | .[]' \
            "$OUT/htdocs/openapi.json")" \
        "$(jq -cS '[., inputs] | [.[] | select(.lines) | [(.path
            | gsub(":(?<name>[A-Za-z]+)"; "{\(.name)}")), (.method | ascii_downcase), .lines]]
            | sort | .[]' "$ROUTES")"
    assert_equal "$(jq -r 'select(.lines) | .scope' "$ROUTES" | sort -u | xargs)" \
        'basic inbox read self send team'
}
# lint: end

# A web server may make arguments of a query string without `=` (RFC 3875 4.4).
# bats test_tags=long
@test "a query cannot ask an executable for its description, nor can an unknown argument" {
    local executable count=0
    for executable in $(executables); do
        request GET "/v2/$executable?--describe"
        [[ $(<"$body") != *'"executable"'* ]] || fail_answer 'expected no description'
        GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD=GET SCRIPT_NAME=/none QUERY_STRING=--describe \
            "$OUT/cgi-bin/$executable" --describe </dev/null >"$BATS_TEST_TMPDIR/out"
        grep -q '^Status: [45]' "$BATS_TEST_TMPDIR/out" ||
            fail "$executable: $(cat "$BATS_TEST_TMPDIR/out")"
        run "$OUT/cgi-bin/$executable" --descirbe </dev/null
        assert_equal "$status" 2
        assert_equal "$output" "$executable: unknown argument --descirbe: give none for text, \
or --describe for JSON"
        count=$((count + 1))
    done
    ((count > 10)) || fail "only $count executables"
}

# --- success ---

# The answers that are no envelope; the platform's verification has its parameters.
answers_sample() {
    local form=''
    [[ $route != /platform/webhook || $method != GET ]] ||
        url+='?hub.mode=subscribe&hub.challenge=5&hub.verify_token=test-verify-token'
    number=$((number + 1))
    send_sample "${who[@]}" -H "X-Request-Id: sample-$number"
    case $method\ $route in
    'GET /' | 'GET /metrics' | 'GET /platform/webhook' | 'GET /v2/media/:mediaId/download')
        assert_status 200
        ;;
    'GET /v2/campaigns/:campaignId/recipients.csv') assert_status 200 && form=streamed ;;
    'GET /dashboard' | 'GET /v2/docs') assert_status 301 ;;
    'POST /v2/contacts/:contactId/export' | 'POST /v2/export') assert_success && form=streamed ;;
    *) assert_success ;;
    esac
    assert_conventions "$form"
    assert_header X-Request-Id "sample-$number"
    assert_logged
}

# Every route answers the request with the required fields alone.
# bats test_tags=route,long
@test "every route accepts the smallest request by its description" {
    local number=1000
    each_route answers_sample
}

# bats test_tags=direct,long
@test "every send accepts a request with all fields of its description" {
    local number=0
    accepts_all() {
        sample=$whole
        send_sample "${who[@]}" -H 'Prefer: handling=strict'
        assert_success
        assert_header Preference-Applied handling=strict
        [[ $sample != *'"contextMessageWamid"'* ]] ||
            assert_sent_json .context.message_id wamid.x=
        number=$((number + 1))
        assert_equal "$(sent_count)" "$number"
    }
    each_route accepts_all "$needs_line"
}

# --- authorization (spec 5) ---

# bats test_tags=each,long
@test "every protected route refuses a missing, a wrong and a deleted user's token (spec 5.4)" {
    local before token
    before=$(stored)
    needs_its_token() {
        send_sample
        assert_refused 401 UNAUTHORIZED 'Missing API token'
        assert_header WWW-Authenticate
        for token in wrong "$GONE_TOKEN"; do
            send_sample --as "$token"
            assert_refused 401 UNAUTHORIZED 'Invalid API token'
            assert_header WWW-Authenticate
        done
    }
    each_program needs_its_token "$needs_caller"
    assert_nothing_sent
    assert_equal "$(stored)" "$before"
}

# bats test_tags=long
@test "every route of the session refuses a missing and an ended session, and a token (spec 5.8)" {
    needs_its_session() {
        send_sample
        assert_refused 401 UNAUTHORIZED 'Missing session'
        assert_header WWW-Authenticate 'Session realm="switchboard"'
        send_sample --as "$PERSON_TOKEN" --session "$SESSION"
        assert_refused 401 UNAUTHORIZED 'Missing session'
        send_sample --session "${SESSION:1}0"
        assert_refused 401 UNAUTHORIZED 'The session has ended'
    }
    each_route needs_its_session '.requires | index("session")'
}

# bats test_tags=long
@test "every protected route accepts a session, and with a token ignores it (spec 5.8)" {
    takes_session() {
        have_session_samples ''
        send_sample --session "$SESSION"
        assert_success
        refute_header Set-Cookie
        send_sample --as wrong --session "$SESSION"
        assert_refused 401 UNAUTHORIZED 'Invalid API token'
    }
    each_route takes_session "($needs_caller) and (.path | test(\"/download$|[.]csv$\") | not)"
}

# bats test_tags=direct,long
@test "every protected route refuses a user whose plan has ended (spec 5.5)" {
    needs_a_plan() {
        send_sample --as "$LATE_TOKEN"
        assert_refused 403 PLAN_EXPIRED
        refute_header WWW-Authenticate
    }
    each_route needs_a_plan "$needs_caller"
    assert_nothing_sent
}

# bats test_tags=route
@test "every route that requires a signature refuses a request without it or with another one" {
    needs_its_signature() {
        request "$method" "$url" -d '{}'
        assert_refused 401 UNAUTHORIZED
        refute_header WWW-Authenticate
        request "$method" "$url" -d '{ }' -H "X-Hub-Signature-256: $SIGNATURE"
        assert_refused 401 UNAUTHORIZED
    }
    each_route needs_its_signature '.requires | index("signature")'
}

# bats test_tags=direct,long
@test "every send refuses a missing line and one of another user first (spec 5.6)" {
    local before own=\"phoneNumberId\":\"$LINE\"
    before=$(stored)
    needs_its_line() {
        [[ $sample == *"$own"* ]] || fail "the sample has no line: $sample"
        request "$method" "$url" -d '{"to":5}' "${who[@]}"
        assert_refused 400 VALIDATION_ERROR
        assert_json '[.details[] | "\(.path):\(.code)"]' '["phoneNumberId:required"]'
        request "$method" "$url" "${who[@]}" \
            -d "${sample/"$own"/"\"phoneNumberId\":\"$OTHER_LINE\""}"
        assert_refused 403 FORBIDDEN phoneNumberId
        request "$method" "$url" -d "{\"phoneNumberId\":\"$OTHER_LINE\",\"to\":5}" "${who[@]}"
        assert_refused 403 FORBIDDEN phoneNumberId
    }
    each_route needs_its_line "$needs_line"
    assert_nothing_sent
    assert_equal "$(stored)" "$before"
}

# bats test_tags=direct,long
@test "every send refuses a blocked contact, and the platform is not called (spec 3, 4.3)" {
    local before
    switchboard contact block "$LINE" +15550007000
    before=$(stored)
    refuses_blocked() {
        send_sample "${who[@]}"
        assert_refused 403 FORBIDDEN 'The contact is blocked on this line'
        refute_header WWW-Authenticate
    }
    each_route refuses_blocked "$sends_message"
    switchboard contact unblock "$LINE" +15550007000
    assert_nothing_sent
    assert_equal "$(stored)" "$before"
}

# --- objects of other users ---

# Sends the sample to the path with this segment, and expects a refusal: 404, or the platform's for
# an object that only the platform has: refused_for SEGMENT option of request...
refused_for() {
    url=${own/"/$segment"/"/$1"} send_sample "${@:2}"
    if [[ $status == 404 ]]; then
        assert_refused 404 NOT_FOUND
    else
        assert_refused 400 VALIDATION_ERROR
        assert_that '.details.error | has("fbtrace_id")'
    fi
    sed "s/$1/SEGMENT/g; s/\"fbtrace_id\":\"[^\"]*\"//" "$body" >"$BATS_TEST_TMPDIR/answer"
}

# A change that is refused is not made either.
hides_others() {
    local own=$url segment=${route#*:} other=(--as "$OTHER_TOKEN") before
    segment=$(gojq -nr "$sample_functions segments.${segment%%/*}" --arg line '' --arg workspace '')
    [[ $kind != json ]] || sample=$whole
    if [[ ${who[0]} == --session ]]; then
        make_session OTHER_
        other=(--session "$SESSION")
    fi
    sample=${sample//"$LINE"/$OTHER_LINE}
    before=$(database_dump | sha256sum)
    refused_for "$segment" "${other[@]}"
    assert_equal "$(database_dump | sha256sum)" "$before"
    mv "$BATS_TEST_TMPDIR/answer" "$BATS_TEST_TMPDIR/hidden"
    refused_for "${segment%?}9" "${other[@]}"
    diff "$BATS_TEST_TMPDIR/hidden" "$BATS_TEST_TMPDIR/answer"
    refused_for "${segment%?}%27%20OR%201" "${other[@]}"
}

# bats test_tags=direct,long
@test "an object of another user is refused on every route with a segment, as one that does not exist" {
    each_route hides_others '.path | contains(":")'
}

# bats test_tags=direct,long
@test "nothing of another user is in the answer of a route without a segment" {
    local shown=0
    local own="$EMAIL|$ACCOUNT|$LINE|$WABA|(ses|thr|con|lin|whk|msg)_sample"
    own+='|evt_00000000000000000000000001|greeting|"700[1-5]"'
    shows_own() {
        send_sample "${who[@]}"
        ! grep -qE "$own" "$body" || shown=$((shown + 1))
        if [[ ${who[0]} == --session ]]; then
            make_session OTHER_
            send_sample --session "$SESSION"
        else
            send_sample --as "$OTHER_TOKEN"
        fi
        ! grep -E "$own" "$body" || fail_answer 'expected nothing of the first user'
    }
    each_route shows_own '.method == "GET" and (.path | contains(":") | not)
        and (.requires | index("either", "session"))'
    ((shown >= 8)) || fail "only $shown routes show an object"
}

# --- methods and paths (spec 7, RFC 9110) ---

# Prints a line `URL METHOD...` for each path, with the methods of all routes that match the path;
# with `few`, for one path of each program and set of methods.
paths() {
    samples '. as $all | [.[] | {executable, url: sample_path}] | unique
        | map(.url as $url
            | .executable as $executable
            | [$all[] | select(.executable == $executable)
                | select(.path | pattern as $pattern | $url | test($pattern)).method] as $has
            | .has = [("GET", "POST", "PUT", "PATCH", "DELETE") | select(IN($has[]))])
        | if $few != "" then unique_by([.executable, .has]) else . end
        | .[] | [.url, .has[]] | join(" ")' -rs --arg few "$few" <"$ROUTES"
}

# bats test_tags=route,each,long
@test "every path refuses other methods with 404 and Allow, and answers OPTIONS with 204" {
    local url methods count=0 few
    choose_few
    while read -r url methods <&4; do
        # shellcheck disable=SC2086  # words
        assert_methods "$url" $methods
        count=$((count + 1))
    done 4< <(paths)
    if [[ -n $few ]]; then
        ((count > $(executables | wc -l))) || fail "only $count paths"
    else
        assert_equal "$count" "$(samples sample_path -r <"$ROUTES" | sort -u | wc -l)"
    fi
    assert_nothing_sent
}

# bats test_tags=route,long
@test "every GET route answers HEAD with the same status and length (RFC 9110 9.3.2)" {
    heads() {
        local wanted length
        send_sample "${who[@]}"
        wanted=$status length=$(header Content-Length)
        request HEAD "$url" "${who[@]}"
        assert_status "$wanted"
        assert_header Content-Length "$length"
        [[ ! -s $body ]] || fail_answer 'expected no body'
    }
    # the numbers of the metrics and the list of the requests change with every request; Apache
    # leaves the length 0 of a redirect out of the answer to HEAD
    each_route heads '.method == "GET" and
        (.path | IN("/metrics", "/v2/requests", "/dashboard", "/v2/docs") | not)'
}

# Prints the paths that resemble those of routes and match none, also no directory; with `few`,
# those that resemble the longest path of each program.
similar_paths() {
    samples '([.[].path | pattern] | join("|")) as $known
        | if $few != "" then [group_by(.executable)[] | max_by(.path | length)] else . end
        | [.[] | sample_path | select(IN("/", "/dashboard", "/v2/docs") | not)
        | (. + "/", . + "/x", . + "x", . + ";x", sub("/v2/"; "/V2/"), sub("/v2/"; "/v1/"))]
        | unique[] | select(test($known) | not)' -rs --arg few "$few" <"$ROUTES"
}

# bats test_tags=each,long
@test "a path with a slash at its end, or that resembles one of a route, is 404 (spec 7)" {
    local url count=0 few least
    choose_few
    least=$(wc -l <"$ROUTES")
    [[ -z $few ]] || least=$((4 * $(jq -r .executable "$ROUTES" | sort -u | wc -l)))
    while read -r url <&4; do
        printf 'case: %s\n' "$url"
        request GET "$url"
        assert_error 404 NOT_FOUND 'no such route'
        refute_header Allow
        assert_conventions
        count=$((count + 1))
    done 4< <(similar_paths)
    ((count > least)) || fail "only $count paths"
}

# --- the body ---

# bats test_tags=route,each,long
@test "every route with a JSON body refuses other types, codings, and what is no object" {
    local before
    before=$(stored)
    refuses_body() {
        send_sample "${who[@]}" -H 'Content-Type: text/plain'
        assert_refused 415 VALIDATION_ERROR 'Content-Type: application/json'
        send_sample "${who[@]}" -H 'Content-Encoding: gzip'
        assert_refused 415 VALIDATION_ERROR Content-Encoding
        request "$method" "$url" -d "${sample%?}" "${who[@]}"
        assert_refused 400 VALIDATION_ERROR 'not valid JSON'
        request "$method" "$url" -d "[$sample]" "${who[@]}"
        assert_refused 400 VALIDATION_ERROR 'must be a JSON object, not array'
    }
    each_program refuses_body "$is_json"
    assert_nothing_sent
    assert_equal "$(stored)" "$before"
}

# bats test_tags=route,each,long
@test "every route refuses a body that is one byte larger than its limit (spec 8)" {
    local large=$BATS_TEST_TMPDIR/large
    refuses_large() {
        head -c "$limit" /dev/zero | tr '\0' ' ' >"$large"
        printf '{' >>"$large"
        request "$method" "$url" -d "@$large" "${who[@]}" -H "X-Hub-Signature-256: $SIGNATURE"
        assert_refused 413 VALIDATION_ERROR "larger than $limit bytes"
    }
    each_program refuses_large '.limit > 0'
    assert_nothing_sent
}

# --- the fields ---

# Makes the tables of the routes with fields, all at once, because jq takes longer than the requests
# of a route: make_tables PROGRAM, a jq program that prints the rows of a route for check_bodies
make_tables() {
    samples "select($has_members) | . as \$of | ($1) | \"\(\$of.method) \(\$of.path)\t\(.)\"" \
        -r <"$ROUTES" >"$BATS_TEST_TMPDIR/tables"
}

# Prints the rows of the route.
table_of_route() {
    sed -n "s|^$method $route\t||p" "$BATS_TEST_TMPDIR/tables"
}

# jq program: the rows for check_bodies, one wrong value in each.
wrong_fields='
    def wrong: {string: [null, true, 5, ["x"], {a: 1}], object: [null, false, 5, "x", []],
        array: [null, true, 5, "x", {a: 1}], integer: [null, true, "x", [], {}],
        boolean: [null, "true", 1, [], {}], "array of strings": [true, 5, "x", {a: 1}],
        "string or number": [null, true, ["x"], {a: 1}]};
    def row($issue): "400\t\($issue)\t\(tojson)";
    . as $described
    | (.members[] | . as $field | (.path | keys_of) as $keys | (.path | place) as $place
        | ($described | whole_body($field.path)) as $whole
        | def with($value; $code): $whole | setpath($keys; $value) | row("\($place):\($code)");
        ($whole | getpath($keys)) as $given
        | (wrong[.type][] | select(. != null or ($field.may_be_null | not))
            | with(.; "invalid_type")),
        (select(.required) | $whole | delpaths([$keys]) | row("\($place):required")),
        (select((.type | startswith("string")) and (.may_be_empty | not)) | with(""; "empty")),
        def with_text($value; $code): if .type != "array of strings" then with($value; $code)
            else $whole | setpath($keys; [$value]) | row("\($place)[0]:\($code)") end;
        (select(.values) | with_text("no such value"; "invalid_value")),
        (select(.longest) | with_text("x" * (.longest + 1); "invalid_value")),
        (select(.pattern) | .pattern as $pattern
            | with_text(if "no match" | test($pattern) then "\u0000" else "no match" end;
                "invalid_value")),
        (select(.type == "array of strings") | with_text(""; "empty"),
            with_text((null, 5, ["x"], {}); "invalid_type")),
        (select(.type == "integer" and .from) | with(.from - 1; "out_of_range")),
        (select(.type == "integer" and .to) | with(.to + 1; "out_of_range")),
        (select((.type | startswith("array")) and .from) | with($given[:.from - 1]; "too_few")),
        (select((.type | startswith("array")) and .to)
            | with([range(.to + 1) | $given[0]]; "too_many")),
        (select(has_items($described))
            | $whole | setpath($keys + [0]; "x") | row("\($place)[0]:invalid_type"))),
    (.one_of[] as $names | whole_body | delpaths([$names[] | keys_of])
        | row("\($names[0] | place):one_of")),
    (.exclusive[] as $names | ($names[1] | keys_of) as $keys
        | ($described | whole_body($names[1]) | getpath($keys)) as $second
        | whole_body | setpath($keys; $second)
        | row([$described.exclusive[] | select(index([$names[1]])) | "\($names[1] | place):one_of"]
            | join(",")))'

# bats test_tags=direct,long
@test "every route refuses wrong types, missing fields and invalid values (spec 4.3)" {
    local before cases=0 table=$BATS_TEST_TMPDIR/table
    before=$(stored)
    refuses_fields() {
        table_of_route >"$table"
        check_bodies "$method" "$url" "${who[@]}" <"$table"
        cases=$((cases + $(wc -l <"$table")))
    }
    make_tables "$wrong_fields"
    each_route refuses_fields "$has_members"
    printf '# %d bodies\n' "$cases" >&3
    assert_nothing_sent
    assert_equal "$(stored)" "$before"
}

# jq program: the rows with an unknown member in each object that has fields, then one with all of
# them.
unknown_members='
    . as $described | whole_body as $whole
    | ["", (.members[] | select(.type == "object").path + "."
            | select(. as $start | any($described.members[]; .path | startswith($start)))),
        (.members[] | select(has_items($described)).path + "[].") | . + "unknown"] as $paths
    | ($paths[] as $path | $described | whole_body($path)
        | setpath($path | keys_of; {a: [1, null]})
        | "400\t\($path | place):unknown_field\t\(tojson)"),
    (reduce ($paths[] | select(keys_of[:-1] as $keys | $whole | getpath($keys))) as $path
            ($whole; setpath($path | keys_of; {a: [1, null]}))
        | "200\t-\t\(tojson)")'

# bats test_tags=direct,long
@test "every route ignores unknown members, and refuses them under handling=strict (RFC 7240)" {
    local table=$BATS_TEST_TMPDIR/table
    unknown_are_ignored() {
        table_of_route | sed "s/287082/${code-}/" >"$table"
        check_bodies "$method" "$url" "${who[@]}" -H 'Prefer: handling=strict' \
            < <(grep ^400 "$table")
        check_bodies "$method" "$url" "${who[@]}" < <(grep ^200 "$table")
    }
    make_tables "$unknown_members"
    each_route unknown_are_ignored "$has_members"
}

# jq program: lines `CALLER METHOD URL ISSUE PREFERENCE`, one wrong parameter in each, and after a
# tab the smallest body.
wrong_parameters='
    select(.query != []) | (if .requires == ["session"] then "session" else "token" end) as $caller
    | "\($caller) \(.method) \(sample_path)" as $url
    | (sample_query | if . == "" then "?" else . + "&" end) as $required
    | (if .body == "json" then least_body | tojson else "" end) as $body
    | (.query[] | . as $field
        | def with($value; $code): "\($field.path)=\($value) \($field.path):\($code) lenient";
        select(.required | not) | $required +
        ((select(.type == "integer") | with("x", "", "1.5", "%20"; "invalid_type")),
        (select(.type == "integer" and .from) | with(.from - 1; "out_of_range")),
        (select(.type == "integer" and .to) | with(.to + 1; "out_of_range")),
        (select(.type == "string" and (.may_be_empty | not)) | with(""; "empty")),
        (select(.values) | with("no%20such"; "invalid_value")))),
    (.query[] | select(.required) | "?unknown= \(.path):required lenient"),
    "\($required)un%20known=x un known:unknown_field strict" | "\($url)\(.)\t\($body)"'

# bats test_tags=direct,long
@test "every route refuses invalid query parameters, and unknown ones under handling=strict" {
    local line caller method place issue preference who sample count=0
    make_session PERSON_
    while IFS=$'\t' read -r line sample <&4; do
        printf 'case: %s\n' "$line"
        caller=${line%% *} line=${line#* }
        method=${line%% *} line=${line#* }
        who=(--as "$TOKEN")
        [[ $caller == token ]] || who=(--session "$SESSION")
        place=${line%% *} preference=${line##* } issue=${line#* }
        issue=${issue% *}
        request "$method" "$place" "${who[@]}" -H "Prefer: handling=$preference" \
            ${sample:+-d "$sample"}
        assert_error 400 VALIDATION_ERROR
        assert_json '[.details[] | "\(.path):\(.code)"]' "[\"$issue\"]"
        assert_conventions
        if [[ $preference == strict ]]; then
            assert_header Preference-Applied handling=strict
        else
            refute_header Preference-Applied
        fi
        count=$((count + 1))
    done 4< <(samples "$wrong_parameters" -r <"$ROUTES")
    ((count > 30)) || fail "only $count queries"
    assert_nothing_sent
}

# --- the sends ---

# bats test_tags=direct,long
@test "every send under an Idempotency-Key goes out once, and another body under the key is 422" {
    local number=0
    goes_out_once() {
        number=$((number + 1))
        send_sample "${who[@]}" -H "Idempotency-Key: every-$number"
        assert_success
        refute_header Idempotent-Replayed
        cp "$body" "$BATS_TEST_TMPDIR/first"
        send_sample "${who[@]}" -H "Idempotency-Key: every-$number"
        assert_status 200
        assert_header Idempotent-Replayed true
        assert_body_is "@$BATS_TEST_TMPDIR/first"
        request "$method" "$url" -d "${sample%?},\"ignored\":1}" "${who[@]}" \
            -H "Idempotency-Key: every-$number"
        assert_refused 422 VALIDATION_ERROR 'another body'
        send_sample "${who[@]}" -H 'Idempotency-Key: a b'
        assert_refused 400 VALIDATION_ERROR Idempotency-Key
        assert_equal "$(sent_count)" "$number"
    }
    each_route goes_out_once "$sends_message"
}

# The routes below a dispatching route are its kinds.
# bats test_tags=direct,long
@test "a route that dispatches sends the body of every route below it likewise (spec 4.3)" {
    local kind_url text count=0
    dispatches() {
        while IFS=$'\t' read -r kind_url text <&5; do
            printf 'kind: %s\n' "$kind_url"
            api POST "$kind_url" -d "$text"
            assert_success
            sent >"$BATS_TEST_TMPDIR/wanted"
            api POST "$url" -d "$text"
            assert_success
            sent >"$BATS_TEST_TMPDIR/found"
            cmp "$BATS_TEST_TMPDIR/wanted" "$BATS_TEST_TMPDIR/found" ||
                fail "$url and $kind_url differ"
            count=$((count + 1))
        done 5< <(samples 'select(.path | startswith($route))
            | "\(sample_path)\t\(whole_body | tojson)"' -r --arg route "$route/" <"$ROUTES")
        api POST "$url" -d "{\"phoneNumberId\":\"$LINE\"}"
        assert_error 400 VALIDATION_ERROR 'Unsupported message payload.'
        assert_equal "$(gojq -r '.details[].kind' "$body" | sort -u)" \
            "$(gojq -r '.path' "$ROUTES" | sed -n "s|^$route/||p" | sort)"
        assert_equal "$(sent_count)" $((2 * count))
    }
    each_route dispatches '.kinds != []'
}
