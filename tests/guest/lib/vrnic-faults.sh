# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults on demand under verified I/O, for a scenario that sources this after
# vrnic-wire.sh. The checker runs (faulty_load), and its controller's name is in $first.

# faulty_load [options of acked]: up to 16 KiB at a time, so that capsules with data,
# data that is fetched, and none at all come, in and out of line. In
# make check some 300 I/Os a second are enough to meet each fault at once.
faulty_load() {
	must "I/O" acked_start "$DISK" --size $((8 << 20)) --writers 2 --block 16384 \
		${SHORT:+--pace 6} "$@"
}

goes_on() {
	check_await 60 "I/O goes on" acked_moves
	check_await 60 "the controller is live" state_is "$first" live
}

# soon_noticed: what never completes, by target and host
soon_noticed() {
	! is_ours nvmet-rdma || must "load" modprobe nvmet-rdma response_tmo=4 "$@"
	must "commands have 5 seconds" eval \
		'echo 5 > /sys/module/nvme_core/parameters/io_timeout'
}

# hit DEVICE LINE...: the fault occurs, and I/O continues after it
hit() {
	local dev=$1
	shift
	must "$dev: $*" vrnic_fault "$dev" "$@"
	check_await 30 "it has come" none_armed "$dev"
	acked_moves || :
	goes_on
}

SENDS=("wr send 20 flush" "wr send 20 retry after" "cqe send 5 delay 50000"
	"cqe send 5 reorder" "cqe send 5 twice" "cqe send 5 never" "cqe send 5 overrun"
	"post send 20 12")
RECEIVES=("cqe recv 20 delay 50000" "cqe recv 20 reorder" "cqe recv 20 twice"
	"cqe recv 20 never" "cqe recv 20 overrun" "post recv 5 12")

# hit_all DEVICE MODULE LINE...: one after the other, what MODULE does on DEVICE
hit_all() {
	local dev=$1 module=$2 line
	shift 2
	for line; do
		# shellcheck disable=SC2086
		hit "$dev" $line from="$module"
	done
}
