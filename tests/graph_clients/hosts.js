// Connects to another port of this machine for some host names, as a line of /etc/hosts and a
// server on port 443 would: node --import ./hosts.js PROGRAM. HOSTS is a list `NAME=PORT`,
// separated by spaces. The certificate is checked for the name. No other connection leaves this
// machine.
import net from "node:net";
import tls from "node:tls";

const ports = new Map((process.env.HOSTS ?? "").split(" ").filter(Boolean)
    .map((entry) => entry.split("=")));
const connectTls = tls.connect;
const connectNet = net.connect;

function isLocal(host) {
    return host === undefined || ["localhost", "127.0.0.1", "::1"].includes(host);
}

function refuse(name, port) {
    throw new Error(`a connection to ${name}:${port}, which is not in HOSTS`);
}

tls.connect = function connect(...rest) {
    const [options] = rest;
    const name = options?.hostname ?? options?.host;
    const port = ports.get(name);
    if (options?.socket) return connectTls.apply(this, rest);
    if (port === undefined) {
        if (!isLocal(name)) refuse(name, options.port);
        return connectTls.apply(this, rest);
    }
    return connectTls.call(this, {
        ...options, servername: options.servername || name, host: "127.0.0.1",
        hostname: "127.0.0.1", port: Number(port), path: undefined,
    }, ...rest.slice(1));
};

net.connect = function connect(...rest) {
    const [options] = rest;
    const name = options?.hostname ?? options?.host;
    if (typeof options !== "object" || options.path || isLocal(name)) {
        return connectNet.apply(this, rest);
    }
    if (!ports.has(name)) refuse(name, options.port);
    return connectNet.call(this, { ...options, host: "127.0.0.1", hostname: "127.0.0.1",
        port: Number(ports.get(name)) }, ...rest.slice(1));
};
