// The campaigns, as the owner of a shop uses them.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {findingsOfModes} = require('./frame.js');
const {sandbox} = require('./sandbox.js');
const {until, untilCount, untilText} = require('./until.js');

const {LINE, SANDBOX} = process.env;

const named = (page, name) => page.locator(`main [name="${name}"]`);
const csv = (text, encoding) => ({name: 'kunden.csv', mimeType: 'text/csv',
    buffer: Buffer.from(text, encoding)});

// As a German spreadsheet saves it: semicolons, CRLF, Windows-1252.
const TABLE = csv(['Telefon;Vorname;Gutschein', '+49 151 1234567;Jürgen <b>;A1', '12;Ann;A2',
    '4915112345678;Ben;', '4915112345679;Cem;"A;4"', ''].join('\r\n'), 'latin1');
const MORE = Array.from({length: 60}, (_, i) => `49151200000${i + 10}`);
const CORRECTED = csv(['Telefon,Vorname,Gutschein', '4915112345670,Ann,A2', '4915112345678,Ben,A3',
    ...MORE.map((to, i) => `${to},Dora,D${i}`), ''].join('\n'));
const PEOPLE = ['491511234567', '4915112345670', '4915112345678', '4915112345679', ...MORE];

const button = (page, name) => page.getByRole('button', {name, exact: true});

const LIMIT = /limits to how many people your business may write first within 24 hours/;

// A file without lines, and one that is gone when it is read: each is said at the field, and the
// button then adds nothing and shows no error of the program.
async function refusesBadFiles(page, step) {
    const error = page.locator('main .field.file .field-error');
    const asked = [];
    page.on('request', (request) => asked.push(request.method()));
    const isRefused = async (words) => {
        await untilText(error, words);
        await button(page, 'Add recipients').click();
        await untilText(error, words);
        await untilCount(page.locator('main .form-problem [role=alert]'), 0);
    };
    step('a table without lines');
    await named(page, 'table').setInputFiles(csv('Telefon,Vorname,Gutschein\n'));
    await isRefused(/no lines below the names/);
    step('a table that is gone');
    const gone = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'table-')), 'gone.csv');
    fs.writeFileSync(gone, 'Telefon,Vorname,Gutschein\n4915112345670,Ann,A2\n');
    await named(page, 'table').setInputFiles(gone);
    await until(() => named(page, 'to').inputValue(), (value) => value === 'Telefon', 'to');
    fs.rmSync(path.dirname(gone), {recursive: true});
    await named(page, 'table').dispatchEvent('change');
    await untilText(error, /The file cannot be read/);
    await untilCount(named(page, 'to').locator('option'), 0);
    assert.ok(!asked.includes('PUT'));
}

// The message goes to the owner's own number first.
async function tries(page) {
    const dialog = page.getByRole('dialog');
    await button(page, 'Send a test').click();
    await dialog.getByLabel('Recipient').fill('+49 151 9999-000');
    await dialog.getByRole('button', {name: 'Send test'}).click();
    await dialog.getByText('WhatsApp accepted the message').waitFor();
    await dialog.getByRole('button', {name: 'Close'}).click();
}

// A shop in Lisbon.
exports.walk = async ({page: first, open, logIn, newContext, api, step}) => {
    await logIn();
    const context = await newContext({timezoneId: 'Europe/Lisbon'});
    await context.addCookies(await first.context().cookies());
    const page = await context.newPage();
    await open('/campaigns', page);
    await page.getByText('No campaigns yet').waitFor();
    await page.getByRole('link', {name: 'New campaign'}).click();
    step('only approved templates are offered; the umlaut of the table stands in the message');
    await untilCount(named(page, 'template').locator('option'), 3);
    await named(page, 'name').fill('<i>Herbst</i>');
    await named(page, 'template').selectOption({label: 'offer · de'});
    await named(page, 'table').setInputFiles(TABLE);
    await named(page, 'to').waitFor();
    assert.equal(await named(page, 'to').inputValue(), 'Telefon');
    await named(page, 'body.1').selectOption('Vorname');
    await named(page, 'body.2').selectOption('Gutschein');
    await untilText(page.locator('.template-preview').first(),
        /Hallo Jürgen <b>, Ihr Code ist A1, viel Spaß\./);
    step('what a line lacks is named in the message and below it');
    await untilText(page.locator('main .side-by-side > *').nth(2),
        /Ihr Code ist \[Gutschein: missing\], viel Spaß\.[^]*This line is left out/);
    step('a column without phone numbers is refused');
    await named(page, 'to').selectOption('Vorname');
    await button(page, 'Make the campaign').click();
    await page.getByText('The column “Vorname” has no phone numbers').waitFor();
    await named(page, 'to').selectOption('Telefon');
    step('the bad number and the missing variable have their lines');
    await button(page, 'Make the campaign').click();
    await page.getByRole('heading', {name: '<i>Herbst</i>', exact: true}).waitFor();
    const main = page.locator('main');
    await untilText(main, /2 recipients were added\./);
    await untilText(main, /Line 3: this is no phone number with its country code\./);
    await untilText(main, /Line 4: “Gutschein” is empty, and the message needs it\./);
    await untilText(main, /Line\s+Front desk · \+/);
    await refusesBadFiles(page, step);
    step('the corrected table is added');
    await named(page, 'table').setInputFiles(CORRECTED);
    await until(() => named(page, 'to').inputValue(), (value) => value === 'Telefon', 'to');
    await button(page, 'Add recipients').click();
    await untilText(main, /62 recipients were added\.[^]*Recipients\s+64/);
    step('the message is tested');
    await tries(page);
    step('it is scheduled for tomorrow at nine, in the time zone of the browser');
    const tomorrow = await page.evaluate(() => {
        const time = new Date(Date.now() + 86400000);
        time.setHours(9, 0, 0, 0);
        return {iso: time.toISOString(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            local: new Date(time - time.getTimezoneOffset() * 60000).toISOString().slice(0, 16)};
    });
    const dialog = page.getByRole('dialog');
    await button(page, 'Start now').click();
    await dialog.getByText(LIMIT).waitFor();
    await dialog.getByRole('button', {name: 'Cancel', exact: true}).click();
    await button(page, 'Schedule').click();
    await dialog.getByText(LIMIT).waitFor();
    assert.equal(tomorrow.zone, 'Europe/Lisbon');
    await dialog.getByText(tomorrow.zone).waitFor();
    await dialog.locator('[name=sendAt]').fill('2020-01-01T09:00');
    await dialog.getByRole('button', {name: 'Schedule'}).click();
    await dialog.getByText('still to come').waitFor();
    await dialog.locator('[name=sendAt]').fill(tomorrow.local);
    await dialog.getByRole('button', {name: 'Schedule'}).click();
    await untilText(main, /Scheduled[^]*, 9:00:00 AM \(Europe\/Lisbon\)/);
    await untilCount(named(page, 'table'), 0);
    const id = new URL(page.url()).hash.split('/').at(-1);
    const read = async () => JSON.parse((await api(page, 'GET', `/v2/campaigns/${id}`)).text).data;
    assert.equal((await read()).sendAt, tomorrow.iso);
};

// How many messages the platform has accepted for a person.
async function acceptedFor(phone) {
    const {entries} = await sandbox('GET', `chat?phoneNumberId=${LINE}&phone=${phone}`);
    return entries.filter(({kind}) => kind === 'sent').length;
}

// The platform has paused the template after some of the messages.
exports.paused = async (test) => {
    const {page, open, logIn, step, api} = test;
    await logIn();
    await open('/campaigns');
    await page.getByRole('link', {name: '<i>Herbst</i>'}).click();
    const main = page.locator('main');
    step('the page says by itself that the platform has paused the template');
    await untilText(main, /The platform paused this template[^]*Look at the template before you/);
    await untilText(main, /who has no message yet gets it after you resume/);
    await until(() => main.innerText(), (text) => {
        const [, waiting, accepted, delivered] =
            text.match(/Waiting\s+(\d+)\s+Accepted\s+(\d+)\s+Delivered\s+(\d+)/) ?? [];
        return waiting > 0 && delivered >= 3 && Number(waiting) + Number(accepted) === 64;
    }, 'some delivered, and the rest waiting');
    const id = new URL(page.url()).hash.split('/').at(-1);
    const {text} = await api(page, 'GET', `/v2/campaigns/${id}`);
    assert.equal(JSON.parse(text).data.counts.failed, 0);
    const found = await findingsOfModes(test, 'campaign');
    await open('/campaigns/-/new');
    await page.getByText('WhatsApp limits campaigns').waitFor();
    found.push(...await findingsOfModes(test, 'new campaign'));
    assert.deepEqual(found, []);
    await page.goBack();
    step('resumed, it reaches each recipient once');
    await sandbox('POST', 'settings', {templateMessages: 0});
    await sandbox('POST', 'templates/1', {status: 'APPROVED'});
    await button(page, 'Resume').click();
    await untilText(main, /Finished/);
    await untilText(main, /Waiting\s+0\s+Accepted\s+64/);
    await untilCount(button(page, 'Cancel the campaign'), 0);
    for (const person of PEOPLE)
        assert.equal(await acceptedFor(person), 1, person);
};

exports.cancelled = async ({page, open, logIn, step}) => {
    await logIn();
    await open('/campaigns');
    await page.getByRole('link', {name: 'Winter'}).click();
    step('it is asked first');
    await button(page, 'Cancel the campaign').click();
    await page.getByRole('dialog').getByRole('button', {name: 'Cancel', exact: true}).click();
    await button(page, 'Pause').click();
    await button(page, 'Cancel the campaign').click();
    await page.getByRole('dialog').getByRole('button', {name: 'Cancel the campaign'}).click();
    await untilText(page.locator('main'), /State\s+Cancelled/);
    await untilCount(button(page, 'Resume'), 0);
};

// A test goes to one person, or the reason is shown; the outcomes are a file.
exports.tested = async ({page, open, logIn, step}, id) => {
    const main = page.locator('main'), dialog = page.getByRole('dialog');
    const faults = (method, body) => fetch(`${SANDBOX}/_sandbox/faults`, {method, body});
    await logIn();
    await open(`/campaigns/${id}`);
    step('a draft without recipients asks for what its message names');
    await button(page, 'Send a test').click();
    await dialog.getByLabel('Recipient').fill('Ann');
    await dialog.getByLabel('Vorname').fill('Ann');
    await dialog.getByLabel('Gutschein').fill('7');
    await dialog.getByRole('button', {name: 'Send test'}).click();
    await dialog.getByText('neither a phone number').waitFor();
    step('the refusal of the platform is shown, and what was typed stays');
    await dialog.getByLabel('Recipient').fill('+49 151 1234-5678');
    await faults('POST', '{"match":{"path":"/messages"},"code":132015,"times":1}');
    await dialog.getByRole('button', {name: 'Send test'}).click();
    await untilText(dialog.getByRole('alert'), /132015/);
    step('sent again, it is accepted');
    await dialog.getByRole('button', {name: 'Send test'}).click();
    await dialog.getByText('WhatsApp accepted the message').waitFor();
    await dialog.getByRole('button', {name: 'Close'}).click();
    step('with recipients the first one gives the values');
    await named(page, 'table').setInputFiles(csv('to,Vorname,Gutschein\n4915112345670,Eva,A2\n'));
    await until(() => named(page, 'to').inputValue(), (value) => value === 'to', 'to');
    await button(page, 'Add recipients').click();
    await untilText(main, /Recipients\s+1/);
    await button(page, 'Send a test').click();
    await dialog.getByLabel('Recipient').waitFor();
    await untilCount(dialog.locator('input'), 1);
    await dialog.getByRole('button', {name: 'Close'}).click();
    step('the outcomes');
    const [file] = await Promise.all([page.waitForEvent('download'),
        button(page, 'Save the outcomes').click()]);
    assert.equal(file.suggestedFilename(), 'recipients-Probe_x.csv');
    assert.match(fs.readFileSync(await file.path(), 'utf8'),
        /^to,state,reason,[^\r]*\r\n4915112345670,waiting,/);
};

const REASONS = {
    unclear: [/answers of the platform were lost/, /are not sent again/],
    100: [/a value that is not valid/, /Save the outcomes/],
    132000: [/another number of values/, /Save the outcomes/],
    132012: [/another form than the template/, /Save the outcomes/],
    132018: [/line breaks/, /Save the outcomes/],
};

// Why it was paused, and what to do; what is not sent again is not said to be safe.
exports.reason = async ({page, open, logIn}, id, reason) => {
    const notice = page.locator('main .notice.warn');
    await logIn();
    await open(`/campaigns/${id}`);
    for (const words of REASONS[reason])
        await untilText(notice, words);
    assert.equal(await page.getByText('Nothing is lost').count(), 0);
};

// The hours of the day: what is wrong is said at the field, and what is right is kept.
exports.window = async ({page, open, logIn, step, api}) => {
    const isWrong = (name, words) => untilText(page.locator('main .field',
        {has: page.locator(`[name="window.${name}"]`)}).locator('.field-error'), words);
    const make = () => button(page, 'Make the campaign').click();
    const hours = async (from, to) => {
        await named(page, 'window.from').fill(from);
        await named(page, 'window.to').fill(to);
    };
    await logIn();
    await open('/campaigns/-/new');
    await named(page, 'name').fill('Night');
    await named(page, 'template').selectOption({label: 'plain · de'});
    await named(page, 'table').setInputFiles(csv('to\n4915112349001\n'));
    await until(() => named(page, 'to').inputValue(), (value) => value === 'to', 'to');
    step('one time alone, or the same twice, is no window');
    for (const [from, to, field] of [['20:30', '', 'to'], ['', '06:15', 'from'],
        ['20:30', '20:30', 'to']]) {
        await hours(from, to);
        await make();
        await isWrong(field, /Give both times, which must differ\./);
    }
    step('a time zone that the server does not know');
    await hours('20:30', '06:15');
    await isWrong('to', /^Give/);
    await named(page, 'window.timeZone').evaluate((select) => {
        select.options[0].value = 'Europe/Atlantis';
        select.selectedIndex = 0;
    });
    await make();
    await isWrong('timeZone', /must be the name of a time zone/);
    await isWrong('to', /^$/);
    step('the right ones are kept');
    await named(page, 'window.timeZone').selectOption('Europe/Lisbon');
    await make();
    const shown = /Sends\s+20:30 – 06:15 \(Europe\/Lisbon\)/;
    await untilText(page.locator('main'), shown);
    await page.reload();
    await untilText(page.locator('main'), shown);
    const id = new URL(page.url()).hash.split('/').at(-1);
    const {text} = await api(page, 'GET', `/v2/campaigns/${id}`);
    assert.deepEqual(JSON.parse(text).data.window,
        {from: '20:30', to: '06:15', timeZone: 'Europe/Lisbon'});
};

// What may keep the campaign from reaching all is shown where it is started.
exports.warned = async ({page, open, logIn}, id) => {
    const dialog = page.getByRole('dialog'), shown = page.locator('main .notice.warn');
    await logIn();
    await open(`/campaigns/${id}`);
    await button(page, 'Start now').click();
    await dialog.getByRole('button', {name: 'Start now'}).click();
    await untilText(shown, /first to 2 people within 24 hours/);
    await untilText(shown, /quality of this line is low/);
    await button(page, 'Pause').click();
    await untilCount(shown, 0);
    await button(page, 'Resume').click();
    await untilText(shown, /first to 2 people within 24 hours[^]*quality of this line is low/);
};

// The reasons of those who failed, with their numbers.
exports.failures = async ({page, open, logIn}, id) => {
    await logIn();
    await open(`/campaigns/${id}`);
    const main = page.locator('main');
    await untilText(main, /Why they failed\s*Cannot get the message[^\n]*\(131026\)\s*2\s/);
    await untilText(main, /Error 99 of WhatsApp\s*1\s/);
};
