// The place below the messages where an answer is written: text, file or template.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {bytes, number, t} from '../i18n.js';
import {icon} from '../icons.js';
import {dropFile} from '../kept.js';
import {chooseTemplate} from '../templates/picker.js';
import {button, toast} from '../ui.js';
import {againOf} from './again.js';
import {nameOf, summary} from './describe.js';
import {draftOf, joined, saveDraft, storedDraft} from './drafts.js';
import {enqueue, newKey} from './outbox.js';

const LONGEST_FILE = 104857600;
const LONGEST_TEXT = 4096;
const LONGEST_CAPTION = 1024;
const COUNTED_FROM = 0.85; // of the longest

// The recipient's fields of a send: the phone, else the business-scoped user id.
export function recipientOf(contact) {
    return contact.phone ? {to: contact.phone}
        : {recipient: contact.userId ?? contact.parentUserId};
}

const KINDS = [[/^image\/(jpeg|png)$/, 'image'], [/^video\/(mp4|3gpp)$/, 'video'],
    [/^audio\/(aac|mp4|mpeg|amr|ogg|opus)$/, 'audio']];

function kindOfFile(file) {
    return KINDS.find(([types]) => types.test(file.type))?.[1] ?? 'document';
}

// How the messages of a thread can be answered: open, closed (templates only), blocked, archived.
function stateOf(thread, now) {
    if (thread.isBlocked)
        return 'blocked';
    return thread.windowEndsAt && new Date(thread.windowEndsAt) > now ? 'open' : 'closed';
}

// composer({thread, onSent}) returns {root, reply(message), change(thread), focus(), stop()}.
export function composer({thread: first, onSent}) {
    let thread = first;
    let {quoted, file} = draftOf(thread);
    let key = newKey(); // of the next message: made before it is sent
    let shown = null; // the state that is on the screen

    const root = el('section', {class: 'composer', 'aria-label': t('inbox.composer')});
    const above = el('div', {class: 'composer-above'});
    const input = el('textarea', {
        rows: 1, 'aria-label': t('inbox.write'), placeholder: t('inbox.write'),
        'aria-describedby': 'composer-count', value: draftOf(thread).text,
        on: {keydown: onKey, input: onInput, paste: onPaste},
    });
    const count = el('p', {id: 'composer-count', class: 'composer-count small', role: 'status'});
    const picker = el('input', {
        type: 'file', hidden: true, tabindex: '-1', 'aria-label': t('inbox.attach'),
        on: {change: () => takeFile(picker.files[0])},
    });

    function onKey(event) {
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            submit();
        } else if (event.key === 'Escape' && (quoted || file)) {
            quoted = null;
            removeFile();
            changed();
        }
    }

    function removeFile() {
        dropFile(file);
        file = null;
    }

    function onInput() {
        save();
        fit();
    }

    function save() {
        saveDraft(thread.id, draft());
    }

    function draft() {
        return {text: input.value, file, quoted};
    }

    // Shows and stores another file or quote.
    function changed() {
        save();
        fit();
        drawAbove();
    }

    // Puts a draft in front of what is there; false if there are two files.
    function take(other) {
        if (file && other.file) {
            toast(t('inbox.oneFile'), 'bad');
            return false;
        }
        const both = joined(other, draft());
        input.value = both.text;
        ({file, quoted} = both);
        changed();
        return true;
    }

    // How many characters the text is too long. That of a file is its caption; one of an audio file
    // is a message of its own.
    function excess() {
        const longest = file && kindOfFile(file.file) !== 'audio' ? LONGEST_CAPTION : LONGEST_TEXT;
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

    function onPaste(event) {
        const pasted = event.clipboardData?.files[0];
        if (pasted) {
            event.preventDefault();
            takeFile(pasted);
        }
    }

    // The field grows with its text.
    function fit() {
        input.rows = Math.min(8, Math.max(1, input.value.split('\n').length +
            Math.floor(input.value.length / 90)));
        drawCount();
    }

    function takeFile(chosen) {
        picker.value = '';
        if (!chosen)
            return;
        if (chosen.size > LONGEST_FILE) {
            toast(t('inbox.fileTooLong', {size: bytes(LONGEST_FILE)}), 'bad');
            return;
        }
        removeFile();
        file = {id: newKey(), file: chosen, uploadKey: newKey(),
            phoneNumberId: thread.line.phoneNumberId};
        changed();
        input.focus();
    }

    function removable(name, what, label, clear) {
        return el('div', {class: 'removable'}, icon(name), el('span', {class: 'cut'}, what),
            button(label, () => {
                clear();
                changed();
                input.focus();
            }, {kind: 'quiet', icon: 'close', isIconOnly: true}));
    }

    function drawAbove() {
        fill(above,
            quoted && removable('reply', el('bdi', {}, summary(quoted)), t('inbox.noReply'),
                () => { quoted = null; }),
            file && removable('file', [el('bdi', {}, file.file.name), ' ',
                el('span', {class: 'muted'}, bytes(file.file.size))], t('inbox.noFile'),
            removeFile));
    }

    // --- Sending ---

    function common() {
        return {
            phoneNumberId: thread.line.phoneNumberId, ...recipientOf(thread.contact),
            ...(quoted ? {contextMessageWamid: quoted.wamid} : {}),
        };
    }

    function mediaMessage(text) {
        const type = kindOfFile(file.file);
        const {name} = file.file;
        return {path: '/v2/messages/send/media', text: text ? `${name}: ${text}` : name, file,
            body: {...common(), media: {type, ...(text ? {caption: text} : {}),
                ...(type === 'document' ? {filename: name} : {})}}};
    }

    function submit() {
        const left = file && kindOfFile(file.file) === 'audio' ? input.value : '';
        const text = left ? '' : input.value.trim();
        if (excess().over > 0 || (!text && !file))
            return;
        const message = file ? mediaMessage(text)
            : {path: '/v2/messages/send/text', text, body: {...common(), text}};
        const mine = key;
        enqueue({...message, threadId: thread.id, key: mine, draft: {text, quoted}});
        key = newKey();
        quoted = file = null;
        input.value = left;
        changed();
        input.focus();
        if (left.trim())
            toast(t('inbox.noCaption'));
        onSent();
    }

    // Sends a failed message anew: a function, or null where it cannot be sent now.
    function again(message) {
        const state = stateOf(thread, Date.now());
        const fresh = state === 'blocked' ? null : againOf(message,
            {phoneNumberId: thread.line.phoneNumberId, ...recipientOf(thread.contact)},
            state === 'open');
        return fresh && (() => {
            enqueue({...fresh, threadId: thread.id, key: newKey()});
            onSent();
        });
    }

    async function sendTemplate() {
        const chosen = await chooseTemplate({
            phoneNumberId: thread.line.phoneNumberId, hasPhone: Boolean(thread.contact.phone),
            name: nameOf(thread.contact),
        });
        if (!chosen)
            return;
        enqueue({
            threadId: thread.id, key: newKey(), path: '/v2/templates/send', text: chosen.text,
            draft: null,
            body: {...common(), templateName: chosen.name, language: chosen.language,
                ...(chosen.components.length ? {components: chosen.components} : {})},
        });
        quoted = null;
        changed();
        onSent();
    }

    async function unblock() {
        await call('DELETE', `/v2/contacts/${thread.contact.id}/block`,
            {query: {phoneNumberId: thread.line.phoneNumberId}});
        change({...thread, isBlocked: false});
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

    function draw() {
        const state = stateOf(thread, Date.now());
        if (state === shown)
            return;
        const hadFocus = root.contains(document.activeElement);
        shown = state;
        fill(root, state !== 'blocked' && above, state === 'open' && count,
            {open: writing, closed, blocked}[state]());
        if (hadFocus)
            root.querySelector('textarea, button.primary, button')?.focus();
    }

    function change(fresh) {
        thread = fresh;
        draw();
    }

    const timer = setInterval(draw, 10000); // the window may end while the page is open
    draw();
    drawAbove();
    fit();
    storedDraft(thread).then((stored) => stored && take(stored));
    return {
        root, change, again,
        reply(message) {
            if (shown === 'blocked')
                return;
            quoted = message;
            changed();
            root.querySelector('textarea, button.primary')?.focus();
        },
        edit(refused) {
            const isTaken = take(refused);
            input.focus();
            return isTaken;
        },
        focus: () => root.querySelector('textarea, button')?.focus({preventScroll: true}),
        stop: () => clearInterval(timer),
    };
}
