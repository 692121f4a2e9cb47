# SPDX-License-Identifier: GPL-2.0-or-later
#
# The devices of the laboratory's machine: those that tests/lab/run uses and
# no others, which makes QEMU quick to build and the guest quick to boot.
CONFIG_Q35=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_RNG=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_BLK=y
CONFIG_ISA_DEBUG=y
CONFIG_TEST_DEVICES=y
