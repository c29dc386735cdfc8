// A shop of three in one day: the owner invites two agents, one of them goes, and the trail has it.
const assert = require('node:assert/strict');
const {openThread, sandbox, sentMessages} = require('./sandbox.js');
const {until, untilCount, untilText} = require('./until.js');

const {LINE} = process.env;

const bubbleOf = (page, text) => page.locator('.message', {hasText: text});

function says(base, person, text) {
    return sandbox('POST', 'webhooks', {url: `${base}/platform/webhook`, phoneNumberId: LINE,
        ...person, kind: 'text', text});
}

// The owner invites a person, who joins in a browser of their own: returns that page.
async function joins({page, open, newContext}, name) {
    const dialog = page.getByRole('dialog');
    await open('/members');
    await page.getByRole('button', {name: 'Invite'}).click();
    await dialog.getByLabel('Email address').fill(`${name.toLowerCase()}@shop.example`);
    await dialog.getByRole('button', {name: 'Invite'}).click();
    const link = await dialog.locator('.secret').innerText();
    await page.keyboard.press('Escape');
    const own = await (await newContext()).newPage();
    await own.goto(link);
    await own.getByLabel('Your name').fill(name);
    await own.getByLabel('New password', {exact: true}).fill(`the good password of ${name}`);
    await own.getByRole('button', {name: 'Join'}).click();
    await own.locator('.frame').waitFor();
    return own;
}

exports.day = async (test) => {
    const {page, open, logInAnew, step, BASE, EMAIL} = test;
    const cay = {phone: '16505552003', name: 'Cay Called'};
    const here = (one) => ({page: one, open: (address) => open(address, one)});
    await logInAnew(); // a login of the last minutes may invite without a password
    step('two agents are invited, and join');
    const lou = await joins(test, 'Lou'), mia = await joins(test, 'Mia');
    await says(BASE, cay, 'Is it open today?');
    for (const one of [page, lou, mia]) {
        await openThread(here(one), cay.name);
        await bubbleOf(one, 'Is it open today?').waitFor();
    }
    step('both agents answer at once: exactly one passes, the other one is shown whose it was');
    const field = (one) => one.getByLabel('Write a message');
    await field(lou).fill('Yes, says Lou');
    await field(mia).fill('Yes, says Mia');
    await Promise.all([field(lou).press('Enter'), field(mia).press('Enter')]);
    const refused = (one) => one.locator('.message.pending.failed')
        .getByText(/answered meanwhile|answering this conversation/).count();
    await until(async () => await refused(lou) + await refused(mia), (count) => count === 1,
        'the refused answers');
    await bubbleOf(page, 'Yes, says').locator('.by', {hasText: /Lou|Mia/}).waitFor();
    await untilCount(bubbleOf(page, 'Yes, says'), 1);
    const sent = [...await sentMessages('Yes, says Lou'), ...await sentMessages('Yes, says Mia')];
    assert.equal(sent.length, 1);
    step('Lou is removed while writing: nothing more is sent, and the page of Lou ends');
    await field(lou).fill('');
    await field(lou).pressSequentially('I was just about to');
    const owner = await page.context().newPage();
    await open('/members', owner);
    const row = owner.locator('tbody tr', {hasText: 'Lou'});
    await row.getByRole('button', {name: 'Remove'}).click();
    await owner.getByRole('dialog').getByRole('button', {name: 'Remove'}).click();
    await untilCount(row, 0);
    await lou.keyboard.press('Enter').catch(() => {}); // the page may have ended before
    await lou.getByRole('heading', {name: 'Log in to Switchboard'}).waitFor();
    assert.equal((await sentMessages('I was just about to')).length, 0);
    await untilCount(page.locator('.typing', {hasText: 'Lou is writing'}), 0);
    step('the other agent goes on');
    await says(BASE, cay, 'Until when?');
    await bubbleOf(mia, 'Until when?').waitFor();
    await field(mia).fill('Until eight');
    await field(mia).press('Enter');
    await bubbleOf(page, 'Until eight').locator('.by', {hasText: 'Mia'}).waitFor();
    step('the owner reads the trail');
    await open('/trail');
    const rows = (who, action) => page.locator('main tbody tr', {hasText: who})
        .filter({has: page.getByText(action, {exact: true})});
    await untilCount(rows(EMAIL, 'invitation.create'), 2);
    await untilCount(rows('Lou', 'session.join'), 1);
    await untilCount(rows('Mia', 'session.join'), 1);
    await untilCount(rows(EMAIL, 'member.remove'), 1);
    await untilText(rows(EMAIL, 'member.remove'), /member\.remove Lou/);
};
