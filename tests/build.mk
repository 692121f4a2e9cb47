# SPDX-License-Identifier: GPL-2.0-only
#
# How the tests are built.
#
#   tests/unit/NAME.c      run on this machine, with sanitizers; Criterion
#   tests/vm/AREA/AREA_NAME.c   run in a guest, linked with libpmuctl.a; Criterion
#   tests/vm/AREA/AREA_NAME.sh  run in a guest by busybox' sh
#   tests/vm/kmod/NAME.c   kernel modules for them to load, see build.mk there
#   tests/vm/common/       what those have in common: a library that they are linked with
#   tests/vm/prog/NAME.c   programs for them to count; static, no Criterion, and
#                          without a C library if its libs are -nostdlib
#   tests/bench/*.c        one static program for a guest, the benchmark
#
# A test names in a comment in its first 20 lines what else it is made of:
#
#   /* sources: module/explain/explain.c lib/src/name.c */
#   /* libs: -lpfm */

UNIT_TESTS	:= $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/unit/*.c))
VM_PROGRAMS	:= $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/vm/prog/*.c))
VM_SOURCES	:= $(filter-out $(addsuffix /%,$(addprefix tests/vm/,kmod common prog)),$(wildcard tests/vm/*/*.c))
ifneq ($(wildcard tests/vm/*.[ch] tests/vm/*.sh),)
$(error $(wildcard tests/vm/*.[ch] tests/vm/*.sh): a suite goes to a folder of tests/vm, its name's first word)
endif
VM_BINARIES	:= $(addprefix $(O)/tests/vm/,$(notdir $(basename $(VM_SOURCES))))
VM_SCRIPTS	:= $(addprefix $(O)/tests/vm/,$(notdir $(filter-out tests/vm/common/%,$(wildcard tests/vm/*/*.sh))))
VM_SHARED	:= $(patsubst tests/%,$(O)/tests/%,$(wildcard tests/vm/common/*.sh))
# A program that loads libraries, and the library that "pmuctl run --preload" has it load
VM_PRELOAD	:= $(O)/tests/vm/common/perf-calls $(O)/tests/vm/common/libpmuctl-perf.so
VM_TESTS	:= $(VM_BINARIES) $(VM_SCRIPTS) $(VM_SHARED) $(VM_PROGRAMS) $(VM_PRELOAD) $(O)/tests/vm/common/without-libgit2

TEST_INCLUDES	:= -Itests/vm/common -Iinclude/uapi -Ilib/include -Imodule -Imodule/pmu -Itools -Itests -Itests/unit/kernel -I$(O)/generated \
		   $(TRACEEVENT_DEFINES) $(RUST_DEFINES)
TEST_CFLAGS	:= -std=gnu11 -g -Wall -Wextra -MMD -MP
SANITIZE	:= -fsanitize=address,undefined -fno-sanitize-recover=undefined \
		   -fno-omit-frame-pointer

# What tests of recordings name as their sources: the reader, what it finds out about
# addresses, and reports
READER		:= $(addprefix tools/perffile/,perffile.c features.c groups.c order.c records.c registers.c sample.c stream.c expand.c spool.c feed.c)
SYMBOLS		:= $(addprefix tools/symbols/,symbols.c names.c clean.c cpp.c tasks.c elf.c plt.c kernel.c unwind.c \
			inline.c jit.c samples.c) tools/say.c tools/progress.c lib/src/explain.c lib/src/names.c
REPORT		:= tools/options.c tools/terminal_text.c $(wildcard tools/report/*.c tools/export/*.c)

# "sources:" and "libs:" of the tests, as make variables NAME_sources, NAME_libs.
$(O)/tests/parts.mk: $(wildcard tests/unit/*.c tests/vm/prog/*.c) $(VM_SOURCES) tests/parts.awk
	@mkdir -p $(@D)
	@awk -f tests/parts.awk $(filter %.c,$^) </dev/null >$@

ifeq ($(filter clean distclean help setup,$(MAKECMDGOALS)),)
include $(O)/tests/parts.mk
endif

# Objects for unit tests: all of them instrumented.
$(O)/sanitized/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -O1 $(SANITIZE) $(TEST_INCLUDES) -c -o $@ $<

$(O)/sanitized/tools/syscalls/table.o: $(SYSCALL_NAMES)

# Objects for guest tests.
$(O)/guest/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -O2 $(TEST_INCLUDES) -c -o $@ $<

# $(call parts,KIND,TEST): the objects of what a test names as its sources.
parts		= $(patsubst %.c,$(O)/$(1)/%.o,$(tests/$(2)_sources))

.SECONDEXPANSION:

$(UNIT_TESTS): $(O)/tests/%: $(O)/sanitized/tests/%.o \
		$$(call parts,sanitized,$$*)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) -o $@ $(filter %.o,$^) -lcriterion $(tests/$*_libs)

# $(call area,SUITE): its folder, the first word of its name
area		= $(firstword $(subst _, ,$(1)))

# What the suites have in common
VM_LIBRARY	:= $(O)/guest/libvmtest.a
VM_COMMON	:= $(filter-out %/libgit2.c,$(wildcard tests/vm/common/*.c))

$(VM_LIBRARY): $(VM_COMMON:%.c=$(O)/guest/%.o)
	$(call say,AR,$@)
	$(Q)rm -f -- $@ && $(AR) rcs $@ $^

# The guest unpacks them each time: without what is for debuggers they are a third as large.
$(VM_BINARIES): $(O)/tests/vm/%: $(O)/guest/tests/vm/$$(call area,$$*)/%.o $(VM_LIBRARY) $(O)/lib/libpmuctl.a \
		$$(call parts,guest,vm/$$(call area,$$*)/$$*)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -Wl,--strip-debug -o $@ $(filter %.o,$^) $(VM_LIBRARY) $(O)/lib/libpmuctl.a -lcriterion -lpthread \
		$(tests/vm/$(call area,$*)/$*_libs)

$(VM_PROGRAMS): $(O)/tests/%: tests/%.c $(VM_LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -O2 -static $(TEST_INCLUDES) -o $@ $< $(VM_LIBRARY) \
		$(or $(tests/$*_libs),-lpthread)

$(O)/tests/vm/common/perf-calls: tests/vm/prog/perf-calls.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -O2 -o $@ $< -lpthread

$(O)/tests/vm/common/libpmuctl-perf.so: $(O)/tools/libpmuctl-perf.so
	@mkdir -p $(@D)
	@install -m 755 -- $< $@

BENCH		:= $(O)/tests/bench/bench
BENCH_SOURCES	:= $(wildcard tests/bench/*.c)

$(BENCH): $(BENCH_SOURCES) $(wildcard tests/bench/*.h include/uapi/linux/*.h)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -O2 -static $(TEST_INCLUDES) -o $@ $(BENCH_SOURCES)

# In place of libgit2, by the name under which Criterion asks for it.
$(O)/tests/vm/common/without-libgit2: tests/vm/common/libgit2.c
	@mkdir -p $@
	$(call say,LINK,$@)
	$(Q)name=$$(readelf -d "$$($(CC) -print-file-name=libcriterion.so)" | \
		sed -n 's/.*(NEEDED).*\[\(libgit2[^]]*\)\]/\1/p') && \
		$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -shared -fPIC -Wl,-soname,"$${name:=libgit2.so}" -o "$@/$$name" $<
	@touch $@

$(VM_SCRIPTS): $(O)/tests/vm/%: tests/vm/$$(call area,$$*)/%
	@mkdir -p $(@D)
	@install -m 755 -- $< $@

$(VM_SHARED): $(O)/tests/%: tests/%
	@mkdir -p $(@D)
	@install -m 755 -- $< $@

# Where threads race, under ThreadSanitizer, which goes with no other. A plain program:
# the unit test that it belongs to starts it.
RACES		:= $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/unit/prog/*.c))

$(O)/tests/unit/ring_threads: | $(O)/tests/unit/prog/ring_race

$(RACES): $(O)/tests/%: tests/%.c $(wildcard module/ringbuf/*.[ch] tests/unit/ring*.h) \
		module/compat/pure.h
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -O1 -fsanitize=thread $(TEST_INCLUDES) \
		-o $@ $< module/ringbuf/ring.c -lpthread

include tests/vm/kmod/build.mk

.PRECIOUS: $(O)/sanitized/%.o $(O)/guest/%.o
-include $(shell find $(O)/sanitized $(O)/guest $(O)/tests -name '*.d' 2>/dev/null)

# Fuzzers (tests/fuzz/*.c), which need clang and its run-time libraries, with what each
# is made of, its libraries, and the length of its inputs. FUZZERS="perffile" runs one of
# them; FUZZ_SECONDS for each, or FUZZ_RUNS if that comes first.
FUZZERS		?= assign ring filter perffile perffile_report trace tracepoint
FUZZ_CC		?= clang
FUZZ_SECONDS	?= 60
FUZZ_RUNS	?= -1
FUZZ_DIR	:= $(O)/tests/fuzz

assign_sources		:= module/pmu/assign.c
assign_length		:= 42
ring_sources		:= module/ringbuf/ring.c
ring_length		:= 400
filter_sources		:= module/soft/filter.c module/soft/filter_parse.c \
			   module/explain/explain.c
filter_length		:= 255
perffile_sources	:= $(wildcard tools/perffile/*.c)
perffile_libs		:= -lzstd
perffile_defines	:= -DHAVE_LIBZSTD -DPERFFILE_CHUNK=3
perffile_length		:= 4096
perffile_report_sources	:= $(perffile_sources) \
	$(addprefix tools/symbols/,cpp.c symbols.c names.c clean.c tasks.c samples.c) tools/progress.c \
	$(addprefix tools/report/,about.c chains.c columns.c filter.c graph.c hierarchy.c hist.c \
		group.c json.c text.c times.c tree.c flame.c flame_svg.c) tools/terminal_text.c \
	$(addprefix tools/script/,json.c text.c names.c) \
	$(addprefix tools/tracepoint/,formats.c print.c) $(wildcard tools/export/*.c) \
	$(addprefix tools/diff/,pairs.c print.c)
perffile_report_libs	:= $(O)/lib/libpmuctl.a -ljansson -lz -lcap -lstdc++ -liberty -lzstd
perffile_report_defines	:= -DHAVE_LIBZSTD -DPERFFILE_CHUNK=3
perffile_report_length	:= 4096
trace_sources		:= $(perffile_sources) \
	$(addprefix tools/trace/,streams.c spans.c pieces.c branches.c filter.c timeline.c) tools/export/json.c
trace_libs		:= -ljansson -lzstd
trace_defines		:= -DHAVE_LIBZSTD -DPERFFILE_CHUNK=3
trace_length		:= 4096
tracepoint_sources	:= $(addprefix tools/tracepoint/,formats.c print.c) tools/symbols/names.c tools/symbols/clean.c
tracepoint_libs		:= -ljansson
tracepoint_length	:= 4096

$(FUZZERS:%=$(FUZZ_DIR)/%): $(FUZZ_DIR)/%: tests/fuzz/%.c $$($$*_sources) \
		$$(filter %.a,$$($$*_libs))
	@mkdir -p $(@D)
	@command -v $(FUZZ_CC) >/dev/null || { \
		echo "fuzz: $(FUZZ_CC) is missing: apt-get install clang libclang-rt-14-dev" >&2; exit 1; }
	$(call say,LINK,$@)
	$(Q)$(FUZZ_CC) -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all $(TEST_INCLUDES) $($*_defines) -o $@ $(filter %.c,$^) $($*_libs)

# Good files to begin with: a perf.data file is seldom found by chance.
$(FUZZ_DIR)/perffile_seeds: tests/fuzz/perffile_seeds.c tests/fuzz/perffile_build.h tests/fuzz/tracing_build.h
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -O2 $(TEST_INCLUDES) -o $@ $< -lzstd

.PHONY: fuzz $(FUZZERS:%=fuzz-%)
fuzz: $(FUZZERS:%=fuzz-%)

$(FUZZERS:%=fuzz-%): fuzz-%: $(FUZZ_DIR)/% $(FUZZ_DIR)/perffile_seeds
	@mkdir -p $(FUZZ_DIR)/$*.corpus $(FUZZ_DIR)/$*.found
	@$(if $(filter perffile% trace%,$*),$(FUZZ_DIR)/perffile_seeds $(FUZZ_DIR)/$*.corpus $(filter trace%,$*))
	$(FUZZ_DIR)/$* -max_len=$($*_length) -max_total_time=$(FUZZ_SECONDS) -runs=$(FUZZ_RUNS) \
		-artifact_prefix=$(FUZZ_DIR)/$*.found/ -print_final_stats=1 $(FUZZ_DIR)/$*.corpus

# The fuzzer of the ABI: a program for the guest.
FUZZ_ABI	:= $(O)/fuzz-abi/abi
FUZZ_ABI_SOURCES := $(wildcard tests/fuzz/abi/*.c)

$(FUZZ_ABI): $(FUZZ_ABI_SOURCES) $(wildcard tests/fuzz/abi/*.h include/uapi/linux/*.h)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -O2 -static $(TEST_INCLUDES) -o $@ $(FUZZ_ABI_SOURCES) -lpthread
