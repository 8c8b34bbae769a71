# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A soft-RoCE that does not answer one of its users any more: tests/fault/deaf.c

# deaf_load USER: builds and loads it
deaf_load() {
	must "a place to build" mkdir -p /run/deaf
	must "its source" cp "$VM_REPO/tests/fault/deaf.c" "$VM_REPO/tests/fault/Kbuild" /run/deaf
	must "a soft-RoCE that can be deaf" make -C "/lib/modules/$VM_KVER/build" \
		M=/run/deaf CONFIG_DEBUG_INFO_BTF_MODULES= modules
	must "load it" insmod /run/deaf/deaf.ko user="$1"
}

deaf() { echo "$1" > /sys/module/deaf/parameters/deaf; }
vanished() { cat /sys/module/deaf/parameters/vanished; }
some_vanished() { [ "$(vanished)" -gt "$1" ]; }
deaf_unload() { check "soft-RoCE hears again" rmmod deaf; }
