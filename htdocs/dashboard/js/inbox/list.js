// The list of threads: newest first, those to answer longest first; with search and filters.
import {call, serverTime} from '../api.js';
import {el, fill, update} from '../dom.js';
import {clock, date, number, relative, span, t} from '../i18n.js';
import {icon} from '../icons.js';
import {address, go} from '../router.js';
import {isSelf} from '../team.js';
import {button, empty, errorBox, loading} from '../ui.js';
import {iconOf, identityOf, initials, nameOf, summary} from './describe.js';
import {ticks} from './bubble.js';
import {foundMessages} from './found.js';

const PAGE = 40;

function day(value) {
    return new Date(value).toDateString();
}

// The time of today, the date before.
function when(iso) {
    return day(iso) === day(Date.now()) ? clock(iso)
        : date(iso, {day: 'numeric', month: 'short'});
}

// The round picture of a contact, in one of six colours.
export function avatar(contact) {
    const sum = [...contact.id].reduce((total, letter) => total + letter.codePointAt(0), 0);
    return el('span', {class: `avatar tone-${sum % 6}`, 'aria-hidden': 'true'}, initials(contact));
}

const SOON = 4 * 3600000; // a window that ends within this time is mentioned

// How long other messages than templates are accepted, where that ends soon or has ended.
function windowMark({windowEndsAt}) {
    const left = windowEndsAt ? new Date(windowEndsAt) - serverTime() : 0;
    return left < SOON && el('span', {class: `badge ${left > 0 ? 'warn' : 'plain'}`,
        title: t('inbox.windowText')}, left > 0
        ? t('inbox.windowSoon', {time: relative(windowEndsAt, 'narrow', serverTime())})
        : t('inbox.windowOver'));
}

// What there is to do: how long the contact has waited, and that a message failed.
function marks(thread) {
    const {waitingSince, failedAt} = thread;
    return [
        failedAt && el('span', {class: 'failed-mark', title: t('inbox.failedMark')},
            icon('alert'), el('span', {class: 'off-screen'}, t('inbox.failedMark'))),
        waitingSince && windowMark(thread),
        waitingSince && el('span', {class: 'small muted nowrap'},
            t('inbox.waits', {time: span(serverTime() - new Date(waitingSince))})),
    ];
}

function preview(message) {
    if (!message)
        return el('span', {class: 'cut'});
    const name = iconOf(message);
    return el('span', {class: 'preview cut'},
        message.direction === 'out' && ticks(message.status),
        name && icon(name), el('bdi', {}, summary(message)));
}

function item(thread, {filters, selected, hasManyLines}) {
    const {contact} = thread;
    return el('li', {data: {thread: thread.id}}, el('a', {
        href: address(`/inbox/${thread.id}`, filters),
        class: thread.unread ? 'thread unread' : 'thread',
        'aria-current': thread.id === selected ? 'true' : null,
    }, avatar(contact), el('span', {class: 'thread-text'},
        el('span', {class: 'thread-top'},
            el('span', {class: 'cut', title: identityOf(contact)},
                el('bdi', {class: 'thread-name'}, nameOf(contact)),
                hasManyLines && el('span', {class: 'small muted'}, ' · ',
                    thread.line.name ?? thread.line.phoneNumber)),
            thread.lastMessageAt && el('time', {class: 'small muted',
                datetime: thread.lastMessageAt}, when(thread.lastMessageAt))),
        el('span', {class: 'thread-bottom'}, preview(thread.lastMessage), marks(thread),
            thread.assignee && el('span', {class: 'badge plain assignee-mark cut',
                title: t('inbox.assign.present', {name: thread.assignee.name})},
            isSelf(thread.assignee) ? t('inbox.you') : thread.assignee.name),
            thread.isBlocked && el('span', {class: 'blocked-mark', title: t('inbox.blocked')},
                icon('block'), el('span', {class: 'off-screen'}, t('inbox.blocked'))),
            thread.unread > 0 && el('span', {class: 'badge count'},
                el('span', {'aria-hidden': 'true'}, number(thread.unread)),
                el('span', {class: 'off-screen'},
                    t('inbox.unreadCount', {count: thread.unread})))))));
}

// Those that wait, the longest first.
function waitsLonger(a, b) {
    return a.waitingSince === b.waitingSince ? a.id < b.id : a.waitingSince < b.waitingSince;
}

// Those that only campaigns have written to come last.
function isNewer(a, b) {
    const [first, second] = [a.lastMessageAt ?? '', b.lastMessageAt ?? ''];
    return first === second ? a.id > b.id : first > second;
}

// threadList({filters, lines}) returns {root, change(threads), select(id), reload(), draw(),
// drop(id), loaded}; `loaded` is a promise of its first answer or failure.
// filters: {line, q, unread, waiting, failed, assignee} of the address; `lines`: a promise of the
// lines. A thread names its line where there are several.
export function threadList({filters, lines}) {
    const list = el('ul', {class: 'threads'});
    const foot = el('div', {class: 'more'});
    const root = el('div', {class: 'thread-scroll'}, list, foot, filters.q && messageSearch());
    const threads = new Map();
    let selected = null;
    let cursor = null;
    let turn = 0;
    let hasManyLines = false;
    let state = 'loading'; // or loaded, failed
    let failure = null;
    let tellLoaded;
    const loaded = new Promise((resolve) => { tellLoaded = resolve; });

    // The messages are searched when the user asks for it: that takes longer than the names.
    function messageSearch() {
        const start = button(t('inbox.findMessages', {words: filters.q}), () =>
            start.replaceWith(foundMessages({q: filters.q, thread: null, open: (message) =>
                go(`/inbox/${message.threadId}`, {...filters, at: message.id})})),
        {icon: 'search', class: 'button find-messages'});
        return start;
    }

    function draw() {
        const isBefore = filters.waiting && !filters.q ? waitsLonger : isNewer;
        const items = [...threads.values()].sort((a, b) => isBefore(a, b) ? -1 : 1);
        update(list, items.map((thread) => ({thread, isSelected: thread.id === selected,
            today: day(Date.now()),
            minute: thread.waitingSince && Math.floor(Date.now() / 60000)})),
            ({thread}) => thread.id,
            ({thread}) => item(thread, {filters, selected, hasManyLines}));
        drawFoot(items.length);
    }

    function nothing() {
        const {q, waiting, unread, failed, assignee} = filters;
        if (waiting && !q && !assignee)
            return empty(t('inbox.noneWaiting'));
        return q || waiting || unread || failed || assignee ? empty(t('inbox.noneFound'))
            : empty(t('inbox.none'), t('inbox.noneText'));
    }

    // The list says that it is empty only when it was read.
    function drawFoot(count) {
        if (state === 'loading')
            fill(foot, loading());
        else if (state === 'failed')
            fill(foot, errorBox(failure), button(t('ui.retry'), reload));
        else if (cursor)
            fill(foot, button(t('ui.more'), () => read(cursor), {kind: 'quiet'}));
        else if (!count)
            fill(foot, nothing());
        else
            fill(foot);
    }

    async function read(after) {
        const mine = ++turn;
        const [answer, known] = await Promise.all([call('GET', '/v2/threads', {query: {
            lineId: filters.line, q: filters.q, unread: filters.unread, waiting: filters.waiting,
            failed: filters.failed, assignee: filters.assignee, limit: PAGE, after}}),
        lines]);
        if (mine !== turn)
            return;
        hasManyLines = known.length > 1 && !filters.line;
        if (!after)
            threads.clear();
        for (const thread of answer.items)
            threads.set(thread.id, thread);
        cursor = answer.paging.cursors.after;
        state = 'loaded';
        draw();
    }

    async function reload() {
        state = 'loading';
        draw();
        try {
            await read();
        } catch (error) {
            state = 'failed';
            failure = error;
            draw();
        }
        tellLoaded();
    }

    function isOfAssignee({assignee}) {
        return !filters.assignee || (filters.assignee === 'none' ? !assignee
            : filters.assignee === 'me' ? isSelf(assignee) : assignee?.id === filters.assignee);
    }

    // Whether a thread belongs to the list. A search is answered by the API only.
    function fits(thread) {
        return (!filters.line || thread.line.id === filters.line) &&
            ((!filters.unread || thread.unread > 0) &&
                (!filters.waiting || thread.waitingSince) &&
                (!filters.failed || thread.failedAt) && isOfAssignee(thread) ||
                thread.id === selected) &&
            (!filters.q || threads.has(thread.id));
    }

    function change(changed) {
        for (const thread of changed) {
            const since = threads.get(thread.id)?.waitingSince; // the open one keeps its place
            thread.formerIds.forEach((id) => threads.delete(id));
            if (fits(thread))
                threads.set(thread.id, filters.waiting && !thread.waitingSince
                    ? {...thread, waitingSince: since} : thread);
            else
                threads.delete(thread.id);
        }
        draw();
    }

    reload();
    return {
        root, change, reload, draw, loaded,
        select(id) {
            selected = id;
            draw();
        },
        drop(id) {
            if (threads.delete(id))
                draw();
        },
    };
}
