#!/usr/bin/env bats
# The admin CLI, tools/switchboard.
# shellcheck disable=SC2016  # the program prints backquotes
# transports: direct
# starts first
load helpers/all
load helpers/command

setup_file() {
    :
}

teardown_file() {
    :
}

# Creates an installation for each test.
setup() {
    export STACK=$BATS_TEST_TMPDIR/installation
    mkdir -m 700 "$STACK" "$STACK/log"
    [[ $BATS_TEST_DESCRIPTION == init\ creates\ key* ]] || mkdir -m 700 "$STACK/data"
    export DB=$STACK/data/switchboard.db KEY=$STACK/secret.key LOG=$STACK/log/switchboard.log
    export SWITCHBOARD_CONFIG=$STACK/switchboard.conf SANDBOX=http://127.0.0.1:1
    body=$BATS_TEST_TMPDIR/stdout headers=$BATS_TEST_TMPDIR/stderr
    newest=$(newest_schema)
    [[ -z ${SERVER-} ]] || DB=$(new_database)
    write_config
    [[ $BATS_TEST_DESCRIPTION == init* ]] || switchboard init >/dev/null
}

# Prints the URL of a database that init creates, or that is prepared, in which init needs no time.
new_database() {
    local options=(TEMPLATE prepared)
    [[ $BATS_TEST_DESCRIPTION != init* ]] || options=()
    create_database "${options[@]}"
}

# Replaces the installation of this test by an empty one; the sandbox stays.
new_installation() {
    rm -f "$DB" "$KEY"
    [[ -z ${SERVER-} ]] || DB=$(new_database)
    write_config
    switchboard init >/dev/null
}

teardown() {
    [[ ! -s $STACK/sandbox.pid ]] || kill "$(cat "$STACK/sandbox.pid")" 2>/dev/null || true
}

sha256() {
    printf %s "$1" | sha256sum | cut -d ' ' -f 1
}

# Whether any file of the installation, or its database, contains the given bytes.
stored() {
    grep -rqaF -e "$1" "$STACK" || [[ $(count_in_database "$1") != 0 ]]
}

mode() {
    stat -c %a "$1"
}

# --- init ---

@test "init creates key file, spool directory and database, inaccessible to other users" {
    only_on_sqlite 'the modes of the file are part of it'
    umask 000
    done_quietly init
    assert_equal "$(cat "$body")" "key file $KEY: created
spool directory $STACK/spool: created
pending directory $STACK/pending: created
database $DB: created, schema version $newest"
    assert_equal "$(mode "$KEY") $(mode "$STACK/spool") $(mode "$STACK/pending") $(mode "$STACK/data") $(mode "$DB")" '640 770 770 700 660'
    grep -qxE '1 [0-9a-f]{64}' "$KEY"
    assert_equal "$(db 'PRAGMA journal_mode')" wal
    assert_equal "$(($(db 'PRAGMA application_id') >> 16))" $((0x5357))
    assert_equal "$(db 'PRAGMA user_version')" "$newest"
    assert_equal "$(ls "$STACK") $(ls "$STACK/data")" "data
log
pending
run
secret.key
spool
switchboard.conf switchboard.db
switchboard.db.queue"
}

@test "init a second time changes nothing" {
    done_quietly init
    done_quietly user add ann@example.org
    local key rows
    key=$(cat "$KEY") rows=$(db 'SELECT * FROM user')
    done_quietly init
    grep -qxF "database $(shown_database): up to date, schema version $newest" "$body"
    grep -qxF "key file $KEY: kept" "$body"
    assert_equal "$(cat "$KEY")" "$key"
    assert_equal "$(db 'SELECT * FROM user')" "$rows"
}

@test "init --json lists what was created" {
    done_quietly init --json
    assert_that 'keys == ["database","fromVersion","pendingCreated","pendingDir","secretKeyCreated",
        "secretKeyFile","spoolCreated",
        "spoolDir","version"] and .fromVersion == 0 and .version == '"$newest"' and .secretKeyCreated
        and .spoolCreated and .pendingCreated'
    assert_text .database "$(shown_database)"
    done_quietly init --json
    assert_that '.fromVersion == '"$newest"' and (.secretKeyCreated | not) and (.spoolCreated | not) and (.pendingCreated | not)'
}

@test "init creates the tables in an empty database file" {
    only_on_sqlite 'the database is a file'
    : >"$DB"
    done_quietly init
    assert_equal "$(db 'SELECT count(*) FROM user')" 0
}

@test "init sets a database back to write-ahead logging" {
    only_on_sqlite 'it is about the journal of SQLite'
    done_quietly init
    sqlite3 "$DB" 'PRAGMA journal_mode = DELETE' >/dev/null
    done_quietly init
    assert_equal "$(db 'PRAGMA journal_mode')" wal
}

@test "init does not change the database of another program" {
    only_on_sqlite 'it compares the bytes of the file'
    sqlite3 "$DB" 'CREATE TABLE recipe (name TEXT); INSERT INTO recipe VALUES (1)'
    cp "$DB" "$BATS_TEST_TMPDIR/before"
    fails_with 'belongs to another program' init
    cmp "$DB" "$BATS_TEST_TMPDIR/before"
    sqlite3 "$DB" 'PRAGMA application_id = 7; PRAGMA user_version = '"$newest"
    cp "$DB" "$BATS_TEST_TMPDIR/before"
    fails_with 'belongs to another program' init
    cmp "$DB" "$BATS_TEST_TMPDIR/before"
}

@test "init refuses an empty database with a schema version" {
    only_on_sqlite 'SQLite has version numbers in the header of a file'
    sqlite3 "$DB" 'PRAGMA user_version = '"$newest"
    fails_with 'belongs to another program' init
    fails_with 'belongs to another program' user list
}

@test "init refuses a newer schema version and does not change it" {
    only_on_sqlite 'it compares the bytes of the file'
    done_quietly init
    sqlite3 "$DB" 'PRAGMA user_version = 99' 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    cp "$DB" "$BATS_TEST_TMPDIR/before"
    fails_with 'schema version 99, made by a newer program' init
    cmp "$DB" "$BATS_TEST_TMPDIR/before"
    fails_with 'schema version 99, made by a newer program' user list
}

@test "init refuses a file that is not a database" {
    only_on_sqlite 'the database is a file'
    printf 'This is a letter, not a database. %.0s' {1..50} >"$DB"
    cp "$DB" "$BATS_TEST_TMPDIR/before"
    fails_with 'not a database' init
    cmp "$DB" "$BATS_TEST_TMPDIR/before"
}

@test "init reports the directory that is missing" {
    write_config "database = $STACK/nowhere/data/switchboard.db"
    fails_with "cannot create the directory of the database $STACK/nowhere/data: No such file" init
    grep -qF 'No such file or directory' "$headers"
    write_config "secret_key_file = $STACK/nowhere/key"
    fails_with "cannot create the key file $STACK/nowhere/key: No such file or directory" init
    write_config "spool_dir = $STACK/nowhere/spool"
    fails_with "cannot create the spool directory $STACK/nowhere/spool: No such file" init
}

@test "init refuses a spool directory that is a file" {
    write_config "spool_dir = $SWITCHBOARD_CONFIG"
    fails_with 'is not a directory' init
}

@test "init refuses an invalid key file and creates no database" {
    printf '1 abcd\n' >"$KEY"
    fails_with "$KEY: line 1" init
    [[ ! -e $DB ]]
    : >"$KEY"
    fails_with "$KEY holds no key" init
    [[ ! -e $DB ]]
}

@test "init by eight concurrent processes creates one key file and one database" {
    local number pids=()
    for number in {1..8}; do
        switchboard init >"$BATS_TEST_TMPDIR/init.$number" 2>&1 3>&- &
        pids+=($!)
    done
    for number in "${pids[@]}"; do
        wait "$number" || fail "one of them failed: $(cat "$BATS_TEST_TMPDIR"/init.*)"
    done
    assert_equal "$(cat "$BATS_TEST_TMPDIR"/init.* | grep -c 'secret.key: created$')" 1
    assert_equal "$(cat "$BATS_TEST_TMPDIR"/init.* | grep -c 'created, schema version '"$newest"'$')" 1
    assert_sound
    assert_equal "$(wc -l <"$KEY")" 1
}

# --- the configuration file ---

@test "the configuration file is that of --config, else of the environment" {
    only_on_sqlite 'its second installation is a file beside it'
    local other=$BATS_TEST_TMPDIR/other
    mkdir "$other"
    sed "s|$STACK|$other|" "$SWITCHBOARD_CONFIG" >"$other/conf"
    mkdir "$other/log"
    done_quietly init --config "$other/conf"
    done_quietly --config "$other/conf" user add there@example.org
    done_quietly user add here@example.org
    assert_equal "$(sqlite3 "$other/data/switchboard.db" 'SELECT email FROM user')" there@example.org
    assert_equal "$(db 'SELECT email FROM user')" here@example.org
    cli --help
    grep -qF /etc/switchboard/switchboard.conf "$body"
}

@test "an invalid configuration file is reported with its name and line" {
    fails_with "cannot read the configuration file $STACK/none: No such file" --config "$STACK/none" user list
    write_config 'colour = red'
    local last
    last=$(wc -l <"$SWITCHBOARD_CONFIG")
    fails_with "$SWITCHBOARD_CONFIG: line $last has the unknown key \`colour\`" user list
    write_config 'graph_version = 26'
    fails_with "line $last must set \`graph_version\` to a Graph API version" init
}

@test "a command without a database prints how to create one" {
    only_on_sqlite 'the database is a file'
    rm "$DB"
    fails_with "there is no database $DB: \`switchboard init\` creates it" user list
    [[ ! -e $DB ]]
}

# bats test_tags=long
@test "a database that stays locked is reported after 5 seconds" {
    hold_database
    fails_with 'lock' user add ann@example.org
    release_database
    assert_equal "$(db 'SELECT count(*) FROM user')" 0
    done_quietly user add ann@example.org
}

@test "output that cannot be written is a failure" {
    [[ -c /dev/full ]]
    status=0
    switchboard user add ann@example.org >/dev/full 2>"$headers" || status=$?
    assert_equal "$status" 1
    grep -qF 'cannot write to standard output' "$headers"
    done_quietly token regenerate ann@example.org
}

# --- usage ---

# bats test_tags=long
@test "wrong usage prints the error and the usage of the command" {
    usage_error 'no command was given'
    usage_error 'there is no command `frobnicate`' frobnicate
    usage_error '`user` needs a second word: add, delete, export, list' user
    usage_error 'there is no command `user rename`; `user` takes one of: add, delete, export, list' user rename a@b.example
    usage_error 'there is no option --colour' user list --colour red
    usage_error 'there is no option -v' user list -v
    usage_error '--ends is not an option of this command' user list --ends 2027-01-01
    usage_error '--config is given twice' user list --config a --config b
    usage_error '--config needs a value: --config FILE' user list --config
    usage_error '--name needs a value: --name NAME' account add a@b.example --name --waba-id 1
    usage_error '--json takes no value' user list --json=yes
    usage_error '--config `` must be the path of a file' user list --config=
    usage_error 'EMAIL is missing' user add
    usage_error 'NAME is missing' plan set a@b.example
    usage_error '`c@d.example` is one word too many' user add a@b.example c@d.example
    usage_error '`five` is one word too many' one two three four five
    usage_error '`2` is one word too many' init 2
    usage_error '--waba-id WABA_ID is missing' account add a@b.example --name N
    usage_error '--name NAME is missing' account add a@b.example --waba-id 1
    usage_error '--number +E164 is missing' line add acc_1 --phone-number-id 1
    usage_error '--contact ID is missing' message list
    usage_error 'FILE is missing' backup
    assert_equal "$(sed -n 2p "$headers")" 'usage: switchboard backup FILE'
}

@test "after an unknown option the usage line is still that of the command" {
    usage_error 'there is no option --first' user add a@b.example --first
    assert_equal "$(sed -n 2p "$headers")" 'usage: switchboard user add EMAIL'
}

@test "options are accepted in any position, with = or a space; after -- there are no options" {
    done_quietly --json user add --config="$SWITCHBOARD_CONFIG" -- ann@example.org
    assert_text .email ann@example.org
    done_quietly plan --ends=2099-01-01 set ann@example.org --json Premium --json
    assert_text .endsAt 2099-01-01T00:00:00.000Z
    usage_error 'EMAIL `--json`' user add -- --json
}

# bats test_tags=long
@test "--help lists every command, and each command has its own --help" {
    done_quietly --help
    local line words count=0
    while read -r line; do
        read -ra words <<<"${line%% [A-Z+[-]*}"
        grep -qF "  $line" "$body"
        switchboard "${words[@]:1}" --help >"$BATS_TEST_TMPDIR/page"
        assert_equal "$(head -n 1 "$BATS_TEST_TMPDIR/page")" "usage: $line"
        grep -qF -e '--config FILE' "$BATS_TEST_TMPDIR/page"
        ((++count))
    done < <(sed -n 's/^  \(switchboard .*\)/\1/p' "$body")
    ((count >= 17))
}

@test "--help of a noun lists its commands" {
    done_quietly account --help
    assert_equal "$(grep -c '^  switchboard account ' "$body")" 4
}

@test "--help needs no configuration and changes nothing" {
    SWITCHBOARD_CONFIG=/nowhere done_quietly user delete ann@example.org --help
    SWITCHBOARD_CONFIG=/nowhere done_quietly --version
    assert_equal "$(head -n 1 "$body")" 'switchboard 0.1.0'
    # and the libraries that are linked statically
    assert_equal "$(tail -n +2 "$body" | sed 's/ [0-9][^ ]*$//' | xargs)" \
        'with C library with SQLite with libsodium with libfcgi with utf8proc'
}

# --- users and tokens (spec 5) ---

@test "user add prints a token of 32 random bytes, whose SHA-256 alone is stored" {
    done_quietly user add ann@example.org
    local token
    token=$(cat "$body")
    [[ $token =~ ^sb_[0-9a-f]{64}$ ]]
    assert_equal "$(db 'SELECT lower(hex(hash)) FROM api_token')" "$(sha256 "$token")"
    refute stored "$token"
    refute stored "${token#sb_}"
    done_quietly user add bob@example.org
    [[ $(cat "$body") != "$token" ]]
    assert_equal "$(db "SELECT count(*) FROM user WHERE id LIKE 'usr_%' AND deleted_at IS NULL")" 2
}

@test "user add --json prints id, email and token" {
    done_quietly user add ann@example.org --json
    assert_that 'keys == ["email","id","token"] and (.token | test("^sb_[0-9a-f]{64}$"))'
    assert_text .id "$(db 'SELECT id FROM user')"
    assert_text .email ann@example.org
}

@test "a second user with the same email is refused, and the token of the first stays valid" {
    done_quietly user add ann@example.org
    local hash
    hash=$(db 'SELECT hex(hash) FROM api_token')
    fails_with 'there is a user ann@example.org already' user add ann@example.org
    assert_equal "$(db 'SELECT count(*), count(DISTINCT email) FROM user')" '1|1'
    assert_equal "$(db 'SELECT hex(hash) FROM api_token')" "$hash"
}

@test "user add accepts one email address and nothing else" {
    local bad
    for bad in '' ann ann@ @example.org ann@b@example.org 'ann @example.org' $'ann@example.org\n' \
        $'a\tb@example.org' $'ann\x7f@example.org' $'ann\xff@example.org' \
        "$(printf 'a%.0s' {1..310})@example.org"; do
        usage_error 'must be one address such as name@example.com' user add "$bad"
    done
    assert_equal "$(db 'SELECT count(*) FROM user')" 0
    done_quietly user add 'jürgen+x@exämple.org'
    list_as_json user list
    assert_text '.[0].email' 'jürgen+x@exämple.org'
}

@test "user delete revokes the token, keeps the row and frees the email" {
    make_some
    done_quietly user delete ann@example.org
    prints 'deleted user ann@example.org'
    assert_equal "$(db 'SELECT count(*) FROM api_token')" 0
    assert_equal "$(db 'SELECT count(*) FROM user WHERE deleted_at > 1700000000000')" 1
    assert_equal "$(db 'SELECT count(*) FROM account')" 1
    fails_with 'there is no user ann@example.org' user delete ann@example.org
    fails_with 'there is no user ann@example.org' token regenerate ann@example.org
    done_quietly user add ann@example.org
    assert_equal "$(db 'SELECT count(*), count(DISTINCT id), count(deleted_at) FROM user')" '2|2|1'
    done_quietly user delete ann@example.org --json
    assert_body_is '{"email":"ann@example.org","deleted":true}
'
}

@test "user delete releases accounts and lines, which another user can link; rows and history stay" {
    local id
    make_some
    done_quietly user delete ann@example.org
    assert_equal "$(db "SELECT count(*) FROM account WHERE access_token IS NULL
        AND waba_id = 'released ' || id || ' 9001'")" 1
    assert_equal "$(db "SELECT count(*) FROM line WHERE archived_at IS NOT NULL
        AND phone_number_id LIKE 'released ' || id || ' %'")" "$(db 'SELECT count(*) FROM line')"
    list_as_json account list
    assert_body_is '[]
'
    done_quietly user add bob@example.org
    id=$(switchboard account add bob@example.org --waba-id 9001 --name Bob </dev/null 2>/dev/null)
    done_quietly line add "$id" --phone-number-id 8001 --number +15550000001
    list_as_json account list
    assert_json 'map([.id, .wabaid, .email])' "[[\"$id\",\"9001\",\"bob@example.org\"]]"
}

@test "user list shows users that are not deleted, and their plans" {
    list_as_json user list
    assert_body_is '[]
'
    make_some
    done_quietly user add bob@example.org
    done_quietly user add eve@example.org
    done_quietly user delete eve@example.org
    done_quietly plan set bob@example.org Enterprise --ends 2099-12-31
    done_quietly plan set bob@example.org Archive --addon
    list_as_json user list
    assert_that 'length == 2 and all(keys == ["createdAt","defaultAccountId","email","id","plans"])'
    assert_json '[.[].email]' '["ann@example.org","bob@example.org"]'
    assert_text '.[0].defaultAccountId' "$ACCOUNT"
    assert_json '.[0].plans' '[]'
    assert_json '.[1].plans' '[{"name":"Enterprise","isAddon":false,"endsAt":"2099-12-31T00:00:00.000Z"},
        {"name":"Archive","isAddon":true,"endsAt":null}]'
    assert_json '.[1].defaultAccountId' null
    assert_that 'all(.createdAt | test("^20[0-9]{2}-[0-9-]{5}T[0-9:.]{12}Z$"))'
    done_quietly user list
    grep -qE '^usr_[^ ]+  bob@example.org  [^ ]+  Enterprise until 2099-12-31T00:00:00.000Z, \+Archive$' "$body"
    grep -qE '^ID +EMAIL +CREATED +PLANS$' "$body"
}

@test "token regenerate replaces the hash: the old token is unknown from then on" {
    done_quietly user add ann@example.org
    local old new
    old=$(cat "$body")
    done_quietly token regenerate ann@example.org
    new=$(cat "$body")
    [[ $new =~ ^sb_[0-9a-f]{64}$ && $new != "$old" ]]
    assert_equal "$(db 'SELECT lower(hex(hash)) FROM api_token')" "$(sha256 "$new")"
    done_quietly token regenerate ann@example.org --json
    assert_that 'keys == ["email","id","token"]'
    assert_equal "$(db 'SELECT lower(hex(hash)) FROM api_token')" "$(sha256 "$(jq -r .token "$body")")"
    fails_with 'there is no user bob@example.org' token regenerate bob@example.org
    usage_error 'EMAIL `bob`' token regenerate bob
}

# bats test_tags=long
@test "64 concurrent regenerations leave one token, which is one of those printed" {
    done_quietly user add ann@example.org
    local number
    for number in {1..64}; do
        switchboard token regenerate ann@example.org >"$BATS_TEST_TMPDIR/token.$number" 3>&- &
    done
    wait
    assert_equal "$(db 'SELECT count(*) FROM api_token')" 1
    local hash
    hash=$(db 'SELECT lower(hex(hash)) FROM api_token')
    for number in {1..64}; do
        [[ $(sha256 "$(cat "$BATS_TEST_TMPDIR/token.$number")") != "$hash" ]] || return 0
    done
    fail 'the stored hash is not of a printed token'
}

# --- plans (spec 5) ---

plans() {
    db 'SELECT name, is_addon, ends_at FROM plan ORDER BY is_addon, name'
}

@test "plan set replaces the primary plan" {
    done_quietly user add ann@example.org
    done_quietly plan set ann@example.org Premium
    prints 'plan of ann@example.org: Premium, no end'
    assert_equal "$(plans)" 'Premium|0|'
    done_quietly plan set ann@example.org Premium --ends 2099-01-02T03:04:05.678+01:00
    prints 'plan of ann@example.org: Premium, until 2099-01-02T02:04:05.678Z'
    assert_equal "$(plans)" 'Premium|0|4071002645678'
    done_quietly plan set ann@example.org Enterprise --json
    assert_body_is '{"email":"ann@example.org","name":"Enterprise","isAddon":false,"endsAt":null}
'
    assert_equal "$(plans)" 'Enterprise|0|'
}

@test "plan set --addon adds or replaces by name, beside the primary plan" {
    done_quietly user add ann@example.org
    done_quietly user add bob@example.org
    done_quietly plan set ann@example.org Premium
    done_quietly plan set ann@example.org Archive --addon --ends 2099-01-01
    done_quietly plan set ann@example.org Extra --addon
    done_quietly plan set ann@example.org Premium --addon
    done_quietly plan set ann@example.org Archive --addon
    assert_equal "$(plans)" 'Premium|0|
Archive|1|
Extra|1|
Premium|1|'
    done_quietly plan set ann@example.org Enterprise
    assert_equal "$(plans | head -n 1)" 'Enterprise|0|'
    assert_equal "$(db 'SELECT count(DISTINCT user_id) FROM plan')" 1
}

# bats test_tags=long
@test "plan set stores a name that gives no access, with a warning" {
    local name
    done_quietly user add ann@example.org
    for name in premium Basic 'Premium ' PREMIUM; do
        done_warning 'DEVELOPER_PLAN_REQUIRED' plan set ann@example.org "$name"
        assert_equal "$(plans)" "$name|0|"
    done
    done_quietly plan set ann@example.org premium --addon
    done_warning 'PLAN_EXPIRED' plan set ann@example.org Premium --ends 2001-01-01
}

@test "plan set refuses an invalid plan" {
    done_quietly user add ann@example.org
    local bad
    usage_error 'NAME `` must be 1 to 512 bytes' plan set ann@example.org ''
    usage_error 'control characters' plan set ann@example.org $'Pre\nmium'
    for bad in '' tomorrow 2027-02-30 2027-1-1 2027-01-01T25:00:00Z 2027-01-01T10:00:00 1798761600000; do
        usage_error 'must be ISO 8601' plan set ann@example.org Premium --ends="$bad"
    done
    assert_equal "$(plans)" ''
    fails_with 'there is no user bob@example.org' plan set bob@example.org Premium
}

# --- accounts (spec 2.2) ---

@test "account add encrypts the platform access token and prints the account's id" {
    done_quietly user add ann@example.org
    printf 'EAAB-secret-token\r\n' >"$BATS_TEST_TMPDIR/token"
    done_quietly account add ann@example.org --waba-id 102290129340398 --name 'Ann & Söhne' <"$BATS_TEST_TMPDIR/token"
    [[ $(cat "$body") =~ ^acc_[0-9a-z]{26}$ ]]
    assert_equal "$(db 'SELECT id, waba_id, name FROM account')" "$(cat "$body")|102290129340398|Ann & Söhne"
    # key id, 24 bytes of nonce, the token, 16 bytes of tag
    assert_equal "$(db 'SELECT length(access_token), hex(substr(access_token, 1, 1)) FROM account')" '58|01'
    refute stored EAAB-secret-token
    cli doctor
    grep -qE '^ok +platform tokens +1 of 1 open with the key file$' "$body"
}

@test "a user's first account is the default one until another is chosen" {
    done_quietly user add ann@example.org
    local one two three
    one=$(printf a | switchboard account add ann@example.org --waba-id 1 --name One)
    two=$(printf a | switchboard account add ann@example.org --waba-id 2 --name Two)
    assert_equal "$(db 'SELECT default_account_id FROM user')" "$one"
    three=$(printf a | switchboard account add ann@example.org --waba-id 3 --name Three --default)
    assert_equal "$(db 'SELECT default_account_id FROM user')" "$three"
    list_as_json account list
    assert_json '[.[].id]' "[\"$one\",\"$two\",\"$three\"]"
    assert_json '[.[].isDefault]' '[false,false,true]'
}

@test "account add without a token links the account with a warning" {
    done_quietly user add ann@example.org
    done_warning 'has no platform access token' account add ann@example.org --waba-id 1 --name One </dev/null
    printf ' \r\n\t\n' >"$BATS_TEST_TMPDIR/token"
    done_warning 'has no platform access token' account add ann@example.org --waba-id 2 --name Two <"$BATS_TEST_TMPDIR/token"
    assert_equal "$(db 'SELECT access_token IS NULL FROM account')" '1
1'
    list_as_json account list
    assert_json '[.[].hasToken]' '[false,false]'
}

@test "a platform access token is one line of printable ASCII" {
    done_quietly user add ann@example.org
    local text=$BATS_TEST_TMPDIR/token
    refused() {
        fails_with "the platform access token on standard input $1" \
            account add ann@example.org --waba-id 1 --name One <"$text"
        assert_equal "$(db 'SELECT count(*) FROM account')" 0
    }
    printf 'one\ntwo\n' >"$text"
    refused 'must be one line'
    printf 'one two' >"$text"
    refused 'must be printable ASCII'
    printf 'one\x01' >"$text"
    refused 'must be printable ASCII'
    printf 'one\0two' >"$text"
    refused 'must be printable ASCII'
    printf 'tok\xc3\xa9n' >"$text"
    refused 'must be printable ASCII'
    printf 'a%.0s' {1..4097} >"$text"
    refused 'is longer than 4096 bytes'
    head -c 1000000 /dev/zero | tr '\0' a >"$text"
    refused 'is longer than 4096 bytes'
    printf 'a%.0s' {1..4096} >"$text"
    done_quietly account add ann@example.org --waba-id 1 --name One <"$text"
    assert_equal "$(db 'SELECT length(access_token) FROM account')" $((4096 + 41))
}

@test "account add reports invalid arguments" {
    done_quietly user add ann@example.org
    local bad
    for bad in '' 12x -1 +12 '1 2' 123456789012345678901234567890123; do
        usage_error 'which is only digits' account add ann@example.org --waba-id="$bad" --name One
    done
    usage_error '--name `` must be 1 to 512 bytes' account add ann@example.org --waba-id 1 --name=
    fails_with 'there is no user bob@example.org' account add bob@example.org --waba-id 1 --name One </dev/null
    assert_equal "$(db 'SELECT count(*) FROM account')" 0
}

@test "a business account can be linked only once" {
    make_some
    done_quietly user add bob@example.org
    fails_with 'the business account 9001 is linked already' account add bob@example.org --waba-id 9001 --name Two </dev/null
    assert_equal "$(db 'SELECT count(*) FROM account')" 1
    assert_equal "$(db "SELECT default_account_id IS NULL FROM user WHERE email = 'bob@example.org'")" 1
}

@test "account add without a usable key file stores nothing" {
    done_quietly user add ann@example.org
    printf '1 nonsense\n' >"$KEY"
    printf token >"$BATS_TEST_TMPDIR/token"
    fails_with "$KEY: line 1" account add ann@example.org --waba-id 1 --name One <"$BATS_TEST_TMPDIR/token"
    rm "$KEY"
    fails_with "cannot read the key file $KEY" account add ann@example.org --waba-id 1 --name One <"$BATS_TEST_TMPDIR/token"
    assert_equal "$(db 'SELECT count(*) FROM account')" 0
}

@test "account token replaces the token, or removes it when the input is empty" {
    make_some
    local before text=$BATS_TEST_TMPDIR/token
    before=$(db 'SELECT hex(access_token) FROM account')
    printf 'platform-secret-2\n' >"$text"
    done_quietly account token "$ACCOUNT" <"$text"
    prints "account $ACCOUNT: platform access token replaced"
    [[ $(db 'SELECT hex(access_token) FROM account') != "$before" ]]
    refute stored platform-secret-2
    done_quietly account token "$ACCOUNT" --json </dev/null
    assert_body_is "{\"id\":\"$ACCOUNT\",\"hasToken\":false}
"
    assert_equal "$(db 'SELECT access_token IS NULL FROM account')" 1
    done_quietly account token "$ACCOUNT" <"$text"
    cli doctor
    grep -qE '^ok +platform tokens +1 of 1' "$body"
    printf 'one two' >"$text"
    fails_with 'must be printable ASCII' account token "$ACCOUNT" <"$text"
    fails_with 'there is no account acc_none' account token acc_none </dev/null
    usage_error 'ACCOUNT_ID is missing' account token
    usage_error 'must be an id' account token 'acc 1'
}

@test "account list shows the accounts of all users or of one" {
    make_some
    done_quietly user add bob@example.org
    local two
    two=$(printf x | switchboard account add bob@example.org --waba-id 9002 --name Two)
    list_as_json account list
    assert_that 'length == 2 and all(keys == ["createdAt","email","hasToken","id","isDefault","name","wabaid"])'
    list_as_json account list bob@example.org
    assert_json '[.[] | .id, .email, .wabaid, .name, .isDefault, .hasToken]' \
        "[\"$two\",\"bob@example.org\",\"9002\",\"Two\",true,true]"
    done_quietly user add eve@example.org
    list_as_json account list eve@example.org
    assert_body_is '[]
'
    fails_with 'there is no user zoe@example.org' account list zoe@example.org
    usage_error 'EMAIL `zoe`' account list zoe
    done_quietly account list
    assert_equal "$(sed -n 1p "$body" | tr -s ' ')" 'ID EMAIL WABA NAME DEFAULT TOKEN CREATED'
    assert_equal "$(sed -n 2p "$body" | tr -s ' ' | cut -d ' ' -f 1-6)" "$ACCOUNT ann@example.org 9001 One yes yes"
}

# --- lines (spec 2.2) ---

@test "line add stores its arguments" {
    make_some
    done_quietly line add "$ACCOUNT" --phone-number-id 8002 --number +15550000002
    assert_equal "$(db "SELECT id, phone_number, name, is_registered, is_coexisting, platform_type, archived_at
        FROM line WHERE phone_number_id = '8002'")" "$(cat "$body")|+15550000002||1|0||"
    [[ $(cat "$body") =~ ^lin_[0-9a-z]{26}$ ]]
    done_quietly line add "$ACCOUNT" --phone-number-id 8003 --number +15550000003 --name Sales \
        --coexisting --unregistered --platform-type CLOUD_API --json
    assert_that 'keys == ["accountId","id","phoneNumber","phoneNumberId"]'
    assert_equal "$(db "SELECT name, is_registered, is_coexisting, platform_type FROM line
        WHERE phone_number_id = '8003'")" 'Sales|0|1|CLOUD_API'
}

@test "a user's first line in all accounts is the primary one until another is chosen" {
    make_some
    local second
    assert_equal "$(db 'SELECT phone_number_id FROM user JOIN line ON line.id = primary_line_id')" $LINE
    second=$(printf x | switchboard account add $EMAIL --waba-id 9002 --name Two)
    done_quietly line add "$second" --phone-number-id 8002 --number +15550000002
    assert_equal "$(db 'SELECT phone_number_id FROM user JOIN line ON line.id = primary_line_id')" $LINE
    done_quietly line add "$second" --phone-number-id 8003 --number +15550000003 --primary
    assert_equal "$(db 'SELECT phone_number_id FROM user JOIN line ON line.id = primary_line_id')" 8003
}

@test "line add reports invalid arguments" {
    make_some
    local bad
    for bad in '' 15550000002 +1555-000 +1234 +123456789012345678901 '+1 555 000 0002' ++15550000002; do
        usage_error 'must be in E.164 form' line add "$ACCOUNT" --phone-number-id 8002 --number="$bad"
    done
    usage_error 'which is only digits' line add "$ACCOUNT" --phone-number-id +8002 --number +15550000002
    usage_error '--platform-type `` must be' line add "$ACCOUNT" --phone-number-id 8002 --number +15550000002 --platform-type=
    fails_with 'there is no account acc_none' line add acc_none --phone-number-id 8002 --number +15550000002
    fails_with 'the line 8001 exists already' line add "$ACCOUNT" --phone-number-id 8001 --number +15550000002
    assert_equal "$(db 'SELECT phone_number FROM line')" +15550000001
}

@test "an archived line keeps its time of archiving, and is active again when its own account adds it" {
    make_some
    local id other archived
    id=$(db 'SELECT id FROM line')
    done_quietly line archive $LINE
    prints "archived line $LINE"
    archived=$(db 'SELECT archived_at FROM line')
    ((archived > 1700000000000))
    done_quietly line archive $LINE --json
    assert_body_is '{"phoneNumberId":"8001","isArchived":true}
'
    assert_equal "$(db 'SELECT archived_at FROM line')" "$archived"
    other=$(printf x | switchboard account add $EMAIL --waba-id 9002 --name Two)
    fails_with 'the line 8001 exists already' line add "$other" --phone-number-id $LINE --number +15550000009
    done_quietly line add "$ACCOUNT" --phone-number-id $LINE --number +15550000009
    prints "$id"
    assert_equal "$(db 'SELECT id, phone_number, archived_at FROM line')" "$id|+15550000009|"
    fails_with 'there is no line 8009' line archive 8009
    usage_error 'PHONE_NUMBER_ID `x`' line archive x
}

@test "line list shows the lines of all accounts or of one, archived ones too" {
    make_some
    local second
    second=$(printf x | switchboard account add $EMAIL --waba-id 9002 --name Two)
    done_quietly line add "$second" --phone-number-id 8002 --number +15550000002 --name Sales --coexisting --unregistered --platform-type CLOUD_API
    done_quietly line archive 8002
    list_as_json line list
    assert_that 'length == 2 and all(keys == ["accountId","createdAt","id","isArchived","isCoexisting",
        "isPrimary","isRegistered","name","phoneNumber","phoneNumberId","platformType","sendRate"])'
    assert_json '[.[0] | .phoneNumberId, .isPrimary, .isArchived, .isRegistered, .isCoexisting, .name, .platformType]' \
        '["8001",true,false,true,false,null,null]'
    list_as_json line list --account "$second"
    assert_json '[.[] | .phoneNumberId, .isPrimary, .isArchived, .isRegistered, .isCoexisting, .name, .platformType]' \
        '["8002",false,true,false,true,"Sales","CLOUD_API"]'
    fails_with 'there is no account acc_none' line list --account acc_none
    done_quietly line list
    assert_equal "$(sed -n 3p "$body" | tr -s ' ')" "8002 +15550000002 Sales $second CLOUD_API - archived, unregistered, coexisting"
}

@test "line rate sets how many queued messages a line sends in a second, or the default" {
    make_some
    rate_is() {
        switchboard line list --json | gojq -e ".[0].sendRate == $1" >/dev/null
    }
    rate_is null
    done_quietly line rate $LINE 7
    prints "line $LINE sends 7 queued messages a second"
    rate_is 7
    switchboard line list | tr -s ' ' | grep -q ' 7 primary$'
    done_quietly line rate $LINE 1000 --json
    assert_body_is "{\"phoneNumberId\":\"$LINE\",\"sendRate\":1000}
"
    done_quietly line rate $LINE default
    prints "line $LINE sends the default number of queued messages a second"
    rate_is null
    fails_with 'there is no line 8009' line rate 8009 7
    local wrong
    for wrong in 0 1001 -1 x 7x; do
        usage_error 'must be default, or a number from 1 to 1000' line rate $LINE -- $wrong
    done
    assert_equal "$(db "SELECT count(*) FROM trail WHERE action = 'line.rate'")" 3
}

# --- opt-outs ---

@test "opt-out add opts a person out once, list shows the rows in pages or of one person" {
    make_some
    local long
    long=US.ENT.$(printf 'a%.0s' {1..128})
    done_quietly opt-out add "$ACCOUNT" '+49 (151) 234-567.89'
    prints '4915123456789 gets no marketing'
    db "UPDATE opt_out SET source = 'error'"
    done_quietly opt-out add "$ACCOUNT" 4915123456789
    done_quietly opt-out add "$ACCOUNT" "$long" --json
    assert_body_is "{\"accountId\":\"$ACCOUNT\",\"identity\":\"$long\",\"optedOut\":true}
"
    done_quietly opt-out add "$ACCOUNT" US.zzz1
    list_as_json opt-out list "$ACCOUNT"
    assert_json '[.[] | .identity, .source]' \
        "[\"4915123456789\",\"error\",\"$long\",\"api\",\"US.zzz1\",\"api\"]"
    assert_that 'all(keys == ["identity","since","source"])'
    list_as_json opt-out list "$ACCOUNT" --after "$long" --limit 1
    assert_json '[.[].identity]' '["US.zzz1"]'
    list_as_json opt-out list "$ACCOUNT" +4915123456789
    assert_json '[.[].identity]' '["4915123456789"]'
    list_as_json opt-out list "$ACCOUNT" 4915123456780
    assert_json . '[]'
    fails_with 'there is no account acc_none' opt-out add acc_none 4915123456789
    fails_with 'there is no account acc_none' opt-out list acc_none
    usage_error 'PHONE_OR_BSUID `Ann`' opt-out add "$ACCOUNT" Ann
    assert_equal "$(db "SELECT action || ' ' || object_id FROM trail
        WHERE action LIKE 'opt-out.%' ORDER BY id" | uniq)" "opt-out.add $ACCOUNT"
}

@test "opt-out remove ends the opt-out of a person by each identity, and fails where there is none" {
    make_some
    done_quietly opt-out add "$ACCOUNT" 4915123456789
    done_quietly opt-out add "$ACCOUNT" US.abc1
    db "INSERT INTO contact (id, account_id, phone, bsuid, created_at, updated_at)
        VALUES ('con_both', '$ACCOUNT', '4915123456789', 'US.abc1', 1, 1)"
    done_quietly opt-out remove "$ACCOUNT" US.abc1
    prints 'US.abc1 gets marketing again'
    assert_equal "$(db 'SELECT count(*) FROM opt_out')" 0
    fails_with '4915123456789 has not opted out' opt-out remove "$ACCOUNT" +4915123456789
    done_quietly opt-out add "$ACCOUNT" 4915123456789
    done_quietly opt-out remove "$ACCOUNT" 4915123456789 --json
    assert_body_is "{\"accountId\":\"$ACCOUNT\",\"identity\":\"4915123456789\",\"optedOut\":false}
"
    assert_equal "$(db "SELECT count(*) FROM trail WHERE action = 'opt-out.remove'
        AND object_id = '$ACCOUNT'")" 2
}

# --- contacts (spec 2.3, 3) ---

blocks() {
    db 'SELECT coalesce(phone, bsuid) FROM contact_block JOIN contact ON contact.id = contact_id ORDER BY 1'
}

@test "contact block creates a contact for an unknown phone in any spelling" {
    make_some
    done_quietly contact block $LINE '+49 (151) 234-567.89'
    prints "blocked 4915123456789 on line $LINE"
    done_quietly contact block $LINE 4915123456789 --json
    assert_that 'keys == ["blocked","contactId","phone","phoneNumberId","userId"] and .blocked'
    assert_text .contactId "$(db 'SELECT id FROM contact')"
    assert_equal "$(blocks)" 4915123456789
    assert_equal "$(db "SELECT account_id, bsuid IS NULL FROM contact WHERE id LIKE 'con_%'")" "$ACCOUNT|1"
}

@test "contact block uses a BSUID byte for byte" {
    make_some
    done_quietly contact block $LINE US.13491208655302741918
    done_quietly contact block $LINE US.ENT.abcDEF123
    done_quietly contact block $LINE US.ENT.abcdef123
    assert_equal "$(blocks)" 'US.13491208655302741918
US.ENT.abcDEF123
US.ENT.abcdef123'
    assert_equal "$(db 'SELECT count(phone) FROM contact')" 0
}

@test "contact block finds a known contact by phone, BSUID or another spelling" {
    make_some
    db "INSERT INTO contact (id, account_id, phone, bsuid, created_at, updated_at)
        VALUES ('con_1', '$ACCOUNT', '5215550001111', 'MX.1', 1, 1);
        INSERT INTO contact_alias (account_id, identity, contact_id, created_at)
        VALUES ('$ACCOUNT', '525550001111', 'con_1', 1)"
    local identity
    for identity in 5215550001111 MX.1 525550001111; do
        done_quietly contact block $LINE $identity
        assert_equal "$(db 'SELECT contact_id FROM contact_block')" con_1
        done_quietly contact unblock $LINE $identity --json
        assert_that '.contactId == "con_1" and (.blocked | not)'
        assert_equal "$(blocks)" ''
    done
    assert_equal "$(db 'SELECT count(*) FROM contact')" 1
}

@test "a block applies to one line" {
    make_some
    done_quietly line add "$ACCOUNT" --phone-number-id 8002 --number +15550000002
    done_quietly contact block $LINE 4915123456789
    fails_with '4915123456789 is not blocked on line 8002' contact unblock 8002 +4915123456789
    fails_with 'US.5 is not blocked on line 8001' contact unblock $LINE US.5
    done_quietly contact unblock $LINE +4915123456789
    prints "unblocked 4915123456789 on line $LINE"
    fails_with '4915123456789 is not blocked on line 8001' contact unblock $LINE +4915123456789
    assert_equal "$(db 'SELECT count(*) FROM contact')" 1
}

# bats test_tags=long
@test "contact block refuses anything but a phone or a BSUID, and unknown lines" {
    make_some
    local bad verb
    for verb in block unblock; do
        for bad in '' 1234 123456789012345678901 us.13491208655302741918 US13491208655302741918 USA.12345678 \
            US. US.ENT. US.1-2345678 'US.12345678 ' 'call 4915123456789' "US.$(printf 'a%.0s' {1..129})" +++++; do
            usage_error 'must be a phone number of 5 to 20 digits, or a business-scoped user id' contact $verb $LINE "$bad"
        done
        fails_with 'there is no line 8009' contact $verb 8009 4915123456789
        usage_error 'which is only digits' contact $verb x 4915123456789
        usage_error 'PHONE_OR_BSUID is missing' contact $verb $LINE
    done
    assert_equal "$(db 'SELECT count(*) FROM contact')" 0
}

# Two contacts, three threads, four messages.
make_conversations() {
    make_some
    switchboard line add "$ACCOUNT" --phone-number-id 8002 --number +15550000002 >/dev/null
    local second
    second=$(printf x | switchboard account add $EMAIL --waba-id 9002 --name Two)
    db "INSERT INTO contact (id, account_id, phone, bsuid, username, name, created_at, updated_at) VALUES
            ('con_1', '$ACCOUNT', '15551112222', 'US.1', 'ann', 'Ann$(printf '\033')[2J'||char(8238), 1, 1),
            ('con_2', '$second', NULL, 'US.2', NULL, NULL, 2, 2);
        INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
            SELECT 'thr_' || phone_number_id, (SELECT id FROM user), id, 'con_1', 1, 1 FROM line;
        INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status,
            status_at, timestamp, body, error, created_at)
            SELECT 'msg_' || n.n, t.user_id, t.id, t.line_id, 'wamid.' || n.n, n.way, 'api', 'text',
                n.status, 1, n.at, x'', n.error, 1
            FROM (SELECT 'b' AS n, 'out' AS way, 'failed' AS status, 1790000000002 AS at,
                      CAST('[{\"code\":131062,\"n\":9007199254740993}]' AS BLOB) AS error, '8001' AS line
                  UNION ALL SELECT 'd', 'in', 'received', 1790000000001, NULL, '8002'
                  UNION ALL SELECT 'c', 'in', 'received', 1790000000002, NULL, '8002'
                  UNION ALL SELECT 'a', 'out', 'read', 1790000000003, NULL, '8001') n
            JOIN thread t ON t.id = 'thr_' || n.line"
}

# bats test_tags=long
@test "contact list shows contacts and their threads" {
    list_as_json contact list
    assert_body_is '[]
'
    make_conversations
    list_as_json contact list
    assert_that 'length == 2 and all(has("name"))'
    assert_json '.[0] | [.id, .accountId, .phone, .userId, .username, .threads]' \
        "[\"con_1\",\"$ACCOUNT\",\"15551112222\",\"US.1\",\"ann\",
          [{\"id\":\"thr_8001\",\"phoneNumberId\":\"8001\"},{\"id\":\"thr_8002\",\"phoneNumberId\":\"8002\"}]]"
    assert_json '.[1] | [.phone, .userId, .username, .name, .threads]' '[null,"US.2",null,null,[]]'
    list_as_json contact list --account "$ACCOUNT"
    assert_json '[.[].id]' '["con_1"]'
    fails_with 'there is no account acc_none' contact list --account acc_none
    done_quietly contact list
    [[ $(sed -n 2p "$body" | tr -s ' ') == 'con_1 15551112222 US.1 ann Ann?[2J? '*'8001, 8002' ]]
}

@test "message list is ordered by time and shows the platform's error unchanged" {
    make_conversations
    list_as_json message list --contact con_1
    assert_that 'all(keys == ["direction","error","id","status","threadId","timestamp","type","wamid"])'
    assert_json '[.[].id]' '["msg_d","msg_b","msg_c","msg_a"]'
    assert_json '[.[1] | .wamid, .direction, .type, .status, .timestamp, .threadId]' \
        '["wamid.b","out","text","failed","2026-09-21T14:13:20.002Z","thr_8001"]'
    grep -qF '"error":[{"code":131062,"n":9007199254740993}]}' "$body"
    assert_json '.[0].error' null
    list_as_json message list --contact con_2
    assert_body_is '[]
'
    fails_with 'there is no contact con_none' message list --contact con_none
    done_quietly message list --contact con_1
    assert_equal "$(sed -n 2p "$body" | tr -s ' ')" '2026-09-21T14:13:20.001Z in text received thr_8002 wamid.d -'
}

@test "contact list and message list continue after the last row of the previous page" {
    make_conversations
    list_as_json contact list --limit 1
    assert_json '[.[].id]' '["con_1"]'
    list_as_json contact list --after con_1
    assert_json '[.[].id]' '["con_2"]'
    list_as_json contact list --account "$ACCOUNT" --after con_1
    assert_body_is '[]
'
    list_as_json contact list --after con_1x # deleted in the meantime
    assert_json '[.[].id]' '["con_2"]'
    list_as_json message list --contact con_1 --limit 2
    assert_json '[.[].id]' '["msg_d","msg_b"]'
    list_as_json message list --contact con_1 --limit 2 --after msg_b
    assert_json '[.[].id]' '["msg_c","msg_a"]'
    list_as_json message list --contact con_1 --after msg_a
    assert_body_is '[]
'
    done_quietly message list --contact con_1 --limit 1
    assert_equal "$(wc -l <"$body")" 2
    fails_with 'contact con_2 has no message msg_a' message list --contact con_2 --after msg_a
    local wrong
    for wrong in 0 -1 1.5 x 1000000000; do
        usage_error 'must be a number from 1 to 999999999' contact list "--limit=$wrong"
    done
}

# Creates 20,000 contacts, the first one with 20,000 messages and as many events.
make_many() {
    make_some
    db "CREATE TEMP TABLE n AS WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000) SELECT n FROM n;
        INSERT INTO contact (id, account_id, phone, created_at, updated_at)
            SELECT printf('con_%08d', n), '$ACCOUNT', printf('1555%08d', n), 1, 1 FROM n;
        INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at)
            SELECT 'thr_1', (SELECT id FROM user), id, 'con_00000001', 1, 1 FROM line;
        INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status,
            status_at, timestamp, body, created_at)
            SELECT printf('msg_%08d', n), user_id, 'thr_1', line_id, n, 'in', 'webhook', 'text',
                'received', 1, n / 2, x'', 1
            FROM n, thread;
        INSERT INTO outbox (id, user_id, sequence, type, body, state, next_attempt_at, last_error, created_at)
            SELECT printf('evt_%08d', n), u.id, n, 'ping', x'', 'pending', 1, 'HTTP 500', 1
            FROM n CROSS JOIN user u"
}

# The list commands for the rows of make_many.
long_lists=('contact list' "message list --contact con_00000001" 'event list' 'event list --failed')

# bats test_tags=long
@test "lists of 20,000 rows are one array and one table" {
    local list
    make_many
    for list in "${long_lists[@]}"; do
        # shellcheck disable=SC2086  # several arguments
        list_as_json $list
        assert_equal "$(wc -l <"$body")" 1
        assert_that 'length == 20000 and (map(.id) | . == unique) and (.[19999].id | endswith("_00020000"))'
        # shellcheck disable=SC2086
        done_quietly $list
        assert_equal "$(wc -l <"$body")" 20001
        assert_equal "$(grep -cE '^(ID|TIME) ' "$body")" 1
    done
}

# The peak memory of a command in KB: peak_of COMMAND...
peak_of() {
    "$HELPERS/peak" "$OUT/tools/switchboard" "$@"
}

# bats test_tags=long
@test "a list of 20,000 rows takes no more memory than a list of 500" {
    local list few many
    [[ $OUT != *sanitize* ]] || skip 'a sanitizer changes the memory of the program'
    make_many
    for list in "${long_lists[@]}"; do
# shellcheck disable=SC2086  # several arguments
        few=$(peak_of $list --json --limit 500)
        # shellcheck disable=SC2086
        many=$(peak_of $list --json)
        printf '%s: %s KB, %s KB\n' "$list" "$few" "$many"
        ((few > 0 && many < few + 4096)) # SQLite's page cache takes 2 MB of it
    done
}

# --- forms ---

# Creates the account of make_some on the platform.
with_platform() {
    start_sandbox
    write_config
    make_some
    sandbox POST accounts '{"wabaId":"9001","token":"platform-secret-1","phones":[]}' >/dev/null
}

# Creates COUNT flows of the account on the platform, named bulk_1, bulk_2, ...
platform_has_flows() {
    sandbox POST flows "{\"wabaId\":\"9001\",\"replace\":true,
        \"generate\":{\"count\":$1,\"prefix\":\"bulk_\"}}" >/dev/null
}

flow_rows() {
    db 'SELECT count(*) FROM flow'
}

@test "forms sync stores the flows of all pages and prints their number" {
    with_platform
    platform_has_flows 230
    done_quietly forms sync "$ACCOUNT"
    prints "account $ACCOUNT: 230 flows"
    assert_equal "$(sent_count path=9001/flows)" 3
    assert_equal "$(db "SELECT count(*), count(DISTINCT flow_id), min(status), max(account_id) FROM flow
        WHERE name LIKE 'bulk_%' AND validation = CAST('[]' AS BLOB)")" "230|230|PUBLISHED|$ACCOUNT"
    done_quietly forms sync "$ACCOUNT" --json
    assert_json . "{\"accountId\":\"$ACCOUNT\",\"flows\":230}"
    assert_equal "$(flow_rows)" 230
}

@test "forms sync follows capped pages, and halves the page size when the platform asks for less data" {
    with_platform
    platform_has_flows 120
    sandbox POST settings '{"flowPageCap":40,"flowPageCapSilent":true}' >/dev/null
    done_quietly forms sync "$ACCOUNT"
    prints "account $ACCOUNT: 120 flows"
    assert_equal "$(sent_count path=flows)" 3
    sandbox POST settings '{"flowPageCap":40,"flowPageCapSilent":false}' >/dev/null
    done_quietly forms sync "$ACCOUNT"
    prints "account $ACCOUNT: 120 flows"
    assert_equal "$(sandbox GET 'requests?last=1' | jq -r '.[0].query' | cut -d '&' -f 1)" limit=25
}

@test "forms sync updates changed rows, and keeps rows that the platform no longer lists" {
    with_platform
    sandbox POST flows '{"wabaId":"9001","items":[{"id":"1","name":"One","status":"DRAFT"},
        {"id":"2","name":"Two","status":"DRAFT"}]}' >/dev/null
    done_quietly forms sync "$ACCOUNT"
    sandbox POST flows '{"wabaId":"9001","replace":true,"items":[{"id":"2","name":"Two","status":"PUBLISHED"}]}' >/dev/null
    done_quietly forms sync "$ACCOUNT"
    prints "account $ACCOUNT: 1 flow"
    assert_equal "$(db 'SELECT flow_id, status, updated_at > created_at FROM flow ORDER BY 1')" '1|DRAFT|0
2|PUBLISHED|1'
}

@test "forms sync of an account without flows stores none" {
    with_platform
    platform_has_flows 0
    done_quietly forms sync "$ACCOUNT"
    prints "account $ACCOUNT: 0 flows"
}

@test "forms sync reports an unusable account" {
    make_some
    fails_with 'there is no account acc_nobody; `switchboard account list` shows all' forms sync acc_nobody
    mv "$KEY" "$KEY.away"
    fails_with "$KEY" forms sync "$ACCOUNT"
    printf '1 %064d\n' 7 >"$KEY"
    fails_with "cannot be decrypted with $KEY; \`switchboard account token $ACCOUNT\` replaces it" \
        forms sync "$ACCOUNT"
    mv "$KEY.away" "$KEY"
    switchboard account token "$ACCOUNT" </dev/null >/dev/null
    fails_with "has no platform access token; \`switchboard account token $ACCOUNT\` sets one" \
        forms sync "$ACCOUNT"
    usage_error 'ACCOUNT_ID is missing' forms sync
}

# bats test_tags=long
@test "forms sync prints the platform's error and stores nothing" {
    make_some
    fails_with 'the platform could not be reached: ' forms sync "$ACCOUNT"
    new_installation
    with_platform
    platform_has_flows 150
    fault '{"code":190}'
    fails_with 'the platform answered 401: ' forms sync "$ACCOUNT"
    fault '{"status":502,"kind":"html"}'
    fails_with 'the platform answered 502 without JSON' forms sync "$ACCOUNT"
    fault '{"status":200,"body":"{\"data\":7}"}'
    fails_with 'the platform answered 200: no list of flows' forms sync "$ACCOUNT"
    fault '{"times":2,"kind":"truncate","bytes":10}'
    fails_with 'the platform could not be reached: ' forms sync "$ACCOUNT"
    sandbox DELETE faults >/dev/null
    # on the second page
    fault '{"match":{"path":"after="},"status":500,"code":2}'
    fails_with 'the platform answered 500: ' forms sync "$ACCOUNT"
    fault '{"times":0,"status":500,"code":1}'
    fails_with 'reduce the amount of data' forms sync "$ACCOUNT"
    assert_equal "$(flow_rows)" 0
}

@test "forms sync stops at a list that does not end" {
    with_platform
    fault '{"times":0,"body":"{\"data\":[],\"paging\":{\"cursors\":{\"after\":\"Q\"},\"next\":\"https://x\"}}"}'
    fails_with 'does not end after 1000 pages' forms sync "$ACCOUNT"
}

# --- doctor ---

# The line of one check of doctor: doctor_line WHAT
doctor_line() {
    sed -n "s/^\(ok\|warn\|FAIL\) \+$1  \+/\1 /p" "$body"
}

# doctor reports LEVEL for check WHAT, with PART, and exits accordingly: finds LEVEL WHAT [PART [OPTION]]
finds() {
    # shellcheck disable=SC2086  # no argument or one
    cli doctor ${4-}
    local line
    line=$(doctor_line "$2")
    [[ $line == "$1 "* ]] || fail_answer "expected $1 for $2, not $line"
    [[ $line == *"${3-}"* ]] || fail_answer "expected $2 to contain: $3"
    if grep -q ^FAIL "$body"; then
        assert_equal "$status" 1
        assert_equal "$(cat "$headers")" 'switchboard: something is wrong; see the lines that begin with FAIL'
    else
        assert_equal "$status" 0
    fi
}

@test "doctor reports no problem in a correct installation" {
    only_on_sqlite 'the findings about a server are in postgresql.bats'
    make_some
    start_sandbox
    write_config
    chmod 640 "$SWITCHBOARD_CONFIG"
    db "INSERT INTO heartbeat (name, host, pid, beat_at)
        VALUES ('courier', '$(uname -n)', 2147483647, $(date +%s)000)"
    cli doctor
    assert_equal "$status" 0
    [[ ! -s $headers ]]
    assert_equal "$(grep -cE '^(ok|warn|FAIL) +[a-z]' "$body")" "$(wc -l <"$body")"
    assert_equal "$(grep -v '^ok' "$body" | grep -v -e 'disk of' -e landlock)" ''
    assert_equal "$(doctor_line upstream)" "ok ${SANDBOX#http://} accepts connections"
    assert_equal "$(doctor_line 'platform tokens')" 'ok 1 of 1 open with the key file'
    assert_equal "$(doctor_line journal)" 'ok write-ahead log'
    assert_equal "$(doctor_line integrity)" \
        'ok ok, only users, accounts and lines were read; `switchboard doctor --full` reads all'
    assert_equal "$(doctor_line references)" 'ok not checked; `switchboard doctor --full` checks them'
    [[ $(doctor_line courier) == 'ok alive '* ]]
    cli doctor --full
    assert_equal "$status" 0
    assert_equal "$(doctor_line integrity)" 'ok ok, the whole database was read'
    assert_equal "$(doctor_line references)" 'ok 0 rows refer to a missing row'
}

# bats test_tags=long
@test "doctor reports each file that lies where a program could replace it" {
    only_on_sqlite 'a database on a server has no directory'
    local key
    finds ok layout 'keys, configuration, log, counters and programs lie where no program may replace them'
    mkdir "$STACK/data/below"
    for key in log_file metrics_file requests_file; do
        write_config "$key = $STACK/data/below/file"
        finds FAIL layout "$key $STACK/data/below/file lies below the directory of the database $STACK/data, where a program that writes the database may replace every file: move it"
        write_config "$key = $STACK/spool/file"
        finds FAIL layout "$key $STACK/spool/file lies below spool_dir $STACK/spool, "
        write_config "$key = $STACK/run/file"
        finds FAIL layout "$key $STACK/run/file lies below run_dir $STACK/run, where the courier may remove every file"
    done
    write_config "metrics_file = $STACK/log/metrics"
    finds FAIL layout "metrics_file $STACK/log/metrics lies below the directory of the log $STACK/log, where the courier may replace every file"
    write_config "document_root = $STACK/data"
    finds FAIL layout "document_root $STACK/data lies below the directory of the database $STACK/data, "
    write_config "spool_dir = $STACK"
    finds FAIL layout "the configuration $SWITCHBOARD_CONFIG lies below spool_dir $STACK, "
    write_config "spool_dir = $(dirname "$root")"
    finds FAIL layout "the directory of this program $OUT/tools lies below spool_dir $(dirname "$root"), "
}

# bats test_tags=long
@test "doctor finds a key file and a configuration below the database's directory through symbolic links" {
    only_on_sqlite 'a database on a server has no directory'
    mv "$KEY" "$STACK/data/"
    ln -s data/secret.key "$KEY"
    finds FAIL layout "secret_key_file $KEY lies below the directory of the database $STACK/data, "
    mv "$STACK/data/secret.key" "$STACK/elsewhere.key"
    rm "$KEY"
    ln -s ../elsewhere.key "$STACK/data/secret.key"
    write_config "secret_key_file = $STACK/data/secret.key"
    finds FAIL layout "secret_key_file $STACK/data/secret.key lies below the directory of the database"
    write_config "secret_key_file = $STACK/elsewhere.key"
    finds ok layout 'where no program may replace them'
    ln -s data "$STACK/link"
    write_config "secret_key_file = $STACK/elsewhere.key" "database = $STACK/link/switchboard.db" \
        "log_file = $STACK/data/log" "metrics_file = $STACK/metrics" "requests_file ="
    finds FAIL layout "log_file $STACK/data/log lies below the directory of the database $STACK/link, "
    write_config "secret_key_file = $STACK/elsewhere.key"
    mv "$SWITCHBOARD_CONFIG" "$STACK/data/"
    SWITCHBOARD_CONFIG=$STACK/data/switchboard.conf
    finds FAIL layout "the configuration $STACK/data/switchboard.conf lies below the directory of the database"
}

@test "doctor shows every configuration key, whether it has its default, and no secret" {
    cli doctor
    local key count=0
    for key in database database_reader secret_key_file graph_base_url graph_version app_secret verify_token environment \
        ca_path ca_file media_hosts webhook_egress log_file spool_dir magic_file public_url \
        graph_destructive document_root; do
        assert_equal "$(grep -c "^ok  *config.$key " "$body")" 1
        ((++count))
    done
    (($(grep -c '^ok  *config\.' "$body") >= count))
    assert_equal "$(doctor_line config.graph_version)" 'ok v26.0 (default)'
    assert_equal "$(doctor_line config.environment)" 'ok test'
    assert_equal "$(doctor_line config.app_secret)" 'ok set'
    assert_equal "$(doctor_line config.ca_file)" 'ok (default)'
    refute grep -q 'test-app-secret\|test-verify-token' "$body"
    write_config 'app_secret =' 'verify_token ='
    finds warn app_secret 'unset'
    finds warn verify_token 'unset'
    assert_equal "$(doctor_line config.app_secret)" 'ok unset (default)'
}

@test "doctor --json is an array of {status, check, detail}" {
    cli doctor --json
    assert_equal "$status" 1
    assert_that 'type == "array" and all(keys == ["check","detail","status"])
        and all(.status == "ok" or .status == "warn" or .status == "fail")
        and any(.check == "upstream" and .status == "fail")
        and any(.check == "database" and .status == "ok")'
    refute grep -q 'test-app-secret' "$body"
}

@test "doctor reports an invalid configuration file" {
    cli doctor --config "$STACK/none"
    assert_equal "$status" 1
    assert_equal "$(cat "$body")" "FAIL  config  cannot read the configuration file $STACK/none: No such file or directory"
    write_config 'colour = red'
    finds FAIL config "line $(wc -l <"$SWITCHBOARD_CONFIG") has the unknown key \`colour\`"
}

@test "doctor reports files that are accessible to all users" {
    only_on_sqlite 'the database is a file'
    chmod 644 "$KEY"
    finds FAIL 'key file mode' "$KEY has mode 0644, open to all users: chmod o= $KEY"
    chmod 640 "$KEY"
    finds ok 'key file mode'
    chmod 664 "$DB"
    finds FAIL 'database mode' 'mode 0664'
    chmod 660 "$DB"
    finds ok 'database mode'
    chmod 644 "$SWITCHBOARD_CONFIG"
    finds warn 'config mode' 'all users may read it'
}

@test "doctor reports key files that are missing, invalid, or of another installation" {
    make_some
    mv "$KEY" "$STACK/secret.kept"
    finds FAIL 'key file mode' 'No such file or directory; `switchboard init` creates it'
    printf 'rubbish\n' >"$KEY"
    chmod 640 "$KEY"
    finds FAIL 'key file' 'line 1'
    printf '1 %064d\n' 7 >"$KEY"
    finds FAIL 'platform tokens' '0 of 1 open with the key file'
    cat "$STACK/secret.kept" >"$KEY"
    finds ok 'platform tokens' '1 of 1'
}

@test "doctor reports a database that is missing, of another version, or not a database" {
    only_on_sqlite 'the database is a file'
    rm "$DB"
    finds FAIL 'database mode' 'No such file or directory'
    [[ ! -e $DB ]]
    switchboard init >/dev/null
    sqlite3 "$DB" 'PRAGMA user_version = 99'
    finds FAIL database 'schema version 99, made by a newer program'
    sqlite3 "$DB" 'PRAGMA user_version = 0'
    finds FAIL database 'run `switchboard init`'
    printf 'rubbish%.0s' {1..500} >"$DB"
    finds FAIL database 'not a database'
}

@test "a database that is a URL is refused, and its password is shown nowhere" {
    only_on_sqlite 'programs for PostgreSQL take this URL'
    local name=postgresql://a.example:5432,b.example/gateway reason
    local url='postgresql://gateway:SECRET@a.example:5432,b.example/gateway?password=SECRET'
    reason='this program supports no database at postgresql://; '
    reason+='it supports the absolute path of a SQLite database. '
    reason+='For a server install the programs that `make POSTGRESQL=1` builds'
    write_config "database = $url"
    finds FAIL database "$reason"
    assert_equal "$(doctor_line config.database)" "ok $name"
    cp "$body" "$STACK/output"
    local command
    for command in init 'user list' "backup $STACK/copy" "restore $DB" 'doctor --json' \
        'key rotate'; do
        # shellcheck disable=SC2086  # words of a command
        cli $command
        assert_equal "$status" 1
        cat "$body" "$headers" >>"$STACK/output"
        [[ $command == doctor* ]] ||
            assert_equal "$(cat "$headers")" \
                "switchboard: database $name: it cannot be used: $reason"
    done
    status=0
    timeout 60 "$OUT/tools/courier" --once >>"$STACK/output" 2>&1 || status=$?
    assert_equal "$status" 1
    grep -qF "database $name: $reason" "$LOG"
    ! grep -rlF SECRET "$STACK" | grep -vxF "$SWITCHBOARD_CONFIG" || fail 'the password was printed'
    [[ ! -e $STACK/copy ]]
}

@test "doctor reports another program's database, even with our version number" {
    only_on_sqlite 'SQLite has this number in the header of a file'
    sqlite3 "$DB" 'PRAGMA application_id = 1'
    finds FAIL database 'belongs to another program'
}

@test "doctor reports damage in the database" {
    only_on_sqlite 'it damages pages of the file'
    make_some
    db "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
        INSERT INTO contact (id, account_id, phone, created_at, updated_at)
        SELECT printf('con_%08d', n), '$ACCOUNT', printf('1555%08d', n), 1, 1 FROM n;
        PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
    local pages
    pages=$(db 'PRAGMA page_count')
    dd if=/dev/urandom of="$DB" bs=4096 seek=$((pages - 20)) count=10 conv=notrunc status=none
    cli doctor --full
    assert_equal "$status" 1
    grep -qE '^FAIL +(integrity|database)  ' "$body"
}

@test "doctor reports damage to users, accounts and lines without reading the whole database" {
    only_on_sqlite 'it damages pages of the file'
    make_some
    db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    local page
    for table in user account line sqlite_autoindex_line_2; do
        cp "$DB" "$DB.whole"
        page=$(db "SELECT rootpage FROM sqlite_master WHERE name = '$table'")
        dd if=/dev/urandom of="$DB" bs=4096 seek=$((page - 1)) count=1 conv=notrunc status=none
        cli doctor
        assert_equal "$status" 1
        grep -qE '^FAIL +(integrity|database)  ' "$body"
        mv "$DB.whole" "$DB"
    done
}

@test "doctor reports rows with dangling references" {
    only_on_sqlite 'a server cannot switch references off'
    make_some
    sqlite3 "$DB" 'PRAGMA foreign_keys = OFF; DELETE FROM trail; DELETE FROM user'
    finds FAIL references '3 rows refer to a missing row' --full
}

@test "doctor reports a database without write-ahead logging, and a large write-ahead log" {
    only_on_sqlite 'it is about the journal of SQLite'
    sqlite3 "$DB" 'PRAGMA journal_mode = DELETE' >/dev/null
    finds FAIL journal 'run `switchboard init`'
    switchboard init >/dev/null
    finds ok journal
    finds ok 'write-ahead log' '0 bytes'
    truncate -s 70000000 "$DB-wal"
    finds warn 'write-ahead log' '70000000 bytes'
}

@test "doctor reports a spool directory that is missing or not a directory" {
    rmdir "$STACK/spool"
    finds FAIL spool 'No such file or directory; `switchboard init` creates it'
    : >"$STACK/spool"
    finds FAIL spool 'is not a directory'
}

# Puts a dpkg-query that prints these lines, STATUS SOURCE VERSION, into a directory:
# installed_packages DIRECTORY LINE...
installed_packages() {
    mkdir -p "$1"
    printf '%s\n' "${@:2}" | tr ' ' '\t' >"$1/packages"
    printf '#!/bin/sh\ncat "%s"\n' "$1/packages" >"$1/dpkg-query"
    chmod +x "$1/dpkg-query"
}

# bats test_tags=long
@test "--version names the libraries inside, and doctor those of which newer packages are installed" {
    local sqlite bin=$BATS_TEST_TMPDIR/bin
    sqlite=$(dpkg-query -W -f '${source:Version}' libsqlite3-dev)
    switchboard --version >"$BATS_TEST_TMPDIR/version"
    grep -qx "  with SQLite $sqlite" "$BATS_TEST_TMPDIR/version"
    grep -qx "  with C library $(dpkg-query -W -f '${source:Version}' libc6-dev)" \
        "$BATS_TEST_TMPDIR/version"
    grep -q '^  with libsodium [0-9]' "$BATS_TEST_TMPDIR/version"
    finds ok libraries 'those linked into the programs are up to date'
    installed_packages "$bin" 'installed sqlite3 99.1' "installed sqlite3 $sqlite" \
        'installed libsodium 0.1' 'config-files libfcgi 99' 'installed glibc 98.2~rc1' 'installed x'
    PATH=$bin:$PATH finds warn libraries 'build and install the programs again'
    PATH=$bin:$PATH finds warn libraries "SQLite $sqlite (installed: 99.1)"
    PATH=$bin:$PATH finds warn libraries '(installed: 98.2~rc1)'
    refute grep -q 'libsodium\|libfcgi' <(doctor_line libraries)
}

@test "doctor names the linked libraries of which no package is installed" {
    local bin=$BATS_TEST_TMPDIR/bin
    installed_packages "$bin" 'installed sqlite3 0.1' 'not-installed libsodium 99'
    PATH=$bin:$PATH finds ok libraries 'not compared, because no package of them is installed: '
    grep -q 'libsodium [0-9]' <(doctor_line libraries)
    refute grep -q 'SQLite' <(doctor_line libraries)
}

@test "doctor compares no linked library without dpkg, and on another system than that of the build" {
    local bin=$BATS_TEST_TMPDIR/bin
    mkdir "$bin"
    PATH=$bin "$OUT/tools/switchboard" doctor >"$body" || true
    [[ $(doctor_line libraries) == 'ok '*'not compared, because this machine has no dpkg: C library '* ]] ||
        fail_answer 'expected no comparison'
    printf 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\n' >"$bin/os-release"
    unshare -r -m sh -c 'mount --bind "$1" /etc/os-release && exec "$2" doctor' sh "$bin/os-release" \
        "$OUT/tools/switchboard" >"$body" || true
    [[ $(doctor_line libraries) == 'ok '*'were built on debian '*', and this is ubuntu 22.04: C library '* ]] ||
        fail_answer 'expected no comparison'
}

@test "doctor reports a platform that does not answer" {
    finds FAIL upstream '127.0.0.1:1: Connection refused'
    write_config 'graph_base_url = https://a..b'
    finds FAIL upstream 'a..b:443: '
    write_config 'graph_base_url = http://[::1]:1/x'
    finds FAIL upstream '[::1]:1: '
    write_config 'graph_base_url = HTTP://127.0.0.1:2'
    finds FAIL upstream '127.0.0.1:2: Connection refused'
}

@test "doctor reports whether a courier is running" {
    finds warn courier 'never run'
    db "INSERT INTO heartbeat (name, pid, beat_at) VALUES ('courier', 1, $(date +%s)000 - 3600000)"
    finds warn courier 'silent for 36'
    db "UPDATE heartbeat SET beat_at = $(date +%s)000"
    finds ok courier 'alive'
    db "UPDATE heartbeat SET name = 'somebody else'"
    finds warn courier 'never run'
}

@test "doctor reports the kernel's means of confinement, and the effect of missing ones" {
    finds ok seccomp 'system calls'
    local line with
    cli doctor
    with=$(doctor_line landlock)
    "$HELPERS/without_landlock" "$OUT/tools/switchboard" doctor >"$body" || true
    line=$(doctor_line landlock)
    [[ $line == 'warn not in this kernel'*'programs may read every file'* ]] || fail_answer "found $line"
    [[ $with == 'ok version '[1-9]*'confined to the files it needs'* || $with == "$line" ]] ||
        fail "found $with"
}

# --- backup ---

# bats test_tags=long
@test "backup writes a copy that can replace the database" {
    only_on_sqlite 'backup copies a file; a server has its own programs for it'
    make_conversations
    local before copy=$STACK/copy
    before=$(switchboard contact list --json; switchboard message list --contact con_1 --json; switchboard user list --json)
    umask 000
    done_quietly backup "$copy"
    prints "$copy: $(stat -c %s "$copy") bytes, checked"
    assert_equal "$(mode "$copy")" 600
    assert_equal "$(find "$STACK" -name 'copy*' | wc -l)" 1
    switchboard user add late@example.org >/dev/null
    rm -f "$DB" "$DB-wal" "$DB-shm"
    cp "$copy" "$DB"
    assert_equal "$(switchboard contact list --json; switchboard message list --contact con_1 --json; switchboard user list --json)" "$before"
    assert_equal "$(db 'PRAGMA journal_mode; PRAGMA integrity_check; PRAGMA foreign_key_check')" 'wal
ok'
    chmod 660 "$DB"
    finds ok database
    finds ok 'platform tokens' '2 of 2'
}

@test "backup --json prints database, file and size" {
    only_on_sqlite 'backup copies a file; a server has its own programs for it'
    cd "$STACK"
    done_quietly backup copy --json
    assert_that 'keys == ["bytes","database","file"] and .file == "copy"'
    assert_json .bytes "$(stat -c %s copy)"
}

@test "backup contains commits that are still in the write-ahead log" {
    only_on_sqlite 'backup copies a file; a server has its own programs for it'
    start_writer
    run_in_writer "PRAGMA wal_autocheckpoint = 0;
        INSERT INTO user (id, email, created_at) VALUES ('usr_1', 'fresh@example.org', 1);"
    [[ -s $DB-wal ]]
    done_quietly backup "$STACK/copy"
    end_writer
    assert_equal "$(sqlite3 "$STACK/copy" 'SELECT email FROM user')" fresh@example.org
}

@test "backup never overwrites" {
    only_on_sqlite 'backup copies a file; a server has its own programs for it'
    printf precious >"$STACK/copy"
    fails_with "$STACK/copy exists already; a backup never overwrites a file" backup "$STACK/copy"
    assert_equal "$(cat "$STACK/copy")" precious
    ln -s nowhere "$STACK/link"
    fails_with 'link: File exists' backup "$STACK/link"
    [[ ! -e $STACK/link ]]
    mkdir "$STACK/directory"
    fails_with 'exists already' backup "$STACK/directory"
    assert_equal "$(find "$STACK" -name '*partial*')" ''
}

@test "backup reports why it cannot write" {
    only_on_sqlite 'backup copies a file; a server has its own programs for it'
    fails_with 'No such file or directory' backup "$STACK/nowhere/copy"
    fails_with 'File name too long' backup "$STACK/$(printf 'a%.0s' {1..300})"
    fails_with 'longer than 4096 bytes' backup "$STACK/$(printf 'a/%.0s' {1..3000})"
    usage_error 'must be the path of a file' backup ''
}

@test "backup of a damaged database leaves no file" {
    only_on_sqlite 'backup copies a file; a server has its own programs for it'
    make_some
    db "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
        INSERT INTO contact (id, account_id, phone, created_at, updated_at)
        SELECT printf('con_%08d', n), '$ACCOUNT', printf('1555%08d', n), 1, 1 FROM n;
        PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
    local pages
    pages=$(db 'PRAGMA page_count')
    dd if=/dev/urandom of="$DB" bs=4096 seek=$((pages - 20)) count=10 conv=notrunc status=none
    cli backup "$STACK/copy"
    assert_equal "$status" 1
    grep -qF 'damaged' "$headers"
    assert_equal "$(find "$STACK" -name 'copy*')" ''
}

@test "two concurrent backups during writes are two complete copies" {
    only_on_sqlite 'backup copies a file; a server has its own programs for it'
    make_some
    local number
    for number in {1..20}; do
        switchboard contact block $LINE "1555000$((1000 + number))" >/dev/null 3>&- &
        ((number % 10)) || switchboard backup "$STACK/copy.$number" >/dev/null 3>&- &
    done
    wait
    for number in 10 20; do
        assert_equal "$(sqlite3 "$STACK/copy.$number" 'PRAGMA integrity_check')" ok
        assert_equal "$(sqlite3 "$STACK/copy.$number" 'SELECT (SELECT count(*) FROM contact) =
            (SELECT count(*) FROM contact_block)')" 1
    done
    assert_equal "$(blocks | wc -l)" 20
}

# --- secrets ---

# bats test_tags=long
@test "no command prints or stores a secret" {
    make_conversations
    local all=$BATS_TEST_TMPDIR/all command
    printf 'rotated-secret\n' >"$BATS_TEST_TMPDIR/token"
    switchboard account token "$ACCOUNT" <"$BATS_TEST_TMPDIR/token" >"$all" 2>&1
    for command in 'user list' 'account list' 'line list' 'contact list' 'message list --contact con_1' doctor \
        "backup $STACK/copy" init; do
        # shellcheck disable=SC2086  # several arguments
        switchboard $command >>"$all" 2>&1 || true
        rm -f "$STACK/copy"
        # shellcheck disable=SC2086
        switchboard $command --json >>"$all" 2>&1 || true
    done
    [[ $(wc -c <"$all") -gt 3000 ]]
    local secret
    for secret in platform-secret-1 rotated-secret test-app-secret test-verify-token "$(cut -d ' ' -f 2 "$KEY")"; do
        refute grep -qF -e "$secret" "$all"
    done
    rm "$SWITCHBOARD_CONFIG" "$KEY"
    refute stored platform-secret
    refute stored rotated-secret
}
