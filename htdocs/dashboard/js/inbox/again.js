// A message that failed at the platform as the request of a new one: the same content, as a reply
// to nothing.
import {lookup, textOf} from '../shape.js';
import {content, summary} from './describe.js';

// The members that have a value.
function given(members) {
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value));
}

function ofText({body}) {
    return textOf(body) && {path: '/v2/messages/send/text', body: {text: body}};
}

function ofTemplate({name, language, components}) {
    return textOf(name) && {path: '/v2/templates/send', body: given({
        templateName: name, language: textOf(language?.code),
        components: Array.isArray(components) && components.length && components,
    })};
}

function ofMedia({id, link, caption, filename}, type) {
    return textOf(id ?? link) && {path: '/v2/messages/send/media', body: {media: given({
        type, mediaId: textOf(id), link: id ? '' : textOf(link), caption: textOf(caption),
        filename: textOf(filename),
    })}};
}

const KINDS = lookup({
    text: ofText, template: ofTemplate,
    image: ofMedia, video: ofMedia, audio: ofMedia, document: ofMedia,
});

// {path, body, text, draft} for the outbox, of a failed message that was sent from here; null for
// other messages. `base`: the members that every send has. A template is delivered at any time,
// other kinds while the window is open.
export function againOf(message, base, isOpen) {
    if (message.direction !== 'out' || message.status !== 'failed' ||
        (message.type !== 'template' && !isOpen))
        return null;
    const made = KINDS[message.type]?.(content(message), message.type);
    return made ? {path: made.path, body: {...base, ...made.body}, text: summary(message),
        draft: message.type === 'text' ? {text: made.body.text, quoted: null} : null} : null;
}
