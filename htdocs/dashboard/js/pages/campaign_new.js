// A new campaign: its line, its template, the table of its recipients, and what of the table stands
// in the message.
import {call} from '../api.js';
import {columnFor, isOfRecipients, tableField, upload} from '../campaigns/recipients.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {newKey} from '../inbox/outbox.js';
import {lineLabel} from '../lines.js';
import {go} from '../router.js';
import {may} from '../session.js';
import {components, isAuthentication, isTooComplex, lines, variables}
    from '../templates/definition.js';
import {preview} from '../templates/preview.js';
import {templatesOf} from '../templates/store.js';
import {badge, card, empty, errorBox, field, form, heading, link, notice} from '../ui.js';

export const title = 'campaigns.new';

const SHOWN = 3; // rows of the preview
const PHONES = ['to', 'phone', 'telephone', 'mobile', 'telefon', 'handy', 'teléfono', 'telefono',
    'móvil', 'telefone', 'celular', 'whatsapp'];

// Whether a table can fill it: a file is no cell.
function isUsable(one) {
    return one.status === 'APPROVED' && !isAuthentication(one) && !isTooComplex(one) &&
        variables(one).every(({kind}) => kind !== 'media');
}

function labelOf({name, label}) {
    return t('campaigns.variable', {name: name ?? label});
}

// The fields that say which column is what: {fields, to, columnOf(key), check()}.
function mapping(definition, table, onChange) {
    const make = (name, label, wanted, hint) => {
        const one = field({label, name, type: 'select', required: true, hint,
            value: columnFor(table.names, wanted),
            options: [['', t('campaigns.choose')], ...table.names.map((each) => [each, each])]});
        one.input.addEventListener('change', onChange);
        return one;
    };
    const to = make('to', t('campaigns.to'), PHONES, t('campaigns.toHint'));
    const own = variables(definition).map((variable) => [variable.key,
        make(variable.key, labelOf(variable), [(variable.name ?? '').toLowerCase()])]);
    const columns = new Map(own);
    return {
        fields: [to, ...columns.values()], to,
        columnOf: (key) => columns.get(key)?.value,
        check() {
            const isWrong = to.value && !isOfRecipients(table, to.value);
            to.setError(isWrong ? t('campaigns.wrongColumn', {column: to.value}) : null);
            if (isWrong)
                to.input.focus();
            return !isWrong;
        },
    };
}

// The message of the first rows. An empty cell is named in its place, because the API leaves such a
// line out.
function previews(definition, {names, rows}, columns) {
    return rows.slice(0, SHOWN).map((row) => {
        const lacking = new Set();
        const cellOf = (column) => {
            const cell = column && (row[names.indexOf(column)] ?? '').trim();
            if (column && !cell)
                lacking.add(column);
            return cell || (column && t('campaigns.missing', {column}));
        };
        const to = cellOf(columns.to.value);
        const message = preview(lines(definition, (place, name) =>
            cellOf(columns.columnOf(`${place}.${name}`))));
        return el('div', {class: 'stack'}, el('p', {class: 'foreign small'}, to || '–'), message,
            lacking.size > 0 && el('p', {}, badge('warn', t('campaigns.missingText'))));
    });
}

// The time zones, that of the browser first.
function zones() {
    return [...new Set([Intl.DateTimeFormat().resolvedOptions().timeZone,
        ...Intl.supportedValuesOf('timeZone')])];
}

function editor(items) {
    const map = el('div', {}), shown = el('div', {class: 'side-by-side'});
    const first = items.find(({isPrimary}) => isPrimary) ?? items[0];
    const name = field({label: t('campaigns.name'), name: 'name', required: true, maxlength: 100,
        autocomplete: 'off'});
    const line = field({label: t('campaigns.line'), name: 'phoneNumberId', type: 'select',
        value: first.phoneNumberId,
        options: items.map((one) => [one.phoneNumberId, lineLabel(one)])});
    const template = field({label: t('campaigns.template'), name: 'template', type: 'select',
        required: true, options: [['', t('ui.loading')]], hint: t('campaigns.templateHint')});
    const file = tableField(t('campaigns.tableHint'), (read) => {
        table = read;
        drawMap();
    });
    const from = field({label: t('campaigns.from'), name: 'window.from', type: 'time',
        hint: t('campaigns.windowHint')});
    const until = field({label: t('campaigns.until'), name: 'window.to', type: 'time'});
    const zone = field({label: t('campaigns.zone'), name: 'window.timeZone', type: 'select',
        value: zones()[0], options: zones().map((one) => [one, one])});
    let choices = [], table = null, columns = null, attempt = {body: ''}, turn = 0;
    const definition = () => choices[template.value];

    function drawPreview() {
        fill(shown, columns && previews(definition(), table, columns));
    }

    function drawMap() {
        columns = definition() && table ? mapping(definition(), table, drawPreview) : null;
        fill(map, columns && columns.fields.map(({root}) => root));
        drawPreview();
    }

    async function readTemplates() {
        const mine = ++turn;
        const all = await templatesOf({phoneNumberId: line.value});
        if (mine !== turn)
            return;
        choices = all.filter(isUsable);
        fill(template.input, [['', t('campaigns.choose')], ...choices.map((one, i) =>
            [i, `${one.name} · ${one.language}`])].map(([value, text]) =>
            el('option', {value}, text)));
        template.setError(choices.length ? null : t('templates.noneApproved'));
        drawMap();
    }

    // Both times or none of them.
    function checkWindow() {
        const lacking = !from.value && until.value ? from : from.value && !until.value ? until
            : from.value && from.value === until.value ? until : null;
        [from, until].forEach((one) => one.setError(one === lacking
            ? t('campaigns.wrongWindow') : null));
        lacking?.input.focus();
        return !lacking;
    }

    async function save() {
        if (!checkWindow() || !await file.table() || !columns?.check())
            return;
        const values = Object.fromEntries(variables(definition()).map(({key}) =>
            [key, `{{${columns.columnOf(key)}}}`]));
        const body = {phoneNumberId: line.value, name: name.value.trim(),
            templateName: definition().name, language: definition().language,
            components: components(definition(), values)};
        if (from.value)
            body.window = {from: from.value, to: until.value, timeZone: zone.value};
        if (attempt.body !== JSON.stringify(body))
            attempt = {key: newKey(), body: JSON.stringify(body)};
        const {id} = await call('POST', '/v2/campaigns', {body, key: attempt.key});
        await upload(id, table, columns.to.value);
        go(`/campaigns/${id}`);
    }

    const showProblem = (error) => template.setError(error.message);
    line.input.addEventListener('change', () => readTemplates().catch(showProblem));
    template.input.addEventListener('change', drawMap);
    readTemplates().catch(showProblem);
    return el('div', {class: 'stack'}, notice('info', t('campaigns.limits'),
        el('p', {}, t('campaigns.limitsText'))),
    card(null, {}, form({fields: [name, line, template, file, {root: map}, from, until,
        zone], submit: t('campaigns.make'), onSubmit: save})),
    card(t('campaigns.preview'), {text: t('campaigns.previewText')}, shown));
}

export async function show(root) {
    const head = heading(t('campaigns.new'),
        {above: link(t('campaigns.title'), '#/campaigns')});
    fill(root, head);
    if (!may('send')) {
        root.append(empty(t('campaigns.mayNot')));
        return;
    }
    try {
        const {items} = await call('GET', '/v2/lines');
        root.append(items.length ? editor(items) : empty(t('templates.noLine')));
    } catch (error) {
        root.append(errorBox(error));
    }
}
