// That a member writes an answer, for the other members: what the others read, and what this page
// says of its own member.
import {call, serverTime} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';

const EVERY = 10000; // ms between two notices; the server shows one for 15 seconds

// typingNotice({threadId, isShared}) returns {root, show(typing), write(), sent(), stop()}: show()
// shows the member `typing` of the thread until its time, write() says that the own text has
// changed, where isShared(), and after sent() the next text is said at once.
export function typingNotice({threadId, isShared}) {
    const root = el('p', {class: 'typing small muted', role: 'status'});
    let wroteAt = 0; // the time of the last notice
    let timer = null;

    function show(typing) {
        const left = typing ? new Date(typing.until) - serverTime() : 0;
        clearTimeout(timer);
        const text = left > 0 ? t('inbox.typing', {name: typing.by.name}) : '';
        if (root.textContent !== text)
            fill(root, text);
        if (left > 0)
            timer = setTimeout(show, left, null);
    }

    return {
        root,
        show,
        // It is a hint: an error is none for the one who writes.
        write() {
            if (!isShared() || Date.now() - wroteAt < EVERY)
                return;
            wroteAt = Date.now();
            call('PUT', `/v2/threads/${threadId}/typing`, {body: {}})
                .catch((error) => console.error('not shown as writing:', error));
        },
        sent() {
            wroteAt = 0;
        },
        stop: () => clearTimeout(timer),
    };
}
