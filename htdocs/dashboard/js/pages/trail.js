// The trail: who changed what, newest first.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {saveCsv} from '../download.js';
import {t} from '../i18n.js';
import {lineNames} from '../lines.js';
import {keepInAddress} from '../router.js';
import {button, empty, field, form, heading, pagedTable, timestamp} from '../ui.js';

export const title = 'trail.title';

const COLUMNS = (linesOf) => [
    {label: t('trail.time'), kind: 'nowrap', cell: (row) => timestamp(row.at)},
    {label: t('trail.actor'), cell: actorOf},
    {label: t('trail.action'), kind: 'wide', cell: (row) => actionOf(row, linesOf)},
    {
        label: t('trail.object'), kind: 'narrow',
        cell: (row) => (row.objectId ? el('code', {class: 'cut id'}, row.objectId) : '–'),
    },
    {label: t('trail.address'), kind: 'narrow', cell: (row) => row.address || '–'},
];

// A member by the email address, which no token and no command has.
function actorOf({actor: {id, name}}) {
    const text = id === 'token' ? t('trail.token')
        : id.startsWith('cli:') ? t('trail.command', {name}) : name;
    return el('span', {class: 'cut who', title: text}, text);
}

// linesOf(ids): the names of lines; null: all.
function actionOf({action, details}, linesOf) {
    const {fields = [], to, lineIds, ownThreadsOnly: own, object} = details;
    const threadsOf = (isOwn) => t(isOwn ? 'trail.ownThreads' : 'trail.allThreads');
    const limits = [
        lineIds && t('trail.lines', {from: linesOf(lineIds.from), to: linesOf(lineIds.to)}),
        own && t('trail.threads', {from: threadsOf(own.from), to: threadsOf(own.to)}),
    ].filter(Boolean);
    const text = limits.length > 0 ? limits.join(', ')
        : to ? t('trail.to', {name: to.name}) : to === null ? t('trail.toNone')
        : fields.join(', ');
    const shown = [object?.name ?? object?.email, text].filter(Boolean).join(' · ');
    return el('span', {}, el('code', {}, action),
        shown && el('span', {class: 'muted small foreign'}, ` ${shown}`));
}

// What a text limits the list to: an action has a dot, the id of a person or token has a beginning.
function filterOf(text) {
    if (/^(mbr_|tok_|usr_|cli:)/.test(text) || text === 'token' || text === 'unknown')
        return {actor: text};
    return /^[a-z_]+\.[a-z_-]+$/.test(text) ? {action: text} : {object: text};
}

export function show(root, parameters) {
    let q = parameters.q ?? '', lines = null;
    const linesOf = (ids) => (ids ? lineNames(lines, ids, 'id') : t('trail.allLines'));
    const list = pagedTable({
        caption: t('trail.title'), columns: COLUMNS(linesOf),
        async load(after) {
            lines ??= (await call('GET', '/v2/lines', {query: {archived: 'all'}})).items;
            return call('GET', '/v2/trail', {query: {...filterOf(q), limit: 100, after}});
        },
        empty: () => (q ? empty(t('trail.notFound'), t('trail.notFoundText'))
            : empty(t('trail.none'), t('trail.noneText'))),
    });
    const search = field({
        label: t('trail.search'), name: 'q', type: 'search', value: q,
        autocomplete: 'off', spellcheck: 'false',
    });
    fill(root, heading(t('trail.title'), {
        text: t('trail.text'),
        actions: [
            button(t('trail.download'),
                () => saveCsv('/v2/trail', filterOf(q), 'switchboard-trail.csv'),
                {icon: 'download'}),
            button(t('ui.refresh'), list.reload, {icon: 'refresh'}),
        ],
    }), form({
        fields: [search], submit: t('trail.find'), kind: '', class: 'form search-form',
        async onSubmit() {
            q = search.value.trim();
            keepInAddress('/trail', {q});
            await list.reload();
        },
    }), list.root);
}
