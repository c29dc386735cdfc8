# Makes llms.txt of the reference: what it is, and one line for each route.
include "common";

. as $all | "# Switchboard \(.version)\n\n"
    + "> An HTTP JSON gateway in front of the WhatsApp Business Cloud API.\n\n"
    + "Every answer is `{\"success\":true,\"data\":...}` or `{\"success\":false,\"error\":CODE,"
    + "\"message\":...,\"details\":...}`. Send the header `Authorization: Bearer TOKEN`.\n\n"
    + "- [OpenAPI 3.1](/v2/openapi.json): every route with its schemas\n"
    + "- [Reference](/v2/docs/): the same with all texts\n"
    + ([.pages[] | . as $page | [$all.routes[] | select(.page == $page.page)
            | "- [\(id)](/v2/docs/#\(id | anchor)): \(.summary | plain)"]
        | select(. != []) | "\n## \($page.title)\n\n" + join("\n") + "\n"] | join(""))
    + "\n## Events\n\n"
    + ([.events[] | "- \(.type): \(.text[0] // "" | plain)"] | join("\n"))
