// Reads the records of a run of the suite, which tests/helpers/recording.bash and
// tests/helpers/receiver.c write.
"use strict";
const fs = require("fs");
const path = require("path");

// Header lines as an object with names in lower case; the values of equal names are joined.
function headersOf(text) {
    const headers = {};
    for (const line of text.split(/\r?\n/)) {
        const at = line.indexOf(":");
        if (at <= 0)
            continue;
        const name = line.slice(0, at).toLowerCase();
        const value = line.slice(at + 1).trim();
        headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    return headers;
}

// The records of a file: [the words of the first line, the texts]. `texts` is the number of words,
// at the end of the line, that are lengths; a length `-` gives null.
function* framed(file, texts) {
    const bytes = fs.readFileSync(file);
    for (let at = 0; at < bytes.length;) {
        const end = bytes.indexOf(10, at);
        const words = bytes.toString("latin1", at, end).split(" ");
        at = end + 1;
        const read = words.slice(-texts).map((length) => {
            if (length === "-")
                return null;
            at += Number(length);
            return bytes.subarray(at - length, at);
        });
        if (!(at > end) || bytes[at] !== 10)
            throw new Error(`${file}: damaged record: ${words.join(" ")}`);
        at += 1;
        yield [words, read];
    }
}

function* exchangesOf(file) {
    for (const [words, texts] of framed(file, 6)) {
        const [target, test, asked, sent, lines, answer] = texts;
        yield {
            transport: words[1], status: words[2], method: words[3], target: target.toString(),
            test: test.toString(), requestHeaders: headersOf(asked.toString()), requestBody: sent,
            headers: headersOf(lines.toString()), body: answer,
        };
    }
}

function* exchangesOfBatch(directory) {
    const read = (name) => fs.readFileSync(path.join(directory, name));
    const [transport, method, target, test, ...asked] = read("batch").toString().split("\n");
    for (let number = 1; fs.existsSync(path.join(directory, `${number}.status`)); number += 1) {
        // the last head counts: one of an interim answer may be before it
        const heads = read(`${number}.head`).toString().split(/\r?\n\r?\n(?=HTTP\/)/);
        yield {
            transport, method, target, test: `${test} (body ${number})`,
            status: read(`${number}.status`).toString(),
            requestHeaders: headersOf(asked.join("\n")), requestBody: read(`${number}.in`),
            headers: headersOf(heads[heads.length - 1]), body: read(`${number}.out`),
        };
    }
}

// All exchanges below a directory: {transport, status, method, target, test, requestHeaders,
// requestBody, headers, body}. A body that was not recorded is null.
function* exchanges(directory) {
    for (const name of fs.readdirSync(directory).sort()) {
        if (name.startsWith("exchanges."))
            yield* exchangesOf(path.join(directory, name));
        else if (name.startsWith("batch."))
            yield* exchangesOfBatch(path.join(directory, name));
    }
}

// All delivered events: {test, headers, body}.
function* events(directory) {
    for (const name of fs.readdirSync(directory).sort()) {
        if (!name.startsWith("events."))
            continue;
        for (const [, [test, head, body]] of framed(path.join(directory, name), 3))
            yield {
                test: path.basename(test.toString()), headers: headersOf(head.toString()), body,
            };
    }
}

module.exports = { exchanges, events };
