// One form: its state, its validation errors, and the answers.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {saveCsv} from '../download.js';
import {t} from '../i18n.js';
import {nameOf} from '../inbox/describe.js';
import {dropKept, keep, readKept} from '../kept.js';
import {address, go} from '../router.js';
import {mayManage} from '../team.js';
import {setThing} from '../title.js';
import {button, card, codeBlock, confirm, empty, errorBox, facts, field, form, heading, link,
    linkButton, loading, moment, pagedTable, toast} from '../ui.js';
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

// --- State, validation, and what an owner or admin does with it ---------------------------------

const KIND = 'flow'; // of the Flow JSON that is kept until the platform has taken it
const FIELDS = 'id,name,status,categories,validation_errors,health_status,' +
    'preview.invalidate(false)';

// `onPlace` shows the line of the text that was sent; null: there is none.
function validation(errors, onPlace) {
    const place = ({line_start: line, column_start: column}) =>
        t('forms.place', {line, column: column ?? 1});
    return errors?.length > 0 && card(t('forms.validation'), {text: t('forms.validationText')},
        el('ul', {class: 'plain-list'}, errors.map((one) => el('li', {},
            el('span', {class: 'foreign'}, one.message ?? one.error), ' ',
            one.line_start && (onPlace
                ? button(place(one), () => onPlace(one.line_start), {kind: 'quiet'})
                : el('span', {class: 'muted small'}, place(one)))))));
}

function state({status, preview, health_status: health}) {
    const entities = health?.entities?.filter((one) => one.can_send_message !== 'AVAILABLE') ?? [];
    return card(t('forms.state'), {}, facts([
        [t('forms.statusName'), formBadge(status)],
        [t('forms.sendable'), health && t(`forms.health.${entities.length ? 'no' : 'yes'}`)],
        [t('forms.preview'), preview?.preview_url && link(t('forms.openPreview'),
            preview.preview_url, {target: '_blank', rel: 'noopener noreferrer'})],
    ]));
}

function actionsOf(flow, query, reload) {
    const path = `/v2/forms/${encodeURIComponent(flow.id)}`;
    const act = (word, method, edge, after) => async () => {
        if (!await confirm(t(`forms.${word}`), t(`forms.${word}Text`, {name: flow.name}),
            t(`forms.${word}`)))
            return;
        await call(method, path + edge, {query});
        toast(t(`forms.${word}Done`));
        await after();
    };
    const hasErrors = flow.validation_errors?.length > 0;
    return !mayManage() ? [] : [
        flow.status === 'DRAFT' && !hasErrors &&
            button(t('forms.publish'), act('publish', 'POST', '/publish', reload),
                {kind: 'primary'}),
        linkButton(t('forms.copy'), address('/forms/-/new',
            {...query, from: flow.id, name: flow.name}), {icon: 'copy'}),
        flow.status === 'PUBLISHED' && button(t('forms.deprecate'),
            act('deprecate', 'POST', '/deprecate', reload), {kind: 'danger'}),
        flow.status === 'DRAFT' && button(t('forms.delete'),
            act('delete', 'DELETE', '', () => go('/forms')), {kind: 'danger'}),
    ];
}

// The field for the Flow JSON of a draft: {root, showLine}.
function editor(id, query, kept, reload) {
    const json = field({label: t('forms.json'), name: 'json', type: 'textarea', required: true,
        rows: 14, dir: 'ltr', spellcheck: 'false', hint: t('forms.jsonHint'), value: kept ?? ''});
    const file = field({label: t('forms.jsonFile'), name: 'file', type: 'file',
        accept: '.json,application/json'});
    json.input.addEventListener('input', () => keep(KIND, id, {json: json.value}));
    file.input.addEventListener('change', async () => {
        const [chosen] = file.input.files;
        if (!chosen)
            return;
        json.input.value = await chosen.text();
        await keep(KIND, id, {json: json.value});
    });

    async function save() {
        await call('PUT', `/v2/forms/${encodeURIComponent(id)}/json`, {query, json: json.value});
        await dropKept(KIND, id);
        toast(t('forms.jsonSaved'));
        await reload();
    }

    return {
        root: card(t('forms.json'), {text: t('forms.jsonText')},
            form({fields: [file, json], submit: t('forms.jsonSave'), onSubmit: save})),
        hasText: () => json.value !== '',
        showLine(number) {
            const lines = json.value.split('\n').slice(0, number);
            const end = lines.join('\n').length;
            json.input.focus();
            json.input.setSelectionRange(end - lines.at(-1).length, end);
        },
    };
}

// Shows what the platform says of the form now, and again after each change of it.
async function showLive(boxes, id, query, kept) {
    let text = null;

    async function draw() {
        const flow = await call('GET', `/v2/forms/${encodeURIComponent(id)}`,
            {query: {...query, fields: FIELDS}});
        fill(boxes.actions, actionsOf(flow, query, draw));
        const isDraft = flow.status === 'DRAFT' && mayManage();
        if (isDraft && !text) {
            text = editor(id, query, kept, draw);
            fill(boxes.editor, text.root);
        }
        if (!isDraft)
            fill(boxes.editor);
        fill(boxes.state, state(flow), validation(flow.validation_errors,
            isDraft && text.hasText() ? text.showLine : null));
        return flow;
    }

    return draw();
}

export async function show(root, {form: id, accountId}) {
    const path = `/v2/forms/${encodeURIComponent(id)}`;
    const boxes = Object.fromEntries(['state', 'editor', 'actions', 'download'].map((name) =>
        [name, el('div', {class: name === 'state' ? 'stack' : 'row'})]));
    boxes.editor = el('div', {});
    const box = el('div', {class: 'stack'}, loading());
    fill(root, heading(t('forms.one'), {above: link(t('forms.title'), '#/forms'),
        actions: [boxes.download, boxes.actions]}), box);
    const {items: stored} = await call('GET', '/v2/forms/search', {query: {limit: 50}});
    const row = stored.find((one) => one.id === id);
    const query = {accountId: row?.accountId ?? accountId};
    const flow = row ?? await call('GET', path, {query});
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
    fill(boxes.download, first.items.length > 0 &&
        button(t('forms.download'), () => saveCsv(`${path}/responses`, {},
            `responses-${id.replace(/\W/g, '_')}.csv`), {icon: 'download'}));
    fill(boxes.state, state(flow), validation(flow.validation ?? flow.validation_errors));
    fill(box, boxes.state, boxes.editor,
        card(t('forms.responses'), {kind: 'flush'}, list.root),
        el('details', {}, el('summary', {}, t('forms.source')),
            codeBlock(JSON.stringify(flow, null, 2), t('forms.source'))));
    const kept = (await readKept(KIND)).find((one) => one.id === id)?.value.json;
    await showLive(boxes, id, query, kept).catch((error) =>
        fill(boxes.editor, errorBox(error)));
}
