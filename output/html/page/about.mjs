// SPDX-License-Identifier: BSD-3-Clause
//
// What is known of the recording, as terms and descriptions.
import { make, percent, seconds } from "./dom.mjs";

const ns = (value) => (value < 1e6 ? `${(value / 1e3).toFixed(1)} \u00b5s` : `${(value / 1e6).toFixed(2)} ms`);

function time(us) {
	return us ? new Date(us / 1e3).toISOString().replace("T", " ").replace("Z", " UTC") : "";
}

function domainText({ name, id, type, cpu, vcpus, vmm, unwound, tables }) {
	return [`${name || "no name"} (${id})`, type, cpu, vcpus ? `${vcpus} vCPUs` : "", vmm,
		unwound && unwound !== "unknown" ? `unwound ${unwound}` : "", tables].filter((text) => text).join(", ");
}

// Returns the elements of a <dl>.
export function about(model) {
	const { about: facts, samples } = model, { pauses, quality, waits } = facts;
	const rows = [];
	const add = (term, text) => {
		if (text)
			rows.push(make("dt", { textContent: term }), make("dd", { textContent: text }));
	};
	for (const { kind, text } of facts.notes)
		add(kind, text);
	for (const domain of facts.domains)
		add("guest", domainText(domain));
	add("host", facts.host);
	add("hypervisor", facts.hypervisor);
	add("started", time(facts.wall));
	add("length", seconds(facts.duration));
	add("command", facts.command);
	add("written by", facts.tool);
	add("samples", `${samples.count.toLocaleString("en")} recorded, ` +
		`${quality.samples.toLocaleString("en")} counted`);
	add("rounds", `${facts.rate.toFixed(1)} a second; ${facts.frequency} were requested`);
	add("missed", `${facts.missed.toLocaleString("en")} rounds were too late`);
	add("lost", `${facts.lost.toLocaleString("en")} samples: the buffer was full`);
	if (pauses.count)
		add("pauses", `${pauses.count.toLocaleString("en")}, ${percent(pauses.sum, facts.duration * 1e3, 3)} ` +
			`of the time; median ${ns(pauses.median)}, 99 % below ${ns(pauses.p99)}, longest ${ns(pauses.max)}`);
	if (waits)
		add("waits", `${waits.rounds.toLocaleString("en")} looks at up to ${waits.threads.toLocaleString("en")} threads; ` +
			`${waits.read.toLocaleString("en")} call chains read, ${waits.torn} torn, ${waits.unread} unread`);
	add("without a name", percent(quality.unnamed, quality.samples));
	add("cut short", `${percent(quality.cut, quality.samples)} of the call chains; ` +
		`${percent(quality.unknown, quality.samples)} have an unknown end`);
	return rows;
}
