// Writes a picture of each page, light and dark, on a phone, a desktop and a wide screen:
//
//     node screenshots.js DIRECTORY LINK PICTURES      LINK: of `switchboard user login-link`
//
// PICTURES receives those that the pages of doc and the README show.
//
// Environment: BASE, SANDBOX (its URL), PHONE_NUMBER_ID, NODE_MODULES, ONLY (names of pages, with
// commas; default: all).
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

async function say(phone, text) {
    await phone.getByLabel('Message', {exact: true}).fill(text);
    await phone.getByRole('button', {name: 'Send', exact: true}).click();
}

// A person writes on the sandbox's phone, the inbox answers, and the person writes again.
async function converse(page, phone) {
    const {SANDBOX, PHONE_NUMBER_ID} = process.env;
    const person = {phone: '12125550199', name: 'Nora Lund', phoneNumberId: PHONE_NUMBER_ID};
    await phone.goto(`${SANDBOX}/_sandbox/phone?${new URLSearchParams(person)}`);
    await say(phone, 'Hello! Do you deliver on Saturdays?');
    await openPage(page, '/inbox');
    await page.locator('.thread', {hasText: person.name}).click();
    const answer = 'Yes, until 6 pm. Which tea would you like?';
    await page.getByLabel('Write a message').fill(answer);
    await page.keyboard.press('Enter');
    await phone.bringToFront();
    await phone.locator('.message.in', {hasText: answer}).waitFor();
    await say(phone, 'Two bags of sencha, please');
    await phone.locator('.message.out .ticks[data-status="sent"]').last().waitFor();
    await page.bringToFront();
    await page.locator('.message.in', {hasText: 'Two bags'}).waitFor();
    await page.locator('.message.out .ticks[data-status="read"]').first().waitFor();
}

// Writes pictures of several pages to one file, one beside the other.
async function pictureBeside(context, pages, file) {
    const images = [];
    for (const page of pages)
        images.push((await page.screenshot({scale: 'css'})).toString('base64'));
    const board = await context.newPage();
    await board.setContent(`<!doctype html><style>
        body { display: flex; align-items: start; gap: 24px; margin: 0; padding: 24px; }
        html { background: #d9dee8; }
        img { flex: none; border-radius: 12px; box-shadow: 0 2px 12px #0004; }
        </style>${images.map((image) => `<img src="data:image/png;base64,${image}">`).join('')}`);
    const box = await board.locator('img').last().boundingBox();
    await board.setViewportSize({width: Math.ceil(box.x + box.width) + 24,
        height: Math.ceil(box.y + box.height) + 24});
    await board.screenshot({path: file, scale: 'css'});
    if (fs.statSync(file).size > 200 * 1000)
        throw new Error(`${file} has more than 200 kB`);
}

// The picture of the README: a conversation in the inbox, beside the phone at its other end.
async function pictureConversation(page, file) {
    const context = page.context();
    const phone = await context.newPage();
    await page.setViewportSize({width: 1000, height: 640});
    await phone.setViewportSize({width: 320, height: 640});
    await page.emulateMedia({colorScheme: 'light'});
    await phone.emulateMedia({colorScheme: 'light'});
    await converse(page, phone);
    await pictureBeside(context, [page, phone], file);
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
            await pictureConversation(page, path.join(pictures, 'conversation.png'));
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
