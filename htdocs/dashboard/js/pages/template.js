// One template: its preview, its state, and a test send.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {newKey} from '../inbox/outbox.js';
import {variables} from '../templates/definition.js';
import {variableFields} from '../templates/fields.js';
import {refusalOf} from '../templates/picker.js';
import {templatesOf} from '../templates/store.js';
import {setThing} from '../title.js';
import {card, codeBlock, empty, facts, field, form, heading, link, loading, notice} from '../ui.js';
import {qualityBadge, statusBadge, word} from './templates.js';

export const title = 'templates.one';

const BSUID = /^[A-Z]{2}\.([A-Za-z0-9]+|ENT\.[A-Za-z0-9]+)$/;

// A phone in any spelling, or a business-scoped user id; null if it is neither.
export function recipientFrom(text) {
    const value = text.trim();
    if (BSUID.test(value))
        return {recipient: value};
    return /^[+\d][\d\s().-]{4,}$/.test(value) ? {to: value} : null;
}

function sendForm(template, accountId, lines, own) {
    const line = field({label: t('templates.line'), name: 'phoneNumberId', type: 'select',
        options: lines.map((one) => [one.phoneNumberId,
            [one.name, one.phoneNumber].filter(Boolean).join(' · ')]),
        value: lines.find(({isPrimary}) => isPrimary)?.phoneNumberId ?? lines[0].phoneNumberId});
    const to = field({label: t('templates.to'), name: 'to', required: true, autocomplete: 'off',
        hint: t('templates.toHint')});
    const done = el('div', {role: 'status'});
    let attempt = {key: newKey(), body: ''}; // the key belongs to one body

    async function send() {
        const recipient = recipientFrom(to.value);
        const refusal = !recipient ? t('templates.toWrong')
            : refusalOf(template, {hasPhone: Boolean(recipient.to)});
        if (refusal) {
            to.setError(refusal);
            to.input.focus();
            return;
        }
        const components = await own.values(line.value);
        const body = {phoneNumberId: line.value, ...recipient, language: template.language,
            ...(components.length ? {components} : {})};
        if (attempt.body !== JSON.stringify(body))
            attempt = {key: newKey(), body: JSON.stringify(body)};
        const answer = await call('POST',
            `/v2/templates/${encodeURIComponent(template.name)}/test-send`,
            {body, key: attempt.key});
        attempt = {key: newKey(), body: ''};
        fill(done, notice('ok', t('templates.sent'), el('p', {class: 'small'},
            el('code', {}, answer.messages[0].id)), link(t('templates.seeInbox'), '#/inbox')));
    }

    return [form({fields: [line, to, ...own.fields], submit: t('templates.send'), onSubmit: send}),
        done];
}

function test(template, accountId, lines, own) {
    const refusal = template.status !== 'APPROVED' ? t('templates.notApproved')
        : !lines.length ? t('templates.noLine') : refusalOf(template, {hasPhone: true});
    return refusal ? notice('info', refusal) : sendForm(template, accountId, lines, own);
}

export async function show(root, {name, accountId, language}) {
    const box = el('div', {}, loading());
    setThing(name);
    fill(root, heading(name, {above: link(t('templates.title'), '#/templates')}), box);
    const [all, {items}] = await Promise.all([templatesOf({accountId}),
        call('GET', '/v2/lines')]);
    const template = all.find((one) => one.name === name &&
        (!language || one.language === language));
    if (!template) {
        fill(box, empty(t('templates.gone'), t('templates.goneText')));
        return;
    }
    const own = variableFields(template);
    const lines = items.filter((line) => !accountId || line.accountId === accountId);
    fill(box,
        el('div', {class: 'template-page'},
            el('div', {class: 'stack'},
                card(t('templates.test'), {text: t('templates.testText')},
                    test(template, accountId, lines, own))),
            el('div', {class: 'stack'},
                card(t('templates.preview'), {}, own.preview),
                card(t('templates.about'), {}, facts([
                    [t('templates.statusName'), statusBadge(template)],
                    [t('templates.reason'), template.rejected_reason !== 'NONE' &&
                        template.rejected_reason || null],
                    [t('templates.quality.name'), qualityBadge(template)],
                    [t('templates.categoryName'), word('category', template.category)],
                    [t('templates.language'), template.language],
                    [t('templates.variables'), String(variables(template).length)],
                    [t('templates.id'), el('code', {}, template.id)],
                ]), el('details', {}, el('summary', {}, t('templates.definition')),
                    codeBlock(JSON.stringify(template.sent, null, 2),
                        t('templates.definition')))))));
}
