// Messages that arrive while the user looks elsewhere: their number in the title of the tab, a
// notification of the system and a sound, by the user's settings.
import {number, t} from './i18n.js';
import {nameOf, summary} from './inbox/describe.js';
import {askWhenHidden, onCounts} from './live.js';
import {onChoice, setting} from './settings.js';
import {setCount} from './title.js';
import {toast} from './ui.js';

const MOST = 1000; // what the server counts at most
const TONES = [[660, 0], [880, 0.12]]; // Hz, seconds from now
const REMEMBERED = 500;

let stopCounts = null;
let stopChoice = null;
let audio = null;
let known = new Set(); // the messages that were announced

// A count of the server as a text: "999+" where it stopped to count.
export function countText(count) {
    return count >= MOST ? `${number(MOST - 1)}+` : number(count);
}

function isAway() {
    return document.hidden || !document.hasFocus();
}

// A browser lets a page sound only after the user has used it.
function ring() {
    audio ??= new AudioContext();
    for (const [frequency, after] of TONES) {
        const tone = audio.createOscillator();
        const volume = audio.createGain();
        const start = audio.currentTime + after;
        volume.gain.setValueAtTime(0.15, start);
        volume.gain.exponentialRampToValueAtTime(0.001, start + 0.25);
        tone.frequency.value = frequency;
        tone.connect(volume).connect(audio.destination);
        tone.start(start);
        tone.stop(start + 0.25);
    }
}

function notify(thread) {
    const notice = new Notification(nameOf(thread.contact),
        {body: summary(thread.lastMessage), tag: thread.id, icon: 'icon.svg'});
    notice.onclick = () => {
        window.focus();
        location.hash = `#/inbox/${thread.id}`;
        notice.close();
    };
}

// Whether the thread has a message that was not announced.
function isNew({unread, lastMessage, isBlocked}) {
    if (!unread || isBlocked || lastMessage?.direction !== 'in' || known.has(lastMessage.id))
        return false;
    known = new Set([...known, lastMessage.id].slice(-REMEMBERED));
    return true;
}

function announce(threads) {
    const fresh = threads.filter(isNew);
    if (!fresh.length || !isAway())
        return;
    if (setting('sound'))
        ring();
    if (!setting('notify') || window.Notification?.permission !== 'granted')
        return;
    try {
        fresh.forEach(notify);
    } catch (error) {
        console.warn(error); // Android has notifications of service workers only
    }
}

// The browser asks once, and only right after a choice of the user.
async function askPermission() {
    if (!setting('notify') || window.Notification?.permission === 'granted')
        return;
    if (!window.Notification || await Notification.requestPermission() !== 'granted')
        toast(t('settings.notify.refused'), 'bad');
}

export function startNotices() {
    stopNotices();
    askWhenHidden(() => setting('notify') || setting('sound'));
    stopChoice = onChoice(askPermission);
    stopCounts = onCounts((counts, threads) => {
        setCount(counts.unread ? countText(counts.unread) : '');
        announce(threads);
    });
}

export function stopNotices() {
    stopCounts?.();
    stopChoice?.();
    stopCounts = stopChoice = null;
    askWhenHidden(() => false);
    setCount('');
}
