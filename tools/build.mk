# SPDX-License-Identifier: GPL-2.0-only
#
# Builds and installs the pmuctl command with its manual pages and completion.
# Included by the top Makefile. The library is linked in statically: a binary that
# carries capabilities must not depend on where the loader finds a library.

TOOL_SOURCES	:= $(wildcard tools/*.c tools/*/*.c)
TOOL_OBJECTS	:= $(TOOL_SOURCES:tools/%.c=$(O)/tools/obj/%.o)
TOOL_MAN	:= $(patsubst man/%.in,$(O)/man/%,$(wildcard man/*.1.in))
DEVICE_MAN	:= $(O)/man/pmuctl.4
# Traces are decoded by libipt, if its headers are there.
HAVE_LIBIPT	:= $(shell echo '\#include <intel-pt.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo y)
# Recordings are compressed by libzstd, likewise.
HAVE_LIBZSTD	:= $(shell echo '\#include <zstd.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo y)
# The screens of "pmuctl top" and "pmuctl report" are drawn by ncurses, likewise.
HAVE_NCURSES	:= $(shell echo '\#include <ncurses.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo y)
SCREEN_LIBS	:= $(if $(HAVE_NCURSES),-lncursesw -ltinfo)
# "pmuctl exporter" is a server of libevent's, likewise.
# It is linked in, where it can be: the other commands would pay for loading it.
HAVE_LIBEVENT	:= $(shell echo '\#include <event2/http.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo y)
LIBEVENT_LIBS	:= $(foreach name,event_extra event_core,\
		   $(or $(wildcard $(shell $(CC) -print-file-name=lib$(name).a)),-l$(name)))
# Names of Rust are demangled by libiberty, likewise. It is an archive, of which that part is small.
HAVE_LIBIBERTY	:= $(shell echo '\#include <libiberty/demangle.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo y)
RUST_DEFINES	:= $(if $(HAVE_LIBIBERTY),-DHAVE_LIBIBERTY)
# What tracepoints tell is read by libtraceevent, if its headers are there.
TRACEEVENT_CFLAGS := $(shell pkg-config --cflags libtraceevent 2>/dev/null)
TRACEEVENT_LIBS	:= $(shell pkg-config --libs libtraceevent 2>/dev/null)
# An older one, Debian 11's, cannot be told to be silent.
TRACEEVENT_QUIET := $(if $(TRACEEVENT_LIBS),$(shell pkg-config --atleast-version=1.3 libtraceevent && echo y))
TRACEEVENT_DEFINES := $(if $(TRACEEVENT_LIBS),-DHAVE_LIBTRACEEVENT $(TRACEEVENT_CFLAGS)) \
		   $(if $(TRACEEVENT_QUIET),-DHAVE_TEP_LOGLEVEL)
TOOL_DEFINES	:= $(if $(HAVE_LIBIPT),-DHAVE_LIBIPT) $(if $(HAVE_LIBZSTD),-DHAVE_LIBZSTD) \
		   $(if $(HAVE_NCURSES),-DHAVE_NCURSES) $(if $(HAVE_LIBEVENT),-DHAVE_LIBEVENT) \
		   $(TRACEEVENT_DEFINES) $(RUST_DEFINES) -DPMUCTL_LIBDIR='"$(LIBDIR)"'
# Libcapstone, libpfm4 and libstdc++ are not among them: tools/late.c loads them.
TOOL_LIBS	:= $(if $(HAVE_LIBIPT),-lipt) $(if $(HAVE_LIBZSTD),-lzstd) \
		   $(SCREEN_LIBS) $(if $(HAVE_LIBEVENT),$(LIBEVENT_LIBS)) \
		   $(TRACEEVENT_LIBS) $(if $(HAVE_LIBIBERTY),-liberty) \
		   -ljansson -lz -lcap -ldw -lelf -lm -ldl -pthread
# What programs load that are run by "pmuctl run --preload"
PRELOAD		:= $(O)/tools/libpmuctl-perf.so
PRELOAD_SOURCES	:= $(wildcard tools/run/preload/*.c) tools/say.c tools/symbols/clean.c \
		   $(addprefix tools/run/,copy.c rules.c tracepoints.c types.c)
PRELOAD_OBJECTS	:= $(PRELOAD_SOURCES:tools/%.c=$(O)/tools/pic/%.o)
COMPLETIONDIR	?= $(PREFIX)/share/bash-completion/completions

.PHONY: tools install-tools uninstall-tools
tools: $(O)/tools/pmuctl $(PRELOAD) $(TOOL_MAN) $(DEVICE_MAN)

# The names of system calls, by the kernel's headers
SYSCALL_NAMES	:= $(O)/generated/syscall_names.h
$(SYSCALL_NAMES):
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)echo '#include <asm/unistd_64.h>' | $(CC) -E -dM -x c - | LC_ALL=C sort | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/[\2] = "\1",/p' >$@
	$(Q)test -s $@

# Those of errors and signals, for a libc that does not tell them, as Debian 11's
ERROR_NAMES	:= $(O)/generated/error_names.h
SIGNAL_NAMES	:= $(O)/generated/signal_names.h
libc_numbers	= echo '\#include <$(1)>' | $(CC) -E -dM -x c - | LC_ALL=C sort | \
		  sed -n 's/^\#define $(2)\([A-Z][A-Z0-9]*\)  *\([0-9]\{1,3\}\)$$/[\2] = "$(3)\1",/p'
$(ERROR_NAMES) $(SIGNAL_NAMES):
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)$(if $(filter $@,$(ERROR_NAMES)),$(call libc_numbers,errno.h,E,E),$(call libc_numbers,signal.h,SIG,)) >$@
	$(Q)test -s $@

$(O)/tools/obj/syscalls/print.o: $(ERROR_NAMES)
$(O)/tools/obj/syscalls/words.o: $(SIGNAL_NAMES)
$(O)/tools/obj/syscalls/print.o $(O)/tools/obj/syscalls/words.o: CPPFLAGS += -I$(O)/generated

$(O)/tools/obj/syscalls/table.o: $(SYSCALL_NAMES)
$(O)/tools/obj/syscalls/table.o: CPPFLAGS += -I$(O)/generated

$(O)/tools/obj/%.o: tools/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -include lib/src/older.h -Itools -Ilib/include -Iinclude/uapi $(TOOL_DEFINES) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/tools/pmuctl: $(TOOL_OBJECTS) $(O)/lib/libpmuctl.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(TOOL_LIBS)

$(O)/tools/pic/%.o: tools/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -include lib/src/older.h -Itools -Ilib/include -Iinclude/uapi $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(PRELOAD): $(PRELOAD_OBJECTS) $(O)/lib/libpmuctl.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,--exclude-libs,ALL -o $@ $(filter %.o %.a,$^)

# The page of the device is a frame, filled with the comments of the ABI's headers.
ABI_HEADERS	:= include/uapi/linux/pmuctl.h include/uapi/linux/pmuctl_list.h
$(DEVICE_MAN): man/from-header.awk $(ABI_HEADERS) man/pmuctl.4.in
	@mkdir -p $(@D)
	$(call say,MAN,$@)
	$(Q)cat $(ABI_HEADERS) | awk -f man/from-header.awk - man/pmuctl.4.in >$@

# That of a command is a frame, too: its synopsis is the usage that the command's help has.
$(TOOL_MAN): $(O)/man/pmuctl-%.1: man/from-usage.awk man/pmuctl-%.1.in $(O)/tools/pmuctl
	@mkdir -p $(@D)
	$(call say,MAN,$@)
	$(Q)$(O)/tools/pmuctl $* --help | awk -f man/from-usage.awk - man/pmuctl-$*.1.in >$@

# SETCAP=1 lets every user who may execute the tool count all that CAP_PERFMON
# allows. It drops the capability before it starts a command.
install-tools: tools
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man4 \
		$(DESTDIR)$(COMPLETIONDIR) $(DESTDIR)$(LIBDIR)
	install -m 755 $(PRELOAD) $(DESTDIR)$(LIBDIR)/libpmuctl-perf.so
	install -m 755 $(O)/tools/pmuctl $(DESTDIR)$(BINDIR)/pmuctl
	$(if $(SETCAP),setcap cap_perfmon+ep $(DESTDIR)$(BINDIR)/pmuctl)
	install -m 644 man/pmuctl.1 $(TOOL_MAN) $(DESTDIR)$(MANDIR)/man1/
	install -m 644 $(DEVICE_MAN) $(DESTDIR)$(MANDIR)/man4/
	install -m 644 tools/completion/pmuctl $(DESTDIR)$(COMPLETIONDIR)/pmuctl

uninstall-tools:
	rm -f $(DESTDIR)$(BINDIR)/pmuctl $(DESTDIR)$(LIBDIR)/libpmuctl-perf.so $(DESTDIR)$(COMPLETIONDIR)/pmuctl
	rm -f $(patsubst %,$(DESTDIR)$(MANDIR)/man1/%,pmuctl.1 $(notdir $(TOOL_MAN))) $(DESTDIR)$(MANDIR)/man4/pmuctl.4

-include $(TOOL_OBJECTS:.o=.d) $(PRELOAD_OBJECTS:.o=.d)
