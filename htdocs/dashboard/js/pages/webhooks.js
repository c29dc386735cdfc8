// The webhooks: the URLs to which events and the platform's POSTs go.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {number, t} from '../i18n.js';
import {go} from '../router.js';
import {breakable, button, empty, heading, notice, pagedTable, toast} from '../ui.js';
import {edit} from '../webhooks/editor.js';
import {contentOf, kindBadge, nameOf, stateOf} from '../webhooks/show.js';

export const title = 'webhooks.title';

const COLUMNS = () => [
    {label: t('webhooks.name'), cell: (webhook) => 
        el('span', {class: 'foreign'}, breakable(nameOf(webhook)))},
    {label: t('webhooks.stateTitle'), cell: stateOf},
    {label: t('webhooks.kindTitle'), kind: 'narrow', cell: kindBadge},
    {label: t('webhooks.gets'), kind: 'narrow', cell: contentOf},
    {
        label: t('webhooks.pending'), kind: 'number narrow',
        cell: (webhook) => number(webhook.pendingEvents),
    },
    {
        label: t('webhooks.dead'), kind: 'number narrow',
        cell: (webhook) => number(webhook.deadEvents),
    },
];

async function add() {
    const webhook = await edit(null);
    if (webhook) {
        toast(t('webhooks.added'));
        go(`/webhooks/${webhook.id}`);
    }
}

export async function show(root) {
    const addButton = () => button(t('webhooks.add'), add, {kind: 'primary'});
    const courier = el('div', {});
    const list = pagedTable({
        caption: t('webhooks.title'), columns: COLUMNS(),
        href: (webhook) => `#/webhooks/${webhook.id}`,
        load: (after) => call('GET', '/v2/webhooks', {query: {limit: 50, after}}),
        empty: () => empty(t('webhooks.none'), t('webhooks.noneText')),
    });
    fill(root, heading(t('webhooks.title'), {
        text: t('webhooks.text'),
        actions: [button(t('ui.refresh'), list.reload, {icon: 'refresh'}), addButton()],
    }), courier, list.root);
    const overview = await call('GET', '/v2/overview');
    if (!overview.courier.isRunning)
        fill(courier, notice('warn', t('webhooks.noCourier')));
}
