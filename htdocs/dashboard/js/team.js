// The members of the workspace, for those who answer together.
import {call} from './api.js';
import {onOwnerLeft} from './kept.js';
import {may, session} from './session.js';

let members = null; // a promise of the present ones

onOwnerLeft(() => { members = null; });

// A promise of the members who may answer: [{id, name, isSelf}]. It is read once; fresh: anew.
export function answering({isFresh = false} = {}) {
    if (!members || isFresh)
        members = call('GET', '/v2/members').then(({items}) =>
            items.filter(({role}) => role !== 'viewer'));
    members.catch(() => { members = null; });
    return members;
}

// Whether the member of this page may answer, and change what an inbox holds: a viewer reads.
export function mayAnswer() {
    return may('send') && may('inbox');
}

// Whether the member of this page may change templates, lines and webhooks.
export function mayManage() {
    return may('manage');
}

// Whether a member is the one of this page.
export function isSelf(member) {
    return member?.id === session()?.member.id;
}
