#!/usr/bin/env bats
# The form of the write transactions of lib/store: each can be repeated as a whole (sql.h).
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

# Prints FILE:LINE of what breaks the form of a write transaction, with the line.
wrong_transactions() { # FILE...
    awk '
        function indent(line) { match(line, /^ */); return RLENGTH }
        FNR == 1 { loop = nested = -1 }
        /^ *$/ { next }
        loop >= 0 && indent($0) <= loop { loop = nested = -1 }
        nested >= 0 && indent($0) <= nested { nested = -1 }
        { wrong = 0 }
        /(^|[^a-z_])sql_(begin|commit)\(/ { wrong = 1 }
        /sql_transact\(/ &&
            !/^ *while \(sql_transact\(store\)\)( \{)?$/ { wrong = 1 }
        loop >= 0 && /(^|[^a-z_])(return|goto)([^a-z_]|$)/ { wrong = 1 }
        loop >= 0 && nested < 0 && /(^|[^a-z_])break;/ { wrong = 1 }
        wrong { print FILENAME ":" FNR ": " $0 }
        loop >= 0 && nested < 0 && /^ *(for|while|switch|do) / { nested = indent($0) }
        /^ *while \(sql_transact\(/ { loop = indent($0) }' "$@"
}

@test "every write transaction of the store is the body of a loop, which can run again" {
    local file files=()
    for file in lib/{engine,store,store/*}/*.c; do
        case $file in
        # the functions themselves, and the migration of a file
        lib/engine/driver.c | lib/engine/sqlite_migrate.c) ;;
        *) files+=("$file") ;;
        esac
    done
    (($(cat "${files[@]}" | grep -c 'while (sql_transact(store))') >= 40))
    run wrong_transactions "${files[@]}"
    [[ -z $output ]] || { echo "not repeatable: $output"; false; }
}

@test "the search finds a transaction that is not repeated, and a body that leaves its loop" {
    cat >"$BATS_TEST_TMPDIR/wrong.c" <<'END'
static void f(void) {
    if (sql_begin(store))
        sql_run(store, &s);
    if (sql_transact(store))
        sql_run(store, &s);
    while (sql_transact(store)) {
        for (;;)
            break;
        if (failed)
            return;
        break;
    }
    return sql_commit(store);
}
END
    run wrong_transactions "$BATS_TEST_TMPDIR/wrong.c"
    run sed 's/.*wrong.c:\([0-9]*\):.*/\1/' <<<"$output"
    [[ $output == $'2\n4\n10\n11\n13' ]] || { echo "$output"; false; }
}
