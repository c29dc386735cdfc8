// The list of canned replies above the field of an answer, while its text is a slash and the
// beginning of a shortcut.
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {cannedReplies} from '../replies.js';
import {isFound} from '../search.js';
import {linkButton, showError} from '../ui.js';
import {beginning} from './describe.js';

const SHOWN = 8;
const LONGEST = 90; // characters of a text in the list

// What was typed after the slash; null: the text is no shortcut.
function wordOf(text) {
    return /^\/(\S*)$/.exec(text)?.[1] ?? null;
}

function matching(replies, word) {
    const begins = ({shortcut}) => shortcut.toLowerCase().startsWith(word.toLowerCase());
    const others = replies.filter((one) => !begins(one)
        && isFound([one.shortcut, one.text], word));
    return [...replies.filter(begins), ...others].slice(0, SHOWN);
}

// cannedList(input, take) returns {root, change(), onKey(event)}. change(): the text has changed.
// onKey returns whether the key was for the list. take(reply): it was chosen.
export function cannedList(input, take) {
    let shown = [];
    let active = 0;
    let isLoading = false;
    let turn = 0;
    const root = el('div', {class: 'canned'});

    function draw(word) {
        input.setAttribute('aria-expanded', String(shown.length > 0));
        input.setAttribute('aria-activedescendant', shown.length ? `canned-${active}` : '');
        fill(root, shown.length > 0 && el('ul', {
            id: 'canned-list', role: 'listbox', class: 'palette-list',
            'aria-label': t('replies.title'),
        }, shown.map((reply, i) => el('li', {
            id: `canned-${i}`, role: 'option', class: 'palette-option',
            'aria-selected': String(i === active),
            on: {
                mousedown: (event) => event.preventDefault(), // the field keeps the focus
                click: () => choose(reply),
            },
        }, el('bdi', {class: 'strong'}, `/${reply.shortcut}`),
        el('bdi', {class: 'muted small cut'}, beginning(reply.text, LONGEST))))),
        word === '' && !shown.length && !isLoading && el('p', {class: 'small muted'},
            t('replies.none'), ' ', linkButton(t('replies.add'), '#/replies')));
    }

    function choose(reply) {
        close();
        take(reply);
    }

    function close() {
        turn++;
        shown = [];
        isLoading = false;
        draw(null);
    }

    async function change() {
        const word = wordOf(input.value);
        if (word === null) {
            close();
            return;
        }
        const mine = ++turn;
        isLoading = true;
        try {
            const replies = await cannedReplies();
            if (mine !== turn)
                return;
            shown = matching(replies, word);
        } catch (error) {
            if (mine !== turn)
                return;
            shown = [];
            showError(error);
        }
        active = 0;
        isLoading = false;
        draw(word);
    }

    function onKey({key, shiftKey, isComposing}) {
        if (isComposing || shiftKey)
            return false;
        if (isLoading && key === 'Enter')
            return true; // a shortcut is not sent before it is known to be none
        if (!shown.length)
            return false;
        if (key === 'ArrowDown' || key === 'ArrowUp') {
            active = (active + (key === 'ArrowDown' ? 1 : shown.length - 1)) % shown.length;
            draw(null);
        } else if (key === 'Enter' || key === 'Tab') {
            choose(shown[active]);
        } else if (key === 'Escape') {
            close();
        } else {
            return false;
        }
        return true;
    }

    return {root, change, onKey};
}
