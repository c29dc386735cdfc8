# shellcheck shell=bash
# The directories of the code (doc/development.md) and what each may include. tests/lint/run
# sources this file, in the project's directory.

# A directory and the directories that it may include, in addition to itself.
rooms='base
engine base
web base
store base engine store/inbox store/login
store/count base engine store
store/outgoing base engine store store/event store/count
store/inbox base engine store store/count store/outgoing
store/login base engine store
store/event base engine store store/count
store/life base engine store store/inbox store/event store/outgoing
store/ingest base engine store store/inbox store/event store/count store/outgoing
store/move base engine store
graph base
setup base store graph
payload base web store
api base web store graph payload delivery archive
delivery base store
archive base store graph delivery
sending base store graph payload delivery
cgi-bin base web store graph setup payload api delivery
tools base web store graph setup payload delivery sending archive
sandbox base sandbox/text sandbox/wire sandbox/state sandbox/webhooks sandbox/nodes sandbox/control
sandbox/text base
sandbox/wire base sandbox/text
sandbox/state base sandbox/text sandbox/wire
sandbox/judge base sandbox/text sandbox/wire sandbox/state
sandbox/webhooks base sandbox/text sandbox/wire sandbox/state sandbox/judge
sandbox/nodes base sandbox/text sandbox/wire sandbox/state sandbox/judge sandbox/webhooks
sandbox/control base sandbox/text sandbox/wire sandbox/state sandbox/webhooks sandbox/nodes'

# The headers of lib/base that the sandbox may include (tools/sandbox/state/sandbox.h): what reads
# or judges a request of the gateway is its own code, so that the tests find an error of either.
shared='arena.h buffer.h clock.h crypto.h process/manual.h process/program.h slice.h utf8.h
    write_all.h'

# The directories in which no files may call each other in a circle: EXTENDED REGULAR EXPRESSION.
uncircled='^(lib|tools/sandbox)/'

# The most C files in a directory; one with more is divided, by nouns.
most_files=60

sources() {
    local directory
    for directory in lib cgi-bin tools; do
        [[ ! -d $directory ]] || find "$directory" -name '*.[ch]'
    done
}

# Lines `FILE INCLUDED LINE`, both as paths, with the number of the line in FILE.
includes() {
    sources | xargs -r awk -F '"' '/^#include "/ { print FILENAME, $2, FNR }' |
        while read -r file included line; do
            if [[ -e lib/$included ]]; then
                printf '%s lib/%s %s\n' "$file" "$included" "$line"
            elif [[ $file == tools/sandbox/* ]]; then
                printf '%s tools/sandbox/%s %s\n' "$file" "$included" "$line"
            else
                printf '%s %s/%s %s\n' "$file" "$(dirname "$file")" "$included" "$line"
            fi
        done
}

# Prints a finding for each line of standard input whose include the tables do not allow.
climbing() {
    awk -v rooms="$rooms" -v shared="$shared" '
        function room(path, part, n) {
            n = split(path, part, "/")
            if (part[2] ~ /^(sandbox|store)$/ && n > 3)
                return part[2] "/" part[3]
            return part[part[1] == "lib" || part[2] == "sandbox" ? 2 : 1]
        }
        BEGIN {
            n = split(rooms, row, "\n")
            for (i = 1; i <= n; i++) {
                m = split(row[i], name, " ")
                for (j = 1; j <= m; j++)
                    allowed[name[1], name[j]] = 1
            }
            n = split(shared, name, " ")
            for (i = 1; i <= n; i++)
                is_shared["lib/base/" name[i]] = 1
        }
        !((room($1), room($2)) in allowed) {
            print $1 ":" $3 ": includes " $2 ", which is not below it; move the code " \
                "(tests/lint/rooms.bash lists the order)"
        }
        $1 ~ /^tools\/sandbox\// && $2 ~ /^lib\/base\// && !($2 in is_shared) {
            print $1 ":" $3 ": includes " $2 ", which the sandbox does not share; write what it " \
                "needs (tests/lint/rooms.bash lists the others)"
        }'
}

# Prints lines `FILE OTHER`: the first C file uses functions or data of the other.
calls() { # REPORTS C FILE...
    local reports=$1 objects=() file
    shift
    for file; do
        [[ ! -e $reports/$file.o ]] || objects+=("$file.o") # without one it does not compile
    done
    ((${#objects[@]} == 0)) || (cd "$reports" && nm -A "${objects[@]}") | awk '
        { file = $1; sub(/\.o:.*/, "", file); kind = $(NF - 1); name = $NF }
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

# Prints a finding for each function or data of lib that two C files define: a program would get the
# one that the linker meets first.
doubled() { # REPORTS C FILE...
    local reports=$1 file
    shift
    for file; do
        [[ ! -e $reports/$file.o ]] || printf '%s.o\0' "$file"
    done | (cd "$reports" && LC_ALL=C sort -z | xargs -0 -r nm -A --defined-only -g) | awk '
        { file = $1; sub(/\.o:.*/, "", file); name = $NF }
        name in home { print file ":1: defines " name ", as " home[name] " does; rename one" }
        { home[name] = file }'
}

# Prints a finding for each circle in the pairs of files of standard input. A source and its header
# count as one file, also if the source of a header of lib/store is in a room of it: circles VERB
circles() {
    sed -E 's/\.[ch]\b//g; s|\b(lib/store)/[a-z]+/|\1/|g' |
        awk '$1 != $2 { print $1, $2 }' | sort -u |
        { tsort >/dev/null || true; } 2>&1 | awk -v verb="$1" '
            function finding() {
                if (circle != "")
                    print first ".c:1: " verb " each other in a circle:" circle "; move the code"
                circle = ""
            }
            /loop:$/ { finding(); next }
            { if (circle == "") first = $2; circle = circle " " $2 }
            END { finding() }'
}

# Prints a finding for each file that has the name of another one, and each in no directory of lib.
misnamed() {
    sources | sort | awk -F / '
        $NF in first { print $0 ":1: has the name of " first[$NF] "; rename one" }
        { first[$NF] = $0 }
        /^lib\/[^\/]*$/ { print $0 ":1: is in no directory of lib; move it" }'
}

# Prints a finding for each directory with too many files, at the first of them.
crowded() {
    { sources && find tests -name '*.[ch]'; } | sort | awk -v most="$most_files" '
        { directory = $0; sub(/\/[^\/]*$/, "", directory) }
        !(directory in first) { first[directory] = $0 }
        { number[directory]++ }
        END {
            for (directory in number)
                if (number[directory] > most)
                    print first[directory] ":1: " directory " has " number[directory] \
                        " C files, more than " most "; divide it by nouns"
        }'
}

# Prints the findings of the table `only`.
confined_uses() {
    local table=tests/lint/only number=0 where pattern files unless what found file
    while IFS=$'\t' read -r where pattern files unless what; do
        ((++number))
        [[ $where && $where != '#'* ]] || continue
        found=$(sources | grep -E "$where" | xargs -r grep -HnE -- "$pattern")
        if [[ $unless != - ]]; then
            grep -qE "$unless" <<<"$found" ||
                printf '%s:%d: no line matches UNLESS; correct it\n' "$table" "$number"
            found=$(grep -vE "$unless" <<<"$found")
        fi
        for file in ${files#-}; do
            grep -q "^$file" <<<"$found" ||
                printf '%s:%d: %s needs no entry; remove it\n' "$table" "$number" "$file"
            found=$(grep -v "^$file" <<<"$found")
        done
        [[ -z $found ]] || sed "s|^\([^:]*:[0-9]*\):.*|\1: $what|" <<<"$found"
    done <"$table"
}

# Prints a finding for each line of lib/engine whose SQL has the name of a table of schema.sql. What
# the engine needs of a table is in lib/engine/schema.h as data. postgresql_target.c has no SQL, and
# an option of libpq named `user`.
named_tables() {
    local names
    names=$(sed -nE 's/^CREATE TABLE "?([a-z_]+).*/\1/p' schema.sql 2>/dev/null | paste -s -d '|')
    [[ $names ]] || return 0
    { sources | grep '^lib/engine/' | grep -v /postgresql_target.c | LC_ALL=C sort |
        xargs -r grep -HnE \
        "[\"']($names)[\"']|\"[^\"]*(FROM|INTO|UPDATE|JOIN|TABLE|check) ?[\\\"(]*($names)\\b" ||
        true; } |
        { grep -vE '^[^:]*:[0-9]*: */?\*' || true; } |
        sed -E 's|^([^:]*:[0-9]*):.*|\1: names a table; say it in lib/store/move/schema_tables.c|'
}

check_rooms() { # REPORTS
    local files
    includes | climbing && includes | circles include || return 1
    misnamed && crowded && named_tables || return 1
    mapfile -t files < <(sources | grep -E "$uncircled" | grep '\.c$')
    calls "$1" "${files[@]}" | circles call || return 1
    doubled "$1" "${files[@]/#tools*/}" || return 1
    confined_uses
}
