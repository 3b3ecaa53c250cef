# SPDX-License-Identifier: BSD-3-Clause
PREFIX ?= /usr/local
BINDIR = $(PREFIX)/bin
MANDIR = $(PREFIX)/share/man
CC = $(CROSS_COMPILE)gcc
COMMA = ,
# SANITIZE=address,undefined or thread: a build with these sanitizers, in a separate folder.
# All targets for tests work with it.
O = build$(SANITIZE:%=/$(subst $(COMMA),-,$(SANITIZE)))

# Sanitized programs are built for one test run: -O1 and lines alone take half the time.
CFLAGS ?= $(if $(SANITIZE),-O1 -g1,-O2 -g)
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
# libbz2, liblz4: kernels and symbol files compressed by them. A build without one refuses these.
has_header = $(shell echo | $(CC) $(SYSROOT:%=--sysroot=%) $(CFLAGS) -include $(1) \
	-fsyntax-only -xc - >/dev/null 2>&1 && echo 1)
BZIP2 := $(call has_header,bzlib.h)
LZ4 := $(call has_header,lz4.h)
# -iquote, because with -I the folder xen/ would hide Xen's headers from #include <xen/...>.
ALL_CFLAGS = $(SYSROOT:%=--sysroot=%) -std=gnu11 -D_GNU_SOURCE -iquote . -pthread $(WARNINGS) \
	$(SECCOMP:%=-DHAVE_SECCOMP) $(BZIP2:%=-DHAVE_BZIP2) $(LZ4:%=-DHAVE_LZ4) $(CFLAGS) \
	$(HARDENING) -fPIE $(PREFIX_MAP)
# A native compiler searches its own folders first, even with a sysroot.
ALL_LDFLAGS = $(ALL_CFLAGS) $(SYSROOT:%=-B%/usr/lib/$(MACHINE) -L%/lib/$(MACHINE)) -pie \
	-Wl,-z,relro,-z,now $(LDFLAGS)
# libelf: symbol tables of any ELF file. libdw: source lines. liberty: demangling.
# lzma: .gnu_debugdata, xz. zlib: CRC-32, gzip. zstd: compression. bz2, lz4: decompression.
# Xen's libraries are not linked, but loaded at run time by xen/library.c.
# The order matters for static linking.
STATIC_LIBS = -ldw -lelf -liberty -llzma -lz -lzstd $(BZIP2:%=-lbz2) $(LZ4:%=-llz4) \
	$(SECCOMP:%=-lseccomp)
LIBS = $(STATIC_LIBS) -ldl
# Of packages and of the portable program, with the commit if it is no release.
VERSION = $(or $(shell scripts/version),$(error make needs VERSION=X.Y.Z))

PARTS = base format arch unwind guest xen kvm gdb symbols tables record report output import \
	commands
# Of xen/registers_*.c and kvm/registers_*.c, only those for the target CPU are built.
HOST_CPU := $(if $(filter aarch64% arm%,$(MACHINE)),arm,x86)
# The code that runs while a guest is paused is linked first, in one place: each further page
# of code may cost a TLB miss during the pause, with walks of dom0's and Xen's page tables.
PAUSED = record/pauses.c $(patsubst %,kvm/%.c,guest_ops trace registers_$(HOST_CPU) memory/memory \
		$(if $(filter arm,$(HOST_CPU)),bpf/call bpf/kernel bpf/registers)) \
	xen/guest_ops.c xen/pause.c xen/registers_$(HOST_CPU).c xen/pages.c \
	$(patsubst %,unwind/%.c,unwind reader deep table stack/copy x86 x86_exit arm arm64 arm32 \
		arm32_code riscv) \
	$(patsubst %,arch/%.c,x86/cpu x86/code x86/parts arm/page_tables arm/cpu \
		arm/arm64_code arm/a32 arm/t32 riscv/cpu riscv/code cpu)
SOURCES = $(PAUSED) $(filter-out $(PAUSED) xen/registers_% kvm/registers_%,$(foreach part,$(PARTS), \
	$(filter-out %.bpf.c,$(sort $(wildcard $(part)/*.c $(part)/*/*.c $(part)/*/*/*.c)))))
OBJECTS = $(SOURCES:%.c=$(O)/%.o) $(if $(filter thread,$(SANITIZE)),$(O)/tests/sanitize/clocks.o)
MAN_PAGES = $(wildcard docs/man/*.1)
UNITS = $(wildcard scripts/systemd/*.*)

# One line per step; make V=1 shows the commands.
ifeq ($(V),1)
step = $(2)
else
step = @printf '  %-6s %s\n' '$(1)' '$@'; $(2)
endif

.PHONY: all arm64 portable deb dist completions install clean
all: $(O)/uniprof

note_seccomp = $(if $(SECCOMP)$(SANITIZE),,@echo '  built without libseccomp 2.5: record can not' \
	'restrict its system calls')
$(O)/uniprof: $(O)/uniprof.o $(OBJECTS)
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS))
	$(note_seccomp)

$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call step,CC,$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<)

# Embedded with .incbin, which -MMD does not list.
$(O)/output/write/flame_svg.o: output/write/flame.js
$(O)/commands/help/completions.o: scripts/completions
$(O)/tables/fibers/description.o: tables/fibers/systems

# Manual pages for help --man.
$(O)/commands/help/man_pages: $(MAN_PAGES)
	@mkdir -p $(@D)
	@cat $(sort $^) >$@
$(O)/commands/help/man.o: $(O)/commands/help/man_pages
$(O)/commands/help/man.o: ALL_CFLAGS += -DMAN_PAGES='"$(O)/commands/help/man_pages"'

# The page of output/html, put together from its parts.
PAGE = $(O)/output/html/page
$(PAGE)/body: output/html/assemble $(wildcard output/html/page/*)
	$(call step,PAGE,output/html/assemble $(PAGE))
$(O)/output/html/page.o: $(PAGE)/body
$(O)/output/html/page.o: ALL_CFLAGS += -DPAGE='"$(PAGE)"'

-include $(OBJECTS:.o=.d) $(O)/uniprof.d

# For the lab's arm64 machine: cross-built with Debian's packages, which
# `scripts/lab prepare --arch arm64` downloads and unpacks.
arm64:
	@[ -d build/lab/root-arm64 ] && command -v aarch64-linux-gnu-gcc >/dev/null || { \
		echo 'make arm64: run first: scripts/install-packages build lab arm64 &&' \
			'scripts/lab prepare --arch arm64' >&2; exit 1; }
	$(MAKE) CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=build/lab/root-arm64 O=$(O)/arm64 \
		$(ARM64_TARGETS)

# The portable program starts with this glibc and every later one, and needs no other library: all
# but glibc is linked statically. Of the sources, it compiles again only what depends on glibc's
# version or tells uniprof's; all other objects are those of the usual build.
GLIBC = 2.17
PORTABLE = $(O)/portable
PORTABLE_SOURCES := $(shell grep -lE '"base/(compat|version)\.h"' uniprof.c $(SOURCES)) \
	scripts/portable/glibc.c
PORTABLE_OBJECTS := $(foreach source,uniprof.c $(SOURCES) scripts/portable/glibc.c, \
	$(if $(filter $(source),$(PORTABLE_SOURCES)),$(PORTABLE),$(O))/$(source:.c=.o))
PORTABLE_LIBS = -L$(PORTABLE)/glibc -static-libgcc -Wl,--wrap=__libc_start_main \
	-Wl,-Bstatic $(STATIC_LIBS) -Wl,-Bdynamic -Wl,--no-as-needed -lpthread -ldl

portable: $(PORTABLE)/uniprof
$(PORTABLE)/uniprof: $(PORTABLE_OBJECTS) | $(PORTABLE)/glibc/libc.so
	$(call step,LINK,$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PORTABLE_LIBS) || { \
		echo 'make portable: it needs the static libraries of Debian 12 (README.md)' >&2; \
		exit 1; })
	$(note_seccomp)

$(PORTABLE)/%.o: ALL_CFLAGS += -DCOMPAT_GLIBC=$(GLIBC:2.%=%) \
	-DUNIPROF_VERSION="\"$$(cat $(PORTABLE)/version)\""
$(PORTABLE)/%.o: %.c Makefile $(PORTABLE)/version
	@mkdir -p $(@D)
	$(call step,CC,$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<)

-include $(PORTABLE_OBJECTS:.o=.d)

$(PORTABLE)/version: FORCE
	@mkdir -p $(@D)
	@version='$(VERSION)'; echo "$$version" | cmp -s - $@ || echo "$$version" >$@
FORCE:

$(PORTABLE)/glibc/libc.so: scripts/portable/stubs
	$(call step,STUBS,scripts/portable/stubs $(GLIBC) $(@D) \
		$(CC) $(SYSROOT:%=--sysroot=% -B%/usr/lib/$(MACHINE) -B%/lib/$(MACHINE)))

# Completions come from a program that runs here.
deb: portable
	$(if $(CROSS_COMPILE),$(MAKE) CROSS_COMPILE= SYSROOT= O=build completions)
	$(if $(CROSS_COMPILE),cp build/completions.* $(O)/)
	rm -rf $(O)/deb
	$(MAKE) PROGRAM=$(PORTABLE)/uniprof DESTDIR=$(abspath $(O)/deb) PREFIX=/usr install
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

PROGRAM = $(O)/uniprof
install: $(PROGRAM) $(if $(CROSS_COMPILE),,completions)
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(BINDIR)/uniprof
	for page in $(MAN_PAGES); do \
		install -D -m 644 $$page $(DESTDIR)$(MANDIR)/man1/$${page##*/} || exit 1; \
	done
	for unit in $(UNITS); do \
		install -d $(DESTDIR)$(PREFIX)/lib/systemd/system && \
		sed 's|/usr/bin/|$(BINDIR)/|; s|/usr/lib/|$(PREFIX)/lib/|' $$unit \
			>$(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/} || exit 1; \
	done
	install -D -m 755 scripts/systemd/send-rows $(DESTDIR)$(PREFIX)/lib/uniprof/send-rows
	$(call install_completions,bash,bash-completion/completions/uniprof)
	$(call install_completions,zsh,zsh/site-functions/_uniprof)
	$(call install_completions,fish,fish/vendor_completions.d/uniprof.fish)

include tests/tests.mk

# Downloads stay: the lab's packages and images (scripts/lab clean removes those), programs to
# test with.
DOWNLOADS = lab npm clickhouse "chdb-*" zookeeper roots
clean:
	[ ! -d $(O) ] || find $(O) -mindepth 1 -maxdepth 1 $(DOWNLOADS:%=! -name %) -exec rm -rf {} +
