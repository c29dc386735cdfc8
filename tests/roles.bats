#!/usr/bin/env bats
# Each route with sessions of each role, of no member, and of another workspace. The programs
# describe what there is (helpers/routes.bash): a new route is tested here without being named.
# shellcheck disable=SC2016,SC2034,SC2153,SC2154  # $ is of jq; each_route sets the variables
# bats file_tags=long
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/routes
load helpers/session
load helpers/factor
load helpers/webhook

setup_file() {
    start_stack
    make_user PERSON_
    make_user
    have_routes
}

# The scopes of each role, as doc/api/team.md has them.
scopes_of() { # ROLE
    case $1 in
    viewer) echo basic read self ;;
    agent) echo basic read self send inbox ;;
    admin) echo basic read self send inbox events manage team ;;
    owner) echo basic read self send inbox events manage team owner ;;
    esac
}

# Makes the samples of the routes, and a session of a member of the user with the role.
as_role() { # ROLE
    export BEN_EMAIL=ben@example.org
    local sql=''
    add_session_samples ''
    sql+="INSERT INTO member (id, email, name, created_at)
            VALUES ('mbr_ben', '$BEN_EMAIL', 'Ben', 1)
            ON CONFLICT (id) DO NOTHING;
        INSERT INTO membership SELECT id, 'mbr_ben', '$1', 1, 'test', NULL, 0 FROM user
            WHERE email = '$EMAIL'
            ON CONFLICT (user_id, member_id) DO UPDATE SET role = excluded.role;"
    add_session BEN_
    db_at_once "$sql"
    used=$SESSION is_changed=''
}

# The session's answer names the scopes, by which a page shows and hides.
answers_scopes() { # ROLE
    request GET /v2/session --session "$used"
    assert_equal "$(filter -r '.data.member.scopes | sort | join(" ")' "$body")" \
        "$(scopes_of "$1" | xargs -n 1 | sort | xargs)"
}

# What a refused request or a GET leaves as it was is used again for the next route.
checks_role() {
    forget_sent
    [[ -z $is_changed ]] || as_role "$role"
    send_sample --session "$used"
    case " $(scopes_of "$role") " in
    *" $scope "*)
        [[ $status != 401 ]] || fail_answer "expected that $role may"
        ! gojq -e '.details | objects | .required' "$body" >/dev/null 2>&1 ||
            fail_answer "expected that $role has the scope $scope"
        [[ $method == GET ]] || is_changed=yes
        ;;
    *)
        assert_error 403 FORBIDDEN "the scope $scope"
        assert_json .details "{\"required\":\"$scope\"}"
        assert_conventions
        assert_nothing_sent
        ;;
    esac
    tried=$((tried + 1))
}

of_sessions='(.requires | index("either")) or (.requires | index("session"))'

try_role() {
    local role=$1 tried=0 used is_changed=yes
    as_role "$role"
    answers_scopes "$role"
    is_changed=yes
    each_route checks_role "$of_sessions"
    ((tried >= 60)) || fail "only $tried routes"
}

# bats test_tags=direct
@test "a viewer passes each route of the role's scopes and is 403 at each other one" {
    try_role viewer
}

# bats test_tags=direct
@test "an agent passes each route of the role's scopes and is 403 at each other one" {
    try_role agent
}

# bats test_tags=direct
@test "an admin passes each route of the role's scopes and is 403 at each other one" {
    try_role admin
}

# bats test_tags=direct
@test "an owner passes each route" {
    try_role owner
}

# bats test_tags=direct
@test "each route is 401 for a member who was removed, and for one of another workspace" {
    local ours removed removed_id stranger tried=0
    # A session of a member who was removed; the samples of some routes end it.
    have_removed() {
        as_role admin
        removed=$SESSION removed_id=$SESSION_ID
        db "DELETE FROM membership WHERE member_id = 'mbr_ben'"
    }
    have_removed
    is_refused() {
        [[ -n $(db "SELECT 1 FROM session WHERE id = '$removed_id'") ]] || have_removed
        make_session PERSON_ # a route of each_route may have ended the one before
        stranger=$SESSION
        forget_sent
        send_sample --session "$stranger" -H "X-Switchboard-Workspace: $ours"
        assert_error 401 UNAUTHORIZED 'does not belong to this workspace'
        send_sample --session "$removed"
        assert_error 401 UNAUTHORIZED 'has ended'
        assert_nothing_sent
        tried=$((tried + 1))
    }
    ours=$(db "SELECT id FROM user WHERE email = '$EMAIL'")
    each_route is_refused "$of_sessions"
    ((tried >= 60)) || fail "only $tried routes"
}
