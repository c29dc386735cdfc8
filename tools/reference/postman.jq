# Makes a Postman collection (v2.1) of the reference.
include "common";

def request: {
    method: .method,
    header: [select(.body == "json") | {key: "Content-Type", value: "application/json"}],
    url: {raw: "{{baseUrl}}\(.path)", host: ["{{baseUrl}}"],
        path: (.path | split("/")[1:]),
        query: [.query[] | {key: .path, value: "", description: .text, disabled: true}],
        variable: [.segments[] | {key: .path, value: "", description: .text}]},
    description: (.text | map(plain) | join("\n\n"))}
    + (if .body == "json" then {body: {mode: "raw", raw: (.request // {} | tojson),
            options: {raw: {language: "json"}}}}
        elif .body == "file" and .parts == [] then {body: {mode: "file", file: {src: ""}}}
        elif .body == "file" then {body: {mode: "formdata", formdata: [.parts[]
            | {key: .path, type: (if .path == "file" then "file" else "text" end), value: "",
                description: .text}]}}
        else {} end)
    + (if any(.requires[]; . == "either") then {} else {auth: {type: "noauth"}} end);

. as $all | {
    info: {name: "Switchboard", version: .version,
        schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
    auth: {type: "bearer", bearer: [{key: "token", value: "{{token}}", type: "string"}]},
    variable: [{key: "baseUrl", value: "http://localhost:8080"}, {key: "token", value: ""}],
    item: [.pages[] | . as $page | {name: .title,
            item: [$all.routes[] | select(.page == $page.page) | {name: id, request: request}]}
        | select(.item != [])]}
