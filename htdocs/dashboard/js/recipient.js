// Who gets a message, as members write it.
import {call} from './api.js';

const BSUID = /^[A-Z]{2}\.([A-Za-z0-9]+|ENT\.[A-Za-z0-9]+)$/;
const USERNAME = /^@?([A-Za-z0-9._]{3,35})$/;
const PAGES = 10; // of the contacts that a user name is looked for in

// A phone in any spelling, or a business-scoped user id; null if it is neither.
export function recipientFrom(text) {
    const value = text.trim();
    if (BSUID.test(value))
        return {recipient: value};
    return /^[+\d][\d\s().-]{4,}$/.test(value) ? {to: value} : null;
}

// The recipient's fields of a request: the phone, else the business-scoped user id.
export function recipientOf(contact) {
    return contact.phone ? {to: contact.phone}
        : {recipient: contact.userId ?? contact.parentUserId};
}

// The contact of an account with this user name; null: there is none.
async function findNamed(username, accountId) {
    let after;
    for (let i = 0; i < PAGES; i++) {
        const {items, paging} = await call('GET', '/v2/contacts',
            {query: {q: username, accountId, limit: 100, after}});
        const found = items.find((one) => one.username?.toLowerCase() === username.toLowerCase());
        after = paging.cursors.after;
        if (found || !after)
            return found ?? null;
    }
    return null;
}

// The same as recipientFrom, and by the user name of a contact of the account too.
export async function personFrom(text, accountId) {
    const [, username] = text.trim().match(USERNAME) ?? [];
    const contact = !recipientFrom(text) && username && await findNamed(username, accountId);
    return contact ? recipientOf(contact) : recipientFrom(text);
}
