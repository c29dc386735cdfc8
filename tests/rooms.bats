#!/usr/bin/env bats
# The directories of the code and what each may include: tests/lint/rooms.bash.
# transports: direct
load helpers/all
load lint/rooms

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    cd "$root"
}

@test "every include is of the same directory or one below" {
    (($(includes | wc -l) > 300))
    assert_equal "$(includes | climbing)" ''
    local up='lib/base/log.c lib/store/store.h'
    assert_equal "$(climbing <<<"$up")" "$up"
}

@test "there is no include cycle" {
    assert_equal "$(includes | circles)" ''
    local circle='lib/a.c lib/b.h
lib/b.c lib/a.h'
    assert_equal "$(circles <<<"$circle" | grep -c 'lib/[ab]$')" 2
}

@test "no two files have the same name" {
    assert_equal "$(sources | sed 's|.*/||' | sort | uniq -d)" ''
    assert_equal "$(find lib -maxdepth 1 -type f)" ''
}

# The files with a line that matches PATTERN: files_with PATTERN
files_with() {
    sources | xargs grep -lE -- "$1" | sort | xargs
}

@test "only the SQLite driver uses SQLite, and only the store uses SQL" {
    local files='lib/store/migrate.c lib/store/sqlite.c lib/store/sqlite_upkeep.c'
    assert_equal "$(files_with '#include [<"]sqlite3\.h')" lib/store/sqlite.h
    assert_equal "$(files_with '#include "store/(sqlite|copy)\.h"')" "lib/store/copy.h $files"
    assert_equal "$(files_with '\bsqlite3_[a-z0-9_]+\(|\bSQLITE_')" "$files"
    assert_equal \
        "$(files_with '#include "store/(sql|driver)\.h"' | xargs -n 1 | grep -v ^lib/store/)" ''
}

# A URL may hold a password: it is passed to these functions only.
@test "the target of the database is never printed" {
    local called='(store_[a-z_]+|target_(file|name)|strcmp)\([^()]*(->|\.)database\b[^()]*\)'
    sources | xargs grep -HE '\b(config|[ab])(->|\.)database\b' >"$BATS_TEST_TMPDIR/uses"
    (($(grep -cE "$called" "$BATS_TEST_TMPDIR/uses") >= 15))
    grep -vE "$called" "$BATS_TEST_TMPDIR/uses" >"$BATS_TEST_TMPDIR/others" || true
    assert_equal "$(cat "$BATS_TEST_TMPDIR/others")" ''
}

# The functions of upstream.h release the locks of a request before they call the platform.
@test "requests call the platform through upstream.c, and take views of the database through state.c" {
    assert_equal "$(grep -lE '\bgraph_(call|upload|download)\(' lib/api/*.c cgi-bin/*.c)" lib/api/upstream.c
    assert_equal "$(grep -lE '\bstore_(hold|release)_view\(' lib/api/*.c cgi-bin/*.c)" lib/api/state.c
}
