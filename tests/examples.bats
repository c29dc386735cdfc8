#!/usr/bin/env bats
# The examples of the HTML reference: each command is copied out of the page that a new `make run`
# serves, and runs there as it stands.
# transports: cgi
load helpers/all

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree RUN_DIR=$BATS_FILE_TMPDIR/run PORT
    local try
    mkdir -p "$TREE/tools"
    cp -rL "$OUT/cgi-bin" "$OUT/htdocs" "$root/apache.conf" "$TREE/"
    cp -r "$root"/tools/{run,stop,common.bash,private-apache,demo} \
        "$OUT"/tools/{switchboard{,-sandbox},pool,courier,sender} "$TREE/tools/"
    unset GRAPH_BASE_URL SWITCHBOARD_CONFIG DEMO
    for try in 1 2 3; do
        PORT=$(free_port)
        "$TREE/tools/run" >"$BATS_FILE_TMPDIR/output" 2>&1 3>&- && break
        grep -q 'is in use' "$BATS_FILE_TMPDIR/output" || break
    done
    [[ -s $RUN_DIR/demo.env ]] || fail "$(<"$BATS_FILE_TMPDIR/output")"
}

teardown_file() {
    [[ ! -s $BATS_FILE_TMPDIR/receiver.pid ]] || kill "$(<"$BATS_FILE_TMPDIR/receiver.pid")" || true
    [[ ! -e $RUN_DIR/lock ]] || "$TREE/tools/stop"
}

# Prints the code blocks of the page with a title, each ended by a NUL: blocks TITLE
blocks() {
    awk -v start="<pre title=\"$1\"><code>" 'index($0, start) == 1 {
            sub(start, ""); inside = 1 }
        inside { last = sub(/<\/code><\/pre>$/, ""); printf "%s\n", $0 }
        last { printf "%c", 0; inside = last = 0 }' page |
        sed 's/&quot;/"/g; s/&#39;/\x27/g; s/&apos;/\x27/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
}

# Runs an example and expects a 2xx; of a directory without its slash, a redirect. The first
# template of `make run` has two languages, its first flow is published, destructive calls are off,
# and the queued send is sent before it is cancelled or sent again. curl reads .curlrc, so the
# status follows the answer.
assert_example() { # COMMAND
    local answer expected='20[0-9]'
    printf 'case: %s\n' "$1"
    [[ $1 != *'"$BASE_URL/dashboard"'* && $1 != *'"$BASE_URL/v2/docs"'* ]] || expected=301
    case $1 in
    *' -X PATCH '*/v2/templates/* | *'/v2/templates/$TEMPLATE_NAME/unpause'*) expected=409 ;;
    *' -X DELETE '*/v2/templates/* | *' -X DELETE '*/v2/forms/* | */deprecate'"'*) expected=403 ;;
    *' -X PUT '*/v2/forms/* | */publish'"'*) expected=400 ;;
    *' -X DELETE '*/v2/outgoing/* | *'/v2/outgoing/$OUTGOING_ID/retry'*) expected=409 ;;
    # the campaign may have ended before it is paused
    *'/v2/campaigns/$CAMPAIGN_ID/'[prc][ae]*) expected='(200|409)' ;;
    # the code of an authenticator app is none of the documents', so no factor is set
    *'/v2/factor/confirm"'*) expected=403 ;;
    *'/v2/factor/codes"'* | *' -X DELETE '*'/factor"'*) expected=404 ;;
    *'/v2/factor/login"'*) expected=401 ;;
    esac
    answer=$(eval "$1")
    [[ ${answer##*$'\n'} =~ ^$expected$ ]] || fail "$1"$'\n'"$answer"
    # the token of the other examples
    [[ $1 != *'/v2/token"'* ]] || API_TOKEN=$(jq -r .data.token <<<"${answer%$'\n'*}")
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    [[ -s page ]] || curl -s "http://127.0.0.1:$PORT/v2/docs/" >page
    # shellcheck source=/dev/null
    . "$RUN_DIR/demo.env"
}

post() { # PATH BODY
    curl -s --fail-with-body "$BASE_URL$1" -H "Authorization: Bearer $API_TOKEN" \
        -H 'Content-Type: application/json' -d "$2"
}

# Runs before the examples, one of which replaces the token.
@test "the receiver of the HTML reference accepts an event, and refuses changed ones" {
    local WEBHOOK_CODE RECEIVER_PORT event url
    local -a signed
    WEBHOOK_CODE=$(openssl rand -hex 32)
    RECEIVER_PORT=$(free_port)
    url=http://127.0.0.1:$RECEIVER_PORT/
    blocks 'a receiver' | tr -d '\0' >receiver.mjs
    WEBHOOK_CODE=$WEBHOOK_CODE RECEIVER_PORT=$RECEIVER_PORT node receiver.mjs >received 2>&1 3>&- &
    printf '%s\n' $! >receiver.pid
    eventually curl -s -o /dev/null "$url"
    post /v2/webhooks/config "{\"webhookUrl\":\"$url\",\"webhookCode\":\"$WEBHOOK_CODE\"}"
    event=$(post /v2/webhooks/test '{}' | jq -r .data.eventId)
    eventually grep -q "^$event ping {\"sequence\":[0-9]*}$" received
    # the same code without the gateway
    signed=(-H 'webhook-id: evt_1' -H "webhook-timestamp: $(date +%s)")
    signed+=(-H "webhook-signature: v1,AAAA $(signature "${signed[@]}")")
    assert_equal "$(answer '{"type":"ping","data":{}}' "${signed[@]}")" 204
    assert_equal "$(answer '{"type":"ping","data":1}' "${signed[@]}")" 401
    assert_equal "$(answer '{"type":"ping","data":{}}' "${signed[@]:0:4}")" 401
    signed=(-H 'webhook-id: evt_1' -H "webhook-timestamp: $(($(date +%s) - 3600))")
    signed+=(-H "webhook-signature: $(signature "${signed[@]}")")
    assert_equal "$(answer '{"type":"ping","data":{}}' "${signed[@]}")" 401
}

# Prints the signature of the event below: signature -H ID -H TIMESTAMP
signature() {
    printf 'v1,'
    printf '%s.%s.{"type":"ping","data":{}}' "${2#*: }" "${4#*: }" |
        openssl dgst -sha256 -hmac "$WEBHOOK_CODE" -binary | base64 -w 0
}

answer() { # BODY HEADER...
    curl -s -o /dev/null -w '%{http_code}' "$url" -d "$1" "${@:2}"
}

# bats test_tags=long
@test "every example of the HTML reference runs as it stands after make run" {
    local variables examples example last ordered=() count=0
    mapfile -d '' -t variables < <(blocks 'the variables')
    mapfile -d '' -t examples < <(blocks 'a request')
    assert_equal "${#variables[@]}" 3
    assert_equal "${#examples[@]}" "$(jq '[.paths[] | length] | add' "$TREE/htdocs/openapi.json")"
    eval "${variables[0]}"
    export SWITCHBOARD_CONFIG
    mkdir curl
    printf 'silent\nshow-error\nwrite-out = "\\n%%{http_code}"\n' >curl/.curlrc
    for example in "${examples[@]}"; do # an erasure also ends the thread of others
        if [[ $example == *'/erase"'* ]]; then last=$example; else ordered+=("$example"); fi
    done
    for example in "${ordered[@]}" "$last"; do
        [[ $example != *'$SESSION'* && $example != *'$PASSWORD'* ]] || eval "${variables[1]}"
        [[ $example != *'$MEMBER_ID'* && $example != *INVITATION* ]] || eval "${variables[2]}"
        CURL_HOME=$BATS_FILE_TMPDIR/curl assert_example "$example"
        count=$((count + 1))
    done
    printf '# %d examples\n' "$count" >&3
    cmp picture.png file # what was uploaded and downloaded
}
