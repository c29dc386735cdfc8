// Login with email address and password, or with a link that works once.
import {el, fill} from '../dom.js';
import {languageChoice} from '../frame.js';
import {number, t} from '../i18n.js';
import {reopen} from '../router.js';
import {logIn} from '../session.js';
import {errorBox, field, form, loading, notice} from '../ui.js';

export const title = 'login.title';

function loginForm() {
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
                await logIn({email: email.value, password: password.value});
            } catch (error) {
                password.input.value = '';
                password.input.focus();
                throw said(error);
            }
        },
    });
}

// What the API answers in the user's language.
function said(error) {
    if (error.status === 401)
        error.message = t('login.wrong');
    if (error.status === 429 && error.retryAfter)
        error.message = t('login.wait', {seconds: number(error.retryAfter)});
    return error;
}

function frame(...children) {
    return [
        el('header', {class: 'login-head'},
            el('img', {src: 'icon.svg', alt: '', width: 40, height: 40}),
            el('h1', {tabindex: '-1'}, t('login.heading'))),
        el('div', {class: 'card'}, el('div', {class: 'card-body'}, children)),
        el('div', {class: 'login-foot'}, languageChoice(reopen)),
    ];
}

// The link is removed from the address and the history before it is used.
async function useLink(root, link) {
    history.replaceState(null, '', '#/login');
    fill(root, frame(loading()));
    try {
        await logIn({link});
    } catch (error) {
        const box = error.status === 401
            ? notice('bad', t('login.linkEnded'), el('p', {}, t('login.linkHint')))
            : errorBox(error);
        fill(root, frame(box, loginForm()));
    }
}

export function show(root, {link}) {
    if (link)
        return void useLink(root, link);
    fill(root, frame(loginForm(), el('p', {class: 'hint'}, t('login.first'), ' ',
        el('code', {}, 'switchboard user login-link EMAIL'))));
    root.querySelector('input').focus();
}
