// The member who takes care of a thread.
import {call} from '../api.js';
import {el} from '../dom.js';
import {t} from '../i18n.js';
import {answering, isSelf} from '../team.js';
import {button, dialog, toast} from '../ui.js';

// Those who may get it: the own member first, at the end none.
function options(members, present) {
    const own = members.filter(isSelf), others = members.filter((one) => !isSelf(one));
    return [...own, ...others, null].filter((one) => one?.id !== present?.id);
}

function labelOf(member) {
    return !member ? t('inbox.assign.none') : isSelf(member) ? t('inbox.assign.self') : member.name;
}

function choose(members, present) {
    return dialog(t('inbox.assign.title'), (close) => [
        el('p', {}, present ? t('inbox.assign.present', {name: present.name})
            : t('inbox.assign.unassigned')),
        el('div', {class: 'assignees'}, options(members, present).map((member) =>
            button(labelOf(member), () => close({member}), {class: 'button assignee'}))),
    ]);
}

// Asks for the member, and assigns the thread. Returns to whom it is assigned then, null: to none;
// undefined: nothing was changed. Another member may have been quicker.
export async function assign({id, assignee}) {
    const chosen = await choose(await answering({isFresh: true}), assignee);
    if (!chosen)
        return undefined;
    try {
        const answer = await call('PUT', `/v2/threads/${id}/assignee`,
            {body: {memberId: chosen.member?.id ?? null, from: assignee?.id ?? null}});
        return answer.assignee;
    } catch (error) {
        if (error.status !== 409 || error.details?.assignee === undefined)
            throw error;
        const other = error.details.assignee;
        toast(other ? t('inbox.assign.quicker', {name: other.name}) : t('inbox.assign.freed'),
            'bad');
        return other;
    }
}
