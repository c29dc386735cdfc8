// The notes of a thread: what members write about it for each other. They are never sent.
import {call} from '../api.js';
import {el} from '../dom.js';
import {clock, dateTime, t} from '../i18n.js';
import {icon} from '../icons.js';
import {isSelf, mayManage} from '../team.js';
import {button, confirm, dialog, field, form} from '../ui.js';
import {newKey} from './outbox.js';

const PAGE = 100;
const MOST_PAGES = 10;

// All notes of a thread, newest first.
export async function readNotes(threadId) {
    const notes = [];
    for (let i = 0, after; i < MOST_PAGES && (i === 0 || after); i++) {
        const {items, paging} = await call('GET', `/v2/threads/${threadId}/notes`,
            {query: {limit: PAGE, after}});
        notes.push(...items);
        after = paging.cursors.after;
    }
    return notes;
}

// What changes when a note was added or deleted, or the thread was merged with another one.
export function notesState({notesChange, formerIds}) {
    return `${notesChange ?? ''} ${formerIds.length}`;
}

// Asks for the text of a note, and adds it. Resolves to the note, or undefined.
export function writeNote(threadId) {
    return dialog(t('inbox.notes.add'), (close) => {
        let written = null; // what was sent last, with its key
        const text = field({label: t('inbox.notes.text'), name: 'text', type: 'textarea', rows: 4,
            required: true, hint: t('inbox.notes.hint')});
        return form({fields: [text], submit: t('inbox.notes.save'), async onSubmit() {
            const body = {text: text.value.trim()};
            if (body.text !== written?.text) // a repetition adds no second note
                written = {...body, key: newKey()};
            close(await call('POST', `/v2/threads/${threadId}/notes`, {body, key: written.key}));
        }});
    });
}

// Deletes a note after a question. Returns whether it is gone.
export async function deleteNote(note) {
    if (!await confirm(t('inbox.notes.delete'), t('inbox.notes.deleteAsk'),
        t('inbox.notes.delete')))
        return false;
    await call('DELETE', `/v2/notes/${note.id}`);
    return true;
}

function mayDelete(note) {
    return isSelf(note.by) || mayManage();
}

// The row of a note between the messages. remove(note) is called when its button is pressed.
export function noteRow(note, remove) {
    const who = note.by ? isSelf(note.by) ? t('inbox.you') : note.by.name : t('inbox.from.api');
    return el('li', {class: 'note-row', id: note.id},
        el('div', {class: 'bubble'},
            el('p', {class: 'small note-head'}, icon('log'), t('inbox.notes.of', {name: who})),
            el('p', {class: 'foreign'}, note.text),
            el('p', {class: 'meta'}, el('time', {datetime: note.createdAt,
                title: dateTime(note.createdAt)}, clock(note.createdAt)))),
        mayDelete(note) && el('div', {class: 'tools'}, button(t('inbox.notes.delete'),
            () => remove(note), {kind: 'quiet', icon: 'close', isIconOnly: true})));
}
