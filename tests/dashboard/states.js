// Each page in each state of connection, session and screen: the generic check of every cell of the
// table in doc/dashboard.md that is marked with it. cells.js reads that table.
//
// The states that end or load the document (ANEW), those of the connection and a second tab are the
// work of main.js and router.js, and not of a page: without TEST_FULL they are checked on pages of
// each kind (KINDS) only. So the others stay in one document, as a user's do, and a page is opened
// by its address.
const assert = require('node:assert/strict');
const {PAGES} = require('./pages.js');
const {cellsOf} = require('./cells.js');
const {findings} = require('./frame.js');
const {untilCount, untilEqual} = require('./until.js');

const isFull = Boolean(process.env.TEST_FULL);
const ZONE = 'Europe/Berlin'; // of the browser (drive.js); the server's is UTC
const LONG = `<img src=x onerror=alert(1)> ${'W'.repeat(300)} \u202Eabc 👩‍👩‍👧‍👦`;
const FREE = new Set(['name', 'displayName', 'username', 'agent', 'lastError', 'verifiedName',
    'createdBy']);
const OTHER = {user: {id: 'usr_other', email: 'other@example.org'}, passwordIsSet: true,
    member: {id: 'mbr_other', email: 'other@example.org', name: 'Other', role: 'owner',
        scopes: ['basic', 'read', 'send', 'inbox', 'events', 'manage', 'team', 'owner', 'self']},
    workspaces: [{id: 'usr_other', email: 'other@example.org', role: 'owner'}],
    session: {id: 'ses_other', createdAt: '2026-01-01T00:00:00.000Z',
        expiresAt: '2099-01-01T00:00:00.000Z'}};

// The answer with each text that people choose replaced by a long one made of markup.
function strange(value, name) {
    if (Array.isArray(value))
        return value.map((one) => strange(one, name));
    if (value && typeof value === 'object')
        return Object.fromEntries(Object.entries(value).map(([key, one]) =>
            [key, strange(one, key)]));
    return typeof value === 'string' && FREE.has(name) ? LONG : value;
}

const fail = (status, error, message) => ({status, json: {success: false, error, message}});
const ENDED = fail(401, 'UNAUTHORIZED', 'Missing session');

// Answers of the API by `server.mode`; without one they are the gateway's.
async function control(page) {
    const server = {mode: '', held: []};
    await page.route('**/v2/**', async (route) => {
        const isSession = new URL(route.request().url()).pathname === '/v2/session';
        if (server.mode === 'held' && !isSession)
            return void server.held.push(route);
        if (server.mode === 'failing' && !isSession)
            return route.fulfill(fail(500, 'INTERNAL_ERROR', 'It failed.'));
        if (server.mode === 'ended')
            return route.fulfill(ENDED);
        if (server.mode === 'other')
            return route.fulfill(isSession && route.request().method() === 'GET'
                ? {json: {success: true, data: OTHER}} : ENDED);
        if (server.mode !== 'strange' || isSession)
            return route.continue();
        const response = await route.fetch();
        const body = await response.text();
        return route.fulfill({response,
            body: body.startsWith('{') ? JSON.stringify(strange(JSON.parse(body))) : body});
    });
    server.release = async () => {
        server.mode = '';
        await Promise.all(server.held.splice(0).map((route) => route.continue()));
    };
    return server;
}

// Leaves the page and opens it again without loading the files.
async function reopen(page, address) {
    await page.evaluate(() => { location.hash = '#/nothing/here'; });
    await page.getByRole('heading', {name: 'No such page'}).waitFor();
    await page.evaluate((hash) => { location.hash = hash; }, `#${address}`);
    await page.getByRole('heading', {name: 'No such page'}).waitFor({state: 'detached'});
}

// What a state adds to a page is the same on all pages, or has been checked with its styles by
// `accessible`: so axe looks at the first page of each state only, with TEST_FULL at all of them.
async function checkAxe({page, isFirst}) {
    if (isFirst || isFull)
        assert.deepEqual(await findings(page), []);
}

const heading = (page) => page.locator('main h1').innerText();

// --- The states: each a function that leaves the page as it found it, in their order -------------

const STATES = {
    async loading({page, server, address, isFirst}) {
        server.mode = 'held';
        if (isFirst || isFull) {
            await page.goto('about:blank');
            await page.goto(address.base + address.hash);
        } else {
            await reopen(page, address.path);
        }
        await page.locator('main h1').waitFor({state: 'attached'});
        await page.locator('main .loading').first().waitFor();
        await checkAxe({page, isFirst});
    },
    async slow({page, server, settled}) {
        await server.release();
        await settled(page);
        await untilCount(page.locator('main :is(.loading, .notice.bad[role="alert"])'), 0);
    },
    async zone({page}) {
        const wrong = await page.evaluate((timeZone) =>
            [...document.querySelectorAll('time[title]')].filter(({title, dateTime}) =>
                title !== new Intl.DateTimeFormat(navigator.language,
                    {dateStyle: 'medium', timeStyle: 'medium', timeZone})
                    .format(new Date(dateTime))).map((node) => node.outerHTML), ZONE);
        assert.deepEqual(wrong, []);
    },
    async keyboard({page}) {
        const total = await page.evaluate(() => {
            const all = [...document.querySelectorAll('main :is(a[href], button, input, select, ' +
                'textarea, summary, [tabindex="0"])')].filter((node) => node.tabIndex >= 0 &&
                !node.disabled && node.checkVisibility({visibilityProperty: true}));
            window.unreached = new Set(all);
            document.addEventListener('focusin', (event) => window.unreached.delete(event.target));
            document.querySelector('main').focus();
            return all.length;
        });
        let left;
        for (let round = 0; round < 4 && left?.length !== 0; round++) { // a date has several stops
            for (let i = 0; i < total + 5; i++)
                await page.keyboard.press('Tab');
            left = await page.evaluate(() =>
                [...window.unreached].map((node) => node.outerHTML.slice(0, 120)));
        }
        assert.deepEqual(left, []);
    },
    async reader({page, context}) {
        const devtools = await context.newCDPSession(page);
        const {nodes} = await devtools.send('Accessibility.getFullAXTree');
        await devtools.detach();
        const shown = nodes.filter(({ignored}) => !ignored);
        const ofRole = (...roles) => shown.filter(({role}) => roles.includes(role?.value));
        assert.equal(ofRole('main').length, 1);
        assert.ok(ofRole('heading').some(({name}) => name?.value));
        const unnamed = ofRole('link', 'button', 'textbox', 'searchbox', 'combobox', 'checkbox',
            'img', 'image', 'table', 'listbox', 'dialog').filter(({name}) => !name?.value?.trim());
        assert.deepEqual(unnamed.map(({role, nodeId}) => `${role.value} ${nodeId}`), []);
    },
    async motion({page}) {
        await page.emulateMedia({reducedMotion: 'reduce'});
        const moving = await page.evaluate(() => [...document.querySelectorAll('*')]
            .filter((node) => {
                const style = getComputedStyle(node);
                return [style.transitionDuration, style.animationDuration].some((list) =>
                    list.split(',').some((time) => parseFloat(time) > 0.01));
            }).map((node) => node.outerHTML.slice(0, 120)));
        assert.deepEqual(moving, []);
    },
    async tabs({page, other, address, settled}) {
        await other.goto(address.base + address.hash);
        await settled(other);
        await untilEqual(() => heading(other), await heading(page));
        assert.equal(await other.locator('main .notice.bad[role="alert"]').count(), 0);
    },
    async offline({page, context, isFirst}) {
        await context.setOffline(true);
        await page.locator('#trouble').getByText('No connection.').waitFor();
        await page.locator('main h1').waitFor();
        await checkAxe({page, isFirst});
    },
    async back({page, context}) {
        await context.setOffline(false);
        await page.locator('#trouble p').waitFor({state: 'detached'});
        await page.locator('main h1').waitFor();
    },
    async failing({page, server, address, settled, isFirst}) {
        server.mode = 'failing';
        await reopen(page, address.path);
        await page.locator('main').getByText('It failed.').first().waitFor();
        await page.locator('main h1').waitFor({state: 'attached'});
        await checkAxe({page, isFirst});
        server.mode = '';
        const again = page.locator('main').getByRole('button', {name: 'Try again'});
        const lists = await again.count();
        for (let left = lists; left; left--) { // each list of the page has its own
            await again.first().click();
            await untilCount(again, left - 1);
        }
        if (!lists)
            await reopen(page, address.path);
        await settled(page);
        await untilCount(page.locator('main').getByText('It failed.'), 0);
    },
    async strange({page, server, address, settled, isFirst}) {
        server.mode = 'strange';
        await page.setViewportSize({width: 320, height: 800});
        await reopen(page, address.path);
        await settled(page);
        assert.equal(await page.locator('main img[src="x"]').count(), 0);
        const wider = await page.evaluate(() =>
            document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(wider <= 0, `${wider} pixels wider than the screen`);
        await checkAxe({page, isFirst});
        server.mode = '';
        await page.setViewportSize({width: 1280, height: 900});
    },
    async other({page, server, address, isFirst}) {
        server.mode = 'other';
        await reopen(page, address.path);
        await page.getByText('other@example.org has logged in').waitFor();
        await page.locator('main h1').waitFor();
        await checkAxe({page, isFirst});
        server.mode = '';
    },
    async reload({page, address, settled}) {
        await page.reload();
        await settled(page);
        assert.equal(page.url(), address.base + address.hash);
        await untilEqual(() => heading(page), address.heading);
    },
    async ended({page, server, address}) {
        server.mode = 'ended';
        await reopen(page, address.path);
        await page.getByText('Your session has ended.').waitFor();
        await page.locator('main h1').waitFor();
        server.mode = '';
        await page.evaluate(() => { document.cookie = 'switchboard-session=1'; }); // it goes on
    },
};

const ANEW = ['other', 'reload', 'ended'];
const SHARED = ['tabs', 'offline', 'back', ...ANEW];
const KINDS = ['overview', 'inbox', 'thread', 'events', 'sessions']; // also such as ask again

// The names of the table's columns that are not those of the functions.
const COLUMNS = {'server 500': 'failing', 'session ended': 'ended', 'other user': 'other',
    'other zone': 'zone', 'two tabs': 'tabs', 'keyboard alone': 'keyboard',
    'screen reader': 'reader', 'reduced motion': 'motion', 'strange content': 'strange'};

exports.all = async (test, document) => {
    const {page, context, open, logIn, api, step, settled, print, BASE} = test;
    const cells = cellsOf(document).filter(({marks}) => marks.includes('G'))
        .map(({page: name, state}) => ({name, state: COLUMNS[state] ?? state}));
    await logIn();
    const server = await control(page);
    const other = await context.newPage();
    let count = 0, former;
    for (const name of new Set(cells.map((cell) => cell.name))) {
        const entry = PAGES.find((one) => one.name === name);
        const path = entry.address ?? await entry.find((method, url) => api(page, method, url));
        const own = cells.filter((cell) => cell.name === name).map(({state}) => state);
        step(`page ${name}`);
        if (isFull || KINDS.includes(former))
            await page.goto('about:blank'); // the states ANEW have ended the document
        await open(path);
        former = name;
        const address = {base: `${BASE}/dashboard/`, hash: new URL(page.url()).hash, path,
            heading: await heading(page)};
        for (const [state, check] of Object.entries(STATES)) {
            if (!own.includes(state) || !isFull && SHARED.includes(state) && !KINDS.includes(name))
                continue;
            step(`page ${name}, ${state}`);
            await check({page, other, context, server, settled, address,
                isFirst: name === cells.find((cell) => cell.state === state).name});
            count++;
        }
        assert.deepEqual(own.filter((state) => !(state in STATES)), [], 'states without a check');
    }
    print(`${count}`);
};
