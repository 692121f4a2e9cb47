# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds and installs libpmuctl: static, shared, pkg-config file, headers, manual
# pages. Included by the top Makefile, which sets O, CC, CFLAGS, VERSION and the
# directories.

LIB_SOURCES	:= $(wildcard lib/src/*.c)
LIB_OBJECTS	:= $(LIB_SOURCES:lib/src/%.c=$(O)/lib/obj/%.o)
LIB_SONAME	:= libpmuctl.so.0
LIB_REAL	:= libpmuctl.so.$(VERSION)
LIB_HEADERS	:= $(wildcard lib/include/*.h)
LIB_MAN		:= $(wildcard lib/man/*.3)
LIB_CPPFLAGS	:= -include lib/src/older.h -Ilib/include -Iinclude/uapi \
		   -DPMUCTL_VERSION='"$(VERSION)"'
LIB_CFLAGS	:= -fPIC -fvisibility=hidden -pthread
LIB_FILES	:= $(O)/lib/libpmuctl.a $(O)/lib/$(LIB_REAL) \
		   $(O)/lib/$(LIB_SONAME) $(O)/lib/libpmuctl.so

# The functions that a manual page is about, besides that of its own name
man_names	= $(filter-out $(notdir $(1:.3=)),$(shell \
		  sed -n '/^.Sh NAME/,/^.Nd/s/^.Nm \([^ ]*\).*/\1/p' $(1)))

.PHONY: lib check-lib install-lib uninstall-lib
lib: $(LIB_FILES)

$(O)/lib/obj/%.o: lib/src/%.c VERSION
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(LIB_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/lib/libpmuctl.a: $(LIB_OBJECTS)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)ar rcs $@ $(filter %.o,$^)

$(O)/lib/$(LIB_REAL): $(LIB_OBJECTS) lib/libpmuctl.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(LIB_SONAME) -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,--version-script,lib/libpmuctl.map -o $@ $(filter %.o,$^) -pthread

$(O)/lib/$(LIB_SONAME): $(O)/lib/$(LIB_REAL)
	@ln -sf $(LIB_REAL) $@

$(O)/lib/libpmuctl.so: $(O)/lib/$(LIB_SONAME)
	@ln -sf $(LIB_SONAME) $@

# What a program that uses the library meets: symbols, C11, C++, pkg-config.
check-lib: lib
	@lib/check

install-lib: lib
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/linux \
		$(DESTDIR)$(MANDIR)/man3
	install -m 644 $(O)/lib/libpmuctl.a $(DESTDIR)$(LIBDIR)/libpmuctl.a
	install -m 755 $(O)/lib/$(LIB_REAL) $(DESTDIR)$(LIBDIR)/$(LIB_REAL)
	ln -sf $(LIB_REAL) $(DESTDIR)$(LIBDIR)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $(DESTDIR)$(LIBDIR)/libpmuctl.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
		lib/libpmuctl.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/libpmuctl.pc
	install -m 644 $(LIB_HEADERS) $(DESTDIR)$(INCLUDEDIR)/
	install -m 644 include/uapi/linux/pmuctl*.h $(DESTDIR)$(INCLUDEDIR)/linux/
	install -m 644 $(LIB_MAN) $(DESTDIR)$(MANDIR)/man3/
	$(foreach page,$(LIB_MAN),$(foreach name,$(call man_names,$(page)),\
		ln -sf $(notdir $(page)) $(DESTDIR)$(MANDIR)/man3/$(name).3 &&)) true

uninstall-lib:
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libpmuctl.a $(LIB_REAL) $(LIB_SONAME) \
		libpmuctl.so pkgconfig/libpmuctl.pc)
	rm -f $(LIB_HEADERS:lib/include/%=$(DESTDIR)$(INCLUDEDIR)/%) \
		$(addprefix $(DESTDIR)$(INCLUDEDIR)/linux/,pmuctl.h pmuctl_list.h)
	rm -f $(LIB_MAN:lib/man/%=$(DESTDIR)$(MANDIR)/man3/%)
	rm -f $(foreach page,$(LIB_MAN),$(foreach name,$(call man_names,$(page)),\
		$(DESTDIR)$(MANDIR)/man3/$(name).3))

-include $(LIB_OBJECTS:.o=.d)
