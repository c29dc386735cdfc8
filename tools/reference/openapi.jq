# Makes the OpenAPI 3.1 document of the reference that reference.jq printed.
include "common";

def words: [splits("[^A-Za-z0-9]+") | select(. != "" and . != "v2")];
def capital: (.[:1] | ascii_upcase) + .[1:];
# such as PostMessagesSendText
def operation: "\(.method | ascii_downcase)/\(.path)" | words | map(capital) | join("");
# such as GetV2Me: $ref to a schema
def reference($name): {"$ref": "#/components/schemas/\($name)"};

# --- the fields of the programs as JSON Schema ---

def text_rules: (if .may_be_empty then {} else {minLength: 1} end)
    + (if .values then {enum: .values} else {} end)
    + (if .longest then {maxLength: .longest} else {} end)
    + (if .pattern then {pattern} else {} end)
    + (if .example then {examples: [.example]} else {} end);
def described: if .text then
        {description: (.text + (if .meaning then " It must be \(.meaning)." else "" end) | plain)}
    else {} end;

# Every choice of one of each of the alternatives of which exactly one may be present, as {chosen,
# excluded}, without the contradictory ones.
def choices: if . == [] then {chosen: [], excluded: []}
    else .[0] as $names | (.[1:] | choices) as $rest | $names[]
        | {chosen: ($rest.chosen + [.]), excluded: ($rest.excluded + ($names - [.]))}
        | select(.chosen - .excluded == .chosen) end;

# The schema of a member that must be absent: the same as `false`, at which generators of OpenAPI
# 3.0 stop; the type is for those that take no notice of `not`.
def absent: {type: "null", not: {}};

# The object of the members whose paths start with the prefix. With alternatives of which exactly
# one may be present, it has a schema for each choice.
def object($route; $prefix):
    def value: . as $field
        | if .type == "string" then {type: "string"} + text_rules
        elif .type == "integer" then {type: "integer", minimum: (.from // 0)}
            + (if .to then {maximum: .to} else {} end)
        elif .type == "string or number" then {type: ["string", "number"], minLength: 1}
        elif .type == "boolean" then {type: "boolean"}
        elif .type == "object" then object($route; .path + ".")
        else {type: "array"}
            + (if .from then {minItems: .from} else {} end)
            + (if .to then {maxItems: .to} else {} end)
            + (if any($route.members[]; .path | startswith($field.path + "[]."))
                then {items: object($route; $field.path + "[].")}
                elif $field.items then {items: reference($field.items)}
                elif .type == "array of strings"
                then {uniqueItems: true, items: (if .schema then reference(.schema)
                    else {type: "string"} + text_rules end)}
                else {} end) end
        | if $field.may_be_null then .type |= [., "null"] else . end;
    def is_own: startswith($prefix) and (.[($prefix | length):] | contains(".") | not);
    [$route.members[] | select(.path | is_own) | .name = .path[($prefix | length):]] as $own
    | [[$route.exclusive[] | select(.[0] | is_own)] | choices
        | . as $choice | [$own[] | select(.path | IN($choice.excluded[]) | not)]
        | {type: "object", properties: (([.[] | {key: .name, value: (described + value)}]
                + [$choice.excluded[] | {key: .[($prefix | length):], value: absent}])
                | from_entries)}
            + ([.[] | select(.required or (.path | IN($choice.chosen[]))).name]
                | if . == [] then {} else {required: .} end)] as $each
    | if $own == [] and $prefix != "" then {type: "object", additionalProperties: true}
    elif $each | length == 1 then $each[0] else {oneOf: $each} end;

# The schemas of a body, by name. Of alternatives each has a schema of its own: generators of types
# take an `anyOf` of required members for an unknown type.
def bodies: operation as $name | object(.; "") as $all
    | [.one_of[] | select(all(.[]; contains(".") | not))] as $one_of
    | if $one_of == [] then {"\($name)Body": $all}
    else [$one_of[0][] | . as $member | {key: "\($name)With\($member | capital)",
            value: ($all | .required = ((.required // []) + [$member]))}] as $each
        | ($each | from_entries) + {"\($name)Body": {anyOf: [$each[] | reference(.key)]}} end;

# The body of a route that dispatches: that of a route below it. `anyOf` is for generators of types,
# which take no notice of the conditions that follow it.
def dispatched($routes): . as $route
    | def kind($name): first($routes[] | select(.path == "\($route.path)/\($name)"))
        | reference("\(operation)Body");
    def condition: {required: [.members | keys_unsorted[]], properties: (.members | map_values(
        if . == "any" then {} elif . == "true" then {const: true} else {type: .} end))};
    def chain: if . == [] then {not: {}}
        else {if: (.[0] | condition), then: (.[0].kind as $name | kind($name)),
            else: (.[1:] | chain)} end;
    {anyOf: ([.kinds[].kind] | unique | map(. as $name | kind($name)))} + (.kinds | chain);

# --- operations ---

def url: gsub(":(?<name>[A-Za-z]+)"; "{\(.name)}");
def query_schema: if .type == "integer"
    then {type: "integer", minimum: (.from // 0)}
        + (if .to then {maximum: .to} else {format: "int64"} end)
    else {type: "string"} + text_rules end;
def parameter($in; $schema): {name: .path, in: $in, description: (.text // "" | plain), $schema}
    + (if $in == "path" or .required then {required: true} else {} end);
# apache.conf leads other texts below /v2/messages and /v2/webhooks to other programs.
def segment_rules: if .path == "wamid" then {pattern: "^(wa[mc]id\\.|msg_)"}
    elif .path == "webhookId" then {pattern: "^whk_"} else {} end;
def strict: {name: "Prefer", in: "header", schema: {type: "string", examples: ["handling=strict"]},
    description: "handling=strict makes unknown members and query parameters an error."};
def parameters:
    [.segments[] | parameter("path"; {type: "string", minLength: 1} + segment_rules)]
    + [.query[] | parameter("query"; query_schema)]
    + [.headers[] | parameter("header"; {type: "string"})]
    + (if .body == "json" or .query != [] then [strict] else [] end);

def request_body:
    if .body == "json" then {requestBody: {required: (.members != [] or .kinds != []), content:
        {"application/json": ({schema: reference("\(operation)Body")}
            + (if .request then {example: .request} else {} end))}}}
    elif .body == "file" and .parts == [] then {requestBody: {required: true, content: {
        "text/csv": {schema: {type: "string"}},
        "application/json": {schema: reference("CampaignRecipients"), example: .request}}}}
    elif .body == "file" then {requestBody: {required: true, content: {
        "multipart/form-data": {schema: {type: "object", required: ["file"], properties:
            ([.parts[] | {key: .path, value: ({description: (.text | plain)}
                + {type: "string"} + (if .path == "file"
                    then {contentMediaType: "application/octet-stream"} else {} end))}]
                | from_entries)}},
        "*/*": {schema: {type: "string", contentMediaType: "application/octet-stream"}}}}}
    elif .body == "raw" then {requestBody: {required: true, content:
        {"application/json": {schema: {description: "A payload of the platform.",
            "x-passthrough": true}}}}}
    else {} end;

def envelope: {type: "object", required: ["success", "data"],
    properties: {success: {const: true}, data: .}, unevaluatedProperties: false};
# The headers of the answers with the status: those on every one of them are required.
def headers_of($status): [.answer_headers[]
    | (.on | capture("^(?<how>every|some) (?<which>.*)$")) as $on
    | select(($on.which | startswith("answer")) or ($on.which | split(", ") | index($status)))
    | {key: .path, value: ({description: (.text | plain)}
        + (if $on.how == "every" then {required: true} else {} end)
        + {schema: {type: "string", minLength: 1}})}] | from_entries;
def answer($status; $types; $data): .answer as $example
    | {headers: headers_of($status)} + if $types == [] then {} else {content: ([$types[]
    | {key: ., value: ({schema: (if . == "application/json" then $data | envelope
        elif . == "*/*" then {type: "string", contentMediaType: "application/octet-stream"}
        else {type: "string"} end)}
            + (if . == "application/json" and $example != null
                then {example: {success: true, data: $example}} else {} end))}]
        | from_entries)} end;

def answers: . as $route | .data as $data
    | (if any(.answers[]; .status | IN(200, 301)) then {}
        else {"200": ({description: "Done."} + answer("200"; ["application/json"]; $data))} end)
    + ([.answers[] | . as $answer | {key: "\(.status)", value: ({description: .text}
            + ($route | if $answer.status == 202
                then del(.answer) | answer("202"; $answer.types; reference("Outgoing"))
                else answer("\($answer.status)"; $answer.types; $data) end))}]
        | from_entries);
def refusals: . as $route | [.errors | group_by(.status)[] | {key: "\(.[0].status)", value: {
        description: ([.[] | "\(.error): \(.text)"] | map(plain) | join(" ")),
        headers: (. as $errors | $route | headers_of("\($errors[0].status)")),
        content: {"application/json": {schema: {allOf: [reference("Error"),
            {properties: {error: {enum: ([.[].error] | unique)}}}]}}}}}] | from_entries;

def security: if any(.requires[]; . == "either")
    then [{bearer: []}, {apiToken: []}, {session: [], dashboard: []}]
    elif any(.requires[]; . == "session") then [{session: [], dashboard: []}] else [] end;

def operation_object($tags): {
        operationId: operation,
        summary: (.summary | plain),
        description: ((.text | map(plain) | join("\n\n"))
            + (if .kinds == [] then "" else "\n\nThe kinds in their order: "
                + ([.kinds[] | "\(.kind) (\([.members | to_entries[] | "\(.key): \(.value)"]
                    | join(", ")))"] | join("; ")) + "." end)),
        tags: [$tags[.page]],
        security: security}
    + (if .scope then {"x-scope": .scope} else {} end)
    + (if .lines then {"x-lines": .lines} else {} end)
    + (if .trail == null then {} else {"x-trail": .trail} end)
    + (parameters | if . == [] then {} else {parameters: .} end)
    + request_body
    + {responses: (answers + refusals)};

# --- the document ---

def vocabulary: {type: "string", enum: (.meanings | keys_unsorted), description: (
    ([.meanings | to_entries[] | "\(.key): \(.value)"] | join(" "))
        + " null stands for \(.preset | gsub(" "; " and ")).")};

def event_headers: [
    {name: "webhook-id", text: "The same on every attempt."},
    {name: "webhook-timestamp", text: "Seconds since 1970, of the attempt."},
    {name: "webhook-signature", text: "The signatures by Standard Webhooks."},
    {name: "X-Hub-Signature-256", text: "sha256= and the HMAC-SHA256 of the body with the code."}
    | {name, in: "header", required: true, description: .text, schema: {type: "string"}}];
def event: {post: {
    operationId: ("event/\(.type)" | words | map(capital) | join("")),
    summary: (.text[0] // .type | plain | sub("\\.$"; "")),
    tags: ["Events"],
    security: [],
    parameters: event_headers,
    requestBody: {required: true, content: {"application/json": {schema: {type: "object",
        required: ["type", "timestamp", "data"], properties: {type: {const: .type},
            timestamp: {type: "string", format: "date-time"}, data: .data},
        unevaluatedProperties: false}}}},
    responses: {"2XX": {description: "The event is delivered."},
        "410": {description: "Deliveries are suspended."},
        "4XX": {description: "The event is delivered again later."}}}};

# Moves the headers of the answers to the components: there are only a few different ones. Of those
# with one name the second gets a number, and so on.
def share_headers:
    ([.paths[][].responses[].headers | to_entries[]] | unique | group_by(.key)
        | map(to_entries[] | .value + {name: (.value.key
            + (if .key == 0 then "" else "-\(.key + 1)" end))})) as $shared
    | .components.headers = ([$shared[] | {key: .name, value}] | from_entries)
    | .paths[][].responses[].headers |= with_entries(. as $entry
        | .value = {"$ref": "#/components/headers/\(first($shared[]
            | select(.key == $entry.key and .value == $entry.value).name))"});

. as $all | ([.pages[] | {key: .page, value: .title}] | from_entries) as $tags
| {
    openapi: "3.1.0",
    info: {title: "Switchboard", version: .version,
        description: "An HTTP JSON gateway in front of the WhatsApp Business Cloud API.",
        license: {name: "MIT", identifier: "MIT"}},
    servers: [{url: "/", description: "The host of this document."}],
    tags: [.pages[] | select(.page as $page | any($all.routes[]; .page == $page)
            or $page == "events.md")
        | {name: .title, description: "The routes of \(.title | ascii_downcase)."}],
    paths: (.routes | group_by(.path) | [.[] | {key: (.[0].path | url),
        value: ([.[] | {key: (.method | ascii_downcase), value: operation_object($tags)}]
            | from_entries)}] | from_entries),
    webhooks: ([.events[] | {key: .type, value: event}] | from_entries),
    components: {
        securitySchemes: {
            bearer: {type: "http", scheme: "bearer"},
            apiToken: {type: "apiKey", in: "header", name: "X-API-Token"},
            session: {type: "apiKey", in: "cookie", name: "__Host-switchboard",
                description: "The session of the dashboard. It counts only with X-Switchboard."},
            dashboard: {type: "apiKey", in: "header", name: "X-Switchboard",
                description: "1; and Sec-Fetch-Site: same-origin, which the browser adds."}},
        schemas: (.schemas
            + ([.vocabularies[] | {key: .name, value: vocabulary}] | from_entries)
            + ([.routes[] | select(.body == "json" and .kinds == []) | bodies] | add)
            + ([.routes[] | select(.kinds != [])
                | {key: "\(operation)Body", value: dispatched($all.routes)}] | from_entries))}}
| share_headers
