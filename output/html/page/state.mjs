// SPDX-License-Identifier: BSD-3-Clause
//
// What the page shows, as the fragment of its address: #w=wall&r=1.5-3. A link shows the same
// view; Back and Forward work. Anything unknown or out of range in an address is ignored.

const choices = {
	w: ["samples", "cpu-time", "wall", "wait"],
	s: ["all", "busy", "running", "runnable", "blocked", "sleeping", "uninterruptible", "idle", "stopped", "unknown"],
	h: ["threads", "seconds"],
	g: ["functions", "modules", "inverted"],
	o: ["flame", "icicle"],
	k: ["kind", "module", "state", "change"],
	t: ["functions", "modules", "domains", "processes", "vcpus", "threads", "states", "exits", "tree", "about"],
	m: ["text", "case"],
};

// The first choice is the default; an address leaves defaults out.
const defaults = {
	w: "samples", // weight
	s: "all", // states
	d: -1, p: -1, v: -1, // domain, process, vCPU; -1: all
	i: -1, // thread that waits; -1: all
	e: -1, // exit; -1: all samples, 0: with any exit, else with this one
	r: [], // ranges, us
	c: [], // ranges to compare with
	a: -1, b: -1, // recordings: shown, compared with; -1: all, none
	h: "threads", // rows of the heat map
	g: "functions", // the flame graph's kind
	o: "flame", // its direction
	k: "kind", // its colours
	z: 0, // zoomed frame
	f: -1, // function whose callers and callees are shown
	q: "", // search
	m: "text", // whether the search distinguishes upper and lower case
	t: "functions", // the table
	y: "-self", // its order
};

function parseRanges(text) {
	const ranges = [];
	for (const part of text.split(",")) {
		const match = /^(\d{1,12}(?:\.\d{1,6})?)-(\d{1,12}(?:\.\d{1,6})?)$/.exec(part);
		if (match && +match[2] > +match[1])
			ranges.push([Math.round(match[1] * 1e6), Math.round(match[2] * 1e6)]);
	}
	return ranges;
}

const formatRanges = (ranges) =>
	ranges.map(([from, to]) => `${from / 1e6}-${to / 1e6}`).join(",");

// Returns the state that a fragment without "#" describes.
export function parseState(fragment, initial) {
	const state = { ...defaults, ...initial };
	for (const [key, text] of new URLSearchParams(fragment)) {
		if (!(key in defaults))
			continue;
		if (key === "r" || key === "c")
			state[key] = parseRanges(text);
		else if (choices[key])
			state[key] = choices[key].includes(text) ? text : state[key];
		else if (typeof defaults[key] === "number")
			state[key] = /^-?\d{1,9}$/.test(text) ? +text : state[key];
		else if (key !== "y" || /^-?[a-z]{1,10}$/.test(text))
			state[key] = text;
	}
	return state;
}

// Returns the fragment, without "#".
export function formatState(state, initial) {
	const others = { ...defaults, ...initial }, params = new URLSearchParams();
	for (const key in defaults) {
		const text = key === "r" || key === "c" ? formatRanges(state[key]) : String(state[key]);
		if (text !== (key === "r" || key === "c" ? "" : String(others[key])))
			params.set(key, text);
	}
	return params.toString();
}

// The state of this page. changed(state, keys) is called after each change.
export class State {
	constructor(initial, changed) {
		this.initial = initial;
		this.changed = changed;
		this.now = parseState(location.hash.slice(1), initial);
		window.addEventListener("hashchange", () => this.read());
	}

	read() {
		const before = formatState(this.now, this.initial);
		this.now = parseState(location.hash.slice(1), this.initial);
		if (formatState(this.now, this.initial) !== before)
			this.changed(this.now, Object.keys(defaults));
	}

	// Changes the state; @replaces: without a new entry in the browser's history.
	set(changes, replaces) {
		Object.assign(this.now, changes);
		const fragment = `#${formatState(this.now, this.initial)}`;
		if (fragment !== (location.hash || "#")) {
			if (replaces)
				history.replaceState(null, "", fragment);
			else
				history.pushState(null, "", fragment);
		}
		this.changed(this.now, Object.keys(changes));
	}
}
