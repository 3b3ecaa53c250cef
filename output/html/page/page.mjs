// SPDX-License-Identifier: BSD-3-Clause
//
// The page: reads the data, and shows what the state says. Each change of the state, by the
// user or the address, goes through App.changed().
import { about } from "./about.mjs";
import { colouring } from "./colours.mjs";
import { Samples, Waits, decodeChunks, decodeStacks, decodeTree, unpack } from "./decode.mjs";
import { amount, countEvents, button, byId, make, percent, seconds } from "./dom.mjs";
import { Flame } from "./flame.mjs";
import { HeatMap } from "./heatmap.mjs";
import { changeInterval } from "./intervals.mjs";
import { Model, NONE } from "./model.mjs";
import { Search } from "./search.mjs";
import { State } from "./state.mjs";
import { CallTree, Table } from "./table.mjs";

const STATES = {
	all: null, running: ["running"], runnable: ["runnable"], blocked: ["blocked"],
	busy: ["running", "runnable"],
};

const UNINTERRUPTIBLE = "uninterruptible";

const TABS = {
	functions: "Functions", modules: "Modules", domains: "Domains", processes: "Processes",
	vcpus: "vCPUs", threads: "vCPUs of each", states: "States", exits: "Exits", tree: "Call tree", about: "About",
};

// The elements that choose something, and its key in the state. Numbers are indexes in lists.
const CONTROLS = [
	["weight", "w"], ["state", "s"], ["exit", "e", true], ["domain", "d", true],
	["process", "p", true], ["thread", "i", true], ["vcpu", "v", true], ["recording", "a", true],
	["baseline", "b", true], ["rows", "h"], ["graph", "g"], ["grow", "o"], ["colours", "k"],
];
const COUNTED = ["w", "s", "e", "d", "p", "i", "v", "r", "c", "a", "b"]; // keys that change sums

// Returns the distinct values of a property of the threads, in order.
const distinct = (threads, property) => Array.from(new Set(threads.map((t) => t[property])));

// Longer lists are for the tables: browsers take seconds for hundreds of thousands of options.
const MOST_OPTIONS = 4096;

function fillSelect(select, names, all) {
	const options = names.slice(0, MOST_OPTIONS).map((name, i) => make("option", { value: String(i), textContent: name }));
	select.replaceChildren(make("option", { value: "-1", textContent: all }), ...options);
	select.parentElement.hidden = names.length < 2;
}

class App {
	constructor(model) {
		this.model = model;
		const { about: { threads, wait_threads, weight } } = model, all = threads.concat(wait_threads);
		this.domains = distinct(all, "domain");
		this.processes = distinct(all, "process").filter((name) => name);
		this.vcpus = distinct(threads, "vcpu").sort((a, b) => a - b);
		this.recordings = model.about.recordings;
		// By function and by module: whether the search has found it; null: there is none
		this.isMatch = this.isModule = null;
		this.names = new Search(model.functions.concat(model.about.modules.map((_, i) => model.moduleName(i))));
		const initial = { w: weight };
		if (this.recordings.length > 1)
			Object.assign(initial, { a: 0, b: 1, k: "change", y: "-change" });
		this.state = new State(initial, (_, keys) => this.changed(keys));
		this.make();
		this.changed(Object.keys(this.state.now));
	}

	make() {
		const { model, state } = this;
		this.heat = new HeatMap(byId("heat"), model, {
			hover: (text) => {
				byId("time-details").textContent = text;
			},
			select: (range, adds) => this.selectRange(range, adds),
		});
		const events = {
			hover: (flame, node) => this.describe(flame, node < 0 ? flame.selected : node),
			select: (flame, node) => this.describe(flame, node),
			zoom: (flame, node) => this.zoom(flame, node),
			sandwich: (flame, node) => this.sandwich(flame.picture.graph.functionOf(node)),
		};
		const makeFlame = (id) => {
			const on = {};
			for (const name in events)
				on[name] = (node) => events[name](flame, node);
			const flame = new Flame(byId(id), on);
			return flame;
		};
		this.flame = makeFlame("flame");
		this.callers = makeFlame("callers");
		this.lastFlame = this.flame;
		this.table = new Table(byId("table"), {
			open: (row) => row.open(),
			order: (y) => state.set({ y }, true),
		});
		this.tree = new CallTree(byId("table"));
		this.makeFilters();
		this.makeTools();
		this.makeTabs();
		document.addEventListener("keydown", (event) => this.key(event));
		let width = window.innerWidth;
		window.addEventListener("resize", () => {
			if (width !== window.innerWidth)
				this.changed(["w"]);
			width = window.innerWidth;
		});
		window.matchMedia("(prefers-color-scheme: dark)")
			.addEventListener("change", () => this.changed(["w"]));
	}

	// Binds a select element to a key of the state.
	bind(id, key, isNumber) {
		byId(id).addEventListener("change", (event) => {
			const { value } = event.target;
			this.state.set({ [key]: isNumber ? +value : value });
		});
	}

	makeFilters() {
		const { model } = this;
		fillSelect(byId("exit"), ["[any exit]"].concat(model.about.exits), "all");
		fillSelect(byId("domain"), this.domains, "all");
		fillSelect(byId("process"), this.processes, "all");
		fillSelect(byId("thread"), model.about.wait_threads.map((thread) => model.threadName(thread)), "all");
		fillSelect(byId("vcpu"), this.vcpus.map(String), "all");
		fillSelect(byId("recording"), this.recordings, "all");
		fillSelect(byId("baseline"), this.recordings, "none");
		byId("weight").options[1].disabled = !model.about.cpu_times;
		byId("weight").options[3].disabled = !model.about.waits;
		for (const [id, key, isNumber] of CONTROLS)
			this.bind(id, key, isNumber);
		byId("filters").addEventListener("reset", (event) => {
			event.preventDefault();
			history.pushState(null, "", "#");
			this.state.read();
		});
		byId("to-about").addEventListener("click", (event) => {
			event.preventDefault();
			this.state.set({ t: "about" });
			byId("panel").scrollIntoView();
		});
	}

	makeTools() {
		const { state } = this;
		byId("search").addEventListener("focus", () => this.names.start());
		byId("search").addEventListener("input", (event) => state.set({ q: event.target.value }, true));
		byId("case").addEventListener("change", (event) =>
			state.set({ m: event.target.checked ? "case" : "text" }));
		byId("zoom-out").addEventListener("click", () => this.zoom(this.flame, 0));
		byId("whole").addEventListener("click", () => state.set({ f: NONE, z: 0 }));
		byId("sandwich").addEventListener("click", () => {
			const { picture, selected } = this.lastFlame;
			this.sandwich(picture.graph.functionOf(selected));
		});
	}

	makeTabs() {
		byId("tabs").replaceChildren(...Object.keys(TABS).map((tab) => {
			const element = button(TABS[tab], () => this.state.set({ t: tab }, true));
			element.dataset.tab = tab;
			element.setAttribute("role", "tab");
			element.setAttribute("aria-controls", "panel");
			return element;
		}));
		byId("tabs").addEventListener("keydown", (event) => {
			const step = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
			let next = step && document.activeElement[step];
			while (next && next.hidden)
				next = next[step];
			if (next) {
				next.focus();
				next.click();
			}
		});
	}

	key(event) {
		const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) &&
			event.target.type !== "checkbox" && event.target.type !== "radio";
		if (event.key === "/" && !isTyping) {
			event.preventDefault();
			byId("search").focus();
		} else if (event.key === "Escape" && event.target === byId("search")) {
			this.state.set({ q: "" }, true);
		}
	}

	selectRange(range, adds) {
		const key = byId("drag-compared").checked ? "c" : "r";
		const before = this.state.now[key];
		this.state.set({ [key]: !range ? [] : adds ? before.concat([range]) : [range] });
	}

	zoom(flame, node) {
		this.lastFlame = flame;
		if (flame === this.flame) {
			if (node !== this.state.now.z)
				this.state.set({ z: node });
			return;
		}
		this.callersZoom = node;
		flame.show({ ...flame.picture, zoomed: node });
	}

	sandwich(function_) {
		if (function_ !== NONE)
			this.state.set({ f: function_, z: 0 });
	}

	// Returns the selection that the state describes; of what it is compared with, if
	// @isCompared: null if with nothing. @isBoth: of all recordings.
	selection(isCompared, isBoth) {
		const { now } = this.state, { about: { exits } } = this.model;
		const { weight, isWait } = this, threads = this.model.threads(weight);
		const ranges = isCompared ? now.c : now.r, recording = isCompared ? now.b : now.a;
		if (isCompared && !ranges.length && recording < 0)
			return null;
		const chosen = (list, i) => (i >= 0 && i < list.length ? list[i] : undefined);
		const domain = chosen(this.domains, now.d), vcpu = chosen(this.vcpus, now.v);
		const process = this.hasTable("processes") ? chosen(this.processes, now.p) : undefined;
		const isThread = threads.map((thread) =>
			(domain === undefined || thread.domain === domain) &&
			(process === undefined || thread.process === process) &&
			(isWait ? now.i < 0 || now.i >= threads.length || thread.plain === threads[now.i].plain
				: vcpu === undefined || thread.vcpu === vcpu) &&
			(recording < 0 || isBoth || thread.recording === recording));
		const { [now.s]: names } = this.stateNames(), isState = names ? this.states(names) : null;
		const isExit = isWait || now.e < 0 || now.e > exits.length ? null
			: ["", ...exits].map((_, i) => (now.e ? i === now.e : i > 0));
		return { ranges, weight, isThread: isThread.every((is) => is) ? null : isThread, isState, isExit };
	}

	get weight() {
		const { now: { w } } = this.state, { cpu_times: hasCpuTimes, waits } = this.model.about;
		return (w === "cpu-time" && !hasCpuTimes) || (w === "wait" && !waits) ? "samples" : w;
	}

	get isWait() {
		return this.weight === "wait";
	}

	// Returns what can be chosen as states: lists of names, or null for all.
	stateNames() {
		return !this.isWait ? STATES
			: Object.fromEntries([["all", null], ...this.model.about.wait_states.map((name) => [name, [name]])]);
	}

	// Whether there is such a table of the weight.
	hasTable(tab) {
		const { isWait } = this, threads = this.model.threads(this.weight);
		const has = {
			processes: threads.some(({ process }) => process), vcpus: !isWait,
			exits: !isWait && this.model.about.exits.length > 0,
			threads: isWait || threads.length > this.vcpus.length,
		};
		return tab in has ? has[tab] : true;
	}

	// Returns, by number, whether a state has one of the names; later versions' states are
	// unknown.
	states(names) {
		const states = this.model.about[this.isWait ? "wait_states" : "states"];
		return Array.from({ length: 256 }, (_, i) => names.includes(states[i] || states[0]));
	}

	// Shows the state; keys are those that changed.
	changed(keys) {
		const has = (...list) => list.some((key) => keys.includes(key));
		const isCounted = has(...COUNTED);
		this.shown = this.shown || {};
		if (isCounted) {
			const selection = this.selection(false), compared = this.selection(true);
			this.shown.selection = selection;
			this.shown.sums = this.model.sum(selection);
			this.shown.compared = compared;
			this.shown.before = compared && this.model.sum(compared);
		}
		this.showControls();
		if (has("q", "m"))
			this.search();
		// The heat map is of all times: a range changes only its frame.
		if (isCounted || has("h"))
			this.showHeat(has(...COUNTED.filter((key) => key !== "r" && key !== "c"), "h"));
		if (isCounted || has("g", "o", "k", "z", "f"))
			this.showFlame();
		if (isCounted || has("t", "y", "g", "f"))
			this.showTable();
		this.showFound();
	}

	// Starts the search, and shows what it has found once it has.
	search() {
		const { q, m } = this.state.now, input = byId("search");
		const done = (isMatch, error) => {
			input.setAttribute("aria-invalid", String(Boolean(error)));
			input.title = this.searchError = error || "";
			this.showMatches(isMatch);
		};
		this.names.stop();
		try {
			const expression = q && new RegExp(q, m === "case" ? "u" : "iu");
			if (q)
				this.names.find(expression, (isMatch) => done(isMatch, isMatch ? "" : "takes too long"));
			else
				done(null);
		} catch (error) {
			done(null, error.message);
		}
	}

	// isMatch: by function, then by module
	showMatches(isMatch) {
		const { functions } = this.model, isNew = isMatch || this.isMatch;
		this.isMatch = isMatch && isMatch.subarray(0, functions.length);
		this.isModule = isMatch && isMatch.subarray(functions.length);
		this.showFound();
		if (!isNew)
			return;
		this.showFlame();
		this.showTable();
		// The heat map follows when there is time.
		clearTimeout(this.heatTimer);
		this.heatTimer = setTimeout(() => this.showHeat(true), 150);
	}

	showControls() {
		const { now } = this.state;
		const { isWait } = this;
		if (this.controlsAreOf !== isWait)
			byId("state").replaceChildren(...Object.keys(this.stateNames()).map((name) =>
				make("option", { value: name, textContent: name })));
		this.controlsAreOf = isWait;
		for (const [id, key] of CONTROLS)
			byId(id).value = String(now[key]);
		byId("weight").value = this.weight;
		byId("state").value = now.s in this.stateNames() ? now.s : "all";
		byId("legend-samples").hidden = isWait;
		byId("legend-waits").hidden = !isWait;
		byId("rows").options[0].textContent = isWait ? "threads" : "vCPUs";
		const isUsed = { exit: !isWait, vcpu: !isWait, thread: isWait, process: this.hasTable("processes") };
		for (const id in isUsed)
			byId(id).parentElement.hidden = byId(id).options.length < 3 || !isUsed[id];
		byId("case").checked = now.m === "case";
		if (byId("search").value !== now.q)
			byId("search").value = now.q;
		const { sums, selection } = this.shown;
		byId("graph").disabled = byId("grow").disabled = now.f !== NONE;
		byId("summary").textContent = amount(selection.weight, sums.total) +
			{ samples: "", "cpu-time": " of CPU time", wall: " of the vCPUs' time", wait: " of waiting" }[selection.weight] +
			` in ${seconds(this.model.length(selection.ranges))}`;
		const remove = (key, kind) => now[key].map(([from, to], i) =>
			button(`${kind}${+(from / 1e6).toFixed(3)} to ${+(to / 1e6).toFixed(3)} s \u00d7`, () =>
				this.state.set({ [key]: now[key].filter((_, j) => j !== i) }), "Remove the range"));
		byId("ranges").replaceChildren(...remove("r", ""), ...remove("c", "compared: "));
		byId("sandwich").hidden = now.f !== NONE;
		byId("whole").hidden = now.f === NONE;
	}

	showFound() {
		const { sums, selection } = this.shown;
		if (!this.isMatch) {
			byId("found").textContent = this.searchError || "";
			return;
		}
		const sum = this.model.matching(sums, this.isMatch);
		byId("found").textContent = `${percent(sum, sums.total)} (${amount(selection.weight, sum)})`;
	}

	showHeat(isNew) {
		const { selection, compared } = this.shown;
		const shown = !selection.isState && !this.isWait && !this.isMatch && !selection.isExit
			? this.states(this.model.about.states.filter((name) => name !== "blocked"))
			: selection.isState || new Array(256).fill(true);
		this.heat.show(isNew, {
			selection: this.selection(false, true), rows: this.state.now.h, isShown: shown,
			isStack: this.isMatch ? this.model.matchingStacks(this.isMatch) : null,
			compared: compared ? compared.ranges : [],
		});
	}

	showFlame() {
		const { model, shown } = this, { now } = this.state;
		const isSandwich = now.f >= 0 && now.f < model.functions.length;
		const show = (flame, graph, zoomed, grow) => {
			const sums = graph.sum(shown.sums);
			const { colourOf, legend } = colouring(now.k, {
				model, graph, sums, total: shown.sums.total, isWait: this.isWait,
				before: shown.before && graph.sum(shown.before),
				busy: () => graph.sum(this.busy()),
			});
			flame.show({
				graph, sums, zoomed: zoomed < graph.tree.count ? zoomed : 0, grow, colourOf,
				isMatch: this.isMatch && graph.matches(this.isMatch, this.isModule),
			});
			byId("legend").replaceChildren(...legend);
		};
		byId("callers").hidden = !isSandwich;
		if (isSandwich) {
			show(this.callers, model.graph("callers", now.f), 0, "flame");
			show(this.flame, model.graph("callees", now.f), now.z, "icicle");
		} else {
			show(this.flame, model.graph(now.g), now.z, now.o);
		}
		this.describe(this.flame, now.z && now.z < this.flame.picture.graph.tree.count ? now.z : 0);
	}

	// Returns the sums of the selection's samples that are not blocked; of waits, of those that are
	// uninterruptible.
	busy() {
		const { selection } = this.shown, isBusy = this.states(this.isWait ? [UNINTERRUPTIBLE] : STATES.busy);
		const isState = selection.isState
			? isBusy.map((is, i) => is && selection.isState[i]) : isBusy;
		return this.model.sum({ ...selection, isState });
	}

	describe(flame, node) {
		const { graph, sums } = flame.picture, { weight } = this.shown.selection;
		this.lastFlame = flame;
		if (node < 0 || node >= graph.tree.count)
			return;
		let text = `${graph.name(node)}: ${amount(weight, sums.below[node])}, ` +
			`${percent(sums.below[node], this.shown.sums.total)}; self ${amount(weight, sums.self[node])}`;
		const function_ = graph.functionOf(node), module = function_ === NONE ? ""
			: this.model.about.modules[this.model.module(function_)];
		if (module)
			text += `; ${module}`;
		if (this.shown.before) {
			const before = graph.sum(this.shown.before);
			text += `; before ${percent(before.below[node], before.total)}`;
		}
		byId("frame-details").textContent = text;
	}

	showTable() {
		const { y } = this.state.now, t = this.hasTable(this.state.now.t) ? this.state.now.t : "functions";
		const isAbout = t === "about";
		for (const tab of byId("tabs").children) {
			tab.hidden = !this.hasTable(tab.dataset.tab);
			if (tab.dataset.tab === "threads")
				tab.textContent = this.isWait ? "Threads" : TABS.threads;
			tab.setAttribute("aria-selected", String(tab.dataset.tab === t));
			tab.tabIndex = tab.dataset.tab === t ? 0 : -1;
		}
		byId("table").hidden = isAbout;
		byId("about").hidden = !isAbout;
		if (isAbout) {
			byId("about").replaceChildren(...about(this.model));
			return;
		}
		const { selection, sums, before } = this.shown;
		if (t === "tree") {
			const { graph, sums: own } = this.flame.picture;
			this.tree.show({ graph, sums: own, weight: selection.weight });
			return;
		}
		const rows = t === "functions" ? this.functionRows() : t === "modules" ? this.moduleRows()
			: this.attributeRows(t);
		const title = t === "threads" && this.isWait ? "Threads" : TABS[t];
		const compares = Boolean(before) && rows.every((row) => row.change);
		this.table.show({
			caption: title, noun: title.replace(/(?<=ss)es$|s$/, ""),
			rows: rows.filter((row) => row.total > 0 || (compares && row.change.change)),
			whole: sums.total, weight: selection.weight, order: y, compares,
		});
	}

	change(total, totalBefore) {
		const { sums, before } = this.shown;
		if (!before)
			return undefined;
		const share = (part, { total: whole }) => (whole ? part / whole : 0);
		return changeInterval(share(totalBefore, before), before.samples, share(total, sums), sums.samples);
	}

	functionRows() {
		const { model, shown, isMatch } = this, now = model.byFunction(shown.sums);
		const before = shown.before && model.byFunction(shown.before), rows = [];
		for (let i = 0; i < model.functions.length; i++) {
			if ((!now.total[i] && !(before && before.total[i])) || (isMatch && !isMatch[i]))
				continue;
			rows.push({
				name: model.functions[i], self: now.self[i], total: now.total[i],
				change: before ? this.change(now.total[i], before.total[i]) : undefined,
				hint: "Show callers and callees", open: () => this.sandwich(i),
			});
		}
		return rows;
	}

	moduleRows() {
		const { model, shown } = this, now = model.byModule(shown.sums);
		const before = shown.before && model.byModule(shown.before);
		return model.about.modules.map((_, i) => ({
			name: model.moduleName(i), self: now.self[i], total: now.total[i],
			change: before ? this.change(now.total[i], before.total[i]) : undefined,
			hint: "Show the flame graph of modules",
			open: () => this.state.set({ g: "modules", k: "module", f: NONE, z: 0 }),
		}));
	}

	// The rows of an attribute that each sample has one value of.
	attributeRows(tab) {
		const { model, shown, isWait } = this, { exits, wait_states, states: vcpuStates } = model.about;
		const threads = model.threads(this.weight), states = isWait ? wait_states : vcpuStates;
		const ofThread = (values, property) => {
			const index = new Map(values.map((value, i) => [value, i]));
			const places = threads.map((t) => index.get(t[property]));
			return { names: values, of: (part, i) => places[part.thread[i]] };
		};
		const kinds = {
			domains: () => ({ ...ofThread(this.domains, "domain"), key: "d" }),
			processes: () => ({ ...ofThread(this.processes.concat([""]), "process"), key: "p" }),
			vcpus: () => ({ ...ofThread(this.vcpus, "vcpu"), key: "v" }),
			threads: () => ({
				...ofThread(distinct(threads, "plain"), "plain"),
				open: (row, name) => {
					const i = threads.findIndex(({ plain }) => plain === name), thread = threads[i];
					return isWait ? { i } : {
						d: this.domains.indexOf(thread.domain), v: this.vcpus.indexOf(thread.vcpu),
						p: this.processes.indexOf(thread.process),
					};
				},
			}),
			states: () => ({
				names: states, key: "s",
				of: ({ state }, i) => (state[i] < states.length ? state[i] : 0),
			}),
			exits: () => ({
				names: ["(in the guest's code)", ...exits], key: "e", of: ({ exit }, i) => exit[i],
			}),
		};
		const { names, of, key, open } = kinds[tab]();
		const now = model.sumBy(shown.selection, names.length, of);
		const before = shown.compared && model.sumBy(shown.compared, names.length, of);
		return names.map((name, i) => ({
			name: String(name) || "(none)", self: now[i], total: now[i],
			change: before ? this.change(now[i], before[i]) : undefined,
			isKnown: key === "s" ? name in this.stateNames() : key !== "e" || i > 0,
			hint: "Show only this",
			open: () => this.state.set(open ? open(i, name) : { [key]: key === "s" ? name : i }),
		}));
	}
}

// Reads all parts. Each samples part is decoded while the next one is unpacked.
async function load() {
	performance.mark("begun");
	const parts = Array.from(document.querySelectorAll("script[data-part]"));
	const samples = new Samples(), waits = new Waits(), others = {};
	for (const part of parts) {
		const bytes = await unpack(part.textContent);
		part.remove();
		const collected = { samples, waits }[part.dataset.part];
		if (collected)
			collected.add(bytes);
		else
			others[part.dataset.part] = bytes;
	}
	performance.mark("read");
	const facts = JSON.parse(new TextDecoder().decode(others.about));
	return new Model(facts, decodeTree(others.tree), decodeStacks(others.stacks), samples,
		decodeChunks(others.chunks), waits);
}

async function start() {
	try {
		const model = await load();
		document.title = `${model.about.name} - uniprof`;
		byId("title").textContent = model.about.name;
		byId("main").hidden = false;
		countEvents(model.about.event);
		byId("weight").options[0].textContent = model.about.event || "samples";
		performance.mark("counted");
		globalThis.uniprof = new App(model);
		performance.mark("shown");
	} catch (error) {
		byId("summary").textContent = `The page can't be shown: ${error.message}`;
		throw error;
	}
}

start();
