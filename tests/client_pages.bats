#!/usr/bin/env bats
# The pages of doc/clients: their programs and commands run as they stand, and their links lead to
# files and headings that exist.
# transports: cgi
# needs: node
load helpers/all
load helpers/webhook
load helpers/courier

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

# Writes the program of a page to a file of its name: program PAGE NAME
program() {
    awk -v name="$2" '/^```/ { inside = 0 }
        inside { print }
        /^```/ && $2 == name { inside = 1 }' "$root/doc/clients/$1" >"$2"
    [[ -s $2 ]] || fail "$1 has no program $2"
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

start_program() {
    "$@" >received 2>errors 3>&- &
    printf '%s\n' $! >receiver.pid
    eventually curl -s -o answer "http://127.0.0.1:$PORT/"
}

@test "the Node programs send, upload, download, list and verify webhooks" {
    program node.md send.mjs
    assert_sending node send.mjs
    assert_failing node send.mjs
    program node.md receive.mjs
    assert_receiving node receive.mjs
}

@test "the Python programs send, upload, download, list and verify webhooks" {
    program python.md send.py
    assert_sending python3 send.py
    assert_failing python3 send.py
    program python.md receive.py
    assert_receiving python3 receive.py
}

@test "the programs for Kapso and whatsapp-api-js send" {
    local name
    for name in kapso apijs; do
        program node.md "$name.mjs"
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
    script=$(awk '/^    openssl req -x509/ { inside = 1 } inside && !/^    / { exit } inside' \
        "$root/doc/clients/README.md")
    mkdir authority
    (cd authority && eval "$script" 2>/dev/null)
    openssl verify -CAfile authority/authority.pem -verify_hostname graph.facebook.com \
        authority/graph.pem
    refute openssl verify -CAfile authority/authority.pem -verify_hostname api.example.org \
        authority/graph.pem
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
