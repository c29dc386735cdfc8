#!/usr/bin/env bats
# The dashboard: its files, and its pages in Chromium, without a stand-in for any part of the API.
# transports: cgi fcgi
# needs: node
# starts first
# may run twice: Chromium decides when it draws and when it asks
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/webhook
load helpers/session
load helpers/browser

setup_file() {
    start_stack
    make_user
    make_user OTHER_
    make_user LOCKED_
    make_user NEW_
    make_password
    make_password OTHER_
    make_password LOCKED_
    make_consumer DEAD
    make_password DEAD_
    make_consumer TIRED
    make_password TIRED_
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
policy+=" media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; form-action 'none';"
policy+=" frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script';"
policy+=" trusted-types 'none'"

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
    [[ $(header Permissions-Policy) == *'camera=()'*'clipboard-write=(self)'*'microphone=(self)'* ]]
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
    dashboard_file icon-192.png image/png icon-192.png
    dashboard_file manifest.json application/manifest+json manifest.json
    dashboard_file i18n/en.json 'application/json; charset=utf-8' i18n/en.json
    dashboard_file js/main.js 'text/javascript; charset=utf-8' js/main.js
    etag=$(header ETag)
    request GET /dashboard/js/main.js -H "If-None-Match: $etag"
    assert_status 304
    request GET /dashboard
    assert_status 301
    assert_header Location dashboard/
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

@test "the page names all modules that it begins with, so that they are requested at once" {
    run node "$root/tests/dashboard/preloads.js" "$pages"
    assert_equal "$output" ''
    ((status == 0))
}

@test "each text exists in each language, and the texts are those that the modules use" {
    run node "$root/tests/dashboard/texts.js" "$pages"
    assert_equal "$output" ''
    ((status == 0))
}

@test "each job of the dashboard has a test or a reason in each state" {
    run node "$root/tests/dashboard/cells.js" "$root/doc/dashboard.md" "$root"/tests/dashboard*.bats
    printf '# %s\n' "$output" >&3
    ((status == 0))
}

# --- the frame ---

# bats test_tags=long
@test "texts are never markup, and lists keep focus, selection and what was typed" {
    browse frame dom
    browse frame formatted
}

# bats test_tags=route,long
@test "each page opens without an error, with the focus on its heading" {
    add_life
    browse frame opens
}

# bats test_tags=long
@test "axe finds nothing in each page, in three languages, light and dark, at 320 and 1280 pixels (TEST_FULL: all combinations), and at 200 % zoom no text is lost" {
    local language modes=(en-light-1280 en-dark-320 es-light-320 pt-dark-1280)
    [[ -z ${TEST_FULL-} ]] || for language in en es pt; do
        modes+=("$language"-{light,dark}-{320,1280})
    done
    add_life
    browse frame accessible $(printf '%s\n' "${modes[@]}" | sort -u)
}

# bats test_tags=long
@test "each page in each state of connection, session and screen shows its heading and says its state (TEST_FULL: also no connection, two tabs, a reload, an ended session and another user on all pages)" {
    local count
    add_life
    count=$(browse states all "$root/doc/dashboard.md")
    printf '# %s cells\n' "$count" >&3
    ((count > 150))
}

# bats test_tags=long
@test "the keyboard reaches everything, and the focus is visible" {
    add_life
    browse frame keyboard
}

# bats test_tags=long
@test "on a phone the navigation opens by its button" {
    browse frame phoneMenu
}

# bats test_tags=long
@test "the chosen language stays over a reload, which shows the same page" {
    browse frame language
}

# bats test_tags=long
@test "the dashboard can be installed as an app (TEST_FULL: says the whole Chromium)" {
    browse frame installable
}

# bats test_tags=long
@test "keys lead everywhere, on every keyboard layout, and those of one character can be switched off" {
    add_life
    browse frame keys
}

# bats test_tags=long
@test "where the storage of the browser is full, settings hold until the page is loaded again" {
    browse frame fullStorage
}

# bats test_tags=long
@test "a hidden tab sends no request" {
    browse frame hidden /inbox
}

# --- login ---

@test "a wrong password and an unknown address give the same message, the right password the page" {
    browse login wrongPassword
}

# bats test_tags=long
@test "the first visit of a browser prints no error and requests nothing of the API" {
    browse login firstVisit
}

# bats test_tags=long
@test "after the login the page that was wanted opens" {
    browse login wantedPage
}

# bats test_tags=long
@test "a link logs in once, leaves the address, and a password is chosen" {
    local link
    link=$(switchboard user login-link "$NEW_EMAIL" --url "$BASE")
    EMAIL=$NEW_EMAIL browse login link "$link"
}

# bats test_tags=long
@test "a link of another user asks first, and a tab of the former user does not act for the other one" {
    local link
    link=$(switchboard user login-link "$OTHER_EMAIL" --url "$BASE")
    browse login linkOfOther "$OTHER_EMAIL" "$link"
}

# bats test_tags=long
@test "an invitation logs a new agent in to the inbox, and is used up" {
    local link
    link=$(switchboard invitation add "$EMAIL" agent@example.org --role agent --url "$BASE")
    browse login invitation "$link"
}

# bats test_tags=long
@test "after the logout the back button shows nothing" {
    browse login logout
}

# bats test_tags=long
@test "a browser that stores nothing shows nothing after the logout either" {
    browse login logoutUnstored
}

# bats test_tags=long
@test "a renewal that is answered after the logout does not bring the session back" {
    browse login lateRenewal
}

# bats test_tags=long
@test "a session that was ended elsewhere shows the login at its next request" {
    EMAIL=$OTHER_EMAIL PASSWORD=$OTHER_PASSWORD browse login endedElsewhere
}

# bats test_tags=long
@test "a user agent made of markup is shown as text" {
    local agent='<img src=x onerror=alert(1)>'
    request POST /v2/session -H "User-Agent: $agent" -H 'Sec-Fetch-Site: same-origin' \
        -H 'X-Switchboard: 1' -d "$(jq -nc '{email: env.EMAIL, password: env.PASSWORD}')"
    assert_success
    browse login strangeAgent "$agent"
}

# bats test_tags=long
@test "an account is blocked after 5 failures, and the page says for how long" {
    browse login locked "$LOCKED_EMAIL"
}

# bats test_tags=long
@test "a changed password keeps this browser logged in" {
    browse login password "$PASSWORD" 'another correct horse'
    PASSWORD='another correct horse' browse login password 'another correct horse' "$PASSWORD"
}

# --- API settings ---

# bats test_tags=long
@test "a new token is shown once, the old one stops, and two simultaneous ones leave one valid" {
    local tokens token
    tokens=$(EMAIL=$OTHER_EMAIL PASSWORD=$OTHER_PASSWORD browse integration token "$OTHER_TOKEN")
    assert_equal "$(wc -l <<<"$tokens")" 3
    while read -r token; do # no log and no file of the server holds it
        assert_equal "$(grep -rlF -- "$token" "$STACK" || true)" ''
    done <<<"$tokens"
}

# --- webhook and delivery log ---

# bats test_tags=long
@test "a list of event types that is late or missing concerns these texts only" {
    use_hook good
    browse integration typesLate
}

# bats test_tags=long
@test "a webhook is added with its event types; its code is hidden, and a bad URL is refused at its field" {
    EMAIL=$OTHER_EMAIL PASSWORD=$OTHER_PASSWORD browse integration webhook "$(url_of HOOK)/other"
}

# bats test_tags=long
@test "a webhook is changed, paused, resumed and deleted, and the others stay" {
    EMAIL=$OTHER_EMAIL PASSWORD=$OTHER_PASSWORD browse integration changeWebhook "$(url_of HOOK)"
}

# bats test_tags=long
@test "a webhook that gets the platform's POSTs is verified at its receiver before it is saved" {
    answers HOOK forward 'verify v3rify-token'
    browse integration forwardWebhook "$(url_of HOOK)/forward" 'v3rify-token'
    request GET /v2/webhooks --as "$TOKEN"
    api DELETE "/v2/webhooks/$(jq -r '.data.items[] | select(.name == "Forwards").id' "$body")"
    assert_success
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
    db "INSERT INTO campaign (id, user_id, account_id, line_id, name, template, language,
            components, state, valid_ms, created_at)
        SELECT 'cmp_life', t.user_id, l.account_id, l.id, '<img src=x>', 'greeting', 'en_US',
            CAST('[]' AS BLOB), 'draft', 86400000, 1
        FROM thread t JOIN line l ON l.phone_number_id = '$LINE' WHERE l.id = t.line_id"
}

# bats test_tags=long
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

# bats test_tags=long
@test "a failure without an answer is said in words too" {
    local port
    stop_receiver_of_port
    api POST /v2/webhooks/config \
        -d "{\"webhookUrl\":\"http://127.0.0.1:$port/\",\"webhookCode\":\"code\"}"
    assert_success
    browse integration webhookTest '' 'no program listens on this port'
    browse integration reasons
}

# Sets `port` to one at which nothing listens.
stop_receiver_of_port() {
    start_receiver GONE
    port=${GONE_URL##*:}
    end_helper "$STACK/receivers/GONE/pid"
}

# Makes three events of DEAD that were given up. Without a webhook the courier leaves them alone.
add_dead_events() {
    add_events DEAD 3 >/dev/null
    db "UPDATE outbox SET state = 'dead', attempts = 10, last_status = 500, last_error = 'HTTP 500',
            finished_at = $db_now
        WHERE user_id = (SELECT id FROM user WHERE email = '$DEAD_EMAIL')"
}

# bats test_tags=long
@test "the log filters by state and type, keeps its filters, and delivers one or all again" {
    add_dead_events
    answers HOOK dead
    set_webhook DEAD "$(url_of HOOK)/dead"
    EMAIL=$DEAD_EMAIL PASSWORD=$DEAD_PASSWORD browse integration events 3
    eventually has_received HOOK 3 dead
    # each event has arrived once, under its own id
    assert_equal "$(for number in $(received HOOK dead); do
        received_header HOOK "$number" webhook-id
    done | sort -u | wc -l)" 3
    assert_equal "$(received_count HOOK dead)" 3
}

# bats test_tags=long
@test "all events that retry are delivered at once by the dialog of the log" {
    local id
    db "UPDATE delivery SET state = 'done' WHERE state = 'dead' OR state = 'pending';
        UPDATE event SET state = 'done' WHERE state = 'dead' OR state = 'pending'"
    use_hook all
    answers HOOK all 'status 503'
    api POST /v2/webhooks/test -d '{}'
    id=$(jq -r .data.eventId "$body")
    eventually attempted "$id"
    db "UPDATE delivery SET next_attempt_at = $db_now + 3600000 WHERE event_id = '$id'"
    answers HOOK all
    browse integration deliverAllNow "$id"
}

# bats test_tags=long
@test "the page of an event names its webhook and its contact, and leads to both" {
    add_life
    use_hook good
    browse integration eventAbout "$(url_of HOOK)/good"
}

# bats test_tags=long
@test "an answer of a receiver made of markup is shown as text" {
    local id
    use_hook markup
    answers HOOK markup 'status 400' 'body <script>alert(1)</script><img src=x onerror=alert(1)>'
    api POST /v2/webhooks/test -d '{}'
    id=$(jq -r .data.eventId "$body")
    eventually attempted "$id"
    browse integration hostileAnswer "$id" '<script>alert(1)</script><img src=x onerror=alert(1)>'
}

# bats test_tags=long
@test "an event that retries is delivered at once by the button of its page" {
    local id
    use_hook later
    answers HOOK later 'status 503'
    api POST /v2/webhooks/test -d '{}'
    id=$(jq -r .data.eventId "$body")
    eventually attempted "$id"
    db "UPDATE delivery SET next_attempt_at = $db_now + 3600000 WHERE event_id = '$id'"
    answers HOOK later
    browse integration deliverNow "$id"
}

attempted() { # EVENT
    [[ $(db "SELECT count(*) FROM event_attempt WHERE event_id = '$1'") != 0 ]]
}

# bats test_tags=long
@test "an open event shows its next attempts without a reload, and a hidden tab does not ask" {
    local id
    id=$(db "SELECT id FROM outbox WHERE user_id = (SELECT id FROM user WHERE email = '$EMAIL')
        ORDER BY id LIMIT 1")
    browse frame hidden "/events/$id"
}

# bats test_tags=long
@test "a suspension says since when, and the user ends it" {
    answers HOOK tired 'status 410'
    set_webhook TIRED "$(url_of HOOK)/tired"
    request POST /v2/webhooks/test --as "$TIRED_TOKEN" -d '{}'
    assert_success
    eventually is_suspended "$TIRED_EMAIL"
    answers HOOK tired
    EMAIL=$TIRED_EMAIL PASSWORD=$TIRED_PASSWORD browse integration suspended
    ! is_suspended "$TIRED_EMAIL"
    request POST /v2/webhooks/test --as "$TIRED_TOKEN" -d '{}'
    eventually has_received HOOK 2 tired
}

is_suspended() { # EMAIL
    [[ $(db "SELECT suspended_at IS NOT NULL FROM webhook WHERE user_id =
        (SELECT id FROM user WHERE email = '$1')") == 1 ]]
}

# --- the workspace ---

# bats test_tags=long
@test "an owner invites, confirms an old login, changes a role and removes a member, whose page ends" {
    browse team owner
    db "UPDATE session SET created_at = created_at - 700000, confirmed_at = confirmed_at - 700000"
    browse team members "$PASSWORD"
}

# bats test_tags=long
@test "an owner chooses how long messages are kept, and is asked before a shorter time is set" {
    browse team retention
}

# bats test_tags=long
@test "an owner saves all data of the workspace as a file, and confirms an old login before" {
    browse team owner
    db "UPDATE session SET created_at = created_at - 700000, confirmed_at = confirmed_at - 700000"
    browse team saves "$PASSWORD"
}

# bats test_tags=long
@test "a token of the page has its scopes, and is refused from its revocation on" {
    browse team scopedToken
}

# Makes a user with two lines that have names: make_desk PREFIX. Sets `front` and `back`, their ids
# of the platform.
make_desk() {
    local line=$1LINE
    make_user "$1"
    make_password "$1"
    front=${!line}
    make_line "$1"
    back=${!line}
    db "UPDATE line SET name = 'Front desk' WHERE phone_number_id = '$front'"
    db "UPDATE line SET name = 'Back office' WHERE phone_number_id = '$back'"
}

# bats test_tags=long
@test "a token of the page may be limited to lines, which are chosen by their names" {
    make_desk DESK_
    EMAIL=$DESK_EMAIL PASSWORD=$DESK_PASSWORD browse team tokenLines
}

# bats test_tags=long
@test "an owner chooses the lines of an invitation and of a member, who sees their conversations only" {
    make_desk SHOP_
    EMAIL=$SHOP_EMAIL PASSWORD=$SHOP_PASSWORD browse team memberLines "$front" "$back"
}

# bats test_tags=long
@test "a member sets a second factor up, logs in with a recovery code, and removes it" {
    browse team factor "$EMAIL" "$PASSWORD"
}

# bats test_tags=long
@test "the QR codes of all versions hold their texts, by a reader of our own" {
    browse team qr
}

# bats test_tags=long
@test "an owner removes the second factor of a member who has lost the app, after two questions" {
    make_member '' lou@example.org agent
    db "UPDATE member SET name = 'Lou' WHERE email = 'lou@example.org';
        INSERT INTO factor SELECT id, x'00', 0, 1, 1 FROM member WHERE email = 'lou@example.org'"
    browse team owner
    db "UPDATE session SET created_at = created_at - 700000, confirmed_at = confirmed_at - 700000"
    browse team resetFactor "$PASSWORD"
    assert_equal "$(db "SELECT (SELECT count(*) FROM factor), count(*) FROM trail
        WHERE action = 'member.factor-reset'")" '0|1'
    switchboard member remove "$EMAIL" lou@example.org
}

# --- trail ---

# bats test_tags=long
@test "the trail shows who changed what, finds an object, and downloads a file" {
    local id
    id=$(db "SELECT l.id FROM line l WHERE phone_number_id = '$LINE'")
    api PATCH "/v2/lines/$id" -d '{"name":"=Front desk"}'
    assert_success
    browse integration trail "$id"
}

# --- request log ---

# bats test_tags=long
@test "the request log finds a request by its id, those of the token, and errors" {
    api GET /v2/events/evt_none
    api GET /v2/me
    assert_success
    browse integration requests "$(header X-Request-Id)"
}
