// The state of a campaign, in words.
import {has, t} from '../i18n.js';
import {lookup} from '../shape.js';
import {badge} from '../ui.js';

const KINDS = lookup({scheduled: 'info', running: 'info', paused: 'warn', finished: 'ok'});

export function stateBadge({state}) {
    return badge(KINDS[state] ?? 'plain', t(`campaigns.state.${state}`));
}

// Why it was paused or cancelled, when no member did it; null if one did.
export function reasonOf({reason}) {
    if (!reason)
        return null;
    return has(`campaigns.reason.${reason}`) ? t(`campaigns.reason.${reason}`)
        : t('campaigns.reason.code', {code: reason});
}
