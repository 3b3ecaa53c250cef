// SPDX-License-Identifier: BSD-3-Clause
//
// Zoom and search for the flame graphs of flame_svg.c, which documents the attributes of frames.
// Names are handled as text only, never as markup.
"use strict";
(() => {
	const svg = document.currentScript.closest("svg");
	const list = svg.querySelector(".frames");
	const margin = 10, padding = 4;
	const rowHeight = +list.dataset.row, leastWidth = 0.25, mostShown = 40000;
	const frames = Array.from(list.children, (g) => {
		const title = g.querySelector("title").textContent;
		const rect = g.querySelector("rect");
		return {
			g, title, rect, text: g.querySelector("text"),
			name: title.replace(/ \([^()]*\)$/, ""),
			x: +g.dataset.x, n: +g.dataset.n, y: +rect.getAttribute("y"),
		};
	});
	if (!frames.length)
		return;

	const all = frames[0];
	const byElement = new Map(frames.map((f) => [f.g, f]));
	const height = +svg.getAttribute("height");
	// Frames that are too narrow at first have no elements until they are wide enough.
	const narrow = svg.querySelector(".narrow"), isIncomplete = "lacks" in narrow.dataset;
	const names = svg.querySelector(".names").textContent.split("\n");
	const firstRow = frames.reduce((least, f) => Math.min(least, f.y), all.y);
	for (const line of narrow.textContent.split("\n").slice(0, -1)) {
		const [x, depth, n, number, colour] = line.split(" ", 5);
		const numbers = line.split(" ").slice(5).join(" "), name = names[number];
		frames.push({
			name, colour, title: `${name} (${numbers})`,
			x: +x, n: +n, y: all.y - rowHeight * depth,
		});
	}
	const isAlone = document.documentElement === svg;
	let zoomed = all, risen = 0, width = svg.viewBox.baseVal.width, character = 7.3;

	function add(parent, name, attributes) {
		const element = document.createElementNS("http://www.w3.org/2000/svg", name);
		for (const key in attributes)
			element.setAttribute(key, attributes[key]);
		return parent.appendChild(element);
	}

	function addHtml(parent, name, attributes) {
		const element = document.createElementNS("http://www.w3.org/1999/xhtml", name);
		Object.assign(element, attributes);
		return parent.appendChild(element);
	}

	const percent = (n, of) => (100 * n / of).toFixed(2) + " %";

	// As much of a name as fits, like put_label().
	function label(name, pixels) {
		const room = Math.floor((pixels - 2 * padding) / character);
		let columns = 0, fit = 0;
		for (const c of name) {
			columns += c >= "\u1000" ? 2 : 1;
			if (columns > room)
				return fit > 1 ? name.slice(0, fit) + "\u2026" : "";
			if (columns < room)
				fit += c.length;
		}
		return name;
	}

	// Returns the part of a frame that is shown: where it starts, and its width, in counts.
	function shown(f) {
		const start = Math.max(f.x, zoomed.x);
		return [start, Math.min(f.x + f.n, zoomed.x + zoomed.n) - start];
	}

	function create(f) {
		f.g = add(list, "g", { class: "c" + f.colour, "data-x": f.x, "data-n": f.n });
		add(f.g, "title", {}).textContent = f.title;
		f.rect = add(f.g, "rect", { y: f.y, height: rowHeight - 1 });
		f.g.classList.toggle("match", Boolean(f.isMatch));
		byElement.set(f.g, f);
	}

	function place(f, scale, least) {
		const [start, n] = shown(f), pixels = n * scale;
		const isShown = pixels > 0 && pixels >= least;
		if (isShown && !f.g)
			create(f);
		if (f.g)
			f.g.style.display = isShown ? "" : "none";
		if (!isShown)
			return;
		const x = margin + (start - zoomed.x) * scale;
		f.g.classList.toggle("caller", f.y > zoomed.y);
		f.rect.setAttribute("x", x.toFixed(2));
		f.rect.setAttribute("width", pixels.toFixed(2));
		const text = pixels > 3 * character ? label(f.name, pixels) : "";
		if (text && !f.text)
			f.text = add(f.g, "text", { y: f.y + 12 });
		if (f.text) {
			f.text.textContent = text;
			f.text.setAttribute("x", (x + padding).toFixed(2));
		}
	}

	// The picture grows by the rows that only a zoom shows.
	function grow(highest) {
		const rise = Math.max(0, firstRow - highest);
		list.setAttribute("transform", `translate(0 ${rise})`);
		svg.setAttribute("height", height + rise);
		if (isAlone)
			scrollBy(0, rise - risen);
		else
			svg.setAttribute("viewBox", `0 0 ${width} ${height + rise}`);
		risen = rise;
	}

	function zoom(to) {
		zoomed = to;
		const scale = (width - 2 * margin) / zoomed.n;
		const widths = frames.map((f) => shown(f)[1] * scale);
		let least = leastWidth;
		while (widths.filter((pixels) => pixels >= least).length > mostShown)
			least *= 2;
		frames.forEach((f) => place(f, scale, least));
		grow(frames.reduce((y, f, i) => widths[i] >= least ? Math.min(y, f.y) : y,
			firstRow));
		reset.style.visibility = zoomed === all ? "hidden" : "";
	}

	// Sums the counts of matching frames, once where they are nested.
	function search() {
		let pattern = null, n = 0, end = 0;
		try {
			// As in less and git: a search without capital letters ignores case.
			const flags = /[A-Z]/.test(input.value.replace(/\\./g, "")) ? "" : "i";
			pattern = input.value && new RegExp(input.value, flags);
			input.setCustomValidity("");
		} catch (error) {
			input.setCustomValidity("invalid regular expression");
		}
		const matches = frames.filter((f) => {
			f.isMatch = Boolean(pattern) && f !== all && pattern.test(f.name);
			if (f.g)
				f.g.classList.toggle("match", f.isMatch);
			return f.isMatch;
		});
		matches.sort((a, b) => a.x - b.x || b.n - a.n);
		for (const f of matches) {
			if (f.x < end)
				continue;
			n += f.n;
			end = f.x + f.n;
		}
		matched.textContent = input.validationMessage ||
			(pattern ? `matched: ${isIncomplete ? "at least " : ""}${percent(n, all.n)}` : "");
	}

	function clear() {
		input.value = "";
		search();
	}

	// The bar of details and controls stays in view when the picture scrolls.
	const top = +list.dataset.top, controls = 330;
	const bar = add(svg, "g", { class: "bar" });
	const back = add(bar, "rect", { class: "page", y: top, height: 34 });
	const details = add(bar, "text", { class: "details", x: margin, y: top + 21 });
	const matched = add(bar, "text", { y: top + 21, "text-anchor": "end", class: "matched" });
	const corner = add(bar, "foreignObject", { y: top + 4, width: controls, height: 28 });
	const row = addHtml(corner, "div", { className: "row" });
	const reset = addHtml(row, "button", { textContent: "Reset zoom" });
	const input = addHtml(row, "input", {
		type: "search", placeholder: "Search: regular expression   /",
	});
	input.setAttribute("aria-label", "Search");

	function resize() {
		// A standalone picture fills its window; an embedded one is unchanged.
		if (isAlone) {
			width = Math.max(600, innerWidth - 16);
			svg.removeAttribute("viewBox");
			svg.setAttribute("width", width);
		}
		back.setAttribute("width", width);
		corner.setAttribute("x", width - margin - controls);
		matched.setAttribute("x", width - 2 * margin - controls);
		zoom(zoomed);
	}

	function follow() {
		if (isAlone)
			bar.setAttribute("transform", `translate(0 ${Math.max(0, scrollY - top)})`);
	}

	const frameOf = (event) => byElement.get(event.target.parentNode);

	list.classList.add("live");
	list.addEventListener("click", (event) => {
		const f = frameOf(event);
		if (f)
			zoom(f);
	});
	list.addEventListener("mouseover", (event) => {
		const f = frameOf(event);
		if (!f)
			return;
		let numbers = f.title.slice(f.name.length);
		if (zoomed !== all && f.y <= zoomed.y)
			numbers += ", " + percent(f.n, zoomed.n) + " of the zoomed";
		const share = matched.textContent ? 180 : 0;
		const room = width - controls - share - numbers.length * character;
		details.textContent = label(f.name, room) + numbers;
	});
	list.addEventListener("mouseout", () => { details.textContent = ""; });
	reset.addEventListener("click", () => zoom(all));
	input.addEventListener("input", search);
	addEventListener("resize", resize);
	addEventListener("scroll", follow);
	addEventListener("keydown", (event) => {
		const typing = document.activeElement === input;
		const find = event.key === "f" && (event.ctrlKey || event.metaKey);
		// The second Ctrl-F opens the browser's search.
		if (!typing && (find || event.key === "/")) {
			event.preventDefault();
			input.focus();
			input.select();
		} else if (event.key === "Escape") {
			if (input.value)
				clear();
			else if (typing)
				input.blur();
			else
				zoom(all);
		}
	});

	const probe = add(list, "text", {});
	probe.textContent = "0".repeat(100);
	character = probe.getComputedTextLength() / 100 || character;
	probe.remove();
	resize();
	// The root is at the bottom.
	if (isAlone)
		scrollTo(0, height);
})();
