#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the checker of acknowledged writes finds each kind of damage, and none on an undamaged disk
# check:   none
# timeout: 600
. "$(dirname "$0")/../lib.sh"

# No RDMA here: the test is about the checker itself.
must "a disk" null_disk nullb0 32
SIZE=$(blockdev --getsz /dev/nullb0)
must "device mapper" modprobe -a dm-mod dm-flakey
D=/dev/mapper/acked
# table WORDS...: sets the table of the device-mapper disk
table() {
	dmsetup suspend --noflush acked && dmsetup load acked --table "0 $SIZE $*" &&
		dmsetup resume acked
}
must "a disk above it" dmsetup create acked --table "0 $SIZE linear /dev/nullb0 0"
[ -b $D ] || dmsetup mknodes acked
plain() { table linear /dev/nullb0 0; }

found() { # KEY NUMBER: that many, or + for some, of a kind of damage, and no other
	local k want
	for k in lost stale torn foreign misplaced; do
		want=0
		[ $k != "$1" ] || want=$2
		if [ "$want" = + ]; then
			[ "$(acked_found $k)" -gt 0 ] || { echo "no $k"; return 1; }
		else
			[ "$(acked_found $k)" = "$want" ] || {
				echo "$k $(acked_found $k), expected $want"
				return 1
			}
		fi
	done
}
# finds WORDS KEY NUMBER: verify fails, and counts NUMBER sectors under KEY
finds() {
	refuse 60 "$1" "$ACKED" verify $D "$ACKED_LOG"
	cp "$CHECK_OUT" $ACKED_VERIFY
	check "    and knows what it is" found "$2" "$3"
	[ "$3" = + ] || equal "    in a line for each sector" "$3" \
		"$(grep -c "^violation: $D sector [0-9]*, at the end: $2: expected generation [0-9]* to [0-9]* (.*), found " $ACKED_VERIFY)"
}
# run SECONDS [options]: all good
run() {
	local seconds=$1
	shift
	must "I/O" acked_start $D --size $((8 << 20)) "$@"
	nap "$seconds"
	check "all is there" acked_stop
}

step "nothing wrong"
run 3
equal "no error" 0 "$(acked_value io_errors)"
check "reads were verified" at_least 100000 "$(acked_value bytes_verified)"
check "writes were, too" at_least 100000 "$(acked_found bytes_verified)"
equal "with the log's end" yes "$(acked_found log_ended)"
run 1 --writers 1 --depth 1 --block 512 --reads 0 --flush 0 --errors stop
run 1 --writers 8 --depth 32 --reads 70 --flush 7 --pace 1

step "polled"
POLLED=/sys/kernel/config/nullb/nullb1
must "a disk that can be polled" eval "mkdir $POLLED && _put $POLLED/size 32 &&
	_put $POLLED/memory_backed 1 && _put $POLLED/poll_queues 1 && _put $POLLED/power 1"
# null_blk asks for memory where it must not sleep if a polled write is the first of a page
must "each page is there" dd if=/dev/zero of=/dev/nullb1 bs=1M count=8 oflag=direct status=none
must "I/O" acked_start /dev/nullb1 --size $((8 << 20)) --writers 1 --polled
nap 2
check "no error, all is there" acked_clean
check "reads were verified" at_least 100000 "$(acked_value bytes_verified)"
equal "no flush" 0 "$(acked_value flushes)"

step "killed: the log has what was acknowledged until then"
must "I/O" acked_start $D
nap 2
kill -KILL "$ACKED_PID"
wait "$ACKED_PID" 2> /dev/null
check "all is there" acked_verify
equal "without the log's end" no "$(acked_found log_ended)"
check "writes were verified" at_least 100000 "$(acked_found bytes_verified)"
before=$(acked_found log_records)
check "the last batch is torn" truncate -s -7 "$ACKED_LOG"
check "all is there" acked_verify
check "it was left out" eval "[ \$(acked_found log_ignored_bytes) -gt 0 ] &&
	[ \$(acked_found log_records) -lt $before ]"
check "a bit of the log's middle" eval "printf '\\xff' | dd of=$ACKED_LOG bs=1 \
	seek=\$((\$(stat -c %s $ACKED_LOG) / 2)) conv=notrunc status=none"
refuse 20 "it is damaged" "$ACKED" verify $D "$ACKED_LOG"
cp "$CHECK_OUT" /run/words
check "and it says so" grep -q 'is damaged behind its batch [0-9]' /run/words
refuse 20 "no log at all" "$ACKED" verify $D /run/no-such-log
refuse 20 "something else" "$ACKED" verify $D "$0"

step "damage that was done behind its back"
# A sector that was written more than once has an old copy, taken during the run. It has to be
# taken early: once this run has written every sector, an older copy would be another run's.
must "nothing on it" dd if=/dev/zero of=$D bs=64k count=1 oflag=direct status=none
must "I/O" acked_start $D --size 65536 --writers 1
all_written() {
	dd if=/dev/nullb0 of=/run/old bs=64k count=1 iflag=direct status=none
	! od -An -v -tx8 -w512 /run/old | grep -q '^\( 0\{16\}\)\{64\}$'
}
check_await 60 "each sector is written" all_written
nap 2
check "all is there" acked_stop
dd if=/dev/nullb0 of=/run/new bs=64k count=1 iflag=direct status=none
sector=$(($(cmp /run/old /run/new | sed 's/.*byte \([0-9]*\),.*/\1/') / 512))
# put FILE SECTOR [TO]: a sector of the file onto the disk
put() {
	dd if="$1" of=$D bs=512 skip="$2" seek="${3:-$2}" count=1 oflag=direct \
		conv=notrunc status=none
}
mend() { dd if=/run/new of=$D bs=64k count=1 oflag=direct status=none; }
check "an old copy of a sector" put /run/old $sector
finds "an acknowledged write is lost" lost 1
mend
check "zeroes" put /dev/zero $sector
finds "an acknowledged write is lost" lost 1
mend
check "two sectors, the one in place of the other" \
	eval "put /run/new 8 9 && put /run/new 9 8"
finds "both are misplaced" misplaced 2
mend
check "something else" put "$ACKED" $sector
finds "a foreign sector" foreign 1
mend
cp /run/new /run/bit
byte=$(od -An -tu1 -j$((sector * 512 + 300)) -N1 /run/new)
printf "\\x$(printf %x $((byte ^ 16)))" |
	dd of=/run/bit bs=1 seek=$((sector * 512 + 300)) conv=notrunc status=none
check "one bit" put /run/bit $sector
finds "a torn sector" torn 1
head -c $((sector * 512 + 256)) /run/new > /run/half
tail -c +$((sector * 512 + 257)) /run/old >> /run/half
check "half of a sector, and half of an older one" put /run/half $sector
finds "a torn sector" torn 1
mend
check "all is there again" acked_verify
cp "$ACKED_LOG" /run/log
run 1 --writers 1 --size 65536
cp /run/log "$ACKED_LOG"
finds "what another run has written" foreign +

step "a disk that loses writes"
# what another run has written would be foreign, not lost
must "nothing on it" dd if=/dev/zero of=$D bs=1M count=8 oflag=direct status=none
must "I/O" acked_start $D --size $((8 << 20))
check "it drops them" table flakey /dev/nullb0 0 0 100 1 drop_writes
nap 2
check "not any more" plain
check "reads were stale" not acked_end
check "it counted them" at_least 1 "$(acked_value stale)"
check "it says which" grep -Eq "^violation: $D sector [0-9]+, read under load: stale: expected generation [0-9]+ to [0-9]+ .* found generation [0-9]+" $ACKED_OUT
finds "and writes were lost" lost +

step "a disk that reads wrongly"
must "I/O" acked_start $D --size $((8 << 20))
check "a byte of each read" \
	table flakey /dev/nullb0 0 0 100 5 corrupt_bio_byte 200 r 170 0
nap 2
check "not any more" plain
check "reads were torn" not acked_end
check "it counted them" at_least 1 "$(acked_value torn)"
check "but the writes are there" acked_verify

step "I/O errors are no damage"
must "I/O" acked_start $D --size $((8 << 20))
nap 1
check "errors" table error
check_await 20 "it sees them" acked_fails
# on a busy machine a success before them may be noted up to a second late
nap 2
check "no more" plain
acked_moves
check_await 20 "I/O goes on" acked_moves
check "all is there" acked_stop
equal "which errors" EIO "$(acked_value first_error)"
check "of writes" at_least 1 "$(acked_value write_errors)"
check "and of reads" at_least 1 "$(acked_value read_errors)"
check "it knows how long nothing succeeded" at_least 900 \
	"$(acked_value longest_outage_ms)"
check "which was no stall" test "$(acked_value longest_stall_ms)" -lt \
	"$(acked_value longest_outage_ms)"
must "I/O that is to stop" acked_start $D --size $((8 << 20)) --errors stop
check "errors" table error
check_await 20 "it ends by itself" _acked_said $ACKED_OUT
check "no more" plain
check "all is there" acked_stop

step "a stall"
must "I/O" acked_start $D --size $((8 << 20))
check "nothing is answered" dmsetup suspend --noflush --nolockfs acked
nap 3
check "I/O stands still" eval "acked_moves; nap 1; ! acked_moves"
check "all is answered" dmsetup resume acked
check_await 20 "I/O goes on" acked_moves
check "all is there" acked_stop
check "the stall was measured" at_least 3500 "$(acked_value longest_stall_ms)"
equal "no error" 0 "$(acked_value io_errors)"
ACKED_DRAIN=2
must "I/O" acked_start $D --size $((8 << 20))
check "nothing is answered" dmsetup suspend --noflush --nolockfs acked
nap 1
check "it gives up" not acked_end
equal "and says so" hangs "$(acked_value verdict)"
check "for which I/O" at_least 1 "$(acked_value unanswered)"
check "all is answered" dmsetup resume acked
check_await 20 "then it ends" not runs "$ACKED_PID"
check "all is there" acked_verify

step "wrong usage"
for wrong in "run" "verify $D" "jump $D log" "run /dev/null /run/log" \
	"run $D /run/log --depth 0" "run $D /run/log --reads 101" \
	"run $D /run/log --block 1x" "run $D /run/log --errors maybe" \
	"run $D /no/such/log" "run $D /run/log --size 65536 --writers 2" \
	"verify /dev/null $ACKED_LOG"; do
	# shellcheck disable=SC2086
	refuse 10 "acked $wrong" "$ACKED" $wrong
done
check "the disk above" dmsetup remove acked
finish
