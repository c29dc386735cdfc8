// Messages per day, as a chart and as a table with the same numbers.
import {call} from '../api.js';
import {chart} from '../chart.js';
import {el, fill} from '../dom.js';
import {date, number, t} from '../i18n.js';
import {keepInAddress} from '../router.js';
import {card, choices, empty, errorBox, field, heading, loading} from '../ui.js';

export const title = 'usage.title';

const SPANS = [7, 30, 90];
const MEASURES = ['in', 'out', 'sent', 'delivered', 'read', 'failed'];
const CATEGORIES = ['marketing', 'utility', 'authentication', 'service'];

// The day of a moment in the browser's time zone: YYYY-MM-DD.
function dayOf(moment) {
    return new Date(moment.getTime() - moment.getTimezoneOffset() * 60000)
        .toISOString().slice(0, 10);
}

// The zone of the days, in words and as minutes east of UTC.
function zone() {
    return {
        name: Intl.DateTimeFormat().resolvedOptions().timeZone,
        offset: -new Date().getTimezoneOffset(),
    };
}

function offsetText(minutes) {
    const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    const more = rest ? `:${String(rest).padStart(2, '0')}` : '';
    return `UTC${minutes < 0 ? '−' : '+'}${hours}${more}`;
}

// Days have no time: they are read and shown in UTC.
function dayLabel(day, options) {
    return date(`${day}T12:00:00Z`, {timeZone: 'UTC', ...options});
}

function messagesChart({days, total}) {
    return chart({
        label: t('usage.chartText', {in: total.in, out: total.out, failed: total.failed}),
        days: days.map((day) => ({
            label: dayLabel(day.day, {day: 'numeric', month: 'short'}),
            title: `${dayLabel(day.day, {dateStyle: 'medium'})}\n${MEASURES.map((name) =>
                `${t(`usage.${name}`)}: ${number(day[name])}`).join('\n')}`,
            bars: [[{value: day.in, kind: 'in'}],
                [{value: Math.max(0, day.out - day.failed), kind: 'out'},
                    {value: Math.min(day.failed, day.out), kind: 'failed'}]],
        })),
    });
}

function templatesChart({days, total}) {
    const sum = (templates) => CATEGORIES.reduce((all, name) => all + (templates[name] ?? 0), 0);
    return chart({
        label: t('usage.templatesText', {count: sum(total.templates)}),
        days: days.map(({day, templates}) => ({
            label: dayLabel(day, {day: 'numeric', month: 'short'}),
            title: `${dayLabel(day, {dateStyle: 'medium'})}\n${CATEGORIES.map((name) =>
                `${t(`usage.${name}`)}: ${number(templates[name] ?? 0)}`).join('\n')}`,
            bars: [CATEGORIES.map((name) => ({value: templates[name] ?? 0, kind: name}))],
        })),
    });
}

function legend(names) {
    return el('ul', {class: 'legend', 'aria-hidden': 'true'}, names.map((name) =>
        el('li', {}, el('span', {class: `swatch ${name}`}), t(`usage.${name}`))));
}

function row(label, entry) {
    return el('tr', {}, el('th', {scope: 'row'}, label),
        MEASURES.map((name) => el('td', {class: 'number'}, number(entry[name]))),
        CATEGORIES.map((name) => el('td', {class: 'number'},
            number(entry.templates[name] ?? 0))));
}

function numbers({days, total}) {
    return el('div', {class: 'table-box', tabindex: '0', role: 'group',
        'aria-label': t('usage.table')},
    el('table', {class: 'usage-table'},
        el('caption', {class: 'off-screen'}, t('usage.table')),
        el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, t('usage.day')),
            [...MEASURES, ...CATEGORIES].map((name) =>
                el('th', {scope: 'col', class: 'number'}, t(`usage.${name}`))))),
        el('tbody', {}, days.toReversed().map((day) => row(
            el('time', {datetime: day.day}, dayLabel(day.day, {dateStyle: 'medium'})), day))),
        el('tfoot', {}, row(t('usage.total'), total))));
}

export async function show(root, parameters) {
    const bar = el('div', {class: 'filters'});
    const box = el('div', {class: 'stack'}, loading());
    fill(root, heading(t('usage.title'), {text: t('usage.lead')}), bar, box);
    const {items: lines} = await call('GET', '/v2/lines', {query: {archived: 'all'}});
    const filters = {days: '30', line: '', ...parameters};
    const {name, offset} = zone();
    let turn = 0;

    async function load() {
        const mine = ++turn;
        const span = SPANS.includes(Number(filters.days)) ? Number(filters.days) : 30;
        const now = new Date();
        const first = new Date(now);
        first.setDate(now.getDate() - span + 1);
        try {
            const answer = await call('GET', '/v2/usage', {query: {
                from: dayOf(first), to: dayOf(now), offset, lineId: filters.line}});
            if (mine === turn)
                draw(answer);
        } catch (error) {
            if (mine === turn)
                fill(box, errorBox(error));
        }
    }

    function draw(answer) {
        const {total} = answer;
        if (!total.in && !total.out)
            return fill(box, empty(t('usage.none'), t('usage.noneText')));
        const templates = CATEGORIES.some((one) => total.templates[one]);
        return fill(box,
            card(t('usage.messages'), {text: t('usage.zone', {zone: name,
                offset: offsetText(offset)})}, legend(['in', 'out', 'failed']),
            messagesChart(answer)),
            templates && card(t('usage.templates'), {}, legend(CATEGORIES),
                templatesChart(answer)),
            card(t('usage.table'), {kind: 'flush'}, numbers(answer)));
    }

    function set(key, value) {
        filters[key] = value;
        keepInAddress('/usage', filters);
        load();
    }

    const line = field({label: t('usage.line'), type: 'select', value: filters.line, options: [
        ['', t('usage.allLines')], ...lines.map((one) => [one.id, one.name ?? one.phoneNumber])]});
    line.input.addEventListener('change', () => set('line', line.value));
    fill(bar, choices(t('usage.span'), SPANS.map((days) =>
        [String(days), t('usage.days', {count: days})]), filters.days,
    (value) => set('days', value)), lines.length > 1 && line.root);
    await load();
}
