// The canned replies of the workspace: texts that its members send often.
import {call} from './api.js';
import {onOwnerLeft} from './kept.js';
import {isSelf, mayManage} from './team.js';

const PAGE = 100;
const MOST_PAGES = 5;
const FRESH = 60000; // ms

let known = null; // {at, replies: a promise}

export function forgetReplies() {
    known = null;
}

onOwnerLeft(forgetReplies);

async function readAll() {
    const replies = [];
    for (let i = 0, after; i < MOST_PAGES && (i === 0 || after); i++) {
        const {items, paging} = await call('GET', '/v2/replies', {query: {limit: PAGE, after}});
        replies.push(...items);
        after = paging.cursors.after;
    }
    return replies;
}

// A promise of all of them, in the order of their shortcuts. It is read anew after a minute.
export function cannedReplies() {
    if (!known || Date.now() - known.at > FRESH) {
        known = {at: Date.now(), replies: readAll()};
        known.replies.catch(forgetReplies);
    }
    return known.replies;
}

// Whether the member of this page may change it.
export function mayChange(reply) {
    return isSelf(reply.by) || mayManage();
}

// The text with the names in their places.
export function filled(text, {name, agent}) {
    const names = {'{name}': name, '{agent}': agent};
    return text.replace(/\{(?:name|agent)\}/g, (place) => names[place]);
}
