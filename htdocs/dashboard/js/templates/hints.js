// What the platform will probably refuse in a draft: [{place, key, values}], with the place of the
// field and the text of the hint. The platform decides: a hint never stops a draft.
import {namesIn} from './definition.js';
import {MEDIA, isNamed, variablesOf} from './draft.js';

export const LONGEST = {header: 60, body: 1024, footer: 60, button: 25, url: 2000, phone: 20};

const MOST = {URL: 2, PHONE_NUMBER: 1, COPY_CODE: 1};

function lengthHint(place, text, most) {
    const count = [...text].length;
    return count > most && {place, key: 'long', values: {count, most}};
}

function nameHints({name}) {
    return [!/^[a-z0-9_]{1,512}$/.test(name) && {place: 'name', key: 'name'}];
}

// Variables are {{1}}, {{2}} without a gap, or names.
function isWellFormed(text) {
    const names = variablesOf(text);
    return !/\{\{|\}\}/.test(text.replace(/\{\{(\d+|[a-z_][a-z0-9_]*)\}\}/g, '')) &&
        (names.every((name, i) => name === String(i + 1)) ||
        names.every((name) => !/^\d+$/.test(name)));
}

function sampleHints(draft, place, text) {
    return variablesOf(text).filter((name) => !draft.samples[`${place}.${name}`]?.trim())
        .map((name) => ({place: `${place}.${name}`, key: 'sample', values: {name}}));
}

function headerHints(draft) {
    const {kind, text, handle} = draft.header;
    if (MEDIA.includes(kind))
        return [!handle && {place: 'sample', key: 'file'}];
    return kind !== 'TEXT' ? [] : [
        !text.trim() && {place: 'header', key: 'empty'},
        !isWellFormed(text) && {place: 'header', key: 'variables'},
        variablesOf(text).length > 1 && {place: 'header', key: 'headerVariables'},
        lengthHint('header', text, LONGEST.header), ...sampleHints(draft, 'header', text)];
}

// The platform does not say how many words it wants for each variable: about two, and one more.
function hasWords(text) {
    const words = text.split(/\s+/).filter((word) => word && !namesIn(word).length).length;
    return !variablesOf(text).length || words > 2 * variablesOf(text).length;
}

function bodyHints(draft) {
    const {body, header} = draft;
    const isSpaced = !/^(zh|ja|th|lo)/.test(draft.language);
    return [
        !body.trim() && {place: 'body', key: 'empty'},
        !isWellFormed(body) && {place: 'body', key: 'variables'},
        isNamed(draft) && variablesOf(`${header.kind === 'TEXT' ? header.text : ''} ${body}`)
            .some((name) => /^\d+$/.test(name)) && {place: 'body', key: 'mixed'},
        /^\s*\{\{|\}\}\s*$/.test(body) && {place: 'body', key: 'edge'},
        isSpaced && !hasWords(body) && {place: 'body', key: 'words'},
        lengthHint('body', body, LONGEST.body), ...sampleHints(draft, 'body', body)];
}

function footerHints({footer}) {
    return [namesIn(footer).length > 0 && {place: 'footer', key: 'footerVariables'},
        lengthHint('footer', footer, LONGEST.footer)];
}

function buttonHints({type, text, url, phone, sample}, i) {
    const place = (name) => `button.${i}.${name}`;
    const names = namesIn(url);
    return [
        type !== 'COPY_CODE' && !text.trim() && {place: place('text'), key: 'empty'},
        type !== 'COPY_CODE' && lengthHint(place('text'), text, LONGEST.button),
        type === 'URL' && !/^https?:\/\/\S+$/.test(url) && {place: place('url'), key: 'url'},
        type === 'URL' && (names.length > 1 || names.length && !url.endsWith('}}')) &&
            {place: place('url'), key: 'urlVariable'},
        type === 'URL' && lengthHint(place('url'), url, LONGEST.url),
        (type === 'COPY_CODE' || type === 'URL' && names.length > 0) && !sample.trim() &&
            {place: place('sample'), key: 'sample', values: {name: names[0] ?? text}},
        type === 'PHONE_NUMBER' && !/^\+?\d{5,}$/.test(phone) &&
            {place: place('phone'), key: 'phone'}];
}

function groupHints({buttons}) {
    const replies = buttons.map(({type}) => type === 'QUICK_REPLY');
    const changes = replies.filter((one, i) => i && one !== replies[i - 1]).length;
    return [
        buttons.length > 10 && {place: 'buttons', key: 'manyButtons', values: {most: 10}},
        changes > 1 && {place: 'buttons', key: 'replies'},
        ...Object.entries(MOST).map(([kind, most]) =>
            buttons.filter(({type}) => type === kind).length > most &&
                {place: 'buttons', key: `many${kind}`, values: {most}})];
}

export function hintsOf(draft) {
    const all = draft.category === 'AUTHENTICATION' ? nameHints(draft) : [
        ...nameHints(draft), ...headerHints(draft), ...bodyHints(draft), ...footerHints(draft),
        ...draft.buttons.flatMap(buttonHints), ...groupHints(draft)];
    return all.filter(Boolean);
}

// Where the platform's refusal belongs: its subcode says it, or its words do.
export function placeOfRefusal({error_subcode: subcode, error_user_msg: words, message}) {
    const known = {2388042: 'name', 2388024: 'language', 2388023: 'name', 2388047: 'header',
        2388072: 'body', 2388073: 'footer', 2388293: 'body', 2388299: 'body'}[subcode];
    return known ?? /\b(name|language|category|header|body|footer|button)/i
        .exec(words ?? message)?.[1].toLowerCase().replace('button', 'buttons') ?? null;
}
