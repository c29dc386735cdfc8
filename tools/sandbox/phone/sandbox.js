// The control calls of the sandbox.

async function call(method, path, body) {
    let answer;
    try {
        answer = await fetch(`/_sandbox/${path}`, {method, body: body && JSON.stringify(body)});
    } catch {
        throw new Error('The sandbox does not answer.');
    }
    const value = await answer.json().catch(() => ({}));
    if (!answer.ok)
        throw new Error(value.error ?? `The sandbox answers ${answer.status}.`);
    return value;
}

// A user name always belongs to the same user: its id is a hash of it (FNV-1a, 64 bits).
export function bsuidOf(username) {
    let hash = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(username))
        hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    return `US.${String(hash % 10n ** 16n).padStart(16, '0')}`;
}

// The members of a call that name the user.
function userOf(person) {
    return person.username ? {bsuid: bsuidOf(person.username)} : {phone: person.phone};
}

// Every number of every account: [{id, displayNumber, business}].
export async function lines() {
    const all = await call('GET', 'accounts');
    return all.flatMap(({account, phones}) =>
        phones.map((phone) => ({...phone, business: account.name ?? account.wabaId})));
}

export function chat(line, person, after) {
    const query = new URLSearchParams({phoneNumberId: line, ...userOf(person), after});
    return call('GET', `chat?${query}`);
}

export function block(line, person, blocked) {
    return call('POST', 'chat', {phoneNumberId: line, ...userOf(person), blocked});
}

// Sends a webhook of the person. An error says that the program did not take it.
export async function post(line, person, update) {
    const {posts} = await call('POST', 'webhooks', {phoneNumberId: line, ...userOf(person),
        name: person.name, ...(person.username && {username: person.username}), ...update});
    const {delivered, attempts} = posts[0];
    const last = attempts.at(-1);
    if (!delivered) {
        throw new Error('The program did not take the webhook: ' +
            (last?.error || `it answered ${last?.status}`));
    }
}

// Uploads a picture and returns its id.
export async function upload(line, file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = '';
    for (let at = 0; at < bytes.length; at += 0x8000)
        text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    const media = await call('POST', 'media',
        {phoneNumberId: line, mimeType: file.type, filename: file.name, base64: btoa(text)});
    return media.id;
}

export const contentUrl = (id) => `/_sandbox/media/${encodeURIComponent(id)}/content`;

// The Flow JSON of a flow, or null when its client gave none.
export function flowJson(flow) {
    return call('GET', `flows/${encodeURIComponent(flow)}/json`).catch(() => null);
}
