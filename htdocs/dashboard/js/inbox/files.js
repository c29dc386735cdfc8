// The files that a message may have: what the platform takes, and how the page shows them.
import {dropFile} from '../kept.js';
import {bytes, t} from '../i18n.js';

const KB = 1024;
const MB = 1024 * KB;
const OFFICE = 'application/vnd.openxmlformats-officedocument.';

// The platform's kinds of files: their types, and how many bytes they may have. The gateway finds
// the type of a file that has none.
const KINDS = [
    {kind: 'image', longest: 5 * MB, types: ['image/jpeg', 'image/png']},
    {kind: 'sticker', longest: 500 * KB, types: ['image/webp']},
    {kind: 'video', longest: 16 * MB, types: ['video/mp4', 'video/3gpp']},
    {kind: 'audio', longest: 16 * MB, types: ['audio/aac', 'audio/mp4', 'audio/mpeg', 'audio/amr',
        'audio/ogg', 'audio/opus']},
    {kind: 'document', longest: 100 * MB, types: ['application/pdf', 'text/plain',
        'application/msword', 'application/vnd.ms-excel', 'application/vnd.ms-powerpoint',
        `${OFFICE}wordprocessingml.document`, `${OFFICE}spreadsheetml.sheet`,
        `${OFFICE}presentationml.presentation`, '']},
];
const WITH_CAPTION = ['image', 'video', 'document'];

// Names that browsers have for types of the table.
const OTHER_NAMES = {'audio/x-m4a': 'audio/mp4', 'audio/mp3': 'audio/mpeg'};

function rowOf(file) {
    const type = file.type.split(';')[0];
    return KINDS.find(({types}) => types.includes(OTHER_NAMES[type] ?? type));
}

export function kindOfFile(file) {
    return rowOf(file).kind;
}

export function longestOf(kind) {
    return KINDS.find((row) => row.kind === kind).longest;
}

export function takesCaption(file) {
    return WITH_CAPTION.includes(kindOfFile(file));
}

// Why the platform does not take a file, in words; null if it does.
export function refusalOf(file) {
    const row = rowOf(file);
    if (!row)
        return t('files.badType', {name: file.name});
    if (file.size === 0)
        return t('files.empty', {name: file.name});
    return file.size <= row.longest ? null : t('files.tooLarge', {
        name: file.name, kind: t(`inbox.kind.${row.kind}`), longest: bytes(row.longest)});
}

// The file with the platform's name of its type.
export function withKnownType(file) {
    const type = OTHER_NAMES[file.type];
    return type ? new File([file], file.name, {type}) : file;
}

// --- Their content in the page -------------------------------------------------------------------

const urls = new Map(); // id -> URL of a blob

// The URL with which the page shows or plays a file: urlOf({id, file}).
export function urlOf({id, file}) {
    if (!urls.has(id))
        urls.set(id, URL.createObjectURL(file));
    return urls.get(id);
}

// Ends what the page and the browser's database hold of a file; null: nothing.
export function forgetFile(file) {
    if (!file)
        return;
    URL.revokeObjectURL(urls.get(file.id));
    urls.delete(file.id);
    dropFile(file);
}
