// The frame around the pages: navigation, account, place of the messages.
import {call} from './api.js';
import {el, fill} from './dom.js';
import {icon} from './icons.js';
import {LANGUAGES, chooseLanguage, clock, language, t} from './i18n.js';
import {onTrouble, trouble} from './live.js';
import {itemOf, itemsOf} from './pages.js';
import {may, seesAll, session} from './session.js';
import {button, showError} from './ui.js';

const app = document.getElementById('app');

function menuItem(page) {
    const name = itemOf(page);
    return el('li', {}, el('a', {href: `#/${name}`, data: {menu: name}}, icon(page.icon),
        el('span', {}, t(`nav.${name}`))));
}

function navigation() {
    const items = itemsOf(may, seesAll());
    const sections = [...new Set(items.map(({section}) => section))];
    return el('div', {class: 'nav'}, sections.map((section) => [
        section && el('p', {class: 'nav-title'}, t(`nav.${section}`)),
        el('ul', {}, items.filter((page) => page.section === section).map(menuItem)),
    ]));
}

// Draws the navigation again, for a member with other scopes. The page stays, with what was typed.
export function redrawNavigation() {
    document.querySelector('#side > .nav')?.replaceWith(navigation());
}

// `redraw` opens the page again in the new language.
function languageChoice(redraw) {
    return el('label', {class: 'language'}, el('span', {class: 'off-screen'}, t('nav.language')),
        el('select', {
            value: language(),
            on: {
                async change(event) {
                    await chooseLanguage(event.currentTarget.value);
                    await redraw();
                },
            },
        }, Object.entries(LANGUAGES).map(([code, name]) =>
            el('option', {value: code, lang: code}, name))));
}

// What a page shows to a person who is not logged in: heading, card, choice of the language.
export function publicCard(heading, redraw, ...children) {
    return [
        el('header', {class: 'login-head'},
            el('img', {src: 'icon.svg', alt: '', width: 40, height: 40}),
            el('h1', {tabindex: '-1'}, heading)),
        el('div', {class: 'card'}, el('div', {class: 'card-body'}, children)),
        el('div', {class: 'login-foot'}, languageChoice(redraw)),
    ];
}

// All that the page holds is of the former workspace, so it is loaded anew.
function workspaceChoice() {
    const {user, workspaces} = session();
    return workspaces.length > 1 && el('label', {class: 'language'},
        el('span', {class: 'off-screen'}, t('nav.chooseWorkspace')),
        el('select', {
            value: user.id,
            on: {
                async change(event) {
                    const body = {workspaceId: event.currentTarget.value};
                    try {
                        await call('PUT', '/v2/session/workspace', {body});
                        location.reload();
                    } catch (error) {
                        event.target.value = user.id;
                        showError(error);
                    }
                },
            },
        }, workspaces.map(({id, email}) => el('option', {value: id}, email))));
}

function accountBox({redraw, logOut}) {
    const {email} = session().member;
    return el('div', {class: 'account'},
        workspaceChoice(),
        el('a', {href: '#/sessions', class: 'account-name', data: {menu: 'sessions'}},
            icon('person'), el('span', {title: email}, email)),
        el('div', {class: 'account-row'}, languageChoice(redraw),
            el('a', {href: '#/settings', class: 'button quiet icon-only', data: {menu: 'settings'},
                'aria-label': t('nav.settings'), title: t('nav.settings')}, icon('settings')),
            button(t('nav.logout'), logOut,
                {kind: 'quiet', icon: 'logout', isIconOnly: true})));
}

function brand() {
    return el('a', {class: 'brand', href: '#/overview'},
        el('img', {src: 'icon.svg', alt: '', width: 24, height: 24}), 'Switchboard');
}

function toasts() {
    return el('div', {id: 'toasts', role: 'status', 'aria-live': 'polite'});
}

// A line above the page while what it shows is out of date.
function drawTrouble() {
    const present = trouble();
    const line = document.getElementById('trouble');
    if (!line)
        return;
    fill(line, present && el('p', {}, icon('alert'),
        t(`trouble.${present.kind}`, {time: clock(present.since)})));
}

onTrouble(drawTrouble);

function menuButton(side) {
    const node = button(t('nav.menu'), () => {
        const isOpen = side.classList.toggle('open');
        node.setAttribute('aria-expanded', String(isOpen));
    }, {kind: 'quiet', icon: 'menu', isIconOnly: true, 'aria-expanded': 'false'});
    node.id = 'menu-button';
    return node;
}

// Builds the frame and returns its empty <main>; actions: redraw() and logOut().
export function buildFrame(actions) {
    const side = el('nav', {class: 'side', id: 'side', 'aria-label': t('nav.label')},
        navigation(), accountBox(actions));
    fill(app,
        el('a', {class: 'skip', href: '#main', on: {click: skip}}, t('nav.skip')),
        el('div', {class: 'frame'},
            el('header', {class: 'top'}, brand(), menuButton(side)),
            side, el('main', {id: 'main', tabindex: '-1'})),
        el('div', {id: 'trouble', role: 'status'}), toasts());
    drawTrouble();
    return document.getElementById('main');
}

// The hash names the page, so the link may not change it.
function skip(event) {
    event.preventDefault();
    document.getElementById('main').focus();
}

// The same without navigation, for pages without a session.
export function buildPublic() {
    return fill(app, el('main', {id: 'main', class: 'public', tabindex: '-1'}), toasts())
        .firstChild;
}

export function closeMenu() {
    document.getElementById('side')?.classList.remove('open');
    document.getElementById('menu-button')?.setAttribute('aria-expanded', 'false');
}

export function markMenu(route) {
    for (const item of app.querySelectorAll('[data-menu]')) {
        if (item.dataset.menu === itemOf(route))
            item.setAttribute('aria-current', 'page');
        else
            item.removeAttribute('aria-current');
    }
}
