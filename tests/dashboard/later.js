// Messages that are sent later: queued in the composer, shown in their thread, and cancelled.
const assert = require('node:assert/strict');
const {openThread, platform} = require('./sandbox.js');
const {until, untilCount, untilEqual, untilFocus, untilValue} = require('./until.js');

const {LINE} = process.env;
const fieldOf = (page) => page.getByLabel('Write a message');
const queuedRows = (page, text) => page.locator('.message.later', {hasText: text});

// The rows of the queue of a person.
async function rowsOf(page, api, phone) {
    const {text} = await api(page, 'GET', `/v2/outgoing?to=${phone}&phoneNumberId=${LINE}`);
    return JSON.parse(text).data.items;
}

// The value of the field for the time in the zone of the browser, Berlin, and the moment it means.
async function timeIn(page, hours) {
    return page.evaluate((ahead) => {
        const at = new Date(Math.floor(Date.now() / 60000) * 60000 + ahead * 3600000);
        const two = (value) => String(value).padStart(2, '0');
        return {value: `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${
            two(at.getHours())}:${two(at.getMinutes())}`, iso: at.toISOString()};
    }, hours);
}

exports.later = async ({page, open, logIn, step, api, BASE}, file) => {
    const person = {phone: '16505551801', name: 'Larry Later'};
    await platform(BASE, {...person, kind: 'text', text: 'Call me tomorrow'});
    await logIn();
    await openThread({page, open}, person.name);
    const dialog = page.getByRole('dialog', {name: 'Send later'});
    const time = dialog.getByLabel('Date and time');
    const submit = dialog.getByRole('button', {name: 'Queue'});
    const openDialog = () => page.getByRole('button', {name: 'Send later'}).click();
    step('without a text there is nothing to queue');
    await openDialog();
    await page.getByText('Write the message first.').waitFor();
    step('a time that is over, or too far ahead, is refused, and what was typed stays');
    await fieldOf(page).fill('Good *morning*');
    await openDialog();
    await dialog.getByText('Europe/Berlin').waitFor();
    await time.fill((await timeIn(page, -1)).value);
    await submit.click();
    await dialog.getByText('Choose a time that is still to come.').waitFor();
    await untilFocus(page, 'name', 'sendAt');
    await time.fill((await timeIn(page, 24 * 31)).value);
    await submit.click();
    await dialog.getByText('Choose a time within the next 30 days.').waitFor();
    await page.keyboard.press('Escape');
    await untilValue(fieldOf(page), 'Good *morning*');
    step('after a lost answer the dialog stays, and the repetition queues no second one');
    await page.route('**/v2/messages/send/text', async (route) => {
        await route.fetch();
        await route.abort();
    }, {times: 1});
    const {value, iso} = await timeIn(page, 20);
    await openDialog();
    await time.fill(value);
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    assert.equal(await time.inputValue(), value);
    await submit.click();
    await dialog.waitFor({state: 'detached'});
    await untilValue(fieldOf(page), '');
    await untilFocus(page, 'localName', 'textarea');
    const mine = queuedRows(page, 'Good morning');
    await untilCount(mine, 1);
    await mine.locator('strong', {hasText: 'morning'}).waitFor();
    assert.equal(await mine.locator('time').getAttribute('datetime'), iso);
    assert.deepEqual((await rowsOf(page, api, person.phone)).map(({state}) => state), ['queued']);
    step('it is there after a reload, and Edit takes it back into the field');
    await page.reload();
    await mine.getByRole('button', {name: 'Edit'}).click();
    await untilValue(fieldOf(page), 'Good *morning*');
    await untilCount(mine, 0);
    step('Cancel by the keyboard');
    await openDialog();
    await submit.click();
    await mine.getByRole('button', {name: 'Cancel'}).focus();
    await page.keyboard.press('Enter');
    await untilCount(mine, 0);
    await untilFocus(page, 'localName', 'textarea');
    await until(() => rowsOf(page, api, person.phone),
        (rows) => rows.length === 2 && rows.every(({state}) => state === 'cancelled'),
        'a row that is not cancelled');
    step('a file is uploaded now and sent later, with its caption');
    await page.locator('.composer input[type="file"]').setInputFiles(file);
    await fieldOf(page).fill('Your parcel');
    await openDialog();
    await submit.click();
    const parcel = queuedRows(page, 'Your parcel');
    await parcel.getByText('Show image').waitFor();
    const [{message}] = await rowsOf(page, api, person.phone);
    assert.match(message.image.id, /./);
    assert.equal(message.image.caption, 'Your parcel');
    await untilCount(page.locator('.tray li'), 0);
    step('all of it stays within a narrow screen, in the dark too');
    await page.emulateMedia({colorScheme: 'dark'});
    await page.setViewportSize({width: 320, height: 640});
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
    for (const node of [parcel.locator('.meta'), page.locator('.composer button[type="submit"]')])
        await untilEqual(() => node.evaluate((one) => {
            const {left, right} = one.getBoundingClientRect();
            return left >= 0 && right <= 320 && one.scrollWidth <= one.clientWidth + 1;
        }), true, 'whether it is within the screen');
    assert.ok((await fieldOf(page).boundingBox()).width >= 80);
    await page.setViewportSize({width: 1280, height: 900});
    await parcel.getByRole('button', {name: 'Cancel'}).click();
    await untilCount(parcel, 0);
    step('one that is sent at once is not shown as a later one');
    await fieldOf(page).fill('At once');
    await page.keyboard.press('Enter');
    await page.locator('.message.out[data-wamid]', {hasText: 'At once'}).waitFor();
    await untilCount(page.locator('.message.later'), 0);
};

// A template for an hour outside the 24 hours, where no text can be sent.
exports.template = async ({page, open, logIn, step, api, BASE}) => {
    const person = {phone: '16505551803', name: 'Tilda Template'};
    await platform(BASE, {...person, kind: 'text', text: 'Bye',
        timestamp: String(Math.floor(Date.now() / 1000) - 90000)});
    await logIn();
    await openThread({page, open}, person.name);
    await page.getByRole('button', {name: 'Choose a template'}).click();
    await page.getByRole('button', {name: /^order_shipped/}).click();
    const chosen = page.getByRole('dialog').first();
    const dialog = page.getByRole('dialog', {name: 'Send later'});
    const time = dialog.getByLabel('Date and time');
    const submit = dialog.getByRole('button', {name: 'Queue'});
    const later = () => chosen.getByRole('button', {name: 'Send later'}).click();
    step('what is missing is asked for before the time');
    await chosen.getByLabel('Text 1').fill('Tilda');
    await later();
    await untilFocus(page, 'name', 'body.2');
    await untilCount(dialog, 0);
    await chosen.getByLabel('Text 2').fill('Q-1');
    await chosen.getByLabel('End of the URL').fill('Q-1');
    step('a time that is over is refused, and leaving the question keeps what was typed');
    await later();
    await dialog.getByText('Europe/Berlin').waitFor();
    await untilCount(dialog.getByText('24 hours to answer'), 0);
    await time.fill((await timeIn(page, -1)).value);
    await submit.click();
    await dialog.getByText('Choose a time that is still to come.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({state: 'detached'});
    await untilValue(chosen.getByLabel('Text 2'), 'Q-1');
    step('after a lost answer the dialogs stay, and the repetition queues no second one');
    await page.route('**/v2/templates/send', async (route) => {
        await route.fetch();
        await route.abort();
    }, {times: 1});
    const {value, iso} = await timeIn(page, 20);
    await later();
    await time.fill(value);
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    await submit.click();
    await untilCount(page.getByRole('dialog'), 0);
    const rows = await rowsOf(page, api, person.phone);
    assert.deepEqual(rows.map(({state, sendAt}) => [state, sendAt]), [['queued', iso]]);
    assert.deepEqual(rows[0].message.template.components[0], {type: 'body',
        parameters: [{type: 'text', text: 'Tilda'}, {type: 'text', text: 'Q-1'}]});
    step('it stands at the end of the conversation, and is cancelled there');
    const mine = queuedRows(page, 'Hi Tilda, order Q-1 is on its way.');
    await untilCount(mine, 1);
    assert.equal(await mine.locator('time').getAttribute('datetime'), iso);
    await mine.getByRole('button', {name: 'Cancel'}).click();
    await untilCount(mine, 0);
    step('a second one for the same time is another send');
    await page.getByRole('button', {name: 'Choose a template'}).click();
    await page.getByRole('button', {name: /^order_shipped/}).click();
    for (const [label, text] of [['Text 1', 'Tilda'], ['Text 2', 'Q-1'], ['End of the URL', 'Q-1']])
        await chosen.getByLabel(label).fill(text);
    await later();
    await time.fill(value);
    await page.keyboard.press('Enter');
    await untilCount(mine, 1);
    assert.equal((await rowsOf(page, api, person.phone)).length, 2);
    await mine.getByRole('button', {name: 'Cancel'}).click();
    await untilCount(mine, 0);
};

// Queues the texts, for the test of their ends.
exports.queueTexts = async ({page, logIn, api, BASE}, phone, ...texts) => {
    await platform(BASE, {phone, name: 'Edda Ended', kind: 'text', text: 'hello'});
    await logIn();
    for (const text of texts) {
        const answer = await api(page, 'POST', '/v2/messages/send/text', {phoneNumberId: LINE,
            to: phone, text, sendAt: new Date(Date.now() + 3600000).toISOString()});
        assert.equal(answer.status, 202, answer.text);
    }
};

exports.ended = async ({page, open, logIn, step, api}, phone) => {
    await logIn();
    await openThread({page, open}, 'Edda Ended');
    step('each has its reason in words');
    await queuedRows(page, 'the refused').getByText('131026 Message undeliverable').waitFor();
    await queuedRows(page, 'the late').getByText('It could not be sent in time.').waitFor();
    await queuedRows(page, 'the doubtful').getByText('WhatsApp gave no answer').waitFor();
    await untilCount(page.locator('.message.later'), 3);
    step('what may have been sent has no button that sends it again');
    const again = {name: 'Send again'};
    await untilCount(queuedRows(page, 'the doubtful').getByRole('button'), 0);
    await untilCount(page.getByRole('button', again), 2);
    step('one is sent again: it waits, and its old row is gone');
    await queuedRows(page, 'the late').getByRole('button', again).click();
    await queuedRows(page, 'the late').getByRole('button', {name: 'Cancel'}).waitFor();
    await untilCount(queuedRows(page, 'the late'), 1);
    const [{retryOf, state}] = await rowsOf(page, api, phone);
    assert.equal(state, 'queued');
    assert.match(retryOf, /^out_/);
};
