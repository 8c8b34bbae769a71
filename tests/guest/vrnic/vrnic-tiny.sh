#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   RDMA devices with less than NVMe/RDMA needs, and just enough: on either side they work, or are refused in words
# with:    vrnic
# check:   ours:6.12
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:tiny
USUAL="max_qp_wr=16384 max_cqe=1048576 max_srq_wr=32767 max_mr_pages=4096"

host_load
vrnic_wire roce
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0 $TARGET_IP

# device DEVICE CARD PARAMETER=VALUE...: create one device again, with these limits
device() {
	no_violations "$1"
	must "$1 goes" timeout 30 rdma link delete "$1"
	# shellcheck disable=SC2086
	must "it is to be so" vrnic_is $USUAL "${@:3}"
	must "$1" vrnic_add "$1" "$2"
	check_await 30 "the port listens" listeners_are 1
	mark
}

# works: data; or the reason why not
works() {
	connect_wire $N -i 2 > /run/connect.out 2>&1 || return
	get_disk $N 1
	check "data" round_trip "$DISK" 131072
	check "data of many commands" fio_verify "$DISK" 512k --iodepth=64
	check "disconnect" disconnect $N
}

step "hosts"
# enough for 32 commands of an admin queue
for enough in max_qp_wr=140 max_cqe=172 max_mr_pages=2; do
	limit=${enough%=*} number=${enough#*=}
	device $HOST_DEV eth1 "$enough"
	if works; then pass "$enough: works"; else fail "$enough: $(cat /run/connect.out)"; fi
	for few in 1 $((number / 4)) $((number - 1)); do
		[ -z "${SHORT-}" ] || [ "$few" = $((number - 1)) ] || continue
		[ "$few" -ge 1 ] || continue
		device $HOST_DEV eth1 "$limit=$few"
		check "$limit=$few is refused" not works
		said 5 "why" "$HOST_DEV: nvme_rdma: the device's .* $few .*expected $number or more"
	done
done
device $HOST_DEV eth1

step "targets"
had=0 refused=0
limits=(max_{qp_wr={1,12,24,200},cqe={1,100,200},srq_wr={1,100}})
[ "${SHORT-}" ] || limits+=(max_{qp_wr={2,3,40,100},cqe={8,64,600},srq_wr={64,600}})
for limit in "${limits[@]}"; do
	device $TARGET_DEV eth0 "$limit"
	if works; then
		pass "$limit: works"
		had=$((had + 1))
	else
		said 5 "$limit: why not" "rejected: no resources on $TARGET_DEV|queue size too small: .*expected"
		refused=$((refused + 1))
	fi
	check_await 20 "no controller is left" no_controllers
done
check "$had work" at_least 4 $had
check "$refused are refused" at_least 4 $refused
device $TARGET_DEV eth0
vrnic_down
finish
