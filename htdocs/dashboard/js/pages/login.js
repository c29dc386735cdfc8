// Login with email address and password, or with a link that works once.
import {el, fill} from '../dom.js';
import {publicCard} from '../frame.js';
import {number, t} from '../i18n.js';
import {codeField} from '../factor.js';
import {go, reopen} from '../router.js';
import {giveFactor, logIn, session} from '../session.js';
import {button, errorBox, field, form, loading, notice} from '../ui.js';

export const title = 'login.title';

// The second step: a code of the app, or one of the recovery codes.
function showFactor(root, isRecovery = false) {
    const one = isRecovery ? field({label: t('factor.recovery'), name: 'recoveryCode',
        required: true, autocomplete: 'off', hint: t('factor.recoveryHint')}) : codeField();
    fill(root, frame(el('p', {}, t('factor.ask')), form({
        fields: [one], submit: t('login.submit'),
        actions: [button(t(isRecovery ? 'factor.useApp' : 'factor.useRecovery'),
            () => showFactor(root, !isRecovery), {kind: 'quiet'})],
        async onSubmit() {
            try {
                await giveFactor({[one.input.name]: one.value});
            } catch (error) {
                if (error.details?.required === 'login')
                    return void showLogin(root, notice('warn', t('factor.ended')));
                one.input.value = '';
                one.input.focus();
                throw said(error, 'factor.wrong');
            }
        },
    }), button(t('factor.again'), reopen, {kind: 'quiet'})));
    one.input.focus();
}

function loginForm(root) {
    const email = field({
        label: t('login.email'), name: 'email', type: 'email', required: true,
        autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false',
    });
    const password = field({
        label: t('login.password'), name: 'password', type: 'password', required: true,
        autocomplete: 'current-password',
    });
    return form({
        fields: [email, password], submit: t('login.submit'),
        async onSubmit() {
            try {
                if (!await logIn({email: email.value, password: password.value}))
                    showFactor(root);
            } catch (error) {
                password.input.value = '';
                password.input.focus();
                throw said(error);
            }
        },
    });
}

function showLogin(root, box) {
    fill(root, frame(box, loginForm(root), el('p', {class: 'hint'}, t('login.first'), ' ',
        el('code', {}, 'switchboard user login-link EMAIL'))));
    root.querySelector('input').focus();
}

// What the API answers in the user's language.
function said(error, wrong = 'login.wrong') {
    if (error.status === 401)
        error.message = t(wrong);
    if (error.status === 429 && error.retryAfter)
        error.message = t('login.wait', {seconds: number(error.retryAfter)});
    return error;
}

const frame = (...children) => publicCard(t('login.heading'), reopen, ...children);

// A link that was opened and not used yet; it stays when the language changes.
let pending = null;

async function useLink(root) {
    const link = pending;
    pending = null;
    fill(root, frame(loading()));
    try {
        if (!await logIn({link}))
            showFactor(root);
    } catch (error) {
        const box = error.status === 401
            ? notice('bad', t('login.linkEnded'), el('p', {}, t('login.linkHint')))
            : errorBox(error);
        fill(root, frame(box, loginForm(root)));
    }
}

// A link logs in after a click: a page elsewhere, or a program that opens the links of a mail, does
// not use it up or change the user of this browser.
function showLink(root) {
    const present = session();
    fill(root, frame(
        el('p', {}, present
            ? t('login.linkReplaces', {email: present.member.email}) : t('login.linkReady')),
        el('div', {class: 'actions'},
            button(t('login.linkUse'), () => useLink(root), {kind: 'primary'}),
            present ? button(t('login.linkStay', {email: present.member.email}), () => {
                pending = null;
                go('/overview');
            }) : '')));
    root.querySelector('button').focus();
}

export function show(root, {link}) {
    if (link) {
        pending = link;
        history.replaceState(null, '', '#/login'); // it leaves the address and the history
    }
    if (pending)
        return void showLink(root);
    showLogin(root);
}
