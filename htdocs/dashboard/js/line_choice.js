// The fields by which a form gives lines to a member or a token.
import {t} from './i18n.js';
import {lineLabel} from './lines.js';
import {session} from './session.js';
import {checks, field} from './ui.js';

// All lines, later ones too, or a choice; of a member who has some lines, some of these. `value` is
// what the API takes.
export function linesFields(lines, value) {
    const hasAll = !session().member.lineIds;
    const which = field({
        label: t('lineChoice.title'), name: 'which', type: 'select',
        value: value || !hasAll ? 'some' : 'all',
        options: [hasAll && ['all', t('lineChoice.all')], ['some', t('lineChoice.some')]]
            .filter(Boolean),
    });
    const some = checks({
        label: t('lineChoice.some'), name: 'lineIds', value: value ?? [],
        options: lines.filter(({id, archivedAt}) => !archivedAt || value?.includes(id))
            .map((line) => [line.id, lineLabel(line)]),
    });
    const show = () => { some.root.hidden = which.value === 'all'; };
    which.input.addEventListener('change', show);
    show();
    return {
        fields: [which, some],
        get value() {
            return which.value === 'all' ? null : some.value;
        },
        // An empty choice is no wish for all lines.
        check() {
            const isNone = this.value?.length === 0;
            some.setError(isNone ? t('lineChoice.none') : null);
            return !isNone;
        },
    };
}
