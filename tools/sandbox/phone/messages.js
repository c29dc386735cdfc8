// The content of messages, of the business and of the person.
import {lines, partOf, replaceNames} from './definition.js';
import {closeDialog, openDialog} from './dialog.js';
import {el} from './dom.js';
import {openFlow} from './flow.js';
import {contentUrl} from './sandbox.js';
import {lookup} from './shape.js';

const text = (content, kind = '') => content && el('p', {class: `foreign ${kind}`}, content);
const small = (content) => text(content, 'muted small');
const title = (content) => text(content, 'strong');

// A picture by its id; other media, and media by a link, by their name.
function media(type, content) {
    const name = content.filename ?? content.link ?? content.id;
    const node = el('figure', {class: 'foreign'}, el('figcaption', {class: 'muted small'},
        `${type}: ${name}`));
    if (content.id && (type === 'image' || type === 'sticker')) {
        const image = el('img', {class: 'media-image', alt: content.caption ?? type,
            src: contentUrl(content.id), on: {load: () => node.replaceChildren(image)}});
    }
    return [node, text(content.caption)];
}

const header = (part) => part &&
    (part.type === 'text' ? title(part.text) : media(part.type, part[part.type] ?? {}));

// A button; without a handler, what the person cannot do here, such as opening a link.
const choice = (label, click, about) => el('button', {type: 'button', class: 'choice',
    disabled: !click, on: click ? {click} : {}}, el('bdi', {}, label),
about && el('span', {class: 'muted small'}, about));

function openList({button, sections}, answer) {
    const rows = (section) => section.rows.map((row) => choice(row.title, () => {
        closeDialog();
        answer('list_reply', {interactive: {list_reply: {id: row.id, title: row.title,
            description: row.description ?? null}}});
    }, row.description));
    openDialog(button, sections.map((section) => el('section', {class: 'choice-list'},
        section.title && el('h3', {}, section.title), rows(section))));
}

const flowChoice = (label, parameters, answer) => choice(label, () => openFlow(parameters,
    (values) => answer('nfm_reply',
        {interactive: {nfm_reply: {response_json: JSON.stringify(values)}}})));

// What can be tapped, by the type of an interactive message.
const ACTIONS = lookup({
    button: ({buttons}, answer) => buttons.map(({reply}) => choice(reply.title,
        () => answer('button_reply', {interactive: {button_reply: reply}}))),
    list: (action, answer) => choice(action.button, () => openList(action, answer)),
    cta_url: ({parameters}) => choice(parameters.display_text, null, parameters.url),
    flow: ({parameters}, answer) => flowChoice(parameters.flow_cta, parameters, answer),
    location_request_message: (action, answer) => choice('Send location',
        () => answer('location', {location: {latitude: 52.5163, longitude: 13.3777}})),
    request_contact_info: (action, answer) => choice('Share contact',
        () => answer('contacts_request', {})),
});

function interactive(content, definition, answer) {
    const {type} = content;
    if (type === 'button_reply' || type === 'list_reply')
        return [text(content[type].title), small(content[type].description)];
    if (type === 'nfm_reply')
        return [text('Flow answered'), small(content.nfm_reply.response_json)];
    return [header(content.header), text(content.body?.text), small(content.footer?.text),
        ACTIONS[type]?.(content.action ?? {}, answer) ??
            choice(type.replaceAll('_', ' '), null, 'This cannot be answered here.')];
}

// --- templates ---

// The text of the parameter of {{1}} or {{name}}.
function valueOf(parameters = [], name = '') {
    const found = /^\d+$/.test(name) ? parameters[name - 1] :
        parameters.find((one) => one.parameter_name === name);
    return found?.text ?? found?.[found?.type]?.fallback_value;
}

function templateButton(button, parameters, answer) {
    const [first] = parameters;
    if (button.type === 'QUICK_REPLY') {
        return choice(button.text, () => answer('button',
            {button: {payload: first?.payload ?? button.text, text: button.text}}));
    }
    if (button.type === 'FLOW') {
        return flowChoice(button.text, {flow_id: button.flow_id, flow_name: button.flow_name,
            flow_token: first?.action?.flow_token}, answer);
    }
    return choice(button.text ?? button.type, null, button.phone_number ?? first?.coupon_code ??
        replaceNames(button.url ?? '', (name) => valueOf(parameters, name)));
}

const LINES = {header: title, body: text, footer: small, media: small};

function template(content, definition, answer) {
    if (!definition)
        return text(`Template ${content.name}`);
    const parametersOf = (kind, index) => (content.components ?? []).find((one) =>
        one.type.toLowerCase() === kind && (kind !== 'button' || Number(one.index) === index))
        ?.parameters ?? [];
    const shown = lines(definition, (place, name) => valueOf(parametersOf(place), name));
    return [
        shown.filter(({kind}) => kind !== 'button').map((line) =>
            line.kind === 'media' && header(parametersOf('header')[0]) ||
            LINES[line.kind](line.text)),
        partOf(definition, 'BUTTONS')?.buttons.map((button, index) =>
            templateButton(button, parametersOf('button', index), answer)),
    ];
}

// --- all ---

const CONTENTS = lookup({
    text: ({body}) => text(body),
    interactive,
    template,
    button: (content) => text(content.text),
    location: ({name, address, latitude, longitude}) =>
        [text(name), text(address), small(`${latitude}, ${longitude}`)],
    contacts: (content) => content.map((one) => text(one.name?.formatted_name)),
    ...Object.fromEntries(['image', 'video', 'audio', 'document', 'sticker'].map((type) =>
        [type, (content) => media(type, content)])),
});

// Returns the content of a message as nodes. answer(kind, message) answers it.
export function contentOf(message, definition, answer) {
    const type = message.type ?? 'text';
    return CONTENTS[type]?.(message[type] ?? {}, definition, answer) ?? small(type);
}
