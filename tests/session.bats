#!/usr/bin/env bats
# Sessions of the dashboard: login, limits, the cookie, the password, a new API token (spec 5.8)
# shellcheck disable=SC2153  # make_user sets EMAIL, OTHER_EMAIL and so on
load helpers/all
load helpers/conventions
load helpers/session

# The password with other parameters: 1 pass over 8 MiB.
# shellcheck disable=SC2016  # no variables
old_hash='$argon2id$v=19$m=8192,t=1,p=1$Jy89Z15NOMXtiMpzag7azA$'
# shellcheck disable=SC2016
old_hash+='FySVfd4bkCg9/siQaIFfMM6jC+jM/TedvXL3iJRPO0s'

wrong='{"success":false,"error":"UNAUTHORIZED",'
wrong+='"message":"Email address or password are wrong."}'

setup_file() {
    start_stack
    make_user OTHER_
    set_password OTHER_
    make_user
    set_password ''
}

setup() {
    forget_sent
    db 'DELETE FROM login_failure; DELETE FROM session; DELETE FROM login_link;
        DELETE FROM login_device'
}

# Logs in: login [PASSWORD [EMAIL]]. Sets SESSION, the value of the cookie, if it succeeds.
login() {
    local cookie
    request POST /v2/session \
        -d "{\"email\":\"${2-$EMAIL}\",\"password\":\"${1-$PASSWORD}\"}"
    cookie=$(header Set-Cookie)
    [[ $status != 200 ]] || keep_login "$cookie"
}

keep_login() { # SET-COOKIE: those of the session and of the browser
    SESSION=${1#*=}
    SESSION=${SESSION%%;*}
    keep_secret session "$SESSION"
    BROWSER=${1##*-device=}
    BROWSER=${BROWSER%%;*}
    keep_secret browser "$BROWSER"
}

login_by_link() { # LINK
    request POST /v2/session -d "{\"link\":\"${1##*/}\"}"
    [[ $status != 200 ]] || keep_login "$(header Set-Cookie)"
}

session() { # METHOD PATH [option...]
    request "$@" --session "$SESSION"
}

login_link() {
    switchboard user login-link "$EMAIL" --url http://localhost:8080
}

assert_ended() { # the session of the last login
    session GET /v2/session
    assert_error 401 UNAUTHORIZED 'The session has ended'
}

# The cookies of the last answer, exactly: a change of any attribute fails. assert_cookie [only]:
# without that of the browser.
assert_cookie() {
    local rules='[0-9a-f]{64}; Path=/; Secure; HttpOnly; SameSite=Strict' form
    form="^__Host-switchboard=$rules"
    (($#)) || form+=$'\n'"__Host-switchboard-device=$rules; Max-Age=15552000"
    [[ $(header Set-Cookie) =~ $form$ ]] ||
        fail_answer 'expected the cookie of a session'
}

assert_cleared() {
    assert_header Set-Cookie \
        '__Host-switchboard=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0'
}

# Moves the time of the sessions of all users: age_sessions SECONDS
age_sessions() {
    db "UPDATE session SET created_at = created_at - $1 * 1000,
        last_seen_at = last_seen_at - $1 * 1000, expires_at = expires_at - $1 * 1000"
}

# --- login ---

@test "a login by password answers user and session, and sets the cookie with all its attributes" {
    local user
    user=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    login
    assert_success
    assert_conventions
    assert_cookie
    assert_json .data.user "{\"id\":\"$user\",\"email\":\"$EMAIL\"}"
    assert_that '.data | keys ==
        ["factor", "member", "passwordIsSet", "session", "user", "workspaces"]
        and .passwordIsSet and (.session | keys == ["createdAt", "expiresAt", "id"]
        and (.id | startswith("ses_")))'
    cp "$body" "$BATS_TEST_TMPDIR/login"
    session GET /v2/session
    assert_body_is "@$BATS_TEST_TMPDIR/login"
    refute_header Set-Cookie
}

@test "each login gives a new value, and the database and the log hold none" {
    local first
    login
    first=$SESSION
    login
    [[ $SESSION != "$first" ]]
    assert_equal "$(db 'SELECT count(*) FROM session')" 2
    assert_equal "$(db "SELECT count(*) FROM session WHERE hash = $(hash_of "$SESSION")")" 1
    ! database_dump | grep -F -e "$SESSION" -e "$PASSWORD" || fail 'the database holds a secret'
    session GET /v2/session
    assert_not_logged "$SESSION" "$PASSWORD"
}

# bats test_tags=long
@test "wrong password, unknown address, no password, deleted user: the answer is the same" {
    local case answers=0
    make_user BARE_
    make_user GONE_
    set_password GONE_
    switchboard user delete "$GONE_EMAIL"
    for case in "$EMAIL wrong-horse-battery" "x$EMAIL $PASSWORD" "$BARE_EMAIL $PASSWORD" \
        "$GONE_EMAIL $PASSWORD"; do
        login "${case#* }" "${case%% *}"
        assert_error 401 UNAUTHORIZED
        assert_body_is "$wrong"
        refute_header Set-Cookie
        assert_header WWW-Authenticate 'Session realm="switchboard"'
        answers=$((answers + 1))
    done
    assert_equal "$answers" 4
    assert_equal "$(db 'SELECT count(*) FROM session')" 0
}

# bats test_tags=direct
@test "a login needs email and password, or a link, and not both" {
    request POST /v2/session -d "{\"password\":\"$PASSWORD\"}"
    assert_error 400 VALIDATION_ERROR
    assert_issue email 'required'
    request POST /v2/session -d "{\"email\":\"$EMAIL\"}"
    assert_error 400 VALIDATION_ERROR
    request POST /v2/session -d '{"password":"x","link":"x"}'
    assert_error 400 VALIDATION_ERROR
    request POST /v2/session -d "{\"email\":\"$EMAIL\",\"password\":\"$(printf 'x%.0s' {1..129})\"}"
    assert_error 400 VALIDATION_ERROR
    assert_issue password 'at most 128 bytes'
    assert_equal "$(db 'SELECT count(*) FROM login_failure')" 0
}

@test "a page of another origin cannot log in" {
    local header
    for header in 'Sec-Fetch-Site: cross-site' 'Sec-Fetch-Site: same-site' 'Sec-Fetch-Site: none' \
        'Origin: https://evil.example'; do
        request POST /v2/session -H "$header" \
            -d "{\"email\":\"$EMAIL\",\"password\":\"$PASSWORD\"}"
        assert_error 403 FORBIDDEN 'another origin'
        refute_header Set-Cookie
    done
    request POST /v2/session -H 'Sec-Fetch-Site: same-origin' \
        -d "{\"email\":\"$EMAIL\",\"password\":\"$PASSWORD\"}"
    assert_success
}

@test "a link logs in once, within 15 minutes, and a new link replaces it" {
    local link
    link=$(login_link)
    [[ $link =~ ^http://localhost:8080/dashboard/\#/login/[0-9a-f]{64}$ ]]
    ! database_dump | grep -F "${link##*/}" || fail 'the database holds the link'
    login_by_link "$link"
    assert_success
    assert_cookie
    session GET /v2/session
    assert_success
    login_by_link "$link"
    assert_error 401 UNAUTHORIZED 'The link was used already'
    link=$(login_link)
    db 'UPDATE login_link SET expires_at = expires_at - 900000'
    login_by_link "$link"
    assert_error 401 UNAUTHORIZED 'The link is not valid'
    link=$(login_link)
    login_link >"$BATS_TEST_TMPDIR/out"
    login_by_link "$link"
    assert_error 401 UNAUTHORIZED 'The link is not valid'
    login_by_link "$(cat "$BATS_TEST_TMPDIR/out")"
    assert_success
}

@test "of ten simultaneous uses of a link one succeeds" {
    local link
    link=$(login_link)
    request_many 10 POST /v2/session -d "{\"link\":\"${link##*/}\"}"
    assert_equal "$(statuses)" '1 200
9 401'
}

# bats test_tags=long
@test "a user has at most 50 sessions: a further login ends the oldest one" {
    local number oldest
    make_session '' 100
    oldest=$SESSION
    for ((number = 1; number < 50; number++)); do
        make_session '' 50
    done
    make_session OTHER_ 200
    login
    assert_success
    assert_equal "$(db "SELECT count(*) FROM session s JOIN user u ON u.id = s.user_id
        WHERE email = '$EMAIL'")" 50
    assert_equal "$(db "SELECT count(*) FROM session WHERE hash = $(hash_of "$oldest")")" 0
    assert_equal "$(db 'SELECT count(*) FROM session')" 51
}

@test "a hash with other parameters is replaced at the login, and only then" {
    local hash
    db "UPDATE member SET password = '$old_hash' WHERE email = '$EMAIL'"
    login wrong-horse-battery
    assert_error 401 UNAUTHORIZED
    assert_equal "$(db "SELECT count(*) FROM member WHERE password = '$old_hash'")" 1
    login
    assert_success
    hash=$(db "SELECT password FROM member WHERE email = '$EMAIL'")
    # shellcheck disable=SC2016  # no variables
    [[ $hash == '$argon2id$v=19$m=19456,t=2,p=1$'* ]] || fail "$hash"
    login
    assert_success
}

# --- limits ---

# Fails to log in COUNT times: fail_to_log_in COUNT [EMAIL]
fail_to_log_in() {
    local number
    for ((number = 0; number < $1; number++)); do
        login wrong-horse-battery "${2-$EMAIL}"
        assert_error 401 UNAUTHORIZED
    done
}

# The last answer is 429, and Retry-After is MINUTES, or up to 30 seconds less.
assert_blocked() { # MINUTES
    local seconds
    assert_error 429 RATE_LIMITED 'Too many failed logins'
    seconds=$(header Retry-After)
    ((seconds > $1 * 60 - 30 && seconds <= $1 * 60)) || fail_answer "expected $1 minutes"
}

# bats test_tags=long
@test "after 5 failures the right password is refused for 1, 2, 4, 8 and then 15 minutes" {
    local minutes
    fail_to_log_in 5
    login
    assert_blocked 1
    refute_header Set-Cookie
    login wrong-horse-battery
    assert_blocked 1
    for minutes in 2 4 8 15 15; do
        db 'UPDATE login_failure SET blocked_until = 0' # the time is over
        login wrong-horse-battery
        assert_error 401 UNAUTHORIZED
        login
        assert_blocked "$minutes"
    done
    login "$PASSWORD" "$OTHER_EMAIL"
    assert_success
    db 'UPDATE login_failure SET blocked_until = 0'
    login
    assert_success
    fail_to_log_in 5
}

@test "an address without a user is blocked as one with a user" {
    fail_to_log_in 5 nobody@example.org
    login "$PASSWORD" nobody@example.org
    assert_blocked 1
    ! database_dump | grep -F nobody@ || fail 'the database holds an address that a stranger typed'
}

@test "the failures of an account are forgotten after an hour" {
    fail_to_log_in 4
    db 'UPDATE login_failure SET forget_at = forget_at - 3600000'
    fail_to_log_in 4
    login
    assert_success
}

# bats test_tags=long
@test "failures that were counted while the clock was a day ahead block no one when it is right" {
    local number
    fail_to_log_in 5
    for ((number = 0; number < 15; number++)); do
        login wrong-horse-battery "$number@example.org" # the address is blocked too
    done
    db 'UPDATE login_failure SET blocked_until = blocked_until + 86400000,
        forget_at = forget_at + 86400000'
    login
    assert_success
    fail_to_log_in 5
    login
    assert_blocked 1
}

@test "of 12 simultaneous wrong passwords at most 5 are tried" {
    local tried
    request_many 12 POST /v2/session \
        -d "{\"email\":\"$EMAIL\",\"password\":\"wrong-horse-battery\"}"
    tried=$(cat "$many"/*/status | grep -cx 401)
    ((tried >= 1 && tried <= 5)) || fail "$(statuses)"
    assert_equal "$(cat "$many"/*/status | grep -cvxE '401|429')" 0
    ((tried < 5)) || assert_equal "$(db 'SELECT max(failures) FROM login_failure
        WHERE subject LIKE '"'email:%'")" 5
}

# Logs in from a browser that has the cookie: login_from BROWSER [PASSWORD]
login_from() {
    request POST /v2/session -H "Cookie: other=1; __Host-switchboard-device=$1" \
        -d "{\"email\":\"$EMAIL\",\"password\":\"${2-$PASSWORD}\"}"
}

# bats test_tags=long
@test "others cannot lock out a browser in which the user has logged in before" {
    local own number
    login
    own=$BROWSER
    fail_to_log_in 5
    for ((number = 0; number < 15; number++)); do
        login wrong-horse-battery "$number@example.org" # the address is blocked too
    done
    login
    assert_error 429 RATE_LIMITED
    login_from "$own"
    assert_success
    [[ $(header Set-Cookie) == *"-device=$own; "*'Max-Age=15552000'* ]] || fail_answer 'the browser'
    # neither a value that was not given, nor the browser of another user
    login_from "$(printf '%064x' 7)"
    assert_error 429 RATE_LIMITED
    db 'DELETE FROM login_failure'
    login "$PASSWORD" "$OTHER_EMAIL"
    fail_to_log_in 5
    login_from "$BROWSER"
    assert_blocked 1
}

# bats test_tags=long
@test "a browser in which the user has logged in has failures of its own" {
    local own number
    login
    own=$BROWSER
    for ((number = 0; number < 5; number++)); do
        login_from "$own" wrong-horse-battery
        assert_error 401 UNAUTHORIZED
        refute_header Set-Cookie
    done
    login_from "$own"
    assert_blocked 1
    login
    assert_success
    db 'UPDATE login_failure SET blocked_until = 0'
    login_from "$own"
    assert_success
    assert_equal "$(db 'SELECT count(*) FROM login_failure')" 0
}

# bats test_tags=long
@test "a browser is known for 180 days after its last login, of each user the last 10" {
    local first number
    login
    first=$BROWSER
    for ((number = 1; number <= 10; number++)); do
        db 'UPDATE login_device SET expires_at = expires_at - 1000'
        login
    done
    assert_equal "$(db 'SELECT count(*) FROM login_device')" 10
    assert_equal "$(db "SELECT count(*) FROM login_device WHERE hash = $(hash_of "$first")")" 0
    fail_to_log_in 5
    db "UPDATE login_device SET expires_at = $(date +%s)000"
    login_from "$BROWSER"
    assert_blocked 1
    db 'DELETE FROM login_failure'
    login_from 'a value that is not one of ours'
    assert_success
    [[ $(header Set-Cookie) != *'not one of ours'* ]] || fail_answer 'a foreign value was kept'
    switchboard user login-link "$OTHER_EMAIL" --url http://localhost:8080 >"$BATS_TEST_TMPDIR/link"
    login_by_link "$(cat "$BATS_TEST_TMPDIR/link")"
    assert_success
    assert_equal "$(db "SELECT count(*) FROM login_device JOIN member ON id = member_id
        WHERE email = '$OTHER_EMAIL'")" 1
}

# bats test_tags=long
@test "a used link that is tried again is refused and counts as no failure" {
    local number link
    link=$(login_link)
    login_by_link "$link"
    assert_success
    for ((number = 1; number <= 25; number++)); do
        login_by_link "$link"
        assert_error 401 UNAUTHORIZED 'The link was used already'
    done
    session PUT /v2/password -d "{\"password\":\"$PASSWORD\"}"
    assert_success
    login_by_link "$link"
    assert_error 401 UNAUTHORIZED 'The link was used already'
    assert_equal "$(db 'SELECT count(*) FROM login_failure')" 0
    db 'UPDATE login_link SET expires_at = 1'
    login_by_link "$link"
    assert_error 401 UNAUTHORIZED 'The link is not valid'
    assert_equal "$(db 'SELECT sum(failures) FROM login_failure')" 1
}

@test "a login in a browser that has a session ends that session, of another user too" {
    local first
    login "$PASSWORD" "$OTHER_EMAIL"
    first=$SESSION
    session POST /v2/session -d "{\"email\":\"$EMAIL\",\"password\":\"wrong-horse-battery\"}"
    assert_error 401 UNAUTHORIZED
    session GET /v2/session
    assert_success
    session POST /v2/session -d "{\"email\":\"$EMAIL\",\"password\":\"$PASSWORD\"}"
    assert_success
    keep_login "$(header Set-Cookie)"
    session GET /v2/session
    assert_json .data.user.email "\"$EMAIL\""
    SESSION=$first assert_ended
    assert_equal "$(db 'SELECT count(*) FROM session')" 1
}

@test "a page that shows another member or workspace gets 401, so that it does not act for another" {
    local id workspace
    login
    id=$(db "SELECT id FROM member WHERE email = '$EMAIL'")
    workspace=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    session GET /v2/session -H "X-Switchboard-Member: $id" -H "X-Switchboard-Workspace: $workspace"
    assert_success
    session GET /v2/me -H "X-Switchboard-Member: $id" -H "X-Switchboard-Workspace: $workspace"
    assert_success
    for id in "${id}x" mbr_other; do
        session GET /v2/me -H "X-Switchboard-Member: $id"
        assert_error 401 UNAUTHORIZED 'Another member has logged in in this browser'
        session DELETE /v2/session -H "X-Switchboard-Member: $id"
        assert_error 401 UNAUTHORIZED
    done
    for workspace in "$(db "SELECT id FROM user WHERE email = '$OTHER_EMAIL'")" usr_none; do
        session GET /v2/me -H "X-Switchboard-Workspace: $workspace"
        assert_error 401 UNAUTHORIZED 'does not belong to this workspace'
        session DELETE /v2/session -H "X-Switchboard-Workspace: $workspace"
        assert_error 401 UNAUTHORIZED
    done
    session GET /v2/session
    assert_success
    api GET /v2/me -H 'X-Switchboard-Member: mbr_other' # a token is of no page
    assert_success
}

# Logs in from an address, with an unknown email: from ADDRESS. Prints the status.
from() {
    local text="{\"email\":\"$RANDOM@example.org\",\"password\":\"$PASSWORD\"}"
    printf '%s' "$text" | env -i GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD=POST \
        SCRIPT_NAME=/v2/session REMOTE_ADDR="$1" SWITCHBOARD_CONFIG="$SWITCHBOARD_CONFIG" \
        CONTENT_TYPE=application/json CONTENT_LENGTH="${#text}" "$OUT/cgi-bin/session" |
        sed -n 's/^Status: \(...\).*/\1/p'
}

# bats test_tags=direct,long
@test "after 20 failures in 15 minutes a client is blocked, of IPv6 its /64; others are not" {
    local number until
    for ((number = 1; number <= 20; number++)); do
        assert_equal "$(from "2001:db8:1:2:$number::1")" 401
    done
    assert_equal "$(from 2001:db8:1:2:ffff::1)" 429
    assert_equal "$(from 2001:db8:1:3::1)" 401
    assert_equal "$(from 198.51.100.1)" 401
    assert_equal "$(from ::ffff:198.51.100.1)" 401
    assert_equal "$(db "SELECT failures FROM login_failure
        WHERE subject = 'address:198.51.100.1'")" 2
    until=$(db "SELECT blocked_until FROM login_failure
        WHERE subject = 'address:2001:db8:1:2::/64'")
    ((until > ($(date +%s) + 600) * 1000 && until <= ($(date +%s) + 900) * 1000))
    db 'UPDATE login_failure SET blocked_until = blocked_until - 900000,
        forget_at = forget_at - 900000'
    assert_equal "$(from 2001:db8:1:2:ffff::1)" 401
}

@test "links that are tried count as failures of the client, and a blocked client can use none" {
    local number link
    link=$(login_link)
    for ((number = 1; number <= 20; number++)); do
        login_by_link "wrong$number"
        assert_error 401 UNAUTHORIZED
    done
    login_by_link "$link"
    assert_error 429 RATE_LIMITED
    db 'DELETE FROM login_failure'
    login_by_link "$link"
    assert_success
}

# bats test_tags=long
@test "every failure has one line in the log with the address, for fail2ban; a success has none" {
    login wrong-horse-battery
    log_of_request >"$BATS_TEST_TMPDIR/line"
    grep -qF '"login_failed_from":"127.0.0.1","route":"/v2/session","status":401,' \
        "$BATS_TEST_TMPDIR/line"
    assert_equal "$(grep -cF "\"request_id\":\"$(header X-Request-Id)\"" "$LOG")" 1
    fail_to_log_in 4
    login
    assert_error 429 RATE_LIMITED
    log_of_request | grep -qF '"login_failed_from":"127.0.0.1"'
    db 'DELETE FROM login_failure'
    login
    assert_success
    refute grep -qF login_failed_from <(log_of_request)
}

# Holds a turn until the end of the test: hold_turn NUMBER
hold_turn() {
    local turn=$DB-login-$1
    [[ -z ${SERVER-} ]] || turn=$STACK/login-$1
    mkfifo "$BATS_TEST_TMPDIR/hold$1"
    "${HELPERS:?}/hold" "$turn" <"$BATS_TEST_TMPDIR/hold$1" \
        >"$BATS_TEST_TMPDIR/held$1" 3>&- &
    exec {holding}>"$BATS_TEST_TMPDIR/hold$1"
    eventually grep -q held "$BATS_TEST_TMPDIR/held$1"
}

@test "two passwords are checked at the same time; a third waits, then is 429 and not counted" {
    login # creates the lock files
    hold_turn 1
    login
    assert_success
    hold_turn 2
    login wrong-horse-battery
    assert_error 429 RATE_LIMITED 'at the same time'
    assert_header Retry-After 1
    assert_equal "$(db 'SELECT count(*) FROM login_failure')" 0
}

# --- when the cookie counts ---

# 20 ways in which a page of another site, or a program without the headers, could use the cookie
# that a browser adds. Each line is a list of headers, separated by |.
forged='
X-Switchboard: 1
Sec-Fetch-Site: same-origin
X-Switchboard: 1|Sec-Fetch-Site: cross-site
X-Switchboard: 1|Sec-Fetch-Site: same-site
X-Switchboard: 1|Sec-Fetch-Site: none
X-Switchboard: 1|Sec-Fetch-Site: Same-Origin
X-Switchboard: 1|Sec-Fetch-Site: same-origin, cross-site
X-Switchboard: 0|Sec-Fetch-Site: same-origin
X-Switchboard: true|Sec-Fetch-Site: same-origin
X-Switchboard: 11|Sec-Fetch-Site: same-origin
X-Switchboard:|Sec-Fetch-Site: same-origin
X-Switchboard: 1|Origin: null
X-Switchboard: 1|Origin: https://evil.example
X-Switchboard: 1|Origin: @OWN@.evil.example
X-Switchboard: 1|Origin: @OTHER_SCHEME@
X-Switchboard: 1|Origin: @OWN@/
X-Switchboard: 1|Origin: @OTHER_PORT@
X-Switchboard: 1|Referer: @OWN@/dashboard/
X-Switchboard: 1|Sec-Fetch-Site: cross-site|Origin: @OWN@
Origin: @OWN@'

# bats test_tags=long
@test "20 forged ways to use the cookie are refused, and nothing changes" {
    local own=${BASE:-http://127.0.0.1} line header headers_of count=0 host
    host=${own#http://}
    make_session ''
    while IFS= read -r line; do
        [[ -n $line ]] || continue
        line=${line//@OWN@/$own}
        line=${line//@OTHER_SCHEME@/https://$host}
        line=${line//@OTHER_PORT@/http://${host%:*}:1}
        printf 'case: %s\n' "$line"
        headers_of=(-H "Cookie: __Host-switchboard=$SESSION")
        while IFS= read -r -d '|' header; do
            headers_of+=(-H "$header")
        done <<<"$line|"
        request POST /v2/token -d '{}' "${headers_of[@]}"
        assert_error 401 UNAUTHORIZED 'Missing session'
        request POST /v2/webhooks/generate-code -d '{}' "${headers_of[@]}"
        assert_error 401 UNAUTHORIZED 'Missing API token'
        assert_that '.details.hint | contains("X-Switchboard: 1")
            and contains("Sec-Fetch-Site: same-origin") and contains("Authorization: Bearer")'
        count=$((count + 1))
    done <<<"$forged"
    assert_equal "$count" 20
    api GET /v2/me # the token is the old one
    assert_success
    api GET /v2/webhooks/config
    assert_json .data.webhookCode '""'
}

@test "without Sec-Fetch-Site an Origin counts that is the gateway's own: that of public_url" {
    local own=${BASE:-http://127.0.0.1}
    make_session ''
    request GET /v2/session -H "Cookie: __Host-switchboard=$SESSION" -H 'X-Switchboard: 1' \
        -H "Origin: $own"
    assert_success
    write_config 'public_url = https://api.example.org/base'
    request GET /v2/session -H "Cookie: __Host-switchboard=$SESSION" -H 'X-Switchboard: 1' \
        -H "Origin: $own"
    assert_error 401 UNAUTHORIZED
    request GET /v2/session -H "Cookie: __Host-switchboard=$SESSION" -H 'X-Switchboard: 1' \
        -H 'Origin: https://api.example.org'
    assert_success
    write_config
}

@test "other cookies do not matter, and of two with the name of the session none counts" {
    make_session ''
    request GET /v2/session -H "Cookie: a=b; __Host-switchboard=$SESSION; switchboard=x" \
        -H 'X-Switchboard: 1' -H 'Sec-Fetch-Site: same-origin'
    assert_success
    request GET /v2/session -H "Cookie: __Host-switchboard=x; __Host-switchboard=$SESSION" \
        -H 'X-Switchboard: 1' -H 'Sec-Fetch-Site: same-origin'
    assert_error 401 UNAUTHORIZED 'Missing session'
    request GET /v2/session -H "Cookie: switchboard=$SESSION" \
        -H 'X-Switchboard: 1' -H 'Sec-Fetch-Site: same-origin'
    assert_error 401 UNAUTHORIZED 'Missing session'
}

@test "with a token in the request the token counts, and the cookie is ignored" {
    make_session OTHER_
    api GET /v2/me --session "$SESSION"
    assert_success
    assert_text .data.user.email "$EMAIL"
    session GET /v2/me
    assert_text .data.user.email "$OTHER_EMAIL"
    request GET /v2/me --as wrong --session "$SESSION"
    assert_error 401 UNAUTHORIZED 'Invalid API token'
    request GET /v2/health --session wrong # a public route ignores it
    assert_success
}

@test "a session of a user whose plan has ended opens the session's routes, and no others" {
    make_user LATE_
    switchboard plan set "$LATE_EMAIL" Premium --ends 2020-01-01 >/dev/null
    make_session LATE_
    session GET /v2/session
    assert_success
    session GET /v2/me
    assert_error 403 PLAN_EXPIRED
}

# --- how long a session lasts ---

@test "a session ends 12 hours after it was seen, and PATCH renews it, at most once a minute" {
    local expires
    make_session ''
    age_sessions 30
    expires=$(db 'SELECT expires_at FROM session')
    session PATCH /v2/session
    assert_success
    assert_equal "$(db 'SELECT expires_at FROM session')" "$expires"
    age_sessions 40
    session GET /v2/session # does not renew it
    assert_equal "$(db 'SELECT expires_at FROM session')" $((expires - 40000))
    session PATCH /v2/session
    assert_success
    refute_header Set-Cookie
    assert_equal "$(db 'SELECT expires_at - last_seen_at FROM session')" 43200000
    assert_equal "$(db 'SELECT last_seen_at > created_at + 60000 FROM session')" 1
    age_sessions 43201
    assert_ended
    session PATCH /v2/session
    assert_error 401 UNAUTHORIZED
}

@test "a session ends 7 days after its login, however often it is renewed" {
    make_session ''
    db "UPDATE session SET created_at = created_at - 603000000, last_seen_at = last_seen_at - 61000"
    session PATCH /v2/session
    assert_success
    assert_equal "$(db 'SELECT expires_at - created_at FROM session')" 604800000
    age_sessions 1801
    assert_ended
}

@test "the courier deletes what has expired, and nothing else" {
    make_session ''
    age_sessions 43300
    make_session OTHER_
    login_link >/dev/null
    db 'UPDATE login_link SET expires_at = 1'
    db "INSERT INTO login_device (member_id, hash, expires_at)
            SELECT id, $(hash_of one), 1 FROM member WHERE email = '$EMAIL';
        INSERT INTO login_failure VALUES ('email:old', 9, 'att_1', 1, 1),
        ('email:new', 1, 'att_2', 0, $(($(date +%s) + 100))000)"
    "$OUT/tools/courier" --once >"$BATS_TEST_TMPDIR/courier.log" 2>&1
    assert_equal "$(db 'SELECT count(*) FROM session')" 1
    assert_equal "$(db 'SELECT count(*) FROM login_link')" 0
    assert_equal "$(db 'SELECT count(*) FROM login_device')" 0
    assert_equal "$(db 'SELECT subject FROM login_failure')" email:new
}

# --- the list ---

@test "GET /v2/sessions lists the sessions, newest first, and DELETE ends one or all others" {
    local first second first_id
    make_session '' 100
    first=$SESSION first_id=$SESSION_ID
    make_session '' 50
    make_session OTHER_
    second=$SESSION
    make_session ''
    session GET /v2/sessions
    assert_json .data.paging '{"cursors":{"after":null}}'
    assert_success
    assert_that '.data.items | length == 3 and (.[2].id == "'"$first_id"'")
        and ([.[].isCurrent] == [true, false, false]) and all(.[]; keys == ["address", "agent",
        "createdAt", "expiresAt", "id", "isCurrent", "lastSeenAt"]) and .[0].agent == "test"
        and .[0].address == "127.0.0.1"'
    session DELETE "/v2/sessions/$first_id"
    assert_success
    assert_json .data '{"ended":1}'
    refute_header Set-Cookie
    request GET /v2/session --session "$first"
    assert_error 401 UNAUTHORIZED
    session DELETE "/v2/sessions/$first_id"
    assert_error 404 NOT_FOUND
    session DELETE /v2/sessions
    assert_json .data '{"ended":1}'
    session GET /v2/sessions
    assert_that '.data.items | length == 1'
    request GET /v2/session --session "$second"
    assert_success
}

@test "the list holds address and the first 200 bytes of the User-Agent, whatever they are" {
    request POST /v2/session -H "User-Agent: <b>$(printf 'x%.0s' {1..300})\"" \
        -d "{\"email\":\"$EMAIL\",\"password\":\"$PASSWORD\"}"
    keep_login "$(header Set-Cookie)"
    session GET /v2/sessions
    assert_that '.data.items[0].agent | length == 200 and startswith("<b>xxx")'
}

@test "a logout ends the session at once and deletes the cookie" {
    login
    session DELETE /v2/session
    assert_success
    assert_cleared
    assert_json .data '{"ended":1}'
    assert_ended
    login
    session DELETE "/v2/sessions/$(db 'SELECT id FROM session')"
    assert_success
    assert_cleared
    assert_ended
}

# --- the password ---

put_password() { # BODY
    session PUT /v2/password -d "$1"
}

@test "a new password ends all sessions and gives a new one; the API token stays" {
    local old
    make_session OTHER_
    make_session ''
    old=$SESSION
    make_session ''
    put_password '{"password":"another horse battery"}'
    assert_success
    assert_cookie only
    keep_login "$(header Set-Cookie)"
    session GET /v2/session
    assert_success
    request GET /v2/session --session "$old"
    assert_error 401 UNAUTHORIZED
    assert_equal "$(db 'SELECT count(*) FROM session')" 2
    login
    assert_error 401 UNAUTHORIZED
    login 'another horse battery'
    assert_success
    api GET /v2/me
    assert_success
    set_password ''
    assert_equal "$(db "SELECT count(*) FROM session")" 1 # the other user's
}

# bats test_tags=direct,long
@test "a password has 12 characters to 128 bytes and is not among the most frequent ones" {
    local text count=0
    make_session ''
    for text in '' x elevenchars 'éééééééééé1' "$(printf 'x1%.0s' {1..64})y" password1234 \
        PassWord1234 aaaaaaaaaaaaa 'éééééééééééé' 123456789012; do
        put_password "{\"password\":\"$text\"}"
        assert_error 400 VALIDATION_ERROR
        assert_issue password
        count=$((count + 1))
    done
    assert_equal "$count" 10
    session GET /v2/session
    assert_success
    for text in 'twelve chars' 'éèéèéèéèéèéè' "$(printf 'x1%.0s' {1..64})" ' a  b  c  d '; do
        make_session ''
        put_password "{\"password\":\"$text\"}"
        assert_success
        login "$text"
        assert_success
    done
    set_password ''
}

@test "after 10 minutes the present password is required, but not after a login by a link" {
    make_session '' 601
    put_password '{"password":"another horse battery"}'
    assert_error 403 FORBIDDEN 'older than 10 minutes'
    assert_json .details '{"required":"current"}'
    put_password '{"password":"another horse battery","current":"wrong-horse-battery"}'
    assert_error 403 FORBIDDEN 'The password is wrong.'
    refute_header Set-Cookie
    put_password "{\"password\":\"another horse battery\",\"current\":\"$PASSWORD\"}"
    assert_success
    make_session '' 7200 1
    put_password "{\"password\":\"$PASSWORD\"}"
    assert_success
    make_session '' 500
    put_password "{\"password\":\"$PASSWORD\"}"
    assert_success
}

@test "a wrong present password counts as a failure of the session, and of nothing else" {
    local number
    make_session '' 601
    for ((number = 0; number < 5; number++)); do
        put_password '{"password":"another horse battery","current":"wrong-horse-battery"}'
        assert_error 403 FORBIDDEN
    done
    put_password "{\"password\":\"another horse battery\",\"current\":\"$PASSWORD\"}"
    assert_blocked 1
    session POST /v2/token -d "{\"password\":\"$PASSWORD\"}"
    assert_blocked 1
    session POST /v2/session/confirm -d "{\"password\":\"$PASSWORD\"}"
    assert_blocked 1
    assert_equal "$(db "SELECT count(*) FROM login_failure WHERE subject NOT LIKE 'session:%'")" 0
    login
    assert_success
}

# bats test_tags=long
@test "who is logged in can confirm with the password while others have blocked account and address" {
    local number
    make_session '' 601
    fail_to_log_in 5
    for ((number = 0; number < 15; number++)); do
        login wrong-horse-battery "$number@example.org"
    done
    login "$PASSWORD" 'fresh@example.org'
    assert_error 429 RATE_LIMITED
    session POST /v2/token -d "{\"password\":\"$PASSWORD\"}"
    assert_success
    put_password "{\"password\":\"$PASSWORD\",\"current\":\"$PASSWORD\"}"
    assert_success
}

# --- the API token ---

@test "POST /v2/token shows the new token once, and the old one is 401 at once" {
    local old=$TOKEN
    make_session ''
    session POST /v2/token -d '{}'
    assert_success
    assert_conventions
    TOKEN=$(jq -r .data.token "$body")
    assert_that '.data | keys == ["createdAt", "last4", "token"] and (.token
        | test("^sb_[0-9a-f]{64}$")) and .last4 == .token[-4:]'
    assert_equal "$(db "SELECT last4 FROM api_token t JOIN user u ON u.id = t.user_id
        WHERE email = '$EMAIL'")" "${TOKEN: -4}"
    assert_not_logged "$TOKEN"
    request GET /v2/me --as "$old"
    assert_error 401 UNAUTHORIZED 'Invalid API token'
    api GET /v2/me
    assert_success
    refute grep -qF "$TOKEN" "$body"
    session GET /v2/session # the session goes on
    assert_success
    ! database_dump | grep -F "$TOKEN" || fail 'the database holds the token'
    put TOKEN "$TOKEN"
}

@test "a new token needs the password when the login is older than 10 minutes, by a link too" {
    make_session OTHER_ 601 1
    session POST /v2/token -d '{}'
    assert_error 403 FORBIDDEN 'older than 10 minutes'
    assert_json .details '{"required":"password"}'
    session POST /v2/token -d '{"password":"wrong-horse-battery"}'
    assert_error 403 FORBIDDEN 'The password is wrong.'
    request GET /v2/me --as "$OTHER_TOKEN"
    assert_success
    session POST /v2/token -d "{\"password\":\"$PASSWORD\"}"
    assert_success
    put OTHER_TOKEN "$(jq -r .data.token "$body")"
    make_session OTHER_ 500
    session POST /v2/token -d '{}'
    assert_success
    put OTHER_TOKEN "$(jq -r .data.token "$body")"
}

@test "two new tokens at the same time leave one that is valid" {
    local file valid=0
    make_session OTHER_
    request_many 2 POST /v2/token -d '{}' --session "$SESSION"
    assert_equal "$(statuses)" '2 200'
    for file in "$many"/*/body; do
        request GET /v2/me --as "$(jq -r .data.token "$file")"
        [[ $status != 200 ]] || valid=$((valid + 1))
    done
    assert_equal "$valid" 1
}

# --- the command line ---

# bats test_tags=direct
@test "user password reads one line, checks it, and ends all sessions" {
    make_session ''
    run switchboard user password "$EMAIL" <<<'short'
    assert_equal "$status" 1
    assert_equal "$output" \
        'switchboard: the password on standard input must be at least 12 characters long'
    run switchboard user password "$EMAIL" <<<$'two lines of\ntext together'
    assert_equal "$status" 1
    [[ $output == *'must be one line of UTF-8' ]]
    run switchboard user password nobody@example.org <<<"$PASSWORD"
    assert_equal "$status" 1
    [[ $output == *nobody@example.org* ]]
    session GET /v2/session
    assert_success
    run switchboard user password "$EMAIL" <<<$'a third horse battery\r'
    assert_equal "$status" 0
    assert_equal "$output" "set the password of $EMAIL; all sessions have ended"
    assert_ended
    login 'a third horse battery'
    assert_success
    assert_equal "$(switchboard user password "$EMAIL" --json <<<"$PASSWORD")" \
        "{\"email\":\"$EMAIL\",\"passwordIsSet\":true}"
}

# bats test_tags=direct
@test "user login-link needs a base: --url or public_url" {
    run switchboard user login-link "$EMAIL"
    assert_equal "$status" 2
    [[ $output == *'give --url, or set public_url'* ]]
    write_config 'public_url = https://api.example.org/gateway/'
    run switchboard user login-link "$EMAIL"
    [[ $output =~ ^https://api.example.org/gateway/dashboard/\#/login/[0-9a-f]{64}$ ]]
    switchboard user login-link "$EMAIL" --json >"$BATS_TEST_TMPDIR/out"
    jq -e 'keys == ["email", "expiresAt", "url"]' "$BATS_TEST_TMPDIR/out"
    write_config
    run switchboard user login-link nobody@example.org --url https://api.example.org
    assert_equal "$status" 1
    [[ $output == *nobody@example.org* ]]
}

@test "a deleted user's sessions, link and password end at once" {
    local link
    make_user GONE_
    set_password GONE_
    link=$(switchboard user login-link "$GONE_EMAIL" --url http://localhost)
    make_session GONE_
    switchboard user delete "$GONE_EMAIL" >/dev/null
    assert_ended
    login_by_link "$link"
    assert_error 401 UNAUTHORIZED
    assert_equal "$(db "SELECT count(*) FROM member
        WHERE email = '$GONE_EMAIL'")" 0
}

# --- time ---

# Logs in with a wrong password and prints the time in ms: time_of EMAIL
time_of() {
    db 'DELETE FROM login_failure'
    request POST /v2/session -d "{\"email\":\"$1\",\"password\":\"wrong-horse-battery\"}"
    log_of_request | jq .ms
}

median() { # FILE
    sort -n "$1" | sed -n "$(($(wc -l <"$1") / 2))p"
}

# The two take turns, so that other work of the machine slows both down.
# bats test_tags=direct
@test "a login with a known and with an unknown address takes the same time" {
    [[ -n ${TEST_FULL-} ]] || skip 'only in make test-full: it measures time'
    local number known unknown
    for ((number = 0; number < 50; number++)); do
        time_of "$EMAIL" >>"$BATS_TEST_TMPDIR/known"
        time_of nobody@example.org >>"$BATS_TEST_TMPDIR/unknown"
    done
    known=$(median "$BATS_TEST_TMPDIR/known") unknown=$(median "$BATS_TEST_TMPDIR/unknown")
    printf '# medians: known %s ms, unknown %s ms\n' "$known" "$unknown" >&3
    ((known - unknown < 20 && unknown - known < 20)) || fail "known $known ms, unknown $unknown ms"
}
