// Calls the API of this host with the session's cookie.

// An answer that is not a success, or no answer at all (status 0, error NETWORK).
export class ApiError extends Error {
    constructor({status, error, message, details, requestId, retryAfter}) {
        super(message);
        this.name = 'ApiError';
        Object.assign(this, {status, error, details, requestId, retryAfter});
    }
}

// Called when the session has ended: onLostSession(() => ...). One function for the whole page.
let lostSession = () => {};
export function onLostSession(callback) {
    lostSession = callback;
}

// The member and the workspace that this page shows. The gateway refuses requests with these ids
// when another member has logged in in the browser, so a page never acts for another one.
let shown = null;
export function setShown(member, workspace) {
    shown = member && {'X-Switchboard-Member': member, 'X-Switchboard-Workspace': workspace};
}

// Builds a path with its query; fields that are undefined, null or empty are left out.
export function pathOf(path, query = {}) {
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        if (value !== undefined && value !== null && value !== '')
            text.set(name, String(value));
    }
    return text.size ? `${path}?${text}` : path;
}

function requestOf(method, {body, json, key, seen, prefer, signal, isOfAnyUser}) {
    const headers = {'X-Switchboard': '1'};
    const options = {method, headers, signal, cache: 'no-store', credentials: 'same-origin'};
    if (shown && !isOfAnyUser)
        Object.assign(headers, shown);
    if (key)
        headers['Idempotency-Key'] = key;
    if (seen)
        headers['X-Switchboard-Seen'] = seen;
    if (prefer)
        headers.Prefer = prefer;
    if (body instanceof FormData || body instanceof Blob) {
        options.body = body; // the browser sets the type, and a boundary
    } else if (body !== undefined || json !== undefined) {
        headers['Content-Type'] = 'application/json';
        options.body = json ?? JSON.stringify(body);
    }
    return options;
}

async function failureOf(response) {
    const requestId = response.headers.get('X-Request-Id');
    const retryAfter = Number(response.headers.get('Retry-After')) || undefined;
    let envelope = {};
    try {
        envelope = await response.json();
    } catch {
        // an answer that is not ours, as of a proxy, has no envelope
    }
    return new ApiError({
        status: response.status, requestId, retryAfter,
        error: envelope.error ?? 'HTTP_ERROR',
        message: envelope.message ?? `HTTP ${response.status} ${response.statusText}`,
        details: envelope.details,
    });
}

// --- Time ----------------------------------------------------------------------------------------

const TOLERANCE = 60000; // ms: the header has whole seconds, and an answer takes a while
let skew = 0; // how far the server's clock is ahead of this device's

function noteTime(response) {
    const ahead = Date.parse(response.headers.get('Date')) - Date.now();
    if (!Number.isNaN(ahead))
        skew = Math.abs(ahead) > TOLERANCE ? ahead : 0;
}

// The present time for what ends by the server's clock, also on a device whose clock is wrong.
export function serverTime() {
    return Date.now() + skew;
}

function headersOf(request) {
    const lines = request.getAllResponseHeaders().split('\r\n').filter(Boolean);
    return new Headers(lines.map((line) => {
        const at = line.indexOf(':');
        return [line.slice(0, at), line.slice(at + 1).trim()];
    }));
}

// As fetch, and calls onProgress(part) with the part of the body that was sent, of 1: fetch does
// not report it.
function transmit(url, {method, headers, body, signal}, onProgress) {
    const request = new XMLHttpRequest();
    return new Promise((resolve, reject) => {
        request.open(method, url);
        for (const [name, value] of Object.entries(headers))
            request.setRequestHeader(name, value);
        request.responseType = 'blob';
        request.upload.onprogress = ({loaded, total}) => onProgress(total ? loaded / total : 0);
        request.onload = () => resolve(new Response(request.response, {
            status: request.status, statusText: request.statusText, headers: headersOf(request)}));
        request.onerror = () => reject(new TypeError('no answer'));
        request.onabort = () => reject(new DOMException('cancelled', 'AbortError'));
        signal?.addEventListener('abort', () => request.abort());
        request.send(body);
    });
}

// Sends a request and returns its Response, or throws an ApiError. `keepsSession`: a 401 is an
// answer of this call and does not end the session, as for a wrong password.
export async function send(method, path, options = {}) {
    let response;
    try {
        const url = pathOf(path, options.query), request = requestOf(method, options);
        response = options.onProgress ? await transmit(url, request, options.onProgress)
            : await fetch(url, request);
    } catch (error) {
        if (error.name === 'AbortError')
            throw error;
        throw new ApiError({status: 0, error: 'NETWORK', message: String(error.message)});
    }
    noteTime(response);
    if (response.ok || response.status === 304)
        return response;
    const failure = await failureOf(response);
    if (response.status === 401 && !options.keepsSession)
        lostSession(failure);
    throw failure;
}

// Sends a request and returns `data` of the envelope; null for 304. Options: query, body (JSON,
// FormData or a Blob), json (a text that is sent as it is), key (the Idempotency-Key), seen
// (X-Switchboard-Seen), prefer (Prefer), signal (of an AbortController), onProgress (see transmit),
// keepsSession, isOfAnyUser (also when another user has logged in in this browser).
export async function call(method, path, options = {}) {
    const response = await send(method, path, options);
    if (response.status === 304 || response.status === 204)
        return null;
    try {
        return (await response.json()).data;
    } catch (error) {
        if (error.name === 'AbortError')
            throw error;
        throw new ApiError({
            status: 0, error: 'NETWORK', message: 'The answer was cut off.',
            requestId: response.headers.get('X-Request-Id'),
        });
    }
}
