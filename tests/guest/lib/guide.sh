# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The guide's pages in two guests, target and host. 'pages_run PATTERN' runs the commands of the
# matching pages in their order; other functions run single blocks.

# What stands in the pages, and its replacement in these guests. Addresses, disks and names of
# hosts are set up below as in the pages.
declare -A HERE=(
	[enp65s0f0np0]=eth0
	[rocep65s0f0]=rxe0
)
# Replacements for programs that are missing here: a way from one guest to the other; nvmetcli,
# which is unpacked and not installed; and dkms, which would report on the machine below
SHARED=$SYNC/files
stand_ins() {
	mkdir -p /usr/local/sbin "$SHARED"
	cat > /usr/local/sbin/scp <<- END
		#!/bin/bash
		# scp FILE MACHINE:FILE
		mkdir -p "$SHARED/\$(dirname "\${2#*:}")" && cp "\$1" "$SHARED/\${2#*:}"
	END
	cat > /usr/local/sbin/nvmetcli <<- END
		#!/bin/bash
		export PYTHONPATH=$VM_REPO/build/tools/nvmetcli/usr/lib/python3/dist-packages HOME=/run
		exec /usr/bin/python3 $VM_REPO/build/tools/nvmetcli/usr/bin/nvmetcli "\$@"
	END
	printf '#!/bin/sh\n' > /usr/local/sbin/dkms
	ln -sf "$VM_REPO/build/tools/nvmerdma" /usr/local/sbin/nvmerdma
	chmod +x /usr/local/sbin/*
}
# the blocks that were sent to this guest have arrived
receive() {
	local f
	[ "$SIDE" = target ] || return
	for f in $(cd "$SHARED" && find . -type f); do
		install -m 644 "$SHARED/$f" "/$f" && rm "$SHARED/$f"
	done
}

HOSTNQN=nqn.2014-08.org.nvmexpress:uuid:6f1c2a0e-4c1b-4f0e-9a57-2d6b7e3f9c11
HOSTID=6f1c2a0e-4c1b-4f0e-9a57-2d6b7e3f9c11
BLOCKS=/run/blocks
SIDE=$VM_NAME
PAGE=
declare -A WAY_MS=()

# in_order: the SSDs are found side by side; then one after the other, for their names
in_order() {
	local n addrs=()
	for n in 0 1; do
		addrs+=("$(basename "$(readlink -f "$(dirname "$(grep -l "^vm-ssd-$n" \
			/sys/class/nvme/nvme*/serial)")/device")")")
	done
	for n in 0 1; do echo "${addrs[n]}" > /sys/bus/pci/drivers/nvme/unbind || return 1; done
	for n in 0 1; do
		echo "${addrs[n]}" > /sys/bus/pci/drivers/nvme/bind && await 20 _ssd $n || return 1
	done
	_ssd 0
}

# as_new: the state at the start of a page, whatever the previous page left
as_new() {
	local m
	for m in $(findmnt -rno TARGET -S /dev/nvme1n1; findmnt -rno TARGET -S /dev/nvme2n1); do
		umount "$m"
	done
	nvme disconnect-all > /dev/null 2>&1
	target_teardown
	[ -z "$(controllers)" ] || await 20 no_controllers
	rm -f /etc/modprobe.d/nvm*-rdma.conf /etc/nvme/discovery.conf /etc/nvme/config.json
	rm -rf /etc/nvmet /etc/nvme/*.key* "${SHARED:?}"/* /data
	nft flush ruleset 2> /dev/null
	await 20 modprobe -r nvme-rdma nvmet-rdma nvme-fabrics
	echo "$START_FSTAB" > /etc/fstab
	blkdiscard -f -z -l 8M /dev/nvme0n1 2> /dev/null
}

# here FILE: prints the block as adapted to this guest
here() {
	local text word
	text=$(< "$1")
	for word in "${!HERE[@]}"; do text=${text//"$word"/${HERE[$word]}}; done
	printf '%s\n' "$text"
}

# run_block NUMBER STATUS: runs a block, which may end with 0 or with STATUS
run_block() {
	local rc
	here "$BLOCKS/$1.sh" > /run/block.sh
	(cd /root && timeout 150 bash -e -o pipefail /run/block.sh)
	rc=$?
	[[ ",0,$2," == *,$rc,* ]] || { echo "it ended with $rc"; return 1; }
}

# each controller has a disk, but for one that is for discovery alone
disks_there() {
	local c
	for c in $(controllers); do
		grep -q discovery "/sys/class/nvme/$c/subsysnqn" ||
			compgen -G "/sys/class/nvme/$c/nvme*n*" > /dev/null || return 1
	done
	compgen -G "/dev/nvme[1-9]n1" > /dev/null
}

# The target has seen the host go
nobody_connected() { ! compgen -G "$SHOWN/queues/*" > /dev/null; }

# kernel_from VERSION: this kernel has it
kernel_from() {
	[ "$1" = - ] || [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# meet WHERE: both wait for each other, before each block
declare -A OTHER=([target]=host [host]=target)
meet() {
	signal_peers "$SIDE-at-${1// /-}"
	wait_for "${OTHER[$SIDE]}-at-${1// /-}" 200
}

block() { # NUMBER SIDE PAGE LINE FROM WAY COMPARE STATUS NOT_RUN
	local n=$1 side=$2 page=$3 at="${3##*/}:$4" from=$5 way=$6 compare=$7 status=$8 why=$9 begun
	if [ "$page" != "$PAGE" ]; then
		meet "end of ${PAGE##*/}"
		step "$page"
		as_new
		PAGE=$page
	fi
	if [ "$why" != - ]; then
		[ "$SIDE" != target ] || echo "not run - $at: $why"
		return
	fi
	if ! kernel_from "$from"; then
		not_here "$at takes a kernel from $from on"
		return
	fi
	meet "$n"
	[ "$side" = both ] || [ "$side" = "$SIDE" ] || return
	receive
	! grep unexport "$BLOCKS/$n.sh" | grep -qv force || await 60 nobody_connected
	begin begun
	check "$at: $(grep -m 1 -v '^#' "$BLOCKS/$n.sh")" run_block "$n" "$status"
	[ "$way" = - ] || WAY_MS[$way]=$((${WAY_MS[$way]:-0} + $(ms_since "$begun")))
	cp "$CHECK_OUT" /run/printed
	sed 's/^/    /' /run/printed | head -n 60
	# a person types more slowly than the host finds disks
	! grep -q '^nvme connect' "$BLOCKS/$n.sh" || check_await 20 "disks are there" disks_there
	[ "$compare" = - ] || check "it printed what the page has" "$VM_REPO/tests/docs-check" \
		same "$page" "$4" /run/printed
}

# pages_run PATTERN: runs the blocks of the pages whose paths match, then ends the scenario
pages_run() {
	local entry fields way list

	stand_ins
	must "the pages' blocks" "$VM_REPO/tests/docs-check" blocks $BLOCKS
	must "RDMA for programs" modprobe -a rdma_ucm ib_uverbs
	# hosts and disks as the pages have them
	host_ids
	echo 0123456789abcdef0123456789abcdef > /etc/machine-id
	START_FSTAB=$(cat /etc/fstab)
	must "an NVMe SSD" ssd 0
	[ "$SIDE" = host ] || must "the SSDs have the numbers in their order" in_order
	equal "it has the name that it has in the pages" /dev/nvme0n1 "$SSD"
	mapfile -t list < <(awk -F '\t' -v pages="$1" '$3 ~ pages' $BLOCKS/index)
	check "there are blocks" at_least 20 ${#list[@]}
	for entry in "${list[@]}"; do
		IFS=$'\t' read -r -a fields <<< "$entry"
		block "${fields[@]}"
	done
	for way in "${!WAY_MS[@]}"; do echo "result $SIDE way=$way ms=${WAY_MS[$way]}"; done
	meet end
	as_new
	RESOURCES[start]=$(resources)
	all_down
	finish
}
