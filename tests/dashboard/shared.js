// The inbox of several members: assignments, and answers at the same time.
const assert = require('node:assert/strict');
const {openThread, sandbox, sentMessages} = require('./sandbox.js');
const {until, untilCount, untilValue} = require('./until.js');

const {LINE} = process.env;

// Lets a person write to the line.
function says(base, person, text) {
    return sandbox('POST', 'webhooks', {url: `${base}/platform/webhook`, phoneNumberId: LINE,
        ...person, kind: 'text', text});
}

const itemOf = (page, {name}) => page.locator('.thread', {hasText: name});
const bubbleOf = (page, text) => page.locator('.message', {hasText: text});

async function send(page, text) {
    await page.getByLabel('Write a message').fill(text);
    await page.keyboard.press('Enter');
}

// A page of the agent Kim, beside that of the owner.
async function pageOfKim({newContext, logInAnew}, email, password) {
    const kim = await (await newContext()).newPage();
    await logInAnew(email, password, kim);
    return kim;
}

exports.assignment = async (test, email, password) => {
    const {page, open, logIn, settled, step, BASE} = test;
    const ada = {phone: '16505552001', name: 'Ada Assigned'};
    const ben = {phone: '16505552002', name: 'Ben Beyond'};
    await logIn();
    const kim = await pageOfKim(test, email, password);
    const openKim = {page: kim, open: (address) => open(address, kim)};
    await says(BASE, ada, 'For one of you');
    await says(BASE, ben, 'For another one');
    step('a member takes a conversation, which the others see');
    await openThread(test, ada.name);
    await openThread(openKim, ada.name);
    await page.getByRole('button', {name: 'Assign', exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Me'}).click();
    await page.locator('.assigned', {hasText: 'You'}).waitFor();
    await kim.locator('.assigned.is-assigned').waitFor();
    step('the list shows the own ones, or those of no member');
    await open('/inbox');
    await page.getByLabel('Assigned to').selectOption('me');
    await settled(page);
    await itemOf(page, ada).locator('.assignee-mark', {hasText: 'You'}).waitFor();
    await untilCount(itemOf(page, ben), 0);
    await page.getByLabel('Assigned to').selectOption('none');
    await itemOf(page, ben).waitFor();
    await untilCount(itemOf(page, ada), 0);
    step('a member who was not the first sees who was');
    await openThread(test, ben.name);
    await openThread(openKim, ben.name);
    await kim.route('**/v2/changes*', (route) => route.fulfill({status: 304}));
    await kim.getByRole('button', {name: 'Assign', exact: true}).click();
    await kim.getByRole('dialog').waitFor();
    await page.getByRole('button', {name: 'Assign', exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Me'}).click();
    await page.locator('.assigned', {hasText: 'You'}).waitFor();
    await kim.getByRole('dialog').getByRole('button', {name: 'Me'}).click();
    await kim.getByText('was quicker').waitFor();
    await kim.locator('.assigned.is-assigned').waitFor();
    await kim.unroute('**/v2/changes*');
    step('and takes it over, and gives it back');
    await kim.locator('.assigned').click();
    await kim.getByRole('dialog').getByRole('button', {name: 'Me'}).click();
    await page.locator('.assigned', {hasText: 'Kim'}).waitFor();
    await kim.locator('.assigned').click();
    await kim.getByRole('dialog').getByRole('button', {name: 'No one'}).click();
    await page.getByRole('button', {name: 'Assign', exact: true}).waitFor();
};

exports.typing = async (test, email, password) => {
    const {page, open, logIn, step, BASE} = test;
    const eve = {phone: '16505552009', name: 'Eve Expected'};
    await logIn();
    const kim = await pageOfKim(test, email, password);
    await says(BASE, eve, 'Who is there?');
    await openThread(test, eve.name);
    await openThread({page: kim, open: (address) => open(address, kim)}, eve.name);
    await kim.locator('.assigned').waitFor(); // it has read that several members answer
    await page.locator('.assigned').waitFor();
    const notices = [];
    kim.on('request', (request) => request.method() === 'PUT' &&
        request.url().endsWith('/typing') && notices.push(request.url()));
    step('an empty field says nothing, one with text that its member writes');
    const field = kim.getByLabel('Write a message');
    await field.fill('   ');
    await field.fill('');
    assert.equal(notices.length, 0);
    await field.pressSequentially('I am here');
    await page.locator('.typing', {hasText: 'Kim is writing'}).waitFor();
    assert.ok(notices.length >= 1 && notices.length <= 3, `${notices.length} notices of 9 keys`);
    await untilCount(kim.locator('.typing', {hasText: 'is writing'}), 0);
    step('the answer ends it');
    await kim.keyboard.press('Enter');
    await bubbleOf(page, 'I am here').locator('.by', {hasText: 'Kim'}).waitFor();
    await untilCount(page.locator('.typing', {hasText: 'is writing'}), 0);
};

exports.bothAnswer = async (test, email, password) => {
    const {page, open, logIn, step, BASE} = test;
    const cay = {phone: '16505552003', name: 'Cay Called'};
    await logIn();
    const kim = await pageOfKim(test, email, password);
    await says(BASE, cay, 'Are you there?');
    await openThread(test, cay.name);
    await openThread({page: kim, open: (address) => open(address, kim)}, cay.name);
    await bubbleOf(page, 'Are you there?').waitFor();
    await bubbleOf(kim, 'Are you there?').waitFor();
    step('the second answer is not sent, says whose was first, and can be written on');
    let isHeld = true;
    await kim.route('**/v2/changes*', (route) =>
        isHeld ? route.fulfill({status: 304}) : route.continue());
    await send(page, 'Yes, from the owner');
    await bubbleOf(page, 'Yes, from the owner').locator('.by', {hasText: 'You'}).waitFor();
    await send(kim, 'Yes, from Kim');
    const refused = kim.locator('.message.pending.failed');
    await refused.getByText('has answered meanwhile').waitFor();
    assert.equal((await sentMessages('Yes, from Kim')).length, 0);
    isHeld = false;
    await bubbleOf(kim, 'Yes, from the owner').locator('.by').waitFor();
    await refused.getByRole('button', {name: 'Edit'}).click();
    assert.equal(await kim.getByLabel('Write a message').inputValue(), 'Yes, from Kim');
    step('after the other answer was seen it is sent');
    await kim.keyboard.press('Enter');
    await bubbleOf(page, 'Yes, from Kim').locator('.by', {hasText: 'Kim'}).waitFor();
    step('or at once, when the member wants that');
    isHeld = true;
    await send(page, 'One more of the owner');
    await bubbleOf(page, 'One more of the owner').locator('.by').waitFor();
    await send(kim, 'One more of Kim');
    await refused.getByRole('button', {name: 'Send anyway'}).click();
    await until(() => sentMessages('One more of Kim'), ({length}) => length === 1, 'not sent');
    isHeld = false;
    await bubbleOf(page, 'One more of Kim').waitFor();
};

exports.notes = async (test, email, password) => {
    const {page, open, logIn, step, BASE} = test;
    const dee = {phone: '16505552004', name: 'Dee Described'};
    await logIn();
    const kim = await pageOfKim(test, email, password);
    await says(BASE, dee, 'A question');
    await openThread(test, dee.name);
    await openThread({page: kim, open: (address) => open(address, kim)}, dee.name);
    step('a note appears for the others, and is not sent');
    await page.getByRole('button', {name: 'Add a note'}).click();
    await page.getByLabel('Note', {exact: true}).fill('Wants <b>an invoice</b>');
    await page.getByRole('button', {name: 'Add the note'}).click();
    await page.locator('.note-row', {hasText: 'Wants <b>an invoice</b>'}).waitFor();
    await kim.locator('.note-row', {hasText: 'Note of'}).waitFor();
    assert.equal((await sentMessages('invoice')).length, 0);
    step('it stands between the messages by its time');
    await says(BASE, dee, 'Another question');
    await bubbleOf(page, 'Another question').waitFor();
    const rows = await page.locator('.messages li.message, .messages li.note-row').allInnerTexts();
    assert.deepEqual(rows.map((text) => /invoice|Another|A question/.exec(text)?.[0]),
        ['A question', 'invoice', 'Another']);
    step('an agent deletes own notes only, and the others see that one is gone');
    assert.equal(await kim.getByRole('button', {name: 'Delete the note'}).count(), 0);
    await kim.getByRole('button', {name: 'Add a note'}).click();
    await kim.getByLabel('Note', {exact: true}).fill('Of Kim');
    await kim.getByRole('button', {name: 'Add the note'}).click();
    const ofKim = page.locator('.note-row', {hasText: 'Of Kim'});
    await ofKim.waitFor();
    await kim.getByRole('button', {name: 'Delete the note'}).click();
    await kim.getByRole('dialog').getByRole('button', {name: 'Delete the note'}).click();
    await untilCount(ofKim, 0);
};

exports.canned = async (test, email, password) => {
    const {page, open, logIn, logInAnew, newContext, settled, step, BASE} = test;
    const flo = {phone: '16505552006', name: 'Flo Canned'};
    await logIn();
    step('a canned reply is added, and its shortcut is there once');
    await open('/replies');
    await page.getByText('No canned replies yet').waitFor();
    await page.getByRole('button', {name: 'Add a canned reply'}).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Shortcut').fill('/hours');
    await dialog.getByLabel('Text').fill('Hello {name} from {agent}: <b>9</b> to 18, {other}');
    await dialog.getByRole('button', {name: 'Save'}).click();
    await page.getByRole('row', {name: '/hours'}).waitFor();
    await page.getByRole('button', {name: 'Add a canned reply'}).click();
    await dialog.getByLabel('Shortcut').fill('hours');
    await dialog.getByLabel('Text').fill('Another one');
    await dialog.getByRole('button', {name: 'Save'}).click();
    await dialog.getByText('Another canned reply has this shortcut').waitFor();
    await dialog.getByLabel('Shortcut').fill('bye');
    await dialog.getByRole('button', {name: 'Save'}).click();
    await page.getByRole('row', {name: '/bye'}).waitFor();
    step('an agent cannot change it, and uses it');
    const kim = await (await newContext()).newPage();
    await logInAnew(email, password, kim);
    await open('/replies', kim);
    await kim.getByRole('row', {name: '/hours'}).waitFor();
    await settled(kim);
    assert.equal(await kim.getByRole('button', {name: 'Delete'}).count(), 0);
    await says(BASE, flo, 'When are you open?');
    await openThread({page: kim, open: (address) => open(address, kim)}, flo.name);
    const answer = kim.getByLabel('Write a message');
    await answer.fill('/');
    await untilCount(kim.locator('#canned-list [role=option]'), 2);
    await answer.fill('/ho');
    await untilCount(kim.locator('#canned-list [role=option]'), 1);
    await kim.keyboard.press('Enter');
    await untilValue(answer, 'Hello Flo Canned from Kim: <b>9</b> to 18, {other}');
    assert.equal((await sentMessages('Flo Canned')).length, 0);
    await kim.keyboard.press('Enter');
    await bubbleOf(kim, 'Hello Flo Canned from Kim').waitFor();
    step('Escape closes the list, and another text is sent as it is');
    await answer.fill('/by');
    await untilCount(kim.locator('#canned-list [role=option]'), 1);
    await kim.keyboard.press('Escape');
    await untilCount(kim.locator('#canned-list [role=option]'), 0);
    await answer.fill('/nothing');
    await settled(kim);
    await kim.keyboard.press('Enter');
    await bubbleOf(kim, '/nothing').waitFor();
    step('it is deleted for all');
    await page.getByRole('row', {name: '/bye'}).getByRole('button', {name: 'Delete'}).click();
    await dialog.getByRole('button', {name: 'Delete'}).click();
    await untilCount(page.getByRole('row', {name: '/bye'}), 0);
};

const WRITING = /^(Rename|Archive|Make primary|New template|Regenerate|Invite|Remove|Add a canned)/;

exports.viewer = async ({page, open, logInAnew, settled, step, BASE}, email, password) => {
    const eve = {phone: '16505552005', name: 'Eve Examined'};
    const refused = [];
    page.on('response', (response) => {
        if (response.status() === 403)
            refused.push(`${response.request().method()} ${response.url()}`);
    });
    await says(BASE, eve, 'Only to be read');
    await logInAnew(email, password, page);
    await openThread({page, open}, eve.name);
    await bubbleOf(page, 'Only to be read').waitFor();
    step('nothing can be written, and the page says why');
    await page.getByText('You have the role Viewer').waitFor();
    await settled(page);
    assert.equal(await page.getByLabel('Write a message').count(), 0);
    await bubbleOf(page, 'Read tomorrow').getByText('To be sent').waitFor();
    await bubbleOf(page, 'Too late').getByText('Not sent').waitFor();
    const actions = ['Assign', 'Done', 'Add a note', 'Mark as unread', 'Block', 'Reply', 'React',
        'Cancel', 'Edit', 'Send again', 'Send later'];
    for (const name of actions)
        assert.equal(await page.getByRole('button', {name, exact: true}).count(), 0, name);
    step('nor in the details of a message');
    await bubbleOf(page, 'Only to be read').getByRole('button', {name: 'Details'}).click();
    await page.getByRole('dialog').waitFor();
    assert.equal(await page.getByRole('dialog').getByRole('button', {name: 'Reply'}).count(), 0);
    await page.keyboard.press('Escape');
    step('nor on a page of the navigation, which leads to no page that needs more');
    const names = await page.locator('.nav [data-menu]').evaluateAll((items) =>
        items.map((item) => item.dataset.menu));
    assert.deepEqual(names,
        ['overview', 'inbox', 'lines', 'templates', 'campaigns', 'optouts', 'replies', 'forms',
            'usage', 'api', 'members']);
    for (const name of names) {
        await open(`/${name}`);
        await page.locator('main h1').waitFor();
        await settled(page);
        assert.equal(await page.getByRole('button', {name: WRITING}).count(), 0, name);
    }
    step('and the page has asked for nothing that it may not do');
    assert.deepEqual(refused, []);
};

// The owner sets the limit of Nia, who then sees own and unassigned conversations only: one that
// the owner assigns to Kim leaves the open page.
exports.ownThreads = async (test, email, password) => {
    const {page, open, logIn, step, BASE} = test;
    const dialog = page.getByRole('dialog'), row = page.locator('tbody tr', {hasText: 'Nia'});
    const box = dialog.getByLabel('Only own and unassigned conversations');
    const gus = {phone: '16505552011', name: 'Gus Given'};
    const hal = {phone: '16505552012', name: 'Hal Hidden'};
    await logIn();
    await says(BASE, gus, 'For Nia, or for Kim');
    await says(BASE, hal, 'For Kim alone');
    await openThread(test, hal.name);
    await page.getByRole('button', {name: 'Assign', exact: true}).click();
    await dialog.getByRole('button', {name: 'Kim'}).click();
    await page.locator('.assigned', {hasText: 'Kim'}).waitFor();
    step('the owner sets the box of an agent; an admin has none');
    await open('/members');
    await row.getByRole('button', {name: 'Change lines'}).click();
    assert.equal(await box.isChecked(), false);
    await box.check();
    await dialog.getByRole('button', {name: 'Save'}).click();
    await row.getByText('Only own and unassigned conversations').waitFor();
    await page.getByRole('button', {name: 'Invite'}).click();
    await box.waitFor();
    await dialog.getByLabel('Role').selectOption('admin');
    await box.waitFor({state: 'hidden'});
    await page.keyboard.press('Escape');
    step('the agent sees what is unassigned, and nothing of a colleague');
    const nia = await pageOfKim(test, email, password);
    await open('/inbox', nia);
    await itemOf(nia, gus).waitFor();
    assert.equal(await itemOf(nia, hal).count(), 0);
    assert.equal(await nia.getByRole('link', {name: 'Usage', exact: true}).count(), 0);
    assert.equal(await nia.getByLabel('Assigned to').getByRole('option').count(), 3);
    step('a conversation that a colleague gets closes, and comes back when it is free');
    await openThread({page: nia, open: (address) => open(address, nia)}, gus.name);
    await bubbleOf(nia, 'For Nia, or for Kim').waitFor();
    await openThread(test, gus.name);
    await page.getByRole('button', {name: 'Assign', exact: true}).click();
    await dialog.getByRole('button', {name: 'Kim'}).click();
    await nia.getByText('The conversation is assigned to another member now.').waitFor();
    await untilCount(itemOf(nia, gus), 0);
    await untilCount(bubbleOf(nia, 'For Nia, or for Kim'), 0);
    await open('/inbox', nia); // without the search of openThread
    await page.locator('.assigned').click();
    await dialog.getByRole('button', {name: 'No one'}).click();
    await itemOf(nia, gus).waitFor();
    step('the trail has it in words');
    await open('/trail');
    await page.getByText('conversations: all → own and unassigned').waitFor();
};
