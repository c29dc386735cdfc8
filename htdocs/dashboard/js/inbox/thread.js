// One thread: its heading, its messages, what is being sent, and the composer.
import {call, serverTime} from '../api.js';
import {el, fill, morph, update} from '../dom.js';
import {clock, t} from '../i18n.js';
import {icon} from '../icons.js';
import {checkChanges, poll} from '../live.js';
import {recipientOf} from '../recipient.js';
import {setThing} from '../title.js';
import {answering, isSelf, mayAnswer} from '../team.js';
import {definitions} from '../templates/store.js';
import {button, confirm, showError, toast} from '../ui.js';
import {assign} from './assign.js';
import {composer, isSilent, stateOf} from './composer.js';
import {identityOf, nameOf, summary} from './describe.js';
import {showContact, showMessage} from './details.js';
import {dropZone} from './drop.js';
import {formatted} from './formatted.js';
import {threadSearch} from './found.js';
import {cancelQueued, queuedRow, readQueued, retryQueued} from './later.js';
import {avatar} from './list.js';
import {messageList} from './messages.js';
import {deleteNote, notesState, readNotes, writeNote} from './notes.js';
import {
    canAsk, canCancel, cancel, deliver, moveOutbox, newKey, onOutbox, remove, removeShown,
    restoreOutbox, sendAgain, settle, waiting,
} from './outbox.js';
import {chooseReaction} from './reactions.js';
import {receipts} from './receipts.js';
import {signOf} from './tray.js';
import {typingNotice} from './typing.js';

const QUEUE_EVERY = 20000, QUEUE_IDLE = 60000; // ms between two readings of the queue
const ANNOUNCED = 5; // messages that stay in the live region

// "3 h 12 min" until the window ends, or null.
function timeLeft(iso) {
    const minutes = Math.floor((new Date(iso) - serverTime()) / 60000);
    if (!iso || minutes < 0)
        return null;
    return t(minutes < 60 ? 'inbox.minutesLeft' : 'inbox.hoursLeft',
        {hours: Math.floor(minutes / 60), minutes: minutes % 60});
}

function windowState(thread) {
    const left = timeLeft(thread.windowEndsAt);
    return el('span', {class: `window ${left ? 'is-open' : ''}`, title: t('inbox.windowText')},
        icon('clock'), left ?? t('inbox.windowOver'));
}

// What the state of such a message says.
const STATES = {
    waiting: () => t('inbox.waiting'),
    sending: (entry) => t(canCancel(entry) ? 'inbox.uploading' : 'inbox.sending'),
    sent: () => t('inbox.status.accepted'),
    unknown: (entry) => t(canAsk(entry) ? 'inbox.unknown' : 'inbox.unknownLong'),
    stopped: () => t('inbox.uploadStopped'),
    failed: ({error}) => error.colleague
        ? t(`inbox.colleague.${error.colleague.reason}`, {name: error.colleague.by.name})
        : error.isOfUpload ? t('inbox.uploadFailed', {reason: error.message}) : error.message,
    cancelled: () => t('inbox.cancelled'),
};

function uploadRow(entry) {
    return el('div', {class: 'upload'},
        entry.state === 'sending' && el('progress', {
            max: 100, value: entry.progress ?? 0, 'aria-label': t('inbox.uploading')}),
        button(t('ui.cancel'), () => cancel(entry), {kind: 'quiet', icon: 'close',
            isIconOnly: true}));
}

function pendingActions(entry, onEdit) {
    const edit = () => {
        onEdit({...entry.draft, files: entry.file ? [entry.file] : []});
        entry.file = null; // it is the draft's
        remove(entry);
    };
    return el('div', {class: 'actions'},
        entry.state === 'unknown' && canAsk(entry)
            ? button(t('inbox.checkAgain'), () => deliver(entry), {icon: 'refresh'})
            : button(t(entry.error?.colleague ? 'inbox.sendAnyway' : 'inbox.sendAgain'),
                () => sendAgain(entry), {icon: entry.error?.colleague ? 'send' : 'refresh'}),
        entry.state !== 'unknown' && entry.draft && button(t('inbox.editAgain'), edit),
        button(t('inbox.discard'), () => remove(entry), {kind: 'quiet'}));
}

// A message that is not in the thread yet.
function pending(entry, onEdit) {
    const state = STATES[entry.state](entry);
    const isOver = ['unknown', 'stopped', 'failed', 'cancelled'].includes(entry.state);
    return el('li', {class: `message out pending ${entry.state}`},
        el('div', {class: 'bubble'},
            el('div', {class: 'pending-what'}, entry.file && signOf(entry.file),
                el('p', {class: 'foreign'}, formatted(entry.text))),
            isOver && el('div', {class: 'failure', role: 'alert'}, el('p', {}, state),
                entry.error?.requestId && el('p', {class: 'small'}, t('error.request'), ' ',
                    el('code', {}, entry.error.requestId))),
            canCancel(entry) && uploadRow(entry),
            el('p', {class: 'meta'}, !isOver && el('span', {}, state),
                el('time', {datetime: entry.at}, clock(entry.at)), icon('clock')),
            isOver && pendingActions(entry, onEdit)));
}

// threadView({thread, lines, onThread, listAddress}) returns {root, load(messages, at),
// change(thread), refresh(), draw(), stop(), focus()}. `messages`: a promise of its first page, or
// null; `at`: the id of the message to show, without it the newest one.
// onThread(thread) is called with what an action here changed; listAddress() is where the way back
// leads. draw() shows times and days anew.
export function threadView({thread: first, lines, onThread, listAddress}) {
    let thread = first;
    let isLeft = false; // it was marked as unread
    let hasTeam = false; // several members answer
    let shownNotes = null; // notesState of those that are shown
    let queued = []; // what waits to be sent, or was not
    let foundTemplates = 0; // how many definitions have come
    let search = null; // the search within the thread, while it is open
    const root = el('section', {class: 'thread-view', 'aria-labelledby': 'thread-name'});
    const head = el('header', {class: 'thread-head'});
    const templates = definitions(thread.line.phoneNumberId, () => {
        list.redraw();
        foundTemplates += 1;
        showQueue();
    });
    const list = messageList({
        thread: {...thread, name: nameOf(thread.contact)},
        definitionOf: (name, language) => templates.find(name, language),
        open: openMessage,
        reply: (message) => writer.reply(message),
        react: (message) => react(message).catch(showError),
        again: (message) => writer.again(message),
        onEnd: () => markRead().catch(showError),
    });
    const shownReceipts = receipts({
        phoneNumberId: thread.line.phoneNumberId, lastReceived: () => list.lastReceived(),
    });
    const typing = typingNotice({threadId: thread.id, isShared: () => hasTeam});
    const writer = composer({
        thread, seenChange: () => list.seenChange(),
        onInput() {
            shownReceipts.write();
            typing.write();
        },
        onSent() {
            shownReceipts.sent();
            typing.sent();
            list.showEnd();
        },
        onQueued() {
            drawQueue().then(() => list.showEnd()).catch(showError);
        },
    });
    // What has arrived, for screen readers: the list of messages changes also when older ones come.
    const arrivals = el('div', {
        class: 'off-screen', role: 'log', 'aria-label': t('inbox.arrivals'),
    });
    const outbox = el('ol', {class: 'messages'});
    const queue = el('ol', {class: 'messages', 'aria-label': t('inbox.later.list')});
    fill(list.end, outbox, queue);

    // The nodes stay, and the focus with them.
    function drawHead() {
        setThing(nameOf(thread.contact));
        morph(head, el('header', {class: 'thread-head'},
            el('a', {class: 'button quiet icon-only thread-back', href: listAddress(),
                'aria-label': t('inbox.back'), title: t('inbox.back')}, icon('back')),
            avatar(thread.contact),
            el('div', {class: 'thread-title'},
                el('h1', {id: 'thread-name', tabindex: '-1', class: 'cut'},
                    el('bdi', {}, nameOf(thread.contact))),
                el('p', {class: 'small muted cut'}, [identityOf(thread.contact),
                    thread.line.name ?? thread.line.phoneNumber].filter(Boolean).join(' · '))),
            windowState(thread),
            el('div', {class: 'actions'}, assigneeButton(), doneButton(),
                button(t('inbox.searchThread'), toggleSearch,
                    {kind: 'quiet', icon: 'search', isIconOnly: true}),
                mayAnswer() && button(t('inbox.notes.add'), addNote,
                    {kind: 'quiet', icon: 'log', isIconOnly: true}),
                mayAnswer() && button(t('inbox.markUnread'), markUnread,
                    {kind: 'quiet', icon: 'dot', isIconOnly: true}),
                button(t('inbox.contact'), () => void showContact(thread.contact, lines),
                    {kind: 'quiet', icon: 'person', isIconOnly: true}),
                mayAnswer() && !thread.isBlocked && button(t('inbox.block'), block,
                    {kind: 'quiet', icon: 'block', isIconOnly: true}))));
    }

    // The way back from what was found leads to the newest message.
    function toggleSearch() {
        if (search) {
            search.root.remove();
            search = null;
            list.showEnd();
            root.querySelector('h1').focus({preventScroll: true});
            return;
        }
        search = threadSearch({thread, open: (message) => reveal(message.id), close: toggleSearch});
        head.after(search.root);
        search.focus();
    }

    // Shows a message in its place; one without a place there by itself.
    async function reveal(id) {
        try {
            if (!await list.reveal(id))
                await openMessage(await call('GET', `/v2/messages/${encodeURIComponent(id)}`));
        } catch (error) {
            showError(error);
        }
    }

    // Shown where several members answer.
    function assigneeButton() {
        const name = thread.assignee && (isSelf(thread.assignee) ? t('inbox.you')
            : thread.assignee.name);
        if (!mayAnswer())
            return name && el('span', {class: 'muted small'}, name);
        return (hasTeam || thread.assignee) && button(name ?? t('inbox.assign.open'),
            changeAssignee, {icon: 'person', title: t('inbox.assign.title'),
                class: `button quiet assigned ${name ? 'is-assigned' : ''}`});
    }

    async function changeAssignee() {
        const assignee = await assign(thread);
        if (assignee === undefined)
            return;
        change({...thread, assignee});
        onThread(thread);
        checkChanges();
    }

    // Reads the notes when they have changed.
    async function drawNotes() {
        const state = notesState(thread);
        if (state === shownNotes)
            return;
        shownNotes = state;
        try {
            const notes = thread.notesChange === null ? [] : await readNotes(thread.id);
            list.setNotes(notes, removeNote);
        } catch (error) {
            shownNotes = null;
            throw error;
        }
    }

    async function showNotesAnew() {
        change(await call('GET', `/v2/threads/${thread.id}`));
        await drawNotes();
        checkChanges();
    }

    async function addNote() {
        if (!await writeNote(thread.id))
            return;
        await showNotesAnew();
        list.showEnd();
    }

    async function removeNote(note) {
        if (await deleteNote(note))
            await showNotesAnew();
    }

    // Done, while there is something to do; after it the way back.
    function doneButton() {
        if (!mayAnswer())
            return null;
        if (thread.waitingSince || thread.failedAt)
            return button(t('inbox.done'), markDone, {icon: 'check'});
        return thread.doneAt && thread.doneAt > (thread.lastMessageAt ?? '') &&
            button(t('inbox.undone'), undo, {kind: 'quiet'});
    }

    // What was seen is done; a message that came meanwhile still waits.
    async function markDone() {
        const left = await call('POST', `/v2/threads/${thread.id}/done`,
            {body: {change: list.seenChange()}});
        afterDone(left);
        toast(t(left.waitingSince ? 'inbox.doneMeanwhile' : 'inbox.doneNow'));
    }

    async function undo() {
        afterDone(await call('DELETE', `/v2/threads/${thread.id}/done`));
    }

    function afterDone(left) {
        change({...thread, ...left});
        onThread(thread);
        checkChanges();
    }

    // The thread closes: an open one is read at once.
    async function markUnread() {
        const {unread} = await call('POST', `/v2/threads/${thread.id}/unread`, {body: {}});
        isLeft = true;
        thread = {...thread, unread};
        onThread(thread);
        checkChanges();
        location.hash = listAddress();
    }

    function drawOutbox() {
        list.steady(() => update(outbox, waiting(thread.id).map((entry) => ({
            id: entry.id, canCancel: canCancel(entry), entry})), ({id}) => id,
        ({entry}) => pending(entry, writer.edit)));
    }

    // Shows the sends that wait or were not made at the end, anew when a definition has come.
    function showQueue() {
        list.steady(() => update(queue, queued.map((row) => ({row, foundTemplates})),
            ({row}) => row.id, ({row}) => queuedRow(row, {
                phoneNumberId: thread.line.phoneNumberId,
                definitionOf: (name, language) => templates.find(name, language),
                cancel: (one) => changeQueue(() => cancelQueued(one)),
                retry: (one) => changeQueue(() => retryQueued(one)),
                edit: (one, text) => changeQueue(() => cancelQueued(one),
                    () => writer.edit({id: null, text, quoted: null, files: []})),
            })));
        queue.hidden = !queued.length;
    }

    async function drawQueue() {
        queued = await readQueued(thread);
        showQueue();
    }

    // Changes a row of the queue. One that the sender has taken is refused, and shown anew.
    async function changeQueue(work, done = () => {}) {
        try {
            await work();
            done();
        } finally {
            await drawQueue();
            if (!root.contains(document.activeElement))
                writer.focus(); // its button is gone
        }
    }

    async function openMessage(message) {
        const canReply = !isSilent(stateOf(thread, serverTime()));
        const wanted = await showMessage(message, {canReply});
        if (wanted === 'reply')
            writer.reply(message);
        else if (wanted === 'react')
            await react(message);
    }

    // Sends a reaction, or removes the present one.
    async function react(message) {
        if (stateOf(thread, serverTime()) !== 'open') {
            toast(t('inbox.noReaction'), 'bad');
            return;
        }
        const emoji = await chooseReaction(list.ownReaction(message));
        if (emoji === undefined)
            return;
        await call('POST', '/v2/messages/send/reaction', {key: newKey(), body: {
            phoneNumberId: thread.line.phoneNumberId, ...recipientOf(thread.contact),
            messageId: message.wamid, emoji}});
        checkChanges();
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
        if (!mayAnswer() || isLeft || !thread.unread)
            return;
        if (document.hidden || !document.hasFocus() || !list.isAtEnd())
            return;
        const {unread} = await call('POST', `/v2/threads/${thread.id}/read`,
            {body: {upTo: list.newest()?.id}});
        thread = {...thread, unread};
        list.countUnread(unread);
        onThread(thread);
        if (!thread.isBlocked)
            shownReceipts.read().catch(showError);
    }

    function change(fresh) {
        thread = fresh;
        drawHead();
        typing.show(thread.typing);
        writer.change(thread);
    }

    // Reads what is new of the thread.
    async function refresh() {
        for (const message of await list.refresh())
            arrivals.append(el('p', {}, `${nameOf(thread.contact)}: ${summary(message)}`));
        while (arrivals.childElementCount > ANNOUNCED)
            arrivals.firstChild.remove();
        settle(thread.id, list.has);
        await drawNotes();
        await markRead();
        if (queue.childElementCount)
            queuePoll.now(); // one of them may be in the thread now
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
    answering().then((members) => {
        hasTeam = members.length > 1;
        drawHead();
    }).catch(showError);
    const queuePoll = poll(drawQueue, {fast: QUEUE_EVERY, slow: QUEUE_IDLE});
    drawHead();
    typing.show(thread.typing);
    fill(root, head, arrivals, list.root, typing.root, writer.root);
    const stopDrop = dropZone(root, {isOpen: writer.isOpen, take: writer.takeFiles});
    return {
        root, change, refresh,
        draw() {
            drawHead();
            list.drawDays();
        },
        async load(messages, at) {
            moveOutbox(thread);
            await list.load(messages);
            await drawNotes().catch(showError);
            settle(thread.id, list.has);
            drawOutbox();
            list.showEnd();
            if (at)
                await reveal(at);
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
            queuePoll.stop();
            stopDrop();
            typing.stop();
            writer.stop();
            list.stop();
            templates.stop();
        },
    };
}
