#!/usr/bin/env bats
# The reference: the pages of doc/api, joined with what the programs print (tools/reference)
# transports: direct
# shellcheck disable=SC2016  # $ is of jq
# starts first
# bats file_tags=long
load helpers/all
load helpers/routes
load helpers/session
load helpers/factor

setup_file() {
    start_stack
    make_user
    have_samples
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"items\":[{\"name\":\"order_ready\",
        \"components\":[{\"type\":\"BODY\",\"text\":\"Order {{1}} is ready\"}],
        \"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"UTILITY\",
        \"id\":\"7004\"}]}" >/dev/null
    export DOC=$BATS_FILE_TMPDIR/doc
    "$root/tools/reference/build" "$DOC"
}

# Compares the programs of $1 with the pages of $2, and expects exactly these problems, one a line
# in any order:
problems_are() { # OUT PAGES TEXT
    local result=0
    OUT=$1 PAGES=$2 "$root/tools/reference/build" "$BATS_TEST_TMPDIR/checked" --check \
        2>"$BATS_TEST_TMPDIR/problems" || result=$?
    assert_equal "$(sort "$BATS_TEST_TMPDIR/problems")" "$(sort <<<"$3")"
    assert_equal "$result" "$([[ -z $3 ]] && echo 0 || echo 1)"
}

# Changes a page with sed in $pages, a copy of the pages, which it makes at the first call. A test
# changes several pages and then compares once, because that takes a second. change_page PAGE SCRIPT
change_page() {
    if [[ -z ${pages-} ]]; then
        pages=$BATS_TEST_TMPDIR/pages
        cp -r "$root/doc/api" "$pages"
    fi
    sed -i "$2" "$pages/$1"
    ! cmp -s "$root/doc/api/$1" "$pages/$1" || fail "the page did not change: $1"
}

# --- both sides ---

@test "the pages and the programs have the same routes, fields, statuses and error codes" {
    problems_are "$OUT" "$root/doc/api" ''
}

@test "the table of doc/security.md has the paths and the privileges of each executable" {
    local file
    for file in "$root"/cgi-bin/*.c; do
        "$OUT/cgi-bin/$(basename "$file" .c)" --describe </dev/null
    done | gojq -r 'def is_below($path): $path != "/" and startswith($path + "/");
        def shortened: unique as $all | $all[] | . as $path
            | select(any($all[]; . as $above | $path | is_below($above)) | not)
            | if any($all[]; is_below($path)) then "\($path)/..." else . end;
        [[.routes[]?.path] | shortened | "`\(.)`"] as $paths
        | "| `\(.executable)` | \(if $paths == [] then "[the platform\u0027s](api/graph.md)"
            else $paths | join(", ") end) | \(if .may == [] then "only answer"
            else .may | join(", ") end) |"' | sort >"$BATS_TEST_TMPDIR/expected"
    sed -n '/^| executable /,/^$/p' "$root/doc/security.md" | sed -n '/^| `/p' | sort |
        diff "$BATS_TEST_TMPDIR/expected" -
}

@test "a field that was added to a table without a text is reported, with the page to write in" {
    local built=$BATS_TEST_TMPDIR/built library options=() program
    library=$(dirname "$HELPERS")/libswitchboard.a
    [[ $OUT != *sanitize* ]] || options=(-fsanitize=address -fsanitize=undefined)
    [[ $OUT != *coverage* ]] || options=(--coverage)
    mkdir -p "$built/cgi-bin"
    for program in $(executables); do
        ln -s "$(realpath "$OUT/cgi-bin/$program")" "$built/cgi-bin/$program"
    done
    rm "$built/cgi-bin/root"
    sed 's|{.name = "format",|{.name = "planted", .type = FIELD_STRING},\n    &|' \
        "$root/cgi-bin/root.c" >"$BATS_TEST_TMPDIR/root.c"
    gcc -std=c11 -D_GNU_SOURCE -I "$root/lib" "${options[@]}" -o "$built/cgi-bin/root" \
        "$BATS_TEST_TMPDIR/root.c" "$library" -l:libfcgi.a
    problems_are "$built" "$root/doc/api" \
        'doc/api/root.md: no text for query `planted` of GET /: add a row to its table `query`'
}

@test "a section, a text or a schema that a page lacks is reported, with the place" {
    local pages
    change_page messages.md '/^| `text` |/d'
    change_page forms.md '/^| `flowId` |/d'
    change_page me.md 's|^### GET /v2/me$|### The account|'
    change_page health.md 's|^```json data$|```json|'
    change_page version.md 's|^```json answer$|```json|'
    change_page webhook_config.md '0,/^```json request$/s//```json/'
    change_page media.md '/^| 416 |/d'
    problems_are "$OUT" "$pages" 'doc/api/messages.md: no text for field `text` of POST'` \
        `' /v2/messages/send/text: add a row to its table `field`
doc/api/forms.md: no text for segment `flowId` of DELETE'` \
        `' /v2/forms/:flowId: add a row to its table `segment`
doc/api/forms.md: no text for segment `flowId` of GET'` \
        `' /v2/forms/:flowId: add a row to its table `segment`
doc/api/forms.md: no text for segment `flowId` of POST'` \
        `' /v2/forms/:flowId/deprecate: add a row to its table `segment`
doc/api/forms.md: no text for segment `flowId` of POST'` \
        `' /v2/forms/:flowId/publish: add a row to its table `segment`
doc/api/forms.md: no text for segment `flowId` of PUT'` \
        `' /v2/forms/:flowId/json: add a row to its table `segment`
doc/api/me.md: no schema for the answer of GET /v2/me: add'` \
        `' ```json data
doc/api/me.md: no section for GET /v2/me: add `### GET /v2/me`
doc/api/health.md: no schema for the answer of GET /v2/health: add ```json data
doc/api/version.md: no example for the answer of GET /v2/version: add ```json answer
doc/api/webhook_config.md: no example for the body of POST'` \
        `' /v2/webhooks/config: add ```json request
doc/api/README.md: no text for 416 VALIDATION_ERROR: add a row to a table `status`'
}

@test "a section or a text without a counterpart in the programs is reported, with the place" {
    local pages
    change_page messages.md 's/^| `text` |.*/&\n| `colour` | The colour. |/'
    change_page version.md 's|^### GET /v2/version$|### GET /v2/versions\n\nVersions.\n\n&|'
    change_page ready.md 's/^| 503 | INTERNAL_ERROR/| 503 | NOT_READY/'
    problems_are "$OUT" "$pages" 'doc/api/messages.md: the field `colour` of `### POST'` \
        `' /v2/messages/send/text` is in no table of the program: remove the row
doc/api/version.md: `### GET /v2/versions` is no route of the program: remove the section
doc/api/ready.md: 503 NOT_READY of `### GET /v2/ready` is no'` \
        `' failure of the programs: correct the row'
    change_page README.md 's/^### Every route that sends$/### Every route that sings/'
    OUT=$OUT PAGES=$pages run "$root/tools/reference/build" "$BATS_TEST_TMPDIR/checked" --check
    assert_equal "$status" 1
    [[ $output == *'`### Every route that sings` names no group of routes'* ]] || fail "$output"
}

@test "a type of events without a section or a translation is reported, with the key to add" {
    local pages
    export TRANSLATIONS=$BATS_TEST_TMPDIR/i18n
    cp -r "$root/htdocs/dashboard/i18n" "$TRANSLATIONS"
    change_page events.md 's/^### Event message.status$/## Statuses/; s/^A new lead\.$/A lead./'
    sed -i 's/"message_status": "O status/"message_sent": "O status/' "$TRANSLATIONS/pt.json"
    problems_are "$OUT" "$pages" 'doc/api/events.md: no section for the event message.status: '`
        `'add `### Event message.status` with ```json data
doc/api/events.md: `### Event lead.created` does not begin with its meaning: write `A new lead.`
htdocs/dashboard/i18n/pt.json: no text for the event message.status: '`
        `'add webhooks.type.message_status
htdocs/dashboard/i18n/pt.json: webhooks.type.message_sent is no event of the programs: '`
        `'remove the text'
}

# The numbers of headings, and of the items of the numbered list below one.
clauses() {
    awk 'FNR == 1 { clause = "" }
        /^##+ / { clause = $2 ~ /^[0-9.]+$/ ? $2 : ""; if (clause) print clause }
        /^[0-9]+\. / && clause { print clause "." $1 + 0 }' "$root"/doc/api/*.md | sort -u
}

@test "every clause that code, tests and configuration cite is in the reference" {
    local cited
    cited=$(cd "$root" && tests/lint/files text | xargs grep -hoE '\bspec [0-9]+(\.[0-9]+)*' |
        sed 's/^spec //' | sort -u)
    (($(wc -l <<<"$cited") > 20)) || fail "only these are cited: $cited"
    assert_equal "$(comm -23 <(printf '%s\n' "$cited") <(clauses))" ''
}

# --- the forms ---

@test "the reference is the same for the same sources" {
    "$root/tools/reference/build" "$BATS_TEST_TMPDIR/again"
    diff -r "$DOC" "$BATS_TEST_TMPDIR/again"
}

@test "the OpenAPI document has every route with its statuses and its fields, and every event" {
    local document=$DOC/htdocs/openapi.json
    assert_equal "$(jq -r '.openapi, .servers[0].url' "$document")" $'3.1.0\n/'
    assert_equal "$(jq -r '.paths | to_entries[] | .key as $path | .value | keys[]
        | "\(ascii_upcase) \($path | gsub("[{](?<name>[a-zA-Z]+)[}]"; ":\(.name)"))"' "$document" |
        sort)" "$(describe_routes | jq -r '"\(.method) \(.path)"' | sort)"
    assert_equal "$(jq -c '.webhooks | keys' "$document")" \
        "$(jq -c '.types + ["ping"] | sort' "$DOC/htdocs/docs/event_types.json")"
    assert_equal "$(jq -c '[.components.schemas[].properties?.eventTypes?.items // empty]
        | unique' "$document")" \
        '[{"$ref":"#/components/schemas/EventType"}]'
    assert_equal "$(jq -c '.components.schemas.PostMessagesSendInteractiveButtonWithTo
        | [.required, (.properties.buttons
        | .minItems, .maxItems, .items.required)]' "$document")" \
        '[["phoneNumberId","bodyText","buttons","to"],1,3,["id","title"]]'
    # of the alternatives of which exactly one may be present, each has a schema of its own, which
    # refuses the names of the others
    assert_equal "$(jq -c '.components.schemas
        | .PostMessagesSendInteractiveMediaCarouselWithTo.properties.mediaCards.items.oneOf[]
        | .required, (.properties | to_entries | [.[] | select(.value.not | not).key],
        [.[] | select(.value == {type: "null", not: {}}).key])' "$document")" \
        '["media","buttonText","url"]
["media","bodyText","buttonText","url"]
["buttons"]
["media","buttons"]
["media","bodyText","buttons"]
["buttonText","url"]'
    assert_equal "$(jq -c '[.paths["/v2/messages/send/sticker", "/v2/messages/read"].post
        | any(.parameters[]; .name == "Idempotency-Key")]' "$document")" '[true,false]'
    assert_equal "$(jq -c '.paths["/metrics"].get | .security, (.responses["200"].content | keys),
        (.responses | keys)' "$document")" '[]
["text/plain"]
["200","400","401","403","500","503"]'
    jq -c '.paths["/v2/forms/search"].get
        | [.parameters[] | select(.name == "limit").schema], (.responses | keys)' "$document" \
        >"$BATS_TEST_TMPDIR/found"
    assert_equal "$(xargs <"$BATS_TEST_TMPDIR/found")" \
        '[{type:integer,minimum:1,maximum:50}] [200,400,401,403,404,500,503]'
    # 304 has no body, and a cookie that every answer sets is required
    assert_equal "$(jq -c '.paths["/v2/changes"].get.responses["304"].content,
        .components.headers[.paths["/v2/session"].post.responses["200"]
            | .headers["Set-Cookie"]["$ref"] | sub(".*/"; "")].required' "$document")" \
        $'null\ntrue'
    assert_equal "$(jq -r '.components.schemas.PostTemplatesSendWithTo.properties.components
        | .type, .items["$ref"]' "$document")" $'array\n#/components/schemas/TemplateComponent'
    # generators of OpenAPI 3.0 know no boolean as the schema of a member
    assert_equal "$(jq -c '[.components.schemas | .. | objects.properties? // empty | .[]
        | booleans]' "$document")" '[]'
    # every reference leads to a schema
    assert_equal "$(jq -r '(.components.schemas | keys) as $known | .. | objects["$ref"] // empty
        | select(startswith("#/components/schemas/")) | sub(".*/"; "")
        | select(IN($known[]) | not)' "$document")" ''
}

@test "the HTML page has no script and no style of its own, and all its links lead somewhere" {
    local page=$DOC/htdocs/docs/index.html
    ! grep -nE '<script|<style| style=| on[a-z]+=|javascript:' "$page" || fail 'active content'
    assert_equal "$(grep -o ' id="[^"]*"' "$page" | sort | uniq -d)" ''
    assert_equal "$(comm -23 <(grep -o 'href="#[^"]*"' "$page" | sed 's/.*#\(.*\)"/\1/' | sort -u) \
        <(grep -o ' id="[^"]*"' "$page" | sed 's/.*"\(.*\)"/\1/' | sort -u))" ''
    while IFS= read -r route; do
        grep -qF ">$route</h3>" "$page" || fail "no section for $route"
    done < <(describe_routes | jq -r '"\(.method) \(.path)"')
}

@test "the Postman collection and llms.txt have every route, the manual page every field" {
    local count
    count=$(describe_routes | wc -l)
    assert_equal "$(jq '[.item[].item[]] | length' "$DOC/htdocs/docs/postman.json")" "$count"
    assert_equal "$count" \
        "$(grep -cE '^- \[(GET|POST|PUT|PATCH|DELETE) ' "$DOC/htdocs/docs/llms.txt")"
    describe_routes | jq -r '.members[].path' | sort -u | while IFS= read -r field; do
        grep -qxF "$field" "$DOC/switchboard-api.7" || fail "no $field in the manual page"
    done
}

@test "man and mandoc read the manual page without a warning" {
    local page=$DOC/switchboard-api.7
    assert_equal "$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)" ''
    run mandoc -Tlint -Wwarning "$page"
    assert_equal "$status $output" '0 '
}

# --- the examples ---

@test "the gateway accepts every example of a body as it stands, for the user's own line" {
    local route url example who workspace count=0 ANN_EMAIL=you@example.org
    switchboard user add "$ANN_EMAIL" >/dev/null
    have_webhook
    have_reply
    while IFS=$'\t' read -r route url example <&4; do
        printf 'case: %s\n' "$route"
        who=(--as "$TOKEN")
        # one of them changes the password
        if [[ $url =~ ^/v2/(password|(session|tokens?|invitations|workspace)(/.*)?|members/.*)$ ||
            $url == /v2/export ]]; then
            set_password ANN_
            have_session_samples ANN_
            who=(--session "$SESSION")
        fi
        code=287082 method=${route%% *}
        [[ $url != /v2/factor* ]] || have_factor_sample ANN_ "$url"
        [[ $url != /v2/outgoing/* ]] || have_outgoing failed
        case $url in
        /v2/campaigns/*/pause) have_campaign running ;;
        /v2/campaigns/*/resume) have_campaign paused ;;
        /v2/campaigns*) have_campaign draft ;;
        esac
        example=${example//287082/$code}
        # the links and the workspace of the examples are those of the samples
        example=${example//$(printf '0123456789abcdef%.0s' 1 2 3 4)/sample-${url##*/}}
        example=${example//$(printf 'fedcba9876543210%.0s' 1 2 3 4)/sample-${url##*/}}
        workspace=$(db "SELECT id FROM user WHERE email = '$ANN_EMAIL'")
        example=${example//usr_1mcgpzd9m000000001f2ac3d4e/$workspace}
        example=${example//con_1mcgpzd9m00000000312ab34cd/con_sample}
        example=${example//lin_1mcgpzd9m000000000f6g7h8j9/lin_own}
        # the next examples send the flow
        [[ $route != PUT*/json ]] || have_flow DRAFT
        request "${route%% *}" "$url" "${who[@]}" -d "${example//15550001000/$LINE}"
        assert_success
        [[ $route != PUT*/json ]] || have_flow PUBLISHED
        # a contact on hold is not erased
        [[ $route != PUT*/hold ]] || db "UPDATE contact SET held_at = NULL WHERE id = 'con_sample'"
        # an edited template is reviewed, and the next examples send it
        [[ $route != PATCH*/templates/* ]] || sandbox POST templates/7003 \
            '{"status":"APPROVED","components":[{"type":"BODY","text":"Hi"}]}' >/dev/null
        count=$((count + 1))
    done 4< <(jq -r '[.paths | to_entries[] | .key as $path | .value | to_entries[]
        | (.key | ascii_upcase) as $method
        | .value.requestBody?.content["application/json"].example? // empty
        | ["\($method) \($path)", ($path | sub("[{]name[}]"; "greeting")
            | sub("[{]eventId[}]"; "evt_00000000000000000000000001")
            | sub("[{]webhookId[}]"; "whk_sample") | sub("[{]tokenId[}]"; "tok_sample")
            | sub("[{]flowId[}]"; "7002") | sub("[{]outgoingId[}]"; "out_sample")
            | sub("[{]campaignId[}]"; "cmp_sample")
            | sub("[{]memberId[}]"; "mbr_sample") | sub("[{]replyId[}]"; "rpl_sample")
            | gsub("[{](?<of>thread|contact|line)Id[}]"; "\(.of[:3])_sample")), tojson]]
        | sort_by(.[0] | endswith("/erase"))[] | @tsv' \
        "$DOC/htdocs/openapi.json")
    ((count > 14)) || fail "only $count examples"
}
