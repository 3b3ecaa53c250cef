// SPDX-License-Identifier: BSD-3-Clause
//
// A flame graph on a canvas: the width of a frame is its share of the zoomed frame, its row is
// its depth. Only the rows in view are drawn, and no frame narrower than half a pixel.
import { SCALE, colour, fit, shorten } from "./dom.mjs";

const ROW = Math.round(18 * SCALE), CHARACTER = 7.3 * SCALE, PADDING = 4, LEAST = 0.5;

export class Flame {
	// grow is "flame", upwards, or "icicle"; on has the functions hover(node), select(node),
	// zoom(node), sandwich(node), each with NONE or a node.
	constructor(frame, on) {
		this.frame = frame;
		this.canvas = frame.querySelector("canvas");
		this.spacer = frame.querySelector(".spacer");
		this.on = on;
		this.selected = 0;
		this.canvas.addEventListener("mousemove", (event) => on.hover(this.at(event)));
		this.canvas.addEventListener("mouseleave", () => on.hover(-1));
		this.canvas.addEventListener("click", (event) => this.click(this.at(event)));
		this.canvas.addEventListener("keydown", (event) => this.key(event));
		frame.addEventListener("scroll", () => this.draw());
	}

	// picture: graph, sums (Graph.sum()), zoomed, grow, colourOf(node), isMatch by node or null
	show(picture) {
		const isNew = !this.picture || this.picture.graph !== picture.graph;
		const { graph, sums } = picture, { count, parent, depth } = graph.tree;
		this.picture = picture;
		if (isNew)
			this.selected = 0;
		if (picture.zoomed >= count)
			picture.zoomed = 0;
		this.left = new Float64Array(count);
		const used = new Float64Array(count);
		let deepest = 0;
		for (let i = 0; i < count; i++) {
			if (i) {
				this.left[i] = used[parent[i]];
				used[parent[i]] += sums.below[i];
			}
			used[i] = this.left[i];
			if (sums.below[i] && depth[i] > deepest)
				deepest = depth[i];
		}
		this.rows = deepest + 1;
		this.spacer.style.height = `${this.rows * ROW}px`;
		if (isNew && picture.grow === "flame")
			this.frame.scrollTop = this.frame.scrollHeight;
		this.draw();
	}

	// Returns the top of a row in the whole picture.
	top(row) {
		return (this.picture.grow === "flame" ? this.rows - 1 - row : row) * ROW;
	}

	// Calls visit(node, x, width) for all frames of at least @least pixels.
	visit(visit, least) {
		const { graph, sums, zoomed } = this.picture, { count, end, parent } = graph.tree;
		const start = this.left[zoomed], scale = this.width / (sums.below[zoomed] || 1);
		const callers = new Set();
		for (let i = zoomed; i >= 0; i = parent[i])
			callers.add(i);
		for (let i = 0; i < count;) {
			const isCaller = callers.has(i);
			const x = isCaller ? 0 : (this.left[i] - start) * scale;
			const width = isCaller ? this.width : sums.below[i] * scale;
			const isOutside = !isCaller && (i < zoomed || i >= end[zoomed]);
			if (isOutside || width < least || !sums.below[i]) {
				i = end[i];
				continue;
			}
			visit(i, x, width);
			i++;
		}
	}

	draw() {
		if (!this.picture)
			return;
		const { graph, colourOf, isMatch } = this.picture;
		const height = Math.min(this.frame.clientHeight || 1, this.rows * ROW);
		this.width = this.frame.clientWidth;
		const context = fit(this.canvas, this.width, height);
		const scroll = this.frame.scrollTop, match = colour("--match"), text = "#111";
		const selected = this.selected, gap = colour("--ground");
		context.fillStyle = gap;
		context.fillRect(0, 0, this.width, height);
		context.font = `${12 * SCALE}px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace`;
		context.textBaseline = "middle";
		this.visit((i, x, width) => {
			const y = this.top(graph.tree.depth[i]) - scroll;
			if (y <= -ROW || y >= height)
				return;
			context.globalAlpha = i < this.picture.zoomed ? 0.55 : 1;
			context.fillStyle = isMatch && isMatch[i] ? match : colourOf(i);
			context.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), LEAST), ROW - 1);
			context.globalAlpha = 1;
			const columns = Math.floor((width - 2 * PADDING) / CHARACTER);
			if (columns > 2) {
				context.fillStyle = text;
				context.fillText(shorten(graph.name(i), columns), x + PADDING, y + ROW / 2);
			}
			if (i === selected && i) {
				context.strokeStyle = colour("--text");
				context.lineWidth = 2;
				context.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), ROW - 3);
			}
		}, LEAST);
	}

	// Returns the frame below the pointer; -1 if there is none.
	at(event) {
		const box = this.canvas.getBoundingClientRect();
		const x = event.clientX - box.left;
		const y = event.clientY - box.top + this.frame.scrollTop;
		let found = -1;
		this.visit((i, left, width) => {
			const top = this.top(this.picture.graph.tree.depth[i]);
			if (x >= left && x < left + width && y >= top && y < top + ROW)
				found = i;
		}, LEAST);
		return found;
	}

	click(node) {
		if (node < 0)
			return;
		this.select(node);
		this.on.zoom(node);
	}

	select(node) {
		this.selected = node;
		const top = this.top(this.picture.graph.tree.depth[node]);
		const { scrollTop, clientHeight } = this.frame;
		if (top < scrollTop)
			this.frame.scrollTop = top;
		else if (top + ROW > scrollTop + clientHeight)
			this.frame.scrollTop = top + ROW - clientHeight;
		this.on.select(node);
		this.draw();
	}

	// Returns the callees of a frame that have a weight.
	callees(node) {
		const { graph, sums } = this.picture, callees = [];
		for (let i = node + 1; i < graph.tree.end[node]; i = graph.tree.end[i])
			if (sums.below[i])
				callees.push(i);
		return callees;
	}

	key(event) {
		const { tree } = this.picture.graph, node = this.selected;
		const up = this.picture.grow === "flame" ? "ArrowUp" : "ArrowDown";
		const down = this.picture.grow === "flame" ? "ArrowDown" : "ArrowUp";
		const siblings = node ? this.callees(tree.parent[node]) : [node];
		const place = siblings.indexOf(node);
		const to = {
			[up]: this.callees(node)[0],
			[down]: tree.parent[node],
			ArrowLeft: siblings[place - 1],
			ArrowRight: siblings[place + 1],
			Home: 0,
		};
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key in to) {
			if (to[event.key] !== undefined && to[event.key] >= 0)
				this.select(to[event.key]);
		} else if (event.key === "Enter") {
			this.on.zoom(node);
		} else if (event.key === "Escape") {
			this.on.zoom(0);
		} else if (event.key === "s") {
			this.on.sandwich(node);
		} else {
			return;
		}
		event.preventDefault();
	}
}
