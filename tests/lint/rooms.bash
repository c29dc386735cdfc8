# shellcheck shell=bash
# The directories of the code (doc/development.md) and what each may include. tests/lint/run and
# tests/rooms.bats source this file, in the project's directory.

# A directory and the directories that it may include besides itself.
rooms='base
engine base
web base
store base engine store/inbox
store/inbox base engine store
store/event base engine store
store/ingest base engine store store/inbox store/event
store/move base engine store
graph base
payload base web store
api base web store graph payload delivery
delivery base store
cgi-bin base web store graph payload api delivery
tools base web store graph payload delivery
sandbox base sandbox/text sandbox/wire sandbox/state sandbox/webhooks sandbox/nodes sandbox/control
sandbox/text base
sandbox/wire base sandbox/text
sandbox/state base sandbox/text sandbox/wire
sandbox/judge base sandbox/text sandbox/wire sandbox/state
sandbox/webhooks base sandbox/text sandbox/wire sandbox/state sandbox/judge
sandbox/nodes base sandbox/text sandbox/wire sandbox/state sandbox/judge sandbox/webhooks
sandbox/control base sandbox/text sandbox/wire sandbox/state sandbox/webhooks sandbox/nodes'

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
            elif [[ $file == tools/sandbox/* ]]; then
                printf '%s tools/sandbox/%s %s\n' "$file" "$included" "$line"
            else
                printf '%s %s/%s %s\n' "$file" "$(dirname "$file")" "$included" "$line"
            fi
        done
}

# Prints the lines of standard input whose include the table does not allow.
climbing() {
    awk -v rooms="$rooms" '
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
        }
        !((room($1), room($2)) in allowed)'
}

# Prints the files of an include cycle of standard input, if any. A source and its header count as
# one file.
circles() {
    sed 's/\.[ch]\b//g' | awk '$1 != $2 { print $1, $2 }' | sort -u |
        { tsort >/dev/null || true; } 2>&1
}
