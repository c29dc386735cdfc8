// Checks that index.html names every module that main.js imports, at any depth, so that a browser
// requests them at once and not one level after the other:
//
//     node preloads.js DIRECTORY      DIRECTORY: htdocs/dashboard
const fs = require('node:fs');
const path = require('node:path');

const directory = process.argv[2];

function importedBy(file, found = new Set()) {
    const source = fs.readFileSync(path.join(directory, file), 'utf8');
    for (const [, name] of source.matchAll(/^(?:import|\} from|.* from) ?'(\.[^']+)'/gm)) {
        const target = path.join(path.dirname(file), name);
        if (!found.has(target))
            importedBy(target, found.add(target));
    }
    return found;
}

const page = fs.readFileSync(path.join(directory, 'index.html'), 'utf8');
const named = [...page.matchAll(/modulepreload" href="([^"]+)"/g)].map(([, file]) => file);
const imported = [...importedBy('js/main.js')].filter((file) => file !== 'js/main.js');
const findings = [
    ...imported.filter((file) => !named.includes(file)).map((file) => `${file} is not named`),
    ...named.filter((file) => !imported.includes(file)).map((file) => `${file} is not imported`),
];
if (imported.length < 10)
    findings.push('the imports cannot be read');
findings.forEach((text) => process.stdout.write(`index.html: ${text}\n`));
process.exitCode = findings.length ? 1 : 0;
