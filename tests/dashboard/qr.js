// Reads the text of a QR code without an error in it, from the tables of ISO/IEC 18004 and not from
// those of the page: decode(rows of booleans). Throws when the code is not as the standard has it.
const assert = require('node:assert/strict');

// The formats of error correction M with the masks 0 to 7, and the versions from 7 on (annexes C
// and D); the centres of the alignment patterns (annex E); the data codewords of each block, and
// how many more correct its errors (table 9).
const FORMATS = [0x5412, 0x5125, 0x5e7c, 0x5b4b, 0x45f9, 0x40ce, 0x4f97, 0x4aa0];
const NUMBERS = {7: 0x07c94, 8: 0x085bc, 9: 0x09a99, 10: 0x0a4d3};
const CENTRES = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42],
    [6, 26, 46], [6, 28, 50]];
const DATA = [[16], [28], [44], [32, 32], [43, 43], [27, 27, 27, 27], [31, 31, 31, 31],
    [38, 38, 39, 39], [36, 36, 36, 37, 37], [43, 43, 43, 43, 44]];
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26];

const MASKS = [
    (row, column) => (row + column) % 2,
    (row) => row % 2,
    (row, column) => column % 3,
    (row, column) => (row + column) % 3,
    (row, column) => ((row >> 1) + Math.floor(column / 3)) % 2,
    (row, column) => (row * column) % 2 + (row * column) % 3,
    (row, column) => ((row * column) % 2 + (row * column) % 3) % 2,
    (row, column) => ((row + column) % 2 + (row * column) % 3) % 2,
];

// The product in GF(256), bit by bit.
function times(a, b) {
    let product = 0;
    for (let i = 7; i >= 0; i--) {
        product = product << 1 ^ (product & 0x80 ? 0x11d : 0);
        product ^= b >> i & 1 ? a : 0;
    }
    return product;
}

// A codeword of the code is zero at each power of 2.
function assertCorrect(block, degree) {
    for (let i = 0, power = 1; i < degree; i++, power = times(power, 2))
        assert.equal(block.reduce((sum, one) => times(sum, power) ^ one, 0), 0, `zero ${i}`);
}

const numberOf = (bits) => bits.reduce((value, bit) => value * 2 + Number(bit), 0);

// Checks the patterns that each code of the version has, and says which modules they take.
function takenBy(code, version) {
    const size = code.length, taken = code.map((row) => row.map(() => false));
    const take = (row, column, text) => [...text].forEach((one, i) => {
        taken[row][column + i] = true;
        assert.equal(code[row][column + i] ? '#' : '.', one, `row ${row}, column ${column + i}`);
    });
    const finder = ['#######', '#.....#', '#.###.#', '#.###.#', '#.###.#', '#.....#', '#######'];
    finder.forEach((text, i) => {
        take(i, 0, `${text}.`);
        take(i, size - 8, `.${text}`);
        take(size - 7 + i, 0, `${text}.`);
    });
    take(7, 0, '........');
    take(7, size - 8, '........');
    take(size - 8, 0, '........');
    const centres = CENTRES[version - 1], far = size - 7;
    for (const row of centres) {
        for (const column of centres) {
            if (!['6 6', `6 ${far}`, `${far} 6`].includes(`${row} ${column}`))
                ['#####', '#...#', '#.#.#', '#...#', '#####'].forEach((text, i) =>
                    take(row - 2 + i, column - 2, text));
        }
    }
    for (let i = 8; i < size - 8; i++) {
        take(6, i, i % 2 ? '.' : '#');
        take(i, 6, i % 2 ? '.' : '#');
    }
    take(size - 8, 8, '#');
    return taken;
}

// The mask, by the format beside each of the finder patterns.
function maskOf(code, taken) {
    const size = code.length, read = (places) => numberOf(places.map(([row, column]) => {
        taken[row][column] = true;
        return code[row][column];
    }));
    const down = [0, 1, 2, 3, 4, 5, 7, 8].map((row) => [row, 8]);
    const left = [7, 5, 4, 3, 2, 1, 0].map((column) => [8, column]);
    const first = read([...down, ...left].reverse());
    const below = Array.from({length: 7}, (_, i) => [size - 1 - i, 8]);
    const right = Array.from({length: 8}, (_, i) => [8, size - 8 + i]);
    assert.equal(read([...below, ...right]), first);
    assert.ok(FORMATS.includes(first), `format ${first.toString(16)}`);
    return FORMATS.indexOf(first);
}

function checkVersion(code, taken, version) {
    if (!NUMBERS[version])
        return;
    const size = code.length, bits = [[], []];
    for (let i = 17; i >= 0; i--) {
        const far = size - 11 + i % 3, along = Math.floor(i / 3);
        bits[0].push(code[far][along]);
        bits[1].push(code[along][far]);
        taken[far][along] = taken[along][far] = true;
    }
    assert.deepEqual(bits.map(numberOf), [NUMBERS[version], NUMBERS[version]]);
}

function codewordsOf(code, taken, mask) {
    const size = code.length, bits = [];
    const columns = Array.from({length: size}, (_, i) => size - 1 - i).filter((i) => i !== 6);
    for (let pair = 0; pair < columns.length; pair += 2) {
        for (let i = 0; i < size; i++) {
            const row = pair % 4 ? i : size - 1 - i;
            for (const column of columns.slice(pair, pair + 2)) {
                if (!taken[row][column])
                    bits.push(code[row][column] !== (MASKS[mask](row, column) === 0));
            }
        }
    }
    return Array.from({length: bits.length >> 3}, (_, i) => numberOf(bits.slice(i * 8, i * 8 + 8)));
}

// The data codewords, in their order.
function dataOf(codewords, version) {
    const sizes = DATA[version - 1], degree = CORRECTION[version - 1], rest = [...codewords];
    const blocks = sizes.map(() => []);
    for (let i = 0; i < Math.max(...sizes); i++)
        blocks.forEach((block, at) => i < sizes[at] && block.push(rest.shift()));
    const data = blocks.flatMap((block) => [...block]);
    for (let i = 0; i < degree; i++)
        blocks.forEach((block) => block.push(rest.shift()));
    assert.equal(rest.length, 0);
    blocks.forEach((block) => assertCorrect(block, degree));
    return data;
}

exports.decode = (code) => {
    const version = (code.length - 17) / 4, taken = takenBy(code, version);
    const mask = maskOf(code, taken);
    checkVersion(code, taken, version);
    const data = dataOf(codewordsOf(code, taken, mask), version);
    const bits = data.map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const start = version < 10 ? 12 : 20, count = parseInt(bits.slice(4, start), 2);
    assert.equal(bits.slice(0, 4), '0100', 'bytes');
    const end = start + 8 * count, padding = bits.slice(end);
    assert.match(padding, /^0{0,11}(1110110000010001)*(11101100)?$/);
    const bytes = bits.slice(start, end).match(/.{8}/g) ?? [];
    return Buffer.from(bytes.map((byte) => parseInt(byte, 2))).toString();
};
