// SPDX-License-Identifier: BSD-3-Clause
//
// Elements and numbers. Names from recordings only ever become text of elements.

export const byId = (id) => document.getElementById(id);

// Makes an element with properties, attributes in "attributes", and children.
export function make(tag, properties, ...children) {
	const element = document.createElement(tag);
	const { attributes, ...others } = properties || {};
	Object.assign(element, others);
	for (const name in attributes || {})
		element.setAttribute(name, attributes[name]);
	element.append(...children);
	return element;
}

export function button(text, onclick, title) {
	return make("button", { type: "button", textContent: text, onclick, title: title || "" });
}

export function percent(part, whole, digits) {
	return `${(whole ? 100 * part / whole : 0).toFixed(digits === undefined ? 2 : digits)} %`;
}

// A time in us, as seconds.
export const seconds = (us) => `${(us / 1e6).toFixed(us < 1e7 ? 3 : 2)} s`;

let event = ""; // what samples' weights count; empty: samples
export function countEvents(name) {
	event = name;
}

// Returns a weight with its unit; exact unless it is a time.
export function amount(weight, value) {
	if (weight === "samples" && event)
		return `${value.toLocaleString("en")} ${event}`;
	if (weight === "samples")
		return `${value.toLocaleString("en")} sample${value === 1 ? "" : "s"}`;
	if (value < 1e3)
		return `${value} \u00b5s`;
	return value < 1e6 ? `${(value / 1e3).toFixed(2)} ms` : seconds(value);
}

export const plainAmount = (weight, value) =>
	(weight === "samples" ? value.toLocaleString("en") : amount(weight, value));

// As much of a name as fits into @columns characters.
export function shorten(name, columns) {
	return name.length <= columns ? name
		: columns > 2 ? `${name.slice(0, columns - 1)}\u2026` : "";
}

// How much larger canvases' text and rows are in a wide window, as the style sheet's text is.
export const SCALE = globalThis.innerWidth >= 2600 ? 1.4 : 1;

// Fits a canvas to its element's size, in the device's pixels. Returns its context, which
// draws in CSS's pixels.
export function fit(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
	}
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	const context = canvas.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

// The value of a custom property of the style sheet, such as --text.
export const colour = (name) =>
	getComputedStyle(document.documentElement).getPropertyValue(name).trim();
