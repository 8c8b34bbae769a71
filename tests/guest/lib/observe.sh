# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the scenarios about what one side reports. Each of them provides the function total KEY:
# the sum of a key over all I/O queues.

# more WORDS KEY LEAST BEFORE: the total has grown by at least so much
more() {
	local grew=$(($(total "$2") - $4))
	if [ $grew -ge "$3" ]; then pass "$1: $grew"
	else fail "$1: $grew, expected $3 or more"; fi
}

# small_and_large: 20 writes of 4 KiB, 10 of 64 KiB, 30 reads of 4 KiB
small_and_large() {
	dd if=/dev/zero of="$DISK" bs=4096 count=20 oflag=direct status=none &&
		dd if=/dev/zero of="$DISK" bs=65536 count=10 oflag=direct \
			status=none &&
		dd if="$DISK" of=/dev/null bs=4096 count=30 iflag=direct \
			status=none
}

# all_in_manual GROUP: the group's tracepoints are those of the page MAN
all_in_manual() {
	local t events=$TRACING/events/$1
	equal "each tracepoint is in the manual page" "" \
		"$(for t in "$events/$1"_*; do
			grep -q "^\.It Sy ${t##*/}\$" "$MAN" || echo "${t##*/}"; done)"
	equal "and each of the page's is here" "" \
		"$(for t in $(sed -n 's/^\.It Sy //p' "$MAN"); do
			[ -d "$events/$t" ] || echo "$t"; done)"
}

# traced WORDS REGEX
traced() { check "traced: $1" grep -Em1 "$2" $TRACING/trace; }

# cq_is_shown DEVICE NUMBER MODULE: "rdma" shows the completion queue as the module's
cq_is_shown() {
	rdma -d resource show cq dev "$1" cqn "$2" | grep -F "[$3]"
}
