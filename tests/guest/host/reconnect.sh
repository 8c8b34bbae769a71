#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the host's RDMA device is removed and comes back: its controllers are connected again with the same options by udev's rule and nvmerdma; those that ended otherwise stay gone
# with:    vrnic
# check:   none
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/feature.sh"
. "$GUEST_DIR/lib/nvmerdma.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:reconnect
M=nqn.2026-01.test:other
WAITING=/run/nvmerdma/waiting
WORDS=/run/reconnect.words
ATTRIBUTES=(address hostnqn hostid kato queue_count sqsize reconnect_delay ctrl_loss_tmo fast_io_fail_tmo)

# The rule of the package, with the tool that was built
udev_up() {
	mkdir -p /run/udev/rules.d &&
		sed "s|/usr/sbin/nvmerdma|$VM_REPO/build/tools/nvmerdma|" \
			"$VM_REPO/debian/nvme-rdma-tools.nvmerdma-reconnect.udev" \
			> /run/udev/rules.d/60-nvmerdma-reconnect.rules &&
		/lib/systemd/systemd-udevd --daemon
}

# What nvmerdma-reconnect.path does, as nobody runs systemd here
path_unit() {
	local pid=
	trap 'kill $pid 2> /dev/null; exit' TERM
	while :; do
		if [ -n "$(ls $WAITING 2> /dev/null)" ]; then
			nvmerdma reconnect >> $WORDS 2>&1 &
			pid=$!
			wait $pid
		fi
		nap 0.2
	done
}
path_up() { path_unit & PATH_PID=$!; }
path_down() { kill $PATH_PID && { wait $PATH_PID || :; }; }
told() { grep -qF -- "$1" $WORDS; }

waits() { [ "$(find $WAITING -type f 2> /dev/null | wc -l)" = "$1" ]; }
controllers_are() { [ "$(controllers | wc -w)" = "$1" ]; }
kept() { [ -e "/run/nvmerdma/connected/$1" ]; }
live_of() { # NQN NUMBER: that many controllers, all live
	local c n=0
	for c in $(controllers "$1"); do
		state_is "$c" live || return 1
		n=$((n + 1))
	done
	[ $n = "$2" ]
}
options_of() { cat "/sys/kernel/debug/nvme_rdma/$1/options"; }
attributes_of() { local a; for a in "${ATTRIBUTES[@]}"; do echo "$a $(ctrl_attr "$a" "$1")"; done; }

device_goes() { timeout 60 rdma link delete $HOST_DEV; }
device_comes() { rdma link add "${1-$HOST_DEV}" type vrnic netdev eth1; }

must "udev" udev_up
: > $WORDS
path_up
host_load
vrnic_wire roce
must "a disk" memory_disk nullb0 64
must "another disk" memory_disk nullb1 32
simple_target $N /dev/nullb0 "$TARGET_IP"
must "another subsystem" subsys $M
must "its disk" namespace $M 1 /dev/nullb1
must "it is offered" expose 1 $M

step "one path: it is back by itself, as it was"
must "connect" connect_wire $N -i 2 -W 1 -P 1 -Q 32 -k 7 -c 3 -l 300
must "an option that sysfs changes" eval "echo 11 > /sys/class/nvme/$CTRL/fast_io_fail_tmo"
must "udev hears of it" udevadm trigger --action=change "/sys/class/nvme/$CTRL"
must_await 20 "its options are kept, and that one" \
	grep -q fast_io_fail_tmo=11 "/run/nvmerdma/connected/$CTRL"
first=$CTRL
before=$(attributes_of "$first") options=$(options_of "$first")
echo "$options"
equal "nobody else may read them" "700 600" \
	"$(stat -c %a /run/nvmerdma "/run/nvmerdma/connected/$first" | xargs)"
get_disk $N 1
must "I/O" io_start "$DISK"
check "the device goes" device_goes
check_await 30 "fio saw the errors" io_errors
check_await 20 "its controller waits" waits 1
nap 5
equal "there is no controller" "" "$(controllers)"
nvmerdma reconnect --list
check "the tool says for what it waits" eval "nvmerdma reconnect --list | grep -F '$N at $TARGET_IP:4420: eth1 has no RDMA device'"
check "the device comes" device_comes
check_await 60 "the controller is back" live_of $N 1
CTRL=$(controllers $N)
equal "its attributes are the same" "$before" "$(attributes_of "$CTRL")"
equal "so are its options" "$options" "$(options_of "$CTRL")"
check_await 20 "nothing waits any more" waits 0
check "the tool says so" told "$N at $TARGET_IP:4420 is connected again, as $CTRL"
get_disk $N 1
check "data" round_trip "$DISK" 65536

step "with another name"
check "the device goes" device_goes
nap 2
check "another one comes" device_comes other7
check_await 60 "the controller is back" live_of $N 1
HOST_DEV=other7
check "the device goes" device_goes
HOST_DEV=vrnic1
check "the first one comes" device_comes
check_await 60 "the controller is back" live_of $N 1

step "what ended otherwise stays gone"
CTRL=$(controllers $N)
must "connect to the other" connect_wire $M -i 1 -c 1 -l 2
check_await 20 "its options are kept" kept "$CTRL"
check "disconnect the first" disconnect $N
check "the other is no more offered" conceal 1 $M
check_await 60 "ctrl_loss_tmo ends it" no_controllers
check_await 20 "no options are kept" eval '! ls /run/nvmerdma/connected | grep .'
check "it is offered again" expose 1 $M
check "the device goes" device_goes
nap 2
check "the device comes" device_comes
nap 8
equal "nothing is connected" "" "$(controllers)"
check "and nothing waits" waits 0

step "a user who does not want it back, and one who connects it by hand"
must "connect" connect_wire $N -i 1
must "connect to the other" connect_wire $M -i 1
check_await 20 "its options are kept" kept "$CTRL"
check "the device goes" device_goes
check_await 20 "both wait" waits 2
check "forget one" nvmerdma reconnect --forget $M
check "the unit stops" path_down
check "the device comes" device_comes
must_await 20 "it is active" rxe_ready $HOST_DEV
check "connect by hand, with other options" connect $N "$TARGET_IP" 4420 -i 1
hand=$CTRL
path_up
check_await 20 "nothing waits any more" waits 0
check "the tool says so" told "is connected already, as $hand"
nap 5
equal "there is the one controller" "$hand" "$(controllers)"
check "disconnect" disconnect $N

step "the module is unloaded: that is no removal of a device"
must "connect" connect_wire $N -i 1
check_await 20 "its options are kept" kept "$CTRL"
check "unload" timeout 60 modprobe -r nvme-rdma
nap 3
check "nothing waits" waits 0
equal "nothing is connected" "" "$(controllers)"
must "modprobe" modprobe nvme-rdma

step "a persistent discovery controller"
check "discover" discover "$TARGET_IP" 4420 -w "$HOST_IP" -p
CTRL=$(controllers)
check_await 20 "its options are kept" kept "$CTRL"
check "discover for a moment" discover "$TARGET_IP" 4420 -w "$HOST_IP"
check "the device goes" device_goes
nap 2
check "the device comes" device_comes
check_await 60 "it is back, and only it" controllers_are 1
CTRL=$(controllers)
equal "it is one for discovery" discovery "$(ctrl_attr cntrltype)"
check "disconnect" nvme disconnect -d "$CTRL"

step "two paths: no error reaches the application"
must "connect" connect_wire $N -i 1
first=$CTRL
# the other path leads over the target's device
must "another path" connect $N "$TARGET_IP" 4420 -w "$TARGET_IP" -i 1
second=$CTRL
check_await 20 "its options are kept" kept "$CTRL"
get_disk $N 1
must "both paths carry I/O" round_robin
must "I/O" acked_start "$DISK"
for away in 5 20; do
	check "the device goes, for $away s" device_goes
	nap $away
	check_await 20 "I/O goes on" acked_moves
	check "the device comes" device_comes
	check_await 60 "both paths are back" live_of $N 2
	check "the other path was left alone" state_is "$second" live
done
first=$(controllers $N | grep -vx "$second")
check "both paths carry I/O" round_robin
check_await 30 "both do" both_move "$first" "$second"
check "no I/O error, and every acknowledged write is there" acked_clean

step "the end"
cat $WORDS
check "disconnect" disconnect_all
check_await 20 "no options are kept" eval '! ls /run/nvmerdma/connected | grep .'
check "the unit stops" path_down
check "no udev" udevadm control --exit
vrnic_down
finish
