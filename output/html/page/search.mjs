// SPDX-License-Identifier: BSD-3-Clause
//
// Searches names in a worker: some regular expressions take forever, and only a worker can be
// ended meanwhile.

const MOST = 2000; // ms that a search may take

// Returns, by name, whether it matches.
export const matchNames = (names, expression) =>
	Uint8Array.from(names, (name) => (expression.test(name) ? 1 : 0));

const SOURCE = `const matchNames = ${matchNames};
let names;
onmessage = ({ data }) => {
	if (data.names)
		names = data.names;
	else
		postMessage(matchNames(names, data.expression));
};`;

export class Search {
	constructor(names) {
		this.names = names;
		this.worker = null;
		this.done = null; // of the search that is under way
	}

	start() {
		if (this.worker)
			return;
		const url = URL.createObjectURL(new Blob([SOURCE], { type: "text/javascript" }));
		this.worker = new Worker(url);
		URL.revokeObjectURL(url);
		this.worker.onmessage = ({ data }) => this.finish(data);
		this.worker.postMessage({ names: this.names });
	}

	finish(isMatch) {
		const { done } = this;
		this.done = null;
		clearTimeout(this.timer);
		if (done)
			done(isMatch);
	}

	// Ends the search that is under way, if any, which then never calls its done().
	stop() {
		if (!this.done)
			return;
		this.worker.terminate();
		this.worker = this.done = null;
		clearTimeout(this.timer);
	}

	// Calls done(isMatch) later, by name; null if it takes too long.
	find(expression, done) {
		this.stop();
		this.start();
		this.done = done;
		this.worker.postMessage({ expression });
		this.timer = setTimeout(() => {
			this.stop();
			done(null);
		}, MOST);
	}
}
