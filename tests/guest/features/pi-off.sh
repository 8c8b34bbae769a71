#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    an RDMA device that claims T10 protection information but creates no memory region for it, and the parameter that disables it: disks with and without it work, at any depth
# disks:    64M:ms=8,pi=1
# with:     vrnic
# check:   none
# timeout:  400
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:pi-off
P=nqn.2026-01.test:pi-none
host_load
must "an SSD" ssd 0
vrnic_wire roce
must "a disk" memory_disk nullb0 64
must "a target" eval "subsys $N && _put $NVMET/subsystems/$N/attr_pi_enable 1 &&
	namespace $N 1 $SSD && namespace $N 2 /dev/nullb0 && port 1 $TARGET_IP &&
	_put $NVMET/ports/1/param_pi_enable 1 && expose 1 $N"
must "one without" eval "memory_disk nullb1 64 && subsys $P && namespace $P 1 /dev/nullb1 &&
	port 2 $TARGET_IP 4421 && expose 2 $P"

T10="cannot allocate a memory region for T10 protection information"
has_pi() { grep -q T10 "/sys/block/${DISK##*/}/integrity/format"; }
regions() { rdma resource show "$HOST_DEV" | sed -n 's/.* mr \([0-9]*\).*/\1/p'; }
regions_are() { [ "$(regions)" = "$1" ]; }

# plain_takes DEPTH REGIONS: a controller of plain disks, of 256 commands if it may
plain_takes() {
	must "connect to plain disks" connect $P $TARGET_IP 4421 -w $HOST_IP -i 1 -Q 256
	get_disk $P 1
	equal "of $1 commands" $(($1 - 1)) "$(ctrl_attr sqsize)"
	check "data" fio_verify "$DISK" 2M --iodepth=256
	check_await 20 "regions" regions_are "$2"
	check "disconnect" disconnect $P
}

# both_disks: data on each of them; the SSD checks what reaches it, as does its reader
both_disks() {
	local nsid
	for nsid in 1 2; do
		get_disk $N $nsid
		check "data of namespace $nsid" round_trip "$DISK" 65536
		check "fio on it" fio_verify "$DISK" 2M --iodepth=128
	done
	get_disk $N 1
	equal "the SSD has it" "$(sum_of "$DISK" 65536)" "$(sum_of "$SSD" 65536)"
}

# without_pi WORDS: connected, and so it is
without_pi() {
	get_disk $N 1
	check "$1: no protection information is made here" not has_pi
	equal "the target has it on its disk" 0x1 "$(nvme id-ns "$SSD" | sed -n 's/^dps *: //p')"
	both_disks
	equal "it was not lost" 0 "$(times_lost "$CTRL")"
	check_await 20 "regions for data alone" regions_are $((32 + 128))
}

step "as usual: the device does it"
must "connect" connect_wire $N -i 1
check_module nvme-rdma
check_module nvmet-rdma
get_disk $N 1
check "protection information is made" has_pi
both_disks
check_await 20 "twice as many regions" regions_are $((32 + 2 * 128))
check "disconnect" disconnect $N
# none of this is created for namespaces that do not need it
plain_takes 256 $((32 + 256))

step "it makes no memory region for it"
no_violations $HOST_DEV
must "$HOST_DEV goes" timeout 30 rdma link delete $HOST_DEV
must "it is to be so" vrnic_is integrity_mr=N
must "$HOST_DEV" vrnic_add $HOST_DEV eth1
RDMA_DEV=$HOST_DEV remember_resources host
mark
must "connect" connect_wire $N -i 1
said 5 "why it goes without" "$HOST_DEV $T10 \(error -22\): continuing without"
without_pi "so"
check "reset" timeout 60 nvme reset "/dev/$CTRL"
check_await 20 "it is live" state_is "$CTRL" live
both_disks
equal "one line says so" 1 "$(_log_since_mark | grep -c "$T10")"
check "disconnect" disconnect $N
plain_takes 256 $((32 + 256))

step "the parameter t10_pi"
must "$HOST_DEV goes" timeout 30 rdma link delete $HOST_DEV
must "it is to be as usual" vrnic_is integrity_mr=Y
must "$HOST_DEV" vrnic_add $HOST_DEV eth1
RDMA_DEV=$HOST_DEV remember_resources host
unload nvme-rdma
must "t10_pi=N" modprobe nvme-rdma t10_pi=N
mark
must "connect" connect_wire $N -i 1
without_pi "t10_pi=N"
check "nothing is said" not grep -q "$T10" <(_log_since_mark)
check "disconnect" disconnect $N
plain_takes 256 $((32 + 256))
vrnic_down
finish
