# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Data written, read, compared.

# sum_of DEVICE BYTES [OFFSET]: checksum of the device's content, read again with O_DIRECT, in
# one piece of BYTES
sum_of() {
	dd if="$1" bs="$2" count=1 skip="${3:-0}" iflag=direct,fullblock \
		status=none | sha256sum | cut -d' ' -f1
}

# round_trip DEVICE BYTES: random data in one direct write, then one direct
# read of the same size, then, up to 64 KiB, in reads of 4 KiB or 512 bytes
round_trip() {
	local f=/run/round-trip piece=4096
	head -c "$2" /dev/urandom > $f
	dd if=$f of="$1" bs="$2" count=1 oflag=direct iflag=fullblock \
		status=none || return 1
	cmp $f <(dd if="$1" bs="$2" count=1 iflag=direct,fullblock \
		status=none) || return 1
	[ "$2" -le 65536 ] || return 0
	[ "$2" -ge 4096 ] || piece=512
	cmp $f <(dd if="$1" bs=$piece count=$(($2 / piece)) iflag=direct \
		status=none)
}

# check_sizes DEVICE BYTES...: a round trip of each size, a check each
check_sizes() {
	local dev=$1 size
	shift
	for size; do check "$size bytes, direct" round_trip "$dev" "$size"; done
}

# fio_verify DEVICE SIZE [fio options]: write SIZE, then read and verify
fio_verify() {
	local dev=$1 size=$2
	shift 2
	fio --name=verify --filename="$dev" --size="$size" --direct=1 \
		--ioengine=libaio --iodepth=8 --rw=randwrite \
		--bsrange=4k-64k --verify=crc32c --verify_fatal=1 \
		--do_verify=1 --verify_state_save=0 --randrepeat=0 \
		--output="/run/fio.out" "$@" ||
		{ cat /run/fio.out; return 1; }
}

# io_start DEVICE [fio options]: verified I/O without end in the background
io_start() {
	io_begin "$@"
	await 20 io_moves
}

# io_begin DEVICE [fio options]: the same, of a disk that need not complete any
io_begin() {
	local dev=$1
	shift
	fio --name=load --filename="$dev" --direct=1 --ioengine=libaio \
		--iodepth=8 --rw=randwrite --bs=4k --size=8M --time_based \
		--runtime=$((600 * SLOW)) --verify=crc32c --verify_fatal=1 \
		--verify_backlog=64 --verify_state_save=0 --randrepeat=0 \
		--output=/run/io.out "$@" > /run/io.err 2>&1 &
	IO_PID=$!
	IO_DEV=$dev
	IO_COUNT=
}

# io_moves: more I/O has completed than at the last call. A multipath disk is
# counted by its paths: before 6.4 the disk itself counts nothing.
io_moves() {
	local was=${IO_COUNT-} name=${IO_DEV##*/} stat r w sum=
	for stat in /sys/block/"${name%n*}"c*n"${name##*n}"/stat \
		/sys/block/"$name"/stat; do
		read -r r _ _ _ w _ 2> /dev/null < "$stat" &&
			sum=$((sum + r + w))
	done
	IO_COUNT=$sum
	[ -n "$sum" ] && [ -n "$was" ] && [ "$sum" -gt "$was" ]
}

# io_stop: ends it in good order; fails if fio saw any error
io_stop() {
	local rc
	kill -INT $IO_PID 2> /dev/null
	wait $IO_PID
	rc=$?
	unset IO_COUNT
	[ $rc -eq 0 ] || [ $rc -eq 128 ] || {
		cat /run/io.out /run/io.err
		return 1
	}
}

# io_errors: waits for fio to end by itself, which has to be with errors
io_errors() {
	local rc
	await 60 not runs $IO_PID || { kill -9 $IO_PID; return 1; }
	wait $IO_PID
	rc=$?
	unset IO_COUNT
	[ $rc -ne 0 ]
}
