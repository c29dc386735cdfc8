// One webhook: what it gets, its code, its state, and a test.
import {call} from '../api.js';
import {answerOf, explain, stateBadge, wasTried} from '../delivery.js';
import {el, fill} from '../dom.js';
import {icon} from '../icons.js';
import {milliseconds, number, parts, t} from '../i18n.js';
import {poll} from '../live.js';
import {address, go} from '../router.js';
import {setThing} from '../title.js';
import {
    badge, breakable, button, card, codeBlock, confirm, copyButton, empty, errorBox, facts, heading,
    link, linkButton, loading, moment, notice, toast,
} from '../ui.js';
import {edit} from '../webhooks/editor.js';
import {
    contentOf, isForward, kindBadge, linesOf, nameOf, stateOf, updatesOf,
} from '../webhooks/show.js';

export const title = 'webhooks.one';

function back() {
    return link([icon('back'), t('webhooks.title')], '#/webhooks');
}

function logOf(webhook, query) {
    return address('/events', {webhookId: webhook.id, ...query});
}

// --- State ---------------------------------------------------------------------------------------

function suspension(webhook, resume) {
    return notice('bad', t('webhooks.suspended'),
        el('p', {}, parts('webhooks.suspendedText', {since: moment(webhook.suspendedAt)})),
        webhook.nextProbeAt && el('p', {}, parts('webhooks.nextProbe',
            {time: moment(webhook.nextProbeAt)})),
        button(t('webhooks.resume'), resume));
}

function stateNotice(webhook, resume) {
    if (webhook.state === 'suspended')
        return suspension(webhook, resume);
    return webhook.state === 'paused' && notice('info', t('webhooks.paused'),
        el('p', {}, parts('webhooks.pausedText', {since: moment(webhook.pausedAt)})),
        button(t('webhooks.resume'), resume));
}

function factsCard(webhook, lines) {
    return card(t('webhooks.settings'), {
        actions: [linkButton(t('webhooks.log'), logOf(webhook), {icon: 'events'})],
    }, facts([
        [t('webhooks.stateTitle'), stateOf(webhook)],
        ['URL', el('code', {class: 'foreign'}, webhook.url), 'wide'],
        [t('webhooks.kindTitle'), kindBadge(webhook)],
        [t(isForward(webhook) ? 'webhooks.fields' : 'webhooks.types'), contentOf(webhook)],
        [t('webhooks.lines'), linesOf(webhook, lines)],
        [t('webhooks.updates'), updatesOf(webhook)],
        [t('webhooks.split'), webhook.splitMessages && badge('plain', t('webhooks.splitOn'))],
        [t('webhooks.failing'), webhook.failingSince && moment(webhook.failingSince)],
        [t('webhooks.pending'), number(webhook.pendingEvents)],
        [t('webhooks.dead'), webhook.deadEvents
            ? link(number(webhook.deadEvents), logOf(webhook, {state: 'dead'})) : '0'],
        [t('webhooks.created'), moment(webhook.createdAt)],
        [t('webhooks.routes'), webhook.isFirst && el('code', {}, '/v2/webhooks/config'), 'wide'],
    ].map(([name, value, kind]) => [name, value || null, kind])));
}

// --- Code ----------------------------------------------------------------------------------------

// The code is only in the page while it is revealed.
function codeRow(code, generate) {
    const input = el('input', {
        class: 'mono', readonly: true, value: '•'.repeat(24), id: 'webhook-code',
    });
    const reveal = button(t('webhooks.reveal'), () => {
        const isHidden = input.value !== code;
        input.value = isHidden ? code : '•'.repeat(24);
        reveal.lastChild.textContent = t(isHidden ? 'webhooks.hide' : 'webhooks.reveal');
    }, {icon: 'eye'});
    return el('div', {class: 'field'}, el('label', {for: 'webhook-code'}, t('webhooks.code')),
        el('div', {class: 'field-row wrap'}, input, reveal, copyButton(code),
            button(t('webhooks.generate'), generate, {icon: 'refresh'})),
        el('p', {class: 'hint'}, t('webhooks.codeHint')));
}

// A random code, as the gateway makes one.
function randomCode() {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function codeCard(webhook, generate) {
    const broken = webhook.code === null && notice('bad', t('webhooks.codeBroken'));
    return card(t('webhooks.signature'), {}, broken, webhook.code
        ? codeRow(webhook.code, generate)
        : button(t('webhooks.generate'), generate, {icon: 'refresh'}));
}

// --- Test ----------------------------------------------------------------------------------------

// What became of the test event, until its first attempt has ended.
function result(event) {
    const delivery = event.deliveries.at(-1);
    return el('div', {class: 'stack'},
        facts([
            [t('events.column.state'), stateBadge(event)],
            [t('events.answer'), delivery && answerOf(delivery.status, delivery.error)],
            [t('events.duration'), delivery && milliseconds(delivery.durationMs)],
            [t('events.address'), delivery?.address && el('code', {}, delivery.address)],
        ]),
        delivery?.error && notice('bad', explain(delivery.error),
            el('p', {class: 'mono small'}, delivery.error)),
        delivery?.responseHead && codeBlock(delivery.responseHead, t('events.response')),
        link(t('webhooks.openEvent'), `#/events/${event.id}`));
}

function testCard(webhook, path, stops) {
    const place = el('div', {'aria-live': 'polite'});

    function follow(id) {
        const poller = poll(async () => {
            const event = await call('GET', `/v2/events/${id}`);
            if (wasTried(event)) {
                poller.stop();
                fill(place, result(event));
            }
        }, {fast: 700, slow: 3000});
        stops.push(poller.stop);
    }

    return card(t('webhooks.test'), {
        text: t(isForward(webhook) ? 'webhooks.testForward' : 'webhooks.testEvent'),
        actions: [button(t('webhooks.send'), async () => {
            const {eventId} = await call('POST', `${path}/test`, {body: {}});
            fill(place, el('p', {class: 'muted'}, t('webhooks.waiting')));
            follow(eventId);
        }, {icon: 'send'})],
    }, place);
}

// --- The page ------------------------------------------------------------------------------------

export function show(root, {id}) {
    const stops = [];
    const path = `/v2/webhooks/${encodeURIComponent(id)}`;
    let test = null; // it stays while the webhook is shown again, and so does the heading's focus
    const name = el('span', {class: 'foreign'}, t('webhooks.one'));
    const buttons = el('div', {class: 'actions'});
    const place = el('div', {class: 'stack'}, loading());
    fill(root, heading(name, {above: back(), actions: [buttons]}), place);

    async function save(body, message) {
        await call('PATCH', path, {body});
        toast(message);
        await reload();
    }

    async function change(webhook) {
        if (await edit(webhook)) {
            toast(t('webhooks.saved'));
            await reload();
        }
    }

    async function generate() {
        if (await confirm(t('webhooks.generateTitle'), t('webhooks.generateText'),
            t('webhooks.generate')))
            await save({code: randomCode()}, t('webhooks.generated'));
    }

    async function remove(webhook) {
        if (!await confirm(t('webhooks.deleteTitle', {name: nameOf(webhook)}),
            t('webhooks.deleteText'), t('webhooks.delete')))
            return;
        await call('DELETE', path);
        toast(t('webhooks.deleted'));
        go('/webhooks');
    }

    function actions(webhook) {
        return [
            button(t('webhooks.change'), () => change(webhook)),
            webhook.state !== 'paused' && webhook.state !== 'unset' &&
                button(t('webhooks.pause'), () => save({paused: true}, t('webhooks.pausedNow'))),
            button(t('webhooks.delete'), () => remove(webhook)),
        ].filter(Boolean);
    }

    async function reload() {
        try {
            const [webhook, {items: lines}] = await Promise.all([
                call('GET', path), call('GET', '/v2/lines', {query: {archived: 'all'}})]);
            test ??= testCard(webhook, path, stops);
            fill(name, breakable(nameOf(webhook)));
            setThing(nameOf(webhook));
            fill(buttons, actions(webhook));
            fill(place, stateNotice(webhook, () => save({paused: false}, t('webhooks.resumed'))),
                factsCard(webhook, lines), codeCard(webhook, generate),
                webhook.state !== 'unset' && webhook.state !== 'paused' && test);
        } catch (error) {
            fill(buttons);
            fill(place, error.status === 404
                ? empty(t('webhooks.gone'), null, linkButton(t('webhooks.title'), '#/webhooks'))
                : [errorBox(error), el('div', {class: 'more'}, button(t('ui.retry'), reload))]);
        }
    }

    reload();
    return () => stops.forEach((stop) => stop());
}
