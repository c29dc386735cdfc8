// The content of messages, of the business and of the person.
import {closeDialog, el, openDialog} from './dom.js';
import {openFlow} from './flow.js';
import {mediaUrl} from './sandbox.js';

const text = (content, kind = 'body') => content && el('p', {class: kind}, content);

// A picture by its id; other media, and media by a link, by their name.
function media(type, content) {
    const name = content.filename ?? content.link ?? content.id;
    const node = el('figure', {class: 'media'}, el('figcaption', {}, `${type}: ${name}`));
    if (content.id && (type === 'image' || type === 'sticker')) {
        mediaUrl(content.id).then((url) => {
            const image = url && el('img', {src: url, alt: content.caption ?? type});
            image?.addEventListener('load', () => node.replaceChildren(image));
        });
    }
    return [node, text(content.caption)];
}

function header(part) {
    if (!part)
        return null;
    return part.type === 'text' ? text(part.text, 'title') :
        media(part.type, part[part.type] ?? {});
}

const choice = (label, onclick) => el('button', {type: 'button', class: 'choice', onclick}, label);

// What the person cannot do here, such as opening a link.
const shown = (label, about) => el('p', {class: 'choice shown', title: about}, label,
    about && el('span', {class: 'about'}, about));

function openList(action, title, answer) {
    const rows = (section) => section.rows.map((row) => el('button', {type: 'button', class: 'row',
        onclick: () => {
            closeDialog();
            answer('list_reply', {interactive: {list_reply: {id: row.id, title: row.title,
                description: row.description ?? null}}});
        }}, el('strong', {}, row.title), row.description && el('span', {}, row.description)));
    openDialog(title, ...action.sections.map((section) => el('section', {},
        section.title && el('h3', {}, section.title), rows(section))));
}

function answerFlow(answer, values) {
    answer('nfm_reply', {interactive: {nfm_reply: {response_json: JSON.stringify(values)}}});
}

function action(interactive, answer) {
    const {action: act = {}, type} = interactive;
    const parameters = act.parameters ?? {};
    switch (type) {
    case 'button':
        return act.buttons.map(({reply}) => choice(reply.title,
            () => answer('button_reply', {interactive: {button_reply: reply}})));
    case 'list':
        return choice(act.button, () => openList(act, act.button, answer));
    case 'cta_url':
        return shown(parameters.display_text, parameters.url);
    case 'flow':
        return choice(parameters.flow_cta,
            () => openFlow(parameters, (values) => answerFlow(answer, values)));
    case 'location_request_message':
        return choice('Send location', () => answer('location', {location: {latitude: 52.5163,
            longitude: 13.3777}}));
    case 'request_contact_info':
        return choice('Share contact', () => answer('contacts_request', {}));
    default:
        return shown(type.replaceAll('_', ' '), 'This cannot be answered here.');
    }
}

function interactive(content, answer) {
    if (content.type === 'button_reply' || content.type === 'list_reply') {
        const {title, description} = content[content.type];
        return [text(title), text(description, 'small')];
    }
    if (content.type === 'nfm_reply')
        return [text('Flow answered'), text(content.nfm_reply.response_json, 'small')];
    return [header(content.header), text(content.body?.text), text(content.footer?.text, 'small'),
        action(content, answer)];
}

// --- templates ---

const sameType = (one, other) => one?.type?.toLowerCase() === other.toLowerCase();

// Replaces {{1}} and {{name}} by the parameters of a message.
function filled(pattern, parameters = []) {
    return pattern?.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name) => {
        const found = /^\d+$/.test(name) ? parameters[name - 1] :
            parameters.find((one) => one.parameter_name === name);
        return found?.text ?? found?.[found?.type]?.fallback_value ?? whole;
    });
}

function templateButton(button, index, given, answer) {
    const parameters = given.find((one) => sameType(one, 'button') && Number(one.index) === index)
        ?.parameters ?? [];
    if (button.type === 'QUICK_REPLY') {
        const payload = parameters[0]?.payload ?? button.text;
        return choice(button.text, () => answer('button', {button: {payload, text: button.text}}));
    }
    if (button.type === 'FLOW') {
        return choice(button.text, () => openFlow({flow_id: button.flow_id,
            flow_name: button.flow_name, flow_token: parameters[0]?.action?.flow_token},
        (values) => answerFlow(answer, values)));
    }
    return shown(button.text ?? button.type, filled(button.url, parameters) ??
        button.phone_number ?? parameters[0]?.coupon_code);
}

function template(content, definition, answer) {
    if (!definition)
        return text(`Template ${content.name}`);
    const given = content.components ?? [];
    const parametersOf = (type) => given.find((one) => sameType(one, type))?.parameters ?? [];
    return definition.components.map((part) => {
        const parameters = parametersOf(part.type);
        if (sameType(part, 'header') && part.format !== 'TEXT')
            return parameters[0] ? header(parameters[0]) : text(part.format.toLowerCase(), 'small');
        if (sameType(part, 'header'))
            return text(filled(part.text, parameters), 'title');
        if (sameType(part, 'buttons')) {
            return part.buttons.map((button, index) =>
                templateButton(button, index, given, answer));
        }
        return text(filled(part.text, parameters), sameType(part, 'body') ? 'body' : 'small');
    }).flat();
}

// --- all ---

const MEDIA = ['image', 'video', 'audio', 'document', 'sticker'];

// Returns the content of a message as nodes. answer(kind, message) answers it.
export function contentOf(message, definition, answer) {
    const type = message.type ?? 'text';
    const content = message[type] ?? {};
    if (MEDIA.includes(type))
        return media(type, content);
    switch (type) {
    case 'text':
        return [text(content.body)];
    case 'interactive':
        return [interactive(content, answer)].flat(2);
    case 'template':
        return [template(content, definition, answer)].flat(2);
    case 'button':
        return [text(content.text)];
    case 'location':
        return [text(content.name), text(content.address),
            text(`${content.latitude}, ${content.longitude}`, 'small')];
    case 'contacts':
        return content.map((one) => text(one.name?.formatted_name));
    default:
        return [text(type, 'small')];
    }
}
