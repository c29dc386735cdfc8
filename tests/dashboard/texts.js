// Checks the texts of the dashboard without a browser: every file of a language is in the list of
// i18n.js, every language has the same keys, the plural forms of its own grammar and the same
// {names} in each text, every key that the modules use exists, and every key is used.
//
//     node texts.js DIRECTORY      DIRECTORY: htdocs/dashboard
const fs = require('node:fs');
const path = require('node:path');

const directory = process.argv[2];

function flatten(object, prefix = '', into = {}) {
    for (const [name, value] of Object.entries(object)) {
        if (typeof value === 'string')
            into[prefix + name] = value;
        else
            flatten(value, `${prefix}${name}.`, into);
    }
    return into;
}

function readTexts(file) {
    return flatten(JSON.parse(fs.readFileSync(file, 'utf8')));
}

function modules(folder) {
    return fs.readdirSync(folder, {withFileTypes: true}).flatMap((entry) => {
        const file = path.join(folder, entry.name);
        return entry.isDirectory() ? modules(file) : file.endsWith('.js') ? [file] : [];
    });
}

function names(text) {
    return [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort().join(' ');
}

const findings = [];
const folder = path.join(directory, 'i18n');
const languages = Object.fromEntries(fs.readdirSync(folder)
    .map((file) => [file, readTexts(path.join(folder, file))]));
const english = languages['en.json'];

// --- Languages: a file and a row of LANGUAGES each ---

const [, rows] = fs.readFileSync(path.join(directory, 'js/i18n.js'), 'utf8')
    .match(/LANGUAGES = \{(.*)\};/);
const listed = [...rows.matchAll(/(\w+): '/g)].map(([, code]) => `${code}.json`).sort().join(' ');
if (listed !== Object.keys(languages).sort().join(' '))
    findings.push(`i18n.js lists ${listed}`);

// --- Plural forms ---

const FORM = /\.(zero|one|two|few|many|other)$/;
const COUNTS = Array.from({length: 1001}, (_, count) => count);
const baseOf = (key) => key.replace(FORM, '');
const plurals = new Set(Object.keys(english).filter((key) =>
    FORM.test(key) && `${baseOf(key)}.other` in english &&
    Object.keys(english).every((one) => !one.startsWith(`${baseOf(key)}.`) || FORM.test(one)))
    .map(baseOf));

// The forms of the numbers up to 1,000, and those that stand for several numbers.
function formsOf(code) {
    const rules = new Intl.PluralRules(code);
    const forms = COUNTS.map((count) => rules.select(count));
    return [...new Set(forms)].map((form) =>
        ({form, isOfOne: forms.filter((one) => one === form).length === 1}));
}

for (const [file, texts] of Object.entries(languages)) {
    const forms = formsOf(path.basename(file, '.json'));
    for (const key of plurals) {
        for (const {form, isOfOne} of forms) {
            const text = texts[`${key}.${form}`];
            if (text === undefined)
                findings.push(`${file}: ${key} lacks the form ${form}`);
            else if (!isOfOne && !text.includes('{count}'))
                findings.push(`${file}: ${key}.${form} is of several numbers, without {count}`);
        }
        for (const one of Object.keys(texts).filter((name) => baseOf(name) === key)) {
            if (one !== key && !forms.some(({form}) => one === `${key}.${form}`))
                findings.push(`${file}: ${one} is no form of this language`);
        }
    }
}

// --- Keys ---

const isPlural = (key) => FORM.test(key) && plurals.has(baseOf(key));

// The {names} of a text; the number may be a word in a plural form.
function namesOf(key, text) {
    return names(isPlural(key) ? text.replaceAll('{count}', '') : text);
}

for (const [file, texts] of Object.entries(languages)) {
    for (const key of Object.keys({...english, ...texts})) {
        if (isPlural(key) && !(key in texts && key in english))
            continue; // the forms differ by language
        if (!(key in texts))
            findings.push(`${file}: ${key} is missing`);
        else if (!(key in english))
            findings.push(`${file}: ${key} is not in en.json`);
        else if (namesOf(key, texts[key]) !== namesOf(key, english[key]))
            findings.push(`${file}: ${key} has other {names} than in en.json`);
        else if (!texts[key].trim())
            findings.push(`${file}: ${key} is empty`);
    }
}

// A key stands as 'group.name' in a module, or as a template `group.${...}` whose parts in front
// of and behind the variable are compared.
const groups = new Set(Object.keys(english).map((key) => key.split('.')[0]));
const used = new Set();
for (const file of modules(path.join(directory, 'js'))) {
    const source = fs.readFileSync(file, 'utf8');
    for (const [, key] of source.matchAll(/'([a-z]\w*(?:\.\w+)+)'/g)) {
        if (!groups.has(key.split('.')[0]))
            continue; // another text with dots, as message.received
        const found = Object.keys(english).filter((one) =>
            one === key || isPlural(one) && baseOf(one) === key);
        if (!found.length)
            findings.push(`${file}: ${key} is not in en.json`);
        found.forEach((one) => used.add(one));
    }
    for (const [, template] of source.matchAll(/`([a-z]\w*\.[^`]*\$\{[^`]*)`/g)) {
        const pattern = new RegExp(`^${template.split(/\$\{(?:[^{}]|\{[^}]*\})*\}/)
            .map((part) => part.replace(/[.*+?^()|[\]\\]/g, '\\$&')).join('\\w+')}` +
            '(\\.(zero|one|two|few|many|other))?$');
        if (!groups.has(template.split('.')[0]))
            continue;
        const found = Object.keys(english).filter((one) => pattern.test(one));
        if (!found.length)
            findings.push(`${file}: no key matches ${template}`);
        found.forEach((one) => used.add(one));
    }
}
for (const key of Object.keys(english).filter((one) => !used.has(one)))
    findings.push(`en.json: ${key} is not used`);

findings.forEach((text) => process.stdout.write(`${text}\n`));
process.exit(findings.length ? 1 : 0);
