-- The figures of a cluster, one per line: name and value.
SELECT 'campaign: recipients, accepted, unknown, POSTs', (SELECT count(*) || ', ' ||
        sum(state = 'accepted') || ', ' || sum(state = 'unknown') FROM g.outgoing
        WHERE campaign_id IS NOT NULL) || ', ' || (SELECT count(*) FROM campaign_post)
UNION ALL SELECT 'longest gap of service', printf('%.1f s', max(until - since) / 1000.0) FROM gap
UNION ALL SELECT '  while ' || name, printf('%.1f s; whole again after %.1f s',
        max(until - since) / 1000.0, (ended - began) / 1000.0)
    FROM fault JOIN gap ON until > began AND since < ended GROUP BY name, began;
