// The inbox. The platform is the sandbox: it posts signed webhook payloads to the gateway.
const assert = require('node:assert/strict');

const {SANDBOX, LINE} = process.env;
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

// Opens the thread of a person by the search of the list.
async function openThread({page, open}, name) {
    await open(`/inbox?q=${encodeURIComponent(name)}`);
    await page.locator('.thread').first().click();
    await page.locator('.thread-view .composer').waitFor();
}

const write = (page, text) => page.getByLabel('Write a message').fill(text);

function bubbleOf(page, text) {
    return page.locator('.message', {hasText: text});
}

async function sentMessages(body) {
    const list = await sandbox('GET', 'requests?path=/messages&method=POST');
    return list.filter((one) => one.body?.includes(body));
}

exports.statuses = async ({page, open, logIn, step, BASE}) => {
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
    assert.match(await other.locator('.failure').innerText(),
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
    await page.locator('.message.pending').waitFor({state: 'detached'});
    assert.equal(await bubbleOf(page, 'Sent once').count(), 1);
    assert.equal((await sentMessages('Sent once, I hope')).length, 1);
    step('all answers are lost: the page says so, and asks again when the user wants it');
    await page.unroute('**/v2/messages/send/text');
    await cutAnswers(page, 4);
    await page.route('**/v2/changes*', (route) => route.abort());
    await write(page, 'Nor this twice');
    await page.keyboard.press('Enter');
    await page.getByText('it is not known whether this was sent').waitFor({timeout: 20000});
    await page.unroute('**/v2/changes*');
    const again = page.getByRole('button', {name: 'Check again'});
    if (await again.count())
        await again.click({timeout: 2000}).catch(() => {}); // a change may have settled it
    await page.locator('.message.out[data-wamid]', {hasText: 'Nor this twice'}).waitFor();
    await page.locator('.message.pending').waitFor({state: 'detached'});
    assert.equal(await bubbleOf(page, 'Nor this twice').count(), 1);
    assert.equal((await sentMessages('Nor this twice')).length, 1);
    step('a refusal is shown with its reason, and can be discarded');
    await sandbox('POST', 'faults', {match: {path: '/messages', body: 'Refused'}, code: 131056});
    await write(page, 'Refused, alas');
    await page.keyboard.press('Enter');
    const refused = page.locator('.message.pending', {hasText: 'Refused, alas'});
    await refused.locator('.failure').waitFor();
    assert.match(await refused.locator('.failure').innerText(), /Request id/);
    await refused.getByRole('button', {name: 'Discard'}).click();
    await refused.waitFor({state: 'detached'});
};

const fieldOf = (page) => page.getByLabel('Write a message');

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
    assert.equal(await fieldOf(page).inputValue(), '');
    assert.equal(await page.locator('.removable').count(), 0);
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
    step('what was kept is sent');
    await fieldOf(page).press('Enter');
    await page.locator('.message.out[data-wamid]', {hasText: 'ten minutes'}).waitFor();
    const [sent] = await sentMessages('ten minutes of work!');
    assert.ok(JSON.parse(sent.body).image.id && JSON.parse(sent.body).context.message_id);
    await page.reload();
    await fieldOf(page).waitFor();
    assert.equal(await fieldOf(page).inputValue(), '');
    assert.equal(await page.locator('.removable, .message.pending').count(), 0);
    step('a page that ends before the answer: the next one asks again with the same key');
    await page.route('**/v2/messages/send/text', async (route) => {
        await route.fetch(); // the gateway carries it out, and the page gets no answer
    });
    await write(page, 'No answer to this');
    await page.keyboard.press('Enter');
    while (!(await sentMessages('No answer to this')).length)
        await page.waitForTimeout(50);
    const third = await context.newPage();
    let asked = 0;
    third.on('request', (request) => { asked += request.url().endsWith('/send/text') ? 1 : 0; });
    await third.goto(address);
    await bubbleOf(third, 'A question').first().waitFor();
    await settled(third);
    assert.equal(asked, 0, 'another tab leaves it to the one that sends it');
    await third.route('**/v2/messages/send/text', (route) => route.fulfill({status: 429,
        json: {success: false, error: 'RATE_LIMITED', message: 'Too many requests.'}}), {times: 1});
    await page.goto('about:blank');
    await third.reload();
    await third.getByText('it is not known whether').or(third.locator('.message.out[data-wamid]',
        {hasText: 'No answer to this'})).first().waitFor();
    const again = third.getByRole('button', {name: 'Check again'});
    if (await again.count())
        await again.click({timeout: 2000}).catch(() => {}); // the thread may ask first
    await third.locator('.message.out[data-wamid]', {hasText: 'No answer to this'}).waitFor();
    await third.locator('.message.pending').waitFor({state: 'detached'});
    assert.equal((await sentMessages('No answer to this')).length, 1);
    assert.equal(asked, 2, 'the refusal of a request says nothing of an earlier one');
    await third.close();
    await page.unroute('**/v2/messages/send/text');
    await page.goto(address);
    step('a refused message is there after a reload, and Edit puts it above what was typed');
    await sandbox('POST', 'faults', {match: {path: '/messages', body: 'the first text'},
        code: 131026});
    await write(page, 'the first text');
    await page.keyboard.press('Enter');
    const refused = page.locator('.message.pending', {hasText: 'the first text'});
    await refused.locator('.failure').waitFor();
    const reason = await refused.locator('.failure').innerText();
    await write(page, 'a second text in work');
    await page.reload();
    await refused.locator('.failure').waitFor();
    assert.equal(await refused.locator('.failure').innerText(), reason);
    await page.waitForFunction(() =>
        document.querySelector('.composer textarea').value === 'a second text in work');
    await refused.getByRole('button', {name: 'Edit'}).click();
    await refused.waitFor({state: 'detached'});
    assert.equal(await fieldOf(page).inputValue(), 'the first text\n\na second text in work');
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
    assert.equal(await fieldOf(page).inputValue(), '');
    assert.equal(await page.locator('.removable, .message.pending').count(), 0);
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
    let held;
    await page.route('**/v2/threads?*', (route) => { held = route; });
    await page.goto(`${BASE}/dashboard/#/inbox`);
    await page.locator('.thread-list .search-box').waitFor();
    await page.locator('.thread-scroll .loading').waitFor();
    assert.equal(await page.locator('.thread-list .empty').count(), 0);
    await held.continue();
    const item = page.locator('.thread', {hasText: person.name});
    await item.waitFor();
    step('a search keeps the rows until its answer is there');
    held = null;
    await page.getByRole('searchbox').fill('Of no person here');
    await page.locator('.thread-scroll[aria-busy]').waitFor();
    assert.ok(await item.count() && !await page.locator('.thread-list .empty').count());
    await held.continue();
    await page.getByText('No conversation fits').waitFor();
    step('a list that failed says so, also after a change');
    await page.unroute('**/v2/threads?*');
    await page.route('**/v2/threads?*', (route) => route.fulfill({status: 500,
        json: {success: false, error: 'INTERNAL_ERROR', message: 'It failed.'}}));
    await page.getByRole('searchbox').fill('');
    await page.locator('.thread-scroll').getByText('It failed.').waitFor();
    await platform(BASE, {...person, kind: 'text', text: 'Second'});
    await item.waitFor();
    assert.equal(await page.locator('.thread-scroll').getByText('It failed.').count(), 1);
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
    await page.evaluate(() => {
        window.back = new Promise((resolve) => addEventListener('online', () => {
            const start = performance.now();
            const before = window.fetch;
            window.fetch = (...given) => {
                if (String(given[0]).startsWith('/v2/changes'))
                    resolve(performance.now() - start);
                return before(...given);
            };
        }));
    });
    await page.waitForRequest((request) => request.url().includes('/v2/changes')); // and fails
    await context.setOffline(false);
    const pause = await page.evaluate(() => window.back);
    assert.ok(pause < 2000, `the next request came after ${pause} ms`);
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
    await platform(BASE, {...person, kind: 'text', text: 'Good evening'});
    await logIn();
    const midnight = await page.evaluate(() => new Date().setHours(24, 0, 0, 0));
    await page.clock.install({time: midnight - 20000});
    await openThread({page, open}, person.name);
    await bubbleOf(page, 'Good evening').waitFor();
    assert.equal(await page.locator('.day').innerText(), 'Today');
    assert.match(await page.locator('.thread time').innerText(), /\d:\d/);
    step('the next day');
    await page.clock.runFor(60000);
    await page.locator('.day').getByText('Yesterday').waitFor();
    assert.doesNotMatch(await page.locator('.thread time').innerText(), /\d:\d/);
};

// The number of unread messages that the list shows for a person; 0 without one.
function unreadOf(page, name) {
    return page.evaluate((wanted) => parseInt([...document.querySelectorAll('.thread')]
        .find((node) => node.textContent.includes(wanted))
        ?.querySelector('.badge.count')?.textContent ?? '0', 10), name);
}

async function untilUnread(page, name, wanted) {
    const end = Date.now() + 10000;
    while (await unreadOf(page, name) !== wanted) {
        assert.ok(Date.now() < end, `unread is ${await unreadOf(page, name)}, not ${wanted}`);
        await page.waitForTimeout(50);
    }
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
    assert.equal(await second.getByRole('log').locator('p').count(), 1);
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
    assert.equal(await page.locator('#thread-name').innerText(), 'Merge Both');
    step('the former address leads to it, and the list has it once');
    await open('/inbox');
    await page.goto(before);
    await bubbleOf(page, 'It is me').waitFor();
    await open('/inbox?q=Merge');
    await page.locator('.thread').first().waitFor();
    assert.equal(await page.locator('.thread').count(), 1);
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
    'interactive_missing', 'user_changed_number'];

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
    assert.equal(await message.getByText('Edited').count(), 1);
    step('a deletion hides the text');
    await platform(BASE, {...person, kind: 'revoke', context: 'wamid.deleted1'});
    await page.getByText('The sender deleted this message').waitFor();
    assert.equal(await page.locator('.messages').getByText('My secret').count(), 0);
    assert.equal(await page.locator('.message').count(), 2);
};

exports.windowClosed = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551007', name: 'Long Ago'};
    const old = String(Math.floor(Date.now() / 1000) - 90000);
    await platform(BASE, {...person, kind: 'text', text: 'Bye', timestamp: old});
    await logIn();
    await openThread({page, open}, person.name);
    await page.locator('.composer').getByText('Window closed.').waitFor();
    assert.equal(await page.getByLabel('Write a message').count(), 0);
    step('a template with variables');
    await page.getByRole('button', {name: 'Choose a template'}).click();
    await page.getByRole('button', {name: /^order_shipped/}).click();
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
    assert.equal(await code.isDisabled(), true);
    assert.match(await code.innerText(), /phone number only/);
};

exports.block = async ({page, open, logIn, step, BASE}) => {
    const person = {phone: '16505551009', name: 'Be Quiet'};
    await platform(BASE, {...person, kind: 'text', text: 'Buy!'});
    await logIn();
    await openThread({page, open}, person.name);
    await page.getByRole('button', {name: 'Block', exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Block', exact: true}).click();
    await page.locator('.composer').getByText('Blocked on this line.').waitFor();
    assert.equal(await page.getByLabel('Write a message').count(), 0);
    await page.locator('.thread .blocked-mark').waitFor();
    step('after a reload it is still blocked');
    await page.reload();
    await page.getByRole('button', {name: 'Unblock'}).click();
    await page.getByLabel('Write a message').waitFor();
    await page.locator('.thread .blocked-mark').waitFor({state: 'detached'});
};

exports.media = async ({page, open, logIn, step, BASE}, jpeg) => {
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
    step('a picture that could hold scripts is saved, not shown');
    await sandbox('POST', 'media', {phoneNumberId: LINE, id: '77001', mimeType: 'image/svg+xml',
        base64: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')});
    await platform(BASE, {...person, kind: 'image', mediaId: '77001', text: 'Look'});
    const bad = page.locator('.message.in', {hasText: 'Look'});
    const download = page.waitForEvent('download');
    await bad.getByRole('button', {name: 'Show image'}).click();
    await download;
    assert.equal(await bad.locator('img').count(), 0);
};

exports.tenThousand = async ({page, open, logIn, step, print, settled}) => {
    await logIn();
    await open('/overview');
    step('the list');
    const start = Date.now();
    await page.evaluate(() => { location.hash = '#/inbox?unread=true'; });
    await page.locator('.thread').first().waitFor();
    print(`listed in ${Date.now() - start} ms\n`);
    await settled(page);
    const shown = await page.locator('.thread').count();
    assert.ok(shown > 0 && shown <= 100, `${shown} threads at once`);
    assert.match(await page.locator('.thread').first().innerText(), /Person 10000|Person 9999/);
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

exports.twentyThousand = async ({page, open, logIn, step, print}, thread) => {
    await logIn();
    await open('/overview');
    step('the thread opens');
    const start = Date.now();
    await page.evaluate((id) => { location.hash = `#/inbox/${id}`; }, thread);
    await page.locator('.message').first().waitFor();
    const opened = Date.now() - start;
    assert.equal(await page.locator('.message').last().innerText().then((text) =>
        text.includes('Message 20000')), true);
    const scroll = page.locator('.messages-scroll');
    const seen = new Set();
    for (let i = 0; i < 12; i++) {
        step(`scroll back, page ${i}`);
        const before = await page.locator('.message').count();
        await scroll.evaluate((node) => { node.scrollTop = 300; });
        const id = await scroll.evaluate((node) => [...node.querySelectorAll('.message')]
            .find((one) => one.getBoundingClientRect().top > 200).id);
        const at = await topOf(page, id);
        await page.waitForFunction((count) =>
            document.querySelectorAll('.message').length > count, before);
        await page.waitForTimeout(50);
        const moved = await topOf(page, id) - at;
        assert.ok(Math.abs(moved) < 2, `the view jumped by ${moved} pixels`);
        seen.add(id);
    }
    assert.ok(seen.size > 6, 'the same messages came again');
    const texts = await page.locator('.message .bubble > .foreign').allTextContents();
    const numbers = texts.map((text) => Number(text.replace('Message ', '')));
    assert.deepEqual(numbers, numbers.map((_, i) => 20000 - numbers.length + 1 + i),
        'messages are missing or in a wrong order');
    print(`opened in ${opened} ms, ${numbers.length} messages\n`);
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
    assert.match(await page.evaluate(() => document.activeElement.innerText), /Second/);
    await page.keyboard.press('r');
    await page.locator('.removable', {hasText: 'Second'}).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.localName), 'textarea');
    await page.keyboard.type('About the second');
    await page.keyboard.press('Enter');
    await page.locator('.message.out[data-wamid] .quote', {hasText: 'Second'}).waitFor();
    step('Enter opens the details, Escape closes them');
    await bubbleOf(page, 'First').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({state: 'detached'});
    assert.match(await page.evaluate(() => document.activeElement.innerText), /First/);
};
