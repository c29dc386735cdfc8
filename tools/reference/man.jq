# Makes the manual page switchboard-api(7) of the reference, in the macros of man(7).
include "common";

def text: plain | gsub("\\\\"; "\\e") | gsub("-"; "\\-") | sub("^(?<c>[.'])"; "\\&\(.c)");
def literal: split("\n") | map(gsub("\\\\"; "\\e") | gsub("-"; "\\-")
    | sub("^(?<c>[.'])"; "\\&\(.c)")) | join("\n");
def code: ".PP\n.RS 4\n.nf\n\(literal)\n.fi\n.RE\n";
def table: (.rows | map(".TP\n\(.[0] | text)\n" + (.[1:-1] | map(text) | map("(\(.))\n") | join(""))
    + "\(.[-1] | text)\n") | join(""));
def render: if .kind == "paragraph" then ".PP\n\(.text | text)\n"
    elif .kind == "list" then .items | map(".IP \\(bu 2\n\(text)\n") | join("")
    elif .kind == "table" then table
    elif .info | startswith("json schema ") then
        ".PP\nSchema \(.info[12:] | text):\n\(.text | code)"
    elif .info == "json data" then ".PP\nThe schema of data:\n\(.text | code)"
    else .text | code end;
def heading: if .level == 2 then ".SH \(.text | ascii_upcase | text)\n"
    else ".SS \(.text | text)\n" end;
def route: ([scope_text, lines_text, trail_text, alternatives | ".PP\n\(text)\n"] | join(""))
    + ([route_tables | table] | join(""))
    + (command | code) + ([example_answer | code] | join(""));

# A heading begins a paragraph of its own.
def put($text): .out += (if .is_fresh then $text | ltrimstr(".PP\n") else $text end)
    | .is_fresh = (.is_fresh and $text == "");
def page($routes): reduce .blocks[] as $block ({out: "", route: null, is_fresh: false};
        if $block.kind == "heading" then
            (if .route then put(.route | route) | .route = null else . end)
            | put($block | heading) | .is_fresh = true | .route = ($block.text | route_of($routes))
        elif .route and ($block | is_source) then .
        else put($block | render) end)
    | if .route then put(.route | route) else . end | .out;

. as $all | ".TH SWITCHBOARD\\-API 7 \"\(.date)\" \"Switchboard \(.version)\"\n.SH NAME\n"
    + "switchboard\\-api \\- the HTTP API of Switchboard\n"
    + ([.pages[] | page($all.routes)] | join(""))
    | rtrimstr("\n")
