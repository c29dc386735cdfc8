// The delivery log: the events of the webhooks, newest first.
import {call} from '../api.js';
import {OTHER_TYPES, STATES, answerOf, stateBadge} from '../delivery.js';
import {el, fill} from '../dom.js';
import {eventTypes} from '../event_types.js';
import {t} from '../i18n.js';
import {toIso, toLocal} from '../local_time.js';
import {address, keepInAddress} from '../router.js';
import {
    button, choices, dialog, empty, field, form, heading, linkButton, loading, moment, pagedTable,
    timestamp, toast,
} from '../ui.js';
import {identityOf, nameOf as contactName} from '../inbox/describe.js';
import {nameOf} from '../webhooks/show.js';

export const title = 'events.title';

// --- Replay of all that failed -------------------------------------------------------------------

// The server replays a part with each call, so that none holds the database for long.
async function replayAll(body) {
    let total = 0;
    for (;;) {
        const {replayed, more} = await call('POST', '/v2/events/replay', {body});
        total += replayed;
        if (!more || !replayed)
            return total;
    }
}

function replayDialog() {
    const since = field({
        label: t('events.since'), name: 'since', type: 'datetime-local', required: true,
        value: toLocal(new Date(Date.now() - 24 * 3600 * 1000)),
    });
    const retrying = field({
        label: t('events.replayRetrying'), name: 'retrying', type: 'checkbox', value: true,
        hint: t('events.replayRetryingHint'),
    });
    return dialog(t('events.replayAll'), (close) => [
        el('p', {}, t('events.replayAllText')),
        form({
            fields: [since, retrying], submit: t('events.replayAll'),
            actions: [button(t('ui.cancel'), () => close())],
            async onSubmit() {
                const count = await replayAll(
                    {since: toIso(since.value), retrying: retrying.value});
                toast(t('events.replayed', {count}));
                close(true);
            },
        }),
    ]);
}

// --- Filters and table ---------------------------------------------------------------------------

// The webhooks to choose from, when there are several; that of the address too.
function webhookChoice(filter, webhooks, change) {
    if (webhooks.length < 2 && !filter.webhookId)
        return null;
    const options = webhooks.map((webhook) => [webhook.id, nameOf(webhook)]);
    if (filter.webhookId && !webhooks.some(({id}) => id === filter.webhookId))
        options.push([filter.webhookId, filter.webhookId]);
    return field({
        label: t('events.webhook'), type: 'select', value: filter.webhookId ?? '',
        options: [['', t('ui.any')], ...options], on: {change: change('webhookId')},
    }).root;
}

// The types to choose from: that of the address at once, all when their list is there.
function typeFilter(chosen, onChange) {
    const option = (type) => el('option', {value: type}, type);
    const type = field({
        label: t('events.column.type'), type: 'select', value: chosen ?? '',
        options: [['', t('ui.any')], ...[...new Set([chosen, ...OTHER_TYPES])]
            .filter(Boolean).map((one) => [one, one])],
        on: {change: onChange},
    });
    const known = [...type.input.options].map(({value}) => value);
    eventTypes().then(({types}) => type.input.append(...types
        .filter((one) => !known.includes(one)).map(option)),
    () => type.input.append(el('option', {disabled: true}, t('events.typesMissing'))));
    return type.root;
}

function filterBar(filter, webhooks, apply) {
    const change = (name) => (event) => apply({[name]: event.currentTarget.value});
    const since = field({
        label: t('events.since'), type: 'datetime-local', value: filter.since ?? '',
        on: {change: change('since')},
    });
    const until = field({
        label: t('events.until'), type: 'datetime-local', value: filter.until ?? '',
        on: {change: change('until')},
    });
    const states = [['', t('ui.all')],
        ...STATES.map((state) => [state, t(`events.state.${state}`)]),
        ['failed', t('events.failed')]];
    return el('div', {class: 'filters'},
        el('div', {class: 'filters-row'}, choices(t('events.column.state'), states,
            filter.state ?? '', (state) => apply({state}))),
        field({
            label: t('events.search'), type: 'search', value: filter.q ?? '',
            on: {change: (event) => apply({q: event.currentTarget.value.trim()})},
        }).root,
        typeFilter(filter.type, change('type')), webhookChoice(filter, webhooks, change),
        since.root, until.root);
}

// Whom an event is about; the name is the contact's of now.
function about({contact}) {
    return contact && el('span', {class: 'cut', title: identityOf(contact)},
        el('bdi', {}, contactName(contact)));
}

// In two lines; the scheme of a URL is left out, because its end differs most.
function webhookNames(event, names) {
    const text = event.webhooks.map(({webhookId}) => names.get(webhookId) ?? webhookId).join(', ');
    return el('span', {class: 'foreign clamp', title: text},
        text.replaceAll(/https?:\/\//g, ''));
}

const COLUMNS = (names) => [
    {label: t('events.column.type'), cell: (event) => el('code', {}, event.type)},
    {label: t('events.column.about'), cell: about},
    {
        label: t('events.column.webhook'), kind: 'narrow',
        cell: (event) => webhookNames(event, names),
    },
    {label: t('events.column.state'), cell: stateBadge},
    {
        label: t('events.answer'), kind: 'narrow',
        cell: (event) => answerOf(event.lastStatus, event.lastError),
    },
    {label: t('events.column.attempts'), kind: 'number narrow', cell: (event) => event.attempts},
    {
        label: t('events.column.next'), kind: 'narrow nowrap',
        cell: (event) => moment(event.state === 'pending' && event.nextAttemptAt),
    },
    {
        label: t('events.column.created'), kind: 'nowrap',
        cell: (event) => timestamp(event.createdAt),
    },
];

function queryOf(filter, after) {
    const isFailed = filter.state === 'failed';
    return {
        state: isFailed ? undefined : filter.state, failed: isFailed ? 'true' : undefined,
        type: filter.type, webhookId: filter.webhookId, q: filter.q || undefined,
        since: toIso(filter.since), until: toIso(filter.until), limit: 50, after,
    };
}

function showEmpty(filter) {
    return Object.values(filter).some(Boolean)
        ? empty(t('events.none'), null, linkButton(t('ui.reset'), '#/events'))
        : empty(t('events.noneYet'), t('events.noneYetText'),
            linkButton(t('events.toWebhook'), '#/webhooks'));
}

export async function show(root, parameters) {
    const {state, type, webhookId, q, since, until} = parameters;
    const filter = {state, type, webhookId, q, since, until};
    const wait = loading();
    let list = null;
    fill(root, heading(t('events.title'), {
        text: t('events.text'),
        actions: [
            button(t('ui.refresh'), () => list?.reload(), {icon: 'refresh'}),
            button(t('events.replayAll'), async () => {
                if (await replayDialog())
                    await list?.reload();
            }),
        ],
    }), wait);
    const {items: webhooks} = await call('GET', '/v2/webhooks', {query: {limit: 100}});

    function apply(changed) {
        Object.assign(filter, changed);
        keepInAddress('/events', filter);
        return list.reload();
    }

    list = pagedTable({
        caption: t('events.title'),
        columns: COLUMNS(new Map(webhooks.map((one) => [one.id, nameOf(one)]))),
        href: (event) => address(`/events/${event.id}`, filter),
        load: (after) => call('GET', '/v2/events', {query: queryOf(filter, after)}),
        empty: () => showEmpty(filter),
    });
    wait.replaceWith(filterBar(filter, webhooks, apply), list.root);
}
