#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: states that a guest cannot have, simulated by files below another root and programs in PATH
# check:   none
# timeout: 400
#
# No guest has RoCE v1, which soft-RoCE lacks, or a signed kernel with Secure Boot. States that
# are possible in a guest are also in nvmerdma-doctor-real.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/doctor.sh"

PATH=$VM_REPO/build/tools:$PATH

# why REGEX: the explanation of the last finding, and of its commands' interruptions, matches
why() { check "it says why: $1" grep -Eq "^ *why: .*$1" $DOCTOR_OUT; }
# shows REGEX: the first command that was printed shows that
shows() { check "'${MEND[0]-}' shows $1" _shows "$1"; }
_shows() { bash -c "${MEND[0]-false}" | grep -E -- "$1"; }

host_load
wire_up

step "modules"
fake_program modinfo <<'END'
case "$*" in
"-n nvme-rdma") echo /lib/modules/1/kernel/drivers/nvme/host/nvme-rdma.ko ;;
"-F vermagic nvme-rdma") echo "5.4.0-1 SMP mod_unload" ;;
"-n nvmet-rdma") exit 1 ;;
esac
END
mkdir -p $FAKE/root
finds module-host warning "the kernel's own module" --root $FAKE/root
finds module-kernel error "nvme-rdma is built for the kernel 5.4.0-1, and"
finds module-target note "no module nvmet-rdma"
rm $FAKE/bin/modinfo
clean_now "not with the real ones"
DOCTOR_CHECK=module-kernel
clean_now "nor that"

step "DKMS and Secure Boot, made up"
mkdir -p "$FAKE/root/lib/modules/$VM_KVER/kernel" $FAKE/root/lib/modules/99.1-test/kernel
fake_program dkms <<END
case "\$1" in
status) echo "nvme-rdma/0.1.0, $VM_KVER, x86_64: \$(cat $FAKE/now)"
	echo "nvme-rdma/0.1.0, 99.1-test, x86_64: \$(cat $FAKE/newest)" ;;
install) [ "\$2 \$3 \$5" = "nvme-rdma/0.1.0 -k --force" ] &&
	case "\$4" in 99*) echo installed > $FAKE/newest ;; *) echo installed > $FAKE/now ;; esac ;;
esac
END
echo built > $FAKE/now
echo installed > $FAKE/newest
finds dkms error "for [^ ]*, which runs: built" --root $FAKE/root
why "the kernel's own modules are used"
equal "headers are missing" "apt install linux-headers-$VM_KVER" "${MEND[0]}"
mended "${MEND[1]}"
echo added > $FAKE/newest
finds dkms warning "for 99.1-test, the newest one: added" --root $FAKE/root
mended "${MEND[1]}"
echo "installed (WARNING! Diff between built and installed module!)" > $FAKE/now
finds dkms warning "is not as DKMS has built it: installed \(WARNING" --root $FAKE/root
mended
echo "installed (original_module exists)" > $FAKE/now
clean_now "the kernel's own was put aside"
no_dkms
printf '\x06\0\0\0\x01' |
	fake_file sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
fake_program modinfo <<END
case "\$2" in signer) [ ! -e $FAKE/signed ] || echo "DKMS module signing key" ;; *) echo 0.1.0 ;; esac
END
fake_program dkms <<END
case "\$1 \$2 \$4 \$5" in "build nvme-rdma/0.1.0 $VM_KVER --force") touch $FAKE/built ;;
"install nvme-rdma/0.1.0 $VM_KVER --force") mv $FAKE/built $FAKE/signed ;; esac
END
finds secure-boot error "nvme-rdma is not signed" --root $FAKE/root
why "Key was rejected by service"
equal "and its key is enrolled" "mokutil --import /var/lib/dkms/mok.pub" "${MEND[1]-}"
mended
touch $FAKE/unknown
fake_program mokutil <<END
case "\$1" in --import) rm $FAKE/unknown ;; esac
if [ -e $FAKE/unknown ]; then echo "\$2 is not enrolled"; else echo "\$2 is already enrolled"; exit 1; fi
END
finds secure-boot error "signed by DKMS module signing key, whose key is not enrolled" --root $FAKE/root
mended "${MEND[0]}; true"
fake_none

step "RoCE"
echo "IB/RoCE v1" | fake_file sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode
finds roce-mode warning "RoCE v1 by default" --root $FAKE/root
why "v1 passes no router"
mended
fake_none
dir=$FAKE/root/sys/class/infiniband/rxe0/ports/1
mkdir -p $dir/gids $dir/gid_attrs/types
echo "0000:0000:0000:0000:0000:ffff:0a4d:0001" > $dir/gids/0
echo "IB/RoCE v1" > $dir/gid_attrs/types/0
finds roce-version warning "RoCE v1 alone" "$MY_IP4" --root $FAKE/root
echo "RoCE v2" > $dir/gid_attrs/types/0
clean_now "with v2"
fake_none

step "the target of this machine"
mkdir -p $FAKE/root/sys/kernel/config/nvmet/{ports/1,subsystems}
fake_file sys/kernel/debug/nvmet_rdma/ports/1 <<< "refused_host_pending 3"
fake_file sys/module/nvmet_rdma/parameters/host_pending <<< 4000
finds target-refused warning "refused 3 connections .*\(refused_host_pending\)" --root $FAKE/root
equal "twice what is in force" "echo 'options nvmet-rdma host_pending=8000 max_pending=40000' >>/etc/modprobe.d/zz-nvmerdma.conf" \
	"${MEND[0]}"
fake_none

step "a host that is refused"
N=nqn.2026-01.test:refused
must "a disk" null_disk nullb0 16
must "a target of few connections" eval "modprobe nvmet-rdma host_queues=2 srq_size=512 &&
	subsys $N && namespace $N 1 /dev/nullb0 && port 1 $MY_IP4 && expose 1 $N"
connect $N "$MY_IP4" 4420 -i 2
DOCTOR_ARGS=()
finds target-refused warning "port 1 has refused [0-9]* connections? by .*\(refused_host_queues\)"
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

step "queues and counters"
H=sys/kernel/debug/nvme_rdma/nvme7
# of_64_queues WORDS: the content of their files
of_64_queues() {
	local i
	mkdir -p "$FAKE/root/$H"
	for ((i = 1; i <= 64; i++)); do printf "%b" "$1" > "$FAKE/root/$H/queue$i"; done
}
of_64_queues 'error_connection_lost 1\nerror_work 1\nwait_no_mr 3\n'
finds counters-host warning \
	"nvme7 counts error_connection_lost 64, error_work 64 in 64 queues" --root $FAKE/root
equal "one finding for one lost connection" 1 "$(grep -c '^[a-z]* *\[' $DOCTOR_OUT)"
why "something went wrong since it was connected"
echo "<4>nvme nvme7: queue 1 to nobody: made up" > /dev/kmsg
shows "queue 1 to nobody: made up"
of_64_queues 'error_work 0\nerror_flush 3\nwait_no_mr 3\n'
clean_now "only flushed, and regions were made"
echo "wait_no_slot 5" | fake_file $H/queue1
finds counters-host note "nvme7 counts wait_no_slot 5 in queue1" --root $FAKE/root
echo "error_sgl 2" | fake_file sys/kernel/debug/nvmet_rdma/hosts/nqn.x:y
mkdir -p $FAKE/root/sys/kernel/config/nvmet/ports/1
finds counters-target warning "the target counts error_sgl 2 in nqn.x:y" --root $FAKE/root
echo "<4>nvmet_rdma: host made up" > /dev/kmsg
shows "host made up"
P=sys/class/infiniband/rxe0/ports/1/hw_counters
echo 100000 | fake_file $P/sent_pkts
echo 5 | fake_file $P/retry_rnr_exceeded_err
finds counters-device note "retry_rnr_exceeded_err of rxe0 is 5, of 100000" --root $FAKE/root
why "found no receive at the other side"
shows "^link rxe0/1 .*sent_pkts"
echo 500 | fake_file $P/completer_retry_err
finds counters-device warning "completer_retry_err of rxe0 is 500" --root $FAKE/root
why "packets were lost or came in another order"
fake_none
all_down
finish
