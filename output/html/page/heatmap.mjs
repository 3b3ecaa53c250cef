// SPDX-License-Identifier: BSD-3-Clause
//
// The heat map over time, in which ranges are selected. Rows are vCPUs (of waits: threads) or, as in
// FlameScope, parts of a second, while columns are seconds. Where there is no sample, it is hatched, and so
// is the part of a cell whose rounds were missed; the part that was paused has its own colour.
import { SCALE, colour, fit, percent, plainAmount, seconds } from "./dom.mjs";
import { NONE, mergeRanges } from "./model.mjs";

const LABELS = 150 * SCALE, AXIS = 20 * SCALE, LEVELS = 32, MOST_ROWS = 64, MOST_SORTED = 4096, PARTS = 50;
const NAMES = new Intl.Collator("en", { numeric: true });

function mixHex(low, high, share) {
	const [a, b] = [low, high].map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
	return `rgb(${a.map((part, i) => Math.round(part + (b[i] - part) * share)).join(",")})`;
}

// Returns a round step of at least @least.
function roundStep(least) {
	let step = 1;
	for (let i = 0; step < least; i++)
		step *= i % 3 === 1 ? 2.5 : 2;
	return step;
}

export class HeatMap {
	// on has the functions hover(text) and select(range, adds); range null removes all.
	constructor(canvas, model, on) {
		this.canvas = canvas;
		this.model = model;
		this.on = on;
		this.cursor = null; // the range that is being chosen: [anchor, other end]
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		canvas.addEventListener("pointerup", (event) => this.release(event));
		canvas.addEventListener("pointerleave", () => on.hover(""));
		canvas.addEventListener("keydown", (event) => this.key(event));
	}

	// isNew: whether the cells may have changed, and not only ranges.
	// picture: selection, rows ("threads" or "seconds"), isShown by state, isStack by call
	// chain or null, compared (ranges)
	show(isNew, picture) {
		this.picture = picture;
		if (isNew) {
			this.lay();
			this.count();
		}
		this.draw();
	}

	lay() {
		const { model, picture } = this, { about } = model;
		const width = this.canvas.parentElement.clientWidth - LABELS;
		this.plot = Math.max(width, 100);
		this.from = model.start;
		this.to = model.end;
		const { isThread, weight } = picture.selection;
		this.all = model.threads(weight);
		const known = weight === "wait" ? 1e9 / about.waits.period : about.rate;
		const names = this.all.map((thread) => model.threadName(thread));
		this.threads = Array.from(this.all.keys()).filter((i) => !isThread || isThread[i]);
		if (this.threads.length <= MOST_SORTED)
			this.threads.sort((a, b) => NAMES.compare(names[a], names[b]));
		this.left = Math.max(0, this.threads.length - MOST_ROWS);
		this.threads.length -= this.left;
		if (picture.rows === "threads") {
			const length = this.to - this.from, rate = known || about.frequency || 1e6;
			this.columns = Math.max(1, Math.min(Math.floor(this.plot / 3),
				Math.floor(length * rate / 2e6)));
			this.rows = Math.max(1, this.threads.length);
			this.step = length / this.columns;
		} else {
			const rate = known || 100;
			this.rows = [PARTS, 25, 20, 10, 5, 2].find((rows) => rows * 2 <= rate) || 1;
			this.second = 1e6 * roundStep((this.to - this.from) / 1e6 / (this.plot / 3));
			this.columns = Math.max(1, Math.ceil((this.to - this.from) / this.second));
			this.step = this.second / this.rows;
		}
		this.rowHeight = picture.rows === "threads"
			? Math.max(4, Math.min(22 * SCALE, Math.floor(260 * SCALE / this.rows))) : 5 * SCALE;
		this.cell = this.picture.rows === "threads" ? this.plot / this.columns
			: Math.min(48, this.plot / this.columns);
	}

	count() {
		const { model, picture, from, step, columns, rows } = this;
		const rowOf = new Int32Array(this.all.length).fill(NONE);
		const isThreads = picture.rows === "threads";
		this.threads.forEach((thread, row) => {
			rowOf[thread] = isThreads ? row : 0;
		});
		if (!isThreads)
			rowOf.fill(0);
		this.cells = model.heat({
			selection: picture.selection, from,
			to: isThreads ? this.to : from + columns * rows * step,
			columns: isThreads ? columns : columns * rows, rows: isThreads ? rows : 1,
			rowOf, isShown: picture.isShown, isStack: picture.isStack,
		});
		this.costs = model.costs({ from, step, columns: isThreads ? columns : columns * rows });
	}

	// Returns the shares of a cell's rounds that were missed and of its time that was paused;
	// only the first recording's are known.
	cost(column, row) {
		const { about } = this.model, isThreads = this.picture.rows === "threads";
		const isFirst = this.picture.selection.weight !== "wait" &&
			(isThreads ? this.all[this.threads[row]].recording === 0 : about.recordings.length === 1);
		const i = isThreads ? column : this.index(column, row);
		return isFirst ? { missed: this.costs.missed[i], paused: this.costs.paused[i] }
			: { missed: 0, paused: 0 };
	}

	// Returns the index of a cell: cells of seconds are in the order of time.
	index(column, row) {
		return this.picture.rows === "threads" ? row * this.columns + column
			: column * this.rows + (this.rows - 1 - row);
	}

	draw() {
		const height = this.rows * this.rowHeight + AXIS;
		const context = this.context = fit(this.canvas, this.plot + LABELS, height);
		context.clearRect(0, 0, this.plot + LABELS, height);
		context.font = `${12 * SCALE}px system-ui, sans-serif`;
		context.textBaseline = "middle";
		this.drawHatching(this.cell * this.columns, height - AXIS);
		this.drawCells();
		this.drawLabels();
		this.drawAxis(height - AXIS);
		this.drawRanges(this.picture.compared, colour("--compared"));
		this.drawRanges(this.picture.selection.ranges, colour("--range"));
		if (this.cursor)
			this.drawRanges([this.cursorRange()], colour("--text"));
	}

	drawHatching(width, height) {
		const { context } = this;
		context.save();
		context.beginPath();
		context.rect(LABELS, 0, width, height);
		context.clip();
		context.strokeStyle = colour("--hatch");
		context.lineWidth = 1;
		for (let x = -height; x < width; x += 6) {
			context.moveTo(LABELS + x, height);
			context.lineTo(LABELS + x + height, 0);
		}
		context.stroke();
		context.restore();
	}

	drawCells() {
		const { context, cell, rowHeight } = this, { shown, all } = this.cells;
		const low = colour("--heat-low"), high = colour("--heat-high");
		const colours = Array.from({ length: LEVELS }, (_, i) => mixHex(low, high, i / (LEVELS - 1)));
		const none = colour("--heat-none"), paused = colour("--paused");
		const width = cell + (cell < 4 ? 0.5 : -0.5), height = rowHeight - (rowHeight > 6 ? 1 : 0);
		const isTall = height > width, length = isTall ? height : width;
		// From a share of 0.1 pixels on, as much as a pixel is visible.
		const pixels = (share, most) => Math.max(0, Math.min(most, Math.ceil(share * length - 0.1)));
		for (let row = 0; row < this.rows; row++) {
			for (let column = 0; column < this.columns; column++) {
				const i = this.index(column, row);
				if (!all[i])
					continue;
				const share = Math.min(1, shown[i] / all[i]);
				context.fillStyle = shown[i] ? colours[Math.round(share * (LEVELS - 1))] : none;
				const x = LABELS + column * cell, y = row * rowHeight, cost = this.cost(column, row);
				const gone = pixels(cost.missed, length - 1);
				const held = pixels(cost.paused, length - 1 - gone), rest = length - gone - held;
				const fill = (from, size) => (isTall ? context.fillRect(x, y + from, width, size)
					: context.fillRect(x + from, y, size, height));
				fill(gone, rest);
				context.fillStyle = paused;
				fill(gone + rest, held);
			}
		}
	}

	drawLabels() {
		const { context, rowHeight } = this;
		context.fillStyle = colour("--text");
		if (this.picture.rows === "seconds") {
			context.fillText(`${seconds(this.second)} up,`, 4, 8 * SCALE);
			context.fillText("columns side by side", 4, 24 * SCALE);
			return;
		}
		const every = Math.ceil(14 * SCALE / rowHeight);
		for (let row = 0; row < this.threads.length; row += every) {
			let name = this.model.threadName(this.all[this.threads[row]]);
			while (name.length > 4 && context.measureText(name).width > LABELS - 10)
				name = `\u2026${name.slice(2)}`;
			context.fillText(name, 4, row * rowHeight + Math.max(rowHeight, 12 * SCALE) / 2);
		}
	}

	// Returns the position of a time.
	x(time) {
		return this.picture.rows === "threads"
			? LABELS + (time - this.from) / (this.to - this.from) * this.plot
			: LABELS + Math.floor((time - this.from) / this.second) * this.cell;
	}

	drawAxis(top) {
		const { context } = this, length = this.to - this.from;
		const width = this.cell * this.columns;
		let step = 10 ** Math.floor(Math.log10(length * 80 * SCALE / width || 1));
		for (let i = 0; length / step * 80 * SCALE > width; i++)
			step *= i % 3 === 1 ? 2.5 : 2;
		context.fillStyle = colour("--text");
		if (this.left && this.picture.rows === "threads")
			context.fillText(`and ${this.left} more`, 4, top + 12 * SCALE);
		for (let time = Math.ceil(this.from / step) * step; time < this.to; time += step) {
			const x = this.x(time);
			context.fillRect(x, top, 1, 4);
			if (x + 40 * SCALE < LABELS + this.plot)
				context.fillText(`${+(time / 1e6).toFixed(6)} s`, x + 3, top + 12 * SCALE);
		}
	}

	drawRanges(ranges, stroke) {
		const { context } = this, height = this.rows * this.rowHeight;
		context.strokeStyle = stroke;
		context.lineWidth = 2;
		if (!ranges.length)
			return;
		for (const [from, to] of mergeRanges(ranges)) {
			if (this.picture.rows === "threads")
				context.strokeRect(this.x(from), 1, this.x(to) - this.x(from), height - 2);
			else
				this.drawSeconds(from, to, height);
		}
	}

	// A range as blocks of columns: the first and the last column may be in part.
	drawSeconds(from, to, height) {
		const { context, second, cell } = this;
		const y = (time) => height - (time - this.from) % second / second * height;
		const first = Math.floor((from - this.from) / second);
		const last = Math.floor((to - 1 - this.from) / second);
		for (let column = first; column <= last && column < this.columns; column++) {
			const bottom = column === first ? y(from) : height;
			const top = column === last && (to - this.from) % second ? y(to) : 0;
			context.strokeRect(LABELS + column * cell + 1, top, Math.max(cell - 2, 1), bottom - top);
		}
	}

	// Returns [from, to] of the cell at a place, within the map.
	cellAt(event) {
		const box = this.canvas.getBoundingClientRect();
		const x = Math.max(0, Math.min(event.clientX - box.left - LABELS, this.cell * this.columns - 1));
		const y = Math.max(0, Math.min(event.clientY - box.top, this.rows * this.rowHeight - 1));
		const column = Math.floor(x / this.cell), row = Math.floor(y / this.rowHeight);
		const number = this.picture.rows === "threads" ? column
			: column * this.rows + (this.rows - 1 - row);
		return {
			column, row,
			range: [this.from + number * this.step, this.from + (number + 1) * this.step]
				.map(Math.round),
		};
	}

	cursorRange() {
		const [a, b] = this.cursor;
		return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
	}

	press(event) {
		if (event.button)
			return;
		const { range } = this.cellAt(event);
		this.cursor = [range, range];
		this.pressed = { x: event.clientX, y: event.clientY };
		this.canvas.setPointerCapture(event.pointerId);
	}

	move(event) {
		const { column, row, range } = this.cellAt(event);
		if (this.pressed) {
			this.cursor[1] = range;
			this.draw();
		}
		this.on.hover(this.describe(column, row, range));
	}

	describe(column, row, [from, to]) {
		const i = this.index(column, row), all = this.cells.all[i], shown = this.cells.shown[i];
		const name = this.picture.rows === "threads" && this.threads.length
			? `${this.model.threadName(this.all[this.threads[row]])}, ` : "";
		const what = all ? `${percent(shown, all, 0)} of ${plainAmount(this.picture.selection.weight, all)}`
			: "no samples", { missed, paused } = this.cost(column, row);
		const costs = missed || paused ? `; ${percent(missed, 1)} of the rounds missed, ` +
			`${percent(paused, 1)} of the time paused` : "";
		return `${name}${+(from / 1e6).toFixed(3)} to ${+(to / 1e6).toFixed(3)} s: ${what}${costs}`;
	}

	release(event) {
		if (!this.pressed)
			return;
		const moved = Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y);
		this.pressed = null;
		const range = this.cursorRange();
		this.cursor = null;
		this.on.select(moved < 3 ? null : range, event.shiftKey || event.ctrlKey);
	}

	key(event) {
		const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
		if (event.key in steps) {
			this.moveCursor(steps[event.key], event.shiftKey);
		} else if (event.key === "Enter" && this.cursor) {
			const range = this.cursorRange();
			this.cursor = null;
			this.on.select(range, event.ctrlKey);
		} else if (event.key === "Escape") {
			this.cursor = null;
			this.on.select(null, false);
		} else {
			return;
		}
		event.preventDefault();
	}

	// Moves the cursor by columns, or one end of its range.
	moveCursor(columns, extends_) {
		const width = this.picture.rows === "threads" ? this.step : this.second;
		const last = this.cursor ? this.cursor[1][0] : this.from - width;
		const number = Math.round((last - this.from) / width) + columns;
		const start = this.from + Math.max(0, Math.min(number, this.columns - 1)) * width;
		const range = [Math.round(start), Math.round(start + width)];
		this.cursor = this.cursor && extends_ ? [this.cursor[0], range] : [range, range];
		this.draw();
		const [from, to] = this.cursorRange();
		this.on.hover(`${(from / 1e6).toFixed(3)} to ${(to / 1e6).toFixed(3)} s: Enter selects, Shift extends`);
	}
}
