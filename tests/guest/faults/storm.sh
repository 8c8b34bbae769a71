#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    in short: concurrent resets, deletions, connects and scans under I/O; connects one after another; many controllers at once: no acknowledged write is lost, nothing is left over
# check:   none
# mem:      2048
# timeout:  500
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:storm
# One that is reset with the others, but not deleted, under I/O that is verified
K=nqn.2026-01.test:kept
STORM=${STORM:-12}		# seconds
CONNECTS=${CONNECTS:-20}
AT_ONCE=${AT_ONCE:-16}
# Unreclaimable kernel memory, in KiB, that may differ by itself
SLACK=4096
COMMON="traddr=$MY_IP4,trsvcid=4420,hostnqn=$HOSTNQN,hostid=$HOSTID,nr_io_queues=1"
OPTIONS="$COMMON,nqn=$N,duplicate_connect"

host_load
wire_up
must "a disk" memory_disk nullb0 16
must "another" memory_disk nullb1 16
simple_target $N /dev/nullb0
must "the one that is kept" eval "subsys $K && namespace $K 1 /dev/nullb1 && expose 1 $K"
must "connect" fabrics "$OPTIONS"
check_module nvme-rdma
check_module nvmet-rdma
get_disk $N 1
head -c 4096 /dev/urandom > /run/block
must "a block that later ones read" \
	dd if=/run/block of="$DISK" bs=4096 count=1 oflag=direct status=none
must "disconnect" disconnect $N
must_await 20 "no controller is left" no_controllers
remember_resources exported
remember_slab

# clean WORDS: what there was before a connection is what there is
clean() {
	check_await 60 "$1: no controller" no_controllers
	check_await 60 "$1: no RDMA object: ${RESOURCES[exported]}" resources_back exported
	await 30 slab_back $SLACK
	check "$1: the kernel's memory" slab_back $SLACK
	echo "result storm.$1 slab_kib=$SLAB_GROWN"
}

# Several processes work on all controllers. An operation that is refused because another
# process was faster is no error; it only has to end.
each() { # ATTRIBUTE PAUSE
	local c did
	while [ ! -e /run/storm-over ]; do
		for c in /sys/class/nvme-fabrics/ctl/nvme*/"$1"; do
			did=$1
			if [[ $c = */$kept/* ]]; then
				[ "$1" != delete_controller ] || continue
				did=kept-$1
			fi
			echo 1 2> /dev/null > "$c" && echo "$did" >> /run/storm-did
		done
		nap "$2"
	done
}
connects() {
	while [ ! -e /run/storm-over ]; do
		[ "$(controllers $N | wc -l)" -ge 6 ] ||
			! fabrics "$OPTIONS,reconnect_delay=1,ctrl_loss_tmo=10" ||
			echo connect >> /run/storm-did
		nap 0.1
	done
}
reads() {
	local d
	while [ ! -e /run/storm-over ]; do
		for d in /dev/nvme*n1; do
			[ -b "$d" ] && dd if="$d" of=/dev/null bs=64k count=16 iflag=direct status=none
		done
		nap 0.1
	done
}
did() { grep -c "^$1\$" /run/storm-did; }

# goes_on: the verified I/O does
goes_on() {
	acked_moves || :
	judge "I/O goes on" await 60 acked_moves
}
# told CASE [WORDS]: reports the outcome of the verified I/O
told() {
	judge "$1: no I/O error, every acknowledged write is there" acked_clean
	echo "result storm.$1 io_errors=$(acked_value io_errors) stall_ms=$(acked_value longest_stall_ms)" \
		"bytes_read=$(acked_value bytes_verified) bytes_verified=$(acked_found bytes_verified) ${2-}"
}

step "a storm of $STORM s"
must "connect the one that is kept" fabrics "$COMMON,nqn=$K,reconnect_delay=1,ctrl_loss_tmo=600"
kept=$CTRL
get_disk $K 1
must "I/O on it" acked_start "$DISK" "${ACKED_GENTLE[@]}"
at=$SECONDS
pids=()
for job in connects connects "each reset_controller 0.2" "each reset_controller 0.3" \
	"each delete_controller $((2 * WATCHED))" "each rescan_controller 0.2" reads reads; do
	$job > /dev/null 2>&1 &
	pids+=($!)
done
nap $((STORM * WATCHED))
touch /run/storm-over
ended() {
	local p
	for p in "${pids[@]}"; do ! runs "$p" || return 1; done
}
check_await 120 "each process ends" ended
for what in connect reset_controller delete_controller rescan_controller \
	kept-reset_controller; do
	check "$what: $(did $what)" at_least $((STORM / 12)) "$(did $what)"
done
echo "result storm.storm connects=$(did connect) resets=$(did reset_controller)" \
	"deletions=$(did delete_controller) rescans=$(did rescan_controller) seconds=$((SECONDS - at))"
judge "the one that is kept is live" await 60 state_is "$kept" live
told storm-io "resets=$(did kept-reset_controller)"
check "disconnect" timeout 120 nvme disconnect-all
must "the one that was kept is not offered any more" conceal 1 $K
clean storm

step "$CONNECTS connects, one after the other"
at=$SECONDS
# Each tenth finds the block that was written
has_block() {
	await 20 has_disk $N 1 && cmp /run/block \
		<(dd if="$(disk_of $N 1)" bs=4096 count=1 iflag=direct status=none)
}
one_more() { # NUMBER
	fabrics "$OPTIONS" || return 1
	[ $(($1 % 10)) != 0 ] || has_block || { echo "the block is not there"; return 1; }
	echo 1 > "/sys/class/nvme/$CTRL/delete_controller" || return 1
	await 30 no_controllers
}
# rounds NUMBER
rounds() {
	local n
	for ((n = 0; n < $1; n++)); do
		one_more "$n" || { echo "at $n"; return 1; }
	done
}
check "the first $((CONNECTS / 10))" rounds $((CONNECTS / 10))
clean connects
# The memory that the kernel keeps for connections is bounded; a leak for each connection is not
HALF=$((CONNECTS / 2))
MAY_TAKE=$((HALF + 512))
# half WORDS: runs half of the rounds; sets SLAB_GROWN to the growth of the kernel's memory
half() {
	remember_slab
	check "the $1 half" rounds $HALF
	check_await 60 "the $1 half: no RDMA object: ${RESOURCES[exported]}" resources_back exported
	await 30 slab_back $MAY_TAKE
}
half first
first=$SLAB_GROWN
half second
check "the second half took $SLAB_GROWN KiB, not 1 KiB each (the first: $first KiB)" \
	slab_back $MAY_TAKE
echo "result storm.connects number=$CONNECTS first_half_kib=$first" \
	"second_half_kib=$SLAB_GROWN seconds=$((SECONDS - at))"

step "$AT_ONCE controllers at once"
at=$SECONDS
many() {
	local n
	for ((n = 0; n < AT_ONCE; n++)); do
		fabrics "$OPTIONS,queue_size=16" || { echo "at $n"; return 1; }
	done
}
# What so many have the kernel keep for the next ones is no leak: they come twice
check "connect" many
equal "so many" "$AT_ONCE" "$(controllers | wc -l)"
check "disconnect" timeout 120 nvme disconnect-all
check_await 60 "they are gone" no_controllers
await 60 resources_back exported
remember_slab
check "and again" many
get_disk $N 1
check "data" round_trip "$DISK" 65536
live() { [ "$(cat /sys/class/nvme-fabrics/ctl/nvme*/state | sort | uniq -c | tr -s ' ')" = " $AT_ONCE live" ]; }
check "all are live" live
must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}"
step "all are reset at once"
resets=()
for c in $(controllers); do
	echo 1 > "/sys/class/nvme/$c/reset_controller" &
	resets+=($!)
done
wait "${resets[@]}"
check_await 120 "all are live again" live
goes_on
step "the target's port closes under all of them, and opens"
check "it closes" timeout 120 rm "$NVMET/ports/1/subsystems/$N"
check_await 60 "none is live" not grep -qx live /sys/class/nvme-fabrics/ctl/nvme*/state
check "it opens" expose 1 $N
check_await 180 "all are live again" live
goes_on
told at-once-io
check "data" round_trip "$DISK" 65536
echo "result storm.at-once number=$AT_ONCE seconds=$((SECONDS - at))"
check "disconnect" timeout 120 nvme disconnect-all
clean at-once
all_down
finish
