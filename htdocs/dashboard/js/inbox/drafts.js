// What was typed in each thread and not sent: {text, file, quoted}. `file` is {id, file, uploadKey,
// phoneNumberId}, `quoted` the message that it answers.
import {dropKept, keep, onOwnerLeft, readKept} from '../kept.js';

const KIND = 'draft';
const NONE = {text: '', file: null, quoted: null};

const drafts = new Map(); // of the threads that were open in this page
onOwnerLeft(() => drafts.clear());

// Two drafts as one: the first text stands above the other one.
export function joined(first, second) {
    return {
        text: [first.text, second.text].filter((text) => text.trim()).join('\n\n'),
        file: second.file ?? first.file, quoted: second.quoted ?? first.quoted,
    };
}

export function saveDraft(id, draft) {
    if (draft.text || draft.file || draft.quoted) {
        drafts.set(id, draft);
        keep(KIND, id, draft);
    } else {
        drafts.delete(id);
        dropKept(KIND, id);
    }
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
