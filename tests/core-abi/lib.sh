# SPDX-License-Identifier: GPL-2.0
# Shared by tests/core-abi/run and tests/dkms/run: "ok - NAME", "not ok - NAME: why",
# and at the end "N passed, N failed".

passed=0
failed=0

ok() { # NAME
	echo "ok - $1"
	passed=$((passed + 1))
}

not_ok() { # NAME WHY
	echo "not ok - $1: $2"
	failed=$((failed + 1))
}

note() {
	echo "# $*"
}

verdict() { # NAME STATUS WHY: ok if STATUS is 0
	if [ "$2" = 0 ]; then ok "$1"; else not_ok "$1" "$3"; fi
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ] && [ "$passed" != 0 ]
	exit $?
}

# What tests/vm/kernel says of a series, a kernel, all series
kernel_of() { "${BASH_SOURCE[0]%/*}/../vm/kernel" "$1"; }
root_of() { "${BASH_SOURCE[0]%/*}/../vm/kernel" --root "$1"; }
all_series() {
	[ -z "${KERNELS:-}" ] || { tr ' ' '\n' <<<"$KERNELS"; return; }
	"${BASH_SOURCE[0]%/*}/../vm/kernel" --series
}
