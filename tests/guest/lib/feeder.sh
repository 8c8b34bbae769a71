# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The bench's host that keeps a target busy (tests/bench/feeder).

FEEDER=/sys/kernel/debug/feeder

# feeder_connect NQN QUEUES [hosts]: with "hosts", each queue from an address of its own, as if of
# as many hosts; they share addresses if there are more, as the RDMA core has 256 for a port.
# Otherwise from the address FROM, or where the route leads.
FEEDER_NET=10.78.0.
FEEDER_HOSTS=128
feeder_connect() {
	local from=${FROM:+ $FROM 1} n=$(($2 < FEEDER_HOSTS ? $2 : FEEDER_HOSTS))
	[ -z "${3-}" ] || { feeder_addresses $n && from=" ${FEEDER_NET}1 $n"; } || return
	echo "$MY_IP4 4420 $1 $HOSTNQN $2$from" > $FEEDER/connect
}

# feeder_addresses NUMBER: those of as many hosts, on the interface of this machine's
feeder_addresses() {
	local n dev
	dev=$(ip -o -4 addr show to "$MY_IP4" | awk '{ print $2; exit }')
	[ -n "$dev" ] || return
	for ((n = 1; n <= $1; n++)); do
		echo "addr replace $FEEDER_NET$n/32 dev $dev"
	done | ip -batch -
}

# feed WORDS...: a job (tests/bench/feeder/main.c)
feed() { echo "$*" > $FEEDER/feed; }

feeder_result() { cat $FEEDER/result; }

feeder_disconnect() { echo > $FEEDER/disconnect; }
