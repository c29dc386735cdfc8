#!/usr/bin/env bats
# GET /v2/version (spec 4.1, 9)
# transports: direct cgi fcgi
load helpers/all
load helpers/conventions

@test "GET /v2/version is 200 with name, version and nodeEnv (spec 4.1)" {
    local version
    version=$(sed -n 's/^#define SWITCHBOARD_VERSION "\(.*\)"$/\1/p' "$root/lib/base/product.h")
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
    request GET /v2/version
    assert_success
    assert_body_is "{\"success\":true,\"data\":{\"name\":\"switchboard\",\"version\":\"$version\",\"nodeEnv\":\"test\"}}"
    assert_conventions
}

@test "nodeEnv is the configured environment, by default production (spec 9)" {
    write_config 'environment = staging "2"'
    request GET /v2/version
    assert_text .data.nodeEnv 'staging "2"'
    local rest
    rest=$(sed '/^environment/d' "$SWITCHBOARD_CONFIG")
    printf '%s\n' "$rest" >"$SWITCHBOARD_CONFIG"
    request GET /v2/version
    assert_text .data.nodeEnv production
    write_config
    request GET /v2/version
    assert_text .data.nodeEnv test
}

@test "a replaced configuration file takes effect without a restart, and no request fails" {
    sed -i 's/^environment.*/environment = another/' "$SWITCHBOARD_CONFIG"
    says_another() {
        request GET /v2/version
        [[ $status != 200 || $(jq -r .data.nodeEnv "$body") == another ]]
    }
    eventually says_another
    assert_success
    assert_text .data.nodeEnv another
    write_config
}

@test "no token is needed, and an invalid one is ignored (spec 5)" {
    request GET /v2/version --as wrong
    assert_success
}

# bats test_tags=long
@test "similar paths are 404 (spec 7)" {
    assert_no_other_paths /v2/version
}

# bats test_tags=long
@test "X-Request-Id is taken from the request when it is harmless, else generated" {
    assert_request_ids GET /v2/version
}

@test "it works without a database" {
    take_database_away
    request GET /v2/version
    bring_database_back
    assert_success
}

# bats test_tags=long
@test "the executable is not linked with SQLite, libcurl or libsodium" {
    assert_without version sqlite3_open sqlite3_open_v2 curl_easy_init sodium_init
}
