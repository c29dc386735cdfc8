// The value of an <input type="datetime-local"> as ISO 8601 in UTC, and back.
export function toIso(local) {
    const time = new Date(local);
    return local && !Number.isNaN(time.getTime()) ? time.toISOString() : undefined;
}

export function toLocal(time) {
    const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60000);
    return shifted.toISOString().slice(0, 16);
}
