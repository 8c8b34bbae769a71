# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Which processor does the work of a queue, for guests of several that source this after lib.sh.

# worker OWNER CPU: prints the processor that does the work of the module OWNER for jobs on CPU:
# that of the queue pair that sent most for the reads there. Over rxe it is not known.
worker() {
	local sent="/^qp .* owner=$1 /p"
	sed -n "$sent" "${COUNTERS[@]}" > /run/before
	taskset -c "$2" dd if="$DISK" of=/dev/null bs=4k count=64 iflag=direct \
		status=none || return 1
	sed -n "$sent" "${COUNTERS[@]}" | awk '{
		for (i = 3; i <= NF; i++) {
			split($i, pair, "=")
			value[pair[1]] = pair[2]
		}
		if (NR == FNR) {
			had[$2] = value["wr_send"]
		} else if (value["wr_send"] - had[$2] > most) {
			most = value["wr_send"] - had[$2]
			cpu = value["cpu"]
		}
	}
	END { print cpu; exit cpu == "" }' /run/before -
}
