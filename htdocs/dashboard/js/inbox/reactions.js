// The choice of a reaction to a message.
import {el} from '../dom.js';
import {t} from '../i18n.js';
import {dialog, field, form} from '../ui.js';

const USUAL = ['👍', '❤️', '😂', '😮', '😢', '🙏']; // those of WhatsApp

const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u;

function isEmoji(text) {
    return EMOJI.test(text) && [...new Intl.Segmenter().segment(text)].length === 1;
}

// Asks for an emoji. `own`: the present one, or undefined. Resolves to the emoji, '' to remove the
// present one, or undefined.
export function chooseReaction(own) {
    return dialog(t('inbox.react'), (close) => {
        const other = field({label: t('inbox.otherEmoji'), name: 'emoji', autocomplete: 'off'});
        const shown = [...new Set([...USUAL, own])].filter(Boolean);
        return [
            el('div', {class: 'emojis', role: 'group', 'aria-label': t('inbox.react')},
                shown.map((emoji) => el('button', {
                    type: 'button', class: 'emoji', 'aria-pressed': String(emoji === own),
                    title: emoji === own ? t('inbox.removeReaction') : null,
                    on: {click: () => close(emoji === own ? '' : emoji)},
                }, emoji))),
            form({fields: [other], submit: t('inbox.react'), kind: '', onSubmit() {
                const emoji = other.value.trim();
                if (isEmoji(emoji))
                    close(emoji);
                else
                    other.setError(t('inbox.noEmoji'));
            }}),
        ];
    });
}
