// Fills a flow: the screens of its Flow JSON, as far as they have forms; or, when its client gave
// none, any names and values.
import {closeDialog, form, openDialog} from './dialog.js';
import {el} from './dom.js';
import {flowJson} from './sandbox.js';
import {lookup} from './shape.js';

const checked = (inputs) => inputs.filter((input) => input.checked).map(({value}) => value);
const one = {type: 'radio', isList: true, read: (inputs) => checked(inputs)[0] ?? null};
const several = {type: 'checkbox', isList: true, read: checked};
const written = (type) => ({type, read: ([input]) => input.value});

// The components that have a value: the type of their inputs, and how it is read from these.
const FIELDS = lookup({
    TextInput: written('text'),
    TextArea: written('textarea'),
    DatePicker: written('date'),
    OptIn: {type: 'checkbox', read: ([input]) => input.checked},
    Dropdown: one,
    RadioButtonsGroup: one,
    CheckboxGroup: several,
    ChipsSelector: several,
});

// The components of a screen, those in forms and conditions too, in order.
function componentsOf(node) {
    return (node?.children ?? []).flatMap((child) => child.children ? componentsOf(child) :
        child.type === 'If' ? componentsOf({children: child.then}) : [child]);
}

// Replaces ${form.x}, ${data.x} and ${screen.S.form.x} in the values of a payload.
function resolved(value, answers, data) {
    if (value && typeof value === 'object') {
        return Object.fromEntries(Object.entries(value).map(
            ([name, part]) => [name, resolved(part, answers, data)]));
    }
    const found = /^\$\{(?:screen\.\w+\.)?(form|data)\.(\w+)\}$/.exec(value);
    return found ? (found[1] === 'form' ? answers : data)[found[2]] ?? null : value;
}

const plain = (value, data) => Array.isArray(value) ? value.join(' ') :
    resolved(typeof value === 'boolean' ? '' : value ?? '', {}, data);

function optionsOf({'data-source': source}, data) {
    return (Array.isArray(source) ? source : resolved(source, {}, data)) ?? [];
}

function field(component, data) {
    const {type, name} = component;
    const kind = FIELDS[type];
    if (!kind) {
        return /^Text/.test(type) && el('p', {class: type === 'TextHeading' ? 'strong' : ''},
            plain(component.text, data));
    }
    const label = plain(component.label, data) || name;
    const required = component.required === true;
    if (kind.isList) {
        return el('fieldset', {class: 'checks'}, el('legend', {}, label),
            optionsOf(component, data).map(({id, title}) => el('label', {class: 'row'},
                el('input', {type: kind.type, name, value: id,
                    required: required && kind === one}), title)));
    }
    if (type === 'OptIn') {
        return el('label', {class: 'row'}, el('input', {type: kind.type, name, required}), label);
    }
    return el('label', {class: 'field'}, label, kind.type === 'textarea' ?
        el('textarea', {name, required, rows: 3}) :
        el('input', {type: component['input-type'] === 'number' ? 'number' : kind.type, name,
            required}));
}

function valuesOf(node, components) {
    return Object.fromEntries(components.filter(({type, name}) => name && FIELDS[type]).map(
        ({type, name}) => [name,
            FIELDS[type].read([...node.querySelectorAll(`[name="${CSS.escape(name)}"]`)])]));
}

function showScreen(flow, id, data, answers, done) {
    const screen = flow.screens.find((other) => other.id === id) ?? flow.screens[0];
    const components = componentsOf(screen.layout);
    const footer = components.find(({type}) => type === 'Footer');
    const act = footer?.['on-click-action'] ?? {name: 'complete'};
    openDialog(plain(screen.title, data) || 'Flow',
        form(plain(footer?.label, data) || 'Send', (node) => {
            const all = {...answers, ...valuesOf(node, components)};
            const payload = resolved(act.payload ?? {}, all, data);
            if (act.name === 'navigate')
                showScreen(flow, act.next?.name, payload, all, done);
            else
                done(act.name === 'complete' && act.payload ? payload : all);
        }, components.map((component) => field(component, data))));
}

// A flow without Flow JSON: lines of names and values.
function showFree(done) {
    const input = el('textarea', {rows: 4, required: true, 'aria-label': 'Answers'}, 'name=Ada');
    openDialog('Flow', form('Send', () => done(Object.fromEntries(
        input.value.split('\n').filter((line) => line.includes('=')).map((line) =>
            [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))),
    el('p', {}, 'The sandbox has no Flow JSON of this flow. Write what the answer has: a line ' +
        'name=value each.'), input));
}

// Opens a flow; complete(values) is called with the answer, with the token of the flow.
export async function openFlow(parameters, complete) {
    const flow = await flowJson(parameters.flow_id ?? parameters.flow_name);
    const payload = parameters.flow_action_payload ?? {};
    const done = (values) => {
        closeDialog();
        complete({flow_token: parameters.flow_token ?? 'unused', ...values});
    };
    if (flow?.screens?.length)
        showScreen(flow, payload.screen, payload.data ?? {}, {}, done);
    else
        showFree(done);
}
