// The inbox. The platform is the sandbox: it posts signed webhook payloads to the gateway.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const {openThread, platform, sandbox, sentMessages} = require('./sandbox.js');
const {
    requestsEnd, until, untilCount, untilEqual, untilFocus, untilText, untilTitle, untilValue,
} = require('./until.js');

const {LINE} = process.env;
const fieldOf = (page) => page.getByLabel('Write a message');

const write = (page, text) => fieldOf(page).fill(text);

function bubbleOf(page, text) {
    return page.locator('.message', {hasText: text});
}

// Waits until the platform has got a request with this part of a body, and returns the requests.
function untilSent(body) {
    return until(() => sentMessages(body), ({length}) => length,
        `the platform got nothing with ${body}`);
}

// Waits until everything is answered: no message waits for that.
function nonePending(page) {
    return untilCount(page.locator('.message.pending'), 0);
}

// Switches settings on or off, as the user does in another tab.
async function setSettings({context, open}, values) {
    const page = await context.newPage();
    await open('/settings', page);
    for (const [name, value] of Object.entries(values))
        await page.locator(`input[name="${name}"]`).setChecked(value);
    await page.reload();
    for (const [name, value] of Object.entries(values))
        await untilEqual(() => page.locator(`input[name="${name}"]`).isChecked(), value, name);
    await page.close();
}

exports.statuses = async ({page, context, open, logIn, step, BASE}) => {
    const person = {phone: '16505551001', name: 'Status Reader'};
    await platform(BASE, {...person, kind: 'text', text: 'Are you there?'});
    await logIn();
    await openThread({page, open}, person.name);
    await page.evaluate(() => { window.notReloaded = true; });
    step('send by the Enter key');
    await write(page, 'Yes, we are.');
    await page.keyboard.press('Enter');
    const mine = page.locator('.message.out[data-wamid]', {hasText: 'Yes, we are.'});
    await mine.waitFor();
    assert.equal(await mine.locator('.ticks').getAttribute('data-status'), 'accepted');
    const id = await mine.getAttribute('data-wamid');
    for (const status of ['sent', 'delivered', 'read']) {
        step(`status ${status}`);
        await platform(BASE, {...person, kind: `status_${status}`, id});
        await mine.locator(`.ticks[data-status="${status}"]`).waitFor();
    }
    assert.equal(await page.locator('.message.out').count(), 1);
    step('a failure shows code, title and details');
    await write(page, 'And another.');
    await page.getByRole('button', {name: 'Send', exact: true}).click();
    const other = page.locator('.message.out[data-wamid]', {hasText: 'And another.'});
    await platform(BASE, {...person, kind: 'status_failed', code: 131047,
        id: await other.getAttribute('data-wamid')});
    await other.locator('.failure').waitFor();
    await untilText(other.locator('.failure'),
        /131047 Re-engagement message\s+More than 24 hours/);
    step('it is sent again as a new message');
    await other.getByRole('button', {name: 'Send again'}).click();
    await other.nth(1).waitFor();
    const both = await sentMessages('And another.');
    assert.equal(both.length, 2);
    assert.notEqual(await other.nth(0).getAttribute('data-wamid'),
        await other.nth(1).getAttribute('data-wamid'));
    assert.deepEqual(JSON.parse(both[0].body).text, JSON.parse(both[1].body).text);
    step('an answer appears, with its quote');
    await platform(BASE, {...person, kind: 'text_reply', context: id, text: 'Good!'});
    await bubbleOf(page, 'Good!').locator('.quote', {hasText: 'Yes, we are.'}).waitFor();
    step('so does a reaction, and it goes away');
    await platform(BASE, {...person, kind: 'reaction', context: id});
    await mine.locator('.reactions').waitFor();
    await platform(BASE, {...person, kind: 'reaction_emptied', context: id});
    await mine.locator('.reactions').waitFor({state: 'detached'});
    step('a reaction of ours is sent, shown, changed and removed');
    const good = bubbleOf(page, 'Good!');
    const reacted = (emoji) => untilSent(`"type":"reaction","reaction":{"message_id":"${
        goodId}","emoji":"${emoji}"}`);
    const goodId = await good.getAttribute('data-wamid');
    const dialog = page.getByRole('dialog');
    await good.hover();
    await good.getByRole('button', {name: 'React'}).click();
    await dialog.getByRole('button', {name: '👍'}).click();
    await reacted('👍');
    await good.locator('.reactions', {hasText: '👍'}).waitFor();
    await good.focus();
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', {name: 'React'}).click();
    await dialog.getByRole('button', {name: '👍', pressed: true}).waitFor();
    await dialog.getByLabel('Another emoji').fill('no emoji');
    await page.keyboard.press('Enter');
    await dialog.getByText('Write one emoji.').waitFor();
    await dialog.getByLabel('Another emoji').fill('👩‍🚀');
    await page.keyboard.press('Enter');
    await reacted('👩‍🚀');
    await good.locator('.reactions', {hasText: '👩‍🚀'}).waitFor();
    await good.getByRole('button', {name: 'React'}).click();
    await dialog.getByRole('button', {name: '👩‍🚀', pressed: true}).click();
    await reacted('');
    await good.locator('.reactions').waitFor({state: 'detached'});
    step('by setting the customer sees that a message was read, and that an answer is written');
    const read = (typing) => new RegExp(`^.*"status":"read","message_id":"wamid.seen${typing}$`);
    await write(page, 'Not shown');
    await fieldOf(page).fill('');
    assert.deepEqual(await sentMessages('"read"'), []);
    await setSettings({context, open}, {receipts: true, typing: true});
    await platform(BASE, {...person, kind: 'text', id: 'wamid.seen', text: 'Really?'});
    const [seen] = await untilSent('"wamid.seen"');
    assert.match(seen.body, read('"}'));
    await fieldOf(page).pressSequentially('Re');
    const [writes] = await untilSent('typing_indicator');
    assert.match(writes.body, read('","typing_indicator":{"type":"text"}}'));
    await fieldOf(page).pressSequentially('ally');
    await page.keyboard.press('Enter');
    await page.locator('.message.out[data-wamid]', {hasText: 'Really'}).waitFor();
    assert.equal((await sentMessages('"read"')).length, 2);
    await setSettings({context, open}, {receipts: false, typing: false});
    assert.equal(await page.evaluate(() => window.notReloaded), true);
};

// Cuts off the answers of the first `count` sends, after the gateway has carried them out.
async function cutAnswers(page, count) {
    let left = count;
    await page.route('**/v2/messages/send/text', async (route) => {
        if (left-- > 0) {
            await route.fetch();
            await route.abort('connectionreset');
        } else {
            await route.continue();
        }
    });
}

exports.lostAnswer = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551002', name: 'Lost Answer'};
    await platform(BASE, {...person, kind: 'text', text: 'Hello?'});
    await logIn();
    await openThread({page, open}, person.name);
    step('one answer is lost');
    await cutAnswers(page, 1);
    await write(page, 'Sent once, I hope');
    await page.keyboard.press('Enter');
    await page.locator('.message.out[data-wamid]', {hasText: 'Sent once'}).waitFor();
    await nonePending(page);
    assert.equal(await bubbleOf(page, 'Sent once').count(), 1);
    assert.equal((await sentMessages('Sent once, I hope')).length, 1);
    step('all answers are lost: the page says so, and asks again when the user wants it');
    await page.unroute('**/v2/messages/send/text');
    await cutAnswers(page, 4);
    await page.route('**/v2/changes*', (route) => route.abort());
    await write(page, 'Nor this twice');
    await page.keyboard.press('Enter');
    await page.getByText('it is not known whether this was sent').waitFor();
    await page.unroute('**/v2/changes*');
    const again = page.getByRole('button', {name: 'Check again'});
    if (await again.count())
        await again.click({timeout: 2000}).catch(() => {}); // a change may have settled it
    await page.locator('.message.out[data-wamid]', {hasText: 'Nor this twice'}).waitFor();
    await nonePending(page);
    assert.equal(await bubbleOf(page, 'Nor this twice').count(), 1);
    assert.equal((await sentMessages('Nor this twice')).length, 1);
    step('a refusal is shown with its reason, and can be discarded');
    await sandbox('POST', 'faults', {match: {path: '/messages', body: 'Refused'}, code: 131056});
    await write(page, 'Refused, alas');
    await page.keyboard.press('Enter');
    const refused = page.locator('.message.pending', {hasText: 'Refused, alas'});
    await untilText(refused.locator('.failure'), /Request id/);
    await refused.getByRole('button', {name: 'Discard'}).click();
    await refused.waitFor({state: 'detached'});
};

async function hasDraft(page, text, file, quote) {
    await page.waitForFunction((wanted) =>
        document.querySelector('.composer textarea')?.value === wanted, text);
    await page.locator('.removable', {hasText: file}).waitFor();
    await page.locator('.removable', {hasText: quote}).waitFor();
}

exports.nothingLost = async (test, jpeg) => {
    const {page, context, open, logIn, logInAnew, settled, step, BASE} = test;
    const person = {phone: '16505551014', name: 'Long Writer'};
    const other = {phone: '16505551015', name: 'Other Writer'};
    await platform(BASE, {...person, kind: 'text', text: 'A question'});
    await platform(BASE, {...other, kind: 'text', text: 'Hello'});
    await logIn();
    step('text, file and quote stay with their thread');
    await openThread({page, open}, person.name);
    const address = page.url();
    await bubbleOf(page, 'A question').focus();
    await page.keyboard.press('r');
    await page.locator('input[type="file"]').setInputFiles(jpeg);
    await write(page, 'ten minutes of work');
    await openThread({page, open}, other.name);
    await untilValue(fieldOf(page), '');
    await untilCount(page.locator('.removable'), 0);
    await openThread({page, open}, person.name);
    await hasDraft(page, 'ten minutes of work', 'parcel.jpg', 'A question');
    step('a reload right after a key');
    await fieldOf(page).press('End');
    await page.keyboard.type('!');
    await page.reload();
    await hasDraft(page, 'ten minutes of work!', 'parcel.jpg', 'A question');
    step('a tab that was closed');
    const second = await context.newPage();
    await second.goto(address);
    await hasDraft(second, 'ten minutes of work!', 'parcel.jpg', 'A question');
    await second.close();
    step('Return makes a new line where the pointer is a finger, else it sends what was kept');
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setTouchEmulationEnabled', {enabled: true});
    await page.waitForFunction(() => matchMedia('(pointer: coarse)').matches);
    await fieldOf(page).press('End');
    await fieldOf(page).press('Enter');
    await untilValue(fieldOf(page), 'ten minutes of work!\n');
    await session.send('Emulation.setTouchEmulationEnabled', {enabled: false});
    await page.waitForFunction(() => !matchMedia('(pointer: coarse)').matches);
    await session.detach();
    await fieldOf(page).press('Enter');
    await page.locator('.message.out[data-wamid]', {hasText: 'ten minutes'}).waitFor();
    const [sent] = await sentMessages('ten minutes of work!');
    assert.ok(JSON.parse(sent.body).image.id && JSON.parse(sent.body).context.message_id);
    await page.reload();
    await fieldOf(page).waitFor();
    await untilValue(fieldOf(page), '');
    await untilCount(page.locator('.removable, .message.pending'), 0);
    step('a page that ends before the answer: the next one asks again with the same key');
    await page.route('**/v2/messages/send/text', async (route) => {
        await route.fetch(); // the gateway carries it out, and the page gets no answer
    });
    await write(page, 'No answer to this');
    await page.keyboard.press('Enter');
    await untilSent('No answer to this');
    const third = await context.newPage();
    const answers = []; // the statuses of its sends
    third.on('response', (response) => {
        if (response.url().endsWith('/send/text'))
            answers.push(response.status());
    });
    await third.goto(address);
    await bubbleOf(third, 'A question').first().waitFor();
    await settled(third);
    assert.deepEqual(answers, [], 'another tab leaves it to the one that sends it');
    await third.route('**/v2/messages/send/text', (route) => route.fulfill({status: 429,
        json: {success: false, error: 'RATE_LIMITED', message: 'Too many requests.'}}), {times: 1});
    const refused = third.waitForResponse((response) => response.status() === 429);
    await page.goto('about:blank');
    await refused;
    await third.getByRole('button', {name: 'Check again'}).click({timeout: 5000})
        .catch(() => {}); // a change of the thread may ask first
    await third.locator('.message.out[data-wamid]', {hasText: 'No answer to this'}).waitFor();
    await nonePending(third);
    await until(() => answers.at(-1), (status) => status === 200, 'the last answer');
    assert.equal((await sentMessages('No answer to this')).length, 1);
    // the refusal of a request says nothing of an earlier one; 409 while the first request runs
    const [refusal, ...asked] = answers;
    assert.deepEqual([refusal, asked.pop(), asked.filter((status) => status !== 409)],
        [429, 200, []], answers.join());
    await third.close();
    await page.unroute('**/v2/messages/send/text');
    await page.goto(address);
    step('a refused message is there after a reload, and Edit puts it above what was typed');
    await sandbox('POST', 'faults', {match: {path: '/messages', body: 'the first text'},
        code: 131026});
    await write(page, 'the first text');
    await page.keyboard.press('Enter');
    const row = page.locator('.message.pending', {hasText: 'the first text'});
    await row.locator('.failure').waitFor();
    const reason = await row.locator('.failure').innerText();
    await write(page, 'a second text in work');
    await page.reload();
    await row.locator('.failure').waitFor();
    await untilText(row.locator('.failure'), reason);
    await page.waitForFunction(() =>
        document.querySelector('.composer textarea').value === 'a second text in work');
    await row.getByRole('button', {name: 'Edit'}).click();
    await row.waitFor({state: 'detached'});
    await untilValue(fieldOf(page), 'the first text\n\na second text in work');
    step('a text that is too long is counted, not cut and not sent');
    const long = `${'word '.repeat(1000)}ad`;
    await write(page, long);
    assert.equal(await fieldOf(page).inputValue(), long);
    await page.getByText('906 characters too many').waitFor();
    await fieldOf(page).press('Enter');
    assert.equal(await fieldOf(page).inputValue(), long);
    await page.locator('input[type="file"]').setInputFiles(jpeg);
    await page.getByText('3,978 characters too many').waitFor();
    step('the logout says what it deletes');
    const logOut = page.getByRole('button', {name: 'Log out'});
    await logOut.first().click();
    await page.getByRole('dialog').getByText('One draft or message was not sent.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({state: 'detached'});
    assert.equal(await fieldOf(page).inputValue(), long);
    await logOut.first().click();
    await page.getByRole('dialog').getByRole('button', {name: 'Log out'}).click();
    await page.getByLabel('Email address').waitFor();
    await logInAnew();
    await page.goto(address);
    await bubbleOf(page, 'A question').first().waitFor();
    await settled(page);
    await untilValue(fieldOf(page), '');
    await untilCount(page.locator('.removable, .message.pending'), 0);
    const rows = await page.evaluate(() => new Promise((resolve) => {
        indexedDB.open('switchboard').onsuccess = ({target}) => {
            target.result.transaction('kept').objectStore('kept').getAllKeys().onsuccess =
                (event) => resolve(event.target.result);
        };
    }));
    assert.deepEqual(rows, []);
};

exports.states = async ({page, context, open, logIn, step, BASE}) => {
    const person = {phone: '16505551016', name: 'Far Away'};
    const trouble = page.locator('#trouble p');
    await platform(BASE, {...person, kind: 'text', text: 'First'});
    await logIn();
    step('a list that loads does not say that it is empty');
    let held = null;
    const isHeld = () => until(() => held, Boolean, 'the list was not requested');
    await page.route('**/v2/threads?*', (route) => { held = route; });
    await page.goto(`${BASE}/dashboard/#/inbox`);
    await page.locator('.thread-list .search-box').waitFor();
    await page.locator('.thread-scroll .loading').waitFor();
    assert.equal(await page.locator('.thread-list .empty').count(), 0);
    await (await isHeld()).continue();
    const item = page.locator('.thread', {hasText: person.name});
    await item.waitFor();
    step('a search keeps the rows until its answer is there');
    held = null;
    await page.getByRole('searchbox').fill('Of no person here');
    await page.locator('.thread-scroll[aria-busy]').waitFor();
    assert.ok(await item.count() && !await page.locator('.thread-list .empty').count());
    await (await isHeld()).continue();
    await page.getByText('No conversation fits').waitFor();
    step('a list that failed says so, also after a change');
    await page.unroute('**/v2/threads?*');
    await page.route('**/v2/threads?*', (route) => route.fulfill({status: 500,
        json: {success: false, error: 'INTERNAL_ERROR', message: 'It failed.'}}));
    await page.getByRole('searchbox').fill('');
    await page.locator('.thread-scroll').getByText('It failed.').waitFor();
    await platform(BASE, {...person, kind: 'text', text: 'Second'});
    await item.waitFor();
    await untilCount(page.locator('.thread-scroll').getByText('It failed.'), 1);
    await page.unroute('**/v2/threads?*');
    await page.locator('.thread-scroll').getByRole('button', {name: 'Try again'}).click();
    await page.locator('.thread-scroll .notice').waitFor({state: 'detached'});
    step('without a network the page says so, and since when');
    await item.click();
    await bubbleOf(page, 'Second').waitFor();
    await context.setOffline(true);
    await trouble.getByText(/^No connection. What you see is from \d/).waitFor();
    await platform(BASE, {...person, kind: 'text', text: 'While you were out'});
    step('it asks at once when the network is back');
    await page.evaluate(() => { // the pauses that the listeners of the page begin before this one
        const begin = window.setTimeout;
        const pauses = [];
        window.setTimeout = (work, pause, ...values) => {
            pauses.push({pause, at: performance.now()});
            return begin(work, pause, ...values);
        };
        window.back = new Promise((resolve) => addEventListener('online', ({timeStamp}) =>
            resolve(pauses.filter(({at}) => at >= timeStamp).map(({pause}) => pause))));
    });
    await page.waitForEvent('requestfailed',
        (request) => request.url().includes('/v2/changes'));
    await context.setOffline(false);
    assert.ok((await page.evaluate(() => window.back)).includes(0), 'it waits');
    await bubbleOf(page, 'While you were out').waitFor();
    await trouble.waitFor({state: 'detached'});
    step('a server that fails is said too');
    await page.route('**/v2/changes*', (route) => route.fulfill({status: 500, body: ''}));
    await trouble.getByText(/^The server answers with an error/).waitFor();
    await page.unroute('**/v2/changes*');
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await trouble.waitFor({state: 'detached'});
};

exports.midnight = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551017', name: 'Up Late'};
    const now = Date.now();
    await platform(BASE, {...person, kind: 'text', text: 'Good evening',
        timestamp: String(Math.floor(now / 1000))});
    await logIn();
    const midnight = await page.evaluate((time) => new Date(time).setHours(24, 0, 0, 0), now);
    await page.clock.install({time: midnight - 600000}); // the clock goes on meanwhile
    await openThread({page, open}, person.name);
    await bubbleOf(page, 'Good evening').waitFor();
    await untilText(page.locator('.day'), 'Today');
    await untilText(page.locator('.thread time'), /\d:\d/);
    step('the next day');
    await page.clock.fastForward(610000);
    await page.locator('.day').getByText('Yesterday').waitFor();
    await until(() => page.locator('.thread time').innerText(), (text) => !/\d:\d/.test(text),
        'the time of the thread');
};

// The number of unread messages that the list shows for a person; 0 without one.
function unreadOf(page, name) {
    return page.evaluate((wanted) => parseInt([...document.querySelectorAll('.thread')]
        .find((node) => node.textContent.includes(wanted))
        ?.querySelector('.badge.count > [aria-hidden]')?.textContent ?? '0', 10), name);
}

function untilUnread(page, name, wanted) {
    return untilEqual(() => unreadOf(page, name), wanted, 'unread');
}

exports.unread = async ({page, context, open, logIn, step, BASE}) => {
    const person = {phone: '16505551003', name: 'Double Tab'};
    await platform(BASE, {...person, kind: 'text', text: 'One'});
    await logIn();
    const second = await context.newPage();
    await open('/inbox');
    await open('/inbox', second);
    await untilUnread(page, person.name, 1);
    step('a message arrives in both tabs');
    await platform(BASE, {...person, kind: 'text', text: 'Two'});
    await untilUnread(page, person.name, 2);
    await untilUnread(second, person.name, 2);
    step('one tab reads it');
    await second.locator('.thread', {hasText: person.name}).click();
    await bubbleOf(second, 'Two').waitFor();
    await untilUnread(second, person.name, 0);
    await untilUnread(page, person.name, 0);
    step('what arrives in the open thread is read at once, also for the other tab');
    await platform(BASE, {...person, kind: 'text', text: 'Three'});
    await bubbleOf(second, 'Three').waitFor();
    await page.locator('.thread', {hasText: 'Three'}).waitFor();
    await untilUnread(page, person.name, 0);
    step('it is announced');
    await second.getByRole('log').getByText(`${person.name}: Three`).waitFor({state: 'attached'});
    await untilCount(second.getByRole('log').locator('p'), 1);
    step('what arrives below the view is not read, and the button says how much');
    for (let i = 0; i < 12; i++)
        await platform(BASE, {...person, kind: 'text', text: `Line ${i}\nand\nmore`});
    await bubbleOf(second, 'Line 11').waitFor();
    await untilUnread(page, person.name, 0);
    const scroll = second.locator('.messages-scroll');
    await scroll.evaluate((node) => { node.scrollTop = 0; });
    await platform(BASE, {...person, kind: 'text', text: 'Below the view'});
    const down = second.getByRole('button', {name: '1 new message'});
    await down.waitFor();
    await untilUnread(page, person.name, 1);
    await down.click();
    await untilUnread(page, person.name, 0);
    step('nor is what arrives in a window without the focus');
    await second.evaluate(() => { document.hasFocus = () => false; });
    await platform(BASE, {...person, kind: 'text', text: 'While away'});
    await bubbleOf(second, 'While away').waitFor();
    await untilUnread(page, person.name, 1);
    await second.evaluate(() => {
        delete document.hasFocus;
        window.dispatchEvent(new Event('focus'));
    });
    await untilUnread(page, person.name, 0);
};

exports.merge = async ({page, open, logIn, step, BASE}) => {
    const phone = {phone: '16505551004', bsuid: null, name: 'Merge Phone'};
    const bsuid = {bsuid: 'US.77000000000000001004', name: 'Merge Bsuid'};
    await platform(BASE, {...phone, kind: 'text', text: 'From the number'});
    await platform(BASE, {...bsuid, kind: 'text', text: 'From the user name'});
    await logIn();
    await openThread({page, open}, 'Merge Bsuid');
    await bubbleOf(page, 'From the user name').waitFor();
    const before = page.url();
    step('the platform names both identities in one message');
    await platform(BASE, {phone: phone.phone, bsuid: bsuid.bsuid, name: 'Merge Both', kind: 'text',
        text: 'It is me'});
    await bubbleOf(page, 'It is me').waitFor();
    await bubbleOf(page, 'From the number').waitFor();
    await bubbleOf(page, 'From the user name').waitFor();
    await untilText(page.locator('#thread-name'), 'Merge Both');
    step('the former address leads to it, and the list has it once');
    await open('/inbox');
    await page.goto(before);
    await bubbleOf(page, 'It is me').waitFor();
    await open('/inbox?q=Merge');
    await untilCount(page.locator('.thread'), 1);
};

exports.strangers = async ({page, open, logIn, step, BASE}) => {
    const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    const long = 'a'.repeat(4096);
    const texts = [markup, long, '\u202egnirts\u202c \u2066 end', 'nul \u0000 end', '\ud83e\uded6'];
    const person = {phone: '16505551005', name: `Odd <b>bold</b> \u202eeman`};
    for (const text of texts)
        await platform(BASE, {...person, kind: 'text', text});
    await platform(BASE, {...person, kind: 'document', text: markup,
        message: {document: {filename: '../../<svg onload=alert(3)>.pdf'}}});
    await platform(BASE, {...person, kind: 'contacts', message: {contacts: [
        {name: {formatted_name: markup}, phones: [{phone: markup}]}]}});
    await platform(BASE, {...person, kind: 'order', text: markup});
    await platform(BASE, {...person, kind: 'nfm_reply',
        flowResponse: JSON.stringify({[markup]: markup, list: [markup]})});
    await platform(BASE, {...person, kind: 'nfm_reply', flowResponse: 'not JSON <b>'});
    await platform(BASE, {...person, kind: 'location', message: {location: {name: markup,
        address: markup, latitude: 'x', longitude: null}}});
    await platform(BASE, {...person, kind: 'unsupported'});
    await logIn();
    step('open the thread');
    await openThread({page, open}, 'Odd');
    await bubbleOf(page, 'not JSON').waitFor();
    assert.equal(await page.locator('main :is(script, iframe, object, b)').count(), 0);
    assert.equal(await page.locator('main img').count(), 0);
    assert.equal(await page.locator('#thread-name').innerText(), person.name);
    const shown = await page.locator('.message.type-text .bubble > .foreign').allTextContents();
    for (const text of [markup, long, texts[2], texts[4]])
        assert.ok(shown.includes(text), `a text is not shown as it is: ${text.slice(0, 60)}`);
    const excess = await page.evaluate(() =>
        document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(excess <= 0, 'the page is wider than the screen');
    step('the details of a message');
    await page.locator('.message.type-text').first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Message id', {exact: true}).waitFor();
    assert.equal(await page.locator('dialog img').count(), 0);
};

// Messages of the platform as they come, of the kinds that the sandbox has.
const KINDS = ['text', 'text_reply', 'image', 'video', 'audio', 'voice', 'document', 'sticker',
    'location', 'contacts', 'button_reply', 'list_reply', 'nfm_reply', 'button', 'order',
    'reaction', 'unsupported', 'unknown', 'edit', 'revoke', 'referral', 'referred_product',
    'interactive_missing', 'user_changed_number', 'call_connect', 'call_missed', 'call_answered',
    'call_permission_reply'];

// What the gateway sends, and what an answer of the platform says of a failure.
const SENT = [
    {type: 'template', template: {name: 'order_shipped', language: {code: 'en_US'}, components: [
        {type: 'body', parameters: [{type: 'text', text: 'Ada'}, {type: 'text', text: 'A-17'}]}]}},
    {type: 'interactive', interactive: {type: 'button', header: {type: 'text', text: 'Tea'},
        body: {text: 'Which?'}, footer: {text: 'Fresh'}, action: {buttons: [
            {type: 'reply', reply: {id: 'a', title: 'Green'}}]}}},
    {type: 'interactive', interactive: {type: 'list', body: {text: 'Which?'}, action: {
        button: 'Open', sections: [{title: 'Teas', rows: [{id: 'a', title: 'Green',
            description: 'Half a pound'}]}]}}},
    {type: 'interactive', interactive: {type: 'cta_url', body: {text: 'Look'}, action: {
        name: 'cta_url', parameters: {display_text: 'Open', url: 'https://tea.example/'}}}},
];

// Runs in the page: shows each message with each of its members replaced, between two texts, in the
// list of messages and in that of threads. Returns what became of them.
async function showMutations([messages, thread, values]) {
    const {messageList} = await import('/dashboard/js/inbox/messages.js');
    const {threadList} = await import('/dashboard/js/inbox/list.js');
    const {againOf} = await import('/dashboard/js/inbox/again.js');
    const copy = (value) => JSON.parse(JSON.stringify(value));
    const paths = (value, path) => value && typeof value === 'object'
        ? Object.keys(value).flatMap((name) => [[...path, name],
            ...paths(value[name], [...path, name])]) : [];
    const all = [];
    const add = (message, path, json) => {
        const changed = copy(message);
        const last = path.at(-1);
        const parent = path.slice(0, -1).reduce((value, name) => value[name], changed);
        parent[last] = JSON.parse(json);
        all.push(changed);
    };
    for (const message of messages) {
        for (const json of values)
            for (const path of [...paths(message.body, ['body']), ['error'],
                ...paths(message.error, ['error'])])
                add(message, path, json);
        for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
            all.push({...copy(message), type: name},
                {...copy(message), type: name, body: {...message.body, type: name}});
    }
    const plain = {...messages[0], type: 'text',
        body: {type: 'text', text: {body: 'A plain text'}}};
    const shown = [plain, ...all, plain].map((one, i) => ({...one, id: `msg_${i}`,
        wamid: `wamid.${i}`, timestamp: new Date(1.7e12 + i * 1000).toISOString()}));
    const list = messageList({thread, definitionOf: () => null, open() {}, reply() {},
        again: (message) => againOf(message, {}, true), onEnd() {}});
    document.querySelector('.thread-pane').replaceChildren(list.root);
    await list.load(Promise.resolve({items: shown, paging: {cursors: {before: null}}}));
    const rows = new Map([...list.root.querySelectorAll('.message')].map((row) => [row.id, row]));
    const side = threadList({filters: {line: 'none'}, lines: Promise.resolve([])});
    side.change(shown.map((lastMessage, i) => ({...thread, id: `thr_${i}`, formerIds: [],
        line: {...thread.line, id: 'none'}, lastMessageAt: lastMessage.timestamp, lastMessage})));
    const saysNothing = (row) => {
        const bubble = row.querySelector('.bubble').cloneNode(true);
        bubble.querySelectorAll('.meta, .off-screen').forEach((node) => node.remove());
        return !bubble.textContent.trim() && !bubble.querySelector('svg');
    };
    const items = [...side.root.querySelectorAll('.thread')];
    return {
        count: shown.length,
        withoutRow: shown.filter(({id, type}) => !rows.has(id) &&
            !['reaction', 'edit', 'revoke'].includes(type)).length,
        empty: [...rows].filter(([, row]) => saysNothing(row)).map(([id]) =>
            JSON.stringify(shown[Number(id.slice(4))])).slice(0, 3),
        objects: [...rows.values(), ...items].map((node) => node.textContent)
            .filter((text) => /\[object |undefined|NaN/.test(text)).slice(0, 3),
        plain: ['msg_0', `msg_${shown.length - 1}`].map((id) =>
            rows.get(id).querySelector('.foreign').textContent),
        threads: items.length,
        withoutPreview: items.filter((item) =>
            !item.querySelector('.preview bdi').textContent.trim()).length,
    };
}

exports.strangeShapes = async ({page, open, logIn, step, api, print, BASE}) => {
    const person = {phone: '16505551012', name: 'Strange Shapes'};
    const other = {phone: '16505551013', name: 'Quite Usual'};
    await platform(BASE, {...other, kind: 'text', text: 'Nothing unusual'});
    for (const kind of KINDS)
        await platform(BASE, {...person, kind, text: 'Tea', context: 'wamid.none'});
    await platform(BASE, {...person, kind: 'contacts', message: {contacts: [
        {name: {formatted_name: {}}, phones: [null]}]}});
    for (const type of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
        await platform(BASE, {...person, kind: 'text', message: {type}});
    await logIn();
    step('such messages of the platform in a thread, and as the last of it');
    await open('/inbox');
    await page.locator('.thread', {hasText: person.name}).click();
    await page.locator('.message').nth(20).waitFor();
    assert.equal(await page.locator('#thread-name').innerText(), person.name);
    await page.locator('.message.type-hasOwnProperty').getByRole('button', {name: 'Details'})
        .click();
    await page.getByRole('dialog').getByText('Message id', {exact: true}).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.thread', {hasText: other.name}).click();
    await bubbleOf(page, 'Nothing unusual').waitFor();
    step('each member of each message replaced');
    const [thread] = JSON.parse((await api(page, 'GET',
        `/v2/threads?q=${encodeURIComponent(person.name)}`)).text).data.items;
    const {items} = JSON.parse((await api(page, 'GET',
        `/v2/threads/${thread.id}/messages?limit=100`)).text).data;
    assert.ok(items.length > 22, `only ${items.length} messages`);
    const kinds = items.filter(({type}) => !['__proto__', 'constructor', 'toString',
        'hasOwnProperty'].includes(type));
    const sent = SENT.map((body) => ({...items[0], direction: 'out', status: 'failed',
        type: body.type, body, error: [{code: 131047, title: 'Re-engagement message',
            error_data: {details: 'More than 24 hours have passed'}}]}));
    const result = await page.evaluate(showMutations, [[...kinds, ...sent], thread,
        ['null', '7', '"text"', '{}', '[]', '[null]', '{"__proto__": null, "toString": null}']]);
    const {count} = result;
    print(`${count} messages\n`);
    assert.ok(count > 2000);
    await open('/overview'); // a failure shows that page, not thousands of messages
    assert.deepEqual(result, {count, withoutRow: 0, empty: [], objects: [],
        plain: ['A plain text', 'A plain text'], threads: count, withoutPreview: 0},
    JSON.stringify(result, null, 1));
};

// What the bubbles of the calls say, in their order.
const callLines = (page) => page.locator('.message:not(.type-text) .bubble .strong')
    .allInnerTexts();

exports.calls = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551060', name: 'Often Calling'};
    const now = Math.floor(Date.now() / 1000) - 3000;
    const at = (minutes) => ({timestamp: String(now + minutes * 60)});
    const call = (kind, id, minutes, message = {}) => platform(BASE, {...person, kind,
        id: `wacid.${id}`, ...at(minutes), message});
    const reply = (minutes, members) => platform(BASE, {...person, ...at(minutes),
        kind: 'call_permission_reply', context: 'wacid.d1',
        message: {interactive: {call_permission_reply: members}}});
    const until = Date.UTC(2031, 4, 6, 12, 0) / 1000;
    await platform(BASE, {...person, kind: 'text', text: 'May I call?', ...at(0)});
    await call('call_missed', 'd1', 1);
    await call('call_answered', 'd2', 2);
    await call('call_answered', 'd3', 3, {duration: 3605, status: 'COMPLETED'});
    await call('call_answered', 'd4', 4, {duration: 20, status: 'FAILED'});
    await reply(5, {expiration_timestamp: until, response_source: 'automatic'});
    await reply(6, {is_permanent: true, expiration_timestamp: null});
    await reply(7, {response: 'reject', expiration_timestamp: null});
    await call('call_connect', 'd5', 8);
    await logIn();
    await openThread({page, open}, person.name);
    await bubbleOf(page, 'May I call?').waitFor();
    const lines = ['Missed call', 'Call, 2 min 5 s', 'Call, 1 h 5 s', 'Call that broke off, 20 s',
        'You may call until May 6, 2031', 'You may call', 'You may not call', 'Call'];
    const shown = await callLines(page);
    assert.ok(shown[4].startsWith(lines[4]), shown[4]);
    assert.deepEqual(shown.toSpliced(4, 1, lines[4]), lines);
    await untilCount(page.getByText('Given with a call'), 1);
    assert.equal(await page.locator('.message', {hasText: 'Given with a call'}).locator('.quote')
        .innerText(), 'Missed call');
    step('a call is not answered, quoted or marked here');
    const rung = page.locator('[data-wamid="wacid.d5"]');
    await untilCount(rung.getByRole('button'), 1);
    await rung.focus();
    await page.keyboard.press('r');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('wacid.d5').first().waitFor();
    await untilCount(page.getByRole('dialog').getByRole('button', {name: 'Reply'}), 0);
    await page.keyboard.press('Escape');
    await untilCount(page.locator('.composer .quote'), 0);
    step('its end replaces the line, also in the list');
    await call('call_missed', 'd5', 9);
    await rung.getByText('Missed call').waitFor();
    await page.locator('.thread', {hasText: person.name}).getByText('Missed call').waitFor();
    step('in the other languages');
    for (const [language, text] of [['es', 'Llamada perdida'], ['pt', 'Chamada perdida']]) {
        await page.evaluate((code) => localStorage.setItem('switchboard-language', code), language);
        await page.reload();
        await rung.getByText(text).waitFor();
    }
    await page.evaluate(() => localStorage.setItem('switchboard-language', 'en'));
};

exports.edited = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551006', name: 'Second Thoughts'};
    await platform(BASE, {...person, kind: 'text', id: 'wamid.edited1', text: 'Two pots'});
    await platform(BASE, {...person, kind: 'text', id: 'wamid.deleted1', text: 'My secret'});
    await logIn();
    await openThread({page, open}, person.name);
    await bubbleOf(page, 'Two pots').waitFor();
    step('an edit replaces the text and is marked');
    await platform(BASE, {...person, kind: 'edit', context: 'wamid.edited1', text: 'Three pots'});
    const message = page.locator('[data-wamid="wamid.edited1"]');
    await message.getByText('Three pots').waitFor();
    await untilCount(message.getByText('Edited'), 1);
    step('a deletion hides the text');
    await platform(BASE, {...person, kind: 'revoke', context: 'wamid.deleted1'});
    await page.getByText('The sender deleted this message').waitFor();
    await untilCount(page.locator('.messages').getByText('My secret'), 0);
    await untilCount(page.locator('.message'), 2);
};

exports.windowClosed = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551007', name: 'Long Ago'};
    const old = String(Math.floor(Date.now() / 1000) - 90000);
    await platform(BASE, {...person, kind: 'text', text: 'Bye', timestamp: old});
    await logIn();
    await openThread({page, open}, person.name);
    await page.locator('.composer').getByText('Window closed.').waitFor();
    await untilCount(page.getByLabel('Write a message'), 0);
    step('a template with variables');
    await page.getByRole('button', {name: 'Choose a template'}).click();
    const choice = page.getByRole('button', {name: /^order_shipped/});
    await choice.getByText('Hi Ada, order A-17 is on its way.').waitFor();
    for (const [search, count] of [['Órder  Shipped', 1], ['way', 1], ['track', 1], ['tea', 0]]) {
        await page.getByRole('dialog').getByRole('searchbox').fill(search);
        await untilCount(page.locator('.choice'), count);
    }
    await page.getByRole('dialog').getByRole('searchbox').fill('is on');
    await choice.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Hi Ada, order A-17 is on its way.').waitFor();
    await dialog.getByLabel('Text 1').fill('Lola');
    await dialog.getByLabel('Text 2').fill('Z-9');
    await dialog.getByLabel('End of the URL').fill('Z-9?x=1');
    await dialog.getByText('Hi Lola, order Z-9 is on its way.').waitFor();
    await dialog.getByRole('button', {name: 'Send to Long Ago'}).click();
    await page.locator('.message.out[data-wamid]', {hasText: 'Hi Lola, order Z-9'}).waitFor();
    const [sent] = await sentMessages('Z-9?x=1');
    assert.deepEqual(JSON.parse(sent.body).template, {
        name: 'order_shipped', language: {code: 'en_US'}, components: [
            {type: 'body', parameters: [{type: 'text', text: 'Lola'}, {type: 'text', text: 'Z-9'}]},
            {type: 'button', sub_type: 'url', index: '0',
                parameters: [{type: 'text', text: 'Z-9?x=1'}]},
        ],
    });
    step('the window opens when the customer writes');
    await platform(BASE, {...person, kind: 'text', text: 'Back again'});
    await page.getByLabel('Write a message').waitFor();
};

exports.userIdOnly = async ({page, open, logIn, step, BASE}) => {
    const person = {bsuid: 'US.77000000000000001008', name: 'No Number'};
    await platform(BASE, {...person, kind: 'text', text: 'Guess who'});
    await logIn();
    await openThread({page, open}, person.name);
    step('an answer goes to the user id');
    await write(page, 'To a user id');
    await page.keyboard.press('Enter');
    await page.locator('.message.out[data-wamid]', {hasText: 'To a user id'}).waitFor();
    const [sent] = await sentMessages('To a user id');
    assert.equal(JSON.parse(sent.body).recipient, person.bsuid);
    step('an authentication template cannot be chosen');
    await page.getByRole('button', {name: 'Send a template'}).click();
    const code = page.getByRole('button', {name: /^login_code/});
    await code.waitFor();
    await untilEqual(() => code.isDisabled(), true);
    await untilText(code, /phone number only/);
};

// A person asks for the data, then to be erased, and then writes again.
exports.person = async ({page, open, logIn, step, api, BASE}) => {
    const person = {phone: '16505551096', name: 'Gracia Gone'};
    const dialog = page.getByRole('dialog', {name: person.name, exact: true});
    await platform(BASE, {...person, kind: 'text', text: 'What do you hold of me?'});
    await logIn();
    await openThread({page, open}, person.name);
    step('all that is held of the person is saved as a file');
    await page.getByRole('button', {name: 'Contact', exact: true}).click();
    const [file] = await Promise.all([page.waitForEvent('download'),
        dialog.getByRole('button', {name: 'Save the data'}).click()]);
    const held = JSON.parse(fs.readFileSync(await file.path(), 'utf8'));
    assert.equal(file.suggestedFilename(), `${held.contact.id}.json`);
    assert.equal(held.contact.phone, person.phone);
    assert.deepEqual(held.messages.map(({body}) => body.text.body), ['What do you hold of me?']);
    assert.equal(held.isComplete, true);
    step('who is protected cannot be erased until the protection ends, after a question');
    const heldAt = async () => JSON.parse((await api(page, 'GET',
        `/v2/contacts/${held.contact.id}`)).text).data.heldAt;
    const ending = page.getByRole('dialog', {name: `Allow deletion for ${person.name} again?`});
    const erasing = dialog.getByRole('button', {name: 'Erase the person'});
    await dialog.getByRole('button', {name: 'Protect from deletion'}).click();
    await dialog.getByText(/^Protected since .*: nothing of this person is deleted\.$/).waitFor();
    assert.equal(await erasing.count(), 0);
    assert.notEqual(await heldAt(), null);
    await dialog.getByRole('button', {name: 'Allow deletion again'}).click();
    await ending.getByRole('button', {name: 'Cancel'}).click();
    await ending.waitFor({state: 'detached'});
    assert.notEqual(await heldAt(), null);
    await page.keyboard.press('Escape');
    await page.getByRole('button', {name: 'Contact', exact: true}).click();
    await dialog.getByText(/^Protected since/).waitFor();
    await dialog.getByRole('button', {name: 'Allow deletion again'}).click();
    await ending.getByRole('button', {name: 'Allow deletion again'}).click();
    await erasing.waitFor();
    assert.equal(await dialog.getByText(/^Protected since/).count(), 0);
    assert.equal(await heldAt(), null);
    step('an erasure says what it does, and does nothing unless it is confirmed');
    const question = page.getByRole('dialog', {name: `Erase ${person.name}?`});
    await dialog.getByRole('button', {name: 'Erase the person'}).click();
    await question.getByText('This cannot be undone.').waitFor();
    await question.getByRole('button', {name: 'Cancel'}).click();
    await question.waitFor({state: 'detached'});
    await dialog.getByRole('button', {name: 'Erase the person'}).click();
    await question.getByRole('button', {name: 'Erase the person'}).click();
    await page.getByText(`${person.name} is being erased.`).waitFor();
    await untilCount(page.getByRole('dialog'), 0);
    await untilEqual(() => new URL(page.url()).hash, '#/inbox');
    step('who writes again is a new contact');
    await platform(BASE, {...person, kind: 'text', text: 'It is me again'});
    await page.locator('.thread', {hasText: person.name}).click();
    await bubbleOf(page, 'It is me again').waitFor();
    assert.equal(await bubbleOf(page, 'What do you hold of me?').count(), 0);
};

// The head of a thread, the way back from it, and a thread of an archived line.
exports.head = async ({page, open, logIn, step, settled, api, BASE}) => {
    const person = {phone: '16505551017', name: 'Héctor Head'};
    await platform(BASE, {...person, kind: 'text', text: 'One *bold* https://tea.example/a_b_c'});
    await platform(BASE, {phone: '16505551018', name: 'Another One', kind: 'text', text: 'Hi'});
    await logIn();
    step('a change of the thread keeps the focus in its head');
    await openThread({page, open}, 'Head');
    await untilTitle(page, /^(\(\d+\) )?Héctor Head · Inbox · Switchboard$/);
    const bubble = bubbleOf(page, 'One bold');
    await untilCount(bubble.locator('strong', {hasText: /^bold$/}), 1);
    assert.equal(await bubble.getByRole('link').getAttribute('href'), 'https://tea.example/a_b_c');
    const contact = page.getByRole('button', {name: 'Contact', exact: true});
    await contact.focus();
    await platform(BASE, {...person, kind: 'text', text: 'Two'});
    await bubbleOf(page, 'Two').waitFor();
    const hasFocus = (words) => untilEqual(() =>
        contact.evaluate((node) => node === document.activeElement), true, words);
    await hasFocus('after a message');
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await hasFocus('after a minute');
    await contact.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({state: 'detached'});
    await hasFocus('after the dialog');
    step('on a phone the way back keeps the search');
    await page.setViewportSize({width: 390, height: 800});
    await page.getByRole('link', {name: 'Back to the list'}).click();
    await page.locator('.thread-list').waitFor();
    await settled(page);
    await untilValue(page.getByRole('searchbox'), 'Head');
    await untilCount(page.locator('.thread'), 1);
    await untilTitle(page, /^(\(\d+\) )?Inbox · Switchboard$/);
    step('the controls follow the address');
    await page.evaluate(() => { location.hash = '#/inbox?q=Another'; });
    await page.locator('.thread', {hasText: 'Another One'}).waitFor();
    await untilValue(page.getByRole('searchbox'), 'Another');
    await page.goBack();
    await page.locator('.thread', {hasText: 'Héctor'}).waitFor();
    await untilValue(page.getByRole('searchbox'), 'Head');
    await page.setViewportSize({width: 1280, height: 900});
    step('a thread of an archived line has no composer, and leads to the lines');
    const {text} = await api(page, 'GET', '/v2/lines');
    const {id} = JSON.parse(text).data.items.find((line) => line.phoneNumberId === LINE);
    await api(page, 'PATCH', `/v2/lines/${id}`, {isArchived: true});
    try {
        await page.reload();
        await page.locator('.thread').first().click();
        await page.locator('.composer').getByText('This line is archived.').waitFor();
        await untilCount(page.getByLabel('Write a message'), 0);
        await page.locator('.message').first().getByRole('button', {name: 'Details'}).click();
        await page.getByRole('dialog').getByText('Message id', {exact: true}).waitFor();
        await untilCount(page.getByRole('dialog').getByRole('button', {name: 'Reply'}), 0);
        await page.keyboard.press('Escape');
        await page.getByRole('link', {name: 'Open the lines'}).click();
        await page.getByRole('heading', {name: 'Archived lines'}).waitFor();
    } finally {
        await api(page, 'PATCH', `/v2/lines/${id}`, {isArchived: false, isPrimary: true});
    }
};

exports.block = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551009', name: 'Be Quiet'};
    await platform(BASE, {...person, kind: 'text', text: 'Buy!'});
    await logIn();
    await openThread({page, open}, person.name);
    await page.getByRole('button', {name: 'Block', exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Block', exact: true}).click();
    await page.locator('.composer').getByText('Blocked on this line.').waitFor();
    await untilCount(page.getByLabel('Write a message'), 0);
    await page.locator('.thread .blocked-mark').waitFor();
    step('an answer to one message is refused with the reason');
    await bubbleOf(page, 'Buy!').hover();
    await page.locator('.message').getByRole('button', {name: 'Reply'}).click();
    await page.locator('#toasts').getByText('Nothing is sent to this contact.').waitFor();
    step('after a reload it is still blocked');
    await page.reload();
    await page.getByRole('button', {name: 'Unblock'}).click();
    await page.getByLabel('Write a message').waitFor();
    await page.locator('.thread .blocked-mark').waitFor({state: 'detached'});
};

exports.media = async ({page, context, open, logIn, step, BASE}, jpeg) => {
    const person = {phone: '16505551010', name: 'Picture Book'};
    await platform(BASE, {...person, kind: 'text', text: 'Send me one'});
    await logIn();
    await openThread({page, open}, person.name);
    step('send a picture with a caption');
    await page.locator('input[type="file"]').setInputFiles(jpeg);
    await page.locator('.removable').waitFor();
    await write(page, 'Our shop');
    await page.keyboard.press('Enter');
    const message = page.locator('.message.out[data-wamid]', {hasText: 'Our shop'});
    await message.waitFor();
    const [sent] = await sentMessages('Our shop');
    const {image} = JSON.parse(sent.body);
    assert.equal(image.caption, 'Our shop');
    step('nothing is loaded before the click, then it is shown from a blob');
    assert.equal(await page.locator('.message img').count(), 0);
    await message.getByRole('button', {name: 'Show image'}).click();
    const picture = message.locator('img');
    await picture.waitFor();
    assert.match(await picture.getAttribute('src'), /^blob:/);
    await page.waitForFunction((node) => node.naturalWidth === 640, await picture.elementHandle());
    step('it is enlarged, also by the keyboard, and the focus comes back');
    await message.getByRole('button', {name: 'Enlarge: Image'}).focus();
    await page.keyboard.press('Enter');
    const large = page.getByRole('dialog').getByRole('img', {name: 'Image'});
    await page.waitForFunction((node) => node.naturalWidth === 640, await large.elementHandle());
    await page.keyboard.press('Escape');
    await large.waitFor({state: 'detached'});
    await untilFocus(page, 'className', /media-picture/);
    step('a status that arrives meanwhile leaves its buttons working');
    await platform(BASE, {...person, kind: 'status_read',
        id: await message.getAttribute('data-wamid')});
    await message.locator('.ticks[data-status="read"]').waitFor();
    await message.getByRole('button', {name: 'Enlarge: Image'}).click();
    await large.waitFor();
    await page.keyboard.press('Escape');
    step('a picture that could hold scripts is saved, not shown');
    await sandbox('POST', 'media', {phoneNumberId: LINE, id: '77001', mimeType: 'image/svg+xml',
        base64: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')});
    await platform(BASE, {...person, kind: 'image', mediaId: '77001', text: 'Look'});
    const bad = page.locator('.message.in', {hasText: 'Look'});
    const download = page.waitForEvent('download');
    await bad.getByRole('button', {name: 'Show image'}).click();
    await download;
    assert.equal(await bad.locator('img').count(), 0);
    step('by setting pictures load when they come into view, large ones by a click');
    const bytes = fs.readFileSync(jpeg);
    const add = async (id, content, text) => {
        await sandbox('POST', 'media', {phoneNumberId: LINE, id, mimeType: 'image/jpeg',
            base64: content.toString('base64')});
        await platform(BASE, {...person, kind: 'image', mediaId: id, text});
    };
    await add('77002', bytes, 'First picture');
    for (let i = 0; i < 12; i++)
        await platform(BASE, {...person, kind: 'text', text: `Line ${i}\nand\nmore`});
    await add('77003', Buffer.concat([bytes, Buffer.alloc(2000001)]), 'Large picture');
    await add('77004', bytes, 'Last picture');
    await bubbleOf(page, 'Last picture').waitFor();
    const asked = [];
    page.on('request', (request) => asked.push(/media\/(\d+)\/download/.exec(request.url())?.[1]));
    await setSettings({context, open}, {pictures: true});
    await bubbleOf(page, 'Last picture').locator('img').waitFor();
    await bubbleOf(page, 'Large picture').getByRole('button', {name: 'Show image'}).click();
    await bubbleOf(page, 'Large picture').locator('img').waitFor();
    assert.ok(!asked.includes('77002'), 'a picture out of view was loaded');
    await bubbleOf(page, 'First picture').scrollIntoViewIfNeeded();
    await bubbleOf(page, 'First picture').locator('img').waitFor();
    await setSettings({context, open}, {pictures: false});
};

// Drops files on the conversation, as a hand does: [{name, type, size}], filled with zeros, or with
// the bytes of `base64`.
async function drop(page, files) {
    const dataTransfer = await page.evaluateHandle((list) => {
        const all = new DataTransfer();
        for (const {name, type, size, base64} of list) {
            const content = base64 ? Uint8Array.fromBase64(base64) : new Uint8Array(size);
            all.items.add(new File([content], name, {type}));
        }
        return all;
    }, files);
    const target = page.locator('.messages-scroll');
    await target.dispatchEvent('dragover', {dataTransfer});
    await page.getByText('Drop the files to attach them').waitFor();
    await target.dispatchEvent('drop', {dataTransfer});
    await page.locator('.drop-sign').waitFor({state: 'hidden'});
}

// Returns a function that sets how many bytes a second an upload sends; -1: as many as it can.
async function uploadLimit(page) {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    return (uploadThroughput) => session.send('Network.emulateNetworkConditions',
        {offline: false, latency: 0, downloadThroughput: -1, uploadThroughput});
}

// What the platform has got for a person, in its order: [{type, ...}].
async function sentTo(phone) {
    return (await sentMessages(`"to":"${phone}"`)).map(({body}) => JSON.parse(body));
}

exports.files = async ({page, open, logIn, step, BASE}, jpeg) => {
    const person = {phone: '16505551046', name: 'Many Files'};
    await platform(BASE, {...person, kind: 'text', text: 'All of it, please'});
    await logIn();
    await openThread({page, open}, person.name);
    const chips = page.locator('.tray .removable');
    step('files are dropped; what the platform does not take is named with the reason');
    const large = Buffer.concat([fs.readFileSync(jpeg), Buffer.alloc(600000)]);
    await drop(page, [
        {name: 'parcel.jpg', type: 'image/jpeg', base64: large.toString('base64')},
        {name: 'plan.pdf', type: 'application/pdf', size: 2000000},
        {name: 'huge.jpg', type: 'image/jpeg', size: 5242881},
        {name: 'tool.exe', type: 'application/x-msdownload', size: 10},
        {name: 'nothing.pdf', type: 'application/pdf', size: 0},
    ]);
    await page.getByText('huge.jpg is too large. WhatsApp takes at most 5.2 MB').waitFor();
    await page.getByText('WhatsApp takes no files of this type: tool.exe').waitFor();
    await page.getByText('The file is empty: nothing.pdf').waitFor();
    await untilEqual(() => chips.allInnerTexts(),
        ['parcel.jpg Image, 608.3 kB', 'plan.pdf Document, 2 MB']);
    const picture = page.locator('.tray .thumbnail');
    await page.waitForFunction((node) => node.naturalWidth === 640, await picture.elementHandle());
    step('they are there after a reload; one is removed, others are chosen');
    await write(page, 'What you asked for');
    await page.reload();
    await chips.nth(1).waitFor();
    await untilValue(fieldOf(page), 'What you asked for');
    await page.getByRole('button', {name: 'Remove plan.pdf'}).click();
    await page.locator('input[type="file"]').setInputFiles(['one', 'two'].map((name) => ({
        name: `${name}.txt`, mimeType: 'text/plain', buffer: Buffer.alloc(400000, name)})));
    await untilEqual(async () => (await chips.allInnerTexts()).map((text) => text.split(' ')[0]),
        ['parcel.jpg', 'one.txt', 'two.txt']);
    step('the upload shows its progress and is cancelled; the file comes back to the field');
    const limit = await uploadLimit(page);
    await limit(20000);
    await fieldOf(page).press('Enter');
    const first = page.locator('.message.pending', {hasText: 'parcel.jpg: What you asked for'});
    await page.waitForFunction(() => document.querySelector('.pending progress')?.value > 0);
    await page.locator('.message.pending', {hasText: 'Waits for the one before'}).nth(1).waitFor();
    for (const name of ['two.txt', 'one.txt', 'parcel.jpg']) { // the last ones wait
        const row = page.locator('.message.pending', {hasText: name});
        await row.getByRole('button', {name: 'Cancel'}).click();
        await row.getByText('You cancelled this.').waitFor();
    }
    assert.deepEqual(await sentTo(person.phone), []);
    for (const name of ['one.txt', 'two.txt']) {
        await page.locator('.message.pending', {hasText: name})
            .getByRole('button', {name: 'Discard'}).click();
    }
    await first.getByRole('button', {name: 'Edit'}).click();
    await nonePending(page);
    await untilValue(fieldOf(page), 'What you asked for');
    await untilCount(chips, 1);
    step('a page that ends during an upload: the next one sends all, in their order, once');
    await page.locator('input[type="file"]').setInputFiles(['three', 'four'].map((name) => ({
        name: `${name}.txt`, mimeType: 'text/plain', buffer: Buffer.from(name)})));
    await fieldOf(page).press('Enter');
    await page.waitForFunction(() => document.querySelector('.pending progress')?.value > 0);
    await page.reload();
    await limit(-1);
    await page.locator('.message.out[data-wamid]').nth(2).waitFor();
    await nonePending(page);
    const sent = await sentTo(person.phone);
    assert.deepEqual(sent.map(({type, image, document}) =>
        [type, image?.caption ?? null, document?.filename ?? null]),
    [['image', 'What you asked for', null], ['document', null, 'three.txt'],
        ['document', null, 'four.txt']]);
    step('without a connection they wait, and are sent in their order when it is back');
    await page.locator('input[type="file"]').setInputFiles(['five', 'six'].map((name) => ({
        name: `${name}.txt`, mimeType: 'text/plain', buffer: Buffer.from(name)})));
    await page.context().setOffline(true);
    await fieldOf(page).press('Enter');
    await page.getByText('the file was not uploaded and nothing was sent').waitFor();
    await page.locator('.message.pending.waiting', {hasText: 'six.txt'}).waitFor();
    await page.context().setOffline(false);
    await page.locator('.message.out[data-wamid]').nth(4).waitFor();
    assert.deepEqual((await sentTo(person.phone)).slice(3).map(({document}) => document.filename),
        ['five.txt', 'six.txt']);
    step('a sticker is one, and an audio file leaves the text in the field');
    await page.locator('input[type="file"]').setInputFiles([
        {name: 'smile.webp', mimeType: 'image/webp', buffer: Buffer.alloc(100)},
        {name: 'song.m4a', mimeType: 'audio/x-m4a', buffer: Buffer.alloc(100)}]);
    await write(page, 'Listen to this');
    await fieldOf(page).press('Enter');
    await page.getByText('An audio file has no caption').waitFor();
    await untilValue(fieldOf(page), 'Listen to this');
    await fieldOf(page).fill('');
    await page.locator('.message.out[data-wamid].type-audio').waitFor();
    const [sticker, audio] = (await sentTo(person.phone)).slice(5);
    assert.ok(sticker.sticker.id && audio.audio.id, JSON.stringify([sticker, audio]));
};

exports.uploadFails = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551048', name: 'Bad Upload'};
    await platform(BASE, {...person, kind: 'text', text: 'Send it, please'});
    await logIn();
    await openThread({page, open}, person.name);
    const keys = []; // of the uploads
    const failing = (answer) => page.route('**/v2/media/upload', async (route) => {
        keys.push(route.request().headers()['idempotency-key']);
        await answer(route);
    });
    const attach = async (name) => {
        await page.locator('input[type="file"]').setInputFiles([
            {name, mimeType: 'text/plain', buffer: Buffer.from(name)}]);
        await fieldOf(page).press('Enter');
    };
    const uploads = () => sandbox('GET', 'requests?path=/media&method=POST');
    step('an upload whose answer is lost is requested again with its own key');
    const before = (await uploads()).length;
    let isLost = true;
    await failing(async (route) => {
        const answer = await route.fetch();
        await (isLost ? route.abort('connectionreset') : route.fulfill({response: answer}));
        isLost = false;
    });
    await attach('once.txt');
    await page.locator('.message.out[data-wamid]').waitFor();
    assert.ok(keys.length === 2 && keys[0] === keys[1], keys.join());
    assert.equal((await uploads()).length, before + 1);
    step('one that is answered with an error says that nothing was sent');
    await page.unroute('**/v2/media/upload');
    keys.length = 0;
    await failing((route) => route.fulfill({status: 502, json: {success: false,
        error: 'INTERNAL_ERROR', message: 'The platform failed.'}}));
    await attach('failed.txt');
    const row = page.locator('.message.pending', {hasText: 'failed.txt'});
    await row.getByText('The file was not uploaded, so nothing was sent.').waitFor();
    await untilText(row, /The platform failed\./);
    assert.equal(new Set(keys).size, keys.length, 'an answered key has its answer for a day');
    assert.equal((await sentTo(person.phone)).length, 1);
    step('and is sent once by the button');
    await page.unroute('**/v2/media/upload');
    await row.getByRole('button', {name: 'Send again'}).click();
    await page.locator('.message.out[data-wamid]').nth(1).waitFor();
    assert.deepEqual((await sentTo(person.phone)).map(({document}) => document.filename),
        ['once.txt', 'failed.txt']);
};

exports.twoTabs = async ({page, context, open, logIn, step, BASE}, jpeg) => {
    const person = {phone: '16505551049', name: 'Twice Open'};
    await platform(BASE, {...person, kind: 'text', text: 'One answer, please'});
    await logIn();
    await openThread({page, open}, person.name);
    const address = page.url();
    const prepare = async (other, text) => {
        await page.locator('input[type="file"]').setInputFiles([
            {name: 'parcel.jpg', mimeType: 'image/jpeg', buffer: fs.readFileSync(jpeg)},
            {name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('list')}]);
        await write(page, text);
        await page.waitForFunction(() => new Promise((resolve) => {
            indexedDB.open('switchboard').onsuccess = ({target}) => {
                target.result.transaction('kept').objectStore('kept').getAllKeys().onsuccess =
                    (event) => resolve(event.target.result.length === 3);
                target.result.close();
            };
        }));
        await other.goto('about:blank');
        await other.goto(address);
        await other.locator('.tray .removable').nth(1).waitFor();
        await untilValue(fieldOf(other), text);
    };
    const settledIn = async (tab, count) => {
        await tab.locator('.message.out[data-wamid]').nth(count - 1).waitFor();
        await nonePending(tab);
    };
    const second = await context.newPage(); // which does not hear of the other one
    await second.addInitScript(() => {
        window.BroadcastChannel = class extends EventTarget { postMessage() {} };
    });
    step('two tabs that send the same draft at once send it once');
    await prepare(second, 'Only once');
    for (const tab of [page, second]) {
        await tab.evaluate(() => { // the one that has a lock asks late for another one
            const {locks} = navigator;
            const request = locks.request.bind(locks);
            let hasOne = false;
            locks.request = async (name, options, work) => {
                if (hasOne)
                    await new Promise((resolve) => setTimeout(resolve, 2000));
                return request(name, options, (held) => {
                    hasOne ||= Boolean(held);
                    return work(held);
                });
            };
        });
    }
    await Promise.all([page, second].map((tab) => fieldOf(tab).press('Enter')));
    for (const tab of [page, second])
        await settledIn(tab, 2);
    const shapes = async () => (await sentTo(person.phone)).map(({image, document}) =>
        image?.caption ?? document.filename);
    assert.deepEqual(await shapes(), ['Only once', 'list.txt']);
    step('a tab that does not hear of the other one sends nothing twice');
    await prepare(second, 'Later');
    await fieldOf(page).press('Enter');
    await settledIn(page, 4);
    await fieldOf(second).press('Enter');
    await settledIn(second, 4);
    assert.deepEqual(await shapes(), ['Only once', 'list.txt', 'Later', 'list.txt']);
    await second.close();
    step('a tab that hears of it has an empty field; what was changed there stays');
    const tabs = [await context.newPage(), await context.newPage()];
    await prepare(tabs[0], 'A draft');
    await tabs[1].goto(address);
    await tabs[1].locator('.tray .removable').nth(1).waitFor();
    await fieldOf(tabs[1]).fill('A draft, changed');
    await fieldOf(page).press('Enter');
    for (const tab of tabs)
        await tab.locator('.tray').waitFor({state: 'detached'});
    await untilValue(fieldOf(tabs[0]), '');
    await untilValue(fieldOf(tabs[1]), 'A draft, changed');
    await settledIn(page, 6);
    await fieldOf(tabs[1]).press('Enter');
    await settledIn(tabs[1], 7);
    assert.equal(JSON.parse((await sentMessages('A draft, changed'))[0].body).text.body,
        'A draft, changed');
};

// Pastes into the field, as another program put it on the clipboard.
function paste(page, {text, picture}) {
    return fieldOf(page).evaluate((node, [plain, bytes]) => {
        const clipboardData = new DataTransfer();
        if (plain)
            clipboardData.setData('text/plain', plain);
        if (bytes) {
            clipboardData.items.add(new File([Uint8Array.from(atob(bytes),
                (letter) => letter.charCodeAt(0))], 'image.png', {type: 'image/png'}));
        }
        node.focus();
        const isTaken = !node.dispatchEvent(new ClipboardEvent('paste',
            {clipboardData, bubbles: true, cancelable: true}));
        if (!isTaken && plain) // as the browser does after the event of a user
            document.execCommand('insertText', false, plain);
    }, [text, picture?.toString('base64')]);
}

exports.pasted = async ({page, open, logIn, step, BASE}, png) => {
    const person = {phone: '16505551050', name: 'Copy Paste'};
    await platform(BASE, {...person, kind: 'text', text: 'Your list, please'});
    await logIn();
    await openThread({page, open}, person.name);
    step('a picture becomes a file');
    await paste(page, {picture: fs.readFileSync(png)});
    await page.locator('.tray .removable', {hasText: 'image.png'}).waitFor();
    await page.getByRole('button', {name: 'Remove image.png'}).click();
    step('a text with a picture of itself, as from a table, is a text');
    await paste(page, {text: 'one\ttwo', picture: fs.readFileSync(png)});
    await untilValue(fieldOf(page), 'one\ttwo');
    await untilCount(page.locator('.tray'), 0);
    step('5,000 characters are whole, and counted');
    await fieldOf(page).fill('');
    await paste(page, {text: 'x'.repeat(5000)});
    await untilValue(fieldOf(page), 'x'.repeat(5000));
    await page.getByText('904 characters too many').waitFor();
};

exports.wrongClock = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551051', name: 'Fast Clock'};
    await platform(BASE, {...person, kind: 'text', text: 'In time?'});
    await logIn();
    for (const hours of [30, -30]) {
        step(`a device that is ${hours} hours ahead`);
        await page.clock.install({time: Date.now() + hours * 3600000});
        await page.reload();
        await openThread({page, open}, person.name);
        await page.getByText(/^23 h 5\d min left$/).waitFor();
        await fieldOf(page).waitFor();
        await untilText(page.locator('.thread', {hasText: person.name}),
            /waits [1-9] min/);
        await page.clock.setSystemTime(Date.now());
    }
};

// Whether the page is wider than the screen, or a part of the thread lies outside of it.
function isWider(page) {
    return page.evaluate(() => document.documentElement.scrollWidth > innerWidth ||
        [...document.querySelectorAll('.bubble, .thread-head .actions, .composer, dialog')]
            .some((node) => node.getBoundingClientRect().right > innerWidth + 1 ||
                node.getBoundingClientRect().left < -1));
}

exports.longNames = async ({page, open, logIn, step, BASE}) => {
    const people = [
        {phone: '16505551052', name: 'W'.repeat(300), text: 'x'.repeat(500)},
        {phone: '16505551053', name: 'مرحبا بكم '.repeat(20).trim(),
            text: 'متى يصل الطلب؟ 12-34'},
    ];
    for (const {text, ...person} of people)
        await platform(BASE, {...person, kind: 'text', text});
    await logIn();
    for (const width of [320, 390, 920, 1280])
        for (const {name, text} of people) {
            step(`${name.slice(0, 5)} at ${width} pixels`);
            await page.setViewportSize({width, height: 700});
            await openThread({page, open}, name.slice(0, 40));
            const words = bubbleOf(page, text).locator('.foreign').first();
            await words.waitFor();
            await untilEqual(() => isWider(page), false, 'wider than the screen');
            assert.equal(await words.evaluate((node) => getComputedStyle(node).unicodeBidi),
                'plaintext');
            const nameWidth = (await page.locator('#thread-name').boundingBox()).width;
            assert.ok(nameWidth > 100, `the name has ${nameWidth} pixels`);
            assert.ok(await page.locator('.thread-head .window').isVisible());
            await page.getByRole('button', {name: 'Contact'}).click();
            await page.getByRole('dialog').waitFor();
            await untilEqual(() => isWider(page), false, 'wider than the screen');
            await page.keyboard.press('Escape');
            await page.getByRole('dialog').waitFor({state: 'detached'});
        }
};

exports.voice = async ({page, open, logIn, logInAnew, step, api, BASE}) => {
    const person = {phone: '16505551047', name: 'Good Voice'};
    await platform(BASE, {...person, kind: 'text', text: 'Call me'});
    await logIn();
    await openThread({page, open}, person.name);
    const record = page.getByRole('button', {name: 'Record a voice message'});
    step('a recording is discarded');
    await record.click();
    await page.getByRole('group', {name: 'Recording'}).waitFor();
    await page.getByRole('button', {name: 'Discard the recording'}).click();
    await fieldOf(page).waitFor();
    await untilCount(page.locator('.tray'), 0);
    step('another one is stopped, kept over a reload, and sent');
    await record.click();
    await page.getByRole('timer').getByText(/^0:(0[2-9]|[1-5]\d)$/).waitFor();
    await page.getByRole('button', {name: 'Stop'}).click();
    await page.locator('.tray audio').waitFor();
    await page.reload();
    await page.locator('.tray audio').waitFor();
    await page.getByRole('button', {name: 'Send', exact: true}).click();
    await page.locator('.message.out[data-wamid].type-audio').waitFor();
    const [{audio}] = await sentTo(person.phone);
    step('it is what the platform takes: Ogg with one channel of Opus, which can be decoded');
    const sound = await page.evaluate(async (id) => {
        const response = await fetch(`/v2/media/${id}/download`, {headers: {'X-Switchboard': '1'}});
        const bytes = new Uint8Array(await response.arrayBuffer());
        const text = String.fromCharCode(...bytes.subarray(0, 47));
        const {duration} = await new AudioContext().decodeAudioData(bytes.buffer.slice(0));
        return {type: response.headers.get('Content-Type'), duration, text: text.slice(0, 4),
            head: text.slice(28, 36), channels: bytes[37]};
    }, audio.id);
    assert.ok(sound.duration > 1.5 && sound.duration < 30, `${sound.duration} s`);
    assert.deepEqual({...sound, duration: 0}, {type: 'audio/ogg', duration: 0, text: 'OggS',
        head: 'OpusHead', channels: 1});
    step('it is played in its bubble');
    const mine = page.locator('.message.out.type-audio');
    await mine.getByRole('button', {name: 'Play audio'}).click();
    await mine.locator('audio').waitFor();
    assert.match(await mine.locator('audio').getAttribute('src'), /^blob:/);
    await page.waitForFunction(() => document.querySelector('.message audio').currentTime > 0);
    step('a recording goes on as a file of the draft when another conversation is opened');
    await record.click();
    await page.getByRole('timer').getByText(/^0:(0[1-9]|[1-5]\d)$/).waitFor();
    await open('/settings');
    await page.getByText('This browser can record them').waitFor();
    await page.goBack();
    await page.locator('.tray audio').waitFor();
    step('so it does when the session ends, and is there after the next login');
    await page.getByRole('button', {name: 'Remove'}).first().click();
    await page.locator('.tray').waitFor({state: 'detached'});
    const address = page.url();
    await record.click();
    await page.getByRole('timer').getByText(/^0:(0[1-9]|[1-5]\d)$/).waitFor();
    await page.context().clearCookies();
    await page.getByText('Your session has ended.').waitFor();
    await logInAnew();
    await page.goto(address);
    await page.locator('.tray audio').waitFor();
    step('a browser that records nothing has no button, and the settings say why');
    await page.addInitScript(() => { delete window.MediaRecorder; });
    await page.reload();
    await fieldOf(page).waitFor();
    await untilCount(record, 0);
    await open('/settings');
    await page.getByText('This browser cannot record in a form that WhatsApp takes.').waitFor();
};

exports.campaign = async ({page, open, logIn, settled}) => {
    await logIn();
    await open('/inbox');
    await page.locator('.thread').first().waitFor();
    await settled(page);
    const more = page.getByRole('button', {name: 'Show more'});
    for (; await more.isVisible(); await settled(page))
        await more.click();
    const rows = await page.locator('.thread', {hasText: /Person [123]/}).evaluateAll((threads) =>
        threads.map((thread) => [thread.querySelector('.thread-name').textContent,
            Boolean(thread.querySelector('time'))]));
    assert.deepEqual(rows, [['Person 2', true], ['Person 1', true], ['Person 3', false]]);
    assert.match(await page.locator('.thread').last().innerText(), /Person 3/);
};

exports.tenThousand = async ({page, open, logIn, step, print, settled}) => {
    await logIn();
    step('the start makes no segmenter, which takes longer than all of its other scripts');
    await page.addInitScript(() => {
        window.segmenters = 0;
        Intl.Segmenter = class extends Intl.Segmenter {
            constructor(...values) {
                super(...values);
                window.segmenters++;
            }
        };
    });
    await page.goto('about:blank');
    await open('/overview');
    assert.equal(await page.evaluate(() => window.segmenters), 0);
    step('the list');
    const start = Date.now();
    await page.evaluate(() => { location.hash = '#/inbox?unread=true'; });
    await page.locator('.thread').first().waitFor();
    print(`listed in ${Date.now() - start} ms\n`);
    await settled(page);
    const shown = await page.locator('.thread').count();
    assert.ok(shown > 0 && shown <= 100, `${shown} threads at once`);
    const first = page.locator('.thread', {hasText: 'Person'}).first(); // others are newer
    assert.match(await first.innerText(), /Person 10000|Person 9999/);
    step('more');
    await page.getByRole('button', {name: 'Show more'}).click();
    await page.waitForFunction((count) =>
        document.querySelectorAll('.thread').length > count, shown);
    const names = await page.locator('.thread-name').allInnerTexts();
    assert.equal(new Set(names).size, names.length, 'a thread is listed twice');
};

// Where a row stands in the window.
const topOf = (page, id) => page.evaluate((wanted) =>
    document.getElementById(wanted).getBoundingClientRect().top, id);

// The numbers of the messages that have a row.
async function shownNumbers(page) {
    const texts = await page.locator('.message .bubble > .foreign').allTextContents();
    return texts.map((text) => Number(text.replace('Message ', '')));
}

// Scrolls to near the top, until an older message comes first, and returns by how many pixels the
// view has jumped, and the id of a row that stayed in it.
async function scrollBack(page) {
    const scroll = page.locator('.messages-scroll');
    const [before] = await shownNumbers(page);
    await scroll.evaluate((node) => { node.scrollTop = 900; });
    const id = await scroll.evaluate((node) => [...node.querySelectorAll('.message')]
        .find((one) => one.getBoundingClientRect().top > 200).id);
    const at = await topOf(page, id);
    await scroll.evaluate((node) => { node.scrollTop -= 300; });
    await page.waitForFunction((number) => Number(document
        .querySelector('.message .bubble > .foreign').textContent.replace('Message ', '')) < number,
    before);
    await page.waitForFunction(() => !document.querySelector('.messages-top .loading'));
    return {id, moved: await topOf(page, id) - at - 300};
}

exports.twentyThousand = async ({page, open, logIn, step, print}, thread) => {
    await logIn();
    await open('/overview');
    step('the thread opens');
    const start = Date.now();
    await page.evaluate((id) => { location.hash = `#/inbox/${id}`; }, thread);
    await page.locator('.message').first().waitFor();
    const opened = Date.now() - start;
    assert.equal((await shownNumbers(page)).at(-1), 20000);
    const seen = new Set();
    for (let i = 0; i < 12; i++) {
        step(`scroll back, page ${i}`);
        const {id, moved} = await scrollBack(page);
        assert.ok(Math.abs(moved) < 2, `the view jumped by ${moved} pixels`);
        seen.add(id);
    }
    assert.ok(seen.size > 6, 'the same messages came again');
    step('a page that fails keeps the view, until the user asks again');
    const [before] = await shownNumbers(page);
    await page.route(/before=/, (route) => route.abort());
    const scroll = page.locator('.messages-scroll');
    await scroll.evaluate((node) => { node.scrollTop = 0; });
    const row = await page.locator('.message').first().getAttribute('id');
    const retry = page.locator('.messages-top').getByRole('button', {name: 'Try again'});
    await retry.waitFor();
    const top = await topOf(page, row);
    await page.unroute(/before=/);
    await retry.evaluate((node) => node.click()); // it is above the view, which a click would move
    await page.waitForFunction((number) => Number(document
        .querySelector('.message .bubble > .foreign').textContent.replace('Message ', '')) < number,
    before);
    assert.ok(top > 0 && Math.abs(await topOf(page, row) - top) < 2, 'the view jumped');
    step('no message is missing, and the rows are bounded');
    const numbers = await shownNumbers(page);
    const [oldest] = numbers;
    assert.deepEqual(numbers, numbers.map((_, i) => oldest + i), 'missing, or in a wrong order');
    assert.ok(oldest <= 19400 && numbers.length <= 300, `${numbers.length} rows from ${oldest}`);
    step('forward again, the rows come back without a request');
    let requests = 0;
    page.on('request', (request) => { requests += request.url().includes('before=') ? 1 : 0; });
    while ((await shownNumbers(page)).at(-1) < 20000) {
        await scroll.evaluate((node) => { node.scrollTop = node.scrollHeight - 1200; });
        await page.waitForTimeout(20);
    }
    const last = await shownNumbers(page);
    assert.deepEqual(last, last.map((_, i) => 20001 - last.length + i));
    assert.ok(last.length <= 300 && requests === 0, `${last.length} rows, ${requests} requests`);
    print(`opened in ${opened} ms, ${numbers.length} rows after ${20000 - oldest} messages\n`);
};

exports.keyboard = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551011', name: 'Keyboard Only'};
    for (const text of ['First', 'Second', 'Third'])
        await platform(BASE, {...person, kind: 'text', text});
    await logIn();
    await openThread({page, open}, person.name);
    await bubbleOf(page, 'Third').waitFor();
    step('arrows lead through the messages, R answers');
    await bubbleOf(page, 'Third').focus();
    await page.keyboard.press('ArrowUp');
    await untilFocus(page, 'innerText', /Second/);
    await page.keyboard.press('r');
    await page.locator('.removable', {hasText: 'Second'}).waitFor();
    await untilFocus(page, 'localName', 'textarea');
    await page.keyboard.type('About the second');
    await page.keyboard.press('Enter');
    await page.locator('.message.out[data-wamid] .quote', {hasText: 'Second'}).waitFor();
    step('Enter opens the details, Escape closes them');
    await bubbleOf(page, 'First').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({state: 'detached'});
    await untilFocus(page, 'innerText', /First/);
};

// The number beside a part of the list, '' for none.
const partCount = (page, part) => page.locator('.thread-filters .choices button', {hasText: part})
    .locator('.part-count').innerText().then((text) => text.trim());

function untilPart(page, part, wanted) {
    return untilEqual(() => partCount(page, part), wanted, part);
}

// How many threads there are to answer, when the page shows it.
async function waitingNow(api, page) {
    const {text} = await api(page, 'GET', '/v2/changes');
    const {waiting} = JSON.parse(text).data.inbox;
    await untilPart(page, 'To answer', waiting ? String(waiting) : '');
    return waiting;
}

exports.queue = async ({page, open, logIn, step, settled, api, BASE}) => {
    const ann = {phone: '16505551041', name: 'Waits Longest'};
    const ben = {phone: '16505551042', name: 'Waits Too'};
    const item = (person) => page.locator('.thread', {hasText: person.name});
    const part = (name) => page.locator('.thread-filters .choices button', {hasText: name});
    const done = page.getByRole('button', {name: 'Done', exact: true});
    await logIn();
    await open('/inbox');
    await page.locator('.thread-filters').waitFor();
    const before = await waitingNow(api, page);
    await platform(BASE, {...ann, kind: 'text', text: 'First', timestamp: '1700000000'});
    await platform(BASE, {...ben, kind: 'text', text: 'Second', timestamp: '1700000100'});
    await untilPart(page, 'To answer', String(before + 2));
    await page.waitForFunction(() => /^\(\d+\) Inbox/.test(document.title));
    step('those who wait longest come first');
    await part('To answer').click();
    await page.locator('.thread-name').first().getByText(ann.name).waitFor();
    await page.locator('.thread-name').nth(1).getByText(ben.name).waitFor();
    await item(ann).getByText('24 h over').waitFor();
    await untilText(item(ann), /waits [\d,]+ days/);
    step('done, with a way back');
    await item(ann).click();
    await bubbleOf(page, 'First').waitFor();
    await done.click();
    await untilPart(page, 'To answer', String(before + 1));
    await page.getByRole('button', {name: 'Undo “Done”'}).click();
    await untilPart(page, 'To answer', String(before + 2));
    step('a message that came meanwhile still waits');
    let isHeld = true;
    let held = 0;
    await page.route('**/v2/changes*', async (route) => {
        held++;
        if (isHeld)
            await route.fulfill({status: 304});
        else
            await route.continue();
    });
    await until(() => held, Boolean, 'no request after the one that was under way');
    await platform(BASE, {...ann, kind: 'text', text: 'Meanwhile', timestamp: '1700000200'});
    await done.click();
    await page.getByText('A message came meanwhile').waitFor();
    isHeld = false;
    await bubbleOf(page, 'Meanwhile').waitFor();
    await done.click();
    await untilPart(page, 'To answer', String(before + 1));
    step('an answer ends it');
    await item(ben).click();
    await bubbleOf(page, 'Second').waitFor();
    await platform(BASE, {...ben, kind: 'text', text: 'Now'});
    await bubbleOf(page, 'Now').waitFor();
    await write(page, 'Here is your answer');
    await page.keyboard.press('Enter');
    await untilPart(page, 'To answer', before ? String(before) : '');
    step('a thread that was read becomes unread again, and its view closes');
    await page.getByRole('button', {name: 'Mark as unread'}).click();
    await page.locator('.nothing-open').waitFor();
    await part('Unread').click();
    await settled(page);
    await item(ben).locator('.badge.count').waitFor();
    await open('/overview');
    await page.locator('a.figure-value, .figure a', {hasText: 'To answer'}).waitFor();
    await page.locator('.figure a', {hasText: 'failed message'}).click();
    await page.waitForFunction(() => location.hash.includes('failed=true'));
};

exports.notices = async ({page, context, open, logIn, step, BASE}) => {
    const person = {phone: '16505551043', name: 'Knocks Twice'};
    const ended = requestsEnd(page);
    await page.clock.install();
    await page.addInitScript(() => {
        window.notices = [];
        window.Notification = class {
            static permission = 'default';
            static async requestPermission() {
                return window.Notification.permission = 'granted';
            }
            constructor(title, {body}) {
                window.notices.push(`${title}: ${body}`);
            }
        };
        let isHidden = false;
        Object.defineProperty(document, 'hidden', {get: () => isHidden});
        window.setHidden = (value) => {
            isHidden = value;
            document.dispatchEvent(new Event('visibilitychange'));
        };
    });
    await logIn();
    await open('/settings');
    await page.locator('input[name="notify"]').check();
    await untilEqual(() => page.evaluate(() => Notification.permission), 'granted');
    await open('/usage');
    step('a hidden tab asks every 30 seconds');
    const asked = [];
    page.on('request', (request) => {
        if (request.url().includes('/v2/changes'))
            asked.push(request.url());
    });
    await page.clock.pauseAt(Date.now() + 60000); // else the time of this test counted too
    await ended();
    await page.evaluate(() => window.setHidden(true));
    await ended();
    asked.length = 0;
    await platform(BASE, {...person, kind: 'text', text: 'Is it open?'});
    await page.clock.runFor(29000);
    assert.equal(asked.length, 0);
    await page.clock.runFor(2000);
    await page.waitForFunction(() => window.notices.length === 1);
    await untilEqual(() => asked.length, 1);
    assert.deepEqual(await page.evaluate(() => window.notices),
        ['Knocks Twice: Is it open?']);
    await untilTitle(page, /^\(\d+\) /);
    step('without the setting it asks nothing');
    await setSettings({context, open}, {notify: false});
    await until(async () => { // the choice was made in another tab
        const before = asked.length;
        await page.clock.runFor(120000);
        await ended();
        return asked.length - before;
    }, (count) => count === 0, 'the requests of a hidden tab in two minutes');
};

exports.words = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551077', name: 'Wanda Words'};
    await platform(BASE, {...person, kind: 'text', text: 'The Zanzibar lamp is broken'});
    for (let i = 1; i <= 60; i++)
        await platform(BASE, {...person, kind: 'text', text: `later (${i})`});
    await platform(BASE, {...person, phone: '16505551078', name: 'Other Person', kind: 'text',
        text: 'A zánzibar too'});
    await logIn();
    step('a word in the messages of all conversations');
    await open('/inbox');
    await page.getByRole('searchbox').fill('zanzibar');
    await page.getByText('No conversation fits').waitFor();
    await page.getByRole('button', {name: 'Search messages for “zanzibar”'}).click();
    const hits = page.locator('.found-message');
    await hits.nth(1).waitFor();
    assert.deepEqual(await hits.locator('.thread-name').allTextContents(),
        ['Other Person', 'Wanda Words']);
    step('a jump to the message, older than the first page');
    await hits.nth(1).focus();
    await page.keyboard.press('Enter');
    const found = page.locator('.message:focus', {hasText: 'Zanzibar lamp'});
    await found.waitFor();
    await untilEqual(() => found.evaluate((node) => {
        const {top, bottom} = node.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
    }), true, 'whether the message is in view');
    step('and back to the newest one, and to the list');
    await page.getByRole('button', {name: 'Newest messages'}).click();
    await bubbleOf(page, 'later (60)').waitFor();
    await untilCount(hits, 2);
    await hits.nth(1).click();
    await found.waitFor();
    step('within one conversation');
    await page.getByRole('button', {name: 'Search in this conversation'}).click();
    const field = page.getByRole('searchbox', {name: 'Search in this conversation'});
    await field.fill('"later (7)"');
    await page.keyboard.press('Enter');
    const own = page.locator('.thread-search .found-message');
    await untilCount(own, 1);
    await own.first().click();
    await page.locator('.message:focus', {hasText: 'later (7)'}).waitFor();
    await field.fill('nowhere');
    await field.press('Enter');
    await page.getByText('No message has these words').waitFor();
    await field.press('Escape');
    await field.waitFor({state: 'detached'});
    await bubbleOf(page, 'later (60)').waitFor();
};
