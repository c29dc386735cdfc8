#!/usr/bin/env bats
# The lists of the platform (lib/api/list.c, spec 4.4, 4.5), on both of their routes: limit, cursor
# and the links of paging. What a route lists is tested in templates.bats and forms.bats.
# shellcheck disable=SC2153  # make_user sets WABA
load helpers/all

setup() {
    forget_sent
}

# Calls a function for each route, with `path` and `given`, the parameters that it always sends.
each_list() {
    local path given kind
    for kind in templates flows; do
        path=/v2/templates given=''
        [[ $kind == templates ]] || path=/v2/forms given=limit=25
        printf 'case: %s\n' "$path"
        "$1"
    done
}

# Replaces the account's objects by COUNT generated ones, named bulk_1, bulk_2, ...: have_many COUNT
have_many() {
    sandbox POST "$kind" "{\"wabaId\":\"$WABA\",\"replace\":true,
        \"generate\":{\"count\":$1,\"prefix\":\"bulk_\"}}" >/dev/null
}

names() {
    gojq -r '.data.items[].name' "$body"
}

passes_parameters() {
    have_many 3
    api GET "$path?limit=2"
    assert_success
    assert_equal "$(names)" $'bulk_1\nbulk_2'
    assert_equal "$(query_sent)" limit=2
    api GET "$path?after=$(gojq -r .data.paging.cursors.after "$body")"
    assert_equal "$(names)" bulk_3
    platform_answers 200 '{"data":[]}'
    api GET "$path?after=a%26fields%3Did%2B%2F%3D"
    assert_success
    assert_equal "$(query_sent)" "${given:+$given&}after=a%26fields%3Did%2B%2F%3D"
    platform_answers 200 '{"data":[]}'
    api GET "$path?after=a%26fields%3Did%2B%2F%3D&limit=7&limit=8"
    assert_success
    assert_equal "$(query_sent)" 'limit=7&after=a%26fields%3Did%2B%2F%3D'
}

# bats test_tags=long
@test "limit and after are passed to the platform, percent-encoded, when set" {
    each_list passes_parameters
}

follows_cursor() {
    local after='' pages=0
    have_many 60
    : >"$BATS_TEST_TMPDIR/names"
    while ((++pages < 10)); do
        api GET "$path?limit=25$after"
        assert_success
        assert_equal "$(query_sent)" "limit=25$after"
        names >>"$BATS_TEST_TMPDIR/names"
        [[ $(gojq -r '.data.paging.next // ""' "$body") ]] || break
        after=\&after=$(gojq -r .data.paging.cursors.after "$body")
    done
    assert_equal "$pages" 3
    assert_equal "$(cat "$BATS_TEST_TMPDIR/names")" "$(printf 'bulk_%d\n' {1..60})"
}

# bats test_tags=direct
@test "following the cursor to the end returns every object once" {
    each_list follows_cursor
}

# Reads a list as clause 2.1 of the reference says: read_whole [QUERY]. Sets `pages`.
read_whole() {
    local after=''
    pages=0
    : >"$BATS_TEST_TMPDIR/names"
    while ((++pages < 10)); do
        api GET "$path?limit=2${1-}$after"
        assert_success
        names >>"$BATS_TEST_TMPDIR/names"
        [[ ${1-} || $(gojq '.data.items | length' "$body") != 0 ]] || break
        after=$(gojq -r '.data.paging.cursors.after // ""' "$body")
        [[ $after ]] || break
        after=\&after=$after
    done
}

ends_as_described() {
    local pages count
    for count in 4 5 1 0; do
        have_many "$count"
        read_whole
        assert_equal "$(grep -c . "$BATS_TEST_TMPDIR/names")" "$count"
        ((pages <= count / 2 + 2)) || fail "$count objects were $pages pages"
    done
    [[ $kind == templates ]] || return 0
    have_many 7
    read_whole '&search=bulk_6'
    assert_equal "$(cat "$BATS_TEST_TMPDIR/names")" bulk_6
    ((pages <= 5)) || fail "$pages pages"
}

# bats test_tags=direct,long
@test "a client that ends a list as the reference says reads all of it, with one empty page at most" {
    each_list ends_as_described
}

refuses_parameters() {
    local query
    for query in limit=0 limit=-1 limit=abc limit=1.5 limit=1e2 limit= limit=99999999999999999999 \
        limit=+5 limit=5%20 after=; do
        printf 'case: %s\n' "$query"
        api GET "$path?$query"
        assert_error 400 VALIDATION_ERROR "${query%%=*}"
        assert_issue "${query%%=*}"
    done
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "a limit that is not a positive integer is 400, and so is an empty limit or cursor" {
    each_list refuses_parameters
}

returns_bytes() {
    local items='{ "name" : "odd", "text":"a\u0000b \/ \ud83d\ude00 😀","big":9007199254740993,'
    items+='"again":1,"again":2,"huge":1e400,"zero":-0.0 } , 7, null'
    local paging='{ "cursors":{"before":"QQ==","after":"Q\/=="}, "next":"https:\/\/x\/y?limit=1&after=Q" }'
    platform_answers 200 "{\"data\": [$items],\"paging\": $paging}"
    api GET "$path"
    assert_success
    assert_body_is "{\"success\":true,\"data\":{\"items\":[$items],\"paging\":$paging}}"
}

@test "items and paging are returned byte for byte" {
    each_list returns_bytes
}

leaves_token_out() {
    have_many 3
    api GET "$path?limit=1"
    assert_success
    assert_that '.data.paging.next | startswith("http://") and contains("limit=1&after=QVFI")'
    assert_that '.data.paging.next | contains("access_token") | not'
    api GET "$path?limit=1&after=$(gojq -r .data.paging.cursors.after "$body")"
    assert_that '.data.paging | [.next, .previous] | all(contains("?limit=1&"))'
    if grep -q -e access_token -e "$PLATFORM_TOKEN" "$body"; then
        fail_answer 'the answer contains the token'
    fi
}

# bats test_tags=direct
@test "the links of paging are the platform's without the access_token" {
    each_list leaves_token_out
}

# The API returns the platform's LINK as EXPECTED, both as between the quotes: link_becomes LINK EXPECTED
link_becomes() {
    local before='{ "cursors" : {"after":"Q\u0041"}, "a\"b\n":1e400, "previous":' between=' , "next" : '
    printf 'case: %s\n' "$1"
    platform_answers 200 "{\"data\":[],\"paging\":$before\"$1\"$between\"$1\" }}"
    api GET "$path"
    assert_success
    assert_body_is "{\"success\":true,\"data\":{\"items\":[],\"paging\":$before\"$2\"$between\"$2\" }}}"
}

cleans_links() {
    link_becomes 'https:\/\/g\/x?access_token=EAA%2F\/1&limit=2&after=Q%3D' 'https:\/\/g\/x?limit=2&after=Q%3D'
    link_becomes 'https://g/x?limit=2&access_token=EAA&after=Q' 'https://g/x?limit=2&after=Q'
    link_becomes 'https://g/x?limit=2&access_token=EAA' 'https://g/x?limit=2'
    link_becomes 'https://g/x?access_token=EAA' 'https://g/x'
    link_becomes 'https://g/x?access_token=A&access_token=B&a=1&access_token=C' 'https://g/x?a=1'
    link_becomes 'https://g/x?a=\u00e9é&access_token=A#part' 'https://g/x?a=\u00e9é#part'
    link_becomes 'https://g/x?a=1\u0026access_token\u003dEAA\u0026b=\u00252F' 'https://g/x?a=1\u0026b=\u00252F'
    link_becomes 'https://g/x?a=1&\u0061ccess_token=EAA\u0026b=2' 'https://g/x?a=1\u0026b=2'
    link_becomes 'https://g/x\u003faccess_token=EAA\u0026b=2' 'https://g/x\u003fb=2'
    link_becomes 'https://g/x?my_access_token=1&access_tokens=2&b=access_token=3' \
        'https://g/x?my_access_token=1&access_tokens=2&b=access_token=3'
    link_becomes 'https://g/access_token=1?&&a=\"\\\ud83d\ude00&' 'https://g/access_token=1?&&a=\"\\\ud83d\ude00&'
    link_becomes '' ''
}

# bats test_tags=direct,long
@test "only the access_token is removed from a link, at any position" {
    each_list cleans_links
}

passes_paging() {
    local paging
    for paging in null '"x"' '[{"next":"?access_token=A"}]' '{"next":null,"previous":[1]}' '{}'; do
        printf 'case: %s\n' "$paging"
        platform_answers 200 "{\"data\":[],\"paging\":$paging}"
        api GET "$path"
        assert_body_is "{\"success\":true,\"data\":{\"items\":[],\"paging\":$paging}}"
    done
}

# bats test_tags=direct
@test "paging that is not an object, or whose links are not strings, is passed on unchanged" {
    each_list passes_paging
}
