// The editor of a template: a new one, a copy, another language, or a change of one that is there.
// What is typed is kept in the browser until the platform has taken it.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {dropKept, keep, readKept} from '../kept.js';
import {go} from '../router.js';
import {changeOf, componentsOf, creationOf, draftOf, isEditable, newDraft}
    from '../templates/draft.js';
import {exampleLines} from '../templates/definition.js';
import {editorFields} from '../templates/editor.js';
import {hintsOf, placeOfRefusal} from '../templates/hints.js';
import {preview} from '../templates/preview.js';
import {forgetTemplates, templatesOf} from '../templates/store.js';
import {setThing} from '../title.js';
import {button, card, confirm, form, heading, link, loading, notice, toast} from '../ui.js';

export const title = 'templates.editor.title';

const KIND = 'template'; // of the drafts that are kept
const NEW = '-'; // in place of a name, which has no such character

// The lines of the message with its samples. The platform writes those of an authentication
// template.
function linesOf(draft) {
    if (draft.category !== 'AUTHENTICATION')
        return exampleLines({category: draft.category, components: componentsOf(draft)})
            .map((line) => line.kind === 'button' && !line.text
                ? {...line, text: t('templates.editor.type.COPY_CODE')} : line);
    const {warns, minutes, text} = draft.code;
    return [{kind: 'body', text: t('templates.editor.codeBody') +
            (warns ? ` ${t('templates.editor.codeWarning')}` : '')},
    ...minutes ? [{kind: 'footer', text: t('templates.editor.codeEnd', {minutes})}] : [],
    {kind: 'button', text: text || t('templates.editor.copyCode')}];
}

// The draft to begin with: of a definition, which may become another template or language.
function beginningOf(definition, {name, as}) {
    if (!definition)
        return newDraft();
    const draft = draftOf(definition);
    return name !== NEW || as === 'language' ? draft : {...draft, name: ''};
}

function idOf({name, accountId, language, from = '', as = ''}) {
    return JSON.stringify([accountId, name, language ?? '', from, as]);
}

// The platform's own words about what it refuses, at the field that they are about.
function showRefusal(box, {details, requestId}, find) {
    const {error} = details;
    const place = placeOfRefusal(error);
    fill(box, notice('bad', t('templates.editor.refused'),
        el('p', {}, el('strong', {}, error.error_user_title ?? error.message)),
        error.error_user_msg && el('p', {class: 'foreign'}, error.error_user_msg),
        requestId && el('p', {class: 'small muted'}, t('error.request'), ' ',
            el('code', {}, requestId))));
    find(place)?.setError(error.error_user_msg ?? error.message);
    find(place)?.input.focus();
}

function hintList(draft, find) {
    const hints = hintsOf(draft);
    if (!hints.length)
        return el('p', {class: 'muted'}, t('templates.editor.noHints'));
    return el('ul', {class: 'hints'}, hints.map(({place, key, values}) =>
        el('li', {}, button(`${t(`templates.editor.place.${place.split('.')[0]}`)}: ` +
            t(`templates.editor.hint.${key}`, {first: '{{1}}', second: '{{2}}', ...values}),
        () => find(place)?.input.focus(), {kind: 'quiet'}))));
}

function showEditor(root, parameters, definition, kept) {
    const {name, accountId, language} = parameters;
    const isNew = name === NEW;
    const id = idOf(parameters);
    const draft = {...beginningOf(definition, parameters), ...kept};
    const boxes = {preview: el('div', {}), hints: el('div', {role: 'status'}),
        refusal: el('div', {})};
    const back = isNew ? '#/templates' : `#/templates/${encodeURIComponent(name)}?` +
        new URLSearchParams({accountId, language});

    function draw() {
        fields.refresh();
        fill(boxes.preview, preview(linesOf(draft)));
        fill(boxes.hints, hintList(draft, fields.find));
    }

    const fields = editorFields(draft, {accountId, isNew,
        isApproved: !isNew && definition.status === 'APPROVED',
        onChange() {
            keep(KIND, id, draft);
            draw();
        }});
    draw();

    const change = () => call('PATCH', `/v2/templates/${encodeURIComponent(name)}`,
        {query: {accountId, language}, body: changeOf(draft, definition)});
    const create = () => call('POST', '/v2/templates', {query: {accountId},
        body: creationOf(draft)});

    async function submit() {
        fill(boxes.refusal);
        try {
            await (isNew ? create() : change());
        } catch (error) {
            if (!error.details?.error)
                throw error;
            showRefusal(boxes.refusal, error, fields.find);
            return;
        }
        await dropKept(KIND, id);
        forgetTemplates();
        toast(t('templates.editor.saved'));
        go(`/templates/${encodeURIComponent(draft.name)}`, {accountId, language: draft.language});
    }

    async function discard() {
        if (await confirm(t('templates.editor.discard'), t('templates.editor.discardText'),
            t('templates.editor.discard'))) {
            await dropKept(KIND, id);
            location.hash = back;
        }
    }

    fill(root, heading(isNew ? t('templates.editor.new') : name,
        {text: t('templates.editor.lead'), above: link(isNew ? t('templates.title') : name, back)}),
    kept && notice('info', t('templates.editor.restored')),
    el('div', {class: 'template-page'},
        form({
            fields: [{root: fields.root}, {root: boxes.refusal}], class: 'stack',
            submit: t(isNew ? 'templates.editor.submit' : 'templates.editor.change'),
            onSubmit: submit, novalidate: true,
            actions: [button(t('templates.editor.discard'), discard, {kind: 'quiet'})],
        }),
        el('div', {class: 'stack template-aside'},
            card(t('templates.preview'), {}, boxes.preview),
            card(t('templates.editor.hints'), {text: t('templates.editor.hintsText')},
                boxes.hints))));
}

export async function show(root, parameters) {
    const {name, accountId, language, from} = parameters;
    const wanted = name === NEW ? from : name;
    setThing(name === NEW ? t('templates.editor.new') : name);
    fill(root, heading(t('templates.editor.title')), loading());
    const [all, kept] = await Promise.all([wanted ? templatesOf({accountId}) : [],
        readKept(KIND)]);
    const definition = all.find((one) => one.name === wanted && one.language === language);
    if (wanted && !(definition && isEditable(definition))) {
        fill(root, heading(wanted, {above: link(t('templates.title'), '#/templates')}),
            notice('info', t(definition ? 'templates.editor.tooComplex' : 'templates.gone')));
        return;
    }
    showEditor(root, parameters, definition,
        kept.find((row) => row.id === idOf(parameters))?.value);
}
