// What the platform reports of a call, and of the permission to call, in words.
import {date, number, t} from '../i18n.js';
import {numberOf, objectOf, textOf} from '../shape.js';

// "2 min 5 s", with the units that all languages have.
function length(seconds) {
    const parts = [[Math.floor(seconds / 3600), 'h'], [Math.floor(seconds / 60) % 60, 'min'],
        [Math.floor(seconds) % 60, 's']];
    return parts.filter(([count]) => count > 0)
        .map(([count, unit]) => `${number(count)} ${unit}`).join(' ');
}

// A call without a duration was not picked up.
export function callText(body) {
    const {event, status, duration} = objectOf(body);
    const seconds = numberOf(duration);
    if (event !== 'terminate')
        return t('inbox.call.begun');
    if (!(seconds >= 1 && Number.isFinite(seconds)))
        return t('inbox.call.missed');
    return t(status === 'COMPLETED' ? 'inbox.call.ended' : 'inbox.call.broken',
        {time: length(seconds)});
}

// The moment of a Unix time in seconds, or null.
function moment(seconds) {
    const time = new Date(numberOf(seconds) * 1000);
    return Number.isNaN(time.getTime()) ? null
        : date(time, {dateStyle: 'medium', timeStyle: 'short'});
}

// The reply to a request for a call; null where there is none, or one of another kind.
export function permissionText(reply) {
    const {response, is_permanent: isPermanent, expiration_timestamp: end} = objectOf(reply);
    if (response === 'reject')
        return t('inbox.call.mayNot');
    if (response !== 'accept')
        return null;
    const until = isPermanent === true ? null : moment(end);
    return until ? t('inbox.call.mayUntil', {time: until}) : t('inbox.call.may');
}

// Whether the permission came with a call, and not from an answer to a question.
export function isAutomatic(reply) {
    return textOf(objectOf(reply).response_source) === 'automatic';
}
