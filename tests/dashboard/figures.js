// Measures the inbox and prints the figures. The machine decides about times, so that nothing here
// fails on a time; see doc/performance.md.
const assert = require('node:assert/strict');
const http = require('node:http');

const {TOKEN} = process.env;
const TURNS = 11;
const CONNECTIONS = 8;
const LOAD_TIME = 5000; // ms
const TABS = 10;
const TABS_TIME = 30000; // ms: less than the minute after which a tab asks less often

// A line is a comment of TAP, so that the runner shows it and does not take it for a result.
function summary(name, values) {
    const sorted = values.map(Math.round).sort((a, b) => a - b);
    const at = (share) => sorted[Math.floor(share * (sorted.length - 1))];
    return `# ${name}: median ${at(0.5)} ms, ` +
        `${sorted[0]} to ${sorted[sorted.length - 1]} ms of ${sorted.length}\n`;
}

// Sets window.paintedAt(selector) in each page: the time of the first frame that shows it.
function addClock(context) {
    return context.addInitScript(() => {
        window.paintedAt = (selector) => new Promise((resolve) => {
            const look = () => {
                if (document.querySelector(selector))
                    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
                else
                    requestAnimationFrame(look);
            };
            look();
        });
    });
}

// The first paint of a new tab and of a new profile, and the time until the list is there.
exports.firstPaint = async ({page, context, logIn, step, print, BASE}) => {
    await logIn();
    const paints = [];
    const lists = [];
    await addClock(context);
    for (let i = 0; i < TURNS; i++) {
        step(`turn ${i}`);
        const tab = await context.newPage();
        await tab.goto(`${BASE}/dashboard/#/inbox`);
        lists.push(await tab.evaluate(() => window.paintedAt('.thread')));
        paints.push(await tab.evaluate(() =>
            performance.getEntriesByName('first-contentful-paint')[0].startTime));
        await tab.close();
    }
    assert.ok(await page.evaluate(() => document.cookie === ''));
    print(summary('inbox, first paint', paints));
    print(summary('inbox, list of threads shown', lists));
};

exports.threadOpens = async ({page, context, open, logIn, step, print, settled}, thread) => {
    await addClock(context);
    await logIn();
    for (const from of ['/inbox', '/overview']) {
        const times = [];
        for (let i = 0; i < TURNS; i++) {
            step(`from ${from}, turn ${i}`);
            await open(from);
            times.push(await page.evaluate(async (id) => {
                const start = performance.now();
                location.hash = `#/inbox/${id}`;
                return await window.paintedAt('.message') - start;
            }, thread));
            await settled(page);
        }
        print(summary(`thread opens, from ${from}`, times));
    }
};

// Requests per second of a path with some connections at once.
async function rate(base, path, headers) {
    const agent = new http.Agent({keepAlive: true, maxSockets: CONNECTIONS});
    const end = Date.now() + LOAD_TIME;
    let count = 0;
    const once = () => new Promise((resolve, reject) => {
        http.get(base + path, {agent, headers}, (answer) => {
            answer.resume();
            answer.on('end', () => resolve(answer.statusCode));
        }).on('error', reject);
    });
    await Promise.all(Array.from({length: CONNECTIONS}, async () => {
        while (Date.now() < end) {
            const status = await once();
            assert.ok(status === 200 || status === 304, `${path}: ${status}`);
            count++;
        }
    }));
    agent.destroy();
    return count * 1000 / LOAD_TIME;
}

// What ten visible tabs with an open thread request, beside what the gateway can answer.
exports.tabs = async ({context, open, logIn, step, print, BASE, page}, thread) => {
    await logIn();
    const tabs = [];
    for (let i = 0; i < TABS; i++) {
        step(`tab ${i}`);
        tabs.push(await context.newPage());
        await open(`/inbox/${thread}`, tabs[i]);
    }
    await page.close();
    step('count');
    const requests = new Map();
    const note = (request) => {
        const path = new URL(request.url()).pathname;
        requests.set(path, (requests.get(path) ?? 0) + 1);
    };
    await tabs[0].waitForTimeout(3000);
    for (const tab of tabs)
        assert.equal(await tab.evaluate(() => document.hidden), false);
    context.on('request', note);
    await tabs[0].waitForTimeout(TABS_TIME);
    context.off('request', note);
    await Promise.all(tabs.map((tab) => tab.close()));
    const total = [...requests.values()].reduce((sum, count) => sum + count, 0);
    assert.ok(total > 0, 'the tabs requested nothing');
    const perSecond = total * 1000 / TABS_TIME;
    step('rates');
    const headers = {'X-API-Token': TOKEN};
    const first = await (await fetch(`${BASE}/v2/changes`, {headers})).json();
    const me = await rate(BASE, '/v2/me', headers);
    const changes = await rate(BASE, `/v2/changes?after=${first.data.change}`, headers);
    const share = (capacity) => `${(100 * perSecond / capacity).toFixed(2)} %`;
    print(`# ${TABS} tabs: ${perSecond.toFixed(2)} requests per second ` +
        `(${[...requests].map(([path, count]) => `${path} ${count}`).join(', ')} ` +
        `in ${TABS_TIME / 1000} s)\n`);
    print(`# me: ${me.toFixed(0)} per second; the tabs are ${share(me)} of it\n`);
    print(`# changes, nothing newer: ${changes.toFixed(0)} per second; the tabs are ` +
        `${share(changes)} of it\n`);
};
