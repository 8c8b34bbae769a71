#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   installed modules load by themselves; after removal the in-tree ones load again
# check:   6.1
# variants: none
# timeout: 400
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:install

# few_modules: /lib/modules contains only the modules that are needed here; depmod over all of a
# kernel's modules takes minutes under emulation
few_modules() {
	local all=/lib/modules/$VM_KVER few=/run/modules kind file
	mkdir -p "$few" && cp -P "$all"/modules.order "$all"/modules.builtin* \
		"$all/build" "$few/" || return 1
	for m in nvme-fabrics nvme-rdma nvmet-rdma rdma_rxe rdma_cm rdma_ucm \
		ib_uverbs null_blk dummy configfs crypto-crc32; do
		modprobe -S "$VM_KVER" --show-depends $m
	done | sort -u > /run/needed
	while read -r kind file _; do
		[ "$kind" = insmod ] || continue
		install -D -m 644 "$file" "$few/${file#"$all"/}" || return 1
	done < /run/needed
	mount --bind "$few" "$all" && depmod "$VM_KVER"
}

must "a small /lib/modules" few_modules
host_load
wire_up
must "a disk" null_disk nullb0 16

# expect_modules in-tree|DIRECTORY: which module the next check_module must find
expect_modules() { WANT_nvme_rdma=$1 WANT_nvmet_rdma=$1; }

# autoload: nobody loads either module; the port and the connect do. (nvme-cli
# does not load nvme-fabrics, which has the device it writes to.)
autoload() {
	check "no module is loaded yet" \
		gone /sys/module/nvme_rdma /sys/module/nvmet_rdma
	modprobe nvme-fabrics
	simple_target $N /dev/nullb0
	check_module nvmet-rdma
	must "connect" connect $N "$MY_IP4"
	check_module nvme-rdma
	get_disk $N 1
	check "data" round_trip "$DISK" 65536
	check "disconnect" disconnect $N
	check "the target is taken down" target_teardown
	unload nvme-rdma nvmet-rdma
}

step "before: the in-tree modules"
expect_modules in-tree
check "nvme-rdma is the kernel's" not is_ours nvme-rdma
check "nvmet-rdma is the kernel's" not is_ours nvmet-rdma
autoload

step "make install"
expect_modules "$VM_REPO/build/$VM_KVER"
# The modules are there already: only the last step of the build is done here.
must "make install" make -C "$VM_REPO" --no-print-directory install KVER="$VM_KVER"
check "nvme-rdma is ours" is_ours nvme-rdma
check "nvmet-rdma is ours" is_ours nvmet-rdma
autoload
equal "the version" "$(modinfo -F version nvme-rdma)" \
	"$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$VM_REPO/dkms.conf")"

step "make uninstall"
expect_modules in-tree
must "make uninstall" make -C "$VM_REPO" --no-print-directory uninstall KVER="$VM_KVER"
check "nvme-rdma is the kernel's" not is_ours nvme-rdma
check "nvmet-rdma is the kernel's" not is_ours nvmet-rdma
autoload
nothing_left
finish
