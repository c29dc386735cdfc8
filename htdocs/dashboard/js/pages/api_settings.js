// The API token, and how to use it.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {parts, t} from '../i18n.js';
import {isRequired, presentPassword} from '../passwords.js';
import {may} from '../session.js';
import {
    button, card, codeBlock, copyButton, dialog, errorBox, facts, form, heading, linkButton,
    loading, moment, notice,
} from '../ui.js';

export const title = 'api.title';

function curlSample(line) {
    return `curl ${location.origin}/v2/messages/send/text \\
  -H 'Authorization: Bearer YOUR_TOKEN' \\
  -H 'Content-Type: application/json' \\
  -d '{"phoneNumberId":"${line ?? 'PHONE_NUMBER_ID'}","to":"15551234567","text":"Hello"}'`;
}

// Shows the new token. It is kept nowhere: it goes with the dialog.
function showToken(box, close, token) {
    fill(box,
        notice('warn', t('api.once'), el('p', {}, t('api.onceText'))),
        el('div', {class: 'secret-row'},
            el('code', {class: 'secret', tabindex: '0', 'aria-label': t('api.token')}, token),
            copyButton(token, t('ui.copy'), {kind: 'primary'})),
        el('div', {class: 'form-actions'}, button(t('api.stored'), () => close(true))));
    box.querySelector('.secret-row button').focus();
}

function regenerationForm(box, close) {
    const password = presentPassword('password');
    return form({
        fields: [password], submit: t('api.regenerate'), kind: 'danger',
        actions: [button(t('ui.cancel'), () => close())],
        async onSubmit() {
            try {
                const body = {password: password.value || undefined};
                const {token} = await call('POST', '/v2/token', {body});
                showToken(box, close, token);
            } catch (error) {
                if (!isRequired(error, password))
                    throw error;
            }
        },
    });
}

function regenerate() {
    return dialog(t('api.regenerateTitle'), (close) => {
        const box = el('div', {class: 'stack'});
        fill(box, el('p', {}, t('api.regenerateText')), regenerationForm(box, close));
        return box;
    });
}

function tokenCard(token, reload) {
    return card(t('api.token'), {
        text: t('api.tokenText'),
        actions: [may('owner') && button(t('api.regenerate'), async () => {
            await regenerate();
            await reload();
        }, {icon: 'refresh'})],
    }, facts([
        [t('api.ends'), token?.last4
            ? el('code', {}, `sb_…${token.last4}`) : t('api.endsUnknown')],
        [t('api.created'), moment(token?.createdAt)],
        [t('api.used'), token?.lastUsedAt ? moment(token.lastUsedAt) : t('ui.never')],
    ]));
}

function useCard(line) {
    return card(t('api.use'), {text: t('api.useText')},
        codeBlock(curlSample(line), t('api.sample')),
        el('p', {class: 'muted small'}, parts('api.headers', {
            bearer: el('code', {}, 'Authorization: Bearer …'),
            key: el('code', {}, 'X-API-Token: …'),
        })));
}

function referenceCard() {
    return card(t('api.reference'), {text: t('api.referenceText')}, el('div', {class: 'actions'},
        linkButton(t('api.docs'), '/v2/docs/', {icon: 'file', target: '_blank'}),
        linkButton('OpenAPI 3.1', '/v2/openapi.json', {icon: 'download', download: true}),
        linkButton('Postman', '/v2/docs/postman.json', {icon: 'download', download: true}),
        linkButton('llms.txt', '/v2/docs/llms.txt', {icon: 'file', target: '_blank'})));
}

export function show(root) {
    const place = el('div', {class: 'stack'}, loading());
    fill(root, heading(t('api.title'), {text: t('api.text')}), place);

    async function reload() {
        try {
            const {token, lines} = await call('GET', '/v2/overview');
            const line = (lines.find(({isPrimary}) => isPrimary) ?? lines[0])?.phoneNumberId;
            fill(place, tokenCard(token, reload), useCard(line), referenceCard());
        } catch (error) {
            fill(place, errorBox(error), tokenCard(null, reload), useCard(), referenceCard());
        }
    }
    reload();
}
