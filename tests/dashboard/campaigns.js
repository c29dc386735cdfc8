// The campaigns, as the owner of a shop uses them.
const assert = require('node:assert/strict');
const {findingsOfModes} = require('./frame.js');
const {until, untilCount, untilText} = require('./until.js');

const {SANDBOX} = process.env;

const named = (page, name) => page.locator(`main [name="${name}"]`);
const csv = (text, encoding) => ({name: 'kunden.csv', mimeType: 'text/csv',
    buffer: Buffer.from(text, encoding)});

// As a German spreadsheet saves it: semicolons, CRLF, Windows-1252.
const TABLE = csv(['Telefon;Vorname;Gutschein', '+49 151 1234567;Jürgen <b>;A1', '12;Ann;A2',
    '4915112345678;Ben;', '4915112345679;Cem;"A;4"', ''].join('\r\n'), 'latin1');
const CORRECTED = csv('Telefon,Vorname,Gutschein\n4915112345670,Ann,A2\n4915112345678,Ben,A3\n');

const button = (page, name) => page.getByRole('button', {name, exact: true});

exports.walk = async (test) => {
    const {page, open, logIn, api, step} = test;
    await logIn();
    await open('/campaigns');
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
    step('the corrected table is added');
    await named(page, 'table').setInputFiles(CORRECTED);
    await until(() => named(page, 'to').inputValue(), (value) => value === 'Telefon', 'to');
    await button(page, 'Add recipients').click();
    await untilText(main, /2 recipients were added\.[^]*Recipients\s+4/);
    step('it is scheduled for tomorrow at nine, in the time zone of the browser');
    const tomorrow = await page.evaluate(() => {
        const time = new Date(Date.now() + 86400000);
        time.setHours(9, 0, 0, 0);
        return {iso: time.toISOString(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            local: new Date(time - time.getTimezoneOffset() * 60000).toISOString().slice(0, 16)};
    });
    await button(page, 'Schedule').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(tomorrow.zone).waitFor();
    await dialog.locator('[name=sendAt]').fill('2020-01-01T09:00');
    await dialog.getByRole('button', {name: 'Schedule'}).click();
    await dialog.getByText('still to come').waitFor();
    await dialog.locator('[name=sendAt]').fill(tomorrow.local);
    await dialog.getByRole('button', {name: 'Schedule'}).click();
    await untilText(main, /Scheduled/);
    await untilCount(named(page, 'table'), 0);
    const id = new URL(page.url()).hash.split('/').at(-1);
    const read = async () => JSON.parse((await api(page, 'GET', `/v2/campaigns/${id}`)).text).data;
    assert.equal((await read()).sendAt, tomorrow.iso);
};

exports.paused = async (test) => {
    const {page, open, logIn, step} = test;
    await logIn();
    await open('/campaigns');
    await page.getByRole('link', {name: '<i>Herbst</i>'}).click();
    const main = page.locator('main');
    step('the page says by itself that the platform has paused the template');
    await untilText(main, /The platform paused this template/);
    await untilText(main, /Waiting\s+4/);
    const found = await findingsOfModes(test, 'campaign');
    await open('/campaigns/-/new');
    await page.getByText('WhatsApp limits campaigns').waitFor();
    found.push(...await findingsOfModes(test, 'new campaign'));
    assert.deepEqual(found, []);
    await page.goBack();
    step('resumed, it reaches each recipient once');
    await fetch(`${SANDBOX}/_sandbox/faults`, {method: 'DELETE'});
    await button(page, 'Resume').click();
    await untilText(main, /Finished/);
    await untilText(main, /Accepted\s+4/);
    await untilCount(button(page, 'Cancel the campaign'), 0);
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
