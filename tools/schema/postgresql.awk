# Prints schema.sql in PostgreSQL's words: awk -f postgresql.awk schema.sql
#
# Types: INTEGER is BIGINT, BLOB is BYTEA, TEXT is ordered by bytes as in SQLite. A reference to a
# table that is created later becomes an ALTER TABLE at the end. STRICT, WITHOUT ROWID and comments
# are left out. The values of a column in a CHECK, which schema.sql divides for SQLite, are one
# list. A trigger, which has one statement, calls a function; all triggers of the schema have the
# same statement.

function trim(text) {
    gsub(/^[ \t\n]+|[ \t\n]+$/, "", text)
    return text
}

# One list of values of: x IN (a, b) OR x IN (c, d) OR x = e
function listed(text,    last) {
    gsub(/\) OR[ \n]+[a-z_]+ IN \(/, ", ", text)
    if (match(text, /\) OR[ \n]+[a-z_]+ = '[a-z_]+'/)) {
        last = substr(text, RSTART, RLENGTH)
        sub(/.* = /, ", ", last)
        text = substr(text, 1, RSTART - 1) last ")" substr(text, RSTART + RLENGTH)
    }
    return text
}

function typed(text) {
    gsub(/ BLOB/, " BYTEA", text)
    gsub(/ INTEGER/, " BIGINT", text)
    gsub(/ TEXT/, " TEXT COLLATE \"C\"", text)
    return text
}

# Adds a part of a table's definition; the commas within parentheses do not end one.
function add(part,    target, column) {
    part = trim(part)
    target = part
    if (sub(/.*REFERENCES /, "", target)) {
        target = trim(substr(target, 1, index(target, "(") - 1))
        if (!(target in created) && target != table) {
            if (part ~ /^FOREIGN KEY/) {
                later = later "ALTER TABLE " table " ADD " part ";\n"
                return
            }
            column = part
            sub(/[ \t].*/, "", column)
            match(part, /REFERENCES .*/)
            later = later "ALTER TABLE " table " ADD FOREIGN KEY (" column ") " \
                substr(part, RSTART) ";\n"
            part = trim(substr(part, 1, RSTART - 1))
        }
    }
    parts = parts (parts == "" ? "" : ",\n") "    " typed(listed(part))
}

function print_table(text,    i, depth, part, c) {
    sub(/^CREATE TABLE /, "", text)
    table = trim(substr(text, 1, index(text, "(") - 1))
    text = substr(text, index(text, "(") + 1)
    sub(/\)[ \t\n]*STRICT(, WITHOUT ROWID)?[ \t\n]*$/, "", text)
    parts = part = ""
    depth = 0
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        depth += (c == "(") - (c == ")")
        if (c == "," && !depth) {
            add(part)
            part = ""
        } else
            part = part c
    }
    add(part)
    created[table] = 1
    print "CREATE TABLE " table " (\n" parts "\n);"
}

{
    sub(/--.*/, "")
    source = source $0 "\n"
}

# Prints the function of the triggers, and removes their statements from the source.
function print_function(    begin, text) {
    begin = index(source, " BEGIN\n")
    if (!begin)
        return
    text = substr(source, begin + 7)
    text = trim(substr(text, 1, index(text, "END;") - 1))
    gsub(/random\(\)/, "CAST(random() * 9007199254740991 AS BIGINT)", text)
    print "CREATE FUNCTION settings_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " text \
        " RETURN NULL; END $$;"
    gsub(/ BEGIN\n[^;]*; END;/, " EXECUTE FUNCTION settings_changed();", source)
}

END {
    print_function()
    count = split(source, statements, ";")
    for (n = 1; n <= count; n++) {
        statement = trim(statements[n])
        if (statement ~ /^CREATE TABLE /)
            print_table(statement)
        else if (statement ~ /^(CREATE TRIGGER|INSERT INTO) /)
            print statement ";"
        else if (statement != "") {
            # the name of an index may be a reserved word
            match(statement, /INDEX [a-z_]+/)
            print substr(statement, 1, RSTART + 5) \
                "\"" substr(statement, RSTART + 6, RLENGTH - 6) "\"" \
                typed(substr(statement, RSTART + RLENGTH)) ";"
        }
    }
    printf "%s", later
}
