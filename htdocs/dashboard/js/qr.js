// QR codes (ISO/IEC 18004) of texts of at most 213 bytes, as SVG: mode "byte", error correction M,
// versions 1 to 10.
import {svg} from './dom.js';

// Of each version: the number of blocks, and the codewords for error correction of each block.
const BLOCKS = [
    [1, 10], [1, 16], [1, 26], [2, 18], [2, 24], [4, 16], [4, 18], [4, 22], [5, 22], [5, 26]];
const QUIET = 4; // modules of the margin
const BYTE_MODE = 4, PADS = [0xec, 0x11];

const sizeOf = (version) => 17 + 4 * version;

// The centres of the alignment patterns, in each direction.
function centresOf(version) {
    const last = sizeOf(version) - 7;
    return version === 1 ? [] : version < 7 ? [6, last] : [6, (6 + last) / 2, last];
}

// --- Error correction: Reed-Solomon codes over GF(256), modulo x^8 + x^4 + x^3 + x^2 + 1 ---------

const EXP = [], LOG = [];
for (let i = 0, value = 1; i < 255; i++) {
    EXP[i] = value;
    LOG[value] = i;
    value = value << 1 ^ (value > 127 ? 0x11d : 0);
}

const multiply = (a, b) => (a && b ? EXP[(LOG[a] + LOG[b]) % 255] : 0);

// The product of (x + 2^i) for i below the degree, without its first coefficient, which is 1.
function generatorOf(degree) {
    let factors = [1];
    for (let i = 0; i < degree; i++)
        factors = [...factors, 0].map((value, at) =>
            value ^ multiply(factors[at - 1] ?? 0, EXP[i]));
    return factors.slice(1);
}

// The remainder of the data after the division by the generator.
function correctionOf(data, generator) {
    let rest = generator.map(() => 0);
    for (const value of data) {
        const factor = value ^ rest[0];
        rest = [...rest.slice(1), 0].map((one, at) => one ^ multiply(generator[at], factor));
    }
    return rest;
}

// --- Codewords -----------------------------------------------------------------------------------

// The codewords of a version, data and error correction: the modules that have no other use.
function codewordsOf(version) {
    const {isFixed} = patternsOf(version);
    return Math.floor(isFixed.flat().filter((fixed) => !fixed).length / 8);
}

const dataSizeOf = (version) =>
    codewordsOf(version) - BLOCKS[version - 1][0] * BLOCKS[version - 1][1];

// The bits of the segment, with the padding after it; null when the version is too small.
function dataOf(bytes, version) {
    const size = dataSizeOf(version), bits = [];
    const add = (value, count) => {
        for (let i = count - 1; i >= 0; i--)
            bits.push(value >> i & 1);
    };
    add(BYTE_MODE, 4);
    add(bytes.length, version < 10 ? 8 : 16);
    bytes.forEach((byte) => add(byte, 8));
    if (bits.length > size * 8)
        return null;
    add(0, Math.min(4, size * 8 - bits.length)); // the end
    add(0, (8 - bits.length % 8) % 8);
    for (let i = 0; bits.length < size * 8; i++)
        add(PADS[i % 2], 8);
    return Array.from({length: size}, (_, at) =>
        bits.slice(at * 8, at * 8 + 8).reduce((value, bit) => value << 1 | bit, 0));
}

// Takes the blocks' codewords in turn: of each the first, of each the second.
function interleave(blocks) {
    const longest = Math.max(...blocks.map((block) => block.length));
    return Array.from({length: longest}, (_, at) => blocks.map((block) => block[at])).flat()
        .filter((value) => value !== undefined);
}

// Splits the data into blocks, of which the last ones may be one codeword longer.
function withCorrection(data, version) {
    const [count, degree] = BLOCKS[version - 1], generator = generatorOf(degree);
    const shorter = Math.floor(data.length / count), short = count - data.length % count;
    const blocks = Array.from({length: count}, (_, i) => {
        const start = i * shorter + Math.max(0, i - short);
        return data.slice(start, start + shorter + (i >= short ? 1 : 0));
    });
    return [...interleave(blocks),
        ...interleave(blocks.map((block) => correctionOf(block, generator)))];
}

// --- Modules -------------------------------------------------------------------------------------

// The patterns that each code of the version has: {dark, isFixed}, rows of modules. The places of
// the format and the version are fixed, and light.
function patternsOf(version) {
    const size = sizeOf(version), centres = centresOf(version);
    const rows = () => Array.from({length: size}, () => Array(size).fill(false));
    const dark = rows(), isFixed = rows();
    const set = (x, y, value) => {
        if (x >= 0 && y >= 0 && x < size && y < size) {
            dark[y][x] = value;
            isFixed[y][x] = true;
        }
    };
    const square = (x, y, reach, isDark) => {
        for (let dy = -reach; dy <= reach; dy++) {
            for (let dx = -reach; dx <= reach; dx++)
                set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
        }
    };
    for (let i = 0; i < size; i++) {
        set(6, i, i % 2 === 0);
        set(i, 6, i % 2 === 0);
    }
    for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]])
        square(x, y, 4, (ring) => ring !== 2 && ring !== 4);
    for (const [x, y] of centres.flatMap((cx) => centres.map((cy) => [cx, cy]))) {
        if (Math.min(x, y) > 6 || (x !== y && x + y < size - 1)) // else a finder pattern is there
            square(x, y, 2, (ring) => ring !== 1);
    }
    for (const [x, y] of [...formatPlaces(size).flat(), ...versionPlaces(version).flat()])
        set(x, y, false);
    set(8, size - 8, true);
    return {dark, isFixed};
}

// The places of the 15 bits of the format, the lowest first; each bit has two.
function formatPlaces(size) {
    const near = (i) => (i < 6 ? i : i + 1); // beside the timing pattern, which is at 6
    return Array.from({length: 15}, (_, i) => [
        i < 8 ? [8, near(i)] : [near(14 - i), 8],
        i < 8 ? [size - 1 - i, 8] : [8, size - 15 + i],
    ]);
}

// The places of the 18 bits of the version, which those from 7 on have.
function versionPlaces(version) {
    const start = sizeOf(version) - 11;
    return Array.from({length: version < 7 ? 0 : 18}, (_, i) => {
        const far = start + i % 3, along = Math.floor(i / 3);
        return [[far, along], [along, far]];
    });
}

// A value with the remainder of a BCH code behind it.
function withRemainder(value, generator, count) {
    let rest = value << count;
    for (let bit = 31 - Math.clz32(rest); rest >> count; bit = 31 - Math.clz32(rest))
        rest ^= generator << bit - count;
    return value << count | rest;
}

// Whether a mask inverts a module.
const MASKS = [
    (x, y) => (x + y) % 2 === 0,
    (x, y) => y % 2 === 0,
    (x) => x % 3 === 0,
    (x, y) => (x + y) % 3 === 0,
    (x, y) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
    (x, y) => x * y % 2 + x * y % 3 === 0,
    (x, y) => (x * y % 2 + x * y % 3) % 2 === 0,
    (x, y) => ((x + y) % 2 + x * y % 3) % 2 === 0,
];

// Sets the modules of the codewords: from the right, in columns of two, in turn up and down.
function place(dark, isFixed, codewords, mask) {
    const size = dark.length;
    let bit = 0;
    for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) { // 6 is the timing pattern
        const isUpward = (right < 6 ? right + 1 : right) % 4 === (size - 1) % 4;
        for (let i = 0; i < size; i++) {
            const y = isUpward ? size - 1 - i : i;
            for (const x of [right, right - 1]) {
                if (isFixed[y][x])
                    continue;
                dark[y][x] = Boolean(codewords[bit >> 3] >> 7 - bit % 8 & 1) !== MASKS[mask](x, y);
                bit++;
            }
        }
    }
}

function codeOf(version, codewords, mask) {
    const {dark, isFixed} = patternsOf(version);
    place(dark, isFixed, codewords, mask);
    const format = withRemainder(mask, 0x537, 10) ^ 0x5412; // the bits 00 before the mask are M
    formatPlaces(dark.length).forEach((places, i) => places.forEach(([x, y]) => {
        dark[y][x] = Boolean(format >> i & 1);
    }));
    const number = withRemainder(version, 0x1f25, 12);
    versionPlaces(version).forEach((places, i) => places.forEach(([x, y]) => {
        dark[y][x] = Boolean(number >> i & 1);
    }));
    return dark;
}

// --- The choice of the mask: what could mislead a reader costs points ---------------------------

function costOfLine(line) {
    const text = line.map(Number).join('');
    const runs = text.match(/0{5,}|1{5,}/g) ?? [];
    const finders = text.match(/(?=00001011101|10111010000)/g) ?? [];
    return runs.reduce((sum, run) => sum + run.length - 2, 0) + finders.length * 40;
}

function costOf(dark) {
    const columns = dark.map((_, x) => dark.map((row) => row[x]));
    const count = dark.flat().filter(Boolean).length, share = count / dark.length ** 2;
    const boxes = dark.slice(1).flatMap((row, y) => row.slice(1).filter((value, x) =>
        value === row[x] && value === dark[y][x] && value === dark[y][x + 1]));
    return [...dark, ...columns].reduce((sum, line) => sum + costOfLine(line), 0)
        + boxes.length * 3 + Math.floor(Math.abs(share - 0.5) * 20) * 10;
}

// The modules of the code of a text, rows of booleans; null when the text is too long.
export function matrixOf(text) {
    const bytes = [...new TextEncoder().encode(text)];
    for (let version = 1; version <= BLOCKS.length; version++) {
        const data = dataOf(bytes, version);
        if (!data)
            continue;
        const codewords = withCorrection(data, version);
        const codes = MASKS.map((_, mask) => codeOf(version, codewords, mask));
        const costs = codes.map(costOf);
        return codes[costs.indexOf(Math.min(...costs))];
    }
    return null;
}

// The code as a picture, black on white in each theme; null when the text is too long.
export function qrPicture(text, label) {
    const dark = matrixOf(text);
    if (!dark)
        return null;
    const side = dark.length + 2 * QUIET;
    const d = dark.flatMap((row, y) => row.map((isDark, x) =>
        (isDark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : ''))).join('');
    return svg('svg', {class: 'qr', viewBox: `0 0 ${side} ${side}`, role: 'img',
        'aria-label': label, 'shape-rendering': 'crispEdges'},
    svg('rect', {width: side, height: side, fill: '#fff'}), svg('path', {d, fill: '#000'}));
}
