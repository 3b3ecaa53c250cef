// SPDX-License-Identifier: BSD-3-Clause
//
// The tables: sums by function, module, domain and the like, and the call tree.
import { button, make, percent, plainAmount, shorten } from "./dom.mjs";

const MORE = 200; // rows that are shown at once
const LONGEST = 1000; // characters of a name: layout of more takes seconds

function cell(text, part) {
	const element = make("td", { textContent: text, className: "number" });
	if (part !== undefined) {
		element.classList.add("bar");
		element.style.setProperty("--part", `${(100 * part).toFixed(2)}%`);
	}
	return element;
}

function points(share) {
	return `${share > 0 ? "+" : share < 0 ? "\u2212" : ""}${Math.abs(100 * share).toFixed(2)}`;
}

// Fills a table with rows: name, self, total and, to compare, change (changeInterval()).
export class Table {
	// on: open(row), order(key)
	constructor(table, on) {
		this.table = table;
		this.on = on;
		this.limit = MORE;
	}

	// content: caption, noun, rows, whole, weight, order (a key, "-" before it: descending)
	show(content) {
		if (!this.content || this.content.caption !== content.caption)
			this.limit = MORE;
		this.content = content;
		const { rows, order } = content, key = order.replace("-", "");
		const value = {
			self: (row) => row.self,
			total: (row) => row.total,
			name: (row) => row.name,
			change: (row) => (row.change ? Math.abs(row.change.change) : 0),
		}[key] || ((row) => row.self);
		const sign = order.startsWith("-") ? -1 : 1;
		rows.sort((a, b) => {
			const [x, y] = [value(a), value(b)];
			if (x !== y)
				return x < y ? -sign : sign;
			return b.total - a.total || (a.name < b.name ? -1 : 1);
		});
		this.fill();
	}

	fill() {
		const { caption, rows } = this.content;
		const shown = rows.slice(0, this.limit);
		this.table.replaceChildren(
			make("caption", { textContent: `${caption}: ${rows.length}` }),
			make("thead", {}, this.head()),
			make("tbody", {}, ...shown.map((row) => this.row(row))));
		if (rows.length > shown.length)
			this.table.tBodies[0].append(make("tr", {}, make("td", { colSpan: 7 },
				button(`${rows.length - shown.length} more`, () => {
					this.limit *= 5;
					this.fill();
				}))));
	}

	head() {
		const { noun, order, compares } = this.content;
		const columns = [["name", noun, 1], ["self", "Self", 2], ["total", "Total", 2]];
		if (compares)
			columns.push(["change", "Change of total, points (95 % interval)", 2]);
		return make("tr", {}, ...columns.map(([key, text, colSpan]) => {
			const now = order.replace("-", "") === key;
			const next = now && order.startsWith("-") ? key : now || key !== "name" ? `-${key}` : key;
			const arrow = now ? (order.startsWith("-") ? " \u25be" : " \u25b4") : "";
			return make("th", {
				colSpan, scope: "col", className: key === "name" ? "" : "number",
				attributes: { "aria-sort": !now ? "none"
					: order.startsWith("-") ? "descending" : "ascending" },
			}, button(text + arrow, () => this.on.order(next)));
		}));
	}

	row(row) {
		const { whole, weight, compares } = this.content;
		const text = shorten(row.name, LONGEST);
		const name = row.isKnown === false ? make("span", { textContent: text })
			: button(text, () => this.on.open(row), row.hint);
		const cells = [
			make("th", { scope: "row" }, name),
			cell(plainAmount(weight, row.self)), cell(percent(row.self, whole), row.self / whole),
			cell(plainAmount(weight, row.total)), cell(percent(row.total, whole), row.total / whole),
		];
		if (compares) {
			const { change, low, high } = row.change, isCertain = low > 0 || high < 0;
			cells.push(cell(points(change)), cell(`${points(low)} \u2026 ${points(high)}`));
			cells[5].classList.add(!isCertain ? "unsure" : change > 0 ? "grew" : "shrank");
		}
		return make("tr", {}, ...cells);
	}
}

// The call tree: each frame can be opened, and shows its callees, the largest first.
export class CallTree {
	constructor(table) {
		this.table = table;
		this.open = new Set([0]);
	}

	// content: graph, sums, weight
	show(content) {
		if (!this.content || this.content.graph !== content.graph)
			this.open = new Set([0]);
		this.content = content;
		const rows = [];
		this.add(0, rows);
		this.table.replaceChildren(
			make("caption", { textContent: "Call tree" }),
			make("thead", {}, make("tr", {}, ...["Frame", "Self", "Total"].map((text, i) =>
				make("th", { textContent: text, colSpan: i ? 2 : 1, scope: "col", className: i ? "number" : "" })))),
			make("tbody", {}, ...rows));
	}

	children(node) {
		const { graph: { tree }, sums: { below } } = this.content, children = [];
		for (let i = node + 1; i < tree.end[node]; i = tree.end[i])
			if (below[i])
				children.push(i);
		return children.sort((a, b) => below[b] - below[a]);
	}

	add(node, rows) {
		const { graph, sums, weight } = this.content, whole = sums.below[0];
		const children = this.children(node), isOpen = this.open.has(node);
		const mark = children.length ? (isOpen ? "\u25be " : "\u25b8 ") : "\u2003 ";
		const name = button(mark + shorten(graph.name(node), LONGEST), () => this.toggle(node, children));
		if (children.length)
			name.setAttribute("aria-expanded", String(isOpen));
		name.dataset.node = node;
		const head = make("th", { scope: "row" }, name);
		head.style.paddingLeft = `${Math.min(graph.tree.depth[node], 60) * 14}px`;
		rows.push(make("tr", {}, head,
			cell(plainAmount(weight, sums.self[node])),
			cell(percent(sums.self[node], whole), sums.self[node] / whole),
			cell(plainAmount(weight, sums.below[node])),
			cell(percent(sums.below[node], whole), sums.below[node] / whole)));
		if (!isOpen)
			return;
		for (const child of children.slice(0, MORE))
			this.add(child, rows);
	}

	// Opens a frame and, below it, frames that are the only ones; or closes it.
	toggle(node, children) {
		if (this.open.has(node)) {
			this.open.delete(node);
		} else {
			this.open.add(node);
			for (let next = children; next.length === 1; next = this.children(next[0]))
				this.open.add(next[0]);
		}
		this.show(this.content);
		const again = this.table.querySelector(`[data-node="${node}"]`);
		if (again)
			again.focus();
	}
}
