// The people who want no marketing: a list for each account, to which a person is added by hand.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {optIn, optOut, sourceText, whoText} from '../opt_outs.js';
import {personFrom} from '../recipient.js';
import {keepInAddress} from '../router.js';
import {may} from '../session.js';
import {button, dialog, empty, field, form, heading, loading, pagedTable, timestamp}
    from '../ui.js';

export const title = 'optOuts.title';

const COLUMNS = (remove) => [
    {label: t('optOuts.person'), cell: ({identity}) =>
        el('bdi', {class: 'foreign-line'}, whoText(identity))},
    {label: t('optOuts.sourceTitle'), cell: sourceText},
    {label: t('optOuts.since'), kind: 'narrow', cell: ({since}) => timestamp(since)},
    {
        label: el('span', {class: 'off-screen'}, t('optOuts.action')), kind: 'number',
        cell: (row) => may('send') && button(t('optOuts.remove'), () => remove(row)),
    },
];

function personField(value) {
    return field({label: t('optOuts.number'), name: 'to', value, required: true,
        autocomplete: 'off', spellcheck: 'false', hint: t('optOuts.numberHint')});
}

// What is typed in the field as {to} or {recipient}; null, with the reason at the field, if it is
// neither a number nor a name of a contact.
async function read(one, accountId) {
    const person = await personFrom(one.value, accountId);
    if (!person) {
        one.setError(t('optOuts.wrong'));
        one.input.focus();
    }
    return person;
}

// Resolves to true when the person was added.
function add(accountId) {
    const one = personField('');
    return dialog(t('optOuts.add'), (close) => form({
        fields: [one], submit: t('optOuts.add'),
        actions: [button(t('ui.cancel'), () => close())],
        async onSubmit() {
            const person = await read(one, accountId);
            if (!person)
                return;
            await optOut(accountId, person);
            close(true);
        },
    }));
}

// The choice of the account, where there are several; `onChoose` gets its id.
function accountField(accounts, value, onChoose) {
    const one = field({label: t('templates.account'), name: 'accountId', type: 'select', value,
        options: accounts.map(({id, displayName, wabaid}) => [id, displayName ?? wabaid])});
    one.input.addEventListener('change', () => onChoose(one.value));
    return el('div', {class: 'filters'}, one.root);
}

function searchForm(to, onFind) {
    const search = field({label: t('optOuts.number'), name: 'find', type: 'search', value: to,
        autocomplete: 'off', spellcheck: 'false', hint: t('optOuts.numberHint')});
    return form({fields: [search], submit: t('optOuts.find'), kind: '', class: 'form search-form',
        onSubmit: () => onFind(search)});
}

export async function show(root, parameters) {
    const box = el('div', {class: 'stack'}, loading());
    fill(root, heading(t('optOuts.title'), {text: t('optOuts.lead'), actions: [
        button(t('ui.refresh'), () => list?.reload(), {icon: 'refresh'}),
        may('send') && button(t('optOuts.add'), () => after(add(accountId)),
            {kind: 'primary', icon: 'plus'}),
    ]}), box);
    let list = null, {accountId, to = ''} = parameters;
    const {accounts} = await call('GET', '/v2/overview');
    accountId ??= accounts[0]?.id;

    async function reload() {
        keepInAddress('/optouts', {accountId, to});
        await list.reload();
    }

    async function after(done) {
        if (await done)
            await list.reload();
    }

    list = pagedTable({
        caption: t('optOuts.title'),
        columns: COLUMNS((row) => after(optIn(accountId, row))),
        load: (last) => call('GET', '/v2/opt-outs',
            {query: {accountId, to, limit: 50, after: last}}),
        empty: () => (to ? empty(t('optOuts.notFound'), t('optOuts.notFoundText'))
            : empty(t('optOuts.none'), t('optOuts.noneText'))),
    });
    fill(box, accounts.length > 1 && accountField(accounts, accountId, (chosen) => {
        accountId = chosen;
        return reload();
    }), searchForm(to, async (search) => {
        const person = search.value.trim() && await read(search, accountId);
        if (person === null)
            return;
        to = person ? person.to ?? person.recipient : '';
        await reload();
    }), list.root);
}
