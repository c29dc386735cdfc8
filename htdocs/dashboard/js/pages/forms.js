// The forms (flows) of an account, with their state and the number of answers.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {has, number, t} from '../i18n.js';
import {keepInAddress} from '../router.js';
import {lookup} from '../shape.js';
import {mayManage} from '../team.js';
import {badge, empty, field, heading, linkButton, loading, moment, pagedTable} from '../ui.js';

export const title = 'forms.title';

const KINDS = lookup({PUBLISHED: 'ok', DRAFT: 'info', DEPRECATED: 'plain', BLOCKED: 'bad',
    THROTTLED: 'warn'});

export function formBadge(status) {
    return badge(KINDS[status] ?? 'plain',
        has(`forms.status.${status}`) ? t(`forms.status.${status}`) : status);
}

const COLUMNS = () => [
    {label: t('forms.name'), cell: ({name}) => el('span', {class: 'foreign-line'}, name)},
    {label: t('forms.statusName'), cell: ({status, validation}) => el('span', {class: 'row'},
        formBadge(status), validation?.length > 0 &&
            badge('bad', t('forms.errors', {count: validation.length})))},
    {label: t('forms.responses'), kind: 'number', cell: (one) =>
        number(Object.values(one._count)[0] ?? 0)},
    {label: t('forms.updated'), kind: 'narrow', cell: ({updatedAt}) => moment(updatedAt)},
];

export async function show(root, parameters) {
    const bar = el('div', {class: 'filters'});
    const box = el('div', {}, loading());
    fill(root, heading(t('forms.title'), {text: t('forms.lead'), actions: [mayManage() &&
        linkButton(t('forms.new'), '#/forms/-/new', {kind: 'primary', icon: 'plus'})]}), bar, box);
    const {accounts} = await call('GET', '/v2/overview');
    const filters = {accountId: '', q: '', ...parameters};
    const list = pagedTable({
        caption: t('forms.title'), columns: COLUMNS(),
        href: ({id}) => `#/forms/${encodeURIComponent(id)}`,
        load: () => call('GET', '/v2/forms/search', {query: {...filters, limit: 50}}),
        empty: () => filters.q ? empty(t('forms.noneFound'))
            : empty(t('forms.none'), t('forms.noneText')),
    });
    const set = (name, value) => {
        filters[name] = value;
        keepInAddress('/forms', filters);
        list.reload();
    };
    const search = field({label: t('forms.search'), type: 'search', value: filters.q});
    let timer;
    search.root.classList.add('grow');
    search.input.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => set('q', search.value.trim()), 250);
    });
    const account = field({label: t('forms.account'), type: 'select', value: filters.accountId,
        options: [['', t('ui.any')], ...accounts.map((one) =>
            [one.id, one.displayName ?? one.wabaid])]});
    account.input.addEventListener('change', () => set('accountId', account.value));
    fill(bar, search.root, accounts.length > 1 && account.root);
    fill(box, list.root);
    return () => clearTimeout(timer);
}
