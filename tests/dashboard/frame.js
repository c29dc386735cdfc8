// What holds for every page, and the parts that all pages are made of.
const assert = require('node:assert/strict');
const {createRequire} = require('node:module');
const fs = require('node:fs');
const {launch} = require('./launch.js');
const {PAGES} = require('./pages.js');
const {
    requestsEnd, until, untilCount, untilEqual, untilFocus, untilText, untilTitle,
} = require('./until.js');

const axeFile = createRequire(`${process.env.NODE_MODULES}/`).resolve('axe-core/axe.min.js');
const axe = fs.readFileSync(axeFile, 'utf8');

// The findings of axe in the present page, of all its rules or of these. It is injected through the
// debugger, which the content security policy does not stop.
async function findings(page, rules) {
    if (!await page.evaluate(() => 'axe' in window))
        await page.evaluate(axe);
    const {violations} = await page.evaluate((runOnly) => window.axe.run(document, {
        resultTypes: ['violations'], ...runOnly && {runOnly},
    }), rules);
    return violations.map(({id, help, nodes}) =>
        `${id}: ${help}\n${nodes.map(({html, failureSummary}) =>
            `    ${html}\n    ${failureSummary}`).join('\n')}`);
}

exports.findings = findings;

// Opens each page: calls check(page, name) for it.
async function eachPage({page, context, open, logIn, api, step}, check) {
    for (const {address, name} of PAGES.filter(({isPublic}) => isPublic)) {
        step(`page ${name}`);
        await open(address);
        await check(page, name);
    }
    await logIn();
    for (const entry of PAGES.filter(({isPublic}) => !isPublic)) {
        step(`page ${entry.name}`);
        const address = entry.address ??
            await entry.find((method, url) => api(page, method, url));
        assert.ok(address, `there is no item for the page ${entry.name}`);
        await open(address);
        await check(page, entry.name);
    }
}

// How much wider than the screen the page is, in pixels.
function excess(page) {
    return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

// What axe finds in the present state of the page, light and dark, on a phone and on a desk; there
// the page is no wider than the screen. `name` is that of the steps.
exports.findingsOfModes = async ({page, step}, name) => {
    const found = [];
    for (const colorScheme of ['light', 'dark'])
        for (const width of [320, 1280]) {
            step(`${name} ${colorScheme} ${width}`);
            await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
            await page.setViewportSize({width, height: 800});
            const wider = await excess(page);
            assert.ok(wider <= 0, `${wider} pixels wider than the screen`);
            found.push(...await findings(page));
        }
    return found;
};

// The elements of the content whose text is cut off, at twice the size of the texts: at 1280 pixels
// the page has the room of 640.
async function cutTexts(page) {
    await page.setViewportSize({width: 640, height: 450});
    return page.evaluate(() => [...document.querySelectorAll('main *')]
        .filter((node) => node.childElementCount === 0 && node.textContent.trim() &&
            getComputedStyle(node).overflowX === 'hidden' &&
            !node.closest('.off-screen, .cut') && node.scrollWidth > node.clientWidth + 1)
        .map((node) => node.outerHTML.slice(0, 200)));
}

// Draws the page in a language, by its choice.
async function inLanguage({page, settled}, language) {
    if (await page.evaluate(() => document.documentElement.lang) === language)
        return;
    await page.setViewportSize({width: 1280, height: 800});
    await page.locator('.language select').selectOption(language);
    await page.waitForFunction((code) => document.documentElement.lang === code &&
        document.querySelector('main h1'), language);
    await settled(page);
}

// No page fails, loses its heading or is wider than the screen; axe finds nothing; at 200 % zoom
// no text is lost. A mode is such as en-light-1280. Only style sheets know width and colours, so a
// page is loaded once for all modes, and drawn again in another language. axe judges colours, names
// and structure, and the texts of all languages have the same places: so it looks at a page once,
// then at its colours in the other theme, and in every mode at the pages of FRAMES, whose frames
// are those of all pages. With TEST_FULL it looks at each page in every mode.
const FRAMES = ['login', 'overview'];
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

exports.accessible = async (test, ...modes) => {
    const {page, step} = test;
    const all = []; // of all pages, so that one run names everything
    await page.emulateMedia({reducedMotion: 'reduce'});
    await eachPage(test, async (_, name) => {
        await untilCount(page.locator('h1'), 1); // a page has one heading
        assert.ok(!await page.getByText('This page could not be opened').count());
        const isWhole = process.env.TEST_FULL || FRAMES.includes(name);
        const themes = new Set();
        for (const mode of modes) {
            step(`page ${name}, ${mode}`);
            const [language, colorScheme, width] = mode.split('-');
            await inLanguage(test, language);
            await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
            await page.setViewportSize({width: Number(width), height: 800});
            const wider = await excess(page);
            if (wider > 0)
                all.push(`${name}, ${mode}: ${wider} pixels wider than the screen`);
            const rules = isWhole || !themes.size ? undefined : OF_COLOURS;
            if (isWhole || !themes.has(colorScheme))
                all.push(...(await findings(page, rules))
                    .map((text) => `${name}, ${mode}: ${text}`));
            themes.add(colorScheme);
        }
        step(`page ${name}, zoomed`);
        await inLanguage(test, 'en');
        all.push(...(await cutTexts(page)).map((text) => `${name}: cut off at 200 %: ${text}`));
        const wider = await excess(page);
        if (wider > 0)
            all.push(`${name}: at 200 % ${wider} pixels wider than the screen`);
    });
    assert.equal(all.length, 0, all.join('\n'));
};

const ITEMS = ['thread', 'webhook', 'event']; // pages of one thing, which their title names

// Each page opens without an error of the API, and its heading has the focus.
exports.opens = async (test) => {
    await eachPage(test, async (page, name) => {
        assert.equal(await page.locator('main .notice.bad').count(), 0,
            await page.locator('main').innerText());
        await untilFocus(page, 'localName', name === 'login' ? 'input' : 'h1');
        await untilTitle(page, ITEMS.includes(name) ? /^[^·]+ · [^·]+ · Switchboard$/
            : /^[^·]+ · Switchboard$/);
    });
};

// The keyboard reaches the content past the navigation, and every control of a page shows where
// the focus is.
exports.keyboard = async ({page, logIn, open, settled, step}) => {
    await logIn();
    await open('/webhooks');
    await page.locator('tbody a').first().click();
    await page.locator('.card').first().waitFor();
    await settled(page);
    step('the link past the navigation');
    const skip = page.getByRole('link', {name: 'Skip to the content'});
    assert.ok((await skip.boundingBox()).y < 0, 'it is only visible with the focus');
    await skip.focus();
    await until(() => skip.boundingBox(), ({y}) => y >= 0, 'its place with the focus');
    await page.keyboard.press('Enter');
    await untilFocus(page, 'id', 'main');
    assert.match(page.url(), /#\/webhooks\/whk_/);
    step('every stop has a visible outline');
    const stops = new Set();
    for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab');
        const stop = await page.evaluate(() => {
            const node = document.activeElement;
            const {outlineStyle, outlineWidth} = getComputedStyle(node);
            return {html: node.outerHTML.slice(0, 120), outlineStyle, outlineWidth,
                isBody: node === document.body};
        });
        if (stop.isBody)
            break;
        assert.notEqual(stop.outlineStyle, 'none', stop.html);
        assert.notEqual(stop.outlineWidth, '0px', stop.html);
        stops.add(stop.html);
    }
    assert.ok(stops.size >= 5, `only ${stops.size} stops`);
};

// On a phone the navigation opens by its button, and closes when a page opens.
exports.phoneMenu = async ({page, logIn, settled, step}) => {
    await page.setViewportSize({width: 360, height: 700});
    await logIn();
    const menu = page.getByRole('button', {name: 'Menu'});
    step('open the menu by the keyboard');
    await menu.focus();
    await page.keyboard.press('Enter');
    await untilEqual(() => menu.getAttribute('aria-expanded'), 'true');
    await page.getByRole('link', {name: 'Webhooks'}).click();
    await settled(page);
    await untilEqual(() => menu.getAttribute('aria-expanded'), 'false');
    await page.getByRole('link', {name: 'Webhooks'}).waitFor({state: 'hidden'});
    await untilText(page.locator('h1'), 'Webhooks');
};

// What the page makes of the texts of a chat, as [text, markup].
const FORMATTED = [
    ['*bold* _it_ ~gone~', '<strong>bold</strong> <em>it</em> <s>gone</s>'],
    ['*_~all~_*', '<strong><em><s>all</s></em></strong>'],
    ['say *two words*, (_so_)!', 'say <strong>two words</strong>, (<em>so</em>)!'],
    ['snake_case_name 2*3*4 a*b* *c*d', 'snake_case_name 2*3*4 a*b* *c*d'],
    ['* a * ** *b *c _d', '* a * ** *b *c _d'],
    ['*one\ntwo*', '*one\ntwo*'],
    ['*नमस्ते* _é_', '<strong>नमस्ते</strong> <em>é</em>'],
    ['`*a* _b_` *`c`*', '<code>*a* _b_</code> <strong><code>c</code></strong>'],
    ['```\nif (a < b)\n  *c*\n``` end', '<code class="block">if (a &lt; b)\n  *c*</code> end'],
    ['<b>*x*</b> <img src=x onerror=alert(1)>',
        '&lt;b&gt;<strong>x</strong>&lt;/b&gt; &lt;img src=x onerror=alert(1)&gt;'],
    ['See https://a.example/x_y_z?q=1&r=2.', `See ${link('https://a.example/x_y_z?q=1&r=2')}.`],
    ['(http://a.example/b_(c)) *https://a.example/*', `(${link('http://a.example/b_(c)')}) ` +
        `<strong>${link('https://a.example/')}</strong>`],
    ['javascript:alert(1) data:text/html,x ftp://a.example https://',
        'javascript:alert(1) data:text/html,x ftp://a.example https://'],
    ['https://a.example/\u202Egpj.exe', `${link('https://a.example/')}\u202Egpj.exe`],
    ['HTTPS://A.example/" onclick="x',
        `${link('HTTPS://A.example/', 'https://a.example/')}" onclick="x`],
];

function link(text, href = text) {
    return `<a href="${href.replaceAll('&', '&amp;')}" target="_blank" ` +
        `rel="noopener noreferrer">${text.replaceAll('&', '&amp;')}</a>`;
}

exports.formatted = async ({page, open, step}) => {
    await open('/login');
    step('marks and addresses become nodes');
    const shown = await page.evaluate(async (texts) => {
        const {el} = await import('/dashboard/js/dom.js');
        const {formatted} = await import('/dashboard/js/inbox/formatted.js');
        return texts.map((text) => el('p', {}, formatted(text)).innerHTML);
    }, FORMATTED.map(([text]) => text));
    FORMATTED.forEach(([text, markup], i) => assert.equal(shown[i], markup, text));
    step('a text of 65,536 marks takes no longer than one of letters');
    const calls = await page.evaluate(async () => {
        const {formatted} = await import('/dashboard/js/inbox/formatted.js');
        return formatted('*a '.repeat(65536)).length;
    });
    assert.equal(calls, 1);
    step('texts are cut between the characters that a reader sees, initials are whole letters');
    const cut = await page.evaluate(async () => {
        const {initials, summary} = await import('/dashboard/js/inbox/describe.js');
        const body = `${'a'.repeat(199)}👩‍👩‍👧‍👦b`;
        return [summary({type: 'text', body: {type: 'text', text: {body}}}),
            ...['हिन्दी नाम', 'Éva Ödön', '🎉 party', '+1 555'].map((name) =>
                initials({id: 'x', name}))];
    });
    assert.deepEqual(cut, [`${'a'.repeat(199)}👩‍👩‍👧‍👦`, 'हन', 'ÉÖ', 'p', '1']);
};

// A browser that stores nothing more keeps a choice until the page is loaded again.
exports.fullStorage = async ({page, open, logIn, step}) => {
    await logIn();
    step('storage without room for one character');
    await page.evaluate(() => {
        for (let size = 1 << 20; size >= 1;) {
            try {
                localStorage.setItem(`filled${localStorage.length}`, 'x'.repeat(size));
            } catch {
                size >>= 1;
            }
        }
    });
    await open('/settings');
    const pictures = page.locator('input[name="pictures"]');
    await pictures.check();
    await open('/overview');
    await open('/settings');
    await untilEqual(() => pictures.isChecked(), true);
    step('the session goes on after a reload');
    await page.reload();
    await pictures.waitFor();
};

// How much an icon differs from icon.svg, 0 to 255: the mean of the colours in its middle, which is
// in every icon. A maskable one has it at 80 %.
async function differenceOf(src) {
    const size = 64;
    const pixels = async (name, scale) => {
        const node = new Image();
        node.src = name;
        await node.decode();
        const canvas = new OffscreenCanvas(size, size).getContext('2d', {willReadFrequently: true});
        const side = size * scale;
        canvas.drawImage(node, (size - side) / 2, (size - side) / 2, side, side);
        return canvas.getImageData(size / 4, size / 4, size / 2, size / 2).data;
    };
    const wanted = await pixels('icon.svg', src.includes('maskable') ? 0.8 : 1);
    const own = await pixels(src, 1);
    return own.reduce((sum, value, i) => sum + Math.abs(value - wanted[i]), 0) / own.length;
}

// What Chromium asks of a page that it installs (web.dev/articles/install-criteria): names, an
// address in the scope, a window of its own, and an icon of 144 pixels or more that is not only
// maskable.
function missingOf({name, short_name: short, start_url: start, scope, display, icons}) {
    return Object.entries({
        name: name && short, start: start.startsWith(scope),
        display: ['standalone', 'fullscreen', 'minimal-ui'].includes(display),
        icon: icons.some(({sizes, purpose = 'any'}) => purpose.includes('any') &&
            parseInt(sizes, 10) >= 144),
    }).filter(([, isThere]) => !isThere).map(([criterion]) => criterion);
}

// What the whole Chromium finds against an installation; the headless shell cannot say it. A
// profile without a disk, as every test has, cannot be installed to.
async function errorsOfInstallation(address) {
    const chromium = await launch('chromium');
    try {
        const page = await chromium.newPage();
        await page.goto(address);
        const devtools = await page.context().newCDPSession(page);
        const {installabilityErrors} = await devtools.send('Page.getInstallabilityErrors');
        return installabilityErrors.map(({errorId}) => errorId)
            .filter((id) => id !== 'in-incognito');
    } finally {
        await chromium.close();
    }
}

exports.installable = async ({page, context, logIn, BASE}) => {
    await logIn();
    const devtools = await context.newCDPSession(page);
    const {errors, data} = await devtools.send('Page.getAppManifest');
    assert.deepEqual(errors, []);
    const manifest = JSON.parse(data);
    assert.deepEqual(missingOf(manifest), []);
    for (const {src, sizes} of manifest.icons) {
        const image = await page.evaluate(async (path) => {
            const node = new Image();
            node.src = path;
            await node.decode();
            return node.naturalWidth;
        }, src);
        assert.ok(sizes === 'any' || sizes === `${image}x${image}`, `${src}: ${image} pixels`);
        assert.ok(await page.evaluate(differenceOf, src) < 3, `${src} is not of icon.svg`);
    }
    if (process.env.TEST_FULL)
        assert.deepEqual(await errorsOfInstallation(`${BASE}/dashboard/`), []);
};

// The event of a key as a keyboard with this layout makes it.
function press(page, init) {
    return page.evaluate((values) => document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', {bubbles: true, cancelable: true, ...values})), init);
}

// What writes / and ? on American, Spanish and Brazilian keyboards.
const SLASHES = [{key: '/', code: 'Slash'}, {key: '/', code: 'Digit7', shiftKey: true},
    {key: '/', code: 'IntlRo'}];
const QUESTIONS = [{key: '?', code: 'Slash', shiftKey: true},
    {key: '?', code: 'Minus', shiftKey: true}, {key: '?', code: 'IntlRo', shiftKey: true}];

exports.keys = async ({page, logIn, open, settled, step}) => {
    await logIn();
    const search = page.locator('main input[type="search"]');
    const dialog = page.getByRole('dialog');
    for (const [i, slash] of SLASHES.entries()) {
        step(`search and help, layout ${i}`);
        await open('/inbox');
        await search.waitFor();
        await press(page, slash);
        await untilFocus(page, 'type', 'search');
        await press(page, QUESTIONS[i]);
        assert.equal(await dialog.count(), 0, 'in a field it is a character');
        await page.locator('h1').focus();
        await press(page, QUESTIONS[i]);
        await dialog.getByText('Next conversation').waitFor();
        await page.keyboard.press('Escape');
        await dialog.waitFor({state: 'detached'});
    }
    step('conversations');
    await page.keyboard.press('Alt+ArrowDown');
    await page.locator('.composer').waitFor();
    await settled(page);
    const address = page.url();
    assert.match(address, /#\/inbox\/thr_/);
    await page.locator('.composer :is(textarea, button)').first().focus();
    await page.keyboard.press('Alt+ArrowUp');
    assert.equal(page.url(), address, 'there is none above');
    step('the palette: a page, a conversation, an action');
    await page.keyboard.press('Control+k');
    const input = dialog.getByRole('combobox');
    await input.fill('líne');
    await dialog.getByRole('option', {name: 'Lines'}).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', {name: 'Lines', exact: true}).waitFor();
    await settled(page);
    await page.keyboard.press('Control+k');
    await input.fill('15551234567');
    await page.keyboard.press('Enter'); // before the answer is there
    await page.locator('.composer').waitFor();
    assert.equal(page.url(), address);
    await settled(page);
    await page.keyboard.press('Control+k');
    await input.fill('shortc');
    await page.keyboard.press('Enter');
    await dialog.getByText('Next conversation').waitFor();
    assert.deepEqual(await findings(page), []);
    step('the keys of one character can be switched off');
    await dialog.getByRole('link', {name: 'Settings'}).click();
    await page.getByLabel(/Keys of one character/).uncheck();
    await open('/inbox');
    await search.waitFor();
    await page.locator('h1').focus();
    await press(page, SLASHES[0]);
    await press(page, QUESTIONS[0]);
    assert.ok(await page.locator('h1').evaluate((node) => node === document.activeElement));
    assert.equal(await dialog.count(), 0);
    await page.keyboard.press('Control+k');
    await input.waitFor();
    assert.deepEqual(await findings(page), []);
};

// The language is chosen by the user, kept over a reload, and is that of the document.
exports.language = async ({page, logIn, open, settled, step}) => {
    await logIn();
    await open('/webhooks');
    await page.getByLabel('Language').selectOption('pt');
    await page.getByRole('link', {name: 'Conversas'}).waitFor();
    await settled(page);
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'pt');
    step('reload');
    await page.reload();
    await settled(page);
    await untilCount(page.locator('nav').getByText('Formulários'), 1);
    assert.match(page.url(), /#\/webhooks$/, 'a reload shows the same page');
    step('times are those of the region that the browser names for the language');
    const clocks = [];
    for (const region of ['en-US', 'en-GB', 'es-MX']) {
        await page.addInitScript((tag) => {
            Object.defineProperty(navigator, 'languages',
                {get: () => ['de-DE', tag], configurable: true});
        }, region);
        await page.reload();
        await settled(page);
        clocks.push(await page.evaluate(async () => {
            const {clock, loadLanguage} = await import('/dashboard/js/i18n.js');
            await loadLanguage('en');
            return clock('2026-01-31T14:05:00.000Z');
        }));
    }
    assert.deepEqual(clocks, ['3:05 PM', '15:05', '3:05 PM']);
};


// A hidden tab sends nothing; one that is shown again asks at once.
exports.hidden = async ({page, logIn, open, step}, address) => {
    const ended = requestsEnd(page);
    let count = 0; // of the requests of the API
    page.on('request', (request) => { count += request.url().includes('/v2/') ? 1 : 0; });
    await page.clock.install();
    await page.addInitScript(() => {
        let isHidden = false;
        Object.defineProperty(document, 'hidden', {get: () => isHidden});
        window.hide = (value) => {
            isHidden = value;
            document.dispatchEvent(new Event('visibilitychange'));
        };
    });
    await logIn();
    await open(address);
    step('a visible page polls');
    count = 0;
    await page.clock.runFor(60000);
    await until(() => count, Boolean, 'the page does not poll at all');
    step('a hidden one does not');
    await page.evaluate(() => window.hide(true));
    await ended();
    count = 0;
    await page.clock.runFor(600000);
    await ended();
    assert.equal(count, 0);
    step('shown again');
    await page.evaluate(() => window.hide(false));
    await page.clock.runFor(1000);
    await until(() => count, Boolean, 'the page does not ask at once');
};

// dom.js: keyed lists keep focus, selection, scroll and what was typed; texts are never markup.
exports.dom = async ({page, open, step}) => {
    await open('/login');
    step('texts become text nodes');
    const shown = await page.evaluate(async () => {
        const {el} = await import('/dashboard/js/dom.js');
        const node = el('p', {title: '"><b>'}, '<img src=x onerror=alert(1)>', ['a', null, 0]);
        return {text: node.textContent, children: node.childElementCount, title: node.title};
    });
    assert.deepEqual(shown,
        {text: '<img src=x onerror=alert(1)>a0', children: 0, title: '"><b>'});
    step('a list keeps its nodes');
    const list = await page.evaluate(async () => {
        const {el, update} = await import('/dashboard/js/dom.js');
        const clicks = [];
        const box = el('ul', {});
        document.querySelector('main').append(box);
        const render = (item) => el('li', {}, el('input', {'aria-label': item.id}),
            el('button', {on: {click: () => clicks.push(item.text)}}, item.text));
        const show = (items) => update(box, items, ({id}) => id, render);
        show([{id: 'a', text: '1'}, {id: 'b', text: '2'}, {id: 'c', text: '3'}]);
        const [a, b] = box.children;
        const input = b.querySelector('input');
        input.value = 'half a sentence';
        input.focus();
        input.setSelectionRange(2, 5);
        show([{id: 'z', text: '0'}, {id: 'b', text: 'new'}, {id: 'a', text: '1'}]);
        b.querySelector('button').click();
        return {
            order: [...box.children].map((node) => node.textContent),
            sameNodes: box.children[1] === b && box.children[2] === a,
            hasFocus: document.activeElement === input, value: input.value,
            selection: [input.selectionStart, input.selectionEnd], clicks,
        };
    });
    assert.deepEqual(list, {
        order: ['0', 'new', '1'], sameNodes: true, hasFocus: true, value: 'half a sentence',
        selection: [2, 5], clicks: ['new'],
    });
};
