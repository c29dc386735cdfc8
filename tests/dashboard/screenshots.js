// Writes a picture of each page, light and dark, on a phone, a desktop and a wide screen:
//
//     node screenshots.js DIRECTORY LINK      LINK: of `switchboard user login-link`
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

async function main(directory, link) {
    fs.mkdirSync(directory, {recursive: true});
    const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    const findings = [];
    const only = process.env.ONLY?.split(',');
    const stranger = await (await newContext(browser, findings)).newPage();
    const user = await (await newContext(browser, findings)).newPage();
    await user.goto(link);
    await user.locator('.frame').waitFor();
    await settled(user);
    for (const entry of PAGES.filter(({name}) => !only || only.includes(name))) {
        const page = entry.isPublic ? stranger : user;
        const address = entry.address ??
            await entry.find((method, url) => api(user, method, url));
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
