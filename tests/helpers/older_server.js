// A server of an older version: passes connections on to the socket of a PostgreSQL server, and
// says 14 instead of 15 in the parameter server_version.
//
//     node older_server.js SOCKET PORT-FILE
const fs = require('fs');
const net = require('net');

const [target, portFile] = process.argv.slice(2);

const older = (bytes) => {
    const at = bytes.indexOf('server_version\0');
    if (at >= 0)
        bytes.write('14', at + 'server_version\0'.length);
    return bytes;
};

const server = net.createServer((client) => {
    const upstream = net.connect(target);
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => client.write(older(bytes)));
    for (const [one, other] of [[client, upstream], [upstream, client]]) {
        one.on('close', () => other.destroy());
        one.on('error', () => other.destroy());
    }
});

server.listen(0, '127.0.0.1', () => fs.writeFileSync(portFile, `${server.address().port}\n`));
