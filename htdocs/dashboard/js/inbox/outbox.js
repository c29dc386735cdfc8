// Messages that were sent from this page and are not yet in the thread. Each has its idempotency
// key before it is sent, and keeps key and body until its outcome is known, also when the page is
// loaded again: an answer that was lost is requested again, and the message is sent once.
import {call} from '../api.js';
import {dropFile, dropKept, keep, onOwnerLeft, readKept} from '../kept.js';
import {checkChanges} from '../live.js';

const PAUSES = [1000, 2000, 4000]; // before the repetitions after a lost answer

// The gateway stores a key for 24 hours: after that the same request would send the message again.
const LONGEST_QUESTION = 23 * 3600 * 1000;
const KIND = 'outbox';

const entries = []; // {id, threadId, key, path, body, file, draft, text, state, error, wamid, at}
const listeners = new Set();
const locks = new Map(); // id -> ends the lock of the entry

onOwnerLeft(() => {
    entries.splice(0).forEach(unlock);
});

// One tab sends an entry: the one that has its lock, which ends with the tab. Returns whether this
// one has it.
function lock({id}) {
    return new Promise((resolve, reject) => {
        navigator.locks.request(`switchboard-${id}`, {ifAvailable: true}, (held) => {
            resolve(Boolean(held));
            return held && new Promise((end) => locks.set(id, end));
        }).catch(reject);
    });
}

function unlock({id}) {
    locks.get(id)?.();
    locks.delete(id);
}

function drop(entry) {
    dropKept(KIND, entry.id);
    dropFile(entry.file);
}

function tell(entry) {
    for (const listener of listeners)
        listener(entry.threadId);
}

// state: sending; sent (the platform has it, the thread does not show it yet); unknown (no answer
// that says whether it was sent); failed (not sent, see `error`).
function set(entry, state, error = null) {
    if (!entries.includes(entry))
        return; // its user has logged out
    entry.state = state;
    entry.error = error && {message: error.message, status: error.status,
        requestId: error.requestId};
    if (state === 'sent')
        drop(entry);
    else
        keep(KIND, entry.id, {...entry});
    tell(entry);
}

// Whether the same request can still settle an unknown outcome.
export function canAsk(entry) {
    return Date.now() - entry.askedAt < LONGEST_QUESTION;
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
    drop(entry);
    unlock(entry);
    tell(entry);
}

// Takes over what a page that has ended left, and asks again for what it did not know.
export async function restoreOutbox() {
    for (const {value} of await readKept(KIND)) {
        if (entries.some(({id}) => id === value.id) || !await lock(value))
            continue;
        if (entries.some(({id}) => id === value.id))
            continue; // another call has taken it over meanwhile
        const entry = value.state === 'sending'
            ? {...value, state: 'unknown', error: {}, isDoubtful: true} : value;
        entries.push(entry);
        entries.sort((a, b) => a.at < b.at ? -1 : 1);
        tell(entry);
        if (entry.state === 'unknown' && canAsk(entry))
            deliver(entry);
    }
}

// The entries of threads that were merged into this one are its own.
export function moveOutbox({id, formerIds}) {
    for (const entry of entries.filter(({threadId}) => formerIds.includes(threadId))) {
        entry.threadId = id;
        tell(entry);
    }
}

// The keys are made when the page prepares a message, before it is sent.
export function newKey() {
    return `dashboard-${[...crypto.getRandomValues(new Uint32Array(4))]
        .map((part) => part.toString(16).padStart(8, '0')).join('')}`;
}

// A request that is refused before its key is looked up, as without a session, says nothing of an
// earlier one with the same key.
function isUnknown(error, entry) {
    return error.status === 0 || error.status >= 500 || error.status === 408 ||
        (error.status === 409 && error.details?.outcome !== undefined) ||
        (entry.isDoubtful && [401, 403, 409, 429].includes(error.status));
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
    try {
        const {mediaId} = await call('POST', '/v2/media/upload', {body: form, key: uploadKey});
        entry.body.media.mediaId = mediaId;
    } catch (error) {
        // an upload has no status that settles it: the next one is a new one, and nothing is sent
        if (error.details?.outcome === 'unknown')
            entry.file.uploadKey = newKey();
        throw error;
    }
    keep(KIND, entry.id, {...entry});
}

async function attempt(entry) {
    if (entry.file && !entry.body.media.mediaId)
        await upload(entry);
    const answer = await call('POST', entry.path, {body: entry.body, key: entry.key});
    entry.wamid = answer.messages?.[0]?.id;
}

// Sends an entry; the same call repeats it.
export async function deliver(entry) {
    entry.askedAt ??= Date.now();
    set(entry, 'sending');
    for (let i = 0; ; i++) {
        try {
            await attempt(entry);
            set(entry, 'sent');
            checkChanges();
            return;
        } catch (error) {
            if (!isUnknown(error, entry)) {
                set(entry, 'failed', error);
                return;
            }
            entry.isDoubtful = true;
            if (!isWorthRepeating(error) || i >= PAUSES.length) {
                set(entry, 'unknown', error);
                return;
            }
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSES[i]));
        if (!entries.includes(entry))
            return;
    }
}

// Adds a message and sends it: {threadId, key, path, body, text, draft}. With a file to upload
// first, `file` is {id, file, uploadKey, phoneNumberId}, and the body's `media` gets its id. `text`
// is what the page shows, `draft` the {text, quoted} that it was made of, or null.
export async function enqueue(message) {
    const entry = {...message, id: `out-${message.key}`, state: 'sending', error: null,
        at: new Date().toISOString()};
    entries.push(entry);
    await Promise.all([lock(entry), deliver(entry)]);
}

// A failed message is sent again as a new one: its key has its answer.
export function sendAgain(entry) {
    entry.key = newKey();
    entry.askedAt = Date.now();
    entry.isDoubtful = false;
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
        if (entry.state === 'unknown' && canAsk(entry))
            deliver(entry);
}
