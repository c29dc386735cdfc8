// The table of the recipients of a campaign: a file that a spreadsheet has saved, read here and
// sent in the form that the API takes.
import {call} from '../api.js';
import {el} from '../dom.js';
import {number, t} from '../i18n.js';
import {recipientFrom} from '../recipient.js';
import {listOf} from '../shape.js';
import {field, notice} from '../ui.js';

const LARGEST = 100e6; // bytes, of the API
const SEPARATORS = [',', ';', '\t'];

// Spreadsheets save UTF-8, or on old machines Windows-1252.
async function textOfFile(file) {
    const bytes = await file.arrayBuffer().catch(() => {
        throw new Error(t('campaigns.unreadable')); // moved, changed or deleted since
    });
    try {
        return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
    } catch {
        return new TextDecoder('windows-1252').decode(bytes);
    }
}

// The one that the first line has most of.
function separatorOf(text) {
    const [first] = text.split(/[\r\n]/, 1);
    const count = (one) => first.split(one).length;
    return SEPARATORS.reduce((best, one) => count(one) > count(best) ? one : best);
}

// The lines of RFC 4180, as lists of cells; a quotation mark that is not closed is a character.
// Empty lines stay, so that the API's numbers of lines are those of the file.
export function parse(text) {
    const separator = separatorOf(text);
    const cell = new RegExp(
        `(?:"((?:[^"]|"")*)"|([^${separator}\\r\\n]*))(${separator}|\\r\\n|\\r|\\n|$)`, 'y');
    const rows = [];
    let row = [];
    while (cell.lastIndex < text.length) {
        const found = cell.exec(text);
        row.push(found[1]?.replaceAll('""', '"') ?? found[2]);
        if (found[3] !== separator || cell.lastIndex === text.length) {
            rows.push(row);
            row = [];
        }
    }
    return rows;
}

// Names of columns that can stand in {{}} within the texts of a message, each once.
function namesOf(row) {
    const names = [];
    for (const cell of row) {
        const name = cell.replace(/[{}"\\\p{Cc}]/gu, '_').trim() || '_';
        names.push(names.includes(name) ? `${name}_${names.length + 1}` : name);
    }
    return names;
}

function write(rows) {
    const quoted = (cell) => /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
    return rows.map((row) => row.map(quoted).join(',')).join('\n');
}

// Reads a file: {names, rows (without the first), body}.
async function readTable(file) {
    if (file.size > LARGEST)
        throw new Error(t('campaigns.tooLarge'));
    const [head, ...rows] = parse(await textOfFile(file));
    const filled = rows.filter((row) => row.some((one) => one.trim()));
    if (!filled.length)
        throw new Error(t('campaigns.emptyTable'));
    const names = namesOf(head);
    return {names, rows: filled, body: new Blob([write([names, ...rows])], {type: 'text/csv'})};
}

// The field of such a file. table() is what it holds, or null with the reason at the field;
// onRead(table) is called for each file that is chosen.
export function tableField(hint, onRead) {
    const one = field({label: t('campaigns.table'), name: 'table', type: 'file', required: true,
        accept: '.csv,text/csv', hint});
    let reading = null; // the promise of the last file

    async function table() {
        const mine = reading;
        try {
            return await mine;
        } catch (error) {
            if (mine === reading) // no other one was chosen since
                one.setError(error.message);
            return null;
        }
    }

    one.input.addEventListener('change', async () => {
        const [chosen] = one.input.files;
        const mine = chosen ? readTable(chosen) : null;
        reading = mine;
        one.setError(null);
        const read = await table();
        if (mine === reading)
            onRead(read);
    });
    return Object.assign(one, {table});
}

// Whether the first cells of a column are phone numbers or ids of the platform.
export function isOfRecipients({names, rows}, name) {
    const at = names.indexOf(name);
    return rows.slice(0, 100).some((row) => recipientFrom(row[at] ?? ''));
}

// The column that a name means, or ''.
export function columnFor(names, wanted) {
    return names.find((one) => wanted.includes(one.toLowerCase())) ?? '';
}

// --- What the API said ---------------------------------------------------------------------------

const results = new Map(); // campaign -> {to, answer}, of this page

export async function upload(id, {body}, to) {
    // the chosen column alone has recipients, whatever the others are named
    const answer = await call('PUT', `/v2/campaigns/${id}/recipients`,
        {query: {to, recipient: to}, body});
    results.set(id, {to, answer});
}

function problem({line, column, message}, to) {
    const key = message.includes('UTF-8') ? 'badText' : column !== to ? 'emptyCell'
        : message === 'is empty' ? 'noNumber' : 'badNumber';
    return t(`campaigns.${key}`, {line: number(line), column});
}

// What became of the last table, line by line; null if there was none.
export function resultBox(id) {
    if (!results.has(id))
        return null;
    const {to, answer} = results.get(id);
    const errors = listOf(answer.errors);
    return notice(answer.invalid ? 'warn' : 'ok',
        t('campaigns.added', {count: answer.accepted}),
        answer.duplicates > 0 && el('p', {}, t('campaigns.twice', {count: answer.duplicates})),
        answer.invalid > 0 && el('p', {}, t('campaigns.leftOut', {count: answer.invalid})),
        errors.length > 0 && el('ul', {class: 'foreign'},
            errors.map((one) => el('li', {}, problem(one, to)))));
}
