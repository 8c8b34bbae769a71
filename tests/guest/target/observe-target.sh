#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   what the target reports: debugfs by queue, host and port with consistent counts, and tracepoints
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/observe.sh"

N=nqn.2026-01.test:observe
S=nqn.2026-01.test:other
MAN=$VM_REPO/Documentation/nvmet-rdma.4
DIR=$SHOWN
host_load
wire_up
must "a disk" memory_disk nullb0 16
must "another" memory_disk nullb1 16
must "RDMA for programs" modprobe rdma_ucm
must "a host that never sends Connect" gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra \
	-Werror -o /run/half-open "$VM_REPO/tests/fixtures/half-open/half-open.c" -lrdmacm -libverbs
must "load" modprobe nvmet-rdma host_pending=4 response_tmo=8
simple_target $N /dev/nullb0
must "another subsystem" subsys $S
must "its namespace" namespace $S 1 /dev/nullb1
must "on the same port" expose 1 $S

value() { sed -n "s/^$2 //p" "$DIR/$1"; }	# FILE KEY
# queues_of LINE...: the files of the queues that have all of these lines
queues_of() {
	local f line
	for f in "$DIR"/queues/*; do
		for line; do grep -qx "$line" "$f" || continue 2; done
		echo "$f"
	done
}
# total KEY: over the I/O queues of the first controller
total() { key_sum "$1" "${IO_QUEUES[@]}"; }
commands() {
	local key n=0
	for key in without_data in_capsule keyed; do
		n=$((n + $(total commands_$key)))
	done
	echo $n
}
files() { (cd "$DIR/$1" && echo *); }
nr() { (cd "$DIR/$1" && set -- * && [ -e "$1" ] && echo $# || echo 0); }
nr_is() { [ "$(nr "$1")" = "$2" ]; }
# keys FILE..., and those of the page
keys() { cut -d' ' -f1 "$@" | sort -u; }
page_keys() { sed -n 's/^\.It Cm //p' "$MAN" | sed 's/ , /\n/g' | sort -u; }

step "a port without hosts"
equal "its file" 1 "$(files ports)"
equal "its address" "$MY_IP4 4420" "$(value ports/1 traddr) $(value ports/1 trsvcid)"
equal "it listens, waits for nothing" "1 0" \
	"$(value ports/1 listening) $(value ports/1 waits_for)"
equal "no queue, no host" "0 0 0" \
	"$(value ports/1 queues) $(nr queues) $(nr hosts)"

step "what a queue is"
must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
equal "three queues, one host" "3 1" "$(nr queues) $(nr hosts)"
equal "the host's name is that of the file" "$HOSTNQN" "$(files hosts)"
equal "and in it" "$HOSTNQN" "$(value "hosts/$HOSTNQN" host)"
mapfile -t IO_QUEUES < <(grep -Lx 'qid 0' "$DIR"/queues/*)
Q=$(queues_of "host $HOSTNQN" "controller $(ctrl_attr cntlid)" "qid 1" "port 1")
check "queue 1 is one of them: $Q" test -f "$Q"
Q=queues/${Q##*/}
equal "it is of the subsystem" $N "$(value $Q subsystem)"
equal "peer and this machine" "$MY_IP4 $MY_IP4:4420" \
	"$(value $Q peer | sed 's/:.*//') $(value $Q local)"
equal "state, device" "live rxe0" "$(value $Q state) $(value $Q device)"
equal "depth, in-capsule size" "128 4096" \
	"$(value $Q depth) $(value $Q in_capsule_size)"
equal "its receives are shared" 1 "$(value $Q srq)"
check "and as many as it needs" at_least 128 "$(value $Q receives)"
equal "no PI, no rdma_rw" "0 0" "$(value $Q protection) $(value $Q rdma_rw)"
idle() {
	[ "$(value $Q sq_slots)" = "$(value $Q sq_slots_free)" ] &&
		[ "$(value $Q waiting) $(value $Q outstanding)" = "0 0" ]
}
check_await 10 "all slots are free when nothing happens" idle
equal "the host's controllers and queues" "1 3 0" "$(value "hosts/$HOSTNQN" \
	controllers) $(value "hosts/$HOSTNQN" queues) $(value "hosts/$HOSTNQN" \
	queues_ended)"
equal "the port's" "3 3 3" "$(value ports/1 queues) $(value ports/1 \
	queues_accepted) $(value ports/1 queues_connected)"
# a thread that polls comes with a command
echo Y > /sys/module/nvmet_rdma/parameters/io_threads
check "a write and a read" round_trip "$DISK" 4096
check_await 20 "a thread that polls" not nr_is threads 0
keys "$DIR"/*/* > /run/keys
echo N > /sys/module/nvmet_rdma/parameters/io_threads
page_keys > /run/page-keys
equal "each key is in the manual page" "" \
	"$(comm -23 /run/keys /run/page-keys | tr '\n' ' ')"
equal "and each of the page's is here" "" \
	"$(comm -13 /run/keys /run/page-keys | tr '\n' ' ')"

step "what it did"
capsule=$(total commands_in_capsule) keyed=$(total commands_keyed)
read_bytes=$(total bytes_read) written=$(total bytes_written)
check "20 writes of 4 KiB, 10 of 64 KiB, 30 reads" small_and_large
settled() { [ "$(commands)" -eq "$(total responses)" ]; }
check_await 10 "each command got one response" settled
more "in-capsule commands" commands_in_capsule 20 "$capsule"
more "keyed commands" commands_keyed 40 "$keyed"
more "bytes read" bytes_read $((30 * 4096)) "$read_bytes"
more "bytes written" bytes_written $((20 * 4096 + 10 * 65536)) "$written"

equal "each command took a receive" "$(commands)" "$(total receives_completed)"
equal "each response is in the histogram" "$(total responses)" \
	"$(total latency_log2_us)"
equal "each key was invalidated" "$(total commands_keyed)" "$(total keys_invalidated)"
equal "each transfer was of one chunk" "$(total commands_keyed)" \
	"$(total transfers_in_chunks)"
equal "work requests: a SEND for each command, and transfers" \
	$(($(commands) + $(total commands_keyed))) "$(total work_requests)"
check "completions are fewer than responses" \
	test "$(total sends_completed)" -lt "$(total responses)"
check "for the last ones they were asked for" at_least 1 "$(total sweeps)"
check "posts are fewer than work requests" \
	test "$(total posts)" -lt "$(total work_requests)"
equal "no error, no want of any kind" 0 "$(for key in $(grep -E \
	'^(error|short)_' /run/keys); do
		[ "$key" = error_not_established ] ||
			[ "$key" = error_no_connect ] || total "$key"; done | sort -u)"
# host_sent: what the host's own files report of the same queues
H=/sys/kernel/debug/nvme_rdma/$CTRL
equal "the host counted the same: commands" "$(commands)" "$(for key in \
	without_data in_capsule registered; do
		key_sum sent_$key "$H/queue1" "$H/queue2"; done |
		awk '{ n += $1 } END { print n }')"
equal "and responses" "$(key_sum responses "$H/queue1" "$H/queue2")" "$(total responses)"
errors=$(total responses_with_error)
refuse 10 "a read beyond the end" nvme read "$DISK" -s 99999999 -c 0 -z 512
check_await 10 "its response" settled
more "responses with an error" responses_with_error 1 "$errors"

step "memory for as many commands as the host has at once"
allocated() { sed -n 's/^responses_allocated //p' "${IO_QUEUES[@]}" | sort -nu; }
allocated_is() { [ "$(allocated | tr '\n' ' ')" = "$1 " ]; }
equal "a few" 16 "$(allocated)"
deep() {
	fio --name=deep --filename="$DISK" --direct=1 --ioengine=libaio --rw=randread \
		--bs=4k --iodepth=256 --numjobs=2 --number_ios=2000 --norandommap \
		--output=/run/fio.out
}
check "many at once" deep
check "more" at_least 64 "$(allocated | tail -n 1)"
check_await 15 "which goes back when nothing happens" allocated_is 16
check "data" round_trip "$DISK" 65536

step "all of a host's queues, also those that are gone"
first=$CTRL
must "another controller of the same host" connect $S "$MY_IP4" 4420 -i 1
equal "still one host" "$HOSTNQN" "$(files hosts)"
equal "with two controllers and five queues" "2 5" "$(value "hosts/$HOSTNQN" \
	controllers) $(value "hosts/$HOSTNQN" queues)"
equal "three queues of one subsystem, two of the other" "3 2" "$(queues_of \
	"subsystem $N" | wc -l) $(queues_of "subsystem $S" | wc -l)"
get_disk $S 1
check "data" round_trip "$DISK" 65536
# a keep-alive may come between the one and the other
same_sum() {
	[ "$(key_sum "$1" "$DIR"/queues/*)" = "$(key_sum "$1" "$DIR/hosts/$HOSTNQN")" ]
}
for key in commands_keyed bytes_read bytes_written latency_log2_us; do
	check_await 60 "$key: the queues' sum" same_sum $key ||
		grep "^$key" "$DIR"/queues/* "$DIR"/hosts/*
done
written=$(key_sum bytes_written "$DIR/hosts/$HOSTNQN")
check "the second goes" disconnect $S
check_await 10 "its queues go" nr_is queues 3
equal "the host knows" "1 3 2" "$(value "hosts/$HOSTNQN" controllers) $(value \
	"hosts/$HOSTNQN" queues) $(value "hosts/$HOSTNQN" queues_ended)"
equal "and so does the port" 2 "$(value ports/1 queues_ended)"
check "what it wrote is still counted" \
	test "$(value "hosts/$HOSTNQN" bytes_written)" -ge "$written"
check "though no queue has it" test \
	"$(key_sum bytes_written "$DIR"/queues/*)" -lt "$written"

step "hosts that call themselves what they like"
as_host() {
	must "a host called $1" fabrics_as "$1" \
		"nqn=$S,traddr=$MY_IP4,trsvcid=4420,nr_io_queues=1"
}
as_host nqn.2026-01.test:../../x_y
as_host nqn.2026-01.test:.._.._x_y
as_host "$(printf 'nqn.2026-01.test:%s' "$(head -c 205 /dev/zero | tr '\0' n)")"
equal "four hosts" 4 "$(nr hosts)"
DIRTY=hosts/nqn.2026-01.test:.._.._x_y~1
equal "one with slashes" nqn.2026-01.test:../../x_y "$(value $DIRTY host)"
equal "is not the one that its file looks like" nqn.2026-01.test:.._.._x_y \
	"$(value hosts/nqn.2026-01.test:.._.._x_y host)"
equal "each has two queues" "2 2" "$(value $DIRTY queues) $(value \
	hosts/nqn.2026-01.test:.._.._x_y queues)"
equal "nine queues are of four hosts" 4 "$(sed -n 's/^host //p' \
	"$DIR"/queues/* | sort -u | wc -l)"
check "they go" disconnect $S
hosts_with_queues() { grep -Lx 'queues 0' "$DIR"/hosts/* | wc -l; }
only_first_has_queues() { [ "$(hosts_with_queues)" = 1 ]; }
check_await 10 "only the first host has queues" only_first_has_queues
CTRL=$first
equal "those that went are remembered" "0 0 2" "$(value $DIRTY controllers) $(value \
	$DIRTY queues) $(value $DIRTY queues_ended)"
as_host nqn.2026-01.test:../../x_y
equal "one that comes again goes on counting" "2 2" \
	"$(value $DIRTY queues) $(value $DIRTY queues_ended)"
check "it goes" disconnect $S
check_await 10 "only the first host has queues" only_first_has_queues
CTRL=$first

step "subsystems by other names"
as_host_of() {	# NQN: a controller of that subsystem, for its host's sake alone
	must "a controller of $1" fabrics_as nqn.2026-01.test:named \
		"nqn=$1,traddr=$MY_IP4,trsvcid=4420"
}
gone_again() { echo 1 > "/sys/class/nvme/$CTRL/delete_controller"; }
DISCOVERY=nqn.2014-08.org.nvmexpress.discovery
as_host_of $DISCOVERY
equal "discovery, by its well-known name" 1 "$(queues_of "subsystem $DISCOVERY" \
	"host nqn.2026-01.test:named" | wc -l)"
check "it goes" gone_again
TAB=$'nqn.2026-01.test:a\tb'
must "a name with a tab" subsys "$TAB"
must "on the same port" expose 1 "$TAB"
as_host_of "$TAB"
equal "it is shown as C escapes it" "nqn.2026-01.test:a\\tb" "$(sed -n \
	's/^subsystem //p' "$(queues_of "host nqn.2026-01.test:named" "qid 0")")"
check "it goes" gone_again
check "and so does the subsystem" eval 'conceal 1 "$TAB" && rmdir "$NVMET/subsystems/$TAB"'
check_await 10 "only the first host has queues" only_first_has_queues
CTRL=$first

step "many hosts, one after another"
come_and_go() {
	fabrics_as "nqn.2026-01.test:$1" \
		"nqn=nqn.2014-08.org.nvmexpress.discovery,traddr=$MY_IP4,trsvcid=4420" &&
		echo 1 > "/sys/class/nvme/$CTRL/delete_controller"
}
many_come_and_go() {
	local i
	for ((i = 0; i < 66; i++)); do come_and_go $i || return 1; done
}
check "66 of them" many_come_and_go
check_await 20 "only the first host has queues" only_first_has_queues
equal "64 are remembered" 65 "$(nr hosts)"
check "the last is" test -e "$DIR/hosts/nqn.2026-01.test:65"
check "those gone for longest are not" gone "$DIR/$DIRTY" \
	"$DIR/hosts/nqn.2026-01.test:1"
CTRL=$first

step "tracepoints"
all_in_manual nvmet_rdma
get_disk $N 1
echo 1 > $TRACING/events/nvmet_rdma/enable
check "a write and a read" round_trip "$DISK" 4096
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
check_await 20 "with three queues" nr_is queues 3

step "connections that are refused, and that never send Connect"
/run/half-open 6 "$MY_IP4" 4420 < <(sleep 100) > /run/half-open.out 2>&1 &
HALF=$!
check_await 60 "four are open, two refused" \
	grep -qx "open 4 refused 2 status 6" /run/half-open.out
echo 0 > $TRACING/events/nvmet_rdma/enable
trace_is_whole
equal "the port says why" 2 "$(value ports/1 refused_host_pending)"
equal "and for nothing else" 2 "$(key_sum 'refused_[a-z_]*' "$DIR/ports/1")"
equal "nobody knows whose the four are" "4 4" "$(queues_of "host -" \
	"controller -" "subsystem -" "qid 0" | wc -l) $(($(nr queues) - 3))"
check "no host more" only_first_has_queues
kill $HALF
wait $HALF
check_await 20 "they go" nr_is queues 3

traced "the write" "nvmet_rdma_command: queue=[0-9]+ port=1 qid=[12] .*opcode=0x1 data=in-capsule bytes=4096 status=0x0"
traced "the read" "nvmet_rdma_command: queue=[0-9]+ port=1 qid=[12] .*opcode=0x2 data=keyed bytes=4096 status=0x0"
traced "its response" "nvmet_rdma_response: queue=[0-9]+ port=1 qid=[12] cid=0x[0-9a-f]+ status=0x0 invalidate=1 ns=[1-9]"
traced "a queue that ends" "nvmet_rdma_queue_state: queue=[0-9]+ port=1 qid=1 live -> disconnecting"
traced "is drained" "nvmet_rdma_queue_state: queue=[0-9]+ port=1 qid=1 disconnecting -> drained"
traced "and comes up" "nvmet_rdma_queue_state: queue=[0-9]+ port=1 qid=1 connecting -> live"
traced "whose it is" "nvmet_rdma_connect: queue=[0-9]+ port=1 qid=1 controller=$(ctrl_attr cntlid) peer=$MY_IP4:[0-9]+ host=$HOSTNQN"
cqn=$(value "queues/$(basename "$(queues_of "host $HOSTNQN" "qid 1" | head -n 1)")" completion_queue)
check "its completion queue is known to the device" cq_is_shown "$RDMA_DEV" "$cqn" nvmet_rdma
traced "it is polled" "nvme_rdma_cq_poll: dev=$RDMA_DEV cqn=$cqn vector=[0-9]+ by=(interrupt|softirq|work) found=[1-9]"
traced "and asks for interrupts" "nvme_rdma_cq_arm: dev=$RDMA_DEV cqn=$cqn vector=[0-9]+ missed=[01]"
traced "the CM: a request" "nvmet_rdma_cm_event: queue=0 port=1 qid=0 event=4 status=0"
traced "the CM: established" "nvmet_rdma_cm_event: queue=[1-9][0-9]* port=1 qid=1 event=9 status=0"
traced "a refusal" "nvmet_rdma_refused: port=1 qid=0 peer=$MY_IP4:[0-9]+ host-pending"

step "read while queues come and go"
readers() {
	while [ ! -e /run/stop ]; do
		cat "$DIR"/queues/* "$DIR"/hosts/* "$DIR"/ports/*
	done > /run/read 2> /dev/null
}
readers &
R1=$!
readers &
R2=$!
must "I/O" io_start "$DISK"
for i in 1 2 3 4; do
	check "connect" connect $S "$MY_IP4" 4420 -i 2 \
		--hostnqn="nqn.2026-01.test:a/$i" \
		--hostid="$(< /proc/sys/kernel/random/uuid)"
	check "reset under I/O" nvme reset "/dev/$first"
	check "disconnect" disconnect $S
done
check_await 20 "live" state_is "$first" live
check "the I/O saw none of it" io_stop
touch /run/stop
check "the readers end" wait $R1 $R2
check "and have read" grep -q '^latency_log2_us ' /run/read
check_await 10 "three queues are left" nr_is queues 3
check "and a host" only_first_has_queues

step "completion vectors, in turns"
# of_vectors KEY VALUE: how many queues that have this line each vector has
of_vectors() {
	local host="host nqn.2026-01.test:turns" f
	for f in $(queues_of "$host" "$1 $2"); do
		value "queues/${f##*/}" vector
	done | sort | uniq -c | awk '{ print $1 }' | paste -sd' '
}
options=traddr=$MY_IP4,trsvcid=4420,nqn=$S,nr_io_queues=1,duplicate_connect
options+=,hostnqn=nqn.2026-01.test:turns,hostid=$(< /proc/sys/kernel/random/uuid)
for i in 1 2 3 4; do
	check "a controller of one I/O queue" fabrics "$options"
done
equal "two vectors have two I/O queues each" "2 2" "$(of_vectors qid 1)"
equal "and two admin queues each" "2 2" "$(of_vectors qid 0)"
check "disconnect" disconnect $S
check_await 10 "three queues are left" nr_is queues 3

step "files go with what they are about"
set -- "$DIR"/queues/*
exec {HELD}< "$1"
check "disconnect, a file is open" disconnect $N
check_await 10 "no queue" nr_is queues 0
equal "no host has queues" 0 "$(hosts_with_queues)"
check "the open file is dead" not cat <&$HELD
exec {HELD}<&-
equal "the port is still there, without queues" 0 "$(value ports/1 queues)"
check "the target is taken down" target_teardown
equal "no port" 0 "$(nr ports)"
all_down
check "the directory, too" gone "$DIR"
finish
