// A platform that answers with given bytes: node upstream.js DIR [KEY CERTIFICATE]
//
// Listens on 127.0.0.1; with a key and a certificate, over TLS. The environment variable BACKLOG is the
// length of the listen queue. Writes the port to DIR/port when it listens. Appends the request line of
// each complete request to DIR/requests, and answers according to the current content of two files:
// DIR/answer contains the bytes to send, DIR/then what to do after them:
//     close          close the connection
//     reset          reset the connection
//     hang           send nothing more and keep the connection
//     drip MS        send one byte every MS milliseconds, then close the connection
//     flood          send the bytes again and again
//     early          like close, but send the answer before the request body, then read the body
//     early-reset    send the answer before the request body, and reset the connection soon after it
"use strict";
const fs = require("fs");
const net = require("net");
const tls = require("tls");
const [directory, key, certificate] = process.argv.slice(2);

function read(name) {
    try {
        return fs.readFileSync(`${directory}/${name}`);
    } catch (error) {
        return Buffer.alloc(0);
    }
}

function flood(socket, bytes) {
    while (!socket.destroyed && socket.write(bytes));
    if (!socket.destroyed) socket.once("drain", () => flood(socket, bytes));
}

function drip(socket, bytes, milliseconds) {
    let at = 0;
    const timer = setInterval(() => {
        if (socket.destroyed || at >= bytes.length) {
            clearInterval(timer);
            socket.end();
        } else {
            socket.write(bytes.subarray(at, ++at));
        }
    }, milliseconds);
}

function answer(socket) {
    const [then, number] = read("then").toString().trim().split(" ");
    const bytes = read("answer");
    if (then === "drip") drip(socket, bytes, Number(number));
    else if (then === "flood") flood(socket, bytes);
    else if (then === "hang") socket.write(bytes);
    else if (then === "early-reset") socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 300));
    else if (then === "reset") socket.write(bytes, () => socket.resetAndDestroy());
    else socket.end(bytes);
}

// Returns whether a request can be answered: it is complete, or for the early answers its head is.
function isWhole(request) {
    const end = request.indexOf("\r\n\r\n");
    if (end < 0) return false;
    if (read("then").toString().startsWith("early")) return true;
    const length = /\r\ncontent-length: *([0-9]+)/i.exec(request.subarray(0, end).toString("latin1"));
    return request.length >= end + 4 + Number(length ? length[1] : 0);
}

function serve(socket) {
    let request = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => {
        if (socket.writableEnded || socket.isAnswered) return;
        request = Buffer.concat([request, bytes]);
        if (!isWhole(request)) return;
        fs.appendFileSync(`${directory}/requests`, request.toString("latin1").split("\r\n")[0] + "\n");
        request = Buffer.alloc(0);
        socket.isAnswered = read("then").toString().startsWith("early");
        answer(socket);
    });
}

const server = key
    ? tls.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(certificate) }, serve)
    : net.createServer({ allowHalfOpen: true }, serve);
server.on("tlsClientError", () => {});
server.listen(0, "127.0.0.1", Number(process.env.BACKLOG ?? 511), () => {
    fs.writeFileSync(`${directory}/port.part`, String(server.address().port));
    fs.renameSync(`${directory}/port.part`, `${directory}/port`);
});
