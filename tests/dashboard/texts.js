// Checks the texts of the dashboard without a browser: every language has the same keys and the
// same {names} in each text, every key that the modules use exists, and every key is used.
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

for (const [file, texts] of Object.entries(languages)) {
    for (const key of Object.keys({...english, ...texts})) {
        if (!(key in texts))
            findings.push(`${file}: ${key} is missing`);
        else if (!(key in english))
            findings.push(`${file}: ${key} is not in en.json`);
        else if (names(texts[key]) !== names(english[key]))
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
            one === key || /^\.(one|other|few|many|zero|two)$/.test(one.slice(key.length)) &&
                one.startsWith(key));
        if (!found.length)
            findings.push(`${file}: ${key} is not in en.json`);
        found.forEach((one) => used.add(one));
    }
    for (const [, template] of source.matchAll(/`([a-z]\w*\.[^`]*\$\{[^`]*)`/g)) {
        const pattern = new RegExp(`^${template.split(/\$\{(?:[^{}]|\{[^}]*\})*\}/)
            .map((part) => part.replace(/[.*+?^()|[\]\\]/g, '\\$&')).join('\\w+')}` +
            '(\\.(one|other))?$');
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
