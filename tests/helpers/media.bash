# shellcheck shell=bash
# Helpers of the tests of /v2/media. `load helpers/media` after helpers/all.

LIMIT=104857600 # bytes of a file (spec 8)

# Starts a stack with a separate spool directory, $SPOOL, which the tests can list.
start_media_stack() {
    start_stack
    export SPOOL=$STACK/spool
    chmod 777 "$SPOOL"
    write_config "spool_dir = $SPOOL"
    make_user
}

setup_file() {
    start_media_stack
    export FIRST_ACCOUNT=$ACCOUNT FIRST_TOKEN=$PLATFORM_TOKEN FIRST_LINE=$LINE FIRST_WABA=$WABA
    make_account ''
    make_line ''
    export SECOND_ACCOUNT=$ACCOUNT SECOND_TOKEN=$PLATFORM_TOKEN SECOND_LINE=$LINE SECOND_WABA=$WABA
    make_user OTHER_
    export ACCOUNT=$FIRST_ACCOUNT LINE=$FIRST_LINE PLATFORM_TOKEN=$FIRST_TOKEN WABA=$FIRST_WABA
}

setup() {
    forget_sent
    sandbox POST settings '{"mediaUrlSeconds":300,"mediaSizeText":false}' >/dev/null
    write_config "spool_dir = $SPOOL"
}

# Ends the memory watcher and checks that the test left no file in the spool.
teardown() {
    [[ -z ${watcher-} ]] || kill "$watcher" 2>/dev/null || true
    assert_equal "$(ls -A "$SPOOL")" ''
}

# Makes a file of binary data and prints its path; COUNT is the number of random bytes: photo
# [COUNT]
photo() {
    local file=$BATS_TEST_TMPDIR/photo
    { printf '\xff\xd8\xff\xe0\0\x10JFIF\0'; head -c "${1-5000}" /dev/urandom; } >"$file"
    printf '%s' "$file"
}

# Uploads a file as the raw request body: upload_raw FILE TYPE [option of request...]
upload_raw() {
    api POST /v2/media/upload -H "Content-Type:${2:+ $2}" -H "X-Phone-Number-Id: $LINE" -d "@$1" \
        "${@:3}"
}

