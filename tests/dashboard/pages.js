// The pages of the dashboard, for the checks and screenshots of all of them: its own table.
// A page that shows one item has `find`, which returns the address of the first item, or null if
// there is none.
const fs = require('node:fs');
const path = require('node:path');

const TABLE = path.join(__dirname, '../../htdocs/dashboard/js/pages.js');
const LISTS = {inbox: 'threads'}; // the path of the API, where it is not the page's
const OF_PLATFORM = ['templates', 'forms'];
const ADDRESSES = {'/unknown': '/nothing/here'}; // an address of no page shows that page

function itemPage(name, list, parameter) {
    return {
        name,
        async find(api) {
            const {status, text} = await api('GET', `/v2/${LISTS[list] ?? list}?limit=1`);
            const item = status === 200 ? JSON.parse(text).data.items?.[0] : null;
            return item ? `/${list}/${encodeURIComponent(item[parameter] ?? item.id)}` : null;
        },
    };
}

// A page whose last part may be missing is two: the list and the item. The link of the login is no
// item, and the items of the platform are those of messaging.js.
function pagesOf([, address, parameter, isOptional, module, rest]) {
    const list = address.slice(1), isPublic = rest.includes('isPublic: true');
    const plain = {name: list, address: ADDRESSES[address] ?? address, isPublic};
    if (!parameter || isPublic)
        return [plain];
    if (OF_PLATFORM.includes(list))
        return [];
    return isOptional ? [plain, itemPage(parameter, list, parameter)]
        : [itemPage(module, list, parameter)];
}

const rows = [...fs.readFileSync(TABLE, 'utf8')
    .matchAll(/^ *\{path: '(\/\w+)(?:\/:(\w+)(\?)?)?', module: '(\w+)'([^}]*)\},$/gm)];
const PAGES = rows.flatMap(pagesOf);
if (rows.length < 10)
    throw new Error(`${TABLE}: the pages cannot be read`);

module.exports = {PAGES};
