# Checks the files in the arguments: lines, functions and words. Prints each finding as `FILE:LINE:
# what is wrong; what to do`. The tables banned, words and exempt come first; `tables` is their
# directory. It counts bytes: LC_ALL=C.
BEGIN { FS = "\t" }

function report(what) { printf "%s:%d: %s\n", FILENAME, FNR, what }

# Whether FILE of an entry is this file or a directory above it.
function covers(file) {
    return file == FILENAME || (file ~ /\/$/ && index(FILENAME, file) == 1)
}

# Whether an entry of the table leaves this line out.
function is_exempt(check, text, i) {
    for (i = 1; i <= exempts; i++)
        if (exempt_check[i] == check && covers(exempt_file[i]) &&
            (exempt_text[i] == "-" || index(text, exempt_text[i]))) {
            needed[i] = 1
            return 1
        }
    return 0
}

# The columns of a line: UTF-8 bytes after the first of a character do not count. A tab at the start
# is as wide as in an editor.
function columns(text, tabs) {
    tabs = match(text, /^\t+/) ? RLENGTH : 0
    gsub(/[\200-\277]/, "", text)
    return length(text) + 7 * tabs
}

# The code of a line of C, without comments and strings. Sets in_comment if a comment continues on
# the next line.
function code_of(text, code, c) {
    code = ""
    while (text != "") {
        if (in_comment) {
            c = index(text, "*/")
            if (!c)
                return code
            text = substr(text, c + 2)
            in_comment = 0
        } else if (!match(text, /\/\*|\/\/|["']/)) {
            return code text
        } else {
            code = code substr(text, 1, RSTART - 1)
            c = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            if (c == "//")
                return code
            if (c == "/*")
                in_comment = 1
            else if (match(text, c == "'" ? "^([^\\\\']|\\\\.)*'" : "^([^\\\\\"]|\\\\.)*\""))
                text = substr(text, RLENGTH + 1)
            else
                return code
        }
    }
    return code
}

# The rest of the line after the last call of the function.
function arguments_of(text, name) {
    while (match(text, "(^|[^A-Za-z0-9_.>])" name "[ ]*[(]"))
        text = substr(text, RSTART + RLENGTH)
    return text
}

function check_calls(text, raw, name, at) {
    while (at = match(text, "(^|[^A-Za-z0-9_.>])(" names ")[ ]*[(]")) {
        name = substr(text, at, RLENGTH)
        text = substr(text, at + RLENGTH)
        gsub(/[^A-Za-z0-9_]/, "", name)
        if (only[name] == "" || match(arguments_of(raw, name), only[name]))
            report("calls " name ", which " fault[name] "; use " use[name])
    }
}

function check_words(text, lower, word) {
    lower = tolower(text)
    while (match(lower, "(^|[^a-z0-9_])(" all_words ")([^a-z0-9_]|$)")) {
        word = substr(lower, RSTART, RLENGTH)
        lower = substr(lower, RSTART + RLENGTH - 1)
        gsub(/[^a-z]/, "", word)
        if (!is_exempt("word", text))
            report("the word \"" word "\"; write " instead[word])
    }
}

FNR == 1 {
    table = index(FILENAME, tables "/") == 1 ? substr(FILENAME, length(tables) + 2) : ""
    is_table = table == "banned" || table == "words" || table == "exempt"
    is_c = FILENAME ~ /\.[ch]$/
    is_bats = FILENAME ~ /\.bats$/
    is_prose = FILENAME ~ /\.md$/
    in_comment = is_hand_set = 0
}

is_table && (/^#/ || !NF) { next }
table == "banned" {
    fault[$1] = $2
    use[$1] = $3
    only[$1] = $4
    names = names (names == "" ? "" : "|") $1
    next
}
table == "words" {
    instead[$1] = $2
    all_words = all_words (all_words == "" ? "" : "|") $1
    next
}
table == "exempt" {
    exempts++
    exempt_check[exempts] = $1
    exempt_file[exempts] = $2
    exempt_text[exempts] = $3
    exempt_line[exempts] = FNR
    exempt_table = FILENAME
    next
}

FNR == 1 {
    for (i = 1; i <= exempts; i++)
        if (covers(exempt_file[i]))
            is_checked[i] = 1
}

# A table that is set by hand stands between two marks: in C those of clang-format.
is_c && /clang-format off/ { is_hand_set = 1 }
is_c && /clang-format on/ { is_hand_set = 0 }
!is_c && /^[ \t]*(#|--|\/\/) lint: long lines$/ { is_hand_set = 1 }
!is_c && /^[ \t]*(#|--|\/\/) lint: end$/ { is_hand_set = 0 }

function may_be_long() { return is_hand_set || is_prose || (is_bats && /^@test/) }

length($0) > 93 && columns($0) > 100 && !may_be_long() && !is_exempt("long", $0) {
    report("a line of " columns($0) " columns; wrap it at 100")
}

is_c { check_calls(code_of($0), $0) }

FILENAME ~ /^cgi-bin\/.*\.c$/ && /^ *\{\.method = "/ &&
    !/^    \{\.method = "[A-Z]+", \.path = ("[^"]+"|[A-Z]+),$/ {
    report("a row of the routes in another layout; begin it with a line of its own, " \
           "`{.method = \"GET\", .path = \"/v2/...\",`, between the marks of clang-format")
}

# In a bats file: comments and titles, because the rest is also data of the tests.
!is_bats || /^[ \t]*#|^@test/ { check_words($0) }

END {
    for (i = 1; i <= exempts; i++)
        if (is_checked[i] && !needed[i])
            printf "%s:%d: %s needs no exemption from `%s`; remove the line\n", exempt_table,
                exempt_line[i], exempt_file[i], exempt_check[i]
}
