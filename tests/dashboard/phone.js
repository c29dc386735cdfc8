// The phone of the sandbox: a person is the customer; the inbox of the dashboard answers.
const assert = require('node:assert/strict');
const {openThread, sandbox, sentMessages} = require('./sandbox.js');
const {until, untilCount} = require('./until.js');

const {SANDBOX, LINE, WABA} = process.env;

// A POST of the business to the platform, past the gateway.
async function graph(path, body, headers = {}) {
    const accounts = await sandbox('GET', 'accounts');
    const {account} = accounts.find(({account: one}) => one.wabaId === WABA);
    const response = await fetch(`${SANDBOX}/v26.0/${path}`, {method: 'POST', body,
        headers: {Authorization: `Bearer ${account.token}`, ...headers}});
    assert.equal(response.status, 200, await response.clone().text());
    return response.json();
}

// Sends a message of the business. Returns its id, unless it marks one as read.
async function business(message) {
    const {messages} = await graph(`${LINE}/messages`, JSON.stringify({
        messaging_product: 'whatsapp', ...message}), {'Content-Type': 'application/json'});
    return messages?.[0].id;
}

// Opens a phone in another page: openPhone(context, {phone, name}).
async function openPhone(context, person) {
    const phone = await context.newPage();
    await phone.goto(`${SANDBOX}/_sandbox/phone?${new URLSearchParams({...person,
        phoneNumberId: LINE})}`);
    await phone.getByRole('button', {name: `You are ${person.name}`}).waitFor();
    return phone;
}

async function say(phone, text) {
    await phone.getByLabel('Message', {exact: true}).fill(text);
    await phone.getByRole('button', {name: 'Send', exact: true}).click();
    await own(phone, text).waitFor();
}

const own = (phone, text) => phone.locator('.message.out', {hasText: text});
const theirs = (phone, text) => phone.locator('.message.in', {hasText: text});

// The entries of a kind in the conversation of a person.
async function chat(kind, query) {
    const {entries} = await sandbox('GET', `chat?${new URLSearchParams({...query,
        phoneNumberId: LINE})}`);
    return entries.filter((entry) => entry.kind === kind);
}

// The last message of the person, as the webhook had it.
const received = async (query) => (await chat('received', query)).at(-1)?.message;

// Waits until the sandbox has sent a webhook that the gateway took: the last message of the person.
function answered(query, holds) {
    return until(() => received(query), (message) => message && holds(message),
        'the last answer');
}

// Answers in the inbox. Returns the bubble there.
async function reply(dashboard, name, text) {
    const {page} = dashboard;
    await openThread(dashboard, name);
    await page.getByLabel('Write a message').fill(text);
    await page.keyboard.press('Enter');
    const mine = page.locator('.message.out[data-wamid]', {hasText: text});
    await mine.waitFor();
    return mine;
}

exports.conversation = async ({page, context, open, logIn, step}) => {
    const person = {phone: '16505552001', name: 'Clara Caller'};
    const phone = await openPhone(context, person);
    await say(phone, 'Are you open today?');
    await phone.locator('.message.out .ticks[data-status="sent"]').waitFor();
    step('the inbox has it');
    await logIn();
    await openThread({page, open}, person.name);
    await theirs(page, 'Are you open today?').waitFor();
    step('the answer arrives, and is delivered and read');
    const mine = await reply({page, open}, person.name, 'Yes, until six.');
    await phone.bringToFront();
    await theirs(phone, 'Yes, until six.').waitFor();
    await mine.locator('.ticks[data-status="read"]').waitFor();
    step('what the business has read is marked');
    const id = await own(phone, 'Are you open').getAttribute('data-wamid');
    await business({status: 'read', message_id: id, typing_indicator: {type: 'text'}});
    await phone.locator('.message.out .ticks[data-status="read"]').waitFor();
    await phone.getByText('typing\u2026').waitFor();
    step('a reload shows the conversation again, and sends nothing again');
    await phone.reload();
    await theirs(phone, 'Yes, until six.').waitFor();
    await untilCount(phone.locator('.message'), 2);
    const statuses = await chat('status', {phone: person.phone});
    assert.deepEqual(statuses.map(({message}) => message.status), ['delivered', 'read']);
};

exports.taps = async ({context, step}) => {
    const person = {phone: '16505552002', name: 'Tapping Tom'};
    const query = {phone: person.phone};
    const phone = await openPhone(context, person);
    await say(phone, 'Hello');
    step('a button');
    const asked = await business({to: person.phone, type: 'interactive', interactive: {
        type: 'button', header: {type: 'text', text: 'Tea?'}, body: {text: 'Which one?'},
        action: {buttons: [{type: 'reply', reply: {id: 'g', title: 'Green'}},
            {type: 'reply', reply: {id: 'b', title: 'Black'}}]}}});
    await phone.getByRole('button', {name: 'Black'}).click();
    await own(phone, 'Black').waitFor();
    let message = await answered(query, ({interactive}) => interactive);
    assert.deepEqual([message.context.id, message.interactive],
        [asked, {type: 'button_reply', button_reply: {id: 'b', title: 'Black'}}]);
    step('a row');
    await business({to: person.phone, type: 'interactive', interactive: {type: 'list',
        body: {text: 'All teas'}, action: {button: 'Teas', sections: [{title: 'Green', rows: [
            {id: 's', title: 'Sencha', description: 'Mild'}, {id: 'm', title: 'Matcha'}]}]}}});
    await phone.getByRole('button', {name: 'Teas'}).click();
    await phone.getByRole('dialog').getByRole('button', {name: 'Matcha'}).click();
    message = await answered(query, ({interactive}) => interactive?.list_reply);
    assert.deepEqual(message.interactive.list_reply, {id: 'm', title: 'Matcha'});
    step('a template, with its variables');
    await sandbox('POST', 'templates', {wabaId: WABA, items: [{id: '71001', name: 'tea_ready',
        language: 'en_US', status: 'APPROVED', category: 'UTILITY', components: [
            {type: 'BODY', text: 'Hi {{1}}, your {{2}} is ready.'},
            {type: 'BUTTONS', buttons: [{type: 'QUICK_REPLY', text: 'Thanks'}]}]}]});
    await business({to: person.phone, type: 'template', template: {name: 'tea_ready',
        language: {code: 'en_US'}, components: [
            {type: 'body', parameters: [{type: 'text', text: 'Tom'}, {type: 'text', text: 'tea'}]},
            {type: 'button', sub_type: 'quick_reply', index: '0',
                parameters: [{type: 'payload', payload: 'thx'}]}]}});
    await theirs(phone, 'Hi Tom, your tea is ready.').getByRole('button', {name: 'Thanks'}).click();
    message = await answered(query, ({type}) => type === 'button');
    assert.deepEqual(message.button, {payload: 'thx', text: 'Thanks'});
};

const FLOW = {version: '7.0', screens: [
    {id: 'ONE', title: 'Booking', layout: {type: 'SingleColumnLayout', children: [
        {type: 'TextHeading', text: 'Book a table'},
        {type: 'Form', name: 'f', children: [
            {type: 'TextInput', name: 'guest', label: 'Name', required: true},
            {type: 'RadioButtonsGroup', name: 'day', label: 'Day', required: true,
                'data-source': '${data.days}'},
            {type: 'Footer', label: 'Next', 'on-click-action': {name: 'navigate',
                next: {type: 'screen', name: 'TWO'}, payload: {who: '${form.guest}'}}}]}]}},
    {id: 'TWO', terminal: true, title: 'Extras', layout: {type: 'SingleColumnLayout', children: [
        {type: 'CheckboxGroup', name: 'extras', label: 'Extras',
            'data-source': [{id: 'cake', title: 'Cake'}, {id: 'milk', title: 'Milk'}]},
        {type: 'Footer', label: 'Book', 'on-click-action': {name: 'complete', payload: {
            name: '${data.who}', day: '${screen.ONE.form.day}', extras: '${form.extras}'}}}]}}]};

exports.flow = async ({context, step}) => {
    const person = {phone: '16505552003', name: 'Flora Form'};
    const phone = await openPhone(context, person);
    await sandbox('POST', 'flows', {wabaId: WABA, items: [
        {id: '72001', name: 'Booking', status: 'DRAFT'},
        {id: '72002', name: 'Bare', status: 'PUBLISHED'}]});
    await say(phone, 'Hello');
    const form = new FormData();
    form.set('name', 'flow.json');
    form.set('asset_type', 'FLOW_JSON');
    form.set('file', new Blob([JSON.stringify(FLOW)], {type: 'application/json'}), 'flow.json');
    await graph('72001/assets', form);
    const sendFlow = (id, extra) => business({to: person.phone, type: 'interactive',
        interactive: {type: 'flow', body: {text: `Flow ${id}`}, action: {name: 'flow',
            parameters: {flow_message_version: '3', flow_id: id, flow_cta: `Open ${id}`,
                flow_token: 'tok-1', ...extra}}}});
    const days = [{id: 'fri', title: 'Friday'}, {id: 'sat', title: 'Saturday'}];
    await sendFlow('72001', {mode: 'draft', flow_action: 'navigate',
        flow_action_payload: {screen: 'ONE', data: {days}}});
    await phone.getByRole('button', {name: 'Open 72001'}).click();
    const dialog = phone.getByRole('dialog');
    step('a required field stops it');
    await dialog.getByRole('button', {name: 'Next'}).click();
    await dialog.getByLabel('Name').fill('Flora');
    await dialog.getByLabel('Saturday').check();
    await dialog.getByRole('button', {name: 'Next'}).click();
    step('the second screen');
    await dialog.getByLabel('Cake').check();
    await dialog.getByRole('button', {name: 'Book'}).click();
    let message = await answered({phone: person.phone}, ({interactive}) => interactive);
    assert.deepEqual(JSON.parse(message.interactive.nfm_reply.response_json),
        {flow_token: 'tok-1', name: 'Flora', day: 'sat', extras: ['cake']});
    step('without Flow JSON');
    await sendFlow('72002');
    await phone.getByRole('button', {name: 'Open 72002'}).click();
    await dialog.getByLabel('Answers').fill('size=2\nnote=a=b');
    await dialog.getByRole('button', {name: 'Send'}).click();
    message = await answered({phone: person.phone},
        ({interactive}) => interactive.nfm_reply.response_json.includes('size'));
    assert.deepEqual(JSON.parse(message.interactive.nfm_reply.response_json),
        {flow_token: 'tok-1', size: '2', note: 'a=b'});
};

exports.username = async ({page, context, open, logIn, step}) => {
    const phone = await openPhone(context, {phone: '16505552004', name: 'Uma Unlisted'});
    await phone.getByRole('button', {name: 'You are'}).click();
    await phone.getByLabel('a user name, and no phone number').check();
    await phone.getByLabel('Phone number or user name').fill('@uma.u');
    await phone.getByRole('button', {name: 'Use'}).click();
    await phone.getByText('You are Uma Unlisted (@uma.u, no phone number)').waitFor();
    await say(phone, 'Guess who');
    step('the inbox answers by the user id');
    await logIn();
    await reply({page, open}, 'Uma Unlisted', 'Hello, Uma');
    await phone.bringToFront();
    await theirs(phone, 'Hello, Uma').waitFor();
    const sent = JSON.parse((await sentMessages('Hello, Uma'))[0].body);
    assert.match(sent.recipient, /^US\.\d{16}$/);
    assert.equal(sent.to, undefined);
    const message = await received({bsuid: sent.recipient});
    assert.deepEqual([message.from, message.from_user_id], [undefined, sent.recipient]);
};

exports.picture = async ({page, context, open, logIn, step}, jpeg) => {
    const person = {phone: '16505552005', name: 'Pia Picture'};
    const phone = await openPhone(context, person);
    await phone.getByLabel('Message', {exact: true}).fill('My parcel');
    await phone.getByLabel('Send a picture').setInputFiles(jpeg);
    const image = own(phone, 'My parcel').locator('img');
    await image.waitFor();
    await phone.waitForFunction((node) => node.naturalWidth === 640, await image.elementHandle());
    step('the inbox shows it');
    await logIn();
    await openThread({page, open}, person.name);
    const message = theirs(page, 'My parcel');
    await message.getByRole('button', {name: 'Show image'}).click();
    await page.waitForFunction((node) => node.naturalWidth === 640,
        await message.locator('img').elementHandle());
    step('without a caption');
    await phone.getByLabel('Send a picture').setInputFiles(jpeg);
    const {image: {id}} = await answered({phone: person.phone},
        (one) => one.image && !one.image.caption);
    step('one of the business');
    await business({to: person.phone, type: 'image', image: {id, caption: 'Back'}});
    await theirs(phone, 'Back').locator('img').waitFor();
};

exports.block = async ({page, context, open, logIn, step}) => {
    const person = {phone: '16505552006', name: 'Bea Blocks'};
    const phone = await openPhone(context, person);
    await say(phone, 'Stop it');
    await phone.getByRole('button', {name: 'Block', exact: true}).click();
    await phone.getByText('You blocked this business').waitFor();
    await phone.getByLabel('Message', {exact: true}).waitFor({state: 'hidden'});
    step('a message does not arrive');
    await logIn();
    await reply({page, open}, person.name, 'Buy tea!');
    await phone.reload();
    await phone.getByRole('button', {name: 'Unblock'}).click();
    await phone.getByLabel('Message', {exact: true}).waitFor();
    const id = await business({to: person.phone, type: 'text', text: {body: 'Sorry'}});
    await theirs(phone, 'Sorry').waitFor();
    assert.equal(await theirs(phone, 'Buy tea!').count(), 0);
    const statuses = await chat('status', {phone: person.phone});
    assert.ok(statuses.every((one) => one.id === id));
};

exports.trouble = async ({context, step, BASE}) => {
    const person = {phone: '16505552007', name: 'Tina Trouble'};
    const phone = await openPhone(context, person);
    const alert = phone.getByRole('alert');
    await sandbox('POST', 'settings', {appSecret: 'wrong', webhookRetries: 0});
    await say(phone, 'Refused');
    await alert.getByText('The program did not take the webhook: it answered 401').waitFor();
    step('no URL');
    await sandbox('POST', 'settings', {webhookUrl: null});
    await say(phone, 'Nowhere');
    await alert.getByText('no webhookUrl in the settings').waitFor();
    step('a reset empties the phone, which then has a number that exists');
    await sandbox('POST', 'reset');
    await phone.locator('.message').first().waitFor({state: 'detached'});
    await sandbox('POST', 'settings', {webhookUrl: `${BASE}/platform/webhook`});
    await say(phone, 'Here again');
    step('a person without digits');
    await phone.getByRole('button', {name: 'You are'}).click();
    await phone.getByLabel('Phone number or user name').fill('none');
    await phone.getByRole('button', {name: 'Use'}).click();
    assert.equal(await phone.getByRole('dialog').isVisible(), true);
};

exports.keyboard = async ({newContext, step}) => {
    const context = await newContext({viewport: {width: 320, height: 568}, colorScheme: 'dark'});
    const person = {phone: '16505552008', name: 'Kim Keys'};
    const phone = await openPhone(context, person);
    await phone.getByLabel('Message', {exact: true}).focus();
    await phone.keyboard.type('<b>bold</b>');
    await phone.keyboard.press('Shift+Enter');
    await phone.keyboard.type('second line');
    await phone.keyboard.press('Enter');
    await own(phone, '<b>bold</b>\nsecond line').waitFor();
    await business({to: person.phone, type: 'text',
        text: {body: `<img src=x onerror=alert(1)> ${'wide'.repeat(100)}`}});
    await theirs(phone, '<img src=x').waitFor();
    step('nothing is wider than the screen');
    assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 320);
    assert.equal(await phone.locator('.phone').evaluate((node) => node.scrollWidth), 320);
    step('every control has a name, and is reached by Tab');
    const names = [];
    await phone.locator('body').evaluate(() => document.activeElement.blur());
    for (let i = 0; i < 8; i++) {
        await phone.keyboard.press('Tab');
        names.push(await phone.evaluate(() => {
            const node = document.activeElement;
            return node.labels?.[0]?.textContent.trim() ?? node.getAttribute('aria-label') ??
                node.textContent;
        }));
    }
    for (const name of ['Block', 'Messages', 'Send a picture', 'Message', 'Send', 'You are'])
        assert.ok(names.some((one) => one.startsWith(name)), `${name} of ${names.join(' | ')}`);
    assert.ok(names.every((name) => name), names.join(' | '));
    step('Escape closes the dialog');
    await phone.getByRole('button', {name: 'You are'}).press('Enter');
    await phone.getByRole('dialog').waitFor();
    await phone.keyboard.press('Escape');
    await phone.getByRole('dialog').waitFor({state: 'hidden'});
};
