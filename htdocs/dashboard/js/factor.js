// The card of the second factor: set-up, recovery codes, removal.
import {call} from './api.js';
import {el, fill} from './dom.js';
import {number, t} from './i18n.js';
import {confirmed} from './passwords.js';
import {findSession, session} from './session.js';
import {
    badge, button, card, confirm, copyButton, dialog, field, form, link, loaded, notice, showError,
    toast,
} from './ui.js';

// The field of a code, on phones with the keys of numbers.
export function codeField() {
    return field({
        label: t('factor.code'), name: 'code', required: true, inputmode: 'numeric',
        autocomplete: 'one-time-code', maxlength: 20, hint: t('factor.codeHint'),
    });
}

function showCodes(box, close, codes) {
    const text = codes.join('\n');
    fill(box, notice('warn', t('factor.codesOnce'), el('p', {}, t('factor.codesText'))),
        el('pre', {class: 'secret', tabindex: '0', 'aria-label': t('factor.codes')}, text),
        el('div', {class: 'form-actions'},
            copyButton(text, t('ui.copy'), {kind: 'primary'}),
            button(t('factor.stored'), () => close(true))));
}

function codesDialog(codes) {
    return dialog(t('factor.codes'), (close) => {
        const box = el('div', {class: 'stack'});
        showCodes(box, close, codes);
        return box;
    });
}

function setUp({secret, uri}, qrPicture) {
    const groups = secret.match(/.{1,4}/g).join(' ');
    return dialog(t('factor.add'), (close) => {
        const box = el('div', {class: 'stack'});
        const code = codeField();
        const picture = qrPicture(uri, t('factor.qr'));
        fill(box, el('p', {}, t(picture ? 'factor.scan' : 'factor.enter')), picture,
            el('div', {class: 'secret-row'},
                el('code', {class: 'secret', tabindex: '0', 'aria-label': t('factor.secret')},
                    groups), copyButton(secret)),
            el('p', {}, link(t('factor.open'), uri)),
            form({
                fields: [code], submit: t('factor.confirm'),
                actions: [button(t('ui.cancel'), () => close())],
                async onSubmit() {
                    const {recoveryCodes} = await call('POST', '/v2/factor/confirm',
                        {body: {code: code.value}});
                    showCodes(box, close, recoveryCodes);
                },
            }));
        return box;
    });
}

async function add() {
    const {qrPicture} = await import('./qr.js');
    const begun = await confirmed(() => call('POST', '/v2/factor', {body: {}}));
    if (begun)
        await setUp(begun, qrPicture);
}

async function renewCodes() {
    const made = await confirmed(() => call('POST', '/v2/factor/codes', {body: {}}));
    if (made)
        await codesDialog(made.recoveryCodes);
}

async function remove() {
    if (!await confirm(t('factor.remove'), t('factor.removeText'), t('factor.remove')))
        return;
    if (await confirmed(() => call('DELETE', '/v2/factor')))
        toast(t('factor.removed'));
}

// The rule of the workspace, for its owners.
export function factorRule() {
    const {isRequired} = session().factor;
    const box = field({
        label: t('factor.rule'), hint: t('factor.ruleText'), name: 'requiresFactor',
        type: 'checkbox', value: isRequired,
        on: {change: (event) => setRule(event.currentTarget)},
    });
    return card(t('factor.title'), {}, box.root);
}

async function setRule(box) {
    const body = {requiresFactor: box.checked};
    try {
        const set = await confirmed(() => call('PATCH', '/v2/workspace', {body}));
        if (set)
            toast(t(set.requiresFactor ? 'factor.ruleOn' : 'factor.ruleOff'));
        await findSession();
    } catch (error) {
        showError(error);
    }
    box.checked = session().factor.isRequired;
}

// The card; onChange() is called when the factor was set up or removed.
export function factorCard(onChange) {
    async function after(done) {
        await done;
        await findSession();
        await list.reload();
        await onChange();
    }
    const list = loaded(async () => {
        const {isSet, isRequired, recoveryCodes} = await call('GET', '/v2/factor');
        if (!isSet)
            return el('div', {class: 'stack'},
                isRequired && notice('warn', t('factor.required')),
                el('div', {class: 'form-actions'},
                    button(t('factor.add'), () => after(add()), {kind: 'primary'})));
        return el('div', {class: 'stack'},
            el('p', {class: 'row'}, badge('ok', t('factor.isSet')),
                el('span', {}, t('factor.left', {count: number(recoveryCodes)}))),
            el('div', {class: 'form-actions'},
                button(t('factor.renew'), () => after(renewCodes())),
                button(t('factor.remove'), () => after(remove()))));
    });
    list.reload();
    return card(t('factor.title'), {text: t('factor.text')}, list.root);
}
