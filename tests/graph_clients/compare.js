// Compares what clients sent through the front with what the platform received and what the gateway
// stored: node compare.js EXCHANGES REQUESTS MESSAGES
//
// EXCHANGES is the record of front.js, REQUESTS the sandbox's list of requests, MESSAGES the stored
// messages, lines `WAMID|BODY-IN-HEXADECIMAL`. SECRETS in the environment are texts, one a line.
// Prints a JSON object: how many requests reached the platform with the same method, path, query
// and bytes, but for the boundary of a multipart form and blanks after it (passed), how many were
// sends (sent), how many messages are stored with the bytes of their request (stored); lists of
// what did not reach it (kept), of other requests that it received (other), of the types of
// messages whose request has an object as a text of JSON, and which are stored with the object
// (settled), of other messages that are not stored so (unstored), of answers with a secret (leaks).
import assert from "node:assert";
import crypto from "node:crypto";
import fs from "node:fs";

const [exchangesFile, requestsFile, messagesFile] = process.argv.slice(2);
const exchanges = fs.readFileSync(exchangesFile, "utf8").split("\n").filter(Boolean)
    .map((line) => JSON.parse(line));
const requests = JSON.parse(fs.readFileSync(requestsFile, "utf8"));
const messages = new Map(fs.readFileSync(messagesFile, "utf8").split("\n").filter(Boolean)
    .map((line) => line.split("|")));
const secrets = (process.env.SECRETS ?? "").split("\n").filter(Boolean);

// The path without version and trailing slashes, and the query without a token.
function target(path, query) {
    const parts = query.split("&").filter((part) => part && !part.startsWith("access_token="));
    return path.replace(/^\/v[0-9]+\.[0-9]+(?=\/)/, "").replace(/\/+$/, "") +
        (parts.length ? `?${parts.join("&")}` : "");
}

function keyOf(method, path, query, hash) {
    return `${method} ${target(path, query)} ${hash}`;
}

function hashOf(bytes) {
    return crypto.createHash("sha256").update(bytes).digest("hex");
}

function boundaryOf(type) {
    return /^multipart\/form-data; *boundary=([^;]+)$/i.exec(type ?? "")?.[1];
}

// The form with another boundary, and with blanks after it up to the length.
function withBoundary(form, theirs, ours, length) {
    const text = form.toString("latin1");
    const whole = text.slice(0, text.lastIndexOf(`--${theirs}--`)) + `--${theirs}--\r\n`;
    return Buffer.from(whole.replaceAll(`--${theirs}`, `--${ours}`).padEnd(length), "latin1");
}

const forms = requests.filter(({ headers }) => boundaryOf(headers["content-type"]));

// Takes the request that has the form with a boundary of its own from `forms`.
function takeForm(exchange, path, query, body) {
    const at = exchange.headers.findIndex((name) => /^content-type$/i.test(name));
    const boundary = at < 0 ? undefined : boundaryOf(exchange.headers[at + 1]);
    const found = boundary ? forms.findIndex((request) =>
        keyOf(request.method, request.path, request.query ?? "", request.bodySha256) ===
        keyOf(exchange.method, path, query, hashOf(withBoundary(body, boundary,
            boundaryOf(request.headers["content-type"]), request.bodyLength)))) : -1;
    return found < 0 ? undefined : forms.splice(found, 1)[0];
}

const waiting = new Map();
for (const request of requests.filter((request) => !forms.includes(request))) {
    const key = keyOf(request.method, request.path, request.query ?? "", request.bodySha256);
    waiting.set(key, [...(waiting.get(key) ?? []), request]);
}

// Reports whether the stored body is that of the request with objects in place of texts of JSON.
function isSettled(stored, body) {
    const request = JSON.parse(body);
    for (const [name, value] of Object.entries(request)) {
        if (typeof value === "string" && /^[[{]/.test(value)) request[name] = JSON.parse(value);
    }
    try {
        assert.deepStrictEqual(JSON.parse(Buffer.from(stored ?? "", "hex")), request);
        return true;
    } catch {
        return false;
    }
}

const result = {
    passed: 0, sent: 0, stored: 0, kept: [], other: [], settled: [], unstored: [], leaks: [],
};
for (const exchange of exchanges) {
    const [path, query = ""] = exchange.path.split("?");
    const body = Buffer.from(exchange.body, "base64");
    const answer = Buffer.from(exchange.answer, "base64");
    const what = `${exchange.method} ${target(path, "")} ${exchange.status}`;
    if (waiting.get(keyOf(exchange.method, path, query, hashOf(body)))?.shift() ??
        takeForm(exchange, path, query, body)) result.passed++;
    else result.kept.push(what);
    const received = Buffer.concat([Buffer.from(exchange.answerHeaders.join("\n")), answer]);
    if (secrets.some((secret) => received.includes(secret))) result.leaks.push(what);
    if (exchange.method !== "POST" || !path.endsWith("/messages") || exchange.status !== 200) {
        continue;
    }
    const wamid = JSON.parse(answer).messages?.[0].id;
    if (!wamid) continue; // marked as read
    result.sent++;
    const stored = messages.get(wamid);
    if (stored === body.toString("hex").toUpperCase()) result.stored++;
    else if (isSettled(stored, body)) result.settled.push(JSON.parse(body).type);
    else result.unstored.push(`${wamid}: ${stored}`);
}
result.other = [...waiting.values(), forms].flat().filter(({ method }) => method !== "GET")
    .map(({ method, path }) => `${method} ${target(path, "")}`);
console.log(JSON.stringify(result));
