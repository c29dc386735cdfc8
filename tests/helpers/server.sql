-- For the tests: functions of SQLite that their SQL uses. The programs do not search their schema.
CREATE SCHEMA test AUTHORIZATION switchboard;
SET search_path = test;

CREATE FUNCTION hex(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT upper(encode(value, 'hex')) $$;
CREATE FUNCTION hex(value text) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT upper(encode(convert_to(value, 'UTF8'), 'hex')) $$;
CREATE FUNCTION zeroblob(size integer) RETURNS bytea LANGUAGE sql IMMUTABLE
    AS $$ SELECT decode(repeat('00', size), 'hex') $$;
CREATE FUNCTION randomblob(size integer) RETURNS bytea LANGUAGE sql
    AS $$ SELECT substring(decode(string_agg(md5(random()::text), ''), 'hex') FROM 1 FOR size)
        FROM pg_catalog.generate_series(0, size / 16) $$;
CREATE FUNCTION instr(value text, part text) RETURNS integer LANGUAGE sql IMMUTABLE
    AS $$ SELECT strpos(value, part) $$;
CREATE FUNCTION as_text(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT convert_from(value, 'UTF8') $$;
CREATE FUNCTION as_text(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT value $$;
CREATE FUNCTION as_blob(value text) RETURNS bytea LANGUAGE sql IMMUTABLE
    AS $$ SELECT convert_to(value, 'UTF8') $$;
CREATE FUNCTION as_blob(value bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$ SELECT value $$;
CREATE FUNCTION json_extract(value text, path text) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT jsonb_path_query_first(value::jsonb, path::jsonpath) #>> '{}' $$;
CREATE FUNCTION json_extract(value bytea, path text) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT test.json_extract(convert_from(value, 'UTF8'), path) $$;

-- The column has SQLite's name.
CREATE FUNCTION generate_series(first integer, last integer) RETURNS TABLE (value bigint)
    LANGUAGE sql IMMUTABLE AS $$ SELECT pg_catalog.generate_series(first, last) $$;
-- One number, %d or with leading zeros: %03d
CREATE FUNCTION printf(pattern text, number bigint) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT regexp_replace(pattern, '%0?[0-9]*d',
        lpad(number::text, greatest(length(number::text),
            coalesce(substring(pattern FROM '%0([0-9]+)d')::integer, 0)), '0')) $$;

CREATE FUNCTION add_with_comma(list text, value text) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT concat_ws(',', list, value) $$;
CREATE AGGREGATE group_concat(value text) (SFUNC = test.add_with_comma, STYPE = text);
CREATE AGGREGATE group_concat(value text, separator text)
    (SFUNC = string_agg_transfn, STYPE = internal, FINALFUNC = string_agg_finalfn);

-- The order of insertion, which SQLite counts in each table.
ALTER TABLE public.event_attempt ADD COLUMN rowid bigint GENERATED ALWAYS AS IDENTITY;

-- Trigger functions, for faults.
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'made to fail'; END $$;
CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_sleep(600); RETURN new; END $$;

GRANT USAGE ON SCHEMA test TO PUBLIC;
