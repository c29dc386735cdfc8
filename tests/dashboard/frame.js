// What holds for every page, and the parts that all pages are made of.
const assert = require('node:assert/strict');
const {createRequire} = require('node:module');
const fs = require('node:fs');
const {PAGES} = require('./pages.js');

const axeFile = createRequire(`${process.env.NODE_MODULES}/`).resolve('axe-core/axe.min.js');
const axe = fs.readFileSync(axeFile, 'utf8');

// The findings of axe in the present page. It is injected through the debugger, which the content
// security policy does not stop.
async function findings(page) {
    if (!await page.evaluate(() => 'axe' in window))
        await page.evaluate(axe);
    const {violations} = await page.evaluate(() => window.axe.run(document, {
        resultTypes: ['violations'],
    }));
    return violations.map(({id, help, nodes}) =>
        `${id}: ${help}\n${nodes.map(({html, failureSummary}) =>
            `    ${html}\n    ${failureSummary}`).join('\n')}`);
}

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

// No page fails, loses its heading or is wider than the screen; axe finds nothing; at 200 % zoom
// no text is lost. A mode is such as light-1280. Only style sheets know the width and the colours,
// so a page is loaded once for all modes.
exports.accessible = async (test, ...modes) => {
    const {page, step} = test;
    const all = []; // of all pages, so that one run names everything
    await page.emulateMedia({reducedMotion: 'reduce'});
    await eachPage(test, async (_, name) => {
        assert.equal(await page.locator('h1').count(), 1, 'a page has one heading');
        assert.ok(!await page.getByText('This page could not be opened').count());
        for (const mode of modes) {
            step(`page ${name}, ${mode}`);
            const [colorScheme, width] = mode.split('-');
            await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
            await page.setViewportSize({width: Number(width), height: 800});
            const wider = await excess(page);
            if (wider > 0)
                all.push(`${name}, ${mode}: ${wider} pixels wider than the screen`);
            all.push(...(await findings(page)).map((text) => `${name}, ${mode}: ${text}`));
        }
        step(`page ${name}, zoomed`);
        all.push(...(await cutTexts(page)).map((text) => `${name}: cut off at 200 %: ${text}`));
        const wider = await excess(page);
        if (wider > 0)
            all.push(`${name}: at 200 % ${wider} pixels wider than the screen`);
    });
    assert.equal(all.length, 0, all.join('\n'));
};

// Each page opens without an error of the API, and its heading has the focus.
exports.opens = async (test) => {
    await eachPage(test, async (page, name) => {
        assert.equal(await page.locator('main .notice.bad').count(), 0,
            await page.locator('main').innerText());
        if (name !== 'login') {
            assert.equal(await page.evaluate(() => document.activeElement.localName), 'h1',
                'the heading has the focus');
        }
        assert.match(await page.title(), /\S · Switchboard$/);
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
    assert.ok((await skip.boundingBox()).y >= 0);
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
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
    assert.equal(await menu.getAttribute('aria-expanded'), 'true');
    await page.getByRole('link', {name: 'Webhooks'}).click();
    await settled(page);
    assert.equal(await menu.getAttribute('aria-expanded'), 'false');
    assert.equal(await page.getByRole('link', {name: 'Webhooks'}).isVisible(), false);
    assert.equal(await page.locator('h1').innerText(), 'Webhooks');
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
    assert.equal(await page.locator('nav').getByText('Formulários').count(), 1);
    assert.match(page.url(), /#\/webhooks$/, 'a reload shows the same page');
};

// Counts the requests of a function's duration.
async function requestsDuring(page, work) {
    let count = 0;
    const listener = (request) => {
        count += request.url().includes('/v2/') ? 1 : 0;
    };
    page.on('request', listener);
    await work();
    page.off('request', listener);
    return count;
}

// Returns a function that waits until the requests which are under way, and those that follow on
// their answers, have ended.
function requestsEnd(page) {
    const pending = new Set();
    page.on('request', (request) => pending.add(request));
    for (const end of ['requestfinished', 'requestfailed'])
        page.on(end, (request) => pending.delete(request));
    return async () => {
        for (let quiet = 0; quiet < 2; quiet = pending.size ? 0 : quiet + 1)
            await new Promise((resolve) => setTimeout(resolve, 200));
    };
}

// A hidden tab sends nothing; one that is shown again asks at once.
exports.hidden = async ({page, logIn, open, step}, address) => {
    const ended = requestsEnd(page);
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
    const seen = await requestsDuring(page, () => page.clock.runFor(60000));
    assert.ok(seen >= 1, 'the page does not poll at all');
    step('a hidden one does not');
    await page.evaluate(() => window.hide(true));
    await ended();
    assert.equal(await requestsDuring(page, () => page.clock.runFor(600000)), 0);
    step('shown again');
    assert.ok(await requestsDuring(page, async () => {
        await page.evaluate(() => window.hide(false));
        await page.clock.runFor(1000);
    }) >= 1);
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
