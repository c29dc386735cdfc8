// Dialogs of the inbox: one message with its statuses, and the contact.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {savePerson} from '../download.js';
import {dateTime, t} from '../i18n.js';
import {optIn, optOut, sourceText} from '../opt_outs.js';
import {recipientOf} from '../recipient.js';
import {address, go} from '../router.js';
import {may, seesAll} from '../session.js';
import {mayManage} from '../team.js';
import {badge, button, codeBlock, confirm, copyButton, dialog, errorBox, facts, link, loaded,
    loading, moment, toast} from '../ui.js';
import {isCall, nameOf, phoneText, summary} from './describe.js';
import {canReact, ticks} from './bubble.js';

const STEPS = ['sent', 'delivered', 'read', 'played', 'failed'];

// The platform's clock has whole seconds: those of one second stand in their natural order.
function byTime(a, b) {
    return a.timestamp === b.timestamp ? STEPS.indexOf(a.status) - STEPS.indexOf(b.status)
        : a.timestamp < b.timestamp ? -1 : 1;
}

function history(statuses) {
    return el('ol', {class: 'history'}, statuses.toSorted(byTime).map((one) => el('li', {},
        ticks(one.status), el('span', {class: 'strong'}, t(`inbox.status.${one.status}`)),
        el('time', {datetime: one.timestamp, class: 'muted'}, dateTime(one.timestamp)))));
}

// Shows a message; resolves to 'reply' or 'react', what the user wants to do.
export function showMessage(message, {canReply}) {
    return dialog(t('inbox.message'), (close) => {
        const box = el('div', {class: 'stack'}, loading());
        call('GET', `/v2/messages/${message.id}`).then((full) => fill(box,
            full.statuses.length > 0 && history(full.statuses),
            full.error && codeBlock(JSON.stringify(full.error, null, 2), t('inbox.error')),
            el('details', {}, el('summary', {}, t('inbox.source')),
                codeBlock(JSON.stringify(full.body, null, 2), t('inbox.source')))),
        (error) => fill(box, errorBox(error)));
        return [
            el('p', {class: 'foreign quoted'}, summary(message)),
            facts([
                [t('inbox.time'), dateTime(message.timestamp)],
                [t('inbox.origin'), t(`inbox.from.${message.source}`)],
                [t('inbox.wamid'), el('code', {}, message.wamid)],
            ]),
            box,
            el('div', {class: 'form-actions'},
                canReply && !isCall(message) && button(t('inbox.reply'), () => close('reply'),
                    {kind: 'primary', icon: 'reply'}),
                canReply && canReact(message, {}) && button(t('inbox.react'),
                    () => close('react'), {icon: 'smile'}),
                copyButton(message.wamid, t('inbox.copyId'))),
        ];
    }, {kind: 'large'});
}

function otherThreads(threads, lines, close) {
    return el('ul', {class: 'plain-list'}, threads.map((thread) => el('li', {},
        link(lines.get(thread.lineId)?.name ?? thread.lineId, address(`/inbox/${thread.id}`),
            {on: {click: () => close()}}), ' ', moment(thread.lastMessageAt))));
}

async function erase(contact, close) {
    const name = nameOf(contact);
    if (!await confirm(t('contact.eraseTitle', {name}), t('contact.eraseAsk'), t('contact.erase')))
        return;
    await call('POST', `/v2/contacts/${contact.id}/erase`, {body: {confirm: contact.id}});
    close();
    toast(t('contact.erased', {name}));
    go('/inbox');
}

// Sets or ends the hold; returns since when there is one.
async function changeHold(contact, heldAt) {
    const name = nameOf(contact);
    if (heldAt && !await confirm(t('contact.releaseTitle', {name}), t('contact.releaseAsk'),
        t('contact.release'), {kind: 'primary'}))
        return heldAt;
    const path = `/v2/contacts/${contact.id}/hold`;
    return (await call(heldAt ? 'DELETE' : 'PUT', path, heldAt ? {} : {body: {}})).heldAt;
}

// What an owner or admin may do with the data of a person: {nodes, set}. `set` takes since when
// nothing of it is deleted, or null, and calls `show` with it, as a change does.
function dataActions(contact, close, show) {
    let held = null;
    const hold = button(t('contact.hold'), async () => set(await changeHold(contact, held)),
        {disabled: true});
    const erasing = button(t('contact.erase'), () => erase(contact, close), {kind: 'danger'});
    function set(heldAt) {
        held = heldAt;
        hold.disabled = false;
        fill(hold, el('span', {}, t(held ? 'contact.release' : 'contact.hold')));
        erasing.hidden = Boolean(held);
        show(held);
    }
    const nodes = mayManage() && [
        button(t('contact.save'), () => savePerson(contact.id), {icon: 'download'}), hold, erasing];
    return {nodes, set};
}

// Whether the person wants no marketing, and what changes that: for members who see all lines and
// threads, since it is about an account.
function marketing(contact) {
    const {accountId} = contact, person = recipientOf(contact);
    const to = person.to ?? person.recipient;
    async function change(work) {
        await work();
        await state.reload();
        state.root.querySelector('button')?.focus();
    }
    const state = loaded(async () => {
        const {items: [row]} = await call('GET', '/v2/opt-outs', {query: {accountId, to}});
        if (!row)
            return may('send') && button(t('optOuts.markAdd'),
                () => change(() => optOut(accountId, person)), {icon: 'block'});
        return [el('p', {}, badge('warn', t('optOuts.mark')), ' ', sourceText(row), ' · ',
            dateTime(row.since)),
        may('send') && button(t('optOuts.allow'), () => change(() => optIn(accountId, row)))];
    });
    const isShown = to && seesAll();
    if (isShown)
        state.reload();
    return isShown && state.root;
}

// Shows what is stored of a contact. `lines`: Map(line id -> line).
export function showContact(contact, lines) {
    return dialog(nameOf(contact), (close) => {
        const box = el('div', {class: 'stack'}, loading());
        const heldNote = el('p', {role: 'status'});
        const actions = dataActions(contact, close, (heldAt) => fill(heldNote, heldAt &&
            t('contact.held', {time: dateTime(heldAt)})));
        const showFull = (full) => fill(box,
            facts([
                [t('contact.phone'), phoneText(full.phone)],
                [t('contact.username'), full.username && `@${full.username}`],
                [t('contact.userId'), full.userId && el('code', {}, full.userId)],
                [t('contact.parentUserId'), full.parentUserId &&
                    el('code', {}, full.parentUserId)],
                [t('contact.created'), moment(full.createdAt, {isExact: true})],
                [t('contact.updated'), moment(full.updatedAt, {isExact: true})],
                [t('contact.id'), el('code', {}, full.id)],
            ]),
            seesAll() && marketing(full), // opt-outs are about all lines
            full.threads.length > 1 && el('div', {}, el('h3', {}, t('contact.threads')),
                otherThreads(full.threads, lines, close)),
            full.blocks.length > 0 && el('p', {}, t('contact.blockedOn', {
                lines: full.blocks.map(({lineId}) => lines.get(lineId)?.name ?? lineId).join(', '),
            })));
        call('GET', `/v2/contacts/${contact.id}`).then((full) => {
            showFull(full);
            actions.set(full.heldAt);
        }, (error) => fill(box, errorBox(error)));
        return [box, heldNote, el('div', {class: 'form-actions'},
            copyButton(contact.phone ? phoneText(contact.phone) : contact.userId,
                contact.phone ? t('contact.copyPhone') : t('contact.copyUserId')),
            actions.nodes)];
    });
}
