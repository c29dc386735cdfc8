// One thread: its heading, its messages, what is being sent, and the composer.
import {call} from '../api.js';
import {el, fill, update} from '../dom.js';
import {clock, t} from '../i18n.js';
import {icon} from '../icons.js';
import {checkChanges} from '../live.js';
import {definitions} from '../templates/store.js';
import {button, confirm, showError} from '../ui.js';
import {composer} from './composer.js';
import {identityOf, nameOf, summary} from './describe.js';
import {showContact, showMessage} from './details.js';
import {avatar} from './list.js';
import {messageList} from './messages.js';
import {
    canAsk, deliver, moveOutbox, onOutbox, remove, removeShown, restoreOutbox, sendAgain, settle,
    waiting,
} from './outbox.js';

const ANNOUNCED = 5; // messages that stay in the live region

// "3 h 12 min" until the window ends, or null.
function timeLeft(iso) {
    const minutes = Math.floor((new Date(iso) - Date.now()) / 60000);
    if (!iso || minutes < 0)
        return null;
    return t(minutes < 60 ? 'inbox.minutesLeft' : 'inbox.hoursLeft',
        {hours: Math.floor(minutes / 60), minutes: minutes % 60});
}

function windowState(thread) {
    const left = timeLeft(thread.windowEndsAt);
    return el('span', {class: `window ${left ? 'is-open' : ''}`, title: t('inbox.windowText')},
        icon('clock'), left ?? t('inbox.closed'));
}

// A message that is not in the thread yet. onEdit(draft) returns whether it was taken.
function pending(entry, onEdit) {
    const state = {
        sending: () => t('inbox.sending'),
        sent: () => t('inbox.status.accepted'),
        unknown: () => t(canAsk(entry) ? 'inbox.unknown' : 'inbox.unknownLong'),
        failed: () => entry.error.message,
    }[entry.state]();
    const isOver = entry.state === 'unknown' || entry.state === 'failed';
    return el('li', {class: `message out pending ${entry.state}`},
        el('div', {class: 'bubble'},
            el('p', {class: 'foreign'}, entry.text),
            isOver && el('div', {class: 'failure', role: 'alert'}, el('p', {}, state),
                entry.error.requestId && el('p', {class: 'small'}, t('error.request'), ' ',
                    el('code', {}, entry.error.requestId))),
            el('p', {class: 'meta'}, !isOver && el('span', {}, state),
                el('time', {datetime: entry.at}, clock(entry.at)), icon('clock')),
            isOver && el('div', {class: 'actions'},
                entry.state === 'unknown' && canAsk(entry)
                    ? button(t('inbox.checkAgain'), () => deliver(entry), {icon: 'refresh'})
                    : button(t('inbox.sendAgain'), () => sendAgain(entry), {icon: 'refresh'}),
                entry.state === 'failed' && entry.draft && button(t('inbox.editAgain'), () => {
                    if (!onEdit({...entry.draft, file: entry.file ?? null}))
                        return;
                    entry.file = null; // it is the draft's
                    remove(entry);
                }),
                button(t('inbox.discard'), () => remove(entry), {kind: 'quiet'}))));
}

// threadView({thread, lines, onThread}) returns {root, load(messages), change(thread), refresh(),
// draw(), stop(), focus()}. `messages`: a promise of its first page, or null. onThread(thread) is
// called with what an action here changed. draw() shows times and days anew.
export function threadView({thread: first, lines, onThread}) {
    let thread = first;
    const root = el('section', {class: 'thread-view', 'aria-labelledby': 'thread-name'});
    const head = el('header', {class: 'thread-head'});
    const templates = definitions(thread.line.phoneNumberId, () => list.redraw());
    const list = messageList({
        thread: {...thread, name: nameOf(thread.contact)},
        definitionOf: (name, language) => templates.find(name, language),
        open: openMessage,
        reply: (message) => writer.reply(message),
        again: (message) => writer.again(message),
        onEnd: () => markRead().catch(showError),
    });
    const writer = composer({thread, onSent: () => list.showEnd()});
    // What has arrived, for screen readers: the list of messages changes also when older ones come.
    const arrivals = el('div', {
        class: 'off-screen', role: 'log', 'aria-label': t('inbox.arrivals'),
    });
    const outbox = el('ol', {class: 'messages'});
    fill(list.end, outbox);

    function drawHead() {
        fill(head,
            el('a', {class: 'button quiet icon-only thread-back', href: '#/inbox',
                'aria-label': t('inbox.back'), title: t('inbox.back')}, icon('back')),
            avatar(thread.contact),
            el('div', {class: 'thread-title'},
                el('h1', {id: 'thread-name', tabindex: '-1', class: 'cut'},
                    el('bdi', {}, nameOf(thread.contact))),
                el('p', {class: 'small muted cut'}, [identityOf(thread.contact),
                    thread.line.name ?? thread.line.phoneNumber].filter(Boolean).join(' · '))),
            el('div', {class: 'actions'}, windowState(thread),
                button(t('inbox.contact'), () => void showContact(thread.contact, lines),
                    {kind: 'quiet', icon: 'person', isIconOnly: true}),
                !thread.isBlocked && button(t('inbox.block'), block,
                    {kind: 'quiet', icon: 'block', isIconOnly: true})));
    }

    function drawOutbox() {
        list.steady(() => update(outbox, waiting(thread.id).map((entry) => ({
            id: entry.id, state: entry.state, entry})), ({id}) => id,
        ({entry}) => pending(entry, writer.edit)));
    }

    async function openMessage(message) {
        const wanted = await showMessage(message, {canReply: !thread.isBlocked});
        if (wanted === 'reply')
            writer.reply(message);
    }

    async function block() {
        const line = thread.line.name ?? thread.line.phoneNumber;
        if (!await confirm(t('inbox.blockTitle', {name: nameOf(thread.contact)}),
            t('inbox.blockAsk', {line}), t('inbox.block')))
            return;
        await call('PUT', `/v2/contacts/${thread.contact.id}/block`,
            {body: {phoneNumberId: thread.line.phoneNumberId}});
        change({...thread, isBlocked: true});
        onThread(thread);
        checkChanges();
    }

    // Only what the user sees is read: in a window that has the focus, the newest message in view.
    async function markRead() {
        list.countUnread(thread.unread);
        if (!thread.unread || document.hidden || !document.hasFocus() || !list.isAtEnd())
            return;
        const {unread} = await call('POST', `/v2/threads/${thread.id}/read`,
            {body: {upTo: list.newest()?.id}});
        thread = {...thread, unread};
        list.countUnread(unread);
        onThread(thread);
    }

    function change(fresh) {
        thread = fresh;
        drawHead();
        writer.change(thread);
    }

    // Reads what is new of the thread.
    async function refresh() {
        for (const message of await list.refresh())
            arrivals.append(el('p', {}, `${nameOf(thread.contact)}: ${summary(message)}`));
        while (arrivals.childElementCount > ANNOUNCED)
            arrivals.firstChild.remove();
        settle(thread.id, list.has);
        await markRead();
    }

    const onVisible = () => markRead().catch(showError);
    document.addEventListener('visibilitychange', onVisible);
    window.addEventListener('focus', onVisible);
    const stopOutbox = onOutbox((id) => {
        if (id !== thread.id)
            return;
        removeShown(id, list.has);
        drawOutbox();
    });
    drawHead();
    fill(root, head, arrivals, list.root, writer.root);
    return {
        root, change, refresh,
        draw() {
            drawHead();
            list.drawDays();
        },
        async load(messages) {
            moveOutbox(thread);
            await list.load(messages);
            settle(thread.id, list.has);
            drawOutbox();
            list.showEnd();
            restoreOutbox(); // of a tab that was closed
            await markRead().catch(showError);
        },
        get thread() {
            return thread;
        },
        focus: () => document.getElementById('thread-name')?.focus({preventScroll: true}),
        stop() {
            document.removeEventListener('visibilitychange', onVisible);
            window.removeEventListener('focus', onVisible);
            stopOutbox();
            writer.stop();
            list.stop();
            templates.stop();
        },
    };
}
