# SPDX-License-Identifier: GPL-2.0-only
#
# How the tests' own kernel modules are built: for each kernel in $(O)/kmod/KERNEL;
# the guests get them as tests/kmod/RELEASE/NAME.ko.

KMOD_SOURCES	:= $(wildcard tests/vm/kmod/*.c) tests/vm/kmod/Kbuild
KMOD_NAMES	:= foreign_nmi traced
KMOD_BUILT	:= $(KERNELS:%=$(O)/kmod/%/.built)
VM_TESTS	+= $(KMOD_BUILT)

$(KMOD_BUILT): $(O)/kmod/%/.built: $(KMOD_SOURCES) tests/vm/kmod/build.mk $(CACHE)/kernels/%/release
	$(call say,KMOD,$@)
	$(Q)rm -rf -- '$(@D)'
	$(Q)mkdir -p '$(@D)'
	$(Q)cp -- $(KMOD_SOURCES) '$(@D)/'
	$(Q)env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL \
		-u VERSION -u O -u KERNELS -u CFLAGS -u CPPFLAGS \
		make -C '$(CACHE)/kernels/$*/build' M='$(abspath $(@D))' modules \
		>'$(@D)/log' 2>&1 || { cat -- '$(@D)/log' >&2; exit 1; }
	$(Q)dir="$(O)/tests/vm/kmod/$$(cat '$(CACHE)/kernels/$*/release')"; \
		mkdir -p "$$dir"; \
		for name in $(KMOD_NAMES); do \
			strip --strip-debug -o "$$dir/$$name.ko" "$(@D)/$$name.ko"; \
		done
	$(Q)touch -- '$@'
