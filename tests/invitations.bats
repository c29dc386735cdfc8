#!/usr/bin/env bats
# Members and invitations: /v2/members, /v2/invitations, POST /v2/session/join and .../confirm, PUT
# /v2/session/workspace (doc/api/team.md), `switchboard member` and `switchboard invitation`
# shellcheck disable=SC2153,SC2154  # make_user sets EMAIL, OTHER_EMAIL and so on
load helpers/all
load helpers/conventions
load helpers/session

setup_file() {
    start_stack
    make_user OTHER_
    make_user
}

setup() {
    forget_sent
    db "DELETE FROM login_failure; DELETE FROM session; DELETE FROM login_link;
        DELETE FROM login_device; DELETE FROM invitation;
        DELETE FROM membership WHERE created_by <> 'switchboard user';
        DELETE FROM member WHERE id NOT IN (SELECT member_id FROM membership);
        UPDATE membership SET role = 'owner'"
    make_session ''
    OWNER=$SESSION
    export ANN_EMAIL=ann@example.org BEN_EMAIL=ben@example.org
}

# Sends a request of the session: as_session METHOD PATH [option of request...]
as_session() {
    request "$@" --session "$SESSION"
}

# Makes a member of the user with the role and a session: as_role ROLE
as_role() {
    make_member '' "$BEN_EMAIL" "$1"
    make_session BEN_
    MEMBER=$(member_id "$BEN_EMAIL")
}

member_id() { # EMAIL
    db "SELECT id FROM member WHERE email = '$1'"
}

workspace_id() { # PREFIX
    local email=$1EMAIL
    db "SELECT id FROM user WHERE email = '${!email}'"
}

# Invites and sets LINK, the value of the link, and INVITATION, the id: invite EMAIL ROLE
invite() {
    as_session POST /v2/invitations -d "{\"email\":\"$1\",\"role\":\"$2\"}"
    assert_success
    assert_conventions
    LINK=$(gojq -r .data.path "$body") INVITATION=$(gojq -r .data.id "$body")
    [[ $LINK =~ ^/dashboard/#/join/[0-9a-f]{64}$ ]] || fail "$LINK"
    LINK=${LINK##*/}
    keep_secret invitation "$LINK"
}

# Joins as a new member: join LINK [NAME]. Sets SESSION if it succeeds.
join() {
    local cookie
    request POST /v2/session/join \
        -d "{\"invitation\":\"$1\",\"name\":\"${2-Ben}\",\"password\":\"$PASSWORD\"}"
    [[ $status == 200 ]] || return 0
    cookie=$(header Set-Cookie)
    SESSION=${cookie#*=}
    SESSION=${SESSION%%;*}
    keep_secret session "$SESSION"
}

accept() { # LINK
    as_session POST /v2/invitations/accept -d "{\"invitation\":\"$1\"}"
}

members() {
    db "SELECT m.email, ms.role FROM membership ms JOIN member m ON m.id = ms.member_id
        JOIN user u ON u.id = ms.user_id WHERE u.email = '$EMAIL' ORDER BY m.email"
}

# Makes the sessions older than a fresh login.
age_logins() {
    db 'UPDATE session SET created_at = created_at - 600000, confirmed_at = confirmed_at - 600000'
}

# --- invitations ---

@test "an invited person joins with a password, has the role, and is a member with an own login" {
    invite "$BEN_EMAIL" agent
    ! database_dump | grep -F "$LINK" || fail 'the database holds the link'
    join "$LINK"
    assert_success
    assert_json .data.user.email "\"$EMAIL\""
    assert_json '.data.member | [.email, .name, .role]' "[\"$BEN_EMAIL\",\"Ben\",\"agent\"]"
    as_session GET /v2/me
    assert_text .data.user.email "$EMAIL"
    as_session POST /v2/invitations -d '{"email":"x@example.org","role":"viewer"}'
    assert_error 403 FORBIDDEN 'the scope team'
    request POST /v2/session -d "{\"email\":\"$BEN_EMAIL\",\"password\":\"$PASSWORD\"}"
    assert_success
    assert_json .data.member.role '"agent"'
    assert_equal "$(db 'SELECT count(*) FROM invitation')" 0
    assert_not_logged "$LINK" "$PASSWORD"
}

@test "an invitation is accepted once, also by ten at the same time" {
    invite "$BEN_EMAIL" viewer
    request_many 10 POST /v2/session/join \
        -d "{\"invitation\":\"$LINK\",\"name\":\"Ben\",\"password\":\"$PASSWORD\"}"
    assert_equal "$(cat "$many"/*/status | grep -cx 200)" 1
    assert_equal "$(cat "$many"/*/status | grep -cvxE '200|401|409|429')" 0
    assert_equal "$(db "SELECT count(*) FROM member WHERE email = '$BEN_EMAIL'")" 1
    db 'DELETE FROM login_failure'
    join "$LINK"
    assert_error 401 UNAUTHORIZED 'not valid'
}

@test "an invitation does not count after 7 days, after its revocation, and after a new one for the email" {
    local first
    invite "$BEN_EMAIL" agent
    first=$LINK
    invite "$BEN_EMAIL" viewer
    join "$first"
    assert_error 401 UNAUTHORIZED 'not valid'
    assert_equal "$(db 'SELECT expires_at - created_at FROM invitation')" 604800000
    db "UPDATE invitation SET expires_at = $(date +%s)000"
    join "$LINK"
    assert_error 401 UNAUTHORIZED 'not valid'
    invite "$BEN_EMAIL" viewer
    as_session DELETE "/v2/invitations/$INVITATION"
    assert_json .data '{"revoked":true}'
    join "$LINK"
    assert_error 401 UNAUTHORIZED 'not valid'
    as_session DELETE "/v2/invitations/$INVITATION"
    assert_error 404 NOT_FOUND
    assert_equal "$(db "SELECT count(*) FROM member WHERE email = '$BEN_EMAIL'")" 0
    assert_equal "$(db "SELECT failures FROM login_failure WHERE subject LIKE 'address:%'")" 3
}

@test "an invitation counts only while its maker may give the role" {
    as_role admin
    invite ann@example.org admin
    local as_admin=$SESSION
    SESSION=$OWNER as_session PATCH "/v2/members/$MEMBER" -d '{"role":"agent"}'
    assert_success
    join "$LINK"
    assert_error 401 UNAUTHORIZED 'not valid'
    SESSION=$OWNER as_session PATCH "/v2/members/$MEMBER" -d '{"role":"owner"}'
    SESSION=$as_admin
    invite ann@example.org owner
    local owner=$LINK
    invite cat@example.org agent
    SESSION=$OWNER as_session PATCH "/v2/members/$MEMBER" -d '{"role":"admin"}'
    join "$owner"
    assert_error 401 UNAUTHORIZED 'not valid'
    SESSION=$as_admin
    as_session GET /v2/invitations
    assert_json '[.data.items[] | [.email, .role, .createdBy]]' \
        "[[\"cat@example.org\",\"agent\",\"$BEN_EMAIL\"]]"
    SESSION=$OWNER as_session DELETE "/v2/members/$MEMBER"
    join "$LINK"
    assert_error 401 UNAUTHORIZED 'not valid'
}

@test "an invitation for a member's address gives no session: the member logs in and accepts" {
    local other
    invite "$OTHER_EMAIL" agent
    join "$LINK"
    assert_error 409 VALIDATION_ERROR 'log in as that member'
    refute_header Set-Cookie
    accept "$LINK" # of the owner
    assert_error 403 FORBIDDEN 'another email address'
    make_session OTHER_
    other=$(workspace_id OTHER_)
    accept "$LINK"
    assert_success
    assert_json .data.workspaceId "\"$(workspace_id '')\""
    as_session GET /v2/session
    assert_json .data.user.email "\"$EMAIL\""
    assert_json '.data.workspaces | map([.email, .role])' \
        "[[\"$OTHER_EMAIL\",\"owner\"],[\"$EMAIL\",\"agent\"]]"
    accept "$LINK"
    assert_error 404 NOT_FOUND
    as_session POST /v2/token -d '{}'
    assert_error 403 FORBIDDEN 'the scope owner'
    as_session PUT /v2/session/workspace -d "{\"workspaceId\":\"$other\"}"
    assert_json .data.member.role '"owner"'
    as_session GET /v2/me
    assert_text .data.user.email "$OTHER_EMAIL"
    as_session PUT /v2/session/workspace -d '{"workspaceId":"usr_none"}'
    assert_error 403 FORBIDDEN workspaceId
}

# bats test_tags=long
@test "a workspace has at most 100 members" {
    local number last
    invite "$OTHER_EMAIL" agent
    last=$LINK
    invite x@example.org agent
    for ((number = 2; number <= 100; number++)); do
        db "INSERT INTO member (id, email, name, password, created_at)
            VALUES ('mbr_$number', '$number@x', 'x', NULL, 1);
            INSERT INTO membership (user_id, member_id, role, created_at, created_by)
            VALUES ('$(workspace_id '')', 'mbr_$number', 'viewer', 1, 'x')"
    done
    join "$LINK"
    assert_error 409 VALIDATION_ERROR
    make_session OTHER_
    accept "$last"
    assert_error 409 VALIDATION_ERROR
    db "DELETE FROM membership WHERE member_id = 'mbr_2'"
    accept "$last"
    assert_success
}

@test "each tab shows its workspace, and a workspace of others is 401" {
    make_member OTHER_ "$EMAIL" viewer
    as_session GET /v2/me -H "X-Switchboard-Workspace: $(workspace_id OTHER_)"
    assert_text .data.user.email "$OTHER_EMAIL"
    as_session GET /v2/me
    assert_text .data.user.email "$EMAIL"
    as_session PATCH /v2/lines/lin_x -d '{}' -H "X-Switchboard-Workspace: $(workspace_id OTHER_)"
    assert_error 403 FORBIDDEN 'the scope manage'
    db "DELETE FROM membership WHERE role = 'viewer'"
    as_session GET /v2/me -H "X-Switchboard-Workspace: $(workspace_id OTHER_)"
    assert_error 401 UNAUTHORIZED
    as_session GET /v2/me
    assert_success
}

# bats test_tags=long
@test "there are at most 50 invitations, a member is not invited, and an address has an @ and no spaces" {
    local number bad
    for ((number = 1; number <= 50; number++)); do
        db "INSERT INTO invitation SELECT 'inv_$number', id, $(hash_of "$number"), '$number@x',
            'viewer', NULL, 'x', 1, 2, NULL, 0 FROM user WHERE email = '$EMAIL'"
    done
    as_session POST /v2/invitations -d '{"email":"x@example.org","role":"viewer"}'
    assert_error 409 VALIDATION_ERROR 'revoke an invitation'
    invite 7@x agent
    db 'DELETE FROM invitation'
    as_session POST /v2/invitations -d "{\"email\":\"$EMAIL\",\"role\":\"viewer\"}"
    assert_error 409 VALIDATION_ERROR 'already'
    for bad in x @x x@ 'a b@x' 'a\n@x' 'a\u0000@x'; do
        as_session POST /v2/invitations -d "{\"email\":\"$bad\",\"role\":\"viewer\"}"
        assert_error 400 VALIDATION_ERROR email
    done
    as_session POST /v2/invitations -d '{"email":"x@example.org","role":"king"}'
    assert_error 400 VALIDATION_ERROR role
    assert_equal "$(db 'SELECT count(*) FROM invitation')" 0
}

# bats test_tags=long
@test "wrong links count as failures of the client, and a page of another origin cannot join" {
    local number
    invite "$BEN_EMAIL" agent
    request POST /v2/session/join -H 'Sec-Fetch-Site: cross-site' \
        -d "{\"invitation\":\"$LINK\",\"name\":\"x\",\"password\":\"$PASSWORD\"}"
    assert_error 403 FORBIDDEN 'another origin'
    for ((number = 1; number <= 20; number++)); do
        join "wrong$number"
        assert_error 401 UNAUTHORIZED
    done
    join "$LINK"
    assert_error 429 RATE_LIMITED
    db 'DELETE FROM login_failure'
    join "$LINK"
    assert_success
}

# --- roles and removal ---

@test "members see each other; only those who change members see the addresses of the others" {
    as_role agent
    as_session GET /v2/members
    assert_success
    assert_conventions
    assert_json '[.data.items[] | [.name, .role, .isSelf, .email]]' \
        "[[\"$EMAIL\",\"owner\",false,null],[\"$BEN_EMAIL\",\"agent\",true,\"$BEN_EMAIL\"]]"
    SESSION=$OWNER as_session GET /v2/members
    assert_json '[.data.items[].email]' "[\"$EMAIL\",\"$BEN_EMAIL\"]"
    request GET /v2/members --as "$TOKEN"
    assert_error 401 UNAUTHORIZED 'Missing session'
}

@test "an admin changes no owner and gives no role above the own one" {
    local owner
    owner=$(member_id "$EMAIL")
    as_role admin
    as_session PATCH "/v2/members/$owner" -d '{"role":"viewer"}'
    assert_error 403 FORBIDDEN 'above'
    as_session DELETE "/v2/members/$owner"
    assert_error 403 FORBIDDEN 'above'
    as_session POST "/v2/members/$owner/link"
    assert_error 403 FORBIDDEN 'above'
    as_session PATCH "/v2/members/$MEMBER" -d '{"role":"owner"}'
    assert_error 403 FORBIDDEN 'above'
    as_session POST /v2/invitations -d '{"email":"x@example.org","role":"owner"}'
    assert_error 403 FORBIDDEN 'above'
    as_session PATCH "/v2/members/$MEMBER" -d '{"role":"viewer"}'
    assert_success
    as_session PATCH "/v2/members/$MEMBER" -d '{"role":"admin"}'
    assert_error 403 FORBIDDEN 'the scope team'
}

@test "the last owner is neither removed nor lowered, by a member and by the command" {
    local owner
    owner=$(member_id "$EMAIL")
    as_session DELETE "/v2/members/$owner"
    assert_error 409 VALIDATION_ERROR 'at least one owner'
    as_session PATCH "/v2/members/$owner" -d '{"role":"admin"}'
    assert_error 409 VALIDATION_ERROR 'at least one owner'
    run switchboard member remove "$EMAIL" "$EMAIL"
    assert_equal "$status" 1
    run switchboard member role "$EMAIL" "$EMAIL" --role viewer
    assert_equal "$status" 1
    [[ $output == *'only owner'* ]]
    as_role owner
    as_session DELETE "/v2/members/$owner"
    assert_success
    as_session DELETE "/v2/members/$MEMBER"
    assert_error 409 VALIDATION_ERROR
    assert_equal "$(members)" "$BEN_EMAIL|owner"
    switchboard member add "$EMAIL" "$EMAIL" --role owner >/dev/null
    db "UPDATE membership SET created_by = 'switchboard user'
        WHERE member_id = '$(member_id "$EMAIL")'"
}

@test "who is removed loses sessions, links and invitations at once, and comes back as a new member" {
    as_role agent
    printf '%s\n' "$PASSWORD" | switchboard user password "$BEN_EMAIL" >/dev/null
    make_session BEN_
    switchboard user login-link "$BEN_EMAIL" --url http://localhost >/dev/null
    SESSION=$OWNER as_session DELETE "/v2/members/$MEMBER"
    assert_json .data '{"removed":true}'
    as_session GET /v2/session
    assert_error 401 UNAUTHORIZED 'has ended'
    request POST /v2/session -d "{\"email\":\"$BEN_EMAIL\",\"password\":\"$PASSWORD\"}"
    assert_error 401 UNAUTHORIZED 'are wrong'
    assert_equal "$(db "SELECT count(*) FROM login_link")" 0
    SESSION=$OWNER as_session DELETE "/v2/members/$MEMBER"
    assert_error 404 NOT_FOUND
    SESSION=$OWNER
    invite "$BEN_EMAIL" viewer
    join "$LINK"
    assert_success
    [[ $(member_id "$BEN_EMAIL") != "$MEMBER" ]]
}

@test "who is removed from one workspace goes on in the other" {
    local other
    other=$(workspace_id OTHER_)
    as_role agent
    make_member OTHER_ "$BEN_EMAIL" viewer
    as_session PUT /v2/session/workspace -d "{\"workspaceId\":\"$other\"}"
    assert_success
    SESSION=$OWNER as_session DELETE "/v2/members/$MEMBER"
    assert_success
    as_session GET /v2/me
    assert_text .data.user.email "$OTHER_EMAIL"
    as_session GET /v2/me -H "X-Switchboard-Workspace: $(workspace_id '')"
    assert_error 401 UNAUTHORIZED
    as_session GET /v2/session
    assert_json '.data.workspaces | map(.email)' "[\"$OTHER_EMAIL\"]"
}

@test "a reset link logs a member of a lower role in once, who then sets a password without the old one" {
    local link
    as_role agent
    printf '%s\n' 'an older horse battery' | switchboard user password "$BEN_EMAIL" >/dev/null
    SESSION=$OWNER as_session POST "/v2/members/$MEMBER/link"
    assert_success
    link=$(gojq -r .data.path "$body")
    [[ $link =~ ^/dashboard/#/login/[0-9a-f]{64}$ ]] || fail "$link"
    request POST /v2/session -d "{\"link\":\"${link##*/}\"}"
    assert_success
    assert_json .data.member.email "\"$BEN_EMAIL\""
    SESSION=$(header Set-Cookie | sed -n '1s/^[^=]*=\([^;]*\);.*/\1/p')
    as_session PUT /v2/password -d "{\"password\":\"$PASSWORD\"}"
    assert_success
    request POST /v2/session -d "{\"link\":\"${link##*/}\"}"
    assert_error 401 UNAUTHORIZED 'used already'
    make_member OTHER_ "$BEN_EMAIL" viewer
    SESSION=$OWNER as_session POST "/v2/members/$MEMBER/link"
    assert_error 403 FORBIDDEN 'other workspaces'
    SESSION=$OWNER as_session POST "/v2/members/$(member_id "$EMAIL")/link"
    assert_error 403 FORBIDDEN 'above'
}

# --- confirmation ---

@test "who changes members has logged in or confirmed in the last 10 minutes" {
    set_password ''
    make_session ''
    make_member '' "$BEN_EMAIL" agent
    MEMBER=$(member_id "$BEN_EMAIL")
    age_logins
    is_refused() {
        as_session "$@"
        assert_error 403 FORBIDDEN '/v2/session/confirm'
        assert_json .details '{"required":"confirmation"}'
    }
    is_refused POST /v2/invitations -d '{"email":"x@example.org","role":"viewer"}'
    is_refused PATCH "/v2/members/$MEMBER" -d '{"role":"admin"}'
    is_refused DELETE "/v2/members/$MEMBER"
    is_refused POST "/v2/members/$MEMBER/link"
    as_session POST /v2/session/confirm -d '{"password":"wrong-horse-battery"}'
    assert_error 403 FORBIDDEN 'The password is wrong'
    is_refused DELETE "/v2/members/$MEMBER"
    as_session POST /v2/session/confirm -d "{\"password\":\"$PASSWORD\"}"
    assert_success
    as_session DELETE "/v2/members/$MEMBER"
    assert_success
    as_session POST /v2/token -d '{}' # the same confirmation
    assert_success
    TOKEN=$(gojq -r .data.token "$body")
    keep_secret token "$TOKEN"
}

# --- the trail ---

@test "each change names the member in the trail, also an acceptance" {
    local owner
    owner=$(member_id "$EMAIL")
    invite "$BEN_EMAIL" agent
    join "$LINK"
    MEMBER=$(member_id "$BEN_EMAIL")
    SESSION=$OWNER as_session PATCH "/v2/members/$MEMBER" -d '{"role":"viewer"}'
    SESSION=$OWNER as_session DELETE "/v2/members/$MEMBER"
    assert_equal "$(db "SELECT actor, actor_name, action FROM trail
            WHERE actor IN ('$owner', '$MEMBER') AND request_id <> ''
            ORDER BY id DESC LIMIT 4" | sort)" \
        "$(printf '%s\n' "$MEMBER|Ben|session.join" "$owner|$EMAIL|invitation.create" \
            "$owner|$EMAIL|member.remove" "$owner|$EMAIL|member.update" | sort)"
}

# --- after the commit ---

# Sends requests of the session until the file `stop` is there; each prints the time when it began
# and its status.
hammer() { # SESSION
    local began
    while [[ ! -e $BATS_TEST_TMPDIR/stop ]]; do
        began=$(date +%s%N)
        request POST /v2/webhooks/generate-code -d '{}' --session "$1"
        printf '%s %s\n' "$began" "$status"
    done
}

# Whether four of the requests that have ended began after that time.
four_began_after() {
    (($(cat "$BATS_TEST_TMPDIR"/seen.* | awk -v ended="$1" '$1 > ended' | wc -l) >= 4))
}

# Changes the member while four processes send requests of it; each request that begins after the
# command has ended has the status: ends_at_once STATUS COMMAND...
ends_at_once() {
    local job jobs=() ended change=("${@:2}")
    for job in 1 2 3 4; do
        (
            answer_dir=$BATS_TEST_TMPDIR/job.$job
            mkdir "$answer_dir"
            hammer "$SESSION" >"$BATS_TEST_TMPDIR/seen.$job"
        ) 3>&- &
        jobs+=($!)
    done
    eventually grep -q ' 200' "$BATS_TEST_TMPDIR/seen.1"
    "${change[@]}" >/dev/null
    ended=$(date +%s%N)
    eventually four_began_after "$ended"
    touch "$BATS_TEST_TMPDIR/stop"
    wait "${jobs[@]}"
    cat "$BATS_TEST_TMPDIR"/seen.* >"$BATS_TEST_TMPDIR/seen"
    assert_equal "$(awk -v ended="$ended" -v wanted="$1" '$1 > ended && $2 != wanted' \
        "$BATS_TEST_TMPDIR/seen")" ''
}

@test "after the commit of a removal no new request passes, in several processes" {
    as_role admin
    ends_at_once 401 switchboard member remove "$EMAIL" "$BEN_EMAIL"
}

@test "after the commit of a change of role no new request passes, in several processes" {
    as_role admin
    ends_at_once 403 switchboard member role "$EMAIL" "$BEN_EMAIL" --role agent
}

# --- the command line ---

# bats test_tags=direct,long
@test "the commands add, list, change and remove members, and make and revoke invitations" {
    local id link
    id=$(switchboard member add "$EMAIL" "$BEN_EMAIL" --role agent --name Ben)
    [[ $id == mbr_* ]]
    run switchboard member add "$EMAIL" "$BEN_EMAIL" --role agent
    assert_equal "$status" 1
    run switchboard member list "$EMAIL" --json
    assert_equal "$(gojq -c '.[] | [.email, .name, .role]' <<<"$output")" \
        "$(printf '%s\n' "[\"$EMAIL\",\"$EMAIL\",\"owner\"]" "[\"$BEN_EMAIL\",\"Ben\",\"agent\"]")"
    run switchboard member role "$EMAIL" "$BEN_EMAIL" --role admin
    assert_equal "$status $output" "0 $BEN_EMAIL is admin of $EMAIL"
    run switchboard member role "$EMAIL" "$BEN_EMAIL" --role king
    assert_equal "$status" 2
    run switchboard member remove "$EMAIL" "$BEN_EMAIL"
    assert_equal "$status $output" "0 removed $BEN_EMAIL from $EMAIL"
    run switchboard member remove "$EMAIL" "$BEN_EMAIL"
    assert_equal "$status" 1
    run switchboard invitation add "$EMAIL" "$BEN_EMAIL" --role viewer
    assert_equal "$status" 2
    link=$(switchboard invitation add "$EMAIL" "$BEN_EMAIL" --role viewer --url https://x.example)
    [[ $link =~ ^https://x\.example/dashboard/#/join/[0-9a-f]{64}$ ]] || fail "$link"
    keep_secret invitation "${link##*/}"
    run switchboard invitation list "$EMAIL" --json
    assert_equal "$(gojq -c '.[] | [.email, .role, .createdBy]' <<<"$output")" \
        "[\"$BEN_EMAIL\",\"viewer\",\"switchboard invitation\"]"
    id=$(gojq -r '.[].id' <<<"$output")
    run switchboard invitation revoke "$OTHER_EMAIL" "$id"
    assert_equal "$status" 1
    run switchboard invitation revoke "$EMAIL" "$id"
    assert_equal "$status $output" "0 revoked invitation $id"
    join "${link##*/}"
    assert_error 401 UNAUTHORIZED
}
