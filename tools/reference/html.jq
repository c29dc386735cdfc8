# Makes one HTML page of the reference: no script; the style is in style.css beside it.
include "common";

def link: if startswith("http") then . elif contains("#") then "#" + (split("#")[1])
    else "#page-" + (split("/") | last | sub("\\.md$"; "")) end;
def inline: @html | gsub("`(?<text>[^`]+)`"; "<code>\(.text)</code>")
    | gsub("\\*\\*(?<text>[^*]+)\\*\\*"; "<b>\(.text)</b>")
    | gsub("\\[(?<text>[^\\]]+)\\]\\((?<url>[^)]+)\\)"; "<a href=\"\(.url | link)\">\(.text)</a>");
def row($cell): "<tr>" + (map("<\($cell)>\(inline)</\($cell)>") | join("")) + "</tr>\n";
def table: "<table>\n<thead>" + (.head | row("th")) + "</thead>\n<tbody>\n"
    + (.rows | map(row("td")) | join("")) + "</tbody>\n</table>\n";
def code($what): "<pre" + (if $what == "" then "" else " title=\"\($what | @html)\"" end)
    + "><code>\(@html)</code></pre>\n";

def render: if .kind == "paragraph" then "<p>\(.text | inline)</p>\n"
    elif .kind == "list" then (if .ordered then "ol" else "ul" end) as $tag
        | "<\($tag)>\n" + (.items | map("<li>\(inline)</li>\n") | join("")) + "</\($tag)>\n"
    elif .kind == "table" then table
    elif .info | startswith("json schema ") then
        (.info[12:]) as $name
        | "<p id=\"schema-\($name | anchor)\">Schema <code>\($name)</code>:</p>\n"
            + (.text | code(""))
    elif .info == "json data" then "<p>The schema of <code>data</code>:</p>\n" + (.text | code(""))
    elif .info == "sh" then .text | code("the variables")
    elif .info == "js" then .text | code("a receiver")
    else .text | code("") end;
# Groups of routes have the same name on several pages.
def heading($page): (if .text | startswith("Every route") then "\($page) \(.text)" else .text end
        | anchor) as $id | "<h\(.level) id=\"\($id)\">\(.text | inline)</h\(.level)>\n";
def route: ([scope_text, lines_text, trail_text, alternatives | "<p>\(inline)</p>\n"] | join(""))
    + ([route_tables | table] | join(""))
    + (command | code("a request")) + ([example_answer | code("its answer")] | join(""));

def page($routes): (.page | sub("\\.md$"; "")) as $page
    | "<h1 id=\"page-\($page)\">\(.title | inline)</h1>\n"
    + (reduce .blocks[] as $block ({out: "", route: null};
        if $block.kind == "heading" then
            (if .route then .out += (.route | route) | .route = null else . end)
            | .out += ($block | heading($page)) | .route = ($block.text | route_of($routes))
        elif .route and ($block | is_source) then .
        else .out += ($block | render) end)
        | if .route then .out += (.route | route) else . end | .out);

. as $all | "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Switchboard \(.version): reference of the API</title>
<link rel=\"stylesheet\" href=\"style.css\">
</head>
<body>
<nav>
<p>Switchboard \(.version)</p>
<p><a href=\"../openapi.json\">OpenAPI</a> <a href=\"postman.json\">Postman</a>
<a href=\"llms.txt\">llms.txt</a></p>
<ul>
" + ([.pages[] | . as $page
    | "<li><a href=\"#page-\(.page | sub("\\.md$"; ""))\">\(.title | inline)</a>"
    + ([$all.routes[] | select(.page == $page.page)
        | "<li><a href=\"#\(id | anchor)\">\(id)</a></li>\n"]
        | if . == [] then "" else "\n<ul>\n\(join(""))</ul>\n" end) + "</li>\n"] | join(""))
    + "</ul>\n</nav>\n<main>\n" + ([.pages[] | page($all.routes)] | join(""))
    + "</main>\n</body>\n</html>"
