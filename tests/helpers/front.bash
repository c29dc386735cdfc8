# shellcheck shell=bash
# A TLS server in front of the gateway, with a certificate of an own authority, and programs of Node
# that use it: `load helpers/front` after helpers/all and helpers/courier. The certificate is for
# localhost, graph.facebook.com and api.example.org.

# Starts the server in front of PORT: start_front PORT. Sets and exports FRONT (its directory) and
# FRONT_URL. $FRONT/ca.pem is the authority, $FRONT/exchanges.front the record of
# tests/graph_clients/front.js.
start_front() {
    export FRONT=$STACK/front
    mkdir "$FRONT"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=Test authority' \
        -keyout "$FRONT/ca.key" -out "$FRONT/ca.pem" 2>/dev/null
    openssl req -newkey rsa:2048 -nodes -subj /CN=front -keyout "$FRONT/front.key" \
        -out "$FRONT/front.csr" 2>/dev/null
    printf 'subjectAltName=DNS:localhost,DNS:graph.facebook.com,DNS:api.example.org\n' \
        >"$FRONT/extensions"
    openssl x509 -req -days 2 -in "$FRONT/front.csr" -CA "$FRONT/ca.pem" -CAkey "$FRONT/ca.key" \
        -extfile "$FRONT/extensions" -out "$FRONT/front.pem" 2>/dev/null
    cp "$root"/tests/graph_clients/*.js "$FRONT"
    ln -s "$(realpath "$NODE_MODULES")" "$FRONT/node_modules"
    printf '{"type": "module"}\n' >"$FRONT/package.json"
    : >"$FRONT/exchanges.front"
    node "$FRONT/front.js" "$FRONT" "$1" >"$FRONT/log" 2>&1 3>&- &
    printf '%s\n' $! >"$FRONT/pid"
    eventually test -s "$FRONT/port"
    FRONT_URL=https://localhost:$(cat "$FRONT/port")
    export FRONT_URL
}

stop_front() {
    [[ ! -e ${FRONT-}/pid ]] || end_helper "$FRONT/pid"
}

# Runs a program of tests/graph_clients, which trusts the authority and reaches the platform's host
# name at the front: run_client NAME [VARIABLE=VALUE...]. Its output goes to $FRONT/NAME.out.
run_client() {
    local port
    port=$(cat "$FRONT/port")
    env NODE_EXTRA_CA_CERTS="$FRONT/ca.pem" "HOSTS=graph.facebook.com=$port api.example.org=$port" \
        NODE_OPTIONS="--import $FRONT/hosts.js" NODE_ENV=production NODE_NO_WARNINGS=1 \
        "${@:2}" node "$FRONT/$1.js" >"$FRONT/$1.out" 2>"$FRONT/$1.log"
}
