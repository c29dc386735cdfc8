// What a message has apart from its text, above the field: the quote, and the files.
import {el} from '../dom.js';
import {bytes, t} from '../i18n.js';
import {icon} from '../icons.js';
import {button} from '../ui.js';
import {kindOfFile, urlOf} from './files.js';

const ICONS = {image: 'image', sticker: 'image', video: 'video', audio: 'audio', document: 'file'};

// A part that can be removed: removable(sign, what, label, remove).
export function removable(sign, what, label, remove) {
    return el('div', {class: 'removable'}, sign, el('span', {class: 'cut'}, what),
        button(label, remove, {kind: 'quiet', icon: 'close', isIconOnly: true}));
}

// The small picture of a file, or the icon of its kind.
export function signOf(file) {
    const kind = kindOfFile(file.file);
    return ['image', 'sticker'].includes(kind)
        ? el('img', {src: urlOf(file), alt: '', class: 'thumbnail'}) : icon(ICONS[kind]);
}

function fileRow(file, remove) {
    const {name, size} = file.file;
    const kind = kindOfFile(file.file);
    return [removable(signOf(file), [el('bdi', {}, name), ' ', el('span', {class: 'muted'},
        `${t(`inbox.kind.${kind}`)}, ${bytes(size)}`)], t('files.remove', {name}),
    () => remove(file)),
    kind === 'audio' && el('audio', {src: urlOf(file), controls: true, class: 'media-audio',
        'aria-label': name})];
}

// The chosen files in the order in which they are sent, each a message of its own.
export function tray(files, remove) {
    return files.length > 0 && el('ul', {class: 'tray', 'aria-label': t('files.chosen')},
        files.map((file) => el('li', {}, fileRow(file, remove))));
}
