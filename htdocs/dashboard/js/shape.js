// Reading what the platform sent, whatever its shape is: it adds and changes members without
// notice.

// A table that is looked up by a received name: `constructor` and `__proto__` are no rows of it.
export function lookup(rows) {
    return Object.assign(Object.create(null), rows);
}

// A text or a number as text; '' for everything else.
export function textOf(value) {
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

// The number that a number or a text is; NaN for everything else.
export function numberOf(value) {
    return Number(textOf(value).trim() || NaN);
}

// The value if it is an object and no list, else {}.
export function objectOf(value) {
    return value && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

// The objects of a list; [] for everything else.
export function listOf(value) {
    return Array.isArray(value) ? value.filter((one) => one && typeof one === 'object') : [];
}
