// Runs one test of the dashboard in the Chromium of browser.js:
//
//     node drive.js MODULE NAME [ARGUMENT...]
//
// MODULE is a file beside this one; its function NAME gets ({page, context, open, step, ...},
// ARGUMENT...). Environment: BROWSER (the address), BASE (URL of the gateway), EMAIL, PASSWORD,
// NODE_MODULES, SESSIONS (a directory for the cookies of users who are logged in), ARTIFACTS (a
// directory for the screenshot of a failure).
//
// Every test fails on a violation of the content security policy, an exception in the page, and a
// request to another origin.
const fs = require('node:fs');
const path = require('node:path');
const {createRequire} = require('node:module');
const {chromium} = createRequire(`${process.env.NODE_MODULES}/`)('playwright-core');

const {BROWSER, BASE, EMAIL, PASSWORD, SESSIONS, ARTIFACTS} = process.env;
const WAIT = 30000; // on a slow machine with other work

let present = 'start'; // the step that runs, for the message of a failure

function step(text) {
    present = text;
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
        if (!url.startsWith(`${BASE}/`) && !/^(blob|data|about):/.test(url))
            findings.push(`request to another origin: ${url}`);
    });
    context.on('weberror', (error) => findings.push(`exception: ${error.error().stack}`));
}

// Opens a page of the dashboard and waits until its content is there: open('/events').
async function openPage(page, address) {
    await page.goto(`${BASE}/dashboard/#${address}`);
    await settled(page);
}

async function settled(page) {
    await page.locator('main h1').first().waitFor();
    await page.waitForFunction(() => !document.querySelector('.loading, [aria-busy="true"]'));
}

// Logs in by the form.
async function logInAnew(page, email = EMAIL, password = PASSWORD) {
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
        {headers: {'X-Switchboard': '1', 'Sec-Fetch-Site': 'same-origin'}});
    return answer.ok();
}

// Lets the user have a session, and opens the overview: that of an earlier test of the same file,
// unless it has ended; else a new one. A password is hashed with 19 MB of memory, so a login costs.
async function logIn(page) {
    const context = page.context();
    const file = path.join(SESSIONS, `${EMAIL}.json`);
    if (fs.existsSync(file)) {
        await context.addCookies(JSON.parse(fs.readFileSync(file, 'utf8')));
        if (await hasSession(context)) {
            await openPage(page, '/overview');
            return;
        }
        await context.clearCookies();
    }
    await logInAnew(page);
    fs.writeFileSync(file, JSON.stringify(await context.cookies()), {mode: 0o600});
}

// A new profile of the browser: cookies and storage of its own.
async function newContext(browser, findings, options = {}) {
    const context = await browser.newContext({
        locale: 'en-US', timezoneId: 'Europe/Berlin', viewport: {width: 1280, height: 900},
        ...options,
    });
    context.setDefaultTimeout(WAIT);
    await watch(context, findings);
    return context;
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

async function run(module, name, values) {
    const test = require(path.join(__dirname, module))[name];
    if (!test)
        throw new Error(`${module} has no function ${name}`);
    const browser = await chromium.connect(BROWSER);
    const findings = [];
    const context = await newContext(browser, findings);
    const page = await context.newPage();
    try {
        await test({
            page, context, step, findings, BASE, EMAIL, PASSWORD, settled, api,
            open: (address, target = page) => openPage(target, address),
            logIn: () => logIn(page),
            logInAnew: (email, password, target = page) => logInAnew(target, email, password),
            newContext: (options) => newContext(browser, findings, options),
        }, ...values);
        step('at the end');
        if (findings.length)
            throw new Error(findings.join('\n'));
    } catch (error) {
        await keepArtifacts(page, name, findings);
        throw error;
    } finally {
        await context.close();
        await browser.close();
    }
}

// What the page showed, for the reader of the failure.
async function keepArtifacts(page, name, findings) {
    const show = (text) => process.stderr.write(`${text}\n`);
    findings.forEach(show);
    try {
        show(`--- ${page.url()}\n${(await page.locator('body').innerText()).slice(0, 2000)}\n---`);
        if (ARTIFACTS) {
            fs.mkdirSync(ARTIFACTS, {recursive: true});
            await page.screenshot({path: path.join(ARTIFACTS, `${name}.png`)});
        }
    } catch (error) {
        show(`no picture of the page: ${error.message}`);
    }
}

if (require.main === module) {
    const [file, name, ...values] = process.argv.slice(2);
    run(file, name, values).catch((error) => {
        process.stderr.write(`step: ${present}\n${error.stack}\n`);
        process.exit(1);
    });
}

module.exports = {newContext, openPage, settled, api};
