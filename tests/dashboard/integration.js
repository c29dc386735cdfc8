// API settings, webhook, delivery log, request log.
const assert = require('node:assert/strict');
const {
    until, untilCount, untilEqual, untilText, untilValue,
} = require('./until.js');

// Whether a text stands anywhere in the page: markup, values of fields, storage.
function holds(page, text) {
    return page.evaluate((wanted) => [
        document.documentElement.outerHTML,
        ...[...document.querySelectorAll('input, textarea')].map(({value}) => value),
        JSON.stringify({...localStorage}), JSON.stringify({...sessionStorage}),
        document.cookie, location.href,
    ].some((place) => place.includes(wanted)), text);
}

// Regenerates the token and returns the new one, which the dialog shows.
async function regenerate(page) {
    await page.getByRole('button', {name: 'Regenerate'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Regenerate'}).click();
    const token = await page.locator('dialog .secret').innerText();
    assert.match(token, /^sb_[0-9a-f]{64}$/);
    return token;
}

// Collects the bodies of all answers that the pages of a context get. Returns a function that gives
// those that hold a text, as `METHOD path`.
function recordAnswers(context, base) {
    const answers = [];
    context.on('response', (response) => {
        const request = response.request();
        if (!response.url().startsWith(`${base}/v2/`))
            return;
        const body = response.body().catch(() => ''); // none: 304, or the page was left
        answers.push(body.then((bytes) => ({
            name: `${request.method()} ${response.url().slice(base.length)}`,
            text: JSON.stringify(response.headers()) + bytes.toString(),
        })));
    });
    return async (text) => (await Promise.all(answers))
        .filter((answer) => answer.text.includes(text)).map(({name}) => name);
}

exports.token = async ({page, context, logIn, open, settled, step, print, BASE}, before) => {
    const answersWith = recordAnswers(context, BASE);
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], {origin: BASE});
    const me = async (token) => (await context.request.get(`${BASE}/v2/me`,
        {headers: {'X-API-Token': token}})).status();
    await logIn();
    await open('/api');
    const second = await context.newPage();
    await open('/api', second);
    step('cancel keeps the token');
    await page.getByRole('button', {name: 'Regenerate'}).click();
    await page.keyboard.press('Escape');
    assert.equal(await me(before), 200);
    await settled(page); // the button is busy until then
    step('regenerate');
    const token = await regenerate(page);
    assert.equal(await me(token), 200);
    assert.equal(await me(before), 401);
    step('copy');
    await page.getByRole('dialog').getByRole('button', {name: 'Copy'}).click();
    await page.getByText('Copied.').waitFor();
    await open('/requests', second);
    await second.getByRole('searchbox').focus();
    await second.keyboard.press('Control+V');
    await untilValue(second.getByRole('searchbox'), token);
    await second.getByRole('searchbox').fill('');
    await open('/api', second);
    step('closed, it is nowhere');
    await page.getByRole('button', {name: 'I have stored it'}).click();
    await settled(page);
    await untilEqual(() => holds(page, token), false, 'whether the page has the token');
    await untilEqual(() => holds(page, token.slice(-4)), true, 'whether its end is shown');
    await page.reload();
    await settled(page);
    assert.equal(await holds(page, token), false);
    assert.equal(await holds(second, token), false);
    step('no page shows it, and no second answer has it');
    for (const address of ['/overview', '/webhooks', '/sessions', '/requests', '/events', '/api']) {
        await open(address);
        assert.equal(await holds(page, token), false, address);
    }
    assert.deepEqual(await answersWith(token), ['POST /v2/token']);
    step('regenerate in both tabs at the same time');
    const tokens = await Promise.all([regenerate(page), regenerate(second)]);
    const statuses = await Promise.all(tokens.map(me));
    assert.deepEqual(statuses.sort(), [200, 401]);
    for (const one of [token, ...tokens])
        print(`${one}\n`);
};

// Opens the page of the user's first webhook.
async function openFirst(page, open, settled) {
    await open('/webhooks');
    await page.locator('tbody a').first().click();
    await page.locator('.card').first().waitFor();
    await settled(page);
}

exports.webhook = async ({page, logIn, open, step, settled}, url) => {
    await logIn();
    await open('/webhooks');
    await page.getByText('No webhook is set').waitFor();
    const dialog = page.getByRole('dialog');
    step('a bad URL is refused at its field');
    await page.getByRole('button', {name: 'Add a webhook'}).click();
    await dialog.getByLabel('URL').fill('ftp://example.org/');
    await dialog.getByRole('button', {name: 'Save'}).click();
    await dialog.locator('.field-error:not([hidden])').waitFor();
    await untilEqual(() => dialog.getByLabel('URL').getAttribute('aria-invalid'), 'true');
    step('add a webhook with message.status');
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByLabel('Name', {exact: true}).fill('<b>Orders</b>');
    assert.equal(await dialog.getByLabel('message.status').isChecked(), false);
    await dialog.getByLabel('message.status').check();
    await dialog.getByRole('button', {name: 'Save'}).click();
    await page.getByText('The webhook was added.').waitFor();
    await page.getByRole('heading', {name: '<b>Orders</b>'}).waitFor();
    await settled(page);
    assert.match(page.url(), /#\/webhooks\/whk_/);
    await page.getByText('message.received, lead.created, message.status').waitFor();
    step('the code is hidden until it is revealed');
    const code = page.getByLabel('Code');
    const hidden = await code.inputValue();
    assert.doesNotMatch(hidden, /[0-9a-f]/);
    await page.getByRole('button', {name: 'Reveal'}).click();
    const isCode = (text) => /^[0-9a-f]{64}$/.test(text);
    const first = await until(() => code.inputValue(), isCode, 'the code');
    await page.getByRole('button', {name: 'Hide'}).click();
    await untilValue(code, hidden);
    step('generate another');
    await page.getByRole('button', {name: 'Generate a new code'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Generate a new code'}).click();
    await page.getByText('The new code signs events now', {exact: false}).waitFor();
    await settled(page);
    await page.getByRole('button', {name: 'Reveal'}).click();
    const second = await until(() => code.inputValue(), isCode, 'the new code');
    assert.notEqual(second, first);
};

// The user changes, pauses, resumes and deletes a webhook; those of others stay. The webhook of
// exports.webhook is the only one.
exports.changeWebhook = async ({page, logIn, open, step, settled, api}, url) => {
    await logIn();
    await api(page, 'POST', '/v2/webhooks', {url: `${url}/second`, name: 'Second'});
    await open('/overview');
    await page.locator('.card').getByRole('link', {name: 'Second'}).waitFor();
    await open('/webhooks');
    await untilEqual(() => page.locator('tbody a').allInnerTexts(), ['<b>Orders</b>', 'Second']);
    await page.getByRole('link', {name: 'Second'}).click();
    await page.getByRole('heading', {name: 'Second'}).waitFor();
    await settled(page);
    const dialog = page.getByRole('dialog');
    step('change its name, its types and its line');
    await page.getByRole('button', {name: 'Change'}).click();
    await untilValue(dialog.getByLabel('URL'), `${url}/second`);
    assert.equal(await dialog.getByLabel('Kind').isVisible(), false);
    assert.equal(await dialog.getByLabel('Verify token').isVisible(), false);
    await dialog.getByLabel('Name', {exact: true}).fill('Stock');
    for (const type of ['message.received', 'lead.created'])
        await dialog.getByLabel(type).uncheck();
    await dialog.getByRole('button', {name: 'Save'}).click();
    await dialog.getByText('must hold at least 1 item').waitFor();
    await dialog.getByLabel('lead.created').check();
    await dialog.getByRole('group', {name: 'Lines'}).getByRole('checkbox').first().check();
    await dialog.getByRole('button', {name: 'Save'}).click();
    await page.getByText('The webhook was saved.').waitFor();
    await page.getByRole('heading', {name: 'Stock'}).waitFor();
    await settled(page);
    const id = page.url().split('/').pop();
    const stored = async () => JSON.parse((await api(page, 'GET', `/v2/webhooks/${id}`)).text).data;
    assert.deepEqual((await stored()).eventTypes, ['lead.created']);
    assert.equal((await stored()).phoneNumberIds.length, 1);
    step('pause and resume');
    await page.getByRole('button', {name: 'Pause'}).click();
    await page.getByText('This webhook is paused.').waitFor();
    assert.equal((await stored()).state, 'paused');
    await untilCount(page.getByRole('button', {name: 'Send a test event'}), 0);
    await page.getByRole('button', {name: 'Resume now'}).click();
    await page.getByText('This webhook is paused.').waitFor({state: 'detached'});
    assert.equal((await stored()).state, 'active');
    step('its deliveries in the log');
    await page.getByRole('link', {name: 'Delivery log'}).last().click();
    await settled(page);
    assert.match(page.url(), new RegExp(`#/events\\?webhookId=${id}$`));
    await untilValue(page.getByLabel('Webhook'), id);
    step('delete');
    await open(`/webhooks/${id}`);
    await page.getByRole('button', {name: 'Delete'}).click();
    await page.getByRole('dialog').getByText('Delete the webhook Stock?').waitFor();
    await page.getByRole('dialog').getByRole('button', {name: 'Delete'}).click();
    await page.getByText('The webhook was deleted.').waitFor();
    await settled(page);
    await untilEqual(() => page.locator('tbody a').allInnerTexts(), ['<b>Orders</b>']);
    await open(`/webhooks/${id}`);
    await page.getByText('There is no such webhook.').waitFor();
};

// A webhook of the kind forward is verified at its receiver before it is saved.
exports.forwardWebhook = async ({page, logIn, open, step, settled, api}, url, token) => {
    await logIn();
    await open('/webhooks');
    await page.getByRole('button', {name: 'Add a webhook'}).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption('forward');
    await dialog.getByLabel('message.status').waitFor({state: 'hidden'});
    await dialog.getByLabel('Name', {exact: true}).fill('Forwards');
    await dialog.getByLabel('URL').fill(url);
    step('without a token, and with a wrong one');
    await dialog.getByRole('button', {name: 'Save'}).click();
    await dialog.getByText('is required with a new url', {exact: false}).waitFor();
    await dialog.getByLabel('Verify token').fill('wrong');
    await dialog.getByRole('button', {name: 'Save'}).click();
    await dialog.getByText('could not be verified: HTTP 403', {exact: false}).waitFor();
    step('a field that does not exist');
    await dialog.getByLabel('Fields of the platform').fill('messages, Nonsense');
    await dialog.getByRole('button', {name: 'Save'}).click();
    await dialog.getByText("must be a field of the platform's webhooks", {exact: false}).waitFor();
    step('with the right ones');
    await dialog.getByLabel('Fields of the platform').fill('messages, account_update');
    await dialog.getByLabel('Verify token').fill(token);
    await dialog.getByLabel('Statuses').uncheck();
    await dialog.getByLabel('One message per POST').check();
    await dialog.getByRole('button', {name: 'Save'}).click();
    await page.getByRole('heading', {name: 'Forwards'}).waitFor();
    await settled(page);
    await page.getByText('messages, account_update').waitFor();
    assert.equal(await holds(page, token), false);
    const {items} = JSON.parse((await api(page, 'GET', '/v2/webhooks?limit=100')).text).data;
    const {kind, fields, updates, splitMessages} = items.find(({name}) => name === 'Forwards');
    assert.deepEqual({kind, fields, updates, splitMessages}, {
        kind: 'forward', fields: ['messages', 'account_update'],
        updates: ['messages', 'echoes'], splitMessages: true,
    });
};

// Sends a test event and expects words about its result.
exports.webhookTest = async ({page, logIn, open, step, settled}, status, words, head) => {
    await logIn();
    await openFirst(page, open, settled);
    step('send a test event');
    await page.getByRole('button', {name: 'Send a test event'}).click();
    await page.getByText('Open this event').waitFor();
    const result = page.locator('[aria-live=polite] .stack');
    await until(() => result.innerText(), (text) => [status && `HTTP ${status}`, words, head]
        .filter(Boolean).every((wanted) => text.includes(wanted)), 'the result');
    assert.equal(await result.locator('img, script').count(), 0);
    step('its page');
    await page.getByRole('link', {name: 'Open this event'}).click();
    await settled(page);
    await page.getByRole('heading', {name: 'ping', exact: true}).waitFor();
    await page.getByText('"type": "ping"').waitFor();
    await page.getByText('Request and answer').first().click();
    await untilText(page.locator('.attempt').first(), /webhook-id: evt_/);
};

// What the courier writes as the reason of a failure (lib/delivery/attempt.c) has words of its own.
exports.reasons = async ({page, open}) => {
    await open('/login');
    const said = await page.evaluate(async () => {
        const {explain} = await import('/dashboard/js/delivery.js');
        return [
            'blocked_address: 10.0.0.1 is not allowed with webhook_egress = public',
            'timed out: no whole answer within 15 s', 'timed out: no connection within 5 s',
            'SSL certificate problem: self-signed certificate',
            'Could not resolve host: example.invalid', 'HTTP 302: redirects are not followed',
            'HTTP 410', 'HTTP 401', 'HTTP 404', 'HTTP 429', 'HTTP 418', 'HTTP 500',
            'something new',
        ].map(explain);
    });
    assert.equal(new Set(said).size, said.length, said.join('\n'));
};

// The log filters, keeps its filters over a reload, and replays.
exports.events = async ({page, logIn, open, step, settled}, count) => {
    await logIn();
    await open('/events?state=dead');
    step('dead events');
    await untilCount(page.locator('tbody tr'), Number(count));
    const {height} = await page.locator('tbody tr').first().boundingBox();
    assert.ok(height < 70, `a row has ${height} pixels, more than two lines`);
    assert.ok(await page.locator('.table-box').evaluate((box) =>
        box.scrollWidth <= box.clientWidth), 'the table is wider than its box');
    await page.reload();
    await settled(page);
    await untilEqual(() => page.getByRole('button', {name: 'Given up', exact: true})
        .getAttribute('aria-pressed'), 'true');
    step('a type without events');
    await page.getByLabel('Type').selectOption('lead.created');
    await page.getByText('No event matches.').waitFor();
    assert.match(page.url(), /state=dead&type=lead\.created/);
    await page.getByRole('link', {name: 'Reset filters'}).click();
    await settled(page);
    step('replay one');
    await open('/events?state=dead');
    await page.locator('tbody a').first().click();
    await settled(page);
    const id = page.url().split('/').pop();
    await page.getByRole('button', {name: 'Deliver again'}).click();
    await page.getByText('One event is delivered again.').waitFor();
    assert.ok(page.url().endsWith(id), 'the event keeps its id');
    step('replay all');
    await open('/events');
    await page.getByRole('button', {name: 'Deliver failed events again'}).click();
    await page.getByRole('dialog')
        .getByRole('button', {name: 'Deliver failed events again'}).click();
    await page.getByText(`${count - 1} events are delivered again.`).waitFor();
    await open('/events?state=dead');
    await page.getByText('No event matches.').waitFor();
};

// The page of a message's event says where it goes and about whom it is, and leads to both.
exports.eventAbout = async ({page, logIn, open, settled, api, step}, url) => {
    await logIn();
    const list = await api(page, 'GET', '/v2/events?type=message.received&limit=1');
    const [{id, contact}] = JSON.parse(list.text).data.items;
    const name = contact.name ?? `+${contact.phone}`;
    await open(`/events/${id}`);
    await page.locator('.plain-list').getByRole('link', {name: url, exact: true}).waitFor();
    step('the conversation');
    await page.locator('.facts').getByRole('link', {name}).click();
    await settled(page);
    await page.locator('#thread-name', {hasText: name}).waitFor();
};

// Events that wait for their next attempt are delivered by the dialog of the log, unless the user
// wants those alone that were given up.
exports.deliverAllNow = async ({page, logIn, open, settled, step}, id) => {
    const start = () => page.getByRole('button', {name: 'Deliver failed events again'}).first()
        .click();
    const dialog = page.getByRole('dialog');
    const confirm = () => dialog.getByRole('button', {name: 'Deliver failed events again'}).click();
    await logIn();
    await open('/events?state=pending');
    await page.getByText('Retrying').first().waitFor();
    step('without those that are retrying');
    await start();
    await dialog.getByLabel('Also those that are retrying').uncheck();
    await confirm();
    await page.getByText('0 events are delivered again.').waitFor();
    await settled(page); // the button is busy until then
    step('with them');
    await start();
    await confirm();
    await page.getByText('One event is delivered again.').waitFor();
    await open(`/events/${id}`);
    await page.locator('.facts').getByText('Delivered', {exact: true}).waitFor();
};

// A suspension is shown with its reason, and ended by the user.
exports.suspended = async ({page, logIn, open, settled}) => {
    await logIn();
    await openFirst(page, open, settled);
    await page.getByText('Deliveries are suspended.').waitFor();
    await page.getByRole('button', {name: 'Resume now'}).click();
    await page.getByText('Deliveries go on.').waitFor();
    await page.getByText('Deliveries are suspended.').waitFor({state: 'detached'});
};

// A failed event shows what was received, as text.
exports.hostileAnswer = async ({page, logIn, open, settled}, id, text) => {
    await logIn();
    await open(`/events/${id}`);
    await settled(page);
    await page.getByText('Request and answer').first().click();
    await until(() => page.locator('.attempts').innerText(), (shown) => shown.includes(text),
        'the attempts');
    assert.equal(await page.locator('main img, main script').count(), 0);
};

exports.trail = async ({page, logIn, open, step, settled}, id) => {
    await logIn();
    await open('/trail');
    step('the change of the line is the newest row');
    await untilText(page.locator('tbody tr').first(), /API token\s+line\.update name/);
    step('who it was is one line');
    const lines = await page.locator('tbody tr').filter({hasText: 'session.begin'}).first()
        .locator('td').nth(1).locator('span').evaluate((node) =>
            node.getBoundingClientRect().height / parseFloat(getComputedStyle(node).lineHeight));
    assert.ok(lines < 1.5, `${lines} lines`);
    step('the logins');
    await page.getByRole('searchbox').fill('session.begin');
    await page.getByRole('button', {name: 'Find'}).click();
    await page.locator('tbody').getByText('session.begin').first().waitFor();
    await page.getByText('line.update').waitFor({state: 'detached'});
    step('the rows of an object; the search stays over a reload');
    await page.getByRole('searchbox').fill(id);
    await page.getByRole('button', {name: 'Find'}).click();
    await settled(page);
    await untilText(page.locator('tbody'), /line\.update name/);
    assert.match(page.url(), new RegExp(`q=${id}`));
    step('the file has these rows and no formula');
    const [file] = await Promise.all([page.waitForEvent('download'),
        page.getByRole('button', {name: 'Download CSV'}).click()]);
    assert.equal(file.suggestedFilename(), 'switchboard-trail.csv');
    const text = require('node:fs').readFileSync(await file.path(), 'utf8');
    assert.match(text, /^at,actor,actorName,action,objectId,/);
    assert.ok(text.includes(`line.update,${id}`));
    step('an action that was not taken');
    await page.getByRole('searchbox').fill('no.action');
    await page.getByRole('button', {name: 'Find'}).click();
    await page.getByText('No change matches.').waitFor();
};

exports.requests = async ({page, logIn, open, step, settled}, id) => {
    await logIn();
    await open('/requests');
    step('the request of the token is listed');
    await page.locator('tbody tr').first().waitFor();
    step('search by its id');
    await page.getByRole('searchbox').fill(id);
    await page.getByRole('button', {name: 'Find'}).click();
    await settled(page);
    await untilCount(page.locator('tbody tr'), 1);
    await untilText(page.locator('tbody'), /GET \/v2\/me/);
    assert.match(page.url(), new RegExp(`requestId=${id}`));
    step('an id that does not exist');
    await page.getByRole('searchbox').fill('no-such-request');
    await page.getByRole('button', {name: 'Find'}).click();
    await page.getByText('No request matches.').waitFor();
    step('only those of the token, then only the refused ones; both stay over a reload');
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', {name: 'Find'}).click();
    const all = page.locator('tbody tr', {hasText: 'Dashboard'});
    await all.first().waitFor();
    await page.getByRole('button', {name: 'Token only'}).click();
    await all.first().waitFor({state: 'detached'});
    await page.locator('tbody tr', {hasText: 'Token'}).first().waitFor();
    await page.getByRole('button', {name: 'Errors', exact: true}).click();
    await page.locator('tbody tr', {hasText: '404'}).first().waitFor();
    await page.reload();
    await page.locator('tbody tr').first().waitFor();
    await untilCount(page.locator('.badge.ok'), 0);
};

// The list of event types is late, then missing: the pages open, and only its texts wait.
exports.typesLate = async ({page, logIn, open, settled, step}) => {
    const asked = [];
    const file = '**/docs/event_types.json';
    await page.route(file, (route) => { asked.push(route); });
    await logIn();
    assert.equal(asked.length, 0, 'a page without event types asks for their list');
    step('late');
    await page.evaluate(() => { location.hash = '#/webhooks'; });
    await page.locator('tbody tr', {hasText: 'The usual types'}).first().waitFor();
    await untilEqual(() => asked.length, 1, 'the requests');
    await asked[0].continue();
    await page.locator('tbody tr', {hasText: 'message.received'}).first().waitFor();
    step('missing: the log keeps its other types');
    await page.unroute(file);
    await page.route(file, (route) => route.fulfill({status: 404, body: ''}));
    await page.reload();
    await page.locator('tbody a').first().waitFor();
    await open('/events?type=message.received');
    const type = page.getByLabel('Type');
    await untilValue(type, 'message.received');
    await type.locator('option[disabled]', {hasText: 'could not be loaded'})
        .waitFor({state: 'attached'});
    await untilCount(type.locator('option:not([disabled])'), 4);
    step('missing: a webhook is changed, and its types stay');
    await open('/webhooks');
    await page.getByText('The usual types').first().waitFor();
    await page.locator('tbody a').first().click();
    await page.getByRole('button', {name: 'Change'}).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('they stay as they are').waitFor();
    const sent = page.waitForRequest((request) => request.method() === 'PATCH' &&
        request.url().includes('/v2/webhooks/'));
    await dialog.getByRole('button', {name: 'Save'}).click();
    assert.equal('eventTypes' in JSON.parse((await sent).postData()), false);
    await dialog.waitFor({state: 'detached'});
    await settled(page); // the button is busy until then
    step('read again');
    await page.getByRole('button', {name: 'Change'}).click();
    await dialog.getByText('they stay as they are').waitFor();
    await page.unroute(file);
    await dialog.getByRole('button', {name: 'Try again'}).click();
    await dialog.getByLabel('message.received').waitFor();
};

// An event that waits for its next attempt, long after now, is delivered by the button. The courier
// can be faster than the answer of the button's request, which then says "done": that answer is
// shown here always.
exports.deliverNow = async ({page, logIn, open, step}, id) => {
    await page.route('**/replay', async (route) => {
        const response = await route.fetch();
        const address = route.request().url().replace(/\/replay$/, '');
        const headers = {'X-Switchboard': '1', 'Sec-Fetch-Site': 'same-origin'};
        const event = await until(
            async () => (await page.request.get(address, {headers})).json(),
            ({data}) => data.webhooks.every(({state}) => state === 'done'), 'the event');
        await route.fulfill({response, json: event});
    });
    await logIn();
    await open(`/events/${id}`);
    step('the event retries');
    await page.getByText('Retrying').first().waitFor();
    await page.getByRole('button', {name: 'Deliver now'}).click();
    await page.getByText('One event is delivered again.').waitFor();
    step('it is delivered, and the button says what it does now');
    await page.getByRole('button', {name: 'Deliver again'}).waitFor();
    await page.locator('.facts').getByText('Delivered', {exact: true}).waitFor();
};
