// The place below the messages where an answer is written: text, file or template.
import {call, serverTime} from '../api.js';
import {el, fill} from '../dom.js';
import {number, t} from '../i18n.js';
import {icon} from '../icons.js';
import {recipientOf} from '../recipient.js';
import {filled} from '../replies.js';
import {session} from '../session.js';
import {mayAnswer} from '../team.js';
import {chooseTemplate} from '../templates/picker.js';
import {button, linkButton, showError, toast} from '../ui.js';
import {againOf} from './again.js';
import {cannedList} from './canned.js';
import {nameOf, summary} from './describe.js';
import {
    announceSent, draftOf, isSame, joined, keyOf, onSentElsewhere, saveDraft, storedDraft,
} from './drafts.js';
import {
    forgetFile, kindOfFile, longestOf, refusalOf, takesCaption, withKnownType,
} from './files.js';
import {sendLater} from './later.js';
import {enqueue, newKey} from './outbox.js';
import {removable, tray} from './tray.js';
import {missingForVoice, startVoice} from './voice.js';

const LONGEST_TEXT = 4096;
const LONGEST_CAPTION = 1024;
const COUNTED_FROM = 0.85; // of the longest
const MOST_FILES = 30;
const SILENT = { // why nothing is sent in these states
    blocked: 'inbox.blockedText', archived: 'inbox.archivedText', viewer: 'inbox.viewerText',
};

// How the messages of a thread can be answered: open, closed (templates only), blocked, archived,
// viewer (by others).
export function stateOf(thread, now) {
    if (!mayAnswer())
        return 'viewer';
    if (thread.line.archivedAt)
        return 'archived';
    if (thread.isBlocked)
        return 'blocked';
    return thread.windowEndsAt && new Date(thread.windowEndsAt) > now ? 'open' : 'closed';
}

// Nothing is sent in these states.
export function isSilent(state) {
    return Object.hasOwn(SILENT, state);
}

// Where the pointer is a finger, the keyboard has no Shift to hold: Return makes a new line.
function isSendKey({key, shiftKey, isComposing}) {
    return key === 'Enter' && !shiftKey && !isComposing &&
        !matchMedia('(pointer: coarse)').matches;
}

// composer({thread, seenChange, onSent, onQueued, onInput}) returns {root, reply(message),
// edit(draft), again(message), isOpen(), takeFiles(files), change(thread), focus(), stop()}.
// seenChange(): the last change that is shown. onQueued(): something may be sent later. isOpen():
// whether a message can be written.
export function composer({thread: first, seenChange, onSent, onQueued, onInput: onTyped}) {
    let thread = first;
    let {id, quoted, files} = draftOf(thread); // the id is that of what is written now
    let recording = null; // of startVoice
    let shown = null; // the state that is on the screen

    const root = el('section', {class: 'composer', 'aria-label': t('inbox.composer')});
    const above = el('div', {class: 'composer-above'});
    const input = el('textarea', {
        rows: 1, 'aria-label': t('inbox.write'), placeholder: t('inbox.write'),
        'aria-describedby': 'composer-count', value: draftOf(thread).text,
        role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': 'canned-list',
        'aria-expanded': 'false',
        on: {keydown: onKey, input: onInput, paste: onPaste},
    });
    const count = el('p', {id: 'composer-count', class: 'composer-count small', role: 'status'});
    const picker = el('input', {
        type: 'file', multiple: true, hidden: true, tabindex: '-1',
        'aria-label': t('inbox.attach'),
        on: {
            change() {
                takeFiles([...picker.files]);
                picker.value = '';
            },
        },
    });

    const canned = cannedList(input, ({text}) => {
        input.value = filled(text, {name: nameOf(thread.contact), agent: session().member.name});
        onInput();
        input.focus();
    });

    function onKey(event) {
        if (canned.onKey(event)) {
            event.preventDefault();
        } else if (isSendKey(event)) {
            event.preventDefault();
            submit();
        } else if (event.key === 'Escape' && (quoted || files.length)) {
            if (quoted)
                removeQuote();
            else
                removeFile(files.at(-1));
        }
    }

    function removeFile(file) {
        forgetFile(file);
        files = files.filter((one) => one !== file);
        changed();
        input.focus();
    }

    function onInput() {
        save();
        fit();
        canned.change();
        if (input.value.trim())
            onTyped();
    }

    function save() {
        const isEmpty = !input.value && !files.length && !quoted;
        id = isEmpty ? null : id ?? newKey();
        return saveDraft(thread.id, isEmpty ? null : draft());
    }

    function draft() {
        return {id, text: input.value, files, quoted};
    }

    // Shows and stores another file or quote.
    function changed() {
        fit();
        drawAbove();
        return save();
    }

    // Puts a draft in front of what is there.
    function take(other) {
        const both = joined(other, draft());
        input.value = both.text;
        ({id, files, quoted} = both);
        return changed();
    }

    // The file that has the text as its caption: the first one that can.
    function captioned() {
        return files.find(({file}) => takesCaption(file));
    }

    // How many characters the text is too long.
    function excess() {
        const longest = captioned() ? LONGEST_CAPTION : LONGEST_TEXT;
        const length = [...input.value.trim()].length;
        return {over: length - longest, isNear: length > longest * COUNTED_FROM, length, longest};
    }

    function drawCount() {
        const {over, isNear, length, longest} = excess();
        count.textContent = over > 0 ? t('inbox.tooLong', {count: over})
            : isNear ? `${number(length)} / ${number(longest)}` : '';
        count.classList.toggle('poor', over > 0);
        if (over > 0)
            input.setAttribute('aria-invalid', 'true');
        else
            input.removeAttribute('aria-invalid');
    }

    // Office programs put a picture of a copied text beside it: the text is meant.
    function onPaste(event) {
        const pasted = [...event.clipboardData?.files ?? []];
        if (pasted.length && !event.clipboardData.types.includes('text/plain')) {
            event.preventDefault();
            takeFiles(pasted);
        }
    }

    // The field grows with its text.
    function fit() {
        input.rows = Math.min(8, Math.max(1, input.value.split('\n').length +
            Math.floor(input.value.length / 90)));
        drawCount();
    }

    // Takes the files that the platform takes, and says why it does not take the others.
    function takeFiles(chosen) {
        const refusals = chosen.map(refusalOf);
        const fitting = chosen.filter((_, i) => !refusals[i]);
        refusals.filter(Boolean).forEach((text) => toast(text, 'bad'));
        if (files.length + fitting.length > MOST_FILES)
            toast(t('files.most', {count: MOST_FILES}), 'bad');
        const room = MOST_FILES - files.length;
        files = [...files, ...fitting.slice(0, room).map((file) => ({
            id: newKey(), file: withKnownType(file), uploadKey: newKey(),
            phoneNumberId: thread.line.phoneNumberId}))];
        changed();
        input.focus();
    }

    function removeQuote() {
        quoted = null;
        changed();
        input.focus();
    }

    function drawAbove() {
        fill(above, quoted && removable(icon('reply'), el('bdi', {}, summary(quoted)),
            t('inbox.noReply'), removeQuote),
        tray(files, removeFile));
    }

    // --- Sending ---

    function common() {
        return {
            phoneNumberId: thread.line.phoneNumberId, ...recipientOf(thread.contact),
            ...(quoted ? {contextMessageWamid: quoted.wamid} : {}),
        };
    }

    function fileMessage(entry, caption) {
        const kind = kindOfFile(entry.file);
        const {name} = entry.file;
        const base = {text: caption ? `${name}: ${caption}` : name, file: entry,
            draft: {text: caption, quoted: null}};
        if (kind === 'sticker')
            return {...base, path: '/v2/messages/send/sticker', body: {sticker: {}}};
        return {...base, path: '/v2/messages/send/media', body: {media: {type: kind,
            ...(caption ? {caption} : {}), ...(kind === 'document' ? {filename: name} : {})}}};
    }

    // What the field and the files become, in their order. Audio files have no caption: a text with
    // nothing else stays in the field.
    function messages() {
        const text = input.value.trim();
        const first = captioned();
        return files.length
            ? files.map((file) => fileMessage(file, file === first ? text : ''))
            : text ? [{path: '/v2/messages/send/text', text, body: {text},
                draft: {text, quoted: null}}] : [];
    }

    // The messages with all members of their bodies.
    function whole(made) {
        const base = {phoneNumberId: thread.line.phoneNumberId, ...recipientOf(thread.contact)};
        return made.map((message, i) => ({...message,
            body: {...(i === 0 ? common() : base), ...message.body}}));
    }

    // What stays in the field: a text that is not the caption of a file.
    function rest() {
        return files.length && !captioned() ? input.value : '';
    }

    function submit() {
        const made = messages();
        if (excess().over > 0 || !made.length)
            return;
        const left = rest();
        const sent = draft();
        made[0].draft.quoted = quoted;
        send(whole(made).map((message) => ({...message,
            key: keyOf(sent, [message.path, message.file?.id, message.body])})));
        leave(left).then(() => announceSent(sent));
        input.focus();
        if (left.trim())
            toast(t('inbox.noCaption'));
        onSent();
    }

    // What is written stays until all of it is queued: a failure loses nothing.
    async function submitLater() {
        if (!messages().length)
            toast(t('inbox.later.nothing'));
        if (excess().over > 0 || !messages().length) {
            input.focus();
            return;
        }
        const sent = draft();
        const left = rest();
        const made = whole(messages());
        const isQueued = await sendLater({
            windowEndsAt: thread.windowEndsAt,
            make: (sendAt) => made.map((message) => ({...message,
                body: {...structuredClone(message.body), sendAt}})),
            keyOf: ({path, file, body}) => keyOf(sent, [path, file?.id, body]),
        });
        onQueued(); // after a lost answer too: it may be queued
        if (!isQueued)
            return;
        leave(left).then(() => announceSent(sent));
        input.focus();
        toast(t('inbox.later.done'));
    }

    // What is left in the field is another draft.
    function leave(text) {
        id = null;
        quoted = null;
        files = [];
        input.value = text;
        return changed();
    }

    // Another tab has sent the draft that is written here: what was changed here is another draft.
    function afterOther(sent) {
        if (sent.id !== id)
            return;
        const isUnchanged = isSame(draft(), sent);
        id = null;
        files = files.filter((file) => !sent.files.includes(file.id));
        if (!isUnchanged) {
            changed();
            return;
        }
        quoted = null;
        input.value = '';
        fit();
        drawAbove();
    }

    // A colleague who answers at the same time, or has answered what is not shown yet, is reported.
    function send(made) {
        const seen = `${thread.id} ${seenChange()}`;
        return enqueue(made.map((message) => ({...message, threadId: thread.id, seen})));
    }

    // Sends a failed message anew: a function, or null where it cannot be sent now.
    function again(message) {
        const state = stateOf(thread, serverTime());
        const fresh = isSilent(state) ? null : againOf(message,
            {phoneNumberId: thread.line.phoneNumberId, ...recipientOf(thread.contact)},
            state === 'open');
        return fresh && (() => {
            send([{...fresh, key: newKey()}]);
            onSent();
        });
    }

    function templateMessage({name, language, components, text}) {
        return {path: '/v2/templates/send', text, draft: null,
            body: {...common(), templateName: name, language,
                ...(components.length ? {components} : {})}};
    }

    // Returns a function for chooseTemplate. The same template for the same time is queued once.
    function templateLater() {
        const id = newKey();
        return async (read) => {
            const isQueued = await sendLater({
                windowEndsAt: null, // a template may be sent at any time
                async make(sendAt) {
                    const message = templateMessage(await read());
                    return [{...message, body: {...message.body, sendAt}}];
                },
                keyOf: ({path, body}) => keyOf({id}, [path, body]),
            });
            onQueued(); // after a lost answer too: it may be queued
            if (isQueued)
                toast(t('inbox.later.done'));
            return isQueued;
        };
    }

    async function sendTemplate() {
        let isQueued = false;
        const later = templateLater();
        const chosen = await chooseTemplate({
            phoneNumberId: thread.line.phoneNumberId, hasPhone: Boolean(thread.contact.phone),
            name: nameOf(thread.contact),
            later: async (read) => (isQueued = Boolean(await later(read))),
        });
        if (!chosen && !isQueued)
            return;
        if (chosen)
            send([{...templateMessage(chosen), key: newKey()}]);
        quoted = null;
        changed();
        if (chosen)
            onSent();
    }

    async function unblock() {
        await call('DELETE', `/v2/contacts/${thread.contact.id}/block`,
            {query: {phoneNumberId: thread.line.phoneNumberId}});
        change({...thread, isBlocked: false});
    }

    async function record() {
        recording = await startVoice(longestOf('audio'));
        draw();
        const {file, isSent} = await recording.ended.catch((error) => {
            showError(error);
            return {file: null};
        });
        recording = null;
        draw();
        if (file)
            takeFiles([file]);
        if (file && isSent)
            submit();
    }

    // --- States ---

    function writing() {
        return el('form', {
            class: 'composer-row',
            on: {
                submit(event) {
                    event.preventDefault();
                    submit();
                },
            },
        }, picker,
        button(t('inbox.attach'), () => picker.click(),
            {kind: 'quiet', icon: 'attach', isIconOnly: true}),
        button(t('inbox.template'), sendTemplate,
            {kind: 'quiet', icon: 'templates', isIconOnly: true}),
        input,
        !missingForVoice() && button(t('voice.record'), record,
            {kind: 'quiet', icon: 'mic', isIconOnly: true}),
        button(t('inbox.later.open'), submitLater,
            {kind: 'quiet', icon: 'clock', isIconOnly: true}),
        el('button', {type: 'submit', class: 'button primary icon-only', title: t('inbox.send'),
            'aria-label': t('inbox.send')}, icon('send')));
    }

    function closed() {
        return el('div', {class: 'composer-closed'},
            el('p', {}, el('strong', {}, t('inbox.closed')), ' ', t('inbox.closedText')),
            button(t('inbox.chooseTemplate'), sendTemplate,
                {kind: 'primary', icon: 'templates'}));
    }

    function blocked() {
        return el('div', {class: 'composer-closed'},
            el('p', {}, el('strong', {}, t('inbox.blocked')), ' ', t('inbox.blockedText')),
            button(t('inbox.unblock'), unblock));
    }

    function archived() {
        return el('div', {class: 'composer-closed'},
            el('p', {}, el('strong', {}, t('inbox.archived')), ' ', t('inbox.archivedText')),
            linkButton(t('inbox.openLines'), '#/lines'));
    }

    function reading() {
        return el('div', {class: 'composer-closed'},
            el('p', {}, el('strong', {}, t('inbox.viewer')), ' ', t('inbox.viewerText')));
    }

    function draw() {
        const state = recording ? 'recording' : stateOf(thread, serverTime());
        if (state === shown)
            return;
        const hadFocus = root.contains(document.activeElement);
        shown = state;
        const views = {
            open: writing, closed, blocked, archived, viewer: reading,
            recording: () => recording.root,
        };
        fill(root, !isSilent(state) && above, state === 'open' && [canned.root, count],
            views[state]());
        if (hadFocus)
            root.querySelector('textarea, button.primary, button, a')?.focus();
    }

    function change(fresh) {
        thread = fresh;
        draw();
    }

    const timer = setInterval(draw, 10000); // the window may end while the page is open
    draw();
    drawAbove();
    fit();
    const stopOthers = onSentElsewhere(afterOther);
    storedDraft(thread).then((stored) => stored && take(stored));
    return {
        root, change, again, takeFiles,
        isOpen: () => shown === 'open',
        reply(message) {
            if (isSilent(shown)) {
                toast(t(SILENT[shown]), 'bad');
                return;
            }
            quoted = message;
            changed();
            root.querySelector('textarea, button.primary')?.focus();
        },
        edit(refused) {
            take(refused);
            input.focus();
        },
        focus: () => (root.querySelector('textarea') ?? root.querySelector('button'))
            ?.focus({preventScroll: true}),
        stop() {
            clearInterval(timer);
            stopOthers();
            recording?.keep(); // as a file of the draft
        },
    };
}
