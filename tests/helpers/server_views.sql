-- For the tests: the view of outbox.sql, in the schema of server.sql.
SET search_path = test, public;

CREATE VIEW outbox AS
    SELECT e.id, e.user_id, e.sequence, e.type, coalesce(d.order_key, e.contact_id) AS contact_id,
        e.body, coalesce(d.state, e.state) AS state, d.attempts, d.next_attempt_at, d.lease_until,
        d.lease_owner, d.last_status, d.last_error, e.created_at,
        coalesce(d.finished_at, e.finished_at) AS finished_at, d.webhook_id
    FROM event e LEFT JOIN delivery d ON d.event_id = e.id;
CREATE FUNCTION outbox_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO event (id, user_id, sequence, type, contact_id, body, state, has_error, created_at,
            finished_at)
        VALUES (new.id, new.user_id, new.sequence, new.type, new.contact_id, new.body, new.state,
            (new.last_error IS NOT NULL)::int, new.created_at, new.finished_at);
    INSERT INTO webhook (id, user_id, kind, created_at, updated_at)
        SELECT 'whk_' || substr(new.user_id, 5), new.user_id, 'event', 1, 1 WHERE NOT EXISTS
            (SELECT 1 FROM webhook WHERE user_id = new.user_id AND deleted_at IS NULL);
    INSERT INTO delivery (event_id, webhook_id, user_id, sequence, order_key, state, attempts,
            next_attempt_at, lease_until, lease_owner, last_status, last_error, created_at,
            finished_at)
        SELECT new.id, coalesce(new.webhook_id, w.id), new.user_id, new.sequence, new.contact_id,
            new.state, coalesce(new.attempts, 0), new.next_attempt_at, coalesce(new.lease_until, 0),
            new.lease_owner, new.last_status, new.last_error, new.created_at, new.finished_at
        FROM webhook w WHERE w.user_id = new.user_id AND w.deleted_at IS NULL
        ORDER BY w.created_at, w.id LIMIT 1;
    RETURN new;
END $$;
CREATE FUNCTION outbox_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF new.id <> old.id THEN -- its deliveries refer to it: they get a copy with the new id
        UPDATE event SET sequence = -sequence WHERE id = old.id;
        INSERT INTO event (id, user_id, sequence, type, contact_id, line_id, body, state,
                created_at)
            SELECT new.id, user_id, -sequence, type, contact_id, line_id, body, state, created_at
            FROM event WHERE id = old.id;
        UPDATE delivery SET event_id = new.id WHERE event_id = old.id;
        UPDATE event_attempt SET event_id = new.id WHERE event_id = old.id;
        DELETE FROM event WHERE id = old.id;
        old.id := new.id;
    END IF;
    UPDATE event SET user_id = new.user_id, sequence = new.sequence, type = new.type,
        body = new.body, state = new.state, has_error = (new.last_error IS NOT NULL)::int,
        created_at = new.created_at, finished_at = new.finished_at WHERE id = old.id;
    UPDATE delivery SET event_id = new.id, sequence = new.sequence, order_key = new.contact_id,
        state = new.state, attempts = new.attempts, next_attempt_at = new.next_attempt_at,
        lease_until = new.lease_until, lease_owner = new.lease_owner, last_status = new.last_status,
        last_error = new.last_error, finished_at = new.finished_at
    WHERE event_id = old.id AND webhook_id = old.webhook_id;
    RETURN new;
END $$;
CREATE FUNCTION outbox_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM delivery WHERE event_id = old.id;
    DELETE FROM event WHERE id = old.id;
    RETURN old;
END $$;
CREATE TRIGGER outbox_insert INSTEAD OF INSERT ON outbox
    FOR EACH ROW EXECUTE FUNCTION outbox_insert();
CREATE TRIGGER outbox_update INSTEAD OF UPDATE ON outbox
    FOR EACH ROW EXECUTE FUNCTION outbox_update();
CREATE TRIGGER outbox_delete INSTEAD OF DELETE ON outbox
    FOR EACH ROW EXECUTE FUNCTION outbox_delete();
GRANT ALL ON outbox TO switchboard;
