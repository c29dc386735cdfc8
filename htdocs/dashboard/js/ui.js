// The parts that all pages are made of.
import {el, fill} from './dom.js';
import {icon} from './icons.js';
import {dateTime, relative, t} from './i18n.js';

let lastId = 0;
function newId(prefix) {
    return `${prefix}-${++lastId}`;
}

// --- Messages ------------------------------------------------------------------------------------

// Shows a short message, which screen readers say too: toast('Copied.').
export function toast(text, kind = 'ok') {
    const box = document.getElementById('toasts');
    const line = el('p', {class: `toast ${kind}`}, text);
    box.append(line);
    setTimeout(() => line.remove(), kind === 'bad' ? 10000 : 4000);
}

// The texts of an error: the API's message, its hint, and the id of the request.
function errorLines(error) {
    const lines = [error.status === 0 ? t('error.network') : error.message];
    if (typeof error.details?.hint === 'string')
        lines.push(error.details.hint);
    return lines;
}

// A box that shows what the API answered: errorBox(error).
export function errorBox(error) {
    return el('div', {class: 'notice bad', role: 'alert'}, icon('alert'), el('div', {},
        errorLines(error).map((line) => el('p', {}, line)),
        error.requestId && el('p', {class: 'small muted'}, t('error.request'), ' ',
            el('code', {}, error.requestId)),
    ));
}

// A box with a message: kind is info, ok, warn or bad; children after the text, such as a button.
export function notice(kind, title, ...children) {
    return el('div', {class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : 'status'},
        icon(kind === 'ok' ? 'check' : kind === 'info' ? 'info' : 'alert'),
        el('div', {}, el('p', {class: 'notice-title'}, title), children));
}

// Shows the error of a failed action in a toast.
export function showError(error) {
    const id = error.requestId ? ` (${error.requestId})` : '';
    toast(errorLines(error).join(' ') + id, 'bad');
}

export function loading() {
    return el('p', {class: 'loading', role: 'status'}, t('ui.loading'));
}

// What a list shows that has no items: a title, what to do, perhaps a button.
export function empty(title, text, ...actions) {
    return el('div', {class: 'empty'}, el('p', {class: 'empty-title'}, title),
        text && el('p', {}, text), actions.length > 0 && el('div', {class: 'actions'}, actions));
}

// --- Headings and boxes --------------------------------------------------------------------------

// The heading of a page, which gets the focus when the page opens. `above` is a link back.
export function heading(title, {text, actions = [], above} = {}) {
    return el('header', {class: 'page-head'},
        above && el('p', {class: 'above'}, above),
        el('div', {class: 'page-head-row'},
            el('h1', {tabindex: '-1'}, title),
            actions.length > 0 && el('div', {class: 'actions'}, actions)),
        text && el('p', {class: 'lead'}, text));
}

// A box with a heading: card('Title', {text, actions}, child...).
export function card(title, {text, actions = [], kind = ''} = {}, ...children) {
    const id = newId('card');
    return el('section', {class: `card ${kind}`, 'aria-labelledby': title ? id : null},
        title && el('header', {class: 'card-head'},
            el('div', {}, el('h2', {id}, title), text && el('p', {class: 'muted'}, text)),
            actions.length > 0 && el('div', {class: 'actions'}, actions)),
        el('div', {class: 'card-body'}, children));
}

// Names and values: facts([['Created', node], ...]); a row whose value is null is left out. A third
// element 'wide' gives a long value more room.
export function facts(rows) {
    return el('dl', {class: 'facts'}, rows
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value, kind]) => el('div', {class: kind},
            el('dt', {}, name), el('dd', {}, value))));
}

// A name without spaces, such as a URL, that is broken behind its marks and not within a word.
export function breakable(text) {
    return text.split(/(?<=[/_.@-])/).flatMap((part) => [part, el('wbr')]);
}

// A word for a state: kind is ok, warn, bad, info or plain.
export function badge(kind, text) {
    return el('span', {class: `badge ${kind}`}, text);
}

// A moment: "3 minutes ago", with date and time as its title.
export function moment(iso, {isExact = false} = {}) {
    if (!iso)
        return el('span', {class: 'muted'}, '–');
    const full = dateTime(iso);
    return el('time', {datetime: iso, title: full}, isExact ? full : relative(iso));
}

// A moment of a list: date and time, or on a phone how long ago.
export function timestamp(iso) {
    const full = dateTime(iso);
    return el('time', {datetime: iso, title: full},
        el('span', {class: 'narrow'}, full),
        el('span', {class: 'on-phone'}, relative(iso, 'narrow')));
}

// --- Buttons and links ---------------------------------------------------------------------------

// A button: button('Save', async () => ..., {kind: 'primary', icon: 'check'}). kind: primary,
// danger, quiet, or none. While the handler's promise is pending the button is busy; an error that
// the handler does not catch is shown in a toast. `isIconOnly`: the label is for screen readers.
export function button(label, onClick, {kind = '', icon: name, isIconOnly = false, ...rest} = {}) {
    return el('button', {
        type: 'button', class: `button ${kind} ${isIconOnly ? 'icon-only' : ''}`,
        'aria-label': isIconOnly ? label : null, title: isIconOnly ? label : null, ...rest,
        on: {click: (event) => busy(event.currentTarget, () => onClick(event))},
    }, name && icon(name), !isIconOnly && el('span', {}, label));
}

// Runs an action with its button busy; a second click during it does nothing.
export async function busy(node, action) {
    if (node.getAttribute('aria-busy') === 'true')
        return;
    node.setAttribute('aria-busy', 'true');
    try {
        await action();
    } catch (error) {
        showError(error);
    } finally {
        node.removeAttribute('aria-busy');
    }
}

export function link(label, href, properties = {}) {
    return el('a', {href, ...properties}, label);
}

// A link that looks like a button.
export function linkButton(label, href, {kind = '', icon: name, ...rest} = {}) {
    return el('a', {href, class: `button ${kind}`, ...rest}, name && icon(name),
        el('span', {}, label));
}

// Copies a text, or what a function returns.
export function copyButton(text, label = t('ui.copy'), options = {}) {
    return button(label, async () => {
        await copyText(typeof text === 'function' ? text() : text);
        toast(t('ui.copied'));
    }, {icon: 'copy', ...options});
}

// navigator.clipboard needs HTTPS or the own machine; elsewhere the old command still works.
async function copyText(text) {
    if (navigator.clipboard) {
        await navigator.clipboard.writeText(text);
        return;
    }
    const area = el('textarea', {class: 'off-screen', value: text, 'aria-hidden': 'true'});
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    if (!isDone)
        throw new Error(t('ui.copyFailed'));
}

// A block of code or JSON that can be copied and scrolled by the keyboard.
export function codeBlock(text, label) {
    return el('div', {class: 'code-block'},
        el('pre', {tabindex: '0', role: 'group', 'aria-label': label}, el('code', {}, text)),
        copyButton(text, t('ui.copy'), {kind: 'quiet', isIconOnly: true}));
}

// --- Forms ---------------------------------------------------------------------------------------

// A labelled input: field({label, name, type, value, hint, options, ...attributes}). `type` is that
// of an input, or textarea, or select with options [[value, text], ...]. Returns {root, input,
// value, setError}; `action` is a button beside the input.
export function field({label, name, type = 'text', value, hint, options, action, ...rest}) {
    const id = newId('field');
    const hintId = `${id}-hint`;
    const errorId = `${id}-error`;
    const error = el('p', {class: 'field-error', id: errorId, hidden: true});
    const attributes = {
        id, name, ...rest, 'aria-describedby': hint ? `${hintId} ${errorId}` : errorId,
    };
    let input;
    if (type === 'select') {
        input = el('select', {...attributes, value: value ?? ''}, options.map(([key, text]) =>
            el('option', {value: key}, text)));
    } else if (type === 'checkbox') {
        input = el('input', {...attributes, type, checked: value === true});
    } else {
        input = el(type === 'textarea' ? 'textarea' : 'input',
            {...attributes, type: type === 'textarea' ? null : type, value: value ?? ''});
    }
    const root = el('div', {class: `field ${type}`},
        el('label', {for: id}, label),
        el('div', {class: 'field-row'}, input, action),
        hint && el('p', {class: 'hint', id: hintId}, hint), error);
    return {
        root, input,
        get value() {
            return type === 'checkbox' ? input.checked : input.value;
        },
        setError(text) {
            error.textContent = text ?? '';
            error.hidden = !text;
            if (text)
                input.setAttribute('aria-invalid', 'true');
            else
                input.removeAttribute('aria-invalid');
        },
    };
}

// A group of checkboxes: checks({label, name, options: [[value, text, explanation], ...], value:
// [value, ...], hint}). Returns the same as field; its value is the list of the checked ones.
export function checks({label, name, options, value, hint}) {
    const id = newId('field');
    const error = el('p', {class: 'field-error', id: `${id}-error`, hidden: true});
    const boxes = options.map(([key, text, meaning], i) => {
        const box = el('input', {
            type: 'checkbox', id: `${id}-${i}`, value: key, checked: value.includes(key),
            'aria-describedby': meaning ? `${id}-${i}-hint` : null,
        });
        return {box, root: el('div', {class: 'field checkbox'},
            el('label', {for: `${id}-${i}`}, text), el('div', {class: 'field-row'}, box),
            meaning && el('p', {class: 'hint', id: `${id}-${i}-hint`}, meaning))};
    });
    const root = el('fieldset', {class: 'field checks', name, 'aria-describedby': `${id}-error`},
        el('legend', {}, label), hint && el('p', {class: 'hint'}, hint),
        boxes.map((one) => one.root), error);
    return {
        root, input: root,
        get value() {
            return boxes.filter(({box}) => box.checked).map(({box}) => box.value);
        },
        setError(text) {
            error.textContent = text ?? '';
            error.hidden = !text;
        },
    };
}

// Shows the issues of a VALIDATION_ERROR at their fields; returns whether all have one. The field
// of a list shows the issues of its items.
function placeIssues(error, fields) {
    const issues = Array.isArray(error.details) ? error.details : [];
    const targets = issues.map(({path}) =>
        fields.find(({input}) => input.name === path.replace(/\[.*$/, '')));
    targets.forEach((target, i) => target?.setError(issues[i].message));
    targets.find(Boolean)?.input.focus();
    return targets.length > 0 && targets.every(Boolean);
}

// A form: form({fields, submit: 'Save', onSubmit: async () => ..., actions, kind}). An error of
// onSubmit is shown above the button, or at the field that it names.
export function form({fields, submit, onSubmit, actions = [], kind = 'primary', ...rest}) {
    const problem = el('div', {class: 'form-problem'});
    const save = el('button', {type: 'submit', class: `button ${kind}`}, el('span', {}, submit));
    async function run() {
        fill(problem);
        fields.forEach((one) => one.setError?.(null));
        try {
            await onSubmit();
        } catch (error) {
            if (!placeIssues(error, fields.filter(({input}) => input)))
                fill(problem, errorBox(error));
        }
    }
    return el('form', {
        class: 'form', ...rest,
        on: {
            submit(event) {
                event.preventDefault();
                return busy(save, run);
            },
        },
    }, fields.map(({root}) => root), problem,
    el('div', {class: 'form-actions'}, save, actions));
}

// --- Tables --------------------------------------------------------------------------------------

// A table: table({caption, columns: [{label, cell: (item) => node, kind}], items, href}). kind of a
// column: number, wide, narrow (hidden on phones). `href(item)` makes the first cell a link, and
// the whole row a target for the pointer.
export function table({caption, columns, items, href}) {
    const body = el('tbody', {}, items.map((item) => row(columns, item, href)));
    return el('div', {class: 'table-box', tabindex: '0', role: 'group', 'aria-label': caption},
        el('table', {},
            el('caption', {class: 'off-screen'}, caption),
            el('thead', {}, el('tr', {}, columns.map(({label, kind}) =>
                el('th', {scope: 'col', class: kind}, label)))),
            body));
}

function row(columns, item, href) {
    return el('tr', {class: href ? 'linked' : null}, columns.map(({cell, kind}, i) => {
        const content = cell(item);
        return el('td', {class: kind},
            href && i === 0 ? el('a', {class: 'row-link', href: href(item)}, content) : content);
    }));
}

// A list that grows by pages: pagedTable({caption, columns, href, load: async (after) => ({items,
// paging}), empty: () => node}). Returns {root, reload}.
export function pagedTable({caption, columns, href, load, empty: showEmpty}) {
    const root = el('div', {class: 'paged'});
    let items = [];
    let turn = 0;

    function show(after) {
        root.removeAttribute('aria-busy');
        if (!items.length)
            return fill(root, showEmpty());
        const more = after && button(t('ui.more'), () => read(after), {kind: 'quiet'});
        return fill(root, table({caption, columns, href, items}),
            more && el('div', {class: 'more'}, more));
    }

    async function read(after) {
        const mine = ++turn;
        const answer = await load(after);
        if (mine !== turn)
            return; // a newer call replaces this one
        const first = items.length;
        items = after ? [...items, ...answer.items] : answer.items;
        show(answer.paging?.cursors?.after);
        if (after)
            root.querySelectorAll('tbody tr')[first]?.querySelector('a')?.focus();
    }

    // The former rows stay until the new ones are there.
    async function reload() {
        const mine = turn + 1;
        root.setAttribute('aria-busy', 'true');
        try {
            await read();
        } catch (error) {
            if (mine !== turn)
                return;
            items = [];
            fill(root, errorBox(error),
                el('div', {class: 'more'}, button(t('ui.retry'), reload)));
            root.removeAttribute('aria-busy');
        }
    }

    fill(root, loading());
    reload();
    return {root, reload};
}

// A place whose content is loaded, again by its button after a failure: loaded(async () => node).
// Returns {root, reload}.
export function loaded(load) {
    const root = el('div', {class: 'stack'}, loading());
    async function reload() {
        try {
            fill(root, await load());
        } catch (error) {
            fill(root, errorBox(error), el('div', {class: 'more'}, button(t('ui.retry'), reload)));
        }
    }
    return {root, reload};
}

// --- Dialogs -------------------------------------------------------------------------------------

// A modal dialog: dialog('Title', (close) => [child...]). Returns a promise of what close(value)
// was given; undefined when it was dismissed with Escape or its button.
export function dialog(title, content, {kind = ''} = {}) {
    const opener = document.activeElement;
    return new Promise((resolve) => {
        let result;
        const id = newId('dialog');
        const close = (value) => {
            result = value;
            box.close();
        };
        const box = el('dialog', {
            class: `dialog ${kind}`, 'aria-labelledby': id,
            on: {
                close() {
                    box.remove();
                    opener?.focus?.();
                    resolve(result);
                },
            },
        },
        el('header', {class: 'dialog-head'}, el('h2', {id}, title),
            button(t('ui.close'), () => close(), {kind: 'quiet', icon: 'close', isIconOnly: true})),
        el('div', {class: 'dialog-body'}));
        fill(box.lastChild, content(close));
        document.body.append(box);
        box.showModal();
        box.querySelector('.dialog-body :is(input, select, textarea, button)')?.focus();
    });
}

// Asks before an action: true if it was confirmed.
export async function confirm(title, text, label, {kind = 'danger'} = {}) {
    return await dialog(title, (close) => [
        el('p', {}, text),
        el('div', {class: 'form-actions'},
            button(label, () => close(true), {kind}),
            button(t('ui.cancel'), () => close(false))),
    ]) === true;
}

// A row of choices of which one is pressed: choices('State', [['', 'All'], ...], value, onChoose).
export function choices(label, options, value, onChoose) {
    const group = el('div', {class: 'choices', role: 'group', 'aria-label': label});
    fill(group, options.map(([key, text]) => el('button', {
        type: 'button', 'aria-pressed': String(key === value),
        on: {
            click(event) {
                for (const other of group.children)
                    other.setAttribute('aria-pressed', String(other === event.currentTarget));
                onChoose(key);
            },
        },
    }, text)));
    return group;
}
