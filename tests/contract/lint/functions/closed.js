// A rule of Spectral: every object of a schema lists all its members, except data that is passed
// through, which is marked with `x-passthrough`.
const lists = (schema) => schema.unevaluatedProperties === false
    || schema.additionalProperties === false || typeof schema.additionalProperties === "object";

const isObject = (schema) => schema.properties !== undefined
    || [].concat(schema.type ?? []).includes("object");

// The open objects of a schema, as paths. A part of `allOf` is closed by the schema around it or by
// another part.
function* open(schema, path, isPart) {
    if (typeof schema !== "object" || schema === null || schema["x-passthrough"] === true)
        return;
    const parts = schema.allOf ?? [];
    if (isObject(schema) && !lists(schema) && !isPart)
        yield path;
    for (const [name, value] of Object.entries(schema.properties ?? {}))
        yield* open(value, [...path, "properties", name]);
    yield* open(schema.items, [...path, "items"]);
    for (const kind of ["anyOf", "oneOf"]) {
        for (const [i, value] of (schema[kind] ?? []).entries())
            yield* open(value, [...path, kind, i]);
    }
    if (parts.length > 0 && !lists(schema) && !parts.some(lists))
        yield path;
    for (const [i, value] of parts.entries())
        yield* open(value, [...path, "allOf", i], true);
}

export default function closed(schema, options, { path }) {
    return [...open(schema, path, false)].map((place) => ({
        message: `${place.join(".")} is an open object: add "unevaluatedProperties": false, or `
            + "\"x-passthrough\": true",
        path: place,
    }));
}
