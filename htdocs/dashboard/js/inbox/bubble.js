// A message as a bubble, by its type.
import {el} from '../dom.js';
import {clock, dateTime, number, t} from '../i18n.js';
import {icon} from '../icons.js';
import {listOf, lookup, numberOf, objectOf, textOf} from '../shape.js';
import {isSelf, mayAnswer} from '../team.js';
import {fillText} from '../templates/definition.js';
import {button} from '../ui.js';
import {isAutomatic} from './calls.js';
import {cardsOf, content, isCall, isMedia, kindOf, summary} from './describe.js';
import {formatted} from './formatted.js';
import {media} from './media.js';

function text(value, className = '') {
    const shown = textOf(value);
    return shown ? el('p', {class: `foreign ${className}`}, shown) : null;
}

// A text that was written in a chat, with its marks and addresses.
function written(value, className = '') {
    const shown = textOf(value);
    return shown ? el('p', {class: `foreign ${className}`}, formatted(shown)) : null;
}

// --- By type -------------------------------------------------------------------------------------

function mediaBody(message, {phoneNumberId}) {
    const part = content(message);
    const kind = message.type === 'audio' && part.voice ? 'voice' : message.type;
    const messageId = /^msg_/.test(message.id) ? message.id : undefined; // it is stored
    return [media(part, {type: message.type, kind, label: kindOf(message), phoneNumberId,
        messageId}), written(part.caption)];
}

function locationBody(message) {
    const {latitude, longitude, name, address} = content(message);
    const point = [latitude, longitude].map(numberOf);
    const isPoint = point.every(Number.isFinite);
    const map = isPoint && 'https://www.openstreetmap.org/?' +
        new URLSearchParams({mlat: point[0], mlon: point[1]}) + `#map=16/${point.join('/')}`;
    return el('div', {class: 'attached'}, icon('place'), el('div', {},
        text(name, 'strong'), text(address, 'muted'),
        isPoint && el('p', {class: 'small'}, el('a', {
            href: map, target: '_blank', rel: 'noopener noreferrer',
        }, t('inbox.openMap')), ' ', el('span', {class: 'muted'},
            point.map((value) => number(value, {maximumFractionDigits: 5})).join('; ')))));
}

function card(one) {
    const values = [one.org?.company, ...listOf(one.phones).map(({phone}) => phone),
        ...listOf(one.emails).map(({email}) => email)];
    return el('div', {class: 'attached'}, icon('person'), el('div', {},
        text(one.name?.formatted_name, 'strong'),
        values.map((value) => text(value, 'muted small'))));
}

function contactsBody(message) {
    return cardsOf(message).map(card);
}

function orderBody(message) {
    const {product_items: list, text: note} = content(message);
    const items = listOf(list);
    const total = items.reduce((sum, item) =>
        sum + numberOf(item.quantity) * numberOf(item.item_price), 0);
    const money = (value, currency) => {
        if (Number.isNaN(numberOf(value)))
            return textOf(value);
        try {
            return number(numberOf(value), {style: 'currency', currency: textOf(currency)});
        } catch {
            return `${textOf(value)} ${textOf(currency)}`; // not the code of a currency
        }
    };
    return [el('p', {class: 'strong'}, t('inbox.kind.order')),
        el('ul', {class: 'rows'}, items.map((item) => el('li', {},
            el('span', {class: 'foreign-line'},
                `${textOf(item.quantity)} × ${textOf(item.product_retailer_id)}`),
            el('span', {}, money(item.item_price, item.currency))))),
        Number.isFinite(total) && el('p', {class: 'total'}, el('span', {}, t('inbox.total')),
            el('span', {}, money(total, items[0]?.currency))),
        text(note)];
}

// The answers of a form: name and value; the token that identifies its use is left out.
function answers(json) {
    let values;
    try {
        values = JSON.parse(json);
    } catch {
        return text(json);
    }
    return el('dl', {class: 'answers'}, Object.entries(objectOf(values))
        .filter(([name]) => name !== 'flow_token')
        .map(([name, value]) => el('div', {}, el('dt', {class: 'foreign-line'}, name),
            el('dd', {class: 'foreign'}, typeof value === 'object' ? JSON.stringify(value)
                : String(value)))));
}

// The buttons and rows that the recipient of an interactive message sees.
function offered(action) {
    const {sections, buttons, parameters} = objectOf(action);
    const rows = listOf(sections).flatMap((section) => listOf(section.rows));
    const list = rows.length ? rows.map((row) => [row.title, row.description])
        : listOf(buttons).map((one) => [one.reply?.title]);
    const {display_text: label, flow_cta: cta, url} = objectOf(parameters);
    if (label ?? cta)
        list.push([label ?? cta, url]);
    return list.length > 0 && el('ul', {class: 'offered'}, list.map(([title, more]) =>
        el('li', {}, el('span', {class: 'foreign-line'}, textOf(title)),
            textOf(more) && el('span', {class: 'muted small foreign-line'}, textOf(more)))));
}

// One line with the icon of a call.
function callBody(message, more) {
    return el('div', {class: 'attached'}, icon('phone'), el('div', {},
        el('p', {class: 'strong'}, summary(message)),
        more && el('p', {class: 'muted small'}, more)));
}

function interactiveBody(message) {
    const part = content(message);
    if (part.call_permission_reply)
        return callBody(message, isAutomatic(part.call_permission_reply) && t('inbox.call.byCall'));
    if (part.nfm_reply)
        return [el('p', {class: 'strong'}, t('inbox.kind.nfm_reply')),
            answers(textOf(part.nfm_reply.response_json))];
    const reply = part.button_reply ?? part.list_reply;
    if (reply)
        return [text(reply.title, 'strong'), text(reply.description, 'muted small')];
    return [text(part.header?.text, 'strong'), written(part.body?.text),
        written(part.footer?.text, 'muted small'), offered(part.action),
        !textOf(part.body?.text) && text(kindOf(message))];
}

function filledText(lines) {
    const buttons = lines.filter(({kind}) => kind === 'button');
    return [lines.filter(({kind}) => kind !== 'button').map(({kind, text: line}) =>
        written(line, {header: 'strong', footer: 'muted small'}[kind])),
    buttons.length > 0 && el('ul', {class: 'offered'}, buttons.map((one) =>
        el('li', {}, textOf(one.text))))];
}

function templateBody(message, {definitionOf}) {
    const part = content(message);
    const definition = definitionOf(textOf(part.name), textOf(part.language?.code));
    return [el('p', {class: 'muted small template-name'}, icon('templates'),
        el('span', {class: 'foreign-line'}, textOf(part.name))),
    definition ? filledText(fillText(definition, listOf(part.components)))
        : listOf(part.components).flatMap((one) => listOf(one.parameters))
            .map((one) => text(one.text))];
}

function adBody({referral}) {
    return referral && el('div', {class: 'quote'},
        el('p', {class: 'small muted'}, t('inbox.fromAd')),
        text(referral.headline, 'strong'), text(referral.body, 'small'));
}

const BODIES = lookup({
    text: (message) => written(content(message).body),
    button: (message) => text(content(message).text, 'strong'),
    location: locationBody,
    contacts: contactsBody,
    order: orderBody,
    interactive: interactiveBody,
    template: templateBody,
    system: (message) => text(content(message).body),
    edit: (message) => [note(t('inbox.editedEarlier')), text(summary(message))],
    revoke: () => note(t('inbox.deletedEarlier')),
    reaction: (message) => text(summary(message)),
    call: (message) => callBody(message),
});

function note(value) {
    return el('p', {class: 'muted note'}, value);
}

function bodyOf(message, context) {
    if (context.isDeleted)
        return note(t('inbox.deleted'));
    if (textOf(context.edited))
        return written(context.edited);
    if (!message.body)
        return note(t('inbox.unknownContent'));
    if (isMedia(message))
        return mediaBody(message, context);
    const make = BODIES[message.type];
    return make ? [adBody(message.body), make(message, context)]
        : note(message.direction === 'in' ? t('inbox.unsupported') : kindOf(message));
}

// One message of a shape that this page does not know is one line, and its details have what the
// platform sent: the messages around it stay.
export function safeBody(message, context) {
    try {
        const nodes = [bodyOf(message, context)].flat(Infinity).filter(Boolean);
        if (nodes.length)
            return nodes;
    } catch (error) {
        console.error(message.id, error);
    }
    return note(t('inbox.strange', {kind: kindOf(message)}));
}

// --- State ---------------------------------------------------------------------------------------

const TICKS = lookup({
    accepted: ['clock', ''], sent: ['check', ''], delivered: ['checks', ''],
    read: ['checks', 'seen'], played: ['checks', 'seen'], failed: ['alert', 'bad'],
});

export function ticks(status) {
    const [name, kind] = TICKS[status] ?? ['clock', ''];
    return el('span', {class: `ticks ${kind}`, data: {status}}, icon(name),
        el('span', {class: 'off-screen'}, t(`inbox.status.${status}`)));
}

// Why the platform did not deliver it: code, title, details. sendAgain() sends it anew, or is null.
export function failure(error, sendAgain) {
    const first = objectOf(Array.isArray(error) ? error[0] : error);
    const code = textOf(first.code);
    const title = textOf(first.title) || textOf(first.message);
    const details = textOf(first.error_data?.details);
    return el('div', {class: 'failure'},
        el('p', {class: 'foreign'}, code && el('strong', {}, `${code} `),
            title || t('inbox.status.failed')),
        details && details !== title && el('p', {class: 'foreign small'}, details),
        sendAgain && el('div', {class: 'actions'},
            button(t('inbox.sendAgain'), sendAgain, {icon: 'refresh'})));
}

function quote(contextMessage, wamid, {jumpTo}) {
    const label = contextMessage ? summary(contextMessage) : t('inbox.quotedEarlier');
    return el('button', {
        type: 'button', class: 'quote', 'aria-label': t('inbox.quoted', {text: label}),
        on: {click: () => jumpTo(wamid)},
    }, el('span', {class: 'foreign'}, label));
}

function footer(message, context) {
    return el('p', {class: 'meta'},
        message.source === 'echo' && el('span', {}, t('inbox.fromApp')),
        message.source === 'history' && el('span', {}, t('inbox.fromHistory')),
        context.edited && el('span', {}, t('inbox.edited')),
        message.by && el('span', {class: 'by cut', title: t('inbox.by', {name: message.by.name})},
            isSelf(message.by) ? t('inbox.you') : message.by.name),
        el('time', {datetime: message.timestamp, title: dateTime(message.timestamp)},
            clock(message.timestamp)),
        message.direction === 'out' && ticks(message.status));
}

// Only what the platform has as a message can get a reaction.
export function canReact(message, {isDeleted}) {
    return !isDeleted && message.status !== 'failed' && !isCall(message);
}

// The bubble of a message. context: {phoneNumberId, isDeleted, edited (the new text), reactions
// [{emoji, direction}], quoted (the message that it replies to, if loaded), definitionOf(name,
// language), jumpTo(wamid), open(message), reply(message),
// react(message), again(message) (a function that sends a
// failed message anew, or null)}.
export function bubble(message, context) {
    const isOut = message.direction === 'out';
    const isOther = message.by && !isSelf(message.by);
    const who = isOther ? message.by.name : isOut ? t('inbox.you') : context.name;
    return el('li', {
        class: `message ${message.direction} type-${message.type}`, id: message.id,
        data: {wamid: message.wamid},
    },
    el('div', {class: 'bubble'},
        el('span', {class: 'off-screen'}, t('inbox.says', {who})),
        message.contextWamid && !context.isDeleted &&
            quote(context.quoted, message.contextWamid, context),
        safeBody(message, context),
        message.status === 'failed' && failure(message.error, context.again(message)),
        footer(message, context),
        context.reactions?.length > 0 && el('p', {class: 'reactions'},
            context.reactions.map(({emoji, direction}) => el('span', {
                title: t('inbox.reactionOf', {who: direction === 'out' ? t('inbox.you')
                    : context.name}),
            }, emoji)))),
    el('div', {class: 'tools'},
        mayAnswer() && !context.isDeleted && !isCall(message) && tool('reply', t('inbox.reply'),
            () => context.reply(message)),
        mayAnswer() && canReact(message, context) && tool('smile', t('inbox.react'),
            () => context.react(message)),
        tool('more', t('inbox.details'), () => context.open(message))));
}

// The tools of all messages are one stop of the Tab key: arrows lead to those of the others.
function tool(name, label, onClick) {
    return el('button', {
        type: 'button', class: 'tool', tabindex: '-1', 'aria-label': label, title: label,
        on: {click: onClick},
    }, icon(name));
}
