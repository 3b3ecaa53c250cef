// SPDX-License-Identifier: BSD-3-Clause
//
// Known sums of the page's model: node --test page.test.mjs
import assert from "node:assert/strict";
import test from "node:test";
import { colouring } from "../../output/html/page/colours.mjs";
import { Columns, Waits, decodeStacks, decodeTree, fromDigits } from "../../output/html/page/decode.mjs";
import { changeInterval, shareInterval } from "../../output/html/page/intervals.mjs";
import { Model, NONE, mergeRanges } from "../../output/html/page/model.mjs";
import { matchNames } from "../../output/html/page/search.mjs";
import { formatState, parseState } from "../../output/html/page/state.mjs";

// Functions, modules: web and db are domains; main calls read and itself, through read.
const functions = ["web", "main", "read", "copy", "db", "idle"];
const modules = ["", "app", "libc", "kernel"];
const module_of = [0, 1, 2, 2, 0, 3];

//  1 web         6 db
//  2   main      7   idle
//  3     read
//  4       main
//  5       copy
const tree = {
	parent: Int32Array.of(-1, 0, 1, 2, 3, 3, 0, 6),
	key: Int32Array.of(-1, 0, 1, 2, 1, 3, 4, 5),
};
const stacks = Int32Array.of(2, 4, 5, 7); // nodes of the chains 0 to 3

// time, thread, state, stack, samples, CPU time, wall time, exit
const samples = [
	[0, 0, 1, 0, 1, 5, 0, 0],
	[10, 1, 3, 3, 1, 0, 0, 2],
	[20, 0, 1, 1, 2, 15, 20, 1],
	[30, 1, 2, 3, 1, 7, 20, 0],
	[40, 0, 3, 2, 1, 0, 20, 0],
	[60, 0, 9, 2, 4, 20, 20, 1], // a later version's state
];

// What chunks counted; the second one is as long as the third, and ends with the recording.
const chunks = { time: [0, 40, 80], rounds: [4, 3, 0], paused: [2, 0, 10], missed: [0, 1, 5] };

// What two threads waited for; the second one's first wait is not known.
const waits = {
	from: [0, 30, 60], to: [20, 50, 90], thread: [0, 0, 1], state: [1, 2, 1], stack: [1, 2, 1],
};

function makeModel(facts) {
	const column = (rows, i, Type) => Type.from(rows, (sample) => sample[i]);
	const parts = [samples.slice(0, 2), samples.slice(2)].map((rows) => ({
		time: column(rows, 0, Float64Array), thread: column(rows, 1, Uint32Array),
		state: column(rows, 2, Uint8Array), stack: column(rows, 3, Uint32Array),
		samples: column(rows, 4, Float64Array), "cpu-time": column(rows, 5, Float64Array),
		wall: column(rows, 6, Float64Array), exit: column(rows, 7, Uint32Array),
	}));
	return new Model({
		functions, modules, module_of, shows_domains: 1, states: ["unknown", "running", "runnable", "blocked"],
		threads: [{ domain: "web", vcpu: 0 }, { domain: "db", vcpu: 0 }], duration: 100, start: 0,
		recordings: ["web.data"], wait_states: ["unknown", "sleeping", "uninterruptible"],
		wait_threads: [{ domain: "web", name: "main[1]" }, { domain: "web", name: "pool[2]" }], ...facts,
	}, tree, stacks, { count: samples.length, parts }, chunks, { parts: [waits] });
}

const all = { weight: "samples", ranges: [], isThread: null, isState: null };
const model = makeModel();

// The functions' sums, as NAME: [self, total]
function table(selection) {
	const { self, total } = model.byFunction(model.sum({ ...all, ...selection }));
	return Object.fromEntries(functions.map((name, i) => [name, [self[i], total[i]]])
		.filter(([, sums]) => sums[1]));
}

// A graph's frames as CALLER;FRAME: weight with callees
function frames(graph, selection) {
	const sums = graph.sum(model.sum({ ...all, ...selection })), { count, parent } = graph.tree;
	const path = (i) => (i ? `${path(parent[i])};${graph.name(i)}` : graph.name(0));
	const shown = {};
	for (let i = 0; i < count; i++)
		if (sums.below[i])
			shown[path(i)] = sums.below[i];
	return shown;
}

test("a recursive function counts once", () => {
	assert.deepEqual(table({}), { main: [3, 8], read: [0, 7], copy: [5, 5], idle: [2, 2] });
});

test("weights, ranges, threads and states select", () => {
	assert.deepEqual(table({ weight: "wall" }), { main: [20, 60], read: [0, 60], copy: [40, 40], idle: [20, 20] });
	assert.deepEqual(table({ ranges: [[0, 20]] }), { main: [1, 1], idle: [1, 1] });
	assert.deepEqual(table({ ranges: [[40, 41], [0, 1], [0.5, 2]] }), { main: [1, 2], read: [0, 1], copy: [1, 1] });
	assert.deepEqual(table({ ranges: [[5, 5]] }), {});
	assert.deepEqual(table({ isThread: [false, true], weight: "cpu-time" }), { idle: [7, 7] });
	assert.deepEqual(table({ isState: { 1: true } }), { main: [3, 3], read: [0, 2] });
});

test("graphs", () => {
	assert.deepEqual(frames(model.graph("functions"), {}), {
		all: 10, "all;db": 2, "all;db;idle": 2, "all;web": 8, "all;web;main": 8,
		"all;web;main;read": 7, "all;web;main;read;copy": 5, "all;web;main;read;main": 2,
	});
	assert.deepEqual(frames(model.graph("modules"), {}), {
		all: 10, "all;db": 2, "all;db;kernel": 2, "all;web": 8, "all;web;app": 8,
		"all;web;app;libc": 7, "all;web;app;libc;app": 2,
	});
	assert.deepEqual(frames(model.graph("inverted"), { ranges: [[20, 50]], isThread: [true, false] }), {
		all: 3, "all;web": 3, "all;web;copy": 1, "all;web;copy;read": 1, "all;web;copy;read;main": 1,
		"all;web;main": 2, "all;web;main;read": 2, "all;web;main;read;main": 2,
	});
	assert.deepEqual(frames(model.graph("callees", 1), {}), {
		main: 8, "main;read": 7, "main;read;copy": 5, "main;read;main": 2,
	});
	assert.deepEqual(frames(model.graph("callers", 2), {}), { read: 7, "read;main": 7 });
});

test("searches are exact, and find no domain", () => {
	const isMatch = (pattern) => matchNames(functions, pattern);
	const search = (pattern) => model.matching(model.sum(all), isMatch(pattern));
	assert.equal(search(/^(main|read|copy)$/), 8);
	assert.equal(search(/^copy$|idle/), 7);
	assert.equal(search(/web|db/), 0);
	assert.deepEqual([...model.matchingStacks(isMatch(/read/))], [0, 1, 1, 0]);
	// The domain's key in the graph of modules is below NONE.
	const graph = model.graph("modules"), found = graph.matches(isMatch(/web/), matchNames(modules, /app|libc/));
	assert.deepEqual(Array.from(found.keys()).filter((node) => found[node]).map((node) => graph.name(node)),
		["app", "libc", "app"]);
});

test("sums by module, thread and time", () => {
	const { self, total } = model.byModule(model.sum(all));
	assert.deepEqual([[...self], [...total]], [[0, 3, 5, 2], [0, 8, 7, 2]]);
	assert.deepEqual([...model.sumBy(all, 2, (part, i) => part.thread[i])], [8, 2]);
	const heat = model.heat({
		selection: all, from: 0, to: 100, columns: 2, rows: 2, rowOf: [1, 0],
		isShown: [true, true, true, false], isStack: null,
	});
	assert.deepEqual([[...heat.shown], [...heat.all]], [[1, 0, 3, 0], [2, 0, 4, 4]]);
	assert.deepEqual([model.start, model.end], [0, 100]);
});

test("a single domain is no frame", () => {
	const one = new Model({ ...model.about, shows_domains: 0 }, {
		parent: Int32Array.of(-1, 0, 1), key: Int32Array.of(-1, 0, 1),
	}, Int32Array.of(2), { count: 0, parts: [] });
	assert.equal(one.tree.count, 2);
	assert.equal(one.graph("functions").name(1), "main");
	assert.equal(one.graph("functions").functionOf(0), NONE);
});

test("ranges are merged", () => {
	assert.deepEqual(mergeRanges([[5, 9], [1, 2], [2, 4], [8, 12]]), [[1, 4], [5, 12]]);
});

test("intervals", () => {
	// Newcombe 1998, table II, method 10: 56/70 and 48/80; 9/10 and 3/10
	const near = (value, wanted) => assert.ok(Math.abs(value - wanted) < 5e-5, `${value}, not ${wanted}`);
	let { low, high } = changeInterval(48 / 80, 80, 56 / 70, 70);
	near(low, 0.0524);
	near(high, 0.3339);
	({ low, high } = changeInterval(3 / 10, 10, 9 / 10, 10));
	near(low, 0.1705);
	near(high, 0.8090);
	assert.deepEqual(shareInterval(0.5, 0), [0, 1]);
});

test("an address holds the state, and nothing else", () => {
	const state = parseState("w=wall&r=1.5-3,4-5.000001&q=a%26b&d=2&k=none&x=1&z=-&y=<b>", {});
	assert.deepEqual(state.r, [[1500000, 3000000], [4000000, 5000001]]);
	assert.equal(state.q, "a&b");
	assert.deepEqual([state.w, state.k, state.d, state.z, state.y], ["wall", "kind", 2, 0, "-self"]);
	assert.deepEqual(parseState(formatState(state, {}), {}), state);
	assert.equal(formatState(parseState("", { w: "wall" }), { w: "wall" }), "");
	assert.equal(formatState(parseState("w=samples", { w: "wall" }), { w: "wall" }), "w=samples");
});

test("the data's numbers", async () => {
	const part = (...bytes) => Uint8Array.from(bytes);
	const columns = new Columns(part(2, 3, 0x05, 0x80, 0x01, 2, 3, 4));
	const to = new Float64Array(2);
	columns.column(to, 0);
	assert.deepEqual([...to], [5, 128]);
	columns.signed(to, 0);
	assert.deepEqual([...to], [-2, 2]);
	const long = new Columns(part(1, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f));
	long.column(to, 0);
	assert.equal(to[0], 2 ** 53 - 1);
	assert.deepEqual([...decodeStacks(part(2, 2, 4, 1))], [2, 1]);
	const decoded = decodeTree(part(2, 2, 1, 1, 2, 7, 8, 2, 0, 1));
	assert.deepEqual([...decoded.parent], [0, 0, 1]);
	assert.deepEqual([...decoded.key], [0, 7, 8 + 128]);
	// As in test_base116.c
	const bytes = (text) => Buffer.from(fromDigits(text)).toString("latin1");
	assert.deepEqual(["", "\x01q", "\x02y\v", "\x1dxl1\x1fD", "8#8iDUe"].map(bytes),
		["", "f", "fo", "fooba", "foobar"]);
	assert.equal(bytes("~H7$`f>\x03 "), "\xff".repeat(7));
});

test("samples are selected by their exits", () => {
	assert.deepEqual(table({ isExit: [false, true, true] }), { main: [2, 6], read: [0, 6], copy: [4, 4], idle: [1, 1] });
	assert.deepEqual(table({ isExit: [false, false, true] }), { idle: [1, 1] });
	const { shown, all: whole } = model.heat({
		selection: { ...all, isExit: [false, true, false] }, from: 0, to: 100, columns: 2, rows: 1,
		rowOf: [0, 0], isShown: new Array(256).fill(true), isStack: null,
	});
	assert.deepEqual([...shown, ...whole], [2, 4, 6, 4]);
});

test("waits count by the parts of them that are in the ranges", () => {
	const wait = { weight: "wait" };
	assert.deepEqual(table(wait), { main: [50, 70], read: [0, 70], copy: [20, 20] });
	assert.deepEqual(table({ ...wait, ranges: [[10, 40], [35, 70]] }), { main: [20, 40], read: [0, 40], copy: [20, 20] });
	assert.deepEqual(table({ ...wait, ranges: [[20, 30]] }), {});
	assert.deepEqual(table({ ...wait, isState: [false, false, true] }), { main: [0, 20], read: [0, 20], copy: [20, 20] });
	assert.deepEqual(table({ ...wait, isThread: [false, true], ranges: [[0, 61]] }), { main: [1, 1], read: [0, 1] });
	const heat = (isShown) => model.heat({
		selection: { ...all, ...wait }, from: 0, to: 100, columns: 5, rows: 2, rowOf: [0, 1], isShown, isStack: null,
	});
	const { shown, all: whole } = heat([true, true, true]);
	assert.deepEqual([[...shown], [...whole]], [[20, 10, 10, 0, 0, 0, 0, 0, 20, 10], [20, 20, 10, 0, 0, 0, 0, 0, 20, 10]]);
	assert.deepEqual([...heat([false, false, true]).shown], [0, 10, 10, 0, 0, 0, 0, 0, 0, 0]);
	assert.equal(model.threadName(model.threads("wait")[1]), "web pool[2]");
	// Of two recordings, the name in both is what is compared.
	const both = makeModel({
		recordings: ["new", "old"], wait_threads: [{ domain: "web", name: "pool[2]", recording: 1 }],
	});
	const [thread] = both.threads("wait");
	assert.deepEqual([both.threadName(thread), thread.plain], ["2: web pool[2]", "web pool[2]"]);
});

test("waits as stored", () => {
	const columns = [[2, 8, 0], [1, 0, 0], [5, 6, 7], [0, 1, 0], [0, 0, 1], [1, 2, 1], [3, 0, 3], [0, 0, 0]];
	const stored = new Waits();
	stored.add(Uint8Array.from([3].concat(...columns.map((column) => [column.length, ...column]))));
	const [{ from, to, thread, state, stack }] = stored.parts;
	assert.deepEqual([from, to, thread, state, stack].map((list) => [...list]),
		[[65, 74, 0], [70, 208, 7], [0, 0, 1], [1, 2, 1], [3, 0, 3]]);
});

test("missed rounds and pauses are those of the time's chunks", () => {
	const rounded = (from, step, columns) => {
		const { missed, paused } = model.costs({ from, step, columns });
		return [[...missed], [...paused]].map((list) => list.map((share) => +share.toFixed(6)));
	};
	assert.deepEqual(rounded(0, 40, 3), [[0, 0.25, 1], [0.05, 0, 0.25]]);
	assert.deepEqual(rounded(20, 40, 2), [[0.125, 0.785714], [0.025, 0.25]]);
	assert.deepEqual(rounded(10, 10, 1), [[0], [0.05]]);
	assert.deepEqual(rounded(0, 200, 1), [[0.461538], [0.06]]);
	assert.deepEqual(rounded(-80, 40, 2), [[0, 0], [0, 0]]);
});

test("a frame's shade is by the start of its name: reading all of long ones takes seconds", () => {
	globalThis.document = { createElement: () => ({ style: {}, append() {}, setAttribute() {} }) };
	const names = Array.from({ length: 20 }, (_, i) => "n".repeat(256) + i);
	const { colourOf } = colouring("kind", {
		model: { functions: names, about: { kinds: names.map(() => 0) } }, graph: { functionOf: (node) => node },
	});
	assert.equal(new Set(names.map((_, i) => colourOf(i))).size, 1);
});
