# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The bench's host that keeps a target busy (tests/bench/feeder).

FEEDER=/sys/kernel/debug/feeder

# feeder_connect NQN QUEUES [hosts]: each queue from an address of its own with "hosts", as if of
# as many hosts
feeder_connect() {
	local first=
	[ -z "${3-}" ] || { feeder_addresses && first=" ${FEEDER_NET}1"; } || return
	echo "$MY_IP4 4420 $1 $HOSTNQN $2$first" > $FEEDER/connect
}

# feeder_addresses: those of up to 64 hosts, on the interface of this machine's
FEEDER_NET=10.77.0.
feeder_addresses() {
	local n dev
	dev=$(ip -o -4 addr show to "$MY_IP4" | awk '{ print $2; exit }')
	[ -n "$dev" ] || return
	for ((n = 1; n <= 64; n++)); do
		ip addr replace "$FEEDER_NET$n/32" dev "$dev" || return
	done
}

# feed WORDS...: a job (tests/bench/feeder/main.c)
feed() { echo "$*" > $FEEDER/feed; }

feeder_result() { cat $FEEDER/result; }

feeder_disconnect() { echo > $FEEDER/disconnect; }
