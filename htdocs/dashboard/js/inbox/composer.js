// The place below the messages where an answer is written: text, file or template.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {bytes, t} from '../i18n.js';
import {icon} from '../icons.js';
import {chooseTemplate} from '../templates/picker.js';
import {button, toast} from '../ui.js';
import {nameOf, summary} from './describe.js';
import {enqueue, newKey} from './outbox.js';

const LONGEST_FILE = 104857600;
const LONGEST_TEXT = 4096;

// What was typed in each thread, until the page is loaded again.
const drafts = new Map();

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
    let quoted = null;
    let file = null;
    let key = newKey(); // of the next message: made before it is sent
    let shown = null; // the state that is on the screen

    const root = el('section', {class: 'composer', 'aria-label': t('inbox.composer')});
    const above = el('div', {class: 'composer-above'});
    const input = el('textarea', {
        rows: 1, 'aria-label': t('inbox.write'), placeholder: t('inbox.write'),
        maxlength: LONGEST_TEXT, value: drafts.get(thread.id) ?? '',
        on: {keydown: onKey, input: onInput, paste: onPaste},
    });
    const picker = el('input', {
        type: 'file', hidden: true, tabindex: '-1', 'aria-label': t('inbox.attach'),
        on: {change: () => takeFile(picker.files[0])},
    });

    function onKey(event) {
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            submit();
        } else if (event.key === 'Escape' && (quoted || file)) {
            quoted = file = null;
            drawAbove();
        }
    }

    function onInput() {
        drafts.set(thread.id, input.value);
        fit();
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
    }

    function takeFile(chosen) {
        picker.value = '';
        if (!chosen)
            return;
        if (chosen.size > LONGEST_FILE) {
            toast(t('inbox.fileTooLong', {size: bytes(LONGEST_FILE)}), 'bad');
            return;
        }
        file = {file: chosen, uploadKey: newKey(), phoneNumberId: thread.line.phoneNumberId};
        drawAbove();
        input.focus();
    }

    function removable(name, what, label, clear) {
        return el('div', {class: 'removable'}, icon(name), el('span', {class: 'cut'}, what),
            button(label, () => {
                clear();
                drawAbove();
                input.focus();
            }, {kind: 'quiet', icon: 'close', isIconOnly: true}));
    }

    function drawAbove() {
        fill(above,
            quoted && removable('reply', el('bdi', {}, summary(quoted)), t('inbox.noReply'),
                () => { quoted = null; }),
            file && removable('file', [el('bdi', {}, file.file.name), ' ',
                el('span', {class: 'muted'}, bytes(file.file.size))], t('inbox.noFile'),
            () => { file = null; }));
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
        const base = common();
        const {name} = file.file;
        const bodyFor = (mediaId) => ({...base, media: {type, mediaId,
            ...(text && type !== 'audio' ? {caption: text} : {}),
            ...(type === 'document' ? {filename: name} : {})}});
        return {path: '/v2/messages/send/media', text: text ? `${name}: ${text}` : name,
            file: {...file, bodyFor}};
    }

    function submit() {
        const text = input.value.trim();
        if (!text && !file)
            return;
        const message = file ? mediaMessage(text)
            : {path: '/v2/messages/send/text', text, body: {...common(), text}};
        const mine = key;
        key = newKey();
        quoted = file = null;
        input.value = '';
        drafts.delete(thread.id);
        fit();
        drawAbove();
        input.focus();
        enqueue({...message, threadId: thread.id, key: mine});
        onSent();
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
            body: {...common(), templateName: chosen.name, language: chosen.language,
                ...(chosen.components.length ? {components: chosen.components} : {})},
        });
        quoted = null;
        drawAbove();
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
        fill(root, state !== 'blocked' && above, {open: writing, closed, blocked}[state]());
        if (hadFocus)
            root.querySelector('textarea, button.primary, button')?.focus();
    }

    function change(fresh) {
        thread = fresh;
        draw();
    }

    const timer = setInterval(draw, 10000); // the window may end while the page is open
    draw();
    fit();
    return {
        root, change,
        reply(message) {
            if (shown === 'blocked')
                return;
            quoted = message;
            drawAbove();
            root.querySelector('textarea, button.primary')?.focus();
        },
        edit(text) {
            input.value = text;
            onInput();
            input.focus();
        },
        focus: () => root.querySelector('textarea, button')?.focus({preventScroll: true}),
        stop: () => clearInterval(timer),
    };
}
