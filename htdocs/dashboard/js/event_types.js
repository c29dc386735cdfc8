// The types of events, which the build lists from the table of the programs.

let reading = null;

async function read() {
    const url = new URL('../../v2/docs/event_types.json', import.meta.url);
    const response = await fetch(url, {cache: 'no-cache'});
    if (!response.ok)
        throw new Error(`${url.pathname}: HTTP ${response.status}`);
    return response.json();
}

// Reads them once: a promise of {types, preset}; `preset` is what a webhook gets that selects no
// types. After a failure the next call reads again.
export function eventTypes() {
    reading ??= read().catch((error) => {
        reading = null;
        throw error;
    });
    return reading;
}
