# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Large I/O where no two free pages are adjacent. The scenario needs "with: fragment".

# soft-RoCE's packets have to fit a page, too: it ends a connection when it has no memory
# for one. For before lib.sh
MTU=1500

# errors that the disk's users or the target's have seen
no_errors() { ! dmesg | grep -E 'I/O error|critical target error|Internal Error'; }

# slow_disk: /dev/nullb1, which discards its data and takes 2 ms for each command, so that a
# queue fills up with commands
slow_disk() { timer_disk nullb1 48 2000000 hw_queue_depth=1024; }

# large_io RW BLOCK DEPTH COUNT: sets SPEED, in KiB/s
large_io() {
	local out=/run/short.json
	check "$4 times $1 of $2, $3 at a time" fio --name=short --filename="$DISK" \
		--direct=1 --ioengine=libaio --rw="$1" --bs="$2" --iodepth="$3" \
		--number_ios="$4" --size=48M --randrepeat=0 --norandommap \
		--io_size=100G --output-format=json --output=$out
	check "without an error" no_errors
	SPEED=$(sed -n 's/^ *"bw" : \([0-9]*\),/\1/p' $out | sort -n | tail -n 1)
}
