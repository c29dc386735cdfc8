// Sends that a member starts by a button.
import {call} from './api.js';
import {isWorthRepeating, newKey} from './inbox/outbox.js';

// Returns a function post(path, body). The same body again after a request without an answer has
// its key, and is carried out once; after any answer, which is kept under its key, it has a new
// one.
export function attempts() {
    let last = null;
    return async function post(path, body) {
        const text = JSON.stringify(body);
        if (last?.text !== text)
            last = {text, key: newKey()};
        try {
            const answer = await call('POST', path, {body, key: last.key});
            last = null;
            return answer;
        } catch (error) {
            if (!isWorthRepeating(error))
                last = null;
            throw error;
        }
    };
}
