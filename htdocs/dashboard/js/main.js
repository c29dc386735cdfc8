// Starts the dashboard: language, session, navigation, pages.
import {onLostSession} from './api.js';
import {el, fill} from './dom.js';
import {buildFrame, buildPublic, closeMenu, markMenu, redrawNavigation} from './frame.js';
import {loadLanguage, t} from './i18n.js';
import {restoreOutbox} from './inbox/outbox.js';
import {countKept, dropAllKept, useKept} from './kept.js';
import {startNotices, stopNotices} from './notices.js';
import {PAGES} from './pages.js';
import {find, go, leave, reopen, start, use} from './router.js';
import {
    findSession, lacksFactor, logOut, onLogIn, onOtherScopes, ownerOf, seesAll, session,
} from './session.js';
import {showHelp, startShortcuts} from './shortcuts.js';
import {setPage} from './title.js';
import {button, confirm, errorBox, heading, notice} from './ui.js';

const app = document.getElementById('app');
let wanted = null; // the address to open after the login
let isAsking = false; // whose session it is
let isOfAnother = false; // the notice of showOther is there, and stays
let message = null; // what the login page says first, as "Your session has ended."

// Opens the present page in a new frame, as in another language.
async function redraw() {
    fill(app);
    await reopen();
}

// What was typed and not sent goes with the session: the next user of the browser must not find it.
async function endSession() {
    const count = await countKept();
    if (count && !await confirm(t('login.unsentTitle'), t('login.unsentText', {count}),
        t('nav.logout')))
        return;
    await logOut();
    stopNotices();
    await dropAllKept();
    useKept(null);
    wanted = null;
    message = null;
    fill(app);
    go('/login');
}

// --- Opening a page ------------------------------------------------------------------------------

// Returns the empty element of the page. Without a session: opens the login instead.
function prepare(route) {
    if (isOfAnother)
        return null;
    if (!route.isPublic && !session()) {
        wanted = location.hash;
        go('/login');
        return null;
    }
    if (!route.isPublic && lacksFactor() && route.module !== 'sessions') {
        go('/sessions');
        return null;
    }
    if (route.module === 'overview' && !seesAll()) { // it is about all lines and threads
        go('/inbox');
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

// The heading gets the focus, so that a screen reader says where the user is, unless the page has
// set it itself, as to the first field of the login.
function focusHeading() {
    const main = document.getElementById('main');
    if (!main?.querySelector('.page')?.contains(document.activeElement))
        (main?.querySelector('h1') ?? main)?.focus({preventScroll: true});
    window.scrollTo(0, 0);
}

function shown(route, isNew, page, error) {
    closeMenu();
    if (error)
        showFailure(error);
    else if (page)
        setPage(t(page.title));
    if (isNew)
        queueMicrotask(focusHeading);
}

function showFailure(error) {
    const root = document.querySelector('main .page');
    fill(root, heading(t('error.page')), errorBox(error),
        el('div', {class: 'more'}, button(t('ui.retry'), reopen)));
}

// Another user has logged in in another tab. What this page holds is the former user's, so no
// address opens in it any more: it is loaded anew.
function showOther(former, present) {
    isOfAnother = true;
    fill(app, el('main', {id: 'main', class: 'public'},
        heading(t('login.otherTitle', {email: present.member.email}),
            {text: t('login.otherText', {email: former.member.email})}),
        button(t('login.otherGo', {email: present.member.email}), () => location.reload(),
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
    if (ownerOf(present) === ownerOf(former))
        return;
    leave();
    stopNotices();
    wanted = location.hash;
    message = t('login.ended');
    fill(app);
    if (present)
        showOther(former, present);
    else
        go('/login');
}

function paletteActions() {
    return [
        {icon: 'info', text: t('keys.title'), run: showHelp},
        {icon: 'logout', text: t('nav.logout'), run: endSession},
    ];
}

// Begins with what the user of the session had typed and sent when the last page ended.
function restore() {
    useKept(ownerOf(session()));
    restoreOutbox();
    startNotices();
}

function followScopes() {
    const found = find(location.hash);
    redrawNavigation();
    if (found)
        markMenu(found.route);
}

// After the login: the page that was wanted before it. What the page holds of another user goes.
function enter(answer, isOther) {
    const target = wanted && !isOther && !find(wanted)?.route.isPublic ? wanted : '#/overview';
    wanted = null;
    restore();
    fill(app);
    location.replace(answer.passwordIsSet ? target : '#/welcome');
    if (isOther)
        location.reload();
}

async function begin() {
    use(PAGES);
    const found = findSession();
    found.catch(() => {}); // it is shown when there are texts
    try {
        await loadLanguage();
        onLostSession(lose);
        onLogIn(enter);
        onOtherScopes(followScopes);
        if (await found)
            restore();
    } catch (error) {
        fill(app, el('main', {id: 'main', class: 'public'}, heading('Switchboard'),
            errorBox(error), button(t('ui.retry'), () => location.reload())));
        return;
    }
    if (!location.hash || location.hash === '#/')
        history.replaceState(null, '', '#/overview');
    startShortcuts(paletteActions);
    await start({prepare, shown});
}

// A page that the browser kept from before a logout in another tab must not show what it had.
window.addEventListener('pageshow', (event) => {
    if (event.persisted)
        lose();
});

begin();
