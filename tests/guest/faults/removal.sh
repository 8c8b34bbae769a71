#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the target's subsystem, port, namespace or module is removed under I/O
# shares:  io
# check:   6.12
# timeout: 400
# allow:   kmemleak: 2 new suspected memory leaks|WARNING: .* at alloc_tag_module_unload\+
#
# nvmet leaks a namespace and the name of its disk here, also with the in-tree transport (6.12);
# kmemleak and the kernel's profile of allocations report them when nvmet is unloaded. They
# were allocated by mkdir and write.
. "$(dirname "$0")/../lib.sh"

KNOWN_LEAKS="configfs_mkdir|configfs_write_iter"
N=nqn.2026-01.test:removal
M=nqn.2026-01.test:bystander
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "another disk" memory_disk nullb1 32
simple_target $N /dev/nullb0
must "a second subsystem" subsys $M
must "its namespace" namespace $M 1 /dev/nullb1
must "a second port" port 2 "$MY_IP4" 4421
must "it listens" expose 2 $M
must "connect" connect $N "$MY_IP4" 4420 -c 1 -l 120 -i 2
first=$CTRL
must "connect to the second" connect $M "$MY_IP4" 4421 -c 1 -l 120 -i 1
second=$CTRL
get_disk $M 1
must "I/O on the second" io_start "$DISK"
second_pid=$IO_PID second_dev=$IO_DEV
get_disk $N 1

# The second subsystem works on whatever happens to the first.
second_moves() {
	local IO_DEV=$second_dev IO_COUNT=
	io_moves || :
	await 30 io_moves
}

step "the subsystem is unlinked from its port under I/O"
must "I/O" io_start "$DISK"
check "unlink" timeout 60 rm "$NVMET/ports/1/subsystems/$N"
check_await 30 "the host reconnects" state_is "$first" connecting
equal "only the second port listens" 1 "$(listeners)"
check "the second subsystem goes on" second_moves
check "link" expose 1 $N
check_await 60 "the host is back" state_is "$first" live
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop

step "the port is removed under I/O, and made anew"
must "I/O" io_start "$DISK"
check "unlink" timeout 60 rm "$NVMET/ports/1/subsystems/$N"
check "remove the port" timeout 60 rmdir "$NVMET/ports/1"
check "the second subsystem goes on" second_moves
check "the port anew" port 1 "$MY_IP4"
check "it listens" expose 1 $N
check_await 60 "the host is back" state_is "$first" live
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop

step "the namespace goes under I/O"
must "I/O" io_start "$DISK"
check "disable" timeout 60 dd of="$NVMET/subsystems/$N/namespaces/1/enable" \
	status=none <<< 0
check "fio saw the errors" io_errors
check_await 30 "its disk is gone" not has_disk $N 1
equal "the controller is live" live "$(state_of "$first")"
check "enable" dd of="$NVMET/subsystems/$N/namespaces/1/enable" status=none <<< 1
get_disk $N 1
check "data again" round_trip "$DISK" 65536

step "the subsystem is deleted with its controllers under I/O"
must "I/O" io_start "$DISK"
check "unlink" timeout 60 rm "$NVMET/ports/1/subsystems/$N"
check "no namespace" namespace_remove $N 1
check "no subsystem" timeout 60 rmdir "$NVMET/subsystems/$N"
check "the second subsystem goes on" second_moves
check "the host lets go" timeout 60 nvme disconnect -n $N
check "fio saw the errors" io_errors
check "the second subsystem goes on" second_moves

step "nvmet-rdma is unloaded with a host connected and I/O running"
equal "the second controller is live" live "$(state_of "$second")"
refuse 30 "not while a port is open" rmmod nvmet_rdma
# The module may go once nothing listens, and its queues then are still full of
# I/O: the unload begins before the unlink and succeeds at the first chance.
try_unload() {
	local end
	deadline end 60
	until rmmod nvmet_rdma 2> /dev/null; do
		! timed_out "$end" || return 1
	done
}

try_unload &
check "close the last port while the module is being unloaded" \
	timeout 60 rm "$NVMET/ports/2/subsystems/$M"
check "it was unloaded within its deadline" wait $!
equal "it is gone" "" "$(cat /sys/module/nvmet_rdma/refcnt 2> /dev/null)"
equal "nobody listens" 0 "$(listeners)"
check_await 30 "the host reconnects" state_is "$second" connecting
check "open the port again" expose 2 $M
check_await 60 "the host is back" state_is "$second" live
IO_PID=$second_pid IO_DEV=$second_dev IO_COUNT=
io_moves || :
check_await 20 "I/O goes on" io_moves
check "close the last port" timeout 60 rm "$NVMET/ports/2/subsystems/$M"
check "unload" timeout 60 rmmod nvmet_rdma
equal "nobody listens" 0 "$(listeners)"
check_await 30 "the host reconnects" state_is "$second" connecting
check "open the port: the module comes by itself" expose 2 $M
check_module nvmet-rdma
check_await 60 "the host is back" state_is "$second" live
IO_PID=$second_pid IO_DEV=$second_dev IO_COUNT=
io_moves || :
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop
all_down
left_behind() { dmesg | grep 'allocated at module unload' | grep -v 'module nvmet func:nvmet_ns_alloc'; }
check "no module has left other memory behind" not left_behind
finish
