// Compares the exchanges and the events that a run of the suite recorded with the OpenAPI document.
//
//     node tests/contract/check.js DOCUMENT RECORDS APACHE_CONF EXCEPTIONS [--coverage]
//
// Prints a line for each kind of violation, with the first request that shows it and the place in
// the document, then the numbers of what was checked. With --coverage it also demands that the
// records have every operation with each of its statuses, and every event; EXCEPTIONS lists those
// that are left out, each with its reason. Exit status: 1 if there is a violation.
"use strict";
const fs = require("fs");
const { Document, pointer } = require("./document");
const { problems, parsed } = require("./exchange");
const records = require("./records");

// The answers that the web server gives by itself: those of ErrorDocument, and the files that it
// serves.
function readApache(file) {
    const lines = fs.readFileSync(file, "utf8").split("\n");
    const messages = lines.map((line) => /^ErrorDocument \d+ '(.*)'$/.exec(line)?.[1])
        .filter((text) => text).map((text) => JSON.parse(text).message.split("%{")[0]);
    const files = lines.map((line) => /^Alias +(\S+)/.exec(line)?.[1]).filter((text) => text);
    // the paths of the platform's own contract, which the document does not hold
    const platform = lines
        .map((line) => /^ScriptAliasMatch "(\S+)" +"\S*\/cgi-bin\/graph/.exec(line)?.[1])
        .filter((text) => text).map((text) => new RegExp(text));
    return {
        answered: (exchange, json) => exchange.transport !== "direct"
            && messages.some((text) => String(json.value?.message).startsWith(text)),
        serves: (path) => platform.some((each) => each.test(path))
            || files.some((each) => path === each
                || path.startsWith(each.replace(/\/?$/, "/"))),
    };
}

class Findings {
    constructor(exceptions) {
        this.exceptions = exceptions;
        this.lines = new Map();
        this.used = new Set();
    }

    // Whether a listed reason leaves the problem out.
    isExcepted(rule, test, text, route) {
        const entry = this.exceptions.find((each) => each.rule === rule
            && (!each.test || test.startsWith(each.test))
            && (!each.route || each.route === route)
            && (!each.text || text.includes(each.text)));
        if (entry)
            this.used.add(entry);
        return entry !== undefined;
    }

    add(rule, test, text, request, route) {
        if (this.isExcepted(rule, test, text, route))
            return;
        const key = `${rule} ${route ?? ""} ${text}`;
        const line = this.lines.get(key);
        if (line)
            line.count += 1;
        else
            this.lines.set(key, { count: 1, line: `contract: ${request}: ${text} [${test}]` });
    }

    unused() {
        return this.exceptions.filter((each) => !this.used.has(each));
    }
}

function shown(exchange) {
    const body = exchange.requestBody ? ` ${exchange.requestBody.toString().slice(0, 300)}` : "";
    return `${exchange.method} ${exchange.target.slice(0, 200)}${body} -> ${exchange.status}`
        .replace(/\s+/g, " ");
}

function checkExchanges(document, directory, web, findings) {
    const seen = new Map();
    let count = 0;
    for (const exchange of records.exchanges(directory)) {
        count += 1;
        let route;
        const note = (found, status) => {
            route = found.id;
            seen.set(`${found.id} ${status}`, (seen.get(`${found.id} ${status}`) ?? 0) + 1);
        };
        for (const [rule, text] of problems(document, exchange, web, note))
            findings.add(rule, exchange.test, text, shown(exchange), route);
    }
    return { count, seen };
}

function checkEvent(document, event, findings) {
    const json = parsed(event.body);
    const type = json.value?.type;
    const add = (text) => findings.add("event", event.test, text, `event ${type}`);
    if (!document.content.webhooks[type]) {
        add("the type of the event is not listed: /webhooks");
        return undefined;
    }
    const place = pointer("webhooks", type, "post");
    const wrong = document.mismatch(`${place}/requestBody/content/application~1json/schema`,
        json.value);
    if (wrong)
        add(`the event: ${wrong}`);
    const { parameters } = document.content.webhooks[type].post;
    for (const [i, { name, required }] of parameters.entries()) {
        const value = event.headers[name.toLowerCase()];
        if (value === undefined ? required
            : document.mismatch(`${place}/parameters/${i}/schema`, value))
            add(`the header ${name} is missing or invalid: ${place}/parameters/${i}`);
    }
    return type;
}

function checkEvents(document, directory, findings) {
    const seen = new Map();
    let count = 0;
    for (const event of records.events(directory)) {
        count += 1;
        const type = checkEvent(document, event, findings);
        seen.set(type, (seen.get(type) ?? 0) + 1);
    }
    return { count, seen };
}

// The pairs of operation and status that the records have to contain, and those that they lack.
function coverage(document, seen, unseen) {
    const lines = [], used = new Set();
    let all = 0, found = 0, excepted = 0;
    for (const { id, operation } of document.operations) {
        for (const status of Object.keys(operation.responses)) {
            const isSeen = seen.has(`${id} ${status}`);
            const entry = unseen.find((each) => each.statuses.includes(status)
                && each.routes.includes(id));
            all += 1;
            found += isSeen;
            if (!isSeen && entry) {
                excepted += 1;
                used.add(entry);
            }
            if (!isSeen && !entry)
                lines.push(`contract: no test shows ${id} ${status}: add a test, remove the status `
                    + "from its page in doc/api, or list it with its reason in "
                    + "tests/contract/exceptions.json");
        }
    }
    const unused = unseen.filter((each) => !used.has(each));
    return { lines, unused, all, found, excepted };
}

function coverageOfEvents(document, seen) {
    return Object.keys(document.content.webhooks).filter((type) => !seen.has(type))
        .map((type) => `contract: no test delivers the event ${type}`);
}

function main([file, directory, apache, exceptionsFile, option]) {
    const document = new Document(file);
    const exceptions = JSON.parse(fs.readFileSync(exceptionsFile, "utf8"));
    const findings = new Findings(exceptions.accepted);
    const requests = checkExchanges(document, directory, readApache(apache), findings);
    const events = checkEvents(document, directory, findings);
    const covered = coverage(document, requests.seen, exceptions.unseen);
    const lines = [...findings.lines.values()].map(({ count, line }) =>
        (count > 1 ? `${line} and ${count - 1} more` : line));
    if (option === "--coverage") {
        lines.push(...covered.lines, ...coverageOfEvents(document, events.seen));
        const unused = [...findings.unused(), ...covered.unused];
        lines.push(...unused.map((each) => "contract: this exception is not needed: "
            + `remove it: ${JSON.stringify(each)}`));
    }
    lines.forEach((line) => console.log(line));
    console.log(`contract: ${requests.count} exchanges and ${events.count} events; `
        + `${covered.found} of ${covered.all} pairs of operation and status seen, `
        + `${covered.excepted} excepted; ${lines.length} violations`);
    process.exitCode = lines.length > 0 ? 1 : 0;
}

main(process.argv.slice(2));
