// Shown for an address that names no page.
import {fill} from '../dom.js';
import {t} from '../i18n.js';
import {empty, heading, linkButton} from '../ui.js';

export const title = 'unknown.title';

export function show(root) {
    fill(root, heading(t('unknown.title')),
        empty(t('unknown.text'), null, linkButton(t('unknown.back'), '#/overview')));
}
