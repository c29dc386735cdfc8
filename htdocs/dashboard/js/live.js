// Repeats work while the user sees the page: fast while there is input, slowly after a minute
// without, and with growing pauses after errors of the server; in a hidden tab only where the work
// says how often. Without a
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

// Calls `work` at intervals until it is stopped. `now()` calls it at once, as after an own action;
// `atPace()` when the interval of this moment has passed.
// Options: fast, slow (ms), later (true: the first call after a pause), and pace: a function that
// returns the interval of this moment instead, 0: none.
export function poll(work, {fast = FAST, slow = SLOW, later = false, pace = null} = {}) {
    let timer = null;
    let failures = 0;
    let isStopped = false;
    let isWorking = false;
    let isWanted = false; // now() was called during the work
    let kind = null; // of the last failure
    let answered = Date.now();
    const self = {};

    function interval() {
        return pace ? pace() : document.hidden ? 0 : isIdle() ? slow : fast;
    }

    function pause() {
        const usual = interval();
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
        if (!isStopped && interval())
            timer = setTimeout(run, document.hidden ? Math.max(delay, interval()) : delay);
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

    const onVisible = () => schedule(0);
    document.addEventListener('visibilitychange', onVisible);
    const onBack = () => failures && schedule(0);
    for (const type of ['online', 'focus'])
        window.addEventListener(type, onBack);
    schedule(later ? pause() : 0);
    return {
        now: () => schedule(0),
        atPace: () => isWorking || schedule(pause()),
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

// One poll of GET /v2/changes for all that listen to it: for pages that show threads, and for what
// counts them on every page.
const HIDDEN = 30000;
const listeners = new Set();
const counters = new Set();
let poller = null;
let cursor; // the last change number that was seen
let counts = null; // how many threads there are to work on: `inbox` of the last answer
let isWantedHidden = () => false;

function pace() {
    if (document.hidden)
        return isWantedHidden() ? HIDDEN : 0;
    return listeners.size && !isIdle() ? FAST : SLOW;
}

async function readChanges() {
    const answer = await call('GET', '/v2/changes', {query: {after: cursor}});
    if (!answer)
        return; // 304: nothing is newer
    const isFirst = cursor === undefined;
    cursor = answer.change;
    counts = answer.inbox;
    if (!isFirst) {
        for (const listener of [...listeners])
            listener(answer.threads, answer.removed, answer.hidden);
    }
    for (const counter of [...counters])
        counter(counts, answer.threads);
    if (answer.more)
        await readChanges();
}

function listen(set, listener) {
    set.add(listener);
    poller?.atPace();
    poller ??= poll(readChanges, {pace});
    return () => {
        set.delete(listener);
        if (!listeners.size && !counters.size) {
            poller?.stop();
            poller = null;
            cursor = undefined;
            counts = null;
        }
    };
}

// Calls listener(threads, removed, hidden) with the threads that changed, those that lost messages
// or are gone, and those that the member does not see any more. Returns a function that ends it.
export function onChanges(listener) {
    return listen(listeners, listener);
}

// Calls listener(counts, threads) with the counts of each answer and the threads that changed, and
// at once with the counts that are known. Returns a function that ends it.
export function onCounts(listener) {
    if (counts)
        listener(counts, []);
    return listen(counters, listener);
}

// isWanted() says whether a hidden tab asks too, every 30 seconds.
export function askWhenHidden(isWanted) {
    isWantedHidden = isWanted;
}

// Asks for changes at once, as after an own action.
export function checkChanges() {
    poller?.now();
}
