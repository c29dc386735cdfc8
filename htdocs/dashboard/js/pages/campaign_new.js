// A new campaign: its line, its template, the table of its recipients, and what of the table stands
// in the message.
import {call} from '../api.js';
import {columnFor, isOfRecipients, readTable, upload} from '../campaigns/recipients.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {newKey} from '../inbox/outbox.js';
import {go} from '../router.js';
import {may} from '../session.js';
import {components, isAuthentication, isTooComplex, lines, variables}
    from '../templates/definition.js';
import {preview} from '../templates/preview.js';
import {templatesOf} from '../templates/store.js';
import {card, empty, errorBox, field, form, heading, link, notice} from '../ui.js';

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

// The message of the first rows.
function previews(definition, {names, rows}, columns) {
    return rows.slice(0, SHOWN).map((row) => {
        const cellOf = (column) => column && row[names.indexOf(column)];
        return el('div', {class: 'stack'},
            el('p', {class: 'foreign small'}, cellOf(columns.to.value) || '–'),
            preview(lines(definition, (place, name) =>
                cellOf(columns.columnOf(`${place}.${name}`)))));
    });
}

function editor(items) {
    const map = el('div', {}), shown = el('div', {class: 'side-by-side'});
    const first = items.find(({isPrimary}) => isPrimary) ?? items[0];
    const name = field({label: t('campaigns.name'), name: 'name', required: true, maxlength: 100,
        autocomplete: 'off'});
    const line = field({label: t('campaigns.line'), name: 'phoneNumberId', type: 'select',
        value: first.phoneNumberId, options: items.map((one) => [one.phoneNumberId,
            [one.name, one.phoneNumber].filter(Boolean).join(' · ')])});
    const template = field({label: t('campaigns.template'), name: 'template', type: 'select',
        required: true, options: [['', t('ui.loading')]], hint: t('campaigns.templateHint')});
    const file = field({label: t('campaigns.table'), name: 'table', type: 'file', required: true,
        accept: '.csv,text/csv', hint: t('campaigns.tableHint')});
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

    async function readFile() {
        const [chosen] = file.input.files;
        table = null;
        file.setError(null);
        try {
            const read = chosen && await readTable(chosen);
            if (chosen !== file.input.files[0])
                return; // another one was chosen since
            table = read ?? null;
        } catch (error) {
            file.setError(error.message);
        }
        drawMap();
    }

    async function save() {
        if (!columns)
            return file.setError(file.input.files.length ? t('campaigns.emptyTable') : null);
        if (!columns.check())
            return null;
        const values = Object.fromEntries(variables(definition()).map(({key}) =>
            [key, `{{${columns.columnOf(key)}}}`]));
        const body = {phoneNumberId: line.value, name: name.value.trim(),
            templateName: definition().name, language: definition().language,
            components: components(definition(), values)};
        if (attempt.body !== JSON.stringify(body))
            attempt = {key: newKey(), body: JSON.stringify(body)};
        const {id} = await call('POST', '/v2/campaigns', {body, key: attempt.key});
        await upload(id, table, columns.to.value);
        return go(`/campaigns/${id}`);
    }

    const showProblem = (error) => template.setError(error.message);
    line.input.addEventListener('change', () => readTemplates().catch(showProblem));
    template.input.addEventListener('change', drawMap);
    file.input.addEventListener('change', readFile);
    readTemplates().catch(showProblem);
    return el('div', {class: 'stack'}, notice('info', t('campaigns.limits'),
        el('p', {}, t('campaigns.limitsText'))),
    card(null, {}, form({fields: [name, line, template, file, {root: map}],
        submit: t('campaigns.make'), onSubmit: save})),
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
