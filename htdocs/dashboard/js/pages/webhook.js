// Where events go: URL, code, state, and a test.
import {call} from '../api.js';
import {answerOf, explain, stateBadge, wasTried} from '../delivery.js';
import {el, fill} from '../dom.js';
import {milliseconds, parts, t} from '../i18n.js';
import {poll} from '../live.js';
import {
    badge, button, card, codeBlock, confirm, copyButton, errorBox, facts, field, form, heading,
    link, linkButton, loading, moment, notice, toast,
} from '../ui.js';

export const title = 'webhook.title';

const EVENT_TYPES = ['message.received', 'message.status', 'lead.created'];

function setConfig(webhookUrl, webhookCode) {
    return call('POST', '/v2/webhooks/config', {body: {webhookUrl, webhookCode}});
}

// --- URL and code --------------------------------------------------------------------------------

// The code is only in the page while it is revealed.
function codeRow(code, reload) {
    const input = el('input', {
        class: 'mono', readonly: true, value: '•'.repeat(24), id: 'webhook-code',
    });
    const reveal = button(t('webhook.reveal'), () => {
        const isHidden = input.value !== code;
        input.value = isHidden ? code : '•'.repeat(24);
        reveal.lastChild.textContent = t(isHidden ? 'webhook.hide' : 'webhook.reveal');
    }, {icon: 'eye'});
    return el('div', {class: 'field'}, el('label', {for: 'webhook-code'}, t('webhook.code')),
        el('div', {class: 'field-row wrap'}, input, reveal, copyButton(code),
            button(t('webhook.generate'), () => generate(reload), {icon: 'refresh'})),
        el('p', {class: 'hint'}, t('webhook.codeHint')));
}

async function generate(reload) {
    if (!await confirm(t('webhook.generateTitle'), t('webhook.generateText'),
        t('webhook.generate')))
        return;
    await call('POST', '/v2/webhooks/generate-code', {body: {}});
    toast(t('webhook.generated'));
    await reload();
}

async function clear(reload) {
    if (!await confirm(t('webhook.clearTitle'), t('webhook.clearText'), t('webhook.clear')))
        return;
    await call('DELETE', '/v2/webhooks/config');
    await reload();
}

function configCard(config, reload) {
    const url = field({
        label: 'URL', name: 'webhookUrl', type: 'url', value: config.webhookUrl, required: true,
        placeholder: 'https://example.org/hooks/switchboard', hint: t('webhook.urlHint'),
        autocomplete: 'off',
    });
    const actions = config.webhookUrl
        ? [button(t('webhook.clear'), () => clear(reload), {kind: 'quiet'})] : [];
    return card(t('webhook.endpoint'), {}, form({
        fields: [url], submit: t('ui.save'), actions,
        async onSubmit() {
            let code = config.webhookCode;
            if (!code)
                code = (await call('POST', '/v2/webhooks/generate-code', {body: {}})).webhookCode;
            await setConfig(url.value, code);
            toast(t('webhook.saved'));
            await reload();
        },
    }), config.webhookCode && codeRow(config.webhookCode, reload));
}

// --- State ---------------------------------------------------------------------------------------

function suspension(webhook, config, reload) {
    return notice('bad', t('webhook.suspended'),
        el('p', {}, parts('webhook.suspendedText', {since: moment(webhook.suspendedAt)})),
        webhook.nextProbeAt && el('p', {}, parts('webhook.nextProbe',
            {time: moment(webhook.nextProbeAt)})),
        button(t('webhook.resume'), async () => {
            await setConfig(config.webhookUrl, config.webhookCode);
            toast(t('webhook.resumed'));
            await reload();
        }));
}

function stateOf(webhook) {
    if (webhook.suspendedAt)
        return badge('bad', t('webhook.state.suspended'));
    if (webhook.failingSince)
        return badge('warn', t('webhook.state.failing'));
    return badge('ok', t('webhook.state.healthy'));
}

function healthCard(overview) {
    const {webhook, courier} = overview;
    return card(t('webhook.health'), {
        actions: [linkButton(t('webhook.log'), '#/events', {icon: 'events'})],
    },
    !courier.isRunning && notice('warn', t('webhook.noCourier')),
    facts([
        [t('webhook.stateTitle'), stateOf(webhook)],
        [t('webhook.failing'), webhook.failingSince && moment(webhook.failingSince)],
        [t('webhook.pending'), String(webhook.pending)],
        [t('webhook.oldest'), webhook.oldestPendingAt && moment(webhook.oldestPendingAt)],
        [t('webhook.dead'), webhook.dead
            ? link(String(webhook.dead), '#/events?state=dead') : '0'],
    ]));
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
        link(t('webhook.openEvent'), `#/events/${event.id}`));
}

function testCard(stops) {
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

    return card(t('webhook.test'), {
        text: t('webhook.testText'),
        actions: [button(t('webhook.send'), async () => {
            const {eventId} = await call('POST', '/v2/webhooks/test', {body: {}});
            fill(place, el('p', {class: 'muted'}, t('webhook.waiting')));
            follow(eventId);
        }, {icon: 'send'})],
    }, place);
}

// --- Types ---------------------------------------------------------------------------------------

function typesCard() {
    return card(t('webhook.types'), {text: t('webhook.typesText')},
        el('dl', {class: 'types'}, EVENT_TYPES.map((type) => el('div', {},
            el('dt', {}, el('code', {}, type)),
            el('dd', {class: 'muted'}, t(`webhook.type.${type.replace('.', '_')}`))))));
}

export function show(root) {
    const stops = [];
    const place = el('div', {class: 'stack'}, loading());
    const test = testCard(stops);
    fill(root, heading(t('webhook.title'), {text: t('webhook.text')}), place);

    async function reload() {
        try {
            const config = await call('GET', '/v2/webhooks/config');
            fill(place, configCard(config, reload));
            if (config.webhookUrl)
                await showState(config);
            place.append(typesCard());
        } catch (error) {
            fill(place, errorBox(error),
                el('div', {class: 'more'}, button(t('ui.retry'), reload)));
        }
    }

    async function showState(config) {
        const overview = await call('GET', '/v2/overview');
        if (overview.webhook.suspendedAt)
            place.prepend(suspension(overview.webhook, config, reload));
        place.append(healthCard(overview), test);
    }

    reload();
    return () => stops.forEach((stop) => stop());
}
