// What the customer sees of this inbox, by setting: that a message was read, and that an answer is
// being written.
import {call} from '../api.js';
import {setting} from '../settings.js';

const SHOWN = 20000; // the platform shows the indicator of an answer for 25 seconds

// receipts({phoneNumberId, lastReceived}) returns {read(), write(), sent()}. lastReceived(): the
// newest message that the platform has delivered, or null.
export function receipts({phoneNumberId, lastReceived}) {
    let readId = null; // the last message that was marked
    let wroteAt = 0; // the time of the last indicator

    function send(message, typing) {
        readId = message.wamid;
        return call('POST', '/v2/messages/read', {body: {
            phoneNumberId, messageId: message.wamid, ...(typing ? {typing} : {})}});
    }

    return {
        // The platform marks all earlier messages too.
        async read() {
            const message = lastReceived();
            if (setting('receipts') && message && message.wamid !== readId)
                await send(message, false);
        },
        // It is a hint for the customer: an error is none for the one who writes.
        write() {
            const message = lastReceived();
            if (!setting('typing') || !message || Date.now() - wroteAt < SHOWN)
                return;
            wroteAt = Date.now();
            send(message, true).catch((error) => console.error('not shown as writing:', error));
        },
        // A message that is sent ends the indicator.
        sent() {
            wroteAt = 0;
        },
    };
}
