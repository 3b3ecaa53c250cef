/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_VERSION_H
#define UNIPROF_BASE_VERSION_H

/* The version of the next release (scripts/version). */
#ifndef UNIPROF_VERSION
#define UNIPROF_VERSION "0.2.0"
#endif

#endif
