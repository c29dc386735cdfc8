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

# bats test_tags=long
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

# bats test_tags=long
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

@test "accounts of another user are 404, its contacts are not found, and bad cursors are 400" {
    local cursor place
    make_user OTHER_
    make_user
    known Ann Bob
    api GET '/v2/contacts?limit=1'
    cursor=$(value .data.paging.cursors.after)
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
}

# Prints a change of number, at the time of the messages: number_change WAMID [MEMBERS]
number_change() {
    system "$1" "$P1" "\"wa_id\":\"$P2\",${2-\"user_id\":\"$B2\",\"previous_user_id\":\"$B1\",}\"type\":\"user_changed_number\""
}

# Ann ($P1/$B1) and Bob ($P2/$B2) write, then the platform reports that Ann became Bob. Sets ann and bob
# to the ids of their contacts, before and was to their messages.
merge_wrongly() {
    make_user
    take "$(payload "$(inbound wamid.a1 $P1 $B1)" "$(inbound wamid.b1 $P2 $B2)" "$(inbound wamid.a2 $P1 $B1)")"
    ann=$(contact_of $P1) bob=$(contact_of $P2)
    before=$(messages "$ann") was=$(messages "$bob")
    switchboard contact block "$LINE" $B2 >/dev/null
    take "$(payload "$(number_change wamid.s1)")"
    assert_only_contact $P2/$B2
}

# Fails with one line on standard error: split_fails TEXT ARGUMENT...
split_fails() {
    local status=0 text=$1
    shift
    switchboard contact split "$@" >/dev/null 2>"$BATS_TEST_TMPDIR/error" || status=$?
    assert_equal "$status:$(cat "$BATS_TEST_TMPDIR/error")" "1:switchboard: $text"
}

# bats test_tags=direct
@test "contact split undoes a wrong merge: each message, thread, block and id goes to its person" {
    local ann bob before was change other
    merge_wrongly
    assert_equal "$(switchboard contact split "$contact" | tr -s ' ')" "PHONE USER ID FIRST SHOWN LAST SHOWN CHANGED FROM
$P1 $B1 2026-05-28T20:26:40.000Z 2026-05-28T20:26:40.000Z -
$P2 $B2 2026-05-28T20:26:40.000Z 2026-05-28T20:26:40.000Z $P1 $B1"
    assert_equal "$(switchboard contact split "$contact" --json | gojq -c '.[1].changesFrom')" \
        "[{\"at\":\"2026-05-28T20:26:40.000Z\",\"phone\":\"$P1\",\"refused\":false,\"userId\":\"$B1\"}]"
    assert_only_contact $P2/$B2
    api GET /v2/changes?after=0
    change=$(value .data.change)
    assert_equal "$(switchboard contact split "$contact" +$P2)" "$P2 is now of contact $bob, without the others"
    assert_contacts none/$B1 $P2/$B2
    assert_equal "$(messages "$ann")" "$before"
    assert_equal "$(messages "$bob")" "$was"
    api GET "/v2/changes?after=$change"
    assert_json '[.data.threads[].contact.id] | sort' "$(jq -cn '$ARGS.positional | sort' --args "$ann" "$bob")"
    for other in "$ann" "$bob"; do
        api GET "/v2/contacts/$other"
        assert_success
        assert_json .data.id "\"$other\""
    done
    assert_json '.data.blocks | length' 1
    api GET "/v2/contacts/$ann"
    assert_json .data.blocks '[]'
    [[ $(switchboard contact split "$bob" | tr -s ' ') == *"$P1 $B1 (refused)" ]]
}

# bats test_tags=direct,long
@test "after contact split no repetition joins the contacts again, and a second split changes nothing" {
    local ann bob before was state
    merge_wrongly
    switchboard contact split "$contact" $B2 >/dev/null
    # the same report, its oldest form under another id, and messages of both
    take "$(payload "$(number_change wamid.s1)" "$(number_change wamid.s2 '')" "$(inbound wamid.a1 $P1 $B1)")"
    assert_contacts none/$B1 $P2/$B2
    take "$(payload "$(inbound wamid.b2 '' $B2)" "$(inbound wamid.b3 $P2 '')" \
        "$(inbound wamid.a3 $P1 $B1 | sed 's/"1780000000"/"1780000200"/')")"
    assert_contacts $P1/$B1 $P2/$B2
    assert_equal "$(messages "$ann" | gojq -r '.[].wamid' | sort | xargs)" 'wamid.a1 wamid.a2 wamid.a3'
    assert_equal "$(messages "$bob" | gojq -r '.[].wamid' | sort | xargs)" 'wamid.b1 wamid.b2 wamid.b3'
    state=$(messages "$ann"; messages "$bob"; contacts)
    assert_equal "$(switchboard contact split "$contact" $B2)" "$B2 was split before: it is of contact $bob"
    assert_equal "$(switchboard contact split "$bob" $B2 --json | gojq .refusedChanges)" 0
    assert_equal "$(messages "$ann"; messages "$bob"; contacts)" "$state"
    # a later report is another change
    take "$(payload "$(number_change wamid.s3 | sed 's/"1780000000"/"1780000300"/')")"
    assert_only_contact $P2/$B2
}

# bats test_tags=direct
@test "contact split takes what followed from the identity with it, and the first identity alone" {
    local ann bob before was
    merge_wrongly
    take "$(payload "$(change messages "\"messages\":[{\"id\":\"wamid.s4\",\"timestamp\":\"1780000100\",\"type\":\"system\",\"system\":{\"user_id\":\"$B3\",\"previous_user_id\":\"$B2\",\"type\":\"user_changed_user_id\"}}]")" \
        "$(inbound wamid.b4 $P2 $B3 | sed 's/"1780000000"/"1780000200"/')")"
    assert_only_contact $P2/$B3
    switchboard contact split "$contact" $B1 >/dev/null
    assert_contacts none/$B1 $P2/$B3
    assert_equal "$(messages "$ann")" "$before"
    assert_equal "$(messages "$bob" | gojq -r '.[].wamid' | xargs)" 'wamid.b1 wamid.b4'
}

# bats test_tags=direct
@test "both contacts of a split are on hold if the contact was" {
    local ann bob before was
    merge_wrongly
    switchboard contact hold "$contact" >/dev/null
    switchboard contact split "$contact" $B2 >/dev/null
    assert_contacts none/$B1 $P2/$B2
    run switchboard contact erase "$ann"
    assert_equal "$status" 1
    [[ $output == *'is on hold'* ]]
    run switchboard contact erase "$bob"
    assert_equal "$status" 1
    [[ $output == *'is on hold'* ]]
    # it stays with each until it is released there
    switchboard contact release "$bob" >/dev/null
    run switchboard contact erase "$ann"
    assert_equal "$status" 1
}

# bats test_tags=direct
@test "no contact of a split is on hold if the contact was not" {
    local ann bob before was
    merge_wrongly
    switchboard contact split "$contact" $B2 >/dev/null
    assert_equal "$(db "SELECT count(*) FROM contact WHERE account_id = '$ACCOUNT' AND held_at IS NOT NULL")" 0
}

# bats test_tags=direct
@test "contact split says why it cannot split" {
    local ann bob before was state
    merge_wrongly
    state=$(messages; contacts)
    split_fails "there is no contact con_none; \`switchboard contact list\` shows all" con_none $B1
    split_fails "$B3 is no identity of contact $contact" "$contact" $B3
    assert_equal "$(messages; contacts)" "$state"
    take "$(payload "$(inbound wamid.c1 $P3 '')")"
    split_fails "$P3 is the only identity of contact $(contact_of $P3)" "$(contact_of $P3)" $P3
    # two numbers with one user id: the later one is the contact's
    take "$(payload "$(inbound wamid.c2 $P3 $B3)" "$(inbound wamid.c3 16505550009 $B3)")"
    bob=$(db "SELECT id FROM contact WHERE bsuid = '$B3' AND account_id = '$ACCOUNT'")
    state=$(contacts)
    split_fails "16505550009 cannot be split from contact $bob: no reported change joins it, the platform showed it together with the others" \
        "$bob" 16505550009
    assert_equal "$(contacts)" "$state"
}
