// What a message is in one line: for the list of threads, quotes and screen readers.
import {has, t} from '../i18n.js';
import {listOf, lookup, objectOf, textOf} from '../shape.js';
import {callText, permissionText} from './calls.js';

// The part of the platform's object that its type names; {} where there is none.
export function content(message) {
    const body = objectOf(message.body);
    const name = textOf(body.type) || message.type;
    return objectOf(Object.hasOwn(body, name) ? body[name] : null);
}

const MEDIA = lookup({
    image: 'image', video: 'video', audio: 'audio', document: 'file', sticker: 'image',
});

const ICONS = lookup({
    ...MEDIA, location: 'place', contacts: 'person', order: 'archive', template: 'templates',
    call: 'phone',
});

// A call cannot be quoted, get a reaction or be marked as read at the platform.
export function isCall(message) {
    return message.type === 'call';
}

export function isMedia(message) {
    return message.type in MEDIA;
}

// The name of the icon of a message, or null.
export function iconOf(message) {
    return ICONS[message.type] ?? null;
}

// The kind in words: "Image", "Voice message".
export function kindOf(message) {
    const part = content(message);
    const name = message.type === 'audio' && part.voice ? 'voice'
        : message.type === 'interactive' && textOf(part.type) || message.type;
    return has(`inbox.kind.${name}`) ? t(`inbox.kind.${name}`) : t('inbox.kind.other', {name});
}

function interactiveText(part) {
    return permissionText(part.call_permission_reply) ?? part.button_reply?.title
        ?? part.list_reply?.title ?? part.body?.text;
}

// The contacts of a message, which are a list and no object.
export function cardsOf(message) {
    return listOf(message.body?.contacts);
}

// Texts by type; a type that is missing, or a text that is empty, is named by its kind.
const TEXTS = lookup({
    text: (part) => part.body,
    button: (part) => part.text,
    interactive: interactiveText,
    template: (part) => part.name,
    reaction: (part) => textOf(part.emoji) && t('inbox.reactedWith', {emoji: part.emoji}),
    location: (part) => part.name ?? part.address,
    contacts: (part, message) => cardsOf(message)[0]?.name?.formatted_name,
    edit: (part) => part.message?.text?.body,
    document: (part) => part.caption ?? part.filename,
    image: (part) => part.caption,
    video: (part) => part.caption,
    order: (part) => part.text,
    system: (part) => part.body,
    call: (part, message) => callText(message.body),
});

let segmenter = null; // making it takes longer than drawing a list, and short texts need none

// The beginning of a text: `count` characters as a reader counts them. A browser without
// Intl.Segmenter cuts between code points, perhaps within a family of emoji.
export function beginning(text, count) {
    if (text.length <= count)
        return text;
    segmenter ??= Intl.Segmenter && new Intl.Segmenter();
    const letters = [];
    for (const one of segmenter?.segment(text) ?? text) {
        if (letters.push(one.segment ?? one) === count)
            break;
    }
    return letters.join('');
}

// The first 200 characters of what the message says.
export function summary(message) {
    if (!message.body)
        return t('inbox.unknownContent');
    const text = textOf(TEXTS[message.type]?.(content(message), message));
    return text.trim() ? beginning(text, 200) : kindOf(message);
}

// The name of a contact: the profile's name, else user name, phone or user id.
export function nameOf(contact) {
    if (contact.name?.trim())
        return contact.name;
    if (contact.username)
        return `@${contact.username}`;
    return phoneText(contact.phone) ?? contact.userId ?? contact.parentUserId ?? contact.id;
}

export function phoneText(phone) {
    return phone ? `+${phone}` : null;
}

// What identifies a contact, other than its name.
export function identityOf(contact) {
    const parts = [phoneText(contact.phone), contact.username && `@${contact.username}`];
    return parts.filter(Boolean).join(' · ') || contact.userId || contact.parentUserId || '';
}

// One or two letters for the round picture of a contact.
export function initials(contact) {
    const words = nameOf(contact).match(/[\p{L}\p{M}\p{N}]+/gu) ?? ['?'];
    return words.length > 1 && /\p{L}/u.test(words[0])
        ? [...words[0]][0] + [...words.at(-1)][0] : [...words[0]][0];
}
