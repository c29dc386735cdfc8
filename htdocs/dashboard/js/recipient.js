// Who gets a message, as members write it.

const BSUID = /^[A-Z]{2}\.([A-Za-z0-9]+|ENT\.[A-Za-z0-9]+)$/;

// A phone in any spelling, or a business-scoped user id; null if it is neither.
export function recipientFrom(text) {
    const value = text.trim();
    if (BSUID.test(value))
        return {recipient: value};
    return /^[+\d][\d\s().-]{4,}$/.test(value) ? {to: value} : null;
}
