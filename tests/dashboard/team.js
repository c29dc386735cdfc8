// Those who use the workspace: members, invitations, scoped tokens.
const assert = require('node:assert/strict');
const {execFileSync} = require('node:child_process');
const fs = require('node:fs');
const {decode} = require('./qr.js');
const {platform} = require('./sandbox.js');
const {untilCount, untilEqual, untilValue} = require('./until.js');

// The members as the only one, an owner, sees them.
exports.owner = async ({page, logIn, open}) => {
    await logIn();
    await open('/members');
    const row = page.locator('tbody tr', {hasText: 'You'});
    await row.getByText('Owner').waitFor();
    assert.equal(await row.getByRole('combobox').count(), 0);
    await page.getByText('No invitation is open.').waitFor();
};

// The owner of an old login saves all data of the workspace, after the password is given.
exports.saves = async ({page, logIn, open, step}, password) => {
    const dialog = page.getByRole('dialog');
    await logIn();
    await open('/members');
    step('the password is asked for, because the login is old');
    await page.getByRole('button', {name: 'Save all data'}).click();
    await dialog.getByLabel('Present password').fill(password);
    const [file] = await Promise.all([page.waitForEvent('download'),
        dialog.getByRole('button', {name: 'Confirm'}).click()]);
    const held = JSON.parse(fs.readFileSync(await file.path(), 'utf8'));
    assert.equal(file.suggestedFilename(), `${held.user.id}.json`);
    assert.equal(held.isComplete, true);
    assert.equal(held.trail.at(-1).action, 'workspace.export');
    await dialog.waitFor({state: 'detached'});
};

// The owner chooses how long messages are kept; a shorter time asks first.
exports.retention = async ({page, logIn, open, step, api}) => {
    const kept = async () => JSON.parse((await api(page, 'GET', '/v2/retention')).text).data;
    const question = page.getByRole('dialog', {name: 'Delete older data?'});
    const days = page.getByLabel('Days that messages are kept');
    const save = page.locator('form').getByRole('button', {name: 'Save'});
    await logIn();
    await open('/members');
    step('what is not allowed is said at its field');
    await days.evaluate((node) => node.removeAttribute('min'));
    await days.fill('7');
    await save.click();
    await question.getByRole('button', {name: 'Save'}).click();
    await page.locator('.field-error', {hasText: /8/}).waitFor();
    assert.deepEqual(await kept(), {messageDays: null, rawDays: null});
    step('without the confirmation nothing changes');
    await days.fill('365');
    await save.click();
    await question.getByRole('button', {name: 'Cancel'}).click();
    await question.waitFor({state: 'detached'});
    assert.deepEqual(await kept(), {messageDays: null, rawDays: null});
    step('a longer time, and for ever, need none');
    await save.click();
    await question.getByRole('button', {name: 'Save'}).click();
    await page.getByText('The days are saved.').first().waitFor();
    assert.deepEqual(await kept(), {messageDays: 365, rawDays: null});
    await days.fill('');
    await save.click();
    await untilEqual(async () => (await kept()).messageDays, null, 'for ever');
    assert.equal(await question.count(), 0);
};

// The owner of an old login invites an agent, changes the role, and removes the agent, whose page
// ends with its next request.
exports.members = async ({page, logIn, open, newContext, settled, step}, password) => {
    const dialog = page.getByRole('dialog'), row = page.locator('tbody tr', {hasText: 'Kim'});
    await logIn();
    await open('/members');
    step('an invitation is made after a confirmation, because the login is old');
    await page.getByRole('button', {name: 'Invite'}).click();
    await dialog.getByLabel('Email address').fill('kim@example.org');
    await dialog.getByRole('button', {name: 'Invite'}).click();
    const confirmation = page.getByRole('dialog', {name: 'Confirm with your password'});
    await confirmation.getByLabel('Present password').fill('a wrong password');
    await confirmation.getByRole('button', {name: 'Confirm'}).click();
    await confirmation.getByText(/wrong/).waitFor();
    await confirmation.getByLabel('Present password').fill(password);
    await confirmation.getByRole('button', {name: 'Confirm'}).click();
    const link = await dialog.locator('.secret').innerText();
    await page.keyboard.press('Escape');
    await page.locator('tbody tr', {hasText: 'kim@example.org'}).getByText('Agent').waitFor();
    step('Kim joins, and sees the members without what an agent may not do');
    const kim = await (await newContext()).newPage();
    await kim.clock.install();
    await kim.goto(link);
    await kim.getByLabel('Your name').fill('Kim');
    await kim.getByLabel('New password', {exact: true}).fill('a first good password');
    await kim.getByRole('button', {name: 'Join'}).click();
    await kim.locator('.frame').waitFor();
    await settled(kim);
    await open('/members', kim);
    await kim.locator('tbody tr', {hasText: 'Kim'}).getByText('You').waitFor();
    assert.equal(await kim.getByRole('combobox', {name: /Role of/}).count(), 0);
    assert.equal(await kim.getByRole('button', {name: /Invite|Remove/}).count(), 0);
    await page.reload();
    await settled(page);
    step('within a minute the navigation of Kim is that of the role');
    const webhooks = kim.getByRole('link', {name: 'Webhooks', exact: true});
    assert.equal(await webhooks.count(), 0);
    await row.getByRole('combobox').selectOption('admin');
    await page.getByText('Kim has the role Administrator now.').waitFor();
    await kim.keyboard.press('Shift');
    await kim.clock.runFor(60000);
    await webhooks.waitFor();
    assert.equal(await kim.locator('.nav [aria-current]').innerText(), 'Members');
    await row.getByRole('combobox').selectOption('viewer');
    await page.getByText('Kim has the role Viewer now.').waitFor();
    step('a link for a new password');
    await row.getByRole('button', {name: 'Login link'}).click();
    assert.match(await dialog.locator('.secret').innerText(),
        /\/dashboard\/#\/login\/[0-9a-f]{64}$/);
    await page.keyboard.press('Escape');
    step('the removal ends the page of Kim');
    await row.getByRole('button', {name: 'Remove'}).click();
    await dialog.getByRole('button', {name: 'Remove'}).click();
    await untilCount(row, 0);
    await kim.goto(`${kim.url().split('#')[0]}#/inbox`);
    await kim.getByRole('heading', {name: 'Log in to Switchboard'}).waitFor();
};

// The owner of an old login removes the second factor of Lou.
exports.resetFactor = async ({page, logIn, open}, password) => {
    const dialog = page.getByRole('dialog'), row = page.locator('tbody tr', {hasText: 'Lou'});
    await logIn();
    await open('/members');
    await row.getByText('Second factor', {exact: true}).waitFor();
    assert.equal(await page.locator('tbody tr', {hasText: 'You'})
        .getByRole('button', {name: /second factor/}).count(), 0);
    await row.getByRole('button', {name: 'Remove second factor'}).click();
    await dialog.getByText(/with the password alone/).waitFor();
    await dialog.getByRole('button', {name: 'Remove second factor'}).click();
    await dialog.getByLabel('Present password').fill(password);
    await dialog.getByRole('button', {name: 'Confirm'}).click();
    await page.getByText('The second factor of Lou is removed.').first().waitFor();
    await untilCount(row.getByText('Second factor', {exact: true}), 0);
    await untilCount(row.getByRole('button', {name: 'Remove second factor'}), 0);
    await open('/trail'); // its action has a hyphen
    await page.getByRole('searchbox').fill('member.factor-reset');
    await page.getByRole('button', {name: 'Find'}).click();
    await page.locator('tbody').getByText('member.factor-reset').first().waitFor();
    await page.getByText('session.begin').waitFor({state: 'detached'});
};

// A scoped token passes its scopes, and is refused from its revocation on.
exports.scopedToken = async ({page, context, logIn, open, step, BASE}) => {
    const dialog = page.getByRole('dialog');
    await logIn();
    await open('/tokens');
    await page.getByText('No token').first().waitFor();
    step('a token of two scopes, shown once');
    await page.getByRole('button', {name: 'Make a token'}).click();
    await dialog.getByLabel('Name').fill('Order robot');
    await dialog.getByLabel('read', {exact: true}).check();
    await dialog.getByRole('button', {name: 'Make a token'}).click();
    const token = await dialog.locator('.secret').innerText();
    await dialog.getByRole('button', {name: 'I have stored it'}).click();
    const row = page.locator('tbody tr', {hasText: 'Order robot'});
    await row.getByText('basic, read').waitFor();
    await row.getByText('Never').waitFor(); // the column of the last use
    const statusOf = async (path) => (await context.request.get(`${BASE}${path}`,
        {headers: {Authorization: `Bearer ${token}`}, maxRetries: 3})).status();
    assert.deepEqual([await statusOf('/v2/threads'), await statusOf('/v2/events')], [200, 403]);
    step('another scope');
    await row.getByRole('button', {name: 'Change'}).click();
    await dialog.getByLabel('events', {exact: true}).check();
    await dialog.getByRole('button', {name: 'Save'}).click();
    await row.getByText('basic, read, events').waitFor();
    assert.equal(await statusOf('/v2/events'), 200);
    step('the revocation');
    await row.getByRole('button', {name: 'Revoke'}).click();
    await dialog.getByRole('button', {name: 'Revoke'}).click();
    await untilCount(row, 0);
    assert.equal(await statusOf('/v2/threads'), 401);
};

// A token of one line gets that line alone; an empty choice is not taken for all lines.
exports.tokenLines = async ({page, context, logIn, open, step, BASE}) => {
    const dialog = page.getByRole('dialog');
    const which = dialog.getByLabel('Lines', {exact: true});
    const front = dialog.getByLabel(/^Front desk · /), back = dialog.getByLabel(/^Back office · /);
    await logIn();
    await open('/tokens');
    step('all lines, until some are chosen by their names');
    await page.getByRole('button', {name: 'Make a token'}).click();
    await dialog.getByLabel('Name').fill('Desk robot');
    await untilValue(which, 'all');
    assert.equal(await front.isVisible(), false);
    await which.selectOption({label: 'Only these lines'});
    await dialog.getByRole('button', {name: 'Make a token'}).click();
    await dialog.getByText('Choose one or more lines.').waitFor();
    step('a scope that is about all lines is refused at its field');
    await front.check();
    await dialog.getByLabel('manage', {exact: true}).check();
    await dialog.getByRole('button', {name: 'Make a token'}).click();
    await dialog.getByText('a token for some lines has neither').waitFor();
    await dialog.getByLabel('manage', {exact: true}).uncheck();
    await dialog.getByRole('button', {name: 'Make a token'}).click();
    const token = await dialog.locator('.secret').innerText();
    await dialog.getByRole('button', {name: 'I have stored it'}).click();
    const row = page.locator('tbody tr', {hasText: 'Desk robot'});
    await row.getByText('Front desk', {exact: true}).waitFor();
    await page.reload();
    await row.getByText('Front desk', {exact: true}).waitFor();
    const names = async () => {
        const answer = await context.request.get(`${BASE}/v2/lines`,
            {headers: {Authorization: `Bearer ${token}`}, maxRetries: 3});
        return (await answer.json()).data.items.map(({name}) => name).sort();
    };
    assert.deepEqual(await names(), ['Front desk']);
    step('another line');
    await row.getByRole('button', {name: 'Change'}).click();
    await untilValue(which, 'some');
    assert.deepEqual([await front.isChecked(), await back.isChecked()], [true, false]);
    await back.check();
    await front.uncheck();
    await dialog.getByRole('button', {name: 'Save'}).click();
    await row.getByText('Back office', {exact: true}).waitFor();
    assert.deepEqual(await names(), ['Back office']);
    step('all lines');
    await row.getByRole('button', {name: 'Change'}).click();
    await which.selectOption({label: 'All lines, later ones too'});
    await dialog.getByRole('button', {name: 'Save'}).click();
    await row.getByText('All lines, later ones too').waitFor();
    assert.deepEqual(await names(), ['Back office', 'Front desk']);
};

// An invitation, and then the member, get lines; the member sees what is on them.
exports.memberLines = async (test, frontId, backId) => {
    const {page, logInAnew, open, newContext, settled, step, BASE} = test;
    const dialog = page.getByRole('dialog');
    const which = dialog.getByLabel('Lines', {exact: true});
    const front = dialog.getByLabel(/^Front desk · /), back = dialog.getByLabel(/^Back office · /);
    const rowOf = (text) => page.locator('tbody tr', {hasText: text});
    // In the list, and after a reload.
    const shows = async (text, lines) => {
        await rowOf(text).getByText(lines, {exact: true}).waitFor();
        await page.reload();
        await rowOf(text).getByText(lines, {exact: true}).waitFor();
    };
    const says = (line, phone, name) => platform(BASE, {phoneNumberId: line, phone, name,
        kind: 'text', text: 'hello'});
    await says(frontId, '16505554001', 'Fay Front');
    await says(backId, '16505554002', 'Bo Back');
    await logInAnew(); // a login of the last minutes may invite without a password
    step('an invitation for one line, which is chosen by its name; none is no choice');
    await open('/members');
    await page.getByRole('button', {name: 'Invite'}).click();
    await dialog.getByLabel('Email address').fill('lou@desk.example');
    await untilValue(which, 'all');
    await which.selectOption({label: 'Only these lines'});
    await dialog.getByRole('button', {name: 'Invite'}).click();
    await dialog.getByText('Choose one or more lines.').waitFor();
    await front.check();
    await dialog.getByRole('button', {name: 'Invite'}).click();
    const link = await dialog.locator('.secret').innerText();
    await page.keyboard.press('Escape');
    await shows('lou@desk.example', 'Front desk');
    step('who joins sees the conversations of this line, and no page about all lines');
    const lou = await (await newContext()).newPage();
    // In the list, and when both persons are searched for.
    const sees = async (...names) => {
        const shown = lou.locator('.thread .thread-name');
        for (const address of ['/inbox', '/inbox?q=16505554']) {
            await open(address, lou);
            await untilEqual(async () => (await shown.allInnerTexts()).sort(), names, address);
        }
    };
    await lou.goto(link);
    await lou.getByLabel('Your name').fill('Lou');
    await lou.getByLabel('New password', {exact: true}).fill('a first good password');
    await lou.getByRole('button', {name: 'Join'}).click();
    await lou.locator('.frame').waitFor();
    await settled(lou);
    assert.equal(await lou.getByRole('link', {name: 'Opt-outs'}).count(), 0);
    await sees('Fay Front');
    step('the owner gives another line');
    await page.reload();
    await shows('Lou', 'Front desk');
    await rowOf('Lou').getByRole('button', {name: 'Change lines'}).click();
    await untilValue(which, 'some');
    assert.deepEqual([await front.isChecked(), await back.isChecked()], [true, false]);
    await back.check();
    await front.uncheck();
    await dialog.getByRole('button', {name: 'Save'}).click();
    await page.getByText('The lines of Lou are saved.').waitFor();
    await shows('Lou', 'Back office');
    await lou.reload();
    await sees('Bo Back');
    step('and all lines');
    await rowOf('Lou').getByRole('button', {name: 'Change lines'}).click();
    await which.selectOption({label: 'All lines, later ones too'});
    await dialog.getByRole('button', {name: 'Save'}).click();
    await shows('Lou', 'All lines, later ones too');
    await lou.reload();
    await sees('Bo Back', 'Fay Front');
};

// The code of a secret at a time step, by the shell helper of the other tests.
function codeOf(secret, step) {
    return execFileSync('bash', ['-c',
        '. "$1/helpers/factor.bash"; totp_of "$2" "$3"', 'bash', `${__dirname}/..`, secret,
        String(step)], {encoding: 'utf8'});
}

// The modules of the QR code that the page shows, without its margin of 4.
async function qrRows(page, picture) {
    const side = Number((await picture.getAttribute('viewBox')).split(' ')[2]) - 8;
    const rows = Array.from({length: side}, () => Array(side).fill(false));
    const path = await picture.locator('path').getAttribute('d');
    for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
        rows[y - 4][x - 4] = true;
    return rows;
}

// Each version of the code, at its longest text and one byte before, is read as what it says, and
// no code is made of what is too long.
exports.qr = async ({page, logIn}) => {
    const matrixOf = (text) => page.evaluate(async (one) =>
        (await import('./js/qr.js')).matrixOf(one), text);
    await logIn();
    const longest = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213];
    for (const [i, count] of longest.entries()) {
        for (const text of ['x'.repeat(count - 1), `é${'~'.repeat(count - 2)}`]) {
            const rows = await matrixOf(text);
            assert.equal(rows.length, 21 + 4 * i);
            assert.equal(decode(rows), text);
        }
    }
    assert.equal(decode(await matrixOf('')), '');
    assert.equal(await matrixOf('x'.repeat(214)), null);
    assert.throws(() => decode(Array.from({length: 21}, () => Array(21).fill(false))));
};

const presentStep = () => Math.floor(Date.now() / 30000);

// The owner sets a second factor up; the next login asks for its code, and each code counts once.
exports.factor = async (given, email, password) => {
    const {page, logIn, open, step, newContext, settled, api, BASE} = given;
    await logIn();
    await open('/sessions');
    step('it is set up with a code of the app, and shows the recovery codes once');
    await page.getByRole('button', {name: 'Set up a second factor'}).click();
    const dialog = page.getByRole('dialog');
    const secret = (await dialog.getByLabel('Secret', {exact: true}).innerText())
        .replaceAll(' ', '');
    const picture = dialog.getByRole('img', {name: 'QR code of the secret'});
    const uri = decode(await qrRows(page, picture));
    assert.equal(uri, await dialog.getByRole('link', {name: /Open it/}).getAttribute('href'));
    assert.equal(new URL(uri).searchParams.get('secret'), secret);
    await dialog.getByLabel('Code of the app').fill(codeOf(secret, presentStep() + 1));
    await dialog.getByRole('button', {name: 'Confirm'}).click();
    const codes = (await dialog.getByLabel('Recovery codes').innerText()).split('\n');
    assert.equal(codes.length, 10);
    await dialog.getByRole('button', {name: 'I have stored them'}).click();
    await page.getByText('10 recovery codes left').waitFor();
    step('a login has two steps; a wrong code is refused, a recovery code counts');
    const other = await (await newContext()).newPage();
    const givePassword = async () => {
        await other.getByLabel('Email address').fill(email);
        await other.getByLabel('Password', {exact: true}).fill(password);
        await other.getByRole('button', {name: 'Log in'}).click();
    };
    const giveWrongCode = async () => {
        await other.getByLabel('Code of the app').fill('000000');
        await other.getByRole('button', {name: 'Log in'}).click();
    };
    await other.goto(`${BASE}/dashboard/#/login`);
    await givePassword();
    await giveWrongCode();
    await other.getByText('The code is wrong').waitFor();
    await other.getByRole('button', {name: 'Use a recovery code'}).click();
    await other.getByLabel('Recovery code').fill(codes[0]);
    await other.getByRole('button', {name: 'Log in'}).click();
    await other.getByRole('link', {name: 'Inbox'}).first().waitFor();
    step('the fifth wrong code leads back to the password');
    assert.equal((await api(other, 'DELETE', '/v2/session')).status, 200);
    await other.reload();
    await givePassword();
    for (let i = 1; i <= 5; i++) {
        await giveWrongCode();
        await untilEqual(() => other.evaluate(() =>
            document.querySelector('input[name="code"]')?.value ?? 'ended'),
        i < 5 ? '' : 'ended', `after wrong code ${i}`);
    }
    await other.getByText('The login has ended').waitFor();
    await other.getByLabel('Password', {exact: true}).waitFor();
    step('it is removed after a question');
    await page.reload();
    await page.getByText('9 recovery codes left').waitFor();
    await page.getByRole('button', {name: 'Remove the second factor'}).click();
    await dialog.getByRole('button', {name: 'Remove the second factor'}).click();
    await page.getByRole('button', {name: 'Set up a second factor'}).waitFor();
    await settled(page);
};
