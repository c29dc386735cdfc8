// The messages that have the words of a search: of all threads, or of one.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {date, t} from '../i18n.js';
import {button, empty, errorBox, loading} from '../ui.js';
import {nameOf, summary} from './describe.js';

const BEFORE = 30; // characters of an excerpt before the word

// What the message says, from a little before the first word of the search.
function excerpt(message, q) {
    const text = summary(message);
    const word = q.replaceAll('"', ' ').trim().split(/\s+/)[0].toLowerCase();
    const at = text.toLowerCase().indexOf(word);
    return at > 2 * BEFORE ? `…${text.slice(at - BEFORE)}` : text;
}

function hit(message, thread, {q, open}) {
    const who = message.direction === 'out' ? t('inbox.foundOwn')
        : thread && nameOf(thread.contact);
    return el('li', {}, el('button', {type: 'button', class: 'found-message', data: {
        message: message.id}, on: {click: () => open(message)}},
    el('span', {class: 'thread-top'},
        el('bdi', {class: 'thread-name cut'}, who),
        el('time', {class: 'small muted', datetime: message.timestamp},
            date(message.timestamp, {day: 'numeric', month: 'short', year: 'numeric'}))),
    message.direction === 'out' && thread &&
        el('bdi', {class: 'small muted cut'}, nameOf(thread.contact)),
    el('bdi', {class: 'found-text'}, excerpt(message, q))));
}

// foundMessages({q, thread, open}) returns its element and begins to search. thread: the one to
// search in; null: all. open(message) is called with the message that was chosen.
export function foundMessages({q, thread, open}) {
    const list = el('ol', {class: 'found-list'});
    const foot = el('div', {class: 'more', role: 'status'});
    const path = thread ? `/v2/threads/${thread.id}/messages` : '/v2/messages';

    function showEnd(answer) {
        const {after} = answer.paging.cursors;
        fill(foot,
            !after && !list.childElementCount && empty(t('inbox.noMessages')),
            after && el('p', {class: 'small muted'}, t('inbox.searchedUntil',
                {date: date(answer.searchedUntil, {dateStyle: 'medium'})})),
            after && button(t('inbox.searchOn'), () => search(after), {kind: 'quiet'}));
    }

    async function search(after) {
        fill(foot, loading());
        try {
            const answer = await call('GET', path, {query: {q, after}});
            const threads = new Map((answer.threads ?? [thread]).map((one) => [one.id, one]));
            list.append(...answer.items.map((message) =>
                hit(message, threads.get(message.threadId), {q, open})));
            showEnd(answer);
        } catch (error) {
            fill(foot, errorBox(error), button(t('ui.retry'), () => search(after)));
        }
    }

    search();
    return el('section', {class: 'found', 'aria-label': t('inbox.foundMessages')}, list, foot);
}

// The search within a thread: a field and what it finds. close() is called by its button and by
// the Escape key.
export function threadSearch({thread, open, close}) {
    const results = el('div', {class: 'found-scroll'});
    const field = el('input', {type: 'search', 'aria-label': t('inbox.searchThread'),
        placeholder: t('inbox.searchThread'), autocomplete: 'off', maxlength: '200'});
    const root = el('form', {class: 'thread-search', role: 'search', on: {
        submit(event) {
            event.preventDefault();
            const q = field.value.trim();
            fill(results, q && foundMessages({q, thread, open}));
        },
        keydown: (event) => event.key === 'Escape' && close(),
    }}, el('div', {class: 'row'}, field,
        button(t('inbox.closeSearch'), close, {kind: 'quiet', icon: 'close', isIconOnly: true})),
    results);
    return {root, focus: () => field.focus()};
}
