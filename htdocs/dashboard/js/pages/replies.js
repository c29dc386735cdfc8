// The canned replies of the workspace: a list, and dialogs that add and change one.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {newKey} from '../inbox/outbox.js';
import {cannedReplies, forgetReplies, mayChange} from '../replies.js';
import {mayAnswer} from '../team.js';
import {
    button, card, confirm, dialog, empty, field, form, heading, loaded, moment, table,
} from '../ui.js';

export const title = 'replies.title';

// Resolves to true when it was saved. save(body, key).
function edit(heading, reply, save) {
    return dialog(heading, (close) => {
        let sent = null; // the text of what was sent last
        let key;
        const shortcut = field({label: t('replies.shortcut'), name: 'shortcut', required: true,
            value: reply?.shortcut, autocomplete: 'off', hint: t('replies.shortcutHint')});
        const text = field({label: t('replies.text'), name: 'text', type: 'textarea', rows: 6,
            required: true, value: reply?.text, hint: t('replies.textHint')});
        return form({fields: [shortcut, text], submit: t('ui.save'),
            actions: [button(t('ui.cancel'), () => close())],
            async onSubmit() {
                const body = {shortcut: shortcut.value.trim().replace(/^\//, ''),
                    text: text.value.trim()};
                if (JSON.stringify(body) !== sent) // a repetition adds no second one
                    key = newKey();
                sent = JSON.stringify(body);
                await save(body, key);
                forgetReplies();
                close(true);
            }});
    });
}

function add() {
    return edit(t('replies.add'), null,
        (body, key) => call('POST', '/v2/replies', {body, key}));
}

function change(reply) {
    return edit(t('replies.change'), reply,
        (body) => call('PATCH', `/v2/replies/${encodeURIComponent(reply.id)}`, {body}));
}

async function remove(reply) {
    if (!await confirm(t('replies.delete'), t('replies.deleteAsk', {shortcut: reply.shortcut}),
        t('replies.delete')))
        return false;
    await call('DELETE', `/v2/replies/${encodeURIComponent(reply.id)}`);
    forgetReplies();
    return true;
}

const COLUMNS = (after) => [
    {label: t('replies.shortcut'), cell: ({shortcut}) => el('bdi', {}, `/${shortcut}`)},
    {label: t('replies.text'), kind: 'wide', cell: ({text}) => el('p', {class: 'foreign'}, text)},
    {
        label: t('replies.by'), kind: 'narrow',
        cell: ({by}) => el('span', {class: 'foreign'}, by?.name ?? t('inbox.from.api')),
    },
    {label: t('replies.updated'), kind: 'narrow', cell: ({updatedAt}) => moment(updatedAt)},
    {
        label: el('span', {class: 'off-screen'}, t('replies.action')), kind: 'number',
        cell: (reply) => mayAnswer() && mayChange(reply) && el('div', {class: 'row end'},
            button(t('replies.change'), () => after(change(reply)), {kind: 'quiet'}),
            button(t('replies.delete'), () => after(remove(reply)))),
    },
];

export function show(root) {
    async function after(done) {
        if (await done)
            await list.reload();
    }
    const list = loaded(async () => {
        const items = await cannedReplies();
        return items.length > 0
            ? table({caption: t('replies.title'), columns: COLUMNS(after), items})
            : empty(t('replies.none'), t('replies.noneText'));
    });
    fill(root, heading(t('replies.title'), {
        text: t('replies.intro'),
        actions: [mayAnswer() && button(t('replies.add'), () => after(add()),
            {kind: 'primary', icon: 'plus'})],
    }), card(t('replies.title'), {kind: 'flush'}, list.root));
    forgetReplies();
    list.reload();
}
