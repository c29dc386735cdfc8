// How a webhook is shown: its name, kind, state, and what it gets, in words.
import {el} from '../dom.js';
import {eventTypes} from '../event_types.js';
import {t} from '../i18n.js';
import {lineNames} from '../lines.js';
import {badge} from '../ui.js';

// What a webhook of the kind forward can select.
export const UPDATES = ['messages', 'statuses', 'echoes'];

export function nameOf(webhook) {
    return webhook.name || webhook.url || (webhook.url === '' ? t('webhooks.unnamed') : webhook.id);
}

export function isForward(webhook) {
    return webhook.kind === 'forward';
}

export function kindBadge(webhook) {
    return badge('plain', t(`webhooks.kind.${webhook.kind}`));
}

const KINDS = {active: 'ok', paused: 'plain', suspended: 'bad', unset: 'plain'};

// An active webhook whose last attempt failed is shown as such.
export function stateOf(webhook) {
    if (webhook.state === 'active' && webhook.failingSince)
        return badge('warn', t('webhooks.state.failing'));
    return badge(KINDS[webhook.state] ?? 'plain', t(`webhooks.state.${webhook.state}`));
}

// The types of a webhook that selects none: named when their list is there.
function presetOf() {
    const node = el('span', {}, t('webhooks.preset'));
    eventTypes().then(({preset}) => { node.textContent = preset.join(', '); }, () => {});
    return node;
}

// Event types of the kind event, fields of the kind forward; a text or a node.
export function contentOf(webhook) {
    if (!isForward(webhook))
        return webhook.eventTypes?.join(', ') ?? presetOf();
    return webhook.fields?.includes('*') ? t('webhooks.allFields')
        : (webhook.fields ?? ['messages']).join(', ');
}

// The updates that it selects, if not all.
export function updatesOf(webhook) {
    return webhook.updates?.map((one) => t(`webhooks.update.${one}`)).join(', ');
}

// The lines by name, where the list of lines has them.
export function linesOf(webhook, lines) {
    if (!webhook.phoneNumberIds)
        return t(webhook.accountId ? 'webhooks.accountLines' : 'webhooks.allLines');
    return lineNames(lines, webhook.phoneNumberIds, 'phoneNumberId');
}
