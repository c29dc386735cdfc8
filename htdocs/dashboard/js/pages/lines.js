// The phone lines: name, state, primary line, archive.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {mayManage} from '../team.js';
import {badge, button, card, confirm, dialog, empty, facts, field, form, heading, loading, moment,
    toast} from '../ui.js';

export const title = 'lines.title';

function rename(line, save) {
    return dialog(t('lines.rename'), (close) => {
        const name = field({label: t('lines.name'), name: 'name', value: line.name ?? '',
            maxlength: 100, hint: t('lines.nameHint')});
        return form({
            fields: [name], submit: t('ui.save'),
            async onSubmit() {
                await save({name: name.value.trim()});
                close();
            },
            actions: [button(t('ui.cancel'), () => close())],
        });
    });
}

export function lineBadges(line) {
    return el('span', {class: 'row'},
        line.archivedAt ? badge('plain', t('lines.archived'))
            : line.isRegistered ? badge('ok', t('lines.registered'))
                : badge('bad', t('lines.unregistered')),
        line.isPrimary && badge('info', t('lines.primary')),
        line.isCoexisting && badge('plain', t('lines.coexisting')));
}

export async function show(root) {
    const box = el('div', {class: 'stack'}, loading());
    fill(root, heading(t('lines.title'), {text: t('lines.lead')}), box);
    const {accounts} = await call('GET', '/v2/overview');
    const names = new Map(accounts.map((one) => [one.id, one.displayName ?? one.wabaid]));

    async function save(line, change, message) {
        await call('PATCH', `/v2/lines/${line.id}`, {body: change});
        toast(message);
        await load(line.id);
    }

    async function archive(line) {
        if (await confirm(t('lines.archiveTitle', {name: line.name ?? line.phoneNumber}),
            t('lines.archiveAsk'), t('lines.archive')))
            await save(line, {isArchived: true}, t('lines.archivedNow'));
    }

    function actions(line) {
        if (!mayManage())
            return [];
        if (line.archivedAt)
            return [button(t('lines.bringBack'), () =>
                save(line, {isArchived: false}, t('lines.back')))];
        return [
            button(t('lines.rename'), () => rename(line, (change) =>
                save(line, change, t('lines.renamed')))),
            !line.isPrimary && button(t('lines.makePrimary'), () =>
                save(line, {isPrimary: true}, t('lines.primaryNow')), {icon: 'star'}),
            button(t('lines.archive'), () => archive(line), {icon: 'archive'}),
        ].filter(Boolean);
    }

    function lineCard(line) {
        const node = card(line.name ?? line.phoneNumber,
            {actions: actions(line), kind: 'line-card'},
            lineBadges(line),
            facts([
                [t('lines.number'), line.phoneNumber],
                [t('lines.account'), names.get(line.accountId)],
                [t('lines.platformType'), line.platformType],
                [t('lines.phoneNumberId'), el('code', {}, line.phoneNumberId)],
                [t('lines.created'), moment(line.createdAt)],
                [t('lines.archivedAt'), line.archivedAt && moment(line.archivedAt)],
            ]));
        node.dataset.line = line.id;
        return node;
    }

    // After an action the focus stays in the card of its line.
    async function load(focused) {
        const {items} = await call('GET', '/v2/lines', {query: {archived: 'all'}});
        const used = items.filter(({archivedAt}) => !archivedAt);
        const archived = items.filter(({archivedAt}) => archivedAt);
        fill(box,
            used.length ? used.map(lineCard)
                : empty(t('lines.none'),
                    t(archived.length ? 'lines.allArchived' : 'lines.noneText')),
            archived.length > 0 && el('h2', {}, t('lines.archivedTitle')), archived.map(lineCard));
        if (focused)
            box.querySelector(`[data-line="${CSS.escape(focused)}"] button`)?.focus();
    }

    await load();
}
