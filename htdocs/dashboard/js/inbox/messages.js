// The messages of a thread: loaded backwards from the newest, kept up to date by change numbers.
import {call} from '../api.js';
import {el, fill, morph} from '../dom.js';
import {date, t} from '../i18n.js';
import {lookup, textOf} from '../shape.js';
import {errorBox, loading, button} from '../ui.js';
import {bubble} from './bubble.js';
import {content, isCall} from './describe.js';
import {noteRow} from './notes.js';

const PAGE = 50;
const NEAR = 700; // pixels from the top at which older messages are loaded
const MOST_ROWS = 300; // in the page; the other messages are known, and have no row
const SEARCHED_PAGES = 20; // for a quoted message
const FOUND_PAGES = 200; // for one that a search found

function order(message) {
    return `${message.timestamp} ${message.id}`;
}

function dayOf(message) {
    return new Date(message.timestamp).toDateString();
}

function dayLabel(iso) {
    const days = Math.round((new Date().setHours(0, 0, 0, 0) -
        new Date(iso).setHours(0, 0, 0, 0)) / 86400000);
    if (days === 0 || days === 1)
        return t(days ? 'inbox.yesterday' : 'inbox.today');
    return date(iso, {weekday: 'long', day: 'numeric', month: 'long', year: 'numeric'});
}

// The member that names the message which one of these kinds is about.
const TARGETS = lookup({
    reaction: 'message_id', edit: 'original_message_id', revoke: 'original_message_id',
});

// The wamid that a reaction, an edit or a deletion is about; null for all other messages.
function targetOf(message) {
    return textOf(content(message)[TARGETS[message.type]]) || null;
}

// The newest messages of a thread.
export function firstPage(id) {
    return call('GET', `/v2/threads/${encodeURIComponent(id)}/messages`, {query: {limit: PAGE}});
}

// messageList({thread, definitionOf, open, reply, react, again, onEnd}) returns {root, load(first),
// refresh(), redraw(), drawDays(), has(wamid), reveal(id), newest(), lastReceived(),
// ownReaction(message), seenChange(), showEnd(), isAtEnd(), countUnread(count), steady(work),
// setNotes(notes, remove), stop(), end}. reveal(id) shows a message, and returns whether it has a
// place. `first` is a promise of firstPage, or null; `end` is the element below the messages.
// refresh() returns the messages that have arrived; lastReceived() the last one that the platform
// has delivered; seenChange() the number of the last change that is shown. setNotes() shows notes
// between the messages. onEnd() is called when the user has scrolled to the newest message.
export function messageList({thread, definitionOf, open, reply, react, again, onEnd}) {
    const list = el('ol', {class: 'messages', on: {keydown: onKey, focusin: onFocus}});
    const top = el('div', {class: 'messages-top'});
    const end = el('div', {class: 'messages-end'}); // of the outbox
    const down = button(t('inbox.newest'), () => showEnd(), {icon: 'down', class: 'button to-end'});
    const scroll = el('div', {
        class: 'messages-scroll', on: {scroll: onScroll}, role: 'region',
        'aria-label': t('inbox.messages'), tabindex: '-1',
    }, top, list, end);
    const root = el('div', {class: 'messages-box'}, scroll, down);
    down.hidden = true;

    const byId = new Map(); // id -> {message, node}
    const byWamid = new Map(); // wamid -> message
    const days = new Map(); // day -> its row
    const about = new Map(); // wamid -> [reactions, edits and deletions of it]
    const noteRows = new Map(); // id of a note -> its row
    let notes = []; // newest first
    let removeNote = null;
    const ids = []; // of the messages that are shown or can be, oldest first
    let from = 0, to = 0; // ids[from] to ids[to - 1] have a row
    let cursor = null;
    let change = 0;
    let isReading = false;
    let hasFailed = false; // the last reading: the next one is the user's
    let isFollowing = true; // the newest message stays in view when the room changes

    // --- Rows ---

    // What was said later about a message: reactions, edits and its deletion, oldest first.
    function laterOf({wamid}) {
        return (about.get(wamid) ?? []).toSorted((a, b) => order(a) < order(b) ? -1 : 1);
    }

    // The last reaction of each side.
    function reactionsTo(message) {
        return new Map(laterOf(message)
            .filter(({type, status}) => type === 'reaction' && status !== 'failed')
            .map((one) => [one.direction, textOf(content(one).emoji)]));
    }

    function contextOf(message) {
        const own = laterOf(message);
        const edit = own.findLast(({type}) => type === 'edit');
        return {
            phoneNumberId: thread.line.phoneNumberId, name: thread.name, definitionOf, open, reply,
            react, again, jumpTo,
            quoted: byWamid.get(message.contextWamid),
            isDeleted: own.some(({type}) => type === 'revoke'),
            edited: edit && content(edit).message?.text?.body,
            reactions: [...reactionsTo(message)].filter(([, emoji]) => emoji)
                .map(([direction, emoji]) => ({direction, emoji})),
        };
    }

    function render(message) {
        const node = bubble(message, contextOf(message));
        node.tabIndex = -1;
        return node;
    }

    // Reactions have no row of their own; edits and deletions only while their message is not here.
    function hasRow(message) {
        const target = targetOf(message);
        return !target || (message.type !== 'reaction' && !byWamid.has(target));
    }

    function redraw(id) {
        const row = byId.get(id);
        if (row?.node)
            row.node = morph(row.node, render(row.message));
    }

    function position(message) {
        let low = 0, high = ids.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (order(byId.get(ids[middle]).message) < order(message))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    function forgetRow(id) {
        const row = byId.get(id);
        if (row.node?.contains(document.activeElement))
            scroll.focus({preventScroll: true});
        row.node?.remove();
        row.node = null;
    }

    function removeRow(id) {
        const at = ids.indexOf(id);
        if (at < 0)
            return;
        ids.splice(at, 1);
        from -= at < from ? 1 : 0;
        to -= at < to ? 1 : 0;
        byId.get(id).isListed = false;
        forgetRow(id);
    }

    function makeRow(at) {
        const row = byId.get(ids[at]);
        row.node = render(row.message);
        list.insertBefore(row.node, at + 1 < to ? byId.get(ids[at + 1]).node : null);
    }

    // A message between, or beside, those that have a row gets one; at the end only if the newest
    // one has.
    function insertRow(message) {
        const at = position(message);
        const hasNewest = to === ids.length;
        ids.splice(at, 0, message.id);
        if (at < from || (at === from && from > 0)) {
            from++;
            to++;
        } else if (at < to || (at === to && hasNewest)) {
            to++;
            makeRow(at);
        }
    }

    // Gives rows to these messages and to no others.
    function showRows(first, last) {
        for (let i = from; i < to; i++)
            if (i < first || i >= last)
                forgetRow(ids[i]);
        [from, to] = [first, last];
        for (let i = last - 1; i >= first; i--)
            if (!byId.get(ids[i]).node)
                makeRow(i);
        drawDays();
        rove();
    }

    // Shows a page more at one side, and drops what is too far away at the other one.
    function extend(isBack) {
        const first = isBack ? Math.max(0, from - PAGE) : from;
        const last = isBack ? to : Math.min(ids.length, to + PAGE);
        steady(() => showRows(isBack ? first : Math.max(first, last - MOST_ROWS),
            isBack ? Math.min(last, first + MOST_ROWS) : last));
    }

    // Keeps what is known of a message, and draws the one that it is about.
    function keep(message) {
        const old = byId.get(message.id);
        byId.set(message.id, {message, day: dayOf(message), node: old?.node ?? null,
            isListed: old?.isListed ?? false});
        byWamid.set(message.wamid, message);
        change = Math.max(change, message.change);
        const target = targetOf(message);
        if (!target)
            return;
        const others = (about.get(target) ?? []).filter(({id}) => id !== message.id);
        about.set(target, [...others, message]);
        const shown = byWamid.get(target);
        if (shown)
            redraw(shown.id);
    }

    function add(messages) {
        messages.forEach(keep);
        for (const message of messages) {
            if (!hasRow(message))
                continue;
            if (byId.get(message.id).node)
                redraw(message.id);
            else if (!byId.get(message.id).isListed)
                insertRow(message);
            byId.get(message.id).isListed = true;
            (about.get(message.wamid) ?? []).filter(({type}) => type !== 'reaction')
                .forEach(({id}) => removeRow(id));
        }
        drawDays();
        rove();
    }

    // The days are rows between the messages.
    function drawDays() {
        const firsts = new Map();
        for (const id of ids.slice(from, to)) {
            const {day, node} = byId.get(id);
            if (!firsts.has(day))
                firsts.set(day, node);
        }
        for (const [day, node] of days) {
            if (!firsts.has(day)) {
                node.remove();
                days.delete(day);
            }
        }
        for (const [day, first] of firsts) {
            const node = days.get(day) ??
                el('li', {class: 'day'}, el('span', {}, dayLabel(day)));
            days.set(day, node);
            const label = dayLabel(day);
            if (node.textContent !== label)
                node.firstChild.textContent = label;
            if (first.previousSibling !== node)
                list.insertBefore(node, first);
        }
        drawNotes();
    }

    // The row that a note stands before, null: at the end; undefined: its place is not shown.
    function placeOf({id, createdAt}) {
        const at = position({timestamp: createdAt, id});
        const isBefore = at < from || (at === from && (from > 0 || cursor));
        if (isBefore || at > to || (at === to && to < ids.length))
            return undefined;
        return at < to ? byId.get(ids[at]).node : null;
    }

    // Notes are rows between the messages, by their time.
    function drawNotes() {
        const gone = new Map(noteRows);
        for (const note of notes.toReversed()) {
            const next = placeOf(note);
            if (next === undefined)
                continue;
            const row = noteRows.get(note.id) ?? noteRow(note, (one) => removeNote(one));
            noteRows.set(note.id, row);
            gone.delete(note.id);
            list.insertBefore(row, next);
        }
        for (const [id, row] of gone) {
            row.remove();
            noteRows.delete(id);
        }
    }

    function setNotes(fresh, remove) {
        notes = fresh;
        removeNote = remove;
        steady(drawNotes);
    }

    // --- Keyboard: the messages are one stop of the Tab key, arrows lead through them ---

    function rove(node = list.querySelector('li[tabindex="0"]') ?? lastRow()) {
        list.querySelector('li[tabindex="0"]')?.setAttribute('tabindex', '-1');
        node?.setAttribute('tabindex', '0');
    }

    function lastRow() {
        return to > from ? byId.get(ids[to - 1]).node : null;
    }

    function onFocus(event) {
        const row = event.target.closest('li.message');
        if (row && row.tabIndex !== 0)
            rove(row);
    }

    function onKey(event) {
        if (!event.target.matches('li.message'))
            return;
        const at = ids.indexOf(event.target.id);
        const step = {ArrowUp: -1, ArrowDown: 1}[event.key];
        const {message} = byId.get(event.target.id);
        if (step) {
            if (at + step < from || at + step >= to)
                extend(step < 0);
            byId.get(ids[at + step])?.node?.focus();
        } else if (event.key === 'Enter')
            open(message);
        else if (event.key === 'r' && !event.ctrlKey && !event.metaKey && !isCall(message))
            reply(message);
        else
            return;
        event.preventDefault();
    }

    // --- Scrolling ---

    function isAtEnd() {
        return to === ids.length &&
            scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 40;
    }

    function showEnd() {
        if (to < ids.length)
            showRows(Math.max(0, ids.length - 2 * PAGE), ids.length);
        scroll.scrollTop = scroll.scrollHeight;
        isFollowing = true;
        down.hidden = true;
    }

    function onScroll() {
        isFollowing = isAtEnd();
        down.hidden = isFollowing;
        if (isFollowing)
            onEnd();
        const below = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight;
        if (scroll.scrollTop < NEAR && from > 0)
            extend(true);
        else if (scroll.scrollTop < NEAR && cursor && !isReading && !hasFailed)
            readOlder();
        else if (below < NEAR && to < ids.length)
            extend(false);
    }

    function firstInView() {
        let low = from, high = to;
        while (low < high) {
            const middle = (low + high) >> 1;
            const {node} = byId.get(ids[middle]);
            if (node.offsetTop + node.offsetHeight > scroll.scrollTop)
                high = middle;
            else
                low = middle + 1;
        }
        return low < to ? byId.get(ids[low]).node : null;
    }

    // Runs a change of the rows and keeps what is in view at its place: the newest message at the
    // end, else the first message that is visible: the row of a day moves to an older message.
    function steady(work) {
        const wasAtEnd = isAtEnd();
        const fixed = wasAtEnd ? null : firstInView();
        const before = fixed?.offsetTop;
        work();
        if (wasAtEnd)
            showEnd();
        else if (fixed?.isConnected)
            scroll.scrollTop += fixed.offsetTop - before;
        down.hidden = isAtEnd();
    }

    const jumpTo = (wamid) => showRow(() => byWamid.get(wamid)?.id, SEARCHED_PAGES);

    // Shows the row of the message whose id `find` returns, and reads older pages until there is
    // one. Returns whether the message has a row.
    async function showRow(find, pages) {
        for (let i = 0, last; i < pages && !find() && cursor && cursor !== last; i++) {
            last = cursor;
            await readOlder();
        }
        const row = byId.get(find());
        if (!row?.isListed)
            return false;
        isFollowing = false;
        if (!row.node) {
            const first = Math.max(0, ids.indexOf(row.message.id) - PAGE);
            showRows(first, Math.min(ids.length, first + 2 * PAGE));
        }
        const {node} = row;
        node.scrollIntoView({block: 'center'});
        node.focus({preventScroll: true});
        return true;
    }

    // --- Reading ---

    async function readOlder() {
        if (isReading)
            return;
        isReading = true;
        hasFailed = false;
        steady(() => fill(top, loading()));
        try {
            const answer = await call('GET', `/v2/threads/${thread.id}/messages`,
                {query: {limit: PAGE, before: cursor}});
            cursor = answer.paging.cursors.before;
            steady(() => {
                fill(top);
                add(answer.items);
                showRows(from, Math.min(to, from + MOST_ROWS));
            });
        } catch (error) {
            steady(() => fill(top, errorBox(error), button(t('ui.retry'), readOlder)));
            hasFailed = true;
        } finally {
            isReading = false;
        }
        if (cursor && scroll.scrollTop < NEAR / 2 && scroll.scrollHeight > scroll.clientHeight)
            onScroll();
    }

    async function load(first) {
        const answer = await (first ?? firstPage(thread.id));
        cursor = answer.paging.cursors.before;
        add(answer.items);
        if (!first) // a page that was read while the thread was may lack the thread's last change
            change = Math.max(change, thread.change);
        showEnd();
    }

    // Reads what changed after the last change that was seen.
    async function refresh() {
        const changedAfter = change;
        const arrived = [];
        let after;
        do {
            const {items, paging} = await call('GET', `/v2/threads/${thread.id}/messages`,
                {query: {changedAfter, after, limit: 100}});
            // a message older than the first one here comes with its page
            const first = cursor && ids.length ? order(byId.get(ids[0]).message) : '';
            arrived.push(...items.filter((one) =>
                one.direction === 'in' && !byId.has(one.id) && order(one) > first));
            const isEnd = isAtEnd();
            steady(() => {
                add(items.filter((one) => byId.has(one.id) || order(one) > first ||
                    targetOf(one)));
                if (isEnd)
                    showRows(Math.max(from, to - MOST_ROWS), to);
            });
            for (const one of items)
                change = Math.max(change, one.change);
            after = paging.cursors.after;
        } while (after);
        return arrived;
    }

    function lastOf(fits) {
        return [...byId.values()].reduce((last, {message}) =>
            fits(message) && (!last || order(message) > order(last)) ? message : last, null);
    }

    // The button that leads to the newest message says how many were not read.
    function countUnread(count) {
        down.lastChild.textContent = count ? t('inbox.newCount', {count}) : t('inbox.newest');
    }

    const resized = new ResizeObserver(() => isFollowing && showEnd());
    resized.observe(scroll);
    return {
        root, load, refresh, showEnd, end, steady, drawDays, isAtEnd, countUnread, setNotes,
        redraw: () => steady(() => ids.slice(from, to).forEach(redraw)),
        has: (wamid) => byWamid.has(wamid),
        reveal: (id) => showRow(() => byId.has(id) && id, FOUND_PAGES),
        newest: () => lastOf(() => true),
        ownReaction: (message) => reactionsTo(message).get('out'),
        seenChange: () => change,
        lastReceived: () => lastOf((message) => message.direction === 'in' &&
            message.source === 'webhook' && !isCall(message)),
        stop: () => resized.disconnect(),
    };
}
