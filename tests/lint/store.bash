# shellcheck shell=bash
# The transactions and the locks of lib/engine and lib/store, and the tests that each needs.
# tests/lint/run sources this file, in the project's directory.

# Prints a finding for each line that breaks the form of a write transaction, which can be repeated
# as a whole (sql.h).
wrong_transactions() { # C FILE...
    awk '
        function indent(line) { match(line, /^ */); return RLENGTH }
        FNR == 1 { loop = nested = -1 }
        /^ *$/ { next }
        loop >= 0 && indent($0) <= loop { loop = nested = -1 }
        nested >= 0 && indent($0) <= nested { nested = -1 }
        { wrong = "" }
        /(^|[^a-z_])sql_(begin|commit)\(/ ||
            (/sql_transact\(/ && !/^ *while \(sql_transact\(store\)\)( \{)?$/) {
            wrong = "a transaction that cannot run again; write `while (sql_transact(store))`"
        }
        loop >= 0 &&
            (/(^|[^a-z_])(return|goto)([^a-z_]|$)/ ||
                (nested < 0 && /(^|[^a-z_])break;/)) {
            wrong = "leaves a transaction that is open; let its body end"
        }
        wrong { print FILENAME ":" FNR ": " wrong }
        loop >= 0 && nested < 0 && /^ *(for|while|switch|do) / { nested = indent($0) }
        /^ *while \(sql_transact\(/ { loop = indent($0) }' "$@"
}

# Prints the functions store_* of C files that begin a transaction, themselves or by a function that
# they call, as lines `NAME FILE:LINE`.
use_cases() { # C FILE...
    awk '
        # a definition begins at the first column, where its body ends too
        /^[a-z].*[a-z_0-9]+\(/ && !/;$/ {
            match($0, /[a-z_0-9]+\(/)
            name = substr($0, RSTART, RLENGTH - 1)
            place[name] = FILENAME ":" FNR
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
                    print name, place[name]
        }' "$@" | LC_ALL=C sort
}

# Prints the names in the table of cases of tests/unit/twins.c, as lines `NAME FILE:LINE`.
twins() {
    awk '
        /^static const struct twins cases/ { in_table = 1 }
        /^};/ { in_table = 0 }
        in_table {
            while (match($0, /store_[a-z_]*/)) {
                print substr($0, RSTART, RLENGTH), FILENAME ":" FNR
                $0 = substr($0, RSTART + RLENGTH)
            }
        }' tests/unit/twins.c | LC_ALL=C sort -u -k 1,1
}

# Prints the locks that C files take, as lines `NAME<tab>FILE:LINE`: NAME as in tests/unlock. A
# definition begins at the first column. The lock of contact_lock() is that of its callers.
locks() { # C FILE...
    awk '
        /^[a-z].*[a-z_0-9]+\(/ && !/;$/ {
            match($0, /[a-z_0-9]+\(/)
            name = substr($0, RSTART, RLENGTH - 1)
        }
        /^[^a-z].*(sql_lock|sql_start_locking|sql_try_lock|sql_wait_for_locks|contact_lock)\(/ &&
            name != "contact_lock" {
            kind = "CONTACT"
            if (/wait_for_locks/)
                kind = "WAIT"
            else if (match($0, /LOCK_[A-Z]+/))
                kind = substr($0, RSTART + 5, RLENGTH - 5)
            file = FILENAME
            sub(/.*\//, "", file)
            print file " " name " " kind "\t" FILENAME ":" FNR
        }' "$@" | LC_ALL=C sort -u -t $'\t' -k 1,1
}

# Prints the names of tests/unlock.list, as lines `NAME<tab>FILE:LINE`.
listed_locks() {
    awk '/^[^#|]*\|/ { sub(/ *\|.*/, ""); print $0 "\t" FILENAME ":" FNR }' tests/unlock.list |
        LC_ALL=C sort
}

# Prints a finding for each name of the first file that the second one lacks; both are lines
# `NAME<separator>FILE:LINE`, sorted: lacking SEPARATOR FILE FILE WHAT
lacking() {
    LC_ALL=C join -t "$1" -v 1 "$2" "$3" |
        awk -F "$1" -v what="$4" '{ print $2 ": " $1 " " what }'
}

check_store() {
    local files repeatable
    mapfile -t files < <(sources | grep -E '^lib/(engine|store)/.*\.c$' | LC_ALL=C sort)
    # without the functions themselves, and the migration of a file
    mapfile -t repeatable < <(printf '%s\n' "${files[@]}" |
        grep -vxE 'lib/engine/(driver|sqlite_migrate)\.c')
    wrong_transactions /dev/null "${repeatable[@]}"
    files+=(/dev/null)
    lacking ' ' <(use_cases "${files[@]}") <(twins) \
        'writes, and tests/unit/twins.c has no case of it; add one'
    lacking ' ' <(twins) <(use_cases "${files[@]}") 'begins no transaction; remove it'
    lacking $'\t' <(locks "${files[@]}") <(listed_locks) \
        'is a lock that tests/unlock.list lacks; add the case that fails without it'
    lacking $'\t' <(listed_locks) <(locks "${files[@]}") 'is not taken; remove it'
}
