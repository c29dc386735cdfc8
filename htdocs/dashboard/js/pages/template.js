// One template: its preview, its state, and a test send.
import {call} from '../api.js';
import {attempts} from '../attempts.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {lineLabel} from '../lines.js';
import {recipientFrom} from '../recipient.js';
import {address, go} from '../router.js';
import {may} from '../session.js';
import {mayManage} from '../team.js';
import {exampleLines, variables} from '../templates/definition.js';
import {isEditable} from '../templates/draft.js';
import {variableFields} from '../templates/fields.js';
import {refusalOf} from '../templates/picker.js';
import {preview} from '../templates/preview.js';
import {forgetTemplates, templatesOf} from '../templates/store.js';
import {setThing} from '../title.js';
import {button, card, codeBlock, confirm, empty, facts, field, form, heading, link, linkButton,
    loading, notice, toast} from '../ui.js';
import {qualityBadge, reasonOf, statusBadge, word} from './templates.js';

export const title = 'templates.one';

function sendForm(template, accountId, lines, own) {
    const line = field({label: t('templates.line'), name: 'phoneNumberId', type: 'select',
        options: lines.map((one) => [one.phoneNumberId, lineLabel(one)]),
        value: lines.find(({isPrimary}) => isPrimary)?.phoneNumberId ?? lines[0].phoneNumberId});
    const to = field({label: t('templates.to'), name: 'to', required: true, autocomplete: 'off',
        hint: t('templates.toHint')});
    const done = el('div', {role: 'status'});
    const post = attempts();

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
        const answer = await post(
            `/v2/templates/${encodeURIComponent(template.name)}/test-send`, body);
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

// --- What an owner or admin does with it ---------------------------------------------------------

const EDITABLE = ['APPROVED', 'REJECTED', 'PAUSED'];

function editorAddress(name, accountId, query) {
    return address(`/templates/${encodeURIComponent(name)}/edit`, {accountId, ...query});
}

function actionsOf({name, language, status, ...rest}, accountId, reload) {
    const path = `/v2/templates/${encodeURIComponent(name)}`;
    const query = {accountId, language};
    const hasFields = isEditable({name, language, ...rest});

    async function remove() {
        if (!await confirm(t('templates.delete'), t('templates.deleteText', {name, language}),
            t('templates.delete')))
            return;
        await call('DELETE', path, {query});
        forgetTemplates();
        toast(t('templates.deleted'));
        go('/templates', {accountId});
    }

    async function unpause() {
        await call('POST', `${path}/unpause`, {query});
        forgetTemplates();
        toast(t('templates.unpaused'));
        await reload();
    }

    return !mayManage() ? [] : [
        hasFields && EDITABLE.includes(status) && linkButton(t('templates.edit'),
            editorAddress(name, accountId, {language}), {kind: 'primary'}),
        hasFields && linkButton(t('templates.duplicate'),
            editorAddress('-', accountId, {language, from: name}), {icon: 'copy'}),
        hasFields && linkButton(t('templates.addLanguage'),
            editorAddress('-', accountId, {language, from: name, as: 'language'}), {icon: 'plus'}),
        status === 'PAUSED' && button(t('templates.unpause'), unpause),
        status !== 'DISABLED' && button(t('templates.delete'), remove, {kind: 'danger'}),
    ].filter(Boolean);
}

// The other languages of the name, side by side.
function languages(list, accountId) {
    return list.length > 0 && card(t('templates.languages'), {}, el('div', {class: 'side-by-side'},
        list.map((one) => el('div', {class: 'stack'},
            el('p', {}, link(one.language, address(`/templates/${encodeURIComponent(one.name)}`,
                {accountId, language: one.language})), ' ', statusBadge(one)),
            reasonOf(one) && el('p', {class: 'small muted'}, reasonOf(one)),
            preview(exampleLines(one))))));
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
    fill(root, heading(name, {above: link(t('templates.title'), '#/templates'),
        actions: actionsOf(template, accountId, () => show(root, {name, accountId, language}))}),
    box);
    const own = variableFields(template);
    const lines = items.filter((line) => !accountId || line.accountId === accountId);
    fill(box,
        el('div', {class: 'template-page'},
            el('div', {class: 'stack'},
                may('send') && card(t('templates.test'), {text: t('templates.testText')},
                    test(template, accountId, lines, own))),
            el('div', {class: 'stack'},
                card(t('templates.preview'), {}, own.preview),
                card(t('templates.about'), {}, facts([
                    [t('templates.statusName'), statusBadge(template)],
                    [t('templates.reason'), reasonOf(template)],
                    [t('templates.quality.name'), qualityBadge(template)],
                    [t('templates.categoryName'), word('category', template.category)],
                    [t('templates.language'), template.language],
                    [t('templates.variables'), String(variables(template).length)],
                    [t('templates.id'), el('code', {}, template.id)],
                ]), el('details', {}, el('summary', {}, t('templates.definition')),
                    codeBlock(JSON.stringify(template.sent, null, 2),
                        t('templates.definition')))))),
        languages(all.filter((one) => one.name === name && one !== template), accountId));
}
