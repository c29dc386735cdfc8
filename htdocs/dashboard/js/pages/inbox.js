// The inbox: the threads of all lines, and the one that is open.
import {call} from '../api.js';
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {icon} from '../icons.js';
import {threadList} from '../inbox/list.js';
import {forgetMedia} from '../inbox/media.js';
import {firstPage} from '../inbox/messages.js';
import {threadView} from '../inbox/thread.js';
import {onChanges, onCounts} from '../live.js';
import {countText} from '../notices.js';
import {address, keepInAddress} from '../router.js';
import {session} from '../session.js';
import {answering, isSelf} from '../team.js';
import {setThing} from '../title.js';
import {choices, errorBox, loading, showError, toast} from '../ui.js';

export const title = 'inbox.title';

const SEARCH_AFTER = 250; // ms after the last letter

// The parts of the list: their query parameter, which is the member of the counts too.
const PARTS = ['waiting', 'unread', 'failed'];

// The choice of a part. draw(counts) shows how many threads each has.
function partChoice(filters, onFilter) {
    const badges = PARTS.map(() => el('span', {class: 'part-count'}));
    const root = choices(t('inbox.filter'), [['', t('inbox.part.all')],
        ...PARTS.map((part, i) => [part, [t(`inbox.part.${part}`), badges[i]]])],
    PARTS.find((part) => filters[part]) ?? '',
    (chosen) => onFilter(Object.fromEntries(PARTS.map((part) =>
        [part, part === chosen ? 'true' : undefined]))));
    return {
        root,
        draw(counts) {
            PARTS.forEach((part, i) => {
                badges[i].textContent = counts?.[part] ? ` ${countText(counts[part])}` : '';
            });
        },
    };
}

// Of whom the threads are; where several members answer. Those of others may be hidden.
function assigneeChoice(filters, members, onFilter) {
    const others = members.filter((one) => !isSelf(one) && !session().member.ownThreadsOnly);
    return members.length > 1 && el('select', {
        'aria-label': t('inbox.assign.filter'), value: filters.assignee ?? '', class: 'line-choice',
        on: {change: (event) => onFilter({assignee: event.currentTarget.value})},
    }, [['', t('inbox.assign.all')], ['me', t('inbox.assign.mine')],
        ['none', t('inbox.assign.unassigned')], ...others.map(({id, name}) => [id, name])]
        .map(([value, text]) => el('option', {value}, text)));
}

function filterBar(filters, {lines, members}, parts, onFilter) {
    let timer;
    const search = el('input', {
        type: 'search', value: filters.q ?? '', placeholder: t('inbox.search'),
        'aria-label': t('inbox.search'), autocomplete: 'off',
        on: {
            input() {
                clearTimeout(timer);
                timer = setTimeout(() => onFilter({q: search.value.trim()}), SEARCH_AFTER);
            },
        },
    });
    return el('div', {class: 'thread-filters', role: 'search'},
        el('div', {class: 'search-box'}, icon('search'), search),
        el('div', {class: 'row'}, parts, assigneeChoice(filters, members, onFilter),
            lines.length > 1 && el('select', {
                'aria-label': t('inbox.line'), value: filters.line ?? '', class: 'line-choice',
                on: {change: (event) => onFilter({line: event.currentTarget.value})},
            }, el('option', {value: ''}, t('inbox.allLines')), lines.map((line) =>
                el('option', {value: line.id}, line.name ?? line.phoneNumber)))));
}

// The heading of the page is the name of the open thread; without one it is that of the list.
function listTitle(isHeading) {
    return el(isHeading ? 'h1' : 'p', {id: 'inbox-title', class: 'list-title', tabindex: '-1'},
        t('inbox.title'));
}

export async function show(root, parameters) {
    let {thread: wanted, at, ...filters} = parameters; // at: the message to show
    const side = el('section', {class: 'thread-list', 'aria-labelledby': 'inbox-title'},
        listTitle(!wanted), loading());
    const pane = el('div', {class: 'thread-pane'});
    root.classList.add('inbox');
    root.classList.toggle('has-thread', Boolean(wanted));
    fill(root, side, pane);
    const byId = new Map(); // the lines
    const lines = call('GET', '/v2/lines', {query: {archived: 'all'}}).then(({items}) => {
        items.forEach((line) => byId.set(line.id, line));
        return items;
    });
    let list = null;
    let view = null;
    let turn = 0;

    function newList() {
        const mine = threadList({filters, lines});
        list = mine;
        list.select(wanted ?? null);
        const former = [...side.querySelectorAll('.thread-scroll')];
        list.root.hidden = former.length > 0;
        side.append(list.root);
        for (const root of former) { // it stays until the new list is there
            root.inert = true;
            root.setAttribute('aria-busy', 'true');
        }
        list.loaded.then(() => {
            if (list !== mine)
                return;
            former.forEach((root) => root.remove());
            mine.root.hidden = false;
        });
    }

    // Times and days are those of the present day.
    function onMinute() {
        list.draw();
        view?.draw();
    }

    function onFilter(part) {
        filters = {...filters, ...part};
        keepInAddress(wanted ? `/inbox/${wanted}` : '/inbox', filters);
        newList();
        view?.draw(); // its way back
    }

    let counts = null;
    let parts = null;
    let members = [];

    function filterControls(used) {
        parts = partChoice(filters, onFilter);
        parts.draw(counts);
        return filterBar(filters, {lines: used, members}, parts.root, onFilter);
    }

    // The controls follow the address, as after the browser's back button.
    function drawFilters() {
        side.querySelector(':scope > .thread-filters')?.replaceWith(
            filterControls([...byId.values()].filter(({archivedAt}) => !archivedAt)));
    }

    function close() {
        view?.stop();
        view = null;
        setThing('');
        turn++;
    }

    async function openThread() {
        close();
        const mine = turn;
        root.classList.toggle('has-thread', Boolean(wanted));
        const heading = listTitle(!wanted);
        const old = document.getElementById('inbox-title');
        if (old.localName !== heading.localName)
            old.replaceWith(heading);
        list.select(wanted ?? null);
        if (!wanted) {
            fill(pane, el('div', {class: 'nothing-open'}, icon('inbox'),
                el('p', {}, t('inbox.choose'))));
            return;
        }
        fill(pane, el('h1', {class: 'off-screen', tabindex: '-1'}, t('inbox.title')), loading());
        const first = firstPage(wanted); // while the thread is read
        first.catch(() => {}); // the thread's failure is shown
        try {
            const thread = await call('GET', `/v2/threads/${encodeURIComponent(wanted)}`);
            if (mine !== turn)
                return;
            const isOther = follow(thread);
            view = threadView({thread, lines: byId, onThread: (fresh) => list.change([fresh]),
                listAddress: () => address('/inbox', filters)});
            fill(pane, view.root);
            view.focus();
            await view.load(isOther ? null : first, at);
        } catch (error) {
            if (mine === turn)
                fill(pane, el('h1', {class: 'off-screen'}, t('inbox.title')), errorBox(error));
        }
    }

    // After a merge of two contacts the id of one thread leads to the thread that remained.
    function follow(thread) {
        if (thread.id === wanted)
            return false;
        list.drop(wanted);
        wanted = thread.id;
        keepInAddress(`/inbox/${wanted}`, filters);
        list.select(wanted);
        return true;
    }

    // Closes the open thread, which another member has now.
    function closeHidden() {
        wanted = undefined;
        keepInAddress('/inbox', filters);
        toast(t('inbox.assign.hidden'));
        return openThread();
    }

    // requested first: a change between it and the list would be missed
    const stopChanges = onChanges(async (threads, removed, hidden) => {
        list.change(threads);
        for (const {threadId} of hidden)
            list.drop(threadId);
        if (hidden.some(({threadId}) => threadId === wanted)) {
            await closeHidden();
            return;
        }
        for (const {threadId} of removed.filter(({before}) => !before))
            list.drop(threadId);
        if (removed.some(({threadId}) => threadId === wanted)) {
            await openThread();
            return;
        }
        const mine = threads.find(({id, formerIds}) => [id, ...formerIds].includes(wanted));
        try {
            if (mine && follow(mine)) {
                await openThread();
            } else if (mine && view) {
                view.change(mine);
                await view.refresh();
            }
        } catch (error) {
            showError(error);
        }
    });
    const stopCounts = onCounts((fresh) => {
        counts = fresh;
        parts?.draw(counts);
    });
    newList();
    openThread();
    const timer = setInterval(onMinute, 30000);
    document.addEventListener('visibilitychange', onMinute);
    function stop() {
        clearInterval(timer);
        document.removeEventListener('visibilitychange', onMinute);
        stopChanges();
        stopCounts();
        close();
        forgetMedia();
    }

    try {
        members = await answering();
        const used = (await lines).filter(({archivedAt}) => !archivedAt);
        side.querySelector(':scope > .loading').replaceWith(filterControls(used));
    } catch (error) {
        stop();
        throw error;
    }
    return {
        stop,
        change({thread, at: message, ...rest}) {
            wanted = thread;
            at = message;
            if (JSON.stringify(rest) !== JSON.stringify(clean(filters))) {
                filters = rest;
                drawFilters();
                newList();
            }
            openThread();
        },
    };
}

// The filters without empty ones, as the address has them.
function clean(filters) {
    return Object.fromEntries(Object.entries(filters).filter(([, value]) => value));
}
