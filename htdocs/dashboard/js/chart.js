// A bar chart: bars of stacked parts for each day, as SVG. A table with the same numbers belongs
// beside it; the chart's text alternative names it.
import {el, svg} from './dom.js';
import {number} from './i18n.js';

const WIDTH = 960;
const HEIGHT = 240;
const LEFT = 16; // half of the first day's text
const RIGHT = 44; // the numbers: on a small screen the right end is in view
const BOTTOM = 26;
const TOP = 8;

// The smallest step of 1, 2 or 5 times a power of ten that divides `most` into at most four.
function stepOf(most) {
    const rough = Math.max(most, 1) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    return Math.max(1, [1, 2, 5, 10].map((factor) => factor * power)
        .find((step) => step >= rough));
}

function axis(most, step) {
    const lines = [];
    for (let value = 0; value <= most; value += step) {
        const y = HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - TOP);
        lines.push(svg('line', {x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y,
            class: 'chart-line'}),
        svg('text', {x: WIDTH - RIGHT + 8, y: y + 4, class: 'chart-text'}, number(value)));
    }
    return lines;
}

// A group of stacked bars: each bar is a list of {value, kind}.
function group(bars, x, width, most) {
    const own = Math.max(1, width / bars.length - 1);
    return bars.map((parts, i) => {
        let y = HEIGHT - BOTTOM;
        return parts.filter(({value}) => value > 0).map(({value, kind}) => {
            const height = (value / most) * (HEIGHT - BOTTOM - TOP);
            y -= height;
            return svg('rect', {x: x + i * (width / bars.length), y, width: own, height,
                class: `bar ${kind}`});
        });
    }).flat();
}

// chart({label, days: [{label, title, bars: [[{value, kind}]]}]}): the bars of a day stand side by
// side, the parts of a bar on each other. `title` is shown when the pointer rests on the day.
export function chart({label, days}) {
    const sums = days.flatMap(({bars}) => bars.map((parts) =>
        parts.reduce((sum, {value}) => sum + value, 0)));
    const step = stepOf(Math.max(0, ...sums));
    const most = Math.max(step, Math.ceil(Math.max(0, ...sums) / step) * step);
    const room = (WIDTH - LEFT - RIGHT) / days.length;
    const every = Math.ceil(days.length / 10);
    const box = el('div', {class: 'chart', role: 'img', 'aria-label': label, tabindex: '0'},
    svg('svg', {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true',
    }, axis(most, step), days.map((day, i) => {
        const x = LEFT + i * room;
        return svg('g', {class: 'chart-day'}, svg('title', {}, day.title),
            svg('rect', {x, y: TOP, width: room, height: HEIGHT - BOTTOM - TOP, class: 'hit'}),
            group(day.bars, x + room * 0.14, room * 0.72, most),
            i % every === 0 && svg('text', {x: x + room / 2, y: HEIGHT - 8, class: 'chart-text',
                'text-anchor': 'middle'}, day.label));
    })));
    // on a small screen the newest days are in view
    requestAnimationFrame(() => { box.scrollLeft = box.scrollWidth; });
    return box;
}
