// Fills a flow: the screens of its Flow JSON, as far as they have forms; or, when its client gave
// none, any names and values.
import {closeDialog, el, openDialog} from './dom.js';
import {flowJson} from './sandbox.js';

const CHOICES = ['Dropdown', 'RadioButtonsGroup', 'CheckboxGroup', 'ChipsSelector'];
const INPUTS = {TextInput: 'text', TextArea: 'textarea', DatePicker: 'date', OptIn: 'checkbox'};

// The components of a screen, those in forms and conditions too, in order.
function componentsOf(node) {
    return (node?.children ?? []).flatMap((child) => child.children ? componentsOf(child) :
        child.type === 'If' ? componentsOf({children: child.then}) : [child]);
}

// Replaces ${form.x}, ${data.x} and ${screen.S.form.x} in the values of a payload.
function resolved(value, answers, data) {
    if (value && typeof value === 'object') {
        return Object.fromEntries(Object.entries(value).map(
            ([name, one]) => [name, resolved(one, answers, data)]));
    }
    const found = /^\$\{(?:screen\.\w+\.)?(form|data)\.(\w+)\}$/.exec(value);
    return found ? (found[1] === 'form' ? answers : data)[found[2]] ?? null : value;
}

const plain = (value, data) => Array.isArray(value) ? value.join(' ') :
    resolved(typeof value === 'boolean' ? '' : value ?? '', {}, data);

function optionsOf(component, data) {
    const source = component['data-source'];
    return (Array.isArray(source) ? source : resolved(source, {}, data)) ?? [];
}

function choices(component, data) {
    const multiple = component.type === 'CheckboxGroup' || component.type === 'ChipsSelector';
    return el('fieldset', {}, el('legend', {}, plain(component.label, data) || component.name),
        optionsOf(component, data).map((option) => el('label', {class: 'option'},
            el('input', {type: multiple ? 'checkbox' : 'radio', name: component.name,
                value: option.id, required: component.required && !multiple}), option.title)));
}

function field(component, data) {
    const {type, name, label, required} = component;
    if (CHOICES.includes(type))
        return choices(component, data);
    if (type in INPUTS) {
        const input = INPUTS[type] === 'textarea' ? el('textarea', {name, required, rows: 3}) :
            el('input', {type: type === 'TextInput' && component['input-type'] === 'number' ?
                'number' : INPUTS[type], name, required: required === true});
        return el('label', {class: type === 'OptIn' ? 'option' : 'field'},
            type === 'OptIn' ? [input, plain(label, data)] : [plain(label, data) || name, input]);
    }
    return /^Text/.test(type) ? el('p', {class: type === 'TextHeading' ? 'title' : 'body'},
        plain(component.text, data)) : null;
}

// Reads the values of a form: lists of groups of boxes, true or false of a single one.
function valuesOf(form, components) {
    const values = {};
    for (const {type, name} of components) {
        const inputs = name ? [...form.querySelectorAll(`[name="${CSS.escape(name)}"]`)] : [];
        const checked = inputs.filter((input) => input.checked).map((input) => input.value);
        if (type === 'CheckboxGroup' || type === 'ChipsSelector')
            values[name] = checked;
        else if (type === 'RadioButtonsGroup' || type === 'Dropdown')
            values[name] = checked[0] ?? null;
        else if (inputs[0])
            values[name] = type === 'OptIn' ? inputs[0].checked : inputs[0].value;
    }
    return values;
}

function showScreen(flow, id, data, answers, done) {
    const screen = flow.screens.find((one) => one.id === id) ?? flow.screens[0];
    const components = componentsOf(screen.layout);
    const footer = components.find(({type}) => type === 'Footer');
    const act = footer?.['on-click-action'] ?? {name: 'complete'};
    const form = el('form', {onsubmit: (event) => {
        event.preventDefault();
        const all = {...answers, ...valuesOf(form, components)};
        const payload = resolved(act.payload ?? {}, all, data);
        if (act.name === 'navigate')
            showScreen(flow, act.next?.name, payload, all, done);
        else
            done(act.name === 'complete' && act.payload ? payload : all);
    }}, components.map((component) => field(component, data)),
    el('button', {type: 'submit', class: 'primary'}, plain(footer?.label, data) || 'Send'));
    openDialog(plain(screen.title, data) || 'Flow', form);
}

// A flow without Flow JSON: lines of names and values.
function showFree(done) {
    const input = el('textarea', {rows: 4, required: true, 'aria-label': 'Answers'}, 'name=Ada');
    openDialog('Flow', el('form', {onsubmit: (event) => {
        event.preventDefault();
        done(Object.fromEntries(input.value.split('\n').filter((line) => line.includes('='))
            .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])));
    }}, el('p', {class: 'body'}, 'The sandbox has no Flow JSON of this flow. Write what the ' +
        'answer has: a line name=value each.'), input,
    el('button', {type: 'submit', class: 'primary'}, 'Send')));
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
