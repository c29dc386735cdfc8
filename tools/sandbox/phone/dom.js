// Builds elements. Texts become text nodes only: nothing that a business sends is parsed as markup.

// Makes an element: el('button', {class: 'x', type: 'button'}, child...). A property whose name
// begins with "on" is a handler; null and false are left out.
export function el(name, properties, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(properties ?? {})) {
        if (key.startsWith('on'))
            node.addEventListener(key.slice(2), value);
        else if (value === true)
            node.setAttribute(key, '');
        else if (value !== null && value !== undefined && value !== false)
            node.setAttribute(key, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined &&
        child !== false && child !== ''));
    return node;
}

export const byId = (id) => document.getElementById(id);

// Opens the one dialog of the page with this content, and a button that closes it.
export function openDialog(title, ...content) {
    const dialog = byId('dialog');
    dialog.replaceChildren(
        el('div', {class: 'dialog-head'}, el('h2', {id: 'dialog-title'}, title),
            el('button', {type: 'button', 'aria-label': 'Close', onclick: closeDialog}, '\u2715')),
        ...content);
    if (!dialog.open)
        dialog.showModal();
}

export function closeDialog() {
    byId('dialog').close();
}
