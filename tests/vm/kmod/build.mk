# SPDX-License-Identifier: GPL-2.0-only
#
# How the tests' own kernel modules are built, and the example for the in-kernel API: for
# each kernel in $(O)/kmod/KERNEL; the guests get them as tests/kmod/RELEASE/NAME.ko.

KMOD_NAMES	:= foreign_nmi kapi_user record_between refuse_perf traced watchdog/pmuctl_watchdog
KMOD_SOURCES	:= $(wildcard tests/vm/kmod/*.[ch]) tests/vm/kmod/Kbuild
KMOD_EXAMPLE	:= examples/watchdog/pmuctl_watchdog.c examples/watchdog/Kbuild
KMOD_BUILT	:= $(KERNELS:%=$(O)/kmod/%/.built)
VM_TESTS	+= $(KMOD_BUILT)

# $(call kmod_build,KERNEL,FOLDER): build what is in a folder, beside the product
kmod_build	= env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL \
		-u VERSION -u O -u KERNELS -u CFLAGS -u CPPFLAGS \
		$(or $(wildcard $(CACHE)/kernels/$(1)/make),make) -C '$(CACHE)/kernels/$(1)/build' M='$(abspath $(2))' \
		PMUCTL='$(abspath $(O)/$(1))' modules \
		>'$(2)/log' 2>&1 || { cat -- '$(2)/log' >&2; exit 1; }

$(KMOD_BUILT): $(O)/kmod/%/.built: $(KMOD_SOURCES) $(KMOD_EXAMPLE) tests/vm/kmod/build.mk \
		$(O)/%/module/pmuctl.ko $(CACHE)/kernels/%/release
	$(call say,KMOD,$(@D))
	$(Q)rm -rf -- '$(@D)'
	$(Q)mkdir -p '$(@D)/watchdog'
	$(Q)cp -- $(KMOD_SOURCES) '$(@D)/'
	$(Q)cp -- $(KMOD_EXAMPLE) '$(@D)/watchdog/'
	$(Q)$(call kmod_build,$*,$(@D))
	$(Q)$(call kmod_build,$*,$(@D)/watchdog)
	$(Q)dir="$(O)/tests/vm/kmod/$$(cat '$(CACHE)/kernels/$*/release')"; \
		mkdir -p "$$dir"; \
		for name in $(KMOD_NAMES); do \
			strip --strip-debug -o "$$dir/$${name##*/}.ko" "$(@D)/$$name.ko"; \
		done
	$(Q)touch -- '$@'
