# SPDX-License-Identifier: BSD-3-Clause
PREFIX ?= /usr/local
BINDIR = $(PREFIX)/bin
MANDIR = $(PREFIX)/share/man
CC = $(CROSS_COMPILE)gcc
COMMA = ,
# SANITIZE=address,undefined or thread: a build with these sanitizers, in a separate folder.
# All targets for tests work with it.
O = build$(SANITIZE:%=/$(subst $(COMMA),-,$(SANITIZE)))

CFLAGS ?= -O2 -g
# WERROR=1, as in continuous integration: warnings are errors.
WARNINGS = -Wall -Wextra $(WERROR:1=-Werror) -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wundef
MACHINE := $(shell $(CC) -dumpmachine)
# GCC before version 8, such as that of CentOS 7, lacks some options.
supported = $(shell $(CC) -Werror $(1) -E -xc /dev/null >/dev/null 2>&1 && echo '$(1)')
PREFIX_MAP := $(call supported,-ffile-prefix-map=$(CURDIR)=.)
ifdef SANITIZE
HARDENING = -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
# The exit code of a sanitizer must differ from uniprof's own. An allocation that is too
# large fails, as it does without them.
export ASAN_OPTIONS = exitcode=99:allocator_may_return_null=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS = exitcode=99:print_stacktrace=1
export TSAN_OPTIONS = exitcode=99:allocator_may_return_null=1
else
# Level 3 needs GCC 12 and glibc 2.34; older versions warn.
FORTIFY := $(shell echo '\#include <features.h>' | $(CC) $(SYSROOT:%=--sysroot=%) -O2 \
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -Werror -E -xc - >/dev/null 2>&1 && \
	echo 3 || echo 2)
PROTECTION := $(call supported,-fstack-protector-strong) \
	$(if $(filter x86_64%,$(MACHINE)),$(call supported,-fcf-protection)) \
	$(if $(filter aarch64%,$(MACHINE)),$(call supported,-mbranch-protection=standard))
HARDENING = $(PROTECTION) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY)
endif
# libseccomp 2.5: the recorder's filters of system calls (record/safety/filter.c). A build
# without it has none, nor has one with sanitizers, which make calls of their own.
SECCOMP := $(if $(SANITIZE),,$(shell \
	echo 'int enough[SCMP_VER_MAJOR > 2 || SCMP_VER_MINOR >= 5 ? 1 : -1];' | \
	$(CC) $(SYSROOT:%=--sysroot=%) $(CFLAGS) -include seccomp.h -fsyntax-only -xc - \
	>/dev/null 2>&1 && echo 1))
# -iquote, because with -I the folder xen/ would hide Xen's headers from #include <xen/...>.
ALL_CFLAGS = $(SYSROOT:%=--sysroot=%) -std=gnu11 -D_GNU_SOURCE -iquote . -pthread $(WARNINGS) \
	$(SECCOMP:%=-DHAVE_SECCOMP) $(CFLAGS) $(HARDENING) -fPIE $(PREFIX_MAP)
# A native compiler searches its own folders first, even with a sysroot.
ALL_LDFLAGS = $(ALL_CFLAGS) $(SYSROOT:%=-B%/usr/lib/$(MACHINE) -L%/lib/$(MACHINE)) -pie \
	-Wl,-z,relro,-z,now $(LDFLAGS)
# libelf: symbol tables of any ELF file. libdw: source lines. liberty: demangling.
# lzma: .gnu_debugdata. zlib: CRC-32, gzip. zstd: compression.
# Xen's libraries are not linked, but loaded at run time by xen/library.c.
# The order matters for static linking.
LIBS = -ldw -lelf -liberty -llzma -lz -lzstd $(SECCOMP:%=-lseccomp)
# Of packages and of the portable program, with the commit if it is no release.
VERSION = $(or $(shell scripts/version),$(error make needs VERSION=X.Y.Z))
ifdef PORTABLE
# `make portable`: all but glibc is linked statically, and glibc as it was in this version.
GLIBC = 2.17
ALL_CFLAGS += -DCOMPAT_GLIBC=$(GLIBC:2.%=%)
VERSION := $(VERSION)
LIBS := -L$(O)/glibc -static-libgcc -Wl,--wrap=__libc_start_main \
	-Wl,-Bstatic $(LIBS) -Wl,-Bdynamic -Wl,--no-as-needed -lpthread -ldl
else
LIBS += -ldl
endif

PARTS = base format arch unwind guest xen kvm gdb symbols tables record report import \
	commands
# Of xen/registers_*.c and kvm/registers_*.c, only those for the target CPU are built.
HOST_CPU := $(if $(filter aarch64% arm%,$(MACHINE)),arm,x86)
# The code that runs while a guest is paused is linked first, in one place: each further page
# of it may cost a TLB miss during the pause, with walks of dom0's and Xen's page tables.
PAUSED = record/sampler.c $(patsubst %,kvm/%.c,guest_ops trace registers_$(HOST_CPU) memory) \
	xen/guest_ops.c xen/pause.c xen/registers_$(HOST_CPU).c xen/pages.c \
	$(patsubst %,unwind/%.c,unwind reader deep table stack/copy x86 x86_exit arm arm64 arm32 \
		arm32_code riscv) \
	$(patsubst %,arch/%.c,x86/cpu x86/code x86/parts arm/page_tables arm/arm32 arm/arm64 \
		arm/arm64_code arm/a32 arm/t32 riscv/cpu riscv/code cpu)
SOURCES = $(PAUSED) $(filter-out $(PAUSED) xen/registers_% kvm/registers_%,$(foreach part,$(PARTS), \
	$(sort $(wildcard $(part)/*.c $(part)/*/*.c $(part)/*/*/*.c))))
OBJECTS = $(SOURCES:%.c=$(O)/%.o) $(if $(filter thread,$(SANITIZE)),$(O)/tests/sanitize/clocks.o) \
	$(PORTABLE:%=$(O)/scripts/portable/glibc.o)
BENCH_OBJECTS = $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/bench/*.c)))
BENCH_REPORT = $(patsubst %.c,$(O)/%,$(wildcard tests/bench/report/*.c))
# The writer's memory can't be measured with sanitizers, which allocate memory too, and there
# are no filters.
UNIT_TESTS = $(patsubst %.c,$(O)/%,$(filter-out $(if $(SANITIZE), \
	tests/unit/format/test_writer_days.c tests/unit/record/test_filter.c \
	tests/unit/kvm/test_calls.c tests/unit/gdb/test_calls.c), \
	$(sort $(wildcard tests/unit/*/test_*.c))))
FUZZERS = $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
MAN_PAGES = $(wildcard docs/man/*.1)

# One line per step; make V=1 shows the commands.
ifeq ($(V),1)
step = $(2)
else
step = @printf '  %-6s %s\n' '$(1)' '$@'; $(2)
endif

.PHONY: all arm64 portable deb dist completions install check unit test-programs cli kvm gdb \
	threads lint guests guests-arm bench bench-kvm bench-lab bench-report bench-report-tools \
	bench-unwind fuzzers clean
all: $(O)/uniprof

$(O)/uniprof: $(O)/uniprof.o $(OBJECTS) $(PORTABLE:%=| $(O)/glibc/libc.so)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS))
	$(if $(SECCOMP)$(SANITIZE),,@echo '  built without libseccomp 2.5: record can not' \
		'restrict its system calls')

$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call step,CC,$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<)

$(O)/glibc/libc.so: scripts/portable/stubs
	$(call step,STUBS,scripts/portable/stubs $(GLIBC) $(@D) \
		$(CC) $(SYSROOT:%=--sysroot=% -B%/usr/lib/$(MACHINE) -B%/lib/$(MACHINE)))

# Embedded with .incbin, which -MMD does not list.
$(O)/report/write/flame_svg.o: report/write/flame.js

-include $(OBJECTS:.o=.d) $(BENCH_OBJECTS:.o=.d) $(O)/uniprof.d

# For the lab's arm64 machine: cross-built with Debian's packages, which
# `scripts/lab prepare --arch arm64` downloads and unpacks.
arm64:
	@[ -d build/lab/root-arm64 ] && command -v aarch64-linux-gnu-gcc >/dev/null || { \
		echo 'make arm64: run first: scripts/install-packages build lab arm64 &&' \
			'scripts/lab prepare --arch arm64' >&2; exit 1; }
	$(MAKE) CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=build/lab/root-arm64 O=$(O)/arm64 \
		$(ARM64_TARGETS)

# Starts with glibc 2.17 and every later one, and needs no other library.
portable:
	@$(MAKE) O=$(O)/portable PORTABLE=1 all || { \
		echo 'make portable: it needs the static libraries of Debian 12 (README.md)' >&2; \
		exit 1; }

ifdef PORTABLE
VERSIONED = $(patsubst %.c,$(O)/%.o,$(shell grep -l '"base/version.h"' uniprof.c $(SOURCES)))
$(VERSIONED): ALL_CFLAGS += -DUNIPROF_VERSION='"$(VERSION)"'
$(VERSIONED): $(O)/version
$(O)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' >$@
FORCE:
endif

# Completions come from a program that runs here.
deb: portable
	$(if $(CROSS_COMPILE),$(MAKE) CROSS_COMPILE= SYSROOT= O=build/portable PORTABLE=1 completions)
	$(if $(CROSS_COMPILE),cp build/portable/completions.* $(O)/portable/)
	rm -rf $(O)/deb
	$(MAKE) O=$(O)/portable PORTABLE=1 DESTDIR=$(abspath $(O)/deb) PREFIX=/usr install
	STRIP=$(CROSS_COMPILE)strip scripts/make-deb $(O)/deb '$(VERSION)'

# The sources of the last commit, and their version.
dist:
	@mkdir -p $(O)/dist
	echo '$(VERSION)' >$(O)/dist/VERSION
	git archive --prefix='uniprof-$(VERSION)/' --add-file=$(O)/dist/VERSION -9 \
		-o 'build/uniprof-$(VERSION).tar.gz' HEAD

# A cross-compiled program can't run here to generate completions; packagers can use a native
# build of the same version.
completions: $(O)/uniprof
	@for shell in bash zsh fish; do \
		scripts/completions $$shell $(O)/uniprof >$(O)/completions.$$shell || exit 1; \
	done

install_completions = [ ! -e $(O)/completions.$(1) ] || \
	install -D -m 644 $(O)/completions.$(1) $(DESTDIR)$(PREFIX)/share/$(2)

install: all $(if $(CROSS_COMPILE),,completions)
	install -D -m 755 $(O)/uniprof $(DESTDIR)$(BINDIR)/uniprof
	for page in $(MAN_PAGES); do \
		install -D -m 644 $$page $(DESTDIR)$(MANDIR)/man1/$${page##*/} || exit 1; \
	done
	$(call install_completions,bash,bash-completion/completions/uniprof)
	$(call install_completions,zsh,zsh/site-functions/_uniprof)
	$(call install_completions,fish,fish/vendor_completions.d/uniprof.fish)

# Tests without Xen; those with Xen are in tests/lab (scripts/test runs all).
check: unit cli

$(O)/tests/unit/%: tests/unit/%.c $(OBJECTS) $(wildcard tests/unit/*.h tests/unit/*/*.h)
	@mkdir -p $(@D)
	$(call step,TEST,$(CC) $(ALL_LDFLAGS) -o $@ $< $(OBJECTS) $(LIBS) -lcmocka)

# Real code with and without frame pointers, compiled by GCC.
$(O)/tests/unit/unwind/workload: tests/unit/unwind/workload.c
	@mkdir -p $(@D)
	$(call step,CC,$(CC) -O2 -fno-omit-frame-pointer -static -o $@ $< -lm)

$(O)/tests/unit/unwind/workload_table: tests/unit/unwind/workload.c
	@mkdir -p $(@D)
	$(call step,CC,$(CC) -O2 -fomit-frame-pointer -static -o $@ $< -lm)

$(O)/tests/unit/unwind/test_x86_leaves: $(O)/tests/unit/unwind/workload
$(O)/tests/unit/unwind/test_x86_table: $(O)/tests/unit/unwind/workload_table

# Functions with frames of all kinds, and call frame information of all kinds.
CFI_SAMPLES = $(patsubst %,$(O)/tests/unit/tables/cfi_sample_%.so,eh debug packed arm64)
CC_cfi_eh = $(CC) -Wl,-z,lazy
CC_cfi_debug = $(CC) -g -fno-asynchronous-unwind-tables
CC_cfi_packed = $(CC_cfi_debug) -gz
CC_cfi_arm64 = clang --target=aarch64-linux-gnu -nostdlib -fuse-ld=lld \
	-fasynchronous-unwind-tables -mbranch-protection=standard
$(O)/tests/unit/tables/cfi_sample_%.so: tests/unit/tables/cfi_sample.c Makefile
	@mkdir -p $(@D)
	$(call step,CC,$(CC_cfi_$*) -O2 -fomit-frame-pointer -shared -fPIC -o $@ $<)

$(O)/tests/unit/tables/test_cfi_rows: $(O)/tests/unit/unwind/workload $(CFI_SAMPLES)
$(O)/tests/unit/tables/test_arm64_code: $(O)/tests/unit/tables/cfi_sample_arm64.so

# A target for each test, so that `make -k -j` runs them on all CPUs; the longest begin first.
UNIT_LONG = $(filter %/test_x86_table %/test_x86_leaves %/test_writer_days,$(UNIT_TESTS))
UNIT_RUNS = $(addprefix run/,$(UNIT_LONG) $(filter-out $(UNIT_LONG),$(UNIT_TESTS)))
.PHONY: $(UNIT_RUNS)
$(UNIT_RUNS): run/%: %
	@$*
unit: $(UNIT_RUNS)

# What `unit` and `cli` run.
CLI_PROGRAMS = $(addprefix $(O)/,uniprof tests/cli/make-recording tests/cli/make-hostile)
test-programs: $(UNIT_TESTS) $(CLI_PROGRAMS)

$(O)/tests/cli/make-%: tests/cli/make-%.c $(OBJECTS)
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $< $(OBJECTS) $(LIBS))

cli: $(CLI_PROGRAMS)
	UNIPROF=$(O)/uniprof tests/cli/run

# The tests' own VMM and its guest, which need no hypervisor but this machine's KVM. A sanitizer
# would add mappings to the VMM that are larger than the guest's memory.
KVM_PROGRAMS = $(addprefix $(O)/tests/kvm/,vmm guest.elf guest-nofp.elf hostile.elf) $(GUESTS_32)
# In 32-bit code; the number is that of the levels of their page tables.
GUESTS_32 = $(patsubst %,$(O)/tests/kvm/guest-32-%.elf,0 2 3 4)

$(O)/tests/kvm/vmm: tests/kvm/vmm.c Makefile
	@mkdir -p $(@D)
	$(call step,CC,$(CC) -std=gnu11 -D_GNU_SOURCE -pthread $(WARNINGS) -O2 -g $(LDFLAGS) -o $@ $<)

KVM_FRAMES = -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
GUEST_FLAGS = $(WARNINGS) -O2 -g -ffreestanding -fno-pic -mgeneral-regs-only $(KVM_FRAMES) \
	-fno-shrink-wrap -fno-optimize-sibling-calls -fno-ipa-icf -fno-stack-protector \
	-fno-asynchronous-unwind-tables -ffile-prefix-map=$(CURDIR)=. -nostdlib -static -no-pie \
	-Wl$(COMMA)--build-id=none -Wl$(COMMA)--no-warn-rwx-segments

$(O)/tests/kvm/guest-nofp.elf: KVM_FRAMES = -fomit-frame-pointer
$(O)/tests/kvm/guest-la57.elf: GUEST_FLAGS += -DLA57
$(O)/tests/kvm/guest.elf $(O)/tests/kvm/guest-nofp.elf $(O)/tests/kvm/guest-la57.elf: \
		tests/kvm/start.S tests/kvm/guest.c tests/kvm/guest.lds Makefile
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -m64 -mcmodel=small -mno-red-zone -fcf-protection=none \
		-Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ tests/kvm/start.S tests/kvm/guest.c)

$(O)/tests/kvm/guest-32-0.elf: OFFSET_32 = -Wl$(COMMA)--defsym=NO_PAGING=1
$(O)/tests/kvm/guest-32-%.elf: tests/kvm/start_32.S tests/kvm/guest.c tests/kvm/guest.lds Makefile
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -m32 -DPAGING=$* -fcf-protection=none $(OFFSET_32) \
		-Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ tests/kvm/start_32.S tests/kvm/guest.c)

# Its frames and page tables are attacks.
$(O)/tests/kvm/hostile.elf: tests/kvm/start.S tests/kvm/hostile.c tests/guest/x86/spin.S \
		tests/guest/x86/kinds.h tests/kvm/guest.lds Makefile
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -I. -m64 -mcmodel=small -mno-red-zone \
		-fcf-protection=none -Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ \
		tests/kvm/start.S tests/guest/x86/spin.S tests/kvm/hostile.c)

# The same guest, with interrupts.
$(O)/tests/gdb/interrupts.elf: tests/kvm/start.S tests/kvm/guest.c tests/gdb/entries.S \
		tests/gdb/interrupts.c tests/kvm/guest.lds Makefile
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -I. -DINTERRUPTS -m64 -mcmodel=small -mno-red-zone \
		-fcf-protection=none -Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ \
		-Wl$(COMMA)--defsym=handler_stack_end=handler_stack+32768 \
		tests/kvm/start.S tests/gdb/entries.S tests/gdb/interrupts.c)

# The same guest, for QEMU's emulated arm64; without frame pointers; and, of that one, without call
# frame information.
# Without .eh_frame, which the guest has no room for, GCC writes .debug_frame.
$(O)/tests/gdb/arm64-nofp.elf: KVM_FRAMES = -fomit-frame-pointer -fno-unwind-tables
$(O)/tests/gdb/arm64.elf $(O)/tests/gdb/arm64-nofp.elf: tests/gdb/start_arm64.S tests/kvm/guest.c \
		tests/gdb/arm64.lds Makefile
	@mkdir -p $(@D)
	$(call step,LINK,aarch64-linux-gnu-gcc $(GUEST_FLAGS) -mcmodel=large -o $@ \
		-Wl$(COMMA)-T$(COMMA)tests/gdb/arm64.lds tests/gdb/start_arm64.S tests/kvm/guest.c)

$(O)/tests/gdb/arm64-code.elf: $(O)/tests/gdb/arm64-nofp.elf
	$(call step,STRIP,aarch64-linux-gnu-objcopy --remove-section=.debug_frame $< $@)

# And for riscv64. GCC 12 makes frames of leaf functions there without being asked.
$(O)/tests/gdb/riscv64.elf: tests/gdb/start_riscv64.S tests/kvm/guest.c tests/gdb/riscv64.lds \
		Makefile
	@mkdir -p $(@D)
	$(call step,LINK,riscv64-linux-gnu-gcc $(filter-out -mgeneral-regs-only \
		-mno-omit-leaf-frame-pointer,$(GUEST_FLAGS)) -march=rv64imac_zicsr -mabi=lp64 \
		-mcmodel=medany -o $@ -Wl$(COMMA)-T$(COMMA)tests/gdb/riscv64.lds \
		tests/gdb/start_riscv64.S tests/kvm/guest.c)

# On QEMU's GDB stub, with guests that QEMU emulates.
gdb: $(O)/uniprof $(O)/tests/kvm/guest.elf $(O)/tests/kvm/guest-la57.elf $(GUESTS_32) \
		$(addprefix $(O)/tests/gdb/,interrupts.elf arm64.elf arm64-nofp.elf arm64-code.elf \
		riscv64.elf)
	UNIPROF=$(O)/uniprof tests/gdb/run

kvm: $(O)/uniprof $(KVM_PROGRAMS)
	UNIPROF=$(O)/uniprof tests/kvm/run

# Tests that use threads, for SANITIZE=thread; ALL=1 adds one that takes a minute.
THREADED = $(addprefix $(O)/tests/unit/,report/test_load $(if $(ALL),report/test_replay) \
	record/test_examiner record/test_sink)
threads: $(CLI_PROGRAMS) $(THREADED)
	@failed=0; for test in $(THREADED); do $$test || failed=1; done; exit $$failed
	UNIPROF=$(O)/uniprof tests/cli/run $(addprefix $(CURDIR)/tests/cli/cases/report-,several.sh closed-pipe.sh)

lint:
	scripts/lint

guests:
	$(MAKE) -C tests/guest O=$(abspath $(O))/guest

guests-arm:
	$(MAKE) -C tests/guest arm O=$(abspath $(O))/guest

# What sampling costs a guest, on real Xen (tests/bench). LONG=1 runs ten minutes longer;
# ARCH=arm64 measures the pauses of ARM guests.
$(O)/tests/bench/bench: $(BENCH_OBJECTS) $(OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS))

# Prints what a recording does not contain, for the lab's hostile cases (tests/lab).
$(O)/lab-probe: tests/lab/probe.c $(OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $< $(OBJECTS) $(LIBS))

# Ends in the middle of a pause, for the lab's cases death and wake.
$(O)/lab-die: tests/lab/die.c $(OBJECTS)
	$(call step,LINK,$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(OBJECTS) $(LIBS))

# The programs of the lab's Linux guests for the case orc, and their initial RAM disk.
LAB_PROGRAMS = $(addprefix $(O)/lab-,work traced pair pair-second module narrow)
$(O)/lab-pair-second: LAB_DEFINES = -DSECOND
$(O)/lab-pair-second: tests/lab/pair.c
$(O)/lab-pair: tests/lab/pair.c
$(O)/lab-traced: LAB_DEFINES = -DTRACED
$(O)/lab-work $(O)/lab-traced: tests/lab/work.c
$(O)/lab-module: tests/lab/module.c
$(O)/lab-narrow: LAB_DEFINES = -m32
$(O)/lab-narrow: tests/lab/narrow.c
$(LAB_PROGRAMS): tests/lab/process.h Makefile
	$(call step,LINK,$(CC) $(WARNINGS) -I. -O2 -g -ffreestanding -fno-omit-frame-pointer \
		-fno-pic -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls \
		-fno-stack-protector -fno-reorder-functions -fcf-protection=none -nostdlib \
		-static -no-pie \
		$(LAB_DEFINES) -o $@ $(filter %.c,$^))

# A module of the lab's kernel, which `scripts/lab prepare` has downloaded.
$(O)/brd.ko:
	$(call step,UNPACK,dpkg-deb --fsys-tarfile build/lab/cache/amd64/linux-image-*.deb | \
		tar -xO --wildcards '*/brd.ko' >$@.new && mv $@.new $@)

$(O)/lab-work.cpio: $(LAB_PROGRAMS) $(O)/brd.ko
	$(call step,CPIO,cd $(@D) && printf '%s\n' $(^F) | cpio --quiet -o -H newc -R 0:0 >$(@F))

# Unwind tables on a running process, compared with libdwfl; what walks cost.
$(O)/tests/bench/unwind/%: tests/bench/unwind/%.c $(OBJECTS)
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -lcmocka)

$(O)/tests/bench/report/%: tests/bench/report/%.c $(OBJECTS)
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -lm)

# What sampling costs guests of this machine's KVM.
$(O)/tests/bench/kvm/pauses: tests/bench/kvm/pauses.c tests/bench/kvm/injected.c tests/bench/series.c \
		$(OBJECTS)
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS))

bench-kvm: $(O)/tests/bench/kvm/pauses $(KVM_PROGRAMS)
	tests/bench/kvm/run

bench: bench-lab $(if $(ARCH),,bench-report)

bench-lab: $(if $(ARCH),,$(O)/uniprof $(O)/tests/bench/bench)
	tests/bench/run $(if $(LONG),long,usual) $(ARCH)

bench-report-tools: $(BENCH_REPORT)

# What reports cost, on any machine (tests/bench/report). QUICK=1 only checks that it works.
bench-report: $(O)/uniprof bench-report-tools
	tests/bench/report/run $(if $(QUICK),quick)

# Unwind tables made from machine code, against the call frame information of the same files.
$(O)/tests/bench/unwind/code: tests/bench/unwind/code.c $(OBJECTS)
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS))

bench-unwind: $(O)/tests/bench/unwind/code
	tests/bench/unwind/run $<

# All code is instrumented; FUZZ_FLAGS: also for coverage (tests/fuzz/run --coverage).
FUZZ_CC = clang -std=gnu11 -D_GNU_SOURCE -iquote . -pthread -O2 -g -fno-sanitize-recover=all \
	$(FUZZ_FLAGS)
FUZZ_OBJECTS = $(SOURCES:%.c=$(O)/instrumented/%.o)

fuzzers: $(FUZZERS)

$(O)/instrumented/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call step,FUZZ,$(FUZZ_CC) -fsanitize=fuzzer-no-link$(COMMA)address$(COMMA)undefined \
		-MMD -MP -c -o $@ $<)

$(O)/instrumented/report/write/flame_svg.o: report/write/flame.js

-include $(FUZZ_OBJECTS:.o=.d)

$(O)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h) $(FUZZ_OBJECTS)
	@mkdir -p $(@D)
	$(call step,FUZZ,$(FUZZ_CC) -fsanitize=fuzzer$(COMMA)address$(COMMA)undefined \
		-o $@ $< $(FUZZ_OBJECTS) $(LIBS))

clean:
	rm -rf $(O)/uniprof $(O)/*.o $(O)/*.d $(addprefix $(O)/,$(PARTS)) $(O)/tests \
		$(O)/instrumented \
		$(O)/guest $(O)/arm64 $(O)/portable $(O)/deb $(O)/dist
