// The user's sessions and password.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {factorCard} from '../factor.js';
import {passwordForm} from '../passwords.js';
import {findSession, session} from '../session.js';
import {
    badge, button, card, confirm, heading, loaded, moment, table, toast,
} from '../ui.js';

export const title = 'sessions.title';

const BROWSERS = [[/Edg\//, 'Edge'], [/OPR\//, 'Opera'], [/Firefox\//, 'Firefox'],
    [/Chrome\//, 'Chrome'], [/Safari\//, 'Safari'], [/curl\//, 'curl']];
const SYSTEMS = [[/iPhone|iPad/, 'iOS'], [/Android/, 'Android'], [/Windows/, 'Windows'],
    [/Mac OS/, 'macOS'], [/Linux/, 'Linux']];

// The names that a user recognises; the whole text is the title.
function browserOf(agent) {
    const names = [BROWSERS, SYSTEMS]
        .map((list) => list.find(([pattern]) => pattern.test(agent))?.[1]).filter(Boolean);
    return el('span', {title: agent}, names.join(' · ') || agent || t('sessions.unknown'));
}

const COLUMNS = (reload) => [
    {
        label: t('sessions.browser'),
        cell: (one) => el('span', {class: 'row'}, browserOf(one.agent),
            one.isCurrent && badge('ok', t('sessions.current'))),
    },
    {label: t('sessions.address'), cell: (one) => el('code', {}, one.address)},
    {label: t('sessions.created'), kind: 'narrow', cell: (one) => moment(one.createdAt)},
    {label: t('sessions.seen'), kind: 'narrow', cell: (one) => moment(one.lastSeenAt)},
    {
        label: el('span', {class: 'off-screen'}, t('sessions.action')), kind: 'number',
        cell: (one) => !one.isCurrent && button(t('sessions.end'), async () => {
            await call('DELETE', `/v2/sessions/${encodeURIComponent(one.id)}`);
            toast(t('sessions.ended', {count: 1}));
            await reload();
        }),
    },
];

export function show(root) {
    const list = loaded(async () => {
        const {items} = await call('GET', '/v2/sessions');
        return table({caption: t('sessions.list'), columns: COLUMNS(list.reload), items});
    });

    async function endOthers() {
        if (!await confirm(t('sessions.endAll'), t('sessions.endAllText'), t('sessions.endAll')))
            return;
        const {ended} = await call('DELETE', '/v2/sessions');
        toast(t('sessions.ended', {count: ended}));
        await list.reload();
    }

    fill(root, heading(t('sessions.title'), {text: session().member.email}),
        card(t('sessions.list'), {
            kind: 'flush', text: t('sessions.text'),
            actions: [button(t('sessions.endAll'), endOthers)],
        }, list.root),
        factorCard(list.reload),
        card(t('password.title'), {text: t('password.text')},
            passwordForm(session().member.email, t('password.submit'), async () => {
                await findSession();
                toast(t('password.done'));
                await list.reload();
            })));
    list.reload();
}
