// The dialog that chooses a template and fills its variables, for the composer.
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {beginning} from '../inbox/describe.js';
import {isFound} from '../search.js';
import {button, dialog, empty, errorBox, form, loading} from '../ui.js';
import {exampleLines, isAuthentication, isTooComplex, textsOf} from './definition.js';
import {variableFields} from './fields.js';
import {templatesOf} from './store.js';

const SHOWN = 100; // characters of the body in a choice

// Why a template cannot be sent from here; null if it can.
export function refusalOf(definition, {hasPhone}) {
    if (isAuthentication(definition) && !hasPhone)
        return t('templates.needsPhone');
    return isTooComplex(definition) ? t('templates.tooComplex') : null;
}

function bodyOf(definition) {
    return exampleLines(definition).find(({kind}) => kind === 'body')?.text ?? '';
}

function choice(definition, options, onChoose) {
    const refusal = refusalOf(definition, options);
    return el('li', {}, el('button', {
        type: 'button', class: 'choice', disabled: Boolean(refusal),
        on: {click: () => onChoose(definition)},
    }, el('span', {class: 'strong'}, definition.name), el('span', {class: 'muted small'},
        refusal ?? [definition.language, t(`templates.category.${definition.category}`)]
            .join(' · ')),
    el('bdi', {class: 'small'}, beginning(bodyOf(definition), SHOWN))));
}

function listOf(templates, options, onChoose) {
    const approved = templates.filter(({status}) => status === 'APPROVED');
    const list = el('ul', {class: 'choice-list'});
    const draw = (search) => {
        const found = approved.filter((one) => isFound(textsOf(one), search));
        fill(list, found.map((one) => choice(one, options, onChoose)));
        if (!found.length)
            fill(list, el('li', {}, empty(t('templates.noneApproved'))));
    };
    draw('');
    return [el('input', {
        type: 'search', 'aria-label': t('templates.search'), placeholder: t('templates.search'),
        on: {input: (event) => draw(event.currentTarget.value.trim())},
    }), list];
}

// Resolves to {name, language, components, text}, or undefined if there is nothing to send now.
// options: {phoneNumberId, hasPhone, name (of the recipient), later(read)}. `later` asks for a
// time, calls read() for the same object, and resolves to true when it is queued; else the dialog
// stays.
export function chooseTemplate(options) {
    return dialog(t('templates.choose'), (close) => {
        const box = el('div', {class: 'stack'}, loading());
        let templates = [];

        function showList() {
            fill(box, listOf(templates, options, showFields));
            box.querySelector('input')?.focus();
        }

        function showFields(definition) {
            const own = variableFields(definition);
            const {name, language} = definition;
            const read = async () => ({name, language, text: own.text(),
                components: await own.values(options.phoneNumberId)});
            const filled = form({
                fields: own.fields, submit: t('templates.sendTo', {name: options.name}),
                onSubmit: async () => close(await read()),
                actions: [
                    button(t('inbox.later.open'), async () => {
                        if (filled.reportValidity() && await options.later(read))
                            close();
                    }, {icon: 'clock'}),
                    button(t('templates.other'), showList),
                ],
            });
            fill(box, el('div', {class: 'template-send'}, filled, own.preview));
            box.querySelector('input, button')?.focus();
        }

        templatesOf({phoneNumberId: options.phoneNumberId}).then((all) => {
            templates = all;
            showList();
        }, (error) => fill(box, errorBox(error)));
        return box;
    }, {kind: 'large'});
}
