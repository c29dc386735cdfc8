// The overview: plan, lines, the last hour, the webhooks' health, warnings.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {clock, date, number, relative, t} from '../i18n.js';
import {icon} from '../icons.js';
import {poll} from '../live.js';
import {badge, card, heading, link, linkButton, loading, moment, notice} from '../ui.js';
import {countText} from '../notices.js';
import {nameOf, stateOf} from '../webhooks/show.js';
import {lineBadges} from './lines.js';

export const title = 'overview.title';

const SOON = 14 * 86400000; // a plan that ends within this time is mentioned

function planNotice({plan}) {
    if (!plan.isActive)
        return notice('bad', t('overview.planEnded', {date: plan.endsAt ? date(plan.endsAt) : ''}),
            el('p', {}, t('overview.planEndedText')));
    return plan.endsAt && new Date(plan.endsAt) - Date.now() < SOON
        ? notice('warn', t('overview.planEnds', {date: date(plan.endsAt)})) : null;
}

// Another webhook than the first, by its name.
function otherNotice(webhook) {
    const name = el('p', {class: 'foreign'}, webhook.name || webhook.id);
    const open = linkButton(t('overview.openWebhook'), `#/webhooks/${webhook.id}`);
    return webhook.state === 'suspended' ? notice('bad', t('overview.suspended'), name, open)
        : notice('warn', t('overview.failing'), name, el('p', {}, t('overview.failingSince'), ' ',
            moment(webhook.failingSince), '.'), open);
}

function webhookNotice({webhook, webhooks}) {
    if (webhook.suspendedAt)
        return notice('bad', t('overview.suspended'), el('p', {}, t('overview.suspendedSince'), ' ',
            moment(webhook.suspendedAt), '. ', webhook.nextProbeAt && [t('overview.nextProbe'), ' ',
                moment(webhook.nextProbeAt), '.']),
        linkButton(t('overview.openWebhook'), '#/webhooks'));
    if (webhook.failingSince)
        return notice('warn', t('overview.failing'), el('p', {}, t('overview.failingSince'), ' ',
            moment(webhook.failingSince), '.'),
        linkButton(t('overview.openLog'), '#/events?failed=true'));
    const other = webhooks.find(({state}) => state === 'suspended') ??
        webhooks.find(({failingSince}) => failingSince);
    return other ? otherNotice(other) : null;
}

function courierNotice({courier}) {
    return courier.isRunning ? null : notice('bad', t('overview.courierDown'),
        el('p', {}, t('overview.courierDownText'), ' ', courier.beatAt && [
            t('overview.courierBeat'), ' ', moment(courier.beatAt), '.']));
}

function silenceNotice({warnings}) {
    return warnings.some(({code}) => code === 'PLATFORM_SILENT')
        ? notice('bad', t('overview.silent'), el('p', {}, t('overview.silentText')),
            linkButton(t('overview.openSetup'), '#/setup')) : null;
}

function figure(label, value, kind, href) {
    const content = [el('span', {class: 'figure-value'},
        typeof value === 'number' ? number(value) : value),
        el('span', {class: 'figure-label'}, label)];
    return el('li', {class: `figure ${kind}`}, href ? el('a', {href}, content)
        : el('div', {}, content));
}

// What there is to do now. The label of those that wait says since when.
function work({inbox}) {
    return el('section', {'aria-labelledby': 'work'},
        el('h2', {id: 'work', class: 'section-title'}, t('overview.work')),
        el('ul', {class: 'figures'},
            figure(inbox.waitingSince
                ? t('overview.waitingSince', {time: relative(inbox.waitingSince)})
                : t('overview.waiting'), countText(inbox.waiting), '', '#/inbox?waiting=true'),
            figure(t('overview.unread'), countText(inbox.unread), '', '#/inbox?unread=true'),
            figure(t('overview.failedThreads'), countText(inbox.failed),
                inbox.failed ? 'bad' : '', '#/inbox?failed=true')));
}

function lastHour({lastHour: hour, webhook}) {
    return el('section', {'aria-labelledby': 'hour'},
        el('h2', {id: 'hour', class: 'section-title'},
            t('overview.since', {time: clock(hour.since)})),
        el('ul', {class: 'figures'},
            figure(t('overview.in'), hour.in, '', '#/inbox'),
            figure(t('overview.out'), hour.out, '', '#/usage'),
            figure(t('overview.failed'), hour.failed, hour.failed ? 'bad' : '',
                '#/inbox?failed=true'),
            figure(t('overview.pending'), webhook.pending, '', '#/events?state=pending')));
}

const MOST_WEBHOOKS = 5; // of the card

function webhookList(webhooks) {
    return el('ul', {class: 'plain-list'}, webhooks.slice(0, MOST_WEBHOOKS).map((one) =>
        el('li', {class: 'row'}, link(nameOf(one), `#/webhooks/${one.id}`, {class: 'foreign'}),
            stateOf(one))));
}

function webhookCard({webhook, webhooks}) {
    const state = !webhook.isConfigured ? badge('plain', t('overview.notSet'))
        : webhook.suspendedAt ? badge('bad', t('overview.isSuspended'))
            : webhook.failingSince ? badge('warn', t('overview.isFailing'))
                : badge('ok', t('overview.isDelivering'));
    const first = [el('div', {class: 'row'}, state), webhook.isConfigured
        ? el('p', {}, el('code', {class: 'foreign-line'}, webhook.url))
        : el('p', {class: 'muted'}, t('overview.noWebhook'))];
    return card(t('overview.webhook'), {actions: [link(t('overview.settings'), '#/webhooks')]},
        webhooks.length > 1 ? webhookList(webhooks) : first,
        webhook.dead > 0 && el('p', {}, link(t('overview.dead', {count: webhook.dead}),
            '#/events?state=dead')),
        webhook.pending > 0 && webhook.oldestPendingAt && el('p', {class: 'muted small'},
            t('overview.oldest'), ' ', moment(webhook.oldestPendingAt)));
}

function linesCard({lines}) {
    return card(t('overview.lines'), {actions: [link(t('overview.manage'), '#/lines')]},
        lines.length ? el('ul', {class: 'line-list'}, lines.map((line) => el('li', {},
            el('a', {href: `#/inbox?line=${line.id}`, class: 'line-name'}, icon('lines'),
                el('span', {class: 'cut'}, el('bdi', {}, line.name ?? line.phoneNumber), ' ',
                    line.name && el('span', {class: 'muted'}, line.phoneNumber))),
            lineBadges(line))))
            : el('p', {class: 'muted'}, t('overview.noLines')));
}

function planCard({plan, token, user}) {
    return card(t('overview.account'), {actions: [link(t('overview.apiSettings'), '#/api')]},
        el('dl', {class: 'pairs'},
            el('div', {}, el('dt', {}, t('overview.user')), el('dd', {}, user.email)),
            el('div', {}, el('dt', {}, t('overview.plan')), el('dd', {}, el('span', {class: 'row'},
                plan.name ?? t('overview.noPlan'),
                plan.isActive ? badge('ok', t('overview.active'))
                    : badge('bad', t('overview.ended'))))),
            el('div', {}, el('dt', {}, t('overview.ends')), el('dd', {},
                plan.endsAt ? date(plan.endsAt) : t('overview.noEnd'))),
            token && el('div', {}, el('dt', {}, t('overview.token')), el('dd', {},
                token.last4 ? el('code', {}, `…${token.last4}`) : '–', ' ',
                el('span', {class: 'muted small'}, token.lastUsedAt
                    ? [t('overview.used'), ' ', moment(token.lastUsedAt)]
                    : t('overview.unused'))))));
}

// Warnings that the page shows in its own words, and in the user's language.
const SHOWN = new Set(['PLAN_ENDED', 'PLAN_ENDS_SOON', 'NO_LINE', 'PLATFORM_SILENT',
    'WEBHOOK_UNSET', 'WEBHOOK_SUSPENDED', 'WEBHOOK_FAILING', 'EVENTS_DEAD', 'COURIER_STOPPED']);

function warningsCard({warnings: all}) {
    const warnings = all.filter(({code}) => !SHOWN.has(code));
    return warnings.length > 0 && card(t('overview.warnings'), {text: t('overview.warningsText')},
        el('ul', {class: 'plain-list'}, warnings.map(({message}) => el('li', {class: 'row-top'},
            icon('alert'), el('span', {class: 'foreign'}, message)))));
}

export async function show(root) {
    const box = el('div', {class: 'stack'}, loading());
    let before = '';

    async function read() {
        const answer = await call('GET', '/v2/overview');
        const text = JSON.stringify({...answer, courier: answer.courier?.isRunning});
        if (text === before)
            return;
        before = text;
        fill(box, planNotice(answer), courierNotice(answer), silenceNotice(answer),
            webhookNotice(answer),
            work(answer), lastHour(answer),
            el('div', {class: 'overview-grid'}, linesCard(answer), webhookCard(answer),
                planCard(answer), warningsCard(answer)));
    }

    fill(root, heading(t('overview.title')), box);
    await read();
    const live = poll(read, {fast: 10000, slow: 30000, later: true});
    return () => live.stop();
}
