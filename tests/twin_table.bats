#!/usr/bin/env bats
# The unit test tests/unit/twins.c has a case for each use-case of the store that writes.
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

# Prints the functions store_* of C files that begin a transaction, themselves or by a function that
# they call: use_cases FILE...
use_cases() {
    awk '
        # a definition begins at the first column, where its body ends too
        /^[a-z].*[a-z_0-9]+\(/ && !/;$/ {
            match($0, /[a-z_0-9]+\(/)
            name = substr($0, RSTART, RLENGTH - 1)
            next
        }
        /^}/ { name = "" }
        name {
            rest = $0
            while (match(rest, /[a-z_0-9]+\(/)) {
                called = substr(rest, RSTART, RLENGTH - 1)
                calls[name] = calls[name] " " called " "
                rest = substr(rest, RSTART + RLENGTH)
            }
        }
        END {
            writes["sql_transact"]
            for (more = 1; more;) {
                more = 0
                for (name in calls) {
                    n = split(calls[name], part, " ")
                    for (i = 1; i <= n && !(name in writes); i++)
                        if (part[i] in writes) {
                            writes[name]
                            more = 1
                        }
                }
            }
            for (name in writes)
                if (name ~ /^store_/)
                    print name
        }' "$@" | sort
}

# Prints the use-cases that the table of cases names.
tested() {
    sed -n '/^static const struct twins cases/,/^};/p' tests/unit/twins.c |
        grep -o 'store_[a-z_]*' |
        sort -u
}

@test "each use-case of the store that writes is made by twins" {
    use_cases lib/{engine,store,store/*}/*.c >"$BATS_TEST_TMPDIR/all"
    (($(wc -l <"$BATS_TEST_TMPDIR/all") >= 50))
    tested >"$BATS_TEST_TMPDIR/tested"
    assert_equal "$(comm -23 "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/tested")" ''
}

@test "each name in the table of twins is that of such a use-case" {
    use_cases lib/{engine,store,store/*}/*.c >"$BATS_TEST_TMPDIR/all"
    assert_equal "$(comm -13 "$BATS_TEST_TMPDIR/all" <(tested))" ''
}

@test "a use-case that begins its transaction in another function is found" {
    cat >"$BATS_TEST_TMPDIR/new.c" <<'END'
static bool transact_it(struct store *store) {
    return sql_transact(store);
}

enum store_result store_new(struct store *store,
                            int64_t now) {
    while (transact_it(store))
        write_it(store, now);
    return sql_result(store);
}

enum store_result store_read(struct store *store) {
    return sql_result(store);
}
END
    assert_equal "$(use_cases "$BATS_TEST_TMPDIR/new.c")" store_new
}
