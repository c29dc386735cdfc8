#!/usr/bin/env bats
# The directories of the code (README, "How it is made") and what each may include. The sandbox is separate.
# transports: direct
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    cd "$root"
}

# A directory and the directories that it may include besides itself.
rooms='base
web base
store base
graph base
payload base web store
api base web store graph payload
delivery base store
cgi-bin base web store graph payload api delivery
tools base web store graph payload delivery'

sources() {
    find lib cgi-bin tools -name '*.[ch]' -not -path 'tools/sandbox/*'
}

# Lines `FILE INCLUDED`, both as paths.
includes() {
    sources | xargs grep -H '^#include "' | sed 's/^\([^:]*\):#include "\(.*\)"$/\1 \2/' |
        while read -r file included; do
            if [[ -e lib/$included ]]; then
                printf '%s lib/%s\n' "$file" "$included"
            else
                printf '%s %s/%s\n' "$file" "$(dirname "$file")" "$included"
            fi
        done
}

# Prints the lines of standard input whose include the table does not allow.
climbing() {
    awk -v rooms="$rooms" '
        function room(path, part) { split(path, part, "/"); return part[part[1] == "lib" ? 2 : 1] }
        BEGIN {
            n = split(rooms, row, "\n")
            for (i = 1; i <= n; i++) {
                m = split(row[i], name, " ")
                for (j = 1; j <= m; j++)
                    allowed[name[1], name[j]] = 1
            }
        }
        !((room($1), room($2)) in allowed)'
}

# Prints the files of an include cycle of standard input, if any; a source and its header count as one.
circles() {
    sed 's/\.[ch]\b//g' | awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null || true
}

@test "every include is of the same directory or one below" {
    (($(includes | wc -l) > 300))
    assert_equal "$(includes | climbing)" ''
    assert_equal "$(echo lib/base/log.c lib/store/store.h | climbing)" 'lib/base/log.c lib/store/store.h'
}

@test "there is no include cycle" {
    assert_equal "$(includes | circles)" ''
    assert_equal "$(printf '%s\n' 'lib/a.c lib/b.h' 'lib/b.c lib/a.h' | circles | grep -c 'lib/[ab]$')" 2
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
