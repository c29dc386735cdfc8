# shellcheck shell=bash
# The SQL of the store, read from its sources.

# The SQL texts of C files, one per line: FILE, kind, text, separated by tabs: texts_of FILE...
texts_of() {
    local file preprocessed=$BATS_TEST_TMPDIR/preprocessed texts=$BATS_TEST_TMPDIR/texts
    for file; do
        [[ ${file##*/} != postgresql*.c ]] || continue # what the driver of a server runs by itself
        "${CC:-gcc}" -E -P -std=c11 -D_GNU_SOURCE -I"$root/lib" "$file" >"$preprocessed" || return 1
        awk -f "$root/tests/lint/statements.awk" "$preprocessed" >"$texts" || return 1
        sed "s/^/$(basename "$file")\t/" "$texts"
    done
}

# The statements in $BATS_TEST_TMPDIR/all that begin with TEXT; with `TEXT...END` those of them that
# end with END: statement TEXT
statement() {
    awk -F '\t' -v text="${1%%...*}" -v end="${1#*...}" '
        $2 == "statement" && index($3, text) == 1 &&
        (text == end || substr($3, length($3) - length(end) + 1) == end) { print $3 }
    ' "$BATS_TEST_TMPDIR/all"
}
