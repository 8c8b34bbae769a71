#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: what a guest cannot have is made up: files below a root, programs in PATH
# check:   none
# timeout: 300
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/doctor.sh"

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
equal "headers are missing" "apt install linux-headers-$VM_KVER" "${MEND[0]}"
mended "${MEND[1]}"
echo added > $FAKE/newest
finds dkms warning "for 99.1-test, the newest one: added" --root $FAKE/root
mended "${MEND[1]}"
no_dkms
printf '\x06\0\0\0\x01' |
	fake_file sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
finds secure-boot error "nvme-rdma is not signed" --root $FAKE/root
fake_program modinfo <<< 'echo "DKMS module signing key"'
clean_now "signed"
fake_none

step "RoCE"
echo "IB/RoCE v1" | fake_file sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode
finds roce-mode warning "RoCE v1 by default" --root $FAKE/root
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
finds target-refused warning "refused 3 connections .*\(refused_host_pending\)" --root $FAKE/root
fake_file sys/kernel/debug/nvmet_rdma/ports/1 <<< "refused_host_pending 0"
clean_now "none refused"
fake_file proc/meminfo <<< "MemTotal:       2048000 kB"
fake_file sys/module/nvmet_rdma/parameters/buffer_cache_mb <<< 1000
fake_file sys/module/nvmet_rdma/parameters/max_pending_mb <<< 1500
mkdir -p $FAKE/root/sys/class/infiniband/rxe0
finds target-memory warning "more than half of the 2000" --root $FAKE/root
fake_file sys/module/nvmet_rdma/parameters/buffer_cache_mb <<< 64
fake_file sys/module/nvmet_rdma/parameters/max_pending_mb <<< 0
clean_now "as it mends it"
fake_none

step "queues and counters"
H=sys/kernel/debug/nvme_rdma/nvme7
printf 'state live\npolled 0\nvector 3\n' | fake_file $H/queue1
printf 'state live\npolled 0\nvector 3\n' | fake_file $H/queue2
finds vectors warning "all 2 I/O queues of nvme7 have completion vector 3" --root $FAKE/root
printf 'state live\npolled 0\nvector 4\n' | fake_file $H/queue2
clean_now "with two vectors"
printf '   CPU0 CPU1\n 9: 90000 1 x mlx5_comp0@p\n 10: 90000 1 x mlx5_comp1@p\n' |
	fake_file proc/interrupts
finds vectors warning "processor 0 takes 180000 of 180002 interrupts" --root $FAKE/root
echo "error_work 3" | fake_file $H/queue1
finds counters-host warning "nvme7 counts error_work 3 in queue1" --root $FAKE/root
printf 'error_work 0\nerror_flush 3\n' | fake_file $H/queue1
clean_now "only flushed"
echo "error_sgl 2" | fake_file sys/kernel/debug/nvmet_rdma/hosts/nqn.x:y
mkdir -p $FAKE/root/sys/kernel/config/nvmet/ports/1
finds counters-target warning "the target counts error_sgl 2 in nqn.x:y" --root $FAKE/root
P=sys/class/infiniband/rxe0/ports/1/hw_counters
echo 100000 | fake_file $P/sent_pkts
echo 5 | fake_file $P/retry_rnr_exceeded_err
finds counters-device note "retry_rnr_exceeded_err of rxe0 is 5, of 100000" --root $FAKE/root
echo 500 | fake_file $P/completer_retry_err
finds counters-device warning "completer_retry_err of rxe0 is 500" --root $FAKE/root
echo 0-1 | fake_file sys/devices/system/node/online
echo 8-15 | fake_file sys/devices/system/node/node1/cpulist
echo 1 | fake_file sys/class/infiniband/rxe0/device/numa_node
finds numa note "rxe0 is at NUMA node 1 of 2, processors 8-15" --root $FAKE/root
mkdir -p $FAKE/root/sys/class/iommu/dmar0
echo DMA | fake_file sys/kernel/iommu_groups/3/type
finds iommu note "translates \(DMA\), strictly" --root $FAKE/root
echo identity | fake_file sys/kernel/iommu_groups/3/type
clean_now "passed through"
fake_none
all_down
finish
