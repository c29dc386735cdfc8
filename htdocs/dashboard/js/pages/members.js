// The members of the workspace, their roles, and the invitations that were not accepted.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {saveWorkspace} from '../download.js';
import {t} from '../i18n.js';
import {confirmed} from '../passwords.js';
import {factorRule} from '../factor.js';
import {linesFields} from '../line_choice.js';
import {lineNames} from '../lines.js';
import {retentionCard} from '../retention.js';
import {may, session} from '../session.js';
import {
    badge, button, card, confirm, copyButton, dialog, field, form, heading, loaded, moment,
    notice, showError, table, toast,
} from '../ui.js';

export const title = 'members.title';

const ROLES = ['viewer', 'agent', 'admin', 'owner']; // each may do what those before it may

const rank = (role) => ROLES.indexOf(role);
const nameOf = (role) => t(`members.role.${role}`);
const ownRole = () => session().member.role;
const mayChange = (role) => may('team') && rank(role) <= rank(ownRole());
const rolesToGive = () => ROLES.slice(0, rank(ownRole()) + 1);
const seesAllThreads = (role) => rank(role) > rank('agent');
const pathOfMember = (one) => `/v2/members/${encodeURIComponent(one.id)}`;

// Shows a link that no other answer contains.
function linkBox(path, text) {
    const link = `${location.origin}${path}`;
    return [
        notice('warn', t('members.once'), el('p', {}, text)),
        el('div', {class: 'secret-row'},
            el('code', {class: 'secret', tabindex: '0', 'aria-label': t('members.link')}, link),
            copyButton(link, t('ui.copy'), {kind: 'primary'})),
    ];
}

function roleOptions() {
    return rolesToGive().map((role) => [role, nameOf(role)]);
}

// Changes the role at once; what the server refuses is shown, and the former role is back.
function roleChoice(one, reload) {
    return el('select', {
        value: one.role, 'aria-label': t('members.roleOf', {name: one.name}),
        on: {
            async change(event) {
                const role = event.currentTarget.value;
                const body = {role, ...(seesAllThreads(role) && {ownThreadsOnly: false})};
                try {
                    if (await confirmed(() => call('PATCH', pathOfMember(one), {body})))
                        toast(t('members.changed', {name: one.name, role: nameOf(role)}));
                } catch (error) {
                    showError(error);
                }
                await reload();
            },
        },
    }, roleOptions().map(([value, text]) => el('option', {value}, text)));
}

const readLines = async () =>
    (await call('GET', '/v2/lines', {query: {archived: 'all'}})).items;

// A member with lines that the own login has not shows none.
function linesOf({lineIds, ownThreadsOnly}, lines) {
    const shown = lineIds === undefined ? '–'
        : lineIds ? el('span', {class: 'foreign'}, lineNames(lines, lineIds, 'id'))
        : t('lineChoice.all');
    return [shown, ownThreadsOnly && [' · ', t('members.ownThreads')]];
}

// The choice of own threads alone, which follows a role: an admin and an owner see all.
function ownField(role, value) {
    const own = field({
        label: t('members.ownThreads'), name: 'ownThreadsOnly', type: 'checkbox', value,
        hint: t('members.ownThreadsHint'),
    });
    const follow = (given) => {
        own.root.hidden = seesAllThreads(given);
        own.input.checked &&= !own.root.hidden;
    };
    follow(role);
    return {...own, follow, get value() { return own.value; }};
}

function changeLines(one, all) {
    return dialog(t('members.linesOf', {name: one.name}), (close) => {
        const lines = linesFields(all, one.lineIds);
        const own = ownField(one.role, one.ownThreadsOnly);
        return [form({
            fields: [...lines.fields, own], submit: t('ui.save'),
            actions: [button(t('ui.cancel'), () => close())],
            async onSubmit() {
                const body = {lineIds: lines.value, ownThreadsOnly: own.value};
                if (!lines.check())
                    return;
                if (await confirmed(() => call('PATCH', pathOfMember(one), {body})))
                    close(true);
            },
        })];
    });
}

async function makeLink(one) {
    const made = await confirmed(() => call('POST', `${pathOfMember(one)}/link`));
    if (made)
        await dialog(t('members.loginLink'),
            () => linkBox(made.path, t('members.loginLinkText', {name: one.name})));
}

async function remove(one, reload) {
    const text = t(one.isSelf ? 'members.leaveText' : 'members.removeText', {name: one.name});
    if (!await confirm(t('members.remove'), text, t('members.remove')))
        return;
    if (await confirmed(() => call('DELETE', pathOfMember(one)))) {
        toast(t('members.removed', {name: one.name}));
        await reload();
    }
}

async function removeFactor(one, reload) {
    const title = t('members.factorRemove');
    if (!await confirm(title, t('members.factorText', {name: one.name}), title))
        return;
    if (await confirmed(() => call('DELETE', `${pathOfMember(one)}/factor`))) {
        toast(t('members.factorRemoved', {name: one.name}));
        await reload();
    }
}

// Links and second factors are reset only for a lower role. An owner has all lines.
function actionsOf(one, reload, lines) {
    return mayChange(one.role) && el('div', {class: 'row end'},
        one.hasFactor && may('owner') && rank(one.role) < rank('owner')
            && button(t('members.factorRemove'), () => removeFactor(one, reload), {kind: 'quiet'}),
        rank(one.role) < rank('owner') && one.lineIds !== undefined
            && button(t('members.changeLines'), async () => {
                if (await changeLines(one, lines)) {
                    toast(t('members.linesChanged', {name: one.name}));
                    await reload();
                }
            }, {kind: 'quiet'}),
        rank(one.role) < rank(ownRole())
            && button(t('members.loginLink'), () => makeLink(one), {kind: 'quiet'}),
        button(t('members.remove'), () => remove(one, reload)));
}

const MEMBER_COLUMNS = (reload, lines) => [
    {
        label: t('members.name'),
        cell: (one) => el('span', {class: 'row'}, el('span', {class: 'foreign'}, one.name),
            one.isSelf && badge('ok', t('members.self')),
            one.hasFactor && badge('ok', t('factor.title'))),
    },
    {
        label: t('members.email'), kind: 'narrow',
        cell: (one) => (one.email ? el('span', {class: 'foreign'}, one.email) : '–'),
    },
    {
        label: t('members.roleTitle'),
        cell: (one) => (mayChange(one.role) && !one.isSelf ? roleChoice(one, reload)
            : nameOf(one.role)),
    },
    may('team') && {
        label: t('lineChoice.title'), kind: 'wide', cell: (one) => linesOf(one, lines),
    },
    {label: t('members.since'), kind: 'narrow', cell: (one) => moment(one.createdAt)},
    {
        label: el('span', {class: 'off-screen'}, t('members.action')), kind: 'number',
        cell: (one) => actionsOf(one, reload, lines),
    },
].filter(Boolean);

const INVITATION_COLUMNS = (reload, lines) => [
    {
        label: t('members.email'),
        cell: (one) => el('span', {class: 'foreign'}, one.email),
    },
    {label: t('members.roleTitle'), cell: (one) => nameOf(one.role)},
    {label: t('lineChoice.title'), kind: 'wide', cell: (one) => linesOf(one, lines)},
    {
        label: t('members.invitedBy'), kind: 'narrow',
        cell: (one) => el('span', {class: 'foreign'}, one.createdBy),
    },
    {label: t('members.until'), kind: 'narrow', cell: (one) => moment(one.expiresAt)},
    {
        label: el('span', {class: 'off-screen'}, t('members.action')), kind: 'number',
        cell: (one) => button(t('members.revoke'), async () => {
            await call('DELETE', `/v2/invitations/${encodeURIComponent(one.id)}`);
            toast(t('members.revoked', {email: one.email}));
            await reload();
        }),
    },
];

function invitationForm(box, close, all) {
    const email = field({
        label: t('members.email'), name: 'email', type: 'email', required: true,
        autocomplete: 'off',
    });
    const role = field({
        label: t('members.roleTitle'), name: 'role', type: 'select', value: 'agent',
        options: roleOptions(), hint: t('members.roleHint'),
    });
    const lines = linesFields(all, null);
    const own = ownField(role.value, false);
    role.input.addEventListener('change', () => own.follow(role.value));
    return form({
        fields: [email, role, ...lines.fields, own], submit: t('members.invite'),
        actions: [button(t('ui.cancel'), () => close())],
        async onSubmit() {
            const body = {email: email.value.trim(), role: role.value, lineIds: lines.value,
                ownThreadsOnly: own.value};
            if (!lines.check())
                return;
            const made = await confirmed(() => call('POST', '/v2/invitations', {body}));
            if (made)
                fill(box, linkBox(made.path, t('members.inviteText', {email: made.email})));
        },
    });
}

function invite(lines) {
    return dialog(t('members.inviteTitle'), (close) => {
        const box = el('div', {class: 'stack'});
        fill(box, invitationForm(box, close, lines));
        return box;
    });
}

function memberCard(items, reload, lines) {
    return card(t('members.title'), {kind: 'flush'},
        table({caption: t('members.title'), columns: MEMBER_COLUMNS(reload, lines), items}));
}

function invitationCard(items, reload, lines) {
    return card(t('members.invitations'), {
        kind: items.length > 0 ? 'flush' : '', text: t('members.invitationsText'),
        actions: [button(t('members.invite'), async () => {
            await invite(lines);
            await reload();
        }, {kind: 'primary', icon: 'plus'})],
    }, items.length > 0
        ? table({caption: t('members.invitations'), columns: INVITATION_COLUMNS(reload, lines),
            items})
        : el('p', {class: 'muted'}, t('members.noInvitation')));
}

function exportCard() {
    const save = () => confirmed(() => saveWorkspace(session().user.id));
    return card(t('members.export'), {text: t('members.exportText')},
        button(t('members.exportSave'), save, {icon: 'download'}));
}

export function show(root) {
    const lists = loaded(async () => {
        const [members, invitations, lines, retention] = await Promise.all([
            call('GET', '/v2/members'),
            may('team') && call('GET', '/v2/invitations'),
            may('team') && readLines(),
            may('manage') && call('GET', '/v2/retention'),
        ]);
        return [memberCard(members.items, lists.reload, lines),
            invitations && invitationCard(invitations.items, lists.reload, lines),
            retention && retentionCard(retention),
            ...(may('owner') ? [factorRule(), exportCard()] : [])];
    });
    fill(root, heading(t('members.title'), {text: t('members.text')}), lists.root);
    lists.reload();
}
