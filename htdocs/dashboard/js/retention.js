// How long the workspace keeps messages and raw updates.
import {call} from './api.js';
import {t} from './i18n.js';
import {card, confirm, field, form, toast} from './ui.js';

const LEAST = 8; // days: the platform repeats what it has sent for a week

const MEMBERS = ['messageDays', 'rawDays'];

function daysField(name, days) {
    return field({
        label: t(`retention.${name}`), hint: t(`retention.${name}Hint`), name, type: 'number',
        min: LEAST, value: days ?? '',
    });
}

// null: for ever.
const daysOf = ({value}) => (value === '' ? null : Number(value));

// Whether something is deleted that was kept before.
function isShorter(days, before) {
    return days !== null && (before === null || days < before);
}

// The card: retentionCard(the answer of GET /v2/retention).
export function retentionCard(present) {
    const fields = MEMBERS.map((name) => daysField(name, present[name]));
    return card(t('retention.title'), {text: t('retention.text')}, form({
        fields, submit: t('ui.save'),
        async onSubmit() {
            const wanted = Object.fromEntries(MEMBERS.map((name, i) => [name, daysOf(fields[i])]));
            if (MEMBERS.some((name) => isShorter(wanted[name], present[name])) &&
                !await confirm(t('retention.askTitle'), t('retention.ask'), t('ui.save')))
                return;
            present = await call('PATCH', '/v2/retention', {body: wanted});
            toast(t('retention.saved'));
        },
    }));
}
