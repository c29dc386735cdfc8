// The session of this browser: who is logged in, and the renewal while there is input.
import {call, setPageUser} from './api.js';
import {isIdle, poll} from './live.js';

let present = null; // {user, session, passwordIsSet}
let renewal = null;

export function session() {
    return present;
}

function keep(answer) {
    present = answer;
    setPageUser(present.user.id);
    renewal ??= poll(async () => {
        if (!isIdle())
            present = await call('PATCH', '/v2/session');
    }, {fast: 60000, slow: 60000, later: true});
    return present;
}

// Reads the session of the cookie, which may be that of another user by now; null if there is none.
export async function findSession() {
    try {
        return keep(await call('GET', '/v2/session', {keepsSession: true, isOfAnyUser: true}));
    } catch (error) {
        if (error.status !== 401)
            throw error;
        forget();
        return null;
    }
}

// Called with the session after each login, and whether it replaced that of another user.
let loggedIn = () => {};
export function onLogIn(callback) {
    loggedIn = callback;
}

// Logs in with {email, password} or {link}.
export async function logIn(body) {
    const former = present?.user.id;
    keep(await call('POST', '/v2/session', {body, keepsSession: true}));
    loggedIn(present, Boolean(former) && former !== present.user.id);
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
    setPageUser(null);
    renewal?.stop();
    renewal = null;
}
