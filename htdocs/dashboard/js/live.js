// Repeats work while the user sees the page: fast while there is input, slowly after a minute
// without, never in a hidden tab, and with growing pauses after errors.
import {call} from './api.js';

const FAST = 3000;
const SLOW = 15000;
const IDLE_AFTER = 60000;
const LONGEST = 60000;

let lastInput = Date.now();
for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'])
    window.addEventListener(type, () => { lastInput = Date.now(); }, {passive: true});

export function isIdle(now = Date.now()) {
    return now - lastInput > IDLE_AFTER;
}

// Calls `work` at intervals until it is stopped. `now()` calls it at once, as after an own action.
// Options: fast, slow (ms), later (true: the first call after a pause).
export function poll(work, {fast = FAST, slow = SLOW, later = false} = {}) {
    let timer = null;
    let failures = 0;
    let isStopped = false;
    let isWorking = false;
    let isWanted = false; // now() was called during the work

    function pause() {
        const usual = isIdle() ? slow : fast;
        return failures ? Math.min(usual * 2 ** failures, LONGEST) : usual;
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
            failures = 0;
        } catch {
            failures++; // the next call may succeed; what the user does shows its own errors
        }
        isWorking = false;
        schedule(isWanted ? 0 : pause());
        isWanted = false;
    }

    const onVisible = () => schedule(0); // sets no timer in a hidden tab
    document.addEventListener('visibilitychange', onVisible);
    schedule(later ? pause() : 0);
    return {
        now: () => schedule(0),
        stop() {
            isStopped = true;
            clearTimeout(timer);
            document.removeEventListener('visibilitychange', onVisible);
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
