#!/usr/bin/env bats
# The phone in the browser, at the sandbox, in Chromium: a person is the customer, the gateway and
# the inbox of its dashboard are the business.
# transports: cgi
# needs: node
# starts first
# may run twice: Chromium decides when it draws and when it asks
# bats file_tags=long
load helpers/all
load helpers/session
load helpers/browser

setup_file() {
    start_stack
    make_user
    make_password
    sandbox POST settings "{\"webhookUrl\":\"$BASE/platform/webhook\"}" >/dev/null
    start_browser
}

teardown_file() {
    stop_browser
    stop_stack
}

@test "a person writes from the phone to the inbox, and the answer comes back and is read" {
    browse phone conversation
}

@test "buttons, rows of a list and buttons of a template are tapped" {
    browse phone taps
}

@test "a flow is filled, screen by screen, or without its JSON" {
    browse phone flow
}

@test "a person with a user name has no phone number, and is answered by the user id" {
    browse phone username
}

@test "a picture of the person arrives, with its caption, and one of the business is shown" {
    browse phone picture "$root/tools/demo/media/parcel.jpg"
}

@test "messages to a person who has blocked the business do not arrive until it is unblocked" {
    browse phone block
}

@test "the page is used by the keyboard and fits a small screen, and its texts are no markup" {
    browse phone keyboard
}

@test "the files of the page have a strict policy, and load nothing from elsewhere" {
    local file name head=$BATS_TEST_TMPDIR/head got=$BATS_TEST_TMPDIR/got
    for file in "$root"/tools/sandbox/phone/* "$root"/htdocs/dashboard/{app.css,messaging.css} \
        "$root"/htdocs/dashboard/js/{dom,shape,templates/definition}.js; do
        name=${file##*/}
        curl -sSf -D "$head" -o "$got" "$SANDBOX/_sandbox/phone/${name#index.html}"
        grep -qi "^Content-Security-Policy: default-src 'none'; script-src 'self'; " "$head"
        grep -qi "^Content-Security-Policy: .*; frame-ancestors 'none'" "$head"
        grep -qi '^X-Content-Type-Options: nosniff' "$head"
        cmp "$got" "$file"
        run grep -nE '(src|href|url|from)\W{1,3}https?:|innerHTML|eval\(|style=' "$got"
        assert_equal "$status $output" '1 '
    done
    assert_equal "$(curl -sS -o /dev/null -w '%{http_code}' "$SANDBOX/_sandbox/phone/other.js")" 404
}

# The last one: the reset deletes the account of the tests.
@test "the page says what fails: a program that refuses the webhook, a reset, a wrong number" {
    browse phone trouble
}
