// A text with the marks of WhatsApp (*bold*, _italic_, ~strike~, `code`, ```block```) and its web
// addresses, as nodes. Nothing of the text is ever markup.
import {el} from '../dom.js';

const MARKS = new Map([['*', 'strong'], ['_', 'em'], ['~', 's']]);
const LETTER = /[\p{L}\p{M}\p{N}]/u;
// In code no mark and no address counts. An address ends before a character that is not shown, or
// that changes the direction of what follows.
const ATOMS = new RegExp('```(?<block>[^]+?)```|`(?<code>[^`\\n]+)`|(?<url>https?://' +
    '[^\\s<>"`\\p{Cc}\\p{Cf}]+)', 'giu');

// The address without what ends the sentence around it: a parenthesis belongs to it if it opened.
function trimmed(url) {
    let end = url.replace(/[.,;:!?'"”»…*_~)\]}]+$/u, '');
    if (url[end.length] === ')' && end.includes('('))
        end += ')';
    return end;
}

function linkTo(url) {
    const address = URL.canParse(url) ? new URL(url) : null;
    return ['http:', 'https:'].includes(address?.protocol)
        ? el('a', {href: address.href, target: '_blank', rel: 'noopener noreferrer'}, url) : url;
}

// The text as a list of characters, with a node in place of each code and address.
function unitsOf(text) {
    const units = [];
    let from = 0;
    for (const found of text.matchAll(ATOMS)) {
        const {block, code, url} = found.groups;
        const kept = url ? trimmed(url) : found[0];
        units.push(...text.slice(from, found.index), url ? linkTo(kept)
            : el('code', {class: block ? 'block' : null}, block?.replace(/^\n|\n$/g, '') ?? code));
        from = found.index + kept.length;
    }
    return [...units, ...text.slice(from)];
}

const isLetter = (unit) => typeof unit === 'string' && LETTER.test(unit);
const isSpace = (unit) => unit === undefined || typeof unit === 'string' && /\s/u.test(unit);

// A mark opens and closes at the edges of words only: snake_case and 2*3*4 have none.
function opens(units, at) {
    return !isLetter(units[at - 1]) && !isSpace(units[at + 1]);
}

function closes(units, at) {
    return !isSpace(units[at - 1]) && !isLetter(units[at + 1]);
}

// The position of the mark that closes the one at `at` in its line, or -1.
function closing(units, at, end) {
    for (let i = at + 1; i < end && units[i] !== '\n'; i++) {
        if (units[i] === units[at] && i > at + 1 && closes(units, i))
            return i;
    }
    return -1;
}

function nodesOf(units, start, end) {
    const nodes = [];
    const open = new Set(); // marks that nothing closes in this line
    let text = '';
    const flush = () => {
        if (text)
            nodes.push(text);
        text = '';
    };
    for (let i = start; i < end; i++) {
        const unit = units[i];
        const name = MARKS.get(unit);
        const close = name && !open.has(unit) && opens(units, i) ? closing(units, i, end) : -1;
        if (close > 0) {
            flush();
            nodes.push(el(name, {}, nodesOf(units, i + 1, close)));
            i = close;
        } else if (typeof unit === 'string') {
            if (name && opens(units, i))
                open.add(unit);
            if (unit === '\n')
                open.clear();
            text += unit;
        } else {
            flush();
            nodes.push(unit);
        }
    }
    flush();
    return nodes;
}

// formatted('*new* https://example.org') returns a list of texts and nodes.
export function formatted(text) {
    const units = unitsOf(text);
    return nodesOf(units, 0, units.length);
}
