# SPDX-License-Identifier: GPL-2.0-only
#
# The top Makefile of pmuctl: what a person types.  How each part is built is
# in the fragments that are included below; how the module's objects are built
# is in module/Kbuild, which the kernel's own build reads.
#
# Everything that is built goes below $(O).  "make help" lists the targets.

SHELL		:= /bin/bash
.SHELLFLAGS	:= -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS	+= --no-builtin-rules

O		?= build
VERSION		:= $(shell cat VERSION)
KERNELS		?= 6.1 6.12
MORE_KERNELS	:= 5.10 newest
RT_KERNELS	:= 6.1-rt 6.12-rt
CACHE		:= $(or $(PMUCTL_CACHE),$(HOME)/.cache/pmuctl)
JOBS		?= $(shell nproc)

CC		:= $(if $(filter default,$(origin CC)),gcc,$(CC))
CXX		:= $(if $(filter default,$(origin CXX)),g++,$(CXX))
CFLAGS		?= -std=gnu11 -O2 -g -Wall -Wextra
CPPFLAGS	?=

PREFIX		?= /usr/local
BINDIR		?= $(PREFIX)/bin
LIBDIR		?= $(PREFIX)/lib
INCLUDEDIR	?= $(PREFIX)/include
MANDIR		?= $(PREFIX)/share/man
DESTDIR		?=

# What prepares the laboratory and its packages. "make SETUP=: check-unit" goes
# without, for those who know that all is there.
SETUP		?= tests/lab/setup

# V=1 shows the commands.
V		?= 0
Q		:= $(if $(filter 0,$(V)),@)
say		= $(if $(filter 0,$(V)),@printf '  %-8s%s\n' '$(1)' '$(2)')

.PHONY: all lib tools install-lib install-tools uninstall-lib uninstall-tools
all: lib tools module

include module/build.mk
-include lib/build.mk
-include tools/build.mk
include tests/fuzz/build.mk
include tests/build.mk
include tests/fuzz/forged.mk
include tests/readers/build.mk

##
## Targets that need the laboratory or its packages prepare them first. Only
## then does a second make look at what is there: a fresh machine has neither
## the kernels to build for nor the libraries to ask pkg-config about.
##

NEED_SETUP	:= modules check check-style check-unit check-vm check-models check-dkms check-deb check-readers check-forged \
		   check-bench bench scale demo lab-shell

.PHONY: setup $(NEED_SETUP) $(NEED_SETUP:%=ready-%)
setup:
	@$(SETUP)

$(NEED_SETUP): setup
	@+$(MAKE) --no-print-directory -j$(JOBS) ready-$@

# What of tests/run-vm's options one may choose.
VM_OPTIONS	= $(if $(ONLY),--only '$(ONLY)') $(if $(ONCE),--once) $(if $(ALL),--all)

ready-modules: $(MODULES)

ready-check-style:
	@tests/run-tier style tests/style/check

ready-check-unit: $(UNIT_TESTS) lib tools
	@tests/run-tier unit tests/run-unit

ready-check-vm: guest-files
	@tests/run-tier vm tests/run-vm $(VM_OPTIONS)

# Every suite on every PMU of the laboratory: hours.
ready-check-models: guest-files
	@tests/run-tier models tests/run-vm --from tests/vm-models.list $(VM_OPTIONS)

# The kernels that are not used every day, and all with another preemption model than Debian's.
.PHONY: check-kernels ready-check-kernels
check-kernels:
	@$(SETUP) $(patsubst %,--kernel %,$(MORE_KERNELS) $(RT_KERNELS))
	@+$(MAKE) --no-print-directory -j$(JOBS) KERNELS='$(KERNELS) $(MORE_KERNELS)' ready-$@

ready-check-kernels: guest-files
	@tests/run-tier kernels-style tests/style/check $(MORE_KERNELS:%=W1-%) $(RT_KERNELS:%=refused-%)
	@tests/run-tier kernels-dkms tests/dkms/check $(RT_KERNELS)
	@tests/run-tier kernels tests/run-vm --from tests/vm-kernels.list $(VM_OPTIONS)

ready-check-dkms:
	@tests/run-tier dkms tests/dkms/check

ready-check-readers: tools $(EXPORTS)
	@tests/run-tier readers tests/readers/check

ready-check-forged: $(FORGED_PROGRAMS) $(FUZZ_DIR)/perffile_seeds
	@tests/run-tier forged tests/fuzz/run-forged

ready-check: guest-files $(UNIT_TESTS)
	@tests/run-check

ready-check-bench: guest-files $(BENCH)
	@tests/run-tier bench tests/bench/check $(KERNELS)

ready-bench: guest-files $(BENCH)
	@tests/bench/run $(KERNELS)

# How costs grow; minutes, and on one kernel.
ready-scale: guest-files $(BENCH)
	@tests/bench/scale/run $(lastword $(KERNELS))

ready-demo: guest-files
	@tests/demo/demo

ready-lab-shell: guest-files
	@tests/lab/shell

# The debug kernel and what runs in it: too slow for every day.
.PHONY: debug-kernel check-debug ready-check-debug
debug-kernel: setup
	@tests/lab/debug-kernel

check-debug: debug-kernel
	@+$(MAKE) --no-print-directory -j$(JOBS) KERNELS=debug ready-$@

ready-check-debug: guest-files
	@tests/run-tier debug tests/run-vm --from tests/vm-debug.list $(VM_OPTIONS)

# Everything that there is, whether it passed before or not: many hours. RESUME=1 goes on with
# what an earlier one has left, on a tree that is the same.
.PHONY: check-all ready-check-all
check-all: debug-kernel
	@$(SETUP) $(patsubst %,--kernel %,$(MORE_KERNELS) $(RT_KERNELS))
	@+$(MAKE) --no-print-directory -j$(JOBS) KERNELS='$(KERNELS) $(MORE_KERNELS) debug' ready-$@

ready-check-all: guest-files $(UNIT_TESTS) $(BENCH) $(EXPORTS) $(FORGED_PROGRAMS) $(FUZZ_DIR)/perffile_seeds
	@$(if $(RESUME),,FORCE=1) tests/run-check style unit readers forged bench vm-all dkms deb models kernels-style kernels-dkms kernels debug stress

# Data races, in a kernel that looks for them.
.PHONY: kcsan-kernel check-kcsan ready-check-kcsan
kcsan-kernel: setup
	@tests/lab/debug-kernel --kind kcsan

check-kcsan: kcsan-kernel
	@+$(MAKE) --no-print-directory -j$(JOBS) KERNELS=kcsan ready-$@

ready-check-kcsan: guest-files
	@tests/run-tier kcsan tests/run-vm --from tests/vm-kcsan.list $(VM_OPTIONS)

# Which lines of the module the guest suites run, in a kernel that tells and is quick.
.PHONY: light-kernel coverage ready-coverage
light-kernel: setup
	@tests/lab/debug-kernel --kind light

coverage: light-kernel
	@+$(MAKE) --no-print-directory -j$(JOBS) KERNELS=light ready-$@

ready-coverage: guest-files
	@tests/run-tier coverage tests/coverage/run

# Do the guest suites notice when the module is wrong?
MUTANTS		?= 200

.PHONY: mutants ready-mutants
mutants: setup
	@+$(MAKE) --no-print-directory -j$(JOBS) KERNELS=6.12 ready-$@

ready-mutants: guest-files
	@tests/run-tier mutants tests/mutants/run --number $(MUTANTS)

# Calls of the ABI in sequences that nobody thought of: for TIME seconds, or until CALLS have
# been made. The debug kernel sees more of what is wrong, the light one makes many more calls.
TIME		?= 600
CALLS		?= 10000000
SEED		?= $(shell date +%s)
FUZZ_KERNEL	?= debug
FUZZ_CPU	?= intel

.PHONY: fuzz-abi ready-fuzz-abi
fuzz-abi: $(if $(filter debug light,$(FUZZ_KERNEL)),$(FUZZ_KERNEL)-kernel,setup)
	@+$(MAKE) --no-print-directory -j$(JOBS) KERNELS=$(FUZZ_KERNEL) ready-$@

ready-fuzz-abi: $(MODULES) $(FUZZ_ABI)
	@tests/fuzz/run-abi --kernel $(FUZZ_KERNEL) --cpu $(FUZZ_CPU) $(if $(REPLAY),--replay '$(REPLAY)',--time $(TIME) --calls $(CALLS) --seed $(SEED))

# All that the laboratory puts into a guest.
.PHONY: guest-files
guest-files: $(MODULES) lib tools $(VM_TESTS)

export PMUCTL_CACHE VERBOSE RESUME

##
## Installing on this machine
##

.PHONY: install uninstall
install: install-lib install-tools
uninstall: uninstall-lib uninstall-tools

##
## Debian packages, from a copy of the tree
##

.PHONY: deb
deb:
	@debian/build-packages

ready-check-deb:
	@tests/run-tier deb tests/deb/check $(RELEASES)

##
## Cleaning
##

.PHONY: clean distclean
clean:
	rm -rf -- $(O)

distclean: clean
	rm -rf -- '$(CACHE)'

.PHONY: help
help:
	@printf '%s\n' \
	'pmuctl $(VERSION)' \
	'' \
	'The two commands for a newcomer; each prepares all that it needs:' \
	'  make demo          count a real program in an emulated machine, beside perf' \
	'  make check         run every test: style, unit, vm, dkms' \
	'' \
	'Building:' \
	'  make               library, tool, and the module for the running kernel' \
	'  make lib           libpmuctl, static and shared' \
	'  make tools         the pmuctl command' \
	'  make module        the module for the running kernel (needs its headers)' \
	'  make modules       the module for each kernel of the laboratory: $(KERNELS)' \
	'' \
	'Testing:' \
	'  make setup         packages, emulator and guest kernels (into $(CACHE))' \
	'  make check-style   layers, licences, lengths, checkpatch, W=1, sparse, shellcheck' \
	'  make check-unit    pure logic, on this machine, with sanitizers' \
	'  make check-vm      everything else, in emulated machines' \
	'  make check-dkms    install the module with dkms in a Debian root' \
	'  make check-readers do perf, pprof, Prometheus and others read what is made for them?' \
	'  make bench         what operations cost beside perf, in instructions' \
	'  make check-bench   has any of that grown by more than 3 % over docs/bench.md?' \
	'  make scale         how that grows with events, tasks, children: docs/scale.md' \
	'  make fuzz          fuzz placement, the ring, filters, lists of events and the readers of' \
	'                     recordings (clang): FUZZ_SECONDS=60 for each, FUZZERS="perffile trace"' \
	'  make check-forged  FORGED=1000000 forged recordings for everything that reads them' \
	'  make fuzz-abi      fuzz the ABI: TIME=600 seconds or CALLS=N calls, FUZZ_KERNEL=debug' \
	'                     or light, which is quicker and sees less' \
	'  make coverage      which lines of the module the guest suites run' \
	'  make mutants       MUTANTS=200 small faults, one at a time: do the guest suites notice?' \
	'  make lab-shell     a shell in an emulated machine with the module loaded' \
	'  make debug-kernel  a kernel with lockdep, KASAN, leak and fault checks (slow, once)' \
	'  make check-models  the guest tests on every PMU that there is; not part of make check' \
	'  make check-kernels the guest tests on other kernels: $(MORE_KERNELS); not part of make check' \
	'  make check-debug   the guest tests in that kernel; not part of make check' \
	'  make check-all     all of these, and the long tests; what passed before, too' \
	'  make kcsan-kernel  a kernel that finds data races (slow, once)' \
	'  make light-kernel  a kernel that counts what is reached, and is quick (slow, once)' \
	'  make check-kcsan   the guest tests that race, in that kernel; not part of make check' \
	'' \
	'Installing on this machine (as root):' \
	'  make install       library, headers, tool, manual pages (PREFIX, DESTDIR, SETCAP=1)' \
	'  make dkms-install  the module, through DKMS, for this and later kernels' \
	'  make dkms-remove   undo dkms-install' \
	'  make uninstall     undo install' \
	'' \
	'Packaging:' \
	'  make deb           Debian packages, to $(O)/deb: docs/packages.md' \
	'  make check-deb     build, install, boot, upgrade and purge them on Debian 11, 12 and 13;' \
	'                     RELEASES="bullseye bookworm trixie"' \
	'' \
	'Cleaning:' \
	'  make clean         remove $(O)' \
	'  make distclean     remove the cache of the laboratory as well' \
	'' \
	'Variables: V=1 show commands; VERBOSE=1 show the output of tests;' \
	'  ONLY=PATTERN only those guest runs or suites, ALL=1 the rare ones, too (check-vm);' \
	'  ONCE=1 do not repeat what fails in a guest; FORCE=1 run what passed before, too;' \
	'  RESUME=1 leave that out of the long checks, too, to go on with one another day;' \
	'  KERNELS="6.1 6.12"; JOBS=N; SETUP=: to go without the set-up step.'
