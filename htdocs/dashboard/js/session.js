// The session of this browser: who is logged in, and the renewal while there is input.
import {call} from './api.js';
import {isIdle, poll} from './live.js';

let present = null; // {user, session, passwordIsSet}
let renewal = null;

export function session() {
    return present;
}

function keep(answer) {
    present = answer;
    renewal ??= poll(async () => {
        if (!isIdle())
            present = await call('PATCH', '/v2/session');
    }, {fast: 60000, slow: 60000, later: true});
    return present;
}

// Reads the session of the cookie; null if there is none.
export async function findSession() {
    try {
        return keep(await call('GET', '/v2/session', {keepsSession: true}));
    } catch (error) {
        if (error.status !== 401)
            throw error;
        forget();
        return null;
    }
}

// Called with the session after each login.
let loggedIn = () => {};
export function onLogIn(callback) {
    loggedIn = callback;
}

// Logs in with {email, password} or {link}.
export async function logIn(body) {
    loggedIn(keep(await call('POST', '/v2/session', {body, keepsSession: true})));
}

export async function logOut() {
    try {
        await call('DELETE', '/v2/session', {keepsSession: true});
    } catch (error) {
        if (error.status !== 401)
            throw error; // the cookie would stay: the user must see that
    }
    forget();
}

// Forgets the session without ending it, as after a 401.
export function forget() {
    present = null;
    renewal?.stop();
    renewal = null;
}
