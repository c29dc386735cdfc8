-- The history of a soak from its files, beside the gateway's database `g`. Only the checker reads
-- it. `is_event`: whether the message causes an event.
CREATE TABLE exchange (began INTEGER, ended INTEGER, who TEXT, what TEXT, failure INTEGER,
    status INTEGER, request_id TEXT, problem TEXT);
CREATE TABLE send (at INTEGER, who TEXT, marker TEXT, key TEXT, attempt INTEGER, failure INTEGER,
    status INTEGER, replayed INTEGER, wamid TEXT, outcome TEXT, line TEXT, recipient TEXT);
CREATE TABLE inbound (kind TEXT, line TEXT, id TEXT, person INTEGER, is_event INTEGER, status TEXT, body TEXT);
CREATE TABLE unacked (kind TEXT, line TEXT, id TEXT, person INTEGER, is_event INTEGER, status TEXT, body TEXT);
CREATE TABLE accepted (line TEXT, wamid TEXT, status TEXT);
CREATE TABLE delivery (at INTEGER, path TEXT, id TEXT, timestamp TEXT, signature TEXT, hub TEXT,
    status INTEGER, body TEXT);
CREATE TABLE posted (body TEXT);                   -- what user A is to get of each payload, in hexadecimal
CREATE TABLE outage (began INTEGER, ended INTEGER);
CREATE TABLE deed (at INTEGER, name TEXT);         -- of tests/soak/nemesis.bash
CREATE TABLE fault (name TEXT, began INTEGER, ended INTEGER);
CREATE TABLE observed (name TEXT, value TEXT);     -- measurements of tests/soak/run
CREATE TABLE strange (what TEXT);                  -- unexpected webhook configurations
CREATE TABLE unsigned (what TEXT);
CREATE TABLE leak (what TEXT);
CREATE TABLE crash (what TEXT);
CREATE TABLE damage (what TEXT);
CREATE TABLE upload (marker TEXT, keyed INTEGER, attempt INTEGER, status INTEGER, id TEXT, size INTEGER, hash TEXT);
CREATE TABLE download (id TEXT, failure INTEGER, status INTEGER, size INTEGER, hash TEXT);
CREATE TABLE media (id TEXT, size INTEGER, hash TEXT);         -- in the sandbox
CREATE TABLE spooled (what TEXT);                  -- files left in the spool
-- A number that only rises, as it was read or written (200): that of a configuration or of a change.
CREATE TABLE reading (began INTEGER, ended INTEGER, who TEXT, what TEXT, kind TEXT, number INTEGER);
CREATE TABLE upstream (body TEXT);                 -- sends as the sandbox received them
CREATE TABLE finding (rule TEXT, what TEXT);
CREATE TABLE rule (rule TEXT);
