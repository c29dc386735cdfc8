#!/usr/bin/env bats
# The query plans of all statements of lib/store: none scans or sorts a table that grows. Exceptions
# are in tests/statements.list, each with its reason. The database has 20,000 rows in each table
# that grows, a million in `make test-full`.
# transports: direct
# SQLite only: it reads the plans of SQLite
# shellcheck source=tests/helpers/fill.bash
load helpers/all
load helpers/fill
load helpers/statements

setup_file() {
    export SIZE=20000 FILLED=$BATS_FILE_TMPDIR/filled.db FEW=$BATS_FILE_TMPDIR/few.db
    [[ -z ${TEST_FULL-} ]] || SIZE=1000000
    make_filled "$FILLED" "$SIZE"
    make_filled "$FEW" 1000
}

teardown_file() {
    rm -f "$FILLED" "$FEW"
}

setup() {
    :
}

make_filled() { # FILE SIZE
    { printf 'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;\n'; cat "$root/schema.sql"; fill_sql "$2"; } |
        sqlite3 -bail "$1" >/dev/null
}

# The findings in those texts, one per line: FILE, text, finding. A finding is a line of the plan
# that scans or sorts, or `dynamic` for a text that is not a struct statement.
findings_of() { # reads texts
    local file kind text line
    while IFS=$'\t' read -r file kind text; do
        if [[ $kind == other ]]; then
            printf '%s\t%s\tdynamic\n' "$file" "$text"
            continue
        fi
        printf '.print "@\t%s"\n' "$((++number))" >&3
        printf '%s\t%s\n' "$file" "$text" >>"$BATS_TEST_TMPDIR/explained"
        printf 'EXPLAIN QUERY PLAN %s;\n' "$text" >&3
    done 3>"$BATS_TEST_TMPDIR/script"
    sqlite3 -batch -bail "$FILLED" <"$BATS_TEST_TMPDIR/script" >"$BATS_TEST_TMPDIR/plans" || return 1
    awk -F '\t' 'FILENAME != last { last = FILENAME; files++ }
        files == 1 { text[FNR] = $0; next }
        $1 == "@" { at = $2; next }
        /(SCAN|USE TEMP B-TREE)/ && !/SCAN CONSTANT ROW$/ {
            sub(/^[-| `]*/, "")
            sub(/COVERING INDEX/, "INDEX") # a later SQLite finds more of them, and names parts of an
            sub(/FOR LAST [0-9A-Z ]*OF ORDER BY/, "FOR RIGHT PART OF ORDER BY") # order otherwise
            print text[at] "\t" $0
        }' \
        "$BATS_TEST_TMPDIR/explained" "$BATS_TEST_TMPDIR/plans"
}

# Prints findings that tests/statements.list does not allow, and its entries that match no finding.
judge() { # reads findings
    awk -F '\t' '
        FILENAME == list {
            if ($0 !~ /^(#|$)/) {
                if (split($0, part, " :: ") != 4)
                    print "not FILE :: BEGINNING :: FINDING :: REASON: " $0
                file[++n] = part[1]; beginning[n] = part[2]; finding[n] = part[3]
            }
            next
        }
        {
            allowed = 0
            for (i = 1; i <= n; i++)
                if (file[i] == $1 && finding[i] == $3 && (beginning[i] == "*" || index($2, beginning[i]) == 1))
                    allowed = used[i] = 1
            if (!allowed)
                print $1 ": " $3 ": " $2
        }
        END {
            for (i = 1; i <= n; i++)
                if (!used[i])
                    print "allows nothing: " file[i] " :: " beginning[i] " :: " finding[i]
        }' list="$root/tests/statements.list" "$root/tests/statements.list" -
}

# bats test_tags=long
@test "every table that grows is large in the test database, and every other table is listed here" {
    local table rows
    for table in $(sqlite3 "$FILLED" "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"); do
        rows=$(sqlite3 "$FILLED" "SELECT count(*) FROM $table")
        case $table in
        user | account | line) ((rows == 1000)) ;; # one or few for each customer
        api_token | plan) ;;                       # at most as many as users
        webhook | event_turn) ;;                   # few for each user
        member | membership) ;;                    # at most 100 for each user
        invitation) ;;                             # at most 50 for each user
        login_link | factor) ;;                    # one for each member
        recovery_code | pending_login) ;;          # at most 10 for each member
        retention) ;;                              # one for each user
        scoped_token) ;;                           # at most 50 for each user
        reply) ;;                                  # at most 500 for each user
        webhook_refusal | foreign_waba) ;;         # bounded by the store
        settings_version) ((rows == 1)) ;;
        sender_lease) ;; # one row at most
        sender_streak) ;; # at most one for each line and each campaign
        template | flow | flow_reply_count | heartbeat) ;; # few for each account; one for each process
        *) ((rows >= SIZE)) || fail "$table has $rows rows" ;;
        esac
    done
}

@test "no statement of the store scans or sorts a table that grows" {
    texts_of "$root"/lib/{engine,store,store/*}/*.c >"$BATS_TEST_TMPDIR/all"
    (($(grep -c $'\tstatement\t' "$BATS_TEST_TMPDIR/all") >= 120))
    findings_of <"$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/findings"
    judge <"$BATS_TEST_TMPDIR/findings" >"$BATS_TEST_TMPDIR/judged"
    [[ ! -s $BATS_TEST_TMPDIR/judged ]] || fail "$(cat "$BATS_TEST_TMPDIR/judged")"
}

# SQLite searches for these rows when the row that they reference is deleted; query plans do not
# show that. The search must be for the id: other columns of a reference, as the line, have many rows.
@test "rows that reference a contact, a thread, a message or an event are found by an index" {
    local table columns id count=0
    while IFS='|' read -r table columns id; do
        sqlite3 "$FILLED" "EXPLAIN QUERY PLAN SELECT 1 FROM $table WHERE $columns" >"$BATS_TEST_TMPDIR/plan"
        grep -q "SEARCH.*[( ]$id=?" "$BATS_TEST_TMPDIR/plan" || fail "$table $columns: $(cat "$BATS_TEST_TMPDIR/plan")"
        ((++count))
    done < <(sqlite3 "$FILLED" "SELECT t.name, group_concat(f.\"from\" || ' = ?', ' AND '),
        max(CASE f.\"to\" WHEN 'id' THEN f.\"from\" END)
        FROM pragma_table_list t, pragma_foreign_key_list(t.name) f WHERE t.schema = 'main'
        AND f.\"table\" IN ('contact', 'thread', 'message', 'event', 'webhook', 'platform_post') GROUP BY t.name, f.id")
    ((count >= 9))
}

# The indexes of a database that no statement of the store uses and no constraint needs, one per
# line: idle_indexes DATABASE. A constraint needs an index of rows that are searched when the row
# which they reference is deleted, and a unique index unless another one of the table has some of
# its columns and no others; then only if a reference names its columns.
idle_indexes() {
    local references="pragma_table_list t, pragma_foreign_key_list(t.name) f WHERE t.schema = 'main'"
    FILLED=$1 findings_of <"$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/findings" || return 1
    sqlite3 "$1" "SELECT 'EXPLAIN QUERY PLAN SELECT 1 FROM \"' || t.name || '\" WHERE ' ||
        group_concat('\"' || f.\"from\" || '\" = ?', ' AND ') || ';' FROM $references
        AND f.\"table\" IN ('contact', 'thread', 'message', 'event', 'webhook', 'platform_post')
        GROUP BY t.name, f.id" | sqlite3 -batch "$1" >>"$BATS_TEST_TMPDIR/plans" || return 1
    grep -oE 'USING (COVERING )?INDEX [A-Za-z0-9_]+' "$BATS_TEST_TMPDIR/plans" | sed 's/.* //' | sort -u \
        >"$BATS_TEST_TMPDIR/used"
    sqlite3 "$1" "WITH one AS (SELECT t.name AS of, i.* FROM pragma_table_list t, pragma_index_list(t.name) i
            WHERE t.schema = 'main'),
        key AS (SELECT one.*, (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(one.name)
            ORDER BY name)) AS columns FROM one)
        SELECT k.name FROM key k WHERE NOT (k.\"unique\" AND (
            NOT EXISTS (SELECT 1 FROM key o WHERE o.of = k.of AND o.name <> k.name AND o.\"unique\"
                AND NOT o.partial AND NOT EXISTS (SELECT name FROM pragma_index_info(o.name)
                    EXCEPT SELECT name FROM pragma_index_info(k.name)))
            OR (k.of, k.columns) IN (SELECT \"table\", group_concat(\"to\") FROM (SELECT t.name AS child, f.*
                FROM $references ORDER BY f.\"to\") GROUP BY child, id)))
        ORDER BY k.name" | sort | comm -23 - "$BATS_TEST_TMPDIR/used"
}

# bats test_tags=long
@test "every index is used by a statement of the store, or needed by a constraint" {
    texts_of "$root"/lib/{engine,store,store/*}/*.c >"$BATS_TEST_TMPDIR/all"
    assert_equal "$(idle_indexes "$FEW")" ''
    (($(wc -l <"$BATS_TEST_TMPDIR/used") > 60))
    rm -f "$BATS_TEST_TMPDIR/explained"
    cp "$FEW" "$BATS_TEST_TMPDIR/more.db"
    sqlite3 "$BATS_TEST_TMPDIR/more.db" "CREATE INDEX idle_1 ON message (type);
        CREATE UNIQUE INDEX idle_2 ON contact_merge (id, reason); DROP INDEX thread_contact;
        CREATE INDEX searched ON thread (contact_id); CREATE UNIQUE INDEX constraint_1 ON line (account_id, name)"
    assert_equal "$(idle_indexes "$BATS_TEST_TMPDIR/more.db")" 'idle_1
idle_2'
}

# Creates a C file with a statement that scans, in the form of DEFINITION: plant DEFINITION
plant() {
    printf '#include "engine/sql.h"\n#define SLOW "SELECT body FROM" " message WHERE type = ?1"\n%s\n' "$1" \
        >"$BATS_TEST_TMPDIR/planted.c"
}

@test "a statement that scans is found in every form of its definition" {
    local form
    for form in 'static struct statement s = {.sql = SLOW};' 'static struct statement s[] = {{.sql = "BEGIN"}, {.sql = SLOW}};' \
        'static struct { int n; struct statement s; } x = {.s = {.sql = SLOW}};' 'static struct statement s = {SLOW};' \
        'typedef struct statement quick; static quick s = {SLOW};' 'struct statement s; void f(void) { s.sql = SLOW; }' \
        'const char *f(void) { return SLOW; }'; do
        plant "$form"
        rm -f "$BATS_TEST_TMPDIR/explained"
        if texts_of "$BATS_TEST_TMPDIR/planted.c" >"$BATS_TEST_TMPDIR/all" 2>/dev/null; then
            findings_of <"$BATS_TEST_TMPDIR/all" | judge >"$BATS_TEST_TMPDIR/judged"
            grep -q '^planted.c: .*SELECT body FROM message' "$BATS_TEST_TMPDIR/judged" || fail "missed: $form"
        fi
    done
    # a text that is not made of literals cannot be read, which is an error
    plant 'const char *t; void f(struct statement *s) { s->sql = t; }'
    run texts_of "$BATS_TEST_TMPDIR/planted.c"
    [[ $status != 0 && $output == *'an SQL text that cannot be read'* ]]
    # a text that SQLite does not accept is an error too
    plant 'static struct statement s = {.sql = "SELECT nothing FROM message"};'
    texts_of "$BATS_TEST_TMPDIR/planted.c" >"$BATS_TEST_TMPDIR/all"
    run findings_of <"$BATS_TEST_TMPDIR/all"
    [[ $status != 0 ]]
}

# The virtual machine steps of a statement in both databases, in a transaction that is rolled back:
# steps BEGINNING PARAMETER...
steps() {
    local sql number=0 value database
    sql=$(statement "$1")
    [[ $(wc -l <<<"$sql") == 1 && -n $sql ]] || fail "not one statement begins with: $1"
    shift
    {
        printf '.parameter init\n'
        for value; do
            printf 'INSERT INTO temp.sqlite_parameters VALUES (%s, %s);\n' "'?$((++number))'" "$value"
        done
        printf 'BEGIN;\n.output /dev/null\n.stats on\n.output %s\n%s;\n.stats off\nROLLBACK;\n' "$BATS_TEST_TMPDIR/stats" "$sql"
    } >"$BATS_TEST_TMPDIR/script"
    for database in "$FEW" "$FILLED"; do
        sqlite3 -batch -bail "$database" <"$BATS_TEST_TMPDIR/script" >/dev/null
        sed -n 's/^Virtual Machine Steps: *//p' "$BATS_TEST_TMPDIR/stats" | tail -n 1
    done
}

# A statement takes about the same number of steps in both databases: flat BEGINNING PARAMETER...
flat() {
    local counts
    mapfile -t counts < <(steps "$@")
    printf '%s: %s\n' "$1" "${counts[*]}"
    ((${#counts[@]} == 2 && counts[0] > 0 && counts[1] <= counts[0] + counts[0] / 2 + 50))
}

@test "a search for waiting webhooks costs the same for each webhook, for any number of deliveries" {
    local file webhooks
    webhooks=$(sqlite3 "$FILLED" "SELECT count(DISTINCT webhook_id) FROM delivery WHERE state = 'pending'")
    for file in event/outbox.c life/housekeeping.c; do
        texts_of "$root/lib/store/$file" >"$BATS_TEST_TMPDIR/all"
        (($(steps 'WITH RECURSIVE waiting' 9000000000000 | tail -n 1) < 60 * webhooks))
    done
}

# bats test_tags=long
@test "statements that hold the write lock, and those of each request, cost the same for any number of rows" {
    texts_of "$root"/lib/{engine,store,store/*}/*.c >"$BATS_TEST_TMPDIR/all"
    local far=9000000000000 one="'con_00000000000000000000000005'" two="'con_00000000000000000000000006'"
    flat 'UPDATE delivery SET order_key = ?2 WHERE order_key = ?1' "$one" "$two"
    flat 'UPDATE message SET changed = ?3' "$one" "$two" 7
    flat 'UPDATE thread_alias SET thread_id = (SELECT' "$one" "$two"
    flat 'UPDATE thread SET last_message_at' "$one" "$two"
    flat 'UPDATE contact_merge SET contact_id = ?2 WHERE contact_id' "$one" "$two"
    flat 'DELETE FROM contact WHERE id = ?1' "'con_none'" "$two"
    local counts
    # at most 1,000 entries of each of three indexes
    mapfile -t counts < <(steps 'SELECT (SELECT count(*) FROM (SELECT 1 FROM thread WHERE user_id' "'usr_fill'" 1000)
    printf 'what there is to do: %s\n' "${counts[*]}"
    ((${#counts[@]} == 2 && counts[0] > 0 && counts[1] < 45000))
    flat 'UPDATE delivery SET next_attempt_at = ?1 WHERE webhook_id' 1 $far "'whk_fill'" 500
    local some
    mapfile -t some < <(sqlite3 "$FEW" "SELECT quote(id) FROM event WHERE state = 'done' ORDER BY id LIMIT 20")
    flat 'SELECT id, user_id, post_id FROM event' "'dead'" $far 500
    flat 'SELECT id, user_id, post_id FROM event' "'done'" $far 100
    flat 'DELETE FROM event WHERE NOT' "'done'" $far "${some[@]}"
    flat 'DELETE FROM event_attempt WHERE event_id IN' "'done'" $far "${some[@]}"
    flat 'DELETE FROM delivery WHERE event_id IN' "'done'" $far "${some[@]}"
    flat 'DELETE FROM platform_post WHERE' "'pst_00000000000000000000000005'"
    flat 'SELECT w.id, w.kind' "'usr_fill'"
    flat 'DELETE FROM idempotency WHERE (user_id' $far 500
    flat 'SELECT p.*, coalesce(c.responses, 0)' "'usr_fill'" NULL "'%'" "''" 20
    flat 'SELECT id, last_message_at FROM thread WHERE user_id = ?1 AND (last' "'usr_fill'" $far "''" 25
    flat 'SELECT id, last_message_at FROM thread WHERE line_id = ?1' "'lin_fill'" $far "''" 25
    flat 'SELECT id, last_message_at FROM thread WHERE user_id = ?1 AND unread' "'usr_fill'" $far "''" 25 NULL NULL
    flat 'SELECT id, last_message_at FROM thread WHERE user_id = ?1 AND failed' "'usr_fill'" $far "''" 25 NULL NULL 0
    flat 'SELECT id, last_message_at FROM thread WHERE user_id = ?1 AND assignee_id =' "'usr_fill'" $far "''" 25 NULL "'mbr_fill'"
    flat 'SELECT id, last_message_at FROM thread WHERE user_id = ?1 AND assignee_id IS' "'usr_fill'" $far "''" 25 NULL
    flat 'SELECT id FROM thread WHERE user_id = ?1 AND assignee_id' "'usr_fill'" "'mbr_fill'" 5 "''"
    flat 'SELECT id, waiting_since FROM thread WHERE line_id' "'lin_fill'" 0 "''" 25 0 0 NULL
    flat 'UPDATE thread SET answered_at' "'thr_00000000000000000000000005'"
    flat 'UPDATE thread SET waiting_since' "'thr_00000000000000000000000005'"
    flat 'SELECT id, changed FROM thread WHERE user_id = ?1 AND changed' "'usr_fill'" 1 5
    flat 'SELECT term, contact_id FROM contact_term' "'acc_fill'" "'person'" "''" "'persoo'" 200
    flat 'INSERT INTO flow_reply_count' "'msg_00000000000000000000000003'"
}

# The first database has one event with 20 deliveries, and two lines that were used for a day; the
# second one has 999 deliveries, and 100 lines that were used for 8 days. The last delivery is
# pending, and the only one of a failed attempt; the last line sends, and nothing came in for it.
@test "the state of an event and the last hours of a line cost the same for any number of deliveries and hours" {
    texts_of "$root"/lib/store/{event/event_entry,count/usage}.c >"$BATS_TEST_TMPDIR/all"
    local database webhooks lines hours
    while read -r database webhooks lines hours; do
        cp "${!database}" "$BATS_TEST_TMPDIR/$database.db"
        sqlite3 -bail "$BATS_TEST_TMPDIR/$database.db" "PRAGMA foreign_keys = OFF;
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $webhooks)
            INSERT INTO delivery (event_id, webhook_id, user_id, sequence, state, next_attempt_at, last_error, created_at)
            SELECT 'evt_many', printf('whk_fill%04d', i), 'usr_fill', 1, iif(i = $webhooks, 'pending', 'done'), 1,
                iif(i = $webhooks, 'refused', NULL), 1 FROM n;
            INSERT INTO event (id, user_id, sequence, type, body, state, created_at)
                VALUES ('evt_many', 'usr_fill', 0, 'message.received', x'', 'pending', 1);
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $lines)
            INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered, is_coexisting, created_at)
                SELECT printf('lin_used%04d', i), 'acc_fill', 'used' || i, '', 1, 0, 1 FROM n;
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $hours)
            INSERT INTO usage SELECT 'usr_fill', 9000000 + i, id, measure, 1 FROM n, line,
                (SELECT 'in' AS measure UNION ALL SELECT 'out' UNION ALL SELECT 'sent')
                WHERE id LIKE 'lin_used%' AND (measure = 'out' OR id <> printf('lin_used%04d', $lines));"
    done <<<'FEW 20 2 24
FILLED 999 100 192'
    FEW=$BATS_TEST_TMPDIR/FEW.db FILLED=$BATS_TEST_TMPDIR/FILLED.db
    flat 'UPDATE event SET state...WHERE id = ?3' "''" 9000000000000 "'evt_many'"
    flat "UPDATE event SET state...c.state = 'pending')" "'whk_fill0001'" 9000000000000
    mapfile -t counts < <(steps 'SELECT l.id, (SELECT max' "'usr_fill'" 9000000 9000190)
    printf 'last hours: %s\n' "${counts[*]}"
    ((counts[0] > 0 && counts[1] < counts[0] * 50)) # as many times as there are lines
}
