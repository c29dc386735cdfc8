// The session of this browser: who is logged in, and the renewal while there is input.
import {call, setShown} from './api.js';
import {isIdle, poll} from './live.js';

const MARK = 'switchboard-session'; // the name of the cookie that says that there is a session
const LONGEST = 7 * 24 * 3600; // seconds that a session lasts at most

let present = null; // {user (the workspace), member, workspaces, session, passwordIsSet}
let renewal = null;

export function session() {
    return present;
}

// Whether the member of this page has a scope in its workspace, as routes require one.
export function may(scope) {
    return Boolean(present?.member.scopes.includes(scope));
}

// Whether the member sees all lines and threads, or some of them only.
export function seesAll() {
    return !present?.member.lineIds && !present?.member.ownThreadsOnly;
}

// Names the member and the workspace of a session: what a browser keeps belongs to both.
export function ownerOf(one) {
    return one && `${one.member.id} ${one.user.id}`;
}

// A request without a session is answered 401, which the browser's console shows as an error. So a
// browser asks only while it has the mark of a login. No script can read the cookie of the session;
// the mark is a cookie too, because a browser keeps, limits and deletes both in the same way.
function isMarked() {
    return document.cookie.split('; ').includes(`${MARK}=1`);
}

function mark(isThere) {
    const secure = location.protocol === 'https:' ? '; Secure' : '';
    document.cookie = `${MARK}=1; Max-Age=${isThere ? LONGEST : 0}; SameSite=Strict${secure}`;
}

// Called when a renewal found other scopes, lines or threads, as after a change of the role.
let scopesChanged = () => {};
export function onOtherScopes(callback) {
    scopesChanged = callback;
}

async function renew() {
    const former = present;
    const answer = await call('PATCH', '/v2/session');
    if (present !== former)
        return; // it has ended meanwhile, or is another one
    present = answer;
    const rightsOf = ({member: {scopes, lineIds, ownThreadsOnly}}) =>
        JSON.stringify([scopes, lineIds, ownThreadsOnly]);
    if (rightsOf(present) !== rightsOf(former))
        scopesChanged();
}

function keep(answer) {
    present = answer;
    mark(true);
    setShown(present.member.id, present.user.id);
    renewal ??= poll(async () => {
        if (!isIdle())
            await renew();
    }, {fast: 60000, slow: 60000, later: true});
    return present;
}

// Reads the session of the cookie, which may be that of another user by now; null if there is none.
export async function findSession() {
    if (!isMarked()) {
        forget();
        return null;
    }
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

// Logs in with {email, password} or {link}. Resolves to false when the second factor is missing.
async function begin(path, body) {
    const former = ownerOf(present);
    const answer = await call('POST', path, {body, keepsSession: true});
    if (answer.needs === 'factor')
        return false;
    keep(answer.loggedIn ? await call('GET', '/v2/session', {isOfAnyUser: true}) : answer);
    loggedIn(present, Boolean(former) && former !== ownerOf(present));
    return true;
}

// The second step of a login, by {code} or {recoveryCode}.
export function giveFactor(body) {
    return begin('/v2/factor/login', body);
}

// Whether the member must set up a second factor before anything else.
export function lacksFactor() {
    return Boolean(present?.factor.isRequired) && !present.factor.isSet;
}

export function logIn(body) {
    return begin('/v2/session', body);
}

// Becomes a member by {invitation, name, password}, and logs in.
export function join(body) {
    return begin('/v2/session/join', body);
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
    mark(false);
    setShown(null);
    renewal?.stop();
    renewal = null;
}
