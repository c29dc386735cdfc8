# Prints all SQL of a preprocessed C file, one text a line. Adjacent string literals form one text:
#
#     statement<TAB>TEXT    the text after `.sql =`: a struct statement
#     other<TAB>TEXT        any other text that begins with an SQL keyword
#
# A `.sql =` that is followed by anything but literals is an error, so that no statement is missed,
# whatever the layout of its struct.

function fail(what) {
    print "an SQL text that cannot be read: " what | "cat >&2"
    failed = 1
}

# Returns the text of a literal without its quotes.
function unescape(literal) {
    gsub(/\\"/, "\"", literal)
    gsub(/\\\\/, "\\", literal)
    return literal
}

# Removes the string literals at the start of `rest` and returns them as one text.
function read_literals(    text) {
    while (match(rest, /^[ \t\n]*"([^"\\]|\\.)*"/)) {
        literal = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
        sub(/^[ \t\n]*"/, "", literal)
        text = text unescape(substr(literal, 1, length(literal) - 1))
    }
    return text
}

{ rest = rest $0 "\n" }

END {
    while (!failed && match(rest, /"|'|(\.|->)sql[ \t\n]*=[^=]/)) {
        found = substr(rest, RSTART, 1)
        if (found == "'") {
            rest = substr(rest, RSTART)
            if (!match(rest, /^'([^'\\]|\\.[0-9a-fA-F]*)'/))
                fail(substr(rest, 1, 40))
            rest = substr(rest, RLENGTH + 1)
        } else if (found == "\"") {
            rest = substr(rest, RSTART)
            text = read_literals()
            # lint: long lines
            if (toupper(text) ~ /^[ \n(]*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH|VALUES|PRAGMA|CREATE|DROP|ALTER|BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE|VACUUM|ANALYZE|REINDEX|ATTACH|EXPLAIN)( |;|$)/)
                print "other\t" text
            # lint: end
        } else {
            rest = substr(rest, RSTART + RLENGTH - 1)
            text = read_literals()
            if (text == "" || rest !~ /^[ \t\n]*[,}]/)
                fail(text substr(rest, 1, 60))
            print "statement\t" text
        }
    }
    exit failed
}
