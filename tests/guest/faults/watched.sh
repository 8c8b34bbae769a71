#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    a debug kernel reports deliberate faults of a module: a leak, a use after free, a lock order inversion, a sleep in atomic context, a shift out of bounds, a data race
# kernels:  6.12-debug 6.12-kcsan
# with:     broken
# check:    none
# allow:    BUG: KASAN: slab-use-after-free in do_use_after_free|BUG: sleeping function called from invalid context|BUG: scheduling while atomic|WARNING: possible circular locking|possible circular locking dependency|UBSAN: shift-out-of-bounds in .*broken.c|kmemleak: 1 new suspected|BUG: KCSAN: data-race in count|WARNING: .*broken
# timeout:  120
. "$(dirname "$0")/../lib.sh"

# noticed WORD REGEX: the kernel reports it when the module does it
noticed() {
	local began=/run/noticed
	dmesg > $began
	must "$1" eval "echo $1 > /sys/module/broken/parameters/do"
	check "the kernel says so" eval \
		"dmesg | tail -n +$(($(wc -l < $began) + 1)) | grep -E '$2'"
}

must "a module that is broken" modprobe broken
case $VM_KVER in
*-kcsan) noticed race "KCSAN: data-race in count \[broken\]" ;;
*)
	# the first of the others switches lockdep off
	noticed deadlock "possible circular locking dependency"
	check "kmemleak finds nothing" _no_kmemleak
	must leak eval "echo leak > /sys/module/broken/parameters/do"
	check "kmemleak finds it" not _no_kmemleak
	leaks=$(cat "$CHECK_OUT")
	check "by name" grep -q '\[broken\]' <<< "$leaks"
	noticed shift "UBSAN: shift-out-of-bounds in .*broken.c"
	noticed sleep "sleeping function called from invalid context|scheduling while atomic"
	noticed use-after-free "KASAN: slab-use-after-free in do_use_after_free"
	;;
esac
finish
