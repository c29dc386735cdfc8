// The pages of the dashboard, for the checks and screenshots of all of them. `find` returns the
// address of a page that shows one item, or null if there is none.

async function first(api, path) {
    const {status, text} = await api('GET', path);
    return status === 200 ? JSON.parse(text).data.items?.[0] : null;
}

const PAGES = [
    {name: 'login', address: '/login', isPublic: true},
    {name: 'welcome', address: '/welcome'},
    {name: 'overview', address: '/overview'},
    {name: 'inbox', address: '/inbox'},
    {
        name: 'thread',
        async find(api) {
            const thread = await first(api, '/v2/threads?limit=1');
            return thread && `/inbox/${thread.id}`;
        },
    },
    {name: 'lines', address: '/lines'},
    {name: 'templates', address: '/templates'},
    {name: 'forms', address: '/forms'},
    {name: 'usage', address: '/usage'},
    {name: 'api', address: '/api'},
    {name: 'webhooks', address: '/webhooks'},
    {
        name: 'webhook',
        async find(api) {
            const webhook = await first(api, '/v2/webhooks?limit=1');
            return webhook && `/webhooks/${webhook.id}`;
        },
    },
    {name: 'events', address: '/events'},
    {
        name: 'event',
        async find(api) {
            const event = await first(api, '/v2/events?limit=1');
            return event && `/events/${event.id}`;
        },
    },
    {name: 'requests', address: '/requests'},
    {name: 'sessions', address: '/sessions'},
    {name: 'unknown', address: '/nothing/here'},
];

module.exports = {PAGES};
