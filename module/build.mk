# SPDX-License-Identifier: GPL-2.0-only
#
# How the module is built: for the running kernel, for each kernel of the
# laboratory, and its installation through DKMS.  The sources are copied next
# to each other first ($(O)/<kernel>/module, $(O)/<kernel>/include), the layout
# that DKMS sees as well, so that one tree builds for several kernels.

MODULE_SOURCES	:= $(shell find module include -type f \
			! -name '*.mk' ! -name '.*' ! -name build-for) VERSION
MODULES		:= $(KERNELS:%=$(O)/%/module/pmuctl.ko)

$(MODULES): $(O)/%/module/pmuctl.ko: $(MODULE_SOURCES) module/build-for $(CACHE)/kernels/%/release
	$(call say,MODULE,$@)
	$(Q)module/build-for '$(CACHE)/kernels/$*/build' '$(O)/$*'

$(CACHE)/kernels/%/release:
	@echo "There is no kernel $* in $(CACHE): run make setup" >&2; exit 1

RUNNING_KERNEL	:= $(shell uname -r)
RUNNING_KDIR	:= /lib/modules/$(RUNNING_KERNEL)/build

.PHONY: module
ifneq ($(wildcard $(RUNNING_KDIR)/Makefile),)
module: $(O)/running/module/pmuctl.ko
else
module:
	@echo "  MODULE  not built: no headers of the running kernel $(RUNNING_KERNEL)." \
	      "Install linux-headers-$(RUNNING_KERNEL), or make modules for the laboratory's."
endif

$(O)/running/module/pmuctl.ko: $(MODULE_SOURCES) module/build-for
	$(call say,MODULE,$@)
	$(Q)module/build-for '$(RUNNING_KDIR)' '$(O)/running'

##
## DKMS
##

# The kernel to install for: the running one, or DKMS_KERNEL=RELEASE.
DKMS_KERNEL	?= $(RUNNING_KERNEL)
DKMS_SOURCE	:= /usr/src/pmuctl-$(VERSION)
DKMS		:= dkms
DKMS_WHAT	:= -m pmuctl -v $(VERSION)

.PHONY: dkms-tool dkms-stage dkms-install dkms-remove
dkms-tool:
	@command -v $(DKMS) >/dev/null || { \
		echo "dkms is missing: apt-get install dkms linux-headers-$(DKMS_KERNEL)" >&2; \
		exit 1; }

# Only what the module is built from goes there.
dkms-stage:
	@rm -rf -- '$(DESTDIR)$(DKMS_SOURCE)'
	@for file in $(MODULE_SOURCES) dkms.conf LICENSE; do \
		mode=644; [ ! -x "$$file" ] || mode=755; \
		install -D -m $$mode -- "$$file" '$(DESTDIR)$(DKMS_SOURCE)/'"$$file"; \
	done

dkms-remove: dkms-tool
	@if [ -n "$$($(DKMS) status $(DKMS_WHAT))" ]; then \
		$(DKMS) remove $(DKMS_WHAT) --all; \
	fi
	@rm -rf -- '$(DKMS_SOURCE)'

dkms-install: dkms-remove
	@[ -e '/lib/modules/$(DKMS_KERNEL)/build/Makefile' ] || { \
		echo "No headers of kernel $(DKMS_KERNEL): apt-get install linux-headers-$(DKMS_KERNEL)" >&2; \
		exit 1; }
	@$(MAKE) --no-print-directory dkms-stage
	$(DKMS) add $(DKMS_WHAT)
	$(DKMS) build $(DKMS_WHAT) -k $(DKMS_KERNEL)
	$(DKMS) install $(DKMS_WHAT) -k $(DKMS_KERNEL)
	@echo "Installed. Load it with: modprobe pmuctl"
