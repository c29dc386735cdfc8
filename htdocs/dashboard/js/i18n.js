// Texts, dates and numbers in the user's language.

export const LANGUAGES = {en: 'English', es: 'Español', pt: 'Português'};
const STORED = 'switchboard-language';

let texts = {};
let code = 'en';
let locale = 'en'; // the language with the browser's region, for dates and numbers

function stored() {
    try {
        return localStorage.getItem(STORED);
    } catch {
        return null; // storage is switched off: the browser's language decides
    }
}

function languageOf(tag) {
    return tag.split('-')[0].toLowerCase();
}

// The language that was chosen here, else the first of the browser's that exists.
function preferred() {
    const wanted = [stored(), ...navigator.languages].filter(Boolean);
    return wanted.map(languageOf).find((tag) => tag in LANGUAGES) ?? 'en';
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
    locale = navigator.languages.find((tag) => languageOf(tag) === code) ?? code;
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
        const form = `${key}.${formatter(Intl.PluralRules, code).select(values.count)}`;
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

const formatters = new Map();

// Making one takes longer than all that it formats in a page. It keeps the time zone in which it
// was made, which a device may leave.
function formatter(Kind, language, options) {
    const key = `${Kind.name} ${language} ${new Date().getTimezoneOffset()} ` +
        JSON.stringify(options);
    if (!formatters.has(key))
        formatters.set(key, new Kind(language, options));
    return formatters.get(key);
}

export function number(value, options) {
    return formatter(Intl.NumberFormat, locale, options).format(value);
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
    return formatter(Intl.DateTimeFormat, locale, {dateStyle: 'medium', timeStyle: 'medium'})
        .format(new Date(value));
}

export function date(value, options = {dateStyle: 'medium'}) {
    return formatter(Intl.DateTimeFormat, locale, options).format(new Date(value));
}

// Hours and minutes.
export function clock(value) {
    return formatter(Intl.DateTimeFormat, locale, {timeStyle: 'short'}).format(new Date(value));
}

const SPANS = [['day', 86400], ['hour', 3600], ['minute', 60]];

// How long something lasts, in ms, as "5 min", "2 hr", "3 days"; at least a minute.
export function span(milliseconds) {
    const seconds = milliseconds / 1000;
    const [unit, size] = SPANS.find(([, least]) => seconds >= least) ?? SPANS.at(-1);
    return number(Math.max(1, Math.floor(seconds / size)),
        {style: 'unit', unit, unitDisplay: 'short'});
}

const STEPS = [['second', 60], ['minute', 60], ['hour', 24], ['day', 30], ['month', 12],
    ['year', Infinity]];

// "3 minutes ago", "in 2 hours"; with the style narrow "3m ago".
export function relative(value, style = 'long', now = Date.now()) {
    let amount = (new Date(value).getTime() - now) / 1000;
    for (const [unit, size] of STEPS) {
        if (Math.abs(amount) < size) {
            return formatter(Intl.RelativeTimeFormat, locale, {numeric: 'auto', style})
                .format(Math.trunc(amount), unit);
        }
        amount /= size;
    }
    return '';
}
