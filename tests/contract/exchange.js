// Compares a recorded exchange with the OpenAPI document.
"use strict";
const { posix } = require("path");
const { decoded, pointer } = require("./document");

const mediaType = (headers) => (headers["content-type"] ?? "").split(";")[0].trim().toLowerCase();

// A body as JSON: {value}, or {} when it is not JSON.
function parsed(body) {
    try {
        return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) };
    } catch {
        return {};
    }
}

// The parameters of a query; the first of equal names counts.
function queryOf(text) {
    const query = new Map();
    for (const part of text.split("&").filter((each) => each !== "")) {
        const at = part.indexOf("=");
        const [name, value] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
        const key = decoded(name.replace(/\+/g, " "));
        if (key !== null && !query.has(key))
            query.set(key, decoded(value.replace(/\+/g, " ")) ?? "");
    }
    return query;
}

// A parameter's text as a value of the type that its schema has.
function valueOf(schema, text) {
    return schema.type === "integer" && /^-?\d+$/.test(text)
        && BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? Number(text) : text;
}

// The path as Apache passes it on: without empty and dot segments.
function normalized(path) {
    return posix.normalize(path.replace(/%2e/gi, "."));
}

// What is wrong with the parameters of a request.
function* parameterProblems(document, found, query, headers) {
    for (const [i, parameter] of (found.operation.parameters ?? []).entries()) {
        if (parameter.in === "path")
            continue;
        const text = parameter.in === "query" ? query.get(parameter.name)
            : headers[parameter.name.toLowerCase()];
        const named = `${parameter.in} parameter ${parameter.name}`;
        if (text === undefined) {
            if (parameter.required)
                yield `${named} is required: schema ${found.place}/parameters/${i}`;
            continue;
        }
        const place = `${found.place}/parameters/${i}/schema`;
        const wrong = document.mismatch(place, valueOf(parameter.schema, text));
        if (wrong)
            yield `${named}: ${wrong}`;
    }
}

// What is wrong with the body of a request. A body whose type the gateway takes for JSON, or that
// was not recorded, is not looked at further.
function* bodyProblems(document, found, exchange) {
    const content = found.operation.requestBody?.content;
    if (!content || exchange.requestBody === null)
        return;
    const type = mediaType(exchange.requestHeaders) || "application/json";
    if (!("application/json" in content)) {
        if (!(type in content) && !("*/*" in content))
            yield `the type ${type} of the body is not listed: ${found.place}/requestBody/content`;
        return;
    }
    if (type !== "application/json" && type in content)
        return;
    const json = parsed(exchange.requestBody);
    const place = `${found.place}/requestBody/content/application~1json/schema`;
    if (exchange.requestBody.length === 0) {
        if (found.operation.requestBody.required)
            yield `the body is required: ${found.place}/requestBody`;
    } else if ("value" in json) {
        const wrong = document.mismatch(place, json.value);
        if (wrong)
            yield `the body: ${wrong}`;
    } else {
        yield "the body is not JSON";
    }
}

// The issues of a refusal that a schema can express: an unknown member is an issue only on demand.
function issuesOf(json) {
    const details = json.value?.details;
    return json.value?.error === "VALIDATION_ERROR" && Array.isArray(details)
        ? details.filter(({ path, code }) => path !== undefined && code && code !== "unknown_field")
        : [];
}

// Whether the document describes the whole request. It does not describe the parts of a form.
const hasSchema = ({ requestBody }) => !requestBody || "application/json" in requestBody.content;

// An accepted request must be valid by the document, one that was refused with issues invalid.
function* requestProblems(document, found, exchange, query, json) {
    const issues = issuesOf(json);
    if (!exchange.status.startsWith("2") && issues.length === 0)
        return;
    const wrong = [...parameterProblems(document, found, query, exchange.requestHeaders),
        ...bodyProblems(document, found, exchange)];
    if (exchange.status.startsWith("2")) {
        if (wrong.length > 0)
            yield ["accepted", wrong[0]];
    } else if (wrong.length === 0 && exchange.requestBody !== null
        && hasSchema(found.operation)) {
        const [{ path, code }] = issues;
        yield ["refused", `the gateway refused ${path}: ${code}, but the schemas of `
            + `${found.place} accept the request`];
    }
}

function* headerProblems(document, response, place, headers) {
    for (const [name, given] of Object.entries(response.headers ?? {})) {
        const [header, at] = document.resolve(given, `${place}/headers${pointer(name)}`);
        const value = headers[name.toLowerCase()];
        if (value === undefined) {
            if (header.required)
                yield ["header", `the answer has no ${name}: ${place}/headers/${name}`];
        } else {
            const wrong = document.mismatch(`${at}/schema`, valueOf(header.schema, value));
            if (wrong)
                yield ["header", `the header ${name}: ${wrong}`];
        }
    }
}

// Headers of HTTP itself and of Apache, which the document does not name.
const general = new Set(["connection", "content-length", "content-type", "date", "keep-alive",
    "server", "transfer-encoding", "cache-control", "x-content-type-options", "vary",
    "content-security-policy", "referrer-policy", "content-encoding", "upgrade", "status"]);

function* unknownHeaders(response, place, headers) {
    const known = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
    for (const name of Object.keys(headers)) {
        if (!general.has(name) && !known.includes(name))
            yield ["header", `the answer has a header ${name}, which is not listed: `
                + `${place}/headers`];
    }
}

function* answerBodyProblems(document, response, place, exchange, json) {
    const type = mediaType(exchange.headers);
    const content = response.content ?? {};
    const listed = type in content ? type : "*/*" in content ? "*/*" : null;
    if (response.content === undefined && type === "") {
        if (exchange.body?.length > 0)
            yield ["body", `the answer has a body: ${place}`];
    } else if (listed === null) {
        yield ["type", `the type ${type || "(none)"} of the answer is not listed: `
            + `${place}/content`];
    } else if (listed === "application/json" && exchange.method !== "HEAD"
        && exchange.body !== null) {
        const wrong = "value" in json
            ? document.mismatch(`${place}/content/application~1json/schema`, json.value)
            : "it is not JSON";
        if (wrong)
            yield ["body", `the answer: ${wrong}`];
    }
}

// An answer that belongs to no operation is an error in the envelope, with the id of the request.
function* errorProblems(document, exchange, json) {
    if (exchange.method !== "HEAD" && exchange.body !== null) {
        const wrong = "value" in json
            ? document.mismatch("/components/schemas/Error", json.value) : "it is not JSON";
        if (wrong)
            yield ["body", `the answer: ${wrong}`];
    }
    if (!exchange.headers["x-request-id"])
        yield ["header", "the answer has no X-Request-Id"];
}

// RFC 9110 15.5.2, also for what the document does not hold.
function* challengeProblems({ status, headers }) {
    if (status === "401" && !headers["www-authenticate"])
        yield ["challenge", "a 401 has no WWW-Authenticate"];
}

// Prints the problems of an exchange as [rule, text]; calls seen(operation, status) for the pair
// that it is an example of. `web` is the answers that the web server gives by itself.
function* problems(document, exchange, web, seen) {
    const [asked, query] = exchange.target.split(/\?(.*)/s);
    const path = exchange.transport === "direct" ? asked : normalized(asked);
    const all = document.matching(path);
    const method = exchange.method === "HEAD" ? "GET" : exchange.method;
    const found = all.find((each) => each.method === method);
    const json = exchange.body === null ? {} : parsed(exchange.body);
    if (!/^[1-5]\d\d$/.test(exchange.status) || Object.keys(exchange.headers).length === 0)
        return; // no answer
    if (web.serves(path)) { // a file of the reference, or a path of the platform's contract
        yield* challengeProblems(exchange);
        return;
    }
    const isOfWeb = web.answered(exchange, json)
        && !(found && exchange.status in found.operation.responses);
    if (isOfWeb || (!found && (all.length === 0 || method !== "OPTIONS"))) {
        if (exchange.status < "400")
            yield ["operation", "no operation of the document is the one that was answered"];
        else
            yield* errorProblems(document, exchange, json);
        if (all.length > 0 && !found && ["404", "405"].includes(exchange.status)
            && !exchange.headers.allow)
            yield ["header", "a refused method has no Allow"];
        return;
    }
    if (!found) {
        if (exchange.status === "204" && !exchange.headers.allow)
            yield ["header", "the answer to OPTIONS has no Allow"];
        return;
    }
    const response = found.operation.responses[exchange.status];
    const place = `${found.place}/responses/${exchange.status}`;
    if (!response) {
        yield ["status", `the status is not listed: ${found.place}/responses`];
        return;
    }
    if (exchange.method !== "HEAD")
        seen(found, exchange.status);
    yield* challengeProblems(exchange);
    yield* answerBodyProblems(document, response, place, exchange, json);
    yield* headerProblems(document, response, place, exchange.headers);
    yield* unknownHeaders(response, place, exchange.headers);
    yield* requestProblems(document, found, exchange, queryOf(query ?? ""), json);
}

module.exports = { problems, parsed };
