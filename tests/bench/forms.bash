# shellcheck shell=bash
# FastCGI in other forms, in turn with the default one: by the programs of STATIC_CURL=1, and with a
# new connection for each request.

# Starts an Apache with pools in $world/NAME-fcgi, and defines the contenders
# `FastCGI me, NAME` and `FastCGI send, NAME`: start_form NAME HOME OPTION...
start_form() {
    local name=$1
    (in_group "$root/tools/private-apache" start --dir "$world/$name-fcgi" --threads 256 \
        --config "$world/switchboard.conf" --home "$2" --fcgi "$pool" "${@:3}")
    local url
    url=http://127.0.0.1:$(cat "$world/$name-fcgi/port")
    contender "FastCGI me, $name" "form:$name:me" "$url/v2/me" get "$token"
    contender "FastCGI send, $name" "form:$name:messages" "$url/v2/messages/send/text" send \
        "$token" "$line"
}

# The pool's process and those of its pool: processes_of_form NAME:PROGRAM
processes_of_form() {
    below "$(cat "$world/${1%%:*}-fcgi/${1#*:}.pid")"
}

install_static() {
    mkdir -p "$bench/forms/cgi-bin" "$bench/forms/tools"
    cp "$root"/build/static/cgi-bin/* "$bench/forms/cgi-bin/" &&
        cp "$root/build/static/tools/pool" "$bench/forms/tools/" ||
        die 'the static programs are not built: make STATIC_CURL=1'
}

# Prints directives by which Apache closes each connection to a pool after its request.
renew_connections() {
    local name sockets
    mkdir -p "$world/renewed-fcgi"
    sockets=$(claim_sockets "$world/renewed-fcgi")
    for name in me messages; do
        printf '<Proxy "unix:%s/%s.sock|fcgi://%s/">\nProxySet disablereuse=on\n</Proxy>\n' \
            "$sockets" "$name" "$name"
    done
}

row_forms() {
    local connections what
    install_static
    start_form static "$bench/forms" --fcgi-max "$pool_max" --fcgi-idle 60
    renew_connections >"$world/renewed.conf"
    start_form renewed "$bench/home" --fcgi-max "$pool_max" --fcgi-idle 60 \
        --extra "$world/renewed.conf"
    for connections in "${all_connections[@]}"; do
        for what in me send; do
            row="$what, forms of FastCGI"
            in_turn "$connections" "$send_rounds" "$send_seconds" "FastCGI $what" \
                "FastCGI $what, static" "FastCGI $what, renewed"
        done
    done
    stop_forms
}

stop_forms() {
    local name
    for name in static renewed; do
        [[ ! -d $world/$name-fcgi ]] ||
            "$root/tools/private-apache" stop --dir "$world/$name-fcgi" || true
    done
}
