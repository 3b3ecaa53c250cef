/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/sums.h"

#include "format/recording.h"

/*
 * The limits: a base amount for any recording plus an amount per byte, chosen so that
 * every command handles 1 MB in 2 s. The densest measured cases: 85 samples per byte,
 * with four times as much payload, for 128 idle vCPUs at 1,000 Hz, 26 at 99 Hz; 8 nodes
 * per byte for a function that calls itself at one of two places at random. A writer
 * stays within the limits by not compressing some chunks: a sample, a node and a name
 * then take at least a byte each. The file of the first case is a third larger for this
 * reason.
 */
#define FREE_PAYLOAD	    ((uint64_t)16 << 20)
#define PAYLOAD_BYTES	    256
#define FREE_SAMPLES	    ((uint64_t)1 << 20)
#define SAMPLES_BYTES	    64
#define FREE_NODES	    ((uint64_t)1 << 20)
#define NODES_BYTES	    16
#define FREE_NAMES	    ((uint64_t)1 << 18)
#define NAMES_BYTES	    1
#define FREE_NAMES_PAYLOAD  ((uint64_t)16 << 20)
#define NAMES_PAYLOAD_BYTES 32

void sums_add(struct recording_sums *sums, const struct recording_sums *more)
{
	sums->payload += more->payload;
	sums->samples += more->samples;
	sums->nodes += more->nodes;
	sums->names += more->names;
	sums->names_payload += more->names_payload;
}

bool sums_fit(const struct recording_sums *sums, uint64_t bytes)
{
	return sums->payload <= FREE_PAYLOAD + PAYLOAD_BYTES * bytes &&
	       sums->samples <= FREE_SAMPLES + SAMPLES_BYTES * bytes &&
	       sums->nodes <= FREE_NODES + NODES_BYTES * bytes &&
	       sums->names <= FREE_NAMES + NAMES_BYTES * bytes &&
	       sums->names <= RECORDING_MAX_ALL_NAMES &&
	       sums->names_payload <= FREE_NAMES_PAYLOAD + NAMES_PAYLOAD_BYTES * bytes &&
	       sums->names_payload <= RECORDING_MAX_NAMES_BYTES;
}
