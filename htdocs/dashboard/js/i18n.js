// Texts, dates and numbers in the user's language.

export const LANGUAGES = {en: 'English', pt: 'Português'};
const STORED = 'switchboard-language';

let texts = {};
let code = 'en';

function stored() {
    try {
        return localStorage.getItem(STORED);
    } catch {
        return null; // storage is switched off: the browser's language decides
    }
}

// The language that was chosen here, else the first of the browser's that exists.
function preferred() {
    const wanted = [stored(), ...navigator.languages].filter(Boolean);
    return wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in LANGUAGES)
        ?? 'en';
}

function flatten(object, prefix, into) {
    for (const [name, value] of Object.entries(object)) {
        if (typeof value === 'string')
            into[prefix + name] = value;
        else
            flatten(value, `${prefix}${name}.`, into);
    }
    return into;
}

// Loads the texts; throws if they cannot be read.
export async function loadLanguage(wanted = preferred()) {
    const url = new URL(`../i18n/${wanted}.json`, import.meta.url);
    const response = await fetch(url, {cache: 'no-cache'});
    if (!response.ok)
        throw new Error(`${url.pathname}: HTTP ${response.status}`);
    texts = flatten(await response.json(), '', {});
    code = wanted;
    document.documentElement.lang = wanted;
}

export async function chooseLanguage(wanted) {
    try {
        localStorage.setItem(STORED, wanted);
    } catch {
        // without storage the choice lasts until the page is loaded again
    }
    await loadLanguage(wanted);
}

export function language() {
    return code;
}

export function has(key) {
    return key in texts;
}

// The text of a key with {name} replaced: t('events.replayed', {count: 3}). With a number `count`
// the key's forms `key.one` and `key.other` are used where they exist.
export function t(key, values = {}) {
    return parts(key, values).join('');
}

// As t, with values that may be nodes: returns the list of texts and nodes.
export function parts(key, values = {}) {
    let name = key;
    if (typeof values.count === 'number') {
        const form = `${key}.${new Intl.PluralRules(code).select(values.count)}`;
        name = form in texts ? form : `${key}.other` in texts ? `${key}.other` : key;
    }
    const text = texts[name] ?? name;
    return text.split(/\{(\w+)\}/).map((part, i) => {
        if (i % 2 === 0)
            return part;
        const value = values[part] ?? '';
        return typeof value === 'number' ? number(value) : value;
    });
}

export function number(value, options) {
    return new Intl.NumberFormat(code, options).format(value);
}

export function bytes(value) {
    const step = value < 1000 ? 0 : value < 1e6 ? 1 : 2;
    return number(value / 1000 ** step, {
        style: 'unit', unit: ['byte', 'kilobyte', 'megabyte'][step], unitDisplay: 'short',
        maximumFractionDigits: step ? 1 : 0,
    });
}

export function milliseconds(value) {
    return value < 10000
        ? number(value, {style: 'unit', unit: 'millisecond'})
        : number(value / 1000, {style: 'unit', unit: 'second', maximumFractionDigits: 1});
}

// Date and time with seconds, in the browser's time zone.
export function dateTime(value) {
    return new Intl.DateTimeFormat(code, {dateStyle: 'medium', timeStyle: 'medium'})
        .format(new Date(value));
}

export function date(value, options = {dateStyle: 'medium'}) {
    return new Intl.DateTimeFormat(code, options).format(new Date(value));
}

// Hours and minutes.
export function clock(value) {
    return new Intl.DateTimeFormat(code, {hour: '2-digit', minute: '2-digit'})
        .format(new Date(value));
}

const STEPS = [['second', 60], ['minute', 60], ['hour', 24], ['day', 30], ['month', 12],
    ['year', Infinity]];

// "3 minutes ago", "in 2 hours"; with the style narrow "3m ago".
export function relative(value, style = 'long') {
    let amount = (new Date(value).getTime() - Date.now()) / 1000;
    for (const [unit, size] of STEPS) {
        if (Math.abs(amount) < size) {
            return new Intl.RelativeTimeFormat(code, {numeric: 'auto', style})
                .format(Math.trunc(amount), unit);
        }
        amount /= size;
    }
    return '';
}
