// Measures the inbox and prints the figures. The machine decides about times, so that nothing here
// fails on a time; see doc/performance.md.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

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
    assert.equal(await page.evaluate(() => document.cookie), 'switchboard-session=1');
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

// What the tab holds after a garbage collection.
async function memoryOf(page) {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await session.send('HeapProfiler.collectGarbage');
    const {metrics} = await session.send('Performance.getMetrics');
    await session.detach();
    const value = (name) => metrics.find((one) => one.name === name).value;
    const rows = await page.locator('.message').count();
    return `${(value('JSHeapUsedSize') / 1e6).toFixed(1)} MB of heap, ${value('Nodes')} nodes, ` +
        `${rows} messages with a row\n`;
}

// The memory of a tab: a long thread while it is read backwards, and after many threads.
exports.memory = async ({page, open, logIn, api, step, print, settled}, thread) => {
    await logIn();
    print(`# overview: ${await memoryOf(page)}`);
    await open(`/inbox/${thread}`);
    await page.locator('.message').first().waitFor();
    print(`# a thread of 20,000 messages opened: ${await memoryOf(page)}`);
    let pages = 0;
    const note = (request) => { pages += request.url().includes('before=') ? 1 : 0; };
    page.on('requestfinished', note);
    for (const wanted of [60, 120]) {
        step(`${wanted} pages back`);
        while (pages < wanted) {
            await page.locator('.messages-scroll').evaluate((node) => { node.scrollTop = 300; });
            await page.waitForTimeout(20);
        }
        await settled(page);
        print(`# ${wanted} pages back: ${await memoryOf(page)}`);
    }
    page.off('requestfinished', note);
    step('50 threads');
    const {text} = await api(page, 'GET', '/v2/threads?limit=51');
    const ids = JSON.parse(text).data.items.map(({id}) => id).filter((id) => id !== thread);
    for (const [i, id] of ids.entries()) {
        const answer = page.waitForResponse((one) => one.url().includes(`${id}/messages`));
        await page.evaluate((one) => { location.hash = `#/inbox/${one}`; }, id);
        await answer;
        await page.locator('.message').first().waitFor();
        if (i === 0)
            print(`# one more thread: ${await memoryOf(page)}`);
    }
    print(`# ${ids.length} threads: ${await memoryOf(page)}`);
};

// --- What a page does, beside another version of it ----------------------------------------------

const JOBS = ['the inbox in a new tab', 'a thread, from the inbox', 'a thread, from the overview'];
const COUNTED = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration', 'TaskDuration',
    'LayoutCount', 'RecalcStyleCount', 'Nodes'];
const TYPES = {'.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
    '.html': 'text/html', '.svg': 'image/svg+xml', '.png': 'image/png'};

// Serves the files of the dashboard from a directory, without Apache.
function serve(tab, base, directory) {
    return tab.route(`${base}/dashboard/**`, (route) => {
        const name = new URL(route.request().url()).pathname.slice('/dashboard/'.length);
        const file = path.join(directory, name || 'index.html');
        return route.fulfill({contentType: TYPES[path.extname(file)],
            body: fs.readFileSync(file)});
    });
}

// Runs a job in a tab until its requests have ended, and returns what Chromium counted: processor
// time in ms, numbers, and `shown`, the wall time until `selector` was painted.
async function workOf(tab, selector, job) {
    const session = await tab.context().newCDPSession(tab);
    await session.send('Performance.enable');
    const read = async () => new Map((await session.send('Performance.getMetrics')).metrics
        .map(({name, value}) => [name, value]));
    let requests = 0;
    const note = (request) => { requests += request.url().includes('/v2/') ? 1 : 0; };
    tab.on('request', note);
    const before = await read();
    const shown = await job(selector);
    await tab.waitForLoadState('networkidle');
    const after = await read();
    tab.off('request', note);
    await session.detach();
    const value = (name) => (after.get(name) - before.get(name)) *
        (name.endsWith('Duration') ? 1000 : 1);
    return new Map([...COUNTED.map((name) => [name, value(name)]),
        ['requests of the API', requests], ['wall time until shown', shown]]);
}

async function jobsOf({context, settled, BASE}, directory, thread) {
    const tab = await context.newPage();
    await serve(tab, BASE, directory);
    const go = (address) => async (selector) => tab.evaluate(async ([wanted, hash]) => {
        const start = performance.now();
        location.hash = hash;
        return await window.paintedAt(wanted) - start;
    }, [selector, address]);
    const works = [await workOf(tab, '.thread', async (selector) => {
        await tab.goto(`${BASE}/dashboard/#/inbox`);
        return tab.evaluate((wanted) => window.paintedAt(wanted), selector);
    })];
    works.push(await workOf(tab, '.message', go(`#/inbox/${thread}`)));
    await tab.goto('about:blank');
    await tab.goto(`${BASE}/dashboard/#/overview`);
    await settled(tab);
    works.push(await workOf(tab, '.message', go(`#/inbox/${thread}`)));
    await tab.close();
    return works;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

// Directories are those of several versions, separated by colons, the first one for the ratios.
exports.work = async ({context, logIn, step, print, settled, BASE}, thread, list) => {
    await addClock(context);
    await logIn();
    const directories = list.split(':');
    const results = directories.map(() => JOBS.map(() => []));
    for (let turn = 0; turn < TURNS; turn++)
        for (const [at, directory] of directories.entries()) {
            step(`turn ${turn} of ${directory}`);
            (await jobsOf({context, settled, BASE}, directory, thread))
                .forEach((work, job) => results[at][job].push(work));
        }
    for (const [job, name] of JOBS.entries()) {
        print(`# ${name}\n`);
        for (const counted of results[0][job][0].keys()) {
            const values = results.map((jobs) => median(jobs[job].map((one) => one.get(counted))));
            print(`#   ${counted}: ${values.map((value) => value.toFixed(0)).join(', ')}` +
                `${values.slice(1).map((value) => `, ${(value / values[0]).toFixed(2)}`)}\n`);
        }
    }
};
