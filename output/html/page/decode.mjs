// SPDX-License-Identifier: BSD-3-Clause
//
// Decodes the page's data, whose parts columns.h describes, into arrays.

// The digits of base 116 in ascending order: ASCII, without those that base116.h names.
const DIGITS = 116, BYTES = 6;
const digitOf = new Uint8Array(128);
Array.from({ length: 126 }, (_, i) => String.fromCharCode(i + 1))
	.filter((character) => !"\x07\b\n\r\x0e\x0f\x1a\x1b&<".includes(character))
	.forEach((character, digit) => {
		digitOf[character.charCodeAt(0)] = digit;
	});

// Returns the bytes that base116_write() wrote as text: groups of six, the last one of fewer.
export function fromDigits(text) {
	const { length } = text, bytes = new Uint8Array(Math.floor(length * BYTES / (BYTES + 1)));
	for (let from = 0, at = 0; from < length; from += BYTES + 1, at += BYTES) {
		const end = Math.min(from + BYTES + 1, length);
		let number = 0;
		for (let i = from; i < end; i++)
			number = number * DIGITS + digitOf[text.charCodeAt(i)];
		// Bit operations take 32 bits.
		let high = Math.floor(number / 0x1000000), low = number % 0x1000000;
		for (let i = at + end - from - 2; i >= at; i--) {
			bytes[i] = low;
			low = low >>> 8 | (high & 255) << 16;
			high >>>= 8;
		}
	}
	return bytes;
}

// Returns the bytes of a gzip file.
export async function unpack(text) {
	const stream = new Blob([fromDigits(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Makes zigzag numbers signed.
function unfold(numbers, from, to) {
	for (let i = from; i < to; i++) {
		const half = Math.floor(numbers[i] / 2);
		numbers[i] = numbers[i] > half * 2 ? -half - 1 : half;
	}
}

// Reads the numbers of a part: the number of rows, then columns.
export class Columns {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
		this.rows = this.varint();
	}

	varint() {
		const bytes = this.bytes;
		let byte = bytes[this.at++], value = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = bytes[this.at++];
			value += (byte & 127) * scale;
		}
		return value;
	}

	// Reads a column into an array, from an index on.
	column(to, from) {
		const bytes = this.bytes, size = this.varint(), end = this.at + size;
		let at = this.at;
		for (let i = from; at < end; i++) {
			let byte = bytes[at++], value = byte & 127;
			for (let scale = 128; byte > 127; scale *= 128) {
				byte = bytes[at++];
				value += (byte & 127) * scale;
			}
			to[i] = value;
		}
		this.at = end;
	}

	// Reads a column of signed numbers.
	signed(to, from) {
		this.column(to, from);
		unfold(to, from, from + this.rows);
	}

	// Reads a column of the lowest 7 bits, and one of the others.
	split(to, from) {
		const high = new to.constructor(this.rows);
		this.column(to, from);
		this.column(high, 0);
		for (let i = 0; i < this.rows; i++)
			to[from + i] += high[i] * 128;
	}
}

// Collects the samples: for each part, arrays of times (us since the page's start), threads,
// states, exits, call chains (stack) and weights, the last ones by their names.
export class Samples {
	constructor() {
		this.parts = [];
		this.count = 0;
		this.now = 0;
		this.seen = []; // by thread: time of its last sample
	}

	add(bytes) {
		const columns = new Columns(bytes), n = columns.rows;
		const part = {
			time: new Float64Array(n), thread: new Uint32Array(n),
			state: new Uint8Array(n), exit: new Uint32Array(n), stack: new Uint32Array(n),
			samples: new Float64Array(n), "cpu-time": new Float64Array(n),
			wall: new Float64Array(n),
		};
		columns.split(part.time, 0);
		unfold(part.time, 0, n);
		columns.column(part.thread, 0);
		columns.column(part.state, 0);
		columns.column(part.exit, 0);
		columns.split(part.stack, 0);
		columns.column(part.samples, 0);
		columns.split(part["cpu-time"], 0);
		columns.signed(part.wall, 0);
		const step = n > 1 ? part.time[1] : 0;
		for (let i = 0; i < n; i++) {
			const thread = part.thread[i];
			this.now = part.time[i] += this.now + (i > 1 ? step : 0);
			part.wall[i] += this.now - (this.seen[thread] || 0);
			this.seen[thread] = this.now;
			part.samples[i] += 1;
		}
		this.parts.push(part);
		this.count += n;
	}
}

// Collects what threads waited for: for each part, arrays of times (from, to; us since the page's
// start), threads, states (of waits) and call chains (stack).
export class Waits {
	constructor() {
		this.parts = [];
		this.end = []; // by thread: of its last wait
	}

	add(bytes) {
		const columns = new Columns(bytes), n = columns.rows;
		const part = {
			from: new Float64Array(n), to: new Float64Array(n), thread: new Uint32Array(n),
			state: new Uint8Array(n), stack: new Uint32Array(n),
		};
		columns.split(part.from, 0);
		unfold(part.from, 0, n);
		columns.split(part.to, 0);
		columns.column(part.thread, 0);
		columns.column(part.state, 0);
		columns.split(part.stack, 0);
		for (let i = 0; i < n; i++) {
			part.from[i] += this.end[part.thread[i]] || 0;
			this.end[part.thread[i]] = part.to[i] += part.from[i];
		}
		this.parts.push(part);
	}
}

// Returns the tree of call chains, numbered as in the part: node 0 is the root.
export function decodeTree(bytes) {
	const columns = new Columns(bytes), count = columns.rows + 1;
	const parent = new Int32Array(count), key = new Int32Array(count);
	columns.column(parent, 1);
	columns.split(key, 1);
	for (let i = 1; i < count; i++)
		parent[i] = i - parent[i];
	return { parent, key };
}

// Returns the node of each call chain.
export function decodeStacks(bytes) {
	const columns = new Columns(bytes), node = new Int32Array(columns.rows);
	columns.signed(node, 0);
	for (let i = 1; i < node.length; i++)
		node[i] += node[i - 1];
	return node;
}

// Returns what each chunk of the first recording counted, from its time to that of the next
// one: rounds, not those missed; paused, us; missed rounds.
export function decodeChunks(bytes) {
	const columns = new Columns(bytes), chunks = {};
	for (const name of ["time", "rounds", "paused", "missed"])
		chunks[name] = new Float64Array(columns.rows);
	columns.signed(chunks.time, 0);
	for (let i = 1; i < columns.rows; i++)
		chunks.time[i] += chunks.time[i - 1];
	for (const name of ["rounds", "paused", "missed"])
		columns.column(chunks[name], 0);
	return chunks;
}
