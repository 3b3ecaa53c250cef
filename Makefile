# SPDX-License-Identifier: BSD-3-Clause
PREFIX ?= /usr/local
BINDIR = $(PREFIX)/bin
MANDIR = $(PREFIX)/share/man
CC = $(CROSS_COMPILE)gcc
O = build

CFLAGS ?= -O2 -g
WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wundef
# -iquote, as xen/ would hide Xen's own headers from #include <xen/...>.
ALL_CFLAGS = $(SYSROOT:%=--sysroot=%) -std=gnu11 -D_GNU_SOURCE -iquote . -pthread $(WARNINGS) \
	$(CFLAGS)
# libelf: symbol tables of any ELF file. libdw: source lines. liberty: demangling.
# lzma: .gnu_debugdata. zlib: CRC-32, gzip. zstd: compression.
# Xen's libraries are not linked to but loaded, by xen/library.c.
LIBS = -lelf -ldw -liberty -llzma -lz -lzstd -ldl

PARTS = base format arch xen symbols record report import
# Of xen/registers_*.c, only that of the CPU that the program is to run on.
XEN_CPU := $(if $(filter aarch64% arm%,$(shell $(CC) -dumpmachine)),arm,x86)
# What runs while a guest is paused is linked first, side by side: each page more of it is
# one more that the CPU has to look for then, in tables of dom0's and of Xen's.
PAUSED = record/sampler.c xen/capture.c xen/registers_$(XEN_CPU).c xen/pages.c \
	$(patsubst %,arch/%.c,cpu reader x86 arm_tables arm64 arm32 arm32_code arm32_a32 \
	arm32_t32)
SOURCES = $(PAUSED) $(filter-out $(PAUSED) xen/registers_%,$(foreach part,$(PARTS), \
	$(sort $(wildcard $(part)/*.c))))
OBJECTS = $(SOURCES:%.c=$(O)/%.o)
BENCH_OBJECTS = $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/bench/*.c)))
BENCH_REPORT = $(patsubst %.c,$(O)/%,$(wildcard tests/bench/report/*.c))
UNIT_TESTS = $(patsubst %.c,$(O)/%,$(wildcard tests/unit/test_*.c))
FUZZERS = $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
MAN_PAGES = $(wildcard man/*.1)

COMMA = ,
# One line for each step; make V=1 shows the commands.
ifeq ($(V),1)
step = $(2)
else
step = @printf '  %-6s %s\n' '$(1)' '$@'; $(2)
endif

.PHONY: all arm64 install check unit cli guests guests-arm bench bench-lab bench-report \
	bench-report-tools fuzzers clean
all: $(O)/uniprof

$(O)/uniprof: $(O)/uniprof.o $(OBJECTS)
	$(call step,LINK,$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS))

$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call step,CC,$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<)

# Embedded by .incbin, which the compiler does not list.
$(O)/report/flame_svg.o: report/flame.js

-include $(OBJECTS:.o=.d) $(BENCH_OBJECTS:.o=.d) $(O)/uniprof.d

# For the lab's arm64 machine: cross-built against Debian's packages, which
# `scripts/lab prepare --arch arm64` gets and unpacks.
arm64:
	$(MAKE) CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=build/lab/root-arm64 O=$(O)/arm64 \
		$(ARM64_TARGETS)

install: all
	install -D -m 755 $(O)/uniprof $(DESTDIR)$(BINDIR)/uniprof
	for page in $(MAN_PAGES); do \
		install -D -m 644 $$page $(DESTDIR)$(MANDIR)/man1/$${page##*/} || exit 1; \
	done

# Tests that need no Xen; tests/lab has those that do (scripts/test runs all).
check: unit cli

$(O)/tests/unit/test_%: tests/unit/test_%.c $(OBJECTS) $(wildcard tests/unit/*.h)
	@mkdir -p $(@D)
	$(call step,TEST,$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(OBJECTS) $(LIBS) -lcmocka)

unit: $(UNIT_TESTS)
	@failed=0; for test in $^; do $$test || failed=1; done; exit $$failed

$(O)/tests/cli/make-recording: tests/cli/make-recording.c $(OBJECTS)
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(OBJECTS) $(LIBS))

cli: $(O)/uniprof $(O)/tests/cli/make-recording
	UNIPROF=$(O)/uniprof tests/cli/run

guests:
	$(MAKE) -C tests/guest O=$(abspath $(O))/guest

guests-arm:
	$(MAKE) -C tests/guest arm O=$(abspath $(O))/guest

# What sampling costs a guest, on real Xen (tests/bench). LONG=1 for ten minutes' more;
# ARCH=arm64 for the pauses of ARM guests.
$(O)/tests/bench/bench: $(BENCH_OBJECTS) $(OBJECTS)
	$(call step,LINK,$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS))

# What a recording does not tell, for the lab's hostile cases (tests/lab).
$(O)/lab-probe: tests/lab/probe.c $(OBJECTS)
	$(call step,LINK,$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(OBJECTS) $(LIBS))

$(O)/tests/bench/report/%: tests/bench/report/%.c $(OBJECTS)
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lm)

bench: bench-lab $(if $(ARCH),,bench-report)

bench-lab: $(if $(ARCH),,$(O)/uniprof $(O)/tests/bench/bench)
	tests/bench/run $(if $(LONG),long,usual) $(ARCH)

bench-report-tools: $(BENCH_REPORT)

# What reports take, on any machine (tests/bench/report). QUICK=1 to see that it works.
bench-report: $(O)/uniprof bench-report-tools
	tests/bench/report/run $(if $(QUICK),quick)

# Each is built from the sources, so that all of them are instrumented.
fuzzers: $(FUZZERS)

$(O)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(SOURCES)
	@mkdir -p $(@D)
	$(call step,FUZZ,clang -std=gnu11 -D_GNU_SOURCE -iquote . -pthread -O1 -g \
		-fsanitize=fuzzer$(COMMA)address$(COMMA)undefined \
		-fno-sanitize-recover=all -o $@ $< $(SOURCES) $(LIBS))

clean:
	rm -rf $(O)/uniprof $(O)/*.o $(O)/*.d $(addprefix $(O)/,$(PARTS)) $(O)/tests \
		$(O)/guest $(O)/arm64
