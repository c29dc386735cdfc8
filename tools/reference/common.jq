# Functions that html.jq, man.jq, openapi.jq, postman.jq and llms.jq share: include "common";

def id: "\(.method) \(.path)";
def anchor: ascii_downcase | gsub("[^a-z0-9]+"; "-") | sub("^-"; "") | sub("-$"; "");
def plain: gsub("\\[(?<text>[^\\]]+)\\]\\([^)]+\\)"; .text) | split("`") | join("")
    | split("**") | join("");

# The type of a field and its rules, in words.
def rules: [.type, (select(.required) | "required"), (select(.may_be_empty) | "may be empty"),
    (select(.may_be_null) | "may be null"),
    (select(.from) |
        if .type | startswith("array") then "at least \(.from)" else "from \(.from)" end),
    (select(.to) |
        if .type | startswith("array") then "at most \(.to)" else "to \(.to)" end),
    (select(.values) | "one of " + (.values | join(", "))),
    (select(.longest) | "at most \(.longest) bytes"), (select(.meaning) | .meaning)] | join("; ");

# What differs between installations is in variables of the user's shell, which doc/api/README.md
# sets: these values of the examples of bodies, and the segments of paths.
def variables: {"15550001000": "PHONE_NUMBER_ID", "7001": "MEDIA_ID", "7002": "FLOW_ID",
    "wamid.x=": "WAMID", "you@example.org": "USER_EMAIL", "correct horse battery": "PASSWORD",
    "usr_1mcgpzd9m000000001f2ac3d4e": "WORKSPACE_ID",
    "con_1mcgpzd9m00000000312ab34cd": "CONTACT_ID", ("0123456789abcdef" * 4): "INVITATION",
    ("fedcba9876543210" * 4): "OTHER_INVITATION"};
def with_variables: reduce (variables | to_entries[]) as $each (.;
    split("\"\($each.key)\"") | join("\"'\"$\($each.value)\"'\""));
def segment: if . == "name" then "TEMPLATE_NAME"
    else gsub("(?<capital>[A-Z])"; "_\(.capital)") | ascii_upcase end;

# The request as a command.
def command:
    (if .body == "raw" then "PAYLOAD='{\"object\":\"whatsapp_business_account\",\"entry\":[]}'\n"
        + "SIGNATURE=$(printf '%s' \"$PAYLOAD\" |\n    openssl dgst -sha256 -hmac "
        + "\"$META_APP_SECRET\" -r | cut -d ' ' -f 1)\n" else "" end)
    + "curl" + (if .method == "GET" then "" else " -X \(.method)" end) + " \"$BASE_URL\(.path
        | gsub(":(?<name>[A-Za-z]+)"; "$\(.name | segment)"))"
    + (if any(.query[]; .path == "hub.mode") then
        "?hub.mode=subscribe&hub.verify_token=$META_VERIFY_TOKEN&hub.challenge=17" else
        [.query[] | select(.required and .example) | "\(.path)=\(.example)"] | join("&")
        | if . == "" then . else "?" + . end end)
    + "\""
    + (if any(.requires[]; . == "either") then " -H \"Authorization: Bearer $API_TOKEN\""
        elif any(.requires[]; . == "session") then " \\\n    -b \"__Host-switchboard=$SESSION\""
            + " -H 'X-Switchboard: 1' -H 'Sec-Fetch-Site: same-origin'" else "" end)
    + (if .body == "json" then " \\\n    -H 'Content-Type: application/json' \\\n    -d '"
        + (.request // {} | tojson | with_variables) + "'"
        elif .body == "file" and .parts == [] then " \\\n    -H 'Content-Type: text/csv'"
            + " --data-binary @recipients.csv"
        elif .body == "file" then " \\\n    -F phoneNumberId=\"$PHONE_NUMBER_ID\""
            + " -F file=@picture.png"
        elif .body == "raw" then " \\\n    -H 'Content-Type: application/json'"
            + " -H \"X-Hub-Signature-256: sha256=$SIGNATURE\" -d \"$PAYLOAD\""
        else "" end)
    + (if any(.answers[]; .types | index("*/*")) then " -o file" else "" end);

# An answer to that request.
def example_answer: if .answer == null then empty
    else "{\"success\":true,\"data\":\(.answer | tojson)}" end;

# The route of a heading; null if it names none.
def route_of($routes): . as $text | first($routes[] | select(id == $text)) // null;

# The tables of a route: [{head, rows}], the rows of each with the texts of all scopes.
def route_tables:
    def table($head; $rows): select($rows != []) | {$head, $rows};
    table(["in the path", "meaning"]; [.segments[] | ["`\(.path)`", .text]]),
    table(["query", "type", "meaning"]; [.query[] | ["`\(.path)`", rules, .text]]),
    table(["header", "meaning"]; [.headers[] | ["`\(.path)`", .text]]),
    table(["part of the form", "meaning"]; [.parts[] | ["`\(.path)`", .text]]),
    table(["field", "type", "meaning"]; [.members[] | ["`\(.path)`", rules, .text]]),
    table(["kind", "chosen by"]; [.kinds[] | ["`\(.kind)`", ([.members | to_entries[]
        | "`\(.key)`" + (if .value == "any" then "" else ": \(.value)" end)] | join(", "))]]),
    table(["status", "error", "when"]; [.answers[] | ["\(.status)",
            (.types | if . == [] then "no body" else join(", ") end), .text]]
        + (.errors | sort_by(.status) | map(["\(.status)", "`\(.error)`", .text]))),
    table(["answer header", "on", "meaning"]; [.answer_headers[] | ["`\(.path)`", .on, .text]]);
# What the caller of a route must have, and what the route leaves in the trail.
def scope_text: if .scope then "Scope: `\(.scope)`." else empty end;
def lines_text: if .lines then "Lines: \(.lines)." else empty end;
def trail_text: if .trail == null then empty
    elif .trail == "none" then "It leaves no row in the trail: \(.no_trail)."
    elif .trail == "message" then "Its row in the trail is the message."
    else "It leaves a row `\(.trail)` in the trail." end;
def alternatives: .exclusive as $exclusive | .one_of[]
    | (if IN($exclusive[]) then "Exactly" else "At least" end) + " one of "
        + (map("`\(.)`") | join(", ")) + " is required.";

# Whether the block stands in the section of a route because the generator reads it.
def is_source: (.kind == "table" and (.head[0]
        | IN("field", "query", "segment", "header", "part", "status", "answer header")))
    or (.kind == "code" and (.info | IN("json request", "json answer")));
