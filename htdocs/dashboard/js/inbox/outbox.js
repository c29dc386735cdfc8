// Messages that were sent from this page and are not yet in the thread. Each has its idempotency
// key before it is sent, and keeps key and body until its outcome is known, also when the page is
// loaded again: an answer that was lost is requested again, and the message is sent once.
import {call} from '../api.js';
import {dropKept, keep, onOwnerLeft, readKept} from '../kept.js';
import {checkChanges} from '../live.js';
import {forgetFile} from './files.js';

const PAUSES = [1000, 2000, 4000]; // before the repetitions after a lost answer

// The gateway stores a key for 24 hours: after that the same request would send the message again.
const LONGEST_QUESTION = 23 * 3600 * 1000;
const KIND = 'outbox';

// {id, batch, threadId, key, path, body, file, draft, text, seen, state, error, progress, wamid,
// at}
const entries = [];
const awaited = new Set(); // batches that another tab sends
const listeners = new Set();
const locks = new Map(); // batch -> ends its lock
const uploads = new Map(); // id -> AbortController of the upload that runs

onOwnerLeft(() => {
    entries.splice(0).forEach((entry) => {
        uploads.get(entry.id)?.abort();
        unlock(entry);
    });
});

// What was sent at once is a batch: one tab sends all of it, in its order.
const batchOf = ({id, batch}) => batch ?? id;

// The tab that sends a batch has its lock, which ends with the tab. Returns whether this one has
// it. `isPatient`: waits until it has it.
function lock(entry, isPatient = false) {
    const batch = batchOf(entry);
    if (locks.has(batch))
        return Promise.resolve(true);
    return new Promise((resolve, reject) => {
        navigator.locks.request(`switchboard-${batch}`, {ifAvailable: !isPatient}, (held) => {
            resolve(Boolean(held));
            return held && new Promise((end) => locks.set(batch, end));
        }).catch(reject);
    });
}

// Takes over a batch whose tab ends before the outcome of each entry is known.
async function awaitOther(value) {
    const batch = batchOf(value);
    if (awaited.has(batch))
        return;
    awaited.add(batch);
    await lock(value, true);
    awaited.delete(batch);
    unlock(value);
    await restoreOutbox();
}

// Ends the lock of a batch without entries.
function unlock(entry) {
    const batch = batchOf(entry);
    if (entries.some((one) => batchOf(one) === batch))
        return;
    locks.get(batch)?.();
    locks.delete(batch);
}

function drop(entry) {
    dropKept(KIND, entry.id);
    forgetFile(entry.file);
}

function notify(entry) {
    for (const listener of listeners)
        listener(entry.threadId);
}

// state: waiting (for those that were sent with it, before it); sending; sent (the platform has it,
// the thread does not show it yet); unknown (no answer that says whether it was sent); stopped (its
// upload got no answer: nothing was sent, and it goes on with the connection); failed (not sent,
// see `error`); cancelled (by the user, before it was sent).
function set(entry, state, error = null) {
    if (!entries.includes(entry))
        return; // its user has logged out
    entry.state = state;
    entry.error = error && {message: error.message, status: error.status,
        requestId: error.requestId, isOfUpload: isUploading(entry),
        colleague: colleagueOf(error)};
    if (state === 'sent')
        drop(entry);
    else
        keep(KIND, entry.id, {...entry});
    notify(entry);
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
    notify(entry);
    deliverNext();
}

function byTime(a, b) {
    return a.at < b.at ? -1 : 1;
}

// Takes over what a page that has ended left, and asks again for what it did not know.
export async function restoreOutbox() {
    const values = (await readKept(KIND)).map(({value}) => value);
    for (const value of values.toSorted(byTime)) {
        if (entries.some(({id}) => id === value.id))
            continue;
        if (!await lock(value)) {
            awaitOther(value);
            continue;
        }
        if (entries.some(({id}) => id === value.id))
            continue; // another call has taken it over meanwhile
        const entry = restored(value);
        entries.push(entry);
        entries.sort(byTime);
        notify(entry);
        if (canGoOn(entry))
            deliver(entry);
    }
    deliverNext();
}

// A message that was being sent may have been sent; one whose file was being uploaded was not.
function restored(value) {
    if (value.state !== 'sending')
        return value;
    return isUploading(value) ? {...value, state: 'stopped'}
        : {...value, state: 'unknown', error: {}, isDoubtful: true};
}

// Whether it is requested again without a word of the user.
function canGoOn(entry) {
    return entry.state === 'stopped' || (entry.state === 'unknown' && canAsk(entry));
}

// The entries of threads that were merged into this one are its own.
export function moveOutbox({id, formerIds}) {
    for (const entry of entries.filter(({threadId}) => formerIds.includes(threadId))) {
        entry.threadId = id;
        notify(entry);
    }
}

// The keys are made when the page prepares a message, before it is sent.
export function newKey() {
    return `dashboard-${[...crypto.getRandomValues(new Uint32Array(4))]
        .map((part) => part.toString(16).padStart(8, '0')).join('')}`;
}

// The member who answers, or has answered, the same thread: {reason, by}; null for other errors.
function colleagueOf({status, details}) {
    return status === 409 && details?.by ? {reason: details.reason, by: details.by} : null;
}

// A request that is refused before its key is looked up, as without a session, says nothing of an
// earlier one with the same key. The colleague is looked for after the key.
function isUnknown(error, entry) {
    if (colleagueOf(error))
        return false;
    return error.status === 0 || error.status >= 500 || error.status === 408 ||
        (error.status === 409 && error.details?.outcome !== undefined) ||
        (entry.isDoubtful && [401, 403, 409, 429].includes(error.status));
}

// Whether the same request may settle it soon: no answer came, or the first request still runs.
export function isWorthRepeating(error) {
    return error.status === 0 || (error.status === 409 && error.details?.outcome === 'running');
}

// The part of the body that names the file.
function mediaOf({body}) {
    return body.media ?? body.sticker;
}

// Whether its file is not at the platform yet, so that nothing was sent.
function isUploading(entry) {
    return Boolean(entry.file) && !mediaOf(entry).mediaId;
}

// In whole percents: each one is drawn.
function showProgress(entry, part) {
    const progress = Math.floor(part * 100);
    if (entry.progress === progress)
        return;
    entry.progress = progress;
    notify(entry);
}

// Whether an entry can be cancelled: it waits, or its file is being uploaded.
export function canCancel(entry) {
    return entry.state === 'waiting' || (entry.state === 'sending' && uploads.has(entry.id));
}

export function cancel(entry) {
    if (!canCancel(entry))
        return;
    set(entry, 'cancelled');
    uploads.get(entry.id)?.abort();
    deliverNext();
}

// Uploads a file {file, uploadKey, phoneNumberId}, and returns its media id.
export async function uploadFile(one, options = {}) {
    const form = new FormData();
    form.append('phoneNumberId', one.phoneNumberId);
    form.append('file', one.file, one.file.name);
    try {
        const {mediaId} = await call('POST', '/v2/media/upload',
            {...options, body: form, key: one.uploadKey});
        return mediaId;
    } catch (error) {
        // without an answer, or while it runs, the next one has the same key, so that the platform
        // gets the file once; any other answer is kept under its key
        if (!isWorthRepeating(error))
            one.uploadKey = newKey();
        throw error;
    }
}

async function upload(entry) {
    const controller = new AbortController();
    uploads.set(entry.id, controller);
    try {
        mediaOf(entry).mediaId = await uploadFile(entry.file, {
            signal: controller.signal, onProgress: (part) => showProgress(entry, part)});
    } finally {
        uploads.delete(entry.id);
        entry.progress = null;
        notify(entry);
    }
    keep(KIND, entry.id, {...entry});
}

async function attempt(entry) {
    if (entry.file && !mediaOf(entry).mediaId)
        await upload(entry);
    const answer = await call('POST', entry.path,
        {body: entry.body, key: entry.key, seen: entry.seen});
    entry.wamid = answer.messages?.[0]?.id;
}

// What an upload that failed for the last time makes of its entry. It can be repeated at any time.
function setNotUploaded(entry, error) {
    set(entry, error.status === 0 ? 'stopped' : 'failed', error);
}

// Returns whether a failed request of an entry is to be repeated; else its state says why not.
function hasNext(entry, error, isLast) {
    if (entry.state === 'cancelled')
        return false;
    if (isUploading(entry)) {
        if (!isLast && isUnknown(error, entry))
            return true;
        setNotUploaded(entry, error);
        return false;
    }
    if (!isUnknown(error, entry)) {
        set(entry, 'failed', error);
        return false;
    }
    entry.isDoubtful = true;
    if (!isLast && isWorthRepeating(error))
        return true;
    set(entry, 'unknown', error);
    return false;
}

// Sends an entry until its outcome is known, or asking again does not help.
async function settleEntry(entry) {
    for (let i = 0; ; i++) {
        try {
            await attempt(entry);
            set(entry, 'sent');
            checkChanges();
            return;
        } catch (error) {
            if (!hasNext(entry, error, i >= PAUSES.length))
                return;
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSES[i]));
        if (!entries.includes(entry))
            return;
    }
}

// Sends an entry; the same call repeats it.
export async function deliver(entry) {
    entry.askedAt ??= Date.now();
    set(entry, 'sending');
    await settleEntry(entry);
    deliverNext();
}

// Sends those that wait for one that is settled, so that the recipient gets them in their order.
function deliverNext() {
    const isOpen = (entry) => ['waiting', 'sending'].includes(entry.state) || canGoOn(entry);
    for (const entry of entries.filter(({state}) => state === 'waiting'))
        if (!entries.some((one) => one.id === entry.after && isOpen(one)))
            deliver(entry);
}

// Adds messages and sends them, one after another: [{threadId, key, path, body, text, draft}]. With
// a file to upload first, `file` is {id, file, uploadKey, phoneNumberId}, and the body's `media` or
// `sticker` gets its id. `text` is what the page shows, `draft` the {text, quoted} that it was made
// of, or null, `seen` the thread and its last change that the user has seen. Messages of the same
// draft in two tabs have the same keys: one tab sends them.
export async function enqueue(messages) {
    const now = Date.now();
    const fresh = messages.map((message, i) => ({...message, id: `out-${message.key}`,
        state: 'sending', error: null, at: new Date(now + i).toISOString()}));
    fresh.forEach((entry, i) => {
        entry.batch = fresh[0].id;
        entry.after = fresh[i - 1]?.id;
    });
    entries.push(...fresh);
    fresh.slice(1).forEach((entry) => set(entry, 'waiting'));
    set(fresh[0], 'sending');
    if (!await lock(fresh[0]))
        fresh.forEach(leaveToOther);
    else if (entries.includes(fresh[0]))
        await deliver(fresh[0]);
    else
        deliverNext(); // it was cancelled meanwhile
}

function leaveToOther(entry) {
    const at = entries.indexOf(entry);
    if (at < 0)
        return; // its user has logged out
    entries.splice(at, 1);
    notify(entry);
    awaitOther(entry);
}

// A failed message is sent again as a new one: its key has its answer, unless its file was not
// uploaded.
// After a colleague's answer it is the user's wish to send it all the same.
export function sendAgain(entry) {
    if (!isUploading(entry))
        entry.key = newKey();
    if (entry.error?.colleague)
        entry.seen = null;
    entry.askedAt = Date.now();
    entry.isDoubtful = false;
    return deliver(entry);
}

// Removes those that the thread shows now. A message whose first answer was lost may be in the
// thread before its wamid is known here.
export function removeShown(threadId, hasMessage) {
    for (const entry of waiting(threadId))
        if (entry.wamid && hasMessage(entry.wamid))
            remove(entry);
}

function askAgain(list) {
    for (const entry of list.filter(canGoOn))
        deliver(entry);
}

// The same, and asks again for those whose outcome is unknown: the first status of a message
// settles it.
export function settle(threadId, hasMessage) {
    removeShown(threadId, hasMessage);
    askAgain(waiting(threadId));
}

window.addEventListener('online', () => askAgain(entries));
