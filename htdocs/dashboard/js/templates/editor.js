// The fields of the editor of a template. editorFields(draft, {accountId, isNew, isApproved,
// onChange}) returns {root, find}: the fields change the draft and call onChange(); find(place) is
// the field of a place (hints.js), or undefined.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {language as shownLanguage, t} from '../i18n.js';
import {button, card, field} from '../ui.js';
import {MEDIA, isNamed, variablesOf} from './draft.js';
import {LONGEST} from './hints.js';

const LANGUAGES = ('af ar az bg bn ca cs da de el en en_GB en_US es es_AR es_CL es_CO es_ES ' +
    'es_MX es_PE et fa fi fil fr gu ha he hi hr hu id it ja ka kk kn ko lt lv mk ml mr ms nb nl ' +
    'pa pl pt_BR pt_PT ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi zh_CN zh_HK zh_TW zu')
    .split(' ');
const ACCEPTED = {IMAGE: 'image/jpeg,image/png', VIDEO: 'video/mp4', DOCUMENT: 'application/pdf'};
const KINDS = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE'];
const CATEGORIES = ['UTILITY', 'MARKETING', 'AUTHENTICATION'];

function languageOptions(own) {
    const names = new Intl.DisplayNames(shownLanguage(), {type: 'language'});
    return [...new Set([...LANGUAGES, own])].map((code) =>
        [code, `${names.of(code.replace('_', '-'))} (${code})`]);
}

export function editorFields(draft, {accountId, isNew, isApproved, onChange}) {
    const fields = new Map(); // by place
    const boxes = {samples: el('div', {class: 'form'}), header: el('div', {class: 'form'}),
        buttons: el('div', {class: 'form'}), content: el('div', {class: 'stack'})};

    // A field of the draft: read and write its value; `most` characters are counted in its hint.
    function bound(place, {get, set, most, hint, ...options}) {
        const count = () => t('templates.editor.count', {count: [...get()].length, most});
        const one = field({...options, name: place, value: get(), autocomplete: 'off',
            hint: most ? count() : hint});
        one.input.addEventListener(options.type === 'select' ? 'change' : 'input', () => {
            set(one.value);
            one.setError(null);
            if (most)
                one.root.querySelector('.hint').textContent = count();
            onChange();
        });
        fields.set(place, one);
        return one;
    }

    function bind(place, object, member, options) {
        return bound(place, {get: () => object[member],
            set: (value) => { object[member] = value; }, ...options});
    }

    // --- Samples of the variables ---

    function sampleFields(place, text) {
        return variablesOf(text).map((name) => {
            const key = `${place}.${name}`;
            return bound(key, {label: t(`templates.editor.sample.${place}`, {name}),
                get: () => draft.samples[key] ?? '',
                set: (value) => { draft.samples[key] = value; }}).root;
        });
    }

    let shown = null; // the variables whose samples have fields
    function drawSamples() {
        const header = draft.header.kind === 'TEXT' ? draft.header.text : '';
        const wanted = JSON.stringify([variablesOf(header), variablesOf(draft.body)]);
        if (wanted === shown)
            return;
        shown = wanted;
        for (const key of [...fields.keys()].filter((one) => /^(header|body)\./.test(one)))
            fields.delete(key);
        fill(boxes.samples, sampleFields('header', header), sampleFields('body', draft.body));
    }

    // Puts the next variable where the cursor is.
    function addVariable(input) {
        const names = variablesOf(draft.body);
        const name = isNamed(draft) ? `name_${names.length + 1}` : String(names.length + 1);
        input.setRangeText(`{{${name}}}`, input.selectionStart, input.selectionEnd, 'end');
        input.dispatchEvent(new Event('input'));
        input.focus();
    }

    // --- The header ---

    async function upload(one) {
        const [file] = one.input.files;
        if (!file)
            return;
        const body = new FormData();
        body.append('file', file, file.name);
        one.setError(null);
        try {
            const {handle} = await call('POST', '/v2/templates/sample', {query: {accountId}, body});
            Object.assign(draft.header, {handle, fileName: file.name});
            onChange();
            drawHeader();
            fields.get('sample').input.focus();
        } catch (error) {
            one.setError(error.status === 0 ? t('error.network') : error.message);
        }
    }

    function fileField(kind) {
        const {handle, fileName} = draft.header;
        const one = field({label: t('templates.editor.file'), name: 'sample', type: 'file',
            accept: ACCEPTED[kind], hint: !handle ? t('templates.editor.fileHint')
                : t('templates.editor.fileThere',
                    {name: fileName || t('templates.editor.former')})});
        one.input.addEventListener('change', () => upload(one));
        fields.set('sample', one);
        return one.root;
    }

    function drawHeader() {
        const {kind} = draft.header;
        fields.delete('header');
        fields.delete('sample');
        fill(boxes.header, MEDIA.includes(kind) ? fileField(kind) : kind === 'TEXT' &&
            bind('header', draft.header, 'text', {label: t('templates.editor.headerText'),
                most: LONGEST.header}).root);
    }

    function headerKind() {
        return bound('headerKind', {label: t('templates.editor.header'), type: 'select',
            options: ['', 'TEXT', ...MEDIA, 'LOCATION'].map((one) =>
                [one, t(`templates.editor.kind.${one || 'none'}`)]),
            get: () => draft.header.kind,
            set(kind) {
                Object.assign(draft.header, {kind, handle: '', fileName: ''});
                drawHeader();
            }}).root;
    }

    // --- The buttons ---

    function buttonFields(one, i) {
        const own = (member, options) => bind(`button.${i}.${member}`, one, member, {
            label: t(`templates.editor.button.${member}`), ...options}).root;
        return [
            one.type !== 'COPY_CODE' && own('text', {most: LONGEST.button}),
            one.type === 'URL' && own('url', {type: 'url',
                hint: t('templates.editor.urlHint', {first: '{{1}}'})}),
            one.type === 'PHONE_NUMBER' && own('phone', {type: 'tel'}),
            ['URL', 'COPY_CODE'].includes(one.type) && own('sample',
                {hint: t(`templates.editor.sampleOf.${one.type}`)}),
        ];
    }

    function drawButtons() {
        for (const key of [...fields.keys()].filter((place) => place.startsWith('button')))
            fields.delete(key);
        const add = field({label: t('templates.editor.addButton'), name: 'buttons', type: 'select',
            value: '', options: [['', t('templates.editor.chooseButton')], ...KINDS.map((kind) =>
                [kind, t(`templates.editor.type.${kind}`)])]});
        add.input.addEventListener('change', () => {
            draft.buttons.push({type: add.value, text: '', url: '', phone: '', sample: ''});
            redrawButtons(`button.${draft.buttons.length - 1}.` +
                (add.value === 'COPY_CODE' ? 'sample' : 'text'));
        });
        fields.set('buttons', add);
        fill(boxes.buttons, draft.buttons.map((one, i) => el('fieldset', {class: 'field checks'},
            el('legend', {}, t(`templates.editor.type.${one.type}`)), buttonFields(one, i),
            el('div', {class: 'actions'}, button(t('templates.editor.removeButton'), () => {
                draft.buttons.splice(i, 1);
                redrawButtons('buttons');
            }, {kind: 'quiet'})))), add.root);
    }

    function redrawButtons(place) {
        drawButtons();
        onChange();
        fields.get(place)?.input.focus();
    }

    // --- The parts ---

    function ordinary() {
        const body = bind('body', draft, 'body', {label: t('templates.editor.body'),
            type: 'textarea', rows: 6, most: LONGEST.body});
        drawHeader();
        drawButtons();
        return [
            card(t('templates.editor.message'),
                {text: t('templates.editor.messageText', {first: '{{1}}'})},
                el('div', {class: 'form'}, headerKind(), boxes.header, body.root,
                    el('div', {class: 'actions'}, button(t('templates.editor.addVariable'),
                        () => addVariable(body.input), {icon: 'plus', kind: 'quiet'})),
                    boxes.samples, bind('footer', draft, 'footer',
                        {label: t('templates.editor.footer'), most: LONGEST.footer}).root)),
            card(t('templates.editor.buttons'), {text: t('templates.editor.buttonsText')},
                boxes.buttons)];
    }

    function code() {
        return card(t('templates.editor.code'), {text: t('templates.editor.codeText')},
            el('div', {class: 'form'},
                bind('warns', draft.code, 'warns', {label: t('templates.editor.warns'),
                    type: 'checkbox'}).root,
                bind('minutes', draft.code, 'minutes', {label: t('templates.editor.minutes'),
                    type: 'number', min: 1, max: 90}).root,
                bind('codeButton', draft.code, 'text', {
                    label: t('templates.editor.codeButton')}).root));
    }

    function drawContent() {
        for (const key of [...fields.keys()].filter((one) =>
            !['name', 'language', 'category'].includes(one)))
            fields.delete(key);
        shown = null;
        fill(boxes.content, draft.category === 'AUTHENTICATION' ? code() : ordinary());
        if (draft.category !== 'AUTHENTICATION')
            drawSamples();
    }

    const root = el('div', {class: 'stack'},
        card(t('templates.editor.about'), {}, el('div', {class: 'form'},
            bind('name', draft, 'name', {label: t('templates.name'), disabled: !isNew,
                hint: t('templates.editor.nameHint')}).root,
            bind('language', draft, 'language', {label: t('templates.language'), type: 'select',
                options: languageOptions(draft.language), disabled: !isNew}).root,
            bound('category', {label: t('templates.categoryName'), type: 'select',
                disabled: isApproved, hint: t('templates.editor.categoryHint'),
                options: CATEGORIES.map((one) => [one, t(`templates.category.${one}`)]),
                get: () => draft.category,
                set(category) {
                    draft.category = category;
                    drawContent();
                }}).root)), boxes.content);
    drawContent();
    return {root, find: (place) => fields.get(place), refresh: drawSamples};
}
