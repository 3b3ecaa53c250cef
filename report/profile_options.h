/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_PROFILE_OPTIONS_H
#define UNIPROF_REPORT_PROFILE_OPTIONS_H

#include "base/usage.h"
#include "report/profile.h"

/* The options by which commands choose what a profile is made of. */
struct profile_options {
	struct profile_rules rules; /* points into this */
	bool vcpus[RECORDING_MAX_VCPU + 1];
	regex_t parent, symbol;
};

enum profile_option {
	PROFILE_SYMFS = USAGE_LONG_ONLY,
	PROFILE_DEBUG_DIR,
	PROFILE_DEMANGLE,
	PROFILE_NO_DEMANGLE,
	PROFILE_SRCLINE,
	PROFILE_INLINE,
	PROFILE_WEIGHT,
	PROFILE_STATE,
	PROFILE_DOMAIN,
	PROFILE_VCPU,
	PROFILE_TIME,
	PROFILE_PARENT,
	PROFILE_SYMBOL_FILTER,
	PROFILE_MAX_DEPTH,
	PROFILE_OPTIONS_END /* the first number for the command's own */
};

/* What getopt_long() is to know of them. */
#define PROFILE_SHORTS "s:v"
#define PROFILE_LONGS                                                              \
	{"symbols", required_argument, NULL, 's'},                                 \
		{"symfs", required_argument, NULL, PROFILE_SYMFS},                 \
		{"debug-dir", required_argument, NULL, PROFILE_DEBUG_DIR},         \
		{"demangle", no_argument, NULL, PROFILE_DEMANGLE},                 \
		{"no-demangle", no_argument, NULL, PROFILE_NO_DEMANGLE},           \
		{"srcline", no_argument, NULL, PROFILE_SRCLINE},                   \
		{"inline", no_argument, NULL, PROFILE_INLINE},                     \
		{"weight", required_argument, NULL, PROFILE_WEIGHT},               \
		{"state", required_argument, NULL, PROFILE_STATE},                 \
		{"domain", required_argument, NULL, PROFILE_DOMAIN},               \
		{"vcpu", required_argument, NULL, PROFILE_VCPU},                   \
		{"time", required_argument, NULL, PROFILE_TIME},                   \
		{"parent", required_argument, NULL, PROFILE_PARENT},               \
		{"symbol-filter", required_argument, NULL, PROFILE_SYMBOL_FILTER}, \
		{"max-depth", required_argument, NULL, PROFILE_MAX_DEPTH},         \
	{                                                                          \
		"verbose", no_argument, NULL, 'v'                                  \
	}

/* For --help. */
#define PROFILE_USAGE_SYMBOLS                                                         \
	"  -s, --symbols FILE[@OFFSET][,domain=DOMAIN]\n"                             \
	"                      what names the guest's addresses: its ELF program,\n"  \
	"                      nm output, System.map, /proc/kallsyms, a perf map;\n"  \
	"                      OFFSET is added to the file's addresses, and DOMAIN\n" \
	"                      is the only one whose addresses it names; may be\n"    \
	"                      given several times\n"
#define PROFILE_USAGE_NAMES                                                            \
	"      --symfs DIR     look for symbol and debug files below this directory\n" \
	"      --debug-dir DIR where separate debug files are [/usr/lib/debug]\n"      \
	"      --no-demangle   leave C++, Rust and OCaml names as they are in the "    \
	"files\n"                                                                      \
	"      --srcline       add the source file and line to functions (DWARF)\n"    \
	"      --inline        show inlined functions as callees (DWARF)\n"
#define PROFILE_USAGE_FILTERS                                                           \
	"What a sample counts for, and which do:\n"                                     \
	"      --weight WHAT   1 (samples), the CPU time that its vCPU used up to it\n" \
	"                      (cpu-time), or all the time since its vCPU's last\n"     \
	"                      sample (wall) [samples]\n"                               \
	"      --state STATE   of vCPUs that were running (or wanted to), runnable\n"   \
	"                      (wanting to) or blocked [all]\n"                         \
	"      --domain LIST   of these domains: names or ids, commas between them\n"   \
	"      --vcpu LIST     of these vCPUs, as in 0,2-5\n"                           \
	"      --time FROM,TO  of this part of the recording: seconds since its "       \
	"start,\n"                                                                      \
	"                      or per cent (10%,20%); one end may be left out\n"        \
	"      --parent REGEX  with a caller that matches\n"                            \
	"      --symbol-filter REGEX\n"                                                 \
	"                      with a function that matches; tables show only those\n"  \
	"      --max-depth N   no more than the N innermost frames of each call chain\n"

/* No exit code: the options are to be acted on. */
#define PROFILE_GO_ON (-1)

/* Without any options. -1 when memory is short; profile_options_free() is due either
 * way. @command is for messages, and @argc main()'s. */
int profile_options_init(struct profile_options *options, const char *command, int argc);
void profile_options_free(struct profile_options *options);

/* Adds a recording: PROFILE_GO_ON or, when that has been complained of, the exit code. */
int profile_options_input(struct profile_options *options, const char *path);

/* Acts on what getopt_long() returned, and on optarg; the same result. All that is none
 * of the options here is called unknown. */
int profile_options_take(struct profile_options *options, int option, const char *shorts,
			 char **argv);

#endif
