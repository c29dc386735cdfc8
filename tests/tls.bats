#!/usr/bin/env bats
# The platform over https and by host name, with confined programs: name resolution and certificate checks
# read files, start threads and load libraries, and a forbidden system call kills the process (tests/run).
load helpers/all
load helpers/courier
load helpers/tls

setup_file() {
    start_stack
    make_user
    start_tls "${SANDBOX##*:}"
    export TLS_PORT
    mkdir "$STACK/certificates" "$STACK/other"
    cp "$STACK/tls.pem" "$STACK/certificates"
    openssl rehash "$STACK/certificates"
}

teardown_file() {
    stop_tls
    stop_stack
}

# Configures the platform at BASE_URL: reach BASE_URL [LINE-OF-CONFIGURATION...]
reach() {
    write_config "graph_base_url = $1" "${@:2}"
}

send_text() {
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230001\",\"text\":\"x\"}"
}

# Every program that calls the platform reaches it.
assert_reached() {
    send_text
    assert_success
    assert_equal "$(sent_count path=/messages)" 1
    api GET /v2/templates
    assert_success
    api GET /v2/forms
    assert_success
    api POST /v2/media/upload -H 'Content-Type: text/plain' -H "X-Phone-Number-Id: $LINE" -d 'a file'
    assert_success
}

@test "the platform is reached by its host name" {
    [[ -n ${SWITCHBOARD_CONFINE_KILLS-} ]] || fail 'forbidden system calls must kill: use tests/run'
    reach "http://localhost:${SANDBOX##*:}"
    assert_reached
}

# bats test_tags=long
@test "the platform is reached over https, with a certificate that ca_file verifies" {
    reach "https://localhost:$TLS_PORT" "ca_file = $STACK/tls.pem"
    assert_reached
}

# bats test_tags=long
@test "the platform is reached over https, with a certificate that the hashed directory ca_path verifies" {
    reach "https://localhost:$TLS_PORT" "ca_path = $STACK/certificates"
    assert_reached
}

# bats test_tags=long
@test "a certificate of an unknown authority is 502, and nothing is sent" {
    reach "https://localhost:$TLS_PORT" "ca_path = $STACK/other"
    send_text
    assert_error 502 INTERNAL_ERROR
    reach "https://localhost:$TLS_PORT"
    send_text
    assert_error 502 INTERNAL_ERROR
    assert_nothing_sent
}

# bats test_tags=long
@test "a certificate for another host name is 502, and nothing is sent" {
    reach "https://127.0.0.1:$TLS_PORT" "ca_file = $STACK/tls.pem"
    send_text
    assert_error 502 INTERNAL_ERROR
    assert_nothing_sent
}

# The command line tool calls the platform here, because a CGI removes OPENSSL_CONF.
# bats test_tags=direct,long
@test "a platform that supports only TLS 1.1 is not called" {
    stop_tls
    start_old_tls "${SANDBOX##*:}"
    reach "https://localhost:$TLS_PORT" "ca_file = $STACK/tls.pem"
    curl -sf -o /dev/null --cacert "$STACK/tls.pem" "https://localhost:$TLS_PORT/_sandbox/requests"
    run switchboard forms sync "$ACCOUNT"
    assert_equal "$status" 1
    [[ $output == 'switchboard: the platform could not be reached: '* ]] || fail "$output"
    assert_nothing_sent
    stop_tls
    start_tls "${SANDBOX##*:}"
    reach "https://localhost:$TLS_PORT" "ca_file = $STACK/tls.pem"
    switchboard forms sync "$ACCOUNT"
    assert_equal "$(sent_count)" 1
}

# bats test_tags=long
@test "the confined courier delivers over https to a host name" {
    start_receiver RECEIVER
    local id
    stop_tls
    start_tls "${RECEIVER_URL##*:}"
    write_config "ca_file = $STACK/tls.pem"
    make_consumer CONSUMER
    set_webhook CONSUMER "https://localhost:$TLS_PORT/x"
    id=$(add_events CONSUMER)
    courier_once
    assert_event "$id" state 'done'
    assert_equal "$(received_count RECEIVER x)" 1
    stop_receivers
}
