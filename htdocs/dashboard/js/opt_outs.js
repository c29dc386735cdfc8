// People who want no marketing from an account: what their page and the inbox share.
import {call} from './api.js';
import {t} from './i18n.js';
import {confirm, toast} from './ui.js';

// How a person is named: a number begins with +, a user id has letters.
export function whoText(identity) {
    return /^\d+$/.test(identity) ? `+${identity}` : identity;
}

export function sourceText({source}) {
    return t(`optOuts.source.${source}`);
}

// `person`: {to} or {recipient}.
export async function optOut(accountId, person) {
    const {items} = await call('POST', '/v2/opt-outs', {query: {accountId}, body: person});
    toast(t('optOuts.added', {who: items.map(({identity}) => whoText(identity)).join(', ')}));
}

// Asks first; returns whether the opt-out has ended.
export async function optIn(accountId, row) {
    const who = whoText(row.identity);
    const text = [t('optOuts.removeAsk', {who}), row.source !== 'api' && t('optOuts.removeOwn')];
    if (!await confirm(t('optOuts.removeTitle', {who}), text.filter(Boolean).join(' '),
        t('optOuts.remove')))
        return false;
    await call('DELETE', '/v2/opt-outs', {query: {accountId, to: row.identity}});
    toast(t('optOuts.removed', {who}));
    return true;
}
