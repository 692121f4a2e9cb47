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

DKMS_SOURCE	:= /usr/src/pmuctl-$(VERSION)

# Only what the module is built from goes there.
.PHONY: dkms-stage dkms-install dkms-remove
dkms-stage:
	@rm -rf -- '$(DESTDIR)$(DKMS_SOURCE)'
	@for file in $(MODULE_SOURCES) dkms.conf LICENSE; do \
		install -D -m 644 -- "$$file" '$(DESTDIR)$(DKMS_SOURCE)/'"$$file"; \
	done
	@find module -type f -perm /111 ! -name build-for -exec \
		sh -c 'chmod 755 "$$0/$$1"' '$(DESTDIR)$(DKMS_SOURCE)' {} \;

dkms-install: dkms-remove dkms-stage
	dkms add -m pmuctl -v $(VERSION)
	dkms build -m pmuctl -v $(VERSION)
	dkms install -m pmuctl -v $(VERSION)
	@echo "Installed. Load it with: modprobe pmuctl"

dkms-remove:
	@command -v dkms >/dev/null || { \
		echo "dkms is missing: apt-get install dkms linux-headers-$(RUNNING_KERNEL)" >&2; \
		exit 1; }
	@if [ -n "$$(dkms status -m pmuctl -v $(VERSION))" ]; then \
		dkms remove -m pmuctl -v $(VERSION) --all; \
	fi
	@rm -rf -- '$(DKMS_SOURCE)'
