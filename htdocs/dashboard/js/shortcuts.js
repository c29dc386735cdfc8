// The keys that act on every page. Those of one character act outside of fields only, and a setting
// switches them off (WCAG 2.1.4). A key is known by what it writes, so that it is the same one on
// every keyboard layout.
import {el} from './dom.js';
import {t} from './i18n.js';
import {session} from './session.js';
import {setting} from './settings.js';
import {dialog, showError} from './ui.js';

let actions = () => []; // of the palette

function isField(node) {
    return node.isContentEditable ||
        node.matches?.('input:not([type="checkbox"], [type="radio"]), textarea, select');
}

// --- What the keys do ----------------------------------------------------------------------------

function focusSearch() {
    const search = [...document.querySelectorAll('main input[type="search"]')]
        .find((node) => node.checkVisibility());
    search?.focus();
    search?.select();
    return Boolean(search);
}

// Opens the conversation below or above the open one in the list.
function moveThread(step) {
    const rows = [...document.querySelectorAll('.thread-scroll:not([inert]) a.thread')];
    const at = rows.findIndex((row) => row.getAttribute('aria-current'));
    const next = at < 0 ? rows[step > 0 ? 0 : -1] : rows[at + step];
    if (!next)
        return rows.length > 0;
    next.scrollIntoView({block: 'nearest'});
    location.hash = next.hash;
    return true;
}

const HELP = [
    ['search', ['/']], ['palette', ['Ctrl', 'K']], ['next', ['Alt', '↓']],
    ['previous', ['Alt', '↑']], ['help', ['?']], ['messages', ['↑', '↓']], ['open', ['Enter']],
    ['reply', ['R']], ['send', ['Enter']], ['line', ['Shift', 'Enter']],
];

// The list of all keys.
export function showHelp() {
    return dialog(t('keys.title'), () => [
        el('dl', {class: 'keys'}, HELP.map(([name, keys]) => el('div', {},
            el('dt', {}, t(`keys.${name}`)),
            el('dd', {}, keys.map((key, i) => [i > 0 && ' + ', el('kbd', {}, key)]))))),
        el('p', {class: 'hint'}, t('keys.off'), ' ',
            el('a', {href: '#/settings', on: {click: (event) =>
                event.currentTarget.closest('dialog').close()}}, t('nav.settings'))),
    ]);
}

// --- Keys ----------------------------------------------------------------------------------------

const isPlain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey;

// Returns whether the key did something.
function act(event) {
    const {key, target} = event;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey &&
        key.toLowerCase() === 'k') {
        import('./palette.js').then(({openPalette}) => openPalette(actions())).catch(showError);
        return true;
    }
    if (event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey &&
        !target.matches?.('select'))
        return key === 'ArrowDown' ? moveThread(1) : key === 'ArrowUp' && moveThread(-1);
    if (!isPlain(event) || isField(target) || !setting('shortcuts'))
        return false;
    if (key === '/')
        return focusSearch();
    if (key !== '?')
        return false;
    showHelp();
    return true;
}

function onKey(event) {
    if (event.defaultPrevented || event.isComposing || !session() ||
        document.querySelector('dialog[open]'))
        return;
    if (act(event))
        event.preventDefault();
}

// Begins to listen; actionsOf() returns the actions of the palette.
export function startShortcuts(actionsOf) {
    actions = actionsOf;
    document.addEventListener('keydown', onKey);
}
