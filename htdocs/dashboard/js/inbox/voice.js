// Records a voice message, in a form that the platform takes.
import {el} from '../dom.js';
import {t} from '../i18n.js';
import {icon} from '../icons.js';
import {button} from '../ui.js';

// What a browser may record, and the file that it becomes: type, extension, and what loads the
// function that converts the bytes. The platform takes no WebM.
const FORMS = [
    {records: 'audio/ogg;codecs=opus', type: 'audio/ogg', extension: 'ogg'},
    {records: 'audio/mp4;codecs=mp4a.40.2', type: 'audio/mp4', extension: 'm4a'},
    {
        records: 'audio/webm;codecs=opus', type: 'audio/ogg', extension: 'ogg',
        converter: async () => (await import('./ogg.js')).oggOfWebm,
    },
];
const BITS = 32000; // a second; voice needs no more
const PIECE = 1000; // ms

function form() {
    return FORMS.find(({records}) => window.MediaRecorder?.isTypeSupported(records));
}

// What this browser lacks to record voice messages: 'https', 'codec', or null.
export function missingForVoice() {
    return !navigator.mediaDevices ? 'https' : form() ? null : 'codec';
}

async function fileOf(pieces, {type, extension}, convert) {
    const blob = new Blob(pieces);
    const parts = convert ? convert(new Uint8Array(await blob.arrayBuffer())) : [blob];
    return new File(parts, `${t('voice.name')}.${extension}`, {type});
}

// Opens the microphone; an error is one in words.
async function microphone() {
    try {
        return await navigator.mediaDevices.getUserMedia({audio: {channelCount: 1}});
    } catch (error) {
        throw new Error(t(error.name === 'NotFoundError' ? 'voice.none' : 'voice.denied'),
            {cause: error});
    }
}

const leaving = (event) => event.preventDefault(); // the browser asks before it closes the page

// Begins to record: startVoice(longest) returns {root, ended, keep()}. `root` has time and buttons;
// `ended` is a promise of {file, isSent}, in which `file` is null if it was discarded. It ends by
// itself at `longest` bytes.
export async function startVoice(longest) {
    const made = form();
    const convert = await made.converter?.(); // now: there may be no connection at the end
    const stream = await microphone();
    const recorder = new MediaRecorder(stream,
        {mimeType: made.records, audioBitsPerSecond: BITS});
    const pieces = [];
    let size = 0;
    let isKept = true;
    let isSent = false;
    const began = Date.now();
    const clock = el('span', {class: 'voice-time', role: 'timer'}, '0:00');
    const timer = setInterval(() => {
        const seconds = Math.floor((Date.now() - began) / 1000);
        clock.textContent =
            `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    }, 250);
    const stop = () => recorder.state !== 'inactive' && recorder.stop();

    recorder.ondataavailable = ({data}) => {
        pieces.push(data);
        size += data.size;
        if (size + BITS / 8 * 2 > longest)
            stop();
    };
    const stopped = new Promise((resolve, reject) => {
        recorder.onstop = resolve;
        recorder.onerror = ({error}) => reject(error);
    });
    const ended = stopped.then(async () => ({
        file: isKept ? await fileOf(pieces, made, convert) : null, isSent,
    })).finally(() => {
        clearInterval(timer);
        stream.getTracks().forEach((track) => track.stop());
        window.removeEventListener('beforeunload', leaving);
    });
    window.addEventListener('beforeunload', leaving);
    recorder.start(PIECE);

    const root = el('div', {class: 'composer-row voice', role: 'group',
        'aria-label': t('voice.recording')},
    button(t('voice.discard'), () => {
        isKept = false;
        stop();
    }, {kind: 'quiet', icon: 'close', isIconOnly: true}),
    el('span', {class: 'voice-sign'}, icon('mic')), clock,
    button(t('voice.stop'), stop, {icon: 'stop'}),
    button(t('inbox.send'), () => {
        isSent = true;
        stop();
    }, {kind: 'primary', icon: 'send', isIconOnly: true}));
    return {root, ended, keep: stop};
}
