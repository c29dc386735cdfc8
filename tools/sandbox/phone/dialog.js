// The one dialog of the page.
import {el} from './dom.js';

export const byId = (id) => document.getElementById(id);

// Opens it with this content, and a button that closes it.
export function openDialog(title, ...content) {
    byId('dialog').replaceChildren(
        el('header', {class: 'dialog-head'}, el('h2', {id: 'dialog-title'}, title),
            el('button', {type: 'button', class: 'button quiet', 'aria-label': 'Close',
                on: {click: closeDialog}}, '\u2715')),
        el('div', {class: 'dialog-body'}, content));
    if (!byId('dialog').open)
        byId('dialog').showModal();
}

export function closeDialog() {
    byId('dialog').close();
}

// A form with a button; submit() is called when its fields are valid.
export function form(label, submit, ...fields) {
    return el('form', {class: 'form', on: {submit(event) {
        event.preventDefault();
        submit(event.target);
    }}}, fields, el('button', {type: 'submit', class: 'button primary'}, label));
}
