# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For single features: options that nvme-cli does not know, commands counted where they arrive,
# and features that a kernel lacks.

TRACING=/sys/kernel/tracing

# not_here WORDS...: a feature that this kernel lacks; prints a line, and is not a check
not_here() { echo "not here - kernel $VM_KVER: $*"; }

# fabrics OPTIONS: connect by a write to /dev/nvme-fabrics; sets CTRL. On failure
# the last word printed is the errno's.
fabrics() {
	local fd answer
	exec {fd}<> /dev/nvme-fabrics || return 1
	if printf 'transport=rdma,%s' "$1" >&"$fd" &&
		read -r answer <&"$fd"; then
		exec {fd}>&-
		CTRL=${answer#instance=}
		CTRL=nvme${CTRL%%,*}
		return 0
	fi
	exec {fd}>&-
	return 1
}

# fabrics_as HOSTNQN OPTIONS: connects as that host, with its own identifier
fabrics_as() { fabrics "$2,hostnqn=$1,hostid=$(< /proc/sys/kernel/random/uuid)"; }

# fabrics_refused OPTIONS ERRNO-WORDS: has to fail with these words
fabrics_refused() {
	! fabrics "$1" || { echo "it connected as $CTRL"; return 1; }
	grep -q "$2" "$CHECK_OUT" || { echo "no '$2'"; return 1; }
}

# ctrl_attr NAME [CTRL]: an attribute of a controller in sysfs
ctrl_attr() { cat "/sys/class/nvme/${2:-$CTRL}/$1"; }

# queues_are NUMBER: the controller is live, with that many, its admin queue too
queues_are() { state_is "$CTRL" live && [ "$(ctrl_attr queue_count)" = "$1" ]; }

# id_field FIELD: a field of the output of the last 'check ... nvme id-...'
id_field() { sed -n "s/^$1 *: *//p" "$CHECK_OUT"; }

# counting EVENT KEYS: count a trace event's occurrences by KEYS from now on
counting() { echo "hist:keys=$2" > "$TRACING/events/$1/trigger"; }

# counted EVENT [REGEX]: sum of the counts so far whose keys match
counted() {
	grep -E "^\{ .*${2-}.*\} hitcount:" "$TRACING/events/$1/hist" |
		awk '{ n += $NF } END { print n + 0 }'
}

# counted_off EVENT KEYS: no more counting, and forget
counted_off() { echo "!hist:keys=$2" > "$TRACING/events/$1/trigger"; }

# trace_lost: number of records that the trace has lost since it was emptied (a change of the
# tracer also empties it). A trace is conclusive only if none is lost.
trace_lost() {
	cat $TRACING/per_cpu/cpu*/stats | awk '/overrun|dropped/ { n += $NF } END { print n + 0 }'
}
trace_is_whole() { equal "no record of the trace is lost" 0 "$(trace_lost)"; }

# Commands that arrive at the target, as the core there sees them
COMMANDS=nvmet/nvmet_req_init
