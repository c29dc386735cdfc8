// Comparing what is searched with texts.

// Without case, accents and underscores: "Pedido Confirmado" finds pedido_confirmado.
function folded(text) {
    return text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('_', ' ').toLowerCase();
}

// Whether each word of the search stands in one of the texts.
export function isFound(texts, search) {
    const all = folded(texts.filter(Boolean).join('\n'));
    return folded(search).split(/\s+/).every((word) => all.includes(word));
}
