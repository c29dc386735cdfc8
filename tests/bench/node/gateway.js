// Shared by both controls: GET /v2/me and POST /v2/messages/send/text with the same checks, SQL and writes
// as in Switchboard, implemented in the usual way with better-sqlite3 and undici. The benchmark compares
// the answers byte for byte, and the rows that a send writes.
//
// The same for both: Apache in front, on a unix socket; a copy of the same database, in WAL mode, with
// one sync of the log at each commit; prepared statements; connections to the platform that are kept; a
// line of log for each request; NODE_ENV=production; two processes, the fastest number on two processors
// (Switchboard starts four of each program, and more while all of them wait). Each control gets 20,000
// requests before its first measurement.
//
// In favour of the controls: the platform's access token is from the environment, Switchboard decrypts it
// for each send; no Idempotency-Key, no counters for /metrics, no record of the last requests, no
// confinement, no check for a changed configuration or database; log lines are written 4 KB at a time;
// Fastify has a compiled serializer for `me`.
//
// In favour of Switchboard: the row of the token, the plan and the line are kept in the process until a
// change of the settings' version, and several processes share one sync of the log. A Node process can do
// the first too; better-sqlite3 cannot do the second, because it blocks its process while it commits.
import { createHash, randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';
import pino from 'pino';
import { Agent, request as httpRequest } from 'undici';

export class Failure extends Error {
    constructor(status, code, message, details) {
        super(message);
        this.status = status;
        this.body = { success: false, error: code, message, details };
    }
}

// --- log: one line per request, written in batches ---

export const log = pino(
    { base: undefined },
    pino.destination({ dest: process.env.LOG_FILE, sync: false, minLength: 4096 }),
);

// --- ids: a prefix and a ULID; the characters of the time are cached for the millisecond ---

const digits = '0123456789abcdefghjkmnpqrstvwxyz';
let timeOfPrefix = 0;
let timePrefix = '';

function newId(prefix, now) {
    if (now !== timeOfPrefix) {
        timeOfPrefix = now;
        timePrefix = '';
        for (let i = 0, rest = now; i < 10; i++, rest = Math.floor(rest / 32)) {
            timePrefix = digits[rest % 32] + timePrefix;
        }
    }
    let id = prefix + timePrefix;
    for (const byte of randomBytes(16)) {
        id += digits[byte % 32];
    }
    return id;
}

// --- database ---

const db = new Database(process.env.DATABASE, { fileMustExist: true, timeout: 5000 });
db.pragma('synchronous = FULL');
db.pragma('foreign_keys = ON');

const selectUser = db.prepare(`
    SELECT u.id, u.email, u.default_account_id, u.primary_line_id, p.name AS plan, p.ends_at,
           EXISTS (SELECT 1 FROM account a
                   WHERE a.user_id = u.id AND a.access_token IS NOT NULL) AS has_valid_account
    FROM api_token t JOIN user u ON u.id = t.user_id
    LEFT JOIN plan p ON p.user_id = u.id AND p.is_addon = 0
    WHERE t.hash = ? AND u.deleted_at IS NULL`);
const selectAccounts = db.prepare(`
    SELECT a.id, a.waba_id, a.name, a.id = u.default_account_id AS is_default
    FROM account a JOIN user u ON u.id = a.user_id WHERE a.user_id = ? ORDER BY a.id`);
const selectLines = db.prepare(`
    SELECT l.id, l.account_id, l.phone_number_id, l.phone_number, l.name, l.is_registered,
           l.is_coexisting, l.platform_type, l.created_at
    FROM account a JOIN line l ON l.account_id = a.id
    WHERE a.user_id = ? AND l.archived_at IS NULL ORDER BY l.id`);
const selectLine = db.prepare(`
    SELECT l.id, l.account_id, l.phone_number_id
    FROM line l JOIN account a ON a.id = l.account_id
    WHERE l.phone_number_id = ? AND a.user_id = ? AND l.archived_at IS NULL`);
const selectContact = db.prepare(`
    SELECT id FROM contact WHERE account_id = @account AND phone = @identity
    UNION ALL SELECT id FROM contact WHERE account_id = @account AND bsuid = @identity
    UNION ALL SELECT contact_id FROM contact_alias
              WHERE account_id = @account AND identity = @identity
    LIMIT 1`).pluck();
const selectBlock = db.prepare(
    'SELECT 1 FROM contact_block WHERE line_id = ? AND contact_id = ?').pluck();
const insertContact = db.prepare(`
    INSERT INTO contact (id, account_id, phone, bsuid, created_at, updated_at)
    VALUES (@id, @account, @phone, @bsuid, @now, @now)`);
const touchContact = db.prepare('UPDATE contact SET updated_at = ? WHERE id = ?');
const upsertAlias = db.prepare(`
    INSERT INTO contact_alias (account_id, identity, contact_id, created_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (account_id, identity) DO UPDATE SET contact_id = excluded.contact_id`);
const insertTerm = db.prepare(
    'INSERT OR IGNORE INTO contact_term (account_id, term, contact_id) VALUES (?, ?, ?)');
// two statements cost SQLite less than one with RETURNING, for which it makes a temporary table
const selectChange = db.prepare('SELECT change_sequence FROM user WHERE id = ?').pluck();
const setChange = db.prepare('UPDATE user SET change_sequence = ? WHERE id = ?');
const selectThread = db.prepare(
    'SELECT id FROM thread WHERE line_id = ? AND contact_id = ?').pluck();
const upsertThread = db.prepare(`
    INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at, changed)
    VALUES (@id, @user, @line, @contact, @now, @now, @change)
    ON CONFLICT (line_id, contact_id) DO UPDATE
    SET last_message_at = max(last_message_at, excluded.last_message_at),
        changed = excluded.changed`);
const insertMessage = db.prepare(`
    INSERT INTO message (id, user_id, thread_id, line_id, wamid, direction, source, type, status,
                         status_at, timestamp, context_wamid, body, created_at, changed)
    VALUES (@id, @user, @thread, @line, @wamid, 'out', 'api', 'text', 'accepted', @now, @now,
            @context, @body, @now, @change)
    ON CONFLICT (line_id, wamid) DO UPDATE SET thread_id = excluded.thread_id, source = 'api',
        type = excluded.type, body = excluded.body, context_wamid = excluded.context_wamid,
        changed = excluded.changed
    WHERE message.source = 'status'`);
const countUsage = db.prepare(`
    INSERT INTO usage (user_id, hour, line_id, measure, count) VALUES (?, ?, ?, 'out', 1)
    ON CONFLICT (user_id, hour, line_id, measure) DO UPDATE SET count = count + 1`);

// --- authorization ---

export function authenticate(headers) {
    const bearer = /^bearer[ \t]+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const plain = headers['x-api-token'];
    if (bearer && plain && bearer !== plain) {
        throw new Failure(401, 'UNAUTHORIZED', 'The two headers hold different tokens');
    }
    const token = bearer ?? plain;
    if (!token) {
        throw new Failure(401, 'UNAUTHORIZED', 'Missing API token');
    }
    const user = selectUser.get(createHash('sha256').update(token).digest());
    if (!user) {
        throw new Failure(401, 'UNAUTHORIZED', 'Invalid API token');
    }
    if (!user.has_valid_account) {
        throw new Failure(404, 'NOT_FOUND', 'No messaging account with a valid token is linked');
    }
    if (user.ends_at !== null && user.ends_at <= Date.now()) {
        throw new Failure(403, 'PLAN_EXPIRED', 'The plan has ended');
    }
    if (user.plan !== 'Premium' && user.plan !== 'Enterprise') {
        throw new Failure(403, 'DEVELOPER_PLAN_REQUIRED', 'The API needs another plan');
    }
    return user;
}

// --- GET /v2/me ---

function defaultPhoneNumberId(user, lines) {
    if (lines.length === 1) {
        return lines[0].phone_number_id;
    }
    return lines.find((line) => line.id === user.primary_line_id)?.phone_number_id ?? null;
}

export function accountContext(user) {
    const accounts = selectAccounts.all(user.id);
    const lines = selectLines.all(user.id);
    const account = accounts.find((one) => one.is_default) ?? accounts[0];
    return {
        user: { id: user.id, email: user.email },
        account: { id: account?.id ?? null, wabaid: account?.waba_id ?? null },
        accounts: accounts.map((one) => ({ id: one.id, wabaid: one.waba_id, displayName: one.name })),
        phoneNumbers: lines.map((line) => ({
            id: line.id,
            phoneNumberId: line.phone_number_id,
            phoneNumber: line.phone_number,
            name: line.name,
            isRegistered: line.is_registered !== 0,
            isCoexisting: line.is_coexisting !== 0,
            platformType: line.platform_type,
            accountId: line.account_id,
            createdAt: new Date(line.created_at).toISOString(),
        })),
        defaultPhoneNumberId: defaultPhoneNumberId(user, lines),
    };
}

// --- POST /v2/messages/send/text ---

const platform = new Agent({ pipelining: 1, keepAliveTimeout: 20_000, connect: { timeout: 5000 } });

function findContact(account, identity) {
    return selectContact.get({ account, identity });
}

function isBlocked(line, identities) {
    return identities.some((identity) => {
        const contact = identity && findContact(line.account_id, identity);
        return contact && selectBlock.get(line.id, contact);
    });
}

function recipientOf(body) {
    const phone = typeof body.to === 'string' ? body.to.replace(/\D/g, '') : undefined;
    if (phone === undefined && typeof body.recipient !== 'string') {
        throw new Failure(400, 'VALIDATION_ERROR', 'to or recipient is required');
    }
    if (phone !== undefined && (phone.length < 5 || phone.length > 20)) {
        throw new Failure(400, 'VALIDATION_ERROR', 'to must hold 5 to 20 digits');
    }
    return { phone, bsuid: body.recipient };
}

function payloadOf(body, { phone, bsuid }) {
    return JSON.stringify({
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: phone,
        recipient: bsuid,
        context: body.contextMessageWamid && { message_id: body.contextMessageWamid },
        type: 'text',
        text: { body: body.text },
    });
}

async function callPlatform(line, payload) {
    const url = `${process.env.GRAPH_URL}/${line.phone_number_id}/messages`;
    const response = await httpRequest(url, {
        dispatcher: platform,
        method: 'POST',
        headers: {
            authorization: `Bearer ${process.env.PLATFORM_TOKEN}`,
            'content-type': 'application/json',
        },
        body: payload,
        headersTimeout: 30_000,
        bodyTimeout: 30_000,
    });
    const answer = await response.body.json();
    if (response.statusCode !== 200) {
        const known = { 401: 'UNAUTHORIZED', 403: 'FORBIDDEN', 404: 'NOT_FOUND' };
        const isTheirs = response.statusCode >= 500;
        throw new Failure(isTheirs ? 502 : known[response.statusCode] ? response.statusCode : 400,
            isTheirs ? 'INTERNAL_ERROR' : known[response.statusCode] ?? 'VALIDATION_ERROR',
            answer.error?.message, answer);
    }
    return answer;
}

const recordSend = db.transaction((user, line, { phone, bsuid }, body, payload, answer, now) => {
    const account = line.account_id;
    const waId = phone && (answer.contacts?.[0]?.wa_id ?? phone);
    const known = findContact(account, waId ?? bsuid) ?? (phone && findContact(account, phone));
    const contact = known ?? newId('con_', now);
    if (known) {
        touchContact.run(now, contact);
    } else {
        insertContact.run({
            id: contact, account, phone: waId ?? null, bsuid: phone ? null : bsuid, now,
        });
        if (waId) {
            insertTerm.run(account, waId, contact);
        }
    }
    if (phone && waId !== phone) {
        upsertAlias.run(account, phone, contact, now);
    }
    const change = selectChange.get(user.id) + 1;
    setChange.run(change, user.id);
    const thread = selectThread.get(line.id, contact) ?? newId('thr_', now);
    upsertThread.run({ id: thread, user: user.id, line: line.id, contact, now, change });
    insertMessage.run({
        id: newId('msg_', now),
        user: user.id,
        thread,
        line: line.id,
        wamid: answer.messages[0].id,
        now,
        context: body.contextMessageWamid ?? null,
        body: Buffer.from(payload),
        change,
    });
    countUsage.run(user.id, Math.floor(now / 3_600_000), line.id);
});

export async function sendText(user, body) {
    if (typeof body?.phoneNumberId !== 'string') {
        throw new Failure(400, 'VALIDATION_ERROR', 'phoneNumberId is required');
    }
    const line = selectLine.get(body.phoneNumberId, user.id);
    if (!line) {
        throw new Failure(403, 'FORBIDDEN', 'phoneNumberId does not belong to this account');
    }
    if (typeof body.text !== 'string' || body.text === '') {
        throw new Failure(400, 'VALIDATION_ERROR', 'text is required');
    }
    const recipient = recipientOf(body);
    if (isBlocked(line, [recipient.phone, recipient.bsuid])) {
        throw new Failure(403, 'FORBIDDEN', 'The contact is blocked on this line');
    }
    const payload = payloadOf(body, recipient);
    const answer = await callPlatform(line, payload);
    recordSend.immediate(user, line, recipient, body, payload, answer, Date.now());
    return answer;
}

// --- headers and log of every answer ---

export const fixedHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export function logLine(method, route, status, user, started) {
    log.info({ method, route, status, user: user?.id, ms: Math.round(performance.now() - started) });
}
