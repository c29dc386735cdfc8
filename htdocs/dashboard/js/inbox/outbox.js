// Messages that were sent from this page and are not yet in the thread. Each has its idempotency
// key before it is sent, and keeps key and body until its outcome is known: an answer that was lost
// is requested again, and the message is sent once.
import {call} from '../api.js';
import {checkChanges} from '../live.js';

const PAUSES = [1000, 2000, 4000]; // before the repetitions after a lost answer

const entries = []; // {id, threadId, key, path, body, file, state, error, wamid}
const listeners = new Set();
let lastId = 0;

// state: sending; sent (the platform has it, the thread does not show it yet); unknown (no answer
// that says whether it was sent); failed (not sent, see `error`).
function set(entry, state, error = null) {
    entry.state = state;
    entry.error = error;
    for (const listener of listeners)
        listener(entry.threadId);
}

export function onOutbox(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

export function waiting(threadId) {
    return entries.filter((entry) => entry.threadId === threadId);
}

export function remove(entry) {
    const at = entries.indexOf(entry);
    if (at >= 0)
        entries.splice(at, 1);
    set(entry, entry.state, entry.error);
}

// The keys are made when the page prepares a message, before it is sent.
export function newKey() {
    return `dashboard-${[...crypto.getRandomValues(new Uint32Array(4))]
        .map((part) => part.toString(16).padStart(8, '0')).join('')}`;
}

function isUnknown(error) {
    return error.status === 0 || error.status >= 500 || error.status === 408 ||
        (error.status === 409 && error.details?.outcome !== undefined);
}

// Whether the same request may settle it soon: no answer came, or the first request still runs.
function isWorthRepeating(error) {
    return error.status === 0 || (error.status === 409 && error.details?.outcome === 'running');
}

async function upload(entry) {
    const {file, uploadKey, phoneNumberId} = entry.file;
    const form = new FormData();
    form.append('phoneNumberId', phoneNumberId);
    form.append('file', file, file.name);
    const {mediaId} = await call('POST', '/v2/media/upload', {body: form, key: uploadKey});
    entry.body = entry.file.bodyFor(mediaId);
}

async function attempt(entry) {
    if (!entry.body)
        await upload(entry);
    const answer = await call('POST', entry.path, {body: entry.body, key: entry.key});
    entry.wamid = answer.messages?.[0]?.id;
}

// Sends an entry; the same call repeats it.
export async function deliver(entry) {
    set(entry, 'sending');
    for (let i = 0; ; i++) {
        try {
            await attempt(entry);
            set(entry, 'sent');
            checkChanges();
            return;
        } catch (error) {
            if (!isUnknown(error)) {
                set(entry, 'failed', error);
                return;
            }
            if (!isWorthRepeating(error) || i >= PAUSES.length) {
                set(entry, 'unknown', error);
                return;
            }
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSES[i]));
    }
}

// Adds a message and sends it: {threadId, key, path, body, text} or, with a file to upload first,
// `file`: {file, uploadKey, phoneNumberId, bodyFor(mediaId)}. `text` is what the page shows.
export function enqueue(message) {
    const entry = {...message, id: `out-${++lastId}`, state: 'sending', error: null,
        at: new Date().toISOString()};
    entries.push(entry);
    return deliver(entry);
}

// A failed message is sent again as a new one: its key has its answer.
export function sendAgain(entry) {
    entry.key = newKey();
    if (entry.file)
        entry.file.uploadKey = newKey();
    return deliver(entry);
}

// Removes those that the thread shows now. A message whose first answer was lost may be in the
// thread before its wamid is known here.
export function removeShown(threadId, hasMessage) {
    for (const entry of waiting(threadId))
        if (entry.wamid && hasMessage(entry.wamid))
            remove(entry);
}

// The same, and asks again for those whose outcome is unknown: the first status of a message
// settles it.
export function settle(threadId, hasMessage) {
    removeShown(threadId, hasMessage);
    for (const entry of waiting(threadId))
        if (entry.state === 'unknown')
            deliver(entry);
}
