// One form: its state, its validation errors, and the answers.
import {call, pathOf, send} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {nameOf} from '../inbox/describe.js';
import {button, card, codeBlock, empty, heading, link, loading, moment,
    pagedTable} from '../ui.js';
import {formBadge} from './forms.js';

export const title = 'forms.one';

const MOST_COLUMNS = 6;

function textOf(value) {
    return value === null || value === undefined ? ''
        : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// A column for each answer of the first page, in the order in which they appear.
function columnsOf(items) {
    const names = [...new Set(items.flatMap(({response}) => Object.keys(response ?? {})))]
        .filter((name) => name !== 'flow_token').slice(0, MOST_COLUMNS);
    return [
        {label: t('forms.from'), cell: ({contact}) => el('bdi', {}, nameOf(contact))},
        {label: t('forms.received'), cell: ({receivedAt}) => moment(receivedAt)},
        ...names.map((name) => ({label: name, cell: ({response}) =>
            el('span', {class: 'foreign answer'}, textOf(response?.[name]))})),
    ];
}

function validation(errors) {
    return errors?.length > 0 && card(t('forms.validation'), {text: t('forms.validationText')},
        el('ul', {class: 'plain-list'}, errors.map((one) => el('li', {},
            el('span', {class: 'foreign'}, one.message ?? one.error), ' ',
            one.line_start && el('span', {class: 'muted small'},
                t('forms.place', {line: one.line_start, column: one.column_start ?? 1}))))));
}

// The file is saved by the browser. It cannot follow a link: the session needs our header.
async function download(id) {
    const response = await send('GET', pathOf(`/v2/forms/${encodeURIComponent(id)}/responses`,
        {format: 'csv'}));
    const file = await response.blob();
    if (/^#ERROR/m.test(await file.slice(-4096).text()))
        throw new Error(t('forms.incomplete'));
    const url = URL.createObjectURL(file);
    const anchor = el('a', {href: url, download: `responses-${id.replace(/\W/g, '_')}.csv`});
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}

export async function show(root, {form: id}) {
    const path = `/v2/forms/${encodeURIComponent(id)}`;
    const box = el('div', {class: 'stack'}, loading());
    const actions = el('div', {class: 'row'});
    fill(root, heading(t('forms.one'), {above: link(t('forms.title'), '#/forms'),
        actions: [actions]}), box);
    const {items: stored} = await call('GET', '/v2/forms/search', {query: {limit: 50}});
    const flow = stored.find((one) => one.id === id) ?? await call('GET', path);
    const read = (after) => call('GET', `${path}/responses`, {query: {limit: 50, after}});
    const first = await read();
    let isFirst = true;
    const list = pagedTable({
        caption: t('forms.responses'), columns: columnsOf(first.items),
        href: ({threadId}) => `#/inbox/${threadId}`,
        load: (after) => {
            const answer = isFirst ? first : read(after);
            isFirst = false;
            return answer;
        },
        empty: () => empty(t('forms.noResponses'), t('forms.noResponsesText')),
    });
    fill(root.querySelector('h1'), el('bdi', {}, flow.name));
    fill(actions, formBadge(flow.status), first.items.length > 0 &&
        button(t('forms.download'), () => download(id), {icon: 'download'}));
    fill(box, validation(flow.validation ?? flow.validation_errors),
        card(t('forms.responses'), {kind: 'flush'}, list.root),
        el('details', {}, el('summary', {}, t('forms.source')),
            codeBlock(JSON.stringify(flow, null, 2), t('forms.source'))));
}
