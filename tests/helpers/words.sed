# The tests' SQL in PostgreSQL's words: sed -z -E -f words.sed. The rest stands in server.sql.
# a reserved word
s/\b(FROM|JOIN|UPDATE|INTO) user\b/\1 "user"/g
s/\bBEGIN IMMEDIATE\b/BEGIN/g
# blob literals
s/\b[xX]'([0-9A-Fa-f]*)'/decode('\1', 'hex')/g
# CAST converts there by the printed form of a blob; the expression may have two levels of
# parentheses, and another CAST in it
s/\bCAST\(([^()]*(\([^()]*(\([^()]*\)[^()]*)*\)[^()]*)*) AS (TEXT|BLOB)\)/as_\L\4\E(\1)/g
s/\bCAST\(([^()]*(\([^()]*(\([^()]*\)[^()]*)*\)[^()]*)*) AS (TEXT|BLOB)\)/as_\L\4\E(\1)/g
# its json_object takes other arguments
s/\bjson_object\(/json_build_object(/g
# always so there
s/\bPRAGMA foreign_keys = ON;//g
