// What a user chose for this browser. The choices stay over a logout.
import {ownerOf, session} from './session.js';

// The settings, in the order of their page: name, section of the page, and the value until the user
// chooses another one. All are on or off; their texts are `settings.NAME` of the languages.
export const SETTINGS = [
    {name: 'pictures', section: 'conversations', value: false},
    {name: 'receipts', section: 'customers', value: false},
    {name: 'typing', section: 'customers', value: false},
    {name: 'notify', section: 'alerts', value: false},
    {name: 'sound', section: 'alerts', value: false},
    {name: 'shortcuts', section: 'keyboard', value: true},
];

const STORED = 'switchboard-settings-'; // and its owner

const listeners = new Set();
let unstored = {}; // chosen where the browser stores nothing: until the page is loaded again

function keyOf() {
    return STORED + ownerOf(session());
}

function chosen() {
    try {
        return unstored[keyOf()] ?? JSON.parse(localStorage.getItem(keyOf())) ?? {};
    } catch {
        return {}; // storage is switched off, or holds another format
    }
}

export function setting(name) {
    const wanted = chosen()[name];
    return typeof wanted === 'boolean' ? wanted
        : SETTINGS.find((one) => one.name === name).value;
}

export function choose(name, value) {
    const all = {...chosen(), [name]: value};
    try {
        localStorage.setItem(keyOf(), JSON.stringify(all));
        unstored = {};
    } catch {
        unstored = {[keyOf()]: all}; // it is off, or full
    }
    for (const listener of listeners)
        listener();
}

// Calls listener() after a choice, also one in another tab. Returns a function that ends it.
export function onChoice(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

window.addEventListener('storage', ({key}) => {
    if (key?.startsWith(STORED))
        listeners.forEach((listener) => listener());
});
