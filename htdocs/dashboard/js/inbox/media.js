// Files of messages: loaded as blobs on a click, or by setting when a picture comes into view, and
// shown only if their type is harmless. Boxes are found by the media id: a box may be drawn anew.
import {send} from '../api.js';
import {el, fill} from '../dom.js';
import {bytes, t} from '../i18n.js';
import {icon} from '../icons.js';
import {onChoice, setting} from '../settings.js';
import {lookup, textOf} from '../shape.js';
import {button, dialog} from '../ui.js';

// Types that are shown in the page. All others are saved as files: a page of a stranger must not
// open in ours.
const SHOWN = lookup({
    'image/jpeg': 'img', 'image/png': 'img', 'image/webp': 'img',
    'video/mp4': 'video', 'audio/mpeg': 'audio', 'audio/ogg': 'audio', 'audio/aac': 'audio',
    'audio/mp4': 'audio',
});

const MOST_BYTES = 64e6; // of the files that the page holds
const SMALL = 2e6; // bytes of a picture that is loaded without a click
const PICTURES = ['image', 'sticker'];

const infos = new Map(); // media id -> what media() was given about it
const loaded = new Map(); // media id -> {url, type, isShown, size}, as they were seen
const loads = new Map(); // media id -> promise of its file, while it is being loaded
const unfit = new Set(); // ids of pictures that are not loaded without a click: large, or gone

export function forgetMedia() {
    for (const {url} of loaded.values())
        URL.revokeObjectURL(url);
    for (const all of [infos, loaded, loads, unfit])
        all.clear();
}

// Ends the files that were not seen for the longest time.
function makeRoom() {
    let size = [...loaded.values()].reduce((sum, file) => sum + file.size, 0);
    for (const [id, file] of [...loaded].slice(0, -1)) {
        if (size <= MOST_BYTES)
            return;
        size -= file.size;
        URL.revokeObjectURL(file.url);
        loaded.delete(id);
        redraw(id);
    }
}

async function read(id, {phoneNumberId, messageId}, longest) {
    const controller = new AbortController();
    const response = await send('GET', `/v2/media/${encodeURIComponent(id)}/download`, {
        query: {phoneNumberId, messageId, disposition: 'attachment'}, signal: controller.signal});
    if (Number(response.headers.get('Content-Length')) > longest) {
        controller.abort();
        return null;
    }
    const type = (response.headers.get('Content-Type') ?? '').split(';')[0].trim().toLowerCase();
    const isShown = type in SHOWN;
    const blob = new Blob([await response.arrayBuffer()],
        {type: isShown ? type : 'application/octet-stream'});
    if (blob.size > longest || !infos.has(id))
        return null; // too large, or the inbox was closed meanwhile
    const file = {url: URL.createObjectURL(blob), type, isShown, size: blob.size};
    loaded.set(id, file);
    makeRoom();
    return file;
}

// Loads a file once; one with more than `longest` bytes is null.
async function load(id, info, longest = Infinity) {
    if (!loaded.has(id) && !loads.has(id))
        loads.set(id, read(id, info, longest).finally(() => loads.delete(id)));
    const file = loaded.get(id) ?? await loads.get(id);
    return file ?? (longest === Infinity && infos.has(id) ? read(id, info, longest) : null);
}

// --- Pictures that come into view ----------------------------------------------------------------

async function showPicture(id) {
    const info = infos.get(id);
    if (loaded.has(id)) {
        const file = loaded.get(id);
        loaded.delete(id);
        loaded.set(id, file);
    } else if (info && setting('pictures') && PICTURES.includes(info.type) && !unfit.has(id)) {
        const file = await load(id, info, SMALL).catch(() => null); // a click says why
        if (!file)
            unfit.add(id);
        redraw(id);
    }
}

const views = new IntersectionObserver((entries) => {
    for (const {target} of entries.filter(({isIntersecting}) => isIntersecting))
        showPicture(target.dataset.media);
});

// An observation that begins anew reports what is in view.
onChoice(() => {
    for (const box of document.querySelectorAll('.media[data-media]')) {
        views.unobserve(box);
        views.observe(box);
    }
});

// --- Their boxes ---------------------------------------------------------------------------------

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

function enlarge(file, {label, name}) {
    return dialog(label, () => [
        el('img', {src: file.url, alt: label, class: 'media-large'}),
        el('div', {class: 'form-actions'}, button(t('inbox.saveFile'), () => save(file, name),
            {icon: 'download'})),
    ], {kind: 'picture'});
}

function player(file, info) {
    const tag = SHOWN[file.type];
    if (tag !== 'img')
        return el(tag, {src: file.url, controls: true, 'aria-label': info.label,
            class: `media-${tag}`});
    const picture = el('img', {src: file.url, alt: info.label, class: 'media-image'});
    return info.type === 'sticker' ? picture : el('button', {
        type: 'button', class: 'media-picture', on: {click: () => enlarge(file, info)},
        'aria-label': t('inbox.enlarge', {label: info.label}),
    }, picture);
}

const ICONS = lookup({
    image: 'image', video: 'video', audio: 'audio', document: 'file', sticker: 'image',
});

function isPlayed(file, {type}) {
    return file.isShown && type !== 'document';
}

function loadedContent(file, info) {
    const saveButton = button(t('inbox.saveFile'), () => save(file, info.name),
        {kind: 'quiet', icon: 'download', isIconOnly: true});
    return isPlayed(file, info)
        ? [player(file, info), info.type === 'sticker' ? null : saveButton]
        : [el('span', {class: 'media-name foreign-line'}, info.name, ' ',
            el('span', {class: 'muted small'}, bytes(file.size))), saveButton];
}

// Loads the file after a click: a sound and a video are played, what is not shown is saved.
async function open(id, info, event) {
    const box = event.currentTarget.closest('.media');
    const file = await load(id, info);
    if (!file)
        return;
    redraw(id);
    if (!isPlayed(file, info)) {
        save(file, info.name);
        return;
    }
    box.querySelector('audio, video, button')?.focus();
    box.querySelector('audio, video')?.play().catch(() => {}); // the user can press its button
}

function contentOf(id, info) {
    const {type, kind, name} = info;
    return loaded.has(id) ? loadedContent(loaded.get(id), info)
        : button(type === 'document' ? name : t(`inbox.open.${kind}`),
            (event) => open(id, info, event), {
                kind: 'media-open', icon: ICONS[type] ?? 'file',
                'aria-label': type === 'document' ? t('inbox.saveNamed', {name}) : null});
}

function redraw(id) {
    for (const box of document.querySelectorAll('.media[data-media]'))
        if (box.dataset.media === id)
            fill(box, contentOf(id, infos.get(id)));
}

// The box of a message's file: media(part, {type, kind (voice, or type), label,
// phoneNumberId, messageId}).
export function media(part, {type, kind, label, phoneNumberId, messageId}) {
    const id = textOf(part.id);
    if (!id)
        return placeholder(part, type, label);
    const info = {type, kind, label, phoneNumberId, messageId, name: safeName(part.filename, type)};
    infos.set(id, info);
    const box = el('div', {class: `media ${type}`, data: {media: id}}, contentOf(id, info));
    views.observe(box);
    return box;
}

// A file that was sent by its URL, or one that the platform did not name.
function placeholder(part, type, label) {
    return el('div', {class: `media ${type}`}, icon(ICONS[type] ?? 'file'),
        el('span', {class: 'foreign'}, textOf(part.link) || label));
}
