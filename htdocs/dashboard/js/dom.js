// Builds and updates DOM nodes. Text becomes text nodes only: no string is ever parsed as markup.

const SVG = 'http://www.w3.org/2000/svg';

// These are set as properties, because their attribute is only the initial value.
const PROPERTIES = new Set(['value', 'checked', 'selected', 'disabled', 'open', 'hidden', 'src']);

// The handlers of each node by event type. They are kept here, not in closures of
// addEventListener, so that morph can hand the handlers of a new node to the node that stays.
const handlers = new WeakMap();

function dispatch(event) {
    const handler = handlers.get(event.currentTarget)?.[event.type];
    return handler?.(event);
}

function listen(node, types) {
    const own = handlers.get(node) ?? {};
    for (const type of Object.keys(types)) {
        if (!(type in own))
            node.addEventListener(type, dispatch);
    }
    handlers.set(node, {...own, ...types});
}

function setProperty(node, name, value) {
    if (name === 'on')
        listen(node, value);
    else if (name === 'data')
        Object.assign(node.dataset, value);
    else if (PROPERTIES.has(name) && name in node)
        node[name] = value ?? '';
    else if (value === true)
        node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined)
        node.setAttribute(name, String(value));
}

function append(node, children) {
    for (const child of children.flat(Infinity)) {
        if (child !== null && child !== undefined && child !== false && child !== true)
            node.append(child instanceof Node ? child : String(child));
    }
}

function build(node, properties, children) {
    append(node, children); // first, so that the value of a select finds its option
    for (const [name, value] of Object.entries(properties ?? {}))
        setProperty(node, name, value);
    return node;
}

// Makes an element: el('a', {href: '#/', class: 'x', on: {click: f}, data: {id: 1}}, child...).
// An attribute that is true is set without a value; one that is false or null is left out.
// Children are nodes, texts, numbers, or lists of them; null and booleans are left out.
export function el(name, properties, ...children) {
    return build(document.createElement(name), properties, children);
}

// The same in the SVG namespace.
export function svg(name, properties, ...children) {
    return build(document.createElementNS(SVG, name), properties, children);
}

// Replaces the children of a node.
export function fill(parent, ...children) {
    parent.replaceChildren();
    append(parent, children);
    return parent;
}

function morphAttributes(node, fresh) {
    for (const {name} of [...node.attributes]) {
        if (!fresh.hasAttribute(name))
            node.removeAttribute(name);
    }
    for (const {name, value} of [...fresh.attributes]) {
        if (node.getAttribute(name) !== value)
            node.setAttribute(name, value);
    }
    if ('disabled' in fresh && node.disabled !== fresh.disabled)
        node.disabled = fresh.disabled;
}

function morphChildren(node, fresh) {
    const old = [...node.childNodes];
    const wanted = [...fresh.childNodes];
    for (let i = 0; i < wanted.length; i++) {
        if (i < old.length)
            morph(old[i], wanted[i]);
        else
            node.append(wanted[i]);
    }
    for (let i = wanted.length; i < old.length; i++)
        old[i].remove();
}

// Makes a node equal to a new one and returns the node that is in the document: the old one where
// the names agree, so that focus, selection, scroll and what was typed stay.
export function morph(node, fresh) {
    if (node === fresh)
        return node;
    if (node.nodeType !== fresh.nodeType || node.nodeName !== fresh.nodeName) {
        node.replaceWith(fresh);
        return fresh;
    }
    if (node.nodeType === Node.TEXT_NODE) {
        if (node.data !== fresh.data)
            node.data = fresh.data;
        return node;
    }
    morphAttributes(node, fresh);
    listen(node, handlers.get(fresh) ?? {});
    if (node.nodeName !== 'TEXTAREA' || node !== document.activeElement)
        morphChildren(node, fresh);
    return node;
}

// Moves a child. moveBefore keeps focus, selection and scroll of what it moves; browsers that lack
// it lose them, and get the focus back.
function place(parent, node, next) {
    if (parent.moveBefore && node.parentNode === parent && parent.isConnected) {
        parent.moveBefore(node, next);
        return;
    }
    const focused = node.contains(document.activeElement) ? document.activeElement : null;
    parent.insertBefore(node, next);
    if (focused && focused !== document.activeElement)
        focused.focus({preventScroll: true});
}

// What each keyed list was rendered from: parent -> Map(key -> {node, text}).
const lists = new WeakMap();

// Shows a list: update(parent, items, (item) => key, (item) => node). A node whose item did not
// change stays untouched; one whose item changed is morphed; nodes move only where the order
// changed. All children of the parent must come from update.
export function update(parent, items, key, render) {
    const before = lists.get(parent) ?? new Map();
    const after = new Map();
    for (const item of items) {
        const id = String(key(item));
        const text = JSON.stringify(item);
        const old = before.get(id);
        let node = old?.node;
        if (!old)
            node = render(item);
        else if (old.text !== text)
            node = morph(node, render(item));
        after.set(id, {node, text});
    }
    for (const [id, {node}] of before) {
        if (!after.has(id))
            node.remove();
    }
    let next = parent.firstChild;
    for (const {node} of after.values()) {
        if (node === next)
            next = next.nextSibling;
        else
            place(parent, node, next);
    }
    lists.set(parent, after);
}
