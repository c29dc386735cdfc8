# shellcheck shell=bash
# The bytes of requests that are passed on to the platform: `load helpers/graph_bytes` after
# helpers/graph.

# Prints the SHA-256 of a file.
sha256_of() {
    local digest
    digest=$(sha256sum <"$1")
    printf '%s' "${digest%% *}"
}

# Expects that neither headers nor body of the answer hold a platform access token.
assert_no_platform_token() {
    local token
    for token in "${PLATFORM_TOKEN:?}" "${SECOND_PLATFORM_TOKEN:-$PLATFORM_TOKEN}"; do
        if grep -qF "$token" "$body" "$headers"; then
            fail_answer "expected no $token"
        fi
    done
}
