#!/usr/bin/env bats
# Forms that two parsers may read differently. PHP and Python read what the gateway sent to the
# platform: they must find the same names and values, and none that the gateway refuses.
# transports: fcgi
# bats file_tags=long
load helpers/all

setup_file() {
    start_stack
    make_user
    put PLATFORM_PORT "$(free_port)"
    put PHP_PORT "$(free_port)"
    put BLOCKED 15550007002
    block_contact
    write_config "graph_base_url = http://127.0.0.1:$PLATFORM_PORT" 'graph_destructive = no'
    php -n -d display_errors=0 -d max_file_uploads=200 -S "127.0.0.1:$PHP_PORT" \
        "$BATS_TEST_DIRNAME/graph_forms/read.php" >"$BATS_FILE_TMPDIR/php.log" 2>&1 3>&- &
    put PHP_PID $!
    eventually listens "$PHP_PORT"
}

teardown_file() {
    kill "$PHP_PID"
    stop_stack
}

# Makes the contact by a message to it, and blocks it on the line.
block_contact() {
    request POST "/v21.0/$LINE/messages" --as "$TOKEN" -d "{\"messaging_product\":\"whatsapp\",
        \"to\":\"$BLOCKED\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
    switchboard contact block "$LINE" "+$BLOCKED"
}

listens() { # PORT
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

check() { # KIND [ARGUMENT...]
    /usr/bin/python3 -B "$BATS_TEST_DIRNAME/graph_forms/check.py" "$1" "$PLATFORM_PORT" \
        "$PHP_PORT" "${@:2}"
}

@test "each form is refused, or PHP and Python read of it what the gateway read" {
    check table
}

@test "of random forms PHP and Python read the same, and nothing that the gateway refuses" {
    local all=${TEST_FULL:+5000}
    check random "${all:-400}" "${SEED:-1}"
}
