-- Rules of a cluster, beside those of tests/soak/checks.sql.

CREATE TEMP TABLE campaign_post AS
    SELECT substr(body, instr(body, 'campaign-') + 9, 11) AS recipient
    FROM upstream WHERE instr(body, 'campaign-');
CREATE INDEX temp.campaign_post_recipient ON campaign_post (recipient);
CREATE TEMP TABLE gap AS SELECT ended AS since, lead(ended) OVER (ORDER BY ended) AS until
    FROM exchange WHERE what IN ('send', 'inbound') AND status = 200;

INSERT INTO rule VALUES ('a send with a key that was answered 200 was sent to the platform once');
INSERT INTO finding SELECT 'a send with a key that was answered 200 was sent to the platform once',
    key || ': ' || n || ' times' FROM (SELECT key,
        (SELECT count(*) FROM asked WHERE asked.marker = answered.marker) AS n FROM answered)
    WHERE key <> '' AND n <> 1;

INSERT INTO rule VALUES ('every key has an answer in the end: 200, or outcome unknown');
INSERT INTO finding SELECT 'every key has an answer in the end: 200, or outcome unknown', key
    FROM send WHERE key <> '' GROUP BY key HAVING NOT max(status = 200 OR outcome = 'unknown');

INSERT INTO rule VALUES ('there were as many sends and messages as were wanted');
INSERT INTO finding SELECT 'there were as many sends and messages as were wanted',
    n || ' of ' || value
    FROM (SELECT 'least_sends' AS name, count(DISTINCT key) AS n FROM send
            WHERE key <> '' AND (status = 200 OR outcome = 'unknown')
        UNION ALL SELECT 'least_messages', count(DISTINCT id) FROM inbound WHERE kind = 'message')
    JOIN observed USING (name) WHERE n < CAST(value AS INTEGER);

INSERT INTO rule VALUES ('no recipient of the campaign got two messages');
INSERT INTO finding SELECT 'no recipient of the campaign got two messages', recipient
    FROM campaign_post GROUP BY recipient HAVING count(*) > 1;

INSERT INTO rule VALUES ('no recipient of the campaign is lost: accepted and sent, or unknown');
INSERT INTO finding SELECT 'no recipient of the campaign is lost: accepted and sent, or unknown',
    recipient || ' ' || state || ' ' || coalesce(reason, '') FROM g.outgoing
    WHERE campaign_id IS NOT NULL AND (state NOT IN ('accepted', 'unknown')
        OR (state = 'accepted' AND recipient NOT IN (SELECT recipient FROM campaign_post)))
    UNION ALL SELECT 'no recipient of the campaign is lost: accepted and sent, or unknown',
        n || ' of ' || value || ' recipients'
        FROM (SELECT count(*) AS n FROM g.outgoing WHERE campaign_id IS NOT NULL), observed
        WHERE name = 'campaign_rows' AND n <> CAST(value AS INTEGER);

INSERT INTO rule VALUES ('every fault was carried out');
INSERT INTO finding SELECT 'every fault was carried out', name FROM deed
    WHERE name NOT IN (SELECT name FROM fault);

INSERT INTO rule VALUES ('no gap of service is longer than allowed');
INSERT INTO finding SELECT 'no gap of service is longer than allowed', (until - since) || ' ms'
    FROM gap, observed WHERE name = 'longest_gap_ms' AND until - since > CAST(value AS INTEGER);
