// Template definitions of the accounts: read once and kept until they are refreshed.
import {call} from '../api.js';

const PAGE = 100;
const PAGES = 20;

const known = new Map(); // selector -> promise of the list
let found = new Map(); // selector, name and language -> definition, null while it is unknown

async function readAll(selector) {
    const list = [];
    let after;
    for (let i = 0; i < PAGES; i++) {
        const {items, paging} = await call('GET', '/v2/templates',
            {query: {...selector, limit: PAGE, after}});
        list.push(...items);
        after = paging?.cursors?.after;
        if (!paging?.next || !after || !items.length)
            break;
    }
    return list;
}

// All templates of an account, which `selector` names: {accountId} or {phoneNumberId}.
export function templatesOf(selector, {isFresh = false} = {}) {
    const name = JSON.stringify(selector);
    if (isFresh)
        known.delete(name);
    if (!known.has(name)) {
        const reading = readAll(selector);
        known.set(name, reading);
        reading.catch(() => known.delete(name));
    }
    return known.get(name);
}

// The definitions behind the template messages of a thread: find(name, language) returns one, or
// null; then it is read, and `onFound` is called when it is there.
export function definitions(phoneNumberId, onFound) {
    let isStopped = false;

    async function read(id, name, language) {
        try {
            found.set(id, await call('GET', `/v2/templates/${encodeURIComponent(name)}`,
                {query: {phoneNumberId, language}}));
            if (!isStopped)
                onFound();
        } catch {
            // a template that was deleted: its messages show its name and their parameters
        }
    }

    return {
        find(name, language) {
            const id = JSON.stringify([phoneNumberId, name, language]);
            if (name && !found.has(id)) {
                found.set(id, null);
                read(id, name, language);
            }
            return found.get(id) ?? null;
        },
        stop() {
            isStopped = true;
        },
    };
}

export function forgetTemplates() {
    known.clear();
    found = new Map();
}
