// The editor of templates, and what is done with a template.
const assert = require('node:assert/strict');
const {findingsOfModes} = require('./frame.js');
const {until, untilCount, untilEqual, untilText} = require('./until.js');

const {SANDBOX} = process.env;

// What is chosen as the sample of a header. The picture is a file of the test.
const FILES = {
    jpeg: null,
    pdf: {name: 'order.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4\n%%EOF\n')},
    mp4: {name: 'made.mp4', mimeType: 'video/mp4',
        buffer: Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1')},
};

// The kinds of the platform's documentation: what is typed, by the names of fields, and the JSON
// that must be sent for it, byte for byte, behind name and language.
const KINDS = {
    text: [{body: 'The shop is closed on Monday.'},
        '"category":"UTILITY","components":[{"type":"BODY","text":"The shop is closed on Monday."}]'],
    positional: [{category: 'MARKETING', body: 'Shop now through {{1}} and use code {{2}} to get {{3}} off of all our goods today.',
        'body.1': 'the end of August', 'body.2': '25OFF', 'body.3': '25%'},
    '"category":"MARKETING","components":[{"type":"BODY","text":"Shop now through {{1}} and use code {{2}} to get {{3}} off of all our goods today.","example":{"body_text":[["the end of August","25OFF","25%"]]}}]'],
    named: [{body: 'Your order {{order_id}} is on its way.', 'body.order_id': 'SKBUP2'},
        '"category":"UTILITY","parameter_format":"NAMED","components":[{"type":"BODY","text":"Your order {{order_id}} is on its way.","example":{"body_text_named_params":[{"param_name":"order_id","example":"SKBUP2"}]}}]'],
    header: [{category: 'MARKETING', headerKind: 'TEXT', header: 'Our {{1}} is on!', 'header.1': 'Summer Sale',
        body: 'Come and see.', footer: 'Use the buttons below to manage your subscriptions'},
    '"category":"MARKETING","components":[{"type":"HEADER","format":"TEXT","text":"Our {{1}} is on!","example":{"header_text":["Summer Sale"]}},{"type":"BODY","text":"Come and see."},{"type":"FOOTER","text":"Use the buttons below to manage your subscriptions"}]'],
    namedHeader: [{headerKind: 'TEXT', header: 'Table for {{guests}} people', 'header.guests': '4', body: 'See you {{day}} then.', 'body.day': 'Friday'},
        '"category":"UTILITY","parameter_format":"NAMED","components":[{"type":"HEADER","format":"TEXT","text":"Table for {{guests}} people","example":{"header_text_named_params":[{"param_name":"guests","example":"4"}]}},{"type":"BODY","text":"See you {{day}} then.","example":{"body_text_named_params":[{"param_name":"day","example":"Friday"}]}}]'],
    image: [{headerKind: 'IMAGE', file: FILES.jpeg, body: 'Here it is.'},
        '"category":"UTILITY","components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["HANDLE"]}},{"type":"BODY","text":"Here it is."}]'],
    location: [{headerKind: 'LOCATION', body: 'Your driver is near.'},
        '"category":"UTILITY","components":[{"type":"HEADER","format":"LOCATION"},{"type":"BODY","text":"Your driver is near."}]'],
    replies: [{category: 'MARKETING', body: 'Do you want more?', buttons: ['QUICK_REPLY', 'QUICK_REPLY'],
        'button.0.text': 'Unsubscribe from promos', 'button.1.text': 'Unsubscribe from all'},
    '"category":"MARKETING","components":[{"type":"BODY","text":"Do you want more?"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Unsubscribe from promos"},{"type":"QUICK_REPLY","text":"Unsubscribe from all"}]}]'],
    contact: [{body: 'Talk to us.', buttons: ['PHONE_NUMBER', 'URL'], 'button.0.text': 'Call',
        'button.0.phone': '15550051310', 'button.1.text': 'Contact support', 'button.1.url': 'https://www.example.com/support'},
    '"category":"UTILITY","components":[{"type":"BODY","text":"Talk to us."},{"type":"BUTTONS","buttons":[{"type":"PHONE_NUMBER","text":"Call","phone_number":"15550051310"},{"type":"URL","text":"Contact support","url":"https://www.example.com/support"}]}]'],
    urlVariable: [{category: 'MARKETING', body: 'A link for you.', buttons: ['URL'], 'button.0.text': 'Shop Now',
        'button.0.url': 'https://www.example.com/shop?promo={{1}}', 'button.0.sample': 'summer2023'},
    '"category":"MARKETING","components":[{"type":"BODY","text":"A link for you."},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Shop Now","url":"https://www.example.com/shop?promo={{1}}","example":["summer2023"]}]}]'],
    coupon: [{category: 'MARKETING', body: 'A coupon for you.', buttons: ['QUICK_REPLY', 'COPY_CODE'],
        'button.0.text': 'Not interested', 'button.1.sample': '250FF'},
    '"category":"MARKETING","components":[{"type":"BODY","text":"A coupon for you."},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Not interested"},{"type":"COPY_CODE","example":"250FF"}]}]'],
    code: [{category: 'AUTHENTICATION', minutes: '10', codeButton: 'Copy Code'},
        '"category":"AUTHENTICATION","components":[{"type":"BODY","add_security_recommendation":true},{"type":"FOOTER","code_expiration_minutes":10},{"type":"BUTTONS","buttons":[{"type":"OTP","otp_type":"COPY_CODE","text":"Copy Code"}]}]'],
    plainCode: [{category: 'AUTHENTICATION', warns: false},
        '"category":"AUTHENTICATION","components":[{"type":"BODY","add_security_recommendation":false},{"type":"BUTTONS","buttons":[{"type":"OTP","otp_type":"COPY_CODE"}]}]'],
    promotion: [{category: 'MARKETING', headerKind: 'TEXT', header: 'Our {{1}} is on!', 'header.1': 'Summer Sale',
        body: 'Shop now through {{1}} and get {{2}} off of all our goods today.', 'body.1': 'the end of August', 'body.2': '25%', footer: 'Use the buttons below',
        buttons: ['QUICK_REPLY', 'QUICK_REPLY'], 'button.0.text': 'More', 'button.1.text': 'Stop'},
    '"category":"MARKETING","components":[{"type":"HEADER","format":"TEXT","text":"Our {{1}} is on!","example":{"header_text":["Summer Sale"]}},{"type":"BODY","text":"Shop now through {{1}} and get {{2}} off of all our goods today.","example":{"body_text":[["the end of August","25%"]]}},{"type":"FOOTER","text":"Use the buttons below"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"More"},{"type":"QUICK_REPLY","text":"Stop"}]}]'],
    document: [{headerKind: 'DOCUMENT', file: FILES.pdf, body: 'Thank you for your order, {{1}}! Your confirmation number is {{2}}. Use the buttons below if you have a question.', 'body.1': 'Pablo',
        'body.2': '860198-230332', buttons: ['PHONE_NUMBER', 'URL'], 'button.0.text': 'Call', 'button.0.phone': '15550051310',
        'button.1.text': 'Contact support', 'button.1.url': 'https://www.example.com/support'},
    '"category":"UTILITY","components":[{"type":"HEADER","format":"DOCUMENT","example":{"header_handle":["HANDLE"]}},{"type":"BODY","text":"Thank you for your order, {{1}}! Your confirmation number is {{2}}. Use the buttons below if you have a question.","example":{"body_text":[["Pablo","860198-230332"]]}},{"type":"BUTTONS","buttons":[{"type":"PHONE_NUMBER","text":"Call","phone_number":"15550051310"},{"type":"URL","text":"Contact support","url":"https://www.example.com/support"}]}]'],
    video: [{category: 'MARKETING', headerKind: 'VIDEO', file: FILES.mp4, body: 'See how it is made.', footer: 'No sound'},
        '"category":"MARKETING","components":[{"type":"HEADER","format":"VIDEO","example":{"header_handle":["HANDLE"]}},{"type":"BODY","text":"See how it is made."},{"type":"FOOTER","text":"No sound"}]'],
    links: [{body: 'Two pages for you.', buttons: ['URL', 'URL'], 'button.0.text': 'Track', 'button.0.url': 'https://www.example.com/track/{{1}}',
        'button.0.sample': 'SKBUP2', 'button.1.text': 'Help', 'button.1.url': 'https://www.example.com/help'},
    '"category":"UTILITY","components":[{"type":"BODY","text":"Two pages for you."},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Track","url":"https://www.example.com/track/{{1}}","example":["SKBUP2"]},{"type":"URL","text":"Help","url":"https://www.example.com/help"}]}]'],
    place: [{headerKind: 'LOCATION', body: 'Hello {{1}}! Your order {{2}} is on its way to the place above, and comes today.', 'body.1': 'Mark', 'body.2': '#566701',
        footer: 'To stop these messages, press the button', buttons: ['QUICK_REPLY'], 'button.0.text': 'Stop Delivery Updates'},
    '"category":"UTILITY","components":[{"type":"HEADER","format":"LOCATION"},{"type":"BODY","text":"Hello {{1}}! Your order {{2}} is on its way to the place above, and comes today.","example":{"body_text":[["Mark","#566701"]]}},{"type":"FOOTER","text":"To stop these messages, press the button"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Stop Delivery Updates"}]}]'],
    offer: [{category: 'MARKETING', headerKind: 'IMAGE', file: FILES.jpeg, body: 'Hi {{name}}, this month you may take {{share}} off of everything in our shop.', 'body.name': 'Ann',
        'body.share': '20%', footer: 'Once for each customer', buttons: ['COPY_CODE', 'URL'], 'button.0.sample': 'SPRING20',
        'button.1.text': 'Shop', 'button.1.url': 'https://www.example.com/shop'},
    '"category":"MARKETING","parameter_format":"NAMED","components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["HANDLE"]}},{"type":"BODY","text":"Hi {{name}}, this month you may take {{share}} off of everything in our shop.","example":{"body_text_named_params":[{"param_name":"name","example":"Ann"},{"param_name":"share","example":"20%"}]}},{"type":"FOOTER","text":"Once for each customer"},{"type":"BUTTONS","buttons":[{"type":"COPY_CODE","example":"SPRING20"},{"type":"URL","text":"Shop","url":"https://www.example.com/shop"}]}]'],
    shortCode: [{category: 'AUTHENTICATION', warns: false, minutes: '5', codeButton: 'Copy'},
        '"category":"AUTHENTICATION","components":[{"type":"BODY","add_security_recommendation":false},{"type":"FOOTER","code_expiration_minutes":5},{"type":"BUTTONS","buttons":[{"type":"OTP","otp_type":"COPY_CODE","text":"Copy"}]}]'],
};

const named = (page, name) => page.locator(`main [name="${name}"]`);

async function choose(page, name, value) {
    await named(page, name).selectOption(value);
}

// Types the values into the fields of these names, in their order.
async function type(page, values, jpeg) {
    for (const [name, value] of Object.entries(values)) {
        if (['category', 'headerKind', 'language'].includes(name))
            await choose(page, name, value);
        else if (name === 'buttons')
            for (const kind of value)
                await choose(page, name, kind);
        else if (name === 'warns')
            await named(page, name).setChecked(value);
        else if (name === 'file') {
            await named(page, 'sample').setInputFiles(value ?? jpeg);
            await page.getByText(`${value?.name ?? 'parcel.jpg'} is uploaded`).waitFor();
        } else
            await named(page, name).fill(value);
    }
}

function submit(page) {
    return page.getByRole('button', {name: 'Send for review'}).click();
}

// The bodies that the page sends by these methods to these paths.
function sentBy(page) {
    const sent = [];
    page.on('request', (request) => {
        if (request.method() !== 'GET' && request.url().includes('/v2/templates'))
            sent.push({method: request.method(), body: request.postData(),
                url: new URL(request.url())});
    });
    return sent;
}

async function ofSandbox(path) {
    return (await fetch(`${SANDBOX}/_sandbox/${path}`)).json();
}

exports.kinds = async ({page, open, logIn, step}, jpeg) => {
    await logIn();
    const sent = sentBy(page);
    for (const [kind, [values, json]] of Object.entries(KINDS)) {
        step(`kind ${kind}`);
        const name = `kind_${kind.toLowerCase()}`;
        await open('/templates');
        await page.getByRole('link', {name: 'New template'}).click();
        await type(page, {name, ...values}, jpeg);
        await page.getByText('Nothing was found.').waitFor();
        await submit(page);
        await page.getByRole('heading', {name, exact: true}).waitFor();
        await untilText(page.locator('main .badge').first(), 'In review');
        const {body} = sent.at(-1);
        const {body: passed} = await ofSandbox('requests/last?path=/message_templates&method=POST');
        const handle = /"header_handle":\["(4::[^"]+)"\]/.exec(body)?.[1];
        assert.equal(body.replace(handle ?? '', handle ? 'HANDLE' : ''),
            `{"name":"${name}","language":"en_US",${json}}`);
        assert.equal(passed, body, 'the platform got other bytes');
    }
    assert.ok(Object.keys(KINDS).length >= 20);
};

exports.drafts = async ({page, open, logIn, step}) => {
    await logIn();
    await open('/templates/-/edit');
    const hints = page.locator('.hints li');
    step('hints follow what is typed, and lead to the field');
    await hints.filter({hasText: 'Name: only small letters'}).waitFor();
    await type(page, {name: 'Table Ready', body: '{{1}} is your table'});
    await hints.filter({hasText: 'cannot stand at the beginning'}).waitFor();
    await hints.filter({hasText: 'the sample of 1 is missing'}).getByRole('button').click();
    await untilEqual(() => page.evaluate(() => document.activeElement.name), 'body.1');
    await page.keyboard.type('Number 4');
    await untilText(page.locator('.template-preview'), /Number 4 is your table/);
    await untilText(page.locator('.field.textarea .hint'), /19 of 1,024/);
    step('a hint stops nothing: the platform refuses, with its own words, at the field');
    await submit(page);
    const refusal = page.locator('.notice.bad');
    await untilText(refusal, /WhatsApp refused the template/);
    await named(page, 'name').and(page.locator('[aria-invalid]')).waitFor();
    await type(page, {name: 'table_ready'});
    await submit(page);
    await untilText(refusal, /Leading or trailing params not allowed/);
    await named(page, 'body').and(page.locator('[aria-invalid]')).waitFor();
    await untilEqual(() => page.evaluate(() => document.activeElement.name), 'body');
    step('what was typed is there after a reload');
    await choose(page, 'buttons', 'QUICK_REPLY');
    await named(page, 'button.0.text').fill('<b>Yes</b>');
    await page.reload();
    await page.getByText('This is your draft from before.').waitFor();
    assert.equal(await named(page, 'body').inputValue(), '{{1}} is your table');
    assert.equal(await named(page, 'body.1').inputValue(), 'Number 4');
    assert.equal(await named(page, 'name').inputValue(), 'table_ready');
    await untilText(page.locator('.template-preview .offered'), '<b>Yes</b>');
    step('a variable is put where the cursor is, and a button is removed');
    await named(page, 'body').fill('Hello. Your table is here.');
    await named(page, 'body').evaluate((node) => node.setSelectionRange(6, 6));
    await page.getByRole('button', {name: 'Add a variable'}).click();
    assert.equal(await named(page, 'body').inputValue(), 'Hello.{{1}} Your table is here.');
    await page.getByRole('button', {name: 'Remove this button'}).click();
    await untilCount(page.locator('.template-preview .offered'), 0);
    step('it is taken, and the draft is gone');
    await submit(page);
    await page.getByRole('heading', {name: 'table_ready', exact: true}).waitFor();
    await open('/templates/-/edit');
    assert.equal(await named(page, 'name').inputValue(), '');
    step('a draft is discarded');
    await type(page, {name: 'other'});
    await page.getByRole('button', {name: 'Discard the draft'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Discard the draft'}).click();
    await page.getByRole('heading', {name: 'Templates', exact: true}).waitFor();
    await open('/templates/-/edit');
    assert.equal(await named(page, 'name').inputValue(), '');
};

exports.actions = async ({page, open, logIn, step}) => {
    await logIn();
    const sent = sentBy(page);
    step('the list has quality, status and the reason in words');
    await open('/templates');
    const row = (text) => page.locator('tbody tr', {hasText: text});
    await untilText(row('order_ready').filter({hasText: 'Rejected'}),
        /The variables, a sample or the form of a text is not right/);
    await untilText(row('late'), /Low quality/);
    step('the languages of a name stand side by side');
    await open('/templates/order_ready?language=de');
    await untilText(page.locator('.side-by-side'), /en_US[^]*Approved[^]*Your order is ready/);
    step('a rejected one is edited');
    await page.getByRole('link', {name: 'Edit', exact: true}).click();
    await untilEqual(() => named(page, 'body').inputValue(), 'Ihre Ware ist da.');
    assert.ok(await named(page, 'name').isDisabled());
    await named(page, 'body').fill('Ihre Ware liegt bereit.');
    await page.getByRole('button', {name: 'Send the change for review'}).click();
    await untilText(page.locator('main .badge').first(), 'In review');
    assert.equal(sent.at(-1).method, 'PATCH');
    assert.equal(sent.at(-1).url.searchParams.get('language'), 'de');
    assert.equal(sent.at(-1).body,
        '{"components":[{"type":"BODY","text":"Ihre Ware liegt bereit."}]}');
    step('another language');
    await page.getByRole('link', {name: 'Add a language'}).click();
    await choose(page, 'language', 'es');
    await named(page, 'body').fill('Su pedido está listo.');
    await submit(page);
    await untilText(page.locator('.side-by-side'), /en_US/);
    assert.equal(sent.at(-1).body, '{"name":"order_ready","language":"es","category":"UTILITY",' +
        '"components":[{"type":"BODY","text":"Su pedido está listo."}]}');
    step('a copy has its own name');
    await page.getByRole('link', {name: 'Duplicate'}).click();
    await untilEqual(() => named(page, 'body').inputValue(), 'Su pedido está listo.');
    await named(page, 'name').fill('order_copied');
    await submit(page);
    await page.getByRole('heading', {name: 'order_copied', exact: true}).waitFor();
    step('a paused one is unpaused');
    await open('/templates/late?language=en_US');
    await page.getByRole('button', {name: 'End the pause'}).click();
    await untilText(page.locator('main .badge').first(), 'Approved');
    step('one is deleted, cancelled first');
    await page.getByRole('button', {name: 'Delete'}).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', {name: 'Delete'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Delete'}).click();
    await page.getByRole('heading', {name: 'Templates', exact: true}).waitFor();
    await until(() => row('late').count(), (count) => count === 0, 'the rows');
    step('one with parts that the editor does not know is not edited');
    await open('/templates/cards?language=en_US');
    await page.getByRole('button', {name: 'Delete'}).waitFor();
    await untilCount(page.getByRole('link', {name: 'Edit', exact: true}), 0);
    await open('/templates/cards/edit?language=en_US');
    await page.getByText('parts that the editor does not know').waitFor();
};

exports.accessible = async (test) => {
    const {page, open, logIn} = test;
    await logIn();
    await page.emulateMedia({reducedMotion: 'reduce'});
    const found = [];
    for (const address of ['/templates/-/edit', '/templates/order_ready?language=en_US']) {
        await page.setViewportSize({width: 1280, height: 800});
        await open(address);
        if (address.endsWith('/edit')) {
            await type(page, {headerKind: 'IMAGE', body: 'Hi {{1}}',
                buttons: ['URL', 'COPY_CODE']});
            await submit(page);
            await page.locator('.notice.bad').waitFor();
        }
        found.push(...await findingsOfModes(test, address));
    }
    assert.deepEqual(found, []);
};
