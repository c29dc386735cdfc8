// The sandbox, and the inbox that its messages reach, for the tests of the inbox and of the phone.
const assert = require('node:assert/strict');

const {LINE, SANDBOX} = process.env;
const HOOK = '/platform/webhook';

// Makes a control call of the sandbox.
async function sandbox(method, call, body) {
    const response = await fetch(`${SANDBOX}/_sandbox/${call}`, {method,
        body: body && JSON.stringify(body)});
    assert.equal(response.status, 200, `${call}: ${await response.clone().text()}`);
    return response.json();
}

// Lets the platform post one update of the line.
async function platform(base, update) {
    const {posts} = await sandbox('POST', 'webhooks',
        {url: base + HOOK, phoneNumberId: LINE, ...update});
    assert.ok(posts.every(({delivered}) => delivered), JSON.stringify(posts));
}

// The requests that sent a message whose body has this part.
async function sentMessages(part) {
    const list = await sandbox('GET', 'requests?path=/messages&method=POST');
    return list.filter(({body}) => body?.includes(part));
}

// Opens the thread of a person by the search of the list.
async function openThread({page, open}, name) {
    await open(`/inbox?q=${encodeURIComponent(name)}`);
    await page.locator('.thread', {hasText: name}).first().click();
    await page.locator('#thread-name', {hasText: name}).waitFor();
    await page.locator('.thread-view .composer').waitFor();
}

module.exports = {openThread, platform, sandbox, sentMessages};
