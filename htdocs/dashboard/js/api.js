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

// The user whom this page shows. The gateway refuses requests with this id when another user has
// logged in in the browser, so a page never acts for another one.
let pageUser = null;
export function setPageUser(id) {
    pageUser = id;
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

function requestOf(method, {body, key, signal, isOfAnyUser}) {
    const headers = {'X-Switchboard': '1'};
    const options = {method, headers, signal, cache: 'no-store', credentials: 'same-origin'};
    if (pageUser && !isOfAnyUser)
        headers['X-Switchboard-User'] = pageUser;
    if (key)
        headers['Idempotency-Key'] = key;
    if (body instanceof FormData) {
        options.body = body; // the browser sets the type with its boundary
    } else if (body !== undefined) {
        headers['Content-Type'] = 'application/json';
        options.body = JSON.stringify(body);
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

// Sends a request and returns its Response, or throws an ApiError. `keepsSession`: a 401 is an
// answer of this call and does not end the session, as for a wrong password.
export async function send(method, path, options = {}) {
    let response;
    try {
        response = await fetch(pathOf(path, options.query), requestOf(method, options));
    } catch (error) {
        if (error.name === 'AbortError')
            throw error;
        throw new ApiError({status: 0, error: 'NETWORK', message: String(error.message)});
    }
    if (response.ok || response.status === 304)
        return response;
    const failure = await failureOf(response);
    if (response.status === 401 && !options.keepsSession)
        lostSession(failure);
    throw failure;
}

// Sends a request and returns `data` of the envelope; null for 304. Options: query, body (JSON or
// FormData), key (the Idempotency-Key), signal (of an AbortController), keepsSession, isOfAnyUser
// (also when another user has logged in in this browser).
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
