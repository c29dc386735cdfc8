// The campaigns: a template that is sent to a list of people.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {stateBadge} from '../campaigns/show.js';
import {may} from '../session.js';
import {button, empty, heading, linkButton, pagedTable, timestamp} from '../ui.js';

export const title = 'campaigns.title';

const COLUMNS = () => [
    {label: t('campaigns.name'), cell: ({name}) => el('span', {class: 'foreign'}, name)},
    {label: t('campaigns.stateTitle'), cell: stateBadge},
    {label: t('campaigns.template'), kind: 'narrow', cell: ({templateName}) =>
        el('span', {class: 'foreign'}, templateName)},
    {label: t('campaigns.starts'), cell: ({sendAt}) => sendAt ? timestamp(sendAt) : '–'},
];

export function show(root) {
    const list = pagedTable({
        caption: t('campaigns.title'), columns: COLUMNS(), href: ({id}) => `#/campaigns/${id}`,
        load: (after) => call('GET', '/v2/campaigns', {query: {limit: 50, after}}),
        empty: () => empty(t('campaigns.none'), t('campaigns.noneText')),
    });
    fill(root, heading(t('campaigns.title'), {text: t('campaigns.lead'), actions: [
        button(t('ui.refresh'), list.reload, {icon: 'refresh'}),
        may('send') && linkButton(t('campaigns.new'), '#/campaigns/-/new',
            {kind: 'primary', icon: 'plus'}),
    ]}), list.root);
}
