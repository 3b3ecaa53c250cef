// SPDX-License-Identifier: BSD-3-Clause
//
// What is counted: the samples of a selection, summed up by call chain, frame and function.
// Knows nothing of the display.

// No node, function or module.
export const NONE = -1;

// Sorts nodes by a number that each has, at least 0, and keeps the order of equal ones.
function sortNodes(nodes, numberOf) {
	const starts = new Uint32Array(numberOf.reduce((most, n) => (n > most ? n : most), 0) + 2);
	for (const node of nodes)
		starts[numberOf[node] + 1]++;
	for (let i = 1; i < starts.length; i++)
		starts[i] += starts[i - 1];
	const sorted = new Uint32Array(nodes.length);
	for (const node of nodes)
		sorted[starts[numberOf[node]]++] = node;
	return sorted;
}

// Returns a tree with its nodes in preorder, siblings by the rank of their keys, and the new
// number of each node. Parents come before their children; node 0 is the root.
function arrange(parent, key, rank) {
	const count = parent.length, number = new Int32Array(count);
	const tree = {
		count, parent: new Int32Array(count), key: new Int32Array(count),
		depth: new Int32Array(count),
		end: new Int32Array(count), // by node: the node after its last descendant
	};
	const size = new Int32Array(count).fill(1), depth = new Int32Array(count);
	for (let i = count - 1; i > 0; i--)
		size[parent[i]] += size[i];
	for (let i = 1; i < count; i++)
		depth[i] = depth[parent[i]] + 1;
	// From parents to children, and from the lowest rank to the highest.
	const rankOf = Int32Array.from(key, (k, i) => (i ? rank(k) : 0));
	const order = sortNodes(sortNodes(Uint32Array.from(key, (_, i) => i), rankOf), depth).subarray(1);
	const next = new Int32Array(count);
	next[0] = 1;
	tree.parent[0] = tree.key[0] = NONE;
	tree.end[0] = count;
	for (const node of order) {
		const at = number[node] = next[parent[node]];
		next[parent[node]] += size[node];
		next[node] = at + 1;
		tree.parent[at] = number[parent[node]];
		tree.key[at] = key[node];
		tree.depth[at] = depth[node];
		tree.end[at] = at + size[node];
	}
	return { tree, number };
}

// Collects the nodes of a tree by parent and key.
class TreeBuilder {
	constructor(keys) {
		this.keys = keys + 1; // number of keys, NONE and below included
		this.parent = [NONE];
		this.key = [NONE];
		this.nodes = new Map();
	}

	child(parent, key) {
		const place = parent * this.keys + key;
		let node = this.nodes.get(place);
		if (node === undefined) {
			node = this.parent.length;
			this.parent.push(parent);
			this.key.push(key);
			this.nodes.set(place, node);
		}
		return node;
	}
}

// Returns the place of each name in the order of names.
function ranks(names) {
	const order = Array.from(names.keys());
	order.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0));
	const rank = new Int32Array(names.length);
	order.forEach((name, place) => {
		rank[name] = place;
	});
	return rank;
}

// Sums up amounts that are spread evenly over times, by column. Columns begin at @from and are
// @step long.
class Spread {
	constructor({ from, step, columns }) {
		Object.assign(this, { from, step, columns });
		this.parts = new Float64Array(columns); // of first and last columns
		this.change = new Float64Array(columns + 1); // of the amount in whole columns
	}

	add(start, stop, value) {
		const { from, step, columns, parts, change } = this, rate = value * step / (stop - start);
		const left = Math.max((start - from) / step, 0), right = Math.min((stop - from) / step, columns);
		if (!(left < right))
			return;
		const first = Math.floor(left), last = Math.min(Math.floor(right), columns - 1);
		if (first === last) {
			parts[first] += rate * (right - left);
			return;
		}
		parts[first] += rate * (first + 1 - left);
		parts[last] += rate * (right - last);
		change[first + 1] += rate;
		change[last] -= rate;
	}

	sums() {
		let rate = 0;
		return this.parts.map((part, i) => part + (rate += this.change[i]));
	}
}

export class Model {
	// about: the part of JSON; tree, stacks and chunks as decoded; samples and waits as of their
	// classes.
	constructor(about, tree, stacks, samples, chunks, waits) {
		this.about = about;
		// Threads of two recordings with the same name are compared.
		for (const thread of about.threads.concat(about.wait_threads)) {
			const { domain, process, vcpu, name } = thread;
			thread.plain = `${domain}${process && process !== name ? `:${process}` : ""} ${name || `vCPU ${vcpu}`}`;
		}
		this.chunks = chunks;
		this.waits = waits;
		this.samples = samples;
		this.functions = about.functions;
		this.rank = ranks(this.functions);
		this.hasDomains = Boolean(about.shows_domains);
		this.makeTree(tree, stacks);
		this.graphs = new Map();
		[this.start, this.end] = this.span();
	}

	makeTree({ parent, key }, stacks) {
		// The root's children are domains. A single one is left out.
		const domains = parent.reduce((sum, node, i) => sum + (i && node === 0 ? 1 : 0), 0);
		this.hasDomains = this.hasDomains || domains > 1;
		const place = new Int32Array(parent.length), parents = [NONE], keys = [NONE];
		for (let i = 1; i < parent.length; i++) {
			if (parent[i] === 0 && !this.hasDomains)
				continue;
			place[i] = parents.length;
			parents.push(place[parent[i]]);
			keys.push(key[i]);
		}
		const { tree, number } = arrange(parents, keys, (function_) => this.rank[function_]);
		this.tree = tree;
		this.stackNode = Int32Array.from(stacks, (node) => number[place[node]]);
		this.isSampled = new Uint8Array(tree.count);
		for (const node of this.stackNode)
			this.isSampled[node] = 1;
		this.findOutermost();
	}

	// Sets, by node, whether no caller is the same function: only such nodes count for the
	// function's total.
	findOutermost() {
		const { count, parent, key } = this.tree;
		const above = new Int32Array(this.functions.length), path = [];
		this.isOutermost = new Uint8Array(count);
		for (let i = 1; i < count; i++) {
			while (path.length && path[path.length - 1] !== parent[i])
				above[key[path.pop()]]--;
			if (this.isDomain(i))
				continue;
			this.isOutermost[i] = above[key[i]] === 0 ? 1 : 0;
			above[key[i]]++;
			path.push(i);
		}
	}

	isDomain(node) {
		return this.hasDomains && this.tree.parent[node] === 0;
	}

	// Returns the first time and the time after the last sample.
	span() {
		const { parts, count } = this.samples;
		let first = Infinity, last = -Infinity;
		for (const { time } of parts) {
			for (const t of time) {
				first = t < first ? t : first;
				last = t > last ? t : last;
			}
		}
		if (!count)
			first = last = 0;
		const { start: begun, duration, recordings } = this.about;
		const start = Math.min(first, begun);
		// The duration is that of all recordings together.
		return [start, Math.max(last + 1, recordings.length > 1 ? 0 : start + duration)];
	}

	// Returns the length of ranges, or of all, within the recording.
	length(ranges) {
		const part = ([from, to]) => Math.max(0, Math.min(to, this.end) - Math.max(from, this.start));
		return ranges.length ? mergeRanges(ranges).reduce((sum, range) => sum + part(range), 0)
			: this.end - this.start;
	}

	// A selection has ranges, pairs of us from (inclusive) and to (exclusive), none of which
	// means all; isThread, isState and isExit, by thread, state and exit, for which null means
	// all; and a weight. Calls visit(part, i, amount) for each sample that it selects, or for
	// each wait, if they are the weight.
	visit(selection, visit) {
		const { isThread, isState, isExit, weight } = selection;
		if (weight === "wait") {
			this.visitWaits(selection, visit);
			return;
		}
		const ranges = selection.ranges.length ? mergeRanges(selection.ranges)
			: [[-Infinity, Infinity]];
		let [from, to] = ranges[0];
		for (const part of this.samples.parts) {
			const { time, thread, state, exit, [weight]: amounts } = part;
			for (let i = 0; i < time.length; i++) {
				const t = time[i];
				if (t < from || t >= to) {
					const found = ranges.find((range) => t >= range[0] && t < range[1]);
					if (!found)
						continue;
					[from, to] = found;
				}
				if ((!isThread || isThread[thread[i]]) && (!isState || isState[state[i]]) &&
					(!isExit || isExit[exit[i]]))
					visit(part, i, amounts[i]);
			}
		}
	}

	// Of a wait, the part within the ranges counts.
	visitWaits(selection, visit) {
		const { isThread, isState } = selection;
		const ranges = selection.ranges.length ? mergeRanges(selection.ranges) : [[-Infinity, Infinity]];
		for (const part of this.waits.parts) {
			const { from, to, thread, state } = part;
			for (let i = 0; i < from.length; i++) {
				if ((isThread && !isThread[thread[i]]) || (isState && !isState[state[i]]))
					continue;
				let amount = 0;
				for (const [start, end] of ranges)
					amount += Math.max(0, Math.min(end, to[i]) - Math.max(start, from[i]));
				if (amount)
					visit(part, i, amount);
			}
		}
	}

	// Returns the sums of a selection: the number of its samples; total; self, the weight of
	// the samples with exactly this chain, by node of the tree; below, with those of its
	// callees.
	sum(selection) {
		const byStack = new Float64Array(this.stackNode.length);
		const { count, parent } = this.tree;
		const self = new Float64Array(count);
		let samples = 0;
		this.visit(selection, (part, i, value) => {
			byStack[part.stack[i]] += value;
			samples++;
		});
		for (let i = 0; i < byStack.length; i++)
			self[this.stackNode[i]] += byStack[i];
		const below = self.slice();
		for (let i = count - 1; i > 0; i--)
			below[parent[i]] += below[i];
		return { samples, total: below[0], self, below };
	}

	// Returns self and total by function, of sums.
	byFunction({ self, below }) {
		const { count, key } = this.tree, isOutermost = this.isOutermost;
		const functions = {
			self: new Float64Array(this.functions.length),
			total: new Float64Array(this.functions.length),
		};
		for (let i = 1; i < count; i++) {
			if (this.isDomain(i))
				continue;
			functions.self[key[i]] += self[i];
			if (isOutermost[i])
				functions.total[key[i]] += below[i];
		}
		return functions;
	}

	// Returns self and total by module, of sums: a module counts once for a call chain.
	byModule(sums) {
		const graph = this.graph("modules"), { count, key, parent } = graph.tree;
		const { self, below } = graph.sum(sums), size = this.about.modules.length;
		const modules = { self: new Float64Array(size), total: new Float64Array(size) };
		const above = new Int32Array(size), path = [];
		for (let i = 1; i < count; i++) {
			while (path.length && path[path.length - 1] !== parent[i])
				above[key[path.pop()]]--;
			if (graph.isDomain(i))
				continue;
			modules.self[key[i]] += self[i];
			if (!above[key[i]]++)
				modules.total[key[i]] += below[i];
			path.push(i);
		}
		return modules;
	}

	// Returns the weight of a selection's samples by of(part, i), an index below @count.
	sumBy(selection, count, of) {
		const sums = new Float64Array(count);
		this.visit(selection, (part, i, value) => {
			sums[of(part, i)] += value;
		});
		return sums;
	}

	// Returns a map of times and rows: the weight that is selected (shown) and all weight in
	// each cell. The columns divide the time from @from to @to. rowOf has a row, or NONE, by
	// thread; isShown says it by state, and isStack, which may be null, by call chain.
	heat({ selection, from, to, columns, rows, rowOf, isShown, isStack }) {
		const { weight, isExit } = selection;
		if (weight === "wait")
			return this.waitHeat({ from, step: (to - from) / columns, columns, rows, rowOf, isShown, isStack });
		const shown = new Float64Array(columns * rows);
		const all = new Float64Array(columns * rows);
		const scale = columns / (to - from);
		const everything = { ...selection, ranges: [], isState: null, isExit: null };
		this.visit(everything, (part, i, value) => {
			const column = Math.floor((part.time[i] - from) * scale), row = rowOf[part.thread[i]];
			if (column < 0 || column >= columns || row === NONE)
				return;
			const cell = row * columns + column;
			all[cell] += value;
			if (isShown[part.state[i]] && (!isStack || isStack[part.stack[i]]) &&
				(!isExit || isExit[part.exit[i]]))
				shown[cell] += value;
		});
		return { shown, all };
	}

	// The same of waits. All is the time from the thread's first wait to its last one: when it
	// did not wait, it ran.
	waitHeat({ from, step, columns, rows, rowOf, isShown, isStack }) {
		const make = () => Array.from({ length: rows }, () => new Spread({ from, step, columns }));
		const shown = make(), all = make(), first = [], last = [];
		for (const { from: begun, to, thread, state, stack } of this.waits.parts) {
			for (let i = 0; i < begun.length; i++) {
				const t = thread[i];
				first[t] = Math.min(begun[i], first[t] === undefined ? Infinity : first[t]);
				last[t] = Math.max(to[i], last[t] || 0);
				if (rowOf[t] !== NONE && isShown[state[i]] && (!isStack || isStack[stack[i]]))
					shown[rowOf[t]].add(begun[i], to[i], to[i] - begun[i]);
			}
		}
		for (let t = 0; t < first.length; t++)
			if (first[t] !== undefined && rowOf[t] !== NONE)
				all[rowOf[t]].add(first[t], last[t], last[t] - first[t]);
		const join = (spreads) => Float64Array.from(spreads.flatMap((spread) => Array.from(spread.sums())));
		return { shown: join(shown), all: join(all) };
	}

	// Returns, for the first recording and by column of @step us from @from, the shares of the
	// rounds that were missed and of the time that pauses took.
	costs({ from, step, columns }) {
		const { time, ...counts } = this.chunks, share = {};
		for (const name in counts) {
			const spread = new Spread({ from, step, columns });
			time.forEach((start, i) => {
				const next = i + 1 < time.length ? time[i + 1] : this.end;
				spread.add(start, Math.max(next, start + 1), counts[name][i]);
			});
			share[name] = spread.sums();
		}
		const { rounds, paused, missed } = share;
		return {
			missed: missed.map((late, i) => late / (late + rounds[i] || 1)),
			paused: paused.map((us) => Math.min(1, us / step)),
		};
	}

	// Returns, by call chain, whether it has a function that matches.
	matchingStacks(isMatch) {
		const { count, parent, key } = this.tree, isInside = new Uint8Array(count);
		for (let i = 1; i < count; i++)
			isInside[i] = isInside[parent[i]] || (!this.isDomain(i) && isMatch[key[i]]);
		return Uint8Array.from(this.stackNode, (node) => isInside[node]);
	}

	// Returns the part of the sums that has a frame that matches, exactly.
	matching({ below }, isMatch) {
		const { count, key, end } = this.tree;
		let sum = 0;
		for (let i = 1; i < count;) {
			if (!this.isDomain(i) && isMatch[key[i]]) {
				sum += below[i];
				i = end[i];
			} else {
				i++;
			}
		}
		return sum;
	}

	// Returns what selections of a weight have as threads: each a vCPU of a domain or of a process
	// in it or, of waits, a guest's thread.
	threads(weight) {
		return weight === "wait" ? this.about.wait_threads : this.about.threads;
	}

	threadName({ plain, recording }) {
		return this.about.recordings.length > 1 ? `${recording + 1}: ${plain}` : plain;
	}

	module(function_) {
		return this.about.module_of[function_];
	}

	moduleName(module) {
		return this.about.modules[module] || "[unknown]";
	}

	// Returns a graph, a tree made of the model's tree: of "functions"; "modules", in which
	// calls within a module are one frame; "inverted", from the sampled functions to their
	// callers; the "callers" or "callees" of a function.
	graph(kind, function_) {
		const name = kind + (function_ === undefined ? "" : ` ${function_}`);
		if (!this.graphs.has(name)) {
			if (this.graphs.size > 20)
				this.graphs.clear();
			this.graphs.set(name, new Graph(this, kind, function_));
		}
		return this.graphs.get(name);
	}
}

// Returns ranges in order, without overlaps.
export function mergeRanges(ranges) {
	const merged = [];
	for (const [from, to] of ranges.slice().sort((a, b) => a[0] - b[0])) {
		const last = merged[merged.length - 1];
		if (last && from <= last[1])
			last[1] = Math.max(last[1], to);
		else if (to > from)
			merged.push([from, to]);
	}
	return merged.length ? merged : [[Infinity, Infinity]];
}

class Graph {
	constructor(model, kind, function_) {
		this.model = model;
		this.kind = kind;
		this.function = function_;
		const builder = new TreeBuilder(model.functions.length);
		// By node of the model's tree: the graph's node that its weight is for
		this.place = new Int32Array(model.tree.count).fill(NONE);
		// Whether that is the weight with its callees'
		this.ofBelow = kind === "callers";
		if (kind === "functions")
			this.place = null;
		else
			this[kind](builder);
		const { tree, number } = kind === "functions" ? { tree: model.tree }
			: arrange(builder.parent, builder.key, (key) => this.rankOf(key));
		this.tree = tree;
		if (this.place)
			this.place = this.place.map((node) => (node === NONE ? NONE : number[node]));
	}

	get ofModules() {
		return this.kind === "modules";
	}

	// Domains have the keys below NONE in a graph of modules.
	rankOf(key) {
		const { rank } = this.model;
		return !this.ofModules ? rank[key] : key < NONE ? rank[NONE - 1 - key] : rank.length + key;
	}

	isDomain(node) {
		return this.model.hasDomains && node > 0 && this.tree.depth[node] === 1 &&
			this.function === undefined;
	}

	name(node) {
		const { model, tree } = this;
		if (!node)
			return this.function === undefined ? "all" : model.functions[this.function];
		if (!this.ofModules)
			return model.functions[tree.key[node]];
		return tree.key[node] < NONE ? model.functions[NONE - 1 - tree.key[node]]
			: model.moduleName(tree.key[node]);
	}

	// The function of a frame; NONE if the frame is none.
	functionOf(node) {
		if (!node)
			return this.function === undefined ? NONE : this.function;
		return this.ofModules || this.isDomain(node) ? NONE : this.tree.key[node];
	}

	modules(builder) {
		const { model, place } = this, { count, parent, key } = model.tree;
		place[0] = 0;
		for (let i = 1; i < count; i++) {
			const caller = place[parent[i]], module = model.module(key[i]);
			if (model.isDomain(i))
				place[i] = builder.child(0, NONE - 1 - key[i]);
			else
				place[i] = builder.key[caller] === module ? caller
					: builder.child(caller, module);
		}
	}

	inverted(builder) {
		const { model, place } = this, { count, parent, key } = model.tree;
		for (let i = 1; i < count; i++) {
			if (!model.isSampled[i])
				continue;
			let top = i, node = 0;
			while (parent[top] > 0)
				top = parent[top];
			if (model.hasDomains)
				node = builder.child(0, key[top]);
			for (let j = i; j > 0 && !model.isDomain(j); j = parent[j])
				node = builder.child(node, key[j]);
			place[i] = node;
		}
	}

	callees(builder) {
		const { model, place } = this, { count, parent, key } = model.tree;
		for (let i = 1; i < count; i++) {
			const caller = place[parent[i]];
			if (caller !== NONE)
				place[i] = builder.child(caller, key[i]);
			else if (key[i] === this.function && !model.isDomain(i))
				place[i] = 0;
		}
	}

	callers(builder) {
		const { model, place } = this, { count, parent, key } = model.tree;
		for (let i = 1; i < count; i++) {
			if (key[i] !== this.function || !model.isOutermost[i])
				continue;
			let node = 0;
			for (let j = parent[i]; j > 0 && !model.isDomain(j); j = parent[j])
				node = builder.child(node, key[j]);
			place[i] = node;
		}
	}

	// Returns the sums by the graph's node: self and, with callees, below.
	sum(sums) {
		if (!this.place)
			return sums;
		const { count, parent } = this.tree, self = new Float64Array(count);
		const from = this.ofBelow ? sums.below : sums.self;
		for (let i = 1; i < this.place.length; i++)
			if (this.place[i] !== NONE)
				self[this.place[i]] += from[i];
		const below = self.slice();
		for (let i = count - 1; i > 0; i--)
			below[parent[i]] += below[i];
		return { samples: sums.samples, total: sums.total, self, below };
	}

	// Returns, by node, whether its name matches, given by function and by module whether they
	// do; domains never do.
	matches(isFunction, isModule) {
		const { count, key } = this.tree, isMatch = new Uint8Array(count);
		for (let i = 1; i < count; i++)
			isMatch[i] = !this.isDomain(i) && (this.ofModules ? isModule : isFunction)[key[i]];
		return isMatch;
	}
}
