// Starts the dashboard: language, session, navigation, pages.
import {onLostSession} from './api.js';
import {el, fill} from './dom.js';
import {loadEventTypes} from './event_types.js';
import {buildFrame, buildPublic, closeMenu, markMenu} from './frame.js';
import {loadLanguage, t} from './i18n.js';
import {find, go, leave, reopen, start} from './router.js';
import {findSession, logOut, onLogIn, session} from './session.js';
import {button, errorBox, heading, notice} from './ui.js';

// `menu` is the item of the navigation that is marked; pages with isPublic need no session; those
// with isWide use the whole width.
const ROUTES = [
    {path: '/login/:link?', load: () => import('./pages/login.js'), isPublic: true},
    {path: '/welcome', load: () => import('./pages/welcome.js')},
    {path: '/overview', load: () => import('./pages/overview.js'), menu: 'overview'},
    {path: '/inbox/:thread?', load: () => import('./pages/inbox.js'), menu: 'inbox', isWide: true},
    {path: '/lines', load: () => import('./pages/lines.js'), menu: 'lines'},
    {path: '/templates', load: () => import('./pages/templates.js'), menu: 'templates'},
    {path: '/templates/:name', load: () => import('./pages/template.js'), menu: 'templates'},
    {path: '/forms', load: () => import('./pages/forms.js'), menu: 'forms'},
    {path: '/forms/:form', load: () => import('./pages/form.js'), menu: 'forms'},
    {path: '/usage', load: () => import('./pages/usage.js'), menu: 'usage'},
    {path: '/api', load: () => import('./pages/api_settings.js'), menu: 'api'},
    {path: '/webhooks', load: () => import('./pages/webhooks.js'), menu: 'webhooks'},
    {path: '/webhooks/:id', load: () => import('./pages/webhook.js'), menu: 'webhooks'},
    {path: '/events', load: () => import('./pages/events.js'), menu: 'events'},
    {path: '/events/:id', load: () => import('./pages/event.js'), menu: 'events'},
    {path: '/requests', load: () => import('./pages/requests.js'), menu: 'requests'},
    {path: '/sessions', load: () => import('./pages/sessions.js'), menu: 'sessions'},
    {path: '/unknown', load: () => import('./pages/unknown.js')},
];

const app = document.getElementById('app');
let wanted = null; // the address to open after the login
let isAsking = false; // whose session it is
let message = null; // what the login page says first, as "Your session has ended."

// Opens the present page in a new frame, as in another language.
async function redraw() {
    fill(app);
    await reopen();
}

async function endSession() {
    await logOut();
    wanted = null;
    message = null;
    fill(app);
    go('/login');
}

// --- Opening a page ------------------------------------------------------------------------------

// Returns the empty element of the page. Without a session: opens the login instead.
function prepare(route) {
    if (!route.isPublic && !session()) {
        wanted = location.hash;
        go('/login');
        return null;
    }
    if (route.isPublic && session() && location.hash === '#/login') {
        go('/overview');
        return null;
    }
    if (route.isPublic) {
        const main = buildPublic();
        const root = el('div', {class: 'page'});
        if (message)
            main.append(notice('info', message));
        message = null;
        main.append(root);
        return root;
    }
    const main = document.querySelector('.frame > main')
        ?? buildFrame({redraw, logOut: endSession});
    closeMenu();
    markMenu(route);
    main.className = route.isWide ? 'wide' : '';
    const root = el('div', {class: 'page'});
    fill(main, root);
    return root;
}

// The heading gets the focus, so that a screen reader says where the user is.
function focusHeading() {
    const target = document.querySelector('main h1') ?? document.getElementById('main');
    target?.focus({preventScroll: true});
    window.scrollTo(0, 0);
}

function shown(route, isNew, page, error) {
    closeMenu();
    if (error)
        showFailure(error);
    else if (page)
        document.title = `${t(page.title)} · Switchboard`;
    if (isNew)
        queueMicrotask(focusHeading);
}

function showFailure(error) {
    const root = document.querySelector('main .page');
    fill(root, heading(t('error.page')), errorBox(error),
        el('div', {class: 'more'}, button(t('ui.retry'), reopen)));
}

// Another user has logged in in another tab. What this page holds is the former user's, so it is
// loaded anew.
function showOther(former, present) {
    fill(app, el('main', {id: 'main', class: 'public'},
        heading(t('login.otherTitle', {email: present.user.email}),
            {text: t('login.otherText', {email: former.user.email})}),
        button(t('login.otherGo', {email: present.user.email}), () => location.reload(),
            {kind: 'primary'})));
}

// After a 401: asks whose session it is now. It is the same user's after a new login in another
// tab, and when only the platform has refused something.
async function lose() {
    const former = session();
    if (!former || isAsking)
        return;
    isAsking = true;
    const present = await findSession().catch(() => former);
    isAsking = false;
    if (present?.user.id === former.user.id)
        return;
    leave();
    wanted = location.hash;
    message = t('login.ended');
    fill(app);
    if (present)
        showOther(former, present);
    else
        go('/login');
}

// After the login: the page that was wanted before it. What the page holds of another user goes.
function enter(answer, isOther) {
    const target = wanted && !isOther && !find(wanted)?.route.isPublic ? wanted : '#/overview';
    wanted = null;
    fill(app);
    location.replace(answer.passwordIsSet ? target : '#/welcome');
    if (isOther)
        location.reload();
}

async function begin() {
    try {
        await Promise.all([loadLanguage(), loadEventTypes()]);
        onLostSession(lose);
        onLogIn(enter);
        await findSession();
    } catch (error) {
        fill(app, el('main', {id: 'main', class: 'public'}, heading('Switchboard'),
            errorBox(error), button(t('ui.retry'), () => location.reload())));
        return;
    }
    if (!location.hash || location.hash === '#/')
        history.replaceState(null, '', '#/overview');
    await start(ROUTES, {prepare, shown});
}

// A page that the browser kept from before a logout in another tab must not show what it had.
window.addEventListener('pageshow', (event) => {
    if (event.persisted)
        lose();
});

begin();
