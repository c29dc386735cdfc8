// The lines, as pages name them.

// The name that the owner gave, and the number.
export function lineLabel({name, phoneNumber}) {
    return [name, phoneNumber].filter(Boolean).join(' · ');
}

// The lines of these ids by their names; an id that is none of theirs stays. `key` names the id.
export function lineNames(lines, ids, key) {
    const names = new Map(lines.map((line) => [line[key], line.name || line.phoneNumber]));
    return ids.map((id) => names.get(id) ?? id).join(', ');
}
