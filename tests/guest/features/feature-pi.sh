#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    T10 protection information over a device with signature offload: generated, passed, checked and stripped on either side, errors on the wire and on the disk, passthrough, and a device without it
# disks:    64M:ms=8,pi=1 64M:ms=8,pi=3,logical_block_size=4096,physical_block_size=4096 64M:ms=8,pi=2,pil=1 64M
# variants: ours sides none
# check:   none
# with:     vrnic
# append:   nvme_core.multipath=N init_on_free=1
# timeout:  500
# allow:    DMA-API: (nvme [0-9a-f:.]+|platform vrnic[01]): cacheline tracking EEXIST|WARNING: .* at add_dma_entry\+
#
# The block layer asks for a few bytes of metadata for each of a page's blocks, which the
# driver of a PCI SSD, or a host for its RDMA device, maps one by one: two may be in one
# cache line.
FABRIC=vrnic
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:pi
NIC=/sys/kernel/debug/vrnic/$RDMA_DEV
META=/run/meta
DATA=/run/data
OUT=/run/out
NONE=64		# an application tag mask that looks at nothing

host_is_ours() { [ "${WANT_nvme_rdma-}" != in-tree ]; }
target_is_ours() { [ "${WANT_nvmet_rdma-}" != in-tree ]; }

target_up() {
	local nsid=0 disk
	subsys $N && _put $NVMET/subsystems/$N/attr_pi_enable 1 || return 1
	for disk; do
		nsid=$((nsid + 1))
		namespace $N $nsid "$disk" || return 1
	done
	port 1 "$MY_IP4" && _put $NVMET/ports/1/param_pi_enable 1 &&
		expose 1 $N
}

integrity() { cat "/sys/block/${DISK##*/}/integrity/$1"; }
no_integrity() { ! grep -q T10 "/sys/block/${DISK##*/}/integrity/format"; }
dps() { nvme id-ns "$DISK" | sed -n 's/^dps *: //p'; }
fault() { echo "$* from=nvmet_rdma" > $NIC/faults; }
no_violation() { ! dmesg | grep -F "$RDMA_DEV: violation"; }
counter() { sed -n "s/^$1 //p" $NIC/counters; }
reads() { dd if="$DISK" of=$OUT bs="$1" count=1 skip="${2:-0}" iflag=direct status=none; }
writes() { dd if=$DATA of="$DISK" bs="$1" count=1 seek="${2:-0}" oflag=direct status=none; }
same() { cmp $DATA $OUT; }

# io read|write PRINFO [LBA [APPTAG MASK]]: 4 KiB by passthrough, with metadata
# apart. Nothing else is sent, so that a fault meets this command.
io() {
	local way=$1 prinfo=$2 lba=${3:-0} tag=${4:-0} mask=${5:-0} args
	args=(--opcode=1 --write --input-file=$DATA)
	[ "$way" = write ] || args=(--opcode=2 --read --raw-binary)
	[ "$META_LEN" = 0 ] || args+=(--metadata-len="$META_LEN" --metadata=$META)
	nvme io-passthru "$DISK" "${args[@]}" --namespace-id="$NSID" \
		--data-len="$DATA_LEN" --cdw10="$lba" \
		--cdw12=$((prinfo << 26 | 4096 / BLOCK - 1)) \
		--cdw14="$lba" --cdw15=$((mask << 16 | tag)) > $OUT
}
DATA_LEN=4096

# fails COMMAND...: does not hang, does not succeed
fails() { ! "$@" || { echo "it succeeded"; return 1; }; }

# gives STATUS io ARGS...: the command ends with this status
gives() {
	local status=$1
	shift
	! "$@" 2> /run/err || { echo "it succeeded"; return 1; }
	cat /run/err
	grep -q "($status)" /run/err
}

# use NSID: sets DISK, NSID, BLOCK, and how much metadata 4 KiB have
use() {
	get_disk $N "$1"
	NSID=$1
	BLOCK=$(cat "/sys/block/${DISK##*/}/queue/logical_block_size")
	META_LEN=$((4096 / BLOCK * 8))
}

host_load
for i in 0 1 2 3; do
	must "SSD $i" ssd $i
	SSDS[i]=$SSD
done
head -c 4096 /dev/urandom > $DATA

step "a device without signature offload"
# Acknowledgments are late: until they arrive the memory must not change, and freed memory is
# overwritten.
must "vrnic" modprobe vrnic integrity=N ack_lag=8
wire_up
mark
must "a target" target_up "${SSDS[0]}"
must "connect" connect $N "$MY_IP4" 4420 -k 600
said 5 "the target says so" "port 1:.* no integrity offload|T10-PI is not supported"
use 1
equal "param_pi_enable was taken back" 0 "$(cat $NVMET/ports/1/param_pi_enable)"
check "the disk has no protection information" no_integrity
equal "nor does Identify say so" 0 "$(dps)"
check "data" round_trip "$DISK" 65536
disconnect_all > /dev/null 2>&1
must "the target is taken down" target_teardown
must_await 20 "no controller is left" no_controllers
unload nvme-rdma nvmet-rdma
must "a device with signature offload" eval 'rdma link delete $RDMA_DEV &&
	echo Y > /sys/module/vrnic/parameters/integrity &&
	rdma link add $RDMA_DEV type vrnic netdev eth0 && modprobe nvme-fabrics'
must_await 20 "it is active" rxe_ready "$RDMA_DEV"

step "formats"
must "a target" target_up "${SSDS[@]}"
equal "the port has protection information" 1 "$(cat $NVMET/ports/1/param_pi_enable)"
must "connect" connect $N "$MY_IP4" 4420 -k 600
check_module nvme-rdma
check_module nvmet-rdma
use 1
equal "type 1 of blocks of 512" "T10-DIF-TYPE1-CRC 512 1" \
	"$(integrity format) $BLOCK $(dps | sed s/0x//)"
use 2
equal "type 3 of blocks of 4096" "T10-DIF-TYPE3-CRC 4096 3" \
	"$(integrity format) $BLOCK $(dps | sed s/0x//)"
use 3
# for nvmet a disk has a reference tag or not: it is of type 1 or 3
equal "type 2 is exported as type 1" "T10-DIF-TYPE1-CRC 512 1" \
	"$(integrity format) $BLOCK $(dps | sed s/0x//)"
use 4
check "a namespace without, beside them" no_integrity

step "data"
for i in 1 2 3 4; do
	use $i
	regs=$(counter wr_reg) sends=$(counter wr_send)
	# of the first, as much as is sent at once, and more
	for size in "$BLOCK" 65536 $((i == 1 ? 1048576 : 4096)); do
		check "$size bytes on namespace $i" round_trip "$DISK" $size
	done
	check "fio on namespace $i" fio_verify "$DISK" 1M \
		--iodepth_batch_submit=8
	# a command is two SENDs; a target registers only memory with a signature
	regs=$(($(counter wr_reg) - regs)) sends=$(($(counter wr_send) - sends))
	if [ $i = 4 ]; then
		check "by registrations on one side" at_most $sends $((regs * 5 / 3))
	else
		check "by registrations on both sides" at_least $sends $((regs * 10 / 9))
	fi
	# the reader behind the fabric, the SSD, checks it as well
	equal "the SSD has the data of namespace $i" \
		"$(sum_of "$DISK" 65536)" "$(sum_of "${SSDS[i - 1]}" 65536)"
done
check "no rule was broken" no_violation

# The wire has 8 bytes behind each block. A fault by NTH meets the I/O queues:
# the admin queue moves no data meanwhile.
step "changed on the way to the host"
use 1
check "4 KiB" writes 4096
mark
check "a fault" fault corrupt write 1 2605
check "a read" reads 4096
check "was done once more, and is right" same
said 5 "the host saw it" "rotection information: guard expected|PI error found type 0"
! host_is_ours || said 5 "the block's end is named" "at byte 3112 of"
check "metadata" nvme read "$DISK" -s 0 -c 7 -z 4096 -y 64 -d $OUT -M $META -p 0
cp $META /run/meta.good
check "a fault" fault corrupt write 1 5
check "data: guard check error" gives 0x282 io read 7
check "a fault" fault corrupt write 1 $((520 * 7 + 519))
check "reference tag: reference tag check error" gives 0x284 io read 7
if host_is_ours; then
	check "a fault" fault corrupt write 1 514
	check "application tag: application tag check error" \
		gives 0x283 io read 7 0 0 0xffff
fi
check "a fault" fault corrupt write 1 514
check "application tag, of which the mask takes nothing" \
	io read 7 0 0 $NONE
check "a fault" fault corrupt write 1 5
check "nothing is to be checked" io read 0
check "and so the data is wrong" not same
! host_is_ours || equal "the host counts four errors" 4 \
	"$(key_sum error_protection "/sys/kernel/debug/nvme_rdma/$CTRL"/queue*)"

step "changed on the way to the target"
check "a fault" fault corrupt read 1 $((520 * 5 + 3))
mark
check "a write" writes 4096
check "reads" reads 4096
check "was done once more, and is right" same
said 5 "the target saw it" "protection information of block|PI error found type 0"
! target_is_ours || said 5 "the block is named" "invalid protection information of block 5:"
cp $DATA /run/data.old
head -c 4096 /dev/urandom > $DATA
sum=$(sum_of "${SSDS[0]}" 4096)
check "a fault" fault corrupt read 1 515
check "it does not fit: guard check error" gives 0x282 io write 7
cp /run/data.old $DATA
cp /run/meta.good $META
check "a fault" fault corrupt read 1 519
check "reference tag: reference tag check error" gives 0x284 io write 7
check "a fault" fault corrupt read 1 515
check "application tag: application tag check error" \
	gives 0x283 io write 7 0 0 0xffff
equal "nothing of it is on the SSD" "$sum" "$(sum_of "${SSDS[0]}" 4096)"
equal "no fault is left" "" "$(cat $NIC/faults)"
! target_is_ours || equal "the target counts four errors" 4 \
	"$(key_sum error_protection $SHOWN/queues/*)"
check "the same without faults" io write 7 0 0 0xffff
use 2
check "4 KiB of type 3" writes 4096
check "a fault" fault corrupt write 1 4095
check "guard check error" gives 0x282 io read 4
check "a fault" fault corrupt write 1 4103
check "the reference tag is for whoever owns it" io read 4
check "no rule was broken" no_violation

step "wrong on the disk"
use 1
head -c 64 /dev/zero > /run/meta.bad
mark
check "blocks 8 to 15 with a wrong guard" nvme write "${SSDS[0]}" -s 8 -c 7 \
	-z 4096 -y 64 -d $DATA -M /run/meta.bad -p 0
check "the host cannot read them" fails reads 4096 1
said 5 "the kernel says so" "protection error|protection information of block|PI error found"
# app tags of 1234h; guards and reference tags as they have to be
xxd -p -c 8 /run/meta.good | awk '{ printf "%s1234%07x%s\n", substr($0, 1, 4),
	0, sprintf("%x", NR + 7) }' | xxd -r -p > /run/meta.tag
check "and with an application tag" nvme write "${SSDS[0]}" -s 8 -c 7 -z 4096 \
	-y 64 -d /run/data.old -M /run/meta.tag -p 7 -r 8
check "the host reads them" reads 4096 1
check "the metadata comes as it is" nvme read "$DISK" -s 8 -c 7 -z 4096 -y 64 \
	-d $OUT -M /run/meta.out -p 7 -r 8
check "all of it" cmp /run/meta.tag /run/meta.out
check "an application tag that is asked for" io read 7 8 $((0x1234)) 0xffff
check "another one: application tag check error" \
	gives 0x283 io read 7 8 $((0x1235)) 0xffff
check "another one, but for what the mask takes" \
	io read 7 8 $((0x12ff)) 0xff00
# all ones: the reader does not check
sed 's/\(....\)..../\1ffff/' <(xxd -p -c 8 /run/meta.bad) | xxd -r -p > /run/meta.esc
check "blocks that are not protected" nvme write "${SSDS[0]}" -s 16 -c 7 \
	-z 4096 -y 64 -d $DATA -M /run/meta.esc -p 0
check "are read" reads 4096 2
check "as they are" same

step "made and stripped on the way"
cp /run/data.old $DATA
META_LEN=0
if host_is_ours; then
	mark
	check "PRACT: written without metadata" io write 15 24
	check "read with it" reads 4096 3
	check "as it was" same
	check "read without metadata" io read 15 24
	check "as it was" same
	mark
	check "an application tag: application tag check error" \
		gives 0x283 io read 15 8 $((0x1235)) 0xffff
	! target_is_ours || said 5 "the block is named" \
		"invalid protection information of block 8:"
	check "PRACT: checks a reference tag" nvme write "${SSDS[0]}" -s 24 -c 7 \
		-z 4096 -y 64 -d $DATA -M /run/meta.good -p 0
	check "which is wrong now" fails io read 15 24
	DATA_LEN=4160
	check "blocks with metadata behind each" io read 7
	check "data" cmp -n 512 $DATA $OUT
	check "its guard" cmp -n 8 -i 512:0 $OUT /run/meta.good
	DATA_LEN=4096
	META_LEN=64
	cp /run/meta.bad $META
	check "PRACT with metadata: not looked at" io write 15 24
	check "read" reads 4096 3
	check "as it was" same
	check "PRACT with metadata: not written" io read 15 24
	check "as it was" same
fi
for i in 1 2; do
	use $i
	for x in read_verify write_generate; do
		check "namespace $i: $x=0" _put "/sys/block/${DISK##*/}/integrity/$x" 0
	done
	if host_is_ours; then
		for size in 4096 65536; do
			check "$size bytes" round_trip "$DISK" $size
		done
		check "fio" fio_verify "$DISK" 1M
		case $VM_KVER in
		6.1.* | 6.12.*)
			check "4 KiB" writes 4096
			check "a fault" fault corrupt write 1 3
			check "a read" reads 4096
			check "the host's device has checked it" same ;;
		*)
			# the core asks for no check
			not_here "checks by the device without read_verify" ;;
		esac
	fi
	for x in read_verify write_generate; do
		check "namespace $i: $x=1" _put "/sys/block/${DISK##*/}/integrity/$x" 1
	done
	! host_is_ours || check "what was made is right" \
		dd if="$DISK" of=/dev/null bs=1M count=2 iflag=direct status=none
done
use 1
check "no rule was broken" no_violation

step "what cannot be right"
if host_is_ours; then
	META_LEN=8
	check "too little metadata" fails io read 7
	META_LEN=576 DATA_LEN=3584
	check "data and metadata that only add up" fails io read 7
	META_LEN=64 DATA_LEN=4096
fi
if target_is_ours; then
	check "a reference tag that is not the block's: invalid protection information" \
		gives 0x.181 nvme read "$DISK" -s 8 -c 7 -z 4096 -y 64 -d $OUT \
		-M $META -p 1 -r 9
	use 2
	check "one to be checked that type 3 does not know: likewise" \
		gives 0x.181 io read 1
	use 1
fi
check "commands that fail" eval 'for i in 1 2 3 4 5 6 7 8; do
	! io read 7 $((1 << 20)); done'
check "leave nothing behind" fio --name=r --filename="$DISK" --rw=randread \
	--bs=4k --iodepth=128 --ioengine=libaio --direct=1 --size=1M \
	--number_ios=1000 --norandommap --output=/run/fio.out
equal "the controller was live all the time" "live" "$(state_of "$CTRL")"
check "no recovery" not grep -q "starting error recovery" <(dmesg)
check "no rule was broken" no_violation

all_down
finish
