#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   more hosts over software iWARP than a workqueue runs at once are accepted and never send their first frame: other hosts' queues are released, and those hosts reconnect
# with:    siw
# check:   6.12
# timeout: 400
#
# A host that asks for a peer-to-peer connection (MPA, version 2) sends first. Until it does,
# the kernel's iWARP CM lets nobody end the connection: any attempt waits. If the host leaves,
# the kernel itself crashes (BUG in cm_close_handler(), whatever accepted it). Therefore nothing
# is torn down here. LEAVE=1 shows the crash: one accepted host leaves.
FABRIC=siw
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:unready
MANY=${MANY:-560}
host_load
wire_up
must "load" modprobe nvmet-rdma connect_tmo=10
must "nobody looks for those who wait" \
	dd of=/proc/sys/kernel/hung_task_timeout_secs status=none <<< 0
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
check "data" round_trip "$DISK" 65536
check "its three queues" port_queues_are 3

# An MPA request: with a CRC, enhanced, version 2, 36 bytes; peer to peer, one READ, the first
# frame a WRITE; for an admin queue of two entries, as NVMe/RDMA has it
request='MPA ID Req Frame\x50\x02\x00\x24\x80\x01\x80\x01'
request+='\x00\x00\x00\x00\x02\x00\x01\x00'
for i in {1..24}; do request+='\x00'; done

# Which queues are left, and which works wait that are not those of $MANY hosts
show_what_is_left() {
	local stack

	echo "    $(key_sum queues $SHOWN/ports/1) queues; of others:"
	grep -L '^peer .*:2[0-9]\{4\}$' $SHOWN/queues/* | xargs -r grep -h '^peer\|^state' |
		sed 's/^/    /'
	for stack in $(grep -ls process_one_work /proc/[0-9]*/stack |
		       xargs -r grep -Ls iw_cm_disconnect); do
		echo "    $(cat "${stack%/*}/comm"):" $(cut -d' ' -f2 "$stack" | head -n 6)
	done
}

step "$MANY that do not send"
# of ports that the RDMA CM does not take, which knows nothing of TCP's
PORTS=/proc/sys/net/ipv4/ip_local_port_range
ports=$(cat $PORTS)
echo "20000 29999" > $PORTS
(
	ulimit -n 4096
	for ((i = 0; i < MANY; i++)); do
		exec {fd}<> "/dev/tcp/$MY_IP4/4420" || exit 1
		printf '%b' "$request" >&"$fd"
	done
	touch /run/all-asked
	exec sleep 86400
) &
holder=$!
check_await 120 "all have asked" test -e /run/all-asked
check_await 60 "all are accepted" port_queues_are $((3 + MANY)) ||
	echo "    $(key_sum queues $SHOWN/ports/1) queues"
echo "$ports" > $PORTS
[ -z "${LEAVE-}" ] || kill $holder
nap 12

step "others"
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N
check_await 20 "its queues are released" port_queues_are $MANY || show_what_is_left
must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
check "data" round_trip "$DISK" 65536
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
check_await 20 "its old queues are released" port_queues_are $((3 + MANY)) ||
	show_what_is_left
check "data" round_trip "$DISK" 65536
finish
