// The set-up of the business accounts at the platform: each finding, with what to do about it.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {dateTime, t} from '../i18n.js';
import {
    badge, button, card, errorBox, field, heading, loading, moment, notice, table,
} from '../ui.js';

export const title = 'setup.title';

const KINDS = {ok: 'ok', warn: 'warn', fail: 'bad'};

// The text of a code in the user's language. The values of a row are words of the platform, except
// for the time.
function said(code, {time, ...values}) {
    return t(`setup.texts.${code}`, time ? {...values, time: dateTime(time)} : values);
}

const COLUMNS = () => [
    {
        label: t('setup.state'), kind: 'narrow',
        cell: ({status}) => badge(KINDS[status] ?? 'plain', t(`setup.${status}`)),
    },
    {label: t('setup.check'), cell: ({checkCode, values}) => said(checkCode, values)},
    {
        label: t('setup.finding'),
        cell: ({detailCode, todoCode, values}) => el('div', {},
            el('p', {class: 'foreign'}, said(detailCode, values)),
            todoCode && el('p', {class: 'foreign muted'},
                t('setup.todo'), ' ', said(todoCode, values))),
    },
];

function summary(rows) {
    const faults = rows.filter(({status}) => status === 'fail').length;
    const warnings = rows.filter(({status}) => status === 'warn').length;
    return faults ? notice('warn', t('setup.faults', {count: faults}))
        : warnings ? notice('warn', t('setup.warnings', {count: warnings}))
            : notice('ok', t('setup.complete'));
}

function chooser(accounts, onChange) {
    const select = field({
        label: t('setup.account'), name: 'account', type: 'select', value: accounts[0].id,
        options: accounts.map((one) => [one.id, one.displayName || one.wabaid]),
    });
    select.input.addEventListener('change', () => onChange(select.value));
    return select.root;
}

export async function show(root) {
    const place = el('div', {class: 'stack'}, loading());
    const over = new AbortController(); // a check that is not needed any more
    let chosen;
    let run = 0;

    // One request at a time counts: the last one.
    async function check() {
        const mine = ++run;
        fill(place, loading(), el('p', {class: 'muted'}, t('setup.wait')));
        try {
            const {rows, checkedAt} = await call('GET', '/v2/setup',
                {query: {accountId: chosen}, signal: over.signal});
            if (mine === run)
                fill(place, summary(rows), card(t('setup.findings'), {kind: 'flush'},
                    table({caption: t('setup.findings'), columns: COLUMNS(), items: rows})),
                el('p', {class: 'muted small'}, t('setup.checked'), ' ', moment(checkedAt)));
        } catch (error) {
            if (error.name !== 'AbortError' && mine === run)
                fill(place, errorBox(error));
        }
    }

    fill(root, heading(t('setup.title'), {
        text: t('setup.lead'), actions: [button(t('setup.again'), check, {icon: 'refresh'})],
    }), place);
    const {accounts} = await call('GET', '/v2/overview');
    chosen = accounts[0]?.id;
    if (accounts.length > 1)
        place.before(chooser(accounts, (id) => {
            chosen = id;
            check();
        }));
    check();
    return () => over.abort();
}
