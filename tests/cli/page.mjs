// SPDX-License-Identifier: BSD-3-Clause
//
// Asks pages of report --format html, without a browser, by their own code for data:
// node page.mjs FILE, with a question in each line of standard input, as JSON:
//   weight, state (a list of names, or null), exit (whether only samples with one), domain, vcpu and recording (or null), ranges
//   (seconds)
// For each, prints the lines of histogram-csv without its heading: NAME,SELF,TOTAL, sorted,
// and an empty line.
import fs from "node:fs";
import readline from "node:readline";
import { Samples, Waits, decodeChunks, decodeStacks, decodeTree, unpack } from "../../output/html/page/decode.mjs";
import { Model } from "../../output/html/page/model.mjs";

const text = fs.readFileSync(process.argv[2], "utf8");
const samples = new Samples(), waits = new Waits(), others = {};
for (const [, part, data] of text.matchAll(/<script type="application\/gzip" data-part="(\w+)">([^<]*)</g)) {
	const bytes = await unpack(data);
	if (part === "samples")
		samples.add(bytes);
	else if (part === "waits")
		waits.add(bytes);
	else
		others[part] = bytes;
}
const about = JSON.parse(new TextDecoder().decode(others.about));
const model = new Model(about, decodeTree(others.tree), decodeStacks(others.stacks), samples,
	decodeChunks(others.chunks), waits);

for await (const line of readline.createInterface({ input: process.stdin })) {
	const { weight, state, exit, domain, vcpu, recording, ranges } = JSON.parse(line);
	const states = about[weight === "wait" ? "wait_states" : "states"];
	const sums = model.byFunction(model.sum({
		weight,
		ranges: ranges.map((range) => range.map((second) => Math.round(second * 1e6))),
		isThread: model.threads(weight).map((thread) => (domain === null || thread.domain === domain) &&
			(vcpu === null || thread.vcpu === vcpu) &&
			(recording === null || thread.recording === recording)),
		isState: state && Array.from({ length: 256 }, (_, i) =>
			state.includes(states[i] || states[0])),
		isExit: exit ? [false].concat(about.exits.map(() => true)) : null,
	}));
	const rows = model.functions.map((name, i) => `${name},${sums.self[i]},${sums.total[i]}`)
		.filter((_, i) => sums.total[i]).sort();
	console.log(rows.concat([""]).join("\n"));
}
