// The table of jobs and states in doc/dashboard.md: each cell has marks, and a second table says
// which test or reason a mark stands for. Prints how many cells have a test, and fails if a cell is
// empty, a page or a state has none, a mark is not explained, or a test does not exist:
//
//     node cells.js DOCUMENT BATS-FILE...
const fs = require('node:fs');
const {PAGES} = require('./pages.js');

const STATES = ['loading', 'slow', 'offline', 'back', 'server 500', 'session ended', 'other user',
    'midnight', 'other zone', 'reload', 'two tabs', '200 %', '320 px', 'keyboard alone',
    'screen reader', 'reduced motion', 'strange content'];

// The rows of the table whose head begins with `first`, as lists of cells; the head comes first.
function tableOf(document, first) {
    const lines = fs.readFileSync(document, 'utf8').split('\n');
    const start = lines.findIndex((line) => line.startsWith(`| ${first} |`));
    if (start < 0)
        throw new Error(`${document} has no table of ${first}`);
    const end = lines.findIndex((line, i) => i > start && !line.startsWith('|'));
    return lines.slice(start, end).filter((_, i) => i !== 1)
        .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
}

// [{page, state, marks: ['G', ...]}, ...]
function cellsOf(document) {
    const [[, ...states], ...rows] = tableOf(document, 'job');
    return rows.flatMap(([page, ...cells]) => states.map((state, i) =>
        ({page, state, marks: (cells[i] ?? '').split(' ').filter(Boolean)})));
}

function check(document, files) {
    const cells = cellsOf(document);
    const meanings = new Map(tableOf(document, 'mark').slice(1));
    const tests = new Set(files.flatMap((file) =>
        [...fs.readFileSync(file, 'utf8').matchAll(/^@test "(.*)" \{$/gm)].map((one) => one[1])));
    const isTest = (mark) => meanings.get(mark)?.startsWith('test: ');
    const found = [];
    for (const name of PAGES.map((page) => page.name)) {
        if (!cells.some(({page}) => page === name))
            found.push(`the page ${name} has no row`);
    }
    for (const state of STATES.filter((one) => !cells.some((cell) => cell.state === one)))
        found.push(`the state ${state} has no column`);
    for (const {page, state, marks} of cells) {
        if (!marks.length)
            found.push(`${page}, ${state}: empty`);
        for (const mark of marks.filter((one) => !meanings.has(one)))
            found.push(`${page}, ${state}: ${mark} is not explained`);
    }
    for (const [mark, meaning] of meanings) {
        if (!cells.some(({marks}) => marks.includes(mark)))
            found.push(`${mark} is in no cell`);
        if (isTest(mark) && !tests.has(meaning.slice('test: '.length)))
            found.push(`${mark}: there is no test "${meaning.slice('test: '.length)}"`);
    }
    const tested = cells.filter(({marks}) => marks.some(isTest)).length;
    return {found, text: `${cells.length} cells: ${tested} tested, ` +
        `${cells.length - tested} with a reason`};
}

if (require.main === module) {
    const [document, ...files] = process.argv.slice(2);
    const {found, text} = check(document, files);
    process.stdout.write([...found, text, ''].join('\n'));
    process.exitCode = found.length ? 1 : 0;
}

module.exports = {cellsOf};
