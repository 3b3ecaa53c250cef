// SPDX-License-Identifier: BSD-3-Clause
//
// Intervals of confidence, of shares of samples.

// The share that a function has of some samples, and the interval in which it is with a
// confidence of 95 %: Wilson's score interval (Brown, Cai, DasGupta, "Interval Estimation for a
// Binomial Proportion", 2001).
const Z = 1.959964;

export function shareInterval(share, samples) {
	if (!samples)
		return [0, 1];
	const z2 = Z * Z / samples, middle = (share + z2 / 2) / (1 + z2);
	const half = Z * Math.sqrt(share * (1 - share) / samples + z2 / (4 * samples)) / (1 + z2);
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// How much a share changed between two samplings, and the interval of that with a confidence
// of 95 %, by Newcombe's method 10 ("Interval estimation for the difference between
// independent proportions", 1998).
export function changeInterval(before, samplesBefore, after, samplesAfter) {
	const [low, high] = shareInterval(before, samplesBefore);
	const [lowAfter, highAfter] = shareInterval(after, samplesAfter);
	const change = after - before;
	return {
		change,
		low: change - Math.hypot(after - lowAfter, high - before),
		high: change + Math.hypot(highAfter - after, before - low),
	};
}
