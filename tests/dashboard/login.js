// Login, logout, sessions and passwords.
const assert = require('node:assert/strict');
const {until, untilCount, untilText, untilValue} = require('./until.js');

exports.wrongPassword = async ({page, open, settled, step, EMAIL, PASSWORD}) => {
    await open('/login');
    step('password managers recognise the fields');
    const email = page.getByLabel('Email address');
    const password = page.getByLabel('Password', {exact: true});
    assert.equal(await email.getAttribute('autocomplete'), 'username');
    assert.equal(await password.getAttribute('autocomplete'), 'current-password');
    assert.equal(await password.getAttribute('type'), 'password');
    for (const address of [EMAIL, 'stranger@example.org']) {
        step(`wrong password of ${address}`);
        await email.fill(address);
        await password.fill('not the password');
        await page.keyboard.press('Enter');
        await page.getByText('Email address or password are wrong.').waitFor();
        await untilValue(password, ''); // the wrong password is removed
        await untilText(page.locator('.notice.bad'), /Request id/);
        await untilValue(email, address);
    }
    step('right password');
    await email.fill(EMAIL);
    await password.fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('.frame').waitFor();
    await settled(page);
    assert.match(page.url(), /#\/overview$/);
};

// The address that was wanted before the login is opened after it.
exports.wantedPage = async ({page, open, settled, EMAIL, PASSWORD}) => {
    await open('/sessions');
    await page.waitForURL(/#\/login$/);
    await page.getByLabel('Email address').fill(EMAIL);
    await page.getByLabel('Password', {exact: true}).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('.frame').waitFor();
    await settled(page);
    assert.match(page.url(), /#\/sessions$/);
};

// A link logs in once, after a click; the page asks for the first password.
exports.link = async ({page, newContext, settled, step, BASE, EMAIL}, link) => {
    const code = link.split('/').pop();
    const use = (tab) => tab.getByRole('button', {name: 'Log in with this link'});
    step('a page that only opens the link does not use it');
    await page.goto(link);
    await use(page).waitFor();
    assert.ok(!page.url().includes(code), 'the link left the address');
    step('it stays when the language changes');
    await page.locator('.language select').selectOption('pt');
    await page.getByRole('button', {name: 'Entrar com este link'}).waitFor();
    await page.locator('.language select').selectOption('en');
    await use(page).click();
    await page.getByRole('heading', {name: 'Choose a password'}).waitFor();
    step('two passwords that differ');
    await page.getByLabel('New password', {exact: true}).fill('a first good password');
    await page.getByLabel('New password again').fill('another good password');
    await page.getByRole('button', {name: 'Set password'}).click();
    await page.getByText('The two passwords differ.').waitFor();
    step('set the password');
    await page.getByLabel('New password again').fill('a first good password');
    await page.getByRole('button', {name: 'Set password'}).click();
    await page.waitForURL(/#\/overview$/);
    await settled(page);
    step('the link a second time, in another browser');
    const other = await (await newContext()).newPage();
    await other.goto(link);
    await use(other).click();
    await other.getByText('This link does not work any more.').waitFor();
    assert.ok(!other.url().includes(code));
    assert.equal(await other.locator('.frame').count(), 0);
    step('the new password');
    await other.getByLabel('Email address').fill(EMAIL);
    await other.getByLabel('Password', {exact: true}).fill('a first good password');
    await other.keyboard.press('Enter');
    await other.locator('.frame').waitFor();
    assert.match(other.url(), new RegExp(`^${BASE}/dashboard/#/overview$`));
};

// An invitation makes a new member, who chooses name and password, and can use the inbox.
exports.invitation = async ({newContext, settled, step}, link) => {
    const page = await (await newContext()).newPage();
    const code = link.split('/').pop();
    step('the link leaves the address');
    await page.goto(link);
    await page.getByRole('heading', {name: 'You are invited to a workspace'}).waitFor();
    assert.ok(!page.url().includes(code), 'the link left the address');
    step('name and password');
    await page.getByLabel('Your name').fill('Ben Agent');
    await page.getByLabel('New password', {exact: true}).fill('a first good password');
    await page.getByRole('button', {name: 'Join'}).click();
    await page.locator('.frame').waitFor();
    await settled(page);
    assert.ok(!page.url().includes(code));
    step('the inbox');
    await page.goto(`${page.url().split('#')[0]}#/inbox`);
    await page.getByRole('heading', {name: 'Inbox'}).first().waitFor();
    await settled(page);
    await page.locator('.frame').waitFor();
    step('the link a second time, in another browser');
    const other = await (await newContext()).newPage();
    await other.goto(link);
    await other.getByLabel('Your name').fill('Cy');
    await other.getByLabel('New password', {exact: true}).fill('another good password');
    await other.getByRole('button', {name: 'Join'}).click();
    await other.getByText('This invitation does not work any more.').waitFor();
    assert.equal(await other.locator('.frame').count(), 0);
};

// A link of another user asks first; then the tabs of the former user send nothing more.
exports.linkOfOther = async (test, otherEmail, link) => {
    const {page, context, logInAnew, open, settled, step, EMAIL} = test;
    await logInAnew();
    await open('/inbox');
    step('a second tab opens the link of another user, and stays');
    const tab = await context.newPage();
    await tab.goto(link);
    await tab.getByText(`You are logged in as ${EMAIL}.`).waitFor();
    await tab.getByRole('button', {name: `Stay logged in as ${EMAIL}`}).click();
    await tab.waitForURL(/#\/overview$/);
    await tab.getByText(EMAIL).first().waitFor();
    step('it logs in as the other user');
    await tab.goto(link);
    await tab.getByRole('button', {name: 'Log in with this link'}).click();
    await tab.locator('.frame').waitFor();
    await tab.getByText(otherEmail).first().waitFor();
    step('the first tab sends nothing that is answered, and says who is logged in');
    const answers = [];
    page.on('response', (answer) => answers.push([answer.url(), answer.status()]));
    await open('/sessions');
    await page.getByRole('heading', {name: `${otherEmail} has logged in in this browser`})
        .waitFor();
    await page.getByText(`This page belonged to ${EMAIL}.`).waitFor();
    await untilCount(page.locator('.frame'), 0);
    assert.ok(answers.filter(([url]) => url.includes('/v2/') && !url.endsWith('/v2/session'))
        .every(([, status]) => status === 401), JSON.stringify(answers));
    step('no other address opens before that');
    await open('/inbox');
    await untilCount(page.locator('.frame'), 0);
    await page.getByText(`This page belonged to ${EMAIL}.`).waitFor();
    step('go on as the other user');
    await page.getByRole('button', {name: `Go on as ${otherEmail}`}).click();
    await page.locator('.frame').waitFor();
    await settled(page);
    await page.getByText(otherEmail).first().waitFor();
    await until(() => page.content(), (text) => !text.includes(EMAIL), 'the page');
};

// A browser that refuses to store anything: the logout ends the page too.
exports.logoutUnstored = async ({page, logInAnew, step, EMAIL}) => {
    await page.addInitScript(() => Object.defineProperty(window, 'indexedDB', {value: {
        open() {
            throw new DOMException('refused', 'SecurityError');
        },
    }}));
    await logInAnew();
    step('the logout');
    await page.getByRole('button', {name: 'Log out'}).click();
    await page.getByRole('heading', {name: 'Log in to Switchboard'}).waitFor();
    await until(() => page.content(), (text) => !text.includes(EMAIL), 'the page');
};

// The first page of a browser asks for nothing that needs a session.
exports.firstVisit = async ({newContext, step, BASE, settled}) => {
    const page = await (await newContext()).newPage();
    const printed = [];
    page.on('console', (message) => printed.push(`${message.type()} ${message.text()}`));
    const requests = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    step('the login');
    await page.goto(`${BASE}/dashboard/`);
    await page.getByRole('heading', {name: 'Log in to Switchboard'}).waitFor();
    await settled(page);
    assert.deepEqual(printed, []);
    assert.deepEqual(requests.filter((path) => path.startsWith('/v2/')), []);
};

// After the logout neither the back button nor the address shows anything.
exports.logout = async ({page, logInAnew, open, step, EMAIL}) => {
    await logInAnew();
    await open('/sessions');
    await page.getByText(EMAIL).first().waitFor();
    await page.getByRole('button', {name: 'Log out'}).click();
    await page.getByRole('heading', {name: 'Log in to Switchboard'}).waitFor();
    step('back');
    await page.goBack();
    await page.getByRole('heading', {name: 'Log in to Switchboard'}).waitFor();
    await until(() => page.content(), (text) => !text.includes(EMAIL), 'the page');
    step('reload');
    await page.reload();
    await page.getByRole('heading', {name: 'Log in to Switchboard'}).waitFor();
    const names = (await page.context().cookies()).map(({name}) => name);
    assert.deepEqual(names, ['__Host-switchboard-device']);
};

// A session that was ended elsewhere: the next request shows the login, and says why.
// A renewal that the server has answered, and whose answer comes after the logout.
exports.lateRenewal = async ({page, logInAnew, open, settled, step}) => {
    let release;
    const held = new Promise((resolve) => release = resolve);
    await page.clock.install();
    await logInAnew();
    await open('/sessions');
    await page.route(/\/v2\/session$/, async (route) => {
        if (route.request().method() !== 'PATCH')
            return route.fallback();
        const response = await route.fetch();
        await held;
        return route.fulfill({response});
    });
    step('the renewal');
    const renewal = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.keyboard.press('Shift');
    await page.clock.runFor(61000);
    await renewal;
    step('the logout, and the answer after it');
    await page.getByRole('button', {name: 'Log out'}).click();
    const heading = page.getByRole('heading', {name: 'Log in to Switchboard'});
    await heading.waitFor();
    const answer = page.waitForResponse((response) => response.request().method() === 'PATCH');
    const requests = [];
    release();
    await answer;
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await page.evaluate(() => location.hash = '#/sessions');
    await page.clock.runFor(61000);
    await settled(page);
    await heading.waitFor();
    assert.deepEqual(requests.filter((path) => path.startsWith('/v2/')), []);
};

exports.endedElsewhere = async ({page, logInAnew, open, newContext, settled, step}) => {
    await logInAnew();
    const other = await (await newContext()).newPage();
    await logInAnew(undefined, undefined, other);
    await open('/sessions');
    step('end all others');
    await page.getByRole('button', {name: 'End all others'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'End all others'}).click();
    await page.getByText(/sessions? (was|were) ended/).waitFor();
    await settled(page);
    await untilCount(page.locator('tbody tr'), 1);
    await page.getByText('This browser').waitFor();
    step('the other browser');
    await other.goto(`${other.url().split('#')[0]}#/sessions`);
    await other.getByText('Your session has ended. Log in to go on.').waitFor();
    await untilCount(other.locator('.frame'), 0);
};

// The user agent of a login is a text of a stranger.
exports.strangeAgent = async ({page, logInAnew, open}, agent) => {
    await logInAnew();
    await open('/sessions');
    const shown = page.locator('tbody span[title]', {hasText: agent});
    await shown.first().waitFor();
    assert.equal(await page.locator('tbody img').count(), 0);
};

// After 5 failures the account is blocked for a minute, and the page says for how long.
exports.locked = async ({page, open, step}, email) => {
    await open('/login');
    for (let i = 0; i < 6; i++) {
        step(`failure ${i + 1}`);
        await page.getByLabel('Email address').fill(email);
        await page.getByLabel('Password', {exact: true}).fill(`wrong password ${i}`);
        const answer = page.waitForResponse(/\/v2\/session$/);
        await page.keyboard.press('Enter');
        await answer;
        await untilValue(page.getByLabel('Password', {exact: true}), ''); // it is handled
    }
    await page.getByText(/Too many failed logins. Try again in \d+ seconds./).waitFor();
};

exports.password = async ({page, logInAnew, open, step, EMAIL}, before, after) => {
    await logInAnew(EMAIL, before);
    await open('/sessions');
    step('too short');
    await page.getByLabel('New password', {exact: true}).fill('short');
    await page.getByLabel('New password again').fill('short');
    await page.getByRole('button', {name: 'Change password'}).click();
    assert.equal(await page.locator('input:invalid').count(), 1);
    step('a good one');
    await page.getByLabel('New password', {exact: true}).fill(after);
    await page.getByLabel('New password again').fill(after);
    await page.getByRole('button', {name: 'Change password'}).click();
    await page.getByText('The password was changed.').waitFor();
    step('this browser is still logged in');
    await page.reload();
    await page.getByRole('heading', {name: 'Account and sessions'}).waitFor();
};
