// Waits for what an action brings: an assertion that reads once, right after the action, fails on a
// machine that is slow enough. What an action must not bring needs no wait.
const assert = require('node:assert/strict');
const {inspect, isDeepStrictEqual} = require('node:util');

const WAIT = 30000; // on a slow machine with other work
const PAUSE = 50;

// Reads until the value holds, and returns it. `words` name the value in the failure.
async function until(read, holds, words) {
    const end = Date.now() + WAIT;
    for (;;) {
        const value = await read();
        if (holds(value))
            return value;
        assert.ok(Date.now() < end, `${words}, after ${WAIT / 1000} s: ${inspect(value)}`);
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
}

// Reads until the value is the wanted one, of any shape.
function untilEqual(read, wanted, words = 'the value') {
    return until(read, (value) => isDeepStrictEqual(value, wanted),
        `${words} is not ${inspect(wanted)}`);
}

// The number of elements.
function untilCount(locator, wanted) {
    return untilEqual(() => locator.count(), wanted, `the number of ${locator}`);
}

// What a field holds.
function untilValue(locator, wanted) {
    return untilEqual(() => locator.inputValue(), wanted, `the value of ${locator}`);
}

// The text that is shown matches, or is the same.
function untilText(locator, wanted) {
    return until(() => locator.innerText(),
        (text) => wanted instanceof RegExp ? wanted.test(text) : text === wanted,
        `the text of ${locator} is not ${inspect(wanted)}`);
}

// The title of the page matches.
function untilTitle(page, wanted) {
    return until(() => page.title(), (title) => wanted.test(title), `the title is not ${wanted}`);
}

// A member of the element with the focus matches, or is the same.
function untilFocus(page, name, wanted) {
    return until(() => page.evaluate((member) => document.activeElement[member], name),
        (value) => wanted instanceof RegExp ? wanted.test(value) : value === wanted,
        `the focus is not on ${inspect(wanted)}`);
}

// Returns a function that waits until the requests of a page which are under way, and those that
// follow on their answers, have ended.
function requestsEnd(page) {
    const pending = new Set();
    page.on('request', (request) => pending.add(request));
    for (const end of ['requestfinished', 'requestfailed'])
        page.on(end, (request) => pending.delete(request));
    return async () => {
        for (let quiet = 0; quiet < 2; quiet = pending.size ? 0 : quiet + 1)
            await new Promise((resolve) => setTimeout(resolve, 200));
    };
}

module.exports = {
    requestsEnd, until, untilCount, untilEqual, untilFocus, untilText, untilTitle, untilValue,
};
