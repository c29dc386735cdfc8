// Writes a picture of each page, light and dark, on a phone, a desktop and a wide screen:
//
//     node screenshots.js DIRECTORY LINK PICTURES      LINK: of `switchboard user login-link`
//
// PICTURES receives those that the pages of doc and the README show.
//
// Environment: BASE, NODE_MODULES, ONLY (names of pages, with commas; default: all).
const fs = require('node:fs');
const path = require('node:path');
const {createRequire} = require('node:module');
const {chromium} = createRequire(`${process.env.NODE_MODULES}/`)('playwright-core');
const {newContext, openPage, settled, api} = require('./drive.js');
const {PAGES} = require('./pages.js');

const SIZES = {
    phone: {width: 390, height: 844}, desktop: {width: 1440, height: 900},
    wide: {width: 2560, height: 1440},
};

async function picture(page, directory, entry, address) {
    for (const [size, viewport] of Object.entries(SIZES)) {
        for (const colorScheme of ['light', 'dark']) {
            await page.setViewportSize(viewport);
            await page.emulateMedia({colorScheme});
            await openPage(page, address);
            await page.waitForTimeout(300); // pictures and fonts
            const file = `${entry.name}-${size}-${colorScheme}.png`;
            await page.screenshot({path: path.join(directory, file), fullPage: true});
        }
    }
}

// The picture for documents: a conversation with a contact of the demonstration, on one screen.
async function pictureInbox(page, file) {
    const {text} = await api(page, 'GET', '/v2/threads?limit=1&q=Sofia');
    await page.setViewportSize({width: 1200, height: 720});
    await page.emulateMedia({colorScheme: 'light'});
    await openPage(page, `/inbox/${JSON.parse(text).data.items[0].id}`);
    await page.waitForTimeout(1000); // pictures and fonts
    await page.screenshot({path: file});
    if (fs.statSync(file).size > 200 * 1024)
        throw new Error(`${file} has more than 200 KiB`);
}

async function main(directory, link, pictures) {
    fs.mkdirSync(directory, {recursive: true});
    fs.mkdirSync(pictures, {recursive: true});
    const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    const findings = [];
    const only = process.env.ONLY?.split(',');
    const stranger = await (await newContext(browser, findings)).newPage();
    const user = await (await newContext(browser, findings)).newPage();
    await user.goto(link);
    await user.getByRole('button', {name: 'Log in with this link'}).click();
    await user.locator('.frame').waitFor();
    await settled(user);
    for (const entry of PAGES.filter(({name}) => !only || only.includes(name))) {
        const page = entry.isPublic ? stranger : user;
        const address = entry.address ??
            await entry.find((method, url) => api(user, method, url));
        if (entry.name === 'inbox')
            await pictureInbox(page, path.join(pictures, 'inbox.png'));
        if (address)
            await picture(page, directory, entry, address);
        else
            process.stdout.write(`${entry.name}: there is nothing to show\n`);
    }
    await browser.close();
    findings.forEach((text) => process.stdout.write(`${text}\n`));
    process.exitCode = findings.length ? 1 : 0;
}

main(...process.argv.slice(2)).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
});
