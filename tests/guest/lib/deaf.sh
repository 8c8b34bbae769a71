# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A soft-RoCE that does not answer one of its users any more: tests/fixtures/rxe-faults/deaf.c

# deaf_load USER: whose requests are not answered; the scenario needs "with: deaf"
deaf_load() { must "a soft-RoCE that can be deaf" modprobe deaf user="$1"; }

deaf() { echo "$1" > /sys/module/deaf/parameters/deaf; }
vanished() { cat /sys/module/deaf/parameters/vanished; }
some_vanished() { [ "$(vanished)" -gt "$1" ]; }
deaf_unload() { check "soft-RoCE hears again" rmmod deaf; }
