// What the editor of a template holds, and the JSON that the platform takes for it. A draft has
// {name, language, category, header: {kind, text, handle, fileName}, body, footer, samples,
// buttons, code: {warns, minutes, text}}: `samples` are by place and name of the variable, `code`
// is of authentication templates, whose texts the platform writes.
import {namesIn, partOf} from './definition.js';

export const MEDIA = ['IMAGE', 'VIDEO', 'DOCUMENT'];

export function newDraft() {
    return {
        name: '', language: 'en_US', category: 'UTILITY', body: '', footer: '', samples: {},
        header: {kind: '', text: '', handle: '', fileName: ''}, buttons: [],
        code: {warns: true, minutes: '', text: ''},
    };
}

const isNumber = (name) => /^\d+$/.test(name);

// The names of the variables of a text, in the order of their samples.
export function variablesOf(text) {
    const names = namesIn(text);
    return names.every(isNumber) ? names.toSorted((a, b) => a - b) : names;
}

// Whether the variables have names: the texts of a template have all the same kind.
export function isNamed({header, body}) {
    return variablesOf(`${header.kind === 'TEXT' ? header.text : ''} ${body}`)
        .some((name) => !isNumber(name));
}

// --- From a draft to the platform's JSON ---------------------------------------------------------

// The member `example` of a text; none where no sample was given, which the platform refuses.
function exampleOf(draft, place, text) {
    const names = variablesOf(text);
    const sampleOf = (name) => draft.samples[`${place}.${name}`] ?? '';
    if (!names.some(sampleOf))
        return {};
    if (isNamed(draft))
        return {example: {[`${place}_text_named_params`]: names.map((name) =>
            ({param_name: name, example: sampleOf(name)}))}};
    const values = names.map(sampleOf);
    return {example: {[`${place}_text`]: place === 'body' ? [values] : values}};
}

function headerOf(draft) {
    const {kind, text, handle} = draft.header;
    if (!kind)
        return [];
    if (kind === 'TEXT')
        return [{type: 'HEADER', format: kind, text, ...exampleOf(draft, 'header', text)}];
    return [{type: 'HEADER', format: kind, ...handle ? {example: {header_handle: [handle]}} : {}}];
}

function buttonOf({type, text, url, phone, sample}) {
    return {
        QUICK_REPLY: () => ({type, text}),
        URL: () => ({type, text, url, ...namesIn(url).length && sample ? {example: [sample]} : {}}),
        PHONE_NUMBER: () => ({type, text, phone_number: phone}),
        COPY_CODE: () => ({type, example: sample}),
    }[type]();
}

function codeComponents({code: {warns, minutes, text}}) {
    return [
        {type: 'BODY', add_security_recommendation: warns},
        ...minutes ? [{type: 'FOOTER', code_expiration_minutes: Number(minutes)}] : [],
        {type: 'BUTTONS', buttons: [{type: 'OTP', otp_type: 'COPY_CODE', ...text ? {text} : {}}]},
    ];
}

export function componentsOf(draft) {
    if (draft.category === 'AUTHENTICATION')
        return codeComponents(draft);
    return [
        ...headerOf(draft),
        {type: 'BODY', text: draft.body, ...exampleOf(draft, 'body', draft.body)},
        ...draft.footer ? [{type: 'FOOTER', text: draft.footer}] : [],
        ...draft.buttons.length ? [{type: 'BUTTONS', buttons: draft.buttons.map(buttonOf)}] : [],
    ];
}

// The body of the request that creates the template.
export function creationOf(draft) {
    const {name, language, category} = draft;
    return {name, language, category,
        ...category !== 'AUTHENTICATION' && isNamed(draft) ? {parameter_format: 'NAMED'} : {},
        components: componentsOf(draft)};
}

// The body of the request that edits it. `former` is the definition: an approved template keeps its
// category.
export function changeOf(draft, former) {
    return {...draft.category === former.category ? {} : {category: draft.category},
        components: componentsOf(draft)};
}

// --- From a definition to a draft ----------------------------------------------------------------

function samplesOf(components) {
    const samples = {};
    for (const [place, part] of [['header', 'HEADER'], ['body', 'BODY']]) {
        const {text, example = {}} = partOf({components}, part) ?? {};
        const named = example[`${place}_text_named_params`] ?? [];
        const list = [example[`${place}_text`] ?? []].flat(2);
        variablesOf(text).forEach((name, i) => {
            samples[`${place}.${name}`] = named.find((one) => one.param_name === name)?.example ??
                list[i] ?? '';
        });
    }
    return samples;
}

function buttonFrom({type, text, url, phone_number: phone, example}) {
    return {type, text: text ?? '', url: url ?? '', phone: phone ?? '',
        sample: String([example].flat()[0] ?? '')};
}

function headerFrom(components) {
    const {format, text, example} = partOf({components}, 'HEADER') ?? {};
    const handle = String(example?.header_handle?.[0] ?? '');
    return {kind: format ?? '', text: text ?? '', fileName: '',
        // the platform shows a sample by its address, which it does not take as a sample
        handle: handle.startsWith('http') ? '' : handle};
}

function codeFrom(components) {
    const minutes = partOf({components}, 'FOOTER')?.code_expiration_minutes;
    return {warns: partOf({components}, 'BODY')?.add_security_recommendation === true,
        minutes: minutes ? String(minutes) : '',
        text: partOf({components}, 'BUTTONS')?.buttons?.[0]?.text ?? ''};
}

export function draftOf({name, language, category, sent: {components}}) {
    return {...newDraft(), name, language, category, header: headerFrom(components),
        body: partOf({components}, 'BODY')?.text ?? '',
        footer: partOf({components}, 'FOOTER')?.text ?? '', samples: samplesOf(components),
        buttons: (partOf({components}, 'BUTTONS')?.buttons ?? []).map(buttonFrom),
        code: codeFrom(components)};
}

// The components without the order of their members, and without the sample of a file.
function canonical(value) {
    return JSON.stringify(value, (name, one) => one && typeof one === 'object' &&
        !Array.isArray(one) ? Object.fromEntries(Object.entries(one).filter(([member, inner]) =>
            member !== 'header_handle' && !inner?.header_handle).toSorted()) : one);
}

// Whether the editor has a field for each member of the template: else an edit would lose some.
export function isEditable(definition) {
    try {
        return canonical(componentsOf(draftOf(definition))) ===
            canonical(definition.sent.components);
    } catch {
        return false; // a shape that the editor does not know
    }
}
