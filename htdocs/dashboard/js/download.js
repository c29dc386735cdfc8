// Files of the API that the browser saves.
import {pathOf, send} from './api.js';
import {el} from './dom.js';
import {t} from './i18n.js';

function save(file, name) {
    const url = URL.createObjectURL(file);
    const anchor = el('a', {href: url, download: name});
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// Saves the CSV of a list as a file of this name. The browser cannot follow a link to it: the
// session needs our header.
export async function saveCsv(path, query, name) {
    const response = await send('GET', pathOf(path, {...query, format: 'csv'}));
    const file = await response.blob();
    if (/^#ERROR/m.test(await file.slice(-4096).text()))
        throw new Error(t('ui.incomplete'));
    save(file, name);
}

const BEGIN = '{"success":true,"data":', END = '"isComplete":true}}';

// Saves the answer of an export without its envelope. It is not parsed, because it may be large.
async function saveExport(path, name, options) {
    const response = await send('POST', path, options);
    const file = await response.blob();
    if (await file.slice(-END.length).text() !== END)
        throw new Error(t('ui.incomplete'));
    save(file.slice(BEGIN.length, -1, 'application/json'), name);
}

// Saves all that is held of a person.
export function savePerson(id) {
    return saveExport(`/v2/contacts/${id}/export`, `${id}.json`);
}

// Saves all that is held for the workspace: `name` without its end.
export function saveWorkspace(name) {
    return saveExport('/v2/export', `${name}.json`, {body: {}});
}
