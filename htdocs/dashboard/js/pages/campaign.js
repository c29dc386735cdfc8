// One campaign: what it does, and what can be done with it.
import {call, serverTime} from '../api.js';
import {columnFor, isOfRecipients, resultBox, tableField, upload} from '../campaigns/recipients.js';
import {failureOf, outlookOf, reasonOf, stateBadge, warningOf} from '../campaigns/show.js';
import {sendTest} from '../campaigns/trial.js';
import {el, fill, morph} from '../dom.js';
import {saveCsv} from '../download.js';
import {dateTime, number, t} from '../i18n.js';
import {lineLabel} from '../lines.js';
import {poll} from '../live.js';
import {toIso, toLocal} from '../local_time.js';
import {may} from '../session.js';
import {button, card, confirm, dialog, facts, field, form, heading, link, loading, notice}
    from '../ui.js';

export const title = 'campaigns.one';

const HOUR = 3600000;
const LONGEST_AHEAD = 30 * 24 * HOUR;
const ENDED = ['finished', 'cancelled'];
const above = () => link(t('campaigns.title'), '#/campaigns');
const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

function schedule(act) {
    const time = field({label: t('inbox.later.time'), name: 'sendAt', type: 'datetime-local',
        required: true, value: toLocal(new Date(Math.ceil(serverTime() / HOUR) * HOUR)),
        hint: t('inbox.later.zone', {zone: zone()})});
    async function onSubmit(close) {
        const sendAt = toIso(time.value), ahead = new Date(sendAt ?? NaN) - serverTime();
        if (!(ahead > 0 && ahead <= LONGEST_AHEAD)) {
            time.setError(t(ahead > 0 ? 'inbox.later.tooFar' : 'inbox.later.past'));
            time.input.focus();
            return;
        }
        await act('start', {sendAt});
        close();
    }
    return dialog(t('campaigns.schedule'), (close) => [
        el('p', {}, t('campaigns.limitStart')),
        form({fields: [time], submit: t('campaigns.schedule'), novalidate: true,
            onSubmit: () => onSubmit(close)})]);
}

// The buttons that the state allows.
function actionsOf(campaign, act) {
    const {state, counts} = campaign;
    const asked = async (deed, text, kind) => await confirm(t(`campaigns.${deed}`), text,
        t(`campaigns.${deed}`), {kind}) && act(deed);
    if (!may('send'))
        return [];
    return [
        state === 'draft' && counts.waiting > 0 && [
            button(t('campaigns.start'), () => asked('start',
                `${t('campaigns.startText', {count: counts.waiting})} ${t('campaigns.limitStart')}`,
                'primary'), {kind: 'primary'}),
            button(t('campaigns.schedule'), () => schedule(act), {icon: 'clock'})],
        !ENDED.includes(state) && button(t('templates.test'), () => sendTest(campaign)),
        ['running', 'scheduled'].includes(state) && button(t('campaigns.pause'),
            () => act('pause')),
        state === 'paused' && button(t('campaigns.resume'), () => act('resume'),
            {kind: 'primary'}),
        !ENDED.includes(state) && button(t('campaigns.cancel'),
            () => asked('cancel', t('campaigns.cancelText'), 'danger'), {kind: 'danger'}),
    ].flat().filter(Boolean);
}

function figures({counts, delivery}) {
    const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
    const rows = [['all', all], ['waiting', counts.waiting + counts.queued + counts.sending],
        ['accepted', counts.accepted], ['delivered', delivery.delivered + delivery.read],
        ['read', delivery.read], ['failed', counts.failed + delivery.failed],
        ...['unknown', 'expired', 'suppressed', 'cancelled']
            .filter((name) => counts[name]).map((name) => [name, counts[name]])];
    return facts(rows.map(([name, count]) => [t(`campaigns.count.${name}`), number(count)]));
}

// Names of files have no signs that a system may refuse.
function saveOutcomes({id, name}) {
    return saveCsv(`/v2/campaigns/${encodeURIComponent(id)}/recipients.csv`, {},
        `recipients-${name.replace(/[^\p{L}\p{N}.-]+/gu, '_')}.csv`);
}

// Why messages failed, the most frequent reason first.
function failures({counts, delivery, errors}) {
    return counts.failed + delivery.failed > 0 && [
        el('h3', {}, t('campaigns.failures')),
        facts(errors.map(({code, count}) => [failureOf(code), number(count)])),
        el('p', {class: 'muted'}, t('campaigns.failedText'))];
}

function stateOf(campaign, lines, warnings) {
    const {state, sendAt, phoneNumberId} = campaign, reason = reasonOf(campaign);
    const line = lines.find((one) => one.phoneNumberId === phoneNumberId);
    return el('div', {class: 'stack'},
        reason && notice('warn', t(`campaigns.state.${state}`), el('p', {}, reason),
            state === 'paused' && el('p', {}, outlookOf(campaign))),
        warnings.length > 0 && notice('warn', t('campaigns.warnings'),
            warnings.map((warning) => el('p', {}, warningOf(warning)))),
        card(t('campaigns.progress'), {actions: [button(t('campaigns.outcomes'),
            () => saveOutcomes(campaign), {icon: 'download'})]}, figures(campaign),
            failures(campaign)),
        card(t('campaigns.about'), {}, facts([
            [t('campaigns.stateTitle'), stateBadge(campaign)],
            [t('campaigns.starts'), sendAt && `${dateTime(sendAt)} (${zone()})`],
            [t('campaigns.window'), campaign.window &&
                `${campaign.window.from} – ${campaign.window.to} (${campaign.window.timeZone})`],
            [t('campaigns.template'), `${campaign.templateName} · ${campaign.language}`],
            [t('campaigns.line'), line ? lineLabel(line) : phoneNumberId],
        ])));
}

// More recipients, or the corrected lines, for a draft.
function addCard(id, onDone) {
    const to = field({label: t('campaigns.to'), name: 'to', type: 'select', required: true,
        options: []});
    const file = tableField(t('campaigns.againHint'), (table) => {
        const names = table?.names ?? [];
        fill(to.input, names.map((name) => el('option', {value: name}, name)));
        to.input.value = columnFor(names, ['to', 'phone']) ||
            (names.find((name) => isOfRecipients(table, name)) ?? '');
    });
    return card(t('campaigns.add'), {}, form({fields: [file, to], submit: t('campaigns.add'),
        kind: '', async onSubmit() {
            const table = await file.table();
            if (!table)
                return;
            await upload(id, table, to.value);
            await onDone();
        }}));
}

export async function show(root, {id}) {
    const path = `/v2/campaigns/${encodeURIComponent(id)}`;
    const head = el('div', {}, heading(t('campaigns.one'), {above: above()}));
    const box = el('div', {}, loading()), result = el('div', {}), more = el('div', {});
    let before = '', warnings = []; // those of the start
    fill(root, head, result, box, more);
    const {items: lines} = await call('GET', '/v2/lines', {query: {archived: 'all'}});

    function draw(campaign) {
        const text = JSON.stringify(campaign);
        if (text === before)
            return;
        before = text;
        morph(head.firstChild, heading(campaign.name, {above: above(),
            actions: actionsOf(campaign, act)}));
        morph(box.firstChild, stateOf(campaign, lines, warnings));
        if (campaign.state !== 'draft' || !may('send'))
            fill(more);
        else if (!more.firstChild)
            fill(more, addCard(id, read));
        fill(result, campaign.state === 'draft' && resultBox(id));
    }

    async function act(deed, body = {}) {
        const campaign = await call('POST', `${path}/${deed}`, {body});
        warnings = campaign.warnings ?? [];
        draw(campaign);
    }

    async function read() {
        draw(await call('GET', path));
    }

    await read();
    const polling = poll(read, {later: true});
    return polling.stop;
}
