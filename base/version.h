/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_VERSION_H
#define UNIPROF_BASE_VERSION_H

#define UNIPROF_VERSION "0.2.0"

#endif
