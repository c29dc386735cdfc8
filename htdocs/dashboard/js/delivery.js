// How deliveries of events are shown: states, and the reasons of failures in words.
import {call} from './api.js';
import {el} from './dom.js';
import {t} from './i18n.js';
import {badge, toast} from './ui.js';

export const STATES = ['pending', 'done', 'dead', 'cancelled'];
// Beside those that a webhook selects: a test, and a POST of the platform that is forwarded.
export const OTHER_TYPES = ['ping', 'platform.webhook'];

const KINDS = {done: 'ok', dead: 'bad', cancelled: 'plain', pending: 'info', suspended: 'bad',
    paused: 'plain'};

// A pending event whose last attempt failed is shown as such.
export function stateBadge(event) {
    if (event.state === 'pending' && event.lastError)
        return badge('warn', t('events.state.retrying'));
    return badge(KINDS[event.state] ?? 'plain', t(`events.state.${event.state}`));
}

const REASONS = [
    [/^blocked_address/, 'blocked'],
    [/no whole answer/, 'slow'],
    [/no connection within|timed out/i, 'unreachable'],
    [/certificate|SSL|TLS/i, 'tls'],
    [/resolve/i, 'dns'],
    [/refused|connect/i, 'refused'],
    [/redirects/, 'redirect'],
    [/wants no more|^HTTP 410/, 'gone'],
    [/^HTTP 40[13]/, 'unauthorized'],
    [/^HTTP 404/, 'notFound'],
    [/^HTTP 429/, 'busy'],
    [/^HTTP 4/, 'client'],
    [/^HTTP 5/, 'server'],
];

// What a failure means and what to do; the courier's own text follows it on the page.
export function explain(error) {
    if (!error)
        return null;
    const found = REASONS.find(([pattern]) => pattern.test(error));
    return t(`events.why.${found ? found[1] : 'other'}`);
}

// The answer of an attempt: HTTP status, or what happened instead.
export function answerOf(status, error) {
    if (status)
        return el('code', {class: status < 300 ? 'good' : 'poor'}, `HTTP ${status}`);
    return error ? el('span', {class: 'poor'}, t('events.noAnswer')) : '–';
}

// Delivers an event again, and says what the answer says: delivered, which can have happened before
// the answer was made, or waiting for its webhooks, each of which is paused or suspended.
export async function replay(id) {
    const event = await call('POST', `/v2/events/${encodeURIComponent(id)}/replay`, {body: {}});
    const waits = event.webhooks.some(({state}) => state === 'paused' || state === 'suspended');
    const goes = event.webhooks.some(({state}) => state === 'pending' || state === 'done');
    toast(waits && !goes ? t('events.resumes') : t('events.replayed', {count: 1}));
}

// Whether the first attempt has ended; `event` is that of GET /v2/events/:id.
export function wasTried(event) {
    return event.state !== 'pending' || event.deliveries.length > 0;
}
