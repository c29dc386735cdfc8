#!/usr/bin/env bats
# The directories of the code and what each may include (tests/lint/rooms.bash), and what the
# sandbox shares with the gateway.
# transports: direct
# SQLite only: it uses no database
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

# The headers of lib/base that the sandbox may include (tools/sandbox/state/sandbox.h): what reads
# or judges a request of the gateway is its own code, so that the tests find an error of either.
shared='arena.h buffer.h clock.h crypto.h slice.h utf8.h write_all.h'

# Prints the lines of standard input in which the sandbox includes a header of lib that it does not
# share.
unshared() {
    awk -v shared="$shared" '
        BEGIN {
            n = split(shared, name, " ")
            for (i = 1; i <= n; i++)
                allowed["lib/base/" name[i]] = 1
        }
        $1 ~ /^tools\/sandbox\// && $2 ~ /^lib\// && !($2 in allowed)'
}

# Lines `OBJECT OTHER`: two of the given object files; the first uses functions or data of the
# other.
calls() {
    nm -A "$@" | awk '
        { file = $1; sub(/:.*/, "", file); sub(/.*\//, "", file); kind = $(NF - 1); name = $NF }
        kind ~ /^[TDBRC]$/ { home[name] = file }
        kind == "U" { uses[file, name] = 1 }
        END {
            for (pair in uses) {
                split(pair, part, SUBSEP)
                if (part[2] in home)
                    print part[1], home[part[2]]
            }
        }'
}

@test "every include is of the same directory or one below" {
    (($(includes | wc -l) > 300))
    assert_equal "$(includes | climbing)" ''
    local up
    for up in 'lib/base/log.c lib/store/store.h' 'tools/sandbox/a.c lib/web/reply.h' \
        'tools/sandbox/state/a.c tools/sandbox/judge/b.h'; do
        assert_equal "$(climbing <<<"$up")" "$up"
    done
}

@test "the sandbox shares plumbing with the gateway, not the reading of requests" {
    (($(includes | grep -c '^tools/sandbox/.* lib/base/') > 30))
    assert_equal "$(includes | unshared)" ''
    wrong='tools/sandbox/a.c lib/base/json.h'
    assert_equal "$(echo "$wrong" | unshared)" "$wrong"
    # webhooks are signed by libsodium directly, and no text is sealed by lib/base
    assert_equal "$(grep -rl crypto_hmac_ tools/sandbox)" ''
}

@test "there is no include cycle" {
    assert_equal "$(includes | circles)" ''
    local circle='lib/a.c lib/b.h
lib/b.c lib/a.h'
    assert_equal "$(circles <<<"$circle" | grep -c 'lib/[ab]$')" 2
}

@test "the files of the sandbox do not call each other in a circle" {
    for file in tools/sandbox/{*,*/*}.c; do
        objects+=("$(dirname "$HELPERS")/${file%.c}.o")
    done
    (($(calls "${objects[@]}" | wc -l) > 200))
    assert_equal "$(calls "${objects[@]}" | sed 's/\.o//g' | circles)" ''
    calls "${objects[@]}" | grep -qx 'exchange.o memory.o'
}

@test "no two files have the same name" {
    assert_equal "$(sources | sed 's|.*/||' | sort | uniq -d)" ''
    assert_equal "$(find lib -maxdepth 1 -type f)" ''
}

# The files with a line that matches PATTERN: files_with PATTERN
files_with() {
    sources | xargs grep -lE -- "$1" | sort | xargs
}

@test "only the SQLite driver uses SQLite" {
    local files='lib/engine/sqlite.c lib/engine/sqlite_migrate.c lib/engine/sqlite_moving.c'
    local part=lib/engine/sqlite_part.c
    files+=' lib/engine/sqlite_triggers.c lib/engine/sqlite_upkeep.c lib/engine/sqlite_wal.c'
    assert_equal "$(files_with '#include [<"]sqlite3\.h')" "lib/engine/sqlite.h $part"
    assert_equal "$(files_with '#include "engine/(sqlite|copy)\.h"')" "lib/engine/copy.h $files"
    assert_equal "$(files_with '\bsqlite3_[a-z0-9_]+\(|\bSQLITE_' | sed "s|$part ||")" "$files"
}

# A URL may hold a password: it is passed to these functions only, or chosen instead of that of the
# reader.
@test "the target of the database is never printed" {
    local called='(store_[a-z_]+|target_(file|name)|strcmp)\([^()]*(->|\.)database\b[^()]*\)'
    sources | xargs grep -HE '\b(config|[ab])(->|\.)database\b' >"$BATS_TEST_TMPDIR/uses"
    (($(grep -cE "$called" "$BATS_TEST_TMPDIR/uses") >= 15))
    grep -vE "$called|[?:] (rq->)?config->database( : (rq->)?config->reader)?;" \
        "$BATS_TEST_TMPDIR/uses" >"$BATS_TEST_TMPDIR/others" || true
    assert_equal "$(cat "$BATS_TEST_TMPDIR/others")" ''
}

# The functions of upstream.h release the locks of a request before they call the platform.
@test "requests call the platform through upstream.c, and view the database through state.c" {
    assert_equal "$(files_with '\bgraph_(call|relay|upload|download)\(' | xargs -n 1 |
        grep -E '^(lib/api|cgi-bin)/')" lib/api/upstream.c
    assert_equal "$(files_with '\bstore_(hold|release)_view\(' | xargs -n 1 |
        grep -E '^(lib/api|cgi-bin)/')" lib/api/state.c
}
