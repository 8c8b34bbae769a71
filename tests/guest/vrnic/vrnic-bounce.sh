#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    data and protection information over a virtual RNIC that sees memory only as mapped and synced: everything is bounced, with memory regions that allow gaps and that do not, and late acknowledgments
# disks:    64M:ms=8,pi=1
# with:     vrnic
# check:   none
# iommu:    no
# append:   swiotlb=65536,force init_on_free=1
# timeout:  600
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:bounce
P=nqn.2026-01.test:bounce-pi
host_load
vrnic_wire roce ack_lag=8 max_inline=0
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0 $TARGET_IP
must "an SSD" ssd 0
must "a target with protection information" eval "subsys $P &&
	_put $NVMET/subsystems/$P/attr_pi_enable 1 && namespace $P 1 $SSD &&
	port 2 $TARGET_IP 4421 && _put $NVMET/ports/2/param_pi_enable 1 && expose 2 $P"

step "what is mapped for long is bounced, too"
must "connect" connect_wire $N
check "slots are taken" at_least 1 "$(cat /sys/kernel/debug/swiotlb/io_tlb_used)"
check "disconnect" disconnect $N

# odd_buffers DISK: O_DIRECT from and to memory that begins and ends anywhere, in one piece and in
# two. Bounced, such pieces lose their place in a page, and the memory region its neighbours.
odd_buffers() {
	python3 - "$1" <<- 'END'
		import mmap, os, sys
		disk = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
		memory, bad = memoryview(mmap.mmap(-1, 1 << 20)), []
		for at in 0, 512, 1024, 2560, 3584:
		    for size in 512, 1536, 4096, 4608, 6144, 8704, 12800, 33280, 65024, 66048, 98816, 130560:
		        for cut in size, 512, size - 512:
		            pieces = [memory[at:at + cut], memory[524800:524800 + size - cut]]
		            pieces = [p for p in pieces if len(p)]
		            data = os.urandom(size)
		            try:
		                for p in pieces:
		                    p[:] = data[:len(p)] if p is pieces[0] else data[cut:]
		                os.pwritev(disk, pieces, 1 << 20)
		                for p in pieces:
		                    p[:] = bytes(len(p))
		                os.preadv(disk, pieces, 1 << 20)
		                if b"".join(pieces) != data:
		                    bad.append((at, size, cut, "other data"))
		            except OSError as e:
		                bad.append((at, size, cut, str(e)))
		print(*bad, sep="\n")
		sys.exit(bool(bad))
	END
}

# all_data DISK: in all ways that there are
all_data() {
	check_sizes "$1" 512 4096 16384 131072 1048576 4194304
	check "fio with verification" fio_verify "$1" 4M
	check "buffers that begin and end anywhere" odd_buffers "$1"
	check "pieces here and there" _pieces "$1"
}

step "data"
must "connect" connect_wire $N -i 2
check_module nvme-rdma
check_module nvmet-rdma
get_disk $N 1
all_data "$DISK"
check "disconnect" disconnect $N

step "data with protection information"
must "connect" connect $P $TARGET_IP 4421 -w $HOST_IP -i 2
get_disk $P 1
check "the disk has it" grep -q T10 "/sys/block/${DISK##*/}/integrity/format"
all_data "$DISK"
equal "the SSD has the data, and finds it right" "$(sum_of "$DISK" 4194304)" "$(sum_of "$SSD" 4194304)"
check "disconnect" disconnect $P

step "data, and memory regions do not take gaps"
vrnic_anew sg_gaps=N
must "connect" connect_wire $N -i 2
get_disk $N 1
all_data "$DISK"
check "disconnect" disconnect $N
vrnic_down
finish
