-- The figures of a soak, one per line: name and value.
SELECT 'seconds of traffic', value FROM observed WHERE name = 'seconds'
UNION ALL SELECT 'seed', value FROM observed WHERE name = 'seed'
UNION ALL SELECT 'transport', value FROM observed WHERE name = 'transport'
UNION ALL SELECT 'requests of clients and platform', count(*) FROM exchange
UNION ALL SELECT '  answered', count(*) FROM exchange WHERE failure = 0
UNION ALL SELECT '  of these with 500, 502, 503 or 504', count(*) FROM exchange WHERE status >= 500
UNION ALL SELECT '  not answered while Apache was stopped', count(*) FROM exchange WHERE failure <> 0
UNION ALL SELECT 'sends requested', count(DISTINCT marker) FROM send
UNION ALL SELECT '  answered 200', count(*) FROM answered
UNION ALL SELECT '  that reached the platform', count(*) FROM asked
UNION ALL SELECT '  that the platform accepted', count(DISTINCT wamid) FROM accepted
UNION ALL SELECT '  on record', count(*) FROM stored WHERE direction = 'out'
UNION ALL SELECT '  of these, created by a status alone', count(*) FROM stored WHERE source = 'status'
UNION ALL SELECT 'sends with an Idempotency-Key', count(DISTINCT key) FROM send WHERE key <> ''
UNION ALL SELECT '  repeated by their client', count(DISTINCT key) FROM send WHERE key <> '' AND attempt > 1
UNION ALL SELECT '  replayed', count(*) FROM send WHERE replayed
UNION ALL SELECT '  answered that the outcome is unknown or running', count(DISTINCT key) FROM send WHERE outcome <> ''
UNION ALL SELECT 'uploads answered 200', count(DISTINCT marker) FROM upload WHERE status = 200
UNION ALL SELECT '  repeated by their client', count(DISTINCT marker) FROM upload WHERE attempt > 1
UNION ALL SELECT 'downloads answered 200', count(*) FROM download WHERE status = 200 AND failure = 0
UNION ALL SELECT '  that broke off', count(*) FROM download WHERE failure = 18
UNION ALL SELECT 'reads of a number that only rises', count(*) FROM reading WHERE kind = 'read'
UNION ALL SELECT 'stale reads', count(*) FROM stale
UNION ALL SELECT 'inbound messages answered 200', count(DISTINCT id) FROM inbound WHERE kind = 'message'
UNION ALL SELECT '  stored', count(*) FROM stored WHERE direction = 'in'
UNION ALL SELECT 'inbound statuses answered 200', count(DISTINCT id || status) FROM inbound WHERE kind = 'status'
UNION ALL SELECT '  stored', count(*) FROM g.message_status
UNION ALL SELECT 'changes of identity', count(*) FROM inbound WHERE kind = 'change'
UNION ALL SELECT 'contacts, and merges of them', (SELECT count(*) FROM g.contact) || ', ' || (SELECT count(*) FROM g.contact_merge)
UNION ALL SELECT 'requests of the platform that had to be repeated', count(*) FROM exchange WHERE what = 'inbound' AND status <> 200
UNION ALL SELECT 'events', count(*) FROM emitted
UNION ALL SELECT '  of these, forwards of payloads', count(*) FROM emitted WHERE is_forward
UNION ALL SELECT '  delivered', count(DISTINCT d.id) FROM delivery d WHERE d.status = 200
UNION ALL SELECT '  pending', count(*) FROM emitted WHERE state = 'pending'
UNION ALL SELECT '  cancelled with their webhook', count(*) FROM emitted WHERE state = 'cancelled'
UNION ALL SELECT '  deliveries received', count(*) FROM delivery
UNION ALL SELECT '  attempts on record', count(*) FROM g.event_attempt
UNION ALL SELECT 'bytes in the write-ahead log, at most and at the end',
    (SELECT value FROM observed WHERE name = 'wal_peak') || ', ' || (SELECT value FROM observed WHERE name = 'wal_end')
UNION ALL SELECT 'descriptors and KiB of the courier at the end',
    (SELECT value FROM observed WHERE name = 'courier_descriptors') || ', ' || (SELECT value FROM observed WHERE name = 'courier_kib')
UNION ALL SELECT 'programs and pools killed', value FROM observed WHERE name = 'programs_killed'
UNION ALL SELECT 'programs paused', value FROM observed WHERE name = 'programs_paused'
UNION ALL SELECT 'full disk', value FROM observed WHERE name = 'disk'
UNION ALL SELECT 'deeds of the nemesis', count(*) FROM deed
UNION ALL SELECT * FROM (SELECT '  ' || name, count(*) FROM deed GROUP BY name ORDER BY name);
