// Files of messages: loaded on a click, as blobs, and shown only if their type is harmless.
import {send} from '../api.js';
import {el, fill} from '../dom.js';
import {bytes, t} from '../i18n.js';
import {icon} from '../icons.js';
import {lookup, textOf} from '../shape.js';
import {button} from '../ui.js';

// Types that are shown in the page. All others are saved as files: a page of a stranger must not
// open in ours.
const SHOWN = lookup({
    'image/jpeg': 'img', 'image/png': 'img', 'image/webp': 'img',
    'video/mp4': 'video', 'audio/mpeg': 'audio', 'audio/ogg': 'audio', 'audio/aac': 'audio',
    'audio/mp4': 'audio',
});

// The URLs of the loaded files: media id -> {url, type, size}. They last until the inbox closes.
const loaded = new Map();

export function forgetMedia() {
    for (const {url} of loaded.values())
        URL.revokeObjectURL(url);
    loaded.clear();
}

async function load(id, phoneNumberId) {
    const known = loaded.get(id);
    if (known)
        return known;
    const response = await send('GET', `/v2/media/${encodeURIComponent(id)}/download`,
        {query: {phoneNumberId, disposition: 'attachment'}});
    const type = (response.headers.get('Content-Type') ?? '').split(';')[0].trim().toLowerCase();
    const isShown = type in SHOWN;
    const blob = new Blob([await response.arrayBuffer()],
        {type: isShown ? type : 'application/octet-stream'});
    const file = {url: URL.createObjectURL(blob), type, isShown, size: blob.size};
    loaded.set(id, file);
    return file;
}

function save(file, name) {
    const anchor = el('a', {href: file.url, download: name});
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
}

// The file's name without characters that a file system or a reader could misread.
function safeName(name, kind) {
    const plain = textOf(name)
        .replace(/[\u0000-\u001f\u007f/\\\u202a-\u202e\u2066-\u2069]/g, '_');
    return plain.trim() || kind;
}

function player(file, label) {
    const tag = SHOWN[file.type];
    return tag === 'img'
        ? el('img', {src: file.url, alt: label, class: 'media-image'})
        : el(tag, {src: file.url, controls: true, 'aria-label': label, class: `media-${tag}`});
}

const ICONS = lookup({
    image: 'image', video: 'video', audio: 'audio', document: 'file', sticker: 'image',
});

// The box of a message's file: media(part, {type, kind (voice, or type), label,
// phoneNumberId}).
export function media(part, {type, kind, label, phoneNumberId}) {
    const id = textOf(part.id);
    if (!id)
        return placeholder(part, type, label);
    const box = el('div', {class: `media ${type}`});
    const name = safeName(part.filename, type);
    const show = (file) => {
        const saveButton = button(t('inbox.saveFile'), () => save(file, name),
            {kind: 'quiet', icon: 'download', isIconOnly: true});
        fill(box, file.isShown && type !== 'document'
            ? [player(file, label), type === 'sticker' ? null : saveButton]
            : [el('span', {class: 'media-name foreign-line'}, name, ' ',
                el('span', {class: 'muted small'}, bytes(file.size))), saveButton]);
    };
    const open = async () => {
        const file = await load(id, phoneNumberId);
        show(file);
        if (!file.isShown || type === 'document')
            save(file, name);
        else
            box.querySelector('audio, video, button')?.focus();
    };
    if (loaded.has(id)) {
        show(loaded.get(id));
        return box;
    }
    return fill(box, button(type === 'document' ? name : t(`inbox.open.${kind}`), open,
        {kind: 'media-open', icon: ICONS[type] ?? 'file', 'aria-label':
            type === 'document' ? t('inbox.saveNamed', {name}) : null}));
}

// A file that was sent by its URL, or one that the platform did not name.
function placeholder(part, type, label) {
    return el('div', {class: `media ${type}`}, icon(ICONS[type] ?? 'file'),
        el('span', {class: 'foreign'}, textOf(part.link) || label));
}
