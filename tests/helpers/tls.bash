# shellcheck shell=bash
# A TLS server that forwards to another server: `load helpers/tls` after helpers/all and helpers/courier.

# Starts a TLS server on TLS_PORT of 127.0.0.1 that forwards connections to PORT:
# start_tls PORT [OPTIONS [NAMES [COMMAND...]]]. $STACK/tls.pem is its self-signed certificate, for
# localhost by default. OPTIONS are those of node's tls.createServer, in JSON; NAMES the certificate's
# subject alternative names; COMMAND runs openssl.
start_tls() {
    "${@:4}" openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
        -addext "subjectAltName=${3-DNS:localhost}" -keyout "$STACK/tls.key" -out "$STACK/tls.pem" 2>/dev/null
    rm -f "$STACK/tls.port"
    node -e '
        const [, directory, target, options] = process.argv;
        const fs = require("fs"), net = require("net"), tls = require("tls");
        const server = tls.createServer({
            key: fs.readFileSync(directory + "/tls.key"), cert: fs.readFileSync(directory + "/tls.pem"),
            ...JSON.parse(options),
        }, (front) => {
            const back = net.connect(Number(target), "127.0.0.1");
            front.pipe(back).pipe(front);
            for (const end of [front, back]) end.on("error", () => { front.destroy(); back.destroy(); });
        });
        server.listen(0, "127.0.0.1", () => {
            fs.writeFileSync(directory + "/tls.part", String(server.address().port));
            fs.renameSync(directory + "/tls.part", directory + "/tls.port");
        });
    ' "$STACK" "$1" "${2-"{}"}" 3>&- &
    printf '%s\n' $! >"$STACK/tls.pid"
    eventually test -s "$STACK/tls.port"
    TLS_PORT=$(cat "$STACK/tls.port")
}

stop_tls() {
    [[ ! -e $STACK/tls.pid ]] || end_helper "$STACK/tls.pid"
}

# Starts a TLS server that supports no later version than TLS 1.1, and sets OPENSSL_CONF to a file
# that lets programs that keep the environment use it: start_old_tls PORT
start_old_tls() {
    export OPENSSL_CONF=$STACK/openssl.cnf
    cat >"$OPENSSL_CONF" <<'END'
openssl_conf = all
[all]
ssl_conf = modules
[modules]
system_default = old
[old]
MinProtocol = TLSv1
CipherString = DEFAULT:@SECLEVEL=0
END
    start_tls "$1" '{"minVersion":"TLSv1","maxVersion":"TLSv1.1","ciphers":"DEFAULT:@SECLEVEL=0"}'
}
