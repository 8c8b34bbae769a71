#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   connection attempts that fail, hang or are cancelled: when they end, and with which message
# shares:  io
# check:   6.12
# timeout: 500
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:connecting
host_load
wire_up
must "a disk" memory_disk nullb0 16
# packets to this address leave, and there is no answer
VOID=10.77.0.98
must "an address where nobody is" \
	ip neigh add $VOID lladdr 02:00:00:00:00:98 dev eth0
# Deadlines far above any expected time, so that they do not end what should end by itself: a
# busy machine may take 10 s for an immediate step.
must "load" modprobe nvme-rdma connect_tmo=50 fabrics_tmo=55

options_of() {
	echo "transport=rdma,nqn=$N,traddr=$1,trsvcid=$2,hostnqn=$HOSTNQN,hostid=$HOSTID"
}
write_options() {
	exec env --default-signal=INT \
		dd of=/dev/nvme-fabrics bs=4096 status=none \
		<<< "$(options_of "$@")"
}
# bash itself writes, and hears of the child's end then
write_beside_a_child() {
	exec env --default-signal=INT OPTIONS="$(options_of "$@")" bash -c '
		{ sleep 2; touch /run/child-over; } &
		printf %s "$OPTIONS" > /dev/nvme-fabrics'
}
export -f write_options options_of
export N HOSTNQN HOSTID

# under WORDS LIMIT-MS VALUE-MS
under() {
	if [ "$3" -lt "$2" ]; then pass "$1: $3 ms"
	else fail "$1: $3 ms, expected less than $2"; fi
}

all_gone() {
	check "no controller is left" no_controllers "${1-}"
	check_await 30 "nobody holds nvme_rdma" module_idle nvme_rdma
}

# ends_at_once WORDS ERRNO-WORDS ADDRESS PORT: a connect that fails by itself
ends_at_once() {
	local from
	begin from
	refuse 45 "$1" bash -c "write_options $3 $4"
	under "it ended at once" 30000 "$(ms_since "$from")"
	check "it says '$2'" grep -q "$2" <<< "$(< "$CHECK_OUT")"
	all_gone
}

step "the listener's reason: wrong for ever"
must "a peer that rejects" peer_start listen "$MY_IP4" 4421 reject 4
mark
ends_at_once "a queue of a wrong size" "Invalid argument" "$MY_IP4" 4421
said 5 "the kernel's words" "rejected by the controller: NVMe/RDMA status 0x4 "
step "the listener's reason: busy"
must "a peer that rejects" peer_start listen "$MY_IP4" 4421 reject 6
ends_at_once "no resources" "Device or resource busy" "$MY_IP4" 4421

step "a peer that leaves when Connect comes"
must "the peer" peer_start listen "$MY_IP4" 4421 leave
mark
ends_at_once "left" "Connection reset by peer" "$MY_IP4" 4421
said 5 "the kernel's words" "queue 0 to $MY_IP4:4421: connection lost"

# called_off WORDS: SIGINT for the connect that runs as $JOB
called_off() {
	local from
	begin from
	kill -INT "$JOB"
	wait "$JOB"
	under "$1 ended by a signal" 30000 "$(ms_since "$from")"
	all_gone
}
in_background() {
	write_options "$1" "$2" > /run/job 2>&1 &
	JOB=$!
}

step "called off while nobody answers"
mark
in_background $VOID 4420
must_await 20 "a controller is being created" not no_controllers
nap 1
called_off "a connect to nowhere"

step "a signal whose handler lets system calls begin anew"
write_beside_a_child $VOID 4420 &
JOB=$!
must_await 20 "a controller is being created" not no_controllers
must_await 20 "a child has ended" test -e /run/child-over
nap 2
check "the write goes on" runs "$JOB"
# another one than before the signal
check_await 20 "with a controller" not no_controllers
called_off "the write"

step "called off while Connect is not answered"
must "a silent peer" peer_start listen "$MY_IP4" 4421 silent
in_background "$MY_IP4" 4421
must_await 30 "the RDMA connection is there" peer_said ESTABLISHED
called_off "an unanswered Connect"
peer_stop

# becomes WORD...: the target goes, and a peer takes its place
becomes() {
	must "a target" target_on_4422
	must "connect" connect $N "$MY_IP4" 4422 -c 1 -l 300
	check "the target goes" target_teardown
	must_await 20 "the host notices" state_is "$CTRL" connecting
	must "the peer in its place" peer_start listen "$MY_IP4" 4422 "$@"
}
target_on_4422() {
	subsys $N && namespace $N 1 /dev/nullb0 && port 2 "$MY_IP4" 4422 &&
		expose 2 $N
}

step "reconnecting to one that is busy goes on"
mark
becomes reject 6
said 40 "one attempt" "attempt 1 .*failed"
said 40 "another" "attempt [2-9] .*failed"
equal "it is still connecting" connecting "$(state_of "$CTRL")"

step "reconnecting to one that refuses it goes on, too, with longer pauses"
mark
must "another peer" peer_start listen "$MY_IP4" 4422 reject 5
said 40 "the kernel's words" "the connection was rejected .*retrying in [1-4] s"
said 60 "they get longer" "the connection was rejected .*retrying in [34] s"
equal "it is still connecting" connecting "$(state_of "$CTRL")"
peer_stop
must "the target is back" target_on_4422
check_await 30 "and so is the controller" state_is "$CTRL" live
check "disconnect" disconnect $N
check "the target goes" target_teardown

step "disconnect while reconnecting"
becomes silent
must_await 30 "the RDMA connection is there" peer_said ESTABLISHED
begin from
check "disconnect" timeout 45 nvme disconnect -n $N
under "it ended at once" 30000 "$(ms_since "$from")"
all_gone
peer_stop

step "the device goes while connecting"
in_background $VOID 4420
must_await 20 "a controller is being created" not no_controllers
nap 1
begin from
check "rxe0 goes" timeout 45 rdma link delete rxe0
under "it waited for nobody" 30000 "$(ms_since "$from")"
wait "$JOB"
check "no such device" grep -q "No such device" /run/job
all_gone
check "and comes" rdma link add rxe0 type rxe netdev eth0
must_await 20 "rxe0 is active" rxe_ready rxe0
remember_resources
all_down
finish
