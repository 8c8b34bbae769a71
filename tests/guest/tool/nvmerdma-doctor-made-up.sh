#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: states that a guest cannot have, simulated by files below another root and programs in PATH
# check:   none
# timeout: 400
#
# States that are possible in a guest are in nvmerdma-doctor and nvmerdma-doctor-wire.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/doctor.sh"

PATH=$VM_REPO/build/tools:$PATH

# why REGEX: the explanation of the last finding, and of its commands' interruptions, matches
why() { check "it says why: $1" grep -Eq "^ *why: .*$1" $DOCTOR_OUT; }

host_load
wire_up

step "modules"
fake_program modinfo <<'END'
case "$*" in
"-n nvme-rdma") echo /lib/modules/1/kernel/drivers/nvme/host/nvme-rdma.ko ;;
"-n nvmet-rdma") exit 1 ;;
esac
END
mkdir -p $FAKE/root
finds module-host warning "the kernel's own module" --root $FAKE/root
finds module-target note "no module nvmet-rdma"
rm $FAKE/bin/modinfo
clean_now "not with the real ones"

step "the target of this machine"
mkdir -p $FAKE/root/sys/kernel/config/nvmet/{ports/1,subsystems}
fake_file sys/kernel/debug/nvmet_rdma/ports/1 <<< "refused_host_pending 3"
fake_file sys/module/nvmet_rdma/parameters/host_pending <<< 4000
finds target-refused warning "refused 3 connections \(refused_host_pending\)" --root $FAKE/root
equal "twice what is in force" "echo 'options nvmet-rdma host_pending=8000 max_pending=40000' >>/etc/modprobe.d/zz-nvmerdma.conf" \
	"${MEND[0]}"
fake_none

step "a host that is refused"
N=nqn.2026-01.test:refused
must "a disk" memory_disk nullb0 16
must "a target of few connections" eval "modprobe nvmet-rdma host_queues=2 srq_size=512 &&
	subsys $N && namespace $N 1 /dev/nullb0 && port 1 $MY_IP4 && expose 1 $N"
connect $N "$MY_IP4" 4420 -i 2
DOCTOR_ARGS=()
finds target-refused warning "port 1 has refused [0-9]* connections? \(refused_host_queues\)"
why "takes all exports away for a moment: I/O of connected hosts waits"
equal "the command" "echo 'options nvmet-rdma host_queues=4' >>/etc/modprobe.d/zz-nvmerdma.conf" \
	"${MEND[0]}"
check "fix: ${MEND[0]}" bash -c "${MEND[0]}"
mended "${MEND[1]-false}"
equal "the limit" 4 "$(< /sys/module/nvmet_rdma/parameters/host_queues)"
equal "no file stays that may have keys" "" "$(ls /run/nvmerdma.json 2> /dev/null)"
disconnect $N > /dev/null 2>&1
check_await 10 "no controller is left" no_controllers
check "the host connects" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
check "data" round_trip "$DISK" 4096

step "any host may"
finds target-hosts note "any host may use $N"
why "only hosts that are connected now may connect, or come back"
mended
check "who was connected comes back" eval "disconnect $N && connect $N $MY_IP4 4420 -i 1"
disconnect $N > /dev/null 2>&1
check "the target is taken down" target_teardown
check "and its module" modprobe -r nvmet-rdma
rm /etc/modprobe.d/zz-nvmerdma.conf

all_down
finish
