// Runs one test of the dashboard in a Chromium. Environment: BASE (URL of the gateway), SESSIONS (a
// directory for the cookies of users who are logged in), ARTIFACTS (a directory for the screenshot
// of a failure).
//
// Every test fails on a violation of the content security policy, an exception in the page, and a
// request to another origin.
const fs = require('node:fs');
const path = require('node:path');

const {BASE, SANDBOX, SESSIONS, ARTIFACTS} = process.env;
const WAIT = 30000; // on a slow machine with other work

// Whether it loads the phone of the sandbox, or is a request of that page to its own origin.
function isOfPhone(request) {
    const page = `${SANDBOX}/_sandbox/phone`;
    return request.url().startsWith(`${SANDBOX}/_sandbox/`) &&
        (request.isNavigationRequest() ? request.url() : request.frame().url()).startsWith(page);
}

// Reports to `findings` what no test may cause.
async function watch(context, findings) {
    await context.exposeBinding('reportViolation', (_, text) => {
        findings.push(`content security policy: ${text}`);
    });
    await context.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (event) => {
            window.reportViolation(`${event.violatedDirective} ${event.blockedURI} ` +
                `${event.sourceFile}:${event.lineNumber} ${event.sample}`);
        });
    });
    context.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(`${BASE}/`) && !/^(blob|data|about):/.test(url) &&
            !isOfPhone(request))
            findings.push(`request to another origin: ${url}`);
    });
    context.on('weberror', (error) => findings.push(`exception: ${error.error().stack}`));
}

// Opens a page of the dashboard and waits until its content is there: open('/events').
async function openPage(page, address) {
    await page.goto(`${BASE}/dashboard/#${address}`);
    await settled(page);
}

// A new address in the same document is opened by an event, which may not have happened yet: until
// then the former page is there, whole.
async function settled(page) {
    await page.evaluate(() => new Promise((resolve) => {
        const {port1, port2} = new MessageChannel();
        port1.onmessage = resolve;
        port2.postMessage(null);
    }));
    await page.locator('main h1').first().waitFor();
    await page.waitForFunction(() => !document.querySelector('.loading, [aria-busy="true"]'));
}

// Logs in by the form.
async function logInAnew(page, email, password) {
    await openPage(page, '/login');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password', {exact: true}).fill(password);
    await page.getByRole('button', {name: 'Log in'}).click();
    await page.locator('.frame').waitFor();
    await settled(page);
}

// Whether the session of the context's cookies has not ended.
async function hasSession(context) {
    const answer = await context.request.get(`${BASE}/v2/session`,
        // a connection that was kept may be closed by the server while the request is on its way
        {headers: {'X-Switchboard': '1', 'Sec-Fetch-Site': 'same-origin'}, maxRetries: 3});
    return answer.ok();
}

// Lets the user have a session, and opens the overview: that of an earlier test of the same file,
// unless it has ended; else a new one. A password is hashed with 19 MB of memory, so a login costs.
async function logIn(page, {email, password}) {
    const context = page.context();
    const file = path.join(SESSIONS, `${email}.json`);
    if (fs.existsSync(file)) {
        await context.addCookies(JSON.parse(fs.readFileSync(file, 'utf8')));
        if (await hasSession(context)) {
            await openPage(page, '/overview');
            return;
        }
        await context.clearCookies();
    }
    await logInAnew(page, email, password);
    fs.writeFileSync(file, JSON.stringify(await context.cookies()), {mode: 0o600});
}

// A new profile of the browser: cookies and storage of its own.
async function newContext(browser, findings, options = {}) {
    const context = await browser.newContext({locale: 'en-US', timezoneId: 'Europe/Berlin',
        viewport: {width: 1280, height: 900}, ...options});
    context.setDefaultTimeout(WAIT);
    await watch(context, findings);
    return context;
}

// Ends what a test left: pages that go on with their requests, and their profiles.
async function leave(browser) {
    for (const one of browser.contexts())
        await one.close();
}

// Calls the API with the page's session.
function api(page, method, url, body) {
    return page.evaluate(async ([verb, target, content]) => {
        const response = await fetch(target, {
            method: verb, body: content && JSON.stringify(content),
            headers: {'X-Switchboard': '1', ...content && {'Content-Type': 'application/json'}},
        });
        return {status: response.status, text: await response.text()};
    }, [method, url, body]);
}

// Runs the function NAME of MODULE, a file beside this one; it gets ({page, context, open, step,
// print, ...}, VALUE...). `stray` are errors that no test waited for; they fail this run. Returns
// what the test printed, or its failure: run(browser, user, [MODULE, NAME, VALUE...], stray)
async function run(browser, user, [module, name, ...values], stray) {
    const findings = [];
    const shown = []; // about a failure
    let printed = '';
    let present = 'start'; // the step that runs
    const step = (text) => { present = text; };
    let page;
    try {
        const test = require(path.join(__dirname, module))[name];
        if (!test)
            throw new Error(`${module} has no function ${name}`);
        const context = await newContext(browser, findings);
        page = await context.newPage();
        await test({
            page, context, step, findings, BASE, EMAIL: user.email, PASSWORD: user.password,
            settled, api,
            print: (text) => { printed += text; },
            open: (address, target = page) => openPage(target, address),
            logIn: () => logIn(page, user),
            logInAnew: (email = user.email, password = user.password, target = page) =>
                logInAnew(target, email, password),
            newContext: (options) => newContext(browser, findings, options),
        }, ...values);
        step('at the end');
    } catch (error) {
        shown.push(`step: ${present}`, error.stack);
        if (page)
            shown.push(await artifacts(page, name));
    }
    await leave(browser);
    shown.push(...findings, ...stray.splice(0));
    return {printed, failure: shown.length ? `${shown.join('\n')}\n` : undefined};
}

// What the page showed, for the reader of the failure.
async function artifacts(page, name) {
    try {
        const text = (await page.locator('body').innerText()).slice(0, 2000);
        if (ARTIFACTS) {
            fs.mkdirSync(ARTIFACTS, {recursive: true});
            await page.screenshot({path: path.join(ARTIFACTS, `${name}.png`)});
        }
        return `--- ${page.url()}\n${text}\n---`;
    } catch (error) {
        return `no picture of the page: ${error.message}`;
    }
}

module.exports = {newContext, openPage, run, settled, api};
