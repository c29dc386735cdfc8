// The phone of the sandbox: a person is the customer; the inbox of the dashboard answers.
const assert = require('node:assert/strict');

const {SANDBOX, LINE, WABA} = process.env;

async function sandbox(method, call, body) {
    const response = await fetch(`${SANDBOX}/_sandbox/${call}`, {method,
        body: body && JSON.stringify(body)});
    assert.equal(response.status, 200, `${call}: ${await response.clone().text()}`);
    return response.json();
}

// Sends a message of the business, past the gateway. Returns its id, unless it marks one as read.
async function business(message) {
    const accounts = await sandbox('GET', 'accounts');
    const {account} = accounts.find(({phones}) => phones.some(({id}) => id === LINE));
    const response = await fetch(`${SANDBOX}/v26.0/${LINE}/messages`, {method: 'POST',
        headers: {Authorization: `Bearer ${account.token}`, 'Content-Type': 'application/json'},
        body: JSON.stringify({messaging_product: 'whatsapp', ...message})});
    const answer = await response.json();
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer.messages?.[0].id;
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
    await phone.locator('.own', {hasText: text}).waitFor();
}

const theirs = (phone, text) => phone.locator('.theirs', {hasText: text});

// The last message of the person, as the webhook had it.
async function received(query) {
    const {entries} = await sandbox('GET', `chat?${new URLSearchParams({...query,
        phoneNumberId: LINE})}`);
    return entries.filter(({kind}) => kind === 'received').at(-1)?.message;
}

// Waits until the sandbox has sent a webhook that the gateway took: the last message of the person.
async function answered(phone, query, holds) {
    const deadline = Date.now() + 30000;
    while (Date.now() < deadline) {
        const message = await received(query);
        if (message && holds(message))
            return message;
        await phone.waitForTimeout(100);
    }
    throw new Error(`no such answer; the last is ${JSON.stringify(await received(query))}`);
}

async function openThread({page, open}, name) {
    await open(`/inbox?q=${encodeURIComponent(name)}`);
    await page.locator('.thread').first().click();
    await page.locator('.thread-view .composer').waitFor();
}

exports.conversation = async ({page, context, open, logIn, step}) => {
    const person = {phone: '16505552001', name: 'Clara Caller'};
    const phone = await openPhone(context, person);
    await say(phone, 'Are you open today?');
    await phone.locator('.own .tick[data-status="sent"]').waitFor();
    step('the inbox has it');
    await logIn();
    await openThread({page, open}, person.name);
    await page.locator('.message.in', {hasText: 'Are you open today?'}).waitFor();
    step('the answer arrives, and is delivered and read');
    await page.getByLabel('Write a message').fill('Yes, until six.');
    await page.keyboard.press('Enter');
    const mine = page.locator('.message.out[data-wamid]', {hasText: 'Yes, until six.'});
    await mine.waitFor();
    await phone.bringToFront();
    await theirs(phone, 'Yes, until six.').waitFor();
    await mine.locator('.ticks[data-status="read"]').waitFor();
    step('what the business has read is marked');
    const id = await phone.locator('.own').getAttribute('data-wamid');
    await business({status: 'read', message_id: id, typing_indicator: {type: 'text'}});
    await phone.locator('.own .tick[data-status="read"]').waitFor();
    await phone.getByText('typing\u2026').waitFor();
    step('a reload shows the conversation again, and sends nothing again');
    await phone.reload();
    await theirs(phone, 'Yes, until six.').waitFor();
    assert.equal(await phone.locator('.message').count(), 2);
    const {entries} = await sandbox('GET', `chat?phone=${person.phone}&phoneNumberId=${LINE}`);
    const statuses = entries.filter(({kind}) => kind === 'status');
    assert.deepEqual(statuses.map(({message}) => message.status), ['delivered', 'read']);
};

exports.taps = async ({context, step}) => {
    const person = {phone: '16505552002', name: 'Tapping Tom'};
    const query = {phone: person.phone};
    const phone = await openPhone(context, person);
    step('a button');
    const asked = await business({to: person.phone, type: 'interactive', interactive: {
        type: 'button', header: {type: 'text', text: 'Tea?'}, body: {text: 'Which one?'},
        action: {buttons: [{type: 'reply', reply: {id: 'g', title: 'Green'}},
            {type: 'reply', reply: {id: 'b', title: 'Black'}}]}}});
    await phone.getByRole('button', {name: 'Black'}).click();
    await phone.locator('.own', {hasText: 'Black'}).waitFor();
    let message = await answered(phone, query, ({interactive}) => interactive);
    assert.deepEqual([message.context.id, message.interactive],
        [asked, {type: 'button_reply', button_reply: {id: 'b', title: 'Black'}}]);
    step('a row');
    await business({to: person.phone, type: 'interactive', interactive: {type: 'list',
        body: {text: 'All teas'}, action: {button: 'Teas', sections: [{title: 'Green', rows: [
            {id: 's', title: 'Sencha', description: 'Mild'}, {id: 'm', title: 'Matcha'}]}]}}});
    await phone.getByRole('button', {name: 'Teas'}).click();
    await phone.getByRole('dialog').getByRole('button', {name: 'Matcha'}).click();
    message = await answered(phone, query, ({interactive}) => interactive?.list_reply);
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
    message = await answered(phone, query, ({type}) => type === 'button');
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
    const accounts = await sandbox('GET', 'accounts');
    const {account} = accounts.find(({account: one}) => one.wabaId === WABA);
    const form = new FormData();
    form.set('name', 'flow.json');
    form.set('asset_type', 'FLOW_JSON');
    form.set('file', new Blob([JSON.stringify(FLOW)], {type: 'application/json'}), 'flow.json');
    const upload = await fetch(`${SANDBOX}/v26.0/72001/assets`, {method: 'POST', body: form,
        headers: {Authorization: `Bearer ${account.token}`}});
    assert.equal(upload.status, 200, await upload.text());
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
    let message = await answered(phone, {phone: person.phone}, ({interactive}) => interactive);
    assert.deepEqual(JSON.parse(message.interactive.nfm_reply.response_json),
        {flow_token: 'tok-1', name: 'Flora', day: 'sat', extras: ['cake']});
    step('without Flow JSON');
    await sendFlow('72002');
    await phone.getByRole('button', {name: 'Open 72002'}).click();
    await dialog.getByLabel('Answers').fill('size=2\nnote=a=b');
    await dialog.getByRole('button', {name: 'Send'}).click();
    message = await answered(phone, {phone: person.phone},
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
    await openThread({page, open}, 'Uma Unlisted');
    await page.getByLabel('Write a message').fill('Hello, Uma');
    await page.keyboard.press('Enter');
    await phone.bringToFront();
    await theirs(phone, 'Hello, Uma').waitFor();
    const list = await sandbox('GET', 'requests?path=/messages&method=POST');
    const sent = JSON.parse(list.find(({body}) => body?.includes('Hello, Uma')).body);
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
    const own = phone.locator('.own', {hasText: 'My parcel'});
    await own.locator('img').waitFor();
    await phone.waitForFunction((node) => node.naturalWidth === 640,
        await own.locator('img').elementHandle());
    step('the inbox shows it');
    await logIn();
    await openThread({page, open}, person.name);
    const message = page.locator('.message.in', {hasText: 'My parcel'});
    await message.getByRole('button', {name: 'Show image'}).click();
    await page.waitForFunction((node) => node.naturalWidth === 640,
        await message.locator('img').elementHandle());
    step('without a caption');
    await phone.getByLabel('Send a picture').setInputFiles(jpeg);
    const last = await answered(phone, {phone: person.phone}, ({image}) => image && !image.caption);
    step('one of the business');
    await business({to: person.phone, type: 'image', image: {id: last.image.id, caption: 'Back'}});
    await theirs(phone, 'Back').locator('img').waitFor();
};

exports.block = async ({page, context, open, logIn, step}) => {
    const person = {phone: '16505552006', name: 'Bea Blocks'};
    const phone = await openPhone(context, person);
    await say(phone, 'Stop it');
    await phone.getByRole('button', {name: 'Block', exact: true}).click();
    await phone.getByText('You blocked this business').waitFor();
    assert.equal(await phone.getByLabel('Message', {exact: true}).isVisible(), false);
    step('a message does not arrive');
    await logIn();
    await openThread({page, open}, person.name);
    await page.getByLabel('Write a message').fill('Buy tea!');
    await page.keyboard.press('Enter');
    await page.locator('.message.out[data-wamid]', {hasText: 'Buy tea!'}).waitFor();
    await phone.reload();
    await phone.getByRole('button', {name: 'Unblock'}).click();
    await phone.getByLabel('Message', {exact: true}).waitFor();
    const id = await business({to: person.phone, type: 'text', text: {body: 'Sorry'}});
    await theirs(phone, 'Sorry').waitFor();
    assert.equal(await theirs(phone, 'Buy tea!').count(), 0);
    const {entries} = await sandbox('GET', `chat?phone=${person.phone}&phoneNumberId=${LINE}`);
    assert.ok(entries.filter(({kind}) => kind === 'status').every((one) => one.id === id));
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
    await phone.locator('.own', {hasText: '<b>bold</b>\nsecond line'}).waitFor();
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
