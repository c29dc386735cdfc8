// The OpenAPI document: finds the operation of a request, and validates by its schemas.
"use strict";
const fs = require("fs");

const modules = process.env.NODE_MODULES;
const Ajv = require(`${modules}/ajv/dist/2020`).default;
const addFormats = require(`${modules}/ajv-formats`).default;

const pointer = (...names) => names.map((name) =>
    `/${String(name).replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");

// The bytes of a path's part as text; null if it is not percent-encoded correctly.
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return null;
    }
}

class Document {
    constructor(file) {
        this.content = JSON.parse(fs.readFileSync(file, "utf8"));
        this.ajv = new Ajv({ strict: false, allErrors: false });
        addFormats(this.ajv);
        this.ajv.addSchema(this.content, "document");
        this.validators = new Map();
        this.operations = [];
        for (const [template, item] of Object.entries(this.content.paths)) {
            for (const [method, operation] of Object.entries(item)) {
                this.operations.push({
                    id: `${method.toUpperCase()} ${template}`, method: method.toUpperCase(),
                    template, operation, place: pointer("paths", template, method),
                    segments: template.split("/"),
                });
            }
        }
        // a path without parameters counts before one with them
        const parameters = (each) => each.segments.filter((text) => text.startsWith("{")).length;
        this.operations.sort((a, b) => parameters(a) - parameters(b));
    }

    // Whether the part of a path fits the segment of an operation's path.
    fits({ operation }, segment, part) {
        if (!segment.startsWith("{"))
            return segment === decoded(part);
        const { schema } = operation.parameters.find(({ name }) => name === segment.slice(1, -1));
        return part !== "" && (!schema.pattern || new RegExp(schema.pattern).test(decoded(part)));
    }

    // The operations of the path that matches, whatever their method. Of several paths, such as
    // /v2/events/replay and /v2/events/{eventId}, the one with the fewest parameters counts, and
    // those of the same program.
    matching(path) {
        const parts = path.split("/");
        const found = this.operations.filter((each) => each.segments.length === parts.length
            && each.segments.every((segment, i) => this.fits(each, segment, parts[i])));
        return found.filter(({ operation }) => operation.tags[0] === found[0].operation.tags[0]);
    }

    // Follows a reference within the document: [the object, the pointer to it].
    resolve(object, place) {
        if (!object.$ref)
            return [object, place];
        const target = object.$ref.slice(1);
        const found = target.split("/").slice(1).reduce((value, name) =>
            value[name.replace(/~1/g, "/").replace(/~0/g, "~")], this.content);
        return [found, target];
    }

    // Validates a value by the schema at the pointer: null, or what is wrong, and the place in the
    // schema.
    mismatch(place, value) {
        let validate = this.validators.get(place);
        if (!validate) {
            validate = this.ajv.compile({ $ref: `document#${encodeURI(place)}` });
            this.validators.set(place, validate);
        }
        if (validate(value))
            return null;
        const error = validate.errors[0];
        const detail = error.params.additionalProperty ?? error.params.unevaluatedProperty ?? "";
        return `${error.instancePath || "it"} ${error.message}${detail && ` (${detail})`}: schema `
            + `${place}, ${error.schemaPath}`;
    }
}

module.exports = { Document, decoded, pointer };
