#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a target exports a Ceph RBD image (krbd) of a cluster in the same guest; the only OSD is killed under I/O and restarted: no acknowledged write is lost
# disks:   2G
# check:   none
# mem:     3072
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/ha.sh"

export CEPH_CONF=/run/ceph/ceph.conf
FSID=0fa17000-0000-4000-8000-00000000ceff

# The smallest possible cluster, without keys: the test is about the target on top of it. A
# manager would take minutes to start under emulation; no I/O needs it.
ceph_conf() {
	mkdir -p /run/ceph/{mon,osd} && cat > $CEPH_CONF <<- EOF
	[global]
	fsid = $FSID
	mon host = [v2:$MY_IP4:3300,v1:$MY_IP4:6789]
	public addr = $MY_IP4
	auth cluster required = none
	auth service required = none
	auth client required = none
	mon data = /run/ceph/mon
	osd data = /run/ceph/osd
	bluestore block path = $SSD
	osd memory target = 939524096
	osd pool default size = 1
	osd pool default min size = 1
	osd crush chooseleaf type = 0
	mon allow pool size one = true
	mon data avail warn = 1
	mon data avail crit = 1
	rbd default map options = noudev
	log file = /run/ceph/\$name.log
	admin socket = /run/ceph/\$name.asok
	pid file = /run/ceph/\$name.pid
	EOF
}
ceph_mon() {
	monmaptool --create --addv x "[v2:$MY_IP4:3300,v1:$MY_IP4:6789]" --fsid $FSID \
		/run/ceph/monmap && ceph-mon --mkfs -i x --monmap /run/ceph/monmap &&
		ceph-mon -i x && timeout 120 ceph status
}
ceph_osd() {
	local uuid
	uuid=$(< /proc/sys/kernel/random/uuid)
	timeout 120 ceph osd new "$uuid" &&
		ceph-osd -i 0 --mkfs --osd-uuid "$uuid" --no-mon-config && ceph-osd -i 0
}
ceph_has() { timeout 60 ceph "${@:2}" | grep -q "$1"; }

wire_up
host_load
must "an NVMe SSD" ssd 0

step "a cluster of one node"
begin from
must "its configuration" ceph_conf
must "a monitor" ceph_mon
must "an OSD" ceph_osd
must_await 120 "the OSD is in" ceph_has "1 up.* 1 in" osd stat
must "a pool and an image" recipe ceph-image
echo "result ceph-up ms=$(ms_since "$from") rss_kb=$(ps -C ceph-mon,ceph-osd -o rss= |
	paste -sd+ | bc)"

step "the recipe"
export ADDRESS=$MY_IP4
must "mapped and exported" recipe ceph-export
must "connect" connect nqn.2026-01.test:rbd "$MY_IP4" 4420 -i 2
check_module nvmet-rdma
check_module nvme-rdma
get_disk nqn.2026-01.test:rbd 1
check "data" round_trip "$DISK" 65536

step "the OSD is killed under I/O"
ha_io
check "killed" kill -9 "$(< /run/ceph/osd.0.pid)"
check_await 30 "I/O stands" acked_stands
check "and does not fail" not acked_fails
check "it is started again" ceph-osd -i 0
ha_io_end ceph-osd-killed

step "the end"
check "disconnect" disconnect nqn.2026-01.test:rbd
check "the target is taken down" target_teardown
check "not mapped any more" rbd unmap -o noudev rbd/disk
check "the daemons end" eval 'kill $(cat /run/ceph/*.pid)'
all_down
finish
