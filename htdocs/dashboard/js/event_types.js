// The types of events, which the build lists from the table of the programs.
export let EVENT_TYPES = [];

// What a webhook gets that selects no types.
export let DEFAULT_TYPES = [];

// Loads them; throws if they cannot be read.
export async function loadEventTypes() {
    const url = new URL('../../v2/docs/event_types.json', import.meta.url);
    const response = await fetch(url, {cache: 'no-cache'});
    if (!response.ok)
        throw new Error(`${url.pathname}: HTTP ${response.status}`);
    ({types: EVENT_TYPES, preset: DEFAULT_TYPES} = await response.json());
}
