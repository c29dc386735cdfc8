// The dialog that leads everywhere by a few letters: conversations, pages, actions.
import {call} from './api.js';
import {el, fill} from './dom.js';
import {t} from './i18n.js';
import {icon} from './icons.js';
import {identityOf, nameOf} from './inbox/describe.js';
import {itemOf, itemsOf} from './pages.js';
import {go} from './router.js';
import {isFound} from './search.js';
import {may, seesAll} from './session.js';
import {dialog, errorBox} from './ui.js';

const THREADS = 8; // conversations that are listed
const SEARCH_AFTER = 200; // ms after the last letter

function pageChoices() {
    const pages = itemsOf(may, seesAll()).map((page) => [itemOf(page), page.icon]);
    return [...pages, ['sessions', 'person']].map(([name, picture]) => ({
        icon: picture, text: t(name === 'sessions' ? 'sessions.title' : `nav.${name}`),
        kind: t('palette.page'), run: () => go(`/${name}`),
    }));
}

async function threadChoices(search) {
    const {items} = await call('GET', '/v2/threads', {query: {q: search, limit: THREADS}});
    return items.map((thread) => ({
        icon: 'inbox', text: nameOf(thread.contact), kind: identityOf(thread.contact),
        run: () => go(`/inbox/${thread.id}`),
    }));
}

function optionOf(choice, i, isActive, take) {
    return el('li', {
        id: `palette-${i}`, role: 'option', class: 'palette-option',
        'aria-selected': String(isActive), on: {click: () => take(choice)},
    }, icon(choice.icon), el('bdi', {class: 'cut'}, choice.text),
    el('bdi', {class: 'muted small cut'}, choice.kind));
}

// Resolves to the choice, or undefined. actions: [{icon, text, run}, ...].
function choose(actions) {
    const kind = t('palette.action');
    const fixed = [...pageChoices(), ...actions.map((one) => ({...one, kind}))];
    return dialog(t('palette.title'), (close) => {
        let shown = [];
        let active = 0;
        let turn = 0;
        let timer;
        let isReading = true; // the conversations of the present text
        let isTaken = false; // Enter was pressed before there was anything
        const list = el('ul', {id: 'palette-list', class: 'palette-list', role: 'listbox',
            'aria-label': t('palette.title')});
        const state = el('div', {role: 'status'});

        function draw() {
            fill(list, shown.map((one, i) => optionOf(one, i, i === active, close)));
            input.setAttribute('aria-activedescendant', shown.length ? `palette-${active}` : '');
            list.children[active]?.scrollIntoView({block: 'nearest'});
        }

        async function readThreads(mine) {
            try {
                const threads = await threadChoices(input.value.trim());
                if (mine !== turn)
                    return;
                shown.push(...threads);
                fill(state, !shown.length && el('p', {class: 'muted'}, t('palette.none')));
            } catch (error) {
                if (mine !== turn)
                    return;
                fill(state, errorBox(error)); // pages and actions stay
            }
            isReading = false;
            draw();
            if (isTaken && shown.length)
                close(shown[0]);
        }

        // Pages and actions at once, below them the conversations when they are there.
        function search(delay) {
            const mine = ++turn;
            active = 0;
            isTaken = false;
            isReading = true;
            shown = fixed.filter((one) => isFound([one.text], input.value.trim()));
            fill(state);
            draw();
            clearTimeout(timer);
            timer = setTimeout(() => readThreads(mine), delay);
        }

        function onKey(event) {
            const step = {ArrowUp: -1, ArrowDown: 1}[event.key];
            if (step && shown.length) {
                active = (active + step + shown.length) % shown.length;
                draw();
            } else if (event.key === 'Enter' && !event.isComposing) {
                isTaken = isReading;
                if (shown[active])
                    close(shown[active]);
            } else {
                return;
            }
            event.preventDefault();
        }

        const input = el('input', {
            type: 'text', role: 'combobox', 'aria-label': t('palette.search'),
            placeholder: t('palette.search'), 'aria-expanded': 'true',
            'aria-controls': 'palette-list', 'aria-autocomplete': 'list', autocomplete: 'off',
            spellcheck: 'false', on: {
                keydown: onKey, input: () => search(SEARCH_AFTER),
            },
        });
        search(0);
        return [input, list, state];
    }, {kind: 'palette'});
}

export async function openPalette(actions) {
    const choice = await choose(actions);
    await choice?.run();
}
