// The request log: the calls of the API, newest first.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {milliseconds, t} from '../i18n.js';
import {keepInAddress} from '../router.js';
import {
    badge, button, choices, copyButton, empty, field, form, heading, pagedTable, timestamp,
} from '../ui.js';

export const title = 'requests.title';

function statusBadge({status}) {
    return badge(status < 300 ? 'ok' : status < 400 ? 'plain' : status < 500 ? 'warn' : 'bad',
        String(status));
}

const COLUMNS = () => [
    {label: t('requests.status'), cell: statusBadge},
    {
        label: t('requests.route'), kind: 'wide',
        cell: (one) => el('code', {}, `${one.method} ${one.route}`),
    },
    {label: t('requests.by'), kind: 'narrow', cell: (one) => by(one.by)},
    {label: t('events.duration'), kind: 'number narrow', cell: (one) => milliseconds(one.ms)},
    {
        label: t('requests.id'), kind: 'narrow',
        cell: (one) => el('span', {class: 'row nowrap'},
            el('code', {class: 'cut id'}, one.requestId),
            copyButton(one.requestId, t('requests.copyId'), {kind: 'quiet', isIconOnly: true})),
    },
    {
        label: t('requests.time'), kind: 'nowrap',
        cell: (one) => timestamp(one.time),
    },
];

function by(who) {
    return who === 'session' || who === 'token' ? t(`requests.${who}`) : '–';
}

// What the list can be limited to, as fields of the query.
const FILTERS = {
    '': {}, token: {by: 'token'}, failed: {failed: 'true'},
    tokenFailed: {by: 'token', failed: 'true'},
};

export function show(root, parameters) {
    let requestId = parameters.requestId ?? '';
    let filter = parameters.filter in FILTERS ? parameters.filter : '';
    const list = pagedTable({
        caption: t('requests.title'), columns: COLUMNS(),
        load: (after) => call('GET', '/v2/requests',
            {query: {requestId, ...FILTERS[filter], limit: 100, after}}),
        empty: () => (requestId || filter
            ? empty(t('requests.notFound'), t('requests.notFoundText'))
            : empty(t('requests.none'), t('requests.noneText'))),
    });
    const search = field({
        label: t('requests.search'), name: 'requestId', type: 'search', value: requestId,
        autocomplete: 'off', spellcheck: 'false',
    });

    async function reload() {
        keepInAddress('/requests', {requestId, filter});
        await list.reload();
    }

    fill(root, heading(t('requests.title'), {
        text: t('requests.text'),
        actions: [button(t('ui.refresh'), list.reload, {icon: 'refresh'})],
    }), form({
        fields: [search], submit: t('requests.find'), kind: '', class: 'form search-form',
        onSubmit() {
            requestId = search.value.trim();
            return reload();
        },
    }), choices(t('requests.filter'), Object.keys(FILTERS).map((name) =>
        [name, t(name ? `requests.filters.${name}` : 'ui.all')]), filter, (name) => {
        filter = name;
        return reload();
    }), list.root);
}
