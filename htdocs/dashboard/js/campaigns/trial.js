// The message of a campaign to one person, before it goes to all.
import {attempts} from '../attempts.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {recipientFrom} from '../recipient.js';
import {dialog, field, form, link, notice} from '../ui.js';

// The columns that the message names, each once.
function columnsOf({components}) {
    const found = JSON.stringify(components).matchAll(/\{\{(.*?)\}\}/g);
    return [...new Set([...found].map(([, name]) => JSON.parse(`"${name.trim()}"`)))];
}

// The values are those of the first recipient; while there is none, they are asked for.
function valueFields(campaign) {
    const hasRecipients = Object.values(campaign.counts).some((count) => count > 0);
    return hasRecipients ? [] : columnsOf(campaign).map((column) =>
        [column, field({label: column, name: `variables.${column}`, required: true,
            autocomplete: 'off'})]);
}

// Asks for a number and sends the test; what the platform answers is shown in the dialog.
export function sendTest(campaign) {
    const path = `/v2/campaigns/${encodeURIComponent(campaign.id)}/test`;
    const to = field({label: t('templates.to'), name: 'to', required: true, autocomplete: 'off',
        hint: t('templates.toHint')});
    const own = valueFields(campaign), post = attempts();
    const done = el('div', {role: 'status'});

    async function send() {
        const recipient = recipientFrom(to.value);
        fill(done);
        if (!recipient) {
            to.setError(t('templates.toWrong'));
            to.input.focus();
            return;
        }
        const variables = Object.fromEntries(own.map(([column, {value}]) => [column, value]));
        const body = {...recipient, ...(own.length ? {variables} : {})};
        const answer = await post(path, body);
        fill(done, notice('ok', t('templates.sent'), el('p', {class: 'small'},
            el('code', {}, answer.messages[0].id)), link(t('templates.seeInbox'), '#/inbox')));
    }

    return dialog(t('templates.test'), () => [
        el('p', {}, t(own.length ? 'templates.testText' : 'campaigns.testText')),
        form({fields: [to, ...own.map(([, one]) => one)], submit: t('templates.send'),
            onSubmit: send}), done]);
}
