// Template definitions of the platform: their variables, the components of a send, and the text
// with values. A variable is {key, label, example, component, ...}.

const NAMES = /\{\{\s*([^{}\s]+)\s*\}\}/g;

// The component of a type, such as 'BODY'.
export function partOf(definition, type) {
    return (definition.components ?? []).find((one) => one.type?.toUpperCase() === type);
}

// The names of the variables in a text, each once.
export function namesIn(text) {
    return [...new Set([...(text ?? '').matchAll(NAMES)].map((found) => found[1]))];
}

// The example of a variable in the definition, or ''.
function exampleOf(component, name, index) {
    const example = component.example ?? {};
    const named = [...(example.body_text_named_params ?? []),
        ...(example.header_text_named_params ?? [])].find((one) => one.param_name === name);
    const list = example.body_text?.[0] ?? example.header_text ?? [];
    return named?.example ?? (Array.isArray(list) ? list[index] : list) ?? '';
}

function textVariables(component, place) {
    return namesIn(component?.text).map((name, i) => ({
        key: `${place}.${name}`, place, name, isNamed: !/^\d+$/.test(name),
        kind: 'text', example: exampleOf(component, name, i),
    }));
}

function headerVariables(definition) {
    const header = partOf(definition, 'HEADER');
    if (!header)
        return [];
    const format = (header.format ?? 'TEXT').toLowerCase();
    if (format === 'text')
        return textVariables(header, 'header');
    return ['image', 'video', 'document'].includes(format)
        ? [{key: 'header.media', place: 'header', kind: 'media', media: format, example: ''}] : [];
}

function buttonVariables(definition) {
    return (partOf(definition, 'BUTTONS')?.buttons ?? []).flatMap((one, index) => {
        const base = {place: 'button', index: String(index), label: one.text, example:
            String([one.example].flat()[0] ?? '')};
        if (one.type === 'URL' && namesIn(one.url).length)
            return [{...base, key: `button.${index}`, kind: 'suffix', url: one.url,
                example: base.example.replace(one.url.split('{{')[0], '')}];
        if (one.type === 'COPY_CODE')
            return [{...base, key: `button.${index}`, kind: 'code'}];
        return [];
    });
}

// The texts as they were defined: name, header, body, footer and buttons.
export function textsOf({name, components: parts}) {
    return [name, ...(parts ?? []).flatMap(({text, buttons}) =>
        [text, ...(buttons ?? []).map((one) => one.text)])];
}

// The variables that a send must fill, in the order of the message. The button of an
// authentication template carries the code of the body.
export function variables(definition) {
    const body = textVariables(partOf(definition, 'BODY'), 'body');
    const buttons = isAuthentication(definition) ? [] : buttonVariables(definition);
    return [...headerVariables(definition), ...body, ...buttons];
}

export function isAuthentication(definition) {
    return definition.category === 'AUTHENTICATION';
}

// What no field here can fill: such a template is sent through the API only.
export function isTooComplex(definition) {
    return (definition.components ?? []).some(({type, format, buttons = []}) =>
        ['CAROUSEL', 'LIMITED_TIME_OFFER'].includes(type?.toUpperCase()) ||
        ['LOCATION', 'PRODUCT'].includes(format) ||
        buttons.some((one) => ['CATALOG', 'MPM', 'SPM'].includes(one.type)));
}

function parameterOf(variable, value) {
    if (variable.kind === 'media')
        return {type: variable.media, [variable.media]: {id: value}};
    if (variable.kind === 'code')
        return {type: 'coupon_code', coupon_code: value};
    return variable.isNamed ? {type: 'text', parameter_name: variable.name, text: value}
        : {type: 'text', text: value};
}

// The `components` of a send: values by key of the variable.
export function components(definition, values) {
    const list = [];
    for (const place of ['header', 'body']) {
        const own = variables(definition).filter((one) => one.place === place);
        if (own.length)
            list.push({type: place, parameters: own.map((one) =>
                parameterOf(one, values[one.key]))});
    }
    for (const one of variables(definition).filter(({place}) => place === 'button')) {
        list.push({type: 'button', sub_type: one.kind === 'code' ? 'copy_code' : 'url',
            index: one.index, parameters: [parameterOf(one, values[one.key])]});
    }
    if (isAuthentication(definition) && partOf(definition, 'BUTTONS')) {
        list.push({type: 'button', sub_type: 'url', index: '0',
            parameters: [{type: 'text', text: values['body.1']}]});
    }
    return list;
}

// Replaces {{1}} and {{name}} by valueOf(name), where that has a text.
export function replaceNames(text, valueOf) {
    return text.replace(NAMES, (whole, name) => valueOf(name) || whole);
}

// The lines of the message with values(place, name): [{kind: header|body|footer|button|media,
// text}].
export function lines(definition, valueOf) {
    const list = [];
    const header = partOf(definition, 'HEADER');
    if (header?.text)
        list.push({kind: 'header', text: replaceNames(header.text, (name) =>
            valueOf('header', name))});
    else if (header)
        list.push({kind: 'media', text: (header.format ?? '').toLowerCase()});
    const body = partOf(definition, 'BODY');
    if (body?.text)
        list.push({kind: 'body', text: replaceNames(body.text, (name) => valueOf('body', name))});
    const footer = partOf(definition, 'FOOTER');
    if (footer?.text)
        list.push({kind: 'footer', text: footer.text});
    for (const one of partOf(definition, 'BUTTONS')?.buttons ?? [])
        list.push({kind: 'button', text: one.text ?? one.type});
    return list;
}

// The lines with the definition's examples.
export function exampleLines(definition) {
    const examples = new Map(variables(definition).map((one) => [one.key, one.example]));
    return lines(definition, (place, name) => examples.get(`${place}.${name}`));
}

// The lines with the parameters that a send had.
export function fillText(definition, sent) {
    const own = new Map();
    for (const {type, parameters = []} of sent) {
        parameters.forEach((one, i) =>
            own.set(`${type}.${one.parameter_name ?? i + 1}`, one.text ?? ''));
    }
    return lines(definition, (place, name) => own.get(`${place}.${name}`))
        .filter(({kind}) => kind !== 'media');
}
