// What the user typed and what is not settled yet, in the database of the browser: it is there
// after a reload, in a tab that was closed or discarded, and after the next login of the same user.
// It goes with the logout, and after a week.
//
// A row is {user, kind, id, at, value}. Each function uses the rows of the present user only. A
// file of a value, {id, file} in its list `files` or as its `file`, is a row of its own with that
// id: it is written once, and the value with each key that is pressed.

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

function filesOf({files: list, file}) {
    return list ?? (file ? [file] : []);
}

// The value with other ones.
function withFiles(value, list) {
    return value.files ? {...value, files: list} : {...value, file: list[0] ?? null};
}

function rowsOf(kind, id, value) {
    const base = {user: owner, at: Date.now()};
    const own = filesOf(value);
    const fresh = own.filter((file) => !files.has(file.id));
    fresh.forEach((file) => files.add(file.id));
    return [...fresh.map((file) => ({...base, kind: FILE, id: file.id, value: file.file})),
        {...base, kind, id, value: withFiles(value, own.map((file) => ({...file, file: null})))}];
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
        filesOf(value).forEach((file) => files.delete(file.id));
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

// Puts the files of a row into its value; one that is lost is left out.
async function addFiles(row) {
    const found = await Promise.all(filesOf(row.value).map(async (file) => {
        const kept = await run('readonly', (store) => store.get([owner, FILE, file.id]));
        files.add(file.id);
        return kept && {...file, file: kept.value};
    }));
    row.value = withFiles(row.value, found.filter(Boolean));
}

// The values of a kind, those of the last week: [{id, value}].
export async function readKept(kind) {
    const user = owner;
    if (user === null)
        return [];
    try {
        const rows = await run('readonly', (store) => store.getAll(below(user, kind)));
        const isOld = ({at}) => Date.now() - at > LONGEST;
        for (const {id, value} of rows.filter(isOld)) {
            dropKept(kind, id);
            filesOf(value).forEach((file) => dropKept(FILE, file.id));
        }
        const kept = rows.filter((row) => !isOld(row));
        await Promise.all(kept.map(addFiles));
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
