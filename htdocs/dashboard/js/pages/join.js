// An invitation: a new member sets name and password, a person who has a login here accepts it.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {publicCard} from '../frame.js';
import {t} from '../i18n.js';
import {SHORTEST} from '../passwords.js';
import {go, reopen} from '../router.js';
import {join, session} from '../session.js';
import {button, errorBox, field, form, notice} from '../ui.js';

export const title = 'join.title';

// An invitation that was opened and not used yet; it stays when the language changes, and for a
// login on the way.
let pending = null;

function ended(error) {
    if (error.status === 401 || error.status === 404)
        error.message = t('join.ended');
    if (error.status === 409)
        error.message = t('join.known');
    if (error.status === 403)
        error.message = t('join.other');
    return error;
}

function newMember() {
    const name = field({label: t('join.name'), name: 'name', required: true, autocomplete: 'name'});
    const password = field({
        label: t('password.new'), name: 'password', type: 'password', required: true,
        minlength: SHORTEST, autocomplete: 'new-password',
        hint: t('password.rule', {count: SHORTEST}),
    });
    return form({
        fields: [name, password], submit: t('join.submit'),
        async onSubmit() {
            try {
                await join({invitation: pending, name: name.value, password: password.value});
                pending = null;
            } catch (error) {
                throw ended(error);
            }
        },
    });
}

async function accept(root) {
    try {
        await call('POST', '/v2/invitations/accept', {body: {invitation: pending}});
        pending = null;
        location.replace('#/overview');
        location.reload(); // all that the page holds is of the former workspace
    } catch (error) {
        fill(root, frame(errorBox(ended(error))));
    }
}

const frame = (...children) => publicCard(t('join.heading'), reopen, ...children);

export function show(root, {invitation}) {
    if (invitation) {
        pending = invitation;
        history.replaceState(null, '', '#/join'); // it leaves the address and the history
    }
    if (!pending) {
        fill(root, frame(notice('warn', t('join.ended'))));
        return;
    }
    const present = session();
    fill(root, frame(...present
        ? [el('p', {}, t('join.accept', {email: present.member.email})),
            el('div', {class: 'actions'},
                button(t('join.submit'), () => accept(root), {kind: 'primary'}),
                button(t('join.later'), () => go('/overview')))]
        : [newMember(), el('p', {class: 'hint'}, t('join.hasLogin'), ' ',
            button(t('login.submit'), () => go('/login')))]));
    root.querySelector('input, button').focus();
}
