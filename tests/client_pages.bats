#!/usr/bin/env bats
# The pages of doc/clients: their programs and commands run as they stand, and their links lead to
# files and headings that exist.
# transports: cgi
# needs: node
# bats file_tags=long
load helpers/all
load helpers/webhook
load helpers/courier
load helpers/document

setup_file() {
    start_stack
    make_user
    write_config "public_url = $BASE"
    sandbox POST templates "{\"wabaId\":\"$WABA\",\"replace\":true,\"generate\":{\"count\":50,
        \"prefix\":\"page_\"}}" >/dev/null
    export GRAPH_URL=$BASE GRAPH_TOKEN=$TOKEN PHONE_NUMBER_ID=$LINE WABA_ID=$WABA
    export PROGRAMS=$BATS_FILE_TMPDIR/programs
    mkdir "$PROGRAMS"
    ln -s "$(realpath "$NODE_MODULES")" "$PROGRAMS/node_modules"
    { printf '\xff\xd8\xff\xe0' && head -c 9996 /dev/urandom; } >"$PROGRAMS/photo.jpg"
}

teardown_file() {
    [[ ! -e $PROGRAMS/receiver.pid ]] || end_helper "$PROGRAMS/receiver.pid"
    stop_stack
}

setup() {
    forget_sent
    cd "$PROGRAMS" || return
}

# Expects what both programs print for a photo and 50 templates, and what the platform received.
assert_sending() { # COMMAND...
    run "$@" 15551234567 photo.jpg
    assert_equal "$status" 0
    assert_equal "$(sed -E 's/wamid\.[^ ]*/WAMID/' <<<"${lines[0]}")" 'sent WAMID'
    assert_equal "${lines[1]}" 'read 10000 bytes'
    assert_equal "${#lines[@]} ${lines[51]}" '52 page_50 en_US APPROVED'
    assert_sent_json '[.to, .type, .image.caption]' '["15551234567","image","Our shop"]' \
        path=/messages
}

# A program that fails names the platform's error.
assert_failing() { # COMMAND...
    run env GRAPH_TOKEN=wrong "$@" 15551234567 photo.jpg
    assert_equal "$status" 1
    [[ $output == *190* ]] || fail "$output"
}

# Starts a receiver, adds it with the command of the page, and delivers a webhook: assert_receiving
# COMMAND...
assert_receiving() {
    local added id=wamid.$RANDOM
    export VERIFY_TOKEN=a-verify-token APP_SECRET PORT
    APP_SECRET=$(openssl rand -hex 32) PORT=$(free_port)
    start_program "$@"
    added=$(printf '%s' "$VERIFY_TOKEN" | switchboard webhook add "$EMAIL" \
        "http://127.0.0.1:$PORT/" --kind forward --name receiver)
    # the code is printed at the end; the receiver gets it as its secret
    APP_SECRET=$(grep -oE '[0-9a-f]{64}' <<<"$added")
    end_helper receiver.pid
    start_program "$@"
    take "$(payload "$(inbound "$id" 15551230001 '')")"
    courier_once
    grep -q "^$id 15551230001 Is it open?$" received
    assert_equal "$(curl -s -o answer -w '%{http_code}' "http://127.0.0.1:$PORT/" \
        -d '{"entry":[]}' -H 'X-Hub-Signature-256: sha256=00')" 401
    end_helper receiver.pid
}

answers_or_has_ended() {
    curl -s -o answer "http://127.0.0.1:$PORT/" || is_gone "$(cat receiver.pid)"
}

# Starts a program that listens on PORT; again, while another test has the port for a moment.
start_program() {
    local tries
    for ((tries = 0; tries < 60; tries++)); do
        "$@" >received 2>errors 3>&- &
        printf '%s\n' $! >receiver.pid
        eventually answers_or_has_ended
        is_gone "$(cat receiver.pid)" || return 0
        grep -qE 'EADDRINUSE|Address already in use' errors || break
        pause 500
    done
    fail "$* ended at once: $(cat errors)"
}

@test "the Node programs send, upload, download, list and verify webhooks" {
    block doc/clients/node.md 'send.mjs' >send.mjs
    assert_sending node send.mjs
    assert_failing node send.mjs
    block doc/clients/node.md 'receive.mjs' >receive.mjs
    assert_receiving node receive.mjs
}

@test "the Python programs send, upload, download, list and verify webhooks" {
    block doc/clients/python.md 'send.py' >send.py
    assert_sending python3 send.py
    assert_failing python3 send.py
    block doc/clients/python.md 'receive.py' >receive.py
    assert_receiving python3 receive.py
}

@test "the programs for Kapso and whatsapp-api-js send" {
    local name
    block doc/clients/node.md 'kapso.mjs' >kapso.mjs
    block doc/clients/node.md 'apijs.mjs' >apijs.mjs
    for name in kapso apijs; do
        run env APP_SECRET=unused node "$name.mjs" 15551234567
        assert_equal "$status $(sed -E 's/wamid\.[^ ]*/WAMID/' <<<"$output")" '0 sent WAMID'
        assert_sent_json '[.to, .type, .text.body]' '["15551234567","text","Hello"]' \
            path=/messages
        run env APP_SECRET=unused GRAPH_TOKEN=wrong node "$name.mjs" 15551234567
        assert_equal "$status" 1
    done
}

@test "the commands of the index make an authority and a certificate that it verifies" {
    local script
    script=$(block doc/clients/README.md 'openssl req -x509')
    mkdir authority
    (cd authority && eval "$script" 2>/dev/null)
    openssl verify -CAfile authority/authority.pem -verify_hostname graph.facebook.com \
        authority/graph.pem
    refute openssl verify -CAfile authority/authority.pem -verify_hostname api.example.org \
        authority/graph.pem
}

# Prints how Apache reads the virtual host of the README and the second one of the index, with the
# certificate of the page and DEFINES before the Include of each: virtual_hosts DEFINES [SECOND]
virtual_hosts() {
    local dir=$BATS_TEST_TMPDIR module
    {
        printf 'ServerRoot "%s"\nPidFile "%s/pid"\nListen 127.0.0.1:1\nErrorLog "%s/log"\n' \
            "$dir" "$dir" "$dir"
        for module in mpm_event authz_core alias buffer cgid env headers info proxy proxy_fcgi \
            reqtimeout setenvif ssl unique_id; do
            printf 'LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n' "$module" "$module"
        done
        printf 'ServerName x\n%s\n' "$1"
        block README.md 'Define SWITCHBOARD_HOME'
        block doc/clients/README.md '# the Defines'
    } | sed "s|/usr/lib/switchboard|$root|; s|/etc/switchboard/apache.conf|$root/apache.conf|
        s|/etc/switchboard/graph|$PROGRAMS/authority/graph|; s|/var/log/switchboard|$dir|
        ${2-}" >"$dir/httpd.conf"
    /usr/sbin/apache2 -f "$dir/httpd.conf" -t -D DUMP_CONFIG
}

# Prints how many pools of FastCGI the virtual hosts have, and how many logs in this directory.
pools_and_logs() {
    printf '%s %s\n' "$(grep -c 'SetHandler "proxy:unix:' <<<"$1")" \
        "$(grep -c "^ *CustomLog \"*$BATS_TEST_TMPDIR/" <<<"$1")"
}

@test "the second virtual host of the index repeats the Defines, of which each is for one Include" {
    local first pools hosts
    first=$'Define SWITCHBOARD_FCGI\nDefine SWITCHBOARD_LOG '$BATS_TEST_TMPDIR
    pools=$(pooled_in "$root/apache.conf" | wc -l)
    hosts=$(virtual_hosts "$first")
    assert_equal "$(pools_and_logs "$hosts")" "$((2 * pools)) 4"
    hosts=$(virtual_hosts "$first" '/^# the Defines/,/^<Virt/ s/^Define SWITCHBOARD_FCGI//')
    assert_equal "$(pools_and_logs "$hosts")" "$pools 4"
}

# Runs a command of a page that adds a webhook for a program, with the user, the line and a receiver
# of this test in place of those of the page: adds_webhook PAGE START TOKEN
adds_webhook() {
    local command
    command=$(block "$1" "$2" | sed -E "s|you@example.org|$EMAIL|; s|PHONE-NUMBER-ID|$LINE|
        s#https://[a-z0-9]+\.example\.org[^ ]*|THE-CALLBACK-URL#$program_URL/hook#")
    answers program hook "verify $3"
    db "DELETE FROM webhook"
    (export VERIFY_TOKEN=$3; printf '%s' "$3" >token.txt; eval "$command") >added
    grep -qE '[0-9a-f]{64}' added || fail "$(cat added)"
    assert_equal "$(switchboard webhook list --json | jq -r '.[] | "\(.url) \(.kind)"')" \
        "$program_URL/hook forward"
}

@test "the command of each page adds the webhook of its program" {
    start_receiver program
    adds_webhook doc/clients/README.md 'switchboard webhook add' of-a-file
    adds_webhook doc/clients/chatwoot.md "printf '%s' THE-TOKEN" THE-TOKEN
    adds_webhook doc/clients/evolution.md "printf '%s' a-long-random-text" a-long-random-text
    adds_webhook doc/clients/frappe.md "printf '%s' THE-VERIFY-TOKEN" THE-VERIFY-TOKEN
    adds_webhook doc/clients/typebot.md "printf '%s' THE-TOKEN" THE-TOKEN
    adds_webhook doc/clients/node.md "printf '%s' \"\$VERIFY_TOKEN\"" of-the-variable
    adds_webhook doc/clients/python.md "printf '%s' \"\$VERIFY_TOKEN\"" of-the-variable
    stop_receivers
}

@test "the workflow of the page on n8n confirms the URL, and separates messages from statuses" {
    local command url
    (($(jq '[.nodes[].name] - ["Receive"] - [.connections[].main[][].node] | length' \
        "$root/doc/clients/n8n-receive.json") == 0)) || fail 'a node that nothing leads to'
    sed 's/YOUR-TOKEN/a-token-of-mine/' "$root/doc/clients/n8n-receive.json" >workflow.json
    export PORT
    PORT=$(free_port) url=http://127.0.0.1:$PORT/webhook/switchboard
    start_program node "$root/tests/helpers/workflow.js" workflow.json
    db "DELETE FROM webhook"
    command=$(block doc/clients/n8n.md "printf '%s' YOUR-TOKEN" |
        sed "s|you@example.org|$EMAIL|; s|https://n8n.example.org/webhook/switchboard|$url|")
    refute eval "$command" 2>/dev/null
    eval "${command/YOUR-TOKEN/a-token-of-mine}" >added
    take "$(payload "$(inbound wamid.n8n 15551230001 '')")"
    courier_once
    assert_equal "$(curl -s -o answer -w '%{http_code}' "$url" -H 'Content-Type: application/json' \
        -d "$(payload "$(status_of wamid.n8n read '"recipient_id":"15551230001"')")")" 200
    assert_equal "$(sed 1d received)" "GET 403 Receive > Is it our token? > Refuse
GET 200 Receive > Is it our token? > Answer the challenge
POST 200 Receive > Accept > Is it a message? > Your nodes follow here
POST 200 Receive > Accept > Is it a message?"
    end_helper receiver.pid
}

@test "the token of the page about n8n is the secret of its trigger" {
    local command secret
    command=$(block doc/clients/n8n.md 'switchboard scoped-token add' |
        sed "s|you@example.org|$EMAIL|")
    secret=$(eval "$command")
    request POST /v19.0/oauth/access_token -H 'Content-Type: application/x-www-form-urlencoded' \
        -d "client_id=1000000000000001&client_secret=$secret&grant_type=client_credentials"
    assert_body_is "{\"access_token\":\"$secret\",\"token_type\":\"bearer\"}"
}

@test "each link of the pages, and of the README, leads to a file and a heading" {
    local page link file heading count=0
    for page in "$root"/{README.md,doc/*.md,doc/clients/*.md}; do
        while read -r link; do
            [[ $link != *://* ]] || continue
            file=$(dirname "$page")/${link%%#*}
            [[ $link != '#'* ]] || file=$page
            [[ -e $file ]] || fail "$page: $link"
            count=$((count + 1))
            [[ $link == *'#'* ]] || continue
            heading=${link#*#}
            sed -n 's/^#* //p' "$file" | tr '[:upper:]' '[:lower:]' |
                sed 's/[^a-z0-9 _-]//g; s/ /-/g' | grep -qxF -- "$heading" ||
                fail "$page: no heading $heading in $file"
        done < <(grep -oE '\]\([^) ]+\)' "$page" | sed 's/^](//; s/)$//')
    done
    ((count > 30)) || fail "$count links"
    assert_equal "$(find "$root/doc/pictures" -type f -size +200k)" ''
    for page in "$root"/doc/clients/*.md; do
        grep -qF "](${page##*/})" "$root/doc/clients/README.md" || [[ $page == */README.md ]] ||
            fail "the index lacks $page"
    done
}
