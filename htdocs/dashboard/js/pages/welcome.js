// After a login by link: the first password.
import {fill} from '../dom.js';
import {t} from '../i18n.js';
import {passwordForm} from '../passwords.js';
import {go} from '../router.js';
import {findSession, session} from '../session.js';
import {card, heading, link, toast} from '../ui.js';

export const title = 'welcome.title';

export function show(root) {
    const {user} = session();
    fill(root, heading(t('welcome.title'), {text: t('welcome.text')}),
        card(null, {}, passwordForm(user.email, t('welcome.submit'), async () => {
            await findSession();
            toast(t('password.done'));
            go('/overview');
        }), link(t('welcome.later'), '#/overview')));
}
