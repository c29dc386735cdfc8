# shellcheck shell=bash
# The routes of the programs, as the programs describe them (lib/web/describe.h), and requests made
# from that description: a test of every route names none. `load helpers/routes` after helpers/all.
#
# Only sample values stand here: one for each `:name` segment of a path, for each field whose value
# must exist, and for the fields that all sends share. Any other field has the example of its
# description, else "x".

# Prints the names of the executables: one for each source file.
executables() {
    local file
    for file in "$root"/cgi-bin/*.c; do
        file=${file##*/}
        printf '%s\n' "${file%.c}"
    done
}

# Prints the description of the routes (lib/web/describe.h), one JSON object a line, each with the
# name of its `executable`. A route that dispatches has the fields of the first route below it:
# describe_routes [EXECUTABLE...]
describe_routes() {
    local executable
    # shellcheck disable=SC2046  # names without spaces
    (($#)) || set -- $(executables)
    for executable; do
        "$OUT/cgi-bin/$executable" --describe </dev/null || return
    done | jq -cs '[.[] | {executable} + .routes[]] as $all | $all[]
        | if .kinds == [] then . else . + (first(.path as $path | $all[]
            | select(.path | startswith($path + "/"))) | {members, one_of, exclusive}) end'
}

# Prints a line `METHOD PATH PROTECTION BODY EXECUTABLE` for each route; PROTECTION is `-`, or the
# requirements joined by commas: routes [EXECUTABLE...]
routes() {
    describe_routes "$@" | gojq -r '[.method, .path, if .requires == [] then "-" else
        (.requires | join(",")) end, .body, .executable] | join(" ")'
}

# jq functions that make requests from a description. They need the arguments of `samples`.
# shellcheck disable=SC2016,SC2034  # jq expands them; tests use them
sample_functions='
    def segments: {name: "greeting", mediaId: "7001", flowId: "7002", sessionId: "ses_sample",
        threadId: "thr_sample", contactId: "con_sample", lineId: "lin_sample",
        wamid: "wamid.sample", eventId: "evt_00000000000000000000000001",
        outgoingId: "out_sample", campaignId: "cmp_sample",
        webhookId: "whk_sample", tokenId: "tok_sample",
        memberId: "mbr_sample", invitationId: "inv_sample", noteId: "not_sample",
        replyId: "rpl_sample"};
    def known: {phoneNumberId: $line, to: "15550007000", recipient: "US.13491208655302741918",
        contextMessageWamid: "wamid.x=", mediaId: "7001", templateName: "greeting",
        language: "en_US", birthday: "1999-01-23", flowId: "7002", flowData: {a: 1},
        sendAt: (now + 3600 | todate),
        upTo: "msg_sample", lineId: "lin_sample", lineIds: "lin_own", phoneNumberIds: $line};
    # the fields of webhooks of the kind forward; that of the samples is of the kind event
    def of_forwards: ["fields", "updates", "splitMessages", "verifyToken"];
    def known_paths: {link: "sample-link", "window.from": "09:00", "window.to": "20:00"};
    # what a field has for one route only
    def known_of: {"/v2/session/join": {invitation: "sample-join"},
        "/v2/invitations/accept": {invitation: "sample-accept"},
        "/v2/session/workspace": {workspaceId: $workspace},
        "/v2/workspace": {requiresFactor: false},
        "/v2/threads/:threadId/assignee": {memberId: null, from: null},
        "/v2/contacts/:contactId/erase": {confirm: "con_sample"},
        "/v2/templates": {components: [{type: "BODY", text: "Hi"}]},
        "/v2/templates/:name": {components: [{type: "BODY", text: "Hi"}]},
        "/v2/forms": {flow_json: "{\"version\":\"7.0\",\"screens\":[]}", clone_flow_id: "7002"}};

    # the path with a sample for each segment; a segment without one is an error
    def sample_path: .path | gsub(":(?<name>[A-Za-z]+)";
        .name as $name | segments[$name] // error("no sample for the segment :\($name)"));
    # the parameters that the route requires
    def sample_query: [.query[] | select(.required) | "\(.path)=\({to: "15550007000"}[.path])"]
        | if . == [] then "" else "?" + join("&") end;
    # the path as a regular expression; apache.conf sends only such segments to the routes of :wamid
    # and of :webhookId
    def pattern: "^\(gsub(":wamid"; "(wa[mc]id[.]|msg_)[^/]*") | gsub(":webhookId"; "whk_[^/]*")
        | gsub(":[A-Za-z]+"; "[^/]*"))$";

    def last_name: split(".") | last;
    def sample($field; $route):
        if known_of[$route.path] // {} | has($field.path) then known_of[$route.path][$field.path]
        elif $field.values then $field.values[0]
        elif known_paths[$field.path] then known_paths[$field.path]
        elif known[$field.path | last_name] then known[$field.path | last_name]
        elif $field.example then $field.example
        elif $field.meaning then error("no sample for the field \($field.path)")
        elif $field.type == "integer" then [$field.from // 0, 1] | max
        elif $field.type == "string or number" then "1"
        # an archived line cannot be the primary one
        elif $field.type == "boolean" then $field.path != "isArchived" else "x" end;

    # Whether the field is an array whose items have fields.
    def has_items($route): "\(.path)[]." as $start
        | any($route.members[]; .path | startswith($start));

    # Whether the field has to be absent because another one of its alternatives is present: the
    # one with the path `$chosen` or above it, else the first one.
    def is_excluded($route; $chosen): .path as $path
        | ($route.executable == "webhook" and $path != $chosen
            and (of_forwards | index($path)))
        # with sendAt a send is queued
        or ($path == "sendAt" and $path != $chosen)
        or any($route.exclusive[] | select(index([$path]));
            (first(.[] | select(. as $name | $chosen == $name
                or ($chosen | startswith($name + ".", $name + "[]")))) // .[0]) != $path);

    # An object of the fields below `$prefix`: all of them, or the required ones. The first of
    # alternatives is required.
    def object($route; $prefix; $all; $chosen):
        [$route.members[] | select(.path | startswith($prefix)
            and (.[($prefix | length):] | contains(".") | not))
            | select(is_excluded($route; $chosen) | not)] as $fields
        | [$fields[] | select($all or .required or (.path | IN($route.one_of[][0])))] as $fields
        | reduce $fields[] as $field ({};
            .[$field.path | last_name] =
                if $field.type == "object" and known[$field.path | last_name]
                then known[$field.path | last_name]
                elif $field.type == "object" then object($route; $field.path + "."; $all; $chosen)
                elif $field | has_items($route)
                then [range([$field.from // 0, 1] | max)
                    | object($route; $field.path + "[]."; $all; $chosen)]
                elif $field.type == "array" then known_of[$route.path][$field.path] // []
                elif $field.type == "array of strings" then [sample($field; $route)]
                else sample($field; $route) end);
    def least_body: object(.; ""; false; "");
    def whole_body($chosen): object(.; ""; true; $chosen);
    def whole_body: whole_body("");

    # `rows[].id` as a path of jq and as the path of an issue, with the first item of the array
    def keys_of: [splits("\\.") | if endswith("[]") then .[:-2], 0 else . end];
    def place: gsub("\\[\\]"; "[0]");'

# Runs jq with these functions: samples PROGRAM [option of jq...] <DESCRIPTION
samples() {
    jq "${@:2}" --arg line "${LINE-}" --arg workspace "${PERSON_WORKSPACE-}" "$sample_functions $1"
}

# Lets the platform have the objects that the samples name.
have_samples() {
    sandbox POST media "{\"wabaId\":\"$WABA\",\"id\":\"7001\",\"mimeType\":\"image/png\",
        \"size\":10}" >/dev/null
    sandbox POST settings '{"templateQuotas":false}' >/dev/null
    have_template APPROVED
    have_flow PUBLISHED
    # of the database: an archived line with a thread
    db "INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered,
            is_coexisting, archived_at, created_at)
        SELECT 'lin_sample', '$ACCOUNT', '7005', '+7', 1, 0, 1, 1;
        INSERT INTO contact (id, account_id, phone, created_at, updated_at)
        VALUES ('con_sample', '$ACCOUNT', '15550007005', 1, 1);
        INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
        SELECT 'thr_sample', user_id, 'lin_sample', 'con_sample', 1, 1 FROM account
        WHERE id = '$ACCOUNT';
        INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type,
            status, status_at, timestamp, body, created_at)
        SELECT 'msg_sample', user_id, 'thr_sample', 'lin_sample', 'wamid.sample', 'in', 'webhook',
            'text', 'received', 1, 1, x'7b7d', 1 FROM thread WHERE id = 'thr_sample'"
    have_note
    db "INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at, created_at,
            finished_at) SELECT 'evt_00000000000000000000000001', id, 1, 'message.received',
            CAST('{}' AS BLOB), 'dead', 1, 1, 1 FROM user WHERE email = '$EMAIL';
        UPDATE user SET event_sequence = 1 WHERE email = '$EMAIL';
        INSERT INTO flow_reply_count VALUES ('$ACCOUNT', '7002', 0)"
}

# Lets the platform have the template of the samples alone, which some routes change or delete:
# have_template STATUS
have_template() {
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[{
        \"name\":\"greeting\",\"components\":[{\"type\":\"BODY\",\"text\":\"Hi\"}],
        \"language\":\"en_US\",\"status\":\"$1\",\"category\":\"UTILITY\",
        \"id\":\"7003\"}]}" >/dev/null
}

# Lets the platform have the flow of the samples alone: have_flow STATUS
have_flow() {
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"replace\":true,\"items\":[{\"id\":\"7002\",
        \"name\":\"f\",\"status\":\"$1\",\"categories\":[],
        \"validation_errors\":[]}]}" >/dev/null
}

# Makes the note of the samples, which one route deletes.
have_note() {
    db "INSERT INTO note (id, user_id, thread_id, text, created_at)
        SELECT 'not_sample', user_id, id, 'x', 1 FROM thread WHERE id = 'thr_sample'
        ON CONFLICT (id) DO NOTHING"
}

# Makes the canned reply of the samples alone, which one route deletes.
have_reply() {
    db_at_once "DELETE FROM reply;
        INSERT INTO reply (id, user_id, shortcut, text, created_at, updated_at)
        SELECT 'rpl_sample', user_id, 'sample', 'x', 1, 1 FROM thread WHERE id = 'thr_sample'"
}

# Makes the factor of the samples, of the member whose email PREFIX has: have_factor_sample PREFIX
# PATH. Sets `who`, and `code` to its present code.
have_factor_sample() {
    have_session_samples "$1"
    who=(--session "$SESSION")
    [[ $2 != /v2/factor || ${method-} == DELETE ]] || return 0
    local answer_dir=$BATS_TEST_TMPDIR/factor # not that of the test
    mkdir -p "$answer_dir"
    begin_factor "$SESSION"
    code=287082 # without an answer there is no secret
    [[ $status != 200 ]] || code=$(totp_of "$SECRET" $(($(present_step) + 1))) # counts for a minute
    [[ $2 != */confirm ]] || return 0
    db "UPDATE factor SET confirmed_at = 1;
        INSERT INTO pending_login (hash, member_id, is_by_link, expires_at)
        SELECT $(hash_of sample-pending), member_id, 0, ${EPOCHSECONDS}000 + 300000 FROM factor
        WHERE member_id <> 'mbr_sample'"
    if [[ $2 == */login ]]; then
        as_pending sample-pending
        who=("${pending[@]}")
    fi
}

# Makes the queued send of the samples, which one route cancels; or, as the one that failed, another
# sends again, of the user's line and with a sender: have_outgoing [failed]
have_outgoing() {
    local state=${1-queued} body='{"to":"15550007099","type":"text","text":{"body":"x"}}'
    db_at_once "DELETE FROM outgoing;
        INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state,
            send_at, next_at, expires_at, created_at, finished_at)
        SELECT 'out_sample', user_id, '$ACCOUNT', l.id, '15550007099', CAST('$body' AS BLOB),
            '$state', 1, 1, 9999999999999, 1, CASE WHEN '$state' = 'failed' THEN 1 END
        FROM thread t JOIN line l ON l.phone_number_id = '$LINE' WHERE t.id = 'thr_sample';
        INSERT INTO heartbeat (name, pid, beat_at)
        VALUES ('sender', 1, $((EPOCHSECONDS + 86400))000) ON CONFLICT DO NOTHING"
}

# Makes the campaign of the samples, in a state: have_campaign STATE
have_campaign() {
    db_at_once "DELETE FROM campaign_recipient; DELETE FROM campaign_count; DELETE FROM campaign;
        INSERT INTO campaign (id, user_id, account_id, line_id, name, template, language,
            components, state, valid_ms, created_at)
        SELECT 'cmp_sample', user_id, '$ACCOUNT', l.id, 'sample', 'greeting', 'en_US',
            CAST('[]' AS BLOB), '$1', 86400000, 1
        FROM thread t JOIN line l ON l.phone_number_id = '$LINE' WHERE t.id = 'thr_sample';
        INSERT INTO heartbeat (name, pid, beat_at)
        VALUES ('sender', 1, $((EPOCHSECONDS + 86400))000) ON CONFLICT DO NOTHING"
}

# Sets the webhooks of the user, which some routes need and others remove: the first one, and that
# of the samples.
have_webhook() {
    api POST /v2/webhooks/config \
        -d '{"webhookUrl":"http://127.0.0.1:1/","webhookCode":"sample code"}'
    db "INSERT INTO webhook (id, user_id, kind, url, code, created_at, updated_at)
        SELECT 'whk_sample', w.user_id, w.kind, w.url, w.code, w.created_at + 1, 1
        FROM webhook w JOIN user u ON u.id = w.user_id
        WHERE u.email = '$EMAIL' AND w.url <> '' AND w.id <> 'whk_sample'
        ORDER BY w.created_at, w.id LIMIT 1
        ON CONFLICT (id) DO UPDATE SET url = excluded.url, code = excluded.code,
            paused_at = NULL, deleted_at = NULL"
}

# --- requests to every route ---

# shellcheck disable=SC2016,SC2034,SC2153  # conditions for jq; each_route sets the variables
is_json='.body == "json"'
needs_caller='.requires | index("either")'
needs_line='.requires | index("line")'
sends_message='.trail == "message" and any(.members[]; .path == "to")'
has_members='.body == "json" and .kinds == [] and .members != []'

# Writes the description of all routes to $ROUTES, for each_route, and makes what the samples need.
have_routes() {
    export ROUTES=$BATS_FILE_TMPDIR/routes
    describe_routes >"$ROUTES"
    have_samples
    # without a heartbeat /v2/ready answers 503; this one stays valid for the whole file
    db "INSERT INTO heartbeat (name, pid, beat_at)
        VALUES ('courier', 1, $((EPOCHSECONDS + 86400))000)"
    printf '{}' >"$BATS_FILE_TMPDIR/payload"
    SIGNATURE=$(sign "$BATS_FILE_TMPDIR/payload")
    PERSON_WORKSPACE=$(db "SELECT id FROM user
        WHERE email = '${PERSON_EMAIL-}' AND deleted_at IS NULL")
    export SIGNATURE PERSON_WORKSPACE
}

# Calls a function for each route that FILTER, a jq condition, selects, and fails if there is none:
# each_route FUNCTION [FILTER]. Sets for the function `method`, `route` (the path with its `:name`
# segments), `url` (with samples in their place), `kind` and `limit` of the body, `scope` (`-` for
# none), `sample` (the smallest valid body), `whole` (a valid JSON body with all fields), and `who`
# (the options of a request that has the token of the user, or for a route of the session a new
# session of another user, whose token and sessions the route may end).
each_route() {
    local method route url kind limit program requires scope sample whole who code selected=0
    local -A seen=()
    while IFS=$'\t' read -r method route url kind limit program requires scope sample whole <&4; do
        [[ -z ${few-} || -z ${seen[$program]-} ]] || continue
        seen[$program]=1
        printf 'case: %s %s\n' "$method" "$url"
        who=(--as "$TOKEN")
        if [[ $route == /v2/session* || $requires == session ]]; then
            have_session_samples PERSON_
            who=(--session "$SESSION")
        fi
        case $route in
        */unpause) have_template PAUSED ;;
        /v2/templates*) have_template APPROVED ;;
        */deprecate) have_flow PUBLISHED ;;
        /v2/forms*) have_flow DRAFT ;;
        */notes/*) have_note ;;
        */replies*) have_reply ;;
        /v2/factor*)
            have_factor_sample PERSON_ "$route"
            sample=${sample//287082/$code} whole=${whole//287082/$code}
            ;;
        */outgoing/*/retry) have_outgoing failed ;;
        */outgoing/*) have_outgoing ;;
        */campaigns/*/pause) have_campaign running ;;
        */campaigns/*/resume) have_campaign paused ;;
        */campaigns) have_template APPROVED ;;
        */campaigns*) have_campaign draft ;;
        # another route has begun it
        */export | */hold) db "DELETE FROM erasure WHERE contact_id = 'con_sample'" ;;
        esac
        "$1"
        # other routes send it
        [[ $route != /v2/forms/:flowId* ]] || have_flow PUBLISHED
        selected=$((selected + 1))
    done 4< <(samples "select(${2-true}) | [.method, .path, sample_path + sample_query, .body,
        (.limit | tostring),
        .executable, (.requires | join(\",\") | if . == \"\" then \"-\" else . end),
        .scope // \"-\", (least_body | tojson),
        (if .body == \"json\" then whole_body else {} end | tojson)]
        | join(\"\\t\")" -r <"$ROUTES")
    ((selected > 0)) || fail "no route is selected by: ${2-}"
    printf '# %d routes: %s\n' "$selected" "$BATS_TEST_DESCRIPTION" >&3
}

# Like each_route, but over a web server `make test` calls the function only for the first of these
# routes of each program, because the server treats all routes of a program alike.
each_program() {
    local few
    choose_few
    each_route "$@"
}

# Sets `few` when one route of each program is enough, and to an empty string otherwise.
choose_few() {
    few=yes
    [[ $TRANSPORT != direct && -z ${TEST_FULL-} ]] || few=''
}

# Sends the sample of the route: send_sample [option of request...]
send_sample() {
    local given=()
    case $kind in
    json) given=(-d "$sample") ;;
    raw) given=(-d "@$BATS_FILE_TMPDIR/payload" -H "X-Hub-Signature-256: $SIGNATURE") ;;
    file) given=(-d $'to\n15550007000\n' -H 'Content-Type: text/csv')
        [[ $route == */recipients ]] ||
            given=(-d 'a file' -H 'Content-Type: image/png' -H "X-Phone-Number-Id: $LINE")
        ;;
    esac
    request "$method" "$url" "${given[@]}" "$@"
}
