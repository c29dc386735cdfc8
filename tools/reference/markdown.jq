# Reads a page of doc/api as lines (jq -Rn --arg page NAME) and prints {page, title, blocks}. A
# block is {kind, ...}: heading (level, text), paragraph (text), list (items), table (head, rows) or
# code (info, text). The pages use no other Markdown.

def cells: sub("^\\| ?"; "") | sub(" ?\\|$"; "") | [splits(" *\\| *")];

# Adds one line to {blocks, gap}; `gap`: a blank line precedes it.
def add($line):
    (.blocks[-1].kind // "") as $last
    | if $last == "code" and (.blocks[-1].closed | not) then
        if $line == "```" then .blocks[-1].closed = true else .blocks[-1].lines += [$line] end
    elif $line | startswith("```") then .blocks += [{kind: "code", info: $line[3:], lines: []}]
    elif $line | test("^#+ ") then
        .blocks += [$line | capture("^(?<marks>#+) (?<text>.*)$")
            | {kind: "heading", level: (.marks | length), text}]
    elif $line | startswith("|") then
        if $last != "table" or .gap then
            .blocks += [{kind: "table", head: ($line | cells), rows: []}]
        elif $line | test("^[|-]+$") then .
        else .blocks[-1].rows += [$line | cells] end
    elif $line | test("^(-|[0-9]+\\.) ") then
        ($line | sub("^(-|[0-9]+\\.) +"; "")) as $item
        | if $last == "list" and (.gap | not) then .blocks[-1].items += [$item]
        else .blocks += [{kind: "list", ordered: ($line | test("^[0-9]")), items: [$item]}] end
    elif $line | startswith("    ") then
        if $last == "code" and .blocks[-1].info == "" then .blocks[-1].lines += [$line[4:]]
        else .blocks += [{kind: "code", info: "", closed: true, lines: [$line[4:]]}] end
    elif $line == "" then .
    elif $last == "list" and (.gap | not) then
        .blocks[-1].items[-1] += " " + ($line | sub("^ +"; ""))
    elif $last == "paragraph" and (.gap | not) then .blocks[-1].text += " " + $line
    else .blocks += [{kind: "paragraph", text: $line}] end
    | .gap = ($line == "");

reduce inputs as $line ({blocks: [], gap: true}; add($line))
| {page: $page, title: .blocks[0].text,
    blocks: [.blocks[1:][] | if .kind == "code" then {kind, info, text: (.lines | join("\n"))}
        else . end]}
