// The scoped tokens of the workspace: what a program may do that has one.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {linesFields} from '../line_choice.js';
import {lineNames} from '../lines.js';
import {
    badge, button, card, checks, confirm, copyButton, dialog, empty, field, form, heading, loaded,
    moment, notice, table, toast,
} from '../ui.js';

export const title = 'tokens.title';

const SCOPES = ['basic', 'read', 'send', 'inbox', 'events', 'manage'];
const OF_ALL_LINES = ['events', 'manage'];
const ENDS = ['30', '90', '365', 'never'];

function scopesField(value) {
    return checks({
        label: t('tokens.scopes'), name: 'scopes', value,
        options: SCOPES.map((scope) => [scope, scope, t(`tokens.scope.${scope}`)]),
    });
}

function nameField(value) {
    return field({
        label: t('tokens.name'), name: 'name', required: true, value, autocomplete: 'off',
        hint: t('tokens.nameHint'),
    });
}

// Whether lines and scopes of a form go together.
function check(lines, scopes) {
    const isTooMuch = lines.value && scopes.value.some((one) => OF_ALL_LINES.includes(one));
    scopes.setError(isTooMuch ? t('tokens.ofAllLines') : null);
    return lines.check() && !isTooMuch;
}

function showToken(box, close, token) {
    fill(box, notice('warn', t('tokens.once'), el('p', {}, t('tokens.onceText'))),
        el('div', {class: 'secret-row'},
            el('code', {class: 'secret', tabindex: '0', 'aria-label': t('tokens.token')}, token),
            copyButton(token, t('ui.copy'), {kind: 'primary'})),
        el('div', {class: 'form-actions'}, button(t('tokens.stored'), () => close(true))));
    box.querySelector('.secret-row button').focus();
}

function make(all) {
    return dialog(t('tokens.make'), (close) => {
        const box = el('div', {class: 'stack'});
        const name = nameField(''), scopes = scopesField(['basic']), lines = linesFields(all, null);
        const days = field({
            label: t('tokens.ends'), name: 'days', type: 'select', value: '365',
            options: ENDS.map((end) => [end, end === 'never' ? t('ui.never')
                : t('tokens.days', {count: Number(end)})]),
        });
        fill(box, form({
            fields: [name, scopes, ...lines.fields, days], submit: t('tokens.make'),
            actions: [button(t('ui.cancel'), () => close())],
            async onSubmit() {
                if (!check(lines, scopes))
                    return;
                const {token} = await call('POST', '/v2/tokens', {body: {
                    name: name.value, scopes: scopes.value, lineIds: lines.value,
                    days: days.value === 'never' ? null : Number(days.value),
                }});
                showToken(box, close, token);
            },
        }));
        return box;
    });
}

function change(one, all) {
    return dialog(one.name, (close) => {
        const name = nameField(one.name), scopes = scopesField(one.scopes);
        const lines = linesFields(all, one.lineIds);
        return [form({
            fields: [name, scopes, ...lines.fields], submit: t('ui.save'),
            actions: [button(t('ui.cancel'), () => close())],
            async onSubmit() {
                if (!check(lines, scopes))
                    return;
                await call('PATCH', `/v2/tokens/${encodeURIComponent(one.id)}`, {body: {
                    name: name.value, scopes: scopes.value, lineIds: lines.value}});
                close(true);
            },
        })];
    });
}

async function revoke(one, reload) {
    if (!await confirm(t('tokens.revoke'), t('tokens.revokeText', {name: one.name}),
        t('tokens.revoke')))
        return;
    await call('DELETE', `/v2/tokens/${encodeURIComponent(one.id)}`);
    toast(t('tokens.revoked', {name: one.name}));
    await reload();
}

function endOf({expiresAt}) {
    if (!expiresAt)
        return t('ui.never');
    return new Date(expiresAt) < new Date() ? badge('bad', t('tokens.ended')) : moment(expiresAt);
}

const COLUMNS = (reload, lines) => [
    {
        label: t('tokens.name'),
        cell: (one) => el('span', {}, el('span', {class: 'foreign'}, one.name), ' ',
            el('code', {class: 'muted'}, `…${one.last4}`)),
    },
    {label: t('tokens.scopes'), kind: 'wide', cell: (one) => one.scopes.join(', ')},
    {
        label: t('lineChoice.title'), kind: 'wide',
        cell: ({lineIds}) => lineIds ? el('span', {class: 'foreign'},
            lineNames(lines, lineIds, 'id')) : t('lineChoice.all'),
    },
    {label: t('tokens.made'), kind: 'narrow', cell: (one) => moment(one.createdAt)},
    {
        label: t('tokens.by'), kind: 'narrow',
        cell: (one) => el('span', {class: 'foreign'}, one.createdBy),
    },
    {label: t('tokens.ends'), cell: endOf},
    {
        label: t('tokens.used'),
        cell: ({lastUsedAt}) => lastUsedAt ? moment(lastUsedAt) : t('ui.never'),
    },
    {
        label: el('span', {class: 'off-screen'}, t('tokens.action')), kind: 'number',
        cell: (one) => el('div', {class: 'row end'},
            button(t('tokens.change'), async () => {
                if (await change(one, lines))
                    await reload();
            }, {kind: 'quiet'}),
            button(t('tokens.revoke'), () => revoke(one, reload))),
    },
];

const readLines = async () =>
    (await call('GET', '/v2/lines', {query: {archived: 'all'}})).items;

export function show(root) {
    const list = loaded(async () => {
        const [{items}, lines] = await Promise.all([call('GET', '/v2/tokens'), readLines()]);
        return items.length > 0
            ? table({caption: t('tokens.title'), columns: COLUMNS(list.reload, lines), items})
            : empty(t('tokens.none'), t('tokens.noneText'));
    });
    fill(root, heading(t('tokens.title'), {
        text: t('tokens.text'),
        actions: [button(t('tokens.make'), async () => {
            await make(await readLines());
            await list.reload();
        }, {kind: 'primary', icon: 'plus'})],
    }), card(t('tokens.title'), {kind: 'flush'}, list.root));
    list.reload();
}
