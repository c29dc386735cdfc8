// A receiver of forwarded webhooks, which are verified by the libraries' own code:
// node webhooks.js DIR
//
// Paths: /kapso, /apijs, /meta. APP_SECRET and VERIFY_TOKEN are the secrets. Writes the port to
// DIR/webhooks.port, and for each POST a line of JSON to DIR/webhooks.received: the library,
// whether it accepted the signature, what it read, and the body in base64.
import fs from "node:fs";
import http from "node:http";
import { normalizeWebhook, verifySignature } from "@kapso/whatsapp-cloud-api/server";
import { WhatsAppAPI } from "whatsapp-api-js/middleware/node-http";
import { generateXHub256Sig } from "./node_modules/whatsapp/build/utils.js";

const directory = process.argv[2];
const { APP_SECRET: appSecret, VERIFY_TOKEN: verifyToken } = process.env;
const api = new WhatsAppAPI({
    token: "unused", appSecret, webhookVerifyToken: verifyToken, v: "v24.0", secure: true,
});
let read;
api.on.message = ({ message, name }) => {
    read = { text: message.text.body, name };
};

const libraries = {
    "/kapso": ({ headers }, body) => {
        const isVerified = verifySignature({ appSecret, rawBody: body,
            signatureHeader: headers["x-hub-signature-256"] });
        const [message] = normalizeWebhook(JSON.parse(body)).messages;
        return { isVerified, read: { text: message?.text.body,
            direction: message?.kapso?.direction } };
    },
    "/apijs": async ({ headers }, body) => {
        read = null;
        const status = await api.handle_post({ headers, [Symbol.asyncIterator]: async function* () {
            yield body;
        } });
        return { isVerified: status === 200, status, read };
    },
    // The server of this library throws on every POST ("list" of Buffer.concat is a text), so only
    // its signature is used.
    "/meta": ({ headers }, body) => ({
        isVerified: `sha256=${generateXHub256Sig(body.toString(), appSecret)}` ===
            headers["x-hub-signature-256"],
        read: { text: JSON.parse(body).entry[0].changes[0].value.messages[0].text.body },
    }),
};

function challenge(request) {
    try {
        return api.handle_get(request);
    } catch (status) {
        return null;
    }
}

const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (request.method === "GET") {
        const answer = challenge(request);
        response.statusCode = answer === null ? 403 : 200;
        response.end(answer);
        return;
    }
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const result = await libraries[pathname](request, body);
    fs.appendFileSync(`${directory}/webhooks.received`, JSON.stringify({
        library: pathname.slice(1), ...result, body: body.toString("base64"),
    }) + "\n");
    response.statusCode = result.isVerified ? 200 : 401;
    response.end();
});
server.listen(0, "127.0.0.1", () => {
    fs.writeFileSync(`${directory}/webhooks.part`, String(server.address().port));
    fs.renameSync(`${directory}/webhooks.part`, `${directory}/webhooks.port`);
});
