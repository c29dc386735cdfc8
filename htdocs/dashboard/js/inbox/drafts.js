// What was typed in each thread and not sent: {id, text, files, quoted}. `files` has one {id, file,
// uploadKey, phoneNumberId} for each, `quoted` is the message that it answers.
import {dropKept, keep, onOwnerLeft, readKept} from '../kept.js';

const KIND = 'draft';
const NONE = {id: null, text: '', files: [], quoted: null};

const drafts = new Map(); // of the threads that were open in this page
onOwnerLeft(() => drafts.clear());

// --- The same draft in several tabs --------------------------------------------------------------

const tabs = new BroadcastChannel('switchboard-drafts');

// Names what is sent of a draft: the same in each tab that sends the same, so that the gateway
// sends it once, and another one for what was changed in one tab.
export function keyOf(draft, part) {
    let low = 0x811c9dc5, high = 0x1000193; // FNV-1a and a second one beside it
    for (const letter of JSON.stringify(part)) {
        low = Math.imul(low ^ letter.codePointAt(0), 0x01000193);
        high = Math.imul(high ^ letter.codePointAt(0), 0x85ebca6b) ^ (high >>> 13);
    }
    const digits = (value) => (value >>> 0).toString(16).padStart(8, '0');
    return `${draft.id}-${digits(low)}${digits(high)}`;
}

// Says in the other tabs that this draft was sent.
export function announceSent({id, text, files}) {
    tabs.postMessage({id, text, files: files.map((file) => file.id)});
}

// Whether a draft is what another tab has sent, without a later change.
export function isSame(draft, sent) {
    return draft.id === sent.id && draft.text === sent.text &&
        draft.files.every((file) => sent.files.includes(file.id));
}

// What the other tab stored since then is read anew.
tabs.addEventListener('message', ({data}) => {
    for (const [thread, draft] of drafts)
        if (isSame(draft, data))
            drafts.delete(thread);
});

// Calls listener({id, text, files}) when another tab has sent a draft; `files` are ids. Returns a
// function that ends it.
export function onSentElsewhere(listener) {
    const receive = ({data}) => listener(data);
    tabs.addEventListener('message', receive);
    return () => tabs.removeEventListener('message', receive);
}

// --- Storage -------------------------------------------------------------------------------------

// Two drafts as one: the first text stands above the other one.
export function joined(first, second) {
    return {
        id: first.id ?? second.id,
        text: [first.text, second.text].filter((text) => text.trim()).join('\n\n'),
        files: [...first.files, ...second.files], quoted: second.quoted ?? first.quoted,
    };
}

// Stores the draft of a thread, or none. The promise ends when it is stored.
export function saveDraft(id, draft) {
    if (!draft) {
        drafts.delete(id);
        return dropKept(KIND, id);
    }
    drafts.set(id, draft);
    return keep(KIND, id, draft);
}

// The draft of a thread that was open in this page.
export function draftOf({id}) {
    return drafts.get(id) ?? NONE;
}

// The stored draft of a thread that was not open in this page, with those of the threads that were
// merged into it; null if there is none.
export async function storedDraft({id, formerIds}) {
    const known = drafts.has(id);
    const rows = await readKept(KIND);
    const found = [...known ? [] : [id], ...formerIds]
        .map((one) => rows.find((row) => row.id === one)).filter(Boolean);
    for (const {id: former} of found.filter((row) => row.id !== id)) {
        drafts.delete(former);
        dropKept(KIND, former);
    }
    return found.length ? found.map(({value}) => value).reduce(joined) : null;
}
