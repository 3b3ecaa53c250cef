/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_LIBRARY_H
#define UNIPROF_XEN_LIBRARY_H

#include <stdint.h>
#include <xen/xen.h>
#include <xencall.h>
#include <xenforeignmemory.h>
#include <xenstore.h>

#include "base/error.h"

/*
 * Xen's stable libraries, loaded when needed: so one binary runs on machines without
 * them, and with both sonames that libxenstore has had since Xen 4.7.
 */
struct xen_library {
	__typeof__(xencall_open) *call_open;
	__typeof__(xencall_close) *call_close;
	__typeof__(xencall1) *call1;
	__typeof__(xencall2) *call2;
	__typeof__(xencall_alloc_buffer_pages) *alloc_pages;
	__typeof__(xencall_free_buffer_pages) *free_pages;
	__typeof__(xenforeignmemory_open) *memory_open;
	__typeof__(xenforeignmemory_close) *memory_close;
	__typeof__(xenforeignmemory_restrict) *memory_restrict; /* NULL before Xen 4.8 */
	__typeof__(xenforeignmemory_map) *memory_map;
	__typeof__(xenforeignmemory_unmap) *memory_unmap;
	__typeof__(xs_open) *store_open;
	__typeof__(xs_close) *store_close;
	__typeof__(xs_directory) *store_directory;
	__typeof__(xs_read) *store_read;
};

/* Fills @library; -1 with the reason in @err if a library or one of its functions is
 * missing. The libraries stay loaded until the process ends. */
int xen_library_load(struct xen_library *library, struct error *err);

/* A logger that discards the libraries' messages: an error is reported once, by the
 * command that met it. */
struct xentoollog_logger *xen_library_silence(void);

#endif
