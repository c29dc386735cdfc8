// Forms for passwords: the rules are the server's; this only saves a request that must fail.
import {call} from './api.js';
import {t} from './i18n.js';
import {button, dialog, field, form} from './ui.js';

export const SHORTEST = 12;
export const LONGEST_BYTES = 128;

// A field for the present password, which is shown when the server requires it.
export function presentPassword(name) {
    const one = field({
        label: t('password.present'), name, type: 'password', autocomplete: 'current-password',
    });
    one.root.hidden = true;
    return one;
}

// Shows the field if the server says that it is required; returns whether it does.
export function isRequired(error, one) {
    if (error.status !== 403 || error.details?.required !== one.input.name)
        return false;
    const wasShown = !one.root.hidden;
    one.root.hidden = false;
    one.setError(wasShown ? error.message : t('password.confirm'));
    one.input.focus();
    return true;
}

// Runs an action that needs a fresh login; asks for the password and runs it again when the server
// wants that. Returns what the action returns, or undefined when the user did not confirm.
export async function confirmed(action) {
    try {
        return await action();
    } catch (error) {
        if (error.status !== 403 || error.details?.required !== 'confirmation')
            throw error;
    }
    return await dialog(t('password.confirmTitle'), (close) => {
        const password = field({
            label: t('password.present'), name: 'password', type: 'password', required: true,
            autocomplete: 'current-password', hint: t('password.confirm'),
        });
        return [form({
            fields: [password], submit: t('password.confirmSubmit'),
            actions: [button(t('ui.cancel'), () => close())],
            async onSubmit() {
                const body = {password: password.value};
                await call('POST', '/v2/session/confirm', {body, keepsSession: true});
                close(await action());
            },
        })];
    });
}

// The form that sets a password: passwordForm(email, submit, onDone).
export function passwordForm(email, submit, onDone) {
    const current = presentPassword('current');
    const fresh = field({
        label: t('password.new'), name: 'password', type: 'password', required: true,
        minlength: SHORTEST, autocomplete: 'new-password',
        hint: t('password.rule', {count: SHORTEST}),
    });
    const again = field({
        label: t('password.again'), name: 'again', type: 'password', required: true,
        autocomplete: 'new-password',
    });
    // A password manager stores the password under this name.
    const name = field({
        label: t('login.email'), name: 'email', type: 'email', value: email, readonly: true,
        autocomplete: 'username',
    });

    async function submitPassword() {
        if (fresh.value !== again.value) {
            again.setError(t('password.differ'));
            again.input.focus();
            return;
        }
        const body = {password: fresh.value, current: current.value || undefined};
        try {
            await call('PUT', '/v2/password', {body});
        } catch (error) {
            if (!isRequired(error, current))
                throw error;
            return;
        }
        for (const one of [current, fresh, again])
            one.input.value = '';
        current.root.hidden = true;
        await onDone();
    }

    return form({fields: [name, current, fresh, again], submit, onSubmit: submitPassword});
}
