// The fields for the variables of a template, with a preview that follows them.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {newKey} from '../inbox/outbox.js';
import {field} from '../ui.js';
import {components, lines, variables} from './definition.js';
import {preview} from './preview.js';

const ACCEPTED = {
    image: 'image/jpeg,image/png', video: 'video/mp4,video/3gpp',
    document: 'application/pdf,.doc,.docx,.xls,.xlsx,.ppt,.pptx,text/plain',
};

function labelOf(variable) {
    return {
        media: () => t(`templates.header.${variable.media}`),
        suffix: () => t('templates.suffix', {button: variable.label}),
        code: () => t('templates.coupon', {button: variable.label}),
        text: () => t(`templates.${variable.place}Variable`, {name: variable.name}),
    }[variable.kind]();
}

function fieldOf(variable) {
    if (variable.kind === 'media')
        return field({label: labelOf(variable), name: variable.key, type: 'file',
            accept: ACCEPTED[variable.media], required: true});
    return field({
        label: labelOf(variable), name: variable.key, required: true, autocomplete: 'off',
        hint: variable.example && t('templates.example', {text: variable.example}),
    });
}

// variableFields(definition) returns {fields, preview, values(phoneNumberId), text()}: `fields` for
// form(), `preview` a node, `values` uploads the media and resolves to the components of a send.
export function variableFields(definition) {
    const list = variables(definition).map((variable) => ({variable, field: fieldOf(variable)}));
    const box = el('div', {});
    const uploads = new Map(); // file -> {key, mediaId}: a file is uploaded once

    function find(place, name) {
        return list.find(({variable}) => variable.key === `${place}.${name}`);
    }

    const valueOf = (place, name) => find(place, name)?.field.value;

    // An empty field shows the example of the definition.
    function draw() {
        fill(box, preview(lines(definition, (place, name) =>
            valueOf(place, name) || find(place, name)?.variable.example)));
    }

    async function upload(input, phoneNumberId) {
        const [file] = input.files;
        if (!uploads.has(file))
            uploads.set(file, {key: newKey()});
        const known = uploads.get(file);
        if (!known.mediaId) {
            const body = new FormData();
            body.append('phoneNumberId', phoneNumberId);
            body.append('file', file, file.name);
            ({mediaId: known.mediaId} =
                await call('POST', '/v2/media/upload', {body, key: known.key}));
        }
        return known.mediaId;
    }

    for (const one of list)
        one.field.input.addEventListener('input', draw);
    draw();
    return {
        fields: list.map((one) => one.field),
        preview: box,
        async values(phoneNumberId) {
            const values = {};
            for (const {variable, field: {input}} of list) {
                values[variable.key] = variable.kind === 'media'
                    ? await upload(input, phoneNumberId) : input.value.trim();
            }
            return components(definition, values);
        },
        text: () => lines(definition, valueOf).filter(({kind}) => kind === 'header' ||
            kind === 'body').map(({text}) => text).join('\n'),
    };
}
