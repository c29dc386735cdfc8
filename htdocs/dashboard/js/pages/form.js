// One form: its state, its validation errors, and the answers.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {saveCsv} from '../download.js';
import {t} from '../i18n.js';
import {nameOf} from '../inbox/describe.js';
import {setThing} from '../title.js';
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
    setThing(flow.name);
    fill(actions, formBadge(flow.status), first.items.length > 0 &&
        button(t('forms.download'), () => saveCsv(`${path}/responses`, {},
            `responses-${id.replace(/\W/g, '_')}.csv`), {icon: 'download'}));
    fill(box, validation(flow.validation ?? flow.validation_errors),
        card(t('forms.responses'), {kind: 'flush'}, list.root),
        el('details', {}, el('summary', {}, t('forms.source')),
            codeBlock(JSON.stringify(flow, null, 2), t('forms.source'))));
}
