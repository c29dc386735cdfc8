// The templates of an account, with filters.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {has, t} from '../i18n.js';
import {address, keepInAddress} from '../router.js';
import {isFound} from '../search.js';
import {lookup} from '../shape.js';
import {mayManage} from '../team.js';
import {exampleLines, textsOf} from '../templates/definition.js';
import {forgetTemplates, templatesOf} from '../templates/store.js';
import {badge, breakable, button, empty, errorBox, field, heading, linkButton, loading, table}
    from '../ui.js';

export const title = 'templates.title';

const KINDS = lookup({APPROVED: 'ok', PENDING: 'info', IN_APPEAL: 'info', PAUSED: 'warn',
    REJECTED: 'bad', DISABLED: 'bad', LIMIT_EXCEEDED: 'warn', PENDING_DELETION: 'warn'});
const QUALITY = lookup({GREEN: 'ok', YELLOW: 'warn', RED: 'bad'});

// A word of the platform; a new one is shown as it is.
export function word(group, value) {
    return has(`templates.${group}.${value}`) ? t(`templates.${group}.${value}`) : value;
}

export function statusBadge(template) {
    return badge(KINDS[template.status] ?? 'plain', word('status', template.status));
}

export function qualityBadge(template) {
    const score = template.quality_score?.score;
    return score in QUALITY ? badge(QUALITY[score], word('quality', score)) : null;
}

// Why the platform rejected the template, in words; null if it did not.
export function reasonOf({status, rejected_reason: reason}) {
    return status === 'REJECTED' && reason && reason !== 'NONE' ? word('rejected', reason) : null;
}

function bodyOf(template) {
    return exampleLines(template).find(({kind}) => kind === 'body')?.text ?? '';
}

function href({accountId}, template) {
    return `#/templates/${encodeURIComponent(template.name)}?${new URLSearchParams(
        {accountId, language: template.language})}`;
}

const COLUMNS = () => [
    {label: t('templates.name'), cell: (one) =>
        el('span', {class: 'foreign-line template-cell'},
            breakable(one.name))},
    {label: t('templates.text'), kind: 'narrow wide', cell: (one) =>
        el('bdi', {class: 'clamp muted'}, bodyOf(one))},
    {label: t('templates.language'), cell: ({language}) => language},
    {label: t('templates.categoryName'), kind: 'narrow', cell: ({category}) =>
        word('category', category)},
    {label: t('templates.statusName'), cell: (one) =>
        [statusBadge(one), reasonOf(one) && el('p', {class: 'small muted'}, reasonOf(one))]},
    {label: t('templates.quality.name'), kind: 'narrow', cell: (one) =>
        qualityBadge(one) ?? el('span', {class: 'muted'}, '–')},
];

// The values of a member, for a select.
function optionsOf(list, member, group) {
    const values = [...new Set(list.map((one) => one[member]).filter(Boolean))].sort();
    return [['', t('ui.any')], ...values.map((value) => [value,
        group ? word(group, value) : value])];
}

function matches(template, {search, status, category, language}) {
    return (!search || isFound(textsOf(template), search)) &&
        (!status || template.status === status) &&
        (!category || template.category === category) &&
        (!language || template.language === language);
}

export async function show(root, parameters) {
    const bar = el('div', {class: 'filters'});
    const box = el('div', {}, loading());
    fill(root, heading(t('templates.title'), {text: t('templates.lead'), actions: [
        button(t('templates.refresh'), () => {
            forgetTemplates();
            return load(true);
        }, {icon: 'refresh'}),
        mayManage() && linkButton(t('templates.editor.new'), '#/templates/-/edit',
            {kind: 'primary', icon: 'plus'}),
    ]}), bar, box);
    const {accounts} = await call('GET', '/v2/overview');
    const filters = {...parameters};
    filters.accountId ??= accounts[0]?.id;
    const drawNew = () => root.querySelector('a.primary')?.setAttribute('href',
        address('/templates/-/edit', {accountId: filters.accountId}));
    drawNew();

    function drawTable(list) {
        const found = list.filter((one) => matches(one, filters));
        const items = found.toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
        if (!list.length)
            fill(box, empty(t('templates.none'), t('templates.noneText')));
        else if (!items.length)
            fill(box, empty(t('templates.noneFound')));
        else
            fill(box, table({caption: t('templates.title'), columns: COLUMNS(), items,
                href: (one) => href(filters, one)}));
    }

    function select(list, name, label, options) {
        const one = field({label, name, type: 'select', options, value: filters[name] ?? ''});
        one.input.addEventListener('change', () => {
            filters[name] = one.value;
            keepInAddress('/templates', filters);
            if (name === 'accountId') {
                drawNew();
                load();
            } else {
                drawTable(list);
            }
        });
        return one.root;
    }

    function drawBar(list) {
        const search = field({label: t('templates.search'), type: 'search', name: 'search',
            value: filters.search});
        search.root.classList.add('grow');
        search.input.addEventListener('input', () => {
            filters.search = search.value.trim();
            keepInAddress('/templates', filters);
            drawTable(list);
        });
        fill(bar, search.root,
            accounts.length > 1 && select(list, 'accountId', t('templates.account'),
                accounts.map((one) => [one.id, one.displayName ?? one.wabaid])),
            select(list, 'status', t('templates.statusName'), optionsOf(list, 'status', 'status')),
            select(list, 'category', t('templates.categoryName'),
                optionsOf(list, 'category', 'category')),
            select(list, 'language', t('templates.language'), optionsOf(list, 'language')));
    }

    async function load(isFresh = false) {
        fill(box, loading());
        try {
            const list = await templatesOf({accountId: filters.accountId}, {isFresh});
            drawBar(list);
            drawTable(list);
        } catch (error) {
            fill(box, errorBox(error), el('div', {class: 'more'},
                button(t('ui.retry'), () => load(true))));
        }
    }

    await load();
}
