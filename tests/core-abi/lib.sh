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

# The newest installed kernel of a series (6.12) that has NVMe over Fabrics.
kernel_of() { # SERIES
	local d

	for d in $(ls -d "/lib/modules/$1".* 2>/dev/null | sort -V -r); do
		[ -e "$d/build/Makefile" ] || continue
		[ -n "$(find "$d/kernel/drivers/nvme" -name 'nvme-fabrics.ko*' \
			-print -quit 2>/dev/null)" ] || continue
		basename "$d"
		return 0
	done
	return 1
}
