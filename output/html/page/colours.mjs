// SPDX-License-Identifier: BSD-3-Clause
//
// Colours of frames, on all of which black text is legible. Blue and orange are told apart by
// colour-blind people, too.
import { make } from "./dom.mjs";
import { changeInterval } from "./intervals.mjs";
import { NONE } from "./model.mjs";

const GROUP = "#d9d4e8", SHADES = 4;

const kinds = [
	{ label: "lower addresses: program, unikernel", fills: ["#ffb454", "#ffc36b", "#ffa64d", "#fbcf7a"] },
	{ label: "upper addresses: kernel, unikernel", fills: ["#7fb8f0", "#93c6f5", "#74c1e8", "#9fb9f2"] },
	{ label: "no symbol", fills: ["#c4c4c4", "#cecece", "#bcbcbc", "#d6d6d6"] },
];

// Of waits: time in which nothing runs is blue, as in off-CPU flame graphs.
const waitFills = [["#8fd3e8", "#a4dcec", "#82c9e0", "#b0e0ea"], ["#7fa8f0", "#93b6f5", "#749ee8", "#9fb4f2"], kinds[2].fills];

// Okabe and Ito's colours, lightened, and more hues.
const moduleFills = ["#f5c46b", "#8fd0f5", "#6fcfae", "#f3e87a", "#84b4e0", "#f0a06a", "#dda6c8", "#c4c4c4",
	"#b7d77a", "#c8b6ee", "#e8b4a0", "#9adbd6"];

// Of the start of a name: guests may choose names of megabytes.
function hash(name) {
	let sum = 0;
	for (let i = 0; i < name.length && i < 256; i++)
		sum = (sum * 31 + name.charCodeAt(i)) % 4294967291;
	return sum;
}

function key(fill, label) {
	const box = make("i");
	box.style.background = fill;
	return make("span", { className: "key" }, box, label);
}

function mix(from, to, share) {
	return `rgb(${from.map((part, i) => Math.round(part + (to[i] - part) * share)).join(",")})`;
}

const GREY = [214, 214, 214], BLUE = [116, 178, 240], ORANGE = [245, 150, 80];

function byKind({ model, graph, isWait }) {
	const fills = isWait ? waitFills : kinds.map((kind) => kind.fills);
	const shades = new Map();
	const shade = (function_) => {
		if (!shades.has(function_))
			shades.set(function_, hash(model.functions[function_]) % SHADES);
		return shades.get(function_);
	};
	return {
		colourOf: (node) => {
			const function_ = graph.functionOf(node);
			return function_ === NONE ? GROUP : fills[model.about.kinds[function_]][shade(function_)];
		},
		legend: kinds.map(({ label }, kind) => [label, kind]).filter(([, kind]) => model.about.kinds.includes(kind))
			.map(([label, kind]) => key(fills[kind][0], label)),
	};
}

function byModule({ model, graph }) {
	const { modules } = model.about, fills = modules.map((name, i) =>
		(name ? moduleFills[i % moduleFills.length] : "#cecece"));
	return {
		colourOf: (node) => {
			const function_ = graph.functionOf(node);
			if (function_ !== NONE)
				return fills[model.module(function_)];
			return node && graph.ofModules && !graph.isDomain(node) ? fills[graph.tree.key[node]] : GROUP;
		},
		legend: modules.slice(0, moduleFills.length).map((_, i) => key(fills[i], model.moduleName(i))),
	};
}

function byState({ sums, busy, isWait }) {
	const part = busy();
	return {
		colourOf: (node) => mix(BLUE, ORANGE, sums.below[node] ? part.below[node] / sums.below[node] : 0),
		legend: [key(mix(BLUE, ORANGE, 1), isWait ? "always uninterruptible" : "always running or runnable"),
			key(mix(BLUE, ORANGE, 0), isWait ? "never" : "always blocked")],
	};
}

function byChange({ sums, before, total }) {
	if (!before)
		return { colourOf: () => mix(GREY, GREY, 0), legend: ["Choose what to compare with."] };
	return {
		colourOf: (node) => {
			const share = total ? sums.below[node] / total : 0;
			const old = before.total ? before.below[node] / before.total : 0;
			const { change, low, high } = changeInterval(old, before.samples, share, sums.samples);
			if (low <= 0 && high >= 0)
				return mix(GREY, GREY, 0);
			const part = Math.min(1, 0.25 + Math.abs(change) / Math.max(share, old));
			return mix(GREY, change > 0 ? ORANGE : BLUE, part);
		},
		legend: [key(mix(GREY, ORANGE, 1), "grew"), key(mix(GREY, BLUE, 1), "shrank"),
			key(mix(GREY, GREY, 0), "no certain change")],
	};
}

// Returns colourOf(node) and the elements of a legend.
export function colouring(kind, facts) {
	return { kind: byKind, module: byModule, state: byState, change: byChange }[kind](facts);
}
