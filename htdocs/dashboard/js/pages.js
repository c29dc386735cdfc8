// The pages, in the order of the navigation: the path (see router.js) and the module in pages/.
// A page with an icon is an item of the navigation, below the title `section` if it has one, for
// members with the scope `need`, or basic; every page whose path begins like an item's is marked
// there. Pages with isPublic need no session; those with isWide use the whole width. A member who
// has some lines or threads only sees the items with ofPart.
export const PAGES = [
    {path: '/login/:link?', module: 'login', isPublic: true},
    {path: '/join/:invitation?', module: 'join', isPublic: true},
    {path: '/welcome', module: 'welcome'},
    {path: '/overview', module: 'overview', icon: 'overview'},
    {path: '/inbox/:thread?', module: 'inbox', icon: 'inbox', isWide: true, need: 'read',
        ofPart: true},
    {path: '/lines', module: 'lines', icon: 'lines', section: 'messaging', ofPart: true},
    {path: '/setup', module: 'setup', icon: 'check', section: 'messaging', need: 'manage'},
    {path: '/templates', module: 'templates', icon: 'templates', section: 'messaging'},
    {path: '/templates/:name', module: 'template'},
    {path: '/templates/:name/edit', module: 'template_editor'},
    {path: '/campaigns', module: 'campaigns', icon: 'send', section: 'messaging', need: 'read'},
    {path: '/campaigns/-/new', module: 'campaign_new'},
    {path: '/campaigns/:id', module: 'campaign'},
    {path: '/optouts', module: 'opt_outs', icon: 'block', section: 'messaging', need: 'read'},
    {path: '/replies', module: 'replies', icon: 'reply', section: 'messaging', need: 'read'},
    {path: '/forms', module: 'forms', icon: 'forms', section: 'messaging'},
    {path: '/forms/-/new', module: 'form_new'},
    {path: '/forms/:form', module: 'form'},
    {path: '/usage', module: 'usage', icon: 'usage', section: 'messaging'},
    {path: '/api', module: 'api_settings', icon: 'key', section: 'developers'},
    {path: '/webhooks', module: 'webhooks', icon: 'webhook', section: 'developers', need: 'events'},
    {path: '/webhooks/:id', module: 'webhook'},
    {path: '/events', module: 'events', icon: 'events', section: 'developers', need: 'events'},
    {path: '/events/:id', module: 'event'},
    {path: '/requests', module: 'requests', icon: 'log', section: 'developers', need: 'events'},
    {path: '/members', module: 'members', icon: 'person', section: 'workspace', need: 'read',
        ofPart: true},
    {path: '/tokens', module: 'tokens', icon: 'key', section: 'workspace', need: 'team',
        ofPart: true},
    {path: '/trail', module: 'trail', icon: 'log', section: 'workspace', need: 'team'},
    {path: '/sessions', module: 'sessions'},
    {path: '/settings', module: 'settings'},
    {path: '/unknown', module: 'unknown'},
];

// The first part of a page's path, which names its item of the navigation.
export function itemOf({path}) {
    return path.split('/')[1];
}

// The pages of the navigation. may(scope): whether the member has a scope.
export function itemsOf(may, seesAll) {
    return PAGES.filter((page) => page.icon && may(page.need ?? 'basic')
        && (seesAll || page.ofPart));
}
