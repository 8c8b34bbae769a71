#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   limits of a host before it is identified: number of connections, memory, time
# with:    forger
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/srq.sh"

N=nqn.2026-01.test:limits
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "RDMA for programs" modprobe rdma_ucm
must "a host that never sends Connect" gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra \
	-Werror -o /run/half-open "$VM_REPO/tests/fixtures/half-open/half-open.c" -lrdmacm -libverbs
must "another address" ip addr add 10.77.0.50/24 dev eth0
must "a third" ip addr add 10.77.0.51/24 dev eth0

parameter() { cat "/sys/module/nvmet_rdma/parameters/$1"; }

# within WORDS LEAST MOST VALUE
within() {
	check "$1: $4, expected $2 to $3" test "$4" -ge "$2" -a "$4" -le "$3"
}

# admin_waits: on the target, a command of $CTRL's admin queue
admin_waits() {
	local q
	for q in "$SHOWN"/queues/*; do
		[ "$(key_sum qid "$q") $(key_sum controller "$q")" = \
			"0 $(cat "/sys/class/nvme/$CTRL/cntlid")" ] &&
			[ "$(key_sum wait_no_memory "$q")" -gt 0 ] &&
			[ "$(key_sum waiting "$q")" -gt 0 ] && return
	done
	return 1
}

# answered: responses that its host has had; more_answers: four of them since ANSWERS
answered() { key_sum responses "/sys/kernel/debug/nvme_rdma/$CTRL/queue0"; }
more_answers() { [ "$(answered)" -ge $((answers + 4)) ]; }

free_kib() { awk '/^MemAvailable/ { print $2 }' /proc/meminfo; }

HALF_NR=0
# half_open COUNT [SOURCE]: in the background; its output is in HALF
half_open() {
	local out=/run/half-open.out
	rm -f $out
	# one each: nobody reads the output, so that a failure of one would end all others as
	# well
	HALF_NR=$((HALF_NR + 1))
	mkfifo -m 600 /run/half-open.$HALF_NR
	exec {HALF_IN}<> /run/half-open.$HALF_NR
	/run/half-open "$1" "$MY_IP4" 4420 ${2:+"$2"} <&$HALF_IN > $out 2>&1 &
	HALF_PID=$!
	await 60 grep -q . $out
	HALF=$(head -n 1 $out)
}

half_closed() { ! runs $HALF_PID; }
half_end() {
	echo >&$HALF_IN
	wait $HALF_PID
}

step "the parameters that are there by default"
must "load" modprobe nvmet-rdma
equal "connect_tmo host_queues host_pending max_pending min_rnr_timer" \
	"60 12000 1024 8192 13" "$(parameter connect_tmo) $(parameter host_queues) $(
	parameter host_pending) $(parameter max_pending) $(parameter min_rnr_timer)"
equal "host_pending_mb max_pending_mb response_tmo ack_timeout" "0 0 60 0" \
	"$(parameter host_pending_mb) $(parameter max_pending_mb) $(
	parameter response_tmo) $(parameter ack_timeout)"
equal "host_unproved max_unproved" "1024 16384" "$(parameter host_unproved) $(
	parameter max_unproved)"
unload nvmet-rdma

# bounds NAME VALUE RANGE
bounds() {
	mark
	refuse 10 "$1=$2" modprobe nvmet-rdma "$1=$2"
	said 5 "the kernel's words" "nvmet_rdma: invalid $1 \"$2\" .expected $3."
}
step "and their bounds"
bounds connect_tmo 0 "1 to 600"
bounds connect_tmo 601 "1 to 600"
bounds host_queues 1 "2 to 1048576"
bounds host_pending 0 "1 to 1048576"
bounds max_pending 1048577 "1 to 1048576"
bounds host_unproved 0 "1 to 1048576"
bounds max_unproved 1048577 "1 to 1048576"
bounds host_pending_mb 1048577 "0 to 1048576"
bounds max_pending_mb 1048577 "0 to 1048576"
bounds min_rnr_timer 32 "0 to 31"
bounds response_tmo 0 "1 to 600"
bounds ack_timeout 32 "0 to 31"

step "a host that never sends Connect is let go"
must "load" modprobe nvmet-rdma connect_tmo=$((4 * SLOW))
simple_target $N /dev/nullb0
mark
half_open 6
equal "six are open" "open 6 refused 0 status -1" "$HALF"
equal "the target has them" 6 "$(rdma resource show cm_id |
	grep -c 'state CONNECT .*comm \[nvmet_rdma\]')"
check_await 20 "all six are closed" half_closed
said 5 "the kernel's words" \
	"no Connect received within $((4 * SLOW)) seconds \(connect_tmo\); closing the connection"
equal "by the target" "closed 6" "$(tail -n 1 /run/half-open.out)"
equal "which has counted them" 6 "$(key_sum error_no_connect $SHOWN/ports/1)"

step "one that sends Connect is not"
must "connect" connect $N "$MY_IP4" 4420 -i 2
nap $((6 * SLOW))
equal "it is live" live "$(state_of "$CTRL")"
get_disk $N 1
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N

begin_anew

step "connections that wait for Connect: of one host, and of all"
must "load" modprobe nvmet-rdma host_pending=10 max_pending=50 host_queues=12 connect_tmo=600
simple_target $N /dev/nullb0
mark
half_open 12
equal "ten are open" "open 10 refused 2 status 6" "$HALF"
said 5 "the kernel's words" "connection rejected: limit of 10 connections of a host that wait for Connect"
first_pid=$HALF_PID first_in=$HALF_IN
mark
half_open 10 10.77.0.50
equal "another host may have a quarter of what is left" "open 8 refused 2 status 6" "$HALF"
said 5 "the kernel's words" "connection rejected: limit of 50 connections that wait for Connect \(max_pending\), or a quarter of the rest"
second_pid=$HALF_PID second_in=$HALF_IN
half_open 10 10.77.0.51
equal "and the next a quarter of that" "open 7 refused 3 status 6" "$HALF"
half_end
echo >&"$second_in"
wait "$second_pid"
check_await 20 "they are gone" port_queues_are 10
mark
must "the first host's real connections" connect $N "$MY_IP4" 4420 -i 1 \
	-w 10.77.0.51
check "they go" disconnect $N
echo >&"$first_in"
wait "$first_pid"

step "a host that says another's address uses up its own limits"
check_await 20 "nothing is left of those before" port_queues_are 0
must "requests say another's address" modprobe forger address=10.77.0.50
half_open 10
equal "ten are open" "open 10 refused 0 status -1" "$HALF"
must "they tell the truth" modprobe -r forger
first_pid=$HALF_PID first_in=$HALF_IN
half_open 4 10.77.0.50
equal "the other has its own" "open 4 refused 0 status -1" "$HALF"
half_end
check_await 20 "they are gone" port_queues_are 10
half_open 2
equal "and the first has none left" "open 0 refused 2 status 6" "$HALF"
half_end
echo >&"$first_in"
wait "$first_pid"

step "a host that is refused again and again does not fill the log"
check_await 20 "nothing is left of those before" port_queues_are 0
mark
from=${EPOCHREALTIME/./}
half_open 150
equal "ten are open" "open 10 refused 140 status 6" "$HALF"
lines=$(_log_since_mark | grep -c "nvmet_rdma: host .*connection rejected")
# ten at most in five seconds; a second period may have started
within "lines about 140 refusals" 1 $((10 * ($(ms_since "$from") / 5000 + 2))) "$lines"
half_end

step "all connections of one host"
check_await 20 "nothing is left of those before" port_queues_are 0
must "connect: three" connect $N "$MY_IP4" 4420 -i 2 -w "$MY_IP4"
half_open 10
equal "nine of ten are open" "open 9 refused 1 status 6" "$HALF"
half_end
get_disk $N 1
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N
begin_anew

# An admin queue has 32 receives of 4.2 KiB and 41 responses of about 1 KiB; shared memory does
# not count for a host.
step "memory of connections that wait for Connect: of one host, and of all"
must "load" modprobe nvmet-rdma use_srq=N host_pending_mb=1 max_pending_mb=5 \
	connect_tmo=600
simple_target $N /dev/nullb0
mark
half_open 8
set -- $HALF
within "open" 3 7 "$2"
equal "all others are refused for lack of resources" "$((8 - $2)) 6" "$4 $6"
said 5 "the kernel's words" "connection of 32 commands rejected: [12][0-9]* KiB exceeds the limit of 1024 KiB for connections that wait for Connect or authentication, of a host \(host_pending_mb\)"
first_pid=$HALF_PID first_in=$HALF_IN first_open=$2
mark
half_open 8 10.77.0.50
second_pid=$HALF_PID second_in=$HALF_IN
set -- $HALF
second_open=$2
within "another host has a quarter of what is left, or as many" $((first_open - 1)) \
	"$first_open" "$second_open"
half_open 8 10.77.0.51
set -- $HALF
within "and a third less" 3 $((second_open - 1)) "$2"
said 5 "the kernel's words" "exceeds the limit of 5120 KiB for connections that wait for Connect or authentication, of all hosts \(max_pending_mb\)"
half_end
echo >&"$second_in"
wait "$second_pid"
check_await 20 "those of the first are left" port_queues_are "$first_open"
must "Connect comes by others" connect $N "$MY_IP4" 4420 -i 2 -Q 32 \
	-w 10.77.0.51
half_open 8 10.77.0.51
set -- $HALF
equal "which do not count any more" "$second_open" "$2"
half_end
echo >&"$first_in"
wait "$first_pid"
disconnect_all > /dev/null 2>&1
begin_anew

step "by default receives are shared; a stranger pays for what shared queues grow by"
must "load" modprobe nvmet-rdma host_pending_mb=1
simple_target $N /dev/nullb0
mark
half_open 16
set -- $HALF
within "open" 3 7 "$2"
equal "all others are refused for lack of resources" "$((16 - $2)) 6" "$4 $6"
said 5 "the kernel's words" "exceeds the limit of 1024 KiB for connections that wait for Connect or authentication, of a host \(host_pending_mb\)"
half_end
check_await 20 "they are gone" port_queues_are 0
# two queues of 0.7 MiB
must "a host that has proved itself does not, for the queues that it connects at once" \
	connect $N "$MY_IP4" 4420 -i 2 -Q 128
check "it has all of them" port_queues_are 3
check "disconnect" disconnect $N
begin_anew

# ctrls NQN SOURCE EXPECTED: six controllers are asked for
ctrls() {
	must "six controllers" peer_start connect "$MY_IP4" 4420 ctrls "$1" 6 "$2"
	equal "how many there are" "$3" "$(grep controllers $PEER_OUT)"
}
DISCOVERY=nqn.2014-08.org.nvmexpress.discovery
step "connections without a proof: discovery"
must "load" modprobe nvmet-rdma host_unproved=4 max_unproved=16
simple_target $N /dev/nullb0
mark
ctrls $DISCOVERY 10.77.0.50 "controllers 4 refused 2 status 0x181"
said 5 "the kernel's words" "host 10.77.0.50:[0-9]+, queue 0: Connect rejected: limit of 4 unauthenticated and discovery connections of a host \(host_unproved\) reached; the host may retry"
equal "the port says why" 2 "$(key_sum refused_host_unproved $SHOWN/ports/1)"
check "another host has its log" nvme discover -t rdma -a "$MY_IP4" -s 4420 -w 10.77.0.51
must "and connects" connect $N "$MY_IP4" 4420 -i 2 -w 10.77.0.51
get_disk $N 1
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N
check "the first one has none left" not connect $N "$MY_IP4" 4420 -i 2 -w 10.77.0.50
first=$PEER_PID PEER_PID=
mark
ctrls $DISCOVERY 10.77.0.51 "controllers 3 refused 3 status 0x181"
said 5 "a quarter of the rest" "limit of 16 unauthenticated and discovery connections \(max_unproved\), or a quarter of the rest"
peer_stop
PEER_PID=$first
peer_stop
check_await 20 "they are gone" port_queues_are 0
ctrls $DISCOVERY 10.77.0.51 "controllers 4 refused 2 status 0x181"
peer_stop
check_await 20 "they are gone" port_queues_are 0
must "nothing is held against the first" connect $N "$MY_IP4" 4420 -i 2 -w 10.77.0.50
check "disconnect" disconnect $N

step "a command is a proof where no authentication is asked for"
ctrls $N 10.77.0.50 "controllers 6 refused 0 status 0"
peer_stop
check_await 20 "they are gone" port_queues_are 0

step "and none where it is"
must "a host" mkdir "$NVMET/hosts/$N-host"
if [ -e "$NVMET/hosts/$N-host/dhchap_key" ]; then
	must "nobody else" _put "$NVMET/subsystems/$N/attr_allow_any_host" 0
	must "its key" _put "$NVMET/hosts/$N-host/dhchap_key" \
		"$(nvme gen-dhchap-key -m 1 -n "$N-host")"
	must "it is allowed" ln -s "$NVMET/hosts/$N-host" "$NVMET/subsystems/$N/allowed_hosts/"
	ctrls $N 10.77.0.50 "controllers 4 refused 2 status 0x181"
	peer_stop
	check_await 20 "they are gone" port_queues_are 0
	must "not any more" rm "$NVMET/subsystems/$N/allowed_hosts/$N-host"
fi
must "no host" rmdir "$NVMET/hosts/$N-host"
begin_anew

# Each of four connections requests 30 log pages of 1 MiB, for which no host has to be allowed,
# and takes no response
step "data of admin commands: of one host"
must "load" modprobe nvmet-rdma host_pending_mb=8 response_tmo=600
simple_target $N /dev/nullb0
before=$(free_kib)
mark
must "a host that takes no log page" peer_start connect "$MY_IP4" 4420 logs 4 10.77.0.50
said 20 "the kernel's words" "a command of 1048576 bytes waits: limit of 8192 KiB for the data of admin and authentication commands reached, of a host \(host_pending_mb\)"
taken=$(((before - $(free_kib)) / 1024))
check "the target has given it $taken MiB" at_most 40 $taken
check "another host has its log" nvme discover -t rdma -a "$MY_IP4" -s 4420 -w 10.77.0.51
peer_stop
check_await 20 "it is gone" port_queues_are 0
must "connect" connect $N "$MY_IP4" 4420 -i 1 -w 10.77.0.50
get_disk $N 1
check "nothing is held against its address" round_trip "$DISK" 65536
check "disconnect" disconnect $N
begin_anew

step "a Keep Alive, behind an admin command that waits for memory"
must "load" modprobe nvmet-rdma host_pending_mb=8 response_tmo=600
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 1 -w 10.77.0.50 -k 2
get_disk $N 1
must "its neighbour, which takes no log page" peer_start connect "$MY_IP4" 4420 logs 4 10.77.0.50
nvme get-log "/dev/$CTRL" --log-id=2 --log-len=512 -b > /run/log 2> /run/log.err &
waiting=$!
check_await 20 "a command waits for memory" admin_waits
answers=$(answered)
check_await 40 "Keep Alives are answered" more_answers
check "the command still waits" admin_waits
equal "times that the connection was lost" 0 "$(times_lost "$CTRL")"
peer_stop
wait $waiting
equal "the command has ended well" "0 512" "$? $(stat -c %s /run/log)"
check "disconnect" disconnect $N
begin_anew

step "and of an authentication, on I/O queues"
must "load" modprobe nvmet-rdma host_pending_mb=8 response_tmo=600
simple_target $N /dev/nullb0
before=$(free_kib)
mark
must "a host that takes no answer" peer_start connect "$MY_IP4" 4420 proofs $N 16 10.77.0.50
said 20 "the kernel's words" "a command of 65536 bytes waits: limit of 8192 KiB for the data of admin and authentication commands reached, of a host \(host_pending_mb\)"
taken=$(((before - $(free_kib)) / 1024))
check "the target has given it $taken MiB" at_most 24 $taken
must "another host connects" connect $N "$MY_IP4" 4420 -i 1 -w 10.77.0.51
get_disk $N 1
check "it has its disk" round_trip "$DISK" 65536
peer_stop
check_await 20 "the other one is gone" port_queues_are 2
check "disconnect" disconnect $N
must "connect from its address" connect $N "$MY_IP4" 4420 -i 1 -w 10.77.0.50
get_disk $N 1
check "nothing is held against it" round_trip "$DISK" 65536
check "disconnect" disconnect $N
begin_anew

# given FUNCTION VALUE: how many queues the CM was told VALUE for, since probe
T=/sys/kernel/tracing
[ -e $T/kprobe_events ] || must "kernel probes" mount -t tracefs none $T
probe() {
	echo "p:told $1 value=%si:u8" > $T/kprobe_events &&
		echo 1 > $T/events/kprobes/told/enable
}
given() { grep -c "told: .* value=$1\$" $T/trace; }
unprobe() {
	trace_is_whole
	echo 0 > $T/events/kprobes/told/enable
	echo > $T/kprobe_events
	echo > $T/trace
}
# qp_has ATTRIBUTE VALUE PARAMETER: the target's three queues have the value; the host's queues
# have another one and are not counted
qp_has() {
	must "load" modprobe nvmet-rdma $3
	must "a probe" probe "$1"
	simple_target $N /dev/nullb0
	must "connect" connect $N "$MY_IP4" 4420 -i 2
	equal "$1: three queues have $2" 3 "$(given "$2")"
	unprobe
	disconnect_all > /dev/null 2>&1
	begin_anew
}

step "how long a host waits that found no receive"
qp_has rdma_set_min_rnr_timer 7 min_rnr_timer=7
qp_has rdma_set_min_rnr_timer 31 min_rnr_timer=31

step "when the target sends again what is not acknowledged"
qp_has rdma_set_ack_timeout 15 ack_timeout=15
# the host's too, by default
must "the host has another" modprobe nvme-rdma ack_timeout=14
qp_has rdma_set_ack_timeout 17 ack_timeout=0
all_down
finish
