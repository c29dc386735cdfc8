// A new form, or a draft with the Flow JSON of another one: its name, its category, its account.
import {call} from '../api.js';
import {fill} from '../dom.js';
import {t} from '../i18n.js';
import {address, go} from '../router.js';
import {card, field, form, heading, link, loading} from '../ui.js';

export const title = 'forms.new';

const CATEGORIES = ['OTHER', 'SIGN_UP', 'SIGN_IN', 'APPOINTMENT_BOOKING', 'LEAD_GENERATION',
    'CONTACT_US', 'CUSTOMER_SUPPORT', 'SURVEY'];

function accountField(accounts, value) {
    return field({label: t('forms.account'), name: 'account', type: 'select',
        value: value ?? accounts[0]?.id, options: accounts.map((one) =>
            [one.id, one.displayName ?? one.wabaid])});
}

export async function show(root, {from, name: copied, accountId}) {
    const label = from ? t('forms.copy') : t('forms.new');
    const above = link(t('forms.title'), '#/forms');
    fill(root, heading(label, {above}), loading());
    const {accounts} = await call('GET', '/v2/overview');
    const account = accountField(accounts, accountId);
    const name = field({label: t('forms.name'), name: 'name', required: true, maxlength: 200,
        value: copied ? t('forms.copyOf', {name: copied}) : '', autocomplete: 'off'});
    const category = field({label: t('forms.category'), name: 'categories', type: 'select',
        options: CATEGORIES.map((one) => [one, t(`forms.categories.${one}`)]), value: 'OTHER'});

    async function create() {
        const query = {accountId: account.value};
        const {id} = await call('POST', '/v2/forms', {query, body: {name: name.value.trim(),
            categories: [category.value], ...from && {clone_flow_id: from}}});
        go(`/forms/${encodeURIComponent(id)}`, query);
    }

    const fields = [name, category, ...from || accounts.length < 2 ? [] : [account]];
    fill(root, heading(label, {above}), card(label,
        {text: from ? t('forms.copyText', {name: copied}) : t('forms.newText')},
        form({fields, submit: t('forms.create'), onSubmit: create,
            actions: [link(t('ui.cancel'), address('/forms'))]})));
}
