// The scoped tokens of the workspace: what a program may do that has one.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {
    badge, button, card, checks, confirm, copyButton, dialog, empty, field, form, heading, loaded,
    moment, notice, table, toast,
} from '../ui.js';

export const title = 'tokens.title';

const SCOPES = ['basic', 'read', 'send', 'inbox', 'events', 'manage'];
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

function showToken(box, close, token) {
    fill(box, notice('warn', t('tokens.once'), el('p', {}, t('tokens.onceText'))),
        el('div', {class: 'secret-row'},
            el('code', {class: 'secret', tabindex: '0', 'aria-label': t('tokens.token')}, token),
            copyButton(token, t('ui.copy'), {kind: 'primary'})),
        el('div', {class: 'form-actions'}, button(t('tokens.stored'), () => close(true))));
    box.querySelector('.secret-row button').focus();
}

function make() {
    return dialog(t('tokens.make'), (close) => {
        const box = el('div', {class: 'stack'});
        const name = nameField(''), scopes = scopesField(['basic']);
        const days = field({
            label: t('tokens.ends'), name: 'days', type: 'select', value: '365',
            options: ENDS.map((end) => [end, end === 'never' ? t('ui.never')
                : t('tokens.days', {count: Number(end)})]),
        });
        fill(box, form({
            fields: [name, scopes, days], submit: t('tokens.make'),
            actions: [button(t('ui.cancel'), () => close())],
            async onSubmit() {
                const {token} = await call('POST', '/v2/tokens', {body: {
                    name: name.value, scopes: scopes.value,
                    days: days.value === 'never' ? null : Number(days.value),
                }});
                showToken(box, close, token);
            },
        }));
        return box;
    });
}

function change(one) {
    return dialog(one.name, (close) => {
        const name = nameField(one.name), scopes = scopesField(one.scopes);
        return [form({
            fields: [name, scopes], submit: t('ui.save'),
            actions: [button(t('ui.cancel'), () => close())],
            async onSubmit() {
                await call('PATCH', `/v2/tokens/${encodeURIComponent(one.id)}`,
                    {body: {name: name.value, scopes: scopes.value}});
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

const COLUMNS = (reload) => [
    {
        label: t('tokens.name'),
        cell: (one) => el('span', {}, el('span', {class: 'foreign'}, one.name), ' ',
            el('code', {class: 'muted'}, `…${one.last4}`)),
    },
    {label: t('tokens.scopes'), kind: 'wide', cell: (one) => one.scopes.join(', ')},
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
                if (await change(one))
                    await reload();
            }, {kind: 'quiet'}),
            button(t('tokens.revoke'), () => revoke(one, reload))),
    },
];

export function show(root) {
    const list = loaded(async () => {
        const {items} = await call('GET', '/v2/tokens');
        return items.length > 0
            ? table({caption: t('tokens.title'), columns: COLUMNS(list.reload), items})
            : empty(t('tokens.none'), t('tokens.noneText'));
    });
    fill(root, heading(t('tokens.title'), {
        text: t('tokens.text'),
        actions: [button(t('tokens.make'), async () => {
            await make();
            await list.reload();
        }, {kind: 'primary', icon: 'plus'})],
    }), card(t('tokens.title'), {kind: 'flush'}, list.root));
    list.reload();
}
