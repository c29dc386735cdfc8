// The messages of a thread: loaded backwards from the newest, kept up to date by change numbers.
import {call} from '../api.js';
import {el, fill, morph} from '../dom.js';
import {date, t} from '../i18n.js';
import {lookup, textOf} from '../shape.js';
import {errorBox, loading, button} from '../ui.js';
import {bubble} from './bubble.js';
import {content} from './describe.js';

const PAGE = 50;
const NEAR = 700; // pixels from the top at which older messages are loaded
const SEARCHED_PAGES = 20; // for a quoted message

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

// messageList({thread, definitionOf, open, reply, again, onEnd}) returns {root, load(first),
// refresh(), redraw(), drawDays(), has(wamid), newest(), showEnd(), isAtEnd(), countUnread(count),
// steady(work), stop(), end}. `first` is a promise of firstPage, or null; `end` is the element
// below the messages. refresh() returns the messages that have arrived. onEnd() is called when
// the user has scrolled to the newest message.
export function messageList({thread, definitionOf, open, reply, again, onEnd}) {
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
    let ids = []; // of the messages that have a row, oldest first
    let cursor = null;
    let change = 0;
    let isReading = false;
    let isFollowing = true; // the newest message stays in view when the room changes

    // --- Rows ---

    function contextOf(message) {
        const own = (about.get(message.wamid) ?? [])
            .toSorted((a, b) => order(a) < order(b) ? -1 : 1);
        const reactions = new Map(); // the last one of each side
        for (const one of own.filter(({type}) => type === 'reaction'))
            reactions.set(one.direction, textOf(content(one).emoji));
        const edit = own.findLast(({type}) => type === 'edit');
        return {
            phoneNumberId: thread.line.phoneNumberId, name: thread.name, definitionOf, open, reply,
            again, jumpTo,
            quoted: byWamid.get(message.contextWamid),
            isDeleted: own.some(({type}) => type === 'revoke'),
            edited: edit && content(edit).message?.text?.body,
            reactions: [...reactions].filter(([, emoji]) => emoji)
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

    function removeRow(id) {
        const at = ids.indexOf(id);
        if (at < 0)
            return;
        ids.splice(at, 1);
        byId.get(id).node?.remove();
        byId.get(id).node = null;
    }

    function insertRow(message) {
        const at = position(message);
        const node = render(message);
        byId.get(message.id).node = node;
        list.insertBefore(node, at < ids.length ? byId.get(ids[at]).node : null);
        ids.splice(at, 0, message.id);
    }

    // Keeps what is known of a message; returns the ids of the rows that depend on it.
    function keep(message) {
        const old = byId.get(message.id);
        byId.set(message.id, {message, day: dayOf(message), node: old?.node ?? null});
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
            else
                insertRow(message);
            (about.get(message.wamid) ?? []).filter(({type}) => type !== 'reaction')
                .forEach(({id}) => removeRow(id));
        }
        drawDays();
        rove();
    }

    // The days are rows between the messages.
    function drawDays() {
        const firsts = new Map();
        for (const id of ids) {
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
    }

    // --- Keyboard: the messages are one stop of the Tab key, arrows lead through them ---

    function rove(node = list.querySelector('li[tabindex="0"]') ?? lastRow()) {
        list.querySelector('li[tabindex="0"]')?.setAttribute('tabindex', '-1');
        node?.setAttribute('tabindex', '0');
    }

    function lastRow() {
        return ids.length ? byId.get(ids.at(-1)).node : null;
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
        if (step)
            byId.get(ids[at + step])?.node.focus();
        else if (event.key === 'Enter')
            open(message);
        else if (event.key === 'r' && !event.ctrlKey && !event.metaKey)
            reply(message);
        else
            return;
        event.preventDefault();
    }

    // --- Scrolling ---

    function isAtEnd() {
        return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 40;
    }

    function showEnd() {
        scroll.scrollTop = scroll.scrollHeight;
        isFollowing = true;
        down.hidden = true;
    }

    function onScroll() {
        isFollowing = isAtEnd();
        down.hidden = isFollowing;
        if (isFollowing)
            onEnd();
        if (scroll.scrollTop < NEAR && cursor && !isReading)
            readOlder();
    }

    // Runs a change of the rows and keeps what is in view at its place: the newest message at the
    // end, else the first row that is visible.
    function steady(work) {
        const wasAtEnd = isAtEnd();
        const fixed = wasAtEnd ? null : [...list.children].find((node) =>
            node.offsetTop + node.offsetHeight > scroll.scrollTop);
        const before = fixed?.offsetTop;
        work();
        if (wasAtEnd)
            showEnd();
        else if (fixed?.isConnected)
            scroll.scrollTop += fixed.offsetTop - before;
        down.hidden = isAtEnd();
    }

    async function jumpTo(wamid) {
        for (let i = 0; i < SEARCHED_PAGES && !byWamid.has(wamid) && cursor; i++)
            await readOlder();
        const node = byId.get(byWamid.get(wamid)?.id)?.node;
        if (!node)
            return;
        node.scrollIntoView({block: 'center'});
        node.focus({preventScroll: true});
    }

    // --- Reading ---

    async function readOlder() {
        if (isReading)
            return;
        isReading = true;
        fill(top, loading());
        try {
            const answer = await call('GET', `/v2/threads/${thread.id}/messages`,
                {query: {limit: PAGE, before: cursor}});
            cursor = answer.paging.cursors.before;
            steady(() => {
                fill(top);
                add(answer.items);
            });
        } catch (error) {
            fill(top, errorBox(error), button(t('ui.retry'), readOlder));
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
            steady(() => add(items.filter((one) => byId.has(one.id) || order(one) > first ||
                targetOf(one))));
            for (const one of items)
                change = Math.max(change, one.change);
            after = paging.cursors.after;
        } while (after);
        return arrived;
    }

    // The button that leads to the newest message says how many were not read.
    function countUnread(count) {
        down.lastChild.textContent = count ? t('inbox.newCount', {count}) : t('inbox.newest');
    }

    const resized = new ResizeObserver(() => isFollowing && showEnd());
    resized.observe(scroll);
    return {
        root, load, refresh, showEnd, end, steady, drawDays, isAtEnd, countUnread,
        redraw: () => steady(() => ids.forEach(redraw)),
        has: (wamid) => byWamid.has(wamid),
        newest: () => [...byId.values()].reduce((last, {message}) =>
            !last || order(message) > order(last) ? message : last, null),
        stop: () => resized.disconnect(),
    };
}
