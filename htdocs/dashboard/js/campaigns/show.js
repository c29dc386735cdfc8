// The state of a campaign, in words.
import {has, number, t} from '../i18n.js';
import {lookup} from '../shape.js';
import {badge} from '../ui.js';

const KINDS = lookup({scheduled: 'info', running: 'info', paused: 'warn', finished: 'ok'});

export function stateBadge({state}) {
    return badge(KINDS[state] ?? 'plain', t(`campaigns.state.${state}`));
}

// The platform's codes of what is wrong with a message itself: of the template or its values.
const MISTAKES = ['100', '132000', '132012', '132018'];

// Why it was paused or cancelled, when no member did it; null if one did.
export function reasonOf({reason}) {
    if (!reason)
        return null;
    return has(`campaigns.reason.${reason}`) ? t(`campaigns.reason.${reason}`)
        : t('campaigns.reason.code', {code: reason});
}

// Why messages failed, by the platform's code.
export function failureOf(code) {
    return has(`campaigns.failure.${code}`) ? t(`campaigns.failure.${code}`)
        : t('campaigns.failure.code', {code});
}

// What may keep a campaign that starts from reaching all of its recipients.
export function warningOf({code, limit, message}) {
    return has(`campaigns.warning.${code}`)
        ? t(`campaigns.warning.${code}`, {limit: number(limit ?? 0)}) : message;
}

// What becomes of those who have no message yet, and of those that the reason concerns.
export function outlookOf({reason}) {
    return MISTAKES.includes(reason) ? t('campaigns.mistakesText')
        : reason === 'unclear' ? t('campaigns.unclearText') : t('campaigns.pausedText');
}
