-- Switchboard's database. SQLite, STRICT tables, foreign keys on.
--
-- Ids are text that the program makes: a prefix and a ULID, so they sort by the time of creation.
-- Times are integer milliseconds since 1970-01-01 UTC. Booleans are 0 or 1. The JSON of the platform,
-- and the JSON sent to it, is stored byte for byte (BLOB).
--
-- A CHECK compares a column with lists of two values: for a longer list SQLite makes a temporary
-- table in every statement that checks it.
--
-- `switchboard init` creates this schema, or migrates an older database to it by the numbered steps
-- in lib/store/move/schema_steps.c. The version is 1 until the first release, also when this file changes.
--
-- The tables up to line are those by which a request is authorized: a CGI that needs no other one
-- reads only these (lib/engine/sqlite_part.h).
--
-- Each row that belongs to one customer has the customer's user_id, or the account_id of an account
-- (foreign_waba: the line_id of a line), which belongs to one customer for good: so the rows can be
-- divided by customer.

-- A customer, with one API token. A deleted user loses the token and keeps its row, so that its id
-- is not used again (spec 5).
CREATE TABLE "user" (
    id                 TEXT PRIMARY KEY,           -- usr_...
    email              TEXT NOT NULL,              -- shown by GET /v2/me; unique unless deleted
    default_account_id TEXT,                       -- for requests that name no account (spec 2.2)
    primary_line_id    TEXT REFERENCES line (id),  -- the workspace's primary line (spec 2.2)
    event_sequence     INTEGER NOT NULL DEFAULT 0, -- the last `data.sequence` given to an event
    forward_sequence   INTEGER NOT NULL DEFAULT 0, -- the same for forwards, which have their own
    verifying_until    INTEGER NOT NULL DEFAULT 0, -- a URL of the user's webhooks is being verified
    change_sequence    INTEGER NOT NULL DEFAULT 0, -- the last number given to thread.changed
    created_at         INTEGER NOT NULL,
    deleted_at         INTEGER,
    requires_factor    INTEGER NOT NULL DEFAULT 0 CHECK (requires_factor IN (0, 1)), -- of members
    FOREIGN KEY (id, default_account_id) REFERENCES account (user_id, id)
) STRICT;
CREATE UNIQUE INDEX user_email ON "user" (email) WHERE deleted_at IS NULL;

-- The API token of a user. Only its hash is stored (spec 5); a new token replaces it.
CREATE TABLE api_token (
    user_id    TEXT PRIMARY KEY REFERENCES "user" (id),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the token
    created_at INTEGER NOT NULL,
    last4      TEXT                                -- its last characters; NULL: not known
) STRICT;

-- A person who logs in to the dashboard. One who belongs to no user any more is deleted.
CREATE TABLE member (
    id         TEXT PRIMARY KEY,                   -- mbr_...
    email      TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,                      -- as colleagues see it
    password   TEXT,                               -- argon2id, with its parameters and salt; NULL: none
    created_at INTEGER NOT NULL
) STRICT;

-- Who may use what belongs to a user, the workspace of its members, and what for
-- (lib/store/login/role.h).
CREATE TABLE membership (
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    member_id  TEXT NOT NULL REFERENCES member (id),
    role       TEXT NOT NULL CHECK (role IN ('owner', 'admin') OR role IN ('agent', 'viewer')),
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,                      -- the name of who invited or added the member
    line_ids   TEXT CHECK (line_ids IS NULL OR role <> 'owner'), -- lin_..., separated by one space;
                                                   -- NULL: all lines
    own_threads INTEGER NOT NULL DEFAULT 0         -- only threads that are assigned to it or to none
        CHECK (own_threads = 0 OR (own_threads = 1 AND role IN ('agent', 'viewer'))),
    PRIMARY KEY (user_id, member_id)
) STRICT;
CREATE INDEX membership_member ON membership (member_id, created_at, user_id);

-- The sessions of the dashboard. Only the hash of a cookie's value is stored.
CREATE TABLE session (
    id           TEXT PRIMARY KEY,                 -- ses_...
    member_id    TEXT NOT NULL REFERENCES member (id),
    user_id      TEXT NOT NULL REFERENCES "user" (id), -- the workspace, unless a request names one
    hash         BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the cookie's value
    is_by_link   INTEGER NOT NULL CHECK (is_by_link IN (0, 1)),  -- logged in by a link
    address      TEXT NOT NULL,                    -- of the client at the login
    agent        TEXT NOT NULL,                    -- its User-Agent
    created_at   INTEGER NOT NULL,
    confirmed_at INTEGER NOT NULL,                 -- the login, or the last confirmation
    last_seen_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL                  -- unless it is renewed
) STRICT;
CREATE INDEX session_member ON session (member_id, created_at, id);
CREATE INDEX session_user ON session (user_id, member_id);
CREATE INDEX session_age ON session (expires_at);

-- The second factor of a member: a secret that the member's authenticator app has too (RFC 6238).
CREATE TABLE factor (
    member_id    TEXT PRIMARY KEY REFERENCES member (id),
    secret       BLOB NOT NULL,       -- sealed
    last_step    INTEGER NOT NULL,    -- the latest time step whose code was used
    created_at   INTEGER NOT NULL,
    confirmed_at INTEGER              -- NULL: it is being set up, and no login asks for it
) STRICT;

-- API tokens with a part of the scopes of the user's main token, and an end. Only the hash is stored.
CREATE TABLE scoped_token (
    id         TEXT PRIMARY KEY,      -- tok_...
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the token
    name       TEXT NOT NULL,         -- what it is for
    last4      TEXT NOT NULL,         -- its last characters
    scopes     TEXT NOT NULL,         -- words, separated by one space (lib/web/scope.h)
    created_by TEXT NOT NULL,         -- the name of who made it
    created_at INTEGER NOT NULL,
    expires_at INTEGER,               -- NULL: never
    last_used_at INTEGER,             -- NULL: not yet; written once an hour at most
    line_ids   TEXT                   -- lin_..., separated by one space; NULL: all lines
) STRICT;
CREATE INDEX scoped_token_user ON scoped_token (user_id, id);

-- The plans of a user: at most one primary plan, which decides on access (spec 5), and add-ons.
CREATE TABLE plan (
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    name       TEXT NOT NULL CHECK (name <> ''), -- exactly Premium or Enterprise gives access
    is_addon   INTEGER NOT NULL CHECK (is_addon IN (0, 1)),
    ends_at    INTEGER,                          -- NULL: no end
    created_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, is_addon, name)
) STRICT;
CREATE UNIQUE INDEX plan_primary ON plan (user_id) WHERE is_addon = 0;

-- A business account (WABA) of the platform.
CREATE TABLE account (
    id           TEXT PRIMARY KEY,                    -- acc_...
    user_id      TEXT NOT NULL REFERENCES "user" (id),
    waba_id      TEXT NOT NULL UNIQUE CHECK (waba_id <> ''), -- the platform's id
    name         TEXT NOT NULL,                       -- displayName
    access_token BLOB,                                -- the platform access token, sealed; NULL: none
    subscribed_fields TEXT,                           -- of webhooks that programs make with the
                                                      -- platform's routes; NULL: messages
    created_at   INTEGER NOT NULL,
    UNIQUE (user_id, id)
) STRICT;

-- A phone line of a business account.
CREATE TABLE line (
    id              TEXT PRIMARY KEY,                       -- lin_...
    account_id      TEXT NOT NULL REFERENCES account (id),
    phone_number_id TEXT NOT NULL UNIQUE CHECK (phone_number_id <> ''), -- the platform's id
    phone_number    TEXT NOT NULL,                          -- as displayed, E.164
    name            TEXT,
    is_registered   INTEGER NOT NULL CHECK (is_registered IN (0, 1)),
    is_coexisting   INTEGER NOT NULL CHECK (is_coexisting IN (0, 1)), -- with the business app
    platform_type   TEXT,
    send_rate       INTEGER CHECK (send_rate BETWEEN 1 AND 1000), -- of queued messages, a second;
                                                            -- NULL: that of lib/sending/pace.h
    archived_at     INTEGER,                                -- set: not listed, cannot send (spec 2.2)
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX line_account ON line (account_id);

-- A number that every change of a row by which requests are authorized replaces: of a user, an API
-- token, a scoped token, a plan, an account or a line. A process that keeps such rows compares it before it uses them
-- (lib/store/access_cache.c). It is random, so that a restored database does not repeat one.
CREATE TABLE settings_version (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO settings_version (id, version) VALUES (1, 0);
CREATE TRIGGER user_settings_insert AFTER INSERT ON "user" BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER user_settings_update AFTER UPDATE OF id, email, default_account_id, primary_line_id, deleted_at ON "user" BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER user_settings_delete AFTER DELETE ON "user" BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER api_token_settings_insert AFTER INSERT ON api_token BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER api_token_settings_update AFTER UPDATE ON api_token BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER api_token_settings_delete AFTER DELETE ON api_token BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER scoped_token_settings_insert AFTER INSERT ON scoped_token BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER scoped_token_settings_update AFTER UPDATE OF id, user_id, hash, name, scopes, expires_at, line_ids ON scoped_token BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER scoped_token_settings_delete AFTER DELETE ON scoped_token BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER plan_settings_insert AFTER INSERT ON plan BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER plan_settings_update AFTER UPDATE ON plan BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER plan_settings_delete AFTER DELETE ON plan BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER account_settings_insert AFTER INSERT ON account BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER account_settings_update AFTER UPDATE ON account BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER account_settings_delete AFTER DELETE ON account BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER line_settings_insert AFTER INSERT ON line BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER line_settings_update AFTER UPDATE ON line BEGIN
    UPDATE settings_version SET version = random(); END;
CREATE TRIGGER line_settings_delete AFTER DELETE ON line BEGIN
    UPDATE settings_version SET version = random(); END;

-- A person that a business account has contact with, identified by phone, by business-scoped user id
-- (BSUID), or both (spec 2.3). The BSUID is stored byte for byte, the phone as digits only. A person
-- known by a phone alone has neither once the phone belongs to another person.
CREATE TABLE contact (
    id           TEXT PRIMARY KEY,                      -- con_...
    account_id   TEXT NOT NULL REFERENCES account (id),
    phone        TEXT CHECK (phone <> ''),
    bsuid        TEXT CHECK (bsuid <> ''),
    parent_bsuid TEXT CHECK (parent_bsuid <> ''),
    username     TEXT,                                  -- without @
    name         TEXT,                                  -- profile name
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    held_at      INTEGER,                               -- set by the operator: nothing of it is deleted
    UNIQUE (account_id, phone),
    UNIQUE (account_id, bsuid),
    UNIQUE (account_id, id)
) STRICT;
CREATE INDEX contact_parent ON contact (account_id, parent_bsuid) WHERE parent_bsuid IS NOT NULL;

-- The words by which a contact is found: those of its name and user name, and its phone's digits,
-- without case and accents (lib/store/inbox/contact_term.c).
CREATE TABLE contact_term (
    account_id TEXT NOT NULL REFERENCES account (id),
    term       TEXT NOT NULL,
    contact_id TEXT NOT NULL REFERENCES contact (id),
    PRIMARY KEY (account_id, term, contact_id)
) STRICT;
CREATE INDEX contact_term_contact ON contact_term (contact_id, term);

-- Other identities that lead to a contact: spellings of a phone that the platform normalizes (a send
-- to `phone` was answered with another wa_id), and former identities after a change or a merge.
CREATE TABLE contact_alias (
    account_id TEXT NOT NULL REFERENCES account (id),
    identity   TEXT NOT NULL,   -- digits, or a BSUID
    contact_id TEXT NOT NULL REFERENCES contact (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, identity)
) STRICT;
CREATE INDEX contact_alias_contact ON contact_alias (contact_id);

-- When the platform showed a phone and a BSUID together, or one of them alone: the first and the
-- last of its timestamps. The contacts follow from these rows and from identity_change, whatever the
-- order in which they arrive (lib/store/ingest/grouping.h). Sends are not shown by the platform and have no
-- row.
CREATE TABLE contact_sign (
    account_id   TEXT NOT NULL REFERENCES account (id),
    phone        TEXT NOT NULL,                  -- '': none
    bsuid        TEXT NOT NULL,                  -- '': none
    since        INTEGER NOT NULL,               -- without a BSUID: the change of the phone's owner before, else 0
    parent_bsuid TEXT CHECK (parent_bsuid <> ''),
    contact_id   TEXT NOT NULL REFERENCES contact (id),
    first_at     INTEGER NOT NULL,
    last_at      INTEGER NOT NULL,
    PRIMARY KEY (account_id, phone, bsuid, since)
) STRICT;
CREATE INDEX contact_sign_bsuid ON contact_sign (account_id, bsuid);
CREATE INDEX contact_sign_parent ON contact_sign (account_id, parent_bsuid) WHERE parent_bsuid IS NOT NULL;
CREATE INDEX contact_sign_contact ON contact_sign (contact_id);

-- The changes of identity that the platform reported, with its timestamp. '' where it has none. One
-- that the operator refused joins no contacts.
CREATE TABLE identity_change (
    account_id TEXT NOT NULL REFERENCES account (id),
    at         INTEGER NOT NULL,
    old_phone  TEXT NOT NULL,
    old_bsuid  TEXT NOT NULL,
    new_phone  TEXT NOT NULL,
    new_bsuid  TEXT NOT NULL,
    refused_at INTEGER,        -- by `switchboard contact split`; NULL: it was not
    PRIMARY KEY (account_id, old_phone, old_bsuid, new_phone, new_bsuid, at)
) STRICT, WITHOUT ROWID;
-- refused_at: only an index that has all columns is preferred to the primary key's
CREATE INDEX identity_change_old_bsuid ON identity_change (account_id, old_bsuid, refused_at);
CREATE INDEX identity_change_new_phone ON identity_change (account_id, new_phone, refused_at);
CREATE INDEX identity_change_new_bsuid ON identity_change (account_id, new_bsuid, refused_at);

-- The history of merges and identity changes (spec 6).
CREATE TABLE contact_merge (
    id            TEXT PRIMARY KEY,                       -- mrg_...
    account_id    TEXT NOT NULL REFERENCES account (id),
    contact_id    TEXT NOT NULL REFERENCES contact (id),  -- the contact that remained
    merged_id     TEXT,      -- the deleted contact; NULL: only an identity changed
    reason        TEXT NOT NULL,                          -- same_payload, user_id_update, number_change, recycled_phone, split
    phone         TEXT,      -- identities of the merged or changed contact before
    bsuid         TEXT,
    parent_bsuid  TEXT,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX contact_merge_contact ON contact_merge (contact_id);
CREATE INDEX contact_merge_merged ON contact_merge (merged_id) WHERE merged_id IS NOT NULL;

-- Blocked contacts: a line must not send to them (spec 3, 4.3).
CREATE TABLE contact_block (
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    line_id    TEXT NOT NULL REFERENCES line (id),
    contact_id TEXT NOT NULL REFERENCES contact (id),
    created_at INTEGER NOT NULL,
    identity   TEXT,             -- the BSUID or phone that was blocked; '': of both contacts of a merge
    PRIMARY KEY (line_id, contact_id)
) STRICT;
CREATE INDEX contact_block_contact ON contact_block (contact_id);

-- A conversation: one per line and contact.
CREATE TABLE thread (
    id              TEXT PRIMARY KEY,                       -- thr_...
    user_id         TEXT NOT NULL REFERENCES "user" (id),
    line_id         TEXT NOT NULL REFERENCES line (id),
    contact_id      TEXT NOT NULL REFERENCES contact (id),
    created_at      INTEGER NOT NULL,
    last_message_at INTEGER NOT NULL,                       -- 0: campaigns alone have written
    last_inbound_at INTEGER,                                -- by the platform's clock; NULL: never
    unread          INTEGER NOT NULL DEFAULT 0,             -- incoming messages not marked as read
    waiting_since   INTEGER,     -- of the first message that waits for an answer; NULL: none does
    answered_at     INTEGER,                                -- of the last answer; NULL: none
    failed_at       INTEGER,                 -- of the last message sent, if it failed; NULL: it did not
    done_at         INTEGER,                 -- when it was marked as done; NULL: it is not
    notes_changed   INTEGER,                 -- user.change_sequence of the last change of its notes
    assignee_id     TEXT,                    -- mbr_... of the member who takes care of it; NULL: none
    typing_by       TEXT,                    -- mbr_... of the member who wrote in it last; NULL: none
    typing_until    INTEGER,                 -- when that counts no more
    changed         INTEGER NOT NULL DEFAULT 0,             -- user.change_sequence of its last change
    assigned_changed INTEGER,                -- the same of the last change of assignee_id; NULL: none
    UNIQUE (line_id, contact_id),
    UNIQUE (id, line_id)
) STRICT;
CREATE INDEX thread_contact ON thread (contact_id);
CREATE INDEX thread_recent ON thread (user_id, last_message_at, id);
CREATE INDEX thread_recent_line ON thread (line_id, last_message_at, id);
CREATE INDEX thread_recent_unread ON thread (user_id, last_message_at, id) WHERE unread > 0;
CREATE INDEX thread_recent_failed ON thread (user_id, last_message_at, id) WHERE failed_at IS NOT NULL;
CREATE INDEX thread_recent_assigned ON thread (user_id, assignee_id, last_message_at, id)
    WHERE assignee_id IS NOT NULL;
CREATE INDEX thread_recent_unassigned ON thread (user_id, last_message_at, id) WHERE assignee_id IS NULL;
CREATE INDEX thread_waiting ON thread (line_id, waiting_since, id) WHERE waiting_since IS NOT NULL;
CREATE INDEX thread_changed ON thread (user_id, changed);

-- Ids of threads that were merged into another thread, because their contacts were merged.
CREATE TABLE thread_alias (
    id        TEXT PRIMARY KEY,                             -- thr_... of the thread that is gone
    user_id   TEXT NOT NULL REFERENCES "user" (id),
    thread_id TEXT NOT NULL REFERENCES thread (id),         -- the thread that remained
    contact_id TEXT                                         -- the contact of the thread that is gone
) STRICT;
CREATE INDEX thread_alias_thread ON thread_alias (thread_id);

-- An incoming or outgoing message, identified by its line and the platform's message id.
CREATE TABLE message (
    id            TEXT PRIMARY KEY,                          -- msg_...
    user_id       TEXT NOT NULL REFERENCES "user" (id),
    thread_id     TEXT NOT NULL,
    line_id       TEXT NOT NULL,
    wamid         TEXT NOT NULL CHECK (wamid <> ''),
    direction     TEXT NOT NULL CHECK (direction IN ('in', 'out')),
    source        TEXT NOT NULL CHECK (source IN ('api', 'webhook') OR
                      source IN ('echo', 'history') OR source = 'status'),
    type          TEXT NOT NULL,      -- text, image, template, ...; unknown: only a status reported it
    status        TEXT NOT NULL CHECK (status IN ('received', 'accepted') OR
                      status IN ('sent', 'delivered') OR status IN ('read', 'played') OR
                      status = 'failed'),
    status_at     INTEGER NOT NULL,
    timestamp     INTEGER NOT NULL,   -- when it was sent, by the platform's clock if it is known
    context_wamid TEXT,               -- the message that it replies to
    phone         TEXT,               -- of the contact, as the message arrived or was sent
    bsuid         TEXT,               -- the same; both NULL: unknown
    body          BLOB NOT NULL,      -- in: the message object; out: the body sent; '': unknown
    error         BLOB,               -- the platform's `errors` of a failed message
    created_at    INTEGER NOT NULL,
    changed       INTEGER NOT NULL DEFAULT 0, -- user.change_sequence of its last change
    is_campaign   INTEGER NOT NULL DEFAULT 0 CHECK (is_campaign IN (0, 1)), -- a campaign sent it
    done_at       INTEGER,            -- it needs no answer, or no retry; NULL: that was not said
    by_id         TEXT,               -- who sent it: mbr_... or tok_...; NULL: the main token, or unknown
    by_name       TEXT,               -- its name then: it can be read after it is deleted
    media_id      TEXT,               -- the platform's, of its file; NULL: none
    UNIQUE (wamid, line_id), -- not the line first: SQLite would search by it for a thread's messages
    FOREIGN KEY (thread_id, line_id) REFERENCES thread (id, line_id)
) STRICT;
CREATE INDEX message_thread ON message (thread_id, timestamp, id);
CREATE INDEX message_sent ON message (thread_id, timestamp, id) WHERE direction = 'out'; -- the last answer
CREATE INDEX message_changed ON message (thread_id, changed, id);
CREATE INDEX message_media ON message (media_id, line_id) WHERE media_id IS NOT NULL;

-- The statuses that the platform reported for a message, each once.
CREATE TABLE message_status (
    user_id     TEXT NOT NULL REFERENCES "user" (id),
    message_id  TEXT NOT NULL REFERENCES message (id),
    status      TEXT NOT NULL,
    recipient   TEXT NOT NULL,        -- as the platform names it; '' when it does not
    timestamp   INTEGER NOT NULL,
    body        BLOB NOT NULL,        -- the platform's status object
    received_at INTEGER NOT NULL,
    PRIMARY KEY (message_id, status, recipient)
) STRICT;

-- Other updates of the platform, each once: system messages, preferences, updates of accounts and
-- templates, and unknown kinds.
CREATE TABLE platform_update (
    account_id  TEXT NOT NULL REFERENCES account (id),
    key         TEXT NOT NULL,        -- hash of the body, or the platform's id of the update
    field       TEXT NOT NULL,        -- `changes[].field`
    body        BLOB NOT NULL,
    received_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT;
CREATE INDEX platform_update_age ON platform_update (account_id, received_at);

-- The last state of each template that the platform reported.
CREATE TABLE template (
    account_id  TEXT NOT NULL REFERENCES account (id),
    name        TEXT NOT NULL,
    language    TEXT NOT NULL,
    template_id TEXT,
    status      TEXT,
    category    TEXT,
    reason      TEXT,                 -- why the platform rejected or disabled it; NULL: no reason
    quality     TEXT,                 -- GREEN, YELLOW, RED, UNKNOWN
    status_at   INTEGER,              -- when the platform reported status and reason
    quality_at  INTEGER,
    flow_id     TEXT,                 -- of its FLOW button; NULL: none
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, name, language)
) STRICT;

-- Flows (forms) that the platform listed, returned or reported (spec 2.6).
CREATE TABLE flow (
    account_id  TEXT NOT NULL REFERENCES account (id),
    flow_id     TEXT NOT NULL,        -- the platform's id
    name        TEXT NOT NULL,
    name_folded TEXT NOT NULL,        -- name with ASCII letters in lower case, for searching
    status      TEXT NOT NULL,        -- as the platform writes it, upper case
    validation  BLOB NOT NULL,        -- JSON array, the platform's validation_errors
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, flow_id)
) STRICT;
CREATE INDEX flow_listing ON flow (account_id, updated_at DESC);

-- Flow replies: the message with the answers, and the flow that it is counted for.
CREATE TABLE flow_response (
    message_id TEXT PRIMARY KEY REFERENCES message (id),
    account_id TEXT NOT NULL REFERENCES account (id),
    flow_id    TEXT                   -- NULL: unknown
) STRICT;
CREATE INDEX flow_response_list ON flow_response (account_id, flow_id, message_id)
    WHERE flow_id IS NOT NULL;

-- The number of rows in flow_response for each flow; raised in the transaction that inserts one.
CREATE TABLE flow_reply_count (
    account_id TEXT NOT NULL REFERENCES account (id),
    flow_id    TEXT NOT NULL,
    responses  INTEGER NOT NULL,
    PRIMARY KEY (account_id, flow_id)
) STRICT;

-- Flow tokens and wamids of messages that opened a flow, so that replies can be counted for it.
CREATE TABLE flow_token (
    account_id TEXT NOT NULL REFERENCES account (id),
    token      TEXT NOT NULL,
    flow_id    TEXT NOT NULL,
    PRIMARY KEY (account_id, token)
) STRICT;

-- The outbound webhooks of a user (spec 2.8, 4.7) and the state of their deliveries. Lists are words
-- separated by one space.
CREATE TABLE webhook (
    id              TEXT PRIMARY KEY,                         -- whk_...
    user_id         TEXT NOT NULL REFERENCES "user" (id),
    name            TEXT NOT NULL DEFAULT '',
    kind            TEXT NOT NULL CHECK (kind IN ('event', 'forward')), -- forward: the platform's POSTs
    url             TEXT NOT NULL DEFAULT '',                 -- '' when unset
    code            BLOB,                                     -- sealed; NULL when unset
    previous_code   BLOB,                                     -- sealed; still signs until previous_until
    previous_until  INTEGER,
    event_types     TEXT,                                     -- NULL: those that are on (event_type.h)
    account_id      TEXT REFERENCES account (id),             -- only what is of it; NULL: of all. With
                                                              -- line_ids NULL, not of the lines that
                                                              -- another webhook of the account names
    line_ids        TEXT,                                     -- lin_...; NULL: all lines
    fields          TEXT,                                     -- of changes; NULL: messages; '*': all
    updates         TEXT,                                     -- messages, statuses, echoes; NULL: all
    splits_messages INTEGER NOT NULL DEFAULT 0 CHECK (splits_messages IN (0, 1)),
    paused_at       INTEGER,                                  -- set by the user: nothing is sent
    failing_since   INTEGER,                                  -- first failure after the last success
    suspended_at    INTEGER,                                  -- set: events are only sent as probes
    next_probe_at   INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    deleted_at      INTEGER,
    CHECK ((previous_code IS NULL) = (previous_until IS NULL))
) STRICT;
CREATE INDEX webhook_user ON webhook (user_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX webhook_deleted ON webhook (deleted_at) WHERE deleted_at IS NOT NULL;

-- A POST of the platform that was forwarded, once for all events that are made of it.
CREATE TABLE platform_post (
    id         TEXT PRIMARY KEY,                             -- pst_...
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the body
    body       BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- The outbox: events for the user's webhooks, inserted in the transaction of their cause.
CREATE TABLE event (
    id          TEXT PRIMARY KEY,                            -- evt_...: the webhook-id of every attempt
    user_id     TEXT NOT NULL REFERENCES "user" (id),
    is_forward  INTEGER NOT NULL DEFAULT 0 CHECK (is_forward IN (0, 1)), -- for webhooks of that kind
    sequence    INTEGER NOT NULL,                            -- data.sequence, ascending for each user
    type        TEXT NOT NULL,                               -- message.received, lead.created, ...
    contact_id  TEXT,
    line_id     TEXT,                                        -- NULL: about no line
    wamid       TEXT,                                        -- NULL: about no message
    body        BLOB,                                        -- the exact bytes that every attempt sends
    post_id     TEXT REFERENCES platform_post (id),          -- instead of a body: the POST, and
    parts       TEXT,                                        -- the recipe of a body; NULL: all of it
    state       TEXT NOT NULL CHECK (state IN ('pending', 'done') OR
                        state IN ('dead', 'cancelled')),
    has_error   INTEGER NOT NULL DEFAULT 0 CHECK (has_error IN (0, 1)), -- a delivery has one
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    UNIQUE (user_id, is_forward, sequence),
    CHECK ((body IS NULL) <> (post_id IS NULL))
) STRICT;
CREATE INDEX event_finished ON event (state, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX event_failed ON event (id) WHERE has_error = 1;
CREATE INDEX event_owner ON event (user_id, id); -- the lists of a user: all, by state, by type, failed
CREATE INDEX event_owner_pending ON event (user_id, id) WHERE state = 'pending';
CREATE INDEX event_owner_finished ON event (user_id, state, id) WHERE finished_at IS NOT NULL;
CREATE INDEX event_owner_type ON event (user_id, type, id);
CREATE INDEX event_owner_contact ON event (user_id, contact_id, id) WHERE contact_id IS NOT NULL;
CREATE INDEX event_owner_wamid ON event (user_id, wamid, id) WHERE wamid IS NOT NULL;
CREATE INDEX event_owner_failed ON event (user_id, id) WHERE has_error = 1;
CREATE INDEX event_post ON event (post_id) WHERE post_id IS NOT NULL;

-- The delivery of an event to one webhook. An event is pending while one of its deliveries is; after
-- that it is dead if one is dead, else done if one is done.
CREATE TABLE delivery (
    event_id        TEXT NOT NULL REFERENCES event (id),
    webhook_id      TEXT NOT NULL REFERENCES webhook (id),
    user_id         TEXT NOT NULL REFERENCES "user" (id),
    sequence        INTEGER NOT NULL,                        -- the event's
    order_key       TEXT,                                    -- orders first attempts: the contact, or
                                                             -- PHONE_NUMBER_ID:FROM of a forward
    state           TEXT NOT NULL CHECK (state IN ('pending', 'done') OR
                        state IN ('dead', 'cancelled')),
    attempts        INTEGER NOT NULL DEFAULT 0,              -- since the last replay
    next_attempt_at INTEGER NOT NULL,
    lease_until     INTEGER NOT NULL DEFAULT 0,              -- a courier's lease ends then; 0: no lease
    lease_owner     TEXT,                                    -- the id of the leasing courier
    last_attempt_at INTEGER,                                 -- when the last attempt began
    last_status     INTEGER,                                 -- HTTP status of the last attempt
    last_error      TEXT,
    created_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    PRIMARY KEY (event_id, webhook_id)
) STRICT;
CREATE INDEX delivery_webhook ON delivery (webhook_id, event_id); -- the lists of a webhook
CREATE INDEX delivery_ended ON delivery (webhook_id, state, event_id)
    WHERE state = 'dead' OR state = 'cancelled';
CREATE INDEX delivery_failed ON delivery (webhook_id, event_id) WHERE last_error IS NOT NULL;
CREATE INDEX delivery_due ON delivery (webhook_id, next_attempt_at, sequence) WHERE state = 'pending';
CREATE INDEX delivery_open ON delivery (event_id, webhook_id) WHERE state = 'pending'; -- the state of an
CREATE INDEX delivery_error ON delivery (event_id) WHERE last_error IS NOT NULL;        -- event
CREATE INDEX delivery_order ON delivery (order_key, webhook_id, lease_until) WHERE state = 'pending';
CREATE INDEX delivery_first ON delivery (webhook_id, order_key, sequence)
    WHERE state = 'pending' AND attempts = 0 AND order_key IS NOT NULL; -- in the order of their key
CREATE INDEX delivery_unordered ON delivery (webhook_id, next_attempt_at, sequence)
    WHERE state = 'pending' AND (attempts > 0 OR order_key IS NULL);

-- Where the next share of a webhook's events starts, when the last share did not cover all of them.
CREATE TABLE event_turn (
    webhook_id TEXT PRIMARY KEY REFERENCES webhook (id),
    turn       INTEGER NOT NULL, -- counts shares that were used up; odd: retries go first
    order_key  TEXT NOT NULL,    -- the one that had the last turn
    round_end  TEXT NOT NULL     -- the one that the round ends with
) STRICT;

-- Every attempt to deliver an event.
CREATE TABLE event_attempt (
    user_id       TEXT NOT NULL REFERENCES "user" (id),
    event_id      TEXT NOT NULL REFERENCES event (id),
    webhook_id    TEXT NOT NULL,
    attempt       INTEGER NOT NULL,   -- counted for each webhook
    started_at    INTEGER NOT NULL,
    duration_ms   INTEGER NOT NULL,
    http_status   INTEGER,
    error         TEXT,
    address       TEXT,               -- the address connected to
    response_head BLOB,               -- the first KB of the answer
    PRIMARY KEY (event_id, webhook_id, attempt)
) STRICT;

-- Leads, one per contact and source: each causes at most one event.
CREATE TABLE lead (
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    contact_id TEXT NOT NULL REFERENCES contact (id),
    source     TEXT NOT NULL CHECK (source IN ('new_contact', 'ad') OR source = 'lead_event'),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (contact_id, source)
) STRICT;

-- Idempotency keys: the answer of the request, or a request that is still running.
CREATE TABLE idempotency (
    user_id     TEXT NOT NULL REFERENCES "user" (id),
    key         TEXT NOT NULL,
    route       TEXT NOT NULL,        -- method and path
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32), -- of the body; zeros: body not read yet
    request_id  TEXT NOT NULL,        -- the platform echoes it in the message's statuses
    status      INTEGER,              -- NULL: started, result unknown
    answer      BLOB,
    is_sealed   INTEGER NOT NULL DEFAULT 0 CHECK (is_sealed IN (0, 1)), -- the answer holds a secret
    wamid       TEXT,                 -- of the message, from its status, if no success was answered
    wa_id       TEXT,                 -- the phone in that status
    created_at  INTEGER NOT NULL,     -- or when a long request last reported that it runs
    PRIMARY KEY (user_id, key),
    CHECK ((status IS NULL) = (answer IS NULL))
) STRICT;
CREATE INDEX idempotency_age ON idempotency (created_at);
CREATE INDEX idempotency_sealed ON idempotency (request_id) WHERE is_sealed = 1;
CREATE INDEX idempotency_open ON idempotency (request_id) WHERE coalesce(status, 0) <> 200;

-- What passed through a line in an hour; raised in the transaction of the cause, in the hour in which
-- the gateway recorded it. Rows exist only for counts above 0.
CREATE TABLE usage (
    user_id TEXT NOT NULL REFERENCES "user" (id),
    hour    INTEGER NOT NULL,         -- since 1970: milliseconds divided by 3600000
    line_id TEXT NOT NULL REFERENCES line (id),
    measure TEXT NOT NULL CHECK (measure IN ('in', 'out') OR
                measure IN ('sent', 'delivered') OR measure IN ('read', 'failed') OR
                measure IN ('marketing', 'utility') OR measure IN ('authentication', 'service')),
    count   INTEGER NOT NULL,
    PRIMARY KEY (user_id, hour, line_id, measure)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_sent ON usage (line_id, hour) WHERE measure = 'out'; -- the last hour of a line
CREATE INDEX usage_brought ON usage (line_id, hour) WHERE measure <> 'out';

-- Heartbeats of resident processes, the couriers: the last one of each host.
CREATE TABLE heartbeat (
    name           TEXT NOT NULL,     -- courier
    host           TEXT NOT NULL DEFAULT '', -- the key `host` of its configuration
    pid            INTEGER NOT NULL,
    beat_at        INTEGER NOT NULL,
    ended_at       INTEGER,           -- when it ended in order; NULL: it runs, or it broke off
    keys           TEXT NOT NULL DEFAULT '', -- of its key file: ID-HASH ..., the one that seals last
    clock_ahead_ms INTEGER NOT NULL DEFAULT 0, -- its host's clock before the database server's
    PRIMARY KEY (name, host)
) STRICT;

-- Webhook payloads with a valid signature that are too large to be stored at once. They were answered
-- with 200 and are kept for `switchboard refusal retry`. The store limits their number and size.
CREATE TABLE webhook_refusal (
    id       TEXT PRIMARY KEY,        -- ref_...
    hash     BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the payload
    reason   TEXT NOT NULL,
    size     INTEGER NOT NULL,        -- of the payload, bytes
    updates  INTEGER,                 -- number of updates in it; NULL: not counted yet
    count    INTEGER NOT NULL,        -- how often it arrived
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    body     BLOB NOT NULL
) STRICT;
CREATE INDEX webhook_refusal_age ON webhook_refusal (last_at, size);

-- WABA ids under which the platform sent updates for a line of another account. Those updates were
-- skipped. The latest ids of each line are kept.
CREATE TABLE foreign_waba (
    line_id  TEXT NOT NULL REFERENCES line (id),
    waba_id  TEXT NOT NULL,           -- the platform's id
    count    INTEGER NOT NULL,        -- of skipped updates
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    PRIMARY KEY (line_id, waba_id)
) STRICT;
CREATE INDEX foreign_waba_age ON foreign_waba (last_at);

-- Links by which a person becomes a member. One that was accepted is deleted, and so is one whose
-- maker may not give its role any more.
CREATE TABLE invitation (
    id         TEXT PRIMARY KEY,                   -- inv_...
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the link's value
    email      TEXT NOT NULL,                      -- of the person who may accept it
    role       TEXT NOT NULL CHECK (role IN ('owner', 'admin') OR role IN ('agent', 'viewer')),
    made_by    TEXT,                               -- the member who made it; NULL: the operator
    created_by TEXT NOT NULL,                      -- the name of who made it
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    line_ids   TEXT CHECK (line_ids IS NULL OR role <> 'owner'), -- as of the membership
    own_threads INTEGER NOT NULL DEFAULT 0         -- as of the membership
        CHECK (own_threads = 0 OR (own_threads = 1 AND role IN ('agent', 'viewer'))),
    UNIQUE (user_id, email)
) STRICT;
CREATE INDEX invitation_age ON invitation (expires_at);

-- The link that logs a member in once. A new link replaces it; a used one is kept until it expires.
CREATE TABLE login_link (
    member_id  TEXT PRIMARY KEY REFERENCES member (id),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the link's value
    expires_at INTEGER NOT NULL,
    used_at    INTEGER                             -- NULL: not yet
) STRICT;
CREATE INDEX login_link_age ON login_link (expires_at);

-- The browsers in which a member has logged in. Each has a cookie, of whose value only the hash is
-- stored; its failed logins count for it alone.
CREATE TABLE login_device (
    member_id  TEXT NOT NULL REFERENCES member (id),
    hash       BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the cookie's value
    expires_at INTEGER NOT NULL,                   -- unless the member logs in before
    PRIMARY KEY (member_id, hash)
) STRICT;
CREATE INDEX login_device_age ON login_device (expires_at);
CREATE INDEX login_device_member ON login_device (member_id, expires_at, hash);

-- Failed logins and confirmations. An email address is stored as its hash, because it may be that of
-- no member.
CREATE TABLE login_failure (
    subject       TEXT PRIMARY KEY,                -- email:SHA-256, address:NETWORK,
                                                   -- device:SHA-256:MEMBER or session:ID;
                                                   -- of codes factor: before it
    failures      INTEGER NOT NULL,
    attempt_id    TEXT NOT NULL,                   -- of the attempt that was counted last
    blocked_until INTEGER NOT NULL,                -- no attempt counts before; 0: not blocked
    forget_at     INTEGER NOT NULL                 -- the failures do not count any more
) STRICT;
CREATE INDEX login_failure_age ON login_failure (forget_at);

-- What the members of a workspace, its tokens and its operator have changed: one row for each change,
-- in its transaction (lib/store/deed.h). Rows are only added; the courier deletes old ones.
CREATE TABLE trail (
    id         TEXT PRIMARY KEY,      -- trl_...
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,         -- the id of who did it, or cli:NAME
    actor_name TEXT NOT NULL,         -- its name then: the row can be read after it is deleted
    action     TEXT NOT NULL,         -- NOUN.VERB, of the route or of the command
    object_id  TEXT,                  -- what was changed; NULL: the workspace
    details    TEXT NOT NULL,         -- JSON object: the names of the members that were given, and
                                      -- the name of a member, an invitation or a token
    address    TEXT NOT NULL,         -- of the client; '': the command line
    request_id TEXT NOT NULL          -- '': the command line
) STRICT;
CREATE INDEX trail_user ON trail (user_id, id);
CREATE INDEX trail_actor ON trail (user_id, actor, id);
CREATE INDEX trail_action ON trail (user_id, action, id);
CREATE INDEX trail_object ON trail (user_id, object_id, id) WHERE object_id IS NOT NULL;
CREATE INDEX trail_age ON trail (at);

-- How long a user keeps what grows. The courier looks for older rows once a day, thread by thread
-- (lib/store/life/prune.c). A user without a row keeps everything.
CREATE TABLE retention (
    user_id      TEXT PRIMARY KEY REFERENCES "user" (id),
    message_days INTEGER,             -- messages, and threads and contacts without one; NULL: for ever
    raw_days     INTEGER,             -- rows of platform_update; NULL: for ever
    walk_at      INTEGER NOT NULL,    -- when the courier looks next
    place_at     INTEGER NOT NULL,    -- how far it has come: last_message_at and id of a thread;
    place_id     TEXT NOT NULL,       -- '': it begins. Behind all threads: the id of a contact of
    place_account TEXT                -- this account; NULL: it passes the threads
) STRICT;

-- What is gone from the threads of a user: GET /v2/changes reports it. The last removal of a thread.
CREATE TABLE thread_removal (
    thread_id  TEXT PRIMARY KEY,      -- thr_...
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    before_at  INTEGER,               -- messages that were sent before; NULL: the whole thread
    changed    INTEGER NOT NULL,      -- user.change_sequence of the removal
    removed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX thread_removal_changed ON thread_removal (user_id, changed);
CREATE INDEX thread_removal_age ON thread_removal (removed_at);

-- Erasures of persons (lib/store/life/erasure.c). The row stays: it shows that the contact was erased,
-- and when. What identified the person is deleted from it at the end.
CREATE TABLE erasure (
    contact_id TEXT PRIMARY KEY,      -- con_... of the contact that is gone
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    account_id TEXT NOT NULL REFERENCES account (id),
    erased_at  INTEGER NOT NULL,
    ended_at   INTEGER,               -- NULL: the courier still deletes
    due_at     INTEGER NOT NULL,      -- when it goes on
    step       INTEGER NOT NULL,      -- how far it has come
    place      TEXT NOT NULL,         -- within the step: the last row; '': it begins
    names      TEXT                   -- what identified the person, one a line; NULL: it has ended
) STRICT;
CREATE INDEX erasure_due ON erasure (due_at) WHERE ended_at IS NULL;
CREATE INDEX erasure_open ON erasure (account_id) WHERE ended_at IS NULL;

-- Messages, updates and POSTs that were erased, so that a repetition or a late status does not bring
-- the person back. No number or user id is hashed alone: all could be tried.
CREATE TABLE erased_mark (
    hash      BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 (lib/store/inbox/erased_mark.h)
    user_id   TEXT NOT NULL REFERENCES "user" (id),
    forget_at INTEGER NOT NULL
) STRICT;
CREATE INDEX erased_mark_age ON erased_mark (forget_at);

-- Who answers a thread, so that of two members who do so at the same time exactly one passes
-- (lib/store/claim.h): the member whose answer is on its way, and the one who has answered last.
CREATE TABLE thread_claim (
    thread_id     TEXT PRIMARY KEY REFERENCES thread (id),
    user_id       TEXT NOT NULL REFERENCES "user" (id),
    member_id     TEXT,               -- mbr_...; NULL: none yet
    member_name   TEXT,
    request_id    TEXT,               -- that has the claim
    claimed_until INTEGER NOT NULL,   -- 0: it has ended
    answered_by   TEXT,               -- mbr_...; NULL: no member has answered
    answered_name TEXT,
    answered      INTEGER NOT NULL    -- user.change_sequence of that answer; 0: none
) STRICT;

-- What members write about a thread for each other. It is never sent.
CREATE TABLE note (
    id         TEXT PRIMARY KEY,      -- not_...
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    thread_id  TEXT NOT NULL REFERENCES thread (id),
    text       TEXT NOT NULL,
    by_id      TEXT,                  -- who wrote it: mbr_... or tok_...; NULL: the main token
    by_name    TEXT,                  -- its name then
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX note_thread ON note (thread_id, id);
CREATE INDEX note_user ON note (user_id, id);

-- Canned replies: texts that the members of a workspace send often. The dashboard puts one into the
-- field of an answer when its shortcut is typed after a slash.
CREATE TABLE reply (
    id         TEXT PRIMARY KEY,      -- rpl_...
    user_id    TEXT NOT NULL REFERENCES "user" (id),
    shortcut   TEXT NOT NULL,
    text       TEXT NOT NULL,
    by_id      TEXT,                  -- who wrote it: mbr_... or tok_...; NULL: the main token
    by_name    TEXT,                  -- its name then
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (user_id, shortcut)
) STRICT;

-- Codes that count once, each in the place of one of the app.
CREATE TABLE recovery_code (
    member_id TEXT NOT NULL REFERENCES member (id),
    hash      BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the code
    PRIMARY KEY (member_id, hash)
) STRICT;

-- Logins with a password or a link whose second factor is missing. They are no sessions.
CREATE TABLE pending_login (
    hash       BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the cookie's value
    member_id  TEXT NOT NULL REFERENCES member (id),
    is_by_link INTEGER NOT NULL CHECK (is_by_link IN (0, 1)),
    expires_at INTEGER NOT NULL,
    failures   INTEGER NOT NULL DEFAULT 0, -- wrong codes: the fifth ends the login
    attempt_id TEXT                        -- of the last one; NULL: there was none
) STRICT;
CREATE INDEX pending_login_member ON pending_login (member_id, expires_at, hash);
CREATE INDEX pending_login_age ON pending_login (expires_at);

-- A template that is sent to a list of people (lib/store/campaign.h).
CREATE TABLE campaign (
    id          TEXT PRIMARY KEY,     -- cmp_...
    user_id     TEXT NOT NULL REFERENCES "user" (id),
    account_id  TEXT NOT NULL REFERENCES account (id),
    line_id     TEXT NOT NULL REFERENCES line (id),
    name        TEXT NOT NULL,
    template    TEXT NOT NULL,        -- its name
    language    TEXT NOT NULL,
    category    TEXT,                 -- as the platform named it when the campaign was made
    components  BLOB NOT NULL,        -- a JSON array, with {{column}} in its strings
    state       TEXT NOT NULL CHECK (state IN ('draft', 'running') OR
                        state IN ('paused', 'finished') OR state = 'cancelled'),
    reason      TEXT,                 -- why it is paused; NULL: by a client, or it is not paused
    rate        INTEGER,              -- messages per second at most; NULL: as fast as the line sends
    valid_ms    INTEGER NOT NULL,     -- after its start nothing is sent any more
    hours       BLOB,                 -- the hours in which it sends, as JSON; NULL: all
    opens_at    INTEGER NOT NULL DEFAULT 0, -- it sends from then,
    closes_at   INTEGER,              -- until then; NULL: it has no window
    open_times  TEXT,                 -- the next times: FROM-TO, separated by spaces
    start_at    INTEGER,              -- not before; NULL: it has not been started
    recipients  INTEGER NOT NULL DEFAULT 0, -- that were added to it
    fed_at      INTEGER NOT NULL DEFAULT 0, -- when recipients were last moved to outgoing
    by_id       TEXT,                 -- who made it: mbr_... or tok_...; NULL: the main token
    by_name     TEXT,                 -- its name then
    created_at  INTEGER NOT NULL,
    finished_at INTEGER               -- when it was finished or cancelled
) STRICT;
CREATE INDEX campaign_user ON campaign (user_id, id);
CREATE INDEX campaign_running ON campaign (id) WHERE state = 'running';
CREATE INDEX campaign_line ON campaign (line_id) WHERE state = 'running';
CREATE INDEX campaign_open ON campaign (id) WHERE finished_at IS NULL;
CREATE INDEX campaign_finished ON campaign (finished_at) WHERE finished_at IS NOT NULL;

-- What became of how many recipients of a campaign. It changes in the transaction of each cause, so
-- that it need not be counted, and keeps what was reached when retention or an erasure deletes it.
CREATE TABLE campaign_count (
    campaign_id TEXT NOT NULL REFERENCES campaign (id),
    measure     TEXT NOT NULL,        -- a state of outgoing, waiting, delivery:STATUS or error:CODE
    count       INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, measure)
) STRICT;

-- The recipients of a campaign that it has not reached yet. Each moves to `outgoing` when its turn
-- comes, in one transaction, so it is in one of the two tables.
CREATE TABLE campaign_recipient (
    id          TEXT PRIMARY KEY,     -- rcp_...
    account_id  TEXT NOT NULL REFERENCES account (id),
    campaign_id TEXT NOT NULL REFERENCES campaign (id),
    recipient   TEXT NOT NULL,        -- digits of the phone, or the BSUID
    body        BLOB NOT NULL,        -- for the platform, without its callback data
    created_at  INTEGER NOT NULL,
    bsuid       TEXT,                 -- that was given beside the phone; NULL: none
    UNIQUE (campaign_id, recipient)
) STRICT;
CREATE INDEX campaign_recipient_bsuid ON campaign_recipient (campaign_id, bsuid)
    WHERE bsuid IS NOT NULL;
CREATE INDEX campaign_recipient_turn ON campaign_recipient (campaign_id, id);
CREATE INDEX campaign_recipient_account ON campaign_recipient (account_id, id);

-- Sends that a client has handed over, and their outcomes (lib/store/outgoing.h). A row is `sending`
-- before its message is posted, and returns to `queued` only if it is certain that the platform has
-- not accepted it. finished_at is NULL while the row waits or is sent.
CREATE TABLE outgoing (
    id          TEXT PRIMARY KEY,     -- out_...: the platform echoes it in the message's statuses
    user_id     TEXT NOT NULL REFERENCES "user" (id),
    account_id  TEXT NOT NULL REFERENCES account (id),
    line_id     TEXT NOT NULL REFERENCES line (id),
    recipient   TEXT NOT NULL,        -- digits of the phone, or the BSUID: orders the rows of a line
    state       TEXT NOT NULL CHECK (state IN ('queued', 'sending') OR
                        state IN ('accepted', 'failed') OR state IN ('unknown', 'expired') OR
                        state IN ('cancelled', 'suppressed')),
    reason      TEXT,                 -- why it is in this state; NULL: nothing is to be said
    error       BLOB,                 -- the platform's last answer that refused it; NULL: none
    attempts    INTEGER NOT NULL DEFAULT 0, -- how often it was posted, or about to be
    send_at     INTEGER NOT NULL,     -- not before; the rows of a recipient begin in this order
    next_at     INTEGER NOT NULL,     -- not before, after a refusal that passes
    expires_at  INTEGER NOT NULL,     -- not after
    taken_by    TEXT,                 -- the sender that posts or posted it
    take_id     TEXT,                 -- the transaction in which it took the row
    wamid       TEXT,                 -- of the message; NULL: not accepted
    is_recorded INTEGER NOT NULL DEFAULT 0 CHECK (is_recorded IN (0, 1)), -- the message is stored
    by_id       TEXT,                 -- who handed it over: mbr_... or tok_...; NULL: the main token
    by_name     TEXT,                 -- its name then
    retry_of    TEXT,                 -- the row whose message this one sends again; NULL: of none
    retried_as  TEXT,                 -- the row that sends its message again; NULL: there was none
    campaign_id TEXT REFERENCES campaign (id), -- NULL: a single send
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    report_at   INTEGER,              -- when its outcome becomes an event; NULL: it is none any more
    delivery    TEXT,                 -- of a campaign: what its message had reached when it was
                                      -- deleted, or has since; NULL: the message has it
    delivery_error BLOB,              -- why that failed
    -- for the platform; '' once the message is stored; last, so that the others are read without it
    body        BLOB NOT NULL
) STRICT;
CREATE INDEX outgoing_due ON outgoing (line_id, send_at, id) WHERE finished_at IS NULL;
CREATE INDEX outgoing_expiry ON outgoing (expires_at) WHERE finished_at IS NULL;
CREATE INDEX outgoing_recipient ON outgoing (account_id, recipient, line_id, send_at, id)
    WHERE finished_at IS NULL;
CREATE INDEX outgoing_taken ON outgoing (taken_by, take_id) WHERE state = 'sending';
CREATE INDEX outgoing_unrecorded ON outgoing (id) WHERE state = 'accepted' AND is_recorded = 0;
CREATE INDEX outgoing_report ON outgoing (report_at) WHERE report_at IS NOT NULL;
CREATE INDEX outgoing_user ON outgoing (user_id, id);
CREATE INDEX outgoing_user_state ON outgoing (user_id, state, id);
CREATE INDEX outgoing_line ON outgoing (user_id, line_id, id);
CREATE INDEX outgoing_line_state ON outgoing (user_id, line_id, state, id);
CREATE INDEX outgoing_person ON outgoing (user_id, recipient, id);
CREATE INDEX outgoing_account ON outgoing (account_id, id);
CREATE INDEX outgoing_finished ON outgoing (state, finished_at)
    WHERE finished_at IS NOT NULL AND campaign_id IS NULL;
CREATE INDEX outgoing_campaign ON outgoing (campaign_id, id) WHERE campaign_id IS NOT NULL;
CREATE INDEX outgoing_campaign_waiting ON outgoing (campaign_id)
    WHERE campaign_id IS NOT NULL AND finished_at IS NULL;

-- Who wants no marketing from an account (lib/store/opt_out.h). A person may have several rows, one
-- for each identity that was named.
CREATE TABLE opt_out (
    account_id TEXT NOT NULL REFERENCES account (id),
    identity   TEXT NOT NULL,         -- digits of the phone, or the BSUID
    source     TEXT NOT NULL,         -- platform: a webhook; error: a refusal, 131050; api: a client
    since      INTEGER NOT NULL,
    PRIMARY KEY (account_id, identity)
) STRICT;

-- The one sender that takes rows of `outgoing`: all others wait until its lease has ended.
CREATE TABLE sender_lease (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    owner       TEXT NOT NULL,        -- snd_...
    lease_until INTEGER NOT NULL
) STRICT;

-- Answers of the platform that repeat, which the sender counts (lib/sending/streak.h): its next one
-- goes on with them. A row is there while there are some.
CREATE TABLE sender_streak (
    name  TEXT PRIMARY KEY,           -- the id of a line or of a campaign
    kind  INTEGER NOT NULL,           -- of the last answers
    count INTEGER NOT NULL
) STRICT;

-- The files of messages, received or sent while `media_archive` was set, and their copies
-- (lib/store/media_copy.h): the file USER/MONTH/SHA256 below that directory, which several rows may
-- name. A row stays, as `removed`, when its message is deleted, until its file is.
CREATE TABLE media_copy (
    message_id      TEXT PRIMARY KEY, -- no reference: see above
    user_id         TEXT NOT NULL REFERENCES "user" (id),
    account_id      TEXT NOT NULL REFERENCES account (id),
    media_id        TEXT NOT NULL,    -- the platform's, which forgets it after some days
    month           TEXT NOT NULL,    -- yyyy/mm
    sha256          TEXT,             -- of the content, in hexadecimal; NULL: not known yet
    type            TEXT,             -- as the platform names it; NULL: not known
    size            INTEGER,          -- bytes; NULL: there is no copy
    state           TEXT NOT NULL CHECK (state IN ('queued', 'done') OR
                        state IN ('gone', 'failed') OR state = 'removed'),
    attempts        INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,          -- NULL: nothing is left to do
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX media_copy_due ON media_copy (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX media_copy_media ON media_copy (account_id, media_id);
CREATE INDEX media_copy_file ON media_copy (user_id, sha256, month);
