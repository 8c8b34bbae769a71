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

# The newest installed kernel of a series (6.12) that guests run on and that
# modules can be built for: the one that tests/run takes, too.
kernel_of() { # SERIES
	python3 -B - "${BASH_SOURCE[0]%/*}/../vm" "$1" <<'E'
import sys
sys.path.insert(0, sys.argv[1])
from harness import HarnessError
from harness.kernels import find_kernel
try:
    print(find_kernel(sys.argv[2], build=True))
except HarnessError as e:
    sys.exit(str(e))
E
}
