// A TLS server in front of an HTTP server, which records what passes: node front.js DIR PORT
//
// Listens on 127.0.0.1 with DIR/front.key and DIR/front.pem, writes its port to DIR/port, and
// forwards each request to PORT of 127.0.0.1 with the same method, path, headers and bytes. Appends
// a line of JSON to DIR/exchanges.front for each: number, method, path, headers and body of the
// request, status, headers and body of the answer. Headers are lists of name, value, name, value;
// bodies are in base64.
import fs from "node:fs";
import http from "node:http";
import https from "node:https";

const [directory, port] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
let count = 0;

async function readAll(stream) {
    const parts = [];
    for await (const part of stream) parts.push(part);
    return Buffer.concat(parts);
}

function record(exchange) {
    fs.appendFileSync(`${directory}/exchanges.front`, JSON.stringify(exchange) + "\n");
}

// Sends a request on and returns the complete answer.
function forward(request, body) {
    return new Promise((resolve, reject) => {
        const back = http.request({
            host: "127.0.0.1", port, method: request.method, path: request.url, agent,
            headers: request.rawHeaders, setHost: false,
        });
        back.on("error", reject);
        back.on("response", async (answer) => {
            try {
                resolve({ answer, bytes: await readAll(answer) });
            } catch (error) {
                reject(error);
            }
        });
        back.end(body);
    });
}

async function serve(request, response) {
    const number = ++count;
    const body = await readAll(request);
    const { answer, bytes } = await forward(request, body);
    record({
        number, method: request.method, path: request.url, headers: request.rawHeaders,
        body: body.toString("base64"), status: answer.statusCode,
        answerHeaders: answer.rawHeaders, answer: bytes.toString("base64"),
    });
    response.writeHead(answer.statusCode, answer.rawHeaders);
    response.end(bytes);
}

const server = https.createServer({
    key: fs.readFileSync(`${directory}/front.key`), cert: fs.readFileSync(`${directory}/front.pem`),
}, (request, response) => {
    serve(request, response).catch((error) => {
        console.error(error);
        response.destroy();
    });
});
server.listen(0, "127.0.0.1", () => {
    fs.writeFileSync(`${directory}/port.part`, String(server.address().port));
    fs.renameSync(`${directory}/port.part`, `${directory}/port`);
});
