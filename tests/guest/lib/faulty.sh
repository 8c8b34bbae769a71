# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A soft-RoCE that makes errors for one of its users: tests/fixtures/rxe-faults/faulty.c

# faulty_load USER: for which user; the scenario needs "with: faulty"
faulty_load() { must "a soft-RoCE that can make errors" modprobe faulty user="$1"; }

# faulty PARAMETER NUMBER
faulty() { echo "$2" > "/sys/module/faulty/parameters/$1"; }
faulty_unload() { check "soft-RoCE makes no errors any more" rmmod faulty; }

# faulty_once PARAMETER KEY REGEX FILE...: one fault under I/O; the kernel logs it, and the
# key's sum in the files grows by one
faulty_once() {
	local parameter=$1 key=$2 regex=$3 before
	shift 3
	before=$(key_sum "$key" "$@")
	must "I/O" io_start "$DISK" --bs=32k
	mark
	faulty "$parameter" 1
	said 20 "the kernel says what" "$regex"
	check_await 20 "$key has grown" key_is "$key" $((before + 1)) "$@"
}

key_is() { [ "$(key_sum "$1" "${@:3}")" = "$2" ]; }
