// Writes the Opus packets of a WebM file (RFC 9559), which Chromium records, as Ogg (RFC 7845),
// which the platform takes: the sound stays as it is.

// --- WebM ----------------------------------------------------------------------------------------

const CODEC_PRIVATE = 0x63a2; // the head of the Opus stream
const BLOCKS = new Set([0xa3, 0xa1]); // SimpleBlock, Block
// Segment, Tracks, TrackEntry, Cluster, BlockGroup: what stands in them follows their head.
const CONTAINERS = new Set([0x18538067, 0x1654ae6b, 0xae, 0x1f43b675, 0xa0]);

// A number whose first byte says by its leading zeros how many bytes it has; the id of an element
// keeps the bit that ends them.
function readNumber(bytes, at, isId) {
    const length = Math.clz32(bytes[at]) - 23;
    let value = isId ? bytes[at] : bytes[at] & (0xff >> length);
    for (let i = 1; i < length; i++)
        value = value * 256 + bytes[at + i];
    return {value, end: at + length};
}

// Track (one byte below 128 tracks), time and flags stand before the packet.
function packetOf(block) {
    return block.subarray(readNumber(block, 0, false).end + 3);
}

function readWebm(bytes) {
    let head = null;
    const packets = [];
    for (let at = 0; at < bytes.length;) {
        const id = readNumber(bytes, at, true);
        const size = readNumber(bytes, id.end, false);
        at = size.end;
        if (CONTAINERS.has(id.value))
            continue;
        const content = bytes.subarray(at, at + size.value);
        if (id.value === CODEC_PRIVATE)
            head = content;
        else if (BLOCKS.has(id.value))
            packets.push(packetOf(content));
        at += size.value;
    }
    return {head, packets};
}

// --- Opus (RFC 6716 3.1) -------------------------------------------------------------------------

// The samples of a packet, at 48,000 a second.
function samplesOf(packet) {
    const config = packet[0] >> 3;
    const frame = config < 12 ? [480, 960, 1920, 2880][config & 3]
        : config < 16 ? [480, 960][config & 1] : [120, 240, 480, 960][config & 3];
    const code = packet[0] & 3;
    return frame * (code === 3 ? packet[1] & 0x3f : code ? 2 : 1);
}

function tags() {
    const vendor = new TextEncoder().encode('Switchboard');
    const bytes = new Uint8Array(8 + 4 + vendor.length + 4);
    bytes.set(new TextEncoder().encode('OpusTags'));
    new DataView(bytes.buffer).setUint32(8, vendor.length, true);
    bytes.set(vendor, 12);
    return bytes;
}

// --- Ogg (RFC 3533 6) ----------------------------------------------------------------------------

const POLYNOMIAL = 0x04c11db7;
const CRC = Uint32Array.from({length: 256}, (_, i) => {
    let value = i << 24;
    for (let bit = 0; bit < 8; bit++)
        value = value & 0x80000000 ? value << 1 ^ POLYNOMIAL : value << 1;
    return value;
});

function crcOf(bytes) {
    let value = 0;
    for (const byte of bytes)
        value = value << 8 ^ CRC[value >>> 24 ^ byte];
    return value >>> 0;
}

const FIRST = 2, LAST = 4; // flags of a page
const SEGMENTS = 255; // of a page; a packet has one for each 255 bytes, and one more
const PACKETS = 50; // of a page

function segmentsOf(packet) {
    return Math.floor(packet.length / 255) + 1;
}

function pageOf({packets, flags, samples, serial, number}) {
    const lacing = packets.flatMap((packet) =>
        [...Array(segmentsOf(packet) - 1).fill(255), packet.length % 255]);
    const length = packets.reduce((sum, packet) => sum + packet.length, 0);
    const bytes = new Uint8Array(27 + lacing.length + length);
    const view = new DataView(bytes.buffer);
    bytes.set(new TextEncoder().encode('OggS'));
    bytes[5] = flags;
    view.setBigUint64(6, BigInt(samples), true);
    view.setUint32(14, serial, true);
    view.setUint32(18, number, true);
    bytes[26] = lacing.length;
    bytes.set(lacing, 27);
    let at = 27 + lacing.length;
    for (const packet of packets) {
        bytes.set(packet, at);
        at += packet.length;
    }
    view.setUint32(22, crcOf(bytes), true);
    return bytes;
}

// The packets of each page.
function grouped(packets) {
    const pages = [];
    let room = 0;
    for (const packet of packets) {
        if (segmentsOf(packet) > room || pages.at(-1).length === PACKETS) {
            pages.push([]);
            room = SEGMENTS;
        }
        pages.at(-1).push(packet);
        room -= segmentsOf(packet);
    }
    return pages;
}

// Returns the bytes of an Ogg file with the sound of a WebM file's bytes, in pages. Throws where
// the file has no Opus.
export function oggOfWebm(bytes) {
    const {head, packets} = readWebm(bytes);
    if (!head || !packets.length)
        throw new Error('no sound was recorded');
    const [serial] = crypto.getRandomValues(new Uint32Array(1));
    let samples = 0;
    const pages = grouped(packets);
    return [
        pageOf({packets: [head], flags: FIRST, samples, serial, number: 0}),
        pageOf({packets: [tags()], flags: 0, samples, serial, number: 1}),
        ...pages.map((page, i) => {
            samples += page.reduce((sum, packet) => sum + samplesOf(packet), 0);
            return pageOf({packets: page, flags: i === pages.length - 1 ? LAST : 0, samples,
                serial, number: i + 2});
        }),
    ];
}
