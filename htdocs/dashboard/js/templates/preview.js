// A template as the recipient sees it.
import {el} from '../dom.js';
import {t} from '../i18n.js';
import {icon} from '../icons.js';
import {formatted} from '../inbox/formatted.js';
import {lookup} from '../shape.js';

const ICONS = lookup({image: 'image', video: 'video', document: 'file', location: 'place'});

// Shows lines of definition.js: preview(lines).
export function preview(lines) {
    const buttons = lines.filter(({kind}) => kind === 'button');
    return el('div', {class: 'template-preview'}, el('div', {class: 'bubble'},
        lines.filter(({kind}) => kind !== 'button').map(({kind, text}) => kind === 'media'
            ? el('p', {class: 'media-area'}, icon(ICONS[text] ?? 'file'),
                el('span', {class: 'small'}, t(`templates.header.${text}`)))
            : el('p', {class: `foreign ${{header: 'strong', footer: 'muted small'}[kind] ?? ''}`},
                formatted(text))),
        buttons.length > 0 && el('ul', {class: 'offered'},
            buttons.map(({text}) => el('li', {}, text)))));
}
