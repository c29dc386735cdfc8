// The dialog that adds a webhook or changes one.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {eventTypes} from '../event_types.js';
import {t} from '../i18n.js';
import {lineLabel} from '../lines.js';
import {button, checks, dialog, errorBox, field, form, loading} from '../ui.js';
import {UPDATES} from './show.js';

function same(one, other) {
    return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}

// `message.status` to the key of its explanation.
function meaningOf(type) {
    return t(`webhooks.type.${type.replace('.', '_')}`);
}

// The choice of event types. Their list is read while the rest of the form is there; until then,
// and when it cannot be read, the form changes nothing of them: `value` is undefined. It is null
// for the types that a webhook gets that selects none.
function typeChoice(webhook) {
    const root = el('div', {});
    let shown = null;
    let preset = [];

    async function read() {
        fill(root, loading());
        try {
            const {types, preset: chosen} = await eventTypes();
            preset = chosen;
            shown = checks({
                label: t('webhooks.types'), name: 'eventTypes',
                value: webhook?.eventTypes ?? preset,
                options: types.map((type) => [type, type, meaningOf(type)]),
            });
            fill(root, shown.root);
        } catch (error) {
            fill(root, el('p', {class: 'muted'}, t('webhooks.typesLater')), errorBox(error),
                button(t('ui.retry'), read));
        }
    }

    read();
    return {
        root,
        get input() {
            return shown?.input;
        },
        get value() {
            return shown && same(shown.value, preset) ? null : shown?.value;
        },
        setError: (text) => shown?.setError(text),
    };
}

// The fields of the form, by name. `webhook` is null for a new one.
function inputs(webhook, lines) {
    return {
        kind: field({
            label: t('webhooks.kindTitle'), name: 'kind', type: 'select',
            value: webhook?.kind ?? 'event', hint: t('webhooks.kindHint'),
            options: ['event', 'forward'].map((kind) => [kind, t(`webhooks.kind.${kind}`)]),
        }),
        name: field({
            label: t('webhooks.name'), name: 'name', value: webhook?.name, maxlength: 200,
            hint: t('webhooks.nameHint'), autocomplete: 'off',
        }),
        url: field({
            label: 'URL', name: 'url', type: 'url', value: webhook?.url, required: true,
            placeholder: 'https://example.org/hooks/switchboard', hint: t('webhooks.urlHint'),
            autocomplete: 'off',
        }),
        verifyToken: field({
            label: t('webhooks.verifyToken'), name: 'verifyToken', hint: t('webhooks.tokenHint'),
            autocomplete: 'off',
        }),
        eventTypes: typeChoice(webhook),
        fields: field({
            label: t('webhooks.fields'), name: 'fields', hint: t('webhooks.fieldsHint'),
            value: (webhook?.fields ?? ['messages']).join(', '), autocomplete: 'off',
        }),
        updates: checks({
            label: t('webhooks.updates'), name: 'updates', hint: t('webhooks.updatesHint'),
            value: webhook?.updates ?? UPDATES,
            options: UPDATES.map((one) => [one, t(`webhooks.update.${one}`)]),
        }),
        splitMessages: field({
            label: t('webhooks.split'), name: 'splitMessages', type: 'checkbox',
            value: webhook?.splitMessages, hint: t('webhooks.splitHint'),
        }),
        phoneNumberIds: checks({
            label: t('webhooks.lines'), name: 'phoneNumberIds', hint: t('webhooks.linesHint'),
            value: webhook?.phoneNumberIds ?? [],
            options: lines.map((line) => [line.phoneNumberId, lineLabel(line)]),
        }),
    };
}

function wordsOf(text) {
    return text.split(/[\s,]+/).filter(Boolean);
}

// What only webhooks of the kind event, or of the kind forward, have.
function ownValues(own, forward) {
    if (!forward)
        return {eventTypes: own.eventTypes.value};
    const names = wordsOf(own.fields.value);
    const updates = own.updates.value;
    return {
        fields: same(names, ['messages']) || !names.length ? null : names,
        updates: same(updates, UPDATES) || !updates.length ? null : updates,
        splitMessages: own.splitMessages.value,
        ...(own.verifyToken.value ? {verifyToken: own.verifyToken.value} : {}),
    };
}

function valuesOf(own, webhook) {
    const forward = own.kind.value === 'forward';
    const chosen = own.phoneNumberIds.value;
    return {
        ...(webhook ? {} : {kind: own.kind.value}),
        name: own.name.value.trim(), url: own.url.value.trim(),
        phoneNumberIds: chosen.length ? chosen : null,
        ...ownValues(own, forward),
    };
}

// Shows the fields of the kind.
function showKind(own) {
    const forward = own.kind.value === 'forward';
    own.eventTypes.root.hidden = forward;
    for (const one of [own.verifyToken, own.fields, own.updates, own.splitMessages])
        one.root.hidden = !forward;
}

// Opens the dialog; returns the webhook that the API answered, or undefined if it was dismissed.
export async function edit(webhook) {
    const {items: lines} = await call('GET', '/v2/lines', {query: {archived: 'all'}});
    const own = inputs(webhook, lines);
    own.kind.root.hidden = Boolean(webhook);
    own.kind.input.addEventListener('change', () => showKind(own));
    showKind(own);
    const title = t(webhook ? 'webhooks.change' : 'webhooks.add');
    const path = webhook ? `/v2/webhooks/${webhook.id}` : '/v2/webhooks';
    return dialog(title, (close) => form({
        fields: Object.values(own), submit: t('ui.save'),
        actions: [button(t('ui.cancel'), () => close())],
        async onSubmit() {
            close(await call(webhook ? 'PATCH' : 'POST', path, {body: valuesOf(own, webhook)}));
        },
    }), {kind: 'large'});
}
