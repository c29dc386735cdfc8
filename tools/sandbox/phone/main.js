// The phone of a customer: one conversation of a person with a number of a business.
import {byId, closeDialog, el, openDialog} from './dom.js';
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

// Sends a webhook after those before it, and shows why it failed.
function send(update) {
    const {line, person} = state;
    queue = queue.then(() => sandbox.post(line, person, update)).then(() => notice(null))
        .catch((error) => notice(error.message));
    return queue;
}

// --- the person, who is in the query of the page ---

function readPerson() {
    const query = new URLSearchParams(location.search);
    const username = query.get('username')?.replace(/^@/, '');
    return {name: query.get('name') || 'Ada Example', ...(username ? {username} :
        {phone: query.get('phone')?.replace(/\D/g, '') || '16505550123'})};
}

function writeQuery() {
    const query = new URLSearchParams({...state.person, phoneNumberId: state.line});
    history.replaceState(null, '', `?${query}`);
}

function showPerson() {
    const {name, phone, username} = state.person;
    const address = username ? `@${username}, no phone number` : `+${phone}`;
    byId('person').textContent = `You are ${name} (${address})`;
    document.title = `${name}: phone`;
}

function setPerson(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const address = data.get('address').trim();
    const hidden = data.get('kind') === 'username';
    const value = hidden ? address.replace(/^@/, '') : address.replace(/\D/g, '');
    if (!value) {
        event.target.elements.address.setCustomValidity(hidden ? 'Write a user name.' :
            'Write a phone number with its country code.');
        event.target.reportValidity();
        return;
    }
    state.person = {name: data.get('name').trim() || 'Ada Example',
        [hidden ? 'username' : 'phone']: value};
    closeDialog();
    show();
}

function editPerson() {
    const {name, phone, username} = state.person;
    const option = (value, label) => el('label', {class: 'option'}, el('input', {type: 'radio',
        name: 'kind', value, checked: (value === 'username') === Boolean(username)}), label);
    const address = el('input', {name: 'address', value: username ?? phone, required: true,
        oninput: () => address.setCustomValidity('')});
    openDialog('Who you are', el('form', {onsubmit: setPerson},
        el('label', {class: 'field'}, 'Name', el('input', {name: 'name', value: name})),
        el('fieldset', {}, el('legend', {}, 'The business sees'),
            option('phone', 'a phone number'),
            option('username', 'a user name, and no phone number')),
        el('label', {class: 'field'}, 'Phone number or user name', address),
        el('button', {type: 'submit', class: 'primary'}, 'Use')));
}

// --- messages ---

const TICKS = {sent: ['\u2713', 'sent'], read: ['\u2713\u2713', 'read by the business']};

function tick(node, status) {
    node.querySelector('.tick')?.replaceWith(el('span', {class: 'tick', 'data-status': status,
        title: TICKS[status][1], 'aria-label': TICKS[status][1]}, TICKS[status][0]));
}

const timeOf = (milliseconds) => new Date(milliseconds).toLocaleTimeString([],
    {hour: '2-digit', minute: '2-digit'});

function bubble(entry) {
    const own = entry.kind === 'received';
    const answer = (kind, message) => send({kind, context: entry.id, message});
    const node = el('article', {class: `message ${own ? 'own' : 'theirs'}`, 'data-wamid': entry.id,
        'aria-label': own ? 'You' : 'Business'},
    contentOf(entry.message, entry.template, answer),
    el('p', {class: 'meta'}, el('time', {}, timeOf(entry.time)),
        own && el('span', {class: 'tick'})));
    if (own)
        tick(node, 'sent');
    return node;
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
    node?.querySelector('.reaction')?.remove();
    if (emoji)
        node?.append(el('p', {class: 'reaction', title: 'Reaction of the business'}, emoji));
}

function addRead(entry) {
    const ids = [...view.nodes.keys()];
    for (const id of ids.slice(0, ids.indexOf(entry.id) + 1)) {
        const node = view.nodes.get(id);
        if (node.classList.contains('own'))
            tick(node, 'read');
    }
    view.typing = entry.typing ? Date.now() + 25000 : 0;
}

function addEntry(entry) {
    if (entry.kind === 'status') {
        view.statuses.set(entry.id, [...view.statuses.get(entry.id) ?? [], entry.message.status]);
    } else if (entry.kind === 'read') {
        addRead(entry);
    } else if (entry.message.type === 'reaction' && entry.kind === 'sent') {
        addReaction(entry.message.reaction);
        view.typing = 0;
    } else {
        addMessage(entry);
    }
    if (entry.kind === 'sent') {
        view.arrived.set(entry.id, entry.message.biz_opaque_callback_data);
        view.typing = 0;
    }
}

// Sends the statuses of messages that have arrived, and of those that the person sees.
function sendStatuses() {
    for (const [id, callbackData] of view.arrived) {
        const known = view.statuses.get(id) ?? [];
        const next = ['delivered', ...(document.hidden ? [] : ['read'])];
        for (const status of known.includes('failed') ? [] : next) {
            if (known.includes(status) || known.includes('read'))
                continue;
            view.statuses.set(id, [...view.statuses.get(id) ?? [], status]);
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
    if (view.generation !== undefined && view.generation !== generation) {
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
    const line = state.lines.find(({id}) => id === state.line);
    byId('business').textContent = line.business;
    byId('log').replaceChildren();
    view = {after: 0, nodes: new Map(), statuses: new Map(), arrived: new Map(), typing: 0};
    notice(null);
    showPerson();
    writeQuery();
    loop(view);
}

// --- the composer ---

function sendText(event) {
    event?.preventDefault();
    const text = byId('text').value.trim();
    if (!text)
        return;
    byId('text').value = '';
    send({kind: 'text', text});
}

async function sendPicture(event) {
    const [file] = event.target.files;
    const text = byId('text').value.trim();
    event.target.value = '';
    if (!file)
        return;
    try {
        const mediaId = await sandbox.upload(state.line, file);
        byId('text').value = '';
        send({kind: 'image', mediaId, ...(text ? {text} : {message: {image: {caption: null}}})});
    } catch (error) {
        notice(error.message);
    }
}

function onKey(event) {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing)
        sendText(event);
}

async function toggleBlock() {
    try {
        await sandbox.block(state.line, state.person, !state.blocked);
        await poll(view);
    } catch (error) {
        notice(error.message);
    }
}

// Reads the numbers that the sandbox has, and shows the conversation with that of the query.
async function open() {
    state.lines = await sandbox.lines();
    const wanted = new URLSearchParams(location.search).get('phoneNumberId');
    state.line = (state.lines.find(({id}) => id === wanted) ?? state.lines[0])?.id;
    if (!state.line)
        throw new Error('The sandbox has no account with a number.');
    byId('line').replaceChildren(...state.lines.map(({id, displayNumber, business}) =>
        el('option', {value: id, selected: id === state.line},
            `+${displayNumber} (${business})`)));
    show();
}

function main() {
    state.person = readPerson();
    byId('line').addEventListener('change', (event) => {
        state.line = event.target.value;
        show();
    });
    byId('composer').addEventListener('submit', sendText);
    byId('text').addEventListener('keydown', onKey);
    byId('picture').addEventListener('change', sendPicture);
    byId('block').addEventListener('click', toggleBlock);
    byId('person').addEventListener('click', editPerson);
    document.addEventListener('visibilitychange', sendStatuses);
    open().catch((error) => notice(error.message));
}

main();
