// Pages by the hash of the address: #/events/evt_1?state=dead. A page is a module that exports
//
//     title                        the key of its text
//     show(root, parameters)       fills root; may return a function that stops the page, or
//                                  {stop, change}: change(parameters) is called instead of
//                                  stop and show when only the parameters have changed
//
// Parameters: the named parts of the pattern, and the fields of the query.

import {pathOf} from './api.js';

let routes = []; // {pattern: ['events', ':id'], module, ...}
let present = null; // {route, stop, change}
let turn = 0; // counts navigations, so that a page that loads slowly is not shown after a newer one
let prepare = () => null;
let shown = () => {};

export function address(path, query) {
    return `#${pathOf(path, query)}`;
}

// Opens a page, the present one anew.
export function go(path, query) {
    const wanted = address(path, query);
    if (location.hash === wanted)
        open();
    else
        location.hash = wanted;
}

// Replaces the address without opening anything: filters stay after a reload.
export function keepInAddress(path, query) {
    history.replaceState(null, '', address(path, query));
}

function split(hash) {
    const [path, query] = hash.replace(/^#/, '').split(/\?(.*)/s);
    let names = path.split('/').filter(Boolean);
    try {
        names = names.map(decodeURIComponent);
    } catch {
        // a % that is no escape stands for itself
    }
    return {names, query: Object.fromEntries(new URLSearchParams(query ?? ''))};
}

function match(pattern, names) {
    if (names.length > pattern.length)
        return null;
    const values = {};
    for (let i = 0; i < pattern.length; i++) {
        const part = pattern[i];
        if (part.startsWith(':')) {
            if (names[i] === undefined && !part.endsWith('?'))
                return null;
            values[part.replace(/[:?]/g, '')] = names[i];
        } else if (part !== names[i]) {
            return null;
        }
    }
    return values;
}

// Finds the route of a hash: {route, parameters}, or null.
export function find(hash) {
    const {names, query} = split(hash);
    for (const route of routes) {
        const values = match(route.pattern, names);
        if (values)
            return {route, parameters: {...query, ...values}};
    }
    return null;
}

// Ends the present page.
export function leave() {
    turn++;
    const stop = present?.stop;
    present = null;
    stop?.();
}

async function open() {
    const found = find(location.hash) ?? {route: routes.at(-1), parameters: {}};
    const {route, parameters} = found;
    if (present?.route === route && present.change) {
        present.change(parameters);
        shown(route, false);
        return;
    }
    leave();
    const mine = turn;
    const root = prepare(route);
    if (!root)
        return; // prepare has opened another page
    let result, page;
    try {
        page = await import(`./pages/${route.module}.js`);
        if (mine !== turn)
            return;
        shown(route, true, page);
        result = await page.show(root, parameters);
    } catch (error) {
        if (mine === turn)
            shown(route, true, page, error);
        return;
    }
    const stop = typeof result === 'function' ? result : result?.stop;
    if (mine !== turn)
        stop?.();
    else
        present = {route, stop, change: result?.change};
}

// Uses these routes, as in pages.js: {path: '/events/:id', module: 'event', ...}; a last part
// `:id?` may be missing; the last route is used for an unknown address. The module of the present
// address is loaded before its page can open.
export function use(table) {
    routes = table.map((route) => ({...route, pattern: route.path.split('/').filter(Boolean)}));
    const found = find(location.hash);
    if (found)
        import(`./pages/${found.route.module}.js`).catch(() => {}); // its page says that it failed
}

// Starts with the routes in use. `prepare(route)` returns the empty element of the page, or null;
// `shown(route, isNew, page, error)` is called when a page begins or fails.
export function start(callbacks) {
    ({prepare, shown} = callbacks);
    window.addEventListener('hashchange', open);
    return open();
}

// Opens the present address again, as after a change of the language or of the session.
export function reopen() {
    leave();
    return open();
}
