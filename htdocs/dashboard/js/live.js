// Repeats work while the user sees the page: fast while there is input, slowly after a minute
// without, never in a hidden tab, and with growing pauses after errors of the server. Without a
// connection it tries every two seconds. What is on the screen is then out of date: onTrouble.
import {call} from './api.js';

const FAST = 3000;
const SLOW = 15000;
const IDLE_AFTER = 60000;
const LONGEST = 60000;
const WITHOUT_CONNECTION = 2000;
const TROUBLE_AFTER = 2; // failures in a row

let lastInput = Date.now();
for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'])
    window.addEventListener(type, () => { lastInput = Date.now(); }, {passive: true});

export function isIdle(now = Date.now()) {
    return now - lastInput > IDLE_AFTER;
}

// --- Out of date ---------------------------------------------------------------------------------

const troubles = new Map(); // poll, or window without a network -> {kind, since}
let tellTrouble = () => {};

// The first trouble: {kind: 'offline' (no connection) or 'server' (it answers with errors), since:
// the time of the last answer}; null if all is well.
export function trouble() {
    return troubles.values().next().value ?? null;
}

// One function for the whole page, which is called when the trouble begins, changes or ends.
export function onTrouble(callback) {
    tellTrouble = callback;
}

function setTrouble(owner, value) {
    const before = trouble();
    if (value)
        troubles.set(owner, value);
    else
        troubles.delete(owner);
    if (trouble()?.kind !== before?.kind)
        tellTrouble();
}

window.addEventListener('offline', () => setTrouble(window, {kind: 'offline', since: Date.now()}));
window.addEventListener('online', () => setTrouble(window, null));

// An answer that refuses, as 404, is up to date.
function troubleOf(error) {
    return error.status === 0 ? 'offline'
        : error.status >= 500 || error.status === 429 ? 'server' : null;
}

// --- Polling -------------------------------------------------------------------------------------

// Calls `work` at intervals until it is stopped. `now()` calls it at once, as after an own action.
// Options: fast, slow (ms), later (true: the first call after a pause).
export function poll(work, {fast = FAST, slow = SLOW, later = false} = {}) {
    let timer = null;
    let failures = 0;
    let isStopped = false;
    let isWorking = false;
    let isWanted = false; // now() was called during the work
    let kind = null; // of the last failure
    let answered = Date.now();
    const self = {};

    function pause() {
        const usual = isIdle() ? slow : fast;
        if (kind === 'offline')
            return WITHOUT_CONNECTION;
        return failures ? Math.min(usual * 2 ** failures, LONGEST) : usual;
    }

    function succeeded() {
        failures = 0;
        kind = null;
        answered = Date.now();
        setTrouble(self, null);
    }

    // The next call may succeed; what the user does shows its own errors.
    function failed(error) {
        failures++;
        kind = troubleOf(error);
        if (!kind)
            setTrouble(self, null);
        else if (failures >= TROUBLE_AFTER && !isStopped)
            setTrouble(self, {kind, since: answered});
    }

    function schedule(delay) {
        clearTimeout(timer);
        timer = null;
        if (!isStopped && !document.hidden)
            timer = setTimeout(run, delay);
    }

    async function run() {
        if (isWorking) {
            isWanted = true;
            return;
        }
        isWorking = true;
        try {
            await work();
            succeeded();
        } catch (error) {
            failed(error);
        }
        isWorking = false;
        schedule(isWanted ? 0 : pause());
        isWanted = false;
    }

    const onVisible = () => schedule(0); // sets no timer in a hidden tab
    document.addEventListener('visibilitychange', onVisible);
    const onBack = () => failures && schedule(0);
    for (const type of ['online', 'focus'])
        window.addEventListener(type, onBack);
    schedule(later ? pause() : 0);
    return {
        now: () => schedule(0),
        stop() {
            isStopped = true;
            clearTimeout(timer);
            document.removeEventListener('visibilitychange', onVisible);
            for (const type of ['online', 'focus'])
                window.removeEventListener(type, onBack);
            setTrouble(self, null);
        },
    };
}

// One poll of GET /v2/changes for all that listen to it.
const listeners = new Set();
let poller = null;
let cursor; // the last change number that was seen

async function readChanges() {
    const answer = await call('GET', '/v2/changes', {query: {after: cursor}});
    if (!answer)
        return; // 304: nothing is newer
    const isFirst = cursor === undefined;
    cursor = answer.change;
    if (!isFirst) {
        for (const listener of [...listeners])
            listener(answer.threads);
    }
    if (answer.more)
        await readChanges();
}

// Calls listener(threads) with the threads that changed. Returns a function that ends it.
export function onChanges(listener) {
    listeners.add(listener);
    poller ??= poll(readChanges);
    return () => {
        listeners.delete(listener);
        if (!listeners.size) {
            poller?.stop();
            poller = null;
            cursor = undefined;
        }
    };
}

// Asks for changes at once, as after an own action.
export function checkChanges() {
    poller?.now();
}
