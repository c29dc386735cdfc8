// One event: what was sent, and every attempt to deliver it.
import {call} from '../api.js';
import {answerOf, explain, replay, stateBadge} from '../delivery.js';
import {el, fill} from '../dom.js';
import {icon} from '../icons.js';
import {dateTime, milliseconds, t} from '../i18n.js';
import {identityOf, nameOf as contactName} from '../inbox/describe.js';
import {poll} from '../live.js';
import {address} from '../router.js';
import {setThing} from '../title.js';
import {
    button, card, codeBlock, copyButton, empty, errorBox, facts, heading, link, loading, moment,
    notice,
} from '../ui.js';
import {nameOf} from '../webhooks/show.js';

export const title = 'events.one';

// The way back to the log as it was filtered.
function back(filters) {
    return link([icon('back'), t('events.title')], address('/events', filters));
}

function headersText(headers) {
    return Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n');
}

// The names of the webhooks by their ids. One that was deleted has none.
async function readNames() {
    const {items} = await call('GET', '/v2/webhooks', {query: {limit: 100}});
    return new Map(items.map((one) => [one.id, nameOf(one)]));
}

// `names` of the webhooks are there if the event is for several.
function attempt(delivery, names) {
    return el('li', {class: 'attempt'},
        el('div', {class: 'attempt-head'},
            el('strong', {}, t('events.attempt', {number: String(delivery.attempt)})),
            names && el('span', {class: 'small muted foreign'},
                names.get(delivery.webhookId) ?? delivery.webhookId),
            answerOf(delivery.status, delivery.error),
            el('span', {class: 'muted'}, milliseconds(delivery.durationMs)),
            el('time', {class: 'muted', datetime: delivery.startedAt},
                dateTime(delivery.startedAt))),
        delivery.error && el('p', {}, explain(delivery.error)),
        delivery.error && !/^HTTP \d+$/.test(delivery.error) &&
            el('p', {class: 'mono small muted foreign'}, delivery.error),
        el('details', {},
            el('summary', {}, t('events.exchange')),
            el('div', {class: 'stack'},
                facts([[t('events.address'), delivery.address &&
                    el('code', {}, delivery.address)]]),
                el('h4', {}, t('events.headers')),
                codeBlock(headersText(delivery.headers), t('events.headers')),
                el('p', {class: 'hint'}, t('events.signature')),
                el('h4', {}, t('events.response')),
                delivery.responseHead
                    ? codeBlock(delivery.responseHead, t('events.response'))
                    : el('p', {class: 'muted'}, t('events.noResponse')))));
}

// Whom the event is about, with the way to the conversation.
function about({contact, body}) {
    const name = contact && el('bdi', {}, contactName(contact));
    const thread = body?.data?.threadId;
    return name && [thread ? link(name, address(`/inbox/${thread}`)) : name, ' ',
        el('span', {class: 'muted'}, identityOf(contact))];
}

function summary(event) {
    return card(null, {}, facts([
        [t('events.column.state'), stateBadge(event)],
        [t('events.column.about'), about(event)],
        [t('events.column.attempts'), String(event.attempts)],
        [t('events.column.created'), moment(event.createdAt, {isExact: true})],
        [t('events.finished'), event.finishedAt && moment(event.finishedAt, {isExact: true})],
        [t('events.column.next'), event.state === 'pending' && event.nextAttemptAt
            ? moment(event.nextAttemptAt) : null],
        [t('events.sequence'), String(event.sequence)],
        ['webhook-id', el('span', {class: 'row nowrap'},
            el('code', {}, event.id),
            copyButton(event.id, t('ui.copy'), {kind: 'quiet', isIconOnly: true})), 'wide'],
    ]));
}

// The delivery to each webhook; an event for one has its state in the summary.
function webhooksCard(event, names) {
    return event.webhooks.length > 0 && card(t('events.webhooks'), {},
        el('ul', {class: 'plain-list'}, event.webhooks.map((one) => el('li', {class: 'row'},
            link(names.get(one.webhookId) ?? one.webhookId, `#/webhooks/${one.webhookId}`,
                {class: 'foreign'}),
            stateBadge(one), answerOf(one.lastStatus, one.lastError)))));
}

function draw(place, event, names) {
    const isShared = event.webhooks.length > 1;
    fill(place, summary(event), webhooksCard(event, names),
        event.state === 'dead' && notice('bad', t('events.givenUp')),
        card(t('events.attempts'), {}, event.deliveries.length
            ? el('ol', {class: 'attempts'}, event.deliveries.toReversed()
                .map((delivery) => attempt(delivery, isShared ? names : null)))
            : empty(t('events.noAttempt'))),
        card(t('events.body'), {text: t('events.bodyText')},
            codeBlock(JSON.stringify(event.body, null, 2), t('events.body'))));
}

export function show(root, {id, ...filters}) {
    const path = `/v2/events/${encodeURIComponent(id)}`;
    const place = el('div', {class: 'stack'}, loading());
    const name = el('span', {}, t('events.one'));
    let last = '';
    let names = null;

    async function read() {
        const event = await call('GET', path);
        names ??= await readNames();
        const text = JSON.stringify(event);
        if (text === last)
            return; // an open <details> stays open
        last = text;
        name.textContent = event.type;
        setThing(`${event.type} ${event.id}`);
        again.lastChild.textContent =
            t(event.state === 'pending' ? 'events.replayNow' : 'events.replay');
        draw(place, event, names);
    }

    const poller = poll(async () => {
        try {
            await read();
        } catch (error) {
            if (!last)
                fill(place, errorBox(error));
            if (error.status === 404)
                poller.stop();
            throw error;
        }
    });
    const again = button(t('events.replay'), async () => {
        await replay(id);
        poller.now();
    }, {icon: 'refresh'});
    fill(root, heading(name, {above: back(filters), actions: [again]}), place);
    return poller.stop;
}
