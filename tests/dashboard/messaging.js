// Overview, lines, templates, forms and usage.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {until, untilCount, untilEqual, untilText} = require('./until.js');

const {SANDBOX} = process.env;

async function dataOf(api, page, address) {
    const {status, text} = await api(page, 'GET', address);
    assert.equal(status, 200, text);
    return JSON.parse(text).data;
}

// The last send that the platform received.
async function lastSend() {
    const response = await fetch(`${SANDBOX}/_sandbox/requests/last?path=/messages&method=POST`);
    return JSON.parse((await response.json()).body);
}

exports.overview = async ({page, open, logIn, step}, number) => {
    await logIn();
    await open('/overview');
    const main = page.locator('main');
    step('plan, lines and webhook');
    await untilCount(main.getByText('Premium'), 1);
    await untilCount(main.getByText(number), 1);
    await untilCount(main.getByText('No URL is set'), 1);
    await main.locator('.figure').nth(3).waitFor();
};

exports.planEnded = async ({page, open, logIn, step}) => {
    await logIn();
    await open('/overview');
    await page.getByText('Your plan ended on').waitFor();
    await untilCount(page.getByText('switchboard plan set'), 1);
    step('another page shows what the API answers');
    await page.getByRole('link', {name: 'Lines'}).click();
    await untilText(page.locator('.notice.bad').first(), /plan/i);
};

// The row of a finding has its words.
function finding(page, ...words) {
    return words.reduce((rows, text) => rows.filter({hasText: text}), page.locator('tbody tr'));
}

exports.setup = async ({page, open, logIn, step}, number, bare) => {
    await logIn();
    await open('/overview');
    step('the overview warns, and leads to the set-up');
    await page.getByText('Nothing has arrived from WhatsApp for a day').waitFor();
    await page.getByRole('link', {name: 'Check the set-up'}).click();
    step('the findings have what to do');
    await page.getByText('1 thing must be done').waitFor();
    await finding(page, 'To do', `number ${number}`, 'status is BANNED', 'What to do:').waitFor();
    await finding(page, 'In order', 'token expiry', 'it does not end').waitFor();
    await untilCount(page.locator('tbody .badge.bad'), 1);
    step('they are in the language of the user');
    const choose = (language) => page.locator('.language select').selectOption(language);
    await choose('es');
    await finding(page, 'Por hacer', `número ${number}`, 'status es BANNED',
        'Qué hacer: revisa el número').waitFor();
    await choose('pt');
    await finding(page, 'Em ordem', 'validade do token', 'não vence').waitFor();
    await choose('en');
    await finding(page, 'In order', 'token expiry', 'it does not end').waitFor();
    step('they are asked again');
    await fetch(`${SANDBOX}/_sandbox/nodes/${number}`, {method: 'POST', body: '{}'});
    await page.getByRole('button', {name: 'Check again'}).click();
    await page.getByText('to look at').waitFor();
    await untilCount(page.locator('tbody .badge.bad'), 0);
    step('another account');
    await page.getByLabel('Business account').selectOption(bare);
    await finding(page, 'To do', 'platform token', 'there is none').waitFor();
    await untilCount(page.locator('tbody tr'), 1);
};

exports.lines = async ({page, open, logIn, api, step, settled}) => {
    const numbers = async () =>
        (await dataOf(api, page, '/v2/me')).phoneNumbers.map(({phoneNumberId}) => phoneNumberId);
    await logIn();
    await open('/lines');
    await untilCount(page.locator('.card'), 2);
    const second = page.locator('.card').nth(1);
    const id = await second.getAttribute('data-line');
    const card = page.locator(`[data-line="${id}"]`);
    step('rename');
    await second.getByRole('button', {name: 'Rename'}).click();
    await page.getByRole('dialog').getByLabel('Name').fill('<b>Shop</b> line');
    await page.getByRole('dialog').getByRole('button', {name: 'Save'}).click();
    await card.getByRole('heading', {name: '<b>Shop</b> line'}).waitFor();
    step('primary');
    await card.getByRole('button', {name: 'Make primary'}).click();
    await card.getByText('Primary', {exact: true}).waitFor();
    const {phoneNumberId} = (await dataOf(api, page, '/v2/lines')).items
        .find((line) => line.id === id);
    await untilEqual(async () => (await dataOf(api, page, '/v2/me')).defaultPhoneNumberId,
        phoneNumberId);
    step('archive, cancelled first');
    await card.getByRole('button', {name: 'Archive'}).click();
    await page.keyboard.press('Escape');
    assert.ok((await numbers()).includes(phoneNumberId));
    await card.getByRole('button', {name: 'Archive'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Archive'}).click();
    await card.getByText('Archived', {exact: true}).first().waitFor();
    await until(numbers, (list) => !list.includes(phoneNumberId), 'the numbers');
    step('the last line may be archived too');
    const first = page.locator('.card').first();
    await first.getByRole('button', {name: 'Archive'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Archive'}).click();
    await page.getByText('All lines are archived').waitFor();
    step('bring both back');
    for (let left = 2; left > 0; left--) {
        await page.getByRole('button', {name: 'Bring back'}).first().click();
        await page.waitForFunction((count) => [...document.querySelectorAll('button')]
            .filter((node) => node.textContent === 'Bring back').length < count, left);
        await settled(page);
    }
    await until(numbers, ({length}) => length === 2, 'the numbers');
};

exports.templates = async ({page, open, logIn, step}) => {
    await logIn();
    await open('/templates');
    const rows = page.locator('tbody tr');
    await untilCount(rows, 4);
    step('filters stay over a reload');
    await page.getByLabel('Status').selectOption('APPROVED');
    await untilCount(rows, 3);
    await page.getByLabel('Search name or text').fill('Róom  TABLE reserved');
    await untilCount(rows, 1);
    await page.reload();
    await untilCount(rows, 1);
    step('the preview has the examples of named variables');
    await rows.getByRole('link').click();
    await page.getByRole('heading', {name: 'table_reserved'}).waitFor();
    await page.getByText('Room for 4 on Friday').waitFor();
};

// Copies of the object with each of its members, at any depth, replaced by each value.
function mutationsOf(object, values) {
    const paths = (value, path) => value && typeof value === 'object'
        ? Object.keys(value).flatMap((name) => [[...path, name],
            ...paths(value[name], [...path, name])]) : [];
    return paths(object, []).flatMap((names) => values.map((value) => {
        const changed = structuredClone(object);
        const parent = names.slice(0, -1).reduce((one, name) => one[name], changed);
        parent[names.at(-1)] = value;
        return changed;
    }));
}

exports.strangeTemplates = async ({page, open, logIn, step, api}) => {
    await logIn();
    const {items} = await dataOf(api, page, '/v2/templates');
    items[0].quality_score = {score: 'GREEN'};
    const strange = items.flatMap((one) => mutationsOf(one,
        [null, 7, 'constructor', '__proto__', {}, [], [null]]));
    const shown = [null, 7, items[0], ...strange, items[1]];
    assert.ok(strange.length > 400, `only ${strange.length} templates`);
    await page.route('**/v2/templates?*', (route) => route.fulfill({json: {success: true,
        data: {items: shown, paging: {cursors: {after: null}}}}}));
    step('the list has a row for each, and no text of a program');
    await open('/templates');
    await untilCount(page.locator('tbody tr'), shown.length - 2);
    const text = await page.locator('main').innerText();
    assert.doesNotMatch(text, /\[object |undefined|NaN|native code/);
    assert.equal(await page.locator('main [class*="native code"]').count(), 0);
    step('each has fields, a preview and a choice in the composer');
    const failed = await page.evaluate(async () => {
        const {templatesOf} = await import('/dashboard/js/templates/store.js');
        const {variableFields} = await import('/dashboard/js/templates/fields.js');
        const {refusalOf} = await import('/dashboard/js/templates/picker.js');
        const wrong = [];
        for (const one of await templatesOf({accountId: 'another'}, {isFresh: true})) {
            try {
                refusalOf(one, {hasPhone: true});
                const {outerHTML} = variableFields(one).preview;
                if (/\[object |undefined|native code/.test(outerHTML))
                    wrong.push(outerHTML);
            } catch (error) {
                wrong.push(`${error.stack} ${JSON.stringify(one)}`);
            }
        }
        return wrong;
    });
    assert.deepEqual(failed.slice(0, 3), []);
    await page.unroute('**/v2/templates?*');
};

exports.testSend = async ({page, open, logIn, step}, jpeg, to) => {
    await logIn();
    await open('/templates/table_reserved?language=en_US');
    const send = page.getByRole('button', {name: 'Send test'});
    step('a recipient that is none is refused at its field');
    await page.getByLabel('Recipient').fill('Bob');
    await page.getByLabel('Image').setInputFiles(jpeg);
    await page.getByLabel('Text guests').fill('2');
    await page.getByLabel('Text day').fill('Sunday');
    await send.click();
    await page.locator('.field-error', {hasText: 'neither a phone number'}).waitFor();
    step('the picture is uploaded, named variables are sent with their names');
    await page.getByLabel('Recipient').fill(to);
    await page.getByText('Room for 2 on Sunday').waitFor();
    step('a refusal is shown, and the same test is then sent again, not answered as before');
    await fetch(`${SANDBOX}/_sandbox/faults`, {method: 'POST',
        body: '{"match":{"path":"/messages"},"code":132015,"times":1}'});
    await send.click();
    await untilText(page.locator('.form-problem [role=alert]'), /132015/);
    await send.click();
    await page.getByText('WhatsApp accepted the message').waitFor();
    const {template} = await lastSend();
    const [header, body] = template.components;
    assert.match(header.parameters[0].image.id, /^\d+$/);
    assert.deepEqual(body.parameters, [
        {type: 'text', parameter_name: 'guests', text: '2'},
        {type: 'text', parameter_name: 'day', text: 'Sunday'}]);
    step('an authentication template to a user id is refused before it is sent');
    await open('/templates/login_code?language=en_US');
    let requests = 0;
    page.on('request', (request) => { requests += request.method() === 'POST' ? 1 : 0; });
    await page.getByLabel('Recipient').fill('US.13491208655302741918');
    await page.getByLabel('Text 1').fill('123456');
    await send.click();
    await page.locator('.field-error', {hasText: 'phone number only'}).waitFor();
    assert.equal(requests, 0);
    step('to a number its code goes into the button, too');
    await page.getByLabel('Recipient').fill(to);
    await send.click();
    await page.getByText('WhatsApp accepted the message').waitFor();
    const sent = (await lastSend()).template;
    assert.deepEqual(sent.components, [
        {type: 'body', parameters: [{type: 'text', text: '123456'}]},
        {type: 'button', sub_type: 'url', index: '0',
            parameters: [{type: 'text', text: '123456'}]}]);
    step('a rejected template cannot be sent');
    await open('/templates/flash_offer?language=en_US');
    await page.getByText('Only approved templates can be sent.').waitFor();
    await untilCount(send, 0);
};

exports.forms = async ({page, open, logIn, step}, formula) => {
    await logIn();
    await open('/forms');
    const row = page.locator('tbody tr', {hasText: 'Tasting'});
    const count = Number(await row.locator('td.number').innerText());
    assert.ok(count > 0);
    await row.getByRole('link').click();
    await page.getByRole('heading', {name: 'Tasting', exact: true}).waitFor();
    step('as many rows as the count says, and texts as they are');
    await untilCount(page.locator('tbody tr'), count);
    await page.getByText(formula, {exact: true}).waitFor();
    assert.equal(await page.getByText('flow_token', {exact: true}).isVisible(), false);
    step('the CSV neutralises formulas');
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', {name: 'Download CSV'}).click();
    const file = path.join(process.env.STACK, 'responses.csv');
    await (await waiting).saveAs(file);
    const text = fs.readFileSync(file, 'utf8');
    assert.equal(text.trim().split('\r\n').length, count + 1);
    assert.ok(text.includes(`'${formula.replaceAll('"', '""')}`), text);
    for (const cell of text.split(/\r\n|,/))
        assert.doesNotMatch(cell, /^"?[=+\-@\t]/, 'a cell begins like a formula');
};

exports.usage = async ({page, open, logIn, step}, expected) => {
    const names = ['in', 'out', 'sent', 'delivered', 'read', 'failed'];
    const wanted = JSON.parse(expected);
    await logIn();
    await open('/usage');
    step('the sums equal those of the command line');
    await untilEqual(async () => (await page.locator('tfoot td').allInnerTexts()).slice(0, 6)
        .map(Number), names.map((name) => wanted[name]));
    step('the sums are those of the days');
    await untilCount(page.locator('tbody tr'), 30);
    const rows = await page.locator('tbody tr').all();
    const sums = names.map(() => 0);
    for (const row of rows) {
        const cells = await row.locator('td').allInnerTexts();
        names.forEach((_, i) => { sums[i] += Number(cells[i]); });
    }
    assert.deepEqual(sums, names.map((name) => wanted[name]));
    step('the chart has a text, and says the time zone');
    const label = await page.getByRole('img').first().getAttribute('aria-label');
    assert.match(label, new RegExp(`${wanted.in} received, ${wanted.out} sent out`));
    await page.getByText('Europe/Berlin').waitFor();
    await untilCount(page.locator('.chart').first().locator('.chart-day'), 30);
    step('another period stays over a reload');
    await page.getByRole('button', {name: '7 days'}).click();
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 7);
    await page.reload();
    await page.locator('tfoot').waitFor();
    await untilCount(page.locator('tbody tr'), 7);
};

