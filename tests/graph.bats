#!/usr/bin/env bats
# The routes in the platform's form (cgi-bin/graph): what the platform gets of a request, and what a
# client gets of its answer.
load helpers/all
load helpers/graph

setup_file() {
    start_stack
    make_user
    make_second_account
    make_user OTHER_
}

# --- paths ---

# bats test_tags=route
@test "a path may have a version from 13.0 on, or none, /graph before it and slashes at its end" {
    local path
    for path in "/v13.0/$LINE" "/v21.0/$LINE/" "/v26.0/$LINE//" "/v99.9/$LINE" "/$LINE" "/$LINE/" \
        "/graph/v21.0/$LINE" "/graph/$LINE/"; do
        printf 'case: %s\n' "$path"
        graph GET "$path"
        assert_status 200
        assert_text .id "$LINE"
        assert_equal "$(sandbox GET requests/last | gojq -r .path)" "/v26.0/$LINE"
    done
    for path in "/v12.0/$LINE" "/v3/$LINE" "/v21/$LINE" "/graph/v12.9/$LINE"; do
        printf 'case: %s\n' "$path"
        forget_sent
        graph GET "$path"
        [[ $status == 4* ]] || fail_answer 'expected a refusal'
        assert_nothing_sent
    done
}

# bats test_tags=route
@test "a node that is not the caller's, and an edge that is not listed, are 400 100 and not called" {
    local path
    for path in "/v21.0/$OTHER_LINE" "/v21.0/$OTHER_WABA/message_templates" "/v21.0/$LINE/feed" \
        "/v21.0/$WABA/assigned_users" "/v21.0/$LINE/phone_numbers" "/v21.0/me/accounts" \
        "/v21.0/abc" "/v21.0/$LINE/message_qrdls/A/B"; do
        for method in GET POST DELETE; do
            printf 'case: %s %s\n' "$method" "$path"
            graph "$method" "$path"
            assert_graph_error 400 100 GraphMethodException
            assert_json .error.error_subcode 33
        done
    done
    assert_nothing_sent
}

# --- tokens ---

# bats test_tags=route
@test "the token may be a header of two schemes, a parameter of the query, or a field of a form" {
    local scheme
    for scheme in Bearer bearer BEARER OAuth oauth; do
        request GET "/v21.0/$LINE" -H "Authorization: $scheme $TOKEN"
        assert_status 200
    done
    request GET "/v21.0/$LINE?access_token=$TOKEN"
    assert_status 200
    request POST "/v21.0/$LINE/settings" -d "a=1&access_token=$TOKEN&b=%32" \
        -H 'Content-Type: application/x-www-form-urlencoded'
    assert_sent 'a=1&b=%32'
    request GET "/v21.0/$LINE?access_token=$TOKEN" --as "$TOKEN"
    assert_status 200
}

# bats test_tags=route
@test "no token, a wrong one, and two that differ are 401 190" {
    forget_sent
    request GET "/v21.0/$LINE"
    assert_graph_error 401 190 OAuthException
    assert_header WWW-Authenticate
    request GET "/v21.0/$LINE" --as wrong
    assert_graph_error 401 190 OAuthException
    request GET "/v21.0/$LINE?access_token=$OTHER_TOKEN" --as "$TOKEN"
    assert_graph_error 401 190 OAuthException
    request POST "/v21.0/$LINE/settings" -d "access_token=$OTHER_TOKEN" --as "$TOKEN" \
        -H 'Content-Type: application/x-www-form-urlencoded'
    assert_graph_error 401 190 OAuthException
    request GET "/v21.0/$LINE?access_token=$TOKEN&access_token=x"
    assert_graph_error 401 190 OAuthException
    assert_nothing_sent
}
