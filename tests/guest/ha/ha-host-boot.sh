#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a host's boot: nvme-cli connects to both targets with the timeouts of ha.md, udev sets fast_io_fail_tmo for the legs of RAID1, and md finds its array
# check:   none
# mem:     1024
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/feature.sh"
. "$GUEST_DIR/lib/ha.sh"

HA=nqn.2026-01.test:ha
LEGS=(nqn.2026-01.test:leg-a nqn.2026-01.test:leg-b)

# boots NQN...: does what a boot does; nvmf-autoconnect.service is 'nvme connect-all'
boots() {
	local n
	check "it connects" nvme connect-all
	for n; do must_await 20 "$n is live" live_at "$n"; done
}
live_at() {
	CTRL=$(controllers "$1")
	[ -n "$CTRL" ] && state_is "$CTRL" live
}
fast_io_fail_tmo_is() { [ "$(ctrl_attr fast_io_fail_tmo)" = "$1" ]; }
timeouts_are() { # CTRL_LOSS_TMO FAST_IO_FAIL_TMO
	equal "keep_alive_tmo" 5 "$(ctrl_attr kato)"
	equal "reconnect_delay" 1 "$(ctrl_attr reconnect_delay)"
	equal "ctrl_loss_tmo" "$1" "$(ctrl_attr ctrl_loss_tmo)"
	check_await 10 "fast_io_fail_tmo is $2" fast_io_fail_tmo_is "$2"
}
array_there() { grep -q '^md0 : active.* raid1 .*\[[01]\].*\[[01]\]' /proc/mdstat; }

host_load
wire_up
must "the address of the other target" ip addr add 10.77.0.2/24 dev eth0
must "udev" /lib/systemd/systemd-udevd --daemon
id=0
for n in "${LEGS[@]}" $HA; do
	id=$((id + 1))
	must "a disk" memory_disk nullb$id 32
	must "$n" subsys "$n"
	must "its disk" namespace "$n" 1 /dev/nullb$id
done
must "target a" port 1 10.77.0.1
must "target b" port 2 10.77.0.2

step "RAID1 on the host"
must "leg a is offered" expose 1 "${LEGS[0]}"
must "leg b is offered" expose 2 "${LEGS[1]}"
must "the recipe" recipe md-host-boot
boots "${LEGS[@]}"
for n in "${LEGS[@]}"; do
	CTRL=$(controllers "$n")
	timeouts_are off 5
	get_disk "$n" 1
done
must "the array" recipe md-create
must "its name is kept" recipe md-host-array
grep ARRAY /etc/mdadm/mdadm.conf
check "no array" mdadm --stop /dev/md0
check "it goes down" disconnect_all
boots "${LEGS[@]}"
check_await 30 "the array is there by itself" array_there
cat /proc/mdstat
check "no array" mdadm --stop /dev/md0
check "it goes down" disconnect_all
check "a is offered no more" conceal 1 "${LEGS[0]}"
check "b is offered no more" conceal 2 "${LEGS[1]}"

step "two targets over DRBD"
must "no other line" rm /etc/nvme/discovery.conf
must "offered" expose 1 $HA
must "the recipe" recipe drbd-host-boot
# the other target is not there: that is no error of the first
nvme connect-all
must_await 20 "it is live" live_at $HA
timeouts_are 600 off
check "it goes down" disconnect_all

check "no udev" udevadm control --exit
all_down
finish
