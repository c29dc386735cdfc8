-- The rules that must hold at the end of a soak. Each rule is a query for its violations.

CREATE INDEX inbound_id ON inbound (id);
CREATE INDEX accepted_wamid ON accepted (wamid);
CREATE INDEX send_wamid ON send (wamid);
CREATE INDEX delivery_id ON delivery (id);
CREATE INDEX posted_body ON posted (body);
CREATE INDEX outage_began ON outage (began);

CREATE TEMP TABLE owner AS SELECT l.phone_number_id AS line, a.id AS account_id, u.id AS user_id,
    substr(u.email, 1, 1) AS user
    FROM g.line l JOIN g.account a ON a.id = l.account_id JOIN g.user u ON u.id = a.user_id;
CREATE TEMP TABLE stored AS SELECT m.*, l.phone_number_id AS line FROM g.message m
    JOIN g.line l ON l.id = m.line_id;
CREATE INDEX temp.stored_wamid ON stored (wamid, line);
CREATE TEMP TABLE emitted AS SELECT e.*, (SELECT max(d.last_error) FROM g.delivery d WHERE d.event_id = e.id)
        AS last_error, json_extract(body, '$.data.message.id') AS wamid,
    substr(u.email, 1, 1) AS user FROM g.event e JOIN g.user u ON u.id = e.user_id;
CREATE INDEX temp.emitted_wamid ON emitted (wamid, type);
CREATE INDEX temp.emitted_id ON emitted (id);
-- The marker of a send, which no other send has.
CREATE TEMP TABLE asked AS SELECT substr(body, instr(body, 'soak-'), 13) AS marker, body FROM upstream
    WHERE NOT instr(body, 'campaign-'); -- those are of tests/cluster
CREATE INDEX temp.asked_marker ON asked (marker);
CREATE TEMP TABLE answered AS SELECT DISTINCT marker, key, wamid, line, recipient FROM send WHERE status = 200;

-- inbound

INSERT INTO rule VALUES ('an inbound message answered 200 is stored, once');
INSERT INTO finding SELECT 'an inbound message answered 200 is stored, once', i.id
    FROM (SELECT DISTINCT id, line FROM inbound WHERE kind = 'message') i
    WHERE (SELECT count(*) FROM stored s WHERE s.wamid = i.id AND s.line = i.line) <> 1;

INSERT INTO rule VALUES ('an inbound message is stored unchanged');
INSERT INTO finding SELECT 'an inbound message is stored unchanged', i.id FROM inbound i
    JOIN stored s ON s.wamid = i.id AND s.line = i.line
    WHERE i.kind = 'message' AND (hex(s.body) <> i.body OR s.direction <> 'in' OR s.source <> 'webhook');

INSERT INTO rule VALUES ('every stored inbound message was sent');
INSERT INTO finding SELECT 'every stored inbound message was sent', wamid FROM stored WHERE direction = 'in'
    AND wamid NOT IN (SELECT id FROM inbound UNION SELECT id FROM unacked);

INSERT INTO rule VALUES ('every webhook of the platform is accepted in the end');
INSERT INTO finding SELECT 'every webhook of the platform is accepted in the end', kind || ' ' || id FROM unacked;

INSERT INTO rule VALUES ('a new message of a user with a permanent webhook has one event with its bytes');
INSERT INTO finding SELECT 'a new message of a user with a permanent webhook has one event with its bytes', i.id
    FROM (SELECT DISTINCT id, line, body FROM inbound WHERE kind = 'message' AND is_event) i
    JOIN owner USING (line) WHERE owner.user = 'a' AND 1 <> (SELECT count(*) FROM emitted t
        WHERE t.wamid = i.id AND t.type = 'message.received' AND instr(hex(t.body), i.body));

INSERT INTO rule VALUES ('no message has two events');
INSERT INTO finding SELECT 'no message has two events', wamid FROM emitted WHERE type = 'message.received'
    GROUP BY wamid HAVING count(*) > 1;

INSERT INTO rule VALUES ('a message of a type without events has no event');
INSERT INTO finding SELECT 'a message of a type without events has no event', i.id FROM inbound i
    JOIN emitted t ON t.wamid = i.id WHERE i.kind = 'message' AND NOT i.is_event;

INSERT INTO rule VALUES ('a status answered 200 is stored, and the furthest one is the message''s');
INSERT INTO finding SELECT 'a status answered 200 is stored, and the furthest one is the message''s',
    i.id || ' ' || i.status FROM (SELECT DISTINCT id, line, status FROM inbound WHERE kind = 'status') i
    LEFT JOIN stored s ON s.wamid = i.id AND s.line = i.line
    LEFT JOIN g.message_status t ON t.message_id = s.id AND t.status = i.status
    WHERE t.status IS NULL OR (i.status = 'read' AND s.status <> 'read')
        OR (i.status = 'delivered' AND s.status NOT IN ('read', 'delivered'));

-- people: at the end each one wrote under all identities

INSERT INTO rule VALUES ('a person is one contact, with the phone and the last BSUID');
INSERT INTO finding SELECT 'a person is one contact, with the phone and the last BSUID',
    'person ' || p.person || ': ' || coalesce(group_concat(coalesce(c.phone, 'none') || '/' || coalesce(c.bsuid, 'none')), 'no contact')
    FROM (SELECT person, line, coalesce((SELECT max(id) FROM inbound o WHERE o.person = i.person AND o.kind = 'change'),
        printf('US.7%05d%05d', person, 0)) AS bsuid FROM inbound i WHERE kind = 'message' GROUP BY person) p
    JOIN owner USING (line)
    LEFT JOIN g.contact c ON c.account_id = owner.account_id
        AND (c.phone = printf('1650555%04d', p.person) OR c.bsuid LIKE printf('US.7%05d', p.person) || '%')
    GROUP BY p.person
    HAVING count(c.id) <> 1 OR max(c.phone) IS NOT printf('1650555%04d', p.person) OR max(c.bsuid) IS NOT p.bsuid;

INSERT INTO rule VALUES ('the recipient of a first send is a contact with a thread');
INSERT INTO finding SELECT 'the recipient of a first send is a contact with a thread', a.recipient || ' ' || a.wamid
    FROM answered a LEFT JOIN stored s ON s.wamid = a.wamid LEFT JOIN g.thread t ON t.id = s.thread_id
    LEFT JOIN g.contact c ON c.id = t.contact_id
    WHERE a.recipient LIKE '1777%' AND c.phone IS NOT a.recipient;

-- sends

INSERT INTO rule VALUES ('a send answered 200 is in the inbox with its text, contact and thread');
INSERT INTO finding SELECT 'a send answered 200 is in the inbox with its text, contact and thread',
    a.marker || ' ' || a.wamid || ' ' || coalesce(s.source || ' ' || s.type, 'is missing') FROM answered a
    LEFT JOIN stored s ON s.wamid = a.wamid AND s.line = a.line AND s.direction = 'out'
    LEFT JOIN g.thread t ON t.id = s.thread_id AND t.line_id = s.line_id LEFT JOIN g.contact c ON c.id = t.contact_id
    WHERE c.id IS NULL OR s.source = 'status' OR s.type = 'unknown'
        OR NOT instr(CAST(s.body AS TEXT), a.marker);

INSERT INTO rule VALUES ('a send answered 200 reached the platform');
INSERT INTO finding SELECT 'a send answered 200 reached the platform', marker FROM answered
    WHERE marker NOT IN (SELECT marker FROM asked) OR wamid NOT IN (SELECT wamid FROM accepted) OR wamid = '';

INSERT INTO rule VALUES ('no send reached the platform twice');
INSERT INTO finding SELECT 'no send reached the platform twice', marker FROM asked
    GROUP BY marker HAVING count(*) > 1;

INSERT INTO rule VALUES ('every send that reached the platform was requested');
INSERT INTO finding SELECT 'every send that reached the platform was requested', marker FROM asked
    WHERE marker NOT IN (SELECT marker FROM send);

INSERT INTO rule VALUES ('one Idempotency-Key has one outcome');
INSERT INTO finding SELECT 'one Idempotency-Key has one outcome', key FROM answered WHERE key <> ''
    GROUP BY key HAVING count(DISTINCT wamid) > 1
    UNION ALL SELECT 'one Idempotency-Key has one outcome', s.key || ' after ' || s.status FROM send s
        JOIN send later ON later.key = s.key AND later.attempt > s.attempt
        WHERE s.key <> '' AND (s.status = 200 OR s.outcome = 'unknown') AND later.status BETWEEN 1 AND 499
            -- an outcome that cannot be stored on a full disk is unknown afterwards
            AND later.status NOT IN (s.status, 409);

INSERT INTO rule VALUES ('every send that the platform accepted is stored once, and no other');
INSERT INTO finding SELECT 'every send that the platform accepted is stored once, and no other', wamid
    FROM (SELECT DISTINCT wamid, line FROM accepted) a
    WHERE (SELECT count(*) FROM stored s WHERE s.wamid = a.wamid AND s.line = a.line AND s.direction = 'out') <> 1
    UNION ALL SELECT 'every send that the platform accepted is stored once, and no other', wamid FROM stored
        WHERE direction = 'out' AND wamid NOT IN (SELECT wamid FROM accepted);

-- events

INSERT INTO rule VALUES ('no event is dead, and none is pending at the end');
INSERT INTO finding SELECT 'no event is dead, and none is pending at the end',
    id || ' ' || state || ' ' || coalesce(last_error, '') FROM emitted
    WHERE state IN ('dead', 'pending') OR (state = 'cancelled' AND user = 'a');

INSERT INTO rule VALUES ('an event that is done was delivered');
INSERT INTO finding SELECT 'an event that is done was delivered', id FROM emitted WHERE state = 'done'
    AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.id = emitted.id AND d.status = 200);

INSERT INTO rule VALUES ('every delivery of an event has its id and its body');
INSERT INTO finding SELECT 'every delivery of an event has its id and its body', d.id FROM delivery d
    LEFT JOIN emitted t ON t.id = d.id WHERE t.id IS NULL
        OR (NOT t.is_forward AND hex(t.body) <> d.body) OR t.is_forward <> (d.path = '/A/forward');

INSERT INTO rule VALUES ('every delivery is signed');
INSERT INTO finding SELECT 'every delivery is signed', what FROM unsigned;

INSERT INTO rule VALUES ('sequences have no gap');
INSERT INTO finding SELECT 'sequences have no gap', u.email FROM g.user u
    WHERE u.event_sequence <> (SELECT count(*) FROM g.event e WHERE e.user_id = u.id AND e.is_forward = 0)
        OR u.event_sequence <> (SELECT coalesce(max(sequence), 0) FROM g.event e WHERE e.user_id = u.id AND e.is_forward = 0)
        OR u.forward_sequence <> (SELECT count(*) FROM g.event e WHERE e.user_id = u.id AND e.is_forward = 1)
        OR u.forward_sequence <> (SELECT coalesce(max(sequence), 0) FROM g.event e WHERE e.user_id = u.id AND e.is_forward = 1);

INSERT INTO rule VALUES ('every payload is forwarded with its bytes');
INSERT INTO finding SELECT 'every payload is forwarded with its bytes', substr(body, 1, 200) FROM posted
    WHERE body NOT IN (SELECT body FROM delivery WHERE path = '/A/forward' AND status = 200);

INSERT INTO rule VALUES ('nothing is forwarded but what was posted, once');
INSERT INTO finding SELECT 'nothing is forwarded but what was posted, once', id FROM delivery
    WHERE path = '/A/forward' AND body NOT IN (SELECT body FROM posted)
    UNION ALL SELECT 'nothing is forwarded but what was posted, once', (SELECT count(*) FROM g.event WHERE is_forward = 1) || ' forwards'
    WHERE (SELECT count(*) FROM g.event WHERE is_forward = 1) <> (SELECT count(DISTINCT body) FROM posted);

INSERT INTO rule VALUES ('a person who wrote has a lead event');
INSERT INTO finding SELECT 'a person who wrote has a lead event', 'person ' || person
    FROM (SELECT DISTINCT person FROM inbound i JOIN owner USING (line) WHERE kind = 'message' AND is_event AND owner.user = 'a')
    WHERE printf('1650555%04d', person) NOT IN (SELECT json_extract(body, '$.data.contact.phone') FROM emitted
        WHERE type = 'lead.created' AND json_extract(body, '$.data.contact.phone') IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM emitted WHERE type = 'lead.created'
        AND json_extract(body, '$.data.contact.userId') LIKE printf('US.7%05d', person) || '%');

-- uploads and downloads

INSERT INTO rule VALUES ('an upload answered 200 is complete on the platform');
INSERT INTO finding SELECT 'an upload answered 200 is complete on the platform', id || ' of ' || size || ' bytes'
    FROM upload WHERE status = 200 AND NOT EXISTS (SELECT 1 FROM media m
        WHERE m.id = upload.id AND m.size = upload.size AND m.hash = upload.hash);

INSERT INTO rule VALUES ('no upload reached the platform twice');
INSERT INTO finding SELECT 'no upload reached the platform twice', marker FROM media
    JOIN (SELECT DISTINCT marker, hash FROM upload) USING (hash) GROUP BY marker HAVING count(*) > 1;

INSERT INTO rule VALUES ('a download answered 200 is the file, or shorter than announced');
INSERT INTO finding SELECT 'a download answered 200 is the file, or shorter than announced', id || ' of ' || size || ' bytes'
    FROM download d WHERE failure = 0 AND status = 200 AND NOT EXISTS (SELECT 1 FROM upload u
        WHERE u.id = d.id AND u.size = d.size AND u.hash = d.hash);

INSERT INTO rule VALUES ('nothing is left in the spool and in pending_dir');
INSERT INTO finding SELECT 'nothing is left in the spool and in pending_dir', what FROM spooled;

-- answers

INSERT INTO rule VALUES ('every answer is a well-formed envelope');
INSERT INTO finding SELECT 'every answer is a well-formed envelope', what || ' ' || status || ' ' || request_id || ': ' || problem
    FROM exchange WHERE problem <> '';

-- A download that breaks off is shorter than its Content-Length: code 18 of curl.
INSERT INTO rule VALUES ('every request is answered while Apache runs');
INSERT INTO finding SELECT 'every request is answered while Apache runs',
    what || ' of ' || who || ' at ' || began || ': curl ' || failure || ' after ' || (ended - began) || ' ms'
    FROM exchange WHERE failure <> 0 AND NOT (what = 'download' AND failure = 18) AND NOT EXISTS (SELECT 1 FROM outage o
        WHERE o.began <= exchange.ended AND o.ended >= exchange.began);

INSERT INTO rule VALUES ('every status is one that the request can have');
INSERT INTO finding SELECT 'every status is one that the request can have', what || ' ' || status || ' ' || request_id
    FROM exchange WHERE failure = 0 AND status NOT IN (200, 500, 502, 503, 504)
        AND NOT (what IN ('send', 'read', 'upload') AND status = 400) AND NOT (what IN ('send', 'upload') AND status = 409);

INSERT INTO rule VALUES ('the webhook configuration is what it was set to');
INSERT INTO finding SELECT 'the webhook configuration is what it was set to', what FROM strange;

-- processes, disk and logs

INSERT INTO rule VALUES ('every row names the customer that it belongs to');
INSERT INTO finding SELECT 'every row names the customer that it belongs to', r.what FROM (
    SELECT 'thread ' || t.id AS what, t.user_id, a.user_id AS owner FROM g.thread t
        LEFT JOIN g.contact c ON c.id = t.contact_id LEFT JOIN g.account a ON a.id = c.account_id
    UNION ALL SELECT 'message ' || m.id, m.user_id, a.user_id FROM g.message m
        LEFT JOIN g.line l ON l.id = m.line_id LEFT JOIN g.account a ON a.id = l.account_id
    UNION ALL SELECT 'status of ' || s.message_id, s.user_id, m.user_id FROM g.message_status s
        LEFT JOIN g.message m ON m.id = s.message_id
    UNION ALL SELECT 'attempt of ' || t.event_id, t.user_id, e.user_id FROM g.event_attempt t
        LEFT JOIN g.event e ON e.id = t.event_id
    UNION ALL SELECT 'lead ' || d.contact_id, d.user_id, a.user_id FROM g.lead d
        LEFT JOIN g.contact c ON c.id = d.contact_id LEFT JOIN g.account a ON a.id = c.account_id
    UNION ALL SELECT 'block of ' || b.contact_id, b.user_id, a.user_id FROM g.contact_block b
        LEFT JOIN g.line l ON l.id = b.line_id LEFT JOIN g.account a ON a.id = l.account_id) r
    WHERE r.user_id IS NOT r.owner;

INSERT INTO rule VALUES ('the database is undamaged');
INSERT INTO finding SELECT 'the database is undamaged', what FROM damage;

INSERT INTO rule VALUES ('no secret and no text is in a log');
INSERT INTO finding SELECT 'no secret and no text is in a log', what FROM leak;

INSERT INTO rule VALUES ('no program crashed');
INSERT INTO finding SELECT 'no program crashed', what FROM crash;

-- A reader that is held for 6 s keeps the log from being used again; a payload writes about 70 KB,
-- since a webhook that forwards gets it too.
INSERT INTO rule VALUES ('the write-ahead log is bounded, and short at the end');
INSERT INTO finding SELECT 'the write-ahead log is bounded, and short at the end', name || ' ' || value
    FROM observed WHERE (name = 'wal_peak' AND CAST(value AS INTEGER) > 160000000)
        OR (name = 'wal_end' AND CAST(value AS INTEGER) > 4000000);

INSERT INTO rule VALUES ('the courier has few descriptors, no zombies and little memory');
INSERT INTO finding SELECT 'the courier has few descriptors, no zombies and little memory', name || ' ' || value
    FROM observed WHERE (name = 'courier_descriptors' AND CAST(value AS INTEGER) > 64)
        OR (name IN ('courier_zombies', 'apache_zombies') AND value <> '0')
        OR (name = 'courier_kib' AND CAST(value AS INTEGER) >
            (SELECT CAST(value AS INTEGER) FROM observed WHERE name = 'courier_kib_most'));

INSERT INTO rule VALUES ('there was something to check');
INSERT INTO finding SELECT 'there was something to check', name FROM (
    SELECT 'no send was answered 200' AS name, count(*) AS n FROM answered UNION ALL
    SELECT 'no keyed send was answered 200', count(*) FROM answered WHERE key <> '' UNION ALL
    SELECT 'no message was accepted', count(*) FROM inbound WHERE kind = 'message' UNION ALL
    SELECT 'no status was accepted', count(*) FROM inbound WHERE kind = 'status' UNION ALL
    SELECT 'no identity changed', count(*) FROM inbound WHERE kind = 'change' UNION ALL
    SELECT 'no event was delivered', count(*) FROM delivery UNION ALL
    SELECT 'no payload was forwarded', count(*) FROM posted UNION ALL
    SELECT 'no upload was answered 200', count(*) FROM upload WHERE status = 200 UNION ALL
    SELECT 'no download was answered 200', count(*) FROM download WHERE status = 200 UNION ALL
    SELECT 'the nemesis did nothing', count(*) FROM deed) WHERE n = 0;

-- reads

CREATE INDEX reading_ended ON reading (what, ended, number);
CREATE TEMP TABLE stale AS SELECT r.rowid AS id, r.who || ' read ' || r.what || ' ' || r.number || ' at ' || r.began
        || ', after ' || max(w.number) AS what
    FROM reading r JOIN reading w ON w.what = r.what AND w.ended < r.began AND w.number > r.number
    WHERE r.kind = 'read' GROUP BY r.rowid;

INSERT INTO rule VALUES ('a read shows what was acknowledged, and what another read has shown');
INSERT INTO finding SELECT 'a read shows what was acknowledged, and what another read has shown', what FROM stale;

INSERT INTO rule VALUES ('reads of one client do not go back');
INSERT INTO finding SELECT 'reads of one client do not go back', r.who || ' read ' || r.what || ' ' || r.number
        || ' at ' || r.began || ', after ' || max(w.number)
    FROM reading r JOIN reading w ON w.who = r.who AND w.what = r.what AND w.ended <= r.began AND w.number > r.number
    WHERE r.kind = 'read' AND w.kind = 'read' GROUP BY r.rowid;
