// What the user typed and what is not settled yet, in the database of the browser: it is there
// after a reload, in a tab that was closed or discarded, and after the next login of the same user.
// It goes with the logout, and after a week.
//
// A row is {user, kind, id, at, value}. Each function uses the rows of the present user only. The
// file of a value, `value.file.file`, is a row of its own, the id of which is `value.file.id`:
// it is written once, and the value with each key that is pressed.

const NAME = 'switchboard';
const STORE = 'kept';
const FILE = 'file'; // the kind of a file
const LONGEST = 7 * 24 * 3600 * 1000;

let owner = null; // the id of the user
let database = null; // a promise
const leaving = new Set(); // called when the rows are no longer those of the present user
const unkept = new Set(); // rows that are in this page only
const files = new Set(); // the ids of those that are stored

function settled(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}

function openDatabase() {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () =>
        request.result.createObjectStore(STORE, {keyPath: ['user', 'kind', 'id']});
    return settled(request);
}

// A transaction is committed at once: the page may end right after it.
async function run(mode, work) {
    database ??= openDatabase();
    const transaction = (await database).transaction(STORE, mode);
    const ended = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
    });
    const result = work(transaction.objectStore(STORE));
    transaction.commit();
    await ended;
    return result?.result;
}

// All keys that begin with these parts: a list sorts behind every text.
function below(...parts) {
    return IDBKeyRange.bound(parts, [...parts, []]);
}

export function onOwnerLeft(callback) {
    leaving.add(callback);
}

// Begins with the rows of a user. null: none, as after the logout.
export function useKept(user) {
    if (owner === user)
        return;
    owner = user;
    unkept.clear();
    files.clear();
    for (const callback of leaving)
        callback();
}

function rowsOf(kind, id, value) {
    const {file} = value;
    const base = {user: owner, at: Date.now()};
    if (!file)
        return [{...base, kind, id, value}];
    const row = {...base, kind, id, value: {...value, file: {...file, file: null}}};
    if (files.has(file.id))
        return [row];
    files.add(file.id);
    return [{...base, kind: FILE, id: file.id, value: file.file}, row];
}

// Stores a value. What cannot be stored, as in a full disk, is lost with the
// page: the browser asks before it closes the page.
export async function keep(kind, id, value) {
    const name = `${kind} ${id}`;
    const rows = rowsOf(kind, id, value);
    try {
        await run('readwrite', (store) => rows.forEach((row) => store.put(row)));
        unkept.delete(name);
    } catch (error) {
        files.delete(value.file?.id);
        unkept.add(name);
        console.error('not kept:', name, error);
    }
}

// A browser may refuse to store anything: what follows, such as the end of a logout, goes on.
async function drop(range) {
    await run('readwrite', (store) => store.delete(range)).catch((error) =>
        console.error('still kept:', error));
}

export async function dropKept(kind, id) {
    unkept.delete(`${kind} ${id}`);
    await drop([owner, kind, id]);
}

export function dropFile(file) {
    if (file && files.delete(file.id))
        dropKept(FILE, file.id);
}

async function addFile({value}) {
    const key = [owner, FILE, value.file.id];
    const row = await run('readonly', (store) => store.get(key));
    files.add(value.file.id);
    value.file = row ? {...value.file, file: row.value} : null;
}

// The values of a kind, those of the last week: [{id, value}].
export async function readKept(kind) {
    const user = owner;
    try {
        const rows = await run('readonly', (store) => store.getAll(below(user, kind)));
        const isOld = ({at}) => Date.now() - at > LONGEST;
        for (const {id, value} of rows.filter(isOld)) {
            dropKept(kind, id);
            if (value.file)
                dropKept(FILE, value.file.id);
        }
        const kept = rows.filter((row) => !isOld(row));
        await Promise.all(kept.filter(({value}) => value.file).map(addFile));
        return user === owner ? kept : [];
    } catch (error) {
        console.error('not read:', kind, error);
        return [];
    }
}

// How many rows there are, without files.
export async function countKept() {
    try {
        const keys = await run('readonly', (store) => store.getAllKeys(below(owner)));
        return keys.filter(([, kind]) => kind !== FILE).length;
    } catch {
        return unkept.size;
    }
}

export async function dropAllKept() {
    await drop(below(owner));
    unkept.clear();
    files.clear();
}

window.addEventListener('beforeunload', (event) => {
    if (unkept.size)
        event.preventDefault();
});
