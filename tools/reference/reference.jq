# Joins the pages of doc/api (--slurpfile pages) with the descriptions of the programs (--slurpfile
# programs; lib/web/describe.h) and the dashboard's texts of events (--slurpfile translations).
# Prints {routes, events, vocabularies, schemas, pages, problems}; each problem is a line that says
# what is on one side only, and where to write.

def is_scope: test("^((GET|POST|PUT|PATCH|DELETE) /|Every route|No route$|Event )");
def column($name): .head[0] == $name;

# The parts of a page that describe one route, or a group of them.
def scopes: .page as $page
    | reduce .blocks[] as $block ([];
        if $block.kind == "heading" and $block.level <= 3 then
            . + [{page: $page, name: ($block.text | if is_scope then . else null end), blocks: []}]
        elif . == [] then . else .[-1].blocks += [$block] end)
    | .[] | select(.name)
    | . + {
        text: [.blocks[] | select(.kind == "paragraph").text],
        rows: (.blocks | map(select(.kind == "table")) | [.[] | .head as $head | .rows[]
            | {kind: $head[0], key: (.[0] | gsub("`"; "")), second: .[1], text: .[-1],
                items: (if $head[1] == "items" then .[1] else null end)}]),
        data: [.blocks[] | select(.kind == "code" and .info == "json data").text][0],
        answer: [.blocks[] | select(.kind == "code" and .info == "json answer").text][0],
        request: [.blocks[] | select(.kind == "code" and .info == "json request").text][0]};

def id: "\(.method) \(.path)";

# An object with `"$example": NAME` in an example has the members of the example of that schema too.
def with_examples($schemas): walk(if type == "object" and has("$example") then
        ($schemas[."$example"].examples[0]
            // error("no schema \(."$example") of doc/api has `examples`")) + del(."$example")
        else . end);

# Whether the route sends a message or a file: an Idempotency-Key counts.
def sends: (.trail == "message" and any(.members[]; .path == "to"))
    or (any(.requires[]; . == "line") and (.body != "json" or .kinds != []));

# Whether the route sends a message, which it can queue.
def queues: sends and (.path | test("^/v2/(messages|templates)/"));

# Whether the scope describes the route.
def covers($scope): . as $route | $scope.name as $name
    | if $name == "Every route" then $scope.page | IN("README.md", $route.page)
    elif $name == "Every route that requires a token or a session" then
        any($route.requires[]; . == "either")
    elif $name == "Every route that requires a session" then
        any($route.requires[]; . == "session")
    elif $name == "Every route that takes a password" then
        any($route.members[]; .path == "password")
    elif $name == "Every route that requires a line" then any($route.requires[]; . == "line")
    elif $name == "Every route that sends" then sends
    elif $name == "Every route that sends a message" then queues
    elif $name == "Every route with a JSON body" then $route.body == "json"
    elif $name == "Every route that takes a query" then $route.query != []
    elif $name == "Every route that calls the platform" then
        any($route.may[]; . == "call the platform")
    else $name == ($route | id) end;

def known_groups: ["Every route", "Every route that requires a token or a session",
    "Every route that requires a session", "Every route that takes a password",
    "Every route that requires a line", "Every route that sends",
    "Every route that sends a message",
    "Every route with a JSON body",
    "Every route that takes a query", "Every route that calls the platform", "No route"];

# The last text counts: scopes are in the order README, page, route.
def text_of($scopes; $kind; $key):
    [$scopes[] | .rows[] | select(.kind == $kind and .key == $key).text] | last;

# Whether the second column of a row of a table `status` lists media types, or none: no body.
def is_media_type: test("/|^\\*|^none$");
def pair: "\(.status) \(.error)";

def merge($scopes; $schemas):
    . as $route | [$scopes[] | select(. as $scope | $route | covers($scope))] as $mine
    | [$mine[] | .rows[] | select(.kind == "status")] as $statuses
    | (first($mine[] | select(.name == ($route | id))) // {text: []}) as $own
    | .text = $own.text
    | .summary = ($own.text[0] // "" | sub("(?<s>[.:]) .*$"; .s) | sub("[.:]$"; ""))
    | .members |= map(.text = text_of($mine; "field"; .path) | .path as $path
        | .items = ([$mine[] | .rows[] | select(.kind == "field" and .key == $path).items] | last))
    | .query |= map(.text = text_of($mine; "query"; .path))
    | .segments |= map({path: ., text: text_of($mine; "segment"; .)})
    | .headers = [$mine[] | .rows[] | select(.kind == "header") | {path: .key, text}]
    | .answer_headers = ([$mine[] | .rows[] | select(.kind == "answer header")
        | {path: .key, on: .second, text}] | group_by(.path) | map(last))
    | .parts = [$mine[] | .rows[] | select(.kind == "part") | {path: .key, text}]
    | .answers = [$statuses[] | select(.second | is_media_type)
        | {status: (.key | tonumber), types: (.second | split(", ") - ["none"]), text}]
    | .errors = [$statuses[] | select(.second | is_media_type | not)
        | {status: (.key | tonumber), error: .second, text}]
    | .data = ([$mine[] | .data // empty | fromjson] | last)
    | .answer = ([$mine[] | .answer // empty | fromjson | with_examples($schemas)] | last)
    | .request = (if $own.request then $own.request | fromjson else null end);

# --- what is on one side only ---

def problems($scopes; $failures): . as $routes
    | ([$scopes[].page] | unique) as $pages
    | ($routes[] | id as $id | .page as $page
        | (select(any($scopes[]; .name == $id and .page == $page) | not)
            | "doc/api/\($page): no section for \($id): add `### \($id)`")),
    ($scopes[] | .name as $name | .page as $page
        | select($name | test("^(GET|POST|PUT|PATCH|DELETE) /"))
        | select(any($routes[]; id == $name and .page == $page) | not)
        | "doc/api/\($page): `### \($name)` is no route of the program: remove the section"),
    ($scopes[] | select(.name | startswith("Every route"))
        | select(.name | IN(known_groups[]) | not)
        | "doc/api/\(.page): `### \(.name)` names no group of routes: see tools/reference"),
    ($routes[] | . as $route
        | (["field", .members[]], ["query", .query[]], ["segment", .segments[]]) | .[0] as $kind
        | .[1:][] | select(.text == null)
        | "doc/api/\($route.page): no text for \($kind) `\(.path)` of \($route | id): "
            + "add a row to its table `\($kind)`"),
    ($scopes[] | . as $scope | .rows[] | . as $row
        | select(.kind | IN("field", "query", "segment"))
        | select(any($routes[] | select(covers($scope))
            | if $row.kind == "field" then .members elif $row.kind == "query" then .query
            else .segments end | .[].path; . == $row.key) | not)
        | "doc/api/\($scope.page): the \($row.kind) `\($row.key)` of `### \($scope.name)` is in no "
            + "table of the program: remove the row"),
    ($scopes[] | . as $scope | .rows[] | select(.kind == "status")
        | select(.second | is_media_type | not) | {status: (.key | tonumber), error: .second}
        | select(pair | IN($failures[] | pair) | not)
        | "doc/api/\($scope.page): \(pair) of `### \($scope.name)` is no failure of the programs: "
            + "correct the row"),
    ($scopes[] | . as $scope | .rows[] | select(.kind == "answer header")
        | select(.second | test("^(every|some) (answers?|[0-9]{3}(, [0-9]{3})*)$") | not)
        | "doc/api/\($scope.page): \(.key) of `### \($scope.name)` is on \(.second): write such as "
            + "`every answer` or `some 409, 503`"),
    ($failures[] | pair as $pair
        | select(any($scopes[] | .rows[] | select(.kind == "status") | "\(.key) \(.second)";
            . == $pair) | not)
        | "doc/api/README.md: no text for \($pair): add a row to a table `status`"),
    ($routes[] | select(.data == null and all(.answers[]; .status | IN(200, 301) | not))
        | "doc/api/\(.page): no schema for the answer of \(id): add ```json data"),
    ($routes[] | select(.data != null and .answer == null)
        | "doc/api/\(.page): no example for the answer of \(id): add ```json answer"),
    ($routes[] | select(.body == "json" and .request == null)
        | "doc/api/\(.page): no example for the body of \(id): add ```json request"),
    ($routes[] | select(any(.errors[]; .status == 500) | not)
        | "doc/api/README.md: `### Every route` has no status 500");

# A type of events needs a section of events.md, and a text in each translation.
def type_problems($vocabularies; $events; $translations):
    ($vocabularies[] | select(.name == "EventType") | .meanings) as $meanings
    | def key: gsub("\\."; "_");
    ($meanings | to_entries[] | . as $type
        | first($events[] | select(.type == $type.key)) // null
        | if . == null then "doc/api/events.md: no section for the event \($type.key): "
            + "add `### Event \($type.key)` with ```json data"
        elif .text[0] != $type.value then "doc/api/events.md: `### Event \($type.key)` does not "
            + "begin with its meaning: write `\($type.value)`"
        else empty end),
    ($translations[] | . as $texts | $meanings | keys_unsorted[]
        | select($texts.types[key] | not)
        | "\($texts.file): no text for the event \(.): add webhooks.type.\(key)"),
    ($translations[] | .file as $file | .types | keys_unsorted[]
        | select(IN($meanings | keys_unsorted[] | key) | not)
        | "\($file): webhooks.type.\(.) is no event of the programs: remove the text");

# A route that dispatches has no fields of its own; its kinds are routes of the same program.
($programs | [.[] | . as $program | .routes[]
    | . + {executable: $program.executable, page: "\($program.executable).md",
        may: $program.may}]) as $routes
| ($pages | sort_by(.page != "README.md")) as $pages
| [$pages[] | scopes] as $scopes
| ($programs[0].failures | unique) as $failures
| ([$pages[] | .blocks[] | select(.kind == "code" and (.info | startswith("json schema ")))
    | {key: .info[12:], value: (.text | fromjson)}] | from_entries) as $schemas
| ([$routes[] | (.members, .query)[] | select(.schema)
    | {name: .schema, preset, meanings: ([.values, .meanings] | transpose
        | map({key: .[0], value: .[1]}) | from_entries)}] | unique) as $vocabularies
| {
    version: $version,
    date: $date,
    routes: [$routes[] | merge($scopes; $schemas)],
    events: [$scopes[] | select(.name | startswith("Event "))
        | {type: .name[6:], text, data: (.data | fromjson)}],
    $vocabularies,
    $schemas,
    $pages
}
| .problems = ([(.routes | problems($scopes; $failures)),
    type_problems($vocabularies; .events; $translations)] | unique)
| .routes |= map((.members, .query, .segments) |= map(.text //= ""))
