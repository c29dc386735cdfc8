#!/usr/bin/env bats
# `make lint` and `make format`: each class of slip is found, with its file and line.
# transports: direct
# needs: lint
# SQLite only: it uses no database
# bats file_tags=long
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

# A small project with the rules of this one, whose packages need no check.
setup() {
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"/{lib/base,lib/store,tests/unit,tools}
    cp "$root/.clang-format" "$tree"
    sed '/^CGI_PLAIN/,/^CGI_MEDIA/c CGI_PLAIN := $(basename $(notdir $(wildcard cgi-bin/*.c)))' \
        "$root/Makefile" >"$tree/Makefile"
    cp -r "$root/tests/lint" "$root/tests/rules.mk" "$root/tests/coverage.h" "$tree/tests/"
    put tests/lint/exempt '# of this tree'
    put tests/lint/only '# of this tree'
    put tests/unlock.list '# of this tree'
    put tests/unit/twins.c 'struct twins {' '    const char *name;' '};' '' \
        'static const struct twins cases[] = {' '    {""},' '};' '' 'int main(void) {' \
        '    return cases[0].name == 0;' '}'
    put tools/setup '#!/bin/bash'
    put tests/run '#!/bin/bash' 'echo the suite'
    chmod +x "$tree"/{tools/setup,tests/run}
    put lib/base/clean.h '/* Clean. */' 'int clean(int number);'
    put lib/base/clean.c '#include "base/clean.h"' '' 'int clean(int number) {' \
        '    return number;' '}'
    put tools/clean '#!/bin/bash' 'cd "$(dirname "$0")" || exit'
    put tests/clean.bats '@test "a request is answered" {' '    echo nobody' '}'
}

put() { # FILE LINE...
    printf '%s\n' "${@:2}" >"$tree/$1"
}

lint() {
    run make -s -C "$tree" lint
}

# The findings of all checks, or of those that a pattern matches: findings [PATTERN]
findings() {
    grep -vE '^(lint|make(\[[0-9]\])?): ' <<<"$output" | grep -e "${1-}" || true
}

assert_finding() { # LINE: the only one
    assert_equal "$status" 2
    assert_equal "$(findings)" "$1"
    [[ $output == *$'\nlint: 1 findings'* ]]
}

of_nobody='the word "nobody"; write "no user", "no program", or the party that is meant'

a() { # NUMBER: so many letters
    printf '%*s' "$1" '' | tr ' ' a
}

# Skips a test of the form where the formatter is another one than that of the rules.
needs_formatter() {
    local reason
    reason=$("$root/tests/lint/formatter") || skip "$reason"
}

@test "a clean tree has no findings, and make format changes nothing" {
    lint
    assert_equal "$status" 0
    assert_equal "$(findings)" ''
    [[ ${lines[-1]} =~ ^'lint: no findings in '[0-9]+' files'$ ]] || fail "$output"
    needs_formatter
    assert_equal "${#lines[@]}" 1
    cp -r "$tree/lib" "$tree/before"
    make -s -C "$tree" format
    diff -r "$tree/lib" "$tree/before"
}

@test "a formatter of another version is named, checks nothing and formats nothing; the rest is checked" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\necho "Debian clang-format version 19.1.7 (3+b1)"\n' \
        >"$BATS_TEST_TMPDIR/bin/clang-format"
    chmod +x "$BATS_TEST_TMPDIR/bin/clang-format"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    put lib/base/clean.c '#include "base/clean.h"' '' 'int clean(int number) { return  number; }'
    lint
    assert_equal "$status" 0
    assert_equal "${lines[0]}" \
        'lint: not checked: the form of C is that of clang-format 14, and this is 19'
    [[ ${lines[1]} == 'lint: no findings in '*' files' ]] || fail "$output"
    put tests/long.bash '# shellcheck shell=bash' "# $(a 99)"
    lint
    assert_finding 'tests/long.bash:2: a line of 101 columns; wrap it at 100'
    run make -s -C "$tree" format
    assert_equal "$status" 2
    assert_equal "${lines[0]}" 'the form of C is that of clang-format 14, and this is 19'
    grep -q 'return  number' "$tree/lib/base/clean.c"
}

@test "code that differs from .clang-format is found, and make format corrects it" {
    needs_formatter
    put lib/base/clean.c '#include "base/clean.h"' '' 'int clean(int number) { return  number; }'
    lint
    assert_finding 'lib/base/clean.c:3: the format differs from .clang-format; run: make format'
    make -s -C "$tree" format
    lint
    assert_equal "$status" 0
}

@test "lines over 100 columns are found, in C, scripts, SQL and Makefile; characters count, not bytes" {
    put lib/base/long.h '' "/* $(a 94) */" "/* $(a 95) */"
    put tests/long.bash '# shellcheck shell=bash' "# $(a 98)" "# $(a 99)" "# $(a 97)é"
    put tests/long.bats "    $(a 97)" "@test \"$(a 99)\" {"
    put schema.sql "-- $(a 98)"
    printf '\t%s\n' "$(a 92)" "$(a 93)" >"$tree/tests/long.mk"
    put README.md "$(a 101)"
    lint
    assert_equal "$(findings 'a line of')" \
        'lib/base/long.h:3: a line of 101 columns; wrap it at 100
schema.sql:1: a line of 101 columns; wrap it at 100
tests/long.bash:3: a line of 101 columns; wrap it at 100
tests/long.bats:1: a line of 101 columns; wrap it at 100
tests/long.mk:2: a line of 101 columns; wrap it at 100'
}

@test "a table between its marks may have long lines, and the lines after it may not" {
    put lib/base/table.h '/* clang-format off */' "/* $(a 95) */" '/* clang-format on */' \
        "/* $(a 95) */"
    put tests/table.bash '# lint: long lines' "# $(a 99)" '# lint: end' "# $(a 99)"
    put schema.sql '-- lint: long lines' "-- $(a 99)" '-- lint: end' "-- $(a 99)"
    lint
    assert_equal "$(findings 'a line of')" \
        'lib/base/table.h:4: a line of 101 columns; wrap it at 100
schema.sql:4: a line of 102 columns; wrap it at 100
tests/table.bash:4: a line of 101 columns; wrap it at 100'
}

@test "an include that climbs is found, and one that the sandbox does not share" {
    mkdir -p "$tree"/tools/sandbox/{state,judge} "$tree/lib/web"
    put lib/store/up.h '/* Above base. */'
    put lib/web/reply.h '/* Of the gateway. */'
    put lib/base/climb.c '#include "base/clean.h"' '#include "store/up.h"'
    put lib/base/arena.h '/* Shared. */'
    put tools/sandbox/judge/b.h '/* Above state. */'
    put tools/sandbox/state/a.h '#include "base/arena.h"' '#include "base/clean.h"' \
        '#include "judge/b.h"' '#include "web/reply.h"'
    lint
    local order='which is not below it; move the code (tests/lint/rooms.bash lists the order)'
    assert_equal "$(findings)" "lib/base/climb.c:2: includes lib/store/up.h, $order
tools/sandbox/state/a.h:2: includes lib/base/clean.h, which the sandbox does not share; write \
what it needs (tests/lint/rooms.bash lists the others)
tools/sandbox/state/a.h:3: includes tools/sandbox/judge/b.h, $order
tools/sandbox/state/a.h:4: includes lib/web/reply.h, $order"
}

@test "an include of the engine, and of a room of the store, is found outside of the store" {
    mkdir -p "$tree"/lib/{engine,api,store/ingest,store/inbox} "$tree/tools/admin"
    put lib/engine/sql.h '/* SQL. */'
    put lib/store/use.h '/* A use case. */'
    put lib/store/ingest/in.h '#include "engine/sql.h"' '#include "store/use.h"'
    put lib/store/inbox/row.h '#include "store/ingest/in.h"'
    put lib/api/a.h '#include "engine/sql.h"' '#include "store/ingest/in.h"' \
        '#include "store/use.h"'
    put tools/admin/b.h '#include "engine/sql.h"' '#include "store/inbox/row.h"'
    put lib/engine/c.h '#include "store/use.h"'
    lint
    local order='which is not below it; move the code (tests/lint/rooms.bash lists the order)'
    assert_equal "$(findings)" "lib/api/a.h:1: includes lib/engine/sql.h, $order
lib/api/a.h:2: includes lib/store/ingest/in.h, $order
lib/engine/c.h:1: includes lib/store/use.h, $order
lib/store/inbox/row.h:1: includes lib/store/ingest/in.h, $order
tools/admin/b.h:1: includes lib/engine/sql.h, $order
tools/admin/b.h:2: includes lib/store/inbox/row.h, $order"
}

@test "a table of the schema is found in the engine, in a statement or as a name" {
    mkdir -p "$tree/lib/engine"
    put schema.sql 'CREATE TABLE "user" (' 'id TEXT);' 'CREATE TABLE line (id TEXT);'
    put lib/engine/a.h '/* The table "user" is data, and so is line. */' \
        'static const char one[] = "user";' \
        'static const char two[] = "SELECT 1 FROM \"user\" WHERE id = ?1";' \
        "static const char three[] = \"name <> 'line'\";" \
        'static const char four[] = "PRAGMA quick_check(line)";' \
        'static const char five[] = "another line of the user";'
    put lib/store/b.h 'static const char one[] = "user";'
    lint
    local what='names a table; say it in lib/store/move/schema_tables.c'
    assert_equal "$(findings 'names a table')" "lib/engine/a.h:2: $what
lib/engine/a.h:3: $what
lib/engine/a.h:4: $what
lib/engine/a.h:5: $what"
}

@test "a function or data of lib that two files define is found" {
    mkdir -p "$tree/lib/web" "$tree/tools/sandbox"
    put lib/base/d.c 'int d(void);' 'extern int e;' 'int e = 1;' '' 'int d(void) {' \
        '    return e;' '}'
    put lib/web/f.c 'int d(void);' 'extern int e;' 'int e = 2;' '' 'int d(void) {' \
        '    return e;' '}'
    put tools/sandbox/g.c 'int d(void);' '' 'int d(void) {' '    return 3;' '}'
    lint
    assert_equal "$(findings 'defines')" \
        'lib/web/f.c:1: defines d, as lib/base/d.c does; rename one
lib/web/f.c:1: defines e, as lib/base/d.c does; rename one'
}

@test "a directory with too many files is found" {
    local i
    mkdir "$tree/lib/web"
    for i in {10..69}; do
        put "lib/web/h$i.h" '/* A header. */'
    done
    lint
    assert_equal "$(findings)" ''
    put lib/web/h70.h '/* A header. */'
    lint
    assert_equal "$(findings)" \
        'lib/web/h10.h:1: lib/web has 61 C files, more than 60; divide it by nouns'
}

@test "a circle of includes is found, and one of calls" {
    put lib/base/first.h '#include "base/second.h"'
    put lib/base/second.h '/* A header. */'
    put lib/base/second.c '#include "base/first.h"'
    mkdir "$tree/lib/store/event" # a room, which has the source of a header of the store
    put lib/store/outbox.h '/* The outbox. */'
    put lib/store/event/outbox.c '#include "store/event/row.h"'
    put lib/store/event/row.h '#include "store/outbox.h"'
    put lib/store/d.c 'int d(void);' 'int e(void);' '' 'int d(void) {' '    return e();' '}'
    put lib/store/e.c 'int d(void);' 'int e(void);' '' 'int e(void) {' '    return d();' '}'
    mkdir -p "$tree"/tools/sandbox/{state,wire}
    put tools/sandbox/state/a.c 'int a(void);' 'int b(void);' '' 'int a(void) {' \
        '    return b();' '}'
    put tools/sandbox/wire/b.c 'int a(void);' 'extern int c;' 'int b(void);' '' 'int b(void) {' \
        '    return c ? 0 : a();' '}'
    put tools/sandbox/wire/c.c 'extern int c;' 'int c = 1;'
    lint
    assert_equal "$(findings)" "lib/base/first.c:1: include each other in a circle: \
lib/base/first lib/base/second; move the code
lib/store/d.c:1: call each other in a circle: lib/store/d lib/store/e; move the code
lib/store/outbox.c:1: include each other in a circle: lib/store/outbox lib/store/row; move the code
tools/sandbox/state/a.c:1: call each other in a circle: \
tools/sandbox/state/a tools/sandbox/wire/b; move the code"
}

@test "two files of one name are found, and a file in no directory of lib" {
    put lib/store/clean.h '/* Clean. */'
    put lib/alone.h '/* Alone. */'
    lint
    assert_equal "$(findings)" 'lib/alone.h:1: is in no directory of lib; move it
lib/store/clean.h:1: has the name of lib/base/clean.h; rename one'
}

@test "what only some files may do is found in others, and a rule that no line needs" {
    put lib/base/text.h 'const char *a = "x->base";' 'const char *b = "(x->base)";'
    put lib/store/other.h 'const char *c = "x->base";'
    put tests/lint/only '# of this tree' \
        $'^lib/base/\t->base\t-\t\\(x->base\tpasses it on; name it' \
        $'.\t->(base|store)\tlib/base/text.h lib/base/clean.\t-\tnames it; do not' \
        $'^lib/store/\t->store\t-\tno line\tis not found'
    lint
    assert_equal "$(findings)" 'lib/base/text.h:1: passes it on; name it
lib/store/other.h:1: names it; do not
tests/lint/only:3: lib/base/clean. needs no entry; remove it
tests/lint/only:4: no line matches UNLESS; correct it'
}

put_store() { # FILE LINE...: of the store
    put lib/store/sql.h 'struct store;' 'int sql_begin(struct store *store);' \
        'int sql_transact(struct store *store);' 'int sql_commit(struct store *store);' \
        'void sql_lock(struct store *store, int lock);' 'void do_it(struct store *store);' \
        'int store_new(struct store *store);' 'int store_read(struct store *store);' \
        'enum { LOCK_USER };'
    put "$1" '#include "store/sql.h"' '' "${@:2}"
}

@test "a transaction that cannot run again is found, and a body that leaves its loop" {
    put_store lib/store/wrong.c 'void do_it(struct store *store) {' '    if (sql_begin(store))' \
        '        do_it(store);' '    if (sql_transact(store))' '        do_it(store);' \
        '    while (sql_transact(store)) {' '        for (;;)' '            break;' \
        '        if (sql_commit(store))' '            return;' '        break;' '    }' '}'
    lint
    local again='a transaction that cannot run again; write `while (sql_transact(store))`'
    local leaves='leaves a transaction that is open; let its body end'
    assert_equal "$(findings)" "lib/store/wrong.c:4: $again
lib/store/wrong.c:6: $again
lib/store/wrong.c:11: $again
lib/store/wrong.c:12: $leaves
lib/store/wrong.c:13: $leaves"
}

@test "a use case without a twin is found, and a twin without a use case" {
    put_store lib/store/new.c 'static int transact_it(struct store *store) {' \
        '    while (sql_transact(store))' '        do_it(store);' '    return 0;' '}' '' \
        'int store_new(struct store *store) {' '    return transact_it(store);' '}' '' \
        'int store_read(struct store *store) {' \
        '    do_it(store);' '    return 0;' '}'
    sed -i 's/{""}/{"store_old: a new one"}/' "$tree/tests/unit/twins.c"
    lint
    assert_equal "$(findings)" "lib/store/new.c:9: store_new writes, and tests/unit/twins.c has \
no case of it; add one
tests/unit/twins.c:6: store_old begins no transaction; remove it"
    sed -i 's/store_old/store_new/' "$tree/tests/unit/twins.c"
    lint
    assert_equal "$status" 0
}

@test "a lock that the list lacks is found, and one that is not taken" {
    put_store lib/store/new.c 'void do_it(struct store *store) {' \
        '    sql_lock(store, LOCK_USER);' '}'
    put tests/unlock.list '# of this tree' 'old.c do_it USER   | (none)'
    lint
    assert_equal "$(findings)" "lib/store/new.c:4: new.c do_it USER is a lock that \
tests/unlock.list lacks; add the case that fails without it
tests/unlock.list:2: old.c do_it USER is not taken; remove it"
    put tests/unlock.list 'new.c do_it USER   | (none)'
    lint
    assert_equal "$status" 0
}

@test "each construct that SQLite has alone is found" {
    local text names=0 found
    put lib/store/sql.h 'struct statement {' '    const char *sql;' '};' '' \
        'extern const struct statement all[];'
    put lib/store/shared.c '#include "store/sql.h"' '' 'const struct statement all[] = {'
    while IFS= read -r text; do
        printf '    {.sql = "%s"},\n' "${text//\"/\\\"}" >>"$tree/lib/store/shared.c"
        names=$((names + 1))
    done <<'END'
SELECT rowid FROM line
SELECT id FROM line WHERE name GLOB 'a*'
SELECT json_extract(body, '$.a') FROM message
INSERT OR IGNORE INTO line (id) VALUES (?1)
REPLACE INTO line (id) VALUES (?1)
SELECT IFNULL(name, '') FROM line
SELECT typeof(name) FROM line
SELECT datetime('now')
SELECT changes()
SELECT max(a, b) FROM line
SELECT coalesce(sum(size), 0) FROM webhook_refusal
SELECT sum(size), 1 FROM webhook_refusal
PRAGMA user_version
SELECT name FROM sqlite_schema
SELECT id FROM line ORDER BY name COLLATE NOCASE
SELECT id FROM line INDEXED BY line_account
BEGIN IMMEDIATE
SELECT id FROM line LIMIT -1 OFFSET 3
SELECT id FROM line LIMIT 1, 2
SELECT id FROM line WHERE id == ?1
UPDATE message SET body = x''
SELECT CAST(?1 AS INTEGER)
SELECT id FROM user
UPDATE user SET email = ?1
SELECT id FROM line WHERE name = "name"
SELECT id FROM `line`
SELECT coalesce(url <> '' AND code IS NOT NULL, 0) FROM webhook
SELECT id FROM line WHERE (?1 IS NULL OR id = ?1)
INSERT INTO foreign_waba (count) VALUES (1) ON CONFLICT (line_id) DO UPDATE SET count = count + 1
END
    printf '};\n' >>"$tree/lib/store/shared.c"
    make -s -C "$tree" format || [[ $(clang-format --version) != *' 14.'* ]]
    lint
    found=$(findings '^lib/store/shared.c:[0-9]*: SQL that PostgreSQL lacks or reads differently, ')
    assert_equal "$(wc -l <<<"$found")" "$names"
    while IFS= read -r text; do # each row of the table
        grep -qF "differently, $text: " <<<"$found" || fail "not found: $text"
    done < <(sed -n "/<<'END'/,/^END/{ s/.*\t//p }" "$root/tests/lint/sql")
    put lib/store/shared.c '#include "store/sql.h"' '' 'const struct statement all[] = {' \
        '    {"SELECT \"user\".id, CAST(coalesce(sum(a), 0) AS bigint), max(a) FROM line"},' '};'
    lint
    assert_equal "$(findings)" ''
}

@test "each banned function is found, with the reason and the replacement" {
    local name reason use rest n=0 expected=''
    while IFS=$'\t' read -r name reason use rest; do
        printf 'int %s(...);\nint n = %s(a, b);\n' "x_$name" "$name" >>"$tree/lib/base/call.h"
        n=$((n + 2))
        expected+="lib/base/call.h:$n: calls $name, which $reason; use $use"$'\n'
    done < <(grep -v '^#' "$tree/tests/lint/banned")
    ((n > 60))
    lint
    assert_equal "$(findings ': calls')" "${expected%$'\n'}"
}

@test "a row of the routes in another layout is found" {
    local first='    {.method = "GET", .path = "/v2/clean",' table='static const int rows[] = {'
    mkdir "$tree/cgi-bin"
    put cgi-bin/clean.c '/* clang-format off */' "/*$table" "$first" '     .guard = &guard},' \
        '};*/' '/* clang-format on */'
    lint
    assert_equal "$(findings layout)" ''
    put cgi-bin/clean.c '/* clang-format off */' "/*$table" "$first .guard = &guard}," '};*/' \
        '/* clang-format on */'
    lint
    [[ $(findings layout) == 'cgi-bin/clean.c:3: a row of the routes in another layout; '* ]]
    [[ $(findings layout) == *' `{.method = "GET", .path = "/v2/...",`, between '* ]]
}

@test "a banned name in a comment, a text, a member or a longer name is not a call of it" {
    put lib/base/call.h '/* strcpy(a, b) */' '/* In a comment of two lines' ' * strcpy(a, b) */' \
        'extern int *my_strcpy(char *);' '#define CALL "strcpy(a, b)"' "#define QUOTE '\"'" \
        '#define SIGNAL signal(SIGPIPE, SIG_IGN)' '#define ARROW a->system(b)' \
        '#define SCAN sscanf(text, "%*s %31s %7[a-z]", a, b)' '#define AFTER "\"" /* " */ system(b)'
    lint
    assert_equal "$(findings ': calls')" 'lib/base/call.h:10: calls system, which starts a shell; '\
'use posix_spawn or execve with a list of arguments'
}

@test "warnings of gcc and of clang are found, again until they are corrected" {
    local expected="lib/base/gcc.c:1: gcc: ‘static’ is not at beginning of declaration \
[-Wold-style-declaration]
lib/base/self.c:2: clang: explicitly assigning value of variable of type 'int' to itself \
[-Wself-assign]"
    put lib/base/gcc.c 'const static int number = 1;' 'int get(void) {' '    return number;' '}'
    put lib/base/self.c 'int same(int number) {' '    number = number;' '    return number;' '}'
    lint
    assert_equal "$(findings)" "$expected"
    lint
    assert_equal "$(findings)" "$expected"
    sed -i 's/const static/static const/' "$tree/lib/base/gcc.c"
    lint
    assert_finding "${expected#*$'\n'}"
}

@test "code that does not compile is found once a header changes" {
    lint
    assert_equal "$status" 0
    put lib/base/clean.h '/* Clean. */' 'int clean(long number);'
    lint
    assert_equal "$(findings)" 'lib/base/clean.c:3: clang: conflicting types for '\''clean'\''
lib/base/clean.c:3: gcc: conflicting types for ‘clean’; have ‘int(int)’'
}

@test "words that plain English does without are found in comments, documents and titles of tests" {
    put lib/base/word.h '/* The row of nobody. */'
    put tests/word.bats '@test "Nobody is asked" {' '    echo nobody' '}'
    put README.md 'What whoever-is-there gets.' 'Newsletters are retold.'
    lint
    assert_equal "$(findings)" "README.md:1: the word \"whoever\"; write the party that is meant: \
the program that, the user who
lib/base/word.h:1: $of_nobody
tests/word.bats:1: $of_nobody"
}

@test "what shellcheck warns of is found, and a shellcheck that cannot run is no clean tree" {
    put tools/unsafe '#!/bin/bash' 'cd "$1"'
    lint
    assert_finding "tools/unsafe:2: shellcheck: \
Use 'cd ... || exit' or 'cd ... || return' in case cd fails. [SC2164]"
    put tools/unsafe '#!/bin/bash' 'cd "$1" || exit'
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nexit 127\n' >"$BATS_TEST_TMPDIR/bin/shellcheck"
    chmod +x "$BATS_TEST_TMPDIR/bin/shellcheck"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH lint
    assert_equal "$status" 2
    [[ $output == *'shellcheck cannot check tools/unsafe'* ]] || fail "$output"
}

@test "a syntax error is found in a script and in a module, and a node that cannot run is no clean tree" {
    put tools/script.js 'const a = 1;' 'const a = 2;'
    lint
    assert_finding "tools/script.js:2: node: SyntaxError: Identifier 'a' has already been declared"
    put tools/script.js "import {a} from './a.js';" 'a(;'
    lint
    assert_finding "tools/script.js:2: node: SyntaxError: Unexpected token ';'"
    put tools/script.js "import {a} from './a.js';" 'a();'
    lint
    assert_equal "$status" 0
    put tools/script.js 'a();'
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\necho no node >&2\nexit 127\n' >"$BATS_TEST_TMPDIR/bin/node"
    chmod +x "$BATS_TEST_TMPDIR/bin/node"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH lint
    assert_finding 'tools/script.js:1: node: no node'
}

@test "an exemption leaves a line out, and one that no line needs is found" {
    put lib/base/word.h '/* The row of nobody. */'
    put tests/lint/exempt $'word\tlib/base/word.h\tof nobody\ta reason' \
        $'long\tlib/base/\t-\ta reason'
    lint
    assert_finding 'tests/lint/exempt:2: lib/base/ needs no exemption from `long`; remove the line'
}

@test "the files are those of git: not built ones, and new ones too" {
    git -C "$tree" init -q
    put .gitignore '/build/' '/made.c'
    put made.c '/* nobody */'
    put new.c '/* nobody */'
    lint
    assert_finding "new.c:1: $of_nobody"
}

@test "make test does not run the suite while lint has findings" {
    put lib/base/word.h '/* The row of nobody. */'
    run make -s -C "$tree" test
    assert_equal "$status" 2
    output=${output#'lint: not checked: the form of C '*$'\n'}
    [[ $output == "lib/base/word.h:1: $of_nobody"$'\nlint: 1 findings\n'* ]] || fail "$output"
    [[ $output == *$'\ntest: the suite did not run: correct what lint found\n'* ]] || fail "$output"
    [[ $output != *'the suite'$'\n'* ]]
}

@test "a second make lint of a checkout waits for the first" {
    local format bin=$BATS_TEST_TMPDIR/bin
    format=$(command -v clang-format)
    mkdir "$bin"
    # the first one waits two seconds for the second
    cat >"$bin/clang-format" <<END
#!/bin/bash
cd '$bin' || exit
if mkdir first 2>/dev/null; then
    for ((i = 0; i < 40; i++)); do
        [[ ! -e second ]] || break
        sleep 0.05
    done
    rmdir first
else
    mkdir second
fi
cd '$tree' && exec $format "\$@"
END
    chmod +x "$bin/clang-format"
    PATH=$bin:$PATH make -s -C "$tree" lint >"$BATS_TEST_TMPDIR/other" 2>&1 3>&- &
    PATH=$bin:$PATH lint
    wait
    assert_equal "$status" 0
    grep -q '^lint: no findings' "$BATS_TEST_TMPDIR/other"
    [[ ! -e $bin/second ]] || fail 'both ran at the same time'
}
