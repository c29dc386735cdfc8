# shellcheck shell=bash
# The directories of the code (doc/development.md) and what each may include. tests/lint/run and
# tests/rooms.bats source this file, in the project's directory.

# A directory and the directories that it may include besides itself.
rooms='base
web base
store base
graph base
payload base web store
api base web store graph payload delivery
delivery base store
cgi-bin base web store graph payload api delivery
tools base web store graph payload delivery
sandbox base'

sources() {
    find lib cgi-bin tools -name '*.[ch]' 2>/dev/null
}

# Lines `FILE INCLUDED LINE`, both as paths, with the number of the line in FILE.
includes() {
    sources | xargs -r grep -Hn '^#include "' |
        sed 's/^\([^:]*\):\([0-9]*\):#include "\(.*\)"$/\1 \3 \2/' |
        while read -r file included line; do
            if [[ -e lib/$included ]]; then
                printf '%s lib/%s %s\n' "$file" "$included" "$line"
            else
                printf '%s %s/%s %s\n' "$file" "$(dirname "$file")" "$included" "$line"
            fi
        done
}

# Prints the lines of standard input whose include the table does not allow.
climbing() {
    awk -v rooms="$rooms" '
        function room(path, part) {
            split(path, part, "/")
            return part[part[1] == "lib" || part[2] == "sandbox" ? 2 : 1]
        }
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

# Prints the files of an include cycle of standard input, if any. A source and its header count as
# one file.
circles() {
    sed 's/\.[ch]\b//g' | awk '$1 != $2 { print $1, $2 }' | sort -u |
        { tsort >/dev/null || true; } 2>&1
}
