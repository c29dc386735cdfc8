// Sends that wait in the queue of the gateway: they are queued for a time, shown at the end of
// their thread, cancelled, and sent again.
import {call, serverTime} from '../api.js';
import {el} from '../dom.js';
import {dateTime, has, t} from '../i18n.js';
import {icon} from '../icons.js';
import {toIso, toLocal} from '../local_time.js';
import {objectOf, textOf} from '../shape.js';
import {mayAnswer} from '../team.js';
import {button, dialog, field, form} from '../ui.js';
import {failure, safeBody} from './bubble.js';
import {content} from './describe.js';
import {uploadFile} from './outbox.js';

const MINUTE = 60000, DAY = 24 * 60 * MINUTE;
const LONGEST_AHEAD = 30 * DAY;
const SHOWN_FOR = 7 * DAY; // after the end of one that was not sent
const MOST = 100;
const WAITING = ['queued', 'sending'];
const UNSENT = ['failed', 'expired', 'unknown', 'suppressed'];

// --- Reading -------------------------------------------------------------------------------------

// Whether the thread has it at its end: it waits, or was not sent and nothing is done about it.
function isShown({state, finishedAt, retriedAs}) {
    return WAITING.includes(state) || (UNSENT.includes(state) && !retriedAs &&
        serverTime() - new Date(finishedAt) < SHOWN_FOR);
}

// What the gateway still has to send to the contact, or could not send, in the order of its time.
// Those that wait are asked for by themselves: many later sends do not hide them.
export async function readQueued({line, contact}) {
    const names = [contact.phone, contact.userId, contact.parentUserId].filter(Boolean);
    const pages = await Promise.all(names.flatMap((to) => [{state: 'queued'}, {}].map((query) =>
        call('GET', '/v2/outgoing',
            {query: {phoneNumberId: line.phoneNumberId, to, limit: MOST, ...query}}))));
    const byId = new Map(pages.flatMap(({items}) => items).map((row) => [row.id, row]));
    return [...byId.values()].filter(isShown).toSorted((a, b) =>
        `${a.sendAt} ${a.id}` < `${b.sendAt} ${b.id}` ? -1 : 1);
}

// --- Showing -------------------------------------------------------------------------------------

// The reason in words, of a state that has ended.
function reasonOf({state, reason}) {
    return [`inbox.later.reason.${reason}`, `inbox.later.reason.${state}`].filter(has)
        .map((key) => t(key))[0];
}

function problem(row) {
    const error = objectOf(objectOf(row.error).error);
    if (row.state === 'failed' && (error.code ?? error.message) !== undefined)
        return failure(error, null);
    return el('div', {class: 'failure'}, el('p', {}, reasonOf(row)));
}

// The text of one that can be written anew.
function textOfRow({message}) {
    return message?.type === 'text' ? textOf(content({type: 'text', body: message}).body) : '';
}

// The row of a queued send. context: {phoneNumberId, definitionOf, cancel(row), edit(row, text),
// retry(row)}.
export function queuedRow(row, context) {
    const isWaiting = WAITING.includes(row.state);
    const text = textOfRow(row);
    const actions = mayAnswer() && [
        row.state === 'queued' && button(t('ui.cancel'), () => context.cancel(row),
            {icon: 'close'}),
        row.state === 'queued' && text && button(t('inbox.editAgain'),
            () => context.edit(row, text), {kind: 'quiet'}),
        ['failed', 'expired'].includes(row.state) && row.message &&
            button(t('inbox.sendAgain'), () => context.retry(row), {icon: 'refresh'}),
    ].filter(Boolean);
    return el('li', {class: `message out ${isWaiting ? 'pending' : ''} later`, id: row.id,
        data: {state: row.state}},
    el('div', {class: 'bubble'},
        el('span', {class: 'off-screen'}, t('inbox.says', {who: t('inbox.you')})),
        safeBody({...row, type: row.message?.type, body: row.message, direction: 'out'}, context),
        !isWaiting && problem(row),
        el('p', {class: 'meta'}, el('span', {}, t(`inbox.later.${row.state}`)),
            el('time', {datetime: row.sendAt}, dateTime(row.sendAt)), icon('clock')),
        actions?.length > 0 && el('div', {class: 'actions'}, actions)));
}

export function cancelQueued({id}) {
    return call('DELETE', `/v2/outgoing/${id}`);
}

export function retryQueued({id}) {
    return call('POST', `/v2/outgoing/${id}/retry`, {body: {}});
}

// --- Queueing ------------------------------------------------------------------------------------

// Hands the messages over for a time, one after another. A repetition with the same keys queues
// none twice.
async function queueMessages(messages, keyOf) {
    for (const {path, body, file} of messages) {
        const media = body.media ?? body.sticker;
        if (file)
            media.mediaId = file.mediaId ??= await uploadFile(file);
        await call('POST', path, {body, key: keyOf({path, body, file}),
            prefer: 'respond-async'});
    }
}

function checkTime(sendAt) {
    const ahead = new Date(sendAt ?? NaN) - serverTime();
    return !(ahead > 0) ? t('inbox.later.past')
        : ahead > LONGEST_AHEAD ? t('inbox.later.tooFar') : null;
}

// Asks for the time, in the time zone of the browser, and queues the messages that make(sendAt)
// returns or resolves to. After a failure the dialog stays, and what is written stays in any case.
// Resolves to true, or undefined when the user has left the dialog.
export function sendLater({windowEndsAt, make, keyOf}) {
    const now = serverTime();
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const time = field({
        label: t('inbox.later.time'), name: 'sendAt', type: 'datetime-local', required: true,
        value: toLocal(new Date(Math.ceil((now + MINUTE) / (60 * MINUTE)) * 60 * MINUTE)),
        hint: [t('inbox.later.zone', {zone}), windowEndsAt && t('inbox.later.window',
            {time: dateTime(windowEndsAt)})].filter(Boolean).join(' '),
    });
    return dialog(t('inbox.later.title'), (close) => form({
        fields: [time], submit: t('inbox.later.submit'), novalidate: true,
        async onSubmit() {
            const sendAt = toIso(time.value);
            const wrong = checkTime(sendAt);
            if (wrong) {
                time.setError(wrong);
                time.input.focus();
                return;
            }
            await queueMessages(await make(sendAt), keyOf);
            close(true);
        },
    }));
}
