#!/usr/bin/env bats
# The dashboard: its files, and its pages in Chromium, without a stand-in for any part of the API.
# transports: cgi fcgi
# starts first
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/webhook
load helpers/browser

setup_file() {
    start_stack
    make_user
    make_user OTHER_
    make_user LOCKED_
    make_user NEW_
    set_password
    set_password OTHER_
    set_password LOCKED_
    start_receiver HOOK
    start_courier
    start_browser
}

teardown_file() {
    stop_browser
    stop_courier
    stop_receivers
    stop_stack
}

pages=$root/htdocs/dashboard

policy="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:;"
policy+=" media-src 'self' blob:; connect-src 'self'; form-action 'none'; frame-ancestors 'none';"
policy+=" base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

# Requests a file of the dashboard and checks its headers: dashboard_file PATH TYPE FILE
dashboard_file() {
    request GET "/dashboard/$1"
    assert_status 200
    assert_header Content-Type "$2"
    assert_header Cache-Control no-cache
    assert_header Content-Security-Policy "$policy"
    assert_header X-Content-Type-Options nosniff
    assert_header Referrer-Policy no-referrer
    assert_header Cross-Origin-Opener-Policy same-origin
    assert_header Cross-Origin-Resource-Policy same-origin
    [[ $(header Permissions-Policy) == *'camera=()'*'clipboard-write=(self)'* ]]
    assert_header ETag
    assert_header X-Request-Id
    cmp "$body" "$pages/$3"
}

# --- files ---

@test "the files of the dashboard have their types, an ETag and a strict policy" {
    local etag
    dashboard_file '' 'text/html; charset=utf-8' index.html
    dashboard_file app.css 'text/css; charset=utf-8' app.css
    dashboard_file icon.svg image/svg+xml icon.svg
    dashboard_file i18n/en.json 'application/json; charset=utf-8' i18n/en.json
    dashboard_file js/main.js 'text/javascript; charset=utf-8' js/main.js
    etag=$(header ETag)
    request GET /dashboard/js/main.js -H "If-None-Match: $etag"
    assert_status 304
    request GET /dashboard
    assert_status 301
    [[ $(header Location) == */dashboard/ ]] || fail_answer 'expected a slash at the end'
}

@test "an unknown file of the dashboard is 404 in the envelope, a directory has no list, a POST is 405" {
    request GET /dashboard/none.js
    assert_error 404 NOT_FOUND
    assert_conventions
    request GET /dashboard/js/
    assert_error 404 NOT_FOUND
    request POST /dashboard/ -d '{}'
    assert_error 405 NOT_FOUND
}

@test "no file of the dashboard holds a style, a script or a handler in markup, or parses markup" {
    local found
    found=$(grep -nE 'style=|<style|<script>| on[a-z]+=|javascript:' "$pages"/*.html || true)
    assert_equal "$found" ''
    found=$(grep -rnE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setHTML' \
        "$pages/js" || true)
    assert_equal "$found" ''
    found=$(grep -rnE '\beval\(|new Function|createContextualFragment|srcdoc|\.style\b' \
        "$pages/js" || true)
    assert_equal "$found" ''
    found=$(grep -rnE '(https?:)?//[a-z]' "$pages" --include=*.html --include=*.css || true)
    assert_equal "$found" ''
}

@test "each text exists in each language, and each text that a module uses exists" {
    run node "$root/tests/dashboard/texts.js" "$pages"
    assert_equal "$output" ''
    ((status == 0))
}

# --- the frame ---

@test "texts are never markup, and lists keep focus, selection and what was typed" {
    browse frame dom
}

# bats test_tags=route
@test "each page opens without an error, with the focus on its heading" {
    add_life
    browse frame opens
}

@test "axe finds nothing in each page, light and dark, at 320 and 1280 pixels" {
    add_life
    browse frame accessible light 1280
    browse frame accessible light 320
    browse frame accessible dark 1280
    browse frame accessible dark 320
}

@test "at 200 % zoom no text is lost" {
    add_life
    browse frame zoomed
}

@test "the keyboard reaches everything, and the focus is visible" {
    browse frame keyboard
}

@test "on a phone the navigation opens by its button" {
    browse frame phoneMenu
}

@test "the chosen language stays over a reload, which shows the same page" {
    browse frame language
}

@test "a hidden tab sends no request" {
    browse frame hidden /inbox
}

# --- login ---

@test "a wrong password and an unknown address give the same message, the right password the page" {
    browse login wrongPassword
}

@test "after the login the page that was wanted opens" {
    browse login wantedPage
}

@test "a link logs in once, leaves the address, and a password is chosen" {
    local link
    link=$(switchboard user login-link "$NEW_EMAIL" --url "$BASE")
    EMAIL=$NEW_EMAIL browse login link "$link"
}

@test "after the logout the back button shows nothing" {
    browse login logout
}

@test "a session that was ended elsewhere shows the login at its next request" {
    EMAIL=$OTHER_EMAIL PASSWORD=$OTHER_PASSWORD browse login endedElsewhere
}

@test "a user agent made of markup is shown as text" {
    local agent='<img src=x onerror=alert(1)>'
    request POST /v2/session -H "User-Agent: $agent" -H 'Sec-Fetch-Site: same-origin' \
        -H 'X-Switchboard: 1' -d "$(jq -nc '{email: env.EMAIL, password: env.PASSWORD}')"
    assert_success
    browse login strangeAgent "$agent"
}

@test "an account is blocked after 5 failures, and the page says for how long" {
    browse login locked "$LOCKED_EMAIL"
}

@test "a changed password keeps this browser logged in" {
    browse login password "$PASSWORD" 'another correct horse'
    PASSWORD='another correct horse' browse login password 'another correct horse' "$PASSWORD"
}

# --- API settings ---

@test "a new token is shown once, the old one stops, and two simultaneous ones leave one valid" {
    EMAIL=$OTHER_EMAIL PASSWORD=$OTHER_PASSWORD browse integration token "$OTHER_TOKEN"
}

# --- webhook and delivery log ---

@test "the webhook's code is hidden until it is revealed, and a bad URL is refused at its field" {
    EMAIL=$OTHER_EMAIL PASSWORD=$OTHER_PASSWORD browse integration webhook "$(url_of HOOK)/other"
}

# Configures the user's webhook with a path of the receiver: use_hook PATH
use_hook() {
    api POST /v2/webhooks/config \
        -d "{\"webhookUrl\":\"$(url_of HOOK)/$1\",\"webhookCode\":\"code\"}"
    assert_success
}

# An event of the user, so that each page has something to show.
add_life() {
    [[ ! -e $STACK/life ]] || return 0
    : >"$STACK/life"
    use_hook good
    take "$(payload "$(inbound wamid.1 15551234567 '')")"
    eventually none_is_pending
}

@test "a test event shows the answer of the receiver in words" {
    use_hook good
    answers HOOK good 'status 200' 'body <img src=x onerror=alert(1)> thanks'
    browse integration webhookTest 200 '' '<img src=x'
    use_hook broken
    answers HOOK broken 'status 500'
    browse integration webhookTest 500 'The receiver failed.'
    use_hook moved
    answers HOOK moved 'status 302'
    browse integration webhookTest 302 'Redirects are not followed'
}
