# shellcheck shell=bash
# The commands and programs of a document: `load helpers/document` after helpers/all. A block is a
# run of lines that are indented by four, or those between two lines ```; its name is the word after
# the first ``` that follows the language, else its first line. tests/documents.bats compares the
# blocks of the pages with the calls of these functions in the tests.

# Prints the commands of a section of $page: commands TITLE
commands() {
    awk -v title="## $1" '/^## / { inside = $0 == title }
        /^```/ { block = !block }
        inside && !block && /^    / { print substr($0, 5) }' "$page"
}

# Runs a program of awk that defines block(name, text) over the blocks of a page:
# each_block PAGE PROGRAM [awk option...]
each_block() {
    awk "${@:3}" 'function flush() { if (text != "") block(name, text); text = name = "" }
        function add(line) {
            if (name == "") { name = line; sub(/^ +/, "", name) }
            text = text line "\n"
        }
        /^```/ { flush(); inside = !inside; if (inside) name = $2; next }
        inside { add($0); next }
        /^    / { add(substr($0, 5)); next }
        { flush() }
        END { flush() }
        '"$2" "$root/$1"
}

# Prints the names of the blocks of a page: block_names PAGE
block_names() {
    each_block "$1" 'function block(name, text) { print name }'
}

# Prints the block of a page whose name begins with START: block PAGE START
block() {
    local found
    found=$(each_block "$1" 'function block(name, text) {
            if (!found && index(name, start) == 1) { printf "%s", text; found = 1 } }' \
        -v start="$2")
    [[ -n $found ]] || fail "$1 has no block that begins with: $2"
    printf '%s\n' "$found"
}
