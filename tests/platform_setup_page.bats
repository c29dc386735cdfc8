#!/usr/bin/env bats
# doc/platform-setup.md: its commands run as they stand, in one shell and in order, on a new
# installation and an account of the sandbox that nothing was done for.
# transports: direct
load helpers/all
load helpers/command
load helpers/document

page=$root/doc/platform-setup.md
sections=('3. The ids, and the account at the gateway' '4. Verify the number'
    '5. Register the number' '6. The webhook: URL and fields' '7. Subscribe the app to the account'
    '8. Check everything')

# Prints the script of the whole page. Each section prints to a file of its name, except for that
# with the API token.
# shellcheck disable=SC2016  # the script expands it
script() {
    local title
    printf 'set -e\nset -o pipefail\n'
    for title in "${sections[@]}"; do
        printf 'exec >"%s"\n' "$title"
        [[ $title != 3.* ]] || printf 'exec >/dev/null\n'
        commands "$title"
    done
    printf 'echo "$ACCOUNT" >account\n'
}

setup_file() {
    start_stack
    write_config 'public_url = https://api.example.org'
    export RUN=$BATS_FILE_TMPDIR/run
    export GRAPH=$SANDBOX/v26.0 APP_ID=730000000000001 APP_SECRET=test-app-secret \
        TOKEN=page-token WABA_ID=990011 PHONE_NUMBER_ID=990022 PIN=112233
    mkdir "$RUN"
    cd "$RUN" || return
    sandbox POST accounts "{\"wabaId\":\"$WABA_ID\",\"token\":\"$TOKEN\",\"name\":\"My shop\",
        \"phones\":[{\"id\":\"$PHONE_NUMBER_ID\",\"displayNumber\":\"15550009900\"}]}" silent
    sandbox POST settings '{"webhookUrl":"https://api.example.org/platform/webhook"}' silent
    local path
    for path in "POST $PHONE_NUMBER_ID/deregister" "DELETE $WABA_ID/subscribed_apps"; do
        curl -sS -X "${path% *}" "$GRAPH/${path#* }" -H "Authorization: Bearer $TOKEN" -d '' \
            >/dev/null
    done
    script >script.src
    local status=0
    PATH=$(realpath "$OUT/tools"):$PATH bash script.src 2>errors 3>&- || status=$?
    printf '%s\n' "$status" >status
}

setup() {
    body=$BATS_TEST_TMPDIR/stdout headers=$BATS_TEST_TMPDIR/stderr
    cd "$RUN" || return
}

@test "every command of the page succeeds" {
    assert_equal "$(cat status errors)" 0
    local title
    for title in "${sections[@]:1}"; do
        [[ -s $title ]] || fail "no output of: $title"
    done
    [[ $(cat account) == acc_* ]]
    # no section with commands is left out
    assert_equal "$(printf '%s\n' "${sections[@]}")" \
        "$(awk '/^## / { title = substr($0, 4) } /^    / { print title }' "$page" | uniq)"
}

@test "the number is verified and registered, and a line" {
    assert_equal "$(cat "${sections[1]}")" '{"success":true}{"success":true}'
    assert_equal "$(sed 1d "${sections[2]}" | tr -s ' ')" \
        "added $PHONE_NUMBER_ID +15550009900 My shop not registered at the platform
registered line $PHONE_NUMBER_ID"
    list_as_json line list
    assert_json 'map([.phoneNumberId, .phoneNumber, .name, .isRegistered, .isPrimary])' \
        "[[\"$PHONE_NUMBER_ID\",\"+15550009900\",\"My shop\",true,true]]"
}

@test "the webhook of the app and its subscription are shown" {
    assert_equal "$(sed -n 1,2p "${sections[3]}")" 'https://api.example.org/platform/webhook
messages'
    assert_equal "$(cat "${sections[4]}")" "{\"success\":true}$APP_ID"
    # the fields of the page are those that the check wants
    local field
    while read -r field; do
        grep -qF "\`$field\`" "$page" || fail "the page lacks the field $field"
    done < <(sed 1d "${sections[3]}")
}

@test "the check at the end finds only that no webhook was stored yet" {
    assert_equal "$(grep -v '^ok' "${sections[5]}" | awk '{ print $1, $2, $3 }')" \
        "warn line $PHONE_NUMBER_ID"
}

@test "the table of the check has every name that the program prints, and the README leads to it" {
    local name
    list_as_json account check
    while read -r name; do
        grep -q "^| .*\`$name" "$page" || fail "the page lacks: $name"
    done < <(jq -r '.[].check' "$body" | sed 's/ [0-9]*$//' | sort -u)
    grep -q '(doc/platform-setup.md)' "$root/README.md"
    grep -q '(platform-setup.md)' "$root/doc/hosting.md" "$root/doc/install.md"
}
