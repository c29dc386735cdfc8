// The opt-outs of the dashboard: their page, and the mark in the window of a contact.
const assert = require('node:assert/strict');
const {openThread, platform} = require('./sandbox.js');
const {until, untilCount, untilEqual, untilFocus, untilText} = require('./until.js');

const {LINE} = process.env;

async function identities(page, api) {
    const {text} = await api(page, 'GET', `/v2/opt-outs?phoneNumberId=${LINE}`);
    return JSON.parse(text).data.items.map(({identity}) => identity);
}

exports.list = async (test, refused) => {
    const {page, open, logIn, api, step, BASE} = test;
    const main = page.locator('main'), dialog = page.getByRole('dialog');
    const rows = main.locator('tbody tr'), find = main.getByLabel('Number or user name');
    const button = (name) => page.getByRole('button', {name, exact: true});
    await platform(BASE, {phone: '16505553001', name: 'Uma', username: 'uma.shop', kind: 'text',
        text: 'hello'});
    await logIn();
    step('the source of each is said in words');
    await open('/optouts');
    await page.getByRole('link', {name: 'Opt-outs'}).waitFor();
    await untilCount(rows, 2);
    await untilText(rows.filter({hasText: `+${refused}`}), /WhatsApp refused marketing/);
    await untilText(rows.filter({hasText: 'US.stopped1'}),
        /Stopped by the person in WhatsApp/);
    step('what is no person is refused at the field; a number in any spelling is added');
    await button('Add a person').click();
    await dialog.getByLabel('Number or user name').fill('Ann Lee');
    await page.keyboard.press('Enter');
    await dialog.getByText('no contact has it as a user name').waitFor();
    await untilFocus(page, 'name', 'to');
    await dialog.getByLabel('Number or user name').fill('+1 (650) 555-3002');
    await page.keyboard.press('Enter');
    await dialog.waitFor({state: 'detached'});
    await untilText(rows.filter({hasText: '+16505553002'}), /Added here or by a program/);
    step('a user name stands for the number of its contact');
    await button('Add a person').click();
    await dialog.getByLabel('Number or user name').fill('@Uma.Shop');
    await page.keyboard.press('Enter');
    await rows.filter({hasText: '+16505553001'}).waitFor();
    step('one is found by number and by name, also after a reload; who is not there is said');
    await find.fill('+1 650 555 3002');
    await page.keyboard.press('Enter');
    await untilCount(rows, 1);
    await page.reload();
    await rows.filter({hasText: '+16505553002'}).waitFor();
    await untilCount(rows, 1);
    await find.fill('uma.shop');
    await page.keyboard.press('Enter');
    await rows.filter({hasText: '+16505553001'}).waitFor();
    await find.fill('+1 650 555 3999');
    await page.keyboard.press('Enter');
    await untilText(main, /Not in the list/);
    await find.fill('x');
    await page.keyboard.press('Enter');
    await untilText(main, /no contact has it as a user name/);
    await find.fill('');
    await page.keyboard.press('Enter');
    await untilCount(rows, 4);
    step('removing asks what it means, and Cancel changes nothing');
    const remove = () => rows.filter({hasText: `+${refused}`}).getByRole('button').click();
    await remove();
    await untilText(dialog, /Campaigns go to \+\d+ again[^]*WhatsApp goes on refusing/);
    await dialog.getByRole('button', {name: 'Cancel'}).click();
    assert.equal((await identities(page, api)).length, 4);
    await remove();
    await dialog.getByRole('button', {name: 'Remove'}).click();
    await untilCount(rows, 3);
    assert.ok(!(await identities(page, api)).includes(refused));
    step('on a narrow screen the source is shown, and the keyboard reaches the button of each');
    await page.setViewportSize({width: 320, height: 640});
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <=
        document.documentElement.clientWidth));
    await rows.first().getByText('Added here').waitFor();
    await find.focus();
    for (const name of ['Find', '', 'Remove', 'Remove', 'Remove']) {
        await page.keyboard.press('Tab');
        await untilEqual(() => page.evaluate(() => document.activeElement.innerText
            ?.includes('\n') ? '' : document.activeElement.innerText), name, 'the focus');
    }
    step('an error is shown, and trying again shows the list');
    await page.route('**/v2/opt-outs*', (route) => route.fulfill({status: 500,
        contentType: 'application/json', body: '{"success":false,"error":"INTERNAL_ERROR",' +
            '"message":"It broke.","details":null}'}));
    await page.setViewportSize({width: 1280, height: 900});
    await button('Refresh').click();
    await untilText(main.getByRole('alert'), /It broke\./);
    await page.unroute('**/v2/opt-outs*');
    await button('Try again').click();
    await untilCount(rows, 3);
};

exports.contact = async (test) => {
    const {page, open, logIn, api, step, BASE} = test;
    const dialog = page.getByRole('dialog');
    await platform(BASE, {phone: '16505553011', name: 'Olga Out', kind: 'text',
        text: 'no ads please'});
    await logIn();
    await openThread({page, open}, 'Olga Out');
    await page.getByRole('button', {name: 'Contact', exact: true}).click();
    step('one click opts the person out, and the mark says so with its source');
    await dialog.getByRole('button', {name: 'No marketing to this person'}).click();
    await untilText(dialog, /Wants no marketing Added here or by a program/);
    await until(() => identities(page, api), (all) => all.includes('16505553011'), 'the opt-out');
    step('it is there when the window is opened again; ending it asks first');
    await page.keyboard.press('Escape');
    await page.getByRole('button', {name: 'Contact', exact: true}).click();
    await dialog.getByText('Wants no marketing').waitFor();
    await dialog.getByRole('button', {name: 'Allow marketing again'}).click();
    const question = page.getByRole('dialog', {name: 'Send marketing to +16505553011 again?'});
    await question.getByRole('button', {name: 'Remove'}).click();
    await dialog.getByRole('button', {name: 'No marketing to this person'}).waitFor();
    assert.ok(!(await identities(page, api)).includes('16505553011'));
    await untilCount(dialog.getByText('Wants no marketing'), 0);
};

// A member who has some lines: opt-outs are about all of them, blocks about one.
exports.limited = async (test) => {
    const {page, open, logIn, step, BASE} = test;
    const dialog = page.getByRole('dialog');
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await platform(BASE, {phone: '16505553021', name: 'Nora Noise', kind: 'text', text: 'Buy!'});
    await logIn();
    await openThread({page, open}, 'Nora Noise');
    step('the window of the contact asks for no opt-outs, and shows no error');
    await page.getByRole('button', {name: 'Contact', exact: true}).click();
    await dialog.getByText('First seen').waitFor();
    assert.deepEqual(asked.filter((url) => url.includes('/v2/opt-outs')), []);
    await untilCount(dialog.getByRole('alert'), 0);
    await page.keyboard.press('Escape');
    step('a block counts on the line of the conversation, and ends');
    await page.getByRole('button', {name: 'Block', exact: true}).click();
    await dialog.getByRole('button', {name: 'Block', exact: true}).click();
    await page.locator('.composer').getByText('Blocked on this line.').waitFor();
    await page.reload();
    await page.getByRole('button', {name: 'Unblock'}).click();
    await page.getByLabel('Write a message').waitFor();
};
