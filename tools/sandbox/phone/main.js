// The phone of a customer: one conversation of a person with a number of a business.
import {byId, closeDialog, form, openDialog} from './dialog.js';
import {el} from './dom.js';
import {contentOf} from './messages.js';
import * as sandbox from './sandbox.js';

const POLL = 700;

const state = {lines: [], line: null, person: null, blocked: false};
let view; // of the conversation that is shown: {after, generation, nodes, statuses, typing}
let queue = Promise.resolve(); // webhooks, in order

function notice(problem) {
    byId('notice').textContent = problem ?? '';
    byId('notice').hidden = !problem;
}

// Shows why an action failed; done(value) is called otherwise.
const attempt = (action, done = () => {}) =>
    action.then(done).catch((error) => notice(error.message));

// Sends a webhook after those before it.
function send(update) {
    const {line, person} = state;
    queue = attempt(queue.then(() => sandbox.post(line, person, update)), () => notice(null));
}

// --- the person, who is in the query of the page ---

const digits = (text) => text?.replace(/\D/g, '');
const withoutAt = (text) => text?.replace(/^@/, '');

function readPerson() {
    const query = new URLSearchParams(location.search);
    const username = withoutAt(query.get('username'));
    return {name: query.get('name') || 'Ada Example',
        ...(username ? {username} : {phone: digits(query.get('phone')) || '16505550123'})};
}

function showPerson() {
    const {name, phone, username} = state.person;
    const address = username ? `@${username}, no phone number` : `+${phone}`;
    byId('person').textContent = `You are ${name} (${address})`;
    document.title = `${name}: phone`;
    history.replaceState(null, '',
        `?${new URLSearchParams({...state.person, phoneNumberId: state.line})}`);
}

function setPerson({elements: {name, kind, address}}) {
    const hidden = kind.value === 'username';
    const value = (hidden ? withoutAt : digits)(address.value.trim());
    if (!value) {
        address.setCustomValidity(hidden ? 'Write a user name.' :
            'Write a phone number with its country code.');
        address.reportValidity();
        return;
    }
    state.person = {name: name.value.trim() || 'Ada Example', [kind.value]: value};
    closeDialog();
    show();
}

function editPerson() {
    const {name, phone, username} = state.person;
    const option = (value, label, checked) => el('label', {class: 'row'},
        el('input', {type: 'radio', name: 'kind', value, checked}), label);
    const field = (label, input) => el('label', {class: 'field'}, label, input);
    const address = el('input', {name: 'address', value: username ?? phone, required: true,
        on: {input: () => address.setCustomValidity('')}});
    openDialog('Who you are', form('Use', setPerson,
        field('Name', el('input', {name: 'name', value: name})),
        el('fieldset', {class: 'checks'}, el('legend', {}, 'The business sees'),
            option('phone', 'a phone number', !username),
            option('username', 'a user name, and no phone number', username)),
        field('Phone number or user name', address)));
}

// --- messages ---

const TICKS = {sent: ['\u2713', 'sent'], read: ['\u2713\u2713', 'read by the business']};

function ticks(status) {
    const [text, title] = TICKS[status];
    return el('span', {class: `ticks ${status === 'read' ? 'seen' : ''}`, role: 'img', title,
        'aria-label': title, data: {status}}, text);
}

const timeOf = (milliseconds) => new Date(milliseconds).toLocaleTimeString([],
    {hour: '2-digit', minute: '2-digit'});

function bubble({id, kind, time, message, template}) {
    const own = kind === 'received';
    const answer = (answerKind, part) => send({kind: answerKind, context: id, message: part});
    return el('article', {class: `message ${own ? 'out' : 'in'}`, data: {wamid: id},
        'aria-label': own ? 'You' : 'Business'},
    el('div', {class: 'bubble'}, contentOf(message, template, answer),
        el('p', {class: 'meta'}, el('time', {}, timeOf(time)), own && ticks('sent'))));
}

function addMessage(entry) {
    const log = byId('log');
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    const node = bubble(entry);
    view.nodes.set(entry.id, node);
    log.append(node);
    if (atEnd || entry.kind === 'received')
        log.scrollTop = log.scrollHeight;
}

function addReaction({message_id: id, emoji}) {
    const node = view.nodes.get(id);
    node?.querySelector('.reactions')?.remove();
    if (emoji) {
        node?.firstChild.append(
            el('p', {class: 'reactions', title: 'Reaction of the business'}, emoji));
    }
}

function addRead(entry) {
    const ids = [...view.nodes.keys()];
    for (const id of ids.slice(0, ids.indexOf(entry.id) + 1))
        view.nodes.get(id).querySelector('.ticks')?.replaceWith(ticks('read'));
    view.typing = entry.typing ? Date.now() + 25000 : 0;
}

function statusesOf(id) {
    if (!view.statuses.has(id))
        view.statuses.set(id, new Set());
    return view.statuses.get(id);
}

function addEntry(entry) {
    const {id, kind, message} = entry;
    if (kind === 'status')
        statusesOf(id).add(message.status);
    else if (kind === 'read')
        addRead(entry);
    else if (kind === 'sent' && message.type === 'reaction')
        addReaction(message.reaction);
    else
        addMessage(entry);
    if (kind === 'sent') {
        view.arrived.set(id, message.biz_opaque_callback_data);
        view.typing = 0;
    }
}

// Sends the statuses of messages that have arrived, and of those that the person sees.
function sendStatuses() {
    for (const [id, callbackData] of view.arrived) {
        const known = statusesOf(id);
        for (const status of document.hidden ? ['delivered'] : ['delivered', 'read']) {
            if (['failed', 'read', status].some((one) => known.has(one)))
                continue;
            known.add(status);
            send({kind: `status_${status}`, id, ...(callbackData && {callbackData})});
        }
        if (!document.hidden)
            view.arrived.delete(id);
    }
}

function showBlocked(blocked) {
    state.blocked = blocked;
    byId('block').textContent = blocked ? 'Unblock' : 'Block';
    byId('composer').hidden = blocked;
    byId('typing').textContent = blocked ? 'You blocked this business: no messages arrive.' :
        view.typing > Date.now() ? 'typing\u2026' : '';
}

async function poll(shown) {
    const {generation, blocked, entries} =
        await sandbox.chat(state.line, state.person, shown.after);
    if (shown !== view)
        return;
    if ((view.generation ?? generation) !== generation) {
        await open(); // the sandbox was reset
        return;
    }
    view.generation = generation;
    for (const entry of entries) {
        addEntry(entry);
        view.after = entry.serial;
    }
    sendStatuses();
    showBlocked(blocked);
}

async function loop(shown) {
    while (shown === view) {
        try {
            await poll(shown);
            if (shown.lost)
                notice(null);
            shown.lost = false;
        } catch (error) {
            shown.lost = true;
            notice(error.message);
        }
        await new Promise((resolve) => { setTimeout(resolve, POLL); });
    }
}

// Shows the conversation of the person with the number from its start.
function show() {
    byId('business').textContent = state.lines.find(({id}) => id === state.line).business;
    byId('log').replaceChildren();
    view = {after: 0, nodes: new Map(), statuses: new Map(), arrived: new Map(), typing: 0};
    notice(null);
    showPerson();
    loop(view);
}

// --- the composer ---

function takeText() {
    const text = byId('text').value.trim();
    byId('text').value = '';
    return text;
}

function sendText(event) {
    event.preventDefault();
    const text = takeText();
    if (text)
        send({kind: 'text', text});
}

function sendPicture(event) {
    const [file] = event.target.files;
    event.target.value = '';
    if (!file)
        return;
    attempt(sandbox.upload(state.line, file), (mediaId) => {
        const text = takeText();
        send({kind: 'image', mediaId, ...(text ? {text} : {message: {image: {caption: null}}})});
    });
}

function onKey(event) {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing)
        sendText(event);
}

const toggleBlock = () =>
    attempt(sandbox.block(state.line, state.person, !state.blocked), () => poll(view));

// Reads the numbers that the sandbox has, and shows the conversation with that of the query.
async function open() {
    state.lines = await sandbox.lines();
    const wanted = new URLSearchParams(location.search).get('phoneNumberId');
    state.line = (state.lines.find(({id}) => id === wanted) ?? state.lines[0])?.id;
    if (!state.line)
        throw new Error('The sandbox has no account with a number.');
    byId('line').replaceChildren(...state.lines.map(({id, displayNumber, business}) =>
        el('option', {value: id, selected: id === state.line},
            `+${digits(displayNumber)} (${business})`)));
    show();
}

function setLine(event) {
    state.line = event.target.value;
    show();
}

for (const [id, type, handler] of [['line', 'change', setLine], ['composer', 'submit', sendText],
    ['text', 'keydown', onKey], ['picture', 'change', sendPicture],
    ['block', 'click', toggleBlock], ['person', 'click', editPerson]])
    byId(id).addEventListener(type, handler);
document.addEventListener('visibilitychange', sendStatuses);
state.person = readPerson();
attempt(open());
