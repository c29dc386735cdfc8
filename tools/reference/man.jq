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
def route: ([alternatives | ".PP\n\(text)\n"] | join("")) + ([route_tables | table] | join(""))
    + (command | code) + ([example_answer | code] | join(""));

def page($routes): reduce .blocks[] as $block ({out: "", route: null};
        if $block.kind == "heading" then
            (if .route then .out += (.route | route) | .route = null else . end)
            | .out += ($block | heading) | .route = ($block.text | route_of($routes))
        elif .route and ($block | is_source) then .
        else .out += ($block | render) end)
    | if .route then .out += (.route | route) else . end | .out;

. as $all | ".TH SWITCHBOARD\\-API 7 \"\" \"Switchboard \(.version)\"\n.SH NAME\n"
    + "switchboard\\-api \\- the HTTP API of Switchboard\n"
    + ([.pages[] | page($all.routes)] | join(""))
    | rtrimstr("\n")
