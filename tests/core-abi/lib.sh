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

# scratch NAME: an empty directory in SCRATCH. It is in the same place each time, unless
# another run has that, or it is kept: ccache knows objects by their paths.
scratch() {
	local cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/nvme-rdma

	SCRATCH=$cache/$1
	[ -z "${KEEP:-}" ] && mkdir -p "$cache" && exec {SCRATCH_LOCK}>"$SCRATCH.lock" && flock -n "$SCRATCH_LOCK" &&
		rm -rf --one-file-system "$SCRATCH" && mkdir "$SCRATCH" ||
		SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX") ||
		{ echo "$1: no directory for its files, neither in $cache nor in /tmp" >&2; return 1; }
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ] && [ "$passed" != 0 ]
	exit $?
}

# The answers of tests/vm/kernel for a series, a kernel, all series
kernel_of() { "${BASH_SOURCE[0]%/*}/../vm/kernel" "$1"; }
root_of() { "${BASH_SOURCE[0]%/*}/../vm/kernel" --root "$1"; }
all_series() {
	[ -z "${CORE_ABI_KERNELS:-}" ] || { tr ' ' '\n' <<<"$CORE_ABI_KERNELS"; return; }
	"${BASH_SOURCE[0]%/*}/../vm/kernel" --series
}
