// Template definitions of the accounts: read once and kept until they are refreshed.
import {call} from '../api.js';
import {listOf, objectOf, textOf} from '../shape.js';

const PAGE = 100;
const PAGES = 20;
// quality_score and rejected_reason come only when they are named
const FIELDS = 'name,language,status,category,sub_category,parameter_format,components,' +
    'quality_score,rejected_reason,message_send_ttl_seconds,cta_url_link_tracking_opted_out';

const known = new Map(); // selector -> promise of the list
let found = new Map(); // selector, name and language -> definition, null while it is unknown

// The object with a text in each of these members that it has.
function withTexts(value, names) {
    const one = {...objectOf(value)};
    for (const name of names.filter((each) => each in one && one[each] !== null))
        one[name] = textOf(one[name]);
    return one;
}

// A text, or the texts of a list.
function textsIn(value) {
    return Array.isArray(value) ? value.map(textOf) : textOf(value);
}

function exampleFrom(value) {
    const one = objectOf(value);
    const named = (list) => listOf(list).map((each) => withTexts(each, ['param_name', 'example']));
    return {...one, body_text: Array.isArray(one.body_text) && one.body_text.length
        ? [textsIn(one.body_text[0])] : null, header_text: textsIn(one.header_text),
        body_text_named_params: named(one.body_text_named_params),
        header_text_named_params: named(one.header_text_named_params)};
}

function componentFrom(value) {
    const one = withTexts(value, ['type', 'format', 'text']);
    return {...one, example: exampleFrom(one.example), buttons: listOf(one.buttons).map((each) => {
        const made = withTexts(each, ['type', 'text', 'url']);
        return {...made, example: textsIn(made.example)};
    })};
}

// The members that this page reads, in the shapes that it reads, whatever the platform sent;
// `sent` is the definition as it came.
function definitionFrom(sent) {
    const one = withTexts(sent, ['status', 'category', 'rejected_reason', 'id']);
    return {...one, sent, name: textOf(one.name), language: textOf(one.language),
        quality_score: withTexts(one.quality_score, ['score']),
        components: listOf(one.components).map(componentFrom)};
}

async function readAll(selector) {
    const list = [];
    let after;
    for (let i = 0; i < PAGES; i++) {
        const {items, paging} = await call('GET', '/v2/templates',
            {query: {...selector, limit: PAGE, after, fields: FIELDS}});
        list.push(...listOf(items).map(definitionFrom));
        after = paging?.cursors?.after;
        if (!paging?.next || !after || !items.length)
            break;
    }
    return list;
}

// All templates of an account, which `selector` names: {accountId} or {phoneNumberId}.
export function templatesOf(selector, {isFresh = false} = {}) {
    const name = JSON.stringify(selector);
    if (isFresh)
        known.delete(name);
    if (!known.has(name)) {
        const reading = readAll(selector);
        known.set(name, reading);
        reading.catch(() => known.delete(name));
    }
    return known.get(name);
}

// The definitions behind the template messages of a thread: find(name, language) returns one, or
// null; then it is read, and `onFound` is called when it is there.
export function definitions(phoneNumberId, onFound) {
    let isStopped = false;

    async function read(id, name, language) {
        try {
            found.set(id, definitionFrom(await call('GET',
                `/v2/templates/${encodeURIComponent(name)}`, {query: {phoneNumberId, language}})));
            if (!isStopped)
                onFound();
        } catch {
            // a template that was deleted: its messages show its name and their parameters
        }
    }

    return {
        find(name, language) {
            const id = JSON.stringify([phoneNumberId, name, language]);
            if (name && !found.has(id)) {
                found.set(id, null);
                read(id, name, language);
            }
            return found.get(id) ?? null;
        },
        stop() {
            isStopped = true;
        },
    };
}

export function forgetTemplates() {
    known.clear();
    found = new Map();
}
