# SPDX-License-Identifier: BSD-3-Clause
# Tests, benchmarks and fuzzers. Included by the Makefile.

.PHONY: check unit unit-plain test-programs cli kvm gdb threads lint guests guests-arm \
	bench bench-kvm bench-lab bench-report bench-report-tools bench-unwind fuzzers

# Tests without Xen. The others are in tests/lab; scripts/test runs all.
check: unit cli

lint:
	scripts/lint

# Tests run once after they are compiled: without optimization, and with lines alone, they take a
# quarter of the time. Those that work long themselves are optimized a little.
$(O)/tests/unit/%.o: CFLAGS = -O0 -g1
$(patsubst %,$(O)/tests/unit/%.o,unwind/% arch/test_x86_objdump record/test_kallsyms \
	record/test_kernel_orc record/test_pacer): CFLAGS = -O1 -g1

## Unit tests

# Not with sanitizers: the writer's memory can't be measured with them, as they allocate memory too,
# and there are no filters. Programs that are executed by single steps take a minute, in which the
# code under test runs for seconds only; other tests run it with sanitizers.
UNIT_PLAIN = $(patsubst %,$(O)/tests/unit/%,format/test_writer_days record/test_filter \
	kvm/test_calls gdb/test_calls unwind/test_x86_table unwind/test_x86_leaves)
# Less of these runs with sanitizers.
UNIT_PARTLY = $(patsubst %,$(O)/tests/unit/%,format/test_writer_memory report/test_right_file \
	record/test_sink commands/test_terminal)
UNIT_TESTS = $(filter-out $(if $(SANITIZE),$(UNIT_PLAIN)), \
	$(patsubst %.c,$(O)/%,$(sort $(wildcard tests/unit/*/test_*.c))))

# More than a hundred programs are linked, which lld does sooner, if there is one.
LLD := $(if $(shell command -v ld.lld),-fuse-ld=lld)

# A thin archive refers to the objects, so that a test links only the objects that it needs. The
# linker takes the clock functions for ThreadSanitizer only if they are named.
ALL_OBJECTS = $(O)/objects.a
CLOCKS = $(filter %/clocks.o,$(OBJECTS))
$(ALL_OBJECTS): $(OBJECTS)
	@rm -f $@
	$(call step,AR,$(CROSS_COMPILE)ar rcsT $@ $^)

$(UNIT_TESTS): %: %.o $(ALL_OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) $(LLD) -o $@ $< $(CLOCKS) $(ALL_OBJECTS) $(LIBS) -lcmocka)

-include $(UNIT_TESTS:=.d)

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
$(O)/tests/unit/tables/cfi_sample_%.so: tests/unit/tables/cfi_sample.c tests/tests.mk
	@mkdir -p $(@D)
	$(call step,CC,$(CC_cfi_$*) -O2 -fomit-frame-pointer -shared -fPIC -o $@ $<)

$(O)/tests/unit/tables/test_cfi_rows: $(O)/tests/unit/unwind/workload $(CFI_SAMPLES)
$(O)/tests/unit/tables/test_arm64_code: $(O)/tests/unit/tables/cfi_sample_arm64.so

# Threads of unikernels as files have them: other members than those of the version that uniprof
# knows, and no types.
FIBER_SAMPLES = $(patsubst %,$(O)/tests/unit/tables/fibers_%.so,new old minios bare)
CC_fibers_new = -g -DVERSION=16 -DMORE
CC_fibers_old = -g -gz -DVERSION=11 -DMORE
CC_fibers_minios = -g -DMINIOS -DMORE
CC_fibers_bare = -g0 -DVERSION=14
$(O)/tests/unit/tables/fibers_%.so: tests/unit/tables/fiber_sample.c tests/tests.mk
	@mkdir -p $(@D)
	$(call step,CC,$(CC) $(CC_fibers_$*) -shared -fPIC -o $@ $<)
$(O)/tests/unit/tables/test_fibers: $(FIBER_SAMPLES)

# A target for each test, so that `make -k -j` runs them on all CPUs; the longest begin first.
UNIT_LONG = $(filter %/test_x86_table %/test_x86_leaves %/test_writer_days,$(UNIT_TESTS))
UNIT_RUNS = $(addprefix run/,$(UNIT_LONG) $(filter-out $(UNIT_LONG),$(UNIT_TESTS)))
.PHONY: $(UNIT_RUNS)
$(UNIT_RUNS): run/%: %
	@$*
unit: $(UNIT_RUNS)
unit-plain: $(filter $(addprefix run/,$(UNIT_PLAIN) $(UNIT_PARTLY)),$(UNIT_RUNS))

## Command-line tests

# What `unit` and `cli` run.
CLI_PROGRAMS = $(addprefix $(O)/,uniprof tests/cli/make-recording tests/cli/make-hostile)
test-programs: $(UNIT_TESTS) $(CLI_PROGRAMS)

$(filter-out %/uniprof,$(CLI_PROGRAMS)): %: %.o $(ALL_OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $< $(CLOCKS) $(ALL_OBJECTS) $(LIBS))

cli: $(CLI_PROGRAMS)
	UNIPROF=$(O)/uniprof tests/cli/run

# Tests that use threads, for SANITIZE=thread; ALL=1 adds one that takes a minute.
THREADED = $(addprefix $(O)/tests/unit/,report/test_load $(if $(ALL),report/test_replay) \
	record/test_examiner record/test_sink)
threads: $(CLI_PROGRAMS) $(THREADED)
	@failed=0; for test in $(THREADED); do $$test || failed=1; done; exit $$failed
	UNIPROF=$(O)/uniprof tests/cli/run $(addprefix $(CURDIR)/tests/cli/cases/report-,several.sh closed-pipe.sh)

## KVM

# The tests' own VMM and its guest, which need no hypervisor but this machine's KVM. A sanitizer
# would add mappings to the VMM that are larger than the guest's memory.
KVM_PROGRAMS = $(addprefix $(O)/tests/kvm/,vmm programs hang.so guest.elf guest-nofp.elf guest-mixed.elf \
	guest-wide.elf hostile.elf echo.elf halt.elf lazy.elf) $(GUESTS_32) $(GUESTS_FIBERS)
# Guests in 32-bit code; the number in a name is that of page-table levels.
GUESTS_32 = $(patsubst %,$(O)/tests/kvm/guest-32-%.elf,0 2 3 4)

$(O)/tests/kvm/vmm: tests/kvm/vmm.c tests/kvm/filler.c tests/kvm/filler.h tests/kvm/die.h tests/tests.mk
	@mkdir -p $(@D)
	$(call step,CC,$(CC) -std=gnu11 -D_GNU_SOURCE -pthread $(WARNINGS) -O2 -g $(LDFLAGS) -o $@ \
		$(filter %.c,$^))

$(O)/tests/kvm/programs: tests/kvm/programs.c tests/tests.mk
	@mkdir -p $(@D)
	$(call step,CC,$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -g $(LDFLAGS) -o $@ $<)

$(O)/tests/kvm/hang.so: tests/kvm/hang.c tests/tests.mk
	@mkdir -p $(@D)
	$(call step,CC,$(CC) -std=gnu11 -D_GNU_SOURCE -fPIC -shared $(WARNINGS) -O2 -g -o $@ $(filter %.c,$^))

KVM_FRAMES = -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
GUEST_FLAGS = $(WARNINGS) -O2 -g -ffreestanding -fno-pic -mgeneral-regs-only $(KVM_FRAMES) \
	-fno-shrink-wrap -fno-optimize-sibling-calls -fno-ipa-icf -fno-stack-protector \
	-fno-asynchronous-unwind-tables -ffile-prefix-map=$(CURDIR)=. -nostdlib -static -no-pie \
	-Wl$(COMMA)--build-id=none -Wl$(COMMA)--no-warn-rwx-segments

$(O)/tests/kvm/guest-nofp.elf: KVM_FRAMES = -fomit-frame-pointer -DPLAIN_RBP
# Each function is on a page of its own.
$(O)/tests/kvm/guest-wide.elf: KVM_FRAMES = -fomit-frame-pointer -DPLAIN_RBP -falign-functions=8192
$(O)/tests/kvm/guest-mixed.elf: GUEST_FLAGS += -DMIXED
$(O)/tests/kvm/guest-la57.elf: GUEST_FLAGS += -DLA57
$(O)/tests/kvm/guest.elf $(O)/tests/kvm/guest-nofp.elf $(O)/tests/kvm/guest-mixed.elf \
		$(O)/tests/kvm/guest-la57.elf $(O)/tests/kvm/guest-wide.elf: \
		tests/kvm/start.S tests/kvm/guest.c tests/kvm/guest.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -m64 -mcmodel=small -mno-red-zone -fcf-protection=none \
		-Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ tests/kvm/start.S tests/kvm/guest.c)

# A guest that only asks its VMM.
$(O)/tests/kvm/echo.elf: tests/kvm/start.S tests/kvm/echo.c tests/kvm/guest.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -m64 -mcmodel=small -mno-red-zone -fcf-protection=none \
		-Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ tests/kvm/start.S tests/kvm/echo.c)

$(O)/tests/kvm/guest-32-0.elf: OFFSET_32 = -Wl$(COMMA)--defsym=NO_PAGING=1
$(O)/tests/kvm/guest-32-%.elf: tests/kvm/start_32.S tests/kvm/guest.c tests/kvm/guest.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -m32 -DPAGING=$* -fcf-protection=none $(OFFSET_32) \
		-Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ tests/kvm/start_32.S tests/kvm/guest.c)

$(O)/tests/kvm/halt.elf: tests/kvm/halt.S tests/kvm/guest.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -m32 -Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ \
		tests/kvm/halt.S)

# A guest that makes a profiler access pages before it does.
$(O)/tests/kvm/lazy.elf: tests/kvm/start.S tests/kvm/lazy.c tests/kvm/guest.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -m64 -mcmodel=small -mno-red-zone -fcf-protection=none \
		-Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ tests/kvm/start.S tests/kvm/lazy.c)

# Guests with threads that switch by themselves.
GUESTS_FIBERS = $(addprefix $(O)/tests/kvm/,unikraft.elf unikraft-nofp.elf minios.elf many.elf)
$(GUESTS_FIBERS): THREADS = -DTHREADS=16 -DSTACK_SIZE=0x10000 -DWORKER=worker
$(O)/tests/kvm/many.elf: THREADS = -DTHREADS=510 -DSTACK_SIZE=0x400 -DWORKER=count_work -DMANY=490
$(O)/tests/kvm/many.elf: tests/kvm/many.h
$(O)/tests/kvm/unikraft-nofp.elf: KVM_FRAMES = -fomit-frame-pointer -g0
$(O)/tests/kvm/minios.elf: GUEST_FLAGS += -DMINIOS
$(GUESTS_FIBERS): tests/kvm/start.S tests/kvm/fibers.c tests/kvm/list.h tests/kvm/guest.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) $(THREADS) -m64 -mcmodel=small -mno-red-zone \
		-fcf-protection=none -Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ tests/kvm/start.S \
		tests/kvm/fibers.c)

# A guest whose frames and page tables are attacks.
$(O)/tests/kvm/hostile.elf: tests/kvm/start.S tests/kvm/hostile.c tests/guest/x86/spin.S \
		tests/guest/x86/kinds.h tests/kvm/guest.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -I. -m64 -mcmodel=small -mno-red-zone \
		-fcf-protection=none -Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ \
		tests/kvm/start.S tests/guest/x86/spin.S tests/kvm/hostile.c)

# For an arm64 host, built by `make arm64`: a VMM and a program that compares registers.
$(O)/tests/kvm/vmm_arm64 $(O)/tests/kvm/compare_arm64: %: %.o $(ALL_OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $< $(ALL_OBJECTS) $(LIBS) -lpthread)

# The KVM tests' guest for 32-bit arm, with short and with long descriptors.
$(O)/tests/kvm/arm32-lpae.elf: LONG = -DLPAE
$(O)/tests/kvm/arm32.elf $(O)/tests/kvm/arm32-lpae.elf: tests/kvm/start_arm32.S tests/kvm/guest.c \
		tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,arm-linux-gnueabi-gcc $(filter-out -mno-omit-leaf-frame-pointer,$(GUEST_FLAGS)) $(LONG) \
		-marm -march=armv7ve -mfloat-abi=soft -o $@ -Wl$(COMMA)-Ttext=0x40080000 \
		-Wl$(COMMA)-e$(COMMA)start tests/kvm/start_arm32.S tests/kvm/guest.c)

# The KVM tests' guest for arm64, as a program on pages of 2^N bytes.
$(O)/tests/kvm/arm64-el0-%.elf: tests/kvm/start_arm64.S tests/kvm/guest.c tests/gdb/arm64.lds \
		tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,aarch64-linux-gnu-gcc $(GUEST_FLAGS) -mcmodel=large -DGRANULE=$* -o $@ \
		-Wl$(COMMA)--defsym=LOWER_HALF=1 -Wl$(COMMA)-T$(COMMA)tests/gdb/arm64.lds \
		tests/kvm/start_arm64.S tests/kvm/guest.c)

# Guests for arm64 that halt, and print.
$(O)/tests/kvm/print_arm64.elf: PRINTS = -DPRINTS
$(O)/tests/kvm/halt_arm64.elf $(O)/tests/kvm/print_arm64.elf: tests/kvm/halt_arm64.S \
		tests/gdb/arm64.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,aarch64-linux-gnu-gcc $(GUEST_FLAGS) $(PRINTS) -o $@ \
		-Wl$(COMMA)-T$(COMMA)tests/gdb/arm64.lds $<)

# The benchmark is only built, so that it stays in step.
kvm: $(O)/uniprof $(KVM_PROGRAMS) $(O)/tests/bench/kvm/pauses
	UNIPROF=$(O)/uniprof tests/kvm/run $(KVM_CASES)

## QEMU's GDB stub

# The KVM tests' guest, with interrupts.
$(O)/tests/gdb/interrupts.elf: tests/kvm/start.S tests/kvm/guest.c tests/gdb/entries.S \
		tests/gdb/interrupts.c tests/kvm/guest.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,$(CC) $(GUEST_FLAGS) -I. -DINTERRUPTS -m64 -mcmodel=small -mno-red-zone \
		-fcf-protection=none -Wl$(COMMA)-T$(COMMA)tests/kvm/guest.lds -o $@ \
		-Wl$(COMMA)--defsym=handler_stack_end=handler_stack+32768 \
		tests/kvm/start.S tests/gdb/entries.S tests/gdb/interrupts.c)

# The KVM tests' guest for QEMU's emulated arm64: with frame pointers (arm64.elf), without
# (arm64-nofp.elf), and with neither them nor call frame information (arm64-code.elf).
# The guest has no room for .eh_frame; without it, GCC writes .debug_frame.
$(O)/tests/gdb/arm64-nofp.elf: KVM_FRAMES = -fomit-frame-pointer -fno-unwind-tables
$(O)/tests/gdb/arm64.elf $(O)/tests/gdb/arm64-nofp.elf: tests/gdb/start_arm64.S tests/kvm/guest.c \
		tests/gdb/arm64.lds tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,aarch64-linux-gnu-gcc $(GUEST_FLAGS) -mcmodel=large -o $@ \
		-Wl$(COMMA)-T$(COMMA)tests/gdb/arm64.lds tests/gdb/start_arm64.S tests/kvm/guest.c)

$(O)/tests/gdb/arm64-code.elf: $(O)/tests/gdb/arm64-nofp.elf
	$(call step,STRIP,aarch64-linux-gnu-objcopy --remove-section=.debug_frame $< $@)

# The KVM tests' guest for QEMU's emulated riscv64, where GCC 12 gives leaf functions frames
# without being asked.
$(O)/tests/gdb/riscv64.elf: tests/gdb/start_riscv64.S tests/kvm/guest.c tests/gdb/riscv64.lds \
		tests/tests.mk
	@mkdir -p $(@D)
	$(call step,LINK,riscv64-linux-gnu-gcc $(filter-out -mgeneral-regs-only \
		-mno-omit-leaf-frame-pointer,$(GUEST_FLAGS)) -march=rv64imac_zicsr -mabi=lp64 \
		-mcmodel=medany -o $@ -Wl$(COMMA)-T$(COMMA)tests/gdb/riscv64.lds \
		tests/gdb/start_riscv64.S tests/kvm/guest.c)

gdb: $(O)/uniprof $(addprefix $(O)/tests/kvm/,guest.elf guest-wide.elf guest-la57.elf) $(GUESTS_32) \
		$(addprefix $(O)/tests/kvm/arm64-el0-,12.elf 14.elf 16.elf) \
		$(addprefix $(O)/tests/gdb/,interrupts.elf arm64.elf arm64-nofp.elf arm64-code.elf \
		riscv64.elf)
	UNIPROF=$(O)/uniprof tests/gdb/run

## The lab

guests:
	$(MAKE) -C tests/guest O=$(abspath $(O))/guest

guests-arm:
	$(MAKE) -C tests/guest arm O=$(abspath $(O))/guest

# Prints what a recording does not contain, for the lab's hostile cases (tests/lab).
$(O)/lab-probe: $(O)/tests/lab/probe.o $(ALL_OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS))

# Ends in the middle of a pause, for the lab's cases death and wake.
$(O)/lab-die: $(O)/tests/lab/die.o $(ALL_OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS))

# The programs of the lab's Linux guests for the case orc, and their initial RAM disk.
LAB_PROGRAMS = $(addprefix $(O)/lab-,series work traced pair pair-second module moved narrow \
	waits waits-quick waits-many)
$(O)/lab-series: tests/lab/series.c
$(O)/lab-pair-second: LAB_DEFINES = -DSECOND
$(O)/lab-pair-second: tests/lab/pair.c
$(O)/lab-pair: tests/lab/pair.c
$(O)/lab-traced: LAB_DEFINES = -DTRACED
$(O)/lab-work $(O)/lab-traced: tests/lab/work.c
$(O)/lab-module: tests/lab/module.c
$(O)/lab-moved: LAB_DEFINES = -static-pie -fPIE -fomit-frame-pointer
$(O)/lab-moved: tests/lab/moved.c
$(O)/lab-waits-quick: LAB_DEFINES = -DQUICK
$(O)/lab-waits-many: LAB_DEFINES = -DMANY
$(O)/lab-waits $(O)/lab-waits-quick $(O)/lab-waits-many: tests/lab/waits.c
$(O)/lab-narrow: LAB_DEFINES = -m32
$(O)/lab-narrow: tests/lab/narrow.c
LAB_CFLAGS = -O2 -g -ffreestanding -fno-omit-frame-pointer -fno-pic -mno-omit-leaf-frame-pointer \
	-fno-optimize-sibling-calls -fno-stack-protector -fno-reorder-functions \
	-fcf-protection=none -nostdlib -static -no-pie
$(LAB_PROGRAMS): tests/lab/process.h tests/lab/threads.h tests/tests.mk
	$(call step,LINK,$(CC) $(WARNINGS) -I. $(LAB_CFLAGS) $(LAB_DEFINES) -o $@ $(filter %.c,$^))

# The Linux guest of docs/tutorial-waits.md, and its initial RAM disk.
SHOPS = $(O)/shop $(O)/shop-fixed
$(O)/shop: tests/guest/shop/shop.c tests/guest/shop/log.c
$(O)/shop-fixed: tests/guest/shop/shop.c tests/guest/shop/log_fixed.c
$(SHOPS): tests/guest/shop/shop.h tests/lab/process.h tests/lab/threads.h tests/tests.mk
	$(call step,LINK,$(CC) $(WARNINGS) -I. $(LAB_CFLAGS) -o $@ $(filter %.c,$^))
$(O)/shop.cpio: $(SHOPS)
	$(call step,CPIO,cd $(@D) && printf '%s\n' $(^F) | cpio --quiet -o -H newc -R 0:0 >$(@F))

# A module of the lab's kernel, which `scripts/lab prepare` has downloaded.
$(O)/brd.ko:
	$(call step,UNPACK,dpkg-deb --fsys-tarfile build/lab/cache/amd64/linux-image-*.deb | \
		tar -xO --wildcards '*/brd.ko' >$@.new && mv $@.new $@)

$(O)/lab-work.cpio: $(LAB_PROGRAMS) $(O)/brd.ko
	$(call step,CPIO,cd $(@D) && printf '%s\n' $(^F) | cpio --quiet -o -H newc -R 0:0 >$(@F))

## Benchmarks

# Programs that measure pauses are linked in the program's order, from all objects (PAUSED).
BENCH_OBJECTS = $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/bench/*.c)))
BENCH_REPORT = $(patsubst %.c,$(O)/%,$(wildcard tests/bench/report/*.c))
BENCH_UNWIND = $(patsubst %.c,$(O)/%,$(wildcard tests/bench/unwind/*.c))

-include $(BENCH_OBJECTS:.o=.d) $(BENCH_REPORT:=.d) $(BENCH_UNWIND:=.d)

# What sampling costs a guest, on real Xen (tests/bench). LONG=1 runs ten minutes longer;
# ARCH=arm64 measures the pauses of ARM guests.
$(O)/tests/bench/bench: $(BENCH_OBJECTS) $(OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS))

# tests/bench/unwind/process compares unwind tables on a running process with libdwfl.
$(BENCH_UNWIND): %: %.o $(ALL_OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -lcmocka)

$(BENCH_REPORT): %: %.o $(ALL_OBJECTS)
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
bench-unwind: $(O)/tests/bench/unwind/code
	tests/bench/unwind/run $<

## Fuzzers

# FUZZ_FLAGS: also for coverage (tests/fuzz/run --coverage).
FUZZ_CC = clang -std=gnu11 -D_GNU_SOURCE -iquote . -pthread -O1 -g1 -fno-sanitize-recover=all \
	$(FUZZ_FLAGS)
FUZZERS = $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
# What no fuzzer reaches is left out.
FUZZ_OBJECTS = $(patsubst %.c,$(O)/instrumented/%.o,$(filter-out $(filter-out record/linux/% \
	record/threads/% \
	record/signals.c,$(filter xen/% kvm/% record/% commands/top/%,$(SOURCES))),$(SOURCES)))

fuzzers: $(FUZZERS)

$(O)/instrumented/%.o: %.c Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(call step,FUZZ,$(FUZZ_CC) -fsanitize=fuzzer-no-link$(COMMA)address$(COMMA)undefined \
		-MMD -MP -c -o $@ $<)

$(O)/instrumented/output/write/flame_svg.o: output/write/flame.js
$(O)/instrumented/tables/fibers/description.o: tables/fibers/systems
$(O)/instrumented/output/html/page.o: $(PAGE)/body
$(O)/instrumented/output/html/page.o: FUZZ_CC += -DPAGE='"$(PAGE)"'
$(O)/instrumented/commands/help/man.o: $(O)/commands/help/man_pages
$(O)/instrumented/commands/help/man.o: FUZZ_CC += -DMAN_PAGES='"$(O)/commands/help/man_pages"'

-include $(FUZZ_OBJECTS:.o=.d)

$(O)/instrumented.a: $(FUZZ_OBJECTS)
	@rm -f $@
	$(call step,AR,ar rcsT $@ $^)

$(FUZZERS): $(O)/%: %.c $(wildcard tests/fuzz/*.h) $(O)/instrumented.a
	@mkdir -p $(@D)
	$(call step,FUZZ,$(FUZZ_CC) -fsanitize=fuzzer$(COMMA)address$(COMMA)undefined \
		$(LLD) -o $@ $< $(O)/instrumented.a $(LIBS))
