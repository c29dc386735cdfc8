#!/usr/bin/env bats
# GET /v2/contacts (doc/api/contacts.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/inbox
load helpers/pages

A=15550100001

# Contacts of these names write, with the phones 15550200001 and so on: known NAME...
known() {
    local name i=0
    for name; do
        ((++i))
        writes "wamid.known$i" "1555020000$i" 1780000000 x "$name"
    done
}

# The contacts found have exactly these names, in any order: found QUERY NAME...
found() {
    api GET "/v2/contacts?q=$1"
    assert_success
    assert_json '[.data.items[].name] | sort' "$(jq -cn '$ARGS.positional | sort' --args "${@:2}")"
}

@test "GET /v2/contacts lists the contacts of all accounts, newest first within each, in pages" {
    local first
    make_user
    first=$ACCOUNT
    known Ann Bob Cid
    make_account '' && make_line ''
    writes wamid.second 15550300001 1780000000 x Dan
    api GET /v2/contacts
    assert_success
    assert_conventions
    assert_json '[.data.items[].name]' '["Cid","Bob","Ann","Dan"]'
    assert_equal "$(all_rows '/v2/contacts?limit=1' .name | xargs)" 'Cid Bob Ann Dan'
    assert_equal "$(all_rows '/v2/contacts?limit=3' .name | xargs)" 'Cid Bob Ann Dan'
    api GET "/v2/contacts?accountId=$first&limit=2"
    assert_json '[.data.items[].name]' '["Cid","Bob"]'
}

@test "q finds the beginning of any word of the name, without regard to case and accents" {
    make_user
    known 'João da Silva' 'JOANA Straße' 'Ωμέγα Đorđe' 'Nguyễn Văn A' "O'Brien-Smith" '🌸Ana🌸' 'ﬁne ＷＩＤＥ'
    found joa 'João da Silva' 'JOANA Straße'
    found JO%C3%83O 'João da Silva'
    found silva+jo 'João da Silva'
    found strasse 'JOANA Straße'
    found %CF%89%CE%BC%CE%B5 'Ωμέγα Đorđe'
    found nguyen+van 'Nguyễn Văn A'
    found smith "O'Brien-Smith"
    found ana '🌸Ana🌸'
    found fine+wide 'ﬁne ＷＩＤＥ'
    found oao
    found silva+zzz
    found '%25'
    found '_'
}

@test "q finds letters with a stroke, ligatures and other letters without a decomposition by plain letters, and plain ones by them" {
    local names=(Łukasz Søren Đorđe Đặng Kıvanç Żółć Ærø Œuvre Ħal Þór Guðrún Ŧuomas Ŋaio Əliyev ᴊᴏʜɴ Oʻktam カタカナ)
    local plain=(lukasz soren dorde dang kivanc zolc aero oeuvre hal thor gudrun tuomas naio eliyev john "o'ktam" かたかな)
    local i
    make_user
    known "${names[@]}"
    for i in "${!names[@]}"; do
        found "$(jq -rn '$ARGS.positional[0] | @uri' --args "${plain[i]}")" "${names[i]}"
    done
    make_user
    known "${plain[@]}"
    for i in "${!names[@]}"; do
        found "$(jq -rn '$ARGS.positional[0] | @uri' --args "${names[i]}")" "${plain[i]}"
    done
}

@test "q finds the number by its first digits, however it is written, and the user name" {
    make_user
    known Ann
    take "$(payload "$(inbound wamid.user 15550400001 "$B1" '"type":"text","text":{"body":"x"}' \
        "$(card 15550400001 "$B1" '"profile":{"name":"Zed","username":"red_fox.7"}')")")"
    found 1555020 Ann
    found '%2B1+(555)+020-0001' Ann
    found 5550200
    found red Zed
    found fox Zed
    found red_fox.7 Zed
}

@test "a contact is found by its present name only, and once for any number of words that match" {
    make_user
    writes wamid.n1 "$A" 1780000000 x 'Mara Maria Marta'
    writes wamid.n2 15550100002 1780000000 x 'Maren Marx'
    assert_equal "$(all_rows '/v2/contacts?q=mar&limit=1' .name | sort | xargs)" 'Mara Maria Marta Maren Marx'
    writes wamid.n3 "$A" 1780000000 x 'Nora'
    found mar 'Maren Marx'
    found nora Nora
}

@test "the pages of a search have every contact once" {
    make_user
    db "INSERT INTO contact (id, account_id, phone, name, created_at, updated_at)
            SELECT printf('con_many%03d', value), '$ACCOUNT', 15551000000 + value, 'Pat ' || value, 1, 1
            FROM generate_series(1, 450);
        INSERT INTO contact_term SELECT account_id, 'pat', id FROM contact WHERE id LIKE 'con_many%';
        INSERT INTO contact_term SELECT account_id, 'patricia', id FROM contact WHERE id LIKE 'con_many%'"
    assert_equal "$(all_rows '/v2/contacts?q=pat&limit=90' .id)" \
        "$(db "SELECT id FROM contact WHERE id LIKE 'con_many%' ORDER BY id")"
}

@test "a long name has at most 16 terms of at most 64 bytes" {
    local long
    make_user
    printf -v long '%2000s' ''
    writes wamid.long "$A" 1780000000 x "${long// /x} ${long// /y z}"
    assert_equal "$(db "SELECT count(*) <= 16, max(length(term)) FROM contact_term WHERE contact_id = '$(contact_of "$A")'")" \
        '1|64'
    api GET "/v2/contacts?q=$(printf '%.0sx' {1..100})"
    assert_that '.data.items | length == 1'
}

@test "GET /v2/contacts/:contactId has the contact's blocks and threads" {
    local contact
    make_user
    known Ann
    contact=$(contact_of 15550200001)
    switchboard contact block "$LINE" +15550200001
    api GET "/v2/contacts/$contact"
    assert_success
    assert_conventions
    assert_that ".data | .id == \"$contact\" and .accountId == \"$ACCOUNT\" and .name == \"Ann\"
        and .phone == \"15550200001\" and .userId == null and .username == null
        and (.threads | length) == 1 and .threads[0].id == \"$(thread_of 15550200001)\"
        and .threads[0].lastMessageAt == \"2026-05-28T20:26:40.000Z\" and (.blocks | length) == 1
        and .blocks[0].lineId == .threads[0].lineId"
}

@test "the id of a contact that was merged leads to the one that remained" {
    local gone kept
    make_user
    take "$(payload "$(inbound wamid.g1 "$P1" '')")"
    take "$(payload "$(change messages "\"messages\":[$(message wamid.g2 '' "$B1")]")")"
    kept=$(contact_of "$P1")
    gone=$(db "SELECT id FROM contact WHERE bsuid = '$B1' AND account_id = '$ACCOUNT'")
    take "$(payload "$(inbound wamid.g3 "$P1" "$B1")")"
    api GET "/v2/contacts/$gone"
    assert_success
    assert_json .data.id "\"$kept\""
    found ann 'Ann Example'
}

@test "contacts and accounts of another user are 404, and bad cursors 400" {
    local contact cursor place
    make_user OTHER_
    make_user
    known Ann Bob
    contact=$(contact_of 15550200001)
    api GET '/v2/contacts?limit=1'
    cursor=$(value .data.paging.cursors.after)
    request GET "/v2/contacts/$contact" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request GET "/v2/contacts?accountId=$ACCOUNT" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request GET '/v2/contacts?q=ann' --as "$OTHER_TOKEN"
    assert_json .data.items '[]'
    request GET "/v2/contacts?after=$cursor" --as "$OTHER_TOKEN"
    assert_error 400 VALIDATION_ERROR
    for place in "after=x" "after=$cursor&q=ann" "after=${cursor}A" "after=${cursor:2}"; do
        api GET "/v2/contacts?$place"
        assert_error 400 VALIDATION_ERROR
    done
    api GET /v2/contacts/con_none
    assert_error 404 NOT_FOUND
}
