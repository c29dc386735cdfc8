#!/usr/bin/env bats
# Each route and each edge of the Graph API with tokens that have its scope, that lack it, that have
# expired and that were revoked. The programs describe what there is (helpers/routes.bash): a new
# route is tested here without being named.
# shellcheck disable=SC2016,SC2034,SC2153,SC2154  # $ is of jq; each_route sets the variables
load helpers/all
load helpers/conventions
load helpers/courier
load helpers/graph
load helpers/routes
load helpers/session
load helpers/factor
load helpers/webhook

setup_file() {
    local scope others
    start_stack
    make_user PERSON_
    make_user
    have_routes
    write_config 'graph_destructive = yes'
    export SCOPES='basic read send inbox events manage'
    for scope in $SCOPES; do
        others=${SCOPES/$scope/}
        others=$(xargs <<<"$others")
        export "ONLY_$scope=$(make_key "$scope")" "WITHOUT_$scope=$(make_key "${others// /,}")"
    done
    EVERY=$(make_key "${SCOPES// /,}") EXPIRED=$(make_key "${SCOPES// /,}")
    REVOKED=$(make_key "${SCOPES// /,}")
    db "UPDATE scoped_token SET expires_at = 1 WHERE hash = $(hash_of "$EXPIRED");
        DELETE FROM scoped_token WHERE hash = $(hash_of "$REVOKED")"
    export EVERY EXPIRED REVOKED
}

make_key() { # SCOPES
    local key
    key=$(switchboard scoped-token add "$EMAIL" --name x --scope "$1")
    keep_secret 'scoped token' "$key"
    printf '%s' "$key"
}

# bats test_tags=direct,long
@test "every route is 403 for a token with all other scopes, and names the one that it requires" {
    is_refused() {
        local key=WITHOUT_$scope
        forget_sent
        send_sample --as "${!key}"
        assert_error 403 FORBIDDEN "the scope $scope"
        assert_json .details "{\"required\":\"$scope\"}"
        assert_conventions
        assert_nothing_sent
    }
    each_route is_refused "$needs_caller"
}

# bats test_tags=direct,long
@test "every route lets a token with its scope alone pass, as the main token" {
    passes() {
        local key=ONLY_$scope
        for token in "${!key}" "$TOKEN"; do
            send_sample --as "$token"
            [[ $status != 401 ]] || fail_answer 'expected no 401'
            ! gojq -e '.details | objects | .required' "$body" >/dev/null 2>&1 ||
                fail_answer "expected that $scope is enough"
        done
    }
    each_route passes "$needs_caller"
}

# bats test_tags=direct,long
@test "every route is 401 for a token that has expired or was revoked" {
    is_ended() {
        forget_sent
        send_sample --as "$EXPIRED"
        assert_error 401 UNAUTHORIZED 'has expired'
        send_sample --as "$REVOKED"
        assert_error 401 UNAUTHORIZED 'Invalid API token'
        assert_nothing_sent
    }
    each_route is_ended "$needs_caller"
}

# bats test_tags=direct,long
@test "every route of a session is 401 for every token" {
    needs_session() {
        for token in "$EVERY" "$TOKEN"; do
            send_sample --as "$token"
            assert_error 401 UNAUTHORIZED 'Missing session'
        done
    }
    each_route needs_session '.requires | index("session")'
}

# --- the Graph API ---

# Sends the request of the edge with this token, which is the secret where a program logs in by it:
# as_token TOKEN
as_token() {
    local place=$path who=(--as "$1")
    [[ $edge != /oauth/access_token ]] ||
        place+="?client_id=1000000000000001&client_secret=$1" who=()
    request "$method" "$place" "${given[@]}" "${who[@]}"
}

# Calls a function for each edge that requires a caller: each_edge FUNCTION. Sets `method`, `path`
# and `scope`, and `given`, the options of a request with the smallest body.
each_edge() {
    local method edge path scope given count=0
    make_objects
    while read -r method edge scope <&4; do
        printf 'case: %s %s %s\n' "$method" "$edge" "$scope"
        path=/v21.0$(path_of "$edge") given=()
        [[ $edge != / ]] || path+="?ids=$LINE"
        [[ $method == GET ]] || given=(-d '{}')
        [[ $edge != *'?pin' ]] || given=(-d '{"pin":"123456"}')
        [[ $edge != *'?webhook_configuration' ]] || given=(-d '{"webhook_configuration":{}}')
        [[ $edge != */media ]] || given=(-d x -H 'Content-Type: multipart/form-data; boundary=x')
        "$1"
        count=$((count + 1))
    done 4< <(graph_edges | awk '$NF != "-" { print $1, $2, $NF }')
    ((count >= 45)) || fail "only $count edges"
}

# bats test_tags=direct,long
@test "every edge is 403 with code 10 for a token with all other scopes" {
    is_refused() {
        local key=WITHOUT_$scope
        forget_sent
        as_token "${!key}"
        assert_graph_error 403 10 OAuthException "the scope $scope"
        # an object is read before, to know which kind it is
        [[ $edge == */:media || $edge == */:template* || $edge == */:flow* ]] || assert_nothing_sent
        [[ $(sent_count) == 0 ]] || assert_equal "$(last_sent .method)" GET
    }
    each_edge is_refused
}

# bats test_tags=direct,long
@test "every edge lets a token with its scope alone pass" {
    passes() {
        local key=ONLY_$scope
        as_token "${!key}"
        [[ $status != 401 ]] || fail_answer 'expected no 401'
        ! grep -qF 'needs the scope' "$body" || fail_answer "expected that $scope is enough"
        make_objects
    }
    each_edge passes
}

# bats test_tags=direct,long
@test "every edge is 401 with code 190 for a token that has expired or was revoked" {
    is_ended() {
        as_token "$EXPIRED"
        assert_graph_error 401 190 OAuthException
        as_token "$REVOKED"
        assert_graph_error 401 190 OAuthException
    }
    each_edge is_ended
}

# bats test_tags=direct
@test "no field and no list of ids leads around the scope of an edge" {
    make_objects
    request GET "/$LINE?fields=id,block_users" --as "$WITHOUT_read"
    assert_graph_error 403 10 OAuthException 'the scope read'
    request GET "/$WABA?fields=subscribed_apps.limit(1)" --as "$WITHOUT_events"
    assert_graph_error 403 10 OAuthException 'the scope events'
    request GET "/v21.0/?ids=$LINE&fields=block_users" --as "$WITHOUT_read"
    assert_graph_error 403 10 OAuthException 'the scope read'
    request GET "/v21.0/?ids=$LINE,$MEDIA" --as "$WITHOUT_read"
    assert_graph_error 403 10 OAuthException 'the scope read'
    request GET "/v21.0/?ids=$LINE,$WABA" --as "$ONLY_basic"
    assert_status 200
}
