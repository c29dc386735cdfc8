// The life of a form: made, given its Flow JSON, published, copied, withdrawn, deleted.
const assert = require('node:assert/strict');
const {findingsOfModes} = require('./frame.js');
const {untilCount, untilEqual, untilText} = require('./until.js');

const {SANDBOX} = process.env;

// Its bytes change when it is parsed and printed.
const GOOD = '{ "version": "7.0",\n  "screens": [ {"id":"A","layout":{}} ], "more": 1.50 }';
const BAD = '{ "version": "7.0",\n  "screens": [\n    {"id":"A"} ] }';

const named = (page, name) => page.locator(`main [name="${name}"]`);
const badge = (page) => page.locator('main .facts .badge');

function press(page, name) {
    return page.getByRole('button', {name, exact: true}).click();
}

async function confirm(page, name) {
    await press(page, name);
    await page.getByRole('dialog').getByRole('button', {name, exact: true}).click();
}

// The bodies that the page sends.
function sentBy(page) {
    const sent = [];
    page.on('request', (request) => {
        if (request.method() !== 'GET' && request.url().includes('/v2/forms'))
            sent.push({method: request.method(), body: request.postData(),
                path: new URL(request.url()).pathname});
    });
    return sent;
}

async function make(page, open, name) {
    await open('/forms');
    await page.getByRole('link', {name: 'New form'}).click();
    await named(page, 'name').fill(name);
    await named(page, 'categories').selectOption('SURVEY');
    await press(page, 'Make a draft');
    await page.getByRole('heading', {name, exact: true}).waitFor();
    await untilText(badge(page), 'Draft');
}

exports.life = async ({page, open, logIn, step}) => {
    await logIn();
    const sent = sentBy(page);
    await make(page, open, 'Opinion');
    assert.equal(sent.at(-1).body, '{"name":"Opinion","categories":["SURVEY"]}');
    step('an error has its line, which a press selects; it cannot be published');
    await named(page, 'json').fill(BAD);
    await press(page, 'Save and check');
    await page.getByText("the property 'layout' is required").waitFor();
    await untilCount(page.getByRole('button', {name: 'Publish', exact: true}), 0);
    await press(page, 'line 3, column 5');
    assert.equal(await named(page, 'json').evaluate((node) =>
        node.value.slice(node.selectionStart, node.selectionEnd)), '    {"id":"A"} ] }');
    step('what is no JSON is refused with its place, and kept over a reload');
    await named(page, 'json').fill('{"version": oops');
    await press(page, 'Save and check');
    await page.locator('.form-problem .notice').waitFor();
    await page.reload();
    await untilEqual(() => named(page, 'json').inputValue(), '{"version": oops');
    step('a file is sent byte for byte');
    await named(page, 'file').setInputFiles({name: 'flow.json', mimeType: 'application/json',
        buffer: Buffer.from(GOOD)});
    await untilEqual(() => named(page, 'json').inputValue(), GOOD);
    await press(page, 'Save and check');
    await untilCount(page.getByText('Validation errors'), 0);
    assert.deepEqual([sent.at(-1).method, sent.at(-1).body], ['PUT', GOOD]);
    const last = await fetch(`${SANDBOX}/_sandbox/requests/last?method=POST`);
    assert.ok((await last.json()).body.includes(`\r\n\r\n${GOOD}\r\n`), 'other bytes arrived');
    step('the preview is a link to the platform');
    assert.match(await page.getByRole('link', {name: 'Open the preview at WhatsApp'})
        .getAttribute('href'), /^https:\/\/business\.facebook\.com\//);
    step('it is published, copied and withdrawn');
    await confirm(page, 'Publish');
    await untilText(badge(page), 'Published');
    await untilCount(named(page, 'json'), 0);
    await page.getByRole('link', {name: 'Copy to a draft'}).click();
    await untilEqual(() => named(page, 'name').inputValue(), 'Opinion (copy)');
    await press(page, 'Make a draft');
    await page.getByRole('heading', {name: 'Opinion (copy)', exact: true}).waitFor();
    await untilText(badge(page), 'Draft');
    assert.equal(JSON.parse(sent.at(-1).body).clone_flow_id.length > 0, true);
    step('a draft is deleted, cancelled first');
    await press(page, 'Delete');
    await page.keyboard.press('Escape');
    await confirm(page, 'Delete');
    await page.getByRole('heading', {name: 'Forms', exact: true}).waitFor();
    await untilCount(page.getByRole('link', {name: 'Opinion (copy)'}), 0);
    await page.getByRole('link', {name: 'Opinion', exact: true}).click();
    await confirm(page, 'Withdraw');
    await untilText(badge(page), 'Deprecated');
};

exports.refused = async ({page, open, logIn, step}) => {
    await logIn();
    await make(page, open, 'Taken');
    step('the platform refuses a name that is taken, with its words');
    await open('/forms/-/new');
    await named(page, 'name').fill('Taken');
    await press(page, 'Make a draft');
    await page.locator('.form-problem').getByText('has this name').waitFor();
    assert.equal(await named(page, 'name').inputValue(), 'Taken');
};

exports.accessible = async (test) => {
    const {page, open, logIn} = test;
    await logIn();
    await page.emulateMedia({reducedMotion: 'reduce'});
    const found = [];
    await make(page, open, 'Accessible');
    await named(page, 'json').fill(BAD);
    await press(page, 'Save and check');
    await page.getByText("the property 'layout' is required").waitFor();
    const one = new URL(page.url()).hash.slice(1);
    for (const address of [one, '/forms/-/new']) {
        if (address !== one)
            await open(address);
        found.push(...await findingsOfModes(test, address));
    }
    assert.deepEqual(found, []);
};
